"""Settings come with the files that are checked: nothing in them makes us run, fetch or write."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from lab import in_process, repository, write

AGENT = "---\nname: 5\ndescription: d\nmodle: x\n---\nbody\n"


@pytest.fixture
def door() -> Iterator[tuple[int, list[object]]]:
    """A port that notes who comes."""
    visits: list[object] = []
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.05)
        stop = threading.Event()

        def wait() -> None:
            while not stop.is_set():
                try:
                    visits.append(server.accept()[1])
                except TimeoutError:
                    continue

        thread = threading.Thread(target=wait)
        thread.start()
        yield server.getsockname()[1], visits
        stop.set()
        thread.join()


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    project = repository(tmp_path / "project", {".claude/agents/a.md": AGENT})
    write(tmp_path, {"outside/secret.json": '{"swordfish": 1}', "outside/x.yaml": "swordfish: 1\n"})
    monkeypatch.chdir(project)
    return project


def everything(folder: Path) -> dict[str, bytes]:
    """Every file below a folder, with what it holds."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


SETTINGS = (
    'baseline = "../outside/new.json"\n',
    'baseline = "{outside}/new.json"\n',
    'baseline = "link/new.json"\n',
    'baseline = "../outside/secret.json"\n',
    'baseline = "http://127.0.0.1:{port}/b.json"\n',
    'baseline = "|touch {outside}/PWNED"\n',
    'baseline = "/dev/stdout"\n',
    'baseline = "pipe"\n',
    'library = "{outside}"\nroots = ["{outside}", "/", "..", "link"]\n',
    '[[schemas]]\nfiles = "*.yaml"\nschema = "http://127.0.0.1:{port}/s.json"\n',
    '[[schemas]]\nfiles = "*.yaml"\nschema = "{outside}/secret.json"\n',
    '[[schemas]]\nfiles = "*.yaml"\nschema = "link/secret.json"\n',
    '[kinds]\n"*.md" = "os:system"\n"*.yaml" = "equipage_serve.run:main"\n',
    '[policy]\nmay-widen = ["$(touch {outside}/PWNED)"]\n[policy.never]\nprograms = ["`id`"]\n',
    'exclude = ["../**", "/etc/**", "{outside}/**"]\ninclude = ["{outside}/*"]\n',
    'plugins = ["evil"]\nrun = "touch {outside}/PWNED"\nfix = true\nunsafe-fixes = true\n',
    'cache = "{outside}"\n',
    'cache-dir = "{outside}"\n',
)
COMMANDS = (["check"], ["check", "--write-baseline"], ["check", "--fix"], ["list"], ["reach"])


@pytest.mark.parametrize("settings", SETTINGS)
def test_settings_neither_run_nor_fetch_nor_write_elsewhere(
    settings: str, project: Path, door: tuple[int, list[object]]
) -> None:
    port, visits = door
    outside = project.parent / "outside"
    os.symlink(outside, project / "link")
    os.mkfifo(project / "pipe")
    written = settings.replace("{outside}", str(outside)).replace("{port}", str(port))
    write(project, {"equipage.toml": written, "x.yaml": "a: 1\n"})
    before = everything(outside)
    for command in COMMANDS:
        done = in_process(command)
        assert done.code in (0, 1, 2), (command, done)
        assert "swordfish" not in done.out + done.err
        assert everything(outside) == before, command
    assert visits == []
    assert (project / "pipe").is_fifo()


@pytest.mark.parametrize(
    "place", [".github", ".vscode", "equipage.toml", ".pre-commit-config.yaml"]
)
def test_init_does_not_write_through_links(place: str, project: Path) -> None:
    """Whatever `init` proposes: a link that leads out of the project stays what it is."""
    outside = project.parent / "outside"
    before = everything(outside)
    target = outside if place.startswith((".github", ".vscode")) else outside / "new"
    os.symlink(target, project / place)
    done = in_process(["init", "--yes"])
    assert done.code in (0, 1, 2)
    assert everything(outside) == before
    assert (project / place).is_symlink()


def test_fixes_are_not_written_through_links(project: Path) -> None:
    """An agent that is a link to a file elsewhere is reported, and never rewritten."""
    outside = project.parent / "outside"
    write(outside, {"agent.md": AGENT, "agents/b.md": AGENT})
    before = everything(outside)
    os.symlink(outside / "agent.md", project / ".claude/agents/link.md")
    os.symlink(outside / "agents", project / ".claude/agents/more")
    os.link(outside / "agent.md", project / ".claude/agents/hard.md")
    in_process(["check", "--fix", "--unsafe-fixes"])
    after = everything(outside)
    # A second name of a file inside the project is that file: git and editors write to it, too.
    assert {name: after[name] for name in after if name != "agent.md"} == {
        name: before[name] for name in before if name != "agent.md"
    }
    assert (project / ".claude/agents/link.md").is_symlink()
