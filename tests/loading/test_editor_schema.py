"""The exported schema is never stricter than equipage: whatever loads, validates."""

from __future__ import annotations

import enum
import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal

import jsonschema_rs
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tiny
from casefiles import Case, cases_in
from equipage.clients.catalogue import Convention, conventions
from equipage.loading.editor_schema import VARIABLE, accept, schema_for
from equipage.loading.format import Format, Reading
from equipage.loading.model import build
from equipage.loading.pipeline import Outcome, load_text
from equipage.loading.session import Request
from equipage.loading.shape import Shape
from equipage.project.registry import built_in_kinds, format_named
from equipage.syntax import SyntaxProblem
from equipage.syntax.document import load_value
from lab import CASES

#: Cases that load only because an option asks for it; the schema speaks of what everybody accepts.
BY_OPTION = {"toolpack/legacy-keys-option-reads-old-names.md"}


#: Warnings about values that are left out. What other tools forgive, an editor may still mark.
LEFT_OUT = frozenset({"wrong-type", "invalid-value", "number-as-text", "header-without-fields"})


def validator(schema: dict[str, Any]) -> Any:
    jsonschema_rs.meta.validate(schema)  # a schema that is none raises
    return jsonschema_rs.Draft202012Validator(schema, offline=True)


@cache
def schema_of(kind: str) -> dict[str, Any]:
    return schema_for(format_named(kind))


@cache
def validator_of(kind: str) -> Any:
    return validator(schema_of(kind))


def authored(outcome: Outcome) -> Any:
    """The value of the entry as the author wrote it: variables are text, unless that leaves no
    valid file."""
    entry = outcome.documents[0]
    text = entry.source.text[slice(*entry.window)]
    try:
        value = load_value(entry.syntax, text, merge=entry.merge)
    except SyntaxProblem:
        return entry.value
    return entry.value if value is None else value


@pytest.mark.parametrize(
    "case", list(cases_in(CASES)), ids=lambda case: f"{case.path.relative_to(CASES)}"
)
def test_every_case_that_loads_validates(
    case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if "check" in case.settings or "layers" in case.settings:
        return  # several files at once
    case.write(tmp_path)
    monkeypatch.chdir(tmp_path)
    outcome = case.load()
    if not outcome.ok or not outcome.documents or str(case.path.relative_to(CASES)) in BY_OPTION:
        return
    if any(each.code in LEFT_OUT for each in outcome.diagnostics) or outcome.documents[
        0
    ].window == (0, 0):
        return  # a part is left out, or the header is missing
    problems = list(validator_of(case.kind).iter_errors(authored(outcome)))
    assert not problems, [(problem.instance_path, problem.message) for problem in problems]


@pytest.mark.parametrize("name", built_in_kinds())
def test_every_kind_has_a_valid_schema(name: str) -> None:
    validator_of(name)  # refuses a schema that is not valid
    schema = schema_of(name)
    assert schema["title"]
    assert "$id" not in schema


# --- types ---------------------------------------------------------------------------------------


class Colour(enum.Enum):
    RED = "red"


class Left(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="type", tag="left"):
    x: int


class Right(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="type", tag="right"):
    y: Annotated[str, msgspec.Meta(min_length=2)] | None = None


class Everything(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """One of each.

    More is not shown.
    """

    the_name: str
    port: Annotated[int, msgspec.Meta(ge=1, le=9)] = 5
    ratio: float = 0.5
    on: bool = False
    word: Literal["a", "b"] = "a"
    colour: Colour = Colour.RED
    many: tuple[Annotated[str, msgspec.Meta(pattern="^x")], ...] = ()
    by_name: dict[str, Left] = {}
    either: Left | Right | None = None
    free: Any = None
    again: Everything | None = None


PLAIN = Reading(variables=False)
EVERYTHING = Format(Everything, reading=PLAIN, stages=())


def test_what_a_model_says_is_in_the_schema() -> None:
    schema = schema_for(EVERYTHING)
    definition = schema["$defs"]["Everything"]
    properties = definition["properties"]
    assert schema["$ref"] == "#/$defs/Everything"
    assert (definition["title"], definition["description"]) == ("everything", "One of each.")
    assert definition["required"] == ["theName"]
    assert definition["additionalProperties"] is False
    assert properties["port"] == {"type": "integer", "minimum": 1, "maximum": 9, "default": 5}
    assert properties["ratio"] == {"type": "number", "default": 0.5}
    assert properties["word"] == {"enum": ["a", "b"], "default": "a"}
    assert properties["colour"] == {"enum": ["red"]}
    assert properties["many"] == {"type": "array", "items": {"type": "string", "pattern": "^x"}}
    assert properties["byName"] == {
        "type": "object",
        "additionalProperties": {"$ref": "#/$defs/Left"},
    }
    assert properties["free"] == {}
    assert {"$ref": "#/$defs/Left", "required": ["type"]} in properties["either"]["anyOf"]
    assert {"$ref": "#/$defs/Everything"} in properties["again"]["anyOf"]
    assert schema["$defs"]["Left"]["properties"]["type"] == {"const": "left"}


@pytest.mark.parametrize(
    ("shape", "value", "valid"),
    [
        pytest.param(
            Shape(unknown="error"), {"theName": "n", "z": 1}, False, id="an unknown key is refused"
        ),
        pytest.param(
            Shape(unknown="warning"),
            {"theName": "n", "z": 1},
            True,
            id="unless the kind only warns",
        ),
        pytest.param(
            Shape(unknown="warning", closed=(Left,)),
            {"theName": "n", "byName": {"a": {"x": 1, "z": 1}}},
            False,
            id="or the class is closed",
        ),
        pytest.param(
            Shape(exempt=("x-",)),
            {"theName": "n", "x-1": 1},
            True,
            id="an exempt key is nobody's business",
        ),
        pytest.param(Shape(), {"theName": "n", "port": "x"}, False, id="a wrong type is refused"),
        pytest.param(
            Shape(mismatch="warning"),
            {"theName": "n", "port": "x"},
            True,
            id="unless the kind only warns of it",
        ),
        pytest.param(Shape(), {"theName": "n", "port": None}, False, id="null is not absent"),
        pytest.param(
            Shape(null_is_absent=True),
            {"theName": "n", "port": None},
            True,
            id="unless the kind says so",
        ),
        pytest.param(
            Shape(null_is_absent=True), {"theName": None}, False, id="but not for what is required"
        ),
        pytest.param(
            Shape(null_is_absent=True),
            {"theName": "n", "many": None},
            True,
            id="null as an empty list",
        ),
        pytest.param(
            Shape(),
            {"theName": "n", "either": {"type": "left", "x": 1}},
            True,
            id="a tagged branch",
        ),
        pytest.param(Shape(), {"theName": "n", "either": {"x": 1}}, False, id="without its tag"),
        pytest.param(
            Shape(), {"theName": "n", "again": {"theName": 5}}, False, id="a model in itself"
        ),
    ],
)
def test_the_schema_is_as_strict_as_the_kind(shape: Shape, value: Any, valid: bool) -> None:
    kind = Format(Everything, reading=PLAIN, shape=shape, stages=())
    assert validator(schema_for(kind)).is_valid(value) is valid
    config, _, _ = build(value, Everything, shape)
    assert (config is not None) is valid


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-2, 12)
    | st.floats(0, 1)
    | st.sampled_from(["a", "red", "x", "left", ""]),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(
            st.sampled_from(["theName", "x", "y", "type", "z", "port"]), inner, max_size=3
        )
    ),
    max_leaves=6,
)
FIELDS = [
    "theName", "port", "ratio", "on", "word", "colour", "many", "byName", "either", "free", "again", "z",
]  # fmt: skip


