"""How much of each client's context a workspace fills, and how much of it the client reads.

A client puts the names and descriptions of skills, commands and agents, and its instructions, into
every conversation. Where there is too much, it leaves something out without a word.
"""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Literal

import msgspec
from msgspec.structs import replace

from equipage.clients.instructions import transitive_imports
from equipage.clients.tables.conventions import CONVENTIONS
from equipage.core.path import get
from equipage.core.text import lazy_regex
from equipage.effect.reading import LimitSettings, place_of, shown_folder, start_folder_of
from equipage.files.reading import display_name
from equipage.loading.header import body_of
from equipage.loading.outcome import Outcome
from equipage.loading.session import Session
from equipage.workspace.load import FileLoad

Unit = Literal["characters", "bytes", "lines"]
Basis = Literal["measured", "documented", "recommended", "settings"]


def budget_of(found: Iterable[FileLoad]) -> tuple[Measure, ...]:
    """What the files cost each client, by client and folder.

    A file with errors is not counted: whether a client reads it is uncertain.
    """
    outcomes = [
        each.outcome
        for each in found
        if each.outcome is not None and each.outcome.ok and each.outcome.session is not None
    ]
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


class _Entry(msgspec.Struct, frozen=True):
    """A skill, command or agent as lists of them show it."""

    sort: str
    place: str  #: the folder of a client that it is in; `plugin`, or nothing
    folder: str  #: the folder around that
    name: str
    description: str
    file: str
    text: str = ""  #: what a client reads when it uses a skill
    when: str = ""  #: what Claude Code adds to the description
    claude: str = ""  #: what Claude Code calls it

    def line(self, client: str, limit: int | None = None) -> str:
        """The entry as a line of a client's list, its description cut to `limit`."""
        text = self.description
        # As the clients do: the last character that fits becomes an ellipsis.
        if limit is not None and len(text) > limit:
            text = text[: limit - 1] + "…"
        if client == CLAUDE:  # markup is escaped, so it takes more room
            text = text.replace("<", "&lt;").replace(">", "&gt;")
        elif client == CODEX and self.sort == "skill":
            # The folder of skills has a short name, such as `r0`.
            text += f" (file: r0/{self.file.rpartition('/skills/')[2]})"
        return f"- {self.name}: {text}\n"


def _listing_measures(outcomes: Sequence[Outcome]) -> Iterator[Measure]:
    entries = [each for each in map(_entry, outcomes) if each is not None]
    settings = LimitSettings(outcomes)
    skills = [each for each in entries if each.sort in ("skill", "command")]
    for client, places in SKILL_FOLDERS.items():
        # Commands of Claude Code are skills that people call, and in the same list.
        mine = [each for each in skills if each.place in places and each.sort == "skill"]
        if client == CLAUDE:
            mine = [each for each in skills if each.place in places and _is_read_by_claude(each)]
            mine = list(map(_claude_entry, mine))
        for folder, group in _group_by_folder(mine).items():
            described, listing = DESCRIPTION_LIMITS.get(client), LISTING_LIMITS.get(client)
            if client == CLAUDE:  # the only client whose limits its settings move
                described = settings.limit(folder, "skillListingMaxDescChars", described)
                listing = settings.limit(folder, "skillListingBudgetFraction", listing, share=0.01)
            # Only these two cut a description that is too long.
            cuts = described is not None and client in (CLAUDE, CODEX)
            cut = described.size if described is not None and cuts else None
            yield _listing_measure(client, folder, "skill listing", group, cut, listing)
            if described is not None:
                yield _longest_measure(
                    client,
                    folder,
                    "longest description",
                    group,
                    lambda each: len(each.description),
                    described,
                )
    for folder, group in _group_by_folder(
        [each for each in skills if each.sort == "skill"]
    ).items():
        limit = DESCRIPTION_LIMITS[AGENT_SKILLS]
        yield _longest_measure(
            AGENT_SKILLS,
            folder,
            "longest description",
            group,
            lambda each: len(each.description),
            limit,
        )
        yield _longest_measure(
            AGENT_SKILLS,
            folder,
            "longest skill",
            group,
            lambda each: _count_lines(each.text),
            SKILL_LINES_LIMIT,
        )
    for tool in sorted({each.tool for each in CONVENTIONS if each.sort == "agent"}):
        mine = [each for each in entries if each.sort == f"agent of {tool}"]
        for folder, group in _group_by_folder(mine).items():
            yield _listing_measure(tool, folder, "agent listing", group, None, None)


