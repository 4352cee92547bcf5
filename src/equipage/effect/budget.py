"""How much of each client's context a workspace fills, and how much of it the client reads.

A client puts the names and descriptions of skills, commands and agents, and its instructions, into
every conversation. Where there is too much, it leaves something out without a word.
"""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from equipage.clients.catalogue import convention_of, conventions
from equipage.clients.context import (
    AGENT_SKILLS,
    ALWAYS_READ,
    CONTEXTS,
    SKILL_DESCRIPTION_LIMIT,
    SKILL_LINES_LIMIT,
    ClientContext,
    Entry,
    InstructionFiles,
    Limit,
    LimitSettings,
    Unit,
    place_of,
    shown_folder,
    start_folder_of,
)
from equipage.clients.index import KINDS
from equipage.clients.instructions import transitive_imports
from equipage.clients.reading import reading_of
from equipage.core.path import get
from equipage.core.text import lazy_regex, split_lines
from equipage.loading.header import body_of
from equipage.loading.pipeline import Outcome
from equipage.loading.session import Session
from equipage.workspace.load import FileLoad


def budget_of(found: Iterable[FileLoad]) -> tuple[Measure, ...]:
    """What the files cost each client, by client and folder.

    A file counts if its client is known to read it, errors or not, and if it could still be read.
    """
    loads = [each.outcome for each in found if each.outcome is not None]
    outcomes = [each for each in loads if each.documents and reading_of(each).counts]
    measures = [
        *_listing_measures(outcomes),
        *_instruction_measures(outcomes),
        *_body_measures(outcomes),
    ]
    return tuple(
        replace(each, parts=tuple(sorted(each.parts, key=lambda part: (-part.size, part.file))))
        for each in sorted(measures, key=lambda each: (each.client, each.folder))
    )


# ----------------------------------------------------------------------- skills, commands, agents


def _listing_measures(outcomes: Sequence[Outcome]) -> Iterator[Measure]:
    entries = [each for each in map(_entry, outcomes) if each is not None]
    settings = LimitSettings(outcomes)
    skills = [each for each in entries if each.sort in ("skill", "command")]
    for context in CONTEXTS:
        selected = (context.select(each) for each in skills if each.place in context.skill_folders)
        mine = [each for each in selected if each is not None]
        for folder, group in _group_by_folder(mine).items():
            limit = settings.limit(folder, context.listing_limit)
            described = settings.limit(folder, context.description_limit)
            cut = described.size if described is not None and context.cuts_descriptions else None
            yield _listing_measure(context, folder, "skill listing", group, limit, cut)
            if described is not None:
                yield _longest_description(context.client, folder, group, described)
    for folder, group in _group_by_folder(
        [each for each in skills if each.sort == "skill"]
    ).items():
        yield _longest_description(AGENT_SKILLS, folder, group, SKILL_DESCRIPTION_LIMIT)
        parts = [Part(each.name, each.file, _count_lines(each.text)) for each in group]
        yield _longest_measure(AGENT_SKILLS, folder, "longest skill", parts, SKILL_LINES_LIMIT)
    contexts = {each.client: each for each in CONTEXTS}
    for tool in sorted({each.tool for each in KINDS.values() if each.sort == "agent"}):
        mine = [each for each in entries if each.sort == f"agent of {tool}"]
        for folder, group in _group_by_folder(mine).items():
            context = contexts.get(tool, ClientContext(tool, (), ()))
            yield _listing_measure(context, folder, "agent listing", group)


def _entry(outcome: Outcome) -> Entry | None:
    """The entry of a file in the lists of its client; None if it is in none."""
    kind, document = outcome.kind.name, outcome.documents[0]
    table = convention_of(kind)
    sort = "skill" if kind == "skill" else table.sort if table is not None else ""
    fields: dict[str, Any] = document.value if isinstance(document.value, dict) else {}
    if sort == "agent" and table is not None:
        sort = f"agent of {table.tool}"
    elif sort not in ("skill", "command") or _is_hidden(fields):
        return None
    place, folder, plugin = place_of(outcome.session)
    shown = outcome.kind.presentation
    if shown.ignored is not None and shown.ignored(outcome):
        return None
    item = next(iter(shown.listing(fields, outcome.sources[0].name)))
    body = body_of(document).value
    # Without a description, clients show the first line of the text.
    text = item.description or split_lines(str(body).strip())[0]
    when = fields.get("when_to_use")
    return Entry(
        sort,
        place,
        folder,
        plugin,
        item.name,
        text,
        outcome.sources[0].name,
        str(body),
        f" - {when}" if isinstance(when, str) else "",
    )


