"""JSON: values, what is odd about a text, errors in words, and places."""

from __future__ import annotations

import json
import math
import threading

import pytest
from hypothesis import given

from clock import SLACK, Clock, promised
from equipage.core.frozen import MAX_DEPTH
from equipage.syntax import Irregularity, Place, SyntaxProblem
from equipage.syntax.json import load, locate
from syntax.documents import LAW, damaged, json_documents, paths_of


def problems(text: str) -> tuple[Irregularity, ...]:
    with pytest.raises(SyntaxProblem) as caught:
        load(text)
    return caught.value.problems


def marked(text: str) -> tuple[str, tuple[int, int]]:
    """The text without its `«` and `»`, and what is between them."""
    start, end = text.index("«"), text.index("»") - 1
    return text.replace("«", "").replace("»", ""), (start, end)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        pytest.param(
            ' {"a": [1, 2.5, true, null, "x"]}\r\n',
            {"a": [1, 2.5, True, None, "x"]},
            id="all types",
        ),
        pytest.param(
            "12345678901234567890123", 12345678901234567890123, id="integers keep any size"
        ),
        pytest.param(
            r'"\ud83d\ude00 \\ud800"', "😀 \\ud800", id="a surrogate pair is one character"
        ),
        pytest.param('"[[[[" ', "[[[[", id="brackets in strings are text"),
    ],
)
def test_values(text: str, value: object) -> None:
    parsed = load(text)
    assert parsed.value == value
    assert parsed.irregularities == ()


def test_the_last_of_equal_keys_wins_and_each_repeat_is_reported() -> None:
    parsed = load('{"a": 1, "b": {"c": 1, "\\u0063": 2}, "a": 3}')
    assert parsed.value == {"a": 3, "b": {"c": 2}}
    assert parsed.irregularities == (
        Irregularity(
            "duplicate-key", (23, 31), ("b", "c"), {"key": "c"}, (("first here", (15, 18)),)
        ),
        Irregularity("duplicate-key", (37, 40), ("a",), {"key": "a"}, (("first here", (1, 4)),)),
    )


@pytest.mark.parametrize(
    "written", ["NaN", "Infinity", "-Infinity", "1e999", "-1E+400", "9" * 400 + ".0"]
)
def test_numbers_that_are_not_finite(written: str) -> None:
    parsed = load(f'[0, {{"a": {written}}}]')
    assert not math.isfinite(parsed.value[1]["a"])
    assert parsed.irregularities == (
        Irregularity("not-finite", (10, 10 + len(written)), (1, "a"), {"found": written}),
    )


def test_an_integer_too_long_to_convert_stays_text() -> None:
    digits = "-" + "7" * 5000
    parsed = load(f"[{digits}]")
    assert parsed.value == [digits]
    assert parsed.irregularities == (
        Irregularity("number-too-long", (1, 5002), (0,), {"digits": 5000}),
    )


@pytest.mark.parametrize(
    ("text", "found"),
    [
        pytest.param(r'["«\ud800»"]', r"\ud800", id="a high half"),
        pytest.param(r'["x«\uDFFF»y"]', r"\uDFFF", id="a low half"),
        pytest.param(r'{"«\ud800»": 1}', r"\ud800", id="in a key"),
        pytest.param(r'["\ud83d\ude00«\ude00»"]', r"\ude00", id="after a pair"),
        pytest.param('["«\ud900»"]', r"\ud900", id="unescaped"),
    ],
)
def test_half_a_surrogate_pair_is_refused(text: str, found: str) -> None:
    text, place = marked(text)
    assert problems(text) == (Irregularity("lone-surrogate", place, values={"found": found}),)


