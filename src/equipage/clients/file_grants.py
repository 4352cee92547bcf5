"""What one loaded file grants: the table of its kind applied to its value.

The facts are those of the clients' documentation and of runs. Every field that restricts is
in a table; a test holds this.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any

import msgspec

from equipage.clients.grant_rows import Row
from equipage.clients.grant_words import Subject, make_row, subjects_in
from equipage.clients.grants import EFFECTS, EVERYTHING, Effect, Grant, Precedence, Reach
from equipage.clients.index import KINDS
from equipage.clients.mcp import dialect_of
from equipage.core.path import ROOT, Path, get, walk
from equipage.loading.format import Format, Sensitive

#: The programs of kinds without a table, or with several.
_PROGRAMS = {"server": "ThoughtJack", "skill": "any program with skills"}


def program_of(kind: str) -> str:
    """The program that files of a kind are for."""
    known = KINDS[kind].tool if kind in KINDS else "another program"
    return _PROGRAMS.get(kind, known)


def subjects_of(kind: str) -> tuple[Subject, ...] | None:
    """The table of a kind; None if there is none."""
    entry = KINDS.get(kind)
    return None if entry is None else subjects_in(entry.file) or None


@lru_cache(256)
def default_grants(kind: str, depth: int = 0) -> tuple[Grant, ...]:
    """What holds for the whole of a kind without any file of it; with a `depth`, for a subject in
    such a file that has so many keys above it."""
    for subject in subjects_of(kind) or ():
        if len(subject.at) == depth:
            grants = (each for row in subject.rows for each in row.grants({}))
            return place_grants(grants, ROOT, "")
    return ()


def precedence_of(kind: str) -> Precedence:
    """Which grant decides in files of a kind."""
    subjects = subjects_of(kind)
    return subjects[0].precedence if subjects else "strictest"


def value_with_defaults(kind: str, value: Any) -> Any:
    """The value with what its format gives an agent that says nothing."""
    if kind == "profile" and isinstance(value, dict) and not value.get("tools"):
        from equipage.formats.defect.profile_model import (
            READ_ONLY_TOOLS,  # its load imported it, too
        )

        return {**value, "tools": {"allow": list(READ_ONLY_TOOLS)}}
    return value


def reach_of_value(
    kind: Format, plain: Any, file: str, *, usual_modes: bool = True
) -> tuple[Reach, ...]:
    """The reach of everything that the plain configuration of a file describes.

    Without `usual_modes`, modes that no field sets are left out: they are the same for everybody.
    """
    subjects = subjects_of(kind.name)
    if subjects is None:
        guessed = list(guess_grants(kind.presentation.sensitive, plain, file))
        if not guessed:
            return ()
        grants = tuple(each for each in guessed if usual_modes or not _is_usual_mode(each))
        return (
            Reach(
                *name_and_sort(kind, plain, file),
                kind.name,
                program_of_file(kind, file),
                file,
                grants,
            ),
        )
    plain = value_with_defaults(kind.name, plain)
    found: list[Reach] = []
    for subject, plan in zip(subjects, _plans(kind.name), strict=True):
        found += _reaches_of_subject(kind, subject, plan, plain, file, usual_modes)
    return tuple(_number_equal_names(found)) if len(found) > 1 else tuple(found)


def _number_equal_names(reaches: Iterable[Reach]) -> Iterator[Reach]:
    """Number the reaches of one file that share a name, so that none hides another."""
    counts: dict[tuple[str, str], int] = {}
    for each in reaches:
        key = (each.sort, each.name)
        counts[key] = count = counts.get(key, 0) + 1
        name = f"{each.name} ({count})"
        yield each if count == 1 else msgspec.structs.replace(each, name=name)


def _is_usual_mode(grant: Grant) -> bool:
    return grant.default and grant.level is not None


#: The rows of a subject, each with its first key and with what it grants where that key is absent.
_Plan = tuple[tuple[Row, str, tuple[Grant, ...]], ...]


@lru_cache(256)
def _plans(kind: str) -> tuple[_Plan, ...]:
    """The rows of each subject of a kind. Most fields are absent from most files, so what that
    means is worked out once.
    """
    return tuple(
        tuple((row, row.at[0], tuple(row.grants({}))) for row in subject.rows)
        for subject in subjects_of(kind) or ()
    )


def _grants_of_plan(plan: _Plan, value: Any) -> Iterator[Grant]:
    """What the rows of a plan grant in a configuration."""
    known = value if isinstance(value, dict) else {}
    for row, key, absent in plan:
        if known.get(key) is None and key != EVERYTHING:
            yield from absent
        else:
            yield from row.grants(value)


def _reaches_of_subject(
    kind: Format, subject: Subject, plan: _Plan, plain: Any, file: str, usual_modes: bool
) -> Iterator[Reach]:
    if not subject.at:
        grants = place_grants(_grants_of_plan(plan, plain), ROOT, file, usual_modes=usual_modes)
        name, listed = name_and_sort(kind, plain, file)
        sort = subject.sort or listed
        # A list of servers has no name; that of the first server would change with the list.
        name = posixpath.basename(file) if sort == "servers" else name
        program, precedence = program_of_file(kind, file), subject.precedence
        yield Reach(name, sort, kind.name, program, file, grants, precedence=precedence)
        return
    for path, value in _entries_at(plain, subject.at):
        if not isinstance(value, dict):
            continue
        named = (value.get(key) for key in subject.names)
        is_entry = isinstance(path[-1], int)
        name = next((each for each in named if isinstance(each, str)), "") if is_entry else ""
        grants = place_grants(_grants_of_plan(plan, value), path, file, usual_modes=usual_modes)
        yield Reach(
            name or str(path[-1]),
            subject.sort,
            kind.name,
            program_of_file(kind, file),
            file,
            grants,
            path=path,
            precedence=subject.precedence,
        )


def name_and_sort(kind: Format, plain: Any, file: str) -> tuple[str, str]:
    """The name and the sort of a whole file."""
    item = next(iter(kind.presentation.listing(plain, file)), None)
    return (item.name, item.sort) if item is not None else (file, "file")


def program_of_file(kind: Format, file: str) -> str:
    """The client that reads a file; lists of servers have one kind, whatever their client."""
    return dialect_of(file).tool if kind.name == "mcp" else program_of(kind.name)


def place_grants(
    grants: Iterable[Grant], below: Path, file: str, *, usual_modes: bool = True
) -> tuple[Grant, ...]:
    """The grants with their file, and with paths from the root of the configuration.

    Where several rows say what usually holds for a sort, the narrowest counts.
    """
    bases: dict[str, Grant] = {}
    found: list[Grant] = []
    for each in grants:
        if not usual_modes and _is_usual_mode(each):
            continue
        # A row for no field in particular has a path that no file has.
        path = below if each.path == ("\0",) else (*below, *each.path)
        flags = (each.base, each.default, each.level, each.widest, each.usual)
        placed = Grant(each.sort, each.name, each.effect, file, path, *flags, each.hidden)
        if not each.base or each.name != EVERYTHING:
            found.append(placed)
        elif each.sort not in bases or _is_narrower(placed, bases[each.sort]):
            bases[each.sort] = placed
    return (*bases.values(), *found)


def _is_narrower(grant: Grant, other: Grant) -> bool:
    """Whether a grant takes precedence: a written one first, then a stricter one."""
    return (not grant.default, -EFFECTS.index(grant.effect)) > (
        not other.default,
        -EFFECTS.index(other.effect),
    )


def _entries_at(value: Any, at: tuple[str, ...], path: Path = ROOT) -> Iterator[tuple[Path, Any]]:
    if not at:
        yield path, value
    elif at[0] != EVERYTHING:
        inner = value.get(at[0]) if isinstance(value, dict) else None
        if inner is not None:
            yield from _entries_at(inner, at[1:], (*path, at[0]))
    else:
        entries: Any = value.items() if isinstance(value, dict) else ()
        for step, each in enumerate(value) if isinstance(value, list) else entries:
            yield from _entries_at(each, at[1:], (*path, step))


# Kinds without a table, such as those of installed packages: by what they call permissions.


_ANY_VALUE, _SWITCH = make_row("allows_each_value", "x"), make_row("widens", "x")


def guess_grants(sensitive: Sequence[Sensitive], plain: Any, file: str) -> Iterator[Grant]:
    for each in sensitive:
        if each.what == "permission":
            yield from place_grants(_grants_by_pattern(each, plain), ROOT, file)


def _grants_by_pattern(each: Sensitive, plain: Any) -> Iterator[Grant]:
    """What the values of one pattern grant. Its own pattern is part of each name."""
    expression = each.expression()
    fixed = tuple(each.pattern.split("."))
    paths = [
        path
        for path, _ in walk(plain)
        if expression.fullmatch("".join(f"{step}\0" for step in path))
    ]
    if not paths and EVERYTHING not in each.pattern:
        yield from _grants_of_absent(each, fixed)
    for path in paths:
        # A part of a value that was read as a whole counts once.
        if any(path[:depth] in paths for depth in range(len(path))):
            continue
        yield from _grants_of_value(each, get(plain, path), path)


def _grants_of_value(each: Sensitive, value: Any, path: Path) -> Iterator[Grant]:
    if each.order and not isinstance(value, dict | list):
        mode = make_row("mode", "x", order=each.order, default=each.default)
        yield from mode.read(mode, value, path)
        return
    effect: Effect = "allows" if each.widens == "more" else "denies"
    for grant in _ANY_VALUE.read(_ANY_VALUE, value, path):
        if isinstance(get(value, grant.path[len(path) :], None), bool):
            yield from _SWITCH.read(_SWITCH, get(value, grant.path[len(path) :]), grant.path)
        else:
            yield msgspec.structs.replace(grant, effect=effect)
    yield _grant_for_rest(each, "denies" if effect == "allows" else "allows", path)


def _grants_of_absent(each: Sensitive, path: Path) -> Iterator[Grant]:
    """The grants that an absent permission means."""
    if each.order:
        mode = make_row("mode", "x", order=each.order, default=each.default)
        if each.default in each.order:
            grant = next(mode.read(mode, each.default, path))
            yield msgspec.structs.replace(grant, default=True)
        elif each.absent == "everything":
            grant = next(mode.read(mode, "\0", path))
            yield msgspec.structs.replace(grant, name=f"{grant.mode} = anything", default=True)
    elif isinstance(each.default, tuple):
        yield from _grants_of_value(each, list(each.default), path)
    else:
        wide = each.widens == "fewer" or each.absent == "everything"
        yield _grant_for_rest(each, "allows" if wide else "denies", path, default=True)


def _grant_for_rest(each: Sensitive, effect: Effect, path: Path, *, default: bool = False) -> Grant:
    name = f"{'.'.join(step for step in path if isinstance(step, str))} = *"
    return Grant("setting", name, effect, path=path, base=True, default=default)
