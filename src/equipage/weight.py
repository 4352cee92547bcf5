"""How much a value would be if it were written out.

What comes through directives is shared: in memory a file that is included a thousand times is there once. Whoever
walks, writes or hashes the value meets it a thousand times, and a dozen small files that include each other can stand
for more than any machine holds. So growth is bounded before anybody walks.
"""

from __future__ import annotations

from typing import Any

#: How many nodes composing may add to what the files themselves hold.
MAX_ADDED = 1_000_000
#: Text counts too: this many characters weigh as much as one node.
CHARACTERS_PER_NODE = 64
#: What is lighter than this is walked as it is; only beyond it, parts that are used often are worth recognising.
_LIGHT = 200_000
_ATOMS: frozenset[type] = frozenset({int, float, bool, type(None)})


def outweighs(value: Any, allowed: int) -> bool:
    """Whether a value is heavier than `allowed`."""
    if not isinstance(value, dict | list):
        return False
    # The quick walk rounds each text down and so may miss up to half of the weight.
    return not _is_lighter(value, min(allowed // 2, _LIGHT)) and weight(value) > allowed


def _is_lighter(value: Any, limit: int) -> bool:
    """A quick walk that ends at the limit."""
    left = limit
    stack: list[Any] = [value]
    while stack and left > 0:
        node = stack.pop()
        left -= 1 + len(node)
        for child in node.values() if isinstance(node, dict) else node:
            kind = child.__class__
            if kind is str:
                if len(child) >= CHARACTERS_PER_NODE:
                    left -= len(child) // CHARACTERS_PER_NODE
            elif kind not in _ATOMS and isinstance(child, dict | list):
                stack.append(child)
    return left > 0


def weight(value: Any) -> int:
    """The nodes of plain data, each counted as often as it is used; long texts weigh more.

    Each container is looked at once, however often it is used.
    """
    known: dict[int, int] = {}
    stack: list[Any] = [value]
    while stack:
        node = stack[-1]
        if id(node) in known:
            stack.pop()
            continue
        children = node.values() if isinstance(node, dict) else node if isinstance(node, list) else (node,)
        inner = [child for child in children if isinstance(child, dict | list)]
        missing = [child for child in inner if id(child) not in known]
        if missing:
            stack.extend(missing)
            continue
        texts = sum(len(child) for child in children if isinstance(child, str)) // CHARACTERS_PER_NODE
        known[id(node)] = 1 + len(children) - len(inner) + texts + sum(known[id(child)] for child in inner)
        stack.pop()
    return known[id(value)]
