"""The collector agrees with the Structs: on keys that may pass, and on every field that is missing."""

from __future__ import annotations

import msgspec

from equipage.loading.model import build
from equipage.loading.shape import Shape


class Open(msgspec.Struct, frozen=True):
    name: str


class Closed(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    inner: Open
    number: int


def test_unknown_keys_of_an_open_struct_are_no_finding() -> None:
    _, _, facts = build(
        {"inner": {"name": "a", "more": 1}, "number": "x", "other": 2}, Closed, Shape()
    )
    assert [(each.code, each.path) for each in facts] == [
        ("wrong-type", ("number",)),
        ("unknown-field", ("other",)),
    ]


def test_every_missing_field_is_told() -> None:
    _, _, facts = build({}, Closed, Shape())
    assert [(each.code, each.values["field"]) for each in facts] == [
        ("missing-field", "inner"),
        ("missing-field", "number"),
    ]
