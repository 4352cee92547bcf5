"""Files as a git revision holds them, read without a checkout.

The objects are read one by one, as they are needed, from a single `git cat-file`: no filter, hook,
diff or conversion of the repository runs.
"""

from __future__ import annotations

import errno
import hashlib
import os
import posixpath
import stat
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from equipage.core import codes
from equipage.core.diagnostics import UsageError
from equipage.files import MAX_BYTES, Entry, OpenedFile, Stamp, System, is_below, parents_of
from equipage.files.process import NotInstalled, TimeLimitReached, run_program, start_program
from equipage.files.sandbox import FileProblem, escape_problem

if TYPE_CHECKING:
    from subprocess import Popen

#: The mode of a symbolic link, whose content is the path it leads to.
_LINK_MODE, _MAX_LINKS = "120000", 10
#: The most that is read of an object, and of the path that a link leads to.
_MAX_OBJECT_BYTES, _MAX_TARGET_BYTES = 10 * MAX_BYTES, 4096
#: The longest that git may take for an answer: a pipe in the place of one of its files has no end.
_TIMEOUT_SECONDS = 60
#: What is at a path, by the mode that git gives it.
_STATUS_BY_MODE = {
    mode: os.stat_result((int(mode, 8), 0, 0, 1, 0, 0, 0, 0, 0, 0))
    for mode in ("100644", "100664", "100755", _LINK_MODE)
}
_FOLDER_STATUS = os.stat_result((stat.S_IFDIR | 0o755, 0, 0, 1, 0, 0, 0, 0, 0, 0))
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


class Revision(System):
    """A repository as if a revision of it were checked out.

    Of what lies outside, only whether it is there is known: nothing of it is read.
    """

    def __init__(self, name: str, folder: str, disk: System) -> None:
        """The revision of the repository that a folder of a disk is in. Raises `NoRevision`."""
        self.name = name
        tree = _tree_number(name, folder)
        self.top = os.fsdecode(_run_git(folder, "rev-parse", "--show-toplevel").removesuffix(b"\n"))
        self.disk = disk
        self._submodules: dict[str, str] = {}
        self._entries = dict(self._list_tree(tree))
        #: folder → the names in it, and the mode of each; None for a folder
        self._folders: dict[str, dict[str, str | None]] = {self.top: {}}
        for path, (mode, _) in self._entries.items():
            self._add_folders(path, mode)
        self._links = {path for path, (mode, _) in self._entries.items() if mode == _LINK_MODE}
        self._process: Popen[bytes] | None = None

    def _list_tree(self, tree: str) -> Iterator[tuple[str, tuple[str, str]]]:
        """The path of each file with its mode and the number of its object."""
        for line in filter(None, _run_git(self.top, "ls-tree", "-r", "-z", tree).split(b"\0")):
            head, _, name = line.partition(b"\t")
            mode, kind, number = head.decode().split()
            if kind == "commit":
                self._submodules[os.fsdecode(name)] = number
            else:
                yield posixpath.join(self.top, os.fsdecode(name)), (mode, number)

    def _add_folders(self, path: str, mode: str | None) -> None:
        while path != self.top:
            folder, name = posixpath.split(path)
            known = self._folders.setdefault(folder, {})
            if name in known:
                return
            known[name] = mode
            path, mode = folder, None

    # Whose path it is.

    def _is_held(self, path: str) -> bool:
        """Whether a path is one of the revision; no revision holds what git keeps itself."""
        return is_below(path, self.top) and not is_below(path, posixpath.join(self.top, ".git"))

    def _follow_links(self, path: str) -> str | None:
        """A path with all links followed that it goes through; None if they have no end."""
        path = self.absolute(path)
        for _ in range(_MAX_LINKS if self._links else 1):
            link = next((each for each in (path, *parents_of(path)) if each in self._links), None)
            if link is None:
                return path
            path = posixpath.normpath(self._target_path(link) + path.removeprefix(link))
        return None

    def _target_path(self, link: str) -> str:
        """The path that a link leads to; `/` if the target is too long to be a path."""
        return posixpath.normpath(posixpath.join(posixpath.dirname(link), self.link_target(link)))

    # The questions.

    holds_tracked_files_alone = True

    @cached_property
    def cwd(self) -> str:
        return os.path.realpath(self.disk.cwd)

    def variables(self) -> Mapping[str, str]:
        return self.disk.variables()

    def status(self, path: str, *, follow_links: bool = True) -> os.stat_result | None:
        absolute = self.absolute(path)
        if not follow_links and absolute in self._links:
            return _STATUS_BY_MODE[_LINK_MODE]
        real = self._follow_links(absolute)
        if real is None:
            return None
        if not self._is_held(real):
            return self.disk.status(real, follow_links=follow_links)
        if real in self._folders:
            return _FOLDER_STATUS
        mode, _ = self._entries.get(real, ("", ""))
        return _STATUS_BY_MODE.get(mode)

    def link_target(self, path: str) -> str:
        link = self.absolute(path)
        if link not in self._links:
            return ""
        try:
            return os.fsdecode(self._read_object(self._entries[link][1], _MAX_TARGET_BYTES))
        except _TooLarge:
            return "/"

    def entries(self, folder: str) -> Sequence[Entry]:
        real = self._follow_links(folder)
        if real is None or real not in self._folders:
            number = errno.ENOENT if real not in self._entries else errno.ENOTDIR
            raise OSError(number, os.strerror(number), folder)
        names, start = self._folders[real], folder.rstrip("/") + "/"
        return [_RevisionEntry(name, start + name, names[name], self) for name in sorted(names)]

    def real(self, path: str) -> str:
        return self._follow_links(path) or self.absolute(path)

    def submodules(self, root: str) -> Mapping[str, str]:
        return self._submodules if self.real(root) == self.top else {}

    def peek(self, path: str, *, max_bytes: int = MAX_BYTES, size: int = -1) -> bytes | None:
        try:
            data = self._read_object(self._entries[self._follow_links(path) or ""][1], max_bytes)
        except KeyError:
            return None
        return data if size < 0 else data[:size]

    def open_named(self, path: str, real: str) -> OpenedFile:
        found = self._follow_links(path)
        if found is None or found not in self._entries:
            number = errno.EISDIR if self.is_folder(path) else errno.ENOENT
            raise OSError(number, os.strerror(number), path)
        return _Object(found, self._entries[found][1], self)

    def open_inside(self, base: str, reference: str, roots: tuple[str, ...]) -> OpenedFile:
        real = self._follow_links(posixpath.join(base, reference))
        if real is None or not any(is_below(real, self.real(each)) for each in roots):
            raise escape_problem(reference)
        if real not in self._entries:
            is_folder = self.is_folder(real)
            code = codes.FILE_IS_DIRECTORY if is_folder else codes.FILE_MISSING
            raise FileProblem(code, file=reference)
        return _Object(real, self._entries[real][1], self)

    def stamp(self, path: str) -> Stamp | None:
        return None if self.status(path) is None else ()  # nothing changes in a revision

    def sha256(self, path: str) -> str | None:
        data = self.peek(path, max_bytes=_MAX_OBJECT_BYTES)
        return None if data is None else hashlib.sha256(data).hexdigest()

    def finds_program(self, name: str, search: str) -> bool:
        return True  # the machine that will run it is not here

    def _read_object(self, number: str, most: int) -> bytes:
        """The content of an object. Raises `_TooLarge`, and then nothing of it was read."""
        if self._process is None:
            words = ("-C", self.top, "cat-file", "--batch")
            self._process = start_program("git", *words, variables=_ENVIRONMENT)
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


