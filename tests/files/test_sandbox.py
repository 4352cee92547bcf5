"""The sandbox: nothing is opened that the policy does not allow (design D6)."""

from __future__ import annotations

import errno
import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from equipage.core import codes
from equipage.core.source import Source
from equipage.files import display_name, sandbox
from equipage.files.disk import Disk
from equipage.files.memory import Memory
from equipage.files.reading import Files, require_text
from equipage.files.recording import Recording
from equipage.files.sandbox import (
    FileProblem,
    PathPolicy,
    check_reference,
    problem_of_os_error,
    read_regular,
)
from lab import write
from systems import DiskAt

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
    (root / "escape-through.txt").symlink_to(root / "escape-dir" / "secret")
    (root / "chain.txt").symlink_to("chain2.txt")
    (root / "chain2.txt").symlink_to("escape.txt")
    (root / "loop.txt").symlink_to("loop.txt")
    (root / "deep-absolute.txt").symlink_to(root / "sub" / "b.txt")
    (root / "inner").symlink_to("sub")
    (root / "broken.txt").symlink_to("nowhere")
    return tmp_path


def in_memory(texts: dict[str, str], *, cwd: str = "/") -> Files:
    contents = {os.path.join(cwd, name): text.encode() for name, text in texts.items()}
    return Files(Memory(contents, root=cwd))


def refer(world: Path, reference: str, policy: PathPolicy = STRICT) -> Source:
    root = str(world / "allowed")
    return Files(DiskAt(str(world))).refer(reference, (root,), (root,), policy).source


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
        ("deep-absolute.txt", "b"),
        ("a.txt/", "a"),
        ("a.txt/.", "a"),
    ],
)
def test_inside(
    world: Path, reference: str, text: str, monkeypatch: pytest.MonkeyPatch, *, descriptors: bool
) -> None:
    monkeypatch.setattr(sandbox, "HAS_DESCRIPTORS", descriptors)
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
        ("a\ud800b", "lone-surrogate"),
        ("~/x", "file-missing"),
        ("%2e%2e/outside/secret", "file-missing"),
        ("..a/b..", "file-missing"),
    ],
)
def test_refused(
    world: Path, reference: str, code: str, monkeypatch: pytest.MonkeyPatch, *, descriptors: bool
) -> None:
    monkeypatch.setattr(sandbox, "HAS_DESCRIPTORS", descriptors)
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
def test_parents_may_be_allowed_while_they_stay_inside(
    world: Path, reference: str, outcome: str
) -> None:
    """`..` is walked from where links led, as the system does: `inner/..` is the parent of `sub`."""
    try:
        assert refer(world, reference, INSIDE).text == outcome
    except FileProblem as problem:
        assert problem.code == outcome


def test_parents_may_lead_from_one_root_into_another(world: Path) -> None:
    (world / "allowed" / "sub" / "deep" / "c.txt").write_text("c")
    files = Files(DiskAt(str(world)))
    inner, outer = str(world / "allowed" / "sub" / "deep"), str(world / "allowed")
    assert files.refer("../b.txt", (inner,), (inner, outer), INSIDE).source.text == "b"


def test_a_second_base_is_tried_only_when_the_file_is_missing(world: Path) -> None:
    files = Files(DiskAt(str(world)))
    bases = (str(world / "allowed" / "sub"), str(world / "allowed"))
    roots = (str(world / "allowed"),)
    assert files.refer("a.txt", bases, roots, STRICT).source.text == "a"
    with pytest.raises(FileProblem) as caught:
        files.refer("nope.txt", bases, roots, STRICT)
    assert caught.value.code == "file-missing"


def test_an_absolute_path_may_be_allowed(world: Path) -> None:
    policy = PathPolicy(absolute="outside")
    files = Files(DiskAt(str(world)))
    roots = (str(world / "allowed"),)
    inside = files.refer(str(world / "allowed" / "a.txt"), roots, roots, policy)
    outside = files.refer(str(world / "outside" / "secret"), roots, roots, policy)
    assert (inside.outside, outside.outside) == (False, True)


def test_a_file_is_read_once_however_it_is_named(world: Path) -> None:
    files = Files(DiskAt(str(world)))
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
        Files(Disk()).read("/dev/null")
    assert caught.value.code == "file-not-regular"


