"""One side of a comparison: what loads in a workspace, and what cannot be judged there.

Its system is the disk or a revision. `find_unjudged` names the files that do not load on one side,
so that they neither hide the others nor pass unseen, and the files that differ and that a tool
reads but equipage does not.
"""

from __future__ import annotations

import hashlib
import os
import posixpath
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from equipage.clients.catalogue import client_of
from equipage.clients.file_grants import name_and_sort, program_of_file
from equipage.clients.grant_words import make_row
from equipage.clients.grants import Reach
from equipage.clients.launchers import split_command
from equipage.clients.mcp import dialect_of
from equipage.clients.plugins import OWNERS, all_parts
from equipage.clients.reading import (
    CLIENT_FOLDERS,
    client_folder,
    reaches_of,
    reading_of,
    unknown_keys_of,
)
from equipage.clients.unread import CODEX_RULE, EDITOR, HOOK_FILE, LINK_TO_NOTHING, SUBMODULE, TASKS
from equipage.core import codes
from equipage.core.diagnostics import Diagnostic
from equipage.core.path import Path, format_path, walk
from equipage.core.source import Span
from equipage.effect.reach import (
    Difference,
    difference_between,
    differences,
    leaves_nothing,
    mentions_any,
    names_in_rules,
    reaches_of_part,
    servers_gone,
)
from equipage.files import System, is_below
from equipage.files.walking import Names, NoWantedFiles
from equipage.files.walking import walk as walk_folder
from equipage.loading.pipeline import Outcome
from equipage.loading.session import Run
from equipage.project.settings import load_project_settings, projects_of
from equipage.record.diff import canonical_text
from equipage.workspace import Workspace
from equipage.workspace.find import File
from equipage.workspace.load import FileLoad, load_file

#: What only lists other files, which are compared themselves.
_LISTS = frozenset({"list of skills"})


#: What a link in the place of a configuration is, by the code of its finding.
LINKS = {
    codes.LINK_OUTSIDE.name: "link out of the project",
    codes.LINK_BROKEN.name: LINK_TO_NOTHING,
}


def link_in_place(load: FileLoad, system: System) -> tuple[str, str] | None:
    """What a link in the place of a configuration is, and the hash of where it leads.

    What is there belongs to one machine. None if it is no such link.
    """
    code = None if load.problem is None else load.problem.code
    what = LINKS.get(code or "") or (load.unread if load.unread == LINK_TO_NOTHING else None)
    target = os.fsencode(system.link_target(load.path))
    return None if what is None else (what, hashlib.sha256(target).hexdigest())


class Loads(msgspec.Struct, frozen=True):
    """What is at a place, by path from the folder that is compared; a single file has no name."""

    outcomes: dict[str, Outcome]
    problems: tuple[Diagnostic, ...] = ()  #: of files that were not loaded at all
    unread: dict[str, tuple[str, str]] = {}  #: file → what it is, and its hash
    rules: dict[str, tuple[Reach, ...]] = {}  #: of those that are understood, what they allow
    #: what has a hook that can stop a call, and a file that it runs → the hash of that file
    guards: dict[tuple[str, str], str] = {}
    code: set[str] = set()  #: of these files, those that are programs and not only named by one
    #: where programs that guard name more files than are looked for → the hash of all files there
    uncovered: dict[str, str] = {}
    programs: dict[str, str] = {}  #: other file that a client runs → its hash
    moved: dict[str, str] = {}  #: what is at another place on the other side → that place
    renamed: tuple[str, ...] = ()  #: names on the other side in the place of those that rules name

    @property
    def errors(self) -> list[Diagnostic]:
        """Everything that is wrong with the files, as far as it prevents a comparison."""
        return [
            *self.problems,
            *(
                each
                for outcome in self.outcomes.values()
                if outcome.errors and reading_of(outcome).unknown
                for each in outcome.errors
            ),
        ]


class Unjudged(msgspec.Struct, frozen=True):
    """A file whose permissions are unknown, before the change or after it."""

    file: str
    reason: str
    counts: bool  #: whether it changed, so that an agent may do more than before
    span: Span | None = None


