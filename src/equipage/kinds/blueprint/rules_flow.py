"""Agents that promise a verdict, and the conditions that read it.

An agent with a `verdict` says which words it may end with, and where: as the whole of its result (`body`) or below it
in `parts.verdict` (`part`). Conditions of branches and loops compare what stands there with literals. Only what is
sure is told: where several agents write to one place, a comparison is right as soon as it fits one of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, Literal

import msgspec

from equipage.core import codes as core_codes
from equipage.core.diagnostics import Also, Change, Fact, Remedy, Severity, Shown
from equipage.core.path import Path
from equipage.core.text import Guesses
from equipage.kinds.blueprint import codes
from equipage.kinds.blueprint.walks import (
    FlowPart,
    flow_parts,
    has_holes,
    items,
    level_of,
    lints_of_blueprint,
    names_in,
)
from equipage.loading.session import Session
from equipage.loading.tree import mapping

# --- dialect -----------------------------------------------------------------------------------
# The two wire forms of expressions, and the paths in them.
#
# The older form writes `le`, `ge`, `operand`, `operands`, `of` and `exists` with a path; the newer one `lte`, `gte`,
# `arg` and `args`, has `mod` and `call_extern`, and reads paths when it loads. Files of both are around under one
# version number, so both load. A flow that mixes them runs nowhere.

#: Operators that only one form has: older to newer name, and back.
_NEWER_OPERATORS: dict[str, str | None] = {"le": "lte", "ge": "gte"}
_OLDER_OPERATORS: dict[str, str | None] = {
    "lte": "le",
    "gte": "ge",
    "mod": None,
    "call_extern": None,
}
#: The field of an operator, in the newer and in the older form.
OPERANDS: dict[str, tuple[str, str]] = {
    "not": ("arg", "operand"),
    "and": ("args", "operands"),
    "or": ("args", "operands"),
    "exists": ("arg", "at"),
    "len": ("arg", "of"),
}
_SEGMENT = re.compile(r"""\.?\["(?P<quoted>[^"]+)"\]|\.(?P<plain>[^.\[]+)""")


#: Fields that came after the last program which reads the older form, by where they stand. The `lints` of an agent
#: are not among them: in a header they were a key like any other.
_LATER: dict[str, tuple[str, ...]] = {
    "blueprint": (
        *(
            "default_init_ctx",
            "default_agent_ctx",
            "default_context_policy",
            "metas",
            "projection_placement",
        ),
        *(
            "audits",
            "degradation_policy",
            "runners",
            "default_runner",
            "check_policy",
            "blueprint_ref_includes",
        ),
        "subprocesses",
    ),
    "metadata": ("strict_verdict_handling", "lints"),
    "strategy": ("strict_binding",),
    "agent": ("runner", "runner_ref", "verdict"),
    "meta": ("ctx", "context_policy", "meta_ref", "projection_name"),
}


class _Mark(msgspec.Struct, frozen=True):
    """A spelling that only one of the forms has."""

    path: Path
    spelled: str
    instead: str | None
    is_key: bool = False


class _Forms(msgspec.Struct, frozen=True):
    older: list[_Mark] = []
    newer: list[_Mark] = []


def _forms(config: Any) -> _Forms:
    forms = _Forms([], [])
    for part in flow_parts(config):
        if part.tag == "op":
            _note(part, forms)
    return forms


def _note(part: FlowPart, forms: _Forms) -> None:
    name = part.name
    if name in _NEWER_OPERATORS:
        forms.older.append(_Mark((*part.path, "op"), name, _NEWER_OPERATORS[name]))
    elif name in _OLDER_OPERATORS:
        forms.newer.append(_Mark((*part.path, "op"), name, _OLDER_OPERATORS[name]))
    elif name in OPERANDS:
        newer, older = OPERANDS[name]
        if newer in part.value and older in part.value:
            return  # told as such
        if newer in part.value:
            forms.newer.append(_Mark((*part.path, newer), newer, older, is_key=True))
        if older in part.value:
            forms.older.append(_Mark((*part.path, older), older, newer, is_key=True))


