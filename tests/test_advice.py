"""A fix leads to no other error where it was made: each one of every case file is made alone."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import lab
from casefiles import Case, cases_in
from equipage.core.diagnostics import Diagnostic, Fix

#: Fixes after which something else is wrong at the place, and why that is right.
REASONS = {
    "generator-type-unknown": "which parameters are missing is known only with the type",
    "unknown-hook-event": "the file has the event already, under its right name",
    "entry-of-a-wrong-type-makes": "which path was meant, the author has to say",
    "manifest-has-no-null": "which path was meant, the author has to say",
    "enabled-server-that-is-not-text": "whether a server of that name is defined is another question",
}


def test_no_fix_leads_to_another_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made, wrong = 0, dict[str, str]()
    for number, case in enumerate(cases_in(lab.CASES)):
        before = findings(case, tmp_path / str(number), monkeypatch)
        for each in before:
            if each.fix is None:
                continue
            folder = tmp_path / "fixed"
            after = findings(case, folder, monkeypatch, each.fix)
            made += 1
            for other in new_errors(each, before, after):
                wrong[f"{case.path.stem}: {each}"] = str(other)
            shutil.rmtree(folder)
    unexplained = [each for each in wrong if not any(code in each for code in REASONS)]
    assert made > 200
    assert not [f"{each} -> {wrong[each]}" for each in unexplained]


def findings(
    case: Case, folder: Path, monkeypatch: pytest.MonkeyPatch, fix: Fix | None = None
) -> list[Diagnostic]:
    """What is found in a case, after a fix if there is one."""
    folder.mkdir()
    case.write(folder)
    monkeypatch.chdir(folder)
    # The last edit first, so that the places of the others stay.
    for edit in sorted(fix.edits if fix else (), key=lambda each: -each.span.start):
        text = Path(edit.span.source.name).read_bytes().decode()
        text = text[: edit.span.start] + edit.text + text[edit.span.end :]
        Path(edit.span.source.name).write_bytes(text.encode())
    return list(case.run()[0])


def new_errors(
    fixed: Diagnostic, before: list[Diagnostic], after: list[Diagnostic]
) -> list[Diagnostic]:
    """The errors that touch what was written, and were not there before the fix."""
    assert fixed.fix is not None
    known = {(each.code, each.path) for each in before if each is not fixed}
    start = min(edit.span.start for edit in fixed.fix.edits)
    end = max(edit.span.start + len(edit.text) for edit in fixed.fix.edits)
    file = fixed.fix.edits[0].span.source.name
    return [
        each
        for each in after
        if each.severity == "error"
        and each.span is not None
        and each.span.source.name == file
        and each.span.start <= end
        and each.span.end >= start
        and (each.code, each.path) not in known
    ]
