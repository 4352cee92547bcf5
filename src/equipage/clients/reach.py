"""What agents may do, and by which file: tools, servers, programs, hosts, paths, skills, modes.

`reaches_of` reads one load, `add_inherited` adds to each agent what the settings, servers and
skills of its project give it, `compare_reaches` and `differences` compare. All are pure functions
of loads.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any

import msgspec

from equipage.clients.file_grants import program_of, subjects_of, value_with_defaults
from equipage.clients.mcp import dialect_of
from equipage.clients.rows import Row, allows_each_value, mode
from equipage.clients.subjects import Subject
from equipage.clients.values import (
    EFFECTS,
    EVERYTHING,
    SORTS,
    Effect,
    Grant,
    Reach,
    covers,
    is_unrestricted,
)
from equipage.core.path import ROOT, Path, get, walk
from equipage.effect.order import Difference, Step
from equipage.effect.order import difference_between as _ordered
from equipage.loading.format import Format, Sensitive
from equipage.loading.outcome import Outcome

__all__ = [
    "EFFECTS",
    "EVERYTHING",
    "SORTS",
    "Difference",
    "Effect",
    "Grant",
    "Reach",
    "Step",
    "add_inherited",
    "compare_by_patterns",
    "compare_reaches",
    "covers",
    "differences",
    "is_unrestricted",
    "reach_of_value",
    "reaches_of",
]

#: Sorts of subjects that add reach by existing. Settings only change the reach of others.
_ACTING_SORTS = frozenset({"agent", "command", "skill", "tool", "team"})


def reaches_of(outcome: Outcome, *, file: str | None = None) -> tuple[Reach, ...]:
    """The reach of everything that a loaded file describes; empty if it has errors.

    `file` is the name that people are shown, by default that of the source.
    """
    loaded = outcome.loaded_or_none()
    if loaded is None:
        return ()
    shown = outcome.kind.presentation
    if shown.ignored is not None and shown.ignored(outcome):
        return ()
    name = outcome.sources[0].name if file is None else file
    return reach_of_value(outcome.kind, loaded.to_dict(show_env=False), name)


def reach_of_value(
    kind: Format, plain: Any, file: str, *, usual_modes: bool = True
) -> tuple[Reach, ...]:
    """The reach of everything that the plain configuration of a file describes.

    Without `usual_modes`, modes that no field sets are left out: they are the same for everybody.
    """
    subjects = subjects_of(kind.name)
    if subjects is None:
        guessed = list(_guess_grants(kind.presentation.sensitive, plain, file))
        if not guessed:
            return ()
        grants = tuple(each for each in guessed if usual_modes or not _is_usual_mode(each))
        return (
            Reach(
                *_name_and_sort(kind, plain, file), kind.name, _program(kind, file), file, grants
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
        grants = _place_grants(_grants_of_plan(plan, plain), ROOT, file, usual_modes=usual_modes)
        name, listed = _name_and_sort(kind, plain, file)
        sort = subject.sort or listed
        # A list of servers has no name; that of the first server would change with the list.
        name = posixpath.basename(file) if sort == "servers" else name
        program, precedence = _program(kind, file), subject.precedence
        yield Reach(name, sort, kind.name, program, file, grants, precedence=precedence)
        return
    for path, value in _entries_at(plain, subject.at):
        if not isinstance(value, dict):
            continue
        named = (value.get(key) for key in subject.names)
        is_entry = isinstance(path[-1], int)
        name = next((each for each in named if isinstance(each, str)), "") if is_entry else ""
        grants = _place_grants(_grants_of_plan(plan, value), path, file, usual_modes=usual_modes)
        yield Reach(
            name or str(path[-1]),
            subject.sort,
            kind.name,
            _program(kind, file),
            file,
            grants,
            path=path,
            precedence=subject.precedence,
        )


def _name_and_sort(kind: Format, plain: Any, file: str) -> tuple[str, str]:
    """The name and the sort of a whole file."""
    item = next(iter(kind.presentation.listing(plain, file)), None)
    return (item.name, item.sort) if item is not None else (file, "file")


def _program(kind: Format, file: str) -> str:
    """The client that reads a file; lists of servers have one kind, whatever their client."""
    return dialect_of(file).tool if kind.name == "mcp" else program_of(kind.name)


def _place_grants(
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


def _guess_grants(sensitive: Sequence[Sensitive], plain: Any, file: str) -> Iterator[Grant]:
    for each in sensitive:
        if each.what == "permission":
            yield from _place_grants(_grants_by_pattern(each, plain), ROOT, file)


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
        yield from mode("x", *each.order, default=each.default).read(
            mode("x", *each.order, default=each.default), value, path
        )
        return
    effect: Effect = "allows" if each.widens == "more" else "denies"
    for grant in allows_each_value("x").read(allows_each_value("x"), value, path):
        if isinstance(get(value, grant.path[len(path) :], None), bool):
            switch = Row(
                (), "mode", allows_each_value("x").read, order=(False, True), default=False
            )
            yield from mode("x", *switch.order, default=False).read(
                switch, get(value, grant.path[len(path) :]), grant.path
            )
        else:
            yield msgspec.structs.replace(grant, effect=effect)
    yield _grant_for_rest(each, "denies" if effect == "allows" else "allows", path)


def _grants_of_absent(each: Sensitive, path: Path) -> Iterator[Grant]:
    """The grants that an absent permission means."""
    if each.order:
        row = mode("x", *each.order, default=each.default)
        if each.default in each.order:
            grant = next(row.read(row, each.default, path))
            yield msgspec.structs.replace(grant, default=True)
        elif each.absent == "everything":
            grant = next(row.read(row, "\0", path))
            yield msgspec.structs.replace(grant, name=f"{grant.mode} = anything", default=True)
    elif isinstance(each.default, tuple):
        yield from _grants_of_value(each, list(each.default), path)
    else:
        wide = each.widens == "fewer" or each.absent == "everything"
        yield _grant_for_rest(each, "allows" if wide else "denies", path, default=True)


def _grant_for_rest(each: Sensitive, effect: Effect, path: Path, *, default: bool = False) -> Grant:
    name = f"{'.'.join(step for step in path if isinstance(step, str))} = *"
    return Grant("setting", name, effect, path=path, base=True, default=default)


# Comparing.


def compare_reaches(
    before: Reach | None, after: Reach | None, kind: Format | None = None
) -> Difference:
    """How a reach changed, the farthest widening first.

    An agent that is new had no reach, one that is gone has none. Where settings are missing, what
    the client does without them counts; that needs the `kind`, or a reach to take it from.
    """
    if before is None and after is not None:
        before = _reach_when_absent(after, kind)
    elif after is None and before is not None:
        after = _reach_when_absent(before, kind)
    return _ordered(before, after)


def compare_by_patterns(sensitive: Sequence[Sensitive], before: Any, after: Any) -> Difference:
    """How two values differ in what they allow, by the patterns of their permissions alone."""
    sides = (
        Reach("", "settings", "", "", "", tuple(_guess_grants(sensitive, value, "")))
        for value in (before, after)
    )
    return _ordered(*sides)


def differences(before: Iterable[Reach], after: Iterable[Reach]) -> list[Difference]:
    """The subjects whose reach changed, those that widened most first."""
    old = {each.key: each for each in before}
    new = {each.key: each for each in after}
    found = [compare_reaches(old.get(key), new.get(key)) for key in dict.fromkeys((*old, *new))]
    return sorted((each for each in found if each.steps), key=lambda each: -each.far)


def _reach_when_absent(reach: Reach, kind: Format | None) -> Reach | None:
    """The reach that holds without a subject; None if there is none."""
    if reach.sort in _ACTING_SORTS:
        return None
    grants = _default_grants(reach.kind) if kind is None or subjects_of(kind.name) else ()
    if kind is not None and subjects_of(kind.name) is None:
        grants = tuple(_guess_grants(kind.presentation.sensitive, {}, reach.file))
    return msgspec.structs.replace(reach, grants=grants, inherited=())


@lru_cache(256)
def _default_grants(kind: str) -> tuple[Grant, ...]:
    """What holds for the whole of a kind without any file of it."""
    for subject in subjects_of(kind) or ():
        if not subject.at:
            grants = (each for row in subject.rows for each in row.grants({}))
            return _place_grants(grants, ROOT, "")
    return ()


# What an agent inherits from its project.

#: Folders of clients: what lies beside one is the project that it configures.
_CLIENT_FOLDERS = frozenset(
    {".claude", ".codex", ".gemini", ".qwen", ".opencode", ".cursor", ".github", ".vscode", ".roo"}
    | {".kiro", ".zed", ".amp", ".agents", ".defect", ".windsurf", "skills", "agents", ".copilot"}
)
#: Files of other clients that a client reads, as the beginning of their path in the project.
_ALSO_READ_PATHS = {
    "GitHub Copilot": (".mcp.json", ".claude/skills/", ".agents/skills/", ".github/skills/"),
    "Claude Code": (".claude/skills/",),
    "Codex": (".agents/skills/", ".codex/skills/"),
    "Gemini CLI": (".gemini/skills/", ".agents/skills/"),
    "OpenCode": (".opencode/skill", ".claude/skills/", ".agents/skills/"),
    "Cursor": (".cursor/skills/", ".agents/skills/", ".claude/skills/"),
    "Roo Code": (".agents/skills/", ".roo/skills/"),
    "defect": (".mcp.json", ".defect/"),
}
#: What an agent inherits: everything but who else there is.
_INHERITED_SORTS = frozenset(
    {"settings", "servers", "hooks", "policy", "plugin", "extension", "modes"}
)


def add_inherited(reaches: Sequence[Reach]) -> list[Reach]:
    """The reaches, each agent's with what its project gives it.

    Settings, servers and hooks count for the agents of their client in and below the folder that
    they configure; skills are there for every agent of a client that reads them.
    """
    giving = [each for each in reaches if each.sort in _INHERITED_SORTS or each.sort == "skill"]
    files = {each.file for each in giving}
    # The agents of a client in one folder inherit the same: one tuple for all of them.
    known: dict[tuple[str, str, str], tuple[Grant, ...]] = {}
    found: list[Reach] = []
    for each in reaches:
        if each.sort not in ("agent", "team"):
            found.append(each)
            continue
        key = (each.program, _configured_folder(each.file), each.file if each.file in files else "")
        if key not in known:
            known[key] = tuple(
                grant
                for other in giving
                if other.file != each.file and _counts_for(each, other)
                for grant in _inheritable_grants(other)
            )
        found.append(msgspec.structs.replace(each, inherited=known[key]))
    return found


def _counts_for(agent: Reach, other: Reach) -> bool:
    """Whether what a file says counts for an agent."""
    base = _configured_folder(other.file)
    inside = other.file[len(base) :].lstrip("/")
    same = other.program == agent.program or inside.startswith(
        _ALSO_READ_PATHS.get(agent.program, ("\0",))
    )
    return same and (not base or f"{_configured_folder(agent.file)}/".startswith(f"{base}/"))


def _inheritable_grants(other: Reach) -> Iterator[Grant]:
    if other.sort == "skill":
        yield Grant("skill", other.name, "allows", other.file)
        return
    yield from (each for each in other.grants if not each.default)


def _configured_folder(file: str) -> str:
    """The folder that a file configures: the one around the first folder of a client."""
    parts = posixpath.dirname(file).split("/")
    ends = [number for number, part in enumerate(parts) if part in _CLIENT_FOLDERS]
    return "/".join(parts[: ends[0]] if ends else parts)
