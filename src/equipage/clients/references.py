"""Names in files of conventions: those a file gives itself, and those it uses for other files.

A name is looked up where equipage knows the set: skills, servers and agents, if the workspace holds
at least one of that sort. The user's own folders may hold others, so an unknown name is a warning
only if it is close to a known one, and a note otherwise.

`RULES` are about all files with names together: whether their list fits, which command a skill
hides, and whether copies for several clients agree.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

import msgspec

from equipage.clients import codes
from equipage.clients.catalogue import Convention, Field, ReferenceKind
from equipage.core.diagnostics import Also, Change, Effect, Fact, Remedy, Shown
from equipage.core.path import ROOT, Path, get
from equipage.core.source import Span
from equipage.core.text import Guesses, is_likely_typo, lazy_regex, split_lines
from equipage.loading.format import Offer
from equipage.loading.header import BODY, known_names, own_name
from equipage.loading.pipeline import Outcome
from equipage.syntax.document import Document, EntrySpans

Finding = tuple[Outcome, Fact]

# Lists of names as people write them: with commas, with blanks, as a list.

#: A tool of a server, `mcp__github__search`, or all its tools, `mcp__github`. The name of the
#: server has no `__`.
_SERVER_TOOL = lazy_regex(r"mcp__(?P<server>[^_*](?:[^_]|_(?!_))*?)(?:__.*)?\Z")
#: A tool with a pattern or with agents in brackets: `Bash(git log:*)`, `Agent(reviewer)`.
_CALL = lazy_regex(r"(?P<tool>[^()]+)\((?P<inside>.*)\)\Z", re.DOTALL)

#: How many characters Claude Code keeps of a description, and gives the list of all skills: with a
#: context of 200,000 tokens, and the most that was measured with any model.
_MAX_DESCRIPTION = 1536
_SMALL_LISTING, _LARGE_LISTING = 8_000, 30_000
#: The folder of a client in a path, and what lies below it.
_CLIENT_PATTERN = r"/(?P<client>\.(?:claude|agents|codex|gemini|github|opencode|cursor|qwen|kiro))/"
_CLIENT_FOLDER = lazy_regex(_CLIENT_PATTERN)
_COPY_PLACE = lazy_regex(rf"(?P<root>.*){_CLIENT_PATTERN}(?P<sort>skill|agent)s?/(?P<below>.+)\Z")


class Reference(msgspec.Struct, frozen=True):
    """Something that a file names."""

    sort: ReferenceKind
    name: str


_BRACKET = lazy_regex(r"[\[\](){}]")


@cache
def _marks(separators: str) -> re.Pattern[str]:
    """What may divide names, and brackets, inside of which it does not."""
    return re.compile(rf"[\[\](){{}}{re.escape(separators)}]")


def split_names(text: str, separators: str) -> Iterator[str]:
    """The names in a text, divided at any of `separators` outside brackets."""
    if _BRACKET.search(text) is None:  # nearly always
        yield from filter(None, map(str.strip, _marks(separators).split(text)))
        return
    start = depth = 0
    for mark in _marks(separators).finditer(text):
        if mark[0] in "([{":
            depth += 1
        elif mark[0] in ")]}":
            depth = max(0, depth - 1)
        elif not depth:
            if name := text[start : mark.start()].strip():
                yield name
            start = mark.end()
    if name := text[start:].strip():
        yield name


def parse_references(name: str, sort: ReferenceKind) -> Iterator[Reference]:
    """What a name refers to: the name of a tool may also name a server or agents."""
    if sort != "tool":
        yield Reference(sort, name)
        return
    server = _SERVER_TOOL.match(name)
    if server is not None:
        yield Reference("server", server["server"])
        return
    called = _CALL.match(name)
    tool = called["tool"].rstrip() if called else name
    yield Reference("tool", tool)
    if called and tool in ("Agent", "Task"):
        yield from (Reference("agent", each) for each in split_names(called["inside"], ","))


def is_pattern(name: str) -> bool:
    """Whether a name is a pattern, which may match several names."""
    return not {"*", "?", "$", "{"}.isdisjoint(name) or name.startswith("mcp_")


def names_in_field(field: Field, value: Any) -> Sequence[str]:
    """The names in a field, without their places, which most need not; see `locate_names`."""
    if isinstance(value, str):
        return tuple(split_names(value, field.split or ","))
    if isinstance(value, list | dict):
        return [each for each in value if isinstance(each, str)]
    return ()


def locate_names(field: Field, value: Any, document: Document) -> Iterator[tuple[str, Span]]:
    """The names in a field, each with its place in the text the author wrote."""
    if isinstance(value, str):
        located = document.locate([(field.name,)]).get((field.name,))
        if located is not None:
            yield from _locate_names_in_text(value, field.split or ",", located.value)
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


def _locate_names_in_text(value: str, separators: str, place: Span) -> Iterator[tuple[str, Span]]:
    """The names in a text; the whole text is the place of a name that is written otherwise."""
    written, position = place.text(), 0
    for name in split_names(value, separators):
        offset = written.find(name, position)
        if offset < 0:
            yield name, place
            continue
        position = offset + len(name)
        yield name, Span(place.source, place.start + offset, place.start + position)


def references_in(
    convention: Convention, outcome: Outcome
) -> Iterator[tuple[Field, Reference, Span]]:
    """Everything that the fields of a file name, with the place of the word that does so."""
    document = outcome.documents[0] if outcome.documents else None
    if document is None or not isinstance(document.value, dict):
        return
    for field in convention.fields:
        if field.refers is None or field.name not in document.value:
            continue
        for name, span in locate_names(field, document.value[field.name], document):
            for each in parse_references(name, field.refers):
                yield field, each, span


def rename_remedy(
    name: str, guess: str | None, field: Field, span: Span, document: Document
) -> Remedy | None:
    """The fix that replaces a name by `guess`; never safe, because it is a guess.

    None if the text of the file is not the name itself, because of escapes for example.
    """
    value = document.value.get(field.name)
    span = _strip_quotes(span)
    if guess is None or span.text() != name or document.substituted_text is not None:
        return None
    paths: list[Path] = [(field.name,)]
    paths += [(field.name, number) for number in range(len(value)) if isinstance(value, list)]
    places = document.locate(paths)
    path = next((each for each in reversed(paths) if _contains_span(places.get(each), span)), None)
    place = None if path is None else _strip_quotes(places[path].value)
    if path is None or place is None or get(document.value, path) != place.text():
        return None
    text = place.source.text
    new = text[place.start : span.start] + guess + text[span.end : place.end]
    effect = Effect("replace", path, new, document.syntax, document.window, document.merge)
    change = Change(ROOT, guess, span=span, effect=effect)
    return Remedy(f"change to `{guess}`", (change,), safe=False)


def _strip_quotes(span: Span) -> Span:
    """The text between the quotes of a scalar, if it has some."""
    text = span.text()
    is_quoted = len(text) > 1 and text[0] == text[-1] and text[0] in "\"'"
    return Span(span.source, span.start + 1, span.end - 1) if is_quoted else span


def _contains_span(place: EntrySpans | None, span: Span) -> bool:
    return place is not None and place.value.start <= span.start and span.end <= place.value.end


# Names of other files.

#: The kinds of files that define the agents which a file of a kind may name.
_AGENT_KINDS = {
    "claude-agent": ("claude-agent",),
    "claude-command": ("claude-agent",),
    "skill": ("claude-agent",),
    "copilot-agent": ("copilot-agent", "claude-agent"),
    "copilot-prompt": ("copilot-agent", "claude-agent"),
    "opencode-agent": ("opencode-agent",),
    "opencode-command": ("opencode-agent",),
}
_SORT_TITLES: dict[ReferenceKind, str] = {
    "skill": "skill",
    "server": "MCP server",
    "agent": "agent",
}


def references_exist(
    convention: Convention, own: Sequence[Outcome], offers: Sequence[Offer]
) -> Iterator[Finding]:
    """The skills, servers and agents that a file names exist."""
    agents = _AGENT_KINDS.get(convention.kind, ())
    kinds: dict[ReferenceKind, tuple[str, ...]] = {
        "skill": ("skill",),
        "server": ("mcp", "settings"),
        "agent": agents,
    }
    defined = {sort: known_names(offers, those) for sort, those in kinds.items()}
    for outcome in own:
        path, guesses = outcome.path, Guesses()
        sorts = {each.sort for each in _references_to_check(convention, outcome)}
        known = {sort: defined[sort].visible_from(path) for sort in sorts}
        # Where no file defines any, the names come from elsewhere.
        known = {sort: names for sort, names in known.items() if names}
        if all(
            _is_known(each, known, convention) for each in _references_to_check(convention, outcome)
        ):
            continue
        seen: set[Reference] = set()
        for field, reference, span in _located_references(convention, outcome):
            if reference in seen:  # many tools of one server have one cause
                continue
            seen.add(reference)
            sort = reference.sort
            if _is_known(reference, known, convention):
                continue
            built_in = convention.built_in.get(sort, frozenset())
            guess = guesses.nearest(reference.name, defined[sort].visible_from(path, built_in))
            if guess is not None and not is_likely_typo(reference.name, guess):
                guess = None  # another name, and not a slip
            fact = codes.UNKNOWN_REFERENCE.at(
                (field.name,),
                span=span,
                severity="note" if guess is None else None,
                remedy=rename_remedy(reference.name, guess, field, span, outcome.documents[0]),
                sort=_SORT_TITLES[sort],
                name=Shown(reference.name),
                where=" in this workspace",
                nearest=guess,
            )
            yield outcome, fact


def has_references(convention: Convention, outcome: Outcome) -> bool:
    """Whether a file names anything to look up."""
    return next(_references_to_check(convention, outcome), None) is not None


def _is_known(
    reference: Reference, known: Mapping[ReferenceKind, frozenset[str]], convention: Convention
) -> bool:
    """Whether a name is known, or of a sort that is defined elsewhere.

    Plugins put their own name before the names of what they bring: `plugin:skill`.
    """
    names = known.get(reference.sort)
    if names is None:
        return True
    return (
        reference.name in names
        or reference.name.rpartition(":")[2] in names
        or reference.name in convention.built_in.get(reference.sort, frozenset())
        or is_pattern(reference.name)
    )


def _references_to_check(convention: Convention, outcome: Outcome) -> Iterator[Reference]:
    """What a file names, except tools and servers that it defines itself."""
    value = outcome.documents[0].value if outcome.documents else None
    if not isinstance(value, dict):
        return
    inline: frozenset[str] | None = None
    for field in convention.fields:
        if field.refers is None or field.name not in value:
            continue
        for name in names_in_field(field, value[field.name]):
            for each in parse_references(name, field.refers):
                if each.sort != "tool":
                    inline = _inline_servers(value) if inline is None else inline
                    if each.name not in inline:
                        yield each


def _located_references(
    convention: Convention, outcome: Outcome
) -> Iterator[tuple[Field, Reference, Span]]:
    """As `_references_to_check`, with the field and the place of each."""
    inline = _inline_servers(outcome.documents[0].value if outcome.documents else None)
    for field, each, span in references_in(convention, outcome):
        if each.sort != "tool" and each.name not in inline:
            yield field, each, span


def _inline_servers(value: Any) -> frozenset[str]:
    own = get(value, ("mcpServers",))
    return frozenset(own) if isinstance(own, dict) else frozenset()


def scoped_name(convention: Convention, outcome: Outcome) -> tuple[str, str] | None:
    """The folder within which a file's name must be unique, and the name itself.

    That is everything below one `agents` folder of a tool, or `skills` folder. People choose from
    other folders what they install, so two files of one name need not meet there.
    """
    if convention.identity != "field" or convention.syntax == "json" or not outcome.sources:
        return None
    name = None if outcome.tree is None else own_name(outcome.tree.value)
    folder = outcome.path.rpartition("/")[0]
    head, found, _ = f"{folder}/".rpartition(f"/{convention.sort}s/")
    if not found or "/." not in f"/{head}" or name is None:
        return None
    return head + found, name


def names_are_unique(convention: Convention, own: Sequence[Outcome]) -> Iterator[Finding]:
    """No two files below one folder have the same name."""
    seen: dict[tuple[str, str], Outcome] = {}
    for outcome in own:
        named = scoped_name(convention, outcome)
        if named is None:
            continue
        first = seen.setdefault(named, outcome)
        if first is not outcome:
            place = (
                first.documents[0].locate([("name",)]).get(("name",)) if first.documents else None
            )
            also = () if place is None else (Also("the other one", span=place.value),)
            used = "only one of the two is used"
            # In Claude Code, files of the folder itself come before those of folders in it; else
            # the order is that of the file system. Both were measured.
            paths = (each.path.removeprefix(named[0]) for each in (first, outcome))
            outer = [each for each in paths if "/" not in each]
            if convention.kind == "claude-agent" and len(outer) == 1:
                used = f"{convention.tool} uses the one that is not in a folder of its own"
            yield (
                outcome,
                codes.NAME_TAKEN.at(("name",), also=also, name=Shown(named[1]), used=used),
            )


def size_and_checksum(outcome: Outcome) -> tuple[int, int]:
    """How many characters a file takes in the list of its client, and a checksum of its text."""
    fields: Any = outcome.tree.value if outcome.tree is not None else None
    if not isinstance(fields, dict):
        return 0, 0
    description, body = str(fields.get("description") or ""), str(fields.get(BODY) or "")
    said = zlib.crc32(f"{description}\0".encode("utf-8", "replace"))
    said = zlib.crc32(body.strip().encode("utf-8", "replace"), said)
    if outcome.kind.name not in ("skill", "claude-command") or _is_hidden(fields):
        return 0, said
    text = description or split_lines(body.strip())[0]
    if when := fields.get("when_to_use"):
        text += f" - {when}"
    # Markup is escaped, and each entry is a line `- name: description`.
    text = text[:_MAX_DESCRIPTION].replace("<", "&lt;").replace(">", "&gt;")
    return len(text) + len("- : \n"), said


def _is_hidden(fields: dict[str, Any]) -> bool:
    """Whether the model does not hear of a skill before people call it or touch certain files."""
    switch = fields.get("disable-model-invocation")
    return switch in (True, "true", "yes") or bool(fields.get("paths"))


def _listing_size(offer: Offer) -> int:
    return offer.weight[0]


def _checksum(offer: Offer) -> int:
    return offer.weight[1]


def listing_fits(offers: Sequence[Offer]) -> Iterator[tuple[str, Fact]]:
    """The skills and commands of a project fit into the list that Claude Code gives a model."""
    for entries in _group_by_root(_claude_offers(offers)).values():
        used, shown = 0, 0
        sizes = [
            (_listing_size(each) + len(each.names[-1]), each.path)
            for each in entries
            if _listing_size(each)
        ]
        total = sum(size for size, _ in sizes)
        if total <= _SMALL_LISTING:
            continue
        for size, _ in sizes:
            used += size
            shown += used <= _SMALL_LISTING
        limit, models = (
            (_LARGE_LISTING, "at most")
            if total > _LARGE_LISTING
            else (_SMALL_LISTING, "with some models")
        )
        yield (
            sizes[min(shown, len(sizes) - 1)][1],
            codes.LISTING_TOO_LONG.at(
                severity="warning" if total > _LARGE_LISTING else "note",
                count=len(sizes),
                length=f"{total:,}",
                limit=f"{limit:,}",
                models=models,
            ),
        )


def commands_are_not_hidden(offers: Sequence[Offer]) -> Iterator[tuple[str, Fact]]:
    """No command has the name of a skill, which Claude Code prefers."""
    for entries in _group_by_root(_claude_offers(offers)).values():
        skills = {each.names[-1]: each.path for each in entries if each.kind == "skill"}
        for each in entries:
            skill = skills.get(each.names[-1]) if each.kind == "claude-command" else None
            # A command in a folder is called by the name of the folder, too.
            if skill is not None and re.search(r"/commands/[^/]+\Z", each.path):
                name = skill.rpartition("/.claude/")[2]
                yield each.path, codes.COMMAND_HIDDEN.at(skill=Shown(f".claude/{name}"))


def copies_agree(offers: Sequence[Offer]) -> Iterator[tuple[str, Fact]]:
    """The copies of a skill or an agent for several clients do not differ."""
    for (_, sort, _), copies in _group_copies(offers):
        first, *others = copies
        different = [each for each in others if _checksum(each[1]) != _checksum(first[1])]
        if different and first[0] != different[0][0]:
            client, other = different[0]
            yield (
                other.path,
                codes.COPIES_DIFFER.at(
                    sort=sort, name=Shown(other.names[-1]), client=client, other=first[0]
                ),
            )


def _group_copies(
    offers: Sequence[Offer],
) -> Iterable[tuple[tuple[str, str, str], list[tuple[str, Offer]]]]:
    """Skills and agents of one name and project, each with its client, by project and sort."""
    # Most projects are for one client: a look at all paths at once says so.
    if len(set(_CLIENT_FOLDER.findall("\n".join(each.path for each in offers)))) < 2:
        return ()
    groups: dict[tuple[str, str, str], list[tuple[str, Offer]]] = {}
    for each in offers:
        place = _COPY_PLACE.match(each.path) if _checksum(each) else None
        if place is not None:
            name = re.sub(r"(?:/SKILL)?(?:\.\w+)*\Z", "", place["below"])
            key = place["root"], place["sort"], name
            groups.setdefault(key, []).append((place["client"], each))
    return groups.items()


def _claude_offers(offers: Iterable[Offer]) -> Iterator[Offer]:
    """The skills and commands of a project that Claude Code lists: skills lie one folder deep."""
    for each in offers:
        is_skill = each.kind == "skill" and each.path.rsplit("/", 2)[0].endswith("/.claude/skills")
        if is_skill or (each.kind == "claude-command" and "/.claude/commands/" in each.path):
            yield each


def _group_by_root(offers: Iterable[Offer]) -> dict[str, list[Offer]]:
    found: dict[str, list[Offer]] = {}
    for each in offers:
        found.setdefault(each.path.rpartition("/.claude/")[0], []).append(each)
    return found


RULES = (listing_fits, commands_are_not_hidden, copies_agree)