def loads_of(workspace: Workspace) -> Loads:
    """What is in a workspace of one path, and the settings of the projects there."""
    (path,), run, system = workspace.paths, workspace.run, workspace.system
    is_folder = system.is_folder(path)
    found = workspace.loads(every_path=True)
    loads = _sort_loads(found, path if is_folder else None, system)
    if is_folder and workspace.kind is None:
        for project in projects_of(run) if not run.request.isolated else ():
            outcome = load_project_settings(project.root, run)
            if outcome is not None:
                loads.outcomes[_name(outcome.session.path, path)] = outcome
        _add_parts(loads, path, run)
    if is_folder:
        for name, commit in system.submodules_below(path).items():
            loads.unread[name] = SUBMODULE, commit
        for name, outcome in loads.outcomes.items():
            _add_companions(name, outcome, path, loads)
    return loads


def _add_parts(loads: Loads, folder: str, run: Run) -> None:
    """Take up the files that count because of those that were loaded."""
    system = run.files.system
    top = system.real(folder)
    owners = [
        (each.kind.name, system.real(each.session.path))
        for each in loads.outcomes.values()
        if each.kind.name in OWNERS
    ]
    roots = {top, *(system.real(each.root) for each in projects_of(run))}
    roots |= {
        os.path.dirname(os.path.dirname(os.path.join(top, name)))
        for name, (sort, _) in loads.unread.items()
        if sort == EDITOR
    }
    for part in all_parts(owners, roots, run.files):
        name = _name(part.path, top)
        # What a text or colours say is not a permission.
        is_known = name in loads.unread and loads.unread[name][0] != EDITOR
        if name in loads.outcomes or is_known or not part.acts:
            continue
        is_out = not is_below(system.real(part.path), top)
        if part.kind and not part.has_only_table and not is_out:
            loaded = load_file(File(part.path), run, kind=part.kind)
            if loaded.outcome is not None:
                loads.outcomes[name] = loaded.outcome
                continue
        # A link may lead anywhere: of one that leads out, only that it is there counts.
        data = None if is_out else system.peek(part.path)
        content = None if is_out else _content(data, part.path, system, runs=part.runs)
        loads.unread[name] = part.what, content or _OUT
        if data is not None and (reaches := reaches_of_part(part, data, name)):
            loads.rules[name] = reaches


#: In place of the hash of a file that is not one of the project.
_OUT = "elsewhere"


def _content(data: bytes | None, path: str, system: System, *, runs: bool) -> str | None:
    """What tells one content of a file from another; of a program, its mark is a part of it.

    Without `data`, it is of a file that is too large to be looked at; None if there is none.
    """
    digest = system.sha256(path) if data is None else hashlib.sha256(data).hexdigest()
    return None if digest is None else f"{digest}{' runs' * (runs and system.is_executable(path))}"


def _add_companions(name: str, outcome: Outcome, folder: str, loads: Loads) -> None:
    """Take up the files that decide what a configuration stops, fetches, runs or holds."""
    reaches = reaches_of(outcome)
    programs = [grant for each in reaches for grant in each.grants_of("program")]
    has_code = any(each.sort == "plugin" for reach in reaches for each in reach.grants)
    if not (programs or has_code or any("file" in each.text.lower() for each in outcome.sources)):
        return
    from equipage.record import commands  # few have any

    nodes = [*walk(reading_of(outcome).value)]
    folders = commands.folders_named(nodes)
    system = outcome.session.files.system
    root, top = system.real(outcome.session.root), system.real(folder)
    start = os.path.dirname(system.real(outcome.session.path))

    def contents(names: Iterable[str], follow: bool = True) -> Iterator[tuple[str, str]]:
        found = commands.divide(names, folders)
        for each in commands.files_read_by(found, start, root, system, follow=follow):
            name = _name(each.path, top)
            if each.path == root and name not in loads.uncovered:
                loads.uncovered[name] = _hash_of_all(root, system)
            content = _content(system.peek(each.path), each.path, system, runs=each.runs)
            if content is not None:
                if each.is_code:
                    loads.code.add(name)
                yield name, content

    guards = commands.commands_that_guard(reaches)
    loads.guards.update(((name, file), content) for file, content in contents(guards))
    loads.programs.update(contents((each.name for each in programs), follow=False))
    for file, content in contents(commands.files_with_values(nodes), follow=False):
        loads.unread[file] = "file with a value of settings", content
    launched = [split_command(each.name) for each in programs]
    for path in commands.files_beside_launchers(launched, root, system):
        what = "file that says what a launcher fetches or runs"
        loads.unread[_name(path, top)] = what, system.sha256(path) or _OUT


