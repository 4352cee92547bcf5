"""Asking again: which questions are left out because others answer them, and the short ways, which
give the answers of the long ones."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from equipage.files import real_path, replaying
from equipage.files.replaying import Replay, essential
from equipage.files.sandbox import FileProblem, open_inside
from equipage.files.tracing import Answer, Question, Trace, digest, signature, traced

FILE = "/r/d/f"
READ: tuple[Question, Answer] = ("content", FILE, "9"), "=1"
#: What the way there is once the file was read and the real paths of both folders were asked for.
REAL: tuple[Question, Answer] = ("real path", "/r"), "/r"
FOLDER: tuple[Question, Answer] = ("real path", "/r/d"), "/r/d"
DOWN: tuple[Question, Answer] = ("leads down", "/r", "/r/d"), True


def row(*given: str | bool | None) -> tuple[Question, Answer]:
    *question, answer = given
    return tuple(map(str, question)), answer


@pytest.mark.parametrize(
    ("asked", "left"),
    [
        # What is so for every file that is no link.
        (row("exists", FILE, True), ()),
        (row("is there", FILE, True), ()),
        (row("is file", FILE, True), ()),
        (row("is folder", FILE, False), ()),
        (row("is link", FILE, False), ()),
        # Anything else about it, and everything about others.
        (row("exists", FILE, False), None),
        (row("is link", FILE, True), None),
        (row("exists", "/r/d/g", True), None),
        (row("is link", "/r/d/g", False), None),
        # Its own path is that of its folder.
        (row("real path", FILE, FILE), (FOLDER,)),
        (row("real path", FILE, "/r/other"), None),
        (row("real path", "/r/d/g", "/r/d/g"), None),
        (row("real path", "/r/d/g", "/r/d/h"), None),
        # It was opened by its name.
        (row("named", FILE, FILE, FILE), ()),
        (row("named", FILE, "/x/name", FILE), ()),
        (row("named", FILE, "/x/name/", FILE), None),
        (row("named", FILE, "/x/name/.", FILE), None),
        (row("named", FILE, "/x/name/..", FILE), None),
        (row("named", FILE, "/x/name", "file-missing"), None),
        (row("named", "/r/d/g", "/r/d/g", "/r/d/g"), None),
        (row("other", FILE, "/x/name", FILE), None),
    ],
)
def test_what_a_file_that_was_read_says_is_not_asked_again(
    asked: tuple[Question, Answer], left: tuple[tuple[Question, Answer], ...] | None
) -> None:
    expected = (asked,) if left is None else left
    assert essential(dict((asked, READ))) == [READ, *expected]
    # A look at a file, or a file that could not be read, says nothing of this.
    for other in (row("peek", FILE, "9", "=1"), row("content", FILE, "9", "file-missing")):
        assert essential(dict((asked, other))) == [other, asked]


def test_the_way_to_a_file_is_asked_again_if_its_folder_is_behind_a_link() -> None:
    real, other = row("real path", FILE, FILE), row("real path", "/r/d", "/elsewhere")
    assert essential(dict((real, FOLDER, READ))) == [READ, FOLDER]
    assert essential(dict((real, other, READ))) == [READ, real, other]


@pytest.mark.parametrize(
    ("question", "more", "is_straight"),
    [
        (("inside", "/r", "d/f", "/r"), [REAL], True),
        (("inside", "/r", "./d//f", "/r"), [REAL], True),
        (("inside", "/r", "d/f", "/q", "/r"), [REAL, row("real path", "/q", "/q")], True),
        (("inside", "/r", "d/f", "/not asked", "/r"), [REAL], True),
        (("inside", "/r", "d/f", "/link"), [REAL, row("real path", "/link", "/r")], True),
        (("inside", "/r", "d/f", "/r"), [], False),
        (("inside", "/r", "d/f", "/r"), [row("real path", "/r", "/x")], False),
        (("inside", "/r", "d/f", "/q"), [REAL, row("real path", "/q", "/q")], False),
        (("inside", "/r", "d/../d/f", "/r"), [REAL], False),
        (("inside", "/r", "link", "/r"), [REAL], False),
        (("inside", "/", "r/d/f", "/r"), [REAL], False),
        (("within", "/r", "d/f", "/r"), [REAL], False),
    ],
)
def test_a_way_without_links_is_that_of_its_folder(
    question: Question, more: list[tuple[Question, Answer]], is_straight: bool
) -> None:
    asked = question, FILE
    rows = essential(dict((asked, *more, READ)))
    assert rows == [READ, DOWN if is_straight else asked, *more]
    assert essential(dict((asked, *more))) == [asked, *more]  # the file was not read


@pytest.mark.parametrize(
    ("base", "reference", "target"),
    [
        ("/r", "a/b", "/r/a/b"),
        ("/r/", "a", "/r/a"),
        ("/", "a", "/a"),
        ("/r", "./a//b", "/r/a/b"),
        ("/r ", "a b/c", "/r /a b/c"),
        ("/X", "XX", "/X/XX"),
        ("/r", "", None),
        ("/r", "a/", None),
        ("/r", "a/.", None),
        ("/r", "a/..", None),
        ("/r", "../a", None),
    ],
)
def test_where_a_reference_leads_without_links(
    base: str, reference: str, target: str | None
) -> None:
    assert replaying._straight(base, reference) == target


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = Path(os.path.realpath(tmp_path)) / "top"
    (root / "sub" / "deep").mkdir(parents=True)
    (root / "a.txt").write_text("a")
    (root / "sub" / "deep" / "b.txt").write_text("b")
    (root / "link").symlink_to("sub/deep")
    monkeypatch.chdir(root)
    return root


@pytest.mark.parametrize(
    "path",
    [
        "{}/sub/deep", "{}/link", "{}/link/b.txt", "{}/link/..", "{}/link/../b.txt", "{}/no/../x",
        "a.txt", "link/b.txt", "../top/link", "", ".", "/", "{}//sub/./deep/", "{}" + "/x" * 1500,
    ],
)  # fmt: skip
def test_real_paths_are_those_of_the_system(world: Path, path: str) -> None:
    replay = Replay({})
    for _ in range(2):
        assert replay.answer(("real path", path.format(world))) == os.path.realpath(
            path.format(world)
        )


def test_all_answers_about_a_file_agree_with_what_was_read(world: Path) -> None:
    """Whatever becomes of it meanwhile: the next run asks again."""
    path, replay = str(world / "sub" / "deep" / "b.txt"), Replay({})
    questions: list[Question] = [
        ("content", path, "1"),
        ("content", path, "9"),
        ("peek", path, "9"),
        ("is file", path),
        ("is link", path),
        ("named", path, path),
        ("inside", str(world), "sub/deep/b.txt", "/elsewhere", str(world)),
    ]
    answers = [digest(b"b"), digest(b"b"), digest(b"b"), True, False, path, path]
    assert replay.answer(questions[0]) == answers[0]
    os.unlink(path)
    assert [replay.answer(each) for each in questions] == answers
    assert replay.answer(("content", path, "0")) == "file-missing"  # it was too large for that
    fresh = Replay({})
    assert [fresh.answer(each) for each in questions] == [
        "file-missing", "file-missing", None, False, False, "file-missing", "file-missing",
    ]  # fmt: skip


def test_what_was_read_is_not_inside_other_roots(world: Path) -> None:
    path, replay = str(world / "a.txt"), Replay({})
    assert replay.answer(("content", path, "9")) == digest(b"a")
    for roots in ((), (str(world / "sub"),)):
        with pytest.raises(FileProblem) as problem:
            open_inside(str(world), "a.txt", roots)
        said = problem.value.answer()
        assert replay.answer(("inside", str(world), "a.txt", *roots)) == said


def test_a_way_down_has_no_link_in_it(world: Path) -> None:
    root, deep = str(world), str(world / "sub" / "deep")
    down: Question = ("leads down", root, deep)
    assert Replay({}).answer(down) is True
    assert Replay({}).answer(("leads down", root, root)) is True
    assert Replay({}).answer(("leads down", root, f"{root}/link")) is False
    assert Replay({}).answer(("leads down", root, f"{root}/no")) is False
    assert Replay({}).answer(("leads down", root, root + "/x" * 1500)) is False
    (world / "sub").rename(world / "moved")
    (world / "sub").symlink_to("moved")
    assert os.path.isdir(deep)
    assert Replay({}).answer(down) is False


def test_a_look_through_a_link_has_its_bound(world: Path) -> None:
    (world / "b").symlink_to("a.txt")
    for most, found in (("1", digest(b"a")), ("0", None)):
        assert Replay({}).answer(("peek", str(world / "b"), most)) == found


def test_a_signature_has_the_plain_path_of_its_file(world: Path) -> None:
    replay, known = Replay({}), signature(os.stat("a.txt"))
    for spelt in (f"{world}/./a.txt", f"{world}/sub/../a.txt"):
        assert replay.answer(("content", spelt, "9")) == digest(b"a")
    assert replay.signatures == {f"{world}/a.txt": known, f"{world}/sub/../a.txt": known}


def test_a_name_that_no_file_can_have(world: Path) -> None:
    path = f"{world}/a\0b"
    with traced(Trace()) as made:
        assert real_path(path) == path
    assert [Replay({}).answer(each) for each in made.answers] == [path]
    answer = Replay({}).answer(("content", path, "9"))
    # The words are those of Python, which has others from 3.13 on.
    assert re.match("file-unreadable reason=.*embedded null", str(answer))
