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
INTERRUPTED_EXIT_CODE = 130

_cleanups: dict[
    object, Callable[[], object]
] = {}  #: what to call before the process exits, by owner
_writes_in_progress = 0  #: how many blocks of `DeferInterrupts` are open
_interrupt_is_pending = False  #: whether an interrupt came meanwhile
_owner_pid: int | None = None  #: the process that exits at once, not its children


def exit_on_interrupt() -> None:
    """Make an interrupt end this process.

    Nothing changes if the shell ignores interrupts for it, as for a program in the background.
    """
    global _owner_pid
    if _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler:
        _owner_pid = os.getpid()
        _signal.signal(_signal.SIGINT, _handle_interrupt)


def restore_keyboard_interrupt() -> None:
    """Make an interrupt raise `KeyboardInterrupt` again, if `exit_on_interrupt` changed that."""
    if _signal.getsignal(_signal.SIGINT) is _handle_interrupt:
        _signal.signal(_signal.SIGINT, _signal.default_int_handler)


def ignore_interrupts() -> None:
    """Ignore interrupts from now on: the work is done, and the process is about to exit."""
    if _owner_pid == os.getpid():
        _signal.signal(_signal.SIGINT, _signal.SIG_IGN)


def register_cleanup(owner: object, end: Callable[[], object]) -> None:
    """Call `end` before an interrupt ends the process, until `unregister_cleanup` is called."""
    _cleanups[owner] = end


def unregister_cleanup(owner: object) -> None:
    _cleanups.pop(owner, None)


class DeferInterrupts:
    """A context in which an interrupt waits until the block is left."""

    def __enter__(self) -> None:
        global _writes_in_progress
        _writes_in_progress += 1

    def __exit__(self, *_: object) -> None:
        global _writes_in_progress
        _writes_in_progress -= 1
        if _interrupt_is_pending and not _writes_in_progress:
            _clean_up_and_exit()


def _handle_interrupt(_number: int, _frame: object) -> None:
    global _interrupt_is_pending
    _interrupt_is_pending = True
    if not _writes_in_progress:
        _clean_up_and_exit()


def _clean_up_and_exit() -> None:
    try:
        # A process that was just forked must not end the processes of its parent.
        for end in list(_cleanups.values()) if os.getpid() == _owner_pid else ():
            try:
                end()
            except Exception:
                continue  # it is gone already
        if sys.stderr is not None and sys.stderr.isatty():
            os.write(sys.stderr.fileno(), b"\n")  # the terminal shows `^C` in the line
    finally:
        os._exit(INTERRUPTED_EXIT_CODE)
