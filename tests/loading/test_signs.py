"""The cheap look before parsing: a text that it refuses has none of the keys."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from equipage.loading.signs import may_have_key
from equipage.syntax import SyntaxProblem
from equipage.syntax.document import load_value

KEYS = ("server", "$include")

_keys = st.sampled_from(
    ["server", "serve", "$include", "a", '"server"', "'server'", '"\\x73erver"']
)
_starts = st.sampled_from(
    ["", "\ufeff", "---\n", "--- # x\n", "# server:\n", "\n \n", "%YAML 1.2\n---\n", "...\n", "- "]
)
_before = st.sampled_from(["", "!t ", "&a ", "? ", "*b ", "\t", "- "])
_values = st.sampled_from(
    [" x", " {name: x}", "\n  server: y", " |\n  server: z", " 'a\nserver: b'"]
)
_breaks = st.sampled_from(["\n", "\r\n", "\r", "\x85", "\u2028", "\n\n", "\n# x\n"])


@st.composite
def texts(draw: st.DrawFn) -> str:
    indent = " " * draw(st.integers(0, 2))
    lines = draw(st.lists(st.tuples(_before, _keys, _values), min_size=1, max_size=4))
    last = draw(_breaks)
    body = last.join(f"{indent}{before}{key}:{value}" for before, key, value in lines)
    return draw(_starts) + body + draw(st.sampled_from(["", last]))


def _root(syntax: Any, text: str) -> Any:
    try:
        return load_value(syntax, text.removeprefix("\ufeff"))
    except SyntaxProblem:
        return None


@given(texts())
@example("{server: 1}")
@example("a: 1\n? server\n: 2\n")
@example('a: 1\n"\\\n  server": 2\n')
@example("&x server: 1\n")
@example("!!map\nserver: 1\n")
def test_no_key_of_yaml_is_missed(text: str) -> None:
    value = _root("yaml", text)
    if isinstance(value, dict) and value.keys() & set(KEYS):
        assert may_have_key(KEYS, text, "yaml")


@given(st.dictionaries(st.sampled_from([*KEYS, "x", "y"]), st.integers()), st.booleans())
@example({"server": 1}, True)
def test_no_key_of_json_is_missed(value: dict[str, int], escaped: bool) -> None:
    text = json.dumps(value)
    text = text.replace("server", "\\u0073erver") if escaped else text
    assert may_have_key(KEYS, text, "json") == bool(value.keys() & set(KEYS))


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("interactions:\n- headers:\n    server:\n    - x\n", id="a key further down"),
        pytest.param("- server: 1\n", id="a list"),
        pytest.param("x: my server: y\n", id="in the middle of a line"),
    ],
)
def test_texts_that_need_no_parser(text: str) -> None:
    assert not may_have_key(KEYS, text, "yaml")
