"""Hooks: what runs when something happens. Profiles and settings write them in the same way.

`prepare` runs before the model sees the hooks, `check` on the plain value after it, and
`drop_repeated_and_disabled` once the hooks of all layers of settings are in one tree.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Annotated, Any, Literal

import msgspec

from equipage.core import codes as core_codes
from equipage.core.codes import INVALID_GLOB
from equipage.core.frozen import EMPTY, StrictTable, convert, plain_data
from equipage.core.text import glob_hint, glob_problem
from equipage.formats.defect import codes
from equipage.loading.header import unknown_key
from equipage.loading.tree import punch_holes, remove_all, select_entries
from equipage.plugin import (
    HOLE,
    Also,
    Change,
    Document,
    Fact,
    Origin,
    Origins,
    Path,
    Remedy,
    Shown,
    Tree,
    entries_at,
    get,
    graft,
    mapping_or_empty,
    nearest,
    remove,
    walk,
)

Layer = Literal["user", "project", "project-local", "command line"]
#: The layers that a repository brings or that lie in it.
PROJECT_LAYERS = frozenset({"project", "project-local"})
Safety = Literal["read_only", "mutating", "destructive", "network"]
Shell = Literal["sh", "bash", "pwsh", "cmd"]
Seconds = Annotated[int, msgspec.Meta(ge=0)]


class HookMatch(StrictTable, frozen=True):
    """When a hook runs: all conditions must hold, and no condition means always."""

    tool: str | None = None
    """Only for the tool of this name."""
    tool_glob: str | None = None
    """Only for tools whose names match this pattern."""
    safety: tuple[Safety, ...] = ()
    """Only for tools of one of these classes."""


class BuiltinHandler(StrictTable, frozen=True, tag_field="type", tag="builtin"):
    """A hook that comes with the agent."""

    name: str
    """The name of the built-in hook."""


class ShellProgram(StrictTable, frozen=True):
    """A shell by its program."""

    program: str
    """The program to start."""
    args: tuple[str, ...] = ()
    """Its arguments; the command follows them."""


class CommandHandler(StrictTable, frozen=True, tag_field="type", tag="command"):
    """A program: its arguments, or a line for a shell."""

    argv: tuple[str, ...] | None = None
    """The program and its arguments, run without a shell."""
    argv_windows: tuple[str, ...] | None = None
    """What to run on Windows instead of `argv`."""
    shell: Shell | ShellProgram | None = None
    """The shell that runs `command`."""
    command: str | None = None
    """A line for the shell, instead of `argv`."""
    cwd: str | None = None
    """The folder to run in."""
    env: dict[str, str] = EMPTY
    """Environment variables to add."""
    timeout_sec: Seconds | None = None
    """How long it may run, in seconds."""


class JsonRender(StrictTable, frozen=True, tag_field="type", tag="json"):
    """The event as JSON."""


class TemplateRender(StrictTable, frozen=True, tag_field="type", tag="template"):
    """The event put into a template."""

    template: str
    """The text; `{{key}}` becomes a field of the event."""


class PromptHandler(StrictTable, frozen=True, tag_field="type", tag="prompt"):
    """A question to a model."""

    system: str
    """The system prompt of the model that judges the event."""
    render: JsonRender | TemplateRender
    """How the model sees the event."""
    model: str | None = None
    """The model to ask."""
    timeout_sec: Seconds | None = None
    """How long to wait for the answer, in seconds."""


Handler = BuiltinHandler | CommandHandler | PromptHandler


class Hook(StrictTable, frozen=True):
    """One hook."""

    handler: Handler
    """What runs."""
    name: str | None = None
    """A name for people."""
    match: HookMatch = HookMatch()
    """When it runs; by default always."""
    source: Layer | None = None
    """The layer that declared it; authors cannot write this."""


class Hooks(StrictTable, frozen=True):
    """The hooks of each event, in the order they run."""

    after_session_enter: tuple[Hook, ...] = ()
    """After a session started."""
    after_turn_enter: tuple[Hook, ...] = ()
    """After a turn started."""
    before_ingest: tuple[Hook, ...] = ()
    """Before input joins the conversation."""
    after_ingest: tuple[Hook, ...] = ()
    """After input joined the conversation."""
    before_compact: tuple[Hook, ...] = ()
    """Before the conversation is shortened."""
    after_compact: tuple[Hook, ...] = ()
    """After the conversation was shortened."""
    before_generate: tuple[Hook, ...] = ()
    """Before a request to the model."""
    after_generate: tuple[Hook, ...] = ()
    """After the model's answer."""
    before_permission: tuple[Hook, ...] = ()
    """Before the user is asked to permit a tool call."""
    after_permission: tuple[Hook, ...] = ()
    """After the user decided about a tool call."""
    before_tool_apply: tuple[Hook, ...] = ()
    """Before a tool runs."""
    after_tool_apply: tuple[Hook, ...] = ()
    """After a tool ran."""
    after_tool_batch: tuple[Hook, ...] = ()
    """After all tool calls of one answer."""
    before_turn_end: tuple[Hook, ...] = ()
    """Before a turn ends."""


