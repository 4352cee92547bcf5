"""Agents in the terminal that were not run: Amp, Qwen Code, Continue, OpenHands, Goose."""

from __future__ import annotations

from functools import partial
from typing import Any, Literal

import msgspec

from equipage.clients.catalogue import (
    Convention,
    Field,
    Group,
    Names,
    Table,
    either,
    json_file,
    lenient_file,
    list_of,
    mapping_of,
    tool_list,
    yaml_file,
)

_SERVERS = dict[str, dict[str, Any]]
#: None of these tools was run.
_json_file = partial(json_file, measured=False)
_lenient_file = partial(lenient_file, measured=False)
_yaml_file = partial(yaml_file, measured=False)

AMP_SETTINGS = _json_file(
    kind="amp-settings",
    paths=(".amp/settings.{json,jsonc}", "amp.{json,jsonc}"),
    tool="Amp",
    title="Amp settings file",
    sort="settings",
    comments=True,
    trailing_commas=True,
    servers="Amp",
    fields=(
        Field("amp.mcpServers", "MCP servers, by name", _SERVERS),
        Field(
            "amp.permissions",
            "what may be done; the first rule that matches counts",
            list_of(
                Group(
                    "a permission of Amp",
                    (
                        Field("tool", "the tools it is for", required="warning"),
                        Field(
                            "action",
                            "what happens",
                            Literal["allow", "ask", "reject", "delegate"],
                            required="warning",
                            restricts=True,
                        ),
                        Field("matches", "the arguments it is for", Table),
                        Field("context", "`thread` or `subagent`"),
                        Field("to", "the program that decides"),
                        Field("message", "the message to the model"),
                    ),
                )
            ),
            restricts=True,
        ),
        Field("amp.tools.disable", "tools that are left out", Names, restricts=True),
        Field("amp.mcpPermissions", "which servers may be used", Any, restricts=True),
        Field("amp.dangerouslyAllowAll", "whether nothing is asked", Any),
        Field("amp.commands.allowlist", "commands that are not asked about", Any),
        Field("amp.guardedFiles.allowlist", "guarded files that may be changed", Any),
        Field("amp.toolbox.path", "folders with tools of the project", Any),
        Field("amp.skills.path", "folders with more skills", Any),
    ),
    example="""\
{
  "amp.permissions": [{ "tool": "Bash", "matches": { "cmd": "*git push*" }, "action": "ask" }],
  "amp.mcpServers": { "docs": { "url": "https://example.org/mcp" } }
}
""",
)

QWEN_SETTINGS = _json_file(
    kind="qwen-settings",
    paths=(".qwen/settings.json",),
    tool="Qwen Code",
    title="Qwen settings file",
    sort="settings",
    comments=True,
    unknown=None,
    servers="Qwen Code",
    fields=(
        Field("mcpServers", "MCP servers, by name", _SERVERS),
        Field("tools", "which tools there are", Table),
        Field("mcp", "which servers are used", Table),
        Field("context", "what is read into the prompt", Table),
        Field("security", "what is not allowed", Table),
        Field("permissions", "what may be done", Table, restricts=True),
        Field("hooks", "programs that run at certain events", Table),
    ),
    example="""\
{
  "mcpServers": { "docs": { "httpUrl": "https://example.org/mcp" } }
}
""",
)

QWEN_AGENT = Convention(
    kind="qwen-agent",
    paths=(".qwen/agents/*.md",),
    tool="Qwen Code",
    title="Qwen agent",
    sort="qwen agent",
    ignores_headerless=True,
    reader="lenient",
    measured=False,
    identity="field",
    fields=(
        Field("name", "the name by which others call it", required="warning"),
        Field("description", "when to use it; others choose it by this text", required="warning"),
        tool_list("tools", "the only tools it may use; without the field it has all of them"),
        tool_list("disallowedTools", "tools it may not use"),
        Field("model", "the model; `inherit` for the caller's"),
        Field("color", "its colour in the terminal"),
        Field("approvalMode", "when it must ask the user", restricts=True),
    ),
    example="""\
---
name: NAME
description: Reviews a change and reports problems. Use it before a merge.
tools: [read_file, grep_search]
---
You review changes. Report each problem with file and line. Do not edit anything.
""",
)

CONTINUE_RULE = _lenient_file(
    kind="continue-rule",
    paths=(".continue/rules/**/*.md",),
    tool="Continue",
    title="Continue rule",
    sort="rule",
    fields=(
        Field("name", "the name that people see"),
        Field("globs", "the files it applies to", str | Names),
        Field("regex", "an expression over the files it applies to", str | Names),
        Field("alwaysApply", "whether it is part of every prompt", bool),
        Field("description", "what it is about"),
        Field("invokable", "whether people may call it", bool),
    ),
    example="""\
---
name: NAME
globs: "**/*.py"
---
Every public function has a docstring that says what is promised.
""",
)

