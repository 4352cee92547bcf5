"""Layers are names, or made by functions that say where they are."""

from __future__ import annotations

from app import App

import equipage


def right() -> None:
    layers = (
        equipage.user_layer("app.yaml"),
        equipage.project_layer(".app.yaml"),
        equipage.FILE,
        "x.yaml",
    )
    assert equipage.Format(App, layers=layers).load("app.yaml").config.name == "demo"


def wrong() -> None:
    equipage.Format(App, layers=(1, 2))  # wrong: layers
    equipage.Format(App, layers="base.yaml")  # wrong: layers
    equipage.Format(App, layer=("base.yaml",))  # wrong: layer
    equipage.Format(App, layers=(equipage.user_layer(),))  # wrong: "name"
