"""What editors and GitHub read as a permission: Copilot, Cursor, Zed and others."""

from __future__ import annotations

from equipage.workspace.reach.claude import MODES
from equipage.workspace.reach.rows import (
    allows,
    anything,
    denies,
    has,
    hooks,
    hosts,
    inputs,
    mode,
    narrows,
    opaque,
    runs,
    servers,
    usually,
    variables,
    widens,
)
from equipage.workspace.reach.subjects import PLUGIN, Subject, one

#: kind → what has a reach in a file of it, and by which fields
TABLES: dict[str, tuple[Subject, ...]] = {
    # VS Code, and what runs in it; `views.parts` reads the file.
    "vscode-settings": one(
        widens("chat.tools.autoApprove"),
        widens("chat.tools.global.autoApprove"),
        widens("chat.tools.terminal.ignoreDefaultAutoApproveRules"),
        *(
            opaque(f"chat.tools.{name}")
            for name in (
                "terminal.autoApprove",
                "terminal.blockDetectedFileWrites",
                "terminal.sandbox.enabled",
                "terminal.sandbox",
                "edits.autoApprove",
                "urls.autoApprove",
                "eligibleForAutoApproval",
            )
        ),
        servers("mcp/servers"),
        *inputs("mcp/inputs"),
        opaque("chat.mcp.access"),
        anything("chat.mcp.discovery.enabled"),
        anything("chat.mcp.autostart"),
        anything("chat.mcp.serverSampling"),
        anything("chat.plugins.marketplaces", "plugin"),
        allows("chat.plugins.paths", "plugin"),
        allows("chat.hookFilesLocations", "path"),
        *(
            allows(f"chat.{name}Locations", "path")
            for name in ("agentFiles", "modeFiles", "promptFiles", "instructionsFiles")
        ),
        allows("chat.agentSkillsLocations", "path"),
        anything("github.copilot.chat.agent.runTasks"),
        allows("github.copilot.chat.additionalReadAccessFolders", "path"),
        widens("claudeCode.allowDangerouslySkipPermissions"),
        mode("claudeCode.initialPermissionMode", *MODES, default="default"),
        runs("claudeCode.claudeProcessWrapper"),
        anything("claudeCode.environmentVariables", "variable"),
        *(allows(f"{name}.allowedCommands", "program") for name in ("roo-cline", "kilo-code")),
        *(denies(f"{name}.deniedCommands", "program") for name in ("roo-cline", "kilo-code")),
        allows("kiroAgent.trustedCommands", "program"),
        allows("windsurf.cascadeCommandsAllowList", "program"),
        denies("windsurf.cascadeCommandsDenyList", "program"),
        widens("amp.dangerouslyAllowAll"),
        servers("amp.mcpServers"),
        opaque("amp.permissions"),
        sort="settings",
    ),
    # GitHub Copilot.
    "copilot-agent": one(
        has("tools"),
        narrows("disable-model-invocation"),
        widens("infer", default=True),  # the old word for the same
        has("agents", "agent"),
        allows("handoffs/*/agent", "agent"),
        servers("mcp-servers"),
        hooks("hooks"),
    ),
    "copilot-prompt": one(
        has("tools"), allows("agent", "agent"), allows("mode", "agent"), sort="command"
    ),
    "copilot-hooks": one(hooks("hooks"), widens("disableAllHooks")),
    "copilot-settings": one(
        usually("host", "asks"),
        allows("allowedUrls", "host"),
        denies("deniedUrls", "host"),
        allows("enabledPlugins", "plugin"),
        allows("extraKnownMarketplaces", "plugin"),
        anything("extraKnownMarketplaces"),
        hooks("hooks"),
        widens("disableAllHooks"),
    ),
    "agentic-workflow": one(
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
        *(
            anything(name, "program")
            for name in ("pre-steps", "pre-agent-steps", "mcp-scripts", "container", "services")
        ),
        # Who and what starts it, and where it runs.
        *(opaque(name) for name in ("on", "if", "skip-roles", "skip-bots", "rate-limit")),
        *(anything(name) for name in ("runs-on", "environment", "features", "runtimes")),
        *(anything(name) for name in ("checkout", "github-token", "observability")),
        *(anything(name, "plugin") for name in ("plugins", "dependencies", "apm", "redirect")),
        anything("engine"),
        allows("imports", "agent"),
        allows("secrets", "variable"),
        variables("env"),
    ),
    # Cursor.
    "cursor-agent": one(narrows("readonly")),
    "cursor-permissions": one(
        usually("tool", "asks"), allows("permissions/allow"), denies("permissions/deny")
    ),
    "cursor-hooks": one(hooks("hooks"), narrows("hooks/*/*/failClosed")),
    "cursor-environment": one(
        runs("install"),
        runs("start"),
        runs("terminals/*/command"),
        anything("build", "program"),
        allows("repositoryDependencies", "host"),
        anything("snapshot", "program"),
        anything("user"),
        anything("ports", "host"),
        anything("persistedDirectories", "path"),
        widens("agentCanUpdateSnapshot"),
    ),
    "cursor-plugin": one(*PLUGIN),
    # Editors.
    "windsurf-hooks": one(hooks("hooks")),
    "windsurf-workflow": one(mode("auto_execution_mode", 0, 1, 2, 3, default=0)),
    "openhands-microagent": one(anything("mcp_tools", "server")),
    "roo-modes": (
        Subject((has("groups", absent="denies"),), ("customModes", "*"), "agent", ("slug", "name")),
    ),
    "kiro-agent": one(
        has("tools"),
        allows("allowedTools", "setting"),
        opaque("toolsSettings"),
        servers("mcpServers"),
        widens("includeMcpJson"),
        widens("useLegacyMcpJson"),
        allows("resources", "path"),
        anything("toolAliases"),
        hooks("hooks"),
        sort="agent",
    ),
    "kiro-hook": one(runs("then/command"), widens("enabled", default=True), anything("when")),
    "zed-settings": (
        Subject(
            (
                servers("context_servers"),
                widens("agent/always_allow_tool_actions"),
                opaque("agent/tool_permissions"),
                allows("agent/default_profile", "agent"),
                servers("agent_servers"),
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
    "continue-config": one(
        servers("mcpServers"),
        *(allows(f"{name}/*/uses", "plugin") for name in ("mcpServers", "rules", "prompts")),
        *(allows(f"{name}/*/uses", "plugin") for name in ("models", "context", "docs")),
        hosts("models/*/apiBase"),
        anything("requestOptions"),
        anything("data", "host"),
        anything("context/*/provider"),
        variables("env"),
    ),
    "roo-command": one(allows("mode", "agent")),
}
