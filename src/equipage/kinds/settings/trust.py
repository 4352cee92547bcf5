"""What a project decides for the person who works in it.

A cloned repository may set every key. Nothing here is refused; what sends data elsewhere, opens the sandbox or
runs programs is said plainly. Of this machine's own layer it is only noted.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import Any

from equipage.diagnostics import Also, Fact, Severity, Shown
from equipage.kinds.profile.hooks import EVENTS
from equipage.kinds.settings.hook_layers import PROJECT_LAYERS
from equipage.kinds.settings.mcp import ENABLED, SERVERS
from equipage.path import ROOT, Path
from equipage.tree import Tree, get

#: From the narrowest to the widest.
_SANDBOXES = ("deny-all", "read-only", "ask-writes", "open")
_DEFAULT_SANDBOX = "ask-writes"
_MODE: Path = ("sandbox", "mode")
#: Keys of a provider → what it means when a project sets them.
_PROVIDER = {
    "base_url": "project-redirects-provider",
    "headers": "project-redirects-provider",
    "auth_header": "project-redirects-provider",
    "api_key_env": "project-picks-credential",
}
_PLACES: tuple[tuple[Path, str], ...] = (
    (("http", "proxy", "http_proxy"), "project-sets-proxy"),
    (("http", "proxy", "https_proxy"), "project-sets-proxy"),
    (("tracing", "otlp", "endpoint"), "project-sends-traces"),
    (("tracing", "langfuse", "host"), "project-sends-traces"),
    (("tracing", "langfuse", "public_key"), "project-sends-traces"),
    (("tracing", "langfuse", "secret_key"), "project-sends-traces"),
)
#: Never shown, whatever it is.
_SECRET = frozenset({"secret_key", "public_key", "headers", "auth_header"})
#: Keys of an MCP server that decide what runs, or who is called with which secrets.
_SERVER = frozenset({"command", "args", "env", "url", "headers"})
_FILES: tuple[Path, ...] = (("base_prompt", "file"), ("prompt", "file"))


def facts(layer: str | None, tree: Tree, below: Tree | None = None, root: str | None = None) -> Iterator[Fact]:
    """What the layer `tree` decides over the layers `below` it."""
    if layer not in PROJECT_LAYERS or not isinstance(tree.value, dict):
        return
    severity: Severity | None = "note" if layer == "project-local" else None
    found = (*_sandbox(tree, below), *_keys(tree), *_reaching(tree, root), *_hooks(tree), *_servers(tree, below))
    for code, path, values in found:
        also = tuple(_below(below, path))
        yield Fact(code, values=values, origin=tree.story(path).origin, also=also, severity=severity)


Found = tuple[str, Path, dict[str, object]]


def _below(below: Tree | None, path: Path) -> Iterator[Also]:
    # The entry of a list has no counterpart below: the whole list is replaced.
    if below is not None and get(below.value, path) is not None and path[:-1] != ENABLED:
        yield Also("replaces this", origin=below.story(path).origin)


def _sandbox(tree: Tree, below: Tree | None) -> Iterator[Found]:
    mode = get(tree.value, _MODE)
    before = get(below.value, _MODE) if below is not None else None
    before = before if before in _SANDBOXES else _DEFAULT_SANDBOX
    if mode in _SANDBOXES and _SANDBOXES.index(mode) > _SANDBOXES.index(before):
        yield "project-loosens-sandbox", _MODE, {"mode": mode, "below": before}


def _keys(tree: Tree) -> Iterator[Found]:
    providers = get(tree.value, ("providers",))
    for name, provider in providers.items() if isinstance(providers, dict) else ():
        for key, code in _PROVIDER.items():
            found = get(provider, (key,))
            if found and isinstance(found, str | dict):
                yield code, ("providers", name, key), {"provider": Shown(name), "key": key, "found": _shown(key, found)}
    for path, code in _PLACES:
        found = get(tree.value, path)
        if isinstance(found, str):
            key = str(path[-1])
            yield code, path, {"key": ".".join(map(str, path)), "found": _shown(key, found)}


def _shown(key: str, value: Any) -> object:
    return "set" if key in _SECRET else Shown((value,) if isinstance(value, str) else value)


def _reaching(tree: Tree, root: str | None) -> Iterator[Found]:
    """Prompt files that a project takes from elsewhere."""
    for path in _FILES:
        file = get(tree.value, path)
        if isinstance(file, str) and _leaves(tree, path, file, root):
            yield "project-reads-outside", path, {"key": ".".join(map(str, path)), "found": Shown(file)}


def _leaves(tree: Tree, path: Path, file: str, root: str | None) -> bool:
    source = tree.story(ROOT).origin.document.source
    base = os.path.dirname(source.path) if source.path and path[0] == "base_prompt" else root
    if base is None or root is None:
        return os.path.isabs(file) or ".." in file.split("/")
    target = os.path.normpath(os.path.join(base, file))
    return not target.startswith(root.rstrip(os.sep) + os.sep)


def _hooks(tree: Tree) -> Iterator[Found]:
    hooks = get(tree.value, ("hooks",))
    for event, entries in hooks.items() if isinstance(hooks, dict) else ():
        for number, entry in enumerate(entries if isinstance(entries, list) and event in EVENTS else ()):
            handler = get(entry, ("handler",))
            line = _line(get(handler, ("argv",)) or get(handler, ("command",)))
            if line is not None and get(handler, ("type",)) == "command":
                yield "project-runs-command", ("hooks", event, number, "handler"), {"event": event, "found": line}


def _servers(tree: Tree, below: Tree | None) -> Iterator[Found]:
    """Servers of other layers that this one changes; and those it starts, whichever layers define and enable them."""
    lower = below.value if below is not None else {}
    servers, listed, before = get(tree.value, SERVERS), get(tree.value, ENABLED), get(lower, ENABLED, [])
    for name, own in servers.items() if isinstance(servers, dict) else ():
        yield from _changes((*SERVERS, name), own, get(lower, (*SERVERS, name)))
    enabled = before if listed is None else listed
    for number, name in enumerate(enabled if isinstance(enabled, list) else ()):
        path: Path = (*SERVERS, name)
        own, known = get(tree.value, path), get(lower, path)
        if own is not None and known is None:
            yield from _program(path, own, (*path, "command"))
        elif own is None and listed is not None and isinstance(before, list) and name not in before:
            yield from _program(path, known, (*ENABLED, number))


def _changes(path: Path, own: Any, known: Any) -> Iterator[Found]:
    for key, value in own.items() if isinstance(own, dict) and isinstance(known, dict) else ():
        shown = _changed(value, known.get(key)) if key in _SERVER else None
        if shown is not None:
            yield "project-changes-server", (*path, key), {"name": Shown(path[-1]), "key": key, "found": shown}


def _changed(value: Any, before: Any) -> object:
    """What a key of a server is now, in words; None if that is nothing new."""
    if isinstance(value, dict):  # tables are merged; what is in them may be secret
        same = isinstance(before, dict) and value.items() <= before.items()
        return "set" if value and not same else None
    if value == before:
        return None
    return "empty" if value in ("", []) else _line(value)


def _program(path: Path, server: Any, at: Path) -> Iterator[Found]:
    """A server that is a program; `at` is what makes it start."""
    command, args = get(server, ("command",)), get(server, ("args",), [])
    line = _line([command, *args] if isinstance(args, list) else None)
    if line is not None:
        yield "project-runs-server", at, {"name": Shown(path[-1]), "found": line}


def server_facts(tree: Tree, enabled: Iterable[str]) -> Iterator[Fact]:
    """The servers of a `.mcp.json` that are programs; being there enables them."""
    for name in enabled:
        path: Path = (*SERVERS, name)
        for code, at, values in _program(path, get(tree.value, path), (*path, "command")):
            yield Fact(code, values=values, origin=tree.story(at).origin)


def _line(found: Any) -> Shown | None:
    """A command as one line; None if it is none, or a part of it is missing."""
    parts = found if isinstance(found, list) else [found]
    return Shown((" ".join(parts),)) if parts and all(isinstance(part, str) for part in parts) else None
