"""Frozen means deeply frozen (design D5)."""

from __future__ import annotations

import copy
import dataclasses
import json
import operator
import pickle
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

import equipage
from equipage.core.frozen import FrozenDict, FrozenList, freeze, frozen, thawed
from kinds.toolpack.making import pack

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=15,
)


class Leaf(msgspec.Struct, frozen=True):
    free: Any = None
    named: dict[str, Any] = {}


class Twig(msgspec.Struct, frozen=True):
    leaves: tuple[Leaf, ...] = ()
    by_name: dict[str, Leaf] = {}
    mixed: tuple[Any, ...] = ()
    parent: Twig | None = None
    text: str = ""


def mutable_parts(value: Any) -> list[Any]:
    """Every plain dict, list or set reachable from a value."""
    if isinstance(value, msgspec.Struct):
        return [
            part for name in value.__struct_fields__ for part in mutable_parts(getattr(value, name))
        ]
    found = [value] if type(value) in (dict, list, set) else []
    children = (
        value.values()
        if isinstance(value, dict)
        else value
        if isinstance(value, list | tuple)
        else ()
    )
    return found + [part for child in children for part in mutable_parts(child)]


@given(JSON)
def test_frozen_values_are_the_plain_ones_in_all_but_change(value: Any) -> None:
    result = frozen(value)
    assert result == value
    assert not mutable_parts(result)
    assert json.dumps(result) == json.dumps(value)
    assert msgspec.json.encode(result) == msgspec.json.encode(value)
    assert pickle.loads(pickle.dumps(result)) == value
    assert not mutable_parts(pickle.loads(pickle.dumps(result)))
    assert copy.deepcopy(result) == copy.copy(result) == value
    assert hash(result) == hash(frozen(copy.deepcopy(value)))
    assert thawed(result) == value
    assert type(thawed(result)) is type(value)


@given(JSON)
def test_nothing_plain_is_left_in_a_model(value: Any) -> None:
    plain = {
        "leaves": [{"free": value, "named": {"a": value}}],
        "by_name": {"x": {"free": [value]}},
        "mixed": [value],
    }
    model = freeze(msgspec.convert({**plain, "parent": plain}, Twig))
    assert not mutable_parts(model)
    assert model.parent.leaves[0].free == value
    assert hash(model) == hash(freeze(msgspec.convert({**plain, "parent": plain}, Twig)))


@pytest.mark.parametrize(
    "change",
    [
        lambda d: d.__setitem__("a", 1),
        lambda d: d.__delitem__("a"),
        lambda d: d.update(a=1),
        lambda d: d.pop("a"),
        lambda d: d.popitem(),
        lambda d: d.clear(),
        lambda d: d.setdefault("b", 1),
        lambda d: d.__ior__({"b": 1}),
    ],
)
def test_a_frozen_dict_refuses(change: Any) -> None:
    value = FrozenDict({"a": 1})
    with pytest.raises(TypeError, match="immutable"):
        change(value)
    assert value == {"a": 1}


@pytest.mark.parametrize(
    "change",
    [
        lambda x: x.__setitem__(0, 1),
        lambda x: x.__delitem__(0),
        lambda x: x.append(1),
        lambda x: x.extend([1]),
        lambda x: x.insert(0, 1),
        lambda x: x.pop(),
        lambda x: x.remove(0),
        lambda x: x.clear(),
        lambda x: x.sort(),
        lambda x: x.reverse(),
        lambda x: x.__iadd__([1]),
        lambda x: x.__imul__(2),
    ],
)
def test_a_frozen_list_refuses(change: Any) -> None:
    value = FrozenList([0])
    with pytest.raises(TypeError, match="immutable"):
        change(value)
    assert value == [0]


def test_a_second_init_changes_nothing() -> None:
    mapping, items = FrozenDict({"a": 1}), FrozenList([0])
    mapping.__init__({"b": 2})  # type: ignore[misc]
    items.__init__([9])  # type: ignore[misc]
    assert (mapping, items) == ({"a": 1}, [0])


