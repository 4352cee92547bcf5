"""Two reaches in order: what became wider, what narrower, and how far."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

import msgspec

from equipage.clients.values import (
    EFFECTS,
    EVERYTHING,
    Effect,
    Grant,
    Reach,
    covers,
    is_unrestricted,
)

How = Literal["widened", "narrowed"]
#: How far a step goes that lets everything of a sort through, everything of a server or a tool, or
#: something new that runs or is sent to; other names count one for each effect.
_EVERYTHING_WEIGHT, _GROUP_WEIGHT, _HEAVY_WEIGHT = 10_000, 50, 100
#: Sorts of which one more is more than one tool more: each brings code or a place to send to.
_HEAVY_SORTS = frozenset({"server", "program", "host", "plugin"})


class Step(msgspec.Struct, frozen=True):
    """One thing that an agent may do more or less than before."""

    how: How
    sort: str
    name: str
    before: Effect
    after: Effect
    far: int  #: only comparable with that of others
    was: Grant | None = None  #: the grant that decided before
    now: Grant | None = None  #: the grant that decides now

    @property
    def grant(self) -> Grant | None:
        """The grant to show: the new one, where one is written."""
        if self.now is None or self.was is None:
            return self.now or self.was
        # What an absent field means is shown where the field was, unless another field decides now.
        is_elsewhere = self.now.default and self.now.path != self.was.path
        return self.was if is_elsewhere else self.now


class Difference(msgspec.Struct, frozen=True):
    """What changed in the reach of one subject."""

    before: Reach | None
    after: Reach | None
    steps: tuple[Step, ...]  #: those that widen first, the farthest at the top

    @property
    def reach(self) -> Reach:
        found = self.after or self.before
        assert found is not None
        return found

    @property
    def widening_steps(self) -> tuple[Step, ...]:
        return tuple(each for each in self.steps if each.how == "widened")

    @property
    def far(self) -> int:
        """How far it widens; negative if it only narrows."""
        wider = sum(each.far for each in self.widening_steps)
        return wider or -sum(each.far for each in self.steps)


def difference_between(before: Reach | None, after: Reach | None) -> Difference:
    """How a reach changed. A subject that is new had no reach; one that is gone has none."""
    steps = [*_mode_steps(before, after), *_name_steps(before, after)]
    steps = [*_drop_implied(steps)]
    steps.sort(key=lambda each: (each.how != "widened", -each.far, each.sort, each.name))
    return Difference(before, after, tuple(steps))


def _mode_steps(before: Reach | None, after: Reach | None) -> Iterator[Step]:
    old, new = _levels(before), _levels(after)
    for mode in dict.fromkeys((*old, *new)):
        was, now = old.get(mode), new.get(mode)
        # Where nothing is written, the mode is as usual.
        levels = [_level(was, now), _level(now, was)]
        if levels[0] == levels[1]:
            continue
        far = abs(levels[1] - levels[0]) * _HEAVY_WEIGHT
        if levels[1] > levels[0] and now is not None and now.widest:
            far += _EVERYTHING_WEIGHT
        shown = now or was
        assert shown is not None
        how: How = "widened" if levels[1] > levels[0] else "narrowed"
        effects: list[Effect] = ["denies" if each is None else each.effect for each in (was, now)]
        yield Step(how, "mode", shown.name, effects[0], effects[1], far, was, now)


def _level(grant: Grant | None, other: Grant | None) -> int:
    found = grant.level if grant is not None else other.usual if other is not None else None
    return -1 if found is None else found


def _levels(reach: Reach | None) -> dict[str, Grant]:
    if reach is None:
        return {}
    return {each.mode: each for each in reach.grants if each.level is not None}


def _name_steps(before: Reach | None, after: Reach | None) -> Iterator[Step]:
    """The names that either side mentions, judged by both."""
    sides = [each for each in (before, after) if each is not None]
    named = dict.fromkeys(
        (grant.sort, grant.name) for reach in sides for grant in reach.grants if grant.level is None
    )
    hidden = [_hidden_values(reach) for reach in (before, after)]
    for sort, name in named:
        was, now = (
            None if reach is None else reach.deciding_grant(sort, name) for reach in (before, after)
        )
        effects = [_effect(was, now), _effect(now, was)]
        ranks = [EFFECTS.index(each) for each in effects]
        if ranks[0] == ranks[1]:
            values = [each.get((sort, name)) for each in hidden]
            # What it was and is stays hidden; that it is another may let an agent do more.
            if None not in values and values[0] != values[1]:
                shown, far = f"{name} (another value)", _weight(sort, name, now)
                yield Step("widened", sort, shown, "denies", "allows", far, was, now)
            continue
        wider = ranks[1] > ranks[0]
        far = abs(ranks[1] - ranks[0]) * _weight(sort, name, now if wider else was)
        how: How = "widened" if wider else "narrowed"
        yield Step(how, sort, name, effects[0], effects[1], far, was, now)


def _hidden_values(reach: Reach | None) -> dict[tuple[str, str], list[str]]:
    """The hidden values of a reach by what they are about, each in order."""
    found: dict[tuple[str, str], list[str]] = {}
    for each in () if reach is None else reach.grants:
        if each.hidden is not None:
            found.setdefault((each.sort, each.name), []).append(each.hidden.value)
    return {key: sorted(values) for key, values in found.items()}


def _effect(grant: Grant | None, other: Grant | None) -> Effect:
    """What a grant does; without one, the opposite of what the other side had to write down."""
    if grant is not None:
        return grant.effect
    return "allows" if other is not None and other.effect == "denies" else "denies"


def _weight(sort: str, name: str, grant: Grant | None) -> int:
    if grant is not None and grant.name == name and is_unrestricted(grant):
        return _EVERYTHING_WEIGHT
    if name.endswith(("/*", "(*)")) or name == EVERYTHING:
        return _GROUP_WEIGHT
    return _HEAVY_WEIGHT if sort in _HEAVY_SORTS else 1


def _drop_implied(steps: Sequence[Step]) -> Iterator[Step]:
    """The steps without those that a wider one of the same sort and effects already says."""
    for each in steps:
        is_implied = any(
            other is not each
            and (other.sort, other.how, other.before, other.after)
            == (each.sort, each.how, each.before, each.after)
            and covers(other.name, each.name, each.sort)
            and not covers(each.name, other.name, each.sort)
            # A deny or ask that went is worth a line of its own.
            and not (each.was is not None and not each.was.base)
            for other in steps
        )
        if not is_implied:
            yield each
