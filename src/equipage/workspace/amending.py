"""A report on many files after changes in a few, made from the report before them.

What a check says about a file in which nothing is left of other files is known from that file
alone, see `ReportBuilder.ties`. If all else is as it was, then the new report is the old one with
another row for the file and other findings in it. Whatever might reach further is not amended:
then the report is made from all files.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby

import msgspec

from equipage.core.diagnostics import Diagnostic
from equipage.loading.kind import Offer
from equipage.workspace.loads import Checked
from equipage.workspace.packing import Finding, Findings, Packed, PackedFile, PackedSource, Whole
from equipage.workspace.report import FileReport


class Judged(msgspec.Struct, frozen=True):
    """What the project of each changed file makes of it; see `ReportBuilder.judged`."""

    checked: Mapping[str, Checked]
    findings: Sequence[Diagnostic]  #: sorted by place
    failed: frozenset[str]  #: files with errors
    reported: frozenset[str]  #: those with errors that are reported


#: What of a file concerns no other file, and may change.
_OWN = {"ok": False, "findings": (), "digest": None, "offer": None}


def is_apart(before: Packed | None, after: Packed | None, whole: Whole) -> bool:
    """Whether a file changed in what is its own, and only there."""
    if before is None or after is None or whole.ties is None:
        return False
    old, new = before.file, after.file
    if old is None or new is None or old.name in whole.ties or not _is_plain(old):
        return False
    same = msgspec.structs.replace(old, **_OWN) == msgspec.structs.replace(new, **_OWN)
    return same and _offer_alike(old.offer, new.offer)


def _is_plain(file: PackedFile) -> bool:
    """Whether a file has no part in what is found about several, but for its offer."""
    return file.kind is not None and not (file.guessed or file.layered or file.waiting)


def _offer_alike(old: Offer | None, new: Offer | None) -> bool:
    """Whether a file offers the same; what it says may differ, if it has no copies."""
    if old is None or new is None:
        return old is new
    size, said = old.weight
    alike = msgspec.structs.replace(new, weight=old.weight) == old
    return alike and new.weight[0] == size and bool(new.weight[1]) == bool(said)


def amended(
    whole: Whole, sources: Sequence[PackedSource], judged: Judged, pack: Findings
) -> Whole | None:
    """The report with what is new about some files; None if one of them is not in it once."""
    rows: list[FileReport] = []
    met: set[str] = set()
    for row in whole.files:
        checked = judged.checked.get(row.path)
        if checked is not None:
            if row.path in met:
                return None
            met.add(row.path)
            bad = row.path in judged.failed or row.path in judged.reported
            ok = checked.ok and not bad
            row = msgspec.structs.replace(row, ok=ok, digest=checked.digest)
        rows.append(row)
    if len(met) < len(judged.checked):
        return None
    findings = list(whole.findings)
    names = [_name(each, sources) for each in findings]
    for name, found in _by_name(judged).items():
        # Sorted by the names of files: those of one file are side by side.
        start, new = sum(each < name for each in names), pack(found)
        here = slice(start, start + names.count(name))
        findings[here], names[here] = new, [name] * len(new)
    hidden = {*whole.hidden} - judged.checked.keys() | judged.failed - judged.reported
    return msgspec.structs.replace(
        whole, files=tuple(rows), findings=tuple(findings), hidden=tuple(sorted(hidden))
    )


def _by_name(judged: Judged) -> dict[str, Iterable[Diagnostic]]:
    """What was found in each of the files, also in those without findings."""
    found: dict[str, Iterable[Diagnostic]] = dict.fromkeys(judged.checked, ())
    by_name = groupby(judged.findings, key=lambda each: each.name or "")
    return found | {name: list(those) for name, those in by_name}


def _name(each: Finding, sources: Sequence[PackedSource]) -> str:
    return (each.file or "") if each.place is None else sources[each.place[0]].name
