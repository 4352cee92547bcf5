"""Locks of other programs, verified as far as their recipes allow.

`skills-lock.json` has one hash for each skill, over the names and contents of its files in the
order of the locale of the machine that made it. `apm.lock.yaml` has the hash of each file that was
installed, and one of each package. Where a recipe does not say enough, that is the verdict: a lock
that cannot be verified protects nothing.
"""

from __future__ import annotations

import hashlib
import os
import unicodedata
from collections.abc import Iterator, Sequence
from typing import Any, Literal

import msgspec

from equipage.files import entries_of, is_file, is_folder, is_inside
from equipage.files.reading import peek, sha256_of
from equipage.syntax import SyntaxProblem
from equipage.syntax.document import load_value

Verdict = Literal["same", "changed", "unknown"]


class Foreign(msgspec.Struct, frozen=True):
    """What became of one entry of a lock of another program."""

    lock: str
    name: str
    verdict: Verdict
    reason: str = ""


SKILLS, APM = "skills-lock.json", "apm.lock.yaml"
#: The folders that skills are installed into.
_SKILL_FOLDERS = (
    ".agents/skills",
    ".claude/skills",
    ".github/skills",
    ".cursor/skills",
    ".codex/skills",
    ".gemini/skills",
    ".opencode/skills",
    ".opencode/skill",
    "skills",
)
_LARGEST = 16 * 1024 * 1024


def verify_foreign(root: str) -> Iterator[Foreign]:
    """What the locks of other programs at the root of a project say, entry by entry."""
    for name, check in ((SKILLS, _skills), (APM, _apm)):
        path = os.path.join(root, name)
        if not is_file(path):
            continue
        data = peek(path)
        if data is None or len(data) > _LARGEST:
            yield Foreign(name, "the lock", "unknown", "it cannot be read")
            continue
        try:
            yield from check(root, data)
        except (SyntaxProblem, UnicodeDecodeError):
            yield Foreign(name, "the lock", "unknown", "it cannot be parsed")


# skills-lock.json


def _skills(root: str, data: bytes) -> Iterator[Foreign]:
    value: Any = load_value("json", data.decode("utf-8"))
    skills = value.get("skills") if isinstance(value, dict) else None
    if not isinstance(skills, dict):
        yield Foreign(SKILLS, "the lock", "unknown", "it lists no skills")
        return
    version = value.get("version")
    for name, entry in sorted(skills.items()):
        expected = entry.get("computedHash") if isinstance(entry, dict) else None
        if version != 1:
            reason = f"its version is {version}, and only the recipe of version 1 is known"
            yield Foreign(SKILLS, name, "unknown", reason)
        elif not isinstance(expected, str) or not expected:
            yield Foreign(SKILLS, name, "unknown", "the entry has no hash")
        else:
            yield _skill(root, name, expected)


def _skill(root: str, name: str, expected: str) -> Foreign:
    places = [f"{folder}/{name}" for folder in _SKILL_FOLDERS if _is_name(name)]
    found = [each for each in places if is_folder(os.path.join(root, each))]
    if not found:
        return Foreign(SKILLS, name, "unknown", "the skill is not installed in a known folder")
    certain = True
    for place in found:
        files = _contents(os.path.join(root, place), frozenset({".git", "node_modules"}))
        names = [each for each, _ in files]
        orders = {tuple(order) for order in _orders(names)}
        for order in orders:
            if _hash_of(files, order) == expected:
                return Foreign(SKILLS, name, "same", place)
        certain = certain and len(orders) == 1
    if certain:
        return Foreign(SKILLS, name, "changed", f"{found[0]} is not what was installed")
    reason = (
        "the hash depends on the locale of the machine that made it, and none of the usual fits"
    )
    return Foreign(SKILLS, name, "unknown", reason)


def _is_name(name: str) -> bool:
    return bool(name) and "/" not in name and "\\" not in name and name not in (".", "..")


def _orders(names: Sequence[str]) -> Iterator[list[str]]:
    """The orders that a locale may give: by code points, and as most languages sort."""
    yield sorted(names)
    yield sorted(names, key=_collated)


def _collated(name: str) -> tuple[Any, ...]:
    """About what ICU does: punctuation, digits, letters; then accents; small letters first."""
    plain = unicodedata.normalize("NFD", name)
    base = [letter for letter in plain if not unicodedata.combining(letter)]
    primary = tuple(
        (2, letter.casefold())
        if letter.isalpha()
        else (1, letter)
        if letter.isdigit()
        else (0, _PUNCTUATION.find(letter), letter)
        for letter in base
    )
    return (primary, plain.swapcase())


