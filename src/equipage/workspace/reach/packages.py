"""What teams of agents and lists of servers say that they may do."""

from __future__ import annotations

from equipage.workspace.reach.rows import (
    allows,
    anything,
    asks,
    denies,
    guards,
    hooks,
    hosts,
    inputs,
    mode,
    narrows,
    runs,
    servers,
    usually,
    variables,
    widens,
)
from equipage.workspace.reach.subjects import Subject, one

#: kind → what has a reach in a file of it, and by which fields
TABLES: dict[str, tuple[Subject, ...]] = {
    # Teams of agents in one file.
    "docker-agent": (
        Subject(
            (
                usually("tool", "asks"),
                allows("permissions/allow"),
                asks("permissions/ask"),
                denies("permissions/deny"),
                servers("mcps"),
                hosts("models/*/base_url"),
                hosts("providers/*/base_url"),
                anything("models/*/token_key", "variable"),
                anything("providers/*/token_key", "variable"),
                anything("rag"),
            )
        ),
        Subject(
            (
                usually("tool", "denies"),
                servers("toolsets"),
                anything("toolsets/*/shell", "program"),
                allows("sub_agents", "agent"),
                allows("handoffs", "agent"),
                hooks("hooks"),
                anything("skills", "skill"),
                allows("add_prompt_files", "path"),
                widens("code_mode_tools"),
                anything("toolsets/*/api_config", "host"),
                anything("commands"),
                anything("rag"),
            ),
            ("agents", "*"),
            "agent",
        ),
    ),
    "crewai-agents": (
        Subject(
            (
                allows("tools"),
                widens("allow_code_execution"),
                mode("code_execution_mode", "safe", "unsafe", default="safe"),
                widens("allow_delegation"),
            ),
            ("agents", "*"),
            "agent",
        ),
    ),
    "crewai-tasks": (
        Subject(
            (
                allows("tools"),
                narrows("human_input"),
                guards("guardrail"),
                guards("guardrails"),
                allows("output_file", "path"),
                allows("callback", "program"),
            ),
            ("tasks", "*"),
            "agent",
        ),
    ),
    "goose-recipe": one(
        servers("extensions"),
        allows("sub_recipes/*/path", "agent"),
        runs("retry/checks/*/command"),
        runs("retry/on_failure"),
    ),
    # MCP servers.
    "mcp": one(servers("servers"), *inputs("inputs"), sort="servers"),
    "mcp-bundle": one(
        servers("server"), servers("server/mcp_config/platform_overrides"), sort="servers"
    ),
    "mcp-registry": one(
        *(
            anything(f"packages/*/{name}", "program")
            for name in ("registryType", "identifier", "runtimeHint", "runtimeArguments")
        ),
        anything("packages/*/packageArguments", "program"),
        anything("packages/*/registryBaseUrl", "host"),
        hosts("packages/*/transport/url"),
        hosts("remotes/*/url"),
        sort="servers",
    ),
    "fastmcp": one(
        anything("source", "program"),
        anything("environment", "program"),
        anything("deployment/host", "host"),
        anything("deployment/args", "program"),
        anything("deployment/cwd", "path"),
        variables("deployment/env"),
        sort="servers",
    ),
    # Graphs of LangGraph are code; the rest decides what they are built from.
    "langgraph": one(
        anything("graphs", "program"),
        allows("dependencies", "plugin"),
        *(
            anything(name, "program")
            for name in ("dockerfile_lines", "base_image", "image_distro", "pip_config_file")
        ),
        variables("env"),
        anything("http", "host"),
        anything("webhooks", "host"),
    ),
}
