"""Write tools/pins: the packages of each distribution by name, version and hash.

    python tools/pins.py

`dev.txt` is resolved first: the newest versions that fit every distribution and the tools of the
tests, for every system and Python that they allow. The files of distributions have the same
versions; `release.txt` has what this and a release need beside them. They name no index, so that
they work with a mirror.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PINS = ROOT / "tools" / "pins"
BESIDE = sorted(ROOT.glob("packages/*"))
HEAD = "# Packages by name, version and hash, for tools/install.py; `make pins` renews them.\n"


def project(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))
    return found


def needs(folder: Path, *extras: str) -> list[str]:
    """What a distribution needs that is not one of ours, and what builds it."""
    data = project(folder)
    optional = data["project"].get("optional-dependencies", {})
    named = [*data["project"]["dependencies"], *data["build-system"]["requires"]]
    named += [each for extra in extras for each in optional[extra]]
    return [each for each in named if not each.startswith("equipage")]


def resolve(wanted: list[str], known: Path | None = None) -> str:
    """What `uv` resolves, without the comments that say where each package comes from."""
    with tempfile.NamedTemporaryFile("w", suffix=".in") as file:
        file.write("\n".join(wanted))
        file.flush()
        command = [sys.executable, "-m", "uv", "pip", "compile", "--quiet", "--universal"]
        command += ["--generate-hashes", "--no-header", "--no-annotate", "--no-emit-index-url"]
        command += ["--python-version", "3.11", file.name]
        if known is not None:
            command += ["--constraints", str(known)]
        return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout


def main() -> None:
    PINS.mkdir(exist_ok=True)
    (PINS / "release.txt").write_text(HEAD + resolve(["uv"]), encoding="utf-8")
    everything = [*needs(ROOT, "dev"), *(each for folder in BESIDE for each in needs(folder))]
    dev = PINS / "dev.txt"
    dev.write_text(HEAD + resolve(everything), encoding="utf-8")
    for folder in (ROOT, *BESIDE):
        name = project(folder)["project"]["name"]
        text = resolve(needs(folder), known=dev)
        (PINS / f"{name}.txt").write_text(HEAD + text, encoding="utf-8")


if __name__ == "__main__":
    main()
