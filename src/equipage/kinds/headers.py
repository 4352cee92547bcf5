"""Markdown files with a header: the configuration above, the prompt below.

Every kind of such files describes its header with one `HeaderStyle`. Where the tools of a kind
accept a header that is not quite YAML, `syntax.recovery` reads it line by line: each entry that is
not YAML is a warning at the character that breaks it, with a fix. Everywhere else it is an error,
with the same fix.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Collection, Iterable

import msgspec
from msgspec.structs import replace

from equipage.core import codes as core_codes
from equipage.core.diagnostics import Change, Code, Effect, Fact, Remedy, Severity, Shown
from equipage.core.path import ROOT, Path
from equipage.core.source import Source, Span
from equipage.files.reading import require_text
from equipage.files.sandbox import FileProblem
from equipage.kinds import codes
from equipage.loading.session import Session
from equipage.loading.tree import Tree, get, put_all
from equipage.syntax import Range, yaml
from equipage.syntax.document import Document, oddities, parse
from equipage.syntax.frontmatter import PROFILE, Grammar, Header, NoHeader, body_after, split
from equipage.syntax.recovery import Correction, Recovered, recover
from equipage.syntax.variables import Piece, Substituted

#: For kinds that forgive nothing: what YAML allows, but nearly always is a mistake.
STRICT_YAML: dict[str, Severity] = {
    core_codes.DUPLICATE_KEY: "error",
    core_codes.EXTRA_DOCUMENT: "error",
    core_codes.UNKNOWN_TAG: "error",
    core_codes.MERGE_KEY: "error",
}


class HeaderStyle(msgspec.Struct, frozen=True):
    """What the header of a kind looks like, and what its tools forgive."""

    what: str  #: as in “{what} must start with …”
    grammar: Grammar = PROFILE
    known: Collection[str] = ()  #: the names of fields, to tell an entry from a line of text
    forgiving: bool = False  #: whether the tools read headers line by line that are not YAML
    optional: bool = False
    #: whether a file that does not even try to have a header is simply another sort of file
    ignores_headerless: bool = False


_NO_HEADER = {
    "no-opening-fence": codes.HEADER_MISSING,
    "fence-not-first": codes.HEADER_NOT_FIRST,
    "text-after-fence": codes.HEADER_FENCE_NOT_ALONE,
    "never-closed": codes.HEADER_NEVER_CLOSED,
}
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


#: Only where headers are forgiven.


def read_header(
    source: Source, session: Session, style: HeaderStyle
) -> tuple[Document | None, list[Fact]]:
    """The header of a source as a document, strictly or by the rule of lines."""
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
        # An empty header lacks its fields, but the file is not empty.
        document.value = {}
    if style.optional and not isinstance(document.value, dict):
        facts.append(Fact(codes.HEADER_WITHOUT_FIELDS, span=Span(source, header.start, header.end)))
        document.value = {}
    facts += _indented_fence(source, header)
    return session.adopt(document), facts


def body_of(header: Document, grammar: Grammar = PROFILE) -> Document:
    """The text below a header, as a document of its own; all of it if there is no header."""
    text = header.source.text
    window = body_after(text, header.window[1], grammar) if has_header(header) else _trimmed(text)
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


#: The window of a header that does not exist.
_NOWHERE = (0, 0)


def has_header(document: Document) -> bool:
    """Whether a document of `read_header` comes from a header, or replaces one that is missing."""
    return document.window != _NOWHERE


def _trimmed(text: str) -> Range:
    start = len(text) - len(text.removeprefix("\ufeff").lstrip())
    return start, max(start, len(text.rstrip()))


def _without(
    source: Source, session: Session, style: HeaderStyle, found: NoHeader
) -> tuple[Document | None, list[Fact]]:
    """A file without a header, which is fine where the header is optional."""
    attempted = found.reason != "no-opening-fence"
    names = {"---": "`---` (YAML)", "+++": "`+++` (TOML)"}
    fences = " or ".join(names[fence] for fence in sorted(style.grammar.fences))
    values: dict[str, object] = {"what": style.what, "fences": fences}
    fact = Fact(_NO_HEADER[found.reason], values=values, span=Span(source, *found.range))
    if not style.optional and (attempted or not style.ignores_headerless):
        return None, [fact]
    document = session.adopt(Document(source, "yaml", {}, window=_NOWHERE))
    if attempted:
        # A rule of dashes may also begin a text, so this is only a warning.
        return document, [replace(fact, severity="warning")]
    return document, [] if style.optional else [replace(fact, code=codes.FILE_PASSED_OVER)]


def _indented_fence(source: Source, header: Header) -> list[Fact]:
    """A closing fence with an indent may have been meant as text of the header."""
    if not source.text[header.end].isspace():
        return []
    line = source.text[header.end :].split("\n", 1)[0]
    start = header.end + len(line) - len(line.lstrip())
    return [codes.HEADER_CLOSED_BY_INDENTED_FENCE.at(span=Span(source, start, start + 3))]


# Headers that are not quite YAML.


def _recovered(
    source: Source, session: Session, style: HeaderStyle, header: Header, facts: list[Fact]
) -> tuple[Document | None, list[Fact]]:
    """The document read line by line, with a warning for each entry; or the errors, with a fix."""
    # Other errors than those of syntax mean that it is YAML, only more of it than is allowed:
    # reading it line by line would turn its structure into text.
    is_syntax = [each.code == core_codes.YAML_SYNTAX for each in facts]
    window = (header.start, header.end)
    found = recover(source.text[slice(*window)], style.known) if any(is_syntax) else None
    if found is None:
        return None, facts
    parsed = yaml.load(found.text)
    effect = Effect("correct", value=json.dumps(parsed.value), format="yaml", window=window)
    changes = [_change(source, header, each, effect) for each in found.corrections]
    if not (style.forgiving and found.forgiven):
        first = is_syntax.index(True)
        facts[first] = replace(facts[first], remedy=Remedy("write it as YAML", tuple(changes)))
        return None, facts
    substituted = Substituted(found.text, tuple(_pieces(found)))
    document = Document(source, "yaml", parsed.value, window=window, substituted_text=substituted)
    warnings = [
        codes.HEADER_NOT_YAML.at(
            span=_span(source, header, each.place),
            remedy=Remedy(f"quote the text of `{each.key}`", (change,)),
            key=each.key,
            reason=REASONS[each.reason],
        )
        for each, change in zip(found.corrections, changes, strict=True)
    ]
    odd = session.strict(oddities(document, parsed.irregularities), "yaml")
    return document, [*warnings, *odd]


def _span(source: Source, header: Header, place: Range) -> Span:
    """A place in a header as a place in the file."""
    return Span(source, header.start + place[0], header.start + place[1])


def _change(source: Source, header: Header, correction: Correction, effect: Effect) -> Change:
    span = _span(source, header, correction.range)
    return Change(ROOT, correction.text, span=span, effect=effect)


def _pieces(found: Recovered) -> list[Piece]:
    """Where the author's text and the recovered one differ, to find the places of values."""
    pieces: list[Piece] = []
    shift = 0
    for each in found.corrections:
        start = each.range[0] + shift
        pieces.append(
            Piece(each.range, (start, start + len(each.text)), None, from_environment=False)
        )
        shift += len(each.text) - (each.range[1] - each.range[0])
    return pieces