BACK_DOORS: dict[str, Callable[[Any], Any]] = {
    "__dict__": lambda x: vars(x).update(id="changed"),
    "__init__": lambda x: x.__init__(**{each.name: "changed" for each in dataclasses.fields(x)}),
    "__setstate__": lambda x: x.__setstate__({"id": "changed"}),
    "setattr": lambda x: setattr(x, "id", "changed"),
    "delattr": lambda x: delattr(x, "id"),
    "__class__": lambda x: setattr(x, "__class__", type("Other", (), {})),
    "in place": lambda x: operator.ior(x.limits, {"a": 1}),
    "operator": lambda x: operator.setitem(x.input_schema["enum"], slice(0, 1), []),
    "shuffle": lambda x: random.shuffle(x.input_schema["enum"]),
    "exec": lambda x: exec("changed = 1", {}, x.limits),
}


@pytest.mark.parametrize("door", BACK_DOORS)
@pytest.mark.requirement("F-009")
def test_a_pack_has_no_back_doors(door: str, tmp_path: Path) -> None:
    path = tmp_path / "a.tool.yaml"
    path.write_text(json.dumps(pack(inputSchema={"enum": [3, 1, 2]})))
    loaded: Any = equipage.load(path).config
    before, digest = loaded.to_dict(), loaded.digest
    with pytest.raises((TypeError, AttributeError)):
        BACK_DOORS[door](loaded)
    again = equipage.load(path).config
    assert (loaded.to_dict(), loaded.digest) == (again.to_dict(), again.digest) == (before, digest)
    assert pickle.loads(pickle.dumps(loaded)) == copy.deepcopy(loaded) == again
    assert dataclasses.replace(loaded, id="b.c").digest != digest


def test_shared_parts_stay_shared() -> None:
    part = {"a": [1]}
    result = frozen({"x": part, "y": part})
    assert result["x"] is result["y"]


def test_a_plain_configuration_can_be_frozen_too() -> None:
    assert type(freeze({"a": [1]})) is FrozenDict


class Branch(msgspec.Struct, frozen=True):
    """Holds its like, and something mutable."""

    below: tuple["Branch", ...] = ()  # noqa: UP037 - evaluated, as in the models of the kinds
    notes: dict[str, str] = msgspec.field(default_factory=dict)


def test_what_holds_its_like_is_frozen_to_the_ground() -> None:
    tree = freeze(msgspec.convert({"below": [{"below": [{"notes": {"a": "b"}}]}]}, Branch))
    assert isinstance(tree.below[0].below[0].notes, FrozenDict)
    assert isinstance(tree.notes, FrozenDict)


class Trunk(msgspec.Struct, frozen=True):
    """Shares a default that holds something mutable."""

    branch: Branch = Branch()


def test_a_shared_default_is_frozen_too() -> None:
    assert isinstance(freeze(msgspec.convert({}, Trunk)).branch.notes, FrozenDict)


def test_no_two_loads_share_a_mapping() -> None:
    """`eval` adds to the mapping it is given, frozen or not; that must stay in one load."""
    text = '{"id": "x", "flow": {"kind": "seq", "children": []}}'
    first, second = (equipage.loads(text, kind="blueprint").config for _ in range(2))
    eval("1", first.hints.per_agent)
    assert second.hints.per_agent == {}
    assert equipage.loads(text, kind="blueprint").config.hints.per_agent == {}


def test_a_result_has_no_back_doors() -> None:
    text = (
        "server: {name: x}\ntools:\n"
        "- tool: {name: t, description: d, inputSchema: {type: object, required: [b, a]}}\n"
        "  response: {content: [{type: text, text: {$generate: {type: garbage, bytes: 5}}}]}\n"
    )
    loaded = equipage.loads(text, kind="server")
    tool = loaded.config.baseline.tools[0]
    payload, schema = tool.response.content[0].text, tool.tool.input_schema
    for each in (loaded, loaded.config, tool, payload, schema, schema["required"]):
        assert not hasattr(each, "__dict__"), type(each)
        assert not hasattr(each, "__setstate__"), type(each)
        with pytest.raises((AttributeError, TypeError)):
            each.new = 1
    with pytest.raises(AttributeError):
        loaded.__init__(None)  # type: ignore[misc]
    schema.__init__({"a": 1})
    schema["required"].__init__(["c"])
    assert schema == {"type": "object", "required": ["b", "a"]}
    again = pickle.loads(pickle.dumps(loaded))
    assert again.config == loaded.config
    assert again.digest == loaded.digest
    assert again.explain("tools[0].tool.name").steps
