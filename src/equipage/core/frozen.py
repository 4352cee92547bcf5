"""Convert configurations to their models, freeze them, turn them into plain data, weigh them.

`msgspec.convert` builds frozen Structs and tuples, but leaves plain dicts, and free-form slots as
they were given. `freeze`, the last step of a load, replaces both by small subclasses that refuse
mutation, yet compare, copy, pickle, hash and serialise like plain ones. It promises that nothing is
changed by accident; it is not a wall against `dict.__setitem__(frozen, …)`.
"""

from __future__ import annotations

from _thread import allocate_lock, start_new_thread
from collections.abc import Hashable, Iterator
from contextlib import suppress
from functools import cache
from itertools import islice
from pathlib import PurePath
from typing import Any, Final, NoReturn, Self, TypeVar, cast

import msgspec
from msgspec.structs import force_setattr

_CONTAINERS: frozenset[type] = frozenset({dict, list})
_ATOMS: frozenset[type] = frozenset({str, int, float, bool, type(None)})
_NO_DEFAULT: Final[Any] = object()
_Model = TypeVar("_Model")

_FIRST_USE_LOCK = allocate_lock()
_PREPARED_MODELS: set[Any] = set()  #: the models whose tables msgspec has built


def convert(value: Any, model: Any) -> Any:
    """`msgspec.convert`, safe in threads. Raises `msgspec.ValidationError`.

    msgspec builds the tables of a model at its first use and publishes them before they are filled:
    a second thread that meets them half filled crashes the interpreter. So the first use of every
    model happens alone. Any value builds all tables, also one that does not fit.
    """
    return msgspec.convert(value, prepare(model), dec_hook=_make_path, str_keys=True)


def prepare(model: _Model) -> _Model:
    """Return the model with its tables built, as `msgspec.inspect` and schemas need them, too."""
    if model not in _PREPARED_MODELS:
        _prepare(model)
    return model


def _make_path(cls: type[Any], value: Any) -> Any:
    """A path from text; a value of any other class that msgspec does not know stays as it is."""
    if isinstance(value, str) and issubclass(cls, PurePath):
        return cls(value)
    return value


def _prepare(model: Any) -> None:
    """Use a model for the first time, in a thread of its own.

    An interrupt could stop the main thread anywhere, and leave tables half filled.
    The thread takes and releases the lock, so that nothing uses the model before it is ready.
    """
    done, finished = allocate_lock(), []
    done.acquire()

    def use() -> None:
        # Taken here, so that an interrupt of the caller cannot leave the lock taken.
        with _FIRST_USE_LOCK:
            try:
                if model not in _PREPARED_MODELS:
                    with suppress(Exception):  # the caller's own use raises it again
                        msgspec.convert(None, model, dec_hook=_make_path)
                    _PREPARED_MODELS.add(model)
            finally:
                finished.append(True)
                done.release()

    try:
        start_new_thread(use, ())
    except RuntimeError:  # no more threads, as at the end of a process
        use()
    interrupt: BaseException | None = None
    # Not `while True`: an interrupt may come when the lock is taken and the loop not yet left.
    while not finished:
        try:
            done.acquire()
        except BaseException as error:  # the process may end now, but not while the thread works
            interrupt = error
    if interrupt is not None:
        raise interrupt


# ---------------------------------------------------------------------------------------- freezing


def _refuse_mutation(self: object, *_args: object, **_kwargs: object) -> NoReturn:
    plain = type(self).__mro__[2].__name__
    raise TypeError(f"a loaded configuration is immutable; copy it first: {plain}(…)")


class _Frozen:
    """What both frozen containers share: a copy is the container itself."""

    __slots__ = ()

    def __init__(self, *_args: Any) -> None:
        """Change nothing: `__new__` filled the container, and a second call must not."""

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, _memo: object) -> Self:
        return self


class FrozenDict(_Frozen, dict[Any, Any]):
    """A dict that refuses to change, and can be hashed."""

    __slots__ = ()
    __setitem__ = __delitem__ = _refuse_mutation
    clear = pop = popitem = setdefault = update = __ior__ = _refuse_mutation

    def __new__(cls, *args: Any) -> FrozenDict:
        frozen = super().__new__(cls)
        dict.update(frozen, *args)
        return frozen

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset(self.items()))

    def __reduce__(self) -> tuple[Any, ...]:
        return FrozenDict, (dict(self),)


