"""What clients see of a snapshot: names, schemas, pages. Values in, plain data out."""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal
from urllib.parse import unquote

import msgspec

from equipage.core.frozen import unfreeze
from equipage_serve.skills import SkillFile
from equipage_serve.snapshot import Snapshot
from equipage_serve.tools import Tool

#: `dotted` keeps the dots of ids; `plain` is for clients that accept none.
NameStyle = Literal["dotted", "plain"]
PAGE_SIZE = 100
#: Our own keys in `_meta`.
EXECUTION, CODE, ISOLATION = "equipage/execution", "equipage/code", "equipage/isolation"
_HEADER = "x-mcp-header"
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")


def name_of(tool_id: str, style: NameStyle) -> str:
    """The name of a tool on the wire."""
    name = tool_id.removeprefix("mcp.tool:").replace(":", ".")
    return name.replace(".", "_") if style == "plain" else name


class Entry(msgspec.Struct, frozen=True):
    """One tool as clients see it; the older revision accepts less."""

    name: str
    tool: Tool
    modern: dict[str, Any]
    legacy: dict[str, Any]
    has_mapping: bool  #: whether the output is a mapping by its schema

    def definition(self, *, modern: bool) -> dict[str, Any]:
        return self.modern if modern else self.legacy


class Catalogue(msgspec.Struct, frozen=True):
    """A snapshot with everything that is asked for often made once."""

    snapshot: Snapshot
    entries: Mapping[str, Entry]
    refused: Mapping[str, tuple[str, ...]]  #: why tools and skills are not served
    resources: Mapping[str, dict[str, Any]]  #: every file of every skill, by address
    files: Mapping[str, SkillFile]  #: by address without escapes
    folders: Mapping[str, list[dict[str, Any]]]
    skills: Mapping[str, dict[str, Any]]


def normalize_uri(uri: str) -> str:
    """An address with its escapes resolved once, to compare it with others."""
    return unquote(uri)


def catalogue_of(snapshot: Snapshot, style: NameStyle = "dotted") -> Catalogue:
    """The catalogue of a snapshot. Tools that clients would not accept are left out."""
    refused = dict(snapshot.refused)
    by_name: dict[str, list[Tool]] = {}
    for tool in snapshot.tools:
        by_name.setdefault(name_of(tool.pack.id, style), []).append(tool)
    entries = {}
    for name in sorted(by_name):
        tools = by_name[name]
        ids = " and ".join(f"`{each.pack.id}`" for each in tools)
        problem = f"{ids} would both be named `{name}`" if len(tools) > 1 else None
        for tool in tools:
            reason = problem or _refusal_reason(name, tool)
            if reason is not None:
                refused[tool.pack.id] = (reason,)
            else:
                entries[name] = _entry(name, tool, snapshot)
    pairs = [(skill, file) for skill in snapshot.skills for file in skill.files]
    folders: dict[str, list[dict[str, Any]]] = {}
    for skill in snapshot.skills:
        folders |= skill.folders()
    return Catalogue(
        snapshot,
        entries,
        refused,
        {file.uri: skill.resource(file) for skill, file in pairs},
        {normalize_uri(file.uri): file for _, file in pairs},
        folders,
        {each.uri: each.entry() for each in snapshot.skills},
    )


def _refusal_reason(name: str, tool: Tool) -> str | None:
    """Why clients would drop a tool, or all tools because of this one."""
    if len(name) > 128:
        return "its name has more than 128 characters"
    schema = tool.pack.input_schema
    if not isinstance(schema, Mapping) or schema.get("type") != "object":
        return "its input schema must have `type: object` at the top"
    return _header_problem(unfreeze(schema))


def _header_problem(schema: dict[str, Any]) -> str | None:
    """What is wrong with arguments that are to be headers, too."""
    seen: set[str] = set()
    waiting: list[tuple[Any, bool]] = [(schema, True)]
    while waiting:
        node, reachable = waiting.pop()
        if isinstance(node, list):
            waiting += [(each, False) for each in node]
            continue
        if not isinstance(node, dict):
            continue
        for key, value in node.items():
            if key == "properties" and isinstance(value, dict):
                waiting += [(each, reachable) for each in value.values()]
            elif key not in ("const", "enum", "default", "examples"):
                waiting.append((value, False))
        name = node.get(_HEADER)
        if name is None:
            continue
        simple = node.get("type") in ("string", "integer", "boolean")
        valid = isinstance(name, str) and _TOKEN.fullmatch(name) and name.lower() not in seen
        if not (reachable and simple and valid):
            return f"a `{_HEADER}` in its input schema is not valid"
        seen.add(str(name).lower())
    return None


def _entry(name: str, tool: Tool, snapshot: Snapshot) -> Entry:
    pack, words = tool.pack, snapshot.described[tool.pack.id]
    caps = pack.caps
    network, forks = bool(caps.get("network")), bool(caps.get("subprocess"))
    writes = bool((caps.get("filesystem") or {}).get("write"))
    changes = network or forks or writes
    legacy: dict[str, Any] = {
        "name": name,
        "inputSchema": unfreeze(pack.input_schema),
        "annotations": {
            "readOnlyHint": not changes,
            **({"destructiveHint": True} if changes else {}),
            "idempotentHint": pack.deterministic,
            "openWorldHint": network,
        },
        "_meta": {ISOLATION: _isolation(tool)},
    }
    if words.title:
        legacy["title"] = words.title
    # Clients expect one; an empty text would be worse than the name.
    legacy["description"] = words.description or words.title or f"The tool {pack.id}."
    output = unfreeze(pack.output_schema)
    has_mapping = isinstance(output, dict) and output.get("type") == "object"
    # A schema that is just `true` says nothing.
    modern = {**legacy, "outputSchema": output} if isinstance(output, dict) else legacy
    return Entry(name, tool, modern, modern if has_mapping else legacy, has_mapping)


def _isolation(tool: Tool) -> dict[str, Any]:
    confinement = tool.confinement
    return {
        "level": confinement.level,
        "enforced": list(confinement.enforced),
        "open": list(confinement.open),
    }


# Pages. A cursor names the last entry of the page before, so it survives a reload.

_PREFIX = "after:"


class BadCursor(ValueError):
    """A cursor that we did not make."""


def page(
    keys: Sequence[str], cursor: str | None, size: int = PAGE_SIZE
) -> tuple[list[str], str | None]:
    """The keys of one page of sorted keys, and the cursor of the next. Raises `BadCursor`."""
    start = 0
    if cursor is not None:
        last = _read_cursor(cursor)
        start = next((at for at, key in enumerate(keys) if key > last), len(keys))
    end = start + size
    more = _write_cursor(keys[end - 1]) if end < len(keys) else None
    return list(keys[start:end]), more


def _write_cursor(last: str) -> str:
    return base64.urlsafe_b64encode(f"{_PREFIX}{last}".encode()).decode()


def _read_cursor(cursor: str) -> str:
    try:
        text = base64.b64decode(cursor.encode("ascii"), altchars=b"-_", validate=True).decode()
    except ValueError:
        raise BadCursor(cursor) from None
    if not text.startswith(_PREFIX):
        raise BadCursor(cursor)
    return text.removeprefix(_PREFIX)
