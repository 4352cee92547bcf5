"""Data to measure with, made on the spot."""

from __future__ import annotations

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
