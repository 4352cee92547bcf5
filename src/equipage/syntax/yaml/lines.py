"""One line of the plainest YAML: `key: value`, `- value`, `- key: value`, with blanks and a comment around it.

A value is a scalar or a flow collection that ends on its line. Everything else raises `Doubt`, good YAML or not.
"""

from __future__ import annotations

from typing import Any, Final

from equipage.expressions import expression
from equipage.syntax.engine import Range
from equipage.syntax.yaml.scalars import INFINITY, resolve_plain

#: Beyond it, the parser watches over the depth of nesting. Each level of nesting needs a column.
_MAX_INDENT = 40
#: Longer lines are left to the parser, too: the expressions below may look at each character of one twice.
_MAX_LINE = 4_000

# These say what ends a part; that the line holds nothing but printable characters is looked at first.
_KEY = r"(?:[^\W\d]|\$)[\w$./-]{0,99}+|\"[\w$./ -]{1,99}\"|'[\w$./ -]{1,99}'"
_PLAIN = r"(?:[\w$/.+~(<=^;\\]|[^\x00-\x7f]|-(?=[\w.]))(?:[^:#]++|:(?=[^ ])|(?<! )#)*+"
_QUOTED = r"\"[^\"\\]*+\"|'[^']*+'"
_FLOW = r"[\[{].*[\]}]"

_NOTHING = expression(r" *(?:#.*)?")
_ENTRY = expression(
    rf"(?P<indent> {{0,{_MAX_INDENT}}})(?P<item>- )?"
    rf"(?:(?P<key>{_KEY}):(?= |$))?"
    rf" *(?:(?P<plain>{_PLAIN})|(?P<quoted>{_QUOTED})|(?P<flow>{_FLOW}))?"
    r"(?: *| +#.*|(?<= )#.*)"  # a plain value takes the blanks behind it, too
)
_FLOW_KEY = expression(rf"({_KEY}): +")
_FLOW_WORD = r"[\w$/.+~*-]"
_FLOW_SCALAR = expression(
    rf"(?:(?P<quoted>{_QUOTED})|(?P<plain>(?:[\w$/.+~]|-(?=\w))(?:{_FLOW_WORD}++| +(?={_FLOW_WORD}))*+)) *(?=[,\]}}])"
)
_MAX_FLOW_DEPTH = 16
_END = "\0"  #: no text has it, so that nothing is looked for behind the end

OPEN: Final[Any] = object()  #: no value on this line: it follows on deeper ones, or is null

#: Column, whether it is an item of a sequence, key, value.
Entry = tuple[int, bool, str | None, Any]


class Doubt(Exception):
    """The parser should look at this text."""


def taken_apart(line: str) -> Entry | None:
    """What a line says; None for one that says nothing. Raises `Doubt`."""
    if not line.isprintable():  # tabs, controls, line breaks beyond ASCII, byte order marks, lone surrogates
        raise Doubt
    return None if _NOTHING.fullmatch(line) else _entry(line)


def ranges_of(line: str) -> tuple[Range | None, Range | None]:
    """Where the key and the value of a line stand in it, for a line that `taken_apart` knows."""
    match = _ENTRY.fullmatch(line)
    assert match is not None
    key = None if match["key"] is None else match.span("key")
    if match["plain"] is not None:
        return key, (match.start("plain"), match.start("plain") + len(match["plain"].rstrip(" ")))
    return key, next((match.span(name) for name in ("quoted", "flow") if match[name] is not None), None)


def _entry(line: str) -> Entry:
    match = _ENTRY.fullmatch(line) if len(line) <= _MAX_LINE else None
    if match is None:
        raise Doubt
    indent, item, key, plain, quoted, flow = match.groups()
    if plain is not None:
        value = _scalar(plain.rstrip(" "))
    elif quoted is not None:
        value = quoted[1:-1]
    else:
        value = OPEN if flow is None else _collection(flow)
    if key is not None:
        key = _key(key)
    elif not item or value is OPEN:
        raise Doubt
    return len(indent), item is not None, key, value


def _key(written: str) -> str:
    if written[0] in "\"'":
        return written[1:-1]
    if resolve_plain(written).__class__ is not str:
        raise Doubt  # `true` and `null` are no strings
    return written


def _scalar(written: str) -> Any:
    try:
        value = resolve_plain(written)
    except ValueError:
        raise Doubt from None
    if isinstance(value, float) and not -INFINITY < value < INFINITY:
        raise Doubt
    return value


def _collection(written: str) -> Any:
    """The value of a text that is one flow collection."""
    if written.count("[") + written.count("{") > _MAX_FLOW_DEPTH:
        raise Doubt
    value, end = _flow(written + _END, 0)
    if end != len(written):
        raise Doubt
    return value


def _flow(text: str, at: int) -> tuple[Any, int]:
    """The flow collection or scalar that starts at `at`, and where the text goes on."""
    if text[at] == "[":
        return _flow_sequence(text, at)
    if text[at] == "{":
        return _flow_mapping(text, at)
    match = _FLOW_SCALAR.match(text, at)
    if match is None:
        raise Doubt
    quoted, plain = match.groups()
    return (quoted[1:-1] if plain is None else _scalar(plain)), match.end()


def _flow_sequence(text: str, at: int) -> tuple[list[Any], int]:
    items: list[Any] = []
    at = _after("[", text, at)
    while text[at] != "]":
        if items:
            at = _after(",", text, at)
        item, at = _flow(text, at)
        items.append(item)
    return items, _after("]", text, at)


def _flow_mapping(text: str, at: int) -> tuple[dict[str, Any], int]:
    mapping: dict[str, Any] = {}
    at = _after("{", text, at)
    while text[at] != "}":
        if mapping:
            at = _after(",", text, at)
        match = _FLOW_KEY.match(text, at)
        if match is None or _key(match[1]) in mapping:
            raise Doubt
        mapping[_key(match[1])], at = _flow(text, match.end())
    return mapping, _after("}", text, at)


def _after(mark: str, text: str, at: int) -> int:
    """Where the text goes on after a `mark`, which must stand at `at`, and blanks."""
    if text[at] != mark:
        raise Doubt
    at += 1
    while text[at] == " ":
        at += 1
    return at
