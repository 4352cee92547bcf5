"""Patterns of `.gitignore`: what is looked up decides as if each line were asked in turn."""

from __future__ import annotations

import random
import re
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from equipage.files import gitignore
from equipage.files.gitignore import Ignores, glob_pattern, parse_ignores
from lab import write

from .test_walking import STARS_BEHIND_TEXT, git_ignores, is_ignored_with_folders, needs_git
from .test_walking import older_git as older_git


def decided(patterns: str, path: str) -> bool | None:
    """What a file of patterns says about a path; that of a folder ends with a slash."""
    plain = path.rstrip("/")
    name = plain.rpartition("/")[2]
    return parse_ignores(patterns).decide(plain, name, is_folder=path.endswith("/"))


# --- another reading of the rules, line by line ---------------------------------------------------


def plainly(lines: list[str], path: str) -> bool | None:
    """The last line that matches decides."""
    for line in reversed(lines):
        negated, glob = line.startswith("!"), line.removeprefix("!")
        if glob.endswith("/") and not path.endswith("/"):
            continue
        glob, steps = glob.removesuffix("/"), path.rstrip("/").split("/")
        if "/" not in glob:
            steps = steps[-1:]
        if fits(glob.removeprefix("/").split("/"), steps):
            return not negated
    return None


def fits(globs: list[str], steps: list[str]) -> bool:
    if not globs or not steps:
        return not globs and not steps
    if globs[0] == "**":
        rest = globs[1:]
        return not rest or any(fits(rest, steps[skipped:]) for skipped in range(len(steps)))
    return fnmatchcase(steps[0], globs[0]) and fits(globs[1:], steps[1:])


#: Few letters, so that much of it matches.
PARTS = ["a", "a", "b", "ab", "abc", "*", "*", "?", "[ab]", "[!a]", "*.a", "b*"]
NAMES = ["a", "b", "ab", "ba", "abc", "aab", "abab", "x.a", "bx", "c", "aba.a"]


def a_line(chance: random.Random) -> str:
    parts = ("".join(chance.choices(PARTS, k=chance.randint(1, 3))) for _ in range(3))
    steps = [re.sub(r"\*+", "*", each) for each in parts]
    count = chance.choice((1, 1, 2, 2, 3))
    path = [*steps[:count]]
    if count > 1 and chance.random() < 0.3:
        path[chance.randrange(count)] = "**"
    elif count > 1 and chance.random() < 0.5:
        path[0] = chance.choice(NAMES)  # so that there is a beginning without wildcards
    line = "/".join(path)
    line = chance.choice(("", "", "/")) + line + chance.choice(("", "", "/"))
    return chance.choice(("", "", "!")) + line


@pytest.mark.parametrize("seed", range(30))
def test_the_last_line_that_matches_decides(seed: int) -> None:
    chance = random.Random(seed)
    answers = set()
    for _ in range(15):
        lines = [a_line(chance) for _ in range(chance.randint(1, 14))]
        lines += chance.choices(lines, k=2)  # some come twice
        text = "\n".join(lines)
        for _ in range(60):
            steps = chance.choices(NAMES, k=chance.randint(1, 4))
            path = "/".join(steps) + chance.choice(("", "/"))
            answers.add(found := decided(text, path))
            assert found == plainly(lines, path), (lines, path)
    assert answers == {True, False, None}


# --- single promises ------------------------------------------------------------------------------


