"""Byte sizes, written and read."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from equipage.formats.server.payloads.base import format_size, parse_size


@pytest.mark.parametrize(
    ("written", "size"),
    [
        ("0", 0),
        ("512", 512),
        ("512b", 512),
        ("1kb", 1024),
        ("1mb", 1_048_576),
        ("1gb", 1_073_741_824),
        ("2 MB", 2_097_152),
        ("3\tKb", 3072),
        ("007kb", 7168),
    ],
)
def test_written(written: str, size: int) -> None:
    assert parse_size(written) == size


@pytest.mark.parametrize(
    "written",
    [
        "",
        "mb",
        "-1",
        "+1",
        "1.5mb",
        "1 m b",
        " 1mb",
        "1mb ",
        "1 ",
        "1m",
        "1tb",
        "1mib",
        "1e3",
        "0x10",
        "١kb",
        "1_000",
        "1\n",
        "9" * 31,
    ],
)
def test_not_a_size(written: str) -> None:
    assert parse_size(written) is None


@pytest.mark.parametrize(
    ("size", "read"),
    [
        (0, "0B"),
        (1, "1B"),
        (999, "999B"),
        (1000, "1KB"),
        (1024, "1KB"),
        (1023, "1023B"),
        (1536, "1.5KB"),
        (104_857_600, "100MB"),
        (104_857_601, "100.0MB"),
        (1_000_000_000, "1GB"),
        (10**10, "10GB"),
        (200 * 2**20, "200MB"),
        (1_500_000, "1500KB"),
        (2**30, "1GB"),
        (2**60, "1EB"),
        (2**64 - 1, "16.0EB"),
        (2**70 - 1, "1024.0EB"),
        (2**70, "over 1024EB"),
        pytest.param(10**6000, "over 1024EB", id="too long to print"),
    ],
)
def test_read(size: int, read: str) -> None:
    assert format_size(size) == read


@given(st.integers(0, 2**69))
def test_what_is_read_is_about_the_size(size: int) -> None:
    read = format_size(size)
    digits = read.rstrip("BKMGTPE")
    unit = read[len(digits) :]
    power = "BKMGTPE".index(unit[0])
    values = [float(digits) * base**power for base in (1024, 1000)]
    assert min(abs(value - size) for value in values) <= max(size, 1) * 0.05
