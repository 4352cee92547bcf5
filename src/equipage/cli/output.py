"""Where the command writes: data to standard output, notes to standard error.

A terminal gets what it can show. A file or a pipe gets UTF-8 with plain line feeds, so that a run
writes the same bytes under every locale, unless PYTHONIOENCODING asks for something else.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from equipage.core.diagnostics import Diagnostic
    from equipage.render.text import Style


class Unwritable(Exception):
    """Standard output cannot be written; the text says why."""


class Output:
    """Standard output and error, with or without colour.

    With a `path`, the data of the command goes to that file instead, in one step at the end: a
    command that fails leaves the file as it was.
    """

    def __init__(self, *, colour: str = "auto", path: str | None = None) -> None:
        self.code = 0  #: the exit code if the reader closes the pipe early
        self.path = None if path == "-" else path  # `-` is standard output, as in most programs
        self._written: list[str] = []
        self.is_terminal = not self.path and sys.stdout is not None and sys.stdout.isatty()
        self.colour = wants_colour(colour, None if self.path else sys.stdout)
        self.colour_notes = wants_colour(colour, sys.stderr)
        self.width = terminal_width(100)
        self.site = _docs_site()  #: with the pages of codes, see `core.text.code_page_url`
        _set_encoding(sys.stdout)

    def style(self) -> Style:
        """How to write text for people.

        Tables are made to fit a terminal, or what COLUMNS says; programs need each row on a line.
        """
        from equipage.render.text import Style

        fits = self.is_terminal or bool(os.environ.get("COLUMNS"))
        links = self.is_terminal and self.colour and os.environ.get("TERM") != "linux"
        return Style(colour=self.colour, width=self.width, fits=fits, links=links)

    def write_data(self, text: str) -> None:
        """Write the output of the command."""
        if self.path is not None:
            self._written.append(text)
        elif sys.stdout is not None:  # it is None where standard output is closed
            write(sys.stdout, text)

    def write_json(self, value: Any) -> None:
        """Write data for other programs."""
        from equipage.render.json import dump_json

        self.write_data(dump_json(value))

    def finish(self) -> None:
        """Write the file that the data goes to, if there is one, once. Raises `UsageError`."""
        path, self.path = self.path, None
        if path is None:
            return
        from equipage.core.diagnostics import UsageError
        from equipage.files.writing import NotWritten, write_or_replace

        self.flush()  # the path may be that of standard output
        try:
            write_or_replace(path, "".join(self._written).encode("utf-8", "backslashreplace"))
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
        write_to_stderr(text)

    def write_findings(self, diagnostics: Iterable[Diagnostic]) -> None:
        """Write findings that prevent the command from doing its work."""
        from equipage.render.text import render_finding

        self.write_rendered_notes(
            render_finding(each, self.style_of_notes()) + "\n" for each in diagnostics
        )

    def style_of_notes(self) -> Style:
        """How to write for people on standard error."""
        from equipage.render.text import Style

        return Style(colour=self.colour_notes, width=self.width)

    def write_rendered_notes(self, rendered: Iterable[str]) -> None:
        """Write to standard error what was rendered for it."""
        for each in rendered:
            self._note(each)


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


def write_to_stderr(text: str) -> None:
    """Write to standard error. If that is full, the work goes on without it."""
    if sys.stderr is None:
        return
    try:
        write(sys.stderr, text)
        sys.stderr.flush()
    except BrokenPipeError:
        raise
    except (OSError, Unwritable):
        silence(sys.stderr)


def silence(stream: TextIO | None) -> None:
    """Keep Python from reporting, when it flushes at exit, that a stream cannot be written."""
    # The descriptor and not the stream: Python still flushes what the stream has buffered.
    if stream is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _set_encoding(stream: TextIO | None) -> None:
    reconfigure = getattr(stream, "reconfigure", None)
    if reconfigure is None or stream is None:
        return
    if not stream.isatty() and not os.environ.get("PYTHONIOENCODING"):
        reconfigure(encoding="utf-8", errors="backslashreplace", newline="\n")


def wants_colour(choice: str, stream: TextIO | None) -> bool:
    """Whether to write with colour, by the choice of the user, the environment and the stream."""
    if choice != "auto":
        return choice == "always"
    # https://no-color.org and https://force-color.org: any value but the empty one counts.
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return stream is not None and stream.isatty() and os.environ.get("TERM") != "dumb"


#: Where the pages of the codes are published; None until they are.
SITE: str | None = None


def _docs_site() -> str | None:
    """The site that EQUIPAGE_DOCS_URL names, else the one where the pages are published."""
    site = os.environ.get("EQUIPAGE_DOCS_URL") or SITE
    if site is None or not site.startswith(("https://", "http://", "file:///")):
        return None
    return site.rstrip("/")
