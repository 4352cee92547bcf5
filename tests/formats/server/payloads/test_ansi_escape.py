"""`ansi_escape`: the sequences, their order and their size."""

from __future__ import annotations

import re

import pytest

from .making import LIMITS, findings, make

FORMS = {
    "cursor_move": rb"\x1b\[(\d{1,3});(\d{1,3})H",
    "color": rb"\x1b\[38;5;(\d{1,3})m",
    "title": rb"\x1b\]0;payload\x07",
    "hyperlink": rb"\x1b\]8;;payload\x1b\\Click Here\x1b\]8;;\x1b\\",
    "clear": rb"\x1b\[2J\x1b\[H",
}


@pytest.mark.parametrize("name", FORMS)
def test_G37_G38_form_and_count(name: str) -> None:
    data = make(type="ansi_escape", sequences=[name], count=500).read()
    assert re.fullmatch(rb"(?:%s){500}" % FORMS[name], data)


def test_G37_draws_cover_their_range() -> None:
    rows, columns = zip(*re.findall(FORMS["cursor_move"], _only("cursor_move")), strict=True)
    assert {int(each) for each in rows} == {int(each) for each in columns} == set(range(1000))
    assert {int(each) for each in re.findall(FORMS["color"], _only("color"))} == set(range(256))


def _only(name: str) -> bytes:
    return make(type="ansi_escape", sequences=[name], count=30_000).read()


@pytest.mark.parametrize(
    ("params", "output"),
    [
        pytest.param(
            {"sequences": ["title"], "count": 1, "payload": "é%d"},
            b"\x1b]0;\xc3\xa9%d\x07",
            id="title",
        ),
        pytest.param(
            {"sequences": ["hyperlink"], "count": 1, "payload": "http://x"},
            b"\x1b]8;;http://x\x1b\\Click Here\x1b]8;;\x1b\\",
            id="hyperlink",
        ),
        pytest.param({"sequences": ["clear"], "count": 2}, b"\x1b[2J\x1b[H" * 2, id="clear"),
        pytest.param(
            {"sequences": ["title"], "count": 1, "payload": ""},
            b"\x1b]0;\x07",
            id="an empty payload",
        ),
        pytest.param(
            {"sequences": ["clear", "title", "title"], "count": 4, "payload": "p"},
            b"\x1b[2J\x1b[H" + b"\x1b]0;p\x07" * 2 + b"\x1b[2J\x1b[H",
            id="G39 the list is cycled, repetitions included",
        ),
    ],
)
def test_output(params: dict[str, object], output: bytes) -> None:
    generator = make(type="ansi_escape", **params)
    assert generator.read() == output
    assert generator.estimated_size == len(output)
    assert generator.size_is_exact


def test_G39_cycling_order() -> None:
    cycle = b"".join(b"(?:%s)" % form for form in FORMS.values())
    assert re.fullmatch(
        b"(?:%s){20}" % cycle, make(type="ansi_escape", sequences=list(FORMS)).read()
    )


def test_without_a_list_all_five_are_used() -> None:
    assert make(type="ansi_escape") == make(
        type="ansi_escape", sequences=list(FORMS), count=100, payload="payload"
    )
    assert make(type="ansi_escape").estimated_size == 20 * (12 + 13 + 12 + 31 + 7)


def test_G42_seeds_differ() -> None:
    assert len({make(type="ansi_escape", seed=seed).read() for seed in range(20)}) == 20


def test_what_is_drawn_does_not_depend_on_the_other_sequences() -> None:
    mixed = make(type="ansi_escape", sequences=["color", "clear"], count=20).read()
    alone = make(type="ansi_escape", sequences=["color"], count=10).read()
    assert mixed.replace(b"\x1b[2J\x1b[H", b"") == alone


def test_a_large_payload() -> None:
    generator = make(
        type="ansi_escape", sequences=["title", "clear"], count=7, payload="x" * 100_000
    )
    assert len(generator.read()) == generator.estimated_size == 4 * 100_005 + 3 * 7


def test_G03_at_the_batch_limit() -> None:
    limit = LIMITS.max_batch_size
    assert make(type="ansi_escape", sequences=["clear"], count=limit).estimated_size == 7 * limit
    assert findings({"type": "ansi_escape", "count": limit + 1}) == [
        (
            "count: error[generator-over-limit] `count` is 100001, over the limit of 100000 "
            "(set THOUGHTJACK_MAX_BATCH_SIZE to allow more)"
        )
    ]