MICROAGENT = _lenient_file(
    kind="openhands-microagent",
    paths=(".openhands/microagents/**/*.md",),
    tool="OpenHands",
    title="OpenHands microagent",
    sort="microagent",
    fields=(
        Field("name", "its name"),
        Field("type", "when it is read", Literal["knowledge", "repo", "task"]),
        Field("triggers", "words that bring it into the prompt", Names),
        Field("version", "its version", str | int | float),
        Field("agent", "the agent that reads it"),
        Field("inputs", "what the user is asked for", tuple[Any, ...]),
        Field("mcp_tools", "MCP servers it brings", Any),
    ),
    example="""\
---
name: NAME
type: knowledge
triggers: [docstring]
---
Every public function has a docstring that says what is promised.
""",
)

#: Continue takes a block from elsewhere instead of having it written down.
_USES_FIELDS = (
    Field("uses", "a block that is taken over: `owner/name`, or the address of a file"),
    Field("with", "values for the inputs of that block", Table),
    Field("override", "what differs from that block", Table),
)


def _continue_group(title: str, *fields: Field) -> Group:
    """An entry of a list of Continue: written down, or taken over with `uses`."""
    needed = tuple(
        msgspec.structs.replace(field, instead=("uses",)) if field.required else field
        for field in fields
    )
    return Group(title, (*needed, *_USES_FIELDS), unknown="ignore")


_ROLE = Literal["chat", "autocomplete", "embed", "rerank", "edit", "apply", "summarize", "subagent"]
CONTINUE_CONFIG = _yaml_file(
    kind="continue-config",
    paths=(".continue/config.{yaml,yml}", ".continue/{assistants,agents}/*.{yaml,yml}"),
    tool="Continue",
    title="Continue configuration",
    sort="settings",
    suffixes=(".yaml", ".yml"),
    fields=(
        Field("name", "the name that people see", required="warning"),
        Field("version", "its version", str | int | float, required="warning"),
        Field("schema", "the version of the format: `v1`"),
        Field("metadata", "who wrote it, and further notes", Table),
        Field("env", "values for the whole file", Table),
        Field("requestOptions", "how requests are sent", Table),
        Field(
            "models",
            "the models",
            list_of(
                _continue_group(
                    "a model of Continue",
                    Field("name", "the name that people see", required="warning"),
                    Field("provider", "who serves it, such as `ollama`", required="warning"),
                    Field("model", "its name there", required="warning"),
                    Field("roles", "what it is used for", tuple[_ROLE, ...]),
                    Field("apiKey", "the key of the provider"),
                    Field("apiBase", "the address of the provider"),
                    Field("capabilities", "what it can do, such as `tool_use`", Names),
                )
            ),
        ),
        Field(
            "mcpServers",
            "MCP servers",
            list_of(
                _continue_group(
                    "a server of Continue",
                    Field("name", "the name that people see", required="warning"),
                    Field("command", "the program to start"),
                    Field("args", "the arguments of the program", Names),
                    Field("env", "environment variables to add for the program", Table),
                    Field("cwd", "the folder to start the program in"),
                    Field("url", "the address of a server that is not a program"),
                    Field(
                        "type",
                        "how to talk to the server",
                        Literal["stdio", "sse", "streamable-http"],
                    ),
                )
            ),
        ),
        Field(
            "rules",
            "rules, as text or taken over",
            list_of(
                either(
                    str,
                    _continue_group(
                        "a rule of Continue",
                        Field("name", "the name that people see", required="warning"),
                        Field("rule", "the text", required="warning"),
                        Field("globs", "the files it applies to", str | Names),
                        Field("alwaysApply", "whether it is part of every prompt", bool),
                    ),
                )
            ),
        ),
        Field(
            "prompts",
            "commands that people call",
            list_of(
                _continue_group(
                    "a prompt of Continue",
                    Field("name", "the name by which it is called", required="warning"),
                    Field("prompt", "the text", required="warning"),
                    Field("description", "what it does"),
                )
            ),
        ),
        Field(
            "context",
            "what people may add to a question",
            list_of(
                _continue_group(
                    "a context provider of Continue",
                    Field("provider", "what is added, such as `diff`", required="warning"),
                    Field("params", "its settings", Any),
                )
            ),
        ),
        Field(
            "docs",
            "web pages to read",
            list_of(
                _continue_group(
                    "a page of Continue",
                    Field("name", "the name that people see", required="warning"),
                    Field("startUrl", "where to begin", required="warning"),
                )
            ),
        ),
        Field("data", "where data of use is sent", tuple[Any, ...]),
    ),
    example="""\
name: NAME
version: 1.0.0
schema: v1
models:
  - name: Local
    provider: ollama
    model: qwen2.5-coder
    roles: [chat, edit]
rules:
  - Every public function has a docstring that says what is promised.
""",
)

