"""What the pages and the console cases of equipage-serve show is what happens."""

from __future__ import annotations

from pathlib import Path

import pytest

from cli.consoles import Console, consoles_in
from docs.pages import check_links, pages_of, play_page
from lab import environment, settle

PAGES = pages_of("equipage-serve")
CASES = list(consoles_in(Path(__file__).parent / "cases"))


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.parent.name + "/" + path.name)
def test_page(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settle(monkeypatch, tmp_path, environment())
    check_links(path)
    play_page(path, tmp_path)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.path.stem)
def test_console(case: Console, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    case.check_here(tmp_path, monkeypatch)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.path.stem)
def test_console_as_processes(case: Console, tmp_path: Path) -> None:
    case.check_as_processes(tmp_path)
