"""JSON values made worse: parts replaced, removed, renamed, repeated, wrapped or exchanged."""

from __future__ import annotations

import copy
import random
from typing import Any

#: What parsers and handlers stumble over.
ODD = (
    *(None, True, False, 0, -1, 1, 2**31, -(2**31) - 1, 2**53 + 1, 2**63, 2**64, 10**30, 0.5, 1e308, -0.0),
    *("", " ", "a", "\0", "\n", "\ud800", "\u202e", "\U0001f600", "é", "e\u0301", "x" * 3000),
    *("../../etc/passwd", "/etc/passwd", "~", "file:///etc/passwd", "http://127.0.0.1:1/x", "${A}"),
    *("__class__", "constructor", "$ref", "-rf", "2026-07-28", "sha256:" + "0" * 64),
    *([], {}, [[]], [{}], {"": None}, [None] * 200, {str(number): number for number in range(50)}),
)  # fmt: skip


def odd(rng: random.Random) -> Any:
    """A value that is out of place."""
    if rng.random() < 0.02:
        deep: Any = 1
        for _ in range(rng.choice((20, 70, 300))):
            deep = [deep] if rng.random() < 0.5 else {"a": deep}
        return deep
    return copy.deepcopy(rng.choice(ODD))


def reshaped(value: Any, rng: random.Random, changes: int | None = None) -> Any:
    """A copy of a JSON value with a few changes."""
    value = copy.deepcopy(value)
    for _ in range(changes if changes is not None else rng.choice((0, 1, 1, 1, 2, 3))):
        value = _changed(value, rng)
    return value


def _places(value: Any) -> list[tuple[Any, Any]]:
    """Every container with each of its keys."""
    found: list[tuple[Any, Any]] = []
    waiting = [value]
    while waiting:
        node = waiting.pop()
        keys: Any = node if isinstance(node, dict) else range(len(node))
        for key in keys:
            found.append((node, key))
            if isinstance(node[key], dict | list):
                waiting.append(node[key])
    return found


def _changed(value: Any, rng: random.Random) -> Any:
    places = _places(value) if isinstance(value, dict | list) else []
    if not places or rng.random() < 0.02:
        return odd(rng)
    node, key = rng.choice(places)
    what = rng.randrange(8)
    if what <= 2:
        node[key] = odd(rng)
    elif what == 3:
        del node[key]
    elif what == 4 and isinstance(node, dict):
        name = odd(rng)
        node[name if isinstance(name, str) else f"{key}x"] = node.pop(key)
    elif what == 5:
        node[key] = [node[key]] * rng.choice((1, 2, 30))
    elif what == 6:
        node[key] = {"a": node[key], str(key): odd(rng)}
    else:
        other, name = rng.choice(places)
        # A copy: a value that contains itself is not JSON.
        node[key] = copy.deepcopy(other[name])
    return value
