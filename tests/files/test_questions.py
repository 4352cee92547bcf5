"""The plain questions to the operating system."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from equipage.core.diagnostics import UsageError
from equipage.files import folder_argument, folders_argument, leads_to_folder
from equipage.files.disk import Disk

DISK = Disk()


@pytest.fixture
def world(tmp_path: Path) -> Path:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "file").touch()
    (tmp_path / "link").symlink_to("folder")
    (tmp_path / "broken").symlink_to("nowhere")
    (tmp_path / "loop").symlink_to("loop")
    return tmp_path


def test_what_is_at_a_path(world: Path) -> None:
    broken, link, file = str(world / "broken"), str(world / "link"), str(world / "link" / "file")
    assert not DISK.exists(broken)
    assert DISK.status(broken, follow_links=False) is not None
    assert DISK.is_link(broken)
    assert (DISK.is_folder(link), DISK.is_file(link), DISK.is_link(link)) == (True, False, True)
    assert (DISK.is_folder(file), DISK.is_file(file), DISK.is_link(file)) == (False, True, False)


def test_what_may_be_run(world: Path) -> None:
    file = world / "folder" / "file"
    for mode, runs in ((0o644, False), (0o611, False), (0o744, True), (0o100, True)):
        file.chmod(mode)
        assert DISK.is_executable(str(file)) is runs
        assert DISK.is_executable(str(world / "link" / "file")) is runs
    assert DISK.is_executable(str(world / "broken")) is False


def test_entries_are_sorted_and_links_to_folders_are_folders(world: Path) -> None:
    entries = DISK.entries(str(world))
    assert [entry.name for entry in entries] == ["broken", "folder", "link", "loop"]
    assert [leads_to_folder(entry) for entry in entries] == [False, True, True, False]
    with pytest.raises(FileNotFoundError):
        DISK.entries(str(world / "nowhere"))


def test_inside_is_judged_without_links(world: Path) -> None:
    outside = world / "folder" / "out"
    outside.symlink_to(world)
    assert DISK.is_inside(str(world / "link" / "file"), str(world / "folder"))
    assert not DISK.is_inside(str(outside / "x"), str(world / "folder"))
    assert not DISK.is_inside(str(world / "folder-2"), str(world / "folder"))
    assert not DISK.is_inside(str(world / "folder"), str(world / "folder"))
    assert DISK.is_inside(str(world), "/")


def test_the_root_of_a_repository(world: Path) -> None:
    assert DISK.repository_root("/") is None
    (world / ".git").touch()  # a file in worktrees
    assert DISK.repository_root(str(world / "folder")) == str(world)
    (world / "folder" / ".git").mkdir()
    assert DISK.repository_root(str(world / "folder")) == str(world / "folder")


def test_folders_of_a_caller_are_absolute(world: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(world)
    assert folder_argument("base", "folder/../x") == os.path.join(os.getcwd(), "x")
    assert folders_argument("roots", "/a") == ("/a",)
    assert folders_argument("roots", ["/a", Path("/b/")]) == ("/a", "/b")


def test_an_absolute_path_needs_no_working_directory(
    world: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(world / "folder")
    (world / "folder" / "file").unlink()
    (world / "folder").rmdir()
    assert folder_argument("base", str(world)) == str(world)
    with pytest.raises(UsageError, match="no working directory"):
        folder_argument("base", ".")
