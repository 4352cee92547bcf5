"""The tests of the main package."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from fixtures import (  # noqa: F401  # pytest finds them by their names
    no_thread_outlives_its_file,
    no_thread_outlives_its_test,
    playbook_installed,
    pytest_collection,
    shared,
)
from lab import watching


@pytest.fixture(autouse=True, scope="module")
def _keeps_the_promise(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Whatever a test of the main package does, equipage opens no socket and starts no program."""
    with watching(tmp_path_factory.mktemp("audit") / "log") as log:
        yield
    assert not log.exists(), log.read_text()
