"""`equipage reach`: what agents may do, and the place that says so."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from equipage.cli import OK
from equipage.cli.arguments import (
    FORMATS,
    Parser,
    add_format_option,
    add_loading_options,
    add_output_option,
)
from equipage.cli.output import Output
from equipage.cli.request import NOTHING_FOUND, workspace_of
from equipage.clients.catalogue import ACTIVITIES, client_of
from equipage.clients.grants import Grant, Reach
from equipage.clients.index import CLIENTS
from equipage.clients.plugins import EDITOR_SETTINGS, Part
from equipage.clients.reading import MAIN_AGENT, read_folder, reading_of
from equipage.clients.unread import EDITOR, unread_sort
from equipage.core.diagnostics import UsageError
from equipage.core.text import nearest, visible
from equipage.effect.reach import Answer, Column, Matrix, answer, matrices, reaches_of_part
from equipage.files import System
from equipage.files.walking import is_ignored
from equipage.render.page import Places, places_of
from equipage.render.text import Style, table
from equipage.workspace.load import FileLoad

if TYPE_CHECKING:
    import argparse

    from equipage.workspace import Workspace

_WORDS = {"allows": "yes", "partly": "partly", "asks": "asks", "denies": "no", "unknown": "unknown"}
_ROLES = {
    "allows": "warning",
    "unknown": "warning",
    "partly": "warning",
    "asks": "note",
    "denies": "help",
}
#: What the table calls the activities.
#: What a client documents and no run without a person showed; the wider of the two counts.
_DOCUMENTED_ONLY = ("permissionMode = ", "permissions.defaultMode = bypassPermissions")
_COLUMN_NAMES = dict(zip(ACTIVITIES, ("READS", "WRITES", "RUNS", "NETWORK", "AGENTS"), strict=True))
#: How many servers a row of the table names.
_MAX_SERVERS_NAMED = 4
#: How many files with errors a note names.
_MAX_FILES_NAMED = 5
_UNSEEN_NOTE = " (documented, not seen headless)"
_EXCLUDED_NOTE = "equipage: nothing looked at: the settings of equipage leave files out; name them"
_DEFAULTS_NOTE = "* by default: no file says so"

AgentRow = tuple[Matrix, Reach, tuple[Answer | None, ...]]


def declare(parser: Parser) -> None:
    parser.describe(
        "Show what the agents below PATH may do: files, commands, network, MCP servers. With "
        "AGENT, or with --why, each answer comes with the file, line and field that decide it.",
        ("equipage reach", "every agent below this folder"),
        ("equipage reach reviewer", "one agent, with the places that say so"),
        ('equipage reach reviewer --why "write files"', "why it may write files, or may not"),
        ("equipage reach --why Bash", "which agents may use a tool, and why"),
    )
    parser.add_argument(
        "words",
        nargs="*",
        metavar="AGENT|PATH",
        help="the name of an agent, then files and folders (default: .)",
    )
    parser.add_argument(
        "--why",
        metavar="WHAT",
        help="only this: read, write, run, network, or a tool, a server, a skill",
    )
    add_loading_options(parser, layers=False)
    add_format_option(parser, FORMATS)
    add_output_option(parser)


def run(options: argparse.Namespace, output: Output) -> int:
    name, paths = _split_agent_and_paths(options.words)
    workspace = workspace_of(options, paths)
    ignored = [] if options.kind else [*_ignored_settings(workspace)]
    if ignored:
        names = " ".join(map(workspace.system.name_of, ignored))
        output.note(f"equipage: git ignores it, its client reads it, so it counts: {names}")
    editors = [each for each in ignored if unread_sort(each.replace(os.sep, "/")) == EDITOR]
    if len(ignored) > len(editors):
        more = (each for each in ignored if each not in editors)
        workspace = workspace_of(options, [*paths, *more])
    found = workspace.loads(unread=True)
    editors += [each.path for each in found if each.unread == EDITOR]
    outcomes = [each.outcome for each in found if each.outcome is not None]
    reaches = read_folder(outcomes, _reaches_of_editors(editors, workspace.system))
    agents: list[AgentRow] = [
        (matrix, agent, answers)
        for matrix in matrices(reaches)
        for agent, answers in zip(matrix.agents, matrix.answers, strict=True)
    ]
    if not (agents or any(each.unread is None for each in found)):
        if not _note_unknown(found, workspace.system, output):
            hides = any(each.leaves_out_any for each in workspace.contents.projects)
            output.note(_EXCLUDED_NOTE if hides else NOTHING_FOUND)
        return OK
    chosen = _select_agents(agents, name)
    if options.why is not None:
        chosen = [each for each in chosen if _answers(each, options.why)]
        if agents and not chosen:
            raise UsageError(f"nothing is known about `{options.why}`; run `equipage reach`")
    places = places_of(outcomes, reaches)
    if options.output_format == "json":
        rows = [_to_dict(each, places, options.why) for each in chosen]
        output.write_json({"version": 1, "agents": rows})
    elif name is not None or options.why is not None:
        style = output.style()
        blocks = ("\n".join(_agent_lines(each, places, options.why, style)) for each in chosen)
        output.write_data("\n\n".join(blocks) + "\n" if chosen else "")
    elif chosen:
        _write_table(chosen, output)
    if not _note_unknown(found, workspace.system, output) and not agents:
        output.note("equipage: no agents found; name a file or a folder that contains some")
    return OK


def _ignored_settings(workspace: Workspace) -> Iterator[str]:
    """The settings of clients that git ignores, and so a walk does, in its folders."""
    system, found = workspace.system, workspace.contents
    walked = {system.absolute(each.path) for each in found.files if not each.named}
    names = [name for client in CLIENTS for name in client_of(client).local_settings]
    for folder in sorted(found.configured_folders):
        for name in names:
            path = os.path.join(folder, name)
            is_new = path not in walked and system.is_file(path)
            if is_new and any(is_ignored(each, system) for each in (path, os.path.dirname(path))):
                yield path


def _reaches_of_editors(files: Sequence[str], system: System) -> Iterator[Reach]:
    """What the settings of editors say about agents, among much else."""
    for path in files:
        part = Part(path, EDITOR, EDITOR_SETTINGS)
        for reach in reaches_of_part(part, system.peek(path) or b"", system.name_of(path)):
            if any(not grant.default for grant in reach.grants):
                yield reach


def _note_unknown(found: Sequence[FileLoad], system: System, output: Output) -> bool:
    """Say which files do not count as they are written, and last of which that is not known.

    Whether there are any.
    """
    otherwise, unknown = [], []
    unread = [each.path for each in found if each.unread not in (None, EDITOR)]
    for each in found:
        name = system.name_of(each.path)
        errors = [
            problem.message
            for problem in each.diagnostics
            if problem.severity == "error" or (each.outcome is None and each.unread is None)
        ]
        if errors and each.outcome is not None and not reading_of(each.outcome).unknown:
            otherwise.append(name)
        elif errors:
            unknown.append(f"equipage: unknown: assume everything: {name}: {errors[0]}")
    for what, names in (
        ("with errors, read as its client reads it", otherwise),
        ("not read here, and may decide", [*map(system.name_of, unread)]),
    ):
        if names:
            more = len(names) - _MAX_FILES_NAMED
            rest = f" and {more} more" if more > 0 else ""
            output.note(f"equipage: {what}: {' '.join(names[:_MAX_FILES_NAMED])}{rest}")
    for line in unknown:
        output.note(line)
    return bool(otherwise or unread or unknown)


def _split_agent_and_paths(words: Sequence[str]) -> tuple[str | None, list[str]]:
    """Split the arguments into an agent and paths; a first word that is not a path is an agent."""
    name = words[0] if words and not os.path.lexists(words[0]) else None
    if name is not None and ("/" in name or "*" in name):
        raise UsageError(f"{name}: no such file or folder")
    paths = list(words if name is None else words[1:])
    return name, paths or ["."]


def _select_agents(agents: Sequence[AgentRow], name: str | None) -> list[AgentRow]:
    """The agents of a name, all without one. Raises `UsageError` with the nearest name."""
    if name is None:
        return list(agents)
    chosen = [each for each in agents if each[1].name == name]
    if not chosen:
        guess = nearest(name, (agent.name for _, agent, _ in agents))
        hint = f"did you mean `{guess}`?" if guess else "run `equipage reach` to list all agents"
        raise UsageError(f"there is no agent or path `{name}`; {hint}")
    return chosen


# ------------------------------------------------------------------------------------- all agents


def _write_table(chosen: Sequence[AgentRow], output: Output) -> None:
    known = [name for name in ACTIVITIES if any(_cell(each, name) for each in chosen)]
    head = ("AGENT", "CLIENT", *(_COLUMN_NAMES[name] for name in known), "SERVERS", "FILE")
    files: dict[tuple[str, ...], list[str]] = {}
    for found in chosen:
        matrix, agent, answers = found
        cells = (*(_cell(found, name) for name in known), _servers(matrix, answers))
        # Main agents of several folders may do the same: they are one row.
        own = agent.file if agent.sort != MAIN_AGENT else ""
        files.setdefault((agent.name, agent.program, *cells, own), []).append(agent.file)
    rows = [(*row[:-1], _shorten(names, 1)) for row, names in files.items()]
    output.write_data(table(head, rows, output.style()))
    if any("*" in cell for row in rows for cell in row[2 : 2 + len(known)]):
        output.note(_DEFAULTS_NOTE)


def _cell(found: AgentRow, activity: str) -> str:
    matrix, _, answers = found
    for column, each in zip(matrix.columns, answers, strict=True):
        if column == Column("activity", activity) and each is not None:
            return _answer_word(each)
    return ""


def _answer_word(each: Answer) -> str:
    return _WORDS[each.state] + ("*" if each.is_default else "")


def _servers(matrix: Matrix, answers: Sequence[Answer | None]) -> str:
    names = [
        column.name
        for column, each in zip(matrix.columns, answers, strict=True)
        if column.sort == "server" and each is not None and each.state != "denies"
    ]
    return _shorten(names, _MAX_SERVERS_NAMED)


def _shorten(names: Sequence[str], most: int) -> str:
    """Some of the names, and how many more there are."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


