"""What the commands show of a server: its items, the changes that matter, and a first file."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from lading.kinds.kind import Item, Sensitive
from lading.path import Path

#: list of items → where an item's own part stands, and what names it
_PARTS = (("tools", "tool", "name"), ("resources", "resource", "uri"), ("prompts", "prompt", "name"))


def listing(plain: Any, file: str) -> Iterator[Item]:
    """The server itself, then its tools, resources and prompts."""
    server = plain.get("server", {})
    yield Item("server", str(server.get("name", file)), server.get("description"))
    for path in ((), ("baseline",)):
        state = plain.get("baseline", {}) if path else plain
        for group, part, key in _PARTS:
            for number, each in enumerate(state.get(group) or ()):
                yield from _item(each, part, key, (*path, group, number))


def _item(each: Any, part: str, key: str, path: Path) -> Iterator[Item]:
    own = each.get(part) if isinstance(each, dict) else None
    if isinstance(own, dict):
        yield Item(part, str(own.get(key, "?")), own.get("description"), path)


SENSITIVE = (
    Sensitive("**.tools.*", "tool"),
    Sensitive("**.add_tools.*", "tool"),
    Sensitive("**.replace_tools.*", "tool"),
    Sensitive("**.tool.description", "prompt"),
    Sensitive("**.prompts.*.response.**", "prompt"),
    Sensitive("server.capabilities.**", "permission"),
    Sensitive("baseline.capabilities.**", "permission"),
)

EXAMPLE = """\
# An MCP server, described instead of programmed.
# Check it with:  lading check
server:
  name: NAME
  # Quote versions: a bare 1.0 would be a number.
  version: "1.0"

tools:
  - tool:
      name: greet
      # Models read this to decide when to call the tool.
      description: Greets somebody by name
      # A JSON Schema of the arguments.
      inputSchema:
        type: object
        properties:
          who: {type: string}
        required: [who]
    response:
      content:
        # `$$` keeps the template for the time of the call; a single `$` would be replaced while loading.
        - type: text
          text: Hello $${args.who}!

# Larger servers keep their parts in a library:
#
#   - $include: tools/greet.yaml       # from the folder `library`, or the one --library names
#     override:
#       tool: {name: greet_politely}
#
# Other directives: `$file` for the content of a file, `$generate` for payloads; `${NAME:-default}` takes a value
# from the environment.
"""
