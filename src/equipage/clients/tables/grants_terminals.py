"""What clients in a terminal read as a permission: Codex, Gemini, OpenCode and others."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from equipage.clients.grant_rows import (
    BANG_COMMAND,
    PLUGIN_ROWS,
    Row,
    Subject,
    actions,
    allows,
    allows_each_value,
    allows_names_among,
    allows_only,
    any_change_widens,
    asks,
    default_effect,
    denies,
    disabled_when_false,
    explicit_actions,
    guards,
    hooks,
    hosts,
    inputs,
    mode,
    narrows,
    only_values,
    rules,
    runs,
    runs_commands_in,
    servers,
    variables,
    whole_file,
    widens,
)
from equipage.clients.grants import Grant
from equipage.clients.opencode.permissions import is_dead
from equipage.core.path import Path

#: A command in a text of Gemini.
_BRACED_COMMAND = r"!\{([^}]*)\}"

_ACTIONS = actions("permission")


def _read_live_actions(row: Row, value: Any, path: Path) -> Iterator[Grant]:
    """The rules that can match: what a dead one forbids is allowed."""
    for each in _ACTIONS.read(row, value, path):
        if each.effect == "allows" or not is_dead(*map(str, each.path[len(path) :] or "*")):
            yield each


_OPENCODE_AGENT_ROWS = (
    default_effect("tool", "allows"),
    default_effect("tool", "asks", "external_directory"),
    default_effect("tool", "asks", "doom_loop"),
    default_effect("tool", "asks", "read(*.env)"),
    default_effect("tool", "asks", "read(*.env.*)"),
    default_effect("tool", "allows", "read(*.env.example)"),
    allows("tools"),
    msgspec.structs.replace(_ACTIONS, read=_read_live_actions),
    narrows("disable"),
)

#: A project is read only if it is trusted, and then commands may write in it.
_CODEX_ROWS = (
    mode(
        "sandbox_mode",
        "read-only",
        "workspace-write",
        "danger-full-access",
        default="workspace-write",
    ),
    mode("approval_policy", "granular", "on-request", "on-failure", "never", default="on-request"),
    mode("approvals_reviewer", "user", "auto_review", "guardian_subagent", default="user"),
    mode("web_search", "disabled", "cached", "indexed", "live", default="cached"),
    widens("sandbox_workspace_write/network_access"),
    allows("sandbox_workspace_write/writable_roots", "path"),
    narrows("sandbox_workspace_write/exclude_slash_tmp"),
    narrows("sandbox_workspace_write/exclude_tmpdir_env_var"),
    servers("mcp_servers"),
    allows_each_value("skills", "skill"),
    allows_each_value("tools"),
    allows_only("tools/web_search/allowed_domains", "host", absent="asks"),
    hooks("hooks"),
)

_GEMINI_ROWS = (
    allows_only("tools/core", absent="asks"),
    allows_only("coreTools", absent="asks"),
    allows("tools/allowed"),
    allows("allowedTools"),
    asks("tools/confirmationRequired"),
    denies("tools/exclude", plain=True),
    denies("excludeTools", plain=True),
    widens("autoAccept"),
    widens("tools/autoAccept"),
    mode("general/defaultApprovalMode", "plan", "default", "auto_edit", "yolo", default="default"),
    mode("tools/approvalMode", "plan", "default", "auto-edit", "yolo", default="default"),
    narrows("tools/sandbox"),
    narrows("tools/sandbox/enabled"),
    # Written out, it beats the sandbox of the user.
    allows_names_among("tools/sandbox", "sandbox = false", "enabled = false"),
    allows_names_among("sandbox", "= false"),
    widens("tools/sandbox/networkAccess"),
    allows("tools/sandbox/allowedPaths", "path"),
    widens("tools/sandboxNetworkAccess"),
    allows("tools/sandboxAllowedPaths", "path"),
    runs("tools/discoveryCommand"),
    runs("tools/callCommand"),
    allows_only("mcp/allowed", "server", absent="asks"),
    denies("mcp/excluded", "server", plain=True),
    runs("mcp/serverCommand"),
    servers("mcpServers"),
    allows("context/includeDirectories", "path"),
    narrows("context/fileFiltering/respectGitIgnore", default=True),
    narrows("context/fileFiltering/respectGeminiIgnore", default=True),
    narrows("security/folderTrust/enabled", default=True),
    narrows("security/disableYoloMode"),
    narrows("security/disableAlwaysAllow"),
    narrows("security/blockGitExtensions"),
    allows_only("security/allowedExtensions", "plugin", absent="asks"),
    narrows("security/toolSandboxing"),
    widens("security/enablePermanentToolApproval"),
    widens("security/autoAddToPolicyByDefault"),
    any_change_widens("security/environmentVariableRedaction"),
    allows("policyPaths", "path"),
    allows("adminPolicyPaths", "path"),
    hooks("hooks"),
    narrows("hooksConfig/enabled", default=True),
    allows("hooksConfig/disabled", "setting"),
    allows("hooks/disabled", "setting"),
    widens("skills/enabled", default=True),
    denies("skills/disabled", "skill", plain=True),
    hosts("telemetry/otlpEndpoint"),
    allows("context/fileName", "path"),
    widens("context/loadMemoryFromIncludeDirectories"),
    runs("tools/shell/pager"),
    any_change_widens("advanced/excludedEnvVars"),
    any_change_widens("admin"),
    allows_each_value("agents", "agent"),
    allows_each_value("experimental"),
    any_change_widens("extensions", "plugin"),
    narrows("security/enableConseca"),
    # The names of the first version, which Gemini still takes.
    narrows("sandbox"),
    runs("mcpServerCommand"),
    runs("toolDiscoveryCommand"),
    runs("toolCallCommand"),
    allows_only("allowMCPServers", "server", absent="asks"),
    denies("excludeMCPServers", "server", plain=True),
    allows("includeDirectories", "path"),
    allows("contextFileName", "path"),
    widens("loadMemoryFromIncludeDirectories"),
    narrows("folderTrust"),
    narrows("enableHooks", default=True),
    any_change_widens("fileFiltering"),
)


#: kind → what has a reach in a file of it, and by which fields
TABLES: dict[str, tuple[Subject, ...]] = {
    # OpenCode: the last pattern that matches counts.
    "opencode-agent": whole_file(*_OPENCODE_AGENT_ROWS, precedence="last"),
    "opencode-command": whole_file(
        runs_commands_in("body", BANG_COMMAND), allows("agent", "agent")
    ),
    "opencode-config": (
        Subject(
            (
                *_OPENCODE_AGENT_ROWS,
                servers("mcp", "allows"),  # as every tool
                runs("lsp/*/command"),
                runs("formatter/*/command"),
                allows("plugin", "plugin"),
                allows("skills/paths", "path"),
                allows("skills/urls", "host"),
                allows("instructions", "path"),
                allows_each_value("provider/*/npm", "plugin"),
                hooks("experimental/hook"),
                allows_each_value("server", "host"),
                hosts("provider/*/options/baseURL"),
                hosts("enterprise/url"),
                guards("disabled_providers"),
                only_values("enabled_providers"),
                explicit_actions("permission"),
                mode("share", "disabled", "manual", "auto", default="manual"),
                widens("autoshare"),
                allows("default_agent", "agent"),
                allows_each_value("experimental"),
                disabled_when_false("lsp"),
                disabled_when_false("formatter"),
                variables("lsp/*/env"),
                variables("formatter/*/environment"),
                narrows("lsp/*/disabled"),
                narrows("formatter/*/disabled"),
                allows_each_value("provider/*/options/apiKey"),
                allows_each_value("provider/*/options/headers"),
            ),
            precedence="last",
        ),
        Subject(_OPENCODE_AGENT_ROWS, ("agent", "*"), "agent", precedence="last"),
        Subject(_OPENCODE_AGENT_ROWS, ("mode", "*"), "agent", precedence="last"),
        Subject(
            (runs_commands_in("template", BANG_COMMAND), allows("agent", "agent")),
            ("command", "*"),
            "command",
        ),
    ),
    # Codex.
    "codex-agent": whole_file(*_CODEX_ROWS),
    "codex-config": whole_file(
        *_CODEX_ROWS,
        any_change_widens("default_permissions"),
        any_change_widens("permissions"),
        widens("allow_login_shell", default=True),
        mode("shell_environment_policy/inherit", "none", "core", "all", default="all"),
        denies("shell_environment_policy/exclude", "variable"),
        allows_only("shell_environment_policy/include_only", "variable"),
        widens("shell_environment_policy/ignore_default_excludes"),
        any_change_widens("apps"),
        widens("agents/enabled", default=True),
        allows_each_value("features"),
        allows_each_value("profiles"),
        any_change_widens("profile"),
        any_change_widens("hooks/state"),
        any_change_widens("shell_environment_policy/set"),
        allows_each_value("browser_use"),
        allows_each_value("computer_use"),
        mode("projects/*/trust_level", "untrusted", "trusted", default="untrusted"),
        allows("plugins", "plugin"),
        allows("marketplaces", "plugin"),
        runs("notify"),
        any_change_widens("agents/max_depth"),
        any_change_widens("agents/max_concurrent_threads_per_session"),
        any_change_widens("agents/max_threads"),
        any_change_widens("windows"),
        any_change_widens("project_root_markers"),
        widens("shell_environment_policy/experimental_use_profile"),
        widens("experimental_use_unified_exec_tool"),
        allows_each_value("otel", "host"),
        allows_each_value("tool_suggest"),
        allows_each_value("model_provider", "host"),
        allows_each_value("oss_provider", "host"),
        # What goes to a provider with each request, and the program that signs in.
        *(
            allows_each_value(f"model_providers/*/{name}")
            for name in ("env_key", "env_http_headers", "http_headers", "query_params", "auth")
        ),
        *(
            allows(name, "path")
            for name in ("model_instructions_file", "experimental_compact_prompt_file")
        ),
        *(allows(name, "path") for name in ("model_catalog_json", "log_dir", "sqlite_home")),
        only_values("forced_login_method"),
        hosts("chatgpt_base_url"),
        hosts("mcp_oauth_callback_url"),
        hosts("model_providers/*/base_url"),
        hosts("openai_base_url"),
        allows("project_doc_fallback_filenames", "path"),
    ),
    "codex-hooks": whole_file(hooks("hooks")),
    # What the rules themselves say, `clients.codex.permissions` reads.
    "codex-rules": whole_file(default_effect("tool", "asks"), sort="policy"),
    "codex-skill-metadata": whole_file(
        widens("policy/allow_implicit_invocation", default=True),
        # Servers that the skill wants.
        *(
            allows_each_value(f"dependencies/tools/*/{name}", "server")
            for name in ("type", "value", "transport", "url", "command")
        ),
        sort="skill",
    ),
    "codex-plugin": whole_file(*PLUGIN_ROWS, allows_each_value("apps")),
    # Gemini CLI and Qwen Code.
    "gemini-settings": whole_file(*_GEMINI_ROWS),
    "gemini-extension": whole_file(
        denies("excludeTools", plain=True),
        servers("mcpServers"),
        allows_each_value("migratedTo", "plugin"),
    ),
    "gemini-policy": whole_file(
        default_effect("tool", "asks"),
        rules(
            "rule",
            "toolName",
            "decision",
            {"allow": "allows", "deny": "denies", "ask_user": "asks"},
            "commandPrefix",
            "commandRegex",
            "argsPattern",
            "modes",
            "subagent",
        ),
        any_change_widens("safety_checker"),
        precedence="first",
    ),
    "gemini-agent": whole_file(
        allows_only("tools"),
        servers("mcpServers"),
        hosts("agent_card_url"),
        allows_each_value("agent_card_json", "host"),
        allows_each_value("auth"),
    ),
    "gemini-command": whole_file(runs_commands_in("prompt", _BRACED_COMMAND)),
    "qwen-settings": whole_file(
        *_GEMINI_ROWS,
        hosts("security/auth/baseUrl"),
        allows("permissions/allow"),
        asks("permissions/ask"),
        denies("permissions/deny"),
    ),
    "qwen-agent": whole_file(
        allows_only("tools"),
        denies("disallowedTools"),
        mode("approvalMode", "plan", "default", "auto-edit", "yolo", default="default"),
        sort="agent",
    ),
    # Amp: the first rule that matches counts.
    "amp-settings": whole_file(
        default_effect("tool", "asks"),
        rules(
            "amp.permissions",
            "tool",
            "action",
            {"allow": "allows", "reject": "denies", "ask": "asks", "delegate": "asks"},
            "matches",
            "context",
            "to",
        ),
        denies("amp.tools.disable", "plugin", plain=True),
        widens("amp.dangerouslyAllowAll"),
        allows("amp.commands.allowlist", "program"),
        allows("amp.guardedFiles.allowlist", "path"),
        allows("amp.toolbox.path", "path"),
        allows("amp.skills.path", "path"),
        any_change_widens("amp.mcpPermissions"),
        servers("amp.mcpServers"),
        precedence="first",
    ),
    "goose-config": whole_file(
        mode("GOOSE_MODE", "chat", "approve", "smart_approve", "auto", default="auto"),
        # Written out, it beats a stricter one of the user.
        allows_names_among("GOOSE_MODE", "= auto"),
        any_change_widens("GOOSE_ALLOWLIST"),
        servers("extensions"),
    ),
    "goose-recipe": whole_file(
        servers("extensions"),
        allows("sub_recipes/*/path", "agent"),
        runs("retry/checks/*/command"),
        runs("retry/on_failure"),
    ),
    # Lists of MCP servers.
    "mcp": (*whole_file(servers("servers"), sort="servers"), inputs("inputs")),
}
