"""Watches what equipage asks of the system, by an audit hook: see `security/test_promise.py`.

Python imports this file when it starts, because its folder is on the path of the processes that
tests start. In a process of the command everything counts; in any other, that of the tests among
them, what a function of equipage causes. What is not allowed is written down, and ends what asked
for it. A test that starts the command where it is not watched is not allowed either.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping, Sequence
from types import FrameType
from typing import Any

#: The variable with the path of the file in which it is written down.
VARIABLE = "EQUIPAGE_TEST_AUDIT"
FOLDER = os.path.dirname(os.path.abspath(__file__))
#: What starts another program, and which argument of the event names it.
STARTS = {"subprocess.Popen": 0, "os.exec": 0, "os.posix_spawn": 0, "os.spawn": 1}
#: What no part of equipage does.
NEVER = ("socket.", "os.system", "os.startfile", "pty.spawn", "ctypes.dlopen", "ctypes.dlsym")
#: The parts of C that equipage calls through ctypes: Python itself, to end a rule in time.
C_NAMES = (None, "PyThreadState_SetAsyncExc")
#: The two modules that start processes: which programs, and workers.
RUNS_PROGRAMS, PROGRAMS = "equipage.files.process", ("git", "ssh-keygen")
STARTS_WORKERS = "equipage.workspace.parallel"
#: Options of Python with which it does not find this file.
ALONE = re.compile("-[a-zA-Z]*[ESI][a-zA-Z]*")
IS_COMMAND = sys.orig_argv[1:3] == ["-m", "equipage"] or any(
    os.path.basename(each) == "equipage" for each in sys.orig_argv[1:2]
)

#: The path of the file while something is watched.
log = os.environ.get(VARIABLE, "")


class NotAllowed(BaseException):
    """Ends what asked for it: handlers of exceptions do not take this one."""


def hook(event: str, arguments: tuple[Any, ...]) -> None:
    is_start = event in STARTS or event.startswith("os.fork")
    if not log or not (is_start or event.startswith(NEVER)):
        return
    callers = _callers(sys._getframe(1))
    if not (IS_COMMAND or any(each.partition(".")[0] == "equipage" for each in callers)):
        if event == "subprocess.Popen" and not _is_watched(*arguments):
            _refuse(f"not watched: {arguments[1]!r:.200}")
    elif is_start:
        if STARTS_WORKERS in callers and "multiprocessing.process" in callers:
            return
        program = os.fsdecode(arguments[STARTS[event]] or "") if event in STARTS else ""
        name = os.path.basename(program).removesuffix(".exe")
        if not (RUNS_PROGRAMS in callers and name in PROGRAMS and os.path.isabs(program)):
            _refuse(f"{event} {arguments!r:.200}")
    elif not (event.startswith("ctypes.") and arguments[-1] in C_NAMES):
        _refuse(f"{event} {arguments!r:.200}")


def _refuse(what: str) -> None:
    found = f"{what} in {sys.argv!r:.200}\n"
    with open(log, "a", encoding="utf-8") as file:
        file.write(found)
    raise NotAllowed(found)


def _callers(frame: FrameType | None) -> set[str]:
    """The names of the modules whose functions run."""
    found = set()
    while frame is not None:
        found.add(str(frame.f_globals.get("__name__")))
        frame = frame.f_back
    return found


def _is_watched(
    program: Any, words: Sequence[Any], _folder: Any, variables: Mapping[str, str] | None
) -> bool:
    """Whether a process that a test starts is watched, too, if it may be one of equipage."""
    texts = [os.fsdecode(each) for each in (program, *words)]
    name = os.path.basename(texts[0])
    if not (
        name.startswith(("python", "equipage")) or any("-m equipage" in each for each in texts)
    ):
        return True
    is_hidden = name.startswith("python") and any(map(ALONE.fullmatch, texts[2:]))
    given = os.environ if variables is None else variables
    paths = given.get("PYTHONPATH", "").split(os.pathsep)
    return given.get(VARIABLE) == log and FOLDER in paths and not is_hidden


sys.addaudithook(hook)
