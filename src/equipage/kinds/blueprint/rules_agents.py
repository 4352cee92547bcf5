"""Commands that agents run in, and agents that run a program or a script of their own."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property
from typing import Any

import msgspec

from equipage.core.diagnostics import Also, Change, Fact, Remedy, Shown
from equipage.core.path import Path
from equipage.core.text import nearest
from equipage.kinds.blueprint import codes
from equipage.kinds.blueprint.rules_flow import canonical_path
from equipage.kinds.blueprint.walks import (
    flow_parts,
    has_holes,
    items,
    level_of,
    lints_of_blueprint,
    names_in,
)
from equipage.loading.session import Session
from equipage.loading.tree import mapping

# --- projections -------------------------------------------------------------------------------
# The names under which the results of steps are known outside the flow.

#: The first step of a path, and what comes after it.
_FIRST = re.compile(
    r"""\$(?:\.(?P<plain>[^.\[]+)|\["(?P<quoted>[^"]+)"\])(?P<rest>.*)""", re.DOTALL
)


def projection_names_differ(config: Any, _session: Session) -> Iterator[Fact]:
    """No other step goes by the name that an agent declares for its results."""
    declared = dict(_declared(config))
    if not declared:
        return
    claims = _claims(config, declared)
    told: set[str] = set()
    for ref, (name, path) in declared.items():
        others = [other for other in claims.get(name, {}) if other != ref]
        if ref not in claims.get(name, {}) or not others or name in told:
            continue
        told.add(name)
        first, second = ref, others[0]
        if second in declared and declared[second][0] == name:  # told at the later of the two
            first, second, path = second, first, declared[second][1]
        also = Also("claimed here, too", path=claims[name][second])
        yield codes.PROJECTION_NAME_CLASH.at(
            path, also=[also], name=Shown(name), agent=Shown(first), other=Shown(second)
        )


def step_names(config: Any) -> dict[str, None]:
    """Every name that a step can be meant by, in the order of the flow."""
    declared = dict(_declared(config))
    names = dict.fromkeys(name for name, _ in declared.values())
    for part in flow_parts(config):
        if part.tag == "kind" and part.name == "step":
            ref, key = part.value.get("ref"), _first_key(part.value.get("out"))
            names.update(dict.fromkeys(each for each in (ref, key) if isinstance(each, str)))
    return names


def _declared(config: Any) -> Iterator[tuple[str, tuple[str, Path]]]:
    """Agents with a name of their own for their results."""
    first: dict[str, int] | None = None
    for number, agent in items(mapping(config).get("agents")):
        name, declared = (
            mapping(agent).get("name"),
            mapping(mapping(agent).get("meta")).get("projection_name"),
        )
        if not isinstance(name, str) or not isinstance(declared, str):
            continue
        first = first or names_in(config, "agents").first
        if first[name] == number:
            yield name, (declared, ("agents", number, "meta", "projection_name"))


def _claims(config: Any, declared: dict[str, tuple[str, Path]]) -> dict[str, dict[str, Path]]:
    """Name → who goes by it, each with the first place that says so.

    Steps that run one agent are one. A result below something else claims that only as long as nobody else does, so
    it never clashes.
    """
    claims: dict[str, dict[str, Path]] = {}
    for part in flow_parts(config):
        ref = part.value.get("ref")
        if part.tag != "kind" or part.name != "step" or not isinstance(ref, str):
            continue
        own = [declared[ref]] if ref in declared else []
        for name, path in (
            *own,
            (ref, (*part.path, "ref")),
            *_single(part.path, part.value.get("out")),
        ):
            claims.setdefault(name, {}).setdefault(ref, path)
    return claims


def _single(path: Path, out: Any) -> Iterator[tuple[str, Path]]:
    match = _first(out)
    if match is not None and not match["rest"]:
        yield match["plain"] or match["quoted"], (*path, "out", "at")


def _first_key(out: Any) -> str | None:
    match = _first(out)
    return None if match is None else match["plain"] or match["quoted"]


def _first(out: Any) -> re.Match[str] | None:
    at = mapping(out).get("at") if mapping(out).get("op") == "path" else None
    return _FIRST.fullmatch(canonical_path(at) or "") if isinstance(at, str) else None


# --- runners -----------------------------------------------------------------------------------
# Who runs an agent: what it says itself, else what the blueprint says for all.


class Bound(msgspec.Struct, frozen=True):
    """The runner of an agent, and where it is written. One that cannot be found is empty."""

    path: Path
    runner: dict[str, Any]
    is_binding: bool = False  #: made of the profile: its `worker_binding`, and its tools


class Runners:
    """The runners of a blueprint, found by the number of an agent."""

    def __init__(self, config: Any) -> None:
        self.config = config

    @cached_property
    def _names(self) -> dict[str, int]:
        return names_in(self.config, "runners").first

    def of(self, number: int) -> Bound | None:
        """The first of: its own runner, the one it names, its worker binding, the blueprint's default; None if none."""
        agent, here = mapping(self.config["agents"][number]), ("agents", number)
        profile = mapping(agent.get("profile"))
        if agent.get("runner") is not None:
            return Bound((*here, "runner"), mapping(agent["runner"]))
        if agent.get("runner_ref") is not None:
            return self._named(agent["runner_ref"])
        if profile.get("worker_binding") is not None:
            return Bound((*here, "profile"), profile, is_binding=True)
        default = mapping(self.config).get("default_runner")
        return None if default is None else self._named(default)

    def _named(self, name: Any) -> Bound:
        number = self._names.get(name) if isinstance(name, str) else None
        if number is None:
            return Bound(("runners",), {})
        return Bound(
            ("runners", number, "runner"), mapping(self.config["runners"][number].get("runner"))
        )


