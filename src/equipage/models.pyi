# made by tools/faces.py from the kinds; `make stubs` renews it.

from typing import Any, Literal, TypeAlias

from msgspec import Struct

from equipage.directives.generate import Generated as Generated
from equipage.generators.parameters import GeneratorLimits as GeneratorLimits
from equipage.kinds.blueprint.model import (
    Add as Add,
    Agent as Agent,
    AgentBlockInProcess as AgentBlockInProcess,
    AgentKind as AgentKind,
    AgentMeta as AgentMeta,
    AgentProfile as BlueprintAgentProfile,
    Algo as Algo,
    And as And,
    Assign as Assign,
    Audit as Audit,
    Blueprint as Blueprint,
    BlueprintMetadata as BlueprintMetadata,
    Branch as Branch,
    CallExtern as CallExtern,
    CompilerHints as CompilerHints,
    CompilerStrategy as CompilerStrategy,
    ContextPolicy as ContextPolicy,
    Div as Div,
    Eq as Eq,
    Exists as Exists,
    Expression as Expression,
    Fanout as Fanout,
    File as File,
    Ge as Ge,
    Gt as Gt,
    Gte as Gte,
    In as In,
    Inline as Inline,
    Le as Le,
    Len as Len,
    Lit as Lit,
    Loop as Loop,
    Lt as Lt,
    Lte as Lte,
    Mod as Mod,
    Mul as Mul,
    NamedContext as NamedContext,
    NamedRunner as NamedRunner,
    Ne as Ne,
    Node as Node,
    Not as Not,
    Operator as Operator,
    Or as Or,
    OutputStats as OutputStats,
    Overrides as Overrides,
    Path as Path,
    ProjectionPlacement as ProjectionPlacement,
    Runner as Runner,
    Seq as Seq,
    SpawnerHints as SpawnerHints,
    Step as Step,
    Sub as Sub,
    Subprocess as Subprocess,
    SubprocessOutput as SubprocessOutput,
    SubprocessTemplate as SubprocessTemplate,
    Try as Try,
    Verdict as Verdict,
    WsClaudeCode as WsClaudeCode,
    WsOperator as WsOperator,
)
from equipage.kinds.conventions.skill import Skill as Skill, SkillTriggers as SkillTriggers
from equipage.kinds.defect.hooks import (
    BuiltinHandler as BuiltinHandler,
    CommandHandler as HookCommandHandler,
    Hook as Hook,
    HookMatch as HookMatch,
    Hooks as Hooks,
    JsonRender as JsonRender,
    PromptHandler as PromptHandler,
    ShellProgram as ShellProgram,
    TemplateRender as TemplateRender,
)
from equipage.kinds.defect.profile_model import (
    AgentProfile as AgentProfile,
    Default as Default,
    Prompt as ProfilePrompt,
    Sampling as Sampling,
    Tools as Tools,
)
from equipage.kinds.defect.settings_model import (
    Aws as Aws,
    BackgroundTool as BackgroundTool,
    BasePrompt as BasePrompt,
    BashTool as BashTool,
    Capabilities as SettingsCapabilities,
    DefaultModel as DefaultModel,
    DisabledHook as DisabledHook,
    FetchTool as FetchTool,
    FsTool as FsTool,
    Http as Http,
    Langfuse as Langfuse,
    LayeredHooks as LayeredHooks,
    Model as Model,
    Otlp as Otlp,
    ProjectPrompt as ProjectPrompt,
    PromptOverlay as PromptOverlay,
    Provider as Provider,
    ProviderCapabilities as ProviderCapabilities,
    ProviderWebSearch as ProviderWebSearch,
    Proxy as Proxy,
    Sandbox as Sandbox,
    SearchTool as SearchTool,
    Settings as Settings,
    ToolSettings as ToolSettings,
    Tracing as Tracing,
    Turn as Turn,
    WebSearch as WebSearch,
)
from equipage.kinds.mcp.servers import McpServer as McpServer, McpServers as McpServers
from equipage.kinds.mcp.strict import (
    JsonServer as JsonServer,
    Mcp as Mcp,
    McpJson as McpJson,
    McpServer as DefectMcpServer,
)
from equipage.kinds.server.compose import ServerLimits as ServerLimits
from equipage.kinds.server.model import (
    AttackSurface as AttackSurface,
    Baseline as Baseline,
    BatchAmplify as BatchAmplify,
    Behavior as Behavior,
    Capabilities as Capabilities,
    CloseConnection as CloseConnection,
    CommandHandler as CommandHandler,
    Condition as Condition,
    ContentItem as ContentItem,
    ContentValue as ContentValue,
    DuplicateRequestIds as DuplicateRequestIds,
    EmbeddedResource as EmbeddedResource,
    Entry as Entry,
    EntryAction as EntryAction,
    HttpHandler as HttpHandler,
    ImageContent as ImageContent,
    InvalidUtf8 as InvalidUtf8,
    ListCapability as ListCapability,
    Logging as Logging,
    MatchBranch as MatchBranch,
    Message as Message,
    Metadata as Metadata,
    MitreAttack as MitreAttack,
    NestedJson as NestedJson,
    Normal as Normal,
    Notification as Notification,
    NotificationFlood as NotificationFlood,
    Phase as Phase,
    PipeDeadlock as PipeDeadlock,
    Prompt as Prompt,
    PromptArgument as PromptArgument,
    PromptDefinition as PromptDefinition,
    PromptResponse as PromptResponse,
    Reference as Reference,
    Repeated as Repeated,
    Resource as Resource,
    ResourceCapability as ResourceCapability,
    ResourceContent as ResourceContent,
    ResourceDefinition as ResourceDefinition,
    ResourceResponse as ResourceResponse,
    ResponseDelay as ResponseDelay,
    SequenceEntry as SequenceEntry,
    ServerConfig as ServerConfig,
    ServerInfo as ServerInfo,
    ServerRequest as ServerRequest,
    Silent as Silent,
    SlowLoris as SlowLoris,
    Technique as Technique,
    TextContent as TextContent,
    Tool as Tool,
    ToolDefinition as ToolDefinition,
    ToolResponse as ToolResponse,
    Trigger as Trigger,
    Truncated as Truncated,
    UnboundedLine as UnboundedLine,
    WrongId as WrongId,
)
from equipage.kinds.toolpack.model import (
    Caps as Caps,
    CliExecution as CliExecution,
    Env as Env,
    Execution as Execution,
    Filesystem as Filesystem,
    HttpExecution as HttpExecution,
    Limits as ToolpackLimits,
    NodeExecution as NodeExecution,
    PhpExecution as PhpExecution,
    PythonExecution as PythonExecution,
    Templating as Templating,
    Toolpack as Toolpack,
    ToolpackFile as ToolpackFile,
)
from equipage.loading.kind import Limits as Limits

