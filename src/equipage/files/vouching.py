"""When the system's word about files and folders is enough, and their contents need not be read.

Reading every file again is most of what asking again costs, see `replaying`. As in the index of
git, a signature (`tracing.Signature`) can vouch for a content or a listing that was read before:
device, inode, mode, size, and the times of the last change of the content and of the inode. The
second of these times, ctime, is set by the kernel with every change, by its own clock, and no
program can choose it. What is compared is always the content; a signature only says that it is the
one that was read.

A signature could be the same while the content is another one. Each way, and why it is closed:

- *The size is the same, and the time was set back* (`touch -d`, rsync, archives): that is a change
  of the inode, so ctime is another one.
- *A file, or a folder around it, was replaced* by renaming, linking or mounting: the inode or the
  device at the path is another one. A number that was given again belongs to a file that was made
  later. A link has an inode of its own, because links are not followed.
- *A hard link elsewhere was written to*: both names are one inode, with one ctime.
- *The change came in the same tick of the clock*: a signature counts only if its ctime is older by
  `MARGIN` than the beginning of the run that read the file. What the run read later, and what was
  changed since, has a younger one. The clock is the one that stamps files, see `Kept.now`.
- *The clock was set back*, so that a moment came twice: the distance between the clock and the
  time since the start of the machine is kept, see `Era`. If it changed by more than `_DRIFT`, which
  is less than `MARGIN`, no signature counts.
- *The machine failed*, and the content came to the disk without its times: signatures count only
  until the next start of the machine. So do those of a disk that another machine wrote to.
- *The file system has no such times, or another machine changes it*: signatures count on the file
  systems of Linux that keep them exactly, by the table of mounts, and nowhere else.
- *A process may read less than the one before*: mode, owner and access lists are part of the inode,
  and the user, the groups and the capabilities of the process are part of the name of a cache.
- *The folder was copied*, with its cache in it: the cache is not used, see `keeping`.

Two ways are left. A program that has a file mapped into its memory can write to a page again and
again, of which the kernel notes only the first time; git and build tools do not see that, either.
And in a sandbox that lets a process look at a file but not open it, what the file held when it
could be opened is still known. Who may set the clock or write to the disk itself can do anything.

The signature of a folder vouches for the names in it and for what each is, hence also for what is
not there; what a link leads to is not a matter of its folder. With those of all folders around it,
up to the root of the project, it vouches for the way there.
"""

from __future__ import annotations

import os
import re
import stat
import sys
import time
from collections.abc import Iterable, Mapping

import msgspec

from equipage.files import LINKS
from equipage.files.sandbox import is_below
from equipage.files.tracing import Answer, Question, Signature, is_digest, plain, signature

#: How much older than the run that read it a change must be, in nanoseconds: the coarsest file
#: system below counts in seconds.
MARGIN = 2_000_000_000
#: How far the clock may wander from the time since the start of the machine, in milliseconds.
_DRIFT = 1_000
#: They keep both times of every inode, and all changes go through the kernel of this machine.
_EXACT = frozenset({"bcachefs", "btrfs", "ext3", "ext4", "f2fs", "overlay", "tmpfs", "xfs", "zfs"})
#: Questions about what is at a path.
_LOOKS = frozenset({"exists", "is there", "is file", "is folder", "is link"})

Row = tuple[Question, Answer]
#: Signatures by path; None for what was too young, or is not what it was.
Vouched = dict[str, Signature | None]


class Era(msgspec.Struct, frozen=True, array_like=True):
    """The time in which no clock was set and the machine did not start anew."""

    boot: str
    distance: int  #: from the start of the machine to that of the clock, in milliseconds

    def goes_on_in(self, now: Era | None) -> bool:
        """Whether a later one is the same."""
        if now is None or now.boot != self.boot:
            return False
        return abs(now.distance - self.distance) <= _DRIFT


