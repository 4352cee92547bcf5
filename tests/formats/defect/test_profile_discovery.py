"""Finding profiles: which folders, which entries, which of two with one name."""

from __future__ import annotations

import os
import pickle
from pathlib import Path
from typing import Any

import pytest

import equipage
from equipage.formats.defect.discovery import find_layer_folders
from equipage.formats.defect.profile import profiles_of

SINGLE = "+++\ndescription = '{}'\n+++\nbody\n"


def project(folder: Path) -> Path:
    """The `agents` folder of a repository."""
    agents = folder / ".defect" / "agents"
    agents.mkdir(parents=True)
    (folder / ".git").mkdir()
    return agents


@pytest.fixture
def agents(tmp_path: Path) -> Path:
    return project(tmp_path)


@pytest.mark.requirement("PR-15", "PR-16", "PR-17")
def test_the_mapping(tmp_path: Path) -> None:
    agents = project(tmp_path / "repo")
    (agents / "b.md").write_text(SINGLE.format("project b"))
    (agents / "a.md").write_text(SINGLE.format("project a"))
    user = tmp_path / "xdg" / "defect" / "agents"
    user.mkdir(parents=True)
    (user / "a.md").write_text(SINGLE.format("user a"))
    (user / "c.md").write_text(SINGLE.format("user c"))
    profiles = equipage.discover_profiles(tmp_path / "repo", xdg_config_home=tmp_path / "xdg")
    assert list(profiles) == ["a", "b", "c"]
    assert {name: profile.layer for name, profile in profiles.items()} == {
        "a": "project",
        "b": "project",
        "c": "user",
    }
    assert profiles["a"].description == "project a"
    assert profiles["a"].file == agents / "a.md"
    assert profiles["a"].dir == agents
    assert profiles["a"].variant == "file"
    assert [each.description for each in profiles.shadowed] == ["user a"]
    assert [each.code for each in profiles.warnings] == ["profile-shadows"]
    assert len(profiles.sources) == 4
    with pytest.raises(KeyError, match="known: a, b, c"):
        profiles["d"]
    assert "d" not in profiles
    assert pickle.loads(pickle.dumps(profiles))["a"] == profiles["a"]
    with pytest.raises(TypeError):
        profiles["a"].hooks["before_ingest"] = ()  # type: ignore[index]


@pytest.mark.requirement("PR-17")
def test_a_profile_explains_where_its_prompt_came_from(agents: Path, tmp_path: Path) -> None:
    folder = agents / "p"
    folder.mkdir()
    (folder / "config.toml").write_text(
        "description = 'x'\n[default]\nmodel = 'm'\n[prompt]\nfile = 'p.md'\n"
    )
    (folder / "p.md").write_text("prompt")
    loaded = equipage.discover_profiles(tmp_path, env={}).loaded("p")
    explained = loaded.explain("prompt.text")
    assert explained.settings[-1].span is not None
    assert explained.settings[-1].span.source.path == folder / "p.md"
    assert [(each.how, each.span and each.span.line) for each in explained.through] == [
        ("read from here", 5)
    ]
    model = loaded.locate("model")
    assert model is not None
    assert model.line == 3
    assert loaded.explain("default.model").value == "m"


@pytest.mark.requirement("PR-16")
def test_every_error_of_every_profile_is_raised_together(agents: Path, tmp_path: Path) -> None:
    (agents / "a.md").write_text("+++\nmodel = 5\n+++\n")
    (agents / "b.md").write_text("no header")
    with pytest.raises(equipage.LoadError) as caught:
        equipage.discover_profiles(tmp_path, env={})
    assert [each.code for each in caught.value.errors] == [
        "missing-field",
        "wrong-type",
        "header-missing",
    ]


@pytest.mark.requirement("PR-16")
def test_a_broken_user_profile_is_an_error_even_when_it_is_shadowed(tmp_path: Path) -> None:
    agents = project(tmp_path / "repo")
    (agents / "a.md").write_text(SINGLE.format("fine"))
    user = tmp_path / "xdg" / "defect" / "agents"
    user.mkdir(parents=True)
    (user / "a.md").write_text("broken")
    with pytest.raises(equipage.LoadError):
        equipage.discover_profiles(tmp_path / "repo", xdg_config_home=tmp_path / "xdg")
    assert list(
        equipage.discover_profiles(tmp_path / "repo", xdg_config_home=tmp_path / "xdg", local=True)
    ) == ["a"]


@pytest.mark.requirement("PR-18")
@pytest.mark.parametrize(
    ("entry", "name"),
    [
        ("reviewer.md", "reviewer"),
        (".hidden.md", ".hidden"),
        ("a.agent.md", "a.agent"),
        ("with blank.md", "with blank"),
        ("Größe.md", "Größe"),
        ("..md", "."),
        ("...md", ".."),
        (".md", None),
        ("x.MD", None),
        ("x.markdown", None),
        ("x.toml", None),
        ("x", None),
    ],
)
def test_what_counts_as_a_profile(
    entry: str, name: str | None, agents: Path, tmp_path: Path
) -> None:
    (agents / entry).write_text(SINGLE.format("x"))
    assert list(equipage.discover_profiles(tmp_path, env={})) == ([name] if name else [])


