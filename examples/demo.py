"""`make demo`: one clean and one broken configuration, as a newcomer would see them.

Succeeds when that is what lading says of them.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent


def check(folder: str) -> int:
    print(f"$ lading check {folder}", flush=True)
    command = [sys.executable, "-m", "lading", "check", "."]
    code = subprocess.run(command, cwd=HERE / folder, check=False).returncode
    print(flush=True)
    return code


def main() -> int:
    clean, broken = check("server"), check("broken")
    if (clean, broken) == (0, 1):
        print("One clean and one broken configuration, as promised. Mend examples/broken and run it again.")
        return 0
    print(f"expected exit codes 0 and 1, got {clean} and {broken}", file=sys.stderr)
    return 1


sys.exit(main())
