"""Finding files: a walk that honours `.gitignore`, looks into the hidden folders agents live in, and ends.

Folders behind symbolic links are not entered, so a loop of links cannot hold the walk. Results come in a
fixed order whatever the file system says.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator

import msgspec

#: Hidden folders that hold agents; other hidden folders are not entered.
AGENT_FOLDERS = frozenset(
    {
        ".defect",
        ".claude",
        ".claude-plugin",
        ".github",
        ".opencode",
        ".codex",
        ".gemini",
        ".cursor",
        ".agents",
        ".vscode",
    }
)
#: Never worth a look, ignored or not.
SKIPPED_FOLDERS = frozenset(
    {".git", ".hg", ".svn", "node_modules", "__pycache__", ".venv", "venv", ".tox", "site-packages"}
)
EXTENSIONS = frozenset({".yaml", ".yml", ".json", ".toml", ".md", ".mdc"})


class Pattern(msgspec.Struct, frozen=True):
    """One line of a `.gitignore`."""

    regex: re.Pattern[str]
    negated: bool
    folders_only: bool


def parse_ignores(text: str) -> tuple[Pattern, ...]:
    """The patterns of a `.gitignore`, in order; later ones win."""
    patterns = (_pattern(line) for line in text.splitlines())
    return tuple(each for each in patterns if each is not None)


def _pattern(line: str) -> Pattern | None:
    line = re.sub(r"(?<!\\)\s+$", "", line)
    if not line or line.startswith("#"):
        return None
    negated = line.startswith("!")
    line = line[1:] if negated else line
    folders_only = line.endswith("/")
    line = line.rstrip("/")
    anchored = "/" in line
    body = glob_expression(line.lstrip("/"))
    try:
        return Pattern(re.compile(body if anchored else f"(?:.*/)?{body}"), negated, folders_only)
    except re.error:
        return None  # git ignores lines it cannot read, too


def glob_expression(glob: str) -> str:
    """A gitignore glob as a regular expression over a relative path with `/`."""
    out: list[str] = []
    position = 0
    while position < len(glob):
        rest = glob[position:]
        if rest.startswith("**/"):
            out.append("(?:.*/)?")
            position += 3
        elif rest == "**":
            out.append(".*")
            position += 2
        elif rest[0] == "*":
            out.append("[^/]*")
            position += 1
        elif rest[0] == "?":
            out.append("[^/]")
            position += 1
        elif (group := re.match(r"\[(!?)([^\]]+)\]", rest)) is not None:
            out.append(("[^" if group[1] else "[") + group[2].replace("\\", "\\\\") + "]")
            position += group.end()
        else:
            literal = rest[1] if rest[0] == "\\" and len(rest) > 1 else rest[0]
            out.append(re.escape(literal))
            position += 2 if rest[0] == "\\" and len(rest) > 1 else 1
    return "".join(out)


class _Ignores(msgspec.Struct, frozen=True):
    """The patterns in force in a folder: its own, then those of the folders above."""

    base: str
    patterns: tuple[Pattern, ...]
    above: _Ignores | None = None

    def ignore(self, path: str, *, is_folder: bool) -> bool:
        relative = path[len(self.base) :].lstrip("/")
        for each in reversed(self.patterns):
            if (is_folder or not each.folders_only) and each.regex.fullmatch(relative):
                return not each.negated
        return self.above.ignore(path, is_folder=is_folder) if self.above is not None else False


def walk_files(folder: str, also: Callable[[str], bool] = lambda _path: False) -> Iterator[str]:
    """Every candidate file below `folder`, in a fixed order: by extension, or because `also` wants its path."""
    start = os.path.abspath(folder)
    stack: list[tuple[str, _Ignores | None]] = [(folder, _ignores_above(start))]
    while stack:
        here, inherited = stack.pop()
        try:
            with os.scandir(here) as scan:
                entries = sorted(scan, key=lambda entry: entry.name)
        except OSError:
            continue
        ignores = _ignores_in(here, entries, inherited)
        folders: list[tuple[str, _Ignores | None]] = []
        for entry in entries:
            path = os.path.abspath(entry.path).replace(os.sep, "/")
            if entry.is_dir(follow_symlinks=False):
                if enters(entry.name) and not (ignores and ignores.ignore(path, is_folder=True)):
                    folders.append((entry.path, ignores))
            elif (_is_candidate(entry) or also(path)) and not (ignores and ignores.ignore(path, is_folder=False)):
                yield entry.path
        stack.extend(reversed(folders))


def _is_candidate(entry: os.DirEntry[str]) -> bool:
    if os.path.splitext(entry.name)[1].lower() not in EXTENSIONS:
        return False
    try:
        return entry.is_file()
    except OSError:
        return False


def enters(name: str) -> bool:
    """Whether a walk looks into a folder of that name."""
    return name not in SKIPPED_FOLDERS and (not name.startswith(".") or name in AGENT_FOLDERS)


def _ignores_in(folder: str, entries: list[os.DirEntry[str]], inherited: _Ignores | None) -> _Ignores | None:
    if not any(entry.name == ".gitignore" for entry in entries):
        return inherited
    return _with_file(os.path.abspath(folder), inherited)


def _with_file(folder: str, above: _Ignores | None) -> _Ignores | None:
    try:
        with open(os.path.join(folder, ".gitignore"), encoding="utf-8", errors="replace") as file:
            return _Ignores(folder.replace(os.sep, "/"), parse_ignores(file.read()), above)
    except OSError:
        return above


def _ignores_above(folder: str) -> _Ignores | None:
    """The `.gitignore` files between the root of the repository and the folder the walk starts in."""
    chain: list[str] = []
    current = folder
    while not os.path.exists(os.path.join(current, ".git")):
        parent = os.path.dirname(current)
        if parent == current:
            return None
        chain.append(parent)
        current = parent
    ignores: _Ignores | None = None
    for each in reversed(chain):
        ignores = _with_file(each, ignores)
    return ignores
