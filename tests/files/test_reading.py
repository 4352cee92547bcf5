"""The files of a load: each is read once, and what was looked at is looked at again if it moved."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from equipage.core.source import Source
from equipage.files import MAX_BYTES, System
from equipage.files.disk import Disk
from equipage.files.memory import Memory, Overlay
from equipage.files.reading import Files
from equipage.files.recording import Recording
from equipage.files.sandbox import FileProblem, PathPolicy, real_path
from lab import write
from systems import DiskAt


@pytest.fixture
def world(tmp_path: Path) -> Path:
    root = Path(os.path.realpath(tmp_path))
    for name in ("in/sub", "out"):
        (root / name).mkdir(parents=True)
    (root / "in" / "sub" / "a.txt").write_text("a")
    (root / "out" / "a.txt").write_text("secret")
    return root


# --- inside or not -------------------------------------------------------------------------------


def test_a_name_that_no_file_can_have_is_inside_nothing(world: Path) -> None:
    load = Files(DiskAt(str(world)))
    inside = str(world / "in")
    assert load.is_within(f"{inside}/sub/a.txt", inside)
    assert not load.is_within(f"{inside}/a\0b", inside)
    assert not load.is_within(f"{inside}/a\ud800b", inside)
    assert load.is_within(f"{inside}/sub", f"{inside}\0", inside)
    assert not load.is_within(f"{inside}/sub", f"{inside}\0")


def test_a_folder_is_inside_itself(world: Path) -> None:
    load, inside = Files(DiskAt(str(world))), str(world / "in")
    for spelt in (inside, f"{inside}/", f"{inside}/.", f"{inside}/sub/.."):
        assert load.is_within(spelt, inside)
        assert load.is_within(spelt, str(world))
        assert not load.is_within(spelt, f"{inside}/sub")


def test_a_file_is_inside_if_its_folder_is(world: Path) -> None:
    load = Files(DiskAt(str(world)))
    real = str(world / "in" / "sub" / "a.txt")
    inside, outside = (str(world / "in"),), (str(world / "out"),)
    for _ in range(2):
        assert load.is_read_within(real, inside) is True
        assert load.is_read_within(real, outside) is False
        assert load.is_read_within(real, (*outside, *inside)) is True
        assert load.is_read_within(str(world / "out" / "a.txt"), inside) is False
        assert load.is_read_within(str(world / "no" / "a.txt"), inside) is False
        assert load.is_read_within(str(world / "in" / "no" / "a.txt"), inside) is True


def test_a_folder_that_was_exchanged_is_asked_about_again(world: Path) -> None:
    load = Files(DiskAt(str(world)))
    real, inside = str(world / "in" / "sub" / "a.txt"), (str(world / "in"),)
    assert load.is_read_within(real, inside)
    (world / "in" / "sub").rename(world / "in" / "old")
    (world / "in" / "sub").symlink_to("../out")
    assert not load.is_read_within(real, inside)
    assert not load.for_next_load().is_read_within(real, inside)
    assert load.system.real_folder(str(world / "in" / "sub")) == str(world / "out")
    (world / "in" / "sub").unlink()
    (world / "in" / "old").rename(world / "in" / "sub")
    assert load.is_read_within(real, inside)
    assert load.system.real_folder(str(world / "in" / "sub")) == str(world / "in" / "sub")


def test_a_folder_is_resolved_once(world: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    load = Files(DiskAt(str(world)))
    folder = str(world / "in" / "sub")
    real, inside = f"{folder}/a.txt", (str(world / "in"),)
    assert load.system.real_folder(folder) == folder
    assert load.is_read_within(real, inside)

    def refused(path: str) -> str:
        raise AssertionError(path)

    monkeypatch.setattr("equipage.files.disk.real_path", refused)
    assert load.system.real_folder(folder) == folder
    assert load.for_next_load().system.real_folder(folder) == folder
    assert load.for_next_load().is_read_within(f"{folder}/b.txt", inside)


def test_a_memory_says_what_is_inside(world: Path) -> None:
    (world / "link").symlink_to("in")
    load = Files(Memory({"/p/sub/a": b""}, root="/p"))
    assert load.system.real_folder("/p/sub/../sub") == "/p/sub"
    assert load.system.real_folder(str(world / "link")) == str(world / "link")
    assert load.is_read_within("/p/sub/a", ("/p/sub",))
    assert not load.is_read_within("/p/sub/a", ("/q",))


def test_a_folder_that_is_not_there_has_a_name_all_the_same(world: Path) -> None:
    load = Files(DiskAt(str(world)))
    assert load.system.real_folder(str(world / "no" / ".." / "in")) == str(world / "in")
    assert load.system.real_folder(str(world / "nothing")) == str(world / "nothing")


# --- what a walk found ---------------------------------------------------------------------------


def test_what_a_walk_found_is_opened_inside_its_folder(world: Path) -> None:
    load = Files(DiskAt(str(world)))
    base = str(world / "in")
    for start in (base, base + "/"):
        load = Files(DiskAt(str(world)))
        load.within = (start, base)
        source = load.read("in/sub/a.txt")
        assert (source.text, source.name) == ("a", "in/sub/a.txt")
        assert source.filename == f"{base}/sub/a.txt"
        assert load.for_next_load().within is None
    load.within = (f"{world}//in", base)
    assert load.read("in/sub/a.txt").text == "a"


def test_a_link_that_was_put_in_its_place_leads_nowhere(world: Path) -> None:
    base = str(world / "in")
    (world / "in" / "link.txt").symlink_to("../out/a.txt")
    (world / "in" / "inner.txt").symlink_to("sub/a.txt")
    (world / "in" / "folder").symlink_to("../out")
    load = Files(DiskAt(str(world)))
    load.within = (base, base)
    assert load.read("in/inner.txt").text == "a"
    for name in ("in/link.txt", "in/folder/a.txt", "out/a.txt"):
        with pytest.raises(FileProblem) as raised:
            load.read(name)
        assert (raised.value.code, raised.value.values) == ("link-outside", {"file": name})
    with pytest.raises(FileProblem) as raised:
        load.read("in/no.txt")
    assert (raised.value.code, raised.value.values) == ("file-missing", {"file": "in/no.txt"})
    # Inside the project, a link may leave the folder of the walk.
    load = Files(DiskAt(str(world)))
    load.within = (base, str(world))
    assert load.read("in/link.txt").text == "secret"


def test_what_the_policy_allows_by_name_is_read_beside_a_walk(world: Path) -> None:
    base = str(world / "in")
    load = Files(DiskAt(str(world)))
    load.within = (base, base)
    policy = PathPolicy(absolute="outside")
    found = load.refer(str(world / "out" / "a.txt"), (base,), (base,), policy)
    assert (found.outside, found.source.outside, found.source.text) == (True, True, "secret")
    assert load.within == (base, base)
    with pytest.raises(FileProblem):
        load.refer(str(world / "out" / "no.txt"), (base,), (base,), policy)
    assert load.within == (base, base)


# --- absolute references -------------------------------------------------------------------------


def test_an_absolute_reference_is_inside_by_any_spelling(world: Path) -> None:
    base = str(world / "in")
    load = Files(DiskAt(str(world)))
    unread = PathPolicy(absolute="unread")
    for spelt in (f"{base}/sub/a.txt", f"/{base}/sub/a.txt", f"{base}//sub/./a.txt"):
        found = load.refer(spelt, (base,), (base,), unread)
        assert (found.outside, found.source.text) == (False, "a")


def test_nothing_is_asked_about_a_place_that_must_not_be_read(
    world: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def noted(path: str) -> str:
        asked.append(path)
        return real_path(path)

    base = str(world / "in")
    (world / "link").symlink_to("in")
    load = Files(DiskAt(str(world)))
    monkeypatch.setattr("equipage.files.disk.real_path", noted)
    with pytest.raises(FileProblem) as raised:
        load.refer(f"{world}/link/sub/a.txt", (base,), (base,), PathPolicy(absolute="unread"))
    named = {"reference": f"{world}/link/sub/a.txt"}
    assert (raised.value.code, raised.value.values) == ("absolute-unread", named)
    assert asked
    assert not [each for each in asked if "/link" in each]
    # Where it may be read, it is what it leads to.
    found = load.refer(f"{world}/link/sub/a.txt", (base,), (base,), PathPolicy(absolute="outside"))
    assert (found.outside, found.source.name) == (False, "in/sub/a.txt")


def test_a_file_at_home_is_outside_the_roots(world: Path) -> None:
    base, home = str(world / "in"), str(world / "out")
    unread = PathPolicy(absolute="unread")
    found = Files(DiskAt(str(world))).refer(f"{home}/a.txt", (base,), (base,), unread, (home,))
    assert (found.outside, found.source.text) == (True, "secret")


@pytest.mark.parametrize("way", [".git/config", "innocent", "bare/config"])
def test_an_absolute_reference_into_a_repository_is_named(world: Path, way: str) -> None:
    for folder in (".git", "bare"):
        for name in ("objects", "refs"):
            (world / "out" / folder / name).mkdir(parents=True)
        for name in ("HEAD", "config"):
            (world / "out" / folder / name).write_text("ref: refs/heads/main\n")
    (world / "out" / "innocent").symlink_to(".git/config")
    base, reference = str(world / "in"), str(world / "out" / way)
    with pytest.raises(FileProblem) as raised:
        Files(DiskAt(base)).refer(reference, (base,), (base,), PathPolicy(absolute="outside"))
    assert (raised.value.code, raised.value.values) == (
        "reference-private",
        {"reference": reference},
    )


def test_a_root_that_cannot_be_allows_nothing(world: Path) -> None:
    load = Files(DiskAt(str(world)))
    with pytest.raises(FileProblem) as raised:
        load.refer(str(world / "out/a.txt"), ("/",), ("a\0b",), PathPolicy(absolute="unread"))
    assert raised.value.code == "absolute-unread"


def test_a_load_calls_a_file_by_the_name_it_knows_it_by(world: Path) -> None:
    base = str(world / "in")
    (world / "link.txt").symlink_to("in/sub/a.txt")
    first = Files(DiskAt(str(world)))
    assert first.read("link.txt").name == "link.txt"
    own = first.refer("sub/a.txt", (base,), (base,), PathPolicy()).source
    assert own.name == "link.txt"
    # Another load does not know that name,
    second = first.for_next_load()
    assert second.refer("sub/a.txt", (base,), (base,), PathPolicy()).source.name == "in/sub/a.txt"
    # and one that has another name for it keeps that.
    third = first.for_next_load()
    named = third.read("link.txt")
    assert third.refer("sub/a.txt", (base,), (base,), PathPolicy()).source is named


def test_two_dots_behind_a_link_lead_up_from_its_target(world: Path) -> None:
    (world / "out" / "deep").mkdir()
    (world / "in" / "link").symlink_to("../out/deep")
    source = Files(DiskAt(str(world))).read("in/link/../a.txt")
    assert (source.text, source.filename) == ("secret", str(world / "out" / "a.txt"))


def test_a_reference_outside_is_that_also_under_another_name(world: Path) -> None:
    (world / "in" / "link.txt").symlink_to("../out/a.txt")
    inside, policy = (str(world / "in"),), PathPolicy("outside")
    first = Files(DiskAt(str(world / "in")))
    assert first.refer(str(world / "out" / "a.txt"), inside, inside, policy).outside is True
    second = first.for_next_load()
    named = second.read("link.txt")
    found = second.refer(str(world / "out" / "a.txt"), inside, inside, policy)
    assert (found.source, found.outside) == (named, True)


def test_folders_may_be_deeper_than_calls_may_nest(world: Path) -> None:
    deep = "x/" * 1200
    load = Files(DiskAt(str(world)))
    assert load.name_of(f"{deep}a") == f"{deep}a"
    with pytest.raises(FileProblem) as raised:
        load.read(f"{deep}a")
    assert (raised.value.code.name, raised.value.values["file"]) == ("file-missing", f"{deep}a")
    assert Files(DiskAt("/")).name_of("/x") == "x"


def test_the_beginning_of_a_file(world: Path) -> None:
    (world / "b").write_text("abcdef")
    (world / "large").touch()
    os.truncate(world / "large", MAX_BYTES + 1)

    def beginnings(system: System) -> list[bytes | None]:
        return [system.peek(str(world / each), size=3) for each in ("b", "no", "in", "large")]

    assert beginnings(Disk()) == [b"abc", None, None, None]
    unsaved = Overlay({str(world / "b"): b"unsaved"}, Disk())
    assert beginnings(unsaved) == [b"uns", None, None, None]
    memory = Memory({"/b": b"abcdef"})
    assert (memory.peek("/b", size=3), memory.peek("/no", size=3)) == (b"abc", None)


def test_a_name_that_no_file_can_have_is_refused_by_its_name(world: Path) -> None:
    for name in ("a\0b", "in\0/a.txt"):
        with pytest.raises(FileProblem) as raised:
            Files(DiskAt(str(world))).read(name)
        assert raised.value.values["file"] == name


# --- names and stamps ----------------------------------------------------------------------------


def test_one_file_under_two_names_is_decoded_once_for_each(world: Path) -> None:
    (world / "link.txt").symlink_to("out/a.txt")
    load = Files(DiskAt(str(world)))
    first = load.read("out/a.txt")
    renamed = load.for_next_load().read("link.txt")
    assert (renamed.name, renamed.data, renamed.filename) == ("link.txt", b"secret", first.filename)
    assert load.for_next_load().read("link.txt") is renamed
    assert load.for_next_load().read("out/a.txt") is first
    assert load.read("link.txt") is first  # in one load, one file is one source


def test_a_folder_is_the_same_whatever_is_inside(world: Path) -> None:
    before = Disk().stamp(str(world / "in"))
    (world / "in" / "new").touch()
    assert before is not None
    assert before == Disk().stamp(str(world / "in"))
    (world / "in").rename(world / "old")
    (world / "in").mkdir()
    assert before not in (None, Disk().stamp(str(world / "in")))
    assert Disk().stamp("a\0b") is None


def test_what_was_asked_for_is_recorded(world: Path) -> None:
    load = Files(Recording(DiskAt(str(world))))
    load.read("in/sub/a.txt")
    load.is_folder(str(world / "in"))
    root = str(world / "in")
    load.refer("sub/a.txt", (root, str(world)), (root,), PathPolicy())
    assert load.record is not None
    for path in (f"{root}/sub/a.txt", root, f"{world}/sub/a.txt"):
        assert load.record.paths[path] == Disk().stamp(path)


def test_a_source_of_another_load_counts_once_it_is_noted(world: Path) -> None:
    load = Files(DiskAt(str(world)))
    text = Source.of_bytes("x", b"x", None)
    assert load.note(text) is text
    assert load.sources() == ()
    source = load.read("out/a.txt")
    other = Files(DiskAt(str(world)))
    assert other.note(source) is source
    assert other.sources() == (source,)


def test_what_is_known_exists(world: Path) -> None:
    load = Files(DiskAt(str(world)))
    path = str(world / "out" / "a.txt")
    load.read(path)
    os.unlink(path)
    assert load.exists(path)
    assert not Files(DiskAt(str(world))).exists(path)
    assert load.exists(str(world / "in"))


def test_a_look_leaves_nothing_open(world: Path) -> None:
    os.mkfifo(world / "pipe")
    before = len(os.listdir("/proc/self/fd"))
    for path in ("pipe", "in", "out/a.txt", "no"):
        Disk().peek(str(world / path))
        Disk().peek(str(world / path), max_bytes=1)
    assert Disk().peek("/dev/zero") is None
    assert Files(DiskAt("/")).peek(str(world / "out" / "a.txt")) == b"secret"
    assert len(os.listdir("/proc/self/fd")) == before


def test_a_folder_or_a_missing_file_by_a_name_with_an_end(world: Path) -> None:
    load = Files(DiskAt(str(world)))
    for name, shown in (("out/", "out"), ("out/.", "out"), ("out/sub/..", "out"), ("out", "out")):
        with pytest.raises(FileProblem) as raised:
            load.read(name)
        assert raised.value.code in ("file-is-directory", "file-missing")
        assert raised.value.values["file"] == shown
        assert load.name_of(name) == shown
    assert load.name_of("a\0b") == "a\0b"


def test_a_folder_that_became_a_link_is_no_longer_inside(tmp_path: Path) -> None:
    root = write(tmp_path, {"in/a/x.md": "x", "out/x.md": "x"}) / "in"
    path, files = str(root / "a" / "x.md"), Files(DiskAt(str(root)))
    (root / "a" / "link.md").symlink_to(tmp_path / "out" / "x.md")
    for _ in range(2):
        assert files.is_within(path, str(root))
        assert files.is_within(str(root / "a" / "missing.md"), str(root))
        assert not files.is_within(str(root / "a" / "link.md"), str(root))
    (root / "a").rename(root / "b")
    (root / "a").symlink_to(tmp_path / "out")
    assert not files.is_within(path, str(root))
    assert not files.is_within(str(root / "a" / "missing.md"), str(root))
    assert files.is_within(str(root / "b" / "x.md"), str(root))
