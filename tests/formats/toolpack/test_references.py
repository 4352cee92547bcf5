"""References between schemas: what they become, what they may do, and that they always end."""

from __future__ import annotations

import json
import socket
from pathlib import Path
from typing import Any

import jsonschema
import jsonschema_rs
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import equipage
from clock import promised
from equipage.formats.toolpack import FORMAT
from equipage.formats.toolpack.loader import ToolpackLoader
from equipage.loading.pipeline import Outcome, load_path
from equipage.loading.session import Request
from formats.toolpack.making import pack
from lab import load, repository, tries


def outcome(folder: Path, schema: Any, files: dict[str, Any] | None = None) -> Outcome:
    repository(folder, {"packs/a.tool.yaml": pack(inputSchema=schema), **(files or {})})
    return load(folder / "packs" / "a.tool.yaml", "toolpack")


def resolved(folder: Path, schema: Any, files: dict[str, Any] | None = None) -> Any:
    found = outcome(folder, schema, files)
    assert found.config is not None, found.diagnostics
    return found.config.input_schema


FILE = {
    "properties": {"value": {"type": "integer"}},
    "allOf": [{"title": "a"}, {"title": "b"}],
    "a/b": {"~": {"title": "c"}},
}


@pytest.mark.requirement("TP-02", "TP-18")
@pytest.mark.parametrize(
    ("reference", "becomes"),
    [
        ("s.json", FILE),
        ("./s.json#", FILE),
        ("s.json#/", FILE),
        ("s.json#/properties/value", {"type": "integer"}),
        ("s.json#/allOf/1", {"title": "b"}),
        ("s.json#allOf/1", {"title": "b"}),
        ("s.json#/a~1b/~0", {"title": "c"}),
        ("s.json#/a%7E1b/%7E0", {"title": "c"}),
        ("../packs/s.json", FILE),
        ("true.json", True),
        ("false.yaml", False),
    ],
)
def test_pointers(tmp_path: Path, reference: str, becomes: Any) -> None:
    files = {"packs/s.json": FILE, "packs/true.json": "true", "packs/false.yaml": "false"}
    assert resolved(tmp_path, {"$ref": reference}, files) == becomes


@pytest.mark.parametrize(
    "pointer",
    [
        "/allOf/2",
        "/allOf/-1",
        "/allOf/01",
        "/allOf/x",
        "/properties/value/type/x",
        "/no",
        "name",
        "/allOf/",
    ],
)
def test_pointers_to_nothing(tmp_path: Path, pointer: str) -> None:
    found = outcome(tmp_path, {"$ref": f"s.json#{pointer}"}, {"packs/s.json": FILE})
    assert [each.code for each in found.errors] == ["schema-ref-nothing"]


@pytest.mark.requirement("TP-02")
def test_fragments_of_an_inline_schema_start_at_that_schema(tmp_path: Path) -> None:
    schema = {"$defs": {"p": {"type": "string"}}, "properties": {"a": {"$ref": "#/$defs/p"}}}
    assert resolved(tmp_path, schema)["properties"]["a"] == {"type": "string"}
    found = outcome(tmp_path, {"properties": {"a": {"$ref": "#/outputSchema"}}})
    assert [each.code for each in found.errors] == ["schema-ref-nothing"]


@pytest.mark.requirement("TP-18")
def test_fragments_of_a_file_start_at_that_file_however_it_was_entered(tmp_path: Path) -> None:
    file = {"$defs": {"outer": {"items": {"$ref": "#/$defs/inner"}}, "inner": {"type": "null"}}}
    assert resolved(tmp_path, {"$ref": "s.json#/$defs/outer"}, {"packs/s.json": file}) == {
        "items": {"type": "null"}
    }


def test_packs_share_what_they_refer_to(tmp_path: Path) -> None:
    files = {
        f"packs/{n}.tool.yaml": pack(id=f"t.n{n}", inputSchema={"$ref": "s.json"}) for n in range(3)
    }
    repository(
        tmp_path,
        {
            **files,
            "packs/s.json": {
                "properties": {"a": {"$ref": "#/$defs/x"}},
                "$defs": {"x": {"title": "x"}},
            },
        },
    )
    loader = ToolpackLoader()
    loader.load_dir(tmp_path / "packs")
    first, second, third = loader.list()
    assert first.input_schema is second.input_schema is third.input_schema


