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

from equipage.clients.grant_rows import (
    Row,
    Subject,
    allows,
    allows_each_value,
    allows_names_among,
    denies,
    hooks,
    mode,
    narrows,
    servers,
    whole_file,
    widens,
)
from equipage.clients.grants import EFFECTS, EVERYTHING, Effect, Grant, Precedence, Reach
from equipage.clients.mcp import dialect_of
from equipage.clients.tables import grants_claude as claude
from equipage.clients.tables import grants_editors as editors
from equipage.clients.tables import grants_terminals as terminals
from equipage.clients.tables.conventions import CONVENTIONS
from equipage.core.path import ROOT, Path, get, walk
from equipage.formats.defect.settings import DEFAULT_SANDBOX, SANDBOXES
from equipage.loading.format import Format, Sensitive

#: Findings about the policy of a project.
_POLICY_CODES = ("policy-forbids", "policy-not-pinned")

#: kind → what has a reach in a file of it, and by which fields
TABLES: dict[str, tuple[Subject, ...]] = {
    **claude.TABLES,
    **editors.TABLES,
    **terminals.TABLES,
    # The seeds' own kinds.
    "profile": whole_file(
        Row(("tools", "allow"), "tool", allows("x").read, otherwise="denies"), hooks("hooks")
    ),
    "settings": whole_file(
        mode("sandbox/mode", *SANDBOXES, default=DEFAULT_SANDBOX),
        widens("tools/fetch/enabled", default=True),
        mode("capabilities/web_search/mode", "disabled", "delegate", default="disabled"),
        servers("mcp/servers"),
        hooks("hooks"),
        allows("providers/*/base_url", "host"),
        allows("providers/*/auth_header", "variable"),
        allows("providers/*/api_key_env", "variable"),
        allows_each_value("providers/*/headers"),
        allows_each_value("http/proxy", "host"),
    ),
    # The settings of equipage itself: what is not looked at is not judged, and a policy that
    # forbids less lets agents do more.
    "project": whole_file(
        allows_each_value("exclude"),
        allows_each_value("include"),
        narrows("conventions", default=True),
        allows_each_value("kinds"),
        allows_each_value("own-keys"),
        allows_names_among("ignore", *_POLICY_CODES),
        allows_names_among("per-file-ignores/*", *_POLICY_CODES),
        *(denies(f"policy/never/{name}s", name) for name in ("tool", "server", "host", "program")),
        denies("policy/never/modes", "setting"),
        narrows("policy/pins"),
        allows_each_value("policy/may-widen"),
        sort="settings",
    ),
    "agent_md": whole_file(Row(("profile", "tools"), "tool", allows("x").read, otherwise="denies")),
    "blueprint": tuple(
        Subject((Row(at, "tool", allows("x").read, otherwise="denies"),), (group, "*"), "agent")
        for group, at in (
            ("agents", ("profile", "tools")),
            ("operators", ("profile", "tools")),
            ("runners", ("runner", "tools")),
        )
    ),
    "toolpack": whole_file(
        allows("caps/network", "host"),
        allows("caps/filesystem/read", "path"),
        Row(("caps", "filesystem", "write"), "path", allows("x").read),
        widens("caps/subprocess"),
        allows("env/passthrough", "variable"),
        allows_each_value("execution", "program"),
        allows_each_value("timeoutMs"),
        allows_each_value("limits"),
        sort="tool",
    ),
}


#: The programs whose formats are kinds of their own; those of conventions are in their tables.
_PROGRAMS = {
    "server": "ThoughtJack",
    "blueprint": "mlua_swarm",
    "agent_md": "mlua_swarm",
    "toolpack": "RAGX",
    "profile": "defect",
    "settings": "defect",
    "skill": "any program with skills",
    "mcp": "any MCP client",
    "project": "equipage",
    "claude-plugin-settings": "Claude Code",
    "claude-monitors": "Claude Code",
    "vscode-settings": "VS Code",
} | {each.kind: each.tool for each in reversed(CONVENTIONS)}


def program_of(kind: str) -> str:
    """The program that files of a kind are for."""
    return _PROGRAMS.get(kind, "another program")


def subjects_of(kind: str) -> tuple[Subject, ...] | None:
    """The table of a kind; None if there is none."""
    return TABLES.get(kind)


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
    subjects = TABLES.get(kind, ())
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
        row = mode("x", *each.order, default=each.default)
        yield from row.read(row, value, path)
        return
    effect: Effect = "allows" if each.widens == "more" else "denies"
    for grant in allows_each_value("x").read(allows_each_value("x"), value, path):
        if isinstance(get(value, grant.path[len(path) :], None), bool):
            switch = widens("x")
            yield from switch.read(switch, get(value, grant.path[len(path) :]), grant.path)
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
