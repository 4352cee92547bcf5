"""Agents that promise a verdict, and the conditions that read it.

An agent with a `verdict` lists the words it may end with, and says where it writes them: as its
whole result (`body`), or below it in `parts.verdict` (`part`). Conditions of branches and loops
compare that place with literals. Only certain mistakes are reported: where several agents write to
one place, a comparison is right as soon as it fits one of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

import msgspec

from equipage.core.diagnostics import Also, Change, Fact, Remedy, Shown
from equipage.core.path import Path
from equipage.core.text import Guesses
from equipage.kinds.blueprint import codes
from equipage.kinds.blueprint.rules import (
    canonical_path,
    correction,
    flow_is_known,
    items,
    level_of,
    names_in,
    nodes,
    place_of,
)
from equipage.kinds.blueprint.rules_flow import OPERANDS
from equipage.loading.session import Session
from equipage.loading.tree import get, mapping

Channel = Literal["body", "part"]

#: Fields of nodes that hand a value on, to where the walk does not follow it. The input of a step
#: is not among them: what an agent makes of a verdict does not decide anything in the flow.
_HANDS_ON = {"fanout": "items", "assign": "value"}
#: Operators that compare a place with words: the field of the place, and that of the words.
_SIDES = {
    "eq": (("lhs", "rhs"), ("rhs", "lhs")),
    "ne": (("lhs", "rhs"), ("rhs", "lhs")),
    "in": (("needle", "haystack"),),
}


class Contract(msgspec.Struct, frozen=True):
    """The verdict that an agent promises."""

    agent: str
    path: Path  #: of the `verdict`
    channel: Channel
    values: dict[str, int]  #: each word, and its number in the list
    lints: Any  #: those of the agent


class Result(msgspec.Struct, frozen=True):
    """What a step writes to a place: its whole result, or the verdict below it."""

    agent: str
    out: str  #: the place that the step names
    channel: Channel

    def place(self, channel: Channel) -> str:
        """Where the verdict is if the agent gives it in this channel."""
        return self.out if channel == "body" else f"{self.out}.parts.verdict"


class Comparison(msgspec.Struct, frozen=True):
    """A condition that compares a place with words."""

    place: str
    path: Path  #: where the blueprint names the place
    words: tuple[tuple[Path, str], ...]


class Readings(msgspec.Struct, frozen=True):
    """What a flow does with the results of its steps."""

    results: dict[str, dict[Result, None]]  #: by place
    comparisons: dict[str, list[Comparison]]  #: by place
    others: set[str]  #: places that are read in a way that cannot be followed

    def may_decide(self, place: str) -> bool:
        """Whether a place, or anything around it, is read other than by comparing it with words."""
        around = (place[:end] for end, letter in enumerate(place) if letter in ".[")
        return place in self.others or any(each in self.others for each in around)


def verdicts_are_read_as_promised(config: Any, session: Session) -> Iterator[Fact]:
    """Conditions look for a verdict in its channel, compare it with words that it can be, and ask
    for each of them."""
    contracts = _contracts(config)
    if not contracts:
        return
    readings = _readings(config)
    asked: dict[str, set[str]] = {agent: set() for agent in contracts}
    for place, comparisons in readings.comparisons.items():
        results = readings.results.get(place, {})
        promised = [(each, contracts[each.agent]) for each in results if each.agent in contracts]
        fitting = [contract for each, contract in promised if contract.channel == each.channel]
        meant = _meant(comparisons, fitting or [each for _, each in promised], session.guesses)
        # A misspelt word is reported as such; the word it was meant to be is not missing as well.
        words = {*meant, *meant.values()}
        for _, contract in promised:
            asked[contract.agent].update(word for word in contract.values if word in words)
        # An agent without a verdict that writes here, too, may write any word.
        for each in comparisons if promised and len(promised) == len(results) else ():
            if fitting:
                yield from _impossible(each, meant, fitting[0])
            elif each.words:
                yield _wrong_channel(each, *promised[0])
    if flow_is_known(config, session):
        yield from _not_asked_for(config, contracts, readings, asked)


def _contracts(config: Any) -> dict[str, Contract]:
    """The verdicts that agents promise, by the name of the agent."""
    contracts: dict[str, Contract] = {}
    for name, path in names_in(config, "agents").first.items():
        agent = mapping(get(config, path))
        channel, words = (get(agent, ("verdict", field)) for field in ("channel", "values"))
        if channel not in ("body", "part") or not isinstance(words, list):
            continue
        if all(isinstance(word, str) for word in words):
            values: dict[str, int] = {}
            for number, word in enumerate(words):
                values.setdefault(word, number)
            place = (*path, "verdict")
            contracts[name] = Contract(name, place, channel, values, agent.get("lints"))
    return contracts


# What the flow writes and reads.


def _readings(config: Any) -> Readings:
    readings = Readings({}, {}, set())
    for part in nodes(config, ("step", "branch", "loop", *_HANDS_ON)):
        if part.name == "step":
            for result in _results(part.value):
                readings.results.setdefault(result.place(result.channel), {})[result] = None
        elif part.name in _HANDS_ON:
            readings.others.update(_places(part.value.get(_HANDS_ON[part.name])))
        else:
            for path, condition in _conditions((*part.path, "cond"), part.value.get("cond")):
                comparison = _comparison(path, condition)
                if comparison is None:
                    readings.others.update(_places(condition))
                else:
                    readings.comparisons.setdefault(comparison.place, []).append(comparison)
    return readings


def _results(step: dict[str, Any]) -> Iterator[Result]:
    """What a condition may mean by the place that a step writes to, or by the one below it."""
    ref, out = step.get("ref"), place_of(step.get("out"))
    if isinstance(ref, str) and out is not None:
        yield Result(ref, out, "body")
        yield Result(ref, out, "part")


def _conditions(path: Path, condition: Any) -> Iterator[tuple[Path, Any]]:
    """The parts that decide a condition: those that `and`, `or` and `not` join, or the whole."""
    stack = [(path, condition)]
    while stack:
        here, value = stack.pop()
        children: list[tuple[Path, Any]] = []
        if isinstance(value, list):
            children = [((*here, number), each) for number, each in enumerate(value)]
        elif get(value, ("op",)) in ("and", "or", "not"):
            children = [((*here, key), value[key]) for key in OPERANDS[value["op"]] if key in value]
        else:
            yield here, value
        stack.extend(reversed(children))


def _places(expression: Any) -> Iterator[str]:
    """The places that an expression reads, in any order. Literals read nothing."""
    stack = [expression]
    while stack:
        value = stack.pop()
        if isinstance(value, list):
            stack.extend(value)
        elif isinstance(value, dict) and value.get("op") != "lit":
            stack.extend(value.values())
            at = value.get("at")
            if isinstance(at, str) and (place := canonical_path(at)) is not None:
                yield place


def _comparison(path: Path, value: Any) -> Comparison | None:
    """`eq` and `ne` of a place and a literal, either way round; `in` of a place and a literal list.

    A comparison with null or a number asks whether there is a verdict, not which; it has no words.
    """
    op = get(value, ("op",))
    for read, given in _SIDES.get(op, ()) if isinstance(op, str) else ():
        place, literal = place_of(value.get(read)), mapping(value.get(given))
        if place is None or literal.get("op") != "lit":
            continue
        here: Path = (*path, given, "value")
        words = [(here, literal.get("value"))]
        if op == "in":
            if not isinstance(literal.get("value"), list):
                continue
            words = [((*here, number), each) for number, each in items(literal["value"])]
        texts = tuple((where, word) for where, word in words if isinstance(word, str))
        return Comparison(place, (*path, read, "at"), texts)
    return None


# What is wrong with it.


def _meant(
    comparisons: list[Comparison], contracts: list[Contract], guesses: Guesses
) -> dict[str, str | None]:
    """Each word of the comparisons, and the word of the contracts that was meant, if any."""
    if not contracts:
        return {}
    possible = {word: None for contract in contracts for word in contract.values}
    words = dict.fromkeys(word for each in comparisons for _, word in each.words)
    return {word: word if word in possible else guesses.nearest(word, possible) for word in words}


def _impossible(
    comparison: Comparison, meant: dict[str, str | None], contract: Contract
) -> Iterator[Fact]:
    """The words of a comparison that are no verdict."""
    for path, word in comparison.words:
        if (guess := meant[word]) != word:
            yield codes.VERDICT_UNKNOWN_VALUE.at(
                path,
                also=[Also("promised here", path=(*contract.path, "values"))],
                remedy=correction(path, guess),
                name=Shown(contract.agent),
                found=Shown(word),
                nearest=guess,
            )


def _wrong_channel(comparison: Comparison, result: Result, contract: Contract) -> Fact:
    right = result.place(contract.channel)
    return codes.VERDICT_CHANNEL.at(
        comparison.path,
        also=[Also("promised here", path=(*contract.path, "channel"))],
        remedy=Remedy(f"read `{right}`", (Change(comparison.path, right),), safe=False),
        name=Shown(contract.agent),
        channel=contract.channel,
        found=result.channel,
        instead=Shown(right),
    )


def _not_asked_for(
    config: Any, contracts: dict[str, Contract], readings: Readings, asked: dict[str, set[str]]
) -> Iterator[Fact]:
    """Verdicts that no condition asks for, of agents that steps run."""
    may_decide: dict[str, bool] = {}
    for place, results in readings.results.items():
        for each in results:
            contract = contracts.get(each.agent)
            if contract is not None and contract.channel == each.channel:
                decides = may_decide.get(each.agent, False) or readings.may_decide(place)
                may_decide[each.agent] = decides
    for agent, decides in may_decide.items():
        if _is_reported(config, contracts[agent], asked[agent], may_decide=decides):
            yield from _unasked(contracts[agent], asked[agent])


def _is_reported(config: Any, contract: Contract, asked: set[str], *, may_decide: bool) -> bool:
    """Whether the words that no condition asks for are worth a finding."""
    if get(config, ("metadata", "strict_verdict_handling")) is True:
        return True
    kind = "verdict-value-unhandled" if asked else "verdict-contract-never-read"
    level = level_of(kind, "suspicious", contract.lints, get(config, ("metadata", "lints")))
    if level is not None:
        return level != "allow"
    # The last word is what the other arm of a condition is for, and a place that is read in other
    # ways may decide something there.
    is_other_arm = bool(asked) and len(asked) == len(contract.values) - 1
    return not may_decide and not is_other_arm


def _unasked(contract: Contract, asked: set[str]) -> Iterator[Fact]:
    name = Shown(contract.agent)
    if contract.values and not asked:
        yield codes.VERDICT_NEVER_READ.at(contract.path, part="key", name=name)
        return
    for word, number in contract.values.items():
        if word not in asked:
            path = (*contract.path, "values", number)
            yield codes.VERDICT_UNHANDLED.at(path, name=name, value=Shown(word))


RULES = (verdicts_are_read_as_promised,)
