"""The folder that a check leaves behind: poisoned, foreign, swapped, shared, on a full disk."""

from __future__ import annotations

import os
import resource
import shutil
import signal
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from equipage.files import keeping
from equipage.loading.session import Request
from equipage.render import json as as_json
from equipage.workspace import cache, check
from equipage.workspace.cache import Cache
from equipage.workspace.check import check_paths
from lab import command, repository, write

FOLDER = keeping.NAME
FILES = {
    f".claude/agents/{name}.md": f"---\nname: {name}\ndescription: d\nmodel: [5]\n---\nText.\n"
    for name in "abcdef"
}
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(check, "CACHE_WORTH_IT", 1)
    monkeypatch.setattr(cache, "_PIECE", 2)
    root = repository(tmp_path / "project", FILES)
    monkeypatch.chdir(root)
    return root


def report(*, cached: bool = True) -> str:
    return as_json.render(check_paths(["."], Request(env={}), cached=cached))


def recalled(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The pieces that are taken from the cache from now on."""
    keys: list[str] = []
    real = Cache._recall

    def recall(self: Cache, key: str, *how: Any) -> object:
        found = real(self, key, *how)
        keys.extend([key] if found is not None else [])
        return found

    monkeypatch.setattr(Cache, "_recall", recall)
    return keys


def entry() -> Path:
    (found,) = (path for path in Path(FOLDER).iterdir() if len(path.name) == 32)
    return found


def test_every_byte_of_an_entry_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Truncated, changed, or not ours at all: such an entry is worth nothing, and is replaced."""
    fresh = report()
    whole = entry().read_bytes()
    keys = recalled(monkeypatch)
    step = len(whole) // 20
    damaged = [whole[:length] for length in range(0, len(whole), step)]
    damaged += [
        whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :] for at in range(0, len(whole), step)
    ]
    damaged += [b"", b"\0" * 100, whole + b"x", b"\x80\x04cposix\nsystem\n", b"\xdd" * 4096]
    for data in damaged:
        entry().write_bytes(data)
        assert report() == fresh
        assert keys == []
    assert report() == fresh
    assert keys != []


def test_a_signed_entry_of_another_form_is_not_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is signed was written by equipage; a form that it does not know is left alone."""
    fresh = report()
    name, kept = entry().name, keeping.open_kept(os.getcwd())
    assert kept is not None
    keys = recalled(monkeypatch)
    whole = kept.read(name)
    assert whole is not None
    book = msgspec.msgpack.decode(whole)
    for value in ([], {}, 5, None, [[], [], {"x": [[], [], b"?"]}], [*book[:2], {"x": 1}]):
        assert kept.write(name, msgspec.msgpack.encode(value))
        assert report() == fresh
        assert keys == []
    kept.close()


def test_a_cache_that_comes_with_a_project_is_not_used(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The attacker checks a harmless copy, keeps its cache, and ships it with other files."""
    report()
    shutil.copytree(FOLDER, project.parent / "shipped", copy_function=shutil.copy2)
    fresh = report(cached=False)
    keys = recalled(monkeypatch)
    for bring in (shutil.copytree, os.rename):
        shutil.rmtree(FOLDER)
        if bring is os.rename:  # also if only the entries are put beside a key of ours
            report()
            mine = entry()
            shipped = next(p for p in (project.parent / "shipped").iterdir() if len(p.name) == 32)
            shutil.copy2(shipped, mine)
        else:
            shutil.copytree(project.parent / "shipped", FOLDER, copy_function=shutil.copy2)
        assert report() == fresh
        assert keys == []


