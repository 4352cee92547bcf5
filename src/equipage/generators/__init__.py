"""Payload generators: what a `$generate` node stands for.

`build` turns the mapping under `$generate` into a frozen `Generator`, whose size is known and whose bytes are made
only when somebody reads them; or says everything that is wrong with it. There are six types, and programs and
plugins may `register` more.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from equipage.core.codes import Code
from equipage.core.diagnostics import Fact, Shown, fact
from equipage.core.path import Path
from equipage.core.text import nearest
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
        return None, (fact("generator-not-a-mapping", path, found=Shown(params, as_found=True)),)
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
        return None, (fact("generator-type-missing", path, allowed=allowed),)
    if not isinstance(name, str):
        found = Shown(name, as_found=True)
        expected = f"one of {allowed}"
        return None, (
            fact("generator-parameter-type", at, parameter="type", expected=expected, found=found),
        )
    try:
        cls = find(name, plugins=plugins)
    except PluginError as problem:
        return None, (fact("generator-plugin-broken", at, type=Shown(name), reason=str(problem)),)
    if cls is None:
        meant = nearest(name, registered())
        remedy = instead(at, meant)
        found = Shown(name)
        return None, (
            fact(
                "generator-type-unknown",
                at,
                remedy=remedy,
                found=found,
                allowed=allowed,
                nearest=meant,
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
                    fact(
                        "generator-parameter-missing",
                        at,
                        type=cls.type,
                        parameter=name,
                        expected=needs,
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
        unknown = fact(
            "generator-parameter-unknown",
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

CODES: tuple[Code, ...] = (
    Code(
        "generator-not-a-mapping",
        "error",
        "`$generate` takes a mapping with a `type`, not {found}",
        "A `$generate` node says which payload to make. It is a mapping: `type` names the generator, and the other "
        "keys are its parameters. Write, for example, `$generate: {type: garbage, bytes: 1kb}`.",
    ),
    Code(
        "generator-type-missing",
        "error",
        "`$generate` does not say which `type` of payload to make",
        "The key `type` of a `$generate` node names the generator; without it the other keys have no meaning. Add "
        "one of the known types.",
        "write `type:` with one of {allowed}",
    ),
    Code(
        "generator-type-unknown",
        "error",
        "`{found}` is not a type of generator, known are {allowed}",
        "The `type` of a `$generate` node must be one of the generators equipage knows or one an installed plugin "
        "adds. Names are matched exactly, lower case with underscores.",
        "did you mean `{nearest}`?",
    ),
    Code(
        "generator-plugin-broken",
        "error",
        "the plugin for generator `{type}` cannot be used: {reason}",
        "An installed package offers this generator, but loading it failed or gave something that is no generator. "
        "Update or remove the package; nothing in the configuration is wrong.",
    ),
    Code(
        "generator-parameter-missing",
        "error",
        "generator `{type}` needs `{parameter}`",
        "This parameter has no default: it says how much to make, and no guess would be right. Null counts as "
        "missing. Add it to the `$generate` node.",
        "add `{parameter}`, {expected}",
    ),
    Code(
        "generator-parameter-unknown",
        "warning",
        "`{parameter}` is not a parameter of generator `{type}` and is ignored",
        "The generator does not know this key, so it changes nothing. Often it is a misspelling, and the parameter "
        "that was meant silently keeps its default. Correct the name or remove the key.",
        "did you mean `{nearest}`?",
    ),
    Code(
        "generator-parameter-type",
        "error",
        "`{parameter}` takes {expected}, not {found}",
        "The parameter has a value of the wrong type. Values are never converted: `5` in quotes is a string, `5.0` "
        "is no whole number, and true and false are not 1 and 0. Write a value of the expected type.",
    ),
    Code(
        "generator-parameter-range",
        "error",
        "`{parameter}` takes {expected}, not {found}",
        "The number is outside what the parameter can mean. Counts, depths and sizes are never negative, and a seed "
        "is an unsigned 64-bit number.",
    ),
    Code(
        "generator-size-unreadable",
        "error",
        "`{parameter}` takes a number of bytes such as 512 or `1mb`, not `{found}`",
        "A size is a whole number of bytes, or digits followed by `b`, `kb`, `mb` or `gb` in any case. Units are "
        "binary, so `1kb` is 1024 bytes. There are no fractions and no signs.",
    ),
    Code(
        "generator-choice-unknown",
        "error",
        "`{found}` is not possible for `{parameter}`, use one of {allowed}",
        "The parameter takes one of a few words, matched exactly. Falling back to the default would send another "
        "payload than the one asked for, so an unknown word is an error.",
        "did you mean `{nearest}`?",
    ),
    Code(
        "generator-value-not-json",
        "error",
        "`{parameter}` cannot be sent as JSON: {reason}",
        "The generator writes this value into its output as UTF-8 JSON, and JSON has no form for it. Strings must "
        "be whole Unicode text, keys must be strings, and numbers must have a sensible number of digits.",
    ),
    Code(
        "generator-value-becomes-null",
        "warning",
        "`{parameter}` contains a number JSON cannot write, null is sent instead",
        "JSON has no NaN and no infinity. The format sends null in their place. Write null to say so, or a string "
        "such as `NaN` if the receiver should see the word.",
    ),
    Code(
        "generator-makes-nothing",
        "warning",
        "with an empty or zero `{parameter}` the generator makes an empty payload",
        "A count of 0 or an empty list is accepted, but the payload then has no items. If that is meant, plain text "
        "says it more clearly; otherwise give a larger count or name some items.",
    ),
    Code(
        "generator-over-limit",
        "error",
        "`{parameter}` is {found}, over the limit of {limit}",
        "Depths and counts are bounded, so that a slip of a zero does not exhaust the machine that serves the "
        "payload. Choose a smaller number, or raise the limit through its environment variable where equipage runs.",
        "set {variable} to allow more",
    ),
    Code(
        "generator-too-large",
        "error",
        "Generated payload too large: {size} (limit: {limit})",
        "The size of a payload is known before a byte of it is made, and it is over the limit. Choose smaller "
        "parameters, or raise the limit through its environment variable where equipage runs; sizes such as `1gb` "
        "are understood there.",
        "it would have {bytes} bytes; set {variable} to allow more",
    ),
    Code(
        "generator-limit-unreadable",
        "warning",
        "{variable} is not a number that can be a limit, the default of {default} is used",
        "The environment variable sets how much a generator may make. It takes a whole number, and a size such as "
        "`1gb` where the limit is in bytes; blanks, signs other than `+`, fractions and numbers beyond 64 bits are "
        "not understood. Its value is not shown, as environment variables may hold secrets.",
    ),
)


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
    "CODES",
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
