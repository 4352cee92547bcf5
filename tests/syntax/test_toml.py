"""TOML: values, what is odd about a text, errors in words, and places."""

from __future__ import annotations

import math
import threading
import tomllib
from collections.abc import Callable

import pytest
import rtoml
from hypothesis import given

from clock import SLACK, Clock
from equipage.core.path import Path
from equipage.syntax import Irregularity, Place, SyntaxProblem
from equipage.syntax.toml import DEPTH, load, locate
from syntax.documents import LAW, Written, damaged, paths_of, toml_documents


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
        pytest.param("", {}, id="an empty file is an empty table"),
        pytest.param(
            "a = 1\r\nb = '''\r\nx\r\ny'''\r\n",
            {"a": 1, "b": "x\ny"},
            id="line breaks in strings are LF",
        ),
        pytest.param('a = """x\\\r\n  y\r\n"""', {"a": "xy\n"}, id="an escaped line break is none"),
        pytest.param(
            'a = \'\'\'\'x\'\'\'\'\'\nb = """""y"""""',
            {"a": "'x''", "b": '""y""'},
            id="quotes beside quotes",
        ),
        pytest.param(
            "a = 170141183460469231731687303715884105727", {"a": 2**127 - 1}, id="128-bit integers"
        ),
    ],
)
def test_values(text: str, value: object) -> None:
    parsed = load(text)
    assert parsed.value == value
    assert parsed.irregularities == ()


@pytest.mark.parametrize(
    "written",
    [
        "1979-05-27",
        "07:32:00.999999999",
        "1979-05-27T07:32:00Z",
        "1979-05-27 07:32:00-07:00",
        "1979-05-27t07:32:00",
    ],
)
def test_dates_are_text_and_reported(written: str) -> None:
    text = f"[a]\nb = [1, {{c = {written}}}] # 2000-01-01\nd = 'inf'\n"
    parsed = load(text)
    assert parsed.value == {"a": {"b": [1, {"c": written}], "d": "inf"}}
    assert parsed.irregularities == (
        Irregularity("toml-date", (17, 17 + len(written)), ("a", "b", 1, "c"), {"found": written}),
    )


def test_numbers_that_are_not_finite() -> None:
    parsed = load("b = -inf\na = [nan]\n")
    assert parsed.value["b"] == -math.inf
    assert math.isnan(parsed.value["a"][0])
    assert parsed.irregularities == (
        Irregularity("not-finite", (4, 8), ("b",), {"found": "-inf"}),
        Irregularity("not-finite", (14, 17), ("a", 0), {"found": "nan"}),
    )


def test_a_number_no_float_holds_has_no_value() -> None:
    assert problems("a = 1e999") == (Irregularity("not-finite", (4, 9), values={"found": "1e999"}),)


def test_an_integer_beyond_128_bits_has_no_value() -> None:
    assert problems(f"a = 1\nb = {'9' * 40}") == (
        Irregularity("number-too-long", (10, 50), values={"digits": 40}),
    )


def test_half_a_surrogate_pair_is_refused() -> None:
    assert problems('a = "\ud800"') == (
        Irregularity("lone-surrogate", (5, 6), values={"found": "\\ud800"}),
    )


TAKEN = ("this name is already taken", "a key or table may be given once; remove one of the two")
FIXED = ("this name already has a value", None)
NOT_A_VALUE = ("this is not a value", "put text in quotes")
SEVERAL = (
    "this is more than one value",
    "put text in quotes, and a `,` between the entries of a list",
)
MISSING = ("a value is missing after `=`", None)
NO_EQUALS = ("a `=` is missing after the key", "write `key = value`")
LINE_GOES_ON = ("the line should have ended before this", "put each entry on a line of its own")
NOTHING_BEFORE = ("there is nothing before this `,`", "remove it, or write what is missing")
NO_COMMA = ("a `,` is missing before this", "separate entries with `,`")
NO_PART = ("a part of the key is missing", 'an empty key is written `""`')
CLOSES_NOTHING = ("this bracket closes nothing", "remove it")
NO_NULL = "TOML has no null; leave the key out"
ONE_LINE = "on the same line; text over several lines takes three quotes"

