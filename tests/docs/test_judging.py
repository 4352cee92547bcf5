"""The table of judged findings is whole, and every group says why."""

from __future__ import annotations

import csv
import tomllib
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from lab import REPOSITORY, module_at

FOLDER = REPOSITORY / "lab" / "judging"
LISTS = tomllib.loads((FOLDER / "repositories.toml").read_text())


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    return module_at(FOLDER / "judge.py")


def finding(**changes: Any) -> dict[str, Any]:
    plain = {"severity": "warning", "code": "x", "file": "a.md", "line": 1, "message": "m"}
    return plain | changes


def test_the_first_group_decides_and_nothing_stays_unjudged(tool: ModuleType) -> None:
    groups = [
        tool.Group("x", "wrong", "template", file="templates/"),
        tool.Group("x", "right", "true", kind="skill"),
    ]
    report = {
        "files": [{"path": "a.md", "kind": "skill"}],
        "diagnostics": [
            finding(),
            finding(file="templates/a.md"),
            finding(code="y"),
            finding(code="y", severity="error", file="b.md"),
            finding(severity="note"),
        ],
    }
    found = list(tool.judged("o/n", report, groups, {"/t/b.md": "codex"}, Path("/t")))
    assert [each.verdict for each in found] == ["right", "wrong", "unjudged", "right"]
    assert found[-1].reason == "codex refuses the file"
    assert tool.summary(found)[0] == "errors: 1 of 1 right (100.0 %)"


def test_every_group_has_a_verdict_and_a_reason(tool: ModuleType) -> None:
    for group in tool.groups():
        assert group.verdict in ("right", "wrong")
        assert group.reason


@pytest.mark.parametrize(("name", "least"), [("judged", 40), ("held", 10)])
def test_the_tables_hold_every_repository_at_its_commit(
    tool: ModuleType, name: str, least: int
) -> None:
    commits = LISTS[name]
    assert len(commits) >= least
    with (FOLDER / f"{name}.csv").open(newline="") as stream:
        head, *table = csv.reader(stream)
    assert tuple(head) == tool.HEAD
    assert {(row[0], row[1]) for row in table} <= set(commits.items())
    assert {row[5] for row in table} == {"right", "wrong"}
    errors = [(int(row[4]), row[5]) for row in table if row[2] == "error"]
    right = sum(count for count, verdict in errors if verdict == "right")
    assert right >= 0.95 * sum(count for count, _ in errors)
