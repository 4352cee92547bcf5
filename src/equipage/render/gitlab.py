"""The Code Quality report of GitLab: a JSON array that merge requests show beside the lines.

GitLab tells new findings from old ones by their fingerprints, so these do not depend on lines.
"""

from __future__ import annotations

from typing import Any

from equipage.core.diagnostics import Diagnostic, Severity
from equipage.core.text import visible
from equipage.render.json import dump_json
from equipage.render.sarif import fingerprints
from equipage.workspace.report import Report

#: The words of GitLab; an error would break an agent, so it is `major`.
_SEVERITIES: dict[Severity, str] = {"error": "major", "warning": "minor", "note": "info"}


def render(report: Report, *, prefix: str = "") -> str:
    """The report. `prefix` is the path from the root of the repository to the working directory."""
    prints = fingerprints(report.diagnostics)
    return dump_json(
        [
            _issue(each, fingerprint, prefix)
            for each, fingerprint in zip(report.diagnostics, prints, strict=True)
        ]
    )


def _issue(each: Diagnostic, fingerprint: str, prefix: str) -> dict[str, Any]:
    line = each.span.line if each.span is not None else 1
    path = f"{prefix}/{each.name}" if prefix and each.name else each.name or "."
    description = f"{each.message} ({each.path})" if each.path else each.message
    return {
        "description": description if each.help is None else f"{description}; {each.help}",
        "check_name": each.code,
        "fingerprint": fingerprint,
        "severity": _SEVERITIES[each.severity],
        "location": {"path": visible(path), "lines": {"begin": line}},
    }
