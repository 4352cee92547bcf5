"""Symbolic links lead inside the project, never outside, and no race changes that."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import equipage
from equipage.cli import main
from equipage.files.reading import Files
from equipage.files.sandbox import FileProblem, PathPolicy
from equipage.loading.pipeline import load_path
from equipage.loading.session import Request
from equipage.project.registry import format_named
from equipage.render import text as text_render
from lab import Link, command, environment, write
from systems import DiskAt

from . import world
from .world import CANARY

INSIDE = PathPolicy(parents="inside")
#: So many swaps, or as many as can be done in so many seconds; but never fewer than enough.
SWAPS, SECONDS, ENOUGH = 10_000, 15, 500


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    (root / "real").mkdir(parents=True)
    (root / ".git").mkdir()
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "a.txt").write_text(CANARY)
    (tmp_path / "project-beside").mkdir()
    (tmp_path / "project-beside" / "a.txt").write_text(CANARY)
    (root / "real" / "a.txt").write_text("fine")
    return root


def test_links_to_nothing_are_one_finding(project: Path) -> None:
    skills = {f".gemini/skills/{name}/SKILL.md": Link("../../../gone.md") for name in "abc"}
    write(project, {**skills, "notes.md": Link("gone.md")})
    report = equipage.check([project], env={})
    (found,) = report.diagnostics
    assert (found.code, found.severity, found.count) == ("link-broken", "error", 3)
    assert found.name is not None
    assert found.name.endswith(".gemini/skills/a/SKILL.md")
    assert [each.ok for each in report.files] == [False] * 3


@pytest.mark.parametrize("place", [".claude/agents", ".claude/skills", ".claude/skills/one"])
def test_a_folder_of_agents_that_lies_outside_is_named(project: Path, place: str) -> None:
    """A client follows the link; whoever reads the report must know that equipage did not."""
    write(project, {place: Link("../" * (place.count("/") + 1) + "outside")})
    agent = f"---\nname: x\ndescription: {CANARY}\ntool: Bash\n---\nText.\n"
    write(project.parent, {"outside/a.md": agent, "outside/SKILL.md": agent})
    report = equipage.check([project], env={})
    assert [(each.code, each.severity) for each in report.diagnostics] == [
        ("link-outside", "warning")
    ]
    assert str(report.diagnostics[0].name).endswith(place)
    assert CANARY not in "".join(text_render.render(report, text_render.Style()))


def refer(root: Path, reference: str) -> str:
    """The text of the file, or the code of what keeps it from being read."""
    try:
        return (
            Files(DiskAt(str(root)))
            .refer(reference, (str(root),), (str(root),), INSIDE)
            .source.text
        )
    except FileProblem as problem:
        return problem.code


@pytest.mark.parametrize(
    ("links", "reference", "outcome"),
    [
        ({"l": "real/a.txt"}, "l", "fine"),
        ({"l": "real"}, "l/a.txt", "fine"),
        ({"l": "real"}, "l/../real/a.txt", "fine"),
        ({"a": "b", "b": "c", "c": "real/a.txt"}, "a", "fine"),
        ({"real/up": ".."}, "real/up/real/a.txt", "fine"),
        ({"l": "../outside/a.txt"}, "l", "reference-escapes"),
        ({"l": "../outside"}, "l/a.txt", "reference-escapes"),
        ({"l": ".."}, "l/outside/a.txt", "reference-escapes"),
        ({"l": "real", "real/m": "../../outside"}, "l/m/a.txt", "reference-escapes"),
        ({"a": "b", "b": "c", "c": "../outside/a.txt"}, "a", "reference-escapes"),
        ({"l": "../project-beside/a.txt"}, "l", "reference-escapes"),
        ({"l": "/"}, "l/etc/passwd", "reference-escapes"),
        ({"l": "/etc"}, "l/passwd", "reference-escapes"),
        ({"l": "/proc/self/cwd"}, "l/outside/a.txt", "reference-escapes"),
        ({"l": "/proc/self/fd/0"}, "l", "reference-escapes"),
        ({"l": "l"}, "l", "file-link-loop"),
        ({"a": "b", "b": "a"}, "a", "file-link-loop"),
        ({"l": "l/x"}, "l", "file-link-loop"),
        ({"real/l": "../real/l"}, "real/l/a.txt", "file-link-loop"),
        ({"l": "nowhere"}, "l", "file-missing"),
        ({"l": "real/a.txt/x"}, "l", "file-missing"),
        ({"l": "real"}, "l", "file-is-directory"),
        ({f"l{n}": f"l{n + 1}" for n in range(60)} | {"l60": "real/a.txt"}, "l0", "file-link-loop"),
        ({f"l{n}": f"l{n + 1}" for n in range(30)} | {"l30": "real/a.txt"}, "l0", "fine"),
    ],
)  # fmt: skip
def test_a_link(project: Path, links: dict[str, str], reference: str, outcome: str) -> None:
    for name, target in links.items():
        (project / name).symlink_to(target)
    started = time.thread_time()
    assert refer(project, reference) == outcome
    assert time.thread_time() - started < 1


@pytest.mark.parametrize(
    ("links", "reference", "outcome"),
    [
        ({}, "../allowed/a.txt", "allowed"),
        ({}, "real/../../allowed/./a.txt", "allowed"),
        ({}, "../nowhere/../allowed/a.txt", "allowed"),
        ({}, "../allowed/../project/real/a.txt", "fine"),
        ({}, "../allowed/../outside/a.txt", "reference-escapes"),
        ({}, "../outside/../../x/a.txt", "reference-escapes"),
        ({}, "../allowed", "file-is-directory"),
        ({}, "../allowed/b.txt", "file-missing"),
        ({}, "..", "reference-escapes"),
        ({"l": "../allowed"}, "l/a.txt", "allowed"),
        ({"l": "../allowed/out"}, "l", "reference-escapes"),
        ({}, "../allowed/out", "reference-escapes"),
        ({}, "../allowed/back/real/a.txt", "fine"),
    ],
)  # fmt: skip
def test_the_way_to_another_root_goes_by_name(
    project: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    links: dict[str, str],
    reference: str,
    outcome: str,
) -> None:
    """Between two roots nothing is opened: the folder that holds both is none of ours."""
    (tmp_path / "allowed").mkdir()
    (tmp_path / "allowed" / "a.txt").write_text("allowed")
    (tmp_path / "allowed" / "out").symlink_to("../outside/a.txt")
    (tmp_path / "allowed" / "back").symlink_to("../project")
    for name, target in links.items():
        (project / name).symlink_to(target)
    opened: list[str] = []
    really = os.open

    def watched(path: Any, *args: Any, **kwargs: Any) -> int:
        descriptor = really(path, *args, **kwargs)
        opened.append(os.readlink(f"/proc/self/fd/{descriptor}"))
        return descriptor

    monkeypatch.setattr(os, "open", watched)
    roots = (str(project), str(tmp_path / "allowed"))
    try:
        found = (
            Files(DiskAt(str(project))).refer(reference, (str(project),), roots, INSIDE).source.text
        )
    except FileProblem as problem:
        found = problem.code
    assert found == outcome
    assert all(each.startswith(roots) and "project-beside" not in each for each in opened), opened


def test_the_root_may_be_a_link_itself(project: Path, tmp_path: Path) -> None:
    (tmp_path / "alias").symlink_to("project")
    assert refer(tmp_path / "alias", "real/a.txt") == "fine"


def test_a_tree_of_links_costs_no_more_than_their_number(project: Path) -> None:
    """Each link names the next folder twice: followed by name, that is 2ⁿ steps."""
    (project / "d0").mkdir()
    (project / "d0" / "a.txt").write_text("fine")
    for number in range(1, 30):
        (project / f"d{number}").symlink_to(f"d{number - 1}/../d{number - 1}")
    started = time.thread_time()
    assert refer(project, "d29/a.txt") in ("file-link-loop", "fine")
    assert time.thread_time() - started < 1


# --- races ---------------------------------------------------------------------------------------


@pytest.fixture
def _eager() -> Iterator[None]:
    """Threads take turns as often as Python lets them."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def swap(here: Path, kept: list[Path], until: Callable[[], bool]) -> int:
    """Put each of two things in the place of `here` in turn; how often it was done."""
    done = 0
    while done < SWAPS and (done < ENOUGH or not until()):
        new = kept[done % len(kept)]
        os.rename(here, kept[(done + 1) % len(kept)])
        os.rename(new, here)
        done += 1
    return done


