"""A parsed source: its plain value now, the places of its parts when a finding needs them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, Literal

import msgspec

from equipage.core import codes
from equipage.core.diagnostics import MAX_FACTS_PER_CODE, Also, Change, Effect, Fact, Remedy, Shown
from equipage.core.path import HOLE, ROOT, Path
from equipage.core.source import Source, Span
from equipage.syntax import (
    ContainingScalar,
    Engine,
    Irregularity,
    Parsed,
    Range,
    SyntaxProblem,
    yaml,
)
from equipage.syntax.variables import (
    Substituted,
    fragments,
    strip_range,
    structure_changes,
    substitute,
)

Syntax = Literal["yaml", "json", "toml", "text"]

_BOM = "\ufeff"
#: Values of an irregularity that we wrote, not the author: they are shown as they are.
_TRUSTED_VALUES = frozenset({"problem", "hint", "character", "template", "sort"})
#: The whole source but for its byte order mark.
_WHOLE_SOURCE: Final[Range] = (0, -1)


class VariableUse(msgspec.Struct, frozen=True):
    """A key or value that a variable went into: where, which names, and how the author wrote it."""

    path: Path
    is_key: bool
    names: tuple[str, ...]
    written: str


class EntrySpans(msgspec.Struct, frozen=True):
    """The spans of an entry: its value, and its key if it is an entry of a mapping."""

    value: Span
    key: Span | None = None
    through: Span | None = None  #: the `<<` that merged it in


class Document(msgspec.Struct, eq=False, gc=False):
    """A source, parsed. `value` is plain data that must not be changed; `locate` gives spans."""

    source: Source
    format: Syntax
    value: Any
    window: Range = _WHOLE_SOURCE  #: the part of the source that was parsed
    merge: bool = False
    substituted_text: Substituted | None = None
    #: name and parts of the values of variables that cut through the structure of the text
    escaped: tuple[tuple[str, str], ...] = ()
    is_cut: bool = False  #: whether parts of the text were left out because they do not parse
    #: the codes of what was odd about the text, whether or not a kind minds
    odd: frozenset[str] = frozenset()
    #: paths of values that a kind does not take as the text has them
    refused: tuple[Path, ...] = ()
    _touches: tuple[VariableUse, ...] | None = None

    def __post_init__(self) -> None:
        if self.window is _WHOLE_SOURCE:
            text = self.source.text
            self.window = (1 if text.startswith(_BOM) else 0), len(text)

    def parsed_text(self) -> str:
        """The text that the engine saw: the window of the source, with variables replaced."""
        if self.substituted_text is not None:
            return self.substituted_text.text
        return self.source.text[slice(*self.window)]

    def release(self, again: Callable[[str], bytes | None]) -> None:
        """Let go of the text, see `Source.release`; one with variables stays, as it has values."""
        if self.substituted_text is not None and not self.substituted_text.pieces:
            self.substituted_text = None
        if self.substituted_text is None:
            self.source.release(again)

    def span(self, start: int, end: int) -> Span:
        """A stretch of the parsed text as a span of the author's."""
        if self.substituted_text is not None:
            start, end = self.substituted_text.to_written(start, end)
        shift = self.window[0]
        return Span(self.source, start + shift, end + shift)

    def locate(self, paths: Iterable[Path]) -> dict[Path, EntrySpans]:
        """The spans of those `paths` that exist here, found in one pass."""
        wanted = list(dict.fromkeys(paths))
        if not wanted:
            return {}
        # A text without structure has one value, and that is all of it.
        if self.format == "text":
            return {(): EntrySpans(Span(self.source, *self.window))} if () in wanted else {}
        text = self.parsed_text()
        if self.format == "yaml":
            places = yaml.locate(text, wanted, merge=self.merge)
        else:
            places = _engine(self.format).locate(text, wanted)
        return {
            path: EntrySpans(
                self.span(*place.value),
                self.span(*place.key) if place.key else None,
                self.span(*place.through) if place.through else None,
            )
            for path, place in places.items()
        }

    def variable_uses(self) -> tuple[VariableUse, ...]:
        """Every key and value that a variable went into."""
        if self._touches is None:
            self._touches = tuple(self._find_variable_uses())
        return self._touches

    def _find_variable_uses(self) -> Iterator[VariableUse]:
        if self.substituted_text is None:
            return
        # `$$` is not a variable: it became a dollar, and hides nothing.
        pieces = [piece for piece in self.substituted_text.pieces if piece.name is not None]
        text = self.parsed_text()
        scalars = yaml.scalars_at(text, [strip_range(text, *piece.became) for piece in pieces])
        names: dict[tuple[Path, bool, Range], list[str]] = {}
        for piece, scalar in zip(pieces, scalars, strict=True):
            if isinstance(scalar, ContainingScalar) and piece.name is not None:
                names.setdefault((scalar.path, scalar.is_key, scalar.range), []).append(piece.name)
        for (path, is_key, place), used in names.items():
            written = self.span(*place).text().strip().strip("\"'")
            yield VariableUse(path, is_key, tuple(dict.fromkeys(used)), written)

    def add_paths(self, facts: list[Fact]) -> list[Fact]:
        """Add to facts about variables the paths of the values that these went into."""
        assert self.substituted_text is not None
        pieces, text = self.substituted_text.pieces, self.parsed_text()
        ranges: list[tuple[Range, int]] = []
        for piece in pieces:
            start, end = strip_range(text, *piece.became)
            written = piece.written[0] + self.window[0]
            # A value of which nothing is left is found here, or where the blanks before it begin.
            line = text.rfind("\n", 0, start) + 1
            before = line + len(text[line:start].rstrip(" "))
            if start == end != before:
                ranges.append(((before, before), written))
            ranges.append(((start, end), written))
        scalars = yaml.scalars_at(text, [place for place, _ in ranges])
        paths = {
            written: scalar.path
            for (_, written), scalar in zip(ranges, scalars, strict=True)
            if isinstance(scalar, ContainingScalar)
        }
        return [
            msgspec.structs.replace(each, path=paths.get(each.span.start, each.path))
            if each.span is not None
            else each
            for each in facts
        ]

    def may_mention(self, key: str) -> bool:
        """Whether the text may hold a key. An escape could spell it in another way."""
        text = self.parsed_text()
        return key in text or "\\" in text

    def failed_paths(self) -> list[Path]:
        """The paths of values that have no text because a variable that must be set is not."""
        if self.substituted_text is None:
            return []
        ranges = [piece.became for piece in self.substituted_text.pieces if piece.failed]
        scalars = yaml.scalars_at(self.parsed_text(), ranges)
        failed = (each.path for each in scalars if isinstance(each, ContainingScalar))
        return [*self.refused, *failed]

    def __repr__(self) -> str:
        return f"Document({self.source.name!r}, {self.format})"


