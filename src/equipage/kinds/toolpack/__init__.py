"""Kind `toolpack`: declarative tools, one `*.tool.yaml` each, with their JSON Schemas inline or by `$ref`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

import msgspec

from equipage.core import codes as core_codes
from equipage.core.diagnostics import Fact, Severity
from equipage.directives.ref import Ref
from equipage.kinds.toolpack.codes import CODES
from equipage.kinds.toolpack.model import CLOSED, ToolpackFile, make
from equipage.kinds.toolpack.rules import RULES, ids_are_unique, set_key
from equipage.kinds.toolpack.spelling import camel_case, network_list
from equipage.loading.kind import Item, Kind, Presentation, Reading, Sensitive, Together
from equipage.loading.model import Shape
from equipage.loading.session import Session
from equipage.loading.tree import Tree
from equipage.schemas.codes import CODES as SCHEMA_CODES

# --- authoring ---------------------------------------------------------------------------------
# What an author may write beyond the model, and what rules say about texts: for the schema that editors use.

_ID = r"^[a-z0-9]+(?:[.:][a-z0-9]+)+$"
_VARIABLE = r"^[A-Z][A-Z0-9_]*$"
_PROTOCOL = {"type": "string", "pattern": r"^\s*[Hh][Tt][Tt][Pp][Ss]?\s*$"}
#: Legacy names that an option allows, by block.
_LEGACY = {
    "ToolpackFile": {
        "timeoutMs": "timeout_ms",
        "inputSchema": "input_schema",
        "outputSchema": "output_schema",
    },
    "Limits": {"maxInputBytes": "max_input_bytes", "maxOutputBytes": "max_output_bytes"},
}


def author_schema(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema of the model with what normalisation accepts, and with the patterns that rules check."""
    blocks = {name: dict(block) for name, block in schema["$defs"].items()}
    for name, changes in _changes().items():
        blocks[name]["properties"] = {**blocks[name]["properties"], **changes}
    for name, legacy in _LEGACY.items():
        blocks[name] = _with_legacy(blocks[name], legacy)
    return {**schema, "$defs": blocks}


def _changes() -> dict[str, dict[str, Any]]:
    names = {"type": "array", "items": {"type": "string", "pattern": _VARIABLE}}
    given = {
        "type": "object",
        "propertyNames": {"pattern": _VARIABLE},
        "additionalProperties": {"type": "string"},
    }
    # Written as a mapping, whatever a reference in it leads to.
    written = {"type": "object", "description": "A JSON Schema, or a reference to one."}
    return {
        "ToolpackFile": {
            "id": {"type": "string", "pattern": _ID},
            "inputSchema": written,
            "outputSchema": written,
        },
        "Caps": {"network": {"anyOf": [_PROTOCOL, {"type": "array", "items": _PROTOCOL}]}},
        "Env": {"passthrough": names, "set": {"anyOf": [given, {"type": "null"}]}},
    }


def _with_legacy(block: dict[str, Any], legacy: dict[str, str]) -> dict[str, Any]:
    """A block in which a required field may have its legacy name, marked as deprecated."""
    old = {
        name: {**block["properties"][field], "deprecated": True} for field, name in legacy.items()
    }
    either = [
        {"anyOf": [{"required": [field]}, {"required": [name]}]} for field, name in legacy.items()
    ]
    required = [field for field in block["required"] if field not in legacy]
    return {
        **block,
        "properties": {**block["properties"], **old},
        "required": required,
        "allOf": either,
    }


# --- presenting --------------------------------------------------------------------------------
# What the commands show of a toolpack: the tool, and the changes that matter.


def listing(plain: Any, _file: str) -> Iterator[Item]:
    """The tool."""
    yield Item("tool", str(plain.get("id")), f"version {plain.get('version')}")


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


# --- toolpack.kind -----------------------------------------------------------------------------
# The kind `toolpack` as a value.

class ToolpackOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the caller decides about a toolpack."""

    #: `warn` reads the snake_case names of older packs, with a warning
    legacy_keys: Literal["error", "warn"] = "error"


def resolve_schemas(tree: Tree, session: Session) -> tuple[Tree, list[Fact]]:
    """Both schemas, checked, with their references resolved."""
    return Ref().resolve(tree, session, (("inputSchema",), ("outputSchema",)))


def _odd_key(each: Fact) -> Severity | None:
    """At the top of a pack no field is a number: the key is unknown, as others are, and told as such."""
    is_pack = each.span is not None and each.span.source.name.endswith(".tool.yaml")
    return None if is_pack and len(each.path) == 1 else "error"


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

KIND = Kind(
    name="toolpack",
    title="toolpack",
    model=ToolpackFile,
    reading=Reading(options=ToolpackOptions, merge_keys=True),
    strictness={
        core_codes.EXTRA_DOCUMENT: "error",
        core_codes.UNKNOWN_TAG: "error",
        core_codes.NON_STRING_KEY: _odd_key,
    },
    shape=Shape(
        unknown="warning",
        closed=CLOSED,
        exempt=("x-",),
        secret=(("env", "set"), ("execution", "headers")),
    ),
    stages=(camel_case, network_list, resolve_schemas),
    rules=RULES,
    together=Together(set_rules=(ids_are_unique,), set_key=set_key),
    codes=(*SCHEMA_CODES, *Ref.codes, *CODES),
    build_result=make,
    presentation=Presentation(
        schema=author_schema,
        example=EXAMPLE,
        example_path="NAME.tool.yaml",
        listing=listing,
        sensitive=SENSITIVE,
    ),
)


__all__ = ["KIND"]
