"""The methods of a format know its class."""

from __future__ import annotations

from typing import assert_type

from app import APP, App

from equipage import Loaded


def right() -> None:
    loaded = APP.load("app.yaml")
    assert_type(loaded, Loaded[App])
    assert_type(loaded.config.tools[0].url, str)
    assert_type(APP.loads("name: a", env={}, strict=True).config, App)
    assert str(loaded.explain("name")).startswith('name = "demo"')
    assert loaded.value["name"] == "demo"


def wrong() -> None:
    loaded = APP.load("app.yaml")
    loaded.config.tools.append("x")  # wrong: append
    loaded.config.tools[0].uri  # wrong: uri
    loaded.confg  # wrong: confg
    loaded.explain(5)  # wrong: explain
    APP.load("app.yaml", strikt=True)  # wrong: strikt|load
    APP.loads("name: a", env=5)  # wrong: env
    APP.check(".", kind=APP)  # wrong: kind|check
