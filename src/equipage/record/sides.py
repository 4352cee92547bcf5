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

from equipage.clients.file_grants import reaches_of
from equipage.clients.grant_rows import split_command
from equipage.clients.grants import Reach
from equipage.clients.plugins import OWNERS, all_parts
from equipage.clients.tables.unread import (
    CODEX_RULE,
    COMPILED_END,
    COMPILED_WORKFLOW,
    HOOK_FILE,
    SOURCE_END,
)
from equipage.core import codes
from equipage.core.diagnostics import Diagnostic
from equipage.effect.reach import Difference, differences, reach_of_part
from equipage.files import real_path
from equipage.files.reading import Files, sha256_of
from equipage.files.sandbox import is_below
from equipage.loading.outcome import Outcome
from equipage.loading.session import Request, Run
from equipage.project.registry import codes_for_kind
from equipage.project.settings import load_settings_file, projects_of, settings_file
from equipage.workspace.load import (
    Candidate,
    Disk,
    FileLoad,
    Place,
    load_all,
    load_candidate,
    with_folders,
)

#: What only lists other files, which are compared themselves.
_LISTS = frozenset({"list of skills"})


#: What a link in the place of a configuration is, by the code of its finding.
LINKS = {
    codes.LINK_OUTSIDE.name: "link out of the project",
    codes.LINK_BROKEN.name: "link to nothing",
}


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
    run = Run(
        place.files(),
        with_folders(request, [path]).folders,
        isolated=request.isolated,
        known_codes=codes_for_kind,
    )
    found = list(load_all([path], request, kind=kind, place=place, run=run))
    loads = _sorted(found, path if is_folder else None, run.files, place)
    if is_folder and kind is None and not request.isolated:
        for project in projects_of(run):
            file = settings_file(project.root, run.files)
            if file is not None:
                loads.outcomes[_name(file, path)] = load_settings_file(
                    file, project.root, run.files
                )
    if is_folder:
        if kind is None:
            _add_parts(loads, path, request, run, place)
        for outcome in loads.outcomes.values():
            loads.guards.update(_guards(outcome, path, run.files, place))
    return loads


def _add_parts(loads: Loads, folder: str, request: Request, run: Run, place: Place) -> None:
    """Take up the files that count because of those that were loaded."""
    top, files = real_path(folder), run.files
    owners = [
        (each.kind.name, real_path(each.session.path))
        for each in loads.outcomes.values()
        if each.kind.name in OWNERS and each.session is not None
    ]
    roots = {top, *(real_path(each.root) for each in projects_of(run))}
    for part in all_parts(owners, roots, files):
        name = _name(part.path, top)
        # What a text or colours say is not a permission.
        if name in loads.outcomes or name in loads.unread or not part.acts:
            continue
        is_out = isinstance(place, Disk) and not is_below(real_path(part.path), top)
        if part.kind and not part.has_only_table and not is_out:
            loaded = load_candidate(Candidate(part.path), request, run, kind=part.kind)
            if loaded.outcome is not None:
                loads.outcomes[name] = loaded.outcome
                continue
        # A link may lead anywhere: of one that leads out, only that it is there counts.
        data = None if is_out else files.peek(part.path)
        content = None if is_out else _content(data, part.path, place, runs=part.runs)
        loads.unread[name] = part.what, content or _OUT
        reach = None if data is None else reach_of_part(part, data, name)
        if reach is not None:
            loads.rules[name] = reach


#: In place of the hash of a file that is not one of the project.
_OUT = "elsewhere"


def _content(data: bytes | None, path: str, place: Place, *, runs: bool) -> str | None:
    """What tells one content of a file from another; of a program, its mark is a part of it.

    Without `data`, it is of a file that is too large to be looked at; None if there is none.
    """
    if data is None and not isinstance(place, Disk):
        return None
    digest = sha256_of(path) if data is None else hashlib.sha256(data).hexdigest()
    return None if digest is None else f"{digest}{' runs' * (runs and place.may_run(path))}"


