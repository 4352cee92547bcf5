"""Skills of the seed's own format: what the original decides, and the layers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import equipage
from equipage.clients.skills import variant_of
from equipage.files.disk import Disk
from equipage.files.reading import Files
from equipage.formats.defect.discovery import find_layer_folders
from equipage.formats.defect.skill import STRICT_SKILL, discover_skills, find_skills
from equipage.loading.session import Request
from equipage.workspace import Workspace
from equipage.workspace.graph import list_all
from lab import shared_probes, write


@pytest.mark.requirement("SK-01", "SK-02", "SK-03", "SK-04", "SK-05", "SK-06", "SK-07")
@pytest.mark.parametrize("probe", shared_probes("skills"))
def test_probe(probe: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "proj" / ".git").mkdir(parents=True)
    write(tmp_path, probe["files"])
    places = find_layer_folders(tmp_path / "proj", xdg_config_home=tmp_path / "xdg", env={})
    errors = find_skills(places).errors
    assert bool(errors) == (probe["expect"] == "invalid"), [str(each) for each in errors]
    if probe["error_facts"]:
        assert any(probe["error_facts"] in each.message for each in errors)


@pytest.mark.requirement("SK-01")
def test_the_project_replaces_the_user(tmp_path: Path) -> None:
    skill = '+++\nname = "{}"\ndescription = "{}"\n+++\n\n  body of {}\n'
    (tmp_path / "p" / ".git").mkdir(parents=True)
    write(
        tmp_path,
        {
            "p/.defect/skills/a/SKILL.md": skill.format("a", "project", "a"),
            "x/defect/skills/a/SKILL.md": skill.format("a", "user", "a"),
            "x/defect/skills/b/SKILL.md": skill.format("b", "user", "b"),
            "p/.defect/skills/loose.md": "no skill",
            "p/.defect/skills/empty/notes.md": "no skill",
        },
    )
    skills = discover_skills(tmp_path / "p", xdg_config_home=tmp_path / "x", env={})
    assert {name: skill.description for name, skill in skills.items()} == {
        "a": "project",
        "b": "user",
    }
    assert skills["a"].body == "body of a"
    assert [each.layer for each in skills.found if each.shadowed_by] == ["user"]
    assert len(skills) == 2
    assert list(discover_skills(tmp_path / "p", local=True, env={})) == ["a"]
    write(tmp_path, {"p/.defect/skills/c/SKILL.md": "no header"})
    with pytest.raises(equipage.LoadError, match="must start with"):
        discover_skills(tmp_path / "p", local=True, env={})


def test_strict_by_place() -> None:
    assert variant_of("/r/.defect/skills/a/SKILL.md", Files(Disk())) is STRICT_SKILL
    assert variant_of("/home/u/.config/defect/skills/a/SKILL.md", Files(Disk())) is STRICT_SKILL
    assert variant_of("/r/.claude/skills/a/SKILL.md", Files(Disk())) is not STRICT_SKILL
    assert variant_of("/r/skills/a/SKILL.md", Files(Disk())) is not STRICT_SKILL


def test_the_same_file_elsewhere_is_tolerated(tmp_path: Path) -> None:
    text = "---\nname: a\ndescription: b\nlicense: MIT\nmetadata: {author: x}\n---\nbody\n"
    write(tmp_path, {".defect/skills/a/SKILL.md": text, "skills/a/SKILL.md": text})
    report = equipage.check([tmp_path], env={})
    assert [each.ok for each in report.files] == [False, True]


@pytest.mark.parametrize(
    ("folder", "text", "errors"),
    [
        (".opencode", "name: b", []),
        (".opencode", "description: b", ["missing-field"]),
        (".opencode", "name: a\ndescription: 5", ["number-as-text"]),
        (".opencode", "name: a\ndescription: 2024-01-01", ["wrong-type"]),
        (".opencode", "name: a\ndescription: b\ndescription: c", ["duplicate-key"]),
        (".codex", "name: a", ["missing-field"]),
        (".codex", "description: b", []),
        (".codex", "name: a\ndescription: 5", []),
        (".codex", "name: a\ndescription: [b]", ["wrong-type"]),
        (".codex", "name: a\ndescription: b\ndescription: c", ["duplicate-key"]),
        (".gemini", "description: b", ["missing-field"]),
        (".gemini", "name: a\ndescription: b\ndescription: c", []),
        (".github", "name: a", []),
        (".github", "name: a\ndescription:", ["wrong-type"]),
        (".github", "name: a\ndescription: 5", ["number-as-text"]),
        (".claude", "name: a\ndescription: [b]", ["wrong-type"]),
        (".claude", "name: a\ndescription: {{TEXT}}", ["wrong-type"]),
        (".claude", "name: a\ndescription: b\ndescription: c", []),
    ],
)
def test_each_tool_drops_other_skills(
    tmp_path: Path, folder: str, text: str, errors: list[str]
) -> None:
    write(tmp_path, {f"{folder}/skills/a/SKILL.md": f"---\n{text}\n---\nbody\n"})
    report = equipage.check([tmp_path], env={})
    assert [each.code for each in report.errors] == errors


@pytest.mark.parametrize("folder", [".codex", ".gemini"])
def test_a_byte_order_mark_hides_the_header(tmp_path: Path, folder: str) -> None:
    text = "\ufeff---\nname: a\ndescription: b\n---\nbody\n"
    write(tmp_path, {f"{folder}/skills/a/SKILL.md": text})
    report = equipage.check([tmp_path], env={})
    assert [each.code for each in report.errors] == ["header-not-first"]


SKILL = "---\nname: {}\ndescription: {}\n---\nbody\n"


@pytest.mark.requirement("SK-03")
def test_a_skill_has_the_name_of_the_folder_it_is_found_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".git").mkdir()
    write(
        tmp_path,
        {"o/SKILL.md": SKILL.format("a", "x"), ".claude/skills/b/SKILL.md": SKILL.format("b", "y")},
    )
    (tmp_path / ".defect/skills").mkdir(parents=True)
    (tmp_path / ".defect/skills/a").symlink_to("../../o")
    (tmp_path / ".claude/skills/a").symlink_to("../../o")
    monkeypatch.chdir(tmp_path)
    assert list(discover_skills(".", local=True, env={})) == ["a"]
    report = equipage.check([".defect", ".claude"], env={})
    assert [(each.path, each.ok) for each in report.files] == [
        (".claude/skills/a/SKILL.md", True),
        (".claude/skills/b/SKILL.md", True),
        (".defect/skills/a/SKILL.md", True),
    ]
    assert report.diagnostics == ()


@pytest.mark.requirement("SK-01")
@pytest.mark.parametrize("name", [".defect", ".defect/skills"])
def test_a_file_in_the_place_of_the_layer(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".git").mkdir()
    write(tmp_path, {name: "a file"})
    monkeypatch.chdir(tmp_path)
    with pytest.raises(
        equipage.LoadError,
        match=r"\.defect/skills: error\[layer-unreadable\] cannot list the folder",
    ):
        discover_skills(".", local=True, env={})
    (told,) = equipage.check(["."], env={}).diagnostics
    assert told.code == "layer-unreadable"


def test_a_relative_config_home_is_told(tmp_path: Path) -> None:
    (found,) = find_skills(find_layer_folders(tmp_path, env={"XDG_CONFIG_HOME": "."})).diagnostics
    assert (
        str(found)
        == "equipage: warning[variable-ignored] XDG_CONFIG_HOME is not an absolute path and is ignored"
    )


@pytest.mark.requirement("SK-01")
def test_the_list_says_which_skill_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(
        tmp_path,
        {
            "p/.defect/skills/sk/SKILL.md": SKILL.format("sk", "project"),
            "p/.claude/skills/sk/SKILL.md": SKILL.format("sk", "of another tool"),
            "x/defect/skills/sk/SKILL.md": SKILL.format("sk", "user"),
            "x/defect/skills/us/SKILL.md": SKILL.format("us", "user"),
        },
    )
    monkeypatch.chdir(tmp_path / "p")
    rows = list_all(
        Workspace(["."], Request(env={"XDG_CONFIG_HOME": str(tmp_path / "x")}, shared=True))
    )
    assert [(row.item.name if row.item else "", row.layer, row.shadowed_by) for row in rows] == [
        ("sk", None, None),
        ("sk", "project", None),
        ("sk", "user", ".defect/skills/sk/SKILL.md"),
        ("us", "user", None),
    ]
