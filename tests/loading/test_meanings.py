"""What fields mean: the docstring below each, which editors show, and what is made of it."""

from __future__ import annotations

import ast
import inspect
import sys
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import pytest

import equipage
from equipage import models
from equipage.loading.editor_schema import meaning_of
from equipage.models import fields

STUB = Path(models.__file__).with_suffix(".pyi")


@cache
def classes(file: str) -> dict[str, ast.ClassDef]:
    tree = ast.parse(Path(file).read_text(encoding="utf-8"))
    return {node.name: node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}


def documented(node: ast.ClassDef) -> set[str]:
    """The fields that have a string right below them, as pyright, PyCharm and Sphinx look for it."""
    found = set()
    for field, below in zip(node.body, node.body[1:], strict=False):
        is_string = isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant)
        if isinstance(field, ast.AnnAssign) and is_string:
            assert isinstance(field.target, ast.Name)
            found.add(field.target.id)
    return found


def silent(cls: type[Any]) -> list[str]:
    """The fields of a class about which an editor has nothing to show."""
    in_stub = classes(str(STUB)).get(cls.__name__)
    if in_stub is not None and cls.__module__ == "equipage.clients.format":
        known = documented(in_stub)
    else:
        bases = [each for each in cls.__mro__ if each.__module__.startswith("equipage.")]
        files = [(each, inspect.getsourcefile(sys.modules[each.__module__])) for each in bases]
        known = {
            name for each, file in files for name in documented(classes(file or "")[each.__name__])
        }
    names = getattr(cls, "__struct_fields__", None) or tuple(inspect.get_annotations(cls))
    return [name for name in names if not name.startswith("_") and name not in known]


def public_classes() -> list[type[Any]]:
    values = [getattr(module, name) for module in (models, equipage) for name in module.__all__]
    return [each for each in values if inspect.isclass(each)]


def test_every_field_of_a_public_class_has_a_docstring() -> None:
    found = {cls.__name__: silent(cls) for cls in public_classes()}
    assert len(found) > 300
    assert {name: names for name, names in found.items() if names} == {}


class Base(msgspec.Struct):
    """A model of another package."""

    name: str
    """The name that
    people see."""
    bare: int = 0


class Model(Base):
    url: str = ""
    """URL of the service."""
    model: str | None = None
    """None: the caller's."""
    made: str = ""
    """`{$file: …}`, or text. It may be empty."""


@pytest.mark.parametrize(
    ("field", "meaning"),
    [
        ("name", "the name that people see"),
        ("bare", ""),
        ("url", "URL of the service"),
        ("model", "None: the caller's"),
        ("made", "`{$file: …}`, or text. It may be empty"),
    ],
)
def test_a_docstring_becomes_a_part_of_a_sentence(field: str, meaning: str) -> None:
    assert meaning_of(Model, field) == meaning


def test_a_class_without_source_has_no_meanings() -> None:
    made = msgspec.defstruct("Made", [("name", str)], module="builtins")
    assert fields(made) == {"name": ""}