def _entry(outcome: Outcome) -> _Entry | None:
    """The entry of a file in the lists of its client; None if it is in none."""
    kind, document = outcome.kind.name, outcome.documents[0]
    table = next((each for each in CONVENTIONS if each.kind == kind), None)
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
    text = item.description or next(iter(str(body).strip().splitlines()), "")
    when, file = fields.get("when_to_use"), outcome.sources[0].name
    # For Claude Code, the folder names a skill.
    own = os.path.basename(os.path.dirname(file)) if sort == "skill" else item.name
    return _Entry(
        sort,
        place,
        folder,
        item.name,
        text,
        file,
        str(body),
        when=f" - {when}" if isinstance(when, str) else "",
        claude=f"{plugin}:{own}" if plugin else own,
    )


def _claude_entry(entry: _Entry) -> _Entry:
    return replace(entry, name=entry.claude, description=entry.description + entry.when)


def _is_read_by_claude(entry: _Entry) -> bool:
    """Claude Code looks for skills exactly one folder deep; the other clients at any depth."""
    return entry.sort == "command" or re.search(r"skills/[^/]+/SKILL\.md\Z", entry.file) is not None


def _is_hidden(fields: dict[str, Any]) -> bool:
    """Whether the model does not hear of a skill before people call it or touch certain files."""
    switch = fields.get("disable-model-invocation")
    return switch in (True, "true", "yes") or bool(fields.get("paths"))


def _group_by_folder(entries: Iterable[_Entry]) -> dict[str, list[_Entry]]:
    groups: dict[str, list[_Entry]] = defaultdict(list)
    for each in entries:
        groups[each.folder].append(each)
    return groups


def _listing_measure(
    client: str,
    folder: str,
    what: str,
    entries: Sequence[_Entry],
    cut: int | None,
    limit: Limit | None,
) -> Measure:
    parts = tuple(Part(each.name, each.file, len(each.line(client, cut))) for each in entries)
    used = sum(each.size for each in parts)
    return Measure(client, folder, what, used, "characters", limit, parts)


def _longest_measure(
    client: str,
    folder: str,
    what: str,
    entries: Sequence[_Entry],
    size: Callable[[_Entry], int],
    limit: Limit,
) -> Measure:
    """The largest of some entries, each of which has the limit for itself."""
    sizes = {each: size(each) for each in entries}
    parts = tuple(
        Part(each.name, each.file, length, length > limit.size) for each, length in sizes.items()
    )
    return Measure(client, folder, what, max(sizes.values()), limit.unit, limit, parts)


def _count_lines(text: str) -> int:
    return text.count("\n") + 1 if text else 0


# ----------------------------------------------------------------------------------- instructions


def _instruction_measures(outcomes: Sequence[Outcome]) -> Iterator[Measure]:
    """The instructions that each client reads at its start, by the folder it is started in."""
    settings = LimitSettings(outcomes)
    texts = [each for each in outcomes if each.kind.name == "instructions"]
    rules = [each for each in outcomes if each.kind.name in ("claude-rule", "cursor-rule")]
    names = _gemini_names(outcomes)
    starts: dict[str, Session] = {}
    for each in (*texts, *rules):
        assert each.session is not None
        folder = start_folder_of(each.session.path)
        # A folder is measured once, whatever number of files it has.
        starts.setdefault(folder, each.session)
    for folder, session in sorted(starts.items()):
        reading = _InstructionsReader(folder, session, rules, names.get(folder, ("GEMINI.md",)))
        yield from reading.measures(settings)


def _gemini_names(outcomes: Sequence[Outcome]) -> dict[str, tuple[str, ...]]:
    """The names of instructions, by folder, where the settings of Gemini CLI give others."""
    found: dict[str, tuple[str, ...]] = {}
    for each in outcomes:
        if each.kind.name == "gemini-settings" and each.session is not None:
            value = get(each.documents[0].value, ("context", "fileName"))
            names = value if isinstance(value, list) else [value]
            if value and all(isinstance(name, str) for name in names):
                found[start_folder_of(each.session.path)] = tuple(names)
    return found


