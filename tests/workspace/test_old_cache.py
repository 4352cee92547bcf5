"""Versions before 0.2 kept results in `.equipage_cache`: such a folder means nothing any more."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from lab import in_process, repository, write

AGENT = "---\nname: a\ndescription: d\nmodel: [5]\n---\nText.\n"
PROGRAM = """
import sys
import equipage
equipage.check(["."], env={})  # from now on, no module is imported
seen = []
sys.addaudithook(lambda event, given: seen.append(repr(given)))
report = equipage.check(["."], env={})
print([each.path for each in report.files], [each for each in seen if ".equipage_cache" in each])
"""


def test_an_old_folder_of_results_is_not_looked_into(tmp_path: Path) -> None:
    repository(tmp_path)
    write(
        tmp_path,
        {
            ".claude/agents/a.md": AGENT,
            ".equipage_cache/CLAUDE.md": "Text.\n",
            ".equipage_cache/.claude/agents/a.md": AGENT,
            ".equipage_cache/skills/a/SKILL.md": AGENT,
            ".equipage_cache/0123456789abcdef0123456789abcdef": "results",
            ".equipage_cache/key": "key",
        },
    )
    command = [sys.executable, "-c", PROGRAM]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == "['.claude/agents/a.md'] []\n"


def test_its_setting_and_its_option_are_unknown(tmp_path: Path) -> None:
    repository(tmp_path)
    write(tmp_path, {"equipage.toml": "cache = false\n", ".claude/agents/a.md": AGENT})
    done = in_process(["check", "-f", "concise", str(tmp_path)])
    assert "equipage.toml:1:1: warning[unknown-field]" in done.out
    done = in_process(["check", "--no-cache", str(tmp_path)])
    assert (done.code, done.out) == (2, "")
    assert "--no-cache" in done.err
