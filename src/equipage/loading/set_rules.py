"""What loads that belong together find: duplicate names, broken references between files."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence

from equipage.core.diagnostics import Diagnostic, Fact
from equipage.loading.findings import deduplicated
from equipage.loading.kind import Offer
from equipage.loading.outcome import Outcome, place_more


def set_findings(outcomes: Sequence[Outcome]) -> list[Diagnostic]:
    """What the rules about sets of files find in loads that belong together."""
    offers = [offer for each in outcomes if (offer := each.offer()) is not None]
    return [each for _, each in findings_by_load(outcomes, offers)]


def findings_by_load(
    outcomes: Sequence[Outcome], offers: Sequence[Offer]
) -> Iterator[tuple[Outcome, Diagnostic]]:
    """What the set rules and cross rules of each kind find, with the load it is about."""
    by_kind: dict[int, list[Outcome]] = {}
    for outcome in outcomes:
        by_kind.setdefault(id(outcome.kind), []).append(outcome)
    for group in by_kind.values():
        together = group[0].kind.together
        made = [rule(group) for rule in together.set_rules]
        made += [rule(group, offers) for rule in together.cross_rules]
        facts: dict[int, tuple[Outcome, list[Fact]]] = {}
        for outcome, each in itertools.chain.from_iterable(made):
            facts.setdefault(id(outcome), (outcome, []))[1].append(each)
        for outcome, those in facts.values():
            yield from ((outcome, each) for each in place_more(outcome, those))


def same_once(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Each finding once, also in a file that several loads read."""
    seen: dict[tuple[object, ...], Diagnostic] = {}
    for each in diagnostics:
        seen.setdefault(each.identity(), each)
    return deduplicated(seen.values())
