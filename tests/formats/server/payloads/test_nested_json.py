"""`nested_json`, byte for byte."""

from __future__ import annotations

import json

import pytest

from equipage.formats.server.payloads.types import NestedJson

from .making import LIMITS, findings, make


@pytest.mark.parametrize(
    ("params", "output"),
    [
        pytest.param({"depth": 0}, "null", id="G01 depth 0 is the inner value alone"),
        pytest.param(
            {"depth": 0, "inner": [1, {"a": "b"}]},
            '[1,{"a":"b"}]',
            id="G01 depth 0 writes inner compactly",
        ),
        pytest.param({"depth": 1}, '{"a":null}', id="G01 depth 1 shows the defaults"),
        pytest.param(
            {"depth": 3, "inner": "x"}, '{"a":{"a":{"a":"x"}}}', id="G01 depth 3 of objects"
        ),
        pytest.param(
            {"depth": 3, "structure": "array", "inner": 1}, "[[[1]]]", id="G01 depth 3 of arrays"
        ),
        pytest.param(
            {"depth": 4, "structure": "mixed", "key": "k"},
            '{"k":[{"k":[null]}]}',
            id="G01 depth 4 mixed",
        ),
        pytest.param(
            {"depth": 3, "structure": "mixed", "key": "k", "inner": True},
            '{"k":[{"k":true}]}',
            id="G01 depth 3 mixed ends with an object",
        ),
        pytest.param(
            {"depth": 1, "structure": "mixed"}, '{"a":null}', id="G01 depth 1 mixed is an object"
        ),
        pytest.param(
            {"depth": 1, "key": 'q"\n/é'},
            '{"q\\"\\n/é":null}',
            id="the key is escaped as JSON needs, no more",
        ),
        pytest.param(
            {"depth": 1, "inner": "日本/😀"}, '{"a":"日本/😀"}', id="inner keeps its characters"
        ),
        pytest.param(
            {"depth": 1, "inner": {"z": 1, "a": 2}},
            '{"a":{"z":1,"a":2}}',
            id="inner keeps its order",
        ),
        pytest.param({"depth": 1, "key": ""}, '{"":null}', id="an empty key is a key"),
        pytest.param(
            {"depth": 1, "structure": None, "key": None}, '{"a":null}', id="null means the default"
        ),
    ],
)
def test_output(params: dict[str, object], output: str) -> None:
    generator = make(type="nested_json", **params)
    assert generator.read().decode() == output
    assert generator.estimated_size == len(output.encode())


@pytest.mark.parametrize("structure", ["object", "array", "mixed"])
def test_G02_depth_costs_no_stack(structure: str) -> None:
    generator = make(type="nested_json", depth=100_000, structure=structure, key="k")
    data = generator.read()
    opened, closed = data.count(b"{") + data.count(b"["), data.count(b"}") + data.count(b"]")
    assert (opened, closed, len(data)) == (100_000, 100_000, generator.estimated_size)
    assert data.startswith(b"[[" if structure == "array" else b'{"k":')


def test_G02_depth_50000_array_does_not_overflow() -> None:
    assert (
        make(type="nested_json", depth=50_000, structure="array").read()
        == b"[" * 50_000 + b"null" + b"]" * 50_000
    )


def test_G06_objects_are_larger_than_arrays() -> None:
    sizes = [
        make(type="nested_json", depth=10, structure=each).estimated_size
        for each in ("object", "mixed", "array")
    ]
    assert sizes == sorted(sizes, reverse=True)
    assert len(set(sizes)) == 3


def test_G07_a_large_inner_value_is_kept() -> None:
    inner = {"items": ["x" * 1000] * 300}
    data = json.loads(make(type="nested_json", depth=2, inner=inner).read())
    assert data == {"a": {"a": inner}}


def test_equal_numbers_of_different_types_make_different_generators() -> None:
    made = [make(type="nested_json", depth=1, inner=each) for each in (1, 1.0, True)]
    assert len(set(made)) == 3
    assert [each.read() for each in made] == [b'{"a":1}', b'{"a":1.0}', b'{"a":true}']


def test_parameters_are_attributes() -> None:
    generator = make(type="nested_json", depth=2, inner={"a": 1})
    assert isinstance(generator, NestedJson)
    assert (generator.type, generator.depth, generator.structure, generator.key) == (
        "nested_json",
        2,
        "object",
        "a",
    )
    assert generator.inner.value == {"a": 1}
    assert generator.produces_json
    assert generator.size_is_exact


def test_G03_at_the_depth_limit() -> None:
    limit = LIMITS.max_nest_depth
    assert make(type="nested_json", depth=limit).estimated_size == 6 * limit + 4
    assert findings({"type": "nested_json", "depth": limit + 1}) == [
        (
            "depth: error[generator-over-limit] `depth` is 100001, over the limit of 100000 "
            "(set THOUGHTJACK_MAX_NEST_DEPTH to allow more)"
        )
    ]
