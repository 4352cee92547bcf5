"""Skills as they are served: every file of a skill's folder, frozen when it was loaded.

The bytes that a client reads are those that were hashed, whatever happens on the disk later. The
scripts of a skill are data here; nothing runs them.
"""

from __future__ import annotations

import hashlib
import json
import mimetypes
import os
import re
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote

import msgspec

from equipage.files import System
from equipage.files.disk import Disk
from equipage.files.reading import Files
from equipage.files.sandbox import FileProblem, PathPolicy
from equipage.loading.findings import finding
from equipage.syntax import SyntaxProblem
from equipage.syntax.document import load_value
from equipage.syntax.header import CONVENTION, Header, split
from equipage_serve.confinement import Unservable

MAX_FILES = 512
MAX_BYTES = 16 * 1024 * 1024
FOLDER_TYPE = "inode/directory"
_MAIN_FILE = "SKILL.md"
#: Names that every client accepts.
_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_IGNORED = frozenset({"__pycache__", "node_modules"})
_BACKUP = re.compile(r".*(?:~|\.bak|\.orig|\.swp)")
_POLICY = PathPolicy(absolute="refuse", parents="refuse", max_bytes=MAX_BYTES)
#: What Python's own table lacks, or knows by another name on some systems.
_TYPES = {".md": "text/markdown", ".yaml": "application/yaml", ".yml": "application/yaml"}


class SkillFile(msgspec.Struct, frozen=True):
    """One file of a skill."""

    uri: str
    name: str  #: from the folder of the skill, with slashes
    data: bytes
    digest: str
    mime_type: str

    @property
    def text(self) -> str | None:
        """The content as text, if nothing is lost by that."""
        try:
            return self.data.decode()
        except UnicodeDecodeError:
            return None


class ServedSkill(msgspec.Struct, frozen=True):
    """One skill with all its files."""

    name: str
    description: str
    frontmatter: Mapping[str, Any]
    files: tuple[SkillFile, ...]
    left_out: tuple[str, ...] = ()  #: hidden files, backups and links

    @property
    def uri(self) -> str:
        return f"skill://{self.name}/{_MAIN_FILE}"

    def entry(self) -> dict[str, Any]:
        """The skill as the Skills extension lists it."""
        resources = [
            {"uri": each.uri, "digest": each.digest, "size": len(each.data)} for each in self.files
        ]
        return {"uri": self.uri, "frontmatter": dict(self.frontmatter), "resources": resources}

    def folders(self) -> dict[str, list[dict[str, Any]]]:
        """What each folder of the skill holds, by the address of the folder."""
        found: dict[str, dict[str, dict[str, Any]]] = {f"skill://{self.name}": {}}
        for file in self.files:
            parts = file.name.split("/")
            here = f"skill://{self.name}"
            # Folders are not files of the skill, so they are made from the paths of those.
            for part in parts[:-1]:
                inner = f"{here}/{_quote_segment(part)}"
                found[here][part] = {"uri": inner, "name": part, "mimeType": FOLDER_TYPE}
                found.setdefault(inner, {})
                here = inner
            found[here][parts[-1]] = self.resource(file)
        return {uri: [inner[key] for key in sorted(inner)] for uri, inner in found.items()}

    def resource(self, file: SkillFile) -> dict[str, Any]:
        """A file as a resource of MCP."""
        is_main = file.name == _MAIN_FILE
        described = {"description": self.description} if is_main else {}
        return {
            "uri": file.uri,
            "name": self.name if is_main else file.name,
            "mimeType": file.mime_type,
            "size": len(file.data),
            **described,
        }


