"""The comparison says of equipage what is so today; `make comparison` asks the other tools."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import equipage
from lab import REPOSITORY, module_at

SLIPS: list[Any] = module_at(REPOSITORY / "lab" / "comparison" / "slips.py").slips()
PAGE = (REPOSITORY / "docs" / "comparison.md").read_text("utf-8")


@pytest.mark.parametrize("slip", SLIPS, ids=[slip.title for slip in SLIPS])
def test_the_page_says_where_equipage_finds_the_slip(slip: Any, tmp_path: Path) -> None:
    found = {}
    for right in (False, True):
        slip.write(folder := tmp_path / str(right), right=right)
        report = equipage.check([folder])
        found[right] = {each.span.line for each in report.diagnostics if each.span is not None}
    assert found[True] == set(), "the project that was put right has findings"
    word = "line" if found[False] & slip.lines else "file" if found[False] else "–"
    assert f"| {slip.title} | {slip.happens} | {word} |" in PAGE
