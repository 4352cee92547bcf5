"""What YAML 1.2 says otherwise than the parsers: line breaks, tabs, words inside brackets, names.

Each test runs with libyaml and with PyYAML's own parser.
"""

from __future__ import annotations

import random

import pytest

from equipage.core.source import Source
from equipage.syntax import Irregularity, SyntaxProblem, yaml
from equipage.syntax.yaml import events
from lab import tries
from syntax.fast_texts import text

BREAKS = "\x85\u2028\u2029"


@pytest.fixture(params=[pytest.param(True, id="libyaml"), pytest.param(False, id="PyYAML")])
def native(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Whether the parser is libyaml."""
    native = bool(request.param)
    if not native:
        monkeypatch.setattr(events, "Parser", events._PythonParser)
    elif events.ENGINE != "libyaml":
        pytest.skip("libyaml is not here")
    return native


def problem(written: str) -> Irregularity:
    with pytest.raises(SyntaxProblem) as caught:
        yaml.load(written)
    return caught.value.problems[0]


@pytest.mark.usefixtures("native")
@pytest.mark.parametrize(
    ("written", "value"),
    [
        pytest.param("a: 1\n# x\u2028b: 2\n", {"a": 1}, id="a comment goes on"),
        pytest.param("a: \"b\x85c\"\nd: 'e\u2029f'", {"a": "b\x85c", "d": "e\u2029f"}, id="quotes"),
        pytest.param('a: "b \u2028  c"', {"a": "b \u2028  c"}, id="with its blanks"),
        pytest.param("a: b\u2028 # c\n\u2028d: 1", {"a": "b\u2028", "\u2028d": 1}, id="plain text"),
        pytest.param("a:\u2028b", "a:\u2028b", id="it is no blank"),
        pytest.param(
            "a: |\n  b\u2028c: d\n e: f\n".replace("\n e", "\ne"),
            {"a": "b\u2028c: d\n", "e": "f"},
            id="a block of text",
        ),
        pytest.param("a: >\n  b\u2029\n  c\n", {"a": "b\u2029 c\n"}, id="a folded block"),
        pytest.param("a: b\rc: \x85\r\nd: 1", {"a": "b", "c": "\x85", "d": 1}, id="line breaks"),
        pytest.param('a: "\\N\\L\\P\u2028"', {"a": "\x85\u2028\u2029\u2028"}, id="escapes"),
        pytest.param(
            'a: "\\U000f0000\U000f0001\u2028"',
            {"a": "\U000f0000\U000f0001\u2028"},
            id="private characters of the author",
        ),
        pytest.param("&a\u2028 b: *a\u2028\n", {"b": "b"}, id="the name of an anchor"),
        pytest.param("\"\x7f\": '\x7f'\n", {"\x7f": "\x7f"}, id="U+007F in quotes"),
        pytest.param("a: 1\n\t\nb:\n  \t \n  c: 2\n", {"a": 1, "b": {"c": 2}}, id="blank lines"),
        pytest.param("a: 1\n \t# c\nb: 2\n", {"a": 1, "b": 2}, id="a comment behind a tab"),
        pytest.param("a: |\n  b\n  \t\n  c\n", {"a": "b\n\t\nc\n"}, id="a tab that is text"),
        pytest.param("-\ta\n-\t[b]\n- -\tc\n", ["a", ["b"], ["c"]], id="behind a dash"),
        pytest.param("?\ta\n:\tb\n", {"a": "b"}, id="behind other indicators"),
        pytest.param("a: |\n  \tb\n  c\n", {"a": "\tb\nc\n"}, id="a text that starts with a tab"),
        pytest.param("- |-\n \tb\n- x: | # c\n\n   \tb", ["\tb", {"x": "\n\tb"}], id="in a list"),
        pytest.param(
            "a: [127.0.0.1, ::1, :b, :>, {c: ::2, :d: 1, e: :@f}]",
            {"a": ["127.0.0.1", "::1", ":b", ":>", {"c": "::2", ":d": 1, "e": ":@f"}]},
            id="colons",
        ),
        pytest.param("[?a, {?b: ?c}]", ["?a", {"?b": "?c"}], id="question marks"),
        pytest.param(
            "- &a.b [é]\n- *a.b\n- '*a.b &a.b'\n- &é c\n- *é",
            [["é"], ["é"], "*a.b &a.b", "c", "c"],
            id="names of anchors",
        ),
        pytest.param(
            'a: &a.b "\\n"\nb: *a.b\n', {"a": "\n", "b": "\n"}, id="a name beside an escape"
        ),
        pytest.param(
            "".join(f"k{number}: 'a\n\t\n  b' # c\n \t\n\t# d\n" for number in range(5000))
            + "t: |\n  e\n  \t\n",
            {**{f"k{number}": "a\nb" for number in range(5000)}, "t": "e\n\t\n"},
            id="tabs on all blank lines of a large text",
        ),
    ],
)
def test_it_is_read_as_yaml_1_2(written: str, value: object) -> None:
    assert yaml.load(written).value == value


@pytest.mark.parametrize(
    ("written", "value"),
    [
        pytest.param("a: |\n  b\n\t\nc: 1\n", {"a": "b\n", "c": 1}, id="behind a block"),
        pytest.param("a: b\n\t\n  c\n", {"a": "b\nc"}, id="inside plain text"),
        pytest.param("[a\t, b\t]", ["a", "b"], id="inside brackets"),
    ],
)
def test_a_tab_that_only_libyaml_takes(written: str, value: object, *, native: bool) -> None:
    """PyYAML ends a text at a tab before it refuses the tab: nothing may be lost then."""
    if native:
        assert yaml.load(written).value == value
    else:
        assert problem(written).code == "yaml-syntax"


@pytest.mark.usefixtures("native")
@pytest.mark.parametrize(
    ("written", "place", "code"),
    [
        pytest.param("a: b\x7f", "1:5", "control-character", id="U+007F in plain text"),
        pytest.param('a: "\x7f" # \x7f', "1:10", "control-character", id="in a comment"),
        pytest.param('\x85a: "b"\x7f', "1:8", "control-character", id="behind a quote"),
        pytest.param("# é\u2028\na: \x01", "2:4", "control-character", id="other controls"),
        pytest.param("a: é\u2028\r\nb: c: d", "2:5", "yaml-syntax", id="behind a separator"),
        pytest.param("a:\n\tb: 1", "2:1", "yaml-syntax", id="a tab that indents"),
        pytest.param("-\ta: 1", "1:2", "yaml-syntax", id="a tab that indents an entry"),
        pytest.param("-\t- 1", "1:2", "yaml-syntax", id="a tab that indents an item"),
        pytest.param("a: |\n\tb: 1\n", "2:1", "yaml-syntax", id="a tab that indents text"),
        pytest.param("a: |\n     \n \tb: 1\n", "3:2", "yaml-syntax", id="less than a blank line"),
        pytest.param("a: &b.c 1\nb: *.py", "2:5", "yaml-syntax", id="text with an asterisk"),
    ],
)
def test_what_yaml_1_2_refuses(written: str, place: str, code: str) -> None:
    found = problem(written)
    line, column = Source.of_text("a.yaml", written).position(found.range[0])
    assert (f"{line}:{column}", found.code) == (place, code)


@pytest.mark.parametrize(
    ("written", "advice"),
    [
        ("a:\n\tb: 1", "indent with spaces"),
        ("a: 1\n\tb: 2", "indent with spaces"),
        ("a: >\n \tb\n", "`>2`"),
        ("a: [::]", "quote text with a `:`"),
        ("a: *.py", "quote text that starts with `*`"),
    ],
)
def test_what_to_write_instead(written: str, advice: str) -> None:
    assert advice in str(problem(written).values["hint"])


@pytest.mark.usefixtures("native")
def test_a_separator_is_a_letter() -> None:
    """Wherever a letter may be, a separator has the same place in the same value."""
    chance = random.Random(42)
    count = 0
    while count < tries(150):
        written = text(chance)
        for _ in range(chance.randint(1, 3)):
            at = chance.randrange(len(written) + 1)
            written = f"{written[:at]}\ue000{written[at:]}"
        try:
            expected = repr(yaml.load(written).value)
        except SyntaxProblem as found:
            expected = str(found.problems[0].range)
        each = chance.choice(BREAKS)
        try:
            value = repr(yaml.load(written.replace("\ue000", each)).value)
        except SyntaxProblem as found:
            value = str(found.problems[0].range)
        assert value == expected.replace(repr("\ue000")[1:-1], repr(each)[1:-1]), written
        count += 1


@pytest.mark.usefixtures("native")
def test_places_behind_what_is_replaced() -> None:
    written = "a: \x85 [?b, ::1]\n\t\n'\x7f': [?c]\nd: &x.y {e: *x.y}\nf: &g.h i\n"
    written = written.replace("{e: *x.y}", "[1]")
    for path in [("a",), ("\x7f", 0), ("d",), ("d", 0), ("f",)]:
        place = yaml.locate(written, [path])[path]
        value: object = yaml.load(written).value
        for step in path:
            value = value[step]  # type: ignore[index]
        assert yaml.load(written[slice(*place.value)]).value == value


def test_a_text_with_every_private_character_is_refused() -> None:
    written = "".join(map(chr, events._SUBSTITUTES)) + "\u2028"
    assert problem(written) == Irregularity(
        "control-character", (len(written) - 1, len(written)), values={"character": "U+2028"}
    )


def test_a_name_that_an_escape_could_make_is_refused() -> None:
    assert problem('a: &a.b "\\x30\\x30\\x30"').code == "yaml-syntax"


def test_reading_again_has_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    written = "-\ta\n" * 50
    assert yaml.load(written).value == ["a"] * 50
    monkeypatch.setattr(events, "_MAX_REREAD", 0)
    assert "spaces" in str(problem(written).values["hint"])
