"""A repository whose configuration names programs: reading a revision runs none and fetches nothing."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from equipage.files.disk import Disk
from equipage.files.git import NoRevision, Revision
from lab import in_process

pytestmark = pytest.mark.skipif(
    subprocess.run(["git", "--version"], capture_output=True, check=False).returncode != 0,
    reason="git is not installed",
)

HOOKS = (
    "post-checkout",
    "post-index-change",
    "pre-commit",
    "post-commit",
    "reference-transaction",
    "fsmonitor-watchman",
    "post-rewrite",
    "pre-auto-gc",
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
        "core.editor": trap,
        "core.askPass": trap,
        "core.gitProxy": trap,
        "core.alternateRefsCommand": trap,
        "core.hooksPath": str(project / ".git" / "traps"),
        "diff.external": trap,
        "diff.evil.textconv": trap,
        "diff.evil.command": trap,
        "filter.evil.smudge": trap,
        "filter.evil.clean": trap,
        "filter.evil.process": trap,
        "filter.evil.required": "true",
        "merge.evil.driver": trap,
        "credential.helper": f"!{trap}",
        "gpg.program": trap,
        "log.showSignature": "true",
        "pager.rev-parse": trap,
        "pager.cat-file": trap,
        "alias.rev-parse": f"!{trap}",
        "alias.cat-file": f"!{trap}",
        "alias.ls-tree": f"!{trap}",
        "protocol.ext.allow": "always",
        "uploadpack.packObjectsHook": trap,
        "include.path": str(project / ".git" / "more"),
    }.items():
        git(project, "config", key, value)
    (project / ".git" / "more").write_text(f'[core]\n\tfsmonitor = "{trap}"\n\tpager = "{trap}"\n')
    (project / ".git" / "info").mkdir(exist_ok=True)
    (project / ".git" / "info" / "attributes").write_text("* filter=evil diff=evil merge=evil\n")
    for folder in (project / ".git" / "traps", project / ".git" / "hooks"):
        folder.mkdir(exist_ok=True)
        for name in HOOKS:
            hook = folder / name
            hook.write_text(f"#!/bin/sh\n{trap}\n")
            hook.chmod(0o755)
    monkeypatch.chdir(project)
    return project


def test_a_missing_object_is_missing_and_nothing_runs(hostile: Path) -> None:
    revision = Revision("HEAD~1", str(hostile), Disk())
    try:
        with pytest.raises(NoRevision, match="is missing in this clone"):
            revision.peek(str(hostile / ".claude/agents/a.md"))
        assert len(revision._entries) == 1
    finally:
        revision.close()
    assert not (hostile.parent / "PWNED").exists()


def test_the_command_ends_in_words(hostile: Path) -> None:
    code, _, err = in_process(["diff", "HEAD~1", "HEAD"])
    assert code in (1, 2)
    assert "Traceback" not in err
    assert not (hostile.parent / "PWNED").exists()


def test_git_itself_runs_them(hostile: Path) -> None:
    """The traps are real: without our precautions, the first look at the repository springs one."""
    subprocess.run(["git", "status"], cwd=hostile, capture_output=True, check=False)
    assert (hostile.parent / "PWNED").exists()


#: Every command that may look at a repository.
COMMANDS = (
    ["check"],
    ["check", "--isolated"],
    ["diff", "HEAD"],
    ["diff", "HEAD", "HEAD"],
    ["reach", "--since", "HEAD"],
    ["list"],
    ["lock"],
    ["verify"],
    ["init", "--dry-run"],
)


def test_no_command_runs_what_a_repository_names(hostile: Path) -> None:
    for command in COMMANDS:
        code, out, err = in_process(command)
        assert code in (0, 1, 2), command
        assert "Traceback" not in err
        assert "swordfish" not in out + err
        assert not (hostile.parent / "PWNED").exists(), command


def test_a_remote_that_is_a_program_is_not_asked(hostile: Path) -> None:
    """`ext::` runs a command, and a lazy fetch would use it."""
    trap = f"ext::sh -c touch% {hostile.parent / 'PWNED'}"
    git(hostile, "config", "remote.origin.url", trap)
    for revision in ("HEAD~1", "origin/main", "FETCH_HEAD", "@{upstream}", ":/two"):
        assert in_process(["diff", revision, "HEAD"]).code in (0, 1, 2)
    assert not (hostile.parent / "PWNED").exists()


@pytest.mark.parametrize(
    "name", ["--upload-pack=touch PWNED", "-c", "--output=PWNED", "--exec=touch PWNED", "--help"]
)
def test_a_revision_is_never_an_option(name: str, tmp_path: Path) -> None:
    with pytest.raises(NoRevision, match="is not a revision"):
        Revision(name, str(tmp_path), Disk())


def test_a_worktree_elsewhere_gives_no_file_of_that_place(
    hostile: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`core.worktree` moves the top; what is read are still the objects of the repository."""
    elsewhere = hostile.parent / "elsewhere" / ".claude" / "agents"
    elsewhere.mkdir(parents=True)
    (elsewhere / "a.md").write_text(AGENT.replace("name: a", "name: swordfish"))
    git(hostile, "config", "core.worktree", str(hostile.parent / "elsewhere"))
    for command in (["diff", "HEAD"], ["diff", "HEAD", "HEAD"], ["check"], ["list"]):
        code, out, err = in_process(command)
        assert code in (0, 1, 2)
        assert "swordfish" not in out + err


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_a_repository_of_another_user_is_refused_by_git_and_checked_without_it(
    hostile: Path,
) -> None:
    for path in (hostile, hostile / ".git"):
        os.chown(path, 12345, 12345)
    code, _, err = in_process(["diff", "HEAD", "HEAD"])
    assert code == 2
    assert "dubious ownership" in err
    assert in_process(["check"]).code in (0, 1)
    assert not (hostile.parent / "PWNED").exists()


@pytest.mark.parametrize(
    ("planted", "arguments"),
    [
        ("main/.claude/agents/a.md", ["main"]),
        ("main/.claude/agents/a.md", ["main", "."]),
        ("main", ["main", "."]),
        ("main:.claude/agents/a.md", ["main:.claude", ".claude"]),
        ("HEAD~1/.claude/agents/a.md", ["HEAD~1"]),
        ("HEAD/.claude/agents/a.md", ["./.claude/agents/a.md"]),
    ],
)
def test_no_file_of_a_change_passes_for_the_revision_it_is_compared_with(
    planted: str, arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    git(tmp_path, "init", "-q", "-b", "main")
    agent = tmp_path / ".claude" / "agents" / "a.md"
    agent.parent.mkdir(parents=True)
    agent.write_text(AGENT.replace("---\nbody", "tools: Read\n---\nbody"))
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-qm", "one")
    git(tmp_path, "checkout", "-qb", "change")
    agent.write_text(AGENT)
    (tmp_path / planted).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / planted).write_text(AGENT)
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-qm", "two")
    code, _, err = in_process(["diff", *arguments, "--fail-on", "widened"])
    assert code == 2
    assert "is a file and a revision" in err
    exact = [each.replace("main", "main^0").replace("HEAD~1", "HEAD~1^0") for each in arguments]
    if exact != arguments:
        assert in_process(["diff", *exact, "--fail-on", "widened"]).code == 1
