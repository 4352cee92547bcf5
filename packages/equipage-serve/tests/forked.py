"""Supervisors that are copies of the process of a test: quick to start, and a change of the code that
is only in memory is in them, too."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from types import SimpleNamespace
from typing import Any

import pytest

from equipage_serve import children
from equipage_serve.supervisor import main
from talk import wait_until


def fork_supervisors(monkeypatch: pytest.MonkeyPatch) -> None:
    """Start supervisors as copies of this process."""
    module = SimpleNamespace(Popen=Forked, DEVNULL=subprocess.DEVNULL)
    monkeypatch.setattr(children, "subprocess", module)


class Forked:
    """A supervisor in a copy of this process, with what `Children` asks of a program."""

    def __init__(
        self, command: list[str], *, stdin: int, stdout: int, env: Any, cwd: str, **_: Any
    ):
        self.pid = os.fork()
        self.returncode: int | None = None
        if self.pid:
            return
        code = 1
        try:
            os.dup2(stdin, 0)
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            os.closerange(3, 1 << 16)  # as for a program: among them is the other end of the socket
            os.chdir(cwd)
            os.environ.clear()
            os.environ.update(env)
            sys.argv = ["-c", command[-1]]
            sys.stdout, sys.stderr = os.fdopen(1, "w"), os.fdopen(2, "w")
            main()
            code = 0
        except SystemExit as end:
            code = int(end.code or 0)
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)

    def poll(self) -> int | None:
        if self.returncode is None:
            ended, status = os.waitpid(self.pid, os.WNOHANG)
            self.returncode = os.waitstatus_to_exitcode(status) if ended else None
        return self.returncode

    def wait(self, timeout: float = 30) -> int:
        wait_until(lambda: self.poll() is not None, timeout)
        assert self.returncode is not None
        return self.returncode

    def kill(self) -> None:
        os.kill(self.pid, signal.SIGKILL)
