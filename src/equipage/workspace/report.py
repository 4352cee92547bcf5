"""What a check found, as a value: every file, the files that read it, every finding once.

`Report` is that value. `Gathering` makes it of what is kept of each file.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from equipage.core import codes
from equipage.core.diagnostics import Diagnostic, Label, UsageError
from equipage.core.source import pickle_with_text
from equipage.loading.format import Format
from equipage.loading.session import Run
from equipage.project.recognise import is_fixture
from equipage.project.registry import format_named, is_convention
from equipage.project.settings import FORMAT as SETTINGS_KIND
from equipage.project.settings import Selection, project_of
from equipage.workspace.find import Found
from equipage.workspace.load import NOT_CHECKED, Summary

if TYPE_CHECKING:
    import pyarrow

#: The kind of the files that hold settings of projects, as reports name it.
SETTINGS = SETTINGS_KIND.name


class FileReport(msgspec.Struct, frozen=True):
    """One file of a check.

    >>> equipage.check_files({"a.tool.yaml": b"id: 5"}).files[0].kind
    'toolpack'
    """

    path: str
    """Its name as people are shown it, with `/`: text, and not always a file of this machine."""
    kind: str | None
    """None: it was only read by others."""
    ok: bool
    """Whether it loads, also where its errors are ignored."""
    digest: str | None = None
    """Sha256 of its meaning, if it could be loaded."""
    used_by: tuple[str, ...] = ()
    """The names of the files that read it."""


class Row(NamedTuple):
    """A finding as a row of a table. Lines and columns count from 1 in code points."""

    file: str | None
    """The name of the file; None: it is about the command line or the environment."""
    line: int | None
    """The line it starts in; None: it is about no text in particular."""
    column: int | None
    """The column it starts at."""
    end_line: int | None
    """The line it ends in."""
    end_column: int | None
    """The column behind its end."""
    severity: str
    """`error`, `warning` or `note`."""
    code: str
    """The code of the finding, such as `wrong-type`."""
    message: str
    """One line without a final period."""
    path: str
    """The path of the value at fault."""
    help: str | None
    """What to write instead."""


class Report(msgspec.Struct, frozen=True):
    """What a check found: every file, every finding in order.

    A pickled report is small: a finding keeps its place, and not the text of its file. `to_bytes`
    keeps the texts.

    >>> report = equipage.check_files({"a.tool.yaml": b"id: 5"})
    >>> report.ok, len(report.files), len(report.errors), report.rows()[0].code
    (False, 1, 8, 'missing-field')
    """

    files: tuple[FileReport, ...]
    """Every file, sorted by name."""
    diagnostics: tuple[Diagnostic, ...]
    """Every finding, sorted by file and position."""
    hidden: tuple[str, ...] = ()
    """Files that cannot be loaded, though no error of theirs is among the findings."""
    known: int = 0
    """Findings left out because a baseline records them."""
    left_out: tuple[str, ...] = ()
    """Files that were named and are excluded."""

    @property
    def unusable_settings(self) -> tuple[str, ...]:
        """Settings of projects that have errors: what they say about files does not hold."""
        return tuple(each.path for each in self.files if each.kind == SETTINGS and not each.ok)

    def rows(self) -> list[Row]:
        """The findings as plain tuples, for tables, data frames and queues.

        >>> equipage.check_files({"a.tool.yaml": b"id: 5"}).rows()[0][:4]
        ('a.tool.yaml', 1, 1, 1)
        """
        return [_row(each) for each in self.diagnostics]

    def to_arrow(self) -> pyarrow.Table:
        """The rows as an Arrow table. Raises `UsageError` if pyarrow is not installed.

        >>> equipage.check_files({"a.tool.yaml": b"id: 5"}).to_arrow().column_names[:3]
        ['file', 'line', 'column']
        """
        try:
            import pyarrow
        except ImportError:
            raise UsageError("`to_arrow` needs pyarrow: run `pip install pyarrow`") from None
        numbers = {"line", "column", "end_line", "end_column"}
        text, number = pyarrow.string(), pyarrow.int32()
        types = [(name, number if name in numbers else text) for name in Row._fields]
        # A name that is not UTF-8 has lone surrogates, which Arrow does not take.
        rows = [
            {name: _replace_surrogates(each) for name, each in row._asdict().items()}
            for row in self.rows()
        ]
        return pyarrow.Table.from_pylist(rows, schema=pyarrow.schema(types))

    def to_bytes(self, *, text: bool = True) -> bytes:
        """The report as a pickle; with `text`, the findings keep the texts that they are about.

        >>> report = equipage.check_files({"a.tool.yaml": b"id: 5"})
        >>> pickle.loads(report.to_bytes()).errors[0].span.source.text
        'id: 5'
        """
        if text:
            return pickle_with_text(self)
        import pickle  # slow to import, and most reports stay where they are

        return pickle.dumps(self, protocol=pickle.HIGHEST_PROTOCOL)

    def _diagnostics_of(self, severity: str) -> tuple[Diagnostic, ...]:
        return tuple(each for each in self.diagnostics if each.severity == severity)

    @property
    def errors(self) -> tuple[Diagnostic, ...]:
        """The findings that are errors."""
        return self._diagnostics_of("error")

    @property
    def warnings(self) -> tuple[Diagnostic, ...]:
        """The findings that are warnings."""
        return self._diagnostics_of("warning")

    @property
    def notes(self) -> tuple[Diagnostic, ...]:
        """The findings that are notes."""
        return self._diagnostics_of("note")

    @property
    def ok(self) -> bool:
        """Whether there are no errors."""
        return not self.errors


def _row(each: Diagnostic) -> Row:
    line = column = end_line = end_column = None
    if each.span is not None:
        line, column = each.span.source.position(each.span.start)
        end_line, end_column = each.span.source.position(each.span.end)
    words = (each.severity, each.code, each.message, each.path, each.help)
    return Row(each.name, line, column, end_line, end_column, *words)


def _replace_surrogates(value: Any) -> Any:
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else value


# From what is kept of each file to a report.

#: Findings that are reported once for each sort of file and project.
_GROUPED = frozenset(each.name for each in (*NOT_CHECKED, codes.LINK_BROKEN))
#: Findings about files that are none of those a report counts.
_NOT_COUNTED = frozenset({codes.FIXTURE_SKIPPED.name, codes.NOT_READ.name})


class Gathering:
    """The files of a report, and what was found in them."""

    def __init__(
        self, run: Run, found: Found, selection: Selection, kind: str | Format | None = None
    ) -> None:
        self.run, self.found = run, found
        self.system = run.files.system
        self.selection = selection
        self.kind = kind  #: the only kind that files may be of
        #: the names of the files that the report is about, unless it is about all
        self.asked: Collection[str] = ()
        #: files around those: others may refer to them, but only findings in `asked` are reported
        self.context: set[str] = set()
        self.order: Mapping[str, int] = {}  #: of a walk over everything, by absolute path
        self.files: dict[str, Summary] = {}
        self.used: dict[str, list[str]] = {}  #: file → files that read it
        #: files that may be merged with others, and what was found in each alone
        self.layers: dict[str, tuple[Diagnostic, ...]] = {}
        self._identities: set[Hashable] = set()
        self._waiting: list[Summary] = []  #: files that another load may know better
        #: notes about files that were not checked, by project, code and message
        self._grouped: dict[tuple[str, str, str], list[tuple[Summary, Diagnostic]]] = {}
        self._findings: dict[Hashable, Diagnostic] = {}
        self._failed: set[str] = set()  #: files with errors, reported or not
        self._reported: set[str] = set()  #: files with errors that are reported

    def format_of(self, kind: str) -> Format:
        """The format of that name; one of the caller's own is known by no other."""
        own = self.kind
        return own if isinstance(own, Format) and own.name == kind else format_named(kind)

    # Files.

    def take(self, summary: Summary | None) -> None:
        """Count a file, unless another load may know better what it is."""
        if summary is None:
            return
        is_unrecognised = any(each.code == codes.UNRECOGNISED for each in summary.diagnostics)
        if summary.yields or is_unrecognised:
            self._waiting.append(summary)
        else:
            self._count(summary)

    def _count(self, summary: Summary) -> None:
        """Count a file, unless it is known by this name or another."""
        if summary.name in self.files or summary.real in self._identities:
            return
        if summary.real is not None:
            self._identities.add(summary.real)
        for name in summary.reads:
            self.used.setdefault(name, []).append(summary.name)
        is_grouped = any(each.code in _GROUPED for each in summary.diagnostics)
        if is_grouped:
            self._group(summary)
        if is_grouped and summary.diagnostics[0].code in _NOT_COUNTED:
            return
        self.files[summary.name] = summary
        if summary.layered:
            self.layers[summary.name] = summary.diagnostics
        elif not is_grouped and summary.diagnostics:
            self.add_findings(summary.path, summary.name, summary.diagnostics)

    def concerns_others(self) -> bool:
        """Whether other files may matter for findings in those that were counted."""
        refers = any(each.refers or each.key is not None for each in self.files.values())
        return refers or bool(self._waiting)

    # Findings.

    def _group(self, summary: Summary) -> None:
        """Remember a finding about a file that was not checked: one for each sort and project."""
        for each in summary.diagnostics:
            key = project_of(summary.path, self.run).root, each.code, each.message
            self._grouped.setdefault(key, []).append((summary, each))

    def _add_grouped(self) -> None:
        for group in self._grouped.values():
            (summary, each), more = group[0], len(group) - 1
            if more:
                files = "file" if more == 1 else "files"
                message = f"{each.message}; {more:,} more such {files}"
                each = msgspec.structs.replace(each, message=message, count=len(group))
            self.add_findings(summary.path, summary.name, [each])

    def add_findings(self, path: str, name: str, diagnostics: Iterable[Diagnostic]) -> None:
        """Report findings of a file, as its project judges them."""
        if name in self.context:
            diagnostics = [each for each in diagnostics if each.name in self.asked]
        diagnostics = list(diagnostics)
        if not diagnostics:
            return
        summary = self.files.get(name)
        if summary is not None and summary.doubt is not None:
            diagnostics = [_soften_guess(each, summary) for each in diagnostics]
        if summary is not None and self._is_fixture(path, summary):
            diagnostics = [_soften_fixture(each) for each in diagnostics]
        project = project_of(path, self.run)
        judged = project.select_findings(diagnostics, self.selection, self.system)
        if _fails(diagnostics):
            self._failed.add(name)
        if _fails(judged):
            self._reported.add(name)
        for each in judged:
            self._findings.setdefault(each.identity(), each)

    def _is_fixture(self, path: str, summary: Summary) -> bool:
        """Whether a file of another tool, or a guess, is material of a test, and was not asked for
        itself."""
        is_ours = summary.kind is not None and not is_convention(summary.kind)
        if summary.kind is None or (is_ours and summary.doubt is None):
            return False
        return is_fixture(path, self.system, self.run.request.folders)

    # The report.

    def report(self) -> Report:
        """What is left once every file was taken, and the report on all of it."""
        for path, problem in self.found.problems:
            self.add_findings(path, problem.name or path, [problem])
        parts = {name for summary in self._waiting for name in summary.reads}
        # Of files that read each other, the first counts.
        for summary in sorted(self._waiting, key=lambda each: each.name in parts):
            if summary.name not in self.used:  # else a load that reads the file knew better
                self._count(summary)
        self._add_grouped()
        if self._concerns_several():
            from equipage.workspace.cross_file import check_several

            check_several(self)
        return self._build()

    def _concerns_several(self) -> bool:
        """Whether anything is left to find that one file alone does not say."""
        configured = bool(self.run.request.options.get("config"))  # for layers, which there must be
        if self.found.kind_folders or self.layers or configured:
            return True
        files = self.files.values()
        keys = [(each.kind, each.key) for each in files if each.key is not None]
        weights = [each.offer.weight for each in files if each.offer and any(each.offer.weight)]
        if len(set(keys)) < len(keys) or len(weights) > 1:
            return True
        return any(each.waiting or each.refers for each in files)

    def _build(self) -> Report:
        files = list(self._file_reports())
        findings: dict[Hashable, Diagnostic] = {}
        for project in self.found.projects:
            judged = [each for each in project.diagnostics if self.selection.takes(each.code)]
            if judged:  # settings count as a file only if there is something to say about them
                files.append(FileReport(project.file or project.root, SETTINGS, not _fails(judged)))
                for each in judged:
                    findings.setdefault(each.identity(), each)
        findings |= self._findings
        # Files with errors of which none is reported, because settings or a baseline ignore them.
        hidden = sorted(({*self.files} - self.context) & self._failed - self._reported)
        return Report(
            tuple(sorted(files, key=lambda each: each.path)),
            tuple(sorted(findings.values(), key=Diagnostic.sort_key)),
            tuple(hidden),
            left_out=tuple(self.found.left_out),
        )

    def _file_reports(self) -> Iterator[FileReport]:
        failed = self._failed | self._reported
        for name, each in self.files.items():
            if name not in self.context:
                ok = each.ok and name not in failed
                yield FileReport(name, each.kind, ok, each.digest, tuple(self.used.get(name, ())))
        bad = {each.name for each in self._findings.values() if each.severity == "error"}
        for name, users in self.used.items():
            is_asked = name in self.asked or not self.context.issuperset(users)
            if name not in self.files and is_asked:
                yield FileReport(name, None, name not in bad, None, tuple(users))


def _soften_guess(each: Diagnostic, summary: Summary) -> Diagnostic:
    """A finding in a file that is of its kind by a guess: never an error, and it says why."""
    if each.severity != "error" or each.code == codes.INTERNAL_ERROR:
        return each
    why = Label(None, f"checked as kind `{summary.kind}` because {summary.doubt}")
    return msgspec.structs.replace(each, severity="warning", related=(*each.related, why))


def _soften_fixture(each: Diagnostic) -> Diagnostic:
    """A finding in the material of a test, which may be wrong on purpose."""
    return msgspec.structs.replace(each, severity="note") if each.severity == "warning" else each


def _fails(diagnostics: Iterable[Diagnostic]) -> bool:
    return any(each.severity == "error" for each in diagnostics)