# -------------------------------------------------------------------------------------- one agent


def _answers(found: AgentRow, why: str | None) -> list[tuple[Column, Answer]]:
    """The answers about one agent; with `why`, only those about that."""
    matrix, agent, answers = found
    said = [
        (column, each)
        for column, each in zip(matrix.columns, answers, strict=True)
        if each is not None
    ]
    if why is None:
        return said
    wanted = why.strip().lower()
    activities = [
        each
        for each in said
        if each[0].sort == "activity" and wanted in (each[0].name, *each[0].name.split())
    ]
    if activities:
        return activities
    exact = [each for each in said if each[0].name.lower() == wanted]
    # A tool that no file names has an answer, too.
    tool = Column("tool", why.strip())
    asked = answer(agent, tool)
    return exact or ([] if asked is None else [(tool, asked)])


def _agent_lines(found: AgentRow, places: Places, why: str | None, style: Style) -> Iterator[str]:
    _, agent, _ = found
    yield f"{style.paint('bold', visible(agent.name))} ({agent.program}) {visible(agent.file)}"
    sort = ""
    for column, each in _answers(found, why):
        if column.sort not in ("activity", sort) and why is None:
            sort = column.sort
            yield f"  {_GROUP_TITLES[sort]}"
        said = each.value if column.sort == "mode" else _WORDS[each.state]
        word = style.paint(_ROLES.get(each.state, "bold"), said)
        margin = "    " if sort else "  "
        yield f"{margin}{visible(column.name)}: {word}"
        yield from (f"{margin}    {line}" for line in _reason_lines(each.reasons, places, style))