_PUNCTUATION = "_-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$"


def _contents(folder: str, left_out: frozenset[str]) -> list[tuple[str, bytes]]:
    """Every regular file below a folder with its content; links are left out."""
    found: list[tuple[str, bytes]] = []
    waiting = [""]
    while waiting:
        here = waiting.pop()
        for entry in entries_of(os.path.join(folder, here)):
            if entry.is_symlink():
                continue
            if entry.is_dir():
                if entry.name not in left_out:
                    waiting.append(f"{here}{entry.name}/")
            elif entry.is_file():
                found.append((here + entry.name, peek(entry.path) or b""))
    return found


def _hash_of(files: Sequence[tuple[str, bytes]], order: Sequence[str]) -> str:
    contents = dict(files)
    digest = hashlib.sha256()
    for name in order:
        digest.update(name.encode("utf-8", "surrogateescape"))
        digest.update(contents[name])
    return digest.hexdigest()


# apm.lock.yaml


def _apm(root: str, data: bytes) -> Iterator[Foreign]:
    value: Any = load_value("yaml", data.decode("utf-8"))
    if not isinstance(value, dict):
        yield Foreign(APM, "the lock", "unknown", "it is not a mapping")
        return
    packages = value.get("dependencies") or value.get("packages")
    for entry in packages if isinstance(packages, list) else ():
        if isinstance(entry, dict):
            yield from _package(root, entry)
    local = value.get("local_deployed_file_hashes")
    if isinstance(local, dict):
        yield from _deployed(root, "files of this project", local)


def _package(root: str, entry: dict[str, Any]) -> Iterator[Foreign]:
    name = str(entry.get("repo_url") or entry.get("name") or "a package")
    hashes = entry.get("deployed_file_hashes")
    deployed = entry.get("deployed_files")
    if isinstance(hashes, dict) and hashes:
        yield from _deployed(root, name, hashes)
        listed = deployed if isinstance(deployed, list) else []
        without = [str(each) for each in listed if each not in hashes]
        without = [each for each in without if is_file(os.path.join(root, each))]
        if without:
            reason = f"{without[0]} was installed without a hash"
            yield Foreign(APM, name, "unknown", reason)
    elif deployed:
        yield Foreign(APM, name, "unknown", "it lists installed files without hashes")
    content = entry.get("content_hash")
    if isinstance(content, str):
        yield _module(root, name, entry, content)
    elif not hashes and not deployed:
        yield Foreign(APM, name, "unknown", "the entry has no hash")


def _deployed(root: str, name: str, hashes: dict[Any, Any]) -> Iterator[Foreign]:
    """Files that were installed, each with the hash of its bytes."""
    bad = []
    for path, expected in sorted((str(key), str(each)) for key, each in hashes.items()):
        full = os.path.join(root, path)
        # A lock of others may name any file; nothing outside the project is read.
        if os.path.isabs(path) or not is_inside(full, root):
            yield Foreign(APM, name, "unknown", f"{path} lies outside the project")
            continue
        found = sha256_of(full)
        if found is None:
            bad.append(f"{path} is missing")
        elif expected.removeprefix("sha256:") != found:
            bad.append(f"{path} changed")
    yield from (Foreign(APM, name, "changed", each) for each in bad)
    if not bad:
        count = len(hashes)
        yield Foreign(APM, name, "same", f"{count} file{'s' if count != 1 else ''}")


def _module(root: str, name: str, entry: dict[str, Any], expected: str) -> Foreign:
    """A package as it was downloaded; it is there only after an install."""
    steps = [part for part in (name, entry.get("virtual_path")) if isinstance(part, str)]
    folder = os.path.join(root, "apm_modules", *steps)
    if not is_inside(folder, root) or not is_folder(folder):
        return Foreign(APM, name, "unknown", "the package itself is not installed here")
    files = _contents(folder, frozenset({".git", "__pycache__"}))
    # Its own note about the download, which it does not count either.
    files = [each for each in files if each[0] != ".apm-pin"]
    found = _hash_of(files, sorted(name for name, _ in files))
    same = expected.removeprefix("sha256:") == found
    reason = "the package" if same else "the package in apm_modules is not what was downloaded"
    return Foreign(APM, name, "same" if same else "changed", reason)