_GOOSE_EXTENSION = Group(
    "an extension of Goose",
    (
        Field("enabled", "whether it is used", bool),
        Field(
            "type",
            "where it comes from",
            Literal[
                "builtin",
                "platform",
                "stdio",
                "sse",
                "streamable_http",
                "frontend",
                "inline_python",
            ],
        ),
        Field("name", "its name"),
        Field("display_name", "the name that people see"),
        Field("description", "what it does"),
        Field("cmd", "with the type `stdio`, the program to start", instead=("command",)),
        Field("args", "the arguments of the program", Names),
        Field("envs", "environment variables to add for the program", Table, instead=("env",)),
        Field("env_keys", "variables whose values are kept as secrets", Names),
        Field("uri", "the address of a server that is not a program", instead=("url",)),
        Field("headers", "headers of each request", Table),
        Field("timeout", "how long a call may take, in seconds", int | float),
        Field("bundled", "whether it came with Goose", bool),
        Field("available_tools", "the only tools of it to offer", Names, restricts=True),
        Field("config", "the fields above, in the older form", Table),
    ),
    unknown="warning",
)

GOOSE_CONFIG = _yaml_file(
    kind="goose-config",
    paths=("goose/config.yaml",),
    tool="Goose",
    title="Goose configuration",
    sort="settings",
    unknown=None,
    fields=(
        Field("GOOSE_PROVIDER", "who serves the model"),
        Field("GOOSE_MODEL", "the model"),
        Field(
            "GOOSE_MODE",
            "what runs without asking",
            Literal["auto", "approve", "chat", "smart_approve"],
            restricts=True,
            order=("chat", "approve", "smart_approve", "auto"),
        ),
        Field("GOOSE_MAX_TURNS", "how many turns it takes without a person", int),
        Field("GOOSE_ALLOWLIST", "a list of the extensions that may be installed", restricts=True),
        Field("extensions", "servers and parts of Goose, by name", mapping_of(_GOOSE_EXTENSION)),
    ),
    example="""\
GOOSE_PROVIDER: anthropic
GOOSE_MODEL: claude-sonnet-5
GOOSE_MODE: smart_approve
extensions:
  docs:
    type: stdio
    name: docs
    enabled: true
    cmd: npx
    args: ["-y", "@example/docs@1.0.0"]
    timeout: 300
""",
)

GOOSE_RECIPE = _yaml_file(
    kind="goose-recipe",
    tool="Goose",
    title="Goose recipe",
    sort="recipe",
    suffixes=(".yaml", ".yml"),
    fields=(
        Field("version", "the version of the format", str | int | float),
        Field("title", "the name that people see", required="warning"),
        Field("description", "what it does", required="warning"),
        Field("instructions", "what the agent knows"),
        Field("prompt", "what it is asked first"),
        Field(
            "parameters",
            "what the user is asked for",
            list_of(
                Group(
                    "a parameter of a recipe",
                    (
                        Field("key", "its name: `{{ key }}` in the text", required="warning"),
                        Field("input_type", "what sort of value it is", required="warning"),
                        Field(
                            "requirement",
                            "whether it must be given",
                            Literal["required", "optional", "user_prompt"],
                            required="warning",
                        ),
                        Field("description", "what it is for", required="warning"),
                        Field("default", "the value if none is given", Any),
                        Field("options", "the values it may have", tuple[Any, ...]),
                    ),
                )
            ),
        ),
        Field("extensions", "the servers it needs", tuple[Any, ...]),
        Field("settings", "the model to use", Table),
        Field("sub_recipes", "recipes it may call", tuple[Any, ...]),
        Field("response", "the form of the result", Table),
        Field("retry", "when it tries again", Table),
        Field("activities", "examples of what to ask", Names),
        Field("author", "who wrote it", Table),
        Field("context", "further text", Any),
    ),
    example_place="recipe.yaml",
    example="""\
version: "1.0.0"
title: Review
description: Reviews a change and reports problems
instructions: You review changes. Report each problem with file and line.
prompt: Review {{ branch }}.
parameters:
  - key: branch
    input_type: string
    requirement: required
    description: the branch to review
""",
)

CONVENTIONS = (
    AMP_SETTINGS,
    QWEN_SETTINGS,
    QWEN_AGENT,
    CONTINUE_RULE,
    CONTINUE_CONFIG,
    MICROAGENT,
    GOOSE_CONFIG,
    GOOSE_RECIPE,
)
