"""The files of a project that a configuration names: what its commands run, what its texts import.

A lock holds them: a changed script of a hook or a changed import changes what an agent does,
although the configuration itself is the same.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from typing import Any

from equipage.files import is_file, is_inside, real_path
from equipage.files.reading import sha256_of
from equipage.files.walking import is_ignored
from equipage.kinds.conventions.claude.instructions import DEPTH, imported_by
from equipage.loading.outcome import Outcome
from equipage.loading.tree import walk

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


class NamedFiles:
    """Finds the files that one configuration names; each has its path and its hash."""

    def __init__(self, file: str, root: str) -> None:
        self.folder = os.path.dirname(real_path(file))
        self.root = root

    def run_by(self, commands: Sequence[list[str]]) -> Iterator[tuple[str, str]]:
        """The files that commands run, such as the scripts of hooks."""
        for words in commands:
            for word in words:
                yield from self._found(word)

    def named_in(self, outcome: Outcome, plain: Any) -> Iterator[tuple[str, str]]:
        """The files that values name, and those that the text imports."""
        for _, value in walk(plain):
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
        inner = _HERE.sub("", word, count=1) if _HERE.match(word) else word
        # A word without a dot or slash is a program of the machine or an argument.
        if not re.search(r"[./]", inner) or len(inner) > _LONGEST or "\0" in inner:
            return
        # Clients differ in where paths start: beside the file, or somewhere above it.
        found = (os.path.join(place, inner) for place in (self.folder, *self._above()))
        path = next((each for each in found if is_file(each) and is_inside(each, self.root)), None)
        # What belongs to one machine, or holds secrets, is neither locked nor shipped.
        if path is None or is_private(path) or self._is_ignored(path):
            return
        digest = sha256_of(real_path(path))
        if digest is not None:
            yield path, digest

    def _is_ignored(self, path: str) -> bool:
        """Whether git ignores a file, or a folder that it is in."""
        while path.startswith(f"{self.root}{os.sep}"):
            if is_ignored(path):
                return True
            path = os.path.dirname(path)
        return False

    def _above(self) -> Iterator[str]:
        folder = self.folder
        while folder not in (self.root, os.path.dirname(folder)) and folder.startswith(self.root):
            folder = os.path.dirname(folder)
            yield folder
