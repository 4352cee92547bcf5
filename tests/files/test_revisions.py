"""Revisions are read from git's objects: no checkout, no filter, no hook."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from equipage.files import git
from equipage.files.disk import Disk
from equipage.files.git import NoRevision, Revision, is_revision
from equipage.files.reading import Files
from equipage.files.sandbox import FileProblem
from equipage.files.walking import NO_WANTED_FILES, walk
from lab import Link, commit, write

from .test_wanted import Wanting


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
    revision = Revision("HEAD", ".", Disk())
    files = Files(revision)
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
        for each in walk(str(repository), {".claude"}, revision, NO_WANTED_FILES, all_files=True)
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
    revision = Revision("HEAD", ".", Disk())
    assert Files(revision).read("a.yaml").text == "a: 1\n"
    revision.close()
    assert not Path("pwned").exists()


@pytest.mark.parametrize("name", ["nope", "", "--help", "-x", "HEAD~9"])
def test_what_is_no_revision(repository: Path, name: str) -> None:
    with pytest.raises(NoRevision):
        Revision(name, ".", Disk())


def test_no_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    with pytest.raises(NoRevision, match="not a git repository"):
        Revision("HEAD", str(tmp_path), Disk())


def walked(revision: Revision, folder: Path, *agents: str) -> list[str]:
    found = walk(str(folder), set(agents), revision, NO_WANTED_FILES, all_files=True)
    return [os.path.relpath(each.path, folder) for each in found]


def test_a_name_that_looks_like_an_option_is_not_given_to_git(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")
    for name in ("", "-x", "--help"):
        with pytest.raises(NoRevision, match=f"^`{name}` is not a revision$"):
            Revision(name, ".", Disk())
    with pytest.raises(NoRevision, match=r"^git is not installed$"):
        Revision("HEAD", ".", Disk())


def test_a_pipe_in_the_place_of_a_file_of_git_is_waited_for_with_a_limit(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """git itself waits for ever."""
    monkeypatch.setattr("equipage.files.git._TIMEOUT_SECONDS", 0.5)
    (repository / ".git" / "HEAD").unlink()
    os.mkfifo(repository / ".git" / "HEAD")
    with pytest.raises(NoRevision, match=r"^git did not answer within 0.5 seconds$"):
        Revision("HEAD", str(repository), Disk())


def test_what_git_says_is_told_in_one_line(repository: Path) -> None:
    with pytest.raises(NoRevision, match=r"^there is no such revision$"):
        Revision("nope", ".", Disk())
    for folder in ("nowhere", os.fsdecode(b"no\xe9where")):
        with pytest.raises(NoRevision, match=r"^fatal: cannot change to '[^\n]*$"):
            Revision("HEAD", folder, Disk())


def test_names_with_any_letters_and_links_among_them(repository: Path) -> None:
    write(
        repository,
        {
            "t\tb.yaml": "t: 1\n",
            "l\nb.yaml": "l: 1\n",
            "deep/er/x.yaml": Link("../../a.yaml"),
            "deep/y.yaml": Link("er/x.yaml"),
            "loop.yaml": Link("loop.yaml"),
            "A.YAML": "A: 1\n",
            "a/0.yaml": "",
            "deep/z.txt": "",
        },
    )
    commit(repository)
    revision = Revision("HEAD", str(repository / "deep"), Disk())
    assert (revision.name, revision.top) == ("HEAD", str(repository))
    assert revision.peek(str(repository / "t\tb.yaml")) == b"t: 1\n"
    assert revision.peek(str(repository / "l\nb.yaml")) == b"l: 1\n"
    assert revision.peek(str(repository / "deep/y.yaml")) == b"a: 1\n"
    for name, there in (("deep/y.yaml", True), ("loop.yaml", False), ("lost.yaml", False)):
        assert revision.is_file(str(repository / name)) is there
    assert revision.peek(str(repository / "loop.yaml")) is None
    assert len(revision._entries) == 15
    assert walked(revision, repository / "deep") == ["y.yaml", "er/x.yaml"]
    assert walked(revision, repository)[:3] == ["A.YAML", "a.yaml", "l\nb.yaml"]
    assert walked(revision, repository)[-4:] == [
        "a/0.yaml",
        "deep/y.yaml",
        "deep/er/x.yaml",
        "sub/é b.yaml",
    ]
    for folder, there in (("deep", True), ("deep/er/", True), ("dee", False), ("a.yaml", False)):
        assert revision.is_folder(str(repository / folder)) is there
    assert not revision.is_folder(str(repository / "deep/er/x.yaml"))
    revision.close()
    revision.close()


@pytest.mark.parametrize("name", [b"blank ", b" a", b"line\n", b"tab\t", b"by\xe9te", "é".encode()])
def test_a_repository_may_have_any_name(tmp_path: Path, name: bytes) -> None:
    folder = Path(os.path.realpath(tmp_path)) / os.fsdecode(name)
    folder.mkdir()
    commit(write(folder, {"a.yaml": "a: 1\n", "sub/b.yaml": "b: 1\n"}))
    revision = Revision("HEAD", str(folder / "sub"), Disk())
    assert revision.top == str(folder)
    assert revision.peek(str(folder / "a.yaml")) == b"a: 1\n"
    assert walked(revision, folder) == ["a.yaml", "sub/b.yaml"]
    revision.close()


def test_a_submodule_is_not_a_file(repository: Path) -> None:
    commit(write(repository / "inner", {"x.yaml": "x: 1\n"}))
    commit(repository)
    revision = Revision("HEAD", ".", Disk())
    assert not revision.is_file(str(repository / "inner"))
    assert not revision.is_folder(str(repository / "inner"))
    revision.close()


def test_programs_are_known_by_their_mode(repository: Path) -> None:
    write(repository, {"run": "", "bin/to": Link("../run"), "bin/lost": Link("none"), "plain": ""})
    (repository / "run").chmod(0o755)
    commit(repository)
    revision = Revision("HEAD", ".", Disk())
    programs = [each for each in revision._entries if revision.is_executable(each)]
    assert [os.path.relpath(each, repository) for each in programs] == ["bin/to", "run"]
    assert not revision.is_executable(str(repository / "never"))
    revision.close()


def test_what_is_below_a_folder(repository: Path) -> None:
    write(repository, {"X/a": "", "X/b/c": "", "X0": "", "X.y": "", "Y": "", "z ": "", "z/1": ""})
    commit(repository)
    revision = Revision("HEAD", ".", Disk())
    files = Files(revision)
    for folder, names in (("X", ["a", "b/c"]), ("X/", ["a", "b/c"]), ("X/b", ["c"]), ("Y", [])):
        assert files.names_below(folder) == names
        assert files.names_below(str(repository / folder)) == names
        assert files.is_folder(folder) is bool(names)
    assert files.names_below("X", most=1) == ["a"]
    assert revision.is_folder(f"{repository}/X/")
    assert files.names_below(f"{repository}/X//") == ["a", "b/c"]
    assert not revision.is_folder(f"{repository}/z ")
    assert files.names_below(f"{repository}/z ") == []
    assert not revision.is_folder(f"{repository}/zz")  # behind the last name
    assert not revision.is_folder(f"{repository}/X/bX")
    assert walked(revision, Path(f"{repository}/z ")) == []
    revision.close()


def test_links_lead_as_far_as_on_the_disk(repository: Path, tmp_path_factory: Any) -> None:
    outside = tmp_path_factory.mktemp("outside")
    write(outside, {"a.md": "", "b/c.md": ""})
    agents = ".claude/agents"
    write(
        repository,
        {
            "shared/b/c.md": "c",
            "shared/a.md": "a",
            "shared/x.txt": "",
            f"{agents}/self": Link(".."),
            f"{agents}/shared": Link("../../shared"),
            f"{agents}/out": Link(str(outside)),
            f"{agents}/file.md": Link(f"{outside}/a.md"),
            f"{agents}/lost.md": Link("nowhere"),
            f"{agents}/lost": Link("nowhere"),
            ".defect/agents/out": Link(str(outside)),
            "X/plain": Link("../shared"),
        },
    )
    commit(repository)
    revision = Revision("HEAD", ".", Disk())
    assert revision.peek(str(repository / "X/plain/b/c.md")) == b"c"
    assert revision.is_folder(str(repository / "X/plain"))
    found = walk(str(repository), {".claude", ".defect"}, revision, NO_WANTED_FILES, all_files=True)
    shown = [(os.path.relpath(each.path, repository), each.outside) for each in found]
    assert [each for each in shown if "agents" in each[0] or "plain" in each[0]] == [
        (f"{agents}/file.md", True),
        (f"{agents}/lost", True),
        (f"{agents}/lost.md", False),
        (f"{agents}/out", True),
        (f"{agents}/shared/a.md", False),
        (f"{agents}/shared/b/c.md", False),
    ]
    assert all(not outside for path, outside in shown if "agents" not in path)
    revision.close()


@pytest.mark.parametrize(
    ("name", "folder", "expected"),
    [
        ("HEAD", ".", True),
        ("HEAD", "sub", True),
        ("nope", ".", False),
        ("", ".", False),
        ("-x", ".", False),
        ("HEAD", "/", False),
    ],
)
def test_names_of_revisions(repository: Path, name: str, folder: str, expected: bool) -> None:
    assert is_revision(name, folder) is expected


def test_files_without_an_extension_are_found_if_they_are_wanted(repository: Path) -> None:
    write(
        repository,
        {"X/Agentfile": "", "X/tool.py": "", "X/other.py": "", "X/node_modules/a.md": ""},
    )
    commit(repository)
    revision = Revision("HEAD", ".", Disk())
    for wanted, names in (
        (Wanting(known=("/Agentfile",)), ["Agentfile"]),
        (Wanting(claimed=("/tool.py",)), ["tool.py"]),
    ):
        found = walk(f"{repository}/X/", set(), revision, wanted, all_files=True)
        assert [os.path.relpath(each.path, repository / "X") for each in found] == names
    revision.close()


def test_a_folder_that_a_tool_reads_is_entered_whatever_its_name(repository: Path) -> None:
    write(repository, {".claude/agents/venv/a.md": "", ".claude/venv/b.md": "", "venv/c.md": ""})
    commit(repository)
    revision = Revision("HEAD", ".", Disk())
    wanted = Wanting(known=("/agents/venv/a.md",))
    found = walk(str(repository), {".claude"}, revision, wanted, all_files=True)
    names = [os.path.relpath(each.path, repository) for each in found]
    assert [each for each in names if "venv" in each] == [".claude/agents/venv/a.md"]
    below = walk(str(repository / ".claude"), {".claude"}, revision, wanted, all_files=True)
    names = [os.path.relpath(each.path, repository / ".claude") for each in below]
    assert names == ["d.md", "agents/venv/a.md"]
    revision.close()


def test_links_are_followed_ten_times_and_no_more(repository: Path) -> None:
    chain = {f"c{number}.yaml": Link(f"c{number + 1}.yaml") for number in range(10)}
    write(repository, {**chain, "c10.yaml": "end"})
    commit(repository)
    revision = Revision("HEAD", ".", Disk())
    assert revision.peek(str(repository / "c1.yaml")) == b"end"
    assert not revision.is_file(str(repository / "c0.yaml"))
    assert revision.peek(str(repository / "c0.yaml")) is None
    revision.close()


def test_hidden_folders_count_only_where_agents_live(repository: Path) -> None:
    write(
        repository,
        {
            ".claude/.x/a.md": "",
            ".x/.claude/b.md": "",
            ".x/c.md": "",
            "node_modules/d.md": "",
            "notes/e.md": "",
        },
    )
    commit(repository)
    revision = Revision("HEAD", ".", Disk())
    found = walked(revision, repository, ".claude")
    assert [each for each in found if each.endswith(".md")] == [
        ".claude/d.md",
        ".claude/.x/a.md",
        ".x/.claude/b.md",
        "notes/e.md",
    ]
    revision.close()


def test_an_object_that_is_missing_is_named(repository: Path) -> None:
    revision = Revision("HEAD", ".", Disk())
    number = revision._entries[str(repository / "a.yaml")][1]
    (repository / ".git/objects" / number[:2] / number[2:]).unlink()
    with pytest.raises(
        NoRevision, match=f"^the object {number} of `HEAD` is missing in this clone$"
    ):
        revision.peek(str(repository / "a.yaml"))
    assert revision.peek(str(repository / "e.txt")) == b"e"  # the process goes on
    revision.close()


def test_the_mark_of_a_repository_is_there_and_nothing_else_of_the_disk(repository: Path) -> None:
    write(repository, {"later.yaml": ""})
    revision = Revision("HEAD", ".", Disk())
    files = Files(revision)
    assert files.exists(str(repository / ".git"))
    assert files.exists(str(repository / "a.yaml"))
    assert not files.exists(str(repository / "later.yaml"))
    assert not files.exists(str(repository / "sub" / ".git"))
    revision.close()


def test_nothing_is_asked_of_a_terminal_or_a_network(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever the variables of the user say."""
    given: list[dict[str, str]] = []
    run, start = subprocess.run, subprocess.Popen

    def ran(*words: Any, **how: Any) -> Any:
        given.append(how["env"])
        return run(*words, **how)

    def started(*words: Any, **how: Any) -> Any:
        given.append(how["env"])
        return start(*words, **how)

    monkeypatch.setenv("GIT_ALLOW_PROTOCOL", "https")
    monkeypatch.setenv("OTHER", "kept")
    monkeypatch.setattr(subprocess, "run", ran)
    monkeypatch.setattr(subprocess, "Popen", started)
    revision = Revision("HEAD", ".", Disk())
    assert revision.peek(str(repository / "a.yaml")) == b"a: 1\n"
    revision.close()
    assert len(given) >= 4
    for env in given:
        assert (env["GIT_ALLOW_PROTOCOL"], env["GIT_NO_LAZY_FETCH"]) == ("none", "1")
        assert (env["GIT_TERMINAL_PROMPT"], env["OTHER"]) == ("0", "kept")