EVENTS: tuple[str, ...] = Hooks.__struct_fields__
#: Events that concern a tool; at any other event a condition on the tool never holds.
TOOL_EVENTS = frozenset(event for event in EVENTS if "_permission" in event or "_tool_" in event)
#: The hooks that come with the agent.
BUILTINS = ("tracing-audit", "redact-secrets", "skill-manifest", "skill-triggers")
HOOKS: Path = ("hooks",)
DISABLE = "disable"


# Before the model.


def prepare(tree: Tree, layer: Layer | None, *, may_disable: bool) -> tuple[Tree, list[Fact]]:
    """Remove unknown events, and stamp each hook with its layer."""
    hooks = get(tree.value, HOOKS)
    if not isinstance(hooks, dict):
        return tree, []
    facts: list[Fact] = []
    unknown: list[Path] = []
    for event, entries in hooks.items():
        path = (*HOOKS, event)
        if event == DISABLE and may_disable:
            continue
        # An unknown event is removed, or the model would report it once more.
        if event not in EVENTS:
            facts.append(_unknown_event(tree, path))
            unknown.append(path)
        elif not isinstance(entries, list) and entries is not HOLE:
            facts.append(_not_a_list(tree, path, entries))
            tree = punch_holes(tree, [path])
        else:
            tree = _stamp_layer(tree, path, layer, facts)
    tree = remove_all(tree, unknown)
    # Every null in a hook is a mistake: if it counted as absent, a condition would be lost.
    nulls = [path for path, value in walk(get(tree.value, HOOKS), HOOKS) if value is None]
    facts += [_wrong_type(tree.provenance(path).origin, "a value", None) for path in nulls]
    return punch_holes(tree, nulls), facts


def _unknown_event(tree: Tree, path: Path) -> Fact:
    event = str(path[-1])
    origin = tree.provenance(path).origin
    if event == DISABLE:
        return codes.HOOK_DISABLE_IN_PROFILE.at(part="key", origin=origin)
    guess = nearest(event, EVENTS)
    remedy = None
    if guess is not None:
        remedy = Remedy(f"rename to `{guess}`", (Change(path, guess, "key", origin=origin),))
    return codes.UNKNOWN_HOOK_EVENT.at(
        part="key", origin=origin, remedy=remedy, event=Shown(event), nearest=guess
    )


def _not_a_list(tree: Tree, path: Path, found: Any) -> Fact:
    origin = tree.provenance(path).origin
    hint = None
    if isinstance(found, dict):
        in_toml = origin.document.syntax == "toml"
        hint = f"write `[[hooks.{path[-1]}]]`" if in_toml else "put `- ` before its first key"
    return _wrong_type(origin, "a list of hooks", found, hint)


def _wrong_type(origin: Origin, expected: str, found: Any, hint: str | None = None) -> Fact:
    shown = Shown(found, as_found=True)
    return core_codes.WRONG_TYPE.at(
        part="key", origin=origin, expected=expected, found=shown, hint=hint
    )


def _stamp_layer(tree: Tree, path: Path, layer: Layer | None, facts: list[Fact]) -> Tree:
    """The tree with `source` in each hook of an event; authors cannot write that key themselves."""
    written: list[Path] = []
    stamps: dict[Path, Tree] = {}
    for at, entry in entries_at(tree.value, path):
        if not isinstance(entry, dict):
            continue
        place = (*at, "source")
        if "source" in entry:
            facts.append(unknown_key(tree, place, "`hook`", "error"))
            written.append(place)
        # A stamp comes from the hook itself, so that findings about it have a place.
        if layer is not None:
            stamps[place] = Tree(layer, Origins(tree.provenance(at).origin))
    return graft(remove_all(tree, written), stamps)


# After the model.


def check(config: Any) -> Iterator[Fact]:
    """What is wrong with the hooks of a plain configuration."""
    for event in mapping_or_empty(get(config, HOOKS)):
        for path, entry in entries_at(config, (*HOOKS, event)):
            if isinstance(entry, dict):
                # An entry of `disable` has the form of a hook, and names the event itself.
                at_event = entry.get("event") if event == DISABLE else event
                yield from _check_match(entry.get("match"), at_event, (*path, "match"))
                yield from _check_handler(entry.get("handler"), (*path, "handler"))


def _check_match(match: Any, event: Any, path: Path) -> Iterator[Fact]:
    yield from check_glob(get(match, ("tool_glob",)), (*path, "tool_glob"))
    if event in EVENTS and event not in TOOL_EVENTS:
        for condition in ("tool", "tool_glob", "safety"):
            if get(match, (condition,)):
                yield codes.HOOK_NEVER_MATCHES.at(
                    (*path, condition), part="key", event=event, condition=condition
                )


def check_glob(glob: Any, path: Path) -> Iterator[Fact]:
    """A finding if the pattern at a path is not valid."""
    reason = glob_problem(glob) if isinstance(glob, str) else None
    if reason is not None:
        yield INVALID_GLOB.at(path, glob=Shown(glob), reason=reason, hint=glob_hint(reason))


