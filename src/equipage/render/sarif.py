"""SARIF 2.1.0, for code scanning.

Positions count code points, as everywhere in equipage. File names are relative to the working
directory, so that a log is the same on every machine. Text of a checked file cannot become a link
in a viewer: in a message with `[…](…)` the bracket is escaped, as the standard says.
"""

from __future__ import annotations

import hashlib
import os
import re
import string
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from urllib.parse import quote

from equipage import __version__
from equipage.core import codes as core_codes
from equipage.core.codes import BLOCKING
from equipage.core.diagnostics import Code, Diagnostic, Fix
from equipage.core.source import Span
from equipage.render.json import dump_json, shows_secret
from equipage.workspace.report import Report

SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)
#: The folder that relative URIs start at; a viewer knows where it is.
BASE = "%SRCROOT%"


def render(report: Report, codes: Mapping[str, Code]) -> str:
    return dump_json(to_dict(report, codes))


def to_dict(report: Report, codes: Mapping[str, Code]) -> dict[str, Any]:
    """The report as a SARIF log; `codes` explains the findings."""
    pages = {each.code: each.url for each in report.diagnostics}
    used = sorted(pages)
    found = zip(report.diagnostics, fingerprints(report.diagnostics), strict=True)
    succeeded = all(each.code != core_codes.INTERNAL_ERROR for each in report.diagnostics)
    driver = {
        "name": "equipage",
        "version": __version__,
        "semanticVersion": __version__,
        "rules": [_rule(name, codes.get(name), pages[name]) for name in used],
    }
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {
            BASE: {"description": {"text": "The folder that equipage was started in."}}
        },
        "invocations": [{"executionSuccessful": succeeded}],
        "results": [
            _result(each, used.index(each.code), fingerprint) for each, fingerprint in found
        ],
    }
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _rule(name: str, code: Code | None, url: str | None) -> dict[str, Any]:
    if code is None:
        return {"id": name}
    # `about` is a template like the message, but without values.
    about = code.words.about.replace("{{", "{").replace("}}", "}")
    ignore = f"\n\nTo ignore it on one line, write `equipage: ignore[{name}]` in a comment there."
    advice = about if name in BLOCKING else about + ignore
    # The message without its values: an ellipsis takes the place of each.
    parts = string.Formatter().parse(code.words.message)
    pieces = (text + ("" if value is None else "…") for text, value, _, _ in parts)
    return {
        "id": name,
        "name": "".join(word.capitalize() for word in name.split("-")),
        "shortDescription": {"text": "".join(pieces)},
        "fullDescription": {"text": about},
        "help": {"text": advice, "markdown": advice},
        "defaultConfiguration": {"level": code.severity},
        **({} if url is None else {"helpUri": url}),
    }


def _result(each: Diagnostic, rule: int, fingerprint: str) -> dict[str, Any]:
    text = each.message if each.help is None else f"{each.message}\n{each.help}"
    location = _location(each)
    result: dict[str, Any] = {
        "ruleId": each.code,
        "ruleIndex": rule,
        "level": each.severity,
        "message": {"text": _escape_links(text)},
        "locations": [location] if location else [],
        "partialFingerprints": {"equipage/v1": fingerprint},
    }
    if each.count > 1:
        result["occurrenceCount"] = each.count
    related = [
        {
            "id": number,
            "message": {"text": _escape_links(label.message)},
            "physicalLocation": _physical_location(label.span),
        }
        for number, label in enumerate(each.related, 1)
        if label.span is not None
    ]
    if related:
        result["relatedLocations"] = related
    if each.fix is not None and not shows_secret(each.fix):
        result["fixes"] = [_fix(each.fix)]
    return result


def _location(each: Diagnostic) -> dict[str, Any]:
    location: dict[str, Any] = {}
    if each.span is not None:
        location["physicalLocation"] = _physical_location(each.span)
    elif each.file is not None:
        location["physicalLocation"] = {"artifactLocation": _artifact_location(each.file)}
    if each.path:
        location["logicalLocations"] = [{"fullyQualifiedName": each.path}]
    return location


def _physical_location(span: Span) -> dict[str, Any]:
    return {"artifactLocation": _artifact_location(span.source.name), "region": _region(span)}


def _region(span: Span) -> dict[str, int]:
    line, column = span.source.position(span.start)
    end_line, end_column = span.source.position(span.end)
    return {"startLine": line, "startColumn": column, "endLine": end_line, "endColumn": end_column}


def _artifact_location(name: str) -> dict[str, str]:
    """A file as a URI: relative to the working directory, or absolute if it is outside."""
    escaped = quote(os.fsencode(name), safe="/")
    if name.startswith("/"):
        return {"uri": f"file://{escaped}"}
    if re.match(r"[A-Za-z]:/", name):  # a drive of Windows
        return {"uri": f"file:///{name[0]}:{quote(os.fsencode(name[2:]), safe='/')}"}
    return {"uri": escaped, "uriBaseId": BASE}


def _fix(fix: Fix) -> dict[str, Any]:
    files: dict[str, list[dict[str, Any]]] = {}
    for edit in fix.edits:
        replacement = {"deletedRegion": _region(edit.span), "insertedContent": {"text": edit.text}}
        files.setdefault(edit.span.source.name, []).append(replacement)
    changes = [
        {"artifactLocation": _artifact_location(name), "replacements": each}
        for name, each in files.items()
    ]
    return {"description": {"text": _escape_links(fix.message)}, "artifactChanges": changes}


def _escape_links(text: str) -> str:
    """Text that no viewer reads as a link."""
    return text.replace("](", "\\](")


def fingerprints(diagnostics: Sequence[Diagnostic]) -> Iterable[str]:
    """What identifies each finding in the next run, even if its line has moved.

    That is its code, file and path, and the text it is about; equal ones are numbered.
    """
    seen: dict[str, int] = {}
    for each in diagnostics:
        about = each.span.text().strip() if each.span is not None else ""
        parts = "\0".join((each.code, each.name or "", each.pointer, about))
        number = seen[parts] = seen.get(parts, 0) + 1
        data = f"{parts}\0{number}".encode("utf-8", "surrogateescape")
        yield hashlib.sha256(data).hexdigest()[:32]
