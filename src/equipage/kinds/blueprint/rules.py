"""What a blueprint says that can be told wrong without running it.

The programs that run blueprints find most of this when a flow starts, one thing at a time; here it is all told when
the file loads, as warnings, because the file does load.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

import blake3

from equipage.core import codes as core_codes
from equipage.core.diagnostics import Also, Change, Code, Fact, Part, Remedy, Shown
from equipage.core.path import Path
from equipage.core.text import Guesses
from equipage.kinds.blueprint import codes
from equipage.kinds.blueprint.agent_model import AGENT_KINDS
from equipage.kinds.blueprint.rules_agents import Runners, step_names
from equipage.kinds.blueprint.walks import Names, flow_parts, has_holes, items, names_in
from equipage.loading.session import Session
from equipage.loading.tree import HOLE, mapping

_SEMVER = re.compile(
    r"(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)"
    r"(?:-(?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)(?:\.(?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*))*)?"
    r"(?:\+[0-9a-zA-Z-]+(?:\.[0-9a-zA-Z-]+)*)?",
    re.ASCII,
)
_KNOWN_SCHEMA = "0.1.0"
_UINT64 = 2**64 - 1
#: Lists whose entries are found by name: the first of two with one name wins.
_NAMED = {
    "agents": "agent",
    "operators": "operator",
    "metas": "meta",
    "runners": "runner",
    "subprocesses": "subprocess",
}
#: Fields of nodes that are written to, so that only a path makes sense there.
_TARGETS = {
    "step": ("out",),
    "loop": ("counter",),
    "fanout": ("bind", "out"),
    "try": ("err_at",),
    "assign": ("at",),
}


# ------------------------------------------------------------------------------------------------ single values


def schema_version_is_semver(config: Any, _session: Session) -> Iterator[Fact]:
    """`schema_version` is a version of three numbers; only one has ever been published."""
    version = mapping(config).get("schema_version")
    if not isinstance(version, str):
        return
    numbers = re.findall(r"\d+", re.split("[-+]", version)[0])
    # Compared by length first: Python reads no number of thousands of digits.
    if not _SEMVER.fullmatch(version) or any(
        len(each) > 20 or int(each) > _UINT64 for each in numbers
    ):
        yield codes.NOT_SEMVER.at(("schema_version",), found=Shown(version))
    elif version != _KNOWN_SCHEMA:
        yield codes.UNKNOWN_SCHEMA_VERSION.at(
            ("schema_version",), found=Shown(version), known=_KNOWN_SCHEMA
        )


def time_to_live_fits(config: Any, _session: Session) -> Iterator[Fact]:
    """`default_run_ttl_secs` fits into 64 bits, which no Struct can say."""
    seconds = mapping(mapping(config).get("metadata")).get("default_run_ttl_secs")
    if isinstance(seconds, int) and seconds > _UINT64:
        path = ("metadata", "default_run_ttl_secs")
        yield core_codes.OUT_OF_RANGE.at(path, found=Shown(seconds), expected=f"at most {_UINT64}")


def origin_has_no_further_keys(config: Any, _session: Session) -> Iterator[Fact]:
    """Further keys of `metadata.origin` are let pass and dropped."""
    origin = mapping(mapping(mapping(config).get("metadata")).get("origin"))
    known = {"inline": (), "file": ("path",), "algo": ("session_id",)}.get(str(origin.get("kind")))
    for key in origin if known is not None else ():
        if key != "kind" and key not in (known or ()):
            path = ("metadata", "origin", key)
            owner = "`metadata.origin`"
            yield core_codes.UNKNOWN_FIELD.at(
                path, part="key", severity="warning", field=Shown(key), owner=owner
            )


def layers_exist(config: Any, _session: Session) -> Iterator[Fact]:
    """A layer nobody knows is skipped by design, but one was withdrawn."""
    for number, layer in items(mapping(mapping(config).get("spawner_hints")).get("layers")):
        if layer == "operator_delegate":
            yield codes.WITHDRAWN_LAYER.at(("spawner_hints", "layers", number), layer=layer)


def document_names_no_folders(config: Any, _session: Session) -> Iterator[Fact]:
    """Which folders may be read is the caller's decision, never the document's."""
    if items(mapping(config).get("blueprint_ref_includes")):
        yield codes.INCLUDES_NOT_FOLLOWED.at(("blueprint_ref_includes",), part="key")


# ------------------------------------------------------------------------------------------------------- names


def names_are_unique(config: Any, _session: Session) -> Iterator[Fact]:
    """Two entries of one list do not share a name."""
    for key, what in _NAMED.items():
        first = names_in(config, key).first
        for number, each in items(mapping(config).get(key)):
            name = mapping(each).get("name")
            if isinstance(name, str) and first[name] != number:
                same_file = _is_same_file(config[key][first[name]], each)
                yield _twice((key, first[name]), (key, number), what, name, same_file=same_file)


def _twice(one: Path, other: Path, what: str, name: str, *, same_file: bool) -> Fact:
    code = codes.DUPLICATE_AGENT if what == "agent" else codes.DUPLICATE_NAME
    if same_file:  # the name stands there once; what can be changed are the two references
        also = Also("first here", path=one, part="key")
        hint = "write `name:` beside one of them"
        return code.at(other, part="key", also=[also], what=what, name=Shown(name), hint=hint)
    also = Also("first here", path=(*one, "name"))
    return code.at(
        (*other, "name"), also=[also], what=what, name=Shown(name), hint="rename one of them"
    )


def _is_same_file(one: Any, other: Any) -> bool:
    """Whether two agents were brought from one file, which is read once."""
    profile = mapping(one).get("profile")
    return (
        profile is mapping(other).get("profile")
        and mapping(profile).get("version_hash") is not None
    )


def steps_name_agents(config: Any, session: Session) -> Iterator[Fact]:
    """What runs an agent names one that exists: steps, audits and hints."""
    agents = names_in(config, "agents")
    for path, name in _agents_named(config):
        if agents.lack(name):
            yield _unknown(codes.UNKNOWN_AGENT, path, name, agents, "agents", session.guesses)
    hints = mapping(mapping(mapping(config).get("hints")).get("per_agent"))
    for name in hints:
        if agents.lack(name):
            path = ("hints", "per_agent", name)
            yield _unknown(
                codes.UNKNOWN_AGENT, path, name, agents, "agents", session.guesses, on_key=True
            )


def _agents_named(config: Any) -> Iterator[tuple[Path, Any]]:
    """Where agents are run: paths and names."""
    for part in flow_parts(config):
        if part.tag == "kind" and part.name == "step":
            yield (*part.path, "ref"), part.value.get("ref")
    for number, audit in items(mapping(config).get("audits")):
        yield ("audits", number, "agent"), mapping(audit).get("agent")


def agents_are_used(config: Any, session: Session) -> Iterator[Fact]:
    """Every agent is run by a step or an audit."""
    agents = names_in(config, "agents").first
    used = [name for _, name in _agents_named(config)]
    if not all(isinstance(name, str) for name in used) or has_holes(mapping(config).get("flow")):
        return
    # One that a step misspells is not unused; the step has been told what was meant.
    meant = {
        name if name in agents else session.guesses.nearest(name, agents)
        for name in dict.fromkeys(used)
    }
    for name, number in agents.items() if not session.guesses.are_spent else ():
        if name not in meant:
            yield codes.UNUSED_AGENT.at(("agents", number, "name"), name=Shown(name))


def operators_exist(config: Any, session: Session) -> Iterator[Fact]:
    """An agent of kind `operator` names one of the operators."""
    operators = names_in(config, "operators")
    for number, agent in items(mapping(config).get("agents")):
        name = mapping(mapping(agent).get("spec")).get("operator_ref")
        if mapping(agent).get("kind") == "operator" and operators.lack(name):
            path = ("agents", number, "spec", "operator_ref")
            yield _unknown(
                codes.UNKNOWN_OPERATOR, path, name, operators, "operators", session.guesses
            )


def other_names_exist(config: Any, session: Session) -> Iterator[Fact]:
    """Runners, contexts and subprocesses that are named exist."""
    lists = {key: names_in(config, key) for key in ("runners", "metas", "subprocesses")}
    for key, path, name in _other_names(config):
        known = lists[key]
        if known.lack(name):
            yield _unknown(codes.UNKNOWN_NAME, path, name, known, key, session.guesses)


def _other_names(config: Any) -> Iterator[tuple[str, Path, Any]]:
    """Which list is referred to, where, by what name."""
    top = mapping(config)
    yield "runners", ("default_runner",), top.get("default_runner")
    for number, runner in items(top.get("runners")):
        yield from _template(("runners", number, "runner"), mapping(runner).get("runner"))
    for number, agent in items(top.get("agents")):
        here: Path = ("agents", number)
        yield "runners", (*here, "runner_ref"), mapping(agent).get("runner_ref")
        yield (
            "metas",
            (*here, "meta", "meta_ref"),
            mapping(mapping(agent).get("meta")).get("meta_ref"),
        )
        yield from _template((*here, "runner"), mapping(agent).get("runner"))
    for part in flow_parts(config):
        if (
            part.tag == "kind"
            and part.name == "step"
            and mapping(part.value.get("in")).get("op") == "lit"
        ):
            meta = mapping(mapping(part.value["in"].get("value")).get("$step_meta"))
            yield "metas", (*part.path, "in", "value", "$step_meta", "ref"), meta.get("ref")


def _template(path: Path, runner: Any) -> Iterable[tuple[str, Path, Any]]:
    if mapping(runner).get("backend") == "subprocess":
        yield "subprocesses", (*path, "template"), runner.get("template")


def _unknown(
    code: Code,
    path: Path,
    name: Any,
    known: Names,
    where: str,
    guesses: Guesses,
    *,
    on_key: bool = False,
) -> Fact:
    guess = guesses.nearest(name, known.first)
    part: Part = "key" if on_key else "value"
    # Only a name that needs no quotes and no escapes can be put in without looking.
    simple = guess is not None and re.fullmatch(r"[A-Za-z_][\w-]*", guess)
    remedy = (
        Remedy(f"change to `{guess}`", (Change(path, guess, part),), safe=False)
        if guess and simple
        else None
    )
    return code.at(path, part=part, remedy=remedy, name=Shown(name), nearest=guess, where=where)


# ------------------------------------------------------------------------------------------------- what must fit


def agents_have_what_their_kind_needs(config: Any, _session: Session) -> Iterator[Fact]:
    """The key of `spec` without which an agent of its kind cannot start."""
    runners = Runners(config)
    for number, agent in items(mapping(config).get("agents")):
        name = mapping(agent).get("name")
        needed = _needed(agent, number, runners) if isinstance(name, str) else None
        if needed is not None:
            kind = agent["kind"]
            yield codes.SPEC_INCOMPLETE.at(
                ("agents", number, "kind"), name=Shown(name), kind=kind, needed=needed
            )


def _needed(agent: dict[str, Any], number: int, runners: Runners) -> str | None:
    """What the spec of an agent lacks, None if nothing."""
    if has_holes(agent.get("spec")):
        return None
    # What is no mapping is read as if nothing stood there.
    given = {key for key, value in mapping(agent.get("spec")).items() if isinstance(value, str)}
    kind = agent.get("kind")
    if kind == "operator" and "operator_ref" not in given:
        return "spec.operator_ref"
    if kind == "subprocess" and "program" not in given:
        return (
            "spec.program" if _backend(agent, number, runners) not in ("subprocess", HOLE) else None
        )
    if kind == "rust_fn" and "fn_id" not in given:
        return "spec.fn_id"
    if kind == "lua" and given.isdisjoint(("fn_id", "source")):
        return "spec.fn_id` or `spec.source"
    return None


def _backend(agent: dict[str, Any], number: int, runners: Runners) -> Any:
    """What the runner of an agent runs on; None if there is no runner, HOLE if that cannot be told."""
    if agent.get("profile") is HOLE:
        return HOLE
    bound = runners.of(number)
    if bound is None:
        return None
    return "ws_claude_code" if bound.is_binding else bound.runner.get("backend", HOLE)


def hashes_are_those_of_prompts(config: Any, _session: Session) -> Iterator[Fact]:
    """`version_hash` tells versions of a prompt apart, so it must change with it."""
    for key in ("agents", "operators"):
        for number, each in items(mapping(config).get(key)):
            profile = mapping(mapping(each).get("profile"))
            given, prompt = profile.get("version_hash"), profile.get("system_prompt", "")
            if not isinstance(given, str) or not isinstance(prompt, str):
                continue
            computed = blake3.blake3(prompt.encode("utf-8", "surrogatepass")).hexdigest()
            if given != computed:
                path = (key, number, "profile", "version_hash")
                remedy = Remedy(
                    "write the hash of the prompt", (Change(path, computed),), safe=False
                )
                yield codes.STALE_HASH.at(path, remedy=remedy, computed=computed)


def targets_are_paths(config: Any, _session: Session) -> Iterator[Fact]:
    """Only a path can be written to."""
    for part in flow_parts(config):
        for field in _TARGETS.get(part.name, ()) if part.tag == "kind" else ():
            op = mapping(part.value.get(field)).get("op")
            if isinstance(op, str) and op != "path":
                yield codes.TARGET_NOT_PATH.at(
                    (*part.path, field), field=field, node=part.name, op=Shown(op)
                )


def placement_is_usable(config: Any, _session: Session) -> Iterator[Fact]:
    """Where results go is below a known root and differs from task to task."""
    placement = mapping(mapping(config).get("projection_placement"))
    root, template = placement.get("root"), placement.get("dir_template")
    if isinstance(root, str) and root not in ("work_dir", "project_root"):
        path: Path = ("projection_placement", "root")
        yield codes.PLACEMENT.at(path, found=Shown(root), expected="`work_dir` or `project_root`")
    if isinstance(template, str) and (problem := _template_problem(template)) is not None:
        path = ("projection_placement", "dir_template")
        yield codes.PLACEMENT.at(path, found=Shown(template), expected=problem)


def _template_problem(template: str) -> str | None:
    if "{task_id}" not in template:
        return "a path with `{task_id}`"
    if template.startswith("/") or ".." in template.split("/"):
        return "a relative path without `..`"
    return None


# --- loose_ends --------------------------------------------------------------------------------
# What nothing refers to, what refers to nothing, and what has no name.

#: Agents of these kinds are not played by anybody.
_WITHOUT_OPERATOR = tuple(kind for kind in AGENT_KINDS if kind != "operator")
_LOOSE_ENDS_NAMED = ("agents", "operators", "metas", "runners", "subprocesses")


def names_are_not_empty(config: Any, _session: Session) -> Iterator[Fact]:
    """What is found by its name has one."""
    if mapping(config).get("id") == "":
        yield codes.EMPTY_NAME.at(("id",), field="id", owner="this blueprint")
    for key in _LOOSE_ENDS_NAMED:
        for number, each in items(mapping(config).get(key)):
            if mapping(each).get("name") == "":
                yield codes.EMPTY_NAME.at(
                    (key, number, "name"), field="name", owner=f"this entry of `{key}`"
                )


def operators_are_used(config: Any, session: Session) -> Iterator[Fact]:
    """Behind every operator there is an agent that names it."""
    operators = names_in(config, "operators").first
    agents = mapping(config).get("agents")
    meant: set[str | None] = set()
    for _, agent in items(agents) if operators else ():
        name = mapping(mapping(agent).get("spec")).get("operator_ref")
        if isinstance(name, str):
            meant.add(name if name in operators else session.guesses.nearest(name, operators))
        elif mapping(agent).get("kind") not in _WITHOUT_OPERATOR:
            return  # it may be meant for any of them; that it does not say so is told elsewhere
    unused = [name for name in operators if name not in meant]
    for name in (
        unused if unused and not session.guesses.are_spent and not has_holes(agents) else ()
    ):
        yield codes.UNUSED_OPERATOR.at(("operators", operators[name], "name"), name=Shown(name))


def audits_name_steps(config: Any, session: Session) -> Iterator[Fact]:
    """Audits look at steps that exist; `*` stands for all of them."""
    wanted = [(path, name) for path, name in _audited(config) if name != "*"]
    known = step_names(config) if wanted else {}
    unknown = [(path, name) for path, name in wanted if name not in known]
    if (
        not unknown
        or has_holes(mapping(config).get("flow"))
        or not names_in(config, "agents").complete
    ):
        return
    for path, name in unknown:
        guess = session.guesses.nearest(name, known)
        remedy = (
            Remedy(f"change to `{guess}`", (Change(path, guess),), safe=False) if guess else None
        )
        yield codes.UNKNOWN_STEP.at(path, remedy=remedy, name=Shown(name), nearest=guess)


def _audited(config: Any) -> Iterator[tuple[Path, str]]:
    for number, audit in items(mapping(config).get("audits")):
        for at, name in items(mapping(audit).get("steps")):
            if isinstance(name, str):
                yield ("audits", number, "steps", at), name
