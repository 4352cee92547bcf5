"""The pieces that compose a server configuration: libraries, what may be read, where things go."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

import equipage
from equipage.core.source import Source
from equipage.files.sandbox import PathPolicy
from equipage.formats.server import compose
from equipage.formats.server.compose import library_of, library_roots, limits_of, slot_of
from equipage.formats.server.model import Logging, ServerConfig, ServerFile
from equipage.loading.session import Request, Session
from equipage.loading.tree import Tree
from equipage.project.registry import format_named
from lab import Link, write
from systems import DiskAt

SERVER = format_named("server")


def session(
    path: Path | str = "/p/s.yaml", root: Path | str | None = None, cwd: str = "/", **how: Any
) -> Session:
    request = Request(**{"env": {}, "system": DiskAt(cwd), **how})
    return Session(
        SERVER, request, request.new_run(), str(path), root=None if root is None else str(root)
    )


# --- where includes start -------------------------------------------------------------------------


@pytest.mark.requirement("F-010")
@pytest.mark.parametrize(
    ("folders", "how", "expected"),
    [
        # Who names it decides.
        (["p/library"], {"options": {"library": "mine"}}, "here/mine"),
        (["p/library"], {"options": {"library": "/mine"}}, "/mine"),
        (["p/library"], {"env": {"THOUGHTJACK_LIBRARY": "mine"}}, "here/mine"),
        (["p/library"], {"defaults": {"project_library": "/of/settings"}}, "/of/settings"),
        # An empty variable names nothing.
        (["p/library"], {"env": {"THOUGHTJACK_LIBRARY": ""}}, "p/library"),
        # That of the project, then the nearest one.
        (["p/library", "p/a/b/library", "p/.git"], {}, "p/library"),
        (["p/library", "p/a/b/library"], {}, "p/a/b/library"),
        (["p/a/b/library", "p/a/library"], {}, "p/a/b/library"),
        (["p/a/library", "here/library"], {}, "p/a/library"),
        (["library", "here/library", "p/.git"], {}, "p/library"),
        # One of the working directory, if the file belongs to no project and has none around it.
        (["library", "here/library"], {}, "library"),
        (["here/library"], {}, "here/library"),
        (["here/library", "p/.git"], {}, "p/library"),
        ([], {}, "here/library"),
    ],
)
def test_where_includes_start(
    tmp_path: Path, folders: list[str], how: dict[str, Any], expected: str
) -> None:
    for each in ("here", "p/a/b", *folders):
        (tmp_path / each).mkdir(parents=True, exist_ok=True)
    here = str(tmp_path / "here")
    load = session(tmp_path / "p/a/b/s.yaml", tmp_path / "p", cwd=here, **how)
    assert library_of(load) == str(tmp_path / expected)


@pytest.mark.requirement("NFR-004")
def test_which_libraries_may_be_read(tmp_path: Path) -> None:
    write(tmp_path, {"p/library/x": "", "here/library/x": "", "other/x": ""})
    write(tmp_path, {"p/out": Link("../other"), "linked/library": Link("../other")})

    def shelf(library: str, cwd: str = "here", **how: Any) -> tuple[str, ...]:
        load = session(tmp_path / "p/s.yaml", tmp_path / "p", cwd=str(tmp_path / cwd), **how)
        return library_roots(str(tmp_path / library), load)

    assert shelf("p/library") == (str(tmp_path / "p/library"),)
    assert shelf("here/library") == (str(tmp_path / "here/library"),)
    # Neither a folder elsewhere, nor a link to one, unless the caller names a library.
    for library, cwd in (("other", "here"), ("p/out", "here"), ("linked/library", "linked")):
        of_project = {"project_library": str(tmp_path / library)}
        assert shelf(library, cwd, defaults=of_project) == ()
        if library != "other":
            assert shelf(library, cwd) == ()
            assert shelf(library, cwd, env={"THOUGHTJACK_LIBRARY": ""}) == ()
        for how in ({"options": {"library": "x"}}, {"env": {"THOUGHTJACK_LIBRARY": "x"}}):
            assert shelf(library, cwd, **how) == (str(tmp_path / library),)


@pytest.mark.requirement("NFR-004")
@pytest.mark.parametrize(
    ("allowed", "confined", "absolute"),
    [
        (False, False, "refuse"),
        (False, True, "refuse"),
        (None, False, "outside"),
        (None, True, "unread"),
        (True, False, "outside"),
        (True, True, "outside"),
    ],
)
def test_absolute_paths(allowed: bool | None, confined: bool, absolute: Any) -> None:
    load = session(options={"allow_absolute": allowed}, confined=confined)
    assert compose._path_policy(load, 7) == PathPolicy(absolute, "refuse", 7)


@pytest.mark.requirement("F-007a")
def test_every_variable_counts_whichever_others_are_set() -> None:
    env = {"THOUGHTJACK_MAX_TOOLS": "5", "THOUGHTJACK_MAX_INCLUDE_DEPTH": "3"}
    limits, _ = limits_of(env)
    assert (limits.max_tools, limits.max_include_depth, limits.max_phases) == (5, 3, 100)


# --- what a path is for ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "slot"),
    [
        (("tools", 0, "response", "content", 0, "text"), "text"),
        (("resources", 0, "response", "content"), "text"),
        (("tools", 0, "tool", "description"), "text"),
        (("tools", 0, "response", "content", 0, "data"), "data"),
        (("tools", 0, "response", "content", 0, "resource", "blob"), "data"),
        (("tools", 0, "tool", "inputSchema"), "free"),
        (("tools", 0, "tool", "inputSchema", "properties", "text"), "free"),
        (("server", "name"), "other"),
        ((), "other"),
    ],
)
def test_what_a_path_is_for(path: tuple[str | int, ...], slot: str) -> None:
    assert slot_of(path) == slot


PNG = b"\x89PNG\r\n\x1a\n"
AS_IMAGE, AS_TEXT = compose._IMAGE_ADVICE, compose._TEXT_ADVICE


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("server: {name: %s}", ("server.name.$file", AS_TEXT)),
        ("tools: [{tool: {description: %s}}]", ("tools[0].tool.description.$file", AS_TEXT)),
        ("tools: [{tool: {inputSchema: {x: %s}}}]", None),
        ("tools: [{response: {content: [{data: %s}]}}]", None),
        (
            "tools: [{response: {content: [{text: %s}]}}]",
            ("tools[0].response.content[0].text.$file", AS_IMAGE),
        ),
        (
            "resources: [{response: {content: %s}}]",
            ("resources[0].response.content.$file", AS_IMAGE),
        ),
    ],
)
def test_an_image_where_text_belongs(
    tmp_path: Path, text: str, found: tuple[str, str] | None
) -> None:
    write(tmp_path, {"a.png": PNG, "s.yaml": text % "{$file: a.png}"})
    report = equipage.check([tmp_path / "s.yaml"], kind="server", env={})
    warned = [each for each in report.diagnostics if each.code == "binary-as-text"]
    assert [(each.path, each.help) for each in warned] == ([] if found is None else [found])
    assert all("a.png" in each.message for each in warned)


# --- content items --------------------------------------------------------------------------------


def tree_of(value: Any, load: Session) -> Tree:
    text = json.dumps(value)
    document, facts = load.parse(Source("s.json", text.encode(), text))
    assert document is not None
    assert facts == []
    return Tree.from_document(document)


def moved(value: Any) -> Tree:
    load = session()
    tree, facts = compose.move_into_content(tree_of(value, load), load)
    assert facts == []
    return tree


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        ({"type": "text", "$file": "f"}, {"type": "text", "text": {"$file": "f"}}),
        ({"type": "image", "$file": "f"}, {"type": "image", "data": {"$file": "f"}}),
        ({"type": "text", "$generate": 1}, {"type": "text", "text": {"$generate": 1}}),
        # The earlier stage decides, so both are in one place.
        (
            {"type": "text", "$generate": 1, "$file": "f"},
            {"type": "text", "text": {"$file": "f", "$generate": 1}},
        ),
        # Nothing moves where the content is written, or where it is not known.
        ({"type": "text", "text": "t", "$file": "f"}, None),
        ({"type": "audio", "$file": "f"}, None),
        ({"type": ["text"], "$file": "f"}, None),
        ({"$file": "f"}, None),
        ({"type": "text"}, None),
    ],
)
def test_directives_beside_the_type_are_the_content(item: Any, expected: Any) -> None:
    path = ("tools", 0, "response", "content")
    value = {"tools": [{"response": {"content": [item, item]}}], "x": {"type": "text"}}
    tree = moved(value)
    after = item if expected is None else expected
    assert tree.value["tools"][0]["response"]["content"] == [after, after]
    if expected is None:
        assert tree.value == value
        assert tree.moves == ()
    else:
        keys = [key for key in ("$file", "$generate") if key in item]
        where = "data" if item["type"] == "image" else "text"
        assert tree.moves == tuple(
            ((*path, number, key), (*path, number, where, key)) for number in (0, 1) for key in keys
        )


def test_free_data_is_left_as_it_is() -> None:
    value = {"tools": [{"tool": {"inputSchema": {"x": {"type": "text", "$file": "f"}}}}]}
    assert moved(value).value == value


def test_moves_of_earlier_stages_are_kept() -> None:
    value = {"tools": [{"response": {"content": [{"type": "text", "$file": "f"}]}}]}
    load = session()
    before = (("a",), ("b",))
    given = msgspec.structs.replace(tree_of(value, load), moves=(before,))
    tree, _ = compose.move_into_content(given, load)
    assert tree.moves[0] == before
    assert len(tree.moves) == 2


# --- depth ----------------------------------------------------------------------------------------


def nested(depth: int, inner: Any) -> Any:
    for _ in range(depth):
        inner = [0, inner]
    return inner


def test_what_nests_too_deep_is_refused_at_its_place() -> None:
    load = session()
    for value in (nested(63, [1]), nested(64, []), nested(64, {}), 5):
        tree = tree_of(value, load)
        assert compose.check_depth(tree, load) == (tree, [])
    tree = tree_of(nested(64, [1]), load)
    same, (fact,) = compose.check_depth(tree, load)
    assert same is tree
    assert (fact.code.name, fact.values) == ("nesting-too-deep", {"limit": 64})
    assert fact.path == (1,) * 64 + (0,)


# --- folding --------------------------------------------------------------------------------------

TOOLS = [{"tool": {"name": "t", "description": "d", "inputSchema": {}}, "response": {}}]
RESOURCES = [{"resource": {"uri": "u", "name": "n"}}]
PROMPTS = [{"prompt": {"name": "p"}, "response": {"messages": []}}]
ABLE = {"logging": {}}
SLOW = {"delivery": {"type": "slow_loris"}}
TOP = {"tools": TOOLS, "resources": RESOURCES, "prompts": PROMPTS, "behavior": SLOW}
OTHER = {
    "tools": [*TOOLS, *TOOLS],
    "resources": [*RESOURCES, *RESOURCES],
    "prompts": [*PROMPTS, *PROMPTS],
    "behavior": {"delivery": {"type": "normal"}},
    "capabilities": {"tools": {"listChanged": True}},
}
ABOUT = {
    "metadata": {
        "id": "m",
        "name": "n",
        "description": "d",
        "severity": "low",
        "mcp_attack_surface": {"vectors": [], "primitives": []},
    }
}
INFO = {"name": "x", "version": "7", "state_scope": "global"}


@pytest.mark.parametrize(
    ("written", "baseline"),
    [
        ({}, {}),
        ({"baseline": None}, {}),
        (TOP, TOP),
        ({**TOP, "baseline": None}, TOP),
        ({**TOP, "baseline": {}}, TOP),
        ({"baseline": OTHER}, OTHER),
        ({**TOP, "baseline": OTHER}, OTHER),
    ],
)
@pytest.mark.parametrize("able", [True, False])
def test_a_program_gets_one_form(
    written: dict[str, Any], baseline: dict[str, Any], able: bool
) -> None:
    """The value that is shown to people says the same as the one that a program gets."""
    server = {**INFO, "capabilities": ABLE} if able else INFO
    more = {"phases": [{"name": "a"}], "logging": {"level": "debug"}, "unknown_methods": "error"}
    text = {"server": server, **written, **more, **ABOUT}
    tree, config = compose.fold(tree_of(text, session()), msgspec.convert(text, ServerFile))
    expected = {"capabilities": ABLE} | baseline if able else baseline
    assert config == msgspec.convert(
        {"server": INFO, "baseline": expected, **more, **ABOUT}, ServerConfig
    )
    assert tree.value.get("baseline", {}) == expected
    if "baseline" not in written or not written["baseline"]:
        assert not {*TOP} & {*tree.value}
        assert tree.value["server"] == INFO


def test_what_is_not_written_has_its_default() -> None:
    text = {"server": {"name": "x"}}
    tree, config = compose.fold(tree_of(text, session()), msgspec.convert(text, ServerFile))
    assert config == msgspec.convert(text, ServerConfig)
    assert (config.phases, config.logging) == ((), Logging())
    assert tree.value == text