def race(here: Path, other: Path, attempt: Callable[[], str], parked: Path) -> tuple[int, set[str]]:
    """Swap `here` and `other` in one thread while another looks; how often, and all that was seen."""
    seen: set[str] = set()
    swaps: list[int] = []
    deadline = time.monotonic() + SECONDS
    thread = threading.Thread(
        target=lambda: swaps.append(
            swap(here, [other, parked], lambda: time.monotonic() > deadline)
        )
    )
    thread.start()
    while thread.is_alive():
        seen.add(attempt())
    thread.join()
    return swaps[0], seen


@pytest.mark.usefixtures("_eager")
@pytest.mark.parametrize("what", ["file", "folder"])
def test_nothing_escapes_while_it_is_swapped(project: Path, tmp_path: Path, what: str) -> None:
    """A file, or the folder it lies in, is replaced by a link to the outside and back, again and
    again."""
    (project / "target").mkdir()
    (project / "target" / "a.txt").write_text("fine")
    here = project / "target" / ("a.txt" if what == "file" else "")
    evil = tmp_path / "evil"
    evil.symlink_to(tmp_path / "outside" / ("a.txt" if what == "file" else ""))
    descriptors = len(os.listdir("/proc/self/fd"))
    swaps, seen = race(here, evil, lambda: refer(project, "target/a.txt"), tmp_path / "parked")
    assert len(os.listdir("/proc/self/fd")) <= descriptors, (
        "every descriptor is closed, whatever happens"
    )
    assert CANARY not in seen
    assert seen <= {"fine", "reference-escapes", "file-missing"}, seen
    assert swaps >= ENOUGH


