"""One HTML page of a workspace: self-contained, inert, and the same bytes for the same files.

The page is this package's own markup, style and script, and the survey as JSON between them. A
policy in the page allows exactly that script and that style, by their hashes, and nothing else: no
network, no image, no frame. The script writes text only as text, so nothing that a file contains
becomes markup; invisible and reordering characters are escapes before they get here.
"""

from __future__ import annotations

import base64
import hashlib
import json
import pkgutil
import re
from collections.abc import Iterable
from typing import Any

from equipage import __version__
from equipage.clients.grants import Grant
from equipage.core.diagnostics import Diagnostic
from equipage.core.source import Outline, Span
from equipage.core.text import lazy_regex, visible
from equipage.effect.budget import Measure
from equipage.effect.reach import Answer, Matrix
from equipage.render.effect import lines_of_reach
from equipage.render.json import shows_secret
from equipage.render.survey import LockState, Places, Survey, Value
from equipage.render.text import Style, line_to_show

#: How much of one text is shown, and how much room findings and values may take, in characters.
_LONGEST, _LONGEST_NAME = 1_200, 240
_ROOM_FINDINGS, _ROOM_VALUES = 1_400_000, 2_200_000
#: Of a long line in an excerpt, this much is shown before, in and after the marked part.
_BEFORE, _MARKED, _AFTER = 60, 120, 80
#: How many changes since the lock are listed.
_MAX_LOCK_LINES = 100
#: What follows a name that says it is a secret; a variable is none.
_NAMED_SECRET = lazy_regex(
    r"(?:api[_-]?key|token|secret|password|passwd|credentials?|authorization)[\"']?"
    r"\s*[:=,]\s*[\"']?(?:bearer\s+)?([^\s\"',}\]${]{6,})",
    re.IGNORECASE,
)
_PASSWORD = lazy_regex(r"://[^\s/:@]*:([^\s/@]+)@")
#: The letter of each state in a matrix; a capital letter is a default that no file says.
_STATES = {"allows": "a", "partly": "p", "asks": "k", "denies": "d", "unknown": "u"}


def render(survey: Survey, title: str, *, base: str = "") -> str:
    """The page. Names of files below the folder `base` are shown from there."""
    style, script = _asset("page.css"), _asset("page.js")
    policy = "; ".join(
        (
            "default-src 'none'",
            f"script-src '{_csp_hash(script)}'",
            f"style-src '{_csp_hash(style)}'",
            "base-uri 'none'",
            "form-action 'none'",
            "require-trusted-types-for 'script'",
            "trusted-types 'none'",
        )
    )
    # No text that goes in can hold a mark: `<` is escaped in all that comes from files.
    page = _asset("page.html")
    for mark, text in (
        ("TITLE", _escape_html(_safe_name(title))),
        ("POLICY", policy),
        ("STYLE", style),
        ("DATA", _json_for_html(to_dict(survey, title, base=base))),
        ("SCRIPT", script),
    ):
        page = page.replace(f"<!--{mark}-->", text)
    return page


def _asset(name: str) -> str:
    data = pkgutil.get_data(__name__, name)
    assert data is not None  # it is part of the package
    return data.decode("utf-8")


def _csp_hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode()


def _escape_html(text: str) -> str:
    for letter, entity in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ('"', "&quot;")):
        text = text.replace(letter, entity)
    return text


