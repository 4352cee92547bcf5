"""`${VAR}`: seed 000, F-005."""

from __future__ import annotations

import os

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from equipage.core import codes
from equipage.files.disk import process_variables
from equipage.loading.wording import escape_for_substitution
from equipage.syntax import Irregularity, SyntaxProblem
from equipage.syntax.variables import (
    fragments,
    strip_range,
    structure_changes,
    substitute,
    substitute_defaults,
)
from lab import tries

ENV = {
    "HOST": "db.local",
    "EMPTY": "",
    "N": "5",
    "REF": "${OTHER}",
    "A:B": "colon",
    " SP ": "blank",
    "BAD": "\udcff",
}


@pytest.mark.requirement("F-005")
@pytest.mark.parametrize(
    ("written", "becomes"),
    [
        pytest.param("${HOST}", "db.local", id="a set variable is replaced"),
        pytest.param("a ${N} b", "a 5 b", id="inside text"),
        pytest.param("${PORT:-80}", "80", id="an unset variable takes its default"),
        pytest.param("${HOST:-x}", "db.local", id="a set variable ignores its default"),
        pytest.param("${EMPTY:-x}", "", id="set but empty is set"),
        pytest.param("${EMPTY:?x}", "", id="set but empty satisfies a requirement"),
        pytest.param("${NOPE}", "", id="unset without default is empty"),
        pytest.param("$$", "$", id="two dollars are one"),
        pytest.param("$${HOST}", "${HOST}", id="an escaped variable stays"),
        pytest.param("$$$${HOST}", "$${HOST}", id="escapes pair up from the left"),
        pytest.param("$$100", "$100", id="a price"),
        pytest.param("$HOST $ x$", "$HOST $ x$", id="a dollar alone is a dollar"),
        pytest.param("${REF}", "${OTHER}", id="what was put in is not scanned again"),
        pytest.param("${U:-a{b}c}", "a{b}c", id="braces in a default are counted"),
        pytest.param("${U:-${V}}", "${V}", id="a default is not expanded"),
        pytest.param("${U:-a\nb}", "a\nb", id="a default may span lines"),
        pytest.param("${A:B}", "colon", id="another colon belongs to the name"),
        pytest.param("${ SP }", "blank", id="names are not trimmed"),
        pytest.param("${BAD:-x}", "x", id="a value that is no text counts as unset"),
        pytest.param("# ${N}", "# 5", id="comments are text, too"),
        pytest.param("${}", "", id="the empty name"),
    ],
)
def test_substitution(written: str, becomes: str) -> None:
    assert substitute(written, ENV).text == becomes


@pytest.mark.parametrize("written", ["${HOST", "a ${X:-b", "${X:?{}", "text ${"])
def test_an_open_variable_is_an_error_where_it_opens(written: str) -> None:
    with pytest.raises(SyntaxProblem) as caught:
        substitute(written, ENV)
    (problem,) = caught.value.problems
    assert problem.code == "env-unclosed"
    assert written[slice(*problem.range)] == "${"


@pytest.mark.parametrize(
    ("written", "codes"),
    [
        ("${NOPE} ${NOPE}", ["env-missing", "env-missing"]),
        ("${NOPE:?why}", ["env-required"]),
        ("${A:B}", ["env-ambiguous-colon"]),
        ("${X:+y}", ["env-ambiguous-colon"]),
        ("${NOPE:-x} ${HOST} $$", []),
    ],
)
def test_findings(written: str, codes: list[str]) -> None:
    found = substitute(written, ENV).irregularities
    assert [each.code for each in found] == codes
    assert all(written[slice(*each.range)].startswith("${") for each in found)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("${NAME:x}", "${NAME:-x}"),
        ("${NAME:=x}", "${NAME:-x}"),
        ("${NAME-x}", "${NAME:-x}"),
        ("${NAME:}", "${NAME}"),
        ("${NAME:+x}", "${NAME}"),
        ("${env:NAME}", "${NAME}"),
        ("${oc.env:NAME,x y}", "${NAME}"),
        ("${{ NAME }}", "${NAME}"),
        ("${}", "${NAME}"),
    ],
)
def test_what_others_write_is_one_finding_with_what_to_write(written: str, meant: str) -> None:
    (found,) = substitute(written, {}, need_all=True).irregularities
    assert (found.code, found.values["meant"]) == ("env-missing", meant)


