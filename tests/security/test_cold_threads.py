"""Threads that load before anything is warm: no crash, the same digest in each.

msgspec builds the tables of a model at its first use, and a second thread that met them half built
crashed the interpreter. A test in this process would be warm already, so each run is a process.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from equipage.loading.registry import kind_named, names

#: How many cold processes; `make fuzz` asks for more.
RUNS = int(os.environ.get("EQUIPAGE_COLD_RUNS", "20"))

SCRIPT = """
import json, pickle, sys, threading
import equipage

count, jobs = int(sys.argv[1]), json.load(open(sys.argv[2]))
sys.setswitchinterval(1e-6)
for path, kind in jobs:  # each kind is cold when its turn comes
    barrier, results = threading.Barrier(count), []

    def work():
        barrier.wait()
        try:
            loaded = equipage.load(path, kind=kind, env={})
            results.append((loaded.digest, len(pickle.dumps(loaded)) > 0))
        except equipage.LoadError as error:
            results.append(tuple(each.code for each in error.diagnostics))

    threads = [threading.Thread(target=work) for _ in range(count)]
    [each.start() for each in threads]
    [each.join() for each in threads]
    assert len(results) == count and len(set(results)) == 1, (kind, results)
print("done")
"""


def samples() -> list[tuple[str, str, str]]:
    """For every kind its example, where `new` would write it."""
    found = []
    for name in names():
        shown = kind_named(name).presentation
        if shown.example is not None:
            found.append((name, shown.example_path.replace("NAME", "sample"), shown.example))
    return found


@pytest.mark.parametrize("run", range(RUNS))
def test_the_first_load_in_threads(run: int, tmp_path: Path) -> None:
    jobs = []
    for kind, path, text in samples():
        target = tmp_path / kind / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text.replace("NAME", "sample").replace("WORD", "sample"))
        jobs.append((str(target), kind))
    # Kinds share models: each of them should be the first one in some run.
    jobs = jobs[run % len(jobs) :] + jobs[: run % len(jobs)]
    (tmp_path / "jobs.json").write_text(json.dumps(jobs))
    count = (2, 3, 4, 8, 16)[run % 5]
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(count), str(tmp_path / "jobs.json")],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        timeout=120,
        check=False,
        env={**os.environ, "PYTHONHASHSEED": str(run)},
    )
    assert done.returncode == 0, (count, done.returncode, done.stderr[-500:])
    assert done.stdout.split() == ["done"]
