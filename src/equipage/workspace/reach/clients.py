"""What each client reads as a permission: one table for each kind of file.

The facts are those of the clients' documentation and of runs. A field that restricts and is not
here must be in `NOT_REACH`, with a reason; a test holds this.
"""

from __future__ import annotations

from typing import Any

import msgspec

from equipage.kinds.conventions.tools import CONVENTIONS
from equipage.kinds.defect.trust import DEFAULT_SANDBOX, SANDBOXES
from equipage.workspace.reach.rows import (
    Row,
    actions,
    allows,
    anything,
    asks,
    denies,
    embedded,
    guards,
    has,
    hooks,
    hosts,
    mode,
    narrows,
    only,
    opaque,
    rules,
    runs,
    servers,
    usually,
    variables,
    widens,
)
from equipage.workspace.reach.values import Precedence


class Subject(msgspec.Struct, frozen=True):
    """Something in a file that has a reach: the file itself, or each of the agents in it."""

    rows: tuple[Row, ...]
    at: tuple[str, ...] = ()  #: the keys that lead to it; `*` is every key or entry
    sort: str = ""  #: what it is; empty: what `list` calls the file
    names: tuple[str, ...] = ("name", "id", "slug")  #: the fields that name an entry of a list
    precedence: Precedence = "strictest"


def _one(*rows: Row, sort: str = "", precedence: Precedence = "strictest") -> tuple[Subject, ...]:
    return (Subject(rows, sort=sort, precedence=precedence),)


#: The modes of Claude Code from narrow to wide.
_CLAUDE_MODES = ("plan", "dontAsk", "default", "acceptEdits", "auto", "bypassPermissions")
#: A command in a text of Claude Code or OpenCode; one of Gemini.
_BANG, _BRACES = r"!`([^`\n]+)`", r"!\{([^}]*)\}"

_CLAUDE_SETTINGS = (
    usually("tool", "asks"),
    allows("permissions/allow"),
    asks("permissions/ask"),
    denies("permissions/deny"),
    # `manual` is another word for `default`; it has the same level, but a name of its own.
    mode("permissions/defaultMode", *_CLAUDE_MODES, default="default"),
    mode("permissions/disableBypassPermissionsMode", "disable", "", default=""),
    mode("permissions/disableAutoMode", "disable", "", default=""),
    mode("disableAutoMode", "disable", "", default=""),
    opaque("autoMode"),
    allows("permissions/additionalDirectories", "path"),
    narrows("sandbox/enabled"),
    widens("sandbox/autoAllowBashIfSandboxed", default=True),
    widens("sandbox/allowUnsandboxedCommands", default=True),
    narrows("sandbox/failIfUnavailable"),
    widens("sandbox/enableWeakerNestedSandbox"),
    widens("sandbox/enableWeakerNetworkIsolation"),
    allows("sandbox/excludedCommands", "program"),
    anything("sandbox/ignoreViolations"),
    allows("sandbox/filesystem/allowWrite", "path"),
    denies("sandbox/filesystem/denyWrite", "path"),
    allows("sandbox/filesystem/allowRead", "path"),
    denies("sandbox/filesystem/denyRead", "path"),
    usually("host", "asks"),
    allows("sandbox/network/allowedDomains", "host"),
    denies("sandbox/network/deniedDomains", "host"),
    narrows("sandbox/network/strictAllowlist"),
    narrows("sandbox/network/allowManagedDomainsOnly"),
    widens("sandbox/network/allowLocalBinding"),
    widens("sandbox/network/allowAllUnixSockets"),
    allows("sandbox/network/allowUnixSockets", "path"),
    # Another proxy than that of the client decides which hosts are reached.
    opaque("sandbox/network/httpProxyPort"),
    opaque("sandbox/network/socksProxyPort"),
    usually("server", "asks"),
    widens("enableAllProjectMcpServers"),
    allows("enabledMcpjsonServers", "server"),
    denies("disabledMcpjsonServers", "server", plain=True),
    has("allowedMcpServers", "server", absent="asks"),
    denies("deniedMcpServers", "server"),
    hooks("hooks"),
    widens("disableAllHooks"),
    narrows("allowManagedHooksOnly"),
    narrows("allowManagedPermissionRulesOnly"),
    narrows("allowManagedMcpServersOnly"),
    has("allowedHttpHookUrls", "host", absent="asks"),
    has("httpHookAllowedEnvVars", "variable", absent="asks"),
    has("sshHostAllowlist", "host", absent="asks"),
    mode("skillOverrides/*", "off", "user-invocable-only", "name-only", "on", default="on"),
    allows("enabledPlugins", "plugin"),
    allows("extraKnownMarketplaces", "plugin"),
    anything("extraKnownMarketplaces"),
    has("strictKnownMarketplaces", "plugin", absent="asks"),
    denies("blockedMarketplaces", "plugin"),
    opaque("strictPluginOnlyCustomization"),
    *(
        narrows(name)
        for name in (
            "disableBundledSkills",
            "disableSkillShellExecution",
            "disableSideloadFlags",
            "disableWorkflows",
            "disableRemoteControl",
            "disableBrowserExternalNavigation",
            "requireCoworkFullVmSandbox",
        )
    ),
    widens("skipDangerousModePermissionPrompt"),
    # Variables decide which programs are found and where requests go.
    variables("env"),
    allows("agent", "agent"),
    *(
        runs(name)
        for name in (
            "apiKeyHelper",
            "awsAuthRefresh",
            "awsCredentialExport",
            "gcpAuthRefresh",
            "otelHeadersHelper",
            "processWrapper",
            "policyHelper/path",
            "statusLine/command",
            "subagentStatusLine/command",
            "fileSuggestion/command",
        )
    ),
)

