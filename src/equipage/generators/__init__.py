"""Payload generators: what a `$generate` node stands for.

`build` turns the mapping under `$generate` into a frozen `Generator`, whose size is known and whose bytes are made
only when somebody reads them; or says everything that is wrong with it. There are six types, and programs and
plugins may `register` more.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from equipage.core.diagnostics import Fact, Shown
from equipage.core.path import Path
from equipage.core.text import nearest
from equipage.generators import codes
from equipage.generators.base import (
    REFUSED,
    Buffered,
    CompactJson,
    Generator,
    GeneratorLimits,
    Parameter,
    PayloadTooLarge,
    Streamed,
    fields_of,
    format_size,
    instead,
    parse_size,
    too_large,
)
from equipage.generators.payloads import (
    AnsiEscape,
    BatchNotifications,
    Garbage,
    NestedJson,
    RepeatedKeys,
    UnicodeSpam,
)

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint


# --- registry ----------------------------------------------------------------------------------
# The generators there are.
#
# The six of the format are registered when the package is imported. A program adds its own with `register`; an
# installed package offers one through the entry point group `equipage.generators`, whose entries are named for the type:
#
#     [project.entry-points."equipage.generators"]
#     zip_bomb = "some_package.bombs:ZipBomb"
#
# Entry points are looked at only for a type that is not registered, and only where the caller allows plugins. A
# configuration can thus select among what its reader has installed and allowed, and never names code to import.

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
    except (
        Exception
    ) as problem:  # foreign code may raise anything; which plugin it was is what helps
        raise PluginError(
            f"{entry.value} raised {type(problem).__name__} when imported"
        ) from problem
    if not (isinstance(cls, type) and issubclass(cls, Generator)):
        raise PluginError(f"{entry.value} is not a generator class")
    if getattr(cls, "type", None) != entry.name:
        raise PluginError(f"{entry.value} is a generator of another type")
    return cls


# --- building ----------------------------------------------------------------------------------
# From the mapping under `$generate` to a generator, or to everything that is wrong with it.

#: Names that other descriptions of the format use for a parameter, too far from it to be guessed.
_OTHER_NAMES = {"size": "bytes"}

Outcome = tuple[Generator | None, tuple[Fact, ...]]


def build(params: object, limits: GeneratorLimits, path: Path, *, plugins: bool = False) -> Outcome:
    """The generator that `params`, the value of `$generate` at `path`, describes, and what was found about it.

    Every problem of the node is reported, each at its parameter; with any error there is no generator. Limits on
    count and depth come before the limit on size, and the size is computed from the parameters: nothing is made.
    `plugins` allows types that installed packages offer.
    """
    if not isinstance(params, Mapping):
        return None, (codes.GENERATOR_NOT_A_MAPPING.at(path, found=Shown(params, as_found=True)),)
    cls, facts = _class_of(params, path, plugins=plugins)
    if cls is None:
        return None, facts
    values, facts = _read(cls, params, limits, path)
    facts += _unknown(cls, params, path)
    if values is None:
        return None, facts
    generator = cls(**values)
    if generator.estimated_size > limits.max_payload_bytes:
        blamed = (*path, cls.sized_by) if cls.sized_by in params else path
        return None, (*facts, too_large(generator.estimated_size, blamed, limits))
    return generator, facts


def _class_of(
    params: Mapping[str, object], path: Path, *, plugins: bool
) -> tuple[type[Generator] | None, tuple[Fact, ...]]:
    name, at = params.get("type"), (*path, "type")
    allowed = ", ".join(registered())
    if name is None:
        return None, (codes.GENERATOR_TYPE_MISSING.at(path, allowed=allowed),)
    if not isinstance(name, str):
        found = Shown(name, as_found=True)
        expected = f"one of {allowed}"
        return None, (
            codes.GENERATOR_PARAMETER_TYPE.at(at, parameter="type", expected=expected, found=found),
        )
    try:
        cls = find(name, plugins=plugins)
    except PluginError as problem:
        return None, (codes.GENERATOR_PLUGIN_BROKEN.at(at, type=Shown(name), reason=str(problem)),)
    if cls is None:
        meant = nearest(name, registered())
        remedy = instead(at, meant)
        found = Shown(name)
        return None, (
            codes.GENERATOR_TYPE_UNKNOWN.at(
                at, remedy=remedy, found=found, allowed=allowed, nearest=meant
            ),
        )
    return cls, ()


def _read(
    cls: type[Generator], params: Mapping[str, object], limits: GeneratorLimits, path: Path
) -> tuple[dict[str, object] | None, tuple[Fact, ...]]:
    """The values for the generator's fields, None if one is missing or refused. Absent ones keep their default."""
    values: dict[str, object] = {}
    facts: list[Fact] = []
    usable = True
    for field in fields_of(cls):
        name, parameter = field.name, cls.accepts[field.name]
        if _is_absent(name, parameter, params):
            if field.required:
                usable = False
                at = (*path, name) if name in params else path
                needs = parameter.expected
                facts.append(
                    codes.GENERATOR_PARAMETER_MISSING.at(
                        at, type=cls.type, parameter=name, expected=needs
                    )
                )
            continue
        value, found = parameter.read(params[name], (*path, name), limits)
        facts += found
        usable = usable and value is not REFUSED
        values[name] = value
    return values if usable else None, tuple(facts)


