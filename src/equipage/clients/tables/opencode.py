"""OpenCode: its configuration, agents and commands.

OpenCode refuses to start on a value of the wrong type, in a header as well. Unknown keys of an
agent go to the provider of the model, other unknown keys nowhere.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec

from equipage.clients.catalogue import Convention, Field, Group, Names, Table, json_file, mapping_of

TOOL = "OpenCode"
# fmt: off
#: What its tools ask; MCP servers and plugins bring more names.
ASKED = (
    "read", "edit", "glob", "grep", "list", "bash", "task", "skill", "lsp", "todowrite",
    "webfetch", "websearch", "codesearch", "question", "external_directory", "doom_loop",
)
# fmt: on
#: Names of tools here or elsewhere, in small letters, that nothing asks → what is asked.
ASKED_INSTEAD = {
    **dict.fromkeys(("write", "patch", "apply_patch", "multiedit", "notebookedit"), "edit"),
    **dict.fromkeys(("shell", "powershell", "terminal"), "bash"),
    "ls": "list",
    "agent": "task",
}

_ACTION = Literal["ask", "allow", "deny"]
AGENTS = frozenset({"build", "plan", "general", "explore", "scout"})

_PERMISSION = dict[str, _ACTION | dict[str, _ACTION]] | _ACTION
_MODE = Field(
    "mode",
    "whether people choose it, other agents call it, or both",
    Literal["primary", "subagent", "all"],
)
_COLOR = Annotated[
    str,
    msgspec.Meta(
        pattern=r"^(#[0-9a-fA-F]{6}|primary|secondary|accent|success|warning|error|info)$"
    ),
]
_AGENT_FIELDS = (
    Field("description", "when to use it; other agents choose it by this text"),
    _MODE,
    Field("model", "the model, as `provider/model`"),
    Field("variant", "the variant of the model, such as its effort"),
    Field("temperature", "how random its answers are", float),
    Field("top_p", "sample only from the most likely tokens up to this probability", float),
    Field("prompt", "the prompt, instead of the text below the header"),
    Field(
        "tools",
        "tools to turn on or off by name; `permission` replaces it",
        dict[str, bool],
        restricts=True,
        refers="tool",
        instead=("allowed-tools", "allowed_tools"),
    ),
    Field(
        "permission",
        "what it may do: one action, or an action for each tool",
        _PERMISSION,
        restricts=True,
        instead=("permissions",),
    ),
    Field("steps", "after how many steps it stops", int),
    Field("maxSteps", "the old name of `steps`", int),
    Field("disable", "whether to turn the agent off", bool),
    Field("hidden", "whether to hide it from people", bool),
    Field("color", "its colour: a hexadecimal number or a name of the theme", _COLOR),
    Field("options", "further options for the provider of the model", Table),
)
_COMMAND_FIELDS = (
    Field("description", "what it does; the menu shows this text"),
    Field("agent", "the agent that runs it", refers="agent"),
    Field("model", "the model to use, as `provider/model`"),
    Field("subtask", "whether it always runs in an agent of its own", bool),
)
_AGENT = Group("an agent of OpenCode", _AGENT_FIELDS, unknown="ignore")

CONFIG = json_file(
    kind="opencode-config",
    paths=("opencode.{json,jsonc}",),
    tool=TOOL,
    title="OpenCode configuration",
    sort="settings",
    comments=True,
    trailing_commas=True,
    suffixes=(".json", ".jsonc"),
    mismatch="error",
    servers=TOOL,
    fields=(
        Field("$schema", "the schema for editors"),
        Field("model", "the model, as `provider/model`"),
        Field("small_model", "the model for small tasks, as `provider/model`"),
        Field("default_agent", "the agent to start with"),
        Field("username", "the name to show for the user"),
        Field("logLevel", "how much is logged", Literal["DEBUG", "INFO", "WARN", "ERROR"]),
        Field("server", "where it listens", Table),
        Field("share", "whether sessions are shared", Literal["manual", "auto", "disabled"]),
        Field("autoshare", "an old form of `share`", bool),
        Field("autoupdate", "whether it updates itself", bool | Literal["notify"]),
        Field("provider", "providers of models, by name", Table),
        Field("disabled_providers", "providers that are not used", Names, restricts=True),
        Field("enabled_providers", "the only providers that are used", Names, restricts=True),
        Field("agent", "agents, by name", mapping_of(_AGENT), instead=("agents",)),
        Field("mode", "an old form of `agent`", mapping_of(_AGENT), instead=("modes",)),
        Field(
            "command",
            "commands, by name",
            mapping_of(
                Group(
                    "a command of OpenCode",
                    (Field("template", "the prompt", required="error"), *_COMMAND_FIELDS),
                )
            ),
            instead=("commands",),
        ),
        Field(
            "permission",
            "what agents may do: one action, or an action for each tool",
            _PERMISSION,
            restricts=True,
            instead=("permissions",),
        ),
        Field(
            "tools",
            "tools to turn on or off by name; `permission` replaces it",
            dict[str, bool],
            restricts=True,
        ),
        Field("mcp", "MCP servers, by name", dict[str, dict[str, Any]], instead=("mcpServers",)),
        Field("lsp", "language servers, by name", bool | Table),
        Field("formatter", "programs that format files, by name", bool | Table),
        Field("plugin", "plugins: packages or files", tuple[Any, ...], instead=("plugins",)),
        Field(
            "skills",
            "where to look for skills",
            Group(
                "the places of skills of OpenCode",
                (
                    Field("paths", "folders with skills", Names),
                    Field("urls", "addresses of skills", Names),
                ),
            ),
        ),
        Field("instructions", "further files for the prompt: paths, patterns, addresses", Names),
        Field(
            "watcher",
            "which changes of files it looks at",
            Group(
                "the watcher of OpenCode",
                (Field("ignore", "patterns of files to leave out", Names),),
            ),
        ),
        Field("snapshot", "whether changes can be undone", bool),
        Field("compaction", "how long sessions are shortened", Table),
        Field("enterprise", "settings of an organisation", Table),
        Field("experimental", "experiments", Table),
        Field("layout", "an old setting without effect", Any),
        Field("keybinds", "belongs into `tui.json` now", Any),
        Field("theme", "belongs into `tui.json` now", Any),
        Field("tui", "belongs into `tui.json` now", Any),
    ),
    example="""\
{
  "$schema": "https://opencode.ai/config.json",
  "permission": { "edit": "ask", "bash": { "*": "ask", "git status": "allow" } },
  "mcp": {
    "docs": { "type": "remote", "url": "https://example.org/mcp" }
  }
}
""",
)

AGENT = Convention(
    kind="opencode-agent",
    paths=(
        "{opencode,.opencode,.config/opencode,config/opencode}/{agent,agents,mode,modes}/**/*.md",
    ),
    tool=TOOL,
    title="OpenCode agent",
    header_optional=True,
    reader="opencode",
    unknown=None,
    mismatch="error",
    built_in={"agent": AGENTS},
    # OpenCode makes a text of whatever the name is.
    fields=(
        _AGENT_FIELDS[0],
        Field("name", "the name; by default that of the file", Any),
        *_AGENT_FIELDS[1:],
    ),
    example_place=".opencode/agents/NAME.md",
    example="""\
---
description: Reviews a change and reports problems. Use it before a merge.
mode: subagent
permission:
  edit: deny
  bash: deny
---
You review changes. Report each problem with file and line. Do not edit anything.
""",
)

COMMAND = Convention(
    kind="opencode-command",
    paths=("{opencode,.opencode,.config/opencode,config/opencode}/{command,commands}/**/*.md",),
    tool=TOOL,
    title="OpenCode command",
    sort="command",
    header_optional=True,
    reader="opencode",
    built_in={"agent": AGENTS},
    mismatch="error",
    fields=(
        Field("name", "a name to show; the file gives the name to call it by"),
        *_COMMAND_FIELDS,
        Field("template", "the prompt, instead of the text below the header"),
    ),
    example_place=".opencode/commands/NAME.md",
    example="""\
---
description: Explain what changed since the last release
agent: plan
---
Explain what changed since $ARGUMENTS, for people who use the program.
""",
)

CONVENTIONS = (CONFIG, AGENT, COMMAND)
