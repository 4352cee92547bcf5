"""Install this checkout, and the packages it needs in the versions and bytes that are pinned.

    python tools/install.py [--editable] [--dev]

pip refuses everything without a hash as soon as one package has one, and a folder has none. So
the packages of `constraints.txt` come first, each checked by its hash, and the checkout after
them, built by what is installed by then. `--dev` takes `constraints-dev.txt`, which has the
tools of the tests, too.
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
