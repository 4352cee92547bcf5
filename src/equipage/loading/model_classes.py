"""What a configuration may be made of, beside the Structs of msgspec.

msgspec itself reads dataclasses, attrs classes and TypedDicts, but takes keys that they do not
have; `model.build` looks for those. A pydantic model validates itself: its errors become facts at
the places of the values. Neither pydantic nor attrs is imported unless a model is theirs.
"""

from __future__ import annotations

import os
import re
import sys
import typing
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import cache
from pathlib import PurePath
from types import SimpleNamespace
from typing import Annotated, Any

import msgspec
from msgspec import inspect as types

from equipage.core import codes
from equipage.core.diagnostics import Change, Fact, Remedy, Shown, UsageError
from equipage.core.frozen import prepare
from equipage.core.path import HOLE, ROOT, Path, get, walk
from equipage.core.text import Guesses, nearest
from equipage.directives.composing import Files, Includes, Refs
from equipage.loading.format import FILE, By, Format, Layer, Renamed
from equipage.loading.model import Built, has_holes, is_pydantic, refusal
from equipage.loading.shape import Shape
from equipage.loading.type_words import title, type_info, words_of

#: The keyword for what has no name of its own in a schema.
_OTHERS = ("additionalProperties",)


def build_by_others(value: Any, model: Any, shape: Shape, reported: Collection[str]) -> Built:
    """As `model.build`, with what validates on its own: a JSON Schema or pydantic."""
    if not has_holes(value):
        return _build_whole(value, model, shape, reported)
    # They know no holes: what they say of one, or of what is around it, may be wrong.
    holes = [path for path, each in walk(value) if each is HOLE]
    filled = _replace_holes(value)
    facts = [] if filled is None else _build_whole(filled, model, shape, reported)[2]
    return None, value, [each for each in facts if not _is_about_hole(each, holes)]


def _build_whole(value: Any, model: Any, shape: Shape, reported: Collection[str]) -> Built:
    if not isinstance(model, Mapping):
        return _build_pydantic(value, model, shape, reported)
    from equipage.loading.schema_models import match_schema  # slow to import

    facts = match_schema(value, model)
    return (None if facts else value), value, facts


