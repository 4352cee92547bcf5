"""Threads that load before anything is warm: no crash, the same digest in each.

msgspec builds the tables of a model at its first use, and a second thread that met them half built
crashed the interpreter. A test in this process would be warm already, so each run is a process.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from equipage.loading.registry import kind_named, names

#: How many cold processes; `make fuzz` asks for more.
RUNS = int(os.environ.get("EQUIPAGE_COLD_RUNS", "20"))

SCRIPT = """
import pickle, sys, threading
import equipage

path, kind, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
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
print(len(results), len(set(results)), results[0])
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
    kinds = samples()
    kind, path, text = kinds[run % len(kinds)]
    target = tmp_path / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text.replace("NAME", "sample").replace("WORD", "sample"))
    count = (2, 3, 4, 8, 16)[run // len(kinds) % 5 if RUNS > 20 else run % 5]
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(target), kind, str(count)],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, (kind, count, done.returncode, done.stderr[-500:])
    assert done.stdout.split()[:2] == [str(count), "1"], (kind, done.stdout)
