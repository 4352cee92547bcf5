"""The tables beside the schemas that vendors publish: no key of a schema is missing in a table."""

from __future__ import annotations

import json
from typing import Any

import pytest

from equipage.clients.catalogue import convention_of
from lab import ABSENT, SHARED

SCHEMAS = SHARED / "schemas"
#: The table, its schema, and where in the schema the file is described.
ROWS = [
    ("codex-config", "codex-config", ()),
    ("codex-hooks", "codex-hooks", ()),
    ("codex-plugin", "codex-plugin-manifest", ()),
    ("codex-skill-metadata", "codex-skill-metadata", ()),
    ("gemini-settings", "gemini-settings", ()),
    ("roo-modes", "roomodes", ()),
]
#: Keys that vendors call experiments, or that say nothing to people who write such files.
LEFT_OUT = ("experimental_", "apps_mcp_", "responses_api_", "auto_review", "goals", "orchestrator")
LEFT_OUT_TOO = {"include_collaboration_mode_instructions", "model_auto_compact_token_limit_scope"}


@pytest.mark.parametrize(("kind", "name", "path"), ROWS)
def test_every_key_of_the_schema_is_in_the_table(
    kind: str, name: str, path: tuple[Any, ...]
) -> None:
    file = SCHEMAS / f"{name}.schema.json"
    if not file.is_file():
        pytest.skip(ABSENT)
    schema = json.loads(file.read_text())
    for step in path:
        schema = schema[step]
    keys = {key for key in schema["properties"] if not key.startswith(LEFT_OUT)} - LEFT_OUT_TOO
    assert keys - convention_of(kind).field_names == set()
