"""The jail of one process, put on by the process itself: Landlock, seccomp and resource limits.

Only the standard library is used, through `ctypes`: this module runs in the supervisor and in the
forks of it, which must stay small. What a jail must hold is decided elsewhere (`confinement`); here
a failure to put it on is an exception, never a weaker jail.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import stat
import struct
from collections.abc import Iterable, Mapping
from functools import cache

# The numbers of the kernel. The first three calls have the same number on every architecture.
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_PR_SET_PDEATHSIG, _PR_SET_SUBREAPER, _PR_NO_NEW_PRIVS = 1, 36, 38
_SIGKILL = 9


@cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def preload() -> None:
    """Load everything that a fork needs to put on a jail, so that no fork has to."""
    import resource  # noqa: F401

    # The first use of the compiler makes some hundred types: two milliseconds of each fork.
    compile("", "", "exec")

    _libc()
    platform.machine()


def _check_result(result: int, what: str) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result


def adopt_orphans() -> None:
    """Make this process the parent of descendants whose own parent ends."""
    _check_result(_libc().prctl(_PR_SET_SUBREAPER, 1, 0, 0, 0), "subreaper")


def die_with(parent: int) -> None:
    """End this process when its parent ends; at once, if the parent is gone already."""
    _check_result(_libc().prctl(_PR_SET_PDEATHSIG, _SIGKILL, 0, 0, 0), "parent death signal")
    if os.getppid() != parent:
        os._exit(1)


def refuse_new_privileges() -> None:
    """Programs that this process starts gain no rights from their files."""
    _check_result(_libc().prctl(_PR_NO_NEW_PRIVS, 1, 0, 0, 0), "no new privileges")


#: CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH.
_KEPT_CAPABILITIES = 0b110


def drop_capabilities() -> None:
    """Give up what root may do to the machine: its name, its clock, limits, other processes.

    Files of other users stay in reach, because the folder of a tool may belong to one; Landlock
    says which. A user has none of these rights, and nothing changes.
    """
    libc = _libc()
    # The third version of the structure, for this process; its two halves have 32 rights each.
    header = struct.pack("=Ii", 0x20080522, 0)
    rights = ctypes.create_string_buffer(24)
    _check_result(libc.capget(header, rights), "capabilities")
    _, permitted, *_ = struct.unpack("=6I", rights.raw)
    kept = permitted & _KEPT_CAPABILITIES
    _check_result(libc.capset(header, struct.pack("=6I", kept, kept, 0, 0, 0, 0)), "capabilities")


# Landlock: which files may be read and written, and whether TCP is allowed.

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1, 2, 4, 8
_TRUNCATE, _IOCTL_DEV = 1 << 14, 1 << 15
#: The rights that a rule for a file, not a folder, may grant.
_FILE_RIGHTS = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEV
_READ_RIGHTS = _EXECUTE | _READ_FILE | _READ_DIR
#: Every right that a version of Landlock knows, the first version first.
_RIGHTS = ((1 << 13) - 1, (1 << 14) - 1, (1 << 15) - 1, (1 << 15) - 1, (1 << 16) - 1)
_NETWORK_SINCE, SCOPES_SINCE = 4, 6
_TCP, _SCOPES = 3, 3


def landlock_version() -> int:
    """The version of Landlock that the kernel offers; 0 if there is none."""
    if platform.system() != "Linux":
        return 0
    return max(0, int(_libc().syscall(_CREATE_RULESET, None, 0, 1)))


def ruleset(
    read: Iterable[str], write: Iterable[str], listed: Iterable[str] = (), *, network: bool
) -> int:
    """A descriptor of the rules: files below `read` may be read and run, below `write` changed,
    and of folders below `listed` the names seen. Paths that do not exist, or lead through a link,
    grant nothing.
    """
    libc, version = _libc(), landlock_version()
    rights = _RIGHTS[min(version, len(_RIGHTS)) - 1]
    fields = [rights]
    # The kernel refuses a structure with fields that it does not know, so it grows by version.
    if version >= _NETWORK_SINCE:
        fields.append(0 if network else _TCP)
    if version >= SCOPES_SINCE:
        fields.append(_SCOPES)  # no signals and no abstract sockets to processes outside
    data = struct.pack(f"={len(fields)}Q", *fields)
    descriptor = _check_result(libc.syscall(_CREATE_RULESET, data, len(data), 0), "landlock rules")
    for path in read:
        _allow(libc, descriptor, path, _READ_RIGHTS & rights)
    for path in write:
        _allow(libc, descriptor, path, rights & ~_EXECUTE)
    for path in listed:
        _allow(libc, descriptor, path, _READ_DIR)
    return descriptor


def _allow(libc: ctypes.CDLL, rules: int, path: str, rights: int) -> None:
    try:
        target = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    try:
        # A tool that writes beside a path could have put a link to anywhere in its place.
        if os.readlink(f"/proc/self/fd/{target}") != path:
            return
        # A rule for a file with rights of folders is an error, not a smaller rule.
        if not stat.S_ISDIR(os.fstat(target).st_mode):
            rights &= _FILE_RIGHTS
        rule = struct.pack("=Qi", rights, target)
        _check_result(libc.syscall(_ADD_RULE, rules, 1, rule, 0), f"landlock rule for {path}")
    finally:
        os.close(target)


def enter(rules: int) -> None:
    """Apply the rules to this process and all that it starts."""
    _check_result(_libc().syscall(_RESTRICT_SELF, rules, 0), "landlock")


# seccomp: which calls a process may make. A filter is a small program for the kernel.

#: By machine: the word that names the architecture, and the numbers of calls.
_MACHINES: dict[str, tuple[int, dict[str, int]]] = {
    "x86_64": (
        0xC000003E,
        {
            "socket": 41,
            "socketpair": 53,
            "clone": 56,
            "fork": 57,
            "vfork": 58,
            "execve": 59,
            "execveat": 322,
            "seccomp": 317,
        },
    ),
    "aarch64": (
        0xC00000B7,
        {
            "socket": 198,
            "socketpair": 199,
            "clone": 220,
            "execve": 221,
            "execveat": 281,
            "seccomp": 277,
        },
    ),
}
#: By machine: the calls that change the mode, owner, times and attributes of files, which Landlock
#: does not see: chmod, chown, utime, setxattr, removexattr and their relatives.
_ATTRIBUTE_CALLS: dict[str, tuple[int, ...]] = {
    "x86_64": (
        *(90, 91, 268),
        *(92, 93, 94, 260),
        *(132, 235, 261, 280),
        *(188, 189, 190, 197, 198, 199),
    ),
    "aarch64": (52, 53, 54, 55, 88, 5, 6, 7, 14, 15, 16),
}
#: Newer ones, with one number everywhere: fchmodat2, setxattrat, removexattrat, file_setattr.
_NEW_ATTRIBUTE_CALLS = (452, 463, 466, 469)
#: By machine: what Landlock does not see, either. Memory, semaphores and queues of System V, queues
#: of POSIX and keys of the kernel belong to the user and to all of its processes; a file can be
#: opened by its number instead of its path.
_SHARED_RESOURCE_CALLS: dict[str, tuple[int, ...]] = {
    "x86_64": (*(29, 30, 31, 64, 65, 66, 220, 68, 69, 70, 71), *(240, 241), *(248, 249, 250), 304),
    "aarch64": (
        *(194, 195, 196, 190, 191, 192, 193, 186, 187, 188, 189),
        *(180, 181),
        *(217, 218, 219),
        265,
    ),
}
#: By machine: unshare, setns, userfaultfd, bpf and perf_event_open. In a namespace of its own a
#: process has every right of root, and these are the parts of the kernel that exploits begin with.
_KERNEL_CALLS: dict[str, tuple[int, ...]] = {
    "x86_64": (272, 308, 323, 321, 298),
    "aarch64": (97, 268, 282, 280, 241),
}
#: By machine, what looks into other processes: ptrace, process_vm_readv, process_vm_writev, kcmp,
#: move_pages and migrate_pages.
_FOREIGN_CALLS: dict[str, tuple[int, ...]] = {
    "x86_64": (101, 310, 311, 312, 279, 256),
    "aarch64": (117, 270, 271, 272, 239, 238),
}
#: With one number everywhere: pidfd_getfd and process_madvise, which do so, too; the three of
#: io_uring, whose requests filters do not see; statmount and listmount, which show all mounts.
_NEW_CALLS = (438, 440, 425, 426, 427, 457, 458)
#: By machine: sched_setparam, sched_setscheduler, sched_setaffinity, sched_setattr, prlimit. Each
#: changes the process that the first argument names, so that one could be starved, or killed by a
#: limit on its time. 0 is the caller.
_PROCESS_CALLS: dict[str, tuple[int, ...]] = {
    "x86_64": (142, 144, 203, 314, 302),
    "aarch64": (118, 119, 122, 274, 261),
}
#: By machine: setpriority and ioprio_set, each with its word for “one process”.
_PRIORITY_CALLS: dict[str, tuple[tuple[int, int], ...]] = {
    "x86_64": ((141, 0), (251, 1)),
    "aarch64": ((140, 0), (30, 1)),
}
#: By machine: kill, tkill, tgkill, rt_sigqueueinfo and rt_tgsigqueueinfo.
_SIGNAL_CALLS: dict[str, tuple[int, ...]] = {
    "x86_64": (62, 200, 234, 129, 297),
    "aarch64": (129, 130, 131, 138, 240),
}
_PIDFD_SEND_SIGNAL = 424
#: By machine: fcntl and ioctl, each with its words for who gets the signals of a file.
_OWNER_CALLS: dict[str, tuple[tuple[int, int, int], ...]] = {
    "x86_64": ((72, 8, 15), (16, 0x8901, 0x8902)),
    "aarch64": ((25, 8, 15), (29, 0x8901, 0x8902)),
}
_CLONE3, _CLONE_THREAD, _FIRST_X32 = 435, 0x10000, 0x40000000
#: CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID and NEWNET.
_NAMESPACES = 0x7E020000
#: The first number that is not known: what newer kernels have is as if this one had it not.
_FIRST_UNKNOWN = 470
#: AF_INET and AF_INET6; and the bit that datagrams have and streams have not.
_FAMILIES, _DATAGRAMS = (2, 10), 2
_ALLOW, _DENY, _ASK, _KILL = 0x7FFF0000, 0x00050000, 0x7FC00000, 0x80000000
_REFUSE, _MISSING = _DENY | errno.EPERM, _DENY | errno.ENOSYS
# Where the kernel shows the number of a call, the architecture and the first two arguments.
_NUMBER, _ARCHITECTURE, _ARGUMENT, _SECOND_ARGUMENT = 0, 4, 16, 24
_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06


def knows_this_machine() -> bool:
    """Whether the numbers of calls are known, without which no filter can be written."""
    return platform.system() == "Linux" and platform.machine() in _MACHINES


def call_filter(*, network: bool, forks: bool, starts: bool, pid: int | None = None) -> bytes:
    """The program of a filter. No file gets another mode, owner, time or attribute under it: the
    kernel shows a filter no paths, so that cannot be allowed for some files only. Nor can a
    process change another one, or a resource that no process owns.

    No process gets a namespace of its own. With `network`, sockets of IPv4 and IPv6 can be made,
    and none without; pairs of connected ones always. Without `forks`, there are threads but no
    further processes; then `starts` says that the next program, and only that one, is started with
    leave of the supervisor (`allow_one_start`). With `pid`, signals reach that process alone: what
    Landlock enforces from its sixth version on.
    """
    machine = platform.machine()
    architecture, numbers = _MACHINES[machine]
    program = [
        # Numbers mean other calls on another architecture, which a process may switch to: end it.
        (_LOAD, 0, 0, _ARCHITECTURE),
        (_EQUAL, 1, 0, architecture),
        (_RETURN, 0, 0, _KILL),
        (_LOAD, 0, 0, _NUMBER),
        # The calls of x32, too, which would pass every comparison below, have larger numbers.
        (_AT_LEAST, 0, 1, _FIRST_UNKNOWN),
        (_RETURN, 0, 0, _MISSING),
    ]
    for number in (
        *_ATTRIBUTE_CALLS[machine],
        *_NEW_ATTRIBUTE_CALLS,
        *_SHARED_RESOURCE_CALLS[machine],
        *_KERNEL_CALLS[machine],
        *_FOREIGN_CALLS[machine],
        *_NEW_CALLS,
    ):
        program += _answer_call(number, _REFUSE)
    for number in _PROCESS_CALLS[machine]:
        program += _judge_call(number, _ARGUMENT, (_EQUAL, 1, 0, 0), _REFUSAL)
    for number, one in _PRIORITY_CALLS[machine]:
        second = (_LOAD, 0, 0, _SECOND_ARGUMENT)
        own = ((_EQUAL, 0, 2, one), second, (_EQUAL, 1, 0, 0), _REFUSAL)
        program += _judge_call(number, _ARGUMENT, *own)
    if pid is not None:
        for number in _SIGNAL_CALLS[machine]:
            program += _judge_call(number, _ARGUMENT, (_EQUAL, 1, 0, pid), _REFUSAL)
        program += _answer_call(_PIDFD_SEND_SIGNAL, _REFUSE)
        for number, word, other in _OWNER_CALLS[machine]:
            either = ((_EQUAL, 1, 0, word), (_EQUAL, 0, 1, other), _REFUSAL)
            program += _judge_call(number, _SECOND_ARGUMENT, *either)
    # Those of the machine itself, too: behind a socket in the file system there may be an agent
    # with keys, or a service that starts programs, and Landlock does not see connections to them.
    families = [(_EQUAL, len(_FAMILIES) - at, 0, each) for at, each in enumerate(_FAMILIES)]
    program += _judge_call(numbers["socket"], _ARGUMENT, *(families if network else ()), _REFUSAL)
    # Of a pair that takes datagrams, either can be connected to another socket.
    pairs = ((_ANY_BIT, 2, 0, _DATAGRAMS), (_LOAD, 0, 0, _ARGUMENT), (_EQUAL, 1, 0, 1), _REFUSAL)
    program += _judge_call(numbers["socketpair"], _SECOND_ARGUMENT, *pairs)
    # The C library then makes threads and processes with `clone`, whose flags a filter can see.
    program += _answer_call(_CLONE3, _MISSING)
    threads = () if forks else ((_ANY_BIT, 1, 0, _CLONE_THREAD), _REFUSAL)
    spaces = ((_ANY_BIT, 0, 1, _NAMESPACES), _REFUSAL)
    program += _judge_call(numbers["clone"], _ARGUMENT, *spaces, *threads)
    if not forks:
        for name in ("fork", "vfork", "execveat"):
            if name in numbers:
                program += _answer_call(numbers[name], _REFUSE)
        program += _answer_call(numbers["execve"], _ASK if starts else _REFUSE)
    program.append((_RETURN, 0, 0, _ALLOW))
    return b"".join(struct.pack("HBBI", *each) for each in program)


_Step = tuple[int, int, int, int]
_REFUSAL: _Step = (_RETURN, 0, 0, _REFUSE)


def _answer_call(number: int, answer: int) -> list[_Step]:
    return [(_EQUAL, 0, 1, number), (_RETURN, 0, 0, answer)]


def _judge_call(number: int, argument: int, *steps: _Step) -> list[_Step]:
    """Judge a call by an argument: it is allowed unless one of the steps returns."""
    inner = [(_LOAD, 0, 0, argument), *steps, (_RETURN, 0, 0, _ALLOW)]
    return [(_EQUAL, 0, len(inner), number), *inner]


def install(program: bytes, *, ask: bool = False) -> int:
    """Install a filter; with `ask`, returns the descriptor on which the kernel asks for leave."""
    text = ctypes.create_string_buffer(program, len(program))
    header = struct.pack("HxxxxxxQ", len(program) // 8, ctypes.addressof(text))
    number = _MACHINES[platform.machine()][1]["seccomp"]
    return _check_result(_libc().syscall(number, 1, 8 if ask else 0, header), "seccomp")


# The requests to the kernel for one question and one answer about a call, and their sizes.
_RECEIVE, _SEND, _QUESTION = 0xC0502100, 0xC0182101, 80
_CONTINUE = 1


def allow_one_start(listener: int) -> None:
    """Let the process that asks start its program, and never another.

    Without the listener, the kernel answers later questions by itself: there is no such call.
    """
    import fcntl

    question = bytearray(_QUESTION)
    try:
        fcntl.ioctl(listener, _RECEIVE, question)
        (number,) = struct.unpack_from("Q", question)
        fcntl.ioctl(listener, _SEND, struct.pack("QqiI", number, 0, 0, _CONTINUE))
    except OSError as error:
        if error.errno != errno.ENOENT:  # ENOENT: the process was killed while it waited
            raise
    finally:
        os.close(listener)


def set_limits(limits: Mapping[str, int]) -> None:
    """Set resource limits by their names without `RLIMIT_`; never above what is allowed now."""
    import resource

    for name, value in limits.items():
        number = getattr(resource, f"RLIMIT_{name}", None)
        if number is None:
            continue
        # Raising a limit needs a right that a server should not have.
        _, most = resource.getrlimit(number)
        value = value if most == resource.RLIM_INFINITY else min(value, most)
        resource.setrlimit(number, (value, value))
