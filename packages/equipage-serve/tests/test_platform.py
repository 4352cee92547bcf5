"""What a machine can enforce, by what was tried on it."""

from __future__ import annotations

import os
import shutil
import sys
from types import SimpleNamespace
from typing import Any

import pytest

import equipage_serve
from equipage_serve import jail
from equipage_serve import platform as module
from equipage_serve.platform import Platform, bubblewrap, this_platform

PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(equipage_serve.__file__)))
tried_here = this_platform.__wrapped__


@pytest.fixture
def trials(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Answers in place of processes, and what was to be started."""
    made = SimpleNamespace(commands=[], answers=[])

    def run(command: list[str], **how: Any) -> Any:
        made.commands.append((command, how))
        code, text = made.answers.pop(0)
        return SimpleNamespace(returncode=code, stdout=text)

    monkeypatch.setattr(module.subprocess, "run", run)
    monkeypatch.setattr(shutil, "which", lambda name: f"/usr/bin/{name}")
    monkeypatch.setattr(os, "getuid", lambda: 7, raising=False)
    return made


#: The outcome of the trial, that of bubblewrap, and what it means.
LINUX: list[tuple[tuple[int, str], int, Platform]] = [
    ((0, "7 1\n"), 0, Platform("linux", 7, True)),
    ((0, "0 1\n"), 0, Platform("linux", 0, True, "/usr/bin/bwrap")),
    ((0, "7 0\n"), 0, Platform("linux", 7, False, "/usr/bin/bwrap")),
    ((0, "7 0\n"), 1, Platform("linux", 7, False)),
    ((1, "7 1\n"), 0, Platform("linux", 0, False, "/usr/bin/bwrap")),
]


@pytest.mark.parametrize(("trial", "bubble", "expected"), LINUX)
def test_linux(
    trial: Any, bubble: int, expected: Platform, trials: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    trials.answers = [trial, (bubble, "")]
    assert tried_here() == expected
    command, how = trials.commands[0]
    assert command == [sys.executable, "-I", "-c", module._TRY, PACKAGE]
    assert how == {"capture_output": True, "text": True, "timeout": 30, "check": False, "env": {}}
    asked = expected.landlock == 0 or not expected.seccomp
    assert len(trials.commands) == 1 + asked
    if asked:
        command, how = trials.commands[1]
        assert command == ["/usr/bin/bwrap", "--unshare-all", "--ro-bind", "/", "/", "--", "true"]
        assert how == {"capture_output": True, "timeout": 30, "check": False}


def test_other_systems(trials: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    assert tried_here() == Platform("darwin")
    monkeypatch.setattr(os, "getuid", lambda: 0)
    assert tried_here() == Platform("darwin", root=True)
    monkeypatch.setattr(sys, "platform", "win32")
    assert tried_here() == Platform("win32")
    assert not tried_here().can_fork
    assert Platform("darwin").can_fork
    assert trials.commands == []


def test_root(trials: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(os, "getuid", lambda: 0)
    trials.answers = [(0, "7 1")]
    assert tried_here() == Platform("linux", 7, True, root=True)


def test_without_bubblewrap(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: None)
    assert bubblewrap() is None


@pytest.mark.skipif(sys.platform != "linux", reason="Landlock is a part of Linux")
def test_this_machine() -> None:
    found = tried_here()
    assert (found.system, found.root) == ("linux", os.getuid() == 0)
    assert found.landlock in (0, jail.landlock_version())
    assert not found.seccomp or jail.knows_this_machine()
