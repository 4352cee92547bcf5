"""The page in a browser: everything people do with it, on the examples and on large and bad input.

`make browser` runs these: they need Chromium, Node.js and playwright-core. With EQUIPAGE_PICTURES,
pictures are kept in that folder, to be looked at.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from equipage.cli import main
from lab import ABSENT, EXAMPLES, REPOSITORY, SHARED, repository

PLAYWRIGHT = os.environ.get("EQUIPAGE_PLAYWRIGHT", "")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = pytest.mark.skipif(
    not (PLAYWRIGHT and CHROMIUM), reason="needs Chromium and playwright-core: run `make browser`"
)
PARTS = ("overview", "findings", "reach", "graph", "files", "budget", "state")


def drive(page: Path, scenario: str, pictures: str = "") -> Any:
    """What a scenario of `drive.js` saw; no page may write a message or ask for anything."""
    kept = os.environ.get("EQUIPAGE_PICTURES", "")
    folder = str(Path(kept) / pictures) if kept and pictures else ""
    script = str(Path(__file__).with_name("drive.js"))
    done = subprocess.run(
        ["node", script, str(page), str(CHROMIUM), scenario, folder],
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
        env={**os.environ, "EQUIPAGE_PLAYWRIGHT": PLAYWRIGHT},
    )
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    expected = ["TrustedHTML"] if scenario == "inert" else []
    strange = [each for each in said["messages"] if not any(word in each for word in expected)]
    assert not strange
    assert not said["requests"]
    return said["result"]


def page_of(folder: str, to: Path) -> Path:
    here = Path.cwd()
    os.chdir(REPOSITORY)
    try:
        assert main(["report", folder, "--html", str(to)]) in (0, 1)
    finally:
        os.chdir(here)
    return to


@pytest.fixture(scope="module")
def examples(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return page_of(str(EXAMPLES), tmp_path_factory.mktemp("page") / "examples.html")


def assert_looks(seen: list[dict[str, Any]]) -> None:
    assert len(seen) == 3 * len(PARTS)
    for each in seen:
        assert each["over"] <= 0, each
        assert each["theme"] == each["colorScheme"], each
        assert each["text"] > 40, each
        assert each["current"] == "page"


def test_every_part_fits_in_light_in_dark_and_on_a_phone(examples: Path) -> None:
    assert_looks(drive(examples, "looks", "examples"))


def test_findings_are_filtered_by_text_code_severity_and_kind(examples: Path) -> None:
    seen = drive(examples, "filters")
    # How many findings the examples have is not what this is about.
    total = int(seen["before"].removesuffix(" findings"))
    assert seen["searched"] == f"1 finding of {total}"
    assert set(seen["shown"]) == {"unknown-field", "server.versoin"}
    assert seen["withoutErrors"] == 0
    assert seen["kind"].endswith(f"of {total}")
    assert (seen["marked"], seen["frame"].split()) == (
        "42",
        ["10", "name:", "42", "#", "names", "are", "text"],
    )


def test_a_cell_says_why_by_mouse_and_by_keys(examples: Path) -> None:
    seen = drive(examples, "reach")
    assert "May write files: not allowed" in seen["why"]
    assert "denies tool *" in seen["why"]
    assert "examples/conventions/.claude/agents/reviewer.md:4" in seen["why"]
    assert seen["focused"] == "panel-close"
    assert seen["closed"]
    assert seen["back"] == "reviewer: May write files: not allowed"
    assert seen["moved"] == "reviewer: May read files: allowed"
    assert seen["byKey"] == "reviewer · read files"
    assert seen["left"] == ["explorer"]


def test_the_graph_moves_zooms_and_follows(examples: Path) -> None:
    seen = drive(examples, "graph")
    assert len({seen["before"], seen["dragged"], seen["zoomed"]}) == 3
    assert seen["fitted"] == seen["before"]
    assert seen["followed"] != seen["start"]
    assert seen["byKey"] != seen["followed"]
    assert seen["found"] == "docs"


def test_a_value_is_explained_through_its_includes(examples: Path) -> None:
    seen = drive(examples, "explains")
    assert seen["chain"].split("\n")[0] == "echo"
    assert "in effect" in seen["chain"]
    assert "library/tools/echo.yaml:3:9" in seen["chain"]
    assert "included from here" in seen["chain"]
    assert seen["closed"]
    assert seen["file"].endswith("library/tools/echo.yaml")


def test_paper_has_every_part(examples: Path) -> None:
    seen = drive(examples, "prints", "examples")
    assert [each[0] for each in seen["shown"]] == [f"part-{part}" for part in PARTS]
    assert all(display == "block" and length > 40 for _, display, length in seen["shown"])
    assert seen["nav"] == "none"
    assert seen["size"] > 10_000


def test_everything_has_a_name_and_a_place_in_the_order_of_tab(examples: Path) -> None:
    seen = drive(examples, "speaks")
    assert seen["first"][:3] == ["Skip to the content", "Dark", "Overview"]
    assert seen["first"][3].startswith("Findings")
    assert not seen["unnamed"]
    assert (seen["heads"], seen["roles"]) == (1, [1, 1, 1, 1, 1])
    assert seen["theme"] == "dark"


@pytest.mark.skipif(not (SHARED / "corpus").is_dir(), reason=ABSENT)
def test_a_corpus_of_real_agents_fits(tmp_path: Path) -> None:
    page = page_of(str(SHARED / "corpus"), tmp_path / "corpus.html")
    assert_looks(drive(page, "looks", "corpus"))


def test_two_thousand_files_are_small_and_fast(tmp_path: Path) -> None:
    files: dict[str, Any] = {".mcp.json": {"mcpServers": {"docs": {"command": "docs-server"}}}}
    for n in range(2_000):
        tools = ("Read, Grep", "Read, Edit, Bash(git log:*)", "Read, Reed", "mcp__docs__search")[
            n % 4
        ]
        files[f".claude/agents/group-{n % 40}/agent-{n}.md"] = (
            f"---\nname: agent-{n}\ndescription: {'Reviews changes and reports problems. ' * 4}\n"
            f"tools: {tools}\nmodel: inherit\n---\n{'You work with care. ' * 40}\n"
        )
    repository(tmp_path / "many", files)
    page = page_of(str(tmp_path / "many"), tmp_path / "many.html")
    assert page.stat().st_size <= 5_000_000
    seen = drive(page, "fast")
    assert seen["paint"] < 1_000, seen
    assert all(worst < 100 for worst in seen["times"].values()), seen


EVIL = "<img src=x onerror='window.pwned=1'><script>window.pwned=1</script><b><b>"


@pytest.mark.parametrize(
    "text",
    [EVIL, "javascript:window.pwned=1", "\u202eevil\u2066", "x" * 1_000_000],
    ids=["markup", "url", "bidi", "long"],
)
def test_what_files_contain_stays_text(text: str, tmp_path: Path) -> None:
    described = json.dumps(text)
    files = {
        ".claude/agents/a.md": f"---\nname: {json.dumps(text[:500])}\ndescription: {described}\ntools: {described}\n---\n{text}\n",
        ".mcp.json": {"mcpServers": {text[:500]: {"command": text[:5_000]}}},
        "x.tool.yaml": f"id: {described}\n",
    }
    repository(tmp_path / "evil", files)
    seen = drive(page_of(str(tmp_path / "evil"), tmp_path / "evil.html"), "inert")
    assert seen.pop("text") > 200
    assert seen == {
        "ran": False,
        "images": 0,
        "frames": 0,
        "scripts": 2,
        "markup": 0,
        "injected": False,
    }
