"""One change of a value in lines that people read: what it was, what it is."""

from __future__ import annotations

import json
from collections.abc import Iterator
from difflib import unified_diff
from typing import Any

from equipage.comparing import Change
from equipage.render.text import Style, cut
from equipage.render.yaml import dump
from equipage.visible import visible

_INDENT = "      "
#: A value that came or went as a whole is shown to this many lines.
_MOST_LINES = 12


def lines_of(change: Change, style: Style) -> Iterator[str]:
    """The lines below the head of a change, with `-` and `+` before them."""
    if change.how == "reordered":
        yield from _marked("-", [", ".join(map(str, change.before))], style)
        yield from _marked("+", [", ".join(map(str, change.after))], style)
    elif change.how == "added":
        yield from _marked("+", _shown(change.after), style)
    elif change.how == "removed":
        yield from _marked("-", _shown(change.before), style)
    elif isinstance(change.before, str) and isinstance(change.after, str) and "\n" in change.before + change.after:
        yield from _text(change.before, change.after, style)
    else:
        yield from _marked("-", _shown(change.before), style)
        yield from _marked("+", _shown(change.after), style)


def _shown(value: Any) -> list[str]:
    if isinstance(value, dict | list) and value:
        lines = dump(value).rstrip("\n").split("\n")
    elif isinstance(value, str) and "\n" in value:
        lines = value.rstrip("\n").split("\n")
    else:
        lines = [json.dumps(value, ensure_ascii=False)]
    hidden = len(lines) - _MOST_LINES
    return lines if hidden <= 1 else [*lines[:_MOST_LINES], f"… {hidden} more lines"]


def _text(before: str, after: str, style: Style) -> Iterator[str]:
    """Texts of many lines: the lines that differ, with one line around them."""
    found = unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=1)
    for line in list(found)[2:]:
        if line.startswith("@@"):
            continue
        yield from _marked(line[0], [line[1:]], style)


def _marked(mark: str, lines: list[str], style: Style) -> Iterator[str]:
    role = {"-": "error", "+": "help"}.get(mark)
    for line in lines:
        text = cut(f"{mark} {visible(line)}", style.width - len(_INDENT))
        yield f"{_INDENT}{style.paint(role, text) if role else text}".rstrip()