class _InstructionsReader:
    """The instructions that clients read when they are started in one folder."""

    def __init__(
        self, folder: str, session: Session, rules: Sequence[Outcome], gemini: tuple[str, ...]
    ) -> None:
        self.folder, self.session, self.gemini = folder, session, gemini
        self.rules = [
            each
            for each in rules
            if each.session is not None
            and start_folder_of(each.session.path) in self._folders_from_root()
        ]

    def measures(self, settings: LimitSettings) -> Iterator[Measure]:
        shown = shown_folder(self.folder)
        claude = [
            part for folder in self._folders_from_root() for part in self._claude_parts(folder)
        ]
        if claude:
            yield _total_measure(CLAUDE, shown, "instructions", claude)
            # The limit is for each file, while the sum above has none.
            largest = [replace(each, over=each.size > CLAUDE_FILE_LIMIT.size) for each in claude]
            longest = max(each.size for each in claude)
            yield Measure(
                CLAUDE,
                shown,
                "longest instructions",
                longest,
                limit=CLAUDE_FILE_LIMIT,
                parts=tuple(largest),
            )
        codex = [
            part
            for folder in self._folders_from_root()
            for part in self._read_first(folder, "AGENTS.override.md", "AGENTS.md", data=True)
        ]
        if codex:
            limit = settings.limit(shown, "project_doc_max_bytes", CODEX_TOTAL_LIMIT)
            used = sum(each.size for each in codex)
            yield Measure(CODEX, shown, "instructions", used, "bytes", limit, tuple(codex))
        yield from self._copilot_measures(shown)
        opencode = [
            part
            for folder in self._folders_from_root()
            for part in self._read_first(folder, "AGENTS.md", "CLAUDE.md")
        ]
        gemini = [
            part
            for folder in self._folders_from_root()
            for name in self.gemini
            for part in self._read(folder, name, IMPORT_DEPTHS[GEMINI])
        ]
        agents = [
            part for folder in self._folders_from_root() for part in self._read(folder, "AGENTS.md")
        ]
        always = [
            *agents,
            *self._always_read_rules("cursor-rule", lambda header: header.get("alwaysApply")),
        ]
        for client, parts in ((OPENCODE, opencode), (GEMINI, gemini), (CURSOR, always)):
            if parts:
                yield _total_measure(client, shown, "instructions", parts)

    def _copilot_measures(self, shown: str) -> Iterator[Measure]:
        # All of them together, of the root and of the folder it is started in.
        own = ".github/copilot-instructions.md"
        folders = dict.fromkeys((self._folders_from_root()[0], self.folder))
        names = (own, "AGENTS.md", "CLAUDE.md", "GEMINI.md")
        parts = [part for each in folders for name in names for part in self._read(each, name)]
        parts += self._always_read_rules("claude-rule", lambda header: not header.get("paths"))
        if parts:
            yield _total_measure(COPILOT, shown, "instructions", parts)
        review = self._read(self.folder, own)
        if review:
            over = tuple(replace(each, over=each.size > REVIEW_LIMIT.size) for each in review)
            yield Measure(
                COPILOT,
                shown,
                "instructions in reviews",
                over[0].size,
                limit=REVIEW_LIMIT,
                parts=over,
            )

    def _claude_parts(self, folder: str) -> list[Part]:
        depth = IMPORT_DEPTHS[CLAUDE]
        own = [
            *self._read(folder, "CLAUDE.md", depth),
            *self._read(folder, ".claude/CLAUDE.md", depth),
        ]
        # AGENTS.md counts only where there is neither.
        parts = own or self._read(folder, "AGENTS.md", depth)
        parts += self._read(folder, "CLAUDE.local.md", depth)
        if folder == self.folder:
            parts += self._always_read_rules("claude-rule", lambda header: not header.get("paths"))
        return parts

    def _folders_from_root(self) -> list[str]:
        """The folders from the root of the project to this one."""
        folders = [self.folder]
        # By length: the root is this folder, or above it.
        while len(folders[0]) > len(self.session.root):
            folders.insert(0, os.path.dirname(folders[0]))
        return folders

    def _read_first(self, folder: str, *names: str, data: bool = False) -> list[Part]:
        found = (self._read(folder, name, data=data) for name in names)
        return next((parts for parts in found if parts), [])

    def _read(self, folder: str, name: str, depth: int = 0, *, data: bool = False) -> list[Part]:
        """A file and what it imports, each once; nothing where it is missing or outside."""
        path = os.path.join(folder, *name.split("/"))
        files = self.session.files
        if not files.exists(path) or not files.is_within(path, self.session.root):
            return []
        parts = []
        for each in (path, *transitive_imports(path, self.session, depth)):
            content = files.peek(each)
            if content is not None:
                text = HTML_COMMENT.sub("", content.decode("utf-8", "replace"))
                size = len(content) if data else len(text)
                parts.append(Part(os.path.basename(each), display_name(each), size))
        return parts

    def _always_read_rules(self, kind: str, wanted: Callable[[dict[str, Any]], Any]) -> list[Part]:
        """The rules that are part of every conversation."""
        parts = []
        for each in self.rules:
            document = each.documents[0]
            header = document.value if isinstance(document.value, dict) else {}
            if each.kind.name == kind and wanted(header):
                name = each.sources[0].name
                parts.append(Part(os.path.basename(name), name, len(str(body_of(document).value))))
        return parts


