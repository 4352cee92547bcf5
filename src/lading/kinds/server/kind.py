"""The kind `server` as a value."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import msgspec

from lading.codes import Code
from lading.diagnostics import Fact, Shown, fact
from lading.directives import include as including
from lading.files import PathPolicy
from lading.kinds.kind import Kind
from lading.model import Shape
from lading.schema_export import accept
from lading.session import Session
from lading.tree import Tree


class Server(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    name: str
    version: str | None = None


class ToolDefinition(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    name: str
    description: str
    inputSchema: Any  # noqa: N815


class Tool(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    tool: ToolDefinition
    response: Any


class ServerConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    server: Server
    tools: tuple[Tool, ...] = ()


class ServerOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    library: str | None = None


def _include(tree: Tree, session: Session) -> tuple[Tree, list[Fact]]:
    library = session.options.library or session.env.get("THOUGHTJACK_LIBRARY") or "library"
    settings = including.IncludeSettings(
        library=os.path.join(session.files.cwd, library),
        policy=PathPolicy(absolute="outside", parents="refuse"),
        max_depth=10,
        depth_variable="THOUGHTJACK_MAX_INCLUDE_DEPTH",
    )
    return including.include(tree, session, settings)


def tool_names_are_unique(config: Any, _session: Session) -> Iterator[Fact]:
    seen: set[str] = set()
    tools = config.get("tools") if isinstance(config, dict) else None
    for number, tool in enumerate(tools if isinstance(tools, list) else ()):
        name = (
            tool.get("tool", {}).get("name") if isinstance(tool, dict) and isinstance(tool.get("tool"), dict) else None
        )
        if isinstance(name, str) and name in seen:
            yield fact("duplicate-tool", ("tools", number, "tool", "name"), name=Shown(name))
        if isinstance(name, str):
            seen.add(name)


def _schema(schema: dict[str, Any]) -> dict[str, Any]:
    return accept(schema, "include", including.SCHEMA)


KIND = Kind(
    name="server",
    title="MCP server configuration",
    model=ServerConfig,
    options=ServerOptions,
    uses_environment=True,
    shape=Shape(unknown="warning", null_is_absent=True, exempt=("$",)),
    stages=(_include,),
    rules=(tool_names_are_unique,),
    schema=_schema,
    codes=(*including.CODES, Code("duplicate-tool", "warning", "tool name `{name}` is used twice", "Later shadows.")),
)
