"""Tracked files are found although a `.gitignore` matches them, without running git."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import equipage
from equipage.files import index
from equipage.files.disk import Disk
from equipage.files.index import DamagedIndex, TrackedFiles, _parse_index, read_tracked_files
from equipage.files.walking import walk
from equipage.project.registry import agent_folders
from lab import write

from .indexes import a_number, an_index

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
NAMES = ["a.tool.yaml", "d/long/name/of/a/file.yaml", "d/long/name/of/another.yaml", "é/x.md", "z"]


def git(folder: Path, *words: str) -> str:
    settings = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "protocol.file.allow=always")
    done = subprocess.run(
        ["git", *settings, *words], cwd=folder, capture_output=True, text=True, check=True
    )
    return done.stdout


def start(folder: Path, *more: str) -> Path:
    folder.mkdir(exist_ok=True)
    git(folder, "init", "-q", *more)
    write(folder, dict.fromkeys(NAMES, ""))
    return folder


def names(folder: Path) -> list[str]:
    tracked = read_tracked_files(str(folder), Disk())
    assert tracked is not None
    return decoded(tracked)


def decoded(tracked: TrackedFiles) -> list[str]:
    """The names as text; a file with conflicts is in an index several times."""
    return list(dict.fromkeys(map(os.fsdecode, tracked.names)))


@needs_git
@pytest.mark.parametrize("version", ["2", "3", "4"])
def test_every_version_of_the_index(tmp_path: Path, version: str) -> None:
    start(tmp_path)
    git(tmp_path, "add", ".")
    if version == "3":  # an entry with more flags
        write(tmp_path, {"later": ""})
        git(tmp_path, "add", "--intent-to-add", "later")
    git(tmp_path, "update-index", "--index-version", version)
    assert (tmp_path / ".git/index").read_bytes()[7] == int(version)
    expected = git(tmp_path, "-c", "core.quotePath=false", "ls-files").splitlines()
    assert names(tmp_path) == sorted(expected)


@needs_git
def test_a_split_index_and_hashes_of_another_size(tmp_path: Path) -> None:
    start(tmp_path)
    git(tmp_path, "add", ".")
    git(tmp_path, "update-index", "--split-index")
    # The entry of a file that changed has no name of its own: it is in the shared part.
    write(tmp_path, {"new.yaml": "", "z": "changed"})
    git(tmp_path, "add", "new.yaml", "z")
    assert names(tmp_path) == sorted([*NAMES, "new.yaml"])
    other = start(tmp_path / "other", "--object-format=sha256")
    git(other, "add", ".")
    assert names(other) == sorted(NAMES)


@needs_git
def test_worktrees_and_submodules(tmp_path: Path) -> None:
    """A worktree has an index elsewhere; what a submodule holds is not tracked by its parent."""
    main = start(tmp_path / "main")
    git(main, "add", ".")
    git(main, "commit", "-qm", "x")
    git(main, "worktree", "add", "-q", "../tree")
    assert names(tmp_path / "tree") == sorted(NAMES)
    parent = start(tmp_path / "parent")
    git(parent, "submodule", "--quiet", "add", str(main), "module")
    assert names(parent) == [".gitmodules"]


def test_where_there_is_none(tmp_path: Path) -> None:
    assert read_tracked_files(str(tmp_path), Disk()) is None
    (tmp_path / ".git").write_text("gitdir: nowhere\n")
    assert read_tracked_files(str(tmp_path), Disk()) is None


@needs_git
def test_a_tracked_file_is_checked_though_ignored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A `.gitignore` cannot hide what a repository tracks; what it does not track stays hidden."""
    git(tmp_path, "init", "-q")
    write(
        tmp_path,
        {
            ".gitignore": "secret/\n*.tool.yaml\n",
            "a.tool.yaml": "x: 1\n",
            "secret/deep/b.tool.yaml": "x: 1\n",
            "secret/deep/c.tool.yaml": "x: 1\n",
            "secret/other/d.tool.yaml": "x: 1\n",
        },
    )
    git(tmp_path, "add", "-f", "a.tool.yaml", "secret/deep/b.tool.yaml")
    monkeypatch.setenv("PATH", "")  # no git is needed
    report = equipage.check([tmp_path], env={})
    shown = [str(Path(each.path).resolve().relative_to(tmp_path)) for each in report.files]
    assert shown == ["a.tool.yaml", "secret/deep/b.tool.yaml"]


