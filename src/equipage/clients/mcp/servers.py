"""The kind `mcp`: `.mcp.json` and its relatives, each read as the tool that it is for reads it.

The table of a tool says where in a file the servers are and what each key means. Beside a `.defect`
folder, a `.mcp.json` must follow the seed to the letter: then `formats.defect.mcp` reads it.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, partial
from typing import Any, ClassVar, Literal

import msgspec
from msgspec.structs import replace

from equipage.clients import codes
from equipage.clients.codes import MCP_CODES
from equipage.clients.launchers import (
    check_name_collisions,
    check_server_safety,
    missing_scripts,
    undefined_inputs,
)
from equipage.clients.mcp import (
    CLAUDE,
    CLAUDE_PLUGIN,
    CODEX,
    CODEX_PLUGIN,
    COPILOT,
    CURSOR,
    DIALECTS,
    GEMINI,
    OPENCODE,
    VSCODE,
    Dialect,
    dialect_of,
)
from equipage.core import codes as core_codes
from equipage.core.diagnostics import Change, Fact, Remedy, Severity, Shown
from equipage.core.frozen import prepare
from equipage.core.path import HOLE, ROOT, Path, get, table_at
from equipage.core.source import Source
from equipage.core.text import Guesses, lazy_regex, nearest
from equipage.files.reading import Files
from equipage.formats.defect.mcp import STRICT_MCP_JSON, list_servers, server_names
from equipage.loading.format import TOLERANT, Format, Presentation, Reading, Sensitive, Together
from equipage.loading.header import report_secrets
from equipage.loading.model import build
from equipage.loading.session import Parsed, Session, read_jsonc
from equipage.loading.shape import Shape
from equipage.loading.tree import Origins, Tree, graft
from equipage.syntax.document import Document

Transport = Literal["stdio", "http", "sse", "ws"]


class McpServer(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """How to reach one server."""

    transport: Transport
    """How to talk to the server; the other keys may imply it."""
    command: str | None = None
    """The program to start."""
    args: tuple[str, ...] = ()
    """The arguments of the program."""
    env: dict[str, Any] = msgspec.field(default_factory=dict)
    """Variables to add for the program."""
    cwd: str | None = None
    """The folder to start the program in."""
    url: str | None = None
    """The address of a server that is not a program."""
    headers: dict[str, Any] = msgspec.field(default_factory=dict)
    """Headers of each request."""
    enabled: bool = True
    """Whether the tool uses the server."""
    settings: dict[str, Any] = msgspec.field(default_factory=dict)
    """Keys that mean something only to the tool that the file is for."""


class McpServers(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The servers of one file, whichever tool it is for."""

    TITLE: ClassVar[str] = "a list of MCP servers"

    servers: dict[str, McpServer] = msgspec.field(default_factory=dict)
    """The servers by name."""
    inputs: tuple[Any, ...] = ()
    """What VS Code asks for, or lets one of its commands answer, before a server starts."""


