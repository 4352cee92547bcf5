"""Where things are in a YAML text: wanted paths, whatever is odd, and the scalar at an offset.

An alias is bound to the node that it repeats by occurrence and not by name: a name may be given to
several nodes. The texts were loaded before, so their depth and their aliases are within the limits.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from math import isfinite
from typing import Any

from yaml.error import MarkedYAMLError
from yaml.events import (
    AliasEvent,
    DocumentStartEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
    StreamEndEvent,
)
from yaml.reader import ReaderError

from equipage.core import codes
from equipage.core.diagnostics import MAX_FACTS_PER_CODE
from equipage.core.frozen import MAX_DEPTH
from equipage.core.path import ROOT, Path
from equipage.core.text import lazy_regex
from equipage.syntax import ContainingScalar, Irregularity, Place, Range, Written, scalars_among
from equipage.syntax.nodes import (
    WANT_EVERYTHING,
    Alias,
    Collection,
    Entries,
    Node,
    PathTrie,
    Scalar,
    TreeBuilder,
    find_places,
    key_text,
    name_of,
    range_of,
    target_of,
    value_of,
)
from equipage.syntax.yaml.events import Events, read_events, reading_budget
from equipage.syntax.yaml.scalars import (
    NumberTooLong,
    is_ambiguous,
    is_core_tag,
    is_known_tag,
    is_too_long,
    resolve_plain,
    resolve_tagged,
)


def locate(text: str, paths: Iterable[Path], *, merge: bool = False) -> dict[Path, Place]:
    """The places of those `paths` that exist in the first document of `text`.

    With `merge`, what `<<` brings in is placed where it is written.
    """
    wanted = list(paths)
    return find_places(_compose(text, PathTrie.from_paths(wanted), merge=merge), wanted)


def _compose(text: str, wanted: PathTrie = WANT_EVERYTHING, *, merge: bool = False) -> Node | None:
    """The root of the first document, None if there is none. With `merge`, `<<` is applied."""
    return read_events(text, lambda get_event: _build_tree(text, get_event, wanted, merge=merge))


def _build_tree(
    text: str, get_event: Callable[[], Any], wanted: PathTrie, *, merge: bool
) -> Node | None:
    """The tree of the first document."""
    # A search of the text is cheaper than looking at every mapping.
    merge = merge and "<<" in text
    tree = TreeBuilder(wanted)
    named: dict[str, Node | None] = {}
    last: Any = None  # the event that a collection would end with if it ended now
    while True:
        event = get_event()
        kind = event.__class__
        if kind is ScalarEvent:
            last = event
            # What no wanted path needs is not built, unless an alias may ask for it later.
            if tree.is_keeping or event.anchor is not None:
                value = scalar_value(event)
                # Events are large, and only odd ones are looked at again.
                kept = event if _may_be_odd(event, value) else None
                node = Scalar(*content_range(event, text), value, kept)
                tree.add(node)
                if event.anchor is not None:
                    named[event.anchor] = node
        elif kind is AliasEvent:
            last = event
            tree.add(Alias(*content_range(event, text), named.get(event.anchor), event))
        elif kind in STARTS:
            start, _ = content_range(event, text)
            is_mapping, is_named = kind is MappingStartEvent, event.anchor is not None
            # An alias may lead to any part of a named node.
            opened = tree.open(start, is_mapping=is_mapping, whole=is_named, event=event)
            if is_named:
                named[event.anchor] = opened
        elif kind in ENDS:
            if event.start_mark.index != event.end_mark.index:
                last = event  # a bracket; the end of a block has no text
            collection = tree.close()
            if collection is not None:
                end = content_range(last or collection.event, text)[1]
                collection.end = max(collection.start, end)
                if merge and collection.is_mapping:
                    _apply_merge(collection)
        elif kind is StreamEndEvent or (kind is DocumentStartEvent and last is not None):
            return tree.root


def _may_be_odd(event: Any, value: object) -> bool:
    """Whether a scalar has a tag, may be a merge key, or a number that programs disagree about."""
    if event.tag is not None or event.value == "<<":
        return True
    if event.implicit[0] and is_ambiguous(event.value):
        return True
    is_wide = isinstance(value, str) and event.implicit[0] and is_too_long(value)
    return is_wide or (isinstance(value, float) and not isfinite(value))


def _apply_merge(mapping: Collection) -> None:
    """Apply `<<`. The mappings it names are complete: a node cannot name one that is open."""
    own = mapping.entries
    if "<<" not in own:
        return
    pairs = [pair for pair in mapping.pairs() if value_of(pair[0]) == "<<"]
    applied = [(key, value) for key, value in pairs if key and _is_merge_key(key)]
    if not applied:
        return
    merged: Entries = {}
    for key, value in applied:
        # Of several merged mappings the first wins, so the last is laid down first.
        for each in reversed(_merge_sources(value)):
            if isinstance(each, Collection) and each.is_mapping:
                merged.update(each.entries)
                mapping.brought.update(dict.fromkeys(each.entries, key))
    # Own keys win over merged ones and keep the order of the merged.
    for name, entry in own.items():
        if name != "<<":
            merged[name] = entry
            mapping.brought.pop(name, None)
    if len(applied) < len(pairs):  # one of them was text, and is an entry like any other
        merged["<<"] = [pair for pair in pairs if not _is_merge_key(pair[0])][-1]
    mapping.entries = merged


def _is_merge_key(node: Node | None) -> bool:
    """Whether a key is `<<` as an indicator: with quotes or a tag it is text like any other."""
    if isinstance(node, Scalar):
        event = node.event
        return event is not None and event.value == "<<" and event.implicit[0] and event.tag is None
    return isinstance(node, Alias) and value_of(node) == "<<"


def _merge_sources(given: Node | None) -> list[Node | None]:
    """What a `<<` names: one mapping or a list of them, unless it is a mistake."""
    target = target_of(given)
    if isinstance(target, Collection) and not target.is_mapping:
        return [target_of(each) for each in target.children]
    return [target]


# ------------------------------------------------------------------- what is odd about a text


def find_oddities(text: str, *, merge: bool) -> list[Irregularity]:
    """Everything odd in a text that `construct` accepted, with its places, in order."""
    found: list[Irregularity] = []
    # A stack and no recursion: findings are sorted at the end, so the order does not matter.
    left: list[tuple[Node | None, Path, bool]] = [(_compose(text), ROOT, False)]
    while left:
        node, path, is_key = left.pop()
        assert node is not None  # the tree is whole
        found += _check_tag(node, path, text)
        if isinstance(node, Collection) and node.is_mapping:
            found += _check_keys(node, path, text, merge=merge)
            for key, value in node.pairs():
                if _may_hold_oddity(key):
                    left.append((key, path, True))
                if _may_hold_oddity(value):
                    left.append((value, (*path, name_of(key)), False))
        elif isinstance(node, Collection):
            left += [
                (each, (*path, index), False)
                for index, each in enumerate(node.children)
                if _may_hold_oddity(each)
            ]
        elif isinstance(node, Scalar) and not is_key:
            found += _check_number(node, path)
    return sorted(found, key=lambda each: each.range)


def _may_hold_oddity(node: Node | None) -> bool:
    """Whether a node may be odd, or hold something that is: nearly all scalars are ordinary."""
    return not isinstance(node, Scalar) or node.event is not None


def _check_tag(node: Node, path: Path, text: str) -> Iterator[Irregularity]:
    event = node.event
    tag = getattr(event, "tag", None)
    if tag is None:
        return
    value = resolve_tagged(tag, event.value) if isinstance(node, Scalar) else ()
    if not is_known_tag(tag, value):
        # The event has the tag as it was resolved; people look for what they wrote.
        start = text.find("!", event.start_mark.index)
        end = next((i for i in range(start, len(text)) if text[i] in " \t\r\n,[]{}"), len(text))
        problem = "does not fit its value" if is_core_tag(tag) else "has no meaning here"
        values = {"tag": text[start:end], "problem": problem}
        yield Irregularity(codes.UNKNOWN_TAG, (start, end), path, values)


def _check_number(node: Scalar, path: Path) -> Iterator[Irregularity]:
    value, event = node.value, node.event
    if event is None:
        return
    if isinstance(value, float) and not isfinite(value):
        yield Irregularity(codes.NOT_FINITE, range_of(node), path, {"found": event.value})
    elif isinstance(value, str) and event.implicit[0] and event.tag is None and is_too_long(value):
        yield Irregularity(codes.NUMBER_TOO_LONG, range_of(node), path, {"digits": len(value)})
    elif event.implicit[0] and event.tag is None and is_ambiguous(event.value):
        here = "text here, a number" if isinstance(value, str) else f"{value} here, octal or text"
        values = {"found": event.value, "problem": f"it is {here} to other programs"}
        yield Irregularity(codes.AMBIGUOUS_NUMBER, range_of(node), path, values)


def _check_keys(
    mapping: Collection, path: Path, text: str, *, merge: bool
) -> Iterator[Irregularity]:
    """Keys that are not strings, repeated keys, and `<<` if it is not applied or cannot be."""
    seen: dict[str, Range] = {}
    repeated = 0
    for node, value in mapping.pairs():
        assert node is not None
        place, key = range_of(node), value_of(node)
        name = key_text(key)
        if not isinstance(key, str):
            sort = _sort_of_key(key)
            # A collection as a key has no short name, so its text is shown.
            shown = name if sort == "scalar" else text[slice(*place)] or "null"
            values = {"key": shown, "quoted": shown, "sort": sort}
            yield Irregularity(codes.NON_STRING_KEY, place, (*path, name), values)
        if _is_merge_key(node):
            if not merge:
                yield Irregularity(codes.MERGE_KEY, place, (*path, "<<"))
            else:
                yield from _check_merge_sources(value, (*path, "<<"), text)
            continue
        first = seen.setdefault(name, place)
        if first is not place:
            repeated += 1
            if repeated <= MAX_FACTS_PER_CODE:
                also = (("first here", first),)
                yield Irregularity(codes.DUPLICATE_KEY, place, (*path, name), {"key": name}, also)
    if repeated > MAX_FACTS_PER_CODE:
        more, values = repeated - MAX_FACTS_PER_CODE, {"key": name}
        yield Irregularity(codes.DUPLICATE_KEY, place, (*path, name), values, more=more)


def _check_merge_sources(value: Node | None, path: Path, text: str) -> Iterator[Irregularity]:
    """The value of a `<<`, if it is not what can be merged."""
    assert value is not None
    sources = _merge_sources(value)
    if not all(isinstance(each, Collection) and each.is_mapping for each in sources):
        place, expected = range_of(value), "a mapping to merge, or a list of them"
        values = {"expected": expected, "found": text[slice(*place)] or "nothing"}
        yield Irregularity(codes.WRONG_TYPE, place, path, values)


def _sort_of_key(key: object) -> str:
    """The type of a key that is not text, in a word; each kind decides what to do with it."""
    if isinstance(key, dict | list):
        return "collection"
    if key is None:
        return "null"
    return "not finite" if isinstance(key, float) and not isfinite(key) else "scalar"


#: The events that open and close a collection.
STARTS = frozenset({MappingStartEvent, SequenceStartEvent})

# ---------------------------------------------------------------------- the scalar at an offset

_NODE_EVENTS = STARTS | {ScalarEvent, AliasEvent}


def scalars_at(text: str, ranges: list[Range]) -> list[ContainingScalar | bool | None]:
    """What is written at each of the ascending `ranges`; see `equipage.syntax.yaml.scalars_at`."""
    errors: list[int] = []
    result = scalars_among(written(text, errors), ranges)
    for number, (low, high) in enumerate(ranges):
        if any(low <= offset <= high for offset in errors):
            result[number] = False
    return result


def written(text: str, errors: list[int] | None = None) -> Iterator[Written]:
    """See `equipage.syntax.Engine`; where the text does not parse is added to `errors`."""
    try:
        for event, path, is_key in _walk_nodes(text):
            place = (event.start_mark.index, event.end_mark.index)
            yield Written(tuple(path), place, is_key, event.__class__ is ScalarEvent)
    except (MarkedYAMLError, ReaderError) as error:
        if errors is not None:
            errors.append(error_offset(error, text))


def _walk_nodes(text: str) -> Iterator[tuple[Any, list[str | int], bool]]:
    """The event of each node of the first document, its path, and whether it is a key.

    The path is one list that changes as the walk goes on; the walk ends where it gets too deep.
    """
    get_event = Events(text).get_event
    path: list[str | int] = []
    key_next: list[bool] = []  # for each open collection, whether a key comes next
    started = False
    while len(path) <= MAX_DEPTH:
        event = get_event()
        kind = event.__class__
        if kind in _NODE_EVENTS:
            is_key = bool(key_next) and key_next[-1]
            # In a list the last step counts; in a mapping keys and values take turns.
            if path and isinstance(path[-1], int):
                path[-1] += 1
            elif path:
                key_next[-1] = not is_key
            if is_key and kind is ScalarEvent:
                path[-1] = key_text(scalar_value(event))
            yield event, path, is_key
            if kind in STARTS:
                key_next.append(kind is MappingStartEvent)
                path.append("" if kind is MappingStartEvent else -1)
        elif kind in ENDS:
            path.pop()
            key_next.pop()
        elif kind is StreamEndEvent or (kind is DocumentStartEvent and started):
            return
        started = started or kind is DocumentStartEvent


ENDS = frozenset({MappingEndEvent, SequenceEndEvent})

#: Anchors and tags in front of a node, with the blanks behind them. A `:` ends a name.
_PROPERTIES = lazy_regex(
    r"(?:&[^ \t\r\n,\[\]{}]*[^ \t\r\n,\[\]{}:][ \t\r\n]*|![^ \t\r\n,\[\]{}]*[ \t\r\n]+)+"
)


def content_range(event: Any, text: str) -> Range:
    """Where a node is written, without its anchor and tag and without trailing line breaks."""
    start, end = event.start_mark.index, event.end_mark.index
    kind = event.__class__
    if kind is AliasEvent:
        return start, end
    if getattr(event, "tag", None) is not None or getattr(event, "anchor", None) is not None:
        match = _PROPERTIES.match(text, start)
        start = match.end() if match else start
    if kind is ScalarEvent and event.style in ("|", ">"):
        end = start + len(text[start:end].rstrip(" \t\r\n"))
    return start, max(start, end)


def scalar_value(event: Any) -> object:
    """The plain value of a scalar; a number too long to convert stays text."""
    bare, quoted = event.implicit
    try:
        if bare and event.tag is None:
            return resolve_plain(event.value)
        if not quoted and event.tag not in (None, "!"):
            return resolve_tagged(event.tag, event.value)
    except NumberTooLong:
        pass
    return event.value


# ---------------------------------------------------------------------------------- syntax errors

#: How many syntax errors of one file are reported.
_MAX_SYNTAX_ERRORS = 20

#: A key in the first column, bare or in quotes, with its colon; and what ends a document.
_TOP_LEVEL_KEY = lazy_regex(
    r"""(?:\A|(?<=[\r\n]))(?P<key>[A-Za-z_$][^\s#:]*|"[^"\r\n]*"|'[^'\r\n]*')"""
    r"[ \t]*:(?=[ \t\r\n]|\Z)"
)
_DOCUMENT_END = lazy_regex(r"(?<=[\r\n])(?:---|\.\.\.)(?=[ \t\r\n]|\Z)")
#: A line in the first column that is neither a key nor part of the block above it.
_STRAY_LINE = lazy_regex(r"[\r\n][^\s#\-\]}\"']")

#: A part of libyaml's message → what to do about it.
_HINTS = {
    "mapping values are not allowed": "quote text that holds `: `, or put the key on its own line",
    "cannot start any token": "quote a value that starts with this character",
    "could not find expected ':'": "a key needs a `:`; text of several lines needs quotes or `|`",
    "did not find expected ',' or ']'": "close the list with `]`",
    "did not find expected ',' or '}'": "close the mapping with `}`",
    "did not find expected key": "indent this line like the line that its block began on",
    "did not find expected '-' indicator": "check the indentation of this list item",
    "found unexpected end of stream": "a quote was opened and never closed",
    "found unknown escape character": "write `\\\\` for a backslash, or use single quotes",
    "found unexpected ':'": "quote text with a `:` between brackets",
    "expected alphabetic or numeric": "quote text that starts with `*` or `&`; an anchor needs a "
    "name of letters, digits, `-` and `_` here",
    "where an indentation space": "indent with spaces; if the text itself starts with a tab, "
    "write how far it is indented, as in `>2`",
    "block sequence entries are not allowed": "put the list on a line of its own below the key",
    "did not find expected <document start>": "the document ended above; indent or remove this",
}


def syntax_errors(text: str, first: Exception) -> Iterator[Irregularity]:
    """The first syntax error, then those of later top-level blocks, each parsed on its own.

    Blocks after the broken one are independent of it: a top-level key behind the error cannot
    belong to an open quote or bracket, because the parser looked for their end up to the error.
    """
    error = _describe_error(first, text, 0)
    yield error
    offset, budget = error.range[0], reading_budget(text)
    problems = (
        _block_error(text[key.start() : end], key.start(), budget)
        for key, end in _blocks_from(text, offset)
        if key.start() > offset
    )
    yield from islice((each for each in problems if each is not None), _MAX_SYNTAX_ERRORS - 1)


def _blocks_from(text: str, offset: int) -> Iterator[tuple[re.Match[str], int]]:
    """The key and the end of the top-level block at an offset, and of those behind it."""
    stop = _DOCUMENT_END.search(text, offset)
    limit = len(text) if stop is None else stop.start()
    keys = list(_TOP_LEVEL_KEY.finditer(text, 0, limit))
    ends = [*(key.start() for key in keys[1:]), limit]
    return ((key, end) for key, end in zip(keys, ends, strict=False) if end > offset)


def blank_broken_blocks(text: str, error: Irregularity) -> tuple[str, list[str]] | None:
    """The text with blanks for what top-level keys hold that is broken, and these keys.

    None if it is not clear what is. A bracket or quote that is never closed breaks the block where
    it was opened, not the one where the parser gave up.
    """
    offset = error.range[0]
    for problem, (opened, _) in error.also:
        offset = offset if problem.startswith("while parsing a block") else opened
    budget, end, parts, keys = reading_budget(text), 0, list[str](), list[str]()
    for key, stop in _blocks_from(text, offset):
        start = key.start()
        if keys and _block_error(text[start:stop], start, budget) is None:
            continue
        if (not keys and start > offset) or _STRAY_LINE.search(text, start, stop):
            return None
        keys.append(key["key"])
        parts += text[end : key.end()], re.sub(r"[^\r\n]", " ", text[key.end() : stop])
        end = stop
    return ("".join(parts) + text[end:], keys) if keys else None


def _block_error(block: str, start: int, budget: list[int]) -> Irregularity | None:
    """The syntax error of one top-level block. A block that nests too deep is not searched."""
    depth = 0
    try:
        get_event = Events(
            block, budget
        ).get_event  # PyYAML's own parser looks at all characters first
        while depth <= MAX_DEPTH:
            kind = get_event().__class__
            if kind in STARTS:
                depth += 1
            elif kind in ENDS:
                depth -= 1
            elif kind is StreamEndEvent:
                return None
    except (MarkedYAMLError, ReaderError) as error:
        return _describe_error(error, block, start)
    return None


def _describe_error(error: Exception, text: str, shift: int) -> Irregularity:
    """An exception of the parser as an irregularity, with libyaml's own message."""
    offset = error_offset(error, text)
    place = (offset + shift, min(offset + 1, len(text)) + shift)
    if isinstance(error, ReaderError):
        character = error.character if isinstance(error.character, int) else ord(error.character)
        values: dict[str, object] = {"character": f"U+{character:04X}"}
        return Irregularity(codes.CONTROL_CHARACTER, place, values=values)
    assert isinstance(error, MarkedYAMLError)
    also: tuple[tuple[str, Range], ...] = ()
    if error.context and error.context_mark is not None and error.context_mark.index != offset:
        start = error.context_mark.index + shift
        also = ((error.context, (start, start + 1)),)
    problem = str(error.problem or error)
    hint = next((hint for part, hint in _HINTS.items() if part in problem), None)
    if text[offset : offset + 1] == "\t" and "indentation space" not in problem:
        hint = "indent with spaces; YAML does not allow tabs"
    values = {"problem": problem, "hint": hint}
    return Irregularity(codes.YAML_SYNTAX, place, values=values, also=also)


def error_offset(error: Exception, text: str) -> int:
    """Where the parser stopped, in code points."""
    if isinstance(error, ReaderError):
        return int(error.position)
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    return len(text) if mark is None else int(mark.index)
