"""What clients put into every conversation: lists of skills, instructions, and how much of them.

Limits were measured where a client could be run, else they are as its vendor documents them. Where
a value is not measured, nothing here is stricter than its documentation.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any, Literal

import msgspec
from msgspec.structs import replace

from equipage.clients.catalogue import Names
from equipage.clients.instructions import MAX_CLAUDE_CHARACTERS, MAX_CODEX_BYTES, MAX_IMPORT_DEPTH
from equipage.core.path import Path
from equipage.core.text import lazy_regex
from equipage.files import System
from equipage.loading.pipeline import Outcome
from equipage.loading.session import Session

#: In each folder, of each row the files of its first alternative that has any.
InstructionFiles = tuple[tuple[Names, ...], ...]
Unit = Literal["characters", "bytes", "lines"]
Basis = Literal["measured", "documented", "recommended", "settings"]


class Limit(msgspec.Struct, frozen=True):
    """How much of something a client takes, and what it does with more."""

    size: int
    beyond: str
    basis: Basis
    source: str  #: the client and version that were run, or the file that sets the limit
    unit: Unit = "characters"


class Entry(msgspec.Struct, frozen=True):
    """A skill, command or agent as lists of them show it."""

    sort: str
    place: str  #: the folder of a client that it is in; `plugin`, or nothing
    folder: str  #: the folder around that
    plugin: str  #: the name of the plugin that it is in
    name: str
    description: str
    file: str
    text: str = ""  #: what a client reads when it uses a skill
    when: str = ""  #: when to use it, as far as the description does not say so


def _list_skill(entry: Entry) -> Entry | None:
    return entry if entry.sort == "skill" else None


def _write_text(_entry: Entry, text: str) -> str:
    return text


class ClientContext(msgspec.Struct, frozen=True):
    """What one client puts into every conversation: a list of skills, and instructions."""

    client: str
    skill_folders: Names  #: `plugin` is a plugin of Claude Code
    instructions: InstructionFiles
    # The list has a line for each skill.
    listing_limit: Limit | None = None
    description_limit: Limit | None = None
    cuts_descriptions: bool = False  #: whether it shortens those over the limit
    select: Callable[[Entry], Entry | None] = _list_skill  #: an entry as it is listed, or None
    write: Callable[[Entry, str], str] = _write_text  #: a description as lists have it
    # Instructions are read at the start, from the root of the project down.
    names_setting: tuple[str, Path] = ("", ())  #: the kind and place of a setting with others
    only_ends: bool = False  #: reads nothing between the root and the folder it is started in
    import_depth: int = 0  #: how many files deep it follows `@file`
    rules: str = ""  #: the kind of the rules that it reads, too
    instructions_limit: Limit | None = None
    file_limit: Limit | None = None  #: of each file with instructions, or of one that has its own
    limited_file: str | None = None
    limited_what: str = "longest instructions"


def _list_for_claude(entry: Entry) -> Entry | None:
    """Skills exactly one folder deep, by its name; commands are skills that people call."""
    is_skill = entry.sort == "skill"
    if is_skill and _ONE_FOLDER_DEEP.search(entry.file) is None:
        return None
    name = os.path.basename(os.path.dirname(entry.file)) if is_skill else entry.name
    name = f"{entry.plugin}:{name}" if entry.plugin else name
    return replace(entry, name=name, description=entry.description + entry.when)


def _escape_markup(_entry: Entry, text: str) -> str:
    return text.replace("<", "&lt;").replace(">", "&gt;")


def _add_file_of_skill(entry: Entry, text: str) -> str:
    # The folder of skills has a short name, such as `r0`.
    file = entry.file.rpartition("/skills/")[2]
    return f"{text} (file: r0/{file})" if entry.sort == "skill" else text


_ONE_FOLDER_DEEP = lazy_regex(r"skills/[^/]+/SKILL\.md\Z")
_PLUGIN_MANIFEST = os.path.join(".claude-plugin", "plugin.json")
#: One hundredth of a context of 200,000 tokens. Larger models allow more; a project does not know
#: who opens it, so the smallest counts.
_CLAUDE_LISTING = Limit(
    8_000, "descriptions at the end of the list are left out", "measured", "Claude Code 2.1.325"
)
_CLAUDE_DESCRIPTION = Limit(1_536, "the description is cut", "measured", "Claude Code 2.1.325")
_TOO_LARGE = "Claude Code warns that the file is too large"
_CODEX_INSTRUCTIONS = Limit(MAX_CODEX_BYTES, "the rest is not read", "documented", "Codex", "bytes")
_OF_COPILOT = ".github/copilot-instructions.md"
_NOT_REVIEWED = "reviews on GitHub do not read the rest"
CONTEXTS = (
    ClientContext(
        "Claude Code",
        (".claude", "plugin"),
        # AGENTS.md counts only where there is neither of the first two.
        ((("CLAUDE.md", ".claude/CLAUDE.md"), ("AGENTS.md",)), (("CLAUDE.local.md",),)),
        listing_limit=_CLAUDE_LISTING,
        description_limit=_CLAUDE_DESCRIPTION,
        cuts_descriptions=True,
        select=_list_for_claude,
        write=_escape_markup,
        import_depth=MAX_IMPORT_DEPTH,
        rules="claude-rule",
        file_limit=Limit(MAX_CLAUDE_CHARACTERS, _TOO_LARGE, "documented", "Claude Code"),
    ),
    ClientContext(
        "Codex",
        (".agents", ".codex"),
        ((("AGENTS.override.md",), ("AGENTS.md",)),),
        listing_limit=Limit(8_000, "descriptions are shortened", "documented", "Codex"),
        description_limit=Limit(1_024, "the description is cut", "measured", "Codex 0.166.0"),
        cuts_descriptions=True,
        write=_add_file_of_skill,
        instructions_limit=_CODEX_INSTRUCTIONS,
    ),
    ClientContext(
        "GitHub Copilot",
        (".github", ".agents", ".claude"),
        (((_OF_COPILOT,),), (("AGENTS.md",),), (("CLAUDE.md",),), (("GEMINI.md",),)),
        description_limit=Limit(1_024, "the skill is dropped", "measured", "Copilot CLI 1.0.102"),
        only_ends=True,
        rules="claude-rule",
        file_limit=Limit(4_000, _NOT_REVIEWED, "documented", "GitHub Copilot"),
        limited_file=_OF_COPILOT,
        limited_what="instructions in reviews",
    ),
    ClientContext(
        "Gemini CLI",
        (".agents", ".gemini"),
        ((("GEMINI.md",),),),
        names_setting=("gemini-settings", ("context", "fileName")),
        import_depth=5,
    ),
    ClientContext(
        "OpenCode", (".opencode", ".claude", ".agents"), ((("AGENTS.md",), ("CLAUDE.md",)),)
    ),
    ClientContext(
        "Cursor", (".cursor", ".agents", ".claude"), ((("AGENTS.md",),),), rules="cursor-rule"
    ),
)
#: The open specification, for skills that any client may read.
AGENT_SKILLS = "Agent Skills"
SKILL_DESCRIPTION_LIMIT = Limit(
    1_024, "the skill is not valid", "documented", "Agent Skills specification"
)
SKILL_LINES_LIMIT = Limit(
    500, "split it into files that it links", "recommended", "Agent Skills specification", "lines"
)
#: Kind of rules → whether those with a header are part of every conversation.
ALWAYS_READ: dict[str, Callable[[dict[str, Any]], bool]] = {
    "claude-rule": lambda header: not header.get("paths"),
    "cursor-rule": lambda header: bool(header.get("alwaysApply")),
}
#: Where the settings are that move limits, and which: the setting, and the share of something that
#: the limit is where the setting is a share.
_SETTINGS = ("claude-settings", "codex-config")
_SETTING_BY_LIMIT: dict[Limit, tuple[str, float | None]] = {
    _CLAUDE_DESCRIPTION: ("skillListingMaxDescChars", None),
    _CLAUDE_LISTING: ("skillListingBudgetFraction", 0.01),
    _CODEX_INSTRUCTIONS: ("project_doc_max_bytes", None),
}


class LimitSettings:
    """What the settings of a project say about limits."""

    def __init__(self, outcomes: Sequence[Outcome]) -> None:
        self._values: dict[tuple[str, str], tuple[Any, str]] = {}
        for outcome in outcomes:
            if outcome.kind.name in _SETTINGS:
                value = outcome.documents[0].value
                _, folder, _ = place_of(outcome.session)
                # In the order of the walk, `settings.local.json` comes after `settings.json`.
                for name, each in value.items() if isinstance(value, dict) else ():
                    self._values[folder, name] = each, outcome.sources[0].name

    def limit(self, folder: str, usual: Limit | None) -> Limit | None:
        """The limit that a folder's settings ask for in place of the usual one."""
        if usual not in _SETTING_BY_LIMIT:
            return usual
        name, share = _SETTING_BY_LIMIT[usual]
        value, file = self._values.get((folder, name), (None, ""))
        if not isinstance(value, int | float) or isinstance(value, bool) or value <= 0:
            return usual
        size = value if share is None else usual.size * value / share
        return replace(usual, size=int(size), basis="settings", source=f"{file}: {name}")


