"""Regular expressions mean the same in every Python that we support.

Before 3.11.5, a possessive quantifier of a group goes on where the last, failed attempt to match
the group stopped: `(?:b|a(?=b))*+` takes the `a` of `ac`. That place is right if the group is a
single step, or alternatives of them: characters, and at most one run of characters at their end.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from pathlib import Path
from re import _constants as op  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

import pytest

import equipage
from equipage.core.text import _LazyRegex
from lab import matching

ONE = {op.LITERAL, op.NOT_LITERAL, op.IN, op.ANY}
RUNS = {op.MAX_REPEAT, op.POSSESSIVE_REPEAT}


def expressions() -> Iterator[tuple[str, Any, int]]:
    """Every expression of a module, with the module's name."""
    root = Path(equipage.__file__).parent
    for path in matching(root, "**/*.py"):
        if path.parent.name == "integrations":
            continue  # it needs the program that it is for
        parts = path.relative_to(root.parent).with_suffix("").parts
        name = ".".join(parts).removesuffix(".__init__")
        for value in vars(importlib.import_module(name)).values():
            if isinstance(value, re.Pattern):
                yield name, value.pattern, value.flags & ~re.UNICODE
            elif isinstance(value, _LazyRegex):
                pattern, flags = value._written
                yield name, pattern() if callable(pattern) else pattern, flags


def goes_astray(steps: Any) -> bool:
    """Is there a possessive quantifier that earlier Pythons go on behind in a wrong place?"""
    return any(
        (code is op.POSSESSIVE_REPEAT and not is_steady(value[2]))
        or any(goes_astray(each) for each in inner(value))
        for code, value in steps
    )


def inner(value: Any) -> Iterator[Any]:
    """The sequences of steps inside the argument of a step."""
    if isinstance(value, parser.SubPattern):
        yield value
    elif isinstance(value, tuple | list):
        for each in value:
            yield from inner(each)


def is_steady(steps: Any) -> bool:
    """Does an attempt that fails stop where it began?"""
    if len(steps) == 1 and steps[0][0] is op.BRANCH:
        return all(is_steady(each) for each in steps[0][1][1])
    *first, (code, value) = steps
    is_run = code in RUNS and len(value[2]) == 1 and value[2][0][0] in ONE
    # A run that may be empty does not fail, and one that is alone has not moved when it does.
    return all(each in ONE for each, _ in first) and (
        code in ONE or (is_run and (value[0] == 0 or not first))
    )


def test_no_expression_needs_a_later_python() -> None:
    found = list(expressions())
    assert len(found) > 100
    astray = [(name, text) for name, text, flags in found if goes_astray(parser.parse(text, flags))]
    assert astray == []


ASTRAY = {
    r"a(?:b|c(?=b))*+": True,
    r"(?:[^:#]++|(?<! )#)*+": True,
    r"(?: *, *\w)*+": True,
    r"(?:a(?:b|cd))++": True,
    r"(?P<x>(?:'{1,2}(?!'))*+)": True,
    r"(?>(?:b|c(?=b))*)": False,
    r"(?:[^']|'[^']|''[^'])*+": False,
    r'"[^"\\]*+(?:\\.[^"\\]*+)*+"': False,
    r"(?:[\s,]|\#[^\n]*)*+": False,
    r"[!^]?+a{0,99}+": False,
}


@pytest.mark.parametrize("text", ASTRAY)
def test_what_goes_astray(text: str) -> None:
    assert goes_astray(parser.parse(text)) is ASTRAY[text]
