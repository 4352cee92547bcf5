"""Problems, renamed keys and severities."""

from __future__ import annotations

from app import App

from equipage import Format, Problem, Renamed


def right() -> None:
    Problem("name", "is long", fix="a", severity="warning", help="shorten it")
    Problem(("tools", 0), "is one too many")
    renamed = Format(App, renamed={"title": "name", "tools[*].uri": Renamed("url", since="2.0")})
    strict = Format(App, strictness={"duplicate-key": "error", "unknown-field": None})
    assert renamed.strictness != strict.strictness


def wrong() -> None:
    Problem("name", "is long", severity="fatal")  # wrong: severity
    Problem("name", "is long", fix=["a"])  # wrong: fix
    Problem("name")  # wrong: message
    Renamed("url", sinse="2.0")  # wrong: sinse
    Format(App, renamed={"title": 5})  # wrong: Renamed
    Format(App, strictness={"duplicate-key": "fatal"})  # wrong: fatal