@pytest.mark.parametrize(
    ("written", "becomes"),
    [("${NOPE:x}", "x"), ("${HOST:x}", ENV["HOST"]), ("${NOPE:a:b{}}", "a:b{}"), ("${NOPE:}", "")],
)
def test_another_mark_before_a_default(written: str, becomes: str) -> None:
    assert substitute(written, ENV, need_all=True, mark=":").text == becomes


def test_a_template_of_the_runtime_is_told_apart() -> None:
    (found,) = substitute("${args.q}", {}).irregularities
    assert found.values["template"] == "$${args.q}"


PIECES = st.lists(
    st.sampled_from(["${HOST}", "${U:-long default}", "$$", "x", "é😀", "\r\n", "$", "a: b"])
)


@given(PIECES)
def test_every_offset_has_a_way_back(parts: list[str]) -> None:
    """A stretch outside any variable maps to the very same text; one inside maps to the whole
    variable."""
    written = "".join(parts)
    try:
        result = substitute(written, ENV)
    except SyntaxProblem:
        return
    pieces = [range(*piece.became) for piece in result.pieces]
    for offset in range(len(result.text)):
        low, high = result.to_written(offset, offset + 1)
        assert 0 <= low <= high <= len(written)
        if not any(offset in piece for piece in pieces):
            assert written[low:high] == result.text[offset]
    for piece in result.pieces:
        assert result.to_written(*piece.became) == piece.written


def test_a_variable_that_became_nothing_belongs_to_the_text_before_it() -> None:
    """`name: x${NOPE}` is one scalar for its author, whatever became of it."""
    result = substitute("a: x${NOPE}\nb: 1", {})
    assert result.to_written(3, 4) == (3, 11)
    assert result.to_written(5, 6) == (12, 13)


@given(st.text(alphabet="ab: \n${}"))
def test_text_without_variables_is_left_alone(text: str) -> None:
    if "$$" not in text and "${" not in text:
        assert substitute(text, ENV).text == text


#: What a text with variables is made of: what is scanned, what looks like it, and plain text.
TEXTS = st.lists(
    st.sampled_from(["$", "{", "}", ":", "-", "?", "A", "x", "\n", "é"])
    | st.sampled_from(["$$", "${A}", "${B}", "${C:-x}", "${C:-${A}}", "${A:?no}", "$${A}", "$5"]),
    max_size=12,
).map("".join)
#: Values that hold no dollar: what one holds is another text, and not one of the author's.
VALUES = st.text(alphabet="ab{}: \n", max_size=4)


@pytest.mark.requirement("F-005")
@settings(max_examples=tries(500))
@given(TEXTS, VALUES)
@example("${C:-$}${A}", "")
def test_expansion_is_idempotent_exactly_where_nothing_is_left_to_expand(
    text: str, value: str
) -> None:
    """The law of seed 000, section 6.4. `$${A}` is the text `${A}`: expanded again, it is gone."""
    env = {"A": value}
    try:
        once = substitute(text, env).text
    except SyntaxProblem:
        return
    try:
        twice = substitute(once, env).text
    except SyntaxProblem:
        twice = None
    assert (twice == once) is ("$$" not in once and "${" not in once)


@pytest.mark.requirement("F-005")
@given(TEXTS | st.text())
def test_escaping_is_the_inverse_of_expansion(text: str) -> None:
    assert substitute(escape_for_substitution(text), ENV).text == text


@pytest.mark.parametrize(
    ("text", "value", "warns"),
    [
        pytest.param("a: ${V}", "plain words", False, id="words"),
        pytest.param("a: ${V}", "x\n b: evil", True, id="a new key"),
        pytest.param("a: ${V}\nb: 1", "x\nc: evil", True, id="a new top-level key"),
        pytest.param('a: "${V}"', "x\n b: evil", False, id="quoted: it stays inside"),
        pytest.param('a: "${V}"', 'x" # ', True, id="a closing quote"),
        pytest.param("a: ${V} tail", "x # y", True, id="a comment swallows the rest"),
        pytest.param("a: ${V}", "[1, 2]", True, id="a list"),
        pytest.param("a: ${V}", "{b: 1}", True, id="a mapping"),
        pytest.param("# ${V}\na: 1", "harmless: words", False, id="inside a comment"),
        pytest.param("# ${V}\na: 1", "x\nb: evil", True, id="out of a comment"),
        pytest.param("a: |\n  ${V}\n", "two: words", False, id="inside a block scalar"),
        pytest.param("a: |\n  ${V}\n", "x\nb: evil", True, id="out of a block scalar"),
        pytest.param("a: ${V}", " padded ", False, id="blanks around it"),
        pytest.param("${V}: 1", "a key", False, id="a key"),
        pytest.param("a: [${V}]", "1, 2", True, id="two entries for one"),
    ],
)
def test_a_value_that_changes_the_structure(text: str, value: str, *, warns: bool) -> None:
    found = list(structure_changes(substitute(text, {"V": value})))
    assert [each.code for each in found] == (["env-changes-structure"] if warns else [])