@needs_git
@needs_git
def test_settings_of_one_person_are_not_shared(tmp_path: Path) -> None:
    """What a person allows there counts for everybody who opens the repository, without trust."""
    mine, ours = ".claude/settings.local.json", ".claude/settings.json"
    write(tmp_path, {mine: "{}", ours: "{}", "own/.claude/settings.local.json": "{}"})
    git(tmp_path, "init", "-q")
    assert equipage.check([tmp_path], env={}).diagnostics == ()
    git(tmp_path, "add", "-f", mine, ours)
    (found,) = equipage.check([tmp_path], env={}).diagnostics
    assert (found.code, found.severity) == ("personal-settings-shared", "warning")
    assert str(found.name).endswith(f"/{mine}")


def test_a_damaged_index_is_a_note(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    write(tmp_path, {".gitignore": "a*\n", "a.tool.yaml": "", "b.md": ""})
    git(tmp_path, "add", "-f", ".")
    file = tmp_path / ".git/index"
    file.write_bytes(file.read_bytes()[:90])
    report = equipage.check([tmp_path], env={})
    assert [(each.code, each.severity) for each in report.diagnostics] == [
        ("index-damaged", "note")
    ]
    assert "cut off" in report.diagnostics[0].message
    file.write_bytes(b"nonsense")
    assert "does not start" in equipage.check([tmp_path], env={}).diagnostics[0].message


@given(st.binary(max_size=200), st.sampled_from([b"\x02", b"\x03", b"\x04"]))
def test_any_bytes_are_an_index_or_damaged(rest: bytes, version: bytes) -> None:
    try:
        _parse_index(b"DIRC\0\0\0" + version + rest)
    except DamagedIndex as error:
        assert str(error)


def test_links_in_one_place_do_not_multiply(tmp_path: Path) -> None:
    """A hundred links to a folder of agents show it once, as one link would."""
    write(tmp_path, {f"big/a{number}.md": "" for number in range(50)})
    agents = tmp_path / ".claude/agents"
    for number in range(100):
        holder = agents / f"d{number}"
        holder.mkdir(parents=True)
        (agents / f"l{number}").symlink_to(tmp_path / "big")
        (holder / "link").symlink_to(tmp_path / "big")
    found = [each.path for each in walk(str(tmp_path), agent_folders(), Disk())]
    assert len(found) == 100
    assert sum("/.claude/agents/" in each for each in found) == 50


# --- byte by byte --------------------------------------------------------------------------------


ENTRIES = [("a", 8), ("a-link", 10), ("d/" + "x" * 300, 8), ("d/y", 8), ("module", 14), ("t", 4)]
KEPT = [name.encode() for name, sort in ENTRIES if sort in (8, 10)]


@pytest.mark.parametrize("hash_size", [20, 32])
@pytest.mark.parametrize("extended", [False, True])
@pytest.mark.parametrize("version", [2, 3, 4])
def test_names_of_files_and_links_are_read(version: int, extended: bool, hash_size: int) -> None:
    data = an_index(version, ENTRIES, extended=extended, hash_size=hash_size)
    assert _parse_index(data) == (KEPT, None)


@pytest.mark.parametrize("hash_size", [20, 32])
@pytest.mark.parametrize("extended", [False, True])
@pytest.mark.parametrize("version", [2, 3, 4])
def test_an_index_that_is_cut_off_is_damaged(version: int, extended: bool, hash_size: int) -> None:
    """Also where its hashes, read as shorter ones, would leave entries that end there."""
    data = an_index(version, ENTRIES, extended=extended, hash_size=hash_size)
    for cut in range(len(data)):
        with pytest.raises(DamagedIndex):
            _parse_index(data[:cut])


@pytest.mark.parametrize("length", [*range(1, 18), 4094, 4095, 4096, 5000])
def test_names_of_any_length(length: int) -> None:
    names = [("x" * length, 8), ("y" * length, 8)]
    assert _parse_index(an_index(2, names)) == ([name.encode() for name, _ in names], None)


@pytest.mark.parametrize("version", [2, 3, 4])
@pytest.mark.parametrize("length", [1, 255, 256, 4094, 4095, 4096])
def test_a_name_is_as_long_as_its_entry_says(version: int, length: int) -> None:
    data = bytearray(an_index(version, [("x" * length, 8)]))
    written = int.from_bytes(data[72:74], "big")
    assert written == min(length, 4095)
    for wrong in {0, length - 1, length + 1, length + 256, length ^ 0x800, 4095} - {length, 4096}:
        if wrong < 4096 and wrong != written:
            data[72:74] = wrong.to_bytes(2, "big")
            with pytest.raises(DamagedIndex):
                _parse_index(bytes(data))


@pytest.mark.parametrize("sort", [8, 10, 14], ids=["file", "link", "submodule"])
@pytest.mark.parametrize("version", [2, 3, 4])
def test_no_name_has_a_zero_byte(version: int, sort: int) -> None:
    with pytest.raises(DamagedIndex, match="cut off"):
        _parse_index(an_index(version, [("a", 8), ("b\0c", sort), ("d", 8)]))


@pytest.mark.parametrize("long", [126, 127, 128, 129, 16511, 16512, 20000])
def test_long_names_that_begin_alike(long: int) -> None:
    names = [("a" + "x" * long, 8), ("b", 8), ("b/c", 8)]
    assert _parse_index(an_index(4, names)) == ([name.encode() for name, _ in names], None)


@pytest.mark.parametrize("hash_size", [20, 32])
def test_the_shared_part_is_named_by_its_hash(hash_size: int) -> None:
    own = bytes(range(hash_size))
    link = b"link" + (hash_size + 3).to_bytes(4, "big") + own + b"abc"
    other = b"TREE" + (5).to_bytes(4, "big") + b"12345"
    for extensions in (link, other + link, link + other):
        data = an_index(2, ENTRIES, hash_size=hash_size, extensions=extensions)
        assert _parse_index(data) == (KEPT, own.hex())
    data = an_index(2, ENTRIES, hash_size=hash_size, extensions=other)
    assert _parse_index(data) == (KEPT, None)
    for wrong in (other[:-1], other + b"x", b"TREE", b"TREE\x01\0\0\x0512345"):
        with pytest.raises(DamagedIndex, match=r"^an entry is cut off or has no end$"):
            _parse_index(an_index(2, ENTRIES, hash_size=hash_size, extensions=wrong))


def test_what_is_no_index_of_a_known_version() -> None:
    large = b"DIRC\x01" + an_index(2, [])[5:]
    for data in (
        b"",
        b"DIRC",
        b"dirc" + an_index(2, [])[4:],
        an_index(1, []),
        large,
        an_index(5, []),
    ):
        with pytest.raises(DamagedIndex, match=r"^it does not start like an index of git$"):
            _parse_index(data)
    assert _parse_index(an_index(2, [])) == ([], None)


def test_an_index_has_as_many_entries_as_it_says() -> None:
    data = an_index(2, ENTRIES)
    for count in (len(ENTRIES) + 1, len(ENTRIES) + (1 << 24), (1 << 32) - 1, 5, 0):
        with pytest.raises(DamagedIndex):
            _parse_index(data[:8] + count.to_bytes(4, "big") + data[12:])


def test_a_name_cannot_drop_more_than_the_one_before_has() -> None:
    first = an_index(4, [("abc", 8)])[12:-20]
    head = b"DIRC" + (4).to_bytes(4, "big") + (2).to_bytes(4, "big")
    for dropped in (0, 1, 2, 3):
        second = first[:60] + bytes((0, 4 - dropped)) + a_number(dropped) + b"z\0"
        names = [b"abc", b"abc"[: 3 - dropped] + b"z"]
        assert _parse_index(head + first + second + b"\0" * 20) == (names, None)
    for dropped in (4, 200, 10**6, 10**30):
        second = first[:62] + a_number(dropped) + b"z\0"
        with pytest.raises(DamagedIndex):
            _parse_index(head + first + second + b"\0" * 20)


def test_tracked_names_are_looked_up_exactly(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    file = tmp_path / ".git" / "index"
    file.write_bytes(an_index(2, [("z", 8), ("b/c", 8), ("b/c", 8), ("a.md", 8)]))
    tracked = read_tracked_files(str(tmp_path), Disk())
    assert tracked is not None
    assert decoded(tracked) == ["a.md", "b/c", "z"]
    assert [tracked.has(each) for each in ("a.md", "b/c", "z")] == [True] * 3
    assert [tracked.has(each) for each in ("", "a", "a.mdx", "b", "b/", "zz", "\ud800")] == [
        False
    ] * 7
    assert tracked.has_below("b/")
    assert [tracked.has_below(each) for each in ("a/", "c/", "b/c/", "zz/", "\ud800/")] == [
        False
    ] * 5
    file.write_bytes(an_index(2, []))
    empty = read_tracked_files(str(tmp_path), Disk())
    assert empty is not None
    assert (empty.names, empty.has("a"), empty.has_below("a/")) == ([], False, False)


def test_the_rest_of_a_split_index_is_beside_it(tmp_path: Path) -> None:
    folder = tmp_path / ".git"
    folder.mkdir()
    own = bytes(range(20))
    link = b"link" + (20).to_bytes(4, "big") + own
    (folder / "index").write_bytes(an_index(2, [("b", 8)], extensions=link))
    with pytest.raises(DamagedIndex, match=r"^the shared part of the index is missing$"):
        read_tracked_files(str(tmp_path), Disk())
    (folder / f"sharedindex.{own.hex()}").write_bytes(an_index(2, [("a", 8), ("c", 8)]))
    assert names(tmp_path) == ["a", "b", "c"]
    (folder / f"sharedindex.{own.hex()}").write_bytes(b"nonsense")
    with pytest.raises(DamagedIndex):
        read_tracked_files(str(tmp_path), Disk())


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir, lambda path: os.symlink("nothing", path)])
def test_an_index_that_cannot_be_read_is_not_taken_for_none(tmp_path: Path, make: Any) -> None:
    """Else a file that is tracked and ignored would be left out in silence."""
    (tmp_path / ".git").mkdir()
    make(tmp_path / ".git" / "index")
    with pytest.raises(DamagedIndex, match=r"^it cannot be read$"):
        read_tracked_files(str(tmp_path), Disk())


