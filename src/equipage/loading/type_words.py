"""What the types of a model say: which values fit them, and how people call them."""

from __future__ import annotations

import datetime
import decimal
import re
import uuid
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from pathlib import PurePath
from typing import Any

from msgspec import inspect as types

from equipage.core.diagnostics import Change, Remedy
from equipage.core.frozen import prepare
from equipage.core.path import Path

#: The type information of a model or of any other type, cached: computing it walks every class of
#: a model, which takes longer than loading a small file. The lambda delays the lookup, because the
#: command imports `msgspec.inspect` lazily.
type_info: Callable[[Any], types.Type] = cache(lambda model: types.type_info(prepare(model)))

#: Classes that take any key, as far as msgspec is concerned.
OPEN_TYPES = (types.DataclassType, types.TypedDictType)
#: Classes whose fields are known by name.
WITH_FIELDS = (types.StructType, *OPEN_TYPES)


def closed_struct(kind: Any) -> types.StructType:
    """A dataclass, an attrs class or a TypedDict as a Struct that takes no other keys."""
    return types.StructType(kind.cls, kind.fields, forbid_unknown_fields=True)


ARRAYS = (types.VarTupleType, types.ListType, types.SetType, types.FrozenSetType)


#: Types whose values are written as text, with the class of a value and words for it.
WRITTEN_AS_TEXT: Mapping[type[types.Type], tuple[type[Any], str]] = {
    types.DateTimeType: (datetime.datetime, "a date and time, as in `2026-01-31T12:00:00Z`"),
    types.DateType: (datetime.date, "a date, as in `2026-01-31`"),
    types.TimeType: (datetime.time, "a time, as in `12:00:00`"),
    types.TimeDeltaType: (datetime.timedelta, "a duration, as in `PT30S`"),
    types.UUIDType: (uuid.UUID, "a UUID"),
    types.DecimalType: (decimal.Decimal, "a number"),
    types.CustomType: (PurePath, "text"),
}


def takes_null(kind: types.Type) -> bool:
    if isinstance(kind, types.UnionType):
        return any(isinstance(each, types.NoneType) for each in kind.types)
    return isinstance(kind, types.AnyType | types.NoneType)


@cache
def _python_types() -> tuple[tuple[Any, Any], ...]:
    """The Python types of a value that fits a type of a model; a bool is never a number."""
    return (
        (types.StrType | types.LiteralType | types.EnumType, str),
        (types.BoolType, bool),
        (types.IntType, int),
        (types.FloatType, int | float),
        ((*ARRAYS, types.TupleType, types.NamedTupleType), list),
        (types.DictType, dict),
    )


def fits(value: Any, kind: types.Type) -> bool:
    """Whether a value has the outer type of `kind`."""
    if isinstance(kind, types.AnyType):
        return True
    if isinstance(kind, types.NoneType):
        return value is None
    if isinstance(kind, WITH_FIELDS):
        return type(value) is kind.cls or (
            isinstance(value, dict) and directive_value_name(kind) is None
        )
    if isinstance(kind, types.CustomType):
        return isinstance(value, kind.cls)
    if isinstance(value, bool):
        return isinstance(kind, types.BoolType)
    return any(isinstance(kind, sort) and isinstance(value, own) for sort, own in _python_types())


def could_be(value: Any, kind: types.Type) -> bool:
    """Whether a value fits, and a mapping has at least one of the fields that are expected."""
    if isinstance(value, dict) and isinstance(kind, WITH_FIELDS):
        fields = {each.encode_name for each in kind.fields}
        return fits(value, kind) and any(key in fields for key in value)
    if isinstance(kind, types.UnionType):
        return any(could_be(value, each) for each in kind.types)
    return fits(value, kind)


def allowed_values(kind: types.LiteralType | types.EnumType) -> list[Any]:
    if isinstance(kind, types.LiteralType):
        return list(kind.values)
    return [each.value for each in kind.cls]


def join_quoted(names: Iterable[object]) -> str:
    return ", ".join(f"`{each}`" for each in names)


