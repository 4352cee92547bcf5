"""A run that may use only so much ends early and says so; a file that is too much costs itself."""

from __future__ import annotations

import errno
import os
import re
import signal
import time
from pathlib import Path
from typing import Any

import pytest

import equipage
import tiny
from equipage.core import frozen
from equipage.loading.session import Request
from equipage.render import json as render_json
from equipage.workspace import check as workspace
from equipage.workspace import loads, parallel
from equipage.workspace.allowance import Allowance, Meter
from equipage.workspace.check import check_paths
from equipage.workspace.loads import Candidate
from equipage.workspace.report import Report
from lab import in_process

REQUEST = Request(env={})


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
    real = loads.load_candidate

    def load(candidate: Candidate, *rest: Any, **more: Any) -> Any:
        if os.path.basename(candidate.path) == name:
            act()
        return real(candidate, *rest, **more)

    monkeypatch.setattr(loads, "load_candidate", load)


def kill() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def texts(report: Report, *codes: str) -> list[str]:
    return [str(each) for each in report.diagnostics if each.code in codes]


def test_a_killed_worker_costs_one_file(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = check_paths(["."], REQUEST)
    misbehave(monkeypatch, "p050.yaml", kill)
    report = check_paths(["."], REQUEST, jobs=2)
    assert texts(report, "check-ended") == [
        (
            "p050.yaml: error[check-ended] the check of this file was ended: "
            "its process ended with SIGKILL"
        )
    ]
    others = [row for row in report.rows() if row.file != "p050.yaml"]
    assert others == [row for row in whole.rows() if row.file != "p050.yaml"]


def test_every_worker_may_die(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("p000.yaml", "p001.yaml", "p009.yaml"):
        misbehave(monkeypatch, name, kill)
    report = check_paths(["."], REQUEST, jobs=2)
    assert [each.name for each in report.diagnostics if each.code == "check-ended"] == [
        "p000.yaml",
        "p001.yaml",
        "p009.yaml",
    ]
    assert len(report.files) == 100


def test_workers_that_cannot_start_leave_the_work_to_this_process(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = check_paths(["."], REQUEST)
    monkeypatch.setattr(parallel, "limit_memory", lambda _more: kill())
    assert render_json.render(check_paths(["."], REQUEST, jobs=2)) == render_json.render(whole)


@pytest.mark.parametrize("allowance", [Allowance(memory=2**30), Allowance(seconds=600)])
def test_what_only_a_worker_can_be_held_to_is_not_done_without_one(
    project: Path, monkeypatch: pytest.MonkeyPatch, allowance: Allowance
) -> None:
    monkeypatch.setattr(parallel, "limit_memory", lambda _more: kill())
    misbehave(monkeypatch, "p000.yaml", lambda: pytest.fail("it was checked here"))
    report = check_paths(["."], REQUEST, allowance=allowance)
    assert len(texts(report, "check-ended")) == 100


def test_processes_that_cannot_be_started_are_done_without(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = render_json.render(check_paths(["."], REQUEST))
    monkeypatch.setattr(workspace, "CHUNK", 10)
    real, started, most = parallel._Worker, list[int](), 1

    def worker(*arguments: Any) -> Any:
        if len(started) == most:
            raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
        started.append(most)
        return real(*arguments)

    monkeypatch.setattr(parallel, "_Worker", worker)
    assert render_json.render(check_paths(["."], REQUEST, jobs=4)) == whole
    assert len(started) == 1
    most = 0
    started.clear()
    assert render_json.render(check_paths(["."], REQUEST, jobs=4)) == whole
    report = check_paths(["."], REQUEST, allowance=Allowance(seconds=600))
    assert {each.partition("ended: ")[2] for each in texts(report, "check-ended")} == {
        "no process could be started"
    }


def test_a_slow_file_holds_up_no_other(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One worker does the rest meanwhile, as far ahead as results may wait."""
    monkeypatch.setattr(workspace, "CHUNK", 2)
    misbehave(monkeypatch, "p000.yaml", lambda: time.sleep(1))
    report = check_paths(["."], REQUEST, jobs=2)
    assert not texts(report, "ended-early")
    assert len(report.files) == 100


def test_time_is_up(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    misbehave(monkeypatch, "p060.yaml", lambda: time.sleep(600))
    started = time.monotonic()
    report = check_paths(["."], REQUEST, allowance=Allowance(seconds=2))
    assert time.monotonic() - started < 300
    (said,) = texts(report, "ended-early")
    # How far it comes depends on the machine, but never past the file that takes forever.
    found = re.search(r"ended early: (\d+) of 100 files were not checked.* \(--max-time\)$", said)
    assert found is not None, said
    assert int(found[1]) >= 40
    assert not report.ok
    # What was found before counts.
    before = [each for each in report.diagnostics if each.code == "unknown-field"]
    assert len(before) == 100 - int(found[1])


def test_memory_is_limited(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    misbehave(monkeypatch, "p007.yaml", lambda: bytearray(2**30))
    report = check_paths(["."], REQUEST, allowance=Allowance(memory=2**28))
    assert texts(report, "check-ended", "internal-error") == [
        (
            "p007.yaml: error[check-ended] the check of this file was ended: "
            "it needs more memory than there is"
        )
    ]
    assert len(report.files) == 100


@pytest.mark.parametrize("error", [ImportError, SystemError, OSError, MemoryError])
def test_without_memory_anything_may_fail(
    project: Path, monkeypatch: pytest.MonkeyPatch, error: type[Exception]
) -> None:
    def fail() -> None:
        raise error

    misbehave(monkeypatch, "p007.yaml", fail)
    report = check_paths(["."], REQUEST, allowance=Allowance(memory=2**30))
    assert [each.partition(":")[0] for each in texts(report, "check-ended")] == ["p007.yaml"]
    assert len(report.files) == 100


def test_no_worker_waits_for_a_thread_that_had_no_memory_to_begin(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, start = os.getpid(), frozen.start_new_thread

    def begin(*what: Any) -> int:
        return start(*what) if os.getpid() == here else 0

    monkeypatch.setattr(frozen, "start_new_thread", begin)
    monkeypatch.setattr(frozen, "_READY", set())
    report = check_paths(["."], REQUEST, allowance=Allowance(memory=2**30, seconds=20))
    assert texts(report, "check-ended", "ended-early") == []
    assert len(report.files) == 100


def test_the_walk_is_held_to_the_time(project: Path) -> None:
    report = check_paths(["."], REQUEST, allowance=Allowance(seconds=0))
    assert not report.ok
    (said,) = texts(report, "ended-early")
    assert said.endswith(
        "files that were not yet found were not checked, from here on (--max-time)"
    )


def test_what_files_mean_together_is_not_left_out_in_silence(project: Path) -> None:
    """The time may be up when each file alone was checked."""
    for name in ("a", "b"):
        path = project / ".claude" / "agents" / f"{name}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("---\nname: same\ndescription: d\n---\nText.\n")
    whole = check_paths([".claude"], REQUEST)
    assert [each.code for each in whole.diagnostics] == ["name-taken"]
    checked: list[int] = []

    def wait_after_the_last(number: int, total: int) -> None:
        checked.append(number)
        if len(checked) == 2:
            time.sleep(2)

    limited = Allowance(seconds=2)
    report = check_paths([".claude"], REQUEST, allowance=limited, progress=wait_after_the_last)
    assert not report.ok
    assert texts(report, "ended-early")


def test_a_time_that_no_system_can_wait_is_no_limit(project: Path) -> None:
    whole = render_json.render(check_paths(["."], REQUEST))
    for seconds in (1e9, 1e300, float("inf")):
        report = check_paths(["."], REQUEST, allowance=Allowance(seconds=seconds))
        assert render_json.render(report) == whole


def test_files_and_bytes_are_counted(project: Path) -> None:
    size = (project / "p000.yaml").stat().st_size
    for allowance, limit in (
        (Allowance(files=10), "--max-files"),
        (Allowance(bytes=10 * size + 1), "--max-bytes"),
    ):
        report = equipage.check(".", allowance=allowance)
        assert texts(report, "ended-early") == [
            (
                "p010.yaml: error[ended-early] the check ended early: 90 of 100 files were not "
                f"checked, from here on ({limit})"
            )
        ]
        assert len(report.files) == 10


def test_a_budget_that_suffices_changes_nothing(project: Path) -> None:
    plenty = Allowance(seconds=600, memory=2**32, files=100, bytes=2**30)
    whole = render_json.render(check_paths(["."], REQUEST))
    assert render_json.render(check_paths(["."], REQUEST, allowance=plenty)) == whole


def test_the_clock_of_a_meter() -> None:
    now = iter([0.0, 4.0, 11.0])
    meter = Meter(Allowance(seconds=10), clock=lambda: next(now))
    assert (meter.seconds_left(), meter.seconds_left()) == (6.0, 0.0)
    assert Meter(Allowance()).seconds_left() is None


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--max-time", "soon"], "--max-time soon: expected a duration, such as 60s"),
        (["--max-memory", "much"], "--max-memory much: expected a size, such as 500mb"),
        (["--max-bytes", "-1"], "--max-bytes"),
        (["--max-files", "1.5"], "--max-files 1.5: expected a whole number"),
    ],
)
def test_wrong_limits(words: list[str], expected: str, project: Path) -> None:
    code, _, err = in_process(["check", *words])
    assert code == 2
    assert expected in err


def test_the_command_ends_early(project: Path) -> None:
    code, out, _ = in_process(["check", "--max-files", "1", "--max-time", "10m", "-f", "concise"])
    assert code == 1
    assert "p001.yaml: error[ended-early]" in out
