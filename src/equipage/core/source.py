"""Sources: texts as they were read, and spans inside them.

A `Source` is one file (or string) read once. Only it turns offsets into lines and columns.
Everything else passes offsets around, counted in code points of the author's own text.
"""

from __future__ import annotations

import bisect
from weakref import WeakKeyDictionary

import msgspec

from equipage.core.text import expression

_LINE_BREAK = expression(r"\r\n|\r|\n")


#: Values of variables by source. Not a field: whoever encodes a report must not meet them.
_SECRETS: WeakKeyDictionary[Source, tuple[tuple[str, str], ...]] = WeakKeyDictionary()


class Source(msgspec.Struct, eq=False, weakref=True):
    """A text with a name, read once.

    `name` is what people are shown; `path` is where it was read from, None for strings. The text
    keeps a leading byte order mark, so that offsets count what the author's editor counts.
    """

    name: str
    data: bytes
    text: str
    path: str | None = None
    outside: bool = False  #: it lies outside the allowed folders: no finding may quote it
    _starts: list[int] | None = None
    _digest: str | None = None

    @classmethod
    def of_bytes(cls, name: str, data: bytes, path: str | None = None) -> Source:
        """A source for the content of a file. Raises `UnicodeDecodeError`."""
        return cls(name, data, data.decode("utf-8"), path)

    @classmethod
    def of_text(cls, name: str, text: str) -> Source:
        """A source for a text that never was a file."""
        return cls(name, text.encode("utf-8", "surrogatepass"), text)

    @property
    def sha256(self) -> str:
        if self._digest is None:
            import hashlib  # slow to import, and most loads never ask

            self._digest = hashlib.sha256(self.data).hexdigest()
        return self._digest

    @property
    def secrets(self) -> tuple[tuple[str, str], ...]:
        """Values of variables that went into the text before it was parsed, by name."""
        return _SECRETS.get(self, ())

    def remember(self, secrets: tuple[tuple[str, str], ...]) -> None:
        """Keep the values of variables that went into the text, for `secrets`."""
        if secrets:
            _SECRETS[self] = secrets

    def _line_starts(self) -> list[int]:
        if self._starts is None:
            self._starts = [0, *(match.end() for match in _LINE_BREAK.finditer(self.text))]
        return self._starts

    def position(self, offset: int) -> tuple[int, int]:
        """Line and column of an offset, both from 1, in code points."""
        starts = self._line_starts()
        line = bisect.bisect_right(starts, offset)
        return line, offset - starts[line - 1] + 1

    def line(self, number: int) -> str:
        """The text of one line (from 1) without its line break."""
        starts = self._line_starts()
        start = starts[number - 1]
        end = starts[number] if number < len(starts) else len(self.text)
        return self.text[start:end].rstrip("\r\n")

    def __repr__(self) -> str:
        return f"Source({self.name!r})"

    def __reduce__(self) -> tuple[object, ...]:
        return Source, (self.name, self.data, self.text, self.path, self.outside)


class Span(msgspec.Struct, frozen=True, gc=False):
    """A stretch of a source, `start` included, `end` not."""

    source: Source
    start: int
    end: int

    @property
    def line(self) -> int:
        return self.source.position(self.start)[0]

    @property
    def column(self) -> int:
        return self.source.position(self.start)[1]

    def text(self) -> str:
        return self.source.text[self.start : self.end]
