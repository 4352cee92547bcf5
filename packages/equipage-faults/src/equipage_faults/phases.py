"""Phases: what the server offers in each, which one it is in, what moves it on.

Phases are independent: each starts from the baseline, removes, replaces, then adds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, TypeVar

import msgspec

from equipage.formats.server.grammar import parse_duration
from equipage.formats.server.model import (
    Behavior,
    Capabilities,
    Phase,
    Prompt,
    Resource,
    ServerConfig,
    Tool,
    Trigger,
)
from equipage_faults.matching import event_fits, matches_glob

Item = Tool | Resource | Prompt
I = TypeVar("I", Tool, Resource, Prompt)  # noqa: E741

NORMAL = Behavior()

#: The methods that are about one item, and the parameter that names it.
TARGETS = {
    "tools/call": "name",
    "prompts/get": "name",
    "resources/read": "uri",
    "resources/subscribe": "uri",
    "resources/unsubscribe": "uri",
}


def target_of(method: str, params: Mapping[str, Any]) -> str | None:
    """The name or address of the item that a request is about."""
    target = params.get(TARGETS[method]) if method in TARGETS else None
    return target if isinstance(target, str) else None  # a list names nothing


class View(msgspec.Struct, frozen=True):
    """Everything a client can see of the server in one phase."""

    name: str
    index: int  #: of the phase; -1 without phases
    tools: tuple[Tool, ...]
    resources: tuple[Resource, ...]
    prompts: tuple[Prompt, ...]
    capabilities: Capabilities | None
    behavior: Behavior
    advance: Trigger | None
    phase: Phase  #: without phases, an empty one

    def item(self, method: str, params: Mapping[str, Any]) -> Item | None:
        """The item that a request is about. Of several with its name, the last counts."""
        target = target_of(method, params)
        if target is None:
            return None
        if method == "tools/call":
            return _last_named(self.tools, target)
        if method == "prompts/get":
            return _last_named(self.prompts, target)
        # An exact address wins over any pattern that would fit it, too.
        patterns = (each for each in self.resources if "*" in each.resource.uri)
        fitting = (each for each in patterns if matches_glob(each.resource.uri, target))
        return _last_named(self.resources, target) or next(fitting, None)

    @property
    def items(self) -> tuple[Item, ...]:
        return (*self.tools, *self.resources, *self.prompts)

    def behavior_of(self, item: Item | None) -> Behavior:
        """The most specific behaviour as a whole: levels never mix."""
        own = item.behavior if item is not None else None
        return self.behavior if own is None else own


def views_of(config: ServerConfig) -> tuple[View, ...]:
    """One view for each phase, in order; without phases, the baseline alone."""
    if not config.phases:
        return (_view(config, -1, Phase("baseline")),)
    return tuple(_view(config, index, phase) for index, phase in enumerate(config.phases))


def _view(config: ServerConfig, index: int, phase: Phase) -> View:
    base = config.baseline
    return View(
        phase.name,
        index,
        _items_of_phase(base.tools, phase.remove_tools, phase.replace_tools, phase.add_tools),
        _items_of_phase(
            base.resources, phase.remove_resources, phase.replace_resources, phase.add_resources
        ),
        _items_of_phase(
            base.prompts, phase.remove_prompts, phase.replace_prompts, phase.add_prompts
        ),
        _merge_capabilities(base.capabilities, phase.replace_capabilities),
        phase.behavior or base.behavior or NORMAL,
        phase.advance,
        phase,
    )


def identity(item: Item) -> str:
    if isinstance(item, Tool):
        return item.tool.name
    return item.resource.uri if isinstance(item, Resource) else item.prompt.name


def _last_named(items: Sequence[Item], name: str) -> Item | None:
    return next((each for each in reversed(items) if identity(each) == name), None)


def _items_of_phase(
    items: Iterable[I], removed: Iterable[str], replaced: Mapping[str, I], added: Iterable[I]
) -> tuple[I, ...]:
    """The items of a phase. A replaced or added item keeps the place of the one it displaces."""
    gone = set(removed)
    # Removed before replaced: a phase that does both removes the item.
    kept = [replaced.get(identity(each), each) for each in items if identity(each) not in gone]
    for each in added:
        # Of several with one name clients see the last, so that is the one displaced.
        places = [n for n, other in enumerate(kept) if identity(other) == identity(each)]
        if places:
            kept[places[-1]] = each
        else:
            kept.append(each)
    return tuple(kept)


def _merge_capabilities(
    base: Capabilities | None, change: Capabilities | None
) -> Capabilities | None:
    """Each capability that the phase gives replaces that one; the others stay."""
    if base is None or change is None:
        return change or base
    given = {
        name: value
        for name in Capabilities.__struct_fields__
        if (value := getattr(change, name)) is not None
    }
    return msgspec.structs.replace(base, **given)


Cause = Literal["event", "after", "timeout"]


class State:
    """Where one connection, or the whole server, is in its phases."""

    def __init__(self, views: tuple[View, ...], now: int, most_events: int) -> None:
        self.views = views
        self.position = 0
        self.entered = now  #: when the phase began
        self.counts: Counter[str] = Counter()  #: by event, since the start
        self.calls: Counter[tuple[str, str]] = Counter()  #: by sort and name of an item
        self.pending: Cause | None = None  #: a transition that waits for an answer to be sent
        self.waits_for: set[object] = set()  #: the answers that a timer waits for
        self.greeted = False  #: whether the entry actions of the first phase are done
        self.stuck = False  #: whether the trace says that no phase follows
        self._most_events = most_events

    @property
    def view(self) -> View:
        return self.views[self.position]

    @property
    def is_last(self) -> bool:
        return self.position == len(self.views) - 1

    def count(self, event: str, target: str | None, params: Mapping[str, Any]) -> bool:
        """Count an event; returns whether it makes a transition pending."""
        names = [event] if target is None else [event, f"{event}:{target}"]
        for name in names:
            if name in self.counts or len(self.counts) < self._most_events:
                self.counts[name] += 1
        trigger = self.view.advance
        if trigger is None or self.pending is not None or trigger.on not in names:
            return False
        if self.counts[trigger.on] < trigger.count or not event_fits(trigger.match, params):
            return False
        self.pending = "event"
        return True

    @property
    def timer(self) -> tuple[int, Cause] | None:
        """When the phase ends by itself, and why."""
        trigger = self.view.advance
        if trigger is None or self.pending is not None:
            return None
        found: list[tuple[int, Cause]] = []
        if trigger.after is not None and not self.stuck:
            found.append((self.entered + (parse_duration(trigger.after) or 0), "after"))
        # Where no phase follows, a timeout can still end the run.
        if trigger.timeout is not None and (not self.stuck or trigger.on_timeout == "abort"):
            found.append((self.entered + (parse_duration(trigger.timeout) or 0), "timeout"))
        return min(found, default=None)

    def advance(self, now: int) -> Transition | None:
        """Carry out the pending transition; None if no phase follows."""
        cause, self.pending = self.pending, None
        self.waits_for.clear()
        if cause is None or self.is_last:
            return None
        old = self.view
        self.position += 1
        self.entered = now
        count = self.counts[old.advance.on] if old.advance and old.advance.on else 0
        return Transition(old, self.view, cause, count)


class Transition(msgspec.Struct, frozen=True):
    """A change of phase."""

    old: View
    new: View
    cause: Cause
    count: int  #: how often the event of the old phase happened
