"""What an author may write beyond the model, and what rules say about texts: for the schema that editors use."""

from __future__ import annotations

from typing import Any

_ID = r"^[a-z0-9]+(?:[.:][a-z0-9]+)+$"
_VARIABLE = r"^[A-Z][A-Z0-9_]*$"
_PROTOCOL = {"type": "string", "pattern": r"^\s*[Hh][Tt][Tt][Pp][Ss]?\s*$"}
#: Legacy names that an option allows, by block.
_LEGACY = {
    "ToolpackFile": {"timeoutMs": "timeout_ms", "inputSchema": "input_schema", "outputSchema": "output_schema"},
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
    given = {"type": "object", "propertyNames": {"pattern": _VARIABLE}, "additionalProperties": {"type": "string"}}
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
    old = {name: {**block["properties"][field], "deprecated": True} for field, name in legacy.items()}
    either = [{"anyOf": [{"required": [field]}, {"required": [name]}]} for field, name in legacy.items()]
    required = [field for field in block["required"] if field not in legacy]
    return {**block, "properties": {**block["properties"], **old}, "required": required, "allOf": either}
