"""The walk finds what git would not ignore, in a fixed order, and always ends."""

from __future__ import annotations

import os
import random
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from clock import promised
from equipage.files.disk import Disk
from equipage.files.gitignore import Ignores, Patterns, parse_ignores
from equipage.files.walking import walk, walk_files
from equipage.project.registry import agent_folders
from lab import write

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")

AGENTS = agent_folders()


def make(folder: Path, *names: str) -> None:
    write(folder, dict.fromkeys(names, ""))


def found(folder: Path) -> list[str]:
    return [
        os.path.relpath(each, folder).replace(os.sep, "/")
        for each in walk_files(str(folder), AGENTS, Disk())
    ]


def is_ignored(patterns: str, path: str, *, is_folder: bool = False) -> bool:
    return bool(parse_ignores(patterns).decide(path, path.rpartition("/")[2], is_folder=is_folder))


# --- patterns ------------------------------------------------------------------------------------

PATTERNS = [
    pytest.param("a.yaml", "a.yaml", True, id="a name"),
    pytest.param("a.yaml", "d/a.yaml", True, id="a name anywhere below"),
    pytest.param("/a.yaml", "d/a.yaml", False, id="a leading slash anchors"),
    pytest.param("/a.yaml", "a.yaml", True, id="to the folder of the file"),
    pytest.param("d/a.yaml", "e/d/a.yaml", False, id="so does a slash in the middle"),
    pytest.param("d/a.yaml", "d/a.yaml", True, id="which matches from there"),
    pytest.param("a/", "a", False, id="a trailing slash wants a folder"),
    pytest.param("*.yaml", "d/e/x.yaml", True, id="a star in a name"),
    pytest.param("*.yaml", ".yaml", True, id="a star matches nothing, too, and a leading dot"),
    pytest.param("d/*x", "d/e/x", False, id="a star stays inside a step"),
    pytest.param("d/*x", "d/yx", True, id="and takes what is there"),
    pytest.param("?.yaml", "a.yaml", True, id="a question mark is one character"),
    pytest.param("d?e", "d/e", False, id="but no slash"),
    pytest.param("**/b", "b", True, id="two stars are no folder"),
    pytest.param("**/b", "a/c/b", True, id="or many"),
    pytest.param("**/b/c", "x/b/c", True, id="also before several steps"),
    pytest.param("a/**", "a/b/c", True, id="everything inside"),
    pytest.param("a/**", "a", False, id="but not the folder itself"),
    pytest.param("a/**/b", "a/b", True, id="two stars in the middle may be nothing"),
    pytest.param("a/**/b", "a/x/y/b", True, id="or a long way"),
    pytest.param("a/**/b", "ab", False, id="but never part of a step"),
    pytest.param("a**b", "axxb", True, id="elsewhere two stars are one"),
    pytest.param("d/a**b", "d/ax/yb", False, id="which stays inside a step"),
    pytest.param("**", "a/b", True, id="two stars alone are everything"),
    pytest.param("**/*.md", "a/b.md", True, id="stars of both sorts"),
    pytest.param("a/**/b/**/c", "a/b/x/b/y/c", True, id="many ways to match"),
    pytest.param("*a*b*c", "xaxbxc", True, id="many stars"),
    pytest.param("*a*b*c", "xaxcxb", False, id="in order"),
    pytest.param("[ab].md", "a.md", True, id="a set"),
    pytest.param("[a-c].md", "b.md", True, id="a range"),
    pytest.param("[!a-c].md", "b.md", False, id="not in a range"),
    pytest.param("[^a-c].md", "d.md", True, id="not, with the other sign"),
    pytest.param("[]].md", "].md", True, id="a bracket as the first member"),
    pytest.param("[a-].md", "-.md", True, id="a dash as the last"),
    pytest.param("[c-a].md", "b.md", False, id="a range the wrong way round"),
    pytest.param("[[:digit:]x].md", "5.md", True, id="a named class"),
    pytest.param("[[:nope:]].md", "n.md", False, id="a class that does not exist"),
    pytest.param("[\\]].md", "].md", True, id="an escape in a set"),
    pytest.param("d[/]e", "d/e", False, id="a set never matches a slash"),
    pytest.param("[ab", "[ab", False, id="a set that is never closed matches nothing"),
    pytest.param("a\\", "a\\", False, id="nor does a backslash at the end"),
    pytest.param("\\*", "*", True, id="an escaped star"),
    pytest.param("\\*", "x", False, id="is only a star"),
    pytest.param("\\#a", "#a", True, id="an escaped hash"),
    pytest.param("#a", "#a", False, id="a comment"),
    pytest.param("\\!a", "!a", True, id="an escaped exclamation mark"),
    pytest.param("a  ", "a", True, id="spaces at the end do not count"),
    pytest.param("a\\ ", "a ", True, id="unless escaped"),
    pytest.param("a b", "a b", True, id="spaces inside do"),
    pytest.param(" a", "a", False, id="and those at the start"),
    pytest.param("a\t", "a", False, id="a tab is no space"),
    pytest.param("a\r\n", "a", True, id="CRLF ends a line"),
    pytest.param("\ufeffa", "a", True, id="a byte order mark is skipped"),
    pytest.param("*\n!a", "a", False, id="a later pattern brings it back"),
    pytest.param("!a\n*", "a", True, id="an earlier one does not"),
    pytest.param("/", "a", False, id="a lone slash is nothing"),
    pytest.param("!", "a", False, id="a lone exclamation mark, too"),
    pytest.param("a//", "a", False, id="two slashes never match"),
    pytest.param("//a", "a", False, id="wherever they stand"),
    pytest.param("a//", "a/b", False, id="not even in a folder"),
    pytest.param("x**/**", "x", False, id="stars after a letter are not whole steps"),
    pytest.param("[z-a]", "z", True, id="a range backwards is its first character"),
    pytest.param("[z-a]", "a", False, id="and not its last"),
    pytest.param("[z-am]", "m", True, id="and what follows it"),
    pytest.param("[!z-a]", "z", False, id="all but the first character"),
    pytest.param("[!z-a]", "a", True, id="so the last one matches"),
    pytest.param(".*", ".a", True, id="a dot is a dot"),
    pytest.param("a.b", "axb", False, id="and only that"),
    pytest.param("(a|b)+", "a", False, id="regular expressions mean nothing"),
    pytest.param("é?", "éx", True, id="letters beyond ASCII"),
]


