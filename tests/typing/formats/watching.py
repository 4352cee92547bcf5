"""Watch, check and discover."""

from __future__ import annotations

from typing import assert_type

from app import APP, App

import equipage
from equipage import Loaded, Report, Watch


def right() -> None:
    with APP.watch("app.yaml") as watch:
        assert_type(watch, Watch[App])
        assert_type(next(watch).config, App)
    assert_type(APP.discover("."), dict[str, Loaded[App]])
    assert_type(equipage.discover(".", kind=APP)["app.yaml"].config, App)
    assert_type(APP.check("app.yaml"), Report)
    assert APP.check(["app.yaml"]).ok


def wrong() -> None:
    for loaded in APP.watch("app.yaml"):
        loaded.config.nope  # wrong: nope
    equipage.watch("app.yaml", App, embedded=True)  # wrong: watch
    APP.check(5)  # wrong: check
    APP.discover(".")[0]  # wrong: 0|int
    APP.check(".").config  # wrong: config
