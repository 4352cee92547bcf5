"""Kind `server`: configurations of MCP test servers, composed from a library of patterns."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from equipage.core import codes as core_codes
from equipage.directives import codes as directive_codes
from equipage.directives.file import File
from equipage.directives.generate import Generate
from equipage.directives.include import OVERRIDE, Include
from equipage.kinds.server import compose as composing
from equipage.kinds.server.codes import CODES
from equipage.kinds.server.compose import fold
from equipage.kinds.server.items import SORTS, base_items
from equipage.kinds.server.limits import limits_of
from equipage.kinds.server.model import ServerFile
from equipage.kinds.server.normalise import DELIVERY_PARAMETERS, SPELLINGS, normalise
from equipage.kinds.server.rules import RULES
from equipage.loading.kind import Item, Kind, Presentation, Reading, Sensitive
from equipage.loading.model import Shape
from equipage.loading.tree import mapping
from equipage.schemas.codes import CODES as SCHEMA_CODES

# --- example -----------------------------------------------------------------------------------
# A good first file.

EXAMPLE = """\
# An MCP server for tests: one tool that answers slowly. Check it with `equipage check`.
server:
  name: NAME
  version: "1.0"            # quoted: a bare 1.0 would be a number

tools:
  - tool:
      name: echo
      description: Says back what it is told
      inputSchema:
        type: object
        properties:
          text: {type: string}
        required: [text]
    response:
      content:
        - type: text
          text: "You said: $${args.text}"   # filled at run time; with one $ it would be an environment variable

behavior:
  delivery: {type: slow_loris, byte_delay_ms: 20}

# Patterns can live in files of a library and be shared:
#   - $include: tools/echo.yaml
#     override: {tool: {name: echo2}}
# Payloads are described and made only when they are sent:
#   text: {$generate: {type: nested_json, depth: 1000}}
"""


# --- presenting --------------------------------------------------------------------------------
# What the commands show of a server: its items, and the changes that matter.


def listing(plain: Any, file: str) -> Iterator[Item]:
    """The server itself, then its tools, resources and prompts."""
    server = plain.get("server", {})
    yield Item("server", str(server.get("name", file)), server.get("description"))
    for sort in SORTS:
        for path, item in base_items(plain, sort):
            own = mapping(item).get(sort.name)
            if isinstance(own, dict):
                name = str(own.get(sort.identity, "?"))
                yield Item(sort.name, name, own.get("description"), path)


SENSITIVE = (
    Sensitive("**.tools.*", "tool"),
    Sensitive("**.add_tools.*", "tool"),
    Sensitive("**.replace_tools.*", "tool"),
    Sensitive("**.tool.description", "prompt"),
    Sensitive("**.prompts.*.response.**", "prompt"),
    Sensitive("server.capabilities.**", "permission"),
    Sensitive("baseline.capabilities.**", "permission"),
)


# --- schema ------------------------------------------------------------------------------------
# The JSON Schema of what an author may write: the model, and what directives and shorthands accept beyond it.

Schema = dict[str, Any]

_PATH: Schema = {"type": "string", "minLength": 1}
#: Where text, or a payload, may stand for a whole content.
_CONTENTS = ("Message.content", "MatchBranch.content", "SequenceEntry.content")


def author_schema(schema: Schema) -> Schema:
    """The schema of the model with everything else an author may write."""
    from equipage.loading.schema import accept  # no load needs it

    _add_to_definitions(schema["$defs"])
    schema = accept(
        schema, "DeliveryName", {"enum": [*DELIVERY_PARAMETERS]}, at=["Behavior.delivery"]
    )
    schema = accept(schema, "Text", {"type": "string"}, at=_CONTENTS)
    schema = accept(schema, "Generated", at=_CONTENTS)
    paths = [
        place
        for sort in SORTS
        for place in (f"Phase.add_{sort.plural}[]", f"Phase.replace_{sort.plural}{{}}")
    ]
    schema = accept(schema, "Path", {**_PATH, "title": "A file of the library"}, at=paths)
    schema = accept(schema, "Include", Include.schema())
    return accept(schema, "FileReference", File.schema(), at_root=False)


def _add_to_definitions(definitions: dict[str, Schema]) -> None:
    """Further keys: other spellings, parameters beside a `delivery` that is only a name, sources of a content."""
    for other, name, _, owners in SPELLINGS:
        for owner in owners:
            properties = definitions[owner]["properties"]
            properties[other] = properties[name]
    definitions["Behavior"]["properties"] |= {
        name: {} for names in DELIVERY_PARAMETERS.values() for name in names
    }
    definitions["Generated"]["properties"]["$generate"] = Generate.schema()
    for owner, key in (("TextContent", "text"), ("ImageContent", "data")):
        content = definitions[owner]
        content["required"] = [name for name in content["required"] if name != key]
        content["properties"] |= {"$file": _PATH, "$generate": Generate.schema()}
    definitions["TextContent"]["anyOf"] = [
        {"required": [key]} for key in ("text", "$file", "$generate")
    ]


# --- server.kind -------------------------------------------------------------------------------
# The kind `server` as a value.

KIND = Kind(
    name="server",
    title="MCP server configuration",
    model=ServerFile,
    reading=Reading(options=composing.ServerOptions, limits=limits_of, uses_environment=True),
    # Only the composed configuration says whether a number stands where data is free.
    strictness={core_codes.NOT_FINITE: None, core_codes.INVISIBLE_CHARACTER: "note"},
    shape=Shape(
        unknown="warning",
        null_is_absent=True,
        exempt=("$",),
        own_codes={OVERRIDE: directive_codes.ORPHAN_OVERRIDE},
    ),
    stages=(
        composing.include,
        composing.move_into_content,
        composing.load_files,
        composing.bound_depth,
        composing.plan_payloads,
        normalise,
    ),
    rules=RULES,
    fold=fold,
    codes=(*CODES, *Include.codes, *File.codes, *Generate.codes, *SCHEMA_CODES),
    presentation=Presentation(
        schema=author_schema, example=EXAMPLE, listing=listing, sensitive=SENSITIVE
    ),
)


__all__ = ["KIND"]
