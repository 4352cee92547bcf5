"""Without a marker, the sandbox is the folder that was given: never a working directory above it.
Packs directly in it may refer to what lies beside it."""

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
deterministic: true
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


@pytest.fixture
def beside(tmp_path: Path) -> Path:
    """A folder of packs beside their schemas; no `.git` anywhere."""
    write(
        tmp_path,
        {
            "toolpacks/a.tool.yaml": PACK.replace("REF", "../schemas/x.json"),
            "schemas/x.json": '{"$ref": "more/y.json"}',
            "schemas/more/y.json": '{"type": "object"}',
        },
    )
    return tmp_path / "toolpacks"


def _escapes(folder: Path) -> list[bool]:
    """Whether a reference leads outside: what the loader says, and what a check says."""
    found = ToolpackLoader().find(folder).errors, equipage.check(folder, env={}).errors
    return ["reference-escapes" in [each.code for each in errors] for errors in found]


def test_packs_may_refer_to_what_lies_beside_the_folder_that_was_given(beside: Path) -> None:
    assert _escapes(beside) == [False, False]
    assert equipage.check(beside / "a.tool.yaml", env={}).errors[0].code == "reference-escapes"
    (beside.parent / "schemas/x.json").write_text('{"$ref": "../../far.json"}')
    assert _escapes(beside) == [True, True]


@pytest.mark.parametrize("mark", [".git/HEAD", "equipage.toml", "pyproject.toml"])
def test_a_project_is_not_left_even_to_what_lies_beside_it(beside: Path, mark: str) -> None:
    write(beside, {mark: ""})
    assert _escapes(beside) == [True, True]


def test_nothing_is_beside_a_folder_in_the_home_folder_or_one_for_all(
    beside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(beside.parent))
    assert _escapes(beside) == [True, True]
    monkeypatch.delenv("HOME")
    assert _escapes(beside) == [False, False]
    beside.parent.chmod(0o777)
    assert _escapes(beside) == [True, True]


def test_a_pyproject_marks_a_project_where_no_git_does(
    packs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = packs.parent
    (packs / "core" / "a.tool.yaml").write_text(PACK.replace("REF", "../../outside.json"))
    (folder / "pyproject.toml").write_text('[project]\nname = "p"\n')
    for given in (folder, packs, packs / "core"):
        assert _escapes(given) == [False, False]
    assert equipage.load(packs / "core" / "a.tool.yaml", env={}).config.id == "a.b"
    monkeypatch.setenv("HOME", str(folder))  # what lies there is of no single project
    assert _escapes(packs) == [True, True]


def test_the_pyproject_of_a_part_does_not_end_a_project(packs: Path) -> None:
    folder = packs.parent
    (packs / "core" / "a.tool.yaml").write_text(PACK.replace("REF", "../../outside.json"))
    (packs / "pyproject.toml").write_text("")
    assert _escapes(packs) == [True, True]
    assert _escapes(folder) == [False, False]
    write(folder, {".git/HEAD": ""})
    assert _escapes(packs) == [False, False]


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
