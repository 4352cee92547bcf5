"""Headers of Markdown files: where the configuration ends, and headers that are not quite YAML.

The grammars in use disagree on nearly everything; each is a value here. Offsets are those of the
author's text, a byte order mark included, so that findings in a header need a shift and nothing
else. `recover` says what an author meant by a header that is not quite YAML.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any, Literal

import msgspec
from msgspec.structs import replace

from equipage.core.text import lazy_regex
from equipage.syntax import Range, SyntaxProblem, match_end, yaml

Format = Literal["yaml", "toml"]
Reason = Literal["no-opening-fence", "fence-not-first", "text-after-fence", "never-closed"]

#: What Unicode calls white space. Python's own `strip` also takes four control characters.
WHITE_SPACE = "\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(
    map(chr, range(0x2000, 0x200B))
)
_BOM = "\ufeff"
_REST_OF_LINE = lazy_regex(r"[^\r\n]*\r?")

# People write the header of an agent as if every line were `key: text`. YAML disagrees if the text
# holds `: `, starts with `*` or `@`, looks like `[a] [b]`, or goes on in lines without indentation.
# `recover` rewrites only the entries that do not parse:
#
# 1. A known name and a colon in the first column begin an entry. All lines up to the next one
#    belong to it. Another name begins one, too, unless the text is a dialogue: a speaker, a name
#    that comes again, a name inside an `<example>` or after a line that is neither indented nor an
#    entry. So `user: "…"` is text, and `emoji: x` is an entry.
# 2. An entry that parses on its own stays as it is.
# 3. Of one that does not, everything behind the colon is text to the end of the line, even a `#`.
#    Further lines are text, too: as they are if they are not indented, folded if they are.

#: Why an entry is not YAML.
Flaw = Literal[
    "colon", "brackets", "unclosed", "indicator", "unindented", "quotes", "no-space", "tabs"
]

#: Who speaks in the examples that people put into a description.
_SPEAKERS = frozenset(
    {"user", "assistant", "human", "ai", "agent", "system", "context", "commentary"}
)
_EXAMPLE = lazy_regex(r"<(?P<end>/?)(?:example|commentary)s?>", re.IGNORECASE)

#: A line that begins an entry: a name, a colon, and perhaps a blank and a value.
_ENTRY = lazy_regex(
    r"(?P<key>[A-Za-z_][\w.-]*)[ \t]*:(?:[ \t]+(?P<value>[^\r\n]*?))?[ \t]*\r?\n?\Z"
)
#: A lone carriage return ends a line, too.
_LINE = lazy_regex(r"[^\r\n]*(?:\r\n?|\n|\Z)")
#: `key:value` without the blank; what looks like `scheme://` or `a::b` is not meant.
_ENTRY_WITHOUT_SPACE = lazy_regex(
    r"(?P<key>[A-Za-z_][\w.-]*):(?P<value>[^\s:/][^\r\n]*?)[ \t]*\r?\n?\Z"
)
#: A line below a key: an item, an entry, or both, and its value.
_NESTED_LINE = lazy_regex(
    r"(?P<lead>[ \t]*(?:-[ ]+)?(?:[A-Za-z_][\w.-]*:[ ]+)?)(?P<value>\S[^\r\n]*?)[ \t]*\r?\n?\Z"
)
_BLOCK = lazy_regex(r"[|>][+-]?(?:[ \t]+#.*)?\Z")
_COLON = lazy_regex(r":(?=[ \t\r\n]|\Z)")
#: What no unquoted text may start with, besides quotes and brackets.
_INDICATORS = (*"*&!%@`|>", "- ", "? ")
QUOTES = ("'", '"')
_BRACKET_PAIRS = {"[": "]", "{": "}"}
MAX_RECOVERED_LENGTH = 64 * 1024


class Header(msgspec.Struct, frozen=True):
    """A header was found: it is `text[start:end]`. `body_range` says where the body is."""

    syntax: Format
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
    #: Whether the fence closes the header wherever it is, even inside a value.
    closes_anywhere: bool = False


#: Single-file profiles and skills.
PROFILE = Grammar({"---": "yaml", "+++": "toml"})

#: The agent files that a blueprint refers to; the body is exact to the last character.
AGENT_MD = Grammar({"---": "yaml"}, skips_space=False, closes_with_line=False, trims_body=False)

#: The agents, commands, rules and skills of other tools.
CONVENTION = Grammar({"---": "yaml"}, blank_after_fence=True)

#: Those of Claude Code and Gemini CLI, which end a header at the next three dashes.
CLOSED_ANYWHERE = Grammar({"---": "yaml"}, blank_after_fence=True, closes_anywhere=True)

#: Those of OpenCode, which ends a header at the next line that starts with three dashes.
CLOSED_AT_LINE_START = Grammar({"---": "yaml"}, blank_after_fence=True, closes_with_line=False)


def split(text: str, grammar: Grammar) -> Header | NoHeader:
    """The header of `text`, or the reason that it has none."""
    opening = _find_opening_fence(text, grammar)
    if isinstance(opening, NoHeader):
        return opening
    fence = text[slice(*opening)]
    behind = opening[1]
    while grammar.blank_after_fence and text.startswith((" ", "\t"), behind):
        behind += 1
    start = _skip_line_break(text, behind)
    if start == behind:
        return NoHeader("text-after-fence", (start, match_end(_REST_OF_LINE, text, start)))
    closing = _find_closing_fence(text, start, fence, grammar)
    if closing is None:
        return NoHeader("never-closed", opening)
    return Header(grammar.fences[fence], start, closing)


#: How many characters at an end of a body are looked at first.
_PROBE_LENGTH = 64


def body_range(text: str, end: int, grammar: Grammar) -> Range:
    """Where the body is in a text whose header ends at `end`."""
    if grammar.closes_with_line:
        start = text.find("\n", end) + 1 or len(text)
    else:
        start = _skip_line_break(text, end + 3)
    if not grammar.trims_body:
        return start, len(text)
    # Few blanks are around most bodies: then the body itself is not copied to find them.
    first, last = (
        text[start : start + _PROBE_LENGTH].lstrip(WHITE_SPACE),
        text[-_PROBE_LENGTH:].rstrip(WHITE_SPACE),
    )
    if not first or not last or len(text) - start < 2 * _PROBE_LENGTH:
        body = text[start:].lstrip(WHITE_SPACE)
        start = len(text) - len(body)
        return start, start + len(body.rstrip(WHITE_SPACE))
    return start + _PROBE_LENGTH - len(first), len(text) - _PROBE_LENGTH + len(last)


def _find_opening_fence(text: str, grammar: Grammar) -> Range | NoHeader:
    """Where the opening fence is."""
    fences = tuple(grammar.fences)
    if text.startswith(fences):
        return 0, 3
    offset = 0
    if grammar.skips_space:
        offset = len(text) - len(text.lstrip(_BOM).lstrip(WHITE_SPACE))
    if text.startswith(fences, offset):
        return offset, offset + 3
    first = len(text) - len(text.lstrip(_BOM + WHITE_SPACE))
    if first != offset and text.startswith(fences, first):
        return NoHeader("fence-not-first", (0, first))
    return NoHeader("no-opening-fence", (offset, min(offset + 3, len(text))))


def _skip_line_break(text: str, offset: int) -> int:
    """The offset after the line break at `offset`, if any; a lone carriage return is none."""
    if text.startswith("\r\n", offset):
        return offset + 2
    return offset + 1 if text.startswith("\n", offset) else offset


def _find_closing_fence(text: str, start: int, fence: str, grammar: Grammar) -> int | None:
    """Where the line of the closing fence starts; the fence itself if text precedes it."""
    # Only lines that hold the fence are looked at, so that a long header is searched once.
    while (found := text.find(fence, start)) >= 0:
        start = text.rfind("\n", start, found) + 1 or start
        end = text.find("\n", found) + 1 or len(text)
        if grammar.closes_anywhere:
            return start if text[start:found].isspace() else found
        if grammar.closes_with_line:
            is_closing = text[start:end].strip(WHITE_SPACE) == fence
        else:
            is_closing = found == start
        if is_closing:
            return start
        start = end
    return None


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


def recover(text: str, known: Collection[str]) -> Recovered | None:
    """A header that does not parse, as its author meant it; None if that is not clear.

    `known` are the names that begin an entry even inside an example that is not indented.
    """
    # Each entry is parsed on its own, perhaps several times.
    if len(text) > MAX_RECOVERED_LENGTH:
        return None
    corrections: list[Correction] = []
    for entry in _split_entries(text, known):
        value = text[slice(*entry.value)]
        # An alias fails on its own if its anchor is in another entry.
        is_alias = value.startswith("*") and f"&{value[1:]}" in text
        if not is_alias and not parses_as_yaml(text[entry.start : entry.end], entry.key):
            found = _correct_entry(entry, text)
            if not found:
                return None
            corrections += found
    # The lines that a correction adds end like those around them.
    if "\r\n" in text:
        corrections = [replace(each, text=each.text.replace("\n", "\r\n")) for each in corrections]
    return apply_corrections(text, corrections)


def apply_corrections(text: str, corrections: list[Correction]) -> Recovered | None:
    """The text with its corrections, if it parses then."""
    parts: list[str] = []
    end = 0
    for each in corrections:
        parts += (text[end : each.range[0]], each.text)
        end = each.range[1]
    candidate = "".join(parts) + text[end:]
    if corrections and parses_as_yaml(candidate):
        return Recovered(candidate, tuple(corrections))
    return None


def parses_as_yaml(text: str, key: str | None = None) -> bool:
    """Whether a text is a mapping; with `key`, one with that entry alone."""
    value = _load_or_none(text)
    return isinstance(value, dict) and (key is None or list(value) == [key])


def _load_or_none(text: str) -> Any:
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

    def following_lines(self, text: str) -> list[str]:
        """The further lines, without the empty ones at the end."""
        lines = [text[slice(*each)].rstrip("\r\n") for each in self.lines]
        while lines and not lines[-1].strip():
            lines.pop()
        return lines


def _split_entries(text: str, known: Collection[str]) -> list[_Entry]:
    entries: list[_Entry] = []
    seen: set[str] = set()
    is_loose = False  # a line was seen that is neither indented nor an entry
    is_example = False  # the text is inside an example
    end = 0
    while end < len(text):
        start, end = end, match_end(_LINE, text, end)
        line = text[start:end]
        match = _ENTRY.match(line)
        is_touching = match is None and line.partition(":")[0] in known
        if is_touching:
            match = _ENTRY_WITHOUT_SPACE.match(line)
        key = "" if match is None else match["key"]
        is_speech = is_loose or is_example or key in seen or key.lower() in _SPEAKERS
        if match is not None and (key in known or not entries or not is_speech):
            low, high = match.span("value")
            if low < 0:  # nothing follows the colon
                low = high = len(line.rstrip())
            value = start + low, start + high
            entries.append(_Entry(key, start, value, [], is_touching))
            is_loose = _BLOCK.match(match["value"] or "") is not None
            is_example = _is_example_open(line, False)
            seen.add(key)
        elif entries:
            entries[-1].lines.append((start, end))
            is_indented = line.startswith((" ", "\t", "#", "-", "]", "}", "\r", "\n"))
            # What is indented below `|` is its text; after it, any name begins an entry again.
            is_first = is_loose and len(entries[-1].lines) == 1
            is_loose = not is_indented if is_first else is_loose or not is_indented
            is_example = _is_example_open(line, is_example)
    return entries


def _is_example_open(line: str, before: bool) -> bool:
    """Whether an example goes on after a line."""
    ends = _EXAMPLE.findall(line)
    return not ends[-1] if ends else before


# ------------------------------------------------------------------------------------- corrections


def _correct_entry(entry: _Entry, text: str) -> list[Correction]:
    """What to rewrite so that the entry parses; nothing if that is not clear."""
    if entry.is_touching:
        start = entry.value[0]
        return [Correction(entry.key, "no-space", (start - 1, start), (start, start), " ")]
    following = entry.following_lines(text)
    value = text[slice(*entry.value)]
    if not following:
        found = _correct_one_line(entry.key, value, entry.value[0])
        return [found] if found else []
    if any(line and not line[0].isspace() and not line.startswith("#") for line in following):
        return _correct_unindented(entry, value, following)
    if value:
        return _correct_by_folding(entry, text, value, following)
    return _correct_nested(entry, text)


def _correct_one_line(key: str, value: str, start: int) -> Correction | None:
    """A value of one line, quoted."""
    end = start + len(value)
    colon = _COLON.search(value)
    if value.startswith(QUOTES):
        return _escape_inner_quotes(key, value, start)
    if value[:1] in _BRACKET_PAIRS:
        rest = _find_text_after_brackets(value)
        if rest is None and key == "description":
            return None  # it may be text
        if rest is None:
            closed = Correction(key, "unclosed", (start, end), (end, end), _BRACKET_PAIRS[value[0]])
            return closed if parses_as_yaml(f"{key}: {value}{closed.text}", key) else None
        return _quote_value(key, "brackets", (start + rest, end), value, start)
    if value.startswith(_INDICATORS):
        return _quote_value(key, "indicator", (start, start + 1), value, start)
    if colon is not None:
        return _quote_value(
            key, "colon", (start + colon.start(), start + colon.end()), value, start
        )
    return None


def _quote_value(key: str, reason: Flaw, place: Range, value: str, start: int) -> Correction | None:
    """A value in single quotes, if that means the same text."""
    written = "'" + value.replace("'", "''") + "'"
    correction = Correction(key, reason, place, (start, start + len(value)), written)
    return correction if _is_read_as(correction, value) else None


def _is_read_as(correction: Correction, value: str) -> bool:
    """Whether what a correction writes is read as `value`."""
    return bool(_load_or_none(f"{correction.key}: {correction.text}\n") == {correction.key: value})


def _escape_inner_quotes(key: str, value: str, start: int) -> Correction | None:
    """A value that starts with a quote: quotes inside it, or text behind it."""
    quote, inner, end = value[0], value[1:-1], start + len(value)
    # Nothing inside to escape: something else is wrong, and it is not known what.
    if quote not in inner:
        return None
    second = start + 1 + inner.index(quote)
    if not value.endswith(quote):
        return _quote_value(key, "quotes", (second + 1, end), value, start)
    escaped = inner.replace("'", "''") if quote == "'" else re.sub(r'(?<!\\)"', r"\"", inner)
    written = f"{quote}{escaped}{quote}"
    if not parses_as_yaml(f"{key}: {written}", key):
        return None
    return Correction(key, "quotes", (second, second + 1), (start, end), written)


def _find_text_after_brackets(value: str) -> int | None:
    """Where the text behind the first bracket and its partner begins."""
    depth = 0
    for offset, letter in enumerate(value, 1):
        depth += (letter == value[0]) - (letter == _BRACKET_PAIRS[value[0]])
        if depth == 0:
            return offset + len(value[offset:]) - len(value[offset:].lstrip())
    return None


def _correct_unindented(entry: _Entry, value: str, following: list[str]) -> list[Correction]:
    """Text that goes on in the first column: a block, each line indented."""
    is_block = _BLOCK.match(value) is not None
    if not is_block and value[:1] in (*QUOTES, *_BRACKET_PAIRS):
        return []
    while following[-1].startswith("#") or not following[-1].strip():
        following = following[:-1]  # comments above the next entry
    lines = following if is_block or not value else [value, *following]
    lines = [line if line.strip() else "" for line in lines]
    while not lines[0]:
        lines.pop(0)
    if lines[0][0].isspace():
        return []  # the first line would set the indent of the block
    number = next(number for number, line in enumerate(following) if line[:1].strip())
    place = entry.lines[number][0], entry.lines[number][0] + len(following[number])
    whole = entry.value[0], entry.lines[len(following) - 1][0] + len(following[-1])
    written = f"{value if is_block else '|-'}\n{_indent_lines(lines)}"
    correction = Correction(entry.key, "unindented", place, whole, written)
    if not is_block and not _is_read_as(correction, "\n".join(lines)):
        # A block cannot hold every character; double quotes can.
        correction = replace(correction, text=msgspec.json.encode("\n".join(lines)).decode())
    if entry.value[0] == entry.value[1]:  # nothing was behind the colon, not even a blank
        correction = replace(correction, text=f" {correction.text}")
    return [correction]


def _correct_by_folding(
    entry: _Entry, text: str, value: str, following: list[str]
) -> list[Correction]:
    """Indented text with `: ` in it: a folded block means what the lines would mean without it."""
    lines = [value, *(line.strip() for line in following)]
    if value[0] in (*QUOTES, *_BRACKET_PAIRS, "|", ">"):
        return []
    colon = _COLON.search(text, entry.value[0])
    if not any(map(_COLON.search, lines)) or colon is None:
        return []
    end = entry.lines[len(following) - 1][0] + len(following[-1].rstrip())
    whole = entry.value[0], end
    # A line that begins with `#` is a heading, which a folded text would lose.
    block = "|-" if any(line.startswith("#") for line in lines) else ">-"
    return [Correction(entry.key, "colon", colon.span(), whole, f"{block}\n{_indent_lines(lines)}")]


def _indent_lines(lines: list[str]) -> str:
    return "\n".join(f"  {line}" if line else "" for line in lines)


def _correct_nested(entry: _Entry, text: str) -> list[Correction]:
    """Entries and items below a key, each corrected on its own line."""
    found: list[Correction] = []
    for start, end in entry.lines:
        line = text[start:end]
        tabs = len(line) - len(line.lstrip("\t"))
        if tabs:
            place = (start, start + tabs)
            found.append(Correction(entry.key, "tabs", place, place, "  " * tabs))
            continue
        match = _NESTED_LINE.match(line)
        if match is None or not match["lead"].rstrip().endswith(("-", ":")):
            continue
        value = match["value"]
        if not value.startswith("#") and not parses_as_yaml(f"key: {value}"):
            correction = _correct_one_line("key", value, start + match.start("value"))
            if correction is not None:
                found.append(replace(correction, key=entry.key))
    return found


def double_quote(value: str) -> str:
    return msgspec.json.encode(value.replace("\t", "  ")).decode()
