"""The clients as judges of `equipage check`.

    make clients [TREES="folder …"] [CLIENTS=folder]

Installs the clients of `pins.toml`, asks each about the files that it reads, asks `equipage check`
about the same files, prints the agreement for each client and kind and every difference that no row
of `differences.toml` explains. Ends with 1 if there is one, or if a client gave no answer.

    --remember FILE     write what the clients said, or read it if FILE exists
    --only CLIENT       ask this client alone; the run then counts as incomplete
"""

from __future__ import annotations

import argparse
import importlib
import sys
from pathlib import Path

import programs
import shapes
from verdicts import Verdict, agreement, differences, our_errors, remember, remembered, rows

ROOT = Path(__file__).resolve().parents[2]
CORPUS = ROOT.parent / "shared" / "corpus"


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("trees", nargs="*", type=Path)
    parser.add_argument("--clients", type=Path, default=ROOT / ".clients")
    parser.add_argument("--remember", type=Path)
    parser.add_argument("--only")
    chosen = parser.parse_args()
    small = shapes.write(chosen.clients / "shapes")
    return compare([tree.resolve() for tree in (*small, *corpus(), *chosen.trees)], chosen)


def corpus() -> list[Path]:
    if not CORPUS.is_dir():
        raise SystemExit("the corpus of agent files is not beside the repository: nothing to judge")
    return sorted(path for path in CORPUS.iterdir() if path.is_dir())


def compare(trees: list[Path], chosen: argparse.Namespace) -> int:
    try:
        judged = verdicts(trees, chosen)
    except programs.NoAnswer as problem:
        print(f"incomplete: {problem}", file=sys.stderr)
        return 1
    ours: dict[str, tuple[str, ...]] = {}
    for tree in trees:
        ours |= our_errors(tree)
    different = differences(judged, ours)
    table = rows()
    unexplained = [each for each in different if not each.explained(table)]
    print("\n".join(agreement(judged, different)))
    print(f"\n{len(different)} differences, {len(different) - len(unexplained)} of them explained")
    for each in unexplained:
        print(f"\n{each}")
    return 1 if unexplained or chosen.only else 0


def verdicts(trees: list[Path], chosen: argparse.Namespace) -> list[Verdict]:
    """What every client says about the files that it reads."""
    if chosen.remember and chosen.remember.exists():
        return remembered(chosen.remember)
    found: list[Verdict] = []
    for name in [chosen.only] if chosen.only else programs.pinned():
        client = programs.install(name, chosen.clients)
        judge = importlib.import_module(f"judges.{name}")
        said = list(judge.verdicts(client, trees))
        if not said:
            raise programs.NoAnswer(f"{client.title}: judged no file")
        print(f"{client.title} {client.version}: {len(said)} files", file=sys.stderr)
        found += said
    if chosen.remember:
        remember(found, chosen.remember)
    return found


if __name__ == "__main__":
    sys.exit(main())
