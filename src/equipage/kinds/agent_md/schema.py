"""The JSON Schema of a header, which is not that of the agent it becomes."""

from __future__ import annotations

from typing import Any

from equipage.kinds.agent_md.model import LINT_LEVELS


def header_schema(_model: dict[str, Any]) -> dict[str, Any]:
    """What a header may say. Further keys are kept for other programs, and a known one of another type is left out
    with a warning: only the name decides whether the file loads."""
    text = {"type": "string"}
    properties: dict[str, dict[str, Any]] = {
        "description": text,
        "model": text,
        "effort": text,
        "tools": {
            "description": "a list, or text with commas",
            "anyOf": [text, {"type": "array", "items": text}, {"type": "null"}],
        },
        "worker_binding": text,
        "lints": {"type": "object", "additionalProperties": {"enum": list(LINT_LEVELS)}},
    }
    return {
        "title": "The header of an agent file",
        "type": "object",
        "properties": {
            "name": {**text, "description": "what steps refer to"},
            **{name: {"anyOf": [usual, {}]} for name, usual in properties.items()},
        },
        "required": ["name"],
    }