class _EveryFile(NoWantedFiles):
    """Every file that git does not ignore is wanted."""

    def names_in(self, folder: str) -> Names:
        return frozenset(), ("",)

    def is_claimed(self, path: str) -> bool:
        return True

    is_place = is_claimed


def _hash_of_all(root: str, system: System) -> str:
    """What tells a folder from the same one with any file changed."""
    found = walk_folder(root, CLIENT_FOLDERS, system, _EveryFile())
    hashes = sorted((_name(each.path, root), system.sha256(each.path) or _OUT) for each in found)
    return hashlib.sha256(repr(hashes).encode()).hexdigest()


def _sort_loads(found: Iterable[FileLoad], folder: str | None, system: System) -> Loads:
    loads = Loads({}, unread={}, rules={}, guards={}, code=set(), uncovered={}, programs={})
    problems: list[Diagnostic] = []
    for each in found:
        name = "" if folder is None else _name(each.path, folder)
        if each.outcome is not None:
            loads.outcomes[name] = each.outcome
        elif (link := link_in_place(each, system)) is not None:
            loads.unread[name] = link
            # A check reports one that leads nowhere: no tool reads it today.
            problems += () if link[0] == LINK_TO_NOTHING else each.diagnostics
        elif each.unread is not None:
            sort = each.unread
            data = system.peek(each.path)
            content = _content(data, each.path, system, runs=sort == HOOK_FILE)
            if content is not None and sort not in _LISTS:
                loads.unread[name] = sort, content
                if sort == CODEX_RULE and data is not None:
                    _add_rules(loads, name, name or os.path.basename(each.path), data)
        else:
            problems += each.diagnostics
    return msgspec.structs.replace(loads, problems=tuple(problems))


def _add_rules(loads: Loads, name: str, shown: str, data: bytes) -> None:
    from equipage.clients.codex.permissions import reach_of_rules, rules_in  # few projects have any

    rules = rules_in(data)
    if rules is not None:
        loads.rules[name] = (reach_of_rules(rules, shown),)


def _name(file: str, folder: str) -> str:
    return os.path.relpath(file, folder).replace(os.sep, "/")


#: What is the same in another file of its client.
_MOVABLE_SORTS = frozenset({"agent", "command", "skill"})


def follow_moves(old: Loads, new: Loads) -> Loads:
    """The old side, with the place of today for each agent, command and skill that was moved.

    It has the same name or, where no rule tells the names apart, the same content.
    """
    gone, come = _movables(old, new), _movables(new, old)
    if not (gone and come):
        return old
    rules, moved = rules_of(old, new), dict[str, str]()
    for shared in (slice(3), slice(1, 4)):  # all but the content, and all but the name
        places: dict[tuple[str, ...], list[str]] = {}
        for now, facts in come.items():
            if now not in moved.values():
                places.setdefault(facts[shared], []).append(now)
        for was, facts in gone.items():
            free = places.get(facts[shared], []) if was not in moved else []
            names = {facts[0], *(come[now][0] for now in free[:1])}
            own = _built_in_names(new, free[0]) if free else set()
            if free and (len(names) == 1 or not (names & own or mentions_any(rules, names))):
                moved[was] = free.pop(0)
    # What takes the place of one that a rule names may be the same, behind the back of the rule.
    named = {
        each[1:3]
        for was, each in gone.items()
        if was not in moved and mentions_any(rules, each[:1])
    }
    others = (each for now, each in come.items() if now not in moved.values())
    return msgspec.structs.replace(
        old,
        outcomes={moved.get(name, name): each for name, each in old.outcomes.items()},
        guards={(moved.get(name, name), file): each for (name, file), each in old.guards.items()},
        moved={now: was for was, now in moved.items()},
        renamed=tuple(each[0] for each in others if each[1:3] in named),
    )


def _built_in_names(side: Loads, file: str) -> set[str]:
    """The agents that the client of a file has of its own: to take such a name is to be another."""
    return {*client_of(program_of_file(side.outcomes[file].kind, file)).agents}


