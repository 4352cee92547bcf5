"""Every case file is a test by existing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from casefiles import UPDATE, Case, cases_in, written

FOLDER = Path(__file__).parent / "cases"
CASES = list(cases_in(FOLDER))


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.path.relative_to(FOLDER).with_suffix('')}")
def test_case(case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    case.write(tmp_path)
    monkeypatch.chdir(tmp_path)
    diagnostics, result = case.run()
    findings = "".join(map(written, diagnostics)).replace(str(tmp_path), "<cwd>")
    result = json.loads(json.dumps(result).replace(str(tmp_path), "<cwd>"))
    if UPDATE:
        case.rewrite(findings, result)
        return
    assert findings == case.findings, case.title
    if case.has_result:
        assert result == case.result, case.title


def test_no_folder_of_cases_is_empty() -> None:
    folders = [folder for folder in FOLDER.iterdir() if folder.is_dir()]
    assert folders
    assert not [folder.name for folder in folders if not any(folder.rglob("*.md"))]
