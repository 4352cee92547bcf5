"""MCP servers: how each tool writes them down, in one table each.

`servers` reads files by these tables. `strict` reads the `.mcp.json` of a `.defect` project.
"""

from __future__ import annotations

import re
from typing import Any, Literal

import msgspec

from equipage.kinds.tables import Field, Names, Table
from equipage.loading.globs import path_pattern
from equipage.syntax.document import Format


class Dialect(msgspec.Struct, frozen=True):
    """How a tool writes down its servers: where in a file, and what each may say."""

    tool: str
    paths: tuple[str, ...]  #: the files it is in, as globs over the end of a path
    top: str  #: the key that holds the servers
    #: whether the servers may also be at the root, without `top`
    wrapper: Literal["needed", "optional"] = "needed"
    shared: bool = False  #: whether the file also holds other settings, which equipage ignores
    comments: bool = False  #: whether comments and trailing commas are allowed
    format: Format = "json"
    fields: tuple[Field, ...] = ()
    types: dict[str, str] = {}  #: the `type` that authors write → the transport
    #: the transport of a server without a `type`, by a key that it has
    inferred: tuple[tuple[str, str], ...] = (("command", "stdio"), ("url", "http"))
    needs_type: bool = False
    renamed: dict[str, str] = {}  #: the tool's key → ours


_TYPES = {
    "stdio": "stdio",
    "http": "http",
    "sse": "sse",
    "streamable-http": "http",
    "streamableHttp": "http",
    "streamable_http": "http",
}
_STDIO = (
    Field("command", "the program to start"),
    Field("args", "the arguments of the program", Names),
    Field("env", "environment variables to add for the program", Table),
    Field("cwd", "the folder to start the program in"),
)
_REMOTE = (
    Field("url", "the address of a server that is not a program"),
    Field("headers", "headers of each request", Table),
)
#: Keys that many tools share beside those; each means something only to some.
_COMMON = (
    Field("type", "how to talk to the server"),
    Field("timeout", "how long a call may take", int | float),
    Field("disabled", "whether the tool leaves the server out", bool),
    Field("enabled", "whether the tool uses the server", bool),
    Field("description", "what the server is for"),
    Field("name", "the name that people see"),
)
#: What a server has in most tools.
_SERVER = (*_STDIO, *_REMOTE, *_COMMON)
_ENV_FILE = Field("envFile", "a file with environment variables for the program")
_OAUTH = Field("oauth", "how to sign in with OAuth", Any)
#: Two names that tools have for the same.
_APPROVED = (
    Field("alwaysAllow", "tools of the server that run without asking the user", Names),
    Field("autoApprove", "tools of the server that run without asking the user", Names),
)
_ONLY_TOOLS = Field("tools", "the only tools of the server to offer", Names, restricts=True)

CLAUDE = Dialect(
    tool="Claude Code",
    paths=(".mcp.json", "claude_desktop_config.json"),
    top="mcpServers",
    wrapper="optional",
    types={**_TYPES, "local": "stdio", "ws": "ws", "websocket": "ws"},
    fields=(
        *_SERVER,
        Field("headersHelper", "a program that prints headers for each request"),
        _OAUTH,
        *_APPROVED,
        _ONLY_TOOLS,
        _ENV_FILE,
        Field("alwaysLoad", "whether all its tools are loaded from the start", bool),
    ),
)

COPILOT = Dialect(
    tool="GitHub Copilot",
    paths=("mcp-config.json", "{.copilot,.github}/mcp.json"),
    top="mcpServers",
    types={**_TYPES, "local": "stdio"},
    fields=(
        *_SERVER,
        _ONLY_TOOLS,
        Field("filterMapping", "how to filter the output of its tools", Any),
    ),
)

VSCODE = Dialect(
    tool="VS Code",
    paths=(".vscode/mcp.json",),
    top="servers",
    shared=True,
    comments=True,
    types=_TYPES,
    fields=(
        *_SERVER,
        _ENV_FILE,
        Field("dev", "what to watch and how to debug while the server is developed", Table),
        Field("gallery", "the registry that the server came from", Any),
        Field("version", "the version that was installed from the registry"),
        Field("sandboxEnabled", "whether the program runs in a sandbox", bool, restricts=True),
        Field("sandbox", "files and hosts that the sandbox lets through", Table, restricts=True),
    ),
)

