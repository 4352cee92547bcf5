"""What Claude Code reads as a permission, and what skills say, whichever client reads them."""

from __future__ import annotations

import msgspec

from equipage.workspace.reach.rows import (
    Row,
    allows,
    anything,
    asks,
    denies,
    embedded,
    guards,
    has,
    hooks,
    mode,
    narrows,
    opaque,
    runs,
    servers,
    usually,
    variables,
    widens,
)
from equipage.workspace.reach.subjects import BANG, PLUGIN, Subject, named, one

#: The modes of Claude Code from narrow to wide.
MODES = ("plan", "dontAsk", "default", "acceptEdits", "auto", "bypassPermissions")

_CLAUDE_SETTINGS = (
    usually("tool", "asks"),
    allows("permissions/allow"),
    asks("permissions/ask"),
    denies("permissions/deny"),
    # `manual` is another word for `default`; it has the same level, but a name of its own.
    mode("permissions/defaultMode", *MODES, default="default"),
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
    opaque("sandbox/network/tlsTerminate"),
    anything("sandbox/network/allowMachLookup"),
    opaque("sandbox/enabledPlatforms"),
    runs("sandbox/ripgrep/command"),
    runs("sandbox/bwrapPath"),
    runs("sandbox/socatPath"),
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
            "disableArtifact",
            "disableClaudeAiConnectors",
            "disableDeepLinkRegistration",
            "disableMobileSimulatorTools",
            "sandbox/filesystem/allowManagedReadPathsOnly",
        )
    ),
    widens("skipDangerousModePermissionPrompt"),
    widens("skipWebFetchPreflight"),
    widens("channelsEnabled"),
    widens("allowAllClaudeAiMcps"),
    widens("remoteControlAtStartup"),
    anything("useAutoModeDuringPlan"),
    anything("browserExternalPageTools"),
    anything("allowedChannelPlugins", "plugin"),
    anything("pluginConfigs", "plugin"),
    anything("sshConfigs", "host"),
    anything("worktree"),
    servers("managedMcpServers"),
    narrows("respectGitignore", default=True),
    allows("plansDirectory", "path"),
    allows("autoMemoryDirectory", "path"),
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

#: Commands in a block of a text of Claude Code.
_BLOCK = r"```![ \t]*\n(.*?)\n[ \t]*```"

#: What commands and skills of Claude Code share; other tools read most of it, too.
_CALLED = (
    usually("tool", "asks"),
    allows("allowed-tools"),
    denies("disallowed-tools"),
    narrows("disable-model-invocation"),
    narrows("hide-from-slash-command-tool"),
    hooks("hooks"),
    embedded("body", BANG),
    embedded("body", _BLOCK),
    # In a fork, another agent than the one that calls it does the work.
    allows("agent", "agent"),
)


def _of_plugin(before: str) -> tuple[Row, ...]:
    """What only plugins of Claude Code say, in a manifest or in an entry of a marketplace."""
    return (
        runs(f"{before}monitors/*/command"),
        named(f"{before}monitors"),
        allows(f"{before}dependencies", "plugin"),
        # Of the settings of a plugin, these alone apply.
        *(_prefixed(f"{before}settings/", each) for each in PLUGIN_SETTINGS),
        embedded(f"{before}commands/*/content", BANG),
        embedded(f"{before}commands/*/content", _BLOCK),
        allows(f"{before}commands/*/allowedTools"),
        # A server that writes to the session by itself.
        anything(f"{before}channels/*/server"),
        widens(f"{before}defaultEnabled", default=True),
        anything(f"{before}experimental"),
    )


def _prefixed(before: str, row: Row) -> Row:
    return msgspec.structs.replace(row, at=(*before.rstrip("/").split("/"), *row.at))


#: The settings that a plugin brings: an agent in place of the usual one, and a command that runs.
PLUGIN_SETTINGS = (allows("agent", "agent"), runs("subagentStatusLine/command"))

#: kind → what has a reach in a file of it, and by which fields
TABLES: dict[str, tuple[Subject, ...]] = {
    # Claude Code.
    "claude-agent": one(
        has("tools"),
        denies("disallowedTools"),
        mode("permissionMode", *MODES, default="default"),
        allows("skills", "skill"),
        servers("mcpServers"),
        hooks("hooks"),
        # Without a worktree of its own, it writes where everybody works.
        guards("isolation"),
        # Files that it reads and writes from one session to the next.
        anything("memory"),
    ),
    "claude-command": one(*_CALLED),
    "claude-settings": one(*_CLAUDE_SETTINGS),
    "claude-hooks": one(hooks("hooks"), named("modules")),
    "claude-plugin": one(*PLUGIN, *_of_plugin("")),
    "claude-marketplace": one(
        anything("plugins/*/source", "plugin"),
        servers("plugins/*/mcpServers"),
        servers("plugins/*/lspServers"),
        hooks("plugins/*/hooks"),
        allows("plugins/*/agents", "agent"),
        allows("plugins/*/commands", "agent"),
        allows("plugins/*/skills", "skill"),
        *_of_plugin("plugins/*/"),
        # Whether the plugin or its entry here says what there is.
        opaque("plugins/*/strict"),
        anything("metadata/pluginRoot", "path"),
        anything("renames", "plugin"),
        allows("allowCrossMarketplaceDependenciesOn", "plugin"),
    ),
    "claude-lsp": one(servers("servers")),
    # No load is of these kinds: `views.parts` reads such files of plugins.
    "claude-plugin-settings": one(*PLUGIN_SETTINGS, sort="settings"),
    "claude-monitors": one(runs("monitors/*/command"), sort="settings"),
    # Skills, whichever client reads them.
    "skill": one(*_CALLED, allows("allowedTools")),  # as Qwen Code names the field
}
