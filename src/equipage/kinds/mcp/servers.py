"""From what a tool's file says to servers: where they stand, what each key is called, how each is reached."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, ClassVar, Literal

import msgspec

from equipage.core.diagnostics import Change, Fact, Remedy, Severity, Shown, fact
from equipage.core.path import ROOT, Path
from equipage.core.source import Source, Span
from equipage.core.text import nearest
from equipage.files.reading import require_text
from equipage.files.sandbox import FileProblem
from equipage.kinds.conventions.stages import suspicions
from equipage.kinds.mcp.dialects import DIALECTS, Dialect
from equipage.loading.model import Shape, build
from equipage.loading.session import Session
from equipage.loading.tree import HOLE, Origins, Tree, get, graft
from equipage.syntax import SyntaxProblem
from equipage.syntax.document import Document, load_value
from equipage.syntax.variables import Substituted

SERVERS = "servers"
_OURS = frozenset({"command", "args", "env", "cwd", "url", "headers"})
_BELONGS = {
    "stdio": frozenset({"command", "args", "env", "cwd"}),
    "http": frozenset({"url", "headers"}),
    "sse": frozenset({"url", "headers"}),
    "ws": frozenset({"url", "headers"}),
}


def gather(dialect: Dialect, tree: Tree, _session: Session) -> tuple[Tree, list[Fact]]:
    """The tree with nothing but `servers`, each with its transport."""
    if not isinstance(tree.value, dict):
        return tree, []
    found, facts = _find(dialect, tree)
    facts += suspicions(tree.story(ROOT).origin.document.source)
    servers: dict[str, Tree] = {}
    entries = get(tree.value, found, {})
    if not isinstance(entries, dict):
        return _only(tree, found, {SERVERS: entries}), facts
    for name, value in entries.items():
        if found or name != "$schema":
            servers[name], those = _server(dialect, tree, (*found, name), value)
            facts += those
    return _assembled(tree, found, servers), facts


def _find(dialect: Dialect, tree: Tree) -> tuple[Path, list[Fact]]:
    """Where the servers stand, and whether that is where the tool looks."""
    value, top = tree.value, dialect.top
    if value.get(top) is not None or (dialect.shared and dialect.tool != "VS Code"):
        # The second version of OpenCode puts them one level deeper.
        deeper = dialect.tool == "OpenCode" and isinstance(get(value, (top, "servers")), dict)
        return ((top, "servers") if deeper else (top,)), []
    for other in _TOPS:
        if isinstance(value.get(other), dict) and other != top:
            values: dict[str, object] = {"tool": dialect.tool, "top": top, "found": other}
            remedy = Remedy(f"rename to `{top}`", (Change((other,), top, "key"),))
            return (other,), [
                Fact("servers-misplaced", (other,), values, part="key", remedy=remedy)
            ]
    named = {key: each for key, each in value.items() if key != "$schema"}
    if named and all(_looks_like_server(each) for each in named.values()):
        return ROOT, _unwrapped(dialect, tree, next(iter(named)))
    return (top,), [_no_servers(dialect, value)] if value and not dialect.shared else []


_TOPS = tuple(dict.fromkeys(each.top for each in DIALECTS))


def _unwrapped(dialect: Dialect, tree: Tree, first: str) -> list[Fact]:
    """The plugins of Claude Code may leave the wrapper out; nobody else may."""
    source = tree.story(ROOT).origin.document.source
    if dialect.wrapper == "optional" and (source.path or source.name).endswith(".mcp.json"):
        return []
    return [Fact("servers-unwrapped", (first,), {"top": dialect.top}, part="key")]


def _no_servers(dialect: Dialect, value: dict[str, Any]) -> Fact:
    guess = next((key for key in value if nearest(key, [dialect.top])), None)
    remedy = None
    if guess is not None:
        remedy = Remedy(f"rename to `{dialect.top}`", (Change((guess,), dialect.top, "key"),))
    return fact(
        "missing-field",
        part="key",
        severity="warning",
        remedy=remedy,
        field=dialect.top,
        owner="this file",
        expected="the servers by name",
    )


def _looks_like_server(value: Any) -> bool:
    return isinstance(value, dict) and not {"command", "url", "httpUrl", "type"}.isdisjoint(value)


# ------------------------------------------------------------------------------------------------ a server


def _server(dialect: Dialect, tree: Tree, path: Path, value: Any) -> tuple[Tree, list[Fact]]:
    """One server in our words; a hole if it cannot be reached."""
    part = tree.at(path)
    if not isinstance(value, dict):
        return part, []
    fitting, facts = _fitting(dialect, path, value)
    if any(
        key in value and value[key] is not None and key not in fitting for key in ("command", "url")
    ):
        return Tree(HOLE, part.origins), facts  # what is wrong with it was told
    transport, those = _transport(dialect, path, fitting)
    facts += those
    if transport is None or any(
        each.code == "server-type-unknown" and each.severity is None for each in those
    ):
        return Tree(HOLE, part.origins), facts
    ours, settings = _translated(dialect, fitting, transport)
    facts += _unused(dialect, path, fitting, transport)
    result: dict[str, Any] = {"transport": transport, **ours}
    if settings:
        result["settings"] = settings
    if fitting.get("disabled") is True or fitting.get("enabled") is False:
        result["enabled"] = False
    return Tree(result, part.origins), facts


def _fitting(
    dialect: Dialect, path: Path, value: dict[str, Any]
) -> tuple[dict[str, Any], list[Fact]]:
    """The keys of a server that its tool knows and whose values fit; what is wrong with the others."""
    guarded = frozenset(field.name for field in dialect.fields if field.restricts)
    synonyms = {other: field.name for field in dialect.fields for other in field.instead}
    known = {field.name: field for field in dialect.fields}
    kept: dict[str, Any] = {}
    facts: list[Fact] = []
    for key, each in value.items():
        field = known.get(key)
        if field is None:
            guess = synonyms.get(key) or nearest(key, [name for name in known if name not in value])
            facts.append(_unknown(dialect, (*path, key), key, guess, restricts=guess in guarded))
        elif each is not None:
            _, _, found = build({"value": each}, _holder(field.type), Shape())
            if found:
                severity: Severity = (
                    "error" if key in guarded or key in ("command", "url") else "warning"
                )
                facts += [_moved(fact_, (*path, key), severity) for fact_ in found]
            else:
                kept[key] = each
    return kept, facts


def _unknown(
    dialect: Dialect, place: Path, key: str, guess: str | None, *, restricts: bool
) -> Fact:
    remedy = (
        None
        if guess is None
        else Remedy(f"rename to `{guess}`", (Change(place, guess, "key"),), safe=not restricts)
    )
    values: dict[str, object] = {
        "field": Shown(key),
        "owner": f"a server of {dialect.tool}",
        "nearest": guess,
    }
    severity: Severity = "error" if restricts else "warning"
    return Fact("unknown-field", place, values, part="key", remedy=remedy, severity=severity)


def _transport(
    dialect: Dialect, path: Path, server: dict[str, Any]
) -> tuple[str | None, list[Fact]]:
    """How a server is reached, and what keeps it from being."""
    name = Shown(path[-1])
    written = server.get("type")
    inferred = next((transport for key, transport in dialect.inferred if server.get(key)), None)
    if inferred is None:
        return None, [Fact("server-unreachable", path, {"name": name}, part="key")]
    if isinstance(written, str):
        transport = dialect.types.get(written) or dialect.types.get(written.lower())
        if transport is not None:
            return _reachable(transport, inferred, path, server)
        values: dict[str, object] = {
            "name": name,
            "found": Shown(written),
            "tool": dialect.tool,
            "types": tuple(dialect.types),
        }
        known = any(written in each.types for each in DIALECTS)
        severity: Severity | None = "warning" if known else None
        return inferred, [Fact("server-type-unknown", (*path, "type"), values, severity=severity)]
    if dialect.needs_type:
        word = next(
            word
            for word, transport in dialect.types.items()
            if (transport == "stdio") == (inferred == "stdio")
        )
        return inferred, [
            Fact(
                "server-type-missing",
                path,
                {"name": name, "tool": dialect.tool, "type": word},
                part="key",
            )
        ]
    return inferred, []


def _reachable(
    transport: str, inferred: str, path: Path, server: dict[str, Any]
) -> tuple[str | None, list[Fact]]:
    """A `type` whose main key is there; one whose key is missing cannot be reached."""
    if (transport == "stdio") == ("command" in server) or (
        transport != "stdio" and inferred != "stdio"
    ):
        return transport, []
    if transport != "stdio" and ("url" in server or "httpUrl" in server):
        return transport, []
    key = "command" if transport == "stdio" else "url"
    values: dict[str, object] = {
        "name": Shown(path[-1]),
        "found": Shown(server["type"]),
        "key": key,
    }
    return None, [Fact("server-type-wrong", (*path, "type"), values)]


def _translated(
    dialect: Dialect, server: dict[str, Any], transport: str
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The keys everybody has, by our names, and those that only the tool understands."""
    ours: dict[str, Any] = {}
    settings: dict[str, Any] = {}
    for key, value in server.items():
        name = dialect.renamed.get(key, key)
        if name in _OURS and name in _BELONGS[transport]:
            ours[name] = value
        elif name not in _OURS and key not in ("type", "enabled", "disabled"):
            settings[key] = value
    if isinstance(ours.get("command"), list):
        words = ours["command"]
        ours["command"], ours["args"] = (words[0] if words else ""), words[1:]
    return ours, settings


