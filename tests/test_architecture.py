"""The architecture is tested too: imports point one way, exports are exact, every code is shown."""

from __future__ import annotations

import ast
import importlib
import json
import re
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import equipage
from equipage.core.codes import CORE_CODES
from equipage.core.diagnostics import Code
from equipage.project.registry import all_codes, built_in_kinds, format_named
from fuzz.surfaces import every
from lab import CASES, REPOSITORY, TESTS, matching, module_at, python, repository

ROOT = Path(equipage.__file__).parent


def modules() -> Iterator[tuple[str, Path]]:
    for path in matching(ROOT, "**/*.py"):
        name = ".".join(["equipage", *path.relative_to(ROOT).with_suffix("").parts])
        yield name.removesuffix(".__init__"), path


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


@cache
def nodes(path: Path) -> tuple[ast.AST, ...]:
    """Everything in a module; many tests look at it, and a walk takes as long as parsing it."""
    return tuple(ast.walk(parsed(path)))


@cache
def runtime_imports(path: Path) -> frozenset[str]:
    """The modules of equipage that a module imports, except for what only the type checker sees."""
    return frozenset(_imports(nodes(path)))


def _imports(tree: tuple[ast.AST, ...]) -> Iterator[str]:
    skipped = {
        id(node)
        for branch in tree
        if isinstance(branch, ast.If) and "TYPE_CHECKING" in ast.dump(branch.test)
        for node in ast.walk(branch)
    }
    for node in tree:
        if id(node) in skipped:
            continue
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "equipage":
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                inner = ROOT / Path(*whole.split(".")[1:])
                is_module = inner.with_suffix(".py").exists() or (inner / "__init__.py").exists()
                yield whole if is_module else str(node.module)
        elif isinstance(node, ast.Import):
            yield from (
                alias.name for alias in node.names if alias.name.split(".")[0] == "equipage"
            )


@cache
def calls(path: Path) -> list[str]:
    """What a module calls, as it is written."""
    return [ast.unparse(each.func) for each in nodes(path) if isinstance(each, ast.Call)]


MODULES = dict(modules())


#: What opens files: the sandbox, what reads through it, what writes; and the command, nothing at
#: all (`os.devnull`).
OPENS = {
    "equipage.core.diagnostics",  # the words of codes, which are part of the package
    "equipage.clients.catalogue",  # as are the tables of clients
    "equipage.clients.index",
    "equipage.files.sandbox",
    "equipage.files.disk",
    "equipage.files.writing",
    "equipage.cli.output",
    "equipage.integrations.pytest",  # the files of a test
}


OPENING = re.compile(r"(os\.|io\.)?open|.*\.(read|write)_(text|bytes)", re.DOTALL)


def test_nobody_else_opens_files() -> None:
    found = {
        name: opening
        for name in MODULES.keys() - OPENS
        if (opening := [each for each in calls(MODULES[name]) if OPENING.fullmatch(each)])
    }
    assert found == {}


def test_rooms_import_only_rooms_below_them() -> None:
    """The layers are a contract in pyproject.toml."""
    script = "from importlinter.cli import lint_imports_command as run; run()"
    done = python("-c", script, cwd=REPOSITORY)
    assert done.code == 0, done.out + done.err


def test_the_picture_of_the_rooms_is_right() -> None:
    """ARCHITECTURE.md draws the layers of the contract, top first, and is short."""
    text = (REPOSITORY / "ARCHITECTURE.md").read_text()
    assert len(text.splitlines()) <= 130
    drawn = re.search(r"^## The rooms$.*?^```text\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert drawn is not None
    rows = [line for line in drawn[1].splitlines() if not line.startswith("  ")]
    levels = [set(re.findall(r"(\w+)/", row.split("  ")[0])) for row in rows]
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())
    contract = project["tool"]["importlinter"]["contracts"][0]
    layers = [set(re.findall(r"\w+", layer)) for layer in contract["layers"]]
    faces = PUBLIC.keys() - {"__init__", "__main__"}
    # The faces are files, not rooms; each level of them is a row, too.
    assert levels == [layer - faces for layer in layers]
    assert faces == set().union(*(layer & faces for layer in layers))
    for row, layer in zip(rows, layers, strict=True):
        assert set(row.split()) >= layer & faces, row
    # What a room is said to have is a module of it.
    for room, modules in re.findall(r"^ (\w+)/ .*?: ([\w, ]+?)(?:;.*)?$", drawn[1], re.MULTILINE):
        known = {path.stem for path in (ROOT / room).iterdir()}
        if room not in ("cli", "render"):
            assert set(modules.split(", ")) <= known, room


