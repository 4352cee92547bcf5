"""What the original accepts and refuses, and what it makes of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import lab
from equipage.loading.pipeline import Outcome

PROBES = lab.probes("blueprint")


def load(probe: dict[str, Any], folder: Path, monkeypatch: pytest.MonkeyPatch) -> Outcome:
    lab.write_probe(folder, probe)
    monkeypatch.chdir(folder)
    return lab.load(probe["entry"], probe["kind"], env=probe["env"], options=probe["options"])


def agrees(ours: Any, golden: Any) -> bool:
    """Equal, but for the one field that only one version always writes."""
    if isinstance(ours, dict) and isinstance(golden, dict):
        keys = (ours.keys() | golden.keys()) - ({"strict_binding"} - (ours.keys() & golden.keys()))
        return all(key in ours and key in golden and agrees(ours[key], golden[key]) for key in keys)
    if isinstance(ours, list) and isinstance(golden, list):
        return len(ours) == len(golden) and all(map(agrees, ours, golden))
    return type(ours) is type(golden) and bool(ours == golden)


@pytest.mark.requirement("BP-21")
@pytest.mark.parametrize("probe", PROBES, ids=[probe["id"] for probe in PROBES])
def test_probe(probe: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    outcome = load(probe, tmp_path, monkeypatch)
    assert ("valid" if outcome.ok else "invalid") == probe["expect"], list(
        map(str, outcome.diagnostics)
    )
    goldens = probe.get("golden") or {}
    loaded = outcome.loaded_or_none()
    if loaded is not None and goldens:
        assert any(agrees(loaded.to_dict(), golden) for golden in goldens.values())
