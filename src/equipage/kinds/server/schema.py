"""The JSON Schema of what an author may write: the model, and what directives and shorthands accept beyond it."""

from __future__ import annotations

from typing import Any

from equipage.directives import include
from equipage.generators import schema as generator_schema
from equipage.kinds.server.items import SORTS
from equipage.kinds.server.normalise import DELIVERY_PARAMETERS
from equipage.schema_fragments import accept

Schema = dict[str, Any]

_PATH: Schema = {"type": "string", "minLength": 1}
_FILE: Schema = {
    "title": "The content of a file",
    "type": "object",
    "properties": {"$file": {**_PATH, "description": "a path from this file's folder, else from the library"}},
    "required": ["$file"],
}
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
#: Where text, or a payload, may stand for a whole content.
_CONTENTS = ("Message.content", "MatchBranch.content", "SequenceEntry.content")


def author_schema(schema: Schema) -> Schema:
    """The schema of the model with everything else an author may write."""
    _add_to_definitions(schema["$defs"])
    schema = accept(schema, "DeliveryName", {"enum": ["normal", *DELIVERY_PARAMETERS]}, at=["Behavior.delivery"])
    schema = accept(schema, "Text", {"type": "string"}, at=_CONTENTS)
    schema = accept(schema, "Generated", at=_CONTENTS)
    paths = [place for sort in SORTS for place in (f"Phase.add_{sort.plural}[]", f"Phase.replace_{sort.plural}{{}}")]
    schema = accept(schema, "Path", {**_PATH, "title": "A file of the library"}, at=paths)
    schema = accept(schema, "Include", include.SCHEMA)
    return accept(schema, "FileReference", _FILE, at_root=False)


def _add_to_definitions(definitions: dict[str, Schema]) -> None:
    """Further keys: other spellings, parameters beside a `delivery` that is only a name, sources of a content."""
    for owner, (name, other) in _SPELLINGS.items():
        properties = definitions[owner]["properties"]
        properties[other] = properties[name]
    definitions["Behavior"]["properties"] |= {name: {} for names in DELIVERY_PARAMETERS.values() for name in names}
    definitions["Generated"]["properties"]["$generate"] = generator_schema()
    for owner, key in (("TextContent", "text"), ("ImageContent", "data")):
        content = definitions[owner]
        content["required"] = [name for name in content["required"] if name != key]
        content["properties"] |= {"$file": _PATH, "$generate": generator_schema()}
    definitions["TextContent"]["anyOf"] = [{"required": [key]} for key in ("text", "$file", "$generate")]
