"""The kind `settings`: one `config.toml`, a layer among others, and all layers merged.

First the keys, all of them optional, and the values that follow from them; then the rules.
`layers` merges the layers and exports the `FORMAT` of the kind.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, ClassVar, Literal

import msgspec
from msgspec.structs import replace

from equipage.core import codes as core_codes
from equipage.core.frozen import EMPTY, StrictTable
from equipage.formats.defect import codes, hooks
from equipage.formats.defect.codes import SETTINGS_CODES
from equipage.formats.defect.discovery import find_layer_folders
from equipage.formats.defect.hooks import Handler, HookMatch, Hooks, Layer
from equipage.formats.defect.mcp import SERVERS_PATH, Mcp
from equipage.formats.defect.profile_model import (
    U32,
    RequestLimit,
    RequestLimitMode,
    Sampling,
    limit_facts,
    request_limit,
    sampling_facts,
)
from equipage.loading.tree import punch_holes
from equipage.plugin import (
    ROOT,
    Also,
    Fact,
    Format,
    Item,
    LayerFolder,
    Layering,
    Outcome,
    Path,
    Presentation,
    Reading,
    Sensitive,
    Session,
    Shape,
    Shown,
    System,
    Together,
    Tree,
    get,
    mapping_or_empty,
    nearest,
    walk,
)

#: TOML has signed integers: of 64 bits without a sign, 63 remain.
U64 = Annotated[int, msgspec.Meta(ge=0)]
U8 = Annotated[int, msgspec.Meta(ge=0, le=255)]
Protocol = Literal["anthropic-messages", "openai-chat"]
ReasoningEffort = Literal["none", "minimal", "low", "medium", "high", "xhigh"]
SearchMode = Literal["delegate", "disabled"]
SandboxMode = Literal["deny-all", "read-only", "ask-writes", "open"]


class DefaultModel(StrictTable, frozen=True):
    """The provider and the model to use."""

    TITLE: ClassVar[str] = "`default`"

    provider: str = "defect"
    """A built-in provider, or one of `providers`."""
    model: str | None = None
    """The model; by default the provider's own."""


class BasePrompt(StrictTable, frozen=True):
    """The first part of the system prompt. The highest layer that has one supplies all of it."""

    file: str | None = None
    """A file beside this `config.toml`."""
    text: str | None = None
    """The text itself; it follows the file."""


class PromptOverlay(StrictTable, frozen=True):
    """What is added to the system prompt for one provider."""

    text: str | None = None
    """The text to add."""


class ProjectPrompt(StrictTable, frozen=True):
    """What is added to the system prompt: always, for a provider, for a model."""

    file: str = "AGENTS.md"
    """The file with the project's own instructions."""
    text: str | None = None
    """Text for every model."""
    providers: dict[str, PromptOverlay] = EMPTY
    """Text by the name of the provider."""
    models: dict[str, str] = EMPTY
    """Text by the id of the model."""


class Turn(StrictTable, frozen=True):
    """Limits and habits of one turn."""

    system_prompt: str | None = None
    """A system prompt for every turn."""
    sampling: Sampling | None = None
    """Sampling parameters of the model."""
    request_limit: U32 | None = None
    """How many requests to the model one turn may make."""
    request_limit_mode: RequestLimitMode | None = None
    """Whether the limit is fixed, grows with each tool call, or does not exist."""
    compact_threshold_tokens: U64 | None = None
    """Shorten the conversation above this many tokens."""
    compact_ratio: float = 0.85
    """Shorten the conversation when it fills this share of the context window."""
    background_compact_enabled: bool = True
    """Whether to begin shortening in the background."""
    compact_soft_ratio: float = 0.7
    """The share at which shortening in the background begins."""
    microcompact_enabled: bool = True
    """Whether to drop old tool results first."""
    microcompact_ratio: float = 0.6
    """The share at which old tool results are dropped."""
    max_llm_retries: U32 = 3
    """How often to repeat a failed request."""
    max_concurrent_tools: U64 = 0
    """How many tools may run at a time; 0 for any number."""
    max_hook_continues: U32 = 3
    """How often a hook may prolong a turn."""
    subagent_max_depth: U32 = 1
    """How deep agents may start agents; 0 for not at all."""


