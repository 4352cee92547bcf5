"""What recipes of Goose and lists of servers say that they may do."""

from __future__ import annotations

from equipage.clients.grant_rows import Subject, allows, inputs, runs, servers, whole_file

#: kind → what has a reach in a file of it, and by which fields
TABLES: dict[str, tuple[Subject, ...]] = {
    "goose-recipe": whole_file(
        servers("extensions"),
        allows("sub_recipes/*/path", "agent"),
        runs("retry/checks/*/command"),
        runs("retry/on_failure"),
    ),
    # MCP servers.
    "mcp": whole_file(servers("servers"), *inputs("inputs"), sort="servers"),
}
