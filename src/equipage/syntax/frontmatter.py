"""Headers of Markdown files: where the configuration ends and the prompt begins.

The grammars in use disagree on nearly everything; each is a value here. Offsets are those of the
author's text, a byte order mark included, so that findings in a header need a shift and nothing
else. `recover` reads a header that is not quite YAML as its author meant it.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any, Literal

import msgspec
from msgspec.structs import replace

from equipage.syntax import Range, SyntaxProblem, match_end, yaml

Format = Literal["yaml", "toml"]
Reason = Literal["no-opening-fence", "fence-not-first", "text-after-fence", "never-closed"]

#: What Unicode calls white space. Python's own `strip` also takes four control characters.
SPACE = "\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(
    map(chr, range(0x2000, 0x200B))
)
_BOM = "\ufeff"
_REST_OF_LINE = re.compile(r"[^\r\n]*\r?")


class Header(msgspec.Struct, frozen=True):
    """A header was found: it is `text[start:end]`. `body_after` says where the body is."""

    format: Format
    start: int
    end: int


class NoHeader(msgspec.Struct, frozen=True):
    """There is no header, and why.

    - `no-opening-fence`: the text starts with something else.
    - `fence-not-first`: a fence follows, but after something (`range`) that the grammar does not
      allow before it.
    - `text-after-fence`: the opening fence is not alone on its line; `range` is what follows it.
    - `never-closed`: `range` is the opening fence.
    """

    reason: Reason
    range: Range


class Grammar(msgspec.Struct, frozen=True):
    """How a header is fenced."""

    fences: dict[str, Format]
    #: Whether byte order marks, then white space, may precede the opening fence.
    skips_space: bool = True
    #: Whether the closing fence is a line of its own, with blanks around it allowed. Otherwise it
    #: is the first line that starts with the fence, and the rest of that line belongs to the body.
    closes_with_line: bool = True
    #: Whether white space around the body is left out.
    trims_body: bool = True
    #: Whether blanks may follow the opening fence.
    blank_after_fence: bool = False


#: Single-file profiles and skills.
PROFILE = Grammar({"---": "yaml", "+++": "toml"})

#: The agent files that a blueprint refers to; the body is exact to the last character.
AGENT_MD = Grammar({"---": "yaml"}, skips_space=False, closes_with_line=False, trims_body=False)

#: The agents, commands, rules and skills of other tools.
CONVENTION = Grammar({"---": "yaml"}, blank_after_fence=True)


def split(text: str, grammar: Grammar) -> Header | NoHeader:
    """The header of `text`, or the reason that it has none."""
    opening = _opening(text, grammar)
    if isinstance(opening, NoHeader):
        return opening
    fence = text[slice(*opening)]
    behind = opening[1]
    while grammar.blank_after_fence and text.startswith((" ", "\t"), behind):
        behind += 1
    start = _after_line_break(text, behind)
    if start == behind:
        return NoHeader("text-after-fence", (start, match_end(_REST_OF_LINE, text, start)))
    closing = _closing(text, start, fence, grammar)
    if closing is None:
        return NoHeader("never-closed", opening)
    return Header(grammar.fences[fence], start, closing)


def body_after(text: str, end: int, grammar: Grammar) -> Range:
    """Where the body is in a text whose header ends at `end`."""
    if grammar.closes_with_line:
        start = text.find("\n", end) + 1 or len(text)
    else:
        start = _after_line_break(text, end + 3)
    if not grammar.trims_body:
        return start, len(text)
    body = text[start:].lstrip(SPACE)
    start = len(text) - len(body)
    return start, start + len(body.rstrip(SPACE))


def _opening(text: str, grammar: Grammar) -> Range | NoHeader:
    """Where the opening fence is."""
    fences = tuple(grammar.fences)
    if text.startswith(fences):
        return 0, 3
    offset = 0
    if grammar.skips_space:
        offset = len(text) - len(text.lstrip(_BOM).lstrip(SPACE))
    if text.startswith(fences, offset):
        return offset, offset + 3
    first = len(text) - len(text.lstrip(_BOM + SPACE))
    if first != offset and text.startswith(fences, first):
        return NoHeader("fence-not-first", (0, first))
    return NoHeader("no-opening-fence", (offset, min(offset + 3, len(text))))


def _after_line_break(text: str, offset: int) -> int:
    """Past the line break at `offset`; a lone carriage return is not one."""
    if text.startswith("\r\n", offset):
        return offset + 2
    return offset + 1 if text.startswith("\n", offset) else offset


def _closing(text: str, start: int, fence: str, grammar: Grammar) -> int | None:
    """Where the line of the closing fence starts."""
    # Only lines that hold the fence are looked at, so that a long header is searched once.
    while (found := text.find(fence, start)) >= 0:
        start = text.rfind("\n", start, found) + 1 or start
        end = text.find("\n", found) + 1 or len(text)
        if grammar.closes_with_line:
            is_closing = text[start:end].strip(SPACE) == fence
        else:
            is_closing = found == start
        if is_closing:
            return start
        start = end
    return None


# ------------------------------------------------------------------ headers that are not quite YAML
# People write the header of an agent as if every line were `key: text`. YAML disagrees if the text
# holds `: `, starts with `*` or `@`, looks like `[a] [b]`, or goes on in lines without indentation.
# Tools that accept such files read them line by line, and so does `recover`, but only the entries
# that do not parse:
#
# 1. A line that starts in the first column with a name and a colon begins an entry. All lines up to
#    the next one belong to it. After a line that is neither indented nor an entry, only a *known*
#    name begins the next: `user: "…"` in an example is text.
# 2. An entry that parses on its own stays as it is.
# 3. Of one that does not, everything behind the colon is text to the end of the line, even a `#`.
#    Further lines are text, too: as they are if they are not indented, folded if they are.

#: Why an entry is not YAML. Tools that read line by line understand the first four; of the others
#: the correction is clear, but no tool forgives them.
Flaw = Literal["colon", "brackets", "indicator", "unindented", "quotes", "no-space", "tabs"]
FORGIVEN: frozenset[Flaw] = frozenset({"colon", "brackets", "indicator", "unindented"})

#: A line that begins an entry: a name, a colon, and perhaps a blank and a value.
_ENTRY = re.compile(
    r"(?P<key>[A-Za-z_][\w.-]*)[ \t]*:(?:[ \t]+(?P<value>[^\r\n]*?))?[ \t]*\r?\n?\Z"
)
#: A lone carriage return ends a line, too.
_LINE = re.compile(r"[^\r\n]*(?:\r\n?|\n|\Z)")
#: `key:value` without the blank; what looks like `scheme://` or `a::b` is not meant.
_TOUCHING = re.compile(r"(?P<key>[A-Za-z_][\w.-]*):(?P<value>[^\s:/][^\r\n]*?)[ \t]*\r?\n?\Z")
#: A line below a key: an item, an entry, or both, and its value.
_NESTED = re.compile(
    r"(?P<lead>[ \t]*(?:-[ ]+)?(?:[A-Za-z_][\w.-]*:[ ]+)?)(?P<value>\S[^\r\n]*?)[ \t]*\r?\n?\Z"
)
_BLOCK = re.compile(r"[|>][+-]?(?:[ \t]+#.*)?\Z")
_COLON = re.compile(r":(?=\s|\Z)")
#: What no unquoted text may start with, besides quotes and brackets.
_INDICATORS = (*"*&!%@`|>", "- ", "? ")
_QUOTES = ("'", '"')
_PAIRS = {"[": "]", "{": "}"}
_LONGEST = 64 * 1024


class Correction(msgspec.Struct, frozen=True):
    """A stretch to rewrite: `range` becomes `text`. `place` is what is wrong there."""

    key: str
    reason: Flaw
    place: Range
    range: Range
    text: str


class Recovered(msgspec.Struct, frozen=True):
    """A header that parses strictly, and what had to change."""

    text: str
    corrections: tuple[Correction, ...]

    @property
    def forgiven(self) -> bool:
        """Whether tools that read line by line would have understood it all."""
        return all(each.reason in FORGIVEN for each in self.corrections)


def recover(text: str, known: Collection[str]) -> Recovered | None:
    """A header that does not parse, as its author meant it; None if that is not clear.

    `known` are the names that begin an entry even inside an example that is not indented.
    """
    if len(text) > _LONGEST:
        return None
    corrections: list[Correction] = []
    for entry in _entries(text, known):
        value = text[slice(*entry.value)]
        # An alias fails on its own if its anchor is in another entry.
        is_alias = value.startswith("*") and f"&{value[1:]}" in text
        if not is_alias and not _parses(text[entry.start : entry.end], entry.key):
            found = _corrections(entry, text)
            if not found:
                return None
            corrections += found
    if "\r\n" in text:
        corrections = [replace(each, text=each.text.replace("\n", "\r\n")) for each in corrections]
    candidate = text
    for each in reversed(corrections):
        candidate = candidate[: each.range[0]] + each.text + candidate[each.range[1] :]
    if corrections and _parses(candidate):
        return Recovered(candidate, tuple(corrections))
    return None


def _parses(text: str, key: str | None = None) -> bool:
    """Whether a text is a mapping; with `key`, one with that entry alone."""
    value = _value(text)
    return isinstance(value, dict) and (key is None or list(value) == [key])


def _value(text: str) -> Any:
    """The value of a text; None if it has none."""
    try:
        return yaml.load(text, merge=False).value
    except SyntaxProblem:
        return None


# ----------------------------------------------------------------------------------------- entries


class _Entry(msgspec.Struct, frozen=True):
    """`key`, its value on the first line, and the lines that follow."""

    key: str
    start: int
    value: Range
    lines: list[Range]
    is_touching: bool

    @property
    def end(self) -> int:
        return self.lines[-1][1] if self.lines else self.value[1]

    def following(self, text: str) -> list[str]:
        """The further lines, without the empty ones at the end."""
        lines = [text[slice(*each)].rstrip("\r\n") for each in self.lines]
        while lines and not lines[-1].strip():
            lines.pop()
        return lines


def _entries(text: str, known: Collection[str]) -> list[_Entry]:
    entries: list[_Entry] = []
    is_loose = False  # a line was seen that is neither indented nor an entry
    end = 0
    while end < len(text):
        start, end = end, match_end(_LINE, text, end)
        line = text[start:end]
        match = _ENTRY.match(line)
        if match is None and line.partition(":")[0] in known:
            match = _TOUCHING.match(line)
        if match is not None and (not is_loose or match["key"] in known):
            low, high = match.span("value")
            if low < 0:  # nothing follows the colon
                low = high = len(line.rstrip())
            value = start + low, start + high
            entries.append(_Entry(match["key"], start, value, [], match.re is _TOUCHING))
            is_loose = _BLOCK.match(match["value"] or "") is not None
        elif entries:
            entries[-1].lines.append((start, end))
            is_indented = line.startswith((" ", "\t", "#", "-", "]", "}", "\r", "\n"))
            # What is indented below `|` is its text; after it, any name begins an entry again.
            is_first = is_loose and len(entries[-1].lines) == 1
            is_loose = not is_indented if is_first else is_loose or not is_indented
    return entries


# ------------------------------------------------------------------------------------- corrections


def _corrections(entry: _Entry, text: str) -> list[Correction]:
    """What to rewrite so that the entry parses; nothing if that is not clear."""
    if entry.is_touching:
        start = entry.value[0]
        return [Correction(entry.key, "no-space", (start - 1, start), (start, start), " ")]
    following = entry.following(text)
    value = text[slice(*entry.value)]
    if not following:
        found = _one_line(entry.key, value, entry.value[0])
        return [found] if found else []
    if any(line and not line[0].isspace() and not line.startswith("#") for line in following):
        return _unindented(entry, value, following)
    if value:
        return _folded(entry, text, value, following)
    return _nested(entry, text)


def _one_line(key: str, value: str, start: int) -> Correction | None:
    """A value of one line, quoted."""
    end = start + len(value)
    colon = _COLON.search(value)
    if value.startswith(_QUOTES):
        return _requoted(key, value, start)
    if value[:1] in _PAIRS:
        rest = _behind_brackets(value)
        if rest is None:
            return None
        return _quoted(key, "brackets", (start + rest, end), value, start)
    if value.startswith(_INDICATORS):
        return _quoted(key, "indicator", (start, start + 1), value, start)
    if colon is not None:
        return _quoted(key, "colon", (start + colon.start(), start + colon.end()), value, start)
    return None


def _quoted(key: str, reason: Flaw, place: Range, value: str, start: int) -> Correction | None:
    """A value in single quotes, if that means the same text."""
    written = "'" + value.replace("'", "''") + "'"
    correction = Correction(key, reason, place, (start, start + len(value)), written)
    return correction if _means(correction, value) else None


def _means(correction: Correction, value: str) -> bool:
    """Whether what a correction writes is read as `value`."""
    return bool(_value(f"{correction.key}: {correction.text}\n") == {correction.key: value})


def _requoted(key: str, value: str, start: int) -> Correction | None:
    """A value that starts with a quote: quotes inside it, or text behind it."""
    quote, inner, end = value[0], value[1:-1], start + len(value)
    if quote not in inner:
        return None
    second = start + 1 + inner.index(quote)
    if not value.endswith(quote):
        return _quoted(key, "quotes", (second + 1, end), value, start)
    escaped = inner.replace("'", "''") if quote == "'" else re.sub(r'(?<!\\)"', r"\"", inner)
    written = f"{quote}{escaped}{quote}"
    if not _parses(f"{key}: {written}", key):
        return None
    return Correction(key, "quotes", (second, second + 1), (start, end), written)


def _behind_brackets(value: str) -> int | None:
    """Where the text behind the first bracket and its partner begins."""
    depth = 0
    for offset, letter in enumerate(value, 1):
        depth += (letter == value[0]) - (letter == _PAIRS[value[0]])
        if depth == 0:
            return offset + len(value[offset:]) - len(value[offset:].lstrip())
    return None


def _unindented(entry: _Entry, value: str, following: list[str]) -> list[Correction]:
    """Text that goes on in the first column: a block, each line indented."""
    is_block = _BLOCK.match(value) is not None
    if not is_block and value[:1] in (*_QUOTES, *_PAIRS):
        return []
    lines = following if is_block or not value else [value, *following]
    lines = [line if line.strip() else "" for line in lines]
    while not lines[0]:
        lines.pop(0)
    if lines[0][0].isspace():
        return []  # the first line would set the indent of the block
    number = next(number for number, line in enumerate(following) if line[:1].strip())
    place = entry.lines[number][0], entry.lines[number][0] + len(following[number])
    whole = entry.value[0], entry.lines[len(following) - 1][0] + len(following[-1])
    written = f"{value if is_block else '|-'}\n{_indented(lines)}"
    correction = Correction(entry.key, "unindented", place, whole, written)
    if not is_block and not _means(correction, "\n".join(lines)):
        # A block cannot hold every character; double quotes can.
        correction = replace(correction, text=msgspec.json.encode("\n".join(lines)).decode())
    if entry.value[0] == entry.value[1]:  # nothing was behind the colon, not even a blank
        correction = replace(correction, text=f" {correction.text}")
    return [correction]


def _folded(entry: _Entry, text: str, value: str, following: list[str]) -> list[Correction]:
    """Indented text with `: ` in it: a folded block means what the lines would mean without it."""
    lines = [value, *(line.strip() for line in following)]
    if value[0] in (*_QUOTES, *_PAIRS, "|", ">") or any(line.startswith("#") for line in lines):
        return []
    colon = _COLON.search(text, entry.value[0])
    if not any(map(_COLON.search, lines)) or colon is None:
        return []
    end = entry.lines[len(following) - 1][0] + len(following[-1].rstrip())
    whole = entry.value[0], end
    return [Correction(entry.key, "colon", colon.span(), whole, f">-\n{_indented(lines)}")]


def _indented(lines: list[str]) -> str:
    return "\n".join(f"  {line}" if line else "" for line in lines)


def _nested(entry: _Entry, text: str) -> list[Correction]:
    """Entries and items below a key, each corrected on its own line."""
    found: list[Correction] = []
    for start, end in entry.lines:
        line = text[start:end]
        tabs = len(line) - len(line.lstrip("\t"))
        if tabs:
            place = (start, start + tabs)
            found.append(Correction(entry.key, "tabs", place, place, "  " * tabs))
            continue
        match = _NESTED.match(line)
        if match is None or not match["lead"].rstrip().endswith(("-", ":")):
            continue
        value = match["value"]
        if not value.startswith("#") and not _parses(f"key: {value}"):
            correction = _one_line("key", value, start + match.start("value"))
            if correction is not None:
                found.append(replace(correction, key=entry.key))
    return found
