"""Finding files: a walk that honours `.gitignore` and enters the hidden folders of agents.

Results come in a fixed order, whatever the file system says. A folder behind a symbolic link is
entered only where agents live (`.claude/agents` is often a link) and only if it lies inside the
same project; each link is followed once, after everything that needs none, so a loop of links
cannot hold the walk. A folder that cannot be read is a result, too: nothing is skipped in silence.
A file behind a link is marked if it lies outside the project: a check of a project must not show
the files beside it.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Collection, Iterator

import msgspec

from equipage.files import entries_of, leads_to_folder, repository_root
from equipage.files.gitignore import Patterns, parse_ignores
from equipage.files.reading import peek

#: Never worth a look, ignored or not.
SKIPPED_FOLDERS = frozenset(
    {".git", ".hg", ".svn", "node_modules", "__pycache__", ".venv", "venv", ".tox", "site-packages"}
)
EXTENSIONS = (".yaml", ".yml", ".json", ".toml", ".md", ".mdc")

#: Whether something holds for a path.
Claim = Callable[[str], bool]


class Found(msgspec.Struct, frozen=True):
    """A file worth a look, or a folder that could not be read."""

    path: str
    problem: str | None = None  #: why the folder could not be read
    outside: bool = False  #: whether it is a link to a file outside the project


class _Ignores(msgspec.Struct, frozen=True):
    """The patterns in force in a folder: its own, then those of the folders above."""

    base: str
    patterns: Patterns
    above: _Ignores | None = None

    def ignore(self, path: str, name: str, *, is_folder: bool) -> bool:
        # A pattern further down decides before those above.
        here: _Ignores | None = self
        while here is not None:
            decided = here.patterns.decide(path[len(here.base) :], name, is_folder=is_folder)
            if decided is not None:
                return decided
            here = here.above
        return False


class _Folder(msgspec.Struct, frozen=True):
    """A folder to be walked: as the caller names it, and absolute with `/` at its end."""

    shown: str
    absolute: str
    ignores: _Ignores | None
    holds_agents: bool = False


def _never(_path: str) -> bool:
    return False


def walk_files(folder: str, agents: Collection[str]) -> Iterator[str]:
    """Every file below `folder` with an extension that configuration has."""
    return (each.path for each in walk(folder, agents) if each.problem is None)


def walk(
    folder: str,
    agents: Collection[str],
    also: Claim = _never,
    entered: Callable[[str], object] | None = None,
    known: Claim = _never,
    *,
    all_files: bool = False,
) -> Iterator[Found]:
    """Every candidate file below `folder`, and every folder that could not be read.

    Of hidden folders, only those named in `agents` are entered; links to folders are followed only
    in them. `entered` is called with each folder that is looked into. A pipe or a folder is a
    result if it is `known` by its path: it is in the place of a file. With `all_files`, what git
    ignores is a result, too.
    """
    start = os.path.abspath(folder)
    holds_agents = any(step in agents for step in start.split(os.sep))
    links = _Links(start)
    stack = [
        _Folder(folder, _slashed(start), None if all_files else _ignores_above(start), holds_agents)
    ]
    while stack:
        here = stack.pop()
        if entered is not None:
            entered(here.absolute)
        try:
            entries = entries_of(here.shown)
        except (FileNotFoundError, NotADirectoryError):
            entries = []  # it was there a moment ago
        except OSError as error:
            yield Found(here.shown, problem=error.strerror or str(error))
            entries = []
        ignores = None if all_files else _ignores_in(here, entries)
        folders: list[_Folder] = []
        for entry in entries:
            name, path, is_link = entry.name, here.absolute + entry.name, entry.is_symlink()
            is_folder = leads_to_folder(entry)
            has_extension = name.lower().endswith(EXTENSIONS)
            # The cheap questions come first: patterns are matched only against what is left.
            if is_folder:
                is_wanted = has_extension and known(path)
                if not (is_wanted or enters(name, agents)):
                    continue
            elif not ((has_extension or also(path)) and _is_like_a_file(here, entry, known)):
                continue
            # For git a link is not a folder, whatever it leads to.
            if ignores and ignores.ignore(path, name, is_folder=is_folder and not is_link):
                continue
            if not is_folder:
                yield Found(entry.path, outside=is_link and links.leaves(entry.path))
                continue
            if enters(name, agents):
                holds_agents = here.holds_agents or name in agents
                below = _Folder(entry.path, path + "/", ignores, holds_agents)
                if is_link:
                    links.defer(below)
                else:
                    folders.append(below)
            if is_wanted:
                yield Found(entry.path)
        # Depth first, in the order of names; links only when nothing else is left.
        stack.extend(reversed(folders))
        if not stack and links.waiting:
            stack.append(links.waiting.popleft())


def enters(name: str, agents: Collection[str]) -> bool:
    """Whether a walk enters a folder of that name; of hidden ones, only those of `agents`."""
    return name not in SKIPPED_FOLDERS and (not name.startswith(".") or name in agents)


def is_ignored(path: str) -> bool:
    """Whether a walk that came to the folder of a path would skip it."""
    absolute = os.path.abspath(path)
    ignores = _ignores_above(absolute)
    is_folder = os.path.isdir(path) and not os.path.islink(path)
    name = os.path.basename(path)
    return ignores is not None and ignores.ignore(absolute, name, is_folder=is_folder)


def _is_like_a_file(here: _Folder, entry: os.DirEntry[str], known: Claim) -> bool:
    """Whether an entry that is not a folder is worth a look.

    A link that leads nowhere is a file that is missing. Where agents live, or under the name of
    one, a pipe or a device is in the place of an agent.
    """
    return (
        entry.is_symlink()
        or entry.is_file(follow_symlinks=False)
        or here.holds_agents
        or known(here.absolute + entry.name)
    )


class _Links:
    """Links to folders: kept back until all else is walked, then followed once, one by one."""

    def __init__(self, start: str) -> None:
        self.boundary = _slashed(os.path.realpath(repository_root(start) or start))
        #: outside the boundary, if the caller named a link
        self.start = _slashed(os.path.realpath(start))
        self.known: set[str] = set()
        self.waiting: deque[_Folder] = deque()

    def defer(self, link: _Folder) -> None:
        """Keep a link that may be followed: not out of the project, nor to a folder around it."""
        holder, name = os.path.split(link.absolute.rstrip("/"))
        holder = _slashed(os.path.realpath(holder))
        target = _slashed(os.path.realpath(link.absolute))
        # A link to a folder around it would lead the walk back to itself.
        allowed = target.startswith(self.boundary) and not holder.startswith(target)
        if link.holds_agents and allowed and holder + name not in self.known:
            self.known.add(holder + name)
            self.waiting.append(link)

    def leaves(self, link: str) -> bool:
        """Whether a link to a file leads out of the project. One that leads nowhere does not."""
        target = os.path.realpath(link)
        is_inside = target.replace(os.sep, "/").startswith((self.boundary, self.start))
        return not is_inside and os.path.exists(target)


def _slashed(folder: str) -> str:
    return folder.replace(os.sep, "/").rstrip("/") + "/"


# ---------------------------------------------------------------------------------------- ignores


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
    if data is None:
        return above
    return _Ignores(folder, parse_ignores(data.decode("utf-8", "surrogateescape")), above)


def _ignores_above(folder: str) -> _Ignores | None:
    """The patterns of the folders between the root of the repository and the start of a walk.

    The folder itself is walked even if it is ignored: the caller named it.
    """
    root = repository_root(folder) or folder
    if root == folder:
        return None
    ignores = _excluded(_slashed(root))
    current = root
    for step in os.path.relpath(folder, root).split(os.sep):
        ignores = _with_file(_slashed(current), ".gitignore", ignores)
        current = os.path.join(current, step)
    return ignores
