"""The six payloads of the format, in alphabetical order. Each class is one type of `$generate`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import cycle, islice, repeat
from typing import ClassVar

import msgspec

from equipage.formats.server.payloads.base import (
    BLOCK,
    SEED,
    AnyJson,
    ByteSize,
    CompactJson,
    Generator,
    OneOf,
    Parameter,
    Pieces,
    SomeOf,
    Text,
    WholeNumber,
    draw_bytes,
    draw_characters,
    draw_code_points,
    draw_numbers,
    first_bytes,
    join_repeated,
    repeat_in_blocks,
    whole_characters,
)


def _json_string(text: str) -> bytes:
    """The text as a JSON string, characters unescaped."""
    return json.dumps(text, ensure_ascii=False).encode()


# -------------------------------------------------------------------------------------- ansi_escape
# Terminal control sequences, for logs and consoles that print what they receive.

SEQUENCES = ("cursor_move", "color", "title", "hyperlink", "clear")

#: Sequences whose length depends on what is drawn.
_RANDOM_SEQUENCES = frozenset({"cursor_move", "color"})


class AnsiEscape(Generator, msgspec.Struct, frozen=True):
    """`count` control sequences from `sequences` in turn; titles and links carry `payload`."""

    type: ClassVar[str] = "ansi_escape"
    accepts: ClassVar[Mapping[str, Parameter]] = {
        "sequences": SomeOf(SEQUENCES),
        "count": WholeNumber(limit="max_batch_size", none_is_odd=True),
        "payload": Text(),
        "seed": SEED,
    }
    sized_by: ClassVar[str] = "count"

    sequences: tuple[str, ...] = SEQUENCES
    count: int = 100
    payload: str = "payload"
    seed: int = 0

    @property
    def estimated_size(self) -> int:
        if not self.sequences:
            return 0
        longest = self._max_lengths()
        rounds, rest = divmod(self.count, len(self.sequences))
        sizes = [longest[name] for name in self.sequences]
        return rounds * sum(sizes) + sum(sizes[:rest])

    @property
    def size_is_exact(self) -> bool:
        return _RANDOM_SEQUENCES.isdisjoint(self.sequences[: self.count])

    def pieces(self) -> Pieces:
        sources = self._sequence_sources()
        names = islice(cycle(self.sequences), self.count)
        items = map(next, map(sources.__getitem__, names))
        at_once = max(1, BLOCK // max(self._max_lengths().values()))
        while piece := b"".join(islice(items, at_once)):
            yield piece

    def _sequence_sources(self) -> dict[str, Iterator[bytes]]:
        """For each sequence an endless supply of it. A position draws its row, then its column."""
        positions = draw_numbers(self.seed, "ansi_escape/position", 1000)
        colors = draw_numbers(self.seed, "ansi_escape/color", 256)
        payload = self.payload.encode()
        return {
            "cursor_move": map(b"\x1b[%d;%dH".__mod__, zip(positions, positions, strict=True)),
            "color": map(b"\x1b[38;5;%dm".__mod__, colors),
            "title": repeat(b"\x1b]0;" + payload + b"\x07"),
            "hyperlink": repeat(b"\x1b]8;;" + payload + b"\x1b\\Click Here\x1b]8;;\x1b\\"),
            "clear": repeat(b"\x1b[2J\x1b[H"),
        }

    def _max_lengths(self) -> dict[str, int]:
        """The format's own estimate of each sequence: exact, or a bit above the longest draw."""
        text = len(self.payload.encode())
        fixed = {"cursor_move": 12, "color": 13, "clear": 7}
        return {**fixed, "title": 5 + text, "hyperlink": 24 + text}


# ------------------------------------------------------------------------------ batch_notifications
# One JSON-RPC batch of many equal notifications.


class BatchNotifications(Generator, msgspec.Struct, frozen=True):
    """An array of `count` notifications of `method`, without ids.

    `params` None leaves the member out; a JSON null is sent as null.
    """

    type: ClassVar[str] = "batch_notifications"
    accepts: ClassVar[Mapping[str, Parameter]] = {
        "count": WholeNumber(limit="max_batch_size", none_is_odd=True),
        "method": Text(),
        "params": AnyJson(),
    }
    sized_by: ClassVar[str] = "count"
    produces_json: ClassVar[bool] = True

    count: int
    method: str = "notifications/message"
    params: CompactJson | None = None

    @property
    def estimated_size(self) -> int:
        return 2 + self.count * len(self._item) + max(0, self.count - 1)

    def pieces(self) -> Pieces:
        yield b"["
        yield from join_repeated(self._item, self.count, b",")
        yield b"]"

    @property
    def _item(self) -> bytes:
        params = b"" if self.params is None else b',"params":' + self.params.utf8
        return b'{"jsonrpc":"2.0","method":' + _json_string(self.method) + params + b"}"


