"""Markdown files with a header: the configuration above, the prompt below.

Every kind of such files describes its header with one `HeaderStyle`. A header that is not YAML is
read as the client of the kind reads it: what the client drops is one error, what it recovers is a
warning for each entry. Both come with a fix that writes what the author meant as YAML.

Such files know each other by name; what is suspicious in their text or name is reported.
"""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from equipage.core import codes
from equipage.core.diagnostics import Change, Code, Effect, Fact, Remedy, Severity, Shown
from equipage.core.path import ROOT, Path, get
from equipage.core.source import Source, Span
from equipage.core.text import lazy_regex
from equipage.loading.format import Format, Offer
from equipage.loading.session import Parsed, Session, is_template_or_fixture
from equipage.loading.tree import Origin, Origins, Tree, attach, put, put_all
from equipage.loading.type_words import title
from equipage.syntax import Range, yaml
from equipage.syntax.document import Document, irregularity_facts, parse
from equipage.syntax.header import (
    PROFILE,
    Grammar,
    Header,
    NoHeader,
    Recovered,
    body_range,
    recover,
    split,
)
from equipage.syntax.suspicious import find_secrets, mixed_scripts
from equipage.syntax.variables import Piece, Substituted

if TYPE_CHECKING:
    from equipage.loading.pipeline import Outcome

#: The window of a document that replaces a missing header.
_NO_WINDOW = (0, 0)
_NO_HEADER_CODES = {
    "no-opening-fence": codes.HEADER_MISSING,
    "fence-not-first": codes.HEADER_NOT_FIRST,
    "text-after-fence": codes.HEADER_FENCE_NOT_ALONE,
    "never-closed": codes.HEADER_NEVER_CLOSED,
}
_FENCES = {"+++": "`+++` (TOML)", "---": "`---` (YAML)"}
#: Why an entry is not YAML.
NOT_YAML_REASONS = {
    "colon": "`: ` starts a nested entry",
    "brackets": "text follows a closing bracket",
    "unclosed": "the bracket is never closed",
    "indicator": "no unquoted text starts with this character",
    "unindented": "text that goes on must be indented",
    "quotes": "a quote ends the text too early",
    "no-space": "a blank must follow the colon",
    "tabs": "tabs do not indent",
}


#: For kinds that forgive nothing: what YAML allows, but nearly always is a mistake.
STRICT_YAML: dict[str, Severity] = {
    codes.DUPLICATE_KEY: "error",
    codes.EXTRA_DOCUMENT: "error",
    codes.UNKNOWN_TAG: "error",
    codes.MERGE_KEY: "error",
}

#: The key of the text below the header in the loaded configuration.
BODY = "body"


class HeaderStyle(msgspec.Struct, frozen=True):
    """What the header of a kind looks like, and what its tools forgive."""

    what: str  #: what the file is, as in “{what} must start with …”
    grammar: Grammar = PROFILE
    known: Collection[str] = ()  #: the names of fields, to tell an entry from a line of text
    tool: str = "the tool"  #: the client that reads it, as people call it
    #: how the client reads a header that is not YAML; None: equipage itself reads it, strictly
    reader: str | None = None
    #: the header as that client reads it, None if the client drops it
    reread: Callable[[str], Recovered | None] | None = None
    optional: bool = False  #: whether a file without a header is as good as one with it
    #: for a header that only some clients need: the hidden folders of the clients that are known
    disputed_below: Callable[[], frozenset[str]] | None = None
    #: whether the tools ignore a file that does not start with a fence
    ignores_headerless: bool = False
    #: the folder of a project where they do so; they take such a file of a plugin all the same
    ignores_below: str | None = None


# The header and the body of a file.


