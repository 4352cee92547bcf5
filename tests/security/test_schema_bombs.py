"""Schemas made to hang a validator: expressions that backtrack, towers, loops of references."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from clock import SLACK, Clock
from equipage.loading.pipeline import Outcome

from . import world
from .world import load

#: Each is exponential, or worse than quadratic, in some engine.
PATTERNS = [
    "(a+)+$", "(a*)*$", "(a|a)*$", "(a|aa)+$", "([a-zA-Z]+)*$", "(.*a){25}", "(a?){60}a{60}", "((a{1,100}){1,100}){1,100}",
    "^(([a-z])+.)+[A-Z]([a-z])+$", "(x+x+)+y", "(?:(?:a+)+)+$", "(a{0,1000}){0,1000}", "a{1000000}", "(" * 500 + ")" * 500,
    "[" + "a-z" * 20_000 + "]", "(a|b|" * 300 + "c" + ")" * 300, "(?=(a+)+)b", "(\\w+\\s?)*$", "(.+)+\\1", "^(?!(a+)+$)",
    "a{2147483647}", "(?<x>a+)+\\k<x>", "x*" * 3_000, "(a{50}){50}{50}", "\\p{L}{1000}{1000}", "(((((((((a*)*)*)*)*)*)*)*)*)*",
]  # fmt: skip


def toolpack(schema: Any) -> str:
    return world.TOOLPACK.text.replace(
        "{type: object, properties: {text: {type: string}}}", json.dumps(schema)
    )


def timed(folder: Path, schema: Any) -> tuple[Outcome, float]:
    text = toolpack(schema)
    with Clock() as clock:
        outcome = load(world.TOOLPACK, folder, text)
    world.no_bug(outcome.diagnostics)
    return outcome, clock.seconds


@pytest.mark.parametrize("pattern", PATTERNS, ids=lambda each: each[:40])
def test_a_pattern_is_judged_and_not_tried(pattern: str, tmp_path: Path) -> None:
    for schema in (
        {"type": "string", "pattern": pattern},
        {"type": "object", "patternProperties": {pattern: {}}},
    ):
        schema |= {"default": "a" * 50_000 + "!", "examples": ["a" * 50_000 + "!"]}
        _, seconds = timed(tmp_path, schema)
        assert seconds < SLACK


@pytest.mark.parametrize("pattern", PATTERNS, ids=lambda each: each[:40])
def test_a_pattern_of_a_server(pattern: str, tmp_path: Path) -> None:
    """Expressions that match what arrives at run time are compiled, never run."""
    text = world.server_with("1") + (
        "behavior: {delivery: normal}\nphases:\n  - name: p\n    advance: {on: tools/call, match: {name: {regex: "
        f"{json.dumps(pattern.replace('$', '$$'))}}}}}}}\n"
    )
    with Clock() as clock:
        outcome = load(world.SERVER, tmp_path, text)
    world.no_bug(outcome.diagnostics)
    assert clock.seconds < SLACK


@pytest.mark.parametrize("pattern", ["(a+)+$", "(a*)*$", "(a|a)*$", "(x+x+)+y", "a{1000000}"])
def test_what_is_known_to_hang_is_told(pattern: str, tmp_path: Path) -> None:
    outcome, _ = timed(tmp_path, {"type": "string", "pattern": pattern})
    assert world.codes(outcome) & {"schema-pattern-slow", "schema-pattern"}, outcome.diagnostics


def tower(keyword: str, height: int, width: int = 1) -> Any:
    """A schema of schemas, each repeated in the next; shared, so that only writing it out is large."""
    schema: Any = {"type": "string"}
    for _ in range(height):
        schema = {keyword: [schema] * width}
    return schema


@pytest.mark.parametrize("keyword", ["allOf", "anyOf", "oneOf"])
@pytest.mark.parametrize(("height", "width"), [(60, 1), (13, 2), (5, 9), (1, 20_000)])
def test_a_tower(keyword: str, height: int, width: int, tmp_path: Path) -> None:
    _, seconds = timed(tmp_path, tower(keyword, height, width))
    assert seconds < 2 * SLACK


def test_a_tower_of_references(tmp_path: Path) -> None:
    """Forty definitions, each twice the one before: 2⁴⁰, if it were written out."""
    definitions = {f"l{n}": {"allOf": [{"$ref": f"#/$defs/l{n - 1}"}] * 2} for n in range(1, 40)}
    schema = {"$defs": {"l0": {"type": "string"}, **definitions}, "$ref": "#/$defs/l39"}
    outcome, seconds = timed(tmp_path, schema)
    assert "schema-too-large" in world.codes(outcome)
    assert seconds < SLACK


@pytest.mark.parametrize(
    ("schema", "code"),
    [
        ({"$ref": "#"}, "schema-ref-loop"),
        ({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}}, "schema-ref-loop"),
        ({"allOf": [{"$ref": "#"}]}, "schema-ref-loop"),
        ({"$ref": "a.tool.yaml#/inputSchema"}, "schema-ref-loop"),
        ({"$ref": "#/$defs/" + "a/" * 5_000}, "schema-ref-nothing"),
        ({"$ref": "#" + "%2525" * 5_000}, "schema-ref-nothing"),
        ({"type": "object", "properties": {"next": {"$ref": "#"}}}, None),
    ],
    ids=["itself", "each other", "in allOf", "through its own file", "a long pointer", "percent signs", "recursion that is fine"],
)  # fmt: skip
def test_loops(schema: Any, code: str | None, tmp_path: Path) -> None:
    outcome, seconds = timed(tmp_path, schema)
    errors = {each.code for each in outcome.errors}
    assert errors == set() if code is None else code in errors, outcome.diagnostics
    assert seconds < SLACK


def test_a_ring_of_files(tmp_path: Path) -> None:
    for number in range(200):
        (tmp_path / f"s{number}.json").write_text(
            json.dumps({"$ref": f"s{(number + 1) % 200}.json"})
        )
    outcome, seconds = timed(tmp_path, {"$ref": "s0.json"})
    assert "schema-ref-loop" in world.codes(outcome), outcome.diagnostics[:2]
    assert seconds < SLACK


def test_a_chain_of_files(tmp_path: Path) -> None:
    for number in range(1_000):
        (tmp_path / f"s{number}.json").write_text(
            json.dumps({"properties": {"a": {"$ref": f"s{number + 1}.json"}}})
        )
    (tmp_path / "s1000.json").write_text('{"type": "string"}')
    outcome, seconds = timed(tmp_path, {"$ref": "s0.json"})
    assert "schema-too-deep" in world.codes(outcome), outcome.diagnostics[:2]
    assert seconds < 2 * SLACK
