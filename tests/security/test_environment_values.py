"""Values of variables: a change of structure is reported, no value is scanned or shown."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import equipage
from clock import SLACK, Clock
from equipage.loading.pipeline import Outcome
from equipage.render import json as json_render
from equipage.render import text as text_render
from equipage.syntax.variables import substitute

from . import world
from .world import load

MARK = "s3cr3tmark"

#: What a value may hold; each contains the mark.
VALUES = {
    "a word": f"{MARK}",
    "a line break": f"{MARK}\nevil: 1",
    "a carriage return": f"{MARK}\revil: 1",
    "a colon": f"{MARK}: 1",
    "a colon at the end": f"{MARK}:",
    "a comment": f"{MARK} # rest",
    "a leading comment": f"# {MARK}",
    "single quotes": f"{MARK}'s",
    "double quotes": f'{MARK}"s',
    "a closing quote": f"{MARK}', evil: '1",
    "a closing double quote": f'{MARK}", evil: "1',
    "a closing brace": f"{MARK}}}",
    "a closing bracket": f"{MARK}]",
    "a comma": f"{MARK}, evil: 1",
    "a mapping": f"{{evil: {MARK}}}",
    "a list": f"[{MARK}, evil]",
    "an anchor": f"&{MARK} evil",
    "an alias": f"*{MARK}",
    "a tag": f"!!{MARK} evil",
    "a percent sign": f"%{MARK}",
    "an at sign": f"@{MARK}",
    "a backquote": f"`{MARK}`",
    "a literal block": f"|\n  {MARK}",
    "a folded block": f">\n  {MARK}",
    "a dash": f"- {MARK}",
    "a question mark": f"? {MARK}",
    "a document start": f"{MARK}\n---\nevil: 1",
    "a tab": f"{MARK}\tevil",
    "a null": f"{MARK}\0",
    "an escape": f"\x1b[2J{MARK}",
    "a next line": f"{MARK}\x85evil: 1",
    "a line separator": f"{MARK}\u2028evil: 1",
    "another variable": f"${{OTHER}}{MARK}",
    "an open variable": f"{MARK}${{",
    "a default": f"${{NOPE:-{MARK}}}",
    "an escaped dollar": f"$${{OTHER}}{MARK}",
    "spaces around": f"  {MARK}  ",
    "an include": f"{{$include: {MARK}.yaml}}",
    "a number": "9" * 30 + "77317",
    "a long number": "9" * 6_000,
    "a directive": f"$include: {MARK}",
    "a merge key": f"<<: {{{MARK}: 1}}",
    "a byte order mark": f"\ufeff{MARK}",
    "bidirectional": f"\u202e{MARK}\u202c",
    "a backslash": f"{MARK}\\",
    "an escape sequence": f"\\x41{MARK}\\n",
    "a lone surrogate": f"{MARK}\udc80",
}

#: The places of a variable.
PLACES = {
    "plain": "server: {name: a}\ntools: []\nmetadata:\n  description: ${V}\n",
    "single quotes": "server: {name: '${V}'}\ntools: []\n",
    "double quotes": 'server: {name: "${V}"}\ntools: []\n',
    "inside text": "server: {name: 'a ${V} b'}\ntools: []\n",
    "flow": "server: {name: ${V}, version: 1.0.0}\ntools: []\n",
    "a key": "server: {name: a, ${V}: 1}\ntools: []\n",
    "a block": "server:\n  name: |\n    a\n    ${V}\n    b\ntools: []\n",
    "a comment": "# ${V}\nserver: {name: a}\ntools: []\n",
    "a comment behind": "server: {name: a} # ${V}\ntools: []\n",
    "a path": "server: {name: a}\ntools: [{$include: '${V}'}]\n",
    "a parent path": "server: {name: a}\ntools: [{$include: '../${V}'}]\n",
    "a file": "server: {name: a}\ntools: [{$file: ${V}}]\n",
    "the whole document": "${V}\n",
    "an enum": "server: {name: a}\nunknown_methods: ${V}\ntools: []\n",
    "twice": "server: {name: '${V}', '${V}': '${V}'}\ntools: []\n",
    "a default that is not used": "server: {name: '${V:-other}'}\ntools: []\n",
    "required": "server: {name: '${V:?why}'}\ntools: []\n",
    "a tool name": "server: {name: a}\ntools: [{tool: {name: '${V}', description: d, inputSchema: {}}}, {tool: {name: '${V}'}}]\n",
    "a pattern": "server: {name: a}\ntools: [{tool: {name: t, description: d, inputSchema: {type: object, pattern: '(${V}'}}, response: {content: []}}]\n",
    "a duration": "server: {name: a}\nphases: [{name: '${V}', advance: {after: '${V}'}}]\nbaseline: {tools: []}\n",
    "a type": "server: {name: a}\ntools: [{tool: {name: t, description: d, inputSchema: {type: '${V}', properties: '${V}'}}}]\n",
}  # fmt: skip


def everything_said(outcome: Outcome) -> str:
    """Whatever anybody could print about a load, but for what `--show-env` asks for."""
    report = equipage.Report((), outcome.diagnostics)
    style = text_render.Style(width=200)
    said = "".join(text_render.render(report, style)) + json_render.render(report)
    said += "".join(map(str, outcome.diagnostics)) + repr(
        [each.help for each in outcome.diagnostics]
    )
    loaded = outcome.loaded_or_none()
    if loaded is not None:
        said += json.dumps(loaded.to_dict(show_env=False)) + loaded.digest + repr(loaded)
    return said


@pytest.mark.parametrize("place", PLACES)
def test_no_value_is_shown_and_no_change_is_silent(place: str, tmp_path: Path) -> None:
    silent, shown = [], []
    quiet = load(world.SERVER, tmp_path, PLACES[place], env={"V": "word"})
    for name, value in VALUES.items():
        outcome = load(
            world.SERVER, tmp_path, PLACES[place], env={"V": value, "OTHER": "rescanned"}
        )
        world.no_bug(outcome.diagnostics)
        said = everything_said(outcome)
        if MARK in said or "77317" in said or "rescanned" in said:
            shown.append(
                (name, [each for each in said.splitlines() if MARK in each or "77317" in each][:2])
            )
        if _structure(outcome) != _structure(quiet) and not outcome.diagnostics:
            silent.append(name)
    assert shown == []
    assert silent == []


def _structure(outcome: Outcome) -> object:
    """The keys of what was loaded, without the values."""

    def keys(value: object) -> object:
        if isinstance(value, dict):
            return {"key" if key == "word" else key: keys(each) for key, each in value.items()}
        return [keys(each) for each in value] if isinstance(value, list) else None

    loaded = outcome.loaded_or_none()
    return None if loaded is None else keys(loaded.to_dict())


@pytest.mark.parametrize(
    ("place", "value"),
    [
        ("plain", "x\n  evil: 1"),
        ("plain", "x # rest"),
        ("plain", "{evil: 1}"),
        ("plain", "[1, 2]"),
        ("single quotes", "x', version: '9"),
        ("double quotes", 'x", version: "9'),
        ("flow", "x, title: 9"),
        ("a comment", "x\nserver: {name: evil}"),
        ("a comment behind", "x\nunknown_methods: drop"),
        ("the whole document", "server: {name: evil}"),
    ],
)
def test_a_change_of_structure_is_told(place: str, value: str, tmp_path: Path) -> None:
    outcome = load(world.SERVER, tmp_path, PLACES[place], env={"V": value})
    assert "env-changes-structure" in world.codes(outcome), outcome.diagnostics


@pytest.mark.parametrize(
    "value", ["it's", 'say "x"', "a: b", "# x", "${X}", "a\\b", "{x}", "[y]", "é\u0301", "日本"]
)
def test_what_stays_inside_its_scalar_is_fine(value: str, tmp_path: Path) -> None:
    """In a literal block nothing but a line break ends the text."""
    outcome = load(world.SERVER, tmp_path, PLACES["a block"], env={"V": value})
    assert outcome.config.server.name == f"a\n{value}\nb\n"
    assert "env-changes-structure" not in world.codes(outcome)


def test_nothing_is_scanned_twice() -> None:
    replaced = substitute("a ${A} $${B} ${C:-${A}} z", {"A": "${B} $$ ${A}", "B": "no"})
    assert replaced.text == "a ${B} $$ ${A} ${B} ${A} z"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("${" + "x" * 500_000, id="a name without end"),
        pytest.param("${a:-" * 100_000, id="defaults in defaults"),
        pytest.param("${a:-" * 100_000 + "}" * 100_000, id="balanced"),
        pytest.param("$" * 200_000, id="dollars"),
        pytest.param("${A}" * 30_000, id="many variables"),
        pytest.param("${A:-{}" * 30_000 + "}" * 30_000, id="braces"),
        pytest.param("${ " * 100_000 + "}", id="openings in one name"),
        pytest.param("[${S}, " * 30_000, id="a value at every depth"),
    ],
)
def test_substitution_is_linear(text: str, tmp_path: Path) -> None:
    with Clock() as clock:
        outcome = load(world.SERVER, tmp_path, text, env={"A": "1", "S": "a b"})
    assert not outcome.ok
    assert clock.seconds < SLACK / 2


def test_many_variables_and_many_findings(tmp_path: Path) -> None:
    """Every value is looked for in every sentence; that must not become a product."""
    count = 3_000
    text = "server: {name: a}\ntools: []\n" + "".join(
        f"unknown{n}: ${{V{n}}}\n" for n in range(count)
    )
    with Clock() as clock:
        outcome = load(
            world.SERVER, tmp_path, text, env={f"V{n}": f"value-{n}" for n in range(count)}
        )
    unknown = [each for each in outcome.diagnostics if each.code == "unknown-field"]
    assert any(each.message.startswith("2,900 more findings") for each in unknown)
    assert clock.seconds < 2 * SLACK
