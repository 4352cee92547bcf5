"""`garbage`: the right bytes, the right number, the same every time."""

from __future__ import annotations

from collections import Counter

import pytest

from equipage.formats.server.payloads.base import Buffered, Streamed

from .making import LIMITS, findings, make

CHARSETS = {
    "ascii": set(range(0x20, 0x7F)),
    "binary": set(range(256)),
    "numeric": set(b"0123456789"),
    "alphanumeric": set(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"),
}


@pytest.mark.parametrize("charset", CHARSETS)
def test_G15_G16_the_seed_decides(charset: str) -> None:
    first, again, other = (
        make(type="garbage", bytes=1000, charset=charset, seed=seed) for seed in (7, 7, 8)
    )
    assert first.read() == first.read() == again.read() != other.read()


@pytest.mark.parametrize("charset", CHARSETS)
def test_G17_every_byte_of_the_charset_and_no_other(charset: str) -> None:
    assert set(make(type="garbage", bytes=50_000, charset=charset).read()) == CHARSETS[charset]


@pytest.mark.parametrize("charset", CHARSETS)
def test_bytes_are_equally_likely(charset: str) -> None:
    size = 400_000
    counts = Counter(make(type="garbage", bytes=size, charset=charset, seed=3).read())
    expected = size / len(CHARSETS[charset])
    assert all(abs(count - expected) < 6 * expected**0.5 for count in counts.values())


@pytest.mark.parametrize("charset", CHARSETS)
@pytest.mark.parametrize("size", [0, 1, 4095, 4096, 4097, 65_536, 200_001])
def test_G18_exact_length(charset: str, size: int) -> None:
    generator = make(type="garbage", bytes=size, charset=charset)
    assert len(generator.read()) == generator.estimated_size == size
    assert generator.size_is_exact


@pytest.mark.parametrize("charset", [*CHARSETS, "utf8"])
def test_G19_no_bytes(charset: str) -> None:
    assert make(type="garbage", bytes=0, charset=charset).read() == b""
    assert list(make(type="garbage", bytes=0, charset=charset).stream()) == []


def test_G20_above_one_mebibyte_it_is_streamed() -> None:
    assert isinstance(make(type="garbage", bytes="1mb").generate(), Buffered)
    streamed = make(type="garbage", bytes=1_048_577).generate()
    assert isinstance(streamed, Streamed)
    assert streamed.estimated_total == 1_048_577
    assert sum(map(len, streamed.chunks)) == 1_048_577


def test_G21_chunks_sum_to_the_size() -> None:
    lengths = [len(chunk) for chunk in make(type="garbage", bytes=2_000_000).stream()]
    assert lengths == [65_536] * 30 + [2_000_000 - 30 * 65_536]


@pytest.mark.parametrize("charset", [*CHARSETS, "utf8"])
def test_G22_the_stream_is_the_buffer(charset: str) -> None:
    generator = make(type="garbage", bytes=1_500_000, charset=charset)
    assert b"".join(generator.stream()) == generator.read()


@pytest.mark.parametrize("charset", [*CHARSETS, "utf8"])
def test_G23_a_smaller_output_is_a_prefix(charset: str) -> None:
    large = make(type="garbage", bytes=100_000, charset=charset, seed=5).read()
    for size in (1, 99, 4096, 70_000):
        assert large.startswith(make(type="garbage", bytes=size, charset=charset, seed=5).read())


def test_G24_binary_is_not_text() -> None:
    generator = make(type="garbage", bytes=10_000, charset="binary")
    assert not generator.produces_text
    with pytest.raises(UnicodeDecodeError):
        generator.read().decode()


def test_utf8_is_text_of_any_code_point() -> None:
    generator = make(type="garbage", bytes=1_000_000, charset="utf8")
    text = generator.read().decode()
    assert generator.produces_text
    assert min(map(ord, text)) >= 0x20
    assert {ord(each) >> 16 for each in text} == set(range(17))
    assert any(0xE000 <= ord(each) <= 0xFFFF for each in text)


@pytest.mark.parametrize("size", range(1, 40))
def test_utf8_ends_before_the_first_character_that_does_not_fit(size: int) -> None:
    ample = make(type="garbage", bytes=100, charset="utf8", seed=size).read().decode()
    fitting = ""
    for character in ample:
        if len((fitting + character).encode()) > size:
            break
        fitting += character
    assert make(type="garbage", bytes=size, charset="utf8", seed=size).read().decode() == fitting


def test_the_default_seed_is_zero() -> None:
    assert make(type="garbage", bytes=50) == make(type="garbage", bytes=50, seed=0)


def test_G03_at_the_payload_limit() -> None:
    limit = LIMITS.max_payload_bytes
    assert make(type="garbage", bytes=limit).estimated_size == limit
    assert findings({"type": "garbage", "bytes": limit + 1}) == [
        (
            "bytes: error[generator-too-large] Generated payload too large: 100.0MB (limit: 100MB) "
            "(it would have 104857601 bytes; set THOUGHTJACK_MAX_PAYLOAD_BYTES to allow more)"
        )
    ]
