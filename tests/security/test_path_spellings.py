"""However a path is spelt, nothing is opened that the policy of the directive does not allow.

Every load runs in a process that asks the system where each opened descriptor really leads.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import equipage
from equipage.formats.blueprint import expand
from equipage.formats.toolpack.loader import ToolpackLoader

from . import world
from .world import CANARY, run_script

#: Spellings of a way out of `project/sub` to a file beside the project. `{out}` is that file,
#: absolute.
SPELLINGS = [
    "../../outside/secret{ext}",
    "../outside/secret{ext}",
    "./../../outside/secret{ext}",
    "x/../../../outside/secret{ext}",
    ".//..//..//outside//secret{ext}",
    "../.././../outside/secret{ext}",
    "..\\..\\outside\\secret{ext}",
    "..\\../outside/secret{ext}",
    "../..\\outside/secret{ext}",
    "....//....//outside/secret{ext}",
    ".../.../outside/secret{ext}",
    "..;/..;/outside/secret{ext}",
    ".. /.. /outside/secret{ext}",
    " ../../outside/secret{ext}",
    "../../outside/secret{ext} ",
    "../../outside/secret{ext}.",
    "../../outside/secret{ext}...",
    "../../outside/secret{ext}/",
    "../../outside/secret{ext}/.",
    "../../outside/./secret{ext}",
    "%2e%2e/%2e%2e/outside/secret{ext}",
    "..%2f..%2foutside%2fsecret{ext}",
    "%2e%2e%2f%2e%2e%2foutside/secret{ext}",
    "..%252f..%252foutside/secret{ext}",
    "..%c0%af..%c0%afoutside/secret{ext}",
    "%5c..%5c..%5coutside/secret{ext}",
    "\u2024\u2024/\u2024\u2024/outside/secret{ext}",
    "\uff0e\uff0e/\uff0e\uff0e/outside/secret{ext}",
    "..\u2215..\u2215outside/secret{ext}",
    "..\uff0f..\uff0foutside/secret{ext}",
    "..\u200b/..\u200b/outside/secret{ext}",
    "\u202e../../outside/secret{ext}",
    "{out}",
    "/{out}",
    "//{out}",
    "/.{out}",
    "/..{out}",
    "./{out}",
    "/proc/self/root{out}",
    "/proc/self/cwd/../outside/secret{ext}",
    "/dev/fd/0",
    "/dev/stdin",
    "/etc/passwd",
    "/etc/passwd\u0000.yaml",
    "../../outside/secret{ext}\u0000",
    "inside{ext}\u0000../../outside/secret{ext}",
    "~/secret{ext}",
    "~root/secret{ext}",
    "~",
    "$HOME/secret{ext}",
    "C:\\outside\\secret{ext}",
    "C:/outside/secret{ext}",
    "C:outside/secret{ext}",
    "c:..\\..\\outside\\secret{ext}",
    "\\\\host\\share\\secret{ext}",
    "//host/share/secret{ext}",
    "\\\\?\\C:\\secret{ext}",
    "\\\\.\\pipe\\x",
    "\\outside\\secret{ext}",
    "file://{out}",
    "file:///{out}",
    "FILE://{out}",
    "file:{out}",
    "http://127.0.0.1:1/secret{ext}",
    "data:,secret",
    "CON",
    "NUL.yaml",
    "secret{ext}::$DATA",
    "escape{ext}",
    "escapes/secret{ext}",
    "escapes/../outside/secret{ext}",
    "chain{ext}",
    "absolute{ext}",
    ".",
    "..",
    "../..",
    "/",
    "",
    " ",
    "a" * 5_000,
    "a/" * 5_000,
    "\n",
    "-",
    "*",
    "inside{ext}\n../../outside/secret{ext}",
]


@dataclass(frozen=True)
class Directive:
    """A directive that names a file, and the file that holds it."""

    name: str
    kind: str
    file: str
    extension: str
    text: Callable[[str], str]
    options: tuple[tuple[str, Any], ...] = ()
    absolute: bool = False  #: whether the policy allows absolute paths


def server(key: str) -> Callable[[str], str]:
    return lambda quoted: f"server: {{name: a}}\ntools: [{{{key}: {quoted}}}]\n"


def added(quoted: str) -> str:
    return f"server: {{name: a}}\nbaseline: {{tools: []}}\nphases: [{{name: p, add_tools: [{quoted}]}}]\n"


def response(quoted: str) -> str:
    return world.server_with("{}").replace("text: t}", f"$file: {quoted}}}")


def blueprint(quoted: str) -> str:
    return world.BLUEPRINT.text.replace("You write.", f"{{$file: {quoted}}}")


def agent(quoted: str) -> str:
    flow, _ = world.BLUEPRINT.text.split("agents:")
    return f"{flow}agents:\n  - $agent_md: {quoted}\n    name: writer\n"


def schema(quoted: str) -> str:
    return world.TOOLPACK.text.replace(
        "{type: object, properties: {text: {type: string}}}", f"{{$ref: {quoted}}}"
    )


def prompt(quoted: str) -> str:
    return f'description = "Writes."\n[prompt]\nfile = {quoted}\n'


STRICT = (("allow_absolute", False), ("library", "sub"))
DIRECTIVES = [
    Directive("server $include", "server", "sub/main.yaml", ".yaml", server("$include"), STRICT),
    Directive("server $include, absolute allowed", "server", "sub/main.yaml", ".yaml", server("$include"), (("library", "sub"),), True),
    Directive("server $file", "server", "sub/main.yaml", ".txt", response, STRICT),
    Directive("server $file, absolute allowed", "server", "sub/main.yaml", ".txt", response, (("library", "sub"),), True),
    Directive("server path for an item", "server", "sub/main.yaml", ".yaml", added, STRICT),
    Directive("blueprint $file", "blueprint", "sub/team.yaml", ".md", blueprint),
    Directive("blueprint $agent_md", "blueprint", "sub/team.yaml", ".md", agent),
    Directive("toolpack $ref", "toolpack", "sub/a.tool.yaml", ".json", schema),
    Directive("profile prompt.file", "profile", "sub/.defect/agents/writer/config.toml", ".md", prompt),
]  # fmt: skip

CONTENTS = {
    ".yaml": f"tool: {{name: t, description: '{CANARY}', inputSchema: {{type: object}}}}\nresponse: {{content: [{{type: text, text: t}}]}}\n",
    ".txt": CANARY,
    ".md": f"---\nname: x\ndescription: {CANARY}\n---\n{CANARY}\n",
    ".json": json.dumps({"type": "object", "description": CANARY}),
}


def build(folder: Path, directive: Directive) -> Path:
    """A project, a file beside it, and links that lead there; gives the folder that references
    start at."""
    project, outside = folder / "project", folder / "outside"
    base = (project / directive.file).parent
    base.mkdir(parents=True)
    (project / ".git").mkdir()
    outside.mkdir()
    extension = directive.extension
    (outside / f"secret{extension}").write_text(CONTENTS[extension])
    (base / f"inside{extension}").write_text(CONTENTS[extension].replace(CANARY, "fine"))
    (base / f"escape{extension}").symlink_to(outside / f"secret{extension}")
    (base / f"chain{extension}").symlink_to(f"escape{extension}")
    (base / f"absolute{extension}").symlink_to(f"/proc/self/root{outside}/secret{extension}")
    (base / "escapes").symlink_to(outside)
    return base


def spellings(folder: Path, directive: Directive) -> list[str]:
    """Every spelling of the way out, and two of the way in."""
    out, extension = f"{folder}/outside/secret{directive.extension}", directive.extension
    ways_out = [each.replace("{ext}", extension).replace("{out}", out) for each in SPELLINGS]
    return [*ways_out, f"inside{extension}", f"./inside{extension}"]


Answers = dict[str, list[tuple[str, dict[str, Any]]]]


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> Answers:
    """What each load said and opened, by directive; all in one watched process."""
    top = tmp_path_factory.mktemp("paths")
    jobs: list[dict[str, Any]] = []
    for number, directive in enumerate(DIRECTIVES):
        folder = top / str(number)
        base = build(folder, directive)
        for each in spellings(folder, directive):
            job = {"cwd": str(folder / "project"), "file": str(folder / "project" / directive.file)}
            content = directive.text(json.dumps(each))
            jobs.append(
                job
                | {"content": content, "kind": directive.kind, "options": dict(directive.options)}
            )
        (base / Path(directive.file).name).write_text(content)
    # The last of each directive is harmless: loading it first imports whatever a load needs.
    last = [
        jobs[len(jobs) // len(DIRECTIVES) * number - 1] for number in range(1, len(DIRECTIVES) + 1)
    ]
    (top / "jobs.json").write_text(json.dumps([*last, *jobs]))
    done = run_script("watched.py", "opens", str(top / "jobs.json"), cwd=top)
    assert done.code == 0, done.err
    given = iter(json.loads(done.out)[len(last) :])
    return {
        directive.name: [(each, next(given)) for each in spellings(top / str(number), directive)]
        for number, directive in enumerate(DIRECTIVES)
    }


@pytest.mark.parametrize("directive", DIRECTIVES, ids=lambda each: each.name)
def test_nothing_outside_is_opened(directive: Directive, answers: Answers) -> None:
    for spelling, answer in answers[directive.name]:
        *said, text = answer["said"]
        leaked = [each for each in answer["opened"] if not each.startswith(answer["cwd"])]
        if directive.absolute and spelling.startswith("/"):
            assert leaked == [] or said, (
                spelling,
                answer,
            )  # a warning, or why it could not be read
            continue
        assert leaked == [], (spelling, answer)
        assert CANARY not in text, (spelling, said)


@pytest.mark.parametrize("directive", DIRECTIVES, ids=lambda each: each.name)
def test_every_way_out_is_told_and_the_way_in_works(directive: Directive, answers: Answers) -> None:
    *ways_out, first, second = answers[directive.name]
    assert [each for each, answer in ways_out if not answer["said"][:-1]] == []
    for _, answer in (first, second):
        assert "fine" in answer["said"][-1], answer


def test_there_are_enough_of_them() -> None:
    assert len(set(SPELLINGS)) >= 60


#: Valid if its schema could be read.
TOOL = """id: text.x
version: 1.0.0
deterministic: true
timeoutMs: 2000
limits: {maxInputBytes: 65536, maxOutputBytes: 1024}
inputSchema: {$ref: ../outside/schema.json}
outputSchema: {type: object}
execution: {kind: python, module: "tools.text:count"}
"""


def _load(root: Path, given: Any) -> object:
    return equipage.load(root / "project/a.tool.yaml", env={}, roots=given)


def _load_tools(root: Path, given: Any) -> object:
    return ToolpackLoader(roots=given).load_dir(root / "project")


def _expand(root: Path, given: Any) -> object:
    reference = str(root / "outside/canary.txt").removeprefix("/")
    return expand({"prompt": {"$file": reference}}, root / "project", include_roots=given)


@pytest.mark.parametrize("read", [_load, _load_tools, _expand])
@pytest.mark.parametrize("single", [str, Path])
def test_one_root_is_not_taken_letter_by_letter(tmp_path: Path, read: Any, single: Any) -> None:
    """The first letter of an absolute path is `/`: as a root, it would allow every file there is."""
    for name in ("project/.git", "shared", "outside"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "outside/canary.txt").write_text(CANARY)
    (tmp_path / "outside/schema.json").write_text('{"type": "object"}')
    (tmp_path / "project/a.tool.yaml").write_text(TOOL)
    with pytest.raises(equipage.LoadError) as caught:
        read(tmp_path, single(tmp_path / "shared"))
    assert len(caught.value.errors) == 1, caught.value
