"""A repository whose configuration names programs: reading a revision runs none and fetches nothing."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from equipage.files.git import NoRevision, Revision
from lab import in_process

pytestmark = pytest.mark.skipif(
    subprocess.run(["git", "--version"], capture_output=True, check=False).returncode != 0,
    reason="git is not installed",
)

AGENT = "---\nname: a\ndescription: d\n---\nbody\n"


def git(folder: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    done = subprocess.run(
        ["git", *identity, *arguments], cwd=folder, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


@pytest.fixture
def hostile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A partial clone in which one blob is missing, with a command for every occasion to run one."""
    project = tmp_path / "project"
    agent = project / ".claude" / "agents" / "a.md"
    agent.parent.mkdir(parents=True)
    git(tmp_path, "init", "-q", "project")
    agent.write_text(AGENT)
    git(project, "add", "-A")
    git(project, "commit", "-qm", "one")
    agent.write_text(AGENT.replace("d\n", "other\n"))
    git(project, "commit", "-qam", "two")
    blob = git(project, "rev-parse", "HEAD~1:.claude/agents/a.md")
    (project / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    trap = f"touch {tmp_path / 'PWNED'}; false"
    for key, value in {
        "extensions.partialClone": "origin",
        "core.repositoryformatversion": "1",
        "remote.origin.url": str(tmp_path / "nowhere"),
        "remote.origin.promisor": "true",
        "remote.origin.uploadpack": trap,
        "core.sshCommand": trap,
        "core.fsmonitor": trap,
        "core.pager": trap,
        "diff.external": trap,
    }.items():
        git(project, "config", key, value)
    monkeypatch.chdir(project)
    return project


def test_a_missing_object_is_missing_and_nothing_runs(hostile: Path) -> None:
    revision = Revision("HEAD~1", str(hostile))
    try:
        with pytest.raises(NoRevision, match="is missing in this clone"):
            revision[str(hostile / ".claude/agents/a.md")]
        assert len(revision) == 1
    finally:
        revision.close()
    assert not (hostile.parent / "PWNED").exists()


def test_the_command_ends_in_words(hostile: Path) -> None:
    code, _, err = in_process(["diff", "HEAD~1", "HEAD"])
    assert code in (1, 2)
    assert "Traceback" not in err
    assert not (hostile.parent / "PWNED").exists()
