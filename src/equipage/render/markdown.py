"""Markdown, as a comment on a pull request: a headline, and a table of findings for each file.

Names and messages come from checked files, so everything that Markdown or HTML would act on is
escaped. GitHub refuses comments of more than 65,536 characters; what does not fit is counted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from equipage.core.diagnostics import SEVERITIES, Diagnostic
from equipage.core.text import visible
from equipage.render.text import Style, summary
from equipage.workspace.report import Report

#: Room for the last line is left.
_MAX_LENGTH = 64_000
_SIGNS = {"error": "❌", "warning": "⚠️", "note": "ℹ️"}
#: What Markdown and GitHub act on: emphasis, links, code, tables, HTML, mentions, references.
_MARKUP = re.compile(r"[\\`*_{}\[\]<>()#+!|~@&]")
#: Text between two backticks, once these are escaped.
_CODE = re.compile("&#96;(.*?)&#96;")


def render(report: Report) -> Iterator[str]:
    """The comment, piece by piece."""
    sign = "❌" if report.errors else "⚠️" if report.diagnostics else "✅"
    yield f"### {sign} equipage: {summary(report, Style()).rstrip()}\n"
    length, left = 0, len(report.diagnostics)
    name: str | None = ""
    for each in sorted(
        report.diagnostics, key=lambda each: (each.name or "", SEVERITIES.index(each.severity))
    ):
        head = ""
        if each.name != name:
            name = each.name
            title = _escape(name or "equipage")
            head = f"\n**{title}**\n\n| | line | finding |\n|---|---|---|\n"
        row = head + _row(each)
        length += len(row)
        if length > _MAX_LENGTH:
            yield f"\n… and {left:,} more\n"
            return
        yield row
        left -= 1


def _row(each: Diagnostic) -> str:
    line = str(each.span.line) if each.span is not None else ""
    code = f"`{each.code}`" if each.url is None else f"[`{each.code}`]({each.url})"
    where = f" at {_escape(each.path)}" if each.path else ""
    advice = f"<br>{_escape(each.help)}" if each.help else ""
    fix = f"<br>fix: {_escape(each.fix.message)}" if each.fix is not None else ""
    words = f"{code} {_escape(each.message)}{where}{advice}{fix}"
    return f"| {_SIGNS[each.severity]} | {line} | {words} |\n"


def _escape(text: str) -> str:
    """Text that is shown as it is, on one line; what is between backticks looks like code."""
    escaped = _MARKUP.sub(lambda match: f"&#{ord(match.group())};", " ".join(text.split("\n")))
    return _CODE.sub(r"<code>\1</code>", visible(escaped))
