"""How to load: the variables, options and roots of a caller, checked at the door."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from equipage.core.arguments import variables_given
from equipage.core.diagnostics import UsageError
from equipage.core.frozen import convert
from equipage.core.text import nearest
from equipage.files import folders_given, process_variables
from equipage.loading.kind import Kind
from equipage.loading.model import Shape, build


class Request(msgspec.Struct, frozen=True):
    """How to load: everything but the what."""

    env: Mapping[str, str]
    options: Mapping[str, object] = {}
    embedded: bool = False
    roots: tuple[str, ...] = ()  #: reference roots the caller allows beside the project's
    project: str | None = None  #: the project root, if the caller knows it
    folders: tuple[
        str, ...
    ] = ()  #: folders the caller named: each is the root of what has no other
    shared: bool = False  #: the options serve several kinds; each takes those it knows

    def __repr__(self) -> str:
        """Without the environment: tracebacks with local variables end up in logs."""
        options, count = dict(self.options), len(self.env)
        return f"Request(options={options!r}, roots={self.roots!r}, env={count} variables)"


def options_of(kind: Kind, request: Request) -> Any:
    """The options of a kind, checked by its own Struct. Raises `UsageError`."""
    known = kind.reading.options.__struct_fields__
    given = {
        name: value
        for name, value in request.options.items()
        if name in known or not request.shared
    }
    for name in given:
        if name not in known:
            guess = nearest(name, known)
            hint = f"; did you mean `{guess}`?" if guess else ""
            raise UsageError(f"`{name}` is not an option of kind {kind.name}{hint}")
    try:
        return convert(given, kind.reading.options)
    except msgspec.ValidationError as error:
        raise UsageError(
            f"options of kind {kind.name}: {_in_words(given, kind) or error}"
        ) from None


def _in_words(given: Mapping[str, object], kind: Kind) -> str:
    """What is wrong with options, in the words of a finding about a file."""
    from equipage.loading.wording import Redactor, message_of, path_of

    plain = {
        name: list(value) if isinstance(value, tuple) else value for name, value in given.items()
    }
    words = Redactor()
    _, _, facts = build(plain, kind.reading.options, Shape())
    return "; ".join(
        f"`{path_of(each.path, words)}`: {message_of(each.code.words, each.values, words)}"
        for each in facts
    )


def request_of(
    env: Mapping[str, str] | None,
    options: Mapping[str, Any],
    *,
    embedded: bool = False,
    roots: Iterable[str | os.PathLike[str]] = (),
) -> Request:
    """How to load, as the arguments of a public function say it."""
    return Request(
        env=process_variables() if env is None else variables_given(env),
        options={name: _plain(value) for name, value in options.items() if value is not None},
        embedded=embedded,
        roots=folders_given("roots", roots),
    )


def _plain(option: Any) -> Any:
    """The value of an option with paths as text, also in a list of them."""
    if isinstance(option, list | tuple):
        return [_plain(each) for each in option]
    return os.fspath(option) if isinstance(option, os.PathLike) else option
