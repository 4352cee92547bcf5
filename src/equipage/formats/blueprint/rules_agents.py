"""Rules about agents and what else a blueprint lists: its names, and what runs an agent.

What a blueprint refers to exists, what it declares is used, and names are unique. A name that
nearly spells another counts as a use of it: one mistake gives one finding.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from equipage.core.diagnostics import Part
from equipage.core.text import lazy_regex
from equipage.formats.blueprint import codes
from equipage.formats.blueprint.model import AGENT_KINDS, BOUND_BACKEND
from equipage.formats.blueprint.rules import (
    Names,
    canonical_path_of,
    correction,
    entries,
    enumerate_list,
    flow_is_known,
    has_holes,
    lint_level,
    names_in,
    nodes,
)
from equipage.plugin import (
    HOLE,
    Also,
    Change,
    Code,
    Fact,
    Guesses,
    Path,
    Remedy,
    Session,
    Shown,
    get,
    mapping_or_empty,
    nearest,
)

#: Lists whose entries are found by name, and what one entry is called.
NAMED_LISTS = {
    "agents": "agent",
    "operators": "operator",
    "metas": "meta",
    "runners": "runner",
    "subprocesses": "subprocess",
}
#: What is reported about a name that is not in its list; for the others, `UNKNOWN_NAME`.
_UNKNOWN_NAME_CODES = {"agents": codes.UNKNOWN_AGENT, "operators": codes.UNKNOWN_OPERATOR}
#: Agents of these kinds do not need an operator.
_KINDS_WITHOUT_OPERATOR = tuple(kind for kind in AGENT_KINDS if kind != "operator")
#: The first key of a canonical path, and what follows it.
_FIRST_KEY = lazy_regex(r"""\$(?:\.([^.\[]+)|\["([^"]+)"\])(.*)""", re.DOTALL)


# Names themselves.


def names_are_not_empty(config: Any, _session: Session) -> Iterator[Fact]:
    """Everything that is found by its name has one."""
    if get(config, ("id",)) == "":
        yield codes.EMPTY_NAME.at(("id",), field="id", owner="this blueprint")
    for key in NAMED_LISTS:
        for path, each in entries(config, key):
            if each.get("name") == "":
                owner = f"this entry of `{key}`"
                yield codes.EMPTY_NAME.at((*path, "name"), field="name", owner=owner)


def names_are_unique(config: Any, _session: Session) -> Iterator[Fact]:
    """Two entries of one list do not share a name."""
    for key in NAMED_LISTS:
        first = names_in(config, key).first
        for path, each in entries(config, key):
            name = each.get("name")
            if isinstance(name, str) and first[name] != path:
                yield _duplicate_name(config, first[name], path, name)


def _duplicate_name(config: Any, first: Path, second: Path, name: str) -> Fact:
    what = NAMED_LISTS[str(first[0])]
    code = codes.DUPLICATE_AGENT if what == "agent" else codes.DUPLICATE_NAME
    profile = get(config, (*first, "profile"))
    is_shared = profile is not None and profile is get(config, (*second, "profile"))
    if is_shared and get(profile, ("version_hash",)) is not None:
        # Both come from one agent file, which has the name once: the references must differ.
        also = Also("first here", path=first, part="key")
        hint = "write `name:` beside one of them"
        return code.at(second, part="key", also=[also], what=what, name=Shown(name), hint=hint)
    also, hint = Also("first here", path=(*first, "name")), "rename one of them"
    return code.at((*second, "name"), also=[also], what=what, name=Shown(name), hint=hint)


# References to names.


def names_exist(config: Any, session: Session) -> Iterator[Fact]:
    """Every name that a blueprint refers to is an entry of the list it is looked up in."""
    lists = {key: names_in(config, key) for key in NAMED_LISTS}
    for key, path, part in references(config):
        name, known = path[-1] if part == "key" else get(config, path), lists[key]
        if not isinstance(name, str) or not known.lack(name):
            continue
        guess = session.guesses.nearest(name, known.first)
        # Only a name without quotes and escapes can be written without looking at its surroundings.
        is_simple = guess is not None and re.fullmatch(r"[A-Za-z_][\w-]*", guess)
        remedy = correction(path, guess, part) if is_simple else None
        yield _UNKNOWN_NAME_CODES.get(key, codes.UNKNOWN_NAME).at(
            path, part=part, remedy=remedy, name=Shown(name), nearest=guess, where=key
        )


