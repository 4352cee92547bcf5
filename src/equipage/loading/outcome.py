"""The outcomes of loads, one by one and together.

`build_outcome` places and words the facts of a load, and freezes what has no errors;
`findings_by_load` applies the rules about several files, such as duplicate names and broken
references between files.

The modules that word findings are imported when there are any: most files have none.
"""

from __future__ import annotations

import itertools
import os
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from equipage.core.codes import CORE_CODES
from equipage.core.diagnostics import Code, Diagnostic, Fact, LoadError
from equipage.core.frozen import freeze
from equipage.core.source import Source
from equipage.core.text import nearest
from equipage.directives.composing import codes_of_format
from equipage.loading.format import Format, Offer
from equipage.loading.session import Session
from equipage.loading.tree import Tree
from equipage.syntax.document import Document

if TYPE_CHECKING:
    from equipage.loading.findings import PendingIgnore
    from equipage.loading.result import Loaded

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
    if not ignoring:  # a comment may be about any of them
        if session.errors_only:
            facts = [each for each in facts if (each.severity or each.code.severity) == "error"]
        elif session.unasked:
            facts = [each for each in facts if each.code not in session.unasked]
    if not facts and not ignoring:
        return [], []
    from equipage.loading.findings import Placer, apply_ignores, codes_in_comments, limit_findings

    sources = session.files.sources()
    placer = Placer(tree, documents, file=file, sources=sources)
    if not ignoring:
        return placer.place(facts), []
    # What a comment silences does not count among the findings that are shown.
    placed, more = placer.place_and_count(session.facts, codes_in_comments(ignoring))
    fixed = [each for each in placed if each.severity == "error" and not silence_errors]
    rest = [each for each in placed if each.severity != "error"] if fixed else placed
    later, hidden = session.kind.together.codes, {code for code, *_ in more}
    left, waiting = apply_ignores(
        rest, ignoring, lambda: _codes_for_comments(session, ignoring), fixed, later, hidden
    )
    return limit_findings(sorted([*fixed, *left], key=Diagnostic.sort_key), more), waiting


def _codes_for_comments(session: Session, sources: Iterable[Source]) -> Mapping[str, Code]:
    """The codes that a comment in a file of this load may name."""
    known_codes = session.run.request.known_codes
    if known_codes is not None:
        known = known_codes(session.kind)
    else:
        known = {code.name: code for code in (*CORE_CODES, *codes_of_format(session.kind))}
    if not session.kind.rules and not session.more_rules:
        return known
    from equipage.loading.findings import codes_in_comments
    from equipage.loading.rules import code_of_rule

    # Only a rule knows its codes: a name that resembles no other may be one of them.
    others = (name for name in codes_in_comments(sources) if nearest(name, known) is None)
    return {**{name: code_of_rule(name) for name in others}, **known}


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
        for outcome, each in itertools.chain.from_iterable(made):
            facts.setdefault(id(outcome), (outcome, []))[1].append(each)
        for outcome, those in facts.values():
            yield from ((outcome, each) for each in place_in_outcome(outcome, those))