#: What commands and skills of Claude Code share; other tools read most of it, too.
_CALLED = (
    usually("tool", "asks"),
    allows("allowed-tools"),
    denies("disallowed-tools"),
    narrows("disable-model-invocation"),
    narrows("hide-from-slash-command-tool"),
    hooks("hooks"),
    embedded("body", _BANG),
)

#: What a plugin brings, for every client with plugins.
_PLUGIN = (
    servers("mcpServers"),
    hooks("hooks"),
    servers("lspServers"),
    allows("agents", "agent"),
    allows("commands", "agent"),
    allows("skills", "skill"),
)

_OPENCODE_AGENT = (
    usually("tool", "allows"),
    usually("tool", "asks", "external_directory"),
    usually("tool", "asks", "doom_loop"),
    usually("tool", "asks", "read(*.env)"),
    usually("tool", "asks", "read(*.env.*)"),
    usually("tool", "allows", "read(*.env.example)"),
    allows("tools"),
    actions("permission"),
    narrows("disable"),
)

#: A project is read only if it is trusted, and then commands may write in it.
_CODEX = (
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
    anything("skills", "skill"),
    anything("tools"),
    has("tools/web_search/allowed_domains", "host", absent="asks"),
)

_GEMINI_TOOLS = (
    has("tools/core", absent="asks"),
    has("coreTools", absent="asks"),
    allows("tools/allowed"),
    allows("allowedTools"),
    asks("tools/confirmationRequired"),
    denies("tools/exclude", plain=True),
    denies("excludeTools", plain=True),
    widens("autoAccept"),
    mode("general/defaultApprovalMode", "plan", "default", "auto_edit", "yolo", default="default"),
    mode("tools/approvalMode", "plan", "default", "auto-edit", "yolo", default="default"),
    narrows("tools/sandbox"),
    narrows("tools/sandbox/enabled"),
    widens("tools/sandbox/networkAccess"),
    allows("tools/sandbox/allowedPaths", "path"),
    widens("tools/sandboxNetworkAccess"),
    allows("tools/sandboxAllowedPaths", "path"),
    runs("tools/discoveryCommand"),
    runs("tools/callCommand"),
    has("mcp/allowed", "server", absent="asks"),
    denies("mcp/excluded", "server", plain=True),
    runs("mcp/serverCommand"),
    servers("mcpServers"),
    allows("context/includeDirectories", "path"),
    narrows("context/fileFiltering/respectGitIgnore", default=True),
    narrows("context/fileFiltering/respectGeminiIgnore", default=True),
    narrows("security/folderTrust/enabled"),
    narrows("security/disableYoloMode"),
    narrows("security/disableAlwaysAllow"),
    narrows("security/blockGitExtensions"),
    has("security/allowedExtensions", "plugin", absent="asks"),
    narrows("security/toolSandboxing"),
    widens("security/enablePermanentToolApproval"),
    widens("security/autoAddToPolicyByDefault"),
    opaque("security/environmentVariableRedaction"),
    allows("policyPaths", "path"),
    allows("adminPolicyPaths", "path"),
    hooks("hooks"),
    narrows("hooksConfig/enabled", default=True),
    allows("hooksConfig/disabled", "setting"),
    widens("skills/enabled", default=True),
    denies("skills/disabled", "skill", plain=True),
    hosts("telemetry/otlpEndpoint"),
)

