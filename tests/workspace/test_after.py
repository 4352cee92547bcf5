"""`Workspace.after` where a change is hard to see; `make fuzz` tries random ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from equipage.files import OpenedFile
from equipage.files.disk import Disk
from equipage.loading.session import Request
from equipage.render import json
from equipage.workspace import Workspace
from lab import write

TOOL = "definition: {name: t, description: d, inputSchema: {type: object}}\n"
SERVER = "server: {name: x}\nbaseline:\n  tools:\n    - $include: t.yaml\n"


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "project"
    write(folder, {"a.yaml": SERVER, "b.yaml": SERVER, "library/t.yaml": TOOL, ".git/HEAD": ""})
    monkeypatch.chdir(folder)
    return folder


def loaded(system: Disk) -> Workspace:
    workspace = Workspace(["."], Request(env={}, system=system), recording=True)
    workspace.report()
    return workspace


def require_same(known: Workspace) -> str:
    """Require that what is known says what a fresh check says; what that is."""
    fresh = json.render(Workspace(["."], Request(env={})).report())
    assert json.render(known.after(system=Disk()).report()) == fresh
    return fresh


@pytest.mark.parametrize("place", ["../elsewhere", "elsewhere"])
def test_a_folder_that_moved_behind_a_link(place: str, project: Path) -> None:
    """Its files are the same ones, and may not be read any more, or have another name."""
    known = loaded(Disk())
    (project / "library").rename(project / place)
    (project / "library").symlink_to(place)
    require_same(known)


def test_a_link_to_nothing_that_leads_to_itself_now(project: Path) -> None:
    shared = project / "library" / "t.yaml"
    shared.unlink()
    shared.symlink_to("nowhere")
    known = loaded(Disk())
    shared.unlink()
    shared.symlink_to("t.yaml")
    require_same(known)


@pytest.mark.parametrize("name", ["library/t.yaml", "library/middle", "reviewer.md"])
def test_a_link_that_leads_out_of_the_project_and_back(name: str, project: Path) -> None:
    """It ends at the same file as before, which may not be read on this way."""
    agent = "---\nname: a\ndescription: b\n---\n"
    write(project, {"library/parts/t.yaml": TOOL, "library/parts/reviewer.md": agent})
    for link, target in {
        "library/middle": "parts",
        "library/t.yaml": "middle/t.yaml",
        "reviewer.md": "library/parts/reviewer.md",
        ".claude/agents/a.md": "../../reviewer.md",
    }.items():
        (project / link).parent.mkdir(parents=True, exist_ok=True)
        (project / link).unlink(missing_ok=True)
        (project / link).symlink_to(target)
    known = loaded(Disk())
    (project.parent / "out").symlink_to((project / name).resolve())
    (project / name).unlink()
    (project / name).symlink_to(project.parent / "out")
    assert require_same(known) != json.render(known.report())


def test_a_folder_that_others_may_write_to_now(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Above it, no library is looked for, and nothing in it has changed."""
    write(tmp_path / "up", {"inner/s.yaml": SERVER, "library/t.yaml": TOOL})
    monkeypatch.chdir(tmp_path / "up" / "inner")
    known = loaded(Disk())
    (tmp_path / "up" / "inner").chmod(0o777)
    assert require_same(known) != json.render(known.report())


def test_a_shared_file_that_changes_between_two_loads(project: Path) -> None:
    """The second load shares what the first one read, when the file is another already."""
    shared = project / "library" / "t.yaml"

    class Changing(Disk):
        def open_inside(self, base: str, reference: str, roots: tuple[str, ...]) -> OpenedFile:
            opened = super().open_inside(base, reference, roots)
            if opened.real == str(shared):
                shared.unlink()
            return opened

    require_same(loaded(Changing()))


def test_a_report_that_was_interrupted() -> None:
    """What was loaded so far is shared, and nothing else."""

    def interrupt(done: int, _all: int) -> None:
        if done:
            raise InterruptedError

    known = Workspace(["."], Request(env={}), recording=True, progress=interrupt)
    with pytest.raises(InterruptedError):
        known.report()
    require_same(known)
