"""What the clients and `equipage check` say about the same files, side by side.

A client *refuses* a file if it drops it, drops a part of it or does not start because of it. We
agree if our findings hold an error for the files it refuses, and none for the others. A difference
is a mistake in the package, or a row of `differences.toml` that gives the reason.
"""

from __future__ import annotations

import fnmatch
import json
import os
import re
import subprocess
import sys
import tomllib
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
DIFFERENCES = HERE / "differences.toml"


@dataclass(frozen=True)
class Verdict:
    """What a client says about one file; a file without refusals is accepted."""

    client: str
    kind: str
    file: str
    refusals: tuple[str, ...] = ()


@dataclass(frozen=True)
class Row:
    """A difference with its reason.

    One of `code` (we have an error, the client accepts) and `says` (a pattern of what the client
    says where we have no error) is given. `file` narrows a row to a pattern of file names.
    """

    client: str
    kind: str
    what: str
    reason: str
    code: str = ""
    says: str = ""
    file: str = "*"

    def about(self, verdict: Verdict) -> bool:
        return (
            self.client == verdict.client
            and self.kind in (verdict.kind, "*")
            and fnmatch.fnmatch(verdict.file, self.file)
        )


@dataclass(frozen=True)
class Difference:
    verdict: Verdict
    ours: tuple[str, ...]

    def explained(self, rows: Iterable[Row]) -> bool:
        """True if a row gives the reason for each thing that only one side says."""
        about = [row for row in rows if row.about(self.verdict)]
        if self.ours:
            return set(self.ours) <= {row.code for row in about}
        patterns = [row.says for row in about if row.says]
        return all(
            any(re.search(each, said) for each in patterns) for said in self.verdict.refusals
        )

    def __str__(self) -> str:
        said = "; ".join(self.verdict.refusals) or "accepts it"
        ours = ", ".join(sorted(set(self.ours))) or "no error"
        return f"{self.verdict.file}\n    {self.verdict.client}: {said}\n    equipage: {ours}"


def rows(path: Path = DIFFERENCES) -> list[Row]:
    """The table of differences; a row with neither or both of `code` and `says` is an error."""
    found = [Row(**each) for each in tomllib.loads(path.read_text(encoding="utf-8"))["difference"]]
    for row in found:
        if bool(row.code) == bool(row.says):
            raise ValueError(f"{row.client}, {row.what}: one of `code` and `says` is needed")
    return found


@dataclass(frozen=True)
class Findings:
    """What `equipage check` says about a tree: the codes of the errors of each file, and the files
    that `--fix` changes."""

    errors: dict[str, tuple[str, ...]]
    fixable: frozenset[str]


def findings(tree: Path, *options: str) -> Findings:
    """Run `equipage check` in place."""
    command = [sys.executable, "-m", "equipage", "check", ".", "--json", *options]
    done = subprocess.run(command, cwd=tree, capture_output=True, check=False)
    if done.returncode not in (0, 1):
        raise RuntimeError(f"{tree}: {done.stderr.decode('utf-8', 'replace')}")
    errors: defaultdict[str, list[str]] = defaultdict(list)
    fixable = set()
    for each in json.loads(done.stdout)["diagnostics"]:
        if each["severity"] == "error" and each["file"]:
            errors[os.path.normpath(tree / each["file"])].append(each["code"])
        if each["fix"] and each["fix"]["safe"]:
            edits = each["fix"]["edits"]
            fixable |= {os.path.normpath(tree / edit["file"]) for edit in edits}
    return Findings({file: tuple(codes) for file, codes in errors.items()}, frozenset(fixable))


def differences(verdicts: Iterable[Verdict], ours: dict[str, tuple[str, ...]]) -> list[Difference]:
    found = (Difference(verdict, ours.get(verdict.file, ())) for verdict in verdicts)
    return [each for each in found if bool(each.verdict.refusals) != bool(each.ours)]


def agreement(verdicts: Iterable[Verdict], different: Iterable[Difference]) -> list[str]:
    """One line for each client and kind: files, files refused, files with the same verdict."""
    files: defaultdict[tuple[str, str], list[Verdict]] = defaultdict(list)
    for verdict in verdicts:
        files[verdict.client, verdict.kind].append(verdict)
    apart: defaultdict[tuple[str, str], int] = defaultdict(int)
    for each in different:
        apart[each.verdict.client, each.verdict.kind] += 1
    lines = [f"{'client':10}{'kind':24}{'files':>7}{'refused':>9}{'agree':>7}"]
    for key in sorted(files):
        judged = files[key]
        refused = sum(bool(each.refusals) for each in judged)
        count = len(judged)
        lines.append(f"{key[0]:10}{key[1]:24}{count:7}{refused:9}{count - apart[key]:7}")
    return lines


def remember(verdicts: Iterable[Verdict], path: Path) -> None:
    """Write what the clients said, for a later run over the same trees."""
    path.write_text(json.dumps([asdict(each) for each in verdicts], indent=1) + "\n")


def remembered(path: Path) -> list[Verdict]:
    return [
        Verdict(**each | {"refusals": tuple(each["refusals"])})
        for each in json.loads(path.read_text())
    ]