def read_header(source: Source, session: Session, style: HeaderStyle) -> Parsed:
    """The header of a file as a document. It is empty if the file needs no header and has none."""
    header = split(source.text, style.grammar)
    if isinstance(header, NoHeader):
        return _read_headerless(source, session, style, header)
    early = list(_check_early_end(source, style, header))
    if any(each.severity is None for each in early):
        return None, early  # any other problem follows from this one
    document, facts = parse(source, header.syntax, window=(header.start, header.end))
    if facts:
        facts = session.apply_severities(facts, header.syntax)
    if facts and "{{" in source.text[header.start : header.end]:
        # `name: {{NAME}}` in a template: the value is a mapping, which is what its field reports.
        facts = [each for each in facts if each.code != codes.NON_STRING_KEY]
    if style.reader in ("codex", "opencode", "strict"):
        # To these clients, a header with a key twice is not YAML; the others take the last value.
        facts = [
            msgspec.structs.replace(each, severity="error")
            if each.code == codes.DUPLICATE_KEY
            else each
            for each in facts
        ]
    if document is None and header.syntax == "yaml":
        document, facts = _recover_header(source, session, style, header, facts)
    if document is None:
        return None, facts
    if document.value is None:
        document.value = {}  # an empty header lacks fields; it is not an empty file
    if style.optional and not isinstance(document.value, dict):
        span = Span(source, header.start, header.end)
        facts.append(codes.HEADER_WITHOUT_FIELDS.at(span=span))
        document.value = {}
    return session.adopt(document), [*facts, *early]


def read_text(source: Source, session: Session) -> Parsed:
    """A file that is text from its first to its last line, whatever it starts with."""
    return session.adopt(Document(source, "yaml", {}, window=_NO_WINDOW)), []


#: What may hide a header: blanks and comments before it.
_HIDDEN_HEADER = lazy_regex(r"\ufeff?(?P<before>(?:\s|<!--.*?-->)+)---[ \t]*\r?\n", re.DOTALL)
_FIELD = lazy_regex(r"^([A-Za-z_][\w-]*)[ \t]*:", re.MULTILINE)


def _read_headerless(
    source: Source, session: Session, style: HeaderStyle, found: NoHeader
) -> Parsed:
    """Read a file without a header.

    A line of dashes may also begin a text, so where a header is optional, a broken one is an error
    only if it has fields.
    """
    attempted = found.reason != "no-opening-fence"
    span = Span(source, *found.range)
    fences = " or ".join(each for fence, each in _FENCES.items() if fence in style.grammar.fences)
    fact = _NO_HEADER_CODES[found.reason].at(span=span, what=style.what, fences=fences)
    hidden = None if attempted or style.reader is None else _HIDDEN_HEADER.match(source.text)
    if hidden is not None and _known_fields_in(source.text[hidden.end() :], style):
        span = Span(source, *hidden.span("before"))
        return None, [codes.HEADER_NOT_FIRST.at(span=span)]
    if style.disputed_below is not None and not attempted:
        is_elsewhere = _is_below_other_hidden_folder(session, style.disputed_below())
        is_note = is_elsewhere or is_template_or_fixture(session)
        fact = msgspec.structs.replace(fact, severity="note" if is_note else "warning")
        return session.adopt(Document(source, "yaml", {}, window=_NO_WINDOW)), [fact]
    if not style.optional and (attempted or not style.ignores_headerless):
        return None, [fact]
    facts: list[Fact] = []
    if attempted:
        is_header = style.reader is not None and _known_fields_in(
            source.text[found.range[1] :], style
        )
        facts = [msgspec.structs.replace(fact, severity="error" if is_header else "warning")]
    elif not style.optional:
        # A README beside agents is not an agent whose header was forgotten.
        stem = os.path.basename(source.name).partition(".")[0]
        folder = os.path.basename(os.path.dirname(session.path))
        is_note = stem.isupper() or folder in _MATERIAL_FOLDERS or is_template_or_fixture(session)
        code = codes.FILE_PASSED_OVER
        if style.ignores_below is not None and style.ignores_below not in session.path:
            code, is_note = codes.FILE_TAKEN, is_template_or_fixture(session)
        severity: Severity = "note" if is_note else "warning"
        facts = [code.at(span=span, severity=severity, what=style.what)]
    return session.adopt(Document(source, "yaml", {}, window=_NO_WINDOW)), facts


#: Folders beside agents that hold material for them, but no agents.
_MATERIAL_FOLDERS = frozenset(
    {"references", "resources", "docs", "examples", "assets", "shared", "includes", "partials"}
)
_HIDDEN_FOLDER = lazy_regex(r"/(\.[^/]+)/")