class McpInput(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One value for `${input:ID}`, as VS Code describes it."""

    TITLE: ClassVar[str] = "an entry of inputs"

    id: str
    type: Literal["promptString", "pickString", "command"]
    description: Any = None
    password: bool = False
    default: Any = None
    options: tuple[Any, ...] = ()
    command: str | None = None
    args: Any = None


SERVERS, INPUTS = "servers", "inputs"
_PROGRAM_KEYS = frozenset({"command", "args", "env", "cwd"})
_REMOTE_KEYS = frozenset({"url", "headers"})
#: A table with one of these keys looks like a server.
_SERVER_KEYS = frozenset({"command", "url", "httpUrl", "type"})
#: Keys under which the servers are in the file of some tool.
_TOP_KEYS = tuple(dict.fromkeys(each.top for each in DIALECTS))


def gather_servers(dialect: Dialect, tree: Tree, session: Session) -> tuple[Tree, list[Fact]]:
    """Reduce the tree to `servers`, each with its transport and by our names for its keys."""
    if not isinstance(tree.value, dict):
        return tree, []
    found, facts = _find_servers(dialect, tree)
    facts += report_secrets(tree.provenance(ROOT).origin.document.source)
    origins = Origins(tree.provenance(ROOT).origin, below={SERVERS: tree.subtree(found).origins})
    moves = ((found, (SERVERS,)),) if found else ()
    entries = get(tree.value, found, {})
    if not isinstance(entries, dict):
        return Tree({SERVERS: entries}, origins, moves), facts
    parts: dict[Path, Tree] = {}
    if dialect in (CLAUDE, CLAUDE_PLUGIN, VSCODE, CURSOR):
        is_plugin = dialect is CLAUDE_PLUGIN
        facts += missing_scripts(entries, found, session, in_plugin=is_plugin)
    if dialect is CLAUDE:
        facts += check_name_collisions(entries, found)
    if dialect is VSCODE:
        inputs = tree.value.get(INPUTS)
        facts += undefined_inputs(entries, found, inputs, dialect.renamed)
        facts += _check_type((INPUTS,), inputs, tuple[McpInput, ...], "warning")
        if isinstance(inputs, list):
            parts[(INPUTS,)] = tree.subtree((INPUTS,))
    guesses = Guesses()
    for name, value in entries.items():
        # At the root, the address of a schema may be among the servers.
        if found or name != "$schema":
            parts[SERVERS, name], those = _read_server(
                dialect, tree, (*found, name), value, guesses
            )
            facts += those
    # Grafted one by one, so that each part keeps its place in the file.
    empty = {SERVERS: dict.fromkeys(path[1] for path in parts if path[0] == SERVERS)}
    return graft(Tree(empty, origins, moves), parts), facts


def _find_servers(dialect: Dialect, tree: Tree) -> tuple[Path, list[Fact]]:
    """The path of the servers, and a finding if the tool does not look there."""
    value, top = tree.value, dialect.top
    if value.get(top) is not None or dialect.is_part:
        # The second version of OpenCode puts them one level deeper.
        deeper = dialect.tool == "OpenCode" and isinstance(get(value, (top, "servers")), dict)
        return ((top, "servers") if deeper else (top,)), []
    # Perhaps the file was written for another tool.
    for other in _TOP_KEYS:
        if isinstance(value.get(other), dict) and other != top:
            misplaced = codes.SERVERS_MISPLACED.at(
                (other,),
                part="key",
                remedy=_rename_remedy((other,), top),
                severity="error" if dialect.measured else "warning",
                tool=dialect.tool,
                top=top,
                found=other,
            )
            return (other,), [misplaced]
    named = {key: each for key, each in value.items() if key != "$schema"}
    if named and all(table_at(each, ROOT).keys() & _SERVER_KEYS for each in named.values()):
        if dialect.unwrapped:
            return ROOT, []
        first = (next(iter(named)),)
        severity: Severity = "error" if dialect.measured else "warning"
        return ROOT, [codes.SERVERS_UNWRAPPED.at(first, part="key", severity=severity, top=top)]
    return (top,), [_missing_servers(top, value)] if value and dialect is not VSCODE else []


def _missing_servers(top: str, value: dict[str, Any]) -> Fact:
    guess = next((key for key in value if nearest(key, [top])), None)
    return core_codes.MISSING_FIELD.at(
        part="key",
        severity="warning",
        remedy=None if guess is None else _rename_remedy((guess,), top),
        field=top,
        owner="this file",
        expected="the servers by name",
    )


def _rename_remedy(path: Path, name: str) -> Remedy:
    """The fix that renames a key. It is never safe: servers start, or may do something else."""
    return Remedy(f"rename to `{name}`", (Change(path, name, "key"),), safe=False)


#: Files whose servers start in folders that are not known: of users, and of extensions.
_NOT_OF_PROJECT = lazy_regex(r"/\.config/|/gemini-extension\.json\Z")


def server_findings(tool: str, tree: Tree, session: Session) -> list[Fact]:
    """Findings about the servers in the settings of a tool; the tree is not changed."""
    dialect = next(each for each in DIALECTS if each.tool == tool)
    path, facts = _find_servers(dialect, tree) if isinstance(tree.value, dict) else (ROOT, [])
    guesses = Guesses()
    servers = table_at(tree.value, path) if path else {}
    if dialect in (CODEX, OPENCODE, GEMINI) and not _NOT_OF_PROJECT.search(session.path):
        facts += missing_scripts(servers, path, session)
    for name, value in servers.items():
        facts += _read_server(dialect, tree, (*path, name), value, guesses)[1]
    return facts


# One server.


def _read_server(
    dialect: Dialect, tree: Tree, path: Path, value: Any, guesses: Guesses
) -> tuple[Tree, list[Fact]]:
    """One server by our names; a hole if it cannot be reached."""
    part = tree.subtree(path)
    # In OpenCode, a part that says only whether it is used changes a server of another layer.
    if not isinstance(value, dict) or (value.keys() == {"enabled"} and dialect is OPENCODE):
        return part, []
    fitting, facts = _keep_fitting_keys(dialect, path, value, guesses)
    transport = None
    # A program or an address that does not fit has a finding of its own.
    if all(value.get(key) is None or key in fitting for key in ("command", "url")):
        other = {"transport": value.get("transport")}
        transport, found = _find_transport(dialect, path, {**other, **fitting})
        facts += found
        # A type that another tool knows is a warning; the transport then follows from other keys.
        if any(each.code == codes.SERVER_TYPE_UNKNOWN and each.severity is None for each in found):
            transport = None
    if transport is None:
        if any((each.severity or each.code.severity) == "error" for each in facts):
            return Tree(HOLE, part.origins), facts
        # The tool keeps such a server and fails when it connects, so it is a part of the list.
        transport = next((way for key, way in dialect.inferred if key in value), "stdio")
        kept = {"transport": transport, **_translate_keys(dialect, fitting, transport)}
        return Tree(kept, part.origins), facts
    facts += _check_unused_keys(dialect, path, fitting, transport)
    facts += check_server_safety(dialect.tool, path, fitting, dialect.renamed)
    result = {"transport": transport, **_translate_keys(dialect, fitting, transport)}
    if fitting.get("disabled") is True or fitting.get("enabled") is False:
        result["enabled"] = False
    return Tree(result, part.origins), facts


#: The keys without which there is no server.
_ESSENTIAL_KEYS = frozenset({"command", "args", "env", "url", "headers"})


def _keep_fitting_keys(
    dialect: Dialect, path: Path, value: dict[str, Any], guesses: Guesses
) -> tuple[dict[str, Any], list[Fact]]:
    """The keys that the tool knows and whose values fit, and what is wrong with the others."""
    known = {field.name: field for field in dialect.fields}
    refused = {"none": frozenset[str](), "main": _ESSENTIAL_KEYS, "all": known.keys()}[
        dialect.refuses
    ]
    kept: dict[str, Any] = {}
    facts: list[Fact] = []
    for key, each in value.items():
        place, field = (*path, key), known.get(key)
        if field is None:
            facts += _check_unknown_key(dialect, place, value, guesses)
        elif each is not None:
            kind = dict[str, str] if key == "env" and dialect.refuses != "none" else field.type
            grave = key in refused or field.restricts or key in ("command", "url")
            found = _check_type(
                place, each, kind, "error" if grave and dialect.measured else "warning"
            )
            facts += found
            if not found:
                kept[key] = each
    return kept, facts


#: Fields of servers in other tools: what was written here may have been meant as one of them.
_FIELDS_OF_ALL_TOOLS = {field.name: field for each in DIALECTS for field in each.fields}
#: Values with which such a field has no effect.
_NO_EFFECT_VALUES: tuple[Any, ...] = (None, "", [], {}, ["*"], "*")


def _check_unknown_key(
    dialect: Dialect, place: Path, server: dict[str, Any], guesses: Guesses
) -> Iterator[Fact]:
    """Report a key that the tool does not know, unless it is only a note of the author."""
    known = {field.name: field for field in dialect.fields}
    synonyms = {other: field.name for field in dialect.fields for other in field.instead}
    key, value = str(place[-1]), server[str(place[-1])]
    elsewhere = _FIELDS_OF_ALL_TOOLS.get(key)
    if elsewhere is not None and elsewhere.restricts and key not in synonyms:
        idle = (
            value is (key == "enabled") if isinstance(value, bool) else value in _NO_EFFECT_VALUES
        )
        if not idle:
            switch = key in ("disabled", "enabled")
            yield codes.SERVER_RESTRICTION_IGNORED.at(
                place,
                part="key",
                severity="error" if dialect.measured else "warning",
                key=key,
                tool=dialect.tool,
                effect="the server starts" if switch else "it restricts nothing",
            )
        return
    free = [name for name in known if name not in server]
    guess = synonyms.get(key) or guesses.nearest(key, free)
    if guess is None and (
        elsewhere is None or value in _NO_EFFECT_VALUES or key in _NO_EFFECT_KEYS
    ):
        return  # a note of the author
    restricts = dialect.measured and guess is not None and known[guess].restricts
    yield core_codes.UNKNOWN_FIELD.at(
        place,
        part="key",
        remedy=None if guess is None else _rename_remedy(place, guess),
        severity="error" if restricts or key == "bearer_token" else "warning",
        field=Shown(key),
        owner=f"a server of {dialect.tool}",
        nearest=guess,
    )


#: Keys that change nothing, or only spare a question, in the tools that know them.
_NO_EFFECT_KEYS = frozenset(
    {"description", "name", "alwaysAllow", "autoApprove", "gallery", "version"}
)


def _check_type(path: Path, value: Any, kind: Any, severity: Severity) -> list[Fact]:
    """Findings about a value that is not of type `kind`; none if it is absent."""
    found = [] if value is None else build({"value": value}, _value_struct(kind), Shape())[2]
    return [replace(fact, path=(*path, *fact.path[1:]), severity=severity) for fact in found]


@cache
def _value_struct(kind: Any) -> type[Any]:
    """A Struct with one field, to check a value by itself."""
    return msgspec.defstruct("Value", [("value", kind)])


def _find_transport(
    dialect: Dialect, path: Path, server: dict[str, Any]
) -> tuple[str | None, list[Fact]]:
    """The transport of a server, and findings about it; None if it cannot be reached."""
    name = Shown(path[-1])
    inferred = next((transport for key, transport in dialect.inferred if server.get(key)), None)
    grave: Severity = "error" if dialect.measured else "warning"
    if inferred is None:
        empty = next((key for key, _ in dialect.inferred if server.get(key) == ""), None)
        if empty is not None:
            place = (*path, empty)
            # Claude Code drops an empty program; any tool keeps an empty address.
            dropped = empty == "command" and dialect.tool == CLAUDE.tool
            severity: Severity = "error" if dropped else "warning"
            return None, [
                codes.SERVER_ADDRESS_EMPTY.at(place, severity=severity, name=name, key=empty)
            ]
        return None, [codes.SERVER_UNREACHABLE.at(path, part="key", severity=grave, name=name)]
    written = server.get("type")
    if isinstance(written, str):
        # Of a tool that was not run, it is not known whether capitals count.
        folded = written if dialect.measured else written.lower()
        transport = dialect.types.get(written) or dialect.types.get(folded)
        if transport is not None:
            return _check_written_transport(transport, inferred, path, server)
        unknown = codes.SERVER_TYPE_UNKNOWN.at(
            (*path, "type"),
            severity=None if dialect.measured else "warning",
            name=name,
            found=Shown(written),
            tool=dialect.tool,
            types=tuple(dialect.types),
        )
        return inferred, [unknown]
    if dialect.needs_type == "none" or (dialect.needs_type == "remote" and inferred == "stdio"):
        return inferred, []
    # The word of this tool for a transport of that sort.
    word = next(
        word
        for word, transport in dialect.types.items()
        if (transport == "stdio") == (inferred == "stdio")
    )
    # Other programs, and drafts of this one, call it so.
    transport = server.get("transport")
    is_other = isinstance(transport, str) and transport in dialect.types
    missing = codes.SERVER_TYPE_MISSING.at(
        (*path, "transport") if is_other else path,
        part="key",
        remedy=_rename_remedy((*path, "transport"), "type") if is_other else None,
        severity=grave,
        name=name,
        tool=dialect.tool,
        hint="call it `type`, as this tool does" if is_other else f'add `"type": "{word}"`',
    )
    return inferred, [missing]


def _check_written_transport(
    transport: str, inferred: str, path: Path, server: dict[str, Any]
) -> tuple[str | None, list[Fact]]:
    """The transport of a `type`, if the server has the key that it needs."""
    key = "command" if transport == "stdio" else "url"
    # What is not inferred to be a program has an address, under a key of its tool.
    if key in server or (key == "url" and ("httpUrl" in server or inferred != "stdio")):
        return transport, []
    found = Shown(server["type"])
    return None, [
        codes.SERVER_TYPE_WRONG.at((*path, "type"), name=Shown(path[-1]), found=found, key=key)
    ]


def _translate_keys(dialect: Dialect, server: dict[str, Any], transport: str) -> dict[str, Any]:
    """The keys that all tools have, by our names; the rest below `settings`."""
    ours: dict[str, Any] = {}
    settings: dict[str, Any] = {}
    usable = _PROGRAM_KEYS if transport == "stdio" else _REMOTE_KEYS
    for key, value in server.items():
        name = dialect.renamed.get(key, key)
        if name in usable:
            ours[name] = value
        elif name not in _PROGRAM_KEYS | _REMOTE_KEYS and key not in (
            "type",
            "enabled",
            "disabled",
        ):
            settings[key] = value
    # OpenCode writes the program and its arguments as one list.
    if isinstance(ours.get("command"), list):
        words = ours["command"]
        ours["command"], ours["args"] = (words[0] if words else ""), words[1:]
    return {**ours, "settings": settings} if settings else ours


def _check_unused_keys(
    dialect: Dialect, path: Path, server: dict[str, Any], transport: str
) -> Iterator[Fact]:
    """Report keys that belong to the other sort of server. With one, Codex does not start."""
    foreign = _REMOTE_KEYS if transport == "stdio" else _PROGRAM_KEYS
    for key, value in server.items():
        if dialect.renamed.get(key, key) in foreign and value:
            yield codes.SERVER_KEY_UNUSED.at(
                (*path, key),
                part="key",
                severity="error" if dialect.format == "toml" else None,
                key=key,
                transport=transport,
                name=Shown(path[-1]),
            )


# The kind.

EXAMPLE = """\
{
  "mcpServers": {
    "NAME": {
      "type": "stdio",
      "command": "npx",
      "args": ["-y", "@example/server@1.0.0"],
      "env": { "API_KEY": "${API_KEY}" }
    }
  }
}
"""


def _read(dialect: Dialect, source: Source, session: Session) -> Parsed:
    if not (dialect.measured or source.data.strip()):
        return session.adopt(Document(source, "json", {})), []  # editors begin with an empty file
    if dialect.comments:
        return read_jsonc(source, session, trailing_commas=True)
    return session.parse(source, dialect.format)


def author_schema(dialect: Dialect, schema: dict[str, Any]) -> dict[str, Any]:
    """The schema of what authors write, which is not what a program gets."""
    fields = [
        (field.name, field.type | None, msgspec.field(default=None)) for field in dialect.fields
    ]
    (reference, asked), definitions = msgspec.json.schema_components(
        [msgspec.defstruct("Server", fields), prepare(McpInput)], ref_template="#/$defs/{name}"
    )
    for field in dialect.fields:
        slot = definitions["Server"]["properties"][field.name]
        definitions["Server"]["properties"][field.name] = {"description": field.meaning, **slot}
    words = f"the MCP servers that {dialect.tool} may use, by name"
    servers = {"description": words, "type": "object", "additionalProperties": reference}
    properties = {dialect.top: servers}
    if dialect is VSCODE:
        words = "values that VS Code asks for, or that one of its commands answers"
        properties[INPUTS] = {"description": words, "type": "array", "items": asked}
    else:
        del definitions["McpInput"]
    prose = {key: schema[key] for key in schema.keys() & {"$schema", "title", "description"}}
    return {**prose, "type": "object", "properties": properties, "$defs": definitions}


def _tolerant_format(dialect: Dialect) -> Format:
    return Format(
        name="mcp",
        together=Together(offers=server_names),
        title="list of MCP servers",
        model=McpServers,
        reading=Reading(
            syntaxes={".json": "json", ".jsonc": "json", ".toml": "toml"},
            read=partial(_read, dialect),
            variables=False,
        ),
        strictness=TOLERANT,
        shape=Shape(unknown="warning", null_is_absent=True),
        stages=(partial(gather_servers, dialect),),
        codes=MCP_CODES,
        presentation=Presentation(
            schema=partial(author_schema, dialect),
            listing=list_servers,
            sensitive=(
                Sensitive("servers.*", "tool"),
                Sensitive("servers.*.command", "permission"),
            ),
            example=EXAMPLE,
            example_path=".mcp.json",
        ),
    )


def variant_of(path: str, files: Files) -> Format:
    """The kind of a list of servers by its path, which says whose it is."""
    folder = path.rpartition("/")[0]
    if path.endswith("/.mcp.json") and files.is_folder(f"{folder}/.defect"):
        return STRICT_MCP_JSON
    dialect = dialect_of(path)
    return (dialect is CLAUDE and _plugin_format(folder, files)) or _FORMAT_BY_TOOL[dialect.tool]


def _plugin_format(folder: str, files: Files) -> Format | None:
    """The kind of a list in a plugin: Claude's if it has a manifest, or if a marketplace above it
    may list it. Other tools also read `.mcp.json` in their own plugins, and forgive more."""
    if files.exists(f"{folder}/.claude-plugin"):
        return _CLAUDE_PLUGIN_FORMAT
    for manifest, kind in _FORMAT_BY_PLUGIN_MANIFEST.items():
        if files.exists(f"{folder}/{manifest}"):
            return kind
    while folder and not files.exists(f"{folder}/.git"):
        folder = folder.rpartition("/")[0]
        if files.exists(f"{folder}/.claude-plugin/marketplace.json"):
            return _CLAUDE_PLUGIN_FORMAT
    return None


_FORMAT_BY_TOOL = {each.tool: _tolerant_format(each) for each in DIALECTS}
_CLAUDE_PLUGIN_FORMAT = _tolerant_format(CLAUDE_PLUGIN)
_COPILOT_PLUGIN_FORMAT = _tolerant_format(replace(COPILOT, unwrapped=True))
#: Where the manifest of a plugin of another tool lies in its folder → the lists in it.
_FORMAT_BY_PLUGIN_MANIFEST = {
    ".codex-plugin": _tolerant_format(CODEX_PLUGIN),
    ".cursor-plugin": _tolerant_format(replace(CURSOR, unwrapped=True)),
    ".github/plugin": _COPILOT_PLUGIN_FORMAT,
    "plugin.json": _COPILOT_PLUGIN_FORMAT,
}
_CLAUDE_FORMAT = _FORMAT_BY_TOOL[CLAUDE.tool]
FORMAT = replace(_CLAUDE_FORMAT, reading=replace(_CLAUDE_FORMAT.reading, variant=variant_of))
