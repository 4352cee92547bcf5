"""Where output goes: closed pipes, terminals, encodings, locales, hash seeds, folders in any order."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import subprocess
import sys
from pathlib import Path

import pytest

from lab import EXAMPLES, command, environment, in_process, python, repository, settle

SERVER = """\
server: {name: "shop ${STAGE:-tést}", version: "1.0"}
tools:
  - $include: echo.yaml
  - tool: {name: b, description: d, inputSchema: {type: object}, extra: 1, other: 2}
    response: {content: [{type: text, text: "${GREETING}"}]}
"""
ECHO = """\
tool: {name: echo, description: "Says it back → «ja»", inputSchema: {type: object}}
response: {content: [{type: text, text: hi}]}
"""
BROKEN = "server: {name: 5}\ntools: [\n"

#: Each command once, on a folder with a good server, a bad one and a profile.
COMMANDS = [
    ["check"],
    ["check", "--json"],
    ["check", "--statistics"],
    ["show", "server.yaml", "--annotate"],
    ["show", "server.yaml", "--json", "--annotate"],
    ["explain", "server.yaml", "tools[0].tool.description"],
    ["list"],
    ["list", "--json"],
    ["schema", "server"],
    ["diff", "server.yaml", "other.yaml"],
    ["diff", ".", ".", "--json"],
    ["lock", "server.yaml", "-o", "-"],
    ["new", "server", "x", "--stdout"],
    ["rule"],
    ["rule", "env-missing"],
    ["completion", "bash"],
    ["completion", "zsh"],
    ["completion", "fish"],
]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    files = {
        "server.yaml": SERVER,
        "other.yaml": SERVER.replace("name: b", "name: c"),
        "broken.yaml": BROKEN,
        "equipage.toml": 'kinds = {"broken.yaml" = "server"}\n',
        "library/echo.yaml": ECHO,
        ".defect/agents/reviewer.md": "---\ndescription: Reviews\n---\nYou review.\n",
    }
    return repository(tmp_path, files)


# --- determinism ---------------------------------------------------------------------------------

#: Runs every command in one process; with `reversed`, folders list their entries the other way
#: round.
_DRIVER = """
import json, os, sys
if sys.argv[1] == "reversed":
    original = os.scandir
    class Reversed:
        def __init__(self, *args): self.inner = original(*args)
        def __enter__(self): return self
        def __exit__(self, *rest): self.inner.close()
        def __iter__(self): return iter(sorted(self.inner, key=lambda entry: entry.name, reverse=True))
        def close(self): self.inner.close()
    os.scandir = Reversed
from equipage.cli import main
for arguments in json.loads(sys.argv[2]):
    print("$", *arguments, flush=True)
    print("[exit", main(arguments), "]", flush=True)