def _is_hidden(fields: dict[str, Any]) -> bool:
    """Whether the model does not hear of a skill before people call it or touch certain files."""
    switch = fields.get("disable-model-invocation")
    return switch in (True, "true", "yes") or bool(fields.get("paths"))


def _group_by_folder(entries: Iterable[Entry]) -> dict[str, list[Entry]]:
    groups: dict[str, list[Entry]] = defaultdict(list)
    for each in entries:
        groups[each.folder].append(each)
    return groups


def _listing_measure(
    context: ClientContext,
    folder: str,
    what: str,
    entries: Sequence[Entry],
    limit: Limit | None = None,
    cut: int | None = None,
) -> Measure:
    """The lines of a list together, their descriptions cut to so many characters."""
    parts = []
    for each in entries:
        text = each.description
        # As the clients do: the last character that fits becomes an ellipsis.
        if cut is not None and len(text) > cut:
            text = text[: cut - 1] + "…"
        line = f"- {each.name}: {context.write(each, text)}\n"
        parts.append(Part(each.name, each.file, len(line)))
    return _total_measure(context.client, folder, what, parts, limit)


def _longest_description(
    client: str, folder: str, entries: Sequence[Entry], limit: Limit
) -> Measure:
    parts = [Part(each.name, each.file, len(each.description)) for each in entries]
    return _longest_measure(client, folder, "longest description", parts, limit)


def _count_lines(text: str) -> int:
    return text.count("\n") + 1 if text else 0


# ----------------------------------------------------------------------------------- instructions


def _instruction_measures(outcomes: Sequence[Outcome]) -> Iterator[Measure]:
    """The instructions that each client reads at its start, by the folder it is started in."""
    settings = LimitSettings(outcomes)
    texts = [each for each in outcomes if each.kind.name == "instructions"]
    rules = [each for each in outcomes if each.kind.name in ALWAYS_READ]
    starts: dict[str, Session] = {}
    for each in (*texts, *rules):
        folder = start_folder_of(each.session.path)
        # A folder is measured once, whatever number of files it has.
        starts.setdefault(folder, each.session)
    for context in CONTEXTS:
        names = _names_in_settings(context, outcomes)
        for folder, session in sorted(starts.items()):
            reader = _InstructionsReader(context, folder, session, rules)
            yield from reader.measures(names.get(folder, context.instructions), settings)


def _names_in_settings(
    context: ClientContext, outcomes: Sequence[Outcome]
) -> dict[str, InstructionFiles]:
    """The files with instructions, by folder, where the settings of a client give other names."""
    found: dict[str, InstructionFiles] = {}
    kind, place = context.names_setting
    for each in outcomes:
        if each.kind.name == kind:
            value = get(each.documents[0].value, place)
            names = value if isinstance(value, list) else [value]
            if value and all(isinstance(name, str) for name in names):
                found[start_folder_of(each.session.path)] = tuple(((name,),) for name in names)
    return found