def _movables(side: Loads, other: Loads) -> dict[str, tuple[str, ...]]:
    """The files on one side alone: their names, what reads them, and their content."""
    found: dict[str, tuple[str, ...]] = {}
    for file in side.outcomes.keys() - other.outcomes.keys():
        each = side.outcomes[file]
        name, sort = name_and_sort(each.kind, reading_of(each).value or {}, file)
        if sort in _MOVABLE_SORTS:
            # Where in the folder of a client something lies may decide whether it is read.
            around = posixpath.dirname(file)
            start = f"{client_folder(file)}/"
            below = around.removeprefix(start).partition("/")[0]
            place = posixpath.dirname(around) if sort == "skill" else start + below
            found[file] = name, each.kind.name, place, _hash(each) or file
    return dict(sorted(found.items()))


def rules_of(*sides: Loads) -> str:
    """What rules of some sides name."""
    outcomes = (outcome for side in sides for outcome in side.outcomes.values())
    rules = names_in_rules(reach for each in outcomes for reach in reaches_of(each))
    return "\n".join((rules, *(name for side in sides for name in side.renamed)))


def find_unjudged(old: Loads, new: Loads) -> Iterator[Unjudged]:
    """The files that cannot be compared, each with the reason."""
    for name in sorted({*old.outcomes, *new.outcomes}):
        yield from _unjudged_load(name, old.outcomes.get(name), new.outcomes.get(name))
    known = {(each.name, each.code) for each in old.problems}
    for each in new.problems:
        if each.severity == "error":
            counts = (each.name, each.code) not in known
            yield Unjudged(each.name or "", each.message, counts)
    told = set[str]()
    for owner, name in sorted({*old.guards, *new.guards}):
        digest, other = old.guards.get((owner, name)), new.guards.get((owner, name))
        if other is None and _is_gone_whole(old.outcomes.get(owner), new.outcomes.get(owner)):
            continue
        # One that can be run now, and could not before, guards more.
        if other not in (digest, f"{digest} runs"):
            how = "is new, or newly run" if digest is None else "changed"
            how = "is gone, or no longer run" if other is None else how
            how = "cannot be run any more" if f"{other} runs" == digest else how
            if name not in told:
                told.add(name)
                is_code = name in old.code or name in new.code
                what = "a program that guards" if is_code else "a file that a guard names"
                yield Unjudged(name, f"{what} {how}; equipage does not read it", True)
    from equipage.record.commands import MAX_READ  # few have any

    for name in sorted({*old.uncovered, *new.uncovered}):
        if old.uncovered.get(name) != new.uncovered.get(name):
            reason = f"guards name more than {MAX_READ:,} files, and one of them may have changed"
            yield Unjudged(name, reason, True)
    guarding = {file for _, file in (*old.guards, *new.guards)}
    for name in sorted(old.programs.keys() & new.programs.keys() - guarding):
        if old.programs[name] != new.programs[name]:
            reason = "a program that a client runs changed; equipage does not read it"
            yield Unjudged(name, reason, counts=False)
    for name in sorted({*old.unread, *new.unread}):
        was, now = old.unread.get(name), new.unread.get(name)
        if now is None and was is not None and was[0] in (TASKS, SUBMODULE):
            continue
        if was != now and not _are_understood(name, old, new):
            how = "added" if was is None else "removed" if now is None else "changed"
            what = (now or was or ("", ""))[0]
            yield Unjudged(name, f"{what} {how}; equipage does not read it", counts=True)


def _unjudged_load(name: str, before: Outcome | None, after: Outcome | None) -> Iterator[Unjudged]:
    """Why a file cannot be compared, if what its client makes of it is not known on one side."""
    shown = after or before
    assert shown is not None
    client, changed = program_of_file(shown.kind, name), _hash(before) != _hash(after)
    if after is not None and changed and reading_of(after).is_dropped:
        reason = f"it has errors, for which {client} drops it; another version may read it"
        yield Unjudged(name, reason, counts=True)
        return
    was, now = (each is not None and bool(reading_of(each).unknown) for each in (before, after))
    if now and before is None:
        yield Unjudged(name, f"it is new, and what {client} makes of it is not known", True)
    elif now and was:
        how = "changed" if changed else "did not change"
        yield Unjudged(name, f"what {client} makes of it is not known; it {how}", changed)
    elif now:
        yield Unjudged(name, f"what {client} makes of it is not known any more", True)
    elif was and after is None:
        counts = not _is_gone_whole(before, after)
        yield Unjudged(name, f"what {client} made of it was not known, and it is gone", counts)
    elif was:
        reason = f"what {client} made of it was not known, so all that it allows counts as new"
        yield Unjudged(name, reason, counts=False)
    elif changed and not _is_gone_whole(before, after):
        yield from _unknown_key_changes(name, before, after)
        if fields := [*_new_usual_values(before, after)]:
            listed = ", ".join(f"`{each}`" for each in dict.fromkeys(fields))
            reason = f"{listed} may take the place of stricter values that people set themselves"
            yield Unjudged(name, reason, counts=False)


