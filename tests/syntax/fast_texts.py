"""Texts for comparing the two ways of reading YAML: random documents of the plainest form, and
spoilt ones.

    python tests/syntax/fast_texts.py 50000 [SEED]

compares that many; the tests compare a few hundred.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator

from equipage.core.path import walk
from equipage.syntax import SyntaxProblem, yaml
from equipage.syntax.yaml import places
from equipage.syntax.yaml.events import Events
from equipage.syntax.yaml.values import construct

_GOOD = (
    *(
        "word",
        "two words",
        "a, b",
        "https://example.test/a?b=c#d",
        "1.4.0",
        "-5",
        "+7",
        "0x1F",
        "0o17",
        "1e3",
        "1_000",
    ),
    *(
        ".5",
        "5.",
        "true",
        "False",
        "null",
        "~",
        "on",
        "12:30",
        "2024-01-01",
        "a:b",
        "a :b",
        "a#b",
        "-x",
        "-1x",
        "",
    ),
    *(
        '"quoted"',
        '"with: colon # and hash"',
        "'single'",
        "''",
        '""',
        '"tail "',
        "ünïcode",
        "日本語",
        "x # note",
        "😀",
    ),
    *(
        "[]",
        "{}",
        "[a, b]",
        "[1, 2.5, ~]",
        "{a: b}",
        "{a: 1, b: [x, y], c: {d: e}}",
        "[\"a b\", 'c']",
        "[a,b]",
        "[ a ]",
    ),
    *(
        "{ a: b }",
        "[[], {}]",
        "{$ref: ../x.json}",
        "[-a, a - b]",
        "1" * 30,
        "(x)",
        "^x",
        "$X",
        "${X}",
        "...",
        "é # ü",
    ),
)
#: Left to the parser, or errors.
_OTHER = (
    *(
        "- x",
        "'it''s'",
        '"tab\\t"',
        "[a, b,]",
        "[a: b]",
        "{a}",
        "[read:*]",
        "{a: 'x', a: y}",
        "&a x",
        "*a",
        "!t x",
    ),
    *(
        "| x",
        ">",
        "%x",
        "@x",
        "`x`",
        "? x",
        "a:",
        "x: y",
        "# note",
        "x #",
        ".inf",
        "-.INF",
        ".nan",
        "=",
        "<<",
        "---",
    ),
    *(
        "[a",
        "]",
        "{a: b",
        "[a]]",
        "[a] b",
        '"a" b',
        '"a',
        "{a:b}",
        "{a: b}#",
        "[a]: b",
        '"a": b',
        "9" * 5000,
        "[" * 200,
    ),
)
_SCALARS = _GOOD + _OTHER
_GAPS = (*" " * 20, "  ", "   ", "")
_KEYS = (
    *(
        "a",
        "b",
        "key",
        "camelCase",
        "with-dash",
        "$ref",
        "a.b",
        "_x",
        "/path",
        "clé",
        "x y",
        "200",
        "true",
        "null",
        "<<",
    ),
    *(
        '"quoted"',
        "'single'",
        '"a b"',
        '"<<"',
        "? a",
        "a ",
        "~",
        "-a",
        "a#b",
        "@a",
        "y",
        "No",
        "X" * 101,
    ),
)
_PIECES = (
    " ",
    "  ",
    "\n",
    ":",
    ": ",
    "- ",
    "#",
    " #",
    '"',
    "'",
    "[",
    "]",
    "{",
    "}",
    ",",
    "\t",
    "\r",
    "&a",
    "*a",
    "!",
    "|",
    ">",
)
_ODD = (
    "\x00",
    "\x07",
    "\x7f",
    "\x85",
    "\xa0",
    "\u2028",
    "\ufeff",
    "\ud800",
    "\ufffe",
    "---\n",
    "...\n",
    "%YAML 1.2\n",
)


def text(random: random.Random) -> str:
    """A document of the plainest form, perhaps spoilt a little."""
    written = "\n".join(_block(random, 0, random.randint(0, 4))) + random.choice(
        ["", "\n", "\n\n", "\n# end"]
    )
    return _spoilt(random, written) if random.random() < 0.6 else written


def _block(random: random.Random, column: int, depth: int) -> Iterator[str]:
    """The lines of a mapping or a sequence."""
    is_sequence = random.random() < 0.4
    for _ in range(random.randint(1, 4)):
        if random.random() < 0.1:
            yield random.choice(["", "   ", "# note", "      # note: here"])
        start = " " * column + ("- " if is_sequence else "")
        if is_sequence and random.random() < 0.5:
            yield start + _scalar(random)
            continue
        yield from _entry(random, start, column + 2 if is_sequence else column, depth)
        while is_sequence and random.random() < 0.3:
            yield from _entry(random, " " * (column + 2), column + 2, depth)


def _entry(random: random.Random, start: str, column: int, depth: int) -> Iterator[str]:
    key = (
        random.choice(_KEYS)
        if random.random() < 0.05
        else f"{random.choice(_KEYS[:10])}{random.randrange(50)}"
    )
    if depth and random.random() < 0.4:
        yield f"{start}{key}:{random.choice(['', '', '', ' ', ' # note'])}"
        yield from _block(random, column + random.choice([0, 1, 2, 2, 2, 4]), depth - 1)
        return
    yield f"{start}{key}:{random.choice(_GAPS)}{_scalar(random)}"


def _scalar(random: random.Random) -> str:
    return random.choice(_SCALARS if random.random() < 0.05 else _GOOD)


def _spoilt(random: random.Random, written: str) -> str:
    for _ in range(random.randint(1, 3)):
        at = random.randrange(len(written) + 1)
        what = random.random()
        if what < 0.4:
            written = written[:at] + random.choice(_PIECES) + written[at:]
        elif what < 0.7:
            written = written[:at] + written[at + random.randint(1, 4) :]
        elif what < 0.85:
            other = random.randrange(len(written) + 1)
            written = written[:at] + written[other : other + random.randint(1, 12)] + written[at:]
        else:
            written = written[:at] + random.choice(_ODD) + written[at:]
    return written


def difference(written: str) -> str | None:
    """How the two ways disagree about a text; None if they do not. The plain way may always leave
    it to the parser."""
    value = yaml.read_simple(written)
    if value is None:
        return None
    try:
        expected = construct(written, Events(written).get_event, merge=True)
    except (SyntaxProblem, ValueError) as error:
        return f"read {value!r}, but the parser refuses: {error!r}"
    except Exception as error:  # libyaml's own errors
        return f"read {value!r}, but the parser refuses: {error}"
    # `repr` tells 1 from True and 1.0, and the order of keys.
    return (
        None
        if repr(expected) == repr((value, False, None))
        else f"read {value!r}, the parser {expected!r}"
    )


def misplaced(written: str) -> str | None:
    """How the two ways disagree about the place of any value of a plain text; None if they do not."""
    value = yaml.read_simple(written)
    if value is None:
        return None
    every = [path for path, _ in walk(value)]
    wrong = []
    for paths in ([path] for path in every):
        found = yaml.locate_simple(written, paths)
        if found is not None and found != places.locate(written, paths):
            wrong.append(f"{paths}: {found}, the parser {places.locate(written, paths)}")
    together = yaml.locate_simple(written, every)
    if together is not None and together != places.locate(written, every):
        wrong.append("all paths together")
    return "; ".join(wrong) or None


def main(count: int, seed: int) -> int:
    source = random.Random(seed)
    read = 0
    for _ in range(count):
        written = text(source)
        read += yaml.read_simple(written) is not None
        told = difference(written) or misplaced(written)
        if told is not None:
            print(f"{written!r}\n  {told}")
            return 1
    print(f"{count:,} texts, {read:,} of them read without the parser, no difference")
    return 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0))
