"""Draw what `equipage check` prints, as the pictures of the README.

    python docs/picture.py      writes docs/assets/check-light.svg and check-dark.svg

The text is what the command prints about the file in the picture, with the colors of a terminal.
A test makes both again and compares.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from html import escape
from pathlib import Path

ASSETS = Path(__file__).parent / "assets"
FILE = ".claude/agents/reviewer.md"
AGENT = """\
---
name: reviewer
description: Reviews a change: reads, never writes
allowed_tools: Read, Grep, Glob
---
You review changes. Never edit a file.
"""
#: The width of the terminal, in characters.
COLUMNS = 100
#: The size of a character and of the frame, in pixels.
WIDTH, HEIGHT, MARGIN, BAR = 8.4, 20, 20, 36

#: Colors by theme, with a contrast of at least 4.5 to the background.
THEMES = {
    "light": {
        "back": "#ffffff", "bar": "#eef1f4", "line": "#d0d7de", "text": "#1f2328", "dim": "#59636e",
        "31": "#c21c2b", "33": "#8a5a00", "34": "#0a58ca", "32": "#116329", "35": "#8250df",
        "36": "#0b6b78",
    },
    "dark": {
        "back": "#0d1117", "bar": "#161b22", "line": "#30363d", "text": "#e6edf3", "dim": "#9198a1",
        "31": "#ff7b72", "33": "#e3b341", "34": "#79c0ff", "32": "#7ee787", "35": "#d2a8ff",
        "36": "#76e3ea",
    },
}  # fmt: skip

_STYLE = re.compile(r"\x1b\[([0-9;]*)m")


def printed() -> str:
    """What the command prints about the agent, colored."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, FILE)
        path.parent.mkdir(parents=True)
        path.write_text(AGENT, encoding="utf-8")
        (Path(folder) / ".git").mkdir()  # the folder is a project
        command = [sys.executable, "-P", "-m", "equipage", "--color", "always", "check"]
        env = {**os.environ, "COLUMNS": str(COLUMNS), "HOME": folder}
        done = subprocess.run(
            command, cwd=folder, env=env, capture_output=True, text=True, check=False
        )
    return done.stdout


def styled(line: str) -> Iterator[tuple[str, frozenset[str]]]:
    """The parts of a line, each with the numbers of its style."""
    style: frozenset[str] = frozenset()
    for number, part in enumerate(_STYLE.split(line)):
        if number % 2:
            style = frozenset() if part in ("", "0") else style | {*part.split(";")}
        elif part:
            yield part, style


def drawn(lines: list[str], title: str, colors: dict[str, str]) -> str:
    """The lines as a window of a terminal."""
    width = round(COLUMNS * WIDTH + 2 * MARGIN)
    height = BAR + len(lines) * HEIGHT + 2 * MARGIN
    rows = []
    for number, line in enumerate(lines):
        top, column = BAR + MARGIN + number * HEIGHT + 14, 0
        for part, style in styled(line):
            color = next((colors[each] for each in sorted(style) if each in colors), colors["text"])
            if "2" in style:
                color = colors["dim"]
            weight = ' font-weight="600"' if "1" in style else ""
            left = round(MARGIN + column * WIDTH, 1)
            # The length of each part is given, so that every font keeps the columns.
            length = round(len(part) * WIDTH, 1)
            rows.append(
                f'<text x="{left}" y="{top}" fill="{color}"{weight} textLength="{length}" '
                f'lengthAdjust="spacingAndGlyphs" xml:space="preserve">{escape(part)}</text>'
            )
            column += len(part)
    dots = "".join(
        f'<circle cx="{MARGIN + 6 + 18 * each}" cy="{BAR // 2}" r="5" fill="{colors["line"]}"/>'
        for each in range(3)
    )
    body = "\n".join(rows)
    return f"""\
<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" \
viewBox="0 0 {width} {height}" role="img" aria-label="{escape(title)}">
<rect x="0.5" y="0.5" width="{width - 1}" height="{height - 1}" rx="8" fill="{colors["back"]}" \
stroke="{colors["line"]}"/>
<path d="M1 {BAR}V9a8 8 0 0 1 8-8h{width - 18}a8 8 0 0 1 8 8v{BAR - 9}z" fill="{colors["bar"]}"/>
{dots}
<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace" \
font-size="14">
{body}
</g>
</svg>
"""


def pictures() -> dict[str, str]:
    """The pictures by the names of their files."""
    shown = [f"\x1b[2m# {FILE}\x1b[0m", *AGENT.splitlines(), ""]
    shown += ["\x1b[2m$\x1b[0m \x1b[1mequipage check\x1b[0m", *printed().rstrip("\n").splitlines()]
    title = "equipage check finds that an agent which was meant to read may do everything"
    return {f"check-{name}.svg": drawn(shown, title, colors) for name, colors in THEMES.items()}


if __name__ == "__main__":
    for name, picture in pictures().items():
        (ASSETS / name).write_text(picture, encoding="utf-8")
