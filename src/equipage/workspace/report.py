"""What a check found, as a value: every file, the files that read it, every finding once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from equipage.core.diagnostics import Diagnostic, UsageError
from equipage.core.source import pickle_with_text
from equipage.project.settings import FORMAT as SETTINGS_KIND

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
            raise UsageError("`to_arrow` needs pyarrow: install equipage[arrow]") from None
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
