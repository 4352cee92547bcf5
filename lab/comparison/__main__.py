"""Who finds which slip: equipage and the tools people would pick instead, on the same projects.

    make comparison

Each project of `slips.toml` exists twice, once with a slip and once without. A tool has found the
slip if it says something about the file that it does not say when the file is right; it has found
the place if that is on the line of the slip. No person judges. The table goes into
`docs/comparison.md`. A tool that cannot be installed or does not answer fails the run.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from slips import Slip, slips

import equipage as product

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "lab"))

from linters import PINS, Said, equipage, version_of  # noqa: E402  # found there
from peers import PEERS  # noqa: E402

PAGE = ROOT / "docs" / "comparison.md"
BEGIN, END = "<!-- made by `make comparison` -->", "<!-- end -->"
LINE, FILE, NOTHING = "line", "file", "–"
Ask = Callable[[Path], Iterator[Said]]


def said_of(ask: Ask, slip: Slip, *, right: bool) -> set[Said]:
    """What a tool says of the file of the slip."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch, "shop")  # the same name each time: some tools repeat it
        slip.write(folder, right=right)
        return {
            each._replace(file=slip.path, text=each.text.replace(str(folder), ""))
            for each in ask(folder)
            if each.file == str(folder / slip.path)
        }


def verdict(ask: Ask, slip: Slip) -> str:
    # Lines move when a text is put right, so what is said on another line is not news.
    before = {each.text for each in said_of(ask, slip, right=True)}
    news = [each for each in said_of(ask, slip, right=False) if each.text not in before]
    if not news:
        return NOTHING
    return LINE if slip.lines & {each.line for each in news} else FILE


def table(rows: list[Slip], asked: dict[str, Ask]) -> Iterator[str]:
    """The lines of the table; `asked` has the titles of its columns."""
    yield f"| slip | what happens | {' | '.join(asked)} |"
    yield "|" + "---|" * (len(asked) + 2)
    found = dict.fromkeys(asked, 0)
    for slip in rows:
        cells = []
        for title, ask in asked.items():
            cells.append(verdict(ask, slip))
            found[title] += cells[-1] != NOTHING
        print(slip.title, cells, flush=True)
        yield f"| {slip.title} | {slip.happens} | {' | '.join(cells)} |"
    counts = " | ".join(f"**{each}**" for each in found.values())
    yield f"| **found of {len(rows)}** | | {counts} |"


def main() -> int:
    others = {PINS[name]["title"]: ask for name, ask in PEERS.items()}
    lines = list(table(slips(), {"equipage": equipage, **others}))
    versions = ", ".join(f"{PINS[name]['title']} {version_of(name)}" for name in PEERS)
    when = time.strftime("%B %Y")
    made = [BEGIN, "", f"Run in {when} with equipage {product.__version__}, {versions}.", ""]
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    after = rest.partition(END)[2]
    text = before + "\n".join([*made, *lines, "", END]) + after
    PAGE.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
