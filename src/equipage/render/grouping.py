"""Findings with one cause in one file, as one for people to read: a count and the first places.

Programs get each of them: an annotation belongs to its own line, a fix to its own place.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from equipage.core.diagnostics import Diagnostic, Label
from equipage.core.text import lazy_regex

#: So many equal findings are read one by one, and so many places are shown of more.
_FEW = 3
#: So many findings that differ in what they name are; more have one cause, unless they are errors.
_MANY = 10
#: What differs between findings of one cause.
_VALUE = lazy_regex(r"`[^`]*`")


def group_by_cause(findings: Iterable[Diagnostic]) -> list[Diagnostic]:
    """The findings in order, those of one cause in a file as the first of them."""
    groups: dict[object, list[Diagnostic]] = {}
    for each in findings:
        cause = each.name, each.code, each.severity, _VALUE.sub("", each.message)
        groups.setdefault(cause, []).append(each)
    grouped: list[Diagnostic] = []
    for group in groups.values():
        if len(group) > _MANY and group[0].severity != "error":
            grouped.append(_merge(group))
            continue
        equal: dict[str, list[Diagnostic]] = {}
        for each in group:
            equal.setdefault(each.message, []).append(each)
        for same in equal.values():
            grouped += same if len(same) <= _FEW else [_merge(same)]
    return grouped


def _merge(group: list[Diagnostic]) -> Diagnostic:
    first = group[0]
    labels = (
        Label(each.span, "also here" if each.message == first.message else each.message)
        for each in group[1:_FEW]
    )
    count = sum(each.count for each in group)
    return replace(first, related=(*first.related, *labels), count=count)
