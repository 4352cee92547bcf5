"""Everything a format of your own needs beyond `equipage.Format`, under one name.

`equipage` itself has what most formats need: `Format`, layers, rules. Here is the rest: stages
that rewrite values and remember where they came from, directives, codes with words of their own,
and what commands show. The formats of the four seeds are made of these names. Each is imported
when it is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from equipage.core.diagnostics import (
        Also,
        Catalogue,
        Change,
        Code,
        Diagnostic,
        Fact,
        Remedy,
        Severity,
        Shown,
    )
    from equipage.core.path import (
        HOLE,
        ROOT,
        Path,
        entries_at,
        get,
        mapping_or_empty,
        parse_path,
        walk,
    )
    from equipage.core.source import Source, Span
    from equipage.core.text import Guesses, nearest
    from equipage.directives import Directive, Expansion, Node, expand, find
    from equipage.directives.file import File
    from equipage.directives.include import Include
    from equipage.directives.ref import Ref
    from equipage.files import System
    from equipage.files.sandbox import FileProblem, PathPolicy
    from equipage.loading.editor_schema import accept
    from equipage.loading.format import (
        YAML_ONLY,
        Check,
        Format,
        Item,
        LayerFolder,
        Layering,
        Limits,
        NoOptions,
        Offer,
        Presentation,
        Reading,
        Sensitive,
        Together,
    )
    from equipage.loading.pipeline import Outcome
    from equipage.loading.session import Request, Session
    from equipage.loading.shape import Shape
    from equipage.loading.tree import Origin, Origins, Tree, Via, graft, merge, move, put, remove
    from equipage.syntax.document import Document

#: The modules that the names are imported from.
_HOMES = {
    "core.diagnostics": "Also Catalogue Change Code Diagnostic Fact Remedy Severity Shown",
    "core.path": "HOLE ROOT Path entries_at get mapping_or_empty parse_path walk",
    "core.source": "Source Span",
    "core.text": "Guesses nearest",
    "directives": "Directive Expansion Node expand find",
    "directives.file": "File",
    "directives.include": "Include",
    "directives.ref": "Ref",
    "files": "System",
    "files.sandbox": "FileProblem PathPolicy",
    "loading.editor_schema": "accept",
    "loading.format": "YAML_ONLY Check Format Item LayerFolder Layering "
    "Limits NoOptions Offer Presentation Reading Sensitive Together",
    "loading.shape": "Shape",
    "loading.pipeline": "Outcome",
    "loading.session": "Request Session",
    "loading.tree": "Origin Origins Tree Via graft merge move put remove",
    "syntax.document": "Document",
}

__all__ = [
    "HOLE", "ROOT", "YAML_ONLY", "Also", "Catalogue", "Change", "Check", "Code", "Diagnostic",
    "Directive", "Document", "Expansion", "Fact", "File", "FileProblem", "Format", "Guesses",
    "Include", "Item", "LayerFolder", "Layering", "Limits", "NoOptions", "Node", "Offer",
    "Origin", "Origins", "Outcome", "Path", "PathPolicy", "Presentation", "Reading", "Ref",
    "Remedy", "Request", "Sensitive", "Session", "Severity", "Shape", "Shown", "Source", "Span",
    "System", "Together", "Tree", "Via", "accept", "entries_at", "expand", "find", "get",
    "graft", "mapping_or_empty", "merge", "move", "nearest", "parse_path", "put", "remove",
    "walk",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    home = next((module for module, public in _HOMES.items() if name in public.split()), None)
    if home is None:
        raise AttributeError(f"module 'equipage.plugin' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(f"equipage.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
