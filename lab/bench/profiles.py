"""2,000 agent profiles: find and check all of them; python-frontmatter only reads them.

python lab/bench/profiles.py
"""

from __future__ import annotations

import random
import tempfile
from pathlib import Path
from typing import Any

from harness import Row

import data

COUNT = 2000
BODY = "You are agent {n}.\n\n" + "".join(
    f"Step {step}: read {{words}}, and report {{n}} problems.\n" for step in range(12)
)
YAML = """\
---
description: Agent number {n}, which looks at {words} and reports what it found
model: some-model-{n}
tools:
  allow: [read_file, search, "mcp__docs__*"]
sampling:
  temperature: 0.2
request_limit: {n}1
request_limit_mode: fixed
---
"""


def write(folder: Path, count: int = COUNT) -> Path:
    """A repository with `count` single-file profiles; returns its `agents` folder."""
    agents = folder / ".defect" / "agents"
    agents.mkdir(parents=True)
    (folder / ".git").mkdir()
    chance = random.Random(27)
    for n in range(count):
        text = (YAML + BODY).format(n=n, words=data.sentence(chance))
        (agents / f"agent-{n}.md").write_text(text)
    return agents


def rows(folder: Path) -> list[Row]:
    """The comparison, over profiles written to `folder`."""
    import frontmatter  # type: ignore[import-not-found]  # measured against, not depended on

    import equipage

    agents = write(folder)
    paths = sorted(map(str, agents.iterdir()))

    def ours() -> Any:
        return equipage.discover_profiles(folder, env={})

    def theirs() -> Any:
        return [frontmatter.load(path) for path in paths]

    assert len(ours()) == len(theirs()) == COUNT
    return [
        Row(
            f"find and check {COUNT:,} profiles",
            "python-frontmatter, reading only",
            1.5,
            "faster",
            ours,
            theirs,
        )
    ]


if __name__ == "__main__":
    from harness import measure

    with tempfile.TemporaryDirectory() as name:
        for row in rows(Path(name)):
            result = measure(row)
            ours, theirs = (
                f"{row.work}: {result.ours:.3f} s",
                f"{row.against}: {result.theirs:.3f} s",
            )
            print(f"{ours}; {theirs}; ratio {result.ratio:.2f}")
