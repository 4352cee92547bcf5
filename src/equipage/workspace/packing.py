"""What a check found in a file, as plain values that can be written down and read again.

No text of a file is among them: a place is a source, a start and an end, each with its line and
column. Where the text is wanted, it is read again from the file, and its digest compared. What an
edit does to the value of a document is left out, too, so that fixes can be shown but not applied.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any

import msgspec

from equipage.core import codes
from equipage.core.diagnostics import Diagnostic, Edit, Fix, Label, Severity
from equipage.core.source import Outline, Source, Span
from equipage.files.reading import decoded
from equipage.files.tracing import Answer, Question, digest
from equipage.loading.findings import Waiting
from equipage.loading.kind import Offer
from equipage.syntax.suspicious import masked
from equipage.workspace.loads import Candidate, Checked
from equipage.workspace.report import FileReport, Report


class Unfit(Exception):
    """What was found cannot be written down."""


class Changed(Exception):
    """A file does not hold what it did."""


#: A number in the table of sources, a start and an end.
_Place = tuple[int, int, int]
#: Packs findings.
Findings = Callable[[Iterable[Diagnostic]], "tuple[Finding, ...]"]
#: These say what happened in a run, and not what a file holds.
_OF_A_RUN = frozenset({codes.INTERNAL_ERROR.name, codes.CHECK_ENDED.name, codes.ENDED_EARLY.name})


class PackedSource(msgspec.Struct, array_like=True):
    name: str
    path: str
    outside: bool
    digest: str
    places: dict[int, tuple[int, int]] = {}  #: lines and columns by offset


class _Edit(msgspec.Struct, frozen=True, array_like=True):
    place: _Place
    text: str


class _Fix(msgspec.Struct, frozen=True, array_like=True):
    message: str
    edits: tuple[_Edit, ...]
    safe: bool


class _Label(msgspec.Struct, frozen=True, array_like=True):
    place: _Place | None
    message: str
    path: str


class Finding(msgspec.Struct, frozen=True, array_like=True):
    code: str
    severity: Severity
    message: str
    path: str
    pointer: str
    place: _Place | None
    help: str | None
    fix: _Fix | None
    related: tuple[_Label, ...]
    count: int
    file: str | None
    url: str | None


class PackedFile(msgspec.Struct, frozen=True, array_like=True):
    """`Checked`, with findings by their places."""

    path: str
    name: str
    kind: str | None
    ok: bool
    findings: tuple[Finding, ...]
    digest: str | None
    reads: tuple[str, ...]
    real: Any  #: texts, numbers and lists of them
    key: Any
    offer: Offer | None
    refers: bool
    guessed: bool
    unsure: str | None
    layered: bool
    waiting: tuple[tuple[str, Finding], ...]


class Whole(msgspec.Struct, frozen=True, array_like=True):
    """`Report`, with findings by their places; `ties` as in `ReportBuilder.ties`."""

    files: tuple[FileReport, ...]
    findings: tuple[Finding, ...]
    hidden: tuple[str, ...]
    left_out: tuple[str, ...]
    ties: frozenset[str] | None = None


class Packed(msgspec.Struct, frozen=True, array_like=True):
    """What was found in a file; or about some together, by the number of the file; or in all."""

    sources: tuple[PackedSource, ...]
    file: PackedFile | None = None
    together: tuple[tuple[int, Finding], ...] = ()
    whole: Whole | None = None


class PackedFiles(msgspec.Struct, frozen=True, array_like=True):
    """What was found in a few files, each by itself; None for those that are not ours."""

    candidates: tuple[Candidate, ...]
    found: tuple[Packed | None, ...]


class Digests:
    """What the sources of findings hold that were read in this run, or unpacked."""

    def __init__(self) -> None:
        self._by_source: dict[int, tuple[Source, str]] = {}

    def note(self, source: Source, known: str) -> None:
        self._by_source[id(source)] = source, known  # while it is here, no other has its number

    def get(self, source: Source) -> str | None:
        found = self._by_source.get(id(source))
        return None if found is None else found[1]


class Packer:
    """Packs what one piece of work found. Raises `Unfit`."""

    def __init__(self, asked: Iterable[tuple[Question, Answer]], digests: Digests) -> None:
        #: what was read, by real path
        self._read = {question[1]: answer for question, answer in asked if question[0] == "content"}
        self._digests = digests
        self._numbers: dict[int, int] = {}
        self._sources: list[PackedSource] = []
        #: the numbers of those that were packed before
        self._slots: dict[tuple[str, str, bool], int] = {}

    def report(self, report: Report, ties: frozenset[str] | None) -> Packed:
        findings = tuple(map(self._finding, report.diagnostics))
        whole = Whole(report.files, findings, report.hidden, report.left_out, ties)
        return Packed(tuple(self._sources), whole=whole)

    def files(
        self, candidates: Sequence[Candidate], results: Iterable[Checked | None]
    ) -> PackedFiles:
        found = tuple(None if each is None else self._alone(each) for each in results)
        return PackedFiles(tuple(candidates), found)

    def _alone(self, each: Checked) -> Packed:
        self._numbers, self._sources = {}, []
        file = self._file(each)
        return Packed(tuple(self._sources), file)

    def amended(
        self, packed: Packed, amend: Callable[[Whole, Findings], Whole | None]
    ) -> Packed | None:
        """A packed report with changes; a source that is packed again replaces the one it was.

        Nothing refers to that one any more: whatever was found in the file was found again.
        """
        assert packed.whole is not None
        self._numbers, self._sources = {}, list(packed.sources)
        self._slots = {
            (each.name, each.path, each.outside): number
            for number, each in enumerate(packed.sources)
        }
        whole = amend(packed.whole, lambda found: tuple(map(self._finding, found)))
        return None if whole is None else Packed(tuple(self._sources), whole=whole)

    def together(self, found: list[tuple[int, Diagnostic]]) -> Packed:
        findings = tuple((number, self._finding(each)) for number, each in found)
        return Packed(tuple(self._sources), together=findings)

    def _file(self, each: Checked) -> PackedFile:
        return PackedFile(
            each.path,
            each.name,
            each.kind,
            each.ok,
            tuple(map(self._finding, each.diagnostics)),
            each.digest,
            each.reads,
            each.real,
            each.key,
            each.offer,
            each.refers,
            each.guessed,
            each.unsure,
            each.layered,
            tuple((one.code, self._finding(one.unused)) for one in each.waiting),
        )

    def _finding(self, each: Diagnostic) -> Finding:
        if each.code in _OF_A_RUN:
            raise Unfit(each.code)
        fix = each.fix
        return Finding(
            each.code,
            each.severity,
            each.message,
            each.path,
            each.pointer,
            self._place(each.span),
            each.help,
            None if fix is None else _Fix(fix.message, tuple(map(self._edit, fix.edits)), fix.safe),
            tuple(_Label(self._place(one.span), one.message, one.path) for one in each.related),
            each.count,
            each.file,
            each.url,
        )

    def _edit(self, each: Edit) -> _Edit:
        place = self._place(each.span)
        assert place is not None
        if masked(each.text) != each.text:
            raise Unfit(each.span.source.name)  # reports do not show it, either
        return _Edit(place, each.text)

    def _place(self, span: Span | None) -> _Place | None:
        if span is None:
            return None
        number = self._numbers.get(id(span.source))
        if number is None:
            number = self._numbers[id(span.source)] = self._number(self._source(span.source))
        places = self._sources[number].places
        for offset in (span.start, span.end):
            if offset not in places:
                places[offset] = span.source.position(offset)
        return number, span.start, span.end

    def _number(self, source: PackedSource) -> int:
        number = self._slots.get((source.name, source.path, source.outside))
        if number is None:
            self._sources.append(source)
            return len(self._sources) - 1
        if self._sources[number].digest != source.digest:
            self._sources[number] = source
        return number

    def _source(self, source: Source) -> PackedSource:
        """A source that reading its file again gives back."""
        path, known = source.filename, self._digests.get(source)
        if path is None:
            raise Unfit(source.name)
        if known is None:
            known = digest(source.data)
            if self._read.get(path) != known:
                raise Unfit(source.name)
            if decoded(source.name, source.data, path).text != source.text:
                raise Unfit(source.name)  # parts of it were blanked out before it was parsed
            self._digests.note(source, known)
        return PackedSource(source.name, path, source.outside, known)


class _Placed(Outline, eq=False):
    """What is known of a source whose text is not asked for."""

    known: dict[int, tuple[int, int]] = msgspec.field(default_factory=dict)

    def position(self, offset: int) -> tuple[int, int]:
        return self.known[offset]


class Unpacker:
    """Unpacks what was packed. Raises `Changed` if a text is not what it was."""

    def __init__(
        self, text_of: Callable[[str, str], bytes | None] | None, digests: Digests
    ) -> None:
        self._text_of = text_of  #: the content of a file by its path and digest, if it is wanted
        self._digests = digests
        self._known: dict[tuple[str, str, bool], Source] = {}  #: one file is one source for all

    def report(self, packed: Packed) -> Report:
        place, whole = self._places(packed), packed.whole
        assert whole is not None
        findings = tuple(_diagnostic(each, place) for each in whole.findings)
        return Report(whole.files, findings, whole.hidden, left_out=whole.left_out)

    def files(self, packed: PackedFiles) -> list[Checked | None]:
        return [
            None if each is None or each.file is None else _checked(each.file, self._places(each))
            for each in packed.found
        ]

    def together(self, packed: Packed) -> list[tuple[int, Diagnostic]]:
        place = self._places(packed)
        return [(number, _diagnostic(each, place)) for number, each in packed.together]

    def _places(self, packed: Packed) -> Callable[[_Place], Span]:
        known: dict[int, Source] = {}

        def span(place: _Place) -> Span:
            number, start, end = place
            # Not all at once: of a file whose findings are gone, the source is still in the table.
            source = known.get(number)
            if source is None:
                source = known[number] = self._source(packed.sources[number])
            return Span(source, start, end)

        return span

    def _source(self, each: PackedSource) -> Source:
        key = each.name, each.path, each.outside
        known = self._known.get(key)
        if known is None or self._digests.get(known) != each.digest:
            known = self._known[key] = self._new(each)
            known.outside = each.outside
            self._digests.note(known, each.digest)
        elif isinstance(known, _Placed):
            known.known.update(each.places)
        return known

    def _new(self, each: PackedSource) -> Source:
        if self._text_of is None:
            return _Placed(each.name, b"", "", each.path, known=each.places)
        data = self._text_of(each.path, each.digest)
        if data is None:
            raise Changed(each.path)
        return decoded(each.name, data, each.path)


def _checked(each: PackedFile, place: Callable[[_Place], Span]) -> Checked:
    return Checked(
        each.path,
        each.name,
        each.kind,
        each.ok,
        tuple([_diagnostic(one, place) for one in each.findings]),
        each.digest,
        each.reads,
        _hashable(each.real),
        _hashable(each.key),
        each.offer,
        each.refers,
        each.guessed,
        each.unsure,
        each.layered,
        tuple([Waiting(code, _diagnostic(one, place)) for code, one in each.waiting]),
    )


def _diagnostic(each: Finding, place: Callable[[_Place], Span]) -> Diagnostic:
    fix = each.fix
    return Diagnostic(
        each.code,
        each.severity,
        each.message,
        each.path,
        each.pointer,
        None if each.place is None else place(each.place),
        each.help,
        None
        if fix is None
        else Fix(
            fix.message, tuple(Edit(place(one.place), one.text) for one in fix.edits), fix.safe
        ),
        tuple(
            Label(None if one.place is None else place(one.place), one.message, one.path)
            for one in each.related
        ),
        each.count,
        each.file,
        each.url,
    )


def _hashable(value: Any) -> Hashable:
    """A key again: what was a tuple was written as a list."""
    return tuple(map(_hashable, value)) if isinstance(value, list) else value
