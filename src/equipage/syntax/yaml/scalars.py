"""Scalars of the core schema of YAML 1.2: `on`, `yes`, dates and `1_000` are text."""

from __future__ import annotations

from equipage.core.text import lazy_regex

SPECIALS: dict[str, object] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
#: The numbers of the core schema, one group for each way to convert them.
_NUMBER = lazy_regex(
    r"(?P<decimal>[-+]?[0-9]+)"
    r"|(?P<octal>0o[0-7]+)"
    r"|(?P<hexadecimal>0x[0-9a-fA-F]+)"
    r"|(?P<float>[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?)"
    r"|(?P<infinity>[-+]?\.(?:inf|Inf|INF))"
    r"|(?P<nan>\.(?:nan|NaN|NAN))"
)
NUMBER_STARTS = frozenset("+-.0123456789")
#: Numbers of one base or another, or text: that depends on the program.
_AMBIGUOUS = lazy_regex(r"[-+]?0(?:[0-9]+|b[01_]+)")
_CORE_TAG_PREFIX = "tag:yaml.org,2002:"
#: The tags of the core schema that only some plain scalars agree with.
_TYPES: dict[str, type] = {"int": int, "float": float, "bool": bool, "null": type(None)}
_WRITABLE_BITS = 14_000  #: about 4,200 decimal digits


class NumberTooLong(ValueError):
    """An integer with more digits than Python converts in reasonable time."""


def resolve_plain(text: str) -> object:
    """The value of an unquoted scalar under the core schema. Raises `NumberTooLong`."""
    if text[:1] not in NUMBER_STARTS:
        return SPECIALS.get(text, text)
    match = _NUMBER.fullmatch(text)
    if match is None:
        return text
    form = match.lastgroup
    if form == "decimal":
        try:
            return int(text)
        except ValueError:
            raise NumberTooLong from None
    if form == "float":
        return float(text)
    if form == "octal" or form == "hexadecimal":
        # Python reads any number of these digits, but could not write the number in decimal.
        value = int(text[2:], 8 if form == "octal" else 16)
        if value.bit_length() > _WRITABLE_BITS:
            raise NumberTooLong
        return value
    if form == "infinity":
        return float("-inf" if text[0] == "-" else "inf")
    return float("nan")


def is_ambiguous(text: str) -> bool:
    """Whether an unquoted scalar is a number to some programs, another or none to others."""
    return text[:1] in NUMBER_STARTS and _AMBIGUOUS.fullmatch(text) is not None


def is_too_long(text: str) -> bool:
    """Whether an unquoted scalar is an integer with too many digits."""
    try:
        resolve_plain(text)
    except NumberTooLong:
        return True
    return False


def resolve_tagged(tag: str, text: str) -> object:
    """The value of a scalar with an explicit tag; unknown tags are inert and leave text."""
    wanted = _TYPES.get(tag.removeprefix(_CORE_TAG_PREFIX))
    if wanted is None:
        return text
    try:
        value = resolve_plain(text)
        if wanted is float and type(value) is int:
            return float(value)
    except (NumberTooLong, OverflowError):
        return text
    return value if type(value) is wanted else text


def is_known_tag(tag: str, value: object) -> bool:
    """Whether a tag is part of the core schema and agrees with what the node holds."""
    name = tag.removeprefix(_CORE_TAG_PREFIX)
    if name in _TYPES:
        return not isinstance(value, str)
    return tag == "!" or name in {"str", "seq", "map"}


def is_core_tag(tag: str) -> bool:
    """Whether a tag is one of the core schema that not every value agrees with."""
    return tag.startswith(_CORE_TAG_PREFIX) and tag.removeprefix(_CORE_TAG_PREFIX) in _TYPES
