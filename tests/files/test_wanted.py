"""What a walk tells its caller: files by their names, folders it enters, what leads outside."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from equipage.files import System, walking
from equipage.files.disk import Disk
from equipage.files.walking import EnteredFolder, WalkResult, is_ignored, is_worth_a_look, walk
from lab import write

from .indexes import an_index

AGENTS = (".claude", ".github")


def make(folder: Path, *names: str) -> None:
    write(folder, dict.fromkeys(names, ""))


class Wanting:
    """Wants files by the ends of their paths."""

    def __init__(self, known: tuple[str, ...] = (), claimed: tuple[str, ...] = ()) -> None:
        self.known, self.claimed = known, claimed
        self.asked: list[str] = []

    def names_in(self, folder: str) -> walking.Names:
        assert folder.endswith("/")
        self.asked.append(folder)
        names = {each.rpartition("/")[2] for each in (*self.known, *self.claimed)}
        return frozenset(each for each in names if each != "tool.py"), ("l.py",)

    def is_known(self, path: str) -> bool:
        return path.endswith(self.known) if self.known else False

    def is_claimed(self, path: str) -> bool:
        return path.endswith(self.claimed) if self.claimed else False

    def is_place(self, folder: str) -> bool:
        return "/.claude/agents/" in folder


def found(folder: Path, wanted: Wanting | None = None, **options: bool) -> list[str]:
    walked = walk(str(folder), AGENTS, Disk(), wanted or walking.NO_WANTED_FILES, **options)
    return [os.path.relpath(each.path, folder) for each in walked]


# --- what is wanted ------------------------------------------------------------------------------


def test_files_without_an_extension_are_found_if_they_are_wanted(tmp_path: Path) -> None:
    make(tmp_path, "Agentfile", "sub/Agentfile", "tool.py", "other.py", "a.YAML")
    assert found(tmp_path) == ["a.YAML"]
    assert found(tmp_path, Wanting(known=("/Agentfile",))) == [
        "Agentfile",
        "a.YAML",
        "sub/Agentfile",
    ]
    assert found(tmp_path, Wanting(claimed=("/tool.py",))) == ["a.YAML", "tool.py"]
    assert found(tmp_path, Wanting(known=("sub/Agentfile",))) == ["a.YAML", "sub/Agentfile"]


def test_files_are_wanted_by_ends_with_and_without_a_dot(tmp_path: Path) -> None:
    class ByEnds(Wanting):
        def names_in(self, folder: str) -> walking.Names:
            return frozenset(), self.known

    make(tmp_path, "my-rules", "my.x-rules", "my-rules.x", "a.yaml", "X.RULES")
    assert found(tmp_path, ByEnds(("-rules",))) == ["a.yaml", "my-rules", "my.x-rules"]
    assert found(tmp_path, ByEnds((".x", "-rules"))) == [
        "a.yaml", "my-rules", "my-rules.x", "my.x-rules",
    ]  # fmt: skip
    assert found(tmp_path, ByEnds((".x",))) == ["a.yaml", "my-rules.x"]


def test_each_folder_is_asked_about_once(tmp_path: Path) -> None:
    make(tmp_path, "a/b/c.yaml", "d/e.yaml")
    wanting = Wanting()
    found(tmp_path, wanting)
    assert wanting.asked == [f"{tmp_path}/", f"{tmp_path}/a/", f"{tmp_path}/a/b/", f"{tmp_path}/d/"]


def test_in_hidden_folders_of_no_tool_only_known_names_count(tmp_path: Path) -> None:
    make(tmp_path, ".other/a.yaml", ".other/b.yaml", ".other/sub/b.yaml", ".other/.claude/c.yaml")
    make(tmp_path, ".claude/.hidden/d.yaml")
    assert found(tmp_path) == [".claude/.hidden/d.yaml", ".other/.claude/c.yaml"]
    wanting = Wanting(known=("/b.yaml",))
    assert found(tmp_path, wanting) == [
        ".claude/.hidden/d.yaml",
        ".other/b.yaml",
        ".other/.claude/c.yaml",
        ".other/sub/b.yaml",
    ]


def test_a_pipe_is_found_where_an_agent_must_be(tmp_path: Path) -> None:
    for name in ("a", "sub", ".claude/agents"):
        (tmp_path / name).mkdir(parents=True)
    for name in ("p.md", "known.md", "sub/p.md", ".claude/p.md", ".claude/agents/p.md"):
        os.mkfifo(tmp_path / name)
    inside = [".claude/p.md", ".claude/agents/p.md"]
    assert found(tmp_path) == inside
    assert found(tmp_path, Wanting(known=("/known.md",))) == ["known.md", *inside]


def test_a_folder_in_the_place_of_a_file_is_found_and_entered(tmp_path: Path) -> None:
    make(tmp_path, "known.md/a.yaml", "other.md/b.yaml", "node_modules/c.yaml")
    wanting = Wanting(known=("/known.md", "/node_modules"))
    assert found(tmp_path, wanting) == ["known.md", "known.md/a.yaml", "other.md/b.yaml"]


def test_a_path_alone_says_whether_a_walk_takes_a_file(tmp_path: Path) -> None:
    steps = ("", "src/", ".hidden/", ".claude/", ".claude/agents/", "venv/", ".git/")
    names = ("a.yaml", "known.md", "tool.txt", "x.txt")
    files = [f"{one}{two}{name}" for one in steps for two in steps for name in names]
    wanting = Wanting(known=("/known.md",), claimed=("/tool.txt",))
    for root in ("plain", ".idea/plain", ".claude/plain"):
        folder = tmp_path / root
        make(folder, *files)
        starts = f"{folder}/"
        taken = {each for each in files if is_worth_a_look(starts + each, starts, AGENTS, wanting)}
        assert taken == {*found(folder, wanting)}
        assert (".hidden/a.yaml" in taken) is (root == ".claude/plain")


def test_no_name_of_a_folder_hides_what_a_tool_reads_there(tmp_path: Path) -> None:
    make(tmp_path, *(f"{each}/venv/a.md" for each in (".claude/agents", ".claude/skills", "src")))
    make(tmp_path, ".claude/agents/.git/a.md", ".claude/agents/.svn/b.md", "agents/.cache/a.md")
    wanting = Wanting(known=("/a.md", "/b.md"))
    assert found(tmp_path, wanting) == [".claude/agents/.svn/b.md", ".claude/agents/venv/a.md"]
    assert found(tmp_path) == []


def test_the_caller_hears_of_every_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(tmp_path, "a/b.yaml", "locked/c.yaml", ".claude/x.txt", "node_modules/d")
    (tmp_path / ".claude" / "link").symlink_to("../a")
    real = os.scandir

    def scandir(path: str) -> object:
        if os.path.basename(path) == "locked":
            raise PermissionError(13, "Permission denied", path)
        return real(path)

    monkeypatch.setattr(os, "scandir", scandir)
    heard: list[EnteredFolder] = []
    list(walk(str(tmp_path), AGENTS, Disk(), entered=heard.append))
    start = f"{tmp_path}/"
    assert heard == [
        EnteredFolder(start, [".claude", "a", "locked", "node_modules"], is_plain=False),
        EnteredFolder(f"{start}.claude/", ["link", "x.txt"], is_plain=True),
        EnteredFolder(f"{start}a/", ["b.yaml"], is_plain=True),
        EnteredFolder(f"{start}locked/", None, is_plain=True),
        EnteredFolder(f"{start}.claude/link/", ["b.yaml"], is_plain=False),
    ]


def test_a_folder_that_went_away_is_no_problem(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(tmp_path, "gone/a.yaml", "file/b.yaml", "strange/c.yaml")
    real = os.scandir
    raised = {
        "gone": FileNotFoundError(2, "No such file or directory"),
        "file": NotADirectoryError(20, "Not a directory"),
        "strange": OSError("without a number"),
    }

    def scandir(path: str) -> object:
        if os.path.basename(path) in raised:
            raise raised[os.path.basename(path)]
        return real(path)

    monkeypatch.setattr(os, "scandir", scandir)
    assert list(walk(str(tmp_path), AGENTS, Disk())) == [
        WalkResult(f"{tmp_path}/strange", problem="without a number")
    ]


def test_paths_are_as_the_caller_began_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(tmp_path, "project/sub/a.yaml")
    monkeypatch.chdir(tmp_path)
    assert list(walk("project", AGENTS, Disk())) == [WalkResult("project/sub/a.yaml")]
    wanting = Wanting(known=("/a.yaml",))
    list(walk("project", AGENTS, Disk(), wanting))
    assert wanting.asked[0] == f"{os.path.realpath(tmp_path)}/project/"


# --- what leads outside --------------------------------------------------------------------------


def outside(folder: Path) -> dict[str, bool]:
    walked = walk(str(folder), AGENTS, Disk())
    return {os.path.relpath(each.path, folder): each.outside for each in walked}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    make(tmp_path, "secret/s.md", "project-2/t.md", "project/.git/HEAD", "project/a.md")
    (tmp_path / "project" / ".claude").mkdir()
    return tmp_path / "project"


def test_a_file_behind_a_link_is_marked_if_it_lies_outside(project: Path) -> None:
    (project / "in.md").symlink_to("a.md")
    (project / "out.md").symlink_to("../secret/s.md")
    (project / "beside.md").symlink_to("../project-2/t.md")
    (project / "nowhere.md").symlink_to("../secret/no")
    assert outside(project) == {
        "a.md": False,
        "beside.md": True,
        "in.md": False,
        "nowhere.md": False,
        "out.md": True,
    }


def test_inside_is_the_repository_and_what_the_caller_named(project: Path) -> None:
    make(project, "sub/.claude/b.md")
    (project / "sub" / "up.md").symlink_to("../a.md")
    (project / "sub" / ".claude" / "up").symlink_to("../../.claude")
    make(project, ".claude/c.md")
    assert outside(project / "sub") == {
        ".claude/b.md": False,
        "up.md": False,
        ".claude/up/c.md": False,
    }
    # Without a repository, the folder that the caller named is the project.
    (project / ".git" / "HEAD").unlink()
    (project / ".git").rmdir()
    assert outside(project / "sub") == {".claude/b.md": False, ".claude/up": True, "up.md": True}


def test_a_project_that_is_itself_a_link_is_inside(project: Path, tmp_path: Path) -> None:
    make(tmp_path, "real/.claude/b.md", "real/c.md")
    (project / "linked").symlink_to("../real")
    (tmp_path / "real" / "link.md").symlink_to("c.md")
    (tmp_path / "real" / ".claude" / "self").symlink_to("../../real")
    assert outside(project / "linked") == {".claude/b.md": False, "c.md": False, "link.md": False}


def test_a_folder_outside_is_told_only_where_agents_live(project: Path) -> None:
    (project / ".claude" / "agents").symlink_to("../../secret")
    (project / "plain").symlink_to("../secret")
    (project / ".claude" / "beside").symlink_to("../../project-2")
    assert outside(project) == {".claude/agents": True, ".claude/beside": True, "a.md": False}


def test_profiles_have_findings_of_their_own(project: Path) -> None:
    (project / ".defect").mkdir()
    (project / ".defect" / "layer").symlink_to("../../secret")
    walked = walk(str(project), (".defect",), Disk())
    assert [os.path.relpath(each.path, project) for each in walked] == ["a.md"]


def test_of_two_links_in_one_place_to_one_folder_the_first_is_followed(project: Path) -> None:
    make(project, "shared/x.md", ".claude/agents/y.md", ".claude/agents/deep/z.md")
    make(project, ".github/agents/y.md")
    for link in (".claude/agents/one", ".claude/agents/two", ".github/agents/three"):
        (project / link).symlink_to("../../shared")
    (project / ".claude" / "agents" / "deep" / "one").symlink_to("../../../shared")
    (project / ".claude" / "skills").symlink_to("../shared")
    assert [each for each in outside(project) if each.endswith("x.md")] == [
        "shared/x.md",
        ".claude/skills/x.md",
        ".claude/agents/one/x.md",
        ".github/agents/three/x.md",
    ]


def test_links_of_profiles_are_profiles_of_their_own(project: Path) -> None:
    make(project, "shared/x.md", ".defect/y.md", ".defect/all/z.md")
    for link in (".defect/all/one", ".defect/all/two"):
        (project / link).symlink_to("../../shared")
    walked = [
        os.path.relpath(each.path, project) for each in walk(str(project), (".defect",), Disk())
    ]
    assert walked == [
        "a.md",
        ".defect/y.md",
        ".defect/all/z.md",
        "shared/x.md",
        ".defect/all/one/x.md",
        ".defect/all/two/x.md",
    ]


# --- what is ignored -----------------------------------------------------------------------------


def test_with_all_files_nothing_is_ignored(project: Path) -> None:
    write(project, {".gitignore": "*.md\nsub/\n", "sub/b.yaml": "", "sub/.gitignore": "*"})
    assert found(project) == []
    assert found(project, all_files=True) == ["a.md", "sub/b.yaml"]
    assert found(project / "sub", all_files=True) == ["b.yaml"]


def test_whether_one_file_is_ignored(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(project, {".gitignore": "*.md\nsub/\n!/keep.md\n", "sub/x.yaml": "", "keep.md": ""})
    write(project, {".git/info/exclude": "private.yaml\n", "private.yaml": "", "b/.gitignore": "c"})
    ignored = {"a.md": True, "keep.md": False, "sub": True, "private.yaml": True, "b/c": True}
    ignored |= {"b": False, "b/keep.md": True, "sub/x.yaml": False}
    known: dict[str, object] = {}
    for name, is_so in ignored.items():
        assert is_ignored(str(project / name), Disk()) is is_so, name
        if name != "sub":
            assert is_ignored(str(project / name), Disk(), known) is is_so, name
    assert set(known) == {str(project), str(project / "b"), str(project / "sub")}
    monkeypatch.chdir(project)
    assert is_ignored("a.md", Disk())
    # What is known is not looked at again.
    (project / ".gitignore").unlink()
    assert is_ignored(str(project / "a.md"), Disk(), known)
    assert not is_ignored(str(project / "a.md"), Disk())


def test_a_link_to_a_folder_is_no_folder_for_git(project: Path) -> None:
    write(project, {".gitignore": "folder/\n", ".claude/b.md": "", "real/c.md": ""})
    (project / "folder").symlink_to("real")
    assert not is_ignored(str(project / "folder"), Disk())
    (project / "folder").unlink()
    (project / "folder").mkdir()
    assert is_ignored(str(project / "folder"), Disk())


def track(repository: Path, *names: str) -> None:
    """Let the index of a repository name these files."""
    (repository / ".git").mkdir(exist_ok=True)
    (repository / ".git" / "index").write_bytes(an_index(2, [(name, 8) for name in names]))


def test_what_a_repository_tracks_is_found_though_ignored(project: Path) -> None:
    write(project, {".gitignore": "*.md\nsub/\n", "b.md": "", "other/a.md": ""})
    make(project, "sub/x.yaml", "sub/y.yaml", "sub/deep/z.yaml", "sub/none/x.yaml", "sub.yaml")
    track(project, "a.md", "sub/deep/z.yaml", "sub/x.yaml")
    assert found(project) == ["a.md", "sub.yaml", "sub/x.yaml", "sub/deep/z.yaml"]
    assert found(project / "sub") == ["x.yaml", "y.yaml", "deep/z.yaml", "none/x.yaml"]
    ignored = {"a.md": False, "b.md": True, "other/a.md": True, "sub": False, "other": False}
    assert {each: is_ignored(str(project / each), Disk()) for each in ignored} == ignored
    track(project, "subway/x.yaml")
    assert found(project) == ["sub.yaml"]


def test_a_repository_inside_another_tracks_its_own_files(project: Path) -> None:
    write(project, {".gitignore": "*.md\n", "inner/.gitignore": "*.md\n", "inner/sub/a.md": ""})
    make(project, "inner/b.md", "inner/a.md")
    track(project, "a.md", "inner/b.md")
    track(project / "inner", "sub/a.md")
    assert found(project) == ["a.md", "inner/sub/a.md"]


def test_the_index_is_read_once_and_only_if_something_is_ignored(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def tracked_in(root: str, _system: System) -> None:
        asked.append(root)

    monkeypatch.setattr(walking, "read_tracked_files", tracked_in)
    make(project, "b.md", "sub/c.md")
    assert found(project) == ["a.md", "b.md", "sub/c.md"]
    assert asked == []
    write(project, {".gitignore": "*.md\n"})
    assert found(project) == []
    assert asked == [f"{project}/"]


def test_a_walk_that_begins_where_agents_live(project: Path) -> None:
    make(project, ".claude/agents/.hidden/b.yaml", "shared/c.md")
    os.mkfifo(project / ".claude" / "agents" / "p.md")
    (project / ".claude" / "agents" / "link").symlink_to("../../shared")
    assert found(project / ".claude" / "agents") == ["p.md", ".hidden/b.yaml", "link/c.md"]


def test_what_comes_after_a_pipe_is_found(project: Path) -> None:
    os.mkfifo(project / "0.md")
    assert found(project) == ["a.md"]


def test_without_a_repository_nothing_above_counts(tmp_path: Path) -> None:
    write(tmp_path, {".gitignore": "*.md\n", "sub/a.md": ""})
    assert found(tmp_path / "sub") == ["a.md"]
    assert not is_ignored(str(tmp_path / "sub" / "a.md"), Disk())


def test_an_index_that_is_damaged_is_told_at_the_end(project: Path) -> None:
    write(
        project, {".gitignore": "*.md\n", ".git/index": b"DIRC" + b"\0\0\0\x02" * 2, "b.yaml": ""}
    )
    *files, last = walk(str(project), AGENTS, Disk())
    assert [os.path.basename(each.path) for each in files] == ["b.yaml"]
    assert (last.path, last.is_index, last.outside) == (f"{project}/", True, False)
    assert last.problem == "an entry is cut off or has no end"


def test_patterns_that_are_not_text_ignore_names_that_are_not_text(project: Path) -> None:
    write(project, {".gitignore": b"\xff.md\nb.md\n", "b.md": ""})
    for name in (b"\xff.md", b"\xfe.md"):
        with open(os.path.join(os.fsencode(project), name), "wb"):
            pass
    assert [os.fsencode(each) for each in found(project)] == [b"a.md", b"\xfe.md"]
