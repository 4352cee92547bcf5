"""From what the author wrote to the fields of a convention's model.

Text stays text, names in one text become a list, and the text below the header becomes a field.
The stages of every convention are these functions with its table as their first argument.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import Any

import msgspec

from equipage.core import codes as core_codes
from equipage.core.diagnostics import Change, Fact, Remedy, Shown
from equipage.core.path import ROOT, Path
from equipage.core.source import Source, Span
from equipage.core.text import nearest
from equipage.kinds.codes import HEADER_NOT_FIRST
from equipage.kinds.conventions import codes
from equipage.kinds.headers import body_of, keep_as_written
from equipage.kinds.shared import alike, suspicions
from equipage.kinds.tables import Convention, Field, Sort
from equipage.loading.session import Session
from equipage.loading.tree import Origin, Origins, Tree, attach, get, put
from equipage.syntax.document import Document, Located
from equipage.syntax.frontmatter import CONVENTION, Grammar

#: The key of the text below the header in the loaded configuration.
BODY = "body"

# Lists of names as people write them: with commas, with blanks, as a list.

#: A tool of a server, `mcp__github__search`, or all its tools, `mcp__github`. The name of the
#: server has no `__`.
_SERVER_TOOL = re.compile(r"mcp__(?P<server>[^_*](?:[^_]|_(?!_))*?)(?:__.*)?\Z")
#: A tool with a pattern or with agents in brackets: `Bash(git log:*)`, `Agent(reviewer)`.
_CALLED = re.compile(r"(?P<tool>[^()]+)\((?P<inside>.*)\)\Z", re.DOTALL)


class Reference(msgspec.Struct, frozen=True):
    """Something that a file names."""

    sort: Sort
    name: str


def divided(text: str, separators: str) -> Iterator[str]:
    """The names in a text, divided at any of `separators` outside brackets."""
    start = depth = 0
    # One more separator at the end closes the last name, even if a bracket is still open.
    for offset, letter in enumerate(text + separators[0]):
        depth = max(0, depth + (letter in "([{") - (letter in ")]}"))
        if offset == len(text) or (letter in separators and not depth):
            name = text[start:offset].strip()
            if name:
                yield name
            start = offset + 1


def references(name: str, sort: Sort) -> Iterator[Reference]:
    """What a name refers to: the name of a tool may also name a server or agents."""
    if sort != "tool":
        yield Reference(sort, name)
        return
    server = _SERVER_TOOL.match(name)
    if server is not None:
        yield Reference("server", server["server"])
        return
    called = _CALLED.match(name)
    tool = called["tool"].rstrip() if called else name
    yield Reference("tool", tool)
    if called and tool in ("Agent", "Task"):
        yield from (Reference("agent", each) for each in divided(called["inside"], ","))


def is_pattern(name: str) -> bool:
    """Whether a name may match many."""
    return not {"*", "?", "$", "{"}.isdisjoint(name) or name.startswith("mcp_")


def words_of(field: Field, value: Any, document: Document) -> Iterator[tuple[str, Span]]:
    """The names in a field, each with its place in the text the author wrote."""
    if isinstance(value, str):
        located = document.locate([(field.name,)]).get((field.name,))
        if located is not None:
            yield from _words_in_text(value, field.split or ",", located.value)
        return
    if not isinstance(value, list | dict):
        return
    # The names in a list are its values, in a mapping its keys.
    steps = range(len(value)) if isinstance(value, list) else value
    places = document.locate((field.name, step) for step in steps)
    for step in steps:
        place = places.get((field.name, step))
        name = value[step] if isinstance(value, list) else step
        if isinstance(name, str) and place is not None:
            yield name, place.value if isinstance(value, list) else place.key or place.value


def _words_in_text(value: str, separators: str, place: Span) -> Iterator[tuple[str, Span]]:
    """The names in a text; the whole text is the place of a name that is written otherwise."""
    written, position = place.text(), 0
    for name in divided(value, separators):
        offset = written.find(name, position)
        if offset < 0:
            yield name, place
            continue
        position = offset + len(name)
        yield name, Span(place.source, place.start + offset, place.start + position)


# The stages, in the order they run.

#: What follows a value up to the end of its line, if it is a comment whose `#` touches its text:
#: then it was most likely meant as text.
_CUT = re.compile(r"[ \t]*\#(?=\S)[^\r\n]*")


def before_header(source: Source) -> list[Fact]:
    """Space before the opening fence: some tools forgive it, others see no header at all."""
    text = source.text.lstrip("\ufeff")
    space = len(text) - len(text.lstrip())
    if not space or not text[space:].startswith("---"):
        return []
    start = len(source.text) - len(text)
    return [HEADER_NOT_FIRST.at(span=Span(source, start, start + space), severity="warning")]


def find_cut_text(convention: Convention, tree: Tree, _session: Session) -> tuple[Tree, list[Fact]]:
    """Report text behind ` #`, which is a comment in YAML: `color: #FF0000` has no value."""
    document = tree.story(ROOT).origin.document
    is_mapping = isinstance(tree.value, dict)
    if document.format != "yaml" or not is_mapping or " #" not in document.parsed_text():
        return tree, []
    paths = [(field.name,) for field in convention.fields if field.name in tree.value]
    facts = (_cut(document, path, located) for path, located in document.locate(paths).items())
    return tree, [each for each in facts if each is not None]


def _cut(document: Document, path: Path, located: Located) -> Fact | None:
    text = document.source.text
    start, end = located.value.start, located.value.end
    if start == end and located.key is not None:
        start = end = located.key.end + 1  # no value at all: look behind the colon
    # Quotes, brackets and blocks say where a text ends; only plain text can be cut by mistake.
    match = _CUT.match(text, end)
    if match is None or text[start : start + 1] in tuple("\"'[{|>") or "\n" in text[start:end]:
        return None
    whole = text[start : match.end()].lstrip()
    begin = match.end() - len(whole)
    quoted = "'" + whole.strip().replace("'", "''") + "'"
    change = Change(ROOT, quoted, span=Span(document.source, begin, match.end()))
    return codes.TEXT_CUT.at(
        path,
        span=Span(document.source, text.index("#", end), match.end()),
        remedy=Remedy("put quotes around the text", (change,), safe=False),
        field=path[0],
    )


def keep_text(convention: Convention, tree: Tree, _session: Session) -> tuple[Tree, list[Fact]]:
    """Replace a number or bool where text belongs by the text the author wrote."""
    paths = [(field.name,) for field in convention.fields if field.type is str]
    return keep_as_written(tree, paths, codes.NUMBER_AS_TEXT)


def divide_names(convention: Convention, tree: Tree, _session: Session) -> tuple[Tree, list[Fact]]:
    """Make a list of the names in one text, and report tools that do not exist."""
    facts: list[Fact] = []
    if not isinstance(tree.value, dict):
        return tree, facts
    document = tree.story(ROOT).origin.document
    for field in convention.fields:
        if field.name not in tree.value:
            continue
        path, value = (field.name,), tree.value[field.name]
        # No value at all: the tool reads that as no restriction.
        if value is None or value == "":
            if field.restricts and field.split is not None:
                tool = convention.tool
                facts.append(
                    codes.RESTRICTION_EMPTY.at(path, part="key", field=field.name, tool=tool)
                )
        elif field.refers == "tool" and convention.tools is not None:
            facts += _unknown_tools(convention, convention.tools, field, value, document)
        if isinstance(value, str) and field.split is not None:
            tree = put(tree, path, list(divided(value, field.split)), how="")
    return tree, facts


def _unknown_tools(
    convention: Convention, known: frozenset[str], field: Field, value: Any, document: Document
) -> Iterator[Fact]:
    for name, span in words_of(field, value, document):
        for each in references(name, "tool"):
            if each.sort == "tool" and each.name not in known and not is_pattern(each.name):
                yield codes.UNKNOWN_REFERENCE.at(
                    (field.name,),
                    span=span,
                    sort="tool",
                    name=Shown(each.name),
                    where=f" in {convention.tool}",
                    nearest=nearest(each.name, known),
                )


def bring_body(
    convention: Convention, tree: Tree, _session: Session, *, grammar: Grammar = CONVENTION
) -> tuple[Tree, list[Fact]]:
    """Add the text below the header as a field; a key of that name in the header is unknown."""
    if convention.syntax != "header" or not isinstance(tree.value, dict):
        return tree, []
    facts: list[Fact] = []
    if BODY in tree.value:
        facts.append(
            core_codes.UNKNOWN_FIELD.at(
                part="key",
                origin=tree.story((BODY,)).origin,
                severity=convention.unknown or "warning",
                field=BODY,
                owner=convention.one,
                nearest=None,
            )
        )
    body = body_of(tree.story(ROOT).origin.document, grammar)
    return attach(tree, (BODY,), Tree(body.value, Origins(Origin(body)))), facts


def look_for_suspicious(
    _convention: Convention, tree: Tree, _session: Session
) -> tuple[Tree, list[Fact]]:
    """Report secrets, and names whose letters only look alike."""
    source = tree.story(ROOT).origin.document.source
    name = get(tree.value, ("name",))
    if not isinstance(name, str):
        name = os.path.basename(source.path or source.name).partition(".")[0]
    return tree, [*suspicions(source), *alike(name)]


STAGES = (find_cut_text, keep_text, divide_names, bring_body, look_for_suspicious)
