"""JSON as RFC 8259 has it, through the standard library.

`load` only *notices* what is odd (a key twice, a number no float holds); a second pass says where, so that an
ordinary file pays nothing. `locate` finds places later, for all paths somebody asks about at once.
"""

from __future__ import annotations

import json

from equipage.syntax.engine import Parsed, SyntaxProblem
from equipage.syntax.json.errors import syntax_error
from equipage.syntax.json.limits import refuse_deep_nesting, refuse_lone_surrogates
from equipage.syntax.json.locate import locate
from equipage.syntax.json.survey import survey

__all__ = ["load", "locate"]

_INFINITY = float("inf")


class _Noticing:
    """The hooks of one `load`: they build ordinary values and remember whether one was odd."""

    def __init__(self) -> None:
        self.odd = False

    def mapping(self, pairs: list[tuple[str, object]]) -> dict[str, object]:
        result = dict(pairs)
        if len(result) != len(pairs):
            self.odd = True
        return result

    def integer(self, digits: str) -> object:
        try:
            return int(digits)
        except ValueError:  # Python converts only so many digits in reasonable time
            self.odd = True
            return digits

    def fraction(self, written: str) -> float:
        value = float(written)
        if not -_INFINITY < value < _INFINITY:
            self.odd = True
        return value

    def constant(self, name: str) -> float:
        self.odd = True
        return float(name)


def load(text: str) -> Parsed:
    """The value of `text`.

    The last of several equal keys wins, integers keep any size up to Python's own limit and are text beyond
    it, `NaN` and `1e999` become floats that are not finite; each such thing is in `irregularities`.

    Raises `SyntaxProblem` where `text` is not JSON, nests too deeply or holds half a surrogate pair.
    """
    refuse_deep_nesting(text)
    noticing = _Noticing()
    try:
        value = json.loads(
            text,
            object_pairs_hook=noticing.mapping,
            parse_int=noticing.integer,
            parse_float=noticing.fraction,
            parse_constant=noticing.constant,
        )
    except json.JSONDecodeError as error:
        raise SyntaxProblem([syntax_error(error, text)]) from None
    refuse_lone_surrogates(text)
    return Parsed(value, tuple(survey(text)) if noticing.odd else ())
