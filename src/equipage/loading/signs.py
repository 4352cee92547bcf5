"""What the content of a file says about its kind: the signs, without importing any kind.

A content counts only if two signs agree, because words such as `server`, `tools` or `name` mean
something else in most files that have them.
"""

from __future__ import annotations

import re
from typing import Any

from equipage.core.text import expression

# YAML and JSON: the shape of the value.

#: The parts of a server with the type each must have to count as a sign.
_PARTS: dict[str, type] = {
    **dict.fromkeys(("tools", "resources", "prompts", "phases"), list),
    "baseline": dict,
}
_OF_SERVER_FILE = {"server", "metadata", "behavior", "logging", "unknown_methods", *_PARTS}
_OF_SERVER = {"name", "version", "state_scope", "stateScope", "capabilities"}


def is_server(value: Any) -> bool:
    """Two signs agree: a server with a name, even a wrong one, and a part of the right shape."""
    server = value.get("server") if isinstance(value, dict) else None
    return (
        isinstance(server, dict)
        and isinstance(server.get("name"), str | int | float)
        and any(isinstance(value.get(key), type_) for key, type_ in _PARTS.items())
    )


def may_be_server(value: Any, *, named: bool) -> bool:
    """One sign. In a walk, a `server` counts only with nothing but keys of a server around it."""
    if not isinstance(value, dict):
        return False
    included, server = value.get("$include"), value.get("server")
    if isinstance(included, str):
        return included.endswith((".yaml", ".yml")) and value.keys() <= {"$include", "override"}
    if named or not isinstance(server, dict):
        return isinstance(server, dict)
    return "name" in server and server.keys() <= _OF_SERVER and value.keys() <= _OF_SERVER_FILE


def is_blueprint(value: Any) -> bool:
    """A flow with a kind, and an id; a blueprint that forgot its id still has agents."""
    if not isinstance(value, dict) or not isinstance(value.get("flow"), dict):
        return False
    return "kind" in value["flow"] and ("id" in value or "agents" in value)


def is_registry_entry(value: Any) -> bool:
    """The schema of the registry; or a name with a slash, and packages or remotes like theirs."""
    if not isinstance(value, dict) or not isinstance(value.get("name"), str):
        return False
    schema = value.get("$schema")
    if isinstance(schema, str) and schema.endswith("server.schema.json"):
        return True
    offers = [
        each
        for key in ("packages", "remotes")
        if isinstance(value.get(key), list)
        for each in value[key]
        if isinstance(each, dict)
    ]
    keys = {"registryType", "registry_type", "registry_name", "transport", "transport_type", "url"}
    return "/" in value["name"] and any(each.keys() & keys for each in offers)


def is_bundle(value: Any) -> bool:
    """A version that is text, and a server with an entry point; browsers number their manifests."""
    if not isinstance(value, dict) or not isinstance(value.get("server"), dict):
        return False
    version = value.get("manifest_version", value.get("dxt_version"))
    return isinstance(version, str) and bool(value["server"].keys() & {"entry_point", "mcp_config"})


def is_docker_agent(value: Any) -> bool:
    """Agents by name, each with an instruction or a model, at least one with what only it has."""
    agents = value.get("agents") if isinstance(value, dict) else None
    if not isinstance(agents, dict) or not agents:
        return False
    keys = [each.keys() if isinstance(each, dict) else frozenset[str]() for each in agents.values()]
    return all(each & {"model", "instruction"} for each in keys) and any(
        "model" in each and each & {"instruction", "toolsets", "sub_agents"} for each in keys
    )


def is_recipe(value: Any) -> bool:
    """A title, a description and a text, and parameters or extensions like those of Goose."""
    if not isinstance(value, dict) or not {"title", "description"} <= value.keys():
        return False
    entries = [
        each
        for key in ("parameters", "extensions")
        if isinstance(value.get(key), list)
        for each in value[key]
        if isinstance(each, dict)
    ]
    signs = ({"key", "requirement"}, {"key", "input_type"}, {"type", "name"})
    has_text = bool({"instructions", "prompt"} & value.keys())
    return has_text and any(each.keys() >= pair for each in entries for pair in signs)


# Headers: collections keep agents and commands in folders of their own choice.

#: Notes that people keep beside agents and commands.
NOTES = expression(
    r"(?:README|CHANGELOG|CONTRIBUTING|LICEN[CS]E|CLAUDE|AGENTS|GEMINI|INDEX|TODO)[^/]*\.md\Z",
    re.IGNORECASE,
)
#: Everything between the first two lines of three dashes, at the start of a text.
_HEADER = expression(
    r"\ufeff?\s*---[ \t]*\r?\n(?P<header>.*?)^[ \t]*---[ \t]*\r?$", re.DOTALL | re.MULTILINE
)
KEY_AT_START = expression(r"""^[\ufeff{]*\s*["']?(server|flow|id)["']?[ \t]*:""", re.MULTILINE)
_KEYS = expression(r"^([A-Za-z_][\w-]*)[ \t]*:", re.MULTILINE)
_AGENTS = expression(r"/(?:sub-?)?agents?/", re.IGNORECASE)
_COMMANDS = expression(r"/(?:slash-)?commands?/", re.IGNORECASE)
_OF_AGENT = frozenset(
    {"tools", "model", "color", "permissionMode", "disallowedTools", "allowed-tools", "handoffs"}
)
_OF_OPENCODE = frozenset({"mode", "permission", "temperature"})
_OF_COMMAND = frozenset(
    {"allowed-tools", "argument-hint", "model", "agent", "disable-model-invocation"}
)
#: Keys of pages that are made for a web site.
_OF_PAGE = frozenset(
    {"title", "layout", "slug", "date", "sidebar_position", "sidebar_label", "permalink", "weight"}
)
_LONGEST = 64 * 1024


def kind_of_header(path: str, text: str) -> str | None:
    """The kind of a Markdown file anywhere, by the keys of its header and the folder it is in."""
    match = _HEADER.match(text[:_LONGEST])
    if match is None or NOTES.search(path):
        return None
    keys = frozenset(_KEYS.findall(match["header"]))
    if "description" not in keys:
        return None
    if "name" in keys and (keys & _OF_AGENT or (_AGENTS.search(path) and not keys & _OF_PAGE)):
        return "claude-agent"
    if _AGENTS.search(path) and keys & _OF_OPENCODE:
        return "opencode-agent"
    if _AGENTS.search(path) and keys & _OF_AGENT:
        return "copilot-agent"
    is_command = _COMMANDS.search(path) and (keys & _OF_COMMAND or not keys & _OF_PAGE)
    return "claude-command" if is_command else None
