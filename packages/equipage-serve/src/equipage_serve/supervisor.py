"""The process that starts every tool, watches over it, and leaves none behind.

It is small and has one thread, so a fork of it costs a millisecond. It knows nothing of packs: the
server sends it what to start, in which jail, with which descriptors. Between it and a tool that may
start processes is one more fork of it, the keeper: what the tool started becomes a child of the
keeper when it loses its parent, and the keeper ends last. All of them end when the server is gone,
whatever the reason. Only the standard library is used.

Messages in both directions are a length in four bytes and that much JSON; descriptors travel with
the length. `define` names a jail and what runs in it, `spawn` starts one process (with descriptors
for its input, output and error, and for a file with its variables and arguments), `kill` ends one.
Each process is answered by one message with its `id` and its `status`: an exit code, or minus the
number of a signal.

Variables and arguments never enter this process: a tool of the kind `python` is a fork of it, and
could find in its memory what earlier tools were given.
"""

from __future__ import annotations

import base64
import contextlib
import errno
import gc
import itertools
import json
import os
import select
import selectors
import signal
import socket
import struct
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

from equipage_serve import jail, worker

#: Seconds between SIGTERM and SIGKILL.
GRACE_SECONDS = 0.3
#: The exit code of a process whose jail or program could not be set up.
NOT_STARTED = 125
_LENGTH = struct.Struct(">I")
_MAX_NEW_PROCESSES = 64


class _Become(Exception):
    """Raised in a fork, to leave the loop of the supervisor and run the tool."""

    def __init__(self, action: Callable[[], None]) -> None:
        self.action = action


class _Jail:
    """A jail that can be entered: its rules are known, its filter is written."""

    def __init__(self, spec: dict[str, Any]) -> None:
        self.folder: str = spec["folder"]
        self.folders: list[str] = spec["folders"]
        self.limits: dict[str, int] = spec["limits"]
        self.run: dict[str, Any] = spec["run"]
        self.forks: bool = spec["forks"]  #: whether processes may remain when one ends
        self.kept = self.forks and sys.platform == "linux"  #: whether there is a keeper
        self.starts: bool = "program" in self.run
        self.filter = None
        self._spec = spec
        # What a kernel refuses, it refuses here, before there is a process.
        if (rules := self.rules(self.folder)) is not None:
            os.close(rules)
        self._calls = {"network": spec["network"], "forks": self.forks, "starts": self.starts}
        if spec["filter"]:
            self.filter = jail.call_filter(**self._calls)
        self.asks = self.filter is not None and self.starts and not self.forks

    def rules(self, home: str) -> int | None:
        """The rules for one process, which may also write to a folder of its own."""
        spec = self._spec
        if not spec["landlock"]:
            return None
        write = [*spec["write"], home]
        return jail.ruleset(spec["read"], write, spec["listed"], network=spec["network"])

    def own_filter(self) -> bytes | None:
        """The filter for this process, where Landlock does not keep signals from others."""
        if self.filter is None or self.forks or jail.landlock_version() >= jail.SCOPES_SINCE:
            return self.filter
        return jail.call_filter(**self._calls, pid=os.getpid())


class _Process:
    """A process that was started for the server: a tool, or the keeper of one."""

    def __init__(self, number: int, pid: int, kept: bool) -> None:
        self.number, self.pid, self.kept = number, pid, kept
        self.kill_at: float | None = None

    def signal(self, number: int) -> None:
        """Signal all that belongs to a tool; a keeper passes it on."""
        if self.kept:
            _signal(self.pid, _END if number == signal.SIGKILL else number)
        else:
            _signal_group(self.pid, number)


