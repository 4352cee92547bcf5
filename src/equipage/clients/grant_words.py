"""What a field grants, in the words of the tables of clients.

A table has `[[grants]]` for each thing in its files that has a reach: the file itself, or each of
the agents in it. A row begins with a word and names a field, or several that mean the same:
`{ allows = "permissions/allow" }`. A field inside others is written with `/`; `*` is every key or
entry. What else a row says is a field of `Row`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any

import msgspec
from msgspec.structs import replace

from equipage.clients.catalogue import Table, TableFile, refuse, table_file
from equipage.clients.claude.permissions import ListName, rule_problem
from equipage.clients.copilot import read_tools
from equipage.clients.grant_rows import (
    Row,
    read_access_levels,
    read_actions,
    read_any_change,
    read_commands,
    read_commands_in_text,
    read_disabled,
    read_explicit_actions,
    read_file_names,
    read_hooks,
    read_host,
    read_leaves,
    read_limit,
    read_mode,
    read_names,
    read_names_among,
    read_other_keys,
    read_rules,
    read_servers,
    read_sources,
    read_variables,
)
from equipage.clients.grants import EVERYTHING, Grant, Precedence
from equipage.clients.opencode.permissions import is_dead
from equipage.core.path import Path

# What only one client has.


def _read_live_rules(row: Row, value: Any, path: Path) -> Iterator[Grant]:
    """The rules that can match: what a dead one forbids is allowed."""
    listed: ListName = "deny" if row.effect == "denies" else "ask"
    for each in read_names(row, value, path):
        if "(!" in each.name:  # it takes away from the rules before it
            yield replace(each, sort="setting", effect="allows")
        elif rule_problem(each.name, listed) is None:
            yield each
        elif listed == "ask" and rule_problem(each.name, "deny") is None:
            # It is documented to ask, and was not seen to: only that it goes counts.
            yield Grant("guard", f"ask {each.name}", "denies", path=each.path)


def _read_live_actions(row: Row, value: Any, path: Path) -> Iterator[Grant]:
    """The rules that can match: what a dead one forbids is allowed."""
    for each in read_actions(row, value, path):
        if each.effect == "allows" or not is_dead(*map(str, each.path[len(path) :] or "*")):
            yield each


def _read_whole_tools(row: Row, value: Any, path: Path) -> Iterator[Grant]:
    """Names of tools; a pattern behind one has no effect, but for names of agents."""
    for each in read_names(row, value, path):
        tool, bracket, _ = each.name.partition("(")
        is_whole = bool(bracket) and tool.isalnum() and tool not in ("Agent", "Task")
        yield replace(each, name=tool) if is_whole else each


# The words of rows.

_ONLY = {"read": read_names, "otherwise": "denies", "absent": "allows"}
_SWITCH = {"read": read_mode, "sort": "mode", "default": False}
_LEAVES = {"read": read_leaves, "sort": "setting"}
#: How a row is written in a table → what it is. A field inside others is written with `/`.
WORDS: dict[str, dict[str, Any]] = {
    # A list of all that is allowed: the rest is denied. If absent, `absent` holds for all.
    "allows_only": _ONLY,
    # The same of a field without which nothing is said.
    "allows_listed": {"read": read_names, "otherwise": "denies"},
    # The only values that a choice may have. If absent, it may have any.
    "only_values": {**_LEAVES, "otherwise": "denies", "absent": "allows"},
    # A list of what is allowed without approval, or in addition; what must be asked; what is
    # denied. In a `plain` list, a star has no special meaning.
    "allows": {"read": read_names},
    "asks": {"read": read_names, "effect": "asks"},
    "denies": {"read": read_names, "effect": "denies"},
    # The effect (`absent`) for a sort of things, or for one of them, that no field sets.
    "usually": {"read": read_names},
    # One of a few values, from narrow to wide.
    "mode": {"read": read_mode, "sort": "mode"},
    # A switch that lets more through if it is on; if it is off.
    "widens": {**_SWITCH, "order": (False, True)},
    "narrows": {**_SWITCH, "order": (True, False)},
    # An action for everything, for each tool, or for each pattern of a tool, as OpenCode reads
    # them: some never match.
    "actions_by_rules": {"read": _read_live_actions},
    # Those that allow, as such: written in a project, they undo what the user forbids.
    "explicit_actions": {"read": read_explicit_actions, "sort": "setting"},
    # MCP servers by name, or the names of servers; `default` is what holds for their tools.
    "servers": {"read": read_servers, "sort": "server", "default": "asks"},
    # A number that limits: less is narrower.
    "limits": {"read": read_limit, "sort": "mode"},
    # Programs that run at events, some of which can stop a call; `default` is the longest time that
    # one has which says nothing.
    "hooks": {"read": read_hooks, "sort": "program"},
    # A command, or several; commands inside a text that run when the text is used.
    "runs": {"read": read_commands, "sort": "program"},
    "runs_commands_in": {"read": read_commands_in_text, "sort": "program"},
    # A list of rules, each about a tool or several and with a decision.
    "rules": {"read": read_rules},
    # A table of which each value counts as allowed: what it means is not known.
    "allows_each_value": _LEAVES,
    # A field of which only some values count, by the ends of their names (`among`).
    "allows_names_among": {**_LEAVES, "read": read_names_among},
    # A field that only restricts, so that nothing is said where it is absent.
    "guards": {**_LEAVES, "sort": "guard", "effect": "denies"},
    # A table whose values may allow or forbid: any change of it counts as widening.
    "any_change_widens": {**_LEAVES, "read": read_any_change},
    # Keys at the top by their starts (`among`), but for those that other rows are about.
    "other_keys": {**_LEAVES, "read": read_other_keys},
    # What GitHub lets a token do: `none`, `read` or `write`, by what it is about or for all.
    "access_levels": {"read": read_access_levels, "sort": "mode"},
    # Variables for programs; of some, the value counts as well. Those in `known` allow nothing.
    "variables": {"read": read_variables, "sort": "variable"},
    # Where plugins come from: without its version, the same place may bring something else.
    "sources": {**_LEAVES, "read": read_sources},
    # An address that requests go to.
    "hosts": {"read": read_host, "sort": "host"},
    # Paths of files; a table in place of a path is the content of such a file.
    "file_names": {"read": read_file_names, "sort": "program"},
    # A field that is `false` to disable a feature.
    "disabled_when_false": {"read": read_disabled, "sort": "guard", "effect": "denies"},
    # Lists of Claude Code: rules, of which some never match; names of whole tools.
    "asks_by_rules": {"read": _read_live_rules, "effect": "asks"},
    "denies_by_rules": {"read": _read_live_rules, "effect": "denies"},
    "allows_only_whole": {**_ONLY, "read": _read_whole_tools},
    "denies_whole": {"read": _read_whole_tools, "effect": "denies"},
    # A list of GitHub Copilot: a tool has several names.
    "allows_only_by_any_name": {**_ONLY, "read": read_tools},
}


#: Without what a value cannot be read.
_NEEDED = {read_mode: "order", read_rules: "rule", read_commands_in_text: "pattern"}


def make_row(word: str, field: str, **given: Any) -> Row:
    """The row of a word. `usually` is about a sort of things, not a field."""
    refuse(given, "at", "read")
    settings = {"at": tuple(field.split("/")), **WORDS[word], **given}
    needed = "absent" if word == "usually" else _NEEDED.get(settings["read"])
    if needed is not None and not settings.get(needed):
        raise LookupError(f"`{word}` needs `{needed}`")
    if settings.get("otherwise") and settings.get("absent") == "asks":
        # What is asked about without a list is still asked about if it is in it.
        settings.setdefault("effect", "asks")
    if word == "usually":
        settings |= {"at": ("\0",), "sort": field}
    elif word == "only_values":
        settings["name"] = f"{field.replace('/', '.')} = {EVERYTHING}"
    return msgspec.convert(settings, Row)


class Subject(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Something in a file that has a reach: the file itself, or each of the agents in it."""

    rows: tuple[Row, ...]
    at: tuple[str, ...] = ()  #: the keys that lead to it; `*` is every key or entry
    sort: str = ""  #: what it is; empty: what `list` calls the file
    names: tuple[str, ...] = ("name", "id", "slug")  #: the fields that name an entry of a list
    precedence: Precedence = "strictest"


