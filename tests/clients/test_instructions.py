"""Instructions: their limits, and that no text makes a check slow or leads it out of the project."""

from __future__ import annotations

import re
from pathlib import Path
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import equipage
import lab
from equipage.clients import instructions
from equipage.clients.instructions import blank_out_code, file_links, find_imports


def findings(folder: Path) -> list[str]:
    return [each.code for each in equipage.check([folder]).diagnostics]


@pytest.mark.parametrize(
    ("name", "size", "found"),
    [
        pytest.param("CLAUDE.md", 40_000, [], id="as long as Claude Code likes"),
        pytest.param("CLAUDE.md", 40_001, ["instructions-too-long"], id="longer"),
        pytest.param("AGENTS.md", 32_768, [], id="all that Codex reads"),
        pytest.param("AGENTS.md", 32_769, ["instructions-too-long"], id="one byte more"),
    ],
)
def test_limits(tmp_path: Path, name: str, size: int, found: list[str]) -> None:
    (tmp_path / name).write_text("x" * size)
    assert findings(tmp_path) == found


def test_codex_joins_the_files_of_all_folders(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "deep").mkdir()
    for folder in (tmp_path, tmp_path / "deep"):
        (folder / "AGENTS.md").write_text("x" * 20_000)
    report = equipage.check([tmp_path])
    assert [(each.code, each.name) for each in report.diagnostics] == [
        ("instructions-too-long", str(tmp_path / "deep" / "AGENTS.md"))
    ]


def test_nothing_outside_the_project_is_looked_at(tmp_path: Path) -> None:
    """A file that is there and one that is missing are the same: imports and links say that they
    leave the project."""
    inside = tmp_path / "project"
    inside.mkdir()
    (inside / ".git").mkdir()
    (tmp_path / "there.md").write_text("x")
    (inside / "link").symlink_to(tmp_path)
    text = "@../there.md\n@../gone.md\n@link/there.md\n@link/gone.md\n@~/gone.md\n@/etc/gone.md\n"
    (inside / "CLAUDE.md").write_text(text + "[a](../there.md) [b](../gone.md) [c](link/gone.md)\n")
    found = equipage.check([inside]).diagnostics
    assert [(each.code, each.severity) for each in found] == [
        *[("import-outside", "warning")] * 4,
        ("import-outside", "note"),
        ("import-outside", "warning"),
        ("link-leaves", "note"),
    ]
    told = [each.message.replace("there.md", "gone.md") for each in found]
    assert (told[0], told[2]) == (told[1], told[3])
    (tmp_path / "there.md").unlink()
    again = equipage.check([inside]).diagnostics
    assert list(map(str, again)) == list(map(str, found))


@pytest.mark.parametrize(
    "text",
    [
        unit * (300_000 // len(unit))
        for unit in ("`", "`a", "[a](", "<!--", "@", "@a.md ", "```\n", "](<", "` `` ", "\\ ")
    ],
    ids=lambda text: text[:6],
)
def test_it_takes_linear_time(text: str) -> None:
    """Each is a quarter of a megabyte or more; anything quadratic would take minutes."""
    assert len(blank_out_code(text)) == len(text)
    assert sum(1 for _ in file_links(text)) + sum(1 for _ in find_imports(text)) <= 60_000


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("a `b` c", "a     c"),
        ("a ``b ` c`` d", "a           d"),
        ("a ` b\n\nc ` d", "a ` b\n\nc ` d"),
        ("~~~\nx\n~~~\ny", "   \n \n   \ny"),
        ("a <!-- b --> c", "a            c"),
    ],
)
def test_code_is_left_out(text: str, kept: str) -> None:
    assert blank_out_code(text) == kept


#: Pieces of which paths, code and comments are made, side by side or apart.
PIECES = ("@", "a", "b/", ".md", ".mdc", ".txt", "~/", "../", "`", "\\", "\\ ", " ", "\n", ".", ",")
PIECES += ("```\n", "<!-- ", " -->", "é", "-", "@a.md", "@x", ".json)", "\t")


@settings(max_examples=lab.tries(1_000))
@given(st.lists(st.sampled_from(PIECES), max_size=25).map("".join))
def test_a_text_that_is_not_searched_imports_nothing(text: str) -> None:
    with mock.patch.object(instructions, "_MAY_IMPORT", re.compile("")):
        searched = list(find_imports(text))
    assert list(find_imports(text)) == searched