#: One row for each message rtoml can give, and for each case in which our words depend on the text
#: there.
ERRORS = [
    ("a = 1\n«a» = 2", TAKEN),
    ("[a]\n[«a»]", TAKEN),
    ("a = {b = 1, «b» = 2}", TAKEN),
    ("'a.b' = 1\n«'a.b'» = 1", TAKEN),
    ("a = {}\n«a».b = 1", FIXED),
    ("a.b = 1\na.«b».c = 2", FIXED),
    ("a = «abc»", NOT_A_VALUE),
    ("a = «tru»", NOT_A_VALUE),
    ("a = «inf1»", NOT_A_VALUE),
    ("a = «some» text", SEVERAL),
    ("a = [«1» 2]", SEVERAL),
    ("a = «yes»", ("`yes` is not a value in TOML", "write `true`")),
    ("a = «False»", ("`False` is not a value in TOML", "write `false`")),
    ("a = «null»", ("`null` is not a value in TOML", NO_NULL)),
    ("a = «None»", ("`None` is not a value in TOML", NO_NULL)),
    ("a = «»", MISSING),
    ("a =«\n»b = 1", MISSING),
    ("a = {b = «}»", MISSING),
    ("a = {b«}»", ("a value is expected here", None)),
    ("x«»", NO_EQUALS),
    ("a «b» = 1", NO_EQUALS),
    ("a: «1»", ("a key and its value are separated by `=`", "write `=` instead of `:`")),
    ("// «x»", ("this is not a comment in TOML", "start comments with `#`")),
    ("a = «//» x", ("this is not a comment in TOML", "start comments with `#`")),
    ("a = «“x”»", ("TOML strings use straight quotes", "write `\"` or `'` instead")),
    ("«\ufeffa» = 1", ("a byte order mark is not allowed here", "remove it")),
    ("a = «\ufeff1»", ("a byte order mark is not allowed here", "remove it")),
    ('a = "x" «y»', LINE_GOES_ON),
    ("a = 1 «=» 2", LINE_GOES_ON),
    ("[a]«]»", LINE_GOES_ON),
    ("a =«=» 1", ("there is one `=` too many", "write `key = value`")),
    ("a = [1,«,» 2]", NOTHING_BEFORE),
    ("a = {«,»}", NOTHING_BEFORE),
    ("a = [\n  1\n  «'»2'\n]", NO_COMMA),
    ("a = {b = 1\n «c» = 2}", NO_COMMA),
    ("a = [1, 2«»", ("this list is never closed", "close it with `]`")),
    ("a = {b = 1«»", ("this table is never closed", "close it with `}`")),
    ("[a«\n»", ("this header is not closed", "close it with `]`; quote names with blanks")),
    ("[[a]«\n»", ("this header is not closed", "close it with `]]`")),
    ("[a«»", ("this header is not closed", "close it with `]`; quote names with blanks")),
    ("[«]»", NO_PART),
    ("a.«.b» = 1", NO_PART),
    ("«é» = 1", ("this key needs quotes", "bare keys have letters, digits, `-` and `_`")),
    ("«'»''a''' = 1", ("a key cannot have three quotes", "put it in single or double quotes")),
    ("a = «'x»\n'", ("this string is never closed", f"close it with `'` {ONE_LINE}")),
    ('a = «"x»\nb = 2', ("this string is never closed", f'close it with `"` {ONE_LINE}')),
    ('a = «"""x»\ny', ("this string is never closed", 'close it with `"""`')),
    ("a = «'''x»", ("this string is never closed", "close it with `'''`")),
    (
        'a = "\\«q»"',
        (
            "this escape does not exist in TOML",
            "write `\\\\` for a backslash, or use single quotes",
        ),
    ),
    ('a = "\\u12«"»', ("this escape needs more digits", "`\\x` takes 2, `\\u` 4, `\\U` 8 digits")),
    ('a = "\\u«d800»"', ("this escape does not name a character", None)),
    (
        'a = "«\x01»"',
        ("this string contains a control character", "write it as an escape, as in `\\u0001`"),
    ),
    (
        "a = '«\x01»'",
        ("this string contains a control character", "use double quotes and an escape"),
    ),
    ("# «\x01»", ("this comment contains a control character", "remove it")),
    ("a = «01»", ("a number cannot start with a zero", "remove it, or quote the text")),
    ("a = «.5»", ("a number cannot start with a dot", "write a digit before the dot")),
    ("a = 1.«»", ("a digit is missing after the dot", None)),
    ("a = 1e«»", ("invalid exponent, expected digits", None)),
    ("a = 1«__0»", ("`_` may only go between digits", None)),
    ("a = -«-1»", ("redundant numeric sign", None)),
    ("a = 0x«g»", ("invalid hexadecimal number", None)),
    ("a = «1979-02-30»", ("invalid date, expected day between 01 and 28", None)),
    ("a = «12:60:00»", ("invalid time, expected minute between 00 and 59", None)),
    ("a = 1\n«]»", CLOSES_NOTHING),
    ("a = «}»", MISSING),
    ("«}»", ("invalid key-value pair, expected key", None)),
    ("a = 1«\r»b = 2", ("a lone carriage return does not end a line", "use LF or CRLF")),
    ("'😀' = 1\r\n'𝒳' = «=» 2", ("there is one `=` too many", "write `key = value`")),
]


