"""Watching notices every change, reports it once, and never gives out a broken file."""

from __future__ import annotations

import builtins
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

import equipage
from clock import HANGS
from equipage.files.disk import Disk
from equipage.files.reading import Files
from equipage.files.recording import (
    BURST_MILLISECONDS,
    QUIET_MILLISECONDS,
    Changes,
    Events,
    Recording,
    folders_to_watch,
)
from equipage.files.sandbox import FileProblem
from equipage.loading.session import Request
from equipage.workspace import Workspace
from equipage.workspace import load as loads
from equipage.workspace.find import File
from equipage.workspace.watch import WatchUpdate, watch_check
from lab import environment, in_process, repository, save

SERVER = "server: {name: weather, version: '1'}\ntools:\n  - $include: tools/echo.yaml\n"
TOOL = """\
tool: {name: NAME, description: says it again, inputSchema: {type: object}}
response: {content: [{type: text, text: hi}]}
"""


def until(happened: Callable[[], object]) -> None:
    """Wait until something happened; fail if it never does."""
    deadline = time.monotonic() + HANGS
    while not happened():
        assert time.monotonic() < deadline, "it never happened"
        time.sleep(0.005)


def tool(name: str) -> str:
    return TOOL.replace("NAME", name)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return repository(tmp_path, {"server.yaml": SERVER, "library/tools/echo.yaml": tool("echo")})


class Watcher:
    """A watch that runs in a thread, and what it gave out."""

    def __init__(self, **options: Any) -> None:
        self.names: list[str] = []
        self.problems: list[str] = []
        self.watch = equipage.watch(
            "server.yaml",
            library="library",
            on_problem=lambda error: self.problems.append(str(error)),
            **options,
        )
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        for loaded in self.watch:
            self.names.append(loaded.config.baseline.tools[0].tool.name)

    def close(self) -> None:
        self.watch.close()
        self._thread.join(HANGS)
        assert not self._thread.is_alive()


@pytest.fixture
def watcher(project: Path) -> Iterator[Watcher]:
    watcher = Watcher()
    try:
        until(lambda: watcher.names)
        yield watcher
    finally:
        watcher.close()


def test_a_configuration_is_given_out_now_and_after_each_change(
    watcher: Watcher, project: Path
) -> None:
    assert watcher.names == ["echo"]
    for name in ("first", "second"):
        save(project / "library/tools/echo.yaml", tool(name))
        until(lambda name=name: watcher.names[-1] == name)
    assert watcher.names == ["echo", "first", "second"]
    assert watcher.problems == []


def test_a_broken_configuration_is_told_once_and_never_given_out(
    watcher: Watcher, project: Path
) -> None:
    path = project / "library/tools/echo.yaml"
    save(path, "tool: {name: ")
    until(lambda: watcher.problems)
    assert watcher.watch.current is not None
    assert watcher.watch.current.config.baseline.tools[0].tool.name == "echo"
    assert watcher.watch.problem is not None
    save(path, "tool: {name: ")  # the same again
    save(path, tool("mended"))
    until(lambda: watcher.names[-1] == "mended")
    assert watcher.watch.problem is None
    assert watcher.names == ["echo", "mended"]
    assert len(watcher.problems) == 1
    assert "yaml-syntax" in watcher.problems[0]


def test_a_file_that_goes_and_comes_back(watcher: Watcher, project: Path) -> None:
    path = project / "library/tools/echo.yaml"
    path.unlink()
    until(lambda: len(watcher.problems) == 1)
    save(path, tool("new"))
    until(lambda: watcher.names[-1] == "new")
    path.rename(path.with_name("other.yaml"))
    until(lambda: len(watcher.problems) == 2)
    path.with_name("other.yaml").rename(path)
    until(lambda: watcher.watch.problem is None)
    assert watcher.names == ["echo", "new"]
    assert all("include-not-found" in each for each in watcher.problems)


