"""Makes the generated pages and builds the site; a warning is an error.

python docs/build.py            pages and site
python docs/build.py --pages    only the pages
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent / "tests")]

from generate import codes, commands, kinds, python  # noqa: E402  # found beside this file

PAGES = (
    ("reference", commands),
    ("reference", python),
    ("reference/kinds", kinds),
    ("reference/codes", codes),
)


def make_pages(target: Path = HERE) -> int:
    """Write the generated pages below `target`; how many there are."""
    count = 0
    for folder in ("reference/kinds", "reference/codes"):
        shutil.rmtree(target / folder, ignore_errors=True)
    for folder, module in PAGES:
        (target / folder).mkdir(parents=True, exist_ok=True)
        for name, text in module.pages():
            (target / folder / name).write_text(text, encoding="utf-8")
            count += 1
    return count


def main() -> int:
    print(f"{make_pages()} pages made", flush=True)
    if "--pages" in sys.argv[1:]:
        return 0
    site = [
        sys.executable,
        "-m",
        "mkdocs",
        "build",
        "--strict",
        "--clean",
        "--config-file",
        str(HERE.parent / "mkdocs.yml"),
    ]
    # The theme advertises its successor on every run.
    env = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    return subprocess.run(site, check=False, env=env).returncode


if __name__ == "__main__":
    sys.exit(main())
