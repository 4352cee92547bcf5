"""Channels, and the jobs that write to them over time.

A job is a generator of steps: send these bytes, wait until then, hold the channel for a whole
frame. `Jobs` runs every job as far as it can go, and always in one order: by deadline, then by age.
A job that writes to a channel whose reader is slow stops until the bytes are gone, so a channel
never holds more than `HIGH_WATER` bytes and one piece.
"""

from __future__ import annotations

import heapq
import inspect
from collections import deque
from collections.abc import Callable, Generator, Iterable
from itertools import count
from typing import Any, NamedTuple

#: How many bytes may wait in a channel before the jobs that write to it wait, too.
HIGH_WATER = 262_144

# What goes out through a channel, in order: heads of HTTP answers, bytes, and the end.


class Head(NamedTuple):
    """The head of an HTTP answer."""

    status: int
    content_type: str = "application/json"
    length: int | None = None  #: of the body; None if it is sent in chunks
    headers: tuple[tuple[str, str], ...] = ()


class End(NamedTuple):
    """The end of an HTTP body."""


Item = Head | bytes | End


class Framing(NamedTuple):
    """What surrounds a frame."""

    before: bytes
    after: bytes


# On pipes a frame is a line, in a stream of events it is one event.
LINE = Framing(b"", b"\n")
EVENT = Framing(b"event: message\ndata: ", b"\n\n")


class Link:
    """A connection of the transport: the two pipes of a process, or a TCP connection."""

    def __init__(self) -> None:
        self.answering = 0  #: answers under way
        self.closing = False  #: closes when the answers under way are sent
        self.closed: str | None = None  #: `graceful` or `forced`, once the server closed it
        self.reading = True  #: whether the transport reads from it

    def close(self, *, graceful: bool) -> None:
        if self.closed is None and graceful and self.answering:
            self.closing = True
        elif self.closed is None or not graceful:
            self.closed = "graceful" if graceful else "forced"

    def begin(self) -> None:
        self.answering += 1

    def finish(self) -> None:
        """An answer is sent, or will never be."""
        self.answering -= 1
        if self.closing and not self.answering:
            self.close(graceful=True)


class Channel:
    """Where frames go: standard output, the body of one HTTP answer, or a stream of events."""

    def __init__(self, link: Link, framing: Framing = LINE) -> None:
        self.link = link
        self.framing = framing
        self.outbox: deque[Item] = deque()
        self.waiting_bytes = 0
        self.is_open = True
        self.held_by: Job | None = None
        self.waiting_jobs: deque[Job] = deque()
        self.total = 0  #: bytes sent so far

    def put(self, item: Item) -> None:
        self.outbox.append(item)
        if isinstance(item, bytes):
            self.waiting_bytes += len(item)
            self.total += len(item)

    def close(self) -> None:
        """Nothing more goes out; what waits already does."""
        self.is_open = False


# Steps of a job.


class Send(NamedTuple):
    """Write these bytes."""

    channel: Channel
    data: bytes


class Wait(NamedTuple):
    """Go on at this time, in milliseconds; at once if it is over."""

    until: int


class Hold(NamedTuple):
    """Keep all other jobs from writing, until `Release` or the end of the job."""

    channel: Channel


class Release(NamedTuple):
    channel: Channel


class Drain(NamedTuple):
    """Go on when the reader has taken everything."""

    channel: Channel


class Join(NamedTuple):
    """Go on when these jobs are done."""

    jobs: tuple[Job, ...]


class Ask(NamedTuple):
    """Ask a handler outside the engine; the value of the step is its reply."""

    question: Any


Step = Send | Wait | Hold | Release | Drain | Join | Ask
Steps = Generator[Step, Any, None]


class Job:
    """A generator of steps under way."""

    __slots__ = ("done", "ends", "group", "held", "number", "steps", "waits_for")

    def __init__(self, steps: Steps, number: int, group: object) -> None:
        self.steps = steps
        self.number = number
        self.group = group
        self.done = False
        self.ends: list[Callable[[], None]] = []  #: called when the job is over
        self.held: Channel | None = None
        self.waits_for: Step | None = None