@pytest.mark.parametrize(("text", "words"), ERRORS)
def test_syntax_errors(text: str, words: tuple[str, str | None]) -> None:
    text, place = marked(text)
    (problem,) = problems(text)
    assert (problem.code, problem.range) == ("toml-syntax", place)
    assert (problem.values["problem"], problem.values["hint"]) == words


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("a = 1\na = 2", (0, 1)),
        ("a.b = 1\n[a.b]", (2, 3)),
        ("[a]\n[b]\n[a]", (1, 2)),
        ("[[a]]\nb = 1\n[[a]]\nb = 1\nb = 2", (18, 19)),
        ("[[a]]\n[a.b]\n[[a]]\n[a.b]\n[a.b]", (21, 22)),
        ("a = {}\na.b = 1", (0, 1)),
    ],
)
def test_a_name_given_twice_says_where_it_was_first(text: str, first: tuple[int, int]) -> None:
    assert problems(text)[0].also == (("first here", first),)


def bomb(parts: int, levels: int) -> str:
    """Dotted keys inside brackets inside dotted keys; each within the limits of rtoml, together a
    stack overflow."""
    key = ".".join(["a"] * parts)
    return f"[{key}]\n" + f"{key} = {{" * levels + "}" * levels


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("a" + ".a" * 50_000 + " = 1", id="a dotted key"),
        pytest.param("[a" + ".a" * 50_000 + "]", id="a header"),
        pytest.param("[[a" + ".a" * 50_000 + "]]", id="a header of a list"),
        pytest.param("a = {a" + ".a" * 50_000 + " = 1}", id="a dotted key in an inline table"),
        pytest.param("a = " + "[" * 10**6, id="lists"),
        pytest.param("a = " + "[" * 10**6 + "]" * 10**6, id="closed lists"),
        pytest.param("a = " + "{a = " * 10**6, id="inline tables"),
        pytest.param(bomb(79, 70), id="all of them together"),
        pytest.param(bomb(20, 4), id="all of them, a few of each"),
        pytest.param(
            "".join(f"[[{'.'.join('a' * n)}]]\n" for n in range(1, 60)), id="lists of tables"
        ),
        pytest.param(
            "x = ']]]]' # ]]]]\n" * 99 + "a = " + "[" * 99 + "]" * 99,
            id="behind brackets in strings",
        ),
    ],
)
def test_depth_is_bounded_at_once_even_on_a_small_stack(text: str) -> None:
    clock, outcome = Clock(), list[Irregularity]()

    def run() -> None:
        with clock:
            try:
                load(text)
            except SyntaxProblem as problem:
                outcome.extend(problem.problems)

    before = threading.stack_size(512 * 1024)
    try:
        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
    finally:
        threading.stack_size(before)
    assert [each.code for each in outcome] == ["nesting-too-deep"]
    assert outcome[0].values == {"limit": DEPTH}
    assert text[slice(*outcome[0].range)] in {"a", "[", "{"}
    assert clock.seconds < 0.2 * SLACK


