"""The small languages inside a server configuration.

Durations (`30s`) and events (`tools/call:calculator`) end phases; globs and regular expressions
match requests; templates (`${args.city}`) are filled when an answer is sent. Each function here
parses one text, or says what is wrong with it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import lru_cache

import msgspec

from equipage.core.diagnostics import Code
from equipage.core.text import lazy_regex
from equipage.formats.server import codes
from equipage.formats.server.model import MAX_UINT64

# Durations: duration = blank* "+"? digits blank* unit blank*

DURATION_GRAMMAR = "a whole number and a unit: `500ms`, `30s`, `5m` or `1h`"
DAY_MS = 24 * 60 * 60 * 1000

# More than 30 digits are out of range anyway, and Python refuses to read very long numbers.
_DURATION = lazy_regex(r"\s*\+?(?P<number>[0-9]{1,30})\s*(?P<unit>ms|s|m|h)\s*")
_MILLISECONDS = {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000}


def parse_duration(written: str) -> int | None:
    """The duration in milliseconds; None if it is not one."""
    match = _DURATION.fullmatch(written)
    if match is None or int(match["number"]) > MAX_UINT64:
        return None
    return int(match["number"]) * _MILLISECONDS[match["unit"]]


# Events: event = base [ ":" qualifier ]

#: Every event, and whether a qualifier can narrow it to one item.
EVENTS: dict[str, bool] = {
    "initialize": False,
    "initialized": False,
    "tools/list": False,
    "tools/call": True,
    "resources/list": False,
    "resources/read": True,
    "resources/subscribe": True,
    "resources/unsubscribe": False,
    "prompts/list": False,
    "prompts/get": True,
}


class Event(msgspec.Struct, frozen=True):
    """An event. Without a qualifier it means all items."""

    base: str  #: a key of `EVENTS`, if the event is known
    qualifier: str | None = None  #: the name or URI of the one item it is about

    @property
    def is_known(self) -> bool:
        return self.base in EVENTS

    @property
    def is_well_qualified(self) -> bool:
        """Whether the qualifier, if there is one, can have an effect."""
        return self.qualifier is None or (bool(self.qualifier) and EVENTS.get(self.base, False))

    def is_about(self, plural: str) -> bool:
        """Whether the event is about one item of a sort: `tools/call:add` of `tools`."""
        return bool(self.qualifier) and self.is_well_qualified and self.base.startswith(plural)


def parse_event(written: str) -> Event:
    """The event as written, known or not. A qualifier may hold colons: it can be a URI."""
    base, colon, qualifier = written.partition(":")
    return Event(base, qualifier if colon else None)


# Globs: `*` matches any text, `/` included, `?` one character, `[abc]`, `[a-z]` and `[!a]` one of
# a set. `**` must be a whole component between slashes. A glob matches the whole text.

# A set has at least one member, so `[]]` holds a bracket and `[!]` is not closed: `!?+` never gives
# the exclamation mark back to be that member.
_SET = lazy_regex(r"\[!?+.[^\]]*\]", re.DOTALL)
_STARS = lazy_regex(r"\*{2,}")


def glob_problem(pattern: str) -> str | None:
    """What is wrong with a glob; None if nothing is."""
    plain = _SET.sub("x", pattern)
    for match in _STARS.finditer(plain):
        if len(match[0]) > 2:
            return "more than two `*` in a row"
        around = {plain[: match.start()][-1:], plain[match.end() :][:1]}
        if not around <= {"", "/"}:
            return "`**` must be a whole component between slashes"
    return "`[` is never closed" if "[" in plain else None


# Regular expressions, in the dialect of Rust's `regex` crate: linear time, so no look-around and no
# back-references. jsonschema-rs carries that engine. It reads patterns the way JavaScript does
# before it hands them over, which differs in two escapes: `\c` and `\a`.

#: A condition that starts like this is a regular expression, not a glob.
REGEX_PREFIX = "regex:"

_ESCAPE = lazy_regex(r"\\(.)", re.DOTALL)
_LOOK_AROUND = lazy_regex(r"\(\?<?[=!]")
_BACK_REFERENCE = lazy_regex(r"\\[1-9]|\(\?P=|\\k<")


@lru_cache(maxsize=1024)
def regex_problem(pattern: str) -> str | None:
    """What is wrong with a regular expression; None if nothing is."""
    if any(escape[1] == "c" for escape in _ESCAPE.finditer(pattern)):
        return "`\\c` is not an escape"
    try:
        regex_tester(pattern)
    except ValueError:
        if _LOOK_AROUND.search(pattern):
            return "look-around is not supported"
        if _BACK_REFERENCE.search(pattern):
            return "back-references are not supported"
        return "it does not compile"
    return None


@lru_cache(maxsize=1024)
def regex_tester(pattern: str) -> Callable[[str], bool]:
    """Tells whether a pattern matches some part of a text. Raises `ValueError` for a bad one."""
    import jsonschema_rs  # only configurations with patterns pay for it

    plain = _ESCAPE.sub(lambda found: r"\x07" if found[1] == "a" else found[0], pattern)
    options = jsonschema_rs.RegexOptions()
    # jsonschema_rs.ValidationError is a ValueError.
    validator = jsonschema_rs.validator_for(
        {"pattern": plain}, pattern_options=options, offline=True
    )
    return validator.is_valid


# Templates in static text: `${args.city}`, `${fn.upper(args.city)}`. `$$` is an escaped `$`, so
# `$${` opens nothing. Names and arguments are not checked: a server sends empty text for unknown
# ones.

FUNCTIONS = ("upper", "lower", "base64", "json", "len", "default", "truncate", "timestamp", "uuid")

# An escaped dollar, or a template; one that is never closed extends to the end of the text.
_TEMPLATE = lazy_regex(r"\$\$|\$\{(?P<inner>[^}]*)(?P<close>\})?")
_CALL = lazy_regex(r"\s*fn\.(?P<name>[^(}\s]*)")


def template_problems(text: str) -> Iterator[tuple[Code, str]]:
    """What is wrong with the templates of a text: a code, and the text or function at fault."""
    for match in _TEMPLATE.finditer(text) if "${" in text else ():
        call = _CALL.match(match["inner"] or "")
        if match["inner"] is not None and match["close"] is None:
            yield codes.TEMPLATE_UNCLOSED, match[0]
        elif call is not None and call["name"] not in FUNCTIONS:
            yield codes.TEMPLATE_FUNCTION, call["name"]
