"""Lists of servers: what the original decides, and what each tool writes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import equipage
from equipage.clients.mcp import DIALECTS
from equipage.formats.defect.discovery import find_layer_folders
from equipage.formats.defect.layers import find_settings
from equipage.project.registry import format_named
from equipage.syntax.json import blank_comments
from lab import shared_probes, write


@pytest.mark.requirement("MC-01", "MC-02")
@pytest.mark.parametrize("probe", shared_probes("mcp_json"))
def test_probe(probe: dict[str, Any], tmp_path: Path) -> None:
    """The settings and the file alone come to the same."""
    for folder in (".git", ".defect"):
        (tmp_path / "repo" / folder).mkdir(parents=True)
    write(tmp_path, probe["files"])
    merged = find_settings(find_layer_folders(tmp_path / "repo", local=True, env={})).outcome.errors
    alone = equipage.check([tmp_path / "repo"], env={}).errors
    for errors in (merged, alone):
        assert bool(errors) == (probe["expect"] == "invalid"), [str(each) for each in errors]
        if probe["error_facts"] and probe["error_facts"] != "invalid .mcp.json":
            assert any(probe["error_facts"] in each.message for each in errors)


@pytest.mark.requirement("MC-03")
def test_strict_only_beside_the_seeds_own_folder(tmp_path: Path) -> None:
    write(tmp_path, {".mcp.json": '{"mcpServers": {"a": {"type": "streamable-http", "url": "u"}}}'})
    assert equipage.check([tmp_path], env={}).errors == ()
    (tmp_path / ".defect").mkdir()
    assert [each.code for each in equipage.check([tmp_path], env={}).errors] == [
        "mcp-unknown-transport"
    ]


@pytest.mark.requirement("MC-04")
@pytest.mark.parametrize(
    ("path", "text", "server"),
    [
        (
            ".vscode/mcp.json",
            '{"servers": {"a": {"type": "http", "url": "u"}}}',
            {"transport": "http", "url": "u"},
        ),
        (
            ".cursor/mcp.json",
            '{"mcpServers": {"a": {"url": "u"}}}',
            {"transport": "http", "url": "u"},
        ),
        (
            ".copilot/mcp.json",
            '{"mcpServers": {"a": {"type": "local", "command": "c", "tools": ["*"]}}}',
            {"transport": "stdio", "command": "c", "settings": {"tools": ["*"]}},
        ),
        (
            ".gemini/settings.json",
            '{"mcpServers": {"a": {"url": "u"}}}',
            {"transport": "http", "url": "u"},
        ),
        (
            ".gemini/settings.json",
            '{"mcpServers": {"a": {"httpUrl": "u"}}}',
            {"transport": "http", "url": "u"},
        ),
        (
            ".codex/config.toml",
            '[mcp_servers.a]\ncommand = "c"\nargs = ["x"]\nenabled = false\n',
            {"transport": "stdio", "command": "c", "args": ["x"], "enabled": False},
        ),
        (
            "opencode.jsonc",
            '{"mcp": {"a": {"type": "local", "command": ["c", "x"], /* note */ }}}',
            {"transport": "stdio", "command": "c", "args": ["x"]},
        ),
        (
            "opencode.json",
            '{"mcp": {"servers": {"a": {"type": "remote", "url": "u"}}}}',
            {"transport": "http", "url": "u"},
        ),
    ],
)
def test_every_dialect(path: str, text: str, server: dict[str, Any], tmp_path: Path) -> None:
    write(tmp_path, {path: text})
    loaded = equipage.load(tmp_path / path, kind="mcp", env={})
    assert loaded.warnings == ()
    assert loaded.to_dict() == {"servers": {"a": server}}


@pytest.mark.parametrize(
    "text", ["[]", "5", "null", '{"mcpServers": []}', '{"mcpServers": {"a": 5}}', "{", ""]
)
@pytest.mark.parametrize("path", [".mcp.json", ".vscode/mcp.json", "opencode.json"])
def test_any_text_is_told_not_raised(path: str, text: str, tmp_path: Path) -> None:
    write(tmp_path, {path: text})
    report = equipage.check([tmp_path], env={})
    assert len(report.files) == 1
    assert not [each for each in report.diagnostics if each.code == "internal-error"]


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda each: each.tool)
def test_any_value_is_told_not_raised(dialect: Any, tmp_path: Path) -> None:
    path = dialect.paths[0].replace("{json,jsonc}", "json")
    if dialect.format != "json":
        return
    for wrong in (5, None, True, [1], {"a": [1]}, "x", ""):
        server = dict.fromkeys((field.name for field in dialect.fields), wrong)
        write(tmp_path, {path: json.dumps({dialect.top: {"a": server}})})
        report = equipage.check([tmp_path / path], kind="mcp", env={})
        assert not [each for each in report.diagnostics if each.code == "internal-error"]


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ('{"a": 1} // x', '{"a": 1}     '),
        ('{"a": "// no", /* b\n */ "c": [1, 2,],}', '{"a": "// no",     \n    "c": [1, 2 ] }'),
        ('{"a": "\\"/*"}', '{"a": "\\"/*"}'),
        ("[1, /* a */ // b\n , /* c */ ]", "[1,             \n           ]"),
        ("[1,, ]", "[1,  ]"),
        ('{"a": 1 /* b', '{"a": 1 /* b'),
        ('{"a": "b // c\n, }', '{"a": "b // c\n  }'),
        ("[1, /]", "[1, /]"),
    ],
)
def test_comments_become_blanks(text: str, plain: str) -> None:
    assert blank_comments(text) == plain
    assert len(blank_comments(text)) == len(text)


def test_places_behind_comments(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            ".vscode/mcp.json": '{\n  // a\n  "servers": {"a": {"type": "http", "url": "u", "hedaers": {}}}}'
        },
    )
    (found,) = equipage.check([tmp_path], env={}).diagnostics
    assert (found.code, found.span.line if found.span else None) == ("unknown-field", 3)


def test_the_first_file_is_a_good_one() -> None:
    example = format_named("mcp").presentation.example
    assert example is not None
    assert equipage.loads(example, kind="mcp").warnings == ()


def test_every_field_of_every_dialect_has_a_meaning() -> None:
    fields = [(each.tool, field) for each in DIALECTS for field in each.fields]
    assert [(tool, field.name) for tool, field in fields if not field.meaning] == []


def test_a_word_after_an_unknown_option_is_not_taken_for_a_package(tmp_path: Path) -> None:
    """It may be the option's value, and a secret: no message may name it."""
    servers = {"a": {"command": "npx", "args": ["-y", "--token", "s3cr3t-value", "pkg"]}}
    (tmp_path / ".mcp.json").write_text(json.dumps({"mcpServers": servers}))
    report = equipage.check(tmp_path, env={})
    assert "s3cr3t" not in "".join(map(str, report.diagnostics))
