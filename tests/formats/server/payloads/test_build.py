"""What is found about a `$generate` node: everything, each at its parameter."""

from __future__ import annotations

import math
import string
import tracemalloc

import pytest

from equipage.core.diagnostics import Shown
from equipage.formats.server.codes import GENERATE_CODES as CODES
from equipage.formats.server.payloads import build, generator_types
from equipage.formats.server.payloads.base import GeneratorLimits

from .making import BY_NAME, HERE, LIMITS, findings, make

TYPES = "nested_json, batch_notifications, garbage, repeated_keys, unicode_spam, ansi_escape"


@pytest.mark.parametrize(
    ("params", "expected"),
    [
        pytest.param(
            None,
            [
                "",
                "generator-not-a-mapping",
                "`$generate` takes a mapping with a `type`, not NoneType None",
            ],
            id="null",
        ),
        pytest.param(
            "garbage",
            [
                "",
                "generator-not-a-mapping",
                "`$generate` takes a mapping with a `type`, not str 'garbage'",
            ],
            id="a name",
        ),
        pytest.param(
            {"bytes": 5},
            [
                "",
                "generator-type-missing",
                f"`$generate` does not say which `type` of payload to make (write `type:` with one of {TYPES})",
            ],
            id="no type",
        ),
        pytest.param(
            {"type": "Nested-JSON"},
            [
                "type",
                "generator-type-unknown",
                f"`Nested-JSON` is not a type of generator, known are {TYPES} (did you mean `nested_json`?)",
            ],
            id="a type almost spelt right",
        ),
        pytest.param(
            {"type": "zip_bomb"},
            [
                "type",
                "generator-type-unknown",
                f"`zip_bomb` is not a type of generator, known are {TYPES}",
            ],
            id="an unknown type",
        ),
        pytest.param(
            {"type": 5},
            ["type", "generator-parameter-type", f"`type` takes one of {TYPES}, not int 5"],
            id="a type that is no name",
        ),
        pytest.param(
            {"type": "nested_json"},
            [
                "",
                "generator-parameter-missing",
                "generator `nested_json` needs `depth` (add `depth`, a whole number, 0 or more)",
            ],
            id="G04 nested_json without depth",
        ),
        pytest.param(
            {"type": "garbage"},
            [
                "",
                "generator-parameter-missing",
                "generator `garbage` needs `bytes` (add `bytes`, a number of bytes)",
            ],
            id="G04 garbage without bytes",
        ),
        pytest.param(
            {"type": "unicode_spam"},
            [
                "",
                "generator-parameter-missing",
                "generator `unicode_spam` needs `bytes` (add `bytes`, a number of bytes)",
            ],
            id="G04 unicode_spam without bytes",
        ),
        pytest.param(
            {"type": "batch_notifications"},
            [
                "",
                "generator-parameter-missing",
                "generator `batch_notifications` needs `count` (add `count`, a whole number, 0 or more)",
            ],
            id="G04 batch_notifications without count",
        ),
        pytest.param(
            {"type": "repeated_keys"},
            [
                "",
                "generator-parameter-missing",
                "generator `repeated_keys` needs `count` (add `count`, a whole number, 0 or more)",
            ],
            id="G04 repeated_keys without count",
        ),
        pytest.param(
            {"type": "nested_json", "depth": None},
            [
                "depth",
                "generator-parameter-missing",
                "generator `nested_json` needs `depth` (add `depth`, a whole number, 0 or more)",
            ],
            id="G04 null is missing",
        ),
        pytest.param(
            {"type": "nested_json", "depth": 5.0},
            [
                "depth",
                "generator-parameter-type",
                "`depth` takes a whole number, 0 or more, not float 5.0",
            ],
            id="a float is no whole number",
        ),
        pytest.param(
            {"type": "nested_json", "depth": True},
            [
                "depth",
                "generator-parameter-type",
                "`depth` takes a whole number, 0 or more, not bool True",
            ],
            id="true is no number",
        ),
        pytest.param(
            {"type": "ansi_escape", "count": "7"},
            [
                "count",
                "generator-parameter-type",
                "`count` takes a whole number, 0 or more, not str '7'",
            ],
            id="digits in quotes are no number",
        ),
        pytest.param(
            {"type": "nested_json", "depth": -5},
            [
                "depth",
                "generator-parameter-range",
                "`depth` takes a whole number, 0 or more, not -5",
            ],
            id="a negative depth",
        ),
        pytest.param(
            {"type": "repeated_keys", "count": 1, "key_length": 0},
            [
                "key_length",
                "generator-parameter-range",
                "`key_length` takes a whole number, 1 or more, not 0",
            ],
            id="a key without letters",
        ),
        pytest.param(
            {"type": "garbage", "bytes": 1, "seed": 2**64},
            [
                "seed",
                "generator-parameter-range",
                f"`seed` takes a whole number from 0 to {2**64 - 1}, not {2**64}",
            ],
            id="a seed beyond 64 bits",
        ),
        pytest.param(
            {"type": "garbage", "bytes": -1},
            [
                "bytes",
                "generator-parameter-range",
                "`bytes` takes a number of bytes, 0 or more, not -1",
            ],
            id="negative bytes",
        ),
        pytest.param(
            {"type": "garbage", "bytes": 1.5},
            ["bytes", "generator-parameter-type", "`bytes` takes a number of bytes, not float 1.5"],
            id="half a byte",
        ),
        pytest.param(
            {"type": "garbage", "bytes": "1tb"},
            [
                "bytes",
                "generator-size-unreadable",
                "`bytes` takes a number of bytes such as 512 or `1mb`, not `1tb`",
            ],
            id="an unknown unit",
        ),
        pytest.param(
            {"type": "nested_json", "depth": 1, "key": 7},
            ["key", "generator-parameter-type", "`key` takes a string, not int 7"],
            id="a key that is no string",
        ),
        pytest.param(
            {"type": "nested_json", "depth": 1, "key": "\ud800"},
            [
                "key",
                "generator-value-not-json",
                "`key` cannot be sent as JSON: it contains half of a surrogate pair",
            ],
            id="a key that is no text",
        ),
        pytest.param(
            {"type": "garbage", "bytes": 1, "charset": "ASCII"},
            [
                "charset",
                "generator-choice-unknown",
                "`ASCII` is not possible for `charset`, use one of ascii, utf8, binary, numeric, alphanumeric (did you mean `ascii`?)",
            ],
            id="a charset in capitals",
        ),
        pytest.param(
            {"type": "garbage", "bytes": 1, "charset": 8},
            [
                "charset",
                "generator-parameter-type",
                "`charset` takes one of ascii, utf8, binary, numeric, alphanumeric, not int 8",
            ],
            id="a charset that is no word",
        ),
        pytest.param(
            {"type": "ansi_escape", "sequences": ["clear", "blink"]},
            [
                "sequences[1]",
                "generator-choice-unknown",
                "`blink` is not possible for `sequences`, use one of cursor_move, color, title, hyperlink, clear",
            ],
            id="G41 an unknown sequence is an error, not ignored",
        ),
        pytest.param(
            {"type": "ansi_escape", "sequences": "title"},
            [
                "sequences",
                "generator-parameter-type",
                "`sequences` takes a list of cursor_move, color, title, hyperlink, clear, not str 'title'",
            ],
            id="a sequence without a list",
        ),
        pytest.param(
            {"type": "nested_json", "depth": 1, "inner": {"a": {1: 2}}},
            [
                "inner",
                "generator-value-not-json",
                "`inner` cannot be sent as JSON: it has a key that is not a string",
            ],
            id="a key JSON cannot write",
        ),
        pytest.param(
            {"type": "nested_json", "depth": 1, "inner": {"a": b"x"}},
            [
                "inner",
                "generator-value-not-json",
                "`inner` cannot be sent as JSON: it contains something JSON has no form for",
            ],
            id="a value JSON cannot write",
        ),
        pytest.param(
            {"type": "nested_json", "depth": 1, "inner": ["\udfff"]},
            [
                "inner",
                "generator-value-not-json",
                "`inner` cannot be sent as JSON: it contains half of a surrogate pair",
            ],
            id="text that is none",
        ),
        pytest.param(
            {"type": "nested_json", "depth": 1, "inner": 10**5000},
            [
                "inner",
                "generator-value-not-json",
                "`inner` cannot be sent as JSON: it contains a number with too many digits",
            ],
            id="a number nobody can read",
        ),
        pytest.param(
            {"type": "garbage", "bytes": 1_000_000_000},
            [
                "bytes",
                "generator-too-large",
                (
                    "Generated payload too large: 1GB (limit: 100MB) "
                    "(it would have 1000000000 bytes; set THOUGHTJACK_MAX_PAYLOAD_BYTES to allow more)"
                ),
            ],
            id="EC-LOAD-010 a decimal gigabyte",
        ),
        pytest.param(
            {"type": "garbage", "bytes": "1gb"},
            [
                "bytes",
                "generator-too-large",
                (
                    "Generated payload too large: 1GB (limit: 100MB) "
                    "(it would have 1073741824 bytes; set THOUGHTJACK_MAX_PAYLOAD_BYTES to allow more)"
                ),
            ],
            id="EC-LOAD-022 a binary gigabyte in words",
        ),
        pytest.param(
            {"type": "nested_json", "depth": 100_000, "key": "k" * 2000},
            [
                "depth",
                "generator-too-large",
                (
                    "Generated payload too large: 191.2MB (limit: 100MB) "
                    "(it would have 200500004 bytes; set THOUGHTJACK_MAX_PAYLOAD_BYTES to allow more)"
                ),
            ],
            id="a payload that only its other parameters make large",
        ),
        pytest.param(
            {"type": "ansi_escape", "payload": "x" * 3_000_000},
            [
                "",
                "generator-too-large",
                (
                    "Generated payload too large: 114.4MB (limit: 100MB) "
                    "(it would have 120001220 bytes; set THOUGHTJACK_MAX_PAYLOAD_BYTES to allow more)"
                ),
            ],
            id="too large though the count is not even written",
        ),
    ],
)
def test_errors(params: object, expected: list[str]) -> None:
    path, code, words = expected
    assert findings(params) == [f"{path}: error[{code}] {words}"]
    assert build(params, LIMITS, HERE)[0] is None


