"""`--output-format json`: one object, the same from release to release."""

from __future__ import annotations

import json
from typing import Any

from equipage._version import __version__
from equipage.core.diagnostics import Diagnostic, Edit, Label
from equipage.core.source import Span
from equipage.core.text import visible_json
from equipage.workspace.report import Report


def render(report: Report, *, fixed: int | None = None) -> str:
    return written(to_dict(report, fixed=fixed))


def written(value: Any) -> str:
    """Data as JSON that people may read on a terminal: what cannot be seen is escaped, which changes nothing."""
    return visible_json(json.dumps(value, ensure_ascii=False, indent=1)) + "\n"


def to_dict(report: Report, *, fixed: int | None = None) -> dict[str, Any]:
    """The report as plain data, in the documented shape; with the number of `fixed` findings after a run that
    fixed some."""
    return {
        "version": 1,
        "equipage": __version__,
        "summary": {
            "files": len(report.files),
            "errors": len(report.errors),
            "warnings": len(report.warnings),
            "notes": len(report.notes),
            **({} if fixed is None else {"fixed": fixed}),
        },
        "files": [
            {
                "path": each.path,
                "kind": each.kind,
                "ok": each.ok,
                "digest": each.digest,
                "used_by": list(each.used_by),
            }
            for each in report.files
        ],
        "diagnostics": [diagnostic_to_dict(each) for each in report.diagnostics],
    }


def diagnostic_to_dict(each: Diagnostic) -> dict[str, Any]:
    fix = each.fix
    return {
        "code": each.code,
        "severity": each.severity,
        "message": each.message,
        "path": each.path,
        "pointer": each.pointer,
        **_place(each.span, each.file),
        "count": each.count,
        "url": each.url,
        "help": each.help,
        "fix": None
        if fix is None
        else {
            "message": fix.message,
            "safe": fix.safe,
            "edits": [_edit(edit) for edit in fix.edits],
        },
        "related": [_label(label) for label in each.related],
    }


def _place(span: Span | None, file: str | None = None) -> dict[str, Any]:
    if span is None:
        return {"file": file, "line": None, "column": None, "end_line": None, "end_column": None}
    line, column = span.source.position(span.start)
    end_line, end_column = span.source.position(span.end)
    return {
        "file": span.source.name,
        "line": line,
        "column": column,
        "end_line": end_line,
        "end_column": end_column,
    }


def _edit(edit: Edit) -> dict[str, Any]:
    return {**_place(edit.span), "text": edit.text}


def _label(label: Label) -> dict[str, Any]:
    return {**_place(label.span), "path": label.path, "message": label.message}
