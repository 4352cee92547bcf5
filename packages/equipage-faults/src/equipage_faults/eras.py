"""The two revisions of the protocol: with a handshake (2025-11-25 and before), and without."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from equipage.formats.server.model import ServerInfo

#: `25` opens a connection with `initialize`; in `26` every request carries its own metadata.
Era = Literal["25", "26"]

LEGACY = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
MODERN = "2026-07-28"

_META = "io.modelcontextprotocol/"
VERSION_KEY = f"{_META}protocolVersion"
CLIENT_KEY = f"{_META}clientInfo"
CAPABILITIES_KEY = f"{_META}clientCapabilities"
SERVER_KEY = f"{_META}serverInfo"
SUBSCRIPTION_KEY = f"{_META}subscriptionId"

HEADER_MISMATCH, VERSION_REFUSED = -32020, -32022

#: Methods of the older revision that the newer one no longer has.
REMOVED_METHODS = frozenset(
    {"ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe"}
)
#: Results that a client may keep; ours forbid it, so that it sees every phase.
_CACHEABLE = frozenset(
    {
        "server/discover",
        "tools/list",
        "resources/list",
        "resources/templates/list",
        "prompts/list",
        "resources/read",
    }
)

BANNER = "test server, injects faults"


def meta_of(params: Mapping[str, Any]) -> Mapping[str, Any]:
    meta = params.get("_meta")
    return meta if isinstance(meta, dict) else {}


def missing_meta(meta: Mapping[str, Any]) -> str | None:
    """The first member that every request of the newer revision must have, and this one lacks."""
    return next((key for key in (VERSION_KEY, CAPABILITIES_KEY) if key not in meta), None)


def supported_versions(allowed: str) -> list[str]:
    """The revisions that a server with this `--era` tells clients of the newer one."""
    return [MODERN] if allowed == "26" else [MODERN, *reversed(LEGACY)]


def server_info(server: ServerInfo) -> dict[str, Any]:
    """Who the server says it is: the author's words, and what it is for."""
    return {
        "name": server.name,
        "version": server.version,
        "title": BANNER,
        "description": "Misbehaves on purpose, to test clients; run by equipage.",
    }


def handshake(requested: object, server: ServerInfo, capabilities: Any) -> dict[str, Any]:
    """The result of `initialize`: the client's revision if it is known, else the newest."""
    version = requested if requested in LEGACY else LEGACY[-1]
    return {
        "protocolVersion": version,
        "capabilities": capabilities,
        "serverInfo": server_info(server),
    }


def complete_result(result: Any, method: str, server: ServerInfo) -> Any:
    """A result with what the newer revision adds to it."""
    if not isinstance(result, dict):
        return result
    caching = {"ttlMs": 0, "cacheScope": "private"} if method in _CACHEABLE else {}
    meta = {SERVER_KEY: server_info(server)}
    return {"resultType": "complete", **result, **caching, "_meta": meta}
