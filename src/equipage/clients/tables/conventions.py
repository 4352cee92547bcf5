"""All tables of files of agent tools, from the modules beside this one.

A new tool is a module here and a row in `CONVENTIONS`.
"""

from __future__ import annotations

from equipage.clients.catalogue import Convention
from equipage.clients.tables import (
    claude,
    claude_settings,
    codex,
    copilot,
    cursor,
    editors,
    gemini,
    opencode,
    skills,
    terminals,
)

#: Every table that is a kind of its own. Several tools share skills and lists of MCP servers:
#: those kinds have several tables each, in `tables.skills` and `clients.mcp`.
CONVENTIONS: tuple[Convention, ...] = (
    *claude.CONVENTIONS,
    *claude_settings.CONVENTIONS,
    *copilot.CONVENTIONS,
    *opencode.CONVENTIONS,
    *codex.CONVENTIONS,
    *gemini.CONVENTIONS,
    *cursor.CONVENTIONS,
    *editors.CONVENTIONS,
    *terminals.CONVENTIONS,
)

#: The versions of the tools that were run for their tables; the others are known by their pages.
VERSIONS = {
    "Claude Code": "2.1.325",
    "Codex": "0.166.0",
    "Gemini CLI": "0.61.0",
    "OpenCode": "1.18.33",
}

#: The files of each kind, in order of recognition. Skills come first: they may be anywhere.
PATHS: dict[str, tuple[str, ...]] = {each.kind: each.paths for each in (skills.OPEN, *CONVENTIONS)}
