"""A project that shadows or loosens an agent of the user is seen: in `list`, in `explain`, and by a
note of `check` that is asked about both layers. A check of the project says the same to everyone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import equipage
from equipage.cli import main

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


def codes_of_check(capsys: pytest.CaptureFixture[str], *paths: str) -> set[str]:
    text = said(capsys, "check", *paths, "--output-format", "json")
    found = json.loads(text.split("\nequipage:")[0])
    return {each["code"] for each in found["diagnostics"]}


def test_check_of_both_layers_says_so(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    codes = codes_of_check(capsys, ".", "../home/.config/defect")
    assert "profile-loosens" in codes


def test_check_of_the_project_does_not_depend_on_the_user(
    project: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    skill = "---\nname: {}\ndescription: A skill.\n---\nDo it.\n"
    for folder, name in (
        (project / ".defect", "one"),
        (tmp_path / "home" / ".config" / "defect", "One"),
    ):
        (folder / "skills" / name).mkdir(parents=True)
        (folder / "skills" / name / "SKILL.md").write_text(skill.format(name))
    everywhere = [said(capsys, "check", "--strict"), said(capsys, "check", ".defect/agents")]
    monkeypatch.setenv("HOME", str(tmp_path / "nobody"))
    assert [
        said(capsys, "check", "--strict"),
        said(capsys, "check", ".defect/agents"),
    ] == everywhere
    assert "profile-" not in everywhere[0]


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
