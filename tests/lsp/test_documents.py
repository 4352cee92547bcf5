"""The state of the language server says what a fresh check says, whatever happened in between."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from equipage.files.recording import Recording
from equipage.loading.session import Run
from equipage.workspace import load as loading
from equipage.workspace.find import File
from workspace.editing import Workspace


def test_whatever_changes_the_state_says_what_a_fresh_check_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ten workspaces, thirty changes of each. `make fuzz` makes ten thousand."""
    loads, files = 0, 0
    real = loading.load_file

    def load_file(file: File, run: Run, **more: Any) -> Any:
        nonlocal loads
        loads += isinstance(run.files.system, Recording)  # a fresh check records nothing
        return real(file, run, **more)

    monkeypatch.setattr(loading, "load_file", load_file)
    for seed in range(10):
        root = tmp_path / str(seed) / "project"
        workspace = Workspace(root, seed)
        monkeypatch.chdir(root)
        for number in range(30):
            what = workspace.change()
            known, fresh = workspace.reports()
            assert known == fresh, f"seed {seed}, change {number}: {what}"
            files += sum(len(names) for _, _, names in os.walk(root))
    assert loads < files / 2  # what is known was used