def _json_for_html(value: Any) -> str:
    """JSON that no HTML parser takes for anything else."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    # `</script>` would end the data, and the two separators end a line in old browsers.
    for letter in "<>&\u2028\u2029":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return text


def _safe_text(text: str, longest: int = _LONGEST) -> str:
    """A text that is safe to look at, and not too long for a page."""
    if len(text) <= longest:
        return visible(text)
    return f"{visible(text[:longest])}… ({len(text):,} characters)"


def _hide_named_secrets(line: str) -> str:
    """Mask values that follow the name of a secret; the length of the line stays."""

    def hide(match: re.Match[str]) -> str:
        start, end = match.start(1) - match.start(), match.end(1) - match.start()
        return match.group()[:start] + "*" * (end - start) + match.group()[end:]

    return _PASSWORD.sub(hide, _NAMED_SECRET.sub(hide, line))


def _safe_name(text: str) -> str:
    return _safe_text(text, _LONGEST_NAME)


# ------------------------------------------------------------------------------------ the data


class _FileNumbers:
    """The names of files by number: a page names each of them many times.

    Names start below `base`, so that the page does not reveal where the folder is.
    """

    def __init__(self, base: str) -> None:
        self.base = f"{base}/" if base else ""
        self.numbers: dict[str, int] = {}

    def shorten(self, text: str) -> str:
        """A text with names of files from the base on."""
        return text.replace(self.base, "") if self.base else text

    def __call__(self, name: str | None) -> int:
        return -1 if name is None else self.numbers.setdefault(name, len(self.numbers))


def to_dict(survey: Survey, title: str, *, base: str = "") -> dict[str, Any]:
    """Everything the page shows, as plain data."""
    files = _FileNumbers(base)
    report = survey.report
    kinds = {each.path: each.kind for each in report.files}
    data = {
        "version": 1,
        "equipage": __version__,
        "title": _safe_name(title),
        "summary": {
            "files": len(report.files),
            "errors": len(report.errors),
            "warnings": len(report.warnings),
            "notes": len(report.notes),
        },
        "findings": _findings(report.diagnostics, files, kinds),
        "sheets": [
            {
                "file": files(each.path),
                "kind": each.kind or "",
                "ok": each.ok,
                "users": [files(name) for name in each.used_by[:50]],
            }
            for each in report.files
        ],
        "items": [
            [
                each.item.sort if each.item is not None else "file",
                _safe_name(each.item.name) if each.item is not None else "",
                files(each.file),
                each.layer or "",
                files(each.shadowed_by),
                _safe_name(each.program or ""),
            ]
            for each in survey.items
        ],
        "graph": _graph(survey, files),
        "matrices": [_matrix(each, survey, files) for each in survey.matrices],
        "budget": [_measure(each, files) for each in survey.budget],
        "values": _values(survey, files),
        "unread": [
            [_safe_name(each.sort), [files(name) for name in each.files]] for each in survey.unread
        ],
    }
    data["lock"] = None if survey.lock is None else _lock(survey.lock, files)
    return {**data, "files": [_safe_name(files.shorten(name)) for name in files.numbers]}


def _findings(
    found: Iterable[Diagnostic], files: _FileNumbers, kinds: dict[str, str | None]
) -> list[dict[str, Any]]:
    room, made = _ROOM_FINDINGS, []
    for each in found:
        # Every finding has a row; once the room is used up, rows come without their excerpts.
        row = _finding(each, files, kinds, frames=room > 0)
        room -= len(json.dumps(row, ensure_ascii=False))
        made.append(row)
    return made


def _finding(
    each: Diagnostic, files: _FileNumbers, kinds: dict[str, str | None], *, frames: bool
) -> dict[str, Any]:
    line, column = (0, 0) if each.span is None else each.span.source.position(each.span.start)
    row: dict[str, Any] = {
        "code": each.code,
        "severity": each.severity,
        "message": _safe_text(_hide_named_secrets(files.shorten(each.message))),
        "path": _safe_name(each.path),
        "file": files(each.name),
        "line": line,
        "column": column,
        "kind": kinds.get(each.name or "") or "",
    }
    if each.count > 1:
        row["count"] = each.count
    if not frames:
        return row
    if each.span is not None:
        row["frame"] = marked_line(each.span)
    if each.help:
        row["help"] = _safe_text(_hide_named_secrets(files.shorten(each.help)))
    # The text of a fix may repeat the value that it replaces.
    if each.fix is not None and not shows_secret(each.fix):
        row["fix"] = [_safe_text(each.fix.message), each.fix.safe]
    if each.related:
        row["related"] = [
            {
                "message": _safe_text(label.message),
                "file": files(label.span.source.name if label.span is not None else None),
                "line": label.span.line if label.span is not None else 0,
                "frame": None if label.span is None else marked_line(label.span),
            }
            for label in each.related[:8]
        ]
    return row


def marked_line(span: Span) -> list[Any] | None:
    """The line that a span starts on: its number, and its text before, in and after the mark."""
    if isinstance(span.source, Outline) or span.source.outside:
        return None
    number, column = span.source.position(span.start)
    line = _hide_named_secrets(line_to_show(span.source, number))
    start = column - 1
    # At least one column is marked, also for what is missing, but not beyond the line.
    end = min(start + max(1, span.end - span.start), max(len(line), column))
    before, marked, after = line[:start], line[start:end], line[end:]
    if len(before) > _BEFORE:
        before = "…" + before[-_BEFORE:]
    if len(marked) > _MARKED:
        marked, after = marked[:_MARKED] + "…", ""
    if len(after) > _AFTER:
        after = after[:_AFTER] + "…"
    return [number, *(visible(each.replace("\t", "    ")) for each in (before, marked, after))]


def _graph(survey: Survey, files: _FileNumbers) -> dict[str, Any]:
    numbers = {node.name: number for number, node in enumerate(survey.graph.nodes)}
    return {
        "nodes": [
            [
                node.sort,
                _safe_name(files.shorten(node.label or node.name)),
                _safe_name(node.kind or ""),
                files(node.name.partition("#")[0]) if node.kind or "#" in node.name else -1,
                (0 if node.ok else 1) + (2 if node.missing else 0),
            ]
            for node in survey.graph.nodes
        ],
        "edges": [
            [numbers[edge.source], numbers[edge.target], _safe_name(edge.how), edge.count]
            for edge in survey.graph.edges
        ],
    }


def _matrix(matrix: Matrix, survey: Survey, files: _FileNumbers) -> dict[str, Any]:
    """A matrix with one letter for each cell, and every grant once."""
    grants: dict[Grant, int] = {}
    agents = [
        {"name": _safe_name(agent.name), "file": files(agent.file), **_agent_cells(answers, grants)}
        for agent, answers in zip(matrix.agents, matrix.answers, strict=True)
    ]
    return {
        "program": _safe_name(matrix.program),
        "left_out": matrix.left_out,
        "columns": [[each.sort, _safe_name(each.name)] for each in matrix.columns],
        "agents": agents,
        "grants": [_grant(grant, survey.places, files) for grant in grants],
    }


def _agent_cells(answers: tuple[Answer | None, ...], grants: dict[Grant, int]) -> dict[str, Any]:
    """The cells of an agent. Reasons are numbers of grants; cells with equal reasons share them."""
    reasons: dict[tuple[Grant, ...], int] = {}
    states, numbers, values = "", [], {}
    for column, each in enumerate(answers):
        states += _state_letter(each)
        kept = () if each is None else each.reasons[:12]
        # Many cells of an agent have one reason, so reasons are numbered.
        numbers.append(reasons.setdefault(kept, len(reasons)))
        if each is not None and each.value:
            values[str(column)] = _safe_name(each.value)
    named = [[grants.setdefault(grant, len(grants)) for grant in group] for group in reasons]
    return {"states": states, "why": numbers, "reasons": named, "values": values}


def _state_letter(each: Answer | None) -> str:
    """The state of a cell as a letter, a capital one for a default."""
    letter = "-" if each is None else _STATES[each.state]
    return letter.upper() if each is not None and each.is_default else letter


def _grant(grant: Grant, places: Places, files: _FileNumbers) -> list[Any]:
    place = places.get((grant.file, grant.field))
    file = grant.file if place is None or place.file is None else place.file
    line = 0 if place is None else place.line or 0
    what = f"{grant.effect} {grant.sort} {grant.name}"
    return [_safe_name(what), files(file), line, _safe_name(grant.field), int(grant.default)]


def _measure(each: Measure, files: _FileNumbers) -> dict[str, Any]:
    limit = each.limit
    return {
        "client": each.client,
        "folder": _safe_name(files.shorten(f"{each.folder}/").rstrip("/") or "."),
        "what": each.what,
        "used": each.used,
        "unit": each.unit,
        "tokens": each.tokens,
        "limit": None if limit is None else limit.size,
        "beyond": "" if limit is None else limit.beyond,
        "basis": ""
        if limit is None
        else f"{limit.basis}: {_safe_name(files.shorten(limit.source))}",
        "over": each.is_over,
        "parts": [
            [_safe_name(part.name), files(part.file), part.size, int(part.over)]
            for part in each.parts[:12]
        ],
        "more": max(0, len(each.parts) - 12),
    }


def _lock(lock: LockState, files: _FileNumbers) -> dict[str, Any]:
    changes, lines = lock.changes, []
    if changes is None:
        lines.append(f"It cannot be used: {lock.problem}")
    else:
        style = Style()
        lines += [line for each in changes.reach for line in lines_of_reach(each, style)]
        lines += [f"meaning changed: {name}: {what}" for name, what in changes.meaning]
        for word in ("changed", "added", "removed"):
            lines += [f"source {word}: {name}" for name in getattr(changes, word)]
    same = changes is not None and not changes.matters and not changes.has_source_changes
    shown = [_safe_text(files.shorten(line)) for line in lines[:_MAX_LOCK_LINES]]
    if len(lines) > _MAX_LOCK_LINES:
        shown.append(f"and {len(lines) - _MAX_LOCK_LINES} more; run `equipage verify`")
    return {"file": files(lock.file), "same": same, "lines": shown}


def _values(survey: Survey, files: _FileNumbers) -> list[list[Any]]:
    """The values by file. If there are too many for one page, the last files go without."""
    room, made = _ROOM_VALUES, []
    for each in survey.values:
        rows = [_value(value, files) for value in each.values] if room > 0 else []
        room -= sum(len(json.dumps(row, ensure_ascii=False)) for row in rows)
        # The reader is shown how many values a page of bounded size leaves out.
        left_out = each.more + len(each.values) - len(rows)
        made.append([files(each.file), rows, left_out])
    return made


def _value(value: Value, files: _FileNumbers) -> list[Any]:
    steps = [
        [
            _safe_name(step.how),
            files(step.file),
            step.line or 0,
            step.column or 0,
            *([] if step.value is None else [_safe_name(step.value)]),
        ]
        for step in value.steps
    ]
    row = [_safe_name(value.path), _safe_name(value.value), steps]
    return [*row, [_safe_name(each) for each in value.variables]] if value.variables else row
