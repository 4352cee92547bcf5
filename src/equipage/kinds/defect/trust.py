"""What a project decides for the person who works in it.

A cloned repository may set every key of the settings. Equipage refuses none of them, but reports
every setting that sends data elsewhere, opens the sandbox or runs programs. In the layer of this
machine, `config.local.toml`, these are only notes.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import Any

from msgspec.structs import replace

from equipage.core.diagnostics import Also, Code, Fact, Severity, Shown
from equipage.core.path import ROOT, Path
from equipage.kinds.defect import codes
from equipage.kinds.defect.hooks import EVENTS, PROJECT_LAYERS
from equipage.kinds.mcp.strict import ENABLED, SERVERS
from equipage.kinds.shared import entries_at, table_at
from equipage.loading.tree import Tree, get

#: From the narrowest to the widest.
SANDBOXES = ("deny-all", "read-only", "ask-writes", "open")
DEFAULT_SANDBOX = "ask-writes"
_MODE: Path = ("sandbox", "mode")
#: Keys of a provider, and what it means that a project sets them.
_PROVIDER = {
    "base_url": codes.PROJECT_REDIRECTS_PROVIDER,
    "headers": codes.PROJECT_REDIRECTS_PROVIDER,
    "auth_header": codes.PROJECT_REDIRECTS_PROVIDER,
    "api_key_env": codes.PROJECT_PICKS_CREDENTIAL,
}
_ADDRESSES: tuple[tuple[tuple[str, ...], Code], ...] = (
    (("http", "proxy", "http_proxy"), codes.PROJECT_SETS_PROXY),
    (("http", "proxy", "https_proxy"), codes.PROJECT_SETS_PROXY),
    (("tracing", "otlp", "endpoint"), codes.PROJECT_SENDS_TRACES),
    (("tracing", "langfuse", "host"), codes.PROJECT_SENDS_TRACES),
    (("tracing", "langfuse", "public_key"), codes.PROJECT_SENDS_TRACES),
    (("tracing", "langfuse", "secret_key"), codes.PROJECT_SENDS_TRACES),
)
#: Keys whose values are never shown.
_SECRET = frozenset({"secret_key", "public_key", "headers", "auth_header"})
#: Keys of an MCP server that decide which program runs, or which address gets which secrets.
_SERVER = frozenset({"command", "args", "env", "url", "headers"})
_FILES: tuple[tuple[str, ...], ...] = (("base_prompt", "file"), ("prompt", "file"))


def facts(
    layer: str | None, tree: Tree, below: Tree | None = None, root: str | None = None
) -> Iterator[Fact]:
    """What the layer `tree` decides over the layers `below` it."""
    if layer not in PROJECT_LAYERS or not isinstance(tree.value, dict):
        return
    found = (
        *_sandbox(tree, below),
        *_keys(tree),
        *_prompt_files(tree, root),
        *_hooks(tree),
        *_servers(tree, below),
    )
    for fact in found:
        also: tuple[Also, ...] = ()
        # An entry of a list replaces nothing by itself: the whole list is replaced.
        is_entry = fact.path[:-1] == ENABLED
        if below is not None and get(below.value, fact.path) is not None and not is_entry:
            also = (Also("replaces this", origin=below.story(fact.path).origin),)
        severity: Severity | None = "note" if layer == "project-local" else None
        yield replace(_at_origin(fact, tree), also=also, severity=severity)


def _at_origin(fact: Fact, tree: Tree) -> Fact:
    """The fact at the place in its document, whatever is merged over it later."""
    return replace(fact, path=ROOT, origin=tree.story(fact.path).origin)


def _sandbox(tree: Tree, below: Tree | None) -> Iterator[Fact]:
    mode = get(tree.value, _MODE)
    before = get(below.value, _MODE) if below is not None else None
    # A value that no layer below sets, or sets wrongly, leaves the default.
    before = before if before in SANDBOXES else DEFAULT_SANDBOX
    if mode in SANDBOXES and SANDBOXES.index(mode) > SANDBOXES.index(before):
        yield codes.PROJECT_LOOSENS_SANDBOX.at(_MODE, mode=mode, below=before)


def _keys(tree: Tree) -> Iterator[Fact]:
    """Where requests and traces go, and with which key."""
    for name, provider in table_at(tree.value, ("providers",)).items():
        for key, code in _PROVIDER.items():
            found = get(provider, (key,))
            if found and isinstance(found, str | dict):
                path = ("providers", name, key)
                yield code.at(path, provider=Shown(name), key=key, found=_shown(key, found))
    for place, code in _ADDRESSES:
        found = get(tree.value, place)
        if isinstance(found, str):
            yield code.at(place, key=".".join(place), found=_shown(place[-1], found))


def _shown(key: str, value: Any) -> object:
    return "set" if key in _SECRET else Shown((value,) if isinstance(value, str) else value)


def _prompt_files(tree: Tree, root: str | None) -> Iterator[Fact]:
    """Prompt files from outside the repository."""
    source = tree.story(ROOT).origin.document.source
    for path in _FILES:
        file = get(tree.value, path)
        if not isinstance(file, str):
            continue
        # `base_prompt.file` starts at its `config.toml`, `prompt.file` at the root.
        base = (
            os.path.dirname(source.filename)
            if source.filename and path[0] == "base_prompt"
            else root
        )
        if base is None or root is None:
            leaves = os.path.isabs(file) or ".." in file.split("/")
        else:
            target = os.path.normpath(os.path.join(base, file))
            leaves = not target.startswith(root.rstrip(os.sep) + os.sep)
        if leaves:
            yield codes.PROJECT_READS_OUTSIDE.at(path, key=".".join(path), found=Shown(file))


def _hooks(tree: Tree) -> Iterator[Fact]:
    """Programs that run at an event."""
    for event in EVENTS:
        for at, entry in entries_at(tree.value, ("hooks", event)):
            handler = get(entry, ("handler",))
            line = _line(get(handler, ("argv",)) or get(handler, ("command",)))
            if line is not None and get(handler, ("type",)) == "command":
                yield codes.PROJECT_RUNS_COMMAND.at((*at, "handler"), event=event, found=line)


def _servers(tree: Tree, below: Tree | None) -> Iterator[Fact]:
    """Servers of lower layers that this layer changes, and servers that it starts.

    A server starts once some layer defines it and `enabled_servers` names it.
    """
    lower = below.value if below is not None else {}
    listed, before = get(tree.value, ENABLED), get(lower, ENABLED, [])
    for name, own in table_at(tree.value, SERVERS).items():
        yield from _changes((*SERVERS, name), own, get(lower, (*SERVERS, name)))
    # Lists replace each other, so the list of this layer counts alone.
    enabled = before if listed is None else listed
    for number, name in enumerate(enabled if isinstance(enabled, list) else ()):
        if not isinstance(name, str):
            continue  # the model reports it
        path: Path = (*SERVERS, name)
        own, known = get(tree.value, path), get(lower, path)
        if own is not None and known is None:
            yield from _program(path, own, (*path, "command"))
        elif own is None and listed is not None and isinstance(before, list) and name not in before:
            yield from _program(path, known, (*ENABLED, number))


def _changes(path: Path, own: Any, known: Any) -> Iterator[Fact]:
    """The keys of a lower layer's server that this layer sets to something else."""
    if not isinstance(own, dict) or not isinstance(known, dict):
        return
    for key, value in own.items():
        before = known.get(key)
        if key not in _SERVER or value == before:
            continue
        found: object = "empty" if value in ("", []) else _line(value)
        if isinstance(value, dict):  # tables are merged, and their values may be secret
            is_new = value and not (isinstance(before, dict) and value.items() <= before.items())
            found = "set" if is_new else None
        if found is not None:
            yield codes.PROJECT_CHANGES_SERVER.at(
                (*path, key), name=Shown(path[-1]), key=key, found=found
            )


def _program(path: Path, server: Any, at: Path) -> Iterator[Fact]:
    """A server that is a program; `at` is the path of the value that starts it."""
    command, args = get(server, ("command",)), get(server, ("args",), [])
    line = _line([command, *args] if isinstance(args, list) else None)
    if line is not None:
        yield codes.PROJECT_RUNS_SERVER.at(at, name=Shown(path[-1]), found=line)


def server_facts(tree: Tree, enabled: Iterable[str]) -> Iterator[Fact]:
    """The servers of a `.mcp.json` that are programs; the file enables all that it defines."""
    for name in enabled:
        path: Path = (*SERVERS, name)
        for fact in _program(path, get(tree.value, path), (*path, "command")):
            yield _at_origin(fact, tree)


def _line(found: Any) -> Shown | None:
    """A command as one line; None if it is not a command, or a part of it is missing."""
    parts = found if isinstance(found, list) else [found]
    if parts and all(isinstance(part, str) for part in parts):
        return Shown((" ".join(parts),))
    return None