__all__ = [
    "KINDS", "Add", "Agent", "AgentBlockInProcess", "AgentKind", "AgentMeta", "AgentProfile",
    "AgentSkillsSkill", "Algo", "And", "Assign", "AttackSurface", "Audit", "Aws",
    "BackgroundTool", "BasePrompt", "Baseline", "BashTool", "BatchAmplify", "Behavior",
    "Blueprint", "BlueprintAgentProfile", "BlueprintMetadata", "Branch", "BuiltinHandler",
    "CallExtern", "Capabilities", "Caps", "ClaudeCodeAgent", "ClaudeCodeCommand",
    "ClaudeCodeMarketplace", "ClaudeCodePlugin", "ClaudeCodeSkill", "CliExecution",
    "CloseConnection", "CodexAgent", "CodexSkill", "CommandHandler", "CompilerHints",
    "CompilerStrategy", "Condition", "Config", "ContentItem", "ContentValue", "ContextPolicy",
    "CopilotAgent", "CopilotInstructions", "CopilotPrompt", "CursorAgent", "CursorRule",
    "Default", "DefaultModel", "DefectMcpServer", "DisabledHook", "Div", "DuplicateRequestIds",
    "EmbeddedResource", "Entry", "EntryAction", "Env", "Eq", "Execution", "Exists",
    "Expression", "Fanout", "FetchTool", "File", "Filesystem", "FsTool", "Ge", "GeminiAgent",
    "GeminiCLISkill", "GeminiCommand", "Generated", "GeneratorLimits", "GitHubCopilotSkill",
    "Gt", "Gte", "Hook", "HookCommandHandler", "HookMatch", "Hooks", "Http", "HttpExecution",
    "HttpHandler", "ImageContent", "In", "Inline", "InvalidUtf8", "JsonRender", "JsonServer",
    "KindName", "Langfuse", "LayeredHooks", "Le", "Len", "Limits", "ListCapability", "Lit",
    "Logging", "Loop", "Lt", "Lte", "MatchBranch", "Mcp", "McpJson", "McpServer", "McpServers",
    "Message", "Metadata", "MitreAttack", "Mod", "Model", "Mul", "NamedContext", "NamedRunner",
    "Ne", "NestedJson", "Node", "NodeExecution", "Normal", "Not", "Notification",
    "NotificationFlood", "OpenCodeAgent", "OpenCodeCommand", "OpenCodeSkill", "Operator", "Or",
    "Otlp", "OutputStats", "Overrides", "Path", "Phase", "PhpExecution", "PipeDeadlock",
    "ProfilePrompt", "ProjectPrompt", "ProjectionPlacement", "Prompt", "PromptArgument",
    "PromptDefinition", "PromptHandler", "PromptOverlay", "PromptResponse", "Provider",
    "ProviderCapabilities", "ProviderWebSearch", "Proxy", "PythonExecution", "Reference",
    "Repeated", "Resource", "ResourceCapability", "ResourceContent", "ResourceDefinition",
    "ResourceResponse", "ResponseDelay", "Runner", "Sampling", "Sandbox", "SearchTool", "Seq",
    "SequenceEntry", "ServerConfig", "ServerInfo", "ServerLimits", "ServerRequest", "Settings",
    "SettingsCapabilities", "ShellProgram", "Silent", "Skill", "SkillTriggers", "SlowLoris",
    "SpawnerHints", "Step", "Sub", "Subprocess", "SubprocessOutput", "SubprocessTemplate",
    "Technique", "TemplateRender", "Templating", "TextContent", "Tool", "ToolDefinition",
    "ToolResponse", "ToolSettings", "Toolpack", "ToolpackFile", "ToolpackLimits", "Tools",
    "Tracing", "Trigger", "Truncated", "Try", "Turn", "UnboundedLine", "Verdict", "WebSearch",
    "WrongId", "WsClaudeCode", "WsOperator", "fields", "kind_of_model",
]  # fmt: skip

