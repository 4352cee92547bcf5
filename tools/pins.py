"""Write constraints.txt and constraints-dev.txt: every package by name, version and hash.

    python tools/pins.py

The versions are the newest that fit pyproject.toml, for every system and Python that it allows.
The files name no index, so that they work with a mirror.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
#: the extras that each file has; both have what builds the package
FILES = {"constraints.txt": (), "constraints-dev.txt": ("dev",)}
HEAD = "# Packages by name, version and hash, for tools/install.py; `make pins` renews them.\n"


def pins(extras: tuple[str, ...], build: list[str]) -> str:
    """What `uv` resolves, without the comments that say where each package comes from."""
    with tempfile.NamedTemporaryFile("w", suffix=".in") as wanted:
        wanted.write("\n".join(build))
        wanted.flush()
        command = [sys.executable, "-m", "uv", "pip", "compile", "--quiet", "--universal"]
        command += ["--generate-hashes", "--no-header", "--no-annotate", "--no-emit-index-url"]
        command += ["--python-version", "3.11", "pyproject.toml", wanted.name]
        for extra in extras:
            command += ["--extra", extra]
        return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout


def main() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    for name, extras in FILES.items():
        text = HEAD + pins(extras, project["build-system"]["requires"])
        (ROOT / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
