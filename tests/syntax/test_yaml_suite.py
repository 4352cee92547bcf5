"""The public YAML test suite, and our list of where we differ from it: `docs/yaml-deviations.md`.

Each case is read as equipage reads a file, the first document only. The list must be exact: a
deviation that is not listed fails, and so does a listed one that no longer deviates.
"""

from __future__ import annotations

import json
import re

import pytest

from equipage.syntax import SyntaxProblem
from equipage.syntax.yaml import load
from equipage.syntax.yaml.events import ENGINE
from lab import REPOSITORY, SHARED

SUITE = SHARED / "suites" / "yaml-test-suite.jsonl"
LISTED = re.compile(r"^\| `([^`]+)` \| (refused|accepted|other value) \| (\S.*) \|$", re.MULTILINE)

pytestmark = [
    pytest.mark.skipif(
        not SUITE.exists(), reason="the YAML test suite is not beside the repository"
    ),
    pytest.mark.skipif(ENGINE != "libyaml", reason="the list is that of libyaml"),
]


def listed() -> dict[str, str]:
    """What the page says of each case it lists."""
    page = (REPOSITORY / "docs" / "yaml-deviations.md").read_text(encoding="utf-8")
    rows = LISTED.findall(page)
    assert len({case for case, _, _ in rows}) == len(rows), "a case is listed twice"
    return {case: deviation for case, deviation, _ in rows}


def deviation(case: dict[str, object]) -> str | None:
    """How our reading of a case differs from the suite's, if it does."""
    try:
        value = load(str(case["yaml"])).value
    except SyntaxProblem:
        return None if case.get("error") else "refused"
    if case.get("error"):
        return "accepted"
    documents = case.get(
        "json"
    )  # absent where JSON has no way to say it: keys that are not strings
    if isinstance(documents, list) and not same(value, documents[0] if documents else None):
        return "other value"
    return None


def same(ours: object, theirs: object) -> bool:
    """Equality of JSON values: numbers by value, but `true` is not 1."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        return ours.keys() == theirs.keys() and all(same(ours[key], theirs[key]) for key in ours)
    if isinstance(ours, list) and isinstance(theirs, list):
        return len(ours) == len(theirs) and all(map(same, ours, theirs))
    return ours == theirs and isinstance(ours, bool) == isinstance(theirs, bool)


def test_every_deviation_is_listed_and_no_other() -> None:
    cases = [json.loads(line) for line in SUITE.read_text(encoding="utf-8").splitlines()]
    assert len(cases) > 400
    found = {str(case["id"]): deviation(case) for case in cases}
    assert {case: how for case, how in found.items() if how is not None} == listed()
