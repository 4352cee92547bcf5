"""Looks at the built site as a reader would; `make docs` runs it after the build.

    python docs/inspect_site.py [--pictures FOLDER]

Every link and anchor of every page leads somewhere inside the site. In Chromium, wide and narrow,
light and dark: nothing is wider than the window, text has the contrast that WCAG asks for (4.5, 3
for large text), no picture is missing, no script fails, no request leaves the machine.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urlsplit

HERE = Path(__file__).resolve().parent
SITE = HERE.parent / "site"
PLAYWRIGHT = HERE.parent / ".clients" / "browser" / "node_modules" / "playwright-core"


class Page(HTMLParser):
    """The ids of a page and where its links and pictures lead."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.targets: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if value and name in ("id", "name"):
                self.ids.add(value)
            elif value and name in ("href", "src"):
                self.targets.add(value)


def dead_links(site: Path) -> Iterator[str]:
    pages = {file: Page(file.read_text(encoding="utf-8")) for file in sorted(site.rglob("*.html"))}
    for file, page in pages.items():
        if file.name == "404.html":  # its links start at the root of a server
            continue
        for target in sorted(page.targets):
            parts = urlsplit(target)
            if parts.scheme or parts.netloc:
                continue
            aim = file if not parts.path else (file.parent / unquote(parts.path)).resolve()
            if aim.is_dir():
                aim /= "index.html"
            if not aim.exists():
                yield f"{file.relative_to(site)}: {target} leads nowhere"
            elif parts.fragment and aim in pages and unquote(parts.fragment) not in pages[aim].ids:
                yield f"{file.relative_to(site)}: {target} names no place in that page"


def looked_at(site: Path) -> list[Path]:
    """Every page that a person wrote, and of the many made from tables the lists and a sample."""
    files = sorted(site.rglob("*.html"))
    tables = [each for each in files if each.parent.name in ("codes", "kinds")]
    sample = [each for n, each in enumerate(tables) if each.name == "index.html" or not n % 20]
    return [each for each in files if each not in set(tables) and each.name != "404.html"] + sample


@contextmanager
def served(site: Path) -> Iterator[str]:
    """The address of the site on this machine."""

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            """Say nothing of each request."""

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(site))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


def faults(site: Path, pictures: str) -> Iterator[str]:
    """What a browser sees that a reader should not."""
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None or not PLAYWRIGHT.exists():
        raise SystemExit("needs chromium and playwright-core; `make docs` says how to get them")
    names = [each.relative_to(site).as_posix() for each in looked_at(site)]
    env = {**os.environ, "EQUIPAGE_PLAYWRIGHT": str(PLAYWRIGHT)}
    with served(site) as address:
        command = ["node", str(HERE / "inspect.js"), program, pictures, address, *names]
        done = subprocess.run(command, env=env, stdout=subprocess.PIPE, text=True, check=True)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    if len(lines) != 4 * len(names):
        raise SystemExit("the browser did not look at every page")
    for seen in lines:
        where = f"{seen['page']} at {seen['width']} {seen['colorScheme']}"
        if seen["over"] > 0:
            yield f"{where}: {seen['over']} pixels wider than the window"
        for text in (*seen["poor"], *seen["pictures"], *seen["heard"]):
            yield f"{where}: {text}"


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--pictures", default="-", help="a folder for a picture of each page")
    given = arguments.parse_args()
    found = [*dead_links(SITE), *faults(SITE, given.pictures)]
    for line in found:
        print(line)
    print(f"{len(looked_at(SITE))} pages looked at, {len(found)} faults")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
