"""A workspace as a whole: what a check found, what there is, what it allows, costs and comes from.

A check loads each file once, and the loads stay in memory until all questions are answered. This
is made for a page that people look at, not for every run.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import Any

import msgspec

from equipage.clients.file_grants import reaches_of
from equipage.clients.grants import Reach
from equipage.core.path import Path, format_path, walk
from equipage.core.source import Span
from equipage.core.text import lazy_regex
from equipage.effect.budget import Measure, budget_of
from equipage.effect.reach import Matrix, add_inherited, matrices
from equipage.files import exists, real_path
from equipage.files.reading import display_name, peek
from equipage.files.sandbox import is_below
from equipage.loading.outcome import Outcome
from equipage.loading.project_root import project_of_folder
from equipage.loading.result import Explanation, Paths, Setting
from equipage.loading.session import Request
from equipage.project.settings import project_of
from equipage.record import lock as lock_module
from equipage.record.verify import Changes, compare
from equipage.syntax.suspicious import mask_secrets
from equipage.workspace.check import check_paths
from equipage.workspace.graph import Graph, Listed, graph_of, rows_of
from equipage.workspace.load import FileLoad, identity_of, run_of, settled, with_folders
from equipage.workspace.report import Report

#: How many values of one file are explained; `equipage explain` shows any other.
MAX_VALUES = 200
#: How much of a value is shown.
_MAX_SHOWN = 160
#: A name that says that its value is a secret.
_SECRET_NAME = lazy_regex(
    r"(?:\A|[\W_])(?:api[_-]?key|key|token|secret|password|passwd|pass|credentials?|auth"
    r"|authorization|bearer|cookie)\Z",
    re.IGNORECASE,
)
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


def survey(paths: Sequence[str], request: Request, *, kind: str | None = None) -> Survey:
    """What there is to see at and below `paths`; each file is loaded once.

    Raises `UsageError` for an unknown kind.
    """
    # What a page says must not depend on who makes it: the user's own files stay out.
    request = msgspec.structs.replace(request, options={**request.options, "local": True})
    kept: list[FileLoad] = []
    report = check_paths(paths, request, kind=kind, keep=lambda _, load: kept.append(load))
    kept = [each for each in kept if _is_below_any(each.path, paths)]
    found = settled(_unique_loads(kept, request, paths))
    outcomes = [each.outcome for each in found if each.outcome is not None]
    reaches = add_inherited([reach for each in outcomes for reach in reaches_of(each)])
    return Survey(
        report,
        tuple(rows_of(found, request)),
        graph_of(outcomes),
        budget_of(found),
        tuple(_file_values(found, request)),
        tuple(_unread(kept)),
        matrices(reaches),
        places_of(outcomes, reaches),
        _lock_state(paths, request, kept),
    )


def _is_below_any(file: str, paths: Sequence[str]) -> bool:
    """Whether a file is at or below one of the paths; a check also loads what is around them."""
    absolute = os.path.abspath(file)
    return any(is_below(absolute, os.path.abspath(path)) for path in paths)


def _unique_loads(
    kept: Iterable[FileLoad], request: Request, paths: Sequence[str]
) -> Iterator[FileLoad]:
    """The loads, each file once whatever links lead to it."""
    run = run_of(with_folders(request, paths))
    seen: set[Hashable] = set()
    for each in kept:
        if each.outcome is not None:
            same = identity_of(each.outcome.kind, each.path, run.files)
            if same not in seen:
                seen.add(same)
                yield each


def _lock_state(
    paths: Sequence[str], request: Request, kept: Sequence[FileLoad]
) -> LockState | None:
    """Compare the project that all paths are in with its lock; None if it has none."""
    roots = {real_path(project_of_folder(path)) for path in paths}
    root = roots.pop() if len(roots) == 1 else None
    file = None if root is None else os.path.join(root, lock_module.LOCK_NAME)
    data = None if file is None else peek(file)
    if root is None or file is None or data is None:
        return None
    try:
        old = lock_module.read(data)
    except lock_module.LockError as error:
        return LockState(display_name(file), problem=str(error))
    here = [each for each in (os.path.join(root, path) for path in old.paths) if exists(each)]
    run = run_of(with_folders(request, here))
    programs = lock_module.holds_programs(old)
    is_whole = {real_path(each) for each in paths} == {real_path(each) for each in here}
    if is_whole and {project_of(each.path, run).root for each in kept} <= {root}:
        # Everything that the lock is about was loaded as the lock loads it.
        locked = (lock_module.lock_load(each, root, run) for each in kept)
        new, _ = lock_module.build_lock(locked, here, root, run, programs=programs)
    else:
        new, _ = lock_module.lock_all(here, root, request, programs=programs)
    return LockState(display_name(file), compare(old, new))


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
        loaded = outcome.loaded_or_none() if name in wanted else None
        if loaded is not None:
            for path, placed in Paths(loaded).places(wanted[name]).items():
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
    values = [_value(path, story, before[path]) for path, story in stories.items()]
    return values, len(leaves) - len(wanted)


def entry_before(plain: Any, path: Path) -> str:
    """The list entry before `path`, which may be an option such as `--token`; else empty."""
    if not path or not isinstance(path[-1], int) or path[-1] == 0:
        return ""
    around = plain
    for step in path[:-1]:
        around = around[step]
    return str(around[path[-1] - 1])


def _value(path: Path, story: Explanation, before: str) -> Value:
    shown = _show_value(path, story.value, before)
    steps = [
        *(_step(each, path, before, shown) for each in story.settings),
        *(_step(each, path, before, shown, through=True) for each in reversed(story.through)),
    ]
    return Value(story.path or format_path(path), shown, tuple(steps), story.variables)


def _step(each: Setting, path: Path, before: str, shown: str, *, through: bool = False) -> Step:
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
    if option.startswith("-") and sign and _SECRET_NAME.search(option) and "$" not in value:
        return f"{option}=***"
    is_named = _SECRET_NAME.search(name) is not None and (before.startswith("-") or not before)
    return "***" if is_named and text and "$" not in text and "{" not in text else text


# ------------------------------------------------------------------------------------ unread files


def _unread(kept: Iterable[FileLoad]) -> Iterator[Unread]:
    """The files that a tool reads and equipage does not, by what they are."""
    sorts: dict[str, set[str]] = {}
    for each in kept:
        if each.unread is not None:
            sorts.setdefault(each.unread, set()).add(display_name(each.path))
    for sort, files in sorted(sorts.items()):
        yield Unread(sort, tuple(sorted(files)))