def test_a_large_object_is_refused_unread_and_the_next_one_is_its_own(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A few bytes of a repository can be gigabytes of a file."""
    monkeypatch.setattr(git, "_MAX_OBJECT_BYTES", 100)
    monkeypatch.setattr(git, "_MAX_TARGET_BYTES", 20)
    # An answer to the next question, if what is left unread were taken for one.
    forged = "0123456789 blob 3\nbad\n" * 10_000
    links = {"link-to-large.yaml": Link("large.yaml"), "long.yaml": Link("./" * 20 + "a.yaml")}
    commit(write(repository, {"large.yaml": forged, **links}))
    revision = Revision("HEAD", ".", Disk())
    files = Files(revision)
    with pytest.raises(FileProblem) as caught:
        files.read("large.yaml")
    assert caught.value.code == "file-too-large"
    assert caught.value.values["size"] == len(forged)
    assert revision.peek(str(repository / "large.yaml"), max_bytes=100) is None
    assert revision.is_file(str(repository / "large.yaml"))
    assert revision.is_file(str(repository / "link-to-large.yaml"))
    assert not revision.is_file(str(repository / "long.yaml"))
    assert files.read("a.yaml").text == "a: 1\n"
    revision.close()


def test_objects_are_read_up_to_a_size(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(git, "_MAX_OBJECT_BYTES", 5)
    write(repository, {"five": "12345", "sub/six": "123456"})
    commit(repository)
    revision = Revision("HEAD", ".", Disk())
    files = Files(revision)
    assert files.read("five").text == "12345"
    with pytest.raises(FileProblem) as raised:
        files.read("sub/six")
    assert raised.value.values == {"file": "sub/six", "size": 6, "limit": 5}
    monkeypatch.setattr(git, "_MAX_TARGET_BYTES", 5)
    assert not revision.is_file(str(repository / "link.yaml"))
    revision.close()


@pytest.mark.parametrize("said", ["1 blob 3\nab", "1 blob 3\nabc", "1 blob 3\n"])
def test_an_object_that_ends_early_is_no_object(repository: Path, said: str) -> None:
    revision = Revision("HEAD", ".", Disk())
    revision._process = subprocess.Popen(
        [sys.executable, "-c", f"import sys; input(); sys.stdout.write({said!r})"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    number = revision._entries[str(repository / "a.yaml")][1]
    words = f"^the object {number} of `HEAD` cannot be read to its end$"
    with pytest.raises(NoRevision, match=words):
        revision.peek(str(repository / "a.yaml"))
    assert revision.peek(str(repository / "a.yaml")) == b"a: 1\n"  # a new process answers
    revision.close()
