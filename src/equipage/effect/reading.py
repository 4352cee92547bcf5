"""What clients read into their context: their folders, limits, and the settings that move these.

The limits are those of the clients: measured where one could be run, else as its vendor documents
them.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from equipage.core.text import lazy_regex
from equipage.files import System
from equipage.loading.outcome import Outcome
from equipage.loading.session import Session

if TYPE_CHECKING:
    from equipage.effect.budget import Limit


def place_of(session: Session) -> tuple[str, str, str]:
    """Whose folder a file is in, the folder around that, and the name of the plugin it is in."""
    system = session.files.system
    path = session.path.replace(os.sep, "/")
    places = list(CLIENT_FOLDER.finditer(path))
    if places:
        return places[-1][1], shown_folder(path[: places[-1].start()] or "/", system), ""
    folder = os.path.dirname(path)
    while len(folder) >= len(session.root) and folder != os.path.dirname(folder):
        if session.files.exists(os.path.join(folder, ".claude-plugin", "plugin.json")):
            return "plugin", shown_folder(folder, system), os.path.basename(folder)
        folder = os.path.dirname(folder)
    # A collection: `skills/NAME/SKILL.md`.
    around = path.rpartition("/skills/")[0] or os.path.dirname(path)
    return "", shown_folder(around, system), ""


def shown_folder(folder: str, system: System) -> str:
    """A folder as people are shown it."""
    return os.path.dirname(system.shown(os.path.join(folder, "file"))) or "."


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


#: The folder of a client in the path of a file.
CLIENT_FOLDER = lazy_regex(r"/(\.(?:claude|agents|codex|gemini|github|opencode|cursor))/")