def test_a_shared_file_is_read_and_checked_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from equipage.directives import ref_graph as linking

    calls: list[Any] = []
    monkeypatch.setattr(linking, "check_shape", lambda value, *_a, **_k: calls.append(value) or [])
    files = {
        f"packs/{n}.tool.yaml": pack(
            id=f"t.n{n}", inputSchema={"$ref": "s.json"}, outputSchema={"$ref": "s.json"}
        )
        for n in range(5)
    }
    repository(tmp_path, {**files, "packs/s.json": {"title": "shared"}})
    ToolpackLoader().load_dir(tmp_path / "packs")
    assert calls.count({"title": "shared"}) == 1


def test_loads_that_share_find_the_same_as_loads_that_do_not(tmp_path: Path) -> None:
    schemas = {
        "packs/good.json": {"title": "good", "properties": {"a": {"$ref": "leaf.json"}}},
        "packs/leaf.json": {"type": "string"},
        "packs/bad.json": {"type": "strng", "properties": {"a": {"$ref": "nowhere.json"}}},
        "packs/odd.yaml": "title: one\ntitle: two\n",
        "packs/loop.json": {"$ref": "loop.json"},
        "packs/tree.json": {"items": {"$ref": "#"}},
    }
    inputs = [{"$ref": name.split("/")[1]} for name in schemas] + [
        {"properties": {"x": {"$ref": "good.json"}, "y": {"$ref": "leaf.json"}}},
        {"properties": {"x": {"$ref": "tree.json"}}},
        {"$schema": "http://json-schema.org/draft-07/schema#", "items": {"$ref": "good.json"}},
        {"items": {"$ref": "leaf.json", "title": "beside"}},
        {"items": {"$ref": "leaf.json"}, "pattern": "("},
    ]
    packs = {
        f"packs/{n}.tool.yaml": pack(id=f"t.n{n}", inputSchema=each)
        for n, each in enumerate(inputs * 2)
    }
    repository(tmp_path, {**schemas, **packs})
    run = Request(env={}).new_run()
    for name in packs:
        alone = load(tmp_path / name, "toolpack")
        together = load(tmp_path / name, "toolpack", run=run)
        assert list(map(str, together.diagnostics)) == list(map(str, alone.diagnostics)), name
        assert together.config == alone.config
        assert [each.name for each in together.sources] == [each.name for each in alone.sources]


# --- drafts and names ----------------------------------------------------------------------------

DRAFT_3 = "http://json-schema.org/draft-03/schema#"
DRAFT_4 = "http://json-schema.org/draft-04/schema#"
DRAFT_7 = "http://json-schema.org/draft-07/schema#"
DRAFT_2019 = "https://json-schema.org/draft/2019-09/schema"


@pytest.mark.requirement("TP-03")
@pytest.mark.parametrize(
    ("schema", "file", "becomes"),
    [
        pytest.param(
            {"$schema": DRAFT_7, "$ref": "#/definitions/a", "definitions": {"a": {"items": [{}]}}},
            {},
            {"$schema": DRAFT_7, "items": [{}]},
            id="hidden beside the reference",
        ),
        pytest.param(
            {"$schema": DRAFT_7, "$ref": "s.json"},
            {"$schema": DRAFT_4, "minimum": 5, "exclusiveMinimum": True},
            {"$schema": DRAFT_4, "minimum": 5, "exclusiveMinimum": True},
            id="another one in the target",
        ),
        pytest.param(
            {"$schema": DRAFT_7, "$ref": "s.json"},
            {"$schema": "https://x.test/", "title": "x"},
            {"$schema": DRAFT_7, "title": "x"},
            id="an unknown one in the target",
        ),
        pytest.param(
            {"$ref": "s.json"},
            {"$schema": DRAFT_7, "$ref": "#/definitions/a", "definitions": {"a": {"items": [{}]}}},
            {"$schema": DRAFT_7, "items": [{}]},
            id="hidden in the target",
        ),
        pytest.param({"$ref": "s.json"}, {"title": "x"}, {"title": "x"}, id="the default"),
    ],
)
def test_the_result_says_which_draft_it_was_checked_as(
    tmp_path: Path, schema: Any, file: Any, becomes: Any
) -> None:
    assert resolved(tmp_path, schema, {"packs/s.json": file}) == becomes


