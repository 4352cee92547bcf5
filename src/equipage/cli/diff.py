"""`equipage diff`: what changed in meaning, the most important first.

A side is a file, a folder, or a revision: `HEAD~1` stands for the same path as the other side, at that revision;
`main:server.yaml` names a file in it. Revisions are read from git without a checkout.
"""

from __future__ import annotations

import argparse
import os
from collections import Counter
from collections.abc import Iterator
from typing import Any

import msgspec

from equipage.cli.main import FOUND, OK, USAGE
from equipage.cli.output import Output
from equipage.cli.request import request_of
from equipage.core.diagnostics import Diagnostic, UsageError
from equipage.core.path import Path, format_path
from equipage.core.text import visible, visible_first
from equipage.files.git import NoRevision, Revision
from equipage.files.reading import display_name
from equipage.loading.outcome import Outcome
from equipage.loading.request import Request
from equipage.loading.result import Loaded
from equipage.render.text import Style, lines_of
from equipage.views.comparing import MEANINGS, Change, compare
from equipage.workspace.report import Disk, Place, load_all


class Side(msgspec.Struct, frozen=True):
    """One of the two: where its files lie, which path is meant, and what to call it."""

    place: Any  #: a `Place`
    path: str
    label: str

    def loads(
        self, request: Request, kind: str | None
    ) -> tuple[dict[str, Outcome], list[Diagnostic]]:
        """What lies there by the path below a folder (empty for a single file), and what could not be read."""
        place: Place = self.place
        base = self.path if place.is_folder(self.path) else None
        outcomes: dict[str, Outcome] = {}
        problems: list[Diagnostic] = []
        for found in load_all([self.path], request, kind=kind, place=place):
            if found.outcome is None:
                problems += found.diagnostics
            else:
                name = (
                    "" if base is None else os.path.relpath(found.path, base).replace(os.sep, "/")
                )
                outcomes[name] = found.outcome
        return outcomes, problems


class FileDiff(msgspec.Struct, frozen=True):
    """What changed in one file."""

    name: str
    kind: str
    changes: tuple[Change, ...]
    before: Loaded[Any] | None
    after: Loaded[Any] | None

    @property
    def status(self) -> str:
        if self.before is None:
            return "added"
        return "removed" if self.after is None else "changed"

    def written_path(self, change: Change) -> str:
        """A path as the author would write it."""
        loaded = self._side(change)
        return (
            format_path(loaded.shown(loaded.authored(loaded.unshown(change.path))))
            or "(everything)"
        )

    def place(self, change: Change) -> tuple[str, int] | None:
        """Where the new value stands, for what was removed where the old one stood."""
        loaded = self._side(change)
        path: Path = loaded.unshown(change.path)
        span = loaded.places([path])[path].span
        return None if span is None else (span.source.name, span.line)

    def _side(self, change: Change) -> Loaded[Any]:
        loaded = self.before if change.how == "removed" or self.after is None else self.after
        assert loaded is not None
        return loaded


def run(options: argparse.Namespace, output: Output) -> int:
    try:
        before, after = _sides(options.a, options.b)
    except NoRevision as error:
        raise UsageError(str(error)) from None
    try:
        return _run(before, after, options, output)
    finally:
        for side in (before, after):
            if isinstance(side.place, Revision):
                side.place.close()


def _run(before: Side, after: Side, options: argparse.Namespace, output: Output) -> int:
    request = request_of(options)
    old, old_problems = before.loads(request, options.kind)
    new, new_problems = after.loads(request, options.kind)
    failed = [
        _tell(side, each, output)
        for side, each in ((before, (old, old_problems)), (after, (new, new_problems)))
    ]
    if not old and not new and not any(failed):
        raise UsageError(f"found nothing to compare in {before.label} and {after.label}")
    if _folder_and_file(old, new):
        raise UsageError("a file and a folder cannot be compared")
    diffs = list(_compared(old, new, display_name(after.path), show_env=options.show_env))
    output.code = USAGE if any(failed) else FOUND if diffs else OK
    if options.output_format == "json":
        output.json(_to_dict(before, after, diffs, failed=any(failed)))
    elif diffs or not any(failed):
        output.data("".join(f"{line}\n" for line in _lines(diffs, output.style())))
    return output.code


def _tell(side: Side, loads: tuple[dict[str, Outcome], list[Diagnostic]], output: Output) -> bool:
    """Say what keeps a side from being compared; whether there is anything."""
    outcomes, problems = loads
    errors = [*problems, *(each for outcome in outcomes.values() for each in outcome.errors)]
    failed = any(each.severity == "error" for each in errors)
    if errors:
        output.note(
            f"equipage: {side.label} has {'errors' if failed else 'links that are not followed'}:"
        )
        output.findings(errors)
    return failed


