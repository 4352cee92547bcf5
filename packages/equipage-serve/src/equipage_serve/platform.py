"""What this machine can enforce: each means is tried once, in a process of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from functools import cache

import msgspec


class Platform(msgspec.Struct, frozen=True):
    """The means of confinement that work here."""

    system: str  #: as `sys.platform` names it
    landlock: int = 0  #: the version of Landlock; 0 if there is none
    seccomp: bool = False  #: whether filters of system calls work
    bwrap: str | None = None  #: the path of bubblewrap, if it works
    root: bool = False  #: whether this is the user that no limit on processes holds for

    @property
    def can_fork(self) -> bool:
        """Whether processes can be started and ended as this package does it."""
        return self.system != "win32"


#: Enters the strictest jail and prints what of it worked.
_TRY = """
import sys; sys.path.insert(0, sys.argv[1])
from equipage_serve import jail
version = jail.landlock_version()
jail.refuse_new_privileges()
try:
    if version:
        jail.enter(jail.ruleset(["/"], [], network=False))
except OSError:
    version = 0
works = False
if jail.knows_this_machine():
    try:
        jail.install(jail.call_filter(network=False, forks=False, starts=True), ask=True)
        works = True
    except OSError:
        pass
print(version, int(works))
"""


#: Where this package is found, installed or not: for processes that see nothing else.
PACKAGE_FOLDER = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


@cache
def this_platform() -> Platform:
    """What works on this machine, for this user."""
    if sys.platform == "win32":
        return Platform(sys.platform)
    root = os.getuid() == 0
    if sys.platform != "linux":
        return Platform(sys.platform, root=root)
    tried = subprocess.run(
        [sys.executable, "-I", "-c", _TRY, PACKAGE_FOLDER],
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
        env={},
    )
    words = tried.stdout.split() if tried.returncode == 0 else ["0", "0"]
    landlock, seccomp = int(words[0]), words[1] == "1"
    # Only looked for if Landlock or seccomp does not work.
    bwrap = None if landlock and seccomp else bubblewrap()
    return Platform(sys.platform, landlock, seccomp, bwrap, root)


def bubblewrap() -> str | None:
    """The path of bubblewrap, if it can make namespaces here."""
    path = shutil.which("bwrap")
    if path is None:
        return None
    command = [path, "--unshare-all", "--ro-bind", "/", "/", "--", "true"]
    tried = subprocess.run(command, capture_output=True, timeout=30, check=False)
    return path if tried.returncode == 0 else None
