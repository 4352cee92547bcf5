"""Layers: the user's folder and that of the project, and the named entries of both.

The user's layer is `<config home>/defect`. The config home is `$XDG_CONFIG_HOME`, else `~/.config`.
A variable that is empty or relative is ignored, as the XDG specification asks: taken literally, it
would turn any working directory into the user's own configuration. The project's layer is `.defect`
in the root of the repository: the nearest parent of the working directory with an entry `.git`.

In each layer, folders such as `agents` and `skills` hold named entries. An entry of the project
replaces the user's entry of that name as a whole.
"""

from __future__ import annotations

import os
import pathlib
import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any, Literal, TypeVar

import msgspec
from msgspec.structs import replace

from equipage.core import codes
from equipage.core.diagnostics import LoadError, UsageError
from equipage.files import Entry as FolderEntry
from equipage.files import config_home, folder_argument, wrong_argument
from equipage.loading.pipeline import findings_together, load_path, place_without_outcome
from equipage.loading.result import Loaded
from equipage.plugin import (
    Code,
    Diagnostic,
    Fact,
    Format,
    LayerFolder,
    Outcome,
    Request,
    Source,
    System,
)

USER_FOLDER = "defect"
PROJECT_FOLDER = ".defect"
StrPath = str | os.PathLike[str]

LayerName = Literal["user", "project"]
T = TypeVar("T")


class LayerFolders(msgspec.Struct, frozen=True):
    """The folders of the two layers, None for a layer that does not exist."""

    system: System
    cwd: str
    user: str | None
    project: str | None
    root: str | None = None  #: the root of the repository
    ignored: tuple[str, ...] = ()  #: variables that were not used


def find_layer_folders(
    cwd: StrPath = ".",
    *,
    local: bool = False,
    xdg_config_home: StrPath | None = None,
    home: StrPath | None = None,
    home_dir: StrPath | None = None,
    env: Mapping[str, str] | None = None,
    system: System | None = None,
) -> LayerFolders:
    """The layers seen from `cwd`. With `local`, the user's is left out.

    The first of these gives the config home: the argument `xdg_config_home`, the variable
    `XDG_CONFIG_HOME`, the argument `home` (`home_dir` is another name for it), the variable `HOME`.
    With none of them there is no user layer.
    """
    if home is not None and home_dir is not None:
        raise UsageError("`home` and `home_dir` are one argument: leave one out")
    home = home_dir if home is None else home
    system = system or Request(env={}).system
    # Links are resolved once, so that every part of a configuration agrees on the root.
    here = system.real(folder_argument("cwd", cwd))
    root = system.repository_root(here)
    if not isinstance(env, Mapping | None):
        raise wrong_argument("env", env, "a mapping of names to values")
    variables = system.variables() if env is None else env
    ignored: list[str] = []
    user = None if local else _user_folder(xdg_config_home, home, variables, ignored)
    project = None if root is None else os.path.join(root, PROJECT_FOLDER)
    return LayerFolders(system, here, user, project, root, tuple(ignored))


def _user_folder(
    xdg: StrPath | None, home: StrPath | None, env: Mapping[str, str], ignored: list[str]
) -> str | None:
    if xdg is not None:
        return os.path.join(folder_argument("xdg_config_home", xdg), USER_FOLDER)
    if home is not None:
        env = {**env, "HOME": folder_argument("home", home)}
    base = config_home(env, ignored)
    return None if base is None else os.path.join(base, USER_FOLDER)


def resolve_parent_links(path: str, depth: int, system: System) -> str:
    """A path whose last `depth` parts are kept as they are, and all before them without links."""
    parts = system.absolute(path).rsplit(os.sep, depth)
    return os.path.join(system.real(parts[0] or os.sep), *parts[1:])


def layer_unreadable_fact(error: OSError) -> Fact:
    """The finding that a folder of a layer exists and cannot be listed."""
    return codes.LAYER_UNREADABLE.at(reason=error.strerror or str(error))


class Entry(msgspec.Struct, frozen=True):
    """A named file in a layered folder."""

    name: str
    file: str
    is_link: bool = False


class LayeredFolder(msgspec.Struct, frozen=True):
    """A folder of named files that each layer may have."""

    name: str
    files: str
    """A pattern over the rest of a file's path, below the folder."""
    entry: Callable[[FolderEntry, System], Entry | Fact | None]
    """The file of an entry, a finding about an entry that is nearly one, or neither."""
    outside: Code | None = None
    """The code for a file of a project that a link takes from outside its repository."""

    def layer_of(self, path: str, _env: Mapping[str, str] | None = None) -> LayerName | None:
        """The layer of a file by its path; None if it lies in no such folder."""
        match = _layer_pattern(self.name, self.files).search(path.replace(os.sep, "/"))
        return None if match is None else "project" if match["dot"] else "user"

    def project_folder(self, folder: str, system: System) -> Iterator[LayerFolder]:
        """This folder in the project that `folder` belongs to."""
        project = find_layer_folders(folder, env={}, system=system).project
        if project is not None:
            yield LayerFolder(os.path.join(project, self.name), "project")

    def user_folder(self, env: Mapping[str, str], system: System) -> Iterator[LayerFolder]:
        """This folder in the user's own configuration."""
        user = find_layer_folders(env=env, system=system).user
        if user is not None:
            yield LayerFolder(os.path.join(user, self.name), "user")

    def check_folder(self, folder: str, system: System) -> Iterator[tuple[str, Fact]]:
        """Findings about the folder itself and about entries that are not files of the kind."""
        layer = os.path.dirname(folder)
        in_project = os.path.basename(layer) == PROJECT_FOLDER
        root = system.repository_root(os.path.dirname(layer)) if in_project else None
        yield from self.look_into(folder, system, root)[1]

    def look_into(
        self, folder: str, system: System, root: str | None = None
    ) -> tuple[list[Entry], list[tuple[str, Fact]]]:
        """The files of a folder by name, and findings with their paths.

        A folder that does not exist is empty. `root` is the repository that files should lie in.
        """
        try:
            found = system.entries(folder)
        except FileNotFoundError:
            return [], []
        except OSError as error:
            return [], [(folder, layer_unreadable_fact(error))]
        entries: list[Entry] = []
        facts: list[tuple[str, Fact]] = []
        watched = root if self.outside is not None else None
        # Below a folder that is outside, every file is; in any other only links can lead there.
        all_outside = watched is not None and not system.is_inside(folder, watched)
        for each in found:
            entry = self.entry(each, system)
            if isinstance(entry, Fact):
                facts.append((each.path, entry))
            elif entry is not None:
                entries.append(entry)
                suspect = all_outside or entry.is_link
                is_left = watched and suspect and not system.is_inside(entry.file, watched)
                if self.outside and is_left:
                    facts.append((entry.file, self.outside.at()))
        return sorted(entries, key=lambda each: each.name), facts


