"""One load and the run it belongs to: what may be read, the variables, what was parsed so far.

A `Session` is what the stages and rules of a kind are given beside the value. It reads and parses
each file once, and collects the facts of the load. A `Run` is what several loads share, so that
they read and parse nothing twice.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any, TypeVar

from equipage import files as system
from equipage.core.diagnostics import Code, Fact
from equipage.core.source import Source, Span
from equipage.core.text import Guesses, expression
from equipage.files.reading import Files, Referred, require_text
from equipage.files.sandbox import FileProblem, PathPolicy
from equipage.loading.kind import Kind, Limits
from equipage.loading.request import Request, options_of
from equipage.loading.tree import get
from equipage.syntax import SyntaxProblem
from equipage.syntax.document import Document, Format, load_value, parse

C = TypeVar("C")
#: A parsed source with what was found in its text; None if it is not text or does not parse.
Parsed = tuple[Document | None, list[Fact]]

_PROJECT_MARKS = (".git", "equipage.toml")
#: However `tool.equipage` is written in TOML, one of these is in the text: `tool.equipage` with
#: quotes and blanks, `[tool]`, `tool = {`. It spares most projects a parse of their settings.
_MAY_SPEAK = expression(r"""tool["']?\s*(?:\.\s*["']?equipage|[\]=])""")


class Run:
    """What the loads of one run share. They must have the same environment and options."""

    def __init__(self, files: Files | None = None, folders: tuple[str, ...] = ()) -> None:
        self.files = files or Files()
        self.folders = folders  #: see `Request.folders`
        self.documents: dict[tuple[int, Format, str], Parsed] = {}
        self._roots: dict[str, str] = {}
        self._prepared: dict[str, tuple[Request, Any, Limits, list[Fact]]] = {}
        self._caches: dict[type, Any] = {}

    def cache(self, cls: type[C]) -> C:
        """The one object of a class in this run: how directives find again what they worked out."""
        found: C | None = self._caches.get(cls)
        if found is None:
            found = self._caches[cls] = cls()
        return found

    def prepared(self, kind: Kind, request: Request) -> tuple[Any, Limits, list[Fact]]:
        """The options and limits of a kind and the facts about them. Raises `UsageError`."""
        known = self._prepared.get(kind.name)
        if known is None or known[0] is not request:
            options, limits_in = options_of(kind, request), kind.reading.limits
            limits, facts = (Limits(), []) if limits_in is None else limits_in(request.env)
            known = self._prepared[kind.name] = (request, options, limits, facts)
        return known[1:]

    def project_root(self, path: str) -> str:
        """As the function of this name, looked up once per folder."""
        folder = os.path.dirname(path)
        root = self._roots.get(folder)
        if root is None:
            root = self._roots[folder] = project_root(path, self.folders, self.files)
        return root


class Session:
    """What the stages of one load share."""

    __slots__ = (
        "_documents",
        "_guesses",
        "base",
        "embedded",
        "env",
        "facts",
        "files",
        "kind",
        "limits",
        "options",
        "path",
        "root",
        "roots",
        "run",
    )

    def __init__(
        self,
        kind: Kind,
        request: Request,
        run: Run,
        path: str,
        *,
        base: str | None = None,
        files: Files | None = None,
    ) -> None:
        self.kind = kind
        self.run = run
        self.options, self.limits, facts = run.prepared(kind, request)
        self.facts = list(facts)  #: everything found so far
        self.env = request.env
        self.embedded = request.embedded
        self.roots = request.roots  #: further folders the *caller* allows
        self.files = files if files is not None else run.files.again()
        self.path = path  #: what the caller named, absolute; links in it are not followed
        self.base = os.path.dirname(path) if base is None else base  #: where references start
        #: the project root; of a text that never was a file, the folder its references start at
        self.root = request.project or (run.project_root(path) if base is None else base)
        self._guesses: Guesses | None = None
        self._documents: dict[int, Parsed] = {}

    def add(self, facts: Iterable[Fact]) -> None:
        """Remember what a stage or a rule found."""
        self.facts += facts

    @property
    def documents(self) -> tuple[Document, ...]:
        """Every document of this load, in the order they were parsed."""
        return tuple(document for document, _ in self._documents.values() if document is not None)

    def read(self, source: Source) -> Document | None:
        """The document of the root source; what its text has wrong is added to the facts."""
        reader = self.kind.reading.read
        document, facts = reader(source, self) if reader else self.parse(source, keep=False)
        self.add(facts)
        return document

    def parse(
        self,
        source: Source,
        format: Format | None = None,  # noqa: A002
        *,
        keep: bool = True,
    ) -> Parsed:
        """The document of a source with the kind's own strictness; facts come with the first call.

        Without `keep`, other loads of the run parse it again: right for what few others read.
        """
        known = self._documents.get(id(source))
        if known is not None:
            return known[0], []
        wanted = format or format_of(self.kind, source.name)
        key = (id(source), wanted, self.kind.name)
        parsed = self.run.documents.get(key)
        if parsed is None:
            parsed = self._parse(source, wanted)
            if keep:
                self.run.documents[key] = parsed
        self._documents[id(source)] = parsed
        return parsed

    def _parse(self, source: Source, wanted: Format) -> Parsed:
        try:
            require_text(source)
        except FileProblem as problem:
            return None, [Fact(problem.code, values=problem.values, span=Span(source, 0, 0))]
        reading = self.kind.reading
        env = self.env if reading.uses_environment and not self.embedded else None
        document, facts = parse(source, wanted, env=env, merge=reading.merge_keys)
        return document, self.strict(facts, wanted)

    def adopt(self, document: Document, facts: list[Fact] | None = None) -> Document:
        """Remember a document that a directive made itself, with its variables and oddities."""
        self._documents.setdefault(id(document.source), (document, facts or []))
        return document

    def strict(self, facts: list[Fact], format: Format) -> list[Fact]:  # noqa: A002
        """Facts about a text with the severities of the kind."""
        judged = (self.kind.severity(each, format) for each in facts)
        return [each for each in judged if each is not None]

    def refer(
        self, reference: str, policy: PathPolicy, *, bases: tuple[str, ...], roots: tuple[str, ...]
    ) -> Referred:
        """The file a document names. Raises `FileProblem`."""
        return self.files.refer(reference, bases, roots, policy)

    def noted(self, code: Code) -> bool:
        """Whether the text of any document of this load has this oddity."""
        return any(code in document.odd for document in self.documents)

    @property
    def guesses(self) -> Guesses:
        """For names that a document brings itself: bounds what guessing may cost in one load."""
        if self._guesses is None:
            self._guesses = Guesses()
        return self._guesses


def format_of(kind: Kind, name: str) -> Format:
    """The format of a file by its extension; a name without one (a string) takes the first."""
    formats = kind.reading.formats
    extension = os.path.splitext(name)[1].lower()
    return formats.get(extension, next(iter(formats.values())))


def project_root(path: str, named: Iterable[str] = (), files: Files | None = None) -> str:
    """The folder that references of a file may not leave, see `project_of_folder`."""
    return project_of_folder(os.path.dirname(_real(path)), named, files)


def project_of_folder(folder: str, named: Iterable[str] = (), files: Files | None = None) -> str:
    """The project that a folder belongs to.

    It is the nearest parent with `.git`, `equipage.toml` or a `pyproject.toml` that has
    `[tool.equipage]`; else the innermost folder that the caller `named` and that contains it; else
    the folder itself. The working directory does not matter: a verdict must not depend on it.
    """
    files = files or Files()
    current = folder = _real(folder)
    while True:
        marked = any(files.exists(os.path.join(current, mark)) for mark in _PROJECT_MARKS)
        if marked or speaks_of_equipage(current, files):
            return current
        parent = os.path.dirname(current)
        if parent == current:
            break
        current = parent
    around = map(_real, named)
    inside = (
        each for each in around if f"{folder}{os.sep}".startswith(each.rstrip(os.sep) + os.sep)
    )
    return max(inside, key=len, default=folder)


def _real(path: str) -> str:
    """A path without links; unchanged if no file can have that name, which reading it reports."""
    try:
        return system.real_path(path)
    except ValueError:
        return path


def speaks_of_equipage(folder: str, files: Files) -> bool:
    """Whether a folder has a `pyproject.toml` with settings of ours.

    One that cannot be parsed counts if it looks like it, so that its error is reported.
    """
    data = files.peek(os.path.join(folder, "pyproject.toml"))
    if data is None or b"equipage" not in data:
        return False
    if not _MAY_SPEAK.search(data.decode("utf-8", "replace")):
        return False
    try:
        value = load_value("toml", data.decode("utf-8").removeprefix("\ufeff"))
    except (SyntaxProblem, UnicodeDecodeError):
        return b"[tool.equipage" in data
    return get(value, ("tool", "equipage")) is not None
