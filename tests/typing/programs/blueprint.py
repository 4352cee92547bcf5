"""Lists the agents of a blueprint in the order in which its flow runs them."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import equipage
from equipage.blueprints import expand_and_report
from equipage.models import Agent, Blueprint, BlueprintAgentProfile, Branch, Node, Seq, Step


def steps(node: Node) -> Iterator[Step]:
    if isinstance(node, Step):
        yield node
    elif isinstance(node, Seq):
        for child in node.children:
            yield from steps(child)
    elif isinstance(node, Branch):
        yield from steps(node.then)
        yield from steps(node.otherwise)


def prompt_of(agent: Agent) -> str:
    profile: BlueprintAgentProfile | None = agent.profile
    return profile.system_prompt if profile is not None else ""


def describe(config: Blueprint) -> list[str]:
    agents: dict[str, Agent] = {agent.name: agent for agent in config.agents}
    lines = [f"{config.id}, format {config.schema_version}"]
    for step in steps(config.flow):
        agent = agents[step.ref]
        lines.append(f"{agent.name} ({agent.kind}): {prompt_of(agent)[:40]}")
        if agent.runner_ref is not None:
            lines.append(f"  run by {agent.runner_ref}")
    return lines


def main(path: str) -> list[str]:
    loaded = equipage.load(
        path, kind="blueprint", default_agent_kind="operator", include_roots=[Path(path).parent]
    )
    value = json.loads(json.dumps(loaded.to_dict()))
    kind: str = equipage.pre_read_default_agent_kind(value)
    expanded, warnings = expand_and_report(value, Path(path).parent)
    assert expanded["id"] == loaded.config.id
    lines = describe(loaded.config)
    lines.append(f"agents are {kind}, {len(warnings)} warnings")
    lines.append(loaded.digest[:8])
    return lines


if __name__ == "__main__":
    print("\n".join(main(sys.argv[1])))
