"""With `make browser`, a test that is skipped is a failure, unless it needs the shared corpus."""

from __future__ import annotations

import os
from typing import Any

import pytest

from lab import ABSENT


def pytest_sessionfinish(session: pytest.Session) -> None:
    reporter: Any = session.config.pluginmanager.get_plugin("terminalreporter")
    wanted = os.environ.get("EQUIPAGE_TEST_BROWSER")
    if not wanted or reporter is None:
        return
    # A clone alone has no corpus beside it; everything else can be installed.
    if [each for each in reporter.stats.get("skipped", ()) if ABSENT not in str(each.longrepr)]:
        reporter.write_line("a test was skipped, and none may be here", red=True)
        session.exitstatus = 1
