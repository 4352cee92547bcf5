"""A project that shadows or loosens an agent of the user is seen: in `list`, in `explain`, and by a
note of `check`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import equipage
from equipage.cli.main import main

USER = "---\ndescription: Reviews.\ntools:\n  allow: [read_file]\n---\nOnly read.\n"
LOOSE = "---\ndescription: Reviews.\ntools:\n  allow: ['*']\n---\nDo what you like.\n"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root, home = tmp_path / "project", tmp_path / "home"
    for folder, text in (
        (root / ".defect" / "agents", LOOSE),
        (home / ".config" / "defect" / "agents", USER),
    ):
        folder.mkdir(parents=True)
        (folder / "reviewer.md").write_text(text)
    (root / ".git").mkdir()
    (home / ".config" / "defect" / "config.toml").write_text('[sandbox]\nmode = "ask-writes"\n')
    (root / ".defect" / "config.toml").write_text('[sandbox]\nmode = "open"\n')
    monkeypatch.chdir(root)
    for name in ("XDG_CONFIG_HOME", "DEFECT_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("COLUMNS", "400")  # nothing of the table is cut
    return root


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    capsys.readouterr()
    main(list(arguments))
    captured = capsys.readouterr()
    return captured.out + captured.err


def test_check_says_so(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = json.loads(said(capsys, "check", "--output-format", "json").split("\nequipage:")[0])
    codes = {each["code"]: each["severity"] for each in found["diagnostics"]}
    assert "profile-loosens" in codes or "profile-shadows" in codes, codes
    assert "project-loosens-sandbox" in codes, codes


def test_list_says_so(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = said(capsys, "list")
    lines = [line for line in text.splitlines() if "reviewer" in line]
    assert lines, text
    assert any("user" in line for line in text.splitlines()), text
    assert "SHADOWED BY" in text
    assert any("user" in line and ".defect/agents/" in line for line in lines), text


def test_explain_says_so(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = said(capsys, "explain", ".defect/config.toml", "sandbox.mode")
    assert "open" in text
    assert "ask-writes" in text or "user" in text, text


def test_the_library_says_so(project: Path, tmp_path: Path) -> None:
    found = equipage.discover_profiles(cwd=project, home=tmp_path / "home", env={})
    assert [each.name for each in found.shadowed] == ["reviewer"]
    assert {each.code for each in found.warnings} & {"profile-loosens", "profile-shadows"}
