"""Every case file is a test by existing."""

from __future__ import annotations

from pathlib import Path

import pytest

from casefiles import Case, cases_in, check_case

FOLDER = Path(__file__).parent / "cases"
CASES = list(cases_in(FOLDER))


@pytest.mark.parametrize(
    "case", CASES, ids=lambda case: f"{case.path.relative_to(FOLDER).with_suffix('')}"
)
def test_case(case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    check_case(case, tmp_path, monkeypatch)


def test_no_folder_of_cases_is_empty() -> None:
    folders = [folder for folder in FOLDER.iterdir() if folder.is_dir()]
    assert folders
    assert not [folder.name for folder in folders if not any(folder.rglob("*.md"))]