def test_size_is_checked_before_content(world: Path) -> None:
    with open(world / "allowed" / "sparse", "wb") as file:
        file.truncate(10**12)
    with pytest.raises(FileProblem) as caught:
        refer(world, "sparse")
    assert caught.value.code == "file-too-large"


def test_a_file_that_the_system_makes_up() -> None:
    if not os.path.exists("/proc/kallsyms"):
        pytest.skip("no file here that reports a size of 0 and has content")
    with pytest.raises(FileProblem) as caught:
        Files(Disk()).read("/proc/kallsyms", max_bytes=100)
    assert caught.value.code == "file-not-regular"


def test_an_unreadable_file(world: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("root may read everything")
    (world / "allowed" / "a.txt").chmod(0)
    with pytest.raises(FileProblem) as caught:
        refer(world, "a.txt")
    assert caught.value.code == "file-unreadable"


def test_text_that_is_no_utf8_names_the_byte() -> None:
    source = Source.of_bytes("x", b"ok\xff", None)
    with pytest.raises(FileProblem) as caught:
        require_text(source)
    assert (caught.value.values["offset"], caught.value.values["byte"]) == (2, "0xFF")
    assert require_text(Source.of_bytes("x", b"", None)).text == ""


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
    files = in_memory(
        {"/lib/b.yaml": "b", "/lib/sub/c": "c", "/x": "x", "/lib/big": "x" * 20}, cwd="/lib"
    )
    policy = PathPolicy(absolute="outside", max_bytes=10)
    try:
        assert files.refer(reference, ("/lib",), ("/lib",), policy).source.text == outcome
    except FileProblem as problem:
        assert problem.code == outcome


def test_files_in_memory_are_confined() -> None:
    files = in_memory({"/lib/b": "b", "/x": "x"}, cwd="/lib")
    with pytest.raises(FileProblem) as caught:
        files.refer("../x", ("/lib",), ("/lib",), INSIDE)
    assert caught.value.code == "reference-escapes"
    assert files.read("b") is files.read("/lib/b")
    assert list(files._known) == ["/lib/b"]


def test_references_are_judged_without_a_disk() -> None:
    check_reference("a/b..c/..d", STRICT)
    check_reference("../x", INSIDE)


def test_another_load_reads_nothing_twice_and_counts_its_own_sources(world: Path) -> None:
    first = Files(DiskAt(str(world / "allowed")))
    a = first.read("a.txt")
    second = first.for_next_load()
    assert second.sources() == ()
    assert second.read("a.txt") is a
    b = second.refer(
        "b.txt", (str(world / "allowed" / "sub"),), (str(world / "allowed"),), STRICT
    ).source
    assert second.sources() == (a, b)
    assert first.sources() == (a,)
    third = first.for_next_load()
    assert (
        third.refer(
            "b.txt", (str(world / "allowed" / "sub"),), (str(world / "allowed"),), STRICT
        ).source
        is b
    )
    assert third.sources() == (b,)


def test_a_link_named_by_the_caller_is_its_target(world: Path) -> None:
    files = Files(DiskAt(str(world / "allowed")))
    assert files.read("link.txt") is files.read("sub/b.txt")
    assert files.read("inner/b.txt") is files.read("sub/b.txt")


def test_a_load_knows_what_it_looked_for_and_how_that_was(world: Path) -> None:
    root = world / "allowed"
    files = Files(Recording(DiskAt(str(world))))
    files.refer("b.txt", (str(root), str(root / "sub")), (str(root),), STRICT)
    with pytest.raises(FileProblem):
        files.refer("missing.txt", (str(root),), (str(root),), STRICT)
    assert files.record is not None
    for name in ("b.txt", "sub/b.txt", "missing.txt"):
        path = str(root / name)
        assert files.record.paths[path] == Disk().stamp(path)
    following = files.for_next_load().record
    assert following is not None
    assert (following.paths, following.folders) == ({}, {})


def test_a_stamp_tells_another_content_and_another_file(world: Path) -> None:
    path = world / "allowed" / "a.txt"
    before = Disk().stamp(str(path))
    path.write_text("longer")
    after = Disk().stamp(str(path))
    path.unlink()
    assert len({before, after, Disk().stamp(str(path)), Disk().stamp("\0")}) == 3
    folder = Disk().stamp(str(world))
    (world / "new").write_text("")
    assert Disk().stamp(str(world)) == folder


# --- exact words and bounds ----------------------------------------------------------------------


def problem(run: Callable[..., object], *arguments: object) -> tuple[str, dict[str, object]]:
    with pytest.raises(FileProblem) as caught:
        run(*arguments)
    assert caught.value.args == (caught.value.code, caught.value.values)
    return caught.value.code, caught.value.values


COPY = "put a copy of the file in place of the link"


@pytest.mark.parametrize("descriptors", [True, False], ids=["by descriptor", "by name"])
@pytest.mark.parametrize(
    ("reference", "code", "values"),
    [
        ("", "reference-empty", {}),
        ("a\0b", "reference-nul", {"reference": "a\0b"}),
        ("/etc/x", "reference-absolute", {"reference": "/etc/x"}),
        ("C:/x", "reference-absolute", {"reference": "C:/x"}),
        ("sub/../a.txt", "reference-parent", {"reference": "sub/../a.txt"}),
        ("escape.txt", "reference-escapes", {"reference": "escape.txt", "advice": COPY}),
        (
            "escape-absolute.txt",
            "reference-escapes",
            {"reference": "escape-absolute.txt", "advice": COPY},
        ),
        (
            "escape-through.txt",
            "reference-escapes",
            {"reference": "escape-through.txt", "advice": COPY},
        ),
        ("nope.txt", "file-missing", {"file": "nope.txt"}),
        ("a.txt/b", "file-missing", {"file": "a.txt/b"}),
        ("sub", "file-is-directory", {"file": "sub"}),
        ("loop.txt", "file-link-loop", {"file": "loop.txt"}),
        (
            "n" * 300,
            "file-unreadable",
            {"file": "n" * 300, "reason": os.strerror(errno.ENAMETOOLONG)},
        ),
    ],
    ids=lambda value: value[:20] if isinstance(value, str) else "",
)
def test_a_problem_says_what_was_asked_for(
    world: Path,
    monkeypatch: pytest.MonkeyPatch,
    reference: str,
    code: str,
    values: dict[str, object],
    *,
    descriptors: bool,
) -> None:
    monkeypatch.setattr(sandbox, "HAS_DESCRIPTORS", descriptors)
    assert problem(lambda: refer(world, reference)) == (code, values)


@pytest.mark.parametrize(
    ("error", "code", "values"),
    [
        (OSError(errno.ENOENT, "x"), "file-missing", {}),
        (OSError(errno.ENOTDIR, "x"), "file-missing", {}),
        (OSError(errno.EISDIR, "x"), "file-is-directory", {}),
        (OSError(errno.ELOOP, "x"), "file-link-loop", {}),
        (OSError(errno.ENXIO, "x"), "file-not-regular", {}),
        (OSError(errno.ENODEV, "x"), "file-not-regular", {}),
        (OSError(errno.EACCES, "no entry"), "file-unreadable", {"reason": "no entry"}),
        (OSError("bare"), "file-unreadable", {"reason": "bare"}),
        (ValueError("embedded null byte"), "file-unreadable", {"reason": "embedded null byte"}),
    ],
    ids=lambda value: str(value),
)
def test_what_a_system_refuses_in_our_words(
    error: Exception, code: str, values: dict[str, object]
) -> None:
    made = problem_of_os_error(error, "name")
    assert (made.code, made.values) == (code, {"file": "name", **values})


@pytest.mark.parametrize(
    ("reference", "refused"),
    [
        ("C:/", True),
        ("c:\\x", True),
        ("\\\\host", True),
        ("C:", False),
        ("C:X", False),
        ("1:/", False),
    ],
)
def test_drives_and_shares(reference: str, refused: bool) -> None:
    if refused:
        assert problem(lambda: check_reference(reference, STRICT)) == (
            "reference-absolute",
            {"reference": reference},
        )
    else:
        check_reference(reference, STRICT)


@pytest.mark.parametrize("descriptors", [True, False], ids=["by descriptor", "by name"])
@pytest.mark.parametrize("name", ["root", "rooX", "root ", "."])
def test_the_name_of_a_root_does_not_matter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, *, descriptors: bool
) -> None:
    monkeypatch.setattr(sandbox, "HAS_DESCRIPTORS", descriptors)
    root = tmp_path / name
    (root / "sub X" / "deep ").mkdir(parents=True)
    (root / "sub X" / "deep " / "a").write_text("a")
    (root / "sub X" / "b").write_text("b")
    (root / "link").symlink_to(root / "sub X" / "deep " / "a")
    beside = tmp_path.parent / f"{tmp_path.name}-beside"
    beside.mkdir()
    (beside / "a").write_text("secret")
    files = Files(DiskAt(str(tmp_path)))
    absolute = PathPolicy(absolute="outside", parents="inside", max_bytes=5)
    for reference in ("sub X/deep /a", "link", str(root / "link")):
        found = files.refer(reference, (str(root),), (str(root),), absolute)
        assert (found.source.text, found.outside) == ("a", False)
        assert found.source.filename == os.path.realpath(root / "sub X" / "deep " / "a")
    assert (
        files.refer("a", (str(root / "sub X" / "deep "),), (str(root),), STRICT).source.text == "a"
    )
    assert files.refer(
        "sub X/b", (str(root),), (str(root),), STRICT
    ).source.filename == os.path.realpath(root / "sub X" / "b")
    code, _ = problem(
        lambda: files.refer(f"../{beside.name}/a", (str(root),), (str(root),), absolute)
    )
    assert code == "reference-escapes"
    too_large = problem(
        lambda: files.refer(str(beside / "a"), (str(root),), (str(root),), absolute)
    )
    assert too_large[0] == "file-too-large"