class Supervisor:
    """Serves one control socket until its other end is closed."""

    def __init__(self, control: socket.socket, home: str) -> None:
        self.control, self.home = control, home
        self.jails: dict[str, _Jail] = {}
        self.by_number: dict[int, _Process] = {}
        self.by_pid: dict[int, _Process] = {}
        self.selector = selectors.DefaultSelector()
        self._wake_reader, self._wake_writer = os.pipe()
        self._processes_allowed: tuple[float, int] | None = None

    def serve(self) -> None:
        for descriptor in (self._wake_reader, self._wake_writer):
            os.set_blocking(descriptor, False)
        signal.set_wakeup_fd(self._wake_writer, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)  # only the server ends its supervisor
        self.selector.register(self.control, selectors.EVENT_READ, self._receive)
        self.selector.register(self._wake_reader, selectors.EVENT_READ, self._reap)
        # Keep the collector of a fork away from objects of this process: a visit copies their page.
        gc.collect()
        gc.freeze()
        try:
            while True:
                for key, _ in self.selector.select(self._seconds_to_next_kill()):
                    key.data()
                self._kill_overdue()
        except (EOFError, ConnectionError):
            self._end_all()

    # Messages.

    def _receive(self) -> None:
        # Descriptors arrive with the first byte of a message, so they are taken with the length;
        # the rest is plain data.
        header, descriptors, _, _ = socket.recv_fds(self.control, _LENGTH.size, 8)
        if not header:
            raise EOFError
        header += self._receive_exactly(_LENGTH.size - len(header))
        message = json.loads(self._receive_exactly(_LENGTH.unpack(header)[0]))
        operation = message["op"]
        if operation == "define":
            self._define(message)
        elif operation == "forget":
            self.jails.pop(message["key"], None)
        elif operation == "kill":
            self._kill(message["id"], message["grace"])
        else:
            try:
                self._spawn(message, descriptors)
            except OSError as error:
                self._send({"id": message["id"], "failed": error.strerror or "cannot start"})
            # Not in a `finally`: a fork leaves through here, too, and needs them.
            for descriptor in descriptors:
                os.close(descriptor)

    def _receive_exactly(self, size: int) -> bytes:
        data = bytearray()
        while len(data) < size:
            more = self.control.recv(size - len(data))
            if not more:
                raise EOFError
            data += more
        return bytes(data)

    def _send(self, message: dict[str, Any]) -> None:
        data = json.dumps(message).encode()
        self.control.sendall(_LENGTH.pack(len(data)) + data)

    def _define(self, message: dict[str, Any]) -> None:
        try:
            self.jails[message["key"]] = _Jail(message["jail"])
            self._send({"defined": message["key"]})
        except OSError as error:
            self._send({"defined": message["key"], "failed": str(error)})

    # Starting.

    def _spawn(self, message: dict[str, Any], descriptors: list[int]) -> None:
        place, number = self.jails.get(message["key"]), message["id"]
        if place is None:
            raise OSError(errno.ENOENT, "the tool is gone")
        # Over this pair the fork hands us the listener of its filter, before it starts its program.
        ours, theirs = socket.socketpair() if place.asks else (None, None)
        limits = dict(place.limits)
        # The kernel counts all processes of the user, not those of the jail: the limit moves with
        # what is there.
        if "NPROC" in limits:
            limits["NPROC"] = self._process_limit()
        parent = os.getpid()
        pid = os.fork()
        # Not handled here: the fork must first unwind out of the loop, whose selector and
        # descriptors are those of the supervisor.
        if pid == 0:
            home = message["home"]
            raise _Become(lambda: _become(place, home, descriptors, theirs, limits, parent))
        process = _Process(number, pid, place.kept)
        self.by_number[number] = self.by_pid[pid] = process
        if ours is not None and theirs is not None:
            theirs.close()
            self.selector.register(ours, selectors.EVENT_READ, lambda: self._take_listener(ours))

    def _process_limit(self) -> int:
        """How many processes and threads the user may have: those there are, and some more."""
        now = time.monotonic()
        if self._processes_allowed is None or self._processes_allowed[0] < now - 5:
            there = 0
            for name in os.listdir("/proc"):
                try:
                    if name.isdecimal() and os.stat(f"/proc/{name}").st_uid == os.getuid():
                        there += len(os.listdir(f"/proc/{name}/task"))
                except OSError:
                    continue  # it ended meanwhile
            self._processes_allowed = now, there + _MAX_NEW_PROCESSES
        return self._processes_allowed[1]

    def _take_listener(self, ours: socket.socket) -> None:
        """A fork is about to start its one program: wait until the kernel asks for leave."""
        self.selector.unregister(ours)
        with ours:
            _, descriptors, _, _ = socket.recv_fds(ours, 1, 1)
        for listener in descriptors:
            self.selector.register(
                listener, selectors.EVENT_READ, lambda fd=listener: self._allow_start(fd)
            )

    def _allow_start(self, listener: int) -> None:
        self.selector.unregister(listener)
        asked = select.poll()
        asked.register(listener, select.POLLIN)
        if any(events & select.POLLIN for _, events in asked.poll(0)):
            jail.allow_one_start(listener)
        else:
            os.close(listener)  # the process is gone

    # Ending.

    def _kill(self, number: int, grace: float) -> None:
        process = self.by_number.get(number)
        if process is None or process.kill_at is not None:
            return
        # The loop ends it when that time has come, so a tool that ignores the signal delays no
        # other.
        process.kill_at = time.monotonic() + grace
        if grace:
            process.signal(signal.SIGTERM)

    def _seconds_to_next_kill(self) -> float | None:
        times = [each.kill_at for each in self.by_pid.values() if each.kill_at is not None]
        return max(0.0, min(times) - time.monotonic()) if times else None

    def _kill_overdue(self) -> None:
        now = time.monotonic()
        for process in self.by_pid.values():
            if process.kill_at is not None and process.kill_at <= now:
                process.signal(signal.SIGKILL)
                process.kill_at = (
                    now + GRACE_SECONDS
                )  # once more, should a fork have slipped through

    def _reap(self) -> None:
        """Collect every process that ended, and what it left."""
        try:
            while os.read(self._wake_reader, 4096):
                continue
        except BlockingIOError:
            pass
        # One signal may report many ends, so all of them are collected, not one.
        while (ended := _find_ended_child()) is not None:
            process = self.by_pid.pop(ended, None)
            if process is None:
                os.waitpid(ended, 0)
                self._end_orphans()
                continue
            # The rest of the group, before the number of the group may be used again.
            _signal_group(ended, signal.SIGKILL)
            _, status = os.waitpid(ended, 0)
            del self.by_number[process.number]
            if process.kept:
                self._end_orphans()
            self._send({"id": process.number, "status": os.waitstatus_to_exitcode(status)})

    def _end_orphans(self) -> None:
        """End what a keeper left because it was killed itself: a tool may signal other processes
        where Landlock is older than its sixth version."""
        for pid in _children():
            if pid not in self.by_pid:
                _signal(pid, signal.SIGKILL)

    def _end_all(self) -> None:
        """The server is gone: end every process, then the folder it made for them."""
        until = time.monotonic() + 5
        while time.monotonic() < until:
            children = _children()
            # In rounds, because a process can fork between the look and the signal; each round
            # leaves fewer.
            for pid in children:
                _signal_group(pid, signal.SIGKILL)
                _signal(pid, signal.SIGKILL)
            try:
                while os.waitpid(-1, os.WNOHANG)[0]:
                    continue
            except ChildProcessError:
                break
            time.sleep(0.005)
        for _ in removal(self.home):
            continue


