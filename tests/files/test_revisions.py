"""Revisions are read from git's objects: no checkout, no filter, no hook."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from equipage.files.git import NoRevision, Revision
from equipage.files.sandbox import FileProblem
from equipage.files.walking import NOTHING
from lab import Link, commit, write


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.chdir(tmp_path)
    files = {
        "a.yaml": "a: 1\n",
        "sub/é b.yaml": "b: 1\n",
        ".hidden/c.yaml": "c: 1\n",
        ".claude/d.md": "d",
        "e.txt": "e",
        "link.yaml": Link("sub/é b.yaml"),
        "lost.yaml": Link("nowhere"),
    }
    commit(write(tmp_path, files))
    return Path(os.path.realpath(tmp_path))


def test_files_as_they_were(repository: Path) -> None:
    Path("a.yaml").write_text("a: 2\n")
    Path("sub/é b.yaml").unlink()
    revision = Revision("HEAD", ".")
    files = revision.files()
    assert files.read("a.yaml").text == "a: 1\n"
    assert files.read("sub/é b.yaml").text == "b: 1\n"
    assert files.read("link.yaml").text == "b: 1\n"
    for missing in ("lost.yaml", "never.yaml"):
        with pytest.raises(FileProblem):
            files.read(missing)
    assert revision.is_folder(str(repository / "sub"))
    assert not revision.is_folder(str(repository / "a.yaml"))

    walked = [
        os.path.relpath(each.path, repository)
        for each in revision.walk(str(repository), {".claude"}, NOTHING)
    ]
    assert walked == ["a.yaml", "link.yaml", "lost.yaml", ".claude/d.md", "sub/é b.yaml"]
    revision.close()
    status = subprocess.run(
        ["git", "status", "--porcelain"], capture_output=True, text=True, check=True
    ).stdout
    assert status.splitlines() == [" M a.yaml", ' D "sub/\\303\\251 b.yaml"']


def test_no_program_of_the_repository_is_run(repository: Path) -> None:
    Path(".gitattributes").write_text("*.yaml filter=evil diff=evil\n")
    for name in ("filter.evil.smudge", "diff.evil.textconv", "core.fsmonitor", "core.pager"):
        subprocess.run(["git", "config", name, f"touch {repository}/pwned;cat"], check=True)
    revision = Revision("HEAD", ".")
    assert revision.files().read("a.yaml").text == "a: 1\n"
    revision.close()
    assert not Path("pwned").exists()


@pytest.mark.parametrize("name", ["nope", "", "--help", "-x", "HEAD~9"])
def test_what_is_no_revision(repository: Path, name: str) -> None:
    with pytest.raises(NoRevision):
        Revision(name, ".")


def test_no_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    with pytest.raises(NoRevision, match="not a git repository"):
        Revision("HEAD", str(tmp_path))
