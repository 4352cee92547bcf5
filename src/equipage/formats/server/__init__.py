"""Kind `server`: configurations of MCP test servers, composed from a library of patterns."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from equipage.core import codes as core_codes
from equipage.formats.server import compose as composing
from equipage.formats.server.codes import CODES
from equipage.formats.server.compose import fold, limits_of
from equipage.formats.server.grammar import ITEM_KINDS, base_items
from equipage.formats.server.model import ServerFile
from equipage.formats.server.normal_form import DELIVERY_PARAMETERS, SPELLINGS, normalise
from equipage.formats.server.payloads import Generate
from equipage.formats.server.rules import RULES
from equipage.plugin import (
    YAML_ONLY,
    File,
    Format,
    Include,
    Item,
    Presentation,
    Reading,
    Sensitive,
    Shape,
    mapping_or_empty,
)
from equipage.schemas import codes as schema_codes

# What commands show of a server.

EXAMPLE = """\
# An MCP server for tests: one tool that answers slowly. Check it with `equipage check`.
server:
  name: NAME
  version: "1.0"            # quoted: a bare 1.0 would be a number

tools:
  - tool:
      name: echo
      description: Repeats the text it gets
      inputSchema:
        type: object
        properties:
          text: {type: string}
        required: [text]
    response:
      content:
        - type: text
          # Filled at run time; with one $ it would be an environment variable.
          text: "You said: $${args.text}"

behavior:
  delivery: {type: slow_loris, byte_delay_ms: 20}

# Patterns can live in files of a library and be shared:
#   - $include: tools/echo.yaml
#     override: {tool: {name: echo2}}
# Payloads are described and made only when they are sent:
#   text: {$generate: {type: nested_json, depth: 1000}}
"""


def listing(plain: Any, file: str) -> Iterator[Item]:
    """The server itself, then its tools, resources and prompts."""
    server = plain.get("server", {})
    yield Item("server", str(server.get("name", file)), server.get("description"))
    for sort in ITEM_KINDS:
        for path, item in base_items(plain, sort):
            own = mapping_or_empty(item).get(sort.name)
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


# The JSON Schema for editors: the model, and what directives and shorthands accept beyond it.

Schema = dict[str, Any]

_PATH: Schema = {"type": "string", "minLength": 1}
_FILE: Schema = {**_PATH, "description": "A file of the library whose text takes this place."}
#: Where an author may write text, or a payload, in place of content items.
_CONTENT_PLACES = ("Message.content", "MatchBranch.content", "SequenceEntry.content")
#: Where an author may write a path to include.
_INCLUDE_PLACES = tuple(
    place
    for sort in ITEM_KINDS
    for place in (f"Phase.add_{sort.plural}[]", f"Phase.replace_{sort.plural}{{}}")
)


def author_schema(schema: Schema) -> Schema:
    """The schema of the model with everything else an author may write."""
    from equipage.plugin import accept  # no load needs it

    _add_keys(schema["$defs"])
    names = {"enum": [*DELIVERY_PARAMETERS]}
    schema = accept(schema, "DeliveryName", names, at=["Behavior.delivery"])
    schema = accept(schema, "Text", {"type": "string"}, at=_CONTENT_PLACES)
    schema = accept(schema, "Generated", at=_CONTENT_PLACES)
    schema = accept(schema, "Path", {**_PATH, "title": "A file of the library"}, at=_INCLUDE_PLACES)
    schema = accept(schema, "Include", Include.schema())
    return accept(schema, "FileReference", File.schema(), at_root=False)


def _add_keys(definitions: dict[str, Schema]) -> None:
    """Other spellings, parameters beside the name of a `delivery`, and directives as content."""
    for owner, (other, name) in SPELLINGS.items():
        properties = definitions[owner]["properties"]
        properties[other] = properties[name]
    made = {"description": "A payload that is made when it is asked for.", **Generate.schema()}
    for delivery, names in DELIVERY_PARAMETERS.items():
        for name in names:
            words = f"A parameter of the delivery `{delivery}`, where that is written as a name."
            definitions["Behavior"]["properties"][name] = {"description": words}
    definitions["Generated"]["properties"]["$generate"] = made
    for owner, key in (("TextContent", "text"), ("ImageContent", "data")):
        content = definitions[owner]
        content["required"] = [name for name in content["required"] if name != key]
        content["properties"] |= {"$file": _FILE, "$generate": made}
    sources = ("text", "$file", "$generate")
    definitions["TextContent"]["anyOf"] = [{"required": [key]} for key in sources]


FORMAT = Format(
    name="server",
    title="MCP server configuration",
    model=ServerFile,
    reading=Reading(options=composing.ServerOptions, syntaxes=YAML_ONLY, limits=limits_of),
    # Only the composed configuration shows whether an infinite number is free data.
    strictness={
        core_codes.NOT_FINITE: None,
        core_codes.INVISIBLE_CHARACTER: "note",
        core_codes.ENV_MISSING: "warning",
        core_codes.ENV_CHANGES_STRUCTURE: "warning",
    },
    shape=Shape(
        unknown="warning",
        null_is_absent=True,
        exempt=("$schema",),
        own_codes={"override": Include.orphan},
    ),
    stages=(
        composing.include,
        composing.wrap_pattern,
        composing.move_into_content,
        composing.load_files,
        composing.check_depth,
        composing.plan_payloads,
        normalise,
    ),
    checks=RULES,
    fold=fold,
    codes=(*CODES, *Include.codes, *File.codes, *Generate.codes, *schema_codes.CODES),
    presentation=Presentation(
        schema=author_schema, example=EXAMPLE, listing=listing, sensitive=SENSITIVE
    ),
)


__all__ = ["FORMAT"]
