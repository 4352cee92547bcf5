"""Findings as the protocol shows them: exact ranges, the way through includes, a page per code."""

from __future__ import annotations

from collections.abc import Iterable

from equipage.core import codes
from equipage.core.diagnostics import Diagnostic as Finding
from equipage.core.diagnostics import Label
from equipage.core.text import code_page_url
from equipage.lsp import protocol
from equipage.lsp.documents import Workspace
from equipage.lsp.protocol import Position, Range, span_range

SOURCE = "equipage"
_SEVERITIES = {"error": 1, "warning": 2, "note": 3}
_UNNECESSARY = 1
#: Findings about text that has no effect; editors show it faded.
_FADED_CODES = frozenset({codes.UNUSED_IGNORE.name, codes.IGNORED_FIELD.name})
_FILE_START = Range(Position(0, 0), Position(0, 0))


def protocol_diagnostics(
    findings: Iterable[Finding], workspace: Workspace, site: str | None = None
) -> list[protocol.Diagnostic]:
    """Findings of one file. `site` is where the pages of codes are published."""
    return [_protocol_diagnostic(each, workspace, site) for each in findings]


def _protocol_diagnostic(
    each: Finding, workspace: Workspace, site: str | None
) -> protocol.Diagnostic:
    place = _FILE_START if each.span is None else span_range(each.span, workspace.encoding)
    lines = [each.message, *([f"help: {each.help}"] if each.help else [])]
    # A place in no file that the client could open is a sentence, and not lost.
    lines += [label.message for label in each.related if not _is_placed(label)]
    related = [
        protocol.RelatedInformation(_location(label, workspace), label.message)
        for label in each.related
        if _is_placed(label)
    ]
    page = None if site is None else code_page_url(site, each.code)
    return protocol.Diagnostic(
        place,
        "\n".join(lines),
        _SEVERITIES[each.severity],
        each.code,
        SOURCE,
        None if page is None else protocol.CodeDescription(page),
        [_UNNECESSARY] if each.code in _FADED_CODES else None,
        related or None,
    )


def _is_placed(label: Label) -> bool:
    return label.span is not None and label.span.source.filename is not None


def _location(label: Label, workspace: Workspace) -> protocol.Location:
    assert label.span is not None
    assert label.span.source.filename is not None
    uri = workspace.uri(label.span.source.filename)
    return protocol.Location(uri, span_range(label.span, workspace.encoding))
