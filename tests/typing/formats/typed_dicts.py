"""A TypedDict gives a mapping whose keys are known."""

from __future__ import annotations

from typing import Any, NotRequired, TypedDict, assert_type

import equipage


class Settings(TypedDict):
    name: str
    tools: NotRequired[list[dict[str, Any]]]


def right() -> None:
    config = equipage.load("app.yaml", Settings).config
    assert_type(config["name"], str)
    assert_type(equipage.Format(Settings).load("app.yaml").config, Settings)


def wrong() -> None:
    config = equipage.load("app.yaml", Settings).config
    config["nme"]  # wrong: nme
    config["name"].append("x")  # wrong: append
    config.name  # wrong: name
