"""The folder of what was worked out before: nothing in it is believed that was not written here."""

from __future__ import annotations

import os
import stat
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from equipage.files import keeping
from equipage.files.keeping import Kept, installed, open_kept

NAME = "0" * 32


@pytest.fixture
def kept(tmp_path: Path) -> Iterator[Kept]:
    found = open_kept(str(tmp_path))
    assert found is not None
    yield found
    found.close()


def folder_of(root: Path) -> Path:
    return root / ".equipage_cache"


def reopened(root: Path) -> bytes | None:
    """The key of the folder of a project, opened once more."""
    found = open_kept(str(root))
    if found is None:
        return None
    found.close()
    return found.key


def read(kept: Kept, name: str = NAME) -> bytes | None:
    data = kept.read(name)
    return None if data is None else bytes(data)


def names(root: Path) -> list[str]:
    return sorted(os.listdir(folder_of(root)))


def modes(folder: Path) -> dict[str, int]:
    return {each.name: stat.S_IMODE(each.lstat().st_mode) for each in folder.iterdir()}


def open_descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


# --- the folder ----------------------------------------------------------------------------------


def test_what_it_holds_is_for_its_owner_alone(tmp_path: Path, kept: Kept) -> None:
    assert kept.write(NAME, b"data")
    assert modes(tmp_path) == {".equipage_cache": 0o700}
    assert set(modes(folder_of(tmp_path)).values()) == {0o600}
    assert names(tmp_path) == [".gitignore", NAME, "CACHEDIR.TAG", "key"]


def test_git_and_backups_leave_it_out(tmp_path: Path, kept: Kept) -> None:
    folder = folder_of(tmp_path)
    assert (folder / ".gitignore").read_bytes() == b"*\n"
    assert (folder / "CACHEDIR.TAG").read_bytes().startswith(b"Signature: 8a477f597d28d172789f06")
    (folder / ".gitignore").write_bytes(b"# mine\n")
    assert reopened(tmp_path) == kept.key
    assert (folder / ".gitignore").read_bytes() == b"# mine\n"


def test_without_leave_nothing_is_made(tmp_path: Path) -> None:
    assert open_kept(str(tmp_path), make=False) is None
    assert list(tmp_path.iterdir()) == []
    assert reopened(tmp_path) is not None
    found = open_kept(str(tmp_path), make=False)
    assert found is not None
    found.close()


def test_a_project_that_is_missing_or_a_file_has_none(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert open_kept(str(tmp_path / "file")) is None
    assert open_kept(str(tmp_path / "no")) is None


@pytest.mark.parametrize(("mode", "used"), [(0o755, True), (0o775, True), (0o757, False)])
def test_a_project_that_anybody_may_write_to_has_none(
    tmp_path: Path, mode: int, used: bool
) -> None:
    tmp_path.chmod(mode)
    assert (reopened(tmp_path) is not None) is used
    assert folder_of(tmp_path).exists() is used


@pytest.mark.parametrize(("mode", "used"), [(0o755, True), (0o720, False), (0o702, False)])
def test_a_folder_that_others_may_write_to_is_not_used(
    tmp_path: Path, mode: int, used: bool
) -> None:
    folder = folder_of(tmp_path)
    folder.mkdir()
    folder.chmod(mode)
    assert (reopened(tmp_path) is not None) is used
    assert bool(list(folder.iterdir())) is used


def test_what_belongs_to_another_user_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: own + 1)
    assert open_kept(str(tmp_path)) is None
    assert list(tmp_path.iterdir()) == []


