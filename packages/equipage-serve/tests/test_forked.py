"""The tests of the supervisor once more, with copies of this process as supervisors."""

from __future__ import annotations

import sys

import pytest

pytest.importorskip("jinja2", reason="the extra `serve` is not installed")
if sys.platform != "linux":
    pytest.skip("tools are confined on Linux", allow_module_level=True)

from forked import fork_supervisors
from test_supervisor import *  # noqa: F403


@pytest.fixture
def supervised(monkeypatch: pytest.MonkeyPatch) -> None:
    fork_supervisors(monkeypatch)
