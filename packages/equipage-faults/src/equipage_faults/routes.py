"""Connections, and the ways that the server's own messages take to their clients.

On stdio there is one way. On HTTP a message goes to a stream that asked for it, else into the
answer under way, before its result; else it waits for the next request.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from itertools import chain
from typing import Any

import msgspec

from equipage_faults.delivery import coalesce
from equipage_faults.jobs import (
    EVENT,
    Channel,
    End,
    Framing,
    Head,
    Hold,
    Job,
    Link,
    Release,
    Send,
    Steps,
)
from equipage_faults.phases import State
from equipage_faults.wire import SUBSCRIPTION_KEY, Era, Frame, Message

#: The notifications that a client subscribes to, and the key of a subscription that asks for each.
CHANGES = {
    "notifications/tools/list_changed": "toolsListChanged",
    "notifications/prompts/list_changed": "promptsListChanged",
    "notifications/resources/list_changed": "resourcesListChanged",
    "notifications/resources/updated": "resourceSubscriptions",
}


class AnswerChannel(Channel):
    """The body of one HTTP answer: JSON, or events with the result at their end."""

    def __init__(self, link: Link, *, events: bool, headers: tuple[tuple[str, str], ...] = ()):
        super().__init__(link, Framing(b"", b""))
        self.accepts_events = events
        self.headers = headers
        self.started = False
        self.ended = False

    def begin(self, status: int, length: int | None) -> None:
        """Send the head, if it is not sent yet."""
        if not self.started:
            self.started = True
            self.put(Head(status, "application/json", length, self.headers))

    def begin_events(self) -> None:
        if not self.started:
            self.started = True
            self.framing = EVENT
            self.put(Head(200, "text/event-stream", None, self.headers))

    @property
    def takes_events(self) -> bool:
        """Whether a message can still go into this answer."""
        # Once the head is sent, its type decides; before, what the client said it accepts.
        usable = self.framing is EVENT if self.started else self.accepts_events
        return usable and self.is_open and not self.ended

    def end(self) -> None:
        if not self.ended:
            self.ended = True
            self.put(End())


class Subscription(msgspec.Struct):
    """A request `subscriptions/listen` that is not over."""

    raw_id: bytes
    request_id: Any
    channel: Channel
    wants: dict[str, Any]  #: what the client asked for, and the server grants

    def fits(self, frame: Frame) -> bool:
        wanted = self.wants.get(CHANGES[frame.method])
        # A list names the resources of interest; for all else it is yes or no.
        if isinstance(wanted, list):
            params = frame.params if isinstance(frame.params, dict) else {}
            return params.get("uri") in wanted
        return wanted is True


class Connection:
    """A client: the process at the other end of the pipes, or a session over HTTP."""

    def __init__(self, name: str, state: State) -> None:
        self.name = name
        self.state = state
        self.era: Era | None = None
        self.pipe: Channel | None = None  #: standard output, where there is one
        self.opened = False  #: whether the moment of `on_connect` is over
        self.welcomed = False  #: whether a client of the older revision got its handshake
        self.queue: deque[tuple[Message, Channel]] = deque()  #: requests that wait
        self.exchanges: dict[Channel, Any] = {}  #: answers under way, by channel
        self.effects: list[Job] = []
        self.continuous: dict[Any, Job] = {}
        self.streams: list[Channel] = []  #: event streams without an answer
        self.subscriptions: list[Subscription] = []
        self.backlog: deque[Frame] = deque()  #: messages for the next answer
        self.asked: dict[bytes, int] = {}  #: our requests by id, and when they were sent
        self.used = 0  #: when a message came last

    def ways(self, frame: Frame, channel: Channel | None) -> list[tuple[Channel, bytes]]:
        """The channels for a message and its bytes in each; none if it has to wait."""
        if frame.method in CHANGES:
            asked = [each for each in self.subscriptions if each.fits(frame)]
            if asked:
                return [
                    (each.channel, frame.data({SUBSCRIPTION_KEY: each.request_id}))
                    for each in asked
                ]
            if self.streams:
                return [(self.streams[0], frame.data())]
        if self.pipe is not None:
            return [(self.pipe, frame.data())]
        # The answer that a message belongs to is the first choice, any other the second.
        under_way = [channel, *self.exchanges] if channel is not None else [*self.exchanges]
        for each in under_way:
            if isinstance(each, AnswerChannel) and each.takes_events:
                return [(each, frame.data())]
        return [(self.streams[0], frame.data())] if self.streams and channel is None else []


class Outlet:
    """How one effect or entry action reaches the client."""

    def __init__(self, connection: Connection, link: Link, channel: Channel | None, queue: int):
        self.connection = connection
        self.link = link
        self.channel = channel
        self.lost = 0  #: messages that found no way and no room
        self._queue = queue

    def pipe(self) -> Channel | None:
        return self.connection.pipe

    def write(self, frame: Frame, times: int = 1) -> Steps:
        ways = self.connection.ways(frame, self.channel)
        for channel, data in ways:
            yield from write(channel, data, times)
        if not ways:
            self._keep(frame, times)

    def _keep(self, frame: Frame, times: int) -> None:
        """Keep a message for the next answer; the oldest ones give way."""
        backlog = self.connection.backlog
        # More than fit would only push each other out.
        for _ in range(min(times, self._queue)):
            if len(backlog) >= self._queue:
                backlog.popleft()
                self.lost += 1
            backlog.append(frame)

    def write_batch(self, pieces: Iterator[bytes]) -> Steps:
        ways = self.connection.ways(Frame(""), self.channel)
        for channel, _ in ways[:1]:
            _start_events(channel)
            yield Hold(channel)
            before, after = channel.framing
            for piece in coalesce(chain([before], pieces, [after])):
                yield Send(channel, piece)
            yield Release(channel)
        self.lost += not ways


def write(channel: Channel, data: bytes, times: int = 1) -> Steps:
    """One frame, or several equal ones in one write."""
    yield Hold(channel)
    _start_events(channel)
    before, after = channel.framing
    yield Send(channel, (before + data + after) * times)
    yield Release(channel)


def _start_events(channel: Channel) -> None:
    if isinstance(channel, AnswerChannel):
        channel.begin_events()
