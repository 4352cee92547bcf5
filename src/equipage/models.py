"""The typed configurations: what `Loaded.config` is, kind by kind, and every part of it.

>>> from equipage.models import ServerConfig, fields
>>> fields(ServerConfig)["phases"]
'the states it goes through, in order'

Each model is immutable. `Config` is the union of them all, `KindName` the names of the built-in
kinds. Models are imported when they are first used.
"""

# made by tools/faces.py from the kinds; `make stubs` renews it.

from __future__ import annotations

from typing import Any

__all__ = [
    "KINDS", "Add", "Agent", "AgentBlockInProcess", "AgentKind", "AgentMeta", "AgentOfOpenCode",
    "AgentProfile", "AgentSettingsOfZed", "AgentSkillsSkill", "AgenticWorkflow",
    "AgentsOfCodex", "Algo", "AmpSettingsFile", "And", "ApprovalPolicyOfCodex", "Assign",
    "AttackSurface", "Audit", "AuthorOfACodexPlugin", "AuthorOfAPlugin", "Aws",
    "BackgroundTool", "BasePrompt", "Baseline", "BashTool", "BatchAmplify", "Behavior",
    "Blueprint", "BlueprintAgentProfile", "BlueprintMetadata", "Branch", "BuiltinHandler",
    "CallExtern", "Capabilities", "Caps", "ChannelOfAPlugin", "ClaudeCodeAgent",
    "ClaudeCodeCommand", "ClaudeCodeHooksFile", "ClaudeCodeMarketplace",
    "ClaudeCodeOutputStyle", "ClaudeCodePlugin", "ClaudeCodeRule", "ClaudeCodeSettingsFile",
    "ClaudeCodeSkill", "CliExecution", "ClineRule", "CloseConnection", "CodexAgent",
    "CodexConfiguration", "CodexPlugin", "CodexSkill", "CommandHandler", "CommandOfClaudeCode",
    "CommandOfOpenCode", "CompilerHints", "CompilerStrategy", "Condition", "Config",
    "ContentItem", "ContentValue", "ContextOfGeminiCLI", "ContextPolicy",
    "ContextProviderOfContinue", "ContinueConfiguration", "ContinueRule", "CopilotAgent",
    "CopilotInstructions", "CopilotPrompt", "CopilotSettingsFile", "CursorAgent",
    "CursorCommand", "CursorEnvironment", "CursorPlugin", "CursorRule", "Default",
    "DefaultModel", "DefectMcpServer", "DependenciesOfASkill", "DependencyOfASkill",
    "DisabledHook", "Div", "DuplicateRequestIds", "EmbeddedResource", "Entry", "EntryAction",
    "EntryOfAMarketplace", "EntryOfTheHooksOfCodex", "EntryOfTheHooksOfGeminiCLI", "Env",
    "EnvironmentPolicyOfCodex", "Eq", "Execution", "Exists", "Expression", "ExtensionOfGoose",
    "Fanout", "FetchTool", "File", "FileOfInstructions", "FilesOfASandboxOfClaudeCode",
    "Filesystem", "FolderTrustOfGeminiCLI", "FsTool", "Ge", "GeminiAgent", "GeminiCLISkill",
    "GeminiCommand", "GeminiExtension", "GeminiPolicy", "GeminiSettingsFile", "Generated",
    "GeneratorLimits", "GitHubCopilotSkill", "GooseConfiguration", "GooseRecipe",
    "GranularApprovalPolicyOfCodex", "Gt", "Gte", "Hook", "HookCommandHandler", "HookMatch",
    "HookOfCodex", "HookOfCopilot", "HookOfCursor", "HookOfGeminiCLI", "HookOfWindsurf",
    "Hooks", "HooksOfCodex", "HooksOfCopilot", "HooksOfCursor", "HooksOfGeminiCLI",
    "HooksOfWindsurf", "Http", "HttpExecution", "HttpHandler", "ImageContent", "In", "Inline",
    "InterfaceOfASkill", "InvalidUtf8", "JsonRender", "JsonServer", "KindName", "KiroAgent",
    "KiroHook", "KiroSteeringFile", "Langfuse", "LanguageServerOfClaudeCode", "LayeredHooks",
    "Le", "Len", "Limits", "ListCapability", "ListOfCodexHooks", "ListOfCopilotHooks",
    "ListOfCursorHooks", "ListOfCursorPermissions", "ListOfLanguageServers", "ListOfRooModes",
    "ListOfSkillMetadata", "ListOfWindsurfHooks", "Lit", "Logging", "Loop", "Lt", "Lte",
    "MarketplaceOfCopilot", "MatchBranch", "Mcp", "McpJson", "McpServer", "McpServers",
    "Message", "Metadata", "MitreAttack", "Mod", "ModeOfRooCode", "Model", "ModelOfContinue",
    "Mul", "NamedContext", "NamedRunner", "Ne", "NestedJson", "NetworkOfASandboxOfClaudeCode",
    "Node", "NodeExecution", "Normal", "Not", "Notification", "NotificationFlood",
    "OpenCodeAgent", "OpenCodeCommand", "OpenCodeConfiguration", "OpenCodeSkill",
    "OpenHandsMicroagent", "Operator", "Or", "Otlp", "OutputStats", "Overrides",
    "OwnerOfAMarketplace", "PageOfContinue", "ParameterOfARecipe", "Path", "PermissionOfAmp",
    "PermissionsOfClaudeCode", "PermissionsOfCursor", "Phase", "PhpExecution", "PipeDeadlock",
    "PlacesOfSkillsOfOpenCode", "PolicyOfASkill", "ProfilePrompt", "ProjectPrompt",
    "ProjectionPlacement", "Prompt", "PromptArgument", "PromptDefinition", "PromptHandler",
    "PromptOfContinue", "PromptOverlay", "PromptResponse", "Provider", "ProviderCapabilities",
    "ProviderWebSearch", "Proxy", "PythonExecution", "QwenAgent", "QwenSettingsFile",
    "Reference", "Repeated", "Resource", "ResourceCapability", "ResourceContent",
    "ResourceDefinition", "ResourceResponse", "ResponseDelay", "RooCommand", "RuleOfAPolicy",
    "RuleOfContinue", "Runner", "Sampling", "Sandbox", "SandboxOfClaudeCode", "SandboxOfCodex",
    "SandboxOfGeminiCLI", "SearchTool", "SecurityOfGeminiCLI", "Seq", "SequenceEntry",
    "ServerConfig", "ServerInfo", "ServerLimits", "ServerOfContinue", "ServerRequest",
    "ServerRulesOfGeminiCLI", "SettingOfAnExtension", "Settings", "SettingsCapabilities",
    "ShellProgram", "Silent", "Skill", "SkillTriggers", "SlowLoris", "SpawnerHints", "Step",
    "Sub", "Subprocess", "SubprocessOutput", "SubprocessTemplate", "Technique",
    "TemplateRender", "Templating", "TerminalOfCursor", "TextContent", "Tool", "ToolDefinition",
    "ToolResponse", "ToolSettings", "Toolpack", "ToolpackFile", "ToolpackLimits", "Tools",
    "ToolsOfGeminiCLI", "Tracing", "Trigger", "Truncated", "Try", "Turn", "UnboundedLine",
    "ValueThatAPluginAsksFor", "Verdict", "WatcherOfOpenCode", "WebSearch", "WindsurfRule",
    "WindsurfWorkflow", "WrongId", "WsClaudeCode", "WsOperator", "ZedSettingsFile", "fields",
    "kind_of_model",
]  # fmt: skip

