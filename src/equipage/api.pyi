# made by tools/faces.py from the kinds; `make stubs` renews it.

import os
from collections.abc import Iterable, Mapping
from typing import Any, Literal, TypedDict, TypeVar, Unpack, overload

import equipage.models as _models
from equipage.loading.format import Format, Limits
from equipage.loading.options import DiscoverOptions as _Discover
from equipage.loading.options import LoadOptions as _Load
from equipage.loading.options import LoadsOptions as _Loads
from equipage.loading.options import WatchOptions as _Watch
from equipage.loading.result import Loaded
from equipage.workspace.report import Report
from equipage.workspace.watch import Watch

__all__ = ["check", "check_files", "discover", "example", "load", "loads", "schema", "watch"]

_C = TypeVar("_C")
_Path = str | os.PathLike[str]

class _AgentOptions(TypedDict, total=False):
    """Options for loading one agent file."""

    default_agent_kind: Literal["lua", "rust_fn", "agent_block", "subprocess", "operator"]
    """The kind of the agent; a header cannot say it."""

class _LoadAgentOptions(_Load, _AgentOptions, total=False): ...
class _LoadsAgentOptions(_Loads, _AgentOptions, total=False): ...
class _WatchAgentOptions(_Watch, _AgentOptions, total=False): ...

class _BlueprintOptions(TypedDict, total=False):
    """Options for loading a blueprint, which the document itself cannot set."""

    default_agent_kind: Literal["lua", "rust_fn", "agent_block", "subprocess", "operator"] | None
    """The kind of agents from files, where neither the reference nor the blueprint says it."""
    include_roots: Iterable[_Path]
    """Further folders in which references are looked up, after the blueprint's own."""

class _LoadBlueprintOptions(_Load, _BlueprintOptions, total=False): ...
class _LoadsBlueprintOptions(_Loads, _BlueprintOptions, total=False): ...
class _WatchBlueprintOptions(_Watch, _BlueprintOptions, total=False): ...

class _ProfileOptions(TypedDict, total=False):
    """Options of a load."""

    layer: Literal["user", "project"] | None
    """The layer of the file; by default its path says."""

class _LoadProfileOptions(_Load, _ProfileOptions, total=False): ...
class _LoadsProfileOptions(_Loads, _ProfileOptions, total=False): ...
class _WatchProfileOptions(_Watch, _ProfileOptions, total=False): ...

class _ServerOptions(TypedDict, total=False):
    """What the caller decides about a server configuration."""

    library: _Path | None
    """The folder where includes start; by default `library` beside the file or in the project."""
    project_library: str | None
    """That folder as the settings of the project name it; `library` counts more."""
    allow_absolute: bool | None
    """Whether directives may name absolute paths: no; yes; or, for None, as the command decides."""
    allow_handlers: bool
    """Whether responses may come from programs and web services."""

class _LoadServerOptions(_Load, _ServerOptions, total=False): ...
class _LoadsServerOptions(_Loads, _ServerOptions, total=False): ...
class _WatchServerOptions(_Watch, _ServerOptions, total=False): ...

class _SettingsOptions(TypedDict, total=False):
    """Options of a load."""

    layer: Literal["user", "project", "project-local", "command line"] | None
    """The layer of the file; by default its path says."""

class _LoadSettingsOptions(_Load, _SettingsOptions, total=False): ...
class _LoadsSettingsOptions(_Loads, _SettingsOptions, total=False): ...
class _WatchSettingsOptions(_Watch, _SettingsOptions, total=False): ...

class _ToolpackOptions(TypedDict, total=False):
    """What the caller decides about a toolpack."""

    legacy_keys: Literal["error", "warn"]
    """`warn` reads the snake_case names of older packs, with a warning."""

class _LoadToolpackOptions(_Load, _ToolpackOptions, total=False): ...
class _LoadsToolpackOptions(_Loads, _ToolpackOptions, total=False): ...
class _WatchToolpackOptions(_Watch, _ToolpackOptions, total=False): ...

class _AnyOptions(TypedDict, total=False):
    """The options of all kinds."""

    default_agent_kind: (
        Literal["lua", "rust_fn", "agent_block", "subprocess", "operator"]
        | Literal["lua", "rust_fn", "agent_block", "subprocess", "operator"]
        | None
    )
    """The kind of the agent; a header cannot say it."""
    include_roots: Iterable[_Path]
    """Further folders in which references are looked up, after the blueprint's own."""
    layer: (
        Literal["user", "project"]
        | None
        | Literal["user", "project", "project-local", "command line"]
        | None
    )
    """The layer of the file; by default its path says."""
    library: _Path | None
    """The folder where includes start; by default `library` beside the file or in the project."""
    project_library: str | None
    """That folder as the settings of the project name it; `library` counts more."""
    allow_absolute: bool | None
    """Whether directives may name absolute paths: no; yes; or, for None, as the command decides."""
    allow_handlers: bool
    """Whether responses may come from programs and web services."""
    legacy_keys: Literal["error", "warn"]
    """`warn` reads the snake_case names of older packs, with a warning."""

