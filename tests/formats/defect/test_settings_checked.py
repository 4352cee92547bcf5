"""A check of settings: the layers of a project together, on every machine the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import equipage
import lab
from equipage.core.diagnostics import UsageError
from equipage.loading.session import Request
from equipage.workspace import Workspace
from equipage.workspace.report import Report
from equipage.workspace.watch import watch_check
from lab import in_process, repository, save, settle, write

PROJECT = "[default]\nprovider = 'corp'\n"
USER = (
    "[providers.corp]\nprotocol = 'openai-chat'\ndefault_model = 'm'\n[turn]\ncompact_ratio = 2.0\n"
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    repository(tmp_path / "repo", {".defect/config.toml": PROJECT})
    write(tmp_path / "xdg", {"defect/config.toml": USER})
    monkeypatch.chdir(tmp_path / "repo")
    return tmp_path


def check(folder: Path, *paths: str, jobs: int = 1, **options: Any) -> Report:
    env = {"XDG_CONFIG_HOME": str(folder / "xdg")}
    return lab.check(*paths, jobs=jobs, env=env, options={"config": [], "local": False, **options})


def told(report: Report) -> list[tuple[str, str | None]]:
    return [(each.code, each.name) for each in report.diagnostics]


@pytest.mark.requirement("ST-07", "ST-08")
@pytest.mark.parametrize("jobs", [1, 2])
def test_a_project_is_checked_without_the_layer_of_its_user(folder: Path, jobs: int) -> None:
    report = check(folder, ".", jobs=jobs)
    assert told(report) == [("provider-without-section", ".defect/config.toml")]
    assert [(each.path, each.ok) for each in report.files] == [(".defect/config.toml", False)]


@pytest.mark.requirement("ST-07")
def test_the_layer_of_the_user_takes_part_if_it_is_asked_about(folder: Path) -> None:
    user = str(folder / "xdg" / "defect" / "config.toml")
    assert told(check(folder, ".", user)) == [("ratio-range", user)]
    assert told(check(folder, ".", user, local=True)) == [
        ("provider-without-section", ".defect/config.toml"),
        ("ratio-range", user),
    ]
    (folder / "xdg/defect/config.toml").write_text("[turn]\nrequest_limit_mode = 'fixed'\n")
    assert told(check(folder, user)) == [("request-limit-missing", user)]


@pytest.mark.requirement("ST-10")
def test_the_command_line_is_laid_over_what_is_checked(folder: Path) -> None:
    report = check(folder, ".", config=("default.provider=openai", "default.modl=3", "nonsense"))
    assert told(report) == [("override-malformed", None), ("unknown-field", None)]
    assert not check(folder, ".", config=("default.provider=openai",)).diagnostics


@pytest.mark.requirement("ST-10")
def test_a_command_line_over_nothing_is_refused(folder: Path) -> None:
    (folder / "repo" / ".git").rmdir()
    with pytest.raises(UsageError, match="there are none here"):
        check(folder, ".", config=("default.provider=openai",))


def test_a_layer_behind_a_link_is_told_about_once(folder: Path) -> None:
    (folder / "repo" / ".defect").rename(folder / "kept")
    (folder / "repo" / ".defect").symlink_to(folder / "kept")
    (folder / "kept" / "config.toml").write_text(PROJECT + "modl = 1\n")
    report = check(folder, ".defect/config.toml")
    assert [each.code for each in report.diagnostics] == [
        "provider-without-section",
        "unknown-field",
    ]


def test_settings_outside_of_a_repository_are_checked_alone(folder: Path) -> None:
    (folder / "repo" / ".git").rmdir()
    (folder / "repo" / ".defect" / "config.toml").write_text(PROJECT + "modl = 1\n")
    assert [each.code for each in equipage.check(["."]).diagnostics] == ["unknown-field"]


def test_a_watch_sees_layers_together(folder: Path) -> None:
    pytest.importorskip("watchfiles")
    turns = watch_check(Workspace(["."], Request({}, shared=True), recording=True))
    assert told(next(turns).report) == [("provider-without-section", ".defect/config.toml")]
    save(folder / "repo/.defect/config.local.toml", "[default]\nprovider = 'openai'\n")
    turn = next(turns)
    assert [each.code for each in turn.gone] == ["provider-without-section"]
    assert not turn.report.diagnostics
    turns.close()  # type: ignore[attr-defined]


def test_show_names_the_layers_whose_check_tells_its_findings(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    handler = "handler = { type = 'builtin', name = 'redact-secrets' }\n"
    (folder / "xdg/defect/config.toml").write_text(f"[[hooks.before_tool_apply]]\n{handler}")
    (folder / "repo/.defect/config.toml").write_text(
        f"[[hooks.disable]]\nevent = 'before_tool_apply'\n{handler}"
    )
    settle(monkeypatch, folder / "repo", {"XDG_CONFIG_HOME": str(folder / "xdg")})
    user = str(folder / "xdg" / "defect" / "config.toml")
    _, _, notes = in_process(["show", ".defect/config.toml"])
    assert f"1 finding; run `equipage check {user} .defect/config.toml`" in notes
    assert told(check(folder, user, ".defect/config.toml")) == [
        ("project-disables-hook", ".defect/config.toml")
    ]
