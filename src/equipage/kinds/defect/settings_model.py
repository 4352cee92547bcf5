"""What the settings say: the merged stack and each of its layers have the same shape, and every key is optional."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

import msgspec

from equipage.core.frozen import EMPTY
from equipage.kinds.defect.hooks import Handler, HookMatch, Hooks, Table
from equipage.kinds.defect.profile_model import (
    U32,
    RequestLimit,
    RequestLimitMode,
    Sampling,
    request_limit,
)
from equipage.kinds.defect.settings_mcp import Mcp

#: TOML's integers are signed: what is meant to be 64 bits without a sign has 63.
U64 = Annotated[int, msgspec.Meta(ge=0)]
U8 = Annotated[int, msgspec.Meta(ge=0, le=255)]
Protocol = Literal["anthropic-messages", "openai-chat"]
ReasoningEffort = Literal["none", "minimal", "low", "medium", "high", "xhigh"]
SearchMode = Literal["delegate", "disabled"]
SandboxMode = Literal["deny-all", "read-only", "ask-writes", "open"]


class DefaultModel(Table, frozen=True):
    """Which provider and model to use."""

    provider: str = "defect"
    model: str | None = None


class BasePrompt(Table, frozen=True):
    """The first part of the system prompt. The highest layer that has one gives it as a whole."""

    file: str | None = None
    text: str | None = None


class PromptOverlay(Table, frozen=True):
    text: str | None = None


class ProjectPrompt(Table, frozen=True):
    """What is added to the system prompt: for everybody, for a provider, for a model."""

    file: str = "AGENTS.md"
    text: str | None = None
    providers: dict[str, PromptOverlay] = EMPTY
    models: dict[str, str] = EMPTY


class Turn(Table, frozen=True):
    """Limits and habits of one turn."""

    system_prompt: str | None = None
    sampling: Sampling | None = None
    request_limit: U32 | None = None
    request_limit_mode: RequestLimitMode | None = None
    compact_threshold_tokens: U64 | None = None
    compact_ratio: float = 0.85
    background_compact_enabled: bool = True
    compact_soft_ratio: float = 0.7
    microcompact_enabled: bool = True
    microcompact_ratio: float = 0.6
    max_llm_retries: U32 = 3
    max_concurrent_tools: U64 = 0
    max_hook_continues: U32 = 3
    subagent_max_depth: U32 = 1


class WebSearch(Table, frozen=True):
    mode: SearchMode = "disabled"


class Capabilities(Table, frozen=True):
    web_search: WebSearch = WebSearch()


class ProviderWebSearch(Table, frozen=True):
    mode: SearchMode | None = None


class ProviderCapabilities(Table, frozen=True):
    """What a provider does otherwise than all others."""

    web_search: ProviderWebSearch = ProviderWebSearch()


class Model(Table, frozen=True):
    """A model of a provider, with what is known about it."""

    id: str
    name: str | None = None
    context_window: U64 | None = None
    max_output_tokens: U64 | None = None


class Aws(Table, frozen=True):
    profile: str | None = None
    region: str | None = None
    anthropic_beta: tuple[str, ...] = ()


class Provider(Table, frozen=True):
    """Where models live. A name that is not built in makes a provider of one's own."""

    protocol: Protocol | None = None
    base_url: str | None = None
    default_model: str | None = None
    models: tuple[str | Model, ...] = ()
    display_name: str | None = None
    api_key_env: str | None = None
    organization: str | None = None
    project: str | None = None
    aws: Aws | None = None
    headers: dict[str, str] = EMPTY
    auth_header: str | None = None
    capabilities: ProviderCapabilities = ProviderCapabilities()
    reasoning_effort: ReasoningEffort | None = None


class BashTool(Table, frozen=True):
    default_timeout_ms: U64 = 30_000
    max_timeout_ms: U64 = 600_000
    output_max_bytes: U64 = 1_048_576


class FsTool(Table, frozen=True):
    read_default_limit: U64 = 2000
    read_max_limit: U64 = 5000


