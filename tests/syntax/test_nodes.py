"""The located tree: what is kept of a text, which of equal keys counts, and how keys are named."""

from __future__ import annotations

import pytest

from equipage.core.path import Path
from equipage.syntax import Place
from equipage.syntax.nodes import (
    WANT_EVERYTHING,
    WANT_NOTHING,
    Alias,
    Collection,
    PathTrie,
    Scalar,
    TreeBuilder,
    find_places,
    key_text,
    value_of,
)


def test_a_trie_knows_what_is_wanted_at_each_step() -> None:
    trie = PathTrie.from_paths([("a", 0), ("a",), ()])
    assert trie.path == ()
    assert trie.child("a").path == ("a",)
    assert trie.child("a").child(0).path == ("a", 0)
    assert trie.child("b") is trie.child("a").child("0") is WANT_NOTHING


def built(wanted: PathTrie = WANT_EVERYTHING) -> TreeBuilder:
    """The tree of `{a: [1], b: {c: 2}, a: [3]}`, each token a column of its own."""
    tree = TreeBuilder(wanted)
    tree.open(0, is_mapping=True)
    for start, key, value in ((1, "a", 1), (5, "b", None), (10, "a", 3)):
        tree.add(Scalar(start, start + 1, key))
        tree.open(start + 1, is_mapping=value is None)
        if value is None:
            tree.add(Scalar(start + 2, start + 3, "c"))
        if tree.is_keeping:
            tree.add(Scalar(start + 3, start + 4, value or 2))
        tree.close(start + 5)
    tree.close(16)
    return tree


def test_the_last_of_equal_keys_counts() -> None:
    tree = built()
    assert value_of(tree.root) == {"a": [3], "b": {"c": 2}}
    assert find_places(tree.root, [(), ("a", 0), ("b", "c"), ("a", 1), ("b", 0), ("a", -1)]) == {
        (): Place((0, 16)),
        ("a", 0): Place((13, 14)),
        ("b", "c"): Place((8, 9), (7, 8)),
    }


@pytest.mark.parametrize(
    ("wanted", "kept"),
    [([("b", "c")], ["b"]), ([("a", 0)], ["a", "a"]), ([("b",)], ["b"]), ([()], [])],
)
def test_an_entry_that_no_path_enters_is_not_kept(wanted: list[Path], kept: list[str]) -> None:
    root = built(PathTrie.from_paths(wanted)).root
    assert isinstance(root, Collection)
    assert [value_of(key) for key, _ in root.pairs()] == kept
    assert set(find_places(root, wanted)) == set(wanted)


def test_below_an_alias_are_the_places_of_its_node() -> None:
    target = Collection(0, WANT_EVERYTHING, is_mapping=False, event=None)
    target.children.append(Scalar(1, 2, "x"))
    root = Collection(5, WANT_EVERYTHING, is_mapping=False, event=None)
    root.children.append(Alias(6, 8, target, None))
    assert find_places(root, [(0,), (0, 0)]) == {(0,): Place((6, 8)), (0, 0): Place((1, 2))}


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("a", "a"),
        (None, "~"),
        (True, "true"),
        (1.5, "1.5"),
        ([1, "é"], '[1, "é"]'),
        ({"a": "x" * 100}, '{"a": "' + "x" * 73 + "…"),
    ],
)
def test_keys_that_are_not_text(key: object, text: str) -> None:
    assert key_text(key) == text
