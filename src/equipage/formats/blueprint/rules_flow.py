"""Rules about the flow: its two wire forms, its paths, and the verdicts that conditions read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Literal

import msgspec

from equipage.core import codes as core_codes
from equipage.core.diagnostics import Part
from equipage.formats.blueprint import codes
from equipage.formats.blueprint.rules import (
    canonical_path,
    canonical_path_of,
    correction,
    entries,
    enumerate_list,
    expressions,
    flow_is_known,
    lint_level,
    names_in,
    nodes,
)
from equipage.plugin import (
    Also,
    Change,
    Fact,
    Guesses,
    Path,
    Remedy,
    Session,
    Severity,
    Shown,
    get,
    mapping_or_empty,
)

# The wire forms. The older one writes `le`, `ge`, `operand`, `operands`, `of` and `exists` with a
# path. The newer one writes `lte`, `gte`, `arg` and `args`, adds `mod` and `call_extern`, and reads
# paths when it loads. Files of both are in use under one version number, so both load. A flow that
# mixes them runs nowhere.

#: The field of an operator, in the newer and in the older form.
OPERANDS: dict[str, tuple[str, str]] = {
    "not": ("arg", "operand"),
    "and": ("args", "operands"),
    "or": ("args", "operands"),
    "exists": ("arg", "at"),
    "len": ("arg", "of"),
}
#: Operators that only one of the forms has, each with its name in the other form.
_OLDER_OPERATORS: dict[str, str | None] = {"le": "lte", "ge": "gte"}
_NEWER_OPERATORS: dict[str, str | None] = {
    "lte": "le",
    "gte": "ge",
    "mod": None,
    "call_extern": None,
}
#: Fields that no program of the older form knows, by the path of their owner. The `lints` of an
#: agent are not among them: in a header those programs read them as a key like any other.
_LATER_FIELDS: dict[Path, tuple[str, ...]] = {
    (): (
        "default_init_ctx", "default_agent_ctx", "default_context_policy", "metas",
        "projection_placement", "audits", "degradation_policy", "runners", "default_runner",
        "check_policy", "blueprint_ref_includes", "subprocesses",
    ),
    ("metadata",): ("strict_verdict_handling", "lints"),
    ("strategy",): ("strict_binding",),
}  # fmt: skip
_LATER_AGENT_FIELDS = ("runner", "runner_ref", "verdict")
_LATER_META_FIELDS = ("ctx", "context_policy", "meta_ref", "projection_name")
#: Fields of nodes that are written to, so that only a path makes sense there.
_TARGET_FIELDS = {
    "step": ("out",),
    "loop": ("counter",),
    "fanout": ("bind", "out"),
    "try": ("err_at",),
    "assign": ("at",),
}


class _Spelling(msgspec.Struct, frozen=True):
    """A spelling that only one of the forms has."""

    path: Path
    spelled: str
    instead: str | None  #: the spelling of the other form
    part: Part = "value"


def _find_spellings(config: Any) -> tuple[list[_Spelling], list[_Spelling]]:
    """The spellings of the older form in a flow, and those of the newer form."""
    older: list[_Spelling] = []
    newer: list[_Spelling] = []
    for part in expressions(config, {*_OLDER_OPERATORS, *_NEWER_OPERATORS, *OPERANDS}):
        name, place = part.name, (*part.path, "op")
        if name in _OLDER_OPERATORS:
            older.append(_Spelling(place, name, _OLDER_OPERATORS[name]))
        elif name in _NEWER_OPERATORS:
            newer.append(_Spelling(place, name, _NEWER_OPERATORS[name]))
        else:
            new, old = OPERANDS[name]
            # `operand_is_given_once` reports an operator with both.
            if new in part.value and old not in part.value:
                newer.append(_Spelling((*part.path, new), new, old, "key"))
            elif old in part.value and new not in part.value:
                older.append(_Spelling((*part.path, old), old, new, "key"))
    return older, newer


def operand_is_given_once(config: Any, _session: Session) -> Iterator[Fact]:
    """`not`, `and`, `or`, `exists` and `len` have one operand, under either of its names."""
    for part in expressions(config, OPERANDS):
        newer, older = OPERANDS[part.name]
        if newer in part.value and older in part.value:
            yield codes.OPERAND_TWICE.at(
                (*part.path, older), part="key", older=older, newer=newer, op=part.name
            )
        elif newer not in part.value and older not in part.value:
            expected = "a list of expressions" if newer == "args" else "an expression"
            owner = f"`{part.name}`"
            yield core_codes.MISSING_FIELD.at(
                part.path, part="key", field=newer, owner=owner, expected=expected
            )


def forms_are_not_mixed(config: Any, _session: Session) -> Iterator[Fact]:
    """A flow has one wire form. The rarer one is the odd one out; so is the older form in a
    blueprint with fields that no program of that form knows."""
    older, newer = _find_spellings(config)
    later = next(_later_fields(config), None)
    if newer:
        odd, rest = (older, newer) if len(older) <= len(newer) else (newer, older)
        form, other = ("older", "newer") if odd is older else ("newer", "older")
        reason = f"the rest of this flow uses the {other} form"
        also = Also(f"`{rest[0].spelled}` is {other}", path=rest[0].path, part=rest[0].part)
    elif later is not None:
        odd, form = older, "older"
        reason = f"programs of that form do not know `{later[-1]}`"
        also = Also("added later", path=later, part="key")
    else:
        return
    for mark in odd:
        yield codes.MIXED_WIRE_FORMS.at(
            mark.path,
            part=mark.part,
            also=[also],
            remedy=_spelling_remedy(mark),
            spelled=mark.spelled,
            form=form,
            reason=reason,
            instead=mark.instead,
        )


def _later_fields(config: Any) -> Iterator[Path]:
    """The fields of a blueprint that programs of the older form refuse."""
    owners = list(_LATER_FIELDS.items())
    owners += [(path, _LATER_AGENT_FIELDS) for path, _ in entries(config, "agents")]
    owners += [
        ((*path, "meta"), _LATER_META_FIELDS)
        for key in ("agents", "operators")
        for path, _ in entries(config, key)
    ]
    for path, fields in owners:
        value = mapping_or_empty(get(config, path))
        yield from ((*path, field) for field in fields if field in value)


def _spelling_remedy(mark: _Spelling) -> Remedy | None:
    """The fix that writes the other spelling. `exists` takes another sort of value in each form, so
    its operand cannot just be renamed."""
    if mark.instead is None or "at" in (mark.spelled, mark.instead):
        return None
    change = Change(mark.path, mark.instead, mark.part)
    return Remedy(f"write `{mark.instead}`", (change,), safe=False)


def paths_are_well_formed(config: Any, _session: Session) -> Iterator[Fact]:
    """A path is `$`, then `.key` or `["key"]`. Only programs of the newer form read it at load."""
    older, newer = _find_spellings(config)
    severity: Severity | None = "error" if newer and not older else None
    for part in expressions(config, ("path", "exists")):
        at = part.value.get("at")
        if isinstance(at, str) and canonical_path(at) is None:
            path, hint = (*part.path, "at"), _path_hint(at)
            yield codes.MALFORMED_PATH.at(path, severity=severity, found=Shown(at), hint=hint)


def _path_hint(at: str) -> str:
    if re.fullmatch(r"\$?[A-Za-z_][\w.-]*", at):  # a path that lacks its `$.`: `notes`, `$notes`
        return f"write `$.{at.lstrip('$')}`"
    if re.search(r"\[\d+\]", at):
        return "paths have no list indexes"
    return 'write `$`, then `.key` or `["key"]` for each step'


def is_in_current_form(config: Any) -> bool:
    """Whether current programs can read every expression of a flow."""
    older, _ = _find_spellings(config)
    paths = (part.value.get("at") for part in expressions(config, ("path",)))
    return not older and all(canonical_path(at) is not None for at in paths if isinstance(at, str))


def targets_are_paths(config: Any, _session: Session) -> Iterator[Fact]:
    """A node writes its results to a path; no other expression can be written to."""
    for part in nodes(config, _TARGET_FIELDS):
        for field in _TARGET_FIELDS[part.name]:
            op = get(part.value, (field, "op"))
            if isinstance(op, str) and op != "path":
                path = (*part.path, field)
                yield codes.TARGET_NOT_PATH.at(path, field=field, node=part.name, op=Shown(op))


# Verdicts. An agent with a `verdict` lists the words it may end with, and says where it writes
# them: as its whole result (`body`), or below it in `parts.verdict` (`part`). Conditions of
# branches and loops compare that place with literals. Only certain mistakes are reported: where
# several agents write to one place, a comparison is right as soon as it fits one of them.

Channel = Literal["body", "part"]

#: Fields of nodes that hand a value on, to where the walk does not follow it. The input of a step
#: is not among them: what an agent makes of a verdict does not decide anything in the flow.
_FORWARDED_FIELDS = {"fanout": "items", "assign": "value"}
#: Operators that compare a place with words: the field of the place, and that of the words.
_COMPARISON_SIDES = {
    "eq": (("lhs", "rhs"), ("rhs", "lhs")),
    "ne": (("lhs", "rhs"), ("rhs", "lhs")),
    "in": (("needle", "haystack"),),
}


class VerdictContract(msgspec.Struct, frozen=True):
    """The verdict that an agent promises."""

    agent: str
    path: Path  #: of the `verdict`
    channel: Channel
    values: dict[str, int]  #: each word, and its number in the list
    lints: Any  #: those of the agent


class StepResult(msgspec.Struct, frozen=True):
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


class ResultUses(msgspec.Struct, frozen=True):
    """What a flow does with the results of its steps."""

    results: dict[str, dict[StepResult, None]]  #: by place
    comparisons: dict[str, list[Comparison]]  #: by place
    others: set[str]  #: places that are read in a way that cannot be followed

    def may_decide(self, place: str) -> bool:
        """Whether a place, or anything around it, is read other than by comparing it with words."""
        around = (place[:end] for end, letter in enumerate(place) if letter in ".[")
        return place in self.others or any(each in self.others for each in around)


def verdicts_are_read_as_promised(config: Any, session: Session) -> Iterator[Fact]:
    """Conditions read a verdict from its channel, compare it with words it can have, and handle
    all of them."""
    contracts = _contracts(config)
    if not contracts:
        return
    readings = _find_result_uses(config)
    asked: dict[str, set[str]] = {agent: set() for agent in contracts}
    for place, comparisons in readings.comparisons.items():
        results = readings.results.get(place, {})
        promised = [(each, contracts[each.agent]) for each in results if each.agent in contracts]
        fitting = [contract for each, contract in promised if contract.channel == each.channel]
        meant = _guess_verdicts(
            comparisons, fitting or [each for _, each in promised], session.guesses
        )
        # A misspelt word is reported as such; the word it was meant to be is not missing as well.
        words = {*meant, *meant.values()}
        for _, contract in promised:
            asked[contract.agent].update(word for word in contract.values if word in words)
        # An agent without a verdict that writes here, too, may write any word.
        for each in comparisons if promised and len(promised) == len(results) else ():
            if fitting:
                yield from _check_impossible_words(each, meant, fitting[0])
            elif each.words:
                yield _wrong_channel(each, *promised[0])
    if flow_is_known(config, session):
        yield from _check_unasked_verdicts(config, contracts, readings, asked)


def _contracts(config: Any) -> dict[str, VerdictContract]:
    """The verdicts that agents promise, by the name of the agent."""
    contracts: dict[str, VerdictContract] = {}
    for name, path in names_in(config, "agents").first.items():
        agent = mapping_or_empty(get(config, path))
        channel, words = (get(agent, ("verdict", field)) for field in ("channel", "values"))
        if channel not in ("body", "part") or not isinstance(words, list):
            continue
        if all(isinstance(word, str) for word in words):
            values: dict[str, int] = {}
            for number, word in enumerate(words):
                values.setdefault(word, number)
            place = (*path, "verdict")
            contracts[name] = VerdictContract(name, place, channel, values, agent.get("lints"))
    return contracts


# What the flow writes and reads.


def _find_result_uses(config: Any) -> ResultUses:
    readings = ResultUses({}, {}, set())
    for part in nodes(config, ("step", "branch", "loop", *_FORWARDED_FIELDS)):
        if part.name == "step":
            ref, out = part.value.get("ref"), canonical_path_of(part.value.get("out"))
            if isinstance(ref, str) and out is not None:
                # A condition may mean the place that the step writes to, or the one below it.
                for result in (StepResult(ref, out, "body"), StepResult(ref, out, "part")):
                    readings.results.setdefault(result.place(result.channel), {})[result] = None
        elif part.name in _FORWARDED_FIELDS:
            readings.others.update(_places_read(part.value.get(_FORWARDED_FIELDS[part.name])))
        else:
            for path, condition in _conditions((*part.path, "cond"), part.value.get("cond")):
                comparison = _comparison(path, condition)
                if comparison is None:
                    readings.others.update(_places_read(condition))
                else:
                    readings.comparisons.setdefault(comparison.place, []).append(comparison)
    return readings


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


def _places_read(expression: Any) -> Iterator[str]:
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
    for read, given in _COMPARISON_SIDES.get(op, ()) if isinstance(op, str) else ():
        place, literal = canonical_path_of(value.get(read)), mapping_or_empty(value.get(given))
        if place is None or literal.get("op") != "lit":
            continue
        here: Path = (*path, given, "value")
        words = [(here, literal.get("value"))]
        if op == "in":
            if not isinstance(literal.get("value"), list):
                continue
            words = [((*here, number), each) for number, each in enumerate_list(literal["value"])]
        texts = tuple((where, word) for where, word in words if isinstance(word, str))
        return Comparison(place, (*path, read, "at"), texts)
    return None


# Comparisons that cannot hold, and verdicts that no condition asks for.


def _guess_verdicts(
    comparisons: list[Comparison], contracts: list[VerdictContract], guesses: Guesses
) -> dict[str, str | None]:
    """Each word of the comparisons, and the word of the contracts that was meant, if any."""
    if not contracts:
        return {}
    possible = {word: None for contract in contracts for word in contract.values}
    words = dict.fromkeys(word for each in comparisons for _, word in each.words)
    return {word: word if word in possible else guesses.nearest(word, possible) for word in words}


def _check_impossible_words(
    comparison: Comparison, meant: dict[str, str | None], contract: VerdictContract
) -> Iterator[Fact]:
    """The words of a comparison that the agent never gives as its verdict."""
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


def _wrong_channel(comparison: Comparison, result: StepResult, contract: VerdictContract) -> Fact:
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


def _check_unasked_verdicts(
    config: Any,
    contracts: dict[str, VerdictContract],
    readings: ResultUses,
    asked: dict[str, set[str]],
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
            yield from _report_unasked_words(contracts[agent], asked[agent])


def _is_reported(
    config: Any, contract: VerdictContract, asked: set[str], *, may_decide: bool
) -> bool:
    """Whether the words that no condition asks for are worth a finding."""
    if get(config, ("metadata", "strict_verdict_handling")) is True:
        return True
    kind = "verdict-value-unhandled" if asked else "verdict-contract-never-read"
    level = lint_level(kind, "suspicious", contract.lints, get(config, ("metadata", "lints")))
    if level is not None:
        return level != "allow"
    # The last word is what the other arm of a condition is for, and a place that is read in other
    # ways may decide something there.
    is_other_arm = bool(asked) and len(asked) == len(contract.values) - 1
    return not may_decide and not is_other_arm


def _report_unasked_words(contract: VerdictContract, asked: set[str]) -> Iterator[Fact]:
    name = Shown(contract.agent)
    if contract.values and not asked:
        yield codes.VERDICT_NEVER_READ.at(contract.path, part="key", name=name)
        return
    for word, number in contract.values.items():
        if word not in asked:
            path = (*contract.path, "values", number)
            yield codes.VERDICT_UNHANDLED.at(path, name=name, value=Shown(word))


RULES = (
    operand_is_given_once,
    forms_are_not_mixed,
    paths_are_well_formed,
    targets_are_paths,
    verdicts_are_read_as_promised,
)
