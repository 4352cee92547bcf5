"""Finding files: a walk that honours `.gitignore` and enters the hidden folders of agents.

Results come in a fixed order, whatever the file system says. A file that a repository tracks is
found although a `.gitignore` matches it. In hidden folders of no agent tool, only files that are
known by their name are found. A folder behind a symbolic link is entered only where agents live
(`.claude/agents` is often a link) and only if it lies inside the same project; each link is
followed once, after everything that needs none, and a folder that several links in one place lead
to only through the first, so that links can neither hold the walk nor multiply its work. A folder
that cannot be read is a result, too: nothing is skipped in silence. A file behind a link is marked
if it lies outside the project: a check of a project must not show the files beside it.
"""

from __future__ import annotations

import os
import re
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import lru_cache, partial
from typing import Any, Protocol

import msgspec

from equipage.core.text import lazy_regex
from equipage.files import Entry, System, leads_to_folder
from equipage.files.gitignore import Ignores, parse_ignores
from equipage.files.index import DamagedIndex, TrackedFiles, read_tracked_files

#: Never worth a look, ignored or not: version control, dependencies, caches, what tools build.
# fmt: off
SKIPPED_FOLDERS = frozenset({
    ".git", ".hg", ".svn", "node_modules", "__pycache__", "site-packages", "venv", ".venv", ".tox",
    ".nox", ".eggs", ".direnv", ".cache", ".mypy_cache", ".ruff_cache", ".pytest_cache",
    ".hypothesis", ".ipynb_checkpoints", ".nyc_output", ".npm", ".yarn", ".pnpm-store", ".next",
    ".nuxt", ".svelte-kit", ".turbo", ".parcel-cache", ".docusaurus", ".gradle", ".terraform",
    ".serverless", ".vercel", ".wrangler", ".cargo", ".rustup", ".local", ".Trash", ".idea",
    ".equipage_cache",
})
# fmt: on
# fmt: off
EXTENSIONS = (
    ".yaml", ".yml", ".json", ".jsonc", ".toml", ".md", ".mdc", ".roomodes", ".kiro.hook",
)
# fmt: on

#: Names as they are written, and the ends of others in small letters.
Names = tuple[frozenset[str], tuple[str, ...]]


class WantedFiles(Protocol):
    """Which files are worth a look whatever their extensions."""

    def names_in(self, folder: str) -> Names:
        """The names of such files in a folder, and how others may end; no other name counts.

        The folder is absolute, with `/` at its end.
        """
        ...

    def is_known(self, path: str) -> bool:
        """Whether a path alone says what must be there; a pipe or a folder is a result, too."""
        ...

    def is_claimed(self, path: str) -> bool:
        """Whether a file is worth a look for another reason."""
        ...

    def is_place(self, folder: str) -> bool:
        """Whether a tool reads the files of a folder because of where it is, whatever its name."""
        ...


class NoWantedFiles:
    """No files are wanted besides those with a known extension."""

    def names_in(self, folder: str) -> Names:
        return frozenset(), ()

    def is_known(self, path: str) -> bool:
        return False

    is_claimed = is_place = is_known


NO_WANTED_FILES: WantedFiles = NoWantedFiles()


class EnteredFolder(msgspec.Struct, frozen=True, gc=False):
    """A folder that a walk looks into."""

    folder: str  #: absolute, with `/` at its end
    names: list[str] | None  #: of its entries, in small letters; None if it cannot be read
    is_plain: bool  #: whether it is known not to be a link


class WalkResult(msgspec.Struct, frozen=True):
    """A file worth a look, or what could not be read: a folder, or the index of a repository."""

    path: str
    problem: str | None = None  #: why it could not be read
    is_index: bool = False  #: whether it is a repository, whose index is damaged
    outside: bool = (
        False  #: whether it is a link out of the project, or in place of a folder to nothing
    )


class _Repository:
    """What a repository tracks, read when something of it is ignored for the first time."""

    def __init__(self, root: str, system: System) -> None:
        self.root = _add_trailing_slash(root)
        self.system = system
        self.problem: str | None = None  #: what is wrong with its index
        self._tracked: TrackedFiles | None = None
        self._read = False

    def tracks(self, path: str, *, is_folder: bool) -> bool:
        """Whether a file is tracked, or a file below a folder."""
        if self.system.holds_tracked_files_alone:
            return True
        if not self._read:
            self._read = True
            try:
                self._tracked = read_tracked_files(self.root, self.system)
            except DamagedIndex as error:
                self.problem = str(error)
        if self._tracked is None or not path.startswith(self.root):
            return False
        name = path[len(self.root) :]
        return self._tracked.has_below(f"{name}/") if is_folder else self._tracked.has(name)