LINES: list[tuple[str, str, bool | None]] = [
    # Two letters and more before a wildcard, in names and in paths.
    ("ab?d", "abcd", True),
    ("ab?d", "x/abcd", True),
    ("abc[d]", "abcd", True),
    ("ab?d", "abd", None),
    ("abc*d*e", "abcxdye", True),
    ("x/ab?d", "x/abcd", True),
    ("x/y/ab?d", "x/y/abcd", True),
    ("x/y/z/*/ab?d", "x/y/z/1/abcd", True),
    ("xy/*.a\nxz/*.b", "xy/1.a", True),
    ("xy/*.a\nxz/*.b", "xz/1.b", True),
    ("xy/*.a\nxz/*.b", "xz/1.a", None),
    ("a*/x/y/z", "ab/x/y/z", True),
    ("a*/x/y/z", "ab/x/z", None),
    # What ends with a star, and what is before and after one.
    ("ab*cd", "abcd", True),
    ("ab*bc", "abc", None),
    ("ab*", "ab", True),
    ("*cd", "cd", True),
    ("a*\nab*d\n!abc*", "abcd", False),
    ("!a*\nab*d", "abcd", True),
    # Folders and files with lines of one text.
    ("a\n!a/", "a", True),
    ("a\n!a/", "a/", False),
    ("a/\n!a", "a", False),
    ("a/\n!a", "a/", False),
    ("!a\na/", "a", False),
    ("!a\na/", "a/", True),
    ("a/b\n!a/b/", "a/b", True),
    ("a/b\n!a/b/", "a/b/", False),
    ("a/*b/", "a/xb", None),
    ("a/*b/", "a/xb/", True),
    ("*b/", "xb", None),
    ("*b/", "xb/", True),
    ("?b/", "xb", None),
    ("?b/", "xb/", True),
    # Anything but a line break ends a line; in a name it is a character like others.
    ("a*b?", "a\nb\n", True),
    ("a/**", "a/x\ny", True),
    ("a\\?*", "a?b", True),
    ("a\\?*", "axb", None),
    ("a\\*b\\?c*", "a*b?cd", True),
    ("[ab]", "X", None),
    ("**/b/c", "b/c", True),
    ("x/[*]/*c", "x/*/c", True),
    ("x[ab]yy*z", "xayyz", True),
    ("[a]x[b]yyy*", "axbyyyy", True),
    ("**/a?/b", "x/a1/b", True),
    ("**/a/**/b/**/c", "a/b/c", True),
    ("**/a/**/b/**/c", "1/a/2/2/b/3/c", True),
    ("**/a/**/b/**/c", "1/a/2/2/3/c", None),
    ("x/**/a/**/b/**/c/**/d", "x/1/a/b/c/2/d", True),
    ("x/**/a/**/b/**/c/**/d", "x/1/a/b/2/d", None),
    ("*a*b*c*d", "1a2b3c4d", True),
    ("*a*b*c*d", "1a2c3b4d", None),
    ("**/a*", "x/ab", True),
    ("**/**", "x/y", True),
    ("**/a**b", "x/a1b", True),
    ("**/*", "x", True),
    # Sets, also broken ones.
    ("[ab]", "X", None),
    ("[a]", "X", None),
    ("[!a]", "X", True),
    ("[!]a]x", "bx", True),
    ("[!]a]x", "]x", None),
    ("[!]a]x", "ax", None),
    ("[^!]", "!", None),
    ("[^!]", "a", True),
    ("[]-a]", "^", True),
    ("[a-]", "-", True),
    ("[a-]", "b", None),
    ("[a-", "a", None),
    ("[a-", "[a-", None),
    ("[a", "a", None),
    ("[a-\\", "a", None),
    ("[\\", "[", None),
    ("[c-a]", "c", True),
    ("[c-a]", "b", None),
    ("[[:digit:]x]", "5", True),
    ("[[:digit:]x]", "x", True),
    ("[[:digit:]x]", ":", None),
    ("[[:nope:]x]", "x", None),
    # Two stars are steps where they fill one.
    ("a/**/b", "a/x/y/b", True),
    ("a/**b", "a/x/b", None),
    ("a/**b", "a/xb", True),
    ("a/x**/b", "a/xy/b", True),
    ("a/x**/b", "a/x/y/b", None),  # two stars are whole steps only if nothing is beside them
    ("a/x?**/b", "a/xyz/b", True),
    ("a/x?**/b", "a/xy/z/b", None),
    ("a/**", "a/b/c", True),
    ("a/x**", "a/xy/z", None),
    ("a/x**", "a/xy", True),
    ("a/**x/b", "a/yx/b", True),
    ("a/**x/b", "a/y/x/b", None),
    ("?**/b", "a/b", True),
    ("?**/b", "ab/b", True),
    ("?**/b", "a/x/b", None),
    ("\ufeffa", "a", True),
    ("a  ", "a", True),
    ("a\\  ", "a ", True),
    ("a b", "a b", True),
]


