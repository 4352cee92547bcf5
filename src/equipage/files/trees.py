"""Every file of a folder with its hash: for locks, which must name each byte that changed."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping

import msgspec

from equipage.files import entries_of, leads_to_folder
from equipage.files.reading import sha256_of

#: Names of files and folders that are skipped: people do not write them.
EXCLUDED_NAMES = frozenset(
    {".git", ".hg", ".svn", "node_modules", "__pycache__", ".venv", ".DS_Store"}
)
#: The most files that one folder may have, and the deepest that they may lie.
MAX_FILES, MAX_DEPTH = 20_000, 64


class TooManyFiles(Exception):
    """A folder has more files than a lock takes."""


class HashedFile(msgspec.Struct, frozen=True):
    """One file of a folder. A link is never followed: its hash is that of its target's name."""

    name: str  #: from the folder, with `/`
    sha256: str
    is_link: bool = False


def hash_files_below(folder: str, known: Mapping[str, str] | None = None) -> Iterator[HashedFile]:
    """Every file of a folder at any depth, in the order of names. Raises `TooManyFiles`.

    `known` has the hashes of files that were read already, by their names from the folder.
    """
    count, known = 0, known or {}
    waiting = [""]
    while waiting:
        here = waiting.pop()
        try:
            entries = entries_of(os.path.join(folder, here))
        except OSError:
            continue  # it was there a moment ago, or must not be read
        folders = []
        for entry in entries:
            name = here + entry.name
            if entry.name in EXCLUDED_NAMES or entry.name.endswith(".pyc"):
                continue
            is_link = entry.is_symlink()
            if not is_link and leads_to_folder(entry):
                if name.count("/") < MAX_DEPTH:
                    folders.append(f"{name}/")
                continue
            count += 1
            if count > MAX_FILES:
                raise TooManyFiles(f"{folder} has more than {MAX_FILES:,} files")
            if is_link:
                target = os.readlink(entry.path)
                yield HashedFile(
                    name, hashlib.sha256(os.fsencode(target)).hexdigest(), is_link=True
                )
            elif (digest := known.get(name) or sha256_of(entry.path)) is not None:
                yield HashedFile(name, digest)
        waiting += reversed(folders)
