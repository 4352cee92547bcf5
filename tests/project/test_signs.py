"""The cheap look before parsing: a text that it refuses has none of the keys."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from equipage.project import signs
from equipage.project.recognise import needs_parsing, recognise_content
from equipage.project.registry import BUILT_IN, UNREAD_BY_CONTENT
from equipage.project.signs import (
    SIGN_TYPES,
    json_members,
    keys_of_broken_text,
    may_have_broken_keys,
    may_have_key,
    skim_json,
)
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
        assert may_have_key(KEYS, text.encode())
        if text.isascii():
            assert may_have_key(KEYS, text.encode() + b"# \xff\xe2\n")


@given(texts(), st.sampled_from([KEYS, ("a",), ("flow",)]))
@example("# x\n\na: 1\n*b : 2\n", KEYS)
@example('a: 1\n"s\\x65rver": 2\n', KEYS)
@example("a: 1\n'server': 2\n", KEYS)
@example("? a\n", KEYS)
@example("", KEYS)
def test_a_look_at_each_line_finds_what_the_expressions_do(
    text: str, keys: tuple[str, ...]
) -> None:
    data = text.encode().replace(b"\r", b"\n")
    found = signs._lines_have_key(keys, data)
    if found is not None:
        assert found is (next(signs._key_offsets(keys, data), None) is not None)
    # A longer text is looked at by the expressions alone.
    longer = text.encode() + b"\n#" + b"x" * signs._SHORT_TEXT_BYTES
    assert may_have_key(keys, text.encode()) is may_have_key(keys, longer)


_fillers = st.integers(0, 3 * signs._SEARCH_WINDOW).map(lambda length: "x" * length)


@given(
    st.lists(_fillers, min_size=1, max_size=3),
    st.sampled_from(["server", '"server"', "'$include'", '"\\x73erver"', "? server\n"]),
    st.integers(-24, 24),
    st.integers(0, 2),
)
def test_no_key_is_missed_between_long_lines(
    lines: list[str], key: str, off: int, indent: int
) -> None:
    """Long lines are skipped, and what begins right where a search ends is still found."""
    margin = " " * indent
    before = "".join(f"{margin}k{number}: {text}\n" for number, text in enumerate(lines))
    # The first search begins at the first line break.
    missing = signs._SEARCH_WINDOW + before.index("\n") + off - len(before)
    before += f"{margin}f: {'x' * max(missing - len(margin) - 4, 0)}\n"
    assert not may_have_key(KEYS, before.encode())
    assert may_have_key(KEYS, f"{before}{margin}{key}: 1\n".encode())


# In JSON the look also sees the types of what it finds.

_ENTRIES: list[Any] = [
    {"registryType": "npm"},
    {"type": "sse", "url": "u"},
    {"key": "k", "requirement": "r"},
    {"type": "t", "name": "n"},
    {"message": "m"},
    "text",
]
_SHAPES: list[Any] = [
    *([each] for each in _ENTRIES),
    *({"name": each} for each in ("x", 1, None, {"message": "m"})),
    {"kind": "seq"},
    {"entry_point": "e"},
    {"a": {"model": "m", "instruction": "i"}},
    {},
    [],
    "a.yaml",
    "1",
    1,
    None,
    True,
]
_ROWS = [each for each in (*BUILT_IN, *UNREAD_BY_CONTENT) if each.by_content]
_ROOT_KEYS = sorted({key for each in _ROWS for key in each.keys} | SIGN_TYPES.keys() | {"x", "y"})
_roots = st.dictionaries(st.sampled_from(_ROOT_KEYS), st.sampled_from(_SHAPES), max_size=6)
_ROW_KEYS = tuple(sorted({key for each in _ROWS for key in each.keys}))


def _kinds(value: Any) -> tuple[list[str], list[str]]:
    """The kinds that a value surely is of, and those it may be of in a walk."""
    surely = [each.kind for each in _ROWS if each.by_content and each.by_content(value)]
    maybe = [each.kind for each in _ROWS if each.possibly and each.possibly(value, named=False)]
    return surely, maybe


def test_every_key_of_a_row_has_the_type_that_its_sign_needs() -> None:
    assert {key for each in _ROWS for key in each.keys} <= {
        key for key, type_ in SIGN_TYPES.items() if type_ is not None
    }


@given(_roots)
@example({"server": {"name": "x"}, "tools": []})
@example({"packages": {"": {}}, "name": "x"})
def test_the_signs_see_in_a_skimmed_text_what_they_see_in_the_whole(value: dict[str, Any]) -> None:
    text = json.dumps(value)
    whole, skimmed, outlined = (
        _kinds(each)
        for each in (value, skim_json(text.encode(), _ROW_KEYS), json_members(text, ()))
    )
    assert outlined == whole
    assert skimmed[0] == whole[0]
    assert set(skimmed[1]) >= set(whole[1])  # what it does not see may speak against a kind


@given(
    _roots,
    st.sampled_from([None, 2]),
    st.sampled_from(["", "\ufeff", "// x\n", "[", " "]),
    st.sampled_from(["", "}", ", ${X:-}", '\n# ${X:-"server"}']),
    st.sampled_from(["utf-8", "utf-8", "utf-16", "utf-16-le", "utf-16-be"]),
    st.booleans(),
    st.integers(0, 400),
)
@example({"server": {"name": "x"}, "tools": []}, None, "", "", "utf-8", True, 400)
@example({"server": {"name": "x"}, "tools": []}, None, "", "", "utf-16", False, 400)
def test_no_text_is_left_out_that_the_parser_would_take(
    value: dict[str, Any],
    indent: int | None,
    before: str,
    after: str,
    encoding: str,
    escaped: bool,
    cut: int,
) -> None:
    text = json.dumps(value, indent=indent)
    text = text.replace("server", "\\u0073erver") if escaped else text
    text = (before + text + after)[:cut]
    if recognise_content(text, "json") != (None, None):
        assert needs_parsing(text.encode(encoding), "json")
    if recognise_content(text, "yaml") != (None, None):
        assert needs_parsing(text.encode(encoding), "yaml")


_yaml_values = st.sampled_from(
    [
        *(f" {json.dumps(each)}" for each in _SHAPES),
        *(
            f" # x\n{space}{json.dumps(each)}"
            for each in _SHAPES
            for space in (" ", "\n  # y\n    ")
        ),
        "\n- registryType: npm\n- x",
        "\n  - type: sse\n    url: u",
        "\n# x\n\n  -\n    key: k\n    requirement: r",
        "\n  name: x",
        "\n  a: {model: m, instruction: i}",
        " &a\n  name: x",
        " !t {name: x}",
        " *a",
        " |\n  text",
        " plain\n  text",
        "",
    ]
)


@st.composite
def entries(draw: st.DrawFn) -> str:
    """The root of a YAML text that may be of a kind, or nearly."""
    keys = st.sampled_from([*_ROOT_KEYS, '"server"', "'packages'", "servers", "agents ", "name"])
    lines = draw(st.lists(st.tuples(_before, keys, _yaml_values), min_size=1, max_size=5))
    last = draw(_breaks)
    text = "\n".join(f"{before}{key}:{value}" for before, key, value in lines)
    return draw(_starts) + text.replace("\n", last) + draw(st.sampled_from(["", last, " [\n"]))


@given(entries())
@example("name: x\npackages:\n# y\n\n- registryType: npm\n")
@example("servers: []\nx:\n  server: {\n")
@example("servers: []\nx: [\n  flow:\n")
def test_no_yaml_is_left_out_that_the_parser_would_take(text: str) -> None:
    if recognise_content(text, "yaml") != (None, None):
        assert needs_parsing(text.encode(), "yaml")


@given(
    st.lists(
        st.sampled_from(
            [
                *("server", "flow", ":", " :", '"', "'", "{", " ", "\t", "\n", "\r\n", "x", "-"),
                *("/", "\ufeff", "\xa0", "\u3000", "\x0b", "\x1c", "\x85", "\x7f", "\x00"),
            ]
        ),
        max_size=12,
    ).map("".join)
)
@example("a\n\u3000server:")
@example("flow:")
def test_no_key_of_a_broken_text_is_missed(text: str) -> None:
    if keys_of_broken_text(text, "yaml"):
        assert may_have_broken_keys(text.encode())


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("packages:\n  http-server:\n    x: y\n", id="the end of a longer name"),
        pytest.param("packages:\n  'a/server': x\n", id="a part of a path"),
        pytest.param("packages:\n  servers: x\n", id="the start of a longer name"),
    ],
)
def test_broken_text_that_needs_no_decoding(text: str) -> None:
    assert not may_have_broken_keys(text.encode())


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("lockfileVersion: 9\npackages:\n\n  a@1:\n    x: y\n", id="packages of pnpm"),
        pytest.param("packages:\n  - apps/*\n", id="a list of packages without a name"),
        pytest.param("servers:\n  - url: x\npaths: {}\n", id="a longer name"),
        pytest.param("agents: 5\nmodel: x\n", id="a number"),
        pytest.param("title: x\nparameters:\n  a: b\n", id="a mapping in place of a list"),
    ],
)
def test_yaml_that_needs_no_parser(text: str) -> None:
    assert not needs_parsing(text.encode(), "yaml")


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(
            '{"server": {"message": "Server"}, "tools": {"message": "Tools"}}', id="words"
        ),
        pytest.param('{"name": "x", "packages": {"": {"name": "x"}}}', id="packages of npm"),
        pytest.param('{"x": {"server": {"name": "x"}, "tools": []}}', id="a key further down"),
        pytest.param('{"manifest_version": 3, "name": "x"}', id="the manifest of a browser"),
        pytest.param('{"x": "$1 and $2"}', id="dollars"),
        pytest.param("[1]", id="a list"),
    ],
)
def test_json_that_needs_no_parser(text: str) -> None:
    assert not needs_parsing(text.encode(), "json")


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b'{"server": {"name": "\xff"}, "tools": []}', id="bytes that are not text"),
        pytest.param(b'{"server": {"name": "\\ud800"}, "tools": []}', id="half a character"),
        pytest.param(b'{"server": {"name": "x", "tools": []', id="text that is cut off"),
    ],
)
def test_what_cannot_be_skimmed_is_left_to_the_parser(data: bytes) -> None:
    assert needs_parsing(data, "json")


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("interactions:\n- headers:\n    server:\n    - x\n", id="a key further down"),
        pytest.param("- server: 1\n", id="a list"),
        pytest.param("x: my server: y\n", id="in the middle of a line"),
    ],
)
def test_texts_that_need_no_parser(text: str) -> None:
    assert not may_have_key(KEYS, text.encode())
