"""`$include`: another file of the library, optionally with an `override` merged over it.

The order is the seed's: read the file, merge the override over it as it is written, then expand
what is left. So an include that an override replaces is never read, an override may change the
`$include` and the `override` of another include, and one that lands on an include without naming
either reaches through it, into the included content.

A file is read and parsed once, however often it is included, and each of its own includes is
expanded once. What an override does not touch stays shared.

A file that includes itself, directly or through others, is reported where the cycle closes.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, ClassVar

import msgspec
from msgspec.structs import replace

from equipage.core import codes as core_codes
from equipage.core.diagnostics import Code, Fact, Shown
from equipage.core.path import HOLE, ROOT, Path, get
from equipage.core.source import Source, Span
from equipage.directives import (
    Directive,
    Expansion,
    Node,
    codes,
    find,
    lacks_library,
    related_places,
)
from equipage.files import System, display_name
from equipage.files.sandbox import FileProblem, PathPolicy
from equipage.loading.tree import Origin, Origins, Strategy, Tree, Via, graft, merge, punch_holes
from equipage.syntax.document import Document

if TYPE_CHECKING:
    from equipage.loading.session import Session

OVERRIDE = "override"
#: Includes nested deeper than this work, if the limit allows, but deserve a warning.
MAX_DEPTH_WITHOUT_WARNING = 10
#: More includes that overrides changed, beyond those that are written out, are not expanded: an
#: override can change many others, and each of these as many again.
MAX_CHANGED_INCLUDES = 50_000
#: Hardly an include is written in fewer bytes, so those that are written out are not too many.
_MIN_INCLUDE_BYTES = 10
_VIA_TEXT = "included from here"
_DIRECTIVES = ("$include", "$file", "$generate")


class _Route(msgspec.Struct, frozen=True):
    """How an include leads to a file."""

    files: tuple[Source, ...]  #: those on the way, the file itself last
    nodes: tuple[Node, ...] = ()  #: the includes that name them, without that of the first file


class _ExpandedInclude(msgspec.Struct, frozen=True):
    """The tree of an expanded `$include`, how many files deep it reaches, and which files."""

    tree: Tree
    height: int = 0
    reached: dict[Source, _Route] = {}


class _Content(msgspec.Struct, frozen=True):
    """A file as it is written, and those of its includes that were expanded so far.

    These are expanded when they are needed: an override may replace one that cannot be read.
    """

    document: Document
    tree: Tree
    includes: list[Path]  #: where its outermost includes are
    parts: dict[Path, _ExpandedInclude] = msgspec.field(default_factory=dict)
    #: the file with its includes expanded, without some of them
    wholes: dict[tuple[Path, ...], _ExpandedInclude] = msgspec.field(default_factory=dict)


class Include(Directive):
    """What a kind decides about includes, and the files that one load included so far."""

    key: ClassVar[str] = "$include"
    orphan: ClassVar[Code] = codes.ORPHAN_OVERRIDE  #: an override beside no include
    codes: ClassVar[tuple[Code, ...]] = codes.INCLUDE_CODES

    library: str | None  #: where paths start; None: at the folder of the file that includes
    shelf: tuple[str, ...]  #: the folders that may be read
    policy: PathPolicy
    max_depth: int
    option: str | None = None  #: what names another library
    override: str = OVERRIDE  #: the key of what is laid over the included content
    depth_variable: str | None = None  #: the environment variable that sets `max_depth`
    depth_cap: int | None = None  #: the most that variable can be set to
    #: paths of texts that are includes, too
    implicit: Callable[[Any], Iterable[Path]] = lambda _value: ()
    #: by the identity of their sources
    contents: dict[int, _Content] = msgspec.field(default_factory=dict)
    changed: int = 0  #: how many includes were expanded that an override brought or changed
    #: folder → the files below it, listed for the first typo
    names: dict[str, list[str]] = msgspec.field(default_factory=dict)

    @classmethod
    def schema(cls, override: str = OVERRIDE, start: str = "the library's root") -> dict[str, Any]:
        return {
            "title": "an include",
            "description": f"Replaced by another file, with `{override}` laid over its content.",
            "type": "object",
            "properties": {
                cls.key: {"type": "string", "description": f"The file, from {start}."},
                override: {"description": "What to change in the included content."},
            },
            "required": [cls.key],
        }

    def resolve(self, tree: Tree, session: Session) -> tuple[Tree, list[Fact]]:
        """A stage: the tree with every `$include`, and then every implicit one, replaced."""
        root = tree.provenance(ROOT).origin.document
        expansion = Expansion(session, (self,), (root,), {root.source: ()})
        tree = expansion.walk(tree)
        parts: dict[Path, Tree] = {}
        for path in self.implicit(tree.value):
            story = tree.provenance(path)
            # The files that led to this text: those that include each other, and its own.
            chain = {root.source: story.via[:0]}
            for number, via in enumerate(story.via):
                if via.at is not None:
                    chain.setdefault(via.at.document.source, story.via[:number])
            chain.setdefault(story.origin.document.source, story.via)
            node = Node(tree.subtree(path), path, via=story.via)
            parts[path] = self.expand(node, expansion.nest(chain))
        return graft(tree, parts), expansion.facts

    def expand(self, node: Node, expansion: Expansion) -> Tree:
        return self._expand_node(node, expansion).tree

    def _expand_node(self, node: Node, expansion: Expansion) -> _ExpandedInclude:
        """Expand a node; a hole, with a finding, if it fails."""
        if node.at:
            advice = f"put it under `{self.override}:`, or remove it"
            expansion.report_siblings(node, self.override, advice=advice)
        origin = node.origin
        source = self._find_source(node, origin, expansion)
        if source is None:
            return _ExpandedInclude(node.hole())
        # Beyond the limit, files are only counted, for the advice; beyond the cap, not even that.
        if len(expansion.chain) > (self.depth_cap or self.max_depth):
            part = _ExpandedInclude(node.hole(), 1)
        else:
            via = (*node.via, Via(_VIA_TEXT, origin))
            inner = expansion.nest({**expansion.chain, source: via})
            part = self._compose(node, self._parse_content(source, inner), inner)
        depth = len(expansion.chain) - 1 + part.height
        return _ExpandedInclude(node.hole()) if self._is_too_deep(node, depth, expansion) else part

    def _compose(self, node: Node, content: _Content, inner: Expansion) -> _ExpandedInclude:
        """A file in place of a node: its override is merged over it, then the rest is expanded."""
        has_override = node.at and self.override in node.value
        # Nothing is known about an override of a file that could not be parsed.
        if not has_override or content.tree.value is HOLE:
            whole = self._expand_whole(content, (), inner)
            tree = node.replace_with(whole.tree, _VIA_TEXT)
            return _ExpandedInclude(tree, whole.height, whole.reached)
        override = node.tree.subtree((self.override,))
        if content.includes:
            override = self._push_into_includes(content.tree.value, override)
        touched = [
            path for path in content.includes if self._touches_path(override.value, content, path)
        ]
        whole = self._expand_whole(content, tuple(touched), inner)
        tree = merge(node.add_via(whole.tree, _VIA_TEXT), override, self._merge_strategy)
        paths = [*touched, *find(override.value, self.matches)]
        places = self._outermost_includes(tree, paths) if paths else []
        if not places:
            return _ExpandedInclude(node.put_in_place(tree), whole.height, whole.reached)
        # The includes of an override count as made inside the included file.
        rest = self._expand_places(content, tree, places, inner, {})
        height = max(whole.height, rest.height)
        return _ExpandedInclude(node.put_in_place(rest.tree), height, whole.reached | rest.reached)

    def _outermost_includes(self, tree: Tree, paths: Iterable[Path]) -> list[Path]:
        """Those of `paths` that lead to an include, without those inside another include."""
        found: dict[Path, None] = {}
        for path in sorted(paths, key=len):
            value = get(tree.value, path)
            is_include = isinstance(value, dict) and self.matches(value)
            if is_include and not any(path[:depth] in found for depth in range(len(path))):
                found[path] = None
        return list(found)

    def _expand_whole(
        self, content: _Content, without: tuple[Path, ...], inner: Expansion
    ) -> _ExpandedInclude:
        """A file with its own includes expanded, `without` some of them."""
        known = content.wholes.get(without)
        # What is fine elsewhere may close a cycle here, by leading to more than the file itself.
        if known is None or len(known.reached.keys() & inner.chain.keys()) > 1:
            places = [path for path in content.includes if path not in without]
            known = self._expand_places(content, content.tree, places, inner, content.parts)
            content.wholes.setdefault(without, known)
        return known

    def _expand_places(
        self,
        content: _Content,
        tree: Tree,
        places: list[Path],
        inner: Expansion,
        known: dict[Path, _ExpandedInclude],
    ) -> _ExpandedInclude:
        """The tree of a file with the includes at some places expanded; each is `known` then."""
        source = content.document.source
        is_changed = tree is not content.tree  # by an override
        parts: dict[Path, Tree] = {}
        reached: dict[Source, _Route] = {source: _Route((source,))}
        height = 0
        for path in places:
            written = tree.provenance((*path, self.key)).origin.document.source
            node = Node(tree.subtree(path), path, (self.key,), inner.chain.get(written, ()))
            part = known.get(path)
            if part is None:
                if is_changed and self._exceeds_changed_limit(node, inner):
                    return _ExpandedInclude(node.hole())
                part = known[path] = self._expand_node(node, inner)
            elif back := self._shortest_route_back(part, inner.chain):
                # Where the cycle closes, not where it was noticed: that depends on what was
                # expanded before.
                *nodes, last = (node, *back.nodes)
                via = (*node.via, *(Via(_VIA_TEXT, each.origin) for each in nodes))
                closing = replace(last, via=via)
                self._report_cycle(closing, (*inner.chain, *back.files), inner)
                part = _ExpandedInclude(node.hole())
            parts[path] = part.tree
            height = max(height, part.height)
            for each, way in part.reached.items():
                reached.setdefault(each, _Route((source, *way.files), (node, *way.nodes)))
        return _ExpandedInclude(graft(tree, parts), 1 + height, reached)

    def _parse_content(self, source: Source, inner: Expansion) -> _Content:
        """A file as it is written, parsed once."""
        known = self.contents.get(id(source))
        if known is not None:
            return known
        document, facts = inner.session.parse(source)
        document = document or Document(source, "text", HOLE)
        if document.value is None:
            empty = codes.INCLUDE_EMPTY.at(span=Span(source, 0, 0), file=source.name)
            facts = [*facts, empty]
        if facts:
            also = related_places(inner.chain[source])
            inner.facts += [replace(each, also=(*each.also, *also)) for each in facts]
        # Where a variable has no value, the text has no meaning.
        tree = punch_holes(Tree.from_document(document), document.failed_paths())
        includes = find(tree.value, self.matches) if document.may_mention(self.key) else []
        content = self.contents[id(source)] = _Content(document, tree, includes)
        return content

    # ---------------------------------------------------------------------- what can be wrong

    def _find_source(self, node: Node, origin: Origin, expansion: Expansion) -> Source | None:
        """The file of the library that a node names; None, with a finding, if it cannot be read."""
        roots, reference = self.shelf, node.reference
        if not (isinstance(reference, str) and os.path.isabs(reference)):
            roots = (*roots, *expansion.session.roots)  # for links in the library
        start = self._start(origin, expansion.session)
        try:
            source = expansion.find_source(node, self.policy, bases=(start,), roots=roots)
        except FileProblem as problem:
            self._report_problem(node, start, problem, expansion)
            return None
        if source is None or source not in expansion.chain:
            return source
        self._report_cycle(node, (*expansion.chain, source), expansion)
        return None

    def _start(self, origin: Origin, session: Session) -> str:
        """The folder where the path of an include starts."""
        if self.library is not None:
            return self.library
        file = origin.document.source.filename
        return session.base if file is None else os.path.dirname(file)

    def _shortest_route_back(
        self, part: _ExpandedInclude, chain: Iterable[Source]
    ) -> _Route | None:
        """The shortest way by which a part leads to a file of the chain again."""
        ways = (part.reached[each] for each in chain if each in part.reached)
        return min(ways, key=lambda way: len(way.files), default=None)

    def _report_cycle(self, node: Node, way: tuple[Source, ...], expansion: Expansion) -> None:
        """Report that the last file on a way was on it before."""
        ring = way[way.index(way[-1]) :]
        system = expansion.session.files.system
        names = [self._name_in_library(each, system) for each in ring]
        listed = "\n".join(f"{number}. {name}" for number, name in enumerate(names, 1))
        chain = " → ".join(names)
        expansion.report(node, codes.INCLUDE_CYCLE, chain=chain, listed=f"{listed} ← cycle")

    def _exceeds_changed_limit(self, node: Node, expansion: Expansion) -> bool:
        """Count an include that an override changed; returns whether there are too many."""
        self.changed += 1
        if self.changed <= MAX_CHANGED_INCLUDES:
            return False
        written = sum(len(source.data) for source in expansion.session.files.sources())
        limit = MAX_CHANGED_INCLUDES + written // _MIN_INCLUDE_BYTES
        if self.changed == limit + 1:
            expansion.report(node, core_codes.COMPOSED_TOO_LARGE, limit=f"{limit} includes")
        return self.changed > limit

    def _report_problem(
        self, node: Node, start: str, problem: FileProblem, expansion: Expansion
    ) -> None:
        session, shown = expansion.session, Shown(node.reference)
        values: dict[str, Any] = {**problem.values, "reference": shown, "file": shown}
        base = "the library" if self.library is not None else "the folder of the file"
        values |= {"base": base, "variable": session.limits.file_bytes_variable}
        code = problem.code
        is_absent = lacks_library(self.library, self.shelf, session)
        if code in (core_codes.FILE_MISSING, core_codes.FILE_IS_DIRECTORY) or (
            is_absent and code is core_codes.REFERENCE_ESCAPES  # there is nothing to leave
        ):
            code = codes.INCLUDE_NOT_FOUND
            cwd = session.files.cwd
            if start not in self.names:
                self.names[start] = [] if is_absent else session.files.names_below(start)
            values["referrer"] = node.tree.provenance(ROOT).origin.document.source.name
            there = not is_absent and session.files.is_folder(os.path.join(cwd, start))
            name = display_name(os.path.join(cwd, start), cwd)
            name = name if there else f"{name}, which does not exist"
            if not os.path.isabs(node.reference):
                values["library" if self.library is not None else "start"] = name
                values["option"] = self.option
            is_folder = problem.code is core_codes.FILE_IS_DIRECTORY
            values["folder"] = shown if is_folder else None
            values["nearest"] = self._guess_file(node.reference, self.names[start], session)
        expansion.report(node, code, **values)

    def _guess_file(self, reference: str, names: list[str], session: Session) -> str | None:
        """The file of the library that a reference was most likely meant for."""
        # A path from somewhere else, such as `library/a.yaml`, ends like one from the library.
        parts = reference.replace("\\", "/").split("/")
        ends = ("/".join(parts[number:]) for number in range(1, len(parts)))
        same = next((end for end in ends if end in names), None)
        if same is not None:
            return same
        # An extension that all files share says nothing about which one was meant.
        stems = {os.path.splitext(name)[0]: name for name in names}
        guess = session.guesses.nearest(os.path.splitext(reference)[0], stems)
        return stems.get(guess) if guess is not None else None

    def _is_too_deep(self, node: Node, depth: int, expansion: Expansion) -> bool:
        if depth > self.max_depth:
            if len(expansion.chain) > self.max_depth + 1:
                return False  # the include that is one too many is reported, with this depth
            can_be_set = self.depth_cap is None or depth <= self.depth_cap
            values: dict[str, Any] = {"depth": depth, "limit": self.max_depth}
            values["nested"] = "1 file" if depth == 1 else f"{depth} files"
            values["variable"] = self.depth_variable if can_be_set else None
            expansion.report(node, codes.INCLUDE_DEPTH, **values)
            return True
        # Only the outermost include of a chain warns.
        if depth > MAX_DEPTH_WITHOUT_WARNING and len(expansion.chain) == 1:
            expansion.report(node, codes.INCLUDE_DEEP, depth=depth)
        return False

    def _name_in_library(self, source: Source, system: System) -> str:
        root = "" if self.library is None else system.real(self.library).rstrip(os.sep) + os.sep
        if not root or source.filename is None or not source.filename.startswith(root):
            return source.name
        return source.filename.removeprefix(root).replace(os.sep, "/")

    # ---------------------------------------------------------------------- overrides

    def _merge_strategy(self, _path: Path, base: Any, over: Any) -> Strategy:
        """A directive replaces what it lands on, unless that is the same directive."""
        if base is HOLE and isinstance(over, dict) and any(key in over for key in _DIRECTIVES):
            return "replace"
        if not isinstance(base, dict) or not isinstance(over, dict):
            return "merge"
        new = [key for key in _DIRECTIVES if key in over and key not in base]
        return "replace" if new and not (new == [self.key] and self.override in base) else "merge"

    def _push_into_includes(self, base: Any, override: Tree) -> Tree:
        """An override in which each part for an include is moved below an `override` key."""
        over, word = override.value, self.override
        if not isinstance(base, dict) or not isinstance(over, dict):
            return override
        if self.key in base and not any(key in over for key in (*_DIRECTIVES, word)):
            over, origins = {word: over}, override.origins
            override = Tree(over, Origins(origins.here, below={word: origins}))
        elif self._merge_strategy(ROOT, base, over) == "replace":
            return override
        parts: dict[Path, Tree] = {}
        for key in filter(base.__contains__, over):
            if not isinstance(over[key], dict):
                continue
            part = self._push_into_includes(base[key], override.subtree((key,)))
            if part.value is not over[key]:
                parts[key,] = part
        return graft(override, parts)

    def _touches_path(self, over: Any, content: _Content, path: Path) -> bool:
        """Whether an override replaces or changes what the content has at a path."""
        base = content.tree.value
        for step in path:
            if not isinstance(base, dict) or not isinstance(over, dict):
                return True
            # A mapping that the override turns into an include has nothing else in it.
            if self.key in over or self._merge_strategy(ROOT, base, over) == "replace":
                return True
            if step not in over:
                return False
            base, over = base[step], over[step]
        return True