def test_a_long_chain_takes_the_draft_at_its_end(tmp_path: Path) -> None:
    files: dict[str, Any] = {f"packs/s{n}.json": {"$ref": f"s{n + 1}.json"} for n in range(80)}
    end = {"$schema": DRAFT_4, "minimum": 1, "exclusiveMinimum": True}
    assert resolved(tmp_path, {"$ref": "s0.json"}, {**files, "packs/s80.json": end}) == end


@pytest.mark.parametrize("name", ["$id", "$anchor", "$dynamicAnchor", "id"])
def test_a_name_stays_where_it_was_written(tmp_path: Path, name: str) -> None:
    schema = {"properties": {"a": {name: "x", "type": "string"}}}
    assert resolved(tmp_path, schema) == schema


@pytest.mark.parametrize(
    ("schema", "instance"),
    [
        pytest.param(
            {
                "$defs": {"n": {"$anchor": "node", "type": "string"}},
                "properties": {"a": {"$dynamicRef": "#node"}},
            },
            {"a": 1},
            id="a name that is no dynamic one",
        ),
        pytest.param(
            {"$defs": {"x": {"type": "string"}}, "properties": {"a": {"$dynamicRef": "#/$defs/x"}}},
            {"a": 1},
            id="a pointer",
        ),
        pytest.param(
            {
                "$dynamicAnchor": "n",
                "type": "object",
                "additionalProperties": {"$dynamicRef": "#n"},
            },
            {"a": {"b": 1}},
            id="a recursive schema",
        ),
        pytest.param(
            {
                "$defs": {"x": {"minimum": 5}},
                "$dynamicAnchor": "n",
                "properties": {"a": {"$dynamicRef": "#n", "$ref": "#/$defs/x"}},
            },
            {"a": 1},
            id="beside another reference",
        ),
        pytest.param(
            {
                "$schema": DRAFT_2019,
                "type": "object",
                "additionalProperties": {"$recursiveRef": "#"},
            },
            {"a": {"b": 1}},
            id="of draft 2019-09",
        ),
    ],
)
def test_a_reference_for_run_time_leads_to_the_same(
    tmp_path: Path, schema: Any, instance: Any
) -> None:
    """Alone, and inside a schema that would be found instead, had it stayed as it was written."""
    draft = {"$schema": schema["$schema"]} if "$schema" in schema else {}
    around = {
        **draft,
        "required": ["p"],
        "properties": {"p": {"$ref": "s.json"}, "q": {"$ref": "s.json"}},
    }
    for shape, wrapped in (({"$ref": "s.json"}, False), (schema, False), (around, True)):
        found = outcome(tmp_path, shape, {"packs/s.json": schema})
        assert not found.diagnostics
        assert found.config is not None
        validator = jsonschema_rs.validator_for(found.config.to_dict()["inputSchema"], offline=True)
        assert validator.is_valid({"p": {}, "q": {}} if wrapped else {})
        assert not validator.is_valid({"p": {}, "q": instance} if wrapped else instance)


def test_names_for_run_time_that_several_schemas_have_are_disputed(tmp_path: Path) -> None:
    files = {
        "packs/s.json": {
            "$dynamicAnchor": "n",
            "type": "object",
            "properties": {"c": {"$dynamicRef": "#n"}},
        },
        "packs/t.json": {"$dynamicAnchor": "n", "type": "array", "items": {"$dynamicRef": "#n"}},
        "packs/b.tool.yaml": pack(id="t.b", inputSchema={"properties": {"p": {"$ref": "s.json"}}}),
        "packs/c.tool.yaml": pack(id="t.c", inputSchema={"properties": {"p": {"$ref": "t.json"}}}),
        "packs/z.tool.yaml": pack(
            id="t.z", inputSchema={"properties": {"p": {"$ref": "s.json"}, "q": {"$ref": "t.json"}}}
        ),
    }
    repository(tmp_path, files)
    run = Request(env={}).new_run()
    codes = {
        name: [
            each.code
            for each in load_path(
                str(tmp_path / name), FORMAT, Request(env={}), run=run
            ).diagnostics
        ]
        for name in files
        if name.endswith(".yaml")
    }
    assert codes == {
        "packs/b.tool.yaml": [],
        "packs/c.tool.yaml": [],
        "packs/z.tool.yaml": ["schema-ref-disputed"],
    }


