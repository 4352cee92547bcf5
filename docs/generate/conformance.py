"""A page per seed: every requirement with the tests that show it, and the deviations."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from pathlib import Path

_REPORT = Path(__file__).parents[2] / "requirements" / "report.py"


def pages() -> Iterator[tuple[str, str]]:
    """The name and the text of each page."""
    spec = importlib.util.spec_from_file_location("_report", _REPORT)
    assert spec is not None
    assert spec.loader is not None
    report = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(report)
    yield from report.tables()
