"""The named items of a workspace, with their layers, and which tools can read its agents."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from equipage.files import is_folder, real_path
from equipage.files.reading import display_name
from equipage.files.walking import walk_files
from equipage.kinds.conventions.kind import model_of
from equipage.kinds.conventions.references import divided, is_pattern, names_in, references
from equipage.kinds.conventions.tools import CONVENTIONS
from equipage.kinds.defect.profile_model import AgentProfile
from equipage.kinds.headers import has_header
from equipage.kinds.tables import Convention, Field
from equipage.loading.kind import Item, Kind
from equipage.loading.model import Shape, build
from equipage.loading.outcome import Outcome
from equipage.loading.registry import agent_folders, kind_named, names
from equipage.loading.result import Paths
from equipage.loading.session import Request
from equipage.syntax.document import Document
from equipage.workspace.loads import FileLoad, load_all, settled
from equipage.workspace.reach.clients import program_of

#: Findings that say that no program reads a file, although it is listed.
_OVERLOOKED = frozenset({"toolpack-overlooked", "extension-not-read"})


class Listed(msgspec.Struct, frozen=True):
    """One row of the list.

    A file that could not be loaded is a row without an item and with the number of its errors; a
    file that was not read has a warning instead.
    """

    file: str
    kind: str | None
    item: Item | None = None
    layer: str | None = None
    line: int | None = None
    program: str | None = None  #: what reads the file
    shadowed_by: str | None = None  #: the file whose item of the same name is used instead
    errors: int = 0
    warnings: int = 0


def list_all(paths: Sequence[str], request: Request, *, kind: str | None = None) -> list[Listed]:
    """The items of the files below `paths` and of the user's own files, sorted by file and place.

    For a folder inside a project, the items of the project's layer are listed, too.
    """
    return rows_of(
        (*load_all(paths, request, kind=kind), *_elsewhere(paths, request, kind)), request
    )


def rows_of(found: Iterable[FileLoad], request: Request) -> list[Listed]:
    """The items of files that were loaded, sorted by file and place."""
    heights: dict[Listed, int] = {}
    for each in settled(found):
        layers = each.outcome.kind.layering.layers if each.outcome is not None else ()
        for row in _rows(each, request):
            # Equal rows are one: a file may be reached through several paths.
            heights[row] = layers.index(row.layer) if row.layer in layers else -1
    return sorted(_shadowed(heights), key=lambda row: row.file)


def _elsewhere(paths: Sequence[str], request: Request, kind: str | None) -> Iterator[FileLoad]:
    """The files of layers outside the paths: the user's own, and the project's."""
    folders = [real_path(path) for path in paths if is_folder(path)]
    below = tuple(os.path.join(folder, "") for folder in folders)
    for name in names() if kind is None else (kind,):
        chosen = kind_named(name)
        above, elsewhere = chosen.layering.above, chosen.layering.elsewhere
        places = dict.fromkeys(
            place
            for folder in folders
            for place in (above(folder) if above is not None else ())
            # The paths themselves cover what is below them.
            if not f"{place.folder}{os.sep}".startswith(below)
        )
        if elsewhere is not None and not request.options.get("local"):
            places |= dict.fromkeys(elsewhere(request.env))
        for place in places:
            walked = walk_files(place.folder, agent_folders())
            files = [path for path in walked if _layer(chosen, path, request) == place.layer]
            yield from load_all(files, request, kind=name)


def _layer(kind: Kind, path: str, request: Request) -> str | None:
    return kind.layering.layer_of(os.path.abspath(path), request.env)


def _rows(found: FileLoad, request: Request) -> Iterator[Listed]:
    name = display_name(found.path)
    outcome = found.outcome
    if outcome is None:
        # A file that was only left alone is not an error of the project.
        refused = found.problem is None or found.problem.severity == "error"
        yield Listed(name, None, errors=int(refused), warnings=int(not refused))
        return
    layer = _layer(outcome.kind, found.path, request)
    loaded = outcome.loaded()
    if loaded is None:
        yield Listed(name, outcome.kind.name, layer=layer, errors=len(outcome.errors))
        return
    shown = outcome.kind.presentation
    if shown.ignored is not None and shown.ignored(outcome):
        return
    items = list(shown.listing(loaded.to_dict(show_env=False), name))
    paths = Paths(loaded)
    # All at once: each document is searched a single time.
    places = paths.places(paths.steps(item.path) for item in items)
    for item in items:
        span = places[paths.steps(item.path)].span
        line = span.line if span is not None and span.source.name == name else None
        is_overlooked = any(each.code in _OVERLOOKED for each in loaded.warnings)
        program = None if is_overlooked else program_of(outcome.kind.name)
        warnings = len(loaded.warnings)
        yield Listed(name, outcome.kind.name, item, layer, line, program, warnings=warnings)


def _shadowed(heights: Mapping[Listed, int]) -> Iterator[Listed]:
    """The rows; one that shares sort and name with a row of a higher layer names its file."""

    def key(row: Listed) -> tuple[object, ...]:
        return (row.kind, row.item.sort, row.item.name) if row.item is not None else (row,)

    # The highest row of each name; the first one of equal height, as the walk met it.
    best: dict[tuple[object, ...], Listed] = {}
    for row, height in heights.items():
        if height > heights[best.setdefault(key(row), row)]:
            best[key(row)] = row
    for row, height in heights.items():
        winner = best[key(row)]
        # Nothing shadows what is in no layer.
        if 0 <= height < heights[winner]:
            row = msgspec.structs.replace(row, shadowed_by=winner.file)
        yield row


# ------------------------------------------------------------------------------------- portability
# Which tools can read an agent unchanged, and what prevents the others. Only the content is
# compared; a result also says where the tool looks for agents. A field that a tool silently ignores
# is a loss. If that field restricts the agent, the loss is an obstacle: the agent could do more.

#: The profiles of defect, described like the agents of other tools.
_SEED = Convention(
    kind="profile",
    tool="defect",
    title="profile",
    unknown="error",
    fields=tuple(
        Field(
            name,
            type=Any,
            required="error" if name == "description" else None,
            restricts=name == "tools",
        )
        for name in AgentProfile.__struct_fields__
    ),
    example_path=".defect/agents/NAME.md",
)
#: The tools whose agents are compared.
TARGETS: tuple[Convention, ...] = (*(each for each in CONVENTIONS if each.sort == "agent"), _SEED)


class Portability(msgspec.Struct, frozen=True):
    """What one tool would make of an agent."""

    tool: str
    place: str  #: where the tool looks for agents
    obstacles: tuple[str, ...] = ()  #: why the tool cannot read the agent unchanged
    ignored: tuple[str, ...] = ()  #: fields that have no effect in the tool

    @property
    def reads(self) -> bool:
        return not self.obstacles


class PortableAgent(msgspec.Struct, frozen=True):
    """An agent and what each tool would make of it."""

    file: str
    kind: str
    name: str
    tools: tuple[Portability, ...]


def list_portable(
    paths: Sequence[str], request: Request, *, kind: str | None = None
) -> list[PortableAgent]:
    """What other tools would make of the agents below `paths`; sorted by file."""
    agents: list[PortableAgent] = []
    for found in settled(load_all(paths, request, kind=kind)):
        outcome = found.outcome
        tools = portability(outcome) if outcome is not None else ()
        if outcome is not None and tools:
            name = next(names_in(outcome))
            agents.append(PortableAgent(display_name(found.path), outcome.kind.name, name, tools))
    return sorted(agents, key=lambda each: each.file)


def portability(outcome: Outcome) -> tuple[Portability, ...]:
    """What each tool would make of a loaded agent, its own tool first; empty for other files."""
    own = next((each for each in TARGETS if each.kind == outcome.kind.name), None)
    document = outcome.documents[0] if outcome.documents else None
    if own is None or document is None or not isinstance(document.value, dict):
        return ()
    if document.source.outside:
        return ()  # a link out of the project: nothing of the file is shown
    if own.ignores_headerless and not has_header(document):
        return ()  # its own tool ignores it
    errors = ("the file has errors",) if outcome.errors else ()
    itself = Portability(own.tool, own.example_path, errors)
    others = (each for each in TARGETS if each is not own)
    return (itself, *(_compared(own, each, document, document.value) for each in others))


def _compared(
    own: Convention, target: Convention, document: Document, value: dict[str, Any]
) -> Portability:
    syntax = "toml" if document.format == "toml" else "header"
    if syntax != target.syntax:
        # No field is read, so there is nothing to say about fields.
        what = "the file is TOML" if syntax == "toml" else "the file is not TOML"
        return Portability(target.tool, target.example_path, (what,))
    obstacles = tuple(_obstacles(own, target, document, value))
    # Only a tool that reports unknown fields ignores them; others refuse or pass them on.
    unknown = (name for name in value if name not in target.names)
    ignored = tuple(unknown) if target.unknown == "warning" else ()
    return Portability(target.tool, target.example_path, obstacles, ignored)


def _obstacles(
    own: Convention, target: Convention, document: Document, value: dict[str, Any]
) -> Iterator[str]:
    # A header that is not YAML is read only after repairs, and few tools make those.
    if (
        document.format == "yaml"
        and document.substituted_text is not None
        and target.reader == "strict"
    ):
        yield "the header is not YAML"
    if not has_header(document) and not target.header_optional:
        yield "the file has no header"
        return
    # A field that is only recommended (`warning`) prevents nothing.
    for field in target.fields:
        if field.required == "error" and not value.get(field.name):
            yield f"`{field.name}` is missing"
    yield from _misread(own, target, value)
    name = value.get("name")
    if target.name is None or not isinstance(name, str):
        return
    if re.fullmatch(target.name.pattern, name) is None:
        yield f"does not accept the name `{name}`"


def _misread(own: Convention, target: Convention, value: dict[str, Any]) -> Iterator[str]:
    """Fields that the target misunderstands or refuses, or ignores although they restrict."""
    for name, each in value.items():
        field, source = target.field(name), own.field(name)
        if field is not None:
            yield from _unfit(target, field, each)
        elif target.unknown == "error":
            yield f"refuses `{name}`"
        elif source is not None and source.restricts and each is not None:
            yield f"ignores `{name}`, so the agent could do more"
        elif target.unknown is None and target.syntax == "header":
            yield f"would pass `{name}` to the model"


def _unfit(target: Convention, field: Field, value: Any) -> Iterator[str]:
    """Why the target cannot use the value of a field that both tools know."""
    if isinstance(value, str) and field.split is not None:
        value = list(divided(value, field.split))
    is_seed = target is _SEED
    # The model of a profile needs a description; its absence is reported elsewhere.
    needed = {"description": ""} if is_seed else {}
    model = AgentProfile if is_seed else model_of(target)
    _, _, found = build({**needed, field.name: value}, model, Shape(null_is_absent=True))
    if found:
        yield f"expects another form of `{field.name}`"
    elif field.refers == "tool" and target.tools is not None:
        known = target.tools
        entries = value if isinstance(value, list | dict) else ()
        strange = sorted(
            each.name
            for entry in entries
            if isinstance(entry, str)
            for each in references(entry, "tool")
            if each.sort == "tool" and each.name not in known and not is_pattern(each.name)
        )
        if strange:
            yield f"has no tool {', '.join(f'`{name}`' for name in strange)}"
