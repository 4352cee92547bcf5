"""The plumbing: read, parse, resolve, check, freeze. Nothing here knows any kind.

`load_path` and `load_text` run one load and always return an `Outcome`; the public functions in
`api` raise. Each step takes the value of the one before it and adds what it finds to the session.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from equipage.core import codes
from equipage.core.diagnostics import Diagnostic, Fact
from equipage.core.frozen import MAX_ADDED_NODES, WeightCache, outweighs
from equipage.core.path import HOLE, Path, get
from equipage.core.source import Source, Span
from equipage.directives.composing import stages_of
from equipage.files.reading import Files
from equipage.files.sandbox import FileProblem
from equipage.loading.format import Format
from equipage.loading.merging import merge_layers, place_in_layer, rename_keys
from equipage.loading.model_classes import build as build_model
from equipage.loading.outcome import Outcome, build_outcome, findings_by_load
from equipage.loading.project_root import root_of_folder
from equipage.loading.session import Request, Run, Session
from equipage.loading.tree import Tree, punch_holes
from equipage.syntax.document import Document

T = TypeVar("T")

#: How many frames a load needs at most: a document as deep as parsing allows, in the recursion of
#: the collector.
_MAX_FRAMES = 800
#: The most findings about invisible characters in one file.
_MAX_INVISIBLE_FINDINGS = 50


def load_path(
    path: str, kind: Format, request: Request, run: Run | None = None, files: Files | None = None
) -> Outcome:
    """Load a file the caller named. Loads of one `run` read and parse nothing twice.

    `files` is what this load reads through, for callers that want to know what it looked at.
    """
    run = run or request.new_run()
    files = files or run.files.for_next_load()
    full = os.path.join(files.cwd, path)
    absolute = os.path.normpath(full)
    if kind.reading.variant is not None:
        kind = kind.reading.variant(absolute.replace(os.sep, "/"), files)
    root = request.project or root_of_folder(run, os.path.dirname(absolute))
    session = Session(kind, request, run, absolute, root=root, files=files)
    limits = session.limits
    try:
        source = files.read(full, max_bytes=limits.max_file_bytes)
    except FileProblem as problem:
        values = {**problem.values, "variable": limits.file_bytes_variable}
        session.add([Fact(problem.code, values=values)])
        return build_outcome(session, str(values.get("file", path)))
    # Files that a walk found were opened inside its folders.
    if source.filename is not None and not source.outside and files.within is None:
        source.outside = not files.is_read_within(
            source.filename, (root, *request.roots, *request.folders)
        )
    return load_source(source, session)


def load_text(
    text: str, kind: Format, request: Request, run: Run | None = None, *, name: str, base: str
) -> Outcome:
    """Load a string as if it were a file in the folder `base`."""
    run = run or request.new_run()
    session = Session(kind, request, run, os.path.join(base, name), base=base, files=run.files)
    source = Source.of_text(name, text)
    limits, size = session.limits, len(source.data)
    if size > limits.max_file_bytes:
        variable = limits.file_bytes_variable
        values = {"file": name, "size": size, "limit": limits.max_file_bytes, "variable": variable}
        session.add([Fact(codes.FILE_TOO_LARGE, values=values)])
        return build_outcome(session, name)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        session.add([codes.LONE_SURROGATE.at(span=Span(source, error.start, error.end))])
        return build_outcome(session, name)
    return load_source(source, session)


def load_source(source: Source, session: Session) -> Outcome:
    """Parse, resolve, check and freeze a source."""
    return run_with_stack_headroom(lambda: _load_source(source, session))


def _load_source(source: Source, session: Session) -> Outcome:
    document = session.read(source)
    if document is None:
        return build_outcome(session, source)
    if document.value is None:
        what = "Configuration" if source.filename is None else "Configuration file"
        start, kind = Span(source, 0, 0), session.kind
        # `equipage new` writes examples of kinds that have one.
        name = None if kind.presentation.example is None else kind.name
        session.add([codes.DOCUMENT_EMPTY.at(span=start, kind=name, what=what)])
        return build_outcome(session, source)
    tree = Tree.from_document(document)
    holes = (*document.failed_paths(), *_refused_numbers(document, session.facts))
    return check_tree(punch_holes(tree, holes) if holes else tree, session, source)


def check_tree(tree: Tree, session: Session, source: Source) -> Outcome:
    """Resolve, merge, check and freeze a tree that is already parsed."""
    kind = session.kind
    if kind.layers:
        tree = merge_layers(tree, session, source, lambda part: resolve(part, session, source))
    else:
        tree = resolve(tree, session, source)
    session.add(_invisible_characters(session, source))
    resolved = tree.value
    config, tree = build(tree, session)
    for check in kind.checks:
        session.add(check(tree.value, session))
    if config is not None and (rules := (*kind.rules, *session.more_rules)):
        from equipage.loading.rules import facts_of_rules  # few formats have any

        session.add(facts_of_rules(config, rules))
    return build_outcome(session, source, tree, config, resolved)


def resolve(tree: Tree, session: Session, source: Source) -> Tree:
    """The tree after every stage of the kind; a hole if composing made it far too large."""
    if session.kind.renamed:
        tree, found = rename_keys(tree, session.kind)
        session.add(found)
    is_layer = bool(session.kind.layers)
    for stage in stages_of(session.kind):
        before = tree.value
        tree, found = stage(tree, session)
        session.add([place_in_layer(each, tree) for each in found] if is_layer else found)
        if tree.value is not before and _grew_too_large(tree, session):
            session.add(
                [
                    codes.COMPOSED_TOO_LARGE.at(
                        span=Span(source, 0, 0), limit=f"{MAX_ADDED_NODES} values"
                    )
                ]
            )
            return Tree(HOLE, tree.origins, tree.moves)
    return tree


def build(tree: Tree, session: Session) -> tuple[Any, Tree]:
    """The typed configuration, None if anything is missing, and the tree without what is unfit."""
    kind = session.kind
    # A merge key that is not applied has been reported: it is not an unknown key, too.
    reported = ("<<",) if any(each.code == codes.MERGE_KEY for each in session.facts) else ()
    config, plain, found = build_model(tree.value, kind.model, kind.shape, reported)
    session.add(map(kind.mark_risky_remedy, found))
    if any(map(_is_error, session.facts)):
        config = None  # no later check may excuse what is missing
    if config is not None and plain is not tree.value:
        tree = Tree(plain, tree.origins, tree.moves)
    return config, tree


def _refused_numbers(document: Document, facts: list[Fact]) -> Iterator[Path]:
    """Paths of numbers that parsing refused: a finding about their type would be one too many."""
    for each in facts:
        refused = each.code == codes.NOT_FINITE and each.path and _is_error(each)
        if refused and isinstance(get(document.value, each.path), float):
            yield each.path


def _is_error(each: Fact) -> bool:
    return (each.severity or each.code.severity) == "error"


def _grew_too_large(tree: Tree, session: Session) -> bool:
    """Whether composing made the value much larger than its files; never for a single file."""
    sources = session.files.sources()
    if len(sources) <= 1:
        return False
    allowed = MAX_ADDED_NODES + sum(len(source.data) for source in sources)
    return outweighs(tree.value, allowed, session.run.cache(WeightCache))


def _invisible_characters(session: Session, root: Source) -> Iterator[Fact]:
    """Invisible characters in any text of the load: reviewers do not see what a model reads."""
    sources = session.files.sources()
    for source in sources if root in sources else (root, *sources):
        if source.text.isascii():
            continue
        from itertools import islice

        from equipage.syntax.suspicious import find_invisible

        for each in islice(find_invisible(source.text, source.data), _MAX_INVISIBLE_FINDINGS):
            span = Span(source, *each.range)
            fact = session.kind.adjust_severity(
                codes.INVISIBLE_CHARACTER.at(span=span, character=each.what)
            )
            if fact is not None:
                yield fact


def findings_about_sets(outcomes: Sequence[Outcome]) -> list[Diagnostic]:
    """The findings of set rules and cross rules about loads that belong together."""
    offers = [offer for each in outcomes if (offer := each.offer()) is not None]
    return [each for _, each in findings_by_load(outcomes, offers)]


def run_with_stack_headroom(run: Callable[[], T]) -> T:
    """Call `run`, in another thread if the stack of the caller is too deep.

    The deepest document that parsing allows fits into Python's recursion limit, but not on top of
    a stack that is nearly full. Another thread starts with an empty one.
    """
    try:
        sys._getframe(sys.getrecursionlimit() - _MAX_FRAMES)
    except ValueError:  # the stack is not that deep
        return run()
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(1) as thread:
        return thread.submit(run).result()