def references(config: Any) -> Iterator[tuple[str, Path, Part]]:
    """Where names may be written, and which list each is looked up in."""
    hints = ("hints", "per_agent")
    yield from (("agents", path, "value") for path, _ in _agent_uses(config))
    yield from (("agents", (*hints, name), "key") for name in mapping_or_empty(get(config, hints)))
    yield "runners", ("default_runner",), "value"
    runners: list[Path] = [(*path, "runner") for path, _ in entries(config, "runners")]
    for path, agent in entries(config, "agents"):
        if agent.get("kind") == "operator":
            yield "operators", (*path, "spec", "operator_ref"), "value"
        yield "runners", (*path, "runner_ref"), "value"
        yield "metas", (*path, "meta", "meta_ref"), "value"
        runners.append((*path, "runner"))
    for path in runners:
        if get(config, (*path, "backend")) == "subprocess":
            yield "subprocesses", (*path, "template"), "value"
    for step in nodes(config, ("step",)):
        if get(step.value, ("in", "op")) == "lit":
            yield "metas", (*step.path, "in", "value", "$step_meta", "ref"), "value"


def _agent_uses(config: Any) -> Iterator[tuple[Path, Any]]:
    """The names of agents that steps and audits run, and where they are written."""
    for step in nodes(config, ("step",)):
        yield (*step.path, "ref"), step.value.get("ref")
    for path, audit in entries(config, "audits"):
        yield (*path, "agent"), audit.get("agent")


# Names that nothing uses.


def agents_are_used(config: Any, session: Session) -> Iterator[Fact]:
    """Every agent is run by a step or an audit."""
    used = [name for _, name in _agent_uses(config)]
    if all(isinstance(name, str) for name in used) and flow_is_known(config, session):
        yield from _check_unused_names(
            codes.UNUSED_AGENT, names_in(config, "agents"), used, session.guesses
        )


def operators_are_used(config: Any, session: Session) -> Iterator[Fact]:
    """Every operator is named by an agent."""
    used: list[str] = []
    for _, agent in entries(config, "agents"):
        name = get(agent, ("spec", "operator_ref"))
        if isinstance(name, str):
            used.append(name)
        elif agent.get("kind") not in _KINDS_WITHOUT_OPERATOR:
            return  # it may need any of the operators; another rule reports that it names none
    if not has_holes(get(config, ("agents",))):
        operators = names_in(config, "operators")
        yield from _check_unused_names(codes.UNUSED_OPERATOR, operators, used, session.guesses)


def _check_unused_names(
    code: Code, known: Names, used: Iterable[str], guesses: Guesses
) -> Iterator[Fact]:
    meant = {
        name if name in known.first else guesses.nearest(name, known.first)
        for name in dict.fromkeys(used)
    }
    # Without guesses left, a name without a guess may still be a misspelling of an unused one.
    for name, path in known.first.items() if not guesses.are_spent else ():
        if name not in meant:
            yield code.at((*path, "name"), name=Shown(name))


# Names of steps. The results of a step are known by the name of its agent, by the `projection_name`
# of the agent, and by the place they are written to if that is a single key below `$`.


def audits_name_steps(config: Any, session: Session) -> Iterator[Fact]:
    """Audits look at steps that exist; `*` means every step."""
    wanted = [
        ((*path, "steps", number), name)
        for path, audit in entries(config, "audits")
        for number, name in enumerate_list(audit.get("steps"))
        if isinstance(name, str) and name != "*"
    ]
    if not wanted or not names_in(config, "agents").complete or not flow_is_known(config, session):
        return
    known = dict.fromkeys(name for name, _ in _projection_names(config).values())
    for step in nodes(config, ("step",)):
        key, _ = _first_key(step.value.get("out"))
        names = (step.value.get("ref"), key)
        known.update(dict.fromkeys(name for name in names if isinstance(name, str)))
    for place, name in wanted:
        if name not in known:
            guess = session.guesses.nearest(name, known)
            yield codes.UNKNOWN_STEP.at(
                place, remedy=correction(place, guess), name=Shown(name), nearest=guess
            )