CURSOR = Dialect(
    tool="Cursor",
    paths=("{.cursor,.roo,.kiro/settings}/mcp.json",),
    top="mcpServers",
    types=_TYPES,
    fields=(
        *_SERVER,
        _ENV_FILE,
        Field("auth", "the client to sign in with", Any),
        *_APPROVED,
        Field("disabledTools", "tools of the server to leave out", Names, restricts=True),
        Field("watchPaths", "files whose change restarts the server", Names),
    ),
)

GEMINI = Dialect(
    tool="Gemini CLI",
    paths=(".gemini/settings.json", "gemini-extension.json"),
    top="mcpServers",
    shared=True,
    comments=True,
    types=_TYPES,
    inferred=(("command", "stdio"), ("httpUrl", "http"), ("url", "sse"), ("tcp", "ws")),
    renamed={"httpUrl": "url", "tcp": "url"},
    fields=(
        *_SERVER,
        Field("httpUrl", "the address of a server that speaks HTTP"),
        Field("tcp", "the address of a server that speaks WebSocket"),
        Field("trust", "whether its tools run without asking the user", bool, restricts=True),
        Field("includeTools", "the only tools of the server to offer", Names, restricts=True),
        Field("excludeTools", "tools of the server to leave out", Names, restricts=True),
        Field("extension", "the extension that brought the server", Any),
        _OAUTH,
        Field("authProviderType", "which credentials to sign in with"),
        Field("targetAudience", "the audience of the Google credentials"),
        Field("targetServiceAccount", "the Google service account to act as"),
    ),
)

CODEX = Dialect(
    tool="Codex",
    paths=(".codex/config.toml",),
    top="mcp_servers",
    shared=True,
    format="toml",
    renamed={"http_headers": "headers"},
    fields=(
        *_STDIO,
        _REMOTE[0],
        Field("http_headers", "headers of each request", Table),
        Field("env_http_headers", "headers whose values are in environment variables", Table),
        Field("env_vars", "environment variables to pass on to the program", tuple[Any, ...]),
        Field("bearer_token_env_var", "the environment variable that holds the token"),
        Field("enabled", "whether the tool uses the server", bool),
        Field("required", "whether Codex must not start without the server", bool),
        Field("startup_timeout_sec", "how long the start may take, in seconds", int | float),
        Field("startup_timeout_ms", "how long the start may take, in milliseconds", int | float),
        Field("tool_timeout_sec", "how long a call may take, in seconds", int | float),
        Field("enabled_tools", "the only tools of the server to offer", Names, restricts=True),
        Field("disabled_tools", "tools of the server to leave out", Names, restricts=True),
        Field("default_tools_approval_mode", "when its tools must ask the user", restricts=True),
        Field("tools", "settings of single tools, by name", Table),
        Field("scopes", "the OAuth scopes to ask for", Names),
        Field("oauth_resource", "the OAuth resource to ask for"),
        _OAUTH,
        Field("supports_parallel_tool_calls", "whether its tools may run at the same time", bool),
        Field("experimental_environment", "where the program runs", Any),
        Field("name", "the name that people see"),
        Field("type", "how to talk to the server"),
        Field("description", "what the server is for"),
    ),
    types=_TYPES,
)

OPENCODE = Dialect(
    tool="OpenCode",
    paths=("opencode.{json,jsonc}",),
    top="mcp",
    shared=True,
    comments=True,
    needs_type=True,
    types={"local": "stdio", "remote": "http"},
    renamed={"environment": "env"},
    fields=(
        Field("type", "`local` for a program, `remote` for an address"),
        Field("command", "the program to start and its arguments", str | Names),
        Field(
            "environment", "environment variables to add for the program", Table, instead=("env",)
        ),
        _STDIO[3],
        *_REMOTE,
        _OAUTH,
        Field("enabled", "whether the tool uses the server", bool),
        Field("timeout", "how long a call may take", int | float),
    ),
)

#: The first whose paths match counts.
DIALECTS: tuple[Dialect, ...] = (VSCODE, CURSOR, COPILOT, GEMINI, CODEX, OPENCODE, CLAUDE)


def dialect_of(path: str) -> Dialect:
    """The dialect of a file by its path, by default that of `.mcp.json`."""
    return next((each for each in DIALECTS if re.search(path_pattern(each.paths), path)), CLAUDE)


#: Every file that lists MCP servers.
PATHS: tuple[str, ...] = tuple(path for each in DIALECTS for path in each.paths)
