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
_ATOMS: frozenset[type] = frozenset({str, int, float, bool, type(None)})


def is_light(value: Any, written: int) -> bool:
    """Whether a value made of files of `written` characters is surely light enough.

    No text of it can be longer than the files, so counting nodes is enough, and quick for what is small.
    """
    left = (MAX_ADDED + written) // (1 + written // CHARACTERS_PER_NODE)
    stack: list[Any] = [value]
    while stack:
        node = stack.pop()
        if not isinstance(node, dict | list):
            continue
        left -= 1 + len(node)
        if left < 0:
            return False
        children = node.values() if isinstance(node, dict) else node
        stack += [each for each in children if each.__class__ not in _ATOMS]
    return True


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