@pytest.mark.parametrize(("links", "followed"), [(40, True), (41, False)])
def test_as_many_links_as_a_system_would_follow(tmp_path: Path, links: int, followed: bool) -> None:
    (tmp_path / "0").write_text("end")
    for number in range(links):
        (tmp_path / str(number + 1)).symlink_to(str(number))
    load, root = Files(Disk()), (str(tmp_path),)

    def run() -> str:
        return load.refer(str(links), root, root, STRICT).source.text

    assert run() == "end" if followed else problem(run)[0] == "file-link-loop"


def test_dots_on_the_way_are_no_folders(world: Path) -> None:
    assert refer(world, "sub/./../a.txt", INSIDE).text == "a"
    assert refer(world, "sub/deep/.././b.txt", INSIDE).text == "b"


def test_up_from_a_root_deep_inside_another(world: Path) -> None:
    deep = world / "allowed" / "sub" / "deep" / "own"
    deep.mkdir()
    roots = (str(deep), str(world / "allowed"))
    assert Files(Disk()).refer("../../b.txt", (str(deep),), roots, INSIDE).source.text == "b"


def test_a_folder_in_the_first_base_does_not_hide_a_file_in_the_second(world: Path) -> None:
    root = world / "allowed"
    (root / "sub" / "a.txt").mkdir()
    bases = (str(root / "sub"), str(root))
    assert Files(Disk()).refer("a.txt", bases, (str(root),), STRICT).source.text == "a"


