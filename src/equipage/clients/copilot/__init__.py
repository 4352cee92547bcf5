"""Names of tools in agents and prompts of GitHub Copilot.

The same file is read on GitHub and in VS Code, and names changed from version to version: `edit`,
`Edit`, `editFiles` and `edit/editFiles` mean one tool. Here each becomes the name that GitHub
documents. A tool of a set that is less than the set is a part of it: `edit/createFile` becomes
`edit(createFile)`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from equipage.clients.grant_rows import Row, read_names
from equipage.clients.grants import EVERYTHING, Grant
from equipage.core.path import Path

#: The sets of tools of the client itself, and the names that give as much as the whole set.
TOOLS: dict[str, tuple[str, ...]] = {
    "read": ("notebookread", "readfile", "view"),
    "search": ("grep", "glob", "codebase", "textsearch", "filesearch"),
    "edit": ("multiedit", "write", "notebookedit", "editfiles", "create"),
    "execute": (
        *("shell", "bash", "powershell", "runcommands", "runinterminal", "terminalcommand"),
        *("runtasks", "runtask", "createandruntask"),
    ),
    "web": ("webfetch", "websearch", "fetch"),
    "agent": ("custom-agent", "task", "runsubagent"),
    "todo": ("todos", "todowrite"),
    "vscode": (),
    "browser": (),
}
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
_WHOLE = {name: tool for tool, names in TOOLS.items() for name in (tool, *names)}
_PART = {name.lower(): f"{tool}({name})" for tool, names in _PARTS.items() for name in names}


def read_tools(row: Row, value: Any, path: Path) -> Iterator[Grant]:
    """The tools in a list, by the names that GitHub documents. Letters may be of either case."""
    for each in read_names(row, value, path):
        yield msgspec.structs.replace(each, name=_name_of(each.name))


def _name_of(written: str) -> str:
    group, slash, inner = written.rpartition("/")
    is_own = group.lower() in _WHOLE
    if slash and not is_own:
        return written  # a tool of a server or an extension
    name = _WHOLE.get(group.lower(), "") if inner == EVERYTHING else ""
    name = name or _WHOLE.get(inner.lower()) or _PART.get(inner.lower(), "")
    return name or (f"{_WHOLE[group.lower()]}({inner})" if slash else written)
