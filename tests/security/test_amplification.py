"""Aliases and merge keys cannot make much out of little; a large legal file still loads."""

from __future__ import annotations

from pathlib import Path

import pytest

from clock import SLACK, Clock
from equipage.syntax.yaml.values import MAX_ALIAS_NODES

from . import world
from .world import Sample, load


def laughs(
    width: int, levels: int, opening: str = "[", closing: str = "]", first: str = "x"
) -> str:
    """Every level repeats the one before `width` times."""
    lines = [f"l0: &l0 {first}"]
    for level in range(1, levels + 1):
        if opening == "[":
            inner = ", ".join([f"*l{level - 1}"] * width)
        else:
            inner = ", ".join(f"k{number}: *l{level - 1}" for number in range(width))
        lines.append(f"l{level}: &l{level} {opening}{inner}{closing}")
    return "\n".join(lines) + "\n"


BOMBS = {
    "lists": laughs(9, 9),
    "mappings": laughs(9, 9, "{", "}"),
    "two at a time": laughs(2, 40),
    "a wide base": "a: &a [" + "x, " * 5_000 + "x]\nb: [" + "*a, " * 5_000 + "*a]\n",
    "a long text": f"a: &a {'x' * 1_000_000}\nb: [" + "*a, " * 100_000 + "*a]\n",
    "a long text in levels": laughs(9, 5, first="x" * 100_000),
    "as keys": "a: &a {x: ["
    + "y, " * 3_000
    + "y]}\nb:\n"
    + "".join("  - {? *a : 1}\n" for _ in range(3_000)),
    "an anchor on a key": "&a aaaaaaaa: 1\nb: [" + "*a, " * 300_000 + "*a]\n",
}


@pytest.mark.parametrize("bomb", BOMBS)
@pytest.mark.parametrize(
    "sample", [world.SERVER, world.TOOLPACK, world.BLUEPRINT], ids=lambda each: each.kind
)
def test_a_bomb_is_a_finding(bomb: str, sample: Sample, tmp_path: Path) -> None:
    with Clock() as clock:
        codes = world.codes(load(sample, tmp_path, BOMBS[bomb]))
    assert "alias-bomb" in codes
    assert clock.seconds < SLACK


MERGES = {
    "a chain": "l0: &l0 {" + ", ".join(f"k{n}: 1" for n in range(500)) + "}\n"
    + "".join(f"l{n}: &l{n} {{<<: *l{n - 1}, own{n}: 1}}\n" for n in range(1, 2_000)),
    "a list of sources": "a: &a {x: 1, y: 2}\nb:\n" + "".join(f"  - {{<<: [{'*a, ' * 999}*a]}}\n" for _ in range(200)),
    "doubling": "l0: &l0 {a: 1}\n"
    + "".join(f"l{n}: &l{n} {{a: {{<<: *l{n - 1}}}, b: {{<<: *l{n - 1}}}}}\n" for n in range(1, 40)),
}  # fmt: skip


@pytest.mark.parametrize("merge", MERGES)
def test_merge_keys_are_bounded(merge: str, tmp_path: Path) -> None:
    with Clock() as clock:
        codes = world.codes(load(world.TOOLPACK, tmp_path, MERGES[merge]))
    assert "alias-bomb" in codes
    assert clock.seconds < SLACK


@pytest.mark.parametrize(
    "text",
    ["a: &a [*a]", "a: &a {b: {c: *a}}", "&a [1, *a]", "a: &a\n  - &b [*a, *b]", "&a {*a : 1}"],
)
@pytest.mark.parametrize("sample", world.SAMPLES[:3], ids=lambda each: each.kind)
def test_nothing_contains_itself(text: str, sample: Sample, tmp_path: Path) -> None:
    outcome = load(sample, tmp_path, text)
    assert {"recursive-alias", "undefined-alias"} & world.codes(outcome)


def test_what_aliases_add_is_counted_and_not_what_is_written(tmp_path: Path) -> None:
    """Ten megabytes of plain text are legal: only growth is bounded."""
    entry = "\n          - {description: 'a text of some length, that says what this thing is about', count: 12345}"
    text = world.server_with(entry * 95_000)
    assert 9_500_000 < len(text) < 10_485_760
    assert len(world.free_form(load(world.SERVER, tmp_path, text))) == 95_000


def test_ordinary_reuse_is_fine(tmp_path: Path) -> None:
    base = "&base {timeout: 5, retries: 3, prompt: '" + "words " * 200 + "'}"
    text = world.server_with(f"{{base: {base}, uses: [{'*base, ' * 1_000}*base]}}")
    assert len(world.free_form(load(world.SERVER, tmp_path, text))["uses"]) == 1_001


def test_the_bound_is_what_the_documentation_says() -> None:
    assert MAX_ALIAS_NODES == 250_000
