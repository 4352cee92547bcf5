"""Without a marker, the sandbox is the folder that was given: never a working directory above it."""

from __future__ import annotations

from pathlib import Path

import pytest

import equipage
from equipage.toolpacks import ToolpackLoader, ToolpackValidationError
from lab import write

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