# ------------------------------------------------------------------------------------------ garbage
# Random bytes of a chosen sort.

_LETTERS = b"abcdefghijklmnopqrstuvwxyz"

#: The charsets of one byte per draw, each with the bytes it draws from. A fifth, utf8, draws code
#: points.
ALPHABETS: Mapping[str, bytes] = {
    "ascii": bytes(range(0x20, 0x7F)),
    "binary": bytes(range(256)),
    "numeric": b"0123456789",
    "alphanumeric": _LETTERS + _LETTERS.upper() + b"0123456789",
}

CHARSETS = ("ascii", "utf8", "binary", "numeric", "alphanumeric")


class Garbage(Generator, msgspec.Struct, frozen=True):
    """`bytes` random bytes, one draw each; a larger size with the same seed only adds to the end.

    With charset utf8 the draws are code points, and the output ends before the first one that does
    not fit.
    """

    type: ClassVar[str] = "garbage"
    accepts: ClassVar[Mapping[str, Parameter]] = {
        "bytes": ByteSize(),
        "charset": OneOf(CHARSETS),
        "seed": SEED,
    }
    sized_by: ClassVar[str] = "bytes"

    bytes: int
    charset: str = "ascii"
    seed: int = 0

    @property
    def size_is_exact(self) -> bool:
        return self.charset != "utf8"

    @property
    def produces_text(self) -> bool:
        return self.charset != "binary"

    def pieces(self) -> Pieces:
        if self.charset == "utf8":
            return whole_characters(draw_code_points(self.seed, "garbage/utf8"), self.bytes)
        draws = draw_bytes(self.seed, f"garbage/{self.charset}", ALPHABETS[self.charset])
        return first_bytes(draws, self.bytes)


# -------------------------------------------------------------------------------------- nested_json
# Objects and arrays inside each other, for parsers that recurse.

STRUCTURES = ("object", "array", "mixed")


