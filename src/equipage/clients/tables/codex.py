"""Codex: its configuration, hooks, custom agents, plugins, and what it adds to skills.

Codex refuses to start on a value of the wrong type, and says nothing about a key that it does not
know. A project cannot set some keys (`notify`, `otel`, the providers of models): those are not
checked, because Codex does not read them there.
"""

from __future__ import annotations

from typing import Any, Literal

from equipage.clients.catalogue import (
    Field,
    Group,
    Names,
    Table,
    either,
    events_group,
    json_file,
    list_of,
    matcher_group,
    toml_file,
    yaml_file,
)

TOOL = "Codex"

_SANDBOX = Literal["read-only", "workspace-write", "danger-full-access"]
_REVIEWER = Literal["user", "auto_review", "guardian_subagent"]
_NUMBER = int | float
#: What the author may set in the file of an agent as well.
_GRANULAR = Group(
    "a granular approval policy of Codex",
    (
        Field("sandbox_approval", "whether leaving the sandbox may be asked for", bool),
        Field("rules", "whether what the rules say may be asked for", bool),
        Field("mcp_elicitations", "whether servers may ask the user", bool),
        Field("request_permissions", "whether more permissions may be asked for", bool),
        Field("skill_approval", "whether scripts of skills may be asked for", bool),
    ),
)
_APPROVAL = either(
    Literal["on-request", "never", "on-failure"],
    Group(
        "an approval policy of Codex",
        (Field("granular", "what may be asked for, one by one", _GRANULAR),),
    ),
)
_WRITE = Group(
    "a sandbox of Codex",
    (
        Field("network_access", "whether commands reach the network", bool, restricts=True),
        Field("writable_roots", "further folders that commands may write", Names),
        Field("exclude_slash_tmp", "whether `/tmp` is not writable", bool, restricts=True),
        Field("exclude_tmpdir_env_var", "whether `$TMPDIR` is not writable", bool, restricts=True),
    ),
)
# A file of an agent may set these as well, and then they hold for that agent alone.
_FIELDS_SHARED_WITH_AGENTS = (
    Field("model", "the model to use"),
    Field("model_reasoning_effort", "how much the model reasons"),
    Field(
        "model_reasoning_summary",
        "how much of its reasoning the model tells",
        Literal["auto", "concise", "detailed", "none"],
    ),
    Field("model_verbosity", "how long its answers are", Literal["low", "medium", "high"]),
    Field("developer_instructions", "further instructions for the model"),
    Field(
        "sandbox_mode",
        "what commands may write",
        _SANDBOX,
        restricts=True,
        instead=("sandbox", "sandbox_policy"),
    ),
    Field("approval_policy", "when it must ask the user", _APPROVAL, restricts=True),
    Field("approvals_reviewer", "who is asked", _REVIEWER, restricts=True),
    Field(
        "web_search",
        "whether it may search the web",
        Literal["disabled", "cached", "indexed", "live"],
        restricts=True,
    ),
    Field(
        "mcp_servers",
        "MCP servers, by name",
        dict[str, dict[str, Any]],
        instead=("mcpServers", "mcp-servers"),
    ),
    Field("skills", "which skills it has", Table),
    Field("tools", "settings of the built-in tools", Table),
    Field("sandbox_workspace_write", "what `workspace-write` allows", _WRITE, restricts=True),
)