_SERVERS = (servers("servers"),)

#: Findings about the policy of a project.
_OF_POLICY = ("policy-forbids", "policy-not-pinned")

#: kind → what has a reach in a file of it, and by which fields
TABLES: dict[str, tuple[Subject, ...]] = {
    # Claude Code.
    "claude-agent": _one(
        has("tools"),
        denies("disallowedTools"),
        mode("permissionMode", *_CLAUDE_MODES, default="default"),
        allows("skills", "skill"),
        servers("mcpServers"),
        hooks("hooks"),
        # Without a worktree of its own, it writes where everybody works.
        guards("isolation"),
        # Files that it reads and writes from one session to the next.
        anything("memory"),
    ),
    "claude-command": _one(*_CALLED),
    "claude-settings": _one(*_CLAUDE_SETTINGS),
    "claude-hooks": _one(hooks("hooks")),
    "claude-plugin": _one(*_PLUGIN, runs("monitors/*/command"), allows("dependencies", "plugin")),
    "claude-marketplace": _one(
        anything("plugins/*/source", "plugin"),
        servers("plugins/*/mcpServers"),
        servers("plugins/*/lspServers"),
        hooks("plugins/*/hooks"),
        allows("allowCrossMarketplaceDependenciesOn", "plugin"),
    ),
    "claude-lsp": _one(servers("servers")),
    # Skills, whichever client reads them.
    "skill": _one(*_CALLED, allows("allowedTools")),  # as Qwen Code names the field
    # GitHub Copilot.
    "copilot-agent": _one(
        has("tools"),
        narrows("disable-model-invocation"),
        widens("infer", default=True),  # the old word for the same
        has("agents", "agent"),
        allows("handoffs/*/agent", "agent"),
        servers("mcp-servers"),
        hooks("hooks"),
    ),
    "copilot-prompt": _one(has("tools"), sort="command"),
    "copilot-hooks": _one(hooks("hooks"), widens("disableAllHooks")),
    "copilot-settings": _one(
        usually("host", "asks"),
        allows("allowedUrls", "host"),
        denies("deniedUrls", "host"),
        allows("enabledPlugins", "plugin"),
        allows("extraKnownMarketplaces", "plugin"),
        hooks("hooks"),
        widens("disableAllHooks"),
    ),
    "agentic-workflow": _one(
        opaque("permissions"),
        opaque("tools", "tool"),
        opaque("network", "host"),
        has("roles", "agent", absent="asks"),
        allows("bots", "agent"),
        servers("mcp-servers"),
        opaque("safe-outputs"),
        narrows("strict", default=True),
        opaque("sandbox"),
        anything("steps", "program"),
        anything("post-steps", "program"),
        anything("jobs", "program"),
        anything("safe-inputs", "program"),
        anything("engine"),
        allows("imports", "agent"),
        allows("secrets", "variable"),
        variables("env"),
    ),
    # OpenCode: the last pattern that matches counts.
    "opencode-agent": _one(*_OPENCODE_AGENT, precedence="last"),
    "opencode-command": _one(embedded("body", _BANG)),
    "opencode-config": (
        Subject(
            (
                *_OPENCODE_AGENT,
                servers("mcp"),
                runs("lsp/*/command"),
                runs("formatter/*/command"),
                allows("plugin", "plugin"),
                allows("skills/paths", "path"),
                allows("skills/urls", "host"),
                allows("instructions", "path"),
                anything("provider/*/npm", "plugin"),
                hooks("experimental/hook"),
                anything("server", "host"),
                hosts("provider/*/options/baseURL"),
                hosts("enterprise/url"),
                mode("share", "disabled", "manual", "auto", default="manual"),
            ),
            precedence="last",
        ),
        Subject(_OPENCODE_AGENT, ("agent", "*"), "agent", precedence="last"),
        Subject(_OPENCODE_AGENT, ("mode", "*"), "agent", precedence="last"),
        Subject((embedded("template", _BANG),), ("command", "*"), "command"),
    ),
    # Codex.
    "codex-agent": _one(*_CODEX),
    "codex-config": _one(
        *_CODEX,
        opaque("default_permissions"),
        opaque("permissions"),
        widens("allow_login_shell", default=True),
        mode("shell_environment_policy/inherit", "none", "core", "all", default="all"),
        denies("shell_environment_policy/exclude", "variable"),
        has("shell_environment_policy/include_only", "variable"),
        widens("shell_environment_policy/ignore_default_excludes"),
        opaque("apps"),
        widens("agents/enabled", default=True),
        anything("features"),
        anything("profiles"),
        opaque("shell_environment_policy/set"),
        anything("browser_use"),
        anything("computer_use"),
        mode("projects/*/trust_level", "untrusted", "trusted", default="untrusted"),
        allows("plugins", "plugin"),
        allows("marketplaces", "plugin"),
        hooks("hooks"),
        runs("notify"),
        hosts("model_providers/*/base_url"),
        hosts("openai_base_url"),
        allows("project_doc_fallback_filenames", "path"),
    ),
    "codex-hooks": _one(hooks("hooks")),
    # What the rules themselves say, `views.codex_rules` reads.
    "codex-rules": _one(usually("tool", "asks"), sort="policy"),
    "codex-skill-metadata": _one(
        widens("policy/allow_implicit_invocation", default=True), sort="skill"
    ),
    "codex-plugin": _one(*_PLUGIN, anything("apps")),
    # Gemini CLI and Qwen Code.
    "gemini-settings": _one(*_GEMINI_TOOLS),
    "gemini-extension": _one(denies("excludeTools", plain=True), servers("mcpServers")),
    "gemini-policy": _one(
        usually("tool", "asks"),
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
        opaque("safety_checker"),
        precedence="first",
    ),
    "gemini-agent": _one(has("tools"), servers("mcpServers"), hosts("agent_card_url")),
    "gemini-command": _one(embedded("prompt", _BRACES)),
    "qwen-settings": _one(
        *_GEMINI_TOOLS,
        allows("permissions/allow"),
        asks("permissions/ask"),
        denies("permissions/deny"),
    ),
    "qwen-agent": _one(
        has("tools"),
        denies("disallowedTools"),
        mode("approvalMode", "plan", "default", "auto-edit", "yolo", default="default"),
        sort="agent",
    ),
    # Cursor.
    "cursor-agent": _one(narrows("readonly")),
    "cursor-permissions": _one(
        usually("tool", "asks"), allows("permissions/allow"), denies("permissions/deny")
    ),
    "cursor-hooks": _one(hooks("hooks"), narrows("hooks/*/*/failClosed")),
    "cursor-environment": _one(
        runs("install"),
        runs("start"),
        runs("terminals/*/command"),
        anything("build", "program"),
        allows("repositoryDependencies", "host"),
    ),
    "cursor-plugin": _one(*_PLUGIN),
    # Editors.
    "windsurf-hooks": _one(hooks("hooks")),
    "windsurf-workflow": _one(mode("auto_execution_mode", 0, 1, 2, 3, default=0)),
    "openhands-microagent": _one(anything("mcp_tools", "server")),
    "roo-modes": (
        Subject((has("groups", absent="denies"),), ("customModes", "*"), "agent", ("slug", "name")),
    ),
    "kiro-agent": _one(
        has("tools"),
        allows("allowedTools", "setting"),
        opaque("toolsSettings"),
        servers("mcpServers"),
        widens("includeMcpJson"),
        widens("useLegacyMcpJson"),
        allows("resources", "path"),
        hooks("hooks"),
        sort="agent",
    ),
    "kiro-hook": _one(runs("then/command"), widens("enabled", default=True)),
    "zed-settings": (
        Subject(
            (
                servers("context_servers"),
                widens("agent/always_allow_tool_actions"),
                opaque("agent/tool_permissions"),
            )
        ),
        Subject(
            (
                usually("tool", "denies"),
                allows("tools"),
                widens("enable_all_context_servers"),
                allows("context_servers", "server"),
            ),
            ("agent", "profiles", "*"),
            "agent",
        ),
    ),
    # Amp: the first rule that matches counts.
    "amp-settings": _one(
        usually("tool", "asks"),
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
        opaque("amp.mcpPermissions", "server"),
        servers("amp.mcpServers"),
        precedence="first",
    ),
    # Teams of agents in one file.
    "docker-agent": (
        Subject(
            (
                usually("tool", "asks"),
                allows("permissions/allow"),
                asks("permissions/ask"),
                denies("permissions/deny"),
                servers("mcps"),
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
    "crewai-tasks": (Subject((allows("tools"),), ("tasks", "*"), "agent"),),
    "goose-recipe": _one(
        servers("extensions"),
        allows("sub_recipes/*/path", "agent"),
        runs("retry/checks/*/command"),
        runs("retry/on_failure"),
    ),
    "goose-config": _one(
        mode("GOOSE_MODE", "chat", "approve", "smart_approve", "auto", default="auto"),
        opaque("GOOSE_ALLOWLIST"),
        servers("extensions"),
    ),
    "continue-config": _one(servers("mcpServers")),
    "aider-config": _one(
        widens("yes-always"),
        widens("suggest-shell-commands", default=True),
        runs("lint-cmd"),
        runs("test-cmd"),
        runs("notifications-command"),
        opaque("aiderignore"),
        hosts("openai-api-base"),
    ),
    # MCP servers.
    "mcp": _one(*_SERVERS, sort="servers"),
    "mcp-bundle": _one(servers("server"), sort="servers"),
    # The seeds' own kinds.
    "profile": _one(
        Row(("tools", "allow"), "tool", allows("x").read, otherwise="denies"), hooks("hooks")
    ),
    "settings": _one(
        mode("sandbox/mode", *SANDBOXES, default=DEFAULT_SANDBOX),
        widens("tools/fetch/enabled", default=True),
        mode("capabilities/web_search/mode", "disabled", "delegate", default="disabled"),
        servers("mcp/servers"),
        hooks("hooks"),
        allows("providers/*/base_url", "host"),
        allows("providers/*/auth_header", "variable"),
        allows("providers/*/api_key_env", "variable"),
        anything("providers/*/headers"),
        anything("http/proxy", "host"),
    ),
    # The settings of equipage itself: what is not looked at is not judged, and a policy that
    # forbids less lets agents do more.
    "project": _one(
        anything("exclude"),
        anything("include"),
        narrows("conventions", default=True),
        anything("kinds"),
        only("ignore", *_OF_POLICY),
        only("per-file-ignores/*", *_OF_POLICY),
        *(denies(f"policy/never/{name}s", name) for name in ("tool", "server", "host", "program")),
        denies("policy/never/modes", "setting"),
        narrows("policy/pins"),
        anything("policy/may-widen"),
        sort="settings",
    ),
    "agent_md": _one(Row(("profile", "tools"), "tool", allows("x").read, otherwise="denies")),
    "blueprint": tuple(
        Subject((Row(at, "tool", allows("x").read, otherwise="denies"),), (group, "*"), "agent")
        for group, at in (
            ("agents", ("profile", "tools")),
            ("operators", ("profile", "tools")),
            ("runners", ("runner", "tools")),
        )
    ),
    "toolpack": _one(
        allows("caps/network", "host"),
        allows("caps/filesystem/read", "path"),
        Row(("caps", "filesystem", "write"), "path", allows("x").read),
        widens("caps/subprocess"),
        allows("env/passthrough", "variable"),
        anything("execution", "program"),
        anything("timeoutMs"),
        anything("limits"),
        sort="tool",
    ),
}
#: Fields that restrict something other than what an agent may do, and what that is.
NOT_REACH: dict[tuple[str, str], str] = {
    ("claude-settings", "availableModels"): "which models, not what they may do",
    ("claude-settings", "enforceAvailableModels"): "which models, not what they may do",
    ("claude-settings", "forceLoginMethod"): "who signs in",
    ("claude-settings", "forceLoginOrgUUID"): "who signs in",
    ("claude-settings", "forceLoginGatewayUrl"): "who signs in",
    ("claude-settings", "requiredMinimumVersion"): "which version runs",
    ("claude-settings", "requiredMaximumVersion"): "which version runs",
    ("opencode-config", "disabled_providers"): "which models, not what they may do",
    ("opencode-config", "enabled_providers"): "which models, not what they may do",
    ("codex-config", "forced_login_method"): "who signs in",
    ("langgraph", "auth"): "who may call the graph, not what it may do",
    **{
        ("a2a-card", f"{where}{name}"): "who may call the agent, not what it may do"
        for where in ("", "skills.*.")
        for name in ("security", "securityRequirements", "securitySchemes")
    },
}


#: The programs whose formats are kinds of their own; those of conventions are in their tables.
_PROGRAMS = {
    "server": "ThoughtJack",
    "blueprint": "mlua_swarm",
    "agent_md": "mlua_swarm",
    "toolpack": "RAGX",
    "profile": "defect",
    "settings": "defect",
    "skill": "any program with skills",
    "mcp": "any MCP client",
    "project": "equipage",
} | {each.kind: each.tool for each in reversed(CONVENTIONS)}


def program_of(kind: str) -> str:
    """The program that files of a kind are for."""
    return _PROGRAMS.get(kind, "an installed package")


def subjects_of(kind: str) -> tuple[Subject, ...] | None:
    """The table of a kind; None if there is none."""
    return TABLES.get(kind)


def precedence_of(kind: str) -> Precedence:
    """Which grant decides in files of a kind."""
    subjects = TABLES.get(kind, ())
    return subjects[0].precedence if subjects else "strictest"


def value_with_defaults(kind: str, value: Any) -> Any:
    """The value with what its format gives an agent that says nothing."""
    if kind == "profile" and isinstance(value, dict) and not value.get("tools"):
        from equipage.kinds.defect.profile_model import READ_ONLY  # its load imported it, too

        return {**value, "tools": {"allow": list(READ_ONLY)}}
    return value