class FetchTool(Table, frozen=True):
    enabled: bool = True
    default_timeout_secs: U64 = 30
    max_timeout_secs: U64 = 120
    max_response_bytes: U64 = 5 * 1024 * 1024
    default_format: Literal["markdown", "html", "text"] = "markdown"
    html_to_markdown: bool = True
    follow_redirects: bool = True


class SearchTool(Table, frozen=True):
    enabled: bool = True
    default_head_limit: U64 = 100
    max_head_limit: U64 = 1000
    max_file_size_bytes: U64 = 16 * 1024 * 1024
    max_result_bytes: U64 = 256 * 1024
    max_walk_files: U64 = 100_000
    respect_gitignore_default: bool = True


class BackgroundTool(Table, frozen=True):
    default_recent_blocks: U64 = 10
    block_text_limit: U64 = 0
    finished_tasks_cap: U64 = 64


class ToolSettings(Table, frozen=True):
    """The tools that come with the agent."""

    bash: BashTool = BashTool()
    fs: FsTool = FsTool()
    fetch: FetchTool = FetchTool()
    search: SearchTool = SearchTool()
    background: BackgroundTool = BackgroundTool()


class Sandbox(Table, frozen=True):
    mode: SandboxMode = "ask-writes"


class Otlp(Table, frozen=True):
    endpoint: str | None = None


class Langfuse(Table, frozen=True):
    enabled: bool = False
    host: str | None = None
    public_key: str | None = None
    secret_key: str | None = None
    flush_interval_ms: U64 | None = None
    max_batch: U64 | None = None


class Tracing(Table, frozen=True):
    """What is recorded, and where it is sent."""

    filter: str | None = None
    format: Literal["text", "jsonl"] = "text"
    otlp: Otlp = Otlp()
    langfuse: Langfuse = Langfuse()


class Proxy(Table, frozen=True):
    mode: Literal["from-env", "disabled", "explicit"] = "from-env"
    http_proxy: str | None = None
    https_proxy: str | None = None
    no_proxy: tuple[str, ...] = ()


class Http(Table, frozen=True):
    total_timeout_ms: U64 | None = None
    transport_retries: U8 | None = None
    initial_backoff_ms: U64 | None = None
    user_agent: str | None = None
    proxy: Proxy = Proxy()


class DisabledHook(Table, frozen=True):
    """Removes every hook of an event that has the same conditions and does the same."""

    event: str
    handler: Handler
    match: HookMatch = HookMatch()


class LayeredHooks(Hooks, frozen=True):
    """The hooks of all layers, lowest first. `disable` is applied when they are merged and is gone afterwards."""

    disable: tuple[DisabledHook, ...] = ()


class Settings(Table, frozen=True):
    """The settings of an agent."""

    TITLE: ClassVar[str] = "the settings"

    default: DefaultModel = DefaultModel()
    base_prompt: BasePrompt = BasePrompt()
    prompt: ProjectPrompt = ProjectPrompt()
    turn: Turn = Turn()
    capabilities: Capabilities = Capabilities()
    providers: dict[str, Provider] = EMPTY
    tools: ToolSettings = ToolSettings()
    sandbox: Sandbox = Sandbox()
    tracing: Tracing = Tracing()
    mcp: Mcp = Mcp()
    http: Http = Http()
    hooks: LayeredHooks = LayeredHooks()


# --- effective ---------------------------------------------------------------------------------
# What follows from merged settings: the provider, the model, and the models that may be chosen.

#: The providers that need no section, and those of them that bring a model.
BUILT_IN_PROVIDERS = ("defect", "anthropic", "openai", "deepseek", "litellm")
BUILT_IN_MODELS = {
    "defect": "echo",
    "anthropic": "claude-sonnet-4-5",
    "openai": "gpt-4o-mini",
    "deepseek": "deepseek-chat",
}


class Effective(msgspec.Struct, frozen=True):
    """What a program uses when it does as the settings say."""

    provider: str
    model: str
    allowed_models: tuple[str, ...]  #: empty: any
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
    """The models of the provider in use, then those of the others; the current one is always among them.

    `defect` only says back what it is told: its models are there for those who use it.
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
