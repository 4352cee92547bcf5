"""Directives: `$name` mappings replaced by what they stand for.

Each module is one directive: a stage that takes a tree and gives a tree and findings. A directive that
cannot be expanded leaves a hole and a finding; the walk goes on, so one run reports every problem.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from equipage.core.path import Path
from equipage.loading.tree import find
from equipage.syntax.document import Document

# --- scanning ----------------------------------------------------------------------------------
# Where directives stand, without walking what cannot hold any.


def mentions(document: Document, key: str) -> bool:
    """Whether the text of a document may hold `key`. An escape could spell it in another way."""
    text = document.parsed_text()
    return key in text or "\\" in text


def find_directives(value: Any, key: str, documents: Iterable[Document]) -> list[Path]:
    """The paths of the outermost mappings that hold `key`; the walk is saved where no text mentions it."""
    return find(value, key) if any(mentions(document, key) for document in documents) else []
