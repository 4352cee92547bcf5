"""Shared fixtures: where the data that stays outside the repository lies, if it is there."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

SHARED = Path(__file__).resolve().parents[2] / "shared"

# The same examples on every machine, and no bound on time: a busy machine is no failure. Random input is the business
# of `make fuzz`.
settings.register_profile(
    "lading", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
settings.load_profile("lading")


@pytest.fixture
def shared() -> Path:
    if not SHARED.is_dir():
        pytest.skip("the shared data (probes, suites, corpus) is not beside the repository")
    return SHARED