@pytest.mark.parametrize(("patterns", "path", "ignored"), PATTERNS)
def test_patterns(patterns: str, path: str, ignored: bool) -> None:
    assert is_ignored(patterns, path) is ignored


def git_ignores(folder: Path, patterns: str, paths: list[str]) -> set[str]:
    """What git itself says; only the patterns of the folder count."""
    if not (folder / ".git").exists():
        subprocess.run(["git", "init", "-q", str(folder)], check=True)
    (folder / ".gitignore").write_bytes(patterns.encode())
    command = [
        "git",
        "-c",
        "core.excludesFile=/dev/null",
        "check-ignore",
        "--no-index",
        "-z",
        "--stdin",
    ]
    given_paths = "\0".join(paths).encode()
    done = subprocess.run(command, cwd=folder, input=given_paths, capture_output=True, check=False)
    return set(done.stdout.decode().split("\0")) - {""}


#: Two stars behind other text, which older versions of git take for whole steps, too.
STARS_BEHIND_TEXT = re.compile(r"[^/*\n]\*\*+(?:/|$)", re.MULTILINE)


@pytest.fixture(scope="module")
def older_git(tmp_path_factory: pytest.TempPathFactory) -> bool:
    return bool(git_ignores(tmp_path_factory.mktemp("git"), "x**/**", ["x"]))


@needs_git
@pytest.mark.parametrize(("patterns", "path", "ignored"), PATTERNS)
def test_git_agrees(
    tmp_path: Path, patterns: str, path: str, ignored: bool, older_git: bool
) -> None:
    if older_git and STARS_BEHIND_TEXT.search(patterns):
        ignored = True
    assert (path in git_ignores(tmp_path, patterns, [path])) is ignored


#: Parts of patterns, also broken ones. Beyond ASCII, git compares bytes and we do not.
PIECES = [
    "a", "b", "c", "ab", "x", "*", "**", "?", "/", "/", "[ab]", "[!a]", "[^b-c]", "[c-a]",
    "[[:alpha:]]", "[![:digit:]b]", "[]a]", "[a-]", "[\\]a]", "[[:nope:]a]", "!", "\\", ".", "-",
    "#", "[", "]", "\\a", "\\*", "**/", "/**", "/**/", "a**", "x**", "*a", "{a,b}", "é", " ", "\t",
    "\r", "\\ ",
]  # fmt: skip
#: What every pattern is asked about; a folder ends with a slash.
ENTRIES = [
    "a", "b", "c", "ab", "x", "xa", "-", "]", "#a", "!a", "a b", "1", ".a", "d/", "d/a", "d/b",
    "d/ab", "d/e/", "d/e/a", "d/e/b", "a1/", "a1/a", "a1/b/", "a1/b/a", "ac/", "ac/ac/", "ac/ac/b",
]  # fmt: skip


