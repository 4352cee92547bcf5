"""Watches what equipage asks of the system, by an audit hook: see `security/test_promise.py`.

Python imports this file when it starts, because its folder is on the path of the processes that
tests start. In a process of the command everything counts; in any other, that of the tests among
them, only what a function of equipage causes. What is not allowed is written down, and ends what
asked for it.
"""

from __future__ import annotations

import os
import sys
from typing import Any

#: The variable with the path of the file in which it is written down.
VARIABLE = "EQUIPAGE_TEST_AUDIT"
#: What starts another program, and which argument of the event names it.
STARTS = {"subprocess.Popen": 0, "os.exec": 0, "os.posix_spawn": 0, "os.spawn": 1}
PROGRAMS = ("git", "ssh-keygen")
IS_COMMAND = sys.orig_argv[1:3] == ["-m", "equipage"]

#: The path of the file while something is watched.
log = os.environ.get(VARIABLE, "")


class NotAllowed(BaseException):
    """Ends what asked for it: handlers of exceptions do not take this one."""


def hook(event: str, arguments: tuple[Any, ...]) -> None:
    if not log:
        return
    if event in STARTS:
        is_allowed = _may_start(os.fsdecode(arguments[STARTS[event]] or ""))
    else:
        is_allowed = not event.startswith(("socket.", "os.system", "os.startfile", "os.fork"))
        is_allowed = is_allowed or (
            event.startswith("os.fork") and _is_called_by("multiprocessing")
        )
    if not is_allowed and (IS_COMMAND or _is_called_by("equipage")):
        found = f"{event} {arguments!r:.200} in {sys.argv!r:.200}\n"
        with open(log, "a", encoding="utf-8") as file:
            file.write(found)
        raise NotAllowed(found)


def _may_start(program: str) -> bool:
    """A worker is this Python again, started by `multiprocessing`."""
    name = os.path.basename(program).removesuffix(".exe")
    return name in PROGRAMS or (program == sys.executable and _is_called_by("multiprocessing"))


def _is_called_by(package: str) -> bool:
    frame = sys._getframe(1).f_back
    while frame is not None:
        if str(frame.f_globals.get("__name__")).partition(".")[0] == package:
            return True
        frame = frame.f_back
    return False


sys.addaudithook(hook)
