"""Install this checkout, and the packages it needs in the versions and bytes that are pinned.

    python tools/install.py [--editable] [--dev]

As soon as one package has a hash, pip refuses every package without one, and a folder has none. So
this installs the packages of `constraints.txt` first, each checked by its hash, and then the
checkout, built with what is installed by then. `--dev` takes `constraints-dev.txt`, which also has
the tools of the tests.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def install(*words: str) -> None:
    """Run pip; `-I` because a `pip.py` in the folder it is started in must not run."""
    pip = [sys.executable, "-I", "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    done = subprocess.run([*pip, *words], check=False)
    if done.returncode:
        raise SystemExit(done.returncode)


def main(words: list[str]) -> None:
    if unknown := set(words) - {"--editable", "--dev"}:
        raise SystemExit(f"install: unknown argument {min(unknown)}; known: --editable, --dev")
    pins = "constraints-dev.txt" if "--dev" in words else "constraints.txt"
    install("--require-hashes", "--no-deps", "--requirement", str(ROOT / pins))
    checkout = ("--editable", str(ROOT)) if "--editable" in words else (str(ROOT),)
    install("--no-deps", "--no-build-isolation", *checkout)


if __name__ == "__main__":
    main(sys.argv[1:])