#: kind → the names of the models that a load may give
KINDS: dict[str, tuple[str, ...]] = {
    "agent_md": ("Agent",),
    "agentic-workflow": ("AgenticWorkflow",),
    "amp-settings": ("AmpSettingsFile",),
    "blueprint": ("Blueprint",),
    "claude-agent": ("ClaudeCodeAgent",),
    "claude-command": ("ClaudeCodeCommand",),
    "claude-hooks": ("ClaudeCodeHooksFile",),
    "claude-lsp": ("ListOfLanguageServers",),
    "claude-marketplace": ("ClaudeCodeMarketplace",),
    "claude-output-style": ("ClaudeCodeOutputStyle",),
    "claude-plugin": ("ClaudeCodePlugin",),
    "claude-rule": ("ClaudeCodeRule",),
    "claude-settings": ("ClaudeCodeSettingsFile",),
    "cline-rule": ("ClineRule",),
    "codex-agent": ("CodexAgent",),
    "codex-config": ("CodexConfiguration",),
    "codex-hooks": ("ListOfCodexHooks",),
    "codex-plugin": ("CodexPlugin",),
    "codex-skill-metadata": ("ListOfSkillMetadata",),
    "continue-config": ("ContinueConfiguration",),
    "continue-rule": ("ContinueRule",),
    "copilot-agent": ("CopilotAgent",),
    "copilot-hooks": ("ListOfCopilotHooks",),
    "copilot-instructions": ("CopilotInstructions",),
    "copilot-prompt": ("CopilotPrompt",),
    "copilot-settings": ("CopilotSettingsFile",),
    "cursor-agent": ("CursorAgent",),
    "cursor-command": ("CursorCommand",),
    "cursor-environment": ("CursorEnvironment",),
    "cursor-hooks": ("ListOfCursorHooks",),
    "cursor-permissions": ("ListOfCursorPermissions",),
    "cursor-plugin": ("CursorPlugin",),
    "cursor-rule": ("CursorRule",),
    "gemini-agent": ("GeminiAgent",),
    "gemini-command": ("GeminiCommand",),
    "gemini-extension": ("GeminiExtension",),
    "gemini-policy": ("GeminiPolicy",),
    "gemini-settings": ("GeminiSettingsFile",),
    "goose-config": ("GooseConfiguration",),
    "goose-recipe": ("GooseRecipe",),
    "instructions": ("FileOfInstructions",),
    "kiro-agent": ("KiroAgent",),
    "kiro-hook": ("KiroHook",),
    "kiro-steering": ("KiroSteeringFile",),
    "mcp": ("McpServers", "McpJson"),
    "opencode-agent": ("OpenCodeAgent",),
    "opencode-command": ("OpenCodeCommand",),
    "opencode-config": ("OpenCodeConfiguration",),
    "openhands-microagent": ("OpenHandsMicroagent",),
    "profile": ("AgentProfile",),
    "qwen-agent": ("QwenAgent",),
    "qwen-settings": ("QwenSettingsFile",),
    "roo-command": ("RooCommand",),
    "roo-modes": ("ListOfRooModes",),
    "server": ("ServerConfig",),
    "settings": ("Settings",),
    "skill": (
        "Skill",
        "AgentSkillsSkill",
        "ClaudeCodeSkill",
        "OpenCodeSkill",
        "GitHubCopilotSkill",
        "CodexSkill",
        "GeminiCLISkill",
    ),
    "toolpack": ("Toolpack",),
    "windsurf-hooks": ("ListOfWindsurfHooks",),
    "windsurf-rule": ("WindsurfRule",),
    "windsurf-workflow": ("WindsurfWorkflow",),
    "zed-settings": ("ZedSettingsFile",),
}
#: module → names; where two parts share a name, `other=name`
_HOMES: dict[str, str] = {
    "equipage.clients.format": (
        "AgentOfOpenCode AgentSettingsOfZed AgentSkillsSkill AgenticWorkflow AgentsOfCodex "
        "AmpSettingsFile ApprovalPolicyOfCodex AuthorOfACodexPlugin AuthorOfAPlugin "
        "ChannelOfAPlugin ClaudeCodeAgent ClaudeCodeCommand ClaudeCodeHooksFile "
        "ClaudeCodeMarketplace ClaudeCodeOutputStyle ClaudeCodePlugin ClaudeCodeRule "
        "ClaudeCodeSettingsFile ClaudeCodeSkill ClineRule CodexAgent CodexConfiguration "
        "CodexPlugin CodexSkill CommandOfClaudeCode CommandOfOpenCode ContextOfGeminiCLI "
        "ContextProviderOfContinue ContinueConfiguration ContinueRule CopilotAgent "
        "CopilotInstructions CopilotPrompt CopilotSettingsFile CursorAgent CursorCommand "
        "CursorEnvironment CursorPlugin CursorRule DependenciesOfASkill DependencyOfASkill "
        "EntryOfAMarketplace EntryOfTheHooksOfCodex EntryOfTheHooksOfGeminiCLI "
        "EnvironmentPolicyOfCodex ExtensionOfGoose FileOfInstructions "
        "FilesOfASandboxOfClaudeCode FolderTrustOfGeminiCLI GeminiAgent GeminiCLISkill "
        "GeminiCommand GeminiExtension GeminiPolicy GeminiSettingsFile GitHubCopilotSkill "
        "GooseConfiguration GooseRecipe GranularApprovalPolicyOfCodex HookOfCodex "
        "HookOfCopilot HookOfCursor HookOfGeminiCLI HookOfWindsurf HooksOfCodex "
        "HooksOfCopilot HooksOfCursor HooksOfGeminiCLI HooksOfWindsurf InterfaceOfASkill "
        "KiroAgent KiroHook KiroSteeringFile LanguageServerOfClaudeCode ListOfCodexHooks "
        "ListOfCopilotHooks ListOfCursorHooks ListOfCursorPermissions ListOfLanguageServers "
        "ListOfRooModes ListOfSkillMetadata ListOfWindsurfHooks MarketplaceOfCopilot "
        "ModeOfRooCode ModelOfContinue NetworkOfASandboxOfClaudeCode OpenCodeAgent "
        "OpenCodeCommand OpenCodeConfiguration OpenCodeSkill OpenHandsMicroagent "
        "OwnerOfAMarketplace PageOfContinue ParameterOfARecipe PermissionOfAmp "
        "PermissionsOfClaudeCode PermissionsOfCursor PlacesOfSkillsOfOpenCode PolicyOfASkill "
        "PromptOfContinue QwenAgent QwenSettingsFile RooCommand RuleOfAPolicy RuleOfContinue "
        "SandboxOfClaudeCode SandboxOfCodex SandboxOfGeminiCLI SecurityOfGeminiCLI "
        "ServerOfContinue ServerRulesOfGeminiCLI SettingOfAnExtension TerminalOfCursor "
        "ToolsOfGeminiCLI ValueThatAPluginAsksFor WatcherOfOpenCode WindsurfRule "
        "WindsurfWorkflow ZedSettingsFile "
    ),
    "equipage.clients.mcp.servers": ("McpServer McpServers "),
    "equipage.formats.blueprint.model": (
        "Add Agent AgentBlockInProcess AgentMeta Algo And Assign Audit Blueprint "
        "BlueprintAgentProfile=AgentProfile BlueprintMetadata Branch CallExtern CompilerHints "
        "CompilerStrategy ContextPolicy Div Eq Exists Fanout File Ge Gt Gte In Inline Le Len "
        "Lit Loop Lt Lte Mod Mul NamedContext NamedRunner Ne Not Operator Or OutputStats "
        "Overrides Path ProjectionPlacement Seq SpawnerHints Step Sub Subprocess "
        "SubprocessOutput SubprocessTemplate Try Verdict WsClaudeCode WsOperator AgentKind "
        "Expression Node Runner "
    ),
    "equipage.formats.defect.hooks": (
        "BuiltinHandler Hook HookCommandHandler=CommandHandler HookMatch Hooks JsonRender "
        "PromptHandler ShellProgram TemplateRender "
    ),
    "equipage.formats.defect.mcp": ("DefectMcpServer=McpServer JsonServer Mcp McpJson "),
    "equipage.formats.defect.profile_model": (
        "AgentProfile Default ProfilePrompt=Prompt Sampling Tools "
    ),
    "equipage.formats.defect.settings": (
        "Aws BackgroundTool BasePrompt BashTool DefaultModel DisabledHook FetchTool FsTool "
        "Http Langfuse LayeredHooks Model Otlp ProjectPrompt PromptOverlay Provider "
        "ProviderCapabilities ProviderWebSearch Proxy Sandbox SearchTool Settings "
        "SettingsCapabilities=Capabilities ToolSettings Tracing Turn WebSearch "
    ),
    "equipage.formats.defect.skill": ("Skill SkillTriggers "),
    "equipage.formats.server.compose": ("ServerLimits "),
    "equipage.formats.server.model": (
        "AttackSurface Baseline BatchAmplify Behavior Capabilities CloseConnection "
        "CommandHandler Condition DuplicateRequestIds EmbeddedResource Entry EntryAction "
        "HttpHandler ImageContent InvalidUtf8 ListCapability Logging MatchBranch Message "
        "Metadata MitreAttack NestedJson Normal Notification NotificationFlood Phase "
        "PipeDeadlock Prompt PromptArgument PromptDefinition PromptResponse Reference "
        "Repeated Resource ResourceCapability ResourceContent ResourceDefinition "
        "ResourceResponse ResponseDelay SequenceEntry ServerConfig ServerInfo ServerRequest "
        "Silent SlowLoris Technique TextContent Tool ToolDefinition ToolResponse Trigger "
        "Truncated UnboundedLine WrongId ContentItem ContentValue "
    ),
    "equipage.formats.server.payloads": ("Generated "),
    "equipage.formats.server.payloads.base": ("GeneratorLimits "),
    "equipage.formats.toolpack.model": (
        "Caps CliExecution Env Filesystem HttpExecution NodeExecution PhpExecution "
        "PythonExecution Templating Toolpack ToolpackFile ToolpackLimits=Limits Execution "
    ),
    "equipage.loading.format": ("Limits "),
}


