"""JSON Schemas of kinds, for editors and other tools."""

from __future__ import annotations

from typing import Any

import msgspec

from lading.kinds.kind import Kind


def schema_for(kind: Kind) -> dict[str, Any]:
    """The JSON Schema (2020-12) of what a file of this kind may hold, directives and shorthands included."""
    (reference,), definitions = msgspec.json.schema_components([kind.model], ref_template="#/$defs/{name}")
    schema: dict[str, Any] = {"title": kind.title, **reference, "$defs": definitions}
    whole = kind.schema(schema) if kind.schema is not None else schema
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **whole}
