"""Files as a git revision holds them, read without a checkout.

The objects are read one by one, as they are needed, from a single `git cat-file`: no filter, hook,
diff or conversion of the repository runs.
"""

from __future__ import annotations

import os
import posixpath
import subprocess
from bisect import bisect_left
from collections.abc import Collection, Iterator, Mapping

from equipage.core import codes
from equipage.core.diagnostics import UsageError
from equipage.core.source import Source
from equipage.files.reading import Files, MemoryFiles, display_name
from equipage.files.sandbox import MAX_BYTES, FileProblem, is_below, parents_of
from equipage.files.walking import EXTENSIONS, WalkResult, WantedFiles, enters_all_folders

#: The mode of a symbolic link, whose content is the path it leads to.
_LINK_MODE, _MAX_LINKS = "120000", 10
#: The most that is read of an object: what `Files.read` reads of the largest files; and of the path
#: that a link leads to.
_MAX_OBJECT_BYTES, _MAX_TARGET_BYTES = 10 * MAX_BYTES, 4096
#: The mode of a file that may be run.
_EXECUTABLE_MODE = "100755"
#: A repository is data here: nothing that its configuration names may run, nothing is fetched. A
#: missing object of a partial clone is missing, because no transport is allowed.
_OVERRIDES = {"core.fsmonitor": "false", "core.hooksPath": os.devnull, "core.pager": "cat"}
_ENVIRONMENT = {
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_EXTERNAL_DIFF": "",
    "LC_ALL": "C",
    "GIT_CONFIG_COUNT": str(len(_OVERRIDES)),
    **{f"GIT_CONFIG_KEY_{index}": key for index, key in enumerate(_OVERRIDES)},
    **{f"GIT_CONFIG_VALUE_{index}": _OVERRIDES[key] for index, key in enumerate(_OVERRIDES)},
}


class NoRevision(UsageError):
    """There is no such revision, or no repository; the text says which."""


