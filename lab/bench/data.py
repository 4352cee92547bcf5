"""Data to measure with, made on the spot."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

TOOL = """\
  - tool:
      name: tool_{n}
      description: "Tool number {n}: looks something up and says what it found"
      inputSchema:
        type: object
        properties:
{properties}        required: [field_0, field_1]
    response:
      content:
        - type: text
          text: "Result of tool {n}"
"""
PROPERTY = """\
          field_{n}:
            type: string
            description: "Field number {n}, which the tool needs for its work"
            minLength: {n}
            maxLength: {m}
            enum: [alpha, beta, gamma, delta]
            default: alpha
"""


MARKER = '      description: "Tool number'
PATTERN = """\
tool: {{name: tool_{n}, description: d, inputSchema: {{type: object}}}}
response: {{content: [{{type: text, text: hi}}]}}
"""


def server(tools: int = 1000, properties: int = 22) -> str:
    """A server configuration; 1,000 tools are about 5 MB."""
    fields = "".join(PROPERTY.format(n=n, m=n + 100) for n in range(properties))
    return "server:\n  name: big\ntools:\n" + "".join(
        TOOL.format(n=n, properties=fields) for n in range(tools)
    )


_WORDS = ("alpha", "branch", "cache", "delta", "file", "index", "memory", "query", "reply", "token")


def varied_server(tools: int = 400, properties: int = 22) -> str:
    """A server whose lines with values are all different; 400 tools are about 2 MB.

    What an author repeats, such as `type: string`, is repeated here, too.
    """
    return "server:\n  name: big\ntools:\n" + "".join(_varied_tools(tools, properties))


def _varied_tools(tools: int, properties: int) -> Iterator[str]:
    chance, number = random.Random(27), 0
    for tool in range(tools):
        fields = []
        for _ in range(properties):
            number += 1
            word, other = chance.choice(_WORDS), chance.choice(_WORDS)
            fields.append(
                f"          {word}_{number}:\n"
                f"            type: string\n"
                f'            description: "The {other} of {sentence(chance)} {number}"\n'
                f"            minLength: {number}\n"
                f"            maxLength: {1000 * number + chance.randrange(999)}\n"
                f"            enum: [{word}{number}, {other}_{number}, {word}-{number}]\n"
                f"            default: {word}{number}\n"
            )
        yield (
            f"  - tool:\n"
            f"      name: {chance.choice(_WORDS)}_{tool}\n"
            f'      description: "Looks up {sentence(chance)} {tool}"\n'
            f"      inputSchema:\n        type: object\n        properties:\n{''.join(fields)}"
            f"    response:\n      content:\n        - type: text\n"
            f'          text: "Found {sentence(chance)} {tool}"\n'
        )


def sentence(chance: random.Random, words: int = 7) -> str:
    return " ".join(chance.choice(_WORDS) for _ in range(words))


def broken(text: str, count: int) -> str:
    """A configuration with `count` mistakes spread over it, the last one near the end."""
    head, *tools = text.split(MARKER)
    step = len(tools) // count
    wrong = set(range(len(tools) - 1, -1, -step)[:count])
    return head + "".join(
        _listed(tool) if n in wrong else MARKER + tool for n, tool in enumerate(tools)
    )


def _listed(tool: str) -> str:
    """A tool whose description is a list."""
    return '      description: ["Tool number' + tool.replace('found"', 'found"]', 1)


def includes(folder: Path, count: int) -> Path:
    """A configuration that includes `count` different files."""
    library = folder / "library"
    library.mkdir(parents=True, exist_ok=True)
    for n in range(count):
        (library / f"t{n}.yaml").write_text(PATTERN.format(n=n))
    main = folder / "main.yaml"
    main.write_text(
        "server: {name: many}\ntools:\n"
        + "".join(f"  - $include: t{n}.yaml\n" for n in range(count))
    )
    return main
