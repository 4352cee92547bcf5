"""Many files at once: recognition, who read whom, reports."""

from __future__ import annotations

import gc
import os
import pickle
import tracemalloc
from pathlib import Path

import pytest

import equipage
from equipage.formats.defect.discovery import find_layer_folders
from equipage.formats.defect.profile import profiles_of
from equipage.loading.session import Request
from equipage.render.text import Style, summary
from equipage.workspace import Workspace
from equipage.workspace import load as loads
from lab import check, write

SERVER = "server: {name: x}\ntools: []\n"
TOOL = "tool: {name: t, description: d, inputSchema: {type: object}}\nresponse: {content: [{type: text, text: hi}]}\n"


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_files_read_by_others_are_listed_with_who_uses_them() -> None:
    write(
        ".",
        {
            "a.yaml": "server: {name: x}\ntools:\n  - $include: t.yaml\n",
            "library/t.yaml": TOOL,
            "notes.yaml": "x: 1\n",
        },
    )
    report = equipage.check(["."], env={})
    assert [(each.path, each.kind, each.ok, each.used_by) for each in report.files] == [
        ("a.yaml", "server", True, ()),
        ("library/t.yaml", None, True, ("a.yaml",)),
    ]
    assert report.files[0].digest
    assert report.ok
    assert report.warnings == report.notes == ()


@pytest.mark.parametrize("jobs", [1, 2])
def test_digests_are_made_where_somebody_wants_them(jobs: int) -> None:
    write(
        ".",
        {f"{number}.yaml": SERVER.replace("name: x", f"name: x{number}") for number in range(3)},
    )
    alone = [equipage.load(f"{number}.yaml", env={}).digest for number in range(3)]
    for wanted in (True, False):
        report = Workspace(["."], Request(env={}), jobs=jobs, digests=wanted).report()
        assert [each.digest for each in report.files] == (alone if wanted else [None] * 3)


def test_a_finding_in_a_shared_file_is_told_once() -> None:
    main = "server: {name: x}\ntools:\n  - $include: t.yaml\n"
    write(
        ".", {"a.yaml": main, "b.yaml": main, "library/t.yaml": TOOL.replace("name: t", "name: 5")}
    )
    report = equipage.check(["."], env={})
    assert [str(each)[:22] for each in report.errors] == ["library/t.yaml:1:14: e"]
    assert {each.path: each.ok for each in report.files} == {
        "a.yaml": False,
        "b.yaml": False,
        "library/t.yaml": False,
    }


def test_a_file_named_twice_is_checked_once() -> None:
    write(".", {"a.yaml": SERVER})
    Path("link.yaml").symlink_to("a.yaml")
    assert len(equipage.check(["a.yaml", "./a.yaml", ".", "link.yaml"], env={}).files) == 1


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        pytest.param(SERVER, "server", id="a server"),
        pytest.param("server: {name: x}\nphases: []\n", "server", id="a phased server"),
        pytest.param("server: 5\ntools: []\n", None, id="another thing with the same keys"),
        pytest.param("services:\n  server:\n    tools: []\n", None, id="keys below others"),
        pytest.param("\ufeffserver: {name: x}\ntools: []\n", "server", id="a mark in front"),
        pytest.param("{server: {name: x}, tools: []}", "server", id="flow style on one line"),
        pytest.param("server: {name: x}\rtools: []\r", "server", id="lines that end with CR"),
        pytest.param('"\\u0073erver": {name: x}\ntools: []\n', "server", id="an escaped key"),
    ],
)
def test_recognition_by_content(text: str, kind: str | None) -> None:
    write(".", {"a.yaml": text})
    assert [each.kind for each in equipage.check(["."], env={}).files] == ([kind] if kind else [])


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("server: {name: x}\n", id="a server alone"),
        pytest.param("$include: base.yaml\n", id="nothing but an include"),
        pytest.param("server: {name: x\ntools: []\n", id="broken, with the words of a server"),
        pytest.param("server: {name: x}\ntools: {a: b}\n", id="a part of another shape"),
        pytest.param("server: {nmae: x}\ntools: []\n", id="a misspelt name"),
        pytest.param("server: {name: x}\ntolls: []\n", id="a misspelt part"),
        pytest.param("server: {port: 1}\nphases: []\n", id="another server with a part"),
    ],
)
def test_what_may_be_a_server_is_a_note_in_a_walk_and_checked_when_named(text: str) -> None:
    write(".", {"a.yaml": text})
    report = equipage.check(["."], env={})
    assert [(each.code, each.severity) for each in report.diagnostics] == [
        ("possible-kind", "note")
    ]
    assert [each.kind for each in equipage.check(["a.yaml"], env={}).files] == ["server"]