@pytest.mark.parametrize("what", ["folder", "entry", "key"])
def test_links_lead_nowhere(what: str, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A link in the place of anything is not followed, for reading or for writing."""
    fresh = report()
    elsewhere = project.parent / "elsewhere"
    if what == "folder":
        os.rename(FOLDER, elsewhere)
        before = sorted((path.name, path.read_bytes()) for path in elsewhere.iterdir())
        os.symlink(elsewhere, FOLDER)
    else:
        path = entry() if what == "entry" else Path(FOLDER, "key")
        os.rename(path, elsewhere)
        before = [elsewhere.read_bytes()]
        path.symlink_to(elsewhere)
    keys = recalled(monkeypatch)
    assert report() == fresh
    assert keys == []
    if what == "folder":
        assert sorted((path.name, path.read_bytes()) for path in elsewhere.iterdir()) == before
    else:
        assert [elsewhere.read_bytes()] == before


@pytest.mark.parametrize("mode", [0o770, 0o707, 0o777, 0o722, 0o1777])
def test_a_folder_that_others_may_write_to_is_not_used(
    mode: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    fresh = report()
    before = {path.name: path.stat().st_mtime_ns for path in Path(FOLDER).iterdir()}
    os.chmod(FOLDER, mode)
    keys = recalled(monkeypatch)
    write(".", {"z.md": "Text."})
    report()
    os.unlink("z.md")
    assert report() == fresh
    assert keys == []
    assert {path.name: path.stat().st_mtime_ns for path in Path(FOLDER).iterdir()} == before


@needs_root
@pytest.mark.parametrize("what", ["folder", "entry", "key", "project"])
def test_what_belongs_to_another_user_is_not_used(
    what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    fresh = report()
    places = {"folder": FOLDER, "entry": entry(), "key": Path(FOLDER, "key"), "project": "."}
    os.chown(places[what], 12345, 12345)
    keys = recalled(monkeypatch)
    assert report() == fresh
    assert keys == []


@needs_root
def test_nothing_is_written_to_a_project_of_another_user() -> None:
    os.chown(".", 12345, 12345)
    report()
    assert not os.path.lexists(FOLDER)


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir, lambda path: Path(path).touch()])
@pytest.mark.parametrize("what", ["entry", "key", "folder"])
def test_pipes_and_folders_in_the_place_of_files(what: str, make: Callable[[str], None]) -> None:
    fresh = report()
    path = {"entry": entry(), "key": Path(FOLDER, "key"), "folder": Path(FOLDER)}[what]
    shutil.rmtree(path) if path.is_dir() else path.unlink()
    make(str(path))
    assert report() == fresh
    assert report() == fresh


def test_a_folder_that_is_swapped_while_a_check_runs(project: Path) -> None:
    """Writing goes through the descriptor of the folder that was checked."""
    report()
    kept = keeping.open_kept(os.getcwd())
    assert kept is not None
    elsewhere = project.parent / "elsewhere"
    elsewhere.mkdir()
    os.rename(FOLDER, project.parent / "away")
    os.symlink(elsewhere, FOLDER)
    assert kept.write("0" * 32, b"data")
    assert list(elsewhere.iterdir()) == []
    kept.close()


@pytest.mark.parametrize("changes", [False, True])
def test_many_checks_at_once_say_the_same(changes: bool) -> None:
    """Four at once, while the folder is deleted again and again, and while files change.

    A check may see a file before a change and another one after it, with a cache or without; what
    it leaves for the next check must not remember that.
    """
    fresh, stop, found = report(cached=False), threading.Event(), list[str]()

    def checks() -> None:
        while not stop.is_set():
            found.append(report())

    threads = [threading.Thread(target=checks) for _ in range(4)]
    for each in threads:
        each.start()
    for number in range(20):
        if changes:
            Path("new").write_text(FILES[f".claude/agents/{'ab'[number % 2]}.md"])
            os.replace("new", ".claude/agents/a.md")
        if number % 4 == 0:
            shutil.rmtree(FOLDER, ignore_errors=True)
        stop.wait(0.02)
    stop.set()
    for each in threads:
        each.join()
    assert found
    assert changes or set(found) == {fresh}
    assert report() == report() == report(cached=False)


def test_a_full_disk_costs_nothing_but_the_cache(project: Path) -> None:
    """The system refuses to write more than some bytes: the report is whole, and so is the exit."""
    write(".", {f".claude/agents/x{n}.md": FILES[".claude/agents/a.md"] for n in range(70)})

    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))

    # Python itself would leave half of a compiled module behind.
    env = {"PATH": os.environ["PATH"], "PYTHONDONTWRITEBYTECODE": "1"}
    plain = command("check", "-f", "json", "--no-cache", env=env)
    limited = command("check", "-f", "json", env=env, preexec_fn=limit)
    assert (limited.code, limited.out, limited.err) == (plain.code, plain.out, plain.err)
    assert [path.name for path in Path(FOLDER).iterdir() if len(path.name) > 12] == []
    shutil.rmtree(FOLDER)
    whole = command("check", "-f", "json", env=env)
    assert (whole.code, whole.out) == (plain.code, plain.out)
    assert entry().stat().st_size > 4096


def test_nothing_from_the_disk_is_unpickled() -> None:
    for module in (keeping, cache):
        assert "pickle" not in Path(str(module.__file__)).read_text()
