"""A parsed source: its plain value now, the places of its parts when somebody asks."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Mapping
from typing import Any, Final, Literal

import msgspec

from equipage.core.diagnostics import Also, Fact, Shown
from equipage.core.path import Path
from equipage.core.source import Source, Span
from equipage.syntax import Engine, Irregularity, Parsed, Place, Range, SyntaxProblem, Touched, yaml
from equipage.syntax.variables import (
    Substituted,
    fragments,
    structure_changes,
    substitute,
    without_blanks,
)

Format = Literal["yaml", "json", "toml", "text"]

_BOM = "\ufeff"
#: Values of an irregularity that are our own words, not the author's.
_OUR_WORDS = frozenset({"problem", "hint", "character", "template", "sort"})


class Touch(msgspec.Struct, frozen=True):
    """A key or value that a variable went into: where, which names, and how the author wrote it."""

    path: Path
    is_key: bool
    names: tuple[str, ...]
    written: str


class Located(msgspec.Struct, frozen=True):
    """The spans of an entry: its value, and its key when it is an entry of a mapping."""

    value: Span
    key: Span | None = None


#: Stands for the whole source, but for its byte order mark.
_ALL: Final[Range] = (0, -1)


class Document(msgspec.Struct, eq=False, gc=False):
    """A source, parsed. `value` is plain data that nobody may change; `locate` gives spans."""

    source: Source
    format: Format
    value: Any
    window: Range = _ALL  #: the part of the source that was parsed
    merge: bool = False
    substituted_text: Substituted | None = None
    #: name and parts of the values of variables that cut through the structure of the text
    escaped: tuple[tuple[str, str], ...] = ()
    #: the codes of what was odd about the text, whether or not a kind minds
    odd: frozenset[str] = frozenset()
    _touches: tuple[Touch, ...] | None = None

    def __post_init__(self) -> None:
        if self.window is _ALL:
            self.window = _window(self.source.text)

    def parsed_text(self) -> str:
        """The text the engine saw: the window of the source, with variables replaced."""
        if self.substituted_text is not None:
            return self.substituted_text.text
        return self.source.text[slice(*self.window)]

    def span(self, start: int, end: int) -> Span:
        """A stretch of the parsed text as a span of the author's."""
        if self.substituted_text is not None:
            start, end = self.substituted_text.to_written(start, end)
        shift = self.window[0]
        return Span(self.source, start + shift, end + shift)

    def written_span(self, start: int, end: int) -> Span:
        """A stretch of the window, before any variable was replaced, as a span."""
        return Span(self.source, start + self.window[0], end + self.window[0])

    def locate(self, paths: Iterable[Path]) -> dict[Path, Located]:
        """The spans of those `paths` that exist here, found in one pass."""
        wanted = list(dict.fromkeys(paths))
        if not wanted:
            return {}
        if self.format == "text":
            return {(): Located(Span(self.source, *self.window))} if () in wanted else {}
        places = _locate(self.format, self.parsed_text(), wanted, merge=self.merge)
        return {path: self._located(place) for path, place in places.items()}

    def _located(self, place: Place) -> Located:
        return Located(
            self.span(*place.value), None if place.key is None else self.span(*place.key)
        )

    def text(self, path: Path) -> str | None:
        """The value at `path` as the author wrote it."""
        found = self.locate([path]).get(path)
        return None if found is None else found.value.text()

    def touches(self) -> tuple[Touch, ...]:
        """Every key and value that a variable went into."""
        if self._touches is None:
            self._touches = tuple(self._find_touches())
        return self._touches

    def substituted(self) -> frozenset[Path]:
        """The paths of the values that a variable went into."""
        return frozenset(touch.path for touch in self.touches() if not touch.is_key)

    def _find_touches(self) -> Iterable[Touch]:
        if self.substituted_text is None or not self.substituted_text.pieces:
            return
        pieces = [piece for piece in self.substituted_text.pieces if piece.name is not None]
        names: dict[tuple[Path, bool, Range], list[str]] = {}
        text = self.parsed_text()
        scalars = yaml.scalars_at(text, [without_blanks(text, *piece.became) for piece in pieces])
        for piece, scalar in zip(pieces, scalars, strict=True):
            if isinstance(scalar, Touched) and piece.name is not None:
                names.setdefault((scalar.path, scalar.is_key, scalar.range), []).append(piece.name)
        for (path, is_key, place), used in names.items():
            written = self.span(*place).text().strip().strip("\"'")
            yield Touch(path, is_key, tuple(dict.fromkeys(used)), written)

    def failed_paths(self) -> list[Path]:
        """Paths whose value could not be made because a required variable is not set."""
        if self.substituted_text is None:
            return []
        ranges = [piece.became for piece in self.substituted_text.pieces if piece.failed]
        if not ranges:
            return []
        scalars = yaml.scalars_at(self.parsed_text(), ranges)
        return [each.path for each in scalars if isinstance(each, Touched)]

    def __repr__(self) -> str:
        return f"Document({self.source.name!r}, {self.format})"


