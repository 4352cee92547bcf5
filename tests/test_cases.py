"""Every case file is a test by existing."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

import lab
from casefiles import Case, cases_in, check_case, names_a_rule, reason_in
from equipage.project.registry import all_codes
from lab import TESTS, matching

CASES = list(cases_in(lab.CASES))
#: Every case file, those of the command included.
PATHS = [*matching(lab.CASES, "**/*.md"), *matching(TESTS / "cli" / "cases", "**/*.md")]


@pytest.mark.parametrize(
    "case", CASES, ids=lambda case: f"{case.path.relative_to(lab.CASES).with_suffix('')}"
)
def test_case(case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    check_case(case, tmp_path, monkeypatch)


def test_no_folder_of_cases_is_empty() -> None:
    folders = [folder for folder in lab.CASES.iterdir() if folder.is_dir()]
    assert folders
    assert not [folder.name for folder in folders if not any(folder.rglob("*.md"))]


def test_every_case_gives_its_reason() -> None:
    silent = [_shown(path) for path in PATHS if not reason_in(path.read_text()).endswith(".")]
    assert not silent, "below the title, say what goes wrong for a person without the rule"


def test_every_case_is_named_by_what_it_shows() -> None:
    identifiers = {*all_codes(), *_requirements()}
    unclear = [_shown(path) for path in PATHS if not names_a_rule(path.stem, identifiers)]
    assert not unclear, "name the rule in words, such as `include-cycle-is-reported-once.md`"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("# Title\n\nWhy.\n\nShows: A-1\n\n`a.yaml`\n```yaml\na: 1\n```\n", "Why."),
        ("# Title\n\nShows: A-1\n\n`a.yaml`\n```yaml\nWhy.\n```\n", ""),
        ("# Title\n\n```console\n$ ls\n```\n\nWhy.\n", ""),
    ],
)
def test_neither_requirements_nor_files_are_a_reason(text: str, reason: str) -> None:
    assert reason_in(text) == reason


@pytest.mark.parametrize("name", ["EC-LOAD-001", "ec-load-001", "7", "json", "file_is_not_read"])
def test_identifiers_and_single_words_are_not_names(name: str) -> None:
    assert not names_a_rule(name, _requirements())


def _shown(path: Path) -> str:
    return path.relative_to(TESTS).as_posix()


def _requirements() -> set[str]:
    """The ids of all requirements, in lower case."""
    return {
        row["id"].lower()
        for path in matching(TESTS.parent / "requirements", "*.toml")
        for row in tomllib.loads(path.read_text()).get("requirement", [])
    }
