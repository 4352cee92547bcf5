"""The core schema of YAML 1.2: what a scalar's text stands for.

`on`, `yes`, dates and `1_000` are text. No tag constructs anything.
"""

from __future__ import annotations

import json

from equipage.core.text import expression

_SPECIALS: dict[str, object] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_NUMBER = expression(
    r"(?P<decimal>[-+]?[0-9]+)"
    r"|(?P<octal>0o[0-7]+)"
    r"|(?P<hexadecimal>0x[0-9a-fA-F]+)"
    r"|(?P<float>[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?)"
    r"|(?P<infinity>[-+]?\.(?:inf|Inf|INF))"
    r"|(?P<nan>\.(?:nan|NaN|NAN))"
)
_NUMBER_STARTS = frozenset("+-.0123456789")
_CORE = "tag:yaml.org,2002:"
INFINITY = float("inf")
#: How much is kept of a collection that stands where a key belongs. It is an error in any case.
_LONGEST_KEY = 80
_WRITABLE_BITS = 14_000  #: about 4,200 decimal digits


class TooLong(ValueError):
    """An integer with more digits than Python converts in reasonable time."""


def resolve_plain(text: str) -> object:
    """The value of an unquoted scalar under the core schema."""
    if text[:1] not in _NUMBER_STARTS:
        return _SPECIALS.get(text, text)
    match = _NUMBER.fullmatch(text)
    if match is None:
        return text
    form = match.lastgroup
    if form == "decimal":
        try:
            return int(text)
        except ValueError:
            raise TooLong from None
    if form == "float":
        return float(text)
    if form == "octal":
        return _whole(text[2:], 8)
    if form == "hexadecimal":
        return _whole(text[2:], 16)
    if form == "infinity":
        return -INFINITY if text[0] == "-" else INFINITY
    return float("nan")


def _whole(digits: str, base: int) -> int:
    """Python reads any number of these digits at once, but could not write the number in decimal."""
    value = int(digits, base)
    if value.bit_length() > _WRITABLE_BITS:
        raise TooLong
    return value


def is_too_long(text: str) -> bool:
    """Whether an unquoted scalar is an integer with too many digits."""
    try:
        resolve_plain(text)
    except TooLong:
        return True
    return False


def resolve_tagged(tag: str, text: str) -> object:
    """The value of a scalar with an explicit tag; unknown tags are inert and leave text."""
    name = tag.removeprefix(_CORE)
    if name not in {"int", "float", "bool", "null"}:
        return text
    try:
        value = resolve_plain(text)
        if name == "float" and type(value) is int:
            return float(value)
    except (TooLong, OverflowError):
        return text
    wanted = {"int": int, "float": float, "bool": bool, "null": type(None)}[name]
    return value if type(value) is wanted else text


def known_tag(tag: str, value: object) -> bool:
    """Whether a tag is part of the core schema and agrees with what the node holds."""
    name = tag.removeprefix(_CORE)
    if name in {"int", "float", "bool", "null"}:
        return not isinstance(value, str)
    return tag == "!" or name in {"str", "seq", "map"}


def is_core_tag(tag: str) -> bool:
    """Whether a tag is one of the core schema, whatever it stands before."""
    return tag.startswith(_CORE) and tag.removeprefix(_CORE) in {"int", "float", "bool", "null"}


def key_text(key: object) -> str:
    """The text that stands for a key that is not a string.

    That of a collection is cut: a key in a key in a key doubles its quotes at every level, and would grow
    without bound.
    """
    if isinstance(key, str):
        return key
    if key is None:
        return "~"
    try:
        text = json.dumps(key, ensure_ascii=False)
    except ValueError:
        return str(key)
    return (
        text
        if len(text) <= _LONGEST_KEY or not isinstance(key, dict | list)
        else f"{text[:_LONGEST_KEY]}…"
    )
