"""Plain values to typed, frozen configuration; or every reason why not.

`msgspec.convert` accepts valid input at native speed but stops at the first mismatch. So it is tried first,
and only when it refuses, a collector driven by the same type information walks the value, reports *every*
mismatch at its path in our words, and returns a pruned value. If nothing but warnings was found, that is
converted. The Structs are the only statement of shape; a property test holds the two together.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Hashable, Mapping
from functools import cache
from typing import Any

import msgspec
from msgspec import inspect as types

from equipage.core import codes
from equipage.core.diagnostics import Change, Code, Fact, Remedy, Severity, Shown
from equipage.core.frozen import convert
from equipage.core.path import ROOT, Path
from equipage.core.text import nearest
from equipage.loading.tree import HOLE

# --- inspection --------------------------------------------------------------------------------
# What msgspec knows about a model, asked once.
#
# Asking walks every class a model is made of, and takes longer than loading a small file. So the answer is kept, and
# serves all the classes that were met on the way.

_met: dict[type, types.StructType] = {}


def type_info(model: Any) -> types.Type:
    """The type information of a model or of any other type."""
    return _type_info(model)


@cache
def _type_info(model: Hashable) -> types.Type:
    info = types.type_info(model)
    _meet(info)
    return info


def struct_info(cls: type) -> types.StructType:
    """The type information of a Struct."""
    if cls not in _met:
        type_info(cls)
    return _met[cls]


def _meet(info: types.Type) -> None:
    """Remember every Struct below a type."""
    stack = [info]
    while stack:
        each = stack.pop()
        if isinstance(each, types.StructType):
            if each.cls not in _met:
                _met[each.cls] = each
                stack.extend(field.type for field in each.fields)
        elif isinstance(each, types.UnionType):
            stack.extend(each.types)
        elif isinstance(each, types.VarTupleType | types.ListType):
            stack.append(each.item_type)
        elif isinstance(each, types.DictType):
            stack.append(each.value_type)


_NOTHING: Any = object()
_INT64 = range(-(2**63), 2**64)
#: The codes of a value that does not fit its field.
MISMATCHES = frozenset(
    {
        codes.MISSING_FIELD,
        codes.WRONG_TYPE,
        codes.INVALID_VALUE,
        codes.OUT_OF_RANGE,
        codes.WRONG_LENGTH,
        codes.PATTERN_MISMATCH,
    }
)


class Shape(msgspec.Struct, frozen=True):
    """How strictly a kind reads its model."""

    #: the severity of a key nobody knows; None keeps it silent
    unknown: Severity | None = "error"
    #: `null` counts as absent for optional fields, as `[]` for lists and `{}` for mappings
    null_is_absent: bool = False
    #: classes whose unknown keys are errors although the kind's are not
    closed: tuple[type, ...] = ()
    #: keys with this prefix are nobody's business, whatever the model says
    exempt: tuple[str, ...] = ()
    #: the severity of a value that does not fit a field; anything milder than an error leaves the value out
    mismatch: Severity = "error"
    #: fields of the root that restrict. A key that nearly spells one, or a value that does not fit one, would let
    #: everything through; both are errors, whatever else is forgiven
    guarded: frozenset[str] = frozenset()
    #: fields of the root that the file is nothing without: a value that does not fit one is an error
    needed: frozenset[str] = frozenset()
    #: what people write for a field of the root that has another name
    synonyms: Mapping[str, str] = {}
    #: keys that have a code of their own where nobody knows them
    own_codes: Mapping[str, Code] = {}
    #: mappings whose values may be secrets: nothing but their type is shown
    secret: tuple[Path, ...] = ()


def build(
    value: Any, model: type[Any], shape: Shape, *, reported: Collection[str] = ()
) -> tuple[Any, Any, list[Fact]]:
    """The typed configuration (None if there are errors), the plain value it was made of, and the findings.

    Unknown keys that were `reported` already are left out without another finding.
    """
    try:
        return convert(value, model), value, []
    except (msgspec.ValidationError, RecursionError, TypeError):
        pass
    collector = Collector(shape, reported)
    pruned = collector.check(value, type_info(model), ROOT)
    if shape.mismatch != "error":
        collector.facts = [_forgiven(each, shape) for each in collector.facts]
    if any(each.severity in (None, "error") for each in collector.facts) or collector.holes:
        return None, pruned, collector.facts
    try:
        return convert(pruned, model), pruned, collector.facts
    except (
        msgspec.ValidationError
    ) as error:  # the collector is more lenient than convert: a bug worth a finding
        return (
            None,
            pruned,
            [*collector.facts, codes.WRONG_TYPE.at(expected="another value", found=str(error))],
        )


def _forgiven(each: Fact, shape: Shape) -> Fact:
    """The fact with the severity of a value that does not fit, unless its field restricts or is needed."""
    if each.severity is not None or not each.path or each.path[0] in shape.guarded | shape.needed:
        return each
    return msgspec.structs.replace(each, severity=shape.mismatch)


class Collector:
    """Walks a value beside its type; `facts` holds what does not fit, `holes` whether anything is missing."""

    def __init__(self, shape: Shape, reported: Collection[str] = ()) -> None:
        self.shape = shape
        self.reported = reported
        self.facts: list[Fact] = []
        self.holes = False

    def check(self, value: Any, kind: types.Type, path: Path) -> Any:
        """The value without what does not fit, or `_NOTHING` when nothing is left of it."""
        if value is HOLE:
            self.holes = True
            return _NOTHING
        if isinstance(kind, types.AnyType | types.RawType):
            return self._free(value)
        if isinstance(kind, types.UnionType):
            return self._union(value, kind, path)
        if isinstance(kind, types.StructType):
            return self._struct(value, kind, path)
        if isinstance(kind, types.VarTupleType | types.ListType):
            return self._list(value, kind, path)
        if isinstance(kind, types.DictType):
            return self._dict(value, kind, path)
        return self._scalar(value, kind, path)

    def _free(self, value: Any) -> Any:
        """A free-form slot takes anything; holes inside it still mean that something is missing."""
        stack = [value]
        while stack:
            node = stack.pop()
            if node is HOLE:
                self.holes = True
            elif isinstance(node, dict):
                stack.extend(node.values())
            elif isinstance(node, list):
                stack.extend(node)
        return value

    # ------------------------------------------------------------------------------------------ collections

    def _struct(self, value: Any, kind: types.StructType, path: Path) -> Any:
        if type(value) is kind.cls:
            return value
        if value is None and self.shape.null_is_absent:
            value = {}
        if not isinstance(value, dict):
            return self._mismatch(value, f"a mapping ({title(kind.cls)})", path)
        result: dict[str, Any] = {}
        complete = True
        known = {field.encode_name: field for field in kind.fields}
        value = self._one_level_down(value, kind, known, path)
        for name, field in known.items():
            given = value.get(name, _NOTHING)
            if given is None and self._counts_as_absent(field):
                given = _NOTHING
            if given is _NOTHING:
                complete = not self._is_missing(field, kind, path) and complete
                continue
            kept = self.check(given, field.type, (*path, name))
            if kept is not _NOTHING:
                result[name] = kept
            elif name in (written_as := getattr(kind.cls, "written_as", {})):
                self._expect(written_as[name], (*path, name))
            complete = complete and (kept is not _NOTHING or not field.required)
        if kind.tag_field is not None:
            result[kind.tag_field] = kind.tag
        self._unknown(value, kind, known, path)
        return result if complete else _NOTHING

    def _one_level_down(
        self, value: dict[str, Any], kind: types.StructType, known: Collection[str], path: Path
    ) -> dict[str, Any]:
        """The mapping, with a hole for a part whose own fields are written in place of it.

        So `{name: …, description: …}` is one finding where `{tool: {name: …}}` was expected.
        """
        for field in kind.fields:
            if not field.required or field.encode_name in value:
                continue
            if not isinstance(field.type, types.StructType):
                continue
            inner = {each.encode_name for each in field.type.fields}
            keys = tuple(key for key in value if key in inner and key not in known)
            if keys:
                place = (*path, keys[0])
                self.facts.append(
                    codes.MISSING_LEVEL.at(
                        place, part="key", field=field.encode_name, keys=Shown(keys)
                    )
                )
                value = {key: each for key, each in value.items() if key not in keys}
                value[field.encode_name] = HOLE
        return value

    def _expect(self, expected: str, path: Path) -> None:
        """Say what was expected in the words of the model, where that is more than a type."""
        last = self.facts[-1] if self.facts else None
        if last is not None and last.code == codes.WRONG_TYPE and last.path == path:
            values = {**last.values, "expected": expected, "hint": None}
            self.facts[-1] = msgspec.structs.replace(last, values=values)

    def _counts_as_absent(self, field: types.Field) -> bool:
        return self.shape.null_is_absent and not field.required and not _takes_null(field.type)

    def _is_missing(self, field: types.Field, kind: types.StructType, path: Path) -> bool:
        if field.required:
            expected = getattr(kind.cls, "written_as", {}).get(field.name) or describe(field.type)
            self.facts.append(
                codes.MISSING_FIELD.at(
                    path, field=field.encode_name, owner=title(kind.cls), expected=expected
                )
            )
        return field.required

    def _unknown(
        self,
        value: dict[str, Any],
        kind: types.StructType,
        known: dict[str, types.Field],
        path: Path,
    ) -> None:
        severity = "error" if kind.cls in self.shape.closed else self.shape.unknown
        if (severity is None and not self.shape.guarded) or not kind.forbid_unknown_fields:
            return
        for name in value:
            if name in known or name == kind.tag_field or name in self.reported:
                continue
            if name.startswith(self.shape.exempt or ("\0",)):
                continue
            guess = self._meant(name, [each for each in known if each not in value], kind.cls, path)
            restricts = guess in self.shape.guarded and not path
            worst = "error" if restricts else severity
            if worst is None:
                continue
            place = (*path, name)
            if name in self.shape.own_codes:
                self.facts.append(self.shape.own_codes[name].at(place, part="key", severity=worst))
                continue
            remedy = None
            if guess is not None:
                # What restricts changes what the agent may do, so a person must say yes.
                remedy = Remedy(
                    f"rename to `{guess}`", (Change(place, guess, "key"),), safe=not restricts
                )
            self.facts.append(
                codes.UNKNOWN_FIELD.at(
                    place,
                    part="key",
                    severity=worst,
                    remedy=remedy,
                    field=Shown(name),
                    owner=title(kind.cls),
                    nearest=guess,
                )
            )

    def _meant(self, name: str, free: list[str], cls: type, path: Path) -> str | None:
        """The field a key was probably meant to be. A Struct may bring `SYNONYMS` of its own."""
        named: Mapping[str, str] = getattr(cls, "SYNONYMS", {}) if path else self.shape.synonyms
        synonyms = {other: field for other, field in named.items() if field in free}
        guess = nearest(name, [*free, *synonyms])
        return synonyms.get(guess, guess) if guess is not None else None

    def _list(self, value: Any, kind: types.VarTupleType | types.ListType, path: Path) -> Any:
        if value is None and self.shape.null_is_absent:
            return []
        if not isinstance(value, list):
            return self._mismatch(value, "a list", path, kind)
        if kind.min_length is not None and len(value) < kind.min_length:
            self.facts.append(
                codes.WRONG_LENGTH.at(
                    path, expected=f"at least {kind.min_length} entries", found=str(len(value))
                )
            )
            return _NOTHING
        kept = [
            self.check(each, kind.item_type, (*path, number)) for number, each in enumerate(value)
        ]
        return [each for each in kept if each is not _NOTHING]

    def _dict(self, value: Any, kind: types.DictType, path: Path) -> Any:
        if value is None and self.shape.null_is_absent:
            return {}
        if not isinstance(value, dict):
            return self._mismatch(value, "a mapping", path)
        kept = {
            name: self.check(each, kind.value_type, (*path, name)) for name, each in value.items()
        }
        return {name: each for name, each in kept.items() if each is not _NOTHING}

    # --------------------------------------------------------------------------------------------- choices

    def _union(self, value: Any, kind: types.UnionType, path: Path) -> Any:
        """Check against the one branch the value is meant for: by its tag, else by its type."""
        if value is None and any(isinstance(each, types.NoneType) for each in kind.types):
            return None
        structs = [each for each in kind.types if isinstance(each, types.StructType)]
        if isinstance(value, dict) and len(structs) > 1:
            return self._tagged(value, structs, path)
        for each in kind.types:
            if _fits(value, each):
                return self.check(value, each, path)
        return self._mismatch(value, describe(kind), path, *kind.types)

    def _tagged(self, value: dict[str, Any], structs: list[types.StructType], path: Path) -> Any:
        tag = structs[0].tag_field
        assert tag is not None
        branches = {str(each.tag): each for each in structs}
        given = value.get(tag, _NOTHING)
        if given is _NOTHING:
            expected = f"one of {', '.join(f'`{name}`' for name in branches)}"
            self.facts.append(
                codes.MISSING_FIELD.at(path, field=tag, owner="this mapping", expected=expected)
            )
            return _NOTHING
        if given is HOLE:
            self.holes = True
            return _NOTHING
        if not isinstance(given, str):
            return self._mismatch(given, "text", (*path, tag))
        if given not in branches:
            return self._not_allowed(given, list(branches), (*path, tag))
        return self.check(value, branches[given], path)

    # --------------------------------------------------------------------------------------------- scalars

    def _scalar(self, value: Any, kind: types.Type, path: Path) -> Any:
        if isinstance(kind, types.LiteralType | types.EnumType):
            allowed = (
                list(kind.values)
                if isinstance(kind, types.LiteralType)
                else [each.value for each in kind.cls]
            )
            if value in allowed and not isinstance(value, bool):
                return value
            if not isinstance(value, str):
                return self._mismatch(value, describe(kind), path)
            return self._not_allowed(value, [str(each) for each in allowed], path)
        if not _fits(value, kind):
            return self._mismatch(value, describe(kind), path)
        if isinstance(kind, types.IntType | types.FloatType):
            return self._number(value, kind, path)
        if isinstance(kind, types.StrType):
            return self._text(value, kind, path)
        return value

    def _number(self, value: Any, kind: types.IntType | types.FloatType, path: Path) -> Any:
        low_ok = (kind.ge is None or value >= kind.ge) and (kind.gt is None or value > kind.gt)
        high_ok = (kind.le is None or value <= kind.le) and (kind.lt is None or value < kind.lt)
        if low_ok and high_ok and (isinstance(value, float) or value in _INT64 or kind.le is None):
            return value
        self.facts.append(codes.OUT_OF_RANGE.at(path, found=Shown(value), expected=describe(kind)))
        return _NOTHING

    def _text(self, value: str, kind: types.StrType, path: Path) -> Any:
        too_short = kind.min_length is not None and len(value) < kind.min_length
        too_long = kind.max_length is not None and len(value) > kind.max_length
        if too_short or too_long:
            found = f"{len(value)} characters" if value else "empty text"
            self.facts.append(codes.WRONG_LENGTH.at(path, expected=describe(kind), found=found))
            return _NOTHING
        if kind.pattern is not None and not re.search(kind.pattern, value):
            self.facts.append(
                codes.PATTERN_MISMATCH.at(path, found=Shown(value), expected=kind.pattern)
            )
            return _NOTHING
        return value

    # --------------------------------------------------------------------------------------------- findings

    def _mismatch(self, value: Any, expected: str, path: Path, *kinds: types.Type) -> Any:
        hint = _hint(value, expected)
        lists = [each for each in kinds if isinstance(each, types.VarTupleType | types.ListType)]
        # Brackets help only if the value could be an entry.
        if hint is None and any(_fits(value, each.item_type) for each in lists):
            hint = "write it as a list: put brackets around it"
        found = Shown(value, as_found=True, hidden=path[:-1] in self.shape.secret)
        self.facts.append(codes.WRONG_TYPE.at(path, expected=expected, found=found, hint=hint))
        return _NOTHING

    def _not_allowed(self, value: str, allowed: list[str], path: Path) -> Any:
        guess = nearest(value, allowed)
        remedy = None if guess is None else Remedy(f"change to `{guess}`", (Change(path, guess),))
        self.facts.append(
            codes.INVALID_VALUE.at(
                path, remedy=remedy, found=Shown(value), allowed=tuple(allowed), nearest=guess
            )
        )
        return _NOTHING


def _takes_null(kind: types.Type) -> bool:
    if isinstance(kind, types.UnionType):
        return any(isinstance(each, types.NoneType) for each in kind.types)
    return isinstance(kind, types.AnyType | types.NoneType)


def _fits(value: Any, kind: types.Type) -> bool:
    """Whether a value has the outer type of `kind`. A bool is never a number."""
    if isinstance(kind, types.AnyType):
        return True
    if isinstance(kind, types.StrType):
        return isinstance(value, str)
    if isinstance(kind, types.BoolType):
        return isinstance(value, bool)
    if isinstance(kind, types.IntType):
        return isinstance(value, int) and not isinstance(value, bool)
    if isinstance(kind, types.FloatType):
        return isinstance(value, int | float) and not isinstance(value, bool)
    if isinstance(kind, types.NoneType):
        return value is None
    if isinstance(kind, types.LiteralType | types.EnumType):
        return isinstance(value, str)
    if isinstance(kind, types.VarTupleType | types.ListType):
        return isinstance(value, list)
    if isinstance(kind, types.StructType):
        return type(value) is kind.cls or (isinstance(value, dict) and _made_by(kind) is None)
    if isinstance(kind, types.CustomType):
        return isinstance(value, kind.cls)
    return isinstance(kind, types.DictType) and isinstance(value, dict)


def describe(kind: types.Type) -> str:
    """A type in words, as in “expected a whole number”."""
    if isinstance(kind, types.UnionType):
        words = [describe(each) for each in kind.types if not isinstance(each, types.NoneType)]
        if "a number" in words:  # whole ones are among them
            words = [word for word in words if word != "a whole number"]
        return " or ".join(dict.fromkeys(words))
    if isinstance(kind, types.LiteralType):
        return f"one of {', '.join(f'`{each}`' for each in kind.values)}"
    if isinstance(kind, types.EnumType):
        return f"one of {', '.join(f'`{each.value}`' for each in kind.cls)}"
    if isinstance(kind, types.IntType):
        return f"a whole number{_range(kind)}"
    if isinstance(kind, types.StrType):
        if kind.min_length is not None and kind.min_length == kind.max_length:
            return (
                "exactly one character"
                if kind.min_length == 1
                else f"exactly {kind.min_length} characters"
            )
        return {None: "text", 0: "text"}.get(kind.min_length, "non-empty text")
    if isinstance(kind, types.StructType | types.DictType):
        return _made_by(kind) or "a mapping"
    if isinstance(kind, types.VarTupleType | types.ListType):
        return "a list"
    if isinstance(kind, types.FloatType):
        return f"a number{_range(kind)}"
    if isinstance(kind, types.BoolType):
        return "`true` or `false`"
    return "a value" if isinstance(kind, types.AnyType) else "another value"


def _range(kind: types.IntType | types.FloatType) -> str:
    """The bounds of a number in words, to stand behind it; nothing if it has none."""
    low = kind.ge if kind.ge is not None else None if kind.gt is None else kind.gt + 1
    if low is not None and kind.le is not None:
        return f" from {low} to {kind.le}"
    if low is not None:
        return f" of at least {low}"
    return f" of at most {kind.le}" if kind.le is not None else ""


def _hint(value: Any, expected: str) -> str | None:
    """What to write instead, where the slip is a common one."""
    if expected.startswith(("text", "non-empty text")) and isinstance(value, bool | int | float):
        return "put quotes around it"
    if "true" in expected and isinstance(value, str) and value.lower() in ("yes", "on", "y"):
        return "write `true`"
    if "true" in expected and isinstance(value, str) and value.lower() in ("no", "off", "n"):
        return "write `false`"
    if "number" in expected and isinstance(value, str) and re.fullmatch(r"[-+]?\d+(\.\d+)?", value):
        return "remove the quotes"
    return None


def _made_by(kind: types.Type) -> str | None:
    """What a value of a Struct is called that only a directive makes, never a mapping of the author's."""
    cls = getattr(kind, "cls", None)
    words: str | None = getattr(cls, "made_by_directive", None)
    return words


def title(cls: type) -> str:
    """A Struct's name as words: `ToolResponse` is “tool response”; one that is made may bring its own `TITLE`."""
    if isinstance(given := getattr(cls, "TITLE", None), str):
        return given
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", cls.__name__).lower()
    return f"`{words}`"