class Interest(msgspec.Struct, frozen=True):
    """What a walk looks for in a folder, whatever git ignores; its names alone say it."""

    agents: Collection[str]
    wanted: WantedFiles
    holds_agents: bool = False
    #: whether it lies in a hidden folder of no agent tool: only names that are known count there
    known_only: bool = False

    def step_into(self, path: str) -> Interest | None:
        """What it looks for in a folder of the folder, by absolute path; None: it does not enter.

        An agent in `.claude/agents/venv` counts; only `.git` is never read.
        """
        name = path[path.rfind("/") + 1 :]
        # Where letter case does not count, `.CLAUDE` is such a folder, too.
        if not {name, name.lower()}.isdisjoint(self.agents):
            return Interest(self.agents, self.wanted, holds_agents=True)
        if self.known_only and path.endswith(f"/.config/{name}"):
            # The settings of a user, or what becomes them: any program has a folder there.
            is_agent = f".config/{name}" in self.agents
            return Interest(self.agents, self.wanted, holds_agents=True) if is_agent else None
        is_usual = name not in SKIPPED_FOLDERS
        is_read = self.holds_agents and name != ".git"
        if not is_usual and not (is_read and self.wanted.is_place(path)):
            return None
        is_hidden = name.startswith(".") and not self.holds_agents
        known_only = self.known_only or not is_usual or is_hidden
        if known_only == self.known_only:
            return self  # nearly always
        return Interest(self.agents, self.wanted, self.holds_agents, known_only)

    def takes(self, path: str, *, has_extension: bool, may_be_wanted: bool) -> bool:
        """Whether a file in the folder is worth a look."""
        if has_extension and not self.known_only:
            return True
        return may_be_wanted and (self.wanted.is_known(path) or self.wanted.is_claimed(path))


def is_worth_a_look(path: str, start: str, agents: Collection[str], wanted: WantedFiles) -> bool:
    """Whether a walk from `start`, which ends with `/`, takes a file below it that git keeps."""
    interest = _interest_at(start, agents, wanted)
    *folders, name = path[len(start) :].split("/")
    for each in folders:
        below = interest.step_into(start + each)
        if below is None:
            return False
        interest, start = below, f"{start}{each}/"
    names, ends = wanted.names_in(start)
    may_be_wanted = not names.isdisjoint((name, name.lower())) or name.lower().endswith(ends)
    has_extension = name.lower().endswith(EXTENSIONS)
    return interest.takes(path, has_extension=has_extension, may_be_wanted=may_be_wanted)


def _interest_at(start: str, agents: Collection[str], wanted: WantedFiles) -> Interest:
    """The interest in the folder that a walk starts at."""
    return Interest(agents, wanted, any(step in agents for step in start.split("/")))


class _Folder(msgspec.Struct, frozen=True):
    """A folder to be walked: as the caller names it, and absolute with `/` at its end."""

    shown: str
    absolute: str
    ignores: Ignores | None
    repository: _Repository | None
    interest: Interest
    tracked_only: bool = False  #: whether it is ignored, but holds files that git tracks
    is_plain: bool = False  #: whether it is known not to be a link


def walk_files(folder: str, agents: Collection[str], system: System) -> Iterator[str]:
    """Every file below `folder` with an extension that configuration has."""
    return (each.path for each in walk(folder, agents, system) if each.problem is None)


def walk(
    folder: str,
    agents: Collection[str],
    system: System,
    wanted: WantedFiles = NO_WANTED_FILES,
    entered: Callable[[EnteredFolder], object] | None = None,
    *,
    all_files: bool = False,
) -> Iterator[WalkResult]:
    """Every candidate file below `folder`, and every folder that could not be read.

    Of hidden folders, those named in `agents` are walked like others; links to folders are followed
    only in them. `entered` is called with each folder that is looked into. A file with another
    extension, a pipe or a folder is a result if it is `wanted`. With `all_files`, what git ignores
    is a result, too.
    """
    return _Walk(folder, agents, system, wanted, entered, all_files=all_files).results()