def test_a_folder_that_goes_and_comes_back_changed(watcher: Watcher, project: Path) -> None:
    (project / "library").rename(project / "elsewhere")
    until(lambda: watcher.problems)
    save(project / "elsewhere/tools/echo.yaml", tool("moved"))
    (project / "elsewhere").rename(project / "library")
    until(lambda: watcher.names[-1] == "moved")


def test_a_link_that_leads_elsewhere(project: Path) -> None:
    path = project / "library/tools/echo.yaml"
    for name in ("one", "two"):
        path.with_name(f"{name}.yaml").write_text(tool(name))
    path.unlink()
    path.symlink_to("one.yaml")
    watcher = Watcher()
    until(lambda: watcher.names == ["one"])
    path.with_name("next").symlink_to("two.yaml")
    path.with_name("next").replace(path)
    until(lambda: watcher.names == ["one", "two"])
    watcher.close()
    assert next(watcher.watch, None) is None


def test_settings_of_the_project_are_watched_too(project: Path) -> None:
    (project / "server.yaml").rename(project / "weather.yaml")
    problems: list[str] = []
    watch = equipage.watch("weather.yaml", on_problem=lambda error: problems.append(str(error)))
    with watch:
        assert next(watch).kind == "server"
        save(project / "equipage.toml", 'kinds = { "weather.yaml" = "toolpack" }\n')
        thread = threading.Thread(target=lambda: next(watch, None), daemon=True)
        thread.start()
        until(lambda: problems)
    thread.join(HANGS)
    assert not thread.is_alive()


def test_warnings_count_where_that_is_wanted(project: Path) -> None:
    save(project / "server.yaml", SERVER.replace("version", "versoin"))
    problems: list[equipage.LoadError] = []
    watch = equipage.watch(
        "server.yaml", library="library", strict=True, on_problem=problems.append
    )
    thread = threading.Thread(target=lambda: next(watch, None), daemon=True)
    thread.start()
    until(lambda: problems)
    assert {each.code for each in problems[0].diagnostics} == {"unknown-field"}
    assert watch.current is None
    watch.close()
    thread.join(HANGS)


def test_problems_are_logged_if_nobody_asks_for_them(
    project: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (project / "server.yaml").unlink()
    watch = equipage.watch("server.yaml", kind="server")
    thread = threading.Thread(target=lambda: next(watch, None), daemon=True)
    thread.start()
    until(lambda: caplog.records)
    assert "file-missing" in caplog.text
    watch.close()
    thread.join(HANGS)


def test_without_the_extra_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *rest: Any, **more: Any) -> Any:
        if name.startswith("watchfiles"):
            raise ImportError(name)
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(equipage.UsageError, match="`pip install watchfiles`"):
        equipage.watch("server.yaml")


# --- the parts of it -----------------------------------------------------------------------------


def test_a_file_that_cannot_be_read_counts_as_seen_only_if_it_stayed_the_same(
    tmp_path: Path,
) -> None:
    path = tmp_path / "big"
    path.write_text("too large, let us say")
    system = Recording(Disk())
    with pytest.raises(FileProblem):
        Files(system).read(str(path), max_bytes=5)
    assert system.record.is_current(Changes((), Disk()))
    path.write_text("too large, and other")
    assert not system.record.is_current(Changes((), Disk()))


