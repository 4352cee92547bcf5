"""Claude Code: settings, hooks of plugins, rules, output styles and instructions.

One value of a wrong type switches off a whole settings file, deny rules included, and Claude Code
says so only in `claude doctor`; so each is an error.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Meta

from equipage.clients.catalogue import Convention, Field, Group, Names, Table, json_file
from equipage.clients.tables.claude import TOOL

_POSITIVE = Annotated[int, Meta(ge=1)]
_SHARE = Annotated[float, Meta(gt=0, le=1)]
_PORT = Annotated[int, Meta(ge=1, le=65535)]
_DISABLE = Literal["disable"]

#: The modes of `defaultMode`; `manual` is another word for `default`.
MODES = Literal["default", "acceptEdits", "plan", "auto", "dontAsk", "bypassPermissions", "manual"]

# Rules are checked by `claude.permissions`, so that the table takes any entry of their lists.
_PERMISSIONS = Group(
    "the permissions of Claude Code",
    (
        Field(
            "allow",
            "rules for calls that need no approval",
            tuple[Any, ...],
            instead=("allowed", "allowedTools"),
        ),
        Field("ask", "rules for calls that need approval", tuple[Any, ...], restricts=True),
        Field(
            "deny",
            "rules for calls that are refused",
            tuple[Any, ...],
            restricts=True,
            instead=("denied", "disallow", "disallowedTools", "block"),
        ),
        Field("defaultMode", "what may happen without approval", MODES, restricts=True),
        Field("additionalDirectories", "more folders that Claude may work in", Names),
        Field(
            "disableBypassPermissionsMode",
            "`disable`: approval cannot be switched off",
            _DISABLE,
            restricts=True,
        ),
        Field("disableAutoMode", "`disable`: no automatic mode", _DISABLE, restricts=True),
    ),
)
_FILESYSTEM = Group(
    "the files of a sandbox of Claude Code",
    (
        Field("allowWrite", "paths that commands may write", Names),
        Field("denyWrite", "paths that commands may not write", Names, restricts=True),
        Field("allowRead", "paths that commands may read", Names),
        Field("denyRead", "paths that commands may not read", Names, restricts=True),
        Field("allowManagedReadPathsOnly", "whether only managed paths count", bool),
    ),
)
_NETWORK = Group(
    "the network of a sandbox of Claude Code",
    (
        Field("allowedDomains", "hosts that commands may reach", Names, restricts=True),
        Field("deniedDomains", "hosts that commands may not reach", Names, restricts=True),
        Field("strictAllowlist", "whether other hosts are refused", bool, restricts=True),
        Field("allowLocalBinding", "whether commands may listen on local ports", bool),
        Field("allowUnixSockets", "sockets that commands may use", Names),
        Field("allowAllUnixSockets", "whether commands may use every socket", bool),
        Field("allowMachLookup", "services of macOS that commands may use", Names),
        Field("allowManagedDomainsOnly", "whether only managed hosts count", bool, restricts=True),
        Field("httpProxyPort", "the port of an HTTP proxy", _PORT),
        Field("socksProxyPort", "the port of a SOCKS proxy", _PORT),
        Field("tlsTerminate", "certificates of a proxy that reads the traffic", Table),
    ),
)
_SANDBOX = Group(
    "the sandbox of Claude Code",
    (
        Field("enabled", "whether commands run in a sandbox", bool, restricts=True),
        Field("autoAllowBashIfSandboxed", "whether commands in it need no approval", bool),
        Field("allowUnsandboxedCommands", "whether a command may leave it", bool, restricts=True),
        Field("excludedCommands", "commands that run outside of it", Names),
        Field("failIfUnavailable", "whether to stop where there is none", bool, restricts=True),
        Field("enableWeakerNestedSandbox", "whether a weaker one will do in containers", bool),
        Field("enableWeakerNetworkIsolation", "whether a weaker network rule will do", bool),
        Field("ignoreViolations", "violations to be silent about, by command", Table),
        Field("filesystem", "which files commands may read and write", _FILESYSTEM),
        Field("network", "which hosts commands may reach", _NETWORK),
        Field("enabledPlatforms", "operating systems that it counts on", Names),
        Field("ripgrep", "the program that searches files in it", Table),
        Field("bwrapPath", "where the program that makes it is"),
        Field("socatPath", "where the program that forwards ports is"),
    ),
)
_COMMAND = Group(
    "a command of Claude Code",
    (
        Field("type", "always `command`", Literal["command"], required="error"),
        Field("command", "the command to run", required="error"),
        Field("padding", "how many blanks around it", int | float),
        Field("refreshInterval", "seconds between two runs", int | float),
        Field("hideVimModeIndicator", "whether the mode of Vim is hidden", bool),
    ),
)


def _flags(**meanings: str) -> tuple[Field, ...]:
    return tuple(Field(name, meaning, bool) for name, meaning in meanings.items())


# In the order of what an agent may do, which models and programs it uses, how it looks.
_SETTINGS_FIELDS = (
    Field("$schema", "the address of the JSON Schema, for editors"),
    Field("permissions", "what Claude may do", _PERMISSIONS, restricts=True),
    Field("hooks", "programs that run at certain events", Any, restricts=True),
    Field("sandbox", "whether and how commands are confined", _SANDBOX, restricts=True),
    Field("env", "environment variables of the session", Table),
    Field("model", "the model to use"),
    Field("fallbackModel", "models to use while others are busy", Names),
    Field("availableModels", "the only models to choose from", Names, restricts=True),
    Field("enforceAvailableModels", "whether no other model may run", bool, restricts=True),
    Field("modelOverrides", "other names for models", Table),
    Field("advisorModel", "the model that gives advice"),
    Field("teammateDefaultModel", "the model of new teammates", str | None),
    Field("effortLevel", "how much the model reasons"),
    Field("agent", "the agent that runs as the main one"),
    Field("outputStyle", "the name of the output style"),
    Field("language", "the language of the answers"),
    Field("apiKeyHelper", "a command that prints the key of the API"),
    Field("awsAuthRefresh", "a command that renews the credentials of AWS"),
    Field("awsCredentialExport", "a command that prints the credentials of AWS"),
    Field("gcpAuthRefresh", "a command that renews the credentials of Google"),
    Field("otelHeadersHelper", "a command that prints headers for telemetry"),
    Field("processWrapper", "a command that starts other commands"),
    Field("policyHelper", "a command that prints managed settings", Table),
    Field("statusLine", "the command that prints the status line", _COMMAND),
    Field("subagentStatusLine", "the command that prints the status of agents", _COMMAND),
    Field("fileSuggestion", "the command that suggests files", _COMMAND),
    Field("enabledPlugins", "plugins that are on or off, as `name@marketplace`", Table),
    Field("extraKnownMarketplaces", "marketplaces to offer, by name", Table),
    Field("strictKnownMarketplaces", "the only marketplaces", tuple[Any, ...], restricts=True),
    Field("blockedMarketplaces", "marketplaces that are refused", tuple[Any, ...], restricts=True),
    Field("skippedMarketplaces", "marketplaces not to ask about", Names),
    Field("skippedPlugins", "plugins not to ask about", Names),
    Field("pluginConfigs", "values of plugins, by plugin", Table),
    Field("pluginTrustMessage", "a text to show before a plugin is trusted"),
    Field("pluginSuggestionMarketplaces", "marketplaces to suggest plugins from", Names),
    Field("allowedChannelPlugins", "plugins that may send messages", tuple[Any, ...]),
    Field(
        "strictPluginOnlyCustomization",
        "whether parts may come from plugins only",
        bool | Names,
        restricts=True,
    ),
    Field(
        "enabledMcpjsonServers", "servers of `.mcp.json` that are approved", tuple[Any, ...] | str
    ),
    Field(
        "disabledMcpjsonServers",
        "servers of `.mcp.json` that are refused",
        str | Names,
        restricts=True,
    ),
    Field("allowedMcpServers", "the only MCP servers", tuple[Any, ...], restricts=True),
    Field("deniedMcpServers", "MCP servers that are refused", tuple[Any, ...], restricts=True),
    Field("managedMcpServers", "MCP servers of the organisation", tuple[Any, ...]),
    Field("disableAutoMode", "`disable`: no automatic mode", _DISABLE, restricts=True),
    Field("disableDeepLinkRegistration", "`disable`: no links into the program", _DISABLE),
    Field("autoMode", "what the automatic mode allows", Table),
    Field("allowedHttpHookUrls", "the only addresses of hooks", Names, restricts=True),
    Field("httpHookAllowedEnvVars", "variables that hooks may send", Names, restricts=True),
    Field("claudeMdExcludes", "instructions not to read, as globs", Names),
    Field("claudeMd", "instructions of the organisation"),
    Field("plansDirectory", "where plans are kept"),
    Field("autoMemoryDirectory", "where notes are kept"),
    Field("cleanupPeriodDays", "after how many days sessions are deleted", _POSITIVE),
    Field(
        "skillOverrides",
        "how skills are offered, by name",
        dict[str, Literal["on", "name-only", "user-invocable-only", "off"]],
        restricts=True,
    ),
    Field("skillListingBudgetFraction", "how much of the context skills may take", _SHARE),
    Field("skillListingMaxDescChars", "how long the description of a skill may be", _POSITIVE),
    Field("attribution", "what commits and pull requests say", bool | Table),
    Field("worktree", "how worktrees are made", Table),
    Field("spinnerVerbs", "the words that show progress", Table),
    Field("spinnerTipsOverride", "the tips that are shown", Table),
    Field("companyAnnouncements", "texts to show at the start", Names),
    Field("sshConfigs", "machines to work on", tuple[Any, ...]),
    Field("sshHostAllowlist", "the only machines to work on", Names, restricts=True),
    Field("footerLinksRegexes", "links below the input", tuple[Any, ...]),
    Field("vimInsertModeRemaps", "keys of Vim", Table),
    Field("voice", "how to talk to Claude", Table),
    Field("theme", "the colours"),
    Field("tui", "how the terminal is used", Literal["fullscreen", "default"]),
    Field("viewMode", "how much is shown"),
    Field("editorMode", "how the input is edited"),
    Field("diffTool", "where differences are shown"),
    Field("defaultShell", "the shell for commands", Literal["bash", "powershell"]),
    Field("teammateMode", "how teammates are shown", Any),
    Field("preferredNotifChannel", "how notices are sent"),
    Field("parentSettingsBehavior", "how settings above are used"),
    Field("askUserQuestionTimeout", "how long to wait for an answer"),
    Field("workflowSizeGuideline", "how large workflows may be"),
    Field("browserExternalPageTools", "whether other pages have tools"),
    Field("autoUpdatesChannel", "which versions to install", Literal["stable", "latest", "rc"]),
    Field("forceLoginMethod", "the only way to sign in", restricts=True),
    Field("forceLoginOrgUUID", "the only organisation", str | Names, restricts=True),
    Field("forceLoginGatewayUrl", "the only gateway", restricts=True),
    Field("minimumVersion", "the oldest version to install"),
    Field("requiredMinimumVersion", "the oldest version that may run", restricts=True),
    Field("requiredMaximumVersion", "the newest version that may run", restricts=True),
    Field("prUrlTemplate", "the address of pull requests"),
    Field("feedbackSurveyRate", "how often to ask for feedback", int | float),
    *_flags(
        enableAllProjectMcpServers="whether all servers of `.mcp.json` are approved",
        includeCoAuthoredBy="whether commits name Claude",
        includeGitInstructions="whether the prompt explains how to use git",
        respectGitignore="whether ignored files are left out of suggestions",
        alwaysThinkingEnabled="whether the model always reasons first",
        autoMemoryEnabled="whether Claude keeps notes",
        autoCompactEnabled="whether long sessions are summed up",
        fileCheckpointingEnabled="whether edits can be undone",
        fastMode="whether answers are to be fast",
        fastModePerSessionOptIn="whether fast answers are asked for each time",
        verbose="whether everything is shown",
        spinnerTipsEnabled="whether tips are shown",
        syntaxHighlightingDisabled="whether code is shown without colours",
        terminalProgressBarEnabled="whether the terminal shows progress",
        showTurnDuration="whether the time of a turn is shown",
        showThinkingSummaries="whether the reasoning is shown",
        showClearContextOnPlanAccept="whether a plan may start afresh",
        prefersReducedMotion="whether nothing moves",
        axScreenReader="whether a screen reader is in use",
        skipWebFetchPreflight="whether addresses are not checked first",
        useAutoModeDuringPlan="whether plans use the automatic mode",
        respondToBashCommands="whether Claude answers commands of the user",
        channelsEnabled="whether plugins may send messages",
        voiceEnabled="whether Claude listens",
        wheelScrollAccelerationEnabled="whether the wheel scrolls faster",
        wslInheritsWindowsSettings="whether settings of Windows count",
        awaySummaryEnabled="whether absences are summed up",
        autoScrollEnabled="whether the view follows the end",
        allowAllClaudeAiMcps="whether all connectors are on",
        agentPushNotifEnabled="whether agents send notices",
        inputNeededNotifEnabled="whether questions send notices",
        remoteControlAtStartup="whether remote control is on",
        workflowKeywordTriggerEnabled="whether words start workflows",
        enableArtifact="whether artifacts are on",
        permissionExplainerEnabled="whether approvals are explained",
        externalEditorContext="whether the editor sees the session",
        autoConnectIde="whether the editor is connected",
        autoInstallIdeExtension="whether the extension is installed",
        emojiCompletionEnabled="whether emoji are suggested",
        forceRemoteSettingsRefresh="whether managed settings are read anew",
        disableAgentView="whether agents are not shown",
        disableArtifact="whether artifacts are off",
        disableClaudeAiConnectors="whether connectors are off",
        disableMobileSimulatorTools="whether simulators are off",
    ),
    *(
        Field(name, meaning, bool, restricts=True)
        for name, meaning in {
            "disableAllHooks": "whether no hook runs",
            "allowManagedHooksOnly": "whether only managed hooks run",
            "allowManagedPermissionRulesOnly": "whether only managed rules count",
            "allowManagedMcpServersOnly": "whether only managed servers run",
            "disableBundledSkills": "whether the own skills are off",
            "disableSkillShellExecution": "whether skills may not run commands",
            "disableSideloadFlags": "whether flags may not add plugins",
            "disableWorkflows": "whether workflows are off",
            "disableRemoteControl": "whether remote control is off",
            "disableBrowserExternalNavigation": "whether other pages are refused",
            "requireCoworkFullVmSandbox": "whether a virtual machine is needed",
            "skipDangerousModePermissionPrompt": "whether the dangerous mode is not asked for",
        }.items()
    ),
)

# fmt: off
#: What its program reads as well, by the names in it.
_UNLISTED = frozenset({
    "allowAppleEvents", "allowedMarketplaces", "autoContinueAtUsageLimit", "autoDreamEnabled",
    "autoUploadSessions", "bashEditDiffEnabled", "blockReadsOutsideWorkingDirectories",
    "credentials", "crossSessionInbound", "daemonColdStart", "defaultView", "deniedModels",
    "disableCommandPluginSources", "doneMeansMerged", "enableWorkflows", "feedbackDrafts",
    "isolatePeerMachines", "isolation", "managedSourcesBehavior", "modelPicker", "modelPricing",
    "precomputeCompactionEnabled", "promptSuggestionEnabled", "proxyAuthHelper", "remoteControl",
    "showMessageTimestamps", "skipAutoPermissionPrompt", "skipWorkflowUsageWarning",
    "switchModelsOnFlag", "syncClaudeAiPlugins", "syncClaudeAiSkills", "terminalTitleFromRename",
    "timeZone", "todoFeatureEnabled", "totalTokensReminder", "totalTokensReminderAfterUserTurn",
    "totalTokensReminderBudget",
})
# fmt: on

SETTINGS = json_file(
    kind="claude-settings",
    paths=(
        ".claude/settings.json",
        ".claude/settings.local.json",
        "managed-settings.json",
        "managed-settings.d/*.json",
    ),
    tool=TOOL,
    title="Claude Code settings file",
    sort="settings",
    mismatch="error",
    fields=_SETTINGS_FIELDS,
    unlisted=_UNLISTED,
    example="""\
{
  "permissions": {
    "deny": ["Read(.env)", "Read(secrets/**)"],
    "allow": ["Bash(git log:*)"]
  }
}
""",
)

HOOKS = json_file(
    kind="claude-hooks",
    paths=("hooks/hooks.json",),
    tool=TOOL,
    title="Claude Code hooks file",
    sort="hooks",
    mismatch="error",
    fields=(
        Field("hooks", "handlers by event", Any, restricts=True),
        Field("modules", "programs that bring hooks, relative to this file", Any),
        Field("description", "what the hooks are for"),
        Field("$schema", "the address of the JSON Schema, for editors"),
    ),
    example="""\
{
  "hooks": {
    "PostToolUse": [
      {
        "matcher": "Edit|Write",
        "hooks": [{ "type": "command", "command": "\\"${CLAUDE_PLUGIN_ROOT}/format.sh\\"" }]
      }
    ]
  }
}
""",
)

RULE = Convention(
    kind="claude-rule",
    paths=(".claude/rules/**/*.md",),
    tool=TOOL,
    title="Claude Code rule",
    sort="rule",
    header_optional=True,
    reader="claude",
    fields=(
        Field(
            "paths",
            "the rule counts for files that match; without it, always",
            str | Names,
            instead=("globs", "glob", "applyTo", "path"),
        ),
        Field("description", "what the rule is about"),
    ),
    example="""\