def describe(kind: types.Type) -> str:
    """A type in words, as in “expected a whole number”."""
    match kind:
        case types.UnionType():
            words = [describe(each) for each in kind.types if not isinstance(each, types.NoneType)]
            if "a number" in words:  # whole ones are among them
                words = [word for word in words if word != "a whole number"]
            return " or ".join(dict.fromkeys(words))
        case types.LiteralType() | types.EnumType():
            return f"one of {join_quoted(allowed_values(kind))}"
        case types.IntType():
            low = kind.ge if kind.gt is None else kind.gt + 1
            high = kind.le if kind.lt is None else kind.lt - 1
            return f"a whole number{range_in_words(low, high)}{_multiple_in_words(kind)}"
        case types.FloatType():
            above = [] if kind.gt is None else [f" above {kind.gt}"]
            below = [] if kind.lt is None else [f" below {kind.lt}"]
            bounds = range_in_words(kind.ge, kind.le) + " and".join((*above, *below))
            return f"a number{bounds}{_multiple_in_words(kind)}"
        case types.StrType(min_length=None | 0):
            return "text"
        case types.StrType(min_length=low, max_length=high):
            exact = "one character" if low == 1 else f"{low} characters"
            if low == high:
                return f"exactly {exact}"
            if high is not None:
                return f"text of at most {high} characters"
            return "non-empty text" if low == 1 else f"text of at least {exact}"
        case types.StructType() | types.DictType() | types.DataclassType() | types.TypedDictType():
            return directive_value_name(kind) or "a mapping"
        case types.VarTupleType() | types.ListType() | types.SetType() | types.FrozenSetType():
            return "a list"
        case types.TupleType():
            return f"a list of {', '.join(map(describe, kind.item_types))}"
        case types.NamedTupleType():
            return f"a list with {join_quoted(each.name for each in kind.fields)}"
        case types.BytesType() | types.ByteArrayType():
            return "bytes in base64"
        case types.BoolType():
            return "`true` or `false`"
    if type(kind) in WRITTEN_AS_TEXT:
        return WRITTEN_AS_TEXT[type(kind)][1]
    return "a value" if isinstance(kind, types.AnyType) else "another value"


def describe_missing_value(kind: types.Type) -> str:
    """Describe a missing value; for a mapping, name the fields that it requires."""
    if isinstance(kind, types.VarTupleType | types.ListType) and kind.min_length:
        return "a list of one or more"
    if isinstance(kind, OPEN_TYPES):
        kind = closed_struct(kind)
    if not isinstance(kind, types.StructType) or directive_value_name(kind) is not None:
        return describe(kind)
    names = [each.encode_name for each in kind.fields if each.required]
    if kind.tag_field is not None:
        names.insert(0, kind.tag_field)
    if not names:
        return "a mapping"
    *most, last = [f"`{name}`" for name in names]
    return f"a mapping of {', '.join(most)} and {last}" if most else f"a mapping with {last}"


def _multiple_in_words(kind: types.IntType | types.FloatType) -> str:
    return f", a multiple of {kind.multiple_of}" if kind.multiple_of else ""


def range_in_words(low: float | None, high: float | None) -> str:
    """The bounds of a number in words, for the end of a phrase; empty if it has none."""
    if low is not None and high is not None:
        return f" from {low} to {high}"
    if low is not None:
        return f" of at least {low}"
    return f" of at most {high}" if high is not None else ""


#: Fields that hold a command, or what follows one, word by word.
COMMAND_FIELDS = frozenset({"args", "arguments", "argv", "cmd", "command"})
#: Hints that a fix can follow → the value it writes; None keeps the value, as text.
_TEXT_BY_HINT: dict[str, bool | None] = {
    "put quotes around it": None,
    "write `true`": True,
    "write `false`": False,
}


def remedy_for_hint(path: Path, hint: str | None) -> Remedy | None:
    """The fix that does what a hint says, if nothing is left to decide."""
    if hint not in _TEXT_BY_HINT or not path:
        return None
    text = _TEXT_BY_HINT[hint]
    change = Change(path, "", as_written=True) if text is None else Change(path, text)
    return Remedy(hint, (change,))


def hint_for(value: Any, expected: str) -> str | None:
    """What to write instead, where the slip is a common one."""
    if expected.startswith(("text", "non-empty text")) and isinstance(value, bool | int | float):
        return "put quotes around it"
    if not isinstance(value, str):
        return None
    if "true" in expected and value.lower() in ("yes", "on", "y"):
        return "write `true`"
    if "true" in expected and value.lower() in ("no", "off", "n"):
        return "write `false`"
    is_number = re.fullmatch(r"[-+]?\d+(\.\d+)?", value) is not None
    return "remove the quotes" if "number" in expected and is_number else None


def directive_value_name(kind: types.Type) -> str | None:
    """The name of a value that only a directive makes: a mapping cannot take its place."""
    words: str | None = getattr(getattr(kind, "cls", None), "made_by_directive", None)
    return words


def title(cls: Any) -> str:
    """A Struct's name as words: `ToolResponse` is “tool response”. It may bring its own `TITLE`."""
    if isinstance(given := getattr(cls, "TITLE", None), str):
        return given
    return f"`{words_of(cls.__name__)}`"


def words_of(name: str) -> str:
    """The words of a name in camel case."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name).lower()
