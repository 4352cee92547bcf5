"""Which files there are at and below the paths of a request, as their projects want it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import msgspec

from equipage.clients.plugins import NAMES_IN_FOLDERS
from equipage.core import codes
from equipage.core.diagnostics import Diagnostic
from equipage.loading.project_root import PROJECT_NAMES, remember_walked_folder
from equipage.loading.session import Run
from equipage.project.recognise import (
    ALL_NAMES,
    IrrelevantFolders,
    folders_of_kinds,
    names_with_place,
    recognise_place,
    sort_in_other_letters,
    surroundings_of,
)
from equipage.project.registry import LAYER, agent_folders, format_named
from equipage.project.settings import Project, Selection, excluded_by, project_in, project_of

if TYPE_CHECKING:  # most requests walk nothing
    from equipage.files.walking import EnteredFolder, Names, WalkResult


#: What the rooms below ask of folders: a walk has seen it already.
_NAMES_THAT_MATTER = PROJECT_NAMES | NAMES_IN_FOLDERS
#: Settings of clients that lie in no folder of their own.
_SETTINGS_ALONE = frozenset({".mcp.json", "opencode.json", "opencode.jsonc"})


class File(msgspec.Struct, frozen=True):
    """A file to look at. One that the caller named must be of some kind; others need not."""

    path: str
    named: bool = False
    outside: bool = False  #: whether it is a link that leads out of the project, or nowhere


class Found(msgspec.Struct):
    """What is at and below some paths."""

    files: list[File] = []  #: those that the caller named first
    left_out: list[str] = []  #: the names of files that the caller named and that are excluded
    #: what could not be looked into: a path of the project it is in, and the finding
    problems: list[tuple[str, Diagnostic]] = []
    #: folders for files of one kind, by kind and real path; and those that a walk looked into
    kind_folders: dict[tuple[str, str], str] = {}
    entered_folders: set[str] = set()
    #: folders with settings of agent tools, or with a folder for them
    configured_folders: list[str] = []
    projects: tuple[Project, ...] = ()  #: those that were met on the way


def find(paths: Sequence[str], run: Run, selection: Selection) -> Found:
    """Each file at and below `paths` once."""
    search = _Search(run, selection)
    system = run.files.system
    folders = [path for path in paths if system.is_folder(path)]
    for path in paths:
        if path not in folders:
            search.add_named(path)
    for folder in folders:
        search.walk(folder)
    by_path: dict[str, File] = {}
    for each in search.found.files:
        by_path.setdefault(system.absolute(each.path), each)
    search.found.files = list(by_path.values())
    search.found.projects = tuple(search.projects.values())
    return search.found


def find_around(paths: Iterable[str], files: Iterable[File], run: Run) -> Iterator[str]:
    """The paths of all files of the projects that the paths are in, unless these cover them.

    In the order of a walk; files of the paths are among them.
    """
    from equipage.files.walking import walk

    system = run.files.system
    folders = {system.absolute(path) for path in paths if system.is_folder(path)}
    tops = tuple(os.path.join(folder, "") for folder in folders)
    inside = {*(system.absolute(each.path) for each in files), *(f"{each}/x" for each in folders)}
    for root in sorted({project_of(path, run).root for path in inside}):
        if not os.path.join(root, "").startswith(tops):  # else it was walked already
            wanted, all_files = Wanted(run), run.request.isolated
            for each in walk(root, agent_folders(), system, wanted, all_files=all_files):
                if each.problem is None and not each.outside:
                    yield each.path


class _Search:
    """A search under way."""

    def __init__(self, run: Run, selection: Selection) -> None:
        self.run, self.system = run, run.files.system
        self.selection = selection
        self.found = Found()
        self.projects: dict[str, Project] = {}  #: by root

    @cached_property
    def excludes(self) -> Callable[[str], bool]:
        """Whether the caller excludes an absolute path."""
        return excluded_by(self.selection.exclude, self.system.cwd)

    def meet(self, project: Project) -> Project:
        """Remember a project of a file or folder that was looked at."""
        return self.projects.setdefault(project.root, project)

    def add_named(self, path: str) -> None:
        project = self.meet(project_of(path, self.run))
        if self.selection.force_exclude and self.is_left_out(path, project):
            self.found.left_out.append(self.system.name_of(path))
        else:
            self.found.files.append(File(path, named=True))

    def walk(self, folder: str) -> None:
        """Look for files below a folder; folders that cannot be read are findings."""
        from equipage.files.walking import is_ignored, walk

        run, system = self.run, self.system
        self.meet(project_of(os.path.join(folder, "file"), run))
        all_files, start = run.request.isolated, system.absolute(folder)
        for found in walk(
            folder, agent_folders(), system, Wanted(run), self.enter, all_files=all_files
        ):
            if found.problem is not None:
                self.add_problem(found, named=found.path == folder)
            elif not self.is_left_out(found.path, project_of(found.path, run), start):
                self.found.files.append(File(found.path, outside=found.outside))
        # The walk does not come to a layer that is a file, or a link elsewhere.
        layer = os.path.join(start, f".{LAYER}")
        is_layer = system.repository_root(start) == start
        if is_layer and system.status(layer, follow_links=False) and not is_ignored(layer, system):
            self.note_kind_folders(layer + "/")

    def is_left_out(self, path: str, project: Project, start: str | None = None) -> bool:
        """Whether the settings or the caller exclude a file; see `Project.leaves_out`."""
        if not self.selection.exclude and not project.leaves_out_any:
            return False
        path = self.system.absolute(path)
        return self.excludes(path) or project.leaves_out(path, start)

    def enter(self, entered: EnteredFolder) -> None:
        names = None if entered.names is None else _NAMES_THAT_MATTER.intersection(entered.names)
        remember_walked_folder(self.run, entered.folder, names, is_plain=entered.is_plain)
        self.meet(project_in(entered.folder.rstrip("/") or "/", self.run))
        self.note_kind_folders(entered.folder)
        if not (agent_folders() | _SETTINGS_ALONE).isdisjoint(entered.names or ()):
            self.found.configured_folders.append(entered.folder)

    def note_kind_folders(self, entered: str) -> None:
        """Remember the folders for files of one kind that a folder is or holds."""
        for kind, folder in folders_of_kinds(entered):
            self.found.kind_folders.setdefault((kind, self.system.real(folder)), folder)
            if entered.startswith(folder):
                self.found.entered_folders.add(folder)

    def add_problem(self, found: WalkResult, *, named: bool) -> None:
        """Report a folder that cannot be read, or the damaged index of a repository."""
        from equipage.loading.findings import finding

        folder = found.path
        if found.is_index:
            name = self.system.name_of(os.path.join(folder, ".git", "index"))
            problem = finding(codes.INDEX_DAMAGED, name, {"reason": found.problem})
        elif self.system.absolute(folder) in self.found.entered_folders:
            return  # of a folder for files of one kind, `cross_file.check_folders` says it
        else:
            name = self.system.name_of(folder)
            values = {"folder": name, "reason": found.problem}
            severity = "error" if named else codes.FOLDER_UNREADABLE.severity
            problem = finding(codes.FOLDER_UNREADABLE, name, values, severity=severity)
        self.found.problems.append((os.path.join(folder, "file"), problem))


class Wanted:
    """What the projects of a run and the tables of kinds want a look at, whatever its extension."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._irrelevant = run.around.cache(IrrelevantFolders)

    def names_in(self, folder: str) -> Names:
        if project_in(folder.rstrip("/") or "/", self._run).claims_any:
            return ALL_NAMES
        return names_with_place(folder, self._irrelevant)

    def is_known(self, path: str) -> bool:
        """Whether a path says what must be there, and no discovery reports what is instead."""
        around = surroundings_of(path, project_of(path, self._run), self._run)
        found = recognise_place(path, around)
        kind = None if found is None else found.kind
        return kind is not None and not format_named(kind).layering.discovered

    def is_claimed(self, path: str) -> bool:
        """Whether the settings of its project give a file a kind, or a note names it.

        The note says that it belongs to a tool and is not read.
        """
        from equipage.clients.unread import unread_sort  # not for files with a name

        project = project_of(path, self._run)
        if project.kind_of(path) is not None:
            return True
        path = path.replace(os.sep, "/")
        return project.conventions and bool(unread_sort(path) or sort_in_other_letters(path))

    def is_place(self, folder: str) -> bool:
        """Whether a file in a folder is an agent, a command or a rule; or the folder is a skill."""
        by_path = any(self.is_known(f"{folder}/any{each}") for each in (".md", ".toml"))
        return by_path or self._run.around.files.system.exists(f"{folder}/SKILL.md")