@cache
def subjects_in(file: str) -> tuple[Subject, ...]:
    """What has a reach in files of a table, by the path of the table."""
    return tuple(parse_subjects(table_file(file)))


def parse_subjects(table: TableFile) -> Iterator[Subject]:
    with table.locate("grants"):
        entries = msgspec.convert(table.content.get("grants", []), list[Table])
    for number, entry in enumerate(entries, 1):
        with table.locate(f"grants[{number}]"):
            rows = tuple(parse_rows(table, entry["rows"], f"grants[{number}].rows"))
            keys = tuple(each.at[0] for each in rows)
            rows = tuple(
                replace(row, known=row.known + keys) if row.read is read_other_keys else row
                for row in rows
            )
            yield msgspec.convert({**entry, "rows": rows}, Subject)


def parse_rows(
    table: TableFile, entries: Iterable[Table], place: str, below: str = ""
) -> Iterator[Row]:
    """The rows that entries describe: each has a word first, and with it a field or several."""
    for number, entry in enumerate(entries, 1):
        with table.locate(f"{place}[{number}]"):
            (word, fields), *more = msgspec.convert(entry, Table).items()
            options = dict(more)
            if word == "rows_of":
                file, found = table.find("rows", fields)
                below_them = below + options.pop("below", "")
                if options:
                    raise TypeError(f"`rows_of` takes no `{', '.join(options)}`")
                yield from parse_rows(file, found, f"rows.{fields}", below_them)
                continue
            if word not in WORDS:
                raise LookupError(f"there is no row `{word}`")
            for field in [fields] if isinstance(fields, str) else fields:
                yield make_row(word, below + field, **options)
