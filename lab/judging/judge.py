"""Judges every finding of `equipage check` on the repositories of `repositories.toml`.

    python lab/judging/judge.py FOLDER [--clients FILE] [--list NAME] [--reports FOLDER] [--write]

FOLDER holds the work trees, each as `owner+name` at the commit of the list NAME. `--reports` is a
folder with what an earlier version said, as `owner+name.json`. A finding is *right* if
a client refuses its file (FILE is what `make clients` wrote with `--remember`), or if the first
group of `groups.toml` that it belongs to says so. Each group was judged by opening files of it;
debatable counts as wrong. The run fails if a finding belongs to no group. With `--write` the table
of repositories, codes, counts, verdicts and reasons goes to `NAME.csv`.
"""

from __future__ import annotations

import argparse
import csv
import json
import re
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
HEAD = ("repository", "commit", "severity", "code", "count", "verdict", "reason")


@dataclass(frozen=True)
class Group:
    """Findings with one cause; what is not given is not asked for."""

    code: str
    verdict: str
    reason: str
    severity: str = ""
    kind: str = ""
    repository: str = ""
    file: str = ""
    message: str = ""

    def holds(self, repository: str, kind: str, finding: dict[str, Any]) -> bool:
        return (
            self.code == finding["code"]
            and self.severity in ("", finding["severity"])
            and self.kind in ("", kind)
            and self.repository in ("", repository)
            and re.search(self.file, finding["file"] or "") is not None
            and re.search(self.message, finding["message"]) is not None
        )


@dataclass(frozen=True)
class Judged:
    repository: str
    severity: str
    code: str
    verdict: str
    reason: str


def groups(path: Path = HERE / "groups.toml") -> list[Group]:
    found = [Group(**each) for each in tomllib.loads(path.read_text(encoding="utf-8"))["group"]]
    for each in found:
        if each.verdict not in ("right", "wrong"):
            raise ValueError(f"{each.code}: `{each.verdict}` is not a verdict")
    return found


def judged(
    repository: str, report: dict[str, Any], known: list[Group], refused: dict[str, str], tree: Path
) -> Iterator[Judged]:
    """The verdict on each error and warning of a report; notes are not judged."""
    kinds = {each["path"]: each["kind"] or "" for each in report["files"]}
    for finding in report["diagnostics"]:
        if finding["severity"] not in ("error", "warning"):
            continue
        client = refused.get(str(tree / (finding["file"] or "")))
        if finding["severity"] == "error" and client is not None:
            verdict, reason = "right", f"{client} refuses the file"
        else:
            kind = kinds.get(finding["file"], "")
            group = next((each for each in known if each.holds(repository, kind, finding)), None)
            verdict = "unjudged" if group is None else group.verdict
            place = f"{finding['file']}:{finding['line']} ({kind}): {finding['message']}"
            reason = place if group is None else group.reason
        yield Judged(repository, finding["severity"], finding["code"], verdict, reason)


def refused_by(path: Path | None) -> dict[str, str]:
    """The files that a client refuses, with its name."""
    said = json.loads(path.read_text()) if path is not None else []
    return {each["file"]: each["client"] for each in said if each["refusals"]}


def report_on(tree: Path) -> dict[str, Any]:
    command = [sys.executable, "-m", "equipage", "check", ".", "--json"]
    done = subprocess.run(command, cwd=tree, capture_output=True, check=False)
    if done.returncode == 0 and not done.stdout:
        return {"files": [], "diagnostics": []}
    report: dict[str, Any] = json.loads(done.stdout)
    return report


def earlier(folder: Path, tree: Path) -> dict[str, Any]:
    """What a check said before; a file without text is that of a check that found nothing."""
    text = (folder / f"{tree.name}.json").read_text(encoding="utf-8")
    report: dict[str, Any] = json.loads(text or '{"files": [], "diagnostics": []}')
    return report


def summary(found: list[Judged]) -> list[str]:
    """Precision by severity, and by code where something is wrong."""
    lines = []
    for severity in ("error", "warning"):
        those = [each for each in found if each.severity == severity]
        right = sum(each.verdict == "right" for each in those)
        share = 100 * right / len(those) if those else 100
        lines.append(f"{severity}s: {right} of {len(those)} right ({share:.1f} %)")
        for code, count in Counter(each.code for each in those).most_common():
            wrong = sum(each.verdict != "right" for each in those if each.code == code)
            lines.append(f"  {code:30}{count:6}{wrong:6} wrong")
    return lines


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--clients", type=Path)
    lists = tomllib.loads((HERE / "repositories.toml").read_text(encoding="utf-8"))
    parser.add_argument("--list", choices=lists, default="judged")
    parser.add_argument("--reports", type=Path)
    parser.add_argument("--write", action="store_true")
    chosen = parser.parse_args()
    commits = lists[chosen.list]
    known, refused = groups(), refused_by(chosen.clients)
    found: list[Judged] = []
    for repository in commits:
        tree = chosen.folder.resolve() / repository.replace("/", "+")
        if not tree.is_dir():
            raise SystemExit(f"{tree} is missing: check {repository} out at {commits[repository]}")
        report = report_on(tree) if chosen.reports is None else earlier(chosen.reports, tree)
        found += judged(repository, report, known, refused, tree)
    print("\n".join(summary(found)))
    unjudged = [each for each in found if each.verdict == "unjudged"]
    for each in unjudged:
        print(f"unjudged {each.code}: {each.repository}: {each.reason}")
    if chosen.write:
        with (HERE / f"{chosen.list}.csv").open("w", newline="") as stream:
            table = csv.writer(stream, lineterminator="\n")
            table.writerow(HEAD)
            for each, count in sorted(Counter(found).items(), key=str):
                first = (each.repository, commits[each.repository], each.severity, each.code)
                table.writerow((*first, count, each.verdict, each.reason))
    return 1 if unjudged else 0


if __name__ == "__main__":
    sys.exit(main())
