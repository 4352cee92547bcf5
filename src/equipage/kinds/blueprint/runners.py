"""Who runs an agent: what it says itself, else what the blueprint says for all."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import msgspec

from equipage.diagnostics import Fact, fact
from equipage.kinds.blueprint.lints import level_of, lints_of_blueprint
from equipage.kinds.blueprint.parts import has_holes, items, names_in
from equipage.path import Path
from equipage.session import Session
from equipage.tree import mapping


class Bound(msgspec.Struct, frozen=True):
    """The runner of an agent, and where it is written. One that cannot be found is empty."""

    path: Path
    runner: dict[str, Any]
    is_binding: bool = False  #: made of the profile: its `worker_binding`, and its tools


class Runners:
    """The runners of a blueprint, found by the number of an agent."""

    def __init__(self, config: Any) -> None:
        self.config = config

    @cached_property
    def _names(self) -> dict[str, int]:
        return names_in(self.config, "runners").first

    def of(self, number: int) -> Bound | None:
        """The first of: its own runner, the one it names, its worker binding, the blueprint's default; None if none."""
        agent, here = mapping(self.config["agents"][number]), ("agents", number)
        profile = mapping(agent.get("profile"))
        if agent.get("runner") is not None:
            return Bound((*here, "runner"), mapping(agent["runner"]))
        if agent.get("runner_ref") is not None:
            return self._named(agent["runner_ref"])
        if profile.get("worker_binding") is not None:
            return Bound((*here, "profile"), profile, is_binding=True)
        default = mapping(self.config).get("default_runner")
        return None if default is None else self._named(default)

    def _named(self, name: Any) -> Bound:
        number = self._names.get(name) if isinstance(name, str) else None
        if number is None:
            return Bound(("runners",), {})
        return Bound(("runners", number, "runner"), mapping(self.config["runners"][number].get("runner")))


def strict_binding_binds(config: Any, _session: Session) -> Iterator[Fact]:
    """`strict_binding` is about runners: without any it asks for nothing."""
    if mapping(mapping(config).get("strategy")).get("strict_binding") is not True:
        return
    agents, runners = items(config.get("agents")), Runners(config)
    if not agents or any(runners.of(number) for number, _ in agents) or has_holes(config["agents"]):
        return
    if level_of("strict-binding-without-runners", "suspicious", lints_of_blueprint(config)) != "allow":
        yield fact("strict-binding-unused", ("strategy", "strict_binding"))
