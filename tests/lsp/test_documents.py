"""The state of the language server says what a fresh check says, whatever happened in between."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from equipage.files.recording import Recording
from equipage.loading.session import Run
from equipage.lsp import documents
from equipage.lsp.protocol import uri_of
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


def test_findings_of_a_link_elsewhere_are_in_the_open_file_that_it_leads_to(tmp_path: Path) -> None:
    """The file itself is of no kind; under the name of the link a client reads it."""
    (tmp_path / ".git").mkdir()
    text = tmp_path / "servers.json"
    text.write_text("5 5")
    (tmp_path / ".mcp.json").symlink_to(text)
    workspace = documents.EditorWorkspace([str(tmp_path)], env={})
    survey = workspace.snapshot()
    survey.run()
    assert workspace.take(survey)
    opened = workspace.did_open(uri_of(str(text)), "5 5")
    assert opened is not None
    assert [each.code for each in workspace.check(opened)] == ["json-syntax"]