def freeze_skill(path: str, *, oversize: bool = False) -> ServedSkill:
    """The skill whose `SKILL.md` is at `path`, with its folder. Raises `Unservable`."""
    folder, main = os.path.split(os.path.abspath(path))
    if main != _MAIN_FILE:
        raise Unservable(f"the file must be named `{_MAIN_FILE}`")
    disk, left_out = Disk(), list[str]()
    reader = Files(disk)
    contents: dict[str, bytes] = {}
    for name in _names_below(folder, left_out, disk):
        try:
            source = reader.refer(name, (folder,), (folder,), _POLICY).source
        except FileProblem as problem:
            why = finding(problem.code, name, problem.values).message
            raise Unservable(f"cannot read `{name}`: {why}") from None
        contents[name] = source.data
        if len(contents) > MAX_FILES and not oversize:
            raise Unservable(f"it has more than {MAX_FILES} files (`--oversize` serves it)")
    if sum(map(len, contents.values())) > MAX_BYTES and not oversize:
        raise Unservable(f"its files have more than {MAX_BYTES} bytes (`--oversize` serves it)")
    header = _frontmatter(contents[_MAIN_FILE])
    _require_valid(header)
    name = header["name"]
    files = tuple(
        SkillFile(
            f"skill://{name}/{'/'.join(map(_quote_segment, each.split('/')))}",
            each,
            data,
            f"sha256:{hashlib.sha256(data).hexdigest()}",
            _type_of(each),
        )
        for each, data in sorted(contents.items())
    )
    return ServedSkill(name, header["description"], header, files, tuple(left_out))


def _names_below(folder: str, left_out: list[str], system: System) -> Iterator[str]:
    """The files of a folder by their paths from there. Links are left out."""
    waiting = [""]
    while waiting:
        here = waiting.pop()
        for entry in system.entries(os.path.join(folder, here)):
            name = f"{here}{entry.name}"
            # What hides on the disk stays there, and a link may lead out of the skill.
            hidden = entry.name.startswith(".") or entry.name in _IGNORED
            if hidden or entry.is_symlink() or _BACKUP.fullmatch(entry.name):
                left_out.append(name)
            elif entry.is_dir(follow_symlinks=False):
                waiting.append(f"{name}/")
            elif entry.is_file(follow_symlinks=False):
                yield name


def _frontmatter(data: bytes) -> dict[str, Any]:
    """The header with the types of YAML 1.2, as clients read it. Raises `Unservable`."""
    try:
        text = data.decode("utf-8-sig")
        header = split(text, CONVENTION)
        if not isinstance(header, Header):
            raise Unservable("it has no header between `---` lines")
        value = load_value(header.syntax, text[header.start : header.end])
        # It is sent as JSON: dates, and numbers that are not finite, cannot be.
        json.dumps(value, allow_nan=False)
    except UnicodeDecodeError:
        raise Unservable("its text is not UTF-8") from None
    except SyntaxProblem:
        raise Unservable("its header is not YAML") from None
    except (TypeError, ValueError):
        raise Unservable("its header has a value that JSON cannot express") from None
    if not isinstance(value, dict):
        raise Unservable("its header is not a mapping")
    return value


def _require_valid(header: Mapping[str, Any]) -> None:
    """Refuse what makes clients drop a skill, or all skills. Raises `Unservable`."""
    reasons = []
    name, description = header.get("name"), header.get("description")
    if not isinstance(name, str) or len(name) > 64 or not _NAME.fullmatch(name):
        reasons.append("`name` must have at most 64 lower-case letters, digits and single hyphens")
    if not isinstance(description, str) or not 1 <= len(description) <= 1024:
        reasons.append("`description` must have 1 to 1024 characters")
    # Absent and `null` are both right here; empty text is not.
    compatibility = header.get("compatibility")
    if compatibility is not None and not (
        isinstance(compatibility, str) and 1 <= len(compatibility) <= 500
    ):
        reasons.append("`compatibility` must have 1 to 500 characters")
    metadata = header.get("metadata") or {}
    if not isinstance(metadata, dict) or not all(
        isinstance(value, str) for value in metadata.values()
    ):
        reasons.append("`metadata` must map names to texts")
    if reasons:
        raise Unservable(*reasons)


def _quote_segment(segment: str) -> str:
    return quote(segment, safe="-._~!$&'()*+,;=")


def _type_of(name: str) -> str:
    _, extension = os.path.splitext(name)
    guess = _TYPES.get(extension.lower()) or mimetypes.guess_type(name, strict=False)[0]
    return guess or "application/octet-stream"
