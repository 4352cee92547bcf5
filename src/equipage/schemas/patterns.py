"""Regular expressions in schemas: broken ones, ones not all validators read, ones that can hang.

JSON Schema means ECMA-262 expressions. What only Python reads is accepted with a warning, because
many published schemas are written against Python validators; and so is what Python cannot read,
because these validators fail when they use it.
"""

from __future__ import annotations

import re
import warnings
from functools import cache, lru_cache
from typing import Any, Literal

import msgspec

from equipage.core.text import lazy_regex

Verdict = Literal["fine", "broken", "python-only", "not-python", "backtracks", "repeats"]

#: A longer expression is not tried with Python's engine, whose compiler is slow.
_MAX_TRIED_LENGTH = 2_000
#: Expanded copies of counted repetitions beyond this make engines run out of memory or time.
MAX_REPEATS = 10_000


@lru_cache(maxsize=4096)
def judge(pattern: str) -> Verdict:
    """What is wrong with a pattern, if anything."""
    if not _ecma_validator().is_valid(pattern):
        return "python-only" if _python_reads(pattern) else "broken"
    risk = _backtracking_risk(pattern) if "(" in pattern or "{" in pattern else "fine"
    if risk == "fine" and len(pattern) <= _MAX_TRIED_LENGTH and not _python_reads(pattern):
        return "not-python"
    return risk


@cache
def _ecma_validator() -> Any:
    import jsonschema_rs

    return jsonschema_rs.Draft7Validator({"format": "regex"}, validate_formats=True, offline=True)


def _python_reads(pattern: str) -> bool:
    if len(pattern) > _MAX_TRIED_LENGTH:
        return False
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            re.compile(pattern)
    except (re.error, OverflowError, RecursionError):
        return False
    return True


# --------------------------------------------------------------------------------------------- risk

#: The tokens of an expression. Order matters: `{2,}` is tried before a brace as an ordinary
#: character, which the last alternative takes, as it takes escapes and character classes whole.
_TOKEN = lazy_regex(
    r"""
      (?P<open>\((?:\?(?:[:=!]|<[=!]|<[^>=!]*>))?)         # a group: (  (?:  (?=  (?<!  (?<name>
    | (?P<close>\))
    | (?P<either>\|)
    | (?P<many>[*+]\??|\{\d+,\}\??)                        # without an upper bound
    | (?P<counted>\{(?P<low>\d+)(?:,(?P<high>\d+))?\}\??)  # {2}  {2,5}
    | (?P<maybe>\?\??)
    | (?P<atom>\\.|\[(?:\\.|[^\]\\])*\]|.)
    """,
    re.VERBOSE | re.DOTALL,
)


class _Atom(msgspec.Struct):
    """One thing that matches, and how often it may."""

    text: str
    endless: bool = False  #: `+`, `*`, `{n,}`
    optional: bool = False
    copies: int = 1  #: of single characters, when counted repetitions are written out
    ambiguous: bool = False  #: a group whose repetition can split the same text in many ways


#: The atoms of one alternative of a group.
_Branch = list[_Atom]


def _backtracking_risk(pattern: str) -> Verdict:
    """Whether matching can take time that grows without bound with the length of the text.

    It recognises two ways: a repeated group in which one branch is nothing but repetitions, as in
    `(a+)+`, and one in which two branches are the same, but for what may be missing or repeated.
    `a{2}` and `a{3}` differ. This misses some dangerous patterns and accuses no safe one.
    """
    groups: list[list[_Branch]] = [[[]]]  # the open groups, innermost last
    for match in _TOKEN.finditer(pattern):
        branch = groups[-1][-1]
        if match["open"]:
            groups.append([[]])
        elif match["close"] and len(groups) > 1:
            atom = _close_group(groups.pop())
            groups[-1][-1].append(atom)
        elif match["either"]:
            groups[-1].append([])
        elif match["atom"]:
            branch.append(_Atom(match["atom"]))
        elif branch and (verdict := _apply_quantifier(branch[-1], match)) != "fine":
            return verdict
    return "repeats" if _close_group(groups[0]).copies > MAX_REPEATS else "fine"


def _apply_quantifier(atom: _Atom, match: re.Match[str]) -> Verdict:
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
    """A written number, cut to nine digits: Python refuses to read very long ones."""
    return int(digits.lstrip("0")[:9] or "0")


def _close_group(branches: list[_Branch]) -> _Atom:
    """A group as one atom of the branch around it."""
    texts = ["".join(atom.text for atom in branch) for branch in branches]
    ambiguous = any(map(_only_repeats, branches)) or len(set(texts)) < len(texts)
    copies = sum(atom.copies for branch in branches for atom in branch)
    return _Atom(f"({'|'.join(texts)})", copies=max(copies, 1), ambiguous=ambiguous)


def _only_repeats(branch: _Branch) -> bool:
    """Whether a branch repeats something and needs nothing else."""
    repeating = [atom.endless or atom.ambiguous for atom in branch]
    needed = [each for each, atom in zip(repeating, branch, strict=True) if not atom.optional]
    return any(repeating) and all(needed)