def test_formats_do_not_know_each_other() -> None:
    formats = folders_of("formats")
    assert formats >= {"server", "blueprint", "toolpack", "defect"}
    for name, path in MODULES.items():
        if _is_in("formats", name):
            imported = {
                each.split(".")[2]
                for each in runtime_imports(path)
                if each.startswith("equipage.formats.")
            }
            assert imported & formats <= set(name.split(".")[2:3]), name


def test_clients_do_not_know_each_other() -> None:
    """A folder of `clients` with the name of a client; what clients share is in the others."""
    clients = folders_of("clients") - {"mcp", "tables"}
    assert clients >= {"claude", "codex"}
    for client in clients:
        for name, path in MODULES.items():
            if _is_in(f"clients.{client}", name):
                others = clients - {client}
                known = {
                    each
                    for each in runtime_imports(path)
                    for other in others
                    if _is_in(f"clients.{other}", each)
                }
                assert known == set(), name


def folders_of(room: str) -> set[str]:
    return {path.parent.name for path in (ROOT / room).glob("*/__init__.py")}


def test_the_command_imports_the_language_server_when_it_is_asked_to() -> None:
    """So no other command pays for it."""
    for name, path in MODULES.items():
        if _is_in("cli", name):
            outside = [each for each in parsed(path).body if not isinstance(each, FUNCTIONS)]
            found = set(_imports(tuple(ast.walk(ast.Module(outside, [])))))
            assert not [each for each in found if _is_in("lsp", each)], name
    imported = python("-c", "import sys, equipage.cli, equipage.cli.check; print(*sys.modules)")
    assert imported.code == 0, imported.err
    assert [each for each in imported.out.split() if _is_in("lsp", each)] == []


FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def _is_in(room: str, module: str) -> bool:
    return f"{module}.".startswith(f"equipage.{room}.")


#: The public modules and their names; what is not here is a room, and rooms may be rearranged. The
#: names of the package are below, and those of the models follow from the kinds.
PUBLIC = {
    "__init__": ...,
    "__main__": set(),
    "api": {"check", "check_files", "discover", "example", "load", "loads", "schema", "watch"},
    "blueprints": {"expand", "expand_and_report", "pre_read_default_agent_kind"},
    "models": ...,
    "plugin": ...,
    "toolpacks": {"FoundToolpacks", "Toolpack", "ToolpackLoader", "ToolpackValidationError"},
}


def test_a_file_at_the_top_is_public() -> None:
    assert {path.stem for path in ROOT.glob("*.py")} == PUBLIC.keys()
    for name, exported in PUBLIC.items():
        if isinstance(exported, set) and exported:
            module = importlib.import_module(f"equipage.{name}")
            assert set(module.__all__) == exported, name


def test_a_public_module_is_documented() -> None:
    """The functions of `api` are those of the package itself."""
    sys.path.insert(0, str(REPOSITORY / "docs"))
    ((_, page),) = importlib.import_module("generate.python").pages()
    documented = set(re.findall(r"^## `equipage\.(\w+)`$", page, re.MULTILINE))
    assert documented == PUBLIC.keys() - {"__init__", "__main__", "api"}
    assert PUBLIC["api"] <= set(equipage.__all__)


