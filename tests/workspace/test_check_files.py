"""`check_files`: files in memory are checked as those on the disk are, and the disk stays alone."""

from __future__ import annotations

import os
import pickle
import sys
from pathlib import Path
from typing import Any

import pytest

import equipage
from casefiles import Case, cases_in, written
from equipage import UsageError
from equipage.files import MAX_BYTES, System
from equipage.files.disk import Disk
from equipage.files.memory import Overlay
from lab import CASES, check, repository, save, write

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
    assert seen > 200 / STEP


def test_neither_the_disk_nor_the_environment_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """A hook sees every file that Python opens; what is imported first is not counted."""
    server = "server: {name: a}\ntools: [{$include: /etc/hostname}, {$include: ../x.yaml}]\n"
    files = {"s.yaml": server, ".claude/agents/a.md": AGENT, ".defect/config.toml": "x = 1\n"}
    monkeypatch.setenv("SECRET", "of the process")
    before = equipage.check_files(files)
    asked: list[str] = []
    watching = True

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if watching and event in ("open", "os.scandir", "os.listdir", "os.walk"):
            asked.append(f"{event} {arguments[0]}")

    sys.addaudithook(hook)
    assert equipage.check_files(files).rows() == before.rows()
    given = {"s.yaml": "server: {name: ${SECRET}}\ntools: []\n"}
    variable = equipage.check_files(given, kind="server")
    watching = False
    assert [each for each in asked if not each.endswith((".py", ".pyc", ".toml"))] == []
    assert "env-missing" in [each.code for each in variable.diagnostics]
    found = equipage.check_files(given, kind="server", env={"SECRET": "x"}).diagnostics
    assert "env-missing" not in [each.code for each in found]


def test_files_refer_to_each_other() -> None:
    skill = "---\nname: other\ndescription: d\n---\nx"
    files = {".claude/agents/a.md": AGENT, ".claude/skills/other/SKILL.md": skill}
    assert [each.code for each in equipage.check_files(files).diagnostics] == ["unknown-reference"]
    files[".claude/skills/nope/SKILL.md"] = skill.replace("other", "nope")
    assert equipage.check_files(files).diagnostics == ()


@pytest.mark.parametrize("name", ["", "/a.yaml", "../a.yaml", "a//b.yaml", "a/./b.yaml", "a\0b"])
def test_a_path_that_is_not_inside_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match="paths from the root of a project"):
        equipage.check_files({name: b""})


@pytest.mark.parametrize("name", ["a/b.tool.yaml", "a/b/c.tool.yaml"])
def test_a_file_is_not_a_folder_too(name: str) -> None:
    with pytest.raises(UsageError, match="'a' is a file, so it cannot hold 'a/b"):
        equipage.check_files({name: b"id: 5", "a": b""})


def test_contents_are_text_or_bytes() -> None:
    with pytest.raises(UsageError, match="bytes or str"):
        equipage.check_files({"a.yaml": 5})  # type: ignore[dict-item]
    with pytest.raises(UsageError, match="mapping"):
        equipage.check_files(["a.yaml"])  # type: ignore[arg-type]


def test_an_overlay_over_the_disk_shows_unsaved_text(tmp_path: Path) -> None:
    """What an editor needs: an open buffer counts, also one that was never saved."""
    repository(tmp_path, {"s.yaml": "server: {name: a}\ntools: [$include: new.yaml]\n"})
    write(tmp_path, {"library/old.yaml": "x: 1\n"})
    here = str(tmp_path)

    def codes(system: System) -> list[str]:
        return [each.code for each in check(here, system=system).diagnostics]

    assert codes(Disk()) == ["include-not-found"]
    tool = b"tool: {name: t, description: d, inputSchema: {type: object}}\nresponse: {content: [{type: text, text: x}]}"
    buffers = {f"{here}/library/new.yaml": tool, f"{here}/b.tool.yaml": b"id: 5"}
    # Of the pack, which was never saved.
    assert set(codes(Overlay(buffers, Disk()))) == {"missing-field", "wrong-type"}
    assert codes(Disk()) == ["include-not-found"]
    save(tmp_path / "s.yaml", "server: {name: 5")
    unsaved = {f"{here}/s.yaml": b"server: {name: a}\ntools: []\n"}
    assert codes(Overlay(unsaved, Disk())) == []


def test_a_finding_pickles_small_and_without_text() -> None:
    """A report of many findings in large files must fit through the queues of a cluster."""
    secret = "# nothing of this leaves: hunter2\n" * 5000
    report = equipage.check_files({f"{n}.tool.yaml": f"id: 5\n{secret}" for n in range(17)})
    assert len(report.errors) > 100
    packed = pickle.dumps(report)
    assert b"hunter2" not in packed
    assert len(packed) / len(report.errors) < 400
    assert max(len(pickle.dumps(each)) for each in report.diagnostics) <= 2000
    again = pickle.loads(packed)
    assert again.rows() == report.rows()
    assert again.diagnostics == report.diagnostics
    assert pickle.loads(pickle.dumps(again)).rows() == report.rows()
    whole = pickle.loads(report.to_bytes())
    assert whole.errors[0].span is not None
    assert "hunter2" in whole.errors[0].span.source.text


def test_findings_without_text_can_still_be_shown() -> None:
    from equipage.render.json import to_dict

    report = equipage.check_files({"a.tool.yaml": "id: 5\n"})
    again = pickle.loads(pickle.dumps(report))
    assert to_dict(again)["diagnostics"] == to_dict(report)["diagnostics"]


def test_the_working_directory_of_the_files_counts_for_what_is_ignored_in_one_of_them() -> None:
    """A finding about a file as a whole has a name and no place in a text."""
    files = {
        "packs/a.tool.yaml": b"#" * (MAX_BYTES + 1),
        "packs/b.tool.yaml": b"#" * (MAX_BYTES + 1),
    }
    files["equipage.toml"] = b"[per-file-ignores]\n'packs/a.tool.yaml' = ['file-too-large']\n"
    report = equipage.check_files(files)
    assert [(each.name, each.code) for each in report.diagnostics] == [
        ("packs/b.tool.yaml", "file-too-large")
    ]
