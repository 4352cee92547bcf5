"""What the original decides on its own fixtures, we decide too."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from equipage.formats.defect.discovery import find_layer_folders
from equipage.formats.defect.layers import find_settings
from equipage.formats.defect.profile import profiles_of
from lab import shared_probes, write_probe

#: Sentences that we say another way: the place names the file, and each key at fault has a finding
#: of its own.
SAID_OTHERWISE = {"invalid .mcp.json"}


def test_the_probes_are_there(shared: Path) -> None:
    assert (shared / "conformance" / "profile.jsonl").exists()
    assert len(shared_probes("profiles", "loader")) >= 90


@pytest.mark.requirement("PR-01", "PR-16", "ST-01")
@pytest.mark.parametrize("probe", shared_probes("profiles", "loader"))
def test_probe(probe: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_probe(tmp_path, probe)
    repository = tmp_path / ("proj" if probe["kind"] == "profiles" else "repo")
    (repository / ".git").mkdir(parents=True, exist_ok=True)
    monkeypatch.chdir(tmp_path)
    places = find_layer_folders(repository, xdg_config_home=tmp_path / "xdg", env={})
    if probe["kind"] == "profiles":
        errors = profiles_of(places).errors
    else:
        overrides = [each.strip() for each in probe["cli_overrides"].split(" | ") if each.strip()]
        errors = find_settings(places, overrides).outcome.errors
    assert bool(errors) == (probe["expect"] == "invalid"), [str(each) for each in errors]
    for words in filter(None, (each.strip() for each in probe["error_facts"].split(";"))):
        assert words in SAID_OTHERWISE or any(words in each.message for each in errors)
