"""Which kind a file is of.

A file is recognised by the settings of its project, by its path, by the plugin it belongs to, by
the keys of its header or by its content; the first that matches counts. Only light predicates are
asked, so that looking at a file imports no kind but its own.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from functools import cache
from typing import Protocol

import msgspec

from equipage.core.codes import POSSIBLE_KIND, UNRECOGNISED
from equipage.core.diagnostics import Code, Diagnostic
from equipage.files.reading import Files, display_name, require_text
from equipage.files.sandbox import MAX_BYTES, FileProblem
from equipage.loading import registry
from equipage.loading.plugins import part_of_plugin
from equipage.loading.registry import Recognition, conventions, path_pattern
from equipage.loading.session import Run
from equipage.loading.signs import KEY_AT_START, kind_of_header
from equipage.syntax import SyntaxProblem
from equipage.syntax.document import Format, load_value

_FORMATS: dict[str, Format] = {".yaml": "yaml", ".yml": "yaml", ".json": "json"}


class Recognised(msgspec.Struct, frozen=True):
    """The name of a file's kind; or why it cannot be recognised. Neither: the file is not ours."""

    kind: str | None = None
    problem: Diagnostic | None = None
    #: by its header alone: another load that reads the file knows better
    guessed: bool = False


class Claims(Protocol):
    """What a project says about its files."""

    @property
    def conventions(self) -> bool:
        """Whether the files of other agent tools are recognised."""
        ...

    def kind_of(self, path: str) -> str | None:
        """The kind that the settings give a file, by its absolute path."""
        ...


def recognise(
    path: str, project: Claims, run: Run, *, named: bool = True, files: Files | None = None
) -> Recognised:
    """The kind of a file. Whether one that is not recognised exists matters only if it is named."""
    files = files or run.files.again()
    absolute = os.path.normpath(os.path.join(files.cwd, path))
    known = recognise_name(absolute, project)
    if known is not None:
        return Recognised(known)
    slashed = absolute.replace(os.sep, "/")
    extension = os.path.splitext(path)[1].lower()
    has_header = extension == ".md" and project.conventions
    if has_header and (part := part_of_plugin(slashed, run)) is not None:
        return Recognised(part)
    if not has_header and extension not in _FORMATS and not named:
        return Recognised()
    try:
        source = files.read(path, max_bytes=10 * MAX_BYTES)
    except FileProblem as problem:
        return Recognised(problem=_finding(problem.code, path, **problem.values))
    try:
        text, unreadable = require_text(source).text, None
    except FileProblem as problem:
        text, unreadable = source.data.decode("utf-8", "replace"), problem
    kind: str | None = None
    maybe: str | None = None
    if has_header:
        kind = kind_of_header(slashed, text)
    elif extension in _FORMATS:
        kind, maybe = recognise_content(text, _FORMATS[extension], named=named)
    if unreadable is not None:
        if not named and kind is None and maybe is None:
            return Recognised()
        return Recognised(problem=_finding(unreadable.code, path, **unreadable.values))
    if kind is None and maybe is not None:
        if named:
            return Recognised(maybe)
        # A walk does not check what only may be of a kind; a note says so.
        return Recognised(problem=_finding(POSSIBLE_KIND, path, kind=maybe))
    return Recognised(kind, guessed=has_header and kind is not None)


def unrecognised(path: str) -> Diagnostic:
    """The finding that a file the caller named is of no kind."""
    return _finding(UNRECOGNISED, path)


def _finding(code: Code, path: str, **values: object) -> Diagnostic:
    from equipage.loading.findings import finding  # most files have none

    return finding(code, display_name(path), values)


def recognise_name(absolute: str, project: Claims) -> str | None:
    """The kind of a file as far as the settings and its path alone say it."""
    slashed = absolute.replace(os.sep, "/")
    return project.kind_of(absolute) or recognise_path(slashed, conventions=project.conventions)


def recognise_path(path: str, *, conventions: bool = True) -> str | None:
    """The kind of a file by its absolute path with `/` alone."""
    return _by_path(registry.BUILT_IN, path) or (kind_of_path(path) if conventions else None)


def kind_of_path(path: str) -> str | None:
    """The kind of a file of another agent tool by its absolute path with `/` alone."""
    return _by_path(conventions(), path)


def _by_path(rows: tuple[Recognition, ...], path: str) -> str | None:
    kinds, pattern = _patterns(rows)
    match = pattern.search(path)
    return None if match is None else kinds[(match.lastindex or 1) - 1]


@cache
def _patterns(rows: tuple[Recognition, ...]) -> tuple[tuple[str, ...], re.Pattern[str]]:
    """The kinds that have paths, and one expression with a group for each of them."""
    placed = [each for each in rows if each.paths]
    pattern = "|".join(f"({path_pattern(each.paths)})" for each in placed)
    return tuple(each.kind for each in placed), re.compile(pattern)


def recognise_content(
    text: str, syntax: Format, *, named: bool = False
) -> tuple[str | None, str | None]:
    """The kind a text surely is of by what it holds, and the kind it may be of.

    A text that does not parse may be of a kind whose words it has: nothing more can be said.
    """
    rows = [each for each in registry.BUILT_IN if each.by_content and each.worth_parsing(text)]
    if not rows:
        return None, None
    try:
        value = load_value(syntax, text.removeprefix("\ufeff"))
    except SyntaxProblem:
        key = KEY_AT_START.search(text)
        looks = (each.kind for each in rows if key is not None and key[1] in each.words[0])
        return None, next(looks, None)
    sure = next((each.kind for each in rows if each.by_content and each.by_content(value)), None)
    maybe = (each.kind for each in rows if each.possibly and each.possibly(value, named=named))
    return sure, next(maybe, None)


def folders_of_kinds(entered: str) -> Iterator[tuple[str, str]]:
    """The folders for files of one kind that a folder (absolute, with `/` at its end) is or holds.

    Each comes with its kind, without the `/`.
    """
    for each in (*registry.BUILT_IN, *conventions()):
        if each.folder is None:
            continue
        if entered.endswith("/.defect/"):
            yield each.kind, entered + each.folder
        elif entered.endswith((f"/.defect/{each.folder}/", f"/defect/{each.folder}/")):
            yield each.kind, entered.rstrip("/")
