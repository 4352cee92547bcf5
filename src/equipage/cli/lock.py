"""`equipage lock` and `verify`: record what a configuration is made of, and compare it later."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from equipage.cli.main import FOUND, OK
from equipage.cli.output import Output
from equipage.cli.request import loaded_of, outcome_of
from equipage.core.diagnostics import UsageError
from equipage.core.text import visible
from equipage.files.reading import Files
from equipage.files.sandbox import FileProblem
from equipage.views import lock as locks


def lock(options: argparse.Namespace, output: Output) -> int:
    output.document(locks.write(_lock_now(options, output)), options.output)
    return OK


def verify(options: argparse.Namespace, output: Output) -> int:
    old = _read(options.lock)
    new = _lock_now(options, output)
    # Probably a mistake, but not certainly: the file may have been renamed.
    if (old.kind, old.file) != (new.kind, new.file):
        output.note(f"equipage: the lock is of {old.file} ({old.kind}), not of {new.file}")
    found = locks.verify(old, new)
    output.document("".join(f"{line}\n" for line in _lines(found, new)), options.output)
    return OK if found.same_digest else FOUND


def _lock_now(options: argparse.Namespace, output: Output) -> locks.Lock:
    outcome = outcome_of(options)
    return locks.lock_of(outcome, loaded_of(outcome, options, output), options.file)


def _read(path: str) -> locks.Lock:
    """The lock that the command line names. Raises `UsageError`."""
    try:
        return locks.read(Files().read(path).data)
    except FileProblem as problem:
        raise UsageError(f"cannot read {path}: {problem.code.replace('-', ' ')}") from None
    except locks.LockError as error:
        raise UsageError(f"{path} is not a lock: {error}") from None


def _lines(found: locks.Comparison, new: locks.Lock) -> Iterator[str]:
    """What changed, one thing per line, and whether it changed the digest."""
    groups = (
        ("changed", found.changed),
        ("added", found.added),
        ("removed", found.removed),
        ("variable added", found.variables_added),
        ("variable removed", found.variables_removed),
    )
    for word, names in groups:
        yield from (f"{word}: {visible(name)}" for name in names)
    if found.same_digest:
        yield f"the digest is the same: {new.digest}"
    else:
        yield f"the digest changed: it is now {new.digest}"
