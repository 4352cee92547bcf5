"""The bill of equipage: what a load was made of, so that anybody can check that it still is.

Every source with its hash, every variable by name, and the digest of the result. Paths start at the project
root, so that a bill is the same in every checkout. No value is in it.
"""

from __future__ import annotations

import os

import msgspec

from equipage._version import __version__
from equipage.core.text import visible_json
from equipage.loading.pipeline import Outcome
from equipage.loading.result import CANONICAL, Loaded


class BillError(ValueError):
    """A text is not a bill; the message says why."""


class Entry(msgspec.Struct, frozen=True):
    """One source."""

    path: str
    sha256: str
    bytes: int


class Bill(msgspec.Struct, frozen=True):
    """The manifest of a load."""

    bill: int
    canonical: int
    equipage: str
    kind: str
    file: str
    digest: str
    sources: tuple[Entry, ...]
    environment: tuple[str, ...]


class Comparison(msgspec.Struct, frozen=True):
    """What differs between a bill and a new load of the same file."""

    same_digest: bool
    changed: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    variables_added: tuple[str, ...] = ()
    variables_removed: tuple[str, ...] = ()


def bill_of(outcome: Outcome, loaded: Loaded[object], file: str) -> Bill:
    """The bill of a load of `file` that came to something."""
    root = os.path.realpath(outcome.session.root) if outcome.session is not None else os.getcwd()
    sources = [
        Entry(
            _relative(source.path, root) if source.path else source.name,
            source.sha256,
            len(source.data),
        )
        for source in loaded.sources
    ]
    return Bill(
        bill=1,
        canonical=CANONICAL,
        equipage=__version__,
        kind=loaded.kind,
        file=_relative(file, root),
        digest=loaded.digest,
        sources=tuple(sorted(sources, key=lambda each: each.path)),
        environment=tuple(sorted(loaded.variables)),
    )


def _relative(path: str, root: str) -> str:
    """A path from the root, as its bytes read in UTF-8: a bill is the same under every locale, and JSON is text."""
    relative = os.path.relpath(os.path.realpath(path), root).replace(os.sep, "/")
    return os.fsencode(relative).decode("utf-8", "backslashreplace")


def write(bill: Bill) -> str:
    return visible_json(msgspec.json.format(msgspec.json.encode(bill), indent=1).decode()) + "\n"


def read(data: bytes) -> Bill:
    """The bill in a file. Raises `BillError`."""
    try:
        bill = msgspec.json.decode(data, type=Bill)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise BillError(str(error)) from None
    if bill.canonical != CANONICAL:
        raise BillError(
            f"its digest is of version {bill.canonical}, this equipage makes version {CANONICAL}"
        )
    return bill


def verify(old: Bill, new: Bill) -> Comparison:
    """What changed since a bill was written."""
    before = {each.path: each.sha256 for each in old.sources}
    after = {each.path: each.sha256 for each in new.sources}
    return Comparison(
        same_digest=old.digest == new.digest,
        changed=tuple(path for path in after if path in before and before[path] != after[path]),
        added=tuple(path for path in after if path not in before),
        removed=tuple(path for path in before if path not in after),
        variables_added=tuple(name for name in new.environment if name not in old.environment),
        variables_removed=tuple(name for name in old.environment if name not in new.environment),
    )
