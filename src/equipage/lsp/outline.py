"""The shape of a text: symbols, folds, and hints beside what is written."""

from __future__ import annotations

import re
from typing import Any

from equipage.core.path import ROOT, Path
from equipage.core.source import Span
from equipage.loading.tree import get
from equipage.lsp import protocol
from equipage.lsp.context import Context, context_of
from equipage.lsp.cursor import window_of
from equipage.lsp.hover import VARIABLE
from equipage.lsp.navigation import convention_of
from equipage.lsp.positions import Position, Range
from equipage.lsp.state import Opened, Workspace
from equipage.syntax.document import Located
from equipage.views.graph import SORTS

# The kinds of symbols, as the protocol numbers them.
_MODULE, _FIELD, _STRING, _NUMBER, _BOOLEAN, _ARRAY, _OBJECT = 2, 8, 15, 16, 17, 18, 19
#: Symbols are made down to this depth: an outline of every leaf helps no reader.
_DEEPEST = 4
_MOST = 2_000
#: A heading of Markdown with its signs in front, perhaps repeated behind it.
_HEADING = re.compile(r"^(#{1,6})[ \t]+(\S.*?)[ \t]*#*\r?$", re.MULTILINE)


def symbols(workspace: Workspace, opened: Opened) -> list[protocol.Symbol]:
    """The entries of a text, and the headings below its header."""
    context = context_of(workspace, opened)
    made: list[protocol.Symbol] = []
    if context is not None and context.is_current(opened):
        paths = list(_paths(context.document.value))[:_MOST]
        places = context.document.locate(paths)
        made = _below(context, opened, ROOT, places)
    if opened.path.endswith((".md", ".mdc")):
        made += _headings(opened)
    return made


def _paths(value: Any, path: Path = ROOT) -> list[Path]:
    """The paths of a value, the outer ones first."""
    found: list[Path] = []
    level: list[tuple[Path, Any]] = [(path, value)]
    for _ in range(_DEEPEST):
        below: list[tuple[Path, Any]] = []
        for here, each in level:
            steps: Any = each if isinstance(each, dict) else ()
            if isinstance(each, list):
                steps = range(len(each))
            below += (((*here, step), each[step]) for step in steps)
        found += (here for here, _ in below)
        level = below
    return found


def _below(
    context: Context, opened: Opened, path: Path, places: dict[Path, Located]
) -> list[protocol.Symbol]:
    made: list[protocol.Symbol] = []
    value = get(context.document.value, path)
    steps = list(value) if isinstance(value, dict) else []
    if isinstance(value, list):
        steps = list(range(len(value)))
    for step in steps:
        inner = (*path, step)
        located = places.get(inner)
        # What `<<` merged in is written elsewhere, and has its symbol there.
        if located is None or located.through is not None:
            continue
        start = located.key or located.value
        end = max(start.end, located.value.end)
        whole = opened.text.range(min(start.start, located.value.start), end)
        own = opened.text.range(start.start, min(start.end, end))
        child = get(context.document.value, inner)
        below = _below(context, opened, inner, places) or None
        name = str(step) if isinstance(step, str) else _name_of(child, step)
        detail = None if isinstance(child, dict | list) else _short(located.value)
        made.append(protocol.Symbol(name or '""', _kind(child), whole, own, detail, below))
    return made


def _name_of(value: Any, number: int) -> str:
    """What people call an entry of a list: its own name, or its number."""
    for path in (("name",), ("id",), ("tool", "name"), ("prompt", "name"), ("resource", "uri")):
        found = get(value, path)
        if isinstance(found, str) and found:
            return found
    return f"[{number}]"


def _kind(value: Any) -> int:
    if isinstance(value, bool):
        return _BOOLEAN
    kinds = {dict: _OBJECT, list: _ARRAY, str: _STRING, int: _NUMBER, float: _NUMBER}
    return kinds.get(type(value), _FIELD)


def _short(span: Span) -> str:
    """A value as its author wrote it; what a variable holds is not there."""
    words = " ".join(span.text().split())
    return words if len(words) <= 60 else words[:60] + " …"


