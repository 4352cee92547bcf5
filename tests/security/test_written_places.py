"""Output goes into pipes and devices without replacing them, or what others wrote."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from clock import HANGS
from lab import environment, repository

COMMAND = ("check", "main.yaml", "--json", "-o")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return repository(tmp_path, {"main.yaml": "server: {name: a}\ntools: []\n"})


def start(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    """`equipage` in a shell of its own, so that redirections can be part of it."""
    env = environment(PYTHON=sys.executable)
    line = f'"$PYTHON" -m equipage {" ".join(arguments)}'
    pipe = subprocess.PIPE
    return subprocess.Popen(
        ["/bin/sh", "-c", line], cwd=folder, env=env, stdout=pipe, stderr=pipe, text=True
    )


def run(folder: Path, *arguments: str) -> tuple[int, str, str]:
    with start(folder, *arguments) as process:
        out, err = process.communicate(timeout=HANGS)
        return process.returncode, out, err


def test_a_pipe_that_nobody_reads_is_refused(project: Path) -> None:
    os.mkfifo(project / "pipe")
    assert run(project, *COMMAND, "pipe") == (
        2,
        "",
        "equipage: cannot write pipe: no program reads from it\n",
    )
    assert stat.S_ISFIFO((project / "pipe").stat().st_mode)


def test_a_pipe_gets_the_document(project: Path) -> None:
    os.mkfifo(project / "pipe")
    reader = os.open(project / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    try:
        assert run(project, *COMMAND, "pipe") == (0, "", "")
        assert b"digest" in os.read(reader, 65536)
    finally:
        os.close(reader)
    assert stat.S_ISFIFO((project / "pipe").stat().st_mode)


def test_a_device_stays_one(project: Path) -> None:
    """One of our own: whatever goes wrong must not cost the system its `/dev/null`."""
    try:
        os.mknod(project / "nul", 0o666 | stat.S_IFCHR, os.makedev(1, 3))
        os.close(os.open(project / "nul", os.O_WRONLY))
    except OSError:
        pytest.skip("devices cannot be made here")
    (project / "link").symlink_to("nul")
    assert run(project, *COMMAND, "nul") == (0, "", "")
    assert run(project, *COMMAND, "link") == (0, "", "")
    assert stat.S_ISCHR((project / "nul").stat().st_mode)
    assert (project / "link").is_symlink()


def test_a_folder_is_refused(project: Path) -> None:
    (project / "folder").mkdir()
    assert run(project, *COMMAND, "folder") == (
        2,
        "",
        "equipage: cannot write folder: Is a directory\n",
    )


def test_a_new_file_is_not_written_through_a_link_out_of_the_project(project: Path) -> None:
    """`x.md` in a folder of the user's own would be an agent in all of their projects."""
    inner = project / "inner"
    (inner / ".git").mkdir(parents=True)
    (project / "elsewhere").mkdir()
    (inner / ".defect").symlink_to(project / "elsewhere")
    assert run(inner, "new", "profile", "x") == (
        2,
        "",
        "equipage: cannot write .defect/agents/x.md: a link on the way there leads out of the project\n",
    )
    assert list((project / "elsewhere").iterdir()) == []
    (inner / "real").mkdir()
    (inner / ".defect").unlink()
    (inner / ".defect").symlink_to("real")
    assert run(inner, "new", "profile", "x")[0] == 0
    assert (inner / "real/agents/x.md").exists()


@pytest.mark.skipif(not os.path.exists("/dev/stdout"), reason="no /dev/stdout here")
@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"])
def test_standard_output_by_its_name(project: Path, name: str) -> None:
    code, out, err = run(project, *COMMAND, name)
    assert (code, err) == (0, "")
    assert "digest" in out


@pytest.mark.skipif(not os.path.exists("/dev/stdout"), reason="no /dev/stdout here")
def test_what_was_written_to_standard_output_before_stays(project: Path) -> None:
    (project / "log").write_text("before\n")
    assert run(project, *COMMAND, "/dev/stdout", ">> log") == (0, "", "")
    assert (project / "log").read_text().startswith("before\n{")


@pytest.mark.skipif(not os.path.exists("/dev/stdout"), reason="no /dev/stdout here")
def test_a_reader_may_leave(project: Path) -> None:
    _, out, err = run(project, *COMMAND, "/dev/stdout", "| true")
    assert (out, err) == ("", "")