@pytest.mark.parametrize(
    "deep",
    [
        pytest.param(lambda depth: "a = " + "[" * (depth - 1) + "]" * (depth - 1), id="lists"),
        pytest.param(
            lambda depth: "a = " + "{a = " * (depth - 1) + "1" + "}" * (depth - 1),
            id="inline tables",
        ),
        pytest.param(lambda depth: ".".join("a" * depth) + " = 1", id="a dotted key"),
        pytest.param(lambda depth: " . ".join("a" * depth) + " = 1", id="a dotted key with blanks"),
        pytest.param(
            lambda depth: " . ".join("a" * 39) + " = {" + " . ".join("a" * (depth - 39)) + " = 1}",
            id="two of them",
        ),
        pytest.param(lambda depth: "[" + ".".join("a" * (depth - 1)) + "]", id="a header"),
        pytest.param(
            lambda depth: "[[" + ".".join("a" * (depth - 2)) + "]]\na = 1", id="a header of a list"
        ),
        pytest.param(
            lambda depth: "[a]\na.a = {a." + "a = [" + "[" * (depth - 6) + "]" * (depth - 5) + "}",
            id="a mix",
        ),
    ],
)
@pytest.mark.parametrize(
    "before", ["", "z = [" + "[1.5], " * 40 + "]\n"], ids=["alone", "among much that is not deep"]
)
def test_depth_is_bounded_exactly(deep: object, before: str) -> None:
    assert callable(deep)
    assert load(before + deep(DEPTH)).value
    assert problems(before + deep(DEPTH + 1))[0].code == "nesting-too-deep"


@pytest.mark.parametrize(
    ("deep", "place"),
    [
        (lambda parts: "[[a]]\n[a." + ".".join("b" * parts) + "]\n", DEPTH - 3),
        (lambda parts: "[[a]]\n[[a.b]]\n[a.b." + ".".join("c" * parts) + "]\n", DEPTH - 5),
        (lambda parts: "[t]\n" + ".".join("k" * (parts + 1)) + " = 1\n", DEPTH - 2),
        (lambda parts: "x = {y = 1}\n" + ".".join("k" * (parts + 1)) + " = 1\n", DEPTH - 1),
        (lambda parts: "x = [1, {y.z = [2]}, " + "[" * parts + "]" * parts + "]\n", DEPTH - 2),
    ],
    ids=[
        "in a list of tables",
        "in a list in a list",
        "below a table",
        "after an inline table",
        "in a list",
    ],
)
def test_what_was_opened_before_counts(deep: Callable[[int], str], place: int) -> None:
    before = "z = [" + "[1.5], " * 40 + "]\n"
    assert load(before + deep(place)).value
    text = before + deep(place + 1)
    problem = problems(text)[0]
    assert problem.code == "nesting-too-deep"
    assert text[slice(*problem.range)] in {"b", "c", "k", "["}


def test_half_a_pair_among_many_brackets() -> None:
    text = "a = [" + "[1.5], " * 100 + "]\n\udc80 = 1\n"
    assert "nesting-too-deep" not in {each.code for each in problems(text)}


def test_many_dots_and_brackets_are_not_deep() -> None:
    text = (
        "a = ["
        + "[1.5, 2.5, 3.5], " * 100
        + "]\nb = 'e.g. [this] and {that}.'\n" * 1
        + "[c]\n"
        + "# ...\n" * 100
    )
    assert load(text).value


#: A document with every way to write a table.
TABLES = """\
[a.b]
x = 1

[a]
y.z = {p.q = 2, "r" = [3]}

[[list]]
[list.sub]
k = 4
[[list]]
[[list.deep]]
k = '''
5'''
"""