class _Walk:
    """A walk under way. `stack` holds the folders to look into, the next one last."""

    def __init__(
        self,
        folder: str,
        agents: Collection[str],
        system: System,
        wanted: WantedFiles,
        entered: Callable[[EnteredFolder], object] | None,
        *,
        all_files: bool,
    ) -> None:
        self.system, self.wanted, self.entered = system, wanted, entered
        self.all_files = all_files
        start = system.absolute(folder)
        self.links = _Links(start, agents, system)
        root = system.repository_root(start)
        self.repositories = [] if root is None else [_Repository(root, system)]
        self.first = _Folder(
            folder,
            _add_trailing_slash(start),
            None if all_files else _ignores_above(start, root or start, system),
            self.repositories[0] if self.repositories else None,
            _interest_at(start.replace(os.sep, "/"), agents, wanted),
        )
        self.stack = [self.first]

    def results(self) -> Iterator[WalkResult]:
        while self.stack:
            yield from self.look_into(self.stack.pop())
            # Links only when nothing else is left.
            if not self.stack and self.links.waiting:
                self.stack.append(self.links.waiting.popleft())
        for each in self.repositories:
            if each.problem is not None:
                yield WalkResult(each.root, each.problem, is_index=True)

    def look_into(self, here: _Folder) -> Iterator[WalkResult]:
        """The results in a folder; the folders in it that are to be walked go on the stack."""
        problem: OSError | None = None
        try:
            entries = self.system.entries(here.shown)
        except OSError as error:
            entries, problem = (), error
        names = [entry.name for entry in entries]
        # All at once, because there are many; no name has a `/`.
        small = "/".join(names).lower().split("/") if names else []
        if self.entered is not None:
            self.entered(EnteredFolder(here.absolute, None if problem else small, here.is_plain))
        # One that is missing was there a moment ago.
        if problem is not None and not isinstance(problem, FileNotFoundError | NotADirectoryError):
            yield WalkResult(here.shown, problem=problem.strerror or str(problem))
        rules = self.rules_in(here, names)
        wanted = wanted_names, wanted_ends = self.wanted.names_in(here.absolute)
        tails = _possible_extensions(wanted)
        folders: list[_Folder] = []
        for entry, name, lower in zip(entries, names, small, strict=True):
            # The cheap questions come first: patterns are matched only against what is left.
            has_extension = may_be_wanted = False
            if tails is None or lower.rpartition(".")[2] in tails:
                has_extension = lower.endswith(EXTENSIONS)
                may_be_wanted = name in wanted_names or lower in wanted_names
                may_be_wanted = may_be_wanted or lower.endswith(wanted_ends)
            if leads_to_folder(entry):
                yield from self.meet_folder(here, entry, rules, folders, has_extension)
            elif (
                (has_extension or may_be_wanted)
                and self.takes_file(here, entry, has_extension, may_be_wanted)
                and not rules.leaves_out(here.absolute + name, name, is_folder=False)
            ):
                outside = entry.is_symlink() and self.links.leaves_project(entry.path)
                yield WalkResult(entry.path, outside=outside)
            elif entry.is_symlink() and self.lacks_folder(here, entry, rules):
                yield WalkResult(entry.path, outside=True)
        # Depth first, in the order of names.
        self.stack.extend(reversed(folders))

    def rules_in(self, here: _Folder, names: Collection[str]) -> _FolderRules:
        """What git ignores and tracks in a folder."""
        repository = here.repository
        if here is not self.first and ".git" in names:
            repository = _Repository(here.absolute, self.system)
            self.repositories.append(repository)
        ignores = None if self.all_files else _ignores_in(here, names, self.system)
        return _FolderRules(ignores, repository, here.tracked_only)

    def takes_file(
        self, here: _Folder, entry: Entry, has_extension: bool, may_be_wanted: bool
    ) -> bool:
        """Whether an entry that is not a folder is worth a look."""
        path = here.absolute + entry.name
        interest = here.interest
        if not interest.takes(path, has_extension=has_extension, may_be_wanted=may_be_wanted):
            return False
        # A link that leads nowhere is a file that is missing. Where agents live, or under the name
        # of one, a pipe or a device is in the place of an agent.
        return (
            entry.is_symlink()
            or entry.is_file(follow_symlinks=False)
            or interest.holds_agents
            or interest.known_only
            or not has_extension
            or self.wanted.is_known(path)
        )

    def lacks_folder(self, here: _Folder, link: Entry, rules: _FolderRules) -> bool:
        """Whether a link leads nowhere here that may lead to a folder of agents elsewhere."""
        path = here.absolute + link.name
        interest = here.interest.step_into(path)
        is_place = interest is not None and interest.holds_agents and "/.defect/" not in path
        is_left_out = is_place and rules.leaves_out(path, link.name, is_folder=False)
        return is_place and not is_left_out and not self.system.exists(path)

    def meet_folder(
        self,
        here: _Folder,
        entry: Entry,
        rules: _FolderRules,
        folders: list[_Folder],
        has_extension: bool,
    ) -> Iterator[WalkResult]:
        """Add a folder to those to be walked, or keep it for later if it is a link."""
        name, path = entry.name, here.absolute + entry.name
        is_wanted = has_extension and self.wanted.is_known(path)
        interest = here.interest.step_into(path)
        # For git a link is not a folder, whatever it leads to.
        is_plain = not entry.is_symlink()
        if not (is_wanted or interest) or rules.leaves_out(path, name, is_folder=is_plain):
            return
        if interest:
            below = _Folder(
                entry.path,
                path + "/",
                rules.ignores,
                rules.repository,
                interest,
                tracked_only=rules.is_ignored(path, name, is_folder=is_plain),
                is_plain=is_plain,
            )
            if is_plain:
                folders.append(below)
            elif self.links.defer(below):
                yield WalkResult(entry.path, outside=True)
        if is_wanted:
            yield WalkResult(entry.path)


