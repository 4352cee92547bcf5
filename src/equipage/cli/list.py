"""`equipage list`: what there is, from which layer, and what shadows what."""

from __future__ import annotations

import argparse
from typing import Any

from equipage.cli.main import FOUND, OK, USAGE
from equipage.cli.output import Output
from equipage.cli.request import request_of
from equipage.render.text import table
from equipage.views.listing import Listed, PortableAgent, list_all, list_portable


def run(options: argparse.Namespace, output: Output) -> int:
    return _portable(options, output) if options.portable else _list(options, output)


def _portable(options: argparse.Namespace, output: Output) -> int:
    """For each agent, the tools that would read it as it is, and what stands in the way of the others."""
    agents = list_portable(options.paths, request_of(options), kind=options.kind)
    if options.output_format == "json":
        output.json({"version": 1, "agents": [_agent_to_dict(each) for each in agents]})
    elif agents:
        rows = [
            (
                agent.name if not number else "",
                each.tool,
                "yes" if each.reads else "no",
                "; ".join(each.obstacles),
            )
            for agent in agents
            for number, each in enumerate(agent.tools)
        ]
        output.data(table(("AGENT", "TOOL", "READS IT", "IN THE WAY"), rows, output.style()))
    if not agents:
        output.note("equipage: found no agents; name a file, or a folder that holds some")
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


def _list(options: argparse.Namespace, output: Output) -> int:
    rows = list_all(options.paths, request_of(options), kind=options.kind)
    if options.output_format == "json":
        output.json({"version": 1, "items": [_to_dict(row) for row in rows]})
    elif rows:
        output.data(table(_HEAD, [_columns(row) for row in rows], output.style()))
    if not rows:
        output.note("equipage: found nothing to list; name a file, or a kind with --kind")
        return USAGE
    bad = list(dict.fromkeys(row.file for row in rows if row.errors))
    if bad:
        what = "1 file has" if len(bad) == 1 else f"{len(bad)} files have"
        output.note(
            f"equipage: {what} errors, see: equipage check {_named(bad)}{_flag(options.kind)}"
        )
    return FOUND if bad else OK


def _named(files: list[str]) -> str:
    """The files by name: some are the user's own, which a check of the project does not look at."""
    rest = len(files) - _MOST_NAMED
    return " ".join(files[:_MOST_NAMED]) + (f" and {rest} more" if rest > 0 else "")


def _flag(kind: str | None) -> str:
    return "" if kind is None else f" --kind {kind}"


_MOST_NAMED = 5
_HEAD = ("KIND", "SORT", "NAME", "LAYER", "FILE", "SHADOWED BY", "DESCRIPTION")


def _columns(row: Listed) -> tuple[str, ...]:
    place = (
        f"{row.file}:{row.line}"
        if row.line is not None and row.item is not None and row.item.path
        else row.file
    )
    kind, layer, shadow = row.kind or "?", row.layer or "", row.shadowed_by or ""
    if row.item is None:
        return kind, "", "", layer, place, shadow, _trouble(row)
    return (
        kind,
        row.item.sort,
        row.item.name,
        layer,
        place,
        shadow,
        _first_line(row.item.description or ""),
    )


def _trouble(row: Listed) -> str:
    if not row.errors:
        return "(not read: a link out of the project)"
    return "(1 error)" if row.errors == 1 else f"({row.errors} errors)"


def _first_line(text: str) -> str:
    return next((line.strip() for line in text.splitlines() if line.strip()), "")


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