class Jobs:
    """Every job of a server, and the time."""

    def __init__(self) -> None:
        self.now = 0  #: in milliseconds
        self.asked: deque[tuple[Job, Any]] = deque()  #: questions for the world outside
        self.halted = False  #: no waits from now on; see `halt`
        self.failed: Callable[[Job, Exception], None] = _raise
        self.sent = 0  #: bytes of all channels so far
        self._numbers = count()
        self._sleeping: list[tuple[int, int, Job]] = []
        self._alive: dict[int, Job] = {}

    def start(self, steps: Steps, group: object = None) -> Job:
        """Run a new job as far as it can go. `group` is what it is cancelled with."""
        job = Job(steps, next(self._numbers), group)
        # Before it runs: a job may start others, or be cancelled, in its first step.
        self._alive[job.number] = job
        self._resume(job)
        return job

    def advance(self, now: int) -> None:
        """Let the time be `now`, and run everything that is due by then, in order."""
        while self._sleeping and self._sleeping[0][0] <= now:
            due, _, job = heapq.heappop(self._sleeping)
            self.now = max(self.now, due)
            if not job.done:
                self._resume(job)
        self.now = max(self.now, now)

    @property
    def next_due(self) -> int | None:
        """When the next job goes on."""
        # A job that was cancelled is still in the heap: taking it out there would need a search.
        while self._sleeping and self._sleeping[0][2].done:
            heapq.heappop(self._sleeping)
        return self._sleeping[0][0] if self._sleeping else None

    @property
    def are_blocked(self) -> bool:
        """Whether some job waits for a reader or an answer from outside."""
        return any(isinstance(each.waits_for, Send | Drain | Ask) for each in self.alive)

    @property
    def alive(self) -> list[Job]:
        return list(self._alive.values())

    def acknowledge_written(self, channel: Channel, size: int) -> None:
        """Record that the reader took `size` bytes, and resume jobs that waited for room."""
        channel.waiting_bytes -= size
        for job in self.alive:
            step = job.waits_for
            if isinstance(step, Send | Drain) and step.channel is channel and _has_room(step):
                self._resume(job)

    def answer(self, job: Job, value: Any) -> None:
        """Resume a job with the reply to what it asked."""
        if not job.done:
            self._resume(job, value)

    def cancel(self, jobs: Iterable[Job]) -> None:
        for job in list(jobs):
            if not job.done:
                # A job that cancels itself is running: `_resume` closes it at its next step.
                if inspect.getgeneratorstate(job.steps) != inspect.GEN_RUNNING:
                    job.steps.close()
                self._end(job)

    def cancel_group(self, group: object) -> None:
        self.cancel(each for each in self.alive if each.group is group)

    def halt(self) -> None:
        """End every job that waits for the time. What has begun to be written stays as it is."""
        self.halted = True
        self.cancel(each for each in self.alive if isinstance(each.waits_for, Wait))

    def _resume(self, job: Job, value: Any = None) -> None:
        """Run a job until it has to wait."""
        job.waits_for = None
        while True:
            try:
                step = job.steps.send(value)
            except StopIteration:
                self._end(job)
                return
            except Exception as problem:  # one job must not take the others with it
                self._end(job)
                self.failed(job, problem)
                return
            value = None
            if job.done:  # the job cancelled itself
                job.steps.close()
                return
            if self._perform_step(job, step):
                job.waits_for = step
                return

    def _perform_step(self, job: Job, step: Step) -> bool:
        """Perform a step; returns whether the job has to wait after it."""
        if isinstance(step, Send):
            if step.channel.is_open:
                step.channel.put(step.data)
                self.sent += len(step.data)
            return not _has_room(step)
        if isinstance(step, Wait):
            return self._sleep(job, step.until)
        if isinstance(step, Hold):
            return self._hold(job, step.channel)
        if isinstance(step, Release):
            self._release(job)
            return False
        if isinstance(step, Drain):
            return not _has_room(step)
        if isinstance(step, Join):
            waits = [each for each in step.jobs if not each.done]
            for each in waits:
                each.ends.append(lambda: self._resume_joined(job, step))
            return bool(waits)
        self.asked.append((job, step.question))
        return True

    def _sleep(self, job: Job, until: int) -> bool:
        if until <= self.now:
            return False
        if self.halted:
            self.cancel([job])
            return True
        # The number decides between jobs that are due at one time, so that runs repeat exactly.
        heapq.heappush(self._sleeping, (until, job.number, job))
        return True

    def _resume_joined(self, job: Job, step: Join) -> None:
        if job.waits_for is step and all(each.done for each in step.jobs):
            self._resume(job)

    def _hold(self, job: Job, channel: Channel) -> bool:
        if channel.held_by is None:
            channel.held_by, job.held = job, channel
            return False
        channel.waiting_jobs.append(job)
        return True

    def _release(self, job: Job) -> None:
        channel, job.held = job.held, None
        if channel is None:
            return
        channel.held_by = None
        while channel.waiting_jobs and channel.held_by is None:
            following = channel.waiting_jobs.popleft()
            if not following.done:
                channel.held_by, following.held = following, channel
                self._resume(following)

    def _end(self, job: Job) -> None:
        if job.done:
            return
        job.done = True
        job.waits_for = None
        self._alive.pop(job.number, None)
        self._release(job)
        # The callbacks refer to the job: without the list, nothing keeps it alive.
        calls, job.ends = job.ends, []
        for call in calls:
            call()


def _has_room(step: Send | Drain) -> bool:
    if not step.channel.is_open:
        return True
    # A job that waits until everything was read waits for the last byte.
    limit = HIGH_WATER if isinstance(step, Send) else 1
    return step.channel.waiting_bytes < limit


def _raise(_job: Job, problem: Exception) -> None:
    raise problem