def _unused(dialect: Dialect, path: Path, server: dict[str, Any], transport: str) -> Iterator[Fact]:
    for key in server:
        name = dialect.renamed.get(key, key)
        if name in _OURS and name not in _BELONGS[transport] and server[key]:
            values = {"key": key, "transport": transport, "name": Shown(path[-1])}
            yield Fact("server-key-unused", (*path, key), values, part="key")


# --------------------------------------------------------------------------------------------------- trees


def _only(tree: Tree, found: Path, value: Any) -> Tree:
    origins = Origins(tree.story(ROOT).origin, below={SERVERS: tree.at(found).origins})
    return Tree(value, origins, ((found, (SERVERS,)),) if found else ())


def _assembled(tree: Tree, found: Path, servers: dict[str, Tree]) -> Tree:
    """A tree of servers whose parts still know where they were written."""
    plain: dict[str, Any] = {SERVERS: dict.fromkeys(servers)}
    base = _only(tree, found, plain)
    return graft(base, {(SERVERS, name): each for name, each in servers.items()})


_HOLDERS: dict[Any, type[Any]] = {}


def _holder(kind: Any) -> type[Any]:
    """A Struct with one field, so that a value can be checked by itself."""
    key = repr(kind)
    if key not in _HOLDERS:
        _HOLDERS[key] = msgspec.defstruct("Value", [("value", kind)])
    return _HOLDERS[key]