@pytest.mark.parametrize(
    ("written", "values"),
    [
        ("${X}", {"name": "X", "default": "${X:-…}"}),
        ("${args.q}", {"name": "args.q", "default": "${args.q:-…}", "template": "$${args.q}"}),
        ("${X-y}", {"name": "X-y", "meant": "${X:-y}"}),
        ("${ X }", {"name": " X ", "meant": "${X}"}),
        ("${X:?}", {"name": "X", "export": "X"}),
        ("${X:?give it}", {"name": "X", "export": "X", "why": "give it"}),
        ("${:?give it}", {"name": "${:?give it}", "instead": "${NAME:?…}", "why": "give it"}),
        ("${A:b}", {"written": "${A:b}", "state": ""}),
        ("${A:c}", {"written": "${A:c}", "state": ", which is not set"}),
    ],
)
def test_a_finding_says_which_variable(written: str, values: dict[str, object]) -> None:
    (found,) = substitute(written, {"A:b": "1"}).irregularities
    assert {name: each for name, each in found.values.items() if each is not None} == values


def test_each_piece_says_what_became_of_it() -> None:
    pieces = substitute("${A} ${B:-x} ${C:?} ${D} $$", {"A": "1"}).pieces
    assert [(each.name, each.from_environment, each.failed) for each in pieces] == [
        ("A", True, False),
        ("B", False, False),
        ("C", False, True),
        ("D", False, False),
        (None, False, False),
    ]


@pytest.mark.parametrize(
    ("written", "env", "offset", "back"),
    [
        pytest.param("k: ${NOPE}", {}, 2, (3, 10), id="right before it"),
        pytest.param("k: ${NOPE}", {}, 3, (3, 10), id="at it"),
        pytest.param("${X}${NOPE}", {"X": "ab"}, 2, (4, 11), id="behind another"),
        pytest.param("k: x ${NOPE}", {}, 2, (2, 2), id="text between"),
        pytest.param("k:X${NOPE}", {}, 2, (2, 2), id="a letter between"),
        pytest.param("k:\t${NOPE}", {}, 2, (2, 2), id="a tab is no blank"),
        pytest.param("k: ${X}", {"X": "v"}, 2, (2, 2), id="one that is still there"),
        pytest.param("k: ${X} ${NOPE}", {"X": " "}, 2, (2, 2), id="one of blanks before it"),
    ],
)
def test_an_empty_stretch_before_what_vanished(
    written: str, env: dict[str, str], offset: int, back: tuple[int, int]
) -> None:
    assert substitute(written, env).to_written(offset, offset) == back


@pytest.mark.parametrize(
    ("written", "value", "warns"),
    [
        pytest.param("a: 1\n${X}\n", "# new", True, id="makes a comment"),
        pytest.param("a: 1 # old\n${X}\n", "# new", True, id="the line before has one"),
        pytest.param("a: 1 #\n${X}\n", "# new", True, id="the line before ends with one"),
        pytest.param("a: 1\nb: 2 # old\n${X}\n", "# new", True, id="a line in between has one"),
        pytest.param("a: 1\n# ${X}\n", "# new", False, id="in a comment"),
        pytest.param("a: 1\n#${X}\n", "# new", False, id="in a comment at the margin"),
        pytest.param("a: 1\nb: 2 # ${X}\n", "# new", False, id="in a comment behind a value"),
        pytest.param("a: 1\n${X}\n", "\n  \n", False, id="only blank lines"),
    ],
)
def test_a_value_that_makes_a_comment(written: str, value: str, warns: bool) -> None:
    found = [each.code for each in structure_changes(substitute(written, {"X": value}))]
    assert found == (["env-changes-structure"] if warns else [])


