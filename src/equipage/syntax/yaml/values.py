"""Events to plain values, iteratively, with depth and the growth by aliases bounded while parsing.

PyYAML's own composer recurses and kills the interpreter on deep input; it also expands aliases
without a limit, so a few lines can fill the memory of any machine.
"""

from __future__ import annotations

from collections.abc import Callable
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
from equipage.core.diagnostics import Code
from equipage.core.frozen import MAX_DEPTH
from equipage.core.text import lazy_regex
from equipage.syntax import Irregularity, Parsed, SyntaxProblem, lone_surrogates
from equipage.syntax.nodes import key_text
from equipage.syntax.yaml.events import read_events
from equipage.syntax.yaml.places import find_oddities, syntax_errors
from equipage.syntax.yaml.scalars import (
    NumberTooLong,
    is_ambiguous,
    is_known_tag,
    resolve_plain,
    resolve_tagged,
)

#: How many nodes aliases may add to a document. The plain size of a file is never punished.
MAX_ALIAS_NODES = 250_000
#: Text counts too: this many characters of what an anchor marks weigh as much as one node.
CHARACTERS_PER_NODE = 64
#: No real file declares more short forms of tags, and the parser compares each with all before it.
MAX_TAG_DIRECTIVES = 100
_TAG_DIRECTIVE = lazy_regex(r"(?:^|(?<=[\r\n]))%TAG\b")


def parse(text: str, *, merge: bool, oddities: bool = True) -> Parsed:
    """The value of the first document of `text`, and what is odd. Raises `SyntaxProblem`."""
    if text.count("%TAG") > MAX_TAG_DIRECTIVES:
        for number, match in enumerate(_TAG_DIRECTIVE.finditer(text)):
            if number == MAX_TAG_DIRECTIVES:
                problem = f"more than {MAX_TAG_DIRECTIVES} %TAG directives"
                raise _problem_at(codes.YAML_SYNTAX, *match.span(), problem=problem, hint=None)
    try:
        value, odd, further = read_events(text, lambda get: construct(text, get, merge=merge))
    except (MarkedYAMLError, ReaderError) as error:
        raise SyntaxProblem(syntax_errors(text, error)) from None
    except UnicodeEncodeError:  # libyaml reads UTF-8
        raise SyntaxProblem(lone_surrogates(text)) from None
    found = find_oddities(text, merge=merge) if odd and oddities else []
    if further is not None:
        found.append(Irregularity(codes.EXTRA_DOCUMENT, (further, further + 3)))
    return Parsed(value, tuple(found))


def _problem_at(code: Code, start: int, end: int, **values: object) -> SyntaxProblem:
    return SyntaxProblem([Irregularity(code, (start, end), values=values)])


#: What plain scalars mean, by their spelling: files of one kind repeat the same words. What is odd
#: is not kept, so that it is noticed in every text.
_KNOWN_SCALARS: dict[str, object] = {}
_MAX_KNOWN_SCALARS = 20_000
_MAX_KEPT_LENGTH = 64