def _moved(each: Fact, path: Path, severity: Severity) -> Fact:
    return msgspec.structs.replace(each, path=(*path, *each.path[1:]), severity=severity)


# --- model -------------------------------------------------------------------------------------
# Servers as a program wants them, whoever wrote them down.

Transport = Literal["stdio", "http", "sse", "ws"]


class McpServer(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """How to reach one server. `settings` holds what only the tool itself understands."""

    transport: Transport
    command: str | None = None
    args: tuple[str, ...] = ()
    env: dict[str, Any] = msgspec.field(default_factory=dict)
    cwd: str | None = None
    url: str | None = None
    headers: dict[str, Any] = msgspec.field(default_factory=dict)
    enabled: bool = True
    settings: dict[str, Any] = msgspec.field(default_factory=dict)


class McpServers(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The servers of one file, by name."""

    TITLE: ClassVar[str] = "a list of MCP servers"

    servers: dict[str, McpServer] = msgspec.field(default_factory=dict)


# --- reading -----------------------------------------------------------------------------------
# JSON as tools write it: some allow comments and trailing commas.

#: What is never closed takes the rest, so that nothing is looked at twice.
_TOKEN = re.compile(
    r"""(?P<comment>//[^\n]*|/\*.*?\*/)|(?P<comma>,)|(?P<end>[\]}])|"(?:[^"\\\n]++|\\.)*+"?|/\*.*|/|[^\s",/\]}]+""",
    re.DOTALL,
)


def without_comments(text: str) -> str:
    """The text with blanks for comments and trailing commas: every other character keeps its place."""
    blanks: list[tuple[int, int]] = []
    comma: tuple[int, int] | None = None  #: the last token, if it was one
    for match in _TOKEN.finditer(text):
        if match.lastgroup == "comment":
            blanks.append(match.span())
            continue
        if match.lastgroup == "end" and comma is not None:
            blanks.append(comma)
        comma = match.span() if match.lastgroup == "comma" else None
    position = 0
    parts: list[str] = []
    for start, end in sorted(blanks):
        parts += (text[position:start], _blank(text[start:end]))
        position = end
    return "".join(parts) + text[position:]


def _blank(text: str) -> str:
    return re.sub(r"[^\r\n]", " ", text)


def read_with_comments(source: Source, session: Session) -> tuple[Document | None, list[Fact]]:
    """The document of a JSON file with comments; one that is wrong beyond them is told as it stands."""
    try:
        require_text(source)
    except FileProblem as problem:
        return None, [Fact(problem.code, values=problem.values, span=Span(source, 0, 0))]
    start = 1 if source.text.startswith("\ufeff") else 0
    text = without_comments(source.text[start:])
    if text == source.text[start:]:
        return session.parse(source, "json")
    try:
        value = load_value("json", text)
    except SyntaxProblem:
        return session.parse(
            Source(source.name, source.data, source.text[:start] + text, source.path), "json"
        )
    return session.adopt(Document(source, "json", value, substituted_text=Substituted(text))), []