def test_a_bug_in_equipage_does_not_hide_the_other_files(monkeypatch: pytest.MonkeyPatch) -> None:
    write(".", {"a.yaml": SERVER, "b.yaml": "server: {name: 5}\ntools: []\n"})
    original = loads.load_path

    def broken(path: str, *rest: object, **more: object) -> object:
        if path.endswith("a.yaml"):
            raise ZeroDivisionError("s3cr3t")
        return original(path, *rest, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(loads, "load_path", broken)
    report = equipage.check(["."], env={})
    assert [each.code for each in report.errors] == ["internal-error", "wrong-type"]
    assert "ZeroDivisionError at test_workspace.py:" in report.errors[0].message
    assert "s3cr3t" not in report.errors[0].message, "the words of an exception may hold anything"


# --- folders of profiles -------------------------------------------------------------------------

AGENT = "---\ndescription: works\n---\nYou work.\n"


@pytest.fixture
def agents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "project/.defect/agents"
    folder.mkdir(parents=True)
    (tmp_path / "project/.git").mkdir()
    monkeypatch.chdir(tmp_path / "project")
    return folder


def told(*paths: str, kind: str | None = None, jobs: int = 1) -> list[str]:
    report = check(*paths or ["."], kind=kind, jobs=jobs)
    return [f"{each.name.removeprefix('.defect/')}: {each.code}" for each in report.diagnostics]


@pytest.mark.requirement("PR-16", "PR-18", "PR-20")
def test_what_an_agents_folder_holds_beside_profiles(agents: Path, tmp_path: Path) -> None:
    (tmp_path / "outside.md").write_text(AGENT)
    (agents / "good.md").write_text(AGENT)
    (agents / "linked.md").symlink_to("../../../outside.md")
    (agents / "loud.MD").write_text(AGENT)
    (agents / "long.markdown").write_text(AGENT)
    (agents / "no-config").mkdir()
    (agents / "no-config/system.md").write_text("You work.")
    (agents / "odd-config/config.toml").mkdir(parents=True)
    os.mkfifo(agents / "pipe.md")
    expected = [
        "agents/linked.md: profile-link-outside",
        "agents/long.markdown: profile-overlooked",
        "agents/loud.MD: profile-overlooked",
        "agents/no-config: profile-overlooked",
        "agents/odd-config: profile-overlooked",
        "agents/pipe.md: file-not-regular",
    ]
    assert told() == told(".", ".defect/agents") == told(jobs=2) == expected
    assert not [each for each in told(kind="toolpack") if "profile-" in each]
    assert told(".defect/agents/good.md") == []
    found = profiles_of(find_layer_folders(".", env={})).diagnostics
    assert [f"{each.name.removeprefix('.defect/')}: {each.code}" for each in found] == expected
    Path(".gitignore").write_text("*.MD\n*.markdown\n")
    assert told() == [each for each in expected if "long" not in each and "loud" not in each]
    Path(".gitignore").write_text("agents/\n")
    assert told() == []
    assert told(".defect/agents") == expected


@pytest.mark.requirement("PR-16")
@pytest.mark.parametrize("name", [".defect", ".defect/agents"])
def test_a_file_in_the_place_of_a_layer(name: str, agents: Path) -> None:
    agents.rmdir()
    if name == ".defect":
        agents.parent.rmdir()
    Path(name).write_text("a file")
    report = check(".")
    assert [str(each) for each in report.errors] == [
        ".defect/agents: error[layer-unreadable] cannot list the folder: Not a directory"
    ]
    assert summary(report, Style()) == "1 error in 1 of 1 file\n"


@pytest.mark.requirement("PR-20")
def test_a_link_in_the_place_of_the_agents_folder(agents: Path, tmp_path: Path) -> None:
    agents.rmdir()
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/a.md").write_text(AGENT)
    agents.symlink_to("../../outside")
    assert told() == ["agents/a.md: profile-link-outside"]
    found = profiles_of(find_layer_folders(".", env={})).diagnostics
    assert [each.code for each in found] == ["profile-link-outside"]


def test_of_a_clean_load_a_summary_is_kept_and_nothing_is_recorded(agents: Path) -> None:
    """Of one whose system records, what it looked at is kept, too, and still no text."""
    folder = agents.parents[1] / ".claude/agents"
    text = (
        "---\nname: agent-{}\ndescription: Works on a part.\ntools: Read\n---\n" + "text\n" * 1000
    )
    write(folder, {f"agent-{number}.md": text.format(number) for number in range(300)})
    check(".")  # imports modules and compiles patterns
    for recording, most in ((False, 1_500), (True, 3_000)):
        tracemalloc.start()
        try:
            workspace = Workspace(["."], Request(env={}), recording=recording)
            assert len(workspace.report().files) == 300
            gc.collect()
            kept = tracemalloc.get_traced_memory()[0]
        finally:
            tracemalloc.stop()
        assert kept / 300 < most
        assert bool(workspace.stamps()) is recording


@pytest.mark.parametrize("path", [".", Path(), ["."], [Path()]], ids=repr)
def test_one_path_or_several(path: str | Path | list[str] | list[Path]) -> None:
    write(".", {"a.yaml": SERVER})
    assert [each.path for each in equipage.check(path, env={}).files] == ["a.yaml"]


def test_a_result_never_changes() -> None:
    write(".", {"a.yaml": SERVER})
    loaded = equipage.load("a.yaml", env={})
    with pytest.raises(AttributeError, match="never changes: cannot set 'config'"):
        loaded.config = 5
    with pytest.raises(AttributeError, match="never changes: cannot delete 'config'"):
        del loaded.config
    again = pickle.loads(pickle.dumps(loaded))
    assert (again.config, again.digest) == (loaded.config, loaded.digest)
