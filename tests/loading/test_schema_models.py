"""Files with schemas of the project: what a schema may be, and what it may cost."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import equipage
from equipage.loading.schema_models import MAX_VISITS, VisitCounter, depth_of, describe_expectation
from lab import Link, check, write

SETTINGS = 'schemas = [{ files = "data/*", schema = "schema.json" }]\n'


def checked(folder: Path, schema: Any, data: Any = None, name: str = "a.json") -> list[str]:
    """The findings of a check, each as `file:code`."""
    files = {"equipage.toml": SETTINGS, "schema.json": schema, f"data/{name}": data or {}}
    report = check(write(folder, files))
    return [
        f"{(each.name or '').removeprefix(f'{folder}/')}:{each.code}" for each in report.diagnostics
    ]


@pytest.mark.parametrize(
    ("schema", "code"),
    [
        ("", "json-syntax"),
        ("{", "json-syntax"),
        ("[]", "schema-not-mapping"),
        ("5", "schema-not-mapping"),
        ("null", "schema-not-mapping"),
        ('"text"', "schema-not-mapping"),
        ({"type": 5}, "schema-keyword-type"),
        ({"properties": []}, "schema-keyword-type"),
        ({"pattern": "("}, "schema-pattern"),
        ({"$schema": "http://json-schema.org/draft-03/schema#"}, "schema-unusable"),
        ({"$ref": "https://example.org/x"}, "schema-ref-remote"),
        ({"$ref": "file:///etc/passwd"}, "schema-ref-remote"),
        ({"$ref": "/etc/passwd"}, "reference-absolute"),
        ({"$ref": "../x.json"}, "reference-escapes"),
        ({"$ref": "#/nothing"}, "schema-ref-nothing"),
        ({"$ref": "#"}, "schema-ref-loop"),
        ({"$ref": 5}, "schema-ref-value"),
        ('{"\\u0000\\u001b[31m": 1, "type": "\\u001b[31m"}', "schema-type-unknown"),
        (b"\xff\xfe\x00", "not-utf8"),
        ("[" * 5000 + "]" * 5000, "nesting-too-deep"),
    ],
)
def test_a_hostile_schema_is_a_finding_in_the_schema(
    schema: Any, code: str, tmp_path: Path
) -> None:
    found = checked(tmp_path, schema)
    assert all(each.startswith("schema.json:") for each in found), found
    assert any(each.endswith(f":{code}") for each in found), found
    assert "schema.json:schema-unusable" in found


def test_an_unknown_dialect_is_a_warning_and_the_schema_is_used(tmp_path: Path) -> None:
    found = checked(tmp_path, {"$schema": "https://example.org/own", "type": "array"})
    assert found == ["data/a.json:schema-mismatch", "schema.json:schema-dialect-unknown"]


def test_true_and_false_are_schemas(tmp_path: Path) -> None:
    assert checked(tmp_path, "true") == []
    assert checked(tmp_path, "false") == ["data/a.json:schema-mismatch"]


@pytest.mark.parametrize("schema", ["5", '{"a": 1}', "[]", '""', "[[]]", "[{}]"])
def test_settings_of_any_wrong_type_are_findings(schema: str, tmp_path: Path) -> None:
    text = f"schemas = {schema.replace(':', ' =').replace('{}', '{ }')}"
    report = check(write(tmp_path, {"equipage.toml": text, "data/a.json": {}}))
    if schema != "[]":
        assert report.errors
    assert {Path(each.name or "").name for each in report.diagnostics} <= {"equipage.toml"}
    assert not any(each.code == "internal-error" for each in report.diagnostics)


def test_a_link_to_a_schema_outside_is_not_followed(tmp_path: Path) -> None:
    write(tmp_path, {"outside.json": {"type": "array"}})
    project = write(
        tmp_path / "project",
        {"equipage.toml": SETTINGS, "schema.json": Link("../outside.json"), "data/a.json": {}},
    )
    (found,) = check(project).diagnostics
    assert (found.code, Path(found.name or "").name) == ("schema-unread", "equipage.toml")


def test_a_slow_pattern_is_reported_and_does_not_hang(tmp_path: Path) -> None:
    found = checked(tmp_path, {"items": {"pattern": r"^(?=(a+)+$)b"}}, ["a" * 5000])
    assert "schema.json:schema-pattern-slow" in found
    assert "data/a.json:schema-mismatch" in found


def test_a_schema_is_read_and_compiled_once_for_many_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from equipage.loading import schema_models as by_schema

    made: list[object] = []
    usual = by_schema.Validator
    monkeypatch.setattr(by_schema, "Validator", lambda *given: made.append(1) or usual(*given))
    data = {f"data/{number}.json": {} for number in range(40)}
    schema = {"required": ["a"]}
    report = check(write(tmp_path, {"equipage.toml": SETTINGS, "schema.json": schema, **data}))
    assert len(report.errors) == 40
    assert len(made) == 1


def test_many_mismatches_are_counted(tmp_path: Path) -> None:
    many = {f"k{number}": 1 for number in range(5000)}
    found = checked(tmp_path, {"additionalProperties": False}, many)
    assert set(found) == {"data/a.json:unknown-field"}
    assert 50 < len(found) < 200


def test_names_like_numbers_and_empty_names_have_a_place(tmp_path: Path) -> None:
    schema = {"additionalProperties": {"type": "string"}}
    files = {"equipage.toml": SETTINGS, "schema.json": schema, "data/a.json": {"01": 1, "2": 2}}
    report = check(write(tmp_path, files))
    assert [each.path for each in report.diagnostics] == ['["01"]', '["2"]']


def test_the_value_is_handed_to_programs(tmp_path: Path) -> None:
    data, schema = "[1, {a: b}]", {"type": "array"}
    write(tmp_path, {"equipage.toml": SETTINGS, "schema.json": schema, "data/a.yaml": data})
    loaded = equipage.load(tmp_path / "data" / "a.yaml")
    assert loaded.kind == "by-schema"
    assert loaded.config == [1, {"a": "b"}]
    assert loaded.to_dict() == [1, {"a": "b"}]


def _branches(count: int) -> dict[str, Any]:
    part = {"items": {"$ref": "#/$defs/level"}}
    level = {"allOf": [dict(part) for _ in range(count)]}
    return {"$ref": "#/$defs/level", "$defs": {"level": level}}


@pytest.mark.parametrize(
    ("schema", "depth", "most"),
    [
        ({"type": "object", "properties": {"a": {"items": {}}}}, 50, 1),
        (_branches(1), 100, 3),
        (_branches(2), 4, 64),
        (_branches(2), 100, MAX_VISITS + 1),
        # A tree: two fields of one mapping are two values.
        ({"properties": {"left": {"$ref": "#"}, "right": {"$ref": "#"}}}, 100, 3),
        # Anything that JSON has: a value is a list or a mapping.
        ({"anyOf": [{"items": {"$ref": "#"}}, {"additionalProperties": {"$ref": "#"}}]}, 100, 4),
    ],
)
def test_the_bound_on_visits_grows_only_where_the_work_does(
    schema: dict[str, Any], depth: int, most: int
) -> None:
    assert VisitCounter(schema).max_visits(depth) <= most


def test_doubling_is_seen_at_the_level_where_it_hurts() -> None:
    visits = VisitCounter(_branches(2))
    assert visits.max_visits(3) <= MAX_VISITS < visits.max_visits(40)
    assert depth_of([[{"a": [1]}]]) == 4
    assert depth_of(5) == 0


@pytest.mark.parametrize(
    ("kind", "details", "words"),
    [
        ("type", {"types": ["string", "null"]}, "text or null"),
        ("enum", {"options": list(range(25))}, "one of `0`, `1`, "),
        ("const", {"expected_value": "\x1b[31m"}, '`"\\u001b[31m"`'),
        ("minimum", {"limit": 5}, "at least 5"),
        ("multipleOf", {"multiple_of": 2}, "a multiple of 2"),
        ("format", {"format": "email"}, "text in the format `email`"),
        ("oneOf", {"context": [[], []]}, "only one of the forms"),
        ("contains", {}, "a list with certain entries"),
        ("whatever", {}, "another value (`whatever`)"),
    ],
)
def test_expectations_in_words(kind: str, details: dict[str, Any], words: str) -> None:
    assert describe_expectation(kind, details).startswith(words)
