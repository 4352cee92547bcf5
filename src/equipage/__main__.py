"""`python -m equipage`."""

from __future__ import annotations

import sys

from equipage.cli import main

sys.exit(main())
