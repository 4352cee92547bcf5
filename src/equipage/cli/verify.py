"""`equipage verify`: compare a configuration with the lock that was written of it."""

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
from equipage.views.lock import Comparison, Lock, LockError, lock_of, read, verify


def run(options: argparse.Namespace, output: Output) -> int:
    old = _read(options.lock)
    outcome = outcome_of(options)
    lock = lock_of(outcome, loaded_of(outcome, options, output), options.file)
    if (old.kind, old.file) != (lock.kind, lock.file):
        output.note(
            f"equipage: the lock is of {visible(old.file)} ({visible(old.kind)}), "
            f"not of {visible(lock.file)}"
        )
    found = verify(old, lock)
    output.document("".join(f"{line}\n" for line in _lines(found, lock)), options.output)
    return OK if found.same_digest else FOUND


def _read(path: str) -> Lock:
    """The lock the command line names. Raises `UsageError`."""
    try:
        return read(Files().read(path).data)
    except FileProblem as problem:
        raise UsageError(f"cannot read {path}: {problem.code.replace('-', ' ')}") from None
    except LockError as error:
        raise UsageError(f"{path} is not a lock: {error}") from None


def _lines(found: Comparison, lock: Lock) -> Iterator[str]:
    """What changed, one thing a line, and whether it matters."""
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
        yield f"the digest is the same: {lock.digest}"
    else:
        yield f"the digest changed: it is {lock.digest} now"
