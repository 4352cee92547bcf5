"""Typed configuration back to plain data."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

import msgspec
import pytest

from equipage.core.frozen import freeze, omit_defaults, plain_data


class Inner(msgspec.Struct, frozen=True, omit_defaults=True, tag="inner", tag_field="kind"):
    text: str = "a default"


class Outer(msgspec.Struct, frozen=True, omit_defaults=True, rename="camel"):
    always: ClassVar[frozenset[str]] = frozenset({"some_list"})

    name: str
    some_list: tuple[int, ...] = ()
    inner: Inner = Inner()
    free: Any = None
    unset: int | msgspec.UnsetType = msgspec.UNSET
    more: dict[str, Inner] = msgspec.field(default_factory=dict)


@pytest.mark.parametrize(
    "written",
    [
        {"name": "x"},
        {
            "name": "x",
            "someList": [],
            "inner": {"kind": "inner", "text": "a default"},
            "free": None,
            "more": {},
        },
    ],
)
def test_a_default_is_left_out_even_if_it_was_written(written: dict[str, Any]) -> None:
    config = freeze(msgspec.convert(written, Outer))
    assert plain_data(config) == {"name": "x"}
    assert plain_data(config, spelled_out=True) == {"name": "x", "someList": []}


def test_everything_else_is_there_and_plain() -> None:
    written = {
        "name": "x",
        "someList": [1],
        "inner": {"kind": "inner", "text": "b"},
        "free": {"a": [1, {"b": None}], "big": 10**30},
        "unset": 0,
        "more": {"k": {"kind": "inner"}},
    }
    plain = plain_data(freeze(msgspec.convert(written, Outer)))
    assert plain == written
    assert type(plain["free"]) is dict
    assert type(plain["free"]["a"]) is list


def test_what_knows_its_own_form_is_asked() -> None:
    class Own:
        def to_dict(self) -> dict[str, Any]:
            return {"inner": Inner("c")}

    assert plain_data([Own(), b"x"]) == [{"inner": {"kind": "inner", "text": "c"}}, "eA=="]


def test_what_is_always_written_is_so_at_any_depth() -> None:
    class Named:
        def to_dict(self) -> dict[str, Any]:
            return {"deep": Outer("n")}

    short, long = {"name": "n"}, {"name": "n", "someList": []}
    for value, wrapped in (
        (lambda each: {"a": each}, {"a": Outer("n")}),
        (lambda each: [each], [Outer("n")]),
        (lambda each: [[each]], ((Outer("n"),),)),
        (lambda each: {"deep": each}, Named()),
    ):
        assert plain_data(wrapped) == value(short)
        assert plain_data(wrapped, spelled_out=True) == value(long)


def test_what_is_no_data_is_shown_as_text() -> None:
    assert plain_data({"a": Path("x/y")}) == {"a": "x/y"}


def test_a_configuration_may_keep_defaults_as_they_were_written() -> None:
    class Written:
        def to_dict(self) -> dict[str, Any]:
            return {"a": 1, "b": 2}

        def without_defaults(self) -> dict[str, Any]:
            return {"a": 1}

    assert plain_data(Written()) == {"a": 1, "b": 2}
    assert omit_defaults(Written()) == {"a": 1}
    assert omit_defaults(Outer("n")) == {"name": "n"}


def test_a_required_field_is_written_whatever_it_holds() -> None:
    class Fresh(msgspec.Struct):
        name: Any
        rest: Any = None

    assert plain_data(Fresh(None)) == {"name": None}
    assert plain_data(Inner(), spelled_out=True) == {"kind": "inner"}
    inside = plain_data(Outer("n", free=Outer("m")), spelled_out=True)
    assert inside == {"name": "n", "someList": [], "free": {"name": "m", "someList": []}}
