"""What clients see of tools: names, schemas of both revisions, pages."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("jinja2", reason="the extra `serve` is not installed")

from equipage.loading.session import Request
from equipage_serve.platform import this_platform
from equipage_serve.snapshot import Snapshot, take_snapshot
from equipage_serve.tools import Settings
from equipage_serve.wire.catalogue import (
    BadCursor,
    Catalogue,
    catalogue_of,
    name_of,
    normalize_uri,
    page,
)
from lab import write
from packs import pack, write_packs

CODE = {"t.py": "def f(p): return {}\n"}


def snapshot(folder: Path, *packs: dict[str, Any]) -> Snapshot:
    write_packs(folder, list(packs), CODE)
    settings = Settings(allow=frozenset({"python"}), isolation="best")
    return take_snapshot([str(folder)], Request(env={}), settings, this_platform())


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
    assert found.refused["a.b"] == ("its input schema must have `type: object` at the top",)


def test_an_output_that_is_no_object_is_hidden_from_older_clients(tmp_path: Path) -> None:
    """One such schema makes them reject the whole list."""
    array = {"type": "array", "items": {"type": "integer"}}
    entry = catalogue(tmp_path, pack("a.b", "t:f", outputSchema=array)).entries["a.b"]
    assert entry.definition(modern=True)["outputSchema"] == array
    assert "outputSchema" not in entry.definition(modern=False)
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
    ({"a": {"enum": [{"x-mcp-header": 5}]}}, True),
    ({"a": {"default": {"x-mcp-header": 5}}}, True),
    ({"a": {"examples": [{"x-mcp-header": 5}]}}, True),
    ({"a": {"type": "boolean", "x-mcp-header": "Region"}}, True),
    ({"a": {"items": {"type": "string", "x-mcp-header": "R"}}}, False),
    ({"a": {"type": "string", "x-mcp-header": 5}}, False),
    # One that is wrong is found wherever it is, also after others that are right.
    ({"a": {"anyOf": [{"type": "string", "x-mcp-header": "R"}, {"enum": []}]}, "b": {}}, False),
    (
        {
            "a": {"type": "number", "x-mcp-header": "R"},
            "b": {"type": "object", "properties": {"c": {"type": "string"}}},
            "d": {"anyOf": [{}, {}]},
        },
        False,
    ),
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
    changed = take_snapshot([str(tmp_path)], Request(env={}), settings, this_platform())
    assert changed.tools_digest() != other.tools_digest()


def test_a_name_has_at_most_128_characters(tmp_path: Path) -> None:
    fits, longer = "a." + "b" * 126, "a." + "c" * 127
    found = catalogue(tmp_path, pack(fits, "t:f"), pack(longer, "t:f"))
    assert list(found.entries) == [fits]
    assert found.refused[longer] == ("its name has more than 128 characters",)


def test_a_tool_as_clients_see_it(tmp_path: Path) -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string"}}}
    output = {"type": "object", "properties": {}}
    given = pack(
        "a.b:c", "t:f", name="Words", description="", inputSchema=schema, outputSchema=output
    )
    taken = snapshot(tmp_path, given)
    found = catalogue_of(taken)
    entry = found.entries["a.b.c"]
    assert (entry.name, entry.tool.pack.id) == ("a.b.c", "a.b:c")
    assert entry.has_mapping is True
    assert found.snapshot is taken
    held = entry.tool.confinement
    expected = {
        "name": "a.b.c",
        "title": "Words",
        "description": "Words",
        "inputSchema": schema,
        "outputSchema": output,
        "annotations": {"readOnlyHint": True, "idempotentHint": False, "openWorldHint": False},
        "_meta": {
            "equipage/isolation": {
                "level": "best",
                "enforced": list(held.enforced),
                "open": list(held.open),
            }
        },
    }
    assert entry.definition(modern=True) == expected
    assert entry.definition(modern=False) == expected
    assert list(catalogue_of(taken, "plain").entries) == ["a_b_c"]


def test_a_description_goes_before_a_title_and_both_before_the_name(tmp_path: Path) -> None:
    found = catalogue(
        tmp_path,
        pack("a.a", "t:f", name="T", description="D"),
        pack("a.b", "t:f", description="D"),
        pack("a.c", "t:f", description=""),
        pack("a.d", "t:f", name="T", description=""),
    )
    listed = [entry.modern for entry in found.entries.values()]
    assert [each["description"] for each in listed] == ["D", "D", "The tool a.c.", "T"]
    assert [each.get("title") for each in listed] == ["T", None, None, "T"]


@pytest.mark.parametrize(
    ("caps", "reads_only"),
    [
        ({}, True),
        ({"filesystem": {"read": ["x"]}}, True),
        ({"filesystem": {"write": ["x"]}}, False),
        ({"subprocess": True}, False),
        ({"network": ["https"]}, False),
    ],
)
def test_a_tool_that_can_change_something_says_so(
    caps: dict[str, Any], reads_only: bool, tmp_path: Path
) -> None:
    hints = catalogue(tmp_path, pack("a.b", "t:f", caps=caps)).entries["a.b"].modern["annotations"]
    assert hints["readOnlyHint"] is reads_only
    assert hints.get("destructiveHint") is (None if reads_only else True)
    assert hints["openWorldHint"] is ("network" in caps)


def test_skills_are_found_by_address_with_and_without_escapes(tmp_path: Path) -> None:
    texts = {
        f"{name}/SKILL.md": f"---\nname: {name}\ndescription: Words.\n---\nText.\n"
        for name in ("first", "second")
    }
    write(tmp_path, {**texts, "first/a b.txt": "x", "second/sub/c.txt": "y"})
    settings = Settings(isolation="best")
    found = catalogue_of(take_snapshot([str(tmp_path)], Request(env={}), settings, this_platform()))
    addresses = ["skill://first/SKILL.md", "skill://first/a%20b.txt"]
    addresses += ["skill://second/SKILL.md", "skill://second/sub/c.txt"]
    assert sorted(found.resources) == addresses
    assert found.resources["skill://first/a%20b.txt"]["uri"] == "skill://first/a%20b.txt"
    assert sorted(found.files) == [normalize_uri(each) for each in addresses]
    assert found.files["skill://first/a b.txt"].uri == "skill://first/a%20b.txt"
    assert {"skill://first", "skill://second", "skill://second/sub"} <= set(found.folders)
    assert sorted(found.skills) == ["skill://first/SKILL.md", "skill://second/SKILL.md"]
    assert found.skills["skill://first/SKILL.md"]["frontmatter"]["name"] == "first"


def test_the_last_page_has_no_next_and_cursors_survive_all_names() -> None:
    assert page(["a", "b"], None, size=2) == (["a", "b"], None)
    found, cursor = page(["a", "b", "c"], None, size=2)
    assert found == ["a", "b"]
    assert page(["a", "b", "c"], cursor, size=2) == (["c"], None)
    # In base64, these have the two signs that addresses do not allow.
    for name in ("a\u00bf\u00ff", "a>>>", "a???", "a~~~"):
        _, cursor = page([name, "\U0010ffff"], None, size=1)
        assert cursor is not None
        assert not set("+/") & set(cursor)
        assert page([name, "\U0010ffff"], cursor, size=1) == (["\U0010ffff"], None)
    with pytest.raises(BadCursor, match="YW!"):
        page(["a"], "YW!")
    good = page(["a", "b"], None, size=1)[1]
    assert good is not None
    with pytest.raises(BadCursor):
        page(["a"], f"{good[:4]}!{good[4:]}")
    with pytest.raises(BadCursor, match="YWJj"):
        page(["a"], "YWJj")
