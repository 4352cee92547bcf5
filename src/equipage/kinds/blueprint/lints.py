"""What `lints` say about findings of the programs that run blueprints.

A level is looked for in the `lints` of the agent, then in those of the blueprint; the first of the two that says
anything about a finding decides. Inside one of them the kind of the finding counts before its category, and that
before `all`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from equipage.diagnostics import Change, Fact, Remedy, Shown, fact
from equipage.kinds.blueprint.parts import items
from equipage.nearest import nearest
from equipage.path import Path
from equipage.session import Session
from equipage.tree import mapping

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
    remedy = Remedy(f"rename to `{guess}`", (Change(path, guess, "key"),), safe=False) if renamed else None
    yield fact("unknown-lint", path, part="key", remedy=remedy, lint=Shown(key), nearest=guess, known=known)
