"""The filter of calls, run step by step as the kernel runs it: which call gets which answer."""

from __future__ import annotations

import errno
import struct
from typing import Any

import pytest

from equipage_serve import jail

ALLOWED, REFUSED, MISSING, ASKED, KILLED = "allowed", "refused", "missing", "asked", "killed"
_WORDS = {
    jail._ALLOW: ALLOWED,
    jail._DENY | errno.EPERM: REFUSED,
    jail._DENY | errno.ENOSYS: MISSING,
    jail._ASK: ASKED,
    jail._KILL: KILLED,
}
X86, ARM = 0xC000003E, 0xC00000B7
#: By machine: the numbers of calls, from the tables of the kernel.
CALLS: dict[str, dict[str, int]] = {
    "x86_64": {
        "read": 0, "open": 2, "socketpair": 53, "socket": 41, "clone": 56, "fork": 57, "vfork": 58, "execve": 59,
        "execveat": 322, "clone3": 435, "io_uring_setup": 425, "kill": 62, "tkill": 200, "tgkill": 234,
        "rt_sigqueueinfo": 129, "rt_tgsigqueueinfo": 297, "pidfd_send_signal": 424, "prlimit64": 302,
        "sched_setparam": 142, "sched_setscheduler": 144, "sched_setaffinity": 203, "sched_setattr": 314,
        "setpriority": 141, "ioprio_set": 251, "shmget": 29, "shmat": 30, "shmctl": 31, "semget": 64, "semop": 65,
        "semctl": 66, "semtimedop": 220, "msgget": 68, "msgsnd": 69, "msgrcv": 70, "msgctl": 71, "mq_open": 240,
        "mq_unlink": 241, "add_key": 248, "request_key": 249, "keyctl": 250, "open_by_handle_at": 304,
        "chmod": 90, "fchmod": 91, "fchmodat": 268, "chown": 92, "fchown": 93, "lchown": 94, "fchownat": 260,
        "utime": 132, "utimes": 235, "futimesat": 261, "utimensat": 280, "setxattr": 188, "lsetxattr": 189,
        "fsetxattr": 190, "removexattr": 197, "lremovexattr": 198, "fremovexattr": 199,
    },
    "aarch64": {
        "read": 63, "open": 56, "socketpair": 199, "socket": 198, "clone": 220, "execve": 221, "execveat": 281,
        "clone3": 435, "io_uring_setup": 425, "kill": 129, "tkill": 130, "tgkill": 131, "rt_sigqueueinfo": 138,
        "rt_tgsigqueueinfo": 240, "pidfd_send_signal": 424, "prlimit64": 261, "sched_setparam": 118,
        "sched_setscheduler": 119, "sched_setaffinity": 122, "sched_setattr": 274, "setpriority": 140,
        "ioprio_set": 30, "shmget": 194, "shmctl": 195, "shmat": 196, "semget": 190, "semctl": 191,
        "semtimedop": 192, "semop": 193, "msgget": 186, "msgctl": 187, "msgrcv": 188, "msgsnd": 189, "mq_open": 180,
        "mq_unlink": 181, "add_key": 217, "request_key": 218, "keyctl": 219, "open_by_handle_at": 265,
        "fchmod": 52, "fchmodat": 53, "fchownat": 54, "fchown": 55, "utimensat": 88, "setxattr": 5, "lsetxattr": 6,
        "fsetxattr": 7, "removexattr": 14, "lremovexattr": 15, "fremovexattr": 16,
    },
}  # fmt: skip
NEW = {"fchmodat2": 452, "setxattrat": 463, "removexattrat": 466, "file_setattr": 469}
#: Refused whatever a pack declares.
ATTRIBUTES = (
    *("chmod", "fchmod", "fchmodat", "chown", "fchown", "lchown", "fchownat", "utime", "utimes"),
    *("futimesat", "utimensat", "setxattr", "lsetxattr", "fsetxattr", "removexattr"),
    *("lremovexattr", "fremovexattr", *NEW),
)
SHARED = (
    *("shmget", "shmat", "shmctl", "semget", "semop", "semctl", "semtimedop", "msgget", "msgsnd"),
    *("msgrcv", "msgctl", "mq_open", "mq_unlink", "add_key", "request_key", "keyctl"),
    "open_by_handle_at",
)
OF_PROCESSES = ("prlimit64", "sched_setparam", "sched_setscheduler", "sched_setaffinity", "sched_setattr")  # fmt: skip
SIGNALS = ("kill", "tkill", "tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo")