@needs_git
@pytest.mark.parametrize("seed", range(10))
def test_git_agrees_on_anything(tmp_path: Path, seed: int, older_git: bool) -> None:
    """Files of random lines, each in a folder of its own, and one question to git."""
    chance = random.Random(seed)
    given: dict[str, str] = {}
    for number in range(40):
        lines = ["".join(chance.choices(PIECES, k=chance.randint(1, 5))) for _ in range(3)]
        if older_git:
            lines = [each for each in lines if not STARS_BEHIND_TEXT.search(each)]
        given[f"p{number}"] = "\n".join(lines)
        folder = tmp_path / f"p{number}"
        for each in ENTRIES:
            if each.endswith("/"):
                (folder / each).mkdir(parents=True, exist_ok=True)
        for each in ENTRIES:
            if not each.endswith("/"):
                (folder / each).touch()
        (folder / ".gitignore").write_text(given[folder.name], newline="")
    paths = [f"{folder}/{each.rstrip('/')}" for folder in given for each in ENTRIES]
    theirs = git_ignores(tmp_path, "", paths)
    ours = {
        f"{folder}/{each.rstrip('/')}"
        for folder, patterns in given.items()
        for each in ENTRIES
        if is_ignored_with_folders(patterns, each)
    }
    assert {(path, given[path.split("/")[0]]) for path in ours ^ theirs} == set()
    assert 40 < len(ours) < len(paths) // 2  # the question is not one that has one answer


def is_ignored_with_folders(patterns: str, path: str) -> bool:
    """Git also ignores what lies in an ignored folder; the walk does not enter it."""
    steps = path.rstrip("/").split("/")
    above = ("/".join(steps[:depth]) for depth in range(1, len(steps)))
    return any(is_ignored(patterns, each, is_folder=True) for each in above) or is_ignored(
        patterns, "/".join(steps), is_folder=path.endswith("/")
    )


@pytest.mark.parametrize("seed", range(20))
def test_what_was_asked_before_changes_nothing(seed: int) -> None:
    chance = random.Random(seed)
    lines = ("".join(chance.choices(PIECES, k=chance.randint(1, 5))) for _ in range(30))
    patterns = "\n".join(lines)
    known = parse_ignores(patterns)
    for each in [*ENTRIES, *chance.sample(ENTRIES, len(ENTRIES))]:
        path, is_folder = each.rstrip("/"), each.endswith("/")
        decided = known.decide(path, path.rpartition("/")[2], is_folder=is_folder)
        assert bool(decided) == is_ignored(patterns, path, is_folder=is_folder), each


@pytest.mark.parametrize("seed", range(40))
def test_what_is_asked_of_several_files_at_once_changes_nothing(seed: int) -> None:
    """Three files of patterns, one in the folder of the other, against each of them alone."""
    chance = random.Random(seed)
    several: list[tuple[str, Patterns]] = []
    ignores = None
    for base in ("/", "/d/", "/d/e/"):
        lines = ("".join(chance.choices(PIECES, k=chance.randint(1, 5))) for _ in range(4))
        several.insert(0, (base, parse_ignores("\n".join(lines))))
        ignores = Ignores(*several[0], ignores)
    for each in ENTRIES:
        name, is_folder = each.rstrip("/").rpartition("/")[2], each.endswith("/")
        path = f"/d/e/{each.rstrip('/')}"
        alone = (
            patterns.decide(path.removeprefix(base), name, is_folder=is_folder)
            for base, patterns in several
        )
        expected = next((decided for decided in alone if decided is not None), False)
        assert ignores is not None
        assert ignores.is_ignored(path, name, is_folder=is_folder) is expected, each


def test_many_lines_are_not_compared_at_once() -> None:
    """What is found by a look at once stays small, however many lines and files there are."""
    ignores = None
    for depth, base in enumerate(("/", "/d/", "/d/d/")):
        lines = [f"{depth}name{number}\n/{depth}path{number}\n" for number in range(150)]
        lines += [f"{depth}x{number}*\n*{number}y{depth}\n" for number in range(10)]
        ignores = Ignores(base, parse_ignores("".join(lines)), ignores)
        # The third file is one too many.
        assert ignores._hints.may_match("/d/d/other", "other") is (depth == 2)
        for name in (f"{depth}name149", f"{depth}x9", f"9y{depth}", f"{depth}path9"):
            assert ignores.is_ignored(base + name, name, is_folder=False), name
        assert not ignores.is_ignored(f"{base}other", "other", is_folder=False)
    for texts in ([f"a{number}/*/b[c]" for number in range(51)], [f"n{n}" for n in range(1001)]):
        hints = parse_ignores("\n".join(texts)).hints
        assert hints.may_match("other", "other")
        fewer = parse_ignores("\n".join(texts[1:])).hints
        assert not fewer.may_match("other", "other")


