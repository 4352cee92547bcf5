"""Something that has a reach: the rows of a table, and where in a file they hold."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from equipage.clients.rows import Row, allows, hooks, servers
from equipage.clients.values import Grant, Precedence
from equipage.core.path import Path

#: A command in a text of Claude Code or OpenCode.
BANG_COMMAND = r"!`([^`\n]+)`"


class Subject(msgspec.Struct, frozen=True):
    """Something in a file that has a reach: the file itself, or each of the agents in it."""

    rows: tuple[Row, ...]
    at: tuple[str, ...] = ()  #: the keys that lead to it; `*` is every key or entry
    sort: str = ""  #: what it is; empty: what `list` calls the file
    names: tuple[str, ...] = ("name", "id", "slug")  #: the fields that name an entry of a list
    precedence: Precedence = "strictest"


def whole_file(
    *rows: Row, sort: str = "", precedence: Precedence = "strictest"
) -> tuple[Subject, ...]:
    """The subjects of a file that is one subject as a whole."""
    return (Subject(rows, sort=sort, precedence=precedence),)


# Rows for a field that has one meaning as a text, and another as a table.


def file_names(field: str, sort: str = "program") -> Row:
    """Paths of files; a table in place of a path is the content of such a file."""

    def read(row: Row, value: Any, path: Path) -> Iterator[Grant]:
        for each in value if isinstance(value, list) else [value]:
            if isinstance(each, str):
                yield Grant(row.sort, each, "allows", path=path)

    return Row(tuple(field.split("/")), sort, read)


def disabled_when_false(field: str) -> Row:
    """A field that is `false` to disable a feature."""

    def read(_row: Row, value: Any, path: Path) -> Iterator[Grant]:
        if value is False:
            yield Grant("guard", f"{field} = false", "denies", path=path)

    return Row(tuple(field.split("/")), "guard", read, "denies")


#: What a plugin brings, for every client with plugins.
PLUGIN_ROWS = (
    servers("mcpServers"),
    hooks("hooks"),
    servers("lspServers"),
    allows("agents", "agent"),
    allows("commands", "agent"),
    allows("skills", "skill"),
)
