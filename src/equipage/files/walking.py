"""Finding files: a walk that honours `.gitignore`, looks into the hidden folders agents live in, and ends.

Results come in a fixed order whatever the file system says. A folder behind a symbolic link is entered only where
agents live (`.claude/agents` is often a link) and only if it lies inside the same project; each link is followed
once, after everything that needs none, so a loop of links cannot hold the walk. A folder that cannot be read is a
result, too: nothing is skipped in silence. Of a file behind a link it is known whether it lies inside the project:
nobody who checks a project asked for the files beside it.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Collection, Iterator

import msgspec

from equipage.files.gitignore import Patterns, parse_ignores
from equipage.files.reading import peek

#: Never worth a look, ignored or not.
SKIPPED_FOLDERS = frozenset(
    {".git", ".hg", ".svn", "node_modules", "__pycache__", ".venv", "venv", ".tox", "site-packages"}
)
EXTENSIONS = (".yaml", ".yml", ".json", ".toml", ".md", ".mdc")


class Found(msgspec.Struct, frozen=True):
    """A file worth a look, or a folder that could not be looked into."""

    path: str
    problem: str | None = None  #: why the folder could not be read
    outside: bool = False  #: whether it is a link to a file outside the project


class _Ignores(msgspec.Struct, frozen=True):
    """The patterns in force in a folder: its own, then those of the folders above."""

    base: str
    patterns: Patterns
    above: _Ignores | None = None

    def ignore(self, path: str, name: str, *, is_folder: bool) -> bool:
        here: _Ignores | None = self
        while here is not None:
            decided = here.patterns.decide(path[len(here.base) :], name, is_folder=is_folder)
            if decided is not None:
                return decided
            here = here.above
        return False


class _Folder(msgspec.Struct, frozen=True):
    """A folder to be walked: as the caller names it, absolute with `/` at its end, and what holds there."""

    shown: str
    absolute: str
    ignores: _Ignores | None
    holds_agents: bool = False


#: Whether something holds for a path.
Claim = Callable[[str], bool]


def _never(_path: str) -> bool:
    return False


def walk_files(folder: str, agents: Collection[str], also: Claim = _never) -> Iterator[str]:
    """Every candidate file below `folder`, in a fixed order: by extension, or because `also` wants its path."""
    return (each.path for each in walk(folder, agents, also) if each.problem is None)


def walk(
    folder: str,
    agents: Collection[str],
    also: Claim = _never,
    entered: Callable[[str], object] | None = None,
    known: Claim = _never,
) -> Iterator[Found]:
    """Every candidate file below `folder`, and the folders that could not be read.

    Of hidden folders, only those named in `agents` are entered; links to folders are followed only
    in them. `entered` is called with each folder that is looked into.

    What is no file, a pipe or a folder, is a result if it is `known` by its path: it stands in the place of one.
    """
    start = os.path.abspath(folder)
    holds_agents = any(step in agents for step in start.split(os.sep))
    links = _Links(start)
    stack = [_Folder(folder, _slashed(start), _ignores_above(start), holds_agents)]
    while stack:
        here = stack.pop()
        if entered is not None:
            entered(here.absolute)
        try:
            with os.scandir(here.shown) as scan:
                entries = sorted(scan, key=lambda entry: entry.name)
        except (FileNotFoundError, NotADirectoryError):
            entries = []  # it was there a moment ago
        except OSError as error:
            yield Found(here.shown, problem=error.strerror or str(error))
            entries = []
        ignores = _ignores_in(here, entries)
        folders: list[_Folder] = []
        for entry in entries:
            if leads_to_folder(entry):
                below = _below(here, entry, ignores, agents)
                if below is not None and entry.is_symlink():
                    links.defer(below)
                elif below is not None:
                    folders.append(below)
                if _is_in_place_of_a_file(here, entry, ignores, known):
                    yield Found(entry.path)
            elif _is_wanted(here, entry, ignores, also, known):
                yield Found(entry.path, outside=entry.is_symlink() and links.leaves(entry.path))
        stack.extend(reversed(folders))
        if not stack:
            stack.extend(links.next())


def enters(name: str, agents: Collection[str]) -> bool:
    """Whether a walk looks into a folder of that name."""
    return name not in SKIPPED_FOLDERS and (not name.startswith(".") or name in agents)


def is_ignored(path: str) -> bool:
    """Whether a walk that came to the folder of a path would pass over it."""
    ignores = _ignores_above(os.path.abspath(path))
    is_folder = os.path.isdir(path) and not os.path.islink(path)
    return ignores is not None and ignores.ignore(
        os.path.abspath(path), os.path.basename(path), is_folder=is_folder
    )


def leads_to_folder(entry: os.DirEntry[str]) -> bool:
    """Whether an entry is a folder, or a link to one."""
    try:
        return entry.is_dir()
    except OSError:
        return False  # a loop of links


def _is_in_place_of_a_file(
    here: _Folder, entry: os.DirEntry[str], ignores: _Ignores | None, known: Claim
) -> bool:
    path = here.absolute + entry.name
    if not (entry.name.lower().endswith(EXTENSIONS) and known(path)):
        return False
    return ignores is None or not ignores.ignore(path, entry.name, is_folder=not entry.is_symlink())


def _is_wanted(
    here: _Folder, entry: os.DirEntry[str], ignores: _Ignores | None, also: Claim, known: Claim
) -> bool:
    path = here.absolute + entry.name
    if not (entry.name.lower().endswith(EXTENSIONS) or also(path)):
        return False
    # A link that leads nowhere is a file that is missing, not one that never was. Where agents live, or by the name of
    # one, neither is a pipe or a device: somebody put it in the place of an agent.
    if not (
        entry.is_symlink()
        or entry.is_file(follow_symlinks=False)
        or here.holds_agents
        or known(path)
    ):
        return False
    return ignores is None or not ignores.ignore(path, entry.name, is_folder=False)


def _below(
    here: _Folder, entry: os.DirEntry[str], ignores: _Ignores | None, agents: Collection[str]
) -> _Folder | None:
    """The folder of an entry, unless it is not to be entered."""
    name, path = entry.name, here.absolute + entry.name
    if not enters(name, agents):
        return None
    # For git a link is no folder, whatever it leads to.
    if ignores is not None and ignores.ignore(path, name, is_folder=not entry.is_symlink()):
        return None
    return _Folder(entry.path, path + "/", ignores, here.holds_agents or name in agents)


class _Links:
    """Links to folders: kept back until all else is walked, then followed one by one, each at most once."""

    def __init__(self, start: str) -> None:
        self.boundary = _slashed(os.path.realpath(_boundary(start)))
        self.start = _slashed(
            os.path.realpath(start)
        )  #: outside the boundary, if the caller named a link
        self.known: set[str] = set()
        self.waiting: deque[_Folder] = deque()

    def defer(self, link: _Folder) -> None:
        """Remember a link if it may be followed: not out of the project, and not to a folder that holds it."""
        holder, name = os.path.split(link.absolute.rstrip("/"))
        holder = _slashed(os.path.realpath(holder))
        target = _slashed(os.path.realpath(link.absolute))
        allowed = target.startswith(self.boundary) and not holder.startswith(target)
        if link.holds_agents and allowed and holder + name not in self.known:
            self.known.add(holder + name)
            self.waiting.append(link)

    def leaves(self, link: str) -> bool:
        """Whether a link to a file leads out of the project. One that leads nowhere does not: there is no such file."""
        target = os.path.realpath(link)
        return not target.replace(os.sep, "/").startswith(
            (self.boundary, self.start)
        ) and os.path.exists(target)

    def next(self) -> tuple[_Folder, ...]:
        return (self.waiting.popleft(),) if self.waiting else ()


def _slashed(folder: str) -> str:
    return folder.replace(os.sep, "/").rstrip("/") + "/"


# ------------------------------------------------------------------------------------------------- ignores


def _ignores_in(here: _Folder, entries: list[os.DirEntry[str]]) -> _Ignores | None:
    names = {entry.name for entry in entries if entry.name in (".git", ".gitignore")}
    # A repository inside another one decides for itself.
    above = _excluded(here.absolute) if ".git" in names else here.ignores
    return _with_file(here.absolute, ".gitignore", above) if ".gitignore" in names else above


def _excluded(folder: str) -> _Ignores | None:
    """What a repository ignores without saying so in its files."""
    return _with_file(folder, ".git/info/exclude", None)


def _with_file(folder: str, name: str, above: _Ignores | None) -> _Ignores | None:
    data = peek(folder + name)
    return (
        above
        if data is None
        else _Ignores(folder, parse_ignores(data.decode("utf-8", "surrogateescape")), above)
    )


def _boundary(folder: str) -> str:
    """The repository a folder belongs to, else the folder itself."""
    current = folder
    while not os.path.exists(os.path.join(current, ".git")):
        parent = os.path.dirname(current)
        if parent == current:
            return folder
        current = parent
    return current


def _ignores_above(folder: str) -> _Ignores | None:
    """The patterns of the folders between the root of the repository and the folder the walk starts in.

    The folder itself is walked even if it is ignored: whoever names it wants it.
    """
    root = _boundary(folder)
    if root == folder:
        return None
    ignores = _excluded(_slashed(root))
    current = root
    for step in os.path.relpath(folder, root).split(os.sep):
        ignores = _with_file(_slashed(current), ".gitignore", ignores)
        current = os.path.join(current, step)
    return ignores