def test_a_link_is_neither_the_project_nor_the_folder(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    assert open_kept(str(tmp_path / "link")) is None
    (tmp_path / "elsewhere").mkdir()
    folder_of(tmp_path / "real").symlink_to(tmp_path / "elsewhere")
    assert open_kept(str(tmp_path / "real")) is None
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_what_is_refused_stays_open_nowhere(tmp_path: Path) -> None:
    folder_of(tmp_path).mkdir()
    folder_of(tmp_path).chmod(0o777)
    before = open_descriptors()
    for _ in range(3):
        assert open_kept(str(tmp_path)) is None
    folder_of(tmp_path).chmod(0o700)
    (folder_of(tmp_path) / "key").mkdir()
    for _ in range(3):
        assert open_kept(str(tmp_path)) is None
    assert open_descriptors() == before
    (folder_of(tmp_path) / "key").rmdir()
    for _ in range(3):
        assert reopened(tmp_path) is not None
    assert open_descriptors() == before


def test_a_folder_moved_away_is_still_the_one_that_was_opened(tmp_path: Path, kept: Kept) -> None:
    folder_of(tmp_path).rename(tmp_path / "away")
    folder_of(tmp_path).mkdir()
    assert kept.write(NAME, b"data")
    assert read(kept) == b"data"
    assert names(tmp_path) == []
    assert (tmp_path / "away" / NAME).exists()


# --- the key -------------------------------------------------------------------------------------


def test_the_key_stays_and_differs_from_folder_to_folder(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    key = reopened(tmp_path / "a")
    assert key is not None
    assert len(key) == 32
    assert reopened(tmp_path / "a") == key
    assert reopened(tmp_path / "b") != key


def test_the_key_is_not_what_is_written_down(tmp_path: Path, kept: Kept) -> None:
    written = (folder_of(tmp_path) / "key").read_bytes()
    assert len(written) == 32
    assert written != kept.key


def test_who_knows_where_and_when_it_was_written_does_not_have_the_key(
    tmp_path: Path, kept: Kept, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The place and the moment can be seen or guessed; the bytes are for the owner alone."""
    found = set()
    for written in (b"a" * 32, b"b" * 32):
        monkeypatch.setattr(keeping, "read_regular", lambda *_, written=written: written)
        found.add(reopened(tmp_path))
    assert len(found - {None, kept.key}) == 2


def test_of_two_runs_that_make_a_key_the_faster_one_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder_of(tmp_path).mkdir(0o700)
    file = folder_of(tmp_path) / "key"

    def slowly(count: int) -> bytes:
        file.write_bytes(b"x" * count)
        file.chmod(0o600)
        return b"y" * count

    monkeypatch.setattr(os, "urandom", slowly)
    key = reopened(tmp_path)
    monkeypatch.undo()
    assert file.read_bytes() == b"x" * 32
    assert key is not None
    assert reopened(tmp_path) == key


def test_the_same_bytes_in_another_file_are_another_key(tmp_path: Path, kept: Kept) -> None:
    file = folder_of(tmp_path) / "key"
    copy = tmp_path / "copy"
    copy.write_bytes(file.read_bytes())
    copy.chmod(0o600)
    copy.rename(file)
    assert reopened(tmp_path) not in (None, kept.key)


def test_a_key_that_was_touched_since_is_another_one(tmp_path: Path, kept: Kept) -> None:
    file = folder_of(tmp_path) / "key"
    time.sleep(0.02)  # longer than a tick of the clock that stamps files
    os.utime(file, ns=(1, 1))
    assert reopened(tmp_path) not in (None, kept.key)


@pytest.mark.parametrize("mode", [0o640, 0o620, 0o604, 0o602, 0o610, 0o601])
def test_a_key_that_others_may_read_or_write_is_replaced(
    tmp_path: Path, kept: Kept, mode: int
) -> None:
    file = folder_of(tmp_path) / "key"
    written = file.read_bytes()
    file.chmod(mode)
    assert reopened(tmp_path) not in (None, kept.key)
    assert file.read_bytes() != written
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


@pytest.mark.parametrize("size", [0, 31, 33])
def test_a_key_of_another_length_is_replaced(tmp_path: Path, kept: Kept, size: int) -> None:
    file = folder_of(tmp_path) / "key"
    file.write_bytes(b"x" * size)
    assert reopened(tmp_path) not in (None, kept.key)
    assert len(file.read_bytes()) == 32
    assert file.read_bytes()[:1] * 31 != file.read_bytes()[:31]


def test_a_key_with_a_second_name_is_replaced(tmp_path: Path, kept: Kept) -> None:
    file = folder_of(tmp_path) / "key"
    os.link(file, tmp_path / "second")
    assert reopened(tmp_path) not in (None, kept.key)
    assert file.read_bytes() != (tmp_path / "second").read_bytes()


def test_a_link_or_a_pipe_in_place_of_the_key_is_replaced(tmp_path: Path, kept: Kept) -> None:
    file = folder_of(tmp_path) / "key"
    other = tmp_path / "other"
    other.write_bytes(b"x" * 32)
    other.chmod(0o600)
    file.unlink()
    file.symlink_to(other)
    assert reopened(tmp_path) not in (None, kept.key)
    assert file.is_file()
    assert not file.is_symlink()
    assert other.read_bytes() == b"x" * 32
    file.unlink()
    os.mkfifo(file, 0o600)
    assert reopened(tmp_path) not in (None, kept.key)
    assert file.is_file()


# --- its files -----------------------------------------------------------------------------------


def test_what_was_written_is_read(tmp_path: Path, kept: Kept) -> None:
    assert read(kept) is None
    assert kept.write(NAME, b"first")
    assert kept.write(NAME, b"")
    assert read(kept) == b""
    assert kept.write(NAME, b"second")
    assert read(kept) == b"second"
    assert not [each for each in names(tmp_path) if each.endswith(".tmp")]


def test_what_was_not_written_here_is_not_believed(tmp_path: Path, kept: Kept) -> None:
    kept.write(NAME, b"data")
    file = folder_of(tmp_path) / NAME
    signed = file.read_bytes()
    assert len(signed) == 32 + len(b"data")
    for at in range(len(signed)):
        file.write_bytes(signed[:at] + bytes((signed[at] ^ 1,)) + signed[at + 1 :])
        assert read(kept) is None, at
    for other in (b"", signed[:31], signed[:32], signed[:-1], signed + b"x", b"data"):
        file.write_bytes(other)
        assert read(kept) is None
    file.write_bytes(signed)
    assert read(kept) == b"data"


def test_a_file_under_another_name_is_not_believed(tmp_path: Path, kept: Kept) -> None:
    kept.write(NAME, b"data")
    (folder_of(tmp_path) / NAME).rename(folder_of(tmp_path) / ("1" * 32))
    assert read(kept, "1" * 32) is None


def test_a_file_of_another_key_is_not_believed(tmp_path: Path, kept: Kept) -> None:
    kept.write(NAME, b"data")
    (folder_of(tmp_path) / "key").unlink()
    other = open_kept(str(tmp_path))
    assert other is not None
    assert read(other) is None
    other.close()


@pytest.mark.parametrize(("mode", "read_"), [(0o644, True), (0o620, False), (0o602, False)])
def test_a_file_that_others_may_write_to_is_not_believed(
    tmp_path: Path, kept: Kept, mode: int, read_: bool
) -> None:
    kept.write(NAME, b"data")
    (folder_of(tmp_path) / NAME).chmod(mode)
    assert (read(kept) is not None) is read_


def test_neither_a_link_nor_a_pipe_is_read(tmp_path: Path, kept: Kept) -> None:
    kept.write(NAME, b"data")
    file = folder_of(tmp_path) / NAME
    file.rename(tmp_path / "moved")
    file.symlink_to(tmp_path / "moved")
    assert read(kept) is None
    file.unlink()
    os.mkfifo(file, 0o600)
    assert read(kept) is None


def test_reading_leaves_nothing_open_and_notes_the_use(tmp_path: Path, kept: Kept) -> None:
    kept.write(NAME, b"data")
    file = folder_of(tmp_path) / NAME
    os.utime(file, (1, 1))
    before = open_descriptors()
    assert read(kept) == b"data"
    assert file.stat().st_mtime > 1
    file.write_bytes(b"")
    assert read(kept) is None
    kept.write(NAME, b"data")
    assert open_descriptors() == before


def test_what_is_too_large_is_neither_written_nor_read(
    tmp_path: Path, kept: Kept, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keeping, "MOST_BYTES", 4)
    assert kept.write(NAME, b"1234")
    assert read(kept) == b"1234"
    assert not kept.write(NAME, b"12345")
    assert read(kept) == b"1234"
    monkeypatch.setattr(keeping, "MOST_BYTES", 3)
    assert read(kept) is None


def test_what_cannot_be_written_leaves_nothing(
    tmp_path: Path, kept: Kept, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept.write(NAME, b"first")
    held = names(tmp_path)
    before = open_descriptors()
    whole = os.write
    fail = OSError(28, "no space")

    def full(descriptor: int, data: bytes) -> int:
        if len(data) <= 5:
            raise fail
        return whole(descriptor, data[:-5])

    monkeypatch.setattr(os, "write", full)
    assert kept.write(NAME, b"second") is False
    monkeypatch.undo()
    assert names(tmp_path) == held
    assert read(kept) == b"first"
    assert open_descriptors() == before

    def refused(*_: object, **__: object) -> None:
        raise fail

    monkeypatch.setattr(os, "rename", refused)
    assert kept.write(NAME, b"second") is False
    monkeypatch.undo()
    assert names(tmp_path) == held


def refusing(*_: object, **__: object) -> None:
    raise OSError(28, "no space")


def test_what_a_killed_run_left_is_removed_later(
    tmp_path: Path, kept: Kept, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = names(tmp_path)
    monkeypatch.setattr(os, "rename", refusing)
    monkeypatch.setattr(os, "unlink", refusing)
    assert kept.write(NAME, b"data") is False
    monkeypatch.undo()
    left = set(names(tmp_path)) - set(held)
    assert len(left) == 1
    for name in left:
        os.utime(folder_of(tmp_path) / name, (1, 1))
    assert kept.write(NAME, b"data")
    assert set(names(tmp_path)) == {*held, NAME}


def test_a_file_that_goes_meanwhile_does_not_prevent_writing(
    tmp_path: Path, kept: Kept, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(tmp_path, 30)
    monkeypatch.setattr(os, "lstat", refusing)
    assert kept.write(NAME, b"data")
    monkeypatch.undo()
    assert read(kept) == b"data"


def test_a_full_disk_leaves_no_half_key_and_touches_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = folder_of(tmp_path)
    folder.mkdir(0o700)
    other = tmp_path / "elsewhere"
    other.mkdir()
    for name in (".gitignore", "key"):
        (other / name).write_bytes(b"mine")
    monkeypatch.chdir(other)
    monkeypatch.setattr(os, "write", refusing)
    assert open_kept(str(tmp_path)) is None
    assert list(folder.iterdir()) == []
    for name in (".gitignore", "CACHEDIR.TAG"):
        (folder / name).touch()
    assert open_kept(str(tmp_path)) is None
    assert names(tmp_path) == [".gitignore", "CACHEDIR.TAG"]
    assert sorted(os.listdir(other)) == [".gitignore", "key"]
    # Nor is it a bug if not even that can be undone.
    (folder / ".gitignore").unlink()
    monkeypatch.setattr(os, "unlink", refusing)
    assert open_kept(str(tmp_path)) is None


def test_a_disk_that_takes_a_byte_at_a_time(kept: Kept, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = os.write
    monkeypatch.setattr(os, "write", lambda descriptor, data: whole(descriptor, data[:1]))
    assert kept.write(NAME, b"data")
    monkeypatch.undo()
    assert read(kept) == b"data"


# --- room ----------------------------------------------------------------------------------------


def fill(root: Path, *ages: int, size: int = 1) -> list[str]:
    """Files, so many seconds old."""
    made = []
    for number, age in enumerate(ages):
        file = folder_of(root) / f"{number:032x}"
        file.write_bytes(b"x" * size)
        os.utime(file, (time.time() - age,) * 2)
        made.append(file.name)
    return made


def ours(root: Path) -> list[str]:
    return [each for each in names(root) if len(each) == 32]


def test_the_oldest_go_when_there_are_too_many(
    tmp_path: Path, kept: Kept, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keeping, "MOST_FILES", 3)
    made = fill(tmp_path, 30, 10, 40)
    assert kept.write("f" * 32, b"")
    assert ours(tmp_path) == [made[0], made[1], "f" * 32]
    assert kept.write("e" * 32, b"")
    assert ours(tmp_path) == [made[1], "e" * 32, "f" * 32]


def test_the_oldest_go_when_they_are_too_much(
    tmp_path: Path, kept: Kept, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keeping, "MOST_TOGETHER", 100)
    made = fill(tmp_path, 30, 20, 10, size=30)
    assert kept.write("f" * 32, b"x" * 10)  # 100 with this one
    assert ours(tmp_path) == [*made, "f" * 32]
    (folder_of(tmp_path) / ("f" * 32)).unlink()
    assert kept.write("f" * 32, b"x" * 11)
    assert ours(tmp_path) == [*made[1:], "f" * 32]
    (folder_of(tmp_path) / ("f" * 32)).unlink()
    assert kept.write("f" * 32, b"x" * 70)
    assert ours(tmp_path) == [made[2], "f" * 32]
    (folder_of(tmp_path) / ("f" * 32)).unlink()
    made = fill(tmp_path, 30, 20, 10, size=30)
    assert kept.write("f" * 32, b"x" * 70)
    assert ours(tmp_path) == [made[2], "f" * 32]


def test_only_what_is_unfinished_for_long_is_removed_and_nothing_of_others(
    tmp_path: Path, kept: Kept
) -> None:
    folder = folder_of(tmp_path)
    old, young, foreign = "a" * 32 + ".tmp", "b" * 32 + ".tmp", "notes.tmp"
    for name, age in ((old, 3700), (young, 3500), (foreign, 9999), ("x" + "c" * 32, 9999)):
        (folder / name).touch()
        os.utime(folder / name, (time.time() - age,) * 2)
    assert kept.write(NAME, b"")
    left = set(names(tmp_path))
    assert old not in left
    assert {young, foreign, "x" + "c" * 32} <= left


# --- names, digests, time ------------------------------------------------------------------------


def test_names_and_digests_need_the_key(kept: Kept) -> None:
    assert kept.name_of(b"a") == kept.digest(b"a").hex()[:32]
    assert len(kept.name_of(b"a")) == 32
    assert kept.name_of(b"a") != kept.name_of(b"b")
    assert kept.digest(b"a") != Kept(-1, b"k" * 32).digest(b"a")


def test_the_time_is_that_of_the_clock_that_stamps_files(tmp_path: Path, kept: Kept) -> None:
    first = kept.now()
    assert first is not None
    time.sleep(0.02)
    (tmp_path / "file").touch()
    stamped = (tmp_path / "file").stat().st_ctime_ns
    time.sleep(0.02)
    second = kept.now()
    assert second is not None
    assert first < stamped < second


def test_without_a_clock_there_is_no_time(kept: Kept, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> None:
        raise OSError(30, "read only")

    monkeypatch.setattr(os, "utime", refused)
    assert kept.now() is None
    kept.write(NAME, b"data")
    assert read(kept) == b"data"  # also if its use cannot be noted


def test_what_is_installed_names_every_module_and_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("one-1.0.dist-info", "two.egg-info", "three.egg-link", "__editable__.four"):
        (tmp_path / name).mkdir()
    for name in ("five", "x.dist-info.txt", "x__editable__"):
        (tmp_path / name).mkdir()
    monkeypatch.setattr("sys.path", [str(tmp_path), str(tmp_path / "no")])
    monkeypatch.setattr("sys.version", "the version")
    said = installed.__wrapped__().split("\n")
    assert said[0] == "the version"
    assert said[-4:] == ["__editable__.four", "one-1.0.dist-info", "three.egg-link", "two.egg-info"]
    files = said[1:-4]
    assert files == sorted(files)
    own = Path(keeping.__file__)
    status = own.stat()
    assert f"{own} {status.st_size} {status.st_mtime_ns}" in files
    assert len([each for each in files if "__pycache__" in each]) == 0
    modules = {str(each) for each in own.parents[1].rglob("*.py")}
    assert modules <= {each.rsplit(" ", 2)[0] for each in files}
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", [""])
    assert installed.__wrapped__().split("\n")[-4:] == said[-4:]


def test_what_python_compiled_is_not_part_of_what_is_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = tmp_path / "equipage"
    for name in ("files/keeping.py", "files/__pycache__/keeping.pyc", "__pycache__/x.pyc"):
        (own / name).parent.mkdir(parents=True, exist_ok=True)
        (own / name).touch()
    monkeypatch.setattr(keeping, "__file__", str(own / "files" / "keeping.py"))
    monkeypatch.setattr("sys.path", [])
    _, *files = installed.__wrapped__().removeprefix(sys.version).split("\n")
    assert [each.rsplit(" ", 2)[0] for each in files] == [str(own / "files" / "keeping.py")]