class WebSearch(StrictTable, frozen=True):
    """Web search by the provider."""

    mode: SearchMode = "disabled"
    """Whether the provider searches the web for the model."""


class Capabilities(StrictTable, frozen=True):
    """What models may do without a tool of the agent."""

    web_search: WebSearch = WebSearch()
    """Web search by the provider."""


class ProviderWebSearch(StrictTable, frozen=True):
    """Web search by one provider."""

    mode: SearchMode | None = None
    """Overrides the mode of `capabilities`."""


class ProviderCapabilities(StrictTable, frozen=True):
    """What one provider does otherwise than the rest."""

    web_search: ProviderWebSearch = ProviderWebSearch()
    """Web search by this provider."""


class Model(StrictTable, frozen=True):
    """A model of a provider."""

    id: str
    """The provider's name for it."""
    name: str | None = None
    """A name for people."""
    context_window: U64 | None = None
    """The size of its context window, in tokens."""
    max_output_tokens: U64 | None = None
    """Its longest answer, in tokens."""


class Aws(StrictTable, frozen=True):
    """Access to models on AWS."""

    profile: str | None = None
    """The AWS profile with the credentials."""
    region: str | None = None
    """The AWS region."""
    anthropic_beta: tuple[str, ...] = ()
    """Beta features of Anthropic models to turn on."""


class Provider(StrictTable, frozen=True):
    """A service that runs models. A name that is not built in adds a provider."""

    protocol: Protocol | None = None
    """The API it speaks."""
    base_url: str | None = None
    """The address of the API."""
    default_model: str | None = None
    """The model to use if none is named."""
    models: tuple[str | Model, ...] = ()
    """The models to choose from."""
    display_name: str | None = None
    """A name for people."""
    api_key_env: str | None = None
    """The *name* of the environment variable that holds the key."""
    organization: str | None = None
    """The organization to send with each request."""
    project: str | None = None
    """The project to send with each request."""
    aws: Aws | None = None
    """Access to models on AWS."""
    headers: dict[str, str] = EMPTY
    """Headers to send with each request."""
    auth_header: str | None = None
    """The header that carries the key."""
    capabilities: ProviderCapabilities = ProviderCapabilities()
    """What this provider does otherwise than the rest."""
    reasoning_effort: ReasoningEffort | None = None
    """How much its models reason."""


class BashTool(StrictTable, frozen=True):
    """Limits of the tool `bash`."""

    default_timeout_ms: U64 = 30_000
    """How long a command may run unless the model asks for more."""
    max_timeout_ms: U64 = 600_000
    """The longest time the model may ask for."""
    output_max_bytes: U64 = 1_048_576
    """How much output the model gets to see."""


class FsTool(StrictTable, frozen=True):
    """Limits of the tools that read files."""

    read_default_limit: U64 = 2000
    """How many lines to read unless the model asks for more."""
    read_max_limit: U64 = 5000
    """The most lines the model may ask for."""


class FetchTool(StrictTable, frozen=True):
    """Limits of the tool `fetch`."""

    enabled: bool = True
    """Whether agents have the tool."""
    default_timeout_secs: U64 = 30
    """How long a request may take unless the model asks for more."""
    max_timeout_secs: U64 = 120
    """The longest time the model may ask for."""
    max_response_bytes: U64 = 5 * 1024 * 1024
    """The largest response."""
    default_format: Literal["markdown", "html", "text"] = "markdown"
    """The form of a page unless the model asks for another."""
    html_to_markdown: bool = True
    """Whether HTML becomes Markdown."""
    follow_redirects: bool = True
    """Whether to follow redirects."""


