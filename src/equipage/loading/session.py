"""One load: the files it may read, the variables it may see, and what it parsed so far.

A session is what the stages of a kind are given beside the tree. It reads and parses each file once.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from equipage.core.diagnostics import Code, Fact
from equipage.core.source import Source, Span
from equipage.core.text import Guesses
from equipage.files.reading import Files, Referred, require_text
from equipage.files.sandbox import FileProblem, PathPolicy
from equipage.loading.kind import Kind, Limits
from equipage.loading.tree import get
from equipage.syntax import SyntaxProblem
from equipage.syntax.document import Document, Format, load_value, parse

_PROJECT_MARKS = (".git", "equipage.toml")


def project_root(path: str, cwd: str, files: Files | None = None) -> str:
    """The folder references may not leave: the nearest parent with `.git`, `equipage.toml` or a `pyproject.toml`
    that has `[tool.equipage]`; else the working directory if it contains the file; else the file's folder."""
    return project_of_folder(os.path.dirname(_real(path)), cwd, files)


def project_of_folder(folder: str, cwd: str, files: Files | None = None) -> str:
    """The same for a file right in a folder, whatever its name: one that is a link would lead elsewhere."""
    files = files or Files(cwd=cwd)
    current = folder = _real(folder)
    while True:
        marked = any(files.exists(os.path.join(current, mark)) for mark in _PROJECT_MARKS)
        if marked or speaks_of_equipage(current, files):
            return current
        parent = os.path.dirname(current)
        if parent == current:
            break
        current = parent
    cwd = os.path.realpath(cwd)
    return cwd if folder == cwd or folder.startswith(cwd.rstrip(os.sep) + os.sep) else folder


def _real(path: str) -> str:
    """A path without links; as it is, if no file can have that name: reading it tells so."""
    try:
        return os.path.realpath(path)
    except ValueError:
        return path


def speaks_of_equipage(folder: str, files: Files) -> bool:
    """Whether a folder has a `pyproject.toml` with settings of ours. One that cannot be parsed is taken for what it
    looks like, so that its error is told."""
    data = files.peek(os.path.join(folder, "pyproject.toml"))
    if data is None or b"equipage" not in data:
        return False
    try:
        value = load_value("toml", data.decode("utf-8").removeprefix("\ufeff"))
    except (SyntaxProblem, UnicodeDecodeError):
        return b"[tool.equipage" in data
    return get(value, ("tool", "equipage")) is not None


class Shared:
    """What the loads of one run share: the files they read, the documents they parsed, and what stages keep.

    Loads that share must have the same environment and options.
    """

    def __init__(self, files: Files | None = None) -> None:
        self.files = files or Files()
        self.documents: dict[tuple[int, Format, str], tuple[Document | None, list[Fact]]] = {}
        #: whatever a stage wants to find again in the next load; keys start with the name of the stage
        self.kept: dict[Any, Any] = {}
        self._roots: dict[str, str] = {}

    def project_root(self, path: str) -> str:
        """As the function of this name, looked up once per folder."""
        folder = os.path.dirname(path)
        root = self._roots.get(folder)
        if root is None:
            root = self._roots[folder] = project_root(path, self.files.cwd, self.files)
        return root


class Session:
    """What the stages of one load share."""

    __slots__ = (
        "_documents",
        "_guesses",
        "base",
        "embedded",
        "env",
        "files",
        "kind",
        "limits",
        "options",
        "path",
        "root",
        "roots",
        "shared",
    )

    def __init__(
        self,
        kind: Kind,
        options: Any,
        files: Files,
        *,
        shared: Shared | None = None,
        env: Mapping[str, str],
        limits: Limits,
        root: str,
        base: str,
        path: str | None = None,
        roots: tuple[str, ...] = (),
        embedded: bool = False,
    ) -> None:
        self.kind = kind
        self.options = options
        self.files = files
        self.env = env
        self.limits = limits
        self.root = root  #: the project root
        self.base = base  #: the folder of the root document
        self.path = path or base  #: what the caller named, absolute; links in it are not followed
        self.roots = roots  #: further folders the *caller* allows
        self.embedded = embedded
        self._guesses: Guesses | None = None
        self.shared = shared or Shared(files)
        self._documents: dict[int, tuple[Document | None, list[Fact]]] = {}

    @property
    def documents(self) -> tuple[Document, ...]:
        """Every document of this load, in the order they were parsed."""
        return tuple(document for document, _ in self._documents.values() if document is not None)

    def parse(
        self,
        source: Source,
        format: Format | None = None,  # noqa: A002
        *,
        keep: bool = True,
    ) -> tuple[Document | None, list[Fact]]:
        """The document of a source with the kind's own strictness; findings come with the first call only.

        Without `keep`, loads that share will parse it again: right for what hardly anybody else reads.
        """
        known = self._documents.get(id(source))
        if known is not None:
            return known[0], []
        document, facts = self._parse(source, format, keep=keep)
        self._documents[id(source)] = (document, facts)
        return document, facts

    def adopt(self, document: Document, facts: list[Fact] | None = None) -> Document:
        """Remember a document that a directive made itself, so that its variables and oddities are known."""
        self._documents.setdefault(id(document.source), (document, facts or []))
        return document

    @property
    def guesses(self) -> Guesses:
        """For names that a document brings itself."""
        if self._guesses is None:
            self._guesses = Guesses()
        return self._guesses

    def noted(self, code: Code) -> bool:
        """Whether the text of any document of this load has this oddity."""
        return any(code in document.odd for document in self.documents)

    def _parse(
        self,
        source: Source,
        format: Format | None,  # noqa: A002
        *,
        keep: bool,
    ) -> tuple[Document | None, list[Fact]]:
        """Parse once for all loads that share; each of them is told what was found."""
        wanted = format or format_of(self.kind, source.name)
        key = (id(source), wanted, self.kind.name)
        known = self.shared.documents.get(key)
        if known is None:
            known = self._parse_now(source, wanted)
            if keep:
                self.shared.documents[key] = known
        return known

    def _parse_now(self, source: Source, wanted: Format) -> tuple[Document | None, list[Fact]]:
        try:
            require_text(source)
        except FileProblem as problem:
            return None, [Fact(problem.code, values=problem.values, span=Span(source, 0, 0))]
        env = self.env if self.kind.reading.uses_environment and not self.embedded else None
        document, facts = parse(source, wanted, env=env, merge=self.kind.reading.merge_keys)
        return document, self.strict(facts, wanted)

    def strict(self, facts: list[Fact], format: Format) -> list[Fact]:  # noqa: A002
        """Facts about a text with the severities of the kind."""
        judged = (self.kind.severity(each, format) for each in facts)
        return [each for each in judged if each is not None] if facts else []

    def refer(
        self, reference: str, policy: PathPolicy, *, bases: tuple[str, ...], roots: tuple[str, ...]
    ) -> Referred:
        """The file a document names. Raises `FileProblem`."""
        return self.files.refer(reference, bases, roots, policy)


def format_of(kind: Kind, name: str) -> Format:
    """The format of a file by its extension; a name without one (a string) takes the kind's first."""
    extension = os.path.splitext(name)[1].lower()
    formats = kind.reading.formats
    return formats.get(extension, next(iter(formats.values())))
