"""Facts to words: the one place where sentences are made, and where secrets are kept out of them.

Every value from the input is shown shortened and with control characters made visible. A value that
came from the environment is shown as the author wrote it, `${NAME}`, whatever field it landed in.
"""

from __future__ import annotations

import json
import string
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from equipage.core.diagnostics import Shown, Words
from equipage.core.frozen import levels
from equipage.core.path import HOLE, ROOT, Path, format_path, get
from equipage.core.source import Source
from equipage.core.text import split_lines, visible
from equipage.loading.tree import Origin
from equipage.syntax.document import Document, VariableUse
from equipage.syntax.suspicious import mask_secrets

#: Longer values are cut in the middle of a sentence.
MAX_SHOWN = 80
#: Of a longer list of names only these are named.
MAX_NAMED = 20
#: Shorter values of variables are recognised only where they are a whole value: `5` is everywhere.
_SHORTEST_SECRET = 4
#: Longer numbers are described, in bits: Python refuses to write several thousand digits.
_LONGEST_NUMBER = 1000
#: Divides a template into texts and the names of the values behind them.
_template_parts = string.Formatter().parse

#: Spells text that contains no variable.
Spelling = Callable[[str], str]

_MISSING: Any = object()


def shorten(text: str, limit: int = MAX_SHOWN) -> str:
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def type_name(value: object) -> str:
    """The type of a plain value in words."""
    for sort, words in _TYPE_NAMES:
        if isinstance(value, sort):
            return words
    return str(getattr(value, "made_by_directive", None) or type(value).__name__)


#: In this order: a bool is an int, too.
_TYPE_NAMES: tuple[tuple[Any, str], ...] = (
    (type(None), "null"),
    (bool, "true or false"),
    (int, "a whole number"),
    (float, "a number"),
    (str, "text"),
    (list | tuple, "a list"),
    (dict, "a mapping"),
)


class Redactor:
    """Replaces values that came from the environment by what the author wrote."""

    def __init__(
        self,
        documents: Iterable[Document] = (),
        sources: Iterable[Source] = (),
        texts: Iterable[tuple[str, str]] = (),
    ) -> None:
        self.values: dict[tuple[type, object], str] = {}
        self.texts: dict[str, str] = {}
        self.keys: dict[str, str] = {}
        #: keys, values and texts of files outside the allowed folders
        self.foreign: set[object] = set()
        self.foreign_texts: list[str] = []
        self.blind = False  #: whether to show no value at all
        for document in documents:
            self._learn(document)
            if document.source.outside:
                self.foreign |= set(_keys_and_scalars(document.value))
        for source in sources:
            self._learn_texts(source.secrets)
            if source.outside:
                self.foreign_texts.append(source.text)
        self._learn_texts(texts)

    def _learn(self, document: Document) -> None:
        """Remember the keys and values that contain a variable, and how the author wrote them."""
        for touch in document.variable_uses():
            value = touch.path[-1] if touch.is_key else get(document.value, touch.path, HOLE)
            if touch.is_key:
                self.keys[str(value)] = touch.written
            if isinstance(value, str | int | float) and not isinstance(value, bool):
                self.values[type(value), value] = touch.written

    def _learn_texts(self, secrets: Iterable[tuple[str, str]]) -> None:
        """Remember the values of variables by name, to find them anywhere in a sentence."""
        for name, value in secrets:
            # A sentence may quote one line of a value that has several.
            for line in (value, *split_lines(value)):
                if len(line.strip()) >= _SHORTEST_SECRET:
                    self.texts[line.strip()] = f"${{{name}}}"

    def redact(self, text: str) -> str:
        """Text without any value of a variable in it.

        Of several values that begin at one place, the longest counts. The time does not grow with
        the number of variables: a file may have thousands of them, and as many findings.
        """
        if not self.texts:
            return text
        parts: list[str] = []
        start = position = 0
        while position < len(text):
            # Few secrets begin with the same letters, and each of them with other lengths.
            for length in self._lengths.get(text[position : position + _SHORTEST_SECRET], ()):
                shown = self.texts.get(text[position : position + length])
                if shown is not None:
                    parts += (text[start:position], shown)
                    start = position = position + length
                    break
            else:
                position += 1
        return "".join((*parts, text[start:]))

    @cached_property
    def _lengths(self) -> dict[str, list[int]]:
        """How long the values are that begin with these letters, the longest first."""
        lengths: dict[str, set[int]] = {}
        for secret in self.texts:
            lengths.setdefault(secret[:_SHORTEST_SECRET], set()).add(len(secret))
        return {beginning: sorted(found, reverse=True) for beginning, found in lengths.items()}

    def written_form(self, value: object) -> str | None:
        """How to show a value that came from the environment, None if it did not."""
        if not isinstance(value, str | int | float):
            return None
        known = self.values.get((type(value), value))
        if known is not None or not isinstance(value, str) or len(value) < _SHORTEST_SECRET:
            return known
        if value not in self._all_texts:
            return None
        return next((shown for secret, shown in self.texts.items() if value in secret), None)

    @cached_property
    def _all_texts(self) -> str:
        return "\0".join(self.texts)

    def hides(self, value: object) -> bool:
        """Whether a value is, or may be, part of a file outside the allowed folders."""
        if self.blind or not self.foreign_texts:
            return self.blind
        # A number is hidden only if it is one of the file; a text also if it is a part of it.
        if not isinstance(value, str | int | float) or value in self.foreign:
            return isinstance(value, str | int | float)
        return isinstance(value, str) and any(value in text for text in self.foreign_texts)

    def redact_path(self, path: Path) -> Path:
        """A path whose keys are shown as the author wrote them; none of a file outside."""
        if self.blind:
            return ()
        keys = self.keys
        return tuple(
            step
            if not isinstance(step, str)
            else "…"
            if step in self.foreign
            else keys.get(step, self.redact(step))
            for step in path
        )


