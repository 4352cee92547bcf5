"""Puts the stubs of `equipage.models` and `equipage.api` into the wheel; hatchling runs this."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class StubsHook(BuildHookInterface):  # type: ignore[type-arg]
    """Makes them by a process of its own, which imports the package that is being built."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return  # `make stubs` writes them beside the modules
        self.folder = tempfile.TemporaryDirectory()
        root = Path(self.root)
        # What the build may import comes by this variable, too: pip isolates a build so.
        paths = [str(root / "src"), *filter(None, [os.environ.get("PYTHONPATH")])]
        variables = {"PYTHONPATH": os.pathsep.join(paths), "PYTHONDONTWRITEBYTECODE": "1"}
        subprocess.run(
            [sys.executable, str(root / "tools" / "faces.py"), "--stubs", self.folder.name],
            env={**os.environ, **variables},
            check=True,
        )
        for path in sorted(Path(self.folder.name).iterdir()):
            build_data["force_include"][str(path)] = f"equipage/{path.name}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        if version != "editable":
            self.folder.cleanup()
