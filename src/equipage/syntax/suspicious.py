"""What may hide in a text: characters nobody sees, names that only look right, secrets.

Each function is a plain one over text and yields what it found with its place. They are made to be quiet: what
emoji, right-to-left scripts and documentation need is not suspicious. The precision on real files is measured in
the tests.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator

import msgspec

from equipage.core.text import expression
from equipage.syntax import Range

_INVISIBLE = expression(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufeff\uffa0"
    "\ufff9-\ufffb\U000e0000-\U000e007f\U000e0100-\U000e01ef]+"
)
_JOINERS = frozenset("\u200c\u200d")
_MARKS = frozenset("\u200e\u200f\u061c")
_BIDI = {
    "\u202a": "U+202A (left-to-right embedding)",
    "\u202b": "U+202B (right-to-left embedding)",
    "\u202c": "U+202C (end of a change of direction)",
    "\u202d": "U+202D (left-to-right override)",
    "\u202e": "U+202E (right-to-left override)",
    "\u2066": "U+2066 (left-to-right isolate)",
    "\u2067": "U+2067 (right-to-left isolate)",
    "\u2068": "U+2068 (first strong isolate)",
    "\u2069": "U+2069 (end of an isolate)",
}
_TAGS = range(0xE0000, 0xE0080)
_BLACK_FLAG = "\U0001f3f4"


class Suspicion(msgspec.Struct, frozen=True):
    """Something suspicious: where, and what it is in words."""

    range: Range
    what: str


# --------------------------------------------------------------------------------------------- characters


def invisible(text: str) -> Iterator[Suspicion]:
    """Runs of characters that cannot be seen, unless the characters around them need them."""
    if text.isascii():
        return
    for match in _INVISIBLE.finditer(text):
        start, end = match.span()
        if not _is_needed(text, start, end):
            yield Suspicion((start, end), _describe(match.group()))


def _describe(run: str) -> str:
    if len(run) > 1 and all(ord(letter) in _TAGS for letter in run):
        return f"text of {len(run)} hidden characters"
    name = (
        _BIDI.get(run[0]) or f"U+{ord(run[0]):04X} ({unicodedata.name(run[0], 'no name').lower()})"
    )
    return name if len(run) == 1 else f"{name}, and {len(run) - 1} more"


def _is_needed(text: str, start: int, end: int) -> bool:
    """Whether the writing system, or an emoji, needs the run; a byte order mark may begin a text."""
    run, before, after = text[start:end], text[start - 1 : start], text[end : end + 1]
    if run == "\ufeff":
        return start == 0
    if run[0] == "\u200d" and len(run) == 1:
        return _is_emoji(before) or _is_emoji(after) or _joins(before) or _joins(after)
    if set(run) <= _JOINERS:
        return _joins(before) or _joins(after)
    if set(run) <= _MARKS:
        around = text[max(0, start - 40) : start] + text[end : end + 40]
        return any(
            unicodedata.bidirectional(each) in ("R", "AL") for each in around if each not in _MARKS
        )
    return before == _BLACK_FLAG and run[-1] == "\U000e007f"


def _is_emoji(letter: str) -> bool:
    return bool(letter) and (unicodedata.category(letter) in ("So", "Sk") or letter == "\ufe0f")


def _joins(letter: str) -> bool:
    """Whether a letter is of a script whose letters join."""
    if not letter:
        return False
    return bool(
        re.match(
            "[\u0600-\u08ff\u0900-\u0dff\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff\ufb50-\ufdff]",
            letter,
        )
    )


# -------------------------------------------------------------------------------------------------- names

_SCRIPTS = ("LATIN", "CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE")


def mixed_scripts(name: str) -> tuple[str, ...]:
    """The scripts of a name whose letters look alike, if it mixes them; empty if it does not."""
    if name.isascii():
        return ()
    for word in re.split(r"[\W_]+", name):
        found = {
            script
            for letter in word
            for script in _SCRIPTS
            if unicodedata.name(letter, "").startswith(script)
        }
        if len(found) > 1:
            return tuple(script.capitalize() for script in _SCRIPTS if script in found)
    return ()


# ------------------------------------------------------------------------------------------------ secrets

#: What it is, and how it begins. The part that varies is the group.
_SECRETS: tuple[tuple[str, str], ...] = (
    ("a key of AWS", r"\b(?:AKIA|ASIA)([0-9A-Z]{16})\b"),
    ("a token of GitHub", r"\b(?:gh[pousr]_([A-Za-z0-9]{36,})|github_pat_([A-Za-z0-9_]{50,}))\b"),
    ("a token of GitLab", r"\bglpat-([A-Za-z0-9_-]{20,})\b"),
    ("a token of Slack", r"\bxox[abeoprs]-([A-Za-z0-9-]{20,})\b"),
    ("a key of Anthropic", r"\bsk-ant-(?:api|admin|oat)\d\d-([A-Za-z0-9_-]{40,})\b"),
    ("a key of OpenAI", r"\bsk-(?:proj|svcacct)-([A-Za-z0-9_-]{40,})\b|\bsk-([A-Za-z0-9]{48})\b"),
    ("a key of Google", r"\bAIza([A-Za-z0-9_-]{35})\b"),
    ("a key of Stripe", r"\b[rs]k_live_([A-Za-z0-9]{20,})\b"),
    ("a token of npm", r"\bnpm_([A-Za-z0-9]{36})\b"),
    ("a token of PyPI", r"\bpypi-([A-Za-z0-9_-]{50,})\b"),
    ("a token of Hugging Face", r"\bhf_([A-Za-z0-9]{30,})\b"),
    ("a key of SendGrid", r"\bSG\.([A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43})\b"),
    ("a private key", r"-----BEGIN (?:[A-Z]+ )*PRIVATE KEY-----\s+([A-Za-z0-9+/=]{40,})"),
)
_ANY_SECRET = expression("|".join(pattern for _, pattern in _SECRETS))
_BEGINNINGS = expression(
    r"AKIA|ASIA|gh[pousr]_|github_pat_|glpat-|xox|sk-|AIza|k_live_|npm_|pypi-|hf_|SG\.|PRIVATE KEY"
)
_PLACEHOLDER = expression(
    r"example|placeholder|your|dummy|sample|fake|test|redacted|x{4,}|0{4,}|1234|abcd", re.IGNORECASE
)
#: Bits for each character, below which a text is made up rather than random.
_LEAST_ENTROPY = 3.0


def secrets(text: str) -> Iterator[Suspicion]:
    """Texts that are shaped like secrets and look random; placeholders of documentation do not."""
    if _BEGINNINGS.search(text) is None:
        return
    for match in _ANY_SECRET.finditer(text):
        groups = [number for number, group in enumerate(match.groups()) if group is not None]
        variable = match.group(groups[0] + 1)
        if _PLACEHOLDER.search(variable) or _entropy(variable) < _LEAST_ENTROPY:
            continue
        what = next(what for what, pattern in _SECRETS if re.match(pattern, match.group()))
        yield Suspicion(match.span(), what)


def _entropy(text: str) -> float:
    counts = Counter(text)
    return -sum(count / len(text) * math.log2(count / len(text)) for count in counts.values())
