"""A fixture for tests of a format: `pytest_plugins = ["equipage.integrations.pytest"]`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from equipage.loading.format import Format
from equipage.loading.result import Loaded


@pytest.fixture
def equipage_format(tmp_path: Path) -> Callable[..., Loaded[Any]]:
    """Loads the first of some files, which are written into a folder of their own.

    `equipage_format(APP, {"app.yaml": "name: a"}, env={})`
    """

    def load(
        kind: Format[Any], files: Mapping[str, str], *, env: Mapping[str, str] | None = None
    ) -> Loaded[Any]:
        (tmp_path / ".git").mkdir(exist_ok=True)  # nothing around the folder counts
        for name, text in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return kind.load(tmp_path / next(iter(files)), env=env or {})

    return load
