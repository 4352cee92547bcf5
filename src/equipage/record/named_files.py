"""The files of a project that a configuration names: what its commands run, what its texts import.

A lock holds them: a changed script of a hook or a changed import changes what an agent does,
although the configuration itself is the same.
"""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any

from equipage.clients.claude.instructions import MAX_IMPORT_DEPTH, transitive_imports
from equipage.core.path import Path
from equipage.files import is_executable, is_file, real_path
from equipage.files.reading import sha256_of
from equipage.files.walking import is_ignored
from equipage.loading.outcome import Outcome

#: How clients and shells write the folder of the project, of a plugin or of a skill.
_PROJECT_PREFIX = re.compile(
    r"\$(?:env:)?\{?(?:\w*(?:project|plugin|workspace|extension|skill|repo)\w*|pwd|__dirname)"
    r"(?::[^}\s]*)?\}?[/\\]?|\.\.?/",
    re.IGNORECASE,
)
#: Commands that print that folder, inside of others.
_PROJECT_FOLDER_COMMAND = re.compile(r"(?:\$\(|`)(?:git rev-parse --show-toplevel|pwd)(?:\)|`)/?")
#: Separates the words of a command.
_WORD_BREAK = re.compile(r"[\s\"'`]+")
#: What ends a word inside of a word: a shell runs `sh -c "a.sh && b.sh"`, an option has `--file=x`.
_INNER_WORD_BREAK = re.compile(r"[\s;&|()<>\"'`=,]+")
#: How texts name files that a client puts in their place.
_FILE_REFERENCE = re.compile(
    r"\{file:([^}\n]+)\}|@\{([^}\n]+)\}|#\[\[file:([^\]\n]+)\]\]|file://([^\s\"')]+)"
)
#: A value that may be a path and nothing else.
_PATH_ALONE = re.compile(r"[^\s{}<>|*?]+[./][^\s{}<>|*?]*")
#: Files with secrets, by their name; examples of such files have none.
_PRIVATE_NAME = re.compile(
    r"(?:\A|/)(?:\.env(?!\.(?:example|sample|template|dist)\Z)(?:\.[^/]*)?"
    r"|[^/]*\.(?:pem|key|p12|pfx)"
    r"|id_(?:rsa|dsa|ecdsa|ed25519)|\.netrc|\.npmrc)\Z"
)
_MAX_PATH_LENGTH = 500


def is_private(path: str) -> bool:
    """Whether a file holds secrets, by its name."""
    return _PRIVATE_NAME.search(path.replace(os.sep, "/")) is not None


def words_naming_files(commands: Iterable[list[str]]) -> Iterator[str]:
    """Every word of commands, and every word inside one, that may name a file."""
    for words in commands:
        # As they are, since a path may hold a blank; then as a shell inside would divide them.
        yield from map(_strip_project_prefix, words)
        yield from _words_inside(
            _INNER_WORD_BREAK.split(_PROJECT_FOLDER_COMMAND.sub("./", " ".join(words)))
        )


#: Ends a command inside a text; and words that may precede the program of a command.
_COMMAND_END = re.compile(r"&&|\|\||[;|&\n({]|(?<=\s)-c\s")
_COMMAND_PREFIX = re.compile(r"(?:\w+=\S*|exec|command|env|then|do|else|if|!|time|nohup|sudo)\Z")


def programs_run_by_name(commands: Iterable[list[str]]) -> frozenset[str]:
    """The files in commands that are run as programs, and not given to one: `./x`, not `sh x`."""
    found: set[str] = set()
    for words in commands:
        folder = ""
        for each in _COMMAND_END.split(_PROJECT_FOLDER_COMMAND.sub("./", " ".join(words))):
            inner = list(
                itertools.dropwhile(_COMMAND_PREFIX.match, _WORD_BREAK.split(each.strip()))
            )
            if inner[:1] in (["cd"], ["pushd"]) and len(inner) > 1:
                folder = f"{_strip_project_prefix(inner[1])}/"
            found.update(
                f"{before}{_strip_project_prefix(word)}"
                for word in inner[:1]
                for before in ("", folder)
            )
        found.update(map(_strip_project_prefix, words[:1]))  # a path may hold a blank
    return frozenset(found)


def _words_inside(words: list[str]) -> Iterator[str]:
    folder = ""
    for before, word in pairwise(("", *words)):
        if before in ("cd", "pushd"):
            folder = f"{_strip_project_prefix(word)}/"
            continue
        if before == "-m":  # a module of Python
            module = word.replace(".", "/")
            yield from (f"{folder}{module}.py", f"{folder}{module}/__main__.py")
        yield _strip_project_prefix(word)
        if folder:
            yield f"{folder}{_strip_project_prefix(word)}"


