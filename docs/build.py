"""Makes the generated pages and builds the site; a warning is an error.

python docs/build.py            all pages, and the site
python docs/build.py --pages    only the pages that are kept in the repository
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent / "tests")]

from generate import codes, commands, conformance, kinds, merged, python  # noqa: E402  # found beside this file

#: Pages of the site alone, which git ignores.
SITE_PAGES = (
    ("reference", commands),
    ("reference", python),
    ("reference/kinds", kinds),
    ("reference/codes", codes),
    ("reference/conformance", conformance),
)
#: The folders of the pages that are kept in the repository, too: people read them there.
KEPT = ("reference/findings", "reference/clients")


def make_pages(target: Path = HERE, *, site: bool = True) -> int:
    """Write the generated pages below `target`; how many there are."""
    made = [(f"reference/{name}", text) for name, text in merged.pages()]
    if site:
        for folder, module in SITE_PAGES:
            made += [(f"{folder}/{name}", text) for name, text in module.pages()]
    for folder in {os.path.dirname(name) for name, _ in made} - {"reference"}:
        shutil.rmtree(target / folder, ignore_errors=True)
    for name, text in made:
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        (target / name).write_text(text, encoding="utf-8")
    return len(made)


def main() -> int:
    kept_only = "--pages" in sys.argv[1:]
    print(f"{make_pages(site=not kept_only)} pages made", flush=True)
    if kept_only:
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
