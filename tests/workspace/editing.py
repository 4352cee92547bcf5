"""A small workspace that changes at random, in every way that a check may depend on.

`change N` of a seed depends on the seed and on the changes before it alone.
"""

from __future__ import annotations

import os
import random
import shutil
from pathlib import Path

from equipage.loading.session import Request
from equipage.render import json as as_json
from equipage.workspace.check import check_paths

_AGENT = "---\nname: {name}\ndescription: does {word}\ntools: {tools}\n{more}---\nUse @{word}.md.\n"
_SKILL = "---\nname: {name}\ndescription: {word}\n{more}---\nSee [it](references/{word}.md).\n"
_TOOL = "id: {name}.{word}\nversion: 1.0.0\nkind: {tools}\nname: {name}\ndescription: d\n"
_SERVER = "server: {{name: {name}, version: ${{V{word}:-1}}}}\ntools:\n  - $include: {word}.yaml\n"
_PART = "tool: {{name: {name}, description: '${{SECRET}}', inputSchema: {{type: {word}}}}}\n"
_PROFILE = "---\ndescription: {word}\nmcp_servers: [{name}]\n{more}---\nText of {name}.\n"
_LAYER = 'default_agent = "{name}"\n[mcp_servers.{word}]\ncommand = "{tools}"\n'
_MCP = '{{"mcpServers": {{"{name}": {{"command": "{tools}", "env": {{"A": "${{SECRET}}"}}}}}}}}\n'
_PLUGIN = '{{"name": "{name}", "agents": ["./{word}.md"], "commands": "./more"}}\n'
_SETTINGS = (
    "",
    'ignore = ["unknown-reference"]\n',
    'exclude = [".claude/skills/a"]\n',
    '[severity]\nmissing-field = "note"\n',
    'roots = ["library"]\nlibrary = "library"\n[kinds]\n"*.conf.yaml" = "server"\n',
    '[kinds]\n"*.conf.yaml" = "toolpack"\n[per-file-ignores]\n"*.md" = ["missing-field"]\n',
    'select = ["wrong-type"]\nwrong = 1\n',
    "conventions = false\n",
    "[policy]\npins = true\n[policy.never]\ntools = ['Bash']\n",
    "cache = false\n",
    "cache = true\n",
)
_IGNORES = ("", "*.json\n", "a.md\n!b.md\n", "library/\n", ".claude\n", "/.claude/agents/*\n")
#: Where files are, and what may be in them.
_PLACES: tuple[tuple[str, str], ...] = (
    (".claude/agents/{}.md", _AGENT),
    (".claude/agents/more/{}.md", _AGENT),
    (".claude/skills/{}/SKILL.md", _SKILL),
    (".claude/skills/{}/references/{}.md", _SKILL),
    (".claude/commands/{}.md", _AGENT),
    (".defect/agents/{}.md", _PROFILE),
    (".defect/config.toml", _LAYER),
    (".defect/config.local.toml", _LAYER),
    (".mcp.json", _MCP),
    ("CLAUDE.md", _AGENT),
    ("{}.md", _AGENT),
    ("plugin/.claude-plugin/plugin.json", _PLUGIN),
    ("plugin/agents/{}.md", _AGENT),
    ("plugin/{}.md", _AGENT),
    ("tools/{}.tool.yaml", _TOOL),
    ("{}.conf.yaml", _SERVER),
    ("server-{}.yaml", _SERVER),
    ("library/{}.yaml", _PART),
    ("sub/equipage.toml", "ignore = ['missing-field']\n"),
    ("sub/.claude/agents/{}.md", _AGENT),
)
_NAMES = ("a", "b", "c")
_WORDS = ("a", "b", "object", "one two", "5")
_TOOLS = ("Read", "Read, mcp__a__x", "Agent(b)", "Bash(rm:*)", "npx", "[5]")
_MORE = ("", "skills: a, b\n", "model: 5\n", "# equipage: ignore[unknown-field]\n", "odd: 1\n", "]")
_VALUES = (None, "object", "a", "swordfish-swordfish", "5")


