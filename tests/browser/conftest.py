"""With `make browser`, a test that is skipped is a failure."""

from __future__ import annotations

import os
from typing import Any

import pytest


def pytest_sessionfinish(session: pytest.Session) -> None:
    reporter: Any = session.config.pluginmanager.get_plugin("terminalreporter")
    wanted = os.environ.get("EQUIPAGE_TEST_BROWSER")
    if wanted and reporter is not None and reporter.stats.get("skipped"):
        reporter.write_line("a test was skipped, and none may be here", red=True)
        session.exitstatus = 1
