"""What nothing refers to, what refers to nothing, and what has no name."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from equipage.diagnostics import Change, Fact, Remedy, Shown, fact
from equipage.kinds.agent_md.model import AGENT_KINDS
from equipage.kinds.blueprint.parts import has_holes, items, names_in
from equipage.kinds.blueprint.projections import step_names
from equipage.path import Path
from equipage.session import Session
from equipage.tree import mapping

#: Agents of these kinds are not played by anybody.
_WITHOUT_OPERATOR = tuple(kind for kind in AGENT_KINDS if kind != "operator")
_NAMED = ("agents", "operators", "metas", "runners", "subprocesses")


def names_are_not_empty(config: Any, _session: Session) -> Iterator[Fact]:
    """What is found by its name has one."""
    if mapping(config).get("id") == "":
        yield fact("empty-name", ("id",), field="id", owner="this blueprint")
    for key in _NAMED:
        for number, each in items(mapping(config).get(key)):
            if mapping(each).get("name") == "":
                yield fact("empty-name", (key, number, "name"), field="name", owner=f"this entry of `{key}`")


def operators_are_used(config: Any, session: Session) -> Iterator[Fact]:
    """Behind every operator there is an agent that names it."""
    operators = names_in(config, "operators").first
    agents = mapping(config).get("agents")
    meant: set[str | None] = set()
    for _, agent in items(agents) if operators else ():
        name = mapping(mapping(agent).get("spec")).get("operator_ref")
        if isinstance(name, str):
            meant.add(name if name in operators else session.guesses.nearest(name, operators))
        elif mapping(agent).get("kind") not in _WITHOUT_OPERATOR:
            return  # it may be meant for any of them; that it does not say so is told elsewhere
    unused = [name for name in operators if name not in meant]
    for name in unused if unused and not session.guesses.are_spent and not has_holes(agents) else ():
        yield fact("unused-operator", ("operators", operators[name], "name"), name=Shown(name))


def audits_name_steps(config: Any, session: Session) -> Iterator[Fact]:
    """Audits look at steps that exist; `*` stands for all of them."""
    wanted = [(path, name) for path, name in _audited(config) if name != "*"]
    known = step_names(config) if wanted else {}
    unknown = [(path, name) for path, name in wanted if name not in known]
    if not unknown or has_holes(mapping(config).get("flow")) or not names_in(config, "agents").complete:
        return
    for path, name in unknown:
        guess = session.guesses.nearest(name, known)
        remedy = Remedy(f"change to `{guess}`", (Change(path, guess),), safe=False) if guess else None
        yield fact("unknown-step", path, remedy=remedy, name=Shown(name), nearest=guess)


def _audited(config: Any) -> Iterator[tuple[Path, str]]:
    for number, audit in items(mapping(config).get("audits")):
        for at, name in items(mapping(audit).get("steps")):
            if isinstance(name, str):
                yield ("audits", number, "steps", at), name
