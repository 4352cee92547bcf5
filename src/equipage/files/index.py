"""Which files a git repository tracks, read from its index without running git.

Git tracks a file although a `.gitignore` matches it, so a check must look at it. The index is a
list of entries sorted by name; versions 2 to 4 are read, split indexes included. Of an entry only
its name counts, and of a submodule its commit. The folders of a sparse index are left out.
"""

from __future__ import annotations

import os
from bisect import bisect_left
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from equipage.files import System

#: An index is much larger than a configuration: about 100 bytes for each file.
_MAX_BYTES = 512 * 1024 * 1024
#: Before the name of an entry: ten numbers of four bytes, the hash of the content, two of flags.
_NUMBERS_SIZE, _FLAGS_SIZE = 40, 2
_HASH_SIZES = (20, 32)  #: SHA-1 and SHA-256
_EXTENDED_FLAG = 0x40  #: in the first byte of the flags: two more bytes of flags follow
_NAME_LENGTH_MASK = 0xFFF  #: the rest of the flags is the length of the name, at most this
_FILE_TYPES = (0x8, 0xA)  #: the types of entries that are files: regular ones and links
_SUBMODULE_TYPE = 0xE


class DamagedIndex(Exception):
    """An index that cannot be read; the text says why."""


class TrackedFiles:
    """The names of tracked files, relative to the root of the repository, with `/`.

    They stay as git writes them: there are many thousand, and only a few are asked for.
    """

    def __init__(self, names: list[bytes], submodules: dict[str, str]) -> None:
        self.names = names  #: sorted
        self.submodules = submodules  #: name → commit

    def has(self, name: str) -> bool:
        wanted, found = self._first_not_before(name)
        return found == wanted

    def has_below(self, folder: str) -> bool:
        """Whether there is a file below a folder, which ends with `/`."""
        wanted, found = self._first_not_before(folder)
        return found.startswith(wanted)

    def _first_not_before(self, name: str) -> tuple[bytes, bytes]:
        """The encoded name, and the first tracked name that does not sort before it, or NUL."""
        try:
            wanted = os.fsencode(name)
        except UnicodeEncodeError:  # no file has such a name
            return b"/", b"\0"
        place = bisect_left(self.names, wanted)
        return wanted, self.names[place] if place < len(self.names) else b"\0"


def read_tracked_files(root: str, system: System) -> TrackedFiles | None:
    """What the repository at `root` tracks; None if it has no index. Raises `DamagedIndex`."""
    folder = _git_folder(root, system)
    if folder is None:
        return None
    path = os.path.join(folder, "index")
    data = system.peek(path, max_bytes=_MAX_BYTES)
    if data is None:
        if system.status(path, follow_links=False) is not None:
            raise DamagedIndex("it cannot be read")
        return None
    submodules: dict[str, str] = {}
    names, shared = _parse_index(data, submodules)
    if shared is not None:
        # The entries of a split index that are not its own are in a file beside it.
        rest = system.peek(os.path.join(folder, f"sharedindex.{shared}"), max_bytes=_MAX_BYTES)
        if rest is None:
            raise DamagedIndex("the shared part of the index is missing")
        more: dict[str, str] = {}
        names += _parse_index(rest, more)[0]
        submodules = more | submodules
    # Those of one file are in order already. What changed in a split index may have no name.
    return TrackedFiles(sorted(filter(None, names)), submodules)


def _git_folder(root: str, system: System) -> str | None:
    """The folder with the index: `.git`, or where the file `.git` of a worktree leads."""
    path = os.path.join(root, ".git")
    if system.is_folder(path):
        return path
    written = system.peek(path, max_bytes=64 * 1024) or b""
    if not written.startswith(b"gitdir:") or b"\0" in written:
        return None
    return os.path.normpath(os.path.join(root, os.fsdecode(written[7:].strip())))


def _parse_index(
    data: bytes, submodules: dict[str, str] | None = None
) -> tuple[list[bytes], str | None]:
    """The names of an index, and the number of its shared part. Raises `DamagedIndex`.

    `submodules` takes up the commit of each of those.
    """
    submodules = {} if submodules is None else submodules
    version = int.from_bytes(data[4:8], "big")
    if data[:4] != b"DIRC" or version not in (2, 3, 4):
        raise DamagedIndex("it does not start like an index of git")
    for hash_size in _HASH_SIZES:  # nothing in the file says which one it has
        try:
            submodules.clear()
            names, end = _entries(data, version, hash_size, submodules)
            return names, _shared_index_number(data, end, hash_size)
        except (IndexError, ValueError):
            continue
    raise DamagedIndex("an entry is cut off or has no end")


