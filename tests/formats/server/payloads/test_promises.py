"""What holds for every generator, whatever its parameters."""

from __future__ import annotations

import hashlib
import json
import pickle
from concurrent.futures import ThreadPoolExecutor
from itertools import islice

import jsonschema_rs
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from equipage.formats.server.payloads import build, generator_types, schema
from equipage.formats.server.payloads.base import (
    Buffered,
    Generator,
    GeneratorLimits,
    PayloadTooLarge,
    Streamed,
)
from lab import environment, python

from .making import HERE, LIMITS, make

SEEDS = st.integers(0, 2**64 - 1)
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
SIZES = st.one_of(st.integers(0, 3000), st.integers(0, 3).map(lambda n: f"{n} kb"))
FREE = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)
SEQUENCES = st.sampled_from(["cursor_move", "color", "title", "hyperlink", "clear"])


def node(kind: str, required: dict[str, st.SearchStrategy], optional: dict[str, st.SearchStrategy]):  # type: ignore[no-untyped-def, type-arg]
    return st.fixed_dictionaries({"type": st.just(kind), **required}, optional=optional)


NODES = {
    "nested_json": node(
        "nested_json",
        {"depth": st.integers(0, 60)},
        {"structure": st.sampled_from(["object", "array", "mixed"]), "key": TEXT, "inner": FREE},
    ),
    "batch_notifications": node(
        "batch_notifications", {"count": st.integers(0, 60)}, {"method": TEXT, "params": FREE}
    ),
    "garbage": node(
        "garbage",
        {"bytes": SIZES},
        {
            "charset": st.sampled_from(["ascii", "utf8", "binary", "numeric", "alphanumeric"]),
            "seed": SEEDS,
        },
    ),
    "repeated_keys": node(
        "repeated_keys",
        {"count": st.integers(0, 60)},
        {"key_length": st.integers(1, 40), "value": FREE},
    ),
    "unicode_spam": node(
        "unicode_spam",
        {"bytes": SIZES},
        {
            "category": st.sampled_from(
                ["zero_width", "homoglyph", "combining", "rtl", "emoji", "mixed"]
            ),
            "carrier": TEXT,
            "seed": SEEDS,
        },
    ),
    "ansi_escape": node(
        "ansi_escape",
        {},
        {
            "sequences": st.lists(SEQUENCES, max_size=7),
            "count": st.integers(0, 60),
            "payload": TEXT,
            "seed": SEEDS,
        },
    ),
}

SCHEMA = jsonschema_rs.Draft202012Validator(schema(), offline=True)


def test_every_type_is_tried() -> None:
    assert tuple(NODES) == tuple(generator_types())


@pytest.mark.parametrize("kind", NODES)
def test_G05_promises(kind: str) -> None:
    """Many random parameter sets: the size, the form and the sameness of what is made."""

    @settings(
        max_examples=300, deadline=None, database=None, suppress_health_check=list(HealthCheck)
    )
    @given(params=NODES[kind], chunk=st.integers(1, 5000))
    def holds(params: dict[str, object], chunk: int) -> None:
        generator, _ = build(params, LIMITS, HERE)
        assert generator is not None
        data = generator.read()
        size_is_as_estimated(generator, data)
        form_is_as_promised(generator, data)
        chunks_are_regular(list(generator.stream(chunk)), data, chunk)
        equal_parameters_are_equal(generator, params, data)
        SCHEMA.validate(params)

    holds()


def size_is_as_estimated(generator: Generator, data: bytes) -> None:
    assert len(data) <= generator.estimated_size
    assert not generator.size_is_exact or len(data) == generator.estimated_size


def form_is_as_promised(generator: Generator, data: bytes) -> None:
    if generator.produces_text:
        data.decode()
    if generator.produces_json:
        json.loads(data)


def chunks_are_regular(chunks: list[bytes], data: bytes, chunk: int) -> None:
    assert b"".join(chunks) == data
    assert all(len(each) == chunk for each in chunks[:-1])
    assert all(0 < len(each) <= chunk for each in chunks[-1:])