@cache
def _layer_pattern(name: str, files: str) -> re.Pattern[str]:
    # The folder of a project is hidden, that of the user is not.
    return re.compile(rf"/(?P<dot>\.?)defect/{name}/(?:{files})\Z")


class Found(msgspec.Struct, frozen=True):
    """A file of a layer, loaded, whatever is wrong with it.

    >>> found = equipage.discover_skills(".", local=True).found[0]
    >>> found.name, found.layer, found.shadowed_by, found.outcome.ok
    ('greet', 'project', None, True)
    """

    name: str
    """The name that its place gives it."""
    layer: LayerName
    """Whose it is: the user's or the project's."""
    file: pathlib.Path
    """Its file, absolute."""
    outcome: Outcome
    """What its load came to."""
    shadowed_by: pathlib.Path | None = None
    """The file of the project that replaces it."""


class Discovery(msgspec.Struct, frozen=True):
    """Every file of every layer, in order of layer and name, and every finding."""

    found: tuple[Found, ...]
    diagnostics: tuple[Diagnostic, ...]

    @property
    def errors(self) -> tuple[Diagnostic, ...]:
        return tuple(each for each in self.diagnostics if each.severity == "error")


def discover(folder: LayeredFolder, kind: Format, places: LayerFolders) -> Discovery:
    """Load every file of the layered folder `folder`. Never raises on bad files."""
    diagnostics = [
        place_without_outcome(codes.VARIABLE_IGNORED.at(name=name)) for name in places.ignored
    ]
    found: list[Found] = []
    system = places.system
    layers: tuple[tuple[LayerName, str | None], ...] = (
        ("user", places.user),
        ("project", places.project),
    )
    for layer, base in layers:
        if base is None:
            continue
        here = os.path.join(base, folder.name)
        root = places.root if layer == "project" else None
        entries, facts = folder.look_into(here, system, root)
        diagnostics += [place_without_outcome(fact, system.name_of(path)) for path, fact in facts]
        # Neither profiles nor skills take variables, so the environment plays no part.
        request = Request(env={}, system=system, project=root or here)
        run = request.new_run()
        for each in entries:
            outcome = load_path(each.file, kind, request, run)
            found.append(Found(each.name, layer, pathlib.Path(each.file), outcome))
    # Two entries of one layer may share a name, which the rules for sets report.
    winners = {each.name: each.file for each in found if each.layer == "project"}
    found = [
        each if each.layer == "project" else replace(each, shadowed_by=winners.get(each.name))
        for each in found
    ]
    diagnostics += (each for item in found for each in item.outcome.diagnostics)
    findings = findings_together(diagnostics, [each.outcome for each in found])
    return Discovery(tuple(found), tuple(findings))


class LayeredMapping(Mapping[str, T]):
    """The entries that are not shadowed, sorted by name; `found` also has those that are."""

    what = "entry"

    def __init__(self, discovery: Discovery, value: Callable[[Found], T]) -> None:
        """Raises `LoadError` if any file has an error, shadowed files included."""
        if discovery.errors:
            raise LoadError(discovery.diagnostics)
        self._discovery = discovery
        self._winners = {
            each.name: each
            for each in sorted(discovery.found, key=lambda each: each.name)
            if each.shadowed_by is None
        }
        self._values = {name: value(each) for name, each in self._winners.items()}

    @property
    def found(self) -> tuple[Found, ...]:
        """Every file of every layer, those that are shadowed included."""
        return self._discovery.found

    @property
    def warnings(self) -> tuple[Diagnostic, ...]:
        """What was found in the files; errors would have been raised."""
        return self._discovery.diagnostics

    @property
    def sources(self) -> tuple[Source, ...]:
        """Every file that was read."""
        return tuple(source for each in self.found for source in each.outcome.sources)

    def loaded(self, name: str) -> Loaded[Any]:
        """The load behind a name, to `explain` and `locate` its values. Raises `KeyError`."""
        self[name]  # raises a KeyError that lists the known names
        loaded = self._winners[name].outcome.loaded_or_none()
        assert loaded is not None
        return loaded

    def __getitem__(self, name: str) -> T:
        if name not in self._values:
            known = ", ".join(self._values) or "none"
            raise KeyError(f"there is no {self.what} {name!r} (known: {known})")
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(self._values)})"
