"""Facts to words: the one place where sentences are made, and where secrets are kept out of them.

Every value from the input is shown shortened and with control characters made visible. A value that came
from the environment is shown as the author wrote it, `${NAME}`, whatever field it landed in.
"""

from __future__ import annotations

import json
import string
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any

from equipage.core.codes import Code
from equipage.core.diagnostics import Shown
from equipage.core.path import Path, format_path
from equipage.core.source import Source
from equipage.core.text import visible
from equipage.loading.tree import HOLE, get
from equipage.syntax.document import Document

#: Longer values are cut in the middle of a sentence.
MAX_SHOWN = 80
#: Of a longer list of names only these are named.
MAX_NAMED = 20
#: Shorter values of variables are recognised only where they are a whole value: `5` occurs everywhere.
_SHORTEST_SECRET = 4
#: Python refuses to write numbers of several thousand digits; nobody would read them. In bits.
_LONGEST_NUMBER = 1000


def shortened(text: str, limit: int = MAX_SHOWN) -> str:
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def type_name(value: object) -> str:
    """What a plain value is, in words."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, int):
        return "a whole number"
    if isinstance(value, float):
        return "a number"
    if isinstance(value, str):
        return "text"
    if isinstance(value, list | tuple):
        return "a list"
    if isinstance(value, dict):
        return "a mapping"
    return str(getattr(value, "made_by_directive", None) or type(value).__name__)


class Redactor:
    """Knows which values of a load came from the environment, and how the author wrote them."""

    def __init__(
        self,
        documents: Iterable[Document] = (),
        sources: Iterable[Source] = (),
        texts: Iterable[tuple[str, str]] = (),
    ) -> None:
        self.values: dict[tuple[type, object], str] = {}
        self.texts: dict[str, str] = {}
        self.keys: dict[str, str] = {}
        for document in documents:
            self._learn(document)
        for source in sources:
            self._learn_texts(source.secrets)
        self._learn_texts(texts)

    def _learn(self, document: Document) -> None:
        """Which keys and values a variable went into, and how the author wrote them."""
        for touch in document.touches():
            value = touch.path[-1] if touch.is_key else get(document.value, touch.path, HOLE)
            if touch.is_key:
                self.keys[str(value)] = touch.written
            if isinstance(value, str | int | float) and not isinstance(value, bool):
                self.values[type(value), value] = touch.written

    def _learn_texts(self, secrets: Iterable[tuple[str, str]]) -> None:
        """The values themselves, by name, wherever they may turn up in a sentence."""
        for name, value in secrets:
            for line in (value, *value.splitlines()):
                if len(line.strip()) >= _SHORTEST_SECRET:
                    self.texts[line.strip()] = f"${{{name}}}"

    def text(self, text: str) -> str:
        """Text without any value of a variable in it.

        Of several values that begin at one place, the longest counts. The time does not grow with the number of
        variables: a file may have thousands of them, and as many findings.
        """
        if not self.texts:
            return text
        lengths = self._lengths
        parts: list[str] = []
        start = position = 0
        while position < len(text):
            for length in lengths.get(text[position : position + _SHORTEST_SECRET], ()):
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

    def value(self, value: object) -> str | None:
        """How to show a value that came from the environment, None if it did not."""
        known = (
            self.values.get((type(value), value)) if isinstance(value, str | int | float) else None
        )
        if (
            known is None
            and isinstance(value, str)
            and len(value) >= _SHORTEST_SECRET
            and value in self._all_texts
        ):
            return next((shown for secret, shown in self.texts.items() if value in secret), None)
        return known

    @cached_property
    def _all_texts(self) -> str:
        return "\0".join(self.texts)

    def path(self, path: Path) -> Path:
        """A path whose keys are shown as the author wrote them."""
        if not self.keys and not self.texts:
            return path
        return tuple(
            self.keys.get(step, self.text(step)) if isinstance(step, str) else step for step in path
        )


def show(value: object, redactor: Redactor, *, as_found: bool = False) -> str:
    """A value of the input as it may stand in a sentence."""
    secret = redactor.value(value)
    if secret is not None:
        return visible(secret)
    if isinstance(value, str):
        text = shortened(visible(redactor.text(value)))
        return (f"text `{text}`" if value else "empty text") if as_found else text
    if isinstance(value, dict | list | tuple) and as_found:
        return type_name(value)
    if isinstance(value, tuple) and all(isinstance(each, str) for each in value):
        named = ", ".join(f"`{show(each, redactor)}`" for each in value[:MAX_NAMED])
        return named + (f" and {len(value) - MAX_NAMED} more" if len(value) > MAX_NAMED else "")
    if isinstance(value, int) and value.bit_length() > _LONGEST_NUMBER:
        return f"a number with {_digits(value)} digits"
    text = shortened(visible(redactor.text(_plain(value))))
    if not as_found or value is None:
        return text
    if isinstance(value, bool):
        return f"`{text}`"
    return f"the number {text}" if isinstance(value, int | float) else type_name(value)


def _digits(value: int) -> int:
    """About how many decimal digits a number has, without writing them out."""
    return int(value.bit_length() * 0.30103) + 1


def _plain(value: object) -> str:
    if isinstance(value, tuple | list) and all(isinstance(each, str) for each in value):
        return ", ".join(f"`{each}`" for each in value)
    try:
        return json.dumps(value, ensure_ascii=False, default=str)
    except (ValueError, RecursionError):
        return str(type(value).__name__)


def _words(values: Mapping[str, object], redactor: Redactor) -> dict[str, str | None]:
    words: dict[str, str | None] = {}
    for name, value in values.items():
        if value is None:
            words[name] = None
        elif isinstance(value, Shown):
            hidden = value.hidden and value.value is not None
            words[name] = (
                type_name(value.value)
                if hidden
                else show(value.value, redactor, as_found=value.as_found)
            )
        elif isinstance(value, tuple) and value and isinstance(value[0], str | int):
            words[name] = visible(", ".join(f"`{each}`" for each in value))
        else:
            words[name] = redactor.text(str(value))
    return words


def message_of(code: Code, values: Mapping[str, object], redactor: Redactor) -> str:
    """The sentence of a fact."""
    words = {name: "" if word is None else word for name, word in _words(values, redactor).items()}
    return visible(code.message.format_map(_Forgiving(words)))


def help_of(code: Code, values: Mapping[str, object], redactor: Redactor) -> str | None:
    """The help of a fact, if all it would say is known.

    Parts divided by `; ` are left out one by one where a value they name is missing.
    """
    if code.help is None:
        return None
    words = _words(values, redactor)
    parts = [
        part
        for part in code.help.split("; ")
        if all(words.get(name) is not None for name in _names(part))
    ]
    text = (
        "; ".join(parts)
        .replace("?; ", "? ")
        .format_map(_Forgiving({name: word or "" for name, word in words.items()}))
    )
    return "\n".join(map(visible, text.split("\n"))) or None


def _names(template: str) -> list[str]:
    return [name for _, name, _, _ in string.Formatter().parse(template) if name]


class _Forgiving(dict[str, Any]):
    """A value nobody gave is shown by its name, so that a slip in a rule never hides a finding."""

    def __missing__(self, name: str) -> str:
        return f"{{{name}}}"


def path_of(path: Path, redactor: Redactor) -> str:
    return visible(format_path(redactor.path(path)))
