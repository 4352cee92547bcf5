"""Servers as a program wants them, whoever wrote them down."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import msgspec

Transport = Literal["stdio", "http", "sse", "ws"]


class McpServer(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """How to reach one server. `settings` holds what only the tool itself understands."""

    transport: Transport
    command: str | None = None
    args: tuple[str, ...] = ()
    env: dict[str, Any] = msgspec.field(default_factory=dict)
    cwd: str | None = None
    url: str | None = None
    headers: dict[str, Any] = msgspec.field(default_factory=dict)
    enabled: bool = True
    settings: dict[str, Any] = msgspec.field(default_factory=dict)


class McpServers(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The servers of one file, by name."""

    TITLE: ClassVar[str] = "a list of MCP servers"

    servers: dict[str, McpServer] = msgspec.field(default_factory=dict)
