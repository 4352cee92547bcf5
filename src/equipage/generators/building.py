"""From the mapping under `$generate` to a generator, or to everything that is wrong with it."""

from __future__ import annotations

from collections.abc import Mapping

from equipage.diagnostics import Fact, Shown, fact
from equipage.generators.base import Generator, fields_of
from equipage.generators.limits import GeneratorLimits
from equipage.generators.parameters import REFUSED, Parameter, instead, too_large
from equipage.generators.registry import PluginError, find, registered
from equipage.nearest import nearest
from equipage.path import Path

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
        return None, (fact("generator-parameter-type", at, parameter="type", expected=expected, found=found),)
    try:
        cls = find(name, plugins=plugins)
    except PluginError as problem:
        return None, (fact("generator-plugin-broken", at, type=Shown(name), reason=str(problem)),)
    if cls is None:
        meant = nearest(name, registered())
        remedy = instead(at, meant)
        found = Shown(name)
        return None, (fact("generator-type-unknown", at, remedy=remedy, found=found, allowed=allowed, nearest=meant),)
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
                facts.append(fact("generator-parameter-missing", at, type=cls.type, parameter=name, expected=needs))
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
