"""A lock records what a load was made of, so that a later load can be compared with it.

It contains every source with its hash, every variable by name, and the digest of the result, but
no value. Paths start at the project root, so that a lock is the same in every checkout.
"""

from __future__ import annotations

import os

import msgspec

from equipage import __version__
from equipage.core.frozen import convert
from equipage.core.text import visible_json
from equipage.files import real_path, working_directory
from equipage.loading.outcome import Outcome
from equipage.loading.result import CANONICAL, Loaded
from equipage.views.code_digest import Code, CodeProblem, CodeRead, code_of


class LockError(ValueError):
    """A text is not a lock; the message says why."""


class Entry(msgspec.Struct, frozen=True):
    """One source."""

    path: str
    sha256: str
    bytes: int


class Lock(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a load was made of, and its digest."""

    lock: int
    canonical: int
    equipage: str
    kind: str
    file: str
    digest: str
    sources: tuple[Entry, ...]
    environment: tuple[str, ...]
    #: for a tool: the files of its code from the folder of the pack, and the program it starts
    code: tuple[Entry, ...] = ()


class Comparison(msgspec.Struct, frozen=True):
    """What differs between a lock and a new load of the same file."""

    same_digest: bool
    changed: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    variables_added: tuple[str, ...] = ()
    variables_removed: tuple[str, ...] = ()


def lock_of(outcome: Outcome, loaded: Loaded[object], file: str) -> Lock:
    """The lock of a successful load of `file`."""
    root = working_directory() if outcome.session is None else real_path(outcome.session.root)
    sources = []
    for source in loaded.sources:
        path = _relative(source.filename, root) if source.filename else source.name
        sources.append(Entry(path, source.sha256, len(source.data)))
    return Lock(
        lock=1,
        canonical=CANONICAL,
        equipage=__version__,
        kind=loaded.kind,
        file=_relative(file, root),
        digest=loaded.digest,
        # Sorted, so that the order of loading does not show.
        sources=tuple(sorted(sources, key=lambda each: each.path)),
        environment=tuple(sorted(loaded.variables)),
        code=_code(outcome),
    )


def _code(outcome: Outcome) -> tuple[Entry, ...]:
    """The code that a tool runs; nothing if it cannot be found, or for other kinds."""
    if outcome.kind.name != "toolpack":
        return ()
    try:
        return code_entries(code_of_load(outcome))
    except CodeProblem:
        return ()


def code_of_load(outcome: Outcome, *, programs: bool = True, known: CodeRead | None = None) -> Code:
    """The code of a loaded pack, see `code_of`. Raises `CodeProblem`."""
    assert outcome.session is not None
    folder = os.path.dirname(outcome.session.path)
    roots = (outcome.session.root,)
    return code_of(outcome.config.execution, folder, roots, programs=programs, known=known)


def code_entries(code: Code) -> tuple[Entry, ...]:
    """The files of some code, and the program that it needs, as entries of a lock."""
    files = [Entry(each.name, each.sha256, each.size) for each in code.files]
    if code.program is not None:
        files.append(Entry(code.program.path, code.program.sha256, 0))
    return tuple(files)


def _relative(path: str, root: str) -> str:
    """A path from the root, its bytes read as UTF-8: a lock is the same under every locale."""
    relative = os.path.relpath(real_path(path), root).replace(os.sep, "/")
    return os.fsencode(relative).decode("utf-8", "backslashreplace")


def write(lock: Lock) -> str:
    return visible_json(msgspec.json.format(msgspec.json.encode(lock), indent=1).decode()) + "\n"


def read(data: bytes) -> Lock:
    """The lock in a file. Raises `LockError`."""
    try:
        lock: Lock = convert(msgspec.json.decode(data), Lock)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
        raise LockError(str(error)) from None
    if lock.canonical != CANONICAL:
        raise LockError(
            f"its digest has version {lock.canonical}, this equipage writes version {CANONICAL}"
        )
    return lock


def verify(old: Lock, new: Lock) -> Comparison:
    """What changed since a lock was written."""
    before = {each.path: each.sha256 for each in (*old.sources, *old.code)}
    after = {each.path: each.sha256 for each in (*new.sources, *new.code)}
    return Comparison(
        same_digest=old.digest == new.digest and old.code == new.code,
        changed=tuple(path for path in after if path in before and before[path] != after[path]),
        added=tuple(path for path in after if path not in before),
        removed=tuple(path for path in before if path not in after),
        variables_added=tuple(name for name in new.environment if name not in old.environment),
        variables_removed=tuple(name for name in old.environment if name not in new.environment),
    )
