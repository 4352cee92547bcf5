"""Sources: texts as they were read, and spans inside them.

A `Source` is one file (or string) read once. Only it turns offsets into lines and columns.
Everything else passes offsets around, counted in code points of the author's own text.
"""

from __future__ import annotations

import bisect
from _thread import RLock
from collections.abc import Callable
from typing import TYPE_CHECKING

import msgspec

from equipage.core.text import lazy_regex

if TYPE_CHECKING:
    import weakref
    from pathlib import Path

_LINE_BREAK = lazy_regex(r"\r\n|\r|\n")


#: Values of variables by source. Not a field: an encoder of reports must not meet them. There is
#: none before the first value.
_secrets: weakref.WeakKeyDictionary[Source, tuple[tuple[str, str], ...]] | None = None
_SECRETS_LOCK = RLock()


class Source(msgspec.Struct, eq=False, weakref=True):
    """A text with a name, read once.

    The text keeps a leading byte order mark, which counts as an offset and not as a column.

    >>> source = loaded.sources[0]
    >>> source.name, source.line(1), len(source.sha256)
    ('server.yaml', 'server: {name: demo, version: "1"}', 64)
    >>> source.path.name, source.path.is_absolute()
    ('server.yaml', True)
    """

    name: str
    """What people are shown."""
    _data: bytes | None
    _text: str | None
    filename: str | None = msgspec.field(default=None, name="path")  # as encoders always named it
    """`path` as text, as in `OSError.filename`."""
    outside: bool = False
    """It lies outside the allowed folders: no finding may quote it."""
    _starts: list[int] | None = None
    _digest: str | None = None
    _again: Callable[[str], bytes | None] | None = None

    @classmethod
    def of_bytes(cls, name: str, data: bytes, path: str | None = None) -> Source:
        """A source for the content of a file; if that is not UTF-8, with an empty text.

        A directive that needs text calls `require_text`; one that takes bytes does not.
        """
        try:
            return cls(name, data, data.decode("utf-8"), path)
        except UnicodeDecodeError:
            return cls(name, data, "", path)

    @classmethod
    def of_text(cls, name: str, text: str) -> Source:
        """A source for a text that never was a file."""
        return cls(name, text.encode("utf-8", "surrogatepass"), text)

    @property
    def path(self) -> Path | None:
        """Where it was read from, absolute; None for strings."""
        from pathlib import Path  # made when asked for: a load makes thousands of sources

        return None if self.filename is None else Path(self.filename)

    @property
    def data(self) -> bytes:
        """The content; of a source that was released, what its file holds, if it is the same."""
        if self._data is not None:
            return self._data
        again, filename = self._again, self.filename
        found = None if again is None or filename is None else again(filename)
        # The file may have changed since: then its text would not fit the offsets.
        return found if found is not None and _sha256(found) == self._digest else b""

    @property
    def text(self) -> str:
        """The content as text; empty if the bytes are not text."""
        if self._text is not None:
            return self._text
        return self.data.decode("utf-8", "replace")

    def release(self, again: Callable[[str], bytes | None]) -> None:
        """Let go of the content; `again` reads the file at a path when it is asked for."""
        if self.filename is not None and self._data is not None and self._text:
            self._digest, self._again = self.sha256, again
            self._line_starts()
            self._data = self._text = None

    @property
    def sha256(self) -> str:
        if self._digest is None:
            self._digest = _sha256(self.data)
        return self._digest

    @property
    def secrets(self) -> tuple[tuple[str, str], ...]:
        """Values of variables that went into the text before it was parsed, by name."""
        return _secrets.get(self, ()) if _secrets is not None else ()

    def remember(self, secrets: tuple[tuple[str, str], ...]) -> None:
        """Keep the values of variables that went into the text, for `secrets`."""
        global _secrets
        if secrets:
            import weakref  # few texts have any

            with _SECRETS_LOCK:
                if _secrets is None:
                    _secrets = weakref.WeakKeyDictionary()
            _secrets[self] = secrets

    def _line_starts(self) -> list[int]:
        if self._starts is None:
            text = self.text
            first = 1 if text.startswith("\ufeff") else 0  # a byte order mark takes no column
            self._starts = [first, *(match.end() for match in _LINE_BREAK.finditer(text))]
        return self._starts

    def position(self, offset: int) -> tuple[int, int]:
        """Line and column of an offset, both from 1, in code points."""
        starts = self._line_starts()
        line = max(1, bisect.bisect_right(starts, offset))
        return line, max(0, offset - starts[line - 1]) + 1

    def line(self, number: int) -> str:
        """The text of one line (from 1) without its line break."""
        starts = self._line_starts()
        start = starts[number - 1]
        end = starts[number] if number < len(starts) else len(self.text)
        return self.text[start:end].rstrip("\r\n")

    def __repr__(self) -> str:
        return f"Source({self.name!r})"

    def __reduce__(self) -> tuple[object, ...]:
        return Source, (self.name, self.data, self.text, self.filename, self.outside)


