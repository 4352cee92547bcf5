"""The plumbing: read, parse, resolve, check, freeze. Nothing here knows any kind.

`load_path` and `load_text` run one load and always return an `Outcome`; raising is the business of the public
functions in `api`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any, TypeVar

import msgspec

from equipage.core import codes as core_codes
from equipage.core.diagnostics import Diagnostic, Fact, LoadError
from equipage.core.frozen import MAX_ADDED, freeze, outweighs
from equipage.core.path import Path
from equipage.core.source import Source, Span
from equipage.files.reading import Files
from equipage.files.sandbox import FileProblem
from equipage.loading.findings import IGNORE_MARK, Placer, apply_ignores
from equipage.loading.kind import Kind, Limits
from equipage.loading.model import build
from equipage.loading.recognise import codes_of
from equipage.loading.request import Request, options_of
from equipage.loading.result import Loaded
from equipage.loading.session import Session, Shared, format_of
from equipage.loading.tree import HOLE, Tree, get, graft
from equipage.syntax.document import Document
from equipage.syntax.suspicious import invisible


class Outcome(msgspec.Struct, frozen=True):
    """What one load came to: a configuration if there were no errors, and every finding."""

    kind: Kind
    config: Any
    diagnostics: tuple[Diagnostic, ...]
    tree: Tree | None = None
    documents: tuple[Document, ...] = ()
    sources: tuple[Source, ...] = ()
    session: Session | None = None
    #: there is no configuration, and no silencing of findings could bring one about
    blocked: bool = False

    @property
    def errors(self) -> tuple[Diagnostic, ...]:
        return tuple(each for each in self.diagnostics if each.severity == "error")

    @property
    def ok(self) -> bool:
        return not self.errors

    def result(self, *, strict: bool) -> Loaded[Any]:
        """What a load hands to its caller. Raises `LoadError`; with `strict`, for warnings too."""
        loaded = self.loaded()
        if loaded is None or (
            strict and any(each.severity == "warning" for each in loaded.warnings)
        ):
            raise LoadError(self.diagnostics)
        return loaded

    def loaded(self) -> Loaded[Any] | None:
        """The result to hand to a program; None if there were errors."""
        if not self.ok or self.config is None or self.tree is None:
            return None
        return Loaded(
            self.config,
            self.kind.name,
            self.diagnostics,
            self.tree,
            self.documents,
            self.sources,
            self.kind.presentation.dump,
            takes_variables=self.kind.reading.uses_environment,
        )


def load_path(
    path: str,
    kind: Kind,
    request: Request,
    files: Files | None = None,
    *,
    shared: Shared | None = None,
) -> Outcome:
    """Load a file the caller named. Loads that are given the same `shared` read and parse nothing twice."""
    if shared is None:
        shared = Shared(files)
        files = shared.files
    else:
        files = shared.files.again()
    full = os.path.join(files.cwd, path)
    absolute = os.path.normpath(full)
    if kind.reading.variant is not None:
        kind = kind.reading.variant(absolute.replace(os.sep, "/"), files)
    options, limits, facts = _set_up(kind, request, shared)
    root = request.project or shared.project_root(absolute)
    session = Session(
        kind,
        options,
        files,
        shared=shared,
        env=request.env,
        limits=limits,
        root=root,
        base=os.path.dirname(absolute),
        path=absolute,
        roots=request.roots,
        embedded=request.embedded,
    )
    try:
        source = files.read(full, max_bytes=limits.max_file_bytes)
    except FileProblem as problem:
        values = {**problem.values, "variable": limits.file_bytes_variable}
        return _report(
            session,
            None,
            [*facts, Fact(problem.code, values=values)],
            str(values.get("file", path)),
        )
    return load_source(source, session, facts)


def _set_up(kind: Kind, request: Request, shared: Shared) -> tuple[Any, Limits, list[Fact]]:
    """The options and limits of a kind, found out once for loads that share."""
    key = ("set up", kind.name)
    known: tuple[Request, Any, Limits, list[Fact]] | None = shared.kept.get(key)
    if known is None or known[0] is not request:
        known = shared.kept[key] = (
            request,
            options_of(kind, request),
            *kind.reading.limits_for(request.env),
        )
    return known[1:]


def load_text(
    text: str, kind: Kind, request: Request, files: Files, *, name: str, base: str
) -> Outcome:
    """Load a string as if it were a file in the folder `base`."""
    options = options_of(kind, request)
    limits, facts = kind.reading.limits_for(request.env)
    session = Session(
        kind,
        options,
        files,
        env=request.env,
        limits=limits,
        root=request.project or base,
        base=base,
        path=os.path.join(base, name),
        roots=request.roots,
        embedded=request.embedded,
    )
    source = Source.of_text(name, text)
    size = len(source.data)
    if size > limits.max_file_bytes:
        values = {
            "file": name,
            "size": size,
            "limit": limits.max_file_bytes,
            "variable": limits.file_bytes_variable,
        }
        return _report(
            session, None, [*facts, Fact(core_codes.FILE_TOO_LARGE, values=values)], name
        )
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        return _report(
            session,
            None,
            [*facts, Fact(core_codes.LONE_SURROGATE, span=Span(source, error.start, error.end))],
            name,
        )
    return load_source(source, session, facts)


T = TypeVar("T")

#: How many frames a load may need at most: a document as deep as parsing allows, in the recursion of the collector.
_FRAMES = 800
#: Of a file full of invisible characters, these are enough to know.
_MOST_INVISIBLE = 50


def load_source(source: Source, session: Session, facts: list[Fact]) -> Outcome:
    """Parse, resolve, check and freeze a source."""
    return with_headroom(lambda: _load_source(source, session, facts))


def with_headroom(run: Callable[[], T]) -> T:
    """The result of `run`, whatever the depth of the caller's own stack.

    What a document may nest fits into Python's recursion limit, but not on top of a stack that is nearly
    full. Another thread starts with an empty one.
    """
    frame, room = sys._getframe(), sys.getrecursionlimit() - _FRAMES
    while room > 0 and frame.f_back is not None:
        frame, room = frame.f_back, room - 1
    if room > 0:
        return run()
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(1) as thread:
        return thread.submit(run).result()


def _load_source(source: Source, session: Session, facts: list[Fact]) -> Outcome:
    kind = session.kind
    read = kind.reading.read or _read_by_extension
    document, found = read(source, session)
    facts = [*facts, *found]
    if document is None:
        return _report(session, None, facts, source.name, root=source)
    if document.value is None:
        what = "Configuration" if source.path is None else "Configuration file"
        empty = Fact(
            core_codes.DOCUMENT_EMPTY,
            values={"kind": kind.name, "what": what},
            span=Span(source, 0, 0),
        )
        return _report(session, None, [*facts, empty], source.name, root=source)
    tree = Tree.of(document)
    holes = document.failed_paths()
    if found:
        holes += _refused(document, found, session)
    if holes:
        tree = graft(tree, {path: Tree(HOLE, tree.origins.at(path)) for path in holes})
    return check_tree(tree, session, facts, source)


def _refused(document: Document, found: list[Fact], session: Session) -> Iterator[Path]:
    """Paths of numbers that were refused when the text was parsed: nobody needs to hear of their type, too."""
    for each in found:
        refused = (
            each.code == core_codes.NOT_FINITE and bool(each.path) and _is_error(each, session)
        )
        if refused and isinstance(get(document.value, each.path), float):
            yield each.path


def check_tree(tree: Tree, session: Session, facts: list[Fact], source: Source) -> Outcome:
    """Resolve, check and freeze a tree that is already parsed (or merged from layers)."""
    kind = session.kind
    for stage in kind.stages:
        before = tree.value
        tree, found = stage(tree, session)
        facts += found
        if tree.value is not before and _grew_too_large(tree, session):
            facts.append(
                Fact(
                    core_codes.COMPOSED_TOO_LARGE,
                    values={"limit": MAX_ADDED},
                    span=Span(source, 0, 0),
                )
            )
            return _report(
                session, Tree(HOLE, tree.origins, tree.moves), facts, source.name, root=source
            )
    facts += _invisible(session, source)
    resolved = tree.value
    config, plain, found = build(
        resolved, kind.model, kind.shape, told=_told(facts) if facts else ()
    )
    if found:
        facts += map(kind.cautious, found)
    if facts and any(_is_error(each, session) for each in facts):
        config = None  # something is missing that no later check may excuse
    if config is not None and plain is not resolved:
        tree = Tree(plain, tree.origins, tree.moves)
    for rule in kind.rules:
        facts += rule(tree.value, session)
    return _report(session, tree, facts, source.name, config=config, root=source, resolved=resolved)


def _invisible(session: Session, root: Source) -> Iterator[Fact]:
    """Characters nobody sees, in any text of the load: whoever reviews it does not read what a model reads."""
    sources = session.files.sources()
    for source in sources if root in sources else (root, *sources):
        if source.text.isascii():
            continue
        for each in islice(invisible(source.text), _MOST_INVISIBLE):
            fact = Fact(
                core_codes.INVISIBLE_CHARACTER,
                values={"character": each.what},
                span=Span(source, *each.range),
            )
            judged = session.kind.severity(fact)
            if judged is not None:
                yield judged


def _told(facts: list[Fact]) -> tuple[str, ...]:
    """Keys that parsing has spoken about: a merge key that is not applied need not be unknown, too."""
    return ("<<",) if any(each.code == core_codes.MERGE_KEY for each in facts) else ()


def _grew_too_large(tree: Tree, session: Session) -> bool:
    """Whether composing made much more of the files than they hold; a file alone is as large as it is."""
    sources = session.files.sources()
    return len(sources) > 1 and outweighs(
        tree.value, MAX_ADDED + sum(len(source.data) for source in sources)
    )


def place_more(outcome: Outcome, facts: Sequence[Fact]) -> list[Diagnostic]:
    """Findings about a load that were made after it, such as those about several files together."""
    assert outcome.session is not None
    file = outcome.sources[0].name if outcome.sources else None
    return Placer(outcome.tree, outcome.documents, file=file).place(facts)


def place_alone(fact: Fact, file: str | None = None) -> Diagnostic:
    """A finding that is about no load: a folder, or the environment."""
    return Placer(None, (), file=file).place([fact])[0]


def _is_error(each: Fact, session: Session) -> bool:
    return (each.severity or each.code.severity) == "error"


def _read_by_extension(source: Source, session: Session) -> tuple[Document | None, list[Fact]]:
    return session.parse(source, format_of(session.kind, source.name), keep=False)


def _report(
    session: Session,
    tree: Tree | None,
    facts: list[Fact],
    file: str,
    *,
    config: Any = None,
    root: Source | None = None,
    resolved: Any = None,
) -> Outcome:
    """Place and word the facts; freeze the configuration if none is an error."""
    documents = session.documents
    sources = session.files.sources()
    if root is not None and (not sources or sources[0] is not root):
        sources = tuple(dict.fromkeys((root, *sources)))
    placed = Placer(tree, documents, file=file).place(facts) if facts else []
    # What keeps the configuration from existing cannot be silenced.
    kept = [each for each in placed if each.severity == "error"] if config is None else []
    rest = [each for each in placed if each.severity != "error"] if kept else placed
    ignoring = [document.source for document in documents if IGNORE_MARK in document.source.text]
    diagnostics = (
        apply_ignores(rest, ignoring, lambda: codes_of([session.kind.name]), kept)
        if ignoring
        else rest
    )
    if kept:
        diagnostics = sorted([*kept, *diagnostics], key=Diagnostic.sort_key)
    blocked = config is None or tree is None
    if tree is None or any(each.severity == "error" for each in diagnostics):
        config = None
    if config is not None and tree is not None:
        if session.kind.fold is not None:
            tree, config = session.kind.fold(tree, config)
        build_result = session.kind.build_result
        config = freeze(config) if build_result is None else build_result(resolved, session)
    return Outcome(
        session.kind, config, tuple(diagnostics), tree, documents, sources, session, blocked=blocked
    )
