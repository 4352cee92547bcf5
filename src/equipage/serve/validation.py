"""Arguments and answers against the schemas of a pack, without a word about their values."""

from __future__ import annotations

import json
from typing import Any

from equipage.core.frozen import thawed
from equipage.schemas.structure import draft_named, written_draft

#: How much work a regular expression may make before it counts as not matching.
_STEPS = 100_000
_LONGEST = 120


class SchemaProblem(ValueError):
    """No validator can be made of a schema; the text says why."""


class Validator:
    """Compares values with one schema. Never looks up anything outside of it."""

    def __init__(self, schema: Any) -> None:
        import jsonschema_rs

        self.schema = thawed(schema)
        draft, _ = written_draft(self.schema, draft_named("2020-12"))
        if draft.validator is None:
            raise SchemaProblem(f"values cannot be checked by a schema of {draft.name}")
        limit = jsonschema_rs.FancyRegexOptions(backtrack_limit=_STEPS)
        try:
            made = getattr(jsonschema_rs, draft.validator)
            self._validator = made(self.schema, offline=True, pattern_options=limit)
        except (ValueError, jsonschema_rs.ReferencingError) as error:
            raise SchemaProblem(f"the schema cannot be used: {error}") from None

    def problem(self, value: Any) -> str | None:
        """Where a value does not fit and what the schema says there; None if it fits."""
        if self._validator.is_valid(value):
            return None
        error = next(self._validator.iter_errors(value), None)
        if error is None:
            return "it does not fit"
        place = "".join(f"/{each}" for each in error.instance_path)
        keyword = str(error.schema_path[-1]) if error.schema_path else "false"
        wanted = self._wanted(error.schema_path)
        rule = keyword if wanted is None else f"{keyword}: {wanted}"
        return f"`{place[:_LONGEST]}`: {rule}" if place else rule

    def _wanted(self, path: list[Any]) -> str | None:
        """The value in the schema that was not met; the author wrote it, so it may be shown."""
        value = self.schema
        try:
            for each in path:
                value = value[each]
        except (KeyError, IndexError, TypeError):
            return None  # behind a reference
        text = json.dumps(value)
        return text if len(text) <= _LONGEST else None
