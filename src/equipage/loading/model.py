"""Plain values to typed, frozen configuration; or every reason why not.

`msgspec.convert` accepts valid input at native speed but stops at the first mismatch. So it is
tried first. Only when it refuses, a collector driven by the same type information walks the value,
reports *every* mismatch at its path in our words, and returns a pruned value. If it found only
warnings, the pruned value is converted. The Structs are the only statement of shape; a property
test holds the two together.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import Any

import msgspec
from msgspec import inspect as types

from equipage.core import codes
from equipage.core.diagnostics import Change, Fact, Remedy, Shown
from equipage.core.frozen import convert
from equipage.core.path import HOLE, ROOT, Path, walk
from equipage.core.text import nearest
from equipage.loading.shape import Level, Shape, UnknownKeys
from equipage.loading.type_words import (
    ARRAYS,
    COMMAND_FIELDS,
    WITH_FIELDS,
    WRITTEN_AS_TEXT,
    allowed_values,
    closed_struct,
    could_be,
    describe,
    describe_missing_value,
    fits,
    hint_for,
    join_quoted,
    remedy_for_hint,
    takes_null,
    title,
    type_info,
)

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


#: What a value came to: the typed configuration, None if there are errors; the plain value it was
#: made of; and the findings.
Built = tuple[Any, Any, list[Fact]]


def build(value: Any, model: Any, shape: Shape, reported: Collection[str] = ()) -> Built:
    """Build a configuration of a model that msgspec reads.

    Unknown keys that were `reported` already are left out without another finding.
    """
    try:
        config = convert(value, model)
    except MemoryError:
        raise
    except (Exception, SystemExit):
        pass  # also what the class of a caller raises: the slow way says where
    else:
        if chooses_its_keys(model) or not any(unknown_keys(value, type_info(model))):
            return config, value, []
    # The slow way, only for what is wrong: every mismatch instead of the first.
    closes = not chooses_its_keys(model)
    collector = Collector(shape, reported, whole=_has_no_holes(value), closes=closes)
    pruned = collector.check(value, type_info(model), ROOT)
    found = (
        *collector.facts,
        *collector.unknown_keys.report_ignored(value, alone=not collector.facts),
    )
    firm = shape.guarded | shape.needed
    if pruned is _NOTHING:  # a field that the root must have is lost with its value
        firm |= {
            each.encode_name for each in getattr(type_info(model), "fields", ()) if each.required
        }
    facts = [_adapt_severity(each, shape, firm) for each in found]
    if any(each.severity in (None, "error") for each in facts) or collector.holes:
        return None, pruned, facts
    try:
        return convert(pruned, model), pruned, facts
    except MemoryError:
        raise
    except (Exception, SystemExit) as error:  # the collector is more lenient than convert
        return None, pruned, [*facts, refusal(error, model, ROOT)]


def refusal(error: BaseException, model: Any, path: Path) -> Fact:
    """The finding that the class of a caller refuses a value, in its own words if it has any."""
    # msgspec hands on what a class says of a value, and where.
    cause = error.__cause__ if isinstance(error, msgspec.ValidationError) else error
    if not isinstance(cause, BaseException) and isinstance(error, msgspec.ValidationError):
        said, _, place = str(error).partition(" - at ")
        return codes.MODEL_REFUSED.at((*path, *_path_of_msgspec(place)), problem=said)
    error = cause or error
    is_about_value = isinstance(error, ValueError | TypeError | AssertionError)
    try:
        said = str(error).strip() if is_about_value else ""
    except Exception:  # the exception of a caller may fail to say anything
        said = ""
    problem = said.splitlines()[0] if said else f"{title(model)} raises {type(error).__name__}"
    return codes.MODEL_REFUSED.at(path, problem=problem)


def _path_of_msgspec(place: str) -> Path:
    """The path in `$.a[0]`, as far as it is one: of the values of a mapping it has no keys."""
    known = place.partition("`$")[2].partition("[...]")[0].rstrip("`")
    steps = re.findall(r"\.([^.\[]+)|\[(\d+)\]", known)
    return tuple(name or int(number) for name, number in steps)


def is_struct(model: Any) -> bool:
    """Whether a model is a Struct of msgspec."""
    return isinstance(model, type) and issubclass(model, msgspec.Struct)


def is_pydantic(model: Any) -> bool:
    """Whether a class validates itself as those of pydantic do."""
    return hasattr(model, "__pydantic_validator__")


def chooses_its_keys(model: Any) -> bool:
    """Whether a model says which keys it takes: a Struct that forbids all others.

    A Struct inside it may take any key, by leaving that out. In every other model, a key that a
    class does not have is a mistake.
    """
    return is_struct(model) and bool(model.__struct_config__.forbid_unknown_fields)


def unknown_keys(value: Any, kind: types.Type, path: Path = ROOT) -> Iterator[Path]:
    """The keys that a type does not know in a value, which need not fit it otherwise."""
    if isinstance(kind, types.Metadata):
        kind = kind.type
    for each in _branches_of(kind):
        known: dict[Any, types.Type]
        if isinstance(value, list) and isinstance(each, ARRAYS):
            known = dict.fromkeys(range(len(value)), each.item_type)
        elif isinstance(value, dict) and isinstance(each, types.DictType):
            known = dict.fromkeys(value, each.value_type)
        elif isinstance(value, dict) and isinstance(each, WITH_FIELDS):
            tag = getattr(each, "tag_field", None)
            if tag is not None and value.get(tag) != each.tag:  # type: ignore[union-attr]
                continue
            known = {field.encode_name: field.type for field in each.fields}
            yield from ((*path, key) for key in value if key not in known and key != tag)
        else:
            continue
        for step, inner in value.items() if isinstance(value, dict) else enumerate(value):
            if isinstance(inner, dict | list) and step in known:
                yield from unknown_keys(inner, known[step], (*path, step))
        return


def _branches_of(kind: types.Type) -> tuple[types.Type, ...]:
    return kind.types if isinstance(kind, types.UnionType) else (kind,)


def _has_no_holes(value: Any) -> bool:
    """Whether a value certainly has no holes, because JSON can encode it.

    False for other values, such as a payload that is generated later: they may have holes or not.
    """
    try:
        msgspec.json.encode(value)
    except (TypeError, ValueError, OverflowError, RecursionError, msgspec.EncodeError):
        return False
    return True


def has_holes(value: Any) -> bool:
    """Whether a part of a value could not be had."""
    return not _has_no_holes(value) and any(each is HOLE for _, each in walk(value))


def _adapt_severity(each: Fact, shape: Shape, firm: Collection[str]) -> Fact:
    """A fact with the severity of its kind; a field that restricts or is needed must fit."""
    severity, is_firm = each.severity, not each.path or each.path[0] in firm
    if severity is None and not is_firm and shape.mismatch != "error":
        severity = shape.mismatch
    if severity in (None, "error") and shape.worst != "error":
        severity = shape.worst
    return msgspec.structs.replace(each, severity=severity)


class Collector:
    """Walks a value beside its type, and collects what does not fit."""

    def __init__(
        self,
        shape: Shape,
        reported: Collection[str] = (),
        *,
        whole: bool = False,
        closes: bool = False,
    ) -> None:
        self.shape = shape
        self.reported = reported
        self.whole = whole  #: whether the value has no holes
        self.closes = closes  #: whether Structs take no other keys even if they do not say so
        self.unknown_keys = UnknownKeys(shape)
        self.facts: list[Fact] = []
        self.holes = False  #: whether anything is missing

    def check(self, value: Any, kind: types.Type, path: Path) -> Any:
        """The value without what does not fit, or `_NOTHING` when nothing is left of it."""
        if value is HOLE:
            self.holes = True
            return _NOTHING
        match kind:
            case types.AnyType() | types.RawType():
                # A free-form slot takes anything, but a hole inside it is a part that is missing.
                self.holes = self.holes or any(each is HOLE for _, each in walk(value))
                return value
            case types.UnionType():
                return self._check_union(value, kind, path)
            case types.StructType():
                return self._check_struct(value, kind, path)
            case types.DataclassType() | types.TypedDictType():
                return self._check_class(value, kind, path)
            case types.VarTupleType() | types.ListType():
                return self._check_list(value, kind, path)
            case types.SetType() | types.FrozenSetType():
                lengths = (kind.min_length, kind.max_length)
                return self._check_list(value, types.ListType(kind.item_type, *lengths), path)
            case types.TupleType():
                return self._check_tuple(value, kind, path)
            case types.Metadata():
                return self.check(value, kind.type, path)
            case types.DictType():
                return self._check_dict(value, kind, path)
            case types.LiteralType() | types.EnumType():
                return self._check_choice(value, kind, path)
        if type(kind) in WRITTEN_AS_TEXT:
            return self._check_written_value(value, kind, path)
        if isinstance(kind, types.BytesType | types.ByteArrayType | types.MemoryViewType):
            is_base64 = isinstance(value, str) and _converts(value, bytes)
            return value if is_base64 else self._refuse_mismatch(value, describe(kind), path)
        if not fits(value, kind):
            return self._refuse_mismatch(value, describe(kind), path)
        if isinstance(kind, types.NamedTupleType):
            return self._check_named_tuple(value, kind, path)
        if isinstance(kind, types.IntType | types.FloatType):
            return self._check_number(value, kind, path)
        return self._check_text(value, kind, path) if isinstance(kind, types.StrType) else value

    # Collections.

    def _check_struct(self, value: Any, kind: types.StructType, path: Path) -> Any:
        if type(value) is kind.cls or (
            self.whole
            and is_struct(kind.cls)
            and _converts(value, kind.cls)
            and not (self.closes and any(unknown_keys(value, kind)))
        ):
            return value  # most parts of a value with a mistake have none
        if value is None and self.shape.null_is_absent:
            value = {}
        if not isinstance(value, dict):
            return self._refuse_mismatch(value, f"a mapping ({title(kind.cls)})", path)
        result: dict[str, Any] = {}
        complete = True
        known = {field.encode_name: field for field in kind.fields}
        value = self._report_missing_level(value, kind, known, path)
        for name, field in known.items():
            given = value.get(name, _NOTHING)
            # `key:` with nothing behind it is `null`, which authors write for “not set”.
            if given is None and self.shape.null_is_absent and not field.required:
                given = None if takes_null(field.type) else _NOTHING
            expected = getattr(kind.cls, "written_as", {}).get(field.name)
            if given is not _NOTHING:
                before = len(self.facts)
                given = self.check(given, field.type, (*path, name))
                if path and name in getattr(kind.cls, "GUARDED", ()):
                    self._raise_to_errors(before)
                entry = getattr(kind.cls, "entries_as", {}).get(field.name)
                self._reword_expectations(expected, entry, (*path, name), before)
            elif field.required:
                words = expected or describe_missing_value(field.type)
                self._refuse_missing(name, title(kind.cls), words, path)
            if given is not _NOTHING:
                result[name] = given
            elif field.required:
                complete = False
        if kind.tag_field is not None:
            given = value.get(kind.tag_field, kind.tag)
            if given is not HOLE and (type(given), given) != (type(kind.tag), kind.tag):
                self._refuse_choice(str(given), [str(kind.tag)], (*path, kind.tag_field))
            result[kind.tag_field] = kind.tag
        known_or_reported = {*known, kind.tag_field, *self.reported}
        unknown = [name for name in value if name not in known_or_reported]
        if unknown and (kind.forbid_unknown_fields or self.closes):
            self.facts += self.unknown_keys.facts(unknown, Level(value, kind.cls, known, path))
        return result if complete else _NOTHING

    def _check_class(
        self, value: Any, kind: types.DataclassType | types.TypedDictType, path: Path
    ) -> Any:
        """Check against the class of a caller, which may refuse what fits every field."""
        before = len(self.facts), self.holes
        result = self._check_struct(value, closed_struct(kind), path)
        if result is not _NOTHING and (len(self.facts), self.holes) == before:
            try:
                convert(result, kind.cls)
            except MemoryError:
                raise
            except (Exception, SystemExit) as error:
                return self._refuse(refusal(error, kind.cls, path))
        return result

    def _report_missing_level(
        self, value: dict[str, Any], kind: types.StructType, known: Collection[str], path: Path
    ) -> dict[str, Any]:
        """The mapping, with a hole for a part whose own fields are written in place of it.

        So `{name: …, description: …}` is one finding where `{tool: {name: …}}` was expected.
        """
        for field in kind.fields:
            is_missing = field.required and field.encode_name not in value
            if not is_missing or not isinstance(field.type, types.StructType):
                continue
            inner = {each.encode_name for each in field.type.fields}
            keys = tuple(key for key in value if key in inner and key not in known)
            if keys:
                place, field_name = (*path, keys[0]), field.encode_name
                fact = codes.MISSING_LEVEL.at(place, part="key", field=field_name, keys=Shown(keys))
                self.facts.append(fact)
                value = {key: each for key, each in value.items() if key not in keys}
                value[field.encode_name] = HOLE
        return value

    def _reword_expectations(
        self, expected: str | None, entry: str | None, path: Path, first: int
    ) -> None:
        """Use the words of the model for a value or its entries, where they say more than a type.

        Only facts from index `first` on are about the value.
        """
        for number, each in enumerate(self.facts[first:], start=first):
            words = expected if each.path == path else entry if each.path[:-1] == path else None
            if words is not None and each.code == codes.WRONG_TYPE:
                # Quotes around a number do not make a date of it, or whatever it should be.
                values = {**each.values, "expected": words, "hint": None}
                self.facts[number] = msgspec.structs.replace(each, values=values, remedy=None)

    def _raise_to_errors(self, first: int) -> None:
        """Make the mismatches from index `first` on errors, because their field restricts."""
        for number, each in enumerate(self.facts[first:], start=first):
            if each.severity is None:
                self.facts[number] = msgspec.structs.replace(each, severity="error")

    def _check_list(self, value: Any, kind: types.VarTupleType | types.ListType, path: Path) -> Any:
        if value is None and self.shape.null_is_absent:
            return []
        if not isinstance(value, list):
            return self._refuse_mismatch(value, "a list", path, kind)
        too_short = kind.min_length is not None and len(value) < kind.min_length
        if too_short or (kind.max_length is not None and len(value) > kind.max_length):
            least = f"at least {kind.min_length}" if too_short else f"at most {kind.max_length}"
            expected, found = f"a list of {least}", str(len(value))
            return self._refuse(codes.WRONG_LENGTH.at(path, expected=expected, found=found))
        kept = (self.check(each, kind.item_type, (*path, at)) for at, each in enumerate(value))
        return [each for each in kept if each is not _NOTHING]

    def _check_tuple(self, value: Any, kind: types.TupleType, path: Path) -> Any:
        if not isinstance(value, list):
            return self._refuse_mismatch(value, describe(kind), path)
        if len(value) != len(kind.item_types):
            expected, found = describe(kind), str(len(value))
            return self._refuse(codes.WRONG_LENGTH.at(path, expected=expected, found=found))
        pairs = zip(value, kind.item_types, strict=True)
        kept = [self.check(each, item, (*path, at)) for at, (each, item) in enumerate(pairs)]
        return _NOTHING if any(each is _NOTHING for each in kept) else kept

    def _check_named_tuple(self, value: Any, kind: types.NamedTupleType, path: Path) -> Any:
        least = sum(each.required for each in kind.fields)
        if not least <= len(value) <= len(kind.fields):
            expected, found = describe(kind), str(len(value))
            return self._refuse(codes.WRONG_LENGTH.at(path, expected=expected, found=found))
        pairs = zip(value, kind.fields, strict=False)
        kept = [self.check(each, item.type, (*path, at)) for at, (each, item) in enumerate(pairs)]
        return _NOTHING if any(each is _NOTHING for each in kept) else kept

    def _check_dict(self, value: Any, kind: types.DictType, path: Path) -> Any:
        if value is None and self.shape.null_is_absent:
            return {}
        if not isinstance(value, dict):
            return self._refuse_mismatch(value, "a mapping", path)
        for key in value:
            self._check_key(key, kind.key_type, (*path, key))
        kept = {key: self.check(each, kind.value_type, (*path, key)) for key, each in value.items()}
        return {key: each for key, each in kept.items() if each is not _NOTHING}

    def _check_key(self, key: str, kind: types.Type, path: Path) -> None:
        """Check the key of a mapping, which is text in every file."""
        before = len(self.facts)
        is_number = isinstance(kind, types.IntType) and re.fullmatch(r"-?\d{1,18}", key)
        self.check(int(key) if is_number else key, kind, path)
        for number, each in enumerate(self.facts[before:], start=before):
            self.facts[number] = msgspec.structs.replace(each, part="key", remedy=None)

    # Choices.

    def _check_union(self, value: Any, kind: types.UnionType, path: Path) -> Any:
        """Check against the one branch the value is meant for: by its tag, else by its type."""
        if value is None and takes_null(kind):
            return None
        structs = [each for each in kind.types if isinstance(each, types.StructType)]
        # Comparing with every class would report the mismatches of all of them.
        if isinstance(value, dict) and len(structs) > 1:
            return self._check_tagged_union(value, structs, path)
        for each in kind.types:
            if fits(value, each):
                return self.check(value, each, path)
        written = [each for each in kind.types if type(each) in WRITTEN_AS_TEXT]
        if written and isinstance(value, str):
            return self.check(value, written[0], path)
        return self._refuse_mismatch(value, describe(kind), path, *kind.types)

    def _check_tagged_union(
        self, value: dict[str, Any], structs: list[types.StructType], path: Path
    ) -> Any:
        tag = structs[0].tag_field
        assert tag is not None
        branches = {str(each.tag): each for each in structs}
        given = value.get(tag, _NOTHING)
        if given is _NOTHING:
            return self._refuse_missing(
                tag, "this mapping", f"one of {join_quoted(branches)}", path
            )
        if given is HOLE:
            self.holes = True
            return _NOTHING
        if not isinstance(given, str):
            return self._refuse_mismatch(given, "text", (*path, tag))
        if given not in branches:
            return self._refuse_choice(given, list(branches), (*path, tag))
        return self.check(value, branches[given], path)

    def _check_choice(
        self, value: Any, kind: types.LiteralType | types.EnumType, path: Path
    ) -> Any:
        allowed = allowed_values(kind)
        # To Python `true` equals 1, which may be among the values.
        if value in allowed and not isinstance(value, bool):
            return value
        if not isinstance(value, str):
            return self._refuse_mismatch(value, describe(kind), path)
        return self._refuse_choice(value, list(map(str, allowed)), path)

    # Scalars.

    def _check_number(self, value: Any, kind: types.IntType | types.FloatType, path: Path) -> Any:
        low_ok = (kind.ge is None or value >= kind.ge) and (kind.gt is None or value > kind.gt)
        high_ok = (kind.le is None or value <= kind.le) and (kind.lt is None or value < kind.lt)
        high_ok = high_ok and (not kind.multiple_of or value % kind.multiple_of == 0)
        if low_ok and high_ok and (isinstance(value, float) or value in _INT64 or kind.le is None):
            return value
        expected = describe(kind)
        return self._refuse(codes.OUT_OF_RANGE.at(path, found=Shown(value), expected=expected))

    def _check_text(self, value: str, kind: types.StrType, path: Path) -> Any:
        too_short = kind.min_length is not None and len(value) < kind.min_length
        too_long = kind.max_length is not None and len(value) > kind.max_length
        if too_short or too_long:
            found = f"{len(value)} characters" if value else "empty text"
            expected = describe(kind)
            return self._refuse(codes.WRONG_LENGTH.at(path, expected=expected, found=found))
        if kind.pattern is not None and not re.search(kind.pattern, value):
            fact = codes.PATTERN_MISMATCH.at(path, found=Shown(value), expected=kind.pattern)
            return self._refuse(fact)
        return value

    def _check_written_value(self, value: Any, kind: types.Type, path: Path) -> Any:
        """Check a value that is written as text, such as a date."""
        wanted, words = WRITTEN_AS_TEXT[type(kind)]
        target = kind.cls if isinstance(kind, types.CustomType) else wanted
        if isinstance(value, target) or _converts(value, target):
            return value
        return self._refuse_mismatch(value, words, path)

    # Findings. Each leaves nothing of the value.

    def _refuse(self, fact: Fact) -> Any:
        self.facts.append(fact)
        return _NOTHING

    def _refuse_missing(self, field: str, owner: str, expected: str, path: Path) -> Any:
        fact = codes.MISSING_FIELD.at(path, field=field, owner=owner, expected=expected)
        return self._refuse(fact)

    def _refuse_mismatch(self, value: Any, expected: str, path: Path, *kinds: types.Type) -> Any:
        hint = hint_for(value, expected)
        lists = [each for each in kinds if isinstance(each, types.VarTupleType | types.ListType)]
        # Brackets help only if the value could be an entry.
        if hint is None and any(could_be(value, each.item_type) for each in lists):
            hint = "write it as a list: put brackets around it"
            is_line = isinstance(value, str) and " " in value.strip()
            if is_line and path and path[-1] in COMMAND_FIELDS:
                # Brackets would make a program of the whole line.
                hint = 'write a list with an entry for each word, as in `["ls", "-l"]`'
        elif hint is None and lists and isinstance(value, dict) and value:
            hint = "write a list with one entry for each"
        found = Shown(value, as_found=True, hidden=path[:-1] in self.shape.secret)
        remedy = remedy_for_hint(path, hint)
        return self._refuse(
            codes.WRONG_TYPE.at(path, remedy=remedy, expected=expected, found=found, hint=hint)
        )

    def _refuse_choice(self, value: str, allowed: list[str], path: Path) -> Any:
        guess = nearest(value, allowed)
        remedy = None
        if guess is not None:
            # What another tool makes of the other word is not known for sure.
            safe = not self.shape.ignores
            remedy = Remedy(f"change to `{guess}`", (Change(path, guess),), safe)
        found, known = Shown(value), tuple(allowed)
        return self._refuse(
            codes.INVALID_VALUE.at(path, remedy=remedy, found=found, allowed=known, nearest=guess)
        )


def _converts(value: Any, cls: type[Any]) -> bool:
    try:
        convert(value, cls)
    except MemoryError:
        raise
    except (Exception, SystemExit):  # also what the class of a caller raises
        return False
    return True
