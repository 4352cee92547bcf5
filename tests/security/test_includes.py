"""Includes: one finding for a cycle, work linear in what is written, a code for each limit."""

from __future__ import annotations

from pathlib import Path

import pytest

import lab
from clock import SLACK, Clock
from equipage.directives import include
from equipage.loading.pipeline import Outcome
from lab import repository

from . import world

TOOL = "tool: {name: %s, description: d, inputSchema: {type: object, default: %s}}\nresponse: {content: [{type: text, text: t}]}\n"


def load(folder: Path, main: str, env: dict[str, str] | None = None) -> tuple[Outcome, float]:
    repository(folder, {"main.yaml": main})
    options = {"library": str(folder / "library")}
    with Clock() as clock:
        outcome = lab.load(folder / "main.yaml", env=env or {}, options=options)
        loaded = outcome.loaded_or_none()
        if loaded is not None:
            assert loaded.digest
    world.no_bug(outcome.diagnostics)
    return outcome, clock.seconds


@pytest.mark.parametrize("length", [1, 2, 3, 9])
def test_a_cycle_is_told_once_and_ends(length: int, tmp_path: Path) -> None:
    ring = {f"library/{n}.yaml": f"{{$include: {(n + 1) % length}.yaml}}" for n in range(length)}
    repository(tmp_path, ring)
    outcome, seconds = load(tmp_path, "server: {name: a}\ntools: [{$include: 0.yaml}]\n")
    assert [each.code for each in outcome.errors] == ["include-cycle"]
    assert seconds < SLACK


def test_many_ways_into_one_cycle(tmp_path: Path) -> None:
    """Twenty files that all include each other have more cycles than anybody could list."""
    every = "[" + ", ".join(f"{{$include: {n}.yaml}}" for n in range(20)) + "]"
    repository(tmp_path, {f"library/{n}.yaml": every for n in range(20)})
    outcome, seconds = load(tmp_path, f"server: {{name: a}}\ntools: {every}\n")
    assert world.codes(outcome) & {"include-cycle", "include-depth"}
    assert len(outcome.diagnostics) < 1_000
    assert seconds < SLACK


@pytest.mark.parametrize("width", [2, 10, 100])
@pytest.mark.parametrize(
    "env", [{}, {"THOUGHTJACK_MAX_INCLUDE_DEPTH": "100"}], ids=["usual depth", "the most"]
)
def test_a_diamond_is_not_walked_by_every_path(
    width: int, env: dict[str, str], tmp_path: Path
) -> None:
    """Each file includes the next several times: `width` to the power of the depth, if it were
    written out."""
    depth = 9 if not env else 90
    files = {
        f"library/{n}.yaml": "{"
        + ", ".join(f"k{k}: {{$include: {n + 1}.yaml}}" for k in range(width))
        + "}\n"
        for n in range(depth)
    }
    repository(tmp_path, {**files, f"library/{depth}.yaml": "{end: 1}\n"})
    outcome, seconds = load(tmp_path, world.server_with("{$include: 0.yaml}"), env)
    if width**depth > 1_000_000:
        assert world.codes(outcome) & {"composed-too-large", "nesting-too-deep"}, (
            outcome.diagnostics[:3]
        )
    assert seconds < SLACK


def test_a_large_file_included_often(tmp_path: Path) -> None:
    """Two files of some megabytes, multiplied: a thousand million nodes, if they were written out."""
    repository(tmp_path, {"library/big.yaml": "[" + "1, " * 300_000 + "1]\n"})
    many = "[" + "{$include: big.yaml}, " * 3_000 + "1]"
    outcome, seconds = load(tmp_path, world.server_with(many))
    assert "composed-too-large" in world.codes(outcome)
    assert seconds < 2 * SLACK


def test_a_long_text_read_often(tmp_path: Path) -> None:
    repository(tmp_path, {"library/big.txt": "x" * 9_000_000})
    many = "[" + "{$file: big.txt}, " * 3_000 + "1]"
    outcome, seconds = load(tmp_path, world.server_with(many))
    assert "composed-too-large" in world.codes(outcome)
    assert seconds < SLACK


