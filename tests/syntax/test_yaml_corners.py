"""YAML: corners of names, places and errors, each once got wrong."""

from __future__ import annotations

import pytest

from equipage.core.frozen import MAX_DEPTH
from equipage.core.path import Path
from equipage.syntax import Irregularity, Parsed, SyntaxProblem
from equipage.syntax.yaml import load, locate
from syntax.documents import paths_of


def problem(text: str) -> Irregularity:
    with pytest.raises(SyntaxProblem) as caught:
        load(text)
    return caught.value.problems[0]


def test_a_name_belongs_to_the_node_that_starts_latest() -> None:
    assert load("[&a [&a 1], *a]").value == [[1], 1]


def test_a_name_is_recursive_only_inside_the_node_that_has_it() -> None:
    assert problem("&a [&b [*a]]").code == "recursive-alias"


def test_depth_counts_through_aliases() -> None:
    half = MAX_DEPTH // 2
    lists = "[" * half + "]" * half
    assert load(f"a: &a {lists}\nb: " + "[" * (half - 1) + "*a" + "]" * (half - 1)).value
    text = f"a: &a {lists}\nb: " + "[" * half + "*a" + "]" * half
    place = text.index("*a")
    assert problem(text) == Irregularity(
        "nesting-too-deep", (place, place + 2), values={"limit": MAX_DEPTH}
    )


def test_depth_counts_through_aliases_of_aliases() -> None:
    chain = "a0: &a0 [[[[[[[[[[]]]]]]]]]]\n"
    chain += "".join(f"a{n}: &a{n} [[[[[[[[[[*a{n - 1}]]]]]]]]]]\n" for n in range(1, 40))
    assert problem(chain).code == "nesting-too-deep"


def test_a_control_character_is_placed_in_code_points() -> None:
    assert problem("a: é😀\nb: \x01\n") == Irregularity(
        "control-character", (9, 10), values={"character": "U+0001"}
    )


def test_half_a_surrogate_pair_is_refused() -> None:
    assert problem("a: \ud800") == Irregularity(
        "lone-surrogate", (3, 4), values={"found": "\\ud800"}
    )


@pytest.mark.parametrize("written", ["9" * 5000, "0x" + "f" * 5000, "0o" + "7" * 9000])
def test_an_integer_too_long_to_write_out_stays_text(written: str) -> None:
    odd = Irregularity("number-too-long", (3, 3 + len(written)), ("a",), {"digits": len(written)})
    assert load(f"a: {written}") == Parsed({"a": written}, (odd,))
    assert load(f"? {written}\n: 1").value == {written: 1}


@pytest.mark.parametrize("written", ["!!int " + "9" * 5000, "!!float 1" + "0" * 400])
def test_a_tag_that_cannot_be_honoured_leaves_text(written: str) -> None:
    parsed = load(f"a: {written}")
    assert parsed.value == {"a": written.split()[1]}
    assert [odd.code for odd in parsed.irregularities] == ["unknown-tag"]


def test_a_tagged_number_that_is_not_finite_is_noticed() -> None:
    assert load("a: !!float .inf").irregularities == (
        Irregularity("not-finite", (11, 15), ("a",), {"found": ".inf"}),
    )


def test_a_third_key_names_the_first() -> None:
    assert [odd.also for odd in load("a: 1\na: 2\na: 3").irregularities] == [
        (("first here", (0, 1)),)
    ] * 2


def test_an_aliased_key_is_the_key_it_stands_for() -> None:
    (odd,) = load("&k key: 1\n*k : 2\n").irregularities
    assert (odd.code, odd.path, odd.range) == ("duplicate-key", ("key",), (10, 12))


def test_a_collection_as_a_key_has_one_name_everywhere() -> None:
    parsed = load("? [a, b]\n: {c: 1, c: 2}")
    name = '["a", "b"]'
    assert parsed.value == {name: {"c": 2}}
    assert [odd.path for odd in parsed.irregularities] == [(name,), (name, "c")]


@pytest.mark.parametrize(
    ("text", "path", "place"),
    [
        pytest.param(
            "x: &x {b: 1}\na: *x\na: {b: 2}",
            ("a", "b"),
            (26, 27),
            id="a duplicate replaces an alias",
        ),
        pytest.param(
            "x: &x {b: 1}\na: {b: 2}\na: *x",
            ("a", "b"),
            (10, 11),
            id="an alias replaces a duplicate",
        ),
        pytest.param("&k key: 1\n*k : 2", ("key",), (15, 16), id="an aliased key"),
        pytest.param("? [a]\n: 1", ('["a"]',), (8, 9), id="a collection as a key"),
        pytest.param("!!int 0x10: 1", ("16",), (12, 13), id="a tagged key"),
        pytest.param('a: "x\u2028y"\nb: 1', ("b",), (12, 13), id="behind a line separator"),
    ],
)
def test_places(text: str, path: Path, place: tuple[int, int]) -> None:
    assert locate(text, [path])[path].value == place


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("x: &x {b: 1, c: 2}\nz: {<<: *x, c: 3}", id="an alias"),
        pytest.param(
            "x: &x {b: 1, c: 2}\ny: &y {b: 3, d: 4}\nz: {<<: [*x, *y], e: 5}", id="several aliases"
        ),
        pytest.param("x: &x {b: 1, c: 2}\ny: &y {<<: *x, b: 9}\nz: {<<: *y}", id="a chain"),
        pytest.param("z: {<<: {b: 1}, e: 5}", id="a mapping on the spot"),
        pytest.param("x: &x [{b: 1}, {b: 2, c: 3}]\nz: {<<: *x}", id="an alias of a list"),
        pytest.param("x: &x {b: {q: 1}}\nz: {b: {r: 2}, <<: *x}", id="own entries win"),
        pytest.param("x: &x {b: 1}\nw: &w {b: 2}\nz:\n  <<: *x\n  <<: *w\n", id="twice"),
        pytest.param("z: {<<: 5, a: 1}", id="nothing to merge"),
        pytest.param('z: {"<<": {b: 1}, a: 2}', id="quoted, so an ordinary key"),
        pytest.param('x: &x {b: 1}\nz: {<<: *x, "<<": 2}', id="as an indicator and as text"),
        pytest.param("x: &x {b: 1}\nz: {'<<': 2, <<: *x}", id="as text and as an indicator"),
        pytest.param("z: {!!str <<: {b: 1}, a: 2}", id="tagged as text"),
    ],
)
def test_what_a_merge_key_brings_in_is_placed_where_it_is_written(text: str) -> None:
    paths = dict(paths_of(load(text, merge=True).value))
    places = locate(text, paths, merge=True)
    assert set(places) == set(paths)
    for path, value in paths.items():
        if isinstance(value, int):
            assert text[slice(*places[path].value)] == str(value)


def test_a_long_chain_of_merge_keys() -> None:
    text = "a0: &a0 {k: 1}\n" + "".join(f"a{n}: &a{n} {{<<: *a{n - 1}}}\n" for n in range(1, 500))
    assert load(text, merge=True).value["a499"] == {"k": 1}
    assert locate(text, [("a499", "k")], merge=True)[("a499", "k")].value == (12, 13)


def test_paths_longer_than_any_document() -> None:
    assert locate("a: {a: 1}", [("a",) * 100_000]) == {}
