"""Every file of a folder with its hash: links are not followed, and there is an end to it."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from equipage.files import disk
from equipage.files.disk import Disk, HashedFile, TooManyFiles, hash_files_below
from lab import write


def sha256(text: str | bytes) -> str:
    return hashlib.sha256(text.encode() if isinstance(text, str) else text).hexdigest()


def names(folder: Path) -> list[str]:
    return [each.name for each in hash_files_below(str(folder), Disk())]


def test_every_file_at_any_depth_in_the_order_of_names(tmp_path: Path) -> None:
    write(tmp_path, {"b/c/d": "d", "b/a": "a", "a": "1", "c": "", "b.txt": "2", "e/f": "f"})
    assert list(hash_files_below(str(tmp_path), Disk())) == [
        HashedFile("a", sha256("1")),
        HashedFile("b.txt", sha256("2")),
        HashedFile("c", sha256("")),
        HashedFile("b/a", sha256("a")),
        HashedFile("b/c/d", sha256("d")),
        HashedFile("e/f", sha256("f")),
    ]


def test_a_link_is_never_followed(tmp_path: Path) -> None:
    write(tmp_path, {"out/secret": "secret", "in/a": "a"})
    folder = tmp_path / "in"
    (folder / "file").symlink_to("../out/secret")
    (folder / "folder").symlink_to("../out")
    (folder / "loop").symlink_to("loop")
    assert list(hash_files_below(str(folder), Disk())) == [
        HashedFile("a", sha256("a")),
        HashedFile("file", sha256("../out/secret"), is_link=True),
        HashedFile("folder", sha256("../out"), is_link=True),
        HashedFile("loop", sha256("loop"), is_link=True),
    ]


def test_what_people_do_not_write_is_left_out(tmp_path: Path) -> None:
    left = ("a.pyc", ".git/x", "d/__pycache__/y", "node_modules/z", ".DS_Store", "d/.venv/v")
    write(tmp_path, dict.fromkeys((*left, "z.py", "d/pyc"), ""))
    assert names(tmp_path) == ["z.py", "d/pyc"]


def test_what_was_read_before_is_not_read_again(tmp_path: Path) -> None:
    write(tmp_path, {"a": "a", "d/b": "b"})
    known = {"d/b": "known", "a/b": "not this one"}
    assert [each.sha256 for each in hash_files_below(str(tmp_path), Disk(), known)] == [
        sha256("a"),
        "known",
    ]


def test_what_is_no_file_and_what_is_gone_has_no_hash(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, {"a": "a", "locked/b": "b", "z/c": "c"})
    os.mkfifo(tmp_path / "pipe")
    real = os.scandir

    def scandir(path: str) -> object:
        if os.path.basename(os.path.normpath(path)) == "locked":
            raise PermissionError(13, "Permission denied", path)
        return real(path)

    monkeypatch.setattr(os, "scandir", scandir)
    assert names(tmp_path) == ["a", "z/c"]
    assert list(hash_files_below(str(tmp_path / "no"), Disk())) == []


def test_there_may_be_so_many_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(disk, "MAX_FILES", 3)
    write(tmp_path, {"a": "", "b/c": "", "d": ""})
    assert len(names(tmp_path)) == 3
    (tmp_path / "e").symlink_to("a")
    with pytest.raises(TooManyFiles) as raised:
        names(tmp_path)
    assert str(raised.value) == f"{tmp_path} has more than 3 files"


def test_they_may_lie_so_deep(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(disk, "MAX_DEPTH", 2)
    write(tmp_path, {"a/b/x": "", "a/b/c/y": "", "a/z": ""})
    assert names(tmp_path) == ["a/z", "a/b/x"]


# --- the hash of one file ------------------------------------------------------------------------


def test_the_hash_of_a_file_of_any_size(tmp_path: Path) -> None:
    for size in (0, 1, (1 << 20) - 1, 1 << 20, (1 << 20) + 1, 3 << 20):
        data = os.urandom(1024) * (size // 1024) + b"x" * (size % 1024)
        (tmp_path / "file").write_bytes(data)
        assert Disk().sha256(str(tmp_path / "file")) == sha256(data)


def test_only_regular_files_have_one(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    before = len(os.listdir("/proc/self/fd"))
    for path in (str(tmp_path / "pipe"), str(tmp_path), "/dev/zero", str(tmp_path / "no"), "a\0b"):
        assert Disk().sha256(path) is None
    assert len(os.listdir("/proc/self/fd")) == before