def _total_measure(client: str, folder: str, what: str, parts: Sequence[Part]) -> Measure:
    return Measure(client, folder, what, sum(each.size for each in parts), parts=tuple(parts))


def _body_measures(outcomes: Sequence[Outcome]) -> Iterator[Measure]:
    """The files whose text a client limits."""
    groups: dict[tuple[str, str], list[Part]] = defaultdict(list)
    for outcome in outcomes:
        table = CONVENTIONS_WITH_BODY_LIMIT.get(outcome.kind.name)
        if table is not None and table.longest_body is not None:
            body = str(body_of(outcome.documents[0]).value)
            name, (_, folder, _) = outcome.sources[0].name, place_of(outcome.session)
            part = Part(os.path.basename(name), name, len(body), len(body) > table.longest_body)
            groups[table.kind, folder].append(part)
    for (kind, folder), parts in groups.items():
        table, longest = CONVENTIONS_WITH_BODY_LIMIT[kind], max(each.size for each in parts)
        assert table.longest_body is not None
        limit = Limit(table.longest_body, "the text is refused or cut", "documented", table.tool)
        yield Measure(
            table.tool, folder, f"longest {table.sort}", longest, limit=limit, parts=tuple(parts)
        )


class Limit(msgspec.Struct, frozen=True):
    """How much of something a client takes, and what it does with more."""

    size: int
    beyond: str
    basis: Basis
    source: str  #: the client and version that were run, or the file that sets the limit
    unit: Unit = "characters"


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


# The clients. Where a value is not measured, nothing here is stricter than its documentation.

CLAUDE, CODEX = "Claude Code", "Codex"
COPILOT, GEMINI, OPENCODE, CURSOR = "GitHub Copilot", "Gemini CLI", "OpenCode", "Cursor"
#: The open specification, for skills that any client may read.
AGENT_SKILLS = "Agent Skills"

#: The folders whose skills each client reads; `plugin` is a plugin of Claude Code.
SKILL_FOLDERS: dict[str, tuple[str, ...]] = {
    CLAUDE: (".claude", "plugin"),
    CODEX: (".agents", ".codex"),
    GEMINI: (".agents", ".gemini"),
    COPILOT: (".github", ".agents", ".claude"),
    OPENCODE: (".opencode", ".claude", ".agents"),
    CURSOR: (".cursor", ".agents", ".claude"),
}
#: One hundredth of a context of 200,000 tokens. Larger models allow more; a project does not know
#: who opens it, so the smallest counts.
LISTING_LIMITS: dict[str, Limit] = {
    CLAUDE: Limit(
        8_000, "descriptions at the end of the list are left out", "measured", "Claude Code 2.1.325"
    ),
    CODEX: Limit(8_000, "descriptions are shortened", "documented", CODEX),
}
DESCRIPTION_LIMITS: dict[str, Limit] = {
    CLAUDE: Limit(1_536, "the description is cut", "measured", "Claude Code 2.1.325"),
    CODEX: Limit(1_024, "the description is cut", "measured", "Codex 0.166.0"),
    COPILOT: Limit(1_024, "the skill is dropped", "measured", "Copilot CLI 1.0.102"),
    AGENT_SKILLS: Limit(
        1_024, "the skill is not valid", "documented", "Agent Skills specification"
    ),
}
SKILL_LINES_LIMIT = Limit(
    500, "split it into files that it links", "recommended", "Agent Skills specification", "lines"
)
CLAUDE_FILE_LIMIT = Limit(
    40_000, "Claude Code warns that the file is too large", "documented", CLAUDE
)
CODEX_TOTAL_LIMIT = Limit(32 * 1024, "the rest is not read", "documented", CODEX, "bytes")
REVIEW_LIMIT = Limit(4_000, "reviews on GitHub do not read the rest", "documented", COPILOT)
CONVENTIONS_WITH_BODY_LIMIT = {
    each.kind: each for each in CONVENTIONS if each.longest_body is not None
}
#: How many files deep each client follows `@file` in instructions.
IMPORT_DEPTHS = {CLAUDE: 4, GEMINI: 5}
#: Claude Code removes these before the text reaches the model.
HTML_COMMENT = lazy_regex(r"^<!--.*?-->[ \t]*\n?", re.MULTILINE | re.DOTALL)
