"""`make demo`: one clean and one broken configuration, as a newcomer would see them.

Succeeds when that is what equipage says of them.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def check(folder: str) -> int:
    print(f"$ equipage check {folder}", flush=True)
    command = [sys.executable, "-m", "equipage", "check", folder]
    code = subprocess.run(command, cwd=ROOT, check=False).returncode
    print(flush=True)
    return code


def main() -> int:
    clean, broken = check("examples/server"), check("examples/broken")
    if (clean, broken) == (0, 1):
        print(
            "One clean and one broken configuration, as promised. "
            "Fix examples/broken and run it again."
        )
        return 0
    print(f"expected exit codes 0 and 1, got {clean} and {broken}", file=sys.stderr)
    return 1


sys.exit(main())