def _entries(
    data: bytes, version: int, hash_size: int, submodules: dict[str, str]
) -> tuple[list[bytes], int]:
    """The names of the entries, and where they end. Raises `IndexError` and `ValueError`."""
    if version < 4:
        return _padded_entries(data, hash_size, submodules)
    names: list[bytes] = []
    name, position = b"", 12
    flags, length = _NUMBERS_SIZE + hash_size, len(data)
    for _ in range(int.from_bytes(data[8:12], "big")):
        first = data[position + flags]
        start = position + flags + (4 if first & _EXTENDED_FLAG else _FLAGS_SIZE)
        # The name begins as the one before it, but for some bytes at its end.
        dropped, start = _read_number(data, start)
        if dropped > len(name):
            raise ValueError(dropped)
        end = data.index(b"\0", start)
        name = name[: len(name) - dropped] + data[start:end]
        # With hashes of another size, this is not a length.
        written = (first << 8 | data[position + flags + 1]) & _NAME_LENGTH_MASK
        if written != len(name) and not (written == _NAME_LENGTH_MASK < len(name)):
            raise ValueError(written)
        if data[position + 26] >> 4 in _FILE_TYPES:
            names.append(name)
        elif data[position + 26] >> 4 == _SUBMODULE_TYPE:
            submodules[os.fsdecode(name)] = data[position + _NUMBERS_SIZE : position + flags].hex()
        position = end + 1
        if position > length:
            raise IndexError(position)
    return names, position


def _padded_entries(
    data: bytes, hash_size: int, submodules: dict[str, str]
) -> tuple[list[bytes], int]:
    """As `_entries`, for the older versions.

    Nearly every repository has one of them, so this does as little as it can for each entry: a name
    is as long as its flags say, unless it is very long, and one look at all of them tells whether
    any has a NUL in it.
    """
    names: list[bytes] = []
    others: list[bytes] = []
    position, length = 12, len(data)
    flags, name_at = _NUMBERS_SIZE + hash_size, _NUMBERS_SIZE + hash_size + _FLAGS_SIZE
    for _ in range(int.from_bytes(data[8:12], "big")):
        first = data[position + flags]
        start = position + name_at
        if first & _EXTENDED_FLAG:
            start += 2
        # With hashes of another size, this is not a length.
        written = (first << 8 | data[position + flags + 1]) & _NAME_LENGTH_MASK
        end = (
            start + written
            if written < _NAME_LENGTH_MASK
            else data.index(b"\0", start + _NAME_LENGTH_MASK)
        )
        if data[end]:
            raise ValueError(end)
        (names if data[position + 26] >> 4 in _FILE_TYPES else others).append(data[start:end])
        if data[position + 26] >> 4 == _SUBMODULE_TYPE:
            commit = data[position + _NUMBERS_SIZE : position + flags]
            submodules[os.fsdecode(data[start:end])] = commit.hex()
        # Entries are padded to eight bytes, with one NUL at least.
        position = end + 8 - (end - position) % 8
        if position > length:
            raise IndexError(position)
    if b"\0" in b"".join(names) or b"\0" in b"".join(others):
        raise ValueError(position)
    return names, position


def _read_number(data: bytes, position: int) -> tuple[int, int]:
    """A number of variable length as git writes it, and the position after it."""
    byte = data[position]
    number = byte & 0x7F
    while byte & 0x80:
        position += 1
        byte = data[position]
        number = ((number + 1) << 7) | (byte & 0x7F)
        if number > len(data):
            raise ValueError(number)
    return number, position + 1


def _shared_index_number(data: bytes, position: int, hash_size: int) -> str | None:
    """The number of the shared part of a split index. Raises `ValueError` for anything else."""
    shared: str | None = None
    while position < len(data) - hash_size:
        size = int.from_bytes(data[position + 4 : position + 8], "big")
        if data[position : position + 4] == b"link":
            shared = data[position + 8 : position + 8 + hash_size].hex()
        position += 8 + size
    if position != len(data) - hash_size:
        raise ValueError(position)
    return shared
