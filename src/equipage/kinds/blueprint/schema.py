"""What the JSON Schema of a blueprint says beyond the model: references, and operands under two names."""

from __future__ import annotations

from typing import Any

from equipage.kinds.blueprint.dialect import OPERANDS
from equipage.kinds.blueprint.expand import AGENT_MD, FILE

_FILE_REFERENCE = "FileReference"
_PATH = {"type": "string", "minLength": 1}


def with_references(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema of the model, with `$file` allowed for every text and `$agent_md` for every agent and operator."""
    definitions = {name: _texts_from_files(each) for name, each in schema["$defs"].items()}
    for operator, names in OPERANDS.items():
        owner = definitions[operator.capitalize()]
        owner["oneOf"] = [{"required": [name]} for name in names]
    for owner in ("Agent", "Operator"):
        definitions[f"{owner}Reference"] = _reference(definitions[owner])
    properties = definitions["Blueprint"]["properties"]
    for key, owner in (("agents", "Agent"), ("operators", "Operator")):
        choices = [{"$ref": f"#/$defs/{owner}"}, {"$ref": f"#/$defs/{owner}Reference"}]
        properties[key] = {**properties[key], "items": {"anyOf": choices}}
    definitions[_FILE_REFERENCE] = {
        "title": "The text of a file",
        "type": "object",
        "properties": {FILE: {**_PATH, "description": "a path from the blueprint's folder"}},
        "required": [FILE],
        "additionalProperties": False,
    }
    return {**schema, "$defs": definitions}


def _texts_from_files(schema: Any) -> Any:
    """A copy in which every text may come from a file. A single word is a tag, which says what its mapping is."""
    if isinstance(schema, list):
        return [_texts_from_files(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    words = schema.get("enum", ())
    if schema.get("type") == "string" or len([each for each in words if isinstance(each, str)]) > 1:
        kept = {key: schema[key] for key in ("title", "description", "default") if key in schema}
        inner = {key: each for key, each in schema.items() if key not in kept}
        return {**kept, "anyOf": [inner, {"$ref": f"#/$defs/{_FILE_REFERENCE}"}]}
    return {key: each if key in ("enum", "default") else _texts_from_files(each) for key, each in schema.items()}


def _reference(owner: dict[str, Any]) -> dict[str, Any]:
    """A reference to an agent file, with any field of its owner beside it."""
    path = {**_PATH, "description": "the path of an agent file, from the blueprint's folder"}
    return {
        "title": "An agent file",
        "type": "object",
        "properties": {AGENT_MD: path, **owner["properties"]},
        "required": [AGENT_MD],
        "additionalProperties": False,
    }
