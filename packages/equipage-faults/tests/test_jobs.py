"""Jobs on channels: what waits for whom, in which order things go on, and how they end."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from equipage_faults.jobs import (
    HIGH_WATER,
    Ask,
    Channel,
    Drain,
    End,
    Head,
    Hold,
    Job,
    Jobs,
    Join,
    Link,
    Release,
    Send,
    Step,
    Steps,
    Wait,
)


class Bench:
    """Jobs that note what they do."""

    def __init__(self) -> None:
        self.jobs = Jobs()
        self.channel = Channel(Link())
        self.noted: list[Any] = []

    def start(self, name: str, *steps: Step | Callable[[], Any], group: object = None) -> Job:
        return self.jobs.start(self._steps(name, steps), group)

    def _steps(self, name: str, steps: tuple[Step | Callable[[], Any], ...]) -> Steps:
        try:
            for number, step in enumerate(steps):
                said = step() if callable(step) else (yield step)
                self.noted.append((name, number, self.jobs.now) + ((said,) if said else ()))
        except GeneratorExit:
            self.noted.append((name, "cancelled", self.jobs.now))
            raise

    def send(self, size: int) -> Send:
        return Send(self.channel, b"x" * size)

    @property
    def names(self) -> list[str]:
        return [each[0] for each in self.noted]


@pytest.fixture
def bench() -> Bench:
    return Bench()


def test_jobs_go_on_by_deadline_and_then_by_age(bench: Bench) -> None:
    for name, until in (("a", 20), ("b", 10), ("c", 20), ("d", 0), ("e", 30)):
        bench.start(name, Wait(until))
    assert bench.noted == [("d", 0, 0)]
    assert bench.jobs.next_due == 10
    bench.jobs.advance(25)
    assert bench.noted[1:] == [("b", 0, 10), ("a", 0, 20), ("c", 0, 20)]
    assert (bench.jobs.now, bench.jobs.next_due) == (25, 30)
    bench.jobs.advance(5)
    assert bench.jobs.now == 25, "the time never goes back"
    bench.jobs.advance(30)
    assert (bench.noted[-1], bench.jobs.next_due, bench.jobs.alive) == (("e", 0, 30), None, [])


def test_a_job_that_is_cancelled_is_no_deadline(bench: Bench) -> None:
    first = bench.start("a", Wait(10))
    second = bench.start("b", Wait(10))
    bench.start("c", Wait(20))
    bench.jobs.cancel([first])
    bench.jobs.cancel([first])
    assert (bench.jobs.next_due, bench.noted) == (10, [("a", "cancelled", 0)])
    bench.jobs.cancel([second])
    assert bench.jobs.next_due == 20
    assert [first.done, second.done] == [True, True]
    bench.jobs.advance(30)
    assert bench.names == ["a", "b", "c"]


def test_a_group_is_cancelled_together(bench: Bench) -> None:
    group = object()
    bench.start("a", Wait(10), group=group)
    bench.start("b", Wait(10), group=object())
    bench.start("c", Wait(10), group=group)
    bench.jobs.cancel_group(group)
    assert bench.names == ["a", "c"]
    assert len(bench.jobs.alive) == 1


def test_a_frame_is_held_to_its_end(bench: Bench) -> None:
    """Others wait in the order they came; one that was cancelled meanwhile is passed over."""
    hold, free = Hold(bench.channel), Release(bench.channel)
    bench.start("a", hold, Wait(10), Send(bench.channel, b"a"), free, Wait(99))
    later = [bench.start(name, hold, Send(bench.channel, name.encode()), free) for name in "bcd"]
    bench.jobs.cancel(later[1:2])
    assert bench.names == ["a", "c"]
    bench.jobs.advance(10)
    assert list(bench.channel.outbox) == [b"a", b"b", b"d"]
    assert bench.channel.held_by is None


def test_the_end_of_a_job_frees_what_it_holds(bench: Bench) -> None:
    first = bench.start("a", Hold(bench.channel), Wait(10))
    second = bench.start("b", Hold(bench.channel), Wait(20))
    bench.jobs.cancel([first])
    assert bench.channel.held_by is second
    bench.jobs.advance(20)
    assert bench.channel.held_by is None
    bench.start("c", Release(bench.channel), Hold(bench.channel))
    assert bench.names[-2:] == ["c", "c"], "to free nothing does no harm"


def test_a_slow_reader_makes_jobs_wait(bench: Bench) -> None:
    assert HIGH_WATER == 262_144
    bench.start("a", bench.send(HIGH_WATER - 1), bench.send(1), bench.send(1))
    assert bench.noted == [("a", 0, 0)]
    assert bench.jobs.are_blocked
    other = Channel(Link())
    bench.jobs.acknowledge_written(other, 0)
    assert bench.noted == [("a", 0, 0)]
    bench.jobs.acknowledge_written(bench.channel, 1)
    assert len(bench.noted) == 2, "the third send fills the channel again"
    bench.jobs.acknowledge_written(bench.channel, 10)
    assert (len(bench.noted), bench.jobs.are_blocked) == (3, False)
    assert (bench.channel.total, bench.jobs.sent) == (HIGH_WATER + 1, HIGH_WATER + 1)
    assert bench.channel.waiting_bytes == HIGH_WATER + 1 - 11


def test_to_drain_waits_for_the_last_byte(bench: Bench) -> None:
    bench.start("a", bench.send(2), Drain(bench.channel))
    assert bench.jobs.are_blocked
    bench.jobs.acknowledge_written(bench.channel, 1)
    assert len(bench.noted) == 1
    bench.jobs.acknowledge_written(bench.channel, 1)
    assert (len(bench.noted), bench.jobs.are_blocked) == (2, False)


def test_a_channel_that_is_closed_takes_nothing(bench: Bench) -> None:
    bench.start("a", bench.send(3))
    bench.channel.close()
    bench.start("b", bench.send(HIGH_WATER), Drain(bench.channel))
    assert list(bench.channel.outbox) == [b"xxx"]
    assert bench.jobs.sent == 3
    assert bench.names == ["a", "b", "b"]


def test_heads_and_ends_have_no_bytes(bench: Bench) -> None:
    for item in (Head(200), b"xy", End()):
        bench.channel.put(item)
    assert (bench.channel.waiting_bytes, bench.channel.total) == (2, 2)
    assert list(bench.channel.outbox) == [Head(200, "application/json", None, ()), b"xy", End()]


def test_a_job_may_wait_for_others(bench: Bench) -> None:
    parts = [bench.start(name, Wait(until)) for name, until in (("a", 10), ("b", 20), ("c", 0))]
    bench.start("d", Join(tuple(parts)), Join(()))
    bench.jobs.advance(10)
    assert not bench.jobs.are_blocked, "that takes no reader"
    assert bench.names == ["c", "a"]
    bench.jobs.cancel(parts)
    assert bench.names == ["c", "a", "b", "d", "d"]


def test_the_world_outside_answers(bench: Bench) -> None:
    job = bench.start("a", Ask("why"), Wait(5))
    other = bench.start("b", Ask("how"))
    assert list(bench.jobs.asked) == [(job, "why"), (other, "how")]
    assert bench.jobs.are_blocked
    bench.jobs.answer(job, "because")
    assert bench.noted == [("a", 0, 0, "because")]
    bench.jobs.cancel([other])
    bench.jobs.answer(other, "late")
    assert bench.noted[1:] == [("b", "cancelled", 0)]


def test_a_job_that_fails_takes_no_other_with_it(bench: Bench) -> None:
    failed: list[Any] = []
    bench.jobs.failed = lambda job, problem: failed.append((job, str(problem)))

    def fail() -> None:
        raise ValueError("no")

    job = bench.start("a", Hold(bench.channel), Wait(1), fail)
    bench.start("b", Hold(bench.channel))
    bench.jobs.advance(1)
    assert failed == [(job, "no")]
    assert (job.done, bench.names) == (True, ["a", "a", "b"])
    bench.jobs.failed = Jobs().failed
    with pytest.raises(ValueError, match="no"):
        bench.start("c", fail)


def test_a_job_may_cancel_itself(bench: Bench) -> None:
    bench.start("a", lambda: bench.jobs.cancel_group("own"), bench.send(1), group="own")
    assert bench.noted == [("a", 0, 0), ("a", "cancelled", 0)]
    assert not bench.channel.outbox


def test_what_follows_the_end_is_called_once(bench: Bench) -> None:
    called: list[int] = []
    job = bench.start("a", Wait(5))
    job.ends.append(lambda: called.append(bench.jobs.now))
    bench.jobs.advance(9)
    bench.jobs.cancel([job])
    assert (called, job.ends) == ([5], [])


def test_a_halt_ends_what_waits_for_the_time_and_nothing_else(bench: Bench) -> None:
    bench.start("a", Wait(5))
    bench.start("b", Ask("x"), Wait(5), bench.send(1))
    bench.start("c", bench.send(HIGH_WATER), bench.send(1))
    bench.jobs.halt()
    assert bench.names == ["a"]
    bench.jobs.acknowledge_written(bench.channel, HIGH_WATER)
    assert bench.names == ["a", "c", "c"]
    bench.jobs.answer(bench.jobs.asked[0][0], "y")
    assert bench.noted[3:] == [("b", 0, 0, "y"), ("b", "cancelled", 0)]
    bench.start("d", Wait(0), Wait(1))
    assert bench.noted[5:] == [("d", 0, 0), ("d", "cancelled", 0)]
    assert bench.jobs.alive == []
    assert bench.jobs.next_due is None


#: What is done to a link, and whether it is closing and how it is closed then.
LINKS: list[tuple[list[str], bool, str | None]] = [
    (["graceful"], False, "graceful"),
    (["forced"], False, "forced"),
    (["graceful", "forced"], False, "forced"),
    (["forced", "graceful"], False, "forced"),
    (["begin", "graceful"], True, None),
    (["begin", "forced"], False, "forced"),
    (["begin", "graceful", "finish"], True, "graceful"),
    (["begin", "begin", "graceful", "finish"], True, None),
    (["begin", "begin", "graceful", "finish", "finish"], True, "graceful"),
    (["begin", "graceful", "forced", "finish"], True, "forced"),
    (["begin", "finish"], False, None),
]


@pytest.mark.parametrize(("done", "closing", "closed"), LINKS)
def test_a_link_closes_after_its_answers_or_at_once(
    done: list[str], closing: bool, closed: str | None
) -> None:
    link = Link()
    for each in done:
        if each in ("begin", "finish"):
            getattr(link, each)()
        else:
            link.close(graceful=each == "graceful")
    assert (link.closing, link.closed) == (closing, closed)
