"""`check_files`: files in memory are checked as those on the disk are, and the disk stays alone."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import equipage
from casefiles import Case, cases_in, written
from lab import CASES, repository

SKILL = "---\nname: greet\n---\nSay hello."
AGENT = "---\nname: a\ndescription: helps\nskills: nope\n---\nYou help."


#: Of so many cases, one is looked at: the whole takes a minute.
STEP = int(os.environ.get("EQUIPAGE_STEP", "5"))


def in_memory(case: Case) -> dict[str, bytes] | None:
    """The files of a case; None if it needs a link or a setting of the machine."""
    if case.links or not case.files or any(name.startswith(("/", "..")) for name in case.files):
        return None
    return {
        name: each.encode("utf-8", "surrogatepass") if isinstance(each, str) else each
        for name, each in case.files.items()
    }


def told(report: equipage.Report, folder: str = "/project") -> str:
    """Everything a report says about findings; some help names the folder of the project."""
    return "\n".join(map(written, report.diagnostics)).replace(folder, "FOLDER")


@pytest.mark.long
def test_every_case_is_the_same_in_memory_and_on_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = 0
    for number, case in enumerate(cases_in(CASES)):
        files = in_memory(case)
        if number % STEP or files is None:
            continue
        here = repository(tmp_path / str(number), files)
        monkeypatch.chdir(here)
        on_disk, in_mapping = equipage.check(".", env={}), equipage.check_files(files)
        assert told(in_mapping) == told(on_disk, str(here)), case.path
        assert in_mapping.files == on_disk.files, case.path
        seen += 1
    assert seen > 50
