"""How each tool writes down MCP servers: one table each."""

from __future__ import annotations

import re
from typing import Any, Literal

import msgspec

from equipage.kinds.conventions.table import Field, Names, Table
from equipage.syntax.document import Format

#: What a server without a `type` is if it has this key.
Inferred = tuple[tuple[str, str], ...]


class Dialect(msgspec.Struct, frozen=True):
    """Where the servers stand in a file, and what each may say."""

    tool: str
    place: str  #: a pattern over an absolute path with `/`
    top: str  #: the key they stand under
    #: whether they may also stand at the root, without `top`
    wrapper: Literal["needed", "optional"] = "needed"
    #: whether the file holds other settings, which are none of our business
    shared: bool = False
    comments: bool = False  #: whether comments and trailing commas are allowed
    format: Format = "json"
    fields: tuple[Field, ...] = ()
    #: `type` as written → transport
    types: dict[str, str] = {}
    inferred: Inferred = (("command", "stdio"), ("url", "http"))
    needs_type: bool = False
    #: the dialect's key → ours
    renamed: dict[str, str] = {}

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(field.name for field in self.fields)


_TYPES = {
    "stdio": "stdio",
    "http": "http",
    "sse": "sse",
    "streamable-http": "http",
    "streamableHttp": "http",
    "streamable_http": "http",
}
_STDIO = (Field("command"), Field("args", Names), Field("env", Table), Field("cwd"))
_REMOTE = (Field("url"), Field("headers", Table))
#: Keys that many tools share beside those; each only means something to some.
_COMMON = (
    Field("type"),
    Field("timeout", int | float),
    Field("disabled", bool),
    Field("enabled", bool),
    Field("description"),
    Field("name"),
)

CLAUDE = Dialect(
    tool="Claude Code",
    place=r"/\.mcp\.json|/claude_desktop_config\.json",
    top="mcpServers",
    wrapper="optional",
    types={**_TYPES, "local": "stdio", "ws": "ws", "websocket": "ws"},
    fields=(
        *_STDIO,
        *_REMOTE,
        *_COMMON,
        Field("headersHelper"),
        Field("oauth", Any),
        Field("alwaysAllow", Names),
        Field("autoApprove", Names),
        Field("tools", Names, restricts=True),
        Field("envFile"),
        Field("alwaysLoad", bool),
    ),
)

COPILOT = Dialect(
    tool="GitHub Copilot",
    place=r"/mcp-config\.json|/(?:\.copilot|\.github)/mcp\.json",
    top="mcpServers",
    types={**_TYPES, "local": "stdio"},
    fields=(
        *_STDIO,
        *_REMOTE,
        *_COMMON,
        Field("tools", Names, restricts=True),
        Field("filterMapping", Any),
    ),
)

VSCODE = Dialect(
    tool="VS Code",
    place=r"/\.vscode/mcp\.json",
    top="servers",
    shared=True,
    comments=True,
    types=_TYPES,
    fields=(
        *_STDIO,
        *_REMOTE,
        *_COMMON,
        Field("envFile"),
        Field("dev", Table),
        Field("gallery", Any),
        Field("version"),
        Field("sandboxEnabled", bool, restricts=True),
        Field("sandbox", Table, restricts=True),
    ),
)

CURSOR = Dialect(
    tool="Cursor",
    place=r"/(?:\.cursor|\.roo|\.kiro/settings)/mcp\.json",
    top="mcpServers",
    types=_TYPES,
    fields=(
        *_STDIO,
        *_REMOTE,
        *_COMMON,
        Field("envFile"),
        Field("auth", Any),
        Field("alwaysAllow", Names),
        Field("autoApprove", Names),
        Field("disabledTools", Names, restricts=True),
        Field("watchPaths", Names),
    ),
)

GEMINI = Dialect(
    tool="Gemini CLI",
    place=r"/\.gemini/settings\.json|/gemini-extension\.json",
    top="mcpServers",
    shared=True,
    comments=True,
    types=_TYPES,
    inferred=(("command", "stdio"), ("httpUrl", "http"), ("url", "sse"), ("tcp", "ws")),
    renamed={"httpUrl": "url", "tcp": "url"},
    fields=(
        *_STDIO,
        *_REMOTE,
        *_COMMON,
        Field("httpUrl"),
        Field("tcp"),
        Field("trust", bool, restricts=True),
        Field("includeTools", Names, restricts=True),
        Field("excludeTools", Names, restricts=True),
        Field("extension", Any),
        Field("oauth", Any),
        Field("authProviderType"),
        Field("targetAudience"),
        Field("targetServiceAccount"),
    ),
)

CODEX = Dialect(
    tool="Codex",
    place=r"/\.codex/config\.toml",
    top="mcp_servers",
    shared=True,
    format="toml",
    renamed={"http_headers": "headers"},
    fields=(
        *_STDIO,
        Field("url"),
        Field("http_headers", Table),
        Field("env_http_headers", Table),
        Field("env_vars", tuple[Any, ...]),
        Field("bearer_token_env_var"),
        Field("enabled", bool),
        Field("required", bool),
        Field("startup_timeout_sec", int | float),
        Field("startup_timeout_ms", int | float),
        Field("tool_timeout_sec", int | float),
        Field("enabled_tools", Names, restricts=True),
        Field("disabled_tools", Names, restricts=True),
        Field("default_tools_approval_mode", restricts=True),
        Field("tools", Table),
        Field("scopes", Names),
        Field("oauth_resource"),
        Field("oauth", Any),
        Field("supports_parallel_tool_calls", bool),
        Field("experimental_environment", Any),
        Field("name"),
        Field("type"),
        Field("description"),
    ),
    types=_TYPES,
)

OPENCODE = Dialect(
    tool="OpenCode",
    place=r"/opencode\.jsonc?",
    top="mcp",
    shared=True,
    comments=True,
    needs_type=True,
    types={"local": "stdio", "remote": "http"},
    renamed={"environment": "env"},
    fields=(
        Field("type"),
        Field("command", str | Names),
        Field("environment", Table, instead=("env",)),
        Field("cwd"),
        Field("url"),
        Field("headers", Table),
        Field("oauth", Any),
        Field("enabled", bool),
        Field("timeout", int | float),
    ),
)

#: The first whose place fits counts; the last one fits every `.json`.
DIALECTS: tuple[Dialect, ...] = (VSCODE, CURSOR, COPILOT, GEMINI, CODEX, OPENCODE, CLAUDE)


def dialect_of(path: str) -> Dialect:
    """The dialect of a file by its place; that of `.mcp.json` for any other."""
    return next((each for each in DIALECTS if re.search(f"(?:{each.place})\\Z", path)), CLAUDE)