def equal_parameters_are_equal(
    generator: Generator, params: dict[str, object], data: bytes
) -> None:
    again, _ = build(dict(reversed(params.items())), LIMITS, HERE)
    copied = pickle.loads(pickle.dumps(generator))
    rebuilt, _ = build(generator.to_dict(), LIMITS, HERE)
    assert generator == again == copied == rebuilt
    assert {generator, again, copied, rebuilt} == {generator}
    assert again is not None
    assert again.read() == copied.read() == data


#: Digests of what is sent. They may never change: people compare recorded payloads across versions.
GOLDEN = [
    ({"type": "nested_json", "depth": 1000, "structure": "mixed", "key": "é"}, "6b674f63236e50d6"),
    (
        {"type": "batch_notifications", "count": 3000, "params": {"level": "info"}},
        "05bd3162f860cf6e",
    ),
    ({"type": "repeated_keys", "count": 1000, "value": [1.5, None]}, "9d1197d2969bff74"),
    ({"type": "garbage", "bytes": 100000, "charset": "ascii", "seed": 42}, "194a1a31e2632abe"),
    ({"type": "garbage", "bytes": 100000, "charset": "utf8", "seed": 42}, "b7aedf70051aa3b7"),
    ({"type": "garbage", "bytes": 100000, "charset": "binary", "seed": 42}, "5585d7513a8cdabb"),
    ({"type": "garbage", "bytes": 100000, "charset": "numeric", "seed": 42}, "62f92b298c5d1a05"),
    (
        {"type": "garbage", "bytes": 100000, "charset": "alphanumeric", "seed": 42},
        "61429fd80fa48d23",
    ),
    ({"type": "garbage", "bytes": 16, "seed": 7}, "ac84f5384deca700"),
    ({"type": "unicode_spam", "bytes": 50000}, "944ef74044a16171"),
    (
        {
            "type": "unicode_spam",
            "bytes": 50000,
            "category": "mixed",
            "carrier": "hello",
            "seed": 18446744073709551615,
        },
        "9985e36441b8a28e",
    ),
    (
        {
            "type": "unicode_spam",
            "bytes": 50000,
            "category": "rtl",
            "carrier": "\ufffe carried",
            "seed": 1,
        },
        "eca08835249906f3",
    ),
    ({"type": "ansi_escape", "count": 5000, "seed": 3}, "2c309f3c7c0ad5ea"),
]


@pytest.mark.parametrize(("params", "digest"), GOLDEN, ids=lambda each: str(each)[:70])
def test_golden(params: dict[str, object], digest: str) -> None:
    assert hashlib.sha256(make(**params).read()).hexdigest()[:16] == digest


def test_draws_are_made_as_documented() -> None:
    """Another implementation, from the words of `draws` alone, one byte at a time."""
    seed, wanted = 42, b""
    for number in range(3):
        key = (
            b"equipage\0garbage/numeric\0"
            + seed.to_bytes(8, "little")
            + number.to_bytes(8, "little")
        )
        for byte in hashlib.shake_128(key).digest(4096):
            wanted += b"%d" % (byte % 10) if byte < 250 else b""
    assert make(type="garbage", bytes=len(wanted), charset="numeric", seed=seed).read() == wanted


LARGE = [
    {"type": "nested_json", "depth": 100_000, "structure": "mixed"},
    {"type": "batch_notifications", "count": 20_000},
    {"type": "garbage", "bytes": "2mb"},
    {"type": "repeated_keys", "count": 50_000, "key_length": 20},
    {"type": "unicode_spam", "bytes": "2mb", "carrier": "abc"},
    {"type": "ansi_escape", "count": 50_000},
]


@pytest.mark.parametrize("params", LARGE, ids=lambda each: each["type"])
def test_G43_two_threads_get_identical_bytes(params: dict[str, object]) -> None:
    generator = make(**params)
    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(lambda _: b"".join(generator.stream()), range(2))
    assert first == second == generator.read()