@pytest.mark.requirement("PR-16")
def test_good_profiles_are_found_beside_broken_ones(agents: Path, tmp_path: Path) -> None:
    user = tmp_path / "home/.config/defect/agents"
    user.mkdir(parents=True)
    for file in (agents / "good.md", agents / "twice.md", user / "broken.md", user / "own.md"):
        file.write_text(SINGLE.format(file.stem))
    (agents / "broken.md").write_text("+++\nmodel = 'm'\n+++\n")
    (agents / "twice").mkdir()
    (agents / "twice/config.toml").write_text("description = 'd'\nprompt = {text = 't'}\n")
    found = equipage.find_profiles(tmp_path, home_dir=tmp_path / "home", env={})
    # The user's profile does not take the place of a broken one, and no one chooses between two.
    assert [(each.name, each.layer) for each in found.profiles] == [
        ("good", "project"),
        ("own", "user"),
    ]
    assert [each.code for each in found.errors] == ["missing-field", "duplicate-profile"]
    with pytest.raises(equipage.LoadError) as caught:
        equipage.discover_profiles(tmp_path, home_dir=tmp_path / "home", env={})
    assert str(caught.value) == "\n".join(map(str, found.errors))


@pytest.mark.requirement("PR-19")
@pytest.mark.parametrize(
    "find",
    [
        equipage.discover_profiles,
        equipage.find_profiles,
        equipage.discover_skills,
        equipage.load_settings,
    ],
)
def test_the_home_folder_has_the_name_of_the_seed_too(find: Any, tmp_path: Path) -> None:
    project(tmp_path)
    find(tmp_path, home_dir=tmp_path, env={})
    with pytest.raises(equipage.UsageError, match="one argument"):
        find(tmp_path, home=tmp_path, home_dir=tmp_path, env={})


@pytest.mark.requirement("PR-18")
def test_a_folder_called_like_a_file_is_not_a_profile(agents: Path, tmp_path: Path) -> None:
    (agents / "x.md").mkdir()
    assert not equipage.discover_profiles(tmp_path, env={})


@pytest.mark.requirement("PR-20")
@pytest.mark.parametrize("name", ["pipe.md", "pipe/config.toml"])
def test_a_pipe_does_not_block(name: str, agents: Path, tmp_path: Path) -> None:
    target = agents / name
    target.parent.mkdir(exist_ok=True)
    os.mkfifo(target)
    discovery = profiles_of(find_layer_folders(tmp_path, env={}))
    assert [each.code for each in discovery.diagnostics] in (
        ["file-not-regular"],
        ["profile-overlooked"],
    )


@pytest.mark.requirement("PR-18")
def test_a_dangling_link_is_an_error(agents: Path, tmp_path: Path) -> None:
    (agents / "x.md").symlink_to("nowhere")
    assert [each.code for each in profiles_of(find_layer_folders(tmp_path, env={})).errors] == [
        "file-missing"
    ]


@pytest.mark.requirement("PR-19")
@pytest.mark.parametrize(
    ("arguments", "env", "expected"),
    [
        (
            {"xdg_config_home": "/x", "home": "/h"},
            {"XDG_CONFIG_HOME": "/e", "HOME": "/eh"},
            "/x/defect",
        ),
        ({"home": "/h"}, {"XDG_CONFIG_HOME": "/e", "HOME": "/eh"}, "/e/defect"),
        ({"home": "/h"}, {"HOME": "/eh"}, "/h/.config/defect"),
        ({}, {"HOME": "/eh"}, "/eh/.config/defect"),
        ({}, {"XDG_CONFIG_HOME": "", "HOME": "/eh"}, "/eh/.config/defect"),
        ({}, {"XDG_CONFIG_HOME": "relative", "HOME": "/eh"}, "/eh/.config/defect"),
        ({}, {"XDG_CONFIG_HOME": "/a\udcff", "HOME": "/eh"}, "/eh/.config/defect"),
        ({}, {"HOME": "."}, None),
        ({}, {}, None),
        ({"local": True, "xdg_config_home": "/x"}, {}, None),
    ],
)
def test_the_config_home(
    arguments: dict[str, str], env: dict[str, str], expected: str | None, tmp_path: Path
) -> None:
    assert find_layer_folders(tmp_path, env=env, **arguments).user == expected  # type: ignore[arg-type]


@pytest.mark.requirement("PR-19")
def test_the_root_of_the_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = Path(os.path.realpath(tmp_path))
    inner = root / "outer" / "module" / "deep"
    inner.mkdir(parents=True)
    (root / "outer" / ".git").mkdir()
    assert find_layer_folders(inner, env={}).root == str(root / "outer")
    (root / "outer" / "module" / ".git").write_text("gitdir: ../.git/modules/module")
    assert find_layer_folders(inner, env={}).root == str(root / "outer" / "module")
    (inner / ".git").symlink_to("nowhere")
    assert find_layer_folders(inner, env={}).root == str(root / "outer" / "module")
    monkeypatch.chdir(inner)
    assert find_layer_folders(".", env={}).root == str(root / "outer" / "module")
    (root / "link").symlink_to(inner)
    assert find_layer_folders(root / "link", env={}).root == str(root / "outer" / "module")


@pytest.mark.requirement("PR-01")
def test_a_profile_can_be_loaded_alone(agents: Path) -> None:
    (agents / "x.md").write_text(SINGLE.format("x"))
    loaded = equipage.load(agents / "x.md")
    assert loaded.kind == "profile"
    assert loaded.config.prompt.text == "body"
    assert loaded.config.tools.allow == ("read_file", "search")
    assert equipage.loads(SINGLE.format("x"), kind="profile").config.description == "x"
