"""What a project decides for the person who works in it.

A cloned repository may set every key. Nothing here is refused; what sends data elsewhere, opens the sandbox or
runs programs is said plainly. Of this machine's own layer it is only noted.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import Any

from lading.diagnostics import Also, Fact, Severity, Shown
from lading.kinds.profile.hooks import EVENTS
from lading.kinds.settings.hook_layers import PROJECT_LAYERS
from lading.kinds.settings.mcp import ENABLED, SERVERS
from lading.path import ROOT, Path
from lading.tree import Tree, get

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
_FILES: tuple[Path, ...] = (("base_prompt", "file"), ("prompt", "file"))


def facts(layer: str | None, tree: Tree, below: Tree | None = None, root: str | None = None) -> Iterator[Fact]:
    """What the layer `tree` decides over the layers `below` it."""
    if layer not in PROJECT_LAYERS or not isinstance(tree.value, dict):
        return
    severity: Severity | None = "note" if layer == "project-local" else None
    for code, path, values in (*_sandbox(tree, below), *_keys(tree), *_reaching(tree, root), *_programs(tree)):
        also = tuple(_below(below, path))
        yield Fact(code, values=values, origin=tree.story(path).origin, also=also, severity=severity)


Found = tuple[str, Path, dict[str, object]]


def _below(below: Tree | None, path: Path) -> Iterator[Also]:
    if below is not None and get(below.value, path) is not None:
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
            if found:
                yield code, ("providers", name, key), {"provider": Shown(name), "key": key, "found": _shown(key, found)}
    for path, code in _PLACES:
        found = get(tree.value, path)
        if found is not None:
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


def _programs(tree: Tree) -> Iterator[Found]:
    hooks = get(tree.value, ("hooks",))
    for event, entries in hooks.items() if isinstance(hooks, dict) else ():
        for number, entry in enumerate(entries if isinstance(entries, list) and event in EVENTS else ()):
            handler = get(entry, ("handler",))
            found = get(handler, ("argv",)) or get(handler, ("command",))
            if isinstance(found, str | list) and get(handler, ("type",)) == "command":
                path = ("hooks", event, number, "handler")
                yield "project-runs-command", path, {"event": event, "found": _line(found)}
    enabled = get(tree.value, ENABLED)
    yield from _servers(tree, enabled if isinstance(enabled, list) else [])


def _servers(tree: Tree, enabled: Iterable[Any]) -> Iterator[Found]:
    for name in enabled:
        server = get(tree.value, (*SERVERS, name))
        command = get(server, ("command",))
        if isinstance(command, str):
            args = get(server, ("args",))
            found = [command, *(args if isinstance(args, list) else [])]
            yield "project-runs-server", (*SERVERS, name, "command"), {"name": Shown(name), "found": _line(found)}


def server_facts(tree: Tree, enabled: Iterable[str]) -> Iterator[Fact]:
    """The servers of a `.mcp.json` that are programs; being there enables them."""
    for code, path, values in _servers(tree, enabled):
        yield Fact(code, values=values, origin=tree.story(path).origin)


def _line(found: str | list[Any]) -> Shown:
    return Shown((found if isinstance(found, str) else " ".join(map(str, found)),))