def parse(
    source: Source,
    format: Syntax,  # noqa: A002
    *,
    window: Range | None = None,
    env: Mapping[str, str] | None = None,
    merge: bool = False,
) -> tuple[Document | None, list[Fact]]:
    """The document of a source and what was odd about its text.

    `window` limits parsing to a part of the source, such as a header. With `env`, variables are
    replaced first. The document is None if the text has no value; the findings then say why.
    """
    document = Document(source, format, None, _WHOLE_SOURCE if window is None else window, merge)
    text = document.parsed_text()
    facts: list[Fact] = []
    try:
        if env is not None:
            replaced = substitute(text, env)
            # Places up to here are those of the author's text; from now on, of the new one.
            facts += _apply_substitution(document, replaced)
            text = replaced.text
        parsed = _load(format, text, merge=merge)
    except SyntaxProblem as problem:
        found = facts + irregularity_facts(document, problem.problems)
        # With variables the text is not the author's, and the fix would have no place.
        if format == "json" and env is None:
            return _parse_without_trailing_commas(document, text) or (None, found)
        if format == "yaml" and window is None:
            return _parse_other_blocks(document, text, problem.problems[0], found)
        return None, found
    document.value = parsed.value
    if facts:
        facts = document.add_paths(facts)
    if parsed.irregularities:
        document.odd = frozenset(each.code for each in parsed.irregularities)
        facts += irregularity_facts(document, parsed.irregularities)
    return document, facts


