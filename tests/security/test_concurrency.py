"""Many at once: processes and threads that load the same tree see the same thing."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import equipage
from clock import HANGS
from lab import environment, repository

from . import world

PROCESSES, THREADS, TIMES = 10, 32, 3

SCRIPT = """
import sys, equipage
loaded = [equipage.load(sys.argv[1], env={"A": "x"}) for _ in range(2)]
print(loaded[0].digest, loaded[1].digest, len(loaded[0].sources))
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    tool = "tool: {name: t%d, description: '${A} d', inputSchema: {type: object}}\nresponse: {content: [{type: text, text: t}]}\n"
    repository(tmp_path, {f"library/{number}.yaml": tool % number for number in range(30)})
    includes = "".join(f"  - $include: {number}.yaml\n" for number in range(30))
    (tmp_path / "main.yaml").write_text(f"server: {{name: '${{A}}'}}\ntools:\n{includes}")
    world.TOOLPACK.write(tmp_path)
    world.BLUEPRINT.write(tmp_path)
    return tmp_path


def test_processes(project: Path) -> None:
    running = [
        subprocess.Popen(
            [sys.executable, "-c", SCRIPT, "main.yaml"],
            cwd=project,
            env=environment(PYTHONHASHSEED=str(number)),
            stdout=subprocess.PIPE,
            text=True,
        )
        for number in range(PROCESSES)
    ]
    said = {each.communicate(timeout=HANGS)[0].strip() for each in running}
    assert [each.returncode for each in running] == [0] * PROCESSES
    assert len(said) == 1
    first, second, sources = said.pop().split()
    assert first == second
    assert sources == "31"


def test_threads(project: Path) -> None:
    """Files of three kinds, with and without errors, at once: caches that are shared must not mix
    anything up."""
    (project / "bad.yaml").write_text(
        "server: {name: ${A}, nmae: x}\ntools: [{$include: nope.yaml}]\n"
    )
    expected = work()
    seen: list[str] = []
    failures: list[BaseException] = []
    gate = threading.Barrier(THREADS)

    def run() -> None:
        try:
            gate.wait(timeout=HANGS)
            seen.extend(work() for _ in range(TIMES))
        except BaseException as error:  # noqa: BLE001, RUF100 - reported below
            failures.append(error)

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    threads = [threading.Thread(target=run) for _ in range(THREADS)]
    try:
        for each in threads:
            each.start()
        for each in threads:
            each.join()
    finally:
        sys.setswitchinterval(before)
    assert failures == []
    assert set(seen) == {expected}
    assert len(seen) == THREADS * TIMES


def work() -> str:
    """Everything there is to say about the project."""
    digests = [
        equipage.load(name, env={"A": "x"}).digest
        for name in ("main.yaml", "a.tool.yaml", "team.yaml")
    ]
    try:
        equipage.load("bad.yaml", env={"A": "y"})
    except equipage.LoadError as error:
        digests += [str(each) for each in error.diagnostics]
    except FileNotFoundError:
        pass
    return json.dumps(digests)


def test_one_load_does_not_see_the_environment_of_another(project: Path) -> None:
    seen: set[tuple[str, str]] = set()

    def run(value: str) -> None:
        for _ in range(10):
            seen.add((value, equipage.load("main.yaml", env={"A": value}).config.server.name))

    threads = [threading.Thread(target=run, args=(f"v{number}",)) for number in range(8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert seen == {(f"v{number}", f"v{number}") for number in range(8)}
