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
        "read": 0, "open": 2, "ioctl": 16, "fcntl": 72, "socketpair": 53, "socket": 41, "clone": 56, "fork": 57, "vfork": 58, "execve": 59,
        "execveat": 322, "clone3": 435, "io_uring_setup": 425, "kill": 62, "tkill": 200, "tgkill": 234,
        "rt_sigqueueinfo": 129, "rt_tgsigqueueinfo": 297, "pidfd_send_signal": 424, "prlimit64": 302,
        "sched_setparam": 142, "sched_setscheduler": 144, "sched_setaffinity": 203, "sched_setattr": 314,
        "setpriority": 141, "ioprio_set": 251, "shmget": 29, "shmat": 30, "shmctl": 31, "semget": 64, "semop": 65,
        "semctl": 66, "semtimedop": 220, "msgget": 68, "msgsnd": 69, "msgrcv": 70, "msgctl": 71, "mq_open": 240,
        "mq_unlink": 241, "add_key": 248, "request_key": 249, "keyctl": 250, "open_by_handle_at": 304,
        "chmod": 90, "fchmod": 91, "fchmodat": 268, "chown": 92, "fchown": 93, "lchown": 94, "fchownat": 260,
        "utime": 132, "utimes": 235, "futimesat": 261, "utimensat": 280, "setxattr": 188, "lsetxattr": 189,
        "fsetxattr": 190, "removexattr": 197, "lremovexattr": 198, "fremovexattr": 199,
        "unshare": 272, "setns": 308, "userfaultfd": 323, "bpf": 321, "perf_event_open": 298, "ptrace": 101,
        "process_vm_readv": 310, "process_vm_writev": 311, "kcmp": 312, "move_pages": 279, "migrate_pages": 256,
    },
    "aarch64": {
        "read": 63, "open": 56, "ioctl": 29, "fcntl": 25, "socketpair": 199, "socket": 198, "clone": 220, "execve": 221, "execveat": 281,
        "clone3": 435, "io_uring_setup": 425, "kill": 129, "tkill": 130, "tgkill": 131, "rt_sigqueueinfo": 138,
        "rt_tgsigqueueinfo": 240, "pidfd_send_signal": 424, "prlimit64": 261, "sched_setparam": 118,
        "sched_setscheduler": 119, "sched_setaffinity": 122, "sched_setattr": 274, "setpriority": 140,
        "ioprio_set": 30, "shmget": 194, "shmctl": 195, "shmat": 196, "semget": 190, "semctl": 191,
        "semtimedop": 192, "semop": 193, "msgget": 186, "msgctl": 187, "msgrcv": 188, "msgsnd": 189, "mq_open": 180,
        "mq_unlink": 181, "add_key": 217, "request_key": 218, "keyctl": 219, "open_by_handle_at": 265,
        "fchmod": 52, "fchmodat": 53, "fchownat": 54, "fchown": 55, "utimensat": 88, "setxattr": 5, "lsetxattr": 6,
        "fsetxattr": 7, "removexattr": 14, "lremovexattr": 15, "fremovexattr": 16,
        "unshare": 97, "setns": 268, "userfaultfd": 282, "bpf": 280, "perf_event_open": 241, "ptrace": 117,
        "process_vm_readv": 270, "process_vm_writev": 271, "kcmp": 272, "move_pages": 239, "migrate_pages": 238,
    },
}  # fmt: skip
NEW = {
    "fchmodat2": 452, "setxattrat": 463, "removexattrat": 466, "file_setattr": 469, "io_uring_enter": 426,
    "io_uring_register": 427, "pidfd_getfd": 438, "process_madvise": 440, "statmount": 457, "listmount": 458,
}  # fmt: skip
#: Refused whatever a pack declares.
ATTRIBUTES = (
    *("chmod", "fchmod", "fchmodat", "chown", "fchown", "lchown", "fchownat", "utime", "utimes"),
    *("futimesat", "utimensat", "setxattr", "lsetxattr", "fsetxattr", "removexattr"),
    *("lremovexattr", "fremovexattr", *NEW),
)
KERNEL = ("unshare", "setns", "userfaultfd", "bpf", "perf_event_open", "io_uring_setup")
FOREIGN = (
    *("ptrace", "process_vm_readv", "process_vm_writev", "kcmp", "move_pages", "migrate_pages"),
)
#: Every call of x86-64 that the widest pack may make, in the order of their numbers; a number says
#: where the next name is. Those with a star are judged by their arguments. What only root may do is
#: refused to tools by the kernel, because they have no capabilities: `mount`, say.
ALLOWED_CALLS = """
0 read write open close stat fstat lstat poll lseek mmap mprotect munmap brk rt_sigaction
rt_sigprocmask rt_sigreturn ioctl pread64 pwrite64 readv writev access pipe select sched_yield
mremap msync mincore madvise 32 dup dup2 pause nanosleep getitimer alarm setitimer getpid
sendfile socket* connect accept sendto recvfrom sendmsg recvmsg shutdown bind listen getsockname
getpeername socketpair* setsockopt getsockopt clone* fork vfork execve exit wait4 kill uname 67
shmdt 72 fcntl flock fsync fdatasync truncate ftruncate getdents getcwd chdir fchdir rename
mkdir rmdir creat link unlink symlink readlink 95 umask gettimeofday getrlimit getrusage sysinfo
times 102 getuid syslog getgid setuid setgid geteuid getegid setpgid getppid getpgrp setsid
setreuid setregid getgroups setgroups setresuid getresuid setresgid getresgid getpgid setfsuid
setfsgid getsid capget capset rt_sigpending rt_sigtimedwait rt_sigqueueinfo rt_sigsuspend
sigaltstack 133 mknod uselib personality ustat statfs fstatfs sysfs getpriority setpriority*
sched_setparam* sched_getparam sched_setscheduler* sched_getscheduler sched_get_priority_max
sched_get_priority_min sched_rr_get_interval mlock munlock mlockall munlockall vhangup
modify_ldt pivot_root _sysctl prctl arch_prctl adjtimex setrlimit chroot sync acct settimeofday
mount umount2 swapon swapoff reboot sethostname setdomainname iopl ioperm create_module
init_module delete_module get_kernel_syms query_module quotactl nfsservctl getpmsg putpmsg
afs_syscall tuxcall security gettid readahead 191 getxattr lgetxattr fgetxattr listxattr
llistxattr flistxattr 200 tkill time futex sched_setaffinity* sched_getaffinity set_thread_area
io_setup io_destroy io_getevents io_submit io_cancel get_thread_area lookup_dcookie epoll_create
epoll_ctl_old epoll_wait_old remap_file_pages getdents64 set_tid_address restart_syscall 221
fadvise64 timer_create timer_settime timer_gettime timer_getoverrun timer_delete clock_settime
clock_gettime clock_getres clock_nanosleep exit_group epoll_wait epoll_ctl tgkill 236 vserver
mbind set_mempolicy get_mempolicy 242 mq_timedsend mq_timedreceive mq_notify mq_getsetattr
kexec_load waitid 251 ioprio_set* ioprio_get inotify_init inotify_add_watch inotify_rm_watch 257 openat
mkdirat mknodat 262 newfstatat unlinkat renameat linkat symlinkat readlinkat 269 faccessat
pselect6 ppoll 273 set_robust_list get_robust_list splice tee sync_file_range vmsplice 281
epoll_pwait signalfd timerfd_create eventfd fallocate timerfd_settime timerfd_gettime accept4
signalfd4 eventfd2 epoll_create1 dup3 pipe2 inotify_init1 preadv pwritev rt_tgsigqueueinfo 299
recvmmsg fanotify_init fanotify_mark prlimit64* name_to_handle_at 305 clock_adjtime syncfs
sendmmsg 309 getcpu 313 finit_module sched_setattr* sched_getattr renameat2 seccomp getrandom
memfd_create kexec_file_load 322 execveat 324 membarrier mlock2 copy_file_range preadv2 pwritev2
pkey_mprotect pkey_alloc pkey_free statx io_pgetevents rseq uretprobe uprobe 424
pidfd_send_signal 428 open_tree move_mount fsopen fsconfig fsmount fspick pidfd_open 436
close_range openat2 439 faccessat2 441 epoll_pwait2 mount_setattr quotactl_fd
landlock_create_ruleset landlock_add_rule landlock_restrict_self memfd_secret process_mrelease
futex_waitv set_mempolicy_home_node cachestat 453 map_shadow_stack futex_wake futex_wait
futex_requeue 459 lsm_get_self_attr lsm_set_self_attr lsm_list_modules mseal 464
getxattrat listxattrat 467 open_tree_attr file_getattr
"""
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
    for name in (*ATTRIBUTES, *SHARED, *KERNEL, *FOREIGN):
        if name in machine.calls:
            assert machine(name) == REFUSED, name
    assert machine("clone3") == MISSING  # so that threads and processes are made with `clone`
    for name in OF_PROCESSES:
        assert machine(name, 0) == ALLOWED, name
        assert machine(name, 1) == machine(name, 4711) == REFUSED, name
    # setpriority(PRIO_PROCESS, 0), ioprio_set(IOPRIO_WHO_PROCESS, 0), and nothing else
    for name, own in (("setpriority", 0), ("ioprio_set", 1)):
        assert machine(name, own, 0) == ALLOWED
        assert machine(name, own, 4711) == REFUSED
        assert {machine(name, other, 0) for other in (0, 1, 2, 3) if other != own} == {REFUSED}
    assert machine("read") == machine("open") == ALLOWED


