"""The example is clean and says what its README promises."""

from __future__ import annotations

import shutil
from pathlib import Path

import equipage
from lab import EXAMPLES

EXAMPLE = EXAMPLES / "profiles"


def test_the_example(tmp_path: Path) -> None:
    shutil.copytree(EXAMPLE, tmp_path / "copy")
    (tmp_path / "copy" / "project" / ".git").mkdir()
    project, user = tmp_path / "copy" / "project", tmp_path / "copy" / "user"
    profiles = equipage.discover_profiles(project, xdg_config_home=user)
    assert list(profiles) == ["explorer", "release-notes", "reviewer"]
    assert profiles["reviewer"].layer == "project"
    assert profiles.shadowed[0].layer == "user"
    assert profiles["explorer"].tool_allow == ("read_file", "search")
    assert [each.severity for each in profiles.warnings] == ["note"]
    settings = equipage.load_settings(
        project, xdg_config_home=user, overrides=["turn.request_limit=10"]
    )
    assert settings.config.turn.request_limit == 10
    assert settings.layer("default.provider") == "user"
    assert settings.warnings == ()


def test_its_files_check_clean() -> None:
    report = equipage.check([EXAMPLE])
    assert {each.kind for each in report.files} == {"profile", "settings", None}
    assert not report.errors
    assert not report.warnings
