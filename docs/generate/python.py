"""The page on the Python interface: every public name, from its docstring and its fields."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import msgspec

import equipage
from equipage.loading.editor_schema import meaning_of
from generate.wording import table

#: The public modules; `equipage` comes first, and the others do not repeat its names.
MODULES = ("", ".plugin", ".blueprints", ".toolpacks", ".models")
#: The names of `equipage` itself, by what people want to do.
GROUPS = {
    "Load, check and watch": "load loads discover check check_files watch schema example",
    "What they give": "Loaded Explanation Report FileReport Watch Source Span",
    "Findings and errors": "Diagnostic Label Fix Edit EquipageError LoadError UsageError",
    "A format of your own": """
        Format Reading Limits Includes Files Refs Directives FILE Layer user_layer project_layer by
        Renamed Problem
        """,
    "Formats of single programs": """
        Toolpack ToolpackLoader ToolpackValidationError Profile Profiles discover_profiles
        FoundProfiles find_profiles Skill Skills DiscoveredSkill FoundSkill discover_skills
        SettingsLayer LoadedSettings load_settings expand pre_read_default_agent_kind
        """,
}
#: Methods of a format that the steps of a load call.
_NOT_FOR_CALLERS = frozenset({"adjust_severity", "mark_risky_remedy"})
_INTRODUCTION = """\
# Python

Everything public, made from the docstrings; the tests run the examples. They are about
[these files](../how-to/python.md). What is on this page follows semantic versioning: a name goes,
or changes its meaning, only with a new major version (before 1.0: a new minor one), and with a
line in the changelog. New names, and new fields with a default, come with a minor version. The
modules that names come from are not part of it: import them from `equipage`, `equipage.plugin`
and the other modules that have a section here. `equipage.models` has the types of configurations;
the [kinds](kinds/index.md) explain their fields.
"""


def pages() -> Iterator[tuple[str, str]]:
    """The name and the text of the page."""
    lines = [_INTRODUCTION]
    shown: set[Any] = set()
    for each in MODULES:
        lines += _module(importlib.import_module(f"equipage{each}"), shown)
    lines += _integrations()
    yield "python.md", "\n".join(lines).rstrip() + "\n"


def _module(module: ModuleType, shown: set[Any]) -> Iterator[str]:
    yield f"## `{module.__name__}`"
    yield ""
    yield from _text(inspect.getdoc(module) or "")
    if module.__name__.endswith(".models"):
        yield from _listed(module)
        return
    groups = {"": " ".join(sorted(module.__all__, key=str.lower))}
    if module is equipage:
        groups = GROUPS
        grouped = sorted(name for names in groups.values() for name in names.split())
        assert grouped == sorted({*equipage.__all__} - {"__version__"}), "a name has no group"
    for title, names in groups.items():
        yield from [f"### {title}", ""] if title else []
        for name in names.split():
            value = getattr(module, name)
            if id(value) not in shown:
                shown.add(id(value))
                yield from _entry(name, value, module)


def _listed(module: ModuleType) -> Iterator[str]:
    """A module with many names: one line for each."""
    rows = []
    for name in module.__all__:
        value = getattr(module, name)
        # Without a docstring, a class has the one of its base.
        about = value.__doc__ if inspect.isclass(value) or inspect.isfunction(value) else None
        is_own = about is not None and about != msgspec.Struct.__doc__
        rows.append([f"`{name}`", about.strip().splitlines()[0] if about and is_own else ""])
    yield from table(["name", "what it is"], rows)
    yield ""


def _integrations() -> Iterator[str]:
    """The docstrings of modules that need other programs, which may not be here."""
    yield from ["## Integrations", ""]
    for path in sorted((Path(equipage.__file__).parent / "integrations").glob("[!_]*.py")):
        yield from [f"### `equipage.integrations.{path.stem}`", ""]
        yield from _text(ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or "")


def _entry(name: str, value: Any, module: ModuleType) -> Iterator[str]:
    yield f"#### `{name}`"
    yield ""
    if not inspect.isclass(value) and not inspect.isfunction(value):
        yield from _text(_comment_on(name, module))
        return
    if inspect.isfunction(value):
        yield from ["```text", f"{name}{_signature(value)}", "```", ""]
    yield from _text(inspect.getdoc(value) or "")
    if inspect.isclass(value):
        yield from _fields(value)
        for method, each in vars(value).items():
            about = inspect.getdoc(each)
            if (
                not method.startswith("_")
                and method not in _NOT_FOR_CALLERS
                and about
                and (inspect.isfunction(each) or isinstance(each, property))
            ):
                called = _signature(each) if inspect.isfunction(each) else ""
                yield from [
                    f"**`{method}{called.replace('(self, ', '(').replace('(self)', '()')}`**",
                    "",
                ]
                yield from _text(about)


def _comment_on(name: str, module: ModuleType) -> str:
    """What the comment above a constant, or a name for a type, says."""
    homes = (
        (home, names.split() if isinstance(names, str) else names)
        for home, names in module._HOMES.items()
    )
    home = next(home for home, names in homes if name in names)
    return _comments_in(importlib.import_module(f"equipage.{home}"))[name]


@cache
def _comments_in(module: ModuleType) -> dict[str, str]:
    """The comments above the constants of a module."""
    found = re.findall(r"((?:^#: .*\n)+)^(\w+)\b", inspect.getsource(module), re.MULTILINE)
    return {name: comment.replace("#: ", "").strip() for comment, name in found}


def _signature(function: Any) -> str:
    """The arguments of a function; annotations are not quoted."""
    return re.sub(r"((?:: |-> ))'([^']+)'", r"\1\2", str(inspect.signature(function)))


def _fields(cls: type[Any]) -> Iterator[str]:
    names = getattr(cls, "__struct_fields__", None) or tuple(inspect.get_annotations(cls))
    written = {key: each for base in reversed(cls.__mro__) for key, each in _annotations(base)}
    rows = [
        [f"`{each}`", f"`{written[each]}`".replace("|", "\\|"), _meaning(cls, each)]
        for each in names
        if not each.startswith("_")
    ]
    if rows and (
        issubclass(cls, msgspec.Struct | equipage.Loaded) or hasattr(cls, "__dataclass_fields__")
    ):
        yield from table(["attribute", "type", "what it is"], rows)
        yield ""
        types = " ".join(row[1] for row in rows)
        known = _comments_in(inspect.getmodule(cls) or equipage)
        used = [name for name in known if re.search(rf"\b{name}\b", types)]
        yield from (f"- `{name}`: {' '.join(known[name].split())}" for name in used)
        yield from [""] if used else []


def _meaning(cls: type[Any], field: str) -> str:
    """What is written below a field, or behind it."""
    found = re.search(rf"^    {field}: .*  #: (.*)$", inspect.getsource(cls), re.MULTILINE)
    return found[1] if found is not None else meaning_of(cls, field)


def _annotations(cls: type[Any]) -> Iterator[tuple[str, str]]:
    for name, each in inspect.get_annotations(cls).items():
        yield name, each if isinstance(each, str) else getattr(each, "__name__", str(each))


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
