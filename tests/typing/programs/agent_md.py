"""Shows one agent file as a program that runs agents would see it."""

from __future__ import annotations

import sys
from typing import Literal, get_args

import equipage
from equipage import LoadError
from equipage.models import Agent, AgentMeta, Verdict

Kind = Literal["lua", "rust_fn", "agent_block", "subprocess", "operator"]


def words(verdict: Verdict | None) -> int:
    return 0 if verdict is None else 1


def labels(meta: AgentMeta | None) -> str:
    return "no labels" if meta is None else repr(meta)


def describe(agent: Agent) -> list[str]:
    lines = [f"{agent.name}: {agent.kind}"]
    profile = agent.profile
    if profile is not None:
        model: str = profile.model or "the caller's model"
        lines.append(f"uses {model}")
        tools: tuple[str, ...] = profile.tools
        lines += [f"may use {tool}" for tool in tools]
        hash_of_prompt: str | None = profile.version_hash
        lines.append((hash_of_prompt or "")[:8])
    lines.append(labels(agent.meta))
    lines.append(f"{words(agent.verdict)} verdicts")
    return lines


def load(path: str, kind: Kind) -> Agent | None:
    try:
        return equipage.load(path, kind="agent_md", default_agent_kind=kind).config
    except LoadError as error:
        for each in error.errors:
            print(each.name, each.message, file=sys.stderr)
        return None


def main(path: str) -> list[str]:
    lines: list[str] = []
    kinds: tuple[Kind, ...] = get_args(Kind)
    for kind in kinds:
        agent = load(path, kind)
        if agent is not None:
            lines += describe(agent)
    text = "---\nname: one\n---\nDo it."
    lines.append(equipage.loads(text, Agent, embedded=True).config.name)
    return lines


if __name__ == "__main__":
    print("\n".join(main(sys.argv[1])))
