"""Headers of Markdown files: where the configuration ends and the prompt begins.

The grammars in use disagree on nearly everything; each is a value here. Offsets are those of the
author's text, a byte order mark included, so that findings in a header need a shift and nothing
else. `recovery` handles headers that are not quite YAML.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from equipage.core.text import lazy_regex
from equipage.syntax import Range, match_end

Format = Literal["yaml", "toml"]
#: How a client reads a header that is not YAML, see `recovery.read_as_client`. To
#: `lines` it never was YAML: each line is a key and its text. `lenient` clients cannot be run here:
#: they are taken to read what was meant.
Reader = Literal["strict", "lenient", "claude", "codex", "gemini", "opencode", "lines"]
Reason = Literal["no-opening-fence", "fence-not-first", "text-after-fence", "never-closed"]

#: What Unicode calls white space. Python's own `strip` also takes four control characters.
WHITE_SPACE = "\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(
    map(chr, range(0x2000, 0x200B))
)
_BOM = "\ufeff"
_REST_OF_LINE = lazy_regex(r"[^\r\n]*\r?")


class Header(msgspec.Struct, frozen=True):
    """A header was found: it is `text[start:end]`. `body_range` says where the body is."""

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
