"""What clients read into their context: their folders, limits, and the settings that move these.

The limits are those of the clients: measured where one could be run, else as its vendor documents
them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import Any, Literal

import msgspec
from msgspec.structs import replace

from equipage.clients.tables.conventions import CONVENTIONS
from equipage.core.text import lazy_regex
from equipage.files.reading import display_name
from equipage.loading.outcome import Outcome
from equipage.loading.session import Session

Unit = Literal["characters", "bytes", "lines"]
Basis = Literal["measured", "documented", "recommended", "settings"]


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
#: The folder of a client in the path of a file.
CLIENT_FOLDER = lazy_regex(r"/(\.(?:claude|agents|codex|gemini|github|opencode|cursor))/")


def place_of(session: Session | None) -> tuple[str, str, str]:
    """Whose folder a file is in, the folder around that, and the name of the plugin it is in."""
    assert session is not None
    path = session.path.replace(os.sep, "/")
    places = list(CLIENT_FOLDER.finditer(path))
    if places:
        return places[-1][1], shown_folder(path[: places[-1].start()] or "/"), ""
    folder = os.path.dirname(path)
    while len(folder) >= len(session.root) and folder != os.path.dirname(folder):
        if session.files.exists(os.path.join(folder, ".claude-plugin", "plugin.json")):
            return "plugin", shown_folder(folder), os.path.basename(folder)
        folder = os.path.dirname(folder)
    # A collection: `skills/NAME/SKILL.md`.
    around = path.rpartition("/skills/")[0] or os.path.dirname(path)
    return "", shown_folder(around), ""


def shown_folder(folder: str) -> str:
    """A folder as people are shown it."""
    return os.path.dirname(display_name(os.path.join(folder, "file"))) or "."


class LimitSettings:
    """What the settings of a project say about limits."""

    def __init__(self, outcomes: Sequence[Outcome]) -> None:
        self._values: dict[tuple[str, str], tuple[Any, str]] = {}
        for outcome in outcomes:
            if outcome.kind.name in ("claude-settings", "codex-config"):
                value = outcome.documents[0].value
                _, folder, _ = place_of(outcome.session)
                # In the order of the walk, `settings.local.json` comes after `settings.json`.
                for name, each in value.items() if isinstance(value, dict) else ():
                    self._values[folder, name] = each, outcome.sources[0].name

    def limit(
        self, folder: str, name: str, usual: Limit | None, *, share: float | None = None
    ) -> Limit | None:
        """The limit that a folder's settings ask for; `share` is what the usual one means."""
        value, file = self._values.get((folder, name), (None, ""))
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if usual is None or not is_number or value <= 0:
            return usual
        size = value if share is None else usual.size * value / share
        return replace(usual, size=int(size), basis="settings", source=f"{file}: {name}")


def start_folder_of(path: str) -> str:
    """The folder that a client is started in to read a file of instructions."""
    path = path.replace(os.sep, "/")
    places = list(CLIENT_FOLDER.finditer(path))
    return path[: places[-1].start()] or "/" if places else os.path.dirname(path)
