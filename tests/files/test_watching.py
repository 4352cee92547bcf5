"""What changed on the disk since a load, and the folders that say when to look."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import pytest

from equipage.core.diagnostics import UsageError
from equipage.files import recording as watching
from equipage.files.reading import Seen, stamp_of
from equipage.files.recording import (
    Events,
    StampCache,
    folders_to_watch,
    is_folder_stamp,
    known_stamps,
)


def test_a_look_takes_each_stamp_once(tmp_path: Path) -> None:
    path, no = str(tmp_path / "a"), str(tmp_path / "no")
    Path(path).write_text("1")
    look = StampCache()
    before = look(path)
    assert before == stamp_of(path)
    assert look(no) is None
    Path(path).write_text("other")
    Path(no).touch()
    assert look(path) == before
    assert look(no) is None
    assert look.find_changed({path: before, no: None}) == set()
    assert StampCache().find_changed({path: before, no: None}) == {path, no}
    assert StampCache().find_changed({path: stamp_of(path)}) == set()


def test_stamps_of_what_a_load_saw(tmp_path: Path) -> None:
    read, later, folder, no = (str(tmp_path / each) for each in ("read", "later", "folder", "no"))
    Path(read).write_text("1")
    Path(later).write_text("2")
    Path(folder).mkdir()
    os.link(read, tmp_path / "same")
    stamp = stamp_of(read)
    assert stamp is not None
    seen = Seen((later, folder, no, str(tmp_path / "same")), {read: stamp})
    known = known_stamps(seen, {})
    assert known[read] == stamp
    assert known[no] is None
    assert known[folder] == stamp_of(folder)
    assert known[str(tmp_path / "same")] == stamp  # it is what was read
    # Nothing says that this is still as it was: it counts as changed.
    assert known[later] not in (None, stamp_of(later))
    assert later in StampCache().find_changed(known)
    assert known_stamps(seen, {later: stamp_of(later)})[later] == stamp_of(later)
    assert known_stamps(seen, {later: None})[later] is None
    found = stamp_of(folder)
    assert found is not None
    assert is_folder_stamp(found)
    assert not is_folder_stamp(stamp)


def test_folders_around_go_up_to_a_base(tmp_path: Path) -> None:
    top = Path(os.path.realpath(tmp_path)) / "top"
    (top / "a" / "b").mkdir(parents=True)
    (top / "a-2").mkdir()

    def around(*paths: Path, bases: tuple[object, ...] = (top,)) -> set[Path]:
        found = folders_to_watch(map(str, paths), map(str, bases))
        return {Path(each) for each in found}

    assert around(top / "a" / "b" / "x") == {top / "a" / "b", top / "a", top}
    assert around(top / "x") == {top}
    assert around(top / "a" / "x", bases=(top / "a",)) == {top / "a"}
    assert around(top / "a-2" / "x", bases=(top / "a",)) == {top / "a-2"}
    # A folder that is missing has the nearest one that is there.
    assert around(top / "no" / "deep" / "x") == {top}
    assert around(top / "a" / "no" / "deep" / "x", bases=()) == {top / "a"}
    both = around(top / "a" / "b" / "x", top / "a-2" / "y", bases=(f"{top}/",))
    assert both == {top / "a" / "b", top / "a", top / "a-2", top}
    assert around(Path("/x"), bases=()) == {Path("/")}
    (top / "link").symlink_to("a")
    assert around(top / "link" / "x") == {top / "a", top}


STOP = threading.Event()


class Backend:
    """Events as a test wants them, in the place of those of the system."""

    made: ClassVar[list[Backend]] = []
    problems: ClassVar[list[Callable[[], Exception]]] = []

    def __init__(self, folders: list[str], *how: Any) -> None:
        if Backend.problems:
            raise Backend.problems.pop(0)()
        self.folders, self.how, self.closed = folders, how, False
        self.events: list[Any] = []
        self.asked: list[tuple[Any, ...]] = []
        Backend.made.append(self)

    def watch(self, *how: Any) -> Any:
        self.asked.append(how)
        return self.events.pop(0)

    def close(self) -> None:
        self.closed = True


@pytest.fixture
def events(monkeypatch: pytest.MonkeyPatch) -> Events:
    Backend.made, Backend.problems = [], []
    monkeypatch.setattr(watching, "_import_watcher", lambda: Backend)
    monkeypatch.delenv("WATCHFILES_FORCE_POLLING", raising=False)
    return Events(STOP)


def test_folders_are_attended_to_once(events: Events, tmp_path: Path) -> None:
    a, b = str(tmp_path / "a"), str(tmp_path / "b")
    for each in (a, b):
        Path(each).mkdir()
    events.listen_to({b, a, str(tmp_path / "no")})
    (first,) = Backend.made
    assert first.folders == [a, b]
    assert first.how == (False, False, watching.QUIET_MILLISECONDS, False, True)
    events.listen_to({a, b})
    assert Backend.made == [first]
    events.listen_to({a})
    assert first.closed
    assert Backend.made[1].folders == [a]
    events.close()
    assert Backend.made[1].closed
    events.listen_to({a})
    assert len(Backend.made) == 3
    events.close()
    events.close()


def test_polling_may_be_asked_for(
    events: Events, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WATCHFILES_FORCE_POLLING", "1")
    events.listen_to({str(tmp_path)})
    assert Backend.made[0].how[1] is True


def test_a_folder_that_goes_at_that_moment_is_left_out(events: Events, tmp_path: Path) -> None:
    a, b = tmp_path / "a", tmp_path / "b"
    a.mkdir()
    b.mkdir()
    Backend.problems = [FileNotFoundError]
    events.listen_to({str(a), str(b)})
    assert Backend.made[0].folders == [str(a), str(b)]
    events.close()

    def going() -> Exception:
        b.rmdir()
        return FileNotFoundError()

    Backend.problems = [going]
    events.listen_to({str(a), str(b)})
    assert Backend.made[1].folders == [str(a)]


def test_a_watch_that_cannot_be_says_so(events: Events, tmp_path: Path) -> None:
    Backend.problems = [partial(OSError, 28, "no space")]
    with pytest.raises(UsageError, match=r"^cannot watch 1 folders: \[Errno 28\] no space$"):
        events.listen_to({str(tmp_path)})


def test_waiting(events: Events, tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match=r"^call `listen_to` before `wait`$"):
        events.wait()
    folder = str(tmp_path)
    events.listen_to({folder})
    (backend,) = Backend.made
    backend.events = ["timeout", {(1, f"{folder}/a"), (2, f"{folder}/b")}]
    assert events.wait() == {f"{folder}/a", f"{folder}/b"}
    burst, quiet, patience, stop = backend.asked[0]
    assert (burst, quiet, patience) == (
        watching.BURST_MILLISECONDS,
        watching.QUIET_MILLISECONDS,
        5000,
    )
    assert stop is STOP
    assert len(backend.asked) == 2
    backend.events = ["stop"]
    assert events.wait() is None
    backend.events = ["signal"]
    with pytest.raises(KeyboardInterrupt):
        events.wait()
    backend.events = ["timeout", "timeout"]
    assert events.wait(briefly=True) == frozenset()
    assert backend.asked[-1][2] == watching.QUIET_MILLISECONDS
    assert len(backend.events) == 1


def test_a_folder_that_was_replaced_is_attended_to_again(events: Events, tmp_path: Path) -> None:
    folder = str(tmp_path)
    events.listen_to({folder})
    Backend.made[0].events = [{(1, folder)}]
    assert events.wait() == {folder}
    first, second = Backend.made
    assert first.closed
    assert (second.folders, second.closed) == ([folder], False)
    second.events = [{(1, f"{folder}/x")}]
    assert events.wait() == {f"{folder}/x"}
    assert len(Backend.made) == 2


def test_without_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "watchfiles._rust_notify", None)
    with pytest.raises(
        UsageError, match=r"^watching needs watchfiles: run `pip install watchfiles`$"
    ):
        Events(threading.Event())