@given(
    value=st.dictionaries(st.sampled_from(FIELDS), VALUES, max_size=4).map(
        lambda value: {"theName": "n", **value}
    ),
    unknown=st.sampled_from([None, "warning", "error"]),
    null_is_absent=st.booleans(),
)
def test_whatever_loads_validates(value: Any, unknown: Any, null_is_absent: bool) -> None:
    shape = Shape(unknown=unknown, null_is_absent=null_is_absent)
    config, _, found = build(value, Everything, shape)
    if config is not None and not any(each.severity == "error" for each in found):
        kind = Format(Everything, reading=PLAIN, shape=shape, stages=())
        assert validator(schema_for(kind)).is_valid(value), value


# --- fragments -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "valid"),
    [
        pytest.param(
            {"name": "n", "members": [{"$include": "a.yaml"}]}, True, id="an include for a mapping"
        ),
        pytest.param(
            {"$include": "a.yaml", "override": {"name": 1}}, True, id="or for the whole file"
        ),
        pytest.param({"name": {"$include": "a.yaml"}}, False, id="but not for text"),
        pytest.param({"name": "n", "members": [{"$include": 5}]}, False, id="it must name a file"),
        pytest.param(
            {"name": "n", "members": [{"name": "m", "role": "${ROLE}"}]},
            True,
            id="a variable for a word",
        ),
        pytest.param({"name": "n", "members": "${ALL:-[]}"}, True, id="or for a list"),
        pytest.param(
            {"name": "n", "members": [{"name": "m", "role": "boss"}]},
            False,
            id="other words stay refused",
        ),
        pytest.param("${ALL}", False, id="a file is more than a variable"),
    ],
)
def test_what_is_replaced_before_the_model_sees_it(value: Any, valid: bool) -> None:
    assert validator(schema_for(tiny.FORMAT)).is_valid(value) is valid


def test_accepting_changes_nothing_it_was_given() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}, "$defs": {}}
    widened = accept(schema, "variable", VARIABLE, at_root=False)
    assert schema == {"type": "object", "properties": {"a": {"type": "integer"}}, "$defs": {}}
    assert widened["properties"]["a"] == {
        "anyOf": [{"type": "integer"}, {"$ref": "#/$defs/variable"}]
    }
    assert widened["$defs"] == {"variable": VARIABLE}