class SearchTool(StrictTable, frozen=True):
    """Limits of the tool `search`."""

    enabled: bool = True
    """Whether agents have the tool."""
    default_head_limit: U64 = 100
    """How many matches to return unless the model asks for more."""
    max_head_limit: U64 = 1000
    """The most matches the model may ask for."""
    max_file_size_bytes: U64 = 16 * 1024 * 1024
    """Larger files are not searched."""
    max_result_bytes: U64 = 256 * 1024
    """How much of the result the model gets to see."""
    max_walk_files: U64 = 100_000
    """How many files one search looks at."""
    respect_gitignore_default: bool = True
    """Whether to skip files that git ignores unless the model asks for them."""


class BackgroundTool(StrictTable, frozen=True):
    """Limits of tasks in the background."""

    default_recent_blocks: U64 = 10
    """How many of the latest blocks of output to show."""
    block_text_limit: U64 = 0
    """The most characters of a block to show; 0 for all."""
    finished_tasks_cap: U64 = 64
    """How many finished tasks to remember."""


class ToolSettings(StrictTable, frozen=True):
    """Limits of the built-in tools."""

    bash: BashTool = BashTool()
    """Running commands."""
    fs: FsTool = FsTool()
    """Reading files."""
    fetch: FetchTool = FetchTool()
    """Fetching web pages."""
    search: SearchTool = SearchTool()
    """Searching files."""
    background: BackgroundTool = BackgroundTool()
    """Tasks in the background."""


class Sandbox(StrictTable, frozen=True):
    """What tools may do without asking."""

    mode: SandboxMode = "ask-writes"
    """From `deny-all`, which allows nothing, to `open`."""


class Otlp(StrictTable, frozen=True):
    """Traces over OpenTelemetry."""

    endpoint: str | None = None
    """The address that traces are sent to."""


class Langfuse(StrictTable, frozen=True):
    """Traces to Langfuse."""

    enabled: bool = False
    """Whether to send traces."""
    host: str | None = None
    """The address of the Langfuse server."""
    public_key: str | None = None
    """The public key of the project."""
    secret_key: str | None = None
    """The secret key of the project."""
    flush_interval_ms: U64 | None = None
    """How often to send traces."""
    max_batch: U64 | None = None
    """How many traces to send at a time."""


class Tracing(StrictTable, frozen=True):
    """What is logged, and where traces are sent."""

    filter: str | None = None
    """Which messages to log."""
    format: Literal["text", "jsonl"] = "text"
    """The format of the log."""
    otlp: Otlp = Otlp()
    """Traces over OpenTelemetry."""
    langfuse: Langfuse = Langfuse()
    """Traces to Langfuse."""


class Proxy(StrictTable, frozen=True):
    """The proxy for requests."""

    mode: Literal["from-env", "disabled", "explicit"] = "from-env"
    """Whether the environment names the proxy, there is none, or the keys below name it."""
    http_proxy: str | None = None
    """The proxy for `http` addresses."""
    https_proxy: str | None = None
    """The proxy for `https` addresses."""
    no_proxy: tuple[str, ...] = ()
    """Hosts to reach without the proxy."""


class Http(StrictTable, frozen=True):
    """How requests to providers are made."""

    total_timeout_ms: U64 | None = None
    """How long a request may take, repetitions included."""
    transport_retries: U8 | None = None
    """How often to repeat a request that did not arrive."""
    initial_backoff_ms: U64 | None = None
    """How long to wait before the first repetition."""
    user_agent: str | None = None
    """The `User-Agent` header."""
    proxy: Proxy = Proxy()
    """The proxy to use."""


class DisabledHook(StrictTable, frozen=True):
    """Removes every hook of an event with the same conditions and the same handler."""

    event: str
    """The event of the hook."""
    handler: Handler
    """The handler of the hook."""
    match: HookMatch = HookMatch()
    """The conditions of the hook."""


class LayeredHooks(Hooks, frozen=True):
    """The hooks of all layers, lowest first."""

    disable: tuple[DisabledHook, ...] = ()
    """Hooks of any layer to remove; applied when layers merge."""