def test_formats_of_the_seeds_are_made_of_public_parts() -> None:
    """What they import beside `equipage.plugin` is a contract in pyproject.toml, which stays short."""
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())
    rooms, contract, *_ = project["tool"]["importlinter"]["contracts"]
    below = rooms["layers"][rooms["layers"].index("plugin") + 1 :]
    expected = {f"equipage.{each}" for each in re.findall(r"\w+", " ".join(below))}
    assert set(contract["forbidden_modules"]) == expected
    assert len(contract["ignore_imports"]) <= 16
    assert len(importlib.import_module("equipage.plugin").__all__) <= 60


@pytest.mark.parametrize("face", ["blueprints", "toolpacks"])
def test_a_face_only_exports(face: str) -> None:
    """A face is a name for parts of the rooms; what it does would belong into one of them."""
    path = MODULES[f"equipage.{face}"]
    assert len(path.read_text().splitlines()) <= 20
    for each in parsed(path).body:
        is_text = isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant)
        is_list = isinstance(each, ast.Assign) and ast.unparse(each.targets[0]) == "__all__"
        assert is_text or is_list or isinstance(each, ast.ImportFrom), ast.unparse(each)


#: Rooms that may ask the operating system about files, folders and the environment.
ASKS_THE_SYSTEM = ("equipage.files", "equipage.cli", "equipage.__main__")
SYSTEM_CALLS = re.compile(
    r"\bos\.path\.(abspath|l?exists|is(file|dir|link|mount)|realpath|expand\w+|samefile|get\w+)\b"
    r"|\bos\.(scandir|listdir|f?walk|l?stat|access|readlink|environb?|getenv|getcwd)\b"
    r"|\bfrom os(\.path)? import\b"
)


def test_only_files_asks_the_system() -> None:
    found = {
        name: asked
        for name, path in MODULES.items()
        if not name.startswith(ASKS_THE_SYSTEM)
        if (asked := [each[0] for each in SYSTEM_CALLS.finditer(path.read_text())])
    }
    assert found == {}


def test_there_are_no_cycles() -> None:
    graph = {
        name: {each for each in runtime_imports(path) if each in MODULES}
        for name, path in MODULES.items()
    }
    done: set[str] = set()

    def visit(name: str, trail: tuple[str, ...]) -> None:
        assert name not in trail, " → ".join([*trail, name])
        if name not in done:
            for each in graph[name] - {name}:
                visit(each, (*trail, name))
            done.add(name)

    for name in graph:
        visit(name, ())


def test_only_the_command_prints() -> None:
    printing = {name for name, path in MODULES.items() if "print" in calls(path)}
    assert {name for name in printing if not name.startswith("equipage.cli")} == set()


def test_public_exports_are_exact() -> None:
    # fmt: off
    assert set(equipage.__all__) == {
        "FILE", "Diagnostic", "Directives", "DiscoveredSkill", "Edit", "EquipageError",
        "Explanation", "FileReport", "Files", "Fix", "Format", "FoundSkill", "Includes", "Label",
        "Layer", "Limits", "LoadError", "Loaded", "LoadedSettings", "Problem", "Profile",
        "Profiles", "Reading", "Refs", "Renamed", "Report", "SettingsLayer", "Skill", "Skills",
        "Source", "Span", "Toolpack", "ToolpackLoader", "ToolpackValidationError", "UsageError",
        "Watch", "__version__", "by", "check", "check_files", "discover", "discover_profiles",
        "discover_skills", "example", "expand", "load", "load_settings", "loads",
        "pre_read_default_agent_kind", "project_layer", "schema", "user_layer", "watch",
        "FoundProfiles", "find_profiles",
    }
    # fmt: on
    assert [name for name in equipage.__all__ if not hasattr(equipage, name)] == []
    assert dir(equipage) == sorted(equipage.__all__)
    with pytest.raises(AttributeError):
        equipage.nonsense  # noqa: B018