def _replace_holes(value: Any) -> Any:
    """A value with nothing in the place of each hole."""
    if isinstance(value, dict):
        return {key: _replace_holes(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_replace_holes(each) for each in value]
    return None if value is HOLE else value


def _is_about_hole(fact: Fact, holes: Iterable[Path]) -> bool:
    """Whether a fact is about a hole, about what is below it, or about a whole that has one."""
    for each in holes:
        if fact.path[: len(each)] == each:
            return True
        # A field that is missing beside the hole is missing.
        if each[: len(fact.path)] == fact.path and fact.code != codes.MISSING_FIELD:
            return True
    return False


# What can be a model.


def require_format(kind: Format) -> Format:
    """Return a format. Raises `UsageError` if its model, layers or patterns cannot be used."""
    if _CHECKED.get(id(kind)) is kind:
        return kind
    require_model(kind.model)
    _require_parts(kind)
    for layer in kind.layers:
        name = layer if isinstance(layer, str) else layer.name
        is_empty = not name and layer != FILE
        if is_empty or os.path.isabs(name) or ".." in name.split("/"):
            raise UsageError(f"layer `{name}` of format {kind.name}: name a file below the folder")
    for pattern, word in kind.merge.items():
        steps = split_pattern(pattern)
        _require_path(pattern, steps, kind)
        if isinstance(word, By):
            _require_path(f"{pattern}[*].{word.key}", [*steps, "*", word.key], kind)
        types = types_at(schema_of(kind), steps)
        if types and "array" not in types and (word == "append" or isinstance(word, By)):
            raise UsageError(f"`merge` of format {kind.name}: `{pattern}` is not a list")
    for pattern, new in kind.renamed.items():
        to = new.to if isinstance(new, Renamed) else new
        if to is None:
            continue
        *above, old = split_pattern(pattern)
        if to == old:
            raise UsageError(f"format {kind.name} renames `{pattern}` to itself")
        _require_path(".".join((*above, to)), [*above, to], kind)
    if len(_CHECKED) >= _MAX_CHECKED:
        _CHECKED.clear()
    _CHECKED[id(kind)] = kind
    return kind


#: The formats that are known to be good, by their identity.
_CHECKED: dict[int, Format] = {}
_MAX_CHECKED = 256


def _require_parts(kind: Format) -> None:
    """Raise `UsageError` for a part of a format that is not what it should be."""
    lists: Iterable[tuple[str, Any, Callable[[Any], bool], str]] = (
        ("layers", kind.layers, lambda each: isinstance(each, str | Layer), "a name or a `Layer`"),
        ("rules", kind.rules, callable, "a function"),
        ("checks", kind.checks, callable, "a function"),
        ("stages", kind.stages, _is_stage, "a stage"),
        ("paths", kind.paths, lambda each: isinstance(each, str), "a glob"),
    )
    words = "`append`, `replace`, `remove` or `by(…)`"
    levels = "`error`, `warning`, `note` or None"
    mappings: Iterable[tuple[str, Any, Callable[[Any], bool], str]] = (
        ("merge", kind.merge, _is_merge_word, words),
        (
            "renamed",
            kind.renamed,
            lambda each: isinstance(each, str | Renamed | None),
            "a new name",
        ),
        ("strictness", kind.strictness, _is_severity, levels),
    )
    for name, given, fits, wanted in lists:
        for each in given:
            if not fits(each):
                raise UsageError(f"`{name}` of format {kind.name}: {each!r} is not {wanted}")
    for name, given, fits, wanted in mappings:
        for key, each in given.items():
            if not isinstance(key, str) or not fits(each):
                raise UsageError(f"`{name}` of format {kind.name}: {each!r} is not {wanted}")
    changed = {each.name for each in (*_CHANGEABLE_CODES, *kind.codes)}
    for key in kind.strictness:
        syntax, _, code = key.rpartition(":")
        if code not in changed or syntax not in ("", *kind.reading.syntaxes.values()):
            guess = nearest(code, changed)
            hint = f"; did you mean `{guess}`?" if guess not in (None, code) else ""
            raise UsageError(f"format {kind.name} cannot change the severity of `{key}`{hint}")


#: What is odd about a text that has a value all the same, and what `shape` is about.
_CHANGEABLE_CODES = (
    codes.ENV_MISSING,
    codes.ENV_NAMELESS,
    codes.ENV_AMBIGUOUS_COLON,
    codes.ENV_CHANGES_STRUCTURE,
    codes.TOML_TOO_NEW,
    codes.INVISIBLE_CHARACTER,
    codes.DUPLICATE_KEY,
    codes.EXTRA_DOCUMENT,
    codes.UNKNOWN_TAG,
    codes.MERGE_KEY,
    codes.NON_STRING_KEY,
    codes.NOT_FINITE,
    codes.AMBIGUOUS_NUMBER,
    codes.DOCUMENT_EMPTY,
    codes.UNKNOWN_FIELD,
)


def _is_stage(given: Any) -> bool:
    """Whether something can be called with a tree and a session; the parts of ours fit, too."""
    if isinstance(given, Includes | Files | Refs):
        try:
            msgspec.convert(msgspec.structs.asdict(given), type(given))
        except msgspec.ValidationError:
            return False
    return callable(given) and not isinstance(given, type)


def _is_severity(given: Any) -> bool:
    return callable(given) or given in ("error", "warning", "note", None)


def _is_merge_word(given: Any) -> bool:
    if isinstance(given, By):
        key: Any = given.key
        return isinstance(key, str)
    return given in ("append", "replace", "remove", "merge")


def _require_path(pattern: str, steps: list[str], kind: Format) -> None:
    """Raise `UsageError` for a pattern of paths that the model certainly does not have."""
    *above, last = steps
    known = None if "**" in above else properties_at(schema_of(kind), above)
    if known is None or last in (*known, "*", "**"):
        return
    guess = nearest(last, known)
    hint = f"; did you mean `{pattern.removesuffix(last)}{guess}`?" if guess else ""
    raise UsageError(f"format {kind.name} has no value at `{pattern}`{hint}")


def schema_of(kind: Format) -> Mapping[str, Any]:
    """The JSON Schema of a model, without what replaces its values."""
    if isinstance(kind.model, Mapping):
        return kind.model
    if is_pydantic(kind.model):
        return pydantic_schema(kind.model)
    # Of classes that msgspec does not know, only paths can be in a model.
    schema, definitions = msgspec.json.schema_components(
        [prepare(kind.model)], schema_hook=lambda _path: {"type": "string"}
    )
    return {**schema[0], "$defs": definitions, "components": definitions}


def require_model(model: Any) -> None:
    """Raise `UsageError` if a class cannot be a model; it names the field, and says why."""
    if isinstance(model, Mapping):
        _require_schema(model)
        return
    name = getattr(model, "__name__", None) or type(model).__name__
    if is_pydantic(model):
        try:
            # A class whose names were unknown when it was written is finished now, or never.
            rebuild = getattr(model, "model_rebuild", None)
            if rebuild is not None:
                rebuild()
            _adapter(model).rebuild(raise_errors=True)
        except Exception as error:
            raise _no_model(name, _unknown_annotation(model), _first_line(error)) from None
        if (problem := _unread_by_pydantic(model)) is not None:
            raise _no_model(name, *problem)
        return
    if not _has_fields(model):
        raise UsageError(
            f"`{name}` cannot be a model: write a dataclass, a `msgspec.Struct`, an attrs class, a "
            "pydantic model or a TypedDict"
        )
    problem = _problem_of(model, (), set()) or _unread_part(model, set())
    if problem is not None:
        raise _no_model(name, *problem)


def _no_model(name: str, where: Iterable[str], why: str) -> UsageError:
    field = ".".join(where)
    return UsageError(f"`{name}` cannot be a model{f': field `{field}`' if field else ''}: {why}")


def _require_schema(schema: Mapping[str, Any]) -> None:
    from equipage.loading.schema_models import match_schema
    from equipage.schemas import SchemaProblem

    try:
        match_schema({}, schema)
    except SchemaProblem as problem:
        raise UsageError(f"the schema cannot be a model: {problem}") from None


def _has_fields(model: Any) -> bool:
    origin = typing.get_origin(model) or model
    marks = ("__dataclass_fields__", "__attrs_attrs__", "__struct_fields__", "__total__")
    return isinstance(origin, type) and any(hasattr(origin, each) for each in marks)


def _problem_of(
    model: Any, where: tuple[str, ...], seen: set[Any]
) -> tuple[tuple[str, ...], str] | None:
    """The field that msgspec has no type for, and why; None if there is none."""
    try:
        custom = next(_custom_types(type_info(model), set()), None)
    except Exception as error:
        unknown = _unknown_annotation(typing.get_origin(model) or model)
        own = (*where, *unknown), _first_line(error)
    else:
        if custom is None:
            return None
        why = f"`{custom.__name__}` is a class that no text can be read as"
        if is_pydantic(custom):
            why = f"`{custom.__name__}` is of pydantic, and the class around it is not: make it one"
        own = where, why
    try:
        hints = typing.get_type_hints(typing.get_origin(model) or model, include_extras=True)
    except Exception:
        return own
    for name, hint in hints.items():
        if id(hint) not in seen:
            seen.add(id(hint))
            for part in (*_classes_in(hint), hint):
                inner = _problem_of(part, (*where, name), seen)
                if inner is not None:
                    return inner
    return own


def _unknown_annotation(cls: Any) -> tuple[str, ...]:
    """The first field whose annotation means nothing; none if all of them have a meaning."""
    for owner in getattr(cls, "__mro__", ()):
        names = vars(sys.modules[owner.__module__])
        for field, hint in vars(owner).get("__annotations__", {}).items():
            try:
                typing.get_type_hints(SimpleNamespace(__annotations__={field: hint}), names)
            except Exception:
                return (field,)
    return ()


def _unread_part(model: Any, seen: set[Any]) -> tuple[tuple[str, ...], str] | None:
    """The first field that says more than msgspec reads, and what it says."""
    cls = typing.get_origin(model) or model
    if cls in seen:
        return None
    seen.add(cls)
    made_in = getattr(getattr(cls.__init__, "__code__", None), "co_filename", "<")
    if not made_in.startswith("<"):
        return (), "its `__init__` is not called: write `__post_init__` in its place"
    if hasattr(cls, "__dataclass_fields__"):
        import dataclasses  # slow to import, and who has such a class has done it

        missing = dataclasses.MISSING
        for field in dataclasses.fields(cls):
            if not field.init and field.default is missing and field.default_factory is missing:
                why = "it has `init=False`: give it a default, or make it a property"
                return (field.name,), why
    for field in getattr(cls, "__attrs_attrs__", ()):
        if field.converter is not None or field.alias != field.name.lstrip("_"):
            return (field.name,), "converters and aliases of attrs are not read"
    for name, hint in typing.get_type_hints(cls, include_extras=True).items():
        for part in _parts_of(hint):
            if type(part).__module__.partition(".")[0] in ("annotated_types", "pydantic"):
                return (name,), f"`{part!r}` is not read here: write `msgspec.Meta(…)`"
            inner = _unread_part(part, seen) if _has_fields(part) else None
            if inner is not None:
                return (name, *inner[0]), inner[1]
    return None


def _unread_by_pydantic(model: Any) -> tuple[tuple[str, ...], str] | None:
    """The first field of a model with a constraint that pydantic does not read, and which."""
    for name, field in getattr(model, "__pydantic_fields__", {}).items():
        for part in _parts_of(Annotated[field.annotation, *field.metadata, None]):
            if isinstance(part, msgspec.Meta):
                return (name,), f"`{part!r}` is not read by pydantic: write `pydantic.Field(…)`"
    return None


def _parts_of(hint: Any) -> Iterator[Any]:
    """A type, what it is made of, and what is annotated."""
    yield hint
    for each in (*typing.get_args(hint), *getattr(hint, "__metadata__", ())):
        yield from _parts_of(each)


def _classes_in(hint: Any) -> Iterator[Any]:
    """The classes with fields that a type is made of, itself left out."""
    for each in typing.get_args(hint):
        yield from _classes_in(each)
        if _has_fields(each):
            yield each


def _custom_types(kind: Any, seen: set[int]) -> Iterator[type]:
    """The classes in a type that neither msgspec nor `core.frozen.convert` can make."""
    if id(kind) in seen:
        return
    seen.add(id(kind))
    if isinstance(kind, types.CustomType):
        if not issubclass(kind.cls, PurePath):
            yield kind.cls
        return
    if isinstance(kind, types.DataclassType) and is_pydantic(kind.cls):
        yield kind.cls  # msgspec would fill it without its validators
        return
    if not isinstance(kind, types.Type | types.Field):
        return
    for name in kind.__struct_fields__:
        part = getattr(kind, name)
        for each in part if isinstance(part, tuple) else (part,):
            yield from _custom_types(each, seen)


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__


# Paths of a model.


def properties_at(schema: Mapping[str, Any], path: Iterable[str | int]) -> dict[str, Any] | None:
    """The properties that a JSON Schema knows at a path; None if anything may be there.

    A step `*` is any entry of a list or value of a mapping.
    """
    known: dict[str, Any] = {}
    for each in schemas_at(schema, path):
        if "properties" in each:
            known |= each["properties"]
        elif each.get("type") in (None, "object"):
            return None
    return known


def schemas_at(schema: Mapping[str, Any], path: Iterable[str | int]) -> list[Any]:
    """The schemas for the value at a path, its choices taken apart."""
    found = [schema]
    for step in path:
        found = [inner for each in found for inner in _step(schema, each, str(step))]
    return list(_branches(schema, found))


def types_at(schema: Mapping[str, Any], path: Iterable[str | int]) -> set[str]:
    """The types that a schema allows at a path; none if it allows any."""
    types: set[str] = set()
    for each in schemas_at(schema, path):
        given = each.get("type", "string" if each.keys() & {"enum", "const"} else None)
        if given is None:
            return set()
        types |= {given} if isinstance(given, str) else set(given)
    return types


def split_pattern(pattern: str) -> list[str]:
    """The steps of a pattern of paths."""
    return re.sub(r"\[(\*|\d+)\]", r".\1", pattern).split(".")


def _branches(root: Mapping[str, Any], schemas: Iterable[Any]) -> Iterator[Mapping[str, Any]]:
    """Schemas with their references followed and their choices taken apart."""
    waiting, seen = [*schemas], set()
    while waiting:
        each = waiting.pop(0)
        if not isinstance(each, Mapping) or id(each) in seen:
            continue
        seen.add(id(each))
        inner = [*each.get("anyOf", ()), *each.get("oneOf", ()), *each.get("allOf", ())]
        reference = each.get("$ref", "")
        if reference.startswith("#/"):
            inner.append(get(root, tuple(reference[2:].split("/"))))
        if inner:
            waiting += inner
        else:
            yield each


def _step(root: Mapping[str, Any], schema: Mapping[str, Any], step: str) -> Iterator[Any]:
    for each in _branches(root, [schema]):
        properties = each.get("properties", {})
        if step in properties:
            yield properties[step]
            continue
        keys = ("items", "additionalProperties") if step == "*" or step.isdigit() else _OTHERS
        found = [each[key] for key in keys if key in each]
        found += properties.values() if step == "*" else ()
        is_open = not properties and each.get("type") in (None, "array", "object")
        # A schema that says nothing about it takes anything.
        yield from found or ([{}] if is_open else [])


# Models of pydantic.


@cache
def _adapter(model: Any) -> Any:
    from pydantic import TypeAdapter

    return TypeAdapter(model)


def pydantic_schema(model: Any) -> dict[str, Any]:
    """The JSON Schema of a model of pydantic."""
    from pydantic.json_schema import GenerateJsonSchema

    class Lenient(GenerateJsonSchema):
        """Says nothing about what JSON cannot hold, such as a function."""

        def handle_invalid_for_json_schema(self, schema: Any, error_info: str) -> Any:
            return {}

    schema: dict[str, Any] = _adapter(model).json_schema(by_alias=True, schema_generator=Lenient)
    return schema


def _build_pydantic(value: Any, model: Any, shape: Shape, reported: Collection[str]) -> Built:
    own = getattr(model, "model_config", None) or getattr(model, "__pydantic_config__", {})
    # A model that says what becomes of unknown keys is left alone.
    extra = "forbid" if shape.unknown is not None and not own.get("extra") else None
    plain = {k: v for k, v in value.items() if k not in reported} if reported else value
    config, facts = _validate(plain, model, shape, extra)
    if config is None and facts and all(each.severity not in (None, "error") for each in facts):
        config, more = _validate(plain, model, shape, "ignore")
        facts += more
    return config, plain, facts


def _validate(value: Any, model: Any, shape: Shape, extra: str | None) -> tuple[Any, list[Fact]]:
    from pydantic import ValidationError

    adapter = _adapter(model)
    try:
        return adapter.validate_python(value, **({} if extra is None else {"extra": extra})), []
    except ValidationError as error:
        errors = error.errors(include_url=False, include_input=False)
        return None, list(_facts_of(errors, value, model, shape))
    except MemoryError:
        raise
    except (Exception, SystemExit) as error:  # whatever a validator raises
        return None, [refusal(error, model, ROOT)]


def _facts_of(errors: Iterable[Any], value: Any, model: Any, shape: Shape) -> Iterator[Fact]:
    """What pydantic says, at the places of the values; of a choice, about the nearest branch."""
    guesses = Guesses()
    placed = [_Placed(each, value) for each in errors]
    for each in _keep_nearest_branches(placed):
        path = each.path
        owner = _title_at(model, path if each.sort == "missing" else path[:-1], each.branches)
        if each.sort == "missing":
            field = Shown(each.error["loc"][-1])
            yield codes.MISSING_FIELD.at(path, field=field, owner=owner, expected="a value")
        elif each.sort in ("extra_forbidden", "unexpected_keyword_argument"):
            known = properties_at(pydantic_schema(model), path[:-1]) or {}
            holder = get(value, path[:-1]) or {}
            guess = guesses.nearest(str(path[-1]), [name for name in known if name not in holder])
            remedy = None
            if guess is not None:
                remedy = Remedy(f"rename to `{guess}`", (Change(path, guess, "key"),))
            severity = shape.unknown or "error"
            values: dict[str, Any] = {"field": Shown(path[-1]), "owner": owner, "nearest": guess}
            yield codes.UNKNOWN_FIELD.at(
                path, part="key", remedy=remedy, severity=severity, **values
            )
        else:
            yield codes.MODEL_REFUSED.at(path, problem=_sentence(each.error))


def _title_at(model: Any, path: Path, branches: Iterable[tuple[Path, Any]]) -> str:
    """The class of the mapping at a path, in words; of a choice, that of the branch taken."""
    found = [each for each in schemas_at(pydantic_schema(model), path) if "title" in each]
    taken = {branch for at, branch in branches if at == path}
    own = [each for each in found if taken & {each["title"], *_words_of_choice(each)}]
    titles = [each["title"] for each in own or found]
    return f"`{words_of(titles[0])}`" if titles else title(model)


def _words_of_choice(schema: Mapping[str, Any]) -> set[Any]:
    """The words by which a mapping is known among others."""
    properties = schema.get("properties", {}).values()
    return {each["const"] for each in properties if isinstance(each.get("const"), str)}


def _sentence(error: Any) -> str:
    """What pydantic says, in one line."""
    message = str(error["msg"]).removeprefix("Value error, ").removeprefix("Assertion failed, ")
    line = next(iter(message.strip().splitlines()), "the model refuses the value")
    return line[:1].lower() + line[1:]


#: How much farther from a branch a word is that it does not have than any other mistake.
_OTHER_WORD = 100


class _Placed:
    """An error of pydantic, the path that it means, and the branches of choices on the way."""

    def __init__(self, error: Any, value: Any) -> None:
        self.error, self.sort = error, error["type"]
        self.path: Path = ROOT
        self.branches: list[tuple[Path, Any]] = []
        loc: tuple[Any, ...] = error["loc"]
        last = loc[-1] if loc else None
        for step in loc:
            is_key = isinstance(value, dict) and step in value
            if is_key or (isinstance(value, list) and isinstance(step, int) and step < len(value)):
                self.path, value = (*self.path, step), value[step]
            elif not (self.sort == "missing" and step is last):
                self.branches.append((self.path, step))


def _keep_nearest_branches(placed: list[_Placed]) -> Iterator[_Placed]:
    """The errors without those of branches that the value is farther from than from another."""
    counts: dict[Path, Counter[Any]] = {}
    for each in placed:
        for at, branch in each.branches:
            # A word that only another branch has says which one is meant.
            weight = _OTHER_WORD if each.sort == "literal_error" else 1
            counts.setdefault(at, Counter())[branch] += weight
    nearest = {at: min(those, key=lambda each: those[each]) for at, those in counts.items()}
    for each in placed:
        if all(nearest[at] == branch for at, branch in each.branches):
            yield each
