"""What the original accepts and refuses, observed on many small packs, is what equipage accepts and
refuses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import equipage
from equipage.formats.toolpack.loader import ToolpackLoader, ToolpackValidationError
from lab import probes, write_probe

PROBES = probes("toolpack")
#: The seed asks for `module:callable`, and outranks the original, which takes blanks for both.
SUPERSEDED = {"toolpack/089 exec py spaces": "invalid"}


@pytest.mark.requirement("TP-28", "TP-29")
@pytest.mark.parametrize("probe", PROBES, ids=lambda probe: probe["id"])
def test_probe(probe: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = SUPERSEDED.get(probe["id"], probe["expect"])
    write_probe(tmp_path, probe)
    monkeypatch.chdir(tmp_path)
    report = equipage.check([probe["entry"]], env=probe["env"])
    assert ("valid" if report.ok else "invalid") == expected, report.diagnostics
    loader = ToolpackLoader()
    if expected == "valid":
        loader.load_dir(probe["entry"])
        assert loader.list()
    else:
        with pytest.raises(ToolpackValidationError):
            loader.load_dir(probe["entry"])


def test_the_probes_are_there() -> None:
    assert len(PROBES) >= 156
