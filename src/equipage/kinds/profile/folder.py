"""What an `agents` folder holds: its profiles, and what somebody may have meant to be one."""

from __future__ import annotations

import os
from collections.abc import Iterator

import msgspec

from equipage.diagnostics import Fact
from equipage.kinds.profile.codes import OVERLOOKED
from equipage.kinds.profile.model import Variant
from equipage.layers import PROJECT_FOLDER, repository_root, unreadable
from equipage.walking import leads_to_folder

AGENTS = "agents"
CONFIG = "config.toml"
#: Endings that people write for `.md`.
_NEARLY_MARKDOWN = frozenset({".markdown", ".mdown", ".mkd", ".mdx", ".md"})


class Entry(msgspec.Struct, frozen=True):
    """An entry of an `agents` folder that is a profile."""

    name: str
    variant: Variant
    file: str
    is_link: bool


class Agents(msgspec.Struct, frozen=True):
    """The profiles of a folder, in order of their names, and what the folder alone tells, each with its path."""

    entries: tuple[Entry, ...] = ()
    facts: tuple[tuple[str, Fact], ...] = ()


def look_into(folder: str, root: str | None) -> Agents:
    """What a folder holds. Given the root of a repository, links out of it are told."""
    try:
        with os.scandir(folder) as scan:
            found = sorted(scan, key=lambda entry: entry.name)
    except FileNotFoundError:
        return Agents()
    except OSError as error:
        return Agents(facts=((folder, unreadable(error)),))
    outside = root is not None and _leaves(folder, root)
    entries: list[Entry] = []
    facts: list[tuple[str, Fact]] = []
    for each in found:
        entry = _entry(each)
        if isinstance(entry, str):
            facts.append((each.path, Fact("profile-overlooked", values={"reason": OVERLOOKED[entry]})))
        elif entry is not None:
            entries.append(entry)
            if root is not None and (outside or entry.is_link) and _leaves(entry.file, root):
                facts.append((entry.file, Fact("profile-link-outside")))
    return Agents(tuple(sorted(entries, key=lambda each: each.name)), tuple(facts))


def beside(folder: str) -> Iterator[tuple[str, Fact]]:
    """What an `agents` folder tells that none of its profiles does."""
    above = os.path.dirname(folder)
    of_project = os.path.basename(above) == PROJECT_FOLDER
    yield from look_into(folder, repository_root(os.path.dirname(above)) if of_project else None).facts


def _entry(entry: os.DirEntry[str]) -> Entry | str | None:
    """The profile an entry is; None if it is none; a word if somebody may have meant it to be one."""
    stem, extension = os.path.splitext(entry.name)
    is_folder = leads_to_folder(entry)
    if not entry.name.isascii() and any("\udc80" <= letter <= "\udcff" for letter in entry.name):
        return "encoding" if is_folder or extension == ".md" else None
    if is_folder:
        config = os.path.join(entry.path, CONFIG)
        if os.path.isfile(config):
            return Entry(entry.name, "folder", config, entry.is_symlink() or os.path.islink(config))
        return _almost_a_profile(entry.path, config)
    if extension == ".md":
        return Entry(stem, "file", entry.path, entry.is_symlink())
    return "extension" if extension.lower() in _NEARLY_MARKDOWN else None


def _almost_a_profile(folder: str, config: str) -> str | None:
    if os.path.lexists(config):
        return "not-a-file"
    return "no-config" if os.path.exists(os.path.join(folder, "system.md")) else None


def _leaves(path: str, root: str) -> bool:
    return not os.path.realpath(path).startswith(os.path.realpath(root).rstrip(os.sep) + os.sep)