def test_an_address_of_draft_4_is_a_base(tmp_path: Path) -> None:
    inner = {
        "definitions": {"k": {"type": "string"}},
        "properties": {"z": {"$ref": "#/definitions/k"}},
    }
    schema = {
        "$schema": DRAFT_4,
        "definitions": {"e": {"id": "http://x.test/e", **inner}, "k": {"type": "integer"}},
        "allOf": [{"$ref": "http://x.test/e"}],
    }
    assert resolved(tmp_path, schema)["allOf"][0]["properties"]["z"] == {"type": "string"}


@pytest.mark.parametrize(
    ("schema", "codes"),
    [
        (
            {"properties": {"p": {"$ref": "s.json"}}, "not": {"$schema": 5}},
            ["schema-keyword-type", "schema-dialect"],
        ),
        (
            {"$schema": DRAFT_7, "$ref": "#/a", "a": {}, "definitions": {"b": {"pattern": "("}}},
            ["schema-pattern"],
        ),
        (
            {"$schema": DRAFT_7, "$ref": "#/a", "a": {}, "definitions": {"b": {"$ref": 5}}},
            ["schema-ref-value"],
        ),
        (
            {"$schema": DRAFT_7, "$ref": "#/a", "a": {}, "definitions": {"b": {"$ref": "nowhere"}}},
            [],
        ),
        ({"$schema": DRAFT_3, "extends": {"$ref": "nope.json"}}, ["schema-ref-missing"]),
        ({"$schema": DRAFT_3, "type": ["any", {"$ref": "x"}]}, ["schema-ref-missing"]),
        ({"$ref": "null.json"}, ["schema-not-schema"]),
        (
            {"type": "object", "$ref": "#/type", "$schema": DRAFT_7},
            ["schema-ref-hides", "schema-not-schema"],
        ),
    ],
)
def test_mistakes_nobody_would_look_at(tmp_path: Path, schema: Any, codes: list[str]) -> None:
    found = outcome(tmp_path, schema, {"packs/s.json": {"$schema": 5}, "packs/null.json": "null"})
    assert [each.code for each in found.diagnostics] == codes


# --- safety --------------------------------------------------------------------------------------


def test_nothing_is_ever_fetched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_args: Any, **_kwargs: Any) -> Any:
        raise AssertionError("a socket was opened")

    monkeypatch.setattr(socket, "socket", refuse)
    monkeypatch.setattr(socket, "create_connection", refuse)
    for reference in (
        "http://127.0.0.1:9/x",
        "https://x.test/",
        "file:///etc/hostname",
        "urn:x:y",
        "data:,{}",
    ):
        for schema in (
            {"$ref": reference},
            {"$ref": reference, "type": "object"},
            {"$schema": reference},
        ):
            found = outcome(tmp_path, schema)
            assert {each.code for each in found.diagnostics} <= {
                "schema-ref-remote",
                "schema-dialect-unknown",
            }
            assert found.diagnostics


@pytest.mark.parametrize(
    "reference",
    [
        "/etc/hostname",
        "../../etc/hostname",
        "../../../../../../etc/hostname",
        "C:\\x.json",
        "link.json",
        "..\\x",
    ],
)
def test_references_stay_inside_the_project(tmp_path: Path, reference: str) -> None:
    (tmp_path / "secret.json").write_text('{"title": "secret"}')
    (tmp_path / "p" / "packs").mkdir(parents=True)
    (tmp_path / "p" / "packs" / "link.json").symlink_to("../../secret.json")
    found = outcome(tmp_path / "p", {"$ref": reference})
    assert found.errors
    assert "secret" not in json.dumps(
        [str(each) for each in found.diagnostics if reference not in str(each)]
    )


