"""The project that a file belongs to: its references may not leave it.

The project is the nearest folder above the file with a mark: `.git`, `equipage.toml`, or a
`pyproject.toml` with `[tool.equipage]`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable

from equipage.core.path import get
from equipage.core.text import lazy_regex
from equipage.files import System, is_below, parents_of
from equipage.loading.session import Run
from equipage.syntax import SyntaxProblem
from equipage.syntax.document import load_value

#: Where settings are; the second also marks a project, if it has `[tool.equipage]`.
OWN_FILE, SHARED_FILE = "equipage.toml", "pyproject.toml"
_PROJECT_MARKS = (".git", OWN_FILE)
#: However `tool.equipage` is written in TOML, one of these is in the text: `tool.equipage` with
#: quotes and blanks, `[tool]`, `tool = {`. It spares most projects a parse of their settings.
_MAY_HAVE_SETTINGS = lazy_regex(r"""tool["']?\s*(?:\.\s*["']?equipage|[\]=])""")
#: What may mark a project, in lower case: some systems ignore case.
PROJECT_NAMES = frozenset({*_PROJECT_MARKS, SHARED_FILE})


class _WalkedFolders:
    """What walks of this run saw in folders, by path, so that the system is not asked again."""

    def __init__(self) -> None:
        self.names: dict[str, frozenset[str]] = {}  #: folder → the names in it that matter
        self.plain: set[str] = set()  #: folders that are not links


def remember_walked_folder(
    run: Run, folder: str, names: frozenset[str] | None, *, is_plain: bool
) -> None:
    """Remember what a walk saw: the names in an absolute folder, and that it is not a link.

    The names are in lower case; all that `folder_has` is ever asked about must be among them.
    """
    walked, folder = run.around.cache(_WalkedFolders), folder.rstrip("/") or "/"
    if is_plain:
        walked.plain.add(folder)
    if names is None:
        return
    walked.names[folder] = names
    if is_plain and (not names or _has_no_project_mark(names)):  # the usual folder
        roots = run.around.cache(_ProjectRoots)
        root = roots.by_mark.get(folder.rpartition("/")[0])
        if root is not None:
            roots.by_folder[folder] = roots.by_mark[folder] = root


def _has_no_project_mark(names: frozenset[str]) -> bool:
    """Whether nothing in a folder marks a project."""
    return names.isdisjoint(PROJECT_NAMES)


def folder_has(run: Run, folder: str, name: str) -> bool:
    """Whether there is anything of that name in a folder."""
    seen = run.around.cache(_WalkedFolders).names.get(folder)
    if seen is not None and name.partition("/")[0].lower() not in seen:
        return False
    return run.around.files.system.exists(f"{folder}/{name}")


class _ProjectRoots:
    """The project roots of one run."""

    def __init__(self) -> None:
        self.by_folder: dict[str, str] = {}
        self.by_mark: dict[str, str] = {}  #: only those that something in a folder marks
        self.real: dict[str, str] = {}  #: folder → the folder without links
        self.marked: dict[str, str | None] = {}  #: folder without links → the nearest project above


def root_of_folder(run: Run, folder: str) -> str:
    """The project root of the files in an absolute folder, which is looked up once in a run."""
    known = run.around.cache(_ProjectRoots)
    root = known.by_folder.get(folder)
    if root is None:
        real, marked = _real_folder(known, folder, run), marked_project(run, folder)
        root = marked or _innermost(real, run.request.folders, run.around.files.system)
        known.by_folder[folder] = root
        if marked is not None:
            known.by_mark[folder] = root
    return root


def settings_file(run: Run, root: str) -> str | None:
    """The file that holds the settings of the project at `root`; None if there is none."""
    if run.around.cache(_ProjectRoots).marked.get(root, root) != root:
        return None  # nothing marks it
    system, own = run.around.files.system, os.path.join(root, OWN_FILE)
    if system.exists(own) and not system.is_folder(own):
        return own
    # A `pyproject.toml` is parsed only if it names us: most belong to other tools.
    return os.path.join(root, SHARED_FILE) if has_equipage_table(root, system) else None


def marked_project(run: Run, folder: str) -> str | None:
    """The root of the project around an absolute folder, if something marks it."""
    known = run.around.cache(_ProjectRoots)
    return _nearest_marked(known, _real_folder(known, folder, run), run)


def _real_folder(known: _ProjectRoots, folder: str, run: Run) -> str:
    """A folder without links. Each folder on the way is looked at once in a run."""
    unknown: list[str] = []
    here, plain = folder, run.around.cache(_WalkedFolders).plain
    system = run.around.files.system
    while here not in known.real:
        above, name = os.path.split(here)
        if name in ("", ".", "..") or (here not in plain and system.is_link(here)):
            known.real[here] = system.real(here)
        else:
            unknown.append(here)
            here = above
    for each in reversed(unknown):
        known.real[each] = os.path.join(known.real[os.path.dirname(each)], os.path.basename(each))
    return known.real[folder]


def _nearest_marked(known: _ProjectRoots, folder: str, run: Run) -> str | None:
    unknown: list[str] = []
    seen = run.around.cache(_WalkedFolders).names
    while folder not in known.marked:
        above = os.path.dirname(folder)
        is_bare = folder in seen and _has_no_project_mark(seen[folder])
        if not is_bare and is_project_root(folder, run.around.files.system):
            known.marked[folder] = folder
        elif above == folder:
            known.marked[folder] = None
        else:
            unknown.append(folder)
            folder = above
    for each in unknown:
        known.marked[each] = known.marked[folder]
    return known.marked[folder]


def is_project_root(folder: str, system: System) -> bool:
    """Whether a folder is the root of a project by what it holds."""
    marked = any(system.exists(os.path.join(folder, mark)) for mark in _PROJECT_MARKS)
    return marked or has_equipage_table(folder, system)


def project_of_folder(folder: str, system: System, named: Iterable[str] = ()) -> str:
    """The project that a folder belongs to.

    It is the nearest parent with `.git`, `equipage.toml` or a `pyproject.toml` that has
    `[tool.equipage]`; else the innermost folder that the caller `named` and that contains it; else
    the folder itself. The working directory does not matter: a verdict must not depend on it.
    """
    folder = system.real(folder)
    marked = (each for each in (folder, *parents_of(folder)) if is_project_root(each, system))
    return next(marked, None) or _innermost(folder, named, system)


def _innermost(folder: str, named: Iterable[str], system: System) -> str:
    """The innermost of the named folders that contains a folder without links; else that folder."""
    inside = [each for each in map(system.real, named) if is_below(folder, each)]
    return max(inside, key=len, default=folder)


def has_equipage_table(folder: str, system: System) -> bool:
    """Whether a folder has a `pyproject.toml` with settings of ours.

    One that cannot be parsed counts if it looks like it, so that its error is reported.
    """
    data = system.peek(os.path.join(folder, SHARED_FILE))
    if data is None or b"equipage" not in data:
        return False
    if not _MAY_HAVE_SETTINGS.search(data.decode("utf-8", "replace")):
        return False
    try:
        value = load_value("toml", data.decode("utf-8").removeprefix("\ufeff"))
    except (SyntaxProblem, UnicodeDecodeError):
        return b"[tool.equipage" in data
    return get(value, ("tool", "equipage")) is not None
