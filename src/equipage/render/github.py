"""Workflow commands of GitHub Actions: each finding becomes an annotation at its line.

A command is one line, `::error file=…,line=…::message`. Everything that could end the line, a
property or the properties is escaped, so that no text or name of a checked file can start a command
of its own, or act on a terminal.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator

from equipage.core.diagnostics import Diagnostic, Severity
from equipage.core.text import visible
from equipage.workspace.report import Report

#: The command for each severity.
_COMMANDS: dict[Severity, str] = {"error": "error", "warning": "warning", "note": "notice"}


def render(report: Report, *, prefix: str = "") -> Iterator[str]:
    """One line for each finding.

    `prefix` is the path from the root of the repository to the working directory.
    """
    return (command(each, prefix) for each in report.diagnostics)


def command(each: Diagnostic, prefix: str = "") -> str:
    properties = {**_place_properties(each, prefix), "title": f"equipage: {each.code}"}
    listed = ",".join(
        f"{name}={_escape_property(str(value))}" for name, value in properties.items()
    )
    # An annotation has one text: path and help go on lines of their own.
    at = f"at {each.path}" if each.path else None
    message = "\n".join(part for part in (each.message, at, each.help) if part is not None)
    return f"::{_COMMANDS[each.severity]} {listed}::{_escape_data(message)}\n"


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
