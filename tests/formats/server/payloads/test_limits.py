"""Limits from the environment."""

from __future__ import annotations

import pytest

from equipage.formats.server.payloads.base import GeneratorLimits

from .making import worded

PAYLOAD, DEPTH, BATCH = (
    f"THOUGHTJACK_MAX_{name}" for name in ("PAYLOAD_BYTES", "NEST_DEPTH", "BATCH_SIZE")
)


def test_M13_defaults() -> None:
    assert GeneratorLimits.from_environment({}) == (GeneratorLimits(), ())
    assert GeneratorLimits() == GeneratorLimits(104_857_600, 100_000, 100_000)


@pytest.mark.parametrize(
    ("env", "limits"),
    [
        pytest.param({PAYLOAD: "5"}, GeneratorLimits(max_payload_bytes=5), id="bytes as a number"),
        pytest.param({PAYLOAD: "+5"}, GeneratorLimits(max_payload_bytes=5), id="a plus sign"),
        pytest.param(
            {PAYLOAD: "1gb"}, GeneratorLimits(max_payload_bytes=2**30), id="bytes in words"
        ),
        pytest.param(
            {DEPTH: "7", BATCH: "0"},
            GeneratorLimits(max_nest_depth=7, max_batch_size=0),
            id="zero is a limit",
        ),
        pytest.param(
            {BATCH: "18446744073709551615"}, GeneratorLimits(max_batch_size=2**64 - 1), id="no cap"
        ),
    ],
)
def test_set(env: dict[str, str], limits: GeneratorLimits) -> None:
    assert GeneratorLimits.from_environment(env) == (limits, ())


@pytest.mark.parametrize(
    "value",
    ["", "-1", "1.5", "abc", " 2", "2 ", "1_0", "18446744073709551616", "9" * 5000, "٣", "1tb"],
)
@pytest.mark.parametrize("variable", [PAYLOAD, DEPTH, BATCH])
def test_unreadable(variable: str, value: str) -> None:
    limits, facts = GeneratorLimits.from_environment({variable: value})
    default = 104_857_600 if variable == PAYLOAD else 100_000
    assert limits == GeneratorLimits()
    assert worded(facts) == [
        (
            f": warning[generator-limit-unreadable] {variable} is not a number that can be a limit, "
            f"the default of {default} is used"
        )
    ]


def test_only_the_limit_in_bytes_takes_words() -> None:
    assert GeneratorLimits.from_environment({DEPTH: "1kb"})[1]


def test_every_unreadable_variable_is_reported() -> None:
    env = {PAYLOAD: "?", DEPTH: "?", BATCH: "3"}
    limits, facts = GeneratorLimits.from_environment(env)
    assert (limits.max_batch_size, len(facts)) == (3, 2)
