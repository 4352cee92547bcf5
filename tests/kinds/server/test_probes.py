"""Small configurations whose verdict is known, each a test of its own."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from equipage.loading.pipeline import Request, load_path
from equipage.loading.recognise import kind_named

PROBES = Path(__file__).parents[2] / "data" / "probes" / "server.jsonl"
CASES = [json.loads(line) for line in PROBES.read_text().splitlines()]


def write(folder: Path, files: dict[str, Any]) -> None:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, str):
            path.write_bytes(content.encode())
        elif "symlink" in content:
            path.symlink_to(content["symlink"])
        else:
            path.write_bytes(base64.b64decode(content["base64"]))


@pytest.mark.requirement("F-006", "F-007")
@pytest.mark.parametrize("probe", CASES, ids=lambda probe: probe["id"])
def test_verdict(probe: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, probe["files"])
    monkeypatch.chdir(tmp_path)
    options = {name: value for name, value in probe["options"].items() if name != "embedded"}
    request = Request(
        env=probe["env"], options=options, embedded=bool(probe["options"].get("embedded"))
    )
    outcome = load_path(probe["entry"], kind_named("server"), request)
    assert ("valid" if outcome.ok else "invalid") == probe["expect"], outcome.diagnostics
    assert (outcome.config is not None) == outcome.ok