def _guards(outcome: Outcome, folder: str, files: Files, place: Place) -> Iterator[tuple[str, str]]:
    """The files that hooks of a configuration run which can stop a call, each with its hash."""
    reaches = reaches_of(outcome)
    guarding = {grant.path for each in reaches for grant in each.grants_of("guard")}
    commands = [
        split_command(grant.name)
        for each in reaches
        for grant in each.grants_of("program")
        if grant.path in guarding
    ]
    if not commands or outcome.session is None:
        return
    from equipage.record.dependencies import (
        folders_up,
        may_be_path,
        programs_run_by_name,
        words_naming_files,
    )  # few have any

    root = real_path(outcome.session.root)
    places = folders_up(os.path.dirname(real_path(outcome.session.path)), root)
    direct = programs_run_by_name(commands)
    for word in dict.fromkeys(words_naming_files(commands)):
        if may_be_path(word) and not os.path.isabs(word):
            found = (os.path.normpath(os.path.join(each, word)) for each in places)
            runs = word in direct
            read = (
                (path, _content(files.peek(path), path, place, runs=runs))
                for path in found
                if is_below(path, root)
            )
            path, content = next((each for each in read if each[1] is not None), ("", None))
            if content is not None:
                yield _name(path, real_path(folder)), content


def _sorted(found: Iterable[FileLoad], folder: str | None, files: Files, place: Place) -> Loads:
    loads = Loads({}, unread={}, rules={}, guards={})
    problems: list[Diagnostic] = []
    for each in found:
        name = "" if folder is None else _name(each.path, folder)
        if each.outcome is not None:
            loads.outcomes[name] = each.outcome
        elif each.unread is not None:
            sort = each.unread
            data = files.peek(each.path)
            content = _content(data, each.path, place, runs=sort == HOOK_FILE)
            if content is not None and sort not in _LISTS:
                loads.unread[name] = sort, content
                if sort == CODEX_RULE and data is not None:
                    _add_rules(loads, name, name or os.path.basename(each.path), data)
        else:
            code = None if each.problem is None else each.problem.code
            if code in LINKS:
                # What it leads to is not known, but that it is there may be all that is needed.
                loads.unread[name] = LINKS[code], _OUT
            # A check reports one that leads nowhere: no tool reads it today.
            problems += () if code == codes.LINK_BROKEN else each.diagnostics
    return msgspec.structs.replace(loads, problems=tuple(problems))


def _add_rules(loads: Loads, name: str, shown: str, data: bytes) -> None:
    from equipage.clients.codex.permissions import reach_of_rules, rules_in  # few projects have any

    rules = rules_in(data)
    if rules is not None:
        loads.rules[name] = reach_of_rules(rules, shown)


def _name(file: str, folder: str) -> str:
    return os.path.relpath(file, folder).replace(os.sep, "/")


def unjudged(old: Loads, new: Loads) -> Iterator[Unjudged]:
    """The files that cannot be compared, each with the reason."""
    for name in sorted({*old.outcomes, *new.outcomes}):
        before, after = old.outcomes.get(name), new.outcomes.get(name)
        was_broken = before is not None and before.loaded_or_none() is None
        is_broken = after is not None and after.loaded_or_none() is None
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
        other = new.guards.get(name)
        # One that can be run now, and could not before, guards more.
        if other not in (digest, f"{digest} runs"):
            how = "changed" if other is not None else "is gone, or no longer run"
            how = "cannot be run any more" if f"{other} runs" == digest else how
            yield Unjudged(name, f"a program that guards {how}; equipage does not read it", True)
    for name in sorted({*old.unread, *new.unread}):
        was, now = old.unread.get(name), new.unread.get(name)
        if was != now and not (_are_understood(name, old, new) or _follows_source(name, old, new)):
            how = "added" if was is None else "removed" if now is None else "changed"
            what = (now or was or ("", ""))[0]
            yield Unjudged(name, f"{what} {how}; equipage does not read it", counts=True)


def _follows_source(name: str, old: Loads, new: Loads) -> bool:
    """Whether a file is a compiled workflow whose source, which is read, changed with it."""
    what = (new.unread.get(name) or old.unread[name])[0]
    if what != COMPILED_WORKFLOW:
        return False
    source = name.removesuffix(COMPILED_END) + SOURCE_END
    before, after = (_hash(each.outcomes.get(source)) for each in (old, new))
    return before != after


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
