"""Structs of msgspec and classes of attrs; a JSON Schema gives plain data."""

from __future__ import annotations

from typing import Any, assert_type

import attrs
import msgspec

import equipage


class Struct(msgspec.Struct, frozen=True):
    name: str
    tools: tuple[Any, ...] = ()


@attrs.frozen
class Attrs:
    name: str
    tools: tuple[Any, ...] = ()


SCHEMA = {"type": "object", "properties": {"name": {"type": "string"}}}


def right() -> None:
    assert_type(equipage.load("app.yaml", Struct).config.name, str)
    assert_type(equipage.Format(Attrs).load("app.yaml").config, Attrs)
    by_schema: equipage.Format[Any] = equipage.Format(SCHEMA, "app")
    assert by_schema.load("app.yaml").config["name"] == "demo"


def wrong() -> None:
    equipage.load("app.yaml", Struct).config.nme  # wrong: nme
    equipage.Format(Attrs).load("app.yaml").config.nme  # wrong: nme
    equipage.Format()  # wrong: model
    equipage.Format(Attrs, name=5)  # wrong: name
