"""The drafts of JSON Schema and how a schema says which one it is written in."""

from __future__ import annotations

from functools import cache
from typing import Any

import msgspec

from equipage.diagnostics import Fact, Shown, fact
from equipage.nearest import nearest


class Draft(msgspec.Struct, frozen=True):
    """One version of JSON Schema."""

    name: str
    uri: str  #: of its meta-schema, without a final `#`
    validator: str | None  #: the class of jsonschema-rs; None: the draft is known but cannot be checked
    #: whether `$ref` hides the keywords beside it
    ref_stands_alone: bool = False
    #: the keyword for named subschemas
    definitions: str = "$defs"
    #: the keyword that gives a schema an address
    address: str = "$id"

    @property
    def named(self) -> str:
        """The draft as `$schema` usually names it: older ones with an empty fragment."""
        return f"{self.uri}#" if self.ref_stands_alone else self.uri


DRAFTS: tuple[Draft, ...] = (
    Draft("draft-03", "http://json-schema.org/draft-03/schema", None, True, "definitions", "id"),
    Draft("draft-04", "http://json-schema.org/draft-04/schema", "Draft4Validator", True, "definitions", "id"),
    Draft("draft-06", "http://json-schema.org/draft-06/schema", "Draft6Validator", True, "definitions"),
    Draft("draft-07", "http://json-schema.org/draft-07/schema", "Draft7Validator", True, "definitions"),
    Draft("2019-09", "https://json-schema.org/draft/2019-09/schema", "Draft201909Validator"),
    Draft("2020-12", "https://json-schema.org/draft/2020-12/schema", "Draft202012Validator"),
)

_BY_NAME = {draft.name: draft for draft in DRAFTS}
_BY_URI = {draft.uri: draft for draft in DRAFTS}


def draft_named(name: str) -> Draft:
    """The draft called `2020-12`, `draft-07`, … Raises `KeyError`."""
    return _BY_NAME[name]


def written_draft(schema: Any, default: Draft) -> tuple[Draft, list[Fact]]:
    """The draft a schema says it is written in; the default when it says nothing we know, with a finding."""
    if not isinstance(schema, dict) or "$schema" not in schema:
        return default, []
    uri = schema["$schema"]
    if not isinstance(uri, str):
        return default, [fact("schema-dialect", ("$schema",), found=Shown(uri, as_found=True))]
    known = _BY_URI.get(uri.removesuffix("#"))
    if known is None:
        guess = nearest(uri, _BY_URI)
        unknown = fact("schema-dialect-unknown", ("$schema",), found=Shown(uri), default=default.name, nearest=guess)
        return default, [unknown]
    if known.validator is None:
        return known, [fact("schema-dialect-unchecked", ("$schema",), draft=known.name)]
    return known, []


@cache
def meta_validator(draft: Draft) -> Any:
    """What judges schemas of a draft. Formats are left to us; nothing is ever retrieved."""
    import jsonschema_rs

    assert draft.validator is not None
    validator = getattr(jsonschema_rs, draft.validator)
    return validator({"$ref": draft.uri}, offline=True, validate_formats=False)
