"""A tiny kind of configuration, so that tests of the machinery do not depend on any real one.

A `crew` has a name and members; members may be included from `library/`.
"""

from __future__ import annotations

import os
from functools import cache
from typing import Any, Literal

import msgspec
import pytest

from equipage.core.diagnostics import Fact
from equipage.directives.include import Include
from equipage.files.sandbox import PathPolicy
from equipage.loading.editor_schema import accept
from equipage.loading.format import Format, Presentation, Reading
from equipage.loading.session import Session
from equipage.loading.shape import Shape
from equipage.loading.tree import Tree
from equipage.project import recognise, registry
from equipage.project.registry import Recognition


class Member(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One of the crew."""

    name: str
    role: Literal["captain", "sailor"] = "sailor"


class Crew(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    name: str
    vessel: str | None = None
    members: tuple[Member, ...] = ()


def _include(tree: Tree, session: Session) -> tuple[Tree, list[Fact]]:
    library = os.path.join(session.files.cwd, "library")
    return Include(library, (library,), PathPolicy(), max_depth=5).resolve(tree, session)


FORMAT = Format(
    name="crew",
    title="crew",
    model=Crew,
    reading=Reading(variables=True),
    shape=Shape(unknown="warning"),
    stages=(_include,),
    codes=Include.codes,
    presentation=Presentation(
        schema=lambda schema: accept(schema, "include", Include.schema(), instead_of="objects")
    ),
)


def _is_crew(value: Any) -> bool:
    return isinstance(value, dict) and "crew" in str(value.get("name"))


def install(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the kind known, and recognised by `crew` in its name."""
    row = Recognition("crew", "tiny", keys=("name",), by_content=_is_crew)
    monkeypatch.setattr(registry, "BUILT_IN", (*registry.BUILT_IN, row))
    # What follows from the rows is worked out once.
    for name, each in list(vars(recognise).items()):
        if hasattr(each, "cache_clear"):
            monkeypatch.setattr(recognise, name, cache(each.__wrapped__))
