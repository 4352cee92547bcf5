"""With `make test-serve`, a test that is skipped is a failure."""

from __future__ import annotations

from typing import Any

import pytest

from fixtures import (  # noqa: F401  # pytest finds them by their names
    no_thread_outlives_its_file,
    no_thread_outlives_its_test,
    pytest_collection,
    shared,
)
from packs import EVERYTHING


def pytest_sessionfinish(session: pytest.Session) -> None:
    reporter: Any = session.config.pluginmanager.get_plugin("terminalreporter")
    if EVERYTHING and reporter is not None and reporter.stats.get("skipped"):
        reporter.write_line("a test was skipped, and none may be here", red=True)
        session.exitstatus = 1
