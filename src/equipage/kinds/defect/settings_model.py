"""The keys of the settings, all of them optional, and the values that follow from them."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

import msgspec

from equipage.core.frozen import EMPTY
from equipage.kinds.defect.hooks import Handler, HookMatch, Hooks
from equipage.kinds.defect.profile_model import (
    U32,
    RequestLimit,
    RequestLimitMode,
    Sampling,
    request_limit,
)
from equipage.kinds.mcp.strict import Mcp
from equipage.kinds.shared import Table

#: TOML has signed integers: of 64 bits without a sign, 63 remain.
U64 = Annotated[int, msgspec.Meta(ge=0)]
U8 = Annotated[int, msgspec.Meta(ge=0, le=255)]
Protocol = Literal["anthropic-messages", "openai-chat"]
ReasoningEffort = Literal["none", "minimal", "low", "medium", "high", "xhigh"]
SearchMode = Literal["delegate", "disabled"]
SandboxMode = Literal["deny-all", "read-only", "ask-writes", "open"]


class DefaultModel(Table, frozen=True):
    """The provider and the model to use."""

    TITLE: ClassVar[str] = "`default`"

    provider: str = "defect"  #: a built-in provider, or one of `providers`
    model: str | None = None  #: the model; by default the provider's own


class BasePrompt(Table, frozen=True):
    """The first part of the system prompt. The highest layer that has one supplies all of it."""

    file: str | None = None  #: a file beside this `config.toml`
    text: str | None = None  #: the text itself; it follows the file


class PromptOverlay(Table, frozen=True):
    """What is added to the system prompt for one provider."""

    text: str | None = None  #: the text to add


class ProjectPrompt(Table, frozen=True):
    """What is added to the system prompt: always, for a provider, for a model."""

    file: str = "AGENTS.md"  #: the file with the project's own instructions
    text: str | None = None  #: text for every model
    providers: dict[str, PromptOverlay] = EMPTY  #: text by the name of the provider
    models: dict[str, str] = EMPTY  #: text by the id of the model


class Turn(Table, frozen=True):
    """Limits and habits of one turn."""

    system_prompt: str | None = None  #: a system prompt for every turn
    sampling: Sampling | None = None  #: sampling parameters of the model
    request_limit: U32 | None = None  #: how many requests to the model one turn may make
    #: whether the limit is fixed, grows with each tool call, or does not exist
    request_limit_mode: RequestLimitMode | None = None
    #: shorten the conversation above this many tokens
    compact_threshold_tokens: U64 | None = None
    #: shorten the conversation when it fills this share of the context window
    compact_ratio: float = 0.85
    background_compact_enabled: bool = True  #: whether to begin shortening in the background
    compact_soft_ratio: float = 0.7  #: the share at which shortening in the background begins
    microcompact_enabled: bool = True  #: whether to drop old tool results first
    microcompact_ratio: float = 0.6  #: the share at which old tool results are dropped
    max_llm_retries: U32 = 3  #: how often to repeat a failed request
    max_concurrent_tools: U64 = 0  #: how many tools may run at a time; 0 for any number
    max_hook_continues: U32 = 3  #: how often a hook may prolong a turn
    subagent_max_depth: U32 = 1  #: how deep agents may start agents; 0 for not at all


class WebSearch(Table, frozen=True):
    """Web search by the provider."""

    mode: SearchMode = "disabled"  #: whether the provider searches the web for the model


class Capabilities(Table, frozen=True):
    """What models may do without a tool of the agent."""

    web_search: WebSearch = WebSearch()  #: web search by the provider


class ProviderWebSearch(Table, frozen=True):
    """Web search by one provider."""

    mode: SearchMode | None = None  #: overrides the mode of `capabilities`


class ProviderCapabilities(Table, frozen=True):
    """What one provider does otherwise than the rest."""

    web_search: ProviderWebSearch = ProviderWebSearch()  #: web search by this provider


class Model(Table, frozen=True):
    """A model of a provider."""

    id: str  #: the provider's name for it
    name: str | None = None  #: a name for people
    context_window: U64 | None = None  #: the size of its context window, in tokens
    max_output_tokens: U64 | None = None  #: its longest answer, in tokens


class Aws(Table, frozen=True):
    """Access to models on AWS."""

    profile: str | None = None  #: the AWS profile with the credentials
    region: str | None = None  #: the AWS region
    anthropic_beta: tuple[str, ...] = ()  #: beta features of Anthropic models to turn on


class Provider(Table, frozen=True):
    """A service that runs models. A name that is not built in adds a provider."""

    protocol: Protocol | None = None  #: the API it speaks
    base_url: str | None = None  #: the address of the API
    default_model: str | None = None  #: the model to use if none is named
    models: tuple[str | Model, ...] = ()  #: the models to choose from
    display_name: str | None = None  #: a name for people
    api_key_env: str | None = None  #: the *name* of the environment variable that holds the key
    organization: str | None = None  #: the organization to send with each request
    project: str | None = None  #: the project to send with each request
    aws: Aws | None = None  #: access to models on AWS
    headers: dict[str, str] = EMPTY  #: headers to send with each request
    auth_header: str | None = None  #: the header that carries the key
    #: what this provider does otherwise than the rest
    capabilities: ProviderCapabilities = ProviderCapabilities()
    reasoning_effort: ReasoningEffort | None = None  #: how much its models reason


class BashTool(Table, frozen=True):
    """Limits of the tool `bash`."""

    default_timeout_ms: U64 = 30_000  #: how long a command may run unless the model asks for more
    max_timeout_ms: U64 = 600_000  #: the longest time the model may ask for
    output_max_bytes: U64 = 1_048_576  #: how much output the model gets to see


class FsTool(Table, frozen=True):
    """Limits of the tools that read files."""

    read_default_limit: U64 = 2000  #: how many lines to read unless the model asks for more
    read_max_limit: U64 = 5000  #: the most lines the model may ask for


class FetchTool(Table, frozen=True):
    """Limits of the tool `fetch`."""

    enabled: bool = True  #: whether agents have the tool
    default_timeout_secs: U64 = 30  #: how long a request may take unless the model asks for more
    max_timeout_secs: U64 = 120  #: the longest time the model may ask for
    max_response_bytes: U64 = 5 * 1024 * 1024  #: the largest response
    #: the form of a page unless the model asks for another
    default_format: Literal["markdown", "html", "text"] = "markdown"
    html_to_markdown: bool = True  #: whether HTML becomes Markdown
    follow_redirects: bool = True  #: whether to follow redirects


class SearchTool(Table, frozen=True):
    """Limits of the tool `search`."""

    enabled: bool = True  #: whether agents have the tool
    default_head_limit: U64 = 100  #: how many matches to return unless the model asks for more
    max_head_limit: U64 = 1000  #: the most matches the model may ask for
    max_file_size_bytes: U64 = 16 * 1024 * 1024  #: larger files are not searched
    max_result_bytes: U64 = 256 * 1024  #: how much of the result the model gets to see
    max_walk_files: U64 = 100_000  #: how many files one search looks at
    #: whether to skip files that git ignores unless the model asks for them
    respect_gitignore_default: bool = True


class BackgroundTool(Table, frozen=True):
    """Limits of tasks in the background."""

    default_recent_blocks: U64 = 10  #: how many of the latest blocks of output to show
    block_text_limit: U64 = 0  #: the most characters of a block to show; 0 for all
    finished_tasks_cap: U64 = 64  #: how many finished tasks to remember


class ToolSettings(Table, frozen=True):
    """Limits of the built-in tools."""

    bash: BashTool = BashTool()  #: running commands
    fs: FsTool = FsTool()  #: reading files
    fetch: FetchTool = FetchTool()  #: fetching web pages
    search: SearchTool = SearchTool()  #: searching files
    background: BackgroundTool = BackgroundTool()  #: tasks in the background


class Sandbox(Table, frozen=True):
    """What tools may do without asking."""

    mode: SandboxMode = "ask-writes"  #: from `deny-all`, which allows nothing, to `open`


class Otlp(Table, frozen=True):
    """Traces over OpenTelemetry."""

    endpoint: str | None = None  #: the address that traces are sent to


class Langfuse(Table, frozen=True):
    """Traces to Langfuse."""

    enabled: bool = False  #: whether to send traces
    host: str | None = None  #: the address of the Langfuse server
    public_key: str | None = None  #: the public key of the project
    secret_key: str | None = None  #: the secret key of the project
    flush_interval_ms: U64 | None = None  #: how often to send traces
    max_batch: U64 | None = None  #: how many traces to send at a time


class Tracing(Table, frozen=True):
    """What is logged, and where traces are sent."""

    filter: str | None = None  #: which messages to log
    format: Literal["text", "jsonl"] = "text"  #: the format of the log
    otlp: Otlp = Otlp()  #: traces over OpenTelemetry
    langfuse: Langfuse = Langfuse()  #: traces to Langfuse


class Proxy(Table, frozen=True):
    """The proxy for requests."""

    #: whether the environment names the proxy, there is none, or the keys below name it
    mode: Literal["from-env", "disabled", "explicit"] = "from-env"
    http_proxy: str | None = None  #: the proxy for `http` addresses
    https_proxy: str | None = None  #: the proxy for `https` addresses
    no_proxy: tuple[str, ...] = ()  #: hosts to reach without the proxy


class Http(Table, frozen=True):
    """How requests to providers are made."""

    total_timeout_ms: U64 | None = None  #: how long a request may take, repetitions included
    transport_retries: U8 | None = None  #: how often to repeat a request that did not arrive
    initial_backoff_ms: U64 | None = None  #: how long to wait before the first repetition
    user_agent: str | None = None  #: the `User-Agent` header
    proxy: Proxy = Proxy()  #: the proxy to use


class DisabledHook(Table, frozen=True):
    """Removes every hook of an event with the same conditions and the same handler."""

    event: str  #: the event of the hook
    handler: Handler  #: the handler of the hook
    match: HookMatch = HookMatch()  #: the conditions of the hook


class LayeredHooks(Hooks, frozen=True):
    """The hooks of all layers, lowest first."""

    disable: tuple[
        DisabledHook, ...
    ] = ()  #: hooks of any layer to remove; applied when layers merge


class Settings(Table, frozen=True):
    """The settings of an agent. Each layer and the merge of all have this shape."""

    TITLE: ClassVar[str] = "the settings"

    default: DefaultModel = DefaultModel()  #: the provider and the model to use
    base_prompt: BasePrompt = BasePrompt()  #: the first part of the system prompt
    prompt: ProjectPrompt = ProjectPrompt()  #: what is added to the system prompt
    turn: Turn = Turn()  #: limits and habits of one turn
    capabilities: Capabilities = Capabilities()  #: what models may do without a tool
    providers: dict[str, Provider] = EMPTY  #: the providers by name
    tools: ToolSettings = ToolSettings()  #: limits of the built-in tools
    sandbox: Sandbox = Sandbox()  #: what tools may do without asking
    tracing: Tracing = Tracing()  #: what is logged, and where traces are sent
    mcp: Mcp = Mcp()  #: MCP servers
    http: Http = Http()  #: how requests to providers are made
    hooks: LayeredHooks = LayeredHooks()  #: what runs at certain events


#: The providers that need no section, and the models that some of them bring.
BUILT_IN_PROVIDERS = ("defect", "anthropic", "openai", "deepseek", "litellm")
BUILT_IN_MODELS = {
    "defect": "echo",
    "anthropic": "claude-sonnet-4-5",
    "openai": "gpt-4o-mini",
    "deepseek": "deepseek-chat",
}


class Effective(msgspec.Struct, frozen=True):
    """What a program uses that follows the settings."""

    provider: str
    model: str
    allowed_models: tuple[str, ...]  #: empty for any model
    request_limit: RequestLimit | None = None


def effective(settings: Settings) -> Effective:
    """The values that follow from valid settings."""
    provider = settings.default.provider
    section = settings.providers.get(provider, Provider())
    given = (settings.default.model, section.default_model, BUILT_IN_MODELS.get(provider))
    model = next((each for each in given if each is not None), "")
    limit = request_limit(settings.turn.request_limit, settings.turn.request_limit_mode)
    return Effective(provider, model, _allowed(settings, provider, model), limit)


def _allowed(settings: Settings, provider: str, model: str) -> tuple[str, ...]:
    """The models of the provider in use, then those of the others, always with the current one.

    The provider `defect` only echoes its input, so its models count only where it is in use.
    """
    built_in = [
        name for name in BUILT_IN_PROVIDERS if name in settings.providers and name != "defect"
    ]
    others = sorted(name for name in settings.providers if name not in BUILT_IN_PROVIDERS)
    found = dict.fromkeys(_ids(settings.providers.get(provider, Provider())))
    for name in (*built_in, *others):
        section = settings.providers[name]
        first = [section.default_model] if section.default_model is not None else []
        found |= dict.fromkeys([*first, *_ids(section)])
    if not found:
        return ()
    return tuple(found) if model in found else (model, *found)


def _ids(provider: Provider) -> list[str]:
    return [each if isinstance(each, str) else each.id for each in provider.models]