KINDS: dict[str, tuple[str, ...]]

KindName: TypeAlias = Literal[
    "agent_md",
    "blueprint",
    "claude-agent",
    "claude-command",
    "claude-marketplace",
    "claude-plugin",
    "codex-agent",
    "copilot-agent",
    "copilot-instructions",
    "copilot-prompt",
    "cursor-agent",
    "cursor-rule",
    "gemini-agent",
    "gemini-command",
    "mcp",
    "opencode-agent",
    "opencode-command",
    "profile",
    "server",
    "settings",
    "skill",
    "toolpack",
]

Config: TypeAlias = (
    Agent
    | Blueprint
    | ClaudeCodeAgent
    | ClaudeCodeCommand
    | ClaudeCodeMarketplace
    | ClaudeCodePlugin
    | CodexAgent
    | CopilotAgent
    | CopilotInstructions
    | CopilotPrompt
    | CursorAgent
    | CursorRule
    | GeminiAgent
    | GeminiCommand
    | McpServers
    | McpJson
    | OpenCodeAgent
    | OpenCodeCommand
    | AgentProfile
    | ServerConfig
    | Settings
    | Skill
    | AgentSkillsSkill
    | ClaudeCodeSkill
    | OpenCodeSkill
    | GitHubCopilotSkill
    | CodexSkill
    | GeminiCLISkill
    | Toolpack
)

def fields(model: type[Any]) -> dict[str, str]: ...
def kind_of_model(model: type[Any]) -> str | None: ...

class AgentSkillsSkill(Struct, frozen=True, kw_only=True):
    """A skill."""

    name: str | None = None
    """The name of the skill and of its folder; recommended."""
    description: str | None = None
    """What it does and when to use it; recommended."""
    license: str | None = None
    """The licence, or the file that holds it."""
    compatibility: str | None = None
    """What it needs: programs, packages, the network."""
    metadata: dict[str, Any] | None = None
    """Anything else, as text by name."""
    allowed_tools: tuple[str, ...] | None = None
    """Tools it may use without asking the user; *restricts* the agent, so a misspelling is
    an error; a list, or text divided at `, `; every tool it names must exist."""
    argument_hint: str | tuple[Any, ...] | None = None
    """The arguments, as the menu shows them: `[file] [line]`."""
    arguments: str | tuple[Any, ...] | None = None
    """Names for the arguments; the text uses them as `$name`."""
    model: str | None = None
    """The model to use while it runs."""
    effort: Literal["low", "medium", "high", "xhigh", "max"] | int | None = None
    """How much the model reasons while it runs."""
    disable_model_invocation: bool | None = None
    """Whether only people may call it; *restricts* the agent, so a misspelling is an
    error."""
    context: Literal["fork"] | None = None
    """`fork`: it runs in an agent of its own."""
    agent: str | None = None
    """The agent that runs it, with `context: fork`; every agent it names must exist."""
    hooks: dict[str, Any] | None = None
    """Programs that run at certain events while it runs."""
    paths: tuple[str, ...] | None = None
    """Claude sees it once files match these patterns; a list, or text divided at `,`."""
    shell: Literal["bash", "powershell"] | None = None
    """The shell for commands in the text."""
    when_to_use: str | None = None
    """Text that is added to the description."""
    user_invocable: bool | None = None
    """Whether people may call it; `false` hides it in the menu; common misspelling, which
    the tool ignores: `user-invokable`."""
    disallowed_tools: tuple[str, ...] | None = None
    """Tools it may not use; *restricts* the agent, so a misspelling is an error; a list, or
    text divided at `, `; every tool it names must exist."""
    version: str | None = None
    """The version of the skill."""
    body: str = ""
    """The text below the header."""

class ClaudeCodeAgent(Struct, frozen=True, kw_only=True):
    """A Claude Code agent."""

    name: str | None = None
    """The name by which people and agents call it; **required**: the tool ignores a file
    without it."""
    description: str | None = None
    """When to use it; Claude chooses it by this text; **required**: the tool ignores a file
    without it."""
    tools: tuple[str, ...] | None = None
    """The only tools it may use; without the field it has all of them; *restricts* the
    agent, so a misspelling is an error; a list, or text divided at `,`; every tool it names
    must exist; common misspelling, which the tool ignores: `allowed-tools`,
    `allowed_tools`, `allowedTools`, `tool`."""
    disallowedTools: tuple[str, ...] | None = None
    """Tools it may not use; *restricts* the agent, so a misspelling is an error; a list, or
    text divided at `,`; every tool it names must exist; common misspelling, which the tool
    ignores: `denied-tools`."""
    model: str | None = None
    """The model, such as `sonnet`; `inherit` for the caller's."""
    permissionMode: (
        Literal[
            "default", "acceptEdits", "plan", "auto", "dontAsk", "bypassPermissions", "delegate"
        ]
        | None
    ) = None
    """What it may do without asking the user; *restricts* the agent, so a misspelling is an
    error."""
    maxTurns: int | None = None
    """After how many turns it stops; common misspelling, which the tool ignores: `max-
    turns`."""
    skills: tuple[str, ...] | None = None
    """Skills it knows from the start; a list, or text divided at `,`; every skill it names
    must exist."""
    mcpServers: tuple[Any, ...] | dict[str, Any] | None = None
    """MCP servers it may use: names, or definitions of its own; every server it names must
    exist."""
    hooks: dict[str, Any] | None = None
    """Programs that run at certain events while it works."""
    memory: Literal["user", "project", "local"] | None = None
    """Where it keeps notes between sessions."""
    background: bool | None = None
    """Whether it runs in the background."""
    effort: Literal["low", "medium", "high", "xhigh", "max"] | int | None = None
    """How much its model reasons."""
    isolation: Literal["worktree"] | None = None
    """`worktree`: it works in its own copy of the repository."""
    color: str | None = None
    """Its colour in the terminal."""
    initialPrompt: str | None = None
    """The first message, if it runs as the main agent."""
    body: str = ""
    """The text below the header."""