def _new_usual_values(before: Outcome | None, after: Outcome | None) -> Iterator[str]:
    """Where settings say now what holds without them, or ask: it beats what is the user's own."""
    was = {each.key: each for each in (() if before is None else reaches_of(before))}
    for reach in () if after is None else reaches_of(after):
        old = was.get(reach.key)
        known = {each.mode for each in (old.grants if old else ()) if not each.default}
        for each in reach.grants if reach.sort == "settings" else ():
            is_usual = each.level is not None and 0 < each.level <= (each.usual or 0)
            asks = each.effect == "asks" and reach.precedence == "last" and each.level is None
            if (is_usual or asks) and not each.default and each.mode not in known:
                yield each.field


def _is_gone_whole(before: Outcome | None, after: Outcome | None) -> bool:
    """Whether an agent or the like is gone, with all that restricted it alone."""
    if before is None or after is not None:
        return False
    reaches = reaches_of(before)
    return bool(reaches) and all(map(leaves_nothing, reaches))


def _unknown_key_changes(
    name: str, before: Outcome | None, after: Outcome | None
) -> Iterator[Unjudged]:
    """The keys that are in no table and changed: any of them may allow or forbid something."""
    shown = after or before
    assert shown is not None
    old, new = ({} if each is None else unknown_keys_of(each) for each in (before, after))
    texts = [{path: canonical_text(each) for path, each in side.items()} for side in (old, new)]
    gone = _places_of_servers_gone(before, after)
    for path in dict.fromkeys((*old, *new)):
        is_gone = path not in new and any(path[: len(each)] == each for each in gone)
        is_same = texts[0].get(path) == texts[1].get(path)
        if not (is_same or is_gone or _narrows_server(shown.kind.name, path, old, new)):
            how = "added" if path not in old else "removed" if path not in new else "changed"
            where = shown if path in new or before is None else before
            located = where.documents[0].locate([path]).get(path)
            span = None if located is None else located.key or located.value
            reason = f"`{format_path(path)}` {how}; equipage does not know this key"
            yield Unjudged(name, reason, counts=True, span=span)


def _narrows_server(kind: str, path: Path, old: dict[Path, Any], new: dict[Path, Any]) -> bool:
    """Whether a key of a server allows no more, whichever client reads it."""
    if kind != "mcp" or len(path) < 3:
        return False
    row, (_, name, key) = make_row("servers", "servers"), path
    values = ({"servers": {name: {key: each[path]} if path in each else {}}} for each in (old, new))
    reaches = (Reach("", "servers", kind, "", "", tuple(row.grants(each))) for each in values)
    return not difference_between(*reaches).widening_steps


def _places_of_servers_gone(before: Outcome | None, after: Outcome | None) -> list[Path]:
    """Where the servers were written that are not started any more."""
    if before is None:
        return []
    now = {each.key: each for each in (() if after is None else reaches_of(after))}
    found = (
        grant.path for each in reaches_of(before) for grant in servers_gone(each, now.get(each.key))
    )
    # The loader of a list of servers has a name of its own for it.
    top = dialect_of(before.path).top if before.kind.name == "mcp" else ""
    return [(top, *path[1:]) if top else path for path in found]


def rule_changes(old: Loads, new: Loads) -> list[Difference]:
    """How the rules of Codex differ, where those of both sides are understood."""
    names = [each for each in {**old.rules, **new.rules} if _are_understood(each, old, new)]
    before, after = (
        [each for name in names for each in side.rules.get(name, ())] for side in (old, new)
    )
    return differences(before, after)


def _are_understood(name: str, old: Loads, new: Loads) -> bool:
    return all(name in each.rules for each in (old, new) if name in each.unread)


def _hash(outcome: Outcome | None) -> str | None:
    return outcome.sources[0].sha256 if outcome is not None and outcome.sources else None
