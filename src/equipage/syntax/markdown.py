"""Markdown, as far as files that refer to others need it: what is code, where the links are.

Offsets are those of the author's text. Every function is linear in the length of the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import unquote

import msgspec

from equipage.core.text import lazy_regex
from equipage.syntax import Range

#: A line that opens or closes a block of code, in a list or a quotation perhaps.
_FENCE = lazy_regex(
    r"^[ \t]{0,12}(?:[-*+>][^\S\n]{1,4}|\d{1,3}[.)][^\S\n]{1,4})?"
    r"(?P<fence>`{3,}|~{3,})(?P<rest>[^\n]*)",
    re.MULTILINE,
)
_TICKS = lazy_regex(r"`+")
_PARAGRAPH = lazy_regex(r"\n[ \t]*\n")
#: An inline link with its address; addresses with brackets or blanks are in angle brackets.
_LINK = lazy_regex(
    r"""\]\((?P<open><)?(?P<target>(?(open)[^<>\n]|[^()\s<>])+)(?(open)>)(?:\s+"[^"\n]*")?\)"""
)
_SCHEME_WORDS = r"[A-Za-z][A-Za-z0-9+.-]*:|//|#"
_SCHEME = lazy_regex(_SCHEME_WORDS)
#: How every link to a file begins, whether or not it is in code.
_BEGINS_LINK = lazy_regex(rf"\]\((?:<|(?!{_SCHEME_WORDS})[^()\s<>])")


class Link(msgspec.Struct, frozen=True):
    """A link to a file: the path as it is meant, without a fragment, and its place."""

    path: str
    range: Range


def blank_out_code(text: str) -> str:
    """The text with blanks for code and comments; everything else keeps its place."""
    text = _blank_out_comments(_blank_out_blocks(text))
    parts: list[str] = []
    position = 0
    for start, end in _code_spans(text):
        parts += (text[position:start], _blanks_like(text[start:end]))
        position = end
    return "".join(parts) + text[position:]


def _blanks_like(text: str) -> str:
    if "\n" not in text:
        return " " * len(text)  # nearly every code span
    return "\n".join([" " * len(line) for line in text.split("\n")])


def _blank_out_blocks(text: str) -> str:
    """Blank out the blocks between fences; one that is never closed reaches to the end."""
    if "```" not in text and "~~~" not in text:
        return text
    parts: list[str] = []
    opened, fence, position = 0, "", 0
    for found in _FENCE.finditer(text):
        if not fence:
            # Backticks in the rest of the line make it a code span.
            if found["fence"][0] != "`" or "`" not in found["rest"]:
                opened, fence = found.start(), found["fence"]
        elif found["fence"].startswith(fence) and not found["rest"].strip():
            parts += (text[position:opened], _blanks_like(text[opened : found.end()]))
            fence, position = "", found.end()
    if fence:
        parts += (text[position:opened], _blanks_like(text[opened:]))
        position = len(text)
    return "".join(parts) + text[position:]


def _blank_out_comments(text: str) -> str:
    parts: list[str] = []
    position = 0
    while (start := text.find("<!--", position)) >= 0 and (end := text.find("-->", start)) >= 0:
        parts += (text[position:start], _blanks_like(text[start : end + 3]))
        position = end + 3
    return "".join(parts) + text[position:]


def _code_spans(text: str) -> Iterator[Range]:
    """The code spans: from a run of backticks to the next of its length in the paragraph."""
    opened: dict[int, int] = {}
    position = 0
    while (begin := text.find("`", position)) >= 0:
        # Between spans nothing is open, and the end of a paragraph closes nothing.
        if opened and _PARAGRAPH.search(text, position, begin):
            opened.clear()
        ticks = _TICKS.match(text, begin)
        position = begin + 1 if ticks is None else ticks.end()
        start = opened.get(position - begin)
        if start is None:
            opened[position - begin] = begin
            continue
        yield start, position
        # What was opened inside the span was text of it.
        opened = {size: at for size, at in opened.items() if at < start}


def file_links(text: str) -> Iterator[Link]:
    """The links of a text to files, code left out."""
    if "](" not in text or _BEGINS_LINK.search(text) is None:
        return  # nearly every link of most texts is one to the web
    for match in _LINK.finditer(blank_out_code(text)):
        target = match["target"]
        if _SCHEME.match(target) is None:
            path = unquote(re.split(r"[#?]", target, maxsplit=1)[0])
            if path:
                yield Link(path, match.span("target"))
