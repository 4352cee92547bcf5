"""`checking.py PATH…`: check the paths in a process that can be killed; any report will do."""

from __future__ import annotations

import sys

import equipage

if __name__ == "__main__":
    report = equipage.check(sys.argv[1:], env={})
    print(sorted({each.code for each in report.diagnostics}))
    sys.exit(1 if any(each.code == "internal-error" for each in report.diagnostics) else 0)