def strict_binding_binds(config: Any, _session: Session) -> Iterator[Fact]:
    """`strict_binding` is about runners: without any it asks for nothing."""
    if mapping(mapping(config).get("strategy")).get("strict_binding") is not True:
        return
    agents, runners = items(config.get("agents")), Runners(config)
    if not agents or any(runners.of(number) for number, _ in agents) or has_holes(config["agents"]):
        return
    if (
        level_of("strict-binding-without-runners", "suspicious", lints_of_blueprint(config))
        != "allow"
    ):
        yield codes.STRICT_BINDING_UNUSED.at(("strategy", "strict_binding"))


PLACEHOLDERS = (
    "system",
    "system_file",
    "prompt",
    "model",
    "tools_csv",
    "work_dir",
    "task_id",
    "attempt",
)
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
                yield codes.SUBPROCESS_WITHOUT_COMMAND.at(
                    (*path, "argv"), name=Shown(template.get("name"))
                )
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
        return codes.SUBPROCESS_PLACEHOLDER.at(path, name=Shown(written), known=known)
    meant = f"{{{guess}}}"
    remedy = Remedy(
        f"change to `{meant}`", (Change(path, text.replace(written, meant)),), safe=False
    )
    return codes.SUBPROCESS_PLACEHOLDER.at(path, remedy=remedy, name=Shown(written), nearest=meant)


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
        yield codes.OUTPUT_AND_STREAM.at(
            place, part="key", also=[also], name=Shown(template.get("name"))
        )
    for field, text, expected in (
        ("format", output.get("format"), "`json`"),
        ("result_ptr", output.get("result_ptr"), "a JSON Pointer, which starts with `/`"),
        ("ok_from", output.get("ok_from"), "`exit_code` or a JSON Pointer, which starts with `/`"),
    ):
        if isinstance(text, str) and not _fits(field, text):
            found = Shown(text, as_found=True)
            yield codes.SUBPROCESS_OUTPUT.at(
                (*path, "output", field), field=field, found=found, expected=expected
            )


def _fits(field: str, text: str) -> bool:
    if field == "format":
        return text == "json"
    return text.startswith("/") or (field == "ok_from" and text == "exit_code")


def _stream_mode(path: Path, mode: Any) -> Iterator[Fact]:
    if isinstance(mode, str) and mode not in STREAM_MODES:
        guess = nearest(mode, STREAM_MODES)
        remedy = (
            Remedy(f"change to `{guess}`", (Change(path, guess),), safe=False) if guess else None
        )
        yield codes.STREAM_MODE.at(
            path, remedy=remedy, found=Shown(mode), known=STREAM_MODES, nearest=guess
        )


# -------------------------------------------------------------------------------------------- agents without a template


def programs_stream_in_a_known_way(config: Any, _session: Session) -> Iterator[Fact]:
    """`stream_mode` of an agent that runs a program; with a runner its `spec` need not be read."""
    for number, agent in items(mapping(config).get("agents")):
        given = mapping(agent)
        if given.get("kind") == "subprocess" and not (
            given.get("runner") or given.get("runner_ref")
        ):
            mode = mapping(given.get("spec")).get("stream_mode")
            yield from _stream_mode(("agents", number, "spec", "stream_mode"), mode)


def scripts_have_no_mcp_tools(config: Any, _session: Session) -> Iterator[Fact]:
    """A script gets no tools of MCP servers: an agent block with a script must not ask for them."""
    runners = Runners(config)
    for number, agent in items(mapping(config).get("agents")):
        given = mapping(agent)
        if given.get("kind") != "agent_block" or not isinstance(
            mapping(given.get("spec")).get("script_path"), str
        ):
            continue
        path, tools = _tools(given, number, runners.of(number))
        for at, tool in items(tools):
            if isinstance(tool, str) and tool.startswith(_MCP):
                also = Also("the script", path=("agents", number, "spec", "script_path"))
                name = Shown(given.get("name"))
                yield codes.SCRIPT_WITH_MCP_TOOLS.at(
                    (*path, at), also=[also], name=name, tool=Shown(tool)
                )


def _tools(agent: dict[str, Any], number: int, bound: Bound | None) -> tuple[Path, Any]:
    """The tools of an agent block, and where they stand: a runner inside the host has its own, even if none.

    Of other runners it is not sure what they mean for an agent of this kind.
    """
    if bound is None or bound.is_binding:
        return ("agents", number, "profile", "tools"), mapping(agent.get("profile")).get("tools")
    inside = bound.runner.get("backend") == "agent_block_in_process"
    return (*bound.path, "tools"), bound.runner.get("tools") if inside else None