def test_import_is_light() -> None:
    """`import equipage` and `equipage --help` load no parser, no validator, no kind."""
    code = (
        "import sys, equipage; from equipage.cli import build_parser\n"
        "build_parser().format_help(); print(*sys.modules)"
    )
    bare = "import argparse, sys; argparse.ArgumentParser().format_help(); print(*sys.modules)"
    done = python("-c", code)
    assert done.code == 0, done.err
    of_the_command = {each for each in done.out.split() if _is_in("cli", each)}
    assert of_the_command == {
        "equipage.cli",
        "equipage.cli.arguments",
        "equipage.cli.output",
        "equipage.cli.wings",
    }
    assert not set(done.out.split()) - set(python("-c", bare).out.split()) & {
        "yaml",
        "msgspec",
        "jsonschema_rs",
        "rtoml",
        "dataclasses",
        "pathlib",
        "equipage.project.recognise",
        "equipage.project.registry",
    }


def test_the_reading_list_exists() -> None:
    """ARCHITECTURE.md names the modules to read first; `tools/measure.py` says how long they are."""
    lines, found = module_at(REPOSITORY / "tools" / "measure.py").reading_list(REPOSITORY, ROOT)
    assert "not found" not in found, found
    assert lines is not None, found


#: Codes that need more than files to be shown, and the test module that shows them.
SHOWN_ELSEWHERE = {
    **dict.fromkeys(
        (
            "layer-loaded",
            "model-refused",
            "removed-key",
            "renamed-key",
            "renamed-twice",
            "rule-failed",
        ),
        "loading/test_own_formats.py",
    ),
    "instructions-too-long": "clients/test_instructions.py",
    "personal-settings-shared": "files/test_index.py",
    "file-unreadable": "files/test_sandbox.py",
    "file-not-regular": "files/test_sandbox.py",
    "unrecognised": "loading/test_bad_input.py",
    "internal-error": "workspace/test_workspace.py",
    "check-ended": "workspace/test_processes.py",
    "generator-value-not-json": "formats/server/payloads/test_build.py",
    "absolute-path": "formats/server/test_directives.py",
    "image-extension": "formats/server/test_binary_files.py",
    "unknown-kind": "project/test_settings.py",
    "root-outside": "project/test_settings.py",
    "root-missing": "project/test_settings.py",
    "settings-twice": "project/test_settings.py",
    "baseline-stale": "record/test_baseline.py",
    "folder-unreadable": "workspace/test_checking.py",
    "not-read": "workspace/test_unread.py",
    "index-damaged": "files/test_index.py",
    "link-outside": "security/test_links.py",
    "link-broken": "security/test_links.py",
    "pattern-mismatch": "loading/test_model.py",
    "reach-widened": "effect/test_truth.py",
    "reach-unknown": "effect/test_truth.py",
}


def test_every_code_is_documented_and_shown_in_a_case() -> None:
    cases = "\n".join(path.read_text() for path in matching(CASES, "**/*.md"))
    missing = [
        name for name in all_codes() if f"[{name}]" not in cases and name not in SHOWN_ELSEWHERE
    ]
    assert not missing
    for name, module in SHOWN_ELSEWHERE.items():
        assert name in (TESTS / module).read_text(), name
    for name, code in all_codes().items():
        assert len(code.words.about) > 20, name
        assert not code.words.message.endswith("."), name


def test_every_code_that_a_module_declares_is_known_to_all() -> None:
    """A code in no format would be reported, and unknown to `rule`, `--ignore` and the pages."""
    words: set[str] = set()
    declared: set[str] = set()
    for path in matching(ROOT, "**/codes.toml"):
        words |= tomllib.loads(path.read_text()).keys()
        name = ".".join(("equipage", *path.relative_to(ROOT).with_suffix("").parts))
        values = vars(importlib.import_module(name)).values()
        declared |= {each.name for each in values if isinstance(each, Code)}
    assert declared == words == all_codes().keys()


def test_a_code_means_one_thing() -> None:
    """Reports, SARIF and the pages know a code by its name alone."""
    meanings: dict[str, set[Code]] = {}
    for code in (
        *CORE_CODES,
        *(code for name in built_in_kinds() for code in format_named(name).every_code()),
    ):
        meanings.setdefault(code.name, set()).add(code)
    assert {name for name, codes in meanings.items() if len(codes) > 1} == set()


