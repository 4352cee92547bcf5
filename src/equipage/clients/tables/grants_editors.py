"""What editors and GitHub read as a permission: Copilot, Cursor, Zed and others."""

from __future__ import annotations

import msgspec

from equipage.clients import copilot
from equipage.clients.grant_rows import (
    PLUGIN_ROWS,
    Subject,
    access_levels,
    allows,
    allows_each_value,
    allows_only,
    any_change_widens,
    default_effect,
    denies,
    hooks,
    hosts,
    inputs,
    mode,
    narrows,
    other_keys,
    runs,
    runs_commands_in,
    servers,
    variables,
    whole_file,
    widens,
)
from equipage.clients.tables.grants_claude import MODES

_COPILOT_TOOLS = msgspec.structs.replace(allows_only("tools"), read=copilot.read_tools)

_VSCODE_ROWS = (
    widens("chat.tools.autoApprove"),
    widens("chat.tools.global.autoApprove"),
    widens("chat.tools.terminal.ignoreDefaultAutoApproveRules"),
    *(
        any_change_widens(f"chat.tools.{name}")
        for name in (
            "terminal.blockDetectedFileWrites",
            "terminal.sandbox.enabled",
            "terminal.sandbox",
        )
    ),
    *(
        any_change_widens(f"chat.tools.{name}", false_denies=True)
        for name in (
            "terminal.autoApprove",
            "edits.autoApprove",
            "urls.autoApprove",
            "eligibleForAutoApproval",
        )
    ),
    servers("mcp/servers"),
    any_change_widens("chat.mcp.access"),
    allows_each_value("chat.mcp.discovery.enabled"),
    allows_each_value("chat.mcp.autostart"),
    allows_each_value("chat.mcp.serverSampling"),
    allows_each_value("chat.plugins.marketplaces", "plugin"),
    allows("chat.plugins.paths", "plugin"),
    allows("chat.hookFilesLocations", "path"),
    narrows("chat.useHooks", default=True),
    *(
        allows(f"chat.{name}Locations", "path")
        for name in ("agentFiles", "modeFiles", "promptFiles", "instructionsFiles")
    ),
    allows("chat.agentSkillsLocations", "path"),
    allows_each_value("github.copilot.chat.agent.runTasks"),
    allows("github.copilot.chat.additionalReadAccessFolders", "path"),
    widens("claudeCode.allowDangerouslySkipPermissions"),
    mode("claudeCode.initialPermissionMode", *MODES, default="default"),
    runs("claudeCode.claudeProcessWrapper"),
    allows_each_value("claudeCode.environmentVariables", "variable"),
    *(allows(f"{name}.allowedCommands", "program") for name in ("roo-cline", "kilo-code")),
    *(denies(f"{name}.deniedCommands", "program") for name in ("roo-cline", "kilo-code")),
    allows("kiroAgent.trustedCommands", "program"),
    allows("windsurf.cascadeCommandsAllowList", "program"),
    denies("windsurf.cascadeCommandsDenyList", "program"),
    widens("amp.dangerouslyAllowAll"),
    servers("amp.mcpServers"),
    any_change_widens("amp.permissions"),
)
#: What Windsurf runs without a question: the step below such a line, or every step.
_TURBO = r"(?m:^)[ \t]*//[ \t]*(turbo-all\b|turbo[ \t]*\n.*?(?=\n[ \t]*(?:\d+\.|//|#)|\Z))"
#: How the keys of VS Code begin that decide what agents in it may do, or with what.
_VSCODE_STARTS = (
    *("chat.", "inlineChat.", "github.copilot", "mcp.", "terminal.integrated.env."),
    *("terminal.integrated.profiles.", "terminal.integrated.automationProfile."),
    *("terminal.integrated.defaultProfile.", "task.allowAutomaticTasks", "security.workspace."),
    *("http.proxy", "python.defaultInterpreterPath", "git.path"),
    # Clients that run in it.
    *("claudeCode.", "claude-code.", "chatgpt.", "codex.", "cline.", "roo-cline.", "kilo-code."),
    *("kiloCode.", "kiroAgent.", "windsurf.", "amp.", "geminicodeassist.", "gemini-cli."),
    *("cursor.", "augment.", "continue.", "qwen-code.", "zencoder.", "amazonQ.", "opencode."),
)