class _LoadAnyOptions(_Load, _AnyOptions, total=False): ...
class _LoadsAnyOptions(_Loads, _AnyOptions, total=False): ...
class _WatchAnyOptions(_Watch, _AnyOptions, total=False): ...
class _DiscoverAnyOptions(_Discover, _AnyOptions, total=False): ...

@overload
def load(
    path: _Path, *, kind: Literal["agent_md"], **options: Unpack[_LoadAgentOptions]
) -> Loaded[_models.Agent]: ...
@overload
def load(
    path: _Path, *, kind: Literal["agentic-workflow"], **options: Unpack[_Load]
) -> Loaded[_models.AgenticWorkflow]: ...
@overload
def load(
    path: _Path, *, kind: Literal["amp-settings"], **options: Unpack[_Load]
) -> Loaded[_models.AmpSettingsFile]: ...
@overload
def load(
    path: _Path, *, kind: Literal["blueprint"], **options: Unpack[_LoadBlueprintOptions]
) -> Loaded[_models.Blueprint]: ...
@overload
def load(
    path: _Path, *, kind: Literal["claude-agent"], **options: Unpack[_Load]
) -> Loaded[_models.ClaudeCodeAgent]: ...
@overload
def load(
    path: _Path, *, kind: Literal["claude-command"], **options: Unpack[_Load]
) -> Loaded[_models.ClaudeCodeCommand]: ...
@overload
def load(
    path: _Path, *, kind: Literal["claude-hooks"], **options: Unpack[_Load]
) -> Loaded[_models.ClaudeCodeHooksFile]: ...
@overload
def load(
    path: _Path, *, kind: Literal["claude-lsp"], **options: Unpack[_Load]
) -> Loaded[_models.ListOfLanguageServers]: ...
@overload
def load(
    path: _Path, *, kind: Literal["claude-marketplace"], **options: Unpack[_Load]
) -> Loaded[_models.ClaudeCodeMarketplace]: ...
@overload
def load(
    path: _Path, *, kind: Literal["claude-output-style"], **options: Unpack[_Load]
) -> Loaded[_models.ClaudeCodeOutputStyle]: ...
@overload
def load(
    path: _Path, *, kind: Literal["claude-plugin"], **options: Unpack[_Load]
) -> Loaded[_models.ClaudeCodePlugin]: ...
@overload
def load(
    path: _Path, *, kind: Literal["claude-rule"], **options: Unpack[_Load]
) -> Loaded[_models.ClaudeCodeRule]: ...
@overload
def load(
    path: _Path, *, kind: Literal["claude-settings"], **options: Unpack[_Load]
) -> Loaded[_models.ClaudeCodeSettingsFile]: ...
@overload
def load(
    path: _Path, *, kind: Literal["cline-rule"], **options: Unpack[_Load]
) -> Loaded[_models.ClineRule]: ...
@overload
def load(
    path: _Path, *, kind: Literal["codex-agent"], **options: Unpack[_Load]
) -> Loaded[_models.CodexAgent]: ...
@overload
def load(
    path: _Path, *, kind: Literal["codex-config"], **options: Unpack[_Load]
) -> Loaded[_models.CodexConfiguration]: ...
@overload
def load(
    path: _Path, *, kind: Literal["codex-hooks"], **options: Unpack[_Load]
) -> Loaded[_models.ListOfCodexHooks]: ...
@overload
def load(
    path: _Path, *, kind: Literal["codex-plugin"], **options: Unpack[_Load]
) -> Loaded[_models.CodexPlugin]: ...
@overload
def load(
    path: _Path, *, kind: Literal["codex-skill-metadata"], **options: Unpack[_Load]
) -> Loaded[_models.ListOfSkillMetadata]: ...
@overload
def load(
    path: _Path, *, kind: Literal["continue-config"], **options: Unpack[_Load]
) -> Loaded[_models.ContinueConfiguration]: ...
@overload
def load(
    path: _Path, *, kind: Literal["continue-rule"], **options: Unpack[_Load]
) -> Loaded[_models.ContinueRule]: ...
@overload
def load(
    path: _Path, *, kind: Literal["copilot-agent"], **options: Unpack[_Load]
) -> Loaded[_models.CopilotAgent]: ...
@overload
def load(
    path: _Path, *, kind: Literal["copilot-hooks"], **options: Unpack[_Load]
) -> Loaded[_models.ListOfCopilotHooks]: ...
@overload
def load(
    path: _Path, *, kind: Literal["copilot-instructions"], **options: Unpack[_Load]
) -> Loaded[_models.CopilotInstructions]: ...
@overload
def load(
    path: _Path, *, kind: Literal["copilot-prompt"], **options: Unpack[_Load]
) -> Loaded[_models.CopilotPrompt]: ...
@overload
def load(
    path: _Path, *, kind: Literal["copilot-settings"], **options: Unpack[_Load]
) -> Loaded[_models.CopilotSettingsFile]: ...
@overload
def load(
    path: _Path, *, kind: Literal["cursor-agent"], **options: Unpack[_Load]
) -> Loaded[_models.CursorAgent]: ...
@overload
def load(
    path: _Path, *, kind: Literal["cursor-command"], **options: Unpack[_Load]
) -> Loaded[_models.CursorCommand]: ...
@overload
def load(
    path: _Path, *, kind: Literal["cursor-environment"], **options: Unpack[_Load]
) -> Loaded[_models.CursorEnvironment]: ...
@overload
def load(
    path: _Path, *, kind: Literal["cursor-hooks"], **options: Unpack[_Load]
) -> Loaded[_models.ListOfCursorHooks]: ...
@overload
def load(
    path: _Path, *, kind: Literal["cursor-permissions"], **options: Unpack[_Load]
) -> Loaded[_models.ListOfCursorPermissions]: ...
@overload
def load(
    path: _Path, *, kind: Literal["cursor-plugin"], **options: Unpack[_Load]
) -> Loaded[_models.CursorPlugin]: ...
@overload
def load(
    path: _Path, *, kind: Literal["cursor-rule"], **options: Unpack[_Load]
) -> Loaded[_models.CursorRule]: ...
@overload
def load(
    path: _Path, *, kind: Literal["gemini-agent"], **options: Unpack[_Load]
) -> Loaded[_models.GeminiAgent]: ...
@overload
def load(
    path: _Path, *, kind: Literal["gemini-command"], **options: Unpack[_Load]
) -> Loaded[_models.GeminiCommand]: ...
@overload
def load(
    path: _Path, *, kind: Literal["gemini-extension"], **options: Unpack[_Load]
) -> Loaded[_models.GeminiExtension]: ...
@overload
def load(
    path: _Path, *, kind: Literal["gemini-policy"], **options: Unpack[_Load]
) -> Loaded[_models.GeminiPolicy]: ...
@overload
def load(
    path: _Path, *, kind: Literal["gemini-settings"], **options: Unpack[_Load]
) -> Loaded[_models.GeminiSettingsFile]: ...
@overload
def load(
    path: _Path, *, kind: Literal["goose-config"], **options: Unpack[_Load]
) -> Loaded[_models.GooseConfiguration]: ...
@overload
def load(
    path: _Path, *, kind: Literal["goose-recipe"], **options: Unpack[_Load]
) -> Loaded[_models.GooseRecipe]: ...
@overload
def load(
    path: _Path, *, kind: Literal["instructions"], **options: Unpack[_Load]
) -> Loaded[_models.FileOfInstructions]: ...
@overload
def load(
    path: _Path, *, kind: Literal["kiro-agent"], **options: Unpack[_Load]
) -> Loaded[_models.KiroAgent]: ...
@overload
def load(
    path: _Path, *, kind: Literal["kiro-hook"], **options: Unpack[_Load]
) -> Loaded[_models.KiroHook]: ...
@overload
def load(
    path: _Path, *, kind: Literal["kiro-steering"], **options: Unpack[_Load]
) -> Loaded[_models.KiroSteeringFile]: ...
@overload
def load(
    path: _Path, *, kind: Literal["mcp"], **options: Unpack[_Load]
) -> Loaded[_models.McpServers | _models.McpJson]: ...
@overload
def load(
    path: _Path, *, kind: Literal["opencode-agent"], **options: Unpack[_Load]
) -> Loaded[_models.OpenCodeAgent]: ...
@overload
def load(
    path: _Path, *, kind: Literal["opencode-command"], **options: Unpack[_Load]
) -> Loaded[_models.OpenCodeCommand]: ...
@overload
def load(
    path: _Path, *, kind: Literal["opencode-config"], **options: Unpack[_Load]
) -> Loaded[_models.OpenCodeConfiguration]: ...
@overload
def load(
    path: _Path, *, kind: Literal["openhands-microagent"], **options: Unpack[_Load]
) -> Loaded[_models.OpenHandsMicroagent]: ...
@overload
def load(
    path: _Path, *, kind: Literal["profile"], **options: Unpack[_LoadProfileOptions]
) -> Loaded[_models.AgentProfile]: ...
@overload
def load(
    path: _Path, *, kind: Literal["qwen-agent"], **options: Unpack[_Load]
) -> Loaded[_models.QwenAgent]: ...
@overload
def load(
    path: _Path, *, kind: Literal["qwen-settings"], **options: Unpack[_Load]
) -> Loaded[_models.QwenSettingsFile]: ...
@overload
def load(
    path: _Path, *, kind: Literal["roo-command"], **options: Unpack[_Load]
) -> Loaded[_models.RooCommand]: ...
@overload
def load(
    path: _Path, *, kind: Literal["roo-modes"], **options: Unpack[_Load]
) -> Loaded[_models.ListOfRooModes]: ...
@overload
def load(
    path: _Path, *, kind: Literal["server"], **options: Unpack[_LoadServerOptions]
) -> Loaded[_models.ServerConfig]: ...
@overload
def load(
    path: _Path, *, kind: Literal["settings"], **options: Unpack[_LoadSettingsOptions]
) -> Loaded[_models.Settings]: ...
@overload
def load(
    path: _Path, *, kind: Literal["skill"], **options: Unpack[_Load]
) -> Loaded[
    _models.Skill
    | _models.AgentSkillsSkill
    | _models.ClaudeCodeSkill
    | _models.OpenCodeSkill
    | _models.GitHubCopilotSkill
    | _models.CodexSkill
    | _models.GeminiCLISkill
]: ...
@overload
def load(
    path: _Path, *, kind: Literal["toolpack"], **options: Unpack[_LoadToolpackOptions]
) -> Loaded[_models.Toolpack]: ...
@overload
def load(
    path: _Path, *, kind: Literal["windsurf-hooks"], **options: Unpack[_Load]
) -> Loaded[_models.ListOfWindsurfHooks]: ...
@overload
def load(
    path: _Path, *, kind: Literal["windsurf-rule"], **options: Unpack[_Load]
) -> Loaded[_models.WindsurfRule]: ...
@overload
def load(
    path: _Path, *, kind: Literal["windsurf-workflow"], **options: Unpack[_Load]
) -> Loaded[_models.WindsurfWorkflow]: ...
@overload
def load(
    path: _Path, *, kind: Literal["zed-settings"], **options: Unpack[_Load]
) -> Loaded[_models.ZedSettingsFile]: ...
@overload
def load(path: _Path, model: type[_C], **options: Unpack[_LoadAnyOptions]) -> Loaded[_C]: ...
@overload
def load(path: _Path, *, kind: Format[_C], **options: Unpack[_LoadAnyOptions]) -> Loaded[_C]: ...
@overload
def load(
    path: _Path, *, kind: _models.KindName, **options: Unpack[_Load]
) -> Loaded[_models.Config]: ...
@overload
def load(path: _Path, **options: Unpack[_LoadAnyOptions]) -> Loaded[_models.Config]: ...
@overload
def loads(
    text: str, *, kind: Literal["agent_md"], **options: Unpack[_LoadsAgentOptions]
) -> Loaded[_models.Agent]: ...
@overload
def loads(
    text: str, *, kind: Literal["agentic-workflow"], **options: Unpack[_Loads]
) -> Loaded[_models.AgenticWorkflow]: ...
@overload
def loads(
    text: str, *, kind: Literal["amp-settings"], **options: Unpack[_Loads]
) -> Loaded[_models.AmpSettingsFile]: ...
@overload
def loads(
    text: str, *, kind: Literal["blueprint"], **options: Unpack[_LoadsBlueprintOptions]
) -> Loaded[_models.Blueprint]: ...
@overload
def loads(
    text: str, *, kind: Literal["claude-agent"], **options: Unpack[_Loads]
) -> Loaded[_models.ClaudeCodeAgent]: ...
@overload
def loads(
    text: str, *, kind: Literal["claude-command"], **options: Unpack[_Loads]
) -> Loaded[_models.ClaudeCodeCommand]: ...
@overload
def loads(
    text: str, *, kind: Literal["claude-hooks"], **options: Unpack[_Loads]
) -> Loaded[_models.ClaudeCodeHooksFile]: ...
@overload
def loads(
    text: str, *, kind: Literal["claude-lsp"], **options: Unpack[_Loads]
) -> Loaded[_models.ListOfLanguageServers]: ...
@overload
def loads(
    text: str, *, kind: Literal["claude-marketplace"], **options: Unpack[_Loads]
) -> Loaded[_models.ClaudeCodeMarketplace]: ...
@overload
def loads(
    text: str, *, kind: Literal["claude-output-style"], **options: Unpack[_Loads]
) -> Loaded[_models.ClaudeCodeOutputStyle]: ...
@overload
def loads(
    text: str, *, kind: Literal["claude-plugin"], **options: Unpack[_Loads]
) -> Loaded[_models.ClaudeCodePlugin]: ...
@overload
def loads(
    text: str, *, kind: Literal["claude-rule"], **options: Unpack[_Loads]
) -> Loaded[_models.ClaudeCodeRule]: ...
@overload
def loads(
    text: str, *, kind: Literal["claude-settings"], **options: Unpack[_Loads]
) -> Loaded[_models.ClaudeCodeSettingsFile]: ...
@overload
def loads(
    text: str, *, kind: Literal["cline-rule"], **options: Unpack[_Loads]
) -> Loaded[_models.ClineRule]: ...
@overload
def loads(
    text: str, *, kind: Literal["codex-agent"], **options: Unpack[_Loads]
) -> Loaded[_models.CodexAgent]: ...
@overload
def loads(
    text: str, *, kind: Literal["codex-config"], **options: Unpack[_Loads]
) -> Loaded[_models.CodexConfiguration]: ...
@overload
def loads(
    text: str, *, kind: Literal["codex-hooks"], **options: Unpack[_Loads]
) -> Loaded[_models.ListOfCodexHooks]: ...
@overload
def loads(
    text: str, *, kind: Literal["codex-plugin"], **options: Unpack[_Loads]
) -> Loaded[_models.CodexPlugin]: ...
@overload
def loads(
    text: str, *, kind: Literal["codex-skill-metadata"], **options: Unpack[_Loads]
) -> Loaded[_models.ListOfSkillMetadata]: ...
@overload
def loads(
    text: str, *, kind: Literal["continue-config"], **options: Unpack[_Loads]
) -> Loaded[_models.ContinueConfiguration]: ...
@overload
def loads(
    text: str, *, kind: Literal["continue-rule"], **options: Unpack[_Loads]
) -> Loaded[_models.ContinueRule]: ...
@overload
def loads(
    text: str, *, kind: Literal["copilot-agent"], **options: Unpack[_Loads]
) -> Loaded[_models.CopilotAgent]: ...
@overload
def loads(
    text: str, *, kind: Literal["copilot-hooks"], **options: Unpack[_Loads]
) -> Loaded[_models.ListOfCopilotHooks]: ...
@overload
def loads(
    text: str, *, kind: Literal["copilot-instructions"], **options: Unpack[_Loads]
) -> Loaded[_models.CopilotInstructions]: ...
@overload
def loads(
    text: str, *, kind: Literal["copilot-prompt"], **options: Unpack[_Loads]
) -> Loaded[_models.CopilotPrompt]: ...
@overload
def loads(
    text: str, *, kind: Literal["copilot-settings"], **options: Unpack[_Loads]
) -> Loaded[_models.CopilotSettingsFile]: ...
@overload
def loads(
    text: str, *, kind: Literal["cursor-agent"], **options: Unpack[_Loads]
) -> Loaded[_models.CursorAgent]: ...
@overload
def loads(
    text: str, *, kind: Literal["cursor-command"], **options: Unpack[_Loads]
) -> Loaded[_models.CursorCommand]: ...
@overload
def loads(
    text: str, *, kind: Literal["cursor-environment"], **options: Unpack[_Loads]
) -> Loaded[_models.CursorEnvironment]: ...
@overload
def loads(
    text: str, *, kind: Literal["cursor-hooks"], **options: Unpack[_Loads]
) -> Loaded[_models.ListOfCursorHooks]: ...
@overload
def loads(
    text: str, *, kind: Literal["cursor-permissions"], **options: Unpack[_Loads]
) -> Loaded[_models.ListOfCursorPermissions]: ...
@overload
def loads(
    text: str, *, kind: Literal["cursor-plugin"], **options: Unpack[_Loads]
) -> Loaded[_models.CursorPlugin]: ...
@overload
def loads(
    text: str, *, kind: Literal["cursor-rule"], **options: Unpack[_Loads]
) -> Loaded[_models.CursorRule]: ...
@overload
def loads(
    text: str, *, kind: Literal["gemini-agent"], **options: Unpack[_Loads]
) -> Loaded[_models.GeminiAgent]: ...
@overload
def loads(
    text: str, *, kind: Literal["gemini-command"], **options: Unpack[_Loads]
) -> Loaded[_models.GeminiCommand]: ...
@overload
def loads(
    text: str, *, kind: Literal["gemini-extension"], **options: Unpack[_Loads]
) -> Loaded[_models.GeminiExtension]: ...
@overload
def loads(
    text: str, *, kind: Literal["gemini-policy"], **options: Unpack[_Loads]
) -> Loaded[_models.GeminiPolicy]: ...
@overload
def loads(
    text: str, *, kind: Literal["gemini-settings"], **options: Unpack[_Loads]
) -> Loaded[_models.GeminiSettingsFile]: ...
@overload
def loads(
    text: str, *, kind: Literal["goose-config"], **options: Unpack[_Loads]
) -> Loaded[_models.GooseConfiguration]: ...
@overload
def loads(
    text: str, *, kind: Literal["goose-recipe"], **options: Unpack[_Loads]
) -> Loaded[_models.GooseRecipe]: ...
@overload
def loads(
    text: str, *, kind: Literal["instructions"], **options: Unpack[_Loads]
) -> Loaded[_models.FileOfInstructions]: ...
@overload
def loads(
    text: str, *, kind: Literal["kiro-agent"], **options: Unpack[_Loads]
) -> Loaded[_models.KiroAgent]: ...
@overload
def loads(
    text: str, *, kind: Literal["kiro-hook"], **options: Unpack[_Loads]
) -> Loaded[_models.KiroHook]: ...
@overload
def loads(
    text: str, *, kind: Literal["kiro-steering"], **options: Unpack[_Loads]
) -> Loaded[_models.KiroSteeringFile]: ...
@overload
def loads(
    text: str, *, kind: Literal["mcp"], **options: Unpack[_Loads]
) -> Loaded[_models.McpServers | _models.McpJson]: ...
@overload
def loads(
    text: str, *, kind: Literal["opencode-agent"], **options: Unpack[_Loads]
) -> Loaded[_models.OpenCodeAgent]: ...
@overload
def loads(
    text: str, *, kind: Literal["opencode-command"], **options: Unpack[_Loads]
) -> Loaded[_models.OpenCodeCommand]: ...
@overload
def loads(
    text: str, *, kind: Literal["opencode-config"], **options: Unpack[_Loads]
) -> Loaded[_models.OpenCodeConfiguration]: ...
@overload
def loads(
    text: str, *, kind: Literal["openhands-microagent"], **options: Unpack[_Loads]
) -> Loaded[_models.OpenHandsMicroagent]: ...
@overload
def loads(
    text: str, *, kind: Literal["profile"], **options: Unpack[_LoadsProfileOptions]
) -> Loaded[_models.AgentProfile]: ...
@overload
def loads(
    text: str, *, kind: Literal["qwen-agent"], **options: Unpack[_Loads]
) -> Loaded[_models.QwenAgent]: ...
@overload
def loads(
    text: str, *, kind: Literal["qwen-settings"], **options: Unpack[_Loads]
) -> Loaded[_models.QwenSettingsFile]: ...
@overload
def loads(
    text: str, *, kind: Literal["roo-command"], **options: Unpack[_Loads]
) -> Loaded[_models.RooCommand]: ...
@overload
def loads(
    text: str, *, kind: Literal["roo-modes"], **options: Unpack[_Loads]
) -> Loaded[_models.ListOfRooModes]: ...
@overload
def loads(
    text: str, *, kind: Literal["server"], **options: Unpack[_LoadsServerOptions]
) -> Loaded[_models.ServerConfig]: ...
@overload
def loads(
    text: str, *, kind: Literal["settings"], **options: Unpack[_LoadsSettingsOptions]
) -> Loaded[_models.Settings]: ...
@overload
def loads(
    text: str, *, kind: Literal["skill"], **options: Unpack[_Loads]
) -> Loaded[
    _models.Skill
    | _models.AgentSkillsSkill
    | _models.ClaudeCodeSkill
    | _models.OpenCodeSkill
    | _models.GitHubCopilotSkill
    | _models.CodexSkill
    | _models.GeminiCLISkill
]: ...
@overload
def loads(
    text: str, *, kind: Literal["toolpack"], **options: Unpack[_LoadsToolpackOptions]
) -> Loaded[_models.Toolpack]: ...
@overload
def loads(
    text: str, *, kind: Literal["windsurf-hooks"], **options: Unpack[_Loads]
) -> Loaded[_models.ListOfWindsurfHooks]: ...
@overload
def loads(
    text: str, *, kind: Literal["windsurf-rule"], **options: Unpack[_Loads]
) -> Loaded[_models.WindsurfRule]: ...
@overload
def loads(
    text: str, *, kind: Literal["windsurf-workflow"], **options: Unpack[_Loads]
) -> Loaded[_models.WindsurfWorkflow]: ...
@overload
def loads(
    text: str, *, kind: Literal["zed-settings"], **options: Unpack[_Loads]
) -> Loaded[_models.ZedSettingsFile]: ...
@overload
def loads(text: str, model: type[_C], **options: Unpack[_LoadsAnyOptions]) -> Loaded[_C]: ...
@overload
def loads(text: str, *, kind: Format[_C], **options: Unpack[_LoadsAnyOptions]) -> Loaded[_C]: ...
@overload
def loads(
    text: str, *, kind: _models.KindName, **options: Unpack[_Loads]
) -> Loaded[_models.Config]: ...
@overload
def watch(
    path: _Path, *, kind: Literal["agent_md"], **options: Unpack[_WatchAgentOptions]
) -> Watch[_models.Agent]: ...
@overload
def watch(
    path: _Path, *, kind: Literal["agentic-workflow"], **options: Unpack[_Watch]
) -> Watch[_models.AgenticWorkflow]: ...
@overload
def watch(
    path: _Path, *, kind: Literal["amp-settings"], **options: Unpack[_Watch]
) -> Watch[_models.AmpSettingsFile]: ...
@overload
def watch(
    path: _Path, *, kind: Literal["blueprint"], **options: Unpack[_WatchBlueprintOptions]
) -> Watch[_models.Blueprint]: ...
@overload
def watch(
    path: _Path, *, kind: Literal["claude-agent"], **options: Unpack[_Watch]
) -> Watch[_models.ClaudeCodeAgent]: ...
@overload
def watch(
    path: _Path, *, kind: Literal["claude-command"], **options: Unpack[_Watch]
) -> Watch[_models.ClaudeCodeCommand]: ...
@overload
def watch(
    path: _Path, *, kind: Literal["claude-hooks"], **options: Unpack[_Watch]
) -> Watch[_models.ClaudeCodeHooksFile]: ...
@overload
def watch(
    path: _Path, *, kind: Literal["claude-lsp"], **options: Unpack[_Watch]
) -> Watch[_models.ListOfLanguageServers]: ...
@overload
def watch(
    path: _Path, *, kind: Literal["claude-marketplace"], **options: Unpack[_Watch]
) -> Watch[_models.ClaudeCodeMarketplace]: ...
@overload
def watch(
    path: _Path, *, kind: Literal["claude-output-style"], **options: Unpack[_Watch]
) -> Watch[_models.ClaudeCodeOutputStyle]: ...
@overload
def watch(
    path: _Path, *, kind: Literal["claude-plugin"], **options: Unpack[_Watch]
) -> Watch[_models.ClaudeCodePlugin]: ...
@overload
def watch(
    path: _Path, *, kind: Literal["claude-rule"], **options: Unpack[_Watch]
) -> Watch[_models.ClaudeCodeRule]: ...
@overload
def watch(
    path: _Path, *, kind: Literal["claude-settings"], **options: Unpack[_Watch]
) -> Watch[_models.ClaudeCodeSettingsFile]: ...
@overload
def watch(
    path: _Path, *, kind: Literal["cline-rule"], **options: Unpack[_Watch]
) -> Watch[_models.ClineRule]: ...
@overload
def watch(
    path: _Path, *, kind: Literal["codex-agent"], **options: Unpack[_Watch]
) -> Watch[_models.CodexAgent]: ...
@overload
def watch(
    path: _Path, *, kind: Literal["codex-config"], **options: Unpack[_Watch]
) -> Watch[_models.CodexConfiguration]: ...
@overload
def watch(
    path: _Path, *, kind: Literal["codex-hooks"], **options: Unpack[_Watch]
) -> Watch[_models.ListOfCodexHooks]: ...
@overload
def watch(
    path: _Path, *, kind: Literal["codex-plugin"], **options: Unpack[_Watch]
) -> Watch[_models.CodexPlugin]: ...
@overload
def watch(
    path: _Path, *, kind: Literal["codex-skill-metadata"], **options: Unpack[_Watch]
) -> Watch[_models.ListOfSkillMetadata]: ...
@overload
def watch(
    path: _Path, *, kind: Literal["continue-config"], **options: Unpack[_Watch]
) -> Watch[_models.ContinueConfiguration]: ...
@overload
def watch(
    path: _Path, *, kind: Literal["continue-rule"], **options: Unpack[_Watch]
) -> Watch[_models.ContinueRule]: ...
@overload
def watch(
    path: _Path, *, kind: Literal["copilot-agent"], **options: Unpack[_Watch]
) -> Watch[_models.CopilotAgent]: ...
@overload
def watch(
    path: _Path, *, kind: Literal["copilot-hooks"], **options: Unpack[_Watch]
) -> Watch[_models.ListOfCopilotHooks]: ...
@overload
def watch(
    path: _Path, *, kind: Literal["copilot-instructions"], **options: Unpack[_Watch]
) -> Watch[_models.CopilotInstructions]: ...
@overload
def watch(
    path: _Path, *, kind: Literal["copilot-prompt"], **options: Unpack[_Watch]
) -> Watch[_models.CopilotPrompt]: ...
@overload
def watch(
    path: _Path, *, kind: Literal["copilot-settings"], **options: Unpack[_Watch]
) -> Watch[_models.CopilotSettingsFile]: ...
@overload
def watch(
    path: _Path, *, kind: Literal["cursor-agent"], **options: Unpack[_Watch]
) -> Watch[_models.CursorAgent]: ...
@overload
def watch(
    path: _Path, *, kind: Literal["cursor-command"], **options: Unpack[_Watch]
) -> Watch[_models.CursorCommand]: ...
@overload
def watch(
    path: _Path, *, kind: Literal["cursor-environment"], **options: Unpack[_Watch]
) -> Watch[_models.CursorEnvironment]: ...
@overload
def watch(
    path: _Path, *, kind: Literal["cursor-hooks"], **options: Unpack[_Watch]
) -> Watch[_models.ListOfCursorHooks]: ...
@overload
def watch(
    path: _Path, *, kind: Literal["cursor-permissions"], **options: Unpack[_Watch]
) -> Watch[_models.ListOfCursorPermissions]: ...
@overload
def watch(
    path: _Path, *, kind: Literal["cursor-plugin"], **options: Unpack[_Watch]
) -> Watch[_models.CursorPlugin]: ...
@overload
def watch(
    path: _Path, *, kind: Literal["cursor-rule"], **options: Unpack[_Watch]
) -> Watch[_models.CursorRule]: ...
@overload
def watch(
    path: _Path, *, kind: Literal["gemini-agent"], **options: Unpack[_Watch]
) -> Watch[_models.GeminiAgent]: ...
@overload
def watch(
    path: _Path, *, kind: Literal["gemini-command"], **options: Unpack[_Watch]
) -> Watch[_models.GeminiCommand]: ...
@overload
def watch(
    path: _Path, *, kind: Literal["gemini-extension"], **options: Unpack[_Watch]
) -> Watch[_models.GeminiExtension]: ...
@overload
def watch(
    path: _Path, *, kind: Literal["gemini-policy"], **options: Unpack[_Watch]
) -> Watch[_models.GeminiPolicy]: ...
@overload
def watch(
    path: _Path, *, kind: Literal["gemini-settings"], **options: Unpack[_Watch]
) -> Watch[_models.GeminiSettingsFile]: ...
@overload
def watch(
    path: _Path, *, kind: Literal["goose-config"], **options: Unpack[_Watch]
) -> Watch[_models.GooseConfiguration]: ...
@overload
def watch(
    path: _Path, *, kind: Literal["goose-recipe"], **options: Unpack[_Watch]
) -> Watch[_models.GooseRecipe]: ...
@overload
def watch(
    path: _Path, *, kind: Literal["instructions"], **options: Unpack[_Watch]
) -> Watch[_models.FileOfInstructions]: ...
@overload
def watch(
    path: _Path, *, kind: Literal["kiro-agent"], **options: Unpack[_Watch]
) -> Watch[_models.KiroAgent]: ...
@overload
def watch(
    path: _Path, *, kind: Literal["kiro-hook"], **options: Unpack[_Watch]
) -> Watch[_models.KiroHook]: ...
@overload
def watch(
    path: _Path, *, kind: Literal["kiro-steering"], **options: Unpack[_Watch]
) -> Watch[_models.KiroSteeringFile]: ...
@overload
def watch(
    path: _Path, *, kind: Literal["mcp"], **options: Unpack[_Watch]
) -> Watch[_models.McpServers | _models.McpJson]: ...
@overload
def watch(
    path: _Path, *, kind: Literal["opencode-agent"], **options: Unpack[_Watch]
) -> Watch[_models.OpenCodeAgent]: ...
@overload
def watch(
    path: _Path, *, kind: Literal["opencode-command"], **options: Unpack[_Watch]
) -> Watch[_models.OpenCodeCommand]: ...
@overload
def watch(
    path: _Path, *, kind: Literal["opencode-config"], **options: Unpack[_Watch]
) -> Watch[_models.OpenCodeConfiguration]: ...
@overload
def watch(
    path: _Path, *, kind: Literal["openhands-microagent"], **options: Unpack[_Watch]
) -> Watch[_models.OpenHandsMicroagent]: ...
@overload
def watch(
    path: _Path, *, kind: Literal["profile"], **options: Unpack[_WatchProfileOptions]
) -> Watch[_models.AgentProfile]: ...
@overload
def watch(
    path: _Path, *, kind: Literal["qwen-agent"], **options: Unpack[_Watch]
) -> Watch[_models.QwenAgent]: ...
@overload
def watch(
    path: _Path, *, kind: Literal["qwen-settings"], **options: Unpack[_Watch]
) -> Watch[_models.QwenSettingsFile]: ...
@overload
def watch(
    path: _Path, *, kind: Literal["roo-command"], **options: Unpack[_Watch]
) -> Watch[_models.RooCommand]: ...
@overload
def watch(
    path: _Path, *, kind: Literal["roo-modes"], **options: Unpack[_Watch]
) -> Watch[_models.ListOfRooModes]: ...
@overload
def watch(
    path: _Path, *, kind: Literal["server"], **options: Unpack[_WatchServerOptions]
) -> Watch[_models.ServerConfig]: ...
@overload
def watch(
    path: _Path, *, kind: Literal["settings"], **options: Unpack[_WatchSettingsOptions]
) -> Watch[_models.Settings]: ...
@overload
def watch(
    path: _Path, *, kind: Literal["skill"], **options: Unpack[_Watch]
) -> Watch[
    _models.Skill
    | _models.AgentSkillsSkill
    | _models.ClaudeCodeSkill
    | _models.OpenCodeSkill
    | _models.GitHubCopilotSkill
    | _models.CodexSkill
    | _models.GeminiCLISkill
]: ...
@overload
def watch(
    path: _Path, *, kind: Literal["toolpack"], **options: Unpack[_WatchToolpackOptions]
) -> Watch[_models.Toolpack]: ...
@overload
def watch(
    path: _Path, *, kind: Literal["windsurf-hooks"], **options: Unpack[_Watch]
) -> Watch[_models.ListOfWindsurfHooks]: ...
@overload
def watch(
    path: _Path, *, kind: Literal["windsurf-rule"], **options: Unpack[_Watch]
) -> Watch[_models.WindsurfRule]: ...
@overload
def watch(
    path: _Path, *, kind: Literal["windsurf-workflow"], **options: Unpack[_Watch]
) -> Watch[_models.WindsurfWorkflow]: ...
@overload
def watch(
    path: _Path, *, kind: Literal["zed-settings"], **options: Unpack[_Watch]
) -> Watch[_models.ZedSettingsFile]: ...
@overload
def watch(path: _Path, model: type[_C], **options: Unpack[_WatchAnyOptions]) -> Watch[_C]: ...
@overload
def watch(path: _Path, *, kind: Format[_C], **options: Unpack[_WatchAnyOptions]) -> Watch[_C]: ...
@overload
def watch(
    path: _Path, *, kind: _models.KindName, **options: Unpack[_Watch]
) -> Watch[_models.Config]: ...
@overload
def watch(path: _Path, **options: Unpack[_WatchAnyOptions]) -> Watch[_models.Config]: ...
def check(
    paths: _Path | Iterable[_Path] = ".",
    *,
    kind: _models.KindName | Format[Any] | None = None,
    env: Mapping[str, str] | None = None,
    embedded: bool = False,
    jobs: int = 1,
    limits: Limits | None = None,
    **options: Unpack[_AnyOptions],
) -> Report: ...
def check_files(
    files: Mapping[str, bytes | str],
    *,
    kind: _models.KindName | Format[Any] | None = None,
    env: Mapping[str, str] | None = None,
    limits: Limits | None = None,
    **options: Unpack[_AnyOptions],
) -> Report: ...
@overload
def discover(
    folder: _Path = ".", *, kind: Format[_C], **options: Unpack[_DiscoverAnyOptions]
) -> dict[str, Loaded[_C]]: ...
@overload
def discover(
    folder: _Path = ".", *, kind: _models.KindName, **options: Unpack[_DiscoverAnyOptions]
) -> dict[str, Loaded[_models.Config]]: ...
def schema(kind: _models.KindName | type[Any] | Format[Any]) -> dict[str, Any]: ...
def example(kind: _models.KindName | type[Any] | Format[Any]) -> str: ...
