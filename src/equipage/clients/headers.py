"""What a client does with a header that is not YAML, as measured with 100 shapes of headers.

Most clients quote some lines and try once more. None means that the client drops the header.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from equipage.clients.catalogue import Reader
from equipage.core.text import lazy_regex
from equipage.syntax.header import (
    MAX_RECOVERED_LENGTH,
    QUOTES,
    Correction,
    apply_corrections,
    double_quote,
    parses_as_yaml,
)

if TYPE_CHECKING:
    from equipage.syntax.header import Recovered


#: A line that a client looks at: a key in the first column and what follows it. Claude Code takes
#: no digits in the key, and no carriage return at the end of the line.
_CLIENT_LINES: dict[Reader, re.Pattern[str]] = {
    "claude": lazy_regex(
        r"^(?P<key>[A-Za-z_-]+):[^\S\r\n]+(?P<value>\S[^\r\n]*)(?=\n|\Z)", re.MULTILINE
    ),
    "codex": lazy_regex(r"^(?P<key>[\w.-]+):[ \t]+(?P<value>\S[^\r\n]*)", re.MULTILINE),
    "opencode": lazy_regex(
        r"^(?P<key>[A-Za-z_]\w*)[ \t]*:[ \t]*(?P<value>\S[^\r\n]*)", re.MULTILINE
    ),
    "gemini": lazy_regex(
        r"^(?P<key>name|description):[ \t]*(?P<value>[^\r\n]*(?:\r?\n[ \t]+\S[^\r\n]*)*)",
        re.MULTILINE,
    ),
    "lines": lazy_regex(r"^(?P<key>[\w.-]+)[ \t]*:[ \t]*(?P<value>\S[^\r\n]*)", re.MULTILINE),
}
#: The values that a client quotes before it tries again.
_CLIENT_QUOTED_VALUES: dict[Reader, re.Pattern[str]] = {
    "claude": lazy_regex(r"[{}\[\]*&#!|>%@`]|: "),
    "codex": lazy_regex(r"\A[\[{@`]|: "),
    "opencode": lazy_regex(r":"),
}


def read_as_client(text: str, reader: Reader) -> Recovered | None:
    """A header that is not YAML as a client reads it; None if the client drops it."""
    if reader == "strict" or len(text) > MAX_RECOVERED_LENGTH:
        return None
    if reader == "gemini":
        return _read_as_gemini(text)
    corrections: list[Correction] = []
    for match in _CLIENT_LINES[reader].finditer(text):
        value = match["value"].rstrip()
        is_quoted = len(value) > 1 and value[0] in QUOTES and value[-1] == value[0]
        if reader == "lines":
            is_special = not parses_as_yaml(f"{match['key']}: {value}\n", match["key"])
        else:
            is_special = not is_quoted and _CLIENT_QUOTED_VALUES[reader].search(value) is not None
        if is_special:
            start = match.start("value")
            place = start, start + len(value)
            corrections.append(Correction(match["key"], "colon", place, place, double_quote(value)))
    if reader == "claude":
        corrections += [*_blanks_for_tabs(text, corrections)]
        corrections.sort(key=lambda each: each.range[0])
    return apply_corrections(text, corrections)


def _blanks_for_tabs(text: str, others: list[Correction]) -> Iterator[Correction]:
    """Two blanks for each tab outside the other corrections."""
    inside = {offset for each in others for offset in range(*each.range)} if "\t" in text else ()
    for match in re.finditer("\t", text):
        if match.start() not in inside:
            yield Correction("", "tabs", match.span(), match.span(), "  ")


def _read_as_gemini(text: str) -> Recovered | None:
    """The two fields of a skill that Gemini CLI finds on its own; it ignores all others."""
    found = {
        match["key"]: " ".join(match["value"].split())
        for match in _CLIENT_LINES["gemini"].finditer(text)
    }
    if not found.get("name") or not found.get("description"):
        return None
    whole = "".join(f"{key}: {double_quote(value)}\n" for key, value in found.items())
    place = (0, len(text))
    return apply_corrections(text, [Correction("description", "colon", place, place, whole)])
