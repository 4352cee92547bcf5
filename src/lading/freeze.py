"""The last step: whatever is still mutable in a configuration becomes immutable.

`msgspec.convert` builds frozen Structs and tuples, but leaves plain dicts, and free-form slots as they were
given. `freeze` replaces both by small subclasses that refuse mutation, yet compare, copy, pickle, hash and
serialise like plain ones. It promises that nothing is changed by accident; it is no wall against
`dict.__setitem__(frozen, …)`.
"""

from __future__ import annotations

from typing import Any, Final, NoReturn

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
    if isinstance(config, msgspec.Struct):
        _freeze_struct(config, {})
        return config
    return frozen(config)


def _freeze_struct(struct: Any, memo: dict[int, Any]) -> None:
    for name in struct.__struct_fields__:
        value = getattr(struct, name)
        if value.__class__ in _ATOMS or value == ():
            continue
        new = _freeze_part(value, memo)
        if new is not value:
            force_setattr(struct, name, new)


def _freeze_part(value: Any, memo: dict[int, Any]) -> Any:
    if isinstance(value, msgspec.Struct):
        _freeze_struct(value, memo)
        return value
    kind: Any = type(value)
    if kind is tuple:
        for each in value:
            if each.__class__ in _CONTAINERS:
                return tuple(_freeze_part(item, memo) for item in value)
            if each.__class__ not in _ATOMS:
                _freeze_part(each, memo)
        return value
    if kind is dict and any(isinstance(each, msgspec.Struct | tuple) for each in value.values()):
        return FrozenDict({key: _freeze_part(each, memo) for key, each in value.items()})
    return frozen(value, memo)
