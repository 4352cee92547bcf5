"""Reports for build services: annotations of GitHub, Code Quality of GitLab, JUnit XML, Markdown.

Names and messages come from checked files, so each format escapes what its reader would act on.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from typing import Any

from equipage.core.diagnostics import SEVERITIES, Diagnostic, Severity
from equipage.core.text import visible
from equipage.render.json import dump_json
from equipage.render.sarif import fingerprints
from equipage.render.text import Style, summary
from equipage.workspace.report import Report

# ---------------------------------------------------------------------------- annotations of GitHub
# A workflow command is one line, `::error file=…,line=…::message`. Everything that could end the
# line, a property or the properties is escaped, so that no text or name of a checked file can start
# a command of its own, or act on a terminal.

#: The command for each severity.
_WORKFLOW_COMMANDS: dict[Severity, str] = {"error": "error", "warning": "warning", "note": "notice"}


def render_github(report: Report, *, prefix: str = "") -> Iterator[str]:
    """One line for each finding.

    `prefix` is the path from the root of the repository to the working directory.
    """
    return (workflow_command(each, prefix) for each in report.diagnostics)


def workflow_command(each: Diagnostic, prefix: str = "") -> str:
    properties = {**_place_properties(each, prefix), "title": f"equipage: {each.code}"}
    listed = ",".join(
        f"{name}={_escape_property(str(value))}" for name, value in properties.items()
    )
    # An annotation has one text: path and help go on lines of their own.
    at = f"at {each.path}" if each.path else None
    message = "\n".join(part for part in (each.message, at, each.help) if part is not None)
    return f"::{_WORKFLOW_COMMANDS[each.severity]} {listed}::{_escape_data(message)}\n"


def _place_properties(each: Diagnostic, prefix: str) -> dict[str, object]:
    if each.name is None:
        return {}
    # Line ends in a name have an escape of their own; other control characters are made visible.
    name = "".join(letter if letter in "\r\n" else visible(letter) for letter in each.name)
    properties: dict[str, object] = {"file": posixpath.join(prefix, name)}
    if each.span is not None:
        line, column = each.span.source.position(each.span.start)
        end_line, end_column = each.span.source.position(each.span.end)
        properties |= {"line": line, "endLine": end_line}
        if line == end_line:  # GitHub reads columns only within one line
            properties |= {"col": column, "endColumn": end_column}
    return properties


def _escape_data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _escape_property(text: str) -> str:
    return _escape_data(text).replace(":", "%3A").replace(",", "%2C")


# --------------------------------------------------------------------------- Code Quality of GitLab
# A JSON array that merge requests show beside the lines. GitLab tells new findings from old ones by
# their fingerprints, so these do not depend on lines.

#: The words of GitLab; an error would break an agent, so it is `major`.
_GITLAB_SEVERITIES: dict[Severity, str] = {"error": "major", "warning": "minor", "note": "info"}


def render_gitlab(report: Report, *, prefix: str = "") -> str:
    """The report. `prefix` is the path from the root of the repository to the working directory."""
    found = zip(report.diagnostics, fingerprints(report.diagnostics), strict=True)
    return dump_json([_gitlab_issue(*each, prefix) for each in found])


def _gitlab_issue(each: Diagnostic, fingerprint: str, prefix: str) -> dict[str, Any]:
    line = each.span.line if each.span is not None else 1
    path = f"{prefix}/{each.name}" if prefix and each.name else each.name or "."
    description = f"{each.message} ({each.path})" if each.path else each.message
    return {
        "description": description if each.help is None else f"{description}; {each.help}",
        "check_name": each.code,
        "fingerprint": fingerprint,
        "severity": _GITLAB_SEVERITIES[each.severity],
        "location": {"path": visible(path), "lines": {"begin": line}},
    }


# ---------------------------------------------------------------------------------------- JUnit XML
# A suite for each file, a failure for each finding. A file without findings is a test that passes,
# so that the number of tests is that of the files. Warnings and notes are not failures for a build
# server; they are the output of a test that passes.

#: What XML 1.0 cannot contain, escaped or not, beside what `visible` escapes.
_IMPOSSIBLE_IN_XML = re.compile("[\ufffe\uffff]")


def render_junit(report: Report) -> Iterator[str]:
    """The document, piece by piece."""
    by_file: dict[str, list[Diagnostic]] = {each.path: [] for each in report.files}
    for each in report.diagnostics:
        by_file.setdefault(each.name or "equipage", []).append(each)
    tests = sum(max(1, len(found)) for found in by_file.values())
    yield '<?xml version="1.0" encoding="utf-8"?>\n'
    yield f'<testsuites name="equipage" tests="{tests}" failures="{len(report.errors)}">\n'
    for name, found in by_file.items():
        failures = sum(each.severity == "error" for each in found)
        head = f'tests="{max(1, len(found))}" failures="{failures}"'
        yield f"  <testsuite name={_xml_attribute(name)} {head}>\n"
        for each in found:
            yield _test_case(name, each)
        if not found:
            yield f'    <testcase classname={_xml_attribute(name)} name="check"/>\n'
        yield "  </testsuite>\n"
    yield "</testsuites>\n"


def _test_case(name: str, each: Diagnostic) -> str:
    from xml.sax.saxutils import escape  # slow to import, and other formats do not need it

    place = f"{name}:{each.span.line}:{each.span.column}" if each.span is not None else name
    title = f"{each.code} {each.path}".rstrip()
    text = "\n".join(filter(None, (f"{place}: {each.message}", each.help)))
    start = f"    <testcase classname={_xml_attribute(name)} name={_xml_attribute(title)}>"
    body = escape(_xml_text(text))
    if each.severity == "error":
        message = _xml_attribute(each.message)
        inner = f"<failure type={_xml_attribute(each.code)} message={message}>{body}</failure>"
    else:
        inner = f"<system-out>{each.severity}: {body}</system-out>"
    return f"{start}{inner}</testcase>\n"


def _xml_attribute(text: str) -> str:
    from xml.sax.saxutils import quoteattr

    return quoteattr(_xml_text(text))


def _xml_text(text: str) -> str:
    """Text that every XML parser reads: lines stay, other control characters become escapes."""
    lines = (visible(line) for line in text.split("\n"))
    return _IMPOSSIBLE_IN_XML.sub("\ufffd", "\n".join(lines))


# ----------------------------------------------------------------------------------------- Markdown
# A comment on a pull request: a headline, and a table of findings for each file. GitHub refuses
# comments of more than 65,536 characters; what does not fit is counted.

#: Room for the last line is left.
_MAX_COMMENT = 64_000
_SEVERITY_SIGNS = {"error": "❌", "warning": "⚠️", "note": "ℹ️"}
#: What Markdown and GitHub act on: emphasis, links, code, tables, HTML, mentions, references.
_MARKDOWN_SYNTAX = re.compile(r"[\\`*_{}\[\]<>()#+!|~@&]")
#: Text between two backticks, once these are escaped.
_BETWEEN_BACKTICKS = re.compile("&#96;(.*?)&#96;")


def render_markdown(report: Report) -> Iterator[str]:
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
            title = _escape_markdown(name or "equipage")
            head = f"\n**{title}**\n\n| | line | finding |\n|---|---|---|\n"
        row = head + _markdown_row(each)
        length += len(row)
        if length > _MAX_COMMENT:
            yield f"\n… and {left:,} more\n"
            return
        yield row
        left -= 1


def _markdown_row(each: Diagnostic) -> str:
    line = str(each.span.line) if each.span is not None else ""
    code = f"`{each.code}`" if each.url is None else f"[`{each.code}`]({each.url})"
    where = f" at {_escape_markdown(each.path)}" if each.path else ""
    advice = f"<br>{_escape_markdown(each.help)}" if each.help else ""
    fix = f"<br>fix: {_escape_markdown(each.fix.message)}" if each.fix is not None else ""
    words = f"{code} {_escape_markdown(each.message)}{where}{advice}{fix}"
    return f"| {_SEVERITY_SIGNS[each.severity]} | {line} | {words} |\n"


def _escape_markdown(text: str) -> str:
    """Text that is shown as it is, on one line; what is between backticks looks like code."""
    escaped = _MARKDOWN_SYNTAX.sub(
        lambda match: f"&#{ord(match.group())};", " ".join(text.split("\n"))
    )
    return _BETWEEN_BACKTICKS.sub(r"<code>\1</code>", visible(escaped))
