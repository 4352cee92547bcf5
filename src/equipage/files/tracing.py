"""What was asked of the system, and what it answered.

    with traced(Trace()) as trace:
        ...  # every question that this room answers is noted, with its answer

What a check of a file comes to depends on the answers alone: as long as each question has the
answer it had, checking it again would come to the same. `replaying` asks again. Files that were
looked for in vain are questions like any other.

While an overlay is active, nothing is noted: its answers are not those of the system.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

T = TypeVar("T")

#: The name of a question, and its arguments.
Question = tuple[str, ...]
#: Text is a path, a problem in words, or a `digest` of what a file or folder holds.
Answer = bool | str | None
#: What `stat` says about a file or folder: device, inode, mode, size, and both of its times.
Signature = tuple[int, int, int, int, int, int]

_active: ContextVar[Trace | None] = ContextVar("trace", default=None)


class Trace:
    """The questions of one piece of work, each with its answer."""

    def __init__(self) -> None:
        self.answers: dict[Question, Answer] = {}
        self.variables: dict[str, str | None] = {}  #: the variables that were asked for
        #: what files were when they were opened to be read, by their `plain` paths
        self.signatures: dict[str, Signature] = {}
        #: whether asking again says everything: not if one question had two answers, or if code of
        #: others took part
        self.complete = True

    def note(self, question: Question, answer: Answer) -> None:
        if self.answers.setdefault(question, answer) != answer:
            self.complete = False

    def sign(self, path: str, status: os.stat_result) -> None:
        """Remember what a file was before it was read."""
        self.signatures.setdefault(plain(path) or path, signature(status))

    def watched(self, variables: Mapping[str, str]) -> Mapping[str, str]:
        """These variables; each one that is looked up is noted."""
        return _Watched(variables, self)


class _Watched(Mapping[str, str]):
    def __init__(self, variables: Mapping[str, str], trace: Trace) -> None:
        self._of, self._trace = variables, trace

    def __getitem__(self, name: str) -> str:
        self._trace.variables[name] = self._of.get(name)
        return self._of[name]

    def __iter__(self) -> Iterator[str]:
        self._trace.complete = False  # nothing that is checked depends on all of them
        return iter(self._of)

    def __len__(self) -> int:
        return len(self._of)


def plain(path: str) -> str | None:
    """A path as everyone else would write it; behind a link, two dots lead elsewhere."""
    return None if ".." in path or "\0" in path else os.path.abspath(path)


def signature(status: os.stat_result) -> Signature:
    """All that changes with what is at a path, as far as the system says."""
    return (
        status.st_dev,
        status.st_ino,
        status.st_mode,
        status.st_size,
        status.st_mtime_ns,
        status.st_ctime_ns,
    )


def digest(data: bytes) -> str:
    """What tells a content from every other; no path and no problem begins like it."""
    from blake3 import blake3  # only a check that keeps what it found needs it

    return f"={blake3(data).hexdigest()}"


def is_digest(answer: Answer) -> bool:
    return isinstance(answer, str) and answer.startswith("=")


def trace() -> Trace | None:
    """The trace that is being made, if there is one."""
    return _active.get()


def opaque() -> None:
    """Say that what goes on depends on code of others, which may ask anything."""
    active = _active.get()
    if active is not None:
        active.complete = False


def noted(name: str, argument: str, answer: T) -> T:
    """The answer to a question of one argument, which is noted if a trace is being made."""
    active = _active.get()
    if active is not None:
        assert isinstance(answer, bool | str)
        # One question about one file, however it is spelt.
        spelt = argument if os.path.isabs(argument) else plain(argument) or argument
        active.note((name, spelt), answer)
    return answer


@contextmanager
def traced(new: Trace) -> Iterator[Trace]:
    """Note every question in the body of the `with` statement."""
    token = _active.set(new)
    try:
        yield new
    finally:
        _active.reset(token)