_GROUP_TITLES = {"mode": "modes", "tool": "tools", "server": "MCP servers", "skill": "skills"}
#: How many reasons for one answer are printed.
_MAX_REASONS = 6


def _reason_lines(reasons: Sequence[Grant], places: Places, style: Style) -> Iterator[str]:
    for each in reasons[:_MAX_REASONS]:
        # A mode says itself what is asked, allowed and denied.
        effect = "" if each.sort == "mode" else f"{each.effect} "
        what = f"{effect}{each.sort} {visible(each.name)}"
        if each.default:
            of = f" of `{each.field}`" if each.field else ""
            yield f"{what}: no file says so, it is the default{of}"
            continue
        place = style.paint("place", visible(_place(each, places)))
        field = f" at {visible(each.field)}" if each.field else ""
        seen = _UNSEEN_NOTE if each.name.startswith(_DOCUMENTED_ONLY) else ""
        yield f"{what}: {place}{field}{seen}"
    if len(reasons) > _MAX_REASONS:
        yield f"and {len(reasons) - _MAX_REASONS} more"


def _place(grant: Grant, places: Places) -> str:
    found = places.get((grant.file, grant.field))
    return grant.file if found is None else f"{found.file}:{found.line}:{found.column}"


# ------------------------------------------------------------------------------------------- data


def _to_dict(found: AgentRow, places: Places, why: str | None) -> dict[str, Any]:
    _, agent, _ = found
    groups: dict[str, dict[str, Any]] = {}
    for column, each in _answers(found, why):
        groups.setdefault(column.sort, {})[column.name] = {
            "state": each.state,
            "default": each.is_default,
            "value": each.value or None,
            "reasons": [_reason_to_dict(grant, places) for grant in each.reasons],
        }
    return {
        "name": agent.name,
        "client": agent.program,
        "kind": agent.kind,
        "file": agent.file,
        "may": groups.get("activity", {}),
        **{f"{sort}s": groups.get(sort, {}) for sort in _GROUP_TITLES},
    }


def _reason_to_dict(grant: Grant, places: Places) -> dict[str, Any]:
    found = places.get((grant.file, grant.field))
    return {
        "effect": grant.effect,
        "sort": grant.sort,
        "name": grant.name,
        "file": grant.file if found is None else found.file,
        "line": None if found is None else found.line,
        "column": None if found is None else found.column,
        "field": grant.field,
        "default": grant.default,
    }
