"""Fixtures of the tests of all distributions, whose `conftest.py` takes them from here. Helpers that
are plain functions are in `lab`."""

from __future__ import annotations

import gc
import sys
import threading
import time
import tomllib
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from clock import HANGS
from equipage.project import registry
from lab import ABSENT, PLUGIN, SHARED, tries

# Every machine runs the same examples, without a bound on time, because a busy machine is not a
# failure. `make fuzz` tries random input.
settings.register_profile(
    "equipage",
    deadline=None,
    derandomize=True,
    max_examples=tries(100),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("equipage")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Ten thousand tests stay until the end, so it is of no use to look for garbage among them."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.fixture(autouse=True, scope="module")
def no_thread_outlives_its_file() -> Iterator[None]:
    yield from _ends_its_threads()


@pytest.fixture(autouse=True)
def no_thread_outlives_its_test() -> Iterator[None]:
    """What is shared by the tests of a file is made before this, so its threads may stay."""
    yield from _ends_its_threads()


def _ends_its_threads() -> Iterator[None]:
    """A thread that stays changes the tests that follow in this process: the product starts other
    processes in another way then, and a read that never ends holds a file."""
    before = set(threading.enumerate())
    yield
    if left := set(threading.enumerate()) - before:
        end = time.monotonic() + HANGS
        for each in left:
            each.join(max(0.0, end - time.monotonic()))
        left = {each for each in left if each.is_alive()}
        assert not left, f"the test left threads behind: {sorted(each.name for each in left)}"


@pytest.fixture
def shared() -> Path:
    if not SHARED.is_dir():
        pytest.skip(ABSENT)
    return SHARED


@pytest.fixture
def playbook_installed(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Iterator[None]:
    """The package of examples/plugin as `pip install` would leave it: importable, with the entry
    points of its pyproject.toml."""
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