def test_what_the_widest_pack_may_do_is_exactly_this(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = Machine("x86_64", monkeypatch).filter(network=True, forks=True, starts=True)
    listed: dict[int, str] = {}
    number = 0
    for word in ALLOWED_CALLS.split():
        if word.isdigit():
            number = int(word)
        else:
            listed[number] = word
            number += 1
    # 337 to 423 are no calls. Each judged call allows one of these, and refuses the last.
    tries = ((2, 1, 0), (1, 1, 0), (1, 0, 0), (0, 0, 0), (17, 0, 0), (2**31 - 1, 4711, 4711))
    for number in (*range(337), *range(424, 600), 2**30, 2**31, 2**32 - 1):
        answers = [machine(number, *each) for each in tries]
        if number not in listed:
            assert set(answers) <= {REFUSED, MISSING}, number
        elif listed[number].endswith("*"):
            assert ALLOWED in answers, listed[number]
            assert answers[-1] == REFUSED, listed[number]
        else:
            assert set(answers) == {ALLOWED}, listed[number]


def test_calls_of_newer_kernels_are_missing(machine: Machine) -> None:
    machine.filter(network=True, forks=True)
    assert machine(jail._FIRST_UNKNOWN) == MISSING
    assert machine(jail._FIRST_UNKNOWN - 2) == ALLOWED


def test_other_architectures_end_the_process(machine: Machine) -> None:
    machine.filter()
    for word in (0x40000003, X86 ^ ARM, 0, X86 if machine.word == ARM else ARM):
        assert machine("read", word=word) == KILLED
    x32 = 0x40000000
    assert machine(x32) == machine(x32 + 41) == MISSING


def test_the_network(machine: Machine) -> None:
    assert {machine.filter()("socket", family) for family in (1, 2, 10, 16, 17, 40)} == {REFUSED}
    machine.filter(network=True)
    assert {machine("socket", family) for family in (2, 10)} == {ALLOWED}
    assert {machine("socket", family) for family in (0, 1, 16, 17, 38, 40)} == {REFUSED}


@pytest.mark.parametrize("network", [False, True])
def test_pairs_of_sockets_that_can_be_connected_to_no_other(
    machine: Machine, network: bool
) -> None:
    machine.filter(network=network)
    flags = 0o2004000  # SOCK_NONBLOCK and SOCK_CLOEXEC
    for sort, answer in ((1, ALLOWED), (5, ALLOWED), (2, REFUSED), (3, REFUSED)):
        assert machine("socketpair", 1, sort) == machine("socketpair", 1, sort | flags) == answer
    assert {machine("socketpair", family, 1) for family in (2, 10, 30)} == {REFUSED}


THREAD = 0x10000
#: CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET
NAMESPACES = (0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000)


def test_processes(machine: Machine) -> None:
    machine.filter()
    for name in ("fork", "vfork", "execve", "execveat"):
        if name in machine.calls:
            assert machine(name) == REFUSED, name
    assert machine("clone", THREAD | 0x50F00) == ALLOWED
    assert machine("clone", 17) == REFUSED
    assert machine.filter(starts=True)("execve") == ASKED
    assert machine("execveat") == REFUSED
    for starts in (False, True):
        machine.filter(forks=True, starts=starts)
        for name in ("fork", "vfork", "execve", "execveat"):
            if name in machine.calls:
                assert machine(name) == ALLOWED, name
        assert machine("clone", 17) == machine("clone", THREAD | 0x50F00) == ALLOWED
    for forks in (False, True):
        machine.filter(forks=forks)
        for space in NAMESPACES:
            assert machine("clone", space | 17) == machine("clone", space | THREAD) == REFUSED


def test_signals(machine: Machine) -> None:
    machine.filter(pid=4711)
    for name in SIGNALS:
        assert machine(name, 4711) == ALLOWED, name
        assert {machine(name, pid) for pid in (0, 1, 4712, 2**32 - 1)} == {REFUSED}, name
    assert machine("pidfd_send_signal", 3) == REFUSED
    # F_SETOWN and F_SETOWN_EX, FIOSETOWN and SIOCSPGRP: another process gets the signals of a file.
    for name, words in (("fcntl", (8, 15)), ("ioctl", (0x8901, 0x8902))):
        assert {machine(name, 3, word) for word in words} == {REFUSED}, name
        assert machine(name, 3, 4) == machine(name, 8, 1) == ALLOWED, name
    # The number of a process may be that of a call that is refused.
    for number in {machine.calls[name] for name in ("socket", "execve", "clone")}:
        machine.filter(pid=number)
        assert {machine(name, number) for name in SIGNALS} == {ALLOWED}
    machine.filter()
    for name in (*SIGNALS, "pidfd_send_signal"):
        assert machine(name, 1) == ALLOWED, name
