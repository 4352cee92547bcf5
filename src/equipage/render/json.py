"""`--output-format json`: one object, whose shape is stable from release to release."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import msgspec

from equipage import __version__
from equipage.core.diagnostics import Diagnostic, Fix, Label
from equipage.core.source import Span
from equipage.core.text import visible_json
from equipage.syntax.suspicious import mask_secrets
from equipage.workspace.report import Report


def render(report: Report, *, fixed: int | None = None) -> str:
    value = _report_members(report, fixed)
    try:
        # The layout of the standard library, ten times as fast; it writes no numbers with a point.
        text = msgspec.json.format(msgspec.json.encode(value), indent=1).decode()
    except UnicodeEncodeError:  # the name of a file may hold bytes that are not text
        return dump_json(msgspec.to_builtins(value))
    return visible_json(text) + "\n"


def dump_json(value: Any) -> str:
    """JSON that is safe on a terminal: invisible characters are escaped, which changes no value."""
    return visible_json(json.dumps(value, ensure_ascii=False, indent=1)) + "\n"


def to_dict(report: Report, *, fixed: int | None = None) -> dict[str, Any]:
    """The report as plain data, in the documented shape; after `--fix` with the number `fixed`."""
    plain: dict[str, Any] = msgspec.to_builtins(_report_members(report, fixed))
    return plain


def _report_members(report: Report, fixed: int | None) -> dict[str, Any]:
    return {
        "version": 1,
        "equipage": __version__,
        "summary": {
            "files": len(report.files),
            "errors": len(report.errors),
            "warnings": len(report.warnings),
            "notes": len(report.notes),
            **({"known": report.known} if report.known else {}),
            **({} if fixed is None else {"fixed": fixed}),
        },
        "files": report.files,
        "diagnostics": [diagnostic_to_dict(each) for each in report.diagnostics],
    }


def diagnostic_to_dict(each: Diagnostic) -> dict[str, Any]:
    value: dict[str, Any] = {
        "code": each.code,
        "severity": each.severity,
        "message": each.message,
        "path": each.path,
        "pointer": each.pointer,
    }
    _add_place(value, each.span, each.file)
    value["count"] = each.count
    value["url"] = each.url
    value["help"] = each.help
    value["fix"] = None if each.fix is None or shows_secret(each.fix) else _fix_to_dict(each.fix)
    value["related"] = [_label_to_dict(label) for label in each.related]
    return value


def _label_to_dict(label: Label) -> dict[str, Any]:
    value: dict[str, Any] = {}
    _add_place(value, label.span)
    value["path"] = label.path
    value["message"] = label.message
    return value


def render_lines(report: Report) -> Iterator[str]:
    """`--output-format jsonl`: one finding on each line, for programs that read a stream."""
    for each in report.diagnostics:
        yield visible_json(json.dumps(diagnostic_to_dict(each), ensure_ascii=False)) + "\n"


def shows_secret(fix: Fix) -> bool:
    """Whether the text of a fix contains a secret, as one that quotes a token does."""
    return any(mask_secrets(edit.text) != edit.text for edit in fix.edits)


def _fix_to_dict(fix: Fix) -> dict[str, Any]:
    edits = []
    for each in fix.edits:
        value: dict[str, Any] = {}
        _add_place(value, each.span)
        value["text"] = each.text
        edits.append(value)
    return {"message": fix.message, "safe": fix.safe, "edits": edits}


def _add_place(value: dict[str, Any], span: Span | None, file: str | None = None) -> None:
    """Add where something is; in place, because there may be thousands of findings."""
    if span is None:
        value["file"] = file
        value["line"] = value["column"] = value["end_line"] = value["end_column"] = None
        return
    value["file"] = span.source.name
    value["line"], value["column"] = span.source.position(span.start)
    value["end_line"], value["end_column"] = span.source.position(span.end)
