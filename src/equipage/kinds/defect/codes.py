"""The findings about profiles and hooks, in words."""

from __future__ import annotations

from equipage.core.codes import Code
from equipage.kinds.headers import HEADER_CODES

#: Why a pattern cannot be read.
GLOB_REASONS = {
    "unclosed-class": "`[` is never closed",
    "unclosed-choice": "`{` is never closed",
    "unopened-choice": "`}` without `{`",
    "bad-range": "a range runs backwards",
    "dangling-escape": "it ends with `\\`",
}
#: Why a prompt file is not read although it may exist: a copy inside the folder would be.
REFUSED_PROMPTS = {
    "reference-absolute": "the path is absolute",
    "reference-escapes": "it leads outside the folder of the profile",
}
#: Why a path cannot be that of a prompt, wherever it leads.
UNUSABLE_PROMPTS = {
    "reference-empty": "the path is empty",
    "reference-nul": "the path contains a NUL character",
    "file-is-directory": "it is a directory, expected a file",
    "file-link-loop": "it leads through too many links",
    "file-not-regular": "it is not a regular file",
    "file-too-large": "it is too large: {size} bytes (limit: {limit})",
    "file-unreadable": "{reason}",
    "not-utf8": "it is not valid UTF-8: byte {byte} at offset {offset}",
}

_FIELDS = (
    Code(
        "text-not-quoted",
        "warning",
        "text belongs here; {found} is kept as it is written: `{text}`",
        "YAML takes an unquoted number, `true` or `false` for what it looks like. The field takes text, so the "
        "characters of the file are used.",
        "put quotes around it",
    ),
    Code(
        "text-empty",
        "warning",
        "`{field}` is empty",
        "It loads, but a description nobody can choose by, an agent without instructions, or a model without a name is "
        "rarely meant.",
    ),
    Code(
        "model-given-twice",
        "error",
        "set the model either as root `model` or as `[default] model`, not both",
        "The two keys mean the same. With both, it would be a matter of luck which one a reader believes.",
        "remove one of the two",
    ),
    Code(
        "prompt-given-twice",
        "error",
        "set `[prompt] text` or `[prompt] file`, not both",
        "A profile has one system prompt.",
        "remove one of the two",
    ),
    Code(
        "prompt-in-single-file",
        "error",
        "single-file profile takes its system prompt from the body after the frontmatter; remove the `[prompt]` table",
        "A single file carries its prompt below the header. A prompt in another file needs the folder variant.",
        "move the text below the header",
    ),
    Code(
        "prompt-missing",
        "error",
        "the profile has no prompt: there is no `{reference}` in its folder",
        "A folder profile reads its prompt from `system.md`, unless `[prompt]` names another file or holds the text.",
        "write `{reference}`, or set `[prompt] text` or `[prompt] file`",
    ),
    Code(
        "prompt-file-missing",
        "error",
        "invalid `prompt.file` `{reference}`: file not found",
        "The path starts at the folder of the profile.",
        "check the path; it is looked up from the folder of the profile",
    ),
    Code(
        "prompt-file-refused",
        "error",
        "invalid `prompt.file` `{reference}`: {reason}",
        "What becomes a prompt is sent to a model. A profile may therefore only read files in its own folder, also "
        "through symbolic links.",
        "copy the file into the folder of the profile",
    ),
    Code(
        "prompt-file-unusable",
        "error",
        "invalid `prompt.file` `{reference}`: {reason}",
        "The prompt is read from a regular file of text in UTF-8. A directory, a pipe or a loop of links holds none.",
        "name a text file in the folder of the profile, saved as UTF-8",
    ),
    Code(
        "request-limit-missing",
        "error",
        '`request_limit_mode = "{mode}"` requires `request_limit = N`',
        "A fixed or adaptive limit needs a number to start from.",
        "add `request_limit`, or remove the mode",
    ),
    Code(
        "request-limit-ignored",
        "warning",
        "`request_limit = {number}` has no effect: the mode is `unbounded`",
        "Without a bound there is no number.",
        "remove the number, or the mode",
    ),
    Code(
        "request-limit-zero",
        "warning",
        "`request_limit = 0` lets the agent ask its model not even once",
        "The limit counts requests to the model in one turn.",
        'give a number above 0, or set `request_limit_mode = "unbounded"`',
    ),
    Code(
        "sampling-range",
        "warning",
        "`{key}` is {found}; models take {low} to {high}",
        "The value is passed on as it is. A provider will refuse it, or quietly use another.",
    ),
    Code(
        "unknown-tool",
        "warning",
        "there is no tool `{tool}`",
        "An agent whose profile allows a tool that does not exist fails when it is started.",
        "did you mean `{nearest}`?",
    ),
    Code(
        "unknown-server",
        "warning",
        "`{tool}` is of the MCP server `{server}`, which nobody defines here",
        "An entry that matches no tool keeps the agent from starting.",
        "did you mean `{nearest}`?",
    ),
    Code(
        "invalid-glob",
        "error",
        "`{glob}` is not a valid pattern: {reason}",
        "A pattern that cannot be read matches nothing: an allowed tool is missing, a hook that guards never runs.",
        "close the bracket, or escape it with `\\`",
    ),
)

