"""Generators from programs and plugins."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib.metadata import EntryPoint
from typing import ClassVar

import msgspec
import pytest

from equipage import generators as registry
from equipage.generators import build, register, registered
from equipage.generators.base import Generator
from equipage.generators.parameters import Parameter, Whole

from .making import HERE, LIMITS, findings


class Zeros(Generator, msgspec.Struct, frozen=True):
    """As many zeros as wanted: all a new sort of generator needs."""

    type: ClassVar[str] = "zeros"
    accepts: ClassVar[Mapping[str, Parameter]] = {"count": Whole(limit="max_batch_size")}
    sized_by: ClassVar[str] = "count"

    count: int

    @property
    def estimated_size(self) -> int:
        return self.count

    def pieces(self) -> Iterator[bytes]:
        yield b"0" * self.count


class Nameless(Generator):
    """Forgot its type."""


NODE = {"type": "zeros", "count": 3}


@pytest.fixture(autouse=True)
def forget(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a test registers is gone after it."""
    for name in tuple(registered()):
        monkeypatch.setitem(registry._registered, name, registry._registered[name])
    monkeypatch.setitem(registry._registered, "zeros", Zeros)
    monkeypatch.delitem(registry._registered, "zeros")


def offer(monkeypatch: pytest.MonkeyPatch, value: str) -> list[str]:
    """Pretend an installed package offers `zeros`; returns the names that are asked for, as they
    are."""
    asked = []

    def entry_points(group: str, name: str) -> list[EntryPoint]:
        asked.append(name)
        return [EntryPoint("zeros", value, group)] if name == "zeros" else []

    monkeypatch.setattr("importlib.metadata.entry_points", entry_points)
    return asked


def test_a_program_registers_its_own() -> None:
    register(Zeros)
    generator, facts = build(NODE, LIMITS, HERE)
    assert (generator, facts) == (Zeros(3), ())
    assert Zeros(3).read() == b"000"
    assert findings({"type": "zeros", "count": -1})


def test_a_taken_name_is_refused() -> None:
    register(Zeros)
    register(Zeros)
    other = type("Other", (Generator,), {"type": "zeros"})
    with pytest.raises(ValueError, match="'zeros' is already registered"):
        register(other)


def test_plugins_are_looked_at_only_when_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = offer(monkeypatch, f"{__name__}:Zeros")
    assert build(NODE, LIMITS, HERE)[0] is None
    assert asked == []
    assert build(NODE, LIMITS, HERE, plugins=True)[0] == Zeros(3)
    assert asked == ["zeros"]


def test_plugins_are_not_looked_at_for_known_types(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = offer(monkeypatch, f"{__name__}:Zeros")
    assert build({"type": "garbage", "bytes": 1}, LIMITS, HERE, plugins=True)[0] is not None
    assert asked == []


def test_a_type_names_no_code(monkeypatch: pytest.MonkeyPatch) -> None:
    offer(monkeypatch, f"{__name__}:Zeros")
    generator, facts = build({"type": "os:system"}, LIMITS, HERE, plugins=True)
    assert (generator, [each.code for each in facts]) == (None, ["generator-type-unknown"])


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (
            "no_such_module_anywhere:Zeros",
            "no_such_module_anywhere:Zeros raised ModuleNotFoundError when imported",
        ),
        ("builtins:len", "builtins:len is not a generator class"),
        (f"{__name__}:Nameless", f"{__name__}:Nameless is a generator of another type"),
    ],
)
def test_a_broken_plugin_is_a_finding(
    monkeypatch: pytest.MonkeyPatch, value: str, reason: str
) -> None:
    offer(monkeypatch, value)
    generator, facts = build(NODE, LIMITS, HERE, plugins=True)
    assert generator is None
    assert [(each.code, each.path, each.values["reason"]) for each in facts] == [
        ("generator-plugin-broken", (*HERE, "type"), reason)
    ]