#: kind → what has a reach in a file of it, and by which fields
TABLES: dict[str, tuple[Subject, ...]] = {
    # VS Code, and what runs in it; `clients.plugins` reads the file.
    "vscode-settings": (
        *whole_file(
            *_VSCODE_ROWS,
            other_keys(*_VSCODE_STARTS, known=("mcp", *(row.at[0] for row in _VSCODE_ROWS))),
            sort="settings",
        ),
        inputs("mcp", "inputs"),
    ),
    # GitHub Copilot.
    "copilot-agent": whole_file(
        _COPILOT_TOOLS,
        narrows("disable-model-invocation"),
        widens("infer", default=True),  # the old word for the same
        allows_only("agents", "agent"),
        allows("handoffs/*/agent", "agent"),
        widens("handoffs/*/send"),
        servers("mcp-servers"),
        hooks("hooks"),
    ),
    "copilot-prompt": whole_file(
        _COPILOT_TOOLS, allows("agent", "agent"), allows("mode", "agent"), sort="command"
    ),
    "copilot-hooks": whole_file(hooks("hooks"), widens("disableAllHooks")),
    "copilot-settings": whole_file(
        default_effect("host", "asks"),
        allows("allowedUrls", "host"),
        denies("deniedUrls", "host"),
        allows("enabledPlugins", "plugin"),
        allows("extraKnownMarketplaces", "plugin"),
        allows_each_value("extraKnownMarketplaces"),
        hooks("hooks"),
        widens("disableAllHooks"),
    ),
    "agentic-workflow": whole_file(
        access_levels("permissions"),
        any_change_widens("tools", "tool"),
        any_change_widens("network", "host"),
        allows_only("roles", "agent", absent="asks"),
        allows("bots", "agent"),
        servers("mcp-servers"),
        any_change_widens("safe-outputs"),
        narrows("strict", default=True),
        any_change_widens("sandbox"),
        allows_each_value("steps", "program"),
        allows_each_value("post-steps", "program"),
        allows_each_value("jobs", "program"),
        allows_each_value("safe-inputs", "program"),
        *(
            allows_each_value(name, "program")
            for name in ("pre-steps", "pre-agent-steps", "mcp-scripts", "container", "services")
        ),
        # Who and what starts it, and where it runs.
        *(
            any_change_widens(name)
            for name in ("on", "if", "skip-roles", "skip-bots", "rate-limit")
        ),
        *(allows_each_value(name) for name in ("runs-on", "environment", "features", "runtimes")),
        *(allows_each_value(name) for name in ("checkout", "github-token", "observability")),
        *(
            allows_each_value(name, "plugin")
            for name in ("plugins", "dependencies", "apm", "redirect")
        ),
        allows_each_value("engine"),
        allows("imports", "agent"),
        allows("secrets", "variable"),
        variables("env"),
    ),
    # Cursor.
    "cursor-agent": whole_file(
        # A new one has the tools of the one that starts it.
        default_effect("setting", "allows", "tools = *"),
        narrows("readonly"),
    ),
    "cursor-permissions": whole_file(
        default_effect("tool", "asks"), allows("permissions/allow"), denies("permissions/deny")
    ),
    "cursor-hooks": whole_file(hooks("hooks"), narrows("hooks/*/*/failClosed")),
    "cursor-environment": whole_file(
        runs("install"),
        runs("start"),
        runs("terminals/*/command"),
        allows_each_value("build", "program"),
        allows("repositoryDependencies", "host"),
        allows_each_value("snapshot", "program"),
        allows_each_value("user"),
        allows_each_value("ports", "host"),
        allows_each_value("persistedDirectories", "path"),
        widens("agentCanUpdateSnapshot"),
    ),
    "cursor-plugin": whole_file(*PLUGIN_ROWS),
    # Editors.
    "windsurf-hooks": whole_file(hooks("hooks")),
    "windsurf-workflow": whole_file(
        mode("auto_execution_mode", 0, 1, 2, 3, default=0), runs_commands_in("body", _TURBO)
    ),
    "openhands-microagent": whole_file(allows_each_value("mcp_tools", "server")),
    "roo-modes": (
        Subject(
            (allows_only("groups", absent="denies"),),
            ("customModes", "*"),
            "agent",
            ("slug", "name"),
        ),
    ),
    "kiro-agent": whole_file(
        allows_only("tools"),
        allows("allowedTools", "setting"),
        any_change_widens("toolsSettings"),
        servers("mcpServers"),
        widens("includeMcpJson"),
        widens("useLegacyMcpJson"),
        allows("resources", "path"),
        allows_each_value("toolAliases"),
        hooks("hooks"),
        sort="agent",
    ),
    "kiro-hook": whole_file(
        runs("then/command"), widens("enabled", default=True), allows_each_value("when")
    ),
    "zed-settings": (
        Subject(
            (
                servers("context_servers"),
                widens("agent/always_allow_tool_actions"),
                any_change_widens("agent/tool_permissions"),
                allows("agent/default_profile", "agent"),
                servers("agent_servers"),
            )
        ),
        Subject(
            (
                default_effect("tool", "denies"),
                allows("tools"),
                widens("enable_all_context_servers"),
                allows("context_servers", "server"),
            ),
            ("agent", "profiles", "*"),
            "agent",
        ),
    ),
    "continue-config": whole_file(
        servers("mcpServers"),
        *(allows(f"{name}/*/uses", "plugin") for name in ("mcpServers", "rules", "prompts")),
        *(allows(f"{name}/*/uses", "plugin") for name in ("models", "context", "docs")),
        hosts("models/*/apiBase"),
        allows_each_value("requestOptions"),
        allows_each_value("data", "host"),
        allows_each_value("context/*/provider"),
        variables("env"),
    ),
    "roo-command": whole_file(allows("mode", "agent")),
}
