"""Ctrl-C at any time: exit 130, not a word, no process and no unfinished file left behind."""

from __future__ import annotations

import os
import random
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

from clock import HANGS
from equipage.cli import COMMANDS
from equipage.core import interrupts
from equipage.files.writing import write_or_replace
from lab import environment, in_process, repository

#: What the installed script does, but it says when our code begins: before that, Python answers.
#: Interrupts count even where the tests run in the background and a shell had them ignored.
COMMAND = """
import signal, sys
from equipage.core import interrupts
signal.signal(signal.SIGINT, signal.default_int_handler)
interrupts.exit_on_interrupt()
sys.stderr.write("begun\\n")
from equipage.__main__ import main
sys.exit(main())
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Files of several kinds, each with a finding: no part of a check is left out."""
    pack = "id: a.b{n}\nversion: 1.0.0\ndeterministic: true\ntimeoutMs: 1\nlimits: {{}}\nx: 1\n"
    files = {f"a{n}.tool.yaml": pack.format(n=n) for n in range(12)}
    files["s.yaml"] = "server: {name: x, versoin: 1.0.0}\ntools: []\n"
    files["b.json"] = '{"id": "x", "flow": {"kind": "seq", "children": []}}'
    files[".claude/agents/a.md"] = "---\nname: a\ndescription: d\ntools: Nope\n---\nb\n"
    return repository(tmp_path, files)


def started(folder: Path, *arguments: str, **variables: str) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-X", "faulthandler", "-c", COMMAND, *arguments],
        cwd=folder,
        env={**environment(), **variables},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,  # so that its processes are found by their group
    )
    assert process.stderr is not None
    assert process.stderr.readline() == "begun\n"
    return process


def is_alone(process: subprocess.Popen[str]) -> bool:
    """Whether nothing that the process started is left, soon after its end."""
    for _ in range(100):
        try:
            os.killpg(process.pid, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGKILL)
    return False


@pytest.mark.parametrize("arguments", [(), ("--jobs", "2"), ("--fix", "--unsafe-fixes")])
def test_an_interrupt_ends_a_check_wherever_it_is(
    project: Path, arguments: tuple[str, ...]
) -> None:
    begun = time.monotonic()
    process = started(project, "check", *arguments)
    process.communicate(timeout=HANGS)
    whole, chance = time.monotonic() - begun, random.Random(0)
    codes = {interrupts.INTERRUPTED_EXIT_CODE, process.returncode, 0}
    for _ in range(6):
        process = started(project, "check", *arguments)
        time.sleep(chance.uniform(0, whole))
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=HANGS)
        assert process.returncode in codes, said
        assert process.returncode != interrupts.INTERRUPTED_EXIT_CODE or said == ""
        assert "Traceback" not in said
        assert "Fatal" not in said
        assert is_alone(process)
        assert not [*project.glob("**/*equipage-tmp")]


def test_workers_end_when_their_parent_is_killed(project: Path) -> None:
    for number in range(40):  # enough for a worker to be at work, or to wait for more of it
        (project / f"s{number}.yaml").write_text(f"server: {{name: x{number}}}\ntools: []\n")
    process = started(project, "check", "--jobs", "2")
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    if not children.exists():
        pytest.skip("the processes of a process are not listed here")
    while process.poll() is None and len(children.read_text().split()) < 2:
        time.sleep(0.002)
    process.kill()
    process.communicate(timeout=HANGS)
    assert is_alone(process)


def test_an_interrupt_ends_the_programs_of_a_command(project: Path) -> None:
    """`verify` waits for `ssh-keygen` in a private folder: neither of them is left."""
    assert in_process(["lock", str(project)])[0] == 0
    (project / "equipage.lock.sig").touch()
    (project / "signers").touch()
    programs, private = project / "programs", project / "private"
    programs.mkdir()
    private.mkdir()
    program = programs / "ssh-keygen"
    # Its input ends when the command waits for it: before that, Python does not know of it yet.
    program.write_text("#!/bin/sh\ncat > /dev/null\n: > began\nexec sleep 600\n")
    program.chmod(0o755)
    path = f"{programs}{os.pathsep}{os.environ['PATH']}"
    process = started(
        project, "verify", "--allowed-signers", "signers", PATH=path, TMPDIR=str(private)
    )
    while process.poll() is None and not [*private.glob("*/began")]:
        time.sleep(0.002)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=HANGS)
    assert (process.returncode, said) == (interrupts.INTERRUPTED_EXIT_CODE, "")
    assert is_alone(process)
    assert [*private.iterdir()] == []


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_that_may_leave_something_behind_cleans_up(name: str) -> None:
    """What starts programs, serves, or has private files gets the exception."""
    command = COMMANDS[name]
    text = Path(str(import_module(f"equipage.cli.{command.module}").__file__)).read_text()
    leaves = re.search(
        r"import (subprocess|tempfile)\b|from equipage\.lsp\b|import .*\brequire_command", text
    )
    assert command.cleans_up is (leaves is not None)


@pytest.fixture
def handler() -> Iterator[None]:
    """The handler of the command, in this process."""
    before = signal.getsignal(signal.SIGINT)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    interrupts.exit_on_interrupt()
    yield
    signal.signal(signal.SIGINT, before)
    interrupts._interrupt_is_pending = False


@pytest.fixture
def left(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The exit codes with which the process would have ended."""
    codes: list[int] = []
    monkeypatch.setattr(os, "_exit", codes.append)
    return codes


def interrupt() -> None:
    os.kill(os.getpid(), signal.SIGINT)


def test_what_is_under_way_is_ended_first(handler: None, left: list[int]) -> None:
    ended: list[str] = []
    interrupts.register_cleanup("gone", lambda: 1 / 0)
    interrupts.register_cleanup("one", lambda: ended.append("one"))
    interrupts.register_cleanup("two", lambda: ended.append("two"))
    interrupts.unregister_cleanup("two")
    interrupt()
    interrupts.unregister_cleanup("gone")
    interrupts.unregister_cleanup("one")
    assert (ended, left) == (["one"], [130])


def test_a_write_is_finished_first(handler: None, left: list[int], tmp_path: Path) -> None:
    with interrupts.DeferInterrupts():
        interrupt()
        write_or_replace(str(tmp_path / "a"), b"whole")
        assert left == []
    assert left == [130]
    assert (tmp_path / "a").read_bytes() == b"whole"


def test_a_command_that_cleans_up_gets_the_exception(handler: None, left: list[int]) -> None:
    interrupts.restore_keyboard_interrupt()
    with pytest.raises(KeyboardInterrupt):
        interrupt()
    assert left == []


def test_at_the_end_an_interrupt_means_nothing(handler: None, left: list[int]) -> None:
    interrupts.ignore_interrupts()
    interrupt()
    assert left == []


def test_a_program_in_the_background_is_not_interrupted(left: list[int]) -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        interrupts.exit_on_interrupt()
        interrupts.restore_keyboard_interrupt()
        interrupt()
    finally:
        signal.signal(signal.SIGINT, before)
    assert left == []
