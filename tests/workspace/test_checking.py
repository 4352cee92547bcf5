"""A check of many files gives one report, however many processes do the work."""

from __future__ import annotations

import os
import pickle
import threading
from pathlib import Path
from typing import Any

import pytest

import tiny
from equipage import workspace
from equipage.core import codes
from equipage.core.diagnostics import UsageError
from equipage.core.source import Source
from equipage.files.reading import Files
from equipage.files.sandbox import FileProblem
from equipage.render import json as render_json
from equipage.workspace import parallel
from lab import check

CREW = "name: crew\nmembers: [{$include: m.yaml}]\n"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / ".git").mkdir()
    (tmp_path / "library").mkdir()
    (tmp_path / "library" / "m.yaml").write_text("name: a\nrol: sailor\n")
    for number in range(150):
        (tmp_path / f"s{number}.yaml").write_text(
            CREW if number % 3 else "name: crew\nmembers: 5\n"
        )
        (tmp_path / f"n{number}.json").write_text("{}")
    (tmp_path / "broken.yaml").write_text("name: crew\nmembers: [\n")
    monkeypatch.chdir(tmp_path)
    tiny.install(monkeypatch)
    return tmp_path


def test_the_report_is_the_same_whatever_the_number_of_processes(project: Path) -> None:
    reports = [check(".", jobs=jobs) for jobs in (1, 2, 3, 0)]
    written = [render_json.render(report) for report in reports]
    assert len(reports[0].diagnostics) > 50
    assert written[0] == written[1] == written[2] == written[3]


def test_few_files_need_no_other_process(monkeypatch: pytest.MonkeyPatch, project: Path) -> None:
    def fail(*_arguments: Any) -> Any:
        raise AssertionError("a process was started")

    monkeypatch.setattr(parallel, "share_among_processes", fail)
    monkeypatch.setattr(parallel, "can_share", lambda: True)  # whatever else runs in this process
    monkeypatch.setattr(workspace, "_processors", lambda: 2)
    assert len(check(".", jobs=0).files) > 100
    with pytest.raises(AssertionError, match="started"):
        check("s0.yaml", jobs=2)
    assert workspace.WORTH_IT == 2_000
    monkeypatch.setattr(workspace, "WORTH_IT", 300)
    with pytest.raises(AssertionError, match="started"):
        check(".", jobs=0)


def test_threads_do_not_fork(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threading, "active_count", lambda: 2)
    assert not parallel._can_fork()


def test_wrong_options_are_refused_by_workers_too(project: Path) -> None:
    with pytest.raises(UsageError, match="not an option"):
        check(".", jobs=2, shared=False, options={"libary": "x"})


# --- what is found -------------------------------------------------------------------------------


def test_a_folder_that_cannot_be_read_is_a_finding(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "locked").mkdir()
    real = os.scandir

    def scandir(path: str) -> object:
        if os.path.basename(path) == "locked":
            raise PermissionError(13, "Permission denied", path)
        return real(path)

    monkeypatch.setattr(os, "scandir", scandir)
    found = [each for each in check(".").diagnostics if each.code == "folder-unreadable"]
    assert list(map(str, found)) == [
        "locked: warning[folder-unreadable] cannot look into locked: Permission denied"
    ]
    report = check("locked")
    assert [each.severity for each in report.diagnostics] == ["error"]
    assert report.files == ()


def test_a_file_that_cannot_be_read_is_told(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = Files.read

    def read(self: Files, path: str, **options: Any) -> Source:
        if path.endswith("s1.yaml"):
            raise FileProblem(codes.FILE_UNREADABLE, file="s1.yaml", reason="Permission denied")
        return real(self, path, **options)

    monkeypatch.setattr(Files, "read", read)
    (found,) = [each for each in check(".").diagnostics if each.code == "file-unreadable"]
    assert (found.name, found.severity) == ("s1.yaml", "warning")
    (found,) = check("s1.yaml").diagnostics
    assert found.severity == "error"


def test_one_file_under_two_names_is_checked_once(project: Path) -> None:
    (project / "z.yaml").symlink_to("s1.yaml")
    report = check(".", "./s1.yaml", "s1.yaml")
    assert [each.path for each in report.files if each.path in ("s1.yaml", "z.yaml")] == ["s1.yaml"]


def test_a_file_read_for_recognition_is_still_too_large(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    tiny.install(monkeypatch)
    (tmp_path / "s.yaml").write_text("name: crew\n#" + "x" * (10 * 1024 * 1024))
    assert [each.code for each in check(".").diagnostics] == ["file-too-large"]


def test_findings_survive_pickling(project: Path) -> None:
    report = check(".")
    copy = pickle.loads(pickle.dumps(report))
    assert render_json.render(copy) == render_json.render(report)
