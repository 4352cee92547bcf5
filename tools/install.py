"""Install this checkout, and the packages it needs in the versions and bytes that are pinned.

    python tools/install.py [--editable] [--dev | --with PACKAGE]

As soon as one package has a hash, pip refuses every package without one, and a folder has none. So
this installs the pinned packages first (`tools/pins`), each checked by its hash, and then the
checkout, built with what is installed by then. Without more, that is equipage alone; `--with serve`
also installs packages/equipage-serve; `--dev` installs every distribution and what the tests need.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PINS = ROOT / "tools" / "pins"
#: the distributions beside equipage, by their short names
BESIDE = {path.name.removeprefix("equipage-"): path for path in sorted(ROOT.glob("packages/*"))}


def install(*words: str) -> None:
    """Run pip; `-I` because a `pip.py` in the folder it is started in must not run."""
    pip = [sys.executable, "-I", "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    done = subprocess.run([*pip, *words], check=False)
    if done.returncode:
        raise SystemExit(done.returncode)


def main() -> None:
    parser = argparse.ArgumentParser(prog="install", allow_abbrev=False)
    parser.add_argument("--editable", action="store_true")
    wanted = parser.add_mutually_exclusive_group()
    wanted.add_argument("--dev", action="store_true")
    wanted.add_argument("--with", dest="beside", action="append", choices=BESIDE, default=[])
    options = parser.parse_args()
    names = [*BESIDE] if options.dev else options.beside
    pins = ["dev"] if options.dev else ["equipage", *(f"equipage-{each}" for each in names)]
    for each in pins:
        install("--require-hashes", "--no-deps", "--requirement", str(PINS / f"{each}.txt"))
    folders = [str(each) for each in (ROOT, *(BESIDE[name] for name in names))]
    checkout = [word for each in folders for word in ("--editable", each)]
    install("--no-deps", "--no-build-isolation", *(checkout if options.editable else folders))


if __name__ == "__main__":
    main()
