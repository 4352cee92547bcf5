"""Where `prompt.file` may lead: the original's measured answers, and where we are stricter."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from lading.layers import find_places
from lading.profiles import find_profiles

DATA = json.loads((Path(__file__).parents[2] / "data" / "resolve_path.json").read_text())
#: The original reads these; we do not, each for a reason that requirements/profile.toml gives.
STRICTER = {
    "link.md": "the last component is followed, too",
    "sub/../../p/system.md": "a path may not leave the folder, not even to come back",
    "../p/system.md": "a path may not leave the folder, not even to come back",
    "<W>/agents/p/system.md": "absolute paths are refused, so that a profile means the same on every machine",
}


def lay_out(folder: Path) -> Path:
    root = folder / ".defect" / "agents" / "p"
    (root / "sub").mkdir(parents=True)
    (folder / ".git").mkdir()
    (folder / ".defect" / "secret.md").write_text("TOP")
    (root / "system.md").write_text("SYS")
    (root / "link.md").symlink_to(folder / ".defect" / "secret.md")
    (root / "dlink").symlink_to(folder / ".defect")
    (root / "broken").symlink_to("nonexistent")
    (root / "inlink").symlink_to("sub")
    return root


@pytest.mark.requirement("PR-07")
@pytest.mark.parametrize("case", DATA["cases"], ids=lambda case: repr(case["requested"]))
def test_prompt_file(case: dict[str, Any], tmp_path: Path) -> None:
    root = lay_out(tmp_path)
    requested = case["requested"].replace("<W>", str(tmp_path / ".defect"))
    config = f"description = 'x'\nprompt = {{ file = {json.dumps(requested)} }}\n"
    (root / "config.toml").write_text(config)
    (found,) = find_profiles(find_places(tmp_path, env={})).found
    reads = case["read"] == 'Ok("SYS")' and case["requested"] not in STRICTER
    assert (found.profile is not None) == reads
    if found.profile is not None:
        assert found.profile.system_prompt_text == "SYS"
    else:
        assert "TOP" not in str(found.outcome.diagnostics)
        assert all(each.span is not None and each.span.line == 2 for each in found.outcome.errors)


def test_every_stricter_path_is_one_of_the_cases() -> None:
    assert set(STRICTER) <= {case["requested"] for case in DATA["cases"]}