@pytest.mark.parametrize(
    ("text", "problem", "hint"),
    [
        ("«»", "the file is empty", "an empty object is written `{}`"),
        ("«» \r\n\t", "the file is empty", "an empty object is written `{}`"),
        ("[1«,»]", "there is a `,` before the closing bracket", "remove the last `,`"),
        ('{"a": 1«,» \n}', "there is a `,` before the closing bracket", "remove the last `,`"),
        ("{«'»a': 1}", "JSON strings use double quotes", 'write `"` instead'),
        ('{"a": «“x”»}', "JSON strings use double quotes", 'write `"` instead'),
        ('{"a": 1 «// why»\n}', "JSON has no comments", "remove the comment"),
        ("«# why»\n{}", "JSON has no comments", "remove the comment"),
        ("[«/* why\nnot */» 1]", "JSON has no comments", "remove the comment"),
        ("{«name»: 1}", "the key `name` is not in double quotes", 'write `"name"`'),
        ('{"a": «yes»}', "`yes` is not in double quotes", 'write `"yes"`, if it is meant as text'),
        ("[«True»]", "`True` is not a JSON value", "write `true`"),
        ("[«None»]", "`None` is not a JSON value", "write `null`"),
        ('{"a": 1\n «"»b": 2}', "a `,` is missing before this", "separate entries with `,`"),
        ("[1 «2»]", "a `,` is missing before this", "separate entries with `,`"),
        ('{"a" «1»}', "a `:` is missing after the key", "write `:` between a key and its value"),
        ('{"a" «=» 1}', "a key and its value are separated by `:`", "write `:` instead of `=`"),
        ('{"a": 1«;» "b": 2}', "entries are separated by `,`", "write `,` instead of `;`"),
        ("[1,«,» 2]", "there is nothing before this `,`", "remove it, or write what is missing"),
        ('{"a": «}»', "a value is expected here", None),
        ('["a", «"b]»\n', "this string is never closed", 'close it with `"`'),
        (
            '["a«\n»b"]',
            "this string contains a line break",
            "write `\\n`, or close the string on its line",
        ),
        ('["a«\t»b"]', "this string contains a tab", "write `\\t`"),
        ('["a«\x01»b"]', "this string contains a control character", None),
        ('["C:«\\d»ir"]', "this escape does not exist in JSON", "write `\\\\` for a backslash"),
        (
            '["«\\u»12"]',
            "`\\u` needs four hexadecimal digits",
            "write four digits, as in `\\u00e9`",
        ),
        ("{}«}»", "text follows the value", "a JSON file holds one value; remove the rest"),
        (
            "[0«1»]",
            "the number ends here",
            "JSON has decimal numbers only, without leading zeros; quote anything else",
        ),
        ("[«+1»]", "`+1` is not a number in JSON", "start a number with a digit or `-`"),
        (
            "«\ufeff»{}",
            "a byte order mark is not allowed here",
            "remove it; JSON knows space, tab and line breaks only",
        ),
        (
            "{«\xa0»}",
            "a no-break space is not allowed here",
            "remove it; JSON knows space, tab and line breaks only",
        ),
        ('["😀", «x»]', "`x` is not in double quotes", 'write `"x"`, if it is meant as text'),
    ],
)
def test_syntax_errors(text: str, problem: str, hint: str | None) -> None:
    text, place = marked(text)
    if (
        problem == "this string is never closed"
    ):  # a line break in the string would be the first error
        text, place = text.rstrip("\n"), place
    assert problems(text) == (
        Irregularity("json-syntax", place, values={"problem": problem, "hint": hint}),
    )


@pytest.mark.parametrize(
    ("text", "opened"), [("[1, [2]", 0), ('{"a": [', 6), ('{"a": {"b": 1}, \n', 0), ('{"a"', 0)]
)
def test_a_text_that_ends_too_early_names_the_open_bracket(text: str, opened: int) -> None:
    (problem,) = problems(text)
    closing = {"[": "]", "{": "}"}[text[opened]]
    assert problem.range == (len(text), len(text))
    assert problem.values["hint"] == f"close it with `{closing}`"
    assert problem.also == (("opened here", (opened, opened + 1)),)


def nested(depth: int) -> str:
    return "[" * depth + "]" * depth


def test_depth_is_bounded_exactly() -> None:
    assert load(nested(MAX_DEPTH)).value
    assert problems(nested(MAX_DEPTH + 1)) == (
        Irregularity("nesting-too-deep", (MAX_DEPTH, MAX_DEPTH + 1), values={"limit": MAX_DEPTH}),
    )


