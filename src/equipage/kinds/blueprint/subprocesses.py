"""Commands that agents run in, and agents that run a program or a script of their own."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from equipage.diagnostics import Also, Change, Fact, Remedy, Shown, fact
from equipage.kinds.blueprint.parts import items
from equipage.kinds.blueprint.runners import Bound, Runners
from equipage.nearest import nearest
from equipage.path import Path
from equipage.session import Session
from equipage.tree import mapping

PLACEHOLDERS = ("system", "system_file", "prompt", "model", "tools_csv", "work_dir", "task_id", "attempt")
STREAM_MODES = ("ndjson_lines", "sse_events", "length_prefixed")
#: Any other braces are text, such as those of JSON.
_PLACEHOLDER = re.compile(r"\{([a-z_]+)\}")
_MCP = "mcp__"


def templates_are_usable(config: Any, _session: Session) -> Iterator[Fact]:
    """The templates in `subprocesses` name a command, known placeholders, and one way to read the output."""
    for number, template in items(mapping(config).get("subprocesses")):
        if isinstance(template, dict):
            path: Path = ("subprocesses", number)
            if template.get("argv") == []:
                yield fact("subprocess-without-command", (*path, "argv"), name=Shown(template.get("name")))
            yield from _placeholders(path, template)
            yield from _stream_mode((*path, "stream_mode"), template.get("stream_mode"))
            yield from _output(path, template)


def _placeholders(path: Path, template: dict[str, Any]) -> Iterator[Fact]:
    for place, text in _texts(path, template):
        for name in dict.fromkeys(_PLACEHOLDER.findall(text)) if isinstance(text, str) else ():
            if name not in PLACEHOLDERS:
                yield _unknown_placeholder(place, text, name)


def _unknown_placeholder(path: Path, text: str, name: str) -> Fact:
    written, guess = f"{{{name}}}", nearest(name, PLACEHOLDERS)
    if guess is None:
        known = tuple(f"{{{each}}}" for each in PLACEHOLDERS)
        return fact("subprocess-placeholder", path, name=Shown(written), known=known)
    meant = f"{{{guess}}}"
    remedy = Remedy(f"change to `{meant}`", (Change(path, text.replace(written, meant)),), safe=False)
    return fact("subprocess-placeholder", path, remedy=remedy, name=Shown(written), nearest=meant)


def _texts(path: Path, template: dict[str, Any]) -> Iterator[tuple[Path, Any]]:
    """What is filled in before the command runs."""
    for number, text in items(template.get("argv")):
        yield (*path, "argv", number), text
    for name, text in mapping(template.get("env")).items():
        yield (*path, "env", name), text
    for field in ("stdin", "cwd"):
        yield (*path, field), template.get(field)


def _output(path: Path, template: dict[str, Any]) -> Iterator[Fact]:
    """How the output is read: all of it as JSON, or as a stream."""
    output = template.get("output")
    if not isinstance(output, dict):
        return
    if isinstance(template.get("stream_mode"), str):
        also = Also("the other one", path=(*path, "output"), part="key")
        place = (*path, "stream_mode")
        yield fact("output-and-stream", place, part="key", also=[also], name=Shown(template.get("name")))
    for field, text, expected in (
        ("format", output.get("format"), "`json`"),
        ("result_ptr", output.get("result_ptr"), "a JSON Pointer, which starts with `/`"),
        ("ok_from", output.get("ok_from"), "`exit_code` or a JSON Pointer, which starts with `/`"),
    ):
        if isinstance(text, str) and not _fits(field, text):
            found = Shown(text, as_found=True)
            yield fact("subprocess-output", (*path, "output", field), field=field, found=found, expected=expected)


def _fits(field: str, text: str) -> bool:
    if field == "format":
        return text == "json"
    return text.startswith("/") or (field == "ok_from" and text == "exit_code")


def _stream_mode(path: Path, mode: Any) -> Iterator[Fact]:
    if isinstance(mode, str) and mode not in STREAM_MODES:
        guess = nearest(mode, STREAM_MODES)
        remedy = Remedy(f"change to `{guess}`", (Change(path, guess),), safe=False) if guess else None
        yield fact("stream-mode", path, remedy=remedy, found=Shown(mode), known=STREAM_MODES, nearest=guess)


# -------------------------------------------------------------------------------------------- agents without a template


def programs_stream_in_a_known_way(config: Any, _session: Session) -> Iterator[Fact]:
    """`stream_mode` of an agent that runs a program; with a runner its `spec` need not be read."""
    for number, agent in items(mapping(config).get("agents")):
        given = mapping(agent)
        if given.get("kind") == "subprocess" and not (given.get("runner") or given.get("runner_ref")):
            mode = mapping(given.get("spec")).get("stream_mode")
            yield from _stream_mode(("agents", number, "spec", "stream_mode"), mode)


def scripts_have_no_mcp_tools(config: Any, _session: Session) -> Iterator[Fact]:
    """A script gets no tools of MCP servers: an agent block with a script must not ask for them."""
    runners = Runners(config)
    for number, agent in items(mapping(config).get("agents")):
        given = mapping(agent)
        if given.get("kind") != "agent_block" or not isinstance(mapping(given.get("spec")).get("script_path"), str):
            continue
        path, tools = _tools(given, number, runners.of(number))
        for at, tool in items(tools):
            if isinstance(tool, str) and tool.startswith(_MCP):
                also = Also("the script", path=("agents", number, "spec", "script_path"))
                name = Shown(given.get("name"))
                yield fact("script-with-mcp-tools", (*path, at), also=[also], name=name, tool=Shown(tool))


def _tools(agent: dict[str, Any], number: int, bound: Bound | None) -> tuple[Path, Any]:
    """The tools of an agent block, and where they stand: a runner inside the host has its own, even if none.

    Of other runners it is not sure what they mean for an agent of this kind.
    """
    if bound is None or bound.is_binding:
        return ("agents", number, "profile", "tools"), mapping(agent.get("profile")).get("tools")
    inside = bound.runner.get("backend") == "agent_block_in_process"
    return (*bound.path, "tools"), bound.runner.get("tools") if inside else None
