"""The policy of a project: what no agent in it may ever do, and whether launchers must be pinned.

Each file is judged by itself. What an agent may do because a field is absent counts like what it
says: a policy that forbids a tool wants every agent to say which tools it has.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from equipage.clients.grants import Grant, GrantIndex, Reach, covers
from equipage.clients.launchers import launches_in
from equipage.clients.reading import reaches_of
from equipage.core import codes
from equipage.core.diagnostics import Diagnostic, Fact, Shown
from equipage.core.path import Path, get
from equipage.loading.pipeline import Outcome, place_in_outcome

#: The lists of a policy → the sort of things that each is about.
SORTS_BY_LIST = {
    "tools": "tool",
    "servers": "server",
    "modes": "mode",
    "hosts": "host",
    "programs": "program",
}
_MISSING = object()


def policy_findings(
    outcome: Outcome, never: Mapping[str, Sequence[str]], *, pins: bool
) -> list[Diagnostic]:
    """What a file allows although the policy of its project does not."""
    facts: dict[tuple[Any, ...], Fact] = {}
    reaches = reaches_of(outcome)
    for reach in reaches:
        index = GrantIndex(reach)
        for listed, sort in SORTS_BY_LIST.items():
            for pattern in never.get(listed, ()):
                for grant in _violating_grants(reach, index, sort, pattern):
                    # A pattern is violated once at each place, however many grants are there.
                    facts.setdefault(
                        (grant.path, pattern), _forbidden_fact(outcome, reach, grant, pattern)
                    )
    found = list(facts.values())
    loaded = outcome.loaded_or_none() if pins else None
    if loaded is not None:
        for path, launch in launches_in(loaded.to_dict(show_env=False)):
            if launch.pin is None:
                place = _nearest_written_path(outcome, path)
                found.append(
                    codes.POLICY_NOT_PINNED.at(
                        place, package=Shown(launch.package), launcher=launch.launcher
                    )
                )
    return place_in_outcome(outcome, found) if found else []


def _violating_grants(reach: Reach, index: GrantIndex, sort: str, pattern: str) -> Iterator[Grant]:
    """The grants of a reach that allow what a pattern forbids."""
    if sort == "mode":
        for grant in reach.grants_of(sort):
            value = grant.name.partition(" = ")[2]
            if pattern in (value, grant.name, grant.name.replace(" = ", "=")):
                yield grant
        return
    decides = index.deciding_grant(sort, pattern)
    if decides is not None and decides.effect == "allows":
        yield decides
    for grant in reach.grants_of(sort):
        is_inside = grant.effect == "allows" and covers(pattern, grant.name, sort)
        if is_inside and grant is not decides and index.deciding_grant(sort, grant.name) is grant:
            yield grant


def _forbidden_fact(outcome: Outcome, reach: Reach, grant: Grant, pattern: str) -> Fact:
    if grant.default:
        thing = f"every {grant.sort}, because `{grant.field}` is absent"
    else:
        thing = f"the {grant.sort} `{grant.name}`"
    return codes.POLICY_FORBIDS.at(
        _nearest_written_path(outcome, grant.path),
        agent=Shown(f"{reach.sort} `{reach.name}`"),
        thing=Shown(thing),
        pattern=Shown(pattern),
    )


def _nearest_written_path(outcome: Outcome, path: Path) -> Path:
    """The path, or the nearest one above it that is written: an absent field has no place."""
    value = outcome.tree.value if outcome.tree is not None else None
    while path and get(value, path, _MISSING) is _MISSING:
        path = path[:-1]
    return path