class ClaudeCodeCommand(Struct, frozen=True, kw_only=True):
    """A Claude Code command."""

    description: str | None = None
    """What it does; the menu shows this text."""
    name: str | None = None
    """A name to show; the file gives the name to call it by."""
    allowed_tools: tuple[str, ...] | None = None
    """Tools it may use without asking the user; *restricts* the agent, so a misspelling is
    an error; a list, or text divided at `, `; every tool it names must exist."""
    argument_hint: str | tuple[Any, ...] | None = None
    """The arguments, as the menu shows them: `[file] [line]`."""
    arguments: str | tuple[Any, ...] | None = None
    """Names for the arguments; the text uses them as `$name`."""
    model: str | None = None
    """The model to use while it runs."""
    effort: Literal["low", "medium", "high", "xhigh", "max"] | int | None = None
    """How much the model reasons while it runs."""
    disable_model_invocation: bool | None = None
    """Whether only people may call it; *restricts* the agent, so a misspelling is an
    error."""
    context: Literal["fork"] | None = None
    """`fork`: it runs in an agent of its own."""
    agent: str | None = None
    """The agent that runs it, with `context: fork`; every agent it names must exist."""
    hooks: dict[str, Any] | None = None
    """Programs that run at certain events while it runs."""
    paths: tuple[str, ...] | None = None
    """Claude sees it once files match these patterns; a list, or text divided at `,`."""
    shell: Literal["bash", "powershell"] | None = None
    """The shell for commands in the text."""
    when_to_use: str | None = None
    """Text that is added to the description."""
    user_invocable: bool | None = None
    """Whether people may call it; `false` hides it in the menu."""
    hide_from_slash_command_tool: str | bool | None = None
    """Whether Claude must not call it."""
    body: str = ""
    """The text below the header."""

class ClaudeCodeMarketplace(Struct, frozen=True, kw_only=True):
    """A Claude Code marketplace."""

    name: str | None = None
    """The name; users write it as `plugin@name`; **required**: the tool ignores a file
    without it."""
    owner: str | dict[str, Any] | None = None
    """Who keeps it: `name`, `email` and `url`; recommended."""
    plugins: tuple[Any, ...] | None = None
    """The plugins, each with its name and where it comes from; **required**: the tool
    ignores a file without it."""
    _schema: str | None = None
    """The address of the JSON Schema, for editors."""
    version: str | None = None
    """The version of the list."""
    description: str | None = None
    """What the plugins have in common."""
    metadata: dict[str, Any] | None = None
    """A description, a version, and the folder of the plugins."""
    allowCrossMarketplaceDependenciesOn: tuple[str, ...] | None = None
    """Other marketplaces whose plugins may be needed."""
    forceRemoveDeletedPlugins: bool | None = None
    """Whether users lose plugins that leave the list."""

class ClaudeCodePlugin(Struct, frozen=True, kw_only=True):
    """A Claude Code plugin."""

    name: str | None = None
    """The name; it precedes the names of all parts; **required**: the tool ignores a file
    without it."""
    _schema: str | None = None
    """The address of the JSON Schema, for editors."""
    version: str | None = None
    """The version of the plugin."""
    description: str | None = None
    """What the plugin adds."""
    displayName: str | None = None
    """The name that people see."""
    author: str | dict[str, Any] | None = None
    """Who wrote it: `name`, `email` and `url`."""
    homepage: str | None = None
    """The address of its web page."""
    repository: str | dict[str, Any] | None = None
    """The address of its source code."""
    license: str | None = None
    """The licence, such as `MIT`."""
    keywords: tuple[str, ...] | None = None
    """Words to find it by."""
    category: str | None = None
    """The category it is listed under."""
    tags: tuple[str, ...] | None = None
    """Words to find it by."""
    commands: str | tuple[Any, ...] | dict[str, Any] | None = None
    """Files and folders of commands, instead of `commands/`."""
    agents: str | tuple[Any, ...] | None = None
    """Files of agents, instead of `agents/`."""
    skills: str | tuple[Any, ...] | None = None
    """Folders of skills, beside those in `skills/`."""
    hooks: str | tuple[Any, ...] | dict[str, Any] | None = None
    """Hooks, or the files that hold them."""
    mcpServers: str | tuple[Any, ...] | dict[str, Any] | None = None
    """MCP servers by name, or the files that hold them."""
    lspServers: str | tuple[Any, ...] | dict[str, Any] | None = None
    """Language servers by name, or the files that hold them."""
    outputStyles: str | tuple[Any, ...] | None = None
    """Files and folders of output styles."""
    themes: str | tuple[Any, ...] | None = None
    """Files and folders of colour themes."""
    monitors: str | tuple[Any, ...] | dict[str, Any] | None = None
    """Programs whose output Claude follows."""
    channels: tuple[Any, ...] | None = None
    """MCP servers that send messages into a session."""
    settings: dict[str, Any] | None = None
    """Settings that hold while the plugin is on."""
    userConfig: dict[str, Any] | None = None
    """Values to ask the user for when the plugin is turned on."""
    dependencies: tuple[Any, ...] | dict[str, Any] | None = None
    """Plugins that it needs."""
    strict: bool | None = None
    """Whether this file must list all parts of the plugin."""
    experimental: dict[str, Any] | None = None
    """Features that may still change."""

