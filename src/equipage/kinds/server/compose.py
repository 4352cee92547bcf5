"""The directives of a server configuration, in order: `$include`, `$file`, `$generate`.

Each is an earlier stage than the next: what a file brings may hold payloads, what an include brings may hold
anything.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from typing import Any, cast

import msgspec

from equipage.core.diagnostics import Fact, fact
from equipage.core.path import ROOT, Path
from equipage.directives import file as filing
from equipage.directives import find_directives
from equipage.directives import generate as generating
from equipage.directives import include as including
from equipage.files.sandbox import PathPolicy
from equipage.kinds.server.items import SORTS, Place, implicit_includes, is_free
from equipage.kinds.server.limits import LIMITS, MAX_DATA_BYTES, MAX_DEPTH, ServerLimits
from equipage.kinds.server.model import Baseline, Logging, ServerConfig, ServerFile, ServerInfo
from equipage.loading.session import Session
from equipage.loading.tree import Tree, get, graft, mapping, move, remove

# --- rewriting ---------------------------------------------------------------------------------
# Rewriting parts of a tree, all of one sort at once.

#: Changes a part, given its path, and adds what it finds.
Change = Callable[[Tree, Path, list[Fact]], Tree]


class Rewrite(msgspec.Struct, frozen=True):
    """One normalisation: where it looks, whether a plain value needs it, and what it does."""

    where: Callable[[Any], Iterable[Place]]
    needed: Callable[[Any], bool]
    change: Change


def rewritten(tree: Tree, rewrite: Rewrite, facts: list[Fact]) -> Tree:
    """The tree with a rewrite applied everywhere. Containers on the way are copied once."""
    parts: dict[Path, Tree] = {}
    moves: list[tuple[Path, Path]] = []
    for path in _needing(tree, rewrite):
        part = rewrite.change(tree.at(path), path, facts)
        parts[path] = part
        moves += (((*path, *start), (*path, *end)) for start, end in part.moves)
    if not parts:
        return tree
    changed = graft(tree, parts)
    return Tree(changed.value, changed.origins, (*tree.moves, *moves))


def _needing(tree: Tree, rewrite: Rewrite) -> Iterator[Path]:
    for path, value in rewrite.where(tree.value):
        if rewrite.needed(value):
            yield path


#: Where the content of a content item goes, by its type.
CONTENT_KEYS = {"text": "text", "image": "data"}


class ServerOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the caller decides about a server configuration."""

    library: str | None = None  #: where includes start, see `library_of`
    allow_absolute: bool = True  #: whether directives may name absolute paths
    allow_handlers: bool = True  #: whether responses may come from programs and web services


def library_of(session: Session) -> str:
    """Where includes start: what the caller says, else THOUGHTJACK_LIBRARY, else `library` in the working directory;
    where that is missing, `library` beside the file, so that a check of many folders finds the library of each."""
    options: ServerOptions = session.options
    named = options.library or session.env.get("THOUGHTJACK_LIBRARY")
    usual = os.path.join(session.files.cwd, named or "library")
    beside = os.path.join(session.base, "library")
    files = session.files
    return (
        beside
        if named is None and not files.is_folder(usual) and files.is_folder(beside)
        else usual
    )


def _policy(session: Session, max_bytes: int) -> PathPolicy:
    options = cast(ServerOptions, session.options)
    return PathPolicy(
        "outside" if options.allow_absolute else "refuse", parents="refuse", max_bytes=max_bytes
    )


def include(tree: Tree, session: Session) -> tuple[Tree, list[Fact]]:
    limits = cast(ServerLimits, session.limits)
    settings = including.IncludeSettings(
        library=library_of(session),
        policy=_policy(session, limits.max_file_bytes),
        max_depth=limits.max_include_depth,
        depth_variable=LIMITS["max_include_depth"].variable,
        depth_cap=LIMITS["max_include_depth"].cap,
        implicit=implicit_includes,
    )
    return including.include(tree, session, settings)


def move_into_content(tree: Tree, session: Session) -> tuple[Tree, list[Fact]]:
    """`{type: text, $file: …}` means `{type: text, text: {$file: …}}`, and so for images and payloads."""
    for key in (filing.KEY, generating.KEY):
        tree = rewritten(tree, _into_content(key, session), [])
    return tree, []


def _into_content(key: str, session: Session) -> Rewrite:
    def where(config: Any) -> Iterator[Place]:
        for path in find_directives(config, key, session.documents):
            if not is_free(path):
                yield path, get(config, path)

    def needed(node: Any) -> bool:
        return _content_key(node) not in (None, *node)

    def change(part: Tree, _path: Path, _facts: list[Fact]) -> Tree:
        # Of two directives the one of the earlier stage wins, so both must be in one mapping.
        content = str(_content_key(part.value))
        for each in (filing.KEY, generating.KEY):
            if each in part.value:
                part = move(part, (each,), (content, each))
        return part

    return Rewrite(where, needed, change)


