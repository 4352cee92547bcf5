"""What several kinds share: the base of their models, and what looks suspicious in any text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from equipage.core.diagnostics import Fact, Shown
from equipage.core.source import Source, Span
from equipage.kinds import codes as shared_codes
from equipage.syntax.suspicious import mixed_scripts, secrets


class Table(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, gc=False):
    """A table in which every key is known."""


def hide_property(name: str, schema: dict[str, Any]) -> dict[str, Any]:
    """Remove a property that authors cannot write from every definition of a schema for editors."""
    for definition in schema.get("$defs", {}).values():
        definition.get("properties", {}).pop(name, None)
    return schema


def suspicions(source: Source) -> Iterator[Fact]:
    """Secrets of a whole file."""
    for each in secrets(source.text):
        yield Fact(
            shared_codes.SECRET_IN_FILE, values={"what": each.what}, span=Span(source, *each.range)
        )


def alike(name: str) -> Iterator[Fact]:
    scripts = mixed_scripts(name)
    if scripts:
        yield Fact(
            shared_codes.MIXED_SCRIPTS,
            ("name",),
            {"name": Shown(name), "scripts": ", ".join(scripts)},
        )
