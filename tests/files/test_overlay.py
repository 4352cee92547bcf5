"""Contents in place of files: alone they are all there is; over a disk they hide what it has."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from equipage.files import System
from equipage.files.disk import Disk
from equipage.files.memory import Memory, Overlay
from equipage.files.reading import Files
from equipage.files.sandbox import FileProblem, PathPolicy
from systems import DiskAt

STRICT = PathPolicy()


def problem(action: Callable[[], object]) -> tuple[str, dict[str, object]]:
    with pytest.raises(FileProblem) as raised:
        action()
    return str(raised.value.code), raised.value.values


def names(system: System, folder: str) -> list[str]:
    return [entry.name for entry in system.entries(folder)]


@pytest.fixture
def disk(tmp_path: Path) -> Path:
    (tmp_path / "sub").mkdir()
    (tmp_path / "a.txt").write_text("of the disk")
    (tmp_path / "sub" / "b.txt").write_text("b")
    (tmp_path / "link.txt").symlink_to("a.txt")
    return tmp_path


# --- alone ---------------------------------------------------------------------------------------


def alone() -> Memory:
    return Memory({"/p/b/c.txt": b"c", "/p/a.txt": b"a", "/p/b/a.txt": b"ba"}, root="/p")


def test_alone_it_is_all_there_is(disk: Path) -> None:
    memory, there = alone(), str(disk / "a.txt")
    assert memory.cwd == "/p"
    assert memory.variables() == {}
    assert not memory.exists(there)
    assert not memory.is_file(there)
    assert not memory.is_folder(str(disk))
    assert not memory.is_link(str(disk / "link.txt"))
    assert memory.peek(there) is None
    assert memory.real(str(disk / "link.txt")) == str(disk / "link.txt")
    assert not Files(memory).exists(there)
    assert memory.finds_program("no-such-program", "/nowhere")


def test_alone_it_answers_by_any_spelling() -> None:
    memory = alone()
    for path in ("/p/b/c.txt", "b/c.txt", "./b/../b/c.txt", "/p//b/c.txt"):
        assert (memory.is_file(path), memory.is_folder(path)) == (True, False)
        assert memory.exists(path)
        assert memory.peek(path) == b"c"
        assert memory.real(path) == "/p/b/c.txt"
    for path in ("/p/b", "b", "b/", "/p", "."):
        assert (memory.is_file(path), memory.is_folder(path)) == (False, True)
        assert memory.exists(path)
    for path in ("/p/c", "/p/b/c", "/b", "c.txt"):
        assert not memory.exists(path)


def test_alone_its_root_is_a_repository() -> None:
    memory = alone()
    assert memory.exists("/p/.git")
    assert memory.repository_root("/p/b") == "/p"
    assert not memory.exists("/p/b/.git")
    assert not memory.is_file("/p/.git")


def test_entries_of_a_folder_have_its_path() -> None:
    memory = Memory({"/X/b": b"", "/X/a": b"", "/X/c/d": b"", "/X/c/e/f": b""})
    for folder in ("/X", "X", "/X/"):
        start = folder.rstrip("/")
        assert [(each.path, each.is_dir(), each.is_file()) for each in memory.entries(folder)] == [
            (f"{start}/a", False, True),
            (f"{start}/b", False, True),
            (f"{start}/c", True, False),
        ]
    assert [(each.name, each.is_dir()) for each in memory.entries("/X/c")] == [
        ("d", False),
        ("e", True),
    ]
    assert [(each.name, each.is_dir()) for each in memory.entries("/")] == [("X", True)]


def test_an_empty_one_is_an_empty_folder() -> None:
    memory = Memory({}, root="/p")
    assert memory.is_folder("/p")
    assert names(memory, "/p") == []
    assert Files(memory).is_folder("/p")
    assert Files(memory).cwd == "/p"


def test_a_load_from_it_reads_its_contents_alone(disk: Path) -> None:
    load = Files(alone())
    assert load.read("b/c.txt").text == "c"
    assert (load.is_folder("b"), load.exists("b"), load.exists("/p/.git")) == (True, True, True)
    assert (load.is_folder("a.txt"), load.exists("no")) == (False, False)
    assert problem(lambda: load.read(str(disk / "a.txt")))[0] == "file-missing"
    assert load.for_next_load().read("a.txt").text == "a"


def test_unread_places_of_files_in_memory() -> None:
    load = Files(Memory({"/r/a": b"a", "/home/b": b"b", "/etc/c": b"c"}, root="/r"))
    unread = PathPolicy(absolute="unread")
    assert load.refer("/r/a", ("/r",), ("/r",), unread).source.text == "a"
    assert load.refer("/home/b", ("/r",), ("/r",), unread, ("/home",)).source.text == "b"
    refused = problem(lambda: load.refer("/home/b", ("/r",), ("/r",), unread))
    assert refused == ("absolute-unread", {"reference": "/home/b"})


# --- over the disk -------------------------------------------------------------------------------


def test_over_a_disk_it_hides_what_the_disk_has(disk: Path) -> None:
    root = str(disk)
    over = Overlay({f"{root}/a.txt": b"unsaved", f"{root}/new/c.txt": b"new"}, Disk())
    assert over.peek(f"{root}/a.txt") == b"unsaved"
    assert over.peek(f"{root}/sub/b.txt") == b"b"
    assert over.peek(f"{root}/no") is None
    assert over.is_file(f"{root}/new/c.txt")
    assert over.is_file(f"{root}/sub/b.txt")
    assert over.is_folder(f"{root}/new")
    assert over.is_folder(f"{root}/sub")
    assert over.exists(f"{root}/new")
    assert over.exists(f"{root}/sub")
    assert over.is_link(f"{root}/link.txt")
    assert over.real(f"{root}/link.txt") == os.path.realpath(f"{root}/a.txt")
    assert over.cwd == os.getcwd()
    assert not over.exists(f"{root}/no")
    assert not over.is_folder("/no")
    assert not over.is_file("/no")


def test_over_a_disk_a_way_out_and_back_leads_nowhere(disk: Path) -> None:
    """As on the disk, where what is open in an editor is read by the same way."""
    root, name = str(disk / "sub"), "back.txt"
    (disk / "out").symlink_to("sub/b.txt")
    (disk / "sub" / name).symlink_to("../out")
    over = Overlay({f"{root}/b.txt": b"unsaved", f"{root}/new.txt": b"new"}, Disk())
    for system in (Disk(), over):
        refused = problem(lambda system=system: system.open_inside(root, name, (root,)))
        assert refused[0] == "reference-escapes"
    assert over.open_inside(root, "b.txt", (root,)).read("x", 99) == b"unsaved"
    assert over.open_inside(root, "new.txt", (root,)).read("x", 99) == b"new"


def test_over_a_disk_it_makes_up_no_repository(disk: Path) -> None:
    assert not Overlay({f"{disk}/a.txt": b""}, DiskAt(disk)).exists(f"{disk}/.git")


def test_over_a_disk_the_entries_of_both_are_listed(disk: Path) -> None:
    root = str(disk)
    contents = {f"{root}/sub/a.txt": b"", f"{root}/sub/b.txt": b"", f"{root}/new/c/d.txt": b""}
    over = Overlay(contents, Disk())
    assert names(over, root) == ["a.txt", "link.txt", "new", "sub"]
    assert names(over, f"{root}/sub") == ["a.txt", "b.txt"]
    assert names(over, f"{root}/new") == ["c"]
    with pytest.raises(FileNotFoundError):
        over.entries(f"{root}/no")


def test_a_load_over_a_disk_reads_what_is_unsaved(disk: Path) -> None:
    root = os.path.realpath(disk)
    load = Files(Overlay({f"{root}/a.txt": b"unsaved"}, DiskAt(root)))
    source = load.read("a.txt")
    assert (source.name, source.filename, source.text) == ("a.txt", f"{root}/a.txt", "unsaved")
    assert load.read(f"{root}/link.txt") is source
    assert load.read("sub/b.txt").text == "b"
    assert load.sources() == (source, load.read("sub/b.txt"))
    with pytest.raises(FileProblem):
        load.read("sub/b.txt", max_bytes=0)
    assert Files(DiskAt(root)).read("a.txt").text == "of the disk"


def test_what_is_unsaved_counts_through_a_link(disk: Path) -> None:
    over = Overlay({f"{os.path.realpath(disk)}/a.txt": b"unsaved"}, Disk())
    link = str(disk / "link.txt")
    assert Files(over).read(link).text == "unsaved"
    assert over.peek(link) == b"unsaved"
    assert over.stamp(link) == over.stamp(over.real(link))
    assert over.sha256(link) == over.sha256(over.real(link))


def test_what_is_unsaved_may_be_too_large(disk: Path) -> None:
    root = os.path.realpath(disk)
    load = Files(Overlay({f"{root}/a.txt": b"123456"}, DiskAt(root)))
    said = problem(lambda: load.read("a.txt", max_bytes=5))
    assert said == ("file-too-large", {"file": "a.txt", "size": 6, "limit": 5})
    assert load.read("a.txt", max_bytes=6).text == "123456"
    small = PathPolicy(max_bytes=5)
    again = problem(lambda: load.for_next_load().refer("a.txt", (root,), (root,), small))
    assert again[0] == "file-too-large"


def test_references_over_a_disk_are_confined_as_ever(disk: Path) -> None:
    root = os.path.realpath(disk)
    contents = {f"{root}/{name}": b"unsaved" for name in ("out.txt", "sub/new.txt", "sub/.git/c")}
    (disk / "sub" / "out.txt").symlink_to("../out.txt")
    (disk / "sub" / "a.txt").symlink_to("../a.txt")
    inside = f"{root}/sub"
    load = Files(Overlay(contents, DiskAt(root)))
    source = load.refer("new.txt", (inside,), (inside,), STRICT).source
    assert (source.name, source.filename, source.text) == (
        "sub/new.txt",
        f"{inside}/new.txt",
        "unsaved",
    )
    assert load.refer("b.txt", (inside,), (inside,), STRICT).source.text == "b"
    for name in ("out.txt", "a.txt"):
        said = problem(lambda name=name: load.refer(name, (inside,), (inside,), STRICT))
        assert said == (
            "reference-escapes",
            {"reference": name, "advice": "put a copy of the file in place of the link"},
        )
    private = problem(lambda: load.refer(".git/c", (inside,), (inside,), STRICT))
    assert private == ("reference-private", {"reference": ".git/c"})


def test_a_link_to_a_folder_of_git_is_private_under_an_overlay_too(disk: Path) -> None:
    root = os.path.realpath(disk)
    (disk / ".git").mkdir()
    (disk / "innocent").symlink_to(".git/config")
    load = Files(Overlay({f"{root}/.git/config": b"unsaved"}, Disk()))
    said = problem(lambda: load.refer("innocent", (root,), (root,), STRICT))
    assert said == ("reference-private", {"reference": "innocent"})


def test_what_was_emptied_and_not_saved_is_empty(disk: Path) -> None:
    path = f"{os.path.realpath(disk)}/a.txt"
    assert Files(Overlay({path: b""}, Disk())).read(path, max_bytes=0).data == b""


def test_what_is_unsaved_has_the_same_name_for_every_load(disk: Path) -> None:
    path = f"{os.path.realpath(disk)}/a.txt"
    load = Files(Overlay({path: b"unsaved"}, Disk()))
    first = load.read(path)
    assert load.for_next_load().read(path) is first
