"""What a project decides for the person who works in it.

A cloned repository may set every key. Nothing here is refused; what sends data elsewhere, opens the sandbox or
runs programs is said plainly. Of this machine's own layer it is only noted.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import msgspec

from equipage.core.diagnostics import Also, Fact, Severity, Shown, fact
from equipage.core.frozen import plain_data
from equipage.core.path import ROOT, Path
from equipage.core.source import Source, Span
from equipage.core.text import nearest
from equipage.kinds.defect.hooks import DISABLE, EVENTS, HOOKS, Hook
from equipage.kinds.defect.settings_mcp import ENABLED, SERVERS
from equipage.loading.tree import Tree, get, remove, select
from equipage.syntax import SyntaxProblem, toml
from equipage.syntax.document import Document

# --- hook_layers -------------------------------------------------------------------------------
# Hooks of several layers: appended, told apart, and disabled.

PROJECT_LAYERS = frozenset({"project", "project-local"})


def settle(tree: Tree, layer_of: Callable[[Document], str | None]) -> tuple[Tree, list[Fact]]:
    """The merged tree with each hook once, and without those that any layer disables.

    Two hooks are the same if their conditions and handlers are; the first stays. `disable` is gone afterwards.
    """
    facts: list[Fact] = []
    done: set[str] = set()
    disabled = get(tree.value, (*HOOKS, DISABLE))
    for event in EVENTS:
        entries = get(tree.value, (*HOOKS, event))
        if isinstance(entries, list):
            tree = _once(tree, (*HOOKS, event), entries)
    for number, entry in enumerate(disabled if isinstance(disabled, list) else ()):
        before, what = tree, f"{get(entry, ('event',))} {_identity(entry)}"
        tree, found = _disable(tree, entry, number, layer_of)
        if tree is not before:
            done.add(what)
        if (
            what not in done or tree is not before
        ):  # what another layer disabled already is as this one wants it
            facts += found
    return (remove(tree, (*HOOKS, DISABLE)) if disabled is not None else tree), facts


def _once(tree: Tree, path: Path, entries: list[Any]) -> Tree:
    seen: set[str] = set()
    kept: list[int] = []
    for number, entry in enumerate(entries):
        identity = _identity(entry)
        if identity not in seen:
            kept.append(number)
        seen.add(identity)
    return tree if len(kept) == len(entries) else select(tree, path, kept)


def _disable(
    tree: Tree, entry: Any, number: int, layer_of: Callable[[Document], str | None]
) -> tuple[Tree, list[Fact]]:
    event = entry.get("event") if isinstance(entry, dict) else None
    if event not in EVENTS:
        return tree, []  # said when the layer was checked alone
    path: Path = (*HOOKS, str(event))
    entries = get(tree.value, path, [])
    wanted = _identity(entry)
    hit = [
        each
        for each, hook in enumerate(entries if isinstance(entries, list) else ())
        if _identity(hook) == wanted
    ]
    origin = tree.story((*HOOKS, DISABLE, number)).origin
    values: dict[str, object] = {"event": event}
    if not hit:
        return tree, [Fact("hook-disable-idle", values=values, origin=origin)]
    facts: list[Fact] = []
    for each in hit:
        of_user = isinstance(entries[each], dict) and entries[each].get("source") == "user"
        layer = layer_of(origin.document)
        if of_user and layer in PROJECT_LAYERS:
            also = (Also("the hook", origin=tree.story((*path, each)).origin),)
            severity: Any = "note" if layer == "project-local" else None
            facts.append(
                Fact(
                    "project-disables-hook",
                    values=values,
                    origin=origin,
                    also=also,
                    severity=severity,
                )
            )
    return select(tree, path, [each for each in range(len(entries)) if each not in hit]), facts


def _identity(entry: Any) -> str:
    """What makes two hooks the same: the conditions and the handler a program gets, whatever was left to defaults."""
    parts = (
        {key: entry[key] for key in ("match", "handler") if key in entry}
        if isinstance(entry, dict)
        else entry
    )
    try:
        same = plain_data(msgspec.convert(parts, Hook))
    except msgspec.ValidationError:  # something is wrong with it, which is told elsewhere
        same = parts
    return json.dumps(same, sort_keys=True, default=repr)


def disabled_events_exist(config: Any) -> Iterator[Fact]:
    """Every `disable` names a known event."""
    entries = get(config, (*HOOKS, DISABLE))
    for number, entry in enumerate(entries if isinstance(entries, list) else ()):
        event = entry.get("event") if isinstance(entry, dict) else None
        if isinstance(event, str) and event not in EVENTS:
            path = (*HOOKS, DISABLE, number, "event")
            yield fact(
                "unknown-hook-event", path, event=Shown(event), nearest=nearest(event, EVENTS)
            )


# --- overrides ---------------------------------------------------------------------------------
# `KEY=VALUE` from the command line as a layer of settings.
#
# The value is what TOML makes of it; where TOML makes nothing of it, it is text. Dots in the key lead into tables;
# a part that holds a dot itself stands in quotes. Later settings win.

NAME = "--config"
_PART = re.compile(r'"(?P<quoted>(?:[^"\\]|\\.)*)"|\'(?P<literal>[^\']*)\'|(?P<bare>[^.]*)')
#: Text that looks as if it was meant as something else, and what to write then.
_SUSPECTS: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"\[.*\]", re.DOTALL), 'put quotes around each text: `["a", "b"]`'),
    (re.compile(r"\{.*\}", re.DOTALL), 'write a table as `{ key = "value" }`'),
    (re.compile(r"(?i:true|yes|on)"), "write `true`"),
    (re.compile(r"(?i:false|no|off)"), "write `false`"),
    (re.compile(r"(?i:null|none|nil)"), "a setting cannot be unset; leave it out"),
)


class Overrides(msgspec.Struct, frozen=True):
    """The layer of the command line, and how each part of it was written."""

    document: Document
    written: tuple[tuple[Path, str], ...]

    def text_for(self, path: Path) -> str | None:
        """The setting a path came from; the last one wins."""
        found = None
        for key, text in self.written:
            if key == path[: len(key)] or path == key[: len(path)]:
                found = text
        return found


def read_overrides(settings: Iterable[str]) -> tuple[Overrides, list[Fact]]:
    """All settings of a command line as one document, and what is wrong with them."""
    given = list(settings)
    source = Source.of_text(NAME, "\n".join(given))
    value: dict[str, Any] = {}
    facts: list[Fact] = []
    written: list[tuple[Path, str]] = []
    for setting in given:
        found = _setting(setting, source, facts) if _is_text(setting, source, facts) else None
        if found is None:
            continue
        path, parsed = found
        if path[0] == "hooks":
            facts.append(_fact("override-hooks", source, path, key=Shown(".".join(map(str, path)))))
            continue
        _set(value, path, parsed)
        written.append((path, setting))
    return Overrides(Document(source, "text", value), tuple(written)), facts


def _setting(setting: str, source: Source, facts: list[Fact]) -> tuple[tuple[str, ...], Any] | None:
    key, equals, text = setting.partition("=")
    path = _key(key.strip())
    if not equals or not key.strip() or path is None:
        facts.append(_fact("override-malformed", source, found=Shown(setting)))
        return None
    if not all(path):
        facts.append(_fact("override-key-empty", source, key=Shown(key.strip())))
        return None
    return path, _value(text.strip(), path, source, facts)


def _is_text(setting: str, source: Source, facts: list[Fact]) -> bool:
    """Whether a setting can be written down at all: an argument may hold bytes that are no characters."""
    try:
        setting.encode()
    except UnicodeEncodeError:
        readable = setting.encode(errors="backslashreplace").decode()
        facts.append(_fact("override-not-text", source, found=Shown(readable)))
        return False
    return True


def _key(key: str) -> tuple[str, ...] | None:
    """The parts of a dotted key, some of which may be empty; None if it is none."""
    parts: list[str] = []
    position = 0
    while True:
        match = _PART.match(key, position)
        assert match is not None
        part = _part(match)
        if part is None or (match.end() < len(key) and key[match.end()] != "."):
            return None
        parts.append(part)
        if match.end() == len(key):
            return tuple(parts)
        position = match.end() + 1


def _part(match: re.Match[str]) -> str | None:
    """A part of a key as TOML reads it; None if it has an escape that means nothing."""
    if match["quoted"] is None:
        return match["literal"] or match["bare"] or ""
    try:
        key: Any = toml.load(f"x = {match.group()}").value
    except SyntaxProblem:
        return None
    return str(key["x"])


def _value(text: str, path: Path, source: Source, facts: list[Fact]) -> Any:
    try:
        parsed = toml.load(f"x = {text}")
    except SyntaxProblem:
        return _as_text(text, path, source, facts)
    value = parsed.value
    # A line break could smuggle in assignments of other keys; then it is no single value.
    if not isinstance(value, dict) or set(value) != {"x"}:
        return _as_text(text, path, source, facts)
    facts += [_fact(each.code, source, path, found=Shown(text)) for each in parsed.irregularities]
    return value["x"]


def _as_text(text: str, path: Path, source: Source, facts: list[Fact]) -> str:
    hint = next((hint for pattern, hint in _SUSPECTS if pattern.fullmatch(text)), None)
    if hint is not None:
        key = ".".join(map(str, path))
        facts.append(
            _fact(
                "override-taken-as-text", source, path, key=Shown(key), found=Shown(text), hint=hint
            )
        )
    return text


def _set(value: dict[str, Any], path: Path, new: Any) -> None:
    """Put a value into nested tables; whatever is in the way gives way."""
    for step in path[:-1]:
        inner = value.get(str(step))
        if not isinstance(inner, dict):
            inner = value[str(step)] = {}
        value = inner
    value[str(path[-1])] = new


def _fact(code: str, source: Source, path: Path = (), **values: object) -> Fact:
    return Fact(code, path, values, span=Span(source, 0, 0))


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


def facts(
    layer: str | None, tree: Tree, below: Tree | None = None, root: str | None = None
) -> Iterator[Fact]:
    """What the layer `tree` decides over the layers `below` it."""
    if layer not in PROJECT_LAYERS or not isinstance(tree.value, dict):
        return
    severity: Severity | None = "note" if layer == "project-local" else None
    found = (
        *_sandbox(tree, below),
        *_keys(tree),
        *_reaching(tree, root),
        *_hooks(tree),
        *_servers(tree, below),
    )
    for code, path, values in found:
        also = tuple(_below(below, path))
        yield Fact(
            code, values=values, origin=tree.story(path).origin, also=also, severity=severity
        )


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
                yield (
                    code,
                    ("providers", name, key),
                    {"provider": Shown(name), "key": key, "found": _shown(key, found)},
                )
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
            yield (
                "project-reads-outside",
                path,
                {"key": ".".join(map(str, path)), "found": Shown(file)},
            )


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
        for number, entry in enumerate(
            entries if isinstance(entries, list) and event in EVENTS else ()
        ):
            handler = get(entry, ("handler",))
            line = _line(get(handler, ("argv",)) or get(handler, ("command",)))
            if line is not None and get(handler, ("type",)) == "command":
                yield (
                    "project-runs-command",
                    ("hooks", event, number, "handler"),
                    {"event": event, "found": line},
                )


def _servers(tree: Tree, below: Tree | None) -> Iterator[Found]:
    """Servers of other layers that this one changes; and those it starts, whichever layers define and enable them."""
    lower = below.value if below is not None else {}
    servers, listed, before = (
        get(tree.value, SERVERS),
        get(tree.value, ENABLED),
        get(lower, ENABLED, []),
    )
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
            yield (
                "project-changes-server",
                (*path, key),
                {"name": Shown(path[-1]), "key": key, "found": shown},
            )


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
    return (
        Shown((" ".join(parts),))
        if parts and all(isinstance(part, str) for part in parts)
        else None
    )
