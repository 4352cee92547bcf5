"""The meanings of fields, from their docstrings or from the table of a convention."""

from __future__ import annotations

import ast
import inspect
import re
import sys
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import pairwise

from equipage.clients.catalogue import Field


def meaning_of(cls: type, field: str) -> str:
    """What a field of a model means, in a few words; empty if it has no meaning written down."""
    return _documented_meanings(cls).get(field) or _convention_meaning(cls, field)


def _convention_meaning(cls: type, name: str) -> str:
    """What the table of a convention, or of a group in it, says about a field."""
    from equipage.clients.kind import fields_of

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
def _documented_meanings(cls: type) -> dict[str, str]:
    """The docstrings of the fields of a class, its bases included, as meanings."""
    found: dict[str, str] = {}
    for each in reversed(cls.__mro__):
        node = _class_nodes(each.__module__).get(each.__name__)
        found |= {} if node is None else _docstrings(node)
    return found


@cache
def _class_nodes(module: str) -> dict[str, ast.ClassDef]:
    try:
        tree = ast.parse(inspect.getsource(sys.modules[module]))
    except (OSError, TypeError):  # built in, or installed without its source
        return {}
    return {node.name: node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}


def _docstrings(cls: ast.ClassDef) -> dict[str, str]:
    """The string below each field, which editors show and Python drops."""
    found: dict[str, str] = {}
    for node, below in pairwise(cls.body):
        match node, below:
            case (
                ast.AnnAssign(target=ast.Name(id=name)),
                ast.Expr(value=ast.Constant(value=str(text))),
            ):
                found[name] = _clause(" ".join(text.split()))
    return found


def _clause(sentence: str) -> str:
    """A sentence as part of another one: without its period and its capital.

    A first word that has more capitals, or is `None`, is a name and stays.
    """
    first = sentence.partition(" ")[0].rstrip(":,;.")
    is_name = first == "None" or first[1:] != first[1:].lower()
    return (sentence if is_name else sentence[:1].lower() + sentence[1:]).removesuffix(".")