class Settings(StrictTable, frozen=True):
    """The settings of an agent. Each layer and the merge of all have this shape."""

    TITLE: ClassVar[str] = "the settings"

    default: DefaultModel = DefaultModel()
    """The provider and the model to use."""
    base_prompt: BasePrompt = BasePrompt()
    """The first part of the system prompt."""
    prompt: ProjectPrompt = ProjectPrompt()
    """What is added to the system prompt."""
    turn: Turn = Turn()
    """Limits and habits of one turn."""
    capabilities: Capabilities = Capabilities()
    """What models may do without a tool."""
    providers: dict[str, Provider] = EMPTY
    """The providers by name."""
    tools: ToolSettings = ToolSettings()
    """Limits of the built-in tools."""
    sandbox: Sandbox = Sandbox()
    """What tools may do without asking."""
    tracing: Tracing = Tracing()
    """What is logged, and where traces are sent."""
    mcp: Mcp = Mcp()
    """MCP servers."""
    http: Http = Http()
    """How requests to providers are made."""
    hooks: LayeredHooks = LayeredHooks()
    """What runs at certain events."""


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
    allowed_models: tuple[str, ...]
    """Empty for any model."""
    request_limit: RequestLimit | None = None


def derive_effective(settings: Settings) -> Effective:
    """The values that follow from valid settings."""
    provider = settings.default.provider
    section = settings.providers.get(provider, Provider())
    given = (settings.default.model, section.default_model, BUILT_IN_MODELS.get(provider))
    model = next((each for each in given if each is not None), "")
    limit = request_limit(settings.turn.request_limit, settings.turn.request_limit_mode)
    return Effective(provider, model, _allowed_models(settings, provider, model), limit)


def _allowed_models(settings: Settings, provider: str, model: str) -> tuple[str, ...]:
    """The models of the provider in use, then those of the others, always with the current one.

    The provider `defect` only echoes its input, so its models count only where it is in use.
    """
    built_in = [
        name for name in BUILT_IN_PROVIDERS if name in settings.providers and name != "defect"
    ]
    others = sorted(name for name in settings.providers if name not in BUILT_IN_PROVIDERS)
    found = dict.fromkeys(_model_ids(settings.providers.get(provider, Provider())))
    for name in (*built_in, *others):
        section = settings.providers[name]
        first = [section.default_model] if section.default_model is not None else []
        found |= dict.fromkeys([*first, *_model_ids(section)])
    if not found:
        return ()
    return tuple(found) if model in found else (model, *found)


def _model_ids(provider: Provider) -> list[str]:
    return [each if isinstance(each, str) else each.id for each in provider.models]


#: The modes of the sandbox, from the narrowest to the widest.
SANDBOXES = ("deny-all", "read-only", "ask-writes", "open")
DEFAULT_SANDBOX = "ask-writes"

# Layers.

_LAYERS: tuple[tuple[re.Pattern[str], Layer], ...] = (
    (re.compile(r"/\.defect/config\.local\.toml\Z"), "project-local"),
    (re.compile(r"/\.defect/config\.toml\Z"), "project"),
    (re.compile(r"/defect/config\.toml\Z"), "user"),
)


def layer_by_path(path: str, _env: Mapping[str, str] | None = None) -> Layer | None:
    """The layer of a file by its path."""
    shown = path.replace(os.sep, "/")
    return next((layer for pattern, layer in _LAYERS if pattern.search(shown)), None)


class SettingsOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Options of a load."""

    layer: Layer | None = None
    """The layer of the file; by default its path says."""


def _layer_of(tree: Tree, session: Session) -> Layer | None:
    """The layer of a file of settings: the caller's option, else the one its path says."""
    given: Layer | None = session.options.layer
    path = tree.provenance(ROOT).origin.document.source.filename
    return given if given is not None or path is None else layer_by_path(path)


def _user_folder(env: Mapping[str, str], system: System) -> Iterator[LayerFolder]:
    """The folder of the user's own settings."""
    user = find_layer_folders(env=env, system=system).user
    if user is not None:
        yield LayerFolder(user, "user")


# Stages.


def prepare_hooks(tree: Tree, session: Session) -> tuple[Tree, list[Fact]]:
    """Remove unknown events, and stamp each hook with its layer."""
    return hooks.prepare(tree, _layer_of(tree, session), may_disable=True)


