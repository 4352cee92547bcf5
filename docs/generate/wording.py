"""Texts of the code as pages write them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from string import Formatter


def summary(message: str) -> str:
    """A template with its values in italics; inside code they stay as they are."""
    first = message.splitlines()[0]
    pieces = re.split(r"(`[^`]*`)", first)
    return "".join(
        _code(each) if each.startswith("`") else _words(each) for each in pieces
    ).replace("|", "\\|")


def _code(text: str) -> str:
    fields = list(Formatter().parse(text[1:-1]))
    if len(fields) == 1 and fields[0][1] is not None and not fields[0][0]:
        return f"*{fields[0][1]}*"
    return (
        "`"
        + "".join(literal + (name.upper() if name else "") for literal, name, _, _ in fields)
        + "`"
    )


def _words(text: str) -> str:
    return "".join(
        literal + (f"*{name}*" if name else "") for literal, name, _, _ in Formatter().parse(text)
    )


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """A table without its empty columns."""
    kept = [number for number in range(len(head)) if any(row[number] for row in rows)]
    lines = [
        [head[number] for number in kept],
        ["---"] * len(kept),
        *([row[number] for number in kept] for row in rows),
    ]
    return [f"| {' | '.join(line)} |" for line in lines]
