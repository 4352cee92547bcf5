"""From what the author wrote to what the model takes: text as text, names as lists, the prompt beside them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import Any

import msgspec

from equipage.core.diagnostics import Change, Fact, Remedy, Shown
from equipage.core.path import ROOT, Path
from equipage.core.source import Source, Span
from equipage.core.text import nearest
from equipage.kinds.conventions.table import Convention, Field, Sort
from equipage.kinds.headers import body_of, is_finite, is_unquoted
from equipage.loading.session import Session
from equipage.loading.tree import Origin, Origins, Tree, get, graft, put
from equipage.syntax import Range
from equipage.syntax.document import Document, Located
from equipage.syntax.frontmatter import CONVENTION
from equipage.syntax.suspicious import mixed_scripts, secrets

# --- words -------------------------------------------------------------------------------------
# Lists of names as people write them: with commas, with blanks, as a list; each name with its place.
#
# A name may carry a pattern in brackets, `Bash(git log:*)`, whose commas and blanks do not divide. Three sorts of
# names speak of something else: `mcp__github__search` of the server `github`, `Agent(reviewer)` of an agent.

_SERVER_TOOL = re.compile(r"mcp__(?P<server>[^_*](?:[^_]|_(?!_))*?)(?:__.*)?\Z")
_CALLED = re.compile(r"(?P<tool>[^()]+)\((?P<inside>.*)\)\Z", re.DOTALL)
_CALLS_AGENTS = frozenset({"Agent", "Task"})
_OPENING, _CLOSING = "([{", ")]}"


class Word(msgspec.Struct, frozen=True):
    """A name and where it stands in its text."""

    text: str
    range: Range


class Reference(msgspec.Struct, frozen=True):
    """Something that is named."""

    sort: Sort
    name: str


def divided(text: str, separators: str) -> Iterator[Word]:
    """The names in a text, divided at any of `separators` outside brackets."""
    start = depth = 0
    for offset, letter in enumerate(text + separators[0]):
        depth = max(0, depth + (letter in _OPENING) - (letter in _CLOSING))
        if offset == len(text) or (letter in separators and not depth):
            name = text[start:offset]
            lead = len(name) - len(name.lstrip())
            if name.strip():
                yield Word(name.strip(), (start + lead, start + lead + len(name.strip())))
            start = offset + 1


def references(name: str, sort: Sort) -> Iterator[Reference]:
    """What a name speaks of."""
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
    if called and tool in _CALLS_AGENTS:
        yield from (Reference("agent", each.text) for each in divided(called["inside"], ","))


def is_pattern(name: str) -> bool:
    """Whether a name stands for many."""
    return not {"*", "?", "$", "{"}.isdisjoint(name) or name.startswith("mcp_")


BODY = "body"
_BOM = "\ufeff"


def before_header(source: Source) -> list[Fact]:
    """Space before the opening fence: some tools forgive it, others see no header at all."""
    text = source.text.lstrip(_BOM)
    space = len(text) - len(text.lstrip())
    if not space or not text[space:].startswith("---"):
        return []
    start = len(source.text) - len(text)
    return [Fact("header-not-first", span=Span(source, start, start + space), severity="warning")]


def keep_text(convention: Convention, tree: Tree, _session: Session) -> tuple[Tree, list[Fact]]:
    """A number, `true` or `false` where text belongs is the text it is written as."""
    facts: list[Fact] = []
    document = tree.story(ROOT).origin.document
    if document.format != "yaml" or not isinstance(tree.value, dict):
        return tree, facts
    for field in convention.fields:
        value = tree.value.get(field.name)
        if field.type is str and is_unquoted(value):
            tree, found = kept_as_written(tree, (field.name,), value)
            facts += found
    return tree, facts


def kept_as_written(tree: Tree, path: Path, value: Any) -> tuple[Tree, list[Fact]]:
    """The tree with a scalar as the text it is written as, and the word about it, if none is said already."""
    origin = tree.story(path).origin
    written = origin.document.text(origin.path) or ""
    text = written if re.fullmatch(r"[\w.+:-]+", written) else str(value)
    values: dict[str, object] = {"found": Shown(value, as_found=True), "text": Shown(text)}
    remedy = Remedy("put quotes around it", (Change(path, text, origin=origin),))
    told = (
        [Fact("number-as-text", values=values, origin=origin, remedy=remedy)]
        if is_finite(value)
        else []
    )
    return put(tree, path, text, how=""), told


#: A comment that touches its sign: most likely text.
_CUT = re.compile(r"[ \t]*\#(?=\S)[^\r\n]*")


def say_what_is_cut(
    convention: Convention, tree: Tree, _session: Session
) -> tuple[Tree, list[Fact]]:
    """Text behind ` #` is a comment to YAML: `color: #FF0000` says nothing, and half a sentence is lost."""
    document = tree.story(ROOT).origin.document
    if (
        document.format != "yaml"
        or not isinstance(tree.value, dict)
        or " #" not in document.parsed_text()
    ):
        return tree, []
    paths = [(field.name,) for field in convention.fields if field.name in tree.value]
    facts = [_cut(document, path, located) for path, located in document.locate(paths).items()]
    return tree, [each for each in facts if each is not None]


def _cut(document: Document, path: Path, located: Located) -> Fact | None:
    text = document.source.text
    start, end = located.value.start, located.value.end
    if start == end and located.key is not None:
        start = end = located.key.end + 1
    match = _CUT.match(text, end)
    if match is None or text[start : start + 1] in tuple("\"'[{|>") or "\n" in text[start:end]:
        return None
    whole = text[start : match.end()].strip()
    begin = match.end() - len(text[start : match.end()].lstrip())
    quoted = "'" + whole.replace("'", "''") + "'"
    remedy = Remedy(
        "put quotes around the text",
        (Change(ROOT, quoted, span=Span(document.source, begin, match.end())),),
        safe=False,
    )
    hash_sign = text.index("#", end)
    return Fact(
        "text-cut",
        path,
        {"field": path[0]},
        span=Span(document.source, hash_sign, match.end()),
        remedy=remedy,
    )


def divide_names(convention: Convention, tree: Tree, _session: Session) -> tuple[Tree, list[Fact]]:
    """Names in one text become a list; tools that do not exist are told at their own place."""
    facts: list[Fact] = []
    if not isinstance(tree.value, dict):
        return tree, facts
    document = tree.story(ROOT).origin.document
    for field in convention.fields:
        if field.name not in tree.value:
            continue
        value = tree.value[field.name]
        if value is None or value == "":
            if field.restricts and field.split is not None:
                values: dict[str, object] = {"field": field.name, "tool": convention.tool}
                facts.append(Fact("restriction-empty", (field.name,), values, part="key"))
        elif field.refers == "tool" and convention.tools is not None:
            facts += _unknown_tools(convention, field, value, document)
        if isinstance(value, str) and field.split is not None:
            tree = put(
                tree, (field.name,), [each.text for each in divided(value, field.split)], how=""
            )
    return tree, facts


def _unknown_tools(
    convention: Convention, field: Field, value: Any, document: Document
) -> Iterator[Fact]:
    assert convention.tools is not None
    for name, span in words_of(field, value, document):
        for each in references(name, "tool"):
            if (
                each.sort == "tool"
                and each.name not in convention.tools
                and not is_pattern(each.name)
            ):
                values: dict[str, object] = {
                    "sort": "tool",
                    "name": Shown(each.name),
                    "where": f" in {convention.tool}",
                    "nearest": nearest(each.name, convention.tools),
                }
                yield Fact("unknown-reference", (field.name,), values, span=span)


def words_of(field: Field, value: Any, document: Document) -> Iterator[tuple[str, Span]]:
    """The names in a field, each with its place in the text the author wrote."""
    if isinstance(value, str):
        located = document.locate([(field.name,)]).get((field.name,))
        if located is not None:
            written, position = located.value.text(), 0
            for each in divided(value, field.split or ","):
                offset = written.find(each.text, position)
                position = max(position, offset + len(each.text) if offset >= 0 else 0)
                start = located.value.start + max(0, offset)
                end = start + len(each.text) if offset >= 0 else located.value.end
                yield each.text, Span(document.source, start, end)
        return
    entries = list(value) if isinstance(value, list | dict) else []
    paths = {
        (field.name, step): step
        for step in (range(len(entries)) if isinstance(value, list) else entries)
    }
    places = document.locate(paths)
    for path, step in paths.items():
        name = value[step] if isinstance(value, list) else step
        if isinstance(name, str) and path in places:
            place = places[path]
            yield name, place.value if isinstance(value, list) else place.key or place.value


def bring_body(convention: Convention, tree: Tree, _session: Session) -> tuple[Tree, list[Fact]]:
    """The text below the header as a field of its own."""
    if convention.syntax != "header" or not isinstance(tree.value, dict):
        return tree, []
    facts: list[Fact] = []
    if BODY in tree.value:
        values: dict[str, object] = {"field": BODY, "owner": convention.one, "nearest": None}
        origin = tree.story((BODY,)).origin
        facts.append(
            Fact("unknown-field", values=values, part="key", severity="warning", origin=origin)
        )
    body = body_of(tree.story(ROOT).origin.document, CONVENTION)
    tree = put(tree, (BODY,), "", how="")
    return graft(tree, {(BODY,): Tree(body.value, Origins(Origin(body)))}), facts


def look_for_suspicious(
    convention: Convention, tree: Tree, _session: Session
) -> tuple[Tree, list[Fact]]:
    """What nobody should see, and names that only look right."""
    source = tree.story(ROOT).origin.document.source
    name = get(tree.value, ("name",))
    return tree, [*suspicions(source), *_alike(name if isinstance(name, str) else _stem(source))]


def suspicions(source: Source) -> Iterator[Fact]:
    """Secrets of a whole file."""
    for each in secrets(source.text):
        yield Fact("secret-in-file", values={"what": each.what}, span=Span(source, *each.range))


def _alike(name: str) -> Iterator[Fact]:
    scripts = mixed_scripts(name)
    if scripts:
        yield Fact("mixed-scripts", ("name",), {"name": Shown(name), "scripts": ", ".join(scripts)})


def _stem(source: Source) -> str:
    return os.path.basename(source.path or source.name).partition(".")[0]
