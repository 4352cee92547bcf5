"""Headers that are not quite YAML: what their author meant, by a rule of lines.

People write the header of an agent as if every line were `key: text`. YAML disagrees when the text holds `: `,
starts with `*` or `@`, looks like `[a] [b]`, or goes on in lines that are not indented. Tools that accept such
files read them line by line, and so does `recover`, for the entries that do not parse, and for no others:

1. A line that starts in the first column with a name and a colon begins an entry. All lines up to the next one
   belong to it. Once a line that is not indented and not an entry was seen, only a *known* name begins the next:
   `user: "…"` in an example is text.
2. An entry that parses on its own stays as it is.
3. Of one that does not, everything behind the colon is text, to the end of the line, `#` included. Further lines
   are text, too: as they are if they are not indented, folded if they are.

The result is text that parses strictly, with the stretches that had to change. Nothing is returned unless the
new text parses, and gives exactly the text that the rule found. Nothing here touches the disk or knows a kind.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import Any, Literal

import msgspec

from equipage.syntax import Range, SyntaxProblem, yaml

#: Why an entry is not YAML. The first four are understood by tools that read line by line; the others are slips
#: whose repair is known, but which no tool forgives.
Reason = Literal["colon", "brackets", "indicator", "unindented", "quotes", "no-space", "tabs"]
FORGIVEN: frozenset[Reason] = frozenset({"colon", "brackets", "indicator", "unindented"})

_ENTRY = re.compile(
    r"(?P<key>[A-Za-z_][\w.-]*)[ \t]*:(?:[ \t]+(?P<value>[^\r\n]*?))?[ \t]*\r?\n?\Z"
)
_TOUCHING = re.compile(r"(?P<key>[A-Za-z_][\w.-]*):(?P<value>[^\s:/][^\r\n]*?)[ \t]*\r?\n?\Z")
_NESTED = re.compile(
    r"(?P<lead>[ \t]*(?:-[ ]+)?(?:[A-Za-z_][\w.-]*:[ ]+)?)(?P<value>\S[^\r\n]*?)[ \t]*\r?\n?\Z"
)
_BLOCK = re.compile(r"[|>][+-]?(?:[ \t]+#.*)?\Z")
_COLON = re.compile(r":(?=\s|\Z)")
_INDICATORS = tuple("*&!%@`")
_PAIRS = {"[": "]", "{": "}"}
_LONGEST = 64 * 1024


class Mend(msgspec.Struct, frozen=True):
    """A stretch to rewrite: `range` becomes `text`. `place` is what is wrong there."""

    key: str
    reason: Reason
    place: Range
    range: Range
    text: str


class Recovered(msgspec.Struct, frozen=True):
    """A header that parses strictly, and what had to change."""

    text: str
    mends: tuple[Mend, ...]

    @property
    def forgiven(self) -> bool:
        """Whether tools that read line by line would have understood it all."""
        return all(each.reason in FORGIVEN for each in self.mends)


def recover(text: str, known: Collection[str]) -> Recovered | None:
    """A header that does not parse, as its author meant it; None if that is not clear.

    `known` are the names that begin an entry even inside an example that is not indented.
    """
    if len(text) > _LONGEST:
        return None
    mends: list[Mend] = []
    for entry in _entries(text, known):
        if not _parses(entry.text(text), entry.key) and not _is_alias(entry, text):
            found = _mends(entry, text)
            if not found:
                return None
            mends += found
    if "\r\n" in text:
        mends = [
            msgspec.structs.replace(each, text=each.text.replace("\n", "\r\n")) for each in mends
        ]
    candidate = _rewritten(text, mends)
    return Recovered(candidate, tuple(mends)) if mends and _parses(candidate) else None


# ------------------------------------------------------------------------------------------------- entries


class _Entry(msgspec.Struct, frozen=True):
    """`key`, its value on the first line, and the lines that follow."""

    key: str
    start: int
    value: Range
    lines: list[Range]
    touching: bool = False

    @property
    def end(self) -> int:
        return self.lines[-1][1] if self.lines else self.value[1]

    def text(self, text: str) -> str:
        return text[self.start : self.end]

    def following(self, text: str) -> list[str]:
        """The further lines, without the empty ones at the end."""
        lines = [text[slice(*each)].rstrip("\r\n") for each in self.lines]
        while lines and not lines[-1].strip():
            lines.pop()
        return lines


def _entries(text: str, known: Collection[str]) -> list[_Entry]:
    entries: list[_Entry] = []
    loose = False  # a line was seen that is neither indented nor an entry
    for start, end in _lines(text):
        line = text[start:end]
        match = _ENTRY.match(line) or (
            _TOUCHING.match(line) if line.partition(":")[0] in known else None
        )
        if match is not None and (not loose or match["key"] in known):
            entries.append(_entry(match, start))
            loose = _BLOCK.match(match["value"] or "") is not None
        elif entries:
            entries[-1].lines.append((start, end))
            indented = line.startswith((" ", "\t", "#", "-", "]", "}", "\r", "\n"))
            # What is indented below `|` is its text; after it, any name begins an entry again.
            loose = not indented if loose and len(entries[-1].lines) == 1 else loose or not indented
    return entries


def _entry(match: re.Match[str], start: int) -> _Entry:
    low, high = (
        match.span("value") if match["value"] is not None else (len(match.string.rstrip()),) * 2
    )
    return _Entry(match["key"], start, (start + low, start + high), [], match.re is _TOUCHING)


def _lines(text: str) -> Iterator[Range]:
    start = 0
    while start < len(text):
        end = text.find("\n", start) + 1 or len(text)
        yield start, end
        start = end


def _is_alias(entry: _Entry, text: str) -> bool:
    """Whether the entry only fails on its own because its anchor stands elsewhere."""
    value = text[slice(*entry.value)]
    return value.startswith("*") and f"&{value[1:]}" in text


def _parses(text: str, key: str | None = None) -> bool:
    try:
        value: Any = yaml.load(text, merge=False).value
    except SyntaxProblem:
        return False
    return isinstance(value, dict) and (key is None or list(value) == [key])


def _rewritten(text: str, mends: list[Mend]) -> str:
    for each in reversed(mends):
        text = text[: each.range[0]] + each.text + text[each.range[1] :]
    return text


# ------------------------------------------------------------------------------------------------- mending


def _mends(entry: _Entry, text: str) -> list[Mend]:
    """What to rewrite so that the entry parses; nothing if that is not clear."""
    if entry.touching:
        start = entry.value[0]
        return [Mend(entry.key, "no-space", (start - 1, start), (start, start), " ")]
    following = entry.following(text)
    value = text[slice(*entry.value)]
    if not following:
        found = _text_of_line(entry.key, value, entry.value[0])
        return [found] if found else []
    if any(line and not line[0].isspace() and not line.startswith("#") for line in following):
        return _unindented(entry, value, following)
    if value:
        return _folded(entry, text, value, following)
    return _nested(entry, text)


def _text_of_line(key: str, value: str, start: int) -> Mend | None:
    """A value of one line, quoted."""
    whole = (start, start + len(value))
    first = value[:1]
    if first in ("'", '"'):
        return _requoted(key, value, start)
    if first in _PAIRS:
        close = _closing(value)
        if close is None:
            return None
        rest = start + close + len(value[close:]) - len(value[close:].lstrip())
        return _checked(Mend(key, "brackets", (rest, whole[1]), whole, _quoted(value)), value)
    if value.startswith((*_INDICATORS, "- ", "? ", "|", ">")):
        return _checked(Mend(key, "indicator", (start, start + 1), whole, _quoted(value)), value)
    colon = _COLON.search(value)
    if colon is not None:
        place = start + colon.start(), start + colon.end()
        return _checked(Mend(key, "colon", place, whole, _quoted(value)), value)
    return None


def _requoted(key: str, value: str, start: int) -> Mend | None:
    """A value that starts with a quote: quotes inside it, or text behind it."""
    quote, inner = value[0], value[1:-1]
    whole = (start, start + len(value))
    if len(value) > 1 and value.endswith(quote) and quote in inner:
        escaped = inner.replace("'", "''") if quote == "'" else re.sub(r'(?<!\\)"', r"\"", inner)
        place = start + 1 + inner.index(quote)
        mend = Mend(key, "quotes", (place, place + 1), whole, f"{quote}{escaped}{quote}")
        return mend if _parses(f"{key}: {mend.text}", key) else None
    if quote in inner and not value.endswith(quote):
        place = start + value.index(quote, 1) + 1
        return _checked(Mend(key, "quotes", (place, whole[1]), whole, _quoted(value)), value)
    return None


def _closing(value: str) -> int | None:
    """Behind the bracket that closes the first one."""
    depth = 0
    for offset, letter in enumerate(value):
        depth += (letter == value[0]) - (letter == _PAIRS[value[0]])
        if depth == 0:
            return offset + 1
    return None


def _quoted(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


def _checked(mend: Mend, value: str) -> Mend | None:
    """The mend, if what it writes means `value`."""
    try:
        found: Any = yaml.load(f"{mend.key}: {mend.text}\n", merge=False).value
    except SyntaxProblem:
        return None
    return mend if found == {mend.key: value} else None


def _unindented(entry: _Entry, value: str, following: list[str]) -> list[Mend]:
    """Text that goes on in the first column: a block, each line indented."""
    is_block = _BLOCK.match(value) is not None
    if not is_block and value[:1] in ("'", '"', *_PAIRS):
        return []
    number = next(number for number, line in enumerate(following) if line[:1].strip())
    place = entry.lines[number][0], entry.lines[number][0] + len(following[number])
    lines = [
        line if line.strip() else ""
        for line in (following if is_block or not value else [value, *following])
    ]
    while not lines[0]:
        lines = lines[1:]
    if lines[0][0].isspace():
        return []  # the first line would set the indent of the block
    block = (
        (value if is_block else "|-")
        + "\n"
        + "\n".join(f"  {line}" if line else "" for line in lines)
    )
    whole = entry.value[0], entry.lines[len(following) - 1][0] + len(following[-1])
    mend = Mend(entry.key, "unindented", place, whole, block)
    if not is_block and _checked(mend, "\n".join(lines)) is None:
        # A block cannot hold every character; double quotes can.
        mend = msgspec.structs.replace(mend, text=msgspec.json.encode("\n".join(lines)).decode())
    lead = (
        " " if entry.value[0] == entry.value[1] else ""
    )  # nothing stood behind the colon, not even a blank
    return [msgspec.structs.replace(mend, text=lead + mend.text)]


def _folded(entry: _Entry, text: str, value: str, following: list[str]) -> list[Mend]:
    """Indented text with `: ` in it: a folded block, which means what the lines would mean without the colon."""
    lines = [value, *(line.strip() for line in following)]
    if value[0] in "\"'" or value[0] in _PAIRS or value.startswith(("|", ">")):
        return []
    number = next((number for number, line in enumerate(lines) if _COLON.search(line)), None)
    if number is None or any(line.startswith("#") for line in lines):
        return []
    start = entry.value[0] if number == 0 else entry.lines[number - 1][0]
    colon = _COLON.search(text, start)
    assert colon is not None
    end = entry.lines[len(following) - 1][0] + len(following[-1].rstrip())
    block = ">-\n" + "\n".join(f"  {line}" if line else "" for line in lines)
    return [Mend(entry.key, "colon", colon.span(), (entry.value[0], end), block)]


def _nested(entry: _Entry, text: str) -> list[Mend]:
    """Entries and items below a key, each mended on its own line."""
    mends: list[Mend] = []
    for start, end in entry.lines:
        line = text[start:end]
        tabs = len(line) - len(line.lstrip("\t"))
        if tabs:
            mends.append(
                Mend(entry.key, "tabs", (start, start + tabs), (start, start + tabs), "  " * tabs)
            )
            continue
        match = _NESTED.match(line)
        if (
            match is None
            or match["value"].startswith("#")
            or not match["lead"].rstrip().endswith(("-", ":"))
        ):
            continue
        if not _parses(f"key: {match['value']}"):
            found = _text_of_line("key", match["value"], start + match.start("value"))
            if found is not None:
                mends.append(msgspec.structs.replace(found, key=entry.key))
    return mends