def test_what_was_found_once_is_not_looked_for_again(world: Path) -> None:
    root = str(world / "allowed")
    files = Files(Recording(DiskAt(str(world))))
    first = files.refer("sub/b.txt", (root,), (root,), STRICT)
    assert first.source.name == "allowed/sub/b.txt"
    assert files.record is not None
    assert str(world / "allowed" / "sub" / "b.txt") in files.record.paths
    (world / "allowed" / "sub" / "b.txt").unlink()
    assert files.for_next_load().refer("sub/b.txt", (root,), (root,), STRICT) is first


def test_a_source_that_another_load_read_may_be_too_large_for_this_one(world: Path) -> None:
    files = Files(DiskAt(str(world / "outside")))
    assert files.read("secret").text == "secret"
    assert files.for_next_load().read("secret", max_bytes=6).text == "secret"
    values = {"file": "secret", "size": 6, "limit": 5}
    assert problem(lambda: files.for_next_load().read("secret", max_bytes=5)) == (
        "file-too-large",
        values,
    )
    where = str(world / "outside")
    small = PathPolicy(max_bytes=5)
    following = files.for_next_load()
    assert problem(lambda: following.refer("secret", (where,), (where,), small)) == (
        "file-too-large",
        values,
    )
    memory = in_memory({"/outside/secret": "secret"}, cwd="/outside")
    memory.read("secret")
    assert problem(lambda: memory.for_next_load().read("secret", max_bytes=5)) == (
        "file-too-large",
        values,
    )