def operand_is_given_once(config: Any, _session: Session) -> Iterator[Fact]:
    """`not`, `and`, `or`, `exists` and `len` have one operand, under either of its names."""
    for part in flow_parts(config):
        newer, older = OPERANDS.get(part.name, ("", "")) if part.tag == "op" else ("", "")
        if not newer:
            continue
        if newer not in part.value and older not in part.value:
            expected = "a list of expressions" if newer == "args" else "an expression"
            owner = f"`{part.name}`"
            yield core_codes.MISSING_FIELD.at(
                part.path, part="key", field=newer, owner=owner, expected=expected
            )
        elif newer in part.value and older in part.value:
            yield codes.OPERAND_TWICE.at(
                (*part.path, older), part="key", older=older, newer=newer, op=part.name
            )


def forms_are_not_mixed(config: Any, _session: Session) -> Iterator[Fact]:
    """One flow, one wire form; the rarer one is the odd one out, and the older one beside fields that came later."""
    forms = _forms(config)
    if not forms.older:
        return
    if forms.newer:
        older_is_odd = len(forms.older) <= len(forms.newer)
        odd, rest = (forms.older, forms.newer) if older_is_odd else (forms.newer, forms.older)
        also = Also(
            f"`{rest[0].spelled}` is of the other form",
            path=rest[0].path,
            part="key" if rest[0].is_key else "value",
        )
        form = "older" if older_is_odd else "newer"
        yield from (_mixed(mark, also, form, "the rest of this flow does not") for mark in odd)
        return
    later = next(_later_fields(config), None)
    if later is not None:
        also = Also("no program that reads it knows this field", path=later, part="key")
        yield from (
            _mixed(mark, also, "older", f"`{later[-1]}` came later") for mark in forms.older
        )


def _mixed(mark: _Mark, also: Also, form: str, rest: str) -> Fact:
    return codes.MIXED_WIRE_FORMS.at(
        mark.path,
        part="key" if mark.is_key else "value",
        also=[also],
        remedy=_renaming(mark),
        spelled=mark.spelled,
        form=form,
        rest=rest,
        instead=mark.instead,
    )


def _later_fields(config: Any) -> Iterator[Path]:
    """Fields of a blueprint that the programs of the older form refuse."""
    for owner, path, value in _owners(mapping(config)):
        yield from ((*path, field) for field in _LATER[owner] if field in value)


def _owners(config: dict[str, Any]) -> Iterator[tuple[str, Path, dict[str, Any]]]:
    yield "blueprint", (), config
    for name in ("metadata", "strategy"):
        yield name, (name,), mapping(config.get(name))
    for key in ("agents", "operators"):
        for number, each in items(config.get(key)):
            if key == "agents":
                yield "agent", (key, number), mapping(each)
            yield "meta", (key, number, "meta"), mapping(mapping(each).get("meta"))


def _renaming(mark: _Mark) -> Remedy | None:
    """The other spelling, where the rest stays as it is. `exists` takes another sort of value in each form."""
    if mark.instead is None or mark.spelled == "at" or mark.instead == "at":
        return None
    change = Change(mark.path, mark.instead, "key" if mark.is_key else "value")
    return Remedy(f"write `{mark.instead}`", (change,), safe=False)


def paths_are_well_formed(config: Any, _session: Session) -> Iterator[Fact]:
    """`$` followed by `.key` or `["key"]`. The older form takes any text and fails when it runs."""
    forms = _forms(config)
    strict = bool(forms.newer) and not forms.older
    for part in flow_parts(config):
        at = part.value.get("at") if part.tag == "op" and part.name in ("path", "exists") else None
        if isinstance(at, str) and canonical_path(at) is None:
            hint = _path_hint(at)
            severity: Severity | None = "error" if strict else None
            yield codes.MALFORMED_PATH.at(
                (*part.path, "at"), severity=severity, found=Shown(at), hint=hint
            )


def _path_hint(at: str) -> str | None:
    if re.fullmatch(r"\$?[A-Za-z_][\w.-]*", at):
        return f"write `$.{at.lstrip('$')}`"
    if re.search(r"\[\d+\]", at):
        return "there are no list indexes in paths"
    return 'write `$`, then `.key` or `["key"]` for each step'


