"""What is known and not read is named once for each sort and project; every row is reachable."""

from __future__ import annotations

from pathlib import Path

import pytest

import equipage
from equipage.files.walking import walk, walk_files
from equipage.loading.recognise import names_with_place, recognise_path
from equipage.loading.registry import BUILT_IN, agent_folders, choices, conventions
from equipage.loading.session import Run
from equipage.loading.unread import UNREAD, unread_sort
from equipage.workspace.loads import WantedOf
from lab import write


def example(glob: str) -> str:
    """A path that a glob without choices matches."""
    return glob.replace("**/", "deep/er/").replace("*", "name")


ROWS = [
    (row.kind, each)
    for row in (*BUILT_IN, *conventions())
    for glob in row.paths
    for each in choices(glob)
    if not each.startswith((".config/", "config/", "xdg/"))  # folders of a user, in no project
]


def test_every_row_of_a_table_is_reachable(tmp_path: Path) -> None:
    """A walk comes to every place that a table names, and finds the kind of the table there."""
    for number, (_, glob) in enumerate(ROWS):
        write(tmp_path / f"p{number}", {example(glob): ""})
    found = {each.path for each in walk(str(tmp_path), agent_folders(), WantedOf(Run()))}
    for number, (kind, glob) in enumerate(ROWS):
        path = str(tmp_path / f"p{number}" / example(glob))
        assert path in found, (kind, glob)
        assert recognise_path(path) is not None, (kind, glob)


@pytest.mark.parametrize(("sort", "globs"), UNREAD, ids=lambda each: str(each)[:30])
def test_rows_of_what_is_not_read(sort: str, globs: tuple[str, ...]) -> None:
    for glob in globs:
        for each in choices(glob):
            folder, name = f"/r/{example(each)}".rsplit("/", 1)
            assert unread_sort(f"{folder}/{name}") == sort, each
            names, ends = names_with_place(f"{folder}/")
            assert name in names or name.lower().endswith(ends), each


def test_one_note_for_each_sort_and_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    files = {f".junie/{name}.md": "text" for name in "abc"}
    write(
        tmp_path, {**files, ".goosehints": "x", "sub/.goosehints": "y", ".claude/agents/a.md": "t"}
    )
    report = equipage.check(["."], env={})
    notes = [(each.code, each.file, each.message) for each in report.notes]
    assert notes == [
        (
            "not-read",
            ".goosehints",
            "Goose file: known by its place, but not read; 1 more such file",
        ),
        (
            "not-read",
            ".junie/a.md",
            "Junie file: known by its place, but not read; 2 more such files",
        ),
    ]
    assert [each.path for each in report.files] == [".claude/agents/a.md"]


def test_hidden_folders_are_looked_through_for_known_names(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "skills/.curated/pdf/SKILL.md": "---\nname: pdf\ndescription: x\n---\n",
            "skills/.curated/pdf/notes.md": "",
            ".changeset/x.md": "---\nname: a\ndescription: b\ntools: Read\n---\n",
            ".cache/SKILL.md": "",
        },
    )
    found = [each.path for each in walk(str(tmp_path), agent_folders(), WantedOf(Run()))]
    assert [str(Path(each).relative_to(tmp_path)) for each in found] == [
        "skills/.curated/pdf/SKILL.md"
    ]
    assert list(walk_files(str(tmp_path / ".changeset"), agent_folders()))
