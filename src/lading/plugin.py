"""Everything a kind of your own needs, under one name.

A package that brings a kind imports from here and names its `Kind` in the entry point group `lading.kinds`. What is
listed here changes only with a new major version.
"""

from __future__ import annotations

from lading.codes import Code
from lading.diagnostics import Also, Change, Fact, Remedy, Shown, fact
from lading.kinds.kind import YAML_ONLY, Kind, Limits, NoOptions
from lading.model import Shape
from lading.nearest import nearest
from lading.path import ROOT, Path
from lading.sandbox import FileProblem, PathPolicy
from lading.schema_fragments import accept
from lading.session import Session
from lading.tree import HOLE, Tree, get, graft, merge, move, put, remove

__all__ = [
    "HOLE",
    "ROOT",
    "YAML_ONLY",
    "Also",
    "Change",
    "Code",
    "Fact",
    "FileProblem",
    "Kind",
    "Limits",
    "NoOptions",
    "Path",
    "PathPolicy",
    "Remedy",
    "Session",
    "Shape",
    "Shown",
    "Tree",
    "accept",
    "fact",
    "get",
    "graft",
    "merge",
    "move",
    "nearest",
    "put",
    "remove",
]
