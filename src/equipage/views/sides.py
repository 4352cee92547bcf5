"""One side of a comparison: what loads at a place, and what cannot be judged there.

A place is the disk or a revision. `unjudged` names the files that do not load on one side, so that
they neither hide the others nor pass unseen, and the files that differ and that a tool reads but
equipage does not.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator

import msgspec

from equipage.core import codes
from equipage.core.diagnostics import Diagnostic
from equipage.files import real_path
from equipage.files.reading import Files, files_here
from equipage.files.sandbox import is_below
from equipage.loading.outcome import Outcome
from equipage.loading.session import Request, Run
from equipage.loading.unread import CODEX_RULE, unread_sort
from equipage.workspace.loads import FileLoad, Place, load_all, with_folders
from equipage.workspace.project import projects_of, settings_file, settings_load
from equipage.workspace.reach import Difference, Reach, differences, reaches_of
from equipage.workspace.reach.rows import divided

#: What other commands verify already, see `views.foreign_locks`.
_VERIFIED = frozenset({"list of skills"})


class Loads(msgspec.Struct, frozen=True):
    """What is at a place, by path from the folder that is compared; a single file has no name."""

    outcomes: dict[str, Outcome]
    problems: tuple[Diagnostic, ...] = ()  #: of files that were not loaded at all
    unread: dict[str, tuple[str, str]] = {}  #: file → what it is, and its hash
    rules: dict[str, Reach] = {}  #: of those, what the rules of Codex allow that are understood
    guards: dict[str, str] = {}  #: file that a hook runs which can stop a call → its hash

    @property
    def errors(self) -> list[Diagnostic]:
        """Everything that is wrong with the files, as far as it prevents a comparison."""
        return [
            *self.problems,
            *(each for outcome in self.outcomes.values() for each in outcome.errors),
        ]


class Unjudged(msgspec.Struct, frozen=True):
    """A file whose permissions are unknown, before the change or after it."""

    file: str
    reason: str
    counts: bool  #: whether it changed, so that an agent may do more than before


def loads_at(place: Place, path: str, request: Request, kind: str | None = None) -> Loads:
    """What is at and below a path, and the settings of the projects there."""
    is_folder = place.is_folder(path)
    run = Run(place.files(), with_folders(request, [path]).folders, isolated=request.isolated)
    found = list(load_all([path], request, kind=kind, place=place, run=run))
    loads = _sorted(found, path if is_folder else None, run.files)
    if is_folder and kind is None and not request.isolated:
        for project in projects_of(run):
            file = settings_file(project.root, run.files)
            if file is not None:
                loads.outcomes[_name(file, path)] = settings_load(file, project.root, run.files)
    if is_folder:
        for outcome in loads.outcomes.values():
            loads.guards.update(_guards(outcome, path, run.files))
    return loads


def _guards(outcome: Outcome, folder: str, files: Files) -> Iterator[tuple[str, str]]:
    """The files that hooks of a configuration run which can stop a call, each with its hash."""
    reaches = reaches_of(outcome)
    guarding = {grant.path for each in reaches for grant in each.of("guard")}
    commands = [
        divided(grant.name)
        for each in reaches
        for grant in each.of("program")
        if grant.path in guarding
    ]
    if not commands or outcome.session is None:
        return
    from equipage.views.named_files import folders_up, may_be_path, named_by  # few have any

    root = real_path(outcome.session.root)
    places = folders_up(os.path.dirname(real_path(outcome.session.path)), root)
    for word in dict.fromkeys(named_by(commands)):
        if may_be_path(word) and not os.path.isabs(word):
            found = (os.path.normpath(os.path.join(place, word)) for place in places)
            read = ((path, files.peek(path)) for path in found if is_below(path, root))
            path, data = next((each for each in read if each[1] is not None), ("", None))
            if data is not None:
                yield _name(path, real_path(folder)), hashlib.sha256(data).hexdigest()


def loads_in(found: Iterable[FileLoad], path: str) -> Loads:
    """What was loaded already at or below a path, as one side of a comparison."""
    here = os.path.abspath(path)
    mine = [each for each in found if is_below(os.path.abspath(each.path), here)]
    alone = len(mine) == 1 and os.path.abspath(mine[0].path) == here
    return _sorted(mine, None if alone else path, files_here())


def _sorted(found: Iterable[FileLoad], folder: str | None, files: Files) -> Loads:
    loads = Loads({}, unread={}, rules={}, guards={})
    problems: list[Diagnostic] = []
    for each in found:
        name = "" if folder is None else _name(each.path, folder)
        if each.outcome is not None:
            loads.outcomes[name] = each.outcome
        elif each.problem is not None and each.problem.code == codes.NOT_READ:
            sort = unread_sort(os.path.abspath(each.path).replace(os.sep, "/")) or ""
            data = files.peek(each.path)
            if data is not None and sort not in _VERIFIED:
                loads.unread[name] = sort, hashlib.sha256(data).hexdigest()
                if sort == CODEX_RULE:
                    _add_rules(loads, name, name or os.path.basename(each.path), data)
        else:
            problems += each.diagnostics
    return msgspec.structs.replace(loads, problems=tuple(problems))


def _add_rules(loads: Loads, name: str, shown: str, data: bytes) -> None:
    from equipage.views.codex_rules import reach_of_rules, rules_in  # few projects have any

    rules = rules_in(data)
    if rules is not None:
        loads.rules[name] = reach_of_rules(rules, shown)


def _name(file: str, folder: str) -> str:
    return os.path.relpath(file, folder).replace(os.sep, "/")


def unjudged(old: Loads, new: Loads) -> Iterator[Unjudged]:
    """The files that cannot be compared, each with the reason."""
    for name in sorted({*old.outcomes, *new.outcomes}):
        before, after = old.outcomes.get(name), new.outcomes.get(name)
        was_broken = before is not None and before.loaded() is None
        is_broken = after is not None and after.loaded() is None
        changed = _hash(before) != _hash(after)
        if is_broken and before is None:
            yield Unjudged(name, "it is new and cannot be loaded", counts=True)
        elif is_broken and was_broken:
            how = "changed" if changed else "did not change"
            yield Unjudged(name, f"it could not be loaded before and cannot now; it {how}", changed)
        elif is_broken:
            yield Unjudged(name, "it cannot be loaded any more", counts=True)
        elif was_broken and after is None:
            yield Unjudged(name, "it could not be loaded before, and is gone", counts=True)
        elif was_broken:
            reason = "it could not be loaded before, so all that it allows counts as new"
            yield Unjudged(name, reason, counts=False)
    known = {(each.name, each.code) for each in old.problems}
    for each in new.problems:
        if each.severity == "error":
            counts = (each.name, each.code) not in known
            yield Unjudged(each.name or "", each.message, counts)
    for name, digest in sorted(old.guards.items()):
        if new.guards.get(name) != digest:
            how = "changed" if name in new.guards else "is gone, or no longer run"
            yield Unjudged(name, f"a program that guards {how}; equipage does not read it", True)
    for name in sorted({*old.unread, *new.unread}):
        was, now = old.unread.get(name), new.unread.get(name)
        if was != now and not _are_understood(name, old, new):
            how = "added" if was is None else "removed" if now is None else "changed"
            what = (now or was or ("", ""))[0]
            yield Unjudged(name, f"{what} {how}; equipage does not read it", counts=True)


def rule_changes(old: Loads, new: Loads) -> list[Difference]:
    """How the rules of Codex differ, where those of both sides are understood."""
    names = [each for each in {**old.rules, **new.rules} if _are_understood(each, old, new)]
    before, after = (
        [side.rules[name] for name in names if name in side.rules] for side in (old, new)
    )
    return differences(before, after)


def _are_understood(name: str, old: Loads, new: Loads) -> bool:
    return all(name in each.rules for each in (old, new) if name in each.unread)


def _hash(outcome: Outcome | None) -> str | None:
    return outcome.sources[0].sha256 if outcome is not None and outcome.sources else None
