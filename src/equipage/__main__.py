"""The command, as `equipage` and as `python -m equipage`."""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # `signal` itself takes long to import
import os
import sys

# Until `main` runs, an interrupt ends the process at once: a traceback of imports helps no one. A
# shell that ignores interrupts for a program in the background keeps its say.
_IS_USUAL = _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler
if _IS_USUAL:
    _signal.signal(_signal.SIGINT, _signal.SIG_DFL)

# `-m` puts the current folder first on the path: a checked project must not bring its own modules.
if sys.path and sys.path[0] in ("", os.getcwd()) and not __file__.startswith(os.getcwd() + os.sep):
    del sys.path[0]

from equipage import cli  # noqa: E402


def main() -> int:
    """Run the command; returns its exit code."""
    try:
        if _IS_USUAL:
            _signal.signal(_signal.SIGINT, _signal.default_int_handler)
        return cli.main()
    except KeyboardInterrupt:
        return cli.INTERRUPTED


if __name__ == "__main__":  # a process of a check with several imports this module, too
    sys.exit(main())