#: The folder of a client in the path of a file.
_CLIENT_FOLDER = lazy_regex(r"/(\.(?:claude|agents|codex|gemini|github|opencode|cursor))/")


def place_of(session: Session) -> tuple[str, str, str]:
    """Whose folder a file is in, the folder around that, and the name of the plugin it is in."""
    system = session.files.system
    path = session.path.replace(os.sep, "/")
    places = list(_CLIENT_FOLDER.finditer(path))
    if places:
        return places[-1][1], shown_folder(path[: places[-1].start()] or "/", system), ""
    folder = os.path.dirname(path)
    while len(folder) >= len(session.root) and folder != os.path.dirname(folder):
        if session.files.exists(os.path.join(folder, _PLUGIN_MANIFEST)):
            return "plugin", shown_folder(folder, system), os.path.basename(folder)
        folder = os.path.dirname(folder)
    # A collection: `skills/NAME/SKILL.md`.
    around = path.rpartition("/skills/")[0] or os.path.dirname(path)
    return "", shown_folder(around, system), ""


def shown_folder(folder: str, system: System) -> str:
    """A folder as people are shown it."""
    return os.path.dirname(system.name_of(os.path.join(folder, "file"))) or "."


def start_folder_of(path: str) -> str:
    """The folder that a client is started in to read a file of instructions."""
    path = path.replace(os.sep, "/")
    places = list(_CLIENT_FOLDER.finditer(path))
    return path[: places[-1].start()] or "/" if places else os.path.dirname(path)
