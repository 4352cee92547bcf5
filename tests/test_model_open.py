"""A Struct that lets further keys pass lets them pass in the collector, too."""

from __future__ import annotations

import msgspec

from lading.model import Shape, build


class Open(msgspec.Struct, frozen=True):
    name: str


class Closed(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    inner: Open
    number: int


def test_unknown_keys_of_an_open_struct_are_no_finding() -> None:
    _, _, facts = build({"inner": {"name": "a", "more": 1}, "number": "x", "other": 2}, Closed, Shape())
    assert [(each.code, each.path) for each in facts] == [("wrong-type", ("number",)), ("unknown-field", ("other",))]
