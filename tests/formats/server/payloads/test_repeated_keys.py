"""`repeated_keys`, byte for byte."""

from __future__ import annotations

import json

import pytest

from equipage.formats.server.payloads.base import GeneratorLimits

from .making import LIMITS, findings, make


@pytest.mark.parametrize(
    ("params", "output"),
    [
        pytest.param({"count": 1}, '{"kkkkkkkk":"x"}', id="the defaults"),
        pytest.param(
            {"count": 3, "key_length": 2}, '{"kk":"x","kk":"x","kk":"x"}', id="G25 n identical keys"
        ),
        pytest.param({"count": 1, "key_length": 1}, '{"k":"x"}', id="G26 the shortest key"),
        pytest.param(
            {"count": 2, "key_length": 1, "value": 7}, '{"k":7,"k":7}', id="G27 own value"
        ),
        pytest.param(
            {"count": 1, "key_length": 1, "value": {"b": [1], "a": "é"}},
            '{"k":{"b":[1],"a":"é"}}',
            id="G27 an object as value",
        ),
        pytest.param(
            {"count": 1, "key_length": 1, "value": None}, '{"k":null}', id="null is a value"
        ),
    ],
)
def test_output(params: dict[str, object], output: str) -> None:
    generator = make(type="repeated_keys", **params)
    assert generator.read().decode() == output
    assert generator.estimated_size == len(output.encode())


def test_G25_G29_a_parser_sees_one_key() -> None:
    text = make(type="repeated_keys", count=1000, key_length=5).read()
    pairs = json.loads(text, object_pairs_hook=list)
    assert (len(pairs), set(map(tuple, pairs))) == (1000, {("kkkkk", "x")})
    assert json.loads(text) == {"kkkkk": "x"}


def test_G26_a_key_larger_than_any_block() -> None:
    generator = make(type="repeated_keys", count=3, key_length=70_000, value=1)
    member = b'"' + b"k" * 70_000 + b'":1'
    assert generator.read() == b"{" + b",".join([member] * 3) + b"}"
    assert generator.estimated_size == 2 + 3 * len(member) + 2


def test_only_the_exact_size_counts() -> None:
    """A rough guess of 20 bytes beside each key would refuse this one, though it fits."""
    assert (
        make(type="repeated_keys", count=100_000, key_length=1029).estimated_size
        <= LIMITS.max_payload_bytes
    )


def test_G03_at_the_batch_limit() -> None:
    few = GeneratorLimits(max_batch_size=5)
    assert make(few, type="repeated_keys", count=5).read().count(b"x") == 5
    assert findings({"type": "repeated_keys", "count": 6}, few) == [
        (
            "count: error[generator-over-limit] `count` is 6, over the limit of 5 "
            "(set THOUGHTJACK_MAX_BATCH_SIZE to allow more)"
        )
    ]
