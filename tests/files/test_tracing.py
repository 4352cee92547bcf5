"""What was asked of the system is noted with its answer, and asking again gives the same one."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from equipage import files
from equipage.files.overlay import Overlay, overlaid
from equipage.files.reading import Files, names_digest, peek
from equipage.files.replaying import Replay, essential
from equipage.files.sandbox import FileProblem, PathPolicy
from equipage.files.tracing import (
    Trace,
    digest,
    is_digest,
    noted,
    opaque,
    plain,
    signature,
    trace,
    traced,
)


@pytest.fixture
def world(tmp_path: Path) -> Path:
    root = Path(os.path.realpath(tmp_path)) / "root"
    (root / "sub").mkdir(parents=True)
    (root / "a.txt").write_text("a")
    (root / "sub" / "b.txt").write_text("b")
    (root / "link.txt").symlink_to("sub/b.txt")
    (root / "broken").symlink_to("nowhere")
    (root / "out.txt").symlink_to("../secret")
    (root.parent / "secret").write_text("secret")
    return root


@pytest.fixture
def noting() -> Iterator[Trace]:
    with traced(Trace()) as made:
        yield made


# --- what is noted -------------------------------------------------------------------------------


def test_only_in_its_body(world: Path) -> None:
    made = Trace()
    with traced(made) as same:
        assert same is made
        assert trace() is made
        files.exists(str(world))
    files.exists(str(world / "a.txt"))
    assert trace() is None
    assert list(made.answers) == [("exists", str(world))]


def test_the_plain_questions(world: Path, noting: Trace) -> None:
    link, broken, no = (str(world / each) for each in ("link.txt", "broken", "no"))
    files.exists(link)
    files.exists(broken, follow_links=False)
    files.exists(no)
    files.is_file(link)
    files.is_folder(link)
    files.is_link(link)
    files.real_path(link)
    assert noting.answers == {
        ("exists", link): True,
        ("is there", broken): True,
        ("exists", no): False,
        ("is file", link): True,
        ("is folder", link): False,
        ("is link", link): True,
        ("real path", link): str(world / "sub" / "b.txt"),
    }
    assert noting.complete


def test_a_path_that_no_file_can_have_is_noted(world: Path, noting: Trace) -> None:
    path = f"{world}/sub/../a\0b"
    assert files.real_path(path) == f"{world}/a\0b"
    assert noting.answers == {("real path", path): f"{world}/a\0b"}


def test_entries_say_their_names_and_sorts(world: Path, noting: Trace) -> None:
    def listed() -> str:
        noting.answers.clear()
        files.entries_of(str(world / "sub"))
        (answer,) = noting.answers.values()
        assert list(noting.answers) == [("entries", str(world / "sub"))]
        return str(answer)

    first = listed()
    assert is_digest(first)
    assert not first.endswith(files.LINKS)
    assert listed() == first
    (world / "sub" / "c").touch()
    with_file = listed()
    (world / "sub" / "c").unlink()
    (world / "sub" / "c").mkdir()
    with_folder = listed()
    (world / "sub" / "c").rmdir()
    (world / "sub" / "c").symlink_to("b.txt")
    with_link = listed()
    (world / "sub" / "c").unlink()
    (world / "sub" / "c").symlink_to("c")
    with_loop = listed()
    assert len({first, with_file, with_folder, with_link, with_loop}) == 5
    assert with_link.endswith(files.LINKS)
    assert with_loop.endswith(files.LINKS)
    (world / "sub" / "d").touch()
    assert listed().endswith(files.LINKS)  # wherever the link is among them
    noting.answers.clear()
    with pytest.raises(FileNotFoundError):
        files.entries_of(str(world / "no"))
    assert noting.answers == {("entries", str(world / "no")): "2"}


def test_what_is_read_by_name(world: Path, noting: Trace) -> None:
    path = str(world / "a.txt")
    Files(cwd=str(world)).read("a.txt", max_bytes=9)
    assert noting.answers[("named", path, path)] == path
    assert noting.answers[("content", path, "9")] == digest(b"a")
    assert noting.signatures == {path: signature(os.stat(path))}
    no = str(world / "no")
    with pytest.raises(FileProblem):
        Files(cwd=str(world)).read("no")
    assert noting.answers[("named", no, no)] == "file-missing"
    with pytest.raises(FileProblem):
        Files(cwd=str(world)).read("a.txt", max_bytes=0)
    assert noting.answers[("content", path, "0")] == "file-too-large size=1 limit=0"


def test_what_a_document_refers_to(world: Path, noting: Trace) -> None:
    root = str(world)
    load = Files(cwd=root)
    load.refer("link.txt", (root,), (root,), PathPolicy())
    real = str(world / "sub" / "b.txt")
    assert noting.answers[("inside", root, "link.txt", root)] == real
    with pytest.raises(FileProblem):
        load.refer("out.txt", (root,), (root,), PathPolicy())
    said = str(noting.answers[("inside", root, "out.txt", root)])
    assert said.startswith("reference-escapes ")


def test_a_look_at_a_file(world: Path, noting: Trace) -> None:
    path, no = str(world / "a.txt"), str(world / "no")
    assert peek(path, max_bytes=7) == b"a"
    assert peek(path, max_bytes=0) is None
    assert peek(no, max_bytes=7) is None
    assert noting.answers == {
        ("peek", path, "7"): digest(b"a"),
        ("peek", path, "0"): None,
        ("peek", no, "7"): None,
    }
    assert noting.signatures == {path: signature(os.stat(path))}


def test_names_below_and_programs(world: Path, noting: Trace) -> None:
    found = Files(cwd="/").names_below(str(world / "sub"), most=5)
    assert found == ["b.txt"]
    assert noting.answers == {("below", str(world / "sub"), "5"): names_digest(["b.txt"])}
    noting.answers.clear()
    search = noting.watched({"PATH": str(world)})["PATH"]
    assert not Files(cwd="/").finds_program("run-me", search)
    (world / "run-me").write_text("#!/bin/sh\n")
    (world / "run-me").chmod(0o755)
    assert noting.answers == {("program", "run-me"): False}
    assert noting.complete
    Files(cwd="/").finds_program("b.txt", str(world / "sub"))
    assert not noting.complete  # what was searched is not what PATH says
    Files(cwd="/").finds_program("run-me", search)
    assert not noting.complete


def test_names_of_a_digest_are_apart() -> None:
    assert names_digest(["ab", "c"]) != names_digest(["a", "bc"])
    assert names_digest(["a", "b"]) != names_digest(["ab"])
    assert names_digest([os.fsdecode(b"\xff")]) == digest(b"\xff")


def test_two_answers_to_one_question_cannot_be_asked_again(world: Path, noting: Trace) -> None:
    files.exists(str(world / "no"))
    files.exists(str(world / "no"))
    assert noting.complete
    (world / "no").touch()
    files.exists(str(world / "no"))
    assert not noting.complete
    assert noting.answers == {("exists", str(world / "no")): False}


def test_one_path_is_one_question_however_it_is_spelt(
    world: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(world)
    with traced(Trace()) as made:
        assert noted("exists", "a.txt", True) is True
        noted("exists", str(world / "a.txt"), True)
        noted("exists", "../a.txt", False)
        noted("exists", "/a/./b", False)
    assert made.answers == {
        ("exists", str(world / "a.txt")): True,
        ("exists", "../a.txt"): False,  # behind a link, it leads elsewhere
        ("exists", "/a/./b"): False,  # one path from the root is as good as another
    }
    assert noted("exists", "a.txt", "anything") == "anything"


def test_plain_paths(world: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(world)
    assert plain("a/./b") == str(world / "a" / "b")
    assert plain("/a//b") == "/a/b"
    assert plain("/a/../b") is None
    assert plain("/a\0b") is None


def test_a_signature_is_that_of_a_file_however_its_path_is_spelt(world: Path) -> None:
    made, status = Trace(), os.stat(world / "a.txt")
    made.sign(f"{world}/./a.txt", status)
    made.sign(f"{world}/sub/../a.txt", status)
    assert list(made.signatures) == [f"{world}/a.txt", f"{world}/sub/../a.txt"]


def test_code_of_others_may_ask_anything(noting: Trace) -> None:
    assert noting.complete
    opaque()
    assert noting.complete is False
    with traced(Trace()):
        pass
    assert trace() is noting


def test_nothing_of_others_without_a_trace() -> None:
    opaque()
    assert trace() is None


def test_variables_that_are_looked_up(noting: Trace) -> None:
    seen = noting.watched({"A": "1", "B": "2"})
    assert seen["A"] == "1"
    assert seen.get("C") is None
    assert len(seen) == 2
    assert noting.variables == {"A": "1", "C": None}
    assert noting.complete
    assert sorted(seen) == ["A", "B"]
    assert not noting.complete


def test_a_signature_has_all_that_changes(world: Path) -> None:
    status = os.stat(world / "a.txt")
    assert signature(status) == (
        status.st_dev,
        status.st_ino,
        status.st_mode,
        1,
        status.st_mtime_ns,
        status.st_ctime_ns,
    )


def test_a_digest_is_no_path_and_no_problem() -> None:
    assert is_digest(digest(b""))
    assert not is_digest("/a")
    assert not is_digest(None)
    assert not is_digest(True)
    assert digest(b"a") != digest(b"b")
    assert len(digest(b"a")) == 65


def test_nothing_is_noted_of_an_overlay(world: Path, noting: Trace) -> None:
    path = str(world / "a.txt")
    with overlaid(Overlay({path: b"unsaved"})):
        files.exists(path)
        files.is_file(path)
        files.is_folder(path)
        files.is_link(path)
        files.real_path(path)
        files.entries_of(str(world))
        peek(path)
    assert noting.answers == {}


# --- asking again --------------------------------------------------------------------------------


def asked(world: Path) -> Trace:
    """Every sort of question, about all that is in the world."""
    root = str(world)
    with traced(Trace()) as made:
        load = Files(cwd=root)
        for name in ("a.txt", "link.txt", "broken", "no", "sub", "sub/b.txt", "out.txt"):
            path = str(world / name)
            files.exists(path)
            files.exists(path, follow_links=False)
            files.is_file(path)
            files.is_folder(path)
            files.is_link(path)
            files.real_path(path)
            peek(path)
            for ask in (
                lambda name=name: load.read(name),
                lambda name=name: load.refer(name, (root,), (root,), PathPolicy()),
                lambda path=path: files.entries_of(path),
            ):
                with suppress(FileProblem, OSError):
                    ask()
        load.names_below(root, most=3)
        load.finds_program("run-me", made.watched({"PATH": root})["PATH"])
    assert made.complete
    return made


def differing(made: Trace, world: Path) -> set[tuple[str, ...]]:
    replay = Replay({"PATH": str(world)})
    return {each for each, answer in made.answers.items() if replay.answer(each) != answer}


def test_asking_again_gives_the_same_answers(world: Path) -> None:
    made = asked(world)
    assert {each[0] for each in made.answers} == {
        "exists", "is there", "is file", "is folder", "is link", "real path", "peek", "named",
        "content", "inside", "entries", "below", "program",
    }  # fmt: skip
    assert differing(made, world) == set()
    replay = Replay({"PATH": str(world)})
    rows = essential(made.answers)
    assert [each for each, answer in rows if replay.answer(each) != answer] == []
    firsts = [each[0] in ("content", "peek") for each, _ in rows]
    assert firsts == sorted(firsts, reverse=True)
    assert len(rows) < len(made.answers)


def another_content(world: Path) -> None:
    (world / "sub" / "b.txt").write_text("c")


def no_file(world: Path) -> None:
    (world / "a.txt").unlink()


def a_link_in_its_place(world: Path) -> None:
    (world / "a.txt").unlink()
    (world / "a.txt").symlink_to("sub/b.txt")


def the_same_content_behind_a_link(world: Path) -> None:
    (world / "a.txt").rename(world / "moved.txt")
    (world / "a.txt").symlink_to("moved.txt")


def a_folder_behind_a_link(world: Path) -> None:
    (world / "sub").rename(world / "moved")
    (world / "sub").symlink_to("moved")


def a_folder_outside(world: Path) -> None:
    (world / "sub").rename(world.parent / "moved")
    (world / "sub").symlink_to("../moved")


def a_file_that_was_missing(world: Path) -> None:
    (world / "no").write_text("now")


def a_link_elsewhere(world: Path) -> None:
    (world / "link.txt").unlink()
    (world / "link.txt").symlink_to("a.txt")


def a_program(world: Path) -> None:
    (world / "run-me").write_text("#!/bin/sh\n")
    (world / "run-me").chmod(0o755)


def a_name_below(world: Path) -> None:
    (world / "a-new.txt").touch()


def a_pipe(world: Path) -> None:
    (world / "a.txt").unlink()
    os.mkfifo(world / "a.txt")


CHANGES = [
    another_content, no_file, a_link_in_its_place, the_same_content_behind_a_link,
    a_folder_behind_a_link, a_folder_outside, a_file_that_was_missing, a_link_elsewhere, a_program,
    a_name_below, a_pipe,
]  # fmt: skip


@pytest.mark.parametrize("change", CHANGES, ids=lambda each: each.__name__)
def test_what_changed_is_another_answer(world: Path, change: object) -> None:
    assert callable(change)
    before = asked(world)
    change(world)
    now = asked(world)
    different = {each for each in before.answers if before.answers[each] != now.answers.get(each)}
    assert different
    # Also in the short way: what is left out of it is never what tells.
    replay = Replay({"PATH": str(world)})
    assert any(replay.answer(each) != answer for each, answer in essential(before.answers))
    assert differing(before, world) >= different & set(now.answers)


def test_a_question_of_nobody(world: Path) -> None:
    with pytest.raises(KeyError):
        Replay({}).answer(("no such question", str(world)))


def test_without_a_search_path_no_program_is_found(world: Path) -> None:
    a_program(world)
    assert Replay({"PATH": str(world)}).answer(("program", "run-me")) is True
    assert Replay({}).answer(("program", "run-me")) is False


def test_files_that_are_still_what_they_were(world: Path) -> None:
    path, link, no = str(world / "a.txt"), str(world / "link.txt"), str(world / "no")
    vouched = {path: signature(os.lstat(path)), link: signature(os.lstat(link))}
    assert Replay({}).are_still(vouched)
    assert Replay({}).changed({**vouched, no: signature(os.lstat(path))}) == [no]
    assert Replay({}).changed({**vouched, str(world): None}) == [str(world)]
    assert Replay({}).changed({link: signature(os.stat(link))}) == [link]
    replay = Replay({})
    assert replay.are_still(vouched)
    os.utime(path, (1, 1))
    assert replay.are_still(vouched)  # each path is looked at once
    assert Replay({}).changed(vouched) == [path]
    assert not Replay({}).are_still(vouched)


def test_a_text_that_is_known_by_its_digest(world: Path) -> None:
    path, replay = str(world / "a.txt"), Replay({})
    assert replay.text_of(path, digest(b"a")) == b"a"
    assert replay.text_of(path, digest(b"b")) is None
    (world / "a.txt").write_text("b")
    assert replay.text_of(path, digest(b"a")) == b"a"  # all answers agree
    assert Replay({}).text_of(path, digest(b"a")) is None
    assert replay.text_of(str(world / "link.txt"), digest(b"b")) is None
    assert replay.text_of(str(world / "sub"), digest(b"")) is None
    assert replay.text_of(str(world / "no"), digest(b"")) is None
    assert replay.text_of(path + "\0", digest(b"")) is None
    os.mkfifo(world / "pipe")
    assert replay.text_of(str(world / "pipe"), digest(b"")) is None


def test_what_was_read_has_a_signature(world: Path) -> None:
    replay = Replay({})
    path = str(world / "a.txt")
    assert replay.answer(("content", path, "1")) == digest(b"a")
    assert replay.signatures == {path: signature(os.stat(path))}
    assert replay.answer(("content", path, "0")) == "file-too-large size=1 limit=0"
    assert replay.answer(("content", str(world / "sub"), "9")) == "file-is-directory"
    assert replay.answer(("content", str(world / "no"), "9")) == "file-missing"
    assert list(replay.signatures) == [path]
