"""The kind `mcp`: `.mcp.json` and its relatives.

Beside a `.defect` folder, a `.mcp.json` must follow the seed to the letter. Elsewhere each file is
read as the tool that it is for reads it, by the table of its dialect.
"""

from __future__ import annotations

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
from equipage.loading.tree import Tree, get
from equipage.syntax.document import Document

if TYPE_CHECKING:
    from equipage.loading.outcome import Outcome

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


def _servers(value: Any) -> tuple[str, dict[str, Any]]:
    """The servers of a file as loaded, and the key they are under, which the strict kind keeps."""
    key = "servers" if isinstance(value, dict) and "servers" in value else "mcpServers"
    servers = get(value, (key,))
    return key, servers if isinstance(servers, dict) else {}


def _listed(plain: Any, _file: str) -> Iterator[Item]:
    key, servers = _servers(plain)
    for name, server in servers.items():
        where = get(server, ("url",)) or get(server, ("command",))
        yield Item("mcp server", name, where if isinstance(where, str) else None, (key, name))


def server_names(outcome: Outcome) -> Iterator[str]:
    """The names of the servers, by which agents refer to them."""
    yield from _servers(outcome.tree.value if outcome.tree is not None else None)[1]


def author_schema(dialect: Dialect, schema: dict[str, Any]) -> dict[str, Any]:
    """The schema of what authors write, which is not what a program gets."""
    fields = [
        (field.name, field.type | None, msgspec.field(default=None)) for field in dialect.fields
    ]
    (reference,), definitions = msgspec.json.schema_components(
        [msgspec.defstruct("Server", fields)], ref_template="#/$defs/{name}"
    )
    servers = {"type": "object", "additionalProperties": reference}
    prose = {key: schema[key] for key in schema.keys() & {"$schema", "title", "description"}}
    return {**prose, "type": "object", "properties": {dialect.top: servers}, "$defs": definitions}


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
        strictness={
            core_codes.UNKNOWN_TAG: "error",
            core_codes.MERGE_KEY: "error",
            core_codes.TOML_TOO_NEW: "warning",
        },
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
    presentation=Presentation(listing=_listed),
)


def variant_of(path: str, files: Files) -> Kind:
    """The kind of a list of servers by its path, which says whose it is."""
    if path.endswith("/.mcp.json") and files.is_folder(path.removesuffix("mcp.json") + "defect"):
        return STRICT
    return _VARIANTS[dialect_of(path).tool]


_VARIANTS = {each.tool: _tolerant(each) for each in DIALECTS}
_MAIN = _VARIANTS[CLAUDE.tool]
KIND = msgspec.structs.replace(
    _MAIN, reading=msgspec.structs.replace(_MAIN.reading, variant=variant_of)
)