def __getattr__(name: str) -> Any:
    if name in ("Config", "KindName"):
        return _union(name)
    for module, names in _HOMES.items():
        for each in names.split():
            other, _, own = each.partition("=")
            if other == name:
                from importlib import import_module

                value = getattr(import_module(module), own or other)
                globals()[name] = value
                return value
    raise AttributeError(f"module 'equipage.models' has no attribute {name!r}")


def _union(name: str) -> Any:
    """`Config` or `KindName` for programs that look at types while they run."""
    from functools import reduce
    from operator import or_
    from typing import Literal

    if name == "KindName":
        return Literal[tuple(KINDS)]
    return reduce(or_, (__getattr__(each) for models in KINDS.values() for each in models))


def __dir__() -> list[str]:
    return sorted(__all__)


def fields(model: type[Any]) -> dict[str, str]:
    """What each field of a model means, by its name in Python.

    >>> from equipage.models import Skill, fields
    >>> fields(Skill)["always"]
    'whether the text is part of the prompt from the start'
    """
    from equipage.loading.editor_schema import meaning_of

    names = getattr(model, "__struct_fields__", None) or tuple(model.__annotations__)
    return {name: meaning_of(model, name) for name in names}


def kind_of_model(model: type[Any]) -> str | None:
    """The kind whose loads give such a model: built in, or brought by an installed package.

    >>> from equipage.models import Blueprint, kind_of_model
    >>> kind_of_model(Blueprint)
    'blueprint'
    """
    for kind, models in KINDS.items():
        if model.__name__ in models and __getattr__(model.__name__) is model:
            return kind
    from equipage.project.registry import installed_formats

    return next((name for name, kind in installed_formats().items() if kind.model is model), None)
