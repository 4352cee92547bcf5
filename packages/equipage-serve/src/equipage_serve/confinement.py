"""How a tool is confined: what its pack declares, against what the machine can enforce.

`caps` are permissions: what is not declared is denied. With the level `strict`, a denial that
cannot be enforced means that the tool is not served; with `best` it is listed as open; with `none`
only limits on time, memory and files hold. Nothing here asks the system.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import msgspec

from equipage_serve.platform import Platform

Level = Literal["strict", "best", "none"]
LEVELS: tuple[Level, ...] = ("strict", "best", "none")
_MIB = 1 << 20
#: Since these versions, Landlock also keeps files from being cut short, and signals from others.
_MIN_LANDLOCK, _MIN_SCOPES = 3, 6


class Unservable(Exception):
    """A tool cannot be served; the reasons are sentences."""

    def __init__(self, *reasons: str) -> None:
        self.reasons = reasons
        super().__init__("; ".join(reasons))


class Confinement(msgspec.Struct, frozen=True):
    """What holds for one tool, and what does not."""

    level: Level
    landlock: bool = False
    filter: bool = False
    bwrap: str | None = None
    network: bool = False  #: whether the tool may use the network
    forks: bool = False  #: whether the tool may start processes
    read: tuple[str, ...] = ()  #: paths it may read, beside its own folder and its interpreter
    write: tuple[str, ...] = ()
    enforced: tuple[str, ...] = ()  #: one phrase for each denial that holds
    open: tuple[str, ...] = ()  #: one phrase for each that does not

    @property
    def summary(self) -> str:
        """The means in a few words, for statistics and logs."""
        means = [
            name
            for name, used in (
                ("landlock", self.landlock),
                ("seccomp", self.filter),
                ("bubblewrap", self.bwrap),
            )
            if used
        ]
        return ", ".join(means) or "none"


def confine(
    kind: str, caps: Mapping[str, Any], folder: str, platform: Platform, level: Level
) -> Confinement:
    """How a tool of an execution kind is confined. Raises `Unservable`."""
    network, forks = bool(caps.get("network")), bool(caps.get("subprocess"))
    if kind == "http":
        return Confinement(level, network=True, enforced=("the address is checked for each call",))
    if not platform.can_fork:
        raise Unservable("tools can run on Linux and macOS only")
    if kind == "cli" and not forks:
        raise Unservable("a `cli` tool starts a program: it needs `caps: {subprocess: true}`")
    files = caps.get("filesystem") or {}
    read = tuple(_absolute(each, folder) for each in files.get("read") or ())
    write = tuple(_absolute(each, folder) for each in files.get("write") or ())
    if level == "none":
        return Confinement(
            level,
            network=True,
            forks=True,
            read=read,
            write=write,
            enforced=_LIMITS,
            open=("files", "network", "other processes"),
        )
    landlock = platform.landlock >= _MIN_LANDLOCK
    bwrap = None if landlock and platform.seccomp else platform.bwrap
    enforced = [*_LIMITS]
    opened = list[str]()
    _add_phrase(landlock or bwrap, _files_phrase(read, write), enforced, opened)
    # Landlock has no right for these; the filter of calls refuses them.
    if not (platform.seccomp or bwrap):
        opened.append("the modes, owners and times of files")
    if network:
        opened.append(_NETWORK)
        _add_phrase(
            platform.seccomp and not bwrap,
            "no sockets but those of IPv4 and IPv6",
            enforced,
            opened,
        )
    else:
        _add_phrase(platform.seccomp or bwrap, "no network", enforced, opened)
    if forks:
        # A tool signals what it started, so only Landlock can tell that from the rest.
        if landlock and not bwrap and platform.landlock < _MIN_SCOPES:
            opened.append(_SIGNALS)
        if platform.root:
            opened.append("the number of processes (nothing limits it for root)")
    else:
        # Bubblewrap has no means against further programs.
        _add_phrase(platform.seccomp and not bwrap, "no other processes", enforced, opened)
    if level == "strict":
        missing = [each for each in opened if each not in _REQUESTED_OPENINGS]
        if missing:
            raise Unservable(
                f"this machine cannot enforce: {', '.join(missing)} "
                "(`--isolation best` serves the tool without that)"
            )
    return Confinement(
        level,
        landlock=landlock and not bwrap,
        filter=platform.seccomp and not bwrap,
        bwrap=bwrap,
        network=network,
        forks=forks or not platform.seccomp or bool(bwrap),
        read=read,
        write=write,
        enforced=tuple(enforced),
        open=tuple(opened),
    )


_LIMITS = ("time, memory and size of files",)
_SIGNALS = "signals to other processes of this user"
_NETWORK = "the network is on, for every protocol over IPv4 and IPv6, also to this machine"
#: What a pack asks for and gets; it is listed, but no reason to refuse.
_REQUESTED_OPENINGS = (_NETWORK, _SIGNALS)


def _add_phrase(holds: object, phrase: str, enforced: list[str], opened: list[str]) -> None:
    (enforced if holds else opened).append(phrase)


def _files_phrase(read: Sequence[str], write: Sequence[str]) -> str:
    # What may be written may be read: programs open files for both.
    reads = f", reads {', '.join((*read, *write))}" if read or write else ""
    writes = "".join(f"{each}, " for each in write)
    return (
        f"reads its code and its own folder but for hidden files and secrets{reads}, "
        f"writes only {writes}a folder that is removed after the call"
    )


def _absolute(path: str, folder: str) -> str:
    return os.path.normpath(os.path.join(folder, path))


def limits_of(
    kind: str, timeout_ms: int, confinement: Confinement, *, root: bool, calls: int = 1
) -> dict[str, int]:
    """The resource limits of a process that serves some calls, by the names of `setrlimit`."""
    limits = {
        "CPU": (math.ceil(timeout_ms / 1000) + 1) * calls,
        "FSIZE": 64 * _MIB,
        "NOFILE": 256,
        "CORE": 0,
    }
    if kind != "node":  # it reserves more than it uses; its heap is limited by an option
        limits["AS"] = 1024 * _MIB
    if not root and confinement.forks and not confinement.bwrap:
        limits["NPROC"] = 0  # the supervisor knows how many there are
    return limits


#: Where programs and libraries are; a jail may read and run what is there.
SYSTEM_FOLDERS = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/opt")
SYSTEM_FILES = (
    "/dev/null",
    "/dev/zero",
    "/dev/urandom",
    "/dev/random",
    "/etc/ld.so.cache",
    "/etc/localtime",
    "/etc/alternatives",
    "/etc/ssl/openssl.cnf",
    "/etc/php",
)
#: What a program needs to find hosts and to trust them.
NETWORK_FILES = ("/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf", "/etc/ssl", "/etc/pki")


def system_paths(confinement: Confinement) -> list[str]:
    """What a jail lets its tool read of the machine."""
    return [*SYSTEM_FOLDERS, *SYSTEM_FILES, *(NETWORK_FILES if confinement.network else ())]


def bubblewrap_command(
    confinement: Confinement, own: Sequence[str], folder: str, home: str
) -> list[str]:
    """The start of a command line that runs the rest in bubblewrap."""
    assert confinement.bwrap is not None
    command = [confinement.bwrap, "--unshare-all", "--die-with-parent", "--new-session"]
    if confinement.network:
        command.append("--share-net")
    command += ["--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--dir", home]
    for path in (*own, *confinement.read, *system_paths(confinement)):
        if not path.startswith("/dev/"):
            command += ["--ro-bind-try", path, path]
    for path in confinement.write:
        command += ["--bind-try", path, path]
    return [*command, "--chdir", folder, "--"]