class Workspace:
    """A project at `root`, made anew for each seed, and the variables it is checked with."""

    def __init__(self, root: Path, seed: int) -> None:
        self.root = root
        self.rng = random.Random(seed)
        self.env: dict[str, str] = {}
        (root / ".git").mkdir(parents=True)
        for _ in range(12):
            self._create()

    def change(self) -> str:
        """Change something; what it was."""
        # Files come and go more often than anything else.
        often = [self._create, self._edit, self._edit, self._delete, self._rename]
        seldom = [self._mode, self._settings, self._variable, self._ignore, self._link]
        done = self.rng.choice([*often, *seldom, self._folder, self._outside])
        try:
            done()
        except OSError as error:  # a link in the way, a folder in the place of a file
            return f"{done.__name__}: {error.strerror}"
        return done.__name__

    def reports(self) -> tuple[str, str]:
        """What a check says that uses the cache, and one that does not."""
        paths = self.rng.choice([["."], ["."], ["."], [".claude"], ["CLAUDE.md", ".defect"]])
        paths = [path for path in paths if os.path.lexists(path)] or ["."]
        cached, fresh = (
            as_json.render(check_paths(paths, Request(env=self.env), cached=each))
            for each in (True, False)
        )
        return cached, fresh

    def _some(self) -> Path | None:
        found = [
            Path(here) / name
            for here, folders, names in os.walk(self.root)
            if not here.startswith((str(self.root / ".git"), str(self.root / ".equipage_cache")))
            for name in [*names, *(each for each in folders if (Path(here) / each).is_symlink())]
        ]
        return self.rng.choice(sorted(found)) if found else None

    def _create(self) -> None:
        place, template = self.rng.choice(_PLACES)
        path = self.root / place.format(self.rng.choice(_NAMES), self.rng.choice(_NAMES))
        path.parent.mkdir(parents=True, exist_ok=True)
        self._write(path, template)

    def _write(self, path: Path, template: str) -> None:
        choose = self.rng.choice
        values = {"name": choose(_NAMES), "word": choose(_WORDS), "tools": choose(_TOOLS)}
        text = template.format(**values, more=choose(_MORE)) if "{" in template else template
        if path.exists() and not path.is_dir() and choose([True, False]):
            path.unlink()  # another inode, as editors make it
        path.write_bytes(text.encode() + choose([b"", b"", b"", b"\xff", "\u200b".encode()]))

    def _edit(self) -> None:
        if (path := self._some()) is not None:
            self._write(path, self.rng.choice(_PLACES)[1])

    def _delete(self) -> None:
        if (path := self._some()) is not None:
            shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()

    def _rename(self) -> None:
        if (path := self._some()) is not None:
            path.rename(path.with_name(f"{self.rng.choice(_NAMES)}{path.suffix}"))

    def _mode(self) -> None:
        if (path := self._some()) is not None:
            target = self.rng.choice([path, path.parent])
            if target != self.root:
                target.chmod(self.rng.choice([0o644, 0o755, 0o700, 0o500]))

    def _settings(self) -> None:
        name = self.rng.choice(["equipage.toml", "equipage.toml", "pyproject.toml"])
        text = self.rng.choice(_SETTINGS)
        if name == "pyproject.toml":
            text = "[tool.equipage]\n" + text.replace("[", "[tool.equipage.", 1)
        (self.root / name).write_text(text)

    def _variable(self) -> None:
        name = self.rng.choice(["SECRET", "Va", "Vb", "V5", "HOME", "THOUGHTJACK_LIBRARY"])
        value = self.rng.choice(_VALUES)
        if name in ("HOME", "THOUGHTJACK_LIBRARY") and value is not None:
            value = str(self.root / value)
        if value is None:
            self.env.pop(name, None)
        else:
            self.env = {**self.env, name: value}

    def _ignore(self) -> None:
        folder = self.rng.choice([self.root, self.root / ".claude"])
        (folder / ".gitignore").write_text(self.rng.choice(_IGNORES))

    def _link(self) -> None:
        """A link to a file, to a folder, to nothing, to itself, or out of the project."""
        place, _ = self.rng.choice(_PLACES)
        path = self.root / place.format(self.rng.choice(_NAMES), "b")
        if self.rng.random() < 0.3:
            path = path.parent
        path.parent.mkdir(parents=True, exist_ok=True)
        target = self.rng.choice(
            [self._some(), path, "nowhere", self.root.parent / "outside", ".."]
        )
        if path == self.root or target is None:
            return
        if path.is_symlink() or path.is_file():
            path.unlink()
        elif path.is_dir():
            shutil.rmtree(path)
        path.symlink_to(target)

    def _folder(self) -> None:
        """Move a folder away, or back: everything in it comes or goes at once."""
        here = self.root / self.rng.choice([".claude", ".claude/skills", "library", "plugin"])
        away = self.root / ".git" / "away"
        if away.is_dir() and not here.exists():
            away.rename(here)
        elif here.is_dir() and not away.exists():
            here.rename(away)

    def _outside(self) -> None:
        """Change what links out of the project lead to."""
        outside = self.root.parent / "outside"
        outside.mkdir(exist_ok=True)
        name = self.rng.choice(["a.md", "SKILL.md", "config.toml"])
        self._write(outside / name, _AGENT)