def test_G43_another_process_gets_identical_bytes() -> None:
    """With another hash seed, so that nothing can depend on the order of a set."""
    program = (
        "import sys, pickle, hashlib\n"
        "for each in pickle.load(sys.stdin.buffer): print(hashlib.sha256(each.read()).hexdigest())"
    )
    generators = [make(**params) for params in LARGE]
    env = environment(PYTHONHASHSEED="12345")
    done = python("-c", program, env=env, input=pickle.dumps(generators))
    assert done.out.split() == [hashlib.sha256(each.read()).hexdigest() for each in generators]


@pytest.mark.parametrize("params", LARGE, ids=lambda each: each["type"])
def test_pieces_stay_small(params: dict[str, object]) -> None:
    assert max(map(len, make(**params).pieces())) <= 80_000


def test_the_start_of_a_gigabyte_is_there_at_once() -> None:
    raised = GeneratorLimits(max_payload_bytes=2**31, max_batch_size=10**9, max_nest_depth=10**9)
    for params in ({"type": "garbage", "bytes": "1gb"}, {"type": "nested_json", "depth": 10**8}):
        chunks = list(islice(make(raised, **params).stream(100), 3))
        assert [len(each) for each in chunks] == [100, 100, 100]


@pytest.mark.parametrize("params", LARGE, ids=lambda each: each["type"])
def test_above_one_mebibyte_every_type_streams(params: dict[str, object]) -> None:
    generator = make(**params)
    payload = generator.generate()
    if generator.estimated_size > 1_048_576:
        assert isinstance(payload, Streamed)
        assert b"".join(payload.chunks) == generator.read()
    else:
        assert payload == Buffered(generator.read())


def test_read_keeps_its_limit() -> None:
    generator = make(type="garbage", bytes=1000)
    assert len(generator.read(1000)) == 1000
    with pytest.raises(
        PayloadTooLarge, match=r"Generated payload too large: 1KB \(limit: 999B\)"
    ) as raised:
        generator.read(999)
    assert isinstance(raised.value, ValueError)
    assert pickle.loads(pickle.dumps(raised.value)).args == raised.value.args


def test_read_judges_by_what_is_made_where_the_size_is_a_bound() -> None:
    generator = make(type="ansi_escape", sequences=["color"], count=10)
    made = len(generator.read())
    assert made < generator.estimated_size
    assert len(generator.read(made)) == made
    with pytest.raises(PayloadTooLarge):
        generator.read(made - 1)


def test_read_without_a_limit_stops_at_100_mb() -> None:
    large = make(GeneratorLimits(max_payload_bytes=2**31), type="garbage", bytes="1gb")
    with pytest.raises(PayloadTooLarge, match=r"1GB \(limit: 100MB\)"):
        large.read()


@pytest.mark.parametrize("chunk", [0, -1])
def test_a_chunk_has_at_least_one_byte(chunk: int) -> None:
    with pytest.raises(ValueError, match="at least one byte"):
        make(type="garbage", bytes=1).stream(chunk)


def test_a_generator_is_frozen() -> None:
    generator = make(type="garbage", bytes=1)
    with pytest.raises(AttributeError):
        generator.seed = 5  # type: ignore[attr-defined]


def test_M12_to_dict_is_what_one_would_write() -> None:
    params = {"type": "ansi_escape", "sequences": ["clear"], "count": 2, "seed": 1}
    assert make(**params).to_dict() == params
    assert make(type="garbage", bytes="1mb", charset="ascii").to_dict() == {
        "type": "garbage",
        "bytes": 1_048_576,
    }
    assert make(type="batch_notifications", count=1, params=None).to_dict()["params"] is None
    assert "params" not in make(type="batch_notifications", count=1).to_dict()


@pytest.mark.parametrize("cls", generator_types().values(), ids=generator_types().keys())
def test_every_field_has_a_reader_and_every_reader_a_field(cls: type[Generator]) -> None:
    assert tuple(cls.accepts) == cls.__struct_fields__  # type: ignore[attr-defined]
    assert cls.sized_by in cls.accepts
