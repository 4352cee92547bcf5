"""MCP servers: how each tool writes them down, in one table each.

`servers` reads files by these tables, `formats.defect.mcp` the `.mcp.json` of a `.defect` project.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Literal

import msgspec

from equipage.clients.catalogue import Field, Names, Table
from equipage.files.walking import PlaceIndex
from equipage.syntax.document import Syntax

#: What most tools call the ways to talk to a server.
_TYPES = {
    "stdio": "stdio",
    "http": "http",
    "sse": "sse",
    "streamable-http": "http",
    "streamableHttp": "http",
    "streamable_http": "http",
}


class Dialect(msgspec.Struct, frozen=True):
    """How a tool writes down its servers: where in a file, and what each may say."""

    tool: str
    paths: tuple[str, ...]  #: the files it is in, as globs over the end of a path
    top: str = "mcpServers"  #: the key that holds the servers
    #: whether the file holds other settings, too, and has a kind of its own; `mcp` then reads the
    #: servers alone, for those who ask for it
    is_part: bool = False
    unwrapped: bool = False  #: whether the servers may also be at the root, without `top`
    comments: bool = False  #: whether comments and trailing commas are allowed
    format: Syntax = "json"
    fields: tuple[Field, ...] = ()
    #: the `type` that authors write → the transport
    types: dict[str, str] = msgspec.field(default_factory=lambda: _TYPES)
    #: the transport of a server without a `type`, by a key that it has
    inferred: tuple[tuple[str, str], ...] = (("command", "stdio"), ("url", "http"))
    #: which servers need a `type`
    needs_type: Literal["none", "remote", "all"] = "none"
    renamed: dict[str, str] = {}  #: the tool's key → ours
    #: whether the tool was run: then what it drops or refuses is an error, not a warning
    measured: bool = False
    #: the keys whose value the tool refuses if it does not fit, and the server with it
    refuses: Literal["none", "main", "all"] = "none"


_STDIO = (
    Field("command", "the program to start"),
    Field("args", "the arguments of the program", Names),
    Field("env", "environment variables to add for the program", Table),
)
_CWD = Field("cwd", "the folder to start the program in")
_URL = Field("url", "the address of a server that is not a program")
_REMOTE = (_URL, Field("headers", "headers of each request", Table))
_TYPE = Field("type", "how to talk to the server")
_TIMEOUT = Field("timeout", "how long a call may take", int | float)
_DISABLED = Field("disabled", "whether the tool leaves the server out", bool, restricts=True)
_ENABLED = Field("enabled", "whether the tool uses the server", bool, restricts=True)
_DESCRIPTION = Field("description", "what the server is for")
#: What a server has in most tools.
_SERVER = (*_STDIO, _CWD, *_REMOTE, _TYPE, _TIMEOUT, _DESCRIPTION)
_ENV_FILE = Field("envFile", "a file with environment variables for the program")
_OAUTH = Field("oauth", "how to sign in with OAuth", Any)
#: Two names that tools have for the same.
_APPROVED_TOOLS = (
    Field("alwaysAllow", "tools of the server that run without asking the user", Names),
    Field("autoApprove", "tools of the server that run without asking the user", Names),
)
_ONLY_TOOLS = Field("tools", "the only tools of the server to offer", Names, restricts=True)
_DISABLED_TOOLS = Field("disabledTools", "tools of the server to leave out", Names, restricts=True)

CLAUDE = Dialect(
    tool="Claude Code",
    paths=(".mcp.json",),
    measured=True,
    refuses="main",
    needs_type="remote",
    types={"stdio": "stdio", "http": "http", "streamable-http": "http", "sse": "sse", "ws": "ws"},
    fields=(
        *_STDIO,
        *_REMOTE,
        _TYPE,
        _TIMEOUT,
        Field("headersHelper", "a program that prints headers for each request"),
        _OAUTH,
        Field("alwaysLoad", "whether all its tools are loaded from the start", bool),
    ),
)

#: A plugin may leave the wrapper out.
CLAUDE_PLUGIN = msgspec.structs.replace(CLAUDE, unwrapped=True)

CLAUDE_DESKTOP = Dialect(
    tool="Claude Desktop", paths=("claude_desktop_config.json",), fields=(*_SERVER, _DISABLED)
)

COPILOT = Dialect(
    tool="GitHub Copilot",
    paths=("mcp-config.json", "{.copilot,.github}/mcp.json"),
    types={**_TYPES, "local": "stdio"},
    fields=(
        *_SERVER,
        _ONLY_TOOLS,
        _OAUTH,
        Field("filterMapping", "how to filter the output of its tools", Any),
    ),
)

VSCODE = Dialect(
    tool="VS Code",
    paths=(".vscode/mcp.json",),
    top="servers",
    comments=True,
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
    paths=(".cursor/mcp.json",),
    fields=(*_SERVER, _ENV_FILE, Field("auth", "the client to sign in with", Any), _DISABLED),
)

ROO = Dialect(
    tool="Roo Code",
    paths=(".roo/mcp.json",),
    fields=(
        *_SERVER,
        _DISABLED,
        *_APPROVED_TOOLS,
        _DISABLED_TOOLS,
        Field("watchPaths", "files whose change restarts the server", Names),
    ),
)

CLINE = Dialect(
    tool="Cline", paths=("cline_mcp_settings.json",), fields=(*_SERVER, _DISABLED, *_APPROVED_TOOLS)
)

KIRO = Dialect(
    tool="Kiro",
    paths=(".kiro/settings/mcp.json",),
    fields=(*_SERVER, _DISABLED, *_APPROVED_TOOLS, _DISABLED_TOOLS, _OAUTH),
)

JUNIE = Dialect(
    tool="Junie", paths=(".junie/mcp/mcp.json",), fields=(*_SERVER, _DISABLED, _ENABLED)
)

WINDSURF = Dialect(
    tool="Windsurf",
    paths=("windsurf/mcp_config.json", ".windsurf/mcp_config.json"),
    inferred=(("command", "stdio"), ("serverUrl", "http"), ("url", "http")),
    renamed={"serverUrl": "url"},
    fields=(
        *_SERVER,
        Field("serverUrl", "the address of a server that is not a program"),
        _DISABLED,
        *_APPROVED_TOOLS,
        _DISABLED_TOOLS,
    ),
)

_GEMINI_FIELDS = (
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
)

GEMINI = Dialect(
    tool="Gemini CLI",
    paths=(".gemini/settings.json", "gemini-extension.json"),
    is_part=True,
    comments=True,
    measured=True,
    inferred=(("command", "stdio"), ("httpUrl", "http"), ("url", "http"), ("tcp", "ws")),
    renamed={"httpUrl": "url", "tcp": "url"},
    fields=_GEMINI_FIELDS,
)

QWEN = msgspec.structs.replace(
    GEMINI,
    tool="Qwen Code",
    paths=(".qwen/settings.json", "qwen-extension.json"),
    measured=False,
    inferred=(("command", "stdio"), ("httpUrl", "http"), ("url", "sse"), ("tcp", "ws")),
)

#: Tells the transports apart by their keys and does not read `type`.
CODEX = Dialect(
    tool="Codex",
    paths=(".codex/config.toml",),
    top="mcp_servers",
    is_part=True,
    format="toml",
    measured=True,
    refuses="all",
    renamed={"http_headers": "headers"},
    fields=(
        *_STDIO,
        _CWD,
        _URL,
        Field("http_headers", "headers of each request", Table, instead=("headers",)),
        Field("env_http_headers", "headers whose values are in environment variables", Table),
        Field("http_headers_helper", "a program that prints headers", Any),
        Field("env_vars", "environment variables to pass on to the program", tuple[Any, ...]),
        Field(
            "bearer_token_env_var",
            "the environment variable that holds the token",
            instead=("bearer_token",),
        ),
        Field("auth", "how to sign in", Literal["oauth", "chatgpt"]),
        _ENABLED,
        Field("required", "whether Codex must not start without the server", bool),
        Field("startup_timeout_sec", "how long the start may take, in seconds", int | float),
        Field("startup_timeout_ms", "how long the start may take, in milliseconds", int | float),
        Field("tool_timeout_sec", "how long a call may take, in seconds", int | float),
        Field("enabled_tools", "the only tools of the server to offer", Names, restricts=True),
        Field("disabled_tools", "tools of the server to leave out", Names, restricts=True),
        Field(
            "default_tools_approval_mode",
            "when its tools must ask the user",
            Literal["auto", "prompt", "writes", "approve"],
            restricts=True,
        ),
        Field("tools", "settings of single tools, by name", Table, restricts=True),
        Field("scopes", "the OAuth scopes to ask for", Names),
        Field("oauth_resource", "the OAuth resource to ask for"),
        _OAUTH,
        Field("supports_parallel_tool_calls", "whether its tools may run at the same time", bool),
        Field("omit_tools_from", "where its tools are not offered", Names),
        Field("environment_id", "where the program runs"),
        Field("experimental_environment", "where the program runs", Any),
        Field("name", "the name that people see"),
    ),
)

#: In the `.mcp.json` of a plugin; `type` is read there, to no effect.
CODEX_PLUGIN = msgspec.structs.replace(
    CODEX,
    top="mcpServers",
    is_part=False,
    unwrapped=True,
    format="json",
    measured=False,
    refuses="none",
    fields=(*CODEX.fields, _TYPE),
)

OPENCODE = Dialect(
    tool="OpenCode",
    paths=("opencode.{json,jsonc}",),
    top="mcp",
    is_part=True,
    comments=True,
    needs_type="all",
    measured=True,
    refuses="all",
    types={"local": "stdio", "remote": "http"},
    renamed={"environment": "env"},
    fields=(
        Field("type", "`local` for a program, `remote` for an address"),
        Field("command", "the program to start and its arguments", Names),
        Field(
            "environment", "environment variables to add for the program", Table, instead=("env",)
        ),
        _CWD,
        *_REMOTE,
        _OAUTH,
        _ENABLED,
        Field("timeout", "how long a call may take", int | float),
    ),
)

ZED = Dialect(
    tool="Zed",
    paths=(".zed/settings.json",),
    top="context_servers",
    is_part=True,
    comments=True,
    inferred=(("command", "stdio"), ("url", "http"), ("settings", "stdio"), ("source", "stdio")),
    fields=(
        Field("source", "where the server comes from"),
        _ENABLED,
        Field("command", "the program to start", str | Table),
        *_STDIO[1:],
        *_REMOTE,
        Field("settings", "settings of an extension that brings the server", Any),
        Field("timeout", "how long a call may take", int | float),
    ),
)

AMP = Dialect(
    tool="Amp",
    paths=(".amp/settings.json", "amp.{json,jsonc}"),
    top="amp.mcpServers",
    is_part=True,
    comments=True,
    fields=(
        *_SERVER,
        Field("includeTools", "the only tools of the server to offer", Names, restricts=True),
        _OAUTH,
    ),
)

#: The first whose paths match counts.
# fmt: off
DIALECTS: tuple[Dialect, ...] = (
    VSCODE, CURSOR, ROO, CLINE, KIRO, JUNIE, WINDSURF, COPILOT, GEMINI, QWEN, CODEX, OPENCODE, ZED,
    AMP, CLAUDE_DESKTOP, CLAUDE,
)
# fmt: on


def dialect_of(path: str) -> Dialect:
    """The dialect of a file by its path, by default that of `.mcp.json`."""
    found = _places().find(f"/{path}")  # a path from the project on has no step before it
    return CLAUDE if found is None else next(each for each in DIALECTS if each.tool == found[0])


@cache
def _places() -> PlaceIndex:
    return PlaceIndex((each.tool, each.paths) for each in DIALECTS)


#: Every file that lists MCP servers and nothing else.
PATHS: tuple[str, ...] = tuple(path for each in DIALECTS if not each.is_part for path in each.paths)
