"""The `match` of a trigger: fields of a request, and what their values must be.

A value is compared as it is, or a mapping of operators says more. Nested mappings stand for dotted fields.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from equipage.diagnostics import Fact, Shown, fact
from equipage.nearest import nearest
from equipage.path import Path
from equipage.tree import Tree, get, mapping, move, remove, remove_all

#: Other names of operators.
ALIASES = {"starts_with": "prefix", "ends_with": "suffix"}
TEXT_OPERATORS = ("contains", "prefix", "suffix", "regex")
OPERATORS = (*TEXT_OPERATORS, "any_of")
_KNOWN = frozenset({*OPERATORS, *ALIASES})


def _is_nested(value: Any) -> bool:
    """Whether a mapping holds further fields rather than operators."""
    return isinstance(value, dict) and any(key not in _KNOWN for key in value)


def matchers_need_flattening(trigger: Any) -> bool:
    matchers = mapping(mapping(trigger).get("match")).values()
    return any(
        isinstance(value, dict) and (_is_nested(value) or not ALIASES.keys().isdisjoint(value)) for value in matchers
    )


def _fields(matchers: dict[str, Any]) -> Iterator[tuple[str, ...]]:
    """The way to every field, through mappings that only hold further fields."""
    stack: list[tuple[str, ...]] = [(key,) for key in reversed(matchers)]
    while stack:
        steps = stack.pop()
        value = get(matchers, steps)
        if _is_nested(value):
            stack.extend((*steps, key) for key in reversed(value))
        else:
            yield steps


def flatten_matchers(part: Tree, path: Path, facts: list[Fact]) -> Tree:
    """The trigger with every field at the top of `match`, and operators by their own names."""
    matchers = part.value["match"]
    nested = [key for key, value in matchers.items() if _is_nested(value)]
    known: dict[str, tuple[str, ...]] = {key: (key,) for key, value in matchers.items() if not _is_nested(value)}
    for steps in list(_fields(matchers)):
        facts += _doubts(matchers, steps, (*path, "match"))
        field = ".".join(steps)
        other = known.setdefault(field, steps)
        if other != steps:
            said: dict[str, Any] = {"key": Shown(_as_written(steps)), "other": Shown(_as_written(other))}
            facts.append(fact("both-spellings", (*path, "match", *steps), part="key", **said))
            continue
        if len(steps) > 1:
            part = move(part, ("match", *steps), ("match", field))
        for alias, name in ALIASES.items():
            value = get(part.value, ("match", field))
            if isinstance(value, dict) and alias in value:
                part = _renamed(part, ("match", field), alias, path, facts, name)
    return remove_all(part, [("match", key) for key in nested])


def _as_written(steps: tuple[str, ...]) -> str:
    """A field the way its author spelt it: `a.b`, or `a: {b: …}`."""
    return steps[0] if len(steps) == 1 else f"{': {'.join(steps)}: …{'}' * (len(steps) - 1)}"


def _renamed(part: Tree, at: Path, alias: str, path: Path, facts: list[Fact], name: str) -> Tree:
    if name in get(part.value, at):
        facts.append(fact("both-spellings", (*path, *at, alias), part="key", key=alias, other=name))
        return remove(part, (*at, alias))
    return move(part, (*at, alias), (*at, name))


def _doubts(matchers: dict[str, Any], steps: tuple[str, ...], path: Path) -> Iterator[Fact]:
    """A field below others that looks like an operator."""
    if len(steps) < 2:
        return
    name = steps[-1]
    guess = name if name in _KNOWN else nearest(name, OPERATORS)
    if guess is not None:
        said: dict[str, Any] = {"key": Shown(name), "operator": guess, "field": Shown(".".join(steps))}
        yield fact("matcher-operator-as-field", (*path, *steps), part="key", **said)
