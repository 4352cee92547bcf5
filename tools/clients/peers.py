"""Other linters beside `equipage check` on the same trees, judged by Claude Code.

    python tools/clients/peers.py SAID TREE … [--clients FOLDER] [--write]

SAID is what `make clients` wrote with `--remember`. Each linter of `peers.toml` is installed into
an environment of its own below FOLDER and run in every tree. Printed for each: its errors and
warnings, how many of the files that Claude Code refuses it has an error for, and for how many of
those that Claude Code accepts. A linter that gives no answer about a tree fails the run. With
`--write` the counts go to `peers.csv`, which the page shows.
"""

from __future__ import annotations

import argparse
import csv
import json
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from verdicts import Verdict, remembered

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
HEAD = ("linter", "version", "errors", "warnings", "refused", "found", "accepted", "wrongly")
PATIENCE = 600

#: A finding: the absolute path of its file, and whether it is an error.
Finding = tuple[str, bool]


def agnix(home: Path, tree: Path) -> Iterator[Finding]:
    report = _json(_run([home / "bin" / "agnix", "--format", "json", "."], tree))
    for each in report["diagnostics"]:
        if each["level"] in ("error", "warning"):
            yield str(tree / each["file"]), each["level"] == "error"


def claude_code_lint(home: Path, tree: Path) -> Iterator[Finding]:
    options = ("--no-cache", "--no-config", "--format", "json", "--no-collapse")
    program = home / "node_modules" / ".bin" / "claudelint"
    for validator in _json(_run([program, "check-all", *options], tree))["validators"]:
        for key in ("errors", "warnings"):
            for each in validator[key]:
                yield str(tree / (each.get("file") or ".")), key == "errors"


def cclint(home: Path, tree: Path) -> Iterator[Finding]:
    with tempfile.TemporaryDirectory() as scratch:
        file = Path(scratch) / "report.json"
        program = home / "node_modules" / ".bin" / "cclint"
        said = _run([program, "-r", ".", "-q", "-f", "json", "-o", str(file)], tree)
        # It writes nothing where it finds no file that it knows.
        report = _json(file.read_text()) if file.exists() else {"results": []}
        if not file.exists() and "o files" not in said and "No " not in said and said.strip():
            raise SystemExit(f"cclint: {tree}: {said[:500]}")
    for result in report["results"]:
        for key in ("errors", "warnings"):
            yield from ((str(tree / result["file"]), key == "errors") for _ in result[key])


_SKILLS = """
import json, pathlib, sys, skills_ref
tree = pathlib.Path(sys.argv[1])
skip = {".git", "node_modules", ".venv"}
for file in sorted(tree.rglob("SKILL.md")):
    if skip.isdisjoint(file.relative_to(tree).parts):
        try:
            found = skills_ref.validate(file.parent)
        except Exception as error:
            found = [str(error)]
        print(json.dumps([str(file), len(found)]))
"""


def skills_ref(home: Path, tree: Path) -> Iterator[Finding]:
    said = _run([home / "bin" / "python", "-c", _SKILLS, str(tree)], tree)
    for file, count in map(json.loads, said.splitlines()):
        yield from ((file, True) for _ in range(count))


def ours(_home: Path, tree: Path) -> Iterator[Finding]:
    said = _run([Path(sys.executable), "-m", "equipage", "check", ".", "--json"], tree)
    for each in _json(said)["diagnostics"] if said.strip() else ():
        if each["severity"] in ("error", "warning"):
            yield str(tree / (each["file"] or ".")), each["severity"] == "error"


LINTERS: dict[str, Callable[[Path, Path], Iterator[Finding]]] = {
    "agnix": agnix,
    "claude-code-lint": claude_code_lint,
    "cclint": cclint,
    "skills-ref": skills_ref,
}


def _run(command: list[Any], tree: Path) -> str:
    try:
        done = subprocess.run(
            command, cwd=tree, capture_output=True, text=True, timeout=PATIENCE, check=False
        )
    except subprocess.TimeoutExpired as late:
        raise SystemExit(f"incomplete: {command[0]}: {tree}: no answer") from late
    return done.stdout


def _json(text: str) -> Any:
    try:
        return json.loads(text[text.index("{") :])
    except ValueError as error:
        raise SystemExit(f"incomplete: not a report: {text[:300]!r}") from error


def install(pin: dict[str, str], home: Path) -> None:
    """Install a linter unless that version is there."""
    mark = home / ".installed"
    wanted = pin.get("pip") or pin["npm"]
    if mark.exists() and mark.read_text() == wanted:
        return
    home.mkdir(parents=True, exist_ok=True)
    if "pip" in pin:
        subprocess.run([sys.executable, "-m", "venv", home], check=True)
        pip = [home / "bin" / "python", "-m", "pip", "--disable-pip-version-check", "install", "-q"]
        subprocess.run([*pip, wanted], check=True)
    else:
        (home / "package.json").write_text('{"private": true}\n')
        npm = ["npm", "install", "--silent", "--no-audit", "--no-fund", wanted]
        subprocess.run(npm, cwd=home, check=True)
    mark.write_text(wanted)


def row(name: str, version: str, found: list[Finding], said: list[Verdict]) -> tuple[Any, ...]:
    """The counts of one linter; only files that Claude Code judged are compared with it."""
    wrong = {file for file, is_error in found if is_error}
    refused = {each.file for each in said if each.refusals}
    accepted = {each.file for each in said} - refused
    errors = sum(is_error for _, is_error in found)
    counts = (len(refused), len(refused & wrong), len(accepted), len(accepted & wrong))
    return (name, version, errors, len(found) - errors, *counts)


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("said", type=Path)
    parser.add_argument("trees", nargs="+", type=Path)
    parser.add_argument("--clients", type=Path, default=ROOT / ".clients")
    parser.add_argument("--write", action="store_true")
    chosen = parser.parse_args()
    trees = [tree.resolve() for tree in chosen.trees]
    inside = tuple(f"{tree}/" for tree in trees)
    judged = [
        each
        for each in remembered(chosen.said)
        if each.client == "claude" and each.file.startswith(inside)
    ]
    pins = tomllib.loads((HERE / "peers.toml").read_text(encoding="utf-8"))
    rows = [
        HEAD,
        row("equipage", "", [each for tree in trees for each in ours(tree, tree)], judged),
    ]
    for name, linter in LINTERS.items():
        home = chosen.clients.resolve() / "peers" / name
        install(pins[name], home)
        found = [each for tree in trees for each in linter(home, tree)]
        version = (pins[name].get("pip") or pins[name]["npm"]).rpartition("=")[2].rpartition("@")[2]
        rows.append(row(pins[name]["title"], version, found, judged))
        print(*rows[-1], sep="\t", flush=True)
    print(*rows[1], sep="\t")
    if chosen.write:
        with (HERE / "peers.csv").open("w", newline="") as stream:
            csv.writer(stream, lineterminator="\n").writerows(rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
