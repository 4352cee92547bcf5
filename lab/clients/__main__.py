"""The clients as judges of `equipage check`.

    make clients [TREES="folder …"] [CLIENTS=folder]

Installs the clients of `pins.toml`, asks each about the files that it reads, asks `equipage check`
about the same files, prints the agreement for each client and kind and every difference that no row
of `differences.toml` explains. Then fixes copies of the trees with `--fix` and asks the clients
about what was changed. Ends with 1 if there is a difference without a row, if a fix made something
worse, or if a client gave no answer.

    --remember FILE     write what the clients said, or read it if FILE exists
    --only CLIENT       ask this client alone; the run then counts as incomplete
"""

from __future__ import annotations

import argparse
import importlib
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType

import fixing
import judges
import programs
import shapes
from verdicts import Findings, Verdict, agreement, differences, findings, remember, remembered, rows

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
    """Ask everybody about every tree; 1 if something is unexplained, broken by a fix or missing."""
    with ThreadPoolExecutor(programs.AT_ONCE) as pool:
        ours = dict(zip(trees, pool.map(findings, trees), strict=True))
    try:
        judged = verdicts(trees, chosen)
        problems = fix(ours, chosen)
    except programs.NoAnswer as problem:
        print(f"incomplete: {problem}", file=sys.stderr)
        return 1
    errors = {file: codes for each in ours.values() for file, codes in each.errors.items()}
    different = differences(judged, errors)
    table = rows()
    unexplained = [each for each in different if not each.explained(table)]
    print("\n".join(agreement(judged, different)))
    print(f"\n{len(different)} differences, {len(different) - len(unexplained)} of them explained")
    for each in (*unexplained, *problems):
        print(f"\n{each}")
    return 1 if unexplained or problems or chosen.only else 0


def fix(ours: dict[Path, Findings], chosen: argparse.Namespace) -> list[str]:
    """Fix copies of the trees; what the clients have against the result."""
    done: list[fixing.Fixed] = []
    problems: list[str] = []
    with tempfile.TemporaryDirectory() as scratch:
        for number, (tree, found) in enumerate(ours.items()):
            if found.fixable:
                folder = Path(scratch).resolve() / str(number) / tree.name
                done.append(fixing.fixed(tree, found, folder))
        together = fixing.together(done)
        print(f"--fix changed {len(together.copies)} files")
        clients = list(asked(chosen))
        with ThreadPoolExecutor(len(clients)) as pool:
            table = rows()
            proofs = pool.map(lambda each: fixing.proof(*each, together, table), clients)
            for (client, _), proof in zip(clients, proofs, strict=True):
                healed = f"{proof.healed} of them refused before"
                print(f"  {client.title}: judged {proof.judged}, {healed}")
                problems += proof.problems
    return problems


def asked(chosen: argparse.Namespace) -> Iterator[tuple[programs.Client, ModuleType]]:
    """The clients, installed, each with the module that asks it."""
    for name in [chosen.only] if chosen.only else programs.pinned():
        client = programs.install(name, chosen.clients)
        yield client, importlib.import_module(f"judges.{name}")


def verdicts(trees: list[Path], chosen: argparse.Namespace) -> list[Verdict]:
    """What every client says about the files that it reads."""
    if chosen.remember and chosen.remember.exists():
        # It may hold trees of an earlier run.
        inside = tuple(f"{tree}/" for tree in trees)
        return [each for each in remembered(chosen.remember) if each.file.startswith(inside)]
    everything = [path for tree in trees for path in judges.files(tree)]
    found: list[Verdict] = []
    clients = list(asked(chosen))
    with ThreadPoolExecutor(len(clients)) as pool:
        for said in pool.map(lambda each: judged(*each, everything), clients):
            found += said
    if chosen.remember:
        remember(found, chosen.remember)
    return found


def judged(client: programs.Client, judge: ModuleType, everything: list[Path]) -> list[Verdict]:
    """What one client says; that it judges nothing would hide that it was not asked."""
    said = list(judge.verdicts(client, everything))
    if not said:
        raise programs.NoAnswer(f"{client.title}: judged no file")
    print(f"{client.title} {client.version}: {len(said)} files", file=sys.stderr)
    return said


if __name__ == "__main__":
    sys.exit(main())
