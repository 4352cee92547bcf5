"""Changes to edits: what a remedy writes, renames or removes, as text in place of text.

An edit keeps the style of the author, and there is none where the text allows no clean one.
"""

from __future__ import annotations

import json

from msgspec.structs import replace

from equipage.core.diagnostics import Change, Edit, Effect
from equipage.core.path import ROOT, Path
from equipage.core.source import Span
from equipage.core.text import lazy_regex
from equipage.syntax import Range
from equipage.syntax.document import Document, EntrySpans
from equipage.syntax.yaml.scalars import resolve_plain

#: What `${VAR}` substitution would read; doubled, the dollar is only a dollar.
_REFERENCE = lazy_regex(r"\$(?=[${])")
_BLANK = " \t\r\n"
_BLANKS_AND_COMMENTS = lazy_regex(r"(?:[ \t\r\n]+|(?<=[ \t\r\n])\#[^\r\n]*)*")
#: What may precede an item of a block list: its dash, an anchor, a tag.
_DASH = lazy_regex(r"[ ]*-[ \t]+(?:[&!]\S+[ \t]+)*")
_DASHES = lazy_regex(r"(?:[ ]*-[ \t]+)+")
_REST_OF_LINE = lazy_regex(r"[ \t]*(?:[ \t]\#[^\r\n]*|\#[^\r\n]*)?(?:\r\n|\n|\r|\Z)")
_NEXT_CONTENT = lazy_regex(
    r"(?:[ \t]*(?:\#[^\r\n]*)?(?:\r\n|\n|\r))*(?P<indent>[ ]*)(?P<first>[^\s#])?"
)
#: What may precede the value of an entry on its line: keys, and no bracket of an inline table.
_TOML_PREFIX = lazy_regex(r"[^=\[\]{}\r\n]*")


def edit_at(document: Document, path: Path, located: EntrySpans, change: Change) -> Edit | None:
    """The edit that makes `change` to the entry at `path`; None if the text allows no clean one."""
    part = located.key if change.part == "key" else located.value
    if part is None or (document.syntax == "text" and not isinstance(change.text, str)):
        return None
    if change.text is None:
        found = _entry_span(document, located)
        return None if found is None else _build_edit(document, found, "", Effect("remove", path))
    effect = Effect("rename" if change.part == "key" else "replace", path, change.text)
    return _build_edit(document, part, _encode_change(document, part, change), effect)


def edit_of_span(document: Document, span: Span, change: Change) -> Edit | None:
    """The edit of a change that names its span itself."""
    if change.path != ROOT:
        located = EntrySpans(span, span if change.part == "key" else None)
        return edit_at(document, change.path, located, change)
    text = "" if change.text is None else str(change.text)
    return _build_edit(document, span, text, Effect("nothing"))


def _build_edit(document: Document, span: Span, text: str, effect: Effect) -> Edit | None:
    if document.is_cut or touches_variable(document, span):
        return None
    # To prove the edit, the document is read again as it was read here.
    known = replace(
        effect,
        syntax=document.syntax,
        window=document.window,
        merge=document.merge,
        substituted=document.substituted_text is not None,
    )
    return Edit(span, text, known)


def touches_variable(document: Document, span: Span) -> bool:
    """Whether a variable was replaced inside a span, so that its text is not the author's."""
    if document.substituted_text is None:
        return False
    start, end = span.start - document.window[0], span.end - document.window[0]
    return any(
        piece.written[0] < end and start < piece.written[1]
        for piece in document.substituted_text.pieces
    )


def _encode_change(document: Document, span: Span, change: Change) -> str:
    assert change.text is not None
    written = span.text()
    text = encode(document.syntax, change.text, written, is_key=change.part == "key")
    if document.substituted_text is not None:
        text = _REFERENCE.sub("$$", text)
    if not written and span.start and span.source.text[span.start - 1] not in _BLANK:
        text = f" {text}"  # an empty value: the text would touch the colon before it
    return text


# -------------------------------------------------------------------------------- removing an entry


