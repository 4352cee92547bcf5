"""Shared fixtures: where the data that stays outside the repository lies, if it is there."""

from __future__ import annotations

import json
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from equipage.loading import recognise as registry

PLUGIN = Path(__file__).parents[1] / "examples" / "plugin"
SHARED = Path(__file__).resolve().parents[2] / "shared"

# The same examples on every machine, and no bound on time: a busy machine is no failure. Random input is the business
# of `make fuzz`.
settings.register_profile(
    "equipage",
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("equipage")


ABSENT = "the shared data (probes, suites, corpus) is not beside the repository"


@pytest.fixture
def shared() -> Path:
    if not SHARED.is_dir():
        pytest.skip(ABSENT)
    return SHARED


def shared_probes(*kinds: str) -> list[Any]:
    """Parameters from the probes whose files belong to another project; without them, one that says why it is skipped."""
    file = SHARED / "conformance" / "profile.jsonl"
    if not file.exists():
        return [pytest.param(None, marks=pytest.mark.skip(reason=ABSENT), id="absent")]
    probes = [json.loads(line) for line in file.read_text().splitlines()]
    return [pytest.param(each, id=str(each["id"])) for each in probes if each["kind"] in kinds]


@pytest.fixture
def playbook_installed(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Iterator[None]:
    """The package of examples/plugin as `pip install` would leave it: importable, with the entry points of its pyproject.toml."""
    project = tomllib.loads((PLUGIN / "pyproject.toml").read_text())["project"]
    site = tmp_path_factory.mktemp("site")
    record = site / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
    record.mkdir()
    (record / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
    )
    points = "".join(
        f"[{group}]\n" + "".join(f"{name} = {where}\n" for name, where in entries.items())
        for group, entries in project["entry-points"].items()
    )
    (record / "entry_points.txt").write_text(points)
    monkeypatch.syspath_prepend(str(PLUGIN / "src"))
    monkeypatch.syspath_prepend(str(site))
    monkeypatch.setattr(registry, "_plugins", {})
    monkeypatch.setattr(registry, "_broken", {})
    yield
    for name in [name for name in sys.modules if name.partition(".")[0] == "equipage_playbook"]:
        del sys.modules[name]
