"""Who may do what: an answer for each agent and thing, and the grants that decide it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from equipage.cli import main
from equipage.clients.catalogue import ACTIVITIES
from equipage.clients.grants import Reach
from equipage.clients.reading import MAIN_AGENT, read_folder
from equipage.effect.reach import Column, Matrix, answer, matrices
from equipage.loading.session import Request
from equipage.workspace import Workspace
from lab import repository


def matrix_of(folder: Path, files: dict[str, Any]) -> Matrix:
    repository(folder, files)
    workspace = Workspace([str(folder)], Request(env={}, shared=True))
    found = workspace.loads()
    outcomes = [each.outcome for each in found if each.outcome is not None]
    found_matrices = matrices(read_folder(outcomes))
    # A list of servers has a main agent of its own.
    return max(
        found_matrices, key=lambda each: [agent.sort for agent in each.agents] != [MAIN_AGENT]
    )


def claude(**fields: Any) -> str:
    lines = "".join(f"{name}: {json.dumps(value)}\n" for name, value in fields.items())
    return f"---\nname: a\ndescription: d\n{lines}---\nWork.\n"


AGENT = ".claude/agents/a.md"
SETTINGS = ".claude/settings.json"
OPENCODE = ".opencode/agents/a.md"


def opencode(text: str) -> str:
    return f"---\ndescription: d\n{text}---\nWork.\n"


def copilot(*tools: str) -> dict[str, Any]:
    return {
        ".github/agents/a.agent.md": f"---\ndescription: d\ntools: {json.dumps(tools)}\n---\nDo.\n"
    }


#: files, what is asked, the answer, the fields that decide it
ANSWERS: list[tuple[str, dict[str, Any], tuple[str, str], str, list[str]]] = [
    (
        "no list gives everything",
        {AGENT: claude()},
        ("activity", "write files"),
        "allows*",
        ["tools"],
    ),
    (
        "a list gives what it names",
        {AGENT: claude(tools="Read, Edit")},
        ("activity", "write files"),
        "allows",
        ["tools[1]"],
    ),
    (
        "a list gives nothing else",
        {AGENT: claude(tools="Read")},
        ("activity", "run commands"),
        "denies",
        ["tools"],
    ),
    (
        "a pattern offers the whole tool",
        {AGENT: claude(tools="Bash(git log:*)")},
        ("tool", "Bash"),
        "allows",
        ["tools[0]"],
    ),
    (
        "a forbidden tool",
        {AGENT: claude(disallowedTools="Bash")},
        ("tool", "Bash"),
        "denies",
        ["disallowedTools[0]"],
    ),
    (
        "a forbidden pattern takes the whole tool away",
        {AGENT: claude(disallowedTools="Bash(rm:*)")},
        ("tool", "Bash"),
        "denies",
        ["disallowedTools[0]"],
    ),
    (
        "settings forbid what a list gives",
        {AGENT: claude(tools="Edit"), SETTINGS: {"permissions": {"deny": ["Edit"]}}},
        ("tool", "Edit"),
        "denies",
        ["permissions.deny[0]"],
    ),
    (
        "settings forbid a part",
        {AGENT: claude(tools="Edit"), SETTINGS: {"permissions": {"deny": ["Edit(/x/**)"]}}},
        ("tool", "Edit"),
        "partly",
        ["tools[0]", "permissions.deny[0]"],
    ),
    (
        "a server that is switched off",
        {
            OPENCODE: opencode(""),
            "opencode.json": {
                "mcp": {"docs": {"type": "local", "command": ["a"], "enabled": False}}
            },
        },
        ("server", "docs"),
        "denies",
        ["mcp.docs"],
    ),
    (
        "settings give no tool that a list leaves out",
        {AGENT: claude(tools="Read"), SETTINGS: {"permissions": {"allow": ["Edit"]}}},
        ("tool", "Edit"),
        "denies",
        ["tools"],
    ),
    (
        "planning writes: the mode counts only in some starts, and settings beat it",
        {AGENT: claude(permissionMode="plan")},
        ("activity", "write files"),
        "allows*",
        ["tools"],
    ),
    (
        "planning reads",
        {AGENT: claude(permissionMode="plan")},
        ("activity", "read files"),
        "allows*",
        ["tools"],
    ),
    (
        "a mode",
        {AGENT: claude(permissionMode="acceptEdits")},
        ("mode", "permissionMode"),
        "asks",
        ["permissionMode"],
    ),
    (
        "one tool of a server",
        {AGENT: claude(tools="mcp__s__x")},
        ("server", "s"),
        "partly",
        ["tools[0]"],
    ),
    ("a whole server", {AGENT: claude(tools="mcp__s")}, ("server", "s"), "allows", ["tools[0]"]),
    (
        "a forbidden server",
        {AGENT: claude(disallowedTools="mcp__s")},
        ("server", "s"),
        "denies",
        ["disallowedTools[0]"],
    ),
    (
        "a server that no list names",
        {AGENT: claude(), ".mcp.json": {"mcpServers": {"s": {"command": "x"}}}},
        ("server", "s"),
        "allows",
        ["tools", "servers.s"],
    ),
    (
        "a server that a list leaves out",
        {AGENT: claude(tools="Read"), ".mcp.json": {"mcpServers": {"s": {"command": "x"}}}},
        ("server", "s"),
        "denies",
        ["tools", "servers.s"],
    ),
    (
        "the name of a server may have a slash",
        copilot("read", "microsoft/markitdown/*"),
        ("server", "microsoft/markitdown"),
        "allows",
        ["tools[1]"],
    ),
    (
        "a server of VS Code",
        {
            ".github/agents/a.agent.md": "---\ndescription: d\n---\nDo.\n",
            ".vscode/mcp.json": {"servers": {"docs": {"command": "x"}}},
        },
        ("server", "docs"),
        "allows",
        ["tools", "servers.docs"],
    ),
    *(
        (
            f"a server of Kiro: {tool}",
            {".kiro/agents/a.json": {"name": "a", "tools": ["@builtin", tool]}},
            ("server", "git"),
            state,
            ["tools[1]"],
        )
        for tool, state in {"@git": "allows", "@git/*": "allows", "@git/log": "partly"}.items()
    ),
    (
        "all tools of its own are none of a server",
        {".kiro/agents/a.json": {"name": "a", "tools": ["@builtin", "@git/log"]}},
        ("tool", "@git/push"),
        "denies",
        ["tools"],
    ),
    (
        "a skill in the header",
        {AGENT: claude(skills=["s"])},
        ("skill", "s"),
        "allows",
        ["skills[0]"],
    ),
    (
        "a skill of the project",
        {AGENT: claude(), ".claude/skills/s/SKILL.md": "---\nname: s\ndescription: d\n---\nDo.\n"},
        ("skill", "s"),
        "allows",
        ["tools", ""],
    ),
    (
        "a skill without the tool for it",
        {
            AGENT: claude(tools="Read"),
            ".claude/skills/s/SKILL.md": "---\nname: s\ndescription: d\n---\nDo.\n",
        },
        ("skill", "s"),
        "denies",
        ["tools", ""],
    ),
    (
        "OpenCode allows by default",
        {OPENCODE: opencode("")},
        ("activity", "write files"),
        "allows*",
        [""],
    ),
    (
        "OpenCode denies",
        {OPENCODE: opencode("permission: {edit: deny}\n")},
        ("activity", "write files"),
        "denies",
        ["permission.edit"],
    ),
    (
        "the last pattern counts",
        {OPENCODE: opencode("permission: {bash: {'*': deny, 'git *': allow}}\n")},
        ("tool", "bash"),
        "partly",
        ['permission.bash["*"]', 'permission.bash["git *"]'],
    ),
    (
        "a star at the end undoes what is before it",
        {OPENCODE: opencode("permission: {bash: deny, '*': allow}\n")},
        ("tool", "bash"),
        "allows",
        ['permission["*"]'],
    ),
    (
        "the old switch for `write` is `edit`",
        {OPENCODE: opencode("tools: {write: false}\n")},
        ("activity", "write files"),
        "denies",
        ["tools.write"],
    ),
    (
        "an agent overrides the settings",
        {
            OPENCODE: opencode("permission: {edit: allow}\n"),
            "opencode.json": {"permission": {"edit": "deny"}},
        },
        ("tool", "edit"),
        "allows",
        ["permission.edit"],
    ),
    (
        "settings count where an agent says nothing",
        {OPENCODE: opencode(""), "opencode.json": {"permission": {"edit": "ask"}}},
        ("tool", "edit"),
        "asks",
        ["permission.edit"],
    ),
    (
        "the sandbox of Codex decides",
        {
            ".codex/agents/a.toml": 'name = "a"\ndescription = "d"\ndeveloper_instructions = "x"\nsandbox_mode = "read-only"\n'
        },
        ("activity", "write files"),
        "denies",
        ["sandbox_mode"],
    ),
    (
        "Cursor asks for a switch",
        {".cursor/agents/a.md": "---\nname: a\ndescription: d\nreadonly: true\n---\nDo.\n"},
        ("activity", "write files"),
        "denies",
        ["readonly"],
    ),
]


@pytest.mark.parametrize(
    ("files", "asked", "state", "fields"), [pytest.param(*row[1:], id=row[0]) for row in ANSWERS]
)
def test_answers_and_their_reasons(
    files: dict[str, Any], asked: tuple[str, str], state: str, fields: list[str], tmp_path: Path
) -> None:
    matrix = matrix_of(tmp_path, files)
    (agent,) = (each for each in matrix.agents if each.sort != MAIN_AGENT)
    said = answer(agent, Column(*asked))
    assert said is not None
    assert said.state + ("*" if said.is_default else "") == state
    assert [each.field for each in said.reasons] == fields


def test_the_columns_are_what_agents_and_settings_name(tmp_path: Path) -> None:
    matrix = matrix_of(
        tmp_path,
        {
            AGENT: claude(tools="Read, Bash(git:*), mcp__s__x", permissionMode="plan"),
            ".claude/agents/b.md": claude(tools="*").replace("name: a", "name: b"),
            # What is in the brackets of a rule is no server, although it has a `/`.
            SETTINGS: {"permissions": {"deny": ["WebFetch", "Bash(rm -rf /)", "Read(./a/b)"]}},
        },
    )
    assert [(each.sort, each.name) for each in matrix.columns] == [
        *(("activity", name) for name in ACTIVITIES),
        ("mode", "permissionMode"),
        *(("tool", name) for name in ("Bash", "Read", "WebFetch")),
        ("server", "s"),
    ]
    assert [each.name for each in matrix.agents] == [MAIN_AGENT, "a", "b"]


def test_a_matrix_has_room_for_what_is_named_most(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("equipage.effect.reach._MAX_COLUMNS", 2)
    matrix = matrix_of(tmp_path, {AGENT: claude(tools="Read, Bash, Grep")})
    assert [each.name for each in matrix.columns if each.sort == "tool"] == ["Bash", "Grep"]
    assert matrix.left_out == 1


def test_an_agent_has_the_servers_of_its_client_and_those_that_it_names(tmp_path: Path) -> None:
    matrix = matrix_of(
        tmp_path,
        {
            AGENT: claude(tools="mcp__s"),
            ".claude/agents/b.md": claude().replace("name: a", "name: b"),
            "sub/.mcp.json": {"mcpServers": {"below": {"command": "x"}}},
        },
    )
    servers = [column for column in matrix.columns if column.sort == "server"]
    assert [each.name for each in servers] == ["below", "s"]
    has = {
        agent.name: [each.name for each in servers if answer(agent, each) is not None]
        for agent in matrix.agents
    }
    assert has == {MAIN_AGENT: ["below"], "a": ["s"], "b": []}


def test_the_command_answers_with_places(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    repository(tmp_path, {AGENT: claude(tools="Read, Edit"), "sub/x.txt": ""})

    def said(*arguments: str) -> str:
        main(["reach", *arguments])
        done = capsys.readouterr()
        return done.out + done.err

    assert said("a", "--why", "write") == (
        "a (Claude Code) .claude/agents/a.md\n  write files: yes\n"
        "      allows tool Edit: .claude/agents/a.md:4:8 at tools[1]\n"
    )
    assert "no file says so, it is the default of `permissionMode`" not in said("a")
    assert "run commands: no\n      denies tool *: .claude/agents/a.md:4:8 at tools\n" in said("a")
    assert "WebFetch: no" in said("--why", "WebFetch", ".claude")
    (agent,) = json.loads(said("--json", "--why", "edit"))["agents"]
    assert agent["tools"]["Edit"]["reasons"] == [
        {
            "effect": "allows",
            "sort": "tool",
            "name": "Edit",
            "file": ".claude/agents/a.md",
            "line": 4,
            "column": 8,
            "field": "tools[1]",
            "default": False,
        }
    ]
    assert said("b").endswith("no agent or path `b`; run `equipage reach` to list all agents\n")
    assert said("A").endswith("no agent or path `A`; did you mean `a`?\n")
    assert "no such file or folder" in said("b/c")
    assert "no configuration found" in said("sub")
    (tmp_path / "sub" / "CLAUDE.md").write_text("Work.")
    assert "main agent  Claude Code" in said("sub")
    (tmp_path / "sub" / "CLAUDE.md").unlink()
    repository(tmp_path, {AGENT: claude()})
    assert "* by default: no file says so" in said()
    assert "allows tool *: no file says so, it is the default of `tools`" in said("a")
    (tmp_path / AGENT).unlink()
    repository(tmp_path, {".cursor/agents/a.md": "---\nname: a\ndescription: d\n---\nDo.\n"})
    assert "nothing is known about `Bash`: no file and no client names it" in said("--why", "Bash")
    (tmp_path / ".cursor/agents/a.md").unlink()
    repository(tmp_path, {AGENT: claude(tools="Read, Bash, mcp__docs__find")})
    assert "by commands: no tool of it does this" in said()
    assert "write files: by commands\n      no tool of it does this, but" in said("a")
    (agent,) = json.loads(said("a", "--json", "--why", "write"))["agents"]
    assert agent["may"]["write files"]["by_commands"] is True
    assert "Bash: yes" in said("a", "--why", "bash")
    assert "mcp__docs__load: no" in said("a", "--why", "mcp__docs__load")
    assert said("--why", "dcs").endswith("names it; did you mean `docs`?\n")
    repository(tmp_path, {SETTINGS: {"enabledPlugins": {"b@c": True}}})
    assert "`b@c` is a plugin that is not in this repository" in said("--why", "b@c")


CODEX = 'name = "a"\ndescription = "d"\ndeveloper_instructions = "i"\n'

#: client, files, activity → answer
OF_CLIENTS: list[tuple[dict[str, Any], dict[str, str]]] = [
    (
        {".codex/agents/a.toml": 'name = "a"\ndescription = "d"\ndeveloper_instructions = "i"\nsandbox_mode = "read-only"\n'},
        {"read files": "allows", "write files": "denies", "run commands": "partly", "use the network": "partly*"},
    ),
    # The sandbox holds commands; what is searched for is another setting.
    *(
        (
            {".codex/agents/a.toml": CODEX, ".codex/config.toml": f'web_search = "{mode}"\n'},
            {"use the network": state},
        )
        for mode, state in {"disabled": "denies*", "cached": "partly", "indexed": "partly", "live": "allows"}.items()
    ),
    (
        {
            ".codex/agents/a.toml": 'name = "a"\ndescription = "d"\ndeveloper_instructions = "i"\nsandbox_mode = "read-only"\n',
            ".codex/config.toml": 'sandbox_mode = "danger-full-access"\n[agents]\nenabled = false\n',
        },
        {"write files": "denies", "start agents": "denies"},
    ),
    (
        {
            ".codex/agents/a.toml": 'name = "a"\ndescription = "d"\ndeveloper_instructions = "i"\n',
            ".codex/config.toml": 'sandbox_mode = "danger-full-access"\n',
        },
        {"write files": "allows", "run commands": "allows", "use the network": "allows"},
    ),
    (
        {".cursor/agents/a.md": "---\nname: a\ndescription: d\nreadonly: true\n---\nWork.\n"},
        {"read files": "allows", "write files": "denies", "run commands": "partly"},
    ),
    (
        {".roomodes": "customModes:\n- {slug: a, name: A, roleDefinition: r, groups: [read, [edit, {fileRegex: x}]]}\n"},
        {"read files": "allows", "write files": "partly", "run commands": "denies", "use the network": "denies"},
    ),
    (
        {".kiro/agents/a.json": {"name": "a", "tools": ["fs_read", "shell"]}},
        {"read files": "allows", "write files": "by commands", "run commands": "allows", "start agents": "denies"},
    ),
    (
        {".kiro/agents/a.json": {"name": "a", "tools": ["@builtin"]}},
        {"read files": "allows", "write files": "allows", "run commands": "allows"},
    ),
    (
        {".zed/settings.json": {"agent": {"profiles": {"a": {"tools": {"read_file": True, "terminal": False}}}}}},
        {"read files": "allows", "write files": "denies*", "run commands": "denies", "use the network": "denies*"},
    ),
    # What a tool does that nobody knows is unknown, unless all tools of its client are known.
    *(
        (
            {name: text.replace("X", tool)},
            dict.fromkeys(("read files", "write files", "run commands", "use the network"), state),
        )
        for name, text, own in (
            (".qwen/agents/a.md", "---\nname: a\ndescription: d\ntools: [X]\n---\nDo.\n", "todo_write"),
            (".kiro/agents/a.json", '{"name": "a", "tools": ["X"]}', "thinking"),
            (".zed/settings.json", '{"agent": {"profiles": {"a": {"tools": {"X": true}}}}}', "now"),
            (OPENCODE, opencode("permission: {'*': deny, X: allow}\n"), "todowrite"),
            (OPENCODE, opencode("permission: {'*': deny, X: ask}\n"), "external_directory"),
        )
        for tool, state in {"frobnicate": "unknown", own: "denies*" if own == "now" else "denies"}.items()
    ),
    *(
        ({name: "---\nname: a\ndescription: d\ntools: [frobnicate]\n---\nDo.\n"}, {"read files": "denies"})
        for name in (AGENT, ".gemini/agents/a.md")
    ),
    # Copilot knows its tools by several names, on GitHub and in VS Code, of several years.
    (
        copilot("codebase", "edit/editFiles", "web/githubRepo"),
        {"read files": "allows", "write files": "allows", "run commands": "denies", "use the network": "partly"},
    ),
    (
        copilot("Grep", "edit/createFile", "PowerShell", "runSubagent", "todo"),
        {"read files": "allows", "write files": "partly", "run commands": "allows", "start agents": "allows"},
    ),
    (
        copilot("read/*", "vscode/installExtension", "docs/*"),
        {"read files": "allows", "write files": "by commands", "run commands": "partly", "start agents": "denies"},
    ),
    # What is no tool of its own may be one of an extension or of a server, or one that is new.
    (
        copilot("search", "microsoft.docs.mcp"),
        {"read files": "allows", "write files": "unknown", "run commands": "unknown"},
    ),
    # The names of classes are names of tools.
    (
        {".gemini/agents/a.md": "---\nname: a\ndescription: d\ntools: [ReadFileTool, ShellTool]\n---\nDo.\n"},
        {"read files": "allows", "write files": "by commands", "run commands": "allows", "use the network": "by commands"},
    ),
    (
        {".qwen/agents/a.md": "---\nname: a\ndescription: d\ntools: [EditTool]\n---\nDo.\n"},
        {"read files": "denies", "write files": "allows", "run commands": "denies"},
    ),
    # What no tool does, commands do, if it may run some or be asked about them.
    (
        {AGENT: claude(tools="Read, Bash")},
        {"read files": "allows", "write files": "by commands", "run commands": "allows", "use the network": "by commands", "start agents": "denies"},
    ),
    (
        {OPENCODE: opencode("permission: {read: deny, grep: deny, glob: deny, list: deny, edit: deny, bash: {'*': deny, 'git *': ask}}\n")},
        {"read files": "by commands", "write files": "by commands", "run commands": "partly"},
    ),
    (
        {AGENT: claude(tools="Read, Grep, Glob")},
        {"read files": "allows", "write files": "denies", "run commands": "denies", "use the network": "denies"},
    ),
]  # fmt: skip


@pytest.mark.parametrize(("files", "expected"), OF_CLIENTS)
@pytest.mark.requirement("SE-01")
def test_what_agents_of_other_clients_may_do(
    files: dict[str, Any], expected: dict[str, str], tmp_path: Path
) -> None:
    matrix = matrix_of(tmp_path, files)
    (agent,) = (each for each in matrix.agents if each.sort != MAIN_AGENT)
    found = {name: answer(agent, Column("activity", name)) for name in expected}
    shown = {
        name: None
        if each is None
        else "by commands"
        if each.by_commands
        else f"{each.state}{'*' if each.is_default else ''}"
        for name, each in found.items()
    }
    assert shown == expected
    assert {column.name for column in matrix.columns if column.sort == "activity"} >= set(expected)


@pytest.mark.parametrize(
    ("client", "activity"), [("Qwen Code", "start agents"), ("Amp", "read files")]
)
def test_what_no_table_says_of_an_activity_is_unknown(client: str, activity: str) -> None:
    said = answer(Reach("a", "agent", "", client, ""), Column("activity", activity))
    assert said is not None
    assert said.state == "unknown"
