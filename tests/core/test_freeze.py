"""Frozen means deeply frozen (design D5)."""

from __future__ import annotations

import copy
import dataclasses
import json
import operator
import pickle
import random
import time
from _thread import allocate_lock, start_new_thread
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

import equipage
from equipage.core import frozen as frozen_module
from equipage.core.frozen import FrozenDict, FrozenList, freeze, freeze_plain, unfreeze
from formats.toolpack.making import pack

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
    result = freeze_plain(value)
    assert result == value
    assert not mutable_parts(result)
    assert json.dumps(result) == json.dumps(value)
    assert msgspec.json.encode(result) == msgspec.json.encode(value)
    assert pickle.loads(pickle.dumps(result)) == value
    assert not mutable_parts(pickle.loads(pickle.dumps(result)))
    assert copy.deepcopy(result) == copy.copy(result) == value
    assert hash(result) == hash(freeze_plain(copy.deepcopy(value)))
    assert unfreeze(result) == value
    assert type(unfreeze(result)) is type(value)


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
    result = freeze_plain({"x": part, "y": part})
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


def test_equal_values_have_one_hash_and_others_another() -> None:
    for make in (lambda: {"a": [1, {"b": 2}]}, lambda: [1, {"a": [2]}]):
        assert hash(freeze_plain(make())) == hash(freeze_plain(make()))
    assert hash(freeze_plain({"a": 1, "b": 2})) == hash(freeze_plain({"b": 2, "a": 1}))
    assert len({hash(freeze_plain(each)) for each in ({}, {"a": 1}, {"a": 2}, [], [1], [1, 2])}) > 4


def test_a_thawed_value_is_plain_to_the_ground() -> None:
    value = {"a": [1, {"b": [None, {}]}], "c": "text"}
    thaw = unfreeze(freeze_plain(value))
    assert thaw == value
    assert [type(each) for each in (thaw, thaw["a"], thaw["a"][1], thaw["a"][1]["b"])] == [
        *(dict, list, dict, list)
    ]
    assert unfreeze((1, FrozenDict({"a": (2,)}))) == [1, {"a": [2]}]


def test_a_refusal_says_how_to_copy() -> None:
    with pytest.raises(TypeError, match=r"copy it first: dict\(…\)$"):
        FrozenDict({})["a"] = 1
    with pytest.raises(TypeError, match=r"copy it first: list\(…\)$"):
        FrozenList([]).append(1)


def test_shared_parts_stay_shared_wherever_they_are() -> None:
    part = {"a": [1]}
    inside = freeze_plain([part, {"x": part}, [part]])
    assert inside[0] is inside[1]["x"] is inside[2][0]
    model = freeze(Twig(leaves=(Leaf(free=part), Leaf(named={"x": part})), mixed=(part, [part])))
    found = [model.leaves[0].free, model.leaves[1].named["x"], model.mixed[0], model.mixed[1][0]]
    assert {id(each) for each in found} == {id(found[0])}
    named = freeze(Twig(by_name={"l": Leaf(free=part), "m": Leaf(free=part)}))
    assert named.by_name["l"].free is named.by_name["m"].free


# The first use of a model.


def fresh() -> Any:
    """A model that nothing used before."""
    return msgspec.defstruct("Fresh", [("a", int)])


@pytest.mark.parametrize("value", [{"a": 1}, {"a": "x"}, 5])
def test_the_first_use_of_a_model_happens_alone_and_once(value: Any) -> None:
    model = fresh()
    for _ in range(2):
        if value == {"a": 1}:
            assert frozen_module.convert(value, model).a == 1
        else:
            with pytest.raises(msgspec.ValidationError):
                frozen_module.convert(value, model)
        assert model in frozen_module._PREPARED_MODELS


def test_a_model_is_made_ready_where_no_thread_can_be_started(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def no_more(*_: Any) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(frozen_module, "start_new_thread", no_more)
    model = fresh()
    assert frozen_module.convert({"a": 1}, model).a == 1
    assert model in frozen_module._PREPARED_MODELS
    assert not frozen_module._FIRST_USE_LOCK.locked()


def test_an_interrupt_waits_until_a_model_is_ready(monkeypatch: pytest.MonkeyPatch) -> None:
    class Lock:
        """A lock; who waits for it is interrupted once."""

        def __init__(self) -> None:
            self._lock, self._taken = allocate_lock(), 0

        def acquire(self) -> bool:
            self._taken += 1
            if self._taken == 2:
                raise KeyboardInterrupt("now")
            return self._lock.acquire()

        def release(self) -> None:
            self._lock.release()

    monkeypatch.setattr(frozen_module, "allocate_lock", Lock)
    started: list[Any] = []

    def late(use: Any, arguments: tuple[()]) -> int:
        started.append(use)
        return start_new_thread(lambda: (time.sleep(0.02), use()), arguments)

    monkeypatch.setattr(frozen_module, "start_new_thread", late)
    model = fresh()
    with pytest.raises(KeyboardInterrupt, match="now"):
        frozen_module.convert({"a": 1}, model)
    assert model in frozen_module._PREPARED_MODELS
    assert len(started) == 1
    # A model that is ready is used as it is.
    assert frozen_module.convert({"a": 1}, model).a == 1
    assert len(started) == 1
