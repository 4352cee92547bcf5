"""Limits from the environment, with hard caps."""

from __future__ import annotations

import pytest

from equipage.core.diagnostics import Fact
from equipage.formats.server import codes
from equipage.formats.server.compose import LIMITS, ServerLimits, limits_of
from equipage.formats.server.payloads.base import format_size

pytestmark = pytest.mark.requirement("F-007a")


def test_without_variables_the_defaults_count() -> None:
    limits, facts = limits_of({})
    assert facts == []
    assert [getattr(limits, name) for name in LIMITS] == [
        100,
        1000,
        1000,
        500,
        10,
        10 * 1024 * 1024,
    ]
    assert limits == ServerLimits(file_bytes_variable="THOUGHTJACK_MAX_CONFIG_SIZE")


@pytest.mark.requirement("F-007a")
@pytest.mark.parametrize("name", LIMITS)
def test_no_variable_lifts_a_limit_over_its_cap(name: str) -> None:
    limit = LIMITS[name]
    for written in (str(limit.cap), str(limit.cap + 1), "99999999999", "18446744073709551615"):
        limits, facts = limits_of({limit.variable: written})
        assert (getattr(limits, name), facts) == (limit.cap, [])


@pytest.mark.parametrize(("written", "limit"), [("0", 0), ("+7", 7), ("007", 7), ("250", 250)])
def test_what_can_be_read(written: str, limit: int) -> None:
    limits, facts = limits_of({"THOUGHTJACK_MAX_TOOLS": written})
    assert (limits.max_tools, facts) == (limit, [])


@pytest.mark.parametrize(
    "written", ["", "-1", "1.5", "abc", " 2", "2 ", "1_000", "1kb", "18446744073709551616", "٣"]
)
def test_what_cannot_be_read_leaves_the_default_and_a_warning(written: str) -> None:
    limits, facts = limits_of({"THOUGHTJACK_MAX_TOOLS": written})
    assert limits.max_tools == 1000
    assert [(each.code, each.values["variable"]) for each in facts] == [
        ("limit-unreadable", "THOUGHTJACK_MAX_TOOLS")
    ]


def test_sizes_may_have_units() -> None:
    env = {"THOUGHTJACK_MAX_CONFIG_SIZE": "2mb", "THOUGHTJACK_MAX_PAYLOAD_BYTES": "1gb"}
    limits, facts = limits_of(env)
    assert (limits.max_file_bytes, limits.generators.max_payload_bytes, facts) == (
        2 * 2**20,
        2**30,
        [],
    )


@pytest.mark.parametrize(
    ("variable", "default"),
    [
        ("THOUGHTJACK_MAX_TOOLS", "1000"),
        ("THOUGHTJACK_MAX_CONFIG_SIZE", format_size(10 * 1024 * 1024)),
    ],
)
def test_a_warning_says_what_counts_instead(variable: str, default: str) -> None:
    _, facts = limits_of({variable: "much"})
    assert facts == [
        Fact(
            codes.LIMIT_UNREADABLE,
            values={"variable": variable, "default": default},
            part="nowhere",
        )
    ]


def test_a_warning_about_generators_has_no_place_either() -> None:
    _, facts = limits_of({"THOUGHTJACK_MAX_PAYLOAD_BYTES": "much"})
    assert [(each.values["variable"], each.part) for each in facts] == [
        ("THOUGHTJACK_MAX_PAYLOAD_BYTES", "nowhere")
    ]
