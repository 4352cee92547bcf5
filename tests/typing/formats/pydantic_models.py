"""A model of pydantic is a class like any other."""

from __future__ import annotations

from typing import assert_type

import pydantic

import equipage


class Settings(pydantic.BaseModel, frozen=True):
    name: str
    tools: tuple[dict[str, str], ...] = ()


SETTINGS = equipage.Format(Settings, layers=("base.yaml",))


def right() -> None:
    assert_type(equipage.load("app.yaml", Settings).config, Settings)
    assert_type(SETTINGS.load("app.yaml").config.name, str)
    assert SETTINGS.load("app.yaml").config.model_dump()["name"] == "demo"


def wrong() -> None:
    equipage.load("app.yaml", Settings).config.nme  # wrong: nme
    SETTINGS.load("app.yaml").config.tools["a"]  # wrong: __getitem__
    SETTINGS.load("app.yaml").config.model_dum()  # wrong: model_dum
