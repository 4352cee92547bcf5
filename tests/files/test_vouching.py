"""Which answers a signature vouches for, and which it never does."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from equipage.files import LINKS, vouching
from equipage.files.tracing import digest, signature
from equipage.files.vouching import MARGIN, Era, Vouching, process_identity, this_era

#: Long after everything that a test makes.
LATER = 1 << 62
MOUNTS = "1 0 8:1 / / rw - ext4 /dev/sda rw\n"


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    found = Path(os.path.realpath(tmp_path)) / "root"
    (found / "sub" / "deep").mkdir(parents=True)
    (found / "a.txt").write_text("a")
    (found / "sub" / "b.txt").write_text("b")
    (found / "link").symlink_to("a.txt")
    mounted(monkeypatch, MOUNTS)
    return found


def mounted(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    """A table of mounts, in the words of the kernel."""
    said = vouching._said_by_kernel

    def kernel(path: str) -> str:
        return text if path == "/proc/self/mountinfo" else said(path)

    monkeypatch.setattr(vouching, "_said_by_kernel", kernel)


def signed(*paths: Path) -> dict[str, Any]:
    return {str(path): signature(os.lstat(path)) for path in paths}


def vouched(root: Path, *row: Any, since: int | None = LATER, read: Any = ()) -> list[str] | None:
    """The paths that vouch for one row; None if it has to be asked again."""
    question, answer = row[:-1], row[-1]
    known, sure, rest = Vouching(str(root), since).divide([(question, answer)], signed(*read))
    way = (("real path", str(root)), str(root))
    if not sure:
        assert (known, rest) == ({}, [(question, answer)])
        return None
    assert (sure, rest) == ([(question, answer)], [way])
    assert known == signed(*map(Path, known))
    return list(known)


# --- the era --------------------------------------------------------------------------------------


def test_an_era_ends_with_the_machine_or_the_clock() -> None:
    era = Era("boot", 50_000)
    assert era.goes_on_in(Era("boot", 50_000))
    assert era.goes_on_in(Era("boot", 51_000))
    assert era.goes_on_in(Era("boot", 49_000))
    assert not era.goes_on_in(Era("boot", 51_001))
    assert not era.goes_on_in(Era("boot", 48_999))
    assert not era.goes_on_in(Era("other", 50_000))
    assert not era.goes_on_in(None)
    assert vouching._DRIFT * 1_000_000 < MARGIN


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux says so")
def test_this_era(monkeypatch: pytest.MonkeyPatch) -> None:
    era = this_era()
    assert era is not None
    assert era.boot == Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    assert era.goes_on_in(this_era())
    times = {time.CLOCK_REALTIME: 9_000_999_999, time.CLOCK_BOOTTIME: 4_000_000_000}
    monkeypatch.setattr(time, "clock_gettime_ns", times.get)
    assert this_era() == Era(era.boot, 5_000)
    monkeypatch.setattr(vouching, "_said_by_kernel", lambda _: "")
    assert this_era() is None
    monkeypatch.undo()
    monkeypatch.setattr(sys, "platform", "darwin")
    assert this_era() is None


def test_who_a_process_is(monkeypatch: pytest.MonkeyPatch) -> None:
    status = "Name:\tx\nCapInh:\t1\nCapEff:\t0f\nUid:\t5\n"
    said = {"/proc/self/status": status}
    monkeypatch.setattr(vouching, "_said_by_kernel", lambda path: said.get(path, ""))
    monkeypatch.setattr(os, "getgroups", lambda: [7, 5])
    assert process_identity() == (os.geteuid(), os.getegid(), [5, 7], ["CapEff:\t0f"])
    monkeypatch.delattr(os, "geteuid")
    assert process_identity() == ()


def test_the_kernel_may_say_nothing(tmp_path: Path) -> None:
    assert vouching._said_by_kernel(str(tmp_path / "no")) == ""
    (tmp_path / "odd").write_bytes(b"a\xff")
    assert vouching._said_by_kernel(str(tmp_path / "odd")) == "a\udcff"


def test_mounts(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = (
        "1 0 8:1 / / rw,noatime shared:1 - ext4 /dev/sda rw",
        "2 1 8:2 / /a\\040b\\134c rw master:2 shared:3 - xfs /dev/x - rw",
        "3 1 8:3 / /twice rw - ext4 x rw",
        "4 1 8:4 / /twice rw - nfs4 x rw",
        "5 1 8:5 / /a\u2028b\x85c rw - btrfs x rw",
    )
    mounted(monkeypatch, "\n".join(lines))
    odd = {"/a\u2028b\x85c": "btrfs"}  # to the kernel, these are letters
    assert vouching._mounts() == {"/": "ext4", "/a b\\c": "xfs", "/twice": "nfs4", **odd}


# --- what is vouched for --------------------------------------------------------------------------


def test_a_content_is_vouched_for_by_what_was_read(root: Path) -> None:
    path = str(root / "a.txt")
    for name in ("content", "peek"):
        assert vouched(root, name, path, "9", digest(b"a"), read=[root / "a.txt"]) == [path]
        assert vouched(root, name, path, "9", digest(b"a")) is None  # it was not read
    assert vouched(root, "content", path, "9", "file-missing", read=[root / "a.txt"]) is None
    spelt = f"{root}/./a.txt"
    assert vouched(root, "content", spelt, "9", digest(b"a"), read=[root / "a.txt"]) == [path]


@pytest.mark.parametrize("name", ["exists", "is there", "is file", "is folder", "is link"])
def test_what_is_at_a_path_is_vouched_for_by_the_folders_around(root: Path, name: str) -> None:
    sub, deep = str(root / "sub"), str(root / "sub" / "deep")
    assert vouched(root, name, f"{sub}/b.txt", True) == [sub, str(root)]
    assert vouched(root, name, sub, True) == [str(root)]
    assert vouched(root, name, f"{deep}/no", False) == [deep, sub, str(root)]
    # The first step that is missing decides.
    assert vouched(root, name, f"{root}/no/further/on", False) == [str(root)]
    assert vouched(root, name, f"{sub}/no/further", False) == [sub, str(root)]
    # Neither a link, nor what is behind one; not the root, nor what is outside.
    assert vouched(root, name, f"{root}/link", True) is None
    assert vouched(root, name, f"{root}/link/x", False) is None
    assert vouched(root, name, f"{root}/a.txt/x", False) is None
    assert vouched(root, name, str(root), True) is None
    assert vouched(root, name, str(root.parent), True) is None
    assert vouched(root, name, f"{root}-2/x", False) is None
    assert vouched(root, name, f"{root}/sub/../a.txt", True) is None


def test_the_way_is_vouched_for_where_it_is_straight(root: Path) -> None:
    sub = str(root / "sub")
    assert vouched(root, "real path", f"{sub}/b.txt", f"{sub}/b.txt") == [sub, str(root)]
    assert vouched(root, "real path", f"{sub}/b.txt", f"{root}/a.txt") is None
    assert vouched(root, "leads down", str(root), sub, True) == [sub, str(root)]
    assert vouched(root, "leads down", sub, sub, True) == [sub, str(root)]
    assert vouched(root, "leads down", str(root), sub, False) is None
    assert vouched(root, "leads down", sub, str(root), True) is None
    assert vouched(root, "leads down", str(root), f"{root}/link", True) is None


def test_a_file_that_was_looked_for_in_vain(root: Path) -> None:
    assert vouched(root, "peek", f"{root}/sub/no", "9", None) == [str(root / "sub"), str(root)]
    assert vouched(root, "peek", f"{root}/a.txt", "0", None) is None  # there, but too large


def test_a_listing_is_vouched_for_unless_links_are_in_it(root: Path) -> None:
    sub, known = str(root / "sub"), digest(b"names")
    assert vouched(root, "entries", sub, known) == [sub, str(root)]
    assert vouched(root, "entries", sub, known + LINKS) is None
    assert vouched(root, "entries", sub, "13") is None
    assert vouched(root, "entries", f"{root}/a.txt", known) is None
    assert vouched(root, "entries", f"{root}/no", known) is None


@pytest.mark.parametrize("name", ["named", "inside", "below", "program", "another"])
def test_no_other_question_is_vouched_for(root: Path, name: str) -> None:
    assert vouched(root, name, f"{root}/a.txt", "x", digest(b"a"), read=[root / "a.txt"]) is None


# --- when nothing is ------------------------------------------------------------------------------


def test_what_is_young_is_noted_without_a_signature(root: Path) -> None:
    """Then the question is asked again by the next run, which may know more."""
    path = root / "a.txt"
    os.utime(path, (1, 1))  # anyone can set this time, and it says nothing
    stamped = path.stat().st_ctime_ns
    row = (("content", str(path), "9"), digest(b"a"))
    for since, expected in (
        (stamped + MARGIN, None),
        (stamped + MARGIN + 1, signature(path.lstat())),
    ):
        known, sure, _ = Vouching(str(root), since).divide([row], signed(path))
        assert (known, sure) == ({str(path): expected}, [row])
    known, _, _ = Vouching(str(root), None).divide([row], signed(path))
    assert known == {str(path): None}


def test_the_signature_is_the_one_before_it_was_read(root: Path) -> None:
    path = root / "a.txt"
    old = (*signature(path.lstat())[:-1], 5)
    known, _, _ = Vouching(str(root), LATER).divide(
        [(("content", str(path), "9"), digest(b"a"))], {str(path): old}
    )
    assert known == {str(path): old}


@pytest.mark.parametrize(
    ("table", "counts"),
    [
        ("ext4", True),
        ("tmpfs", True),
        ("nfs4", False),
        ("vfat", False),
        ("fuse.sshfs", False),
        ("", False),
    ],
)
def test_only_some_file_systems_are_exact(
    root: Path, table: str, counts: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    mounted(monkeypatch, f"1 0 8:1 / / rw - {table} x rw\n" if table else "")
    found = vouched(root, "exists", f"{root}/a.txt", True)
    assert (found is not None) is counts


def test_the_nearest_mount_counts(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for place, counts in ((root.parent, False), (root, False), (root / "sub", True)):
        mounted(monkeypatch, f"{MOUNTS}2 1 8:2 / {place} rw - nfs4 x rw\n")
        assert (vouched(root, "exists", f"{root}/a.txt", True) is not None) is counts
        assert vouched(root, "exists", f"{root}/sub/b.txt", True) is None
        assert vouched(root, "exists", f"{root}/sub", True) is None
    mounted(monkeypatch, f"1 0 8:1 / / rw - nfs4 x rw\n2 1 8:2 / {root.parent} rw - xfs x rw\n")
    assert vouched(root, "exists", f"{root}/a.txt", True) == [str(root)]


def test_a_root_behind_a_link_is_not_vouched_for(root: Path) -> None:
    other = root.parent / "other"
    other.symlink_to(root)
    assert vouched(other, "exists", f"{other}/a.txt", True) is None


def test_a_root_that_was_replaced_is_not_vouched_for(root: Path) -> None:
    row = (("exists", f"{root}/a.txt"), True)
    known = Vouching(str(root), LATER)
    root.rename(root.parent / "moved")
    assert known.divide([row], {}) == ({}, [], [row])
    root.mkdir()
    assert known.divide([row], {}) == ({}, [], [row])


def test_the_way_to_the_root_is_asked_for_once(root: Path) -> None:
    way = (("real path", str(root)), str(root))
    row = (("exists", f"{root}/a.txt"), True)
    assert Vouching(str(root), LATER).divide([way, row], {})[2] == [way]
    assert Vouching(str(root), LATER).divide([row, row], {})[1] == [row, row]
    other = (("program", "x"), False)
    assert Vouching(str(root), LATER).divide([other], {})[2] == [other]
    assert Vouching(str(root), LATER).divide([other, row], {})[2] == [other, way]
    assert Vouching(str(root), LATER).divide([], {}) == ({}, [], [])