# fmt: off
_EVENTS = (
    "PreToolUse", "PermissionRequest", "PostToolUse", "PreCompact", "PostCompact", "SessionStart",
    "SessionEnd", "UserPromptSubmit", "SubagentStart", "SubagentStop", "Stop",
)
# fmt: on
# The last two types are in the schema of Codex, which runs none of them yet.
_HANDLER = Group(
    "a hook of Codex",
    (
        Field(
            "type",
            "`command` for a program, `mcp_tool` for a tool of a server",
            Literal["command", "mcp_tool", "prompt", "agent"],
            required="error",
        ),
        Field("command", "the command to run"),
        Field("commandWindows", "the command to run on Windows", instead=("command_windows",)),
        Field("timeout", "after how many seconds it is stopped", _NUMBER),
        Field("async", "whether Codex goes on at once", bool),
        Field("statusMessage", "what to show while it runs"),
        Field("additionalContextLimit", "how much of its output the model sees", int),
        Field("server", "the server whose tool to call"),
        Field("tool", "the tool to call"),
        Field("input", "the arguments of the tool", Table),
        Field("prompt", "a prompt, which Codex does not use yet"),
        Field("model", "a model, which Codex does not use yet"),
    ),
)
_ENTRY = matcher_group("an entry of the hooks of Codex", _HANDLER)
_STATE = Field("state", "which hooks are trusted", Table)
_HOOKS = events_group("the hooks of Codex", _EVENTS, _ENTRY, _STATE)

