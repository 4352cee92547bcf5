"""The phase a server is in, what it has counted, and what moves it on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, Literal

import msgspec

from equipage.formats.server.grammar import parse_duration
from equipage_faults.matching import event_fits
from equipage_faults.views import View

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
