"""The page on the Python interface: every public name, from its docstring and its fields."""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import msgspec

import equipage
from equipage.loading.editor_schema import meaning_of
from generate.wording import table

#: The public modules; `equipage` comes first, and the others do not repeat its names.
MODULES = ("", ".blueprints", ".toolpacks", ".models", ".plugin")


def pages() -> Iterator[tuple[str, str]]:
    """The name and the text of the page."""
    lines = [
        "# Python",
        "",
        "Everything public, made from the docstrings; the tests run the examples. They are about",
        "[these files](../how-to/python.md). `equipage.models` has the types of configurations;",
        "the [kinds](kinds/index.md) explain their fields.",
        "",
    ]
    shown: set[Any] = set()
    for each in MODULES:
        lines += _module(importlib.import_module(f"equipage{each}"), shown)
    yield "python.md", "\n".join(lines).rstrip() + "\n"


def _module(module: ModuleType, shown: set[Any]) -> Iterator[str]:
    yield f"## `{module.__name__}`"
    yield ""
    yield from _text(inspect.getdoc(module) or "")
    if module.__name__.endswith((".models", ".plugin")):
        yield from _listed(module)
        return
    for name in sorted(module.__all__, key=str.lower):
        value = getattr(module, name)
        if callable(value) and id(value) not in shown:
            shown.add(id(value))
            yield from _entry(name, value)


def _listed(module: ModuleType) -> Iterator[str]:
    """Modules with many names: one line for each."""
    rows = []
    for name in module.__all__:
        value = getattr(module, name)
        about = (inspect.getdoc(value) or "").splitlines() if inspect.isclass(value) else []
        rows.append(
            [f"`{name}`", about[0] if about else "", f"`{value.__module__}`" if about else ""]
        )
    yield from table(["name", "what it is", "from"], rows)
    yield ""


def _entry(name: str, value: Any) -> Iterator[str]:
    yield f"### `{name}`"
    yield ""
    if inspect.isfunction(value):
        yield from ["```text", f"{name}{_signature(value)}", "```", ""]
    yield from _text(inspect.getdoc(value) or "")
    if inspect.isclass(value):
        yield from _fields(value)
        for method, each in vars(value).items():
            about = inspect.getdoc(each)
            if (
                not method.startswith("_")
                and about
                and (inspect.isfunction(each) or isinstance(each, property))
            ):
                called = _signature(each) if inspect.isfunction(each) else ""
                yield from [
                    f"**`{method}{called.replace('(self, ', '(').replace('(self)', '()')}`**",
                    "",
                ]
                yield from _text(about)


def _signature(function: Any) -> str:
    """The arguments of a function; annotations are not quoted."""
    return re.sub(r"((?:: |-> ))'([^']+)'", r"\1\2", str(inspect.signature(function)))


def _fields(cls: type[Any]) -> Iterator[str]:
    names = getattr(cls, "__struct_fields__", None) or tuple(inspect.get_annotations(cls))
    rows = [[f"`{each}`", meaning_of(cls, each)] for each in names if not each.startswith("_")]
    if rows and (
        issubclass(cls, msgspec.Struct | equipage.Loaded) or hasattr(cls, "__dataclass_fields__")
    ):
        yield from table(["attribute", "what it is"], rows)
        yield ""


def _text(docstring: str) -> Iterator[str]:
    """A docstring as Markdown: its examples are blocks of code."""
    inside = False
    for line in docstring.splitlines():
        if line.startswith(">>> ") and not inside:
            inside = True
            yield "```pycon"
        if inside and not line.strip():
            inside = False
            yield "```"
        yield line
    if inside:
        yield "```"
    yield ""
