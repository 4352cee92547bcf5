"""One HTML page of a workspace: self-contained, inert, and the same bytes for the same files.

The survey says what a check found, what there is, what it allows, costs and comes from. The page is
this package's own markup, style and script, and the survey as JSON between them. A policy in the
page allows exactly that script and that style, by their hashes, and nothing else: no network, no
image, no frame. The script writes text only as text, so nothing that a file contains becomes
markup; invisible and reordering characters are escapes before they get here.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import os
import pkgutil
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgspec

from equipage import __version__
from equipage.clients.grants import Grant, Reach
from equipage.clients.reading import read_folder
from equipage.core.diagnostics import Diagnostic
from equipage.core.path import Path, format_path, walk
from equipage.core.source import Outline, Span
from equipage.core.text import lazy_regex, visible
from equipage.effect.budget import Measure, budget_of
from equipage.effect.reach import Answer, Matrix, matrices
from equipage.files import System
from equipage.loading.pipeline import Outcome
from equipage.loading.project_root import project_of_folder
from equipage.loading.result import Explanation, Loaded, Paths, Setting
from equipage.loading.session import Request
from equipage.project.settings import projects_of
from equipage.record import lock as locks
from equipage.record.verify import Changes, compare
from equipage.render.effect import lines_of_reach
from equipage.render.json import shows_secret
from equipage.render.text import Style, line_to_show
from equipage.syntax.suspicious import SECRET_NAME, mask_secrets
from equipage.workspace import Workspace
from equipage.workspace.graph import Graph, Listed, graph_of, rows_of
from equipage.workspace.load import FileLoad, divide_guesses
from equipage.workspace.report import Report

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
_PASSWORD_IN_LINE = lazy_regex(r"://[^\s/:@]*:([^\s/@]+)@")
#: The letter of each state in a matrix, `c` where only commands do it; a capital letter is a
#: default that no file says.
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
        ("TITLE", html.escape(_safe_name(title), quote=False).replace('"', "&quot;")),
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

    return _PASSWORD_IN_LINE.sub(hide, _NAMED_SECRET.sub(hide, line))


def _safe_name(text: str) -> str:
    return _safe_text(text, _LONGEST_NAME)


# ----------------------------------------------------------------------------- the data of the page


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
    letter = "-" if each is None else "c" if each.by_commands else _STATES[each.state]
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
        rows = [_value_row(value, files) for value in each.values] if room > 0 else []
        room -= sum(len(json.dumps(row, ensure_ascii=False)) for row in rows)
        # The reader is shown how many values a page of bounded size leaves out.
        left_out = each.more + len(each.values) - len(rows)
        made.append([files(each.file), rows, left_out])
    return made


def _value_row(value: Value, files: _FileNumbers) -> list[Any]:
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


# --------------------------------------------------------------------------------- what is surveyed
# A check loads each file once, and the loads stay in memory until all questions are answered. This
# is made for a page that people look at, not for every run.

#: How many values of one file are explained; `equipage explain` shows any other.
MAX_VALUES = 200
#: How much of a value is shown.
_MAX_SHOWN = 160
_URL_PASSWORD = lazy_regex(r"(?<=://)([^\s/:@]*):[^\s/@]+@")


class Step(msgspec.Struct, frozen=True):
    """One place that had a say in a value."""

    how: str
    file: str | None = None
    line: int | None = None
    column: int | None = None
    value: str | None = None  #: what it says, if that is not what counts in the end


class Value(msgspec.Struct, frozen=True):
    """A value of a file, and where it comes from."""

    path: str
    value: str
    steps: tuple[Step, ...] = ()  #: empty: no file sets it
    variables: tuple[str, ...] = ()


#: Where a field is written, by the file that was loaded and the field.
Places = dict[tuple[str, str], Step]


class FileValues(msgspec.Struct, frozen=True):
    """The values of one file, and how many more there are."""

    file: str
    kind: str
    values: tuple[Value, ...]
    more: int = 0


class Unread(msgspec.Struct, frozen=True):
    """Files of a tool that nothing here reads."""

    sort: str
    files: tuple[str, ...]


class LockState(msgspec.Struct, frozen=True):
    """The lock of the project, and what changed since it was written."""

    file: str
    changes: Changes | None = None
    problem: str = ""  #: why it cannot be used


class Survey(msgspec.Struct, frozen=True):
    """Everything that a page shows of a workspace."""

    report: Report
    items: tuple[Listed, ...]
    graph: Graph
    budget: tuple[Measure, ...]
    values: tuple[FileValues, ...]
    unread: tuple[Unread, ...]
    matrices: tuple[Matrix, ...]
    places: Places  #: where the fields are that allow or deny
    lock: LockState | None = None  #: None: there is none


def survey_workspace(paths: Sequence[str], request: Request, *, kind: str | None = None) -> Survey:
    """What there is to see at and below `paths`; each file is loaded once.

    Raises `UsageError` for an unknown kind.
    """
    # What a page says must not depend on who makes it: the user's own files stay out.
    request = msgspec.structs.replace(request, options={**request.options, "local": True})
    workspace = Workspace(paths, request, kind=kind, digests=True, keeps=lambda _file: True)
    report = workspace.report()
    kept = [workspace.load(file) for file in workspace.files()]
    found = workspace.loads()
    outcomes = [each.outcome for each in found if each.outcome is not None]
    reaches = read_folder(*divide_guesses(found))
    return Survey(
        report,
        tuple(rows_of(found, request)),
        graph_of(outcomes),
        budget_of(found),
        tuple(_file_values(found, request)),
        tuple(_unread_files(kept, workspace.system)),
        matrices(reaches),
        places_of(outcomes, reaches),
        _lock_state(workspace, kept),
    )


def _lock_state(workspace: Workspace, kept: Sequence[FileLoad]) -> LockState | None:
    """Compare the project that all paths are in with its lock; None if it has none."""
    system, paths = workspace.system, workspace.paths
    roots = {project_of_folder(path, system) for path in paths}
    root = roots.pop() if len(roots) == 1 else None
    file = None if root is None else os.path.join(root, locks.LOCK_NAME)
    data = None if file is None else system.peek(file)
    if root is None or file is None or data is None:
        return None
    try:
        old = locks.read(data)
    except locks.LockError as error:
        return LockState(system.name_of(file), problem=str(error))
    here = [
        each for each in (os.path.join(root, path) for path in old.paths) if system.exists(each)
    ]
    programs = locks.holds_programs(old)
    is_whole = set(map(system.real, paths)) == set(map(system.real, here))
    if is_whole and {each.root for each in projects_of(workspace.run)} <= {root}:
        # Everything that the lock is about was loaded as the lock loads it.
        locked = (locks.lock_load(each, root, workspace.run) for each in kept)
        new, _ = locks.build_lock(locked, here, root, workspace.run, programs=programs)
    else:
        new, _ = locks.lock_all(here, root, workspace.request, programs=programs)
    return LockState(system.name_of(file), compare(old, new))


def places_of(outcomes: Iterable[Outcome], reaches: Iterable[Reach]) -> Places:
    """Where the fields are written that grants name, by file and field."""
    wanted: dict[str, dict[Path, None]] = {}
    for reach in reaches:
        for grant in reach.grants:
            if not grant.default:
                wanted.setdefault(grant.file, {})[grant.path] = None
    found: Places = {}
    for outcome in outcomes:
        name = outcome.sources[0].name if outcome.sources else ""
        if name in wanted and outcome.tree is not None:
            for path, placed in Paths(Loaded(outcome)).places(wanted[name]).items():
                if placed.span is not None:
                    found[name, format_path(path)] = Step("", *_place(placed.span))
    return found


# ----------------------------------------------------------------------------------------- values


def _file_values(found: Iterable[FileLoad], request: Request) -> Iterator[FileValues]:
    for each in found:
        if each.outcome is None or not each.outcome.sources:
            continue
        outcome, name = each.outcome, each.outcome.sources[0].name
        stack = outcome.kind.layering.stack
        merged = stack(each.path, request) if stack is not None else None
        values, more = values_of(merged or outcome)
        yield FileValues(name, outcome.kind.name, tuple(values), more)


def values_of(outcome: Outcome) -> tuple[list[Value], int]:
    """The values of a load with their origins, and how many are left out; none if it failed."""
    loaded = outcome.loaded_or_none()
    if loaded is None:
        return [], 0
    plain = loaded.to_dict()
    leaves = [
        path for path, part in walk(plain) if path and not (isinstance(part, dict | list) and part)
    ]
    wanted = leaves[:MAX_VALUES]
    stories = Paths(loaded).explanations(wanted)
    before = {path: entry_before(plain, path) for path in wanted}
    values = [_explained_value(path, story, before[path]) for path, story in stories.items()]
    return values, len(leaves) - len(wanted)


def entry_before(plain: Any, path: Path) -> str:
    """The list entry before `path`, which may be an option such as `--token`; else empty."""
    if not path or not isinstance(path[-1], int) or path[-1] == 0:
        return ""
    around = plain
    for step in path[:-1]:
        around = around[step]
    return str(around[path[-1] - 1])


def _explained_value(path: Path, story: Explanation, before: str) -> Value:
    shown = _show_value(path, story.value, before)
    steps = [
        *(_explained_step(each, path, before, shown) for each in story.settings),
        *(
            _explained_step(each, path, before, shown, through=True)
            for each in reversed(story.through)
        ),
    ]
    return Value(story.path or format_path(path), shown, tuple(steps), story.variables)


def _explained_step(
    each: Setting, path: Path, before: str, shown: str, *, through: bool = False
) -> Step:
    place = _place(each.span)
    said = None if through else _show_value(path, each.value, before)
    return Step(each.how, *place, None if said == shown else said)


def _place(span: Span | None) -> tuple[str | None, int | None, int | None]:
    return (None, None, None) if span is None else (span.source.name, span.line, span.column)


def _show_value(path: Path, value: Any, before: str) -> str:
    """A value on one line, without secrets."""
    if isinstance(value, str):
        text = value if len(value) <= 4 * _MAX_SHOWN else value[: 4 * _MAX_SHOWN]
        text = hide_secrets(path, text, before)
        cut = text[: _MAX_SHOWN - 1] + "…" if len(text) > _MAX_SHOWN else text
        return cut if len(text) == len(value) else f"{cut} ({len(value):,} characters)"
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= _MAX_SHOWN else f"{text[: _MAX_SHOWN - 1]}…"


def hide_secrets(path: Path, text: str, before: str = "") -> str:
    """A text without what looks like a secret, or is one by its name; variables stay."""
    text = _URL_PASSWORD.sub(r"\1:***@", mask_secrets(text))
    name = str(path[-1]) if path and isinstance(path[-1], str) else before.lstrip("-")
    option, sign, value = text.partition("=")
    if option.startswith("-") and sign and SECRET_NAME.search(option) and "$" not in value:
        return f"{option}=***"
    is_named = SECRET_NAME.search(name) is not None and (before.startswith("-") or not before)
    return "***" if is_named and text and "$" not in text and "{" not in text else text


# ------------------------------------------------------------------------------------ unread files


def _unread_files(kept: Iterable[FileLoad], system: System) -> Iterator[Unread]:
    """The files that a tool reads and equipage does not, by what they are."""
    sorts: dict[str, set[str]] = {}
    for each in kept:
        if each.unread is not None:
            sorts.setdefault(each.unread, set()).add(system.name_of(each.path))
    for sort, files in sorted(sorts.items()):
        yield Unread(sort, tuple(sorted(files)))