@pytest.mark.usefixtures("_eager")
def test_nothing_escapes_from_a_whole_load(project: Path, tmp_path: Path) -> None:
    """An `$include` whose file is swapped while it loads."""
    (project / "library").mkdir()
    here = project / "library" / "tool.yaml"
    tool = "tool: {name: t, description: '%s', inputSchema: {type: object}}\nresponse: {content: [{type: text, text: t}]}\n"
    here.write_text(tool % "fine")
    (tmp_path / "outside" / "tool.yaml").write_text(tool % CANARY)
    (tmp_path / "evil").symlink_to(tmp_path / "outside" / "tool.yaml")
    main = project / "main.yaml"
    main.write_text("server: {name: a}\ntools: [{$include: tool.yaml}]\n")
    request = Request(env={}, options={"library": str(project / "library")})

    def attempt() -> str:
        outcome = load_path(str(main), format_named("server"), request)
        world.no_bug(outcome.diagnostics)
        return (
            ",".join(each.code for each in outcome.errors)
            or outcome.config.baseline.tools[0].tool.description
        )

    swaps, seen = race(here, tmp_path / "evil", attempt, tmp_path / "parked")
    assert seen <= {"fine", "reference-escapes", "include-not-found"}, seen
    assert swaps >= ENOUGH


# --- walks ---------------------------------------------------------------------------------------


LINKED = ".defect/agents/x.md"
COMMANDS = [
    "check .",
    "check . --diff",
    "check . --kind server",
    "check . --output-format json",
    "list .",
]


