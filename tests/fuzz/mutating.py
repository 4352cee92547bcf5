"""Texts made worse: small random changes to good ones."""

from __future__ import annotations

import random
from collections.abc import Sequence

#: What grammars and directives are made of; a random letter rarely hits any of it.
TOKENS = (
    *(
        "---",
        "+++",
        "...",
        "\n---\n",
        "\n",
        "\r\n",
        "\r",
        "\t",
        " ",
        "  ",
        ": ",
        ":",
        "- ",
        "? ",
        ", ",
        "#",
        " # ",
    ),
    *(
        "[",
        "]",
        "{",
        "}",
        "[]",
        "{}",
        "'",
        '"',
        "''",
        '""',
        '"""',
        "'''",
        "|",
        ">",
        "|-",
        ">+2",
        "&a ",
        "*a",
        "<<: *a",
    ),
    *(
        "!!str ",
        "!x ",
        "!!python/object:os.system ",
        "%YAML 1.1\n",
        "@",
        "`",
        "\\",
        "\\u0000",
        "\\ud800",
        "\\x",
    ),
    *(
        "null",
        "~",
        "true",
        "yes",
        "0",
        "-1",
        "1e999",
        ".nan",
        "-.inf",
        "0x10",
        "0o7",
        "1_000",
        "9" * 25,
        "2024-01-01",
    ),
    *(
        "$",
        "$$",
        "${",
        "${A}",
        "${A:-b}",
        "${A:?c}",
        "${NOPE}",
        "${",
        "}",
        "$include",
        "$file",
        "$ref",
        "$generate",
    ),
    *(
        "{$include: a.yaml}",
        "{$include: main.yaml}",
        "{$file: b.txt}",
        "{$ref: '#'}",
        "{$ref: '#/a'}",
        "override: ",
    ),
    *(
        "../",
        "/etc/passwd",
        "~",
        "file:///x",
        "http://x",
        "\0",
        "\x01",
        "\x1b[0m",
        "\x85",
        "\u2028",
        "\ufeff",
        "\u202e",
    ),
    *(
        "é",
        "日",
        "\U0001f600",
        "\ud800",
        "a" * 200,
        "(a+)+$",
        "name",
        "id",
        "server",
        "tools",
        "phases",
        "inputSchema",
    ),
    *(
        "description",
        "agents",
        "flow",
        "kind",
        "prompt",
        "hooks",
        "[[a]]\n",
        "[a.b]\n",
        "a.b = 1\n",
        '"a" = {b = 1}\n',
    ),
    *("# equipage: ignore[x]", "<!-- equipage: ignore[unknown-field] -->", "equipage: ignore["),
)


def mutated(seeds: Sequence[str], rng: random.Random) -> str:
    """One of the texts with a few changes."""
    text = rng.choice(seeds)
    for _ in range(min(1 + int(rng.expovariate(0.5)), 8)):
        text = rng.choice(_CHANGES)(text, rng, seeds)
        if len(text) > 20_000:
            text = text[:20_000]
    return text


def _place(text: str, rng: random.Random) -> int:
    return rng.randint(0, len(text))


def _stretch(text: str, rng: random.Random) -> tuple[int, int]:
    start = _place(text, rng)
    return start, min(len(text), start + rng.choice((1, 1, 2, 5, 20, 100)))


def _insert(text: str, rng: random.Random, _seeds: Sequence[str]) -> str:
    place = _place(text, rng)
    return text[:place] + rng.choice(TOKENS) + text[place:]


def _replace(text: str, rng: random.Random, _seeds: Sequence[str]) -> str:
    start, end = _stretch(text, rng)
    return text[:start] + rng.choice(TOKENS) + text[end:]


def _delete(text: str, rng: random.Random, _seeds: Sequence[str]) -> str:
    start, end = _stretch(text, rng)
    return text[:start] + text[end:]


def _repeat(text: str, rng: random.Random, _seeds: Sequence[str]) -> str:
    start, end = _stretch(text, rng)
    return text[:end] + text[start:end] * rng.choice((1, 1, 2, 50)) + text[end:]


def _letter(text: str, rng: random.Random, _seeds: Sequence[str]) -> str:
    place = _place(text, rng)
    return (
        text[:place]
        + chr(rng.choice((rng.randint(0, 127), rng.randint(0, 0x2FF), rng.randint(0xE000, 0xFFFF))))
        + text[place + 1 :]
    )


def _lines(text: str, rng: random.Random, _seeds: Sequence[str]) -> str:
    """Two lines change places, or one moves in or out."""
    lines = text.split("\n")
    first, second = rng.randrange(len(lines)), rng.randrange(len(lines))
    if rng.random() < 0.5:
        lines[first], lines[second] = lines[second], lines[first]
    else:
        lines[first] = (
            lines[first][1:] if rng.random() < 0.5 else " " * rng.randint(1, 4) + lines[first]
        )
    return "\n".join(lines)


def _splice(text: str, rng: random.Random, seeds: Sequence[str]) -> str:
    other = rng.choice(seeds)
    return text[: _place(text, rng)] + other[_place(other, rng) :]


def _cut(text: str, rng: random.Random, _seeds: Sequence[str]) -> str:
    return text[: _place(text, rng)]


def _wrap(text: str, rng: random.Random, _seeds: Sequence[str]) -> str:
    start, end = _stretch(text, rng)
    opening, closing = rng.choice(
        (("[", "]"), ("{", "}"), ("'", "'"), ('"', '"'), ("{a: ", "}"), ("[" * 150, "]" * 150))
    )
    return text[:start] + opening + text[start:end] + closing + text[end:]


_CHANGES = (
    _insert,
    _insert,
    _replace,
    _replace,
    _delete,
    _repeat,
    _letter,
    _lines,
    _splice,
    _cut,
    _wrap,
)
