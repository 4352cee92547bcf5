"""Ctrl-C ends the command at once, silently, with exit code 130.

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

_ends: dict[object, Callable[[], object]] = {}  #: what to call before the process exits, by owner
_writes = 0  #: how many blocks of `DeferInterrupts` are open
_is_waiting = False  #: whether an interrupt came meanwhile
_owner: int | None = None  #: the process that exits at once, not its children


def end_at_once() -> None:
    """Make an interrupt end this process.

    Nothing changes if the shell ignores interrupts for it, as for a program in the background.
    """
    global _owner
    if _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler:
        _owner = os.getpid()
        _signal.signal(_signal.SIGINT, _interrupted)


def raise_instead() -> None:
    """Make an interrupt raise `KeyboardInterrupt` again, if `exit_on_interrupt` changed that."""
    if _signal.getsignal(_signal.SIGINT) is _interrupted:
        _signal.signal(_signal.SIGINT, _signal.default_int_handler)


def ignore() -> None:
    """Ignore interrupts from now on: the work is done, and the process is about to exit."""
    if _owner == os.getpid():
        _signal.signal(_signal.SIGINT, _signal.SIG_IGN)


def ends_with_us(owner: object, end: Callable[[], object]) -> None:
    """Call `end` before an interrupt ends the process, until `unregister_cleanup` is called."""
    _ends[owner] = end


def ended(owner: object) -> None:
    _ends.pop(owner, None)


class Undisturbed:
    """A context in which an interrupt waits until the block is left."""

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
        # A process that was just forked must not end the processes of its parent.
        for end in list(_ends.values()) if os.getpid() == _owner else ():
            try:
                end()
            except Exception:
                continue  # it is gone already
        if sys.stderr is not None and sys.stderr.isatty():
            os.write(sys.stderr.fileno(), b"\n")  # the terminal shows `^C` in the line
    finally:
        os._exit(INTERRUPTED)
