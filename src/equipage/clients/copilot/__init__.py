"""Names of tools in agents and prompts of GitHub Copilot.

The same file is read on GitHub and in VS Code, and names changed from version to version: `edit`,
`Edit`, `editFiles` and `edit/editFiles` mean one tool. Here each becomes the name that GitHub
documents. A tool of a set that is less than the set is a part of it: `edit/createFile` becomes
`edit(createFile)`.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import chain
from typing import Any

import msgspec

from equipage.clients.catalogue import client_of
from equipage.clients.grant_rows import Row, read_names
from equipage.clients.grants import EVERYTHING, Grant
from equipage.core.path import Path

#: Names that give a part of a set, in the spelling of before there were sets.
_PARTS: dict[str, tuple[str, ...]] = {
    "read": (
        *("problems", "getNotebookSummary", "readCellOutput", "terminalLastCommand"),
        *("terminalSelection", "getTaskOutput", "getTerminalOutput", "testFailure"),
    ),
    "search": ("changes", "findTestFiles", "listDirectory", "searchResults", "usages"),
    "edit": ("createDirectory", "createFile", "createJupyterNotebook", "editNotebook", "new"),
    "execute": (
        *("runNotebookCell", "runNotebooks", "runTests"),
        # Of the set `vscode`, but commands and extensions of the editor are code that runs.
        *("installExtension", "newWorkspace", "runCommand"),
    ),
    "web": ("githubRepo", "openSimpleBrowser"),
    "vscode": ("extensions", "vscodeAPI"),
}
_PART = {name.lower(): f"{tool}({name})" for tool, names in _PARTS.items() for name in names}


@cache
def _sets() -> dict[str, str]:
    """The sets of tools of the client itself, by all names that give as much as the whole set."""
    client = client_of("GitHub Copilot")
    own = chain(client.other_tools, *client.tools_by_activity.values())
    return {**{each: each for each in own}, **client.aliases}


def read_tools(row: Row, value: Any, path: Path) -> Iterator[Grant]:
    """The tools in a list, by the names that GitHub documents. Letters may be of either case."""
    for each in read_names(row, value, path):
        yield msgspec.structs.replace(each, name=_name_of(each.name))


def _name_of(written: str) -> str:
    sets = _sets()
    group, slash, inner = written.rpartition("/")
    is_own = group.lower() in sets
    if slash and not is_own:
        return written  # a tool of a server or an extension
    name = sets.get(group.lower(), "") if inner == EVERYTHING else ""
    name = name or sets.get(inner.lower()) or _PART.get(inner.lower(), "")
    return name or (f"{sets[group.lower()]}({inner})" if slash else written)
