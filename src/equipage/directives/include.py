"""`$include`: another file of the library, optionally with an `override` merged over it.

A file is read, parsed and resolved once, however often it is included; what an override does not
touch stays shared. An override is merged over the included content before anything in it is
resolved: an `$include` in an override replaces what was at its place, and an override over a file
that is itself an include reaches through it.

A file that includes itself, directly or through others, is reported once, where the cycle closes.
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
from equipage.directives import Directive, Expansion, Node, codes
from equipage.files.reading import display_name
from equipage.files.sandbox import FileProblem, PathPolicy
from equipage.loading.session import Session
from equipage.loading.tree import HOLE, Strategy, Tree, graft, merge
from equipage.syntax.document import Document

OVERRIDE = "override"
#: Includes nested deeper than this work, if the limit allows, but deserve a warning.
DEPTH_WORTH_A_WARNING = 10


class _Content(msgspec.Struct, frozen=True):
    """A file with everything in it included, and how many files deep its includes reach."""

    tree: Tree
    height: int = 0


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
        content = self._content(source, expansion)
        if self._is_too_deep(node, len(expansion.chain) + content.height, expansion):
            return node.hole()
        expansion.height = max(expansion.height, content.height + 1)
        included = node.bring(content.tree, "included from here")
        if not node.at or OVERRIDE not in node.value:
            return included
        # The includes of an override count as made inside the included file.
        inner = expansion.inside((*expansion.chain, source))
        override = node.tree.at((OVERRIDE,))
        nested = set(inner.find(override))
        override = inner.walk(override)
        expansion.height = max(expansion.height, inner.height + 1)

        def strategy(path: Path, base: Any, over: Any) -> Strategy:
            """A directive replaces what it lands on, unless that is the same directive."""
            both = isinstance(base, dict) and isinstance(over, dict)
            other = both and any(key in over and key not in base for key in ("$file", "$generate"))
            return "replace" if path in nested or other else "merge"

        return merge(included, override, strategy)

    def _content(self, source: Source, expansion: Expansion) -> _Content:
        """A file with its includes resolved, made once."""
        known = self.contents.get(id(source))
        if known is not None:
            return known
        nothing = Document(source, "text", HOLE)
        if len(expansion.chain) > self.max_depth:
            return _Content(Tree.of(nothing))  # the directive that led here is too deep
        document, facts = expansion.session.parse(source)
        document = document or nothing
        expansion.facts += facts
        if document.value is None:
            empty = codes.INCLUDE_EMPTY.at(span=Span(source, 0, 0), file=source.name)
            expansion.facts.append(empty)
        tree = Tree.of(document)
        # Where a variable has no value, the text has no meaning.
        failed = document.failed_paths()
        tree = graft(tree, {path: Node(tree.at(path), path).hole() for path in failed})
        inner = expansion.inside((*expansion.chain, source), (document,))
        tree = inner.walk(tree)
        content = self.contents[id(source)] = _Content(tree, inner.height)
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
        ring = [*expansion.chain[expansion.chain.index(source) :], source]
        names = [self._name_in_library(each) for each in ring]
        listed = "\n".join(f"{number}. {name}" for number, name in enumerate(names, 1))
        chain = " → ".join(names)
        expansion.report(node, codes.INCLUDE_CYCLE, chain=chain, listed=f"{listed} ← cycle")
        return None

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
