"""`$include`: another file of the library, optionally with an `override` laid over it.

A file is read, parsed and resolved once, however often it is included; what an override does not touch stays
shared. An override is merged over the included content before anything in it is resolved: an `$include` in
an override therefore replaces what stood at its place, and an override over a file that is itself an include
reaches through it.

A file that includes itself, directly or through others, is reported once, where the cycle closes.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import Any

import msgspec

from equipage.core.codes import Code
from equipage.core.diagnostics import Fact, Part, Shown
from equipage.core.path import ROOT, Path
from equipage.core.source import Source, Span
from equipage.directives import find_directives
from equipage.files.reading import display_name
from equipage.files.sandbox import FileProblem, PathPolicy
from equipage.loading.session import Session
from equipage.loading.tree import HOLE, Origin, Origins, Story, Strategy, Tree, Via, graft, merge
from equipage.syntax.document import Document

KEY = "$include"
OVERRIDE = "override"
#: Includes nested deeper than this work, if the limit allows, but deserve a word.
DEPTH_WORTH_A_WARNING = 10


class IncludeSettings(msgspec.Struct, frozen=True):
    """What a kind decides about includes."""

    library: str
    policy: PathPolicy
    max_depth: int
    depth_variable: str | None = None
    depth_cap: int | None = None  #: the most the variable can be set to
    #: paths of plain strings that are includes too
    implicit: Callable[[Any], Iterable[Path]] = lambda _value: ()


class _Resolved(msgspec.Struct, frozen=True):
    """A file with everything in it included, and how many files deep it reaches."""

    tree: Tree
    height: int


def include(tree: Tree, session: Session, settings: IncludeSettings) -> tuple[Tree, list[Fact]]:
    """The tree with every `$include` replaced by what it stands for."""
    includer = _Includer(session, settings)
    root = tree.story(ROOT).origin.document.source
    tree, _ = includer.resolve(tree, (root,))
    implicit = {
        path: includer.expand_path(tree.at(path), _chain(root, tree.story(path)))
        for path in settings.implicit(tree.value)
    }
    return graft(tree, implicit), includer.facts


def _chain(root: Source, story: Story) -> tuple[Source, ...]:
    """The files that led to a value: those that include, and the one that holds it."""
    through = (via.at.document.source for via in story.via if via.at is not None)
    return tuple(dict.fromkeys((root, *through, story.origin.document.source)))


class _Includer:
    """The includes of one load: files resolved so far, and what was found."""

    def __init__(self, session: Session, settings: IncludeSettings) -> None:
        self.session = session
        self.settings = settings
        self.facts: list[Fact] = []
        self.names: list[str] | None = None
        self.resolved: dict[int, _Resolved] = {}

    def resolve(self, tree: Tree, chain: tuple[Source, ...]) -> tuple[Tree, int]:
        """The tree with its includes replaced, and the height of the tallest."""
        parts: dict[Path, Tree] = {}
        height = 0
        for path in self.find(tree, KEY):
            parts[path], reach = self.expand(tree.at(path), chain)
            height = max(height, reach)
        return graft(tree, parts), height

    def find(self, tree: Tree, key: str) -> list[Path]:
        """Where a key stands that the text of this tree's own file may mention."""
        return find_directives(tree.value, key, (tree.story(ROOT).origin.document,))

    def expand(self, node: Tree, chain: tuple[Source, ...]) -> tuple[Tree, int]:
        """What one `$include` mapping stands for."""
        reference = node.value[KEY]
        for name in node.value:
            if name not in (KEY, OVERRIDE):
                self.say_sibling(node, name)
        if not isinstance(reference, str) and not self.session.embedded:
            if reference is not HOLE:
                found_type = Shown(reference, as_found=True)
                self.say(
                    node,
                    "wrong-type",
                    {"expected": "a path as text", "found": found_type},
                    at=(KEY,),
                )
            return self.hole(node), 0
        found = self.file(node, reference, chain, at=(KEY,))
        if found is None:
            return self.hole(node), 0
        resolved, source = found
        included = self.brought(resolved.tree, node, (KEY,))
        if OVERRIDE not in node.value:
            return included, resolved.height
        override, height = self.resolve(node.at((OVERRIDE,)), (*chain, source))
        nested = set(self.find(node.at((OVERRIDE,)), KEY))
        merged = merge(
            included, override, lambda path, base, over: _strategy(path, base, over, nested)
        )
        return merged, max(resolved.height, height + 1)

    def expand_path(self, node: Tree, chain: tuple[Source, ...]) -> Tree:
        """What a path written where a mapping may stand stands for."""
        if self.session.embedded:
            self.say(
                node, "embedded-directive", {"directive": "a path", "found": Shown(node.value)}
            )
            return self.hole(node)
        found = self.file(node, node.value, chain, at=())
        return self.hole(node) if found is None else self.brought(found[0].tree, node, ())

    def file(
        self, node: Tree, reference: str, chain: tuple[Source, ...], *, at: Path
    ) -> tuple[_Resolved, Source] | None:
        """The resolved content of the file a directive names; None, with a finding, if it cannot be had."""
        settings = self.settings
        if self.session.embedded:
            self.say(
                node, "embedded-directive", {"directive": KEY, "found": Shown(reference)}, at=at
            )
            return None
        try:
            referred = self.session.refer(
                reference, settings.policy, bases=(settings.library,), roots=(settings.library,)
            )
        except FileProblem as problem:
            self.say_problem(node, at, reference, problem)
            return None
        if referred.outside:
            self.say(node, "absolute-path", {"reference": Shown(reference)}, at=at)
        source = referred.source
        if source in chain:
            self.say_cycle(node, at, (*chain, source))
            return None
        resolved = self.file_resolved(source, chain)
        depth = len(chain) + resolved.height
        if depth > settings.max_depth:
            self.say_depth(node, at, depth)
            return None
        if depth > DEPTH_WORTH_A_WARNING and len(chain) == 1:
            self.say(node, "include-deep", {"depth": depth}, at=at)
        return _Resolved(resolved.tree, resolved.height + 1), source

    def file_resolved(self, source: Source, chain: tuple[Source, ...]) -> _Resolved:
        known = self.resolved.get(id(source))
        if len(chain) > self.settings.max_depth:
            # Reported by the directive that led here; going on would never end.
            return known or _Resolved(
                Tree(HOLE, Origins(Origin(Document(source, "text", HOLE)))), 0
            )
        if known is None:
            known = self.resolved[id(source)] = self.parse_resolved(source, chain)
        return known

    def parse_resolved(self, source: Source, chain: tuple[Source, ...]) -> _Resolved:
        document, facts = self.session.parse(source)
        self.facts += facts
        if document is None:
            return _Resolved(Tree(HOLE, Origins(Origin(Document(source, "text", HOLE)))), 0)
        if document.value is None:
            self.facts.append(
                Fact("include-empty", values={"file": source.name}, span=Span(source, 0, 0))
            )
        tree = Tree.of(document)
        tree = graft(tree, {path: self.hole(tree.at(path)) for path in document.failed_paths()})
        return _Resolved(*self.resolve(tree, (*chain, source)))

    # ---------------------------------------------------------------------------------------------- results

    def brought(self, tree: Tree, node: Tree, at: Path) -> Tree:
        """The included tree, remembering the directive that brought it."""
        directive = node.story(ROOT).origin.child(at)
        via = (Via("included from here", directive), *tree.origins.via)
        return Tree(tree.value, tree.origins.changed(via=via))

    def hole(self, node: Tree) -> Tree:
        return Tree(HOLE, node.at(ROOT).origins)

    # --------------------------------------------------------------------------------------------- findings

    def say(
        self,
        node: Tree,
        code: str,
        values: dict[str, object] | None = None,
        *,
        at: Path = ROOT,
        part: Part = "value",
    ) -> None:
        """A fact about a part of a directive, placed in the file that wrote it."""
        self.facts.append(Fact(code, values=values or {}, part=part, origin=node.story(at).origin))

    def say_sibling(self, node: Tree, name: str) -> None:
        advice = "put it under `override:`, or remove it"
        values: dict[str, object] = {"directive": KEY, "key": Shown(name), "advice": advice}
        self.say(node, "directive-siblings", values, at=(name,), part="key")

    def say_problem(self, node: Tree, at: Path, reference: str, problem: FileProblem) -> None:
        values = {
            **problem.values,
            "reference": Shown(reference),
            "file": Shown(reference),
            "base": "the library",
        }
        values["variable"] = self.session.limits.file_bytes_variable
        if problem.code in ("file-missing", "file-is-directory"):
            origin = node.story(ROOT).origin
            library = self.shown(self.settings.library)
            guess = self.session.guesses.nearest(reference, self.names_in_library())
            values |= {
                "referrer": origin.document.source.name,
                "library": library,
                "nearest": guess,
            }
            self.say(node, "include-not-found", values, at=at)
        else:
            self.say(node, problem.code, values, at=at)

    def names_in_library(self) -> list[str]:
        """What could be included, looked up for the first file that is missing."""
        if self.names is None:
            self.names = self.session.files.names_below(self.settings.library)
        return self.names

    def say_depth(self, node: Tree, at: Path, depth: int) -> None:
        settings = self.settings
        can_be_set = settings.depth_cap is None or depth <= settings.depth_cap
        values: dict[str, object] = {
            "nested": "1 file" if depth == 1 else f"{depth} files",
            "depth": depth,
            "limit": settings.max_depth,
            "variable": settings.depth_variable if can_be_set else None,
        }
        self.say(node, "include-depth", values, at=at)

    def say_cycle(self, node: Tree, at: Path, chain: tuple[Source, ...]) -> None:
        """A cycle, from where it is entered to where it closes."""
        ring = chain[chain.index(chain[-1]) :]
        names = [self.library_name(each) for each in ring]
        listed = "\n".join(f"{number}. {name}" for number, name in enumerate(names, 1))
        values: dict[str, object] = {"chain": " → ".join(names), "listed": f"{listed} ← cycle"}
        self.say(node, "include-cycle", values, at=at)

    def library_name(self, source: Source) -> str:
        if source.path is None:
            return source.name
        root = os.path.realpath(self.settings.library).rstrip(os.sep) + os.sep
        return (
            source.path.removeprefix(root).replace(os.sep, "/")
            if source.path.startswith(root)
            else source.name
        )

    def shown(self, folder: str) -> str:
        return display_name(os.path.join(self.session.files.cwd, folder), self.session.files.cwd)


