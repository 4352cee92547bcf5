"""The relation of files, agents, skills, servers and tools, as the page and editors see it."""

from __future__ import annotations

from pathlib import Path

from equipage.loading.session import Request
from equipage.render.page import survey_workspace
from equipage.workspace.graph import Edge, Node
from lab import write


def test_agents_lead_to_what_they_name_and_files_to_what_they_define(tmp_path: Path) -> None:
    lead = "name: lead\ndescription: leads\ntools: Read, Agent(writer), mcp__github__search, Reed\n"
    write(
        tmp_path,
        {
            ".claude/agents/lead.md": f"---\n{lead}disallowedTools: Bash\nskills: pdf, doc\n---\nLead.\n",
            ".claude/agents/writer.md": "---\nname: writer\ndescription: writes\n---\nWrite.\n",
            ".claude/skills/pdf/SKILL.md": "---\nname: pdf\ndescription: writes PDF files\n---\nWrite.\n",
            ".mcp.json": '{"mcpServers": {"github": {"command": "npx"}}}',
        },
    )
    graph = survey_workspace([str(tmp_path)], Request(env={}, shared=True)).graph
    folder = f"{tmp_path}/"
    edges = {
        (edge.source.removeprefix(folder), edge.how, edge.target.removeprefix(folder))
        for edge in graph.edges
    }
    agent = ".claude/agents/lead.md"
    assert edges == {
        (agent, "uses", ".claude/agents/writer.md"),
        (agent, "uses", ".claude/skills/pdf/SKILL.md"),
        (agent, "uses", ".mcp.json#github"),
        (agent, "uses", "skill:doc"),
        (agent, "uses", "tool:Agent"),
        (agent, "uses", "tool:Read"),
        (agent, "uses", "tool:Reed"),
        (agent, "forbids", "tool:Bash"),
        (".mcp.json", "defines", ".mcp.json#github"),
    }
    assert {node.name for node in graph.nodes if node.missing} == {"skill:doc", "tool:Reed"}


def test_an_included_file_is_one_node_and_an_absent_one_is_missing(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "server.yaml": "server: {name: shop, version: '1'}\ntools:\n"
            "  - $include: tools/echo.yaml\n"
            "  - $include: tools/echo.yaml\n    override: {tool: {name: loud}}\n",
            "library/tools/echo.yaml": "tool: {name: echo, description: d}\n"
            "response: {content: []}\n",
            "broken.yaml": "server: {name: shop, version: '1'}\ntools:\n  - $include: absent.yaml\n",
        },
    )
    graph = survey_workspace([str(tmp_path)], Request(env={}, shared=True)).graph
    server, broken = str(tmp_path / "server.yaml"), str(tmp_path / "broken.yaml")
    echo = str(tmp_path / "library/tools/echo.yaml")
    assert set(graph.edges) == {
        Edge(server, echo, "included from here", 2),
        Edge(broken, "absent.yaml", "included from here", 1),
    }
    assert Node("absent.yaml", missing=True) in graph.nodes
    assert Node(broken, "server", ok=False) in graph.nodes