@pytest.mark.parametrize(
    ("params", "warning"),
    [
        pytest.param(
            {"type": "garbage", "bytes": 1, "sead": 3},
            "sead: warning[generator-parameter-unknown] `sead` is not a parameter of generator `garbage` and is ignored (did you mean `seed`?)",
            id="a misspelt parameter",
        ),
        pytest.param(
            {"type": "garbage", "bytes": 1, "colour": "red"},
            "colour: warning[generator-parameter-unknown] `colour` is not a parameter of generator `garbage` and is ignored",
            id="an unknown parameter",
        ),
        pytest.param(
            {"type": "garbage", "bytes": 1, "byte": 3},
            "byte: warning[generator-parameter-unknown] `byte` is not a parameter of generator `garbage` and is ignored",
            id="a name already used is not suggested",
        ),
        pytest.param(
            {"type": "unicode_spam", "bytes": 1, "categories": ["rtl"]},
            "categories: warning[generator-parameter-unknown] `categories` is not a parameter of generator `unicode_spam` and is ignored "
            "(did you mean `category`?)",
            id="a name from another description of the format",
        ),
        pytest.param(
            {"type": "batch_notifications", "count": 0},
            "count: warning[generator-makes-nothing] with an empty or zero `count` the payload has no items",
            id="G12 an empty batch",
        ),
        pytest.param(
            {"type": "repeated_keys", "count": 0},
            "count: warning[generator-makes-nothing] with an empty or zero `count` the payload has no items",
            id="G28 an empty object",
        ),
        pytest.param(
            {"type": "ansi_escape", "count": 0},
            "count: warning[generator-makes-nothing] with an empty or zero `count` the payload has no items",
            id="G40 no sequences by count",
        ),
        pytest.param(
            {"type": "ansi_escape", "sequences": []},
            "sequences: warning[generator-makes-nothing] with an empty or zero `sequences` the payload has no items",
            id="G40 no sequences by name",
        ),
        pytest.param(
            {"type": "nested_json", "depth": 1, "inner": {"a": [0, math.nan]}},
            "inner.a[1]: warning[generator-value-becomes-null] `inner` contains a number JSON cannot write, null is sent instead",
            id="NaN becomes null",
        ),
    ],
)
def test_warnings(params: dict[str, object], warning: str) -> None:
    assert findings(params) == [warning]
    assert build(params, LIMITS, HERE)[0] is not None


