"""MCP servers as the settings know them, and the `.mcp.json` beside them.

In TOML a server names its transport, and an agent uses it only if `enabled_servers` lists it. In
`.mcp.json` the transport follows from the keys, and every server is enabled. Where both define a
server, TOML wins.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, ClassVar, Literal

from equipage.core import codes as core_codes
from equipage.core.frozen import EMPTY, StrictTable
from equipage.formats.defect import codes
from equipage.loading.tree import remove_all
from equipage.plugin import (
    HOLE,
    Also,
    Fact,
    Format,
    Guesses,
    Item,
    Origin,
    Origins,
    Outcome,
    Path,
    Presentation,
    Reading,
    Session,
    Shape,
    Shown,
    Together,
    Tree,
    Via,
    get,
    graft,
    mapping_or_empty,
    merge,
    move,
)

Transport = Literal["stdio", "http", "sse"]
SERVERS_PATH: Path = ("mcp", "servers")
ENABLED_PATH: Path = ("mcp", "enabled_servers")


class McpServer(StrictTable, frozen=True):
    """How to reach a server. A layer may set some of the keys; together they must suffice."""

    transport: Transport | None = None
    """How to talk to the server."""
    command: str | None = None
    """The program to start."""
    args: tuple[str, ...] = ()
    """The arguments of the program."""
    env: dict[str, str] = EMPTY
    """Environment variables to add for the program."""
    url: str | None = None
    """The address of a server that is not a program."""
    headers: dict[str, str] = EMPTY
    """Headers of each request to that address."""


class Mcp(StrictTable, frozen=True):
    """MCP servers."""

    enabled_servers: tuple[str, ...] = ()
    """The names of the servers to use, in order."""
    servers: dict[str, McpServer] = EMPTY
    """The servers by name."""


class JsonServer(StrictTable, frozen=True):
    """A server in `.mcp.json`."""

    TITLE: ClassVar[str] = "an MCP server"

    type: str | None = None
    """How to talk to the server; the other keys may imply it."""
    command: str | None = None
    """The program to start."""
    url: str | None = None
    """The address of a server that is not a program."""
    args: tuple[str, ...] = ()
    """The arguments of the program."""
    env: dict[str, str] = EMPTY
    """Environment variables to add for the program."""
    headers: dict[str, str] = EMPTY
    """Headers of each request to that address."""


class McpJson(StrictTable, frozen=True):
    """A whole `.mcp.json`."""

    TITLE: ClassVar[str] = "a list of MCP servers"

    mcpServers: dict[str, JsonServer]  # noqa: N815
    """The servers by name."""


#: The keys of each transport, the one that it needs first.
_TRANSPORT_KEYS = {
    "stdio": ("command", "args", "env"),
    "http": ("url", "headers"),
    "sse": ("url", "headers"),
}


def from_json(tree: Tree) -> tuple[Tree, list[Fact]]:
    """A checked `.mcp.json` as a layer of settings: `mcp.servers`, each with its transport."""
    facts: list[Fact] = []
    servers = get(tree.value, ("mcpServers",))
    if not isinstance(servers, dict):
        return Tree({"mcp": {"servers": {}}}, tree.origins), facts
    paths: list[Path] = [("mcpServers", name) for name in servers]
    parts = {path: _add_transport(tree, path, facts) for path in paths}
    return move(graft(tree, parts), ("mcpServers",), SERVERS_PATH), facts


def _add_transport(tree: Tree, path: Path, facts: list[Fact]) -> Tree:
    """The server at a path with its transport; a hole if it has none, or a key is wrong."""
    part, name = tree.subtree(path), Shown(path[-1])
    server = {} if part.value is None else part.value
    if not isinstance(server, dict):
        return part
    # A null is as good as no key.
    server = {key: value for key, value in server.items() if value is not None}
    origin, written = tree.provenance(path).origin, server.get("type")
    transport = "stdio" if "command" in server else "http"
    if isinstance(written, str):
        transport = written.lower()
        if transport not in _TRANSPORT_KEYS:
            origin, found = tree.provenance((*path, "type")).origin, Shown(written)
            facts.append(
                codes.MCP_UNKNOWN_TRANSPORT.at(
                    origin=origin, name=name, transports=tuple(_TRANSPORT_KEYS), found=found
                )
            )
            return Tree(HOLE, part.origins)
    elif "command" not in server and "url" not in server:
        facts.append(codes.MCP_NEEDS_COMMAND_OR_URL.at(part="key", origin=origin, name=name))
        return Tree(HOLE, part.origins)
    misfits = list(_check_transport_keys(tree, path, server, transport))
    facts += misfits
    if any(each.code != codes.MCP_KEY_IGNORED for each in misfits):
        return Tree(HOLE, part.origins)
    kept = (key for key in _TRANSPORT_KEYS[transport] if key in server)
    part = remove_all(part, [(key,) for key in part.value.keys() - set(kept)])
    return graft(part, {("transport",): Tree(transport, Origins(origin))})


def _check_transport_keys(
    tree: Tree, path: Path, server: dict[str, Any], transport: str
) -> Iterator[Fact]:
    """Keys that do not belong to the transport, and the missing key that it needs."""
    name, allowed = Shown(path[-1]), _TRANSPORT_KEYS[transport]
    main = allowed[0]
    if main not in server:
        origin = tree.provenance(path).origin
        yield codes.MCP_MAIN_KEY_MISSING.at(
            part="key", origin=origin, name=name, transport=transport, key=main
        )
    for key in server:
        if key in ("type", *allowed) or (key == "headers" and not server[key]):
            continue
        # Programs have always ignored `args` and `env` of a remote server, which does no harm.
        ignored = key in ("args", "env")
        code = codes.MCP_KEY_IGNORED if ignored else codes.MCP_KEY_NOT_ALLOWED
        origin = tree.provenance((*path, key)).origin
        yield code.at(part="key", origin=origin, name=name, transport=transport, key=key)


def merge_json_servers(tree: Tree, servers: Tree) -> tuple[Tree, list[Fact]]:
    """The settings with the servers of `.mcp.json` that TOML does not define, all enabled.

    Also returns a finding for each server that both define.
    """
    facts: list[Fact] = []
    known, enabled = get(tree.value, SERVERS_PATH, {}), get(tree.value, ENABLED_PATH, [])
    if not isinstance(known, dict) or not isinstance(enabled, list):
        return tree, facts  # a hole: what TOML defines is not known
    shadowed = [name for name in sorted(get(servers.value, SERVERS_PATH, {})) if name in known]
    for name in shadowed:
        defined = tree.provenance((*SERVERS_PATH, name)).origin
        unused = None if name in enabled else "it is not listed there either, so it is not used"
        facts.append(
            codes.MCP_SERVER_SHADOWED.at(
                part="key",
                origin=servers.provenance((*SERVERS_PATH, name)).origin,
                also=(Also("defined here", part="key", origin=defined),),
                name=Shown(name),
                state=unused,
            )
        )
    # What TOML defines is left out before merging: the keys of both must not mix.
    servers = remove_all(servers, [(*SERVERS_PATH, name) for name in shadowed])
    new = sorted(get(servers.value, SERVERS_PATH, {}))
    tree = merge(tree, servers)
    if new:
        names = Tree({"mcp": {"enabled_servers": new}}, servers.origins)
        via = (Via("enabled by being there"),)
        # Each name comes from the place that defines its server.
        entries: dict[Path, Tree] = {
            (*ENABLED_PATH, number): Tree(
                name, Origins(names.provenance((*SERVERS_PATH, name)).origin, via)
            )
            for number, name in enumerate(new)
        }
        tree = merge(
            tree,
            graft(names, entries),
            lambda path, _base, _over: "append" if path == ENABLED_PATH else "merge",
        )
    return tree, facts


def servers_are_complete(tree: Tree, height: Callable[[Origin], int]) -> Iterator[Fact]:
    """Every server has a transport, the key that it needs, and no key of another transport.

    `height` tells the layers apart. Of two values that do not go together, the one in the higher
    layer is at fault: its author could see the other.
    """
    for name, server in mapping_or_empty(get(tree.value, SERVERS_PATH)).items():
        if not isinstance(server, dict):
            continue
        path, transport = (*SERVERS_PATH, name), server.get("transport")
        here, chosen = (tree.provenance(each).origin for each in (path, (*path, "transport")))
        if transport is None:
            yield codes.MCP_SERVER_INCOMPLETE.at(
                origin=here, part="key", name=Shown(name), key="transport"
            )
        if transport not in _TRANSPORT_KEYS:
            continue
        main = _TRANSPORT_KEYS[transport][0]
        if main not in server:
            origin = chosen if height(chosen) > height(here) else here
            yield codes.MCP_SERVER_INCOMPLETE.at(
                origin=origin, part="key", name=Shown(name), key=main
            )
        for key in server:
            if key == "transport" or key in _TRANSPORT_KEYS[transport]:
                continue
            own = tree.provenance((*path, key)).origin
            fault, other = (chosen, own) if height(chosen) > height(own) else (own, chosen)
            said = "the transport is set here" if fault is own else "the key is set here"
            also = (Also(said, part="key", origin=other),)
            yield codes.MCP_KEY_MISPLACED.at(
                origin=fault,
                part="key",
                also=also,
                name=Shown(name),
                key=Shown(key),
                transport=transport,
            )


def enabled_servers_exist(tree: Tree, json_names: frozenset[str]) -> Iterator[Fact]:
    """Every server that TOML enables is defined in TOML."""
    known, enabled = get(tree.value, SERVERS_PATH, {}), get(tree.value, ENABLED_PATH, [])
    if not isinstance(known, dict) or not isinstance(enabled, list):
        return
    guesses = Guesses()
    for number, name in enumerate(enabled):
        if not isinstance(name, str) or name in known:
            continue
        origin = tree.provenance((*ENABLED_PATH, number)).origin
        if name in json_names:
            yield codes.MCP_JSON_SERVER_LISTED.at(origin=origin, name=Shown(name))
        else:
            guess = guesses.nearest(name, known)
            yield codes.MCP_SERVER_UNDEFINED.at(origin=origin, name=Shown(name), nearest=guess)


# The kind of a `.mcp.json` beside a `.defect` folder.


def _find_servers(value: Any) -> tuple[str, dict[str, Any]]:
    """The servers of a file as loaded, and the key they are under, which the strict kind keeps."""
    key = "servers" if isinstance(value, dict) and "servers" in value else "mcpServers"
    return key, mapping_or_empty(get(value, (key,)))


def list_servers(plain: Any, _file: str) -> Iterator[Item]:
    key, servers = _find_servers(plain)
    for name, server in servers.items():
        where = get(server, ("url",)) or get(server, ("command",))
        yield Item("mcp server", name, where if isinstance(where, str) else None, (key, name))


def server_names(outcome: Outcome) -> Iterator[str]:
    """The names of the servers, by which agents refer to them."""
    yield from _find_servers(outcome.tree.value if outcome.tree is not None else None)[1]


def _check_strictly(tree: Tree, _session: Session) -> tuple[Tree, list[Fact]]:
    """Report what the settings report about the same file; the tree stays as it is written."""
    servers = get(tree.value, ("mcpServers",))
    if not isinstance(servers, dict) or not all(
        isinstance(each, dict | None) for each in servers.values()
    ):
        return tree, []
    # The model reports unknown keys.
    known = JsonServer.__struct_fields__
    return tree, [each for each in from_json(tree)[1] if each.values.get("key", "url") in known]


#: `.mcp.json` beside a `.defect` folder: every key is known, and no mistake is forgiven.
STRICT_MCP_JSON = Format(
    name="mcp",
    title="list of MCP servers",
    model=McpJson,
    reading=Reading(syntaxes={".json": "json"}, variables=False),
    strictness={core_codes.DUPLICATE_KEY: "error"},
    shape=Shape(unknown="error", null_is_absent=True),
    stages=(_check_strictly,),
    codes=(*codes.STRICT_MCP_CODES, *core_codes.SUSPICION_CODES),
    together=Together(offers=server_names),
    presentation=Presentation(listing=list_servers),
)