def test_names_below(world: Path) -> None:
    root = world / "allowed"
    for link in [each for each in root.iterdir() if each.is_symlink()]:
        link.unlink()
    (root / "sub" / "deep" / "c.txt").write_text("c")
    (root / "sub" / "a.txt").write_text("c")
    files = Files(Disk())
    everything = ["a.txt", "sub/a.txt", "sub/b.txt", "sub/deep/c.txt"]
    assert files.names_below(str(root)) == everything
    for most in range(5):
        assert files.names_below(str(root), most=most) == everything[:most]


def test_peek(world: Path) -> None:
    path = str(world / "outside" / "secret")
    assert Disk().peek(path) == b"secret"
    assert Disk().peek(path, max_bytes=6) == b"secret"
    assert Disk().peek(path, max_bytes=5) is None
    assert Disk().peek(str(world)) is None
    assert Disk().peek(path + "\0") is None


def test_files_in_memory_know_their_folders() -> None:
    files = in_memory({"a/b.txt": "b", "/r/a/c/d.txt": "d", "e.txt": "e"}, cwd="/r")
    assert [
        files.is_folder(each) for each in ("a", "a/", "/r/a/c", ".", "e.txt", "/r/a/b", "no")
    ] == [True] * 4 + [False] * 3
    assert files.names_below("a") == ["b.txt", "c/d.txt"]
    assert files.names_below("/r", most=2) == ["e.txt", "a/b.txt"]
    assert files.for_next_load().read("e.txt").text == "e"
    assert problem(lambda: files.read("a")) == ("file-is-directory", {"file": "a"})
    assert problem(lambda: files.read("no")) == ("file-missing", {"file": "no"})
    assert problem(lambda: files.read("a/b.txt", max_bytes=0)) == (
        "file-too-large",
        {"file": "a/b.txt", "size": 1, "limit": 0},
    )
    outside = problem(lambda: files.refer("../x", ("a/c",), ("/r/a/c",), INSIDE))
    assert outside == ("reference-escapes", {"reference": "../x", "advice": "move the file inside"})
    named = files.refer("c/d.txt", ("a",), ("/r/a",), STRICT).source
    assert (named.name, named.filename, named.text) == ("a/c/d.txt", "/r/a/c/d.txt", "d")
    policy = PathPolicy(absolute="outside")
    assert [
        files.refer(each, ("a",), ("/r/a",), policy).outside for each in ("/r/a/b.txt", "/r/e.txt")
    ] == [False, True]
    assert list(files._known) == ["/r/e.txt", "/r/a/c/d.txt", "/r/a/b.txt"]


def test_what_the_caller_names_is_shown_as_named(world: Path) -> None:
    files = Files(DiskAt(str(world)))
    assert files.read("allowed/a.txt").name == "allowed/a.txt"
    for named in ("allowed/a.txt/", "allowed/a.txt/."):
        assert Files(DiskAt(str(world))).read(named).text == "a"
    for named, shown in (
        ("allowed/sub", "allowed/sub"),
        ("allowed/sub/", "allowed/sub"),
        ("allowed/sub/..", "allowed"),
    ):
        assert problem(files.read, named) == ("file-is-directory", {"file": shown})
    assert problem(lambda: files.read("allowed/nope")) == ("file-missing", {"file": "allowed/nope"})
    for named in ("a\0b", "a\0b/c"):
        code, values = problem(files.read, named)
        assert (code, values["file"]) == ("file-unreadable", named)
        assert "null" in str(values["reason"])


def test_what_the_caller_names_twice_is_read_once(world: Path) -> None:
    files = Files(DiskAt(str(world / "allowed")))
    first = files.read("a.txt")
    before = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0
    assert files.read("absolute.txt") is first
    assert not before or len(os.listdir("/proc/self/fd")) == before
    values = {"file": "absolute.txt", "size": 1, "limit": 0}
    assert problem(lambda: files.read("absolute.txt", max_bytes=0)) == ("file-too-large", values)
    (world / "allowed" / "a.txt").unlink()
    assert files.for_next_load().read("a.txt") is first


def test_a_disk_that_fails(world: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_arguments: object) -> bytes:
        raise OSError(errno.EIO, "the disk failed")

    closed: list[int] = []
    monkeypatch.setattr(sandbox.os, "read", fail)
    monkeypatch.setattr(sandbox.os, "close", closed.append)
    code, values = problem(lambda: Files(DiskAt(str(world))).read("allowed/a.txt"))
    monkeypatch.undo()
    assert (code, values) == (
        "file-unreadable",
        {"file": "allowed/a.txt", "reason": "the disk failed"},
    )
    assert len(closed) == 1
    os.close(closed[0])