class _FolderRules(msgspec.Struct, frozen=True):
    """What git ignores and tracks in a folder."""

    ignores: Ignores | None
    repository: _Repository | None
    ignores_all: bool  #: whether only files that git tracks count

    def is_ignored(self, path: str, name: str, *, is_folder: bool) -> bool:
        if self.ignores_all:
            return True
        return self.ignores is not None and self.ignores.is_ignored(path, name, is_folder=is_folder)

    def leaves_out(self, path: str, name: str, *, is_folder: bool) -> bool:
        """Whether something is ignored, and neither it nor a file below it is tracked."""
        if not self.is_ignored(path, name, is_folder=is_folder):
            return False
        return not (self.repository and self.repository.tracks(path, is_folder=is_folder))


@lru_cache(maxsize=16)
def _possible_extensions(wanted: Names) -> frozenset[str] | None:
    """The last extensions of all names that count, in lower case; None if any is possible.

    Testing it first spares most names a comparison with every ending.
    """
    names, ends = wanted
    if not all("." in end for end in ends):
        return None
    return frozenset(each.lower().rpartition(".")[2] for each in (*EXTENSIONS, *names, *ends))


def is_ignored(
    path: str, system: System, known: dict[str, Any] | None = None, *, is_folder: bool | None = None
) -> bool:
    """Whether a walk that came to the folder of a path would skip it.

    `known` keeps what folders ignore, for callers that ask about many files, and files alone.
    `is_folder` says what would be there; by default, what is there counts.
    """
    absolute = system.absolute(path)
    folder = os.path.dirname(absolute)
    rules = None if known is None else known.get(folder)
    if rules is None:
        root = system.repository_root(absolute)
        repository = None if root is None else _Repository(root, system)
        ignores = _ignores_above(absolute, root or absolute, system)
        rules = _FolderRules(ignores, repository, ignores_all=False)
        if known is not None:
            known[folder] = rules
    if is_folder is None:
        is_folder = system.is_folder(path) and not system.is_link(path)
    return rules.leaves_out(
        absolute.replace(os.sep, "/"), os.path.basename(path), is_folder=is_folder
    )


