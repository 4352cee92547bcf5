"""The sandbox: nothing is opened that the policy does not allow (design D6)."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from lading import files as module
from lading.files import (
    FileProblem,
    Files,
    MemoryFiles,
    PathPolicy,
    Seen,
    check_reference,
    display_name,
    require_text,
    stamp_of,
)
from lading.source import Source

STRICT = PathPolicy()
INSIDE = PathPolicy(parents="inside")


@pytest.fixture
def world(tmp_path: Path) -> Path:
    """`allowed` is; `outside` is not."""
    root = tmp_path / "allowed"
    (root / "sub" / "deep").mkdir(parents=True)
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret").write_text("secret")
    (root / "a.txt").write_text("a")
    (root / "sub" / "b.txt").write_text("b")
    (root / "link.txt").symlink_to("sub/b.txt")
    (root / "up.txt").symlink_to("sub/../a.txt")
    (root / "absolute.txt").symlink_to(root / "a.txt")
    (root / "escape.txt").symlink_to("../outside/secret")
    (root / "escape-absolute.txt").symlink_to(tmp_path / "outside" / "secret")
    (root / "escape-dir").symlink_to("../outside")
    (root / "chain.txt").symlink_to("chain2.txt")
    (root / "chain2.txt").symlink_to("escape.txt")
    (root / "loop.txt").symlink_to("loop.txt")
    (root / "inner").symlink_to("sub")
    (root / "broken.txt").symlink_to("nowhere")
    return tmp_path


def refer(world: Path, reference: str, policy: PathPolicy = STRICT) -> Source:
    root = str(world / "allowed")
    return Files(cwd=str(world)).refer(reference, (root,), (root,), policy).source


@pytest.mark.parametrize("descriptors", [True, False], ids=["by descriptor", "by name"])
@pytest.mark.parametrize(
    ("reference", "text"),
    [
        ("a.txt", "a"),
        ("./a.txt", "a"),
        ("sub//b.txt", "b"),
        ("link.txt", "b"),
        ("up.txt", "a"),
        ("absolute.txt", "a"),
        ("inner/b.txt", "b"),
    ],
)
def test_inside(world: Path, reference: str, text: str, monkeypatch: pytest.MonkeyPatch, *, descriptors: bool) -> None:
    monkeypatch.setattr(module, "HAS_DESCRIPTORS", descriptors)
    assert refer(world, reference).text == text


@pytest.mark.parametrize("descriptors", [True, False], ids=["by descriptor", "by name"])
@pytest.mark.parametrize(
    ("reference", "code"),
    [
        ("escape.txt", "reference-escapes"),
        ("escape-absolute.txt", "reference-escapes"),
        ("escape-dir/secret", "reference-escapes"),
        ("chain.txt", "reference-escapes"),
        ("nope.txt", "file-missing"),
        ("broken.txt", "file-missing"),
        ("sub", "file-is-directory"),
        ("a.txt/x", "file-missing"),
        ("../outside/secret", "reference-parent"),
        ("sub/../a.txt", "reference-parent"),
        ("/etc/passwd", "reference-absolute"),
        ("C:\\x", "reference-absolute"),
        ("\\\\host\\share", "reference-absolute"),
        ("sub\\..\\..\\outside", "reference-parent"),
        ("", "reference-empty"),
        ("a\0b", "reference-nul"),
        ("~/x", "file-missing"),
        ("%2e%2e/outside/secret", "file-missing"),
        ("..a/b..", "file-missing"),
    ],
)
def test_refused(world: Path, reference: str, code: str, monkeypatch: pytest.MonkeyPatch, *, descriptors: bool) -> None:
    monkeypatch.setattr(module, "HAS_DESCRIPTORS", descriptors)
    with pytest.raises(FileProblem) as caught:
        refer(world, reference)
    assert caught.value.code == code


def test_a_loop_of_links_ends(world: Path) -> None:
    with pytest.raises(FileProblem) as caught:
        refer(world, "loop.txt")
    assert caught.value.code == "file-link-loop"


@pytest.mark.parametrize(
    ("reference", "outcome"),
    [
        ("sub/../a.txt", "a"),
        ("sub/deep/../../a.txt", "a"),
        ("../allowed/a.txt", "reference-escapes"),
        ("../outside/secret", "reference-escapes"),
        ("..", "reference-escapes"),
        ("inner/../a.txt", "a"),
    ],
)
def test_parents_may_be_allowed_while_they_stay_inside(world: Path, reference: str, outcome: str) -> None:
    """`..` is walked from where links led, as the system does: `inner/..` is the parent of `sub`."""
    try:
        assert refer(world, reference, INSIDE).text == outcome
    except FileProblem as problem:
        assert problem.code == outcome


def test_parents_may_lead_from_one_root_into_another(world: Path) -> None:
    (world / "allowed" / "sub" / "deep" / "c.txt").write_text("c")
    files = Files(cwd=str(world))
    inner, outer = str(world / "allowed" / "sub" / "deep"), str(world / "allowed")
    assert files.refer("../b.txt", (inner,), (inner, outer), INSIDE).source.text == "b"


def test_a_second_base_is_tried_only_when_the_file_is_missing(world: Path) -> None:
    files = Files(cwd=str(world))
    bases = (str(world / "allowed" / "sub"), str(world / "allowed"))
    roots = (str(world / "allowed"),)
    assert files.refer("a.txt", bases, roots, STRICT).source.text == "a"
    with pytest.raises(FileProblem) as caught:
        files.refer("nope.txt", bases, roots, STRICT)
    assert caught.value.code == "file-missing"


def test_an_absolute_path_may_be_allowed(world: Path) -> None:
    policy = PathPolicy(absolute="outside")
    files = Files(cwd=str(world))
    roots = (str(world / "allowed"),)
    inside = files.refer(str(world / "allowed" / "a.txt"), roots, roots, policy)
    outside = files.refer(str(world / "outside" / "secret"), roots, roots, policy)
    assert (inside.outside, outside.outside) == (False, True)


def test_a_file_is_read_once_however_it_is_named(world: Path) -> None:
    files = Files(cwd=str(world))
    roots = (str(world / "allowed"),)
    first = files.refer("a.txt", roots, roots, STRICT).source
    assert files.refer("absolute.txt", roots, roots, STRICT).source is first
    assert files.read("allowed/a.txt") is first
    assert files.sources() == (first,)


def test_what_is_no_regular_file_is_not_read(world: Path) -> None:
    os.mkfifo(world / "allowed" / "pipe")
    with pytest.raises(FileProblem) as caught:
        refer(world, "pipe")
    assert caught.value.code == "file-not-regular"
    with socket.socket(socket.AF_UNIX) as server:
        os.chdir(world / "allowed")
        server.bind("socket")
        with pytest.raises(FileProblem) as caught:
            refer(world, "socket")
    assert caught.value.code == "file-not-regular"
    with pytest.raises(FileProblem) as caught:
        Files().read("/dev/null")
    assert caught.value.code == "file-not-regular"


def test_size_is_checked_before_content(world: Path) -> None:
    with open(world / "allowed" / "sparse", "wb") as file:
        file.truncate(10**12)
    with pytest.raises(FileProblem) as caught:
        refer(world, "sparse")
    assert caught.value.code == "file-too-large"


def test_a_file_that_says_it_is_empty_is_still_bounded() -> None:
    if not os.path.exists("/proc/kallsyms"):
        pytest.skip("no file here that reports a size of 0 and has content")
    with pytest.raises(FileProblem) as caught:
        Files().read("/proc/kallsyms", max_bytes=100)
    assert caught.value.code == "file-too-large"


def test_an_unreadable_file(world: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("root may read everything")
    (world / "allowed" / "a.txt").chmod(0)
    with pytest.raises(FileProblem) as caught:
        refer(world, "a.txt")
    assert caught.value.code == "file-unreadable"


def test_text_that_is_no_utf8_names_the_byte() -> None:
    source = module.decoded("x", b"ok\xff", None)
    with pytest.raises(FileProblem) as caught:
        require_text(source)
    assert (caught.value.values["offset"], caught.value.values["byte"]) == (2, "0xFF")
    assert require_text(module.decoded("x", b"", None)).text == ""


def test_names_are_relative_to_the_working_directory() -> None:
    assert display_name("/a/b/c.yaml", "/a") == "b/c.yaml"
    assert display_name("/other/c.yaml", "/a") == "/other/c.yaml"
    assert display_name("/ab/c", "/a") == "/ab/c"


@pytest.mark.parametrize(
    ("reference", "outcome"),
    [
        ("b.yaml", "b"),
        ("/lib/b.yaml", "b"),
        ("nope", "file-missing"),
        ("sub", "file-is-directory"),
        ("link/../../x", "reference-parent"),
        ("big", "file-too-large"),
    ],
)
def test_files_in_memory_behave_the_same(reference: str, outcome: str) -> None:
    files = MemoryFiles({"/lib/b.yaml": "b", "/lib/sub/c": "c", "/x": "x", "/lib/big": b"x" * 20}, cwd="/lib")
    policy = PathPolicy(absolute="outside", max_bytes=10)
    try:
        assert files.refer(reference, ("/lib",), ("/lib",), policy).source.text == outcome
    except FileProblem as problem:
        assert problem.code == outcome


def test_files_in_memory_are_confined() -> None:
    files = MemoryFiles({"/lib/b": "b", "/x": "x"}, cwd="/lib")
    with pytest.raises(FileProblem) as caught:
        files.refer("../x", ("/lib",), ("/lib",), INSIDE)
    assert caught.value.code == "reference-escapes"
    assert files.read("b") is files.read("/lib/b")
    assert files.opened == ["/lib/b"]


def test_references_are_judged_without_a_disk() -> None:
    check_reference("a/b..c/..d", STRICT)
    check_reference("../x", INSIDE)


def test_another_load_reads_nothing_twice_and_counts_its_own_sources(world: Path) -> None:
    first = Files(cwd=str(world / "allowed"))
    a = first.read("a.txt")
    second = first.again()
    assert second.sources() == ()
    assert second.read("a.txt") is a
    b = second.refer("b.txt", (str(world / "allowed" / "sub"),), (str(world / "allowed"),), STRICT).source
    assert second.sources() == (a, b)
    assert first.sources() == (a,)
    third = first.again()
    assert third.refer("b.txt", (str(world / "allowed" / "sub"),), (str(world / "allowed"),), STRICT).source is b
    assert third.sources() == (b,)


def test_a_link_named_by_the_caller_is_its_target(world: Path) -> None:
    files = Files(cwd=str(world / "allowed"))
    assert files.read("link.txt") is files.read("sub/b.txt")
    assert files.read("inner/b.txt") is files.read("sub/b.txt")


def test_a_load_knows_what_it_looked_for_and_how_that_was(world: Path) -> None:
    root = world / "allowed"
    files = Files(cwd=str(world))
    files.refer("b.txt", (str(root), str(root / "sub")), (str(root),), STRICT)
    with pytest.raises(FileProblem):
        files.refer("missing.txt", (str(root),), (str(root),), STRICT)
    seen = files.seen()
    assert seen.asked == tuple(str(root / each) for each in ("b.txt", "sub/b.txt", "missing.txt"))
    assert seen.read == {str(root / "sub" / "b.txt"): stamp_of(str(root / "sub" / "b.txt"))}
    assert files.again().seen() == Seen()


def test_a_stamp_tells_another_content_and_another_file(world: Path) -> None:
    path = world / "allowed" / "a.txt"
    before = stamp_of(str(path))
    path.write_text("longer")
    after = stamp_of(str(path))
    path.unlink()
    assert len({before, after, stamp_of(str(path)), stamp_of("\0")}) == 3
    folder = stamp_of(str(world))
    (world / "new").write_text("")
    assert stamp_of(str(world)) == folder