def test_a_file_that_holds_more_than_its_size_says(monkeypatch: pytest.MonkeyPatch) -> None:
    for size, parts in ((0, [b"a"]), (3, [b"ab", b"cd"]), (3, [b"abcd"])):
        rest = iter(parts)
        monkeypatch.setattr(sandbox.os, "read", lambda _file, _count, rest=rest: next(rest))
        status = os.stat_result((0o100644, 1, 1, 1, 0, 0, size, 0, 0, 0))
        assert problem(lambda status=status: read_regular(-1, status, "/n", "n", 4)) == (
            "file-unreadable",
            {"file": "n", "reason": "it holds more bytes than its size says"},
        )


def test_a_file_that_comes_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    parts = iter([b"ab", b"cd", b""])
    monkeypatch.setattr(sandbox.os, "read", lambda _file, _count: next(parts))
    status = os.stat_result((0o100644, 1, 1, 1, 0, 0, 4, 0, 0, 0))
    assert read_regular(-1, status, "/n", "n", 4) == b"abcd"


def test_sizes_and_kinds_of_files_in_words(world: Path) -> None:
    files = Files(DiskAt(str(world / "outside")))
    assert problem(lambda: files.read("secret", max_bytes=5)) == (
        "file-too-large",
        {"file": "secret", "size": 6, "limit": 5},
    )
    os.mkfifo(world / "outside" / "pipe")
    assert problem(lambda: files.read("pipe")) == ("file-not-regular", {"file": "pipe"})


def test_bytes_that_are_no_text(world: Path) -> None:
    path = world / "allowed" / "binary"
    path.write_bytes(b"ab\xff")
    source = Files(DiskAt(str(world))).read("allowed/binary")
    assert (source.name, source.data, source.text, source.path) == (
        "allowed/binary",
        b"ab\xff",
        "",
        path,
    )
    values = {"file": "allowed/binary", "offset": 2, "byte": "0xFF"}
    assert problem(lambda: require_text(source)) == ("not-utf8", values)
    empty = Source.of_text("empty", "")
    assert require_text(empty) is empty


def test_files_in_memory_by_any_name() -> None:
    files = in_memory({"rX/a": "a", "r /b": "b"})
    for root, name in (("rX", "a"), ("r ", "b"), ("/rX", "a")):
        assert files.refer(name, (root,), (root,), STRICT).source.text == name
        assert files.is_folder(root)
        assert files.names_below(root) == [name]
        assert (
            files.refer(
                f"/{root.strip('/')}/{name}",
                (root,),
                (f"/{root.strip('/')}",),
                PathPolicy(absolute="outside"),
            ).outside
            is False
        )
    assert problem(lambda: files.refer("no", ("rX",), ("rX",), STRICT)) == (
        "file-missing",
        {"file": "no"},
    )
    assert files.read("rX/a", max_bytes=1).text == "a"
    fresh = in_memory({"/x/large": "12345"})
    small = PathPolicy(absolute="outside", max_bytes=4)
    assert problem(lambda: fresh.refer("/x/large", ("/y",), ("/y",), small))[0] == "file-too-large"
    assert in_memory({"/x/large": "12345"}).read("/x/large", max_bytes=5).text == "12345"


def test_programs_and_folders(world: Path) -> None:
    files = Recording(DiskAt(str(world)))
    program = world / "outside" / "run-me"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    assert files.finds_program("run-me", str(world / "outside"))
    assert not files.finds_program("run-me", str(world / "allowed"))
    assert files.is_folder(str(world / "allowed"))
    assert not files.is_folder(str(program))
    assert {str(world / "allowed"), str(program)} <= files.record.paths.keys()


def test_names_are_relative_to_any_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "ends with a blank "
    folder.mkdir()
    assert display_name(str(folder / "a"), str(folder)) == "a"
    monkeypatch.chdir(folder)
    assert Disk().name_of("a") == "a"


# Words and values of refusals: a finding shows them.


@pytest.fixture
def allowed(world: Path) -> Path:
    return world / "allowed"


def opened(base: Path, reference: str, *roots: Path) -> str:
    """The real path that a reference leads to."""
    file = sandbox.open_inside(str(base), reference, tuple(map(str, roots)))
    file.close()
    return file.real


COPY, MOVE = "put a copy of the file in place of the link", "move the file inside"


