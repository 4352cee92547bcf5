"""The documentation tells the truth: every console block is run and compared, every link leads somewhere.

A page is played from top to bottom in a folder of its own that holds a copy of `examples/`. A block with a file name
before it writes that file; in a console block, each `$ lading …` line is run and what it prints must be what the page
shows. A last line `…` says that more follows. With LADING_UPDATE_DOCS=1 the pages are rewritten; the diff is reviewed
like prose.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
from pathlib import Path

import pytest

from cli.consoles import environment, in_process, settle

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
PAGES = [page for page in PAGES if "reference" not in page.parts]
UPDATE = bool(os.environ.get("LADING_UPDATE_DOCS"))

_BLOCK = re.compile(
    r"^(?:`(?P<name>[^`\n]+)`\n+)?```(?P<tag>[a-z0-9_-]*)\n(?P<body>.*?)(?<=\n)```[ \t]*$", re.MULTILINE | re.DOTALL
)
_LINK = re.compile(r"(?<!\!)\[[^\]]*\]\((?P<target>[^)#\s]+)(?:#[^)]*)?\)")
MORE = "…\n"


def played(body: str) -> str:
    """A console block as it really goes."""
    said: list[str] = []
    shown = re.split(r"^(?=\$ )", body, flags=re.MULTILINE)
    for part in shown:
        if not part.startswith("$ "):
            continue
        command = part.partition("\n")[0][2:]
        words = shlex.split(command)
        assert words[0] == "lading", f"a page can only run lading, not {words[0]}"
        _code, out, err = in_process(words[1:])
        said.append(_cut(f"$ {command}\n{out}{err}", part))
    return "".join(said)


def _cut(said: str, shown: str) -> str:
    """What was said, as far as the page shows it."""
    if not shown.endswith(MORE):
        return said
    return "".join(said.splitlines(keepends=True)[: shown.count("\n") - 1]) + MORE


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_console_blocks(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(ROOT / "examples", tmp_path / "examples", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / ".git").mkdir()
    settle(monkeypatch, tmp_path, environment(COLUMNS="100"))
    text = page.read_text(encoding="utf-8")
    pieces, done = [], 0
    for match in _BLOCK.finditer(text):
        if match["name"] is not None:
            target = tmp_path / match["name"]
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(match["body"], encoding="utf-8")
        elif match["tag"] == "console":
            pieces += [text[done : match.start("body")], played(match["body"])]
            done = match.end("body")
    new = "".join([*pieces, text[done:]])
    if UPDATE:
        page.write_text(new, encoding="utf-8")
        return
    assert new == text


def test_the_python_of_the_readme_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(ROOT / "examples" / "server", tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    blocks = [match["body"] for match in _BLOCK.finditer((ROOT / "README.md").read_text()) if match["tag"] == "python"]
    assert blocks
    for block in blocks:
        exec(compile(block, "README.md", "exec"), {})


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(page: Path) -> None:
    for match in _LINK.finditer(page.read_text(encoding="utf-8")):
        target = match["target"]
        if target.startswith(("http:", "https:", "mailto:")) or "reference/" in target:
            continue  # the reference is generated; building the site checks those
        assert (page.parent / target).exists(), target
