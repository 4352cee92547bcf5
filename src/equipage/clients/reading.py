"""What a client makes of files: of one file with `reading_of`, of a folder with `read_folder`.

A file with errors is not absent. Its client ignores a key, drops a rule or the whole file, or does
something that was not measured: then the reading is *unknown*, and its agents may do anything.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from equipage.clients import codes
from equipage.clients.catalogue import client_of, convention_of
from equipage.clients.codes import CLAUDE_CODES, MCP_CODES
from equipage.clients.file_grants import (
    default_grants,
    name_and_sort,
    program_of_file,
    reach_of_value,
)
from equipage.clients.grants import EVERYTHING, Grant, Reach
from equipage.clients.index import CLIENTS, KINDS
from equipage.clients.mcp import Dialect, dialect_of
from equipage.core import codes as core_codes
from equipage.core.diagnostics import Diagnostic
from equipage.core.path import HOLE, Path, format_path, get, mapping_or_empty, parse_path
from equipage.loading.model import unknown_keys
from equipage.loading.pipeline import Outcome
from equipage.loading.type_words import type_info

#: The sort and the name of the agent that people talk to.
MAIN_AGENT = "main agent"
#: Errors about a part that a client leaves out, or that no client looks at; the rest counts.
_CODES_OF_PARTS = frozenset(
    each.name
    for each in (
        *(core_codes.UNKNOWN_FIELD, core_codes.FOREIGN_FIELD, core_codes.NON_STRING_KEY),
        *(core_codes.MISPLACED_FIELD, core_codes.IGNORED_FIELD),
        *(core_codes.HEADER_ENDS_EARLY, core_codes.POLICY_FORBIDS, core_codes.POLICY_NOT_PINNED),
        *({*CLAUDE_CODES, *MCP_CODES} - {codes.MANIFEST_REFUSED, codes.HOOK_UNLOADABLE}),
        *(codes.NAME_TAKEN, codes.UNKNOWN_REFERENCE, codes.PATH_MISSING, codes.RESTRICTION_EMPTY),
        *(codes.NAME_FORM, codes.NAME_DIFFERS, codes.TEXT_TOO_LONG, codes.TEXT_MISSING),
    )
)
#: What a file of another program looks like, if it was taken for one of a client.
_CODES_OF_WRONG_GUESSES = frozenset(
    each.name
    for each in (
        *(core_codes.UNKNOWN_FIELD, core_codes.FOREIGN_FIELD, core_codes.IGNORED_FIELD),
        codes.UNKNOWN_REFERENCE,
    )
)
#: The settings that say what the main agent of a client does without any.
_SETTINGS_OF_CLIENTS = {each.tool: kind for kind, each in KINDS.items() if each.sort == "settings"}
#: Errors because of which Claude Code reads nothing of its settings.
_CODES_OF_DROPPED_SETTINGS = frozenset(
    each.name for each in (core_codes.JSON_SYNTAX, core_codes.WRONG_TYPE, core_codes.INVALID_VALUE)
)
#: A hook of these that Claude Code cannot load takes all settings along; another only itself.
_GUARDING_EVENTS = ("hooks.PreToolUse", "hooks.PermissionRequest")
#: Where Claude Code leaves out an entry of a wrong type, and nothing else.
_FORGIVING_LISTS = ("permissions.allow[", "permissions.ask[", "permissions.deny[")


class Reading(msgspec.Struct, frozen=True):
    """One file as its client reads it."""

    value: Any = None  #: plain; of an unknown or dropped file, what is written
    is_dropped: bool = False  #: whether the client reads nothing of it
    unknown: str = ""  #: why it is not known what the client makes of the file

    @property
    def counts(self) -> bool:
        """Whether the client is known to read the file."""
        return not (self.is_dropped or self.unknown)

    @property
    def counted_value(self) -> Any:
        """The value that counts, of a reading that is known."""
        return {} if self.is_dropped else self.value


def reading_of(outcome: Outcome, *, show_env: bool = False) -> Reading:
    """What the client of a file makes of it, errors or not; `show_env` as for `to_dict`."""
    loaded = outcome.loaded_or_none()
    if loaded is not None:
        return Reading(loaded.to_dict(show_env=show_env))
    if any(each.outside for each in outcome.sources):
        return Reading(unknown="a link leads out of the project")
    effects = [_effect_of_error(outcome, each) for each in outcome.errors]
    value = None if outcome.tree is None else outcome.tree.value
    # Values of variables belong to one machine.
    value = value if isinstance(value, dict) and not outcome.kind.reading.variables else None
    if "dropped" in effects:
        return Reading(value, is_dropped=True)
    if value is None or "unknown" in effects:
        return Reading(value, unknown=next((each.message for each in outcome.errors), "no value"))
    return Reading(_drop_servers(value, outcome))


def reading_of_guess(outcome: Outcome) -> Reading:
    """The reading of a file whose place says nothing of its kind. If it has what its client
    does not know, it may be one of another program."""
    reading = reading_of(outcome)
    for each in outcome.diagnostics:
        if each.code in _CODES_OF_WRONG_GUESSES:
            return msgspec.structs.replace(reading, unknown=each.message)
    return reading


def _drop_servers(value: dict[str, Any], outcome: Outcome) -> dict[str, Any]:
    """Leave out the servers that their client drops, as for want of a `type`."""
    errors = outcome.errors if outcome.kind.name == "mcp" else ()
    if not errors:
        return value
    dialect = dialect_of(outcome.path)
    # A tool that was run refuses a server of which a main value does not fit.
    grave = {codes.SERVER_TYPE_MISSING.name}
    grave |= {core_codes.WRONG_TYPE.name} if dialect.refuses != "none" else set()
    found = [parse_path(each.path) for each in errors if each.code in grave]
    dropped = {path[:length] for path in found for length in (1, 2)}
    # A list in a plugin may have no key around it.
    kept = {
        name: each
        for name, each in mapping_or_empty(value.get("servers")).items()
        if each is not HOLE
        and (dialect.top, name) not in dropped
        and (name == dialect.top or (name,) not in dropped)
    }
    return {**value, "servers": kept}


def _effect_of_error(outcome: Outcome, error: Diagnostic) -> str:
    """Whether because of an error a client reads all but a `part`, reads nothing of the file
    (`dropped`), or does what is not known (`unknown`)."""
    is_settings = outcome.kind.name == "claude-settings"
    if is_settings and error.path.startswith("hooks."):
        is_group = error.code == codes.HOOK_UNLOADABLE.name and error.path.endswith("]")
        never_runs = error.code == codes.HOOK_NEVER_FIRES.name
        if never_runs or not error.path.startswith(_GUARDING_EVENTS):
            return "part"
        return "dropped" if is_group and error.path.count("[") == 1 else "unknown"
    if is_settings and error.path.startswith(_FORGIVING_LISTS):
        return "part"
    if outcome.kind.name == "gemini-agent" and error.code == core_codes.UNKNOWN_FIELD.name:
        return "dropped"
    if outcome.kind.name == "mcp" and error.code == codes.SERVER_TYPE_UNKNOWN.name:
        # Whether capitals count was not measured.
        written = get(outcome.documents[0].value, parse_path(error.path), "")
        known = dialect_of(outcome.path).types
        return "unknown" if str(written).lower() in known else "part"
    is_in_server = outcome.kind.name == "mcp" and error.path
    if is_in_server or error.code in _CODES_OF_PARTS:
        return "part"
    is_nameless = error.code == core_codes.MISSING_FIELD.name and not error.path
    if is_nameless or error.code == core_codes.HEADER_DROPPED.name:
        return "dropped"
    return "dropped" if is_settings and error.code in _CODES_OF_DROPPED_SETTINGS else "unknown"


def unknown_keys_of(outcome: Outcome) -> dict[Path, Any]:
    """The keys of a file that no table has, with their values: what they do is not known.

    Those that a check reports as errors are misspelt: the client ignores them.
    """
    kind, document = outcome.kind, next(iter(outcome.documents), None)
    value = None if document is None else document.value
    if kind.name == "mcp" and isinstance(value, dict):
        return dict(_unknown_server_keys(value, dialect_of(outcome.path)))
    if not _has_table(kind.name) or not isinstance(value, dict):
        return {}
    table = convention_of(kind.name)
    value = value if table is None or table.wraps is None else {table.wraps: value}
    misspelt = {each.path for each in outcome.errors if each.code == "unknown-field"}
    return {
        path: get(value, path)
        for path in unknown_keys(value, type_info(kind.model))
        if format_path(path) not in misspelt and path[0] not in kind.shape.describing
    }


def _unknown_server_keys(value: dict[str, Any], dialect: Dialect) -> Iterator[tuple[Path, Any]]:
    """The keys in a list of servers that its client is not known to read."""
    known = {each.name for each in dialect.fields} | dialect.renamed.keys()
    listed = value.get(dialect.top)
    servers = listed if isinstance(listed, dict) else {}
    yield from (((key,), value[key]) for key in value.keys() - {dialect.top, "inputs", "$schema"})
    for name, each in servers.items():
        if isinstance(each, dict):
            yield from (((dialect.top, name, key), each[key]) for key in each.keys() - known)


def reaches_of(
    outcome: Outcome,
    reading: Reading | None = None,
    *,
    file: str | None = None,
    usual_modes: bool = True,
) -> tuple[Reach, ...]:
    """The reach of everything that a file describes, as its client reads it.

    `file` is the name that people are shown, by default that of the source; `usual_modes` as for
    `reach_of_value`.
    """
    kind, ignored = outcome.kind, outcome.kind.presentation.ignored
    if ignored is not None and ignored(outcome):
        return ()
    path = outcome.sources[0].name if outcome.sources else outcome.session.path
    name = outcome.session.files.system.name_of(path) if file is None else file
    reading = reading or reading_of(outcome)
    if not reading.unknown:
        # Without its header an agent is not there, or has no restriction; other files say nothing.
        is_agent = name_and_sort(kind, {}, name)[1] == "agent"
        table = convention_of(kind.name)
        counts_without = table is not None and table.header_optional
        if reading.is_dropped and is_agent and not counts_without:
            return ()
        reaches = reach_of_value(kind, reading.counted_value, name, usual_modes=usual_modes)
        return _drop_idle_guards(reaches, outcome)
    own, sort = name_and_sort(kind, reading.value or {}, name)
    program = program_of_file(kind, name)
    everything = (Grant("tool", EVERYTHING, "allows", name),)
    return (Reach(own, sort, kind.name, program, name, everything, unknown=reading.unknown),)


def _drop_idle_guards(reaches: tuple[Reach, ...], outcome: Outcome) -> tuple[Reach, ...]:
    code = codes.HOOK_NEVER_FIRES.name
    idle = [parse_path(each.path)[:-1] for each in outcome.errors if each.code == code]
    if not idle:
        return reaches
    return tuple(
        msgspec.structs.replace(
            reach,
            grants=tuple(
                each
                for each in reach.grants
                if each.sort != "guard" or all(each.path[: len(path)] != path for path in idle)
            ),
        )
        for reach in reaches
    )


# A folder.

#: What an agent inherits: everything but who else there is.
_INHERITED_SORTS = frozenset(
    {"settings", "servers", "hooks", "policy", "plugin", "extension", "modes"}
)
#: What says something about the main agent of a folder: plugins count where they are installed.
_SORTS_OF_MAIN_AGENT = _INHERITED_SORTS - {"plugin", "extension"}
#: What is or gives a row of its own.
_SORTS_WITH_ROW = _SORTS_OF_MAIN_AGENT | {"agent"}
#: What the main agent uses: what these grant holds for it.
_SORTS_USED = frozenset({"skill", "command", "prompt", "workflow"})
#: The clients that kinds name; several read instructions.
_CLIENTS = {each.tool for kind, each in KINDS.items() if each.title and kind != "instructions"}
#: The client of a file that any of them may read.
ANY_CLIENT = "any client"
#: Folders of clients: what lies beside one is the project that it configures.
CLIENT_FOLDERS = frozenset(
    {".claude", ".codex", ".gemini", ".qwen", ".opencode", ".cursor", ".github", ".vscode", ".roo"}
    | {".kiro", ".zed", ".amp", ".agents", ".defect", ".windsurf", "skills", "agents", ".copilot"}
)


def _has_table(kind: str) -> bool:
    """Whether files of a kind are those of clients, lists of servers aside."""
    return kind in KINDS and bool(KINDS[kind].title)


def read_folder(
    outcomes: Iterable[Outcome], guesses: Iterable[Outcome] = (), given: Iterable[Reach] = ()
) -> list[Reach]:
    """The reaches of the files of a folder, merged as clients merge them: main agents first, and
    each agent with what its project gives it.

    A client of which there is but a skill, a command or a text has a main agent, too. `guesses`
    are files that no place makes those of a client; `given` is what no outcome says.
    """
    readings = [(each, reading_of(each)) for each in outcomes]
    readings += ((each, reading_of_guess(each)) for each in guesses)
    reaches = [*given, *(reach for each in readings for reach in reaches_of(*each))]
    rows = [each for each in reaches if each.sort in _SORTS_WITH_ROW]
    clients = [_client_of(each) for each, _ in readings if _has_table(each.kind.name)]
    # Those that more is known of come first, and what is deeper last.
    clients.sort(key=lambda each: (each.program == ANY_CLIENT, each.file.count("/")))
    granting = {each.file for each in reaches if each.sort in _SORTS_USED and _allows_any(each)}
    for client in clients:
        # Beside an agent, only what grants the main one something makes that one worth a row.
        others = (row for row in rows if row.sort != "agent" or client.file not in granting)
        if not any(_is_around(row, client) for row in others):
            rows.append(client)
            reaches.append(client)
    return add_inherited(reaches)


def _allows_any(reach: Reach) -> bool:
    return any(each.effect == "allows" and not each.default for each in reach.grants)


def _client_of(outcome: Outcome) -> Reach:
    """Settings of the client of a file that say nothing."""
    path = outcome.sources[0].name if outcome.sources else outcome.session.path
    file = outcome.session.files.system.name_of(path)
    program = program_of_file(outcome.kind, file)
    if program not in _CLIENTS:
        inside = file[len(configured_folder(file)) :].lstrip("/")
        named = (each for each in CLIENTS if inside.startswith(client_of(each).starts))
        program = next(named, ANY_CLIENT)
    return Reach(file, "settings", outcome.kind.name, program, file)


def _is_around(row: Reach, client: Reach) -> bool:
    """Whether something has a row for a client, in the same folder or around it."""
    base = configured_folder(row.file)
    is_inside = not base or f"{configured_folder(client.file)}/".startswith(f"{base}/")
    return is_inside and client.program in (row.program, ANY_CLIENT)


def add_inherited(reaches: Sequence[Reach]) -> list[Reach]:
    """The reaches, each agent's with what its project gives it, and those of main agents.

    Settings, servers and hooks count for the agents of their client in and below the folder that
    they configure; skills are there for every agent of a client that reads them.
    """
    giving = [each for each in reaches if each.sort in (*_INHERITED_SORTS, "skill", "command")]
    # The agents of a client in one folder inherit the same: one tuple for all of them.
    known: dict[tuple[str, str, bool], tuple[Grant, ...]] = {}
    found: list[Reach] = []
    for each in (*_main_agents(giving), *reaches):
        if each.sort not in (MAIN_AGENT, "agent", "team"):
            found.append(each)
            continue
        is_main = each.sort == MAIN_AGENT
        key = (each.program, configured_folder(each.file), is_main)
        if key not in known:
            known[key] = tuple(
                grant
                for other in giving
                if (not is_main or other.sort in ("skill", "command")) and _counts_for(each, other)
                for grant in _inheritable_grants(each, other)
            )
        found.append(msgspec.structs.replace(each, inherited=known[key]))
    return found


def main_agents(outcomes: Mapping[str, Outcome]) -> list[Reach]:
    """The agents that people talk to, named by their client and folder and not by a file.

    `outcomes` are by the name of their file, which two sides of a comparison share.
    """
    reaches = [reach for file, each in outcomes.items() for reach in reaches_of(each, file=file)]
    return [
        msgspec.structs.replace(
            each, file=configured_folder(each.file) or ".", name=f"{MAIN_AGENT} of {each.program}"
        )
        for each in _main_agents(reaches)
        if client_of(each.program).tools_by_activity or client_of(each.program).modes_by_activity
    ]


def _main_agents(giving: Iterable[Reach]) -> Iterator[Reach]:
    """The agents that people talk to, one for each client and folder with settings for it."""
    groups: dict[tuple[str, str], list[Reach]] = {}
    for each in giving:
        if each.sort in _SORTS_OF_MAIN_AGENT:
            key = each.program, configured_folder(each.file)
            groups.setdefault(key, []).append(each)
    for (program, _), layers in sorted(groups.items()):
        # Settings first; what lies deeper, and what is local, is above the rest.
        layers.sort(
            key=lambda each: (
                each.sort != "settings",
                each.file.count("/"),
                ".local." in each.file,
                each.file,
            )
        )
        first = layers[0]
        grants = tuple(merge_layers(layers, program))
        unknown = next((each.unknown for each in layers if each.unknown), "")
        yield Reach(
            *(MAIN_AGENT, MAIN_AGENT, first.kind, program, first.file, grants),
            precedence=first.precedence,
            unknown=unknown,
        )


def merge_layers(layers: Iterable[Reach], program: str) -> Iterator[Grant]:
    """The grants of all layers: lists are joined, of a mode the highest that is written counts."""
    client = client_of(program)
    kept: dict[object, Grant] = {
        tool: Grant("tool", tool, "allows", default=True) for tool in client.unasked_tools
    }
    usual = default_grants(_SETTINGS_OF_CLIENTS.get(program, ""))
    for each in (*usual, *(grant for layer in layers for grant in layer.grants)):
        key: object = (each.sort, each.mode) if each.level is not None else (each.sort, each.name)
        if each.level is None and not each.base:
            key = (key, each.effect, each.file, each.path)
        if key not in kept or not each.default:
            kept[key] = each
    base = kept.get(("tool", EVERYTHING))
    if base is None or base.effect != "denies":
        yield from kept.values()
        return
    # Only the tools in a list are there; those that would not be asked about are not there, either.
    for key, each in kept.items():
        is_entry = each.path[: len(base.path)] == base.path and each.effect == "asks"
        if is_entry and client.aliases.get(each.name, each.name) in client.unasked_tools:
            yield msgspec.structs.replace(each, effect="allows")
        elif not isinstance(key, str):
            yield each


def _counts_for(agent: Reach, other: Reach) -> bool:
    """Whether what a file says counts for an agent."""
    base = configured_folder(other.file)
    inside = other.file[len(base) :].lstrip("/")
    same = other.program == agent.program or inside.startswith(client_of(agent.program).also_reads)
    return same and (not base or f"{configured_folder(agent.file)}/".startswith(f"{base}/"))


def _inheritable_grants(agent: Reach, other: Reach) -> Iterator[Grant]:
    if other.sort == "skill":
        yield Grant("skill", other.name, "allows", other.file)
    if other.sort in ("skill", "command"):
        counts = agent.sort == MAIN_AGENT and client_of(agent.program).headers_allow_tools
        allowed = (each for each in other.grants if each.sort == "tool" and not each.default)
        yield from allowed if counts else ()
        return
    yield from (each for each in other.grants if not each.default)


def configured_folder(file: str) -> str:
    """The folder that a file configures: the one around the first folder of a client."""
    folder = client_folder(file)
    return posixpath.dirname(folder) if posixpath.basename(folder) in CLIENT_FOLDERS else folder


def client_folder(file: str) -> str:
    """The first folder of a client around a file; without one, the folder that it lies in."""
    parts = posixpath.dirname(file).split("/")
    ends = [number for number, part in enumerate(parts) if part in CLIENT_FOLDERS]
    return "/".join(parts[: ends[0] + 1] if ends else parts)
