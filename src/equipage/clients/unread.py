"""Files of agent tools that equipage knows by their place or by what they hold, and does not read.

`unread.toml` has them all; here are the sorts that something is known of.
"""

from __future__ import annotations

from functools import cache

from equipage.clients.index import UNREAD
from equipage.files.walking import PlaceIndex

#: Of these, a lock and a comparison know what plain ones mean, see `clients.codex.permissions`.
CODEX_RULE = "Codex rule"
#: Such a file runs by its name, so it must have the mark of a program.
HOOK_FILE = "Cline hook"
#: Files that may say something about agents among much else: no check names them, but a change of
#: them counts.
GEMINI_VARIABLES, CONTAINER = "variables of Gemini CLI", "container of an editor"
WORKSPACE, EDITOR = "workspace of an editor", "settings of an editor"
#: What an editor runs when a folder is opened: without it, less runs.
TASKS = "tasks that an editor starts"
#: What it leads to on another machine is not known.
LINK_TO_NOTHING = "link to nothing"
#: What is in it is in another repository.
SUBMODULE = "submodule"
QUIET = frozenset({GEMINI_VARIABLES, CONTAINER, WORKSPACE, EDITOR, TASKS})


@cache
def unread_places() -> PlaceIndex:
    return PlaceIndex(UNREAD)


def unread_sort(path: str) -> str | None:
    """What a file is, by its absolute path with `/`, if it belongs to a tool and is not read."""
    place = unread_places().find(path)
    return None if place is None else place[0]