@pytest.mark.parametrize("target", ["/proc/self/environ", "../outside/a.txt"])
@pytest.mark.parametrize(
    "name",
    [
        ".claude/agents/x.md",
        ".claude/settings.json",
        ".defect/agents/x.md",
        ".defect/agents/x/config.toml",
        ".defect/config.toml",
        ".defect/skills/x/SKILL.md",
        ".mcp.json",
        "a.tool.yaml",
        "SKILL.md",
        "equipage.toml",
        "main.yaml",
        "README.md",
    ],
)
def test_a_walk_shows_nothing_of_what_a_link_leads_to(
    project: Path,
    name: str,
    target: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Somebody else's project, checked on a build service: its log must not hold the environment,
    or other files."""
    monkeypatch.chdir(project)
    Path("../outside/a.txt").write_text(f"server: {CANARY}\ntools: {CANARY}\n")
    secrets = {
        CANARY,
        *(
            each[:20]
            for each in Path("/proc/self/environ").read_text().split("\0")
            if len(each) >= 20
        ),
    }
    write(".", {name: Link(os.path.abspath(target))})
    for line in COMMANDS:
        main(line.split())
        said = "".join(capsys.readouterr())
        assert not [each for each in secrets if each in said], said
        assert "a bug in equipage" not in said


@pytest.mark.parametrize(
    ("name", "told"),
    [
        (".claude/agents/x.md", [".claude/agents/x.md: link-outside"]),
        ("a.tool.yaml", ["a.tool.yaml: link-outside"]),
        ("main.yaml", ["main.yaml: link-outside"]),
        ("notes.md", []),
    ],
)
def test_a_link_out_of_the_project_is_told(
    project: Path, name: str, told: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project)
    (project.parent / "outside/a.txt").write_text("server: {name: 1}\ntools: []\n")
    write(project, {name: Link(f"{project.parent}/outside/a.txt")})
    report = equipage.check(["."], env={})
    assert [f"{each.name}: {each.code}" for each in report.diagnostics] == told
    assert report.ok


def test_a_link_that_was_named_is_followed(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project)
    (project.parent / "outside/a.txt").write_text("server: {name: 1}\ntools: []\n")
    (project / "main.yaml").symlink_to(project.parent / "outside/a.txt")
    assert equipage.check("main.yaml", env={}).errors
    (project / "inner").symlink_to(project.parent / "outside")
    (project.parent / "outside/main.yaml").symlink_to("a.txt")
    assert equipage.check("inner", env={}).errors, "the folder was named, and so was what is in it"


def test_a_link_inside_the_repository_is_followed(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also out of the folder that is checked."""
    (project / "shared.yaml").write_text("server: {name: 1}\ntools: []\n")
    (project / "real/main.yaml").symlink_to("../shared.yaml")
    monkeypatch.chdir(project)
    assert equipage.check("real", env={}).errors


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (f"{CANARY}\n", "header-missing"),
        (f"--- # {CANARY}\ndescription: x\n---\nx\n", "duplicate-profile"),
    ],
)
def test_a_profile_from_outside_is_read_and_not_shown(
    project: Path, monkeypatch: pytest.MonkeyPatch, text: str, code: str
) -> None:
    """Discovery reads it, so a check tells what is wrong with it; but not its text."""
    monkeypatch.chdir(project)
    (project.parent / "outside/a.txt").write_text(text)
    agents = project / ".defect/agents"
    (agents / "x").mkdir(parents=True)
    (agents / "x.md").symlink_to(project.parent / "outside/a.txt")
    (agents / "x/config.toml").write_text("description = 'x'\nprompt = 'x'\n")
    report = equipage.check(["."], env={})
    assert {"profile-link-outside", code} <= {each.code for each in report.diagnostics}
    assert all(
        each.span is None and each.fix is None for each in report.diagnostics if each.name == LINKED
    )
    assert CANARY not in "".join(text_render.render(report, text_render.Style()))


def test_no_list_shows_what_a_profile_from_outside_says(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(project)
    text = f"---\nname: {CANARY}\ndescription: {CANARY}\nmode: {CANARY}\n---\nx\n"
    (project.parent / "outside/a.txt").write_text(text)
    (project / ".defect/agents").mkdir(parents=True)
    (project / ".defect/agents/x.md").symlink_to(project.parent / "outside/a.txt")
    for words in (["list"], ["list", "--json"]):
        main(words)
        said = capsys.readouterr()
        assert CANARY not in said.out + said.err


@pytest.mark.parametrize(
    "name",
    [".claude/agents/x.md", ".defect/agents/x.md", "a.tool.yaml", "main.yaml", "equipage.toml"],
)
def test_the_environment_of_the_process_is_no_file(project: Path, name: str) -> None:
    """The system shows it as a file, and a link in a project may lead there. equipage refuses it,
    also if the link is named."""
    write(project, {name: Link("/proc/self/environ")})
    for path in (".", name):
        done = command("check", path, cwd=project, env=environment(CANARY=CANARY))
        assert CANARY not in done.out + done.err
        assert path == "." or "is not a regular file" in done.out + done.err
