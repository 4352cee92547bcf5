"""What Claude Code reads as a permission, and what skills say, whichever client reads them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from equipage.clients.claude.permissions import ListName, rule_problem
from equipage.clients.grant_rows import (
    BANG_COMMAND,
    PLUGIN_ROWS,
    Row,
    Subject,
    allows,
    allows_each_value,
    allows_names_among,
    allows_only,
    any_change_widens,
    asks,
    default_effect,
    denies,
    file_names,
    guards,
    hooks,
    mode,
    narrows,
    only_values,
    read_names,
    runs,
    runs_commands_in,
    servers,
    sources,
    variables,
    whole_file,
    widens,
)
from equipage.clients.grants import Grant
from equipage.core.path import Path

#: The modes of Claude Code from narrow to wide.
MODES = ("plan", "dontAsk", "default", "acceptEdits", "auto", "bypassPermissions")


def _read_live_rules(row: Row, value: Any, path: Path) -> Iterator[Grant]:
    """The rules that can match: what a dead one forbids is allowed."""
    listed: ListName = "deny" if row.effect == "denies" else "ask"
    for each in read_names(row, value, path):
        if rule_problem(each.name, listed) is None:
            yield each
        elif listed == "ask" and rule_problem(each.name, "deny") is None:
            # It is documented to ask, and was not seen to: only that it goes counts.
            yield Grant("guard", f"ask {each.name}", "denies", path=each.path)


def _read_whole_tools(row: Row, value: Any, path: Path) -> Iterator[Grant]:
    """Names of tools; a pattern behind one has no effect, but for names of agents."""
    for each in read_names(row, value, path):
        tool, bracket, _ = each.name.partition("(")
        is_whole = bool(bracket) and tool.isalnum() and tool not in ("Agent", "Task")
        yield msgspec.structs.replace(each, name=tool) if is_whole else each


_SETTINGS_ROWS = (
    default_effect("tool", "asks"),
    allows("permissions/allow"),
    msgspec.structs.replace(asks("permissions/ask"), read=_read_live_rules),
    msgspec.structs.replace(denies("permissions/deny"), read=_read_live_rules),
    # `manual` is another word for `default`; it has the same level, but a name of its own.
    mode("permissions/defaultMode", *MODES, default="default"),
    mode("permissions/disableBypassPermissionsMode", "disable", "", default=""),
    mode("permissions/disableAutoMode", "disable", "", default=""),
    mode("disableAutoMode", "disable", "", default=""),
    any_change_widens("autoMode"),
    allows("permissions/additionalDirectories", "path"),
    narrows("sandbox/enabled"),
    widens("sandbox/autoAllowBashIfSandboxed", default=True),
    widens("sandbox/allowUnsandboxedCommands", default=True),
    narrows("sandbox/failIfUnavailable"),
    # Written out, the usual value beats a stricter one of the user.
    allows_names_among("sandbox/enabled", "= false"),
    allows_names_among("sandbox/failIfUnavailable", "= false"),
    allows_names_among("sandbox/allowUnsandboxedCommands", "= true"),
    allows_names_among("skillOverrides", "= on"),
    widens("sandbox/enableWeakerNestedSandbox"),
    widens("sandbox/enableWeakerNetworkIsolation"),
    allows("sandbox/excludedCommands", "program"),
    allows_each_value("sandbox/ignoreViolations"),
    allows("sandbox/filesystem/allowWrite", "path"),
    denies("sandbox/filesystem/denyWrite", "path"),
    allows("sandbox/filesystem/allowRead", "path"),
    denies("sandbox/filesystem/denyRead", "path"),
    default_effect("host", "asks"),
    allows("sandbox/network/allowedDomains", "host"),
    denies("sandbox/network/deniedDomains", "host"),
    narrows("sandbox/network/strictAllowlist"),
    narrows("sandbox/network/allowManagedDomainsOnly"),
    widens("sandbox/network/allowLocalBinding"),
    widens("sandbox/network/allowAllUnixSockets"),
    allows("sandbox/network/allowUnixSockets", "path"),
    # Another proxy than that of the client decides which hosts are reached.
    any_change_widens("sandbox/network/httpProxyPort"),
    any_change_widens("sandbox/network/socksProxyPort"),
    any_change_widens("sandbox/network/tlsTerminate"),
    allows_each_value("sandbox/network/allowMachLookup"),
    any_change_widens("sandbox/enabledPlatforms"),
    runs("sandbox/ripgrep/command"),
    runs("sandbox/bwrapPath"),
    runs("sandbox/socatPath"),
    default_effect("server", "asks"),
    widens("enableAllProjectMcpServers"),
    allows("enabledMcpjsonServers", "server"),
    denies("disabledMcpjsonServers", "server", plain=True),
    allows_only("allowedMcpServers", "server", absent="asks"),
    denies("deniedMcpServers", "server"),
    hooks("hooks"),
    widens("disableAllHooks"),
    narrows("allowManagedHooksOnly"),
    narrows("allowManagedPermissionRulesOnly"),
    narrows("allowManagedMcpServersOnly"),
    allows_only("allowedHttpHookUrls", "host", absent="asks"),
    allows_only("httpHookAllowedEnvVars", "variable", absent="asks"),
    allows_only("sshHostAllowlist", "host", absent="asks"),
    mode("skillOverrides/*", "off", "user-invocable-only", "name-only", "on", default="on"),
    allows("enabledPlugins", "plugin"),
    allows("extraKnownMarketplaces", "plugin"),
    sources("extraKnownMarketplaces"),
    allows_only("strictKnownMarketplaces", "plugin", absent="asks"),
    denies("blockedMarketplaces", "plugin"),
    any_change_widens("strictPluginOnlyCustomization"),
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
    any_change_widens("parentSettingsBehavior"),
    widens("enableArtifact"),
    widens("skipDangerousModePermissionPrompt"),
    widens("skipWebFetchPreflight"),
    widens("channelsEnabled"),
    widens("allowAllClaudeAiMcps"),
    widens("remoteControlAtStartup"),
    allows_each_value("useAutoModeDuringPlan"),
    allows_each_value("browserExternalPageTools"),
    allows_each_value("allowedChannelPlugins", "plugin"),
    allows_each_value("pluginConfigs", "plugin"),
    allows_each_value("sshConfigs", "host"),
    allows_each_value("worktree"),
    servers("managedMcpServers"),
    narrows("respectGitignore", default=True),
    # Which models, who signs in, and which version runs.
    *(
        only_values(name)
        for name in (
            "availableModels",
            "forceLoginMethod",
            "forceLoginOrgUUID",
            "forceLoginGatewayUrl",
        )
    ),
    narrows("enforceAvailableModels"),
    any_change_widens("modelOverrides"),
    guards("requiredMinimumVersion"),
    guards("requiredMaximumVersion"),
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
_COMMAND_BLOCK = r"```![ \t]*\n(.*?)\n[ \t]*```"

#: What commands and skills of Claude Code share; other tools read most of it, too.
_INVOCABLE_ROWS = (
    default_effect("tool", "asks"),
    allows("allowed-tools"),
    denies("disallowed-tools"),
    narrows("disable-model-invocation"),
    narrows("hide-from-slash-command-tool"),
    hooks("hooks"),
    runs_commands_in("body", BANG_COMMAND),
    runs_commands_in("body", _COMMAND_BLOCK),
    # In a fork, another agent than the one that calls it does the work.
    allows("agent", "agent"),
)


#: The settings that a plugin brings: an agent in place of the usual one, and a command that runs.
PLUGIN_SETTINGS = (allows("agent", "agent"), runs("subagentStatusLine/command"))
#: What a plugin of Claude Code says, in a manifest or in an entry of a marketplace.
_PLUGIN_ROWS = (
    *PLUGIN_ROWS,
    runs("monitors/*/command"),
    file_names("monitors"),
    allows("dependencies", "plugin"),
    # Of the settings of a plugin, these alone apply.
    *(msgspec.structs.replace(each, at=("settings", *each.at)) for each in PLUGIN_SETTINGS),
    runs_commands_in("commands/*/content", BANG_COMMAND),
    runs_commands_in("commands/*/content", _COMMAND_BLOCK),
    allows("commands/*/allowedTools"),
    # A server that writes to the session by itself.
    allows_each_value("channels/*/server"),
    widens("defaultEnabled", default=True),
    allows_each_value("experimental"),
)


_STRICT = msgspec.structs.replace(
    allows_each_value("strict"), absent="allows", name="strict = true"
)

#: kind → what has a reach in a file of it, and by which fields
TABLES: dict[str, tuple[Subject, ...]] = {
    # Claude Code.
    "claude-agent": whole_file(
        msgspec.structs.replace(allows_only("tools"), read=_read_whole_tools),
        msgspec.structs.replace(denies("disallowedTools"), read=_read_whole_tools),
        mode("permissionMode", *MODES, default="default"),
        allows("skills", "skill"),
        servers("mcpServers"),
        hooks("hooks"),
        # Without a worktree of its own, it writes where everybody works.
        guards("isolation"),
        # Files that it reads and writes from one session to the next.
        allows_each_value("memory"),
    ),
    "claude-command": whole_file(*_INVOCABLE_ROWS),
    "claude-settings": whole_file(*_SETTINGS_ROWS),
    "claude-hooks": whole_file(hooks("hooks"), file_names("modules")),
    "claude-plugin": whole_file(*_PLUGIN_ROWS),
    "claude-marketplace": (
        *whole_file(
            allows_each_value("metadata/pluginRoot", "path"),
            allows_each_value("renames", "plugin"),
            allows("allowCrossMarketplaceDependenciesOn", "plugin"),
        ),
        Subject(
            # Whether the plugin or its entry here says what there is.
            (sources("source", "plugin"), *_PLUGIN_ROWS, _STRICT),
            ("plugins", "*"),
            "listed plugin",
        ),
    ),
    "claude-lsp": whole_file(servers("servers")),
    # No load is of these kinds: `clients.plugins` reads such files of plugins.
    "claude-plugin-settings": whole_file(*PLUGIN_SETTINGS, sort="settings"),
    "claude-monitors": whole_file(runs("monitors/*/command"), sort="settings"),
    # Skills, whichever client reads them.
    "skill": whole_file(*_INVOCABLE_ROWS, allows("allowedTools")),  # as Qwen Code names the field
}
