"""Markdown files with a header: the configuration above, the prompt below.

Every kind of such files describes its header with one `HeaderStyle`. Where the tools of a kind
accept a header that is not quite YAML, `recover` reads it line by line: each entry that is
not YAML is a warning at the character that breaks it, with a fix. Everywhere else it is an error,
with the same fix.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Collection, Iterable, Iterator

import msgspec

from equipage.core import codes as core_codes
from equipage.core.diagnostics import Change, Code, Effect, Fact, Remedy, Severity, Shown
from equipage.core.path import ROOT, Path
from equipage.core.source import Source, Span
from equipage.files.reading import require_text
from equipage.files.sandbox import FileProblem
from equipage.kinds import codes
from equipage.loading.session import Parsed, Session
from equipage.loading.tree import Tree, get, put_all
from equipage.syntax import Range, yaml
from equipage.syntax.document import Document, oddities, parse
from equipage.syntax.frontmatter import (
    PROFILE,
    Grammar,
    Header,
    NoHeader,
    Recovered,
    body_after,
    recover,
    split,
)
from equipage.syntax.variables import Piece, Substituted

#: The window of a document that replaces a missing header.
_NO_WINDOW = (0, 0)
_NO_HEADER = {
    "no-opening-fence": codes.HEADER_MISSING,
    "fence-not-first": codes.HEADER_NOT_FIRST,
    "text-after-fence": codes.HEADER_FENCE_NOT_ALONE,
    "never-closed": codes.HEADER_NEVER_CLOSED,
}
_FENCES = {"+++": "`+++` (TOML)", "---": "`---` (YAML)"}
#: Why an entry is not YAML.
REASONS = {
    "colon": "`: ` starts a nested entry",
    "brackets": "text follows a closing bracket",
    "indicator": "no unquoted text starts with this character",
    "unindented": "text that goes on must be indented",
    "quotes": "a quote ends the text too early",
    "no-space": "a blank must follow the colon",
    "tabs": "tabs do not indent",
}


#: For kinds that forgive nothing: what YAML allows, but nearly always is a mistake.
STRICT_YAML: dict[str, Severity] = {
    core_codes.DUPLICATE_KEY: "error",
    core_codes.EXTRA_DOCUMENT: "error",
    core_codes.UNKNOWN_TAG: "error",
    core_codes.MERGE_KEY: "error",
}


class HeaderStyle(msgspec.Struct, frozen=True):
    """What the header of a kind looks like, and what its tools forgive."""

    what: str  #: what the file is, as in “{what} must start with …”
    grammar: Grammar = PROFILE
    known: Collection[str] = ()  #: the names of fields, to tell an entry from a line of text
    forgiving: bool = False  #: whether the tools read a header that is not YAML line by line
    optional: bool = False  #: whether a file without a header is as good as one with it
    #: whether the tools ignore a file that does not start with a fence
    ignores_headerless: bool = False


# The header and the body of a file.


def read_header(source: Source, session: Session, style: HeaderStyle) -> Parsed:
    """The header of a file as a document. It is empty if the file needs no header and has none."""
    try:
        require_text(source)
    except FileProblem as problem:
        return None, [Fact(problem.code, values=problem.values, span=Span(source, 0, 0))]
    header = split(source.text, style.grammar)
    if isinstance(header, NoHeader):
        return _without(source, session, style, header)
    document, facts = parse(source, header.format, window=(header.start, header.end))
    facts = session.strict(facts, header.format)
    if document is None and header.format == "yaml":
        document, facts = _recovered(source, session, style, header, facts)
    if document is None:
        return None, facts
    if document.value is None:
        document.value = {}  # an empty header lacks fields; it is not an empty file
    if style.optional and not isinstance(document.value, dict):
        span = Span(source, header.start, header.end)
        facts.append(codes.HEADER_WITHOUT_FIELDS.at(span=span))
        document.value = {}
    return session.adopt(document), [*facts, *_indented_fence(source, header)]


def _without(source: Source, session: Session, style: HeaderStyle, found: NoHeader) -> Parsed:
    """What becomes of a file without a header. A line of dashes may also begin a text, so where a
    header is optional, one that is broken is only a warning."""
    attempted = found.reason != "no-opening-fence"
    span = Span(source, *found.range)
    fences = " or ".join(each for fence, each in _FENCES.items() if fence in style.grammar.fences)
    fact = _NO_HEADER[found.reason].at(span=span, what=style.what, fences=fences)
    if not style.optional and (attempted or not style.ignores_headerless):
        return None, [fact]
    facts: list[Fact] = []
    if attempted:
        facts = [msgspec.structs.replace(fact, severity="warning")]
    elif not style.optional:
        facts = [codes.FILE_PASSED_OVER.at(span=span, what=style.what)]
    return session.adopt(Document(source, "yaml", {}, window=_NO_WINDOW)), facts


def has_header(document: Document) -> bool:
    """Whether a document of `read_header` comes from a header, or replaces one that is missing."""
    return document.window != _NO_WINDOW


def _indented_fence(source: Source, header: Header) -> Iterator[Fact]:
    """An indented fence that closes the header may have been meant as text of the header."""
    fence = source.text[header.end :].split("\n", 1)[0]
    start = header.end + len(fence) - len(fence.lstrip())
    if source.text[header.end].isspace():
        yield codes.HEADER_CLOSED_BY_INDENTED_FENCE.at(span=Span(source, start, start + 3))


def body_of(header: Document, grammar: Grammar = PROFILE) -> Document:
    """The text below a header, as a document of its own; all of it if there is no header."""
    text = header.source.text
    if has_header(header):
        window = body_after(text, header.window[1], grammar)
    else:
        start = len(text) - len(text.removeprefix("\ufeff").lstrip())
        window = (start, max(start, len(text.rstrip())))
    return Document(header.source, "text", text[slice(*window)], window=window)


def keep_as_written(
    tree: Tree, paths: Iterable[Path], code: Code, *, how: str = ""
) -> tuple[Tree, list[Fact]]:
    """Replace each number or bool at one of `paths`, where text belongs, by its text in the file.

    Each is a finding `code`, except numbers that are not finite: parsing has reported those.
    """
    document = tree.story(ROOT).origin.document
    unquoted = [path for path in paths if isinstance(get(tree.value, path), bool | int | float)]
    if document.format != "yaml" or not unquoted:
        return tree, []
    origins = {path: tree.story(path).origin for path in unquoted}
    places = document.locate(origin.path for origin in origins.values())
    facts: list[Fact] = []
    kept: dict[Path, str] = {}
    for path, origin in origins.items():
        value = get(tree.value, path)
        written = places[origin.path].value.text() if origin.path in places else ""
        # An alias or a tag is written otherwise than as a plain word; then its value has to do.
        kept[path] = written if re.fullmatch(r"[\w.+:-]+", written) else str(value)
        if not isinstance(value, float) or math.isfinite(value):
            remedy = Remedy("put quotes around it", (Change(path, kept[path], origin=origin),))
            found, text = Shown(value, as_found=True), Shown(kept[path])
            facts.append(code.at(origin=origin, remedy=remedy, found=found, text=text))
    return put_all(tree, kept, how=how), facts


# Headers that are not quite YAML.


def _recovered(
    source: Source, session: Session, style: HeaderStyle, header: Header, facts: list[Fact]
) -> Parsed:
    """The header as forgiving tools read it, with a warning and a fix for each entry that is not
    YAML. For strict tools, the errors, the first of them with a fix for all entries."""
    window = (header.start, header.end)
    errors = [each for each in facts if each.code == core_codes.YAML_SYNTAX]
    # Without such an error it is YAML of a sort that is refused; read line by line, its structure
    # would become text.
    found = recover(source.text[slice(*window)], style.known) if errors else None
    if found is None:
        return None, facts
    parsed = yaml.load(found.text)
    effect = Effect("correct", value=json.dumps(parsed.value), format="yaml", window=window)
    changes = [
        Change(ROOT, each.text, span=_span(source, header, each.range), effect=effect)
        for each in found.corrections
    ]
    if not (style.forgiving and found.forgiven):
        remedy = Remedy("write it as YAML", tuple(changes))
        repaired = msgspec.structs.replace(errors[0], remedy=remedy)
        return None, [repaired if each is errors[0] else each for each in facts]
    warnings = [
        codes.HEADER_NOT_YAML.at(
            span=_span(source, header, each.place),
            remedy=Remedy(f"quote the text of `{each.key}`", (change,)),
            key=each.key,
            reason=REASONS[each.reason],
        )
        for each, change in zip(found.corrections, changes, strict=True)
    ]
    text = Substituted(found.text, tuple(_pieces(found)))
    document = Document(source, "yaml", parsed.value, window=window, substituted_text=text)
    return document, [*warnings, *session.strict(oddities(document, parsed.irregularities), "yaml")]


def _span(source: Source, header: Header, place: Range) -> Span:
    return Span(source, header.start + place[0], header.start + place[1])


def _pieces(found: Recovered) -> Iterator[Piece]:
    """Where the recovered text differs from the author's, so that findings have places in it."""
    shift = 0
    for each in found.corrections:
        start, end = each.range
        became = (start + shift, start + shift + len(each.text))
        yield Piece(each.range, became, None, from_environment=False)
        shift += len(each.text) - (end - start)
