"""Where the files of each convention live: light, because every file of a walk is asked.

`kind_of_path` knows a file by its path alone. `component_of` also looks at the plugin a file belongs to, and
`kind_of_header` at what stands in a header, for collections that keep agents in folders of their own choice.
"""

from __future__ import annotations

import re
from functools import lru_cache

import msgspec

from equipage.expressions import expression

_SERVERS = (
    r"/\.mcp\.json|/(?:\.vscode|\.cursor|\.copilot|\.github|\.roo|\.kiro/settings)/mcp\.json|/mcp-config\.json"
    r"|/claude_desktop_config\.json|/\.gemini/settings\.json|/gemini-extension\.json|/\.codex/config\.toml"
    r"|/opencode\.jsonc?"
)
#: Kind and pattern over an absolute path with `/`; the first that matches counts.
PLACES: tuple[tuple[str, str], ...] = (
    ("skill", r"/SKILL\.md|/skills?/[^/]+/skill\.md"),
    ("claude-plugin", r"/\.claude-plugin/plugin\.json"),
    ("claude-marketplace", r"/\.claude-plugin/marketplace\.json"),
    ("claude-agent", r"/\.claude/agents/.+\.md"),
    ("claude-command", r"/\.claude/commands/.+\.md"),
    ("copilot-agent", r"/\.github/(?:agents|chatmodes)/.+\.md|/[^/]+\.(?:agent|chatmode)\.md"),
    ("copilot-prompt", r"/[^/]+\.prompt\.md"),
    ("copilot-instructions", r"/[^/]+\.instructions\.md"),
    ("opencode-agent", r"/\.?(?:opencode|config/opencode)/(?:agents?|modes?)/.+\.md"),
    ("opencode-command", r"/\.?(?:opencode|config/opencode)/commands?/.+\.md"),
    ("codex-agent", r"/\.codex/agents/[^/]+\.toml"),
    ("gemini-agent", r"/\.gemini/agents/[^/]+\.md"),
    ("gemini-command", r"/\.gemini/commands/.+\.toml"),
    ("cursor-rule", r"/\.cursor/rules/.+\.mdc?|/[^/]+\.mdc"),
    ("cursor-agent", r"/\.cursor/agents/.+\.md"),
    ("mcp", _SERVERS),
)

_ENDINGS = (".md", ".mdc", ".json", ".jsonc", ".toml")
_NAMES = tuple(kind for kind, _ in PLACES)
_ANY = expression("|".join(f"({pattern})\\Z" for _, pattern in PLACES))
#: Notes that people keep beside agents and commands.
NOTES = expression(
    r"(?:README|CHANGELOG|CONTRIBUTING|LICEN[CS]E|CLAUDE|AGENTS|GEMINI|INDEX|TODO)[^/]*\.md\Z", re.IGNORECASE
)


@lru_cache(maxsize=1)  # every row of the registry asks about the same path
def kind_of_path(path: str) -> str | None:
    """The kind of a file by its name and place alone."""
    if not path.endswith(_ENDINGS):
        return None
    match = _ANY.search(path)
    return None if match is None else _NAMES[_group(match)]


def _group(match: re.Match[str]) -> int:
    return next(number for number, text in enumerate(match.groups()) if text is not None)


# ------------------------------------------------------------------------------------------------ plugins


class Plugin(msgspec.Struct, frozen=True):
    """A folder that is a plugin, and where its manifest says further components are: absolute paths with `/`."""

    root: str
    agents: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()


def plugin_of(root: str, manifest: object) -> Plugin:
    """The plugin in the folder `root`, as its manifest describes it. Whatever cannot be read is left out."""
    fields: dict[str, object] = manifest if isinstance(manifest, dict) else {}
    return Plugin(root, tuple(_paths(root, fields.get("agents"))), tuple(_paths(root, fields.get("commands"))))


def _paths(root: str, written: object) -> list[str]:
    """The paths a manifest names: text, a list, or commands by name with their `source`."""
    if isinstance(written, dict):
        written = [each.get("source") for each in written.values() if isinstance(each, dict)]
    entries = written if isinstance(written, list) else [written]
    return [_joined(root, each) for each in entries if isinstance(each, str)]


def _joined(root: str, path: str) -> str:
    parts = [part for part in path.replace("\\", "/").split("/") if part not in ("", ".")]
    return "/".join([root, *parts])


def component_of(path: str, plugin: Plugin) -> str | None:
    """What a Markdown file is to the plugin it belongs to."""
    if not path.endswith(".md"):
        return None
    for kind, folder, listed in (
        ("claude-agent", "agents", plugin.agents),
        ("claude-command", "commands", plugin.commands),
    ):
        if path.startswith(f"{plugin.root}/{folder}/") or any(_is_at(path, each) for each in listed):
            return kind
    return None


def _is_at(path: str, listed: str) -> bool:
    """Whether a path is the one that is listed, or below it. The folder of the plugin itself says nothing."""
    return path == listed or (path.startswith(f"{listed}/") and not NOTES.search(path))


# ------------------------------------------------------------------------------------------------ headers

_HEADER = expression(r"\ufeff?\s*---[ \t]*\r?\n(?P<header>.*?)^[ \t]*---[ \t]*\r?$", re.DOTALL | re.MULTILINE)
_KEYS = expression(r"^([A-Za-z_][\w-]*)[ \t]*:", re.MULTILINE)
_AGENTS = expression(r"/(?:sub-?)?agents?/", re.IGNORECASE)
_COMMANDS = expression(r"/(?:slash-)?commands?/", re.IGNORECASE)
_OF_AGENT = frozenset({"tools", "model", "color", "permissionMode", "disallowedTools", "allowed-tools", "handoffs"})
_OF_OPENCODE = frozenset({"mode", "permission", "temperature"})
_OF_COMMAND = frozenset({"allowed-tools", "argument-hint", "model", "agent", "disable-model-invocation"})
#: Keys of pages that are made for a web site.
_OF_PAGE = frozenset({"title", "layout", "slug", "date", "sidebar_position", "sidebar_label", "permalink", "weight"})
_LONGEST = 64 * 1024


def kind_of_header(path: str, text: str) -> str | None:
    """The kind of a Markdown file that stands anywhere, by the keys of its header and the folder it is in."""
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
