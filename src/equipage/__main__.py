"""`python -m equipage`."""

from __future__ import annotations

import os
import sys

# `-m` puts the current folder first on the path: a checked project must not bring its own modules.
if sys.path and sys.path[0] in ("", os.getcwd()) and not __file__.startswith(os.getcwd() + os.sep):
    del sys.path[0]

from equipage.cli import main

sys.exit(main())
