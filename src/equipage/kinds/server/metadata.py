"""What a scenario says about itself."""

# Annotations are evaluated, not kept as text: msgspec would have to compile each of them when a model is first used.
from typing import Literal

from equipage.kinds.server.parts import Part

Severity = Literal["low", "medium", "high", "critical"]
Vector = Literal[
    "tool_injection",
    "resource_injection",
    "prompt_poisoning",
    "capability_mutation",
    "notification_abuse",
    "schema_manipulation",
    "description_hijack",
    "response_delay",
    "connection_abuse",
]
Primitive = Literal[
    "rug_pull",
    "sleeper",
    "slow_loris",
    "flood",
    "nested_json",
    "unbounded_line",
    "fuzzing",
    "id_collision",
    "time_bomb",
]


class AttackSurface(Part, frozen=True):
    vectors: tuple[Vector, ...]
    primitives: tuple[Primitive, ...]


class Entry(Part, frozen=True):
    """An entry of a public catalogue."""

    id: str
    name: str


class Technique(Part, frozen=True):
    id: str
    name: str
    sub_technique: str | None = None


class MitreAttack(Part, frozen=True):
    tactics: tuple[Entry, ...] = ()
    techniques: tuple[Technique, ...] = ()


class Reference(Part, frozen=True):
    url: str
    title: str


class Metadata(Part, frozen=True):
    id: str
    name: str
    description: str
    severity: Severity
    mcp_attack_surface: AttackSurface
    author: str | None = None
    created: str | None = None  #: YYYY-MM-DD
    updated: str | None = None
    mitre_attack: MitreAttack | None = None
    owasp_mcp: tuple[Entry, ...] = ()
    owasp_agentic: tuple[Entry, ...] = ()
    tags: tuple[str, ...] = ()
    detection_guidance: tuple[str, ...] = ()
    references: tuple[Reference, ...] = ()
