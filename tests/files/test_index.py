"""Tracked files are found although a `.gitignore` matches them, without running git."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import equipage
from equipage.files.index import DamagedIndex, _parsed, tracked_in
from equipage.files.walking import walk
from equipage.loading.registry import agent_folders
from lab import write

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
NAMES = ["a.tool.yaml", "d/long/name/of/a/file.yaml", "d/long/name/of/another.yaml", "é/x.md", "z"]


def git(folder: Path, *words: str) -> str:
    settings = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "protocol.file.allow=always")
    done = subprocess.run(
        ["git", *settings, *words], cwd=folder, capture_output=True, text=True, check=True
    )
    return done.stdout


def start(folder: Path, *more: str) -> Path:
    folder.mkdir(exist_ok=True)
    git(folder, "init", "-q", *more)
    write(folder, dict.fromkeys(NAMES, ""))
    return folder


def names(folder: Path) -> list[str]:
    tracked = tracked_in(str(folder))
    assert tracked is not None
    return tracked.names


@needs_git
@pytest.mark.parametrize("version", ["2", "3", "4"])
def test_every_version_of_the_index(tmp_path: Path, version: str) -> None:
    start(tmp_path)
    git(tmp_path, "add", ".")
    if version == "3":  # an entry with more flags
        write(tmp_path, {"later": ""})
        git(tmp_path, "add", "--intent-to-add", "later")
    git(tmp_path, "update-index", "--index-version", version)
    assert (tmp_path / ".git/index").read_bytes()[7] == int(version)
    expected = git(tmp_path, "-c", "core.quotePath=false", "ls-files").splitlines()
    assert names(tmp_path) == sorted(expected)


@needs_git
def test_a_split_index_and_hashes_of_another_size(tmp_path: Path) -> None:
    start(tmp_path)
    git(tmp_path, "add", ".")
    git(tmp_path, "update-index", "--split-index")
    write(tmp_path, {"new.yaml": ""})
    git(tmp_path, "add", "new.yaml")
    assert names(tmp_path) == sorted([*NAMES, "new.yaml"])
    other = start(tmp_path / "other", "--object-format=sha256")
    git(other, "add", ".")
    assert names(other) == sorted(NAMES)


@needs_git
def test_worktrees_and_submodules(tmp_path: Path) -> None:
    """A worktree has an index elsewhere; what a submodule holds is not tracked by its parent."""
    main = start(tmp_path / "main")
    git(main, "add", ".")
    git(main, "commit", "-qm", "x")
    git(main, "worktree", "add", "-q", "../tree")
    assert names(tmp_path / "tree") == sorted(NAMES)
    parent = start(tmp_path / "parent")
    git(parent, "submodule", "--quiet", "add", str(main), "module")
    assert names(parent) == [".gitmodules"]


def test_where_there_is_none(tmp_path: Path) -> None:
    assert tracked_in(str(tmp_path)) is None
    (tmp_path / ".git").write_text("gitdir: nowhere\n")
    assert tracked_in(str(tmp_path)) is None


@needs_git
def test_a_tracked_file_is_checked_though_ignored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A `.gitignore` cannot hide what a repository tracks; what it does not track stays hidden."""
    git(tmp_path, "init", "-q")
    write(
        tmp_path,
        {
            ".gitignore": "secret/\n*.tool.yaml\n",
            "a.tool.yaml": "x: 1\n",
            "secret/deep/b.tool.yaml": "x: 1\n",
            "secret/deep/c.tool.yaml": "x: 1\n",
            "secret/other/d.tool.yaml": "x: 1\n",
        },
    )
    git(tmp_path, "add", "-f", "a.tool.yaml", "secret/deep/b.tool.yaml")
    monkeypatch.setenv("PATH", "")  # no git is needed
    report = equipage.check([tmp_path], env={})
    shown = [str(Path(each.path).resolve().relative_to(tmp_path)) for each in report.files]
    assert shown == ["a.tool.yaml", "secret/deep/b.tool.yaml"]


@needs_git
def test_a_damaged_index_is_a_note(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    write(tmp_path, {".gitignore": "a*\n", "a.tool.yaml": "", "b.md": ""})
    git(tmp_path, "add", "-f", ".")
    index = tmp_path / ".git/index"
    index.write_bytes(index.read_bytes()[:90])
    report = equipage.check([tmp_path], env={})
    assert [(each.code, each.severity) for each in report.diagnostics] == [
        ("index-damaged", "note")
    ]
    assert "cut off" in report.diagnostics[0].message
    index.write_bytes(b"nonsense")
    assert "does not start" in equipage.check([tmp_path], env={}).diagnostics[0].message


@given(st.binary(max_size=200), st.sampled_from([b"\x02", b"\x03", b"\x04"]))
def test_any_bytes_are_an_index_or_damaged(rest: bytes, version: bytes) -> None:
    try:
        _parsed(b"DIRC\0\0\0" + version + rest)
    except DamagedIndex as error:
        assert str(error)


def test_links_in_one_place_do_not_multiply(tmp_path: Path) -> None:
    """A hundred links to a folder of agents show it once, as one link would."""
    write(tmp_path, {f"big/a{number}.md": "" for number in range(50)})
    agents = tmp_path / ".claude/agents"
    for number in range(100):
        holder = agents / f"d{number}"
        holder.mkdir(parents=True)
        (agents / f"l{number}").symlink_to(tmp_path / "big")
        (holder / "link").symlink_to(tmp_path / "big")
    found = [each.path for each in walk(str(tmp_path), agent_folders())]
    assert len(found) == 100
    assert sum("/.claude/agents/" in each for each in found) == 50