class ClaudeCodeSkill(Struct, frozen=True, kw_only=True):
    """A skill."""

    name: str | None = None
    """The name of the skill and of its folder; recommended."""
    description: str | None = None
    """What it does and when to use it; recommended."""
    license: str | None = None
    """The licence, or the file that holds it."""
    compatibility: str | None = None
    """What it needs: programs, packages, the network."""
    metadata: dict[str, Any] | None = None
    """Anything else, as text by name."""
    allowed_tools: tuple[str, ...] | None = None
    """Tools it may use without asking the user; *restricts* the agent, so a misspelling is
    an error; a list, or text divided at `, `; every tool it names must exist."""
    argument_hint: str | tuple[Any, ...] | None = None
    """The arguments, as the menu shows them: `[file] [line]`."""
    arguments: str | tuple[Any, ...] | None = None
    """Names for the arguments; the text uses them as `$name`."""
    model: str | None = None
    """The model to use while it runs."""
    effort: Literal["low", "medium", "high", "xhigh", "max"] | int | None = None
    """How much the model reasons while it runs."""
    disable_model_invocation: bool | None = None
    """Whether only people may call it; *restricts* the agent, so a misspelling is an
    error."""
    context: Literal["fork"] | None = None
    """`fork`: it runs in an agent of its own."""
    agent: str | None = None
    """The agent that runs it, with `context: fork`; every agent it names must exist."""
    hooks: dict[str, Any] | None = None
    """Programs that run at certain events while it runs."""
    paths: tuple[str, ...] | None = None
    """Claude sees it once files match these patterns; a list, or text divided at `,`."""
    shell: Literal["bash", "powershell"] | None = None
    """The shell for commands in the text."""
    when_to_use: str | None = None
    """Text that is added to the description."""
    user_invocable: bool | None = None
    """Whether people may call it; `false` hides it in the menu; common misspelling, which
    the tool ignores: `user-invokable`."""
    disallowed_tools: tuple[str, ...] | None = None
    """Tools it may not use; *restricts* the agent, so a misspelling is an error; a list, or
    text divided at `, `; every tool it names must exist."""
    version: str | None = None
    """The version of the skill."""
    body: str = ""
    """The text below the header."""

class CodexAgent(Struct, frozen=True, kw_only=True):
    """A Codex agent."""

    name: str | None = None
    """The name by which others call it; **required**: the tool ignores a file without
    it."""
    description: str | None = None
    """When to use it; others choose it by this text; **required**: the tool ignores a file
    without it."""
    developer_instructions: str | None = None
    """The prompt; **required**: the tool ignores a file without it."""
    nickname_candidates: tuple[str, ...] | None = None
    """Names to show for each run of it."""
    model: str | None = None
    """The model to use."""
    model_reasoning_effort: str | None = None
    """How much the model reasons."""
    sandbox_mode: Literal["read-only", "workspace-write", "danger-full-access"] | None = None
    """What commands may write; *restricts* the agent, so a misspelling is an error; common
    misspelling, which the tool ignores: `sandbox`."""
    approval_policy: (
        Literal["untrusted", "on-failure", "on-request", "never"] | dict[str, Any] | None
    ) = None
    """When it must ask the user; *restricts* the agent, so a misspelling is an error."""
    web_search: str | bool | None = None
    """Whether it may search the web."""
    mcp_servers: dict[str, Any] | None = None
    """MCP servers of its own, by name."""
    skills: dict[str, Any] | None = None
    """Which skills it has."""
    tools: dict[str, Any] | None = None
    """Settings of the built-in tools."""
    sandbox_workspace_write: dict[str, Any] | None = None
    """What `workspace-write` allows."""
    hooks: Any | None = None
    """Programs that run at certain events while it works."""

