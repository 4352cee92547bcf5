"""What the parts of a running server share: its options, its jobs and time, and one request."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from random import Random
from typing import Any

import msgspec

from equipage.formats.server.model import Behavior, Delivery, ServerConfig
from equipage_faults.caps import Caps
from equipage_faults.delivery import Progress
from equipage_faults.jobs import Channel, Job, Jobs
from equipage_faults.phases import Item, View
from equipage_faults.routes import Connection
from equipage_faults.trace import Trace
from equipage_faults.wire import Era, Message

#: The start of a virtual clock.
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Options(msgspec.Struct, frozen=True):
    """What the caller decides about a run."""

    era: str = "auto"  #: `25`, `26` or `auto`
    scope: str | None = None  #: instead of the configuration's `state_scope`
    delivery: Delivery | None = None  #: instead of every delivery of the configuration
    seed: int = 0
    env: Mapping[str, str] = msgspec.field(default_factory=dict)  #: what templates may see
    caps: Caps = Caps()
    literal: frozenset[str] = frozenset()  #: texts that are not templates
    epoch: datetime = EPOCH


class Run:
    """One run of a configuration."""

    def __init__(
        self, config: ServerConfig, trace: Trace, options: Options, log: Callable[[str, str], None]
    ) -> None:
        self.config = config
        self.options = options
        self.caps = options.caps
        self.jobs = Jobs()
        self.random = Random(options.seed)
        self.records = trace
        self.log = log

    @property
    def now(self) -> int:
        return self.jobs.now

    def trace(self, connection: Connection | None, event: str, **fields: Any) -> None:
        self.records(self.now, connection.name if connection else None, event, **fields)


class Exchange:
    """One request and everything that belongs to its answer."""

    def __init__(
        self, connection: Connection, message: Message, channel: Channel, era: Era, now: int
    ) -> None:
        self.connection = connection
        self.message = message
        self.channel = channel
        self.era = era
        self.view: View = connection.state.view
        self.item: Item | None = None
        self.began = now
        self.fired = False  #: whether it ends the phase
        self.opens = False  #: whether its answer opens the connection
        self.progress = Progress()
        self.effects: list[Job] = []  #: those that it started
        self.job: Job | None = None
        self.code: int | None = None  #: of the error it is answered with
        self.status = 200  #: of the HTTP answer

    def behavior(self, options: Options) -> Behavior:
        """How the answer is delivered, and what else happens."""
        found = self.view.behavior_of(self.item)
        if options.delivery is not None:
            return msgspec.structs.replace(found, delivery=options.delivery)
        return found
