"""`${VAR}` on raw text, before anything is parsed.

| written | becomes |
|---|---|
| `$$` | `$` |
| `${NAME}` | the value; nothing, with a warning, if it is not set |
| `${NAME:-text}` | the value if set, else `text` |
| `${NAME:?text}` | the value if set, else an error |

A format may have another mark than `:-` before a default. One pass, left to right; a value that was
put in is never scanned again. Because substitution happens before parsing, `count: ${N}` with N=5
is a number, and a value that holds YAML could change the structure of the document:
`structure_changes` finds where that happened. Every replaced piece is remembered, so that later
places point into the text that the author wrote and values from the environment are never shown.
"""

from __future__ import annotations

import bisect
import re
from collections.abc import Collection, Iterator, Mapping
from functools import cache
from itertools import zip_longest

import msgspec

from equipage.core import codes
from equipage.core.text import lazy_regex
from equipage.syntax import Engine, Irregularity, Range, SyntaxProblem, scalars_among, yaml

_BRACES = lazy_regex(r"[{}]")
#: The mark between the name of a variable and its default.
USUAL_MARK = ":-"
#: Values made of these characters alone cannot end a scalar, start another or open a comment.
_HARMLESS = lazy_regex(r"[A-Za-z0-9_./@+%~-]*")
#: What divides YAML into scalars: white space, controls, quotes and indicators.
_SCALAR_DIVIDERS = lazy_regex(r"[\s\x00-\x20'\"{}\[\],:#&*!|>%@`?]+")
_COMMENT = lazy_regex(r"(?:^|[ \t])#")
#: Names that the response templates of a server use at run time. Written with one `$`, they are
#: consumed here.
_TEMPLATE = lazy_regex(r"(?:args|tool|resource|prompt|phase|request|connection|env|fn)\.")
#: A name that a shell can set; with dots, one of a template.
_NAME = lazy_regex(r"[A-Za-z_][A-Za-z0-9_.]*")
_NEAR_NAME = lazy_regex(r"\{?\s*(?:(?:oc\.)?env:)?([A-Za-z_][A-Za-z0-9_]*)(?:\.[A-Za-z0-9_.]*)?")
#: What others write before a default.
_NEAR_MARK = lazy_regex(r"\s*(?:-|:=?)\s*(?=[^\s+])")
#: Characters in a name that show that the variable was never closed.
_UNCLOSED_SIGN = lazy_regex(r"[\"'{,\n]")
#: What is put in place of a value that is missing or refused: the field it was meant for can be
#: found by it, reported and left out. Outside YAML a bare word is not a value.
_PLACEHOLDER = "unset"
_BARE_PLACEHOLDER = "0"


class Piece(msgspec.Struct, frozen=True):
    """A stretch of the author's text and what it became. `name` is None for `$$`."""

    written: Range
    became: Range
    name: str | None
    from_environment: bool
    failed: bool = False


class Substituted(msgspec.Struct, frozen=True):
    """Text after substitution, with the way back to the author's."""

    text: str
    pieces: tuple[Piece, ...] = ()
    irregularities: tuple[Irregularity, ...] = ()
    placeholder: str = _PLACEHOLDER

    def to_written(self, start: int, end: int) -> Range:
        """A stretch of the new text in the author's: a piece that it touches is taken whole."""
        if start == end:
            vanished = self._empty_piece_after(start)
            if vanished is not None:
                return vanished.written
        return self._to_written_offset(start, at_end=False), self._to_written_offset(
            max(start, end), at_end=True
        )

    def _empty_piece_after(self, offset: int) -> Piece | None:
        """The piece after `offset` that became empty, if only blanks precede it: `key: ${NOPE}`."""
        number = bisect.bisect_left(self.pieces, offset, key=lambda piece: piece.became[0])
        for piece in self.pieces[number : number + 1]:
            start, end = piece.became
            if start == end and not self.text[offset:start].strip(" "):
                return piece
        return None

    def _to_written_offset(self, offset: int, *, at_end: bool) -> int:
        number = bisect.bisect_right(self.pieces, offset, key=lambda piece: piece.became[0]) - 1
        if number < 0:
            return offset
        piece = self.pieces[number]
        start, end = piece.became
        if at_end and offset == start != end:
            return piece.written[0]  # the stretch ends right before this piece
        if offset < end or (at_end and offset == end):
            return piece.written[1] if at_end else piece.written[0]
        return piece.written[1] + offset - end

    @property
    def names(self) -> tuple[str, ...]:
        """The variables that were looked up, in order of first use."""
        return tuple(dict.fromkeys(piece.name for piece in self.pieces if piece.name is not None))

    def secrets(self) -> tuple[tuple[str, str], ...]:
        """Name and value of everything that came from the environment."""
        used = (
            (piece.name, self.text[slice(*piece.became)])
            for piece in self.pieces
            if piece.name is not None and piece.from_environment
        )
        return tuple(dict.fromkeys(used))

    def without(self, refused: Collection[Piece]) -> Substituted:
        """This text with a placeholder for some of the pieces."""
        refused = frozenset(refused)
        out: list[str] = []
        pieces: list[Piece] = []
        position = length = 0
        for piece in self.pieces:
            start, end = piece.became
            value = self.placeholder if piece in refused else self.text[start:end]
            out += (self.text[position:start], value)
            length += start - position
            became = length, length + len(value)
            failed = piece.failed or piece in refused
            pieces.append(msgspec.structs.replace(piece, became=became, failed=failed))
            position, length = end, became[1]
        text = "".join([*out, self.text[position:]])
        return Substituted(text, tuple(pieces), self.irregularities, self.placeholder)


