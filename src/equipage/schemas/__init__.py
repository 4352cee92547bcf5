"""JSON Schemas: which draft one is written in, where its subschemas stand, and what is wrong with it.

`check` compares a schema with the meta-schema of its draft and reports every mismatch in our words, at its path
inside the schema. It never reads a file and never opens a socket, whatever the schema says.
"""

from __future__ import annotations

from equipage.schemas.checking import check, check_part, check_patterns, check_shape, is_valid
from equipage.schemas.structure import (
    DRAFTS,
    Draft,
    Subschema,
    children,
    draft_named,
    subschemas,
    written_draft,
)

__all__ = [
    "DRAFTS",
    "Draft",
    "Subschema",
    "check",
    "check_part",
    "check_patterns",
    "check_shape",
    "children",
    "draft_named",
    "is_valid",
    "subschemas",
    "written_draft",
]
