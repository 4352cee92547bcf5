"""`unicode_spam`: the characters of the category, whole and within the size."""

from __future__ import annotations

from collections import Counter

import pytest

from .making import LIMITS, findings, make

TABLES = {
    "zero_width": "200B 200C 200D FEFF 2060",
    "homoglyph": "0430 0435 043E 0440 0441 0445",
    "combining": "0300 0301 0302 0303 0304 0305 030A 030B 0327 0328",
    "rtl": "200F 202B 202E 2067",
    "emoji": "1F525 1F4A9 1F680 2764 1F600",
}
CHARACTERS = {name: {chr(int(point, 16)) for point in row.split()} for name, row in TABLES.items()}
CHARACTERS["mixed"] = set().union(*CHARACTERS.values())


@pytest.mark.parametrize("category", CHARACTERS)
def test_G30_G33_the_characters_of_the_category_and_no_others(category: str) -> None:
    text = make(type="unicode_spam", bytes=5000, category=category).read().decode()
    assert set(text) == CHARACTERS[category]


@pytest.mark.parametrize("category", CHARACTERS)
def test_G31_the_carrier_is_mixed_in(category: str) -> None:
    text = (
        make(type="unicode_spam", bytes=30_000, category=category, carrier="héllo").read().decode()
    )
    assert set(text) == CHARACTERS[category] | set("héllo")
    share = sum(each in "héllo" for each in text) / len(text)
    assert 0.27 < share < 0.33


def test_G31_a_long_carrier_is_used_to_its_end() -> None:
    carrier = "".join(map(chr, range(0x4E00, 0x4E00 + 700)))
    text = make(type="unicode_spam", bytes=200_000, carrier=carrier).read().decode()
    assert set(text) == CHARACTERS["zero_width"] | set(carrier)


def test_a_carrier_may_hold_any_character() -> None:
    text = make(type="unicode_spam", bytes=1000, carrier="\ufffe\x00").read().decode()
    assert {"\ufffe", "\x00"} < set(text)


def test_a_repeated_carrier_character_is_likelier() -> None:
    counts = Counter(make(type="unicode_spam", bytes=60_000, carrier="aaab").read().decode())
    assert 2.6 < counts["a"] / counts["b"] < 3.4


@pytest.mark.parametrize("category", CHARACTERS)
@pytest.mark.parametrize("carrier", ["", "abc"])
def test_G32_nearly_full(category: str, carrier: str) -> None:
    assert (
        900
        < len(make(type="unicode_spam", bytes=1000, category=category, carrier=carrier).read())
        <= 1000
    )


@pytest.mark.parametrize("category", CHARACTERS)
@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 1001, 49_153])
def test_G33_valid_utf8_at_every_size(category: str, size: int) -> None:
    data = make(type="unicode_spam", bytes=size, category=category, carrier="aé").read()
    assert size - 3 <= len(data) <= size
    data.decode()


def test_G34_seeds_differ() -> None:
    assert len({make(type="unicode_spam", bytes=300, seed=seed).read() for seed in range(20)}) == 20


def test_G35_no_bytes() -> None:
    assert make(type="unicode_spam", bytes=0).read() == b""


def test_G36_an_empty_carrier_is_none() -> None:
    empty, none, null = (
        make(type="unicode_spam", bytes=300, **each)
        for each in ({"carrier": ""}, {}, {"carrier": None})
    )
    assert empty == none == null
    assert len(empty.read()) == 300


def test_a_size_in_words() -> None:
    assert make(type="unicode_spam", bytes="2 KB").estimated_size == 2048


def test_G03_at_the_payload_limit() -> None:
    limit = LIMITS.max_payload_bytes
    assert make(type="unicode_spam", bytes=limit).estimated_size == limit
    assert findings({"type": "unicode_spam", "bytes": "200mb"}) == [
        (
            "bytes: error[generator-too-large] Generated payload too large: 200MB (limit: 100MB) "
            "(it would have 209715200 bytes; set THOUGHTJACK_MAX_PAYLOAD_BYTES to allow more)"
        )
    ]