@cache
def _start(mark: str) -> re.Pattern[str]:
    """`$$`, or the beginning of a variable: its name and what follows, if anything ends it."""
    return re.compile(rf"\$(?:\$|\{{(?:(.*?)(\}}|{re.escape(mark)}|:\?))?)", re.DOTALL)


def substitute(
    text: str,
    env: Mapping[str, str],
    *,
    is_yaml: bool = True,
    need_all: bool = False,
    mark: str = USUAL_MARK,
) -> Substituted:
    """`text` with its variables replaced from `env`; with `need_all`, an unset one has no value.

    `mark` comes between a name and its default. Raises `SyntaxProblem` if a `${` is never closed:
    everything behind it would be guesswork.
    """
    if "$" not in text:
        return Substituted(text)
    placeholder = _PLACEHOLDER if is_yaml else _BARE_PLACEHOLDER
    out: list[str] = []
    pieces: list[Piece] = []
    found: list[Irregularity] = []
    length, position, pattern = 0, 0, _start(mark)
    while (match := pattern.search(text, position)) is not None:
        start, end = match.span()
        out.append(text[position:start])
        length += start - position
        name, value, known, failed = None, "$", False, False
        position = end
        if text[start + 1] == "{":
            name, operator, rest, position = _parse_variable(text, match, mark)
            set_to = _text_or_none(env.get(name))
            known = set_to is not None
            failed = not known and (operator == ":?" or (need_all and operator != ":-"))
            value = set_to if set_to is not None else placeholder if failed else rest
            place = start, position
            odd = _check_variable(
                text, place, name, operator, rest, mark, known=known, need_all=need_all
            )
            if odd is not None:
                found.append(odd)
        out.append(value)
        pieces.append(Piece((start, position), (length, length + len(value)), name, known, failed))
        length += len(value)
    out.append(text[position:])
    return Substituted("".join(out), tuple(pieces), tuple(found), placeholder)


def substitute_defaults(text: str) -> str:
    """`text` with each variable replaced by its default, or by a fixed word if it has none.

    That shows the shape of a file, the same on every machine.
    """
    out: list[str] = []
    position = 0
    while (match := _start(USUAL_MARK).search(text, position)) is not None:
        out.append(text[position : match.start()])
        position, value = match.end(), "$"
        if match.group() != "$$":
            try:
                _, operator, rest, position = _parse_variable(text, match)
            except SyntaxProblem:
                return text
            value = rest if operator == ":-" else _PLACEHOLDER
        out.append(value)
    return "".join([*out, text[position:]])


def _parse_variable(
    text: str, match: re.Match[str], mark: str = USUAL_MARK
) -> tuple[str, str | None, str, int]:
    """The parts of a `${…}` that begins so: name, operator, text behind the operator, end."""
    name, operator = match.groups()
    start, end = match.span()
    if operator == "}":
        return name, None, "", end
    close = None if operator is None else _find_closing_brace(text, end)
    if close is None:
        raise SyntaxProblem([Irregularity(codes.ENV_UNCLOSED, (start, start + 2))])
    return name, ":-" if operator == mark else operator, text[end:close], close + 1


def _find_closing_brace(text: str, position: int) -> int | None:
    """Where the brace is that closes an open `${`; inner braces are counted."""
    depth = 1
    for match in _BRACES.finditer(text, position):
        depth += 1 if match.group() == "{" else -1
        if depth == 0:
            return match.start()
    return None


def _text_or_none(value: str | None) -> str | None:
    """The value of a variable if it is proper text: other bytes come as lone surrogates."""
    if value is not None:
        try:
            value.encode("utf-8")
        except UnicodeEncodeError:
            return None
    return value


