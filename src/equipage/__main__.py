"""The command, as `equipage` and as `python -m equipage`."""

from __future__ import annotations

import gc
import os
import sys

try:
    _here = os.getcwd()
except OSError:  # it was removed, so nothing is imported from it
    _here = ""
# `-m` puts the current folder first on the path: a checked project must not bring its own modules.
if sys.path and sys.path[0] in ("", _here) and not (_here and __file__.startswith(_here + os.sep)):
    del sys.path[0]

from equipage.core import interrupts

interrupts.exit_on_interrupt()

from equipage import cli  # noqa: E402  # everything else can be interrupted


def main() -> int:
    """Run the command; returns its exit code."""
    try:
        code = cli.main()
    except KeyboardInterrupt:  # of a command that unwinds, at its very end
        code = interrupts.INTERRUPTED_EXIT_CODE
    interrupts.ignore_interrupts()
    # Python looks for cycles several times while it ends: a tenth of a short run, to give memory
    # back that the system takes back anyway.
    gc.freeze()
    return code


if __name__ == "__main__":  # a process of a check with several imports this module, too
    sys.exit(main())
