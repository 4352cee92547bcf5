"""The last step: whatever is still mutable in a configuration becomes immutable.

`msgspec.convert` builds frozen Structs and tuples, but leaves plain dicts, and free-form slots as they were
given. `freeze` replaces both by small subclasses that refuse mutation, yet compare, copy, pickle, hash and
serialise like plain ones. It promises that nothing is changed by accident; it is no wall against
`dict.__setitem__(frozen, …)`.
"""

from __future__ import annotations

from types import UnionType
from typing import Annotated, Any, Final, Literal, NoReturn, Union, get_args, get_origin

import msgspec
from msgspec.structs import force_setattr


def _refuse(self: object, *_args: object, **_kwargs: object) -> NoReturn:
    raise TypeError(f"a loaded configuration is immutable; copy it first: {type(self).__mro__[1].__name__}(…)")


class FrozenDict(dict[Any, Any]):
    """A dict that refuses to change, and can be hashed."""

    __slots__ = ()
    __setitem__ = __delitem__ = _refuse
    clear = pop = popitem = setdefault = update = __ior__ = _refuse

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset(self.items()))

    def __reduce__(self) -> tuple[Any, ...]:
        return FrozenDict, (dict(self),)

    def __copy__(self) -> FrozenDict:
        return self

    def __deepcopy__(self, _memo: object) -> FrozenDict:
        return self


#: The default of a mapping nobody wrote: frozen from the start, and left out of plain data because it is the default.
EMPTY: Final[dict[Any, Any]] = FrozenDict()


class FrozenList(list[Any]):
    """A list that refuses to change, and can be hashed."""

    __slots__ = ()
    __setitem__ = __delitem__ = _refuse
    append = extend = insert = pop = remove = clear = sort = reverse = _refuse
    __iadd__ = __imul__ = _refuse

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(tuple(self))

    def __reduce__(self) -> tuple[Any, ...]:
        return FrozenList, (list(self),)

    def __copy__(self) -> FrozenList:
        return self

    def __deepcopy__(self, _memo: object) -> FrozenList:
        return self


def frozen(value: Any, memo: dict[int, Any] | None = None) -> Any:
    """A plain value, deeply frozen. Parts that were shared stay shared."""
    if memo is None:
        memo = {}
    kind: Any = type(value)
    if kind is dict:
        known = memo.get(id(value))
        if known is None:
            known = memo[id(value)] = FrozenDict(value)
            for key, each in value.items():
                if each.__class__ in _CONTAINERS:
                    dict.__setitem__(known, key, frozen(each, memo))
        return known
    if kind is list:
        known = memo.get(id(value))
        if known is None:
            known = memo[id(value)] = FrozenList(value)
            for number, each in enumerate(value):
                if each.__class__ in _CONTAINERS:
                    list.__setitem__(known, number, frozen(each, memo))
        return known
    return value


_CONTAINERS: frozenset[type] = frozenset({dict, list})
_ATOMS: frozenset[type] = frozenset({str, int, float, bool, type(None)})


def thawed(value: Any) -> Any:
    """A frozen value as plain dicts and lists again."""
    if isinstance(value, dict):
        return {key: thawed(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [thawed(each) for each in value]
    return value


def freeze(config: Any) -> Any:
    """A converted configuration with every mutable slot frozen, in place; returns it."""
    return _freeze_part(config, {})


#: The fields of each Struct that can hold something mutable, with their defaults; None for what is no Struct.
_FIELDS: dict[type, tuple[tuple[str, Any], ...] | None] = {}
_NO_DEFAULT: Final = object()


def _freeze_part(value: Any, memo: dict[int, Any]) -> Any:
    kind = value.__class__
    if kind not in _FIELDS:
        _FIELDS[kind] = _fields_of(kind)
    fields = _FIELDS[kind]
    if fields is not None:
        for name, default in fields:
            part = getattr(value, name)
            if part is default or part.__class__ in _ATOMS:
                continue  # msgspec copies mutable defaults; those that are Structs are frozen already
            new = _freeze_part(part, memo)
            if new is not part:
                force_setattr(value, name, new)
        return value
    if kind is tuple:
        for each in value:
            if each.__class__ in _CONTAINERS:
                return tuple([_freeze_part(item, memo) for item in value])
            if each.__class__ not in _ATOMS:
                _freeze_part(each, memo)
        return value
    if kind is dict and any(isinstance(each, msgspec.Struct | tuple) for each in value.values()):
        return FrozenDict({key: _freeze_part(each, memo) for key, each in value.items()})
    return frozen(value, memo)


def _fields_of(cls: Any) -> tuple[tuple[str, Any], ...] | None:
    if not issubclass(cls, msgspec.Struct):
        return None
    names, defaults = cls.__struct_fields__, cls.__struct_defaults__
    pairs = zip(names, (*[_NO_DEFAULT] * (len(names) - len(defaults)), *defaults), strict=True)
    for default in defaults:
        if isinstance(default, msgspec.Struct):
            _freeze_part(default, {})  # every configuration shares it
    types = _annotations(cls)
    return tuple(pair for pair in pairs if _can_change(types.get(pair[0]), set()))


def _annotations(cls: type) -> dict[str, Any]:
    """The annotations of a class and those it inherits, as they stand: evaluating text would cost a cold start."""
    return {
        name: each for base in reversed(cls.__mro__) for name, each in vars(base).get("__annotations__", {}).items()
    }


def _can_change(annotation: Any, visited: set[type]) -> bool:
    """Whether a value of this type can hold something mutable, at any depth. Of what is not understood, it can."""
    if annotation in _ATOMS:
        return False
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _can_change(inner[0], visited)
    if origin in (Union, UnionType, tuple):
        return any(each is not ... and _can_change(each, visited) for each in inner)
    if isinstance(annotation, type) and issubclass(annotation, msgspec.Struct):
        if annotation in visited:
            return False
        visited.add(annotation)
        return any(_can_change(each, visited) for each in _annotations(annotation).values())
    return origin is not Literal
