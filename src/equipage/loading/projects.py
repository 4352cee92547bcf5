"""The project a file belongs to: the folder that its references may not leave."""

from __future__ import annotations

import os
from collections.abc import Iterable

from equipage.core.text import expression
from equipage.files import is_link, real_path
from equipage.files.reading import Files, files_here
from equipage.loading.session import Run
from equipage.loading.tree import get
from equipage.syntax import SyntaxProblem
from equipage.syntax.document import load_value

_PROJECT_MARKS = (".git", "equipage.toml")
#: However `tool.equipage` is written in TOML, one of these is in the text: `tool.equipage` with
#: quotes and blanks, `[tool]`, `tool = {`. It spares most projects a parse of their settings.
_MAY_SPEAK = expression(r"""tool["']?\s*(?:\.\s*["']?equipage|[\]=])""")


class _Roots:
    """The project roots of one run."""

    def __init__(self) -> None:
        self.by_folder: dict[str, str] = {}
        self.real: dict[str, str] = {}  #: folder → the folder without links
        self.marked: dict[str, str | None] = {}  #: folder without links → the nearest project above


def root_in(run: Run, path: str) -> str:
    """As `project_root` for an absolute path, looked up once per folder in a run."""
    known, folder = run.cache(_Roots), os.path.dirname(path)
    if folder not in known.by_folder:
        real = _real_in(known, folder)
        marked = _marked_in(known, real, run.files)
        known.by_folder[folder] = marked or project_of_folder(real, run.folders, run.files)
    return known.by_folder[folder]


def _real_in(known: _Roots, folder: str) -> str:
    """A folder without links. In a walk, the folder above it is known already."""
    if folder not in known.real:
        above, name = os.path.split(folder)
        is_known = above in known.real and not is_link(folder)
        known.real[folder] = os.path.join(known.real[above], name) if is_known else _real(folder)
    return known.real[folder]


def _marked_in(known: _Roots, folder: str, files: Files) -> str | None:
    unknown: list[str] = []
    while folder not in known.marked:
        above = os.path.dirname(folder)
        if _is_marked(folder, files):
            known.marked[folder] = folder
        elif above == folder:
            known.marked[folder] = None
        else:
            unknown.append(folder)
            folder = above
    for each in unknown:
        known.marked[each] = known.marked[folder]
    return known.marked[folder]


def _is_marked(folder: str, files: Files) -> bool:
    """Whether a folder is the root of a project by what it holds."""
    marked = any(files.exists(os.path.join(folder, mark)) for mark in _PROJECT_MARKS)
    return marked or speaks_of_equipage(folder, files)


def project_root(path: str, named: Iterable[str] = (), files: Files | None = None) -> str:
    """The folder that references of a file may not leave, see `project_of_folder`."""
    return project_of_folder(os.path.dirname(_real(path)), named, files)


def project_of_folder(folder: str, named: Iterable[str] = (), files: Files | None = None) -> str:
    """The project that a folder belongs to.

    It is the nearest parent with `.git`, `equipage.toml` or a `pyproject.toml` that has
    `[tool.equipage]`; else the innermost folder that the caller `named` and that contains it; else
    the folder itself. The working directory does not matter: a verdict must not depend on it.
    """
    files = files or files_here()
    current = folder = _real(folder)
    while True:
        if _is_marked(current, files):
            return current
        parent = os.path.dirname(current)
        if parent == current:
            break
        current = parent
    inside = (
        each
        for each in map(_real, named)
        if f"{folder}{os.sep}".startswith(each.rstrip(os.sep) + os.sep)
    )
    return max(inside, key=len, default=folder)


def _real(path: str) -> str:
    """A path without links; unchanged if no file can have that name, which reading it reports."""
    try:
        return real_path(path)
    except ValueError:
        return path


def speaks_of_equipage(folder: str, files: Files) -> bool:
    """Whether a folder has a `pyproject.toml` with settings of ours.

    One that cannot be parsed counts if it looks like it, so that its error is reported.
    """
    data = files.peek(os.path.join(folder, "pyproject.toml"))
    if data is None or b"equipage" not in data:
        return False
    if not _MAY_SPEAK.search(data.decode("utf-8", "replace")):
        return False
    try:
        value = load_value("toml", data.decode("utf-8").removeprefix("\ufeff"))
    except (SyntaxProblem, UnicodeDecodeError):
        return b"[tool.equipage" in data
    return get(value, ("tool", "equipage")) is not None