class CodexSkill(Struct, frozen=True, kw_only=True):
    """A skill."""

    name: str | None = None
    """The name of the skill and of its folder; recommended."""
    description: str | None = None
    """What it does and when to use it; recommended."""
    license: str | None = None
    """The licence, or the file that holds it."""
    compatibility: str | None = None
    """What it needs: programs, packages, the network."""
    metadata: dict[str, Any] | None = None
    """Anything else, as text by name."""
    allowed_tools: tuple[str, ...] | None = None
    """Tools it may use without asking the user; *restricts* the agent, so a misspelling is
    an error; a list, or text divided at `, `; every tool it names must exist."""
    argument_hint: str | tuple[Any, ...] | None = None
    """The arguments, as the menu shows them: `[file] [line]`."""
    arguments: str | tuple[Any, ...] | None = None
    """Names for the arguments; the text uses them as `$name`."""
    model: str | None = None
    """The model to use while it runs."""
    effort: Literal["low", "medium", "high", "xhigh", "max"] | int | None = None
    """How much the model reasons while it runs."""
    disable_model_invocation: bool | None = None
    """Whether only people may call it; *restricts* the agent, so a misspelling is an
    error."""
    context: Literal["fork"] | None = None
    """`fork`: it runs in an agent of its own."""
    agent: str | None = None
    """The agent that runs it, with `context: fork`; every agent it names must exist."""
    hooks: dict[str, Any] | None = None
    """Programs that run at certain events while it runs."""
    paths: tuple[str, ...] | None = None
    """Claude sees it once files match these patterns; a list, or text divided at `,`."""
    shell: Literal["bash", "powershell"] | None = None
    """The shell for commands in the text."""
    when_to_use: str | None = None
    """Text that is added to the description."""
    user_invocable: bool | None = None
    """Whether people may call it; `false` hides it in the menu; common misspelling, which
    the tool ignores: `user-invokable`."""
    disallowed_tools: tuple[str, ...] | None = None
    """Tools it may not use; *restricts* the agent, so a misspelling is an error; a list, or
    text divided at `, `; every tool it names must exist."""
    version: str | None = None
    """The version of the skill."""
    body: str = ""
    """The text below the header."""

class CopilotAgent(Struct, frozen=True, kw_only=True):
    """A Copilot agent."""

    description: str | None = None
    """What it does and when to use it; recommended."""
    name: str | None = None
    """The name that people see; by default that of the file."""
    target: Literal["vscode", "github-copilot"] | None = None
    """Where it runs; by default everywhere."""
    tools: tuple[str, ...] | None = None
    """The only tools it may use; without the field it has all of them; *restricts* the
    agent, so a misspelling is an error; a list, or text divided at `,`; every tool it names
    must exist; common misspelling, which the tool ignores: `allowed-tools`,
    `allowed_tools`."""
    model: str | tuple[str, ...] | None = None
    """The model, or several in order of preference."""
    disable_model_invocation: bool | None = None
    """Whether only people may call it; *restricts* the agent, so a misspelling is an
    error."""
    user_invocable: bool | None = None
    """Whether people may choose it."""
    user_invokable: bool | None = None
    """An old spelling of `user-invocable`."""
    infer: bool | str | None = None
    """An old form of the two fields above."""
    mcp_servers: dict[str, Any] | None = None
    """MCP servers of its own, by name."""
    metadata: dict[str, Any] | None = None
    """Anything else, as text by name."""
    argument_hint: str | tuple[Any, ...] | None = None
    """What to type, as the chat shows it."""
    agents: tuple[str, ...] | None = None
    """The agents it may call; a list, or text divided at `,`; every agent it names must
    exist."""
    handoffs: tuple[Any, ...] | None = None
    """Buttons that hand over to another agent."""
    hooks: dict[str, Any] | None = None
    """Programs that run at certain events while it works."""
    body: str = ""
    """The text below the header."""

class CopilotInstructions(Struct, frozen=True, kw_only=True):
    """A Copilot instructions."""

    applyTo: str | tuple[str, ...] | None = None
    """The files they hold for, as patterns; without it they hold when attached; common
    misspelling, which the tool ignores: `globs`, `paths`."""
    description: str | None = None
    """What they are about."""
    name: str | None = None
    """The name that people see; by default that of the file."""
    excludeAgent: str | tuple[str, ...] | None = None
    """The agent that must not read them."""
    body: str = ""
    """The text below the header."""

class CopilotPrompt(Struct, frozen=True, kw_only=True):
    """A Copilot prompt."""

    description: str | None = None
    """What it does."""
    name: str | None = None
    """The name after `/` in the chat; by default that of the file."""
    argument_hint: str | tuple[Any, ...] | None = None
    """What to type, as the chat shows it."""
    agent: str | None = None
    """The agent that runs it; every agent it names must exist."""
    mode: str | None = None
    """The old name of `agent`."""
    model: str | tuple[str, ...] | None = None
    """The model, or several in order of preference."""
    tools: tuple[str, ...] | None = None
    """The only tools it may use; *restricts* the agent, so a misspelling is an error; a
    list, or text divided at `,`; every tool it names must exist."""
    body: str = ""
    """The text below the header."""

class CursorAgent(Struct, frozen=True, kw_only=True):
    """A Cursor agent."""

    name: str | None = None
    """The name by which others call it; by default that of the file."""
    description: str | None = None
    """When to use it; others choose it by this text; recommended."""
    model: str | None = None
    """The model; `inherit` for the caller's."""
    readonly: bool | None = None
    """Whether it may only read; *restricts* the agent, so a misspelling is an error; common
    misspelling, which the tool ignores: `read-only`, `read_only`."""
    is_background: bool | None = None
    """Whether it runs in the background."""
    body: str = ""
    """The text below the header."""

class CursorRule(Struct, frozen=True, kw_only=True):
    """A Cursor rule."""

    description: str | None = None
    """What the rule is about; agents choose it by this text."""
    globs: str | tuple[str, ...] | None = None
    """The rule applies to files that match these patterns; common misspelling, which the
    tool ignores: `glob`, `applyTo`, `paths`."""
    alwaysApply: bool | None = None
    """Whether the rule is part of every prompt."""
    body: str = ""
    """The text below the header."""

