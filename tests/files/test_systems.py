"""One small tree in every system, and the same answer of each to every question."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from equipage.files import System
from equipage.files.disk import Disk
from equipage.files.git import Revision
from equipage.files.memory import Memory, Overlay
from equipage.files.recording import Recording
from equipage.files.sandbox import FileProblem
from lab import commit, write

TREE = {"a.txt": b"text of a", "sub/b.txt": b"b", "sub/deep/c.txt": b"", "z.txt": b"z"}


@pytest.fixture(params=["disk", "memory", "overlay", "revision", "recording"])
def system(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[System]:
    root = Path(os.path.realpath(tmp_path))
    monkeypatch.chdir(root)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    texts = {f"{root}/{name}": data for name, data in TREE.items()}
    if request.param == "memory":
        yield Memory(texts, root=str(root))
    elif request.param == "overlay":  # a part is saved, and another not
        commit(write(root, {"a.txt": b"old", "sub/b.txt": b"b"}))
        (root / "sub/deep").mkdir()
        yield Overlay({path: texts[path] for path in texts if "/b.txt" not in path}, Disk())
    else:
        commit(write(root, TREE))
        if request.param == "revision":
            for name in TREE:
                (root / name).unlink()
            revision = Revision("HEAD", ".", Disk())
            yield revision
            revision.close()
        else:
            yield Recording(Disk()) if request.param == "recording" else Disk()


QUESTIONS: list[tuple[str, Callable[[System], Any], Any]] = [
    ("a file exists", lambda s: s.exists("a.txt"), True),
    ("a folder exists", lambda s: s.exists("sub/deep"), True),
    ("nothing", lambda s: s.exists("no"), False),
    ("below a file", lambda s: s.exists("a.txt/x"), False),
    ("is a file", lambda s: [s.is_file(p) for p in ("a.txt", "sub", "no")], [True, False, False]),
    ("is a folder", lambda s: [s.is_folder(p) for p in ("a.txt", "sub", ".")], [False, True, True]),
    ("no links", lambda s: [s.is_link(p) for p in ("a.txt", "sub", "no")], [False] * 3),
    ("not to be run", lambda s: s.is_executable("a.txt"), False),
    ("status of nothing", lambda s: s.status("no"), None),
    ("status, not followed", lambda s: s.status("a.txt", follow_links=False) is None, False),
    ("names", lambda s: [e.name for e in s.entries("sub")], ["b.txt", "deep"]),
    ("paths", lambda s: [e.path for e in s.entries("sub")], ["sub/b.txt", "sub/deep"]),
    ("folders", lambda s: [e.is_dir() for e in s.entries("sub")], [False, True]),
    ("files", lambda s: [e.is_file() for e in s.entries("sub")], [True, False]),
    ("links", lambda s: [e.is_symlink() for e in s.entries("sub")], [False, False]),
    ("content", lambda s: [s.peek(p) for p in ("a.txt", "sub/deep/c.txt")], [b"text of a", b""]),
    ("no content", lambda s: [s.peek(p) for p in ("no", "sub")], [None, None]),
    ("beginning", lambda s: s.peek("a.txt", size=4), b"text"),
    ("as large as allowed", lambda s: s.peek("a.txt", max_bytes=9), b"text of a"),
    ("too large", lambda s: s.peek("a.txt", max_bytes=8), None),
    ("beginning of a large one", lambda s: s.peek("a.txt", max_bytes=8, size=4), None),
    ("hash", lambda s: s.sha256("a.txt"), hashlib.sha256(b"text of a").hexdigest()),
    ("no hash", lambda s: [s.sha256(p) for p in ("no", "sub")], [None, None]),
    ("stamp", lambda s: s.stamp("a.txt") is not None, True),
    ("the same stamp", lambda s: s.stamp("a.txt") == s.stamp("./a.txt"), True),
    ("stamp of a folder", lambda s: s.stamp("sub") is not None, True),
    ("no stamp", lambda s: s.stamp("no"), None),
    ("real", lambda s: s.real("sub/../a.txt") == os.path.join(s.cwd, "a.txt"), True),
    ("real folder", lambda s: s.real_folder("sub/deep") == os.path.join(s.cwd, "sub/deep"), True),
    ("inside", lambda s: [s.is_inside(p, "sub") for p in ("sub/x", "z.txt")], [True, False]),
    ("repository", lambda s: s.repository_root(s.absolute("sub")) == s.cwd, True),
    ("shown", lambda s: s.name_of(os.path.join(s.cwd, "sub/b.txt")), "sub/b.txt"),
    ("names that no file has", lambda s: [s.exists("a\0"), s.peek("a\0")], [False, None]),
]


@pytest.mark.parametrize(("ask", "answer"), [pytest.param(*q[1:], id=q[0]) for q in QUESTIONS])
def test_every_system_gives_the_same_answer(
    system: System, ask: Callable[[System], Any], answer: Any
) -> None:
    assert ask(system) == answer


def test_what_cannot_be_listed_is_an_error_of_the_system(system: System) -> None:
    for folder, error in (("no", FileNotFoundError), ("a.txt", NotADirectoryError)):
        with pytest.raises(error) as raised:
            system.entries(folder)
        assert raised.value.filename == folder


def test_files_are_opened_by_name(system: System) -> None:
    path = system.absolute("sub/b.txt")
    opened = system.open_named(path, path)
    assert (opened.real, opened.read("b", 1)) == (path, b"b")
    opened.close()
    with pytest.raises(FileNotFoundError):
        system.open_named(system.absolute("no"), system.absolute("no"))
    opened = system.open_named(path, path)
    with pytest.raises(FileProblem) as raised:
        opened.read("b", 0)
    opened.close()
    assert raised.value.values == {"file": "b", "size": 1, "limit": 0}


@pytest.mark.parametrize(
    ("reference", "found"),
    [
        ("b.txt", b"b"),
        ("deep/../b.txt", b"b"),
        ("no", "file-missing"),
        ("deep", "file-is-directory"),
        ("../a.txt", "reference-escapes"),
        ("../no", "reference-escapes"),
        ("../.git/config", "reference-escapes"),
    ],
)
def test_references_stay_inside(system: System, reference: str, found: bytes | str) -> None:
    root = system.absolute("sub")
    try:
        opened = system.open_inside(root, reference, (root,))
    except FileProblem as problem:
        assert problem.code == found
    else:
        assert opened.read("x", 100) == found
        opened.close()


def test_what_git_keeps_itself_is_no_file_to_read(system: System) -> None:
    with pytest.raises(FileProblem) as raised:
        system.open_inside(system.cwd, ".git/HEAD", (system.cwd,)).read("x", 1000)
    assert raised.value.code in ("reference-private", "file-missing")


def test_a_recording_notes_every_question(tmp_path: Path) -> None:
    write(tmp_path, {"a.txt": "a", "sub/b.txt": "b"})
    path, folder = str(tmp_path / "a.txt"), str(tmp_path / "sub")
    asks: list[Callable[[System], object]] = [
        lambda s: s.status(path),
        lambda s: s.exists(path),
        lambda s: s.is_link(path),
        lambda s: s.peek(path),
        lambda s: s.peek(path, size=1),
        lambda s: s.sha256(path),
        lambda s: s.stamp(path),
        lambda s: s.real(path),
        lambda s: s.open_named(path, path).close(),
        lambda s: s.open_inside(str(tmp_path), "a.txt", (str(tmp_path),)).close(),
        lambda s: s.finds_program("a.txt", str(tmp_path)),
    ]
    for number, ask in enumerate(asks):
        system = Recording(Disk())
        ask(system)
        assert system.record.paths.get(path) == Disk().stamp(path), number
    system = Recording(Disk())
    system.entries(folder)
    assert system.record.folders.keys() == {folder}
