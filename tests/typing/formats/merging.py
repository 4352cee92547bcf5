"""The words for how layers are merged."""

from __future__ import annotations

from app import App

import equipage
from equipage import Format


def right() -> None:
    merge = Format(App, layers=("app.yaml",), merge={"tools": equipage.by("name")})
    assert len(merge.load("base.yaml").config.tools) == 1
    assert len(Format(App, layers=("app.yaml",), merge={"tools": "append"}).name) == 3


def wrong() -> None:
    Format(App, merge={"tools": "apend"})  # wrong: apend.*append
    Format(App, merge={"tools": equipage.by})  # wrong: By
    Format(App, merge=[("tools", "append")])  # wrong: merge
    equipage.by(5)  # wrong: "by".*"str"|"str".*"by"