class _Links:
    """Links to folders: kept back until all else is walked, then followed once, one by one."""

    def __init__(self, start: str, agents: Collection[str], system: System) -> None:
        self.agents, self.system = agents, system
        self.boundary = _add_trailing_slash(system.real(system.repository_root(start) or start))
        #: outside the boundary, if the caller named a link
        self.start = _add_trailing_slash(system.real(start))
        self.known: set[str | tuple[str, str]] = set()
        self.waiting: deque[_Folder] = deque()

    def defer(self, link: _Folder) -> bool:
        """Keep a link that may be followed: not out of the project, nor to a folder around it.

        Returns whether it is in the place of agents and leads out of the project.
        """
        holder, name = os.path.split(link.absolute.rstrip("/"))
        holder = _add_trailing_slash(self.system.real(holder))
        target = _add_trailing_slash(self.system.real(link.absolute))
        # A link to a folder around it would lead the walk back to itself.
        allowed = target.startswith(self.boundary) and not holder.startswith(target)
        # Two links in one place show the files of their target twice: the first is enough. Profiles
        # are named by their links, so each of those is another one.
        same: set[str | tuple[str, str]] = {
            holder + name,
            (self._agent_folder(link.absolute), target),
        }
        if "/.defect/" in link.absolute:
            same = {holder + name}
        holds_agents = link.interest.holds_agents
        if holds_agents and allowed and self.known.isdisjoint(same):
            self.known |= same
            self.waiting.append(link)
        # The layers of profiles have findings of their own.
        is_outside = not target.startswith((self.boundary, self.start))
        return holds_agents and is_outside and "/.defect/" not in link.absolute

    def _agent_folder(self, path: str) -> str:
        """The part of a path that decides the kind of its files, such as `.claude/agents`."""
        steps = path.split("/")
        last = max((at for at, step in enumerate(steps) if step in self.agents), default=0)
        return "/".join(steps[last : last + 2])

    def leaves_project(self, link: str) -> bool:
        """Whether a link to a file leads out of the project. One that leads nowhere does not."""
        target = self.system.real(link)
        is_inside = target.replace(os.sep, "/").startswith((self.boundary, self.start))
        return not is_inside and self.system.exists(target)


def _add_trailing_slash(folder: str) -> str:
    return folder.replace(os.sep, "/").rstrip("/") + "/"


# ---------------------------------------------------------------------------------------- ignores


def _ignores_in(here: _Folder, names: Collection[str], system: System) -> Ignores | None:
    # A repository inside another one decides for itself.
    above = _repository_excludes(here.absolute, system) if ".git" in names else here.ignores
    if ".gitignore" not in names:
        return above
    return _add_ignore_file(here.absolute, ".gitignore", above, system)


def _repository_excludes(folder: str, system: System) -> Ignores | None:
    """The patterns of `.git/info/exclude`."""
    return _add_ignore_file(folder, ".git/info/exclude", None, system)


def _add_ignore_file(
    folder: str, name: str, above: Ignores | None, system: System
) -> Ignores | None:
    data = system.peek(folder + name)
    if not data:
        return above
    return Ignores(folder, parse_ignores(data.decode("utf-8", "surrogateescape")), above)


def _ignores_above(folder: str, root: str, system: System) -> Ignores | None:
    """The patterns of the folders from the root of the repository to the start of a walk.

    The folder itself is walked even if it is ignored: the caller named it.
    """
    if root == folder:
        return None
    ignores = _repository_excludes(_add_trailing_slash(root), system)
    current = root
    for step in os.path.relpath(folder, root).split(os.sep):
        ignores = _add_ignore_file(_add_trailing_slash(current), ".gitignore", ignores, system)
        current = os.path.join(current, step)
    return ignores


def _folder_regex(folder: str) -> str:
    """The pattern of folders; each step has its slash, so `**` may be no step at all."""
    return f"/{_glob_to_regex(folder + '/')}\\Z"


def _glob_to_regex(glob: str) -> str:
    return re.escape(glob).replace(r"\*\*/", "(?:[^/]+/)*").replace(r"\*", "[^/]*")


def expand_choices(glob: str) -> list[str]:
    """A glob without `{a,b}`: one for each choice."""
    end = glob.find("}")
    start = glob.rfind("{", 0, max(end, 0))
    if start < 0:
        return [glob]
    before, words, after = glob[:start], glob[start + 1 : end], glob[end + 1 :]
    return [each for word in words.split(",") for each in expand_choices(before + word + after)]


def hidden_folders(globs: Iterable[str]) -> frozenset[str]:
    """The hidden folders that the globs contain."""
    steps = (
        step for glob in globs for each in expand_choices(glob) for step in each.split("/")[:-1]
    )
    return frozenset(step for step in steps if step.startswith("."))


class GlobRule(msgspec.Struct, frozen=True):
    """One glob without choices: the folder and the name it asks for."""

    order: int
    kind: str
    glob: str
    word: str | None  #: a step without wildcards that the folder must have
    folder: str  #: how the folder ends, with `/` around it; empty for any folder
    below: str  #: what the folder is or lies below, with `/` around it, if only `**` follows it
    pattern: re.Pattern[str] | None  #: of the folder, if it has other wildcards
    name: str  #: the name, or its end if there are wildcards before it
    names: re.Pattern[str] | None  #: of the name, if it has wildcards

    def matches_folder(self, folder: str) -> bool:
        """Whether the rule matches files in a folder, which ends with `/`."""
        if self.below:
            return self.below in folder
        if self.pattern is None:
            return folder.endswith(self.folder)  # of any if it asks for none
        return self.pattern.search(folder) is not None

    def matches_name(self, name: str) -> bool:
        if self.names is None:
            return name == self.name
        return name.endswith(self.name) and self.names.fullmatch(name) is not None