def test_a_long_text_in_a_blueprint_read_often(tmp_path: Path) -> None:
    repository(tmp_path, {"big.txt": "x" * 9_000_000})
    many = "".join(f"  k{n}: {{$file: big.txt}}\n" for n in range(1_000))
    with Clock() as clock:
        outcome = world.load(world.BLUEPRINT, tmp_path, f"{world.BLUEPRINT.text}metadata:\n{many}")
    assert "composed-too-large" in world.codes(outcome)
    assert clock.seconds < SLACK


def test_fan_out_is_linear(tmp_path: Path) -> None:
    """A thousand small files, each included ten times, load: nothing is read or parsed twice."""
    repository(tmp_path, {f"library/{n}.yaml": TOOL % (f"t{n}", "1") for n in range(900)})
    many = "\n".join(f"  - $include: {n}.yaml" for n in range(900))
    outcome, seconds = load(tmp_path, f"server: {{name: a}}\ntools:\n{many}\n")
    assert outcome.ok, outcome.diagnostics[:3]
    assert len(outcome.sources) == 901
    assert seconds < 2 * SLACK


@pytest.mark.parametrize(
    ("depth", "code"), [(9, None), (11, "include-depth"), (500, "include-depth")]
)
def test_depth_has_a_cap_and_a_name(depth: int, code: str | None, tmp_path: Path) -> None:
    files = {f"library/{n}.yaml": f"{{$include: {n + 1}.yaml}}" for n in range(depth - 1)}
    repository(tmp_path, {**files, f"library/{depth - 1}.yaml": TOOL % ("t", "1")})
    outcome, seconds = load(tmp_path, "server: {name: a}\ntools: [{$include: 0.yaml}]\n")
    assert [each.code for each in outcome.errors] == ([code] if code else [])
    assert seconds < SLACK


def test_no_variable_lifts_the_cap(tmp_path: Path) -> None:
    files = {f"library/{n}.yaml": f"{{$include: {n + 1}.yaml}}" for n in range(2_000)}
    repository(tmp_path, {**files, "library/2000.yaml": TOOL % ("t", "1")})
    env = {"THOUGHTJACK_MAX_INCLUDE_DEPTH": "100000"}
    outcome, seconds = load(tmp_path, "server: {name: a}\ntools: [{$include: 0.yaml}]\n", env)
    assert [each.code for each in outcome.errors] == ["include-depth"]
    assert "limit: 100" in outcome.errors[0].message
    assert seconds < SLACK


def test_an_override_over_an_override(tmp_path: Path) -> None:
    """Each file lays an override over the next: the work grows with the text, not with its square."""
    files = {
        f"library/{n}.yaml": f"{{$include: {n + 1}.yaml, override: {{response: {{content: [{{type: text, text: t{n}}}]}}}}}}\n"
        for n in range(8)
    }
    repository(tmp_path, {**files, "library/8.yaml": TOOL % ("t", "1")})
    outcome, seconds = load(tmp_path, "server: {name: a}\ntools: [{$include: 0.yaml}]\n")
    assert outcome.ok, outcome.diagnostics
    assert outcome.config.baseline.tools[0].response.content[0].text == "t0"
    assert seconds < SLACK


def test_overrides_that_change_each_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each file includes the next one twice and changes both of its includes: what an override
    changed is not shared, so there is a limit. Includes that are written out do not count."""
    monkeypatch.setattr(include, "MAX_CHANGED_INCLUDES", 1_000)
    both = ", override: {a: {x: 1}, b: {x: 1}}"
    files = {
        f"library/{n}.yaml": "{"
        + ", ".join(f"{key}: {{$include: {n + 1}.yaml{both}}}" for key in "ab")
        + "}\n"
        for n in range(40)
    }
    repository(tmp_path, {**files, "library/40.yaml": "{a: {}, b: {}}\n"})
    env = {"THOUGHTJACK_MAX_INCLUDE_DEPTH": "100"}
    outcome, seconds = load(tmp_path, world.server_with("{$include: 0.yaml}"), env)
    assert [each.code for each in outcome.errors] == ["composed-too-large"]
    assert seconds < SLACK
    many = ", ".join(f"k{n}: {{$include: 40.yaml}}" for n in range(2_000))
    repository(tmp_path, {"library/base.yaml": "{}\n"})
    outcome, _ = load(tmp_path, world.server_with(f"{{$include: base.yaml, override: {{{many}}}}}"))
    assert outcome.ok, outcome.diagnostics[:3]
