"""Values of the environment kept out of what is shown: each is written as its author wrote it.

A value that contains a variable is known by its place in its document, a key by its text. Where the
value of a variable changed the structure of a text, its remains may be anywhere, so all text is
searched for them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from equipage.core.path import ROOT, Path
from equipage.loading.tree import Origin, get
from equipage.syntax.document import Document

if TYPE_CHECKING:
    from equipage.loading.wording import Redactor

#: Spells text that contains no variable.
Spelling = Callable[[str], str]

_MISSING: Any = object()


class VariableMask:
    """Masks the values of environment variables in the documents of one load."""

    def __init__(self, documents: Sequence[Document]) -> None:
        self._documents = documents

    @cached_property
    def values_with_variables(self) -> dict[tuple[int, Path], tuple[tuple[str, ...], str]]:
        """The names of the variables in each value, and how it was written; by its place."""
        return {
            (id(document), touch.path): (touch.names, touch.written)
            for document in self._documents
            for touch in document.variable_uses()
            if not touch.is_key
        }

    @cached_property
    def _written_keys(self) -> dict[str, str]:
        """Keys that a variable went into, and how they were written."""
        return {
            str(touch.path[-1]): touch.written
            for document in self._documents
            for touch in document.variable_uses()
            if touch.is_key
        }

    @cached_property
    def _leftover_redactor(self) -> Redactor:
        """Redacts what is left of values that changed the structure of a text."""
        from equipage.loading.wording import Redactor  # a load without findings needs it here alone

        texts = (each for document in self._documents for each in document.escaped)
        return Redactor(texts=texts)

    @property
    def is_needed(self) -> bool:
        """Whether there is anything to hide: most configurations have no variables."""
        return bool(
            self.values_with_variables or self._written_keys or self._leftover_redactor.texts
        )

    def mask_path(self, path: Path) -> Path:
        """The path, with keys that contain a variable as the author wrote them."""
        return _rename_keys(path, self._written_keys)

    def unmask_path(self, path: Path) -> Path:
        """The inverse of `mask_path`."""
        return _rename_keys(path, {written: key for key, written in self._written_keys.items()})

    def mask_value(
        self,
        value: Any,
        origin_of: Callable[[Path], Origin],
        literal: Spelling | None = None,
        path: Path = ROOT,
    ) -> Any:
        """The value, with each leaf that contains a variable as the author wrote it.

        `origin_of` returns the origin of a path; `literal` spells text without variables.
        """
        if isinstance(value, dict):
            return {
                self._written_keys.get(key) or self._mask_text(key, literal): self.mask_value(
                    child, origin_of, literal, (*path, key)
                )
                for key, child in value.items()
            }
        if isinstance(value, list):
            return [
                self.mask_value(child, origin_of, literal, (*path, number))
                for number, child in enumerate(value)
            ]
        # A leaf counts as it was written, wherever directives and merges moved it since.
        origin = written_origin(origin_of(path))
        known = self.values_with_variables.get((id(origin.document), origin.path))
        if known is not None:
            return known[1]
        if isinstance(value, str):
            return self._mask_text(value, literal)
        return self._leftover_redactor.texts.get(str(value), value)

    def _mask_text(self, text: str, literal: Spelling | None) -> str:
        hidden = self._leftover_redactor.redact(text)
        return literal(text) if literal is not None and hidden == text else hidden


def written_origin(origin: Origin) -> Origin:
    """The origin of the text that a value was split from, as in `a, b`; else `origin` itself."""
    value: Any = origin.document.value
    for depth, step in enumerate(origin.path):
        if not isinstance(value, dict | list):
            return Origin(origin.document, origin.path[:depth])
        value = get(value, (step,), _MISSING)
        if value is _MISSING:
            return origin  # it is not written
    return origin


def _rename_keys(path: Path, keys: Mapping[str, str]) -> Path:
    return tuple(keys.get(step, step) if isinstance(step, str) else step for step in path)


# Text that looks like a variable and is none, in files that replace variables.


def escape_for_substitution(text: str) -> str:
    """Escape text so that variable substitution gives it back unchanged."""
    return text.replace("$", "$$") if "$$" in text or "${" in text else text


def escape_references(text: str) -> str:
    """Escape text that contains `${`, so that it does not read as a variable."""
    return text.replace("$", "$$") if "${" in text else text


def map_texts(value: Any, literal: Spelling) -> Any:
    """Plain data with `literal` applied to every key and text."""
    if isinstance(value, dict):
        return {literal(key): map_texts(each, literal) for key, each in value.items()}
    if isinstance(value, list):
        return [map_texts(each, literal) for each in value]
    return literal(value) if isinstance(value, str) else value