# `Any` is the type of what only the user may set: Codex ignores it in a project.
CONFIG = toml_file(
    kind="codex-config",
    paths=(".codex/config.toml",),
    tool=TOOL,
    title="Codex configuration",
    sort="settings",
    mismatch="error",
    servers=TOOL,
    fields=(
        *_FIELDS_SHARED_WITH_AGENTS,
        Field("default_permissions", "the permission profile to start with", restricts=True),
        Field("permissions", "permission profiles, by name", Table, restricts=True),
        Field("allow_login_shell", "whether commands may use a login shell", bool, restricts=True),
        Field(
            "shell_environment_policy",
            "which environment variables commands see",
            Group(
                "an environment policy of Codex",
                (
                    Field(
                        "inherit",
                        "which variables to start from",
                        Literal["core", "all", "none"],
                        restricts=True,
                    ),
                    Field("exclude", "patterns of variables to leave out", Names, restricts=True),
                    Field("include_only", "the only variables to keep", Names, restricts=True),
                    Field("set", "variables to set", Table),
                    Field(
                        "ignore_default_excludes",
                        "whether variables that look like secrets are kept",
                        bool,
                        restricts=True,
                    ),
                    Field("experimental_use_profile", "whether to read the shell's profile", bool),
                ),
            ),
            restricts=True,
        ),
        Field("hooks", "programs that run at certain events", _HOOKS),
        Field(
            "agents",
            "limits for sub-agents, and agents by name",
            Group(
                "the agents of Codex",
                (
                    Field("enabled", "whether there are sub-agents", bool),
                    Field("max_depth", "how deep agents may start agents", int),
                    Field("max_concurrent_threads_per_session", "how many run at once", int),
                    Field("max_threads", "the old name of the limit above", int),
                    Field("job_max_runtime_seconds", "how long one may run", int),
                    Field("default_subagent_model", "the model of agents that name none"),
                    Field("default_subagent_reasoning_effort", "how much their models reason"),
                    Field("interrupt_message", "whether an interrupted agent learns of it", bool),
                ),
                unknown="ignore",
            ),
        ),
        Field("apps", "apps and what they may do", Table, restricts=True),
        Field("plugins", "plugins, by name", Table),
        Field("marketplaces", "marketplaces of plugins, by name", Table),
        Field("projects", "which folders are trusted", Table),
        Field("features", "features to turn on or off", dict[str, bool | dict[str, Any]]),
        Field("memories", "what Codex remembers between sessions", Table),
        Field("history", "what is written down of sessions", Table),
        Field("tui", "what the terminal looks like", Table),
        Field("notice", "notices that were shown", Table),
        Field("windows", "settings for Windows", Table),
        Field("analytics", "whether usage is reported", Table),
        Field("feedback", "whether feedback may be sent", Table),
        Field("model_provider", "the provider of the model", Any),
        Field("model_providers", "providers of models, by name", Any),
        Field("model_context_window", "how many tokens the model takes", int),
        Field("model_auto_compact_token_limit", "when the session is summarised", int),
        Field("model_instructions_file", "a file with other instructions for the model"),
        Field("model_catalog_json", "a file that describes models"),
        Field("model_supports_reasoning_summaries", "whether summaries are asked for", bool),
        Field("plan_mode_reasoning_effort", "how much the model reasons while it plans"),
        Field("review_model", "the model for reviews"),
        Field("service_tier", "the tier of the service to ask for"),
        Field("personality", "how the model speaks", Literal["none", "friendly", "pragmatic"]),
        Field("instructions", "instructions for the model"),
        Field("compact_prompt", "how a session is summarised"),
        Field("experimental_compact_prompt_file", "a file that says how to summarise"),
        Field("experimental_use_unified_exec_tool", "an experiment", bool),
        Field("project_doc_max_bytes", "how much of AGENTS.md is read", int),
        Field("project_doc_fallback_filenames", "other names for AGENTS.md", Names),
        Field("project_root_markers", "files that mark the root of a project", Names),
        Field("tool_output_token_limit", "how much output of a tool is kept", int),
        Field("background_terminal_max_timeout", "how long to wait for output", int),
        Field("hide_agent_reasoning", "whether reasoning is hidden", bool),
        Field("show_raw_agent_reasoning", "whether raw reasoning is shown", bool),
        Field(
            "file_opener",
            "the editor that links open in",
            Literal["vscode", "vscode-insiders", "windsurf", "cursor", "none"],
        ),
        Field("check_for_update_on_startup", "whether to look for updates", bool),
        Field("disable_paste_burst", "whether pasted text is taken as typed", bool),
        Field("suppress_unstable_features_warning", "whether not to warn of features", bool),
        Field("include_apps_instructions", "whether the model hears of apps", bool),
        Field("include_environment_context", "whether the model hears of the machine", bool),
        Field("include_permissions_instructions", "whether the model hears its limits", bool),
        Field("forced_login_method", "the only way to sign in", Any, restricts=True),
        Field("forced_chatgpt_workspace_id", "the only workspace to sign in to", Any),
        Field("notify", "a program that is run after each turn", Any),
        Field("otel", "where to send traces", Any),
        Field("profile", "an old form: use `--profile` and `NAME.config.toml`", Any),
        Field("profiles", "an old form: use `NAME.config.toml` for each", Any),
        Field("chatgpt_base_url", "another address of ChatGPT", Any),
        Field("openai_base_url", "another address of the API", Any),
        Field("oss_provider", "the provider of local models", Any),
        Field("log_dir", "the folder for logs", Any),
        Field("sqlite_home", "the folder for the state", Any),
        Field("cli_auth_credentials_store", "where credentials are kept", Any),
        Field("mcp_oauth_credentials_store", "where credentials of servers are kept", Any),
        Field("mcp_oauth_callback_port", "the port for signing in to servers", Any),
        Field("mcp_oauth_callback_url", "the address for signing in to servers", Any),
        Field("tool_suggest", "tools to suggest", Table),
        Field("ghost_snapshot", "an old setting without effect", Any),
        Field("realtime", "an experiment", Any),
        Field("audio", "an experiment", Any),
        Field("desktop", "settings of the desktop app", Any),
        Field("browser_use", "what the browser may do", Table, restricts=True),
        Field("computer_use", "which apps may be used", Table, restricts=True),
    ),
    example="""\
model = "gpt-5"
sandbox_mode = "workspace-write"
approval_policy = "on-request"

[mcp_servers.docs]
url = "https://example.org/mcp"
bearer_token_env_var = "DOCS_TOKEN"
""",
)

HOOKS = json_file(
    kind="codex-hooks",
    paths=(".codex/hooks.json",),
    tool=TOOL,
    title="list of Codex hooks",
    sort="hooks",
    mismatch="error",
    fields=(
        Field("hooks", "what runs, by event", _HOOKS, required="error"),
        Field("description", "what the hooks are for"),
        Field("$schema", "the schema for editors"),
    ),
    example="""\
{
  "hooks": {
    "PreToolUse": [
      { "matcher": "Bash", "hooks": [{ "type": "command", "command": "check-command" }] }
    ]
  }
}
""",
)

