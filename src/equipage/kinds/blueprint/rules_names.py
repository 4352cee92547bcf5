"""Rules about names: what a blueprint refers to exists, what it declares is used, names are unique.

A name that nearly spells another counts as a use of it: one mistake gives one finding.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from equipage.core.diagnostics import Also, Code, Fact, Part, Shown
from equipage.core.path import Path
from equipage.core.text import Guesses
from equipage.kinds.blueprint import codes
from equipage.kinds.blueprint.agent_model import AGENT_KINDS
from equipage.kinds.blueprint.rules import (
    Names,
    correction,
    entries,
    flow_is_known,
    has_holes,
    items,
    names_in,
    nodes,
    place_of,
)
from equipage.loading.session import Session
from equipage.loading.tree import get, mapping

#: Lists whose entries are found by name, and what one entry is called.
_NAMED = {
    "agents": "agent",
    "operators": "operator",
    "metas": "meta",
    "runners": "runner",
    "subprocesses": "subprocess",
}
#: Agents of these kinds do not need an operator.
_WITHOUT_OPERATOR = tuple(kind for kind in AGENT_KINDS if kind != "operator")
#: The first key of a canonical path, and what follows it.
_FIRST_KEY = re.compile(r"""\$(?:\.([^.\[]+)|\["([^"]+)"\])(.*)""", re.DOTALL)


# Names themselves.


def names_are_not_empty(config: Any, _session: Session) -> Iterator[Fact]:
    """What is found by its name has one."""
    if get(config, ("id",)) == "":
        yield codes.EMPTY_NAME.at(("id",), field="id", owner="this blueprint")
    for key in _NAMED:
        for path, each in entries(config, key):
            if each.get("name") == "":
                owner = f"this entry of `{key}`"
                yield codes.EMPTY_NAME.at((*path, "name"), field="name", owner=owner)


def names_are_unique(config: Any, _session: Session) -> Iterator[Fact]:
    """Two entries of one list do not share a name."""
    for key in _NAMED:
        first = names_in(config, key).first
        for path, each in entries(config, key):
            name = each.get("name")
            if isinstance(name, str) and first[name] != path:
                yield _repeated(config, first[name], path, name)


def _repeated(config: Any, first: Path, second: Path, name: str) -> Fact:
    what = _NAMED[str(first[0])]
    code = codes.DUPLICATE_AGENT if what == "agent" else codes.DUPLICATE_NAME
    profile = get(config, (*first, "profile"))
    is_shared = profile is not None and profile is get(config, (*second, "profile"))
    if is_shared and get(profile, ("version_hash",)) is not None:
        # Both come from one agent file, which has the name once: the references must differ.
        also = Also("first here", path=first, part="key")
        hint = "write `name:` beside one of them"
        return code.at(second, part="key", also=[also], what=what, name=Shown(name), hint=hint)
    also, hint = Also("first here", path=(*first, "name")), "rename one of them"
    return code.at((*second, "name"), also=[also], what=what, name=Shown(name), hint=hint)


# References to names.


def steps_name_agents(config: Any, session: Session) -> Iterator[Fact]:
    """Steps, audits and hints name agents that exist."""
    agents = names_in(config, "agents")
    named: list[tuple[Path, Any, Part]] = [
        (path, name, "value") for path, name in _agents_run(config)
    ]
    hints = ("hints", "per_agent")
    named += [((*hints, name), name, "key") for name in mapping(get(config, hints))]
    for path, name, part in named:
        if agents.lack(name):
            yield _unknown(codes.UNKNOWN_AGENT, path, name, agents, session.guesses, part)


def _agents_run(config: Any) -> Iterator[tuple[Path, Any]]:
    """The names of agents that steps and audits run, and where they are written."""
    for step in nodes(config, ("step",)):
        yield (*step.path, "ref"), step.value.get("ref")
    for path, audit in entries(config, "audits"):
        yield (*path, "agent"), audit.get("agent")


def operators_exist(config: Any, session: Session) -> Iterator[Fact]:
    """An agent of kind `operator` names an operator that exists."""
    operators = names_in(config, "operators")
    for path, agent in entries(config, "agents"):
        name = get(agent, ("spec", "operator_ref"))
        if agent.get("kind") == "operator" and operators.lack(name):
            place = (*path, "spec", "operator_ref")
            yield _unknown(codes.UNKNOWN_OPERATOR, place, name, operators, session.guesses)


def other_names_exist(config: Any, session: Session) -> Iterator[Fact]:
    """Runners, contexts and subprocesses that are named exist."""
    lists = {key: names_in(config, key) for key in ("runners", "metas", "subprocesses")}
    for key, path in _other_references(config):
        name = get(config, path)
        if lists[key].lack(name):
            yield _unknown(codes.UNKNOWN_NAME, path, name, lists[key], session.guesses)


def _other_references(config: Any) -> Iterator[tuple[str, Path]]:
    """Where a name of another list may be written, and which list it is a name of."""
    yield "runners", ("default_runner",)
    runners: list[Path] = [(*path, "runner") for path, _ in entries(config, "runners")]
    for path, _ in entries(config, "agents"):
        yield "runners", (*path, "runner_ref")
        yield "metas", (*path, "meta", "meta_ref")
        runners.append((*path, "runner"))
    for path in runners:
        if get(config, (*path, "backend")) == "subprocess":
            yield "subprocesses", (*path, "template")
    for step in nodes(config, ("step",)):
        if get(step.value, ("in", "op")) == "lit":
            yield "metas", (*step.path, "in", "value", "$step_meta", "ref")