_HOOKS = (
    Code(
        "unknown-hook-event",
        "error",
        "`{event}` is not a known hook event name",
        "Hooks of an event that does not exist would never run.",
        "did you mean `{nearest}`?",
    ),
    Code(
        "hook-disable-in-profile",
        "error",
        "`hooks.disable` is not supported in a profile",
        "A profile stands alone: it inherits no hooks, so there is nothing to disable.",
        "remove it; the settings can disable hooks",
    ),
    Code(
        "hook-never-matches",
        "warning",
        "`{condition}` never holds at `{event}`: no tool is known there",
        "The hook is declared but never runs.",
        "use an event about a tool, or remove the condition",
    ),
    Code(
        "unknown-builtin-hook",
        "warning",
        "there is no built-in hook `{name}` (known: {known})",
        "The agent fails to start with a built-in hook it does not have.",
        "did you mean `{nearest}`?",
    ),
    Code(
        "hook-argv-empty",
        "error",
        "`argv` is empty: there is no program to run",
        "The first entry of `argv` is the program.",
        "name the program and its arguments",
    ),
    Code(
        "hook-command-incomplete",
        "error",
        "a command handler needs `argv`, or `shell` with `command`",
        "Without a shell nothing could read `command`.",
        'write `argv = ["program", "argument"]`, or add `shell`',
    ),
    Code(
        "hook-shell-without-command",
        "error",
        "`shell` needs `command`",
        "The shell has nothing to run.",
        "add `command`, or write `argv` instead",
    ),
    Code(
        "hook-command-mixed",
        "error",
        "`argv` and `argv_windows` must not be mixed with `shell` and `command`",
        "A handler runs a program with its arguments, or a line in a shell; both at once would leave it open which.",
        "keep one of the two forms",
    ),
)

#: Findings about several profiles together.
_SETS = (
    Code(
        "duplicate-profile",
        "error",
        "duplicate subagent profile `{name}` in the same layer (a folder and a `.md` file cannot share a name)",
        "One name must have one source.",
        "rename or remove one of the two",
    ),
    Code(
        "profile-shadows",
        "note",
        "the project's `{name}` replaces the user's profile of that name as a whole",
        "Profiles are not merged: neither prompt nor tools nor hooks of the user's profile remain.",
    ),
    Code(
        "profile-loosens",
        "warning",
        "the project's `{name}` replaces the user's and may do more: {more}",
        "Whoever calls the agent by name now gets one with more rights than the user gave it.",
        "read the project's profile before you use it",
    ),
    Code(
        "profile-names-alike",
        "warning",
        "`{name}` and `{other}` differ only in case or in the form of their characters",
        "Many file systems, and most people, take the two names for one.",
        "rename one of the two",
    ),
    Code(
        "profile-overlooked",
        "warning",
        "this is not taken for a profile: {reason}",
        "A profile is `<name>.md`, in lower case, or a folder with a `config.toml`. Anything else in an `agents` "
        "folder is passed over.",
    ),
    Code(
        "profile-link-outside",
        "warning",
        "the profile is read through a link from outside the repository",
        "Its content is not part of the project: it differs from machine to machine.",
        "copy the file into the project",
    ),
    Code(
        "layer-unreadable",
        "error",
        "cannot list the folder: {reason}",
        "A folder of a layer that does not exist is fine. One that cannot be read may hide what counts.",
        "check that it is a folder, and its permissions",
    ),
    Code(
        "variable-ignored",
        "warning",
        "{name} is not an absolute path and is ignored",
        "Taken literally, a relative path would make a folder below the current one the user's own configuration.",
        "set {name} to an absolute path, or unset it",
    ),
)
#: Why a file in an `agents` folder is passed over.
OVERLOOKED = {
    "extension": "its name does not end in `.md`",
    "no-config": "the folder has no `config.toml`",
    "not-a-file": "its `config.toml` is not a regular file",
    "encoding": "its name is not valid UTF-8",
}

_SHARED = ("invalid-glob", "request-", "sampling-")

CODES: tuple[Code, ...] = (*HEADER_CODES, *_FIELDS, *_HOOKS, *_SETS)
#: What is found in every layer.
LAYER_CODES: tuple[Code, ...] = tuple(
    code for code in _SETS if code.name in ("layer-unreadable", "variable-ignored")
)
#: What the settings find, too.
HOOK_CODES: tuple[Code, ...] = (
    *_HOOKS,
    *(code for code in _FIELDS if code.name.startswith(_SHARED)),
)


# --- settings.codes ----------------------------------------------------------------------------
# The findings about settings, in words.

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

_SETTINGS_SHARED = tuple(code for code in CODES if code.name in ("text-empty", "variable-ignored"))

SETTINGS_CODES: tuple[Code, ...] = (
    *HOOK_CODES,
    *_SETTINGS_SHARED,
    *_TRUST,
    *_TOGETHER,
    *_OVERRIDES,
    *_MCP,
)
