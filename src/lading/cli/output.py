"""Where the command writes: data to standard output, notes to standard error."""

from __future__ import annotations

import os
import sys


class Output:
    """Standard output and error, with or without colour."""

    def __init__(self, *, colour: str = "auto") -> None:
        self.colour = _wants_colour(colour)
        self.width = _terminal_width()

    def data(self, text: str) -> None:
        """Write what was asked for."""
        try:
            sys.stdout.write(text)
        except UnicodeEncodeError:
            encoding = sys.stdout.encoding or "ascii"
            sys.stdout.write(text.encode(encoding, "backslashreplace").decode(encoding))

    def note(self, text: str) -> None:
        """Write a word about the run itself."""
        sys.stdout.flush()
        print(text, file=sys.stderr)


def _terminal_width() -> int:
    """The width to write for: what COLUMNS says, else the terminal's, else 100."""
    wanted = os.environ.get("COLUMNS", "")
    if wanted.isdecimal() and int(wanted) > 0:
        return int(wanted)
    try:
        return os.get_terminal_size(sys.stdout.fileno()).columns or 100
    except (OSError, ValueError):
        return 100


def _wants_colour(choice: str) -> bool:
    if choice != "auto":
        return choice == "always"
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