"""


def _everything(project: Path, order: str = "as it is", **variables: str) -> str:
    env = environment(GREETING="hé", XDG_CONFIG_HOME=str(project / "none"), **variables)
    done = python("-c", _DRIVER, order, json.dumps(COMMANDS), cwd=project, env=env)
    assert done.code == 0, done.err
    return done.out


def test_the_same_bytes_whatever_the_seed_the_locale_and_the_order_of_folders(
    project: Path,
) -> None:
    first = _everything(project, PYTHONHASHSEED="0")
    assert "Says it back" in first
    assert "→ «ja»" in first
    assert _everything(project, PYTHONHASHSEED="1", LC_ALL="C.UTF-8") == first
    assert (
        _everything(
            project,
            "reversed",
            PYTHONHASHSEED="2",
            LC_ALL="POSIX",
            PYTHONUTF8="0",
            PYTHONCOERCECLOCALE="0",
        )
        == first
    )


# --- pipes ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments", [["check"], ["list"], ["rule"], ["--help"], ["show", "server.yaml"]], ids=" ".join
)
def test_a_closed_pipe_ends_the_run_quietly(project: Path, arguments: list[str]) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    done = command(*arguments, cwd=project, stdout=writer)
    os.close(writer)
    assert not done.err.replace("equipage: 3 findings; run `equipage check server.yaml`\n", "")
    assert done.code == (1 if arguments == ["check"] else 0), (
        "what was found counts, whoever reads it"
    )


@pytest.mark.parametrize(
    "arguments", [["check"], ["diff", "server.yaml", "other.yaml"]], ids=" ".join
)
def test_a_closed_pipe_hides_no_findings(project: Path, arguments: list[str]) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    for unbuffered in ("", "1"):
        env = environment(GREETING="x", PYTHONUNBUFFERED=unbuffered)
        assert command(*arguments, cwd=project, env=env, stdout=writer).code == 1
    os.close(writer)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")
@pytest.mark.parametrize("arguments", [["check", "nowhere"], ["check", "-v"], ["nothing"]])
def test_a_full_standard_error_changes_no_exit_code(project: Path, arguments: list[str]) -> None:
    expected = command(*arguments, cwd=project)
    with open("/dev/full", "wb") as full:
        done = command(*arguments, cwd=project, stderr=full)
        assert (done.code, done.out) == (expected.code, expected.out)
        assert command("check", "nowhere", cwd=project, stdout=full, stderr=full).code == 2


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")
@pytest.mark.parametrize("unbuffered", ["", "1"], ids=["buffered", "unbuffered"])
@pytest.mark.parametrize(
    "arguments",
    [["check"], ["show", "server.yaml"], ["--help"], ["check", "--help"], ["--version"]],
    ids=" ".join,
)
def test_a_full_disk_is_no_bug(project: Path, unbuffered: str, arguments: list[str]) -> None:
    with open("/dev/full", "wb") as full:
        env = environment(PYTHONUNBUFFERED=unbuffered, GREETING="x")
        done = command(*arguments, cwd=project, env=env, stdout=full)
    assert done.code == 2
    assert done.err.endswith("equipage: cannot write the output: No space left on device\n")
    assert "Traceback" not in done.err


def test_tables_are_made_to_fit_for_terminals_only(project: Path) -> None:
    folder = project / ("long-" * 12) / ("name-" * 12)
    folder.mkdir(parents=True)
    (folder / "server.yaml").write_text("server: {name: a}\ntools: []\n", encoding="utf-8")
    env = environment()
    del env["COLUMNS"]
    done = command("list", str(folder), cwd=project, env=env)
    assert f"{'name-' * 12}/server.yaml  ThoughtJack" in done.out
    shown = _terminal(f"from equipage.cli import main; main(['list', {str(folder)!r}])", project)
    assert f"{'name-' * 12}/server.yaml\r\n    loaded by: ThoughtJack\r\n" in shown


def test_output_that_cannot_be_encoded_is_escaped(project: Path) -> None:
    env = environment(PYTHONIOENCODING="ascii")
    done = command("show", "server.yaml", "tools[0].tool.description", cwd=project, env=env)
    assert (done.code, done.out) == (0, "Says it back \\u2192 \\xabja\\xbb\n")


def test_closed_standard_output_is_no_bug(project: Path) -> None:
    script = f'exec >&-; exec "{sys.executable}" -m equipage check other.yaml'
    done = subprocess.run(
        ["sh", "-c", script],
        cwd=project,
        env=environment(GREETING="x"),
        stderr=subprocess.PIPE,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")


# --- terminals -----------------------------------------------------------------------------------


def _terminal(code: str, cwd: Path, **variables: str) -> str:
    """What a program prints on a terminal of its own."""
    env = environment(**{"TERM": "xterm", **variables})
    pid, terminal = pty.fork()
    if pid == 0:  # pragma: no cover - another process
        try:
            os.chdir(cwd)
            os.execve(sys.executable, [sys.executable, "-c", code], env)
        finally:
            os._exit(99)
    said = b""
    while select.select([terminal], [], [], 30)[0]:
        try:
            piece = os.read(terminal, 65536)
        except OSError:
            break
        if not piece:
            break
        said += piece
    os.close(terminal)
    os.waitpid(pid, 0)
    return said.decode()


def test_colour_and_progress_on_a_terminal(project: Path) -> None:
    code = "from equipage.cli import check, main; check.PROGRESS_DELAY = check._REDRAW_SECONDS = 0; main(['check'])"
    said = _terminal(code, project)
    assert "\x1b[1;31merror[yaml-syntax]\x1b[0m" in said
    assert "checking [" in said
    assert "1/6" in said
    assert said.index("checking [") < said.index("\r\x1b[K\x1b[1;3") < said.index("error[")


def test_no_colour_where_it_is_not_wanted(project: Path) -> None:
    code = "from equipage.cli import main; main(['check'])"
    for variables in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
        said = _terminal(code, project, **variables)
        assert "\x1b" not in said
        assert "checking [" not in said, "a short run shows no progress"


def test_colour_can_be_forced(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settle(monkeypatch, project, environment(NO_COLOR="1"))
    assert "\x1b[" in in_process(["check", "--color", "always"])[1]
    assert "\x1b[" in in_process(["--color", "always", "check"])[1]
    assert "\x1b[" not in in_process(["check"])[1]


def test_values_have_colour_and_read_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "server.yaml").write_text("server: {name: a}\ntools: []\n")
    settle(monkeypatch, tmp_path, environment())
    plain = in_process(["show", "server.yaml", "--annotate"])[1]
    coloured = in_process(["show", "server.yaml", "--annotate", "--color", "always"])[1]
    assert "\x1b[1;34mserver\x1b[0m:" in coloured
    assert "\x1b[32m# server.yaml:1\x1b[0m" in coloured
    assert re.sub(r"\x1b\[[\d;]*m", "", coloured) == plain


# --- every command -------------------------------------------------------------------------------


@pytest.mark.parametrize("arguments", COMMANDS, ids=" ".join)
@pytest.mark.parametrize(
    "columns", ["40", "0", "9" * 5_000], ids=["narrow", "none", "longer than Python reads"]
)
def test_every_command_at_any_width(
    project: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], columns: str
) -> None:
    settle(monkeypatch, project, environment(COLUMNS=columns))
    code, out, err = in_process(arguments)
    assert code in (0, 1, 2)
    assert "\x1b" not in out + err
    assert "bug in equipage" not in err


@pytest.mark.parametrize(
    "arguments",
    [
        ["check"],
        ["check", "{project}"],
        ["check", "--fix", "{project}"],
        ["check", "--root", ".", "{project}"],
        ["list"],
        ["show", "{project}/server.yaml"],
        ["lock", "{project}/server.yaml"],
        ["explain", "{project}/server.yaml", "server"],
        ["diff", "{project}/server.yaml", "{project}/other.yaml"],
    ],
    ids=" ".join,
)
def test_a_working_directory_that_was_removed(
    project: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str]
) -> None:
    gone = project / "gone"
    gone.mkdir()
    settle(monkeypatch, gone, environment())
    gone.rmdir()
    code, out, err = in_process([each.format(project=project) for each in arguments])
    assert (code, out) == (2, "")
    reason = "No such file or directory; change to a folder that exists"
    assert err == f"equipage: there is no working directory: {reason}\n"


@pytest.mark.parametrize(
    "text",
    [BROKEN, "", "\0", "a: b: c\n", "server: *x\ntools: []\n", "server: {name: x}\ntools: 5\n"],
)
def test_every_command_on_a_broken_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    settle(monkeypatch, tmp_path, environment())
    Path("x.yaml").write_text(text)
    for words in (["show"], ["explain"], ["check"], ["list"], ["diff", "x.yaml"]):
        path = ["a"] if words == ["explain"] else []
        code, out, err = in_process([*words, "x.yaml", *path, "--kind", "server"])
        assert code == (2 if words[0] == "diff" else 1), words
        assert "error" in out + err
        assert "bug" not in err
    code, _, err = in_process(["lock", "x.yaml", "--kind", "server"])
    assert (code, "it is not known what its client makes of it" in err) == (0, True)


@pytest.mark.parametrize(
    "folder",
    sorted(
        each.name for each in EXAMPLES.iterdir() if each.name not in ("plugin", "scale", "demo.py")
    ),
)
def test_every_command_on_every_example(folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    settle(monkeypatch, EXAMPLES / folder, environment())
    runs = [["check"], ["list"], ["diff", ".", "."]]
    for each in json.loads(in_process(["check", "--json"])[1])["files"]:
        if each["kind"] is not None and each["ok"]:
            runs += [
                ["show", each["path"], "--annotate"],
                ["lock", each["path"], "-o", "-"],
                ["explain", each["path"], ""],
            ]
    for arguments in runs:
        code, out, err = in_process(arguments)
        assert code in {"broken": (0, 1, 2), "demo": (0, 1)}.get(folder, (0,)), (arguments, err)
        assert out or err
        assert "bug in equipage" not in err
