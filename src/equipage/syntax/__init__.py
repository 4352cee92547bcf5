"""Text to plain values, with places on demand.

Each syntax is a module with the functions of `engine.Engine`; `document` puts one of them over a source.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

import msgspec

from equipage.core.path import ROOT, Path

# --- engine ------------------------------------------------------------------------------------
# What every syntax engine gives: values now, places when somebody asks.
#
# Offsets here count code points of the text the engine was given. `document` turns them into spans of the
# author's text.

#: How deep collections may nest, in every syntax. Deeper input ends in a finding while it is being parsed:
#: recursion in the libraries around us must never meet it.
MAX_DEPTH = 128

Range = tuple[int, int]


class Place(msgspec.Struct, frozen=True):
    """Where an entry stands: its value, and its key when it is an entry of a mapping."""

    value: Range
    key: Range | None = None


class Irregularity(msgspec.Struct, frozen=True):
    """Something odd in the text: a code, a place, and the values its sentence uses."""

    code: str
    range: Range
    path: Path = ROOT
    values: dict[str, object] = {}
    also: tuple[tuple[str, Range], ...] = ()


class Parsed(msgspec.Struct, frozen=True):
    """A plain value and what was odd about its text."""

    value: object
    irregularities: tuple[Irregularity, ...] = ()


class SyntaxProblem(Exception):
    """The text has no value; `problems` says why, in order."""

    def __init__(self, problems: Iterable[Irregularity]) -> None:
        self.problems = tuple(problems)
        super().__init__(self.problems)


class Engine(Protocol):
    """A syntax: a module with these two functions."""

    def load(self, text: str) -> Parsed:
        """The value of `text`; raises `SyntaxProblem` when it has none."""
        ...

    def locate(self, text: str, paths: Iterable[Path]) -> dict[Path, Place]:
        """The places of those `paths` that exist, found in one pass."""
        ...
