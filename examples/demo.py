"""`make demo`: an agent that was meant to read, what it may really do, and the gate on a change.

Succeeds when each command says what is expected of it.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
WRITTEN, CORRECTED, PROPOSED = (
    f"examples/demo/{each}" for each in ("written", "corrected", "proposed")
)
#: What is said before each command, the command, and the exit code that it is to have.
STEPS = (
    ("This agent was meant to read. Is it written as its client reads it?", ["check", WRITTEN], 1),
    ("What may it really do?", ["reach", WRITTEN], 0),
    ("With `tools` in place of `allowed_tools`:", ["reach", CORRECTED], 0),
    (
        "A change adds one tool. The gate of a build says no:",
        ["diff", CORRECTED, PROPOSED, "--fail-on", "widened"],
        1,
    ),
)


def main() -> int:
    print("Find out what your agents may really do, before they do it.\n")
    for words, arguments, expected in STEPS:
        print(f"{words}\n\n$ equipage {' '.join(arguments)}", flush=True)
        command = [sys.executable, "-m", "equipage", *arguments]
        code = subprocess.run(command, cwd=ROOT, check=False).returncode
        print(flush=True)
        if code != expected:
            print(f"expected exit code {expected}, got {code}", file=sys.stderr)
            return 1
    print("Now your own: equipage check path/to/your/repository")
    return 0


sys.exit(main())
