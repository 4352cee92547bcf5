"""Ctrl-C: the command ends at once, with exit code 130 and without a word.

Python's own answer is an exception wherever the program happens to be. Where Python runs code on
the side, as at the end of an import, that exception is printed and lost; in a native module that
does not expect it, it can crash the process. So the command does not unwind: the handler ends the
processes that it started, waits for the end of a write, and leaves. A command that has more to
clean up asks for the exception instead.

A program that uses the library has its own handler, and nothing here changes it.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # `signal` itself takes long to import
import os
import sys

TYPE_CHECKING = False  # importing `typing` would cost a third of a start
if TYPE_CHECKING:
    from collections.abc import Callable

#: The exit code of a command that was interrupted.
INTERRUPTED = 130

_ends: dict[object, Callable[[], object]] = {}  #: what an interrupt ends, by its owner
_writes = 0  #: how many writes are under way
_is_waiting = False  #: whether an interrupt waits for them
_owner: int | None = None  #: the process that ends at once; not those that it starts


def end_at_once() -> None:
    """From now on, an interrupt ends this process.

    A shell that ignores interrupts for a program in the background keeps its say.
    """
    global _owner
    if _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler:
        _owner = os.getpid()
        _signal.signal(_signal.SIGINT, _interrupted)


def raise_instead() -> None:
    """From now on, an interrupt is Python's exception again, unless it never ended the process."""
    if _signal.getsignal(_signal.SIGINT) is _interrupted:
        _signal.signal(_signal.SIGINT, _signal.default_int_handler)


def ignore() -> None:
    """The work is done, and all that is left is the end of the process: that is quick."""
    if _owner == os.getpid():
        _signal.signal(_signal.SIGINT, _signal.SIG_IGN)


def ends_with_us(owner: object, end: Callable[[], object]) -> None:
    """Call `end` before an interrupt ends the process, until `ended` is called."""
    _ends[owner] = end


def ended(owner: object) -> None:
    _ends.pop(owner, None)


class Undisturbed:
    """A block that an interrupt does not cut in two; it takes effect at the end."""

    def __enter__(self) -> None:
        global _writes
        _writes += 1

    def __exit__(self, *_: object) -> None:
        global _writes
        _writes -= 1
        if _is_waiting and not _writes:
            _leave()


def _interrupted(_number: int, _frame: object) -> None:
    global _is_waiting
    _is_waiting = True
    if not _writes:
        _leave()


def _leave() -> None:
    try:
        # A process that was forked a moment ago has no say about those of its parent.
        for end in list(_ends.values()) if os.getpid() == _owner else ():
            try:
                end()
            except Exception:
                continue  # it is gone already
        if sys.stderr is not None and sys.stderr.isatty():
            os.write(sys.stderr.fileno(), b"\n")  # the terminal shows `^C` in the line
    finally:
        os._exit(INTERRUPTED)