def test_fragments_add_up() -> None:
    once = accept({"type": "integer"}, "a", {"type": "boolean"})
    twice = accept({**once, "title": "t"}, "b", {"type": "null"})
    assert twice["anyOf"] == [{"type": "integer"}, {"$ref": "#/$defs/a"}, {"$ref": "#/$defs/b"}]
    assert twice["title"] == "t"


def test_a_fragment_may_stand_at_one_place_only() -> None:
    schema = accept(
        schema_for(EVERYTHING),
        "text",
        {"type": "string"},
        at=["Everything.byName{}", "Everything.port"],
    )
    properties = schema["$defs"]["Everything"]["properties"]
    assert properties["byName"]["additionalProperties"]["anyOf"][1] == {"$ref": "#/$defs/text"}
    assert properties["port"]["anyOf"][1] == {"$ref": "#/$defs/text"}
    assert "anyOf" not in properties["ratio"]
    assert schema["$ref"] == "#/$defs/Everything"


def test_a_fragment_for_a_place_that_is_gone_is_an_error() -> None:
    with pytest.raises(ValueError, match=r"the schema has no Everything\.nmae"):
        accept(schema_for(EVERYTHING), "text", {"type": "string"}, at=["Everything.nmae"])


@pytest.mark.parametrize(
    ("tools", "valid"),
    [(5, False), (True, False), ({"a": 1}, False), ("Read", True), (["Read"], True)],
)
def test_a_list_that_restricts_is_a_list_or_text(tools: Any, valid: bool) -> None:
    """As the loader judges it: a value of another type would let everything through."""
    agent = {"name": "a", "description": "d", "tools": tools}
    assert validator_of("claude-agent").is_valid(agent) == valid


def slots(schema: Any, place: str = "") -> Iterator[tuple[str, Any]]:
    """Every property of a schema, wherever it is, with its place."""
    if isinstance(schema, list):
        for each in schema:
            yield from slots(each, place)
    elif isinstance(schema, dict):
        for name, each in schema.get("properties", {}).items():
            yield f"{place}.{name}", each
        for key, each in schema.items():
            yield from slots(each, f"{place}/{key}")


@pytest.mark.parametrize("name", built_in_kinds())
def test_every_field_is_described(name: str) -> None:
    found = list(slots(schema_of(name)))
    silent = [place for place, each in found if not str(each.get("description", "")).strip()]
    assert silent == []
    # Any text, any value, or a file whose fields are those of another program.
    assert found or name in ("instructions", "by-schema")


# --- the schema and the loader, on files of other tools ------------------------------------------

#: What a field may be given; the loader refuses most of them for most fields.
GIVEN: list[Any] = [5, True, "zq", None, [], {}, [5], ["zq"], {"zq": 1}]
#: What the loader looks up, or reads inside a value that the schema takes as it is.
DEEPER = frozenset(
    {"hook-event-unknown", "manifest-refused", "manifest-path-missing", "server-unreachable"}
    | {"unknown-reference"}
)
#: The hooks of settings are read by a rule of their own; null may be a value of the other.
BY_A_RULE = {("claude-settings", "hooks"), ("claude-settings", "teammateMode")}
WRITTEN = [each for each in conventions() if each.syntax in ("header", "json", "yaml")]


def judged(table: Convention, value: dict[str, Any]) -> Outcome:
    """The load of a file with this value."""
    lines = "".join(f"{key}: {json.dumps(each)}\n" for key, each in value.items())
    text = f"---\n{lines}---\nBody.\n" if table.syntax == "header" else json.dumps(value)
    ending = {"header": "md", "json": "json", "yaml": "yaml"}[table.syntax]
    request = Request(env={})
    return load_text(text, format_named(table.kind), request, name=f"x.{ending}", base="/tmp")


def smallest(table: Convention) -> dict[str, Any]:
    """A file with what the tool needs."""
    owner = {"owner": {"name": "zq"}} if table.kind == "claude-marketplace" else {}
    needed = [each for each in table.fields if each.required == "error"]
    empty = {each.name: "zq" if each.type is str else {} for each in needed}
    lists = {each.name: [] for each in needed if "tuple" in str(each.type)}
    return {**empty, **lists, **owner}


@pytest.mark.parametrize("table", WRITTEN, ids=lambda each: each.kind)
def test_a_field_is_typed_as_the_loader_judges_it(table: Convention) -> None:
    """Whatever the loader takes, the schema takes; what does not fit a field, neither does."""
    base, accepts = smallest(table), validator_of(table.kind).is_valid
    if not judged(table, base).ok:
        return  # its tool needs more than a few fields
    for field in table.fields:
        if (table.kind, field.name) in BY_A_RULE:
            continue
        for each in GIVEN if len(table.fields) < 60 else GIVEN[:: len(GIVEN) // 2]:
            value = {**base, field.name: each}
            outcome = judged(table, value)
            errors = {one.code for one in outcome.errors}
            if not errors & DEEPER:
                assert accepts(value) == outcome.ok, (field.name, each, errors)