def construct(
    text: str, get_event: Callable[[], Any], *, merge: bool
) -> tuple[object, bool, int | None]:
    """The value, whether anything about it is odd, and where a second document starts.

    The one hot loop of equipage: the branches are ordered by how often they are taken, and the
    rarer steps are methods of `_Builder`. The children of every open collection are collected in
    one flat list, so that keys and values need no telling apart before a mapping is complete.
    """
    builder = _Builder(merge=merge)
    anchors = builder.anchors
    if len(_KNOWN_SCALARS) > _MAX_KNOWN_SCALARS:
        _KNOWN_SCALARS.clear()
    plain = _KNOWN_SCALARS
    may_merge = "<<" in text
    odd = False
    nodes = 0  # how many there are so far, those that aliases add included
    top: list[object] = []
    current = top  # the children of the innermost open collection
    #: the children of the collections around it, with the anchor of the inner one and its number
    stack: list[tuple[list[object], str | None, int]] = []
    mapping: dict[Any, object]
    while True:
        event = get_event()
        kind = event.__class__
        if kind is ScalarEvent:
            value = event.value
            bare, quoted = event.implicit
            if bare and event.tag is None:
                # A plain scalar: resolved once per spelling.
                try:
                    value = plain[value]
                except KeyError:
                    spelled = value
                    try:
                        value = resolve_plain(spelled)
                    except NumberTooLong:
                        odd = True  # and too long to be kept
                    if is_ambiguous(spelled) or (value.__class__ is float and not isfinite(value)):
                        odd = True
                    elif len(spelled) < _MAX_KEPT_LENGTH:
                        plain[spelled] = value
            else:
                # In quotes or with a tag; `!` alone means text, as quotes do.
                if not quoted and event.tag is not None and event.tag != "!":
                    value = resolve_tagged(event.tag, value)
                    is_odd_number = value.__class__ is float and not isfinite(value)
                    if is_odd_number or not is_known_tag(event.tag, value):
                        odd = True
                if may_merge and value == "<<":
                    builder.literal[id(current), len(current)] = current
            nodes += 1
            if event.anchor is not None:
                anchors[event.anchor] = (value, 1 + len(event.value) // CHARACTERS_PER_NODE, 0)
            current.append(value)
        elif kind is MappingEndEvent:
            items = current
            try:
                # The events come in pairs.
                mapping = dict(zip(items[::2], items[1::2]))  # noqa: B905
                for key in mapping:
                    if key.__class__ is not str:
                        mapping = builder.make_mapping(items)
                        break
                else:
                    if len(mapping) * 2 != len(items):
                        odd = True  # a repeated key
            except TypeError:  # a collection as a key cannot be hashed
                mapping = builder.make_mapping(items)
            if may_merge and "<<" in mapping:
                mapping = builder.apply_merge(mapping, items, event)
            current, anchor, before = stack.pop()
            if anchor is not None:
                builder.close(anchor, before, len(stack) + 1, mapping, nodes - before, event)
            current.append(mapping)
        elif kind is MappingStartEvent or kind is SequenceStartEvent:
            anchor = event.anchor
            if event.tag is not None and not is_known_tag(event.tag, ()):
                odd = True
            nodes += 1
            stack.append((current, anchor, nodes))
            depth = len(stack)
            if anchor is not None:
                builder.open(anchor, nodes, depth, event)
            elif depth > builder.deepest:
                builder.deepest = depth
            if depth > MAX_DEPTH:
                start, end = event.start_mark.index, event.end_mark.index
                raise _problem_at(codes.NESTING_TOO_DEEP, start, end, limit=MAX_DEPTH)
            current = []
        elif kind is SequenceEndEvent:
            items = current
            current, anchor, before = stack.pop()
            if anchor is not None:
                builder.close(anchor, before, len(stack) + 1, items, nodes - before, event)
            current.append(items)
        elif kind is AliasEvent:
            # A mapping that is merged adds its entries, not a level.
            value, size = builder.resolve_alias(event, len(stack) - builder.is_merging(current))
            nodes += size
            current.append(value)
        elif kind is StreamEndEvent:
            return (top[0] if top else None), odd or builder.odd, None
        elif kind is DocumentStartEvent and top:
            return top[0], odd or builder.odd, event.start_mark.index


class _Builder:
    """The state of one `construct` that its rarer steps share."""

    def __init__(self, *, merge: bool) -> None:
        self.merge = merge
        self.odd = False
        self.added = 0  #: how many nodes aliases and `<<` added
        #: anchor → (value, weight when expanded, depth of its own); while the node is open, its
        #: number. A name given again belongs to the node that starts later, even inside the first.
        self.anchors: dict[str, tuple[object, int, int] | int] = {}
        self.deepest = 0  #: how deep anything is nested, since the innermost anchored node began
        #: for each open anchored node, what `deepest` was before it, and where its text starts
        self.outside: list[tuple[int, int]] = []
        #: which `<<` is text because it was quoted or tagged: by the list it went into, which is
        #: kept so that no other list gets its id, and the place there
        self.literal: dict[tuple[int, int], list[object]] = {}

    def open(self, anchor: str, number: int, depth: int, event: Any) -> None:
        """An anchored collection begins."""
        self.anchors[anchor] = number
        self.outside.append((self.deepest, event.start_mark.index))
        self.deepest = depth

    def close(
        self, anchor: str, number: int, depth: int, value: object, size: int, event: Any
    ) -> None:
        """An anchored collection ends, and has the name unless a node inside took it."""
        deepest, start = self.outside.pop()
        if self.anchors[anchor] == number:
            weight = size + (event.end_mark.index - start) // CHARACTERS_PER_NODE
            self.anchors[anchor] = (value, weight, self.deepest - depth + 1)
        self.deepest = max(self.deepest, deepest)

    def resolve_alias(self, event: Any, depth: int) -> tuple[object, int]:
        """What an alias repeats, and its weight; both must stay within the limits."""
        name, start, end = event.anchor, event.start_mark.index, event.end_mark.index
        if name not in self.anchors:
            raise _problem_at(codes.UNDEFINED_ALIAS, start, end, name=name)
        known = self.anchors[name]
        if isinstance(known, int):
            raise _problem_at(codes.RECURSIVE_ALIAS, start, end, name=name)
        value, size, own_depth = known
        self.deepest = max(self.deepest, depth + own_depth)
        if depth + own_depth > MAX_DEPTH:
            raise _problem_at(codes.NESTING_TOO_DEEP, start, end, limit=MAX_DEPTH)
        self.added += size
        if self.added > MAX_ALIAS_NODES:
            raise _problem_at(codes.ALIAS_BOMB, start, end, name=name, limit=MAX_ALIAS_NODES)
        return value, size

    def make_mapping(self, items: list[object]) -> dict[str, object]:
        """A mapping from keys and values in turn, with the text of keys that are not strings."""
        self.odd = True
        return {key_text(key): value for key, value in zip(items[::2], items[1::2], strict=True)}

    def is_merging(self, items: list[object]) -> bool:
        """Whether what comes next is merged into the mapping that `items` becomes."""
        number = len(items) - 1
        is_merge_key = number % 2 == 0 and items[number] == "<<"
        return self.merge and is_merge_key and (id(items), number) not in self.literal

    def apply_merge(
        self, mapping: dict[str, object], items: list[object], event: Any
    ) -> dict[str, object]:
        """Apply `<<` where the kind wants it; elsewhere it is an ordinary key, and reported.

        Written several times, each applies, as in PyYAML; what cannot be merged is reported, too.
        """
        self.odd = True
        places = [number for number in range(0, len(items), 2) if items[number] == "<<"]
        literal = [number for number in places if (id(items), number) in self.literal]
        applied = [items[number + 1] for number in places if number not in literal]
        if not self.merge or not applied:
            return mapping
        result: dict[str, object] = {}
        for given in applied:
            # The first of several mappings wins, so it is written last.
            for each in reversed(given if isinstance(given, list) else [given]):
                if isinstance(each, dict):
                    result.update(each)
                    self.added += len(each)
        if self.added > MAX_ALIAS_NODES:
            mark = event.start_mark.index
            raise _problem_at(codes.ALIAS_BOMB, mark, mark, name="<<", limit=MAX_ALIAS_NODES)
        result.update((key, value) for key, value in mapping.items() if key != "<<")
        if literal:
            result["<<"] = items[literal[-1] + 1]
        return result