def _content_key(node: dict[str, Any]) -> str | None:
    """Where the content of a content item goes; None if the node is none."""
    name = node.get("type")
    return CONTENT_KEYS.get(name) if isinstance(name, str) else None


def load_files(tree: Tree, session: Session) -> tuple[Tree, list[Fact]]:
    settings = filing.FileSettings(library_of(session), _policy(session, MAX_DATA_BYTES))
    loaded = filing.load_files(tree, session, settings)
    for path, name in loaded.binaries.items():
        if slot_of(path) == "text":
            origin = tree.story((*path, filing.KEY)).origin
            loaded.facts.append(Fact("binary-as-text", path, {"file": name}, origin=origin))
    return loaded.tree, loaded.facts


def plan_payloads(tree: Tree, session: Session) -> tuple[Tree, list[Fact]]:
    limits = cast(ServerLimits, session.limits)
    return generating.plan_payloads(
        tree, session, generating.GenerateSettings(limits.generators, slot_of)
    )


def slot_of(path: Path) -> str:
    """What may stand at a path: `text`, `data` (text or base64), `free` for any data, `other`."""
    if is_free(path):
        return "free"
    last = path[-1] if path else None
    if last in ("data", "blob"):
        return "data"
    return "text" if last in ("text", "content", "description") else "other"


def bound_depth(tree: Tree, _session: Session) -> tuple[Tree, list[Fact]]:
    """Refuse what nests deeper than anything that runs would follow."""
    level = {id(tree.value): tree.value}
    for _ in range(MAX_DEPTH):
        level = {id(child): child for node in level.values() for child in _children(node)}
        if not level:
            return tree, []
    if not any(node for node in level.values()):
        return tree, []
    return tree, [fact("nesting-too-deep", _deepest(tree.value), limit=MAX_DEPTH)]


def _children(node: Any) -> list[Any]:
    """The non-empty containers in a container."""
    values = node.values() if node.__class__ is dict else node if node.__class__ is list else ()
    return [child for child in values if child.__class__ in (dict, list) and child]


def _deepest(value: Any) -> Path:
    """The path of the first node that is one level too deep."""
    stack: list[tuple[Path, Any]] = [(ROOT, value)]
    while stack:
        path, node = stack.pop()
        if len(path) > MAX_DEPTH:
            return path
        pairs = (
            node.items()
            if isinstance(node, dict)
            else enumerate(node)
            if isinstance(node, list)
            else ()
        )
        stack.extend(((*path, step), child) for step, child in reversed(list(pairs)))
    return ROOT


# --- folding -----------------------------------------------------------------------------------
# The author's form folded into the program's.
#
# The lists of the simple form become the baseline. The capabilities of the server and the behaviour at the top are
# the baseline's, unless it has its own.

#: What belongs to the baseline, and where it may be written instead.
_ELSEWHERE: tuple[tuple[Path, Path], ...] = (
    *(((sort.plural,), ("baseline", sort.plural)) for sort in SORTS),
    (("server", "capabilities"), ("baseline", "capabilities")),
    (("behavior",), ("baseline", "behavior")),
)


def fold(tree: Tree, written: ServerFile) -> tuple[Tree, ServerConfig]:
    """The configuration a program gets, and its tree. Nothing is copied but a few outer mappings."""
    own = written.baseline or Baseline()
    baseline = Baseline(
        tools=own.tools or written.tools or (),
        resources=own.resources or written.resources or (),
        prompts=own.prompts or written.prompts or (),
        capabilities=own.capabilities or written.server.capabilities,
        behavior=own.behavior or written.behavior,
    )
    server = ServerInfo(written.server.name, written.server.version, written.server.state_scope)
    config = ServerConfig(
        server,
        baseline,
        written.phases or (),
        written.logging or Logging(),
        written.unknown_methods,
        written.metadata,
    )
    return _folded(tree), config


def _folded(tree: Tree) -> Tree:
    if "baseline" in tree.value and tree.value["baseline"] is None:
        tree = remove(tree, ("baseline",))  # as good as none, but nothing can be moved into it
    for start, end in _ELSEWHERE:
        if _has(tree.value, start) and not _has(tree.value, end):
            tree = move(tree, start, end)
    return tree


def _has(value: Any, path: Path) -> bool:
    for step in path:
        value = mapping(value).get(str(step))
    return value is not None