def projection_names_differ(config: Any, _session: Session) -> Iterator[Fact]:
    """No other step goes by the name that an agent declares for its results."""
    declared = _projection_names(config)
    claims = _claims(config, declared) if declared else {}
    reported: set[str] = set()
    for ref, (name, path) in declared.items():
        claimants = claims.get(name, {})
        others = [other for other in claimants if other != ref]
        if ref not in claimants or not others or name in reported:
            continue
        reported.add(name)
        first, second = ref, others[0]
        if second in declared and declared[second][0] == name:
            # Both declare it: the later declaration is the one to change.
            first, second, path = second, first, declared[second][1]
        also = Also("claimed here, too", path=claimants[second])
        yield codes.PROJECTION_NAME_CLASH.at(
            path, also=[also], name=Shown(name), agent=Shown(first), other=Shown(second)
        )


def _projection_names(config: Any) -> dict[str, tuple[str, Path]]:
    """Agent → the name it declares for its results, and where."""
    places = {
        agent: (*path, "meta", "projection_name")
        for agent, path in names_in(config, "agents").first.items()
    }
    found = ((agent, get(config, path), path) for agent, path in places.items())
    return {agent: (name, path) for agent, name, path in found if isinstance(name, str)}


def _claims(config: Any, declared: dict[str, tuple[str, Path]]) -> dict[str, dict[str, Path]]:
    """Name → the agents whose results go by it, each with the first place that says so.

    Steps that run one agent are one. A result deeper than one key claims that key only while no
    other step does, so it never clashes.
    """
    claims: dict[str, dict[str, Path]] = {}
    for step in nodes(config, ("step",)):
        ref = step.value.get("ref")
        if not isinstance(ref, str):
            continue
        names: list[tuple[str, Path]] = [declared[ref]] if ref in declared else []
        names.append((ref, (*step.path, "ref")))
        key, is_whole = _first_key(step.value.get("out"))
        if key is not None and is_whole:
            names.append((key, (*step.path, "out", "at")))
        for name, path in names:
            claims.setdefault(name, {}).setdefault(ref, path)
    return claims


def _first_key(out: Any) -> tuple[str | None, bool]:
    """The first key of the place a step writes to, and whether that is all of the place."""
    match = _FIRST_KEY.fullmatch(canonical_path_of(out) or "")
    return (match[1] or match[2], not match[3]) if match else (None, False)


# What runs an agent: its runner, the `spec` of its kind, a command or a script.