class _InstructionsReader:
    """The instructions that a client reads when it is started in a folder."""

    def __init__(
        self, context: ClientContext, folder: str, session: Session, rules: Sequence[Outcome]
    ) -> None:
        self.context, self.session, self.folders = context, session, [folder]
        # By length: the root is this folder, or above it.
        while len(self.folders[0]) > len(session.root):
            self.folders.insert(0, os.path.dirname(self.folders[0]))
        self.rules = [each for each in rules if start_folder_of(each.session.path) in self.folders]

    def measures(self, files: InstructionFiles, settings: LimitSettings) -> Iterator[Measure]:
        own, shown = self.context, shown_folder(self.folders[-1], self.session.files.system)
        ends = dict.fromkeys((self.folders[0], self.folders[-1]))
        parts = [
            part
            for folder in (ends if own.only_ends else self.folders)
            for alternatives in files
            for part in self._read_first(folder, alternatives)
        ]
        parts += self._always_read_rules()
        if parts:
            limit = settings.limit(shown, own.instructions_limit)
            yield _total_measure(own.client, shown, "instructions", parts, limit)
        if own.limited_file is not None:
            parts = self._read(self.folders[-1], own.limited_file)
        if parts and own.file_limit is not None:
            yield _longest_measure(own.client, shown, own.limited_what, parts, own.file_limit)

    def _read_first(self, folder: str, alternatives: Iterable[Iterable[str]]) -> list[Part]:
        """The files of the first alternative that has any, and what they import."""
        found = (
            [part for name in names for part in self._read(folder, name)] for names in alternatives
        )
        return next((parts for parts in found if parts), [])

    def _read(self, folder: str, name: str) -> list[Part]:
        """A file and what it imports, each once; nothing where it is missing or outside."""
        path = os.path.join(folder, *name.split("/"))
        files, limit = self.session.files, self.context.instructions_limit
        if not files.exists(path) or not files.is_within(path, self.session.root):
            return []
        parts = []
        for each in (path, *transitive_imports(path, self.session, self.context.import_depth)):
            content = files.peek(each)
            if content is not None:
                text = HTML_COMMENT.sub("", content.decode("utf-8", "replace"))
                size = len(text) if limit is None or limit.unit != "bytes" else len(content)
                parts.append(Part(os.path.basename(each), files.system.name_of(each), size))
        return parts

    def _always_read_rules(self) -> list[Part]:
        """The rules that are part of every conversation."""
        parts = []
        for each in self.rules:
            document = each.documents[0]
            header = document.value if isinstance(document.value, dict) else {}
            if each.kind.name == self.context.rules and ALWAYS_READ[self.context.rules](header):
                name = each.sources[0].name
                parts.append(Part(os.path.basename(name), name, len(str(body_of(document).value))))
        return parts


def _total_measure(
    client: str, folder: str, what: str, parts: Sequence[Part], limit: Limit | None = None
) -> Measure:
    """All of some parts together."""
    used, unit = sum(each.size for each in parts), "characters" if limit is None else limit.unit
    return Measure(client, folder, what, used, unit, limit, tuple(parts))


def _longest_measure(
    client: str, folder: str, what: str, parts: Sequence[Part], limit: Limit
) -> Measure:
    """The largest of some parts, each of which has the limit for itself."""
    longest = max(each.size for each in parts)
    marked = tuple(replace(each, over=each.size > limit.size) for each in parts)
    return Measure(client, folder, what, longest, limit.unit, limit, marked)


def _body_measures(outcomes: Sequence[Outcome]) -> Iterator[Measure]:
    """The files whose text a client limits."""
    groups: dict[tuple[str, str], list[Part]] = defaultdict(list)
    for outcome in outcomes:
        if outcome.kind.name in CONVENTIONS_WITH_BODY_LIMIT:
            body = str(body_of(outcome.documents[0]).value)
            name, (_, folder, _) = outcome.sources[0].name, place_of(outcome.session)
            part = Part(os.path.basename(name), name, len(body))
            groups[outcome.kind.name, folder].append(part)
    for (kind, folder), parts in groups.items():
        table = CONVENTIONS_WITH_BODY_LIMIT[kind]
        assert table.longest_body is not None
        limit = Limit(table.longest_body, "the text is refused or cut", "documented", table.tool)
        yield _longest_measure(table.tool, folder, f"longest {table.sort}", parts, limit)


class Part(msgspec.Struct, frozen=True):
    """One thing that takes up room."""

    name: str
    file: str
    size: int
    over: bool = False  #: whether it alone is more than the client takes


class Measure(msgspec.Struct, frozen=True):
    """How much of a client's context something takes up."""

    client: str
    folder: str  #: where the client is started, or the plugin
    what: str
    used: int
    unit: Unit = "characters"
    limit: Limit | None = None  #: None: no limit is known
    parts: tuple[Part, ...] = ()  #: the largest first

    @property
    def share(self) -> float | None:
        """The part of the limit that is used."""
        return None if self.limit is None else self.used / max(1, self.limit.size)

    @property
    def is_over(self) -> bool:
        return self.limit is not None and self.used > self.limit.size

    @property
    def is_lost(self) -> bool:
        """Whether the client cuts or leaves out what is over the limit."""
        return self.is_over and self.limit is not None and self.limit.basis != "recommended"

    @property
    def tokens(self) -> int | None:
        """About how many tokens that is: four characters of English make one."""
        return None if self.unit == "lines" else -(-self.used // 4)


CONVENTIONS_WITH_BODY_LIMIT = {
    each.kind: each for each in conventions() if each.longest_body is not None
}
#: Claude Code removes these before the text reaches the model.
HTML_COMMENT = lazy_regex(r"^<!--.*?-->[ \t]*\n?", re.MULTILINE | re.DOTALL)
