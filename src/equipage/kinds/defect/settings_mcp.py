"""MCP servers as the settings know them, and the `.mcp.json` beside them.

In TOML a server names its transport, and is used only when `enabled_servers` lists it. In `.mcp.json` the
transport follows from the keys, and being there is being enabled. A server that both define is TOML's.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, Literal

from equipage.core.diagnostics import Also, Fact, Shown, fact
from equipage.core.frozen import EMPTY
from equipage.core.path import Path
from equipage.core.text import Guesses
from equipage.kinds.defect.hooks import Table
from equipage.loading.tree import HOLE, Origins, Tree, Via, get, graft, merge, move, remove_all

Transport = Literal["stdio", "http", "sse"]
SERVERS: Path = ("mcp", "servers")
ENABLED: Path = ("mcp", "enabled_servers")


class McpServer(Table, frozen=True):
    """How to reach a server. A layer may say a part of it; all layers together must say enough."""

    transport: Transport | None = None
    command: str | None = None
    args: tuple[str, ...] = ()
    env: dict[str, str] = EMPTY
    url: str | None = None
    headers: dict[str, str] = EMPTY


class Mcp(Table, frozen=True):
    """The servers there are, and those that are used, in order."""

    enabled_servers: tuple[str, ...] = ()
    servers: dict[str, McpServer] = EMPTY


class JsonServer(Table, frozen=True):
    """A server in `.mcp.json`."""

    TITLE: ClassVar[str] = "an MCP server"

    type: str | None = None
    command: str | None = None
    url: str | None = None
    args: tuple[str, ...] = ()
    env: dict[str, str] = EMPTY
    headers: dict[str, str] = EMPTY


class McpJson(Table, frozen=True):
    """A whole `.mcp.json`."""

    TITLE: ClassVar[str] = "a list of MCP servers"

    mcpServers: dict[str, JsonServer]  # noqa: N815 - the file's own spelling


_KEYS = {"stdio": ("command", "args", "env"), "http": ("url", "headers"), "sse": ("url", "headers")}
_MAIN = {"stdio": "command", "http": "url", "sse": "url"}
_TRANSPORTS = tuple(_KEYS)


def from_json(tree: Tree) -> tuple[Tree, list[Fact]]:
    """A checked `.mcp.json` as a layer of settings: `mcp.servers`, each with its transport."""
    facts: list[Fact] = []
    servers = get(tree.value, ("mcpServers",))
    if not isinstance(servers, dict):
        return Tree({"mcp": {"servers": {}}}, tree.origins), facts
    paths: list[Path] = [("mcpServers", name) for name in servers]
    parts = {path: _with_transport(tree, path, facts) for path in paths}
    return move(graft(tree, parts), ("mcpServers",), SERVERS), facts


def _with_transport(tree: Tree, path: Path, facts: list[Fact]) -> Tree:
    """The server at a path with its transport, as a tree of its own."""
    part = tree.at(path)
    server = {} if get(tree.value, path) is None else get(tree.value, path)
    if not isinstance(server, dict):
        return part
    server = {key: value for key, value in server.items() if value is not None}
    transport = _transport(server)
    if not isinstance(transport, str):
        code, key = transport
        values: dict[str, object] = {
            "name": Shown(path[-1]),
            "transports": _TRANSPORTS,
            "found": Shown(server.get("type")),
        }
        facts.append(
            Fact(
                code, values=values, part="value" if key else "key", origin=_origin(tree, path, key)
            )
        )
        return Tree(HOLE, part.origins)
    broken = False
    for misfit in _misfits(tree, path, server, transport):
        facts.append(misfit)
        broken = broken or misfit.code != "mcp-key-ignored"
    if broken:
        return Tree(HOLE, part.origins)
    part = remove_all(
        part, [(key,) for key in part.value if key not in _KEYS[transport] or key not in server]
    )
    return graft(part, {("transport",): Tree(transport, Origins(tree.story(path).origin))})


def _origin(tree: Tree, path: Path, key: str | None) -> Any:
    return tree.story((*path, key) if key else path).origin


def _transport(server: dict[str, Any]) -> str | tuple[str, str | None]:
    """The transport of a server, or what keeps it from having one, and at which key."""
    written = server.get("type")
    if isinstance(written, str):
        lower = written.lower()
        return lower if lower in _KEYS else ("mcp-unknown-transport", "type")
    if "command" in server:
        return "stdio"
    return "http" if "url" in server else ("mcp-needs-command-or-url", None)


def _misfits(tree: Tree, path: Path, server: dict[str, Any], transport: str) -> Iterator[Fact]:
    """Keys that do not belong to the transport, and the one it cannot do without."""
    name, main = Shown(path[-1]), _MAIN[transport]
    if main not in server:
        values: dict[str, object] = {"name": name, "transport": transport, "key": main}
        yield Fact(
            "mcp-main-key-missing", values=values, part="key", origin=_origin(tree, path, None)
        )
    for key in server:
        if key == "type" or key in _KEYS[transport] or (key == "headers" and not server[key]):
            continue
        # A remote server's `args` and `env` have always been passed over; they do no harm, but nothing else either.
        code = "mcp-key-ignored" if key in ("args", "env") else "mcp-key-not-allowed"
        values = {"name": name, "transport": transport, "key": key}
        yield Fact(code, values=values, part="key", origin=_origin(tree, path, key))


def join(tree: Tree, servers: Tree) -> tuple[Tree, list[str], list[Fact]]:
    """The settings with the servers of `.mcp.json` that TOML does not define, each enabled by being there; their
    names; and the servers that both define."""
    facts: list[Fact] = []
    known, enabled = get(tree.value, SERVERS, {}), get(tree.value, ENABLED, [])
    if not isinstance(known, dict) or not isinstance(enabled, list):
        return tree, [], facts  # a hole: nobody knows what TOML would have said
    listed = {each for each in enabled if isinstance(each, str)}
    shadowed = [name for name in sorted(get(servers.value, SERVERS, {})) if name in known]
    for name in shadowed:
        also = (Also("defined here", part="key", origin=tree.story((*SERVERS, name)).origin),)
        facts.append(_shadowed(servers, name, also, enabled=name in listed))
    servers = remove_all(servers, [(*SERVERS, name) for name in shadowed])
    new = sorted(get(servers.value, SERVERS, {}))
    tree = merge(tree, servers)
    if new:
        names = Tree({"mcp": {"enabled_servers": new}}, servers.origins)
        via = (Via("enabled by being there"),)
        entries = (
            (number, name, names.story((*SERVERS, name)).origin) for number, name in enumerate(new)
        )
        names = graft(
            names,
            {(*ENABLED, number): Tree(name, Origins(at, via)) for number, name, at in entries},
        )
        tree = merge(
            tree, names, lambda path, _base, _over: "append" if path == ENABLED else "merge"
        )
    return tree, new, facts


def _shadowed(servers: Tree, name: str, also: tuple[Also, ...], *, enabled: bool) -> Fact:
    return Fact(
        "mcp-server-shadowed",
        values={
            "name": Shown(name),
            "state": None if enabled else "it is not listed there either, so it is not used",
        },
        part="key",
        origin=servers.story((*SERVERS, name)).origin,
        also=also,
    )


def servers_are_complete(config: Any, _session: object) -> Iterator[Fact]:
    """Every server has a transport, the key it cannot do without, and none of another transport."""
    servers = get(config, SERVERS)
    for name, server in servers.items() if isinstance(servers, dict) else ():
        if not isinstance(server, dict):
            continue
        path = (*SERVERS, name)
        transport = server.get("transport")
        if transport is None:
            yield fact("mcp-server-incomplete", path, part="key", name=Shown(name), key="transport")
        if transport not in _KEYS:
            continue
        if _MAIN[transport] not in server:
            yield fact(
                "mcp-server-incomplete", path, part="key", name=Shown(name), key=_MAIN[transport]
            )
        for key in server:
            if key != "transport" and key not in _KEYS[transport]:
                values = {"name": Shown(name), "key": Shown(key), "transport": transport}
                yield fact("mcp-key-misplaced", (*path, key), part="key", **values)


def enabled_servers_exist(tree: Tree, json_names: frozenset[str]) -> Iterator[Fact]:
    """Every server that TOML enables is defined in TOML."""
    known = get(tree.value, SERVERS, {})
    enabled = get(tree.value, ENABLED, [])
    guesses = Guesses()
    for number, name in enumerate(enabled if isinstance(enabled, list) else ()):
        if isinstance(name, str) and isinstance(known, dict) and name not in known:
            origin = tree.story((*ENABLED, number)).origin
            if name in json_names:
                yield Fact("mcp-json-server-listed", values={"name": Shown(name)}, origin=origin)
            else:
                values: dict[str, object] = {
                    "name": Shown(name),
                    "nearest": guesses.nearest(name, known),
                }
                yield Fact("mcp-server-undefined", values=values, origin=origin)
