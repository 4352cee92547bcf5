# made by tools/faces.py from the kinds; `make stubs` renews it.

from typing import Any, Literal, TypeAlias

from msgspec import Struct

from equipage.clients.mcp.servers import McpServer as McpServer, McpServers as McpServers
from equipage.formats.blueprint.model import (
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
from equipage.formats.defect.hooks import (
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
from equipage.formats.defect.mcp import (
    JsonServer as JsonServer,
    Mcp as Mcp,
    McpJson as McpJson,
    McpServer as DefectMcpServer,
)
from equipage.formats.defect.profile_model import (
    AgentProfile as AgentProfile,
    Default as Default,
    Prompt as ProfilePrompt,
    Sampling as Sampling,
    Tools as Tools,
)
from equipage.formats.defect.settings_model import (
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
from equipage.formats.defect.skill import Skill as Skill, SkillTriggers as SkillTriggers
from equipage.formats.server.compose import ServerLimits as ServerLimits
from equipage.formats.server.generate import Generated as Generated
from equipage.formats.server.model import (
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
from equipage.formats.server.payloads.base import GeneratorLimits as GeneratorLimits
from equipage.formats.toolpack.model import (
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
from equipage.loading.format import Limits as Limits

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

KINDS: dict[str, tuple[str, ...]]

KindName: TypeAlias = Literal[
    "agent_md",
    "agentic-workflow",
    "amp-settings",
    "blueprint",
    "claude-agent",
    "claude-command",
    "claude-hooks",
    "claude-lsp",
    "claude-marketplace",
    "claude-output-style",
    "claude-plugin",
    "claude-rule",
    "claude-settings",
    "cline-rule",
    "codex-agent",
    "codex-config",
    "codex-hooks",
    "codex-plugin",
    "codex-skill-metadata",
    "continue-config",
    "continue-rule",
    "copilot-agent",
    "copilot-hooks",
    "copilot-instructions",
    "copilot-prompt",
    "copilot-settings",
    "cursor-agent",
    "cursor-command",
    "cursor-environment",
    "cursor-hooks",
    "cursor-permissions",
    "cursor-plugin",
    "cursor-rule",
    "gemini-agent",
    "gemini-command",
    "gemini-extension",
    "gemini-policy",
    "gemini-settings",
    "goose-config",
    "goose-recipe",
    "instructions",
    "kiro-agent",
    "kiro-hook",
    "kiro-steering",
    "mcp",
    "opencode-agent",
    "opencode-command",
    "opencode-config",
    "openhands-microagent",
    "profile",
    "qwen-agent",
    "qwen-settings",
    "roo-command",
    "roo-modes",
    "server",
    "settings",
    "skill",
    "toolpack",
    "windsurf-hooks",
    "windsurf-rule",
    "windsurf-workflow",
    "zed-settings",
]

Config: TypeAlias = (
    Agent
    | AgenticWorkflow
    | AmpSettingsFile
    | Blueprint
    | ClaudeCodeAgent
    | ClaudeCodeCommand
    | ClaudeCodeHooksFile
    | ListOfLanguageServers
    | ClaudeCodeMarketplace
    | ClaudeCodeOutputStyle
    | ClaudeCodePlugin
    | ClaudeCodeRule
    | ClaudeCodeSettingsFile
    | ClineRule
    | CodexAgent
    | CodexConfiguration
    | ListOfCodexHooks
    | CodexPlugin
    | ListOfSkillMetadata
    | ContinueConfiguration
    | ContinueRule
    | CopilotAgent
    | ListOfCopilotHooks
    | CopilotInstructions
    | CopilotPrompt
    | CopilotSettingsFile
    | CursorAgent
    | CursorCommand
    | CursorEnvironment
    | ListOfCursorHooks
    | ListOfCursorPermissions
    | CursorPlugin
    | CursorRule
    | GeminiAgent
    | GeminiCommand
    | GeminiExtension
    | GeminiPolicy
    | GeminiSettingsFile
    | GooseConfiguration
    | GooseRecipe
    | FileOfInstructions
    | KiroAgent
    | KiroHook
    | KiroSteeringFile
    | McpServers
    | McpJson
    | OpenCodeAgent
    | OpenCodeCommand
    | OpenCodeConfiguration
    | OpenHandsMicroagent
    | AgentProfile
    | QwenAgent
    | QwenSettingsFile
    | RooCommand
    | ListOfRooModes
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
    | ListOfWindsurfHooks
    | WindsurfRule
    | WindsurfWorkflow
    | ZedSettingsFile
)

def fields(model: type[Any]) -> dict[str, str]: ...
def kind_of_model(model: type[Any]) -> str | None: ...

class AgentOfOpenCode(Struct, frozen=True, kw_only=True):
    """An agent of OpenCode."""

    description: str | None = None
    """When to use it; other agents choose it by this text."""
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
    """Tools to turn on or off by name; `permission` replaces it; restricts the agent, so a
    misspelling is an error; every tool it names must exist; common misspelling, which the
    tool ignores: `allowed-tools`, `allowed_tools`."""
    permission: (
        dict[str, Literal["ask", "allow", "deny"] | dict[str, Literal["ask", "allow", "deny"]]]
        | Literal["ask", "allow", "deny"]
        | None
    ) = None
    """What it may do: one action, or an action for each tool; restricts the agent, so a
    misspelling is an error; common misspelling, which the tool ignores: `permissions`."""
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

class AgentSettingsOfZed(Struct, frozen=True, kw_only=True):
    """The agent settings of Zed."""

    default_model: Any | None = None
    """The model."""
    profiles: dict[str, Any] | None = None
    """Which tools each profile has; restricts the agent, so a misspelling is an error."""
    default_profile: str | None = None
    """The profile to start with."""
    tool_permissions: dict[str, Any] | None = None
    """What tools may do; restricts the agent, so a misspelling is an error."""
    always_allow_tool_actions: bool | None = None
    """Whether nothing is asked."""

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
    """Tools it may use without asking the user; restricts the agent, so a misspelling is an
    error; a list, or text divided at `, `; every tool it names must exist."""
    argument_hint: str | tuple[Any, ...] | None = None
    """The arguments, as the menu shows them: `[file] [line]`."""
    arguments: str | tuple[Any, ...] | None = None
    """Names for the arguments; the text uses them as `$name`."""
    model: str | None = None
    """The model to use while it runs."""
    effort: Literal["low", "medium", "high", "xhigh", "max"] | int | None = None
    """How much the model reasons while it runs."""
    disable_model_invocation: bool | None = None
    """Whether only people may call it; restricts the agent, so a misspelling is an
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
    """Tools it may not use; restricts the agent, so a misspelling is an error; a list, or
    text divided at `, `; every tool it names must exist."""
    version: str | None = None
    """The version of the skill."""
    allowedTools: tuple[str, ...] | None = None
    """Tools it may use without asking, as Qwen Code names the field; restricts the agent,
    so a misspelling is an error; a list, or text divided at `,`; every tool it names must
    exist."""
    mode: bool | str | None = None
    """Whether it is a mode that people switch on, in Cursor."""
    body: str = ""
    """The text below the header."""

class AgenticWorkflow(Struct, frozen=True, kw_only=True):
    """An agentic workflow."""

    on: Any | None = None
    """What starts it; without it, others import the file."""
    name: str | None = None
    """The name that people see."""
    description: str | None = None
    """What it does."""
    permissions: str | dict[str, Any] | None = None
    """What it may do on GitHub; restricts the agent, so a misspelling is an error; common
    misspelling, which the tool ignores: `permission`."""
    engine: str | dict[str, Any] | None = None
    """The agent that runs it."""
    tools: dict[str, Any] | None = None
    """The tools it has; restricts the agent, so a misspelling is an error."""
    mcp_servers: dict[str, Any] | None = None
    """MCP servers, by name."""
    safe_outputs: dict[str, Any] | None = None
    """What it may write, and how often."""
    safe_inputs: dict[str, Any] | None = None
    """Tools of its own, by name."""
    mcp_scripts: dict[str, Any] | None = None
    """Tools of its own, by name."""
    network: str | dict[str, Any] | None = None
    """The hosts it may reach; restricts the agent, so a misspelling is an error."""
    strict: bool | None = None
    """Whether it is compiled strictly."""
    sandbox: Any | None = None
    """Where it runs."""
    imports: Any | None = None
    """Other files that it takes over."""
    import_schema: dict[str, Any] | None = None
    """What those who import it may set."""
    inlined_imports: bool | None = None
    """Whether imports become part of it."""
    source: str | None = None
    """Where it was copied from."""
    redirect: str | None = None
    """Where it went."""
    roles: str | tuple[str, ...] | None = None
    """Who may start it; restricts the agent, so a misspelling is an error."""
    bots: tuple[str, ...] | None = None
    """Bots that may start it."""
    skip_roles: str | tuple[str, ...] | None = None
    """Who may not start it."""
    skip_bots: str | tuple[str, ...] | None = None
    """Bots that may not start it."""
    if_: str | bool | None = None
    """The condition under which it runs."""
    timeout_minutes: int | str | None = None
    """After how many minutes it is stopped."""
    stop_after: str | None = None
    """When it stops for good."""
    rate_limit: Any | None = None
    """How often it may run."""
    labels: Any | None = None
    """Words to find it by."""
    metadata: dict[str, Any] | None = None
    """Anything else, by name."""
    tracker_id: str | None = None
    """What ties its outputs together."""
    runtimes: dict[str, Any] | None = None
    """Versions of languages."""
    features: dict[str, Any] | None = None
    """Features to turn on."""
    github_token: str | None = None
    """The token it uses."""
    checkout: Any | None = None
    """How the repository is fetched."""
    plugins: Any | None = None
    """Plugins it uses."""
    dependencies: Any | None = None
    """Packages it uses."""
    apm: Any | None = None
    """Packages it uses."""
    observability: Any | None = None
    """Where traces are sent."""
    resources: Any | None = None
    """Files it brings."""
    model: str | None = None
    """The model to use."""
    models: Any | None = None
    """Other names for models."""
    private: bool | None = None
    """Whether others may copy it."""
    disable_model_invocation: bool | None = None
    """Whether no agent may start it."""
    infer: Any | None = None
    """An old name of the field above."""
    applyTo: str | tuple[str, ...] | None = None
    """The files it is about."""
    check_for_updates: bool | None = None
    """Whether to look for updates."""
    runs_on: Any | None = None
    """As in GitHub Actions."""
    steps: Any | None = None
    """As in GitHub Actions."""
    post_steps: Any | None = None
    """As in GitHub Actions."""
    pre_steps: Any | None = None
    """As in GitHub Actions."""
    pre_agent_steps: Any | None = None
    """As in GitHub Actions."""
    jobs: Any | None = None
    """As in GitHub Actions."""
    env: Any | None = None
    """As in GitHub Actions."""
    secrets: Any | None = None
    """As in GitHub Actions."""
    concurrency: Any | None = None
    """As in GitHub Actions."""
    cache: Any | None = None
    """As in GitHub Actions."""
    container: Any | None = None
    """As in GitHub Actions."""
    services: Any | None = None
    """As in GitHub Actions."""
    environment: Any | None = None
    """As in GitHub Actions."""
    run_name: Any | None = None
    """As in GitHub Actions."""
    defaults: Any | None = None
    """As in GitHub Actions."""
    body: str = ""
    """The text below the header."""

class AgentsOfCodex(Struct, frozen=True, kw_only=True):
    """The agents of Codex."""

    enabled: bool | None = None
    """Whether there are sub-agents."""
    max_depth: int | None = None
    """How deep agents may start agents."""
    max_concurrent_threads_per_session: int | None = None
    """How many run at once."""
    max_threads: int | None = None
    """The old name of the limit above."""
    job_max_runtime_seconds: int | None = None
    """How long one may run."""
    default_subagent_model: str | None = None
    """The model of agents that name none."""
    default_subagent_reasoning_effort: str | None = None
    """How much their models reason."""
    interrupt_message: bool | None = None
    """Whether an interrupted agent learns of it."""

class AmpSettingsFile(Struct, frozen=True, kw_only=True):
    """An Amp settings file."""

    amp_mcpServers: dict[str, dict[str, Any]] | None = None
    """MCP servers, by name."""
    amp_permissions: tuple[PermissionOfAmp, ...] | None = None
    """What may be done; the first rule that matches counts; restricts the agent, so a
    misspelling is an error."""
    amp_tools_disable: tuple[str, ...] | None = None
    """Tools that are left out; restricts the agent, so a misspelling is an error."""
    amp_mcpPermissions: Any | None = None
    """Which servers may be used; restricts the agent, so a misspelling is an error."""
    amp_dangerouslyAllowAll: Any | None = None
    """Whether nothing is asked."""
    amp_commands_allowlist: Any | None = None
    """Commands that are not asked about."""
    amp_guardedFiles_allowlist: Any | None = None
    """Guarded files that may be changed."""
    amp_toolbox_path: Any | None = None
    """Folders with tools of the project."""
    amp_skills_path: Any | None = None
    """Folders with more skills."""

class ApprovalPolicyOfCodex(Struct, frozen=True, kw_only=True):
    """An approval policy of Codex."""

    granular: GranularApprovalPolicyOfCodex | None = None
    """What may be asked for, one by one."""

class AuthorOfACodexPlugin(Struct, frozen=True, kw_only=True):
    """The author of a Codex plugin."""

    name: str | None = None
    """Who wrote it; recommended."""
    email: str | None = None
    """An address for mail."""
    url: str | None = None
    """An address on the web."""

class AuthorOfAPlugin(Struct, frozen=True, kw_only=True):
    """The author of a plugin."""

    name: str | None = None
    """The name; required: the tool ignores a file without it."""
    email: str | None = None
    """The address for mail."""
    url: str | None = None
    """The address of a web page."""

class ChannelOfAPlugin(Struct, frozen=True, kw_only=True):
    """A channel of a plugin."""

    server: str | None = None
    """The MCP server that sends the messages; required: the tool ignores a file without
    it."""
    displayName: str | None = None
    """The name that people see."""
    userConfig: dict[str, ValueThatAPluginAsksFor] | None = None
    """Values to ask the user for."""

class ClaudeCodeAgent(Struct, frozen=True, kw_only=True):
    """A Claude Code agent."""

    name: str | None = None
    """The name by which people and agents call it; required: the tool ignores a file
    without it."""
    description: str | None = None
    """When to use it; Claude chooses it by this text; required: the tool ignores a file
    without it."""
    tools: tuple[str, ...] | None = None
    """The only tools it may use; without the field it has all of them; restricts the agent,
    so a misspelling is an error; a list, or text divided at `, `; every tool it names must
    exist; common misspelling, which the tool ignores: `allowed-tools`, `allowed_tools`,
    `allowedTools`, `tool`."""
    disallowedTools: tuple[str, ...] | None = None
    """Tools it may not use; restricts the agent, so a misspelling is an error; a list, or
    text divided at `,`; every tool it names must exist; common misspelling, which the tool
    ignores: `denied-tools`."""
    model: str | None = None
    """The model, such as `sonnet`; `inherit` for the caller's."""
    permissionMode: (
        Literal["default", "acceptEdits", "plan", "auto", "dontAsk", "bypassPermissions"] | None
    ) = None
    """What it may do without asking the user; restricts the agent, so a misspelling is an
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
    """Tools it may use without asking the user; restricts the agent, so a misspelling is an
    error; a list, or text divided at `, `; every tool it names must exist."""
    argument_hint: str | tuple[Any, ...] | None = None
    """The arguments, as the menu shows them: `[file] [line]`."""
    arguments: str | tuple[Any, ...] | None = None
    """Names for the arguments; the text uses them as `$name`."""
    model: str | None = None
    """The model to use while it runs."""
    effort: Literal["low", "medium", "high", "xhigh", "max"] | int | None = None
    """How much the model reasons while it runs."""
    disable_model_invocation: bool | None = None
    """Whether only people may call it; restricts the agent, so a misspelling is an
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

class ClaudeCodeHooksFile(Struct, frozen=True, kw_only=True):
    """A Claude Code hooks file."""

    hooks: Any | None = None
    """Handlers by event; restricts the agent, so a misspelling is an error."""
    modules: Any | None = None
    """Programs that bring hooks, relative to this file."""
    description: str | None = None
    """What the hooks are for."""
    _schema: str | None = None
    """The address of the JSON Schema, for editors."""

class ClaudeCodeMarketplace(Struct, frozen=True, kw_only=True):
    """A Claude Code marketplace."""

    name: str | None = None
    """The name; users write it as `plugin@name`; required: the tool ignores a file without
    it."""
    owner: OwnerOfAMarketplace | None = None
    """Who keeps it: `name`, `email` and `url`; required: the tool ignores a file without
    it."""
    plugins: tuple[EntryOfAMarketplace, ...] | None = None
    """The plugins, each with its name and where it comes from; required: the tool ignores a
    file without it."""
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
    renames: dict[str, Any] | None = None
    """Old names of plugins → new ones."""
    forceRemoveDeletedPlugins: bool | None = None
    """Whether users lose plugins that leave the list."""

class ClaudeCodeOutputStyle(Struct, frozen=True, kw_only=True):
    """A Claude Code output style."""

    name: str | None = None
    """The name of the style; by default that of the file."""
    description: str | None = None
    """What the menu shows."""
    keep_coding_instructions: bool | None = None
    """Whether the instructions for code stay."""
    force_for_plugin: bool | None = None
    """Whether the plugin switches it on."""
    body: str = ""
    """The text below the header."""

class ClaudeCodePlugin(Struct, frozen=True, kw_only=True):
    """A Claude Code plugin."""

    name: str | None = None
    """The name; it precedes the names of all parts; required: the tool ignores a file
    without it."""
    _schema: str | None = None
    """The address of the JSON Schema, for editors."""
    version: str | None = None
    """The version of the plugin."""
    description: str | None = None
    """What the plugin adds."""
    displayName: str | None = None
    """The name that people see."""
    author: AuthorOfAPlugin | None = None
    """Who wrote it: `name`, `email` and `url`."""
    homepage: str | None = None
    """The address of its web page."""
    repository: str | None = None
    """The address of its source code."""
    license: str | None = None
    """The licence, such as `MIT`."""
    keywords: tuple[str, ...] | None = None
    """Words to find it by."""
    commands: str | tuple[str, ...] | dict[str, Any] | None = None
    """Files and folders of commands, instead of `commands/`."""
    agents: str | tuple[str, ...] | None = None
    """Files of agents, instead of `agents/`."""
    skills: str | tuple[str, ...] | None = None
    """Folders of skills, beside those in `skills/`."""
    hooks: str | tuple[str | dict[str, Any], ...] | dict[str, Any] | None = None
    """Hooks, or the files that hold them."""
    mcpServers: str | tuple[str | dict[str, Any], ...] | dict[str, Any] | None = None
    """MCP servers by name, or the files that hold them."""
    lspServers: str | tuple[str | dict[str, Any], ...] | dict[str, Any] | None = None
    """Language servers by name, or the files that hold them."""
    outputStyles: str | tuple[str, ...] | None = None
    """Files and folders of output styles."""
    themes: str | tuple[str, ...] | None = None
    """Files and folders of colour themes."""
    monitors: str | tuple[dict[str, Any], ...] | None = None
    """Programs whose output Claude follows."""
    channels: tuple[ChannelOfAPlugin, ...] | None = None
    """MCP servers that send messages into a session."""
    settings: dict[str, Any] | None = None
    """Settings that hold while the plugin is on."""
    userConfig: dict[str, ValueThatAPluginAsksFor] | None = None
    """Values to ask the user for when the plugin is turned on."""
    dependencies: tuple[Any, ...] | None = None
    """Plugins that it needs."""
    defaultEnabled: bool | None = None
    """Whether it is on once it is installed."""
    experimental: Any | None = None
    """Features that may still change."""
    category: Any | None = None
    """The category it is listed under."""
    tags: Any | None = None
    """Words to find it by."""
    strict: Any | None = None
    """Whether this file must list all parts of the plugin."""

class ClaudeCodeRule(Struct, frozen=True, kw_only=True):
    """A Claude Code rule."""

    paths: str | tuple[str, ...] | None = None
    """The rule counts for files that match; without it, always; common misspelling, which
    the tool ignores: `globs`, `glob`, `applyTo`, `path`."""
    description: str | None = None
    """What the rule is about."""
    body: str = ""
    """The text below the header."""

class ClaudeCodeSettingsFile(Struct, frozen=True, kw_only=True):
    """A Claude Code settings file."""

    _schema: str | None = None
    """The address of the JSON Schema, for editors."""
    permissions: PermissionsOfClaudeCode | None = None
    """What Claude may do; restricts the agent, so a misspelling is an error."""
    hooks: Any | None = None
    """Programs that run at certain events; restricts the agent, so a misspelling is an
    error."""
    sandbox: SandboxOfClaudeCode | None = None
    """Whether and how commands are confined; restricts the agent, so a misspelling is an
    error."""
    env: dict[str, Any] | None = None
    """Environment variables of the session."""
    model: str | None = None
    """The model to use."""
    fallbackModel: tuple[str, ...] | None = None
    """Models to use while others are busy."""
    availableModels: tuple[str, ...] | None = None
    """The only models to choose from; restricts the agent, so a misspelling is an error."""
    enforceAvailableModels: bool | None = None
    """Whether no other model may run; restricts the agent, so a misspelling is an error."""
    modelOverrides: dict[str, Any] | None = None
    """Other names for models."""
    advisorModel: str | None = None
    """The model that gives advice."""
    teammateDefaultModel: str | None = None
    """The model of new teammates."""
    effortLevel: str | None = None
    """How much the model reasons."""
    agent: str | None = None
    """The agent that runs as the main one."""
    outputStyle: str | None = None
    """The name of the output style."""
    language: str | None = None
    """The language of the answers."""
    apiKeyHelper: str | None = None
    """A command that prints the key of the API."""
    awsAuthRefresh: str | None = None
    """A command that renews the credentials of AWS."""
    awsCredentialExport: str | None = None
    """A command that prints the credentials of AWS."""
    gcpAuthRefresh: str | None = None
    """A command that renews the credentials of Google."""
    otelHeadersHelper: str | None = None
    """A command that prints headers for telemetry."""
    processWrapper: str | None = None
    """A command that starts other commands."""
    policyHelper: dict[str, Any] | None = None
    """A command that prints managed settings."""
    statusLine: CommandOfClaudeCode | None = None
    """The command that prints the status line."""
    subagentStatusLine: CommandOfClaudeCode | None = None
    """The command that prints the status of agents."""
    fileSuggestion: CommandOfClaudeCode | None = None
    """The command that suggests files."""
    enabledPlugins: dict[str, Any] | None = None
    """Plugins that are on or off, as `name@marketplace`."""
    extraKnownMarketplaces: dict[str, Any] | None = None
    """Marketplaces to offer, by name."""
    strictKnownMarketplaces: tuple[Any, ...] | None = None
    """The only marketplaces; restricts the agent, so a misspelling is an error."""
    blockedMarketplaces: tuple[Any, ...] | None = None
    """Marketplaces that are refused; restricts the agent, so a misspelling is an error."""
    skippedMarketplaces: tuple[str, ...] | None = None
    """Marketplaces not to ask about."""
    skippedPlugins: tuple[str, ...] | None = None
    """Plugins not to ask about."""
    pluginConfigs: dict[str, Any] | None = None
    """Values of plugins, by plugin."""
    pluginTrustMessage: str | None = None
    """A text to show before a plugin is trusted."""
    pluginSuggestionMarketplaces: tuple[str, ...] | None = None
    """Marketplaces to suggest plugins from."""
    allowedChannelPlugins: tuple[Any, ...] | None = None
    """Plugins that may send messages."""
    strictPluginOnlyCustomization: bool | tuple[str, ...] | None = None
    """Whether parts may come from plugins only; restricts the agent, so a misspelling is an
    error."""
    enabledMcpjsonServers: tuple[Any, ...] | str | None = None
    """Servers of `.mcp.json` that are approved."""
    disabledMcpjsonServers: str | tuple[str, ...] | None = None
    """Servers of `.mcp.json` that are refused; restricts the agent, so a misspelling is an
    error."""
    allowedMcpServers: tuple[Any, ...] | None = None
    """The only MCP servers; restricts the agent, so a misspelling is an error."""
    deniedMcpServers: tuple[Any, ...] | None = None
    """MCP servers that are refused; restricts the agent, so a misspelling is an error."""
    managedMcpServers: tuple[Any, ...] | None = None
    """MCP servers of the organisation."""
    disableAutoMode: Literal["disable"] | None = None
    """`disable`: no automatic mode; restricts the agent, so a misspelling is an error."""
    disableDeepLinkRegistration: Literal["disable"] | None = None
    """`disable`: no links into the program."""
    autoMode: dict[str, Any] | None = None
    """What the automatic mode allows."""
    allowedHttpHookUrls: tuple[str, ...] | None = None
    """The only addresses of hooks; restricts the agent, so a misspelling is an error."""
    httpHookAllowedEnvVars: tuple[str, ...] | None = None
    """Variables that hooks may send; restricts the agent, so a misspelling is an error."""
    claudeMdExcludes: tuple[str, ...] | None = None
    """Instructions not to read, as globs."""
    claudeMd: str | None = None
    """Instructions of the organisation."""
    plansDirectory: str | None = None
    """Where plans are kept."""
    autoMemoryDirectory: str | None = None
    """Where notes are kept."""
    cleanupPeriodDays: int | None = None
    """After how many days sessions are deleted."""
    skillOverrides: dict[str, Literal["on", "name-only", "user-invocable-only", "off"]] | None = (
        None
    )
    """How skills are offered, by name; restricts the agent, so a misspelling is an
    error."""
    skillListingBudgetFraction: float | None = None
    """How much of the context skills may take."""
    skillListingMaxDescChars: int | None = None
    """How long the description of a skill may be."""
    attribution: bool | dict[str, Any] | None = None
    """What commits and pull requests say."""
    worktree: dict[str, Any] | None = None
    """How worktrees are made."""
    spinnerVerbs: dict[str, Any] | None = None
    """The words that show progress."""
    spinnerTipsOverride: dict[str, Any] | None = None
    """The tips that are shown."""
    companyAnnouncements: tuple[str, ...] | None = None
    """Texts to show at the start."""
    sshConfigs: tuple[Any, ...] | None = None
    """Machines to work on."""
    sshHostAllowlist: tuple[str, ...] | None = None
    """The only machines to work on; restricts the agent, so a misspelling is an error."""
    footerLinksRegexes: tuple[Any, ...] | None = None
    """Links below the input."""
    vimInsertModeRemaps: dict[str, Any] | None = None
    """Keys of Vim."""
    voice: dict[str, Any] | None = None
    """How to talk to Claude."""
    theme: str | None = None
    """The colours."""
    tui: Literal["fullscreen", "default"] | None = None
    """How the terminal is used."""
    viewMode: str | None = None
    """How much is shown."""
    editorMode: str | None = None
    """How the input is edited."""
    diffTool: str | None = None
    """Where differences are shown."""
    defaultShell: Literal["bash", "powershell"] | None = None
    """The shell for commands."""
    teammateMode: Any | None = None
    """How teammates are shown."""
    preferredNotifChannel: str | None = None
    """How notices are sent."""
    parentSettingsBehavior: str | None = None
    """How settings above are used."""
    askUserQuestionTimeout: str | None = None
    """How long to wait for an answer."""
    workflowSizeGuideline: str | None = None
    """How large workflows may be."""
    browserExternalPageTools: str | None = None
    """Whether other pages have tools."""
    autoUpdatesChannel: Literal["stable", "latest", "rc"] | None = None
    """Which versions to install."""
    forceLoginMethod: str | None = None
    """The only way to sign in; restricts the agent, so a misspelling is an error."""
    forceLoginOrgUUID: str | tuple[str, ...] | None = None
    """The only organisation; restricts the agent, so a misspelling is an error."""
    forceLoginGatewayUrl: str | None = None
    """The only gateway; restricts the agent, so a misspelling is an error."""
    minimumVersion: str | None = None
    """The oldest version to install."""
    requiredMinimumVersion: str | None = None
    """The oldest version that may run; restricts the agent, so a misspelling is an
    error."""
    requiredMaximumVersion: str | None = None
    """The newest version that may run; restricts the agent, so a misspelling is an
    error."""
    prUrlTemplate: str | None = None
    """The address of pull requests."""
    feedbackSurveyRate: int | float | None = None
    """How often to ask for feedback."""
    enableAllProjectMcpServers: bool | None = None
    """Whether all servers of `.mcp.json` are approved."""
    includeCoAuthoredBy: bool | None = None
    """Whether commits name Claude."""
    includeGitInstructions: bool | None = None
    """Whether the prompt explains how to use git."""
    respectGitignore: bool | None = None
    """Whether ignored files are left out of suggestions."""
    alwaysThinkingEnabled: bool | None = None
    """Whether the model always reasons first."""
    autoMemoryEnabled: bool | None = None
    """Whether Claude keeps notes."""
    autoCompactEnabled: bool | None = None
    """Whether long sessions are summed up."""
    fileCheckpointingEnabled: bool | None = None
    """Whether edits can be undone."""
    fastMode: bool | None = None
    """Whether answers are to be fast."""
    fastModePerSessionOptIn: bool | None = None
    """Whether fast answers are asked for each time."""
    verbose: bool | None = None
    """Whether everything is shown."""
    spinnerTipsEnabled: bool | None = None
    """Whether tips are shown."""
    syntaxHighlightingDisabled: bool | None = None
    """Whether code is shown without colours."""
    terminalProgressBarEnabled: bool | None = None
    """Whether the terminal shows progress."""
    showTurnDuration: bool | None = None
    """Whether the time of a turn is shown."""
    showThinkingSummaries: bool | None = None
    """Whether the reasoning is shown."""
    showClearContextOnPlanAccept: bool | None = None
    """Whether a plan may start afresh."""
    prefersReducedMotion: bool | None = None
    """Whether nothing moves."""
    axScreenReader: bool | None = None
    """Whether a screen reader is in use."""
    skipWebFetchPreflight: bool | None = None
    """Whether addresses are not checked first."""
    useAutoModeDuringPlan: bool | None = None
    """Whether plans use the automatic mode."""
    respondToBashCommands: bool | None = None
    """Whether Claude answers commands of the user."""
    channelsEnabled: bool | None = None
    """Whether plugins may send messages."""
    voiceEnabled: bool | None = None
    """Whether Claude listens."""
    wheelScrollAccelerationEnabled: bool | None = None
    """Whether the wheel scrolls faster."""
    wslInheritsWindowsSettings: bool | None = None
    """Whether settings of Windows count."""
    awaySummaryEnabled: bool | None = None
    """Whether absences are summed up."""
    autoScrollEnabled: bool | None = None
    """Whether the view follows the end."""
    allowAllClaudeAiMcps: bool | None = None
    """Whether all connectors are on."""
    agentPushNotifEnabled: bool | None = None
    """Whether agents send notices."""
    inputNeededNotifEnabled: bool | None = None
    """Whether questions send notices."""
    remoteControlAtStartup: bool | None = None
    """Whether remote control is on."""
    workflowKeywordTriggerEnabled: bool | None = None
    """Whether words start workflows."""
    enableArtifact: bool | None = None
    """Whether artifacts are on."""
    permissionExplainerEnabled: bool | None = None
    """Whether approvals are explained."""
    externalEditorContext: bool | None = None
    """Whether the editor sees the session."""
    autoConnectIde: bool | None = None
    """Whether the editor is connected."""
    autoInstallIdeExtension: bool | None = None
    """Whether the extension is installed."""
    emojiCompletionEnabled: bool | None = None
    """Whether emoji are suggested."""
    forceRemoteSettingsRefresh: bool | None = None
    """Whether managed settings are read anew."""
    disableAgentView: bool | None = None
    """Whether agents are not shown."""
    disableArtifact: bool | None = None
    """Whether artifacts are off."""
    disableClaudeAiConnectors: bool | None = None
    """Whether connectors are off."""
    disableMobileSimulatorTools: bool | None = None
    """Whether simulators are off."""
    disableAllHooks: bool | None = None
    """Whether no hook runs; restricts the agent, so a misspelling is an error."""
    allowManagedHooksOnly: bool | None = None
    """Whether only managed hooks run; restricts the agent, so a misspelling is an error."""
    allowManagedPermissionRulesOnly: bool | None = None
    """Whether only managed rules count; restricts the agent, so a misspelling is an
    error."""
    allowManagedMcpServersOnly: bool | None = None
    """Whether only managed servers run; restricts the agent, so a misspelling is an
    error."""
    disableBundledSkills: bool | None = None
    """Whether the own skills are off; restricts the agent, so a misspelling is an error."""
    disableSkillShellExecution: bool | None = None
    """Whether skills may not run commands; restricts the agent, so a misspelling is an
    error."""
    disableSideloadFlags: bool | None = None
    """Whether flags may not add plugins; restricts the agent, so a misspelling is an
    error."""
    disableWorkflows: bool | None = None
    """Whether workflows are off; restricts the agent, so a misspelling is an error."""
    disableRemoteControl: bool | None = None
    """Whether remote control is off; restricts the agent, so a misspelling is an error."""
    disableBrowserExternalNavigation: bool | None = None
    """Whether other pages are refused; restricts the agent, so a misspelling is an
    error."""
    requireCoworkFullVmSandbox: bool | None = None
    """Whether a virtual machine is needed; restricts the agent, so a misspelling is an
    error."""
    skipDangerousModePermissionPrompt: bool | None = None
    """Whether the dangerous mode is not asked for; restricts the agent, so a misspelling is
    an error."""

class ClaudeCodeSkill(Struct, frozen=True, kw_only=True):
    """A skill."""

    name: str | None = None
    """The name of the skill and of its folder."""
    description: str | None = None
    """What it does and when to use it; recommended."""
    license: str | None = None
    """The licence, or the file that holds it."""
    compatibility: str | None = None
    """What it needs: programs, packages, the network."""
    metadata: dict[str, Any] | None = None
    """Anything else, as text by name."""
    allowed_tools: tuple[str, ...] | None = None
    """Tools it may use without asking the user; restricts the agent, so a misspelling is an
    error; a list, or text divided at `, `; every tool it names must exist."""
    argument_hint: str | tuple[Any, ...] | None = None
    """The arguments, as the menu shows them: `[file] [line]`."""
    arguments: str | tuple[Any, ...] | None = None
    """Names for the arguments; the text uses them as `$name`."""
    model: str | None = None
    """The model to use while it runs."""
    effort: Literal["low", "medium", "high", "xhigh", "max"] | int | None = None
    """How much the model reasons while it runs."""
    disable_model_invocation: bool | None = None
    """Whether only people may call it; restricts the agent, so a misspelling is an
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
    """Tools it may not use; restricts the agent, so a misspelling is an error; a list, or
    text divided at `, `; every tool it names must exist."""
    version: str | None = None
    """The version of the skill."""
    body: str = ""
    """The text below the header."""

class ClineRule(Struct, frozen=True, kw_only=True):
    """A Cline rule."""

    paths: str | tuple[str, ...] | None = None
    """The files it applies to; common misspelling, which the tool ignores: `globs`,
    `applyTo`."""
    description: str | None = None
    """What it is about."""
    body: str = ""
    """The text below the header."""

class CodexAgent(Struct, frozen=True, kw_only=True):
    """A Codex agent."""

    name: str | None = None
    """The name by which others call it; required: the tool ignores a file without it."""
    description: str | None = None
    """When to use it; others choose it by this text; required: the tool ignores a file
    without it."""
    developer_instructions: str | None = None
    """The prompt; required: the tool ignores a file without it."""
    nickname_candidates: tuple[str, ...] | None = None
    """Names to show for each run of it."""
    model: str | None = None
    """The model to use."""
    model_reasoning_effort: str | None = None
    """How much the model reasons."""
    model_reasoning_summary: Literal["auto", "concise", "detailed", "none"] | None = None
    """How much of its reasoning the model tells."""
    model_verbosity: Literal["low", "medium", "high"] | None = None
    """How long its answers are."""
    sandbox_mode: Literal["read-only", "workspace-write", "danger-full-access"] | None = None
    """What commands may write; restricts the agent, so a misspelling is an error; common
    misspelling, which the tool ignores: `sandbox`, `sandbox_policy`."""
    approval_policy: Literal["on-request", "never", "on-failure"] | ApprovalPolicyOfCodex | None = (
        None
    )
    """When it must ask the user; restricts the agent, so a misspelling is an error."""
    approvals_reviewer: Literal["user", "auto_review", "guardian_subagent"] | None = None
    """Who is asked; restricts the agent, so a misspelling is an error."""
    web_search: Literal["disabled", "cached", "indexed", "live"] | None = None
    """Whether it may search the web; restricts the agent, so a misspelling is an error."""
    mcp_servers: dict[str, dict[str, Any]] | None = None
    """MCP servers, by name; common misspelling, which the tool ignores: `mcpServers`, `mcp-
    servers`."""
    skills: dict[str, Any] | None = None
    """Which skills it has."""
    tools: dict[str, Any] | None = None
    """Settings of the built-in tools."""
    sandbox_workspace_write: SandboxOfCodex | None = None
    """What `workspace-write` allows; restricts the agent, so a misspelling is an error."""
    hooks: Any | None = None
    """Programs that run at certain events while it works."""

class CodexConfiguration(Struct, frozen=True, kw_only=True):
    """A Codex configuration."""

    model: str | None = None
    """The model to use."""
    model_reasoning_effort: str | None = None
    """How much the model reasons."""
    model_reasoning_summary: Literal["auto", "concise", "detailed", "none"] | None = None
    """How much of its reasoning the model tells."""
    model_verbosity: Literal["low", "medium", "high"] | None = None
    """How long its answers are."""
    developer_instructions: str | None = None
    """Further instructions for the model."""
    sandbox_mode: Literal["read-only", "workspace-write", "danger-full-access"] | None = None
    """What commands may write; restricts the agent, so a misspelling is an error; common
    misspelling, which the tool ignores: `sandbox`, `sandbox_policy`."""
    approval_policy: Literal["on-request", "never", "on-failure"] | ApprovalPolicyOfCodex | None = (
        None
    )
    """When it must ask the user; restricts the agent, so a misspelling is an error."""
    approvals_reviewer: Literal["user", "auto_review", "guardian_subagent"] | None = None
    """Who is asked; restricts the agent, so a misspelling is an error."""
    web_search: Literal["disabled", "cached", "indexed", "live"] | None = None
    """Whether it may search the web; restricts the agent, so a misspelling is an error."""
    mcp_servers: dict[str, dict[str, Any]] | None = None
    """MCP servers, by name; common misspelling, which the tool ignores: `mcpServers`, `mcp-
    servers`."""
    skills: dict[str, Any] | None = None
    """Which skills it has."""
    tools: dict[str, Any] | None = None
    """Settings of the built-in tools."""
    sandbox_workspace_write: SandboxOfCodex | None = None
    """What `workspace-write` allows; restricts the agent, so a misspelling is an error."""
    default_permissions: str | None = None
    """The permission profile to start with; restricts the agent, so a misspelling is an
    error."""
    permissions: dict[str, Any] | None = None
    """Permission profiles, by name; restricts the agent, so a misspelling is an error."""
    allow_login_shell: bool | None = None
    """Whether commands may use a login shell; restricts the agent, so a misspelling is an
    error."""
    shell_environment_policy: EnvironmentPolicyOfCodex | None = None
    """Which environment variables commands see; restricts the agent, so a misspelling is an
    error."""
    hooks: HooksOfCodex | None = None
    """Programs that run at certain events."""
    agents: AgentsOfCodex | None = None
    """Limits for sub-agents, and agents by name."""
    apps: dict[str, Any] | None = None
    """Apps and what they may do; restricts the agent, so a misspelling is an error."""
    plugins: dict[str, Any] | None = None
    """Plugins, by name."""
    marketplaces: dict[str, Any] | None = None
    """Marketplaces of plugins, by name."""
    projects: dict[str, Any] | None = None
    """Which folders are trusted."""
    features: dict[str, bool | dict[str, Any]] | None = None
    """Features to turn on or off."""
    memories: dict[str, Any] | None = None
    """What Codex remembers between sessions."""
    history: dict[str, Any] | None = None
    """What is written down of sessions."""
    tui: dict[str, Any] | None = None
    """What the terminal looks like."""
    notice: dict[str, Any] | None = None
    """Notices that were shown."""
    windows: dict[str, Any] | None = None
    """Settings for Windows."""
    analytics: dict[str, Any] | None = None
    """Whether usage is reported."""
    feedback: dict[str, Any] | None = None
    """Whether feedback may be sent."""
    model_provider: Any | None = None
    """The provider of the model."""
    model_providers: Any | None = None
    """Providers of models, by name."""
    model_context_window: int | None = None
    """How many tokens the model takes."""
    model_auto_compact_token_limit: int | None = None
    """When the session is summarised."""
    model_instructions_file: str | None = None
    """A file with other instructions for the model."""
    model_catalog_json: str | None = None
    """A file that describes models."""
    model_supports_reasoning_summaries: bool | None = None
    """Whether summaries are asked for."""
    plan_mode_reasoning_effort: str | None = None
    """How much the model reasons while it plans."""
    review_model: str | None = None
    """The model for reviews."""
    service_tier: str | None = None
    """The tier of the service to ask for."""
    personality: Literal["none", "friendly", "pragmatic"] | None = None
    """How the model speaks."""
    instructions: str | None = None
    """Instructions for the model."""
    compact_prompt: str | None = None
    """How a session is summarised."""
    experimental_compact_prompt_file: str | None = None
    """A file that says how to summarise."""
    experimental_use_unified_exec_tool: bool | None = None
    """An experiment."""
    project_doc_max_bytes: int | None = None
    """How much of AGENTS.md is read."""
    project_doc_fallback_filenames: tuple[str, ...] | None = None
    """Other names for AGENTS.md."""
    project_root_markers: tuple[str, ...] | None = None
    """Files that mark the root of a project."""
    tool_output_token_limit: int | None = None
    """How much output of a tool is kept."""
    background_terminal_max_timeout: int | None = None
    """How long to wait for output."""
    hide_agent_reasoning: bool | None = None
    """Whether reasoning is hidden."""
    show_raw_agent_reasoning: bool | None = None
    """Whether raw reasoning is shown."""
    file_opener: Literal["vscode", "vscode-insiders", "windsurf", "cursor", "none"] | None = None
    """The editor that links open in."""
    check_for_update_on_startup: bool | None = None
    """Whether to look for updates."""
    disable_paste_burst: bool | None = None
    """Whether pasted text is taken as typed."""
    suppress_unstable_features_warning: bool | None = None
    """Whether not to warn of features."""
    include_apps_instructions: bool | None = None
    """Whether the model hears of apps."""
    include_environment_context: bool | None = None
    """Whether the model hears of the machine."""
    include_permissions_instructions: bool | None = None
    """Whether the model hears its limits."""
    forced_login_method: Any | None = None
    """The only way to sign in; restricts the agent, so a misspelling is an error."""
    forced_chatgpt_workspace_id: Any | None = None
    """The only workspace to sign in to."""
    notify: Any | None = None
    """A program that is run after each turn."""
    otel: Any | None = None
    """Where to send traces."""
    profile: Any | None = None
    """An old form: use `--profile` and `NAME.config.toml`."""
    profiles: Any | None = None
    """An old form: use `NAME.config.toml` for each."""
    chatgpt_base_url: Any | None = None
    """Another address of ChatGPT."""
    openai_base_url: Any | None = None
    """Another address of the API."""
    oss_provider: Any | None = None
    """The provider of local models."""
    log_dir: Any | None = None
    """The folder for logs."""
    sqlite_home: Any | None = None
    """The folder for the state."""
    cli_auth_credentials_store: Any | None = None
    """Where credentials are kept."""
    mcp_oauth_credentials_store: Any | None = None
    """Where credentials of servers are kept."""
    mcp_oauth_callback_port: Any | None = None
    """The port for signing in to servers."""
    mcp_oauth_callback_url: Any | None = None
    """The address for signing in to servers."""
    tool_suggest: dict[str, Any] | None = None
    """Tools to suggest."""
    ghost_snapshot: Any | None = None
    """An old setting without effect."""
    realtime: Any | None = None
    """An experiment."""
    audio: Any | None = None
    """An experiment."""
    desktop: Any | None = None
    """Settings of the desktop app."""
    browser_use: dict[str, Any] | None = None
    """What the browser may do; restricts the agent, so a misspelling is an error."""
    computer_use: dict[str, Any] | None = None
    """Which apps may be used; restricts the agent, so a misspelling is an error."""

class CodexPlugin(Struct, frozen=True, kw_only=True):
    """A Codex plugin."""

    name: str | None = None
    """The name by which it is installed; required: the tool ignores a file without it."""
    version: str | None = None
    """Its version."""
    description: str | None = None
    """What it brings."""
    author: str | AuthorOfACodexPlugin | None = None
    """Who wrote it."""
    homepage: str | None = None
    """Where to read about it."""
    repository: str | None = None
    """Where its source is."""
    license: str | None = None
    """The licence."""
    keywords: tuple[str, ...] | None = None
    """Words to find it by."""
    skills: str | None = None
    """The folder of its skills."""
    apps: str | None = None
    """A file with its apps."""
    mcpServers: str | dict[str, Any] | None = None
    """Its MCP servers: a file, or servers by name."""
    hooks: Any | None = None
    """Its hooks: a file, or hooks by event."""
    interface: dict[str, Any] | None = None
    """How apps show it."""
    id: str | None = None
    """Its identity in a marketplace."""

class CodexSkill(Struct, frozen=True, kw_only=True):
    """A skill."""

    name: str | None = None
    """The name of the skill and of its folder."""
    description: str | None = None
    """What it does and when to use it; required: the tool ignores a file without it."""
    license: str | None = None
    """The licence, or the file that holds it."""
    compatibility: str | None = None
    """What it needs: programs, packages, the network."""
    metadata: dict[str, Any] | None = None
    """Anything else, as text by name."""
    allowed_tools: tuple[str, ...] | None = None
    """Tools it may use without asking the user; restricts the agent, so a misspelling is an
    error; a list, or text divided at `, `; every tool it names must exist."""
    argument_hint: str | tuple[Any, ...] | None = None
    """The arguments, as the menu shows them: `[file] [line]`."""
    arguments: str | tuple[Any, ...] | None = None
    """Names for the arguments; the text uses them as `$name`."""
    model: str | None = None
    """The model to use while it runs."""
    effort: Literal["low", "medium", "high", "xhigh", "max"] | int | None = None
    """How much the model reasons while it runs."""
    disable_model_invocation: bool | None = None
    """Whether only people may call it; restricts the agent, so a misspelling is an
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
    """Tools it may not use; restricts the agent, so a misspelling is an error; a list, or
    text divided at `, `; every tool it names must exist."""
    version: str | None = None
    """The version of the skill."""
    body: str = ""
    """The text below the header."""

class CommandOfClaudeCode(Struct, frozen=True, kw_only=True):
    """A command of Claude Code."""

    type: Literal["command"] | None = None
    """Always `command`; required: the tool ignores a file without it."""
    command: str | None = None
    """The command to run; required: the tool ignores a file without it."""
    padding: int | float | None = None
    """How many blanks around it."""
    refreshInterval: int | float | None = None
    """Seconds between two runs."""
    hideVimModeIndicator: bool | None = None
    """Whether the mode of Vim is hidden."""

class CommandOfOpenCode(Struct, frozen=True, kw_only=True):
    """A command of OpenCode."""

    template: str | None = None
    """The prompt; required: the tool ignores a file without it."""
    description: str | None = None
    """What it does; the menu shows this text."""
    agent: str | None = None
    """The agent that runs it; every agent it names must exist."""
    model: str | None = None
    """The model to use, as `provider/model`."""
    subtask: bool | None = None
    """Whether it always runs in an agent of its own."""

class ContextOfGeminiCLI(Struct, frozen=True, kw_only=True):
    """The context of Gemini CLI."""

    fileName: str | tuple[str, ...] | None = None
    """The names of instruction files."""
    includeDirectories: tuple[str, ...] | None = None
    """Further folders."""
    loadMemoryFromIncludeDirectories: bool | None = None
    """Whether to read those."""
    importFormat: str | None = None
    """How imports are shown."""
    includeDirectoryTree: bool | None = None
    """Whether the folders are shown."""
    discoveryMaxDirs: int | float | None = None
    """How many folders are searched."""
    memoryBoundaryMarkers: tuple[str, ...] | None = None
    """Files that end the search."""
    fileFiltering: dict[str, Any] | None = None
    """Which files are seen."""

class ContextProviderOfContinue(Struct, frozen=True, kw_only=True):
    """A context provider of Continue."""

    provider: str | None = None
    """What is added, such as `diff`; recommended; common misspelling, which the tool
    ignores: `uses`."""
    params: Any | None = None
    """Its settings."""
    uses: str | None = None
    """A block that is taken over: `owner/name`, or the address of a file."""
    with_: dict[str, Any] | None = None
    """Values for the inputs of that block."""
    override: dict[str, Any] | None = None
    """What differs from that block."""

class ContinueConfiguration(Struct, frozen=True, kw_only=True):
    """A Continue configuration."""

    name: str | None = None
    """The name that people see; recommended."""
    version: str | int | float | None = None
    """Its version; recommended."""
    schema: str | None = None
    """The version of the format: `v1`."""
    metadata: dict[str, Any] | None = None
    """Who wrote it, and further notes."""
    env: dict[str, Any] | None = None
    """Values for the whole file."""
    requestOptions: dict[str, Any] | None = None
    """How requests are sent."""
    models: tuple[ModelOfContinue, ...] | None = None
    """The models."""
    mcpServers: tuple[ServerOfContinue, ...] | None = None
    """MCP servers."""
    rules: tuple[str | RuleOfContinue, ...] | None = None
    """Rules, as text or taken over."""
    prompts: tuple[PromptOfContinue, ...] | None = None
    """Commands that people call."""
    context: tuple[ContextProviderOfContinue, ...] | None = None
    """What people may add to a question."""
    docs: tuple[PageOfContinue, ...] | None = None
    """Web pages to read."""
    data: tuple[Any, ...] | None = None
    """Where data of use is sent."""

class ContinueRule(Struct, frozen=True, kw_only=True):
    """A Continue rule."""

    name: str | None = None
    """The name that people see."""
    globs: str | tuple[str, ...] | None = None
    """The files it applies to."""
    regex: str | tuple[str, ...] | None = None
    """An expression over the files it applies to."""
    alwaysApply: bool | None = None
    """Whether it is part of every prompt."""
    description: str | None = None
    """What it is about."""
    invokable: bool | None = None
    """Whether people may call it."""
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
    """The only tools it may use; without the field it has all of them; restricts the agent,
    so a misspelling is an error; a list, or text divided at `,`; every tool it names must
    exist; common misspelling, which the tool ignores: `allowed-tools`, `allowed_tools`."""
    model: str | tuple[str, ...] | None = None
    """The model, or several in order of preference."""
    disable_model_invocation: bool | None = None
    """Whether only people may call it; restricts the agent, so a misspelling is an
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
    """The only tools it may use; restricts the agent, so a misspelling is an error; a list,
    or text divided at `,`; every tool it names must exist."""
    body: str = ""
    """The text below the header."""

class CopilotSettingsFile(Struct, frozen=True, kw_only=True):
    """A Copilot settings file."""

    companyAnnouncements: tuple[str, ...] | None = None
    """Texts that are shown at the start."""
    enabledPlugins: dict[str, bool] | None = None
    """Plugins to turn on, as `name@marketplace`."""
    extraKnownMarketplaces: dict[str, MarketplaceOfCopilot] | None = None
    """Marketplaces, by name."""
    hooks: dict[str, Any] | None = None
    """What runs, by event."""
    disableAllHooks: bool | None = None
    """Whether no hook runs."""
    allowedUrls: tuple[str, ...] | None = None
    """Addresses that may be read without asking; restricts the agent, so a misspelling is
    an error."""
    deniedUrls: tuple[str, ...] | None = None
    """Addresses that may not be read; restricts the agent, so a misspelling is an error."""
    model: str | None = None
    """The model to use."""

class CursorAgent(Struct, frozen=True, kw_only=True):
    """A Cursor agent."""

    name: str | None = None
    """The name by which others call it; by default that of the file."""
    description: str | None = None
    """When to use it; others choose it by this text; recommended."""
    model: str | None = None
    """The model; `inherit` for the caller's."""
    readonly: bool | None = None
    """Whether it may only read; restricts the agent, so a misspelling is an error; common
    misspelling, which the tool ignores: `read-only`, `read_only`."""
    is_background: bool | None = None
    """Whether it runs in the background."""
    body: str = ""
    """The text below the header."""

class CursorCommand(Struct, frozen=True, kw_only=True):
    """A Cursor command."""

    description: str | None = None
    """What it does."""
    name: str | None = None
    """Its name; by default that of the file."""
    body: str = ""
    """The text below the header."""

class CursorEnvironment(Struct, frozen=True, kw_only=True):
    """A Cursor environment."""

    snapshot: str | None = None
    """The machine to start from."""
    build: dict[str, Any] | None = None
    """How the machine is made."""
    install: str | None = None
    """The command that installs what is needed."""
    start: str | None = None
    """The command that starts what is needed."""
    terminals: tuple[TerminalOfCursor, ...] | None = None
    """Commands that go on running."""
    ports: Any | None = None
    """Ports to show."""
    user: str | None = None
    """The user that runs it."""
    name: str | None = None
    """The name that people see."""
    agentCanUpdateSnapshot: bool | None = None
    """Whether the agent may change the machine."""
    persistedDirectories: tuple[str, ...] | None = None
    """Folders that are kept."""
    repositoryDependencies: Any | None = None
    """Other repositories to fetch."""
    _schema: str | None = None
    """The schema for editors."""

class CursorPlugin(Struct, frozen=True, kw_only=True):
    """A Cursor plugin."""

    name: str | None = None
    """The name by which it is installed; recommended."""
    version: str | None = None
    """Its version."""
    description: str | None = None
    """What it brings."""
    displayName: str | None = None
    """The name that people see."""
    author: str | dict[str, Any] | None = None
    """Who wrote it."""
    homepage: str | None = None
    """Where to read about it."""
    repository: str | dict[str, Any] | None = None
    """Where its source is."""
    license: str | None = None
    """The licence."""
    keywords: tuple[str, ...] | None = None
    """Words to find it by."""
    category: str | None = None
    """Where to find it."""
    tags: tuple[str, ...] | None = None
    """Words to find it by."""
    logo: str | None = None
    """Its picture."""
    agents: Any | None = None
    """Where its agents are."""
    commands: Any | None = None
    """Where its commands are."""
    skills: Any | None = None
    """Where its skills are."""
    rules: Any | None = None
    """Where its rules are."""
    hooks: Any | None = None
    """Where its hooks are."""
    mcpServers: Any | None = None
    """Where its mcpServers are."""

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

class DependenciesOfASkill(Struct, frozen=True, kw_only=True):
    """The dependencies of a skill."""

    tools: tuple[DependencyOfASkill, ...] | None = None
    """The tools it needs."""

class DependencyOfASkill(Struct, frozen=True, kw_only=True):
    """A dependency of a skill."""

    type: str | None = None
    """What sort of tool it is; recommended."""
    value: str | None = None
    """Its name; recommended."""
    description: str | None = None
    """What it is for."""
    transport: str | None = None
    """How to talk to the server."""
    url: str | None = None
    """The address of the server."""
    command: str | None = None
    """The program to start."""

class EntryOfAMarketplace(Struct, frozen=True, kw_only=True):
    """An entry of a marketplace."""

    name: str | None = None
    """The name of the plugin; required: the tool ignores a file without it."""
    source: Any | None = None
    """Where the plugin comes from."""
    version: str | None = None
    """The version of the plugin."""
    description: str | None = None
    """What the plugin adds."""
    displayName: str | None = None
    """The name that people see."""
    author: AuthorOfAPlugin | None = None
    """Who wrote it: `name`, `email` and `url`."""
    homepage: str | None = None
    """The address of its web page."""
    repository: str | None = None
    """The address of its source code."""
    license: str | None = None
    """The licence, such as `MIT`."""
    keywords: tuple[str, ...] | None = None
    """Words to find it by."""
    commands: str | tuple[str, ...] | dict[str, Any] | None = None
    """Files and folders of commands, instead of `commands/`."""
    agents: str | tuple[str, ...] | None = None
    """Files of agents, instead of `agents/`."""
    skills: str | tuple[str, ...] | None = None
    """Folders of skills, beside those in `skills/`."""
    hooks: str | tuple[str | dict[str, Any], ...] | dict[str, Any] | None = None
    """Hooks, or the files that hold them."""
    mcpServers: str | tuple[str | dict[str, Any], ...] | dict[str, Any] | None = None
    """MCP servers by name, or the files that hold them."""
    lspServers: str | tuple[str | dict[str, Any], ...] | dict[str, Any] | None = None
    """Language servers by name, or the files that hold them."""
    outputStyles: str | tuple[str, ...] | None = None
    """Files and folders of output styles."""
    themes: str | tuple[str, ...] | None = None
    """Files and folders of colour themes."""
    monitors: str | tuple[dict[str, Any], ...] | None = None
    """Programs whose output Claude follows."""
    channels: tuple[ChannelOfAPlugin, ...] | None = None
    """MCP servers that send messages into a session."""
    settings: dict[str, Any] | None = None
    """Settings that hold while the plugin is on."""
    userConfig: dict[str, ValueThatAPluginAsksFor] | None = None
    """Values to ask the user for when the plugin is turned on."""
    dependencies: tuple[Any, ...] | None = None
    """Plugins that it needs."""
    defaultEnabled: bool | None = None
    """Whether it is on once it is installed."""
    experimental: Any | None = None
    """Features that may still change."""
    category: str | None = None
    """The category it is listed under."""
    tags: tuple[str, ...] | None = None
    """Words to find it by."""
    strict: bool | None = None
    """Whether the manifest of the plugin must list all its parts."""

class EntryOfTheHooksOfCodex(Struct, frozen=True, kw_only=True):
    """An entry of the hooks of Codex."""

    matcher: str | None = None
    """The tools or sources it is for; without it, all of them."""
    hooks: tuple[HookOfCodex, ...] | None = None
    """What runs; recommended."""

class EntryOfTheHooksOfGeminiCLI(Struct, frozen=True, kw_only=True):
    """An entry of the hooks of Gemini CLI."""

    matcher: str | None = None
    """The tools or sources it is for; without it, all of them."""
    hooks: tuple[HookOfGeminiCLI, ...] | None = None
    """What runs; recommended."""
    sequential: bool | None = None
    """Whether the hooks run one after the other."""

class EnvironmentPolicyOfCodex(Struct, frozen=True, kw_only=True):
    """An environment policy of Codex."""

    inherit: Literal["core", "all", "none"] | None = None
    """Which variables to start from; restricts the agent, so a misspelling is an error."""
    exclude: tuple[str, ...] | None = None
    """Patterns of variables to leave out; restricts the agent, so a misspelling is an
    error."""
    include_only: tuple[str, ...] | None = None
    """The only variables to keep; restricts the agent, so a misspelling is an error."""
    set: dict[str, Any] | None = None
    """Variables to set."""
    ignore_default_excludes: bool | None = None
    """Whether variables that look like secrets are kept; restricts the agent, so a
    misspelling is an error."""
    experimental_use_profile: bool | None = None
    """Whether to read the shell's profile."""

class ExtensionOfGoose(Struct, frozen=True, kw_only=True):
    """An extension of Goose."""

    enabled: bool | None = None
    """Whether it is used."""
    type: (
        Literal[
            "builtin", "platform", "stdio", "sse", "streamable_http", "frontend", "inline_python"
        ]
        | None
    ) = None
    """Where it comes from."""
    name: str | None = None
    """Its name."""
    display_name: str | None = None
    """The name that people see."""
    description: str | None = None
    """What it does."""
    cmd: str | None = None
    """With the type `stdio`, the program to start; common misspelling, which the tool
    ignores: `command`."""
    args: tuple[str, ...] | None = None
    """The arguments of the program."""
    envs: dict[str, Any] | None = None
    """Environment variables to add for the program; common misspelling, which the tool
    ignores: `env`."""
    env_keys: tuple[str, ...] | None = None
    """Variables whose values are kept as secrets."""
    uri: str | None = None
    """The address of a server that is not a program; common misspelling, which the tool
    ignores: `url`."""
    headers: dict[str, Any] | None = None
    """Headers of each request."""
    timeout: int | float | None = None
    """How long a call may take, in seconds."""
    bundled: bool | None = None
    """Whether it came with Goose."""
    available_tools: tuple[str, ...] | None = None
    """The only tools of it to offer; restricts the agent, so a misspelling is an error."""
    config: dict[str, Any] | None = None
    """The fields above, in the older form."""

class FileOfInstructions(Struct, frozen=True, kw_only=True):
    """A file of instructions."""

    body: str = ""
    """The text below the header."""

class FilesOfASandboxOfClaudeCode(Struct, frozen=True, kw_only=True):
    """The files of a sandbox of Claude Code."""

    allowWrite: tuple[str, ...] | None = None
    """Paths that commands may write."""
    denyWrite: tuple[str, ...] | None = None
    """Paths that commands may not write; restricts the agent, so a misspelling is an
    error."""
    allowRead: tuple[str, ...] | None = None
    """Paths that commands may read."""
    denyRead: tuple[str, ...] | None = None
    """Paths that commands may not read; restricts the agent, so a misspelling is an
    error."""
    allowManagedReadPathsOnly: bool | None = None
    """Whether only managed paths count."""

class FolderTrustOfGeminiCLI(Struct, frozen=True, kw_only=True):
    """The folder trust of Gemini CLI."""

    enabled: bool | None = None
    """Whether it counts; restricts the agent, so a misspelling is an error."""

class GeminiAgent(Struct, frozen=True, kw_only=True):
    """A Gemini agent."""

    name: str | None = None
    """The name by which others call it; required: the tool ignores a file without it."""
    description: str | None = None
    """When to use it; others choose it by this text; required: the tool ignores a file
    without it."""
    kind: Literal["local", "remote"] | None = None
    """`remote` for an agent that runs elsewhere."""
    display_name: str | None = None
    """The name that people see."""
    tools: tuple[str, ...] | None = None
    """The only tools it may use; without the field it has all of them; restricts the agent,
    so a misspelling is an error; every tool it names must exist; common misspelling, which
    the tool ignores: `allowed-tools`, `allowed_tools`."""
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
    """The name of the skill and of its folder; required: the tool ignores a file without
    it."""
    description: str | None = None
    """What it does and when to use it; required: the tool ignores a file without it."""
    license: str | None = None
    """The licence, or the file that holds it."""
    compatibility: str | None = None
    """What it needs: programs, packages, the network."""
    metadata: dict[str, Any] | None = None
    """Anything else, as text by name."""
    allowed_tools: tuple[str, ...] | None = None
    """Tools it may use without asking the user; restricts the agent, so a misspelling is an
    error; a list, or text divided at `, `; every tool it names must exist."""
    argument_hint: str | tuple[Any, ...] | None = None
    """The arguments, as the menu shows them: `[file] [line]`."""
    arguments: str | tuple[Any, ...] | None = None
    """Names for the arguments; the text uses them as `$name`."""
    model: str | None = None
    """The model to use while it runs."""
    effort: Literal["low", "medium", "high", "xhigh", "max"] | int | None = None
    """How much the model reasons while it runs."""
    disable_model_invocation: bool | None = None
    """Whether only people may call it; restricts the agent, so a misspelling is an
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
    """Tools it may not use; restricts the agent, so a misspelling is an error; a list, or
    text divided at `, `; every tool it names must exist."""
    version: str | None = None
    """The version of the skill."""
    body: str = ""
    """The text below the header."""

class GeminiCommand(Struct, frozen=True, kw_only=True):
    """A Gemini command."""

    prompt: str | None = None
    """The prompt; `{{args}}` becomes the arguments; required: the tool ignores a file
    without it."""
    description: str | None = None
    """What it does; the menu shows this text."""

class GeminiExtension(Struct, frozen=True, kw_only=True):
    """A Gemini extension."""

    name: str | None = None
    """The name by which it is installed; required: the tool ignores a file without it."""
    version: str | None = None
    """Its version; required: the tool ignores a file without it."""
    description: str | None = None
    """What it brings."""
    mcpServers: dict[str, dict[str, Any]] | None = None
    """MCP servers, by name."""
    contextFileName: str | tuple[str, ...] | None = None
    """Files that are read into the prompt."""
    excludeTools: tuple[str, ...] | None = None
    """Tools that are left out; restricts the agent, so a misspelling is an error; common
    misspelling, which the tool ignores: `excludeTool`."""
    settings: tuple[SettingOfAnExtension, ...] | None = None
    """What the user is asked for."""
    plan: dict[str, Any] | None = None
    """Where plans are kept."""
    themes: Any | None = None
    """Themes for the terminal."""
    migratedTo: str | None = None
    """Where the extension went."""
    _schema: str | None = None
    """The schema for editors."""

class GeminiPolicy(Struct, frozen=True, kw_only=True):
    """A Gemini policy."""

    rule: tuple[RuleOfAPolicy, ...] | None = None
    """The rules; restricts the agent, so a misspelling is an error; common misspelling,
    which the tool ignores: `rules`."""
    safety_checker: tuple[Any, ...] | None = None
    """Programs that judge calls; restricts the agent, so a misspelling is an error."""

class GeminiSettingsFile(Struct, frozen=True, kw_only=True):
    """A Gemini settings file."""

    _schema: str | None = None
    """The schema for editors."""
    mcpServers: dict[str, dict[str, Any]] | None = None
    """MCP servers, by name."""
    tools: ToolsOfGeminiCLI | None = None
    """Which tools there are."""
    mcp: ServerRulesOfGeminiCLI | None = None
    """Which servers are used."""
    context: ContextOfGeminiCLI | None = None
    """What is read into the prompt."""
    security: SecurityOfGeminiCLI | None = None
    """What is not allowed; restricts the agent, so a misspelling is an error."""
    hooks: HooksOfGeminiCLI | None = None
    """Programs that run at certain events."""
    hooksConfig: dict[str, Any] | None = None
    """Which hooks run."""
    policyPaths: tuple[str, ...] | None = None
    """Files with policies."""
    adminPolicyPaths: tuple[str, ...] | None = None
    """Files with policies of an administrator."""
    skills: dict[str, Any] | None = None
    """Which skills are used."""
    extensions: dict[str, Any] | None = None
    """Which extensions are used."""
    general: dict[str, Any] | None = None
    """Settings of the program."""
    output: dict[str, Any] | None = None
    """Settings of the output."""
    ui: dict[str, Any] | None = None
    """Settings of the terminal."""
    ide: dict[str, Any] | None = None
    """Settings of the editor."""
    privacy: dict[str, Any] | None = None
    """Settings of what is reported."""
    telemetry: dict[str, Any] | None = None
    """Settings of traces."""
    billing: dict[str, Any] | None = None
    """Settings of the account."""
    model: dict[str, Any] | None = None
    """Settings of the model."""
    modelConfigs: dict[str, Any] | None = None
    """Settings of models."""
    agents: dict[str, Any] | None = None
    """Settings of agents."""
    advanced: dict[str, Any] | None = None
    """Settings of the machine."""
    experimental: dict[str, Any] | None = None
    """Settings of experiments."""
    contextManagement: dict[str, Any] | None = None
    """Settings of long sessions."""
    admin: dict[str, Any] | None = None
    """Settings of an administrator."""
    useWriteTodos: bool | None = None
    """Whether it keeps a list of tasks."""
    coreTools: Any | None = None
    """An old name, which Gemini CLI moves to its place."""
    excludeTools: Any | None = None
    """An old name, which Gemini CLI moves to its place."""
    allowedTools: Any | None = None
    """An old name, which Gemini CLI moves to its place."""
    contextFileName: Any | None = None
    """An old name, which Gemini CLI moves to its place."""
    sandbox: Any | None = None
    """An old name, which Gemini CLI moves to its place."""
    autoAccept: Any | None = None
    """An old name, which Gemini CLI moves to its place."""
    theme: Any | None = None
    """An old name, which Gemini CLI moves to its place."""
    vimMode: Any | None = None
    """An old name, which Gemini CLI moves to its place."""
    checkpointing: Any | None = None
    """An old name, which Gemini CLI moves to its place."""
    preferredEditor: Any | None = None
    """An old name, which Gemini CLI moves to its place."""
    selectedAuthType: Any | None = None
    """An old name, which Gemini CLI moves to its place."""
    hideTips: Any | None = None
    """An old name, which Gemini CLI moves to its place."""
    hideBanner: Any | None = None
    """An old name, which Gemini CLI moves to its place."""
    hideFooter: Any | None = None
    """An old name, which Gemini CLI moves to its place."""
    hideWindowTitle: Any | None = None
    """An old name, which Gemini CLI moves to its place."""
    maxSessionTurns: Any | None = None
    """An old name, which Gemini CLI moves to its place."""
    mcpServerCommand: Any | None = None
    """An old name, which Gemini CLI moves to its place."""
    allowMCPServers: Any | None = None
    """An old name, which Gemini CLI moves to its place."""
    excludeMCPServers: Any | None = None
    """An old name, which Gemini CLI moves to its place."""
    toolDiscoveryCommand: Any | None = None
    """An old name, which Gemini CLI moves to its place."""
    toolCallCommand: Any | None = None
    """An old name, which Gemini CLI moves to its place."""
    usageStatisticsEnabled: Any | None = None
    """An old name, which Gemini CLI moves to its place."""
    bugCommand: Any | None = None
    """An old name, which Gemini CLI moves to its place."""
    fileFiltering: Any | None = None
    """An old name, which Gemini CLI moves to its place."""
    includeDirectories: Any | None = None
    """An old name, which Gemini CLI moves to its place."""
    loadMemoryFromIncludeDirectories: Any | None = None
    """An old name, which Gemini CLI moves to its place."""
    summarizeToolOutput: Any | None = None
    """An old name, which Gemini CLI moves to its place."""
    memoryImportFormat: Any | None = None
    """An old name, which Gemini CLI moves to its place."""
    disableAutoUpdate: Any | None = None
    """An old name, which Gemini CLI moves to its place."""
    showMemoryUsage: Any | None = None
    """An old name, which Gemini CLI moves to its place."""
    showLineNumbers: Any | None = None
    """An old name, which Gemini CLI moves to its place."""
    accessibility: Any | None = None
    """An old name, which Gemini CLI moves to its place."""
    ideMode: Any | None = None
    """An old name, which Gemini CLI moves to its place."""
    folderTrust: Any | None = None
    """An old name, which Gemini CLI moves to its place."""
    useRipgrep: Any | None = None
    """An old name, which Gemini CLI moves to its place."""
    extensionManagement: Any | None = None
    """An old name, which Gemini CLI moves to its place."""
    customThemes: Any | None = None
    """An old name, which Gemini CLI moves to its place."""
    enableHooks: Any | None = None
    """An old name, which Gemini CLI moves to its place."""

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
    """Tools it may use without asking the user; restricts the agent, so a misspelling is an
    error; a list, or text divided at `, `; every tool it names must exist."""
    argument_hint: str | tuple[Any, ...] | None = None
    """The arguments, as the menu shows them: `[file] [line]`."""
    arguments: str | tuple[Any, ...] | None = None
    """Names for the arguments; the text uses them as `$name`."""
    model: str | None = None
    """The model to use while it runs."""
    effort: Literal["low", "medium", "high", "xhigh", "max"] | int | None = None
    """How much the model reasons while it runs."""
    disable_model_invocation: bool | None = None
    """Whether only people may call it; restricts the agent, so a misspelling is an
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
    """Tools it may not use; restricts the agent, so a misspelling is an error; a list, or
    text divided at `, `; every tool it names must exist."""
    version: str | None = None
    """The version of the skill."""
    body: str = ""
    """The text below the header."""

class GooseConfiguration(Struct, frozen=True, kw_only=True):
    """A Goose configuration."""

    GOOSE_PROVIDER: str | None = None
    """Who serves the model."""
    GOOSE_MODEL: str | None = None
    """The model."""
    GOOSE_MODE: Literal["auto", "approve", "chat", "smart_approve"] | None = None
    """What runs without asking; restricts the agent, so a misspelling is an error."""
    GOOSE_MAX_TURNS: int | None = None
    """How many turns it takes without a person."""
    GOOSE_ALLOWLIST: str | None = None
    """A list of the extensions that may be installed; restricts the agent, so a misspelling
    is an error."""
    extensions: dict[str, ExtensionOfGoose] | None = None
    """Servers and parts of Goose, by name."""

class GooseRecipe(Struct, frozen=True, kw_only=True):
    """A Goose recipe."""

    version: str | int | float | None = None
    """The version of the format."""
    title: str | None = None
    """The name that people see; recommended."""
    description: str | None = None
    """What it does; recommended."""
    instructions: str | None = None
    """What the agent knows."""
    prompt: str | None = None
    """What it is asked first."""
    parameters: tuple[ParameterOfARecipe, ...] | None = None
    """What the user is asked for."""
    extensions: tuple[Any, ...] | None = None
    """The servers it needs."""
    settings: dict[str, Any] | None = None
    """The model to use."""
    sub_recipes: tuple[Any, ...] | None = None
    """Recipes it may call."""
    response: dict[str, Any] | None = None
    """The form of the result."""
    retry: dict[str, Any] | None = None
    """When it tries again."""
    activities: tuple[str, ...] | None = None
    """Examples of what to ask."""
    author: dict[str, Any] | None = None
    """Who wrote it."""
    context: Any | None = None
    """Further text."""

class GranularApprovalPolicyOfCodex(Struct, frozen=True, kw_only=True):
    """A granular approval policy of Codex."""

    sandbox_approval: bool | None = None
    """Whether leaving the sandbox may be asked for."""
    rules: bool | None = None
    """Whether what the rules say may be asked for."""
    mcp_elicitations: bool | None = None
    """Whether servers may ask the user."""
    request_permissions: bool | None = None
    """Whether more permissions may be asked for."""
    skill_approval: bool | None = None
    """Whether scripts of skills may be asked for."""

class HookOfCodex(Struct, frozen=True, kw_only=True):
    """A hook of Codex."""

    type: Literal["command", "mcp_tool", "prompt", "agent"] | None = None
    """`command` for a program, `mcp_tool` for a tool of a server; required: the tool
    ignores a file without it."""
    command: str | None = None
    """The command to run."""
    commandWindows: str | None = None
    """The command to run on Windows; common misspelling, which the tool ignores:
    `command_windows`."""
    timeout: int | float | None = None
    """After how many seconds it is stopped."""
    async_: bool | None = None
    """Whether Codex goes on at once."""
    statusMessage: str | None = None
    """What to show while it runs."""
    additionalContextLimit: int | None = None
    """How much of its output the model sees."""
    server: str | None = None
    """The server whose tool to call."""
    tool: str | None = None
    """The tool to call."""
    input: dict[str, Any] | None = None
    """The arguments of the tool."""
    prompt: str | None = None
    """A prompt, which Codex does not use yet."""
    model: str | None = None
    """A model, which Codex does not use yet."""

class HookOfCopilot(Struct, frozen=True, kw_only=True):
    """A hook of Copilot."""

    type: Literal["command", "prompt", "http"] | None = None
    """What runs; recommended."""
    bash: str | None = None
    """The command to run."""
    powershell: str | None = None
    """The command to run on Windows."""
    command: str | None = None
    """The command to run on any system."""
    windows: str | None = None
    """The command to run on Windows."""
    linux: str | None = None
    """The command to run on Linux."""
    osx: str | None = None
    """The command to run on macOS."""
    cwd: str | None = None
    """The folder to run it in."""
    env: dict[str, Any] | None = None
    """Environment variables to add."""
    timeoutSec: int | float | None = None
    """After how many seconds it is stopped."""
    timeout: int | float | None = None
    """After how many seconds it is stopped."""
    prompt: str | None = None
    """The prompt, with the type `prompt`."""
    url: str | None = None
    """The address, with the type `http`."""
    headers: dict[str, Any] | None = None
    """Headers of the request."""
    matcher: str | None = None
    """The tools it is for."""
    hooks: tuple[Any, ...] | None = None
    """Handlers, as Claude Code writes them."""
    comment: str | None = None
    """A note."""

class HookOfCursor(Struct, frozen=True, kw_only=True):
    """A hook of Cursor."""

    command: str | None = None
    """The command to run."""
    type: Literal["command", "prompt"] | None = None
    """What runs."""
    prompt: str | None = None
    """The prompt, with the type `prompt`."""
    model: str | None = None
    """The model, with the type `prompt`."""
    timeout: int | float | None = None
    """After how many seconds it is stopped."""
    matcher: str | dict[str, Any] | None = None
    """What it is for."""
    failClosed: bool | None = None
    """Whether a hook that fails blocks; restricts the agent, so a misspelling is an
    error."""
    loop_limit: Any | None = None
    """How often it may start the agent again."""

class HookOfGeminiCLI(Struct, frozen=True, kw_only=True):
    """A hook of Gemini CLI."""

    type: Literal["command"] | None = None
    """`command`; required: the tool ignores a file without it."""
    command: str | None = None
    """The command to run; required: the tool ignores a file without it."""
    name: str | None = None
    """The name that people see."""
    description: str | None = None
    """What it is for."""
    timeout: int | float | None = None
    """After how many milliseconds it is stopped."""
    env: dict[str, Any] | None = None
    """Environment variables to add."""

class HookOfWindsurf(Struct, frozen=True, kw_only=True):
    """A hook of Windsurf."""

    command: str | None = None
    """The command to run."""
    powershell: str | None = None
    """The command to run on Windows."""
    show_output: bool | None = None
    """Whether its output is shown."""
    working_directory: str | None = None
    """The folder to run it in."""

class HooksOfCodex(Struct, frozen=True, kw_only=True):
    """The hooks of Codex."""

    PreToolUse: tuple[EntryOfTheHooksOfCodex, ...] | None = None
    """What runs at the event `PreToolUse`; restricts the agent, so a misspelling is an
    error."""
    PermissionRequest: tuple[EntryOfTheHooksOfCodex, ...] | None = None
    """What runs at the event `PermissionRequest`; restricts the agent, so a misspelling is
    an error."""
    PostToolUse: tuple[EntryOfTheHooksOfCodex, ...] | None = None
    """What runs at the event `PostToolUse`; restricts the agent, so a misspelling is an
    error."""
    PreCompact: tuple[EntryOfTheHooksOfCodex, ...] | None = None
    """What runs at the event `PreCompact`; restricts the agent, so a misspelling is an
    error."""
    PostCompact: tuple[EntryOfTheHooksOfCodex, ...] | None = None
    """What runs at the event `PostCompact`; restricts the agent, so a misspelling is an
    error."""
    SessionStart: tuple[EntryOfTheHooksOfCodex, ...] | None = None
    """What runs at the event `SessionStart`; restricts the agent, so a misspelling is an
    error."""
    SessionEnd: tuple[EntryOfTheHooksOfCodex, ...] | None = None
    """What runs at the event `SessionEnd`; restricts the agent, so a misspelling is an
    error."""
    UserPromptSubmit: tuple[EntryOfTheHooksOfCodex, ...] | None = None
    """What runs at the event `UserPromptSubmit`; restricts the agent, so a misspelling is
    an error."""
    SubagentStart: tuple[EntryOfTheHooksOfCodex, ...] | None = None
    """What runs at the event `SubagentStart`; restricts the agent, so a misspelling is an
    error."""
    SubagentStop: tuple[EntryOfTheHooksOfCodex, ...] | None = None
    """What runs at the event `SubagentStop`; restricts the agent, so a misspelling is an
    error."""
    Stop: tuple[EntryOfTheHooksOfCodex, ...] | None = None
    """What runs at the event `Stop`; restricts the agent, so a misspelling is an error."""
    state: dict[str, Any] | None = None
    """Which hooks are trusted."""

class HooksOfCopilot(Struct, frozen=True, kw_only=True):
    """The hooks of Copilot."""

    sessionStart: tuple[HookOfCopilot, ...] | None = None
    """What runs at the event `sessionStart`; restricts the agent, so a misspelling is an
    error."""
    sessionEnd: tuple[HookOfCopilot, ...] | None = None
    """What runs at the event `sessionEnd`; restricts the agent, so a misspelling is an
    error."""
    userPromptSubmitted: tuple[HookOfCopilot, ...] | None = None
    """What runs at the event `userPromptSubmitted`; restricts the agent, so a misspelling
    is an error."""
    preToolUse: tuple[HookOfCopilot, ...] | None = None
    """What runs at the event `preToolUse`; restricts the agent, so a misspelling is an
    error."""
    postToolUse: tuple[HookOfCopilot, ...] | None = None
    """What runs at the event `postToolUse`; restricts the agent, so a misspelling is an
    error."""
    postToolUseFailure: tuple[HookOfCopilot, ...] | None = None
    """What runs at the event `postToolUseFailure`; restricts the agent, so a misspelling is
    an error."""
    errorOccurred: tuple[HookOfCopilot, ...] | None = None
    """What runs at the event `errorOccurred`; restricts the agent, so a misspelling is an
    error."""
    agentStop: tuple[HookOfCopilot, ...] | None = None
    """What runs at the event `agentStop`; restricts the agent, so a misspelling is an
    error."""
    subagentStart: tuple[HookOfCopilot, ...] | None = None
    """What runs at the event `subagentStart`; restricts the agent, so a misspelling is an
    error."""
    subagentStop: tuple[HookOfCopilot, ...] | None = None
    """What runs at the event `subagentStop`; restricts the agent, so a misspelling is an
    error."""
    preCompact: tuple[HookOfCopilot, ...] | None = None
    """What runs at the event `preCompact`; restricts the agent, so a misspelling is an
    error."""
    permissionRequest: tuple[HookOfCopilot, ...] | None = None
    """What runs at the event `permissionRequest`; restricts the agent, so a misspelling is
    an error."""
    notification: tuple[HookOfCopilot, ...] | None = None
    """What runs at the event `notification`; restricts the agent, so a misspelling is an
    error."""
    SessionStart: tuple[HookOfCopilot, ...] | None = None
    """What runs at the event `SessionStart`; restricts the agent, so a misspelling is an
    error."""
    SessionEnd: tuple[HookOfCopilot, ...] | None = None
    """What runs at the event `SessionEnd`; restricts the agent, so a misspelling is an
    error."""
    UserPromptSubmit: tuple[HookOfCopilot, ...] | None = None
    """What runs at the event `UserPromptSubmit`; restricts the agent, so a misspelling is
    an error."""
    PreToolUse: tuple[HookOfCopilot, ...] | None = None
    """What runs at the event `PreToolUse`; restricts the agent, so a misspelling is an
    error."""
    PostToolUse: tuple[HookOfCopilot, ...] | None = None
    """What runs at the event `PostToolUse`; restricts the agent, so a misspelling is an
    error."""
    PostToolUseFailure: tuple[HookOfCopilot, ...] | None = None
    """What runs at the event `PostToolUseFailure`; restricts the agent, so a misspelling is
    an error."""
    Stop: tuple[HookOfCopilot, ...] | None = None
    """What runs at the event `Stop`; restricts the agent, so a misspelling is an error."""
    SubagentStart: tuple[HookOfCopilot, ...] | None = None
    """What runs at the event `SubagentStart`; restricts the agent, so a misspelling is an
    error."""
    SubagentStop: tuple[HookOfCopilot, ...] | None = None
    """What runs at the event `SubagentStop`; restricts the agent, so a misspelling is an
    error."""
    PreCompact: tuple[HookOfCopilot, ...] | None = None
    """What runs at the event `PreCompact`; restricts the agent, so a misspelling is an
    error."""
    PermissionRequest: tuple[HookOfCopilot, ...] | None = None
    """What runs at the event `PermissionRequest`; restricts the agent, so a misspelling is
    an error."""
    Notification: tuple[HookOfCopilot, ...] | None = None
    """What runs at the event `Notification`; restricts the agent, so a misspelling is an
    error."""

class HooksOfCursor(Struct, frozen=True, kw_only=True):
    """The hooks of Cursor."""

    sessionStart: tuple[HookOfCursor, ...] | None = None
    """What runs at the event `sessionStart`; restricts the agent, so a misspelling is an
    error."""
    sessionEnd: tuple[HookOfCursor, ...] | None = None
    """What runs at the event `sessionEnd`; restricts the agent, so a misspelling is an
    error."""
    preToolUse: tuple[HookOfCursor, ...] | None = None
    """What runs at the event `preToolUse`; restricts the agent, so a misspelling is an
    error."""
    postToolUse: tuple[HookOfCursor, ...] | None = None
    """What runs at the event `postToolUse`; restricts the agent, so a misspelling is an
    error."""
    postToolUseFailure: tuple[HookOfCursor, ...] | None = None
    """What runs at the event `postToolUseFailure`; restricts the agent, so a misspelling is
    an error."""
    subagentStart: tuple[HookOfCursor, ...] | None = None
    """What runs at the event `subagentStart`; restricts the agent, so a misspelling is an
    error."""
    subagentStop: tuple[HookOfCursor, ...] | None = None
    """What runs at the event `subagentStop`; restricts the agent, so a misspelling is an
    error."""
    beforeShellExecution: tuple[HookOfCursor, ...] | None = None
    """What runs at the event `beforeShellExecution`; restricts the agent, so a misspelling
    is an error."""
    afterShellExecution: tuple[HookOfCursor, ...] | None = None
    """What runs at the event `afterShellExecution`; restricts the agent, so a misspelling
    is an error."""
    beforeMCPExecution: tuple[HookOfCursor, ...] | None = None
    """What runs at the event `beforeMCPExecution`; restricts the agent, so a misspelling is
    an error."""
    afterMCPExecution: tuple[HookOfCursor, ...] | None = None
    """What runs at the event `afterMCPExecution`; restricts the agent, so a misspelling is
    an error."""
    beforeReadFile: tuple[HookOfCursor, ...] | None = None
    """What runs at the event `beforeReadFile`; restricts the agent, so a misspelling is an
    error."""
    afterFileEdit: tuple[HookOfCursor, ...] | None = None
    """What runs at the event `afterFileEdit`; restricts the agent, so a misspelling is an
    error."""
    beforeSubmitPrompt: tuple[HookOfCursor, ...] | None = None
    """What runs at the event `beforeSubmitPrompt`; restricts the agent, so a misspelling is
    an error."""
    preCompact: tuple[HookOfCursor, ...] | None = None
    """What runs at the event `preCompact`; restricts the agent, so a misspelling is an
    error."""
    stop: tuple[HookOfCursor, ...] | None = None
    """What runs at the event `stop`; restricts the agent, so a misspelling is an error."""
    afterAgentResponse: tuple[HookOfCursor, ...] | None = None
    """What runs at the event `afterAgentResponse`; restricts the agent, so a misspelling is
    an error."""
    afterAgentThought: tuple[HookOfCursor, ...] | None = None
    """What runs at the event `afterAgentThought`; restricts the agent, so a misspelling is
    an error."""
    beforeTabFileRead: tuple[HookOfCursor, ...] | None = None
    """What runs at the event `beforeTabFileRead`; restricts the agent, so a misspelling is
    an error."""
    afterTabFileEdit: tuple[HookOfCursor, ...] | None = None
    """What runs at the event `afterTabFileEdit`; restricts the agent, so a misspelling is
    an error."""
    workspaceOpen: tuple[HookOfCursor, ...] | None = None
    """What runs at the event `workspaceOpen`; restricts the agent, so a misspelling is an
    error."""

class HooksOfGeminiCLI(Struct, frozen=True, kw_only=True):
    """The hooks of Gemini CLI."""

    BeforeTool: tuple[EntryOfTheHooksOfGeminiCLI, ...] | None = None
    """What runs at the event `BeforeTool`; restricts the agent, so a misspelling is an
    error."""
    AfterTool: tuple[EntryOfTheHooksOfGeminiCLI, ...] | None = None
    """What runs at the event `AfterTool`; restricts the agent, so a misspelling is an
    error."""
    BeforeAgent: tuple[EntryOfTheHooksOfGeminiCLI, ...] | None = None
    """What runs at the event `BeforeAgent`; restricts the agent, so a misspelling is an
    error."""
    AfterAgent: tuple[EntryOfTheHooksOfGeminiCLI, ...] | None = None
    """What runs at the event `AfterAgent`; restricts the agent, so a misspelling is an
    error."""
    BeforeModel: tuple[EntryOfTheHooksOfGeminiCLI, ...] | None = None
    """What runs at the event `BeforeModel`; restricts the agent, so a misspelling is an
    error."""
    AfterModel: tuple[EntryOfTheHooksOfGeminiCLI, ...] | None = None
    """What runs at the event `AfterModel`; restricts the agent, so a misspelling is an
    error."""
    BeforeToolSelection: tuple[EntryOfTheHooksOfGeminiCLI, ...] | None = None
    """What runs at the event `BeforeToolSelection`; restricts the agent, so a misspelling
    is an error."""
    SessionStart: tuple[EntryOfTheHooksOfGeminiCLI, ...] | None = None
    """What runs at the event `SessionStart`; restricts the agent, so a misspelling is an
    error."""
    SessionEnd: tuple[EntryOfTheHooksOfGeminiCLI, ...] | None = None
    """What runs at the event `SessionEnd`; restricts the agent, so a misspelling is an
    error."""
    Notification: tuple[EntryOfTheHooksOfGeminiCLI, ...] | None = None
    """What runs at the event `Notification`; restricts the agent, so a misspelling is an
    error."""
    PreCompress: tuple[EntryOfTheHooksOfGeminiCLI, ...] | None = None
    """What runs at the event `PreCompress`; restricts the agent, so a misspelling is an
    error."""
    enabled: Any | None = None
    """An old form: use `hooksConfig`."""
    disabled: Any | None = None
    """An old form: use `hooksConfig`."""
    notifications: Any | None = None
    """An old form: use `hooksConfig`."""

class HooksOfWindsurf(Struct, frozen=True, kw_only=True):
    """The hooks of Windsurf."""

    pre_read_code: tuple[HookOfWindsurf, ...] | None = None
    """What runs at the event `pre_read_code`; restricts the agent, so a misspelling is an
    error."""
    post_read_code: tuple[HookOfWindsurf, ...] | None = None
    """What runs at the event `post_read_code`; restricts the agent, so a misspelling is an
    error."""
    pre_write_code: tuple[HookOfWindsurf, ...] | None = None
    """What runs at the event `pre_write_code`; restricts the agent, so a misspelling is an
    error."""
    post_write_code: tuple[HookOfWindsurf, ...] | None = None
    """What runs at the event `post_write_code`; restricts the agent, so a misspelling is an
    error."""
    pre_run_command: tuple[HookOfWindsurf, ...] | None = None
    """What runs at the event `pre_run_command`; restricts the agent, so a misspelling is an
    error."""
    post_run_command: tuple[HookOfWindsurf, ...] | None = None
    """What runs at the event `post_run_command`; restricts the agent, so a misspelling is
    an error."""
    pre_mcp_tool_use: tuple[HookOfWindsurf, ...] | None = None
    """What runs at the event `pre_mcp_tool_use`; restricts the agent, so a misspelling is
    an error."""
    post_mcp_tool_use: tuple[HookOfWindsurf, ...] | None = None
    """What runs at the event `post_mcp_tool_use`; restricts the agent, so a misspelling is
    an error."""
    pre_user_prompt: tuple[HookOfWindsurf, ...] | None = None
    """What runs at the event `pre_user_prompt`; restricts the agent, so a misspelling is an
    error."""
    post_cascade_response: tuple[HookOfWindsurf, ...] | None = None
    """What runs at the event `post_cascade_response`; restricts the agent, so a misspelling
    is an error."""
    post_cascade_response_with_transcript: tuple[HookOfWindsurf, ...] | None = None
    """What runs at the event `post_cascade_response_with_transcript`; restricts the agent,
    so a misspelling is an error."""
    post_setup_worktree: tuple[HookOfWindsurf, ...] | None = None
    """What runs at the event `post_setup_worktree`; restricts the agent, so a misspelling
    is an error."""

class InterfaceOfASkill(Struct, frozen=True, kw_only=True):
    """The interface of a skill."""

    display_name: str | None = None
    """The name that people see."""
    short_description: str | None = None
    """What it does, in a few words."""
    icon_small: str | None = None
    """A small picture."""
    icon_large: str | None = None
    """A large picture."""
    brand_color: str | None = None
    """Its colour."""
    default_prompt: str | None = None
    """What to ask first."""

class KiroAgent(Struct, frozen=True, kw_only=True):
    """A Kiro agent."""

    name: str | None = None
    """The name by which it is called."""
    description: str | None = None
    """What it does."""
    prompt: str | None = None
    """The prompt."""
    tools: tuple[str, ...] | None = None
    """The tools it has; restricts the agent, so a misspelling is an error."""
    allowedTools: tuple[str, ...] | None = None
    """Tools that run without asking; restricts the agent, so a misspelling is an error."""
    toolsSettings: dict[str, Any] | None = None
    """Settings of tools, by name; restricts the agent, so a misspelling is an error."""
    toolAliases: dict[str, Any] | None = None
    """Other names for tools."""
    resources: tuple[Any, ...] | None = None
    """Files that it reads."""
    hooks: dict[str, Any] | None = None
    """Programs that run at certain events."""
    mcpServers: dict[str, Any] | None = None
    """MCP servers of its own, by name."""
    includeMcpJson: bool | None = None
    """Whether it has the servers of the project."""
    useLegacyMcpJson: bool | None = None
    """An old name of `includeMcpJson`."""
    model: str | None = None
    """The model to use."""
    welcomeMessage: str | None = None
    """What it says first."""
    keyboardShortcut: str | None = None
    """The key that chooses it."""
    _schema: str | None = None
    """The schema for editors."""

class KiroHook(Struct, frozen=True, kw_only=True):
    """A Kiro hook."""

    name: str | None = None
    """The name that people see."""
    version: str | int | None = None
    """The version of the format."""
    description: str | None = None
    """What it is for."""
    enabled: bool | None = None
    """Whether it runs."""
    when: dict[str, Any] | None = None
    """The event, and the files it is about; recommended."""
    then: dict[str, Any] | None = None
    """What happens; recommended."""
    shortName: str | None = None
    """A short name."""
    workspaceFolderName: str | None = None
    """The folder it was made in."""

class KiroSteeringFile(Struct, frozen=True, kw_only=True):
    """A Kiro steering file."""

    inclusion: Literal["always", "fileMatch", "manual", "auto"] | None = None
    """When it is read."""
    fileMatchPattern: str | tuple[str, ...] | None = None
    """With `inclusion: fileMatch`, the files."""
    name: str | None = None
    """With `inclusion: auto`, its name."""
    description: str | None = None
    """With `inclusion: auto`, what it is about."""
    body: str = ""
    """The text below the header."""

class LanguageServerOfClaudeCode(Struct, frozen=True, kw_only=True):
    """A language server of Claude Code."""

    command: str | None = None
    """The program to start; required: the tool ignores a file without it."""
    args: tuple[str, ...] | None = None
    """The arguments of the program."""
    extensionToLanguage: dict[str, str] | None = None
    """An ending of files → the name of its language; required: the tool ignores a file
    without it."""
    transport: Literal["stdio", "socket"] | None = None
    """How to talk to it."""
    env: dict[str, str] | None = None
    """Environment variables to add for the program."""
    initializationOptions: Any | None = None
    """Options for its start."""
    settings: Any | None = None
    """Its settings."""
    workspaceFolder: str | None = None
    """The folder it works in."""
    startupTimeout: int | float | None = None
    """How long the start may take, in milliseconds."""
    shutdownTimeout: int | float | None = None
    """How long the end may take, in milliseconds."""
    restartOnCrash: bool | None = None
    """Whether it is started again."""
    maxRestarts: int | float | None = None
    """How often it is started again."""
    loggingConfig: Any | None = None
    """What is logged."""
    diagnostics: bool | None = None
    """Whether its findings are shown."""

class ListOfCodexHooks(Struct, frozen=True, kw_only=True):
    """A list of Codex hooks."""

    hooks: HooksOfCodex | None = None
    """What runs, by event; required: the tool ignores a file without it."""
    description: str | None = None
    """What the hooks are for."""
    _schema: str | None = None
    """The schema for editors."""

class ListOfCopilotHooks(Struct, frozen=True, kw_only=True):
    """A list of Copilot hooks."""

    version: int | None = None
    """The version of the format; recommended."""
    hooks: HooksOfCopilot | None = None
    """What runs, by event; recommended."""
    disableAllHooks: bool | None = None
    """Whether none of them runs."""
    description: str | None = None
    """What they are for."""
    _schema: str | None = None
    """The schema for editors."""

class ListOfCursorHooks(Struct, frozen=True, kw_only=True):
    """A list of Cursor hooks."""

    version: int | None = None
    """The version of the format; recommended."""
    hooks: HooksOfCursor | None = None
    """What runs, by event; recommended."""
    _schema: str | None = None
    """The schema for editors."""

class ListOfCursorPermissions(Struct, frozen=True, kw_only=True):
    """A list of Cursor permissions."""

    permissions: PermissionsOfCursor | None = None
    """What the agent may do; restricts the agent, so a misspelling is an error."""
    version: int | None = None
    """The version of the format."""

class ListOfLanguageServers(Struct, frozen=True, kw_only=True):
    """A list of language servers."""

    servers: dict[str, LanguageServerOfClaudeCode] | None = None
    """The language servers, by name."""

class ListOfRooModes(Struct, frozen=True, kw_only=True):
    """A list of Roo modes."""

    customModes: tuple[ModeOfRooCode, ...] | None = None
    """The modes; recommended."""

class ListOfSkillMetadata(Struct, frozen=True, kw_only=True):
    """A list of skill metadata."""

    interface: InterfaceOfASkill | None = None
    """How apps show the skill."""
    policy: PolicyOfASkill | None = None
    """When the skill is used; restricts the agent, so a misspelling is an error."""
    dependencies: DependenciesOfASkill | None = None
    """What the skill needs."""
    _schema: str | None = None
    """The schema for editors."""

class ListOfWindsurfHooks(Struct, frozen=True, kw_only=True):
    """A list of Windsurf hooks."""

    hooks: HooksOfWindsurf | None = None
    """What runs, by event; recommended."""

class MarketplaceOfCopilot(Struct, frozen=True, kw_only=True):
    """A marketplace of Copilot."""

    source: str | dict[str, Any] | None = None
    """Where it is; recommended."""
    autoUpdate: bool | None = None
    """Whether it is kept up to date."""

class ModeOfRooCode(Struct, frozen=True, kw_only=True):
    """A mode of Roo Code."""

    slug: str | None = None
    """The name by which it is called; recommended."""
    name: str | None = None
    """The name that people see; recommended."""
    roleDefinition: str | None = None
    """Who it is; recommended."""
    groups: (
        tuple[
            Literal["read", "edit", "browser", "command", "mcp", "modes"]
            | tuple[Any, ...]
            | dict[str, Any],
            ...,
        ]
        | None
    ) = None
    """What it may do; an entry may also be `[edit, {fileRegex: …}]`; recommended; restricts
    the agent, so a misspelling is an error."""
    whenToUse: str | None = None
    """When others choose it."""
    description: str | None = None
    """What it does, in a few words."""
    customInstructions: str | None = None
    """Further instructions."""
    rulesFiles: tuple[Any, ...] | None = None
    """Files with rules."""
    source: str | None = None
    """Where it comes from."""
    iconName: str | None = None
    """Its picture."""

class ModelOfContinue(Struct, frozen=True, kw_only=True):
    """A model of Continue."""

    name: str | None = None
    """The name that people see; recommended; common misspelling, which the tool ignores:
    `uses`."""
    provider: str | None = None
    """Who serves it, such as `ollama`; recommended; common misspelling, which the tool
    ignores: `uses`."""
    model: str | None = None
    """Its name there; recommended; common misspelling, which the tool ignores: `uses`."""
    roles: (
        tuple[
            Literal[
                "chat", "autocomplete", "embed", "rerank", "edit", "apply", "summarize", "subagent"
            ],
            ...,
        ]
        | None
    ) = None
    """What it is used for."""
    apiKey: str | None = None
    """The key of the provider."""
    apiBase: str | None = None
    """The address of the provider."""
    capabilities: tuple[str, ...] | None = None
    """What it can do, such as `tool_use`."""
    uses: str | None = None
    """A block that is taken over: `owner/name`, or the address of a file."""
    with_: dict[str, Any] | None = None
    """Values for the inputs of that block."""
    override: dict[str, Any] | None = None
    """What differs from that block."""

class NetworkOfASandboxOfClaudeCode(Struct, frozen=True, kw_only=True):
    """The network of a sandbox of Claude Code."""

    allowedDomains: tuple[str, ...] | None = None
    """Hosts that commands may reach; restricts the agent, so a misspelling is an error."""
    deniedDomains: tuple[str, ...] | None = None
    """Hosts that commands may not reach; restricts the agent, so a misspelling is an
    error."""
    strictAllowlist: bool | None = None
    """Whether other hosts are refused; restricts the agent, so a misspelling is an
    error."""
    allowLocalBinding: bool | None = None
    """Whether commands may listen on local ports."""
    allowUnixSockets: tuple[str, ...] | None = None
    """Sockets that commands may use."""
    allowAllUnixSockets: bool | None = None
    """Whether commands may use every socket."""
    allowMachLookup: tuple[str, ...] | None = None
    """Services of macOS that commands may use."""
    allowManagedDomainsOnly: bool | None = None
    """Whether only managed hosts count; restricts the agent, so a misspelling is an
    error."""
    httpProxyPort: int | None = None
    """The port of an HTTP proxy."""
    socksProxyPort: int | None = None
    """The port of a SOCKS proxy."""
    tlsTerminate: dict[str, Any] | None = None
    """Certificates of a proxy that reads the traffic."""

class OpenCodeAgent(Struct, frozen=True, kw_only=True):
    """An OpenCode agent."""

    description: str | None = None
    """When to use it; other agents choose it by this text."""
    name: Any | None = None
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
    """Tools to turn on or off by name; `permission` replaces it; restricts the agent, so a
    misspelling is an error; every tool it names must exist; common misspelling, which the
    tool ignores: `allowed-tools`, `allowed_tools`."""
    permission: (
        dict[str, Literal["ask", "allow", "deny"] | dict[str, Literal["ask", "allow", "deny"]]]
        | Literal["ask", "allow", "deny"]
        | None
    ) = None
    """What it may do: one action, or an action for each tool; restricts the agent, so a
    misspelling is an error; common misspelling, which the tool ignores: `permissions`."""
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

    name: str | None = None
    """A name to show; the file gives the name to call it by."""
    description: str | None = None
    """What it does; the menu shows this text."""
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

class OpenCodeConfiguration(Struct, frozen=True, kw_only=True):
    """An OpenCode configuration."""

    _schema: str | None = None
    """The schema for editors."""
    model: str | None = None
    """The model, as `provider/model`."""
    small_model: str | None = None
    """The model for small tasks, as `provider/model`."""
    default_agent: str | None = None
    """The agent to start with."""
    username: str | None = None
    """The name to show for the user."""
    logLevel: Literal["DEBUG", "INFO", "WARN", "ERROR"] | None = None
    """How much is logged."""
    server: dict[str, Any] | None = None
    """Where it listens."""
    share: Literal["manual", "auto", "disabled"] | None = None
    """Whether sessions are shared."""
    autoshare: bool | None = None
    """An old form of `share`."""
    autoupdate: bool | Literal["notify"] | None = None
    """Whether it updates itself."""
    provider: dict[str, Any] | None = None
    """Providers of models, by name."""
    disabled_providers: tuple[str, ...] | None = None
    """Providers that are not used; restricts the agent, so a misspelling is an error."""
    enabled_providers: tuple[str, ...] | None = None
    """The only providers that are used; restricts the agent, so a misspelling is an
    error."""
    agent: dict[str, AgentOfOpenCode] | None = None
    """Agents, by name; common misspelling, which the tool ignores: `agents`."""
    mode: dict[str, AgentOfOpenCode] | None = None
    """An old form of `agent`; common misspelling, which the tool ignores: `modes`."""
    command: dict[str, CommandOfOpenCode] | None = None
    """Commands, by name; common misspelling, which the tool ignores: `commands`."""
    permission: (
        dict[str, Literal["ask", "allow", "deny"] | dict[str, Literal["ask", "allow", "deny"]]]
        | Literal["ask", "allow", "deny"]
        | None
    ) = None
    """What agents may do: one action, or an action for each tool; restricts the agent, so a
    misspelling is an error; common misspelling, which the tool ignores: `permissions`."""
    tools: dict[str, bool] | None = None
    """Tools to turn on or off by name; `permission` replaces it; restricts the agent, so a
    misspelling is an error."""
    mcp: dict[str, dict[str, Any]] | None = None
    """MCP servers, by name; common misspelling, which the tool ignores: `mcpServers`."""
    lsp: bool | dict[str, Any] | None = None
    """Language servers, by name."""
    formatter: bool | dict[str, Any] | None = None
    """Programs that format files, by name."""
    plugin: tuple[Any, ...] | None = None
    """Plugins: packages or files; common misspelling, which the tool ignores: `plugins`."""
    skills: PlacesOfSkillsOfOpenCode | None = None
    """Where to look for skills."""
    instructions: tuple[str, ...] | None = None
    """Further files for the prompt: paths, patterns, addresses."""
    watcher: WatcherOfOpenCode | None = None
    """Which changes of files it looks at."""
    snapshot: bool | None = None
    """Whether changes can be undone."""
    compaction: dict[str, Any] | None = None
    """How long sessions are shortened."""
    enterprise: dict[str, Any] | None = None
    """Settings of an organisation."""
    experimental: dict[str, Any] | None = None
    """Experiments."""
    layout: Any | None = None
    """An old setting without effect."""
    keybinds: Any | None = None
    """Belongs into `tui.json` now."""
    theme: Any | None = None
    """Belongs into `tui.json` now."""
    tui: Any | None = None
    """Belongs into `tui.json` now."""

class OpenCodeSkill(Struct, frozen=True, kw_only=True):
    """A skill."""

    name: str | None = None
    """The name of the skill and of its folder; required: the tool ignores a file without
    it."""
    description: str | None = None
    """What it does and when to use it; recommended."""
    license: str | None = None
    """The licence, or the file that holds it."""
    compatibility: str | None = None
    """What it needs: programs, packages, the network."""
    metadata: dict[str, Any] | None = None
    """Anything else, as text by name."""
    allowed_tools: tuple[str, ...] | None = None
    """Tools it may use without asking the user; restricts the agent, so a misspelling is an
    error; a list, or text divided at `, `; every tool it names must exist."""
    argument_hint: str | tuple[Any, ...] | None = None
    """The arguments, as the menu shows them: `[file] [line]`."""
    arguments: str | tuple[Any, ...] | None = None
    """Names for the arguments; the text uses them as `$name`."""
    model: str | None = None
    """The model to use while it runs."""
    effort: Literal["low", "medium", "high", "xhigh", "max"] | int | None = None
    """How much the model reasons while it runs."""
    disable_model_invocation: bool | None = None
    """Whether only people may call it; restricts the agent, so a misspelling is an
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
    """Tools it may not use; restricts the agent, so a misspelling is an error; a list, or
    text divided at `, `; every tool it names must exist."""
    version: str | None = None
    """The version of the skill."""
    body: str = ""
    """The text below the header."""

class OpenHandsMicroagent(Struct, frozen=True, kw_only=True):
    """An OpenHands microagent."""

    name: str | None = None
    """Its name."""
    type: Literal["knowledge", "repo", "task"] | None = None
    """When it is read."""
    triggers: tuple[str, ...] | None = None
    """Words that bring it into the prompt."""
    version: str | int | float | None = None
    """Its version."""
    agent: str | None = None
    """The agent that reads it."""
    inputs: tuple[Any, ...] | None = None
    """What the user is asked for."""
    mcp_tools: Any | None = None
    """MCP servers it brings."""
    body: str = ""
    """The text below the header."""

class OwnerOfAMarketplace(Struct, frozen=True, kw_only=True):
    """The owner of a marketplace."""

    name: str | None = None
    """The name; required: the tool ignores a file without it."""
    email: str | None = None
    """The address for mail."""
    url: str | None = None
    """The address of a web page."""

class PageOfContinue(Struct, frozen=True, kw_only=True):
    """A page of Continue."""

    name: str | None = None
    """The name that people see; recommended; common misspelling, which the tool ignores:
    `uses`."""
    startUrl: str | None = None
    """Where to begin; recommended; common misspelling, which the tool ignores: `uses`."""
    uses: str | None = None
    """A block that is taken over: `owner/name`, or the address of a file."""
    with_: dict[str, Any] | None = None
    """Values for the inputs of that block."""
    override: dict[str, Any] | None = None
    """What differs from that block."""

class ParameterOfARecipe(Struct, frozen=True, kw_only=True):
    """A parameter of a recipe."""

    key: str | None = None
    """Its name: `{{ key }}` in the text; recommended."""
    input_type: str | None = None
    """What sort of value it is; recommended."""
    requirement: Literal["required", "optional", "user_prompt"] | None = None
    """Whether it must be given; recommended."""
    description: str | None = None
    """What it is for; recommended."""
    default: Any | None = None
    """The value if none is given."""
    options: tuple[Any, ...] | None = None
    """The values it may have."""

class PermissionOfAmp(Struct, frozen=True, kw_only=True):
    """A permission of Amp."""

    tool: str | None = None
    """The tools it is for; recommended."""
    action: Literal["allow", "ask", "reject", "delegate"] | None = None
    """What happens; recommended; restricts the agent, so a misspelling is an error."""
    matches: dict[str, Any] | None = None
    """The arguments it is for."""
    context: str | None = None
    """`thread` or `subagent`."""
    to: str | None = None
    """The program that decides."""
    message: str | None = None
    """The message to the model."""

class PermissionsOfClaudeCode(Struct, frozen=True, kw_only=True):
    """The permissions of Claude Code."""

    allow: tuple[Any, ...] | None = None
    """Rules for calls that need no approval; common misspelling, which the tool ignores:
    `allowed`, `allowedTools`."""
    ask: tuple[Any, ...] | None = None
    """Rules for calls that need approval; restricts the agent, so a misspelling is an
    error."""
    deny: tuple[Any, ...] | None = None
    """Rules for calls that are refused; restricts the agent, so a misspelling is an error;
    common misspelling, which the tool ignores: `denied`, `disallow`, `disallowedTools`,
    `block`."""
    defaultMode: (
        Literal["default", "acceptEdits", "plan", "auto", "dontAsk", "bypassPermissions", "manual"]
        | None
    ) = None
    """What may happen without approval; restricts the agent, so a misspelling is an
    error."""
    additionalDirectories: tuple[str, ...] | None = None
    """More folders that Claude may work in."""
    disableBypassPermissionsMode: Literal["disable"] | None = None
    """`disable`: approval cannot be switched off; restricts the agent, so a misspelling is
    an error."""
    disableAutoMode: Literal["disable"] | None = None
    """`disable`: no automatic mode; restricts the agent, so a misspelling is an error."""

class PermissionsOfCursor(Struct, frozen=True, kw_only=True):
    """The permissions of Cursor."""

    allow: tuple[str, ...] | None = None
    """What is allowed: `Shell(git)`, `Read(src/)`."""
    deny: tuple[str, ...] | None = None
    """What is denied; restricts the agent, so a misspelling is an error."""

class PlacesOfSkillsOfOpenCode(Struct, frozen=True, kw_only=True):
    """The places of skills of OpenCode."""

    paths: tuple[str, ...] | None = None
    """Folders with skills."""
    urls: tuple[str, ...] | None = None
    """Addresses of skills."""

class PolicyOfASkill(Struct, frozen=True, kw_only=True):
    """The policy of a skill."""

    allow_implicit_invocation: bool | None = None
    """Whether the model may use it unasked; restricts the agent, so a misspelling is an
    error."""
    products: tuple[str, ...] | None = None
    """The products that offer the skill."""

class PromptOfContinue(Struct, frozen=True, kw_only=True):
    """A prompt of Continue."""

    name: str | None = None
    """The name by which it is called; recommended; common misspelling, which the tool
    ignores: `uses`."""
    prompt: str | None = None
    """The text; recommended; common misspelling, which the tool ignores: `uses`."""
    description: str | None = None
    """What it does."""
    uses: str | None = None
    """A block that is taken over: `owner/name`, or the address of a file."""
    with_: dict[str, Any] | None = None
    """Values for the inputs of that block."""
    override: dict[str, Any] | None = None
    """What differs from that block."""

class QwenAgent(Struct, frozen=True, kw_only=True):
    """A Qwen agent."""

    name: str | None = None
    """The name by which others call it; recommended."""
    description: str | None = None
    """When to use it; others choose it by this text; recommended."""
    tools: tuple[str, ...] | None = None
    """The only tools it may use; without the field it has all of them; restricts the agent,
    so a misspelling is an error; a list, or text divided at `,`; every tool it names must
    exist."""
    disallowedTools: tuple[str, ...] | None = None
    """Tools it may not use; restricts the agent, so a misspelling is an error; a list, or
    text divided at `,`; every tool it names must exist."""
    model: str | None = None
    """The model; `inherit` for the caller's."""
    color: str | None = None
    """Its colour in the terminal."""
    approvalMode: str | None = None
    """When it must ask the user; restricts the agent, so a misspelling is an error."""
    body: str = ""
    """The text below the header."""

class QwenSettingsFile(Struct, frozen=True, kw_only=True):
    """A Qwen settings file."""

    mcpServers: dict[str, dict[str, Any]] | None = None
    """MCP servers, by name."""
    tools: dict[str, Any] | None = None
    """Which tools there are."""
    mcp: dict[str, Any] | None = None
    """Which servers are used."""
    context: dict[str, Any] | None = None
    """What is read into the prompt."""
    security: dict[str, Any] | None = None
    """What is not allowed."""
    permissions: dict[str, Any] | None = None
    """What may be done; restricts the agent, so a misspelling is an error."""
    hooks: dict[str, Any] | None = None
    """Programs that run at certain events."""

class RooCommand(Struct, frozen=True, kw_only=True):
    """A Roo command."""

    description: str | None = None
    """What it does; the menu shows this text."""
    argument_hint: str | tuple[Any, ...] | None = None
    """The arguments, as the menu shows them."""
    mode: str | None = None
    """The mode that runs it."""
    body: str = ""
    """The text below the header."""

class RuleOfAPolicy(Struct, frozen=True, kw_only=True):
    """A rule of a policy."""

    toolName: str | tuple[str, ...] | None = None
    """The tools it is for."""
    mcpName: str | None = None
    """The server it is for."""
    subagent: str | None = None
    """The agent it is for."""
    toolAnnotations: dict[str, Any] | None = None
    """What the tools say of themselves."""
    argsPattern: str | None = None
    """An expression over the arguments."""
    commandPrefix: str | tuple[str, ...] | None = None
    """How the command begins."""
    commandRegex: str | None = None
    """An expression over the command."""
    decision: Literal["allow", "deny", "ask_user"] | None = None
    """What happens; recommended; restricts the agent, so a misspelling is an error."""
    priority: int | float | None = None
    """Which rule wins: 0 to 999; recommended."""
    modes: tuple[str, ...] | None = None
    """The modes it counts in."""
    interactive: bool | None = None
    """Whether it counts with or without a user."""
    denyMessage: str | None = None
    """The message to the model."""
    allowRedirection: bool | None = None
    """Whether output may go into files."""
    name: str | None = None
    """A name for people."""
    description: str | None = None
    """What it is for."""

class RuleOfContinue(Struct, frozen=True, kw_only=True):
    """A rule of Continue."""

    name: str | None = None
    """The name that people see; recommended; common misspelling, which the tool ignores:
    `uses`."""
    rule: str | None = None
    """The text; recommended; common misspelling, which the tool ignores: `uses`."""
    globs: str | tuple[str, ...] | None = None
    """The files it applies to."""
    alwaysApply: bool | None = None
    """Whether it is part of every prompt."""
    uses: str | None = None
    """A block that is taken over: `owner/name`, or the address of a file."""
    with_: dict[str, Any] | None = None
    """Values for the inputs of that block."""
    override: dict[str, Any] | None = None
    """What differs from that block."""

class SandboxOfClaudeCode(Struct, frozen=True, kw_only=True):
    """The sandbox of Claude Code."""

    enabled: bool | None = None
    """Whether commands run in a sandbox; restricts the agent, so a misspelling is an
    error."""
    autoAllowBashIfSandboxed: bool | None = None
    """Whether commands in it need no approval."""
    allowUnsandboxedCommands: bool | None = None
    """Whether a command may leave it; restricts the agent, so a misspelling is an error."""
    excludedCommands: tuple[str, ...] | None = None
    """Commands that run outside of it."""
    failIfUnavailable: bool | None = None
    """Whether to stop where there is none; restricts the agent, so a misspelling is an
    error."""
    enableWeakerNestedSandbox: bool | None = None
    """Whether a weaker one will do in containers."""
    enableWeakerNetworkIsolation: bool | None = None
    """Whether a weaker network rule will do."""
    ignoreViolations: dict[str, Any] | None = None
    """Violations to be silent about, by command."""
    filesystem: FilesOfASandboxOfClaudeCode | None = None
    """Which files commands may read and write."""
    network: NetworkOfASandboxOfClaudeCode | None = None
    """Which hosts commands may reach."""
    enabledPlatforms: tuple[str, ...] | None = None
    """Operating systems that it counts on."""
    ripgrep: dict[str, Any] | None = None
    """The program that searches files in it."""
    bwrapPath: str | None = None
    """Where the program that makes it is."""
    socatPath: str | None = None
    """Where the program that forwards ports is."""

class SandboxOfCodex(Struct, frozen=True, kw_only=True):
    """A sandbox of Codex."""

    network_access: bool | None = None
    """Whether commands reach the network; restricts the agent, so a misspelling is an
    error."""
    writable_roots: tuple[str, ...] | None = None
    """Further folders that commands may write."""
    exclude_slash_tmp: bool | None = None
    """Whether `/tmp` is not writable; restricts the agent, so a misspelling is an error."""
    exclude_tmpdir_env_var: bool | None = None
    """Whether `$TMPDIR` is not writable; restricts the agent, so a misspelling is an
    error."""

class SandboxOfGeminiCLI(Struct, frozen=True, kw_only=True):
    """A sandbox of Gemini CLI."""

    enabled: bool | None = None
    """Whether there is one; restricts the agent, so a misspelling is an error."""
    command: str | None = None
    """The program that makes it."""
    image: str | None = None
    """The image to run in."""
    allowedPaths: tuple[str, ...] | None = None
    """Folders that may be used."""
    networkAccess: bool | None = None
    """Whether the network may be used; restricts the agent, so a misspelling is an
    error."""

class SecurityOfGeminiCLI(Struct, frozen=True, kw_only=True):
    """The security of Gemini CLI."""

    folderTrust: FolderTrustOfGeminiCLI | None = None
    """Whether folders must be trusted; restricts the agent, so a misspelling is an
    error."""
    disableYoloMode: bool | None = None
    """Whether `--yolo` is refused; restricts the agent, so a misspelling is an error."""
    disableAlwaysAllow: bool | None = None
    """Whether to ask each time; restricts the agent, so a misspelling is an error."""
    blockGitExtensions: bool | None = None
    """No extensions from git; restricts the agent, so a misspelling is an error."""
    allowedExtensions: tuple[str, ...] | None = None
    """The only extensions; restricts the agent, so a misspelling is an error."""
    toolSandboxing: bool | None = None
    """Whether tools are confined; restricts the agent, so a misspelling is an error."""
    enablePermanentToolApproval: bool | None = None
    """Whether to remember answers."""
    autoAddToPolicyByDefault: bool | None = None
    """Whether answers become rules."""
    environmentVariableRedaction: dict[str, Any] | None = None
    """Which variables are hidden from tools; restricts the agent, so a misspelling is an
    error."""
    auth: dict[str, Any] | None = None
    """How to sign in."""
    enableConseca: bool | None = None
    """An experiment."""

class ServerOfContinue(Struct, frozen=True, kw_only=True):
    """A server of Continue."""

    name: str | None = None
    """The name that people see; recommended; common misspelling, which the tool ignores:
    `uses`."""
    command: str | None = None
    """The program to start."""
    args: tuple[str, ...] | None = None
    """The arguments of the program."""
    env: dict[str, Any] | None = None
    """Environment variables to add for the program."""
    cwd: str | None = None
    """The folder to start the program in."""
    url: str | None = None
    """The address of a server that is not a program."""
    type: Literal["stdio", "sse", "streamable-http"] | None = None
    """How to talk to the server."""
    uses: str | None = None
    """A block that is taken over: `owner/name`, or the address of a file."""
    with_: dict[str, Any] | None = None
    """Values for the inputs of that block."""
    override: dict[str, Any] | None = None
    """What differs from that block."""

class ServerRulesOfGeminiCLI(Struct, frozen=True, kw_only=True):
    """The server rules of Gemini CLI."""

    allowed: tuple[str, ...] | None = None
    """The only servers that are used; restricts the agent, so a misspelling is an error."""
    excluded: tuple[str, ...] | None = None
    """Servers that are not used; restricts the agent, so a misspelling is an error."""
    serverCommand: str | None = None
    """A program that starts servers."""

class SettingOfAnExtension(Struct, frozen=True, kw_only=True):
    """A setting of an extension."""

    name: str | None = None
    """The name that people see; recommended."""
    description: str | None = None
    """What it is for."""
    envVar: str | None = None
    """The variable that holds it; recommended."""
    sensitive: bool | None = None
    """Whether it is a secret."""

class TerminalOfCursor(Struct, frozen=True, kw_only=True):
    """A terminal of Cursor."""

    name: str | None = None
    """The name that people see; recommended."""
    command: str | None = None
    """The command to run; recommended."""
    description: str | None = None
    """What it is for."""
    ports: Any | None = None
    """Ports that it listens at."""

class ToolsOfGeminiCLI(Struct, frozen=True, kw_only=True):
    """The tools of Gemini CLI."""

    sandbox: bool | str | SandboxOfGeminiCLI | None = None
    """Where tools run."""
    sandboxAllowedPaths: tuple[str, ...] | None = None
    """Folders the sandbox lets through."""
    sandboxNetworkAccess: bool | None = None
    """Whether it lets the network through."""
    core: tuple[str, ...] | None = None
    """The only built-in tools; restricts the agent, so a misspelling is an error."""
    allowed: tuple[str, ...] | None = None
    """Tools that run without asking."""
    confirmationRequired: tuple[str, ...] | None = None
    """Tools that always ask; restricts the agent, so a misspelling is an error."""
    exclude: tuple[str, ...] | None = None
    """Tools that are left out; restricts the agent, so a misspelling is an error."""
    discoveryCommand: str | None = None
    """A program that lists further tools."""
    callCommand: str | None = None
    """A program that calls them."""
    shell: dict[str, Any] | None = None
    """How commands run."""
    useRipgrep: bool | None = None
    """Whether to search with ripgrep."""
    truncateToolOutputThreshold: int | float | None = None
    """How much output is kept."""
    disableLLMCorrection: bool | None = None
    """Whether edits are not corrected."""

class ValueThatAPluginAsksFor(Struct, frozen=True, kw_only=True):
    """A value that a plugin asks for."""

    type: Literal["string", "number", "boolean", "directory", "file"] | None = None
    """What sort of value it is; required: the tool ignores a file without it."""
    title: str | None = None
    """Its name in the dialog; required: the tool ignores a file without it."""
    description: str | None = None
    """The text below it in the dialog; required: the tool ignores a file without it."""
    required: bool | None = None
    """Whether it must be given."""
    default: str | int | float | bool | tuple[str, ...] | None = None
    """The value if none is given."""
    multiple: bool | None = None
    """Whether it may be a list of texts."""
    sensitive: bool | None = None
    """Whether it is kept where secrets are kept."""
    min: int | float | None = None
    """The least number."""
    max: int | float | None = None
    """The greatest number."""
    options: tuple[str, ...] | None = None
    """The only values of a text."""

class WatcherOfOpenCode(Struct, frozen=True, kw_only=True):
    """The watcher of OpenCode."""

    ignore: tuple[str, ...] | None = None
    """Patterns of files to leave out."""

class WindsurfRule(Struct, frozen=True, kw_only=True):
    """A Windsurf rule."""

    trigger: Literal["always_on", "model_decision", "glob", "manual"] | None = None
    """When the rule applies."""
    globs: str | tuple[str, ...] | None = None
    """With `trigger: glob`, the files it applies to."""
    description: str | None = None
    """With `trigger: model_decision`, what it is about."""
    body: str = ""
    """The text below the header."""

class WindsurfWorkflow(Struct, frozen=True, kw_only=True):
    """A Windsurf workflow."""

    description: str | None = None
    """What it does."""
    auto_execution_mode: int | None = None
    """How much runs unasked."""
    body: str = ""
    """The text below the header."""

class ZedSettingsFile(Struct, frozen=True, kw_only=True):
    """A Zed settings file."""

    context_servers: dict[str, dict[str, Any]] | None = None
    """MCP servers, by name."""
    agent_servers: dict[str, Any] | None = None
    """Agents of others that run as programs, by name."""
    agent: AgentSettingsOfZed | None = None
    """Settings of the agent."""