---
paths: src/**/*.py
---
Every public function has a docstring that says what is promised.
""",
)

OUTPUT_STYLE = Convention(
    kind="claude-output-style",
    paths=(".claude/output-styles/*.md",),
    tool=TOOL,
    title="Claude Code output style",
    sort="style",
    header_optional=True,
    reader="claude",
    fields=(
        Field("name", "the name of the style; by default that of the file"),
        Field("description", "what the menu shows"),
        Field("keep-coding-instructions", "whether the instructions for code stay", bool),
        Field("force-for-plugin", "whether the plugin switches it on", bool),
    ),
    example="""\
---
name: NAME
description: Short answers
keep-coding-instructions: true
---
Answer in one sentence.
""",
)

INSTRUCTIONS = Convention(
    kind="instructions",
    paths=(
        "CLAUDE.md",
        "CLAUDE.local.md",
        "AGENTS.md",
        "AGENTS.override.md",
        "GEMINI.md",
        ".github/copilot-instructions.md",
        ".junie/guidelines.md",
    ),
    tool="agents",
    title="file of instructions",
    sort="instructions",
    syntax="text",
    fields=(),
    example_place="AGENTS.md",
    example="""\
# NAME

Run `make test` before you say that something works.
""",
)

CONVENTIONS = (SETTINGS, HOOKS, RULE, OUTPUT_STYLE, INSTRUCTIONS)
