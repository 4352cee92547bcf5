"""The findings about settings, in words."""

from __future__ import annotations

from equipage.codes import Code
from equipage.kinds.profile.codes import CODES as PROFILE_CODES
from equipage.kinds.profile.codes import HOOK_CODES

_READ_FIRST = "make sure that you trust the project, or set it in your own settings"

_TRUST = (
    Code(
        "project-loosens-sandbox",
        "warning",
        "the project sets the sandbox to `{mode}`; without it, it would be `{below}`",
        "Whoever runs the agent in this repository gets a wider sandbox than they chose.",
        _READ_FIRST,
    ),
    Code(
        "project-redirects-provider",
        "warning",
        "the project decides where requests to provider `{provider}` go: `{key}` is {found}",
        "Prompts, files and credentials are sent to the address a repository names.",
        _READ_FIRST,
    ),
    Code(
        "project-picks-credential",
        "warning",
        "the project decides which variable is sent as the key of provider `{provider}`: {found}",
        "The value of any environment variable can be sent away like this.",
        _READ_FIRST,
    ),
    Code(
        "project-sets-proxy",
        "warning",
        "the project decides which proxy requests go through: `{key}` is {found}",
        "A proxy sees where every request goes.",
        _READ_FIRST,
    ),
    Code(
        "project-sends-traces",
        "warning",
        "the project decides where traces are sent: `{key}` is {found}",
        "Traces hold prompts and answers.",
        _READ_FIRST,
    ),
    Code(
        "project-reads-outside",
        "warning",
        "the project puts a file from outside into the prompt: `{key}` is `{found}`",
        "What becomes part of a prompt is sent to a model.",
        "name a file in the repository",
    ),
    Code(
        "project-disables-hook",
        "warning",
        "the project disables a hook of the user at `{event}`",
        "A hook may be what keeps secrets from leaving. Every layer can disable the hooks of every other.",
        _READ_FIRST,
    ),
    Code(
        "project-runs-command",
        "note",
        "the project runs a program at `{event}`: {found}",
        "The hook runs without being asked for, with the rights of whoever started the agent.",
        "read what it does before you start an agent here",
    ),
    Code(
        "project-changes-server",
        "warning",
        "the project changes the MCP server `{name}` of a layer below: `{key}` is {found}",
        "The program that is started, or the address that is called with the headers of the other layer, is no longer "
        "the one that was chosen there.",
        _READ_FIRST,
    ),
    Code(
        "project-runs-server",
        "note",
        "the project starts the MCP server `{name}`: {found}",
        "Its program runs with the rights of whoever started the agent.",
        "read what it does before you start an agent here",
    ),
)

_TOGETHER = (
    Code(
        "provider-without-section",
        "error",
        "provider `{provider}` has no matching [providers.{provider}] section",
        "A provider that is not built in must be described.",
        "add the section; did you mean `{nearest}`?",
    ),
    Code(
        "model-required",
        "error",
        "default.model or providers.{provider}.default_model is required",
        "This provider has no model of its own that could be used.",
        "set one of the two",
    ),
    Code(
        "ratio-range",
        "error",
        "`{key}` must be in (0, 1], found {found}",
        "The ratio is a share of the context window.",
    ),
    Code(
        "ratio-order",
        "error",
        "`{low}` ({low_value}) must be {relation} `{high}` ({high_value})",
        "The tiers of compaction must follow each other. Ratios that are not set have their default.",
        "change one of the two, or disable the lower tier",
    ),
    Code(
        "hook-disable-idle",
        "warning",
        "this disables no hook: none at `{event}` has the same conditions and the same handler",
        "Conditions and handler must be equal to those of the hook; its name does not count.",
    ),
)

_OVERRIDES = (
    Code(
        "override-malformed",
        "error",
        "expected KEY=VALUE, found `{found}`",
        "A setting on the command line is a key, `=` and a value; dots lead into tables.",
        "write it as `turn.max_llm_retries=5`",
    ),
    Code(
        "override-key-empty",
        "error",
        "a part of the key `{key}` is empty",
        "Dots lead into tables, so something must stand before and behind each of them.",
        "remove the dot, or put quotes around a part that holds one",
    ),
    Code(
        "override-not-text",
        "error",
        "the setting `{found}` on the command line is not UTF-8",
        "Settings are text. Bytes that are no characters could not be written anywhere.",
    ),
    Code(
        "override-taken-as-text",
        "warning",
        "the value of `{key}` is taken as text: `{found}`",
        "The value is not TOML, so it is text as it stands. It looks as if something else was meant.",
        "{hint}",
    ),
    Code(
        "override-hooks",
        "warning",
        "hooks cannot be set on the command line; `{key}` has no effect",
        "Hooks come from files only.",
        "write them to a `config.toml`",
    ),
)

_MCP = (
    Code(
        "mcp-server-undefined",
        "error",
        "`enabled_servers` names the undefined server `{name}`",
        "A server must be defined under `[mcp.servers]` to be enabled.",
        "did you mean `{nearest}`?",
    ),
    Code(
        "mcp-json-server-listed",
        "error",
        "`enabled_servers` names the undefined server `{name}`: it is in `.mcp.json` only",
        "Servers in `.mcp.json` are enabled by being there; the list is about those in TOML.",
        "remove it from the list",
    ),
    Code(
        "mcp-server-shadowed",
        "warning",
        "the settings define the server `{name}`, too; this definition is not used",
        "A server that both TOML and `.mcp.json` define is TOML's.",
        "remove one of the two definitions; {state}",
    ),
    Code(
        "mcp-unknown-transport",
        "error",
        "invalid .mcp.json: server `{name}` has the type `{found}`, expected one of {transports}",
        "The type says how to talk to the server.",
    ),
    Code(
        "mcp-needs-command-or-url",
        "error",
        "invalid .mcp.json: server `{name}` needs either `command` or `url`",
        "Without one of them there is nothing to start and nothing to call.",
    ),
    Code(
        "mcp-main-key-missing",
        "error",
        "invalid .mcp.json: {transport} server `{name}` needs `{key}`",
        "The transport follows from `type`; its main key must be there.",
    ),
    Code(
        "mcp-key-not-allowed",
        "error",
        "invalid .mcp.json: {transport} server `{name}` must not set `{key}`",
        "The key belongs to another transport.",
        "remove it, or change the type",
    ),
    Code(
        "mcp-key-ignored",
        "warning",
        "`{key}` has no effect on the {transport} server `{name}`",
        "A server at an address is not started, so it takes no arguments and no environment.",
        "remove it",
    ),
    Code(
        "mcp-server-incomplete",
        "error",
        "the server `{name}` lacks `{key}`",
        "A server names its transport; `stdio` needs `command`, `http` and `sse` need `url`. Layers are merged first.",
        "add `{key}` to `[mcp.servers.{name}]`",
    ),
    Code(
        "mcp-key-misplaced",
        "error",
        "the {transport} server `{name}` must not set `{key}`",
        "The key belongs to another transport. Layers are merged key by key: one that changes the transport keeps the "
        "keys of the layers below.",
        "remove it, or define the server under another name",
    ),
)

_SHARED = tuple(code for code in PROFILE_CODES if code.name in ("text-empty", "variable-ignored"))

CODES: tuple[Code, ...] = (*HOOK_CODES, *_SHARED, *_TRUST, *_TOGETHER, *_OVERRIDES, *_MCP)