def _entry_span(document: Document, located: EntrySpans) -> Span | None:
    """The span to remove with an entry: the entry and its separator, or its whole lines."""
    text = document.source.text
    start = min(located.value.start, located.key.start if located.key else located.value.start)
    end = max(located.value.end, located.key.end if located.key else 0)
    # The next character tells a flow collection from a block, whatever the format of the file.
    blanks = _BLANKS_AND_COMMENTS.match(text, end, document.window[1])
    after = end if blanks is None else blanks.end()
    if document.syntax == "json" or text[after : after + 1] in tuple(",]}"):
        found: Range | None = _flow_entry_range(text, start, end, after)
    else:
        found = _block_entry_range(text, start, end, document, is_item=located.key is None)
    return None if found is None else Span(document.source, *found)


def _flow_entry_range(text: str, start: int, end: int, after: int) -> Range:
    """An entry of a flow collection, with the comma after it, or before it if it is the last."""
    # The last entry: the comma before it would be left behind, which JSON refuses.
    if text[after : after + 1] != ",":
        before = len(text[:start].rstrip(_BLANK))
        return (before - 1, end) if text[before - 1 : before] == "," else (start, end)
    end = after + 1
    line_start = _line_start(text, start)
    rest = _REST_OF_LINE.match(text, end)
    if rest is not None and not text[line_start:start].strip():
        return line_start, rest.end()
    return start, end + len(text[end:]) - len(text[end:].lstrip(" \t"))


def _block_entry_range(
    text: str, start: int, end: int, document: Document, *, is_item: bool
) -> Range | None:
    """An entry of a block: whole lines, with the comment behind it."""
    rest = _REST_OF_LINE.match(text, end)
    if rest is None:
        return None
    line_start = max(_line_start(text, start), document.window[0])
    prefix = text[line_start:start]
    if document.syntax == "toml":
        return (line_start, rest.end()) if _TOML_PREFIX.fullmatch(prefix) else None
    # The entry has its lines to itself, so they go as a whole.
    if not prefix.strip(" ") or (is_item and _DASH.fullmatch(prefix)):
        return line_start, rest.end()
    if is_item or _DASHES.fullmatch(prefix) is None:
        return None
    following = _NEXT_CONTENT.match(text, rest.end())
    if following is None or following["first"] is None or len(following["indent"]) != len(prefix):
        return None  # the only entry of its mapping: the dash would be left with nothing
    return start, following.start("first")


def _line_start(text: str, offset: int) -> int:
    return max(text.rfind("\n", 0, offset), text.rfind("\r", 0, offset)) + 1


# --------------------------------------------------------------------------------- writing a scalar
# The author's quotes are kept if they can hold the new value. The result never spans lines, so it
# fits wherever a scalar was, in a block or between brackets.

Scalar = str | int | float | bool

#: Text that every YAML parser reads as a string, inside flow collections or outside them.
_PLAIN = lazy_regex(r"[A-Za-z_$][A-Za-z0-9_$./@+-]*(?: [A-Za-z0-9_$./@+-]+)*")
#: Words that parsers of YAML 1.1 read as true or false.
_YAML_1_1_BOOLEANS = frozenset({"y", "n", "yes", "no", "on", "off"})
_BARE_KEY = lazy_regex(r"[A-Za-z0-9_-]+")
#: Characters that a file may not hold as they are, or that no reader would see there.
_UNPRINTABLE = lazy_regex("[\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")


def encode(syntax: str, value: Scalar, written: str, *, is_key: bool) -> str:
    """`value` in a syntax, in the style of what was `written` in its place."""
    if not isinstance(value, str):
        return json.dumps(value)
    if syntax == "text":
        return value
    is_printable = not _UNPRINTABLE.search(value)
    if syntax == "yaml":
        # Single quotes know no escapes, so they cannot hold everything.
        if written.startswith("'") and is_printable:
            return "'" + value.replace("'", "''") + "'"
        if not written.startswith('"') and _stays_plain(value):
            return value
    if syntax == "toml":
        if is_key and written[:1] not in ("'", '"') and _BARE_KEY.fullmatch(value):
            return value
        if written.startswith("'") and "'" not in value and is_printable:
            return f"'{value}'"
    # Double quotes, in a form that JSON, YAML and TOML all read alike.
    quoted = json.dumps(value, ensure_ascii=False)
    return _UNPRINTABLE.sub(lambda match: f"\\u{ord(match.group()):04x}", quoted)


def _stays_plain(value: str) -> bool:
    return (
        _PLAIN.fullmatch(value) is not None
        and resolve_plain(value) == value
        and value.lower() not in _YAML_1_1_BOOLEANS
    )
