"""Mistakes that an editor must show. Each line with `# wrong` is refused, no other one."""

from __future__ import annotations

import msgspec

import equipage
from equipage.blueprints import expand_and_report
from equipage.models import (
    Blueprint,
    ClaudeCodeAgent,
    Config,
    GeneratorLimits,
    ServerConfig,
    ServerLimits,
    Toolpack,
)
from equipage.toolpacks import ToolpackLoader

server = equipage.load("server.yaml", kind="server")
server.config.baseline.tools[0].tool.nmae  # wrong
server.config.phases[0].replace_tool  # wrong
server.config.unknown_methods = "drop"  # wrong
equipage.load("server.yaml", kind="server", libary="library")  # wrong
equipage.load("server.yaml", kind="server", allow_absolute="no")  # wrong
equipage.load("server.yaml", kind="srever")  # wrong
equipage.load("server.yaml", ServerConfig, libary="library")  # wrong
equipage.load("server.yaml", kind="server", limits=GeneratorLimits(1))  # wrong
equipage.load("server.yaml", kind="server", limits=ServerLimits(max_tool=1))  # wrong
equipage.load(b"server.yaml", kind="server")  # wrong


class Wanted(msgspec.Struct):
    """The options of a kind in another package."""

    dry: bool = False


class Playbook(msgspec.Struct):
    """The model of that kind."""

    name: str


playbook = equipage.load("release.yaml", Playbook, options=Wanted(dry=True)).config
playbook.nmae  # wrong
equipage.load("release.yaml", Playbook, options=Wanted(dri=True))  # wrong
equipage.load("release.yaml", Playbook, options=Wanted(dry="yes"))  # wrong

blueprint = equipage.load("blueprint.yaml", Blueprint).config
blueprint.agents["writer"]  # wrong
blueprint.agents[0].profile.model  # wrong
equipage.load("blueprint.yaml", kind="blueprint", default_agent_kind="robot")  # wrong
equipage.load("blueprint.yaml", kind="blueprint", library="library")  # wrong
expand_and_report({}, ".").value  # wrong

pack: Toolpack = equipage.load("a.tool.yaml", kind="toolpack").config
pack.descripton  # wrong
pack.timeoutMs  # wrong
ToolpackLoader(legacy_keys="allow")  # wrong
ToolpackLoader().get(5)  # wrong

agent: ClaudeCodeAgent = equipage.load("a.md", kind="claude-agent").config
agent.allowed_tools  # wrong
agent.tools.append("Bash")  # wrong

anything: Config = equipage.load("a.md").config
anything.baseline  # wrong
equipage.loads("text")  # wrong
equipage.loads("text", kind="skill", base="x")  # wrong
equipage.watch("a.md", kind="mcp", embedded=True)  # wrong
equipage.check_files(["a.md"])  # wrong
equipage.check_files({"a.md": b""}, jobs=2)  # wrong
equipage.check(".").rows()[0].colunm  # wrong
equipage.check(".", kind="sever")  # wrong
equipage.discover_skills(".")["a"].layr  # wrong
