"""GitHub Copilot and VS Code: custom agents (once chat modes), prompt files, instructions, hooks,
settings, and agentic workflows, which `gh aw` compiles for GitHub Actions."""

from __future__ import annotations

from typing import Any, Literal

from equipage.clients.catalogue import (
    Field,
    Group,
    Names,
    Table,
    hooks_field,
    json_file,
    lenient_file,
    mapping_of,
    tool_list,
)

TOOL = "GitHub Copilot"

AGENT = lenient_file(
    kind="copilot-agent",
    paths=(".github/{agents,chatmodes}/*.md", "*.{agent,chatmode}.md"),
    tool=TOOL,
    title="Copilot agent",
    suffixes=(".agent.md", ".chatmode.md", ".md"),
    longest_body=30_000,
    fields=(
        Field("description", "what it does and when to use it", required="warning"),
        Field("name", "the name that people see; by default that of the file"),
        Field(
            "target", "where it runs; by default everywhere", Literal["vscode", "github-copilot"]
        ),
        tool_list(
            "tools",
            "the only tools it may use; without the field it has all of them",
            instead=("allowed-tools", "allowed_tools"),
        ),
        Field("model", "the model, or several in order of preference", str | Names),
        Field("disable-model-invocation", "whether only people may call it", bool, restricts=True),
        Field("user-invocable", "whether people may choose it", bool),
        Field("user-invokable", "an old spelling of `user-invocable`", bool),
        Field("infer", "an old form of the two fields above", bool | str),
        Field("mcp-servers", "MCP servers of its own, by name", Table),
        Field("metadata", "anything else, as text by name", Table),
        Field("argument-hint", "what to type, as the chat shows it", str | tuple[Any, ...]),
        Field("agents", "the agents it may call", Names, split=",", refers="agent"),
        Field("handoffs", "buttons that hand over to another agent", tuple[Any, ...]),
        Field("hooks", "programs that run at certain events while it works", Table),
    ),
    built_in={"agent": frozenset({"*", "ask", "edit", "agent", "plan", "Plan", "Explore"})},
    example_place=".github/agents/NAME.agent.md",
    example="""\
---
description: Reviews a change and reports problems. Use it before a merge.
tools: [read, search]
---
You review changes. Report each problem with file and line. Do not edit anything.
""",
)

PROMPT = lenient_file(
    kind="copilot-prompt",
    paths=("*.prompt.md",),
    tool=TOOL,
    title="Copilot prompt",
    sort="prompt",
    suffixes=(".prompt.md",),
    fields=(
        Field("description", "what it does"),
        Field("name", "the name after `/` in the chat; by default that of the file"),
        Field("argument-hint", "what to type, as the chat shows it", str | tuple[Any, ...]),
        Field("agent", "the agent that runs it", refers="agent"),
        Field("mode", "the old name of `agent`"),
        Field("model", "the model, or several in order of preference", str | Names),
        tool_list("tools", "the only tools it may use"),
    ),
    built_in={"agent": frozenset({"ask", "edit", "agent", "plan", "Plan"})},
    example_place=".github/prompts/NAME.prompt.md",
    example="""\
---
description: Explain the selected code
agent: ask
---
Explain the selected code to a newcomer to the project.
""",
)

INSTRUCTIONS = lenient_file(
    kind="copilot-instructions",
    paths=("*.instructions.md",),
    tool=TOOL,
    title="Copilot instructions",
    sort="instructions",
    suffixes=(".instructions.md",),
    fields=(
        Field(
            "applyTo",
            "the files they hold for, as patterns; without it they hold when attached",
            str | Names,
            instead=("globs", "paths"),
        ),
        Field("description", "what they are about"),
        Field("name", "the name that people see; by default that of the file"),
        Field("excludeAgent", "the agent that must not read them", str | Names),
    ),
    example_place=".github/instructions/NAME.instructions.md",
    example="""\
---
applyTo: "**/*.py"
description: How we write Python
---
Every public function has a docstring that says what is promised.
""",
)

# fmt: off
_EVENTS = (
    "sessionStart", "sessionEnd", "userPromptSubmitted", "preToolUse", "postToolUse",
    "postToolUseFailure", "errorOccurred", "agentStop", "subagentStart", "subagentStop",
    "preCompact", "permissionRequest", "notification",
    # The names of Claude Code, which VS Code and plugins accept.
    "SessionStart", "SessionEnd", "UserPromptSubmit", "PreToolUse", "PostToolUse",
    "PostToolUseFailure", "Stop", "SubagentStart", "SubagentStop", "PreCompact",
    "PermissionRequest", "Notification",
)
# fmt: on
_HOOK = Group(
    "a hook of Copilot",
    (
        Field("type", "what runs", Literal["command", "prompt", "http"], required="warning"),
        Field("bash", "the command to run"),
        Field("powershell", "the command to run on Windows"),
        Field("command", "the command to run on any system"),
        Field("windows", "the command to run on Windows"),
        Field("linux", "the command to run on Linux"),
        Field("osx", "the command to run on macOS"),
        Field("cwd", "the folder to run it in"),
        Field("env", "environment variables to add", Table),
        Field("timeoutSec", "after how many seconds it is stopped", int | float),
        Field("timeout", "after how many seconds it is stopped", int | float),
        Field("prompt", "the prompt, with the type `prompt`"),
        Field("url", "the address, with the type `http`"),
        Field("headers", "headers of the request", Table),
        Field("matcher", "the tools it is for"),
        Field("hooks", "handlers, as Claude Code writes them", tuple[Any, ...]),
        Field("comment", "a note"),
    ),
    unknown="ignore",
)

