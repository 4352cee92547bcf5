"""The small files of `shapes.toml`, written as trees: one tree for each place of a header, so that
the copies of one shape do not shadow each other, and one for the other files."""

from __future__ import annotations

import shutil
import tomllib
from pathlib import Path

from judges import project

SHAPES = Path(__file__).resolve().parent / "shapes.toml"

#: Where a header is written; NAME is the name of the shape.
PLACES = {
    "claude-agents": ".claude/agents/NAME.md",
    "claude-skills": ".claude/skills/NAME/SKILL.md",
    "codex-skills": ".codex/skills/NAME/SKILL.md",
    "gemini-skills": ".gemini/skills/NAME/SKILL.md",
    "gemini-agents": ".gemini/agents/NAME.md",
    "opencode-agents": ".opencode/agent/NAME.md",
    "opencode-skills": ".opencode/skill/NAME/SKILL.md",
    "copilot-skills": ".github/skills/NAME/SKILL.md",
}

#: What makes a project a plugin.
MANIFEST = '{"name": "a-plugin", "version": "1.0.0", "description": "Guards"}\n'


def write(folder: Path) -> list[Path]:
    """Write every shape below `folder`, from nothing; the trees."""
    shutil.rmtree(folder, ignore_errors=True)
    shapes = tomllib.loads(SHAPES.read_text(encoding="utf-8"))
    trees = []
    for tree, place in PLACES.items():
        trees.append(project(folder / tree))
        for shape in shapes["header"]:
            put(folder / tree / place.replace("NAME", shape["name"]), header(shape))
    for shape in shapes["file"]:
        trees.append(project(folder / shape["name"]))
        put(folder / shape["name"] / shape["path"], shape["text"] + "\n")
        if shape.get("plugin"):
            put(folder / shape["name"] / ".claude-plugin" / "plugin.json", MANIFEST)
    return trees


def header(shape: dict[str, str]) -> str:
    """A Markdown file that begins with the header of a shape."""
    text = shape["text"].replace("NAME", shape["name"])
    close = shape.get("close", "---")
    return (
        f"{shape.get('before', '')}---\n{text}\n{close}\n\nRead the change, then comment on it.\n"
    )


def put(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())