def test_what_surrounds_a_file(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    base, outside = tmp_path / "a", tmp_path / "c"
    outside.mkdir()
    wanted = [base / "b" / "file", base / "not" / "yet" / "file", outside / "file"]
    assert folders_to_watch(map(str, wanted), [str(base)], Disk()) == {
        str(base),
        str(base / "b"),
        str(outside),
    }


# --- a check that goes on ------------------------------------------------------------------------


class Checking:
    """A check that goes on in a thread, and its turns."""

    def __init__(self, *paths: str) -> None:
        self.turns: list[WatchUpdate] = []
        self.stop = threading.Event()
        workspace = Workspace(paths or ["."], Request(env={}), recording=True)
        self._turns = watch_check(workspace, self.stop)
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        until(lambda: self.turns)

    def _run(self) -> None:
        for turn in self._turns:
            self.turns.append(turn)

    def next(self, edit: Callable[[], object]) -> WatchUpdate:
        """The turn that follows an edit; exactly one."""
        count = len(self.turns)
        edit()
        until(lambda: len(self.turns) > count)
        return self.turns[count]

    def close(self) -> None:
        self.stop.set()
        self._thread.join(HANGS)
        assert not self._thread.is_alive()


@pytest.fixture
def checking(project: Path) -> Iterator[Checking]:
    checking = Checking()
    yield checking
    checking.close()


def told(turn: WatchUpdate) -> tuple[list[str], list[str]]:
    return [str(each) for each in turn.new], [str(each) for each in turn.gone]


def test_only_what_changed_is_told(checking: Checking, project: Path) -> None:
    assert checking.turns[0].report.ok
    broken = checking.next(
        lambda: save(project / "server.yaml", SERVER.replace("version", "versoin"))
    )
    assert broken.changed == ("server.yaml",)
    assert [each.code for each in broken.new] == ["unknown-field"]
    moved = checking.next(
        lambda: save(
            project / "server.yaml", "# a line above\n" + SERVER.replace("version", "versoin")
        )
    )
    assert told(moved) == ([], [])
    mended = checking.next(lambda: save(project / "server.yaml", SERVER))
    assert [each.code for each in mended.gone] == ["unknown-field"]
    assert [turn.changed for turn in checking.turns[1:]] == [("server.yaml",)] * 3


def test_a_missing_file_that_appears_is_noticed_by_those_who_miss_it(
    checking: Checking, project: Path
) -> None:
    path = project / "library/tools/echo.yaml"
    gone = checking.next(path.unlink)
    assert [each.code for each in gone.new] == ["include-not-found"]
    back = checking.next(lambda: save(path, tool("echo")))
    assert told(back) == ([], [str(each) for each in gone.new])
    renamed = checking.next(lambda: path.rename(path.with_name("other.yaml")))
    assert [each.code for each in renamed.new] == ["include-not-found"]
    assert renamed.changed == ("library/tools/echo.yaml", "library/tools/other.yaml")


@pytest.fixture
def looked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The files that were checked, or checked again."""
    paths: list[str] = []
    real = loads.load_file

    def load_file(file: File, *rest: Any, **more: Any) -> Any:
        paths.append(file.path)
        return real(file, *rest, **more)

    monkeypatch.setattr(loads, "load_file", load_file)
    return paths


def test_only_files_that_read_it_are_checked_again(project: Path, looked: list[str]) -> None:
    for number in range(5):
        (project / f"s{number}.yaml").write_text(SERVER.replace("echo", f"t{number}"))
        (project / f"library/tools/t{number}.yaml").write_text(tool(f"t{number}"))
    checking = Checking()
    looked.clear()
    checking.next(lambda: save(project / "library/tools/t3.yaml", tool("other")))
    checking.close()
    assert {os.path.basename(each) for each in looked} == {"s3.yaml", "t3.yaml"}


def test_settings_of_a_project_change_what_is_told(checking: Checking, project: Path) -> None:
    checking.next(lambda: save(project / "server.yaml", SERVER.replace("version", "versoin")))
    turn = checking.next(lambda: save(project / "equipage.toml", 'ignore = ["unknown-field"]\n'))
    assert turn.changed == ("equipage.toml",)
    assert [each.code for each in turn.gone] == ["unknown-field"]


def test_what_belongs_together_is_looked_at_anew(project: Path) -> None:
    tool_file = "id: a.b\nname: A\nversion: 1.0.0\ndescription: d\nkind: python\nmodule: m:f\n"
    save(project / "a.tool.yaml", tool_file)
    checking = Checking()
    before = {each.code for each in checking.turns[0].report.diagnostics}
    turn = checking.next(lambda: save(project / "b.tool.yaml", tool_file))
    checking.close()
    assert "tool-id-duplicate" not in before
    assert any("duplicate" in each.code for each in turn.new)


@pytest.mark.requirement("PR-18")
def test_what_a_folder_of_profiles_tells_is_looked_at_anew(project: Path) -> None:
    (project / ".defect/agents").mkdir(parents=True)
    checking = Checking()
    loud = project / ".defect/agents/loud.MD"
    assert [each.code for each in checking.next(lambda: save(loud, "x")).new] == [
        "profile-overlooked"
    ]
    assert [each.code for each in checking.next(loud.unlink).gone] == ["profile-overlooked"]
    checking.close()


def test_a_folder_that_was_away_for_a_moment_is_still_watched(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tools, aside = project / "library" / "tools", project / "aside"
    checking = Checking()
    idle_after = 0  # how many turns there were when the watch last had nothing to look at
    real = Events.wait

    def wait(self: Events, *, briefly: bool = False) -> frozenset[str] | None:
        nonlocal idle_after
        idle_after = idle_after if briefly else len(checking.turns)
        return real(self, briefly=briefly)

    monkeypatch.setattr(Events, "wait", wait)

    def edit() -> None:
        tools.rename(aside)
        aside.rename(tools)
        save(project / "server.yaml", SERVER + "# another line\n")

    checking.next(edit)
    until(lambda: idle_after == len(checking.turns))
    turn = checking.next(lambda: save(tools / "echo.yaml", tool("other")))
    assert turn.changed == ("library/tools/echo.yaml",)
    checking.close()


def test_one_file_is_watched_where_it_stands(project: Path) -> None:
    checking = Checking("server.yaml")
    gone = checking.next((project / "server.yaml").unlink)
    assert [each.code for each in gone.new] == ["file-missing"]
    checking.next(lambda: save(project / "server.yaml", SERVER))
    assert checking.turns[-1].report.ok
    checking.close()


def test_saving_without_a_change_is_told_once_at_most(project: Path, looked: list[str]) -> None:
    checking = Checking()
    path = project / "server.yaml"
    for _ in range(3):
        looked.clear()
        save(path, SERVER)
        until(lambda: looked)
    marker = checking.next(lambda: save(path, SERVER + "# the end\n"))
    assert marker.changed == ("server.yaml",)
    assert len(checking.turns) <= 3
    checking.close()


# --- as a process --------------------------------------------------------------------------------


class Process:
    """`equipage check --watch` as people start it."""

    def __init__(self, folder: Path) -> None:
        self.lines: list[str] = []
        self.process = subprocess.Popen(
            [sys.executable, "-m", "equipage", "check", "--watch"],
            cwd=folder,
            env=environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            # Started in the background, these tests inherit that interrupts are ignored.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        assert self.process.stderr is not None
        assert self.process.stderr.readline() == "equipage: watching; press Ctrl-C to stop\n"

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.append(line.rstrip("\n"))

    def statuses(self) -> list[str]:
        """The lines that say what a change came to."""
        return [line for line in self.lines if line.startswith("changed ")]

    def interrupt(self) -> int:
        self.process.send_signal(signal.SIGINT)
        code = self.process.wait(HANGS)
        self._reader.join(HANGS)
        for stream in (self.process.stdout, self.process.stderr):
            assert stream is not None
            stream.close()
        return code


def test_a_process_tells_each_change_once(project: Path) -> None:
    path = project / "library/tools/echo.yaml"
    process = Process(project)
    steps: dict[str, tuple[Callable[[], object], str]] = {
        "edit": (lambda: save(path, tool("other")), "nothing new; 2 files checked, no problems"),
        "break": (lambda: save(path, "tool: {name: "), "1 new, 0 gone; 1 error in 1 of 2 files"),
        "mend": (lambda: save(path, tool("echo")), "0 new, 1 gone; 2 files checked, no problems"),
        "delete": (path.unlink, "1 new, 0 gone; 1 error in 1 of 1 file"),
        "come back": (
            lambda: save(path, tool("echo")),
            "0 new, 1 gone; 2 files checked, no problems",
        ),
        "rename": (
            lambda: path.rename(path.with_name("x.yaml")),
            "1 new, 0 gone; 1 error in 1 of 2 files",
        ),
    }
    for number, (edit, status) in enumerate(steps.values(), start=1):
        edit()
        until(lambda number=number: len(process.statuses()) >= number)
        assert process.statuses()[-1].endswith(status)
        time.sleep(0.2)  # a second report of this change would come now
    assert process.interrupt() == 130
    assert len(process.statuses()) == len(steps)


def test_a_change_is_looked_at_within_half_a_second() -> None:
    """However long the burst of events that it comes with."""
    assert QUIET_MILLISECONDS + BURST_MILLISECONDS < 500


def test_two_hundred_random_edits_and_nothing_missed(project: Path) -> None:
    """After each edit, or a burst of them, the report is what a fresh check would say."""
    random = Random(11)
    checking = Checking()
    tools = project / "library" / "tools"
    names = [f"t{number}" for number in range(4)]
    edits = 0
    while edits < 200:
        for _ in range(random.choice([1, 1, 2, 5])):
            edits += 1
            _edit(random, project, tools, names)
        wanted = list(map(str, equipage.check(["."], env={}).diagnostics))
        until(lambda wanted=wanted: list(map(str, checking.turns[-1].report.diagnostics)) == wanted)
    checking.close()
    # An edit makes two states of the disk at most, and no state is reported twice.
    assert len(checking.turns) <= 1 + 2 * edits


def _edit(random: Random, project: Path, tools: Path, names: list[str]) -> None:
    name = random.choice(names)
    path, other = tools / f"{name}.yaml", tools / f"{random.choice(names)}.yaml"
    server = project / f"{random.choice('abc')}.yaml"
    what = random.randrange(9)
    if what < 2:
        path.write_text(tool(f"n{random.randrange(100)}"))
    elif what == 2:
        path.write_text("tool: {name: ")
    elif what == 3:
        path.write_text(tool("x").replace("description", "descripton"))
    elif what == 4:
        path.unlink(missing_ok=True)
    elif what == 5 and path.exists():
        path.replace(other)
    elif what == 6 and tools.exists():
        tools.rename(project / "aside")
        (project / "aside").rename(tools)
    elif what == 7:
        server.write_text(SERVER.replace("echo", name) + f"# {random.random()}\n")
    else:
        server.unlink(missing_ok=True)


@pytest.mark.parametrize("flag", ["--json", "--fix", "--diff", "--statistics"])
def test_watching_goes_with_no_other_output(project: Path, flag: str) -> None:
    code, out, err = in_process(["check", "--watch", flag])
    assert (code, out) == (2, "")
    assert "--watch prints findings as text" in err


def test_a_change_with_many_files_is_told_in_one_line(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    report = equipage.check(["server.yaml"], env={})
    broken = equipage.check(["no.yaml"], env={}).diagnostics
    turns = [
        WatchUpdate(report),
        WatchUpdate(report, tuple("abcde"), broken, ()),
        WatchUpdate(report, (), (), broken),
    ]
    monkeypatch.setattr("equipage.workspace.watch.watch_check", lambda *_args, **_more: iter(turns))
    code, out, _ = in_process(["check", "--watch", "--quiet"])
    assert code == 0
    assert out.splitlines()[-3:] == [
        "changed a, b, c and 2 more: 1 new, 0 gone; 2 files checked, no problems",
        "gone: no.yaml: error[file-missing] file not found: no.yaml",
        "changed elsewhere: 0 new, 1 gone; 2 files checked, no problems",
    ]