def _parse_without_trailing_commas(
    document: Document, text: str
) -> tuple[Document, list[Fact]] | None:
    """The document of a JSON text whose only fault is commas before closing brackets.

    Each comma is an error with a fix, and what else is wrong is found in the same run. Blanks take
    the place of commas, so that every other offset stays.
    """
    import json

    from equipage.syntax.json import trailing_commas

    commas = trailing_commas(text)
    if not commas:
        return None
    corrected = list(text)
    for offset in commas:
        corrected[offset] = " "
    try:
        parsed = _load("json", "".join(corrected), merge=False)
    except SyntaxProblem:
        return None
    document.value = parsed.value
    document.substituted_text = Substituted("".join(corrected))
    start = document.window[0]
    window = (start, start + len(text))
    effect = Effect("correct", value=json.dumps(parsed.value), format="json", window=window)
    facts = []
    for offset in commas:
        span = document.span(offset, offset + 1)
        remedy = Remedy("remove the last `,`", (Change(ROOT, "", span=span, effect=effect),))
        problem = "there is a `,` before the closing bracket"
        facts.append(
            codes.JSON_SYNTAX.at(span=span, remedy=remedy, problem=problem, hint=remedy.message)
        )
    return document, facts + irregularity_facts(document, parsed.irregularities)


def _parse_other_blocks(
    document: Document, text: str, error: Irregularity, found: list[Fact]
) -> tuple[Document | None, list[Fact]]:
    """The document with a hole for each top-level key whose block is not YAML."""
    rest = yaml.blank_broken_blocks(text, error) if error.code == codes.YAML_SYNTAX else None
    try:
        parsed = None if rest is None else _load("yaml", rest[0], merge=document.merge)
    except SyntaxProblem:
        parsed = None
    if rest is None or parsed is None or not isinstance(parsed.value, dict):
        return None, found
    names = (name for key in rest[1] for name in load_value("yaml", f"{key}:"))
    document.value, document.is_cut = {**parsed.value, **dict.fromkeys(names, HOLE)}, True
    if document.substituted_text is None:
        document.substituted_text = Substituted(rest[0])
    else:
        document.substituted_text = msgspec.structs.replace(document.substituted_text, text=rest[0])
    return document, found + irregularity_facts(document, parsed.irregularities)


def _apply_substitution(document: Document, replaced: Substituted) -> list[Fact]:
    """Give a document its text with variables replaced; the findings are about those variables."""
    changes = list(structure_changes(replaced))
    facts = irregularity_facts(document, (*replaced.irregularities, *changes))
    # What became of values that did not stay inside one scalar is unknown: hide every part.
    names = {each.values["name"] for each in changes}
    secrets = replaced.secrets()
    document.escaped = tuple(
        (name, part) for name, value in secrets if name in names for part in fragments(value)
    )
    document.source.remember((*secrets, *document.escaped))
    document.substituted_text = replaced
    return facts


def irregularity_facts(document: Document, found: Iterable[Irregularity]) -> list[Fact]:
    """The facts about irregularities of a text, at their places in the author's text."""
    facts: list[Fact] = []
    counts: dict[str, int] = {}
    last: dict[str, Irregularity] = {}
    for each in found:
        counts[each.code] = counts.get(each.code, 0) + (each.more or 1)
        if counts[each.code] <= MAX_FACTS_PER_CODE:
            facts.append(_irregularity_fact(each, document))
        else:
            last[each.code] = each
    for code, each in last.items():
        rest = msgspec.structs.replace(
            _irregularity_fact(each, document), more=counts[code] - MAX_FACTS_PER_CODE
        )
        facts.append(rest)
    return facts


def _irregularity_fact(each: Irregularity, document: Document) -> Fact:
    span = document.span(*each.range)
    values: dict[str, object] = {
        name: Shown(value) if isinstance(value, str) and name not in _TRUSTED_VALUES else value
        for name, value in each.values.items()
    }
    values["line"] = span.line
    also = tuple(Also(message, span=document.span(*place)) for message, place in each.also)
    return Fact(each.code, each.path, values, also=also, span=span)


def load_value(format: Syntax, text: str, *, merge: bool = False) -> Any:  # noqa: A002
    """The value of a text and nothing else. Raises `SyntaxProblem`."""
    return _load(format, text, merge=merge, oddities=False).value


def _load(
    format: Syntax,  # noqa: A002
    text: str,
    *,
    merge: bool,
    oddities: bool = True,
) -> Parsed:
    if format == "yaml":
        return yaml.load(text, merge=merge, oddities=oddities)
    return _engine(format).load(text)


def _engine(format: Syntax) -> Engine:  # noqa: A002
    """The engine of a format other than YAML, imported when it is first needed."""
    if format == "json":
        from equipage.syntax import json

        return json
    from equipage.syntax import toml

    return toml
