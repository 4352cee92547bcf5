"""Files that are none: nothing hangs, nothing is read without end, and each has a code."""

from __future__ import annotations

import contextlib
import os
import socket
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import equipage
from clock import HANGS
from equipage.files.disk import Disk, hash_files_below
from equipage.files.reading import Files
from equipage.files.sandbox import FileProblem

from . import world
from .world import run_script

SECONDS = HANGS  # of a clock on the wall, for a busy machine: a hang would last for ever


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".git").mkdir()
    started = time.monotonic()
    yield
    assert time.monotonic() - started < SECONDS


def codes(*paths: str, kind: str | None = "server") -> list[str]:
    report = equipage.check(paths or ["."], kind=kind, env={})
    world.no_bug(report.diagnostics)
    return [each.code for each in report.errors]


def test_a_pipe() -> None:
    os.mkfifo("main.yaml")
    assert codes("main.yaml") == ["file-not-regular"]


def test_a_socket() -> None:
    with contextlib.closing(socket.socket(socket.AF_UNIX)) as server:
        server.bind("main.yaml")
        assert codes("main.yaml")[0] in ("file-not-regular", "file-unreadable")


@pytest.mark.parametrize(
    "device", ["/dev/zero", "/dev/null", "/dev/tty", "/dev/stdin", "/dev/random", "/dev/full"]
)
def test_a_device(device: str) -> None:
    if not os.path.exists(device):
        pytest.skip(f"no {device} here")
    Path("main.yaml").symlink_to(device)
    assert codes("main.yaml")[0] in ("file-not-regular", "file-unreadable", "file-missing")


@pytest.mark.parametrize(
    "file",
    [
        "/proc/self/status",
        "/proc/kmsg",
        "/proc/self/mem",
        "/proc/self/environ",
        "/sys/kernel/notes",
    ],
)
def test_files_that_say_they_are_empty(file: str) -> None:
    if not os.path.exists(file):
        pytest.skip(f"no {file} here")
    Path("main.yaml").symlink_to(file)
    assert codes("main.yaml")


def test_a_folder_named_like_a_file() -> None:
    for name in (
        "main.yaml",
        "a.tool.yaml",
        "SKILL.md",
        "equipage.toml",
        "pyproject.toml",
        ".gitignore",
    ):
        Path(name).mkdir()
    with pytest.raises(equipage.LoadError) as caught:
        equipage.load("main.yaml", kind="server")
    assert [each.code for each in caught.value.errors] == ["file-is-directory"]
    report = equipage.check(["."], env={})
    assert [str(each) for each in report.errors] == [
        "a.tool.yaml: error[file-is-directory] a.tool.yaml is a directory, expected a file"
    ]
    # Of a folder that a tool would ignore, a note says so.
    assert [each.name for each in report.notes] == ["SKILL.md"]
    Path(".gitignore").rmdir()
    Path(".gitignore").write_text("*.tool.yaml/\nSKILL.md\n")
    assert codes(kind=None) == []


@pytest.mark.parametrize("name", ["a.tool.yaml", ".mcp.json", "SKILL.md"])
def test_a_pipe_in_the_place_of_a_file_is_told(name: str) -> None:
    os.mkfifo(name)
    os.mkfifo("other.yaml")
    assert [str(each) for each in equipage.check(["."], env={}).diagnostics] == [
        f"{name}: error[file-not-regular] {name} is not a regular file"
    ]


@pytest.mark.parametrize(
    ("name", "told"),
    [
        (
            "bin.yaml",
            ["bin.yaml: error[not-utf8] bin.yaml is not valid UTF-8: byte 0xFF at offset 28"],
        ),
        (
            "bin.json",
            ["bin.json: error[not-utf8] bin.json is not valid UTF-8: byte 0xFF at offset 28"],
        ),
        ("bin.txt", []),
    ],
)
def test_a_text_with_bytes_that_are_none(name: str, told: list[str]) -> None:
    """A file that looks like a configuration is reported; other files are ignored."""
    Path(name).write_bytes(b"server: {name: a}\ntools: []\n\xff")
    Path("noise.yaml").write_bytes(b"\xff\xfe\x00" * 100)
    assert [str(each) for each in equipage.check(["."], env={}).diagnostics] == told


def test_an_empty_file() -> None:
    for name in ("main.yaml", "a.tool.yaml", ".mcp.json", "equipage.toml"):
        Path(name).touch()
    assert codes("main.yaml") == ["document-empty"]
    assert "document-empty" in codes("a.tool.yaml", kind=None)


def test_a_sparse_file_of_a_terabyte() -> None:
    with open("main.yaml", "wb") as file:
        try:
            file.truncate(1 << 40)
        except OSError:
            pytest.skip("the file system does not take it")
    assert codes("main.yaml") == ["file-too-large"]


def test_a_sparse_file_that_is_small_enough() -> None:
    with open("main.yaml", "wb") as file:
        file.truncate(5_000_000)
    assert codes("main.yaml") == ["control-character"]


def test_a_file_that_grows_while_it_is_read() -> None:
    """Whoever writes without end is not read without end."""
    path = Path("main.yaml")
    path.write_text("server: {name: a}\ntools: []\n")
    stop = threading.Event()

    def grow() -> None:
        with path.open("ab") as file:
            while not stop.is_set() and file.tell() < 60_000_000:
                file.write(b"# " + b"x" * 100_000 + b"\n")
                file.flush()

    writer = threading.Thread(target=grow)
    writer.start()
    try:
        seen = set()
        for _ in range(50):
            try:
                seen.add(str(len(Files(Disk()).read("main.yaml").data) <= 10 * 1024 * 1024))
            except FileProblem as problem:
                seen.add(problem.code)
    finally:
        stop.set()
        writer.join()
    assert seen <= {"True", "file-too-large", "file-unreadable"}