def _headings(opened: Opened) -> list[protocol.Symbol]:
    """The headings of a Markdown text, each with all that is below it."""
    text = opened.text.text
    found = list(_HEADING.finditer(text, window_of(text, opened.path)[1]))
    made: list[protocol.Symbol] = []
    around: list[tuple[int, protocol.Symbol]] = []
    for number, match in enumerate(found):
        level = len(match[1])
        # A heading reaches to the next one of its level or above.
        later = (each.start() for each in found[number + 1 :] if len(each[1]) <= level)
        place = opened.text.range(match.start(), next(later, len(text)))
        own = opened.text.range(match.start(), match.end())
        symbol = protocol.Symbol(match[2], _MODULE, place, own)
        while around and around[-1][0] >= level:
            around.pop()
        if around:
            above = around[-1][1]
            above.children = [*(above.children or ()), symbol]
        else:
            made.append(symbol)
        around.append((level, symbol))
    return made


def folds(workspace: Workspace, opened: Opened) -> list[protocol.Folding]:
    """What can be folded: every symbol of several lines, and a header."""
    made: dict[int, protocol.Folding] = {}
    start, end = window_of(opened.text.text, opened.path)
    if start:
        last = opened.text.position(end).line
        made[0] = protocol.Folding(0, last, "region")

    def add(several: list[protocol.Symbol]) -> None:
        for each in several:
            first, last = each.range.start.line, each.range.end.line
            # A stretch that ends where a line begins does not reach into that line.
            if each.range.end.character == 0 and last > first:
                last -= 1
            if last > first:
                made.setdefault(first, protocol.Folding(first, last))
            add(each.children or [])

    add(symbols(workspace, opened))
    return [made[line] for line in sorted(made)]


def hints(workspace: Workspace, opened: Opened, place: Range) -> list[protocol.Hint]:
    """Defaults that count, and the tools that an agent has, within a range."""
    context = context_of(workspace, opened)
    if context is None or not context.is_current(opened):
        return []
    made: list[protocol.Hint] = []
    if context.outcome.kind.reading.uses_environment:
        made += _variables(workspace, opened)
    made += _tools(context, opened)
    return [each for each in made if place.start <= each.position <= place.end]


def _variables(workspace: Workspace, opened: Opened) -> list[protocol.Hint]:
    """What counts for each variable: its default, or the environment, whose value is not shown."""
    made: list[protocol.Hint] = []
    for match in VARIABLE.finditer(opened.text.text):
        label = ""
        if match["name"] in workspace.env:
            label = "= (from the environment)"
        elif match["sign"] == "-":
            label = f"= {match['rest']}" if match["rest"] else "= (empty)"
        elif match["sign"] != "?":
            label = "= (not set)"
        if label:
            position = opened.text.position(match.end())
            made.append(protocol.Hint(position, label, padding_left=True))
    return made


def _tools(context: Context, opened: Opened) -> list[protocol.Hint]:
    """The tools that are left to an agent, where two fields decide."""
    convention, value = convention_of(context.outcome), context.document.value
    tree = context.outcome.tree
    if convention is None or tree is None or not isinstance(value, dict):
        return []
    lists = [each for each in convention.fields if each.refers == "tool" and each.name in value]
    denied = [each for each in lists if each.name.lower().startswith(("disallow", "deny", "excl"))]
    allowed = [each for each in lists if each not in denied]
    # With one list, what it says is what holds; the reader sees it already.
    if len(allowed) != 1 or not denied:
        return []
    names = _texts(get(tree.value, (allowed[0].name,)))
    gone = {each for field in denied for each in _texts(get(tree.value, (field.name,)))}
    left = [each for each in names if each not in gone]
    located = context.document.locate([(allowed[0].name,)]).get((allowed[0].name,))
    if located is None or len(left) == len(names):
        return []
    words = ", ".join(left) if left else "no tools"
    end = located.key.end + 1 if located.key is not None else located.value.end
    position = opened.text.position(end)
    return [protocol.Hint(position, f"in effect: {words}", padding_left=True)]


def _texts(value: Any) -> list[str]:
    return [each for each in value if isinstance(each, str)] if isinstance(value, list) else []


#: The most names that one answer holds.
_MOST_NAMES = 500


def names(workspace: Workspace, query: str) -> list[protocol.NamedSymbol]:
    """The agents, skills, servers and other things of the workspace whose names have a word."""
    wanted, found = query.casefold(), list[protocol.NamedSymbol]()
    for checked in workspace.known():
        offer = checked.offer
        for name in dict.fromkeys(offer.names) if offer is not None else ():
            if offer is not None and wanted in name.casefold():
                top = Range(Position(0, 0), Position(0, 0))
                place = protocol.Location(workspace.uri(offer.path), top)
                sort = SORTS.get(offer.kind, "server")
                found.append(protocol.NamedSymbol(name, _OBJECT, place, sort))
    return sorted(found, key=lambda each: each.name)[:_MOST_NAMES]