def removal(top: str) -> Iterator[None]:
    """Remove a folder that tools filled, however deep and with whatever modes, an entry for each
    step; what cannot be removed stays. No link is followed, not even one that is put there later.
    """
    names = (f"{os.urandom(8).hex()}-{number}" for number in itertools.count())
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
    waiting = ["."]
    with contextlib.suppress(OSError), _descriptor_of(top, flags) as base:
        while waiting:
            folder = waiting.pop()
            with contextlib.suppress(OSError), _descriptor_of(folder, flags, base) as here:
                for each in list(os.scandir(here)):
                    yield
                    with contextlib.suppress(OSError):
                        if not each.is_dir(follow_symlinks=False):
                            os.unlink(each.name, dir_fd=here)
                            continue
                        _permit_changes(each.name, here)
                        # Up to the top: a path through many folders is too long for the kernel.
                        flat = next(names)
                        os.rename(each.name, flat, src_dir_fd=here, dst_dir_fd=base)
                        waiting.append(flat)
                if folder != ".":
                    os.rmdir(folder, dir_fd=base)
        os.rmdir(top)


@contextlib.contextmanager
def _descriptor_of(path: str, flags: int, folder: int | None = None) -> Iterator[int]:
    descriptor = os.open(path, flags, dir_fd=folder)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _permit_changes(name: str, folder: int) -> None:
    """Let the owner of a folder change it."""
    if sys.platform != "linux":
        os.chmod(name, 0o700, dir_fd=folder, follow_symlinks=False)
        return
    # Linux changes the modes of open files only, or of what a link leads to.
    with _descriptor_of(name, os.O_PATH | os.O_NOFOLLOW, folder) as found:
        os.chmod(f"/proc/self/fd/{found}", 0o700)


def _find_ended_child() -> int | None:
    """A child that ended; it is not collected yet."""
    try:
        found = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return None
    return None if found is None else found.si_pid


def _children() -> list[int]:
    """Every child of this process, adopted ones too."""
    try:
        with open(f"/proc/self/task/{os.getpid()}/children") as file:
            return [int(word) for word in file.read().split()]
    except OSError:
        return []  # not Linux: there are no adopted ones


def _signal_group(pid: int, number: int) -> None:
    try:
        os.killpg(pid, number)
    except (ProcessLookupError, PermissionError):
        _signal(pid, number)  # it has no group of its own yet


def _signal(pid: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)


# In the fork.

#: Tells a keeper to end its tool and all that this started.
_END = signal.SIGUSR1 if sys.platform != "win32" else 0