@pytest.mark.parametrize(
    ("params", "output"),
    [
        pytest.param({"type": "batch_notifications", "count": 0}, b"[]", id="G12 an empty batch"),
        pytest.param({"type": "repeated_keys", "count": 0}, b"{}", id="G28 an empty object"),
        pytest.param({"type": "ansi_escape", "count": 0}, b"", id="G40 no sequences by count"),
        pytest.param({"type": "ansi_escape", "sequences": []}, b"", id="G40 no sequences by name"),
        pytest.param(
            {"type": "nested_json", "depth": 1, "inner": -math.inf},
            b'{"a":null}',
            id="infinity becomes null",
        ),
    ],
)
def test_output_despite_the_warning(params: dict[str, object], output: bytes) -> None:
    generator, _ = build(params, LIMITS, HERE)
    assert generator is not None
    assert (generator.read(), generator.estimated_size) == (output, len(output))


def test_every_problem_of_a_node_is_reported() -> None:
    params = {"type": "garbage", "size": 3, "charset": "utf-8", "seed": -1, "shade": "red"}
    assert [(each.code, each.path[len(HERE) :]) for each in build(params, LIMITS, HERE)[1]] == [
        ("generator-parameter-missing", ()),
        ("generator-choice-unknown", ("charset",)),
        ("generator-parameter-range", ("seed",)),
        ("generator-parameter-unknown", ("size",)),
        ("generator-parameter-unknown", ("shade",)),
    ]
    assert findings(params)[3].endswith("(did you mean `bytes`?)")


