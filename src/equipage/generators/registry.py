"""The generators there are.

The six of the format are registered when the package is imported. A program adds its own with `register`; an
installed package offers one through the entry point group `equipage.generators`, whose entries are named for the type:

    [project.entry-points."equipage.generators"]
    zip_bomb = "some_package.bombs:ZipBomb"

Entry points are looked at only for a type that is not registered, and only where the caller allows plugins. A
configuration can thus select among what its reader has installed and allowed, and never names code to import.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from equipage.generators.base import Generator

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "equipage.generators"

_registered: dict[str, type[Generator]] = {}

#: The registered generators by type; a view that follows later registrations.
REGISTRY: Mapping[str, type[Generator]] = MappingProxyType(_registered)


class PluginError(Exception):
    """An installed plugin cannot be used; the message says why."""


def register(cls: type[Generator]) -> type[Generator]:
    """Make a generator known under its `type`; usable as a decorator.

    Raises `ValueError` if the type is taken by another class.
    """
    if _registered.setdefault(cls.type, cls) is not cls:
        raise ValueError(f"generator type {cls.type!r} is already registered")
    return cls


def registered() -> tuple[str, ...]:
    """The types known without looking at plugins, in the order they were registered."""
    return tuple(_registered)


def find(name: str, *, plugins: bool = False) -> type[Generator] | None:
    """The generator of that type; None if there is none.

    Raises `PluginError` if only a plugin offers it and that cannot be used.
    """
    if name in _registered or not plugins:
        return _registered.get(name)
    from importlib.metadata import entry_points  # slow to import, rarely needed

    for entry in entry_points(group=GROUP, name=name):
        return register(_loaded(entry))
    return None


def _loaded(entry: EntryPoint) -> type[Generator]:
    try:
        cls = entry.load()
    except Exception as problem:  # foreign code may raise anything; which plugin it was is what helps
        raise PluginError(f"{entry.value} raised {type(problem).__name__} when imported") from problem
    if not (isinstance(cls, type) and issubclass(cls, Generator)):
        raise PluginError(f"{entry.value} is not a generator class")
    if getattr(cls, "type", None) != entry.name:
        raise PluginError(f"{entry.value} is a generator of another type")
    return cls
