"""How a server configuration is put together, how large it may be, and what a program gets of it.

The stages run in this order: `$include`, `$file`, `$generate`. What an include brings may hold any
of them, and what a file brings may hold payloads. `fold` turns the author's form into the
program's, once it is valid.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any, Literal, cast

import msgspec

from equipage.core import codes as core_codes
from equipage.core.frozen import levels
from equipage.files import System, entries_of, parents_of
from equipage.formats.server import codes
from equipage.formats.server.grammar import ITEM_KINDS, Place, implicit_includes, is_free_data
from equipage.formats.server.model import Baseline, Logging, ServerConfig, ServerFile, ServerInfo
from equipage.formats.server.payloads import Generate
from equipage.formats.server.payloads.base import GeneratorLimits, format_size, read_limit
from equipage.loading.project_root import marked_project
from equipage.loading.tree import Origins
from equipage.plugin import (
    ROOT,
    Fact,
    File,
    Include,
    Limits,
    Path,
    PathPolicy,
    Session,
    Tree,
    expand,
    find,
    get,
    graft,
    move,
    remove,
    walk,
)

#: Where the content of a content item goes, by its type.
CONTENT_KEYS = {"text": "text", "image": "data"}


class ServerOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the caller decides about a server configuration."""

    library: str | None = None
    """The folder where includes start; by default `library` beside the file or in the project."""
    project_library: str | None = None
    """That folder as the settings of the project name it; `library` counts more."""
    allow_absolute: bool | None = None
    """Whether directives may name absolute paths: no; yes; or, for None, as the command decides."""
    allow_handlers: bool = True
    """Whether responses may come from programs and web services."""


#: What only a whole server has at its root.
_SERVER_KEYS = {*ServerFile.__struct_fields__} - {"behavior", "metadata"}

#: The name of the folder where includes start, unless another is named.
LIBRARY = "library"

# Limits. The environment of the caller can change most of them, up to a hard cap.

MEBIBYTE = 1024 * 1024
#: The most bytes that a `$file` may bring; no variable changes it.
MAX_DATA_BYTES = 10 * MEBIBYTE
#: How deep a configuration may nest once everything is included.
MAX_DEPTH = 64


class Limit(msgspec.Struct, frozen=True):
    """One limit that the environment can change."""

    variable: str
    """The environment variable that sets it."""
    default: int
    """What holds without the variable."""
    cap: int
    """The most that the variable can set."""
    in_bytes: bool = False
    """Whether the variable may have a unit, as in `20mb`."""


#: By the name of the field of `ServerLimits`.
LIMITS: Mapping[str, Limit] = {
    "max_phases": Limit("THOUGHTJACK_MAX_PHASES", 100, 10_000),
    "max_tools": Limit("THOUGHTJACK_MAX_TOOLS", 1_000, 100_000),
    "max_resources": Limit("THOUGHTJACK_MAX_RESOURCES", 1_000, 100_000),
    "max_prompts": Limit("THOUGHTJACK_MAX_PROMPTS", 500, 50_000),
    "max_include_depth": Limit("THOUGHTJACK_MAX_INCLUDE_DEPTH", 10, 100),
    "max_file_bytes": Limit(
        "THOUGHTJACK_MAX_CONFIG_SIZE", 10 * MEBIBYTE, 100 * MEBIBYTE, in_bytes=True
    ),
}


class ServerLimits(Limits, frozen=True):
    """The limits of one load."""

    max_phases: int = LIMITS["max_phases"].default
    """The most phases."""
    max_tools: int = LIMITS["max_tools"].default
    """The most tools, those of all phases included."""
    max_resources: int = LIMITS["max_resources"].default
    """The most resources, likewise."""
    max_prompts: int = LIMITS["max_prompts"].default
    """The most prompts, likewise."""
    max_include_depth: int = LIMITS["max_include_depth"].default
    """How deep includes may nest."""
    generators: GeneratorLimits = GeneratorLimits()
    """How large payloads may become."""


