"""The JSON Schema of what an author may write: the model, and what directives and shorthands accept beyond it."""

from __future__ import annotations

from typing import Any

from lading.generators import schema as generator_schema
from lading.kinds.server.items import SORTS
from lading.kinds.server.normalise import DELIVERY_PARAMETERS

Schema = dict[str, Any]

_PATH: Schema = {"type": "string", "minLength": 1}
_DEFINITIONS: dict[str, Schema] = {
    "Include": {
        "title": "A file of the library",
        "type": "object",
        "properties": {
            "$include": {**_PATH, "description": "a path from the library"},
            "override": {"description": "laid over what is included"},
        },
        "required": ["$include"],
        "additionalProperties": False,
    },
    "FileReference": {
        "title": "The content of a file",
        "type": "object",
        "properties": {"$file": {**_PATH, "description": "a path from this file's folder, else from the library"}},
        "required": ["$file"],
        "additionalProperties": False,
    },
    "Variable": {"title": "A value from the environment", "type": "string", "pattern": r"\$\{"},
}
#: Whatever stands anywhere may come from elsewhere.
_ELSEWHERE = [{"$ref": f"#/$defs/{name}"} for name in _DEFINITIONS]
_TEXT = [{"type": "string"}, {"$ref": "#/$defs/Generated"}]
#: Other spellings of a key, by definition.
_SPELLINGS = {
    "Server": ("state_scope", "stateScope"),
    "ListCapability": ("listChanged", "list_changed"),
    "ResourceCapability": ("listChanged", "list_changed"),
    "ToolResponse": ("onExhausted", "on_exhausted"),
    "ResourceResponse": ("onExhausted", "on_exhausted"),
    "PromptResponse": ("onExhausted", "on_exhausted"),
    "MatchBranch": ("on_exhausted", "onExhausted"),
}


def author_schema(schema: Schema) -> Schema:
    """The schema of the model with everything else an author may write."""
    definitions: dict[str, Schema] = schema["$defs"]
    _add_spellings(definitions)
    _add_shorthands(definitions)
    definitions["Generated"]["properties"]["$generate"] = generator_schema()
    opened = {name: _opened(each) for name, each in definitions.items()}
    opened["ServerFile"] = {"anyOf": [opened["ServerFile"], *_ELSEWHERE[:1]]}
    return {**schema, "$defs": {**opened, **_DEFINITIONS}}


def _add_spellings(definitions: dict[str, Schema]) -> None:
    for owner, (name, other) in _SPELLINGS.items():
        properties = definitions[owner]["properties"]
        properties[other] = properties[name]


def _add_shorthands(definitions: dict[str, Schema]) -> None:
    behavior = definitions["Behavior"]["properties"]
    behavior["delivery"]["anyOf"].append({"enum": ["normal", *DELIVERY_PARAMETERS]})
    behavior |= {name: {} for names in DELIVERY_PARAMETERS.values() for name in names}
    _allow(definitions["Message"]["properties"], "content", *_TEXT)
    for owner in ("MatchBranch", "SequenceEntry"):
        _allow(definitions[owner]["properties"], "content", *_TEXT)
    for owner, key in (("TextContent", "text"), ("ImageContent", "data")):
        content = definitions[owner]
        content["required"] = [name for name in content["required"] if name != key]
        content["properties"] |= {"$file": _PATH, "$generate": generator_schema()}
    definitions["TextContent"]["anyOf"] = [{"required": [key]} for key in ("text", "$file", "$generate")]
    phase = definitions["Phase"]["properties"]
    for sort in SORTS:
        _allow(phase[f"add_{sort.plural}"], "items", _PATH)
        _allow(phase[f"replace_{sort.plural}"], "additionalProperties", _PATH)


def _allow(holder: Schema, key: str, *choices: Schema) -> None:
    holder[key] = {"anyOf": [holder[key], *choices]}


def _opened(definition: Schema) -> Schema:
    """A definition whose values may come from elsewhere, be null where they are optional, and whose keys may be
    directives of others."""
    opened = dict(definition)
    required = definition.get("required", [])
    tag = {name for name, each in definition.get("properties", {}).items() if name == "type" and "enum" in each}
    opened["properties"] = {
        name: each if name in tag or name.startswith("$") else _from_elsewhere(each, optional=name not in required)
        for name, each in definition.get("properties", {}).items()
    }
    return {**opened, "patternProperties": {r"^\$": {}}}


def _from_elsewhere(schema: Schema, *, optional: bool = False) -> Schema:
    kept: Schema = {key: schema[key] for key in ("description", "default", "title") if key in schema}
    inner = {key: each for key, each in schema.items() if key not in kept}
    for key in ("items", "additionalProperties"):
        if isinstance(inner.get(key), dict):
            inner[key] = _from_elsewhere(inner[key])
    if isinstance(inner.get("anyOf"), list):
        inner["anyOf"] = [_inside(each) for each in inner["anyOf"]]
    return {**kept, "anyOf": [inner, *_ELSEWHERE, *([{"type": "null"}] if optional else [])]}


def _inside(schema: Schema) -> Schema:
    """A choice whose parts may come from elsewhere; the choice itself is opened by its holder."""
    return {
        key: _from_elsewhere(each) if key in ("items", "additionalProperties") and isinstance(each, dict) else each
        for key, each in schema.items()
    }