def test_who_leaves_by_a_link_is_told_to_copy_and_who_leaves_otherwise_to_move(
    allowed: Path,
) -> None:
    top = allowed.parent
    (allowed / "out").symlink_to("../outside/secret")
    (allowed / "far").symlink_to(str(top / "outside" / "secret"))
    (allowed / "back").symlink_to("../allowed/a.txt")
    for base, reference, advice in (
        (allowed, "out", COPY),
        (allowed, "far", COPY),
        (allowed, "../outside/secret", MOVE),
        (allowed, "sub/../../outside/secret", MOVE),
        (top / "outside", "secret", MOVE),
        # Leaving and coming back would tell the name of the folder.
        (allowed, "../allowed/a.txt", MOVE),
        (allowed, "back", COPY),
    ):
        code, values = problem(
            lambda base=base, reference=reference: opened(base, reference, allowed)
        )
        assert code == "reference-escapes"
        assert values == {"reference": reference, "advice": advice}
    assert sandbox.escape_problem("a/b").values["advice"] == COPY
    assert sandbox.escape_problem("a/../b").values["advice"] == MOVE
    assert sandbox.escape_problem("a/b", linked=False).values["advice"] == MOVE


def test_a_base_may_be_folders_below_its_root(allowed: Path) -> None:
    (allowed / "sub" / "deep" / "er").mkdir()
    (allowed / "sub" / "deep" / "er" / "c.txt").write_text("c")
    base = allowed / "sub" / "deep" / "er"
    assert opened(base, "c.txt", allowed) == str(base / "c.txt")
    assert opened(base, "../../b.txt", allowed) == str(allowed / "sub" / "b.txt")
    # There is nothing above the root of a system, so nothing is told by going there.
    assert opened(Path("/"), f"../..{base}/c.txt", Path("/")) == str(base / "c.txt")


@pytest.mark.parametrize("head", ["file", "link to nothing"])
@pytest.mark.parametrize("descriptors", [True, False])
def test_a_folder_of_git_by_any_name_is_refused(
    allowed: Path, head: str, descriptors: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sandbox, "HAS_DESCRIPTORS", descriptors)
    bare = allowed / "sub" / "bare"
    for name in ("objects", "refs"):
        (bare / name).mkdir(parents=True)
    (bare / "description").write_text("x")
    assert opened(allowed, "sub/bare/description", allowed) == str(bare / "description")
    if head == "file":
        (bare / "HEAD").write_text("ref: refs/heads/main\n")
    else:
        (bare / "HEAD").symlink_to("refs/heads/main")
    # What lies beside us does not make a folder one of git.
    monkeypatch.chdir(bare)
    reference = "sub/bare/description"
    assert problem(lambda: opened(allowed, reference, allowed)) == (
        "reference-private",
        {"reference": reference},
    )
    assert opened(allowed, "sub/b.txt", allowed) == str(allowed / "sub" / "b.txt")
    (allowed / ".git").mkdir()
    (allowed / ".git" / "config").write_text("x")
    assert problem(lambda: opened(allowed, ".git/config", allowed)) == (
        "reference-private",
        {"reference": ".git/config"},
    )


@pytest.mark.parametrize(
    "path", ["/proc/self/environ", "//proc/self/environ", "/sys/kernel", "/dev", "/proc/../proc/1"]
)
def test_what_a_system_says_about_itself_is_refused_by_name(path: str) -> None:
    assert problem(lambda: sandbox.refuse_system(path)) == ("file-not-regular", {"file": path})


def test_other_paths_are_not_of_the_system(tmp_path: Path) -> None:
    for path in ("/process/x", "/dev/shm/x", str(tmp_path), "/a/proc/x", "/", "//a//proc/x"):
        sandbox.refuse_system(path)


def test_the_folders_above_the_nearest_first() -> None:
    assert list(sandbox.parents_of("/a/b/c")) == ["/a/b", "/a", "/"]
    assert list(sandbox.parents_of("/")) == []


