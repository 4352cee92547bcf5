"""A class alone says what a load gives."""

from __future__ import annotations

from typing import assert_type

from app import App, Tool

import equipage
from equipage import Loaded


def right() -> None:
    loaded = equipage.load("app.yaml", App)
    assert_type(loaded, Loaded[App])
    assert_type(loaded.config, App)
    assert_type(loaded.config.tools[0], Tool)
    assert_type(equipage.loads("name: a", App, env={}, strict=True).config.name, str)


def wrong() -> None:
    equipage.load("app.yaml", App).config.nope  # wrong: nope
    equipage.load("app.yaml", App).config.name = "other"  # wrong: name
    equipage.load("app.yaml", App, strikt=True)  # wrong: load
    equipage.loads("name: a", App, base_dir=5)  # wrong: loads
