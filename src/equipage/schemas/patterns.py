"""Regular expressions in schemas: which are broken, which no other validator reads, which can hang one.

JSON Schema means ECMA-262 expressions. What only Python reads is accepted with a warning, since schemas in the wild
are written against Python validators, too.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from functools import cache, lru_cache
from typing import Any, Literal

import msgspec

from equipage.core.text import expression

Verdict = Literal["fine", "broken", "python-only", "backtracks", "repeats"]

#: A longer expression is not tried with Python's engine, whose compiler is slow.
_MAX_TRIED = 2_000
#: Expanded copies of counted repetitions beyond this make engines run out of memory or time.
MAX_REPEATS = 10_000


@cache
def _ecma() -> Any:
    import jsonschema_rs

    return jsonschema_rs.Draft7Validator({"format": "regex"}, validate_formats=True, offline=True)


@lru_cache(maxsize=4096)
def judge(pattern: str) -> Verdict:
    """What is wrong with a pattern, if anything."""
    if not _ecma().is_valid(pattern):
        return "python-only" if _python_reads(pattern) else "broken"
    if "(" in pattern or "{" in pattern:
        return _risk(pattern)
    return "fine"


def _python_reads(pattern: str) -> bool:
    if len(pattern) > _MAX_TRIED:
        return False
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            re.compile(pattern)
    except (re.error, OverflowError, RecursionError):
        return False
    return True


# ---------------------------------------------------------------------------------------------------- risk

_TOKEN = expression(
    r"""
      (?P<open>\((?:\?(?:[:=!]|<[=!]|<[^>=!]*>))?)
    | (?P<close>\))
    | (?P<either>\|)
    | (?P<many>[*+]\??|\{\d+,\}\??)
    | (?P<counted>\{(?P<low>\d+)(?:,(?P<high>\d+))?\}\??)
    | (?P<maybe>\?\??)
    | (?P<atom>\\.|\[(?:\\.|[^\]\\])*\]|.)
    """,
    re.VERBOSE | re.DOTALL,
)


class _Group:
    """An open group: its branches so far, and the atoms of the branch being read."""

    def __init__(self) -> None:
        self.branches: list[list[_Atom]] = [[]]
        self.copies = 1


class _Atom(msgspec.Struct):
    """One thing that matches, and how often it may."""

    text: str
    endless: bool = False  #: `+`, `*`, `{n,}`
    optional: bool = False
    copies: int = 1  #: of single characters, when counted repetitions are written out
    ambiguous: bool = False  #: a group whose repetition can split the same text in many ways


def _risk(pattern: str) -> Verdict:
    """Whether an expression can take time that grows without bound with the text it is tried on.

    Two ways are recognised: a repeated group in which one branch is nothing but repetitions, as in `(a+)+`, and
    one in which two branches are the same, but for what may be missing or repeated. `a{2}` and `a{3}` are not the
    same. That misses some and accuses none that are safe.
    """
    groups = [_Group()]
    for match in _TOKEN.finditer(pattern):
        branch = groups[-1].branches[-1]
        if match["open"]:
            groups.append(_Group())
        elif match["close"] and len(groups) > 1:
            atom = _closed(groups.pop())
            groups[-1].branches[-1].append(atom)
        elif match["either"]:
            groups[-1].branches.append([])
        elif match["atom"]:
            branch.append(_Atom(match["atom"]))
        elif branch:
            verdict = _repeat(branch[-1], match)
            if verdict != "fine":
                return verdict
    return "repeats" if _closed(groups[0]).copies > MAX_REPEATS else "fine"


def _repeat(atom: _Atom, match: re.Match[str]) -> Verdict:
    """Apply a quantifier to the atom before it."""
    if match["many"]:
        if atom.ambiguous:
            return "backtracks"
        atom.endless = True
        atom.optional = match["many"].startswith(("*", "{0,"))
    elif match["counted"]:
        atom.optional = _number(match["low"]) == 0
        atom.copies *= _number(match["high"] or match["low"])
        atom.text += match["counted"].rstrip("?")
        if atom.copies > MAX_REPEATS:
            return "repeats"
    else:
        atom.optional = True
    return "fine"


def _number(digits: str) -> int:
    """A written number; of one that is beyond every limit, only as much as tells so: Python refuses to read it all."""
    return int(digits.lstrip("0")[:9] or "0")


def _closed(group: _Group) -> _Atom:
    """The group as one atom of the branch it stands in."""
    texts = ["".join(atom.text for atom in branch) for branch in group.branches]
    ambiguous = any(map(_only_repeats, group.branches)) or len(set(texts)) < len(texts)
    copies = sum(atom.copies for branch in group.branches for atom in branch)
    return _Atom(f"({'|'.join(texts)})", copies=max(copies, 1), ambiguous=ambiguous)


def _only_repeats(branch: list[_Atom]) -> bool:
    needed = [atom for atom in branch if not atom.optional]
    repeating = [atom for atom in branch if atom.endless or atom.ambiguous]
    return bool(repeating) and all(atom.endless or atom.ambiguous for atom in needed)


def patterns_of(schema: dict[str, Any]) -> Iterator[tuple[tuple[str, ...], str]]:
    """The patterns that stand directly in a schema: of `pattern`, and the names under `patternProperties`."""
    pattern = schema.get("pattern")
    if isinstance(pattern, str):
        yield ("pattern",), pattern
    named = schema.get("patternProperties")
    if isinstance(named, dict):
        for name in named:
            yield ("patternProperties", name), name
