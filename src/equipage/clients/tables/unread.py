"""Files of agent tools that equipage knows by their place or by what they hold, and does not read.

A check names each sort once, with the first file and how many there are: nothing that an agent tool
reads is skipped in silence. A row goes away when its files become a kind, because the kinds are
asked first.
"""

from __future__ import annotations

from functools import cache

from equipage.files.walking import PlaceIndex

#: Tools with a file of their own that says what their agents must not read.
# fmt: off
_TOOLS_WITH_IGNORE_FILE = (
    "aider", "augment", "cline", "codeium", "cursor", "gemini", "goose", "kilocode", "qwen", "roo",
)
# fmt: on
#: Of these, a lock and a comparison know what plain ones mean, see `clients.codex.permissions`.
CODEX_RULE = "Codex rule"
#: What GitHub runs of an agentic workflow. It changes with its source, which is read.
COMPILED_WORKFLOW = "compiled agentic workflow"
#: The end of its name, and that of its source.
COMPILED_END, SOURCE_END = ".lock.yml", ".md"
#: Such a file runs by its name, so it must have the mark of a program.
HOOK_FILE = "Cline hook"
#: Files that may say something about agents among much else: no check names them, but a change of
#: them counts.
GEMINI_VARIABLES, CONTAINER = "variables of Gemini CLI", "container of an editor"
WORKSPACE, EDITOR = "workspace of an editor", "settings of an editor"
#: What an editor runs when a folder is opened: without it, less runs.
TASKS = "tasks that an editor starts"
QUIET = frozenset({GEMINI_VARIABLES, CONTAINER, WORKSPACE, EDITOR, TASKS})
#: What the files are, and where they live.
UNREAD: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("A2A agent card", (".well-known/{agent-card,agent}.json", "agent-card.json")),
    ("Aider file", (".aider.conf.{yml,yaml}", ".aider.model.settings.yml")),
    ("Amazon Q file", (".amazonq/**/*.{md,json}",)),
    ("Amp file", (".amp/**/*.{md,json,jsonc,js,ts}", ".agents/commands/*")),
    ("Amp file", (".config/amp/*.json",)),
    (
        "Antigravity file",
        (
            ".agents/*.json",
            ".agents/{agents,hooks,rules,workflows}/**/*.{md,json,toml}",
            ".agent/{rules,workflows}/**/*.md",
            ".agent/mcp_config.json",
        ),
    ),
    ("APM manifest", ("apm.yml", "apm.lock.yaml")),
    ("Augment file", (".augment/**/*.{md,json}", ".augment-guidelines")),
    ("Claude Code file", (".claude/*.json", ".claude/hooks/*.json")),
    ("Claude Code workflow", (".claude/workflows/*.{json,js,mjs,ts}",)),
    ("Claude Code monitor", ("monitors/monitors.json",)),
    ("list of files that worktrees get", (".worktreeinclude",)),
    ("Cline rule", (".clinerules", ".clinerules/**/*.md", ".cline/**/*.{md,json}")),
    (HOOK_FILE, (".clinerules/hooks/*",)),
    (CODEX_RULE, (".codex/rules/**/*.rules",)),
    ("Continue file", (".continue/**/*.{md,json,yaml,yml}", ".continuerules")),
    ("CrewAI file", ("config/{agents,tasks}.{yaml,yml}",)),
    ("Cursor rule of the old form", (".cursorrules",)),
    ("Cursor file", (".cursor/**/*.{json,md}", ".cursor-plugin/**/*.{json,md}")),
    ("CodeBuddy file", (".codebuddy/**/*.{md,json}", "CODEBUDDY.md")),
    ("Crush file", ("crush.json", ".crush.json", ".crush/**/*.{md,json}")),
    ("Codex marketplace", (".agents/plugins/marketplace.json",)),
    ("Factory file", (".factory/**/*.{md,json}", ".factory-plugin/**/*.json")),
    ("Firebender file", ("firebender.json",)),
    ("FastMCP configuration", ("fastmcp.json", "*.fastmcp.json")),
    (GEMINI_VARIABLES, (".{gemini,qwen}/.env", ".env")),
    (CONTAINER, (".devcontainer/**/*.json", ".devcontainer.json")),
    (EDITOR, (".vscode/settings.json",)),
    (TASKS, (".vscode/tasks.json",)),
    (WORKSPACE, ("*.code-workspace",)),
    ("Gemini file", (".gemini/**/*.{json,yaml,toml,md}",)),
    ("Gemini sandbox", (".{gemini,qwen}/sandbox.{Dockerfile,bashrc}",)),
    ("Gemini sandbox", (".{gemini,qwen}/sandbox-*.sb",)),
    ("GitHub Copilot extension", (".github/extensions/**/*.{js,mjs,cjs,ts}",)),
    (COMPILED_WORKFLOW, (f".github/workflows/*{COMPILED_END}",)),
    ("GitHub Copilot file", (".github/copilot/**/*.json", ".github/lsp.json")),
    ("GitHub Copilot file", (".github/workflows/copilot-setup-steps.{yml,yaml}",)),
    ("GitHub Copilot plugin", (".github/plugin/*.json",)),
    ("Goose file", (".goosehints", ".goose/**/*.{yaml,md}")),
    ("iFlow file", (".iflow/**/*.{md,json,toml}", "IFLOW.md")),
    ("Junie file", (".junie/**/*.{md,json}",)),
    ("Kilo Code file", (".kilocode/**/*.{md,json}", ".kilocodemodes")),
    ("Kimi file", (".kimi/**/*.{md,json,toml,yaml}",)),
    ("Kiro file", (".kiro/**/*.{md,json,hook}",)),
    ("OpenCode file", ("{.opencode,.config/opencode}/*.{json,jsonc}",)),
    ("OpenCode file", (".opencode/{modes,themes}/**/*.{json,md}",)),
    ("LangGraph configuration", ("langgraph.json",)),
    # OpenCode runs what lies there, without a line in its settings.
    (
        "OpenCode plugin",
        ("{.opencode,.config/opencode}/{plugin,plugins,tool,tools}/**/*.{js,mjs,cjs,ts}",),
    ),
    # OpenHands runs scripts of these names, one before it starts and one before a commit.
    ("OpenHands file", (".openhands/{setup,pre-commit}.sh", ".openhands/hooks.json")),
    ("OpenHands file", (".openhands/skills/**/*.md",)),
    ("Pi file", (".pi/**/*.{md,json,ts}",)),
    ("Qoder file", (".qoder/**/*.{md,json}",)),
    ("Qwen Code file", ("qwen-extension.json", ".qwen/**/*.{md,json,toml}")),
    ("Roo Code file", (".roo/**/*.{md,json,yaml}", ".roomodes", ".roorules")),
    ("Rovo Dev file", (".rovodev/**/*.{md,json,yml,yaml}",)),
    ("Trae file", (".trae/**/*.{md,json}",)),
    ("Vibe file", (".vibe/**/*.{md,json,toml}",)),
    ("Warp file", (".warp/**/*.{md,json,yaml,yml}", "WARP.md")),
    ("Windsurf rule", (".windsurfrules", ".windsurf/**/*.{md,json}")),
    ("Zed file", (".config/zed/*.json",)),
    (
        "list of files that agents leave alone",
        tuple(f".{each}ignore" for each in _TOOLS_WITH_IGNORE_FILE),
    ),
    ("list of files that agents leave alone", (".aiexclude", ".cursorindexingignore")),
    ("list of skills", ("skills-lock.json",)),
)


@cache
def unread_places() -> PlaceIndex:
    return PlaceIndex(UNREAD)


def unread_sort(path: str) -> str | None:
    """What a file is, by its absolute path with `/`, if it belongs to a tool and is not read."""
    place = unread_places().find(path)
    return None if place is None else place[0]
