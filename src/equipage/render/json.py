"""`--output-format json`: one object, whose shape is stable from release to release."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import msgspec

from equipage import __version__
from equipage.core.diagnostics import Diagnostic, Fix
from equipage.core.source import Span
from equipage.core.text import visible_json
from equipage.syntax.suspicious import mask_secrets
from equipage.workspace.report import Report


def render(report: Report, *, fixed: int | None = None) -> str:
    return dump_json(to_dict(report, fixed=fixed))


def dump_json(value: Any) -> str:
    """JSON that is safe on a terminal: invisible characters are escaped, which changes no value."""
    return visible_json(json.dumps(value, ensure_ascii=False, indent=1)) + "\n"


def to_dict(report: Report, *, fixed: int | None = None) -> dict[str, Any]:
    """The report as plain data, in the documented shape; after `--fix` with the number `fixed`."""
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
        "files": msgspec.to_builtins(report.files),
        "diagnostics": [diagnostic_to_dict(each) for each in report.diagnostics],
    }


def diagnostic_to_dict(each: Diagnostic) -> dict[str, Any]:
    return {
        "code": each.code,
        "severity": each.severity,
        "message": each.message,
        "path": each.path,
        "pointer": each.pointer,
        **_place_to_dict(each.span, each.file),
        "count": each.count,
        "url": each.url,
        "help": each.help,
        "fix": None if each.fix is None or shows_secret(each.fix) else _fix_to_dict(each.fix),
        "related": [
            {**_place_to_dict(label.span), "path": label.path, "message": label.message}
            for label in each.related
        ],
    }


def render_lines(report: Report) -> Iterator[str]:
    """`--output-format jsonl`: one finding on each line, for programs that read a stream."""
    for each in report.diagnostics:
        yield visible_json(json.dumps(diagnostic_to_dict(each), ensure_ascii=False)) + "\n"


def shows_secret(fix: Fix) -> bool:
    """Whether the text of a fix contains a secret, as one that quotes a token does."""
    return any(mask_secrets(edit.text) != edit.text for edit in fix.edits)


def _fix_to_dict(fix: Fix) -> dict[str, Any]:
    edits = [{**_place_to_dict(each.span), "text": each.text} for each in fix.edits]
    return {"message": fix.message, "safe": fix.safe, "edits": edits}


def _place_to_dict(span: Span | None, file: str | None = None) -> dict[str, Any]:
    """Where something is."""
    names = ("line", "column", "end_line", "end_column")
    if span is None:
        return {"file": file, **dict.fromkeys(names)}
    place = (*span.source.position(span.start), *span.source.position(span.end))
    return {"file": span.source.name, **dict(zip(names, place, strict=True))}
