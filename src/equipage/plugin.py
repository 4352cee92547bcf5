"""Everything a kind of your own needs, under one name.

A package that brings a kind imports from here and names its `Format` in the entry point group
`equipage.formats`. What is listed here changes only with a new major version.
"""

from __future__ import annotations

from equipage.core.diagnostics import Also, Catalogue, Change, Code, Fact, Remedy, Shown
from equipage.core.path import HOLE, ROOT, Path, get
from equipage.core.text import nearest
from equipage.files.sandbox import FileProblem, PathPolicy
from equipage.loading.editor_schema import accept
from equipage.loading.format import (
    YAML_ONLY,
    Format,
    Layering,
    Limits,
    NoOptions,
    Presentation,
    Reading,
    Together,
)
from equipage.loading.model import Shape
from equipage.loading.session import Session
from equipage.loading.tree import Tree, graft, merge, move, put, remove

__all__ = [
    "HOLE", "ROOT", "YAML_ONLY", "Also", "Catalogue", "Change", "Code", "Fact", "FileProblem",
    "Format", "Layering", "Limits", "NoOptions", "Path", "PathPolicy", "Presentation", "Reading",
    "Remedy", "Session", "Shape", "Shown", "Together", "Tree", "accept", "get", "graft",
    "merge", "move", "nearest", "put", "remove",
]  # fmt: skip
