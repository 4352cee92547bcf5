"""SARIF 2.1.0, for code scanning.

Places are in code points, as everywhere in equipage. Files are named relative to where the run started, so that a log
is the same on every machine. Text of the checked files cannot become a link in a viewer: a message in which
`[…](…)` occurs has the bracket escaped, as the standard says.
"""

from __future__ import annotations

import hashlib
import os
import re
import string
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from urllib.parse import quote

from equipage._version import __version__
from equipage.core.codes import BLOCKING, Code
from equipage.core.diagnostics import Diagnostic, Fix, Label
from equipage.core.source import Span
from equipage.render.json import written
from equipage.workspace.report import Report

SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)
BASE = "%SRCROOT%"


def render(report: Report, codes: Mapping[str, Code]) -> str:
    return written(to_dict(report, codes))


def to_dict(report: Report, codes: Mapping[str, Code]) -> dict[str, Any]:
    """The report as a SARIF log; `codes` explains the findings."""
    used = sorted({each.code for each in report.diagnostics})
    prints = _fingerprints(report.diagnostics)
    run = {
        "tool": {
            "driver": {
                "name": "equipage",
                "version": __version__,
                "semanticVersion": __version__,
                "rules": [_rule(name, codes.get(name)) for name in used],
            }
        },
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {
            BASE: {"description": {"text": "The folder that equipage was started in."}}
        },
        "invocations": [
            {
                "executionSuccessful": all(
                    each.code != "internal-error" for each in report.diagnostics
                )
            }
        ],
        "results": [
            _result(each, used.index(each.code), fingerprint)
            for each, fingerprint in zip(report.diagnostics, prints, strict=True)
        ],
    }
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


# --------------------------------------------------------------------------------------------------- rules


def _rule(name: str, code: Code | None) -> dict[str, Any]:
    if code is None:
        return {"id": name}
    about = code.about.replace("{{", "{").replace("}}", "}")
    silence = f"\n\nTo silence it on one line, write `equipage: ignore[{name}]` in a comment there."
    advice = about if name in BLOCKING else about + silence
    return {
        "id": name,
        "name": "".join(word.capitalize() for word in name.split("-")),
        "shortDescription": {"text": _without_values(code.message)},
        "fullDescription": {"text": about},
        "help": {"text": advice, "markdown": advice},
        "defaultConfiguration": {"level": code.severity},
    }


def _without_values(template: str) -> str:
    """A sentence with an ellipsis for each value it would name."""
    parts = string.Formatter().parse(template)
    return "".join(text + ("…" if name is not None else "") for text, name, _, _ in parts)


# ------------------------------------------------------------------------------------------------- results


def _result(each: Diagnostic, rule: int, fingerprint: str) -> dict[str, Any]:
    text = each.message if each.help is None else f"{each.message}\n{each.help}"
    result: dict[str, Any] = {
        "ruleId": each.code,
        "ruleIndex": rule,
        "level": each.severity,
        "message": {"text": _plain(text)},
        "locations": [location] if (location := _location(each)) else [],
        "partialFingerprints": {"equipage/v1": fingerprint},
    }
    if each.count > 1:
        result["occurrenceCount"] = each.count
    related = [
        _related(label, number)
        for number, label in enumerate(each.related, 1)
        if label.span is not None
    ]
    if related:
        result["relatedLocations"] = related
    if each.fix is not None:
        result["fixes"] = [_fix(each.fix)]
    return result


def _location(each: Diagnostic) -> dict[str, Any] | None:
    location: dict[str, Any] = {}
    if each.span is not None:
        location["physicalLocation"] = _physical(each.span)
    elif each.file is not None:
        location["physicalLocation"] = {"artifactLocation": _artifact(each.file)}
    if each.path:
        location["logicalLocations"] = [{"fullyQualifiedName": each.path}]
    return location or None


def _related(label: Label, number: int) -> dict[str, Any]:
    assert label.span is not None
    return {
        "id": number,
        "message": {"text": _plain(label.message)},
        "physicalLocation": _physical(label.span),
    }


def _physical(span: Span) -> dict[str, Any]:
    return {"artifactLocation": _artifact(span.source.name), "region": _region(span)}


def _region(span: Span) -> dict[str, int]:
    line, column = span.source.position(span.start)
    end_line, end_column = span.source.position(span.end)
    return {"startLine": line, "startColumn": column, "endLine": end_line, "endColumn": end_column}


def _artifact(name: str) -> dict[str, str]:
    """A file as a URI: relative to the start of the run, or absolute if it lies elsewhere."""
    escaped = quote(os.fsencode(name), safe="/")
    if name.startswith("/"):
        return {"uri": f"file://{escaped}"}
    if re.match(r"[A-Za-z]:/", name):
        return {"uri": f"file:///{name[0]}:{quote(os.fsencode(name[2:]), safe='/')}"}
    return {"uri": escaped, "uriBaseId": BASE}


def _fix(fix: Fix) -> dict[str, Any]:
    files: dict[str, list[dict[str, Any]]] = {}
    for edit in fix.edits:
        replacement = {"deletedRegion": _region(edit.span), "insertedContent": {"text": edit.text}}
        files.setdefault(edit.span.source.name, []).append(replacement)
    changes = [
        {"artifactLocation": _artifact(name), "replacements": each} for name, each in files.items()
    ]
    return {"description": {"text": _plain(fix.message)}, "artifactChanges": changes}


def _plain(text: str) -> str:
    """Text that no viewer takes for a link."""
    return text.replace("](", "\\](")


def _fingerprints(diagnostics: Sequence[Diagnostic]) -> Iterable[str]:
    """What makes each finding the same in the next run, wherever its line has moved: code, file, path, and the text
    it is about; equal ones are numbered."""
    seen: dict[str, int] = {}
    for each in diagnostics:
        about = each.span.text().strip() if each.span is not None else ""
        parts = "\0".join((each.code, each.name or "", each.pointer, about))
        number = seen[parts] = seen.get(parts, 0) + 1
        yield hashlib.sha256(f"{parts}\0{number}".encode("utf-8", "surrogateescape")).hexdigest()[
            :32
        ]
