"""What the original accepts and refuses, observed on many small packs, is what equipage accepts and refuses."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest

import equipage
from equipage.kinds.toolpack.loader import ToolpackLoader, ToolpackValidationError

PROBES = [
    json.loads(line)
    for line in (Path(__file__).parents[2] / "data" / "probes" / "toolpack.jsonl")
    .read_text()
    .splitlines()
]


def write(folder: Path, files: dict[str, Any]) -> None:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, str):
            path.write_bytes(content.encode())
        elif "base64" in content:
            path.write_bytes(base64.b64decode(content["base64"]))
        else:
            path.symlink_to(content["symlink"])


@pytest.mark.requirement("TP-28", "TP-29")
@pytest.mark.parametrize("probe", PROBES, ids=lambda probe: probe["id"])
def test_probe(probe: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, probe["files"])
    monkeypatch.chdir(tmp_path)
    report = equipage.check([probe["entry"]], env=probe["env"])
    assert ("valid" if report.ok else "invalid") == probe["expect"], report.diagnostics
    loader = ToolpackLoader()
    if probe["expect"] == "valid":
        loader.load_dir(probe["entry"])
        assert loader.list()
    else:
        with pytest.raises(ToolpackValidationError):
            loader.load_dir(probe["entry"])


def test_the_probes_are_there() -> None:
    assert len(PROBES) >= 156
