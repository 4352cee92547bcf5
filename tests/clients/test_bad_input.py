"""Bad input for every kind of another tool, made from the tables: coded findings, never a bug."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import equipage
from equipage.clients.catalogue import Convention, conventions
from equipage.core.diagnostics import Diagnostic
from lab import Link, check, write

#: One value of each type; none of them is what most fields want.
VALUES: tuple[Any, ...] = (5, 1.5, True, "text", "", [], [5], [[["x"]]], {}, {"a": 5}, None)
#: Names that would move a cursor, hide text, or end a line of output.
HOSTILE = ("\x1b[31mred", "a\nb", "a\rb", "\u202eabc", "\x00", "a" * 5000, "../../etc/passwd")
TABLES = [each for each in conventions() if each.paths and each.syntax != "text"]


def path_of(convention: Convention) -> str:
    return convention.example_path.replace("NAME", "demo")


def written(convention: Convention, fields: dict[str, Any]) -> str:
    """A file of a convention with these fields."""
    if convention.syntax == "json":
        return json.dumps(fields)
    if convention.syntax == "toml":
        kept = {key: value for key, value in fields.items() if value is not None}
        return "".join(f"{json.dumps(key)} = {_toml(value)}\n" for key, value in kept.items())
    text = "".join(f"{json.dumps(key)}: {json.dumps(value)}\n" for key, value in fields.items())
    return text if convention.syntax == "yaml" else f"---\n{text}---\nText.\n"


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        inner = ", ".join(f"{json.dumps(key)} = {_toml(each)}" for key, each in value.items())
        return f"{{{inner}}}"
    return json.dumps(value)


def findings(convention: Convention, text: str) -> tuple[Diagnostic, ...]:
    report = equipage.check_files({path_of(convention): text.encode("utf-8", "surrogatepass")})
    bugs = [each.message for each in report.diagnostics if each.code == "internal-error"]
    assert not bugs, (convention.kind, text[:200], bugs)
    return report.diagnostics


@pytest.mark.parametrize("convention", TABLES, ids=lambda each: each.kind)
def test_fields_of_any_wrong_type_are_findings(convention: Convention) -> None:
    for value in VALUES:
        findings(convention, written(convention, {each.name: value for each in convention.fields}))


@pytest.mark.parametrize("convention", TABLES, ids=lambda each: each.kind)
@pytest.mark.parametrize("whole", ["", "5", "null", "[]", '"text"', "[1, {", "\x00", "\ufeff"])
def test_files_that_are_no_mapping_are_findings(convention: Convention, whole: str) -> None:
    is_header = convention.syntax == "header"
    findings(convention, f"---\n{whole}\n---\nText.\n" if is_header else whole)


@pytest.mark.parametrize("convention", TABLES, ids=lambda each: each.kind)
def test_names_with_control_characters_are_shown_harmlessly(convention: Convention) -> None:
    for name in HOSTILE:
        if convention.syntax == "toml" and "\x00" in name:
            continue  # not TOML in any spelling
        fields = {name: name, **{each.name: {name: {name: name}} for each in convention.fields}}
        for each in findings(convention, written(convention, fields)):
            words = f"{each.message} {each.help or ''}"
            assert len(words) < 2000
            # A path is never cut: it must lead back to its value.
            for letter in f"{words} {each.path}":
                assert ord(letter) >= 32, words
                assert letter != "\u202e", words


@pytest.mark.parametrize("convention", TABLES, ids=lambda each: each.kind)
def test_thousands_of_keys_are_counted(convention: Convention) -> None:
    keys = {f"k{number}": number for number in range(400)}
    assert len(findings(convention, written(convention, keys))) <= 250


def test_links_that_leave_the_project_are_never_followed(tmp_path: Path) -> None:
    write(tmp_path, {"outside": "the-secret-outside"})
    project = tmp_path / "project"
    links: dict[str, Any] = {}
    for each in TABLES:
        path = path_of(each)
        links[path] = Link("/".join([".."] * (path.count("/") + 1)) + "/outside")
    report = check(write(project, {".git/HEAD": "", **links}))
    assert {each.code for each in report.diagnostics} == {"link-outside"}
    assert len(report.diagnostics) == len(links)
    assert not any("the-secret-outside" in each.message for each in report.diagnostics)


def test_a_folder_named_like_a_file_of_a_tool_is_a_note(tmp_path: Path) -> None:
    for name in (".cursor/hooks.json", ".claude/settings.json", ".mcp.json"):
        (tmp_path / name).mkdir(parents=True)
    report = check(tmp_path)
    assert report.ok
    assert {(each.code, each.severity) for each in report.diagnostics} == {
        ("file-is-directory", "note")
    }


@pytest.mark.parametrize("name", ["CLAUDE.md", "AGENTS.md", "GEMINI.md"])
def test_imports_that_loop_or_leave_are_findings(name: str, tmp_path: Path) -> None:
    files = {
        ".git/HEAD": "",
        name: "@a.md\n@../../outside.md\n@/etc/passwd\n",
        "a.md": "@b.md\n",
        "b.md": f"@a.md @{name}\n",
    }
    report = check(write(tmp_path / "project", files))
    assert not any(each.code == "internal-error" for each in report.diagnostics)
    assert not any("/etc/passwd" in (source or "") for source in report_files(report))


def report_files(report: equipage.Report) -> list[str]:
    return [each.path for each in report.files]