HOOKS = json_file(
    kind="copilot-hooks",
    paths=(".github/hooks/*.json",),
    tool=TOOL,
    title="list of Copilot hooks",
    sort="hooks",
    measured=False,
    fields=(
        Field("version", "the version of the format", int, required="warning"),
        hooks_field("Copilot", _EVENTS, _HOOK),
        Field("disableAllHooks", "whether none of them runs", bool),
        Field("description", "what they are for"),
        Field("$schema", "the schema for editors"),
    ),
    example="""\
{
  "version": 1,
  "hooks": {
    "preToolUse": [{ "type": "command", "bash": "check-command", "timeoutSec": 10 }]
  }
}
""",
)

# fmt: off
#: Keys of GitHub Actions that an agentic workflow passes on.
_ACTIONS = (
    "runs-on", "steps", "post-steps", "pre-steps", "pre-agent-steps", "jobs", "env", "secrets",
    "concurrency", "cache", "container", "services", "environment", "run-name", "defaults",
)
# fmt: on

WORKFLOW = lenient_file(
    kind="agentic-workflow",
    paths=(".github/workflows/*.md", ".github/workflows/shared/**/*.md"),
    tool="GitHub Agentic Workflows",
    title="agentic workflow",
    sort="workflow",
    body_optional=True,
    measured=False,
    fields=(
        Field("on", "what starts it; without it, others import the file", Any),
        Field("name", "the name that people see"),
        Field("description", "what it does"),
        Field(
            "permissions",
            "what it may do on GitHub",
            str | Table,
            restricts=True,
            instead=("permission",),
        ),
        Field("engine", "the agent that runs it", str | Table),
        Field("tools", "the tools it has", Table, restricts=True),
        Field("mcp-servers", "MCP servers, by name", Table),
        Field("safe-outputs", "what it may write, and how often", Table),
        Field("safe-inputs", "tools of its own, by name", Table),
        Field("mcp-scripts", "tools of its own, by name", Table),
        Field("network", "the hosts it may reach", str | Table, restricts=True),
        Field("strict", "whether it is compiled strictly", bool),
        Field("sandbox", "where it runs", Any),
        Field("imports", "other files that it takes over", Any),
        Field("import-schema", "what those who import it may set", Table),
        Field("inlined-imports", "whether imports become part of it", bool),
        Field("source", "where it was copied from"),
        Field("redirect", "where it went"),
        Field("roles", "who may start it", str | Names, restricts=True),
        Field("bots", "bots that may start it", Names),
        Field("skip-roles", "who may not start it", str | Names),
        Field("skip-bots", "bots that may not start it", str | Names),
        Field("if", "the condition under which it runs", str | bool),
        Field("timeout-minutes", "after how many minutes it is stopped", int | str),
        Field("stop-after", "when it stops for good"),
        Field("rate-limit", "how often it may run", Any),
        Field("labels", "words to find it by", Any),
        Field("metadata", "anything else, by name", Table),
        Field("tracker-id", "what ties its outputs together"),
        Field("runtimes", "versions of languages", Table),
        Field("features", "features to turn on", Table),
        Field("github-token", "the token it uses"),
        Field("checkout", "how the repository is fetched", Any),
        Field("plugins", "plugins it uses", Any),
        Field("dependencies", "packages it uses", Any),
        Field("apm", "packages it uses", Any),
        Field("observability", "where traces are sent", Any),
        Field("resources", "files it brings", Any),
        Field("model", "the model to use"),
        Field("models", "other names for models", Any),
        Field("private", "whether others may copy it", bool),
        Field("disable-model-invocation", "whether no agent may start it", bool),
        Field("infer", "an old name of the field above", Any),
        Field("applyTo", "the files it is about", str | Names),
        Field("check-for-updates", "whether to look for updates", bool),
        *(Field(name, "as in GitHub Actions", Any) for name in _ACTIONS),
    ),
    example="""\
---
on:
  issues:
    types: [opened]
permissions: read-all
engine: copilot
safe-outputs:
  add-comment:
---
Read the issue and say in a comment whether something is missing.
""",
)

SETTINGS = json_file(
    kind="copilot-settings",
    paths=(".github/copilot/settings.json", ".github/copilot/settings.local.json"),
    tool=TOOL,
    title="Copilot settings file",
    sort="settings",
    comments=True,
    trailing_commas=True,
    unknown=None,
    measured=False,
    fields=(
        Field("companyAnnouncements", "texts that are shown at the start", Names),
        Field("enabledPlugins", "plugins to turn on, as `name@marketplace`", dict[str, bool]),
        Field(
            "extraKnownMarketplaces",
            "marketplaces, by name",
            mapping_of(
                Group(
                    "a marketplace of Copilot",
                    (
                        Field("source", "where it is", str | Table, required="warning"),
                        Field("autoUpdate", "whether it is kept up to date", bool),
                    ),
                    unknown="ignore",
                )
            ),
        ),
        Field("hooks", "what runs, by event", Table),
        Field("disableAllHooks", "whether no hook runs", bool),
        Field("allowedUrls", "addresses that may be read without asking", Names, restricts=True),
        Field("deniedUrls", "addresses that may not be read", Names, restricts=True),
        Field("model", "the model to use"),
    ),
    example="""\
{
  "extraKnownMarketplaces": {
    "tools": { "source": { "source": "github", "repo": "example/tools" } }
  },
  "enabledPlugins": { "reviewer@tools": true }
}
""",
)

CONVENTIONS = (AGENT, PROMPT, INSTRUCTIONS, HOOKS, WORKFLOW, SETTINGS)
