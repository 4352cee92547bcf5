"""A full disk, a limit on the size of files, a kill in the middle: the old file is intact."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import lab
from lab import Result, environment, python, repository

OLD = "server: {name: a, versoin: 1.0.0}\ntools: []\n"


def command(folder: Path, *arguments: str, limit: int | None = None) -> Result:
    """Run `equipage` in a folder; with a limit, no file may grow beyond it."""

    def confine() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit or 0, limit or 0))

    env = environment(PYTHONDONTWRITEBYTECODE="1")
    confined = None if limit is None else confine
    return lab.command(*arguments, cwd=folder, env=env, preexec_fn=confined)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return repository(tmp_path, {"main.yaml": OLD})


def nothing_left(folder: Path, *names: str) -> None:
    assert {each.name for each in folder.iterdir()} == {".git", "main.yaml", *names}


def test_fix_works_at_all(project: Path) -> None:
    done = command(project, "check", "--fix", "main.yaml")
    assert "version: 1.0.0" in (project / "main.yaml").read_text(), done.out + done.err


def test_fix_without_room(project: Path) -> None:
    done = command(project, "check", "--fix", "main.yaml", limit=10)
    assert (project / "main.yaml").read_text() == OLD
    nothing_left(project)
    assert done.code in (0, 1, 2), done.err


def test_lock_without_room(project: Path) -> None:
    (project / "main.lock").write_text("the old one")
    done = command(project, "lock", "main.yaml", "--output", "main.lock", limit=10)
    assert (project / "main.lock").read_text() == "the old one"
    nothing_left(project, "main.lock")
    assert done.code == 2, done.err


def test_new_without_room(project: Path) -> None:
    done = command(project, "new", "server", "other", limit=10)
    assert done.code == 2, done.err
    nothing_left(project)


def test_new_never_replaces(project: Path) -> None:
    (project / "other.yaml").write_text("mine")
    done = command(project, "new", "server", "other")
    assert (project / "other.yaml").read_text() == "mine"
    assert done.code == 2


@pytest.fixture
def tiny_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 64 kB, where one may be mounted."""
    place = tmp_path / "tiny"
    place.mkdir()
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(place)],
        capture_output=True,
        check=False,
    )
    if done.returncode:
        pytest.skip("no file system can be mounted here")
    yield place
    subprocess.run(["umount", str(place)], check=False)


def test_a_full_disk(tiny_disk: Path) -> None:
    (tiny_disk / ".git").mkdir()
    (tiny_disk / "main.yaml").write_text(OLD)
    (tiny_disk / "main.lock").write_text("the old one")
    with open(tiny_disk / "filler", "wb", buffering=0) as file:
        try:
            while True:
                file.write(b"x" * 4096)
        except OSError:
            pass
    for arguments in (
        ["check", "--fix", "main.yaml"],
        ["lock", "main.yaml", "--output", "main.lock"],
        ["new", "server", "n"],
    ):
        command(tiny_disk, *arguments)
    assert (tiny_disk / "main.yaml").read_text() == OLD
    assert (tiny_disk / "main.lock").read_text() == "the old one"
    assert {each.name for each in tiny_disk.iterdir()} == {
        ".git",
        "main.yaml",
        "main.lock",
        "filler",
    }


KILLED = """
import os, sys
from equipage.files import writing
point = sys.argv[2]
real = getattr(os, point)
def dying(*arguments, **more):
    os.kill(os.getpid(), 9)
setattr(os, point, dying)
writing.write_or_replace(sys.argv[1], b"new " * 100_000)
"""


@pytest.mark.parametrize("point", ["open", "fsync", "replace", "chmod"])
def test_a_kill_at_every_step(point: str, project: Path) -> None:
    """Killed before a step, the old file is there as it was."""
    assert python("-c", KILLED, "main.yaml", point, cwd=project).code == -9
    assert (project / "main.yaml").read_text() == OLD


def test_readers_never_see_half_a_file(project: Path) -> None:
    """While a file is replaced again and again, a reader sees the old one or the new one, whole."""
    texts = [("# " + letter * 200_000 + "\n").encode() for letter in "ab"]
    script = (
        "import sys, itertools\nfrom equipage.files.writing import write_or_replace\n"
        "for letter in itertools.cycle('ab'): write_or_replace('main.yaml', ('# ' + letter * 200_000 + '\\n').encode())\n"
    )
    (project / "main.yaml").write_bytes(texts[0])
    writer = subprocess.Popen([sys.executable, "-c", script], cwd=project, env=environment())
    try:
        seen: set[int] = set()
        while len(seen) < 100:
            with open(project / "main.yaml", "rb") as file:
                seen.add(os.fstat(file.fileno()).st_mtime_ns)
                assert file.read() in texts
            assert writer.poll() is None, "the writer ended"
    finally:
        writer.kill()
        writer.wait()
    assert (project / "main.yaml").read_bytes() in texts
