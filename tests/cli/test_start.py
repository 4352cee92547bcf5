"""How the command starts: as a module and as a script, also where the folder was removed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from shlex import quote

import pytest


@pytest.mark.parametrize("start", ["-m equipage", "started"])
@pytest.mark.parametrize(("arguments", "code"), [("check", 2), ("check /", 2), ("--version", 0)])
def test_a_working_directory_that_was_removed(
    tmp_path: Path, start: str, arguments: str, code: int
) -> None:
    """As the module, and as a script such as pip installs."""
    installed = tmp_path / "started"
    installed.write_text("from equipage.__main__ import main\nraise SystemExit(main())\n")
    what = start if start.startswith("-m") else quote(str(installed))
    begun = f"exec {quote(sys.executable)} {what} {arguments}"
    script = f"mkdir gone && cd gone && rmdir ../gone && {begun}"
    done = subprocess.run(["sh", "-c", script], cwd=tmp_path, capture_output=True, check=False)
    assert done.returncode == code
    assert b"Traceback" not in done.stderr
    assert (b"there is no working directory" in done.stderr) is (code == 2)