def test_a_file_that_shrinks_or_goes_while_it_is_read() -> None:
    path = Path("main.yaml")
    stop = threading.Event()

    def churn() -> None:
        while not stop.is_set():
            path.write_bytes(b"server: {name: a}\n" * 1_000)
            path.write_bytes(b"")
            path.unlink()

    writer = threading.Thread(target=churn)
    writer.start()
    try:
        for _ in range(100):
            with contextlib.suppress(FileProblem):
                Files(Disk()).read("main.yaml")
    finally:
        stop.set()
        writer.join()


@pytest.fixture
def _somebody() -> Iterator[None]:
    """Not root, who may read everything."""
    if os.geteuid():
        yield
        return
    os.seteuid(65534)
    yield
    os.seteuid(0)


def test_an_unreadable_file_or_folder(
    monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        monkeypatch.chdir(folder)
        Path(folder).chmod(0o755)
        Path("main.yaml").write_text("server: {name: a}")
        Path("shut").mkdir()
        Path("shut/main.yaml").write_text("server: {name: a}")
        Path("main.yaml").chmod(0)
        Path("shut").chmod(0)
        request.getfixturevalue("_somebody")
        assert codes("main.yaml") == ["file-unreadable"]
        assert codes("shut/main.yaml") == ["file-unreadable"]
        assert {each.code for each in equipage.check(["."], env={}).diagnostics} == {
            "file-unreadable",
            "folder-unreadable",
        }
        if os.getuid() == 0:
            os.seteuid(0)
        Path("shut").chmod(0o700)
        monkeypatch.chdir("/")


@pytest.mark.parametrize("mode", [0, 0o111, 0o444])
def test_a_folder_in_the_place_of_a_file_that_may_not_be_looked_into(
    mode: int, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    """One that may be searched and not listed, or the other way round, is neither here nor there."""
    with tempfile.TemporaryDirectory() as folder:
        monkeypatch.chdir(folder)
        Path(folder).chmod(0o755)
        shut = [Path(each) for each in (".mcp.json", "above/library", "above/LIBRARY", "above")]
        for each in shut[:3]:
            each.mkdir(parents=True)
            (each / "t.yaml").write_text("tool: 5\n")
            (each / "link").symlink_to("t.yaml")
        text = "server: {name: a}\ntools: [{$include: t.yaml}]\n"
        Path("above/main.yaml").write_text(text)
        for each in shut:
            each.chmod(mode)
        request.getfixturevalue("_somebody")
        for path in (".", "above/main.yaml"):
            world.no_bug(equipage.check([path], env={}).diagnostics)
        assert {each.name for each in hash_files_below(".mcp.json", Disk())} <= {"link"}
        if os.getuid() == 0:
            os.seteuid(0)
        for each in reversed(shut):
            each.chmod(0o700)
        monkeypatch.chdir("/")


def test_what_the_system_makes_up_has_no_hash() -> None:
    """It may have no end, or hold variables of the process."""
    Path("link").symlink_to("/proc/self/environ")
    for path in ("link", "/proc/self/environ", "/dev/zero"):
        assert Disk().sha256(path) is None


@pytest.mark.parametrize(
    "name", ["pyproject.toml", "equipage.toml", ".gitignore", ".git/info/exclude"]
)
def test_a_pipe_in_the_place_of_settings(name: str) -> None:
    """What is looked at without being asked for must not hang a run either."""
    Path(".git/info").mkdir()
    os.mkfifo(name)
    Path("main.yaml").write_text("server: {name: a}\ntools: []\n")
    done = run_script("checking.py", ".", cwd=Path.cwd(), timeout=SECONDS)
    assert done.code == 0, done.err


@pytest.mark.parametrize("name", ["pyproject.toml", "equipage.toml", ".gitignore"])
def test_settings_without_end(name: str) -> None:
    with open(name, "wb") as file:
        try:
            file.truncate(1 << 40)
        except OSError:
            pytest.skip("the file system does not take it")
    Path("main.yaml").write_text("server: {name: a}\ntools: []\n")
    done = run_script("checking.py", ".", cwd=Path.cwd(), timeout=SECONDS)
    assert done.code == 0, done.err


@pytest.mark.parametrize(
    "name",
    [b"\xff\xfe.yaml", b"a\nb.yaml", b"\x1b[31m.yaml", "\u202ea.yaml".encode(), b"-rf.yaml", b" .yaml", b"a" * 250 + b".yaml"],
)  # fmt: skip
def test_names_nobody_should_give(name: bytes) -> None:
    """A name is shown so that a terminal survives it."""
    try:
        Path(os.fsdecode(name)).write_text("server: {name: a\ntools: []\n")
    except OSError:
        pytest.skip("the file system does not take the name")
    report = equipage.check(["."], env={})
    world.no_bug(report.diagnostics)
    said = "".join(map(str, report.diagnostics)) + "".join(each.path for each in report.files)
    assert report.diagnostics
    said.encode("utf-8", "surrogateescape")


def test_descriptors_are_closed(tmp_path: Path) -> None:
    if not os.path.isdir("/proc/self/fd"):
        pytest.skip("no /proc here")
    os.mkfifo("pipe.yaml")
    (tmp_path / "folder.yaml").mkdir()
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(50):
        codes("pipe.yaml")
        codes("missing.yaml")
        with contextlib.suppress(equipage.LoadError):
            equipage.load("folder.yaml", kind="server")
    assert len(os.listdir("/proc/self/fd")) <= before
