"""`check --fix` writes nothing behind a link that came with the files, and says so."""

from __future__ import annotations

from pathlib import Path

import pytest

from lab import Link, command, write

TEXT = "server: {name: x, version: 1.0.0}\ntools: []\nunknow_methods: ignore\n"


@pytest.mark.parametrize("marker", [".git/HEAD", "other.txt"])
@pytest.mark.parametrize("way", ["ld", "ld/", "./ld", "ld/sub", "ld/sub/s.yaml", "{0}/ld"])
def test_a_folder_link_does_not_name_what_it_leads_to(
    tmp_path: Path, way: str, marker: str
) -> None:
    outside = write(tmp_path / "outside", {"sub/s.yaml": TEXT})
    project = write(tmp_path / "project", {marker: "", "ld": Link("../outside")})
    done = command("check", way.format(project), "--fix", "--unsafe-fixes", cwd=project)
    assert (outside / "sub/s.yaml").read_text() == TEXT
    assert done.code == 1
    assert "it lies outside the project" in done.err


def test_a_folder_that_is_not_a_link(tmp_path: Path) -> None:
    write(tmp_path, {"sub/s.yaml": TEXT})
    assert command("check", "sub", "--fix", "--unsafe-fixes", cwd=tmp_path).code == 0
    assert "unknown_methods" in (tmp_path / "sub/s.yaml").read_text()