def canonical_path(at: str) -> str | None:
    """The path as today's programs print it; None if they cannot read it."""
    if not at.startswith("$"):
        return None
    offset, steps = 1, ["$"]
    while offset < len(at):
        match = _SEGMENT.match(at, offset)
        if match is None:
            return None
        key = match["plain"] or match["quoted"]
        steps.append(f'["{key}"]' if re.search(r"[.\[\]]", key) else f".{key}")
        offset = match.end()
    return "".join(steps)


def runs_today(config: Any) -> bool:
    """Whether today's programs can read every expression of a flow."""
    return not _forms(config).older and all(
        not isinstance(part.value.get("at"), str) or canonical_path(part.value["at"]) is not None
        for part in flow_parts(config)
        if part.tag == "op" and part.name == "path"
    )


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
        words = {
            *meant,
            *meant.values(),
        }  # one that is misspelt is told as such, and not missed as well
        for each in place.results:
            mentioned[each.agent].update(
                word for word in contracts[each.agent].values if word in words
            )
        if place.is_sure:
            yield from _misread(comparisons, place, meant, contracts)
    yield from _unhandled(config, contracts, readings, mentioned)


def _contracts(config: Any) -> Iterator[Contract]:
    """The verdicts that agents promise. Of two agents with one name the first counts."""
    agents = mapping(config).get("agents")
    first: dict[str, int] | None = None
    for number, agent in items(agents):
        verdict = mapping(mapping(agent).get("verdict"))
        channel, values, name = (
            verdict.get("channel"),
            verdict.get("values"),
            mapping(agent).get("name"),
        )
        if (
            channel not in ("body", "part")
            or not isinstance(name, str)
            or not isinstance(values, list)
        ):
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
            stack.extend(
                ((*here, number), each, decides) for number, each in reversed(items(value))
            )
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
        stack.extend(
            ((*here, key), value[key], goes_on) for key in reversed(fields) if key in value
        )


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
        words = (
            [((*here, number), each) for number, each in items(told)]
            if op == "in"
            else [(here, told)]
        )
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
    fitting = [
        contracts[each.agent] for each in promised if contracts[each.agent].channel == each.channel
    ]
    promising = fitting or [contracts[each.agent] for each in promised]
    words = {word: None for contract in promising for word in contract.values}
    return Place(
        promised,
        fitting,
        words,
        is_sure=bool(promised) and all(each.agent in contracts for each in results),
    )


def _meant_words(
    comparisons: list[Comparison], place: Place, guesses: Guesses
) -> dict[str, str | None]:
    """Each word that a place is compared with, and the one that can stand there and is meant, if any."""
    if not place.results:
        return {}
    words = dict.fromkeys(word for each in comparisons for _, word in each.words)
    return {
        word: word if word in place.words else guesses.nearest(word, place.words) for word in words
    }


def _misread(
    comparisons: list[Comparison],
    place: Place,
    meant: dict[str, str | None],
    contracts: dict[str, Contract],
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
    return codes.VERDICT_UNKNOWN_VALUE.at(
        path, also=[also], remedy=remedy, name=name, found=Shown(word), nearest=guess
    )


def _wrong_channel(comparison: Comparison, meant: Result, contract: Contract) -> Fact:
    right = meant.read_in(contract.channel)
    return codes.VERDICT_CHANNEL.at(
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
        for each in _missed(
            config, contracts[agent], mentioned[agent], is_read=any(map(readings.reads, found))
        )
    ]
    if missed and not has_holes(config["flow"]):
        yield from missed


def _missed(
    config: Any, contract: Contract, mentioned: set[str], *, is_read: bool
) -> Iterator[Fact]:
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
        yield codes.VERDICT_NEVER_READ.at(contract.path, part="key", name=Shown(contract.agent))
        return
    for word in missing:
        path = (*contract.path, "values", contract.values[word])
        yield codes.VERDICT_UNHANDLED.at(path, name=Shown(contract.agent), value=Shown(word))


def _is_strict(config: Any) -> bool:
    return mapping(mapping(config).get("metadata")).get("strict_verdict_handling") is True


def _level(config: Any, contract: Contract, kind: str) -> str | None:
    agent = mapping(config)["agents"][contract.number]
    return level_of(kind, "suspicious", mapping(agent).get("lints"), lints_of_blueprint(config))