@pytest.mark.parametrize(("patterns", "path", "expected"), LINES)
def test_lines(patterns: str, path: str, expected: bool | None) -> None:
    assert decided(patterns, path) is expected
    # A first look at what lines have in common with a path never says no for one of them.
    rules, plain = Ignores("/r/", parse_ignores(patterns)), path.rstrip("/")
    name, is_folder = plain.rpartition("/")[2], path.endswith("/")
    assert rules.is_ignored(f"/r/{plain}", name, is_folder=is_folder) is bool(expected)


@needs_git
def test_git_reads_these_lines_so(tmp_path: Path, older_git: bool) -> None:
    """Each in a folder of its own, and one question to git; it also ignores what is in a folder."""
    asked, expected = [], set()
    for number, (patterns, path, _) in enumerate(LINES):
        if older_git and STARS_BEHIND_TEXT.search(patterns):
            continue
        write(tmp_path, {f"{number}/.gitignore": patterns})
        asked.append(f"{number}/{path}")
        if is_ignored_with_folders(patterns, path):
            expected.add(asked[-1])
    assert git_ignores(tmp_path, "", asked) == expected


def test_many_names_are_answered_beyond_those_that_are_remembered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(gitignore, "_MAX_CACHED_NAMES", 3)
    known = gitignore._parse_patterns("a*\n!a5/\nb")
    for _ in range(2):
        for number in range(10):
            for is_folder in (False, True):
                name = f"a{number}"
                expected = not (is_folder and number == 5)
                assert known.decide(f"x/{name}", name, is_folder=is_folder) is expected
        assert known.decide("c", "c", is_folder=False) is None
    assert len(known._of_name) == 3


def test_long_files_are_read_and_not_remembered() -> None:
    gitignore._parse_patterns_cached.cache_clear()
    for length, kept in ((4096, 1), (4097, 1)):
        text = "a\n" + "b" * (length - 2)
        assert len(text) == length
        assert parse_ignores(text).decide("a", "a", is_folder=False) is True
        assert gitignore._parse_patterns_cached.cache_info().currsize == kept
    gitignore._parse_patterns_cached.cache_clear()
    assert parse_ignores("a\n").decide("a", "a", is_folder=False) is True
    assert parse_ignores("a\n") is parse_ignores("a\n")


@pytest.mark.parametrize(
    ("glob", "path", "expected"),
    [
        ("a.yaml", "a.yaml", True),
        ("a.yaml", "x/y/a.yaml", True),
        ("a.yaml", "xa.yaml", False),
        ("*.yaml", "x/a.yaml", True),
        ("/a.yaml", "a.yaml", True),
        ("/a.yaml", "x/a.yaml", False),
        ("//a.yaml", "a.yaml", True),
        ("x/*.yaml", "x/a.yaml", True),
        ("x/*.yaml", "y/x/a.yaml", False),
        ("x/*.yaml", "x/y/a.yaml", False),
        ("x/**/a.yaml", "x/a.yaml", True),
        ("x/**/a.yaml", "x/y/z/a.yaml", True),
        ("**/a.yaml", "x/a.yaml", True),
        ("x/", "x/", True),
        ("X/a", "X/a", True),
        ("a**/b", "a/b", True),
        ("a**/b", "ab/b", True),
        ("a**/b", "a/x/b", False),
    ],
)
def test_globs_of_settings(glob: str, path: str, expected: bool) -> None:
    """From the root of a project; one without a slash is a name in any folder."""
    assert (glob_pattern(glob).fullmatch(path) is not None) is expected
