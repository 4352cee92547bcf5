"""`batch_notifications`, byte for byte."""

from __future__ import annotations

import json

import pytest

from .making import LIMITS, findings, make

ITEM = '{"jsonrpc":"2.0","method":"notifications/message"}'


@pytest.mark.parametrize(
    ("params", "output"),
    [
        pytest.param({"count": 1}, f"[{ITEM}]", id="G13 one notification"),
        pytest.param({"count": 3}, f"[{ITEM},{ITEM},{ITEM}]", id="G09 as many as counted"),
        pytest.param(
            {"count": 1, "method": "a/b", "params": {"z": 1, "a": None}},
            '[{"jsonrpc":"2.0","method":"a/b","params":{"z":1,"a":null}}]',
            id="G10 own method and params",
        ),
        pytest.param(
            {"count": 1, "method": "m", "params": None},
            '[{"jsonrpc":"2.0","method":"m","params":null}]',
            id="null params are sent as null",
        ),
        pytest.param(
            {"count": 1, "method": "é\t"},
            '[{"jsonrpc":"2.0","method":"é\\t"}]',
            id="the method is escaped",
        ),
    ],
)
def test_output(params: dict[str, object], output: str) -> None:
    generator = make(type="batch_notifications", **params)
    assert generator.read().decode() == output
    assert generator.estimated_size == len(output.encode())


def test_G08_G09_G11_a_valid_array_without_ids() -> None:
    batch = json.loads(make(type="batch_notifications", count=2500).read())
    assert len(batch) == 2500
    assert {tuple(item) for item in batch} == {("jsonrpc", "method")}


def test_G14_nested_params_are_intact() -> None:
    params = {"a": [{"b": {"c": [1, 2.5, None, "ü"]}}]}
    batch = json.loads(make(type="batch_notifications", count=2, params=params).read())
    assert [item["params"] for item in batch] == [params, params]


def test_G03_at_the_batch_limit() -> None:
    limit = LIMITS.max_batch_size
    assert (
        make(type="batch_notifications", count=limit).estimated_size
        == 2 + limit * len(ITEM) + limit - 1
    )
    assert findings({"type": "batch_notifications", "count": limit + 1}) == [
        (
            "count: error[generator-over-limit] `count` is 100001, over the limit of 100000 "
            "(set THOUGHTJACK_MAX_BATCH_SIZE to allow more)"
        )
    ]
