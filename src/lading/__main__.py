"""`python -m lading`."""

from __future__ import annotations

import sys

from lading.cli import main

sys.exit(main())
