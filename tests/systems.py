"""Systems for tests: the disk as a process elsewhere sees it."""

from __future__ import annotations

from equipage.files.disk import Disk


class DiskAt(Disk):
    """The disk with another working directory."""

    def __init__(self, cwd: object) -> None:
        super().__init__()
        self.cwd = str(cwd)
