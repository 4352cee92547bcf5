"""MCP servers: `.mcp.json` and its relatives, strict beside the seed's own folder, tolerant elsewhere."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec

from equipage.core import codes as core_codes
from equipage.core.diagnostics import Fact
from equipage.core.source import Source
from equipage.files.reading import Files
from equipage.kinds.mcp.codes import CODES
from equipage.kinds.mcp.dialects import CLAUDE, DIALECTS, Dialect, dialect_of
from equipage.kinds.mcp.servers import McpServers, gather, read_with_comments
from equipage.kinds.mcp.strict import JsonServer, McpJson, from_json
from equipage.loading.kind import Item, Kind, Presentation, Reading, Sensitive, Together
from equipage.loading.model import Shape
from equipage.loading.session import Session
from equipage.loading.tree import Tree
from equipage.syntax.document import Document

if TYPE_CHECKING:
    from equipage.loading.outcome import Outcome


# --- mcp.kind ----------------------------------------------------------------------------------
# The kind `mcp` as values: strict as the seed has it, and one for each tool's dialect.

EXAMPLE = """\
{
  "mcpServers": {
    "NAME": {
      "type": "stdio",
      "command": "npx",
      "args": ["-y", "@example/server"],
      "env": { "API_KEY": "${API_KEY}" }
    }
  }
}
"""


def _read(dialect: Dialect, source: Source, session: Session) -> tuple[Document | None, list[Fact]]:
    if dialect.comments:
        return read_with_comments(source, session)
    return session.parse(source, dialect.format)


def _listed(plain: Any, _file: str) -> Iterator[Item]:
    servers = plain.get("servers", plain.get("mcpServers")) if isinstance(plain, dict) else None
    for name, server in servers.items() if isinstance(servers, dict) else ():
        where = server.get("url") or server.get("command") if isinstance(server, dict) else None
        yield Item("mcp server", name, where if isinstance(where, str) else None, ("servers", name))


def server_names(outcome: Outcome) -> Iterator[str]:
    """The names of the servers, by which agents refer to them."""
    value: Any = outcome.tree.value if outcome.tree is not None else None
    servers = value.get("servers", value.get("mcpServers")) if isinstance(value, dict) else None
    yield from servers if isinstance(servers, dict) else ()


def author_schema(dialect: Dialect, schema: dict[str, Any]) -> dict[str, Any]:
    """What the author of a file writes, which is not what a program gets."""
    fields = [
        (field.name, field.type | None, msgspec.field(default=None)) for field in dialect.fields
    ]
    server = msgspec.defstruct(
        "Server", [(re.sub(r"\W", "_", name), *rest) for name, *rest in fields]
    )
    (reference,), definitions = msgspec.json.schema_components(
        [server], ref_template="#/$defs/{name}"
    )
    servers = {"type": "object", "additionalProperties": reference}
    kept = {
        key: value for key, value in schema.items() if key in ("$schema", "title", "description")
    }
    return {**kept, "type": "object", "properties": {dialect.top: servers}, "$defs": definitions}


def _tolerant(dialect: Dialect) -> Kind:
    return Kind(
        name="mcp",
        together=Together(offers=server_names),
        title="list of MCP servers",
        model=McpServers,
        reading=Reading(
            formats={".json": "json", ".jsonc": "json", ".toml": "toml"},
            read=partial(_read, dialect),
        ),
        strictness={core_codes.UNKNOWN_TAG: "error", core_codes.MERGE_KEY: "error"},
        shape=Shape(unknown="warning", null_is_absent=True),
        stages=(partial(gather, dialect),),
        codes=CODES,
        presentation=Presentation(
            schema=partial(author_schema, dialect),
            listing=_listed,
            sensitive=(
                Sensitive("servers.*", "tool"),
                Sensitive("servers.*.command", "permission"),
            ),
            example=EXAMPLE,
            example_path=".mcp.json",
        ),
    )


def _strictly(tree: Tree, _session: Session) -> tuple[Tree, list[Fact]]:
    """What the settings say about the same file; the file itself stays as it is written."""
    servers = tree.value.get("mcpServers") if isinstance(tree.value, dict) else None
    if not isinstance(servers, dict) or not all(
        isinstance(each, dict) or each is None for each in servers.values()
    ):
        return tree, []
    # A key that nobody knows is told by the model.
    known = JsonServer.__struct_fields__
    return tree, [each for each in from_json(tree)[1] if each.values.get("key", "url") in known]


#: `.mcp.json` beside a `.defect` folder: every key is known, and nothing is forgiven.
STRICT = Kind(
    name="mcp",
    title="list of MCP servers",
    model=McpJson,
    reading=Reading(formats={".json": "json"}),
    strictness={core_codes.DUPLICATE_KEY: "error"},
    shape=Shape(unknown="error", null_is_absent=True),
    stages=(_strictly,),
    codes=CODES,
    together=Together(offers=server_names),
    presentation=Presentation(
        listing=lambda plain, _file: (
            msgspec.structs.replace(each, path=("mcpServers", each.name))
            for each in _listed(plain, _file)
        )
    ),
)

_PLAIN = re.compile(r"/\.mcp\.json\Z")


def variant_of(path: str, files: Files) -> Kind:
    """Whose list of servers a file is, by its place."""
    if _PLAIN.search(path) and files.is_folder(f"{path.rpartition('/')[0]}/.defect"):
        return STRICT
    return _VARIANTS[dialect_of(path).tool]


_VARIANTS = {each.tool: _tolerant(each) for each in DIALECTS}
_MAIN = _VARIANTS[CLAUDE.tool]
KIND = msgspec.structs.replace(
    _MAIN, reading=msgspec.structs.replace(_MAIN.reading, variant=variant_of)
)


__all__ = ["KIND", "STRICT"]