def limits_of(env: Mapping[str, str]) -> tuple[ServerLimits, list[Fact]]:
    """The limits that `env` sets, and a warning for each variable that cannot be read.

    A warning names the variable but not its value: the environment may hold secrets.
    """
    facts: list[Fact] = []
    values: dict[str, int] = {}
    for name, limit in LIMITS.items():
        if limit.variable not in env:
            continue
        number = read_limit(env[limit.variable], in_bytes=limit.in_bytes)
        if number is not None:
            values[name] = min(number, limit.cap)
            continue
        default = format_size(limit.default) if limit.in_bytes else str(limit.default)
        facts.append(
            codes.LIMIT_UNREADABLE.at(part="nowhere", variable=limit.variable, default=default)
        )
    generators, found = GeneratorLimits.from_environment(env)
    facts += [msgspec.structs.replace(each, part="nowhere") for each in found]
    variable = LIMITS["max_file_bytes"].variable
    return ServerLimits(**values, file_bytes_variable=variable, generators=generators), facts


# Directives.


def include(tree: Tree, session: Session) -> tuple[Tree, list[Fact]]:
    limits, depth = cast(ServerLimits, session.limits), LIMITS["max_include_depth"]
    library = library_of(session)
    directive = Include(
        library,
        library_roots(library, session),
        _path_policy(session, limits.max_file_bytes),
        limits.max_include_depth,
        option="`--library`, in Python `library`",
        depth_variable=depth.variable,
        depth_cap=depth.cap,
        implicit=implicit_includes,
    )
    return directive.resolve(tree, session)


#: The name of a server that consists of one pattern.
PATTERN_NAME = "pattern"


def wrap_pattern(tree: Tree, _session: Session) -> tuple[Tree, list[Fact]]:
    """A pattern of the library, on its own, is a server that offers it alone."""
    value = tree.value
    if not isinstance(value, dict) or not _SERVER_KEYS.isdisjoint(value):
        return tree, []
    sort = next((each for each in ITEM_KINDS if each.name in value), None)
    if sort is None:
        return tree, []
    place: Path = (sort.plural, 0)
    whole = {"server": {"name": PATTERN_NAME}, sort.plural: [value]}
    origins = Origins(tree.origins.here).put(place, tree.origins)
    return Tree(whole, origins, (*tree.moves, (ROOT, place))), []


#: What helps where an image is read as text: in a content item, and elsewhere.
_IMAGE_ADVICE = "use a content item with `type: image` and put the file under `data`"
_TEXT_ADVICE = "name a text file, or write the text here"


def load_files(tree: Tree, session: Session) -> tuple[Tree, list[Fact]]:
    library = library_of(session)
    directive = File(
        library, library_roots(library, session), _path_policy(session, MAX_DATA_BYTES)
    )
    expanded, facts = expand(tree, session, directive, documents=session.documents)
    for path, name in directive.binaries.items():
        if slot_of(path) not in ("data", "free"):
            origin = tree.provenance((*path, File.key)).origin
            advice = _IMAGE_ADVICE if path[-1:] in (("text",), ("content",)) else _TEXT_ADVICE
            facts.append(codes.BINARY_AS_TEXT.at(path, origin=origin, file=name, advice=advice))
    return expanded, facts


def plan_payloads(tree: Tree, session: Session) -> tuple[Tree, list[Fact]]:
    limits = cast(ServerLimits, session.limits)
    directive = Generate(limits.generators, slot_of)
    return expand(tree, session, directive, documents=session.documents)