@pytest.mark.skipif(
    not os.supports_bytes_environ, reason="names and values are text on this system"
)
def test_the_environment_of_the_process_need_not_be_text() -> None:
    os.environb[b"EQUIPAGE_\xff"] = b"\xfe"
    try:
        assert process_variables()["EQUIPAGE_\udcff"] == "\udcfe"
    finally:
        del os.environb[b"EQUIPAGE_\xff"]


@pytest.mark.parametrize(
    ("became", "written"),
    [
        ((0, 1), (0, 1)),
        ((1, 2), (1, 5)),
        ((2, 3), (1, 5)),
        ((1, 3), (1, 5)),
        ((0, 2), (0, 5)),
        ((2, 4), (1, 6)),
        ((3, 4), (5, 6)),
        ((4, 5), (6, 10)),
        ((5, 6), (10, 11)),
        ((0, 6), (0, 11)),
        ((3, 3), (5, 5)),
    ],
)
def test_the_way_back(became: tuple[int, int], written: tuple[int, int]) -> None:
    result = substitute("a${X}b${Y}c", {"X": "12", "Y": "3"})
    assert result.text == "a12b3c"
    assert result.to_written(*became) == written


def test_what_came_from_the_environment_is_secret_and_nothing_else() -> None:
    result = substitute("${A} ${B:-b} ${A} $$ ${C}", {"A": "1", "C": "2"})
    assert result.secrets() == (("A", "1"), ("C", "2"))
    assert list(fragments("a: 'b' # c")) == ["a", "b", "c"]


def test_a_default_is_the_authors_own() -> None:
    assert list(structure_changes(substitute("a: ${V:-[1, 2]}", {}))) == []


def test_a_change_of_structure_names_the_variable_and_its_place() -> None:
    found = list(structure_changes(substitute("a: ok\nb: ${V}", {"V": "x: y"})))
    assert found == [Irregularity("env-changes-structure", (9, 13), values={"name": "V"})]


@pytest.mark.parametrize(
    ("written", "shape"),
    [
        ("plain", "plain"),
        (
            "a: ${A:-1}\nb: ${B}\nc: ${C:?why}\n$$d ${E:-${F}}.",
            "a: 1\nb: value\nc: value\n$d ${F}.",
        ),
        ("${A:-}", ""),
        ("x $$ y", "x $ y"),
        ("${A:-1} ${open", "${A:-1} ${open"),
    ],
)
def test_the_shape_of_a_file_without_an_environment(written: str, shape: str) -> None:
    assert substitute_defaults(written) == shape.replace("value", _word())


def _word() -> str:
    """What stands for a value that is required and missing."""
    with_value = substitute("${X:?}", {}).text
    assert with_value
    return with_value


def test_the_names_that_were_looked_up_in_order_and_once() -> None:
    found = substitute("${B} $$ ${A:-1} ${B:?x} ${C}", {"B": "1"})
    assert found.names == ("B", "A", "C")


@pytest.mark.parametrize(
    ("text", "start", "end", "inner"),
    [
        ("  a  ", 0, 5, (2, 3)),
        ("x a b y", 1, 6, (2, 5)),
        (" a a a ", 0, 7, (1, 6)),
        ("    ", 1, 3, (1, 1)),
        ("\ta\n", 0, 3, (1, 2)),
    ],
)
def test_a_stretch_without_its_blanks(
    text: str, start: int, end: int, inner: tuple[int, int]
) -> None:
    assert strip_range(text, start, end) == inner


def test_an_odd_name_is_said_with_its_place() -> None:
    for text in ("a: ${}", "a: ${ }", "a: ${:-x}"):
        (found,) = substitute(text, {}).irregularities
        assert found.code is codes.ENV_NAMELESS
        assert found.range == (3, len(text))
    (found,) = substitute("${A-b-c}", {}).irregularities
    assert found.values["meant"] == "${A:-b-c}"
    (found,) = substitute("${A -b:?w}", {}).irregularities
    assert found.values["instead"] == "${A:-b}"
    (found,) = substitute("a: ${A\nb: ${B}", {}).irregularities
    assert found.values["meant"] == "${A}"
