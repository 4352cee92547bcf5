"""What is never read: links in the place of a library, version control, what a system says."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

import equipage
from lab import Link, write

from .world import CANARY

HEAD = "server: {name: x, version: 1.0.0}\n"


def tool(text: str) -> str:
    """A tool that answers with a text, on one line."""
    head = "tool: {name: t, description: d, inputSchema: {type: object}}"
    return f"{{{head}, response: {{content: [{{type: text, text: {text}}}]}}}}\n"


def including(reference: str) -> str:
    return f"{HEAD}tools: [{{$include: {reference}}}]\n"


def filing(reference: str) -> str:
    return f"{HEAD}tools:\n  - {tool(f'{{$file: {reference}}}')}"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project beside a folder with a secret."""
    write(tmp_path, {"outside/tool.yaml": tool(CANARY), "outside/a.txt": CANARY})
    root = write(tmp_path / "project", {".git/config": f"url = {CANARY}\n"})
    monkeypatch.chdir(root)
    return root


def refused(text: str, file: str = "s.yaml", **options: object) -> list[str]:
    """The codes of the errors of a server; no finding may show what it must not read."""
    write(".", {file: text})
    report = equipage.check([file], kind="server", env={}, **options)
    assert CANARY not in "".join(map(repr, report.diagnostics))
    with pytest.raises(equipage.LoadError) as caught:
        equipage.load(file, kind="server", env={}, **options)
    assert CANARY not in repr(caught.value.diagnostics)
    assert [each.code for each in report.errors] == [each.code for each in caught.value.errors]
    return [each.code for each in report.errors]


@pytest.mark.parametrize("target", ["/", "..", "../outside", "~"])
@pytest.mark.parametrize("folder", ["", "sub/"])
@pytest.mark.parametrize("text", [including, filing])
def test_a_library_that_is_a_link_out_of_the_project(
    project: Path, target: str, folder: str, text: Callable[[str], str]
) -> None:
    """A root that the caller did not name lies inside the project."""
    target = target.replace("~", str(project.parent))
    target = target if target.startswith("/") or not folder else f"../{target}"
    write(project, {f"{folder}library": Link(target)})
    start = os.path.realpath(os.path.join(project, folder, target))
    wanted = project.parent / "outside" / ("tool.yaml" if text is including else "a.txt")
    reference = os.path.relpath(wanted, start)
    assert refused(text(reference), f"{folder}s.yaml") == ["reference-escapes"]
    assert refused(text("nothing.yaml"), f"{folder}s.yaml") == ["reference-escapes"]
    library = os.path.join(folder, "library")  # now the caller names it
    write(project, {f"{folder}s.yaml": text(reference)})
    assert equipage.load(f"{folder}s.yaml", kind="server", env={}, library=library).config


def test_a_library_that_is_a_link_to_another_folder_of_the_working_directory(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(project, {"library": Link("../outside")})
    monkeypatch.chdir(project.parent)
    assert refused(including("tool.yaml"), "project/s.yaml") == ["reference-escapes"]


def test_a_library_that_is_a_link_inside_the_project(project: Path) -> None:
    write(project, {"shared/t.yaml": tool("text"), "library": Link("shared")})
    write(project, {"s.yaml": including("t.yaml")})
    assert not equipage.check(["s.yaml"], env={}).diagnostics


@pytest.mark.parametrize(
    "way", [".git/config", "./.git/config", ".GIT/config", ".git./config", "link/config", "file"]
)
def test_version_control_is_never_a_source(project: Path, way: str) -> None:
    write(project, {"link": Link(".git"), "file": Link(".git/config")})
    write(project, {"library/.git/config": "a: 1", "library/link": Link(".git")})
    write(project, {"library/file": Link(".git/config")})
    assert refused(filing(way)) == ["reference-private"]
    assert refused(including(way)) == ["reference-private"]
    absolute = os.path.join(project, way)
    assert refused(filing(absolute))[0] in ("reference-private", "file-not-found")


@pytest.mark.parametrize("folder", [".hg", ".svn", ".jj", "sub/.git/modules/x"])
def test_other_folders_of_version_control(project: Path, folder: str) -> None:
    write(project, {f"{folder}/a.txt": CANARY})
    assert refused(filing(f"{folder}/a.txt")) == ["reference-private"]
    write(project, {"a.tool.yaml": "inputSchema: {$ref: " + f"{folder}/a.txt" + "}\n"})
    report = equipage.check(["a.tool.yaml"], env={})
    assert CANARY not in repr(report.diagnostics)
    assert any("version control" in each.message for each in report.errors)


@pytest.mark.parametrize("folder", [".bare", "vendor/lib.git", "keep/.git"])
def test_a_repository_under_another_name(project: Path, folder: str) -> None:
    """A worktree may keep its repository beside it; a bare one may lie anywhere."""
    of_git = {"HEAD": "ref: x\n", "objects/a": "", "refs/a": "", "config": CANARY}
    write(project, {f"{folder}/{name}": text for name, text in of_git.items()})
    write(project, {f"library/{folder}/{name}": text for name, text in of_git.items()})
    write(
        project, {"link.txt": Link(f"{folder}/config"), "library/link.txt": Link(f"{folder}/HEAD")}
    )
    for way in (f"{folder}/config", f"{folder}/objects/a", "link.txt"):
        assert refused(filing(way)) == ["reference-private"]
        assert refused(including(way)) == ["reference-private"]
    assert refused(filing(str(project / folder / "config"))) == ["reference-private"]
    outside = write(project.parent / "bare", of_git)
    with pytest.raises(equipage.LoadError) as caught:
        equipage.loads(filing(str(outside / "config")), kind="server", env={})
    assert [each.code for each in caught.value.errors] == ["reference-private"]


def test_a_folder_that_is_only_a_little_like_a_repository(project: Path) -> None:
    write(project, {"docs/HEAD": "", "docs/refs/a": "", "docs/a.txt": "text"})
    write(project, {"s.yaml": filing("docs/a.txt")})
    assert equipage.load("s.yaml", kind="server", env={}).config


@pytest.mark.parametrize("file", ["/proc/self/environ", "/sys/kernel/notes", "/proc/version"])
@pytest.mark.parametrize("text", [including, filing])
def test_what_a_system_says_about_itself(
    project: Path, file: str, text: Callable[[str], str]
) -> None:
    """However it is named: by a directive, by the caller, through a link or a root."""
    if not os.path.exists(file):
        pytest.skip(f"no {file} here")
    assert "file-not-regular" in refused(text(file))
    relative = file.removeprefix("/")
    assert refused(text(relative), library="/") == ["file-not-regular"]
    with pytest.raises(equipage.LoadError) as caught:
        equipage.load(file, kind="server")
    assert [each.code for each in caught.value.errors] == ["file-not-regular"]


def test_empty_files_load(project: Path) -> None:
    write(project, {"empty.txt": "", "s.yaml": filing("empty.txt")})
    loaded = equipage.load("s.yaml", kind="server", env={})
    assert loaded.to_dict()["baseline"]["tools"][0]["response"]["content"][0]["text"] == ""