class GeminiAgent(Struct, frozen=True, kw_only=True):
    """A Gemini agent."""

    name: str | None = None
    """The name by which others call it; **required**: the tool ignores a file without
    it."""
    description: str | None = None
    """When to use it; others choose it by this text; **required**: the tool ignores a file
    without it."""
    kind: Literal["local", "remote"] | None = None
    """`remote` for an agent that runs elsewhere."""
    display_name: str | None = None
    """The name that people see."""
    tools: tuple[str, ...] | None = None
    """The only tools it may use; without the field it has all of them; *restricts* the
    agent, so a misspelling is an error; every tool it names must exist; common misspelling,
    which the tool ignores: `allowed-tools`, `allowed_tools`."""
    mcpServers: dict[str, Any] | None = None
    """MCP servers of its own, by name; common misspelling, which the tool ignores:
    `mcp_servers`."""
    model: str | None = None
    """The model; `inherit` for the caller's."""
    temperature: float | None = None
    """How random its answers are."""
    max_turns: int | None = None
    """After how many turns it stops."""
    timeout_mins: int | float | None = None
    """After how many minutes it stops."""
    agent_card_url: str | None = None
    """The address of a remote agent's card."""
    agent_card_json: str | dict[str, Any] | None = None
    """The card of a remote agent itself."""
    auth: Any | None = None
    """How to sign in to a remote agent."""
    body: str = ""
    """The text below the header."""

class GeminiCLISkill(Struct, frozen=True, kw_only=True):
    """A skill."""

    name: str | None = None
    """The name of the skill and of its folder; recommended."""
    description: str | None = None
    """What it does and when to use it; recommended."""
    license: str | None = None
    """The licence, or the file that holds it."""
    compatibility: str | None = None
    """What it needs: programs, packages, the network."""
    metadata: dict[str, Any] | None = None
    """Anything else, as text by name."""
    allowed_tools: tuple[str, ...] | None = None
    """Tools it may use without asking the user; *restricts* the agent, so a misspelling is
    an error; a list, or text divided at `, `; every tool it names must exist."""
    argument_hint: str | tuple[Any, ...] | None = None
    """The arguments, as the menu shows them: `[file] [line]`."""
    arguments: str | tuple[Any, ...] | None = None
    """Names for the arguments; the text uses them as `$name`."""
    model: str | None = None
    """The model to use while it runs."""
    effort: Literal["low", "medium", "high", "xhigh", "max"] | int | None = None
    """How much the model reasons while it runs."""
    disable_model_invocation: bool | None = None
    """Whether only people may call it; *restricts* the agent, so a misspelling is an
    error."""
    context: Literal["fork"] | None = None
    """`fork`: it runs in an agent of its own."""
    agent: str | None = None
    """The agent that runs it, with `context: fork`; every agent it names must exist."""
    hooks: dict[str, Any] | None = None
    """Programs that run at certain events while it runs."""
    paths: tuple[str, ...] | None = None
    """Claude sees it once files match these patterns; a list, or text divided at `,`."""
    shell: Literal["bash", "powershell"] | None = None
    """The shell for commands in the text."""
    when_to_use: str | None = None
    """Text that is added to the description."""
    user_invocable: bool | None = None
    """Whether people may call it; `false` hides it in the menu; common misspelling, which
    the tool ignores: `user-invokable`."""
    disallowed_tools: tuple[str, ...] | None = None
    """Tools it may not use; *restricts* the agent, so a misspelling is an error; a list, or
    text divided at `, `; every tool it names must exist."""
    version: str | None = None
    """The version of the skill."""
    body: str = ""
    """The text below the header."""

class GeminiCommand(Struct, frozen=True, kw_only=True):
    """A Gemini command."""

    prompt: str | None = None
    """The prompt; `{{args}}` becomes the arguments; **required**: the tool ignores a file
    without it."""
    description: str | None = None
    """What it does; the menu shows this text."""

class GitHubCopilotSkill(Struct, frozen=True, kw_only=True):
    """A skill."""

    name: str | None = None
    """The name of the skill and of its folder; recommended."""
    description: str | None = None
    """What it does and when to use it; recommended."""
    license: str | None = None
    """The licence, or the file that holds it."""
    compatibility: str | None = None
    """What it needs: programs, packages, the network."""
    metadata: dict[str, Any] | None = None
    """Anything else, as text by name."""
    allowed_tools: tuple[str, ...] | None = None
    """Tools it may use without asking the user; *restricts* the agent, so a misspelling is
    an error; a list, or text divided at `, `; every tool it names must exist."""
    argument_hint: str | tuple[Any, ...] | None = None
    """The arguments, as the menu shows them: `[file] [line]`."""
    arguments: str | tuple[Any, ...] | None = None
    """Names for the arguments; the text uses them as `$name`."""
    model: str | None = None
    """The model to use while it runs."""
    effort: Literal["low", "medium", "high", "xhigh", "max"] | int | None = None
    """How much the model reasons while it runs."""
    disable_model_invocation: bool | None = None
    """Whether only people may call it; *restricts* the agent, so a misspelling is an
    error."""
    context: Literal["fork"] | None = None
    """`fork`: it runs in an agent of its own."""
    agent: str | None = None
    """The agent that runs it, with `context: fork`; every agent it names must exist."""
    hooks: dict[str, Any] | None = None
    """Programs that run at certain events while it runs."""
    paths: tuple[str, ...] | None = None
    """Claude sees it once files match these patterns; a list, or text divided at `,`."""
    shell: Literal["bash", "powershell"] | None = None
    """The shell for commands in the text."""
    when_to_use: str | None = None
    """Text that is added to the description."""
    user_invocable: bool | None = None
    """Whether people may call it; `false` hides it in the menu; common misspelling, which
    the tool ignores: `user-invokable`."""
    disallowed_tools: tuple[str, ...] | None = None
    """Tools it may not use; *restricts* the agent, so a misspelling is an error; a list, or
    text divided at `, `; every tool it names must exist."""
    version: str | None = None
    """The version of the skill."""
    body: str = ""
    """The text below the header."""