def _check_handler(handler: Any, path: Path) -> Iterator[Fact]:
    kind, name = get(handler, ("type",)), get(handler, ("name",))
    if kind == "command":
        yield from _check_command(handler, path)
    if kind == "builtin" and isinstance(name, str) and name not in BUILTINS:
        guess = nearest(name, BUILTINS)
        yield codes.UNKNOWN_BUILTIN_HOOK.at(
            (*path, "name"), name=Shown(name), known=BUILTINS, nearest=guess
        )


def _check_command(handler: dict[str, Any], path: Path) -> Iterator[Fact]:
    """A command has exactly one of two forms: `argv`, or `shell` with `command`."""
    if "argv" in handler:
        mixed = next((key for key in ("shell", "command") if key in handler), None)
        if mixed is not None:
            yield codes.HOOK_COMMAND_MIXED.at((*path, mixed), part="key")
        elif handler["argv"] == []:
            yield codes.HOOK_ARGV_EMPTY.at((*path, "argv"))
    elif "shell" not in handler:
        place = (*path, "command") if "command" in handler else path
        yield codes.HOOK_COMMAND_INCOMPLETE.at(place, part="key")
    elif "command" not in handler:
        yield codes.HOOK_SHELL_WITHOUT_COMMAND.at((*path, "shell"), part="key")
    elif "argv_windows" in handler:
        yield codes.HOOK_COMMAND_MIXED.at((*path, "argv_windows"), part="key")


def disabled_events_exist(config: Any) -> Iterator[Fact]:
    """Every `disable` names a known event."""
    for path, entry in entries_at(config, (*HOOKS, DISABLE)):
        event = get(entry, ("event",))
        if isinstance(event, str) and event not in EVENTS:
            guess = nearest(event, EVENTS)
            yield codes.UNKNOWN_HOOK_EVENT.at((*path, "event"), event=Shown(event), nearest=guess)


# The hooks of all layers, appended to each other.


def drop_repeated_and_disabled(
    tree: Tree, layer_of: Callable[[Document], str | None]
) -> tuple[Tree, list[Fact]]:
    """The merged tree with each hook once, and without the hooks that any layer disables.

    Two hooks are the same if their conditions and handlers are; the first one stays. `disable` is
    removed.
    """
    for event in EVENTS:
        entries = get(tree.value, (*HOOKS, event))
        if isinstance(entries, list):
            # The number of the first hook of each identity, in order.
            first: dict[str, int] = {}
            for number, entry in enumerate(entries):
                first.setdefault(_identity(entry), number)
            if len(first) < len(entries):
                tree = select_entries(tree, (*HOOKS, event), list(first.values()))
    facts: list[Fact] = []
    done: set[str] = set()
    disabled = get(tree.value, (*HOOKS, DISABLE))
    for path, entry in entries_at(tree.value, (*HOOKS, DISABLE)):
        before, what = tree, f"{get(entry, ('event',))} {_identity(entry)}"
        tree, found = _apply_disable(tree, entry, tree.provenance(path).origin, layer_of)
        # A hook that another layer has disabled already is gone, as this layer wants it.
        if tree is not before or what not in done:
            facts += found
        if tree is not before:
            done.add(what)
    return (remove(tree, (*HOOKS, DISABLE)) if disabled is not None else tree), facts


def _apply_disable(
    tree: Tree, entry: Any, origin: Origin, layer_of: Callable[[Document], str | None]
) -> tuple[Tree, list[Fact]]:
    """The tree without the hooks that one entry of `disable` is about."""
    event = get(entry, ("event",))
    if event not in EVENTS:
        return tree, []  # reported when the layer was checked alone
    path: Path = (*HOOKS, event)
    wanted, entries = _identity(entry), [hook for _, hook in entries_at(tree.value, path)]
    hit = [each for each, hook in enumerate(entries) if _identity(hook) == wanted]
    if not hit:
        return tree, [codes.HOOK_DISABLE_IDLE.at(origin=origin, event=event)]
    # Report only a project that disables a hook of the user.
    layer = layer_of(origin.document)
    facts = [
        codes.PROJECT_DISABLES_HOOK.at(
            origin=origin,
            also=(Also("the hook", origin=tree.provenance((*path, each)).origin),),
            severity="note" if layer == "project-local" else None,
            event=event,
        )
        for each in hit
        if layer in PROJECT_LAYERS and get(entries[each], ("source",)) == "user"
    ]
    return select_entries(
        tree, path, [each for each in range(len(entries)) if each not in hit]
    ), facts


def _identity(entry: Any) -> str:
    """What makes two hooks the same: conditions and handler as a program gets them."""
    parts = entry
    if isinstance(entry, dict):
        parts = {key: entry[key] for key in ("match", "handler") if key in entry}
    with suppress(msgspec.ValidationError):  # other checks report what is wrong with it
        parts = plain_data(convert(parts, Hook))
    return json.dumps(parts, sort_keys=True, default=repr)