def _sha256(data: bytes) -> str:
    import hashlib  # slow to import, and most loads never ask

    return hashlib.sha256(data).hexdigest()


_Places = tuple[tuple[int, tuple[int, int]], ...]


class Outline(Source, eq=False):
    """What a pickled place keeps of its source: the name and path, and where the place is.

    There is no text: a finding must be small, and may travel further than the file should.
    """

    places: _Places = ()
    """Offsets with their line and column."""

    def position(self, offset: int) -> tuple[int, int]:
        # Only the start and the end of a place are ever asked for.
        return dict(self.places).get(offset, (1, 1))

    def line(self, number: int) -> str:
        return ""

    def __reduce__(self) -> tuple[object, ...]:
        return _outline, (self.name, self.filename, self.places)


def _outline(name: str, path: str | None, places: _Places) -> Outline:
    return Outline(name, b"", "", path, places=places)


class Span(msgspec.Struct, frozen=True, gc=False):
    """A stretch of a source, `start` included, `end` not.

    A pickled span keeps its line and column, and not the text of its source; see `Report.to_bytes`.
    Spans of one place in a file are equal, whichever load read it.

    >>> error = equipage.check_files({"a.tool.yaml": b"id: 5"}).errors[-1]
    >>> error.span.line, error.span.column, error.span.text()
    (1, 5, '5')
    >>> again = pickle.loads(pickle.dumps(error))
    >>> again.span.line, again.span.column, again.span.text()
    (1, 5, '')
    """

    source: Source
    """The text it is in."""
    start: int
    """The offset of its first character, in code points."""
    end: int
    """The offset behind its last character."""

    @property
    def line(self) -> int:
        """The line it starts in, from 1."""
        return self.source.position(self.start)[0]

    @property
    def column(self) -> int:
        """The column it starts at, from 1, in code points."""
        return self.source.position(self.start)[1]

    def text(self) -> str:
        """The text it covers; empty if the span was unpickled without its source."""
        return self.source.text[self.start : self.end]

    def _places(self) -> _Places:
        return tuple((each, self.source.position(each)) for each in (self.start, self.end))

    # Each load, and each pickle, makes a source of its own, which is equal to itself alone.

    def _key(self) -> tuple[object, ...]:
        return self.source.name, self.source.filename, self._places()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Span) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        end_line, end_column = self.source.position(self.end)
        return f"Span({self.source.name!r}, {self.line}:{self.column}-{end_line}:{end_column})"

    def __reduce__(self) -> tuple[object, ...]:
        source, start, end = self.source, self.start, self.end
        # Line and column are worked out now: the text they come from stays behind.
        return Span, (_outline(source.name, source.filename, self._places()), start, end)


def pickle_with_text(value: object) -> bytes:
    """A pickle in which spans keep the whole text of their sources, each source once."""
    import io
    import pickle  # slow to import, and few programs ask

    packed = io.BytesIO()
    pickler = pickle.Pickler(packed, protocol=pickle.HIGHEST_PROTOCOL)
    pickler.dispatch_table = {Span: lambda each: (Span, (each.source, each.start, each.end))}
    pickler.dump(value)
    return packed.getvalue()