@pytest.mark.parametrize(
    "before",
    ['[],{"a":"]"},' * 100, "1" * 5000 + ",", '"\\u0041\\"[",'],
    ids=["closed ones", "digits", "a string"],
)
def test_the_bracket_that_is_too_much(before: str) -> None:
    assert load("[" + before + nested(MAX_DEPTH - 1) + "]").value
    start = len(before) + MAX_DEPTH
    (problem,) = problems("[" + before + nested(MAX_DEPTH) + "]")
    assert (problem.code, problem.range) == ("nesting-too-deep", (start, start + 1))


def test_half_a_pair_among_many_brackets() -> None:
    text = '["\ud800", "\\ud801", ' + "[], " * MAX_DEPTH + '"\\udc00"]'
    found = problems(text)
    assert [each.code for each in found] == ["lone-surrogate"] * 3
    assert [text[slice(*each.range)] for each in found] == ["\ud800", "\\ud801", "\\udc00"]
    reverse = '["\\udc00", "\ud800"]'
    assert [reverse[slice(*each.range)] for each in problems(reverse)] == ["\\udc00", "\ud800"]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        pytest.param("[" * 10**6, "nesting-too-deep", id="lists"),
        pytest.param('{"a":' * 10**6, "nesting-too-deep", id="mappings"),
        pytest.param(
            '["\\\\\\"]]",' + "[" * 10**6, "nesting-too-deep", id="after a string full of escapes"
        ),
        pytest.param("[}" + "[" * 10**6, "json-syntax", id="an error before the depth comes first"),
        pytest.param("[" + "[]," * 10**6 + "[]]", None, id="a long flat list is not deep"),
        pytest.param('["' + "[" * 10**6 + '"]', None, id="brackets in a string are not deep"),
    ],
)
def test_depth_is_cheap_to_find_even_on_a_small_stack(text: str, code: str | None) -> None:
    clock, outcome = Clock(), list[str | None]()

    def run() -> None:
        with clock:
            try:
                load(text)
                outcome.append(None)
            except SyntaxProblem as problem:
                outcome.append(problem.problems[0].code)

    before = threading.stack_size(512 * 1024)
    try:
        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
    finally:
        threading.stack_size(before)
    assert outcome == [code]
    assert clock.seconds < 1 * SLACK


def test_places() -> None:
    text = '{"a": [10, {"b\\n": "x"}], "c": 1, "c": {"d": 2}}'
    assert locate(
        text, [(), ("a", 0), ("a", 1, "b\n"), ("c",), ("c", "d"), ("a", "0"), ("nothing",)]
    ) == {
        (): Place((0, len(text))),
        ("a", 0): Place((7, 9)),
        ("a", 1, "b\n"): Place((19, 22), (12, 17)),
        ("c",): Place((39, 47), (34, 37)),
        ("c", "d"): Place((45, 46), (40, 43)),
    }


def test_what_a_lost_duplicate_held_is_not_found() -> None:
    assert locate('{"a": {"b": 1}, "a": {}}', [("a", "b")]) == {}


def test_locating_is_linear() -> None:
    text = "{" + ", ".join('"a": {"b": [1]}' for _ in range(50_000)) + "}"
    wanted = [("a", "b", 0), *(("a", "x", number) for number in range(1000)), ("a",) * 5000]
    with promised(1):
        assert locate(text, wanted)[("a", "b", 0)].value[0] > len(text) - 10


@LAW
@given(json_documents())
def test_every_path_is_located_and_reads_back(document: tuple[str, object]) -> None:
    text, value = document
    parsed = load(text)
    assert parsed.value == value == json.loads(text)
    paths = dict(paths_of(value))
    places = locate(text, paths)
    assert set(places) == set(paths)
    for path, place in places.items():
        assert json.loads(text[slice(*place.value)]) == paths[path]
        assert (place.key is not None) == (bool(path) and isinstance(path[-1], str))
        if place.key is not None:
            assert json.loads(text[slice(*place.key)]) == path[-1]
    for odd in parsed.irregularities:
        assert odd.code == "duplicate-key"
        assert json.loads(text[slice(*odd.range)]) == odd.values["key"]


@LAW
@given(damaged(json_documents()))
def test_no_text_ends_in_any_other_exception(text: str) -> None:
    try:
        load(text)
    except SyntaxProblem as problem:
        for each in problem.problems:
            assert 0 <= each.range[0] <= each.range[1] <= len(text)
