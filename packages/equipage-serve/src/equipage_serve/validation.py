"""Checks arguments and answers against the schemas of a pack. No message contains a value."""

from __future__ import annotations

import json
from typing import Any

from equipage.core.frozen import unfreeze
from equipage.schemas import SchemaProblem, validator_of

_MAX_LENGTH = 120


class Validator:
    """Compares values with one schema. Making one raises `SchemaProblem`."""

    def __init__(self, schema: Any) -> None:
        self.schema = unfreeze(schema)
        try:
            self._validator = validator_of(self.schema)
        except SchemaProblem as problem:
            raise SchemaProblem(f"the schema cannot be used: {problem}") from None

    def problem(self, value: Any) -> str | None:
        """Where a value does not fit and what the schema says there; None if it fits."""
        if self._validator.is_valid(value):
            return None
        error = next(self._validator.iter_errors(value), None)
        if error is None:
            return "it does not fit"
        place = self._shown_place(error.instance_path, value)
        keyword = str(error.schema_path[-1]) if error.schema_path else "false"
        wanted = self._expected_value(error.schema_path)
        rule = keyword if wanted is None else f"{keyword}: {wanted}"
        return f"`{place[:_MAX_LENGTH]}`: {rule}" if place else rule

    def _shown_place(self, path: list[Any], value: Any) -> str:
        """A place in a value, without names that only the value has: they may be secrets."""
        known, place = json.dumps(self.schema), ""
        for each in path:
            # The validator gives names that are numbers as numbers.
            is_item = isinstance(value, list)
            value = value[each] if is_item else value.get(str(each), {})
            place += f"/{each if is_item or json.dumps(str(each)) in known else '*'}"
        return place

    def _expected_value(self, path: list[Any]) -> str | None:
        """The value in the schema that was not met; the author wrote it, so it may be shown."""
        value = self.schema
        try:
            for each in path:
                value = value[each]
        except (KeyError, IndexError, TypeError):
            return None  # behind a reference
        text = json.dumps(value)
        return text if len(text) <= _MAX_LENGTH else None
