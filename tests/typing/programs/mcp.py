"""Lists the MCP servers of a file, whichever tool it is for, and watches it."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import equipage
from equipage import LoadError, Watch
from equipage.models import DefectMcpServer, McpJson, McpServer, McpServers


def command(server: McpServer) -> str:
    if server.transport == "stdio":
        return " ".join([server.command or "?", *server.args])
    return server.url or "?"


def enabled(servers: McpServers) -> Iterator[tuple[str, McpServer]]:
    for name, server in servers.servers.items():
        if server.enabled:
            yield name, server


def describe(config: McpServers | McpJson) -> list[str]:
    if isinstance(config, McpServers):
        return [f"{name}: {command(server)}" for name, server in enabled(config)]
    return [f"{len(repr(config))} characters"]


def strict(server: DefectMcpServer) -> str:
    return server.command or server.url or "?"


def problems(error: LoadError) -> None:
    for each in error.errors:
        print(each, file=sys.stderr)


def watched(path: str) -> Watch[McpServers | McpJson]:
    return equipage.watch(path, kind="mcp", on_problem=problems, env={})


def main(path: str) -> list[str]:
    loaded = equipage.load(path, kind="mcp", env={}, strict=False)
    lines = describe(loaded.config)
    with watched(path) as configurations:
        first = next(configurations)
        assert first.digest == loaded.digest
        lines += describe(first.config)
    for source in loaded.sources:
        lines.append(source.name)
    lines += sorted(loaded.variables)
    lines.append(type(loaded.to_dict()).__name__)
    return lines


if __name__ == "__main__":
    print("\n".join(main(sys.argv[1])))
