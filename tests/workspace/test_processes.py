"""What holds when several processes check: a file that ends its process costs itself alone."""

from __future__ import annotations

import errno
import os
import signal
import time
from pathlib import Path
from typing import Any

import pytest

import tiny
from equipage import workspace
from equipage.core import interrupts
from equipage.loading.session import Request
from equipage.render import json as render_json
from equipage.workspace import Workspace, parallel
from equipage.workspace import load as loads
from equipage.workspace.find import File
from equipage.workspace.report import Report
from lab import check


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for number in range(100):
        (tmp_path / f"p{number:03}.yaml").write_text("name: crew\nmembers: []\nnope: 1\n")
    monkeypatch.chdir(tmp_path)
    tiny.install(monkeypatch)
    # A worker that is killed here must never be this process, whatever threads are left in it.
    monkeypatch.setattr(parallel, "_can_fork", lambda: True)
    return tmp_path


def misbehave(monkeypatch: pytest.MonkeyPatch, name: str, act: Any) -> None:
    """Let the check of one file go wrong, as a file does that is too much for a parser."""
    real = loads.load_file

    def load(file: File, *rest: Any, **more: Any) -> Any:
        if os.path.basename(file.path) == name:
            act()
        return real(file, *rest, **more)

    monkeypatch.setattr(loads, "load_file", load)


def kill() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def texts(report: Report, *codes: str) -> list[str]:
    return [str(each) for each in report.diagnostics if each.code in codes]


def test_a_killed_worker_costs_one_file(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = check(".")
    misbehave(monkeypatch, "p050.yaml", kill)
    report = check(".", jobs=2)
    said = "the check of this file was ended: its process was ended"
    assert texts(report, "check-ended") == [f"p050.yaml: error[check-ended] {said}"]
    others = [row for row in report.rows() if row.file != "p050.yaml"]
    assert others == [row for row in whole.rows() if row.file != "p050.yaml"]


def test_every_worker_may_die(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("p000.yaml", "p001.yaml", "p099.yaml"):
        misbehave(monkeypatch, name, kill)
    report = check(".", jobs=2)
    assert [each.name for each in report.diagnostics if each.code == "check-ended"] == [
        "p000.yaml",
        "p001.yaml",
        "p099.yaml",
    ]
    assert len(report.files) == 100


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_file_that_needs_more_memory_than_there_is(
    project: Path, monkeypatch: pytest.MonkeyPatch, jobs: int
) -> None:
    def fail() -> None:
        raise MemoryError

    monkeypatch.setattr(loads, "recognise", lambda path, *_, **__: fail())
    report = check("p007.yaml", jobs=jobs)
    said = "the check of this file was ended: it needs more memory than there is"
    assert texts(report, "check-ended") == [f"p007.yaml: error[check-ended] {said}"]


def test_processes_that_cannot_be_started_are_done_without(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = render_json.render(check("."))

    def refuse() -> int:
        raise OSError(errno.EAGAIN, os.strerror(errno.EAGAIN))

    monkeypatch.setattr(os, "fork", refuse)
    assert render_json.render(check(".", jobs=4)) == whole


def test_a_slow_file_holds_up_no_other(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workspace, "CHUNK", 2)
    misbehave(monkeypatch, "p000.yaml", lambda: time.sleep(1))
    assert len(check(".", jobs=2).files) == 100


def test_an_interrupt_ends_the_workers(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a program that uses the library, where it is Python's exception."""
    written = project / "worker"

    def wait() -> None:
        written.write_text(str(os.getpid()))
        time.sleep(600)

    misbehave(monkeypatch, "p099.yaml", wait)

    def interrupt(number: int, _total: int) -> None:
        if number == 0:
            return  # no process works yet
        while not (written.exists() and written.read_text()):
            time.sleep(0.01)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Workspace(["."], Request(env={}), jobs=2, progress=interrupt).report()
    with pytest.raises(ProcessLookupError):
        os.kill(int(written.read_text()), 0)
    assert interrupts._cleanups == {}
