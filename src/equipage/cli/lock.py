"""`equipage bill`: the bill of equipage, and whether it still holds."""

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
from equipage.views.lock import Bill, BillError, Comparison, bill_of, read, verify, write


def run(options: argparse.Namespace, output: Output) -> int:
    old = _read(options.verify) if options.verify is not None else None
    outcome = outcome_of(options)
    bill = bill_of(outcome, loaded_of(outcome, options, output), options.file)
    if old is None:
        output.document(write(bill), options.output)
        return OK
    if (old.kind, old.file) != (bill.kind, bill.file):
        output.note(
            f"equipage: the bill is of {visible(old.file)} ({visible(old.kind)}), not of {visible(bill.file)}"
        )
    found = verify(old, bill)
    output.document("".join(f"{line}\n" for line in _lines(found, bill)), options.output)
    return OK if found.same_digest else FOUND


def _read(path: str) -> Bill:
    """The bill the command line names. Raises `UsageError`."""
    try:
        return read(Files().read(path).data)
    except FileProblem as problem:
        raise UsageError(f"cannot read {path}: {problem.code.replace('-', ' ')}") from None
    except BillError as error:
        raise UsageError(f"{path} is not a bill: {error}") from None


def _lines(found: Comparison, bill: Bill) -> Iterator[str]:
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
        yield f"the digest is the same: {bill.digest}"
    else:
        yield f"the digest changed: it is {bill.digest} now"