#: The default of a mapping: frozen from the start, and left out of plain data. A load has its own.
EMPTY: Final[dict[Any, Any]] = FrozenDict()


class FrozenList(_Frozen, list[Any]):
    """A list that refuses to change, and can be hashed."""

    __slots__ = ()
    __setitem__ = __delitem__ = _refuse_mutation
    append = extend = insert = pop = remove = clear = sort = reverse = _refuse_mutation
    __iadd__ = __imul__ = _refuse_mutation

    def __new__(cls, *args: Any) -> FrozenList:
        frozen = super().__new__(cls)
        list.extend(frozen, *args)
        return frozen

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(tuple(self))

    def __reduce__(self) -> tuple[Any, ...]:
        return FrozenList, (list(self),)


def freeze_plain(value: Any, memo: dict[int, Any] | None = None) -> Any:
    """A plain value, deeply frozen. Parts that were shared stay shared."""
    kind: Any = value.__class__
    if kind not in _CONTAINERS:
        return value
    memo = {} if memo is None else memo
    known = memo.get(id(value))
    if known is None:
        if kind is dict:
            known = FrozenDict({key: freeze_plain(each, memo) for key, each in value.items()})
        else:
            known = FrozenList([freeze_plain(each, memo) for each in value])
        memo[id(value)] = known
    return known