def _is_absent(name: str, parameter: Parameter, params: Mapping[str, object]) -> bool:
    return name not in params or (params[name] is None and not parameter.nullable)


def _unknown(cls: type[Generator], params: Mapping[str, object], path: Path) -> tuple[Fact, ...]:
    """A warning for each key that is no parameter, with the one of the unused parameters it may stand for."""
    unused = [name for name in cls.accepts if name not in params]
    facts = []
    for key in params:
        if key == "type" or key in cls.accepts:
            continue
        other = _OTHER_NAMES.get(key)
        meant = other if other in unused else nearest(key, unused)
        unknown = codes.GENERATOR_PARAMETER_UNKNOWN.at(
            (*path, key),
            part="key",
            remedy=instead((*path, key), meant, "key"),
            parameter=Shown(key),
            type=cls.type,
            nearest=meant,
        )
        facts.append(unknown)
    return tuple(facts)


# --- generators.codes --------------------------------------------------------------------------
# The findings about generators, in words.


# --- schema ------------------------------------------------------------------------------------
# The JSON Schema of what stands under `$generate`, for editors.


def schema() -> dict[str, object]:
    """One alternative per registered type. Limits are left out: they belong to the machine, not to the format."""
    return {
        "type": "object",
        "required": ["type"],
        "oneOf": [_alternative(cls) for cls in REGISTRY.values()],
    }


def _alternative(cls: type[Generator]) -> dict[str, object]:
    fields = fields_of(cls)
    properties: dict[str, object] = {"type": {"const": cls.type}}
    for field in fields:
        parameter = cls.accepts[field.name]
        optional = not field.required and not parameter.nullable
        properties[field.name] = (
            {"anyOf": [parameter.schema, {"type": "null"}]} if optional else parameter.schema
        )
    required = ["type", *(field.name for field in fields if field.required)]
    return {"title": cls.type, "properties": properties, "required": required}


for _each in (NestedJson, BatchNotifications, Garbage, RepeatedKeys, UnicodeSpam, AnsiEscape):
    register(_each)

__all__ = [
    "REGISTRY",
    "AnsiEscape",
    "BatchNotifications",
    "Buffered",
    "CompactJson",
    "Garbage",
    "Generator",
    "GeneratorLimits",
    "NestedJson",
    "PayloadTooLarge",
    "RepeatedKeys",
    "Streamed",
    "UnicodeSpam",
    "build",
    "format_size",
    "parse_size",
    "register",
    "registered",
    "schema",
]
