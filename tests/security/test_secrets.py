"""The value of an environment variable appears in no output, whatever field it lands in (design
D8)."""

from __future__ import annotations

import hashlib
import json
import pickle
from pathlib import Path

import pytest

import equipage
from equipage.render import json as json_render
from equipage.render import text as text_render

SECRET = "s3cr3t-c4n4ry"
NUMBER = "31337"
WHEN = """\
server: {name: a}
tools:
  - tool: {name: t, description: d, inputSchema: {type: object}}
    response: {match: [{when: {"%s": x}, content: [{type: text, text: hi}]}]}
"""


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("server: {name: '${S}', versoin: 1}\ntools: []", id="a good field"),
        pytest.param("server: {name: {x: '${S}'}}\ntools: []", id="of the wrong type"),
        pytest.param("server: {name: ${N}}\ntools: []", id="a number where text belongs"),
        pytest.param("server: {name: x, '${S}': 1}\ntools: []", id="an unknown field"),
        pytest.param("server: {name: x}\n${S}: 1\ntools: []", id="an unknown top-level field"),
        pytest.param("server: {name: x}\ntools: ${S}", id="where a list belongs"),
        pytest.param("server: {name: x}\ntools: [{$include: '${S}.yaml'}]", id="a path"),
        pytest.param("server: {name: x}\ntools: [{$include: '../${S}'}]", id="a refused path"),
        pytest.param("server: {name: x}\nunknown_methods: ${S}\ntools: []", id="an enum"),
        pytest.param("server: {name: x, '${S}': 1, '${S}': 2}\ntools: []", id="a duplicate key"),
        pytest.param("server: {name: x}\ntools: [\n${S}", id="broken YAML"),
        pytest.param("server: !${S} {name: x}\ntools: []", id="a tag"),
        pytest.param("server: *${S}\ntools: []", id="an alias"),
        pytest.param("server: {name: x}\ntools: []\nmetadata: ${M}", id="injected structure"),
        pytest.param(
            "server: {name: x}\ntools:\n  - tool: {name: '${S}', description: d, inputSchema: {}}\n    response: {content: [{type: text, text: t}]}\n"
            "  - tool: {name: '${S}', description: d, inputSchema: {}}\n    response: {content: [{type: text, text: t}]}",
            id="a duplicate name",
        ),
        pytest.param(
            "server: {name: x}\ntools: [{tool: {name: pre-${S}-post, description: ${S}}}]",
            id="part of a text",
        ),
    ],
)
def test_the_canary_sings_nowhere(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("main.yaml").write_text(text)
    env = {"S": SECRET, "N": NUMBER, "M": f"{{a: {SECRET}}}"}
    report = equipage.check(["main.yaml"], kind="server", env=env)
    style = text_render.Style(width=120)
    said = (
        "".join(text_render.render(report, style))
        + json_render.render(report)
        + "".join(map(str, report.diagnostics))
    )
    assert SECRET not in said
    assert NUMBER not in said
    assert report.diagnostics


def test_results_hide_values_unless_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("main.yaml").write_text("server: {name: 'a ${S} b'}\ntools: []\n")
    loaded = equipage.load("main.yaml", env={"S": SECRET})
    assert loaded.config.server.name == f"a {SECRET} b"
    assert SECRET not in json.dumps(loaded.to_dict(show_env=False))
    assert loaded.variables == ("S",)
    other = equipage.load("main.yaml", env={"S": "another"})
    assert loaded.digest == other.digest
    assert pickle.loads(pickle.dumps(loaded)).digest == loaded.digest


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param("server: {name: '$${X}'}", "server: {name: '${X}'}", id="a value"),
        pytest.param(
            "server: {name: 'a $${X} $5'}", "server: {name: 'a ${X} $5'}", id="a part of a value"
        ),
        pytest.param("server: {name: '$$$${X}'}", "server: {name: '$$${X}'}", id="behind a dollar"),
        pytest.param("server: {name: '$$$${X}'}", "server: {name: '$${X}'}", id="two texts"),
        pytest.param(WHEN % "$${X}", WHEN % "${X}", id="a key"),
    ],
)
def test_text_that_looks_like_a_variable_has_a_digest_of_its_own(one: str, other: str) -> None:
    text, variable = (equipage.loads(each, kind="server", env={"X": "v"}) for each in (one, other))
    assert text.config != variable.config
    assert text.digest != variable.digest


def test_a_template_has_the_same_digest_in_a_file_and_embedded() -> None:
    in_a_file = equipage.loads(WHEN % "$${args.q}", kind="server", env={})
    embedded = equipage.loads(WHEN % "${args.q}", kind="server", env={}, embedded=True)
    assert in_a_file.config == embedded.config
    assert in_a_file.digest == embedded.digest


def test_digests_of_texts_without_variables_stay_as_they_are() -> None:
    digest = equipage.loads("server: {name: costs $5}", kind="server", env={}).digest
    assert digest == hashlib.sha256(b'{"server":{"name":"costs $5"}}').hexdigest()


def test_a_default_spelt_out_changes_no_digest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    short = equipage.loads("server: {name: x}\ntools: []\n", kind="server")
    long = equipage.loads(
        "tools: []\nunknown_methods: ignore\nserver: {version: 0.0.0, name: x}\n", kind="server"
    )
    other = equipage.loads("server: {name: y}\ntools: []\n", kind="server")
    assert short.digest == long.digest != other.digest
