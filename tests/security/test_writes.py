"""`init`, `new`, `lock`, `--fix` and `--write-baseline` in a folder that works against them."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from pathlib import Path

import pytest

from clock import HANGS
from equipage.core.source import Source
from equipage.files.writing import NotWritten, replace_if_unchanged, write_new, write_or_replace
from lab import in_process, repository, write

pytestmark = pytest.mark.skipif(os.name != "posix", reason="links and modes of POSIX")

BROKEN = "server: {name: x, version: 1.0.0}\ntools: []\nunknow_methods: ignore\n"
AGENT = "---\nname: a\ndescription: d\n---\nText.\n"
is_root = hasattr(os, "geteuid") and os.geteuid() == 0


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = repository(tmp_path / "project", {"s.yaml": BROKEN, ".claude/agents/a.md": AGENT})
    write(tmp_path / "outside", {"mine": "mine", "s.yaml": BROKEN})
    monkeypatch.chdir(folder)
    return folder


def outside(project: Path) -> dict[str, str]:
    return {each.name: each.read_text() for each in (project.parent / "outside").iterdir()}


#: A command, and the file that it writes by itself.
COMMANDS = {
    "lock": (["lock"], "equipage.lock"),
    "baseline": (["check", ".", "--write-baseline"], "equipage-baseline.json"),
    "init": (["init"], "equipage.toml"),
    "workflow": (["init"], ".github/workflows/equipage.yml"),
    "hook": (["init"], ".pre-commit-config.yaml"),
    "new": (["new", "server", "made.yaml"], "made.yaml"),
    "fix": (["check", ".", "--fix", "--unsafe-fixes"], "s.yaml"),
}


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("target", ["mine", "missing"])
def test_a_link_in_the_place_of_what_is_written(name: str, target: str, project: Path) -> None:
    """It leads out, to a file or to nothing: neither is written."""
    arguments, file = COMMANDS[name]
    (project / file).unlink(missing_ok=True)
    (project / file).parent.mkdir(parents=True, exist_ok=True)
    (project / file).symlink_to(project.parent / "outside" / target)
    before = outside(project)
    done = in_process(arguments)
    assert "Traceback" not in done.err
    assert outside(project) == before
    assert (project / file).is_symlink()


@pytest.mark.parametrize("name", ["init", "workflow", "new", "lock"])
def test_a_folder_that_is_a_link_out(name: str, project: Path) -> None:
    arguments, file = COMMANDS[name]
    folder = project / ".github/workflows"
    folder.parent.mkdir()
    folder.symlink_to(project.parent / "outside")
    before = outside(project)
    done = in_process([each.replace("made", ".github/workflows/made") for each in arguments])
    assert "Traceback" not in done.err
    assert outside(project) == before
    assert file


def test_files_that_are_links_to_each_other(project: Path) -> None:
    for name, target in (("equipage.lock", "other.lock"), ("other.lock", "equipage.lock")):
        (project / name).symlink_to(target)
    done = in_process(["lock"])
    assert "Traceback" not in done.err
    assert outside(project).keys() == {"mine", "s.yaml"}


def test_a_fix_while_the_file_becomes_a_link(project: Path) -> None:
    """Another process exchanges the file for a link to an equal one outside, again and again."""
    inside, aside = project / "s.yaml", project / "aside"
    target = project.parent / "outside/s.yaml"
    stop = threading.Event()

    def swap() -> None:
        while not stop.is_set():
            aside.unlink(missing_ok=True)
            aside.symlink_to(target)
            os.replace(aside, inside)
            aside.write_text(BROKEN)
            os.replace(aside, inside)

    thread = threading.Thread(target=swap)
    thread.start()
    try:
        for _ in range(300):
            source = Source.of_bytes("s.yaml", BROKEN.encode(), str(inside))
            try:
                replace_if_unchanged(source, BROKEN.replace("unknow", "unknown"), [str(project)])
            except NotWritten as problem:
                assert str(problem)
    finally:
        stop.set()
        thread.join()
    assert target.read_text() == BROKEN
    assert outside(project) == {"mine": "mine", "s.yaml": BROKEN}


def test_new_files_while_their_folder_becomes_a_link(project: Path) -> None:
    inside, aside, away = (project / each for each in ("d", "aside", "away"))
    inside.mkdir()
    stop = threading.Event()

    def swap() -> None:
        aside.symlink_to(project.parent / "outside")
        while not stop.is_set():
            # A folder may have been made again meanwhile, in the place of the one that is away.
            for old, new in ((inside, away), (aside, inside), (inside, aside), (away, inside)):
                with contextlib.suppress(OSError):
                    os.rename(old, new)

    thread = threading.Thread(target=swap)
    thread.start()
    written = tried = 0
    end = time.monotonic() + HANGS
    try:
        # A busy machine may stop the other thread while the link is in place: then nothing is
        # written until it goes on.
        while tried < 300 or (not written and time.monotonic() < end):
            tried += 1
            with contextlib.suppress(NotWritten, OSError):
                write_new(str(inside / f"f{tried}"), b"x", str(project))
                written += 1
    finally:
        stop.set()
        thread.join()
    assert written
    # What came out in the moment between the look and the step, if anything, is new and ours.
    left = outside(project)
    assert {name: left[name] for name in ("mine", "s.yaml")} == {"mine": "mine", "s.yaml": BROKEN}


@pytest.mark.skipif(is_root, reason="nothing is write-protected for root")
@pytest.mark.parametrize("name", COMMANDS)
def test_a_folder_that_may_not_be_written_to(name: str, project: Path) -> None:
    arguments, file = COMMANDS[name]
    (project / ".github/workflows").mkdir(parents=True)
    folders = [project, project / ".github", project / ".github/workflows"]
    for folder in folders:
        folder.chmod(0o555)
    try:
        done = in_process(arguments)
    finally:
        for folder in folders:
            folder.chmod(0o755)
    assert "Traceback" not in done.err
    assert (project / "s.yaml").read_text() == BROKEN
    assert not (project / file).exists() or file == "s.yaml"


@pytest.mark.skipif(is_root, reason="nothing is write-protected for root")
def test_a_file_that_is_write_protected_stays(project: Path) -> None:
    (project / "s.yaml").chmod(0o444)
    done = in_process(["check", "s.yaml", "--fix", "--unsafe-fixes"])
    assert "it is write-protected" in done.err
    assert (project / "s.yaml").read_text() == BROKEN


def test_a_file_of_another_user_keeps_its_mode(project: Path) -> None:
    """And nothing that was private becomes readable on the way."""
    (project / "s.yaml").chmod(0o640)
    in_process(["check", "s.yaml", "--fix", "--unsafe-fixes"])
    assert (project / "s.yaml").read_text() != BROKEN
    assert (project / "s.yaml").stat().st_mode & 0o777 == 0o640
    if is_root:
        (project / "s.yaml").write_text(BROKEN)
        os.chown(project / "s.yaml", 65534, 65534)
        in_process(["check", "s.yaml", "--fix", "--unsafe-fixes"])
        status = (project / "s.yaml").stat()
        assert (status.st_uid, status.st_gid, status.st_mode & 0o777) == (65534, 65534, 0o640)


def test_a_name_that_the_user_wrote_may_lead_anywhere(project: Path) -> None:
    """The promise is about names that come with a project."""
    link = project / "out.json"
    link.symlink_to(project.parent / "outside/report.json")
    write_or_replace(str(link), b"{}")
    assert outside(project)["report.json"] == "{}"