def this_era() -> Era | None:
    """The one that this is; None if the system does not say."""
    if sys.platform != "linux":
        return None
    boot = _said_by_kernel("/proc/sys/kernel/random/boot_id")
    distance = time.clock_gettime_ns(time.CLOCK_REALTIME) - time.clock_gettime_ns(
        time.CLOCK_BOOTTIME
    )
    return Era(boot.strip(), distance // 1_000_000) if boot else None


def process_identity() -> tuple[object, ...]:
    """What decides which files the process may read: its user, its groups, its capabilities."""
    if not hasattr(os, "geteuid"):
        return ()
    lines = _said_by_kernel("/proc/self/status").splitlines()
    capabilities = [line for line in lines if line.startswith("CapEff:")]
    return os.geteuid(), os.getegid(), sorted(os.getgroups()), capabilities


def _said_by_kernel(path: str) -> str:
    try:
        with open(path, "rb") as file:
            return os.fsdecode(file.read())
    except OSError:
        return ""


def _mounts() -> dict[str, str]:
    """The types of file systems by where they are mounted; the last one at a place counts."""
    found: dict[str, str] = {}
    # Only "\n" ends a line: a name may hold everything else that Python takes for the end of one.
    for line in filter(None, _said_by_kernel("/proc/self/mountinfo").split("\n")):
        before, _, after = line.partition(" - ")
        # Blanks and the like are written as octal numbers.
        place = before.split(" ")[4]
        if "\\" in place:
            place = re.sub(r"\\(\d{3})", lambda match: chr(int(match[1], 8)), place)
        found[place] = after.partition(" ")[0]
    return found


def _is_same(status: os.stat_result, path: str) -> bool:
    """Whether a path leads to what it led to before."""
    try:
        return os.path.samestat(status, os.lstat(path))
    except OSError:
        return False


class Vouching:
    """What signatures vouch for below the root of a project, in rows of questions and answers.

    Nothing that changed after `since` is vouched for: every question of the rows was asked later.
    """

    def __init__(self, root: str, since: int | None) -> None:
        self._root = root
        self._latest = -1 if since is None else since - MARGIN
        self._status: dict[str, os.stat_result | None] = {}
        self._chains: dict[str, tuple[str, ...] | None] = {}
        mounts = _mounts()
        # Each of them lies in the one before.
        around = [mounts[place] for place in sorted(mounts) if is_below(root, place)]
        is_exact = bool(around) and around[-1] in _EXACT and os.path.realpath(root) == root
        self._first = self._look(root) if is_exact else None
        #: other file systems in the project
        self._elsewhere = [place for place in mounts if place != root and is_below(place, root)]

    def divide(
        self, rows: Iterable[Row], signatures: Mapping[str, Signature]
    ) -> tuple[Vouched, list[Row], list[Row]]:
        """Signatures, the rows that hold while these do, and those that have to be asked again.

        `signatures` are those of files before they were read.
        """
        vouched: Vouched = {}
        sure: list[Row] = []
        rest: list[Row] = []
        # A folder above the project may have been replaced since.
        is_here = self._first is not None and _is_same(self._first, self._root)
        for row in rows:
            paths = self._vouching_for(*row, signatures) if is_here else None
            if paths is None:
                rest.append(row)
                continue
            sure.append(row)
            for path in paths:
                if path not in vouched:
                    vouched[path] = self._signed(path, signatures)
        # The signatures begin at the root, so what leads there is asked for.
        way: Row = ("real path", self._root), self._root
        return vouched, sure, [*rest, way] if sure and way not in rest else rest

    def _signed(self, path: str, signatures: Mapping[str, Signature]) -> Signature | None:
        known, status = signatures.get(path), self._look(path)
        if known is None:
            known = None if status is None else signature(status)
        # One that was read through a link, or has changed since, could only fail.
        return known if known is not None and known[-1] < self._latest else None

    def _vouching_for(
        self, question: Question, answer: Answer, signatures: Mapping[str, Signature]
    ) -> Iterable[str] | None:
        """The paths whose signatures vouch for an answer; None if there are none."""
        name, path = question[0], plain(question[1])
        if (
            path is None
            or not is_below(path, self._root)
            or any(is_below(path, at) for at in self._elsewhere)
        ):
            return None
        if name in ("content", "peek") and is_digest(answer):
            return (path,) if path in signatures else None
        if name == "peek":
            return self._way_to(path) if self._look(path) is None else None
        if name in _LOOKS or (name == "real path" and answer == path):
            return self._way_to(path)
        if name == "entries" and is_digest(answer) and not str(answer).endswith(LINKS):
            return self._chain(path)
        if name == "leads down" and answer is True and is_below(question[2], path):
            return self._chain(question[2])
        return None

    def _way_to(self, path: str) -> Iterable[str] | None:
        """The folders that say what is at a path, if it is not a link."""
        status = self._look(path)
        if status is not None:
            is_a_link = stat.S_ISLNK(status.st_mode)
            return None if is_a_link or path == self._root else self._chain(os.path.dirname(path))
        # The first step that is missing decides, whatever the steps behind it are.
        folder = os.path.dirname(path)
        while folder != self._root and is_below(folder, self._root) and self._look(folder) is None:
            folder = os.path.dirname(folder)
        return self._chain(folder)

    def _chain(self, folder: str) -> tuple[str, ...] | None:
        """A folder and those around it up to the root; None if one of them is not a folder."""
        if folder not in self._chains:
            status = self._look(folder) if is_below(folder, self._root) else None
            above: tuple[str, ...] | None = ()
            if status is None or not stat.S_ISDIR(status.st_mode):
                above = None
            elif folder != self._root:
                above = self._chain(os.path.dirname(folder))
            self._chains[folder] = None if above is None else (folder, *above)
        return self._chains[folder]

    def _look(self, path: str) -> os.stat_result | None:
        if path not in self._status:
            try:
                self._status[path] = os.lstat(path)
            except (OSError, ValueError):
                self._status[path] = None
        return self._status[path]
