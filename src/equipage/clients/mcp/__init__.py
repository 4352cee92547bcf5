"""MCP servers: how each tool writes them down, as `dialects.toml` says.

`servers` reads files by these tables, `formats.defect.mcp` the `.mcp.json` of a `.defect` project.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Literal

import msgspec

from equipage.clients.catalogue import Field, table_file
from equipage.files.walking import PlaceIndex
from equipage.syntax.document import Syntax

#: What most tools call the ways to talk to a server.
_TYPES = {
    "stdio": "stdio",
    "http": "http",
    "sse": "sse",
    "streamable-http": "http",
    "streamableHttp": "http",
    "streamable_http": "http",
}


class Dialect(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How a tool writes down its servers: where in a file, and what each may say."""

    tool: str
    #: the files it is in, as globs over the end of a path; none for those of plugins
    paths: tuple[str, ...] = ()
    top: str = "mcpServers"  #: the key that holds the servers
    #: whether the file holds other settings, too, and has a kind of its own; `mcp` then reads the
    #: servers alone, for those who ask for it
    is_part: bool = False
    unwrapped: bool = False  #: whether the servers may also be at the root, without `top`
    comments: bool = False  #: whether comments and trailing commas are allowed
    format: Syntax = "json"
    fields: tuple[Field, ...] = ()
    #: the `type` that authors write → the transport
    types: dict[str, str] = msgspec.field(default_factory=lambda: _TYPES)
    #: the transport of a server without a `type`, by a key that it has
    inferred: tuple[tuple[str, str], ...] = (("command", "stdio"), ("url", "http"))
    #: which servers need a `type`
    needs_type: Literal["none", "remote", "all"] = "none"
    renamed: dict[str, str] = {}  #: the tool's key → ours
    #: whether the tool was run: then what it drops or refuses is an error, not a warning
    measured: bool = False
    #: the keys whose value the tool refuses if it does not fit, and the server with it
    refuses: Literal["none", "main", "all"] = "none"


def _read_dialects() -> Iterator[tuple[str, Dialect]]:
    file = table_file("mcp/dialects")
    for name, row in file.content["dialects"].items():
        with file.locate(f"dialects.{name}"):
            fields = tuple(file.fields(row["fields"], f"dialects.{name}.fields"))
            yield name, msgspec.convert({**row, "fields": fields}, Dialect)


_DIALECTS = dict(_read_dialects())
CLAUDE, CLAUDE_PLUGIN = _DIALECTS["claude"], _DIALECTS["claude-plugin"]
CODEX, CODEX_PLUGIN = _DIALECTS["codex"], _DIALECTS["codex-plugin"]
COPILOT, CURSOR, GEMINI = _DIALECTS["copilot"], _DIALECTS["cursor"], _DIALECTS["gemini"]
OPENCODE, VSCODE = _DIALECTS["opencode"], _DIALECTS["vscode"]
#: The first whose paths match counts.
DIALECTS = tuple(each for each in _DIALECTS.values() if each.paths)


def dialect_of(path: str) -> Dialect:
    """The dialect of a file by its path, by default that of `.mcp.json`."""
    found = _places().find(f"/{path}")  # a path from the project on has no step before it
    return CLAUDE if found is None else next(each for each in DIALECTS if each.tool == found[0])


@cache
def _places() -> PlaceIndex:
    return PlaceIndex((each.tool, each.paths) for each in DIALECTS)


#: Every file that lists MCP servers and nothing else.
PATHS: tuple[str, ...] = tuple(path for each in DIALECTS if not each.is_part for path in each.paths)