def library_of(session: Session) -> str:
    """Where includes start.

    The caller names the library, else THOUGHTJACK_LIBRARY, else the settings of the project. If
    none of them does, it is the folder `library` of the project, or the nearest one that is beside
    or above the file, or holds it. Only for a file that belongs to no project it may be that of the
    working directory.
    """
    named, files = _named_library(session), session.files
    if named is not None:
        return os.path.join(files.cwd, named)
    own = cast(ServerOptions, session.options).project_library
    if own is not None:
        return own
    project = marked_project(session.run, session.base)
    usual = os.path.join(project or files.cwd, LIBRARY)
    choices = itertools.chain([usual] if project else (), _libraries_around(session, project))
    return next((each for each in choices if _is_library(each, files.system)), usual)


def _libraries_around(session: Session, project: str | None) -> Iterator[str]:
    """Where a library may be, the nearest first: beside the file, above it, or around it.

    The project ends the search. Without one, it ends before the home folder, before the root of the
    disk, and before a folder where others than the owner of the file's could put a library.
    """
    system = session.files.system
    home = session.env.get("HOME") or system.variables().get("HOME")
    start = system.real_folder(session.base)
    status = system.status(start)
    owner = 0 if status is None else status.st_uid
    yield os.path.join(start, LIBRARY)
    for folder in (start, *parents_of(start)):
        above, name = os.path.split(folder)
        if project is None and (
            above == folder
            or (home and folder == system.real_folder(home))
            or system.others_may_write(folder, owner)
        ):
            return
        if name == LIBRARY:
            yield folder
        yield os.path.join(folder, LIBRARY)
        if folder == project:
            return


def _is_library(path: str, system: System) -> bool:
    """Whether there is a folder of exactly this name."""
    if not system.is_folder(path):
        return False
    above, name = os.path.split(path)
    # Where letter case makes no difference, this is another name of it: `Library` of macOS, say.
    if not system.exists(os.path.join(above, name.upper())):
        return True
    return any(each.name == name for each in entries_of(above, system))


def _named_library(session: Session) -> str | None:
    named = cast(ServerOptions, session.options).library
    # An empty variable is one that is not set, and not the working directory.
    return named or session.env.get("THOUGHTJACK_LIBRARY") or None


def library_roots(library: str, session: Session) -> tuple[str, ...]:
    """The folders of the library that references may lead into: the library, or none.

    One that the caller did not name may come with the project, as a link to anywhere: it must lie
    in the project, or be no link. That of the settings must lie in the project.
    """
    if _named_library(session):
        return (library,)
    files, of_project = session.files, cast(ServerOptions, session.options).project_library
    is_own = files.is_within(library, session.root)
    if library != of_project:
        is_own = _is_library(library, files.system) and (
            is_own or not files.system.is_link(library)
        )
    return (library,) if is_own else ()


def _path_policy(session: Session, max_bytes: int) -> PathPolicy:
    allowed = cast(ServerOptions, session.options).allow_absolute
    if allowed is False:
        return PathPolicy("refuse", parents="refuse", max_bytes=max_bytes)
    absolute: Literal["outside", "unread"] = "outside"
    if session.confined and not allowed:
        absolute = "unread"
    return PathPolicy(absolute, parents="refuse", max_bytes=max_bytes)


def slot_of(path: Path) -> str:
    """What a path is for: `text`, `data` (text or base64), `free` for any data, `other`."""
    if is_free_data(path):
        return "free"
    last = path[-1] if path else None
    if last in ("data", "blob"):
        return "data"
    return "text" if last in ("text", "content", "description") else "other"


def check_depth(tree: Tree, _session: Session) -> tuple[Tree, list[Fact]]:
    """Report nesting that is deeper than `MAX_DEPTH`."""
    deepest = next(itertools.islice(levels(tree.value), MAX_DEPTH, None), [])
    if not any(deepest):  # empty mappings and lists do not count
        return tree, []
    path = next(path for path, _ in walk(tree.value) if len(path) > MAX_DEPTH)
    return tree, [core_codes.NESTING_TOO_DEEP.at(path, limit=MAX_DEPTH)]


# Rewriting.

#: Changes a part, given its path, and adds what it finds.
RewriteFunction = Callable[[Tree, Path, list[Fact]], Tree]


