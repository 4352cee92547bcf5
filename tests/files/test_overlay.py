"""Contents in place of files: alone they are all there is; over a disk they hide what it has."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from equipage import files
from equipage.files.memory import Overlay, overlaid
from equipage.files.reading import Files, MemoryFiles, files_here, peek
from equipage.files.sandbox import FileProblem, PathPolicy

STRICT = PathPolicy()


def problem(action: Callable[[], object]) -> tuple[str, dict[str, object]]:
    with pytest.raises(FileProblem) as raised:
        action()
    return str(raised.value.code), raised.value.values


def names(folder: str) -> list[str]:
    return [entry.name for entry in files.entries_of(folder)]


@pytest.fixture
def disk(tmp_path: Path) -> Path:
    (tmp_path / "sub").mkdir()
    (tmp_path / "a.txt").write_text("of the disk")
    (tmp_path / "sub" / "b.txt").write_text("b")
    (tmp_path / "link.txt").symlink_to("a.txt")
    return tmp_path


# --- alone ---------------------------------------------------------------------------------------


def alone() -> Overlay:
    return Overlay({"/p/b/c.txt": b"c", "/p/a.txt": b"a", "/p/b/a.txt": b"ba"}, root="/p")


def test_alone_it_is_all_there_is(disk: Path) -> None:
    there = str(disk / "a.txt")
    with overlaid(alone()):
        assert files.is_disk_hidden()
        assert files.working_directory() == "/p"
        assert not files.exists(there)
        assert not files.is_file(there)
        assert not files.is_folder(str(disk))
        assert not files.is_link(str(disk / "link.txt"))
        assert peek(there) is None
        assert files.real_path(str(disk / "link.txt")) == str(disk / "link.txt")
        assert not files_here().exists(there)
        assert files_here().finds_program("no-such-program", "/nowhere")
    assert not files.is_disk_hidden()
    assert files.exists(there)


def test_alone_it_answers_by_any_spelling() -> None:
    with overlaid(alone()):
        for path in ("/p/b/c.txt", "b/c.txt", "./b/../b/c.txt", "/p//b/c.txt"):
            assert (files.is_file(path), files.is_folder(path)) == (True, False)
            assert files.exists(path)
            assert peek(path) == b"c"
            assert files.real_path(path) == "/p/b/c.txt"
        for path in ("/p/b", "b", "b/", "/p", "."):
            assert (files.is_file(path), files.is_folder(path)) == (False, True)
            assert files.exists(path)
        for path in ("/p/c", "/p/b/c", "/b", "c.txt"):
            assert not files.exists(path)


def test_alone_its_root_is_a_repository() -> None:
    with overlaid(alone()):
        assert files.exists("/p/.git")
        assert files.repository_root("/p/b") == "/p"
        assert not files.exists("/p/b/.git")
        assert not files.is_file("/p/.git")


def test_entries_come_by_name_and_say_what_they_are() -> None:
    with overlaid(alone()):
        entries = files.entries_of("/p/")
        assert [(each.name, each.path) for each in entries] == [
            ("a.txt", "/p/a.txt"),
            ("b", "/p/b"),
        ]
        assert [(each.is_dir(), each.is_file(), each.is_symlink()) for each in entries] == [
            (False, True, False),
            (True, False, False),
        ]
        assert names("b") == ["a.txt", "c.txt"]


def test_entries_of_a_folder_have_its_path() -> None:
    overlay = Overlay({"/X/b": b"", "/X/a": b"", "/X/c/d": b"", "/X/c/e/f": b""})
    for folder in ("/X", "X", "/X/"):
        start = folder.rstrip("/")
        assert [(each.path, each.is_dir(), each.is_file()) for each in overlay.entries(folder)] == [
            (f"{start}/a", False, True),
            (f"{start}/b", False, True),
            (f"{start}/c", True, False),
        ]
    assert [(each.name, each.is_dir()) for each in overlay.entries("/X/c")] == [
        ("d", False),
        ("e", True),
    ]
    assert [(each.name, each.is_dir()) for each in overlay.entries("/")] == [("X", True)]
    assert overlay.entries("/no") == []


def test_an_empty_one_is_an_empty_folder() -> None:
    with overlaid(Overlay({}, root="/p")):
        assert files.is_folder("/p")
        assert names("/p") == []
        assert files_here().is_folder("/p")
        assert files_here().cwd == "/p"


def test_a_folder_that_it_does_not_have_is_missing_and_a_file_is_no_folder() -> None:
    with overlaid(alone()):
        with pytest.raises(FileNotFoundError) as missing:
            files.entries_of("/p/no")
        with pytest.raises(NotADirectoryError) as file:
            files.entries_of("/p/a.txt")
    assert (missing.value.filename, missing.value.strerror) == (
        "/p/no",
        "No such file or directory",
    )
    assert (file.value.filename, file.value.strerror) == ("/p/a.txt", "Not a directory")


def test_a_load_from_it_reads_its_contents_alone(disk: Path) -> None:
    with overlaid(alone()):
        load = files_here()
        assert isinstance(load, MemoryFiles)
        assert (load.cwd, load.contents) == ("/p", alone().contents)
        assert load.read("b/c.txt").text == "c"
        assert (load.is_folder("b"), load.exists("b"), load.exists("/p/.git")) == (True, True, True)
        assert (load.is_folder("a.txt"), load.exists("no")) == (False, False)
        assert problem(lambda: load.read(str(disk / "a.txt")))[0] == "file-missing"
        again = load.again()
        assert again.read("a.txt").text == "a"


def test_files_in_memory_do_not_need_an_overlay() -> None:
    load = MemoryFiles({"/r/a/b.txt": "b"}, cwd="/r")
    assert load.exists("/r/a/b.txt")
    assert load.exists("/r/a")
    assert not load.exists("/r/no")
    assert (load.peek("/r/a/b.txt"), load.peek("/r/no")) == (b"b", None)
    with overlaid(alone()):  # and do not take the contents of another one
        assert load.exists("/r/a")
        assert load.is_folder("/r/a")
        assert not load.exists("/p/b")
        assert not load.is_folder("/p/b")


def test_unread_places_of_files_in_memory() -> None:
    load = MemoryFiles({"/r/a": "a", "/home/b": "b", "/etc/c": "c"}, cwd="/r")
    unread = PathPolicy(absolute="unread")
    assert load.refer("/r/a", ("/r",), ("/r",), unread).source.text == "a"
    assert load.refer("/home/b", ("/r",), ("/r",), unread, ("/home",)).source.text == "b"
    refused = problem(lambda: load.refer("/home/b", ("/r",), ("/r",), unread))
    assert refused == ("absolute-unread", {"reference": "/home/b"})


# --- over the disk -------------------------------------------------------------------------------


def test_over_a_disk_it_hides_what_the_disk_has(disk: Path) -> None:
    root = str(disk)
    contents = {f"{root}/a.txt": b"unsaved", f"{root}/new/c.txt": b"new"}
    with overlaid(Overlay(contents, over_disk=True)):
        assert not files.is_disk_hidden()
        assert peek(f"{root}/a.txt") == b"unsaved"
        assert peek(f"{root}/sub/b.txt") == b"b"
        assert peek(f"{root}/no") is None
        assert files.is_file(f"{root}/new/c.txt")
        assert files.is_file(f"{root}/sub/b.txt")
        assert files.is_folder(f"{root}/new")
        assert files.is_folder(f"{root}/sub")
        assert files.exists(f"{root}/new")
        assert files.exists(f"{root}/sub")
        assert files.is_link(f"{root}/link.txt")
        assert files.real_path(f"{root}/link.txt") == os.path.realpath(f"{root}/a.txt")
        assert files.working_directory() == os.getcwd()
        assert not files.exists(f"{root}/no")
        assert not files.is_folder("/no")
        assert not files.is_file("/no")


def test_over_a_disk_it_makes_up_no_repository(disk: Path) -> None:
    overlay = Overlay({f"{disk}/a.txt": b""}, over_disk=True, root=str(disk))
    assert not overlay.exists(f"{disk}/.git")
    assert not Overlay({}, over_disk=True).is_folder("/")


def test_over_a_disk_the_entries_of_both_are_listed(disk: Path) -> None:
    root = str(disk)
    contents = {f"{root}/sub/a.txt": b"", f"{root}/sub/b.txt": b"", f"{root}/new/c/d.txt": b""}
    with overlaid(Overlay(contents, over_disk=True)):
        assert names(root) == ["a.txt", "link.txt", "new", "sub"]
        assert names(f"{root}/sub") == ["a.txt", "b.txt"]
        assert names(f"{root}/new") == ["c"]
        with pytest.raises(FileNotFoundError):
            files.entries_of(f"{root}/no")


def test_a_load_over_a_disk_reads_what_is_unsaved(disk: Path) -> None:
    root = os.path.realpath(disk)
    with overlaid(Overlay({f"{root}/a.txt": b"unsaved"}, over_disk=True)):
        load = files_here()
        load.cwd = root
        source = load.read("a.txt")
        assert (source.name, source.filename, source.text) == ("a.txt", f"{root}/a.txt", "unsaved")
        assert load.read(f"{root}/link.txt") is source
        assert load.read("sub/b.txt").text == "b"
        assert load.sources() == (source, load.read("sub/b.txt"))
        with pytest.raises(FileProblem):
            load.read("sub/b.txt", max_bytes=0)
    assert Files(cwd=root).read("a.txt").text == "of the disk"


def test_what_is_unsaved_may_be_too_large(disk: Path) -> None:
    path = f"{os.path.realpath(disk)}/a.txt"
    with overlaid(Overlay({path: b"123456"}, over_disk=True)):
        load = files_here()
        load.cwd = os.path.dirname(path)
        said = problem(lambda: load.read("a.txt", max_bytes=5))
        assert said == ("file-too-large", {"file": "a.txt", "size": 6, "limit": 5})
        assert load.read("a.txt", max_bytes=6).text == "123456"
        small = PathPolicy(max_bytes=5)
        root = load.cwd
        again = problem(lambda: load.again().refer("a.txt", (root,), (root,), small))
        assert again[0] == "file-too-large"


def test_references_over_a_disk_are_confined_as_ever(disk: Path) -> None:
    root = os.path.realpath(disk)
    contents = {f"{root}/{name}": b"unsaved" for name in ("out.txt", "sub/new.txt", "sub/.git/c")}
    (disk / "sub" / "out.txt").symlink_to("../out.txt")
    (disk / "sub" / "a.txt").symlink_to("../a.txt")
    inside = f"{root}/sub"
    with overlaid(Overlay(contents, over_disk=True)):
        load = files_here()
        load.cwd = root
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
    with overlaid(Overlay({f"{root}/.git/config": b"unsaved"}, over_disk=True)):
        said = problem(lambda: files_here().refer("innocent", (root,), (root,), STRICT))
    assert said == ("reference-private", {"reference": "innocent"})


def test_what_was_emptied_and_not_saved_is_empty(disk: Path) -> None:
    path = f"{os.path.realpath(disk)}/a.txt"
    with overlaid(Overlay({path: b""}, over_disk=True)):
        assert files_here().read(path, max_bytes=0).data == b""


def test_what_is_unsaved_has_the_same_name_for_every_load(disk: Path) -> None:
    path = str(disk / "a.txt")
    with overlaid(Overlay({path: b"unsaved"}, over_disk=True)):
        load = files_here()
        first = load.read(path)
        assert load.again().read(path) is first
