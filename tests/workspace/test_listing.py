"""Lists: layers, shadowing, and what could not be loaded."""

from __future__ import annotations

from pathlib import Path

import pytest

from equipage.cli import main
from equipage.loading.session import Request
from equipage.workspace import Workspace
from equipage.workspace.graph import list_all
from lab import repository, write

AGENT = "---\ndescription: {}\n---\nYou work.\n"


@pytest.fixture
def request_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Request:
    user = tmp_path / "xdg"
    project = repository(
        tmp_path / "project",
        {
            ".defect/agents/both.md": AGENT.format("the project's"),
            ".defect/agents/mine/config.toml": 'description = "a folder"\n[prompt]\ntext = "x"\n',
            ".defect/agents/bad.md": "---\ndescription: 5\n",
        },
    )
    write(
        user / "defect" / "agents",
        {
            "both.md": AGENT.format("the user's"),
            "yours.md": AGENT.format("the user's, too"),
            "mine/system.md": "no profile\n",
        },
    )
    monkeypatch.chdir(project)
    return Request(env={"XDG_CONFIG_HOME": str(user)}, shared=True)


def test_layers_and_what_they_shadow(request_here: Request, tmp_path: Path) -> None:
    rows = list_all(Workspace(["."], request_here))
    found = [
        (
            row.item.name if row.item else "",
            row.layer,
            row.shadowed_by,
            row.errors > 0,
            row.file.replace(str(tmp_path), ""),
        )
        for row in rows
    ]
    assert found == [
        ("", "project", None, True, ".defect/agents/bad.md"),
        ("both", "project", None, False, ".defect/agents/both.md"),
        ("mine", "project", None, False, ".defect/agents/mine/config.toml"),
        ("both", "user", ".defect/agents/both.md", False, "/xdg/defect/agents/both.md"),
        ("yours", "user", None, False, "/xdg/defect/agents/yours.md"),
    ]


@pytest.mark.requirement("PR-15")
def test_a_link_is_an_agent_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    agents = tmp_path / ".defect/agents"
    agents.mkdir(parents=True)
    (tmp_path / ".git").mkdir()
    (agents / "real.md").write_text(AGENT.format("one file, two names"))
    (agents / "alias.md").symlink_to("real.md")
    (tmp_path / "other").mkdir()
    (tmp_path / "other/config.toml").write_text(
        'description = "a folder"\nprompt = { text = "x" }\n'
    )
    (agents / "linked").symlink_to("../../other")
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub/.defect").symlink_to("../.defect")
    monkeypatch.chdir(tmp_path)
    request = Request(env={}, shared=True)
    assert [row.item.name for row in list_all(Workspace(["."], request)) if row.item] == [
        "alias",
        "linked",
        "real",
    ]
    files = {each.path: each.used_by for each in Workspace(["."], request).report().files}
    assert files == dict.fromkeys(
        (".defect/agents/alias.md", ".defect/agents/linked/config.toml", ".defect/agents/real.md"),
        (),
    )


def test_errors_of_the_user_can_be_checked(
    request_here: Request, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A check of the project does not look at the user's own files, so they are named.

    They are no fault of the project, so the exit code does not depend on them."""
    user = request_here.env["XDG_CONFIG_HOME"]
    monkeypatch.setenv("XDG_CONFIG_HOME", user)
    Path(user, "defect/agents/z.md").symlink_to("/dev/zero")
    Path(".defect/agents/bad.md").unlink()
    assert main(["list", "."]) == 0
    note = capsys.readouterr().err
    assert note == f"equipage: 1 file has errors; run `equipage check {user}/defect/agents/z.md`\n"
    assert main(["check", note.partition("equipage check ")[2].strip("`\n")]) == 1
    assert main(["list", f"{user}/defect"]) == 1


def test_a_link_out_of_the_project_is_listed_unread(
    request_here: Request, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "outside.md").write_text("---\nname: x\ndescription: not ours\n---\nx\n")
    Path(".claude/agents").mkdir(parents=True)
    Path(".claude/agents/x.md").symlink_to(tmp_path / "outside.md")
    (row,) = [
        row
        for row in list_all(Workspace([".claude"], request_here))
        if row.file == ".claude/agents/x.md"
    ]
    assert (row.kind, row.item, row.errors, row.warnings) == (None, None, 0, 1)
    main(["list", ".claude"])
    assert "(not read" in capsys.readouterr().out


def test_local_leaves_the_user_out(request_here: Request) -> None:
    local = Request(env=request_here.env, options={"local": True}, shared=True)
    assert {row.layer for row in list_all(Workspace(["."], local))} == {"project"}


@pytest.mark.requirement("PR-17")
def test_in_a_folder_of_the_project_its_layer_counts(
    request_here: Request, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("sub").mkdir()
    Path(".defect/skills/sk").mkdir(parents=True)
    Path(".defect/skills/sk/SKILL.md").write_text("---\nname: sk\ndescription: x\n---\nx\n")
    expected = {
        (row.item.name if row.item else "", row.layer, bool(row.shadowed_by))
        for row in list_all(Workspace(["."], request_here))
    }
    assert ("both", "user", True) in expected
    assert ("sk", "project", False) in expected
    named = list_all(Workspace([".defect/agents/both.md"], request_here))
    monkeypatch.chdir("sub")
    rows = list_all(Workspace(["."], request_here))
    assert {
        (row.item.name if row.item else "", row.layer, bool(row.shadowed_by)) for row in rows
    } == expected
    assert len(rows) == len(expected)
    assert "mine" not in {row.item.name for row in named if row.item}


def test_one_kind_alone(request_here: Request) -> None:
    assert {
        row.kind
        for row in list_all(Workspace([".defect/agents/both.md"], request_here, kind="profile"))
    } == {"profile"}


def test_an_agent_whose_name_is_not_utf_8_is_not_listed(
    request_here: Request, tmp_path: Path
) -> None:
    """The program sees no such entry."""
    try:
        write(tmp_path / "project/.defect/agents", {"a\udcff.md": AGENT.format("of nobody")})
    except OSError:
        pytest.skip("this system has no such names")
    assert "of nobody" not in str(list_all(Workspace(["."], request_here)))
