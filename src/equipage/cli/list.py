"""`equipage list`: agents, tools and servers, the layer of each, and what shadows it.

With `--portable`: which programs can read each agent as it is.
"""

from __future__ import annotations

import argparse
from typing import Any

from equipage.cli.main import FOUND, OK, USAGE
from equipage.cli.output import Output
from equipage.cli.request import NOTHING_FOUND, request_of
from equipage.render.text import table
from equipage.views.listing import Listed, list_all
from equipage.views.portability import PortableAgent, list_portable

_HEAD = ("KIND", "SORT", "NAME", "LAYER", "FILE", "SHADOWED BY", "DESCRIPTION")
#: How many files with errors a note names; it counts the others.
_NAMED = 5


def run(options: argparse.Namespace, output: Output) -> int:
    if options.portable:
        return _portable(options, output)
    rows = list_all(options.paths, request_of(options), kind=options.kind)
    if options.output_format == "json":
        output.json({"version": 1, "items": [_to_dict(row) for row in rows]})
    elif rows:
        output.data(table(_HEAD, [_columns(row) for row in rows], output.style()))
    if not rows:
        output.note(NOTHING_FOUND)
        return USAGE
    # A file has a row for each item, so its name comes up more than once.
    bad = list(dict.fromkeys(row.file for row in rows if row.errors))
    if bad:
        # Named one by one: some are in the user's layer, which a check of the project leaves out.
        names = " ".join(bad[:_NAMED])
        flag = "" if options.kind is None else f" --kind {options.kind}"
        more = f" (and {len(bad) - _NAMED} more)" if len(bad) > _NAMED else ""
        what = "1 file has" if len(bad) == 1 else f"{len(bad)} files have"
        output.note(f"equipage: {what} errors; run `equipage check {names}{flag}`{more}")
    return FOUND if bad else OK


def _columns(row: Listed) -> tuple[str, ...]:
    kind, layer, shadow = row.kind or "?", row.layer or "", row.shadowed_by or ""
    item = row.item
    if item is None:
        errors = "(1 error)" if row.errors == 1 else f"({row.errors} errors)"
        trouble = errors if row.errors else "(not read: a link out of the project)"
        return kind, "", "", layer, row.file, shadow, trouble
    # The line is worth showing only for an item inside a file, not for the file as a whole.
    place = f"{row.file}:{row.line}" if row.line is not None and item.path else row.file
    lines = (line.strip() for line in (item.description or "").splitlines())
    first = next((line for line in lines if line), "")
    return kind, item.sort, item.name, layer, place, shadow, first


def _to_dict(row: Listed) -> dict[str, Any]:
    item = row.item
    return {
        "file": row.file,
        "line": row.line,
        "kind": row.kind,
        "sort": item.sort if item is not None else None,
        "name": item.name if item is not None else None,
        "description": item.description if item is not None else None,
        "layer": row.layer,
        "shadowed_by": row.shadowed_by,
        "ok": not row.errors,
        "errors": row.errors,
        "warnings": row.warnings,
    }


def _portable(options: argparse.Namespace, output: Output) -> int:
    """For each agent, which programs can read it unchanged, and what prevents the others."""
    agents = list_portable(options.paths, request_of(options), kind=options.kind)
    if options.output_format == "json":
        output.json({"version": 1, "agents": [_agent_to_dict(each) for each in agents]})
    elif agents:
        rows = [
            (
                "" if number else agent.name,
                each.tool,
                "yes" if each.reads else "no",
                "; ".join(each.obstacles),
            )
            for agent in agents
            for number, each in enumerate(agent.tools)
        ]
        output.data(table(("AGENT", "TOOL", "READS IT", "OBSTACLES"), rows, output.style()))
    if not agents:
        output.note("equipage: no agents found; name a file or a folder that contains some")
    return OK if agents else USAGE


def _agent_to_dict(agent: PortableAgent) -> dict[str, Any]:
    return {
        "file": agent.file,
        "kind": agent.kind,
        "name": agent.name,
        "tools": [
            {
                "tool": each.tool,
                "reads": each.reads,
                "place": each.place,
                "obstacles": list(each.obstacles),
                "ignored": list(each.ignored),
            }
            for each in agent.tools
        ],
    }
