"""Lists what an MCP test server offers, phase by phase, and how large its answers are."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import equipage
from equipage import Loaded
from equipage.models import (
    Generated,
    GeneratorLimits,
    Phase,
    ServerConfig,
    ServerLimits,
    TextContent,
    Tool,
)


def size_of(text: str | Generated) -> int:
    return text.estimated_size if isinstance(text, Generated) else len(text.encode())


def sizes(tool: Tool) -> Iterator[tuple[str, int]]:
    for item in tool.response.content or ():
        if isinstance(item, TextContent):
            yield tool.tool.name, size_of(item.text)


def describe(config: ServerConfig) -> list[str]:
    lines = [f"{config.server.name} {config.server.version or ''}"]
    for tool in config.baseline.tools:
        description: str = tool.tool.description
        lines.append(f"{tool.tool.name}: {description}")
        lines += [f"{name} answers {size} bytes" for name, size in sizes(tool)]
    phase: Phase
    for phase in config.phases:
        lines.append(f"then {phase.name}")
    return lines


def load(path: str) -> Loaded[ServerConfig]:
    limits = ServerLimits(max_tools=50, generators=GeneratorLimits(max_payload_bytes=1000))
    return equipage.load(path, kind="server", library=Path("library"), env={}, limits=limits)


def main(path: str) -> list[str]:
    loaded = load(path)
    same = equipage.load(path, ServerConfig, allow_absolute=False, env={})
    assert same.config == loaded.config
    place = loaded.locate("server.name")
    lines = describe(loaded.config)
    lines.append(f"named in line {place.line if place is not None else 0}")
    lines += [warning.code for warning in loaded.warnings]
    return lines


if __name__ == "__main__":
    print("\n".join(main(sys.argv[1])))