def _is_below_other_hidden_folder(session: Session, known: frozenset[str]) -> bool:
    """Whether a file lies in a hidden folder of a client that is not known.

    Such a client may read files without a header.
    """
    inside = session.path.removeprefix(session.root).replace(os.sep, "/")
    folders = _HIDDEN_FOLDER.findall(inside)
    return bool(folders) and known.isdisjoint(folders)


def _known_fields_in(text: str, style: HeaderStyle, longest: int = 4096) -> list[str]:
    """The known fields that a text has at the start of its lines."""
    return [name for name in _FIELD.findall(text[:longest]) if name in style.known]


def has_header(document: Document) -> bool:
    """Whether a document of `read_header` comes from a header, or replaces one that is missing."""
    return document.window != _NO_WINDOW


def _check_early_end(source: Source, style: HeaderStyle, header: Header) -> Iterator[Fact]:
    """Report dashes that close the header although they look like a part of it."""
    text = source.text
    start = text.index("---", header.end) if header.syntax == "yaml" else header.end
    is_inside = header.end > header.start and text[header.end - 1] not in "\r\n"
    if not is_inside and not text[header.end].isspace():
        return
    span = Span(source, start, start + 3)
    # Only what lies above a second fence was meant to be in the header. Dashes with text behind
    # them were never meant to end it, however long it goes on.
    rest, fence, _ = text[start + 3 :].partition("\n---")
    reach = 4096 if rest.lstrip(" \t-").startswith(("\r", "\n")) else len(rest)
    lost = _known_fields_in(rest, style, reach) if fence and style.grammar.closes_anywhere else []
    if lost:
        names = ", ".join(f"`{each}`" for each in dict.fromkeys(lost))
        words = f"{names} below {'is' if len(lost) == 1 else 'are'} lost"
        yield codes.HEADER_ENDS_EARLY.at(span=span, tool=style.tool, lost=words)
    elif is_inside:
        words = "the text behind them is lost"
        yield codes.HEADER_ENDS_EARLY.at(span=span, severity="warning", tool=style.tool, lost=words)
    else:
        yield codes.HEADER_CLOSED_BY_INDENTED_FENCE.at(span=span, severity="warning")


def body_of(header: Document, grammar: Grammar = PROFILE) -> Document:
    """The text below a header, as a document of its own; all of it if there is no header."""
    text = header.source.text
    if has_header(header):
        window = body_range(text, header.window[1], grammar)
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
    document = tree.document
    unquoted = [path for path in paths if isinstance(get(tree.value, path), (int, float))]
    if document.syntax != "yaml" or not unquoted:
        return tree, []
    origins = {path: tree.provenance(path).origin for path in unquoted}
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


def add_body(
    tree: Tree, grammar: Grammar, kind: Format, severity: Severity
) -> tuple[Tree, list[Fact]]:
    """Add the text below the header as a field; a key of that name in the header is unknown."""
    is_key = BODY in tree.value
    facts = [unknown_key(tree, (BODY,), title(kind.model), severity)] if is_key else []
    body = body_of(tree.document, grammar)
    return attach(tree, (BODY,), Tree(body.value, Origins(Origin(body)))), facts


def unknown_key(tree: Tree, path: Path, owner: str, severity: Severity) -> Fact:
    """The finding about a key that the configuration has, but that authors cannot write."""
    origin, field = tree.provenance(path).origin, str(path[-1])
    return codes.UNKNOWN_FIELD.at(
        part="key", origin=origin, severity=severity, field=field, owner=owner
    )


def keep_placeholders(tree: Tree, paths: Iterable[Path]) -> Tree:
    """`[TODO: a name]` and `{{NAME}}` in a template are text to be replaced."""
    document = tree.document
    found = [path for path in paths if isinstance(get(tree.value, path), list | dict)]
    if document.syntax != "yaml" or not found:
        return tree
    for path, place in document.locate(found).items():
        if (written := place.value.text()).startswith(("[", "{")):
            tree = put(tree, path, written, how="")
    return tree


# Headers that are not quite YAML.


