"""Shared fixtures: where the data that stays outside the repository lies, if it is there."""

from __future__ import annotations

from pathlib import Path

import pytest

SHARED = Path(__file__).resolve().parents[2] / "shared"


@pytest.fixture
def shared() -> Path:
    if not SHARED.is_dir():
        pytest.skip("the shared data (probes, suites, corpus) is not beside the repository")
    return SHARED
