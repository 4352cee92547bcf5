"""Watching: every change is noticed, and told once; what is broken is never given out."""

from __future__ import annotations

import builtins
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import lading
from lading.watching import Look, known_stamps, surroundings

#: How long to wait for something that should happen within half a second: the machine may be busy.
PATIENCE = 20.0

SERVER = "server: {name: weather, version: '1'}\ntools:\n  - $include: tools/echo.yaml\n"
TOOL = """\
tool: {name: NAME, description: says it again, inputSchema: {type: object}}
response: {content: [{type: text, text: hi}]}
"""


def until(happened: Callable[[], object], seconds: float = PATIENCE) -> float:
    """How long it took until something happened; fails if it never does."""
    start = time.monotonic()
    while not happened():
        assert time.monotonic() - start < seconds, "it never happened"
        time.sleep(0.005)
    return time.monotonic() - start


def tool(name: str) -> str:
    return TOOL.replace("NAME", name)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".git").mkdir()
    (tmp_path / "library" / "tools").mkdir(parents=True)
    (tmp_path / "server.yaml").write_text(SERVER)
    (tmp_path / "library" / "tools" / "echo.yaml").write_text(tool("echo"))
    return tmp_path


class Watcher:
    """A watch that runs in a thread, and what it gave out."""

    def __init__(self, **options: Any) -> None:
        self.names: list[str] = []
        self.problems: list[str] = []
        self.watch = lading.watch(
            "server.yaml", library="library", on_problem=lambda error: self.problems.append(str(error)), **options
        )
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        for loaded in self.watch:
            self.names.append(loaded.config.baseline.tools[0].tool.name)

    def close(self) -> None:
        self.watch.close()
        self._thread.join(PATIENCE)
        assert not self._thread.is_alive()


@pytest.fixture
def watcher(project: Path) -> Iterator[Watcher]:
    watcher = Watcher()
    try:
        until(lambda: watcher.names)
        yield watcher
    finally:
        watcher.close()


def test_a_configuration_is_given_out_now_and_after_each_change(watcher: Watcher, project: Path) -> None:
    assert watcher.names == ["echo"]
    for name in ("first", "second"):
        (project / "library/tools/echo.yaml").write_text(tool(name))
        until(lambda name=name: watcher.names[-1] == name)
    assert watcher.names == ["echo", "first", "second"]
    assert watcher.problems == []


def test_a_broken_configuration_is_told_once_and_never_given_out(watcher: Watcher, project: Path) -> None:
    path = project / "library/tools/echo.yaml"
    path.write_text("tool: {name: ")
    until(lambda: watcher.problems)
    assert watcher.watch.current is not None
    assert watcher.watch.current.config.baseline.tools[0].tool.name == "echo"
    assert watcher.watch.problem is not None
    path.write_text("tool: {name: ")  # the same again
    path.write_text(tool("mended"))
    until(lambda: watcher.names[-1] == "mended")
    assert watcher.watch.problem is None
    assert watcher.names == ["echo", "mended"]
    assert len(watcher.problems) == 1
    assert "yaml-syntax" in watcher.problems[0]


def test_a_file_that_goes_and_comes_back(watcher: Watcher, project: Path) -> None:
    path = project / "library/tools/echo.yaml"
    path.unlink()
    until(lambda: len(watcher.problems) == 1)
    path.write_text(tool("new"))
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
    (project / "elsewhere/tools/echo.yaml").write_text(tool("moved"))
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


def test_settings_of_the_project_are_watched_too(project: Path) -> None:
    (project / "server.yaml").rename(project / "weather.yaml")
    problems: list[str] = []
    watch = lading.watch("weather.yaml", on_problem=lambda error: problems.append(str(error)))
    with watch:
        assert next(watch).kind == "server"
        (project / "lading.toml").write_text('kinds = { "weather.yaml" = "toolpack" }\n')
        thread = threading.Thread(target=lambda: next(watch, None), daemon=True)
        thread.start()
        until(lambda: problems)
    thread.join(PATIENCE)
    assert not thread.is_alive()


def test_warnings_count_where_that_is_wanted(project: Path) -> None:
    (project / "server.yaml").write_text(SERVER.replace("version", "versoin"))
    problems: list[lading.LoadError] = []
    watch = lading.watch("server.yaml", library="library", strict=True, on_problem=problems.append)
    thread = threading.Thread(target=lambda: next(watch, None), daemon=True)
    thread.start()
    until(lambda: problems)
    assert {each.code for each in problems[0].diagnostics} == {"unknown-field"}
    assert watch.current is None
    watch.close()
    thread.join(PATIENCE)


def test_problems_are_logged_if_nobody_asks_for_them(project: Path, caplog: pytest.LogCaptureFixture) -> None:
    (project / "server.yaml").unlink()
    watch = lading.watch("server.yaml", kind="server")
    thread = threading.Thread(target=lambda: next(watch, None), daemon=True)
    thread.start()
    until(lambda: caplog.records)
    assert "file-missing" in caplog.text
    watch.close()
    thread.join(PATIENCE)


def test_without_the_extra_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *rest: Any, **more: Any) -> Any:
        if name.startswith("watchfiles"):
            raise ImportError(name)
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(lading.UsageError, match=r"pip install 'lading\[watch\]'"):
        lading.watch("server.yaml")


# ----------------------------------------------------------------------------------------- the parts of it


def test_a_file_that_cannot_be_read_counts_as_seen_only_if_it_stayed_the_same(tmp_path: Path) -> None:
    from lading.files import Seen

    path = str(tmp_path / "big")
    (tmp_path / "big").write_text("too large, let us say")
    seen = Seen((path,))
    assert Look().changed(known_stamps(seen, {})) == {path}
    before = Look()
    before(path)
    assert Look().changed(known_stamps(seen, before.stamps)) == set()


def test_what_surrounds_a_file(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    base, outside = tmp_path / "a", tmp_path / "c"
    outside.mkdir()
    wanted = [base / "b" / "file", base / "not" / "yet" / "file", outside / "file"]
    assert surroundings(map(str, wanted), [str(base)]) == {str(base), str(base / "b"), str(outside)}