class Revision(Mapping[str, bytes]):
    """The files of a revision by absolute path, as if it were checked out in the repository."""

    def __init__(self, name: str, folder: str) -> None:
        """Raises `NoRevision`."""
        self.name = name
        tree = _tree_number(name, folder)
        self.top = os.fsdecode(_run_git(folder, "rev-parse", "--show-toplevel").removesuffix(b"\n"))
        self._entries = dict(self._list_tree(tree))
        self._links = {
            path: number for path, (mode, number) in self._entries.items() if mode == _LINK_MODE
        }
        self._sorted: list[str] | None = None  #: the paths, once they are asked for by folder
        self._process: subprocess.Popen[bytes] | None = None

    def _list_tree(self, tree: str) -> Iterator[tuple[str, tuple[str, str]]]:
        """The path of each file with its mode and the number of its object."""
        for line in filter(None, _run_git(self.top, "ls-tree", "-r", "-z", tree).split(b"\0")):
            head, _, name = line.partition(b"\t")
            mode, kind, number = head.decode().split()
            if kind == "blob":  # not a submodule
                yield posixpath.join(self.top, os.fsdecode(name)), (mode, number)

    def __getitem__(self, path: str) -> bytes:
        """Raises `_TooLarge`, which is a `KeyError`, too."""
        _, number = self._find_entry(path)
        return self._read_object(number, _MAX_OBJECT_BYTES)

    def __contains__(self, path: object) -> bool:
        """Whether there is a file; a link is one only if it leads to one."""
        return isinstance(path, str) and self._mode(path) is not None

    def may_run(self, path: str) -> bool:
        """Whether a file has the mark of a program, links followed."""
        return self._mode(path) == _EXECUTABLE_MODE

    def _mode(self, path: str) -> str | None:
        try:
            return self._find_entry(path)[0]
        except KeyError:
            return None

    def _find_entry(self, path: str) -> tuple[str, str]:
        """The mode and the object of a file, links followed. Raises `KeyError`."""
        return self._entries[self._resolve_links(path)]

    def _resolve_links(self, path: str) -> str:
        """A path with all links followed that it goes through. Raises `KeyError`."""
        for _ in range(_MAX_LINKS):
            link = next((each for each in (path, *parents_of(path)) if each in self._links), None)
            if link is None:
                return path
            path = posixpath.normpath(self._link_target(link) + path.removeprefix(link))
        raise KeyError(path)

    def _resolve_folder(self, path: str) -> str:
        """As `_resolve_links`, but the path itself if it goes through too many links."""
        try:
            return self._resolve_links(path)
        except KeyError:
            return path

    def _link_target(self, link: str) -> str:
        """The path that a link leads to; `/` if the target is too long to be a path."""
        try:
            target = os.fsdecode(self._read_object(self._links[link], _MAX_TARGET_BYTES))
        except _TooLarge:
            return "/"
        return posixpath.normpath(posixpath.join(posixpath.dirname(link), target))

    def names_below(self, folder: str) -> list[str]:
        """The paths of files below a folder, relative to it, in order."""
        names, start = self._sorted_paths(), self._resolve_folder(folder).rstrip("/") + "/"
        # The character after the slash is a zero.
        first, last = bisect_left(names, start), bisect_left(names, f"{start[:-1]}0")
        return [each.removeprefix(start) for each in names[first:last]]

    def _sorted_paths(self) -> list[str]:
        if self._sorted is None:
            self._sorted = sorted(self._entries)
        return self._sorted

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def is_folder(self, path: str) -> bool:
        return self.has_below(path)

    def has_below(self, folder: str) -> bool:
        """Whether there is a file below a folder."""
        names, start = self._sorted_paths(), self._resolve_folder(folder).rstrip("/") + "/"
        first = bisect_left(names, start)
        return first < len(names) and names[first].startswith(start)

    def walk(
        self, folder: str, agents: Collection[str], wanted: WantedFiles
    ) -> Iterator[WalkResult]:
        """Every candidate file below a folder, in the order a walk of the disk would give."""
        start = folder.rstrip("/") + "/"
        found = (path for path in self._entries if path.startswith(start))
        links: list[str] = []
        for path in sorted(found, key=lambda each: _walk_order(each[len(start) :])):
            if self._is_candidate(path, start, agents, wanted) and not self.is_folder(path):
                yield WalkResult(
                    path, outside=path in self._links and self._leaves_repository(path)
                )
            elif path in self._links and any(each in agents for each in path.split("/")):
                links.append(path)
        # As on the disk: a link to a folder is followed where agents live, after all else.
        for link in links:
            target = self._resolve_folder(link)
            if self._leaves_repository(link) and os.path.isdir(target) and "/.defect/" not in link:
                yield WalkResult(link, outside=True)
            elif not is_below(link, target):
                below = (f"{link}/{each}" for each in self.names_below(link))
                yield from (
                    WalkResult(path)
                    for path in sorted(below, key=lambda each: _walk_order(each[len(start) :]))
                    if self._is_candidate(path, start, agents, wanted)
                )

    def _is_candidate(
        self, path: str, start: str, agents: Collection[str], wanted: WantedFiles
    ) -> bool:
        *folders, name = path[len(start) :].split("/")
        if not enters_all_folders(start, folders, agents, wanted):
            return False
        is_visible = not any(each.startswith(".") for each in folders)
        of_tool = is_visible or any(each in agents for each in folders)
        has_extension = of_tool and name.lower().endswith(EXTENSIONS)
        return has_extension or wanted.is_known(path) or wanted.is_claimed(path)

    def _leaves_repository(self, link: str) -> bool:
        """Whether a link leads to something outside the repository."""
        target = self._resolve_folder(link)
        return not is_below(target, self.top) and os.path.exists(target)

    def files(self) -> Files:
        """Access for one load."""
        files = _RevisionFiles({}, cwd=os.path.realpath(os.getcwd()))
        files.contents = self
        return files

    def _read_object(self, number: str, most: int) -> bytes:
        """The content of an object. Raises `_TooLarge`, and then nothing of it was read."""
        if self._process is None:
            self._process = subprocess.Popen(
                ["git", "-C", self.top, "cat-file", "--batch"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env={**os.environ, **_ENVIRONMENT},
            )
        pipe_in, pipe_out = self._process.stdin, self._process.stdout
        assert pipe_in is not None
        assert pipe_out is not None
        pipe_in.write(number.encode() + b"\n")
        pipe_in.flush()
        answer = pipe_out.readline().split()  # number, type, size; or: number, "missing"
        if len(answer) != 3:
            raise NoRevision(f"the object {number} of `{self.name}` is missing in this clone")
        size, data = int(answer[2]), b""
        try:
            if size > most:
                raise _TooLarge(size, most)
            data = pipe_out.read(size + 1)
        finally:
            # What is left in the pipe would be taken for the answer to the next question.
            if len(data) <= size:
                self._process.kill()
                self.close()
        if len(data) <= size:
            raise NoRevision(f"the object {number} of `{self.name}` cannot be read to its end")
        return data[:-1]

    def close(self) -> None:
        """End the process that reads objects, if one was needed."""
        if self._process is not None:
            self._process.communicate()
            self._process = None


class _TooLarge(KeyError):
    """An object has more bytes than are read."""

    def __init__(self, size: int, most: int) -> None:
        self.size, self.most = size, most
        super().__init__(size, most)


class _RevisionFiles(MemoryFiles):
    """The files of a revision, and the `.git` of the repository, which no revision holds."""

    contents: Revision

    def _content(self, real: str, max_bytes: int, shown: str | None = None) -> Source:
        try:
            return super()._content(real, max_bytes, shown)
        except _TooLarge as error:
            name, most = display_name(real, self.cwd), min(max_bytes, error.most)
            raise FileProblem(
                codes.FILE_TOO_LARGE, file=name, size=error.size, limit=most
            ) from None

    def exists(self, path: str) -> bool:
        return super().exists(path) or (posixpath.basename(path) == ".git" and os.path.exists(path))

    def is_folder(self, path: str) -> bool:
        return self.contents.has_below(self._absolute_path(path))

    def names_below(self, folder: str, *, most: int = 1000) -> list[str]:
        return self.contents.names_below(self._absolute_path(folder))[:most]


def _walk_order(relative: str) -> list[tuple[bool, str]]:
    """Files of a folder come before its folders."""
    *folders, name = relative.split("/")
    return [*((True, folder) for folder in folders), (False, name)]


def is_revision(name: str, folder: str) -> bool:
    """Whether a name is that of a revision in the repository of a folder, if it is in one."""
    try:
        return bool(_tree_number(name, folder))
    except NoRevision:
        return False


def _tree_number(name: str, folder: str) -> str:
    """The number of the tree of a revision. Raises `NoRevision`."""
    if not name or name.startswith("-"):
        raise NoRevision(f"`{name}` is not a revision")
    verify = ("rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{tree}}")
    return _run_git(folder, *verify).decode().strip()


def _run_git(folder: str, *arguments: str) -> bytes:
    """The output of a git command. Raises `NoRevision`."""
    command, env = ["git", "-C", folder, *arguments], {**os.environ, **_ENVIRONMENT}
    try:
        done = subprocess.run(command, capture_output=True, check=False, env=env)
    except OSError:
        raise NoRevision("git is not installed") from None
    if done.returncode:
        words = done.stderr.decode(errors="replace").strip().splitlines()
        raise NoRevision(words[0] if words else "there is no such revision")
    return done.stdout