def drop_infinite_numbers(tree: Tree, session: Session) -> tuple[Tree, list[Fact]]:
    """Put holes where numbers are not finite; parsing has reported them."""
    return (
        replace_infinities_with_holes(tree) if session.has_oddity(core_codes.NOT_FINITE) else tree
    ), []


def replace_infinities_with_holes(tree: Tree) -> Tree:
    infinite = (
        path
        for path, value in walk(tree.value)
        if isinstance(value, float) and not math.isfinite(value)
    )
    return punch_holes(tree, infinite)


# Rules for each layer alone.

_RATIOS = ("compact_ratio", "compact_soft_ratio", "microcompact_ratio")


def hooks_can_run(config: Any, _session: Session) -> Iterator[Fact]:
    yield from hooks.check(config)
    yield from hooks.disabled_events_exist(config)


def numbers_are_plausible(config: Any, _session: Session) -> Iterator[Fact]:
    """Shares of the context window are in (0, 1], and sampling parameters in what models accept."""
    for key in _RATIOS:
        ratio = get(config, ("turn", key))
        if _is_number(ratio) and not 0 < ratio <= 1:
            yield codes.RATIO_RANGE.at(("turn", key), key=key, found=Shown(ratio))
    yield from sampling_facts(config, ("turn", "sampling"))


def models_are_named(config: Any, _session: Session) -> Iterator[Fact]:
    """The name of a model is not empty: it would hide the layer below, and no model has it."""
    names = mapping_or_empty(get(config, ("providers",)))
    paths = (("default", "model"), *(("providers", name, "default_model") for name in names))
    for path in paths:
        model = get(config, path)
        if isinstance(model, str) and not model.strip():
            yield codes.TEXT_EMPTY.at(path, what=f"`{'.'.join(path)}`")


# Rules for all layers merged: what must hold between keys that may come from different files.

_DEFAULT_TURN = Turn()
#: The switch that turns a tier of compaction off.
_SWITCHES = {
    "compact_soft_ratio": "background_compact_enabled",
    "microcompact_ratio": "microcompact_enabled",
}


def request_limit_is_complete(config: Any, _session: Session) -> Iterator[Fact]:
    return limit_facts(get(config, ("turn",)), ("turn",))


def ratios_are_ordered(config: Any, _session: Session) -> Iterator[Fact]:
    """Among the tiers that are on: soft below hard, micro not above soft, micro below hard."""
    turn = get(config, ("turn",), {})
    hard, soft, micro = (_effective_ratio(turn, key) for key in _RATIOS)
    if hard is not None and soft is not None and not soft < hard:
        yield _ratio_order_fact(turn, "compact_soft_ratio", "below", "compact_ratio")
    # One finding about the lowest tier is enough.
    if micro is not None and soft is not None and not micro <= soft:
        yield _ratio_order_fact(turn, "microcompact_ratio", "not above", "compact_soft_ratio")
    elif micro is not None and hard is not None and not micro < hard:
        yield _ratio_order_fact(turn, "microcompact_ratio", "below", "compact_ratio")


def _effective_ratio(turn: Any, key: str) -> float | None:
    """The ratio of a tier; None if the tier is off, or the ratio out of range and reported."""
    switch = _SWITCHES.get(key)
    if not isinstance(turn, dict) or (switch is not None and turn.get(switch) is False):
        return None
    ratio = turn.get(key, getattr(_DEFAULT_TURN, key))
    return ratio if _is_number(ratio) and 0 < ratio <= 1 else None


def _ratio_order_fact(turn: dict[str, Any], low: str, relation: str, high: str) -> Fact:
    """The finding at a ratio that the author set; the other one is named too if it is set."""
    here, other = (low, high) if low in turn else (high, low)
    low_value, high_value = (
        Shown(turn.get(key, getattr(_DEFAULT_TURN, key))) for key in (low, high)
    )
    return codes.RATIO_ORDER.at(
        ("turn", here),
        also=(Also("compared with this", ("turn", other)),) if other in turn else (),
        low=low,
        high=high,
        relation=relation,
        low_value=low_value,
        high_value=high_value,
    )


