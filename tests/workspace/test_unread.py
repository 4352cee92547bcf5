"""What is known and not read is named once for each sort and project; every row is reachable."""

from __future__ import annotations

from pathlib import Path

import pytest

import equipage
from equipage.clients.index import UNREAD
from equipage.clients.unread import unread_sort
from equipage.files.disk import Disk
from equipage.files.walking import expand_choices, walk, walk_files
from equipage.loading.session import Request
from equipage.project.recognise import names_with_place, recognise
from equipage.project.registry import BUILT_IN, agent_folders, conventions
from equipage.project.settings import project_of
from equipage.workspace.find import Wanted
from lab import write


def example(glob: str) -> str:
    """A path that a glob without choices matches."""
    return glob.replace("**/", "deep/er/").replace("*", "name")


ROWS = [
    (row.kind, each)
    for row in (*BUILT_IN, *conventions())
    for glob in row.paths
    for each in expand_choices(glob)
    if not each.startswith((".config/", "config/", "xdg/"))  # folders of a user, in no project
]


def test_every_row_of_a_table_is_reachable(tmp_path: Path) -> None:
    """A walk comes to every place that a table names, and finds the kind of the table there."""
    for number, (_, glob) in enumerate(ROWS):
        write(tmp_path / f"p{number}", {example(glob): ""})
    run = Request(env={}).new_run()
    found = {each.path for each in walk(str(tmp_path), agent_folders(), Disk(), Wanted(run))}
    for number, (kind, glob) in enumerate(ROWS):
        path = str(tmp_path / f"p{number}" / example(glob))
        assert path in found, (kind, glob)
        assert recognise(path, project_of(path, run), run).by == "path", (kind, glob)


@pytest.mark.parametrize(("sort", "globs"), UNREAD, ids=lambda each: str(each)[:30])
def test_rows_of_what_is_not_read(sort: str, globs: tuple[str, ...]) -> None:
    for glob in globs:
        for each in expand_choices(glob):
            folder, name = f"/r/{example(each)}".rsplit("/", 1)
            assert unread_sort(f"{folder}/{name}") == sort, each
            names, ends = names_with_place(f"{folder}/")
            assert name in names or name.lower().endswith(ends), each


def test_one_note_for_each_sort_and_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    files = {f".junie/{name}.md": "text" for name in "abc"}
    write(
        tmp_path, {**files, ".goosehints": "x", "sub/.goosehints": "y", ".claude/agents/a.md": "t"}
    )
    report = equipage.check(["."], env={})
    notes = [(each.code, each.file, each.message) for each in report.notes]
    assert notes == [
        (
            "not-read",
            ".goosehints",
            "Goose file: known by its place, but not read; 1 more such file",
        ),
        (
            "not-read",
            ".junie/a.md",
            "Junie file: known by its place, but not read; 2 more such files",
        ),
    ]
    assert [each.path for each in report.files] == [".claude/agents/a.md"]


#: Names that were kinds once → a file of each.
REMOVED = {
    "a2a-card": (".well-known/agent-card.json", "{}"),
    "agentic-workflow-lock": (".github/workflows/a.lock.yml", "on: push\n"),
    "aider-config": (".aider.conf.yml", "model: m\n"),
    "claude-keybindings": (".claude/keybindings.json", "{}"),
    "crewai-agents": ("config/agents.yaml", "a: {}\n"),
    "crewai-tasks": ("config/tasks.yaml", "a: {}\n"),
    "docker-agent": ("a.yaml", "agents: {a: {model: m, instruction: i}}\n"),
    "fastmcp": ("fastmcp.json", "{}"),
    "foundry-agent": ("agent.yaml", "kind: Prompt\ninstructions: Help.\n"),
    "langgraph": ("langgraph.json", "{}"),
    "mcp-bundle": ("a.json", '{"dxt_version": "0.1", "server": {"entry_point": "a.js"}}'),
    "mcp-registry": ("a.json", '{"name": "a/b", "packages": [{"registryType": "npm"}]}'),
}


@pytest.mark.parametrize("kind", REMOVED)
def test_files_of_frameworks_are_known_and_of_no_kind(kind: str, tmp_path: Path) -> None:
    name, text = REMOVED[kind]
    write(tmp_path, {name: text})
    report = equipage.check([tmp_path], env={})
    assert [(each.code, each.count) for each in report.diagnostics] == [("not-read", 1)]
    assert report.files == ()
    # As any other file that a caller names and no kind recognises.
    (error,) = equipage.check([tmp_path / name], env={}).errors
    assert error.code == "unrecognised"
    with pytest.raises(equipage.UsageError, match=f"there is no kind `{kind}`"):
        equipage.check([tmp_path], kind=kind, env={})


OATF = "attack in the Open Agent Threat Format (OATF)"


