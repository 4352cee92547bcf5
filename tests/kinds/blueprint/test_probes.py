"""What the original accepts and refuses, and what it makes of it."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from equipage.loading.outcome import Outcome
from equipage.loading.pipeline import load_path
from equipage.loading.recognise import kind_named
from equipage.loading.request import Request

PROBES = [
    json.loads(line)
    for line in (Path(__file__).parents[2] / "data" / "probes" / "blueprint.jsonl")
    .read_text()
    .splitlines()
]


def write(folder: Path, files: dict[str, Any]) -> None:
    for name, content in files.items():
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, str):
            target.write_bytes(content.encode())
        elif "base64" in content:
            target.write_bytes(base64.b64decode(content["base64"]))
        else:
            target.symlink_to(content["symlink"])


def load(probe: dict[str, Any], folder: Path, monkeypatch: pytest.MonkeyPatch) -> Outcome:
    write(folder, probe["files"])
    monkeypatch.chdir(folder)
    request = Request(env=probe["env"], options=probe["options"])
    return load_path(probe["entry"], kind_named(probe["kind"]), request)


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
    loaded = outcome.loaded()
    if loaded is not None and goldens:
        assert any(agrees(loaded.to_dict(), golden) for golden in goldens.values())