def test_a_pattern_full_of_stars_takes_no_time() -> None:
    patterns = "\n".join(["*a" * 40 + "b", "**/a/" * 40 + "b", "*?" * 40 + "b"])
    with promised(0.1):
        assert not is_ignored(patterns, "/".join(["a" * 200] * 30))


# --- the walk ------------------------------------------------------------------------------------


def test_files_come_in_a_fixed_order(tmp_path: Path) -> None:
    make(tmp_path, "b/z.yaml", "b/a.yaml", "c.md", "a.json", "a/x.toml", "B.yml", "note.txt")
    assert found(tmp_path) == ["B.yml", "a.json", "c.md", "a/x.toml", "b/a.yaml", "b/z.yaml"]


def test_hidden_folders_are_entered_only_where_agents_live(tmp_path: Path) -> None:
    make(
        tmp_path,
        ".claude/agents/a.md",
        ".github/agents/b.md",
        ".secret/c.md",
        ".cache/d.json",
        ".mcp.json",
    )
    assert found(tmp_path) == [".mcp.json", ".claude/agents/a.md", ".github/agents/b.md"]


def test_folders_of_others_are_not_entered(tmp_path: Path) -> None:
    make(tmp_path, "node_modules/x/a.json", ".venv/a.yaml", ".git/a.yaml", "ok.yaml")
    assert found(tmp_path) == ["ok.yaml"]


def test_ignored_files_and_folders_are_left_out(tmp_path: Path) -> None:
    make(tmp_path, "a.yaml", "b.yaml", "out/c.yaml", "d/out/keep.yaml", "d/b.yaml", "d/e/b.yaml")
    (tmp_path / ".gitignore").write_text("/b.yaml\nout/\n")
    (tmp_path / "d" / ".gitignore").write_text("!out/\nb.yaml\n")
    (tmp_path / "d" / "e" / ".gitignore").write_text("!b.yaml\n")
    assert found(tmp_path) == ["a.yaml", "d/e/b.yaml", "d/out/keep.yaml"]


def test_patterns_above_the_start_count_down_from_the_root_of_the_repository(
    tmp_path: Path,
) -> None:
    make(tmp_path, "repo/sub/a.yaml", "repo/sub/b.yaml", "repo/sub/c.yaml", "repo/sub/d.yaml")
    (tmp_path / "repo" / ".git" / "info").mkdir(parents=True)
    (tmp_path / "repo" / ".git" / "info" / "exclude").write_text("c.yaml\nd.yaml\n")
    (tmp_path / "repo" / ".gitignore").write_text("/sub/a.yaml\n!d.yaml\n")
    (tmp_path / ".gitignore").write_text("b.yaml\n")
    assert found(tmp_path / "repo" / "sub") == ["b.yaml", "d.yaml"]
    assert found(tmp_path / "repo") == ["sub/b.yaml", "sub/d.yaml"]


def test_a_repository_inside_another_decides_for_itself(tmp_path: Path) -> None:
    make(tmp_path, "inner/a.yaml", "inner/.git/HEAD", "outer/a.yaml")
    (tmp_path / ".gitignore").write_text("a.yaml\n")
    assert found(tmp_path) == ["inner/a.yaml"]


def test_an_ignored_folder_is_walked_when_it_is_named(tmp_path: Path) -> None:
    make(tmp_path, "out/a.yaml", ".git/HEAD")
    (tmp_path / ".gitignore").write_text("out/\n")
    assert found(tmp_path) == []
    assert found(tmp_path / "out") == ["a.yaml"]


