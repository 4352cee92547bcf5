"""Small configurations whose verdict is known, each a test of its own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lab import load, probes, write_probe


@pytest.mark.requirement("F-006", "F-007")
@pytest.mark.parametrize("probe", probes("server"), ids=lambda probe: probe["id"])
def test_verdict(probe: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_probe(tmp_path, probe)
    monkeypatch.chdir(tmp_path)
    options = {name: value for name, value in probe["options"].items() if name != "embedded"}
    embedded = bool(probe["options"].get("embedded"))
    outcome = load(probe["entry"], env=probe["env"], options=options, embedded=embedded)
    assert ("valid" if outcome.ok else "invalid") == probe["expect"], outcome.diagnostics
    assert (outcome.config is not None) == outcome.ok
