"""What `lints` say about findings of the programs that run blueprints.

A level is looked for in the `lints` of the agent, then in those of the blueprint; the first of the two that says
anything about a finding decides. Inside one of them the kind of the finding counts before its category, and that
before `all`.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any, Literal

import msgspec
from msgspec import inspect as types

from equipage.core.diagnostics import Change, Fact, Remedy, Shown, fact
from equipage.core.path import Path
from equipage.core.text import nearest
from equipage.kinds.blueprint.model import Blueprint, Step
from equipage.loading.model import struct_info
from equipage.loading.session import Session
from equipage.loading.tree import HOLE, mapping, walk

# --- parts -------------------------------------------------------------------------------------
# Walks over the plain value of a blueprint. Nothing is sure to be there or to have the right type.

#: What a mapping of a flow is told by: nodes have a `kind`, expressions an `op`.
Tag = Literal["kind", "op"]


class FlowPart(msgspec.Struct, frozen=True):
    """A node or an expression, and where it stands."""

    path: Path
    tag: Tag
    value: dict[str, Any]

    @property
    def name(self) -> str:
        return str(self.value[self.tag])


def flow_parts(config: Any) -> Iterator[FlowPart]:
    """Every node and expression of the flow, parents first, in document order. Literals are not looked into."""
    stack: list[tuple[Path, Any, Tag]] = [(("flow",), mapping(config).get("flow"), "kind")]
    while stack:
        path, value, tag = stack.pop()
        below = _below(tag).get(str(value.get(tag))) if isinstance(value, dict) else None
        if below is None:
            continue
        yield FlowPart(path, tag, value)
        children: list[tuple[Path, Any, Tag]] = []
        for key, child in value.items():
            if key not in below:
                continue
            inner, several = below[key]
            if several:
                children += [((*path, key, number), each, inner) for number, each in items(child)]
            else:
                children.append(((*path, key), child, inner))
        stack.extend(reversed(children))


@cache
def _below(tag: Tag) -> dict[str, dict[str, tuple[Tag, bool]]]:
    """For each node or operator: which of its fields hold nodes or expressions, and whether it is several."""
    owner, name = (Blueprint, "flow") if tag == "kind" else (Step, "out")
    union = next(field.type for field in struct_info(owner).fields if field.name == name)
    assert isinstance(union, types.UnionType)
    table: dict[str, dict[str, tuple[Tag, bool]]] = {}
    for each in union.types:
        assert isinstance(each, types.StructType)
        found = ((field.encode_name, _holds(field.type)) for field in each.fields)
        table[str(each.tag)] = {name: holds for name, holds in found if holds is not None}
    return table


def _holds(kind: types.Type) -> tuple[Tag, bool] | None:
    if isinstance(kind, types.VarTupleType):
        inner = _holds(kind.item_type)
        return None if inner is None else (inner[0], True)
    members = kind.types if isinstance(kind, types.UnionType) else ()
    first = next((each for each in members if isinstance(each, types.StructType)), None)
    if first is None:
        return None
    return ("kind" if first.tag_field == "kind" else "op"), False


def items(value: Any) -> list[tuple[int, Any]]:
    """The entries of a list with their numbers; of anything else, none."""
    return list(enumerate(value)) if isinstance(value, list) else []


def has_holes(value: Any) -> bool:
    """Whether anything below could not be had, so that nothing can be said about what is not there."""
    return any(node is HOLE for _, node in walk(value))


class Names(msgspec.Struct, frozen=True):
    """The names that entries of a list carry, and whether all of them are known."""

    first: dict[str, int]
    complete: bool

    def lack(self, name: Any) -> bool:
        """Whether it is sure that nothing has this name."""
        return isinstance(name, str) and self.complete and name not in self.first


def names_in(config: Any, key: str) -> Names:
    """The names in a list of the blueprint such as `agents`, each with its first entry."""
    given = mapping(config).get(key)
    first: dict[str, int] = {}
    complete = given is not HOLE
    for number, each in items(given):
        name = mapping(each).get("name")
        if isinstance(name, str):
            first.setdefault(name, number)
        else:
            complete = False
    return Names(first, complete)


_CATEGORY = "category:"
_CATEGORIES = ("correctness", "suspicious", "style", "contract", "migration")
#: What is refused whatever `lints` say.
_REFUSED = (
    "bound-agent-resolution",
    "duplicate-agent-name",
    "invalid-agent-spec",
    "invalid-projection-placement",
    "unknown-agent-kind",
    "unresolved-agent-ref",
    "unresolved-audit-agent",
    "unresolved-meta-ref",
    "unresolved-operator-ref",
    "verdict-channel-mismatch",
    "verdict-value-not-in-contract",
)
_KINDS = (
    *_REFUSED,
    "agent-md-size",
    "binding-requirements-info",
    "binding-resolution-error",
    "context-policy-strips-projection-roots",
    "halted-at-missing",
    "legacy-worker-binding",
    "non-suppressible-lint",
    "output-contract-missing",
    "projection-root-seed-missing",
    "removed-spawner-hint",
    "skip-on-declared-but-no-matching-verdict-value",
    "skip-on-missing-for-skip-like-verdict-value",
    "skip-on-pattern-conflicts-with-halt-on",
    "step-naming-collision",
    "strict-binding-without-runners",
    "tool-unknown-mcp-ref",
    "unknown-lint-kind",
    "verdict-contract-never-read",
    "verdict-value-unhandled",
    "worker-binding-missing",
    "wrapper-only-drift",
)


def level_of(kind: str, category: str, *layers: Any) -> str | None:
    """What the first of `layers` that knows a kind of finding says about it, None if none does."""
    for layer in layers:
        lints = mapping(layer)
        if kind in lints:
            return _level(lints[kind])
        for key, level in lints.items():
            if key.casefold() == _CATEGORY + category:
                return _level(level)
        if "all" in lints:
            return _level(lints["all"])
    return None


def _level(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def lints_of_blueprint(config: Any) -> dict[str, Any]:
    """The levels that count for every agent which does not say otherwise."""
    return mapping(mapping(mapping(config).get("metadata")).get("lints"))


def lints_have_an_effect(config: Any, _session: Session) -> Iterator[Fact]:
    """Keys of `lints` are spelled as something that can be set."""
    for path, lints in _all_lints(config):
        for key, level in lints.items():
            if key in _REFUSED and level in ("allow", "warn"):
                yield fact("lint-without-effect", (*path, key), part="key", lint=key, level=level)
            elif key != "all" and key not in _KINDS:
                yield from _misspelt((*path, key), key, lints)


def _all_lints(config: Any) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Every mapping of lints, and where it stands."""
    yield ("metadata", "lints"), lints_of_blueprint(config)
    for number, agent in items(mapping(config).get("agents")):
        yield ("agents", number, "lints"), mapping(mapping(agent).get("lints"))


def _misspelt(path: Path, key: str, lints: dict[str, Any]) -> Iterator[Fact]:
    """There are five categories, but programs may have further kinds: of these only a slip is told."""
    prefix, category = key[: len(_CATEGORY)].casefold(), key[len(_CATEGORY) :].casefold()
    known = None
    if prefix == _CATEGORY:
        if category in _CATEGORIES:
            return
        name = nearest(category, _CATEGORIES)
        guess = name and _CATEGORY + name
        known = None if guess else _CATEGORIES
    else:
        guess = nearest(key, ("all", *_KINDS, *(_CATEGORY + each for each in _CATEGORIES)))
        if guess is None:
            return
    renamed = guess is not None and guess not in lints
    remedy = (
        Remedy(f"rename to `{guess}`", (Change(path, guess, "key"),), safe=False)
        if renamed
        else None
    )
    yield fact(
        "unknown-lint", path, part="key", remedy=remedy, lint=Shown(key), nearest=guess, known=known
    )
