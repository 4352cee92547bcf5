"""The lines that go to a tool and come from it."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest

from equipage_serve.cache import key_of
from equipage_serve.framing import (
    canonical_json,
    decode_answer,
    input_line,
    is_too_deep,
    unwrap_answer,
)
from equipage_serve.outcome import Failure, sentence

GOOD = {
    "no final newline": (b'{"a":1}', {"a": 1}),
    "line feed": (b'{"a":1}\n', {"a": 1}),
    "carriage return": (b'{"a":1}\r\n', {"a": 1}),
    "blank rest": (b'\n{"a":1}\n  \n\n', {"a": 1}),
    "any JSON value": (b"[1, 2]", [1, 2]),
    "a separator that is not a line break": ('{"a":"\u2028"}'.encode(), {"a": "\u2028"}),
    "64 levels": (b"[" * 64 + b"]" * 64, None),
}
#: What a tool wrote, and what is said about it.
BAD = {
    "two lines": (b"{}\n{}\n", "has more than one line"),
    "cut": (b'{"a":', "is not JSON"),
    "empty": (b"", "is empty"),
    "blank": (b" \n", "is empty"),
    "byte order mark": (b"\xef\xbb\xbf{}", "starts with a byte order mark"),
    "not UTF-8": (b'{"a":"\xff"}', "is not UTF-8"),
    "NaN": (b'{"a":NaN}', "contains NaN, which is not JSON"),
    "infinity": (b"-Infinity", "contains Infinity, which is not JSON"),
    "a number without end": (b"1e999", "contains a number that is too large"),
    "a key twice": (b'{"a":1,"a":2}', "has a key twice"),
    "half a character": (b'"\\ud800"', "contains half a character"),
    "too deep": (b"[" * 10_000 + b"]" * 10_000, "is nested deeper than 64 levels"),
    "65 levels and more": (b"[" * 66 + b"]" * 66, "is nested deeper than 64 levels"),
    "too many digits": (b"1" * 5000, "is not JSON"),
}


@pytest.mark.parametrize("name", GOOD)
def test_one_value_on_one_line(name: str) -> None:
    data, value = GOOD[name]
    assert value is None or decode_answer(data) == value
    assert decode_answer(data) is not None


@pytest.mark.parametrize("name", BAD)
def test_anything_else_is_invalid_output(name: str) -> None:
    with pytest.raises(Failure) as raised:
        decode_answer(BAD[name][0])
    assert raised.value.code == "INVALID_OUTPUT"
    assert raised.value.message == f"the output of the tool {BAD[name][1]}"


@pytest.mark.parametrize(
    ("answer", "data"),
    [
        ({"ok": True, "data": {"x": 1}}, {"x": 1}),
        ({"ok": 3, "data": {"x": 1}}, {"ok": 3, "data": {"x": 1}}),
        ({"data": {"x": 1}}, {"data": {"x": 1}}),  # a field of the tool, not an envelope
        ({"ok": True}, {"ok": True}),
        ({"x": 1}, {"x": 1}),
        ([1], [1]),
    ],
)
def test_only_an_envelope_is_unwrapped(answer: Any, data: Any) -> None:
    assert unwrap_answer(answer) == data


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ({"ok": False, "data": {}}, "an error without a message"),
        ({"error": {"code": "E1", "message": "no such page"}}, "E1: no such page"),
        ({"error": "broken", "ok": True, "data": None}, "broken"),
    ],
)
def test_a_tool_reports_an_error(answer: Any, text: str) -> None:
    with pytest.raises(Failure, match=text):
        unwrap_answer(answer)


def test_input_is_one_ascii_line() -> None:
    assert input_line({"b": "é\n", "a": 1}) == b'{"input":{"a":1,"b":"\\u00e9\\n"}}\n'
    for value in (float("nan"), {1, 2}):
        with pytest.raises(Failure, match="not JSON"):
            input_line({"a": value})


def test_depth_is_counted_without_recursion() -> None:
    value: Any = 1
    for _ in range(100_000):
        value = [value]
    assert is_too_deep(value)
    while isinstance(value, list):  # Python would recurse to free it
        value = value.pop()
    assert not is_too_deep({"a": [[{"b": 1}]]})


# The keys that the original runtime wrote to its logs.
VECTORS = [
    (
        ("calc.double", "1.0.0", {"value": 4}),
        "9882c44947945608b8fecf0fcf4a3111ed59f42934d29dbf2cafc505aa562dd2",
        11,
    ),
    (
        ("tool.echo", "1.0.0", {"text": "héllo", "n": 1.0, "a": [3, None, True]}),
        "1ed18e5c7c98918253d55570480ae5df87ad0d69dc64af2e658d1610a71a581d",
        47,
    ),
    (
        (
            "mcp.tool:docs.load.fetch",
            "0.1.0",
            {"path": "tests/fixtures/mcp/docs/sample_article.md"},
        ),
        "990980ad52a280f10685d28d3e9460fac98e082436133960948c55ed892f6c8f",
        52,
    ),
]


@pytest.mark.parametrize(("call", "key", "size"), VECTORS)
def test_keys_and_sizes_of_the_original(call: Any, key: str, size: int) -> None:
    parts = dict(zip(("id", "version", "payload"), call, strict=True))
    assert hashlib.sha256(canonical_json(parts)).hexdigest() == key
    assert len(canonical_json(call[2])) == size


def test_a_key_tells_apart_what_differs() -> None:
    keys = {key_of("t", {"n": value}, None, "") for value in (1, 1.0, True, "1")}
    keys |= {key_of("t", {"n": 1}, "other", ""), key_of("t", {"n": 1}, None, "someone else")}
    keys |= {key_of("changed code", {"n": 1}, None, "")}
    assert len(keys) == 7
    assert key_of("t", {"a": 1, "b": 2}, None, "") == key_of("t", {"b": 2, "a": 1}, None, "")
    # The same for every version of the program, which a look into a log may count on.
    made = b'{"cacheKey":"c","payload":{"n":1},"principal":"p","tool":"t"}'
    assert key_of("t", {"n": 1}, "c", "p") == hashlib.sha256(made).hexdigest()


@pytest.mark.parametrize("value", [{1, 2}, float("nan"), {"a": float("inf")}, {"a": b"x"}])
def test_what_is_no_json_has_no_form(value: Any) -> None:
    with pytest.raises(Failure) as raised:
        canonical_json(value)
    assert (raised.value.code, raised.value.message) == (
        "INVALID_INPUT",
        "the arguments are not JSON",
    )
    assert canonical_json({"b": [1, "é"], "a": None}) == b'{"a":null,"b":[1,"\\u00e9"]}'


def test_a_sentence_holds_no_secrets_and_no_control_characters() -> None:
    text = sentence("key hunter2hunter2 and hunter2\x1b[31m\nnext", ["hunter2", "hunter2hunter2"])
    assert "hunter2" not in text
    assert "\x1b" not in text
    assert "\n" not in text
    assert len(sentence("x" * 10_000)) == 500
    assert sentence("x" * 500) == "x" * 500
    assert sentence("x" * 501) == "x" * 499 + "…"
    # A value that is part of another does not leave the rest of it, whichever is first in order.
    assert sentence("abcdef", ["cd", "abcdef", ""]) == sentence("abcdef", ["abcdef", "cd"]) == "***"
    assert sentence(" a \n b\t") == "a b"


VALUE = 'The "key" of\nthe safe is é4711'
#: What a tool says of a text, a short text, and numbers; and what is shown.
MASKED = [
    (f"see {VALUE}!", "see ***!"),
    (f"see {VALUE!r}!", "see '***'!"),
    (f"see {json.dumps(VALUE)}!", 'see "***"!'),
    (f"SEE {VALUE.upper()}!", "SEE ***!"),
    ("the key of the hotel", "the key***hotel"),  # eight letters that both have
    ("of the safe", "***"),
    ("a safe", "a safe"),
    ("a Room, rooms, mushrooms", "a ***, ***s, mush***s"),
    ("no, nobody, NO.", "***, nobody, ***."),
    ("5 of 55, 5.5 and -5", "*** of 55, ***.*** and -***"),
    ("2.50, 2.5", "2.50, ***"),
    ("true or null", "*** or null"),
]


@pytest.mark.parametrize(("text", "shown"), MASKED)
def test_a_sentence_hides_texts_pieces_of_them_and_numbers(text: str, shown: str) -> None:
    """Whatever the letters are written like; what is short only as a word."""
    assert sentence(text, [VALUE, "room", "no", "5", "2.5", "true", ""]) == shown


def test_many_and_long_texts_are_hidden() -> None:
    many = [f"{number:07}" for number in range(50_000)]
    assert sentence("row 0049999 of 0050000", many) == "row *** of 0050000"
    assert sentence("x" * 300 + "the end", ["x" * (1 << 20)]) == "***the end"
    # Cut before it is hidden, a text is still a piece of it.
    assert sentence("y" * 5000, ["y" * 5000]) == "***"


@pytest.mark.parametrize(
    ("error", "said"),
    [
        ({"code": "E1", "message": "m"}, "E1: m"),
        ({"message": "m"}, "m"),
        ({}, "an error without a message"),
        ({"other": 1}, "an error without a message"),
        ("text", "text"),
        ("", "an error without a message"),
        (5, "an error without a message"),
        (["x"], "an error without a message"),
    ],
)
def test_an_error_of_a_tool_in_its_own_words(error: Any, said: str) -> None:
    with pytest.raises(Failure) as raised:
        unwrap_answer({"ok": False, "error": error})
    assert (raised.value.code, raised.value.message) == (
        "INTERNAL_ERROR",
        f"the tool reports: {said}",
    )


def test_depth_counts_below_keys_as_in_lists() -> None:
    value: Any = 1
    for _ in range(65):
        value = {"a": value}
    assert not is_too_deep(value["a"])
    assert not is_too_deep(value)
    assert is_too_deep({"a": value})
