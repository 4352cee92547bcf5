"""Which tools would read an agent as it is, and what stands in the way of the others.

Only the content is compared; where a tool looks for agents is told beside it. What a tool would silently ignore is a
loss. A loss of something that restricts stands in the way: the agent would be read, but could do more.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from equipage.files.reading import display_name
from equipage.kinds.conventions.kind import model_of
from equipage.kinds.conventions.rules import names_in
from equipage.kinds.conventions.stages import divided, is_pattern, references
from equipage.kinds.conventions.tools import CONVENTIONS
from equipage.kinds.defect.profile_model import AgentProfile
from equipage.kinds.headers import has_header
from equipage.kinds.tables import Convention, Field
from equipage.loading.model import Shape, build
from equipage.loading.request import Request
from equipage.syntax.document import Document
from equipage.workspace.report import load_all, settled

if TYPE_CHECKING:
    from equipage.loading.outcome import Outcome


#: The tools whose agents are compared. The first is the seed's own format.
_SEED = Convention(
    kind="profile",
    tool="defect",
    title="profile",
    unknown="error",
    fields=tuple(
        Field(
            name,
            Any,
            required="error" if name == "description" else None,
            restricts=name == "tools",
        )
        for name in AgentProfile.__struct_fields__
    ),
    example_path=".defect/agents/NAME.md",
)
TARGETS: tuple[Convention, ...] = (*(each for each in CONVENTIONS if each.sort == "agent"), _SEED)


class Portability(msgspec.Struct, frozen=True):
    """What one tool would make of an agent."""

    tool: str
    place: str  #: where the tool looks for agents
    obstacles: tuple[str, ...] = ()  #: what stands in the way
    ignored: tuple[str, ...] = ()  #: fields it would read without any effect

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
        tools = portability(found.outcome) if found.outcome is not None else ()
        if found.outcome is not None and tools:
            name = next(names_in(found.outcome))
            agents.append(
                PortableAgent(display_name(found.path), found.outcome.kind.name, name, tools)
            )
    return sorted(agents, key=lambda each: each.file)


def portability(outcome: Outcome) -> tuple[Portability, ...]:
    """What each tool would make of the agent in a load, its own tool first; empty if it is no agent."""
    own = next((each for each in TARGETS if each.kind == outcome.kind.name), None)
    document = outcome.documents[0] if outcome.documents else None
    if own is None or document is None or not isinstance(document.value, dict):
        return ()
    if own.passes_over and not has_header(document):
        return ()  # its own tool does not take it for an agent
    itself = Portability(own.tool, own.example_path, ("it has errors",) if outcome.errors else ())
    others = (each for each in TARGETS if each is not own)
    return (itself, *(_compared(own, each, document, document.value) for each in others))


def _compared(
    own: Convention, target: Convention, document: Document, value: dict[str, Any]
) -> Portability:
    same_syntax = target.syntax == ("toml" if document.format == "toml" else "header")
    ignored = (
        [name for name in value if name not in target.names] if target.unknown == "warning" else []
    )
    obstacles = tuple(_obstacles(own, target, document, value))
    return Portability(
        target.tool, target.example_path, obstacles, tuple(ignored) if same_syntax else ()
    )


def _obstacles(
    own: Convention, target: Convention, document: Document, value: dict[str, Any]
) -> Iterator[str]:
    written = "toml" if document.format == "toml" else "header"
    if written != target.syntax:
        yield "it is written in TOML" if written == "toml" else "it is not written in TOML"
        return
    if document.format == "yaml" and document.substituted_text is not None and not target.forgiving:
        yield "its header is not YAML"
    if not has_header(document) and not target.header_optional:
        yield "it has no header"
        return
    for field in target.fields:
        if field.required == "error" and not value.get(field.name):
            yield f"`{field.name}` is missing"
    yield from _misread(own, target, value)
    yield from _name(target, value)


def _misread(own: Convention, target: Convention, value: dict[str, Any]) -> Iterator[str]:
    """Fields that the target takes for something else, refuses, or does not see although they restrict."""
    for name, each in value.items():
        field, source = target.field(name), own.field(name)
        if field is not None:
            yield from _unfit(target, field, each)
        elif target.unknown == "error":
            yield f"`{name}` is refused"
        elif source is not None and source.restricts and each is not None:
            yield f"`{name}` is not read: the agent could do more"
        elif target.unknown is None and target.syntax == "header":
            yield f"`{name}` would be passed to the model"


def _unfit(target: Convention, field: Field, value: Any) -> Iterator[str]:
    if isinstance(value, str) and field.split is not None:
        value = list(divided(value, field.split))
    if target is _SEED:
        _, _, found = build(
            {"description": "", field.name: value}, AgentProfile, Shape(null_is_absent=True)
        )
    else:
        _, _, found = build({field.name: value}, model_of(target), Shape(null_is_absent=True))
    if found:
        yield f"`{field.name}` is written another way"
    elif field.refers == "tool" and target.tools is not None:
        strange = sorted(_strange(value, target.tools))
        if strange:
            yield f"it names tools of another program: {', '.join(strange)}"


def _strange(value: Any, tools: frozenset[str]) -> Iterator[str]:
    for name in value if isinstance(value, list | dict) else ():
        for each in references(name, "tool") if isinstance(name, str) else ():
            if each.sort == "tool" and each.name not in tools and not is_pattern(each.name):
                yield each.name


def _name(target: Convention, value: dict[str, Any]) -> Iterator[str]:
    name = value.get("name")
    if (
        target.name is not None
        and isinstance(name, str)
        and re.fullmatch(target.name.pattern, name) is None
    ):
        yield f"`{name}` is not a name it takes"
