"""Paths: where a value is inside a document or a configuration.

A path is a tuple of mapping keys (str) and list indexes (int). People write and read it as
`phases[1].replace_tools.calculator`; keys that are not identifiers are in brackets, as in
`resources["file:///a.b"]`. `parse_path(format_path(p)) == p` for every path. `get` and `walk` read
plain values by path; a `HOLE` is where a value could not be had.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Final

from equipage.core.text import lazy_regex, visible

#: The keys and indexes that lead to a value: `("tools", 0, "url")` is `tools[0].url`.
Path = tuple[str | int, ...]

#: The path of the whole value.
ROOT: Path = ()

_NAME = lazy_regex(r"[A-Za-z_$][A-Za-z0-9_$-]*")
#: `.name` (at the start without its dot), `[3]`, or `["a JSON string"]`.
_STEP = lazy_regex(
    r"""
      (?P<dot>\.)?(?P<name>[A-Za-z_$][A-Za-z0-9_$-]*)
    | \[(?P<index>\d+)\]
    | \[(?P<quoted>"(?:[^"\\]|\\.)*")\]
    """,
    re.VERBOSE,
)


class PathSyntaxError(ValueError):
    """A written path could not be read; `offset` is where reading stopped."""

    def __init__(self, written: str, offset: int) -> None:
        self.written, self.offset = written, offset
        super().__init__(
            f"cannot read the path `{visible(written)}` at character {offset + 1}; a path looks "
            'like `tools[0].tool.name` or `resources["file:///x"]`'
        )


def format_path(path: Path) -> str:
    """The path as people read it; the root is the empty string."""
    parts: list[str] = []
    for step in path:
        if isinstance(step, int):
            parts.append(f"[{step}]")
        elif _NAME.fullmatch(step):
            parts.append(f".{step}" if parts else step)
        else:
            parts.append(f"[{json.dumps(step, ensure_ascii=False)}]")
    return "".join(parts)


def parse_path(written: str) -> Path:
    """The path that `format_path` would write as `written`. Raises `PathSyntaxError`."""
    steps: list[str | int] = []
    offset = 0
    while offset < len(written):
        match = _STEP.match(written, offset)
        if match is None or (match["name"] and bool(match["dot"]) == (offset == 0)):
            raise PathSyntaxError(written, offset)
        try:
            if match["name"]:
                steps.append(match["name"])
            elif match["index"]:
                steps.append(int(match["index"]))
            else:
                steps.append(json.loads(match["quoted"], strict=False))
        except ValueError:  # a broken escape, or more digits than Python reads
            raise PathSyntaxError(written, offset) from None
        offset = match.end()
    return tuple(steps)


def pointer(path: Path) -> str:
    """The path as an RFC 6901 JSON Pointer."""
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in path)


class Hole:
    """Takes the place of a value that could not be had: findings below it would be noise."""

    __slots__ = ()
    _only: Hole | None = None

    def __new__(cls) -> Hole:
        cls._only = cls._only or super().__new__(cls)
        return cls._only

    def __repr__(self) -> str:
        return "HOLE"


#: In place of a value that could not be had: nothing is reported about it, or below it.
HOLE: Final = Hole()


def path_pattern(written: str) -> re.Pattern[str]:
    """A pattern of paths as an expression over steps, each followed by a NUL.

    Steps are divided by dots, and an index may be in brackets; `*` is any one step, `**` any number
    of them: `tools[*].url`, `**.tools`.
    """
    steps = re.sub(r"\[(\*|\d+)\]", r".\1", written).split(".")
    parts = {"**": "(?:[^\0]*\0)*", "*": "[^\0]*\0"}
    return re.compile("".join(parts.get(step, re.escape(step) + "\0") for step in steps if step))


def matches_path(pattern: re.Pattern[str], path: Path) -> bool:
    """Whether a path fits a pattern that `path_pattern` made."""
    return pattern.fullmatch("".join([f"{step}\0" for step in path])) is not None


def get(value: Any, path: Path, default: Any = None) -> Any:
    """The part of a plain value at `path`, or `default`."""
    for step in path:
        if value.__class__ is dict or isinstance(value, dict):
            if step not in value:
                return default
        elif not isinstance(value, list) or not isinstance(step, int) or step >= len(value):
            return default
        value = value[step]
    return value


def mapping_or_empty(value: Any) -> dict[str, Any]:
    """The value if it is a mapping, else an empty one."""
    return value if isinstance(value, dict) else {}


def walk(value: Any, path: Path = ROOT) -> Iterator[tuple[Path, Any]]:
    """Every node of a plain value with its path, parents first, in document order."""
    stack: list[tuple[Path, Any]] = [(path, value)]
    while stack:
        here, node = stack.pop()
        yield here, node
        if isinstance(node, dict):
            stack.extend(((*here, key), child) for key, child in reversed(node.items()))
        elif isinstance(node, list):
            stack.extend(((*here, number), node[number]) for number in range(len(node) - 1, -1, -1))


def entries_at(value: Any, path: Path) -> Iterator[tuple[Path, Any]]:
    """The entries of the list at a path, each with its own path; none if it is not a list."""
    found = get(value, path)
    for number, entry in enumerate(found if isinstance(found, list | tuple) else ()):
        yield (*path, number), entry


def table_at(value: Any, path: Path) -> dict[str, Any]:
    """The table at a path, an empty one if it is not a table."""
    return mapping_or_empty(get(value, path))
