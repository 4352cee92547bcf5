"""YAML 1.2, core schema: an iterative constructor over libyaml's events.

`load` builds plain values only. Whatever is odd about the text (a key twice, a tag, a merge key) is only
*noticed* there; a second pass says where, so that an ordinary file pays nothing. `locate` finds places later,
for all paths somebody asks about at once.
"""

from __future__ import annotations

from yaml.error import MarkedYAMLError
from yaml.reader import ReaderError

from lading.syntax.engine import Irregularity, Parsed, SyntaxProblem
from lading.syntax.surrogates import lone_surrogates
from lading.syntax.yaml.construct import MAX_ALIAS_NODES, construct
from lading.syntax.yaml.errors import syntax_errors
from lading.syntax.yaml.events import ENGINE
from lading.syntax.yaml.locate import locate
from lading.syntax.yaml.plain import read as read_plain
from lading.syntax.yaml.survey import Touched, scalars_at, survey

__all__ = ["ENGINE", "MAX_ALIAS_NODES", "Touched", "load", "locate", "scalars_at"]


def load(text: str, *, merge: bool = False) -> Parsed:
    """The value of the first document of `text`.

    Keys are always strings, later duplicates win, unknown tags are dropped; each such thing is in
    `irregularities`. With `merge`, `<<` is applied. An empty text has the value None.
    """
    value = read_plain(text)
    if value is not None:
        return Parsed(value)
    try:
        value, odd, further = construct(text, merge=merge)
    except SyntaxProblem:
        raise
    except (MarkedYAMLError, ReaderError) as error:
        raise SyntaxProblem(syntax_errors(text, error)) from None
    except UnicodeEncodeError:  # libyaml reads UTF-8
        raise SyntaxProblem(lone_surrogates(text)) from None
    found = survey(text, merge=merge) if odd else []
    if further is not None:
        found.append(Irregularity("extra-document", (further, further + 3)))
    return Parsed(value, tuple(found))
