"""Values that remember where their parts came from: seed 000, Appendix B, and design D1."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Sequence
from functools import reduce
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from equipage.core.frozen import FrozenDict
from equipage.core.path import HOLE, Hole, Path, get, mapping_or_empty, walk
from equipage.core.source import Source
from equipage.directives import find
from equipage.loading.tree import (
    Origin,
    Origins,
    Tree,
    Via,
    attach,
    graft,
    merge,
    move,
    punch_holes,
    put,
    put_all,
    remove,
    remove_all,
    select_entries,
)
from equipage.syntax.document import Document
from lab import tries

SCALARS = st.none() | st.booleans() | st.integers(-5, 5) | st.sampled_from(["", "a", "b"])
KEYS = st.sampled_from("abcd")
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=12,
)
MAPS = st.dictionaries(KEYS, VALUES, max_size=4)
MAPS_OF_MAPS = st.recursive(
    st.dictionaries(KEYS, st.integers(0, 3), max_size=2),
    lambda inner: st.dictionaries(st.sampled_from("xyz"), inner, max_size=3),
    max_leaves=6,
)


def tree(value: Any, name: str = "base") -> Tree:
    return Tree.from_document(Document(Source.of_text(name, ""), "yaml", value))


def plain_merge(base: Any, over: Any) -> Any:
    """Appendix B, word for word."""
    if isinstance(base, dict) and isinstance(over, dict):
        result = dict(base)
        for key, value in over.items():
            result[key] = plain_merge(result[key], value) if key in result else value
        return result
    return over


def origin_of(result: Tree, path: Path) -> tuple[str, Path]:
    origin = result.provenance(path).origin
    return origin.document.source.name, origin.path


@pytest.mark.requirement("F-002")
@pytest.mark.parametrize(
    ("base", "over", "result"),
    [
        (
            {"a": {"x": 1}, "l": [1, 2]},
            {"a": {"y": 2}, "l": [3]},
            {"a": {"x": 1, "y": 2}, "l": [3]},
        ),
        ({"a": {"x": 1}}, {"a": None}, {"a": None}),
        ({"a": 1}, {"a": {"y": 2}, "b": 0}, {"a": {"y": 2}, "b": 0}),
        ([1], {"a": 1}, {"a": 1}),
    ],
)
def test_merge_examples(base: Any, over: Any, result: Any) -> None:
    assert merge(tree(base), tree(over, "over")).value == result


@given(VALUES, VALUES)
def test_merge_is_appendix_b_and_changes_nothing(base: Any, over: Any) -> None:
    before = copy.deepcopy((base, over))
    merged = merge(tree(base), tree(over, "over"))
    assert merged.value == plain_merge(base, over)
    assert (base, over) == before
    if isinstance(merged.value, dict) and isinstance(base, dict) and isinstance(over, dict):
        assert list(merged.value) == [*base, *(key for key in over if key not in base)]


@given(VALUES, VALUES)
def test_every_leaf_of_a_merge_stands_where_its_origin_says(base: Any, over: Any) -> None:
    values = {"base": base, "over": over}
    merged = merge(tree(base), tree(over, "over"))
    for path, value in walk(merged.value):
        if not isinstance(value, dict):
            name, there = origin_of(merged, path)
            assert get(values[name], there, HOLE) == value


def _parts_mappings(a: Any, b: Any, c: Any) -> bool:
    """Whether something that is no mapping lies between two that are, at any path."""
    if not (isinstance(a, dict) and isinstance(c, dict)):
        return False
    if not isinstance(b, dict):
        return True
    return any(_parts_mappings(a[key], b[key], c[key]) for key in a.keys() & b.keys() & c.keys())


@pytest.mark.requirement("F-002")
@settings(max_examples=tries(400))
@given(VALUES, VALUES, VALUES)
@example({"a": {"b": 1}}, {"a": {}}, {"a": {"c": 1}})
@example({"a": {"b": 1}}, {"c": 1}, {"a": {"c": 1}})
def test_merging_is_associative_unless_a_scalar_parts_two_mappings(a: Any, b: Any, c: Any) -> None:
    """The law of seed 000, section 6.4, as far as its algorithm keeps it: and no further."""
    left = merge(merge(tree(a), tree(b)), tree(c)).value
    right = merge(tree(a), merge(tree(b), tree(c))).value
    if not _parts_mappings(a, b, c):
        assert (left, list(walk(left))) == (right, list(walk(right)))


@given(MAPS_OF_MAPS, MAPS_OF_MAPS, MAPS_OF_MAPS)
def test_merging_maps_is_associative(a: Any, b: Any, c: Any) -> None:
    left = merge(merge(tree(a), tree(b)), tree(c)).value
    right = merge(tree(a), merge(tree(b), tree(c))).value
    assert left == right


def test_a_scalar_between_two_mappings_ends_the_first() -> None:
    a, b, c = ({"k": {"x": 1}}, {"k": 0}, {"k": {"y": 1}})
    assert merge(merge(tree(a), tree(b)), tree(c)).value == {"k": {"y": 1}}
    assert merge(tree(a), merge(tree(b), tree(c))).value == {"k": {"x": 1, "y": 1}}


def test_a_merged_map_keeps_its_place_and_names_the_override() -> None:
    merged = merge(tree({"a": {"x": 1}}), tree({"a": {"y": 2}}, "over"))
    story = merged.provenance(("a",))
    assert story.origin.document.source.name == "base"
    assert [each.document.source.name for each in story.merged] == ["over"]


def test_a_replaced_list_is_wholly_that_of_the_override() -> None:
    merged = merge(tree({"l": [1, 2]}), tree({"l": [3]}, "over"))
    assert origin_of(merged, ("l", 0)) == ("over", ("l", 0))
    assert [each.document.source.name for each in merged.provenance(("l",)).replaced] == ["base"]


@pytest.mark.parametrize(
    ("strategy", "result"),
    [("append", [1, 2, 3]), ("replace", [3]), ("merge", [3])],
    ids=["append", "replace", "merge"],
)
def test_a_strategy_per_path(strategy: Any, result: list[int]) -> None:
    merged = merge(
        tree({"l": [1, 2]}),
        tree({"l": [3]}, "over"),
        lambda path, _b, _o: strategy if path else "merge",
    )
    assert merged.value == {"l": result}
    assert origin_of(merged, ("l", len(result) - 1))[0] == "over"


def test_a_merge_deeper_than_the_limit_replaces() -> None:
    base: Any = {"x": 1}
    over: Any = {"y": 2}
    for _ in range(70):
        base, over = {"a": base}, {"a": over}
    result = merge(tree(base), tree(over)).value
    for _ in range(64):
        result = result["a"]
    assert "x" not in str(result)


@pytest.mark.parametrize(("depth", "merged"), [(63, True), (64, False)])
def test_the_limit_is_exact(depth: int, merged: bool) -> None:
    base: Any = {"x": 1}
    over: Any = {"y": 2}
    for _ in range(depth):
        base, over = {"a": base}, {"a": over}
    result = merge(tree(base), tree(over)).value
    for _ in range(depth):
        result = result["a"]
    assert result == ({"x": 1, "y": 2} if merged else {"y": 2})


def test_an_override_does_not_come_through_the_include() -> None:
    directive = Origin(Document(Source.of_text("main", ""), "yaml", {}), ("$include",))
    included = tree({"a": 1, "b": 2})
    included = Tree(
        included.value, included.origins.replace(via=(Via("included from here", directive),))
    )
    merged = merge(included, tree({"b": 3, "c": 4}, "main"))
    assert merged.provenance(("a",)).via
    assert not merged.provenance(("b",)).via
    assert not merged.provenance(("c",)).via


@given(MAPS, VALUES)
def test_graft_replaces_whole_parts_and_copies_only_the_way(base: dict[str, Any], new: Any) -> None:
    paths = [path for path, _ in walk(base)]
    before = copy.deepcopy(base)
    for path in paths:
        result = graft(tree(base), {path: tree(new, "new")})
        assert get(result.value, path) == new
        assert origin_of(result, path)[0] == "new"
        assert base == before
        for key, value in base.items():
            if path and path[0] != key:
                assert result.value[key] is value


def test_graft_of_many_parts_at_once() -> None:
    result = graft(tree({"l": [0, 0, 0]}), {("l", 0): tree("x", "x"), ("l", 2): tree("y", "y")})
    assert result.value == {"l": ["x", 0, "y"]}
    assert [origin_of(result, ("l", number))[0] for number in range(3)] == ["x", "base", "y"]
    assert graft(result, {}) is result
    again = graft(result, {("l", 1): tree("z", "z")})
    assert [origin_of(again, ("l", number))[0] for number in range(3)] == ["x", "z", "y"]


def test_move_takes_the_origin_along_and_remembers_the_way_back() -> None:
    moved = move(tree({"tools": [1], "keep": 0}), ("tools",), ("baseline", "tools"))
    assert moved.value == {"keep": 0, "baseline": {"tools": [1]}}
    assert origin_of(moved, ("baseline", "tools", 0)) == ("base", ("tools", 0))
    assert moved.path_as_written(("baseline", "tools", 0)) == ("tools", 0)
    assert moved.path_as_written(("keep",)) == ("keep",)


def test_put_and_remove() -> None:
    changed = put(tree({"a": {"b": 1}}), ("a", "c", "d"), 2, origin=("a", "b"))
    assert changed.value == {"a": {"b": 1, "c": {"d": 2}}}
    assert origin_of(changed, ("a", "c", "d")) == ("base", ("a", "b"))
    assert remove(changed, ("a", "c")).value == {"a": {"b": 1}}
    assert put(tree({"l": [1, 2]}), ("l", 1), 3).value == {"l": [1, 3]}
    assert ways(changed, ("a", "c", "d")) == ["normalised"]
    assert ways(put(tree({"a": 1}), ("a",), 2, how=""), ("a",)) == []


def test_what_is_put_stands_where_the_old_value_stood() -> None:
    changed = put(tree({"a": {"b": 1}, "l": [{"c": 1}]}), ("a", "b"), 2)
    assert origin_of(changed, ("a", "b")) == ("base", ("a", "b"))
    assert put(changed, ("l", 0, "d"), 3).value == {"a": {"b": 2}, "l": [{"c": 1, "d": 3}]}
    assert "b" not in remove(changed, ("a", "b")).origins.below["a"].below


def test_every_operation_keeps_the_way_back() -> None:
    moved = move(tree({"tools": [1, 2], "keep": {"x": 0}}), ("tools",), ("baseline", "tools"))
    over = tree({"keep": {"x": 1}, "baseline": {"tools": [3]}}, "over")
    for changed in (
        put(moved, ("keep", "x"), 1),
        remove(moved, ("keep", "x")),
        attach(moved, ("new",), tree(1)),
        select_entries(moved, ("baseline", "tools"), [0]),
        graft(moved, {("keep",): tree(1)}),
        graft(moved, {(): tree(1)}),
        merge(moved, over),
        merge(
            moved, over, lambda path, _base, _over: "append" if path[-1:] == ("tools",) else "merge"
        ),
        merge(moved, tree(1)),
    ):
        assert changed.path_as_written(("baseline", "tools", 0)) == ("tools", 0)
    listed = Tree([1], moved.origins, moved.moves)
    whole = merge(listed, tree([2]), lambda _path, _base, _over: "append")
    assert (whole.value, whole.moves) == ([1, 2], moved.moves)


def test_a_strategy_is_asked_with_both_values() -> None:
    asked: list[tuple[Path, Any, Any]] = []

    def strategy(path: Path, base: Any, over: Any) -> Any:
        asked.append((path, base, over))
        return "merge"

    merge(tree({"a": 1}), tree({"a": 2}), strategy)
    assert asked == [((), {"a": 1}, {"a": 2}), (("a",), 1, 2)]


def test_walk_gives_parents_first_in_document_order() -> None:
    assert list(walk({"a": [1, {"b": 2}, 3], "c": 4}, ("x",))) == [
        (("x",), {"a": [1, {"b": 2}, 3], "c": 4}),
        (("x", "a"), [1, {"b": 2}, 3]),
        (("x", "a", 0), 1),
        (("x", "a", 1), {"b": 2}),
        (("x", "a", 1, "b"), 2),
        (("x", "a", 2), 3),
        (("x", "c"), 4),
    ]


def test_attach_makes_the_way() -> None:
    result = attach(tree({"a": 1}), ("b", "c"), tree(2, "other"))
    assert result.value == {"a": 1, "b": {"c": 2}}
    assert origin_of(result, ("b", "c")) == ("other", ())
    assert origin_of(result, ("a",)) == ("base", ("a",))


def test_find_gives_the_outermost_in_document_order() -> None:
    value = {"b": [{"$x": {"$x": 1}}, 2], "a": {"c": {"$x": 2}}}
    assert find(value, lambda node: "$x" in node) == [("b", 0), ("a", "c")]
    assert find({"$x": 1}, lambda node: "$x" in node) == [()]
    assert find([{"$x": 1}, [], {"$x": 2}], lambda node: "$x" in node) == [(0,), (2,)]


def test_get_of_what_is_not_there() -> None:
    assert get({"a": [1]}, ("a", 3), "no") == "no"
    assert get({"a": [1]}, ("a", 0, "x"), "no") == "no"
    assert get({"a": 1}, ("b",), "no") == "no"
    assert get({"a": [1]}, ("a", 1), "no") == "no"
    assert get([1], ("x",), "no") == "no"
    assert get("text", (0,), "no") == "no"
    assert get(FrozenDict({"a": FrozenDict({"b": 1})}), ("a", "b")) == 1


def test_there_is_one_hole() -> None:
    assert Hole() is HOLE
    assert pickle.loads(pickle.dumps(HOLE)) is HOLE
    assert repr(HOLE) == "HOLE"


def test_origins_pickle() -> None:
    origins = tree({"a": 1}).origins.put(("a",), Origins(None, (Via("x"),)))
    assert pickle.loads(pickle.dumps(origins)).below["a"].via == (Via("x"),)


def test_removing_takes_one_part_and_leaves_the_rest() -> None:
    one, two = Origins(None, (Via("one"),)), Origins(None, (Via("two"),))
    whole = tree({"a": {"b": {"c": 1, "d": 2}, "e": 3}})
    origins = whole.origins.put(("a", "b", "c"), one).put(("a", "b", "d"), two).put(("a", "e"), one)
    left = remove(Tree(whole.value, origins), ("a", "b", "c"))
    assert left.value == {"a": {"b": {"d": 2}, "e": 3}}
    assert left.origins.below["a"].below["b"].below == {"d": two}
    assert left.origins.below["a"].below["e"] is one
    assert origins.below["a"].below["b"].below == {"c": one, "d": two}
    assert whole.value["a"]["b"] == {"c": 1, "d": 2}


def test_removing_many() -> None:
    whole = tree({"a": {"b": 1, "c": 2}, "d": [{"e": 3, "f": 4}], "g": 5})
    left = remove_all(whole, [("a", "b"), ("d", 0, "e"), ("g",), ("a", "no")])
    assert left.value == {"a": {"c": 2}, "d": [{"f": 4}]}
    assert not left.origins.below
    assert remove_all(whole, []) is whole


def test_putting_many() -> None:
    whole = tree({"a": {"b": 1, "c": 2}, "d": [3, 4]})
    changed = put_all(whole, {("a", "b"): "x", ("d", 1): "y"})
    assert changed.value == {"a": {"b": "x", "c": 2}, "d": [3, "y"]}
    one_by_one = put(put(whole, ("a", "b"), "x"), ("d", 1), "y")
    assert changed.provenance(("d", 1)) == one_by_one.provenance(("d", 1))
    assert changed.provenance(("a", "b")) == one_by_one.provenance(("a", "b"))


def test_grafting_a_new_key() -> None:
    part = tree("x")
    assert graft(tree({"a": {}}), {("a", "b"): part}).value == {"a": {"b": "x"}}


def test_what_was_brought_in_one_way() -> None:
    origins = (
        tree({})
        .origins.put(("a",), Origins(None, (Via("x"), Via("y"))))
        .put(("b", 0), Origins(None, (Via("y"),)))
    )
    assert sorted(origins.paths_brought_by("x")) == [("a",)]
    assert sorted(origins.paths_brought_by("y")) == [("a",), ("b", 0)]
    assert list(origins.paths_brought_by("z")) == []


def layered(value: Any, name: str) -> Tree:
    plain = tree(value, name)
    return Tree(plain.value, plain.origins.replace(via=(Via(f"{name} layer"), Via(f"{name} file"))))


def ways(result: Tree, path: Path) -> list[str]:
    """What brought a value, without the second step of each layer, which must always follow the
    first."""
    steps = [via.how for via in result.provenance(path).via]
    layers, files = (
        [each for each in steps if not each.endswith(" file")],
        [each for each in steps if each.endswith(" file")],
    )
    assert not files or [each.replace(" file", " layer") for each in files] == layers
    return layers


def test_every_value_of_a_merge_knows_what_brought_its_own_side() -> None:
    user = layered({"a": {"x": 1, "y": {"z": 1}}, "l": [1]}, "user")
    project = layered({"a": {"x": 2, "y": {"w": 3}}, "l": [2], "new": {"k": 1}}, "project")
    local = layered({"a": {"y": {"z": 4}}}, "local")
    append = merge(user, project, lambda path, _b, _o: "append" if path == ("l",) else "merge")
    result = merge(append, local)
    assert ways(result, ("a",)) == ["user layer"]
    assert ways(result, ("a", "x")) == ["project layer"]
    assert ways(result, ("a", "y", "w")) == ["project layer"]
    assert ways(result, ("a", "y", "z")) == ["local layer"]
    assert ways(result, ("l", 0)) == ["user layer"]
    assert ways(result, ("l", 1)) == ["project layer"]
    assert ways(result, ("new", "k")) == ["project layer"]


LISTS_APPEND = st.booleans().map(lambda yes: "append" if yes else "merge")


@given(st.lists(MAPS, min_size=1, max_size=4), LISTS_APPEND, st.booleans())
def test_every_leaf_came_with_the_layer_that_wrote_it(
    layers: list[Any], how: Any, from_the_right: bool
) -> None:
    trees = [layered(value, f"layer {number}") for number, value in enumerate(layers)]

    def laid(base: Tree, over: Tree) -> Tree:
        return merge(
            base, over, lambda _path, low, _high: how if isinstance(low, list) else "merge"
        )

    result = (
        reduce(lambda over, base: laid(base, over), reversed(trees))
        if from_the_right
        else reduce(laid, trees)
    )
    for path, value in walk(result.value):
        if not isinstance(value, dict | list):
            assert ways(result, path) == [f"{origin_of(result, path)[0]} layer"]


def test_layers_of_different_length() -> None:
    def brought(value: Any, *steps: str) -> Tree:
        return Tree(value, tree(value, steps[0]).origins.replace(via=tuple(map(Via, steps))))

    user, project = brought({"a": 1}, "u"), brought({"n": {"x": 1}}, "p1", "p2", "p3")
    result = merge(merge(user, project), brought({"n": {"y": 2}}, "l"))
    assert [via.how for via in result.provenance(("n", "x")).via] == ["p1", "p2", "p3"]
    assert [via.how for via in result.provenance(("n", "y")).via] == ["l"]


def test_the_story_of_the_whole() -> None:
    whole = merge(layered({"a": 1}, "user"), tree({"b": 2}, "over"))
    assert [via.how for via in whole.provenance(()).via] == ["user layer", "user file"]
    assert [each.document.source.name for each in whole.provenance(()).merged] == ["over"]
    replaced = merge(tree([1]), tree([2], "over"))
    assert [each.document.source.name for each in replaced.provenance(()).replaced] == ["base"]


def test_select_in_a_list_that_was_not_composed() -> None:
    result = select_entries(tree({"l": [1, 2, 3]}), ("l",), [2])
    assert (result.value, origin_of(result, ("l",))) == ({"l": [3]}, ("base", ("l",)))
    assert origin_of(result, ("l", 0)) == ("base", ("l", 2))
    deep = select_entries(tree({"a": {"l": [1, 2]}}), ("a", "l"), [1])
    assert (deep.value, origin_of(deep, ("a", "l", 0))) == (
        {"a": {"l": [2]}},
        ("base", ("a", "l", 1)),
    )


def test_select_keeps_what_the_list_replaced() -> None:
    result = select_entries(merge(tree({"l": [1]}), tree({"l": [2, 3]}, "over")), ("l",), [0])
    assert [each.document.source.name for each in result.provenance(("l",)).replaced] == ["base"]


def test_select_keeps_the_origins_of_what_stays() -> None:
    base, over = layered({"l": [1, 2]}, "user"), layered({"l": [3, 4]}, "project")
    merged = merge(base, over, lambda path, _b, _o: "append" if path else "merge")
    result = select_entries(merged, ("l",), [1, 3])
    assert result.value == {"l": [2, 4]}
    assert [origin_of(result, ("l", number)) for number in (0, 1)] == [
        ("user", ("l", 1)),
        ("project", ("l", 1)),
    ]
    assert ways(result, ("l", 0)) == ["user layer"]
    assert ways(result, ("l", 1)) == ["project layer"]


def undo(moves: Sequence[tuple[Path, Path]], path: Path) -> Path:
    return Tree(None, Origins(), tuple(moves)).path_as_written(path)


def test_moves_are_undone_the_last_one_first() -> None:
    moves = [(("a",), ("b",)), (("c",), ("a",)), (("b", "x"), ("d",)), (("e",), ("b",))]
    assert undo(moves, ("a", 1)) == ("c", 1)
    assert undo(moves, ("d", "y")) == ("a", "x", "y")
    assert undo(moves, ("b",)) == ("e",)
    assert undo(moves, ("z",)) == ("z",)
    assert undo(moves, ()) == ()


def through(whole: Tree, *hows: str) -> Tree:
    """The tree as something brought it."""
    return Tree(whole.value, whole.origins.replace(via=tuple(map(Via, hows))))


def hows(whole: Tree, path: Path) -> list[str]:
    return [via.how for via in whole.provenance(path).via]


@pytest.mark.parametrize("count", [0, 1, 2, 3, 4])
@pytest.mark.parametrize("base", [{}, {"y": 0, "z": {}, "list": [0]}])
def test_a_part_of_a_composed_value_does_not_come_through_what_brings_its_new_base(
    base: dict[str, Any], count: int
) -> None:
    """However many directives brought the base: what is laid over it was written elsewhere."""
    included = through(tree({"x": {"a": 1, "y": 2}}, "a"), "include")
    composed = merge(included, tree({"x": {"y": 3, "z": 4, "list": [5]}}, "b"))
    assert hows(composed, ("x", "a")) == ["include"]
    part = composed.subtree(("x",))
    names = [f"way {number}" for number in range(count)]
    whole = merge(through(tree(base, "c"), *names), part, lambda *_: "merge")
    appended = merge(
        through(tree(base, "c"), *names), part, lambda path, *_: "append" if path else "merge"
    )
    for found in (whole, appended):
        for path in (("a",), ("y",), ("z",)):
            assert hows(found, path) == [], path
    assert hows(appended, ("list", len(base.get("list", ())))) == []
    assert hows(whole, ()) == names
    for key in base:
        assert hows(through(tree(base, "c"), *names), (key,)) == names
    again = merge(tree({"k": base}, "c"), Tree({"k": part.value}, Origins(part.origins.here, below={"k": part.origins})))  # fmt: skip
    assert hows(again, ("k", "y")) == hows(again, ("k", "z")) == []


def test_a_hole_stays_a_hole_under_a_mapping_and_gives_way_to_what_replaces_it() -> None:
    whole = punch_holes(tree({"a": 1, "b": {"c": 2}}), [("a",), ("b", "c")])
    assert whole.value == {"a": HOLE, "b": {"c": HOLE}}
    assert origin_of(whole, ("b", "c")) == ("base", ("b", "c"))
    over = tree({"a": {"x": 1}}, "over")
    assert merge(whole, over).value["a"] is HOLE
    assert merge(whole, over, lambda path, *_: "replace" if path else "merge").value["a"] == {"x": 1}  # type: ignore[arg-type,return-value]  # fmt: skip
    assert merge(whole, tree({"a": 5}, "over")).value["a"] == 5


def test_what_is_no_mapping_is_an_empty_one() -> None:
    kept = {"a": 1}
    assert mapping_or_empty(kept) is kept
    assert [mapping_or_empty(each) for each in ([1], "a", None, 0)] == [{}] * 4


def test_putting_many_keeps_where_each_was_written() -> None:
    composed = graft(tree({"a": {"b": 1}, "c": 2}), {("a",): tree({"b": 3}, "other")})
    changed = put_all(composed, {("a", "b"): 4, ("c",): 5}, how="")
    assert origin_of(changed, ("a", "b")) == ("other", ("b",))
    assert origin_of(changed, ("c",)) == ("base", ("c",))
    assert origin_of(put_all(composed, {("a",): 4}), ("a",)) == ("other", ())
    assert origin_of(punch_holes(composed, [("a",)]), ("a",)) == ("other", ())
    assert hows(changed, ("a", "b")) == []
    assert hows(put_all(composed, {("c",): 5}, how="x"), ("c",)) == ["x"]


def test_removing_many_entries_of_one_mapping() -> None:
    whole = tree({"a": 1, "b": 2, "c": {"d": 3}})
    assert remove_all(whole, [("a",), ("b",), ("c", "d")]).value == {"c": {}}


def test_what_replaces_a_composed_value_names_the_place_that_lost() -> None:
    base = merge(tree({"k": {"a": 1}}), tree({"k": [1]}, "second"))
    found = merge(base, tree({"k": "x"}, "third")).provenance(("k",))
    assert [each.document.source.name for each in found.replaced] == ["base", "second"]
    assert [each.path for each in found.replaced] == [("k",), ("k",)]


def test_moves_that_follow_each_other_in_one_place() -> None:
    """The last move that brought a path here is undone first, also where an earlier one, of
    something around it, ends in the same place."""
    moves = [(("a",), ("x",)), (("b",), ("x", "y")), (("c",), ("x",)), (("x", "y"), ("z",))]
    assert undo(moves, ("z", "n")) == ("c", "y", "n")
    assert undo(moves[:2], ("x", "y")) == ("b",)
    assert undo(moves[:3], ("x", "y")) == ("c", "y")
    assert undo(moves[:2], ("x", "n")) == ("a", "n")
    twice = [(("a",), ("x", "y")), (("b",), ("x",)), (("c",), ("x", "y"))]
    assert undo(twice, ("x", "y")) == ("c",)
    around = [(("a",), ("x",)), (("x",), ("x", "y")), (("b",), ("x",))]
    assert undo(around, ("x", "y")) == ("b", "y")


def test_a_tree_knows_the_document_that_it_is_of() -> None:
    whole = tree({"a": {"b": 1}})
    composed = graft(whole, {("a",): tree({"b": 2}, "other")})
    assert composed.document.source.name == "base"
    assert composed.subtree(("a",)).document.source.name == "other"


@pytest.mark.parametrize(
    ("skip", "above", "above_skip", "expected"),
    [
        (0, "ab", 5, ("abc", 5)),
        (1, "ab", 5, ("ac", 5)),
        (2, "ab", 5, ("c", 5)),
        (4, "ab", 5, ("c", 7)),
    ],
)
def test_a_node_in_the_place_of_another_skips_what_brought_that(
    skip: int, above: str, above_skip: int, expected: tuple[str, int]
) -> None:
    """What it skips and the other does not have is skipped further up."""
    node = Origins(via=(Via("c"),), skip=skip)
    other = Origins(via=tuple(map(Via, above)), skip=above_skip)
    found = node.inherit_via(other)
    assert ("".join(each.how for each in found.via), found.skip) == expected
