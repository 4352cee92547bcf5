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
from equipage.files.disk import Disk
from equipage.files.recording import Changes, Events, Recording, folders_to_watch


def test_a_look_takes_each_stamp_and_each_listing_once(tmp_path: Path) -> None:
    path, no = str(tmp_path / "a"), str(tmp_path / "no")
    Path(path).write_text("1")
    look = Changes((), Disk())
    before, listing = look.stamp(path), look.listing(str(tmp_path))
    assert before == Disk().stamp(path)
    assert look.stamp(no) is None
    Path(path).write_text("other")
    Path(no).touch()
    assert (look.stamp(path), look.stamp(no)) == (before, None)
    assert look.listing(str(tmp_path)) == listing
    fresh = Changes((), Disk())
    assert fresh.stamp(path) not in (None, before)
    assert fresh.stamp(no) is not None
    assert fresh.listing(str(tmp_path)) not in (None, listing)
    assert fresh.listing(no) is None


def test_a_record_is_current_until_what_was_looked_at_changes(tmp_path: Path) -> None:
    read, no, folder = (str(tmp_path / each) for each in ("read", "no", "folder"))
    Path(read).write_text("1")
    Path(folder).mkdir()

    def changed(act: Callable[[], object]) -> bool:
        system = Recording(Disk())
        system.peek(read)
        system.exists(no)
        system.is_folder(folder)
        system.entries(folder)
        assert system.record.is_current(Changes((), Disk()))
        act()
        return not system.record.is_current(Changes((), Disk()))

    assert changed(lambda: Path(read).write_text("other"))
    assert changed(Path(no).touch)
    assert changed(Path(no).unlink)
    assert changed(Path(folder, "inside").touch)
    # What a file in a listed folder holds was not looked at.
    assert not changed(lambda: Path(folder, "inside").write_text("more"))
    assert changed(Path(folder, "inside").unlink)
    assert not changed((tmp_path / "beside").touch)
    assert changed(Path(folder).rmdir)


def test_what_touches_a_record(tmp_path: Path) -> None:
    read, folder = str(tmp_path / "read"), str(tmp_path / "folder")
    Path(read).touch()
    Path(folder).mkdir()
    system = Recording(Disk())
    system.peek(read)
    system.entries(folder)

    def is_touched(*paths: str) -> bool:
        return not system.record.is_current(Changes(paths, Disk(), look=False))

    assert is_touched(read)
    assert not is_touched(str(tmp_path / "other"))
    assert not is_touched(f"{folder}/inside")  # nothing came or went
    Path(folder, "inside").touch()
    assert is_touched(f"{folder}/inside")


def test_folders_around_go_up_to_a_base(tmp_path: Path) -> None:
    top = Path(os.path.realpath(tmp_path)) / "top"
    (top / "a" / "b").mkdir(parents=True)
    (top / "a-2").mkdir()

    def around(*paths: Path, bases: tuple[object, ...] = (top,)) -> set[Path]:
        found = folders_to_watch(map(str, paths), map(str, bases), Disk())
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
