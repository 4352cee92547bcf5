"""What a safe fix leaves, its client reads as before or more narrowly: no agent may do more."""

from __future__ import annotations

from pathlib import Path

import pytest

import equipage
from casefiles import cases_in
from equipage.cli import main
from equipage.clients.grants import Reach
from equipage.clients.reading import read_folder
from equipage.effect.reach import differences
from equipage.loading.session import Request
from equipage.project.registry import is_convention
from equipage.workspace import Workspace

#: Every case about files that clients read, whatever it shows.
CASES = [
    case
    for case in cases_in(Path(__file__).parents[1] / "cases")
    if is_convention(case.kind) or case.kind == "conventions"
]


def reaches() -> list[Reach]:
    loads = Workspace(["."], Request(env={})).loads()
    return read_folder(each.outcome for each in loads if each.outcome is not None)


def test_no_safe_fix_widens(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    widened: dict[str, list[str]] = {}
    fixed = 0
    for number, case in enumerate(CASES):
        folder = tmp_path / f"{number}"
        folder.mkdir()
        case.write(folder)
        monkeypatch.chdir(folder)
        if not any(
            each.fix is not None and each.fix.safe for each in equipage.check(["."]).diagnostics
        ):
            continue
        before = reaches()
        main(["check", "--fix", "--quiet"])
        steps = [step for each in differences(before, reaches()) for step in each.widening_steps]
        name = f"{case.kind}/{case.path.name}"
        widened |= {name: [f"{each.sort} {each.name}" for each in steps]} if steps else {}
        fixed += 1
    assert widened == {}
    assert fixed >= 10
