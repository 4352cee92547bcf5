"""Files are written whole or not at all, and never outside the folder that was named."""

from __future__ import annotations

import errno
import os
import stat
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from clock import HANGS
from equipage.core.source import Source
from equipage.files import writing
from equipage.files.writing import NotWritten


def reason(act: Callable[..., object], *given: object) -> str:
    with pytest.raises(NotWritten) as caught:
        act(*given)
    return str(caught.value)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (tmp_path / "outside").mkdir()
    (folder / "out").symlink_to("../outside")
    return folder


def failing(number: int, words: str | None = None) -> Callable[..., Any]:
    """A call of the system that is refused."""

    def call(*_: object, **__: object) -> Any:
        raise OSError(number, os.strerror(number) if words is None else words)

    return call


# New files.


def test_a_new_file_with_its_folders(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    writing.write_new(str(project / "a" / "b" / "c.txt"), b"text", str(project))
    assert (project / "a" / "b" / "c.txt").read_bytes() == b"text"
    writing.write_new(str(project / "a" / "b" / "d.txt"), b"more", str(project))
    monkeypatch.chdir(project)
    writing.write_new("e.txt", b"here", ".")
    assert (project / "e.txt").read_bytes() == b"here"
    assert sorted(os.listdir(project)) == ["a", "e.txt", "out"]
    assert sorted(os.listdir(project / "a" / "b")) == ["c.txt", "d.txt"]


def test_a_new_file_follows_the_umask(project: Path) -> None:
    before = os.umask(0o027)
    try:
        writing.write_new(str(project / "a"), b"", str(project))
        writing.write_or_replace(str(project / "b"), b"")
    finally:
        os.umask(before)
    assert (mode(project / "a"), mode(project / "b")) == (0o640, 0o640)


@pytest.mark.parametrize("links", [True, False])
def test_what_exists_is_not_replaced(
    project: Path, links: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not links:
        monkeypatch.setattr(os, "link", failing(errno.EPERM))
    (project / "a").write_text("old")
    (project / "dangling").symlink_to("nowhere")
    for name in ("a", "dangling"):
        said = reason(writing.write_new, str(project / name), b"new", str(project))
        assert said == "it exists already"
    assert (project / "a").read_text() == "old"
    assert not (project / "nowhere").exists()
    writing.write_new(str(project / "b"), b"new", str(project))
    assert (project / "b").read_text() == "new"
    assert sorted(os.listdir(project)) == ["a", "b", "dangling", "out"]


def test_nothing_new_behind_a_link_that_leads_out(project: Path) -> None:
    words = "a link on the way there leads out of the project"
    for name in ("out/a", "out/b/c"):
        assert reason(writing.write_new, str(project / name), b"x", str(project)) == words
    assert os.listdir(project.parent / "outside") == []


def test_what_the_system_refuses_is_said_in_its_words(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = Source.of_text("a", "old")
    (project / "a").write_text("old")
    monkeypatch.setattr(writing, "_temporary_path_beside", failing(errno.ENOSPC))
    for act, given in (
        (writing.write_new, (str(project / "n"), b"", str(project))),
        (writing.write_or_replace, (str(project / "a"), b"")),
    ):
        assert reason(act, *given) == "No space left on device"
    monkeypatch.setattr(writing, "_temporary_path_beside", failing(errno.ENOSPC, ""))
    assert reason(writing.write_or_replace, str(project / "a"), b"") == "[Errno 28] "
    assert reason(writing.write_new, str(project / "n"), b"", str(project)) == "[Errno 28] "
    assert (
        reason(writing.replace_if_unchanged, source, "new", [str(project)])
        == "it was not read from a file"
    )


# Files that are replaced.


def test_a_replaced_file_keeps_its_mode_and_its_other_names(project: Path) -> None:
    path = project / "a"
    path.write_text("old")
    path.chmod(0o604)
    inode = path.stat().st_ino
    writing.write_or_replace(str(path), b"new text")
    assert (path.read_text(), mode(path)) == ("new text", 0o604)
    assert path.stat().st_ino != inode
    os.link(path, project / "b")
    writing.write_or_replace(str(path), b"x")
    assert ((project / "b").read_text(), path.stat().st_nlink) == ("x", 2)
    (project / "link").symlink_to("a")
    writing.write_or_replace(str(project / "link"), b"through")
    assert (project / "link").is_symlink()
    assert path.read_text() == "through"
    assert sorted(os.listdir(project)) == ["a", "b", "link", "out"]


@pytest.mark.skipif(not hasattr(os, "setxattr"), reason="this system has no extended attributes")
def test_a_replaced_file_keeps_its_attributes(project: Path) -> None:
    path = project / "a"
    path.write_text("old")
    try:
        os.setxattr(path, "user.note", b"kept")
    except OSError:
        pytest.skip("this file system has no extended attributes")
    writing.write_or_replace(str(path), b"new")
    assert os.getxattr(path, "user.note") == b"kept"


def test_an_interrupt_leaves_the_old_file_and_no_other(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "a").write_text("old")

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        writing.write_or_replace(str(project / "a"), b"new")
    assert (project / "a").read_text() == "old"
    assert sorted(os.listdir(project)) == ["a", "out"]


def test_a_pipe_is_written_into_and_never_replaced(project: Path) -> None:
    pipe = project / "pipe"
    os.mkfifo(pipe)
    assert reason(writing.write_or_replace, str(pipe), b"x") == "no program reads from it"
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    data = b"0123456789" * 20_000  # more than a pipe holds, so writing has to wait
    got: list[bytes] = []

    def read() -> None:
        while sum(map(len, got)) < len(data):
            try:
                got.append(os.read(reader, 1 << 16))
            except BlockingIOError:
                time.sleep(0.001)

    thread = threading.Thread(target=read, daemon=True)
    thread.start()
    writing.write_or_replace(str(pipe), data)
    thread.join(HANGS)
    os.close(reader)
    assert b"".join(got) == data
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_a_pipe_whose_reader_leaves_is_told_as_such(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "a").write_text("old")
    monkeypatch.setattr(writing, "_replace_file", failing(errno.EPIPE))
    with pytest.raises(BrokenPipeError):
        writing.write_or_replace(str(project / "a"), b"")


@pytest.mark.parametrize("descriptor", [1, 2])
def test_our_own_output_is_added_to(project: Path, descriptor: int) -> None:
    """What a command printed before stays."""
    path = project / "log"
    saved = os.dup(descriptor)
    target = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        os.dup2(target, descriptor)
        os.write(descriptor, b"before ")
        writing.write_or_replace(str(path), b"after")
    finally:
        os.dup2(saved, descriptor)
        os.close(saved)
        os.close(target)
    assert path.read_bytes() == b"before after"


def test_a_private_file_is_new_and_only_for_its_owner(project: Path) -> None:
    before = os.umask(0)
    try:
        (project / "key").symlink_to("../outside/target")
        (project.parent / "outside" / "target").write_text("theirs")
        writing.write_private(str(project / "key"), b"secret")
        writing.write_private(str(project / "key"), b"again")
    finally:
        os.umask(before)
    assert ((project / "key").read_bytes(), mode(project / "key")) == (b"again", 0o600)
    assert not (project / "key").is_symlink()
    assert (project.parent / "outside" / "target").read_text() == "theirs"
    assert reason(writing.write_private, str(project / "no" / "key"), b"") == (
        "No such file or directory"
    )
    assert reason(writing.write_private, str(project / "out" / "x" / "y"), b"") == (
        "No such file or directory"
    )


def test_a_private_file_leaves_no_descriptor_open(project: Path) -> None:
    before = len(os.listdir("/proc/self/fd"))
    writing.write_private(str(project / "key"), b"x")
    assert len(os.listdir("/proc/self/fd")) == before


# Files that were read before.


def read(path: Path) -> Source:
    from equipage.files.disk import Disk
    from equipage.files.reading import Files

    return Files(Disk()).read(str(path))


def test_a_file_is_rewritten_if_it_holds_what_was_read(project: Path) -> None:
    path = project / "a.yaml"
    path.write_text("old")
    source = read(path)
    writing.replace_if_unchanged(source, "né", [str(project.parent / "outside"), str(project)])
    assert path.read_bytes() == "né".encode()
    assert (
        reason(writing.replace_if_unchanged, source, "x", [str(project)])
        == "it was changed meanwhile"
    )
    assert reason(
        writing.replace_if_unchanged, read(path), "x", [str(project.parent / "outside")]
    ) == ("it lies outside the project")
    assert path.read_bytes() == "né".encode()
    assert sorted(os.listdir(project)) == ["a.yaml", "out"]


def test_a_file_that_is_write_protected_stays(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = project / "a.yaml"
    path.write_text("old")
    source = read(path)
    monkeypatch.setattr(os, "access", lambda *_: False)
    assert (
        reason(writing.replace_if_unchanged, source, "x", [str(project)]) == "it is write-protected"
    )
    monkeypatch.undo()
    monkeypatch.setattr(writing, "_replace_file", failing(errno.ENOSPC))
    assert (
        reason(writing.replace_if_unchanged, source, "x", [str(project)])
        == "No space left on device"
    )


def test_what_killed_runs_left_long_ago_is_removed_and_nothing_else(project: Path) -> None:
    """Beside the file, under our name for it, and older than an hour."""
    now = time.time()
    kept = [".a.1.equipage-tmp", ".b.1.equipage-tmp", ".a.1.other", "a.1.equipage-tmp"]
    for name, age in (*((name, 7200) for name in kept), (".a.2.equipage-tmp", 3700)):
        (project / name).write_text("x")
        os.utime(project / name, (now - age, now - age))
    os.utime(project / kept[0], (now - 3500, now - 3500))
    writing.write_or_replace(str(project / "a"), b"new")
    assert sorted(os.listdir(project)) == sorted([*kept, "a", "out"])


def test_a_long_name_has_room_for_ours(project: Path) -> None:
    writing.write_or_replace(str(project / ("n" * 250)), b"x")
    assert sorted(os.listdir(project)) == ["n" * 250, "out"]


def test_a_file_is_on_the_disk_before_it_has_its_name(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[str] = []
    real_sync, real_replace = os.fsync, os.replace

    def fsync(descriptor: int) -> None:
        status = os.fstat(descriptor)
        done.append("folder" if stat.S_ISDIR(status.st_mode) else f"file of {status.st_size}")
        real_sync(descriptor)

    def replace(*given: Any) -> None:
        assert os.path.dirname(given[0]) == str(project)  # the same file system
        done.append("name")
        real_replace(*given)

    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(os, "replace", replace)
    writing.write_or_replace(str(project / "a"), b"text")
    assert done == ["file of 4", "name", "folder"]
    os.link(project / "a", project / "b")
    done.clear()
    writing.write_or_replace(str(project / "a"), b"longer text")
    assert done == ["file of 11", "file of 11", "folder"]
    # Where folders cannot be opened, the file is safe already.
    real_open = os.open

    def opened(path: Any, flags: int, *more: Any, **given: Any) -> int:
        if os.path.isdir(path):
            raise PermissionError(errno.EACCES, "no")
        return real_open(path, flags, *more, **given)

    monkeypatch.setattr(os, "open", opened)
    writing.write_or_replace(str(project / "a"), b"x")
    assert (project / "b").read_bytes() == b"x"


def test_a_copy_is_private_until_it_has_the_mode_of_its_model(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "a").write_text("old")
    (project / "a").chmod(0o644)
    seen: list[int] = []
    monkeypatch.setattr(
        writing,
        "_copy_attributes",
        lambda _model, descriptor: seen.append(stat.S_IMODE(os.fstat(descriptor).st_mode)),
    )
    before = os.umask(0)
    try:
        writing.write_or_replace(str(project / "a"), b"secret")
    finally:
        os.umask(before)
    assert seen == [0o600]
    assert mode(project / "a") == 0o644


def test_a_name_that_somebody_guessed_is_not_followed(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A link in the place of the file that is not finished yet, or of a private one."""
    target = project.parent / "outside" / "target"
    target.write_text("theirs")
    monkeypatch.setattr(os, "urandom", lambda count: b"0" * count)
    (project / f".a.{(b'0' * 6).hex()}.equipage-tmp").symlink_to(target)
    monkeypatch.setattr(os, "unlink", lambda *_: None)  # who guesses is faster than we are
    assert reason(writing.write_or_replace, str(project / "a"), b"ours") == "File exists"
    (project / "key").symlink_to(target)
    assert reason(writing.write_private, str(project / "key"), b"ours") == "File exists"
    assert target.read_text() == "theirs"