def _become(
    place: _Jail,
    home: str,
    descriptors: list[int],
    asking: socket.socket | None,
    limits: dict[str, int],
    parent: int,
) -> None:
    """Become the tool; or its keeper, with the tool as a child."""
    signal.set_wakeup_fd(-1)
    if place.kept:
        numbers = (signal.SIGCHLD, signal.SIGTERM, _END)
        # Before there is a tool: a keeper that ended now would leave nothing behind.
        signal.pthread_sigmask(signal.SIG_BLOCK, numbers)
        os.setsid()
        jail.die_with(parent)
        jail.adopt_orphans()
        parent = os.getpid()
        if tool := os.fork():
            _keep(tool, numbers)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, numbers)
    _become_tool(place, home, descriptors, asking, limits, parent)


def _keep(tool: int, numbers: tuple[int, ...]) -> None:
    """Wait for a tool, end all that it started, and end as it did."""
    jail.set_limits({"CORE": 0})
    # A reader of the tool must see the end of its output, not of ours.
    os.closerange(0, 1 << 16)
    ended: dict[int, int] = {}
    while tool not in ended and (number := signal.sigwait(numbers)) != _END:
        if number == signal.SIGTERM:
            _signal_group(tool, signal.SIGTERM)
        while (found := os.waitpid(-1, os.WNOHANG))[0]:
            ended[found[0]] = found[1]
            if found[0] == tool:
                break
    with contextlib.suppress(ChildProcessError):
        # In rounds: what loses its parent in one is a child of ours in the next.
        while True:
            for pid in _children():
                _signal_group(pid, signal.SIGKILL)
            pid, status = os.waitpid(-1, 0)
            ended[pid] = status
    code = os.waitstatus_to_exitcode(ended[tool])
    if code < 0:
        with contextlib.suppress(OSError):  # SIGKILL has no other
            signal.signal(-code, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [-code])
        os.kill(os.getpid(), -code)
    os._exit(code)


def _become_tool(
    place: _Jail,
    home: str,
    descriptors: list[int],
    asking: socket.socket | None,
    limits: dict[str, int],
    parent: int,
) -> None:
    """Put on the jail and become the tool."""
    try:
        # A group of its own: a signal to the group reaches what the tool starts, and none of us.
        os.setsid()
        if sys.platform == "linux":
            jail.die_with(parent)
        for number in (signal.SIGCHLD, signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_DFL)
        # Python ignores SIGPIPE, and a program would inherit that: it must end when its reader is
        # gone.
        if place.starts:
            signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        for target, descriptor in enumerate(descriptors[:3]):
            os.dup2(descriptor, target)
        with open(descriptors[3], "rb") as file:
            given = json.loads(file.read())
        os.umask(0o077)
        os.chdir(place.folder)
        jail.set_limits(limits)
        keep = None if asking is None else asking.fileno()
        _enter_jail(place, home, keep)
    except OSError as error:
        _exit_not_started(f"cannot be confined: {error}")
    if place.starts:
        argv = given["argv"]
        try:
            os.execve(argv[0], argv, given["env"])
        except OSError as error:
            _exit_not_started(f"cannot start {os.path.basename(argv[0])}: {error.strerror}")
    # A fork of Python has no exec that would replace the environment.
    os.environ.clear()
    os.environ.update(given["env"])
    run = place.run
    worker.search_in(place.folders, run["hashes"])
    if "callable" in run:
        worker.run_callable(*run["callable"])
    worker.run_script(base64.b64decode(run["source"]), run["path"])


def _enter_jail(place: _Jail, home: str, asking: int | None) -> None:
    rules = place.rules(home)
    if sys.platform == "linux":
        jail.refuse_new_privileges()
    if sys.platform == "linux" and (rules is not None or place.filter is not None):
        jail.drop_capabilities()
    if rules is not None:
        jail.enter(rules)
    listener = None
    if (program := place.own_filter()) is not None:
        listener = jail.install(program, ask=place.asks)
    if asking is not None and listener is not None and place.asks:
        with socket.socket(fileno=os.dup(asking)) as door:
            socket.send_fds(door, [b"x"], [listener])
    # Last: the listener and the rules are closed with everything else.
    os.closerange(3, 1 << 16)


def _exit_not_started(reason: str) -> None:
    os.write(2, f"equipage: {reason}\n".encode(errors="backslashreplace"))
    os._exit(NOT_STARTED)


def main() -> None:
    """Serve the socket that is standard input; the only argument is the folder to remove."""
    control = socket.socket(fileno=os.dup(0))
    home = sys.argv[1]
    with open(os.devnull, "rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    if sys.platform == "linux":
        jail.adopt_orphans()
        jail.preload()
    try:
        Supervisor(control, home).serve()
    except _Become as fork:
        action = fork.action
        control.detach()  # its number may soon be that of a file of the tool
    else:
        return
    action()