def _strip_project_prefix(word: str) -> str:
    """A path without a prefix such as `./` or `${PROJECT_DIR}/` for the project folder."""
    return _PROJECT_PREFIX.sub("", word, count=1) if _PROJECT_PREFIX.match(word) else word


def folders_up(folder: str, root: str) -> list[str]:
    """A folder and those above it, up to the root. Clients differ in where paths start: beside the
    file, or somewhere above it.
    """
    found = [folder]
    while folder.startswith(root) and folder not in (root, os.sep):
        found.append(folder := os.path.dirname(folder))
    return found


def may_be_path(word: str) -> bool:
    """Whether a word may name a file: without a dot or slash it is a program or an argument."""
    return ("." in word or "/" in word) and len(word) <= _MAX_PATH_LENGTH and "\0" not in word


class Lookups:
    """Caches the files that configurations of one run name: many name the same ones."""

    def __init__(self) -> None:
        #: path → the file without links and its hash; empty for a file that is not to be locked,
        #: None where there is no file
        self.files: dict[str, tuple[str, str] | tuple[()] | None] = {}
        self.ignored: dict[str, bool] = {}  #: folder → whether git ignores what is in it
        self.ignores: dict[str, Any] = {}  #: folder → the patterns that hold in it


class NamedFiles:
    """Finds the files that one configuration names; each has its real path and its hash."""

    def __init__(self, folder: str, root: str, known: Lookups) -> None:
        """`folder` is that of the configuration; like the root, it has no links in it."""
        self.folder = folder
        self.root, self.top = root, os.path.join(root, "")
        self.known = known
        self.places: list[str] = []  #: where paths may start; found with the first

    def files_run_by(self, commands: Sequence[list[str]]) -> Iterator[tuple[str, str]]:
        """The files that commands run, such as the scripts of hooks."""
        for word in words_naming_files(commands):
            yield from self._find_file(word)

    def executables_run_by(self, commands: Sequence[list[str]]) -> Iterator[tuple[str, str]]:
        """The executable files that commands run by their own name."""
        for word in programs_run_by_name(commands):
            yield from (each for each in self._find_file(word) if is_executable(each[0]))

    def files_named_in(
        self, outcome: Outcome, nodes: Iterable[tuple[Path, Any]]
    ) -> Iterator[tuple[str, str]]:
        """The files that values name, and those that the text imports."""
        for _, value in nodes:
            if not isinstance(value, str):
                continue
            if "file:" in value or "@{" in value:
                for match in _FILE_REFERENCE.finditer(value):
                    yield from self._find_file(next(filter(None, match.groups())))
            if (
                len(value) <= _MAX_PATH_LENGTH
                and "://" not in value
                and _PATH_ALONE.fullmatch(value)
            ):
                yield from self._find_file(value)
        session = outcome.session
        if session is not None and outcome.sources and "@" in outcome.sources[0].text:
            for path in transitive_imports(session.path, session, MAX_IMPORT_DEPTH):
                yield from self._find_file(path)

    def _find_file(self, word: str) -> Iterator[tuple[str, str]]:
        if not may_be_path(word):
            return
        inner = _strip_project_prefix(word)
        if not may_be_path(inner):
            return
        is_absolute = os.path.isabs(inner)
        for place in self._start_folders():
            path = inner if is_absolute else f"{place}{os.sep}{inner}"
            known = self.known.files
            if path not in known:
                known[path] = self._hash_file(path)
            found = known[path]
            if found:
                yield found
            if found is not None:
                return
        # `agent.py:graph` names a part of a file.
        file, colon, part = inner.rpartition(":")
        if colon and part.isidentifier():
            yield from self._find_file(file)

    def _hash_file(self, path: str) -> tuple[str, str] | tuple[()] | None:
        """The real path and hash of a file; empty or None as in `Lookups.files`."""
        if not is_file(path):
            return None
        real = real_path(path)
        if not real.startswith(self.top):
            return None
        # What belongs to one machine, or holds secrets, is neither locked nor shipped.
        is_left_out = is_ignored(path, self.known.ignores)
        if is_private(path) or is_left_out or self._is_ignored(os.path.dirname(path)):
            return ()
        digest = sha256_of(real)
        return () if digest is None else (real, digest)

    def _is_ignored(self, folder: str) -> bool:
        """Whether git ignores a folder, or one that it is in."""
        if not folder.startswith(self.top):
            return False
        ignored = self.known.ignored
        if folder not in ignored:
            ignored[folder] = is_ignored(folder) or self._is_ignored(os.path.dirname(folder))
        return ignored[folder]

    def _start_folders(self) -> list[str]:
        """The folder of the configuration and those above it, up to the root."""
        if not self.places:
            self.places = folders_up(self.folder, self.root)
        return self.places
