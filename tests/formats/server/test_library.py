"""Where the library is, if nobody names one: it depends on where the file lies, and on nothing else."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import equipage
from equipage.files.memory import Memory, Overlay
from lab import Link, load, write
from systems import DiskAt

TOOL = "tool: {name: %s, description: d, inputSchema: {type: object}}\nresponse: {content: [{type: text, text: hi}]}\n"
SERVER = "server: {name: a}\ntools: [{$include: t.yaml}]\n"

pytestmark = pytest.mark.requirement("F-010")


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def chosen(file: Path, cwd: Path | str = "/") -> str | None:
    """The name of the tool that a file includes; None if there is no such library."""
    outcome = load(file, system=DiskAt(cwd))
    codes = [each.code for each in outcome.diagnostics]
    if not outcome.ok:
        assert codes == ["include-not-found"]
        return None
    assert codes == []
    name: str = outcome.config.baseline.tools[0].tool.name
    return name


def library(name: str) -> dict[str, str]:
    return {f"{name}/t.yaml": TOOL % name.replace("/", "-")}


@pytest.mark.parametrize("cwd", ["/", ".", "deep", "deep/er", "deep/library"])
@pytest.mark.parametrize(
    ("file", "files", "found"),
    [
        ("deep/s.yaml", library("deep/library"), "deep-library"),
        ("deep/er/s.yaml", library("deep/library"), "deep-library"),
        ("deep/er/still/s.yaml", library("deep/library"), "deep-library"),
        ("deep/er/s.yaml", library("deep/library") | library("library"), "deep-library"),
        ("deep/er/s.yaml", library("deep/er/library") | library("deep/library"), "deep-er-library"),
        ("deep/library/servers/s.yaml", library("deep/library"), "deep-library"),
        ("deep/library/s.yaml", library("deep/library"), "deep-library"),
        ("deep/er/s.yaml", library("deep/other/library"), None),
    ],
)
def test_it_is_beside_the_file_above_it_or_around_it(
    file: str, files: dict[str, str], found: str | None, cwd: str, tmp_path: Path
) -> None:
    for folder in ("deep/er/still", "deep/library/servers"):
        (tmp_path / folder).mkdir(parents=True)
    if not any(name.startswith("deep/library/") for name in files):
        (tmp_path / "deep/library/servers").rmdir()
        (tmp_path / "deep/library").rmdir()
    write(tmp_path, {**files, file: SERVER})
    here = tmp_path / cwd if (tmp_path / cwd).is_dir() else Path("/")
    assert chosen(tmp_path / file, here) == found


@pytest.mark.parametrize("named", ["p", "p/servers", "p/servers/s.yaml"])
def test_it_does_not_matter_which_folder_the_caller_names(named: str, tmp_path: Path) -> None:
    write(tmp_path, {"p/servers/s.yaml": SERVER, **library("p/library")})
    report = equipage.check([str(tmp_path / named)], env={})
    assert [each.name for each in report.files if not each.ok] == []
    assert report.diagnostics == ()


def test_the_project_ends_the_search_and_its_own_library_comes_first(tmp_path: Path) -> None:
    files = {"p/.git/HEAD": "", "p/servers/s.yaml": SERVER, **library("library")}
    write(tmp_path, files)
    assert chosen(tmp_path / "p/servers/s.yaml") is None
    write(tmp_path, library("p/servers/library"))
    assert chosen(tmp_path / "p/servers/s.yaml") == "p-servers-library"
    write(tmp_path, library("p/library"))
    assert chosen(tmp_path / "p/servers/s.yaml") == "p-library"


def test_a_project_may_be_a_library(tmp_path: Path) -> None:
    write(tmp_path, {"library/.git/HEAD": "", "library/servers/s.yaml": SERVER})
    write(tmp_path, library("library"))
    assert chosen(tmp_path / "library/servers/s.yaml", tmp_path) == "library"


def test_the_home_folder_is_no_place_for_the_library_of_a_file_below_it(home: Path) -> None:
    write(home, {"work/s.yaml": SERVER, "s.yaml": SERVER, **library("library")})
    assert chosen(home / "work/s.yaml") is None
    assert chosen(home / "s.yaml") == "library"  # beside the file
    write(home, library("work/library"))
    assert chosen(home / "work/s.yaml") == "work-library"


@pytest.mark.parametrize("mode", [0o777, 0o1777, 0o757])
def test_a_folder_that_anybody_may_write_to_ends_the_search(mode: int, tmp_path: Path) -> None:
    write(tmp_path, {"open/mine/own/s.yaml": SERVER, "open/s.yaml": SERVER})
    write(tmp_path, {**library("library"), **library("open/library")})
    (tmp_path / "open").chmod(mode)
    assert chosen(tmp_path / "open/mine/own/s.yaml") is None
    write(tmp_path, library("open/mine/library"))
    assert chosen(tmp_path / "open/mine/own/s.yaml") == "open-mine-library"
    assert chosen(tmp_path / "open/s.yaml") == "open-library"
    (tmp_path / "open/library/t.yaml").unlink()
    (tmp_path / "open/library").rmdir()
    assert chosen(tmp_path / "open/s.yaml") is None


class Owned(Memory):
    """Folders with the marks of their owners, and no repository."""

    def __init__(self, contents: Mapping[str, bytes], marks: Mapping[str, tuple[int, int, int]]):
        super().__init__(contents)
        self._marks = marks

    def status(self, path: str, *, follow_links: bool = True) -> os.stat_result | None:
        if path.endswith("/.git"):
            return None
        found = super().status(path, follow_links=follow_links)
        if found is None or path not in self._marks:
            return found
        mode, user, group = self._marks[path]
        return os.stat_result((found.st_mode & ~0o777 | mode, 0, 0, 1, user, group, 0, 0, 0, 0))


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such marks")
@pytest.mark.parametrize(
    ("marks", "found"),
    [
        pytest.param({}, True, id="all of root"),
        pytest.param({"/a": (0o755, 7, 7), "/a/b": (0o755, 7, 7)}, True, id="all of one user"),
        pytest.param({"/a/b": (0o755, 7, 7)}, True, id="root's, around one user's"),
        pytest.param({"/a": (0o775, 0, 0)}, True, id="the group of the user alone"),
        pytest.param({"/a": (0o775, 0, 9)}, False, id="a group of several"),
        pytest.param({"/a": (0o755, 9, 9), "/a/b": (0o755, 7, 7)}, False, id="another user's"),
    ],
)
def test_folders_of_others_end_the_search(
    marks: dict[str, tuple[int, int, int]], found: bool
) -> None:
    contents = {"/a/b/s.yaml": SERVER.encode(), "/a/library/t.yaml": (TOOL % "t").encode()}
    assert load("/a/b/s.yaml", system=Owned(contents, marks)).ok is found


def test_the_root_of_the_disk_ends_the_search() -> None:
    contents = {"/a/b/s.yaml": SERVER.encode(), "/library/t.yaml": (TOOL % "t").encode()}
    system = Overlay(contents, DiskAt("/a/b"))
    assert not load("/a/b/s.yaml", system=system).ok


class Caseless(Memory):
    """Files whose names may be written in any letter case, as macOS and Windows have them."""

    def _key(self, path: str) -> str:
        own = {each.lower(): each for each in (*self._contents, *self._folders)}
        return own.get(super()._key(path).lower(), super()._key(path))


@pytest.mark.parametrize(("name", "found"), [("library", True), ("Library", False)])
def test_letter_case_counts_on_every_system(name: str, found: bool) -> None:
    contents = {"/p/s.yaml": SERVER.encode(), f"/p/{name}/t.yaml": (TOOL % "t").encode()}
    outcome = load("/p/s.yaml", system=Caseless(contents, root="/p"))
    assert outcome.ok is found
    if not found:
        (error,) = outcome.errors
        assert error.code == "include-not-found"
        assert "the library, library, which does not exist" in str(error.help)
    by_file = SERVER.replace("{$include: t.yaml}", "{$note: {$file: t.yaml}}").encode()
    outcome = load("/p/s.yaml", system=Caseless({**contents, "/p/s.yaml": by_file}, root="/p"))
    assert ("file-not-found" in {each.code for each in outcome.errors}) is not found


def test_a_link_is_no_library_if_it_leads_elsewhere(tmp_path: Path) -> None:
    files: dict[str, Any] = {"p/deep/s.yaml": SERVER, "p/library": Link("../shelf")}
    write(tmp_path, {**files, **library("shelf")})
    assert [each.code for each in load(tmp_path / "p/deep/s.yaml").errors] == ["reference-escapes"]
    (tmp_path / "p/library").unlink()
    write(
        tmp_path,
        {"p/.git/HEAD": "", "p/deep/library": Link("../patterns"), **library("p/patterns")},
    )
    assert chosen(tmp_path / "p/deep/s.yaml") == "p-patterns"
