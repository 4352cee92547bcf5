"""The page on loaders says of equipage what is so today; `make loaders` runs the other libraries."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from lab import REPOSITORY, module_at

PAGE = (REPOSITORY / "docs" / "loaders.md").read_text("utf-8")


@pytest.fixture
def loaders(monkeypatch: pytest.MonkeyPatch) -> Any:
    folder = REPOSITORY / "lab" / "loaders"
    monkeypatch.syspath_prepend(folder)
    monkeypatch.delitem(sys.modules, "inputs", raising=False)
    return module_at(folder / "__main__.py")


def test_the_page_shows_the_programs(loaders: Any) -> None:
    shown = PAGE.partition("## The programs")[2]
    assert "\n".join(loaders.programs()).strip() in shown


def test_the_page_says_what_the_program_with_equipage_does(loaders: Any) -> None:
    cells = loaders.cells(sys.executable, "equipage")
    assert f"| equipage | {' | '.join(cells)} |" in PAGE
