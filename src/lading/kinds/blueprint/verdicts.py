"""Agents that promise a verdict, and the conditions that read it.

An agent with a `verdict` says which words it may end with, and where: as the whole of its result (`body`) or below it
in `parts.verdict` (`part`). Conditions of branches and loops compare what stands there with literals. Only what is
sure is told: where several agents write to one place, a comparison is right as soon as it fits one of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

import msgspec

from lading.diagnostics import Also, Change, Fact, Remedy, Shown, fact
from lading.kinds.blueprint.dialect import OPERANDS, canonical_path
from lading.kinds.blueprint.lints import level_of, lints_of_blueprint
from lading.kinds.blueprint.parts import flow_parts, has_holes, items, mapping, names_in
from lading.nearest import nearest
from lading.path import Path
from lading.session import Session

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
    """A place that a comparison may mean: the result of a step, or the verdict below it."""

    agent: str
    out: str
    channel: Channel

    def read_in(self, channel: Channel) -> str:
        return self.out if channel == "body" else self.out + _PART


class _Readings(msgspec.Struct, frozen=True):
    """What a flow does with the results of its steps."""

    results: dict[str, list[Result]] = {}  #: by place
    steps: dict[str, list[Result]] = {}  #: by agent
    comparisons: list[Comparison] = []
    others: set[str] = set()  #: places that decide something in a way that cannot be followed

    def reads(self, at: str) -> bool:
        """Whether what stands at a place, or something around it, is read in another way than compared with words."""
        around = (at[:end] for end, character in enumerate(at) if character in ".[")
        return at in self.others or any(each in self.others for each in around)


def verdicts_are_read_as_promised(config: Any, _session: Session) -> Iterator[Fact]:
    """Conditions look for a verdict where it stands, for words it can be, and for each of them."""
    contracts = {each.agent: each for each in _contracts(config)}
    if not contracts:
        return
    readings = _readings(config)
    mentioned: dict[str, set[str]] = {agent: set() for agent in contracts}
    for each in readings.comparisons:
        meant = readings.results.get(each.at, [])
        for result in meant:
            if result.agent in contracts:
                mentioned[result.agent].update(_meant_words(each, contracts[result.agent]))
        if meant and all(result.agent in contracts for result in meant):
            yield from _misread(each, meant, contracts)
    missed = [each for name, it in contracts.items() for each in _unhandled(config, it, readings, mentioned[name])]
    if missed and not has_holes(config["flow"]):
        yield from missed


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


def _readings(config: Any) -> _Readings:
    readings = _Readings({}, {}, [], set())
    for part in flow_parts(config):
        if part.tag == "op":
            continue
        if part.name == "step":
            for result in _results(part.value):
                readings.results.setdefault(result.read_in(result.channel), []).append(result)
                readings.steps.setdefault(result.agent, []).append(result)
        for field in _DECIDING.get(part.name, ()):
            asks = part.name in _CONDITIONS
            for found in _read_in((*part.path, field), part.value.get(field), asks=asks):
                if isinstance(found, Comparison):
                    readings.comparisons.append(found)
                else:
                    readings.others.add(found)
    return readings


def _results(step: dict[str, Any]) -> Iterator[Result]:
    ref, out = step.get("ref"), _place(step.get("out"))
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
        at, literal = _place(value.get(read)), mapping(value.get(given))
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


def _place(expression: Any) -> str | None:
    at = mapping(expression).get("at") if mapping(expression).get("op") == "path" else None
    return canonical_path(at) if isinstance(at, str) else None


# ----------------------------------------------------------------------------------------------------- what is told


def _misread(comparison: Comparison, meant: list[Result], contracts: dict[str, Contract]) -> Iterator[Fact]:
    """The wrong channel; in the right one, words that are no verdict."""
    fitting = [contracts[each.agent] for each in meant if contracts[each.agent].channel == each.channel]
    if not fitting:
        if comparison.words:
            yield _wrong_channel(comparison, meant[0], contracts[meant[0].agent])
        return
    known = {word: None for contract in fitting for word in contract.values}
    for path, word in comparison.words:
        if word not in known:
            contract, guess = fitting[0], nearest(word, known)
            also = Also("promised here", path=(*contract.path, "values"))
            remedy = Remedy(f"change to `{guess}`", (Change(path, guess),), safe=False) if guess else None
            name, found = Shown(contract.agent), Shown(word)
            yield fact("verdict-unknown-value", path, also=[also], remedy=remedy, name=name, found=found, nearest=guess)


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


def _meant_words(comparison: Comparison, contract: Contract) -> Iterator[str]:
    """The verdicts that a comparison is about; one that is misspelt is told as such and not missed as well."""
    for _, word in comparison.words:
        meant = word if word in contract.values else nearest(word, contract.values)
        if meant is not None:
            yield meant


def _unhandled(config: Any, contract: Contract, readings: _Readings, mentioned: set[str]) -> Iterator[Fact]:
    """Verdicts that no condition mentions, or the whole contract if none is."""
    places = _places(contract, readings)
    missing = [word for word in contract.values if word not in mentioned]
    if not places or not missing:
        return  # no step runs the agent, or all is well
    kind = "verdict-value-unhandled" if mentioned else "verdict-contract-never-read"
    level = "deny" if _is_strict(config) else _level(config, contract, kind)
    # Unless somebody asks for more: the last verdict is what the other arm of a condition stands for, and a place
    # that is read in other ways may well decide something.
    enough = (len(missing) == 1 and mentioned) or any(map(readings.reads, places))
    if level == "allow" or (level is None and enough):
        return
    if not mentioned:
        yield fact("verdict-never-read", contract.path, part="key", name=Shown(contract.agent))
        return
    for word in missing:
        path = (*contract.path, "values", contract.values[word])
        yield fact("verdict-unhandled", path, name=Shown(contract.agent), value=Shown(word))


def _places(contract: Contract, readings: _Readings) -> set[str]:
    """Where the verdicts of an agent stand in the context."""
    return {each.read_in(contract.channel) for each in readings.steps.get(contract.agent, ())}


def _is_strict(config: Any) -> bool:
    return mapping(mapping(config).get("metadata")).get("strict_verdict_handling") is True


def _level(config: Any, contract: Contract, kind: str) -> str | None:
    agent = mapping(config)["agents"][contract.number]
    return level_of(kind, "suspicious", mapping(agent).get("lints"), lints_of_blueprint(config))
