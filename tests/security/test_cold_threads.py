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

from equipage.project.registry import built_in_kinds, format_named
from lab import PLUGIN, environment

#: How many cold processes: enough for every kind to be cold once. `make fuzz` asks for more.
RUNS = int(os.environ.get("EQUIPAGE_COLD_RUNS", "5"))
#: How many kinds each process goes through.
KINDS = 16

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
    for name in built_in_kinds():
        shown = format_named(name).presentation
        if shown.example is not None:
            found.append((name, shown.example_path.replace("NAME", "sample"), shown.example))
    return found


def jobs_below(folder: Path) -> list[tuple[str, str]]:
    """An example of every kind, one that a plugin brings included, written below a folder."""
    jobs = [(str(PLUGIN / "examples" / "release.yaml"), "playbook")]
    for kind, path, text in samples():
        target = folder / kind / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text.replace("NAME", "sample").replace("WORD", "sample"))
        jobs.append((str(target), kind))
    return jobs


def run_script(
    script: str, folder: Path, *words: str, compiled: bool = True
) -> subprocess.CompletedProcess[str]:
    # The first two entries of the path are those of the plugin.
    env = environment(*sys.path[:2], PYTHONHASHSEED="0")
    # As in a fresh clone: imports take long, so that threads meet in the middle of them.
    cold = {"PYTHONPYCACHEPREFIX": str(folder / "none"), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(
        [sys.executable, "-c", script, *words],
        capture_output=True,
        text=True,
        cwd=folder,
        timeout=120,
        check=False,
        env={**env, **({} if compiled else cold)},
    )


@pytest.mark.requirement("F-009")
@pytest.mark.usefixtures("playbook_installed")
@pytest.mark.parametrize("run", range(RUNS))
def test_the_first_load_in_threads(run: int, tmp_path: Path) -> None:
    jobs = jobs_below(tmp_path)
    # A process is cold once, so each run has other kinds, and another one first.
    start = run * (KINDS - 1) % len(jobs)
    jobs = (jobs[start:] + jobs[:start])[:KINDS]
    (tmp_path / "jobs.json").write_text(json.dumps(jobs))
    count = (2, 3, 4, 8, 16)[run % 5]
    words = str(count), str(tmp_path / "jobs.json")
    done = run_script(SCRIPT, tmp_path, *words, compiled=run % 5 != 4)
    assert done.returncode == 0, f"{count} threads, exit {done.returncode}: {done.stderr}"
    assert done.stdout.split() == ["done"]


INTERRUPTED = """
import json, signal, sys
import msgspec, yaml, equipage.syntax.toml
import equipage
from equipage.project.registry import format_named

seconds, jobs = float(sys.argv[1]), json.load(open(sys.argv[2]))
armed = stopped = 0
# Libraries that an interrupt leaves half imported are not what this is about: import them first.
for _, kind in jobs:
    format_named(kind)
equipage.load(jobs[0][0], kind=jobs[0][1], env={})

def interrupt(*_):
    if armed:
        raise KeyboardInterrupt

signal.signal(signal.SIGALRM, interrupt)
for path, kind in jobs:  # each kind is cold when its turn comes
    try:
        armed = 1
        signal.setitimer(signal.ITIMER_REAL, seconds)
        equipage.load(path, kind=kind, env={})
        armed = 0
    except KeyboardInterrupt:
        stopped += 1
    except equipage.LoadError:
        pass
    armed = 0
    signal.setitimer(signal.ITIMER_REAL, 0)
    first, second = equipage.load(path, kind=kind, env={}), equipage.load(path, kind=kind, env={})
    assert first.digest == second.digest, kind
print(stopped)
"""


@pytest.mark.usefixtures("playbook_installed")
def test_an_interrupt_in_the_first_load_leaves_nothing_half_built(tmp_path: Path) -> None:
    """No interrupt kills the process, and the same file loads a moment later."""
    jobs, stopped = jobs_below(tmp_path), 0
    for run in range(max(6, RUNS // 3)):
        start = run * 11 % len(jobs)
        turned = (jobs[start:] + jobs[:start])[:KINDS]
        (tmp_path / "jobs.json").write_text(json.dumps(turned))
        # From the middle of importing a kind to the middle of its first use.
        seconds = str(0.0005 * 1.8 ** (run % 6))
        done = run_script(INTERRUPTED, tmp_path, seconds, str(tmp_path / "jobs.json"))
        assert done.returncode == 0, (seconds, done.returncode, done.stderr[-800:])
        stopped += int(done.stdout)
    assert stopped > 0, "no load was interrupted"
