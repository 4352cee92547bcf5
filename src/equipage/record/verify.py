"""What changed since a workspace was locked: files, meaning, and what agents may do."""

from __future__ import annotations

import os
from collections.abc import Iterator

import msgspec

from equipage.effect.reach import Difference, differences, names_in_rules, successors
from equipage.record.lock import UNREAD, Item, LockedCode, WorkspaceLock, reaches_in


class Changes(msgspec.Struct, frozen=True):
    """What differs between a lock and the workspace."""

    changed: tuple[str, ...] = ()  #: files
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    meaning: tuple[tuple[str, str], ...] = ()  #: configurations, and what changed about each
    reach: tuple[Difference, ...] = ()

    @property
    def has_source_changes(self) -> bool:
        return bool(self.changed or self.added or self.removed)

    @property
    def matters(self) -> bool:
        """Whether the meaning or the reach changed."""
        return bool(self.meaning or self.reach)


def compare(old: WorkspaceLock, new: WorkspaceLock) -> Changes:
    """What changed since a lock was written."""
    before, after = reaches_in(old), reaches_in(new)
    return Changes(
        tuple(name for name, each in new.files.items() if old.files.get(name, each) != each),
        tuple(name for name in new.files if name not in old.files),
        tuple(name for name in old.files if name not in new.files),
        tuple(_meaning_changes(old, new)),
        (
            *differences(before, after, rules=names_in_rules((*before, *after))),
            *successors(before, after),
        ),
    )


def _meaning_changes(old: WorkspaceLock, new: WorkspaceLock) -> Iterator[tuple[str, str]]:
    for name in sorted({*old.items, *new.items}):
        was, now = old.items.get(name), new.items.get(name)
        if was is None or now is None:
            shown = now or was
            assert shown is not None
            yield name, f"{shown.what or shown.kind} {'added' if was is None else 'removed'}"
            continue
        if was.kind != now.kind:
            yield name, f"it was {was.kind} and is {now.kind}"
        elif now.kind == UNREAD:
            if was.digest != now.digest:
                yield name, f"{now.what} changed; equipage does not read it"
        elif now.digest is None and was.digest is not None:
            yield name, "it cannot be loaded any more"
        elif was.digest != now.digest:
            yield name, "it means something else"
        elif now.unknown and old.files.get(name) != new.files.get(name):
            yield name, "it changed, and it is not known what its client makes of it"
        for key in sorted({*was.keys, *now.keys}):
            if was.keys.get(key) != now.keys.get(key):
                yield name, f"`{key}` changed; equipage does not know this key"
        if was.code != now.code:
            yield name, _code_change(was.code, now.code)
        yield from ((name, what) for what in _file_changes(was, now, old, new, name))
        yield from ((name, what) for what in _executable_changes(was, now, name, new))
        if was.variables != now.variables:
            gone = [f"-{each}" for each in was.variables if each not in now.variables]
            come = [f"+{each}" for each in now.variables if each not in was.variables]
            yield name, f"variables: {', '.join([*come, *gone])}"


def _code_change(was: LockedCode | None, now: LockedCode | None) -> str:
    """What changed about the code of a tool."""
    if was is None or now is None or was.digest != now.digest or was.installed == now.installed:
        return "the code that it runs changed"
    if was.installed is None or now.installed is None:
        return f"the program {now.program} {'is gone' if now.installed is None else 'is new'}"
    return f"the program {now.installed.path} changed"


def _file_changes(
    was: Item, now: Item, old: WorkspaceLock, new: WorkspaceLock, name: str
) -> Iterator[str]:
    """Files of a skill and scripts of commands that changed: they act, whatever the header says.

    A file that a configuration only names, and that is one itself, is judged by its own meaning.
    """
    folder = os.path.dirname(name)
    before, after = (
        {f"{folder}/{each}": each for each in item.folder}
        | {each: each for each in (*item.runs, *item.names)}
        for item in (was, now)
    )
    for path, shown in sorted((before | after).items()):
        if path == name:
            continue
        one, other = old.files.get(path), new.files.get(path)
        if (path in before) != (path in after):
            yield f"{shown} {'added' if path in after else 'removed'}"
        elif one != other and not (path in now.names and _are_known(path, old, new)):
            yield f"{shown} changed"


def _executable_changes(was: Item, now: Item, name: str, new: WorkspaceLock) -> Iterator[str]:
    """Programs that lost or gained the permission to be executed."""
    for each in sorted({*was.executable, *now.executable}):
        is_own = each == name
        if each not in now.executable and (is_own or each in new.files):
            yield f"{each} cannot be run any more"
        elif is_own and each not in was.executable:
            yield f"{each} can be run now"


def _are_known(path: str, *locks: WorkspaceLock) -> bool:
    """Whether locks hold what a file means."""
    found = [each.items.get(path) for each in locks]
    return all(each is not None and each.digest is not None for each in found)
