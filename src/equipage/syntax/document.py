"""A parsed source: its plain value now, the places of its parts when a finding needs them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any, Final, Literal

import msgspec

from equipage.core import codes
from equipage.core.diagnostics import MAX_FACTS_PER_CODE, Also, Change, Effect, Fact, Remedy, Shown
from equipage.core.path import HOLE, ROOT, Path, get
from equipage.core.source import Source, Span
from equipage.core.text import lazy_regex
from equipage.syntax import (
    ContainingScalar,
    Engine,
    Irregularity,
    Parsed,
    Range,
    SyntaxProblem,
    scalars_among,
    yaml,
)
from equipage.syntax.json import blank_comments
from equipage.syntax.variables import (
    USUAL_MARK,
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


#: A scalar that is not simply the text between its quotes.
_NEEDS_PARSING = lazy_regex(r"\A[|>]|\\|''|\n|\r")
#: In place of a variable: a character that nothing means.
_MARK = "\ue000"


def _strip_quotes(text: str) -> str:
    is_quoted = text[:1] in ("'", '"') and text[-1:] == text[:1] and len(text) > 1
    return text[1:-1] if is_quoted else text


def _interleave(texts: list[str], between: list[str]) -> str:
    return "".join(map("".join, zip(texts, [*between, ""], strict=True)))


class VariableUse(msgspec.Struct, frozen=True):
    """A key or value that a variable went into: where, which names, and how the author wrote it."""

    path: Path
    is_key: bool
    names: tuple[str, ...]
    written: str
    unset: tuple[str, ...] = ()  #: those of them that are not set, so that their default counts


class EntrySpans(msgspec.Struct, frozen=True):
    """The spans of an entry: its value, and its key if it is an entry of a mapping."""

    value: Span
    key: Span | None = None
    through: Span | None = None  #: the `<<` that merged it in


class Document(msgspec.Struct, eq=False, gc=False):
    """A source, parsed. `value` is plain data that must not be changed; `locate` gives spans."""

    source: Source
    syntax: Syntax
    value: Any
    window: Range = _WHOLE_SOURCE  #: the part of the source that was parsed
    merge: bool = False
    comments: bool = False  #: whether a text of JSON may have comments and trailing commas
    substituted_text: Substituted | None = None
    #: name and parts of the values of variables that cut through the structure of the text
    escaped: tuple[tuple[str, str], ...] = ()
    is_cut: bool = False  #: whether parts of the text were left out because they do not parse
    #: the codes of what was odd about the text, whether or not a kind minds
    odd: frozenset[str] = frozenset()
    _touches: tuple[VariableUse, ...] | None = None

    def __post_init__(self) -> None:
        if self.window is _WHOLE_SOURCE:
            text = self.source.text
            self.window = (1 if text.startswith(_BOM) else 0), len(text)

    def parsed_text(self) -> str:
        """The text that the engine saw: the window of the source, with variables replaced."""
        if self.substituted_text is not None:
            return self.substituted_text.text
        text = self.source.text[slice(*self.window)]
        return blank_comments(text) if self.comments else text

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
        if self.syntax == "text":
            return {(): EntrySpans(Span(self.source, *self.window))} if () in wanted else {}
        text = self.parsed_text()
        if self.syntax == "yaml":
            places = yaml.locate(text, wanted, merge=self.merge)
        else:
            places = _engine(self.syntax).locate(text, wanted)
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
        scalars = self._scalars_at([strip_range(text, *piece.became) for piece in pieces])
        names: dict[tuple[Path, bool, Range], list[str]] = {}
        for piece, scalar in zip(pieces, scalars, strict=True):
            if isinstance(scalar, ContainingScalar) and piece.name is not None:
                names.setdefault((scalar.path, scalar.is_key, scalar.range), []).append(piece.name)
        unset = {each.name for each in pieces if not (each.from_environment or each.failed)}
        for (path, is_key, place), used in names.items():
            value = path[-1] if is_key else get(self.value, path)
            written = self._written_text(self.span(*place), value)
            own = tuple(dict.fromkeys(used))
            defaults = tuple(each for each in own if each in unset)
            yield VariableUse(path, is_key, own, written, defaults)

    def _written_text(self, span: Span, value: Any) -> str:
        """The text of a scalar with its variables as they are written, without quotes and escapes.

        That is what the scalar alone means with a mark in place of each variable, if it means
        `value` with their values there; else a value has changed what is around it.
        """
        written, source = span.text().strip(), span.source
        plain = _strip_quotes(written)
        if self.syntax == "toml" or not _NEEDS_PARSING.search(written):
            return plain
        assert self.substituted_text is not None
        shift, whole = self.window[0], self.substituted_text
        variables = [
            (
                Span(source, *(shift + each for each in piece.written)),
                whole.text[slice(*piece.became)],
            )
            for piece in whole.pieces
            if span.start <= piece.written[0] + shift < span.end
        ]
        starts = [span.start, *(each.end for each, _ in variables)]
        ends = [*(each.start for each, _ in variables), span.end]
        pieces = (source.text[start:end] for start, end in zip(starts, ends, strict=True))
        try:
            found = load_value(self.syntax, _MARK.join(pieces))
        except SyntaxProblem:
            return plain
        texts = found.split(_MARK) if isinstance(found, str) else []
        if len(texts) != len(starts) or value != _interleave(
            texts, [each for _, each in variables]
        ):
            return plain
        return _interleave(texts, [each.text() for each, _ in variables])

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
        scalars = self._scalars_at([place for place, _ in ranges])
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
        """The paths of values that have no text: a variable is not set, or may not be used."""
        if self.substituted_text is None:
            return []
        ranges = [piece.became for piece in self.substituted_text.pieces if piece.failed]
        scalars = self._scalars_at(ranges) if ranges else []
        return [each.path for each in scalars if isinstance(each, ContainingScalar)]

    def _scalars_at(self, ranges: list[Range]) -> list[ContainingScalar | bool | None]:
        """The scalar that contains each of the ascending `ranges` of the parsed text."""
        if self.syntax == "yaml":
            return yaml.scalars_at(self.parsed_text(), ranges)
        if not ranges or self.syntax == "text":
            return [None] * len(ranges)
        return scalars_among(_engine(self.syntax).written(self.parsed_text()), ranges)

    def __repr__(self) -> str:
        return f"Document({self.source.name!r}, {self.syntax})"


def parse(
    source: Source,
    syntax: Syntax,
    *,
    window: Range | None = None,
    env: Mapping[str, str] | None = None,
    merge: bool = False,
    comments: bool = False,
    refused: Collection[str] = (),
    mark: str = USUAL_MARK,
) -> tuple[Document | None, list[Fact]]:
    """The document of a source and what was odd about its text.

    `window` limits parsing to a part of the source, such as a header. With `env`, variables are
    replaced first, those with `mark` before a default; values for which there is a finding with one
    of the `refused` codes have no text then. The document is None if the text has no value; the
    findings then say why.
    """
    window = _WHOLE_SOURCE if window is None else window
    document = Document(source, syntax, None, window, merge, comments)
    text = document.parsed_text()
    facts: list[Fact] = []
    try:
        if env is not None:
            need_all = codes.ENV_MISSING in refused
            is_yaml = syntax == "yaml"
            replaced = substitute(text, env, is_yaml=is_yaml, need_all=need_all, mark=mark)
            # Places up to here are those of the author's text; from now on, of the new one.
            facts += _apply_substitution(document, replaced, refused)
            text = document.parsed_text()
        parsed = _load(syntax, text, merge=merge)
    except SyntaxProblem as problem:
        found = facts + irregularity_facts(document, problem.problems)
        # With variables the text is not the author's, and the fix would have no place.
        if syntax == "json" and env is None:
            return _parse_without_trailing_commas(document, text) or (None, found)
        if syntax == "yaml" and window is _WHOLE_SOURCE:
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
    effect = Effect("correct", value=json.dumps(parsed.value), syntax="json", window=window)
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
    rest = yaml.blank_broken_blocks(text, error)
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


def _apply_substitution(
    document: Document, replaced: Substituted, refused: Collection[str]
) -> list[Fact]:
    """Give a document its text with variables replaced; the findings are about those variables."""
    if not (replaced.irregularities or any(each.from_environment for each in replaced.pieces)):
        document.substituted_text = replaced
        return []
    engine = None if document.syntax == "yaml" else _engine(document.syntax)
    changes = list(structure_changes(replaced, engine))
    facts = irregularity_facts(document, (*replaced.irregularities, *changes))
    # What became of values that did not stay inside one scalar is unknown: hide every part.
    names = {each.values["name"] for each in changes}
    secrets = replaced.secrets()
    document.escaped = tuple(
        (name, part) for name, value in secrets if name in names for part in fragments(value)
    )
    document.source.remember((*secrets, *document.escaped))
    if changes and codes.ENV_CHANGES_STRUCTURE in refused:
        # Wherever else such a value is, it may change what is left.
        replaced = replaced.without([each for each in replaced.pieces if each.name in names])
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


def load_value(syntax: Syntax, text: str, *, merge: bool = False) -> Any:
    """The value of a text and nothing else. Raises `SyntaxProblem`."""
    return _load(syntax, text, merge=merge, oddities=False).value


def _load(syntax: Syntax, text: str, *, merge: bool, oddities: bool = True) -> Parsed:
    if syntax == "yaml":
        return yaml.load(text, merge=merge, oddities=oddities)
    return _engine(syntax).load(text)


def _engine(syntax: Syntax) -> Engine:
    """The engine of a format other than YAML, imported when it is first needed."""
    if syntax == "json":
        from equipage.syntax import json

        return json
    from equipage.syntax import toml

    return toml