@needs_git
def test_git_lists_the_same_files(tmp_path: Path) -> None:
    names = [f"{a}{b}{c}.yaml" for a in ("", "x/", "x/y/", "z/") for b in ("", "w/") for c in "abc"]
    make(tmp_path, *names)
    (tmp_path / ".gitignore").write_text("a.yaml\n/x/*\n!/x/y\nz/**/b.yaml\n!/a.yaml\n")
    (tmp_path / "x" / "y" / ".gitignore").write_text("w/*\n!w/c.yaml\n")
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    command = [
        "git",
        "-c",
        "core.excludesFile=/dev/null",
        "ls-files",
        "-o",
        "-z",
        "--exclude-standard",
    ]
    listed = subprocess.run(command, cwd=tmp_path, capture_output=True, check=True).stdout.decode()
    assert sorted(found(tmp_path)) == sorted(
        name for name in listed.split("\0") if name.endswith(".yaml")
    )


# --- links ---------------------------------------------------------------------------------------


def test_folders_behind_links_are_not_entered(tmp_path: Path) -> None:
    make(tmp_path, "real/a.yaml")
    (tmp_path / "link").symlink_to("real")
    (tmp_path / "real" / "loop").symlink_to("..")
    assert found(tmp_path) == ["real/a.yaml"]


def test_but_where_agents_live_they_are(tmp_path: Path) -> None:
    make(tmp_path, "shared/agents/a.md", ".claude/settings.json")
    (tmp_path / ".claude" / "agents").symlink_to("../shared/agents")
    (tmp_path / ".agents").symlink_to(".claude")
    assert found(tmp_path) == [
        ".claude/settings.json",
        "shared/agents/a.md",
        ".agents/settings.json",
        ".claude/agents/a.md",
    ]


def test_a_loop_of_links_ends(tmp_path: Path) -> None:
    make(tmp_path, ".claude/a.md", ".github/b.md", "c/d.md")
    (tmp_path / ".claude" / "up").symlink_to("..")
    (tmp_path / ".claude" / "self").symlink_to(".")
    (tmp_path / ".claude" / "hub").symlink_to("../.github")
    (tmp_path / ".github" / "claude").symlink_to("../.claude")
    (tmp_path / ".github" / "c").symlink_to("../c")
    (tmp_path / "c" / "x.md").symlink_to("x.md")
    assert found(tmp_path) == [
        ".claude/a.md",
        ".github/b.md",
        "c/d.md",
        "c/x.md",
        ".claude/hub/b.md",
        ".github/c/d.md",
        ".github/c/x.md",
        ".github/claude/a.md",
    ]


def test_a_link_out_of_the_project_is_not_followed(tmp_path: Path) -> None:
    make(tmp_path, "elsewhere/a.md", "project/.claude/b.md", "project/.git/HEAD")
    (tmp_path / "project" / ".claude" / "agents").symlink_to(tmp_path / "elsewhere")
    # The link itself is a result, so that a check can say that it was not followed.
    assert found(tmp_path / "project") == [".claude/agents", ".claude/b.md"]


def test_a_link_to_a_file_is_a_file_and_one_to_nowhere_too(tmp_path: Path) -> None:
    make(tmp_path, "real.yaml")
    (tmp_path / "link.yaml").symlink_to("real.yaml")
    (tmp_path / "gone.yaml").symlink_to("nowhere")
    assert found(tmp_path) == ["gone.yaml", "link.yaml", "real.yaml"]


def test_a_pipe_is_no_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.yaml")
    assert found(tmp_path) == []


# --- troubles ------------------------------------------------------------------------------------


def unreadable(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Make a folder unreadable, also for a user who may read everything."""
    real = os.scandir

    def scandir(path: str) -> object:
        if os.path.basename(path) == name:
            raise PermissionError(13, "Permission denied", path)
        return real(path)

    monkeypatch.setattr(os, "scandir", scandir)


def test_a_folder_that_cannot_be_read_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(tmp_path, "a.yaml", "locked/b.yaml", "z/c.yaml")
    unreadable(monkeypatch, "locked")
    assert [
        (os.path.relpath(each.path, tmp_path), each.problem)
        for each in walk(str(tmp_path), AGENTS, Disk())
    ] == [("a.yaml", None), ("locked", "Permission denied"), ("z/c.yaml", None)]


def test_names_that_are_not_text_are_found(tmp_path: Path) -> None:
    with open(os.path.join(os.fsencode(tmp_path), b"\xff.yaml"), "wb"):
        pass
    assert [
        os.fsencode(os.path.basename(each)) for each in walk_files(str(tmp_path), AGENTS, Disk())
    ] == [b"\xff.yaml"]


def test_a_deep_tree_is_walked(tmp_path: Path) -> None:
    folder = "/".join(["d"] * 400)
    make(tmp_path, f"{folder}/a.yaml")
    assert found(tmp_path) == [f"{folder}/a.yaml"]