@pytest.mark.parametrize("name", ["attack.yaml", "library/x.yml", "x.json"])
@pytest.mark.parametrize("version", ["0.1", '"0.1"', '"1.0-draft"'])
def test_an_attack_of_the_later_format_is_named(name: str, version: str, tmp_path: Path) -> None:
    text = f'{{"oatf": {version}, "attack": {{"execution": {{"mode": "mcp_server"}}}}}}'
    write(tmp_path, {name: text})
    (note,) = equipage.check([tmp_path], env={}).diagnostics
    assert (note.code, note.severity) == ("not-read", "note")
    assert note.message == f"{OATF}: known by its content, but not read"
    (error,) = equipage.check([tmp_path / name], env={}).errors
    assert error.code == "unrecognised"
    assert f"it is known as {OATF}, and not read" in str(error.help)


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("a.json", "conventions = false\n"),
        ("langgraph.json", "conventions = false\n"),
        ("skills/s/assets/a.json", ""),
        ("skills/s/langgraph.json", ""),
    ],
)
def test_nothing_is_said_where_files_of_tools_do_not_count(
    name: str, settings: str, tmp_path: Path
) -> None:
    """Whether a place or the content says what a file is."""
    skill = "---\nname: s\ndescription: d\n---\nText.\n"
    text = REMOVED["mcp-registry"][1]
    write(tmp_path, {name: text, "skills/s/SKILL.md": skill, "equipage.toml": settings})
    assert equipage.check([tmp_path], env={}).notes == ()


def test_bytes_that_are_no_text_do_not_hide_what_a_file_is(tmp_path: Path) -> None:
    write(tmp_path, {"a.yaml": REMOVED["docker-agent"][1].encode() + b"# \xff\n"})
    (note,) = equipage.check([tmp_path], env={}).diagnostics
    assert note.message == "Docker Agent configuration: known by its content, but not read"


def test_hidden_folders_are_looked_through_for_known_names(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "skills/.curated/pdf/SKILL.md": "---\nname: pdf\ndescription: x\n---\n",
            "skills/.curated/pdf/notes.md": "",
            ".changeset/x.md": "---\nname: a\ndescription: b\ntools: Read\n---\n",
            ".cache/SKILL.md": "",
        },
    )
    wanted = Wanted(Request(env={}).new_run())
    found = [each.path for each in walk(str(tmp_path), agent_folders(), Disk(), wanted)]
    assert [str(Path(each).relative_to(tmp_path)) for each in found] == [
        "skills/.curated/pdf/SKILL.md"
    ]
    assert list(walk_files(str(tmp_path / ".changeset"), agent_folders(), Disk()))


def test_the_settings_of_a_user_are_entered_for_agent_tools_alone(tmp_path: Path) -> None:
    agent = "---\ndescription: d\npermision: {}\n---\nText.\n"
    write(
        tmp_path,
        {
            ".config/opencode/agent/a.md": agent,
            ".config/opencode/plugin/p.ts": "",
            ".config/goose/config.yaml": "{}",
            ".config/browser/opencode/agent/a.md": agent,
            "dot/.config/zed/settings.json": "{}",
        },
    )
    report = equipage.check([tmp_path], env={})
    found = [each.path.removeprefix(f"{tmp_path}/") for each in report.files]
    assert found == [".config/goose/config.yaml", ".config/opencode/agent/a.md"]
    assert sorted(each.message.partition(":")[0] for each in report.notes) == [
        "OpenCode plugin",
        "Zed file",
    ]


@pytest.mark.parametrize(
    ("name", "text", "code"),
    [
        ("templates/opencode.json", '{"platform": "p", "frontmatter": {}}', "possible-kind"),
        ("templates/opencode.json", '{"modle": "m", "agent": {}}', "unknown-field"),
        ("templates/amp.json", '{"gain": 1}', "possible-kind"),
        ("opencode.json", '{"permision": "deny"}', "unknown-field"),
    ],
)
def test_a_name_alone_makes_no_file_a_client_s(
    name: str, text: str, code: str, tmp_path: Path
) -> None:
    """Below the root of a project; there, a client reads the file whatever it holds."""
    write(tmp_path, {name: text, ".git/HEAD": ""})
    assert [each.code for each in equipage.check([tmp_path], env={}).diagnostics] == [code]


def test_commands_of_an_extension_are_read(tmp_path: Path) -> None:
    """As Gemini CLI reads them: at any depth, and only where there is an extension."""
    extension = '{"name": "docs", "version": "1.0.0"}'
    command = 'promt = "Look it up."\n'
    write(
        tmp_path,
        {
            "gemini-extension.json": extension,
            "commands/find.toml": command,
            "commands/more/look.toml": command,
            "other/commands/find.toml": command,
        },
    )
    report = equipage.check([tmp_path], env={})
    kinds = {each.path.removeprefix(f"{tmp_path}/"): each.kind for each in report.files}
    assert kinds == {
        "commands/find.toml": "gemini-command",
        "commands/more/look.toml": "gemini-command",
        "gemini-extension.json": "gemini-extension",
    }
    assert {each.code for each in report.errors} == {"missing-field"}


def test_hooks_that_a_manifest_names_are_read(tmp_path: Path) -> None:
    """Claude Code runs them, whatever the file is called."""
    manifest = '{"name": "p", "version": "1.0.0", "description": "d", "author": {"name": "A"}, '
    hook = '{"hooks": {"SessionStrat": []}}'
    write(
        tmp_path,
        {
            ".claude-plugin/plugin.json": manifest + '"hooks": "./hooks/for-claude.json"}',
            "hooks/for-claude.json": hook,
            "hooks/for-others.json": hook,
        },
    )
    (error,) = equipage.check([tmp_path], env={}).errors
    assert (error.code, str(error.name).rpartition("/")[2]) == (
        "hook-event-unknown",
        "for-claude.json",
    )