class Machine:
    """A kernel with one filter."""

    def __init__(self, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
        self.name, self.word = name, {"x86_64": X86, "aarch64": ARM}[name]
        self.calls = {**CALLS[name], **NEW}
        self._patch = monkeypatch
        self.steps: list[Any] = []

    def filter(self, **given: Any) -> Machine:
        self._patch.setattr("platform.machine", lambda: self.name)
        rules = {"network": False, "forks": False, "starts": False, **given}
        self.steps = list(struct.iter_unpack("HBBI", jail.call_filter(**rules)))
        return self

    def __call__(self, call: str | int, *arguments: int, word: int | None = None) -> str:
        """The answer to a call with these arguments."""
        number = self.calls[call] if isinstance(call, str) else call
        data = struct.pack(
            "=IIQ6Q", number, self.word if word is None else word, 0, *(*arguments, *[0] * 6)[:6]
        )
        position, value = 0, 0
        while True:
            operation, if_true, if_false, operand = self.steps[position]
            position += 1
            # What decides nothing has no other way to go.
            assert operation not in (0x20, 0x06) or if_true == if_false == 0
            if operation == 0x20:  # load a word
                (value,) = struct.unpack_from("=I", data, operand)
            elif operation == 0x06:
                return _WORDS[operand]
            else:
                holds = {
                    0x15: value == operand,
                    0x35: value >= operand,
                    0x45: bool(value & operand),
                }[operation]
                position += if_true if holds else if_false


@pytest.fixture(params=["x86_64", "aarch64"])
def machine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Machine:
    return Machine(request.param, monkeypatch)


@pytest.mark.parametrize("network", [False, True])
@pytest.mark.parametrize("forks", [False, True])
def test_what_is_refused_whatever_a_pack_declares(
    machine: Machine, network: bool, forks: bool
) -> None:
    machine.filter(network=network, forks=forks)
    for name in (*ATTRIBUTES, *SHARED):
        if name in machine.calls:
            assert machine(name) == REFUSED, name
    assert machine("io_uring_setup") == REFUSED
    for name in OF_PROCESSES:
        assert machine(name, 0) == ALLOWED, name
        assert machine(name, 1) == machine(name, 4711) == REFUSED, name
    # setpriority(PRIO_PROCESS, 0), ioprio_set(IOPRIO_WHO_PROCESS, 0), and nothing else
    for name, own in (("setpriority", 0), ("ioprio_set", 1)):
        assert machine(name, own, 0) == ALLOWED
        assert machine(name, own, 4711) == REFUSED
        assert {machine(name, other, 0) for other in (0, 1, 2, 3) if other != own} == {REFUSED}
    assert machine("read") == machine("open") == machine("socketpair") == ALLOWED


def test_other_architectures_end_the_process(machine: Machine) -> None:
    machine.filter()
    for word in (0x40000003, X86 ^ ARM, 0, X86 if machine.word == ARM else ARM):
        assert machine("read", word=word) == KILLED
    x32 = 0x40000000
    assert machine(x32) == machine(x32 + 41) == (REFUSED if machine.word == X86 else ALLOWED)
    assert machine(x32 - 1) == ALLOWED


def test_the_network(machine: Machine) -> None:
    assert {machine.filter()("socket", family) for family in (1, 2, 10, 16, 17, 40)} == {REFUSED}
    machine.filter(network=True)
    assert {machine("socket", family) for family in (1, 2, 10, 16)} == {ALLOWED}


THREAD, NEW_USER = 0x10000, 0x10000000


def test_processes(machine: Machine) -> None:
    machine.filter()
    for name in ("fork", "vfork", "execve", "execveat"):
        if name in machine.calls:
            assert machine(name) == REFUSED, name
    assert machine("clone3") == MISSING
    assert machine("clone", THREAD | 0x50F00) == ALLOWED
    assert machine("clone", 17) == machine("clone", NEW_USER) == REFUSED
    assert machine.filter(starts=True)("execve") == ASKED
    assert machine("execveat") == REFUSED
    for starts in (False, True):
        machine.filter(forks=True, starts=starts)
        for name in ("fork", "vfork", "execve", "execveat", "clone3"):
            if name in machine.calls:
                assert machine(name) == ALLOWED, name
        assert machine("clone", 17) == ALLOWED


def test_signals(machine: Machine) -> None:
    machine.filter(pid=4711)
    for name in SIGNALS:
        assert machine(name, 4711) == ALLOWED, name
        assert {machine(name, pid) for pid in (0, 1, 4712, 2**32 - 1)} == {REFUSED}, name
    assert machine("pidfd_send_signal", 3) == REFUSED
    # The number of a process may be that of a call that is refused.
    for number in {machine.calls[name] for name in ("socket", "execve", "clone")}:
        machine.filter(pid=number)
        assert {machine(name, number) for name in SIGNALS} == {ALLOWED}
    machine.filter()
    for name in (*SIGNALS, "pidfd_send_signal"):
        assert machine(name, 1) == ALLOWED, name
