"""Where the layers of a configuration are: the user's and the project's."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from equipage.core.diagnostics import UsageError
from equipage.files.disk import Disk
from equipage.formats.defect.discovery import (
    PROJECT_FOLDER,
    USER_FOLDER,
    find_layer_folders,
    layer_unreadable_fact,
    resolve_parent_links,
)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    (root / "sub").mkdir(parents=True)
    (root / ".git").mkdir()
    (root / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    return root


def test_the_layers_of_a_project(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (project.parent / "link").symlink_to("project/sub")
    found = find_layer_folders(project.parent / "link", env={})
    assert found.cwd == str(project / "sub")
    assert found.root == str(project)
    assert found.project == str(project / PROJECT_FOLDER)
    assert (found.user, found.ignored) == (None, ())
    alone = find_layer_folders(project.parent, env={})
    assert (alone.root, alone.project) == (None, None)
    monkeypatch.chdir(project / "sub")
    monkeypatch.setenv("XDG_CONFIG_HOME", "/xdg")
    here = find_layer_folders()
    assert (here.cwd, here.user) == (str(project / "sub"), os.path.join("/xdg", USER_FOLDER))
    assert find_layer_folders(local=True).user is None


def test_the_first_that_is_named_gives_the_layer_of_the_user(project: Path) -> None:
    both = {"XDG_CONFIG_HOME": "/x", "HOME": "/h"}
    below = os.path.join(".config", USER_FOLDER)
    for given, env, user, ignored in (
        ({"xdg_config_home": "/a", "home": "/b"}, both, f"/a/{USER_FOLDER}", ()),
        ({"home": "/b"}, both, f"/x/{USER_FOLDER}", ()),
        ({"home": "/b"}, {"HOME": "/h"}, f"/b/{below}", ()),
        ({}, {"HOME": "/h"}, f"/h/{below}", ()),
        ({}, {}, None, ()),
        ({}, {"XDG_CONFIG_HOME": "x", "HOME": "/h"}, f"/h/{below}", ("XDG_CONFIG_HOME",)),
        ({}, {"HOME": "h"}, None, ("HOME",)),
        ({}, {"XDG_CONFIG_HOME": "", "HOME": ""}, None, ()),
        ({}, {"HOME": "/a\0b"}, None, ("HOME",)),
        ({}, {"HOME": "/a\ud800"}, None, ("HOME",)),
        ({}, {"HOME": "/a\udfff"}, None, ("HOME",)),
        ({}, {"HOME": "/a\ud7ff\ue000"}, f"/a\ud7ff\ue000/{below}", ()),
    ):
        found = find_layer_folders(project, env=env, **given)
        assert (found.user, found.ignored) == (user, ignored)


def test_what_is_no_place_is_refused_by_name(project: Path) -> None:
    for given, words in (
        ({"env": [("HOME", "/h")]}, r"^`env`: expected a mapping of names to values, found list$"),
        ({"env": {"HOME": 5}}, r"env\['HOME'\]"),
        ({"env": {}, "home": 5}, "^`home`: "),
        ({"env": {}, "xdg_config_home": 5}, "^`xdg_config_home`: "),
    ):
        with pytest.raises(UsageError, match=words):
            find_layer_folders(project, **given)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match=r"^`cwd`: "):
        find_layer_folders(5, env={})  # type: ignore[arg-type]


def test_the_last_parts_of_an_entry_are_kept_as_they_are(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "real").mkdir()
    (project / "link").symlink_to("real")
    (project / "real" / "inner").symlink_to("../sub")
    assert resolve_parent_links(str(project / "link" / "inner" / "a"), 2, Disk()) == str(
        project / "real" / "inner" / "a"
    )
    assert resolve_parent_links(str(project / "link" / "inner" / "a"), 1, Disk()) == str(
        project / "sub" / "a"
    )
    assert resolve_parent_links("/a", 1, Disk()) == "/a"
    monkeypatch.chdir(project / "link")
    assert resolve_parent_links("x", 1, Disk()) == str(project / "real" / "x")


def test_a_layer_that_cannot_be_listed_says_why() -> None:
    assert layer_unreadable_fact(PermissionError(13, "Permission denied")).values == {
        "reason": "Permission denied"
    }
    assert layer_unreadable_fact(OSError("odd")).values == {"reason": "odd"}