def _folder_and_file(old: dict[str, Outcome], new: dict[str, Outcome]) -> bool:
    return bool(old and new) and ("" in old) != ("" in new)


def _sides(a: str, b: str) -> tuple[Side, Side]:
    """What the two arguments mean. Raises `NoRevision`."""
    a_path, b_path = os.path.exists(a), os.path.exists(b)
    return _side(a, b if b_path else "."), _side(b, a if a_path else ".")


def _side(written: str, other: str) -> Side:
    if os.path.exists(written):
        return Side(Disk(), written, written)
    name, colon, inner = written.partition(":")
    try:
        revision = Revision(name, "." if colon else _folder(other))
    except NoRevision as error:
        raise NoRevision(f"{written} is neither a file nor a revision: {error}") from None
    if not colon:
        return Side(revision, os.path.realpath(other), f"{name}:{other}")
    start = os.path.realpath(".") if inner.startswith(("./", "../")) else revision.top
    return Side(revision, os.path.normpath(os.path.join(start, inner)), written)


def _folder(path: str) -> str:
    return path if os.path.isdir(path) else os.path.dirname(path) or "."


def _compared(
    old: dict[str, Outcome], new: dict[str, Outcome], single: str, *, show_env: bool
) -> Iterator[FileDiff]:
    for name in sorted({*old, *new}):
        before = old[name].loaded() if name in old else None
        after = new[name].loaded() if name in new else None
        if (name in old and before is None) or (name in new and after is None):
            continue  # its errors were told
        kind = (new.get(name) or old[name]).kind
        values = [
            each.to_dict(show_env=show_env) if each is not None else {} for each in (before, after)
        ]
        changes = compare(values[0], values[1], kind.presentation.sensitive)
        if changes:
            yield FileDiff(name or single, kind.name, tuple(changes), before, after)


# ---------------------------------------------------------------------------------------------- for people

#: What deserves a colour.
_ALARMING = frozenset(MEANINGS[:3])


def _lines(diffs: list[FileDiff], style: Style) -> Iterator[str]:
    if not diffs:
        yield "no difference in meaning"
        return
    for diff in diffs:
        status = "" if diff.status == "changed" else f" ({diff.status})"
        yield style.paint("bold", visible_first(diff.name)) + status
        for change in diff.changes:
            yield from _change(diff, change, style)
        yield ""
    yield _summary(diffs)


def _change(diff: FileDiff, change: Change, style: Style) -> Iterator[str]:
    word = change.how if change.meaning == "changed" else change.meaning
    painted = style.paint("warning" if change.meaning in _ALARMING else "place", word)
    names = f" ({visible(', '.join(change.names))})" if change.names else ""
    place = diff.place(change)
    where = (
        f"  {visible(place[0])}:{place[1]}"
        if place is not None and diff.status == "changed"
        else ""
    )
    yield f"  {painted}: {visible(diff.written_path(change))}{names}{style.paint('place', where)}"
    yield from lines_of(change, style)


def _summary(diffs: list[FileDiff]) -> str:
    found = Counter(change.meaning for diff in diffs for change in diff.changes)
    counts = [f"{found[meaning]} × {meaning}" for meaning in MEANINGS if found[meaning]]
    files = "1 file differs" if len(diffs) == 1 else f"{len(diffs)} files differ"
    return f"{files}: {', '.join(counts)}"


# -------------------------------------------------------------------------------------------- for programs


def _to_dict(before: Side, after: Side, diffs: list[FileDiff], *, failed: bool) -> dict[str, Any]:
    return {
        "version": 1,
        "a": before.label,
        "b": after.label,
        "same": not diffs and not failed,
        "complete": not failed,
        "files": [
            {
                "path": diff.name,
                "kind": diff.kind,
                "status": diff.status,
                "digest_a": diff.before.digest if diff.before is not None else None,
                "digest_b": diff.after.digest if diff.after is not None else None,
                "changes": [_change_to_dict(diff, change) for change in diff.changes],
            }
            for diff in diffs
        ],
    }


def _change_to_dict(diff: FileDiff, change: Change) -> dict[str, Any]:
    place = diff.place(change)
    return {
        "meaning": change.meaning,
        "how": change.how,
        "path": diff.written_path(change),
        "names": list(change.names),
        "before": change.before,
        "after": change.after,
        "file": place[0] if place is not None else None,
        "line": place[1] if place is not None else None,
    }