def _recover_header(
    source: Source, session: Session, style: HeaderStyle, header: Header, facts: list[Fact]
) -> Parsed:
    """The header as its client reads it, with a finding and a fix for what is not YAML."""
    window = (header.start, header.end)
    errors = [each for each in facts if each.code == codes.YAML_SYNTAX]
    # Without such an error it is YAML of a sort that is refused; read line by line, its structure
    # would become text.
    if not errors:
        return None, facts
    text = source.text[slice(*window)]
    meant = recover(text, style.known)
    if style.reader == "lenient":
        read = meant
    else:
        read = None if style.reread is None else style.reread(text)
    if read is None:
        return None, _report_dropped_header(source, style, header, facts, errors[0], meant)
    found = read if meant is None or style.reader == "lines" else meant
    # Closed, the list is not what the client reads: that is for its author to decide.
    is_open = any(each.reason == "unclosed" for each in found.corrections)
    known = read if is_open else found
    parsed = yaml.load(known.text)
    document = Document(
        source,
        "yaml",
        parsed.value,
        window=window,
        substituted_text=Substituted(known.text, tuple(_pieces(known))),
    )
    odd = session.apply_severities(irregularity_facts(document, parsed.irregularities), "yaml")
    if style.reader == "lines":
        return document, odd  # its client never reads YAML
    lost = _truncated_fields(parsed.value, yaml.load(read.text).value)
    changes = _changes(source, header, found)
    ways = {"unclosed": ("close the bracket", "close the bracket")}
    usual = "quote the text", "put quotes around the text"
    warnings = [
        (codes.HEADER_TEXT_LOST if each.key in lost else codes.HEADER_NOT_YAML).at(
            span=_span_in_header(source, header, each.place),
            remedy=Remedy(
                f"{ways.get(each.reason, usual)[0]} of `{each.key}`",
                (change,),
                # A line that begins with `#` may be a comment, or a heading of the text.
                safe=not is_open
                and (each.key not in lost or each.key == "description")
                and "\n  #" not in each.text,
            ),
            # What was to be taken away from an agent stays.
            severity="error" if each.reason == "unclosed" and "disallowed" in each.key else None,
            key=each.key,
            tool=style.tool,
            reason=NOT_YAML_REASONS[each.reason],
            hint=ways.get(each.reason, usual)[1],
        )
        for each, change in zip(found.corrections, changes, strict=True)
    ]
    return document, [*warnings, *odd]


def _report_dropped_header(
    source: Source,
    style: HeaderStyle,
    header: Header,
    facts: list[Fact],
    error: Fact,
    meant: Recovered | None,
) -> list[Fact]:
    """Report a header that its client drops: one error, with a fix if the meaning is clear."""
    remedy = None
    if meant is not None:
        # Its fields count again, those that grant something, too.
        remedy = Remedy("write it as YAML", _changes(source, header, meant), safe=False)
    if style.reader is None:
        repaired = msgspec.structs.replace(error, remedy=remedy)
        return [repaired if each is error else each for each in facts]
    if meant is None:
        problem, hint = error.values.get("problem"), error.values.get("hint")
        return [
            codes.HEADER_DROPPED.at(span=error.span, tool=style.tool, reason=problem, hint=hint)
        ]
    first = meant.corrections[0]
    return [
        codes.HEADER_DROPPED.at(
            span=_span_in_header(source, header, first.place),
            remedy=remedy,
            tool=style.tool,
            reason=f"in `{first.key}` {NOT_YAML_REASONS[first.reason]}"
            if first.key
            else NOT_YAML_REASONS["tabs"],
            hint="write it as YAML",
        )
    ]


def _changes(source: Source, header: Header, found: Recovered) -> tuple[Change, ...]:
    """The corrections of a header as changes of its file."""
    value = json.dumps(yaml.load(found.text).value)
    window = (header.start, header.end)
    effect = Effect("correct", value=value, syntax="yaml", window=window)
    return tuple(
        Change(ROOT, each.text, span=_span_in_header(source, header, each.range), effect=effect)
        for each in found.corrections
    )


def _truncated_fields(meant: Any, read: Any) -> frozenset[str]:
    """The fields of which a client reads only the beginning."""
    return frozenset(
        key
        for key, value in meant.items()
        if isinstance(value, str)
        and isinstance(shorter := read.get(key), str)
        and len(shorter) < len(value)
        and value.startswith(shorter)
    )


