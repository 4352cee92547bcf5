"""A walk while another process swaps what it finds for links to the outside: nothing escapes."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

import equipage
from equipage.render import text as text_render

from . import world
from .world import CANARY

#: How long each check is raced, and how many checks are enough on a machine that is busy.
SECONDS, ENOUGH = 0.6, 20

SWAP = """
import os, sys
here, other, parked = sys.argv[1:]
print("ready", flush=True)
while True:
    os.rename(here, parked); os.rename(other, here)
    os.rename(here, other); os.rename(parked, here)
"""
#: What a finding quotes of a file, by its extension.
TEXTS = {
    ".md": "---\nname: a\ndescription: d\nWORD: 1\n---\nWORD\n",
    ".yaml": "id: WORD\nWORD: 1\n",
    ".toml": "WORD = 1\n",
}


@pytest.mark.parametrize(
    ("here", "file"),
    [
        (".claude/agents/a.md", ".claude/agents/a.md"),
        (".claude/agents", ".claude/agents/a.md"),
        ("packs/deep", "packs/deep/a.tool.yaml"),
        ("equipage.toml", "equipage.toml"),
    ],
    ids=["a file", "its folder", "a folder deep down", "the settings"],
)
def test_nothing_escapes_from_a_walk(tmp_path: Path, here: str, file: str) -> None:
    root, outside = tmp_path / "project", tmp_path / "outside"
    (root / ".git").mkdir(parents=True)
    for folder, text in ((root, "fine"), (outside, CANARY)):
        target = folder / file
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(TEXTS[target.suffix].replace("WORD", text))
    link = tmp_path / "evil"
    link.symlink_to(outside / here)
    words = [str(root / here), str(link), str(tmp_path / "parked")]
    process = subprocess.Popen([sys.executable, "-c", SWAP, *words], stdout=subprocess.PIPE)
    with process:
        assert process.stdout is not None
        process.stdout.readline()
        checks, deadline = 0, time.monotonic() + SECONDS
        try:
            while checks < ENOUGH or time.monotonic() < deadline:
                report = equipage.check([str(root)], env={})  # raises nothing
                world.no_bug(report.diagnostics)
                assert CANARY not in "".join(text_render.render(report, text_render.Style()))
                assert CANARY not in repr(report.diagnostics)
                checks += 1
            assert process.poll() is None, "the other process swapped until the end"
        finally:
            process.kill()