def _compile_rules(rows: Iterable[tuple[str, Iterable[str]]]) -> Iterator[GlobRule]:
    order = 0
    for kind, globs in rows:
        for glob in (each for written in globs for each in expand_choices(written)):
            head, _, last = glob.rpartition("/")
            plain = [step for step in head.split("/") if step and "*" not in step]
            # A file is compared with few of them, so they are translated when they are asked.
            below = head.removesuffix("/**") if head.endswith("/**") else ""
            below = "" if "*" in below or not below else f"/{below}/"
            has_pattern = "*" in head and not below
            pattern = lazy_regex(partial(_folder_regex, head)) if has_pattern else None
            names = lazy_regex(partial(_glob_to_regex, last)) if "*" in last else None
            word, folder = plain[-1] if plain else None, f"/{head}/" if head else ""
            name = last.rpartition("*")[2]
            yield GlobRule(order, kind, glob, word, folder, below, pattern, name, names)
            order += 1


class PlaceIndex:
    """The kinds that have a place: rows of a kind and its globs, the first that matches counts."""

    def __init__(self, rows: Iterable[tuple[str, Iterable[str]]]) -> None:
        # A rule asks for one name, or for names with one extension: most files of a repository
        # have another. Those that ask for a folder are found by a step of it.
        self._names: dict[str, list[GlobRule]] = {}
        self._extensions: dict[str, list[GlobRule]] = {}
        self._words: dict[str | None, list[GlobRule]] = {}
        self.names: set[str] = set()  #: what files must be called, whatever their folder
        self.extensions: set[str] = set()  #: or how their names must end
        self.open_ended: list[GlobRule] = []  #: the rules that do not say how
        for rule in _compile_rules(rows):
            is_name = rule.names is None
            key = rule.name if is_name else extension_of(rule.name)
            (self.names if is_name else self.extensions).add(key)
            if not (is_name or key):
                self.open_ended.append(rule)
            if rule.folder:
                self._words.setdefault(rule.word, []).append(rule)
            else:
                (self._names if is_name else self._extensions).setdefault(key, []).append(rule)
        #: a walk asks several times for the files of each folder
        self._in = lru_cache(maxsize=20_000)(self._rules_in)

    @property
    def names_anywhere(self) -> Iterable[str]:
        """The names of files that have a kind in any folder."""
        return self._names

    @property
    def ends_anywhere(self) -> Iterable[str]:
        """The ends of such names."""
        return {rule.name for rules in self._extensions.values() for rule in rules}

    @property
    def required_steps(self) -> Iterable[str | None]:
        """The steps that rules require of a folder; None among them if one has only wildcards."""
        return self._words

    def has_rules_for(self, folder: str) -> bool:
        """Whether the folder of any rule matches an absolute folder, given without a final `/`."""
        return not self._words.keys().isdisjoint((None, *folder.split("/"))) and bool(
            self._in(folder)
        )

    def find(self, path: str) -> tuple[str, str] | None:
        """The kind of an absolute path with `/`, and the glob that says so."""
        folder, _, name = path.rpartition("/")
        extension = extension_of(name)
        found: GlobRule | None = None
        for rules in (
            self._in(folder),
            self._names.get(name, ()),
            self._extensions.get(extension, ()),
            self._extensions.get("", ()) if extension else (),  # their names end with none
        ):
            for rule in rules:
                if (found is None or rule.order < found.order) and rule.matches_name(name):
                    found = rule
        return None if found is None else (found.kind, found.glob)

    def _rules_in(self, folder: str) -> tuple[GlobRule, ...]:
        """The rules that name a folder and match this one."""
        steps = folder.split("/")
        words = [each for each in {None, *steps} if each in self._words]
        rules = [rule for each in words for rule in self._words[each]]
        return tuple(each for each in rules if each.matches_folder(f"{folder}/"))


def extension_of(name: str) -> str:
    """From the last dot of a name on; empty if it has none."""
    dot = name.rfind(".")
    return name[dot:] if dot >= 0 else ""