def test_an_index_is_read_up_to_a_size_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / ".git"
    folder.mkdir()
    own = bytes(range(20))
    data = an_index(2, [("b", 8)], extensions=b"link" + (20).to_bytes(4, "big") + own)
    shared = an_index(2, [("a", 8), ("c" * 300, 8)])
    (folder / "index").write_bytes(data)
    (folder / f"sharedindex.{own.hex()}").write_bytes(shared)
    monkeypatch.setattr(index, "_MAX_BYTES", len(shared))
    tracked = read_tracked_files(str(tmp_path), Disk())
    assert tracked is not None
    assert decoded(tracked) == ["a", "b", "c" * 300]
    for size in (len(data) - 1, len(shared) - 1):
        monkeypatch.setattr(index, "_MAX_BYTES", size)
        with pytest.raises(DamagedIndex):
            read_tracked_files(str(tmp_path), Disk())


def test_a_path_with_a_zero_byte_leads_nowhere(tmp_path: Path) -> None:
    (tmp_path / ".git").write_text("gitdir: ../a\0b")
    assert read_tracked_files(str(tmp_path), Disk()) is None


def test_where_the_file_of_a_worktree_leads(tmp_path: Path) -> None:
    tree, real = tmp_path / "tree", tmp_path / "real"
    tree.mkdir()
    real.mkdir()
    (real / "index").write_bytes(an_index(2, [("a", 8)]))
    for written in (f"gitdir: {real}\n", "gitdir: ../real", "gitdir:../tree/../real \n"):
        (tree / ".git").write_text(written)
        assert names(tree) == ["a"]
    for written in ("../real", "GITDIR: ../real", "gitdir: ../real\0", " gitdir: ../real", ""):
        (tree / ".git").write_text(written)
        assert read_tracked_files(str(tree), Disk()) is None
    (tree / ".git").write_text(f"gitdir: ../real{' ' * 64 * 1024}")  # longer than such a file is
    assert read_tracked_files(str(tree), Disk()) is None
    (tree / ".git").write_text(f"gitdir: ../real{' ' * (64 * 1024 - 15)}")
    assert names(tree) == ["a"]