def unfreeze(value: Any) -> Any:
    """A frozen value as plain dicts and lists again."""
    if isinstance(value, dict):
        return {key: unfreeze(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [unfreeze(each) for each in value]
    return value


def freeze(config: Any) -> Any:
    """A converted configuration with every mutable slot frozen, in place; returns it."""
    return _freeze_part(config, {})


def _freeze_part(value: Any, memo: dict[int, Any]) -> Any:
    kind = value.__class__
    if kind in _ATOMS:
        return value
    if isinstance(value, msgspec.Struct):
        for (name, default, holds_mapping), part in zip(
            _fields_and_defaults(kind), msgspec.structs.astuple(value), strict=True
        ):
            if part.__class__ in _ATOMS or (part is default and not holds_mapping):
                continue  # msgspec copies mutable defaults; those that are Structs are frozen
            new = _copy_with_own_mappings(part) if part is default else _freeze_part(part, memo)
            if new is not default:
                force_setattr(value, name, new)
        return value
    if kind is tuple:
        if _ATOMS.issuperset(map(type, value)):
            return value
        return tuple([_freeze_part(each, memo) for each in value])
    if kind in _CONTAINERS:  # plain data may share parts
        known = memo.get(id(value))
        if known is None:
            if kind is dict:
                known = FrozenDict({key: _freeze_part(each, memo) for key, each in value.items()})
            else:
                known = FrozenList([_freeze_part(each, memo) for each in value])
            memo[id(value)] = known
        return known
    for name in _fields_to_freeze(kind):
        part = getattr(value, name, None)
        if part.__class__ not in _ATOMS and (new := _freeze_part(part, memo)) is not part:
            object.__setattr__(value, name, new)
    return value


@cache
def _fields_to_freeze(kind: Any) -> tuple[str, ...]:
    """The names of the fields of a frozen class other than a Struct.

    A class that is not frozen is its owner's: its values stay as they are.
    """
    if hasattr(kind, "__attrs_attrs__"):
        is_frozen = kind.__setattr__.__name__ == "_frozen_setattrs"
        names = [each.name for each in kind.__attrs_attrs__]
    elif hasattr(kind, "__dataclass_params__"):
        is_frozen, names = kind.__dataclass_params__.frozen, [*kind.__dataclass_fields__]
    elif hasattr(kind, "__pydantic_fields__"):
        is_frozen, names = kind.model_config.get("frozen"), [*kind.__pydantic_fields__]
    else:
        return ()
    return tuple(names) if is_frozen else ()


def _holds_mapping(default: Any) -> bool:
    """Whether a default is the empty mapping, or a Struct with one inside."""
    if isinstance(default, FrozenDict):
        return not default
    if not isinstance(default, msgspec.Struct):
        return False
    return any(_holds_mapping(getattr(default, name)) for name in default.__struct_fields__)


def _copy_with_own_mappings(default: Any) -> Any:
    """Copy a default together with its mappings, so that no two loads share one."""
    if isinstance(default, FrozenDict):
        return FrozenDict()
    copy = msgspec.structs.replace(default)
    for name in copy.__struct_fields__:
        if _holds_mapping(getattr(copy, name)):
            force_setattr(copy, name, _copy_with_own_mappings(getattr(copy, name)))
    return copy


@cache
def _fields_and_defaults(cls: Any) -> tuple[tuple[str, Any, bool], ...]:
    """The fields of a Struct: name, default, and whether the default holds an empty mapping."""
    names, defaults = cls.__struct_fields__, cls.__struct_defaults__
    for default in defaults:
        if isinstance(default, msgspec.Struct):
            _freeze_part(default, {})  # every configuration shares it
    defaults = (*[_NO_DEFAULT] * (len(names) - len(defaults)), *defaults)
    return tuple(
        (name, default, _holds_mapping(default))
        for name, default in zip(names, defaults, strict=True)
    )


# -------------------------------------------------------------------------------------- plain data


def plain_data(value: Any, *, spelled_out: bool = False) -> Any:
    """A configuration as plain data, fields in the order of their classes, without defaults.

    A default that the author wrote out is a default like any other: both files mean the same. With
    `spelled_out`, the fields that a class names in `always` are there, whatever they hold.
    """
    if value.__class__ in _ATOMS:
        return value
    if isinstance(value, dict):
        return {key: plain_data(each, spelled_out=spelled_out) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain_data(each, spelled_out=spelled_out) for each in value]
    if isinstance(value, msgspec.Struct):
        return _plain_struct(value, spelled_out=spelled_out)
    to_dict = getattr(value, "to_dict", None)
    if to_dict is not None:
        return plain_data(to_dict(), spelled_out=spelled_out)
    if hasattr(value, "__pydantic_serializer__"):
        return _plain_pydantic(value)
    if any(hasattr(value, each) for each in _MARKS_OF_FIELDS):
        return {
            name: plain_data(part, spelled_out=spelled_out)
            for name, default in _fields_of_class(cast(Hashable, type(value)))
            if (part := getattr(value, name)) is not default and part != default
        }
    return msgspec.to_builtins(value, enc_hook=str)


#: What tells a dataclass, and a class of attrs.
_MARKS_OF_FIELDS = ("__dataclass_fields__", "__attrs_attrs__")


@cache
def _fields_of_class(cls: Hashable) -> tuple[tuple[str, Any], ...]:
    """Name and default of each field of a dataclass or attrs class, as msgspec knows them."""
    from msgspec import inspect as types

    found = []
    for field in types.type_info(prepare(cls)).fields:  # type: ignore[attr-defined]
        default = _NO_DEFAULT if field.required else field.default
        if field.default_factory is not msgspec.NODEFAULT:
            default = _made_by(field.default_factory)
        found.append((field.name, default))
    return tuple(found)


def _made_by(factory: Any) -> Any:
    """What the factory of a caller makes; one that raises makes no default."""
    try:
        return factory()
    except MemoryError:
        raise
    except (Exception, SystemExit):
        return _NO_DEFAULT


def omit_defaults(config: Any) -> Any:
    """Plain data without defaults, also of a class that keeps defaults as they were written."""
    stated = getattr(config, "without_defaults", None)
    return plain_data(config if stated is None else stated())


def _plain_pydantic(value: Any) -> Any:
    """Plain data of a class of pydantic, which knows what its aliases are."""
    dump = value.__pydantic_serializer__.to_python
    try:
        return dump(value, mode="json", by_alias=True, exclude_defaults=True)
    except MemoryError:
        raise
    except (Exception, SystemExit):  # the default is made anew, and its factory may raise
        return dump(value, mode="json", by_alias=True)


def _plain_struct(struct: msgspec.Struct, *, spelled_out: bool) -> dict[str, Any]:
    config = struct.__struct_config__
    result: dict[str, Any] = {} if config.tag_field is None else {config.tag_field: config.tag}
    for name, key, default in _written_fields(type(struct), spelled_out=spelled_out):
        value = getattr(struct, name)
        if value is not msgspec.UNSET and value is not default and value != default:
            result[key] = plain_data(value, spelled_out=spelled_out)
    return result


@cache
def _written_fields(
    cls: type[msgspec.Struct], *, spelled_out: bool
) -> tuple[tuple[str, str, Any], ...]:
    """Name, key and default of each field; a field that is always written has `_NO_DEFAULT`."""
    always: tuple[str, ...] = getattr(cls, "always", ()) if spelled_out else ()
    found = []
    for field in msgspec.structs.fields(cls):
        default = field.default
        if field.required or field.name in always:
            default = _NO_DEFAULT
        elif field.default_factory is not msgspec.NODEFAULT:
            default = _made_by(field.default_factory)
        found.append((field.name, field.encode_name, default))
    return tuple(found)


# ------------------------------------------------------------------------------------------ weight

#: How deep collections may nest, in every syntax. Deeper input ends in a finding while it is being
#: parsed: recursion in the libraries around us must never meet it.
MAX_DEPTH = 128

# What comes through directives is shared: in memory, a file that is included a thousand times is
# there once, but every walk over the value meets it a thousand times. A dozen small files that
# include each other can be more than any machine holds, so growth is bounded before any such walk.

#: How many nodes composing may add to what the files themselves hold.
MAX_ADDED_NODES = 4_000_000
#: Text counts too: this many characters weigh as much as one node.
CHARACTERS_PER_NODE = 64


class WeightCache:
    """The weights of values that many loads share and nothing changes; each is computed once."""

    def __init__(self) -> None:
        self.known: dict[int, int] = {}  #: by `id`
        self._values: list[Any] = []  #: kept, so that no `id` is reused

    def remember(self, value: Any) -> None:
        if isinstance(value, dict | list) and id(value) not in self.known:
            self._values.append(value)
            self.known[id(value)] = weight(value)


def outweighs(value: Any, allowed: int, weights: WeightCache | None = None) -> bool:
    """Whether a value is heavier than `allowed`."""
    return isinstance(value, dict | list) and weight(value, weights) > allowed


def weight(value: Any, weights: WeightCache | None = None) -> int:
    """The nodes of plain data, each counted as often as it is used; long texts weigh more.

    Each container is looked at once, however often it is used.
    """
    known = {} if weights is None else weights.known.copy()
    stack: list[Any] = [value]
    while stack:
        node = stack[-1]
        if id(node) in known:
            stack.pop()
            continue
        children = node.values() if isinstance(node, dict) else node
        inner = [child for child in children if isinstance(child, (dict, list))]
        # Children first; a stack and no recursion: composing may nest deeper than one file does.
        missing = [child for child in inner if id(child) not in known]
        if missing:
            stack.extend(missing)
            continue
        letters = sum([len(child) for child in children if isinstance(child, str)])
        scalars = len(children) - len(inner) + letters // CHARACTERS_PER_NODE
        known[id(node)] = 1 + scalars + sum(known[id(child)] for child in inner)
    return known[id(value)]


def levels(value: Any) -> Iterator[list[Any]]:
    """Yield the mappings and lists of a plain value by level; endless if it contains itself.

    A part that occurs several times in a level comes once: aliases must not make the walk grow.
    """
    containers = (dict, list, tuple)
    level = [value] if isinstance(value, containers) else []
    while level:
        yield level
        inner: dict[int, Any] = {}
        for node in level:
            for child in node.values() if isinstance(node, dict) else node:
                if isinstance(child, containers):
                    inner[id(child)] = child
        level = list(inner.values())


def is_deeper_than(value: Any, limit: int) -> bool:
    """Whether a mapping or list lies more than `limit` steps below a value."""
    return next(islice(levels(value), limit + 1, None), None) is not None


class StrictTable(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, gc=False
):
    """A table in which unknown keys are errors."""
