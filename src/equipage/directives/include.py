"""`$include`: another file of the library, optionally with an `override` merged over it.

A file is read and parsed once, however often it is included, and each of its own includes is
expanded once; what an override does not touch stays shared. An override is merged over the content
as it is written; then what is left of it is expanded. So an include that an override replaces is
never read, an override may change the `$include` and the `override` of another include, and one
that lands on an include without naming either reaches through it, into the included content.

A file that includes itself, directly or through others, is reported where the cycle closes.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import Any, ClassVar

import msgspec

from equipage import files as system
from equipage.core import codes as core_codes
from equipage.core.diagnostics import Code, Fact, Shown
from equipage.core.path import ROOT, Path
from equipage.core.source import Source, Span
from equipage.directives import Directive, Expansion, Node, codes, find
from equipage.files.reading import display_name
from equipage.files.sandbox import FileProblem, PathPolicy
from equipage.loading.session import Session
from equipage.loading.tree import HOLE, Origins, Strategy, Tree, get, graft, merge, with_holes
from equipage.syntax.document import Document

OVERRIDE = "override"
#: Includes nested deeper than this work, if the limit allows, but deserve a warning.
DEPTH_WORTH_A_WARNING = 10
#: More includes that an override changed are not expanded: each can change others, and so on.
MOST_OVERRIDDEN = 30_000


#: The files that a part leads to, each with those on the way to it, itself included.
Reached = dict[Source, tuple[Source, ...]]


class _Part(msgspec.Struct, frozen=True):
    """What an `$include` was replaced by, how many files deep it reaches, and which they are."""

    tree: Tree
    height: int
    reached: Reached


class _Content(msgspec.Struct):
    """A file that was included: as it was parsed, and what its own includes came to so far.

    These are expanded when they are needed: an override may replace one that cannot be read.
    """

    document: Document
    tree: Tree
    includes: list[Path]
    parts: dict[Path, _Part] = {}
    whole: _Part | None = None


_DIRECTIVES = ("$include", "$file", "$generate")


class Include(Directive):
    """What a kind decides about includes, and the files that one load included so far."""

    key: ClassVar[str] = "$include"
    codes: ClassVar[tuple[Code, ...]] = codes.INCLUDE_CODES

    library: str
    shelf: tuple[str, ...]  #: the library, if it may be read
    policy: PathPolicy
    max_depth: int
    depth_variable: str | None = None  #: the environment variable that sets `max_depth`
    depth_cap: int | None = None  #: the most that variable can be set to
    #: paths of texts that are includes, too
    implicit: Callable[[Any], Iterable[Path]] = lambda _value: ()
    #: by the identity of their sources
    contents: dict[int, _Content] = msgspec.field(default_factory=dict)
    overridden: int = 0  #: how many includes were expanded that an override changed
    names: list[str] | None = None  #: the files of the library, listed for the first typo

    @classmethod
    def schema(cls) -> dict[str, Any]:
        return {
            "title": "an include",
            "description": "Replaced by the content of another file of the library, with `override`"
            " laid over it.",
            "type": "object",
            "properties": {
                cls.key: {"type": "string", "description": "The file, from the library's root."},
                OVERRIDE: {"description": "What to change in the included content."},
            },
            "required": [cls.key],
        }

    def resolve(self, tree: Tree, session: Session) -> tuple[Tree, list[Fact]]:
        """A stage: the tree with every `$include`, and then every implicit one, replaced."""
        root = tree.story(ROOT).origin.document
        expansion = Expansion(session, self, documents=(root,), chain=(root.source,))
        tree = expansion.walk(tree)
        parts: dict[Path, Tree] = {}
        for path in self.implicit(tree.value):
            # The files that led to this text: those that include each other, and its own.
            story = tree.story(path)
            through = [via.at.document.source for via in story.via if via.at is not None]
            chain = dict.fromkeys((root.source, *through, story.origin.document.source))
            parts[path] = self.expand(Node(tree.at(path), path), expansion.inside(tuple(chain)))
        return graft(tree, parts), expansion.facts

    def expand(self, node: Node, expansion: Expansion) -> Tree:
        if node.at:
            advice = "put it under `override:`, or remove it"
            expansion.report_siblings(node, OVERRIDE, advice=advice)
        source = self._source(node, expansion)
        if source is None:
            return node.hole()
        if len(expansion.chain) > (self.depth_cap or self.max_depth):
            # Nothing deeper is read; the directive that led here is reported below.
            part = _Part(Tree(HOLE, node.tree.origins), 0, {})
        else:
            # The includes of an override count as made inside the included file.
            content = self._content(source, expansion)
            inner = expansion.inside((*expansion.chain, source), (content.document,))
            part = self._composed(node, content, inner)
        if self._is_too_deep(node, len(expansion.chain) + part.height, expansion):
            return node.hole()
        expansion.height = max(expansion.height, part.height + 1)
        expansion.reached.setdefault(source, (source,))
        for each, way in part.reached.items():
            expansion.reached.setdefault(each, (source, *way))
        return part.tree

    def _composed(self, node: Node, content: _Content, inner: Expansion) -> _Part:
        """The content of a file in place of a node: overridden first, then expanded."""
        how = "included from here"
        if node.at and OVERRIDE in node.value and content.tree.value is not HOLE:
            override = _reaching_through(content.tree.value, node.tree.at((OVERRIDE,)))
            tree = merge(node.bring(content.tree, how), override, _strategy)
            places = {*content.includes, *find(override.value, self.matches)}
            parts = self._expanded(content, tree, sorted(places, key=len), inner)
            return _Part(graft(tree, parts), inner.height, inner.reached)
        whole = content.whole
        if whole is None or not whole.reached.keys().isdisjoint(inner.chain):
            parts = self._expanded(content, content.tree, content.includes, inner)
            whole = _Part(graft(content.tree, parts), inner.height, inner.reached)
            content.whole = content.whole or whole
        return _Part(node.bring(whole.tree, how), whole.height, whole.reached)

    def _expanded(
        self, content: _Content, tree: Tree, places: list[Path], inner: Expansion
    ) -> dict[Path, Tree]:
        """What the includes of a tree come to; those as the file has them are expanded once."""
        parts: dict[Path, Tree] = {}
        for path in places:
            value = get(tree.value, path)
            if not isinstance(value, dict) or not self.matches(value):
                continue  # an override replaced it
            if any(path[:length] in parts for length in range(len(path))):
                continue  # it is in the override of another include
            own = value is get(content.tree.value, path)
            known = content.parts.get(path) if own else None
            node = Node(tree.at(path), path, (self.key,))
            ways = () if known is None else map(known.reached.get, inner.chain)
            if back := min(filter(None, ways), key=len, default=None):
                self._report_cycle(node, (*inner.chain, *back), inner)
                parts[path] = node.hole()
                continue
            if known is None:
                self.overridden += not own
                if self.overridden == MOST_OVERRIDDEN:
                    limit = MOST_OVERRIDDEN
                    inner.report(node, core_codes.COMPOSED_TOO_LARGE, limit=limit)
                if self.overridden >= MOST_OVERRIDDEN:
                    parts[path] = node.hole()
                    continue
                sub = inner.inside(inner.chain)
                known = _Part(self.expand(node, sub), sub.height, sub.reached)
                if own:
                    content.parts[path] = known
            parts[path] = known.tree
            inner.height = max(inner.height, known.height)
            for each, way in known.reached.items():
                inner.reached.setdefault(each, way)
        return parts

    def _content(self, source: Source, expansion: Expansion) -> _Content:
        """A file as it is written, parsed once."""
        known = self.contents.get(id(source))
        if known is not None:
            return known
        document, facts = expansion.session.parse(source)
        document = document or Document(source, "text", HOLE)
        expansion.facts += facts
        if document.value is None:
            empty = codes.INCLUDE_EMPTY.at(span=Span(source, 0, 0), file=source.name)
            expansion.facts.append(empty)
        # Where a variable has no value, the text has no meaning.
        tree = with_holes(Tree.of(document), document.failed_paths())
        includes = expansion.inside(expansion.chain, (document,)).find(tree)
        content = self.contents[id(source)] = _Content(document, tree, includes)
        return content

    # ---------------------------------------------------------------------- what can be wrong

    def _source(self, node: Node, expansion: Expansion) -> Source | None:
        """The file of the library that a node names; None, with a finding, if it cannot be read."""
        try:
            source = expansion.source(node, self.policy, bases=(self.library,), roots=self.shelf)
        except FileProblem as problem:
            self._report_problem(node, problem, expansion)
            return None
        if source is None or source not in expansion.chain:
            return source
        self._report_cycle(node, (*expansion.chain, source), expansion)
        return None

    def _report_cycle(self, node: Node, way: tuple[Source, ...], expansion: Expansion) -> None:
        """Report that the last file on a way was on it before."""
        ring = way[way.index(way[-1]) :]
        names = [self._name_in_library(each) for each in ring]
        listed = "\n".join(f"{number}. {name}" for number, name in enumerate(names, 1))
        chain = " → ".join(names)
        expansion.report(node, codes.INCLUDE_CYCLE, chain=chain, listed=f"{listed} ← cycle")

    def _report_problem(self, node: Node, problem: FileProblem, expansion: Expansion) -> None:
        session, shown = expansion.session, Shown(node.reference)
        values: dict[str, Any] = {**problem.values, "reference": shown, "file": shown}
        values |= {"base": "the library", "variable": session.limits.file_bytes_variable}
        code = problem.code
        if code in (core_codes.FILE_MISSING, core_codes.FILE_IS_DIRECTORY):
            code = codes.INCLUDE_NOT_FOUND
            if self.names is None:
                self.names = session.files.names_below(self.library)
            cwd = session.files.cwd
            values["referrer"] = node.tree.story(ROOT).origin.document.source.name
            there = session.files.is_folder(os.path.join(cwd, self.library))
            name = display_name(os.path.join(cwd, self.library), cwd)
            values["library"] = name if there else f"{name}, which does not exist"
            # An extension that all files share says nothing about which one was meant.
            stems = {os.path.splitext(name)[0]: name for name in self.names}
            guess = session.guesses.nearest(os.path.splitext(node.reference)[0], stems)
            values["nearest"] = stems.get(guess) if guess is not None else None
        expansion.report(node, code, **values)

    def _is_too_deep(self, node: Node, depth: int, expansion: Expansion) -> bool:
        if depth > self.max_depth:
            if len(expansion.chain) > self.max_depth + 1:
                return False  # beyond the limit, files are only counted, for the advice
            can_be_set = self.depth_cap is None or depth <= self.depth_cap
            values: dict[str, Any] = {"depth": depth, "limit": self.max_depth}
            values["nested"] = "1 file" if depth == 1 else f"{depth} files"
            values["variable"] = self.depth_variable if can_be_set else None
            expansion.report(node, codes.INCLUDE_DEPTH, **values)
            return True
        # Only the outermost include of a chain warns.
        if depth > DEPTH_WORTH_A_WARNING and len(expansion.chain) == 1:
            expansion.report(node, codes.INCLUDE_DEEP, depth=depth)
        return False

    def _name_in_library(self, source: Source) -> str:
        root = system.real_path(self.library).rstrip(os.sep) + os.sep
        if source.path is None or not source.path.startswith(root):
            return source.name
        return source.path.removeprefix(root).replace(os.sep, "/")


def _strategy(_path: Path, base: Any, over: Any) -> Strategy:
    """A directive replaces what it lands on, unless that is the same directive."""
    if not isinstance(base, dict) or not isinstance(over, dict):
        return "merge"
    new = [key for key in _DIRECTIVES if key in over and key not in base]
    return "replace" if new and not (new == [Include.key] and OVERRIDE in base) else "merge"


def _reaching_through(base: Any, override: Tree) -> Tree:
    """An override whose parts that land on an include are below an `override` of their own."""
    over = override.value
    if not isinstance(base, dict) or not isinstance(over, dict):
        return override
    if Include.key in base and not any(key in over for key in (*_DIRECTIVES, OVERRIDE)):
        over, origins = {OVERRIDE: over}, override.origins
        override = Tree(over, Origins(origins.here, below={OVERRIDE: origins}))
    elif _strategy(ROOT, base, over) == "replace":
        return override
    parts: dict[Path, Tree] = {}
    for key in over.keys() & base.keys():
        part = _reaching_through(base[key], override.at((key,)))
        if part.value is not over[key]:
            parts[key,] = part
    return graft(override, parts)