def _strategy(path: Path, base: Any, over: Any, nested: set[Path]) -> Strategy:
    """A directive in an override replaces what it lands on, unless that is the same directive."""
    if path in nested:
        return "replace"
    if isinstance(base, dict) and isinstance(over, dict):
        for key in ("$file", "$generate"):
            if key in over and key not in base:
                return "replace"
    return "merge"


#: What an author may write in place of what it stands for.
SCHEMA: dict[str, Any] = {
    "title": "an include",
    "description": "Replaced by the content of another file of the library, with `override` laid over it.",
    "type": "object",
    "properties": {
        KEY: {"type": "string", "description": "The file, from the root of the library."},
        OVERRIDE: {"description": "What to change in the included content."},
    },
    "required": [KEY],
}

CODES: tuple[Code, ...] = (
    Code(
        "include-not-found",
        "error",
        "Include not found: {reference} (referenced from {referrer})",
        "The included file is not in the library. Include paths always start at the library root, never at the file "
        "that includes.",
        "did you mean `{nearest}`?; paths start at the library, {library}; name another one with --library",
    ),
    Code(
        "include-cycle",
        "error",
        "Circular include detected: {chain}",
        "A file includes itself, directly or through other files, so it could never be finished.",
        "Include chain:\n{listed}\nRemove one of these includes to break the cycle.",
    ),
    Code(
        "include-depth",
        "error",
        "includes are nested {nested} deep (limit: {limit})",
        "The number of files between the configuration and what it includes is limited.",
        "flatten the chain; or set {variable}={depth}",
    ),
    Code(
        "include-deep",
        "warning",
        "includes are nested {depth} files deep",
        "It works, but nobody can follow such a chain.",
        "flatten the chain",
    ),
    Code(
        "include-empty",
        "warning",
        "the included file {file} is empty",
        "An empty file stands for null, which is rarely meant.",
    ),
    # Found where a key has no meaning: elsewhere, as in a schema, `override` is data like any other.
    Code(
        "orphan-override",
        "warning",
        "`override` without `$include` beside it has no effect",
        "Only the `override` of an `$include` is merged; elsewhere it is a key nobody reads.",
        "add `$include`, or write the entries directly",
    ),
    Code(
        "directive-siblings",
        "warning",
        "`{key}` beside `{directive}` is dropped",
        "The whole mapping is replaced by what the directive stands for; other keys in it are lost.",
        "{advice}",
    ),
    Code(
        "embedded-directive",
        "error",
        "{directive} is not supported in embedded scenarios: {found}",
        "An embedded configuration is loaded from a string, without a disk: it cannot read other files.",
        "write the content in place of the directive",
    ),
)
