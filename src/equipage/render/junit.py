"""JUnit XML, which most build servers show: a suite for each file, a failure for each finding.

A file without findings is a test that passes, so that the number of tests is that of the files.
Warnings and notes are not failures for a build server; they are the output of a test that passes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from xml.sax.saxutils import escape, quoteattr

from equipage.core.diagnostics import Diagnostic
from equipage.core.text import visible
from equipage.workspace.report import Report

#: What XML 1.0 cannot contain, escaped or not, beside what `visible` escapes.
_FORBIDDEN = re.compile("[\ufffe\uffff]")


def render(report: Report) -> Iterator[str]:
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
        yield f"  <testsuite name={_attribute(name)} {head}>\n"
        for each in found:
            yield _case(name, each)
        if not found:
            yield f"    <testcase classname={_attribute(name)} name={_attribute('check')}/>\n"
        yield "  </testsuite>\n"
    yield "</testsuites>\n"


def _case(name: str, each: Diagnostic) -> str:
    place = f"{name}:{each.span.line}:{each.span.column}" if each.span is not None else name
    title = f"{each.code} {each.path}".rstrip()
    text = "\n".join(filter(None, (f"{place}: {each.message}", each.help)))
    start = f"    <testcase classname={_attribute(name)} name={_attribute(title)}>"
    body = escape(_clean(text))
    if each.severity == "error":
        message = _attribute(each.message)
        inner = f"<failure type={_attribute(each.code)} message={message}>{body}</failure>"
    else:
        inner = f"<system-out>{each.severity}: {body}</system-out>"
    return f"{start}{inner}</testcase>\n"


def _attribute(text: str) -> str:
    return quoteattr(_clean(text))


def _clean(text: str) -> str:
    """Text that every XML parser reads: lines stay, other control characters become escapes."""
    lines = (visible(line) for line in text.split("\n"))
    return _FORBIDDEN.sub("\ufffd", "\n".join(lines))
