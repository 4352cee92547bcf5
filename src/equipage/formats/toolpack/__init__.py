"""Kind `toolpack`: a declarative tool in a `*.tool.yaml`, its JSON Schemas inline or by `$ref`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

import msgspec

from equipage.core import codes as core_codes
from equipage.formats.toolpack import codes
from equipage.formats.toolpack.codes import CODES
from equipage.formats.toolpack.model import CLOSED_BLOCKS, Block, Limits, ToolpackFile, build_pack
from equipage.formats.toolpack.rules import (
    RULES,
    group_key,
    ids_are_unique,
    normalise_network,
    rename_snake_case,
)
from equipage.loading.project_root import folder_above_given
from equipage.plugin import (
    YAML_ONLY,
    Fact,
    Format,
    Item,
    Presentation,
    Reading,
    Ref,
    Sensitive,
    Session,
    Severity,
    Shape,
    Together,
    Tree,
)

# What commands show of a toolpack.

EXAMPLE = """\
# A tool: what it takes and gives, and how it is run.
id: text.WORD
version: 1.0.0
description: Counts the words of a text.
deterministic: true
timeoutMs: 2000
limits:
  maxInputBytes: 65536
  maxOutputBytes: 1024
inputSchema:
  type: object
  required: [text]
  properties:
    text: {type: string}
outputSchema:
  type: object
  required: [words]
  properties:
    words: {type: integer, minimum: 0}
execution:
  kind: python
  module: tools.text:count
"""

SENSITIVE = (
    Sensitive("caps.subprocess", "permission", order=(False, True), default=False),
    Sensitive("caps.network", "permission"),
    Sensitive("caps.filesystem.*", "permission"),
    Sensitive("env.passthrough", "permission"),
    Sensitive("env.set.*", "permission"),
    Sensitive("execution.**", "permission"),
    Sensitive("timeoutMs", "permission"),
    Sensitive("limits.*", "permission"),
)


def listing(plain: Any, _file: str) -> Iterator[Item]:
    """The tool."""
    yield Item("tool", str(plain.get("id")), f"version {plain.get('version')}")


# The JSON Schema for editors: the model, what an author may write beyond it, and what rules check.

_ID = {"type": "string", "pattern": r"^[a-z0-9]+(?:[.:][a-z0-9]+)+$"}
_VARIABLE = {"pattern": r"^[A-Z][A-Z0-9_]*$"}
_PROTOCOL = {"type": "string", "pattern": r"^\s*[Hh][Tt][Tt][Pp][Ss]?\s*$"}
# An author writes a mapping, whatever a reference in it leads to.
_SCHEMA = {"type": "object", "description": "A JSON Schema, or a reference to one."}


def author_schema(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema of the model with other spellings, and with the patterns that rules check."""
    blocks = schema["$defs"]
    whole, caps, env = (blocks[name]["properties"] for name in ("ToolpackFile", "Caps", "Env"))
    whole |= {"id": whole["id"] | _ID, "inputSchema": _SCHEMA, "outputSchema": _SCHEMA}
    protocols = {"anyOf": [_PROTOCOL, {"type": "array", "items": _PROTOCOL}]}
    caps["network"] = {"description": caps["network"]["description"], **protocols}
    env["passthrough"]["items"] |= _VARIABLE
    mapping = next(each for each in env["set"]["anyOf"] if each["type"] == "object")
    mapping["propertyNames"] = _VARIABLE
    for cls in (ToolpackFile, Limits):
        _accept_legacy_names(blocks[cls.__name__], cls)
    return schema


def _accept_legacy_names(block: dict[str, Any], cls: type[Block]) -> None:
    """A required field may have its snake_case name, which the schema marks as deprecated."""
    properties, required = block["properties"], block["required"]
    block["required"], block["allOf"] = [], []
    for old, new in zip(cls.__struct_fields__, cls.__struct_encode_fields__, strict=True):
        if new in required and old == new:
            block["required"].append(new)
        elif new in required:
            properties[old] = {**properties[new], "deprecated": True}
            block["allOf"].append({"anyOf": [{"required": [new]}, {"required": [old]}]})


# The kind.


class ToolpackOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the caller decides about a toolpack."""

    legacy_keys: Literal["error", "warn"] = "error"
    """`warn` reads the snake_case names of older packs, with a warning."""


def resolve_schemas(tree: Tree, session: Session) -> tuple[Tree, list[Fact]]:
    """Both schemas, checked, with their references resolved.

    Packs often lie beside their schemas. Without a project, a folder of packs that was named may
    refer to what is beside it; one pack alone may not.
    """
    beside = None if session.embedded else folder_above_given(session.run, session.base)
    if beside is not None:
        session.roots += (beside,)
    return Ref().resolve(tree, session, (("inputSchema",), ("outputSchema",)))


def _key_severity(each: Fact) -> Severity | None:
    """A number as a key is an error, but at the top of a pack it is one more unknown field."""
    is_pack = each.span is not None and each.span.source.name.endswith(".tool.yaml")
    return None if is_pack and len(each.path) == 1 else "error"


FORMAT = Format(
    name="toolpack",
    title="toolpack",
    model=ToolpackFile,
    # What loads is guaranteed to match the specification, so no comment of a pack may change that.
    reading=Reading(
        options=ToolpackOptions, syntaxes=YAML_ONLY, merge_keys=True, variables=False, lenient=False
    ),
    strictness={
        core_codes.EXTRA_DOCUMENT: "error",
        core_codes.UNKNOWN_TAG: "error",
        core_codes.NON_STRING_KEY: _key_severity,
    },
    shape=Shape(
        unknown="warning",
        closed=CLOSED_BLOCKS,
        exempt=("x-",),
        secret=(("env", "set"), ("execution", "headers")),
    ),
    stages=(rename_snake_case, normalise_network, resolve_schemas),
    checks=RULES,
    together=Together(
        set_rules=(ids_are_unique,), set_key=group_key, codes=(codes.DUPLICATE_ID, codes.SIMILAR_ID)
    ),
    codes=(*Ref.codes, *CODES),
    build_result=build_pack,
    presentation=Presentation(
        schema=author_schema,
        example=EXAMPLE,
        example_path="NAME.tool.yaml",
        listing=listing,
        sensitive=SENSITIVE,
    ),
)


__all__ = ["FORMAT"]