class OpenCodeAgent(Struct, frozen=True, kw_only=True):
    """An OpenCode agent."""

    description: str | None = None
    """When to use it; other agents choose it by this text; recommended."""
    name: str | None = None
    """The name; by default that of the file."""
    mode: Literal["primary", "subagent", "all"] | None = None
    """Whether people choose it, other agents call it, or both."""
    model: str | None = None
    """The model, as `provider/model`."""
    variant: str | None = None
    """The variant of the model, such as its effort."""
    temperature: float | None = None
    """How random its answers are."""
    top_p: float | None = None
    """Sample only from the most likely tokens up to this probability."""
    prompt: str | None = None
    """The prompt, instead of the text below the header."""
    tools: dict[str, bool] | None = None
    """Tools to turn on or off by name; `permission` replaces it; *restricts* the agent, so
    a misspelling is an error; every tool it names must exist; common misspelling, which the
    tool ignores: `allowed-tools`, `allowed_tools`."""
    permission: dict[str, Any] | Literal["ask", "allow", "deny"] | None = None
    """What it may do: one action, or an action for each tool; *restricts* the agent, so a
    misspelling is an error."""
    steps: int | None = None
    """After how many steps it stops."""
    maxSteps: int | None = None
    """The old name of `steps`."""
    disable: bool | None = None
    """Whether to turn the agent off."""
    hidden: bool | None = None
    """Whether to hide it from people."""
    color: str | None = None
    """Its colour: a hexadecimal number or a name of the theme."""
    options: dict[str, Any] | None = None
    """Further options for the provider of the model."""
    body: str = ""
    """The text below the header."""

class OpenCodeCommand(Struct, frozen=True, kw_only=True):
    """An OpenCode command."""

    description: str | None = None
    """What it does; the menu shows this text."""
    name: str | None = None
    """A name to show; the file gives the name to call it by."""
    agent: str | None = None
    """The agent that runs it; every agent it names must exist."""
    model: str | None = None
    """The model to use, as `provider/model`."""
    subtask: bool | None = None
    """Whether it always runs in an agent of its own."""
    template: str | None = None
    """The prompt, instead of the text below the header."""
    body: str = ""
    """The text below the header."""

class OpenCodeSkill(Struct, frozen=True, kw_only=True):
    """A skill."""

    name: str | None = None
    """The name of the skill and of its folder; **required**: the tool ignores a file
    without it."""
    description: str | None = None
    """What it does and when to use it; **required**: the tool ignores a file without it."""
    license: str | None = None
    """The licence, or the file that holds it."""
    compatibility: str | None = None
    """What it needs: programs, packages, the network."""
    metadata: dict[str, Any] | None = None
    """Anything else, as text by name."""
    allowed_tools: tuple[str, ...] | None = None
    """Tools it may use without asking the user; *restricts* the agent, so a misspelling is
    an error; a list, or text divided at `, `; every tool it names must exist."""
    argument_hint: str | tuple[Any, ...] | None = None
    """The arguments, as the menu shows them: `[file] [line]`."""
    arguments: str | tuple[Any, ...] | None = None
    """Names for the arguments; the text uses them as `$name`."""
    model: str | None = None
    """The model to use while it runs."""
    effort: Literal["low", "medium", "high", "xhigh", "max"] | int | None = None
    """How much the model reasons while it runs."""
    disable_model_invocation: bool | None = None
    """Whether only people may call it; *restricts* the agent, so a misspelling is an
    error."""
    context: Literal["fork"] | None = None
    """`fork`: it runs in an agent of its own."""
    agent: str | None = None
    """The agent that runs it, with `context: fork`; every agent it names must exist."""
    hooks: dict[str, Any] | None = None
    """Programs that run at certain events while it runs."""
    paths: tuple[str, ...] | None = None
    """Claude sees it once files match these patterns; a list, or text divided at `,`."""
    shell: Literal["bash", "powershell"] | None = None
    """The shell for commands in the text."""
    when_to_use: str | None = None
    """Text that is added to the description."""
    user_invocable: bool | None = None
    """Whether people may call it; `false` hides it in the menu; common misspelling, which
    the tool ignores: `user-invokable`."""
    disallowed_tools: tuple[str, ...] | None = None
    """Tools it may not use; *restricts* the agent, so a misspelling is an error; a list, or
    text divided at `, `; every tool it names must exist."""
    version: str | None = None
    """The version of the skill."""
    body: str = ""
    """The text below the header."""
