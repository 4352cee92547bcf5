"""The tables: each is whole, its first file is good, and its model says what it says."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

import equipage
from equipage.clients.catalogue import SKILL_TABLES, Convention, convention_in, conventions
from equipage.clients.format import format_of, list_item, model_of, sensitive_of
from equipage.clients.references import parse_references, split_names
from equipage.project.registry import built_in_kinds
from lab import REPOSITORY, write

EVERY = (*conventions(), *map(convention_in, SKILL_TABLES))


def test_the_versions_of_the_tables_are_those_that_were_run() -> None:
    page = (REPOSITORY / "docs/clients.md").read_text(encoding="utf-8")
    versions = {each.tool: each.version for each in EVERY if each.version is not None}
    assert {tool for tool, version in versions.items() if f"@{version}`" not in page} == set()
    assert {"Claude Code", "Codex", "Gemini CLI", "OpenCode"} <= versions.keys()


#: What a first file cannot bring: the file that it is compiled to.
LEFT_TO_DO = {"agentic-workflow": ["workflow-not-compiled"]}


@pytest.mark.parametrize("convention", EVERY, ids=lambda each: f"{each.kind}-{each.tool}")
class TestEveryTable:
    def test_names_are_unique(self, convention: Convention) -> None:
        names = [field.name for field in convention.fields]
        assert len(names) == len(set(names))
        assert convention.synonyms.keys().isdisjoint(names)
        assert set(convention.longest) <= set(names)

    def test_every_field_has_a_meaning(self, convention: Convention) -> None:
        assert [field.name for field in convention.fields if not field.meaning] == []

    def test_the_model_has_every_field(self, convention: Convention) -> None:
        encoded = {field.encode_name for field in msgspec.structs.fields(model_of(convention))}
        assert encoded >= convention.field_names

    def test_it_has_a_place(self, convention: Convention) -> None:
        """By its path, or by what it holds."""
        assert convention.kind in built_in_kinds()

    @pytest.mark.requirement("CV-01")
    def test_the_first_file_is_a_good_one(self, convention: Convention, tmp_path: Path) -> None:
        """It lies where its tool looks, is recognised there, and has no findings."""
        if convention.example is None:
            assert convention.unread  # nobody should write such a file
            return
        name = convention.example_path.replace("NAME", "reviewer")
        write(tmp_path, {name: convention.example.replace("NAME", "reviewer")})
        report = equipage.check([tmp_path], env={})
        assert [each.kind for each in report.files] == [convention.kind]
        assert [each.code for each in report.diagnostics] == LEFT_TO_DO.get(convention.kind, [])

    def test_what_restricts_is_shown_first(self, convention: Convention) -> None:
        shown = {each.pattern for each in sensitive_of(convention)}
        assert shown >= convention.restricting_fields

    def test_what_restricts_is_guarded(self, convention: Convention) -> None:
        """But for what is approved in advance, without which more is asked."""
        guarded = format_of(convention).shape.guarded
        assert guarded == convention.restricting_fields - {"allowed-tools"}

    def test_one_row_for_each_file(self, convention: Convention) -> None:
        (item,) = list_item(
            convention, {"name": "n", "description": "d"}, f"x/folder/file{convention.suffixes[0]}"
        )
        expected = {"field": "n", "file": "file", "folder": "n"}[convention.identity]
        assert (item.sort, item.name, item.description) == (convention.sort, expected, "d")

    def test_any_value_is_told_not_raised(self, convention: Convention, tmp_path: Path) -> None:
        """No value of any field, however wrong, makes equipage fail."""
        if convention.syntax != "header":
            return
        for wrong in (
            "5",
            "true",
            "[1, {a: 2}]",
            "{a: [1]}",
            "null",
            "'x, y (z'",
            "2024-01-01",
            "[[]]",
        ):
            header = "\n".join(f"{field.name}: {wrong}" for field in convention.fields)
            outcome = equipage.check(
                [_written(tmp_path, convention, f"---\n{header}\n---\n")], env={}
            )
            assert not [each for each in outcome.diagnostics if each.code == "internal-error"], (
                wrong
            )


def _written(folder: Path, convention: Convention, text: str) -> Path:
    name = convention.example_path.replace("NAME", "x")
    return write(folder, {name: text}) / name


@pytest.mark.parametrize(
    ("text", "separators", "names"),
    [
        ("Read, Write", ",", ["Read", "Write"]),
        ("Read,, Write ,", ",", ["Read", "Write"]),
        ("Bash(git add:*, git rm:*), Read", ",", ["Bash(git add:*, git rm:*)", "Read"]),
        ("Bash(git add:*) Read", ", ", ["Bash(git add:*)", "Read"]),
        ("Bash(unclosed, Read", ",", ["Bash(unclosed, Read"]),
        ("a) b, c", ",", ["a) b", "c"]),
        ("", ",", []),
    ],
)
def test_names_in_a_text(text: str, separators: str, names: list[str]) -> None:
    assert list(split_names(text, separators)) == names


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("Read", [("tool", "Read")]),
        ("Bash(git:*)", [("tool", "Bash")]),
        ("Agent(a, b)", [("tool", "Agent"), ("agent", "a"), ("agent", "b")]),
        ("mcp__github__search", [("server", "github")]),
        ("mcp__plugin_x_y__search", [("server", "plugin_x_y")]),
        ("mcp__github", [("server", "github")]),
    ],
)
def test_what_a_name_speaks_of(name: str, found: list[tuple[str, str]]) -> None:
    assert [(each.sort, each.name) for each in parse_references(name, "tool")] == found