def tower(levels: int) -> dict[str, Any]:
    parts: dict[str, Any] = {
        f"d{n}": {"allOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 3} for n in range(levels)
    }
    return {"$ref": "#/$defs/d0", "$defs": {**parts, f"d{levels}": {}}}


def long_chain(links: int) -> dict[str, Any]:
    parts: dict[str, Any] = {
        f"d{n}": {"items": {"$ref": f"#/$defs/d{n + 1}"}} for n in range(links)
    }
    return {"properties": {"a": {"$ref": "#/$defs/d0"}}, "$defs": {**parts, f"d{links}": {}}}


def all_broken(count: int) -> dict[str, Any]:
    names = {f"d{n}": {"type": "strng"} for n in range(count)}
    return {
        "properties": {f"p{n}": {"$ref": f"#/$defs/x{n}"} for n in range(count)},
        "$defs": names,
    }


def by_anchor(count: int) -> dict[str, Any]:
    names = {f"d{n}": {"$anchor": f"a{n}", "pattern": "("} for n in range(count)}
    return {"properties": {f"p{n}": {"$ref": f"#a{n}"} for n in range(count)}, "$defs": names}


def chain_of_mistakes(count: int) -> dict[str, Any]:
    parts: dict[str, Any] = {
        f"d{n}": {"items": {"$ref": f"#/$defs/d{n + 1}"}, "type": "x"} for n in range(count)
    }
    return {"$ref": "#/$defs/d0", "$defs": {**parts, f"d{count}": {}}}


def wide_loop(parts: int) -> dict[str, Any]:
    every = [{"$ref": f"#/$defs/d{n}"} for n in range(parts)]
    return {"$ref": "#/$defs/d0", "$defs": {f"d{n}": {"anyOf": every} for n in range(parts)}}


def names_for_run_time(count: int) -> dict[str, Any]:
    parts: dict[str, Any] = {
        f"d{n}": {
            "$dynamicAnchor": f"n{n}",
            "items": {"$dynamicRef": f"#n{n}"},
            "not": {"$ref": "#/$defs/heavy"},
        }
        for n in range(count)
    }
    heavy = {"anyOf": [{"$ref": f"#/$defs/d{n}"} for n in range(0, count, 7)]}
    return {
        "anyOf": [{"$ref": f"#/$defs/d{n}"} for n in range(count)],
        "$defs": {**parts, "heavy": heavy, "x": 5},
    }


def inline_tower(levels: int) -> dict[str, Any]:
    schema: dict[str, Any] = {}
    for _ in range(levels):
        schema = {"allOf": [schema]}
    return schema


@pytest.mark.parametrize(
    ("schema", "codes"),
    [
        pytest.param(tower(30), {"schema-too-large"}, id="a tower of references"),
        pytest.param(long_chain(2000), {"schema-too-deep"}, id="a long chain"),
        pytest.param(
            all_broken(300),
            {"schema-ref-nothing", "schema-type-unknown"},
            id="nothing but mistakes",
        ),
        pytest.param(by_anchor(600), {"schema-pattern"}, id="many anchors"),
        pytest.param(
            chain_of_mistakes(300),
            {"schema-type-unknown", "schema-too-deep"},
            id="a chain of mistakes",
        ),
        pytest.param(
            names_for_run_time(300),
            {"schema-ref-loop", "schema-not-schema"},
            id="names for run time",
        ),
        pytest.param(wide_loop(40), {"schema-ref-loop"}, id="everything refers to everything"),
        pytest.param(inline_tower(200), {"nesting-too-deep"}, id="a tower of allOf"),
        pytest.param({"$ref": "#"}, {"schema-ref-loop"}, id="itself"),
        pytest.param({"not": {"$ref": "#"}}, {"schema-ref-loop"}, id="not itself"),
        pytest.param({"pattern": "(" * 5000}, {"schema-pattern"}, id="brackets"),
        pytest.param({"pattern": "(a*)*" * 2000}, {"schema-pattern-slow"}, id="nested repetitions"),
        pytest.param(
            {"pattern": "((a{99}){99}){99}"}, {"schema-pattern-slow"}, id="multiplied repetitions"
        ),
    ],
)
def test_what_could_run_for_ever_is_a_finding_at_once(
    tmp_path: Path, schema: Any, codes: set[str]
) -> None:
    with promised(0.2):
        found = outcome(tmp_path, schema)
    assert {each.code for each in found.diagnostics} == codes


def test_an_alias_bomb_in_a_schema_ends(tmp_path: Path) -> None:
    lines = ["a0: &a0 {title: x}"] + [
        f"a{n}: &a{n} {{allOf: [{', '.join([f'*a{n - 1}'] * 9)}]}}" for n in range(1, 9)
    ]
    found = outcome(tmp_path, {"$ref": "s.yaml#/a8"}, {"packs/s.yaml": "\n".join(lines)})
    assert {each.code for each in found.errors} == {"alias-bomb"}


# --- meaning -------------------------------------------------------------------------------------

_LEAF = st.sampled_from(
    [{"type": "string"}, {"type": "integer", "minimum": 2}, {"enum": [1, "a"]}, {}, True, False]
)
_NAMES = ["a", "b", "c"]


def _schemas(draw: Any, depth: int) -> Any:
    if depth == 0 or draw(st.booleans()):
        return draw(
            st.one_of(_LEAF, st.sampled_from([{"$ref": f"#/$defs/{name}"} for name in _NAMES]))
        )
    inner = [_schemas(draw, depth - 1) for _ in range(draw(st.integers(1, 2)))]
    form = draw(st.sampled_from(["properties", "items", "allOf", "anyOf", "beside"]))
    if form == "properties":
        return {
            "type": "object",
            "properties": dict(zip("xy", inner, strict=False)),
            "additionalProperties": False,
        }
    if form == "items":
        return {"type": "array", "items": inner[0]}
    if form == "beside":
        return {
            "$ref": f"#/$defs/{draw(st.sampled_from(_NAMES))}",
            "maxProperties": 1,
            "properties": {"x": inner[0]},
        }
    return {form: inner}


@st.composite
def documents(draw: Any) -> Any:
    return {
        "$defs": {name: _schemas(draw, 2) for name in _NAMES},
        "properties": {"x": _schemas(draw, 3)},
    }


INSTANCES: list[Any] = [
    {},
    {"x": 1},
    {"x": "a"},
    {"x": [1, "a"]},
    {"x": {"x": 5, "y": 1}},
    {"x": [[]]},
    {"x": {"x": {"x": "a"}}},
]


@pytest.mark.requirement("TP-02", "TP-29")
@settings(
    max_examples=tries(150),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(documents(), st.sampled_from(["2020-12", "2019-09", "draft-07"]))
def test_a_resolved_schema_accepts_what_the_written_one_accepts(
    tmp_path: Path, document: Any, draft: str
) -> None:
    uri = {
        "2020-12": "https://json-schema.org/draft/2020-12/schema",
        "2019-09": "https://json-schema.org/draft/2019-09/schema",
    }
    document = {"$schema": uri.get(draft, "http://json-schema.org/draft-07/schema#"), **document}
    found = outcome(tmp_path, {"$ref": "s.json"}, {"packs/s.json": document})
    codes = {each.code for each in found.errors}
    if codes:
        assert codes == {"schema-ref-loop"}
        return
    schema = found.config.to_dict()["inputSchema"]
    written, inlined = (
        jsonschema_rs.validator_for(document, offline=True),
        jsonschema_rs.validator_for(schema, offline=True),
    )
    for instance in INSTANCES:
        assert written.is_valid(instance) == inlined.is_valid(instance), (instance, schema)
    assert not [key for key in json.dumps(schema).split('"') if key.endswith(".json")]


def test_the_result_is_a_schema_for_other_validators_too(tmp_path: Path) -> None:
    files = {
        "packs/tree.json": {
            "$id": "https://x.test/tree",
            "type": "object",
            "properties": {"next": {"$ref": "#"}},
            "additionalProperties": False,
        }
    }
    schema = equipage.load(_written(tmp_path, files), kind="toolpack").to_dict()["inputSchema"]
    validator = jsonschema.Draft202012Validator(schema)
    assert validator.is_valid({"next": {"next": {}}})
    assert not validator.is_valid({"next": {"other": 1}})


def _written(folder: Path, files: dict[str, Any]) -> Path:
    repository(folder, {"packs/a.tool.yaml": pack(inputSchema={"$ref": "tree.json"}), **files})
    return folder / "packs" / "a.tool.yaml"