class NestedJson(Generator, msgspec.Struct, frozen=True):
    """`depth` levels around `inner`: objects with one `key`, arrays, or both in turn.

    Depth 3 of key `a` around "x" is `{"a":{"a":{"a":"x"}}}`. Of both in turn, an object is
    outermost. Written level by level, so depth costs no stack.
    """

    type: ClassVar[str] = "nested_json"
    accepts: ClassVar[Mapping[str, Parameter]] = {
        "depth": WholeNumber(limit="max_nest_depth"),
        "structure": OneOf(STRUCTURES),
        "key": Text(),
        "inner": AnyJson(),
    }
    sized_by: ClassVar[str] = "depth"
    produces_json: ClassVar[bool] = True

    depth: int
    structure: str = "object"
    key: str = "a"
    inner: CompactJson = CompactJson("null")

    @property
    def estimated_size(self) -> int:
        openers = self._objects * len(self._object_opener) + (self.depth - self._objects)
        return openers + len(self.inner.utf8) + self.depth

    def pieces(self) -> Pieces:
        opener = self._object_opener
        if self.structure == "mixed":
            pairs, odd = divmod(self.depth, 2)
            yield from repeat_in_blocks(opener + b"[", pairs)
            yield opener * odd + self.inner.utf8 + b"}" * odd
            yield from repeat_in_blocks(b"]}", pairs)
        else:
            opener, closer = (opener, b"}") if self.structure == "object" else (b"[", b"]")
            yield from repeat_in_blocks(opener, self.depth)
            yield self.inner.utf8
            yield from repeat_in_blocks(closer, self.depth)

    @property
    def _objects(self) -> int:
        """How many of the levels are objects."""
        return {"object": self.depth, "array": 0, "mixed": (self.depth + 1) // 2}[self.structure]

    @property
    def _object_opener(self) -> bytes:
        return b"{" + _json_string(self.key) + b":"


# ------------------------------------------------------------------------------------ repeated_keys
# An object that gives the same key again and again, for parsers that disagree on which wins.


class RepeatedKeys(Generator, msgspec.Struct, frozen=True):
    """`count` members with one key, `k` written `key_length` times, and the same `value`."""

    type: ClassVar[str] = "repeated_keys"
    accepts: ClassVar[Mapping[str, Parameter]] = {
        "count": WholeNumber(limit="max_batch_size", none_is_odd=True),
        "key_length": WholeNumber(minimum=1),
        "value": AnyJson(),
    }
    sized_by: ClassVar[str] = "count"
    produces_json: ClassVar[bool] = True

    count: int
    key_length: int = 8
    value: CompactJson = CompactJson('"x"')

    @property
    def estimated_size(self) -> int:
        member = self.key_length + 3 + len(self.value.utf8)
        return 2 + self.count * member + max(0, self.count - 1)

    def pieces(self) -> Pieces:
        yield b"{"
        if self.key_length <= BLOCK:
            member = b'"' + b"k" * self.key_length + b'":' + self.value.utf8
            yield from join_repeated(member, self.count, b",")
        else:
            yield from self._long_members()
        yield b"}"

    def _long_members(self) -> Pieces:
        """Members whose key alone is larger than a block: not even one of them is held whole."""
        for number in range(self.count):
            yield b',"' if number else b'"'
            yield from repeat_in_blocks(b"k", self.key_length)
            yield b'":' + self.value.utf8


# ------------------------------------------------------------------------------------- unicode_spam
# Characters that cannot be seen, look like others or turn text around.

_TABLES = {
    "zero_width": "\u200b\u200c\u200d\ufeff\u2060",
    "homoglyph": "\u0430\u0435\u043e\u0440\u0441\u0445",
    "combining": "\u0300\u0301\u0302\u0303\u0304\u0305\u030a\u030b\u0327\u0328",
    "rtl": "\u200f\u202b\u202e\u2067",
    "emoji": "\U0001f525\U0001f4a9\U0001f680\u2764\U0001f600",
}

#: The characters of each category, in the order they are drawn from.
TABLES: Mapping[str, str] = _TABLES | {"mixed": "".join(_TABLES.values())}

#: Three in ten characters come from the carrier, if there is one.
_CARRIER_MASK = b"\x00" * 7 + b"\xff" * 3


class UnicodeSpam(Generator, msgspec.Struct, frozen=True):
    """At most `bytes` bytes of UTF-8: characters of the category, mixed with those of `carrier`.

    The output ends before the first character that does not fit. An empty carrier is none.
    """

    type: ClassVar[str] = "unicode_spam"
    accepts: ClassVar[Mapping[str, Parameter]] = {
        "bytes": ByteSize(),
        "category": OneOf(tuple(TABLES)),
        "carrier": Text(),
        "seed": SEED,
    }
    sized_by: ClassVar[str] = "bytes"

    bytes: int
    category: str = "zero_width"
    carrier: str = ""
    seed: int = 0

    @property
    def size_is_exact(self) -> bool:
        return False

    def pieces(self) -> Pieces:
        texts = self._mix_with_carrier() if self.carrier else self._spam()
        return whole_characters(map(str.encode, texts), self.bytes)

    def _spam(self) -> Iterator[str]:
        return draw_characters(self.seed, f"unicode_spam/{self.category}", TABLES[self.category])

    def _mix_with_carrier(self) -> Iterator[str]:
        """Mix characters of the category with those of the carrier, chosen at random."""
        carried = draw_characters(self.seed, "unicode_spam/carrier", self.carrier)
        taken = draw_bytes(self.seed, "unicode_spam/taken", _CARRIER_MASK)
        return map(_select_characters, self._spam(), carried, taken)


def _select_characters(spam: str, carried: str, taken: bytes) -> str:
    """Of each pair the first character where `taken` is 0x00, the second where it is 0xFF.

    The result is as long as the shortest of the three. All pairs are chosen at once: in UTF-32 that
    is a few operations on long integers, several times faster than a loop.
    """
    count = min(len(spam), len(carried), len(taken))
    mask = bytearray(4 * count)
    for offset in range(4):
        mask[offset::4] = taken[:count]
    first = int.from_bytes(spam[:count].encode("utf-32-le"), "little")
    second = int.from_bytes(carried[:count].encode("utf-32-le"), "little")
    chosen = first ^ ((first ^ second) & int.from_bytes(mask, "little"))
    return chosen.to_bytes(4 * count, "little").decode("utf-32-le")


#: The types of the format, in its order.
TYPES = (NestedJson, BatchNotifications, Garbage, RepeatedKeys, UnicodeSpam, AnsiEscape)
