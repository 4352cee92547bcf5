"""What fields mean: from the comments `#:` beside them, or from the table of a convention."""

from __future__ import annotations

import ast
import inspect
import re
import sys
from collections.abc import Iterator, Sequence
from functools import cache

from equipage.kinds.tables import Field


def meaning_of(cls: type, field: str) -> str:
    """What a field of a model means, in a few words; empty if it has no meaning written down."""
    return _commented(cls).get(field) or _of_convention(cls, field)


def _of_convention(cls: type, name: str) -> str:
    """What the table of a convention, or of a group in it, says about a field."""
    from equipage.kinds.conventions.kind import fields_of

    fields: Sequence[Field] = getattr(cls, "FIELDS", None) or fields_of(cls)
    # An attribute that Python reserves ends with `_`.
    named = (each for each in fields if re.sub(r"\W", "_", each.name) in (name, name.rstrip("_")))
    field = next(named, None)
    if field is None:
        return "the text below the header" if name == "body" else ""
    return "; ".join(_facts(field))


def _facts(field: Field) -> Iterator[str]:
    if field.meaning:
        yield field.meaning
    if field.required == "error":
        yield "**required**: the tool ignores a file without it"
    elif field.required:
        yield "recommended"
    if field.restricts:
        yield "*restricts* the agent, so a misspelling is an error"
    if field.split is not None:
        yield f"a list, or text divided at `{field.split}`"
    if field.refers is not None:
        yield f"every {field.refers} it names must exist"
    if field.instead:
        others = ", ".join(f"`{name}`" for name in field.instead)
        yield f"common misspelling, which the tool ignores: {others}"


@cache
def _commented(cls: type) -> dict[str, str]:
    """The `#:` comments of a class, its bases included, by the name of the field they describe."""
    comments: dict[str, str] = {}
    for each in reversed(cls.__mro__):
        if each.__module__.startswith("equipage.") and each.__name__ in _classes(each.__module__):
            comments |= _comments_in(each.__module__, each.__name__)
    return comments


@cache
def _classes(module: str) -> dict[str, ast.ClassDef]:
    tree = ast.parse(inspect.getsource(sys.modules[module]))
    return {node.name: node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}


def _comments_in(module: str, name: str) -> dict[str, str]:
    lines = inspect.getsource(sys.modules[module]).splitlines()
    found: dict[str, str] = {}
    for node in _classes(module)[name].body:
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            beside = lines[node.end_lineno - 1] if node.end_lineno else ""
            comment = _after(beside, "#: ") or " ".join(_above(lines, node.lineno - 2))
            if comment:
                found[node.target.id] = comment
    return found


def _above(lines: list[str], number: int) -> list[str]:
    comments: list[str] = []
    while lines[number].strip().startswith("#: "):
        comments.insert(0, _after(lines[number], "#: "))
        number -= 1
    return comments


def _after(line: str, mark: str) -> str:
    return line.partition(mark)[2].strip()