def test_a_link_that_never_stops_changing_is_a_loop(
    allowed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = []

    def swapped(path: str) -> str:
        looks.append(path)
        return str(allowed / "link.txt")

    monkeypatch.setattr(sandbox, "real_path", swapped)
    with pytest.raises(OSError, match=os.strerror(errno.ELOOP)) as caught:
        sandbox.open_following_link(str(allowed / "link.txt"), str(allowed / "link.txt"))
    assert caught.value.errno == errno.ELOOP
    assert len(looks) == 8


def test_a_name_with_an_end_that_means_a_folder_is_resolved_first(allowed: Path) -> None:
    for end in ("/", "/.", "/.."):
        full = f"{allowed}/sub/deep{end}"
        descriptor, real = sandbox.open_following_link(full, full)
        os.close(descriptor)
        assert real == os.path.realpath(full)


@pytest.mark.skipif(not sandbox.HAS_DESCRIPTORS, reason="links are resolved by name here")
def test_a_link_that_was_one_a_moment_ago_is_looked_at_again(
    allowed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real_readlink, number = os.readlink, [errno.EINVAL]

    def readlink(path: str, *, dir_fd: int | None = None) -> str:
        if number:
            raise OSError(number.pop(), "no")
        return real_readlink(path, dir_fd=dir_fd)

    monkeypatch.setattr(os, "readlink", readlink)
    reference = "link.txt"
    walk = sandbox._Walk(reference)
    walk.roots = [str(allowed)]
    try:
        walk.start_at_root(str(allowed))
        assert walk.descend([reference]) is not None
        assert walk.stack[-1][1] == str(allowed / "sub" / "b.txt")
        number.append(errno.EACCES)
        with pytest.raises(PermissionError):
            walk.descend(["..", "..", reference])
    finally:
        walk.close()


@pytest.mark.parametrize("number", [errno.EINVAL, errno.ENOENT, errno.EACCES])
def test_a_real_path_is_found_although_a_link_changed_meanwhile(
    number: int, allowed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real_readlink, numbers = os.readlink, [number]

    def readlink(path: str) -> str:
        if numbers:
            raise OSError(numbers.pop(), "no")
        return real_readlink(path)

    monkeypatch.setattr(os, "readlink", readlink)
    assert sandbox.real_path(str(allowed / "link.txt")) == str(allowed / "sub" / "b.txt")


def test_a_reference_with_half_a_character_is_shown() -> None:
    for reference in ("a\ud800", "\udfff"):
        assert problem(lambda reference=reference: check_reference(reference, STRICT)) == (
            "lone-surrogate",
            {"reference": reference},
        )


# Whether a folder is a repository is asked once, as long as nothing in it comes or goes.


def _opened(folder: Path, plain: sandbox.FoldersWithoutRepository) -> str:
    file = sandbox.open_inside(str(folder), "a/b/x.md", (str(folder),), plain=plain)
    file.close()
    return file.real


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Each look for the marks of a repository."""
    found: list[str] = []
    asked = sandbox.refuse_repository

    def noted(folder: int | str, reference: str) -> None:
        found.append(reference)
        asked(folder, reference)

    monkeypatch.setattr(sandbox, "refuse_repository", noted)
    return found


def test_a_folder_that_stays_as_it_is_is_looked_at_once(
    tmp_path: Path, looks: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    root = write(tmp_path, {"a/b/x.md": "x", "a/c/y.md": "y"})
    monkeypatch.setattr(sandbox, "_RECENT_NANOSECONDS", -(10**12))  # as if long ago
    plain: sandbox.FoldersWithoutRepository = set()
    assert [_opened(root, plain) for _ in range(3)] == [f"{os.path.realpath(root)}/a/b/x.md"] * 3
    assert (len(looks), len(plain)) == (2, 2)
    for name in ("HEAD", "objects", "refs"):
        (root / "a" / name).mkdir()
    with pytest.raises(FileProblem) as caught:
        _opened(root, plain)
    assert caught.value.code == codes.REFERENCE_PRIVATE
    assert len(plain) == 2


def test_a_folder_that_just_changed_is_looked_at_again(tmp_path: Path, looks: list[str]) -> None:
    root, plain = write(tmp_path, {"a/b/x.md": "x"}), set()
    for _ in range(2):
        _opened(root, plain)
    assert (len(looks), plain) == (4, set())


def test_an_old_folder_that_just_got_its_inode_is_not_trusted(
    tmp_path: Path, looks: list[str]
) -> None:
    root, plain = write(tmp_path, {"a/b/x.md": "x"}), set()
    for folder in (root / "a", root / "a" / "b"):
        os.utime(folder, (0, 0))  # what anyone can set; the system says when that was
    _opened(root, plain)
    assert (len(looks), plain) == (2, set())
