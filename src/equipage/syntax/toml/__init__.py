"""TOML 1.1 through rtoml, or the standard library's TOML 1.0 where rtoml is missing.

`load` gives plain values. Dates, times and numbers that are not finite are only *noticed* there; a second
pass says where they stand. `locate` finds places later, for all paths somebody asks about at once: no TOML
parser has them.
"""

from __future__ import annotations

import datetime
import re
import tomllib
from collections.abc import Callable, Iterator
from typing import Any

from equipage.path import ROOT, Path
from equipage.syntax.engine import Irregularity, Parsed, SyntaxProblem
from equipage.syntax.surrogates import lone_surrogates
from equipage.syntax.toml.errors import syntax_error
from equipage.syntax.toml.limits import DEPTH, refuse_deep_nesting
from equipage.syntax.toml.locate import locate
from equipage.syntax.toml.scan import scan

try:
    import rtoml

    PARSER = "rtoml"
    _parse: Callable[[str], dict[str, Any]] = rtoml.loads
    _Error: type[Exception] = rtoml.TomlParsingError
except ImportError:  # no wheel for this machine: slower, and only TOML 1.0
    PARSER = "tomllib"
    _parse = tomllib.loads
    _Error = tomllib.TOMLDecodeError

__all__ = ["DEPTH", "PARSER", "load", "locate"]

_INFINITY = float("inf")
_MAYBE_ODD = re.compile(r"inf|nan|[eE]\+?\d{3}|\d\d:\d\d|\d{4}-\d\d-\d\d")


def load(text: str) -> Parsed:
    """The value of `text`.

    Dates and times are the text they are written as, line breaks inside strings are LF, `inf` and `nan` are
    floats; dates and those floats are in `irregularities`.

    Raises `SyntaxProblem` where `text` is not TOML (a key given twice is not) or nests too deeply.
    """
    refuse_deep_nesting(text)
    if text.startswith("\ufeff"):  # the one that may be there is gone by now, and rtoml would drop another
        raise SyntaxProblem([syntax_error("invalid unquoted key at line 1 column 1", text)])
    try:
        value = _parse(text.replace("\r\n", "\n"))
    except _Error as error:
        raise SyntaxProblem([syntax_error(str(error), text)]) from None
    except UnicodeEncodeError:
        raise SyntaxProblem(lone_surrogates(text)) from None
    except ValueError:  # tomllib leaves it to `int` how many digits a number may have
        raise SyntaxProblem(_long_numbers(text)) from None
    return Parsed(value, _settle(value, text) if _MAYBE_ODD.search(text) else ())


def _settle(value: dict[str, Any], text: str) -> tuple[Irregularity, ...]:
    """Replace dates by their text; say where they and the numbers that are not finite stand."""
    odd = {path: (holder, code) for path, holder, code in _odd(value)}
    places = locate(text, odd)
    found: list[Irregularity] = []
    for path, (holder, code) in odd.items():
        place = places[path].value if path in places else (0, 0)
        written = text[slice(*place)] or str(holder[path[-1]])
        if code == "toml-date":
            holder[path[-1]] = written
        found.append(Irregularity(code, place, path, {"found": written}))
    return tuple(sorted(found, key=lambda each: each.range))


def _odd(value: dict[str, Any]) -> Iterator[tuple[Path, Any, str]]:
    """Each date and each number that is not finite: its path, what holds it, and its code."""
    left: list[tuple[Path, Any]] = [(ROOT, value)]
    while left:
        path, holder = left.pop()
        for step, child in holder.items() if isinstance(holder, dict) else enumerate(holder):
            if isinstance(child, dict | list):
                left.append(((*path, step), child))
            elif isinstance(child, datetime.date | datetime.time):
                yield (*path, step), holder, "toml-date"
            elif isinstance(child, float) and not -_INFINITY < child < _INFINITY:
                yield (*path, step), holder, "not-finite"


def _long_numbers(text: str) -> Iterator[Irregularity]:
    for event in scan(text):
        digits = text[event.start : event.end].replace("_", "").lstrip("+-")
        if event.kind == "scalar" and digits.isdigit() and len(digits) > 640:
            yield Irregularity("number-too-long", (event.start, event.end), values={"digits": len(digits)})
