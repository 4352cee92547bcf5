"""What each client reads as a permission: one table for each kind of file.

The facts are those of the clients' documentation and of runs. A field that restricts and is not
here must be in `NOT_REACH`, with a reason; a test holds this.
"""

from __future__ import annotations

from typing import Any

from equipage.clients.rows import (
    Row,
    allows,
    allows_each_value,
    allows_names_among,
    denies,
    hooks,
    mode,
    narrows,
    servers,
    widens,
)
from equipage.clients.subjects import Subject, whole_file
from equipage.clients.tables import grants_claude as claude
from equipage.clients.tables import grants_editors as editors
from equipage.clients.tables import grants_packages as packages
from equipage.clients.tables import grants_terminals as terminals
from equipage.clients.tables.conventions import CONVENTIONS
from equipage.clients.values import Precedence
from equipage.formats.defect.settings import DEFAULT_SANDBOX, SANDBOXES

#: Findings about the policy of a project.
_POLICY_CODES = ("policy-forbids", "policy-not-pinned")

#: kind → what has a reach in a file of it, and by which fields
TABLES: dict[str, tuple[Subject, ...]] = {
    **claude.TABLES,
    **editors.TABLES,
    **terminals.TABLES,
    **packages.TABLES,
    # The seeds' own kinds.
    "profile": whole_file(
        Row(("tools", "allow"), "tool", allows("x").read, otherwise="denies"), hooks("hooks")
    ),
    "settings": whole_file(
        mode("sandbox/mode", *SANDBOXES, default=DEFAULT_SANDBOX),
        widens("tools/fetch/enabled", default=True),
        mode("capabilities/web_search/mode", "disabled", "delegate", default="disabled"),
        servers("mcp/servers"),
        hooks("hooks"),
        allows("providers/*/base_url", "host"),
        allows("providers/*/auth_header", "variable"),
        allows("providers/*/api_key_env", "variable"),
        allows_each_value("providers/*/headers"),
        allows_each_value("http/proxy", "host"),
    ),
    # The settings of equipage itself: what is not looked at is not judged, and a policy that
    # forbids less lets agents do more.
    "project": whole_file(
        allows_each_value("exclude"),
        allows_each_value("include"),
        narrows("conventions", default=True),
        allows_each_value("kinds"),
        allows_names_among("ignore", *_POLICY_CODES),
        allows_names_among("per-file-ignores/*", *_POLICY_CODES),
        *(denies(f"policy/never/{name}s", name) for name in ("tool", "server", "host", "program")),
        denies("policy/never/modes", "setting"),
        narrows("policy/pins"),
        allows_each_value("policy/may-widen"),
        sort="settings",
    ),
    "agent_md": whole_file(Row(("profile", "tools"), "tool", allows("x").read, otherwise="denies")),
    "blueprint": tuple(
        Subject((Row(at, "tool", allows("x").read, otherwise="denies"),), (group, "*"), "agent")
        for group, at in (
            ("agents", ("profile", "tools")),
            ("operators", ("profile", "tools")),
            ("runners", ("runner", "tools")),
        )
    ),
    "toolpack": whole_file(
        allows("caps/network", "host"),
        allows("caps/filesystem/read", "path"),
        Row(("caps", "filesystem", "write"), "path", allows("x").read),
        widens("caps/subprocess"),
        allows("env/passthrough", "variable"),
        allows_each_value("execution", "program"),
        allows_each_value("timeoutMs"),
        allows_each_value("limits"),
        sort="tool",
    ),
}
#: Fields that restrict something other than what an agent may do, and what that is.
NOT_REACH: dict[tuple[str, str], str] = {
    ("claude-settings", "availableModels"): "which models, not what they may do",
    ("claude-settings", "enforceAvailableModels"): "which models, not what they may do",
    ("claude-settings", "forceLoginMethod"): "who signs in",
    ("claude-settings", "forceLoginOrgUUID"): "who signs in",
    ("claude-settings", "forceLoginGatewayUrl"): "who signs in",
    ("claude-settings", "requiredMinimumVersion"): "which version runs",
    ("claude-settings", "requiredMaximumVersion"): "which version runs",
    ("opencode-config", "disabled_providers"): "which models, not what they may do",
    ("opencode-config", "enabled_providers"): "which models, not what they may do",
    ("codex-config", "forced_login_method"): "who signs in",
}


#: The programs whose formats are kinds of their own; those of conventions are in their tables.
_PROGRAMS = {
    "server": "ThoughtJack",
    "blueprint": "mlua_swarm",
    "agent_md": "mlua_swarm",
    "toolpack": "RAGX",
    "profile": "defect",
    "settings": "defect",
    "skill": "any program with skills",
    "mcp": "any MCP client",
    "project": "equipage",
    "claude-plugin-settings": "Claude Code",
    "claude-monitors": "Claude Code",
    "vscode-settings": "VS Code",
} | {each.kind: each.tool for each in reversed(CONVENTIONS)}


def program_of(kind: str) -> str:
    """The program that files of a kind are for."""
    return _PROGRAMS.get(kind, "an installed package")


def subjects_of(kind: str) -> tuple[Subject, ...] | None:
    """The table of a kind; None if there is none."""
    return TABLES.get(kind)


def precedence_of(kind: str) -> Precedence:
    """Which grant decides in files of a kind."""
    subjects = TABLES.get(kind, ())
    return subjects[0].precedence if subjects else "strictest"


def value_with_defaults(kind: str, value: Any) -> Any:
    """The value with what its format gives an agent that says nothing."""
    if kind == "profile" and isinstance(value, dict) and not value.get("tools"):
        from equipage.formats.defect.profile_model import (
            READ_ONLY_TOOLS,  # its load imported it, too
        )

        return {**value, "tools": {"allow": list(READ_ONLY_TOOLS)}}
    return value