# One load opens a file once, whatever asks for it: recognition, the parser, directives, places.

#: Prints how often each file below the working directory is opened, by the call that it is given.
COUNT_OPENS = """
import json, os, stat, sys
from collections import Counter
import equipage

names = {}
for folder, _, files in os.walk("."):
    for name in files:
        path = os.path.normpath(os.path.join(folder, name))
        names[os.stat(path).st_ino] = path
opened = Counter()
real = os.open

def counted(*arguments, **more):
    descriptor = real(*arguments, **more)
    known = os.fstat(descriptor)
    if stat.S_ISREG(known.st_mode) and known.st_ino in names:
        opened[names[known.st_ino]] += 1
    return descriptor

def hook(event, arguments):
    # `os.open` has no mode; other ways to open a file show up by its name.
    if event == "open" and isinstance(arguments[0], str) and arguments[1] is not None:
        if os.path.realpath(arguments[0]).startswith(os.getcwd()):
            opened[f"open({arguments[0]})"] += 1

os.open = counted
sys.addaudithook(hook)
call, path = sys.argv[1:]
if call == "load":
    equipage.load(path, env={})
else:
    assert not equipage.check([path], env={}).errors
print(json.dumps(opened))
"""

PACK = """\
id: text.count
version: 1.0.0
description: Counts words.
deterministic: true
timeoutMs: 2000
limits: {maxInputBytes: 65536, maxOutputBytes: 1024}
inputSchema: {$ref: shapes.json}
outputSchema: {type: object, properties: {in: {$ref: shapes.json}}}
execution: {kind: python, module: 'tools.text:count'}
"""
TEAM = """\
id: team
flow: {kind: step, ref: a, in: {op: path, at: $.task}, out: {op: path, at: $.answer}}
agents:
  - {name: a, kind: agent_block, profile: {system_prompt: {$file: ask.md}, model: sonnet}}
"""
TOOL = """\
tool: {name: echo, description: d, inputSchema: {type: object}}
response: {content: [{type: text, text: {$file: said.txt}}]}
"""
#: The files of a load, the one that is loaded first.
LOADS = {
    "server": {
        "main.yaml": "server: {name: a}\ntools: [{$include: echo.yaml}, {$include: echo.yaml}]\n",
        "library/echo.yaml": TOOL,
        "library/said.txt": "hello",
        "equipage.toml": "ignore = ['duplicate-tool']\n",
    },
    "toolpack": {"a.tool.yaml": PACK, "shapes.json": {"type": "object"}},
    "blueprint": {"team.yaml": TEAM, "ask.md": "You write.\n"},
    "profile": {".defect/agents/writer.md": "---\ndescription: Writes.\n---\nYou write.\n"},
    "convention": {".claude/agents/a.md": "---\nname: a\ndescription: Reviews.\n---\nReview.\n"},
}


@pytest.mark.parametrize("call", ["load", "check"])
@pytest.mark.parametrize("name", LOADS)
def test_a_load_opens_each_file_once(name: str, call: str, tmp_path: Path) -> None:
    files = LOADS[name]
    done = python("-c", COUNT_OPENS, call, next(iter(files)), cwd=repository(tmp_path, files))
    assert done.code == 0, done.err
    assert json.loads(done.out) == dict.fromkeys(files, 1)


# What other targets of `make` name by path; they run rarely, so a name that is wrong is found here.


def test_what_is_fuzzed_exists() -> None:
    for surface in every().values():
        assert matching(REPOSITORY / surface.package, *surface.code)


def test_what_is_changed_to_try_the_tests_exists() -> None:
    """Parts of `make mutants`: their modules, and the tests that are to notice."""
    for part in module_at(REPOSITORY / "lab" / "mutants" / "__main__.py").PARTS.values():
        assert matching(REPOSITORY, *part.modules)
        assert matching(REPOSITORY, *part.tests)