AGENT = toml_file(
    kind="codex-agent",
    paths=(".codex/agents/*.toml",),
    tool=TOOL,
    title="Codex agent",
    identity="field",
    unknown=None,
    fields=(
        Field("name", "the name by which others call it", required="error"),
        Field("description", "when to use it; others choose it by this text", required="error"),
        Field("developer_instructions", "the prompt", required="error"),
        Field("nickname_candidates", "names to show for each run of it", Names),
        *(each for each in _FIELDS_SHARED_WITH_AGENTS if each.name != "developer_instructions"),
        Field("hooks", "programs that run at certain events while it works", Any),
    ),
    example='''\
name = "NAME"
description = "Reviews a change and reports problems. Use it before a merge."
sandbox_mode = "read-only"
developer_instructions = """
You review changes. Report each problem with file and line. Do not edit anything.
"""
''',
)

SKILL_METADATA = yaml_file(
    kind="codex-skill-metadata",
    paths=("agents/openai.yaml",),
    tool=TOOL,
    title="list of skill metadata",
    sort="metadata",
    fields=(
        Field(
            "interface",
            "how apps show the skill",
            Group(
                "the interface of a skill",
                (
                    Field("display_name", "the name that people see"),
                    Field("short_description", "what it does, in a few words"),
                    Field("icon_small", "a small picture"),
                    Field("icon_large", "a large picture"),
                    Field("brand_color", "its colour"),
                    Field("default_prompt", "what to ask first"),
                ),
            ),
        ),
        Field(
            "policy",
            "when the skill is used",
            Group(
                "the policy of a skill",
                (
                    Field(
                        "allow_implicit_invocation",
                        "whether the model may use it unasked",
                        bool,
                        restricts=True,
                    ),
                    Field("products", "the products that offer the skill", Names),
                ),
            ),
            restricts=True,
        ),
        Field(
            "dependencies",
            "what the skill needs",
            Group(
                "the dependencies of a skill",
                (
                    Field(
                        "tools",
                        "the tools it needs",
                        list_of(
                            Group(
                                "a dependency of a skill",
                                (
                                    Field("type", "what sort of tool it is", required="warning"),
                                    Field("value", "its name", required="warning"),
                                    Field("description", "what it is for"),
                                    Field("transport", "how to talk to the server"),
                                    Field("url", "the address of the server"),
                                    Field("command", "the program to start"),
                                ),
                            )
                        ),
                    ),
                ),
            ),
        ),
        Field("$schema", "the schema for editors"),
    ),
    example_place="skills/NAME/agents/openai.yaml",
    example="""\
interface:
  display_name: NAME
  short_description: Reviews a change and reports problems
policy:
  allow_implicit_invocation: false
""",
)

_AUTHOR = Group(
    "the author of a Codex plugin",
    (
        Field("name", "who wrote it", required="warning"),
        Field("email", "an address for mail"),
        Field("url", "an address on the web"),
    ),
)

PLUGIN = json_file(
    kind="codex-plugin",
    paths=(".codex-plugin/plugin.json",),
    tool=TOOL,
    title="Codex plugin",
    sort="plugin",
    identity="field",
    fields=(
        Field("name", "the name by which it is installed", required="error"),
        Field("version", "its version"),
        Field("description", "what it brings"),
        Field("author", "who wrote it", either(str, _AUTHOR)),
        Field("homepage", "where to read about it"),
        Field("repository", "where its source is"),
        Field("license", "the licence"),
        Field("keywords", "words to find it by", Names),
        Field("skills", "the folder of its skills"),
        Field("apps", "a file with its apps"),
        Field("mcpServers", "its MCP servers: a file, or servers by name", str | Table),
        Field("hooks", "its hooks: a file, or hooks by event", Any),
        Field("interface", "how apps show it", Table),
        Field("id", "its identity in a marketplace"),
    ),
    example="""\
{
  "name": "NAME",
  "version": "1.0.0",
  "description": "Reviews changes",
  "skills": "./skills"
}
""",
)

CONVENTIONS = (CONFIG, HOOKS, AGENT, SKILL_METADATA, PLUGIN)
