"""Agents that promise a verdict, and the conditions that read it.

An agent with a `verdict` says which words it may end with, and where: as the whole of its result (`body`) or below it
in `parts.verdict` (`part`). Conditions of branches and loops compare what stands there with literals. Only what is
sure is told: where several agents write to one place, a comparison is right as soon as it fits one of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Literal

import msgspec

from equipage.diagnostics import Also, Change, Fact, Remedy, Shown, fact
from equipage.kinds.blueprint.dialect import OPERANDS, canonical_path
from equipage.kinds.blueprint.lints import level_of, lints_of_blueprint
from equipage.kinds.blueprint.parts import flow_parts, has_holes, items, names_in
from equipage.nearest import Guesses
from equipage.path import Path
from equipage.session import Session
from equipage.tree import mapping

Channel = Literal["body", "part"]

#: Where the verdict of the channel `part` stands below the result of a step.
_PART = ".parts.verdict"
#: Fields of nodes from which a verdict can go on to decide something; what a step is given does not.
_DECIDING = {"branch": ("cond",), "loop": ("cond",), "fanout": ("items",), "assign": ("value",)}
_CONDITIONS = ("branch", "loop")
#: Operators that compare: which field may be read, and which given.
_SIDES = {
    "eq": (("lhs", "rhs"), ("rhs", "lhs")),
    "ne": (("lhs", "rhs"), ("rhs", "lhs")),
    "in": (("needle", "haystack"),),
}


class Contract(msgspec.Struct, frozen=True):
    """What an agent promises about its verdict."""

    agent: str
    number: int  #: of the agent
    channel: Channel
    values: dict[str, int]  #: each with its first number

    @property
    def path(self) -> Path:
        return ("agents", self.number, "verdict")


class Comparison(msgspec.Struct, frozen=True):
    """A condition that compares what stands at one place with words."""

    at: str  #: the place, in the form that is printed
    path: Path  #: where that is written
    words: tuple[tuple[Path, str], ...]


class Result(msgspec.Struct, frozen=True):
    """What a comparison may mean: the result of a step, or the verdict below it."""

    agent: str
    out: str
    channel: Channel

    def read_in(self, channel: Channel) -> str:
        return self.out if channel == "body" else self.out + _PART


class Readings(msgspec.Struct, frozen=True):
    """What a flow does with the results of its steps. All but `others` by place."""

    results: dict[str, dict[Result, None]]
    comparisons: dict[str, list[Comparison]]
    others: set[str]  #: places that decide something in a way that cannot be followed

    def reads(self, at: str) -> bool:
        """Whether what stands at a place, or something around it, is read in another way than compared with words."""
        around = (at[:end] for end, character in enumerate(at) if character in ".[")
        return at in self.others or any(each in self.others for each in around)


class Place(msgspec.Struct, frozen=True):
    """A place that conditions ask about, and what is promised there."""

    results: list[Result]  #: of agents that promise something
    fitting: list[Contract]  #: those that promise it in this channel
    words: dict[str, None]  #: that can stand here, or would if the channel were right
    is_sure: bool  #: whether nobody else writes to it


def verdicts_are_read_as_promised(config: Any, session: Session) -> Iterator[Fact]:
    """Conditions look for a verdict where it stands, for words it can be, and for each of them."""
    contracts = {each.agent: each for each in _contracts(config)}
    if not contracts:
        return
    readings = _readings(config)
    mentioned: dict[str, set[str]] = {agent: set() for agent in contracts}
    for at, comparisons in readings.comparisons.items():
        place = _place(readings.results.get(at, {}), contracts)
        meant = _meant_words(comparisons, place, session.guesses)
        words = {*meant, *meant.values()}  # one that is misspelt is told as such, and not missed as well
        for each in place.results:
            mentioned[each.agent].update(word for word in contracts[each.agent].values if word in words)
        if place.is_sure:
            yield from _misread(comparisons, place, meant, contracts)
    yield from _unhandled(config, contracts, readings, mentioned)


def _contracts(config: Any) -> Iterator[Contract]:
    """The verdicts that agents promise. Of two agents with one name the first counts."""
    agents = mapping(config).get("agents")
    first: dict[str, int] | None = None
    for number, agent in items(agents):
        verdict = mapping(mapping(agent).get("verdict"))
        channel, values, name = verdict.get("channel"), verdict.get("values"), mapping(agent).get("name")
        if channel not in ("body", "part") or not isinstance(name, str) or not isinstance(values, list):
            continue
        first = first or names_in(config, "agents").first
        if first[name] == number and all(isinstance(each, str) for each in values):
            yield Contract(name, number, channel, _numbered(values))


def _numbered(values: list[str]) -> dict[str, int]:
    numbers: dict[str, int] = {}
    for number, value in enumerate(values):
        numbers.setdefault(value, number)
    return numbers


# ------------------------------------------------------------------------------------------------- what the flow does


def _readings(config: Any) -> Readings:
    readings = Readings({}, {}, set())
    for part in flow_parts(config):
        if part.tag == "op":
            continue
        if part.name == "step":
            for result in _results(part.value):
                readings.results.setdefault(result.read_in(result.channel), {})[result] = None
        for field in _DECIDING.get(part.name, ()):
            asks = part.name in _CONDITIONS
            for found in _read_in((*part.path, field), part.value.get(field), asks=asks):
                if isinstance(found, Comparison):
                    readings.comparisons.setdefault(found.at, []).append(found)
                else:
                    readings.others.add(found)
    return readings


def _results(step: dict[str, Any]) -> Iterator[Result]:
    ref, out = step.get("ref"), _read_at(step.get("out"))
    if isinstance(ref, str) and out is not None:
        yield Result(ref, out, "body")
        yield Result(ref, out, "part")


def _read_in(path: Path, expression: Any, *, asks: bool) -> Iterator[Comparison | str]:
    """What an expression reads: comparisons with words, as far as they alone decide it, and other places."""
    stack: list[tuple[Path, Any, bool]] = [(path, expression, asks)]
    while stack:
        here, value, decides = stack.pop()
        if isinstance(value, list):
            stack.extend(((*here, number), each, decides) for number, each in reversed(items(value)))
        if not isinstance(value, dict) or value.get("op") == "lit":
            continue
        comparison = _comparison(here, value) if decides else None
        if comparison is not None:
            yield comparison
            continue
        at = value.get("at")
        if isinstance(at, str) and (place := canonical_path(at)) is not None:
            yield place
        goes_on = decides and value.get("op") in ("and", "or", "not")
        fields = OPERANDS[value["op"]] if goes_on else tuple(value)
        stack.extend(((*here, key), value[key], goes_on) for key in reversed(fields) if key in value)


def _comparison(path: Path, value: dict[str, Any]) -> Comparison | None:
    """`eq` and `ne` of a place and a literal, either way round, and `in` of a place and a list of literals."""
    op = value.get("op")
    sides = _SIDES.get(op, ()) if isinstance(op, str) else ()
    for read, given in sides:
        at, literal = _read_at(value.get(read)), mapping(value.get(given))
        if at is None or literal.get("op") != "lit":
            continue
        told, here = literal.get("value"), (*path, given, "value")
        if op == "in" and not isinstance(told, list):
            continue
        words = [((*here, number), each) for number, each in items(told)] if op == "in" else [(here, told)]
        # A comparison with null or a number asks whether there is a verdict, not which one.
        texts = tuple((place, word) for place, word in words if isinstance(word, str))
        return Comparison(at, (*path, read, "at"), texts)
    return None


def _read_at(expression: Any) -> str | None:
    at = mapping(expression).get("at") if mapping(expression).get("op") == "path" else None
    return canonical_path(at) if isinstance(at, str) else None


# ----------------------------------------------------------------------------------------------------- what is told


def _place(results: Iterable[Result], contracts: dict[str, Contract]) -> Place:
    promised = [each for each in results if each.agent in contracts]
    fitting = [contracts[each.agent] for each in promised if contracts[each.agent].channel == each.channel]
    promising = fitting or [contracts[each.agent] for each in promised]
    words = {word: None for contract in promising for word in contract.values}
    return Place(promised, fitting, words, is_sure=bool(promised) and all(each.agent in contracts for each in results))


def _meant_words(comparisons: list[Comparison], place: Place, guesses: Guesses) -> dict[str, str | None]:
    """Each word that a place is compared with, and the one that can stand there and is meant, if any."""
    if not place.results:
        return {}
    words = dict.fromkeys(word for each in comparisons for _, word in each.words)
    return {word: word if word in place.words else guesses.nearest(word, place.words) for word in words}


def _misread(
    comparisons: list[Comparison], place: Place, meant: dict[str, str | None], contracts: dict[str, Contract]
) -> Iterator[Fact]:
    """The wrong channel; in the right one, words that are no verdict."""
    for each in comparisons:
        if not place.fitting and each.words:
            yield _wrong_channel(each, place.results[0], contracts[place.results[0].agent])
        for path, word in each.words if place.fitting else ():
            if word not in place.words:
                yield _unknown_value(path, word, meant[word], place.fitting[0])


def _unknown_value(path: Path, word: str, guess: str | None, contract: Contract) -> Fact:
    also = Also("promised here", path=(*contract.path, "values"))
    remedy = Remedy(f"change to `{guess}`", (Change(path, guess),), safe=False) if guess else None
    name = Shown(contract.agent)
    return fact("verdict-unknown-value", path, also=[also], remedy=remedy, name=name, found=Shown(word), nearest=guess)


def _wrong_channel(comparison: Comparison, meant: Result, contract: Contract) -> Fact:
    right = meant.read_in(contract.channel)
    return fact(
        "verdict-channel",
        comparison.path,
        also=[Also("promised here", path=(*contract.path, "channel"))],
        remedy=Remedy(f"read `{right}`", (Change(comparison.path, right),), safe=False),
        name=Shown(contract.agent),
        channel=contract.channel,
        found=meant.channel,
        instead=Shown(right),
    )


def _unhandled(
    config: Any, contracts: dict[str, Contract], readings: Readings, mentioned: dict[str, set[str]]
) -> Iterator[Fact]:
    """Verdicts that no condition mentions, of agents that steps run."""
    places: dict[str, set[str]] = {}
    for at, results in readings.results.items():
        for each in results:
            if each.agent in contracts and contracts[each.agent].channel == each.channel:
                places.setdefault(each.agent, set()).add(at)
    missed = [
        each
        for agent, found in places.items()
        for each in _missed(config, contracts[agent], mentioned[agent], is_read=any(map(readings.reads, found)))
    ]
    if missed and not has_holes(config["flow"]):
        yield from missed


def _missed(config: Any, contract: Contract, mentioned: set[str], *, is_read: bool) -> Iterator[Fact]:
    missing = [word for word in contract.values if word not in mentioned]
    if not missing:
        return
    kind = "verdict-value-unhandled" if mentioned else "verdict-contract-never-read"
    level = "deny" if _is_strict(config) else _level(config, contract, kind)
    # Unless somebody asks for more: the last verdict is what the other arm of a condition stands for, and a place
    # that is read in other ways may well decide something.
    enough = is_read or (len(missing) == 1 and mentioned)
    if level == "allow" or (level is None and enough):
        return
    if not mentioned:
        yield fact("verdict-never-read", contract.path, part="key", name=Shown(contract.agent))
        return
    for word in missing:
        path = (*contract.path, "values", contract.values[word])
        yield fact("verdict-unhandled", path, name=Shown(contract.agent), value=Shown(word))


def _is_strict(config: Any) -> bool:
    return mapping(mapping(config).get("metadata")).get("strict_verdict_handling") is True


def _level(config: Any, contract: Contract, kind: str) -> str | None:
    agent = mapping(config)["agents"][contract.number]
    return level_of(kind, "suspicious", mapping(agent).get("lints"), lints_of_blueprint(config))