def _unknown(
    code: Code, path: Path, name: str, known: Names, guesses: Guesses, part: Part = "value"
) -> Fact:
    guess = guesses.nearest(name, known.first)
    # Only a name without quotes and escapes can be written without looking at its surroundings.
    is_simple = guess is not None and re.fullmatch(r"[A-Za-z_][\w-]*", guess)
    remedy = correction(path, guess, part) if is_simple else None
    return code.at(path, part=part, remedy=remedy, name=Shown(name), nearest=guess, where=known.key)


# Names that nothing uses.


def agents_are_used(config: Any, session: Session) -> Iterator[Fact]:
    """Every agent is run by a step or an audit."""
    used = [name for _, name in _agents_run(config)]
    if all(isinstance(name, str) for name in used) and flow_is_known(config, session):
        yield from _unused(codes.UNUSED_AGENT, names_in(config, "agents"), used, session.guesses)


def operators_are_used(config: Any, session: Session) -> Iterator[Fact]:
    """Every operator is named by an agent."""
    used: list[str] = []
    for _, agent in entries(config, "agents"):
        name = get(agent, ("spec", "operator_ref"))
        if isinstance(name, str):
            used.append(name)
        elif agent.get("kind") not in _WITHOUT_OPERATOR:
            return  # it may need any of the operators; another rule reports that it names none
    if not has_holes(get(config, ("agents",))):
        operators = names_in(config, "operators")
        yield from _unused(codes.UNUSED_OPERATOR, operators, used, session.guesses)


def _unused(code: Code, known: Names, used: Iterable[str], guesses: Guesses) -> Iterator[Fact]:
    meant = {
        name if name in known.first else guesses.nearest(name, known.first)
        for name in dict.fromkeys(used)
    }
    # Without guesses left, a name without a guess may still be a misspelling of an unused one.
    for name, path in known.first.items() if not guesses.are_spent else ():
        if name not in meant:
            yield code.at((*path, "name"), name=Shown(name))


# Names of steps. The results of a step are known by the name of its agent, by the `projection_name`
# of the agent, and by the place they are written to if that is a single key below `$`.


def audits_name_steps(config: Any, session: Session) -> Iterator[Fact]:
    """Audits look at steps that exist; `*` means every step."""
    wanted = [
        ((*path, "steps", number), name)
        for path, audit in entries(config, "audits")
        for number, name in items(audit.get("steps"))
        if isinstance(name, str) and name != "*"
    ]
    if not wanted or not names_in(config, "agents").complete or not flow_is_known(config, session):
        return
    known = dict.fromkeys(name for name, _ in _declared(config).values())
    for step in nodes(config, ("step",)):
        key, _ = _first_key(step.value.get("out"))
        names = (step.value.get("ref"), key)
        known.update(dict.fromkeys(name for name in names if isinstance(name, str)))
    for place, name in wanted:
        if name not in known:
            guess = session.guesses.nearest(name, known)
            yield codes.UNKNOWN_STEP.at(
                place, remedy=correction(place, guess), name=Shown(name), nearest=guess
            )


def projection_names_differ(config: Any, _session: Session) -> Iterator[Fact]:
    """No other step goes by the name that an agent declares for its results."""
    declared = _declared(config)
    claims = _claims(config, declared) if declared else {}
    reported: set[str] = set()
    for ref, (name, path) in declared.items():
        claimants = claims.get(name, {})
        others = [other for other in claimants if other != ref]
        if ref not in claimants or not others or name in reported:
            continue
        reported.add(name)
        first, second = ref, others[0]
        if second in declared and declared[second][0] == name:
            # Both declare it: the later declaration is the one to change.
            first, second, path = second, first, declared[second][1]
        also = Also("claimed here, too", path=claimants[second])
        yield codes.PROJECTION_NAME_CLASH.at(
            path, also=[also], name=Shown(name), agent=Shown(first), other=Shown(second)
        )


def _declared(config: Any) -> dict[str, tuple[str, Path]]:
    """Agent → the name it declares for its results, and where."""
    places = {
        agent: (*path, "meta", "projection_name")
        for agent, path in names_in(config, "agents").first.items()
    }
    found = ((agent, get(config, path), path) for agent, path in places.items())
    return {agent: (name, path) for agent, name, path in found if isinstance(name, str)}


def _claims(config: Any, declared: dict[str, tuple[str, Path]]) -> dict[str, dict[str, Path]]:
    """Name → the agents whose results go by it, each with the first place that says so.

    Steps that run one agent are one. A result deeper than one key claims that key only while no
    other step does, so it never clashes.
    """
    claims: dict[str, dict[str, Path]] = {}
    for step in nodes(config, ("step",)):
        ref = step.value.get("ref")
        if not isinstance(ref, str):
            continue
        names: list[tuple[str, Path]] = [declared[ref]] if ref in declared else []
        names.append((ref, (*step.path, "ref")))
        key, is_whole = _first_key(step.value.get("out"))
        if key is not None and is_whole:
            names.append((key, (*step.path, "out", "at")))
        for name, path in names:
            claims.setdefault(name, {}).setdefault(ref, path)
    return claims


def _first_key(out: Any) -> tuple[str | None, bool]:
    """The first key of the place a step writes to, and whether that is all of the place."""
    match = _FIRST_KEY.fullmatch(place_of(out) or "")
    return (match[1] or match[2], not match[3]) if match else (None, False)


RULES = (
    names_are_not_empty,
    names_are_unique,
    steps_name_agents,
    operators_exist,
    other_names_exist,
    agents_are_used,
    operators_are_used,
    audits_name_steps,
    projection_names_differ,
)
