"""Without a marker, the sandbox is the folder that was given: never a working directory above it."""

from __future__ import annotations

from pathlib import Path

import pytest

import equipage
from equipage.toolpacks import ToolpackLoader, ToolpackValidationError
from lab import Link, write

PACK = """\
id: a.b
version: 1.0.0
description: d
kind: cli
timeoutMs: 1
limits: {maxInputBytes: 1, maxOutputBytes: 1}
inputSchema: {$ref: REF}
outputSchema: {type: object}
execution: {kind: cli, cmd: [x]}
"""


@pytest.fixture
def packs(tmp_path: Path) -> Path:
    """A folder of packs that refer to a schema beside their own folder; no `.git` anywhere."""
    write(
        tmp_path,
        {
            "outside.json": '{"type": "object", "title": "CANARY"}',
            "packs/core/a.tool.yaml": PACK.replace("REF", "../schemas/x.json"),
            "packs/schemas/x.json": '{"type": "object"}',
        },
    )
    return tmp_path / "packs"


@pytest.mark.parametrize("cwd", [".", "packs", "packs/core", "/"])
def test_the_verdict_does_not_depend_on_the_working_directory(
    cwd: str, packs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(packs.parent / cwd)
    report = equipage.check([str(packs)], env={})
    assert "reference-escapes" not in [each.code for each in report.diagnostics]
    loader = ToolpackLoader()
    try:
        loader.load_dir(packs)
    except ToolpackValidationError as error:
        assert "reference-escapes" not in [each.code for each in error.diagnostics]


@pytest.mark.parametrize("cwd", [".", "packs", "/"])
def test_a_folder_above_is_never_opened(
    cwd: str, packs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (packs / "core" / "a.tool.yaml").write_text(PACK.replace("REF", "../../outside.json"))
    monkeypatch.chdir(packs.parent / cwd)
    report = equipage.check([str(packs)], env={})
    assert "reference-escapes" in [each.code for each in report.errors]
    assert "CANARY" not in "".join(map(str, report.diagnostics))
    with pytest.raises(ToolpackValidationError):
        ToolpackLoader().load_dir(packs)


def test_a_file_alone_may_read_its_own_folder_and_no_more(
    packs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(packs)
    with pytest.raises(equipage.LoadError) as caught:
        equipage.load("core/a.tool.yaml", env={})
    assert "reference-escapes" in [each.code for each in caught.value.errors]


# The library of a server.

_INCLUDING = "server: {name: x}\ntools: [{$include: t.yaml}]\n"
_TOOL = """\
tool: {name: a, description: d, inputSchema: {type: object}}
response: {content: [{type: text, text: done}]}
"""


@pytest.mark.requirement("F-010")
@pytest.mark.parametrize("mark", [".git/HEAD", "equipage.toml"])
def test_a_project_takes_no_library_from_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mark: str
) -> None:
    write(tmp_path, {f"project/{mark}": "", "project/s.yaml": _INCLUDING})
    write(tmp_path, {"elsewhere/library/t.yaml": _TOOL, "project/sub/library/t.yaml": _TOOL})
    for folder in ("project", "elsewhere", "project/sub", "."):
        monkeypatch.chdir(tmp_path / folder)
        found = equipage.check([tmp_path / "project/s.yaml"], env={}).diagnostics
        assert [each.code for each in found] == ["include-not-found"]
        assert "project/library, which does not exist" in str(found[0].help) or folder == "project"


@pytest.mark.requirement("F-010")
def test_the_nearest_library_above_a_file_counts_from_everywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, {".git/HEAD": "", "tj/servers/s.yaml": _INCLUDING, "tj/library/t.yaml": _TOOL})
    for folder in (".", "tj", "tj/servers", "tj/library", ".git"):
        monkeypatch.chdir(tmp_path / folder)
        assert equipage.check([tmp_path / "tj/servers/s.yaml"], env={}).ok


@pytest.mark.requirement("F-010")
def test_without_a_project_the_library_of_the_working_directory_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, {"servers/s.yaml": _INCLUDING, "library/t.yaml": _TOOL})
    monkeypatch.chdir(tmp_path)
    assert equipage.check(["servers/s.yaml"], env={}).ok


@pytest.mark.requirement("NFR-004")
def test_a_link_of_the_library_may_lead_where_the_caller_allows(tmp_path: Path) -> None:
    write(tmp_path, {"p/.git/HEAD": "", "p/s.yaml": _INCLUDING, "shared/t.yaml": _TOOL})
    write(tmp_path, {"p/library/t.yaml": Link("../../shared/t.yaml")})
    with pytest.raises(equipage.LoadError, match="leads outside"):
        equipage.load(tmp_path / "p/s.yaml", env={})
    loaded = equipage.load(tmp_path / "p/s.yaml", env={}, roots=[tmp_path / "shared"])
    assert loaded.config.baseline.tools[0].tool.name == "a"
