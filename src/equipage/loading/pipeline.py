"""The plumbing: read, parse, resolve, check, freeze. Nothing here knows any kind.

`load_path` and `load_text` run one load and always return an `Outcome`; the public functions in
`api` raise. Each step takes the value of the one before it and adds what it finds to the session.
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from equipage.core import codes
from equipage.core.codes import CORE_CODES
from equipage.core.diagnostics import Code, Diagnostic, Fact, LoadError
from equipage.core.frozen import MAX_ADDED_NODES, WeightCache, freeze, outweighs
from equipage.core.path import HOLE, Path, get
from equipage.core.source import Source, Span
from equipage.files.reading import Files
from equipage.files.sandbox import FileProblem
from equipage.loading.format import Format, Offer
from equipage.loading.merging import (
    is_layer,
    is_of_layer,
    merge_layers,
    place_in_layer,
    rename_keys,
)
from equipage.loading.model import build as build_model
from equipage.loading.model import is_pydantic
from equipage.loading.project_root import root_of_folder
from equipage.loading.session import Request, Run, Session
from equipage.loading.tree import Tree, punch_holes
from equipage.syntax.document import Document

if TYPE_CHECKING:
    from equipage.loading.findings import PendingIgnore
    from equipage.loading.result import Loaded
else:
    PendingIgnore = Loaded = Any  # `help` evaluates the types of the fields

#: Included files are kept as text up to this size in sum: people ask where values come from.
_MAX_KEPT_BYTES = 1024 * 1024
#: Texts without it ignore nothing, and need not be searched.
_IGNORE_MARK = "equipage:"


class Outcome(msgspec.Struct, frozen=True):
    """What one load came to: a configuration if there were no errors, and every finding."""

    kind: Format
    config: Any
    diagnostics: tuple[Diagnostic, ...]
    session: Session
    tree: Tree | None = None
    documents: tuple[Document, ...] = ()
    sources: tuple[Source, ...] = ()
    #: comments that ignore what the rules about several files may find
    waiting: tuple[PendingIgnore, ...] = ()

    def __repr__(self) -> str:
        # Tracebacks with local variables show it: no value of the environment may be in it.
        return f"Outcome(kind={self.kind.name!r}, findings={len(self.diagnostics)})"

    @property
    def errors(self) -> tuple[Diagnostic, ...]:
        return tuple(each for each in self.diagnostics if each.severity == "error")

    @property
    def ok(self) -> bool:
        return not self.errors

    def result(self, *, strict: bool) -> Loaded[Any]:
        """The loaded configuration. Raises `LoadError`; with `strict`, for warnings too."""
        loaded = self.loaded_or_none()
        refused = strict and any(each.severity == "warning" for each in self.diagnostics)
        if loaded is None or refused:
            raise LoadError(self.diagnostics)
        self._release_large_texts()
        return loaded

    def _release_large_texts(self) -> None:
        """Release the texts of included files if they are large."""
        included = [each for each in self.documents if each.source is not self.sources[0]]
        if sum(len(each.source.data) for each in included) > _MAX_KEPT_BYTES:
            for document in included:
                document.release(self.session.files.system.peek)

    def loaded_or_none(self) -> Loaded[Any] | None:
        """The result to hand to a program; None if there were errors."""
        if not self.ok or self.config is None or self.tree is None:
            return None
        from equipage.loading.result import Loaded  # a check needs it for digests only

        return Loaded(self)

    @property
    def path(self) -> str:
        """The path of the file that was loaded, with `/`; empty if it could not be read."""
        if not self.sources:
            return ""
        return (self.sources[0].filename or self.sources[0].name).replace(os.sep, "/")

    def set_key(self) -> Hashable:
        """The key of the file: set rules see files of a kind with equal keys together."""
        key = self.kind.together.set_key
        return () if key is None else key(self)

    def offer(self) -> Offer | None:
        """The names that other files may use for this one; None if it offers none."""
        offers = self.kind.together.offers
        names = tuple(offers(self)) if offers is not None else ()
        if not names or not self.sources:
            return None
        weigh = self.kind.together.weigh
        weight = weigh(self) if weigh is not None else (0, 0)
        return Offer(self.kind.name, self.path, names, weight)


def build_outcome(
    session: Session,
    root: Source | str,
    tree: Tree | None = None,
    config: Any = None,
    resolved: Any = None,
) -> Outcome:
    """The outcome of a load: facts placed and worded, comments obeyed, the configuration frozen.

    `root` is the source of the load, or the name of a file that could not be read. `config` is
    None if the value does not fit the model; `resolved` is the value before it was pruned.
    """
    sources = session.files.sources()
    if isinstance(root, Source) and (not sources or sources[0] is not root):
        sources = tuple(dict.fromkeys((root, *sources)))
    file = root.name if isinstance(root, Source) else root
    lenient = config is not None and session.kind.reading.lenient
    diagnostics, waiting = _diagnostics(session, tree, file, silence_errors=lenient)
    if tree is None or any(each.severity == "error" for each in diagnostics):
        config = None
    kind = session.kind
    if config is not None and tree is not None:
        if kind.fold is not None:
            tree, config = kind.fold(tree, config)
        config = kind.build_result(resolved, session) if kind.build_result else freeze(config)
    documents, found = tuple(session.documents), tuple(diagnostics)
    return Outcome(kind, config, found, session, tree, documents, sources, tuple(waiting))


def _diagnostics(
    session: Session, tree: Tree | None, file: str, *, silence_errors: bool
) -> tuple[list[Diagnostic], list[PendingIgnore]]:
    """The facts of a session as findings, without those that a comment on their line ignores.

    An error that prevents the load cannot be ignored: `silence_errors` says whether it may be.
    """
    documents = session.documents
    ignoring = [each.source for each in documents if _IGNORE_MARK in each.source.text]
    facts = session.facts
    if session.errors_only and not ignoring:  # a comment may be about any of them
        facts = [each for each in facts if (each.severity or each.code.severity) == "error"]
    if not facts and not ignoring:
        return [], []
    from equipage.loading.findings import Placer, apply_ignores, codes_in_comments, limit_findings

    sources = session.files.sources()
    layered = bool(session.kind.layers)
    placer = Placer(tree, documents, file=file, sources=sources, layered=layered)
    if not ignoring:
        return placer.place(facts), []
    # What a comment silences does not count among the findings that are shown.
    placed, more = placer.place_and_count(session.facts, codes_in_comments(ignoring))
    fixed = [each for each in placed if each.severity == "error" and not silence_errors]
    rest = [each for each in placed if each.severity != "error"] if fixed else placed
    later, hidden = session.kind.together.codes, {code for code, *_ in more}
    has_rules = bool(session.kind.rules or session.more_rules)
    left, waiting = apply_ignores(
        rest, ignoring, lambda: _codes_for_comments(session), fixed, later, hidden, others=has_rules
    )
    return limit_findings(sorted([*fixed, *left], key=Diagnostic.sort_key), more), waiting


def _codes_for_comments(session: Session) -> Mapping[str, Code]:
    """The codes that a comment in a file of this load may name."""
    known_codes = session.run.request.known_codes
    if known_codes is not None:
        return known_codes(session.kind)
    return {code.name: code for code in (*CORE_CODES, *session.kind.every_code())}


def place_in_outcome(outcome: Outcome, facts: Sequence[Fact]) -> list[Diagnostic]:
    """Findings made after a load, such as those about several files together."""
    from equipage.loading.findings import Placer

    file = outcome.sources[0].name if outcome.sources else None
    placer = Placer(outcome.tree, outcome.documents, file=file, sources=outcome.sources)
    return placer.place(facts)


def place_without_outcome(fact: Fact, file: str | None = None) -> Diagnostic:
    """A finding that belongs to no load: one about a folder, or about the environment."""
    from equipage.loading.findings import Placer

    return Placer(None, (), file=file).place([fact])[0]


# ------------------------------------------------------------------------------------ several loads


def _outcomes_sharing_keys(group: Sequence[Outcome]) -> Sequence[Outcome]:
    """The outcomes that share their set key with another; all of them if one has no key.

    Set rules have nothing to say about the rest.
    """
    keys = [each.set_key() for each in group]
    if None in keys:
        return group
    count = Counter(keys)
    return [each for each, key in zip(group, keys, strict=True) if count[key] > 1]


def findings_by_load(
    outcomes: Sequence[Outcome], offers: Sequence[Offer]
) -> Iterator[tuple[Outcome, Diagnostic]]:
    """What the set rules and cross rules of each kind find, with the load it is about."""
    by_kind: dict[int, list[Outcome]] = {}
    for outcome in outcomes:
        by_kind.setdefault(id(outcome.kind), []).append(outcome)
    for group in by_kind.values():
        together = group[0].kind.together
        alike = _outcomes_sharing_keys(group) if together.set_rules else []
        made = [rule(alike) for rule in together.set_rules if alike]
        made += [rule(group, offers) for rule in together.cross_rules]
        facts: dict[int, tuple[Outcome, list[Fact]]] = {}
        for outcome, each in chain.from_iterable(made):
            facts.setdefault(id(outcome), (outcome, []))[1].append(each)
        for outcome, those in facts.values():
            yield from ((outcome, each) for each in place_in_outcome(outcome, those))


T = TypeVar("T")

#: How many frames a load needs at most: a document as deep as parsing allows, in the recursion of
#: the collector.
_MAX_FRAMES = 800
#: The most findings about invisible characters in one file.
_MAX_INVISIBLE_FINDINGS = 50


def load_path(
    path: str,
    kind: Format,
    request: Request,
    run: Run | None = None,
    files: Files | None = None,
    *,
    may_be_layer: bool = False,
) -> Outcome:
    """Load a file the caller named. Loads of one `run` read and parse nothing twice.

    `files` is what this load reads through, for callers that want to know what it looked at. With
    `may_be_layer`, a file that the format names as a layer is judged as one.
    """
    run = run or request.new_run()
    files = files or run.files.for_next_load()
    full = os.path.join(files.cwd, path)
    absolute = os.path.normpath(full)
    if kind.reading.variant is not None:
        kind = kind.reading.variant(absolute.replace(os.sep, "/"), files)
    root = request.project or root_of_folder(run, os.path.dirname(absolute))
    session = Session(kind, request, run, absolute, root=root, files=files)
    session.is_layer = may_be_layer and bool(kind.layers) and is_layer(session)
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
        empty = kind.adjust_severity(codes.DOCUMENT_EMPTY.at(span=start, kind=name, what=what))
        empty = None if session.is_layer else empty
        session.add([] if empty is None else [empty])
        if empty is not None and _is_error(empty):
            return build_outcome(session, source)
        document.value = {}
    tree = Tree.from_document(document)
    holes = (*document.failed_paths(), *_refused_numbers(document, session.facts))
    return check_tree(punch_holes(tree, holes) if holes else tree, session, source)


def check_tree(tree: Tree, session: Session, source: Source) -> Outcome:
    """Resolve, merge, check and freeze a tree that is already parsed."""
    kind = session.kind
    if kind.layers and not session.is_layer:
        tree = merge_layers(tree, session, source, lambda part: resolve(part, session, source))
    else:
        tree = resolve(tree, session, source)
    session.add(_invisible_characters(session, source))
    resolved = tree.value
    config, tree = build(tree, session)
    for check in kind.checks:
        try:
            session.add(check(tree.value, session))
        except (Exception, SystemExit) as error:
            from equipage.loading.rules import failure_of

            session.add([failure_of("check", check, error)])
    if config is not None and (rules := (*kind.rules, *session.more_rules)):
        from equipage.loading.rules import facts_of_rules  # few formats have any

        session.add(facts_of_rules(config, rules))
    return build_outcome(session, source, tree, config, resolved)


def resolve(tree: Tree, session: Session, source: Source) -> Tree:
    """The tree after every stage of the kind; a hole if composing made it far too large."""
    if session.kind.renamed:
        tree, found = rename_keys(tree, session.kind)
        session.add(found)
    layered = bool(session.kind.layers)
    for stage in session.kind.stages:
        before = tree.value
        try:
            tree, found = stage(tree, session)
        except (Exception, SystemExit) as error:
            from equipage.loading.rules import failure_of

            session.add([failure_of("stage", stage, error)])
            return Tree(HOLE, tree.origins, tree.moves)
        session.add([place_in_layer(each, tree) for each in found] if layered else found)
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
    merged = ("<<",) if any(each.code == codes.MERGE_KEY for each in session.facts) else ()
    reported = (*merged, *session.own_keys)
    if isinstance(kind.model, Mapping) or is_pydantic(kind.model):
        from equipage.loading.model_classes import build_by_others  # few models are such

        built = build_by_others(tree.value, kind.model, kind.shape, reported)
    else:
        built = build_model(tree.value, kind.model, kind.shape, reported)
    config, plain, found = built
    if session.is_layer:
        config, found = None, [each for each in found if is_of_layer(each, tree.value, kind)]
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

        for each in islice(find_invisible(source.text), _MAX_INVISIBLE_FINDINGS):
            span = Span(source, *each.range)
            fact = session.kind.adjust_severity(
                codes.INVISIBLE_CHARACTER.at(span=span, character=each.what)
            )
            if fact is not None:
                yield fact


def findings_together(own: Iterable[Diagnostic], outcomes: Sequence[Outcome]) -> list[Diagnostic]:
    """Findings about single loads, and those about some loads together, each reported once."""
    from equipage.loading.findings import merge_across_loads

    offers = [offer for each in outcomes if (offer := each.offer()) is not None]
    return merge_across_loads(chain(own, (each for _, each in findings_by_load(outcomes, offers))))


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
