"""Work and memory grow with what is there, never with a product of it. Counted, not timed."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lab import Link, check, python, write

AGENT = "---\nname: {0}\ndescription: Reviews\n---\nReview.\n"


def calls_in(run: Callable[[], object]) -> Counter[str]:
    """How often each function of equipage is called."""
    counts: Counter[str] = Counter()

    def count(frame: Any, event: str, _: object) -> None:
        if event == "call" and "equipage" in frame.f_code.co_filename:
            counts[frame.f_code.co_qualname] += 1

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        run()
    finally:
        sys.setprofile(before)
    return counts


def marketplace(folder: Path, plugins: int, files: int) -> Path:
    entries = [
        {"name": f"p{n}", "source": f"./plugins/p{n}", "agents": [f"./plugins/p{n}/a.md"]}
        for n in range(plugins)
    ]
    market = {"name": "market", "owner": {"name": "us"}, "plugins": entries}
    notes = {f"notes/n{n}.md": AGENT.format(f"n{n}") for n in range(files)}
    return write(folder, {".git/HEAD": "", ".claude-plugin/marketplace.json": market, **notes})


def test_plugins_of_a_marketplace_do_not_multiply_with_files(tmp_path: Path) -> None:
    def work(plugins: int, files: int) -> int:
        folder = marketplace(tmp_path / f"{plugins}-{files}", plugins, files)
        return calls_in(lambda: check(folder)).total()

    work(2, 2)  # what is worked out once for all checks does not count
    base, more_plugins, more_files, both = (
        work(20, 20),
        work(80, 20),
        work(20, 120),
        work(80, 120),
    )
    # A sum: what each of the two adds alone is what both add together.
    assert both <= (more_plugins + more_files - base) * 1.02


def test_the_entries_of_a_marketplace_are_taken_up_once(tmp_path: Path) -> None:
    folder = marketplace(tmp_path, 50, 150)
    assert calls_in(lambda: check(folder))["Plugins.add"] == 50


def test_links_to_one_folder_do_not_multiply_its_files(tmp_path: Path) -> None:
    def work(links: int) -> Counter[str]:
        files: dict[str, Any] = {f"big/a{n}.md": AGENT.format(f"a{n}") for n in range(20)}
        files |= {f"l{n}": Link("big") for n in range(links)}
        folder = write(tmp_path / str(links), {f".claude/agents/{k}": v for k, v in files.items()})
        report: list[Any] = []
        counts = calls_in(lambda: report.append(check(folder)))
        assert len(report[0].files) == 20
        return counts

    few, many = work(2), work(40)
    assert many["load_path"] == few["load_path"]
    assert many.total() < few.total() * 2


COUNT = 10_000
NUMBERS = range(COUNT)
UNKNOWN = "".join(f"k{n}: 1\n" for n in NUMBERS)

#: Checks nothing, then the folder, and prints the bytes that the second check took more at its peak.
PEAK = """
import resource, sys
from equipage.cli import main
peaks = []
for folder in sys.argv[1:]:
    main(["check", folder, "--output", "/dev/null"])
    peaks.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)
print(peaks[1] - peaks[0])
"""


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere memory is counted in other units")
@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("server.yaml", "server: {name: x}\ntools: []\n" + "key: 1\n" * COUNT),
        (".claude/agents/a.md", f"---\nname: a\ndescription: b\n{UNKNOWN}---\nReview.\n"),
        (".claude/settings.json", "{" + ",".join(f'"k{n}": 1' for n in NUMBERS) + "}"),
        (".codex/config.toml", "".join(f"k{n} = 1\n" for n in NUMBERS)),
    ],
)
def test_memory_is_a_bounded_multiple_of_the_file(path: str, text: str, tmp_path: Path) -> None:
    few = "\n".join(text.splitlines()[:50]) if path != ".claude/settings.json" else "{}"
    small, large = write(tmp_path / "a", {path: few}), write(tmp_path / "b", {path: text})
    result = python("-c", PEAK, str(small), str(large))
    took = int(result.out or result.err)
    assert took < 100 * len(text), f"{took / len(text):.0f} times the file"