@pytest.mark.parametrize(
    ("path", "value", "key"),
    [
        pytest.param(
            ("a",), '[a]\ny.z = {p.q = 2, "r" = [3]}', "a", id="a table written after its child"
        ),
        pytest.param(("a", "b"), "[a.b]\nx = 1", "b", id="a table ends with its last entry"),
        pytest.param(("a", "b", "x"), "1", "x", id="an entry"),
        pytest.param(("a", "y"), "y.z", "y", id="a table that only a dotted key names"),
        pytest.param(("a", "y", "z"), '{p.q = 2, "r" = [3]}', "z", id="an inline table"),
        pytest.param(("a", "y", "z", "p"), "p.q", "p", id="a dotted key inside it"),
        pytest.param(("a", "y", "z", "r"), "[3]", '"r"', id="a quoted key"),
        pytest.param(("a", "y", "z", "r", 0), "3", None, id="an entry of a list"),
        pytest.param(
            ("list",), "[[list]]", "list", id="a list of tables is placed at its first header"
        ),
        pytest.param(("list", 0), "[[list]]", "list", id="its first table"),
        pytest.param(("list", 0, "sub"), "[list.sub]\nk = 4", "sub", id="a table below the first"),
        pytest.param(
            ("list", 1, "deep", 0, "k"),
            "'''\n5'''",
            "k",
            id="lists of tables inside lists of tables",
        ),
    ],
)
def test_places(path: Path, value: str, key: str | None) -> None:
    for text in (TABLES, TABLES.replace("\n", "\r\n")):
        place = locate(text, [path])[path]
        assert text[slice(*place.value)].replace("\r\n", "\n") == value
        assert (place.key and text[slice(*place.key)]) == key


def test_quotes_beside_the_closing_quotes_belong_to_the_string() -> None:
    text = 'a = [\'\'\'\'x\'\'\'\'\', """\\"""y""""", 1]'
    assert text[slice(*locate(text, [("a", 2)])[("a", 2)].value)] == "1"


def test_an_implicit_table_is_placed_at_the_first_header_that_names_it() -> None:
    text = "[a.b.c]\nx = 1\n[a.b.d]\n"
    assert locate(text, [("a",), ("a", "b")]) == {
        ("a",): Place((0, 7), (1, 2)),
        ("a", "b"): Place((0, 7), (3, 4)),
    }


def test_what_does_not_exist_has_no_place() -> None:
    assert locate("a = [1]\n[[b]]\n", [("a", 1), ("a", "x"), ("b", 1), ("c",), ("b", "x")]) == {}


def key_written(text: str) -> str:
    (name,) = rtoml.loads(f"{text} = 1")
    return name


@LAW
@given(toml_documents())
def test_every_path_is_located_and_reads_back(document: tuple[str, dict[str, object]]) -> None:
    text, value = document
    parsed = load(text)
    assert parsed.value == value
    assert rtoml.loads(text.replace("\r\n", "\n")) == tomllib.loads(text)
    paths = dict(paths_of(value))
    places = locate(text, paths)
    assert set(places) == set(paths)
    for path, place in places.items():
        if not path:
            continue
        if isinstance(path[-1], str):
            assert place.key is not None
            assert key_written(text[slice(*place.key)]) == path[-1]
        check_value(text, place, paths[path])
    dates = [path for path, each in paths.items() if isinstance(each, Written)]
    assert {odd.path for odd in parsed.irregularities} == set(dates)


def check_value(text: str, place: Place, value: object) -> None:
    written = text[slice(*place.value)].replace("\r\n", "\n")
    if place.key is not None and place.value[0] <= place.key[0]:
        # a table, or a list of tables, that has no text of its own: it is placed at a header or key
        # naming it
        assert isinstance(value, dict | list)
        assert place.value[0] <= place.key[0] < place.key[1] <= place.value[1]
    elif isinstance(value, Written):
        assert written == value
    else:
        assert load(f"x = {written}").value == {"x": value}


@LAW
@given(damaged(toml_documents()))
def test_no_text_ends_in_any_other_exception(text: str) -> None:
    try:
        load(text)
    except SyntaxProblem as problem:
        for each in problem.problems:
            assert 0 <= each.range[0] <= each.range[1] <= len(text)
