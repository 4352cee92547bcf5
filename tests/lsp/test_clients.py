"""Real clients: Neovim, Emacs, OpenCode, Claude Code and Copilot CLI use the server.

`make test-lsp` runs them, and then none may be missing.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from lab import REPOSITORY, repository
from lsp.model import model, results
from lsp.test_inner_names import PHASED
from lsp.test_inner_names import PROJECT as INCLUDING
from lsp.test_publishing import AGENT, PACK, TOOL

WANTED = bool(os.environ.get("EQUIPAGE_TEST_LSP"))
HERE = Path(__file__).parent / "clients"
COMMAND = str(Path(sys.executable).with_name("equipage"))

pytestmark = pytest.mark.skipif(not WANTED, reason="starts other programs; run `make test-lsp`")


def program(name: str) -> str:
    """A program that must be there: `make test-lsp` skips nothing."""
    found = shutil.which(name) or os.environ.get(f"EQUIPAGE_{name.upper()}")
    assert found, f"{name} is not installed"
    return found


def run(*command: str, cwd: Path, **env: str) -> str:
    variables = {**os.environ, "EQUIPAGE": COMMAND, "HOME": str(cwd / "home"), **env}
    done = subprocess.run(
        command, cwd=cwd, env=variables, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return repository(tmp_path, {"a.tool.yaml": PACK.replace("version", "verison"), "home/x": ""})


def test_neovim(project: Path) -> None:
    script = f"luafile {HERE / 'neovim.lua'}"
    where = {"FILE": "a.tool.yaml", "LINE": "1", "COLUMN": "2"}
    out = run(program("nvim"), "--headless", "--clean", "-c", script, cwd=project, **where)
    answers = json.loads(out[out.index("{") :])
    codes = [(each["code"], each["line"]) for each in answers["diagnostics"]]
    assert codes == [("missing-field", 0), ("unknown-field", 1)]
    assert answers["actions"][0]["title"] == "Rename to `version`"
    assert "version" in [each["label"] for each in answers["completion"]["items"]]
    where = {"FILE": "a.tool.yaml", "LINE": "4", "COLUMN": "2"}
    out = run(program("nvim"), "--headless", "--clean", "-c", script, cwd=project, **where)
    hover = json.loads(out[out.index("{") :])["hover"]["contents"]["value"]
    assert hover.startswith("**timeoutMs**")


def test_emacs(project: Path) -> None:
    packages = "(package-initialize)"
    file = str(project / "a.tool.yaml")
    script = str(HERE / "eglot.el")
    command = (program("emacs"), "--batch", "--eval", packages, "-l", script)
    out = run(*command, cwd=project, FILE=file)
    assert "finding 2 equipage [unknown-field]: `verison` is not a field" in out
    assert "Rename to `version`" in out


@pytest.fixture
def including(tmp_path: Path) -> Path:
    """A server whose phases name a tool that an included file defines."""
    return repository(tmp_path, {**INCLUDING, "home/x": ""})


def is_renamed(project: Path) -> bool:
    main, tool = (project / name for name in ("main.yaml", "library/tools/echo.yaml"))
    whole = PHASED.replace("echo", "say").replace("tools/say.yaml", "tools/echo.yaml")
    return (main.read_text(), tool.read_text()) == (whole, TOOL.replace("echo", "say"))


def test_neovim_goes_to_a_definition_and_renames_it_everywhere(including: Path) -> None:
    script = f"luafile {HERE / 'neovim-rename.lua'}"
    where = {"FILE": "main.yaml", "LINE": "9", "COLUMN": "31", "NEW": "say"}
    out = run(program("nvim"), "--headless", "--clean", "-c", script, cwd=including, **where)
    answers, _ = json.JSONDecoder().raw_decode(out[out.index('{"') :])
    assert [each["uri"].rpartition("/")[2] for each in answers["definition"]] == ["echo.yaml"]
    assert len(answers["references"]) == 4
    assert is_renamed(including)


def test_emacs_goes_to_a_definition_and_renames_it_everywhere(including: Path) -> None:
    script, file = str(HERE / "eglot-rename.el"), str(including / "main.yaml")
    command = (program("emacs"), "--batch", "--eval", "(package-initialize)", "-l", script)
    out = run(*command, cwd=including, FILE=file, MARK="tools/call:e", NEW="say")
    assert "defined in echo.yaml:1" in out
    assert is_renamed(including)


def test_opencode(project: Path) -> None:
    server = {"command": [COMMAND, "lsp"], "extensions": [".yaml"]}
    (project / "opencode.json").write_text(json.dumps({"lsp": {"equipage": server}}))
    command = (program("opencode"), "debug", "lsp", "diagnostics", "a.tool.yaml")
    out = run(*command, cwd=project)
    (found,) = json.loads(out[out.index("{") : out.rindex("}") + 1]).values()
    assert {each["code"] for each in found} >= {"missing-field", "unknown-field"}


#: No agent asks the network for anything but its model, which is on this machine.
OFFLINE = {
    "DISABLE_TELEMETRY": "1",
    "DISABLE_AUTOUPDATER": "1",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "COPILOT_OFFLINE": "true",
    "IS_SANDBOX": "1",
    "PATH": f"{Path(COMMAND).parent}{os.pathsep}{os.environ['PATH']}",
}


def test_claude_code_tells_its_model_what_an_edit_broke(tmp_path: Path) -> None:
    """The plugin of this repository is valid, starts the server, and its findings arrive."""
    claude, plugin = program("claude"), str(REPOSITORY / "editors" / "claude-code")
    text = AGENT.format("a", "tools: Read\n")
    project = repository(tmp_path, {".claude/agents/a.md": text, "home/x": ""})
    assert "Validation passed" in run(claude, "plugin", "validate", plugin, cwd=project, **OFFLINE)
    file = str(project / ".claude/agents/a.md")
    edit = {"file_path": file, "old_string": "tools: Read", "new_string": "alowed-tools: Read"}
    pause = {"command": "sleep 4", "description": "wait"}
    with model(("Read", {"file_path": file}), ("Edit", edit), ("Bash", pause)) as (address, seen):
        more = {"ANTHROPIC_API_KEY": "x", "ANTHROPIC_BASE_URL": address}
        allowed = "--dangerously-skip-permissions"  # of a folder that the test made
        run(claude, "-p", "go", "--plugin-dir", plugin, allowed, cwd=project, **OFFLINE, **more)
    told = json.dumps(seen[-1]["messages"], ensure_ascii=False)
    assert "`alowed-tools` is not a field of a Claude Code agent" in told
    assert "(equipage)" in told


def test_copilot_follows_and_renames_through_includes(including: Path) -> None:
    """As the page says to set it up: its tool for language servers works on files of ours."""
    settings = json.loads(_block("lspServers"))
    settings["lspServers"]["equipage"]["command"] = COMMAND
    (including / "home/.copilot").mkdir()
    (including / "home/.copilot/lsp-config.json").write_text(json.dumps(settings))
    place = {"file": "main.yaml", "line": 10, "character": 32}
    calls = [
        ("lsp", {"operation": "hover", "file": "main.yaml", "line": 9, "character": 6}),
        ("lsp", {"operation": "goToDefinition", **place}),
        ("lsp", {"operation": "workspaceSymbol", "query": "demo"}),
        ("lsp", {"operation": "rename", **place, "newName": "say"}),
    ]
    with model(*calls) as (address, seen):
        more = {
            "COPILOT_PROVIDER_BASE_URL": address,
            "COPILOT_PROVIDER_TYPE": "anthropic",
            "COPILOT_PROVIDER_API_KEY": "x",
            "COPILOT_MODEL": "claude-sonnet-4",
        }
        copilot = program("copilot")
        run(copilot, "-p", "go", "--allow-all-tools", cwd=including, **OFFLINE, **more)
        hover, definition, _, renamed = results(seen)
    assert "names of tools that disappear" in hover
    assert "echo.yaml:1:14" in definition
    assert "Files changed: 2" in renamed
    assert is_renamed(including)


def _block(word: str) -> str:
    """The block of the page about editors that has a word."""
    page = (REPOSITORY / "docs/how-to/editor.md").read_text()
    blocks = re.findall(r"```json\n(.*?)```", page, re.DOTALL)
    return next(str(each) for each in blocks if word in each)
