"""Generators that a program registers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar

import msgspec
import pytest

from equipage.formats.server import payloads as registry
from equipage.formats.server.payloads import build, generator_types, register
from equipage.formats.server.payloads.base import Generator, Parameter, WholeNumber

from .making import HERE, LIMITS, findings


class Zeros(Generator, msgspec.Struct, frozen=True):
    """As many zeros as wanted: all a new sort of generator needs."""

    type: ClassVar[str] = "zeros"
    accepts: ClassVar[Mapping[str, Parameter]] = {"count": WholeNumber(limit="max_batch_size")}
    sized_by: ClassVar[str] = "count"

    count: int

    @property
    def estimated_size(self) -> int:
        return self.count

    def pieces(self) -> Iterator[bytes]:
        yield b"0" * self.count


NODE = {"type": "zeros", "count": 3}


@pytest.fixture(autouse=True)
def forget(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a test registers is gone after it."""
    for name in tuple(generator_types()):
        monkeypatch.setitem(registry._registered, name, registry._registered[name])
    monkeypatch.setitem(registry._registered, "zeros", Zeros)
    monkeypatch.delitem(registry._registered, "zeros")


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


def test_a_type_names_no_code() -> None:
    generator, facts = build({"type": "os:system"}, LIMITS, HERE)
    assert (generator, [each.code for each in facts]) == (None, ["generator-type-unknown"])