def _span_in_header(source: Source, header: Header, place: Range) -> Span:
    return Span(source, header.start + place[0], header.start + place[1])


def _pieces(found: Recovered) -> Iterator[Piece]:
    """Where the recovered text differs from the author's, so that findings have places in it."""
    shift = 0
    for each in found.corrections:
        start, end = each.range
        became = (start + shift, start + shift + len(each.text))
        yield Piece(each.range, became, None, from_environment=False)
        shift += len(each.text) - (end - start)


# The names of such files. They count in the project or plugin that defines them.

#: Where the path of a project or plugin ends: before a folder for agents, skills and the like,
#: which may lie in a hidden folder; else before the file, and the hidden folders it lies in.
_END_OF_SCOPE = lazy_regex(
    r"/(?:\.[\w-]+/)?(?:agents?|skills?|commands?|chatmodes|prompts|rules)/|/(?:\.[\w-]+/)*[^/]+\Z",
    re.IGNORECASE,
)


class KnownNames:
    """The names that files of some kinds define; each is known in its own project or plugin."""

    def __init__(self, offers: Sequence[Offer], kinds: Collection[str]) -> None:
        self._by_folder: dict[str, set[str]] = {}
        for each in offers:
            if each.kind in kinds:
                match = _END_OF_SCOPE.search(each.path)
                folder = each.path[: match.start()] if match else each.path
                self._by_folder.setdefault(folder, set()).update(each.names)
        self._seen: dict[tuple[frozenset[str], tuple[str, ...]], frozenset[str]] = {}

    def visible_from(self, path: str, also: frozenset[str] = frozenset()) -> frozenset[str]:
        """The names of the project or plugin that a file belongs to, and of those around it.

        One set for all files that see the same names, with those in `also`.
        """
        around = tuple(each for each in self._by_folder if path.startswith(f"{each}/"))
        if (also, around) not in self._seen:
            self._seen[also, around] = also.union(*(self._by_folder[each] for each in around))
        return self._seen[also, around]


#: The names that the last list of offers defines: rules ask for them file by file.
_latest: tuple[Sequence[Offer], dict[tuple[str, ...], KnownNames]] = ((), {})


def known_names(offers: Sequence[Offer], kinds: tuple[str, ...]) -> KnownNames:
    """The names that a list of offers defines, collected once: the list must not change."""
    global _latest
    latest = _latest
    if latest[0] is not offers:
        latest = _latest = offers, {}
    if kinds not in latest[1]:
        latest[1][kinds] = KnownNames(offers, kinds)
    return latest[1][kinds]


def name_by_path(path: str, *, by_folder: bool) -> str:
    """The name that a file has by its path with `/`."""
    folder, _, file = path.rpartition("/")
    return folder.rpartition("/")[2] if by_folder else file.partition(".")[0]


def own_name(value: Any) -> str | None:
    """The `name` that a file with this value gives itself."""
    name = value.get("name") if isinstance(value, dict) else None
    return name if isinstance(name, str) else None


def names_of_file(outcome: Outcome) -> Iterator[str]:
    """The names by which other files may refer to a file."""
    name = None if outcome.tree is None else own_name(outcome.tree.value)
    if name is not None:
        yield name
    if outcome.sources:
        yield name_by_path(outcome.path, by_folder=outcome.kind.name == "skill")


# Suspicious text.


def report_secrets(source: Source) -> Iterator[Fact]:
    """Report secrets in the text of a file."""
    for each in find_secrets(source.text):
        yield codes.SECRET_IN_FILE.at(span=Span(source, *each.range), what=each.what)


def look_for_suspicious(tree: Tree, _session: Session) -> tuple[Tree, list[Fact]]:
    """Report secrets, and a name of letters of several scripts: it may only look like another."""
    source = tree.document.source
    name = own_name(tree.value)
    if name is None:
        name = os.path.basename(source.filename or source.name).partition(".")[0]
    facts = [*report_secrets(source)]
    if scripts := mixed_scripts(name):
        facts.append(
            codes.MIXED_SCRIPTS.at(("name",), name=Shown(name), scripts=", ".join(scripts))
        )
    return tree, facts