class _Object:
    """A file of a revision."""

    def __init__(self, real: str, number: str, revision: Revision) -> None:
        self.real, self._number, self._revision = real, number, revision

    def read(self, name: str, max_bytes: int) -> bytes:
        try:
            return self._revision._read_object(self._number, min(max_bytes, _MAX_OBJECT_BYTES))
        except _TooLarge as error:
            size, most = error.size, error.most
            raise FileProblem(codes.FILE_TOO_LARGE, file=name, size=size, limit=most) from None

    def close(self) -> None:
        """Nothing was opened for it alone."""


class _RevisionEntry:
    """An entry of a folder in a revision."""

    __slots__ = ("_mode", "_revision", "name", "path")

    def __init__(self, name: str, path: str, mode: str | None, revision: Revision) -> None:
        self.name, self.path, self._mode, self._revision = name, path, mode, revision

    def is_dir(self, *, follow_symlinks: bool = True) -> bool:
        if follow_symlinks and self.is_symlink():
            return self._revision.is_folder(self.path)
        return self._mode is None

    def is_file(self, *, follow_symlinks: bool = True) -> bool:
        if follow_symlinks and self.is_symlink():
            return self._revision.is_file(self.path)
        return self._mode is not None and not self.is_symlink()

    def is_symlink(self) -> bool:
        return self._mode == _LINK_MODE


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
    try:
        words, limit = ("-C", folder, *arguments), _TIMEOUT_SECONDS
        done = run_program("git", *words, variables=_ENVIRONMENT, seconds=limit)
    except NotInstalled:
        raise NoRevision("git is not installed") from None
    except TimeLimitReached:
        raise NoRevision(f"git did not answer within {limit} seconds") from None
    if done.returncode:
        lines = done.stderr.decode(errors="replace").strip().splitlines()
        raise NoRevision(lines[0] if lines else "there is no such revision")
    return done.stdout
