"""Where the command writes: data to standard output, notes to standard error.

A terminal gets what it can show. A file or a pipe gets UTF-8 with plain line feeds, so that a run
writes the same bytes under every locale, unless PYTHONIOENCODING asks for something else.
"""

from __future__ import annotations

import os
import sys
import time

TYPE_CHECKING = False  # importing `typing` would cost a third of a start
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any, TextIO

    from equipage.core.diagnostics import Diagnostic
    from equipage.render.text import Style


#: Shorter runs show no progress: a bar that flashes by only disturbs.
DELAY = 1.0
_EVERY = 0.1
_WIDTH = 24


class Unwritable(Exception):
    """Standard output cannot be written; the text says why."""


class Output:
    """Standard output and error, with or without colour."""

    def __init__(self, *, colour: str = "auto") -> None:
        self.code = 0  #: the exit code if the reader closes the pipe early
        self.colour = _wants_colour(colour, sys.stdout)
        self.colour_notes = _wants_colour(colour, sys.stderr)
        self.width = terminal_width(100)
        _settle_encoding(sys.stdout)

    def style(self) -> Style:
        """How to write text for people.

        Lines are cut to fit for a terminal, or where COLUMNS asks for it; programs need them whole.
        """
        from equipage.render.text import Style

        is_terminal = sys.stdout is not None and sys.stdout.isatty()
        cuts = is_terminal or bool(os.environ.get("COLUMNS"))
        return Style(colour=self.colour, width=self.width, cuts=cuts)

    def data(self, text: str) -> None:
        """Write the output of the command."""
        if sys.stdout is not None:  # it is None where standard output is closed
            write(sys.stdout, text)

    def json(self, value: Any) -> None:
        """Write data for other programs."""
        from equipage.render.json import written

        self.data(written(value))

    def document(self, text: str, path: str | None) -> None:
        """Write a document; to a file in one step, if there is a path. Raises `UsageError`."""
        if path is None or path == "-":  # standard output, as in most programs
            self.data(text)
            return
        from equipage.core.diagnostics import UsageError
        from equipage.files.writing import NotWritten, write_whole

        self.flush()  # the path may be that of standard output
        try:
            write_whole(path, text.encode("utf-8"))
        except NotWritten as error:
            raise UsageError(f"cannot write {path}: {error}") from None

    def flush(self) -> None:
        """Pass on what was written so far."""
        flush(sys.stdout)

    def note(self, *lines: str) -> None:
        """Write lines about the run itself.

        They may quote file names and arguments, so control characters in them are made visible.
        """
        from equipage.core.text import visible

        self._note("".join(f"{visible(line)}\n" for line in lines))

    def _note(self, text: str) -> None:
        self.flush()
        if sys.stderr is not None:
            write(sys.stderr, text)
            sys.stderr.flush()

    def findings(self, diagnostics: Iterable[Diagnostic]) -> None:
        """Write findings that prevent the command from doing its work."""
        from equipage.render.text import Style, finding

        style = Style(colour=self.colour_notes, width=self.width)
        for each in diagnostics:
            self._note(finding(each, style) + "\n")


def terminal_width(otherwise: int) -> int:
    """The width to write for: what COLUMNS says, else that of the terminal."""
    wanted = os.environ.get("COLUMNS", "")
    # Python refuses to convert very long numbers.
    if wanted.isdecimal() and len(wanted) < 10 and int(wanted) > 0:
        return int(wanted)
    try:
        return os.get_terminal_size(sys.stdout.fileno()).columns or otherwise
    except (AttributeError, OSError, ValueError):  # closed, or not a terminal
        return otherwise


def flush(stream: TextIO | None) -> None:
    """Write what is buffered. Raises `Unwritable`, or `BrokenPipeError` if the reader is gone."""
    if stream is None:  # standard output is closed
        return
    try:
        stream.flush()
    except BrokenPipeError:
        raise  # an OSError, but not a failure: `main` ends the run quietly
    except OSError as error:
        raise Unwritable(error.strerror or "it is closed") from None


def write(stream: TextIO, text: str) -> None:
    try:
        stream.write(text)
    except UnicodeEncodeError:
        # A terminal that cannot show a character gets its escape.
        encoding = stream.encoding or "ascii"
        stream.write(text.encode(encoding, "backslashreplace").decode(encoding))
    except BrokenPipeError:
        raise
    except OSError as error:
        raise Unwritable(error.strerror or "it is closed") from None


def _settle_encoding(stream: TextIO | None) -> None:
    reconfigure = getattr(stream, "reconfigure", None)
    if reconfigure is None or stream is None:
        return
    if not stream.isatty() and not os.environ.get("PYTHONIOENCODING"):
        reconfigure(encoding="utf-8", errors="backslashreplace", newline="\n")


def _wants_colour(choice: str, stream: TextIO | None) -> bool:
    if choice != "auto":
        return choice == "always"
    # https://no-color.org: any value but the empty one turns colour off.
    return (
        stream is not None
        and stream.isatty()
        and not os.environ.get("NO_COLOR")
        and os.environ.get("TERM") != "dumb"
    )


class Progress:
    """A progress bar on standard error, if that is a terminal; `clear` removes it."""

    def __init__(self, what: str, width: int) -> None:
        self.what = what
        self.width = width
        self.wanted = sys.stderr is not None and sys.stderr.isatty()
        self._next = time.monotonic() + DELAY
        self._drawn = False

    def __call__(self, done: int, total: int) -> None:
        if not self.wanted or time.monotonic() < self._next:
            return
        self._next = time.monotonic() + _EVERY
        self._drawn = True
        filled = _WIDTH * done // max(1, total)
        bar = "#" * filled + "-" * (_WIDTH - filled)
        line = f"{self.what} [{bar}] {done}/{total}"[: self.width - 1]
        # Back to the start of the line; erase what is left of a longer one.
        self._write(f"\r{line}\x1b[K")

    def clear(self) -> None:
        if self._drawn:
            self._write("\r\x1b[K")

    def _write(self, text: str) -> None:
        sys.stderr.write(text)
        sys.stderr.flush()
