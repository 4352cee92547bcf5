"""What clients see of tools: names, schemas of both revisions, pages."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("jinja2", reason="the extra `serve` is not installed")

from equipage.loading.session import Request
from equipage.serve.platform import this_platform
from equipage.serve.snapshot import Snapshot, take
from equipage.serve.tools import Settings
from equipage.serve.wire.catalogue import BadCursor, Catalogue, catalogue_of, name_of, page
from serve.packs import pack, write_packs

CODE = {"t.py": "def f(p): return {}\n"}


def snapshot(folder: Path, *packs: dict[str, Any]) -> Snapshot:
    write_packs(folder, list(packs), CODE)
    settings = Settings(allow=frozenset({"python"}), isolation="best")
    return take([str(folder)], Request(env={}), settings, this_platform())


def catalogue(folder: Path, *packs: dict[str, Any], style: Any = "dotted") -> Catalogue:
    return catalogue_of(snapshot(folder, *packs), style)


def test_names() -> None:
    assert name_of("mcp.tool:docs.load", "dotted") == "docs.load"
    assert name_of("a.b:c", "dotted") == "a.b.c"
    assert name_of("a.b:c", "plain") == "a_b_c"


def test_tools_with_one_name_are_both_left_out(tmp_path: Path) -> None:
    found = catalogue(tmp_path, pack("a.b:c", "t:f"), pack("a.b.c", "t:f"), pack("a.d", "t:f"))
    assert list(found.entries) == ["a.d"]
    assert "`a.b.c` and `a.b:c` would both be named `a.b.c`" in found.refused["a.b:c"][0]
    assert "a.b.c" in found.refused


@pytest.mark.parametrize("schema", [{}, {"type": "array"}, {"properties": {}}])
def test_the_input_must_be_an_object(schema: dict[str, Any], tmp_path: Path) -> None:
    found = catalogue(tmp_path, pack("a.b", "t:f", inputSchema=schema))
    assert not found.entries
    assert "`type: object`" in found.refused["a.b"][0]


def test_an_output_that_is_no_object_is_hidden_from_older_clients(tmp_path: Path) -> None:
    """One such schema makes them reject the whole list."""
    array = {"type": "array", "items": {"type": "integer"}}
    entry = catalogue(tmp_path, pack("a.b", "t:f", outputSchema=array)).entries["a.b"]
    assert entry.listed(modern=True)["outputSchema"] == array
    assert "outputSchema" not in entry.listed(modern=False)
    assert not entry.has_mapping


def test_hints_come_from_caps(tmp_path: Path) -> None:
    caps = {"network": ["https"]}
    found = catalogue(
        tmp_path, pack("a.b", "t:f", deterministic=True), pack("a.c", "t:f", caps=caps)
    )
    assert found.entries["a.b"].modern["annotations"] == {
        "readOnlyHint": True,
        "idempotentHint": True,
        "openWorldHint": False,
    }
    assert found.entries["a.c"].modern["annotations"] == {
        "readOnlyHint": False,
        "destructiveHint": True,
        "idempotentHint": False,
        "openWorldHint": True,
    }
    assert found.entries["a.b"].modern["description"] == "The tool a.b."


HEADERS: list[tuple[dict[str, Any], bool]] = [
    ({"a": {"type": "string", "x-mcp-header": "Region"}}, True),
    (
        {"a": {"type": "object", "properties": {"b": {"type": "integer", "x-mcp-header": "B"}}}},
        True,
    ),
    ({"a": {"type": "number", "x-mcp-header": "Region"}}, False),
    ({"a": {"type": "string", "x-mcp-header": "not a token"}}, False),
    ({"a": {"anyOf": [{"type": "string", "x-mcp-header": "R"}]}}, False),
    (
        {
            "a": {"type": "string", "x-mcp-header": "R"},
            "b": {"type": "string", "x-mcp-header": "r"},
        },
        False,
    ),
    ({"a": {"const": {"x-mcp-header": 5}}}, True),
]


@pytest.mark.parametrize(("properties", "ok"), HEADERS)
def test_arguments_in_headers(properties: dict[str, Any], ok: bool, tmp_path: Path) -> None:
    """Clients drop a tool whose arguments cannot be headers; so it is refused with a reason."""
    schema = {"type": "object", "properties": properties}
    found = catalogue(tmp_path, pack("a.b", "t:f", inputSchema=schema))
    assert bool(found.entries) is ok


def test_pages() -> None:
    keys = [f"k{number:04}" for number in range(250)]
    seen: list[str] = []
    cursor = None
    for _ in range(3):
        found, cursor = page(keys, cursor)
        seen += found
    assert (seen, cursor) == (keys, None)
    _, cursor = page(keys, None)
    assert page(keys[:50], cursor) == ([], None)  # a reload left less


@pytest.mark.parametrize("cursor", ["", "x", "YWJj", "ü", "!" * 50])
def test_a_cursor_that_we_did_not_make(cursor: str) -> None:
    with pytest.raises(BadCursor):
        page(["a"], cursor)


def test_digests_change_with_what_clients_see(tmp_path: Path) -> None:
    first = snapshot(tmp_path, pack("a.b", "t:f"))
    again = snapshot(tmp_path, pack("a.b", "t:f"))
    assert first.tools_digest() == again.tools_digest()
    other = snapshot(tmp_path, pack("a.b", "t:f", description="Other words."))
    assert first.tools_digest() != other.tools_digest()
    (tmp_path / "t.py").write_text("def f(p): return {'a': 1}\n")
    settings = Settings(allow=frozenset({"python"}), isolation="best")
    changed = take([str(tmp_path)], Request(env={}), settings, this_platform())
    assert changed.tools_digest() != other.tools_digest()
