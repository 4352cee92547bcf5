"""A format can be handed on: `Format[App]` keeps the class."""

from __future__ import annotations

from typing import TypeVar, assert_type

from app import APP, App, Tool

import equipage
from equipage import Format

C = TypeVar("C")


def first(kind: Format[C], path: str) -> C:
    return equipage.load(path, kind=kind).config


def right() -> None:
    assert_type(first(APP, "app.yaml"), App)
    assert_type(equipage.load("app.yaml", kind=APP).config, App)
    kept: Format[App] = APP
    assert kept.name == "app"


def wrong() -> None:
    other: Format[Tool] = APP  # wrong: Format
    other.load(5)  # wrong: load
    equipage.load("app.yaml", App, kind=APP)  # wrong: load