class Rewrite(msgspec.Struct, frozen=True):
    """One normalisation: where it looks, whether a plain value needs it, and what it does."""

    where: Callable[[Any], Iterable[Place]]
    needed: Callable[[Any], bool]
    change: RewriteFunction


def apply_rewrite(tree: Tree, rewrite: Rewrite, facts: list[Fact]) -> Tree:
    """The tree with a rewrite applied everywhere. Containers on the way are copied once."""
    parts: dict[Path, Tree] = {}
    moves: list[tuple[Path, Path]] = []
    for path, value in rewrite.where(tree.value):
        if rewrite.needed(value):
            part = parts[path] = rewrite.change(tree.subtree(path), path, facts)
            moves += [((*path, *start), (*path, *end)) for start, end in part.moves]
    changed = graft(tree, parts)
    return Tree(changed.value, changed.origins, (*tree.moves, *moves)) if parts else tree


def move_into_content(tree: Tree, session: Session) -> tuple[Tree, list[Fact]]:
    """`{type: text, $file: …}` means `{type: text, text: {$file: …}}`.

    The same holds for images and for payloads.
    """
    for key in (File.key, Generate.key):
        if any(document.may_mention(key) for document in session.documents):
            rewrite = Rewrite(
                partial(_mappings_with_key, key), _lacks_content, _move_to_content_key
            )
            tree = apply_rewrite(tree, rewrite, [])
    return tree, []


def _mappings_with_key(key: str, config: Any) -> Iterator[Place]:
    """The mappings with a key, without those in free data."""
    for path in find(config, lambda node: key in node):
        if not is_free_data(path):
            yield path, get(config, path)


def _lacks_content(node: dict[str, Any]) -> bool:
    """Whether a mapping is a content item whose content is not written where it belongs."""
    return _content_key(node) not in (None, *node)


def _content_key(node: dict[str, Any]) -> str | None:
    name = node.get("type")
    return CONTENT_KEYS.get(name) if isinstance(name, str) else None


def _move_to_content_key(part: Tree, _path: Path, _facts: list[Fact]) -> Tree:
    content = str(_content_key(part.value))
    # Of two directives the one of the earlier stage wins, so both must be in one mapping.
    for key in (File.key, Generate.key):
        if key in part.value:
            part = move(part, (key,), (content, key))
    return part


# Folding.

#: Where parts of the baseline may also be written, and where they belong.
_BASELINE_MOVES: tuple[tuple[Path, Path], ...] = (
    *(((sort.plural,), ("baseline", sort.plural)) for sort in ITEM_KINDS),
    (("server", "capabilities"), ("baseline", "capabilities")),
    (("behavior",), ("baseline", "behavior")),
)


def fold(tree: Tree, written: ServerFile) -> tuple[Tree, ServerConfig]:
    """The configuration a program gets, and its tree. Only a few outer mappings are copied.

    The lists of the simple form become the baseline. The capabilities of the server and the
    behaviour at the top are the baseline's, unless it has its own.
    """
    own = written.baseline or Baseline()
    baseline = Baseline(
        tools=own.tools or written.tools or (),
        resources=own.resources or written.resources or (),
        prompts=own.prompts or written.prompts or (),
        capabilities=own.capabilities or written.server.capabilities,
        behavior=own.behavior or written.behavior,
    )
    config = ServerConfig(
        ServerInfo(written.server.name, written.server.version, written.server.state_scope),
        baseline,
        written.phases or (),
        written.logging or Logging(),
        written.unknown_methods,
        written.metadata,
    )
    if "baseline" in tree.value and tree.value["baseline"] is None:
        tree = remove(tree, ("baseline",))  # nothing can be moved into null
    for start, end in _BASELINE_MOVES:
        if get(tree.value, start) is not None and get(tree.value, end) is None:
            tree = move(tree, start, end)
    return tree, config
