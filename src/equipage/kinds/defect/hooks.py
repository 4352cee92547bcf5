"""Hooks: what runs when something happens. Profiles and settings write them the same way."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Annotated, Any, Literal

import msgspec

from equipage.core import codes as core_codes
from equipage.core.diagnostics import Change, Code, Fact, Remedy, Shown
from equipage.core.frozen import EMPTY
from equipage.core.path import Path
from equipage.core.text import nearest
from equipage.kinds import codes as shared_codes
from equipage.kinds.defect import codes
from equipage.kinds.globs import REASONS as GLOB_REASONS
from equipage.kinds.globs import problem_of
from equipage.kinds.shared import Table
from equipage.loading.tree import HOLE, Origins, Tree, graft, remove_all, walk

# Annotations are evaluated, not kept as text: msgspec would have to compile each of them when a model is first used.


Layer = Literal["user", "project", "project-local", "command line"]
Safety = Literal["read_only", "mutating", "destructive", "network"]
Shell = Literal["sh", "bash", "pwsh", "cmd"]
Seconds = Annotated[int, msgspec.Meta(ge=0)]


class HookMatch(Table, frozen=True):
    """When a hook runs; all conditions must hold, and none means always."""

    tool: str | None = None
    tool_glob: str | None = None
    safety: tuple[Safety, ...] = ()


class BuiltinHandler(Table, frozen=True, tag_field="type", tag="builtin"):
    """A hook that comes with the agent."""

    name: str


class ShellProgram(Table, frozen=True):
    """A shell by its program."""

    program: str
    args: tuple[str, ...] = ()


class CommandHandler(Table, frozen=True, tag_field="type", tag="command"):
    """A program: its arguments, or a line for a shell."""

    argv: tuple[str, ...] | None = None
    argv_windows: tuple[str, ...] | None = None
    shell: Shell | ShellProgram | None = None
    command: str | None = None
    cwd: str | None = None
    env: dict[str, str] = EMPTY
    timeout_sec: Seconds | None = None


class JsonRender(Table, frozen=True, tag_field="type", tag="json"):
    """The event as JSON."""


class TemplateRender(Table, frozen=True, tag_field="type", tag="template"):
    """The event put into a template."""

    template: str


class PromptHandler(Table, frozen=True, tag_field="type", tag="prompt"):
    """A question to a model."""

    system: str
    render: JsonRender | TemplateRender
    model: str | None = None
    timeout_sec: Seconds | None = None


Handler = BuiltinHandler | CommandHandler | PromptHandler


class Hook(Table, frozen=True):
    """One hook. `source` is the layer that declared it; it cannot be written."""

    handler: Handler
    name: str | None = None
    match: HookMatch = HookMatch()
    source: Layer | None = None


class Hooks(Table, frozen=True):
    """The hooks of each event, in the order they run."""

    after_session_enter: tuple[Hook, ...] = ()
    after_turn_enter: tuple[Hook, ...] = ()
    before_ingest: tuple[Hook, ...] = ()
    after_ingest: tuple[Hook, ...] = ()
    before_compact: tuple[Hook, ...] = ()
    after_compact: tuple[Hook, ...] = ()
    before_generate: tuple[Hook, ...] = ()
    after_generate: tuple[Hook, ...] = ()
    before_permission: tuple[Hook, ...] = ()
    after_permission: tuple[Hook, ...] = ()
    before_tool_apply: tuple[Hook, ...] = ()
    after_tool_apply: tuple[Hook, ...] = ()
    after_tool_batch: tuple[Hook, ...] = ()
    before_turn_end: tuple[Hook, ...] = ()


EVENTS: tuple[str, ...] = Hooks.__struct_fields__
#: Events at which a tool is known; elsewhere a condition on the tool never holds.
TOOL_EVENTS = frozenset(
    {
        "before_permission",
        "after_permission",
        "before_tool_apply",
        "after_tool_apply",
        "after_tool_batch",
    }
)
#: The hooks that come with the agent.
BUILTINS = ("tracing-audit", "redact-secrets", "skill-manifest", "skill-triggers")


# --- hook_checks -------------------------------------------------------------------------------
# What the model alone cannot say about hooks: known events, forms of a command, conditions that can hold.
#
# `prepare` runs before the model sees the hooks, `check` on the plain value after it. Both serve profiles and
# settings.

HOOKS: Path = ("hooks",)
DISABLE = "disable"


def prepare(tree: Tree, layer: Layer | None, *, may_disable: bool) -> tuple[Tree, list[Fact]]:
    """The tree without events nobody knows, each hook stamped with its layer."""
    hooks = tree.value.get("hooks") if isinstance(tree.value, dict) else None
    if not isinstance(hooks, dict):
        return tree, []
    facts: list[Fact] = []
    unknown: list[Path] = []
    for event, entries in hooks.items():
        path = (*HOOKS, event)
        if event == DISABLE and may_disable:
            continue
        if event not in EVENTS:
            facts.append(_unknown_event(tree, path))
            unknown.append(path)
        elif not isinstance(entries, list) and entries is not HOLE:
            facts.append(_not_a_list(tree, path, entries))
            tree = graft(tree, {path: Tree(HOLE, tree.at(path).origins)})
        else:
            tree = _stamped(tree, path, layer, facts)
    return _without_null(remove_all(tree, unknown), facts), facts


def _unknown_event(tree: Tree, path: Path) -> Fact:
    event = str(path[-1])
    origin = tree.story(path).origin
    if event == DISABLE:
        return Fact(codes.HOOK_DISABLE_IN_PROFILE, part="key", origin=origin)
    guess = nearest(event, EVENTS)
    remedy = None
    if guess is not None:
        remedy = Remedy(f"rename to `{guess}`", (Change(path, guess, "key", origin=origin),))
    return Fact(
        codes.UNKNOWN_HOOK_EVENT,
        values={"event": Shown(event), "nearest": guess},
        part="key",
        origin=origin,
        remedy=remedy,
    )


def _not_a_list(tree: Tree, path: Path, found: Any) -> Fact:
    origin = tree.story(path).origin
    way = (
        f"write `[[hooks.{path[-1]}]]`"
        if origin.document.format == "toml"
        else "put `- ` before its first key"
    )
    values = {
        "expected": "a list of hooks",
        "found": Shown(found, as_found=True),
        "hint": way if isinstance(found, dict) else None,
    }
    return Fact(core_codes.WRONG_TYPE, values=values, part="key", origin=origin)


def _stamped(tree: Tree, path: Path, layer: Layer | None, facts: list[Fact]) -> Tree:
    entries = tree.value["hooks"][path[-1]]
    own: list[Path] = []
    stamps: dict[Path, Tree] = {}
    for number, entry in enumerate(entries if isinstance(entries, list) else ()):
        if not isinstance(entry, dict):
            continue
        place = (*path, number, "source")
        if "source" in entry:
            values: dict[str, object] = {"field": "source", "owner": "`hook`", "nearest": None}
            origin = tree.story(place).origin
            facts.append(
                Fact(
                    core_codes.UNKNOWN_FIELD,
                    values=values,
                    part="key",
                    origin=origin,
                    severity="error",
                )
            )
            own.append(place)
        if layer is not None:
            stamps[place] = Tree(layer, Origins(tree.story(place[:-1]).origin))
    return graft(remove_all(tree, own), stamps)


def _without_null(tree: Tree, facts: list[Fact]) -> Tree:
    """A null in a hook is a mistake everywhere: taken for absent, it would drop a condition."""
    holes: dict[Path, Tree] = {}
    for path, value in walk(tree.value["hooks"], HOOKS):
        if value is None:
            origin = tree.story(path).origin
            values: dict[str, object] = {"expected": "a value", "found": Shown(None, as_found=True)}
            facts.append(Fact(core_codes.WRONG_TYPE, values=values, part="key", origin=origin))
            holes[path] = Tree(HOLE, tree.at(path).origins)
    return graft(tree, holes)


# -------------------------------------------------------------------------------------------------- rules


def check(config: Any) -> Iterator[Fact]:
    """What is wrong with the hooks of a plain configuration."""
    hooks = config.get("hooks") if isinstance(config, dict) else None
    for event, entries in hooks.items() if isinstance(hooks, dict) else ():
        for number, entry in enumerate(entries if isinstance(entries, list) else ()):
            if isinstance(entry, dict):
                path = (*HOOKS, event, number)
                at_event = entry.get("event") if event == DISABLE else event
                yield from _match(entry.get("match"), at_event, (*path, "match"))
                yield from _handler(entry.get("handler"), (*path, "handler"))


def _match(match: Any, event: Any, path: Path) -> Iterator[Fact]:
    if not isinstance(match, dict):
        return
    glob = match.get("tool_glob")
    if isinstance(glob, str) and (reason := problem_of(glob)) is not None:
        yield shared_codes.INVALID_GLOB.at(
            (*path, "tool_glob"), glob=Shown(glob), reason=GLOB_REASONS[reason]
        )
    if event in EVENTS and event not in TOOL_EVENTS:
        for condition in ("tool", "tool_glob", "safety"):
            if match.get(condition):
                yield codes.HOOK_NEVER_MATCHES.at(
                    (*path, condition), part="key", event=event, condition=condition
                )


def _handler(handler: Any, path: Path) -> Iterator[Fact]:
    kind = handler.get("type") if isinstance(handler, dict) else None
    if kind == "command":
        yield from _command(handler, path)
    if kind == "builtin":
        name = handler.get("name")
        if isinstance(name, str) and name not in BUILTINS:
            place = (*path, "name")
            yield codes.UNKNOWN_BUILTIN_HOOK.at(
                place, name=Shown(name), known=BUILTINS, nearest=nearest(name, BUILTINS)
            )


def _command(handler: dict[str, Any], path: Path) -> Iterator[Fact]:
    """A command has exactly one of two forms: `argv`, or `shell` with `command`."""
    form = _form(handler)
    if form is not None:
        code, key = form
        yield code.at((*path, key) if key else path, part="key")
    elif handler.get("argv") == []:
        yield codes.HOOK_ARGV_EMPTY.at((*path, "argv"))


def _form(handler: dict[str, Any]) -> tuple[Code, str | None] | None:
    has: Callable[[str], bool] = handler.__contains__
    if has("argv"):
        mixed = next((key for key in ("shell", "command") if has(key)), None)
        return (codes.HOOK_COMMAND_MIXED, mixed) if mixed else None
    if not has("shell"):
        return codes.HOOK_COMMAND_INCOMPLETE, "command" if has("command") else None
    if not has("command"):
        return codes.HOOK_SHELL_WITHOUT_COMMAND, "shell"
    return (codes.HOOK_COMMAND_MIXED, "argv_windows") if has("argv_windows") else None
