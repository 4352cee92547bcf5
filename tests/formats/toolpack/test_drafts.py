"""Schemas of one draft inside schemas of another: both keep their meaning."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from equipage.core.frozen import unfreeze
from equipage.formats.toolpack.loader import ToolpackLoader, ToolpackValidationError
from formats.toolpack.making import pack
from lab import repository

SEVEN = "http://json-schema.org/draft-07/schema#"
FOUR = "http://json-schema.org/draft-04/schema#"
NEW = "https://json-schema.org/draft/2020-12/schema"


def resolved(folder: Path, schema: Any, files: dict[str, Any]) -> Any:
    loader = ToolpackLoader()
    loader.load_dir(repository(folder, {"a.tool.yaml": pack(inputSchema=schema), **files}))
    return unfreeze(loader.list()[0].input_schema)


DEPENDENT = {"$schema": SEVEN, "type": "object", "dependencies": {"card": ["cvv"]}}
TUPLE = {"$schema": NEW, "prefixItems": [{"type": "string"}]}
TREE = {
    "$schema": SEVEN,
    "$id": "https://example.org/tree",
    "properties": {"kids": {"items": {"$ref": "#"}}},
    "dependencies": {"a": ["b"]},
}


@pytest.mark.requirement("TP-17", "TP-29")
@pytest.mark.parametrize(
    ("schema", "file", "good", "bad"),
    [
        ({"properties": {"x": {"$ref": "s.json"}}}, DEPENDENT, {"card": 1, "cvv": 2}, {"card": 1}),
        ({"properties": {"x": {"$ref": "s.json#/definitions/d"}}},
         {"$schema": SEVEN, "definitions": {"d": {"dependencies": {"card": ["cvv"]}}}},
         {"card": 1, "cvv": 2}, {"card": 1}),
        ({"properties": {"x": {"$ref": "s.json", "minProperties": 1}}}, DEPENDENT,
         {"card": 1, "cvv": 2}, {"card": 1}),
        ({"$schema": SEVEN, "properties": {"x": {"$ref": "s.json"}}}, TUPLE, ["a"], [1]),
        ({"properties": {"x": {"$ref": "s.json"}}},
         {"$schema": FOUR, "minimum": 1, "exclusiveMinimum": True}, 2, 1),
        ({"properties": {"x": {"$ref": "s.json"}, "y": {"$ref": "s.json"}}}, TREE,
         {"kids": [{"a": 1, "b": 2}]}, {"kids": [{"kids": [{"a": 1}]}]}),
        ({"properties": {"x": {"$schema": SEVEN, "dependencies": {"card": ["cvv"]}}}}, {},
         {"card": 1, "cvv": 2}, {"card": 1}),
    ],
)  # fmt: skip
def test_a_schema_keeps_its_draft_inside_another(
    tmp_path: Path, schema: Any, file: Any, good: Any, bad: Any
) -> None:
    inlined = resolved(tmp_path, schema, {"s.json": file})
    validator = jsonschema_rs.validator_for(inlined, offline=True)
    assert validator.is_valid({"x": good})
    assert not validator.is_valid({"x": bad})


def test_one_draft_needs_no_address(tmp_path: Path) -> None:
    files = {"s.json": DEPENDENT, "t.json": {"$schema": SEVEN, "$ref": "s.json"}}
    schema = {"$schema": SEVEN, "properties": {"x": {"$ref": "t.json"}}}
    assert resolved(tmp_path, schema, files)["properties"]["x"] == DEPENDENT


def test_a_way_through_another_draft_and_back_is_not_embedded(tmp_path: Path) -> None:
    files = {"s.json": {"$schema": SEVEN, "$ref": "t.json"}, "t.json": TUPLE}
    inlined = resolved(tmp_path, {"properties": {"x": {"$ref": "s.json"}}}, files)
    assert inlined["properties"]["x"] == TUPLE


def test_recursion_through_two_drafts_is_an_error(tmp_path: Path) -> None:
    one = {"$schema": SEVEN, "properties": {"x": {"$ref": "t.json"}}}
    two = {"$schema": NEW, "properties": {"y": {"$ref": "s.json"}}}
    with pytest.raises(ToolpackValidationError) as caught:
        resolved(tmp_path, {"$ref": "s.json"}, {"s.json": one, "t.json": two})
    assert {each.code for each in caught.value.errors} == {"schema-drafts-mixed"}


def test_a_draft_unknown_in_a_referenced_file_is_reported(tmp_path: Path) -> None:
    loader, schema = ToolpackLoader(), {"properties": {"x": {"$ref": "s.json"}}}
    files = {"a.tool.yaml": pack(inputSchema=schema), "s.json": {"$schema": NEW + "s"}}
    loader.load_dir(repository(tmp_path, files))
    assert [each.code for each in loader.warnings] == ["schema-dialect-unknown"]


@pytest.mark.requirement("TP-18")
def test_plain_size_is_not_limited(tmp_path: Path) -> None:
    large = {"properties": {f"p{number}": {"type": "string"} for number in range(60_000)}}
    files: dict[str, Any] = {f"c{n}.json": {"$ref": f"c{n + 1}.json"} for n in range(300)}
    schema = {"properties": {"x": {"$ref": "large.json"}, "y": {"$ref": "c0.json"}}}
    inlined = resolved(tmp_path, schema, {**files, "c300.json": {}, "large.json": large})
    assert inlined == {"properties": {"x": large, "y": {}}}
