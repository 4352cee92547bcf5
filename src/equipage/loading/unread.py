"""Files of agent tools that equipage knows by their place and does not read.

A check names each sort once, with the first file and how many there are: nothing that an agent tool
reads is skipped in silence. A row goes away when its files become a kind, because the kinds are
asked first.
"""

from __future__ import annotations

from functools import cache

from equipage.loading.registry import Places

#: Tools with a file of their own that says what their agents must not read.
# fmt: off
_IGNORING = (
    "aider", "augment", "cline", "codeium", "cursor", "gemini", "goose", "kilocode", "qwen", "roo",
)
# fmt: on
#: Of these, a lock and a comparison know what plain ones mean, see `views.codex_rules`.
CODEX_RULE = "Codex rule"
#: Such a file runs by its name, so it must have the mark of a program.
HOOK_FILE = "Cline hook"
#: What the files are, and where they live.
UNREAD: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("Aider file", (".aider.conf.yaml", ".aider.model.settings.yml")),
    ("Amazon Q file", (".amazonq/**/*.{md,json}",)),
    ("Amp file", (".amp/**/*.{md,json,jsonc,js,ts}", ".agents/commands/*")),
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
    ("Cursor rule of the old form", (".cursorrules",)),
    ("Cursor file", (".cursor/**/*.{json,md}", ".cursor-plugin/marketplace.json")),
    ("Codex marketplace", (".agents/plugins/marketplace.json",)),
    ("Factory file", (".factory/**/*.{md,json}",)),
    ("Gemini file", (".gemini/**/*.{json,yaml,toml,md}",)),
    ("Gemini sandbox", (".gemini/sandbox.{Dockerfile,bashrc}", ".gemini/sandbox-*.sb")),
    ("GitHub Copilot file", (".github/copilot/**/*.json", ".github/lsp.json")),
    ("GitHub Copilot file", (".github/workflows/copilot-setup-steps.{yml,yaml}",)),
    ("GitHub Copilot plugin", (".github/plugin/*.json",)),
    ("Goose file", (".goosehints", ".goose/**/*.{yaml,md}")),
    ("Junie file", (".junie/**/*.{md,json}",)),
    ("Kilo Code file", (".kilocode/**/*.{md,json}", ".kilocodemodes")),
    ("Kiro file", (".kiro/**/*.{md,json,hook}",)),
    ("OpenCode file", (".opencode/*.{json,jsonc}", ".opencode/{modes,themes}/**/*.{json,md}")),
    # OpenCode runs what lies there, without a line in its settings.
    ("OpenCode plugin", (".opencode/{plugin,plugins,tool,tools}/**/*.{js,mjs,cjs,ts}",)),
    # OpenHands runs scripts of these names, one before it starts and one before a commit.
    ("OpenHands file", (".openhands/{setup,pre-commit}.sh", ".openhands/hooks.json")),
    ("OpenHands file", (".openhands/skills/**/*.md",)),
    ("Qoder file", (".qoder/**/*.{md,json}",)),
    ("Qwen Code file", ("qwen-extension.json", ".qwen/**/*.{md,json,toml}")),
    ("Roo Code file", (".roo/**/*.{md,json,yaml}", ".roomodes", ".roorules")),
    ("Trae file", (".trae/**/*.{md,json}",)),
    ("Windsurf rule", (".windsurfrules", ".windsurf/**/*.{md,json}")),
    ("list of files that agents leave alone", tuple(f".{each}ignore" for each in _IGNORING)),
    ("list of files that agents leave alone", (".aiexclude", ".cursorindexingignore")),
    ("list of skills", ("skills-lock.json",)),
)


@cache
def unread_places() -> Places:
    return Places(UNREAD)


def unread_sort(path: str) -> str | None:
    """What a file is, by its absolute path with `/`, if it belongs to a tool and is not read."""
    place = unread_places().find(path)
    return None if place is None else place[0]
