"""`equipage check --fix` and `--diff` from the outside."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

import tiny
from equipage.cli import main
from equipage.cli.fix import roots_of
from equipage.files.disk import Disk

BROKEN = "nmae: crew\nvessel: [1] # keep\nmembers:\n- {name: a, role: captian}\n"
FIXED = "name: crew\nvessel: [1] # keep\nmembers:\n- {name: a, role: captain}\n"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)
    tiny.install(monkeypatch)
    return tmp_path


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = main(["check", "--kind", "crew", *arguments])
    out, err = capsys.readouterr()
    return code, out, err


def test_fix_mends_the_file_and_reports_what_is_left(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "s.yaml").write_text(BROKEN)
    code, out, err = run(capsys, "s.yaml", "--fix")
    assert (project / "s.yaml").read_text() == FIXED
    assert (code, err) == (1, "")
    assert "error[wrong-type]: expected text, found a list" in out
    assert "[unknown-field]" not in out
    assert out.startswith("s.yaml\n  fixed unknown-field: rename to `")
    assert "\n\n2 findings fixed\n" in out
    assert out.endswith("1 error in 1 of 1 file\n")


def test_a_second_run_changes_nothing(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "s.yaml").write_text(BROKEN)
    run(capsys, "s.yaml", "--fix")
    before = os.stat(project / "s.yaml")
    _, out, _ = run(capsys, "s.yaml", "--fix")
    after = os.stat(project / "s.yaml")
    assert "0 findings fixed" in out
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)


def test_json_counts_what_was_fixed(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "s.yaml").write_text(BROKEN)
    _, out, _ = run(capsys, "s.yaml", "--fix", "--json")
    assert json.loads(out)["summary"] == {
        "files": 1,
        "errors": 1,
        "warnings": 0,
        "notes": 0,
        "fixed": 2,
    }


def test_diff_shows_and_writes_nothing(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "s.yaml").write_text(BROKEN)
    code, out, _ = run(capsys, "s.yaml", "--diff")
    assert (project / "s.yaml").read_text() == BROKEN
    assert (code, out) == (
        1,
        (
            "--- a/s.yaml\n+++ b/s.yaml\n@@ -1,4 +1,4 @@\n-nmae: crew\n+name: crew\n vessel: [1] # keep\n members:\n"
            "-- {name: a, role: captian}\n+- {name: a, role: captain}\n"
        ),
    )


def test_diff_of_a_clean_file_is_empty(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "s.yaml").write_text("name: crew\n")
    assert run(capsys, "s.yaml", "--diff") == (0, "", "")


def test_diff_of_a_missing_file_is_an_error(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = run(capsys, "gone.yaml", "--diff")
    assert (code, out) == (2, "")
    assert err == "equipage: `gone.yaml`: no such file or folder\n"


def test_a_library_file_is_fixed_once(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "library").mkdir()
    (project / "library" / "m.yaml").write_text("name: a\nrole: captian\n")
    for name in "ab":
        (project / f"{name}.yaml").write_text("name: crew\nmembers: [{$include: m.yaml}]\n")
    code, out, _ = run(capsys, "a.yaml", "b.yaml", "--fix")
    assert (project / "library" / "m.yaml").read_text() == "name: a\nrole: captain\n"
    assert code == 0
    assert out.startswith("library/m.yaml\n  fixed ")
    assert "\n\n1 finding fixed\n" in out


def test_files_outside_the_project_are_not_fixed(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    outside = project / "outside.yaml"
    outside.write_text(BROKEN)
    (project / "inner" / ".git").mkdir(parents=True)
    (project / "inner" / "s.yaml").symlink_to("../outside.yaml")
    _, out, _ = run(capsys, "inner/s.yaml", "--fix")
    assert outside.read_text() == BROKEN
    assert "0 findings fixed" in out


def test_no_link_makes_another_project_part_of_this_one(project: Path) -> None:
    """Whatever its name: a project is that of a folder, not of a file in it."""
    for name in ("inner/.git", "other/.git"):
        (project / name).mkdir(parents=True)
    (project / "other/x").touch()
    (project / "inner/file").symlink_to("../other/x")
    assert roots_of(["inner"], Disk()) == (str(project / "inner"),)


def test_a_refused_fix_is_named(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = "name: crew\nmembers:\n- &m {name: a, role: captian}\n- *m\n"
    (project / "s.yaml").write_text(text)
    _, _, err = run(capsys, "s.yaml", "--fix")
    assert (project / "s.yaml").read_text() == text
    assert "it would change more than it says" in err


def test_fix_and_diff_exclude_each_other(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "--fix", "--diff")[0] == 2


@pytest.mark.parametrize("output_format", ["sarif", "github"])
def test_machine_formats_are_wired(
    project: Path, capsys: pytest.CaptureFixture[str], output_format: str
) -> None:
    (project / "s.yaml").write_text(BROKEN)
    code, out, _ = run(capsys, "s.yaml", "--output-format", output_format)
    assert code == 1
    assert out.startswith("{" if output_format == "sarif" else "::")


def test_annotations_start_at_the_checkout(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "sub").mkdir()
    (project / "sub" / "s.yaml").write_text(BROKEN)
    monkeypatch.setenv("GITHUB_WORKSPACE", str(project))
    monkeypatch.chdir(project / "sub")
    _, out, _ = run(capsys, "s.yaml", "--output-format", "github")
    assert "file=sub/s.yaml," in out


@pytest.mark.parametrize("number", ["-1", "x"])
def test_a_wrong_number_of_jobs_is_refused(capsys: pytest.CaptureFixture[str], number: str) -> None:
    assert run(capsys, f"--jobs={number}")[0] == 2