def parse(
    source: Source,
    format: Format,  # noqa: A002
    *,
    window: Range | None = None,
    env: Mapping[str, str] | None = None,
    merge: bool = False,
) -> tuple[Document | None, list[Fact]]:
    """The document of a source and what was odd about its text.

    `window` limits parsing to a part of the source, such as a header. With `env`, variables are replaced
    first. The document is None when the text has no value; the findings then say why.
    """
    document = Document(source, format, None, _ALL if window is None else window, merge)
    low, high = document.window
    text = source.text[low:high]
    facts: list[Fact] = []
    if env is not None:
        try:
            replaced = substitute(text, env)
        except SyntaxProblem as problem:
            return None, [
                _as_fact(each, document.written_span(*each.range)) for each in problem.problems
            ]
        text, document.substituted_text = replaced.text, replaced
        facts += [
            _as_fact(each, document.written_span(*each.range)) for each in replaced.irregularities
        ]
        changes = list(structure_changes(replaced))
        document.escaped = _escaped(replaced, {str(each.values["name"]) for each in changes})
        source.secrets = (*replaced.secrets(), *document.escaped)
        facts += [_as_fact(each, document.written_span(*each.range)) for each in changes]
    try:
        parsed = _load(format, text, merge=merge)
    except SyntaxProblem as problem:
        return None, [
            *facts,
            *(_as_fact(each, document.span(*each.range), document) for each in problem.problems),
        ]
    document.value = parsed.value
    if parsed.irregularities:
        document.odd = frozenset(each.code for each in parsed.irregularities)
        facts += oddities(document, parsed)
    return document, facts


def oddities(document: Document, parsed: Parsed) -> list[Fact]:
    """What was odd about the text of a document, at its places in the author's."""
    return [_as_fact(each, document.span(*each.range), document) for each in parsed.irregularities]


def _escaped(replaced: Substituted, names: set[str]) -> tuple[tuple[str, str], ...]:
    """Name and parts of the values that did not stay inside one scalar: nobody can tell where they ended up."""
    return tuple(
        (name, part)
        for name, value in replaced.secrets()
        if name in names
        for part in fragments(value)
    )


def _as_fact(each: Irregularity, span: Span, document: Document | None = None) -> Fact:
    values = {
        name: Shown(value) if isinstance(value, str) and name not in _OUR_WORDS else value
        for name, value in each.values.items()
    }
    values["line"] = span.line
    also = (
        tuple(Also(message, span=document.span(*place)) for message, place in each.also)
        if document
        else ()
    )
    return Fact(each.code, each.path, values, also=also, span=span)


def _window(text: str) -> Range:
    """Everything but one leading byte order mark."""
    return (1 if text.startswith(_BOM) else 0), len(text)


def load_value(format: Format, text: str, *, merge: bool = False) -> Any:  # noqa: A002
    """The value of a text and nothing else. Raises `SyntaxProblem`."""
    return _load(format, text, merge=merge).value


def _load(format: Format, text: str, *, merge: bool) -> Parsed:  # noqa: A002
    return yaml.load(text, merge=merge) if format == "yaml" else _engine(format).load(text)


def _locate(format: Format, text: str, paths: list[Path], *, merge: bool) -> dict[Path, Place]:  # noqa: A002
    return (
        yaml.locate(text, paths, merge=merge)
        if format == "yaml"
        else _engine(format).locate(text, paths)
    )


def _engine(format: Format) -> Engine:  # noqa: A002
    """The engine of a format, imported when it is first needed."""
    module: Any = importlib.import_module(f"equipage.syntax.{format}")
    engine: Engine = module
    return engine
