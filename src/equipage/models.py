"""The typed configurations: what `Loaded.config` is, kind by kind, and every part of it.

>>> from equipage.models import ServerConfig, fields
>>> fields(ServerConfig)["phases"]
'the states it goes through, in order'

Each model is immutable. `Config` is the union of them all, `KindName` the names of the built-in
kinds. Models are imported when they are first used.
"""

from __future__ import annotations

import json
import pkgutil
from typing import Any

#: What tools/faces.py makes from the kinds; `make stubs` renews it.
_MADE: dict[str, Any] = json.loads(pkgutil.get_data("equipage", "models.json") or b"")
#: kind → the names of the models that a load may give
KINDS: dict[str, tuple[str, ...]] = {kind: tuple(each) for kind, each in _MADE["kinds"].items()}
#: name → module and name in it, which differs where two parts share a name
_HOMES: dict[str, str] = _MADE["homes"]

__all__ = ["KINDS", *sorted([*_HOMES, "Config", "KindName"]), "fields", "kind_of_model"]


def __getattr__(name: str) -> Any:
    if name in ("Config", "KindName"):
        return _union(name)
    if name not in _HOMES:
        raise AttributeError(f"module 'equipage.models' has no attribute {name!r}")
    from importlib import import_module

    module, _, own = _HOMES[name].partition(":")
    value = getattr(import_module(module), own)
    globals()[name] = value
    return value


def _union(name: str) -> Any:
    """`Config` or `KindName` for programs that look at types while they run."""
    from functools import reduce
    from operator import or_
    from typing import Literal

    if name == "KindName":
        return Literal[tuple(KINDS)]
    return reduce(or_, (__getattr__(each) for models in KINDS.values() for each in models))


def __dir__() -> list[str]:
    return sorted(__all__)


def fields(model: type[Any]) -> dict[str, str]:
    """What each field of a model means, by its name in Python.

    >>> from equipage.models import Skill, fields
    >>> fields(Skill)["always"]
    'whether the text is part of the prompt from the start'
    """
    from equipage.loading.editor_schema import meaning_of

    names = getattr(model, "__struct_fields__", None) or tuple(model.__annotations__)
    return {name: meaning_of(model, name) for name in names}


def kind_of_model(model: type[Any]) -> str | None:
    """The kind whose loads give such a model: built in, or brought by an installed package.

    >>> from equipage.models import Blueprint, kind_of_model
    >>> kind_of_model(Blueprint)
    'blueprint'
    """
    for kind, models in KINDS.items():
        if model.__name__ in models and __getattr__(model.__name__) is model:
            return kind
    from equipage.project.registry import installed_formats

    return next((name for name, kind in installed_formats().items() if kind.model is model), None)
