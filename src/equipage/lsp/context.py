"""The load that an open text belongs to, and the place of the text in it.

A file of a kind is its own load. A file that others include has a place in each of theirs; the
first one counts. While a text is broken, the last load that was good answers.
"""

from __future__ import annotations

from typing import Any

import msgspec

from equipage.core.path import ROOT, Path
from equipage.loading.outcome import Outcome
from equipage.loading.result import Loaded
from equipage.loading.tree import Origins, Tree
from equipage.lsp.fields import Fields, fields_of
from equipage.lsp.state import Opened, Workspace
from equipage.syntax.document import Document


class Context(msgspec.Struct, frozen=True):
    """An open text in the load that reads it."""

    outcome: Outcome
    document: Document  #: of the text, as it was when it could be parsed
    prefix: Path = ROOT  #: where the text is in the configuration

    @property
    def fields(self) -> Fields:
        return fields_of(self.outcome.kind.name)

    def authored_path(self, path: Path) -> Path:
        """A path of the text as the author of the whole configuration would write it."""
        tree = self.outcome.tree
        whole = (*self.prefix, *path)
        return whole if tree is None or not self.prefix else tree.path_as_written(whole)

    @property
    def value(self) -> Any:
        """The value that paths of `authored_path` lead into, as far as it is known."""
        if not self.prefix:
            return self.document.value
        return self.outcome.tree.value if self.outcome.tree is not None else None

    def loaded_or_none(self) -> Loaded[Any] | None:
        return self.outcome.loaded_or_none()

    def is_current(self, opened: Opened) -> bool:
        """Whether the places of the document are those of the text as it is now."""
        return self.document.source.text == opened.text.text


def context_of(workspace: Workspace, opened: Opened) -> Context | None:
    """Return the context of an open text; None if no load reads it."""
    load = workspace.load(opened.path)
    if opened.load is None:
        opened.keep(load)
    found = _own_context(load.outcome, opened) or _own_context(opened.good, opened)
    if found is not None:
        return found
    for path in workspace.users_of(opened.real):
        user = workspace.load(path).outcome
        part = (
            None
            if user is None or user.tree is None
            else _included_context(user, user.tree, opened.real)
        )
        if part is not None:
            opened.part = part
            return part
    known = opened.part
    return known if isinstance(known, Context) else None


def _own_context(outcome: Outcome | None, opened: Opened) -> Context | None:
    if outcome is None or not outcome.documents:
        return None
    document = next(
        (each for each in outcome.documents if each.source.filename == opened.real), None
    )
    return None if document is None else Context(outcome, document)


def _included_context(user: Outcome, tree: Tree, real: str) -> Context | None:
    """The place of a file in the configuration that includes it."""
    waiting: list[tuple[Path, Origins]] = [(ROOT, tree.origins)]
    while waiting:
        path, node = waiting.pop()
        here = node.here
        if here is not None and here.document.source.filename == real and not here.path:
            return Context(user, here.document, path)
        waiting += (((*path, step), child) for step, child in node.below.items())
    return None