#: The keys of `spec` without which an agent of a kind cannot start; one of them is enough.
_REQUIRED_SPEC_KEYS = {
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
_PLACEHOLDER = lazy_regex(r"\{([a-z_]+)\}")
_STREAM_MODES = ("ndjson_lines", "sse_events", "length_prefixed")
_POINTER = "a JSON Pointer, which starts with `/`"
#: How the output of a command is read: the field, the start of what it takes, and that in words.
_OUTPUT_FIELDS = (
    ("format", re.compile(r"json\Z"), "`json`"),
    ("result_ptr", re.compile("/"), _POINTER),
    ("ok_from", re.compile(r"/|exit_code\Z"), f"`exit_code` or {_POINTER}"),
)


# Runners.


class BoundRunner(msgspec.Struct, frozen=True):
    """The runner of an agent. One that is named but does not exist is empty."""

    path: Path  #: where the runner is written
    runner: dict[str, Any]
    is_binding: bool = False  #: whether it is made of the profile: its `worker_binding` and tools

    @property
    def backend(self) -> Any:
        """What the agent runs on; a hole if that is unknown."""
        return BOUND_BACKEND if self.is_binding else self.runner.get("backend", HOLE)


def runner_of(config: Any, runners: Names, path: Path, agent: dict[str, Any]) -> BoundRunner | None:
    """The runner of the agent at `path`; None if it has none.

    The first of these counts: its own runner, the one it names, its worker binding, and the default
    of the blueprint.
    """
    name, profile = agent.get("runner_ref"), mapping_or_empty(agent.get("profile"))
    if agent.get("runner") is not None:
        return BoundRunner((*path, "runner"), mapping_or_empty(agent["runner"]))
    if name is None and profile.get("worker_binding") is not None:
        return BoundRunner((*path, "profile"), profile, is_binding=True)
    if name is None and (name := get(config, ("default_runner",))) is None:
        return None
    entry = runners.first.get(name) if isinstance(name, str) else None
    if entry is None:
        return BoundRunner(("runners",), {})
    return BoundRunner((*entry, "runner"), mapping_or_empty(get(config, (*entry, "runner"))))


def strict_binding_has_an_effect(config: Any, _session: Session) -> Iterator[Fact]:
    """`strict_binding` is about runners: if no agent has one, it has no effect."""
    path = ("strategy", "strict_binding")
    agents, runners = list(entries(config, "agents")), names_in(config, "runners")
    if get(config, path) is not True or not agents or has_holes(get(config, ("agents",))):
        return
    lints = get(config, ("metadata", "lints"))
    level = lint_level("strict-binding-without-runners", "suspicious", lints)
    if level != "allow" and not any(runner_of(config, runners, *each) for each in agents):
        yield codes.STRICT_BINDING_UNUSED.at(path)


# The `spec` of each kind.


def agents_have_what_their_kind_needs(config: Any, _session: Session) -> Iterator[Fact]:
    """The `spec` of an agent has the key without which its kind cannot start."""
    runners = names_in(config, "runners")
    for path, agent in entries(config, "agents"):
        name, kind, spec = agent.get("name"), agent.get("kind"), agent.get("spec")
        needed = _REQUIRED_SPEC_KEYS.get(kind, ()) if isinstance(kind, str) else ()
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
            yield from _check_stream_mode(place, get(config, place))


def scripts_have_no_mcp_tools(config: Any, _session: Session) -> Iterator[Fact]:
    """Scripts get no tools of MCP servers, so an agent block with a script must not list them."""
    runners = names_in(config, "runners")
    for path, agent in entries(config, "agents"):
        script = (*path, "spec", "script_path")
        if agent.get("kind") != "agent_block" or not isinstance(get(config, script), str):
            continue
        tools = _tools_of_block(path, runner_of(config, runners, path, agent))
        for number, tool in enumerate_list(get(config, tools)) if tools else ():
            if isinstance(tool, str) and tool.startswith("mcp__"):
                also, name = Also("the script", path=script), Shown(agent.get("name"))
                yield codes.SCRIPT_WITH_MCP_TOOLS.at(
                    (*tools, number), also=[also], name=name, tool=Shown(tool)
                )


def _tools_of_block(path: Path, bound: BoundRunner | None) -> Path:
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
        for place, text in _template_texts(path, template):
            for name in dict.fromkeys(_PLACEHOLDER.findall(text)):
                if name not in _PLACEHOLDERS:
                    yield _unknown_placeholder(place, text, name)
        yield from _check_stream_mode((*path, "stream_mode"), template.get("stream_mode"))
        yield from _check_output(path, template)


def _template_texts(path: Path, template: dict[str, Any]) -> Iterator[tuple[Path, str]]:
    """The texts of a command whose placeholders are filled in before it runs."""
    env = mapping_or_empty(template.get("env"))
    places: list[Path] = [("argv", number) for number, _ in enumerate_list(template.get("argv"))]
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


def _check_stream_mode(path: Path, mode: Any) -> Iterator[Fact]:
    if isinstance(mode, str) and mode not in _STREAM_MODES:
        guess = nearest(mode, _STREAM_MODES)
        yield codes.STREAM_MODE.at(
            path,
            remedy=correction(path, guess),
            found=Shown(mode),
            known=_STREAM_MODES,
            nearest=guess,
        )


def _check_output(path: Path, template: dict[str, Any]) -> Iterator[Fact]:
    """The output is read as one JSON text or as a stream, not both."""
    output = template.get("output")
    if not isinstance(output, dict):
        return
    if isinstance(template.get("stream_mode"), str):
        also = Also("the other one", path=(*path, "output"), part="key")
        place, name = (*path, "stream_mode"), Shown(template.get("name"))
        yield codes.OUTPUT_AND_STREAM.at(place, part="key", also=[also], name=name)
    for field, pattern, expected in _OUTPUT_FIELDS:
        text = output.get(field)
        if isinstance(text, str) and not pattern.match(text):
            found = Shown(text, as_found=True)
            yield codes.SUBPROCESS_OUTPUT.at(
                (*path, "output", field), field=field, found=found, expected=expected
            )


RULES = (
    names_are_not_empty,
    names_are_unique,
    names_exist,
    agents_are_used,
    operators_are_used,
    audits_name_steps,
    projection_names_differ,
    strict_binding_has_an_effect,
    agents_have_what_their_kind_needs,
    programs_stream_in_a_known_way,
    scripts_have_no_mcp_tools,
    templates_are_usable,
)
