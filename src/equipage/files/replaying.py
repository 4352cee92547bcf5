"""Asking the system again what it was asked before, see `tracing`.

Each question is asked by the very function that answered it, with the same arguments. There are
shorter ways for the questions that nearly all files have in common; they are taken only where no
link is on the way, and give the same answers. Contents are read and compared by their digests;
`vouching` says when that need not be.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Mapping

from equipage.files import DEEP, entries_of, listing, working_directory
from equipage.files.reading import Files, names_digest, peek
from equipage.files.sandbox import (
    FLAGS,
    FileProblem,
    is_below,
    open_inside,
    open_named,
    read_regular,
    refusal,
)
from equipage.files.tracing import Answer, Question, Signature, digest, is_digest, plain, signature

_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)
_DIRECTORY = getattr(os, "O_DIRECTORY", 0)


#: What is so for a file that was opened by its own name, and is not a link.
_OF_A_FILE = {
    "exists": True,
    "is there": True,
    "is file": True,
    "is folder": False,
    "is link": False,
}
#: Their answers spare other questions, so they are asked first.
_FIRST = ("content", "peek")


def essential(asked: Mapping[Question, Answer]) -> list[tuple[Question, Answer]]:
    """The questions that have to be asked again, in order: their answers say what the others were.

    Most files are not links, and neither are the folders they are in. Then reading the file says
    all about it, and one look at its folder all about the way there, for every file in the folder.
    """
    files = {
        each[1] for each, answer in asked.items() if each[0] == "content" and is_digest(answer)
    }
    rows: dict[Question, Answer] = {}
    for question, answer in asked.items():
        name, path = question[:2]
        if path in files and _OF_A_FILE.get(name) is answer:
            continue
        if name == "real path" and path in files and answer == path:
            folder = os.path.dirname(path)
            if asked.get(("real path", folder), folder) == folder:
                rows["real path", folder] = folder
                continue
        if name == "named" and path in files and answer == path and _is_name(question[2]):
            continue
        if name == "inside" and answer in files:
            root = _root_of(question, str(answer), asked)
            if root is not None:
                rows["leads down", root, os.path.dirname(str(answer))] = True
                continue
        rows[question] = answer
    return sorted(rows.items(), key=lambda row: row[0][0] not in _FIRST)


def _root_of(question: Question, answer: str, asked: Mapping[Question, Answer]) -> str | None:
    """The root that a way began at which has no link and no detour; its real paths were asked."""
    _, base, reference, *roots = question
    if answer != _straight(base, reference) or asked.get(("real path", base)) != base:
        return None
    real = (asked.get(("real path", root)) for root in roots)
    return next((each for each in real if isinstance(each, str) and is_below(base, each)), None)


def _straight(base: str, reference: str) -> str | None:
    """Where a reference leads that goes down from its base, if there are no links on the way."""
    if not _is_name(reference) or ".." in reference:
        return None
    steps = [each for each in reference.split("/") if each not in ("", ".")]
    return "/".join((base.rstrip("/"), *steps))


def _is_name(path: str) -> bool:
    return os.path.basename(path) not in ("", ".", "..")


class Replay:
    """What the system answers now. Each path is looked at once, so that all answers agree."""

    def __init__(self, variables: Mapping[str, str]) -> None:
        self._variables = variables
        self.signatures: dict[str, Signature] = {}  #: of the files that were read, before that
        self._texts: dict[str, bytes] = {}
        self._status: dict[str, os.stat_result | None] = {}
        self._looks: dict[str, Signature | None] = {}
        self._cwd = working_directory()
        self._real: dict[str, str] = {}
        self._read: dict[str, tuple[Answer, int]] = {}
        self._opens: dict[tuple[str, str], bool] = {}
        self._ask: dict[str, Callable[..., Answer]] = {
            "exists": lambda path: self._is(path, None),
            "is there": lambda path: self._look(path) is not None,
            "is file": lambda path: self._is(path, stat.S_ISREG),
            "is folder": lambda path: self._is(path, stat.S_ISDIR),
            "is link": self._is_link,
            "real path": self._real_path,
            "content": self._content,
            "peek": self._peek,
            "named": self._named,
            "inside": self._inside,
            "leads down": self._leads_down,
            "entries": _entries,
            "below": _below,
            "program": self._program,
        }

    def answer(self, question: Question) -> Answer:
        """The answer to a question. Raises `KeyError` for one that this room does not ask."""
        return self._ask[question[0]](*question[1:])

    def are_still(self, vouched: Mapping[str, Signature | None]) -> bool:
        """Whether files and folders are what they were when they had signatures, see `vouching`."""
        return not self.changed(vouched)

    def changed(self, vouched: Mapping[str, Signature | None]) -> list[str]:
        """The paths of files and folders that are not what they were, or whose word is missing."""
        looks, lstat = self._looks, os.lstat
        found: list[str] = []
        for path, known in vouched.items():
            if path not in looks:  # not by `_look`: thousands of paths are looked at
                try:
                    looks[path] = signature(lstat(path))
                except (OSError, ValueError):
                    looks[path] = None
            if known is None or looks[path] != known:
                found.append(path)
        return found

    def text_of(self, path: str, known: str) -> bytes | None:
        """What a file holds, if its digest is the one that is known."""
        if path not in self._texts:
            try:
                descriptor = os.open(path, FLAGS | _NOFOLLOW)
            except (OSError, ValueError):
                return None
            try:
                status = os.fstat(descriptor)
                self._texts[path] = read_regular(descriptor, status, path, path, status.st_size)
            except (OSError, FileProblem):
                return None
            finally:
                os.close(descriptor)
        data = self._texts[path]
        return data if digest(data) == known else None

    # What is at a path.

    def _look(self, path: str) -> os.stat_result | None:
        if path not in self._status:
            try:
                self._status[path] = os.lstat(path)
            except (OSError, ValueError):
                self._status[path] = None
        return self._status[path]

    def _is(self, path: str, sort: Callable[[int], bool] | None) -> bool:
        status = self._look(path)
        if status is not None and stat.S_ISLNK(status.st_mode):
            try:
                status = os.stat(path)
            except (OSError, ValueError):
                return False
        return status is not None and (sort is None or sort(status.st_mode))

    def _is_link(self, path: str) -> bool:
        status = self._look(path)
        return status is not None and stat.S_ISLNK(status.st_mode)

    def _real_path(self, path: str) -> str:
        known = self._real.get(path)
        if known is not None:
            return known
        # Behind a link, two dots lead elsewhere.
        if ".." in path or path.count("/") > DEEP:
            return os.path.realpath(path)
        # As `realpath` does it, but each folder is looked at once for all paths in it.
        full = os.path.normpath(os.path.join(self._cwd, path))
        folder, last = os.path.split(full)
        above = self._real_path(folder) if last else full
        real = os.path.join(above, last)
        if self._is_link(real):
            real = os.path.realpath(path)
        self._real[path] = real
        return real

    # What a file holds.

    def _content(self, real: str, most: str) -> Answer:
        limit = int(most)
        known = self._read.get(real)
        if known is None or known[1] > limit or not is_digest(known[0]):
            known = self._read[real] = self._content_now(real, limit)
        return known[0]

    def _content_now(self, path: str, limit: int) -> tuple[Answer, int]:
        """The digest of a file that is not a link, or the problem with it; and its size."""
        try:
            descriptor = os.open(path, FLAGS | _NOFOLLOW)
            try:
                status = os.fstat(descriptor)
                data = read_regular(descriptor, status, path, path, limit)
            finally:
                os.close(descriptor)
        except FileProblem as problem:
            return problem.answer(), 0
        except (OSError, ValueError) as error:
            return refusal(error, path).answer(), 0
        self._status.setdefault(path, status)
        self.signatures[plain(path) or path] = signature(status)
        return digest(data), len(data)

    def _peek(self, path: str, most: str) -> Answer:
        if self._is_link(path):
            data = peek(path, max_bytes=int(most))
            return None if data is None else digest(data)
        found = self._content(path, most)
        return found if is_digest(found) else None

    # Where a name leads.

    def _named(self, real: str, full: str) -> Answer:
        known = self._read.get(real)
        if known is not None and is_digest(known[0]) and _is_name(full):
            return real  # it was opened under this name, so it is not a link
        try:
            descriptor, opened = open_named(real, full)
        except (OSError, ValueError) as error:
            return refusal(error, full).answer()
        os.close(descriptor)
        return opened

    def _inside(self, base: str, reference: str, *roots: str) -> Answer:
        start = self._real_path(base)
        root = next((each for each in map(self._real_path, roots) if is_below(start, each)), None)
        target = _straight(start, reference)
        if root is not None and target is not None:
            known = self._read.get(target)
            is_read = known is not None and is_digest(known[0])
            if is_read and self._leads_down(root, os.path.dirname(target)):
                return target
        try:
            descriptor, real = open_inside(base, reference, roots)
        except FileProblem as problem:
            return problem.answer()
        os.close(descriptor)
        return real

    def _leads_down(self, root: str, folder: str) -> bool:
        """Whether every folder from a root down can be opened, and none of them is a link."""
        key = root, folder
        if key not in self._opens:
            self._opens[key] = folder.count("/") <= DEEP and (
                (folder == root or self._leads_down(root, os.path.dirname(folder)))
                and _opens(folder)
            )
        return self._opens[key]

    def _program(self, name: str) -> Answer:
        search = self._variables.get("PATH")
        return search is not None and Files(cwd="/").finds_program(name, search)


def _opens(folder: str) -> bool:
    try:
        os.close(os.open(folder, FLAGS | _NOFOLLOW | _DIRECTORY))
    except OSError:
        return False
    return True


def _entries(folder: str) -> Answer:
    try:
        return listing(entries_of(folder))
    except OSError as error:
        return str(error.errno)


def _below(folder: str, most: str) -> Answer:
    return names_digest(Files(cwd="/").names_below(folder, most=int(most)))
