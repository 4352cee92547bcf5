"""The files of a project that a configuration names: what its commands run, what its texts import.

A lock holds them: a changed script of a hook or a changed import changes what an agent does,
although the configuration itself is the same.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from equipage.core.path import Path
from equipage.files import is_file, real_path
from equipage.files.reading import sha256_of
from equipage.files.walking import is_ignored
from equipage.kinds.conventions.claude.instructions import DEPTH, imported_by
from equipage.loading.outcome import Outcome

#: How clients write the folder of the project or of a plugin.
_HERE = re.compile(r"\$\{?(?:CLAUDE_PROJECT_DIR|CLAUDE_PLUGIN_ROOT|workspaceFolder)\}?/?|\.\.?/")
#: How texts name files that a client puts in their place.
_IN_TEXT = re.compile(
    r"\{file:([^}\n]+)\}|@\{([^}\n]+)\}|#\[\[file:([^\]\n]+)\]\]|file://([^\s\"')]+)"
)
#: A value that may be a path and nothing else.
_ALONE = re.compile(r"[^\s{}<>|*?]+[./][^\s{}<>|*?]*")
#: Files with secrets, by their name; examples of such files have none.
_PRIVATE = re.compile(
    r"(?:\A|/)(?:\.env(?!\.(?:example|sample|template|dist)\Z)(?:\.[^/]*)?"
    r"|[^/]*\.(?:pem|key|p12|pfx)"
    r"|id_(?:rsa|dsa|ecdsa|ed25519)|\.netrc|\.npmrc)\Z"
)
_LONGEST = 500


def is_private(path: str) -> bool:
    """Whether a file holds secrets, by its name."""
    return _PRIVATE.search(path.replace(os.sep, "/")) is not None


class Lookups:
    """What the configurations of one run named so far: many of them name the same."""

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

    def run_by(self, commands: Sequence[list[str]]) -> Iterator[tuple[str, str]]:
        """The files that commands run, such as the scripts of hooks."""
        for words in commands:
            for word in words:
                yield from self._found(word)

    def named_in(
        self, outcome: Outcome, nodes: Iterable[tuple[Path, Any]]
    ) -> Iterator[tuple[str, str]]:
        """The files that values name, and those that the text imports."""
        for _, value in nodes:
            if not isinstance(value, str):
                continue
            if "file:" in value or "@{" in value:
                for match in _IN_TEXT.finditer(value):
                    yield from self._found(next(filter(None, match.groups())))
            if len(value) <= _LONGEST and "://" not in value and _ALONE.fullmatch(value):
                yield from self._found(value)
        session = outcome.session
        if session is not None and outcome.sources and "@" in outcome.sources[0].text:
            for path in imported_by(session.path, session, DEPTH):
                yield from self._found(path)

    def _found(self, word: str) -> Iterator[tuple[str, str]]:
        # A word without a dot or slash is a program of the machine or an argument.
        if "." not in word and "/" not in word:
            return
        inner = _HERE.sub("", word, count=1) if _HERE.match(word) else word
        if "." not in inner and "/" not in inner:
            return
        if len(inner) > _LONGEST or "\0" in inner:
            return
        is_absolute = os.path.isabs(inner)
        # Clients differ in where paths start: beside the file, or somewhere above it.
        for place in self._places():
            path = inner if is_absolute else f"{place}{os.sep}{inner}"
            known = self.known.files
            if path not in known:
                known[path] = self._look_at(path)
            found = known[path]
            if found:
                yield found
            if found is not None:
                return

    def _look_at(self, path: str) -> tuple[str, str] | tuple[()] | None:
        """See `Lookups`."""
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

    def _places(self) -> list[str]:
        """The folder of the configuration and those above it, up to the root."""
        if not self.places:
            self.places.append(folder := self.folder)
            while folder.startswith(self.root) and folder not in (self.root, os.sep):
                self.places.append(folder := os.path.dirname(folder))
        return self.places