def test_every_wrong_item_of_a_list_is_reported() -> None:
    sequences = ["titel", "clear", 5, "colour"]
    found = build({"type": "ansi_escape", "sequences": sequences}, LIMITS, HERE)[1]
    assert [(each.path[-1], each.values.get("nearest")) for each in found] == [
        (0, "title"),
        (2, None),
        (3, "color"),
    ]


def test_a_size_over_the_limit_does_not_hide_other_problems() -> None:
    found = findings({"type": "garbage", "bytes": "2gb", "seed": "x"})
    assert [each.partition("]")[0] for each in found] == [
        "bytes: error[generator-too-large",
        "seed: error[generator-parameter-type",
    ]


def test_the_limit_on_depth_comes_before_the_limit_on_size() -> None:
    found = build({"type": "nested_json", "depth": 10**9}, LIMITS, HERE)[1]
    assert [each.code for each in found] == ["generator-over-limit"]


def test_an_unknown_parameter_can_be_renamed_but_not_blindly() -> None:
    (found,) = build({"type": "garbage", "bytes": 1, "sead": 3}, LIMITS, HERE)[1]
    assert found.part == "key"
    assert found.remedy is not None
    assert not found.remedy.safe
    assert [(each.path, each.text, each.part) for each in found.remedy.changes] == [
        ((*HERE, "sead"), "seed", "key")
    ]


def test_values_from_the_input_are_marked() -> None:
    """Wording must be able to hide them where they come from the environment."""
    for params in (
        {"type": "s3cret"},
        {"type": "garbage", "bytes": "s3cret", "s3cret": 1, "charset": "s3cret"},
    ):
        for found in build(params, LIMITS, HERE)[1]:
            plain = [value for value in found.values.values() if not isinstance(value, Shown)]
            assert "s3cret" not in repr(plain)


@pytest.mark.parametrize("code", CODES, ids=lambda code: code.name)
def test_codes_read_well(code) -> None:  # type: ignore[no-untyped-def]
    assert code.name.startswith(("generate-", "generator-"))
    assert not code.words.message.endswith(".")
    assert "\n" not in code.words.message
    assert code.words.about.endswith(".")
    for template in (code.words.message, code.words.help or ""):
        list(string.Formatter().parse(template))
    assert len(BY_NAME) == len(CODES)


def test_EC_LOAD_022_a_gigabyte_costs_nothing_to_load() -> None:
    raised = GeneratorLimits(max_payload_bytes=2**31, max_batch_size=10**9, max_nest_depth=10**9)
    nodes = [
        {"type": "garbage", "bytes": "1gb"},
        {"type": "unicode_spam", "bytes": "1gb", "carrier": "abc"},
        {"type": "nested_json", "depth": 10**8},
        {"type": "batch_notifications", "count": 2 * 10**7},
        {"type": "repeated_keys", "count": 1, "key_length": 2**30},
        {"type": "ansi_escape", "count": 10**8, "sequences": ["clear"]},
    ]
    assert {node["type"] for node in nodes} == set(generator_types())
    tracemalloc.start()
    try:
        for node in nodes:
            generator = make(raised, **node)
            assert generator.estimated_size > 2**29
            generator.stream()
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 200_000
