"""Compares the agents of several tools: who may use what, with which model."""

from __future__ import annotations

import sys

import equipage
from equipage import Loaded
from equipage.models import (
    ClaudeCodeAgent,
    ClaudeCodeCommand,
    CodexAgent,
    Config,
    CursorRule,
    KindName,
    OpenCodeAgent,
    fields,
    kind_of_model,
)

KINDS: tuple[KindName, ...] = ("claude-agent", "opencode-agent", "codex-agent", "cursor-rule")


def tools(agent: ClaudeCodeAgent) -> tuple[str, ...]:
    return agent.tools or ()


def describe(config: Config) -> list[str]:
    if isinstance(config, ClaudeCodeAgent):
        return [config.name or "?", config.model or "inherits", *tools(config)]
    if isinstance(config, ClaudeCodeCommand):
        return [config.description or "", config.body]
    if isinstance(config, OpenCodeAgent):
        return [config.mode or "all", config.body[:20]]
    if isinstance(config, CodexAgent):
        return [config.name or "?"]
    if isinstance(config, CursorRule):
        return ["always" if config.alwaysApply else "on demand"]
    return [type(config).__name__]


def recognised(path: str) -> Loaded[Config]:
    return equipage.load(path)


def main(path: str) -> list[str]:
    loaded = equipage.load(path, kind="claude-agent", strict=True)
    agent: ClaudeCodeAgent = loaded.config
    lines = [agent.body.splitlines()[0], *describe(recognised(path).config)]
    meanings = fields(ClaudeCodeAgent)
    lines.append(meanings["tools"])
    lines.append(kind_of_model(OpenCodeAgent) or "?")
    command = equipage.loads("Say $1", ClaudeCodeCommand, embedded=True)
    lines += describe(command.config)
    return lines


if __name__ == "__main__":
    print("\n".join(main(sys.argv[1])))
