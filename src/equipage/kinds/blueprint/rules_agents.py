"""Rules about what runs an agent: its runner, the `spec` of its kind, a command or a script."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import msgspec

from equipage.core.diagnostics import Also, Change, Fact, Remedy, Shown
from equipage.core.path import Path
from equipage.core.text import nearest
from equipage.kinds.blueprint import codes
from equipage.kinds.blueprint.rules import (
    Names,
    correction,
    entries,
    has_holes,
    items,
    level_of,
    names_in,
)
from equipage.loading.session import Session
from equipage.loading.tree import HOLE, get, mapping

#: The keys of `spec` without which an agent of a kind cannot start; one of them is enough.
_NEEDED = {
    "operator": ("operator_ref",),
    "subprocess": ("program",),
    "rust_fn": ("fn_id",),
    "lua": ("fn_id", "source"),
}
#: What a command may use when it runs.
_PLACEHOLDERS = (
    "system", "system_file", "prompt", "model", "tools_csv", "work_dir", "task_id", "attempt",
)  # fmt: skip
#: Any other braces are text, such as those of JSON.
_PLACEHOLDER = re.compile(r"\{([a-z_]+)\}")
_STREAM_MODES = ("ndjson_lines", "sse_events", "length_prefixed")
_POINTER = "a JSON Pointer, which starts with `/`"
#: How the output of a command is read: the field, the start of what it takes, and that in words.
_OUTPUT = (
    ("format", re.compile(r"json\Z"), "`json`"),
    ("result_ptr", re.compile("/"), _POINTER),
    ("ok_from", re.compile(r"/|exit_code\Z"), f"`exit_code` or {_POINTER}"),
)


# Runners.


class Bound(msgspec.Struct, frozen=True):
    """The runner of an agent. One that is named but does not exist is empty."""

    path: Path  #: where the runner is written
    runner: dict[str, Any]
    is_binding: bool = False  #: whether it is made of the profile: its `worker_binding` and tools

    @property
    def backend(self) -> Any:
        """What the agent runs on; a hole if that is unknown."""
        return "ws_claude_code" if self.is_binding else self.runner.get("backend", HOLE)


def runner_of(config: Any, runners: Names, path: Path, agent: dict[str, Any]) -> Bound | None:
    """The runner of the agent at `path`; None if it has none.

    The first of these counts: its own runner, the one it names, its worker binding, and the default
    of the blueprint.
    """
    name, profile = agent.get("runner_ref"), mapping(agent.get("profile"))
    if agent.get("runner") is not None:
        return Bound((*path, "runner"), mapping(agent["runner"]))
    if name is None and profile.get("worker_binding") is not None:
        return Bound((*path, "profile"), profile, is_binding=True)
    if name is None and (name := get(config, ("default_runner",))) is None:
        return None
    entry = runners.first.get(name) if isinstance(name, str) else None
    if entry is None:
        return Bound(("runners",), {})
    return Bound((*entry, "runner"), mapping(get(config, (*entry, "runner"))))


def strict_binding_binds(config: Any, _session: Session) -> Iterator[Fact]:
    """`strict_binding` is about runners: if no agent has one, it has no effect."""
    path = ("strategy", "strict_binding")
    agents, runners = list(entries(config, "agents")), names_in(config, "runners")
    if get(config, path) is not True or not agents or has_holes(get(config, ("agents",))):
        return
    lints = get(config, ("metadata", "lints"))
    level = level_of("strict-binding-without-runners", "suspicious", lints)
    if level != "allow" and not any(runner_of(config, runners, *each) for each in agents):
        yield codes.STRICT_BINDING_UNUSED.at(path)


# The `spec` of each kind.


def agents_have_what_their_kind_needs(config: Any, _session: Session) -> Iterator[Fact]:
    """The `spec` of an agent has the key without which its kind cannot start."""
    runners = names_in(config, "runners")
    for path, agent in entries(config, "agents"):
        name, kind, spec = agent.get("name"), agent.get("kind"), agent.get("spec")
        needed = _NEEDED.get(kind, ()) if isinstance(kind, str) else ()
        is_there = any(isinstance(get(spec, (key,)), str) for key in needed)
        if not needed or is_there or not isinstance(name, str) or has_holes(spec):
            continue
        # A subprocess may get its command from its runner, which is unknown without the profile.
        bound = runner_of(config, runners, path, agent)
        backend = HOLE if agent.get("profile") is HOLE else bound and bound.backend
        if kind == "subprocess" and backend in ("subprocess", HOLE):
            continue
        keys = "` or `".join(f"spec.{key}" for key in needed)
        yield codes.SPEC_INCOMPLETE.at((*path, "kind"), name=Shown(name), kind=kind, needed=keys)


def programs_stream_in_a_known_way(config: Any, _session: Session) -> Iterator[Fact]:
    """An agent that runs a program has a known `stream_mode`. Programs read the `spec` only if the
    agent has no runner."""
    for path, agent in entries(config, "agents"):
        has_runner = agent.get("runner") or agent.get("runner_ref")
        if agent.get("kind") == "subprocess" and not has_runner:
            place = (*path, "spec", "stream_mode")
            yield from _stream_mode(place, get(config, place))


def scripts_have_no_mcp_tools(config: Any, _session: Session) -> Iterator[Fact]:
    """Scripts get no tools of MCP servers, so an agent block with a script must not list them."""
    runners = names_in(config, "runners")
    for path, agent in entries(config, "agents"):
        script = (*path, "spec", "script_path")
        if agent.get("kind") != "agent_block" or not isinstance(get(config, script), str):
            continue
        tools = _tools_of_block(path, runner_of(config, runners, path, agent))
        for number, tool in items(get(config, tools)) if tools else ():
            if isinstance(tool, str) and tool.startswith("mcp__"):
                also, name = Also("the script", path=script), Shown(agent.get("name"))
                yield codes.SCRIPT_WITH_MCP_TOOLS.at(
                    (*tools, number), also=[also], name=name, tool=Shown(tool)
                )


def _tools_of_block(path: Path, bound: Bound | None) -> Path:
    """Where the tools of an agent block are listed; the root if that is uncertain.

    A runner inside the host has tools of its own, even if it lists none. What the tools of other
    runners mean for an agent block is not defined.
    """
    if bound is None or bound.is_binding:
        return (*path, "profile", "tools")
    return (*bound.path, "tools") if bound.backend == "agent_block_in_process" else ()


# Commands.


def templates_are_usable(config: Any, _session: Session) -> Iterator[Fact]:
    """Subprocesses have a command, known placeholders, and one way to read the output."""
    for path, template in entries(config, "subprocesses"):
        if template.get("argv") == []:
            name = Shown(template.get("name"))
            yield codes.SUBPROCESS_WITHOUT_COMMAND.at((*path, "argv"), name=name)
        for place, text in _texts(path, template):
            for name in dict.fromkeys(_PLACEHOLDER.findall(text)):
                if name not in _PLACEHOLDERS:
                    yield _unknown_placeholder(place, text, name)
        yield from _stream_mode((*path, "stream_mode"), template.get("stream_mode"))
        yield from _output(path, template)


def _texts(path: Path, template: dict[str, Any]) -> Iterator[tuple[Path, str]]:
    """The texts of a command whose placeholders are filled in before it runs."""
    env = mapping(template.get("env"))
    places: list[Path] = [("argv", number) for number, _ in items(template.get("argv"))]
    places += [*(("env", name) for name in env), ("stdin",), ("cwd",)]
    for place in places:
        text = get(template, place)
        if isinstance(text, str):
            yield (*path, *place), text


def _unknown_placeholder(path: Path, text: str, name: str) -> Fact:
    found, guess = f"{{{name}}}", nearest(name, _PLACEHOLDERS)
    if guess is None:
        known = tuple(f"{{{each}}}" for each in _PLACEHOLDERS)
        return codes.SUBPROCESS_PLACEHOLDER.at(path, name=Shown(found), known=known)
    meant = f"{{{guess}}}"
    change = Change(path, text.replace(found, meant))
    remedy = Remedy(f"change to `{meant}`", (change,), safe=False)
    return codes.SUBPROCESS_PLACEHOLDER.at(path, remedy=remedy, name=Shown(found), nearest=meant)


def _stream_mode(path: Path, mode: Any) -> Iterator[Fact]:
    if isinstance(mode, str) and mode not in _STREAM_MODES:
        guess = nearest(mode, _STREAM_MODES)
        yield codes.STREAM_MODE.at(
            path,
            remedy=correction(path, guess),
            found=Shown(mode),
            known=_STREAM_MODES,
            nearest=guess,
        )


def _output(path: Path, template: dict[str, Any]) -> Iterator[Fact]:
    """The output is read as one JSON text or as a stream, not both."""
    output = template.get("output")
    if not isinstance(output, dict):
        return
    if isinstance(template.get("stream_mode"), str):
        also = Also("the other one", path=(*path, "output"), part="key")
        place, name = (*path, "stream_mode"), Shown(template.get("name"))
        yield codes.OUTPUT_AND_STREAM.at(place, part="key", also=[also], name=name)
    for field, pattern, expected in _OUTPUT:
        text = output.get(field)
        if isinstance(text, str) and not pattern.match(text):
            found = Shown(text, as_found=True)
            yield codes.SUBPROCESS_OUTPUT.at(
                (*path, "output", field), field=field, found=found, expected=expected
            )


RULES = (
    strict_binding_binds,
    agents_have_what_their_kind_needs,
    programs_stream_in_a_known_way,
    scripts_have_no_mcp_tools,
    templates_are_usable,
)