def provider_is_known(config: Any, _session: Session) -> Iterator[Fact]:
    """The provider in use is built in or has a section, and some model is known for it."""
    provider = get(config, ("default", "provider"), "defect")
    providers = get(config, ("providers",), {})
    if not isinstance(provider, str) or not isinstance(providers, dict):
        return
    path: Path = ("default", "provider")
    if provider not in BUILT_IN_PROVIDERS and provider not in providers:
        guess = nearest(provider, [*BUILT_IN_PROVIDERS, *providers])
        yield codes.PROVIDER_WITHOUT_SECTION.at(path, provider=Shown(provider), nearest=guess)
        return
    # A section that is not a table has a finding of its own.
    section = providers.get(provider, {})
    if section is not None and not isinstance(section, dict):
        return
    named = (get(config, ("default", "model")), get(section, ("default_model",)))
    if all(model is None for model in named) and provider not in BUILT_IN_MODELS:
        yield codes.MODEL_REQUIRED.at(path, provider=Shown(provider))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


# The kind.

EXAMPLE = """\
[default]
provider = "anthropic"

[turn]
request_limit = 40
request_limit_mode = "adaptive"

[sandbox]
mode = "ask-writes"

[[hooks.before_tool_apply]]
name = "keep secrets in"
match = { tool = "bash" }
handler = { type = "builtin", name = "redact-secrets" }
"""


# fmt: off
#: Where requests go, with which secrets, and what runs at events.
_PERMISSIONS = (
    "hooks.**", "providers.*.base_url", "providers.*.headers.**", "providers.*.auth_header",
    "providers.*.api_key_env", "http.proxy.**",
)
# fmt: on
_PROMPTS = ("base_prompt.*", "turn.system_prompt", "prompt.**")


def _server_names(outcome: Outcome) -> Iterator[str]:
    """The MCP servers that a file of settings defines."""
    if outcome.tree is not None:
        yield from mapping_or_empty(get(outcome.tree.value, SERVERS_PATH))


def _list_settings(_plain: Any, file: str) -> Iterator[Item]:
    """Layers of settings merge, so none shadows another: each has the name of its file."""
    yield Item("settings", file.rpartition("/")[2])


#: One `config.toml`, whatever its layer, without the other layers.
SINGLE_FILE_FORMAT = Format(
    name="settings",
    title="settings",
    model=Settings,
    reading=Reading(options=SettingsOptions, syntaxes={".toml": "toml"}, variables=False),
    shape=Shape(unknown="error"),
    stages=(drop_infinite_numbers, prepare_hooks),
    checks=(hooks_can_run, numbers_are_plausible, models_are_named),
    codes=SETTINGS_CODES,
    together=Together(offers=_server_names),
    layering=Layering(layer=layer_by_path, elsewhere=_user_folder),
    presentation=Presentation(
        hidden="source",
        example=EXAMPLE,
        example_path=".defect/config.toml",
        listing=_list_settings,
        sensitive=(
            Sensitive("sandbox.mode", "permission", order=SANDBOXES, default=DEFAULT_SANDBOX),
            Sensitive("tools.fetch.enabled", "permission", order=(False, True), default=True),
            Sensitive(
                "capabilities.web_search.mode",
                "permission",
                order=("disabled", "delegate"),
                default="disabled",
            ),
            Sensitive("mcp.servers.*", "tool"),
            *(Sensitive(pattern, "permission") for pattern in _PERMISSIONS),
            *(Sensitive(pattern, "prompt") for pattern in _PROMPTS),
        ),
    ),
)

#: A layer among others: the merge leaves out numbers that are not finite.
LAYER_STAGES = (prepare_hooks,)
LAYER_FORMAT = replace(SINGLE_FILE_FORMAT, stages=LAYER_STAGES)

#: All layers merged.
MERGED_FORMAT = replace(
    SINGLE_FILE_FORMAT,
    stages=(),
    checks=(request_limit_is_complete, ratios_are_ordered, provider_is_known),
)