def _keys_and_scalars(value: Any) -> Iterator[object]:
    """Every key and scalar of a plain value."""
    for level in levels(value):
        for node in level:
            children = [*node, *node.values()] if isinstance(node, dict) else node
            yield from (each for each in children if isinstance(each, str | int | float))
    if isinstance(value, str | int | float):
        yield value


def show(value: object, redactor: Redactor, *, as_found: bool = False) -> str:
    """A value of the input as a sentence may show it."""
    secret = redactor.written_form(value)
    if secret is not None:
        return visible(secret)
    if redactor.hides(value):
        return type_name(value) if as_found else "…"
    if isinstance(value, str):
        text = shorten(visible(mask_secrets(redactor.redact(value))))
        return (f"text `{text}`" if value else "empty text") if as_found else text
    if isinstance(value, dict | list | tuple) and as_found:
        return type_name(value)
    if isinstance(value, tuple) and all(isinstance(each, str) for each in value):
        named = ", ".join(f"`{show(each, redactor)}`" for each in value[:MAX_NAMED])
        return named + (f" and {len(value) - MAX_NAMED} more" if len(value) > MAX_NAMED else "")
    if isinstance(value, int) and value.bit_length() > _LONGEST_NUMBER:
        digits = int(value.bit_length() * 0.30103) + 1  # the logarithm of 2
        return f"a number with {digits} digits"
    text = shorten(visible(redactor.redact(_plain_text(value))))
    if not as_found or value is None:
        return text
    if isinstance(value, bool):
        return f"`{text}`"
    return f"the number {text}" if isinstance(value, int | float) else type_name(value)


def _plain_text(value: object) -> str:
    if isinstance(value, tuple | list) and all(isinstance(each, str) for each in value):
        return ", ".join(f"`{each}`" for each in value)
    try:
        return json.dumps(value, ensure_ascii=False, default=str)
    except (ValueError, RecursionError):
        return str(type(value).__name__)


def _values_in_words(values: Mapping[str, object], redactor: Redactor) -> dict[str, str | None]:
    """The values of a fact as they may appear in a sentence; None for one that is missing."""
    words: dict[str, str | None] = {}
    for name, value in values.items():
        if value is None:
            words[name] = None
        elif isinstance(value, Shown):
            inner, hidden = value.value, value.hidden and value.value is not None
            words[name] = (
                type_name(inner) if hidden else show(inner, redactor, as_found=value.as_found)
            )
        elif isinstance(value, tuple) and value and isinstance(value[0], str | int):
            words[name] = visible(", ".join(f"`{each}`" for each in value))
        else:
            words[name] = redactor.redact(str(value))
    return words


def message_of(words: Words, values: Mapping[str, object], redactor: Redactor) -> str:
    """The sentence of a fact."""
    return visible(words.message.format_map(_TolerantValues(_values_in_words(values, redactor))))


def help_of(words: Words, values: Mapping[str, object], redactor: Redactor) -> str | None:
    """The help of a fact; None if no part of it can be shown.

    Parts divided by `; ` are left out one by one where a value they name is missing, or may be made
    from one that must not be shown.
    """
    if words.help is None:
        return None
    shown = _values_in_words(values, redactor)
    parts = [
        part
        for part in words.help.split("; ")
        if all(
            shown.get(name) is not None and not redactor.blind
            for _, name, _, _ in _template_parts(part)
            if name
        )
    ]
    # A question ends a sentence, so what follows it begins another one.
    text = "; ".join(parts).replace("?; ", "? ").format_map(_TolerantValues(shown))
    return "\n".join(map(visible, text.split("\n"))) or None


class _TolerantValues(dict[str, Any]):
    """Shows a value that is not given by its name: a slip in a rule must not hide a finding."""

    def __init__(self, shown: Mapping[str, str | None]) -> None:
        super().__init__({name: word or "" for name, word in shown.items()})

    def __missing__(self, name: str) -> str:
        return f"{{{name}}}"


def path_of(path: Path, redactor: Redactor) -> str:
    return visible(format_path(redactor.redact_path(path)))


class Bare(str):
    """A variable in place of a number or the like: in quotes it would be text."""


class VariableMask:
    """Masks the values of environment variables in the documents of one load."""

    def __init__(self, documents: Sequence[Document]) -> None:
        self._documents = documents

    @cached_property
    def _uses(self) -> dict[tuple[int, Path], VariableUse]:
        """The variables in values, by the place of the value."""
        return {
            (id(document), touch.path): touch
            for document in self._documents
            for touch in document.variable_uses()
            if not touch.is_key
        }

    def variables_at(self, origin: Origin, *, unset: bool = False) -> tuple[str, ...]:
        """The names of the variables in the value that is written there; or of those `unset`."""
        use = self._uses.get((id(origin.document), origin.path))
        return () if use is None else use.unset if unset else use.names

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
        texts = (each for document in self._documents for each in document.escaped)
        return Redactor(texts=texts)

    @property
    def is_needed(self) -> bool:
        """Whether there is anything to hide: most configurations have no variables."""
        return bool(self._uses or self._written_keys or self._leftover_redactor.texts)

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
        use = self._uses.get((id(origin.document), origin.path))
        if use is not None:
            return use.written if isinstance(value, str) else Bare(use.written)
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