def _check_variable(
    text: str,
    place: Range,
    name: str,
    operator: str | None,
    rest: str,
    mark: str,
    *,
    known: bool,
    need_all: bool,
) -> Irregularity | None:
    """What is odd about one `${…}`."""
    is_missing = not known and operator != ":-"
    # Where a missing variable is an error, it is one whatever is odd about its name.
    is_refused = need_all and is_missing
    if not name.strip() and operator != ":?" and not is_refused:
        return Irregularity(codes.ENV_NAMELESS, place)
    written = text[slice(*place)]
    if operator == ":?" and is_missing:
        usual = _NAME.fullmatch(name)
        values = {
            "name": name if name.strip() else written,
            "export": name if usual else None,
            "instead": None if usual else _guess_variable(name, mark) or "${NAME:?…}",
            "why": rest.strip() or None,
        }
        return Irregularity(codes.ENV_REQUIRED, place, values=values)
    if ":" in name and not _UNCLOSED_SIGN.search(name) and not is_refused:
        state = ", which is not set" if is_missing else ""
        values = {"written": written, "state": state}
        return Irregularity(codes.ENV_AMBIGUOUS_COLON, place, values=values)
    if is_missing:
        meant = _guess_variable(name, mark) if name.strip() else "${NAME}"
        values = {
            "name": name if name.strip() else written,
            "meant": meant,
            "default": f"${{{name}{mark}…}}" if meant is None else None,
            "template": f"${written}" if _TEMPLATE.match(name) else None,
        }
        return Irregularity(codes.ENV_MISSING, place, values=values)
    return None


def _guess_variable(name: str, mark: str) -> str | None:
    """What the author of an unusual name probably meant to write."""
    found = _NEAR_NAME.match(name)
    if found is None or (found[0] == name and ":" not in name):
        return None
    if _UNCLOSED_SIGN.search(name):
        return f"${{{found[1]}}}"  # the brace is missing, and another one was taken for it
    rest = name[found.end() :].rstrip()
    operator = _NEAR_MARK.match(rest)
    return f"${{{found[1]}{mark}{rest[operator.end() :]}}}" if operator else f"${{{found[1]}}}"


def structure_changes(
    substituted: Substituted, engine: Engine | None = None
) -> Iterator[Irregularity]:
    """The values from the environment that do not stay inside one scalar or one comment.

    Such a value can add keys, end a quote or swallow what follows it. `engine` is that of the text,
    if that is not YAML.
    """
    text = substituted.text
    risky = [
        piece
        for piece in substituted.pieces
        if piece.from_environment and not _is_harmless(text[slice(*piece.became)], engine)
    ]
    if not risky:
        return
    ranges = [strip_range(text, *piece.became) for piece in risky]
    if engine is not None:
        outcomes = scalars_among(engine.written(text), ranges)
    else:
        outcomes = yaml.scalars_at(text, ranges)
    cut = [
        piece
        for piece, outcome in zip(risky, outcomes, strict=True)
        if outcome is False
        or (outcome is None and engine is None and _starts_comment(text, *piece.became))
    ]
    for piece in cut or _find_swallowing(substituted, risky, engine):
        yield Irregularity(codes.ENV_CHANGES_STRUCTURE, piece.written, values={"name": piece.name})


def _is_harmless(value: str, engine: Engine | None) -> bool:
    """Whether a value cannot change any structure: in keys of TOML, a dot can."""
    return _HARMLESS.fullmatch(value) is not None and (engine is None or "." not in value)


def _find_swallowing(
    substituted: Substituted, risky: list[Piece], engine: Engine | None
) -> list[Piece]:
    """The value that made another structure of the text than a harmless one in its place.

    Where every quote has a partner in another value, each value is inside one scalar, and all
    between them as well.
    """
    harmless = substituted.without(risky)
    for real, meant in zip_longest(_outline(substituted, engine), _outline(harmless, engine)):
        if real != meant:
            ends = [each[1][1] for each in (real, meant) if each is not None]
            before = [piece for piece in risky if piece.written[0] <= min(ends)]
            return before[-1:] or risky[:1]
    return []


def _outline(substituted: Substituted, engine: Engine | None) -> Iterator[tuple[bool, Range, bool]]:
    """What a text consists of, at the places of the author's text."""
    read = yaml.written if engine is None else engine.written
    for each in read(substituted.text):
        yield each.is_key, substituted.to_written(*each.range), each.is_scalar


def _starts_comment(text: str, start: int, end: int) -> bool:
    """Whether a value that is part of no node made the comment around it."""
    line = max(text.rfind("\n", 0, start), text.rfind("\r", 0, start)) + 1
    return "#" in text[start:end] and _COMMENT.search(text[line:start]) is None


def fragments(value: str) -> Iterator[str]:
    """The parts of a value that may appear alone if the value was split by the structure."""
    return (part for part in _SCALAR_DIVIDERS.split(value) if part)


def strip_range(text: str, start: int, end: int) -> Range:
    """A stretch of a text without the blanks at its ends, which no scalar keeps."""
    stripped = text[start:end].strip()
    if not stripped:
        return start, start
    start += text[start:end].index(stripped)
    return start, start + len(stripped)
