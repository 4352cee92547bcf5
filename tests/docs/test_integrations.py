"""Where people meet equipage: pre-commit hooks and the GitHub Action do what they say."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from importlib import import_module
from pathlib import Path
from threading import Thread
from typing import Any, ClassVar

import pytest
import yaml

import equipage
from equipage.cli import COMMANDS, build_parser
from equipage.files.walking import EXTENSIONS
from lab import (
    REPOSITORY,
    commit,
    environment,
    in_process,
    matching,
    module_at,
    repository,
    settle,
    write,
)

HOOKS: list[dict[str, Any]] = yaml.safe_load((REPOSITORY / ".pre-commit-hooks.yaml").read_text())
ACTION: dict[str, Any] = yaml.safe_load((REPOSITORY / "action.yml").read_text())
BROKEN = (
    "server: {name: x, versoin: '1'}\n"
    "tools:\n- {tool: {name: t, description: d, inputSchema: {type: object}}, response: {content: [{type: text, text: hi}]}}\n"
)


@pytest.mark.parametrize("hook", HOOKS, ids=lambda hook: str(hook["id"]))
def test_a_hook_runs(hook: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settle(monkeypatch, tmp_path, environment())
    (tmp_path / "server.yaml").write_text(BROKEN)
    name, *words = shlex.split(hook["entry"])
    assert (name, hook["language"], hook["pass_filenames"]) == ("equipage", "python", False)
    code, out, _ = in_process(words)
    assert code == 0
    assert ("versoin" in (tmp_path / "server.yaml").read_text()) == ("--fix" not in words)
    assert ("[unknown-field]" in out) == ("--fix" not in words)


def test_there_are_both_hooks() -> None:
    assert [hook["id"] for hook in HOOKS] == ["equipage-check", "equipage-fix"]


@pytest.mark.parametrize("hook", HOOKS, ids=lambda hook: str(hook["id"]))
def test_a_hook_runs_for_every_file_that_a_check_looks_at(hook: dict[str, Any]) -> None:
    """pre-commit searches the pattern in the path; a type would be wanted besides."""
    assert not hook.keys() & {"types", "types_or", "additional_dependencies"}
    for extension in EXTENSIONS:
        assert re.search(hook["files"], f"a/b{extension}")
        assert re.search(hook["files"], f"a/B{extension.upper()}")
    assert not re.search(hook["files"], "a/b.py")


#: The one sentence that may name the package before it is published.
PUBLISHED = "Once equipage is published, `pip install equipage` will install it."
#: Commands that fetch the package by its name; a path before the name is a clone.
BY_NAME = re.compile(
    r"""\b(?:pip3?|pipx|uv(?:\ pip|\ tool)?)\ install\b[^\n&;#`]*[ '"]equipage\b  # pip install equipage
    |   \b(?:uvx|pipx\ run)\ ['"]?equipage\b
    |   \bequipage\[(?:watch|completion|docs|dev|lsp)\]""",
    re.VERBOSE,
)


def install_lines() -> Iterator[Path]:
    yield from matching(REPOSITORY, "*.md")
    yield from (
        REPOSITORY / "action.yml",
        REPOSITORY / ".pre-commit-hooks.yaml",
        REPOSITORY / "Makefile",
    )
    for folder in ("docs", "examples"):
        yield from matching(REPOSITORY / folder, "**/*.md", "**/*.py", "**/*.toml")
    yield from matching(REPOSITORY / "src", "**/*.py", "**/*.toml")


def test_no_install_line_needs_the_published_package() -> None:
    assert (REPOSITORY / "README.md").read_text().count(PUBLISHED) == 1
    assert BY_NAME.search(PUBLISHED)
    for path in install_lines():
        found = BY_NAME.findall(path.read_text(encoding="utf-8").replace(PUBLISHED, ""))
        assert not found, (path, found)


def test_the_action_installs_its_own_checkout() -> None:
    install = step("Install equipage").strip()
    assert install.endswith('python -I "$GITHUB_ACTION_PATH/tools/install.py"')
    assert [each for each in ACTION["runs"]["steps"] if "uses" in each] == []


def test_the_install_step_runs_in_a_hostile_checkout(tmp_path: Path) -> None:
    """The step makes an environment of its own, and runs the installer of the action with it.

    With EQUIPAGE_ACTION set (`make action`) that is the real one, which needs a package index.
    """
    folder, action, temp = (tmp_path / each for each in ("checkout", "action", "temp"))
    for each in (folder, temp):
        each.mkdir()
    is_real = bool(os.environ.get("EQUIPAGE_ACTION"))
    if is_real:
        subprocess.run(["git", "clone", "-q", str(REPOSITORY), str(action)], check=True)
    else:
        (action / "tools").mkdir(parents=True)
        (action / "tools/install.py").write_text(
            "import sys; print(sys.prefix, sys.flags.isolated)"
        )
    for name in ("pip", "venv", "ensurepip", "sys", "sitecustomize"):
        (folder / f"{name}.py").write_text("print('taken over')")
    (folder / "server.yaml").write_text(BROKEN)
    env = {name: each for name, each in os.environ.items() if not name.startswith("PYTHON")}
    env |= {"PYTHON": sys.executable, "RUNNER_TEMP": str(temp), "GITHUB_ACTION_PATH": str(action)}
    env |= {"GITHUB_OUTPUT": str(tmp_path / "output")}
    script = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c"]
    done = subprocess.run(
        [*script, step("Install equipage")], cwd=folder, env=env, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert "taken over" not in done.stdout + done.stderr
    if not is_real:
        assert done.stdout.split() == [str(temp / "equipage"), "1"]
        return
    out, outputs = run_check(folder, env)
    assert outputs["code"] == "0"
    assert out.startswith("::warning ")
    assert "taken over" not in out


@pytest.mark.parametrize(
    "name", ["equipage", "equipage-serve", "equipage-faults", "dev", "release"]
)
def test_every_package_is_pinned_by_version_and_hash(name: str) -> None:
    """`pip install --require-hashes` refuses the rest; a file that names an index fits no mirror."""
    text = (REPOSITORY / "tools" / "pins" / f"{name}.txt").read_text()
    assert "http:" not in text
    assert "https:" not in text
    listed = re.split(r"\n(?=\S)", text)[1:]
    assert all(re.match(r"\S+==\S+ .*--hash=sha256:", pin, re.DOTALL) for pin in listed)
    pinned = {pin.partition("==")[0].lower().replace("_", "-") for pin in listed}
    pins = module_at(REPOSITORY / "tools" / "pins.py")
    folders = {pins.project(each)["project"]["name"]: each for each in (pins.ROOT, *pins.BESIDE)}
    wanted = {"release": ["uv"], "dev": pins.needs(REPOSITORY, "dev")}.get(name)
    wanted = wanted or pins.needs(folders[name])
    assert {re.split("[<>=]", each)[0].lower() for each in wanted} <= pinned


def test_all_distributions_have_one_version() -> None:
    for path in matching(REPOSITORY, "packages/*/pyproject.toml"):
        project = tomllib.loads(path.read_text())["project"]
        assert project["version"] == equipage.__version__, path
        assert f"equipage=={equipage.__version__}" in project["dependencies"], path


def test_a_release_says_what_went_into_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.syspath_prepend(REPOSITORY / "tools")
    release = import_module("release")
    constraints, hashes = release.pinned(["equipage", "equipage-serve"])
    assert {"mcp", "blake3"} <= {each.partition("==")[0] for each in constraints}
    assert len(constraints) == len(set(constraints))
    known = {"hashes": [{"alg": "SHA-256", "content": min(hashes)}]}
    later = {"hashes": [{"alg": "SHA-256", "content": "f" * 64}]}
    bill = {
        "serialNumber": "urn:uuid:1",
        "metadata": {"timestamp": "now"},
        "components": [{"name": "mcp", "externalReferences": [known, later]}],
    }
    assert release.without_chance(bill, hashes) == {
        "metadata": {},
        "components": [{"name": "mcp", **known}],
    }
    wheel = tmp_path / "a.whl"
    wheel.write_bytes(b"wheel")
    (subject,) = release.provenance([wheel], "a" * 40, "hatchling 1")["subject"]
    assert subject["digest"]["sha256"] == hashlib.sha256(b"wheel").hexdigest()


def test_a_release_looks_into_what_it_built(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Here there is nothing to look into; a wheel with a test in it is a problem, too, and a part
    of unknown bytes."""
    monkeypatch.syspath_prepend(REPOSITORY / "tools")
    release = import_module("release")
    assert [*release.problems([])] == [
        "equipage: 0 wheels, 0 source archives",
        "equipage-faults: 0 wheels, 0 source archives",
        "equipage-serve: 0 wheels, 0 source archives",
    ]
    names = [
        "a/__init__.py",
        "a/py.typed",
        "a/tests/x.py",
        "other.py",
        "a-1.dist-info/licenses/LICENSE",
    ]
    found = [*release.problems_of_wheel("a", names, "a-1.dist-info/")]
    assert found == ["a: the wheel has a/tests/x.py", "a: the wheel has other.py"]
    parts = [{"name": "equipage", "hashes": []}, {"name": "blake3", "hashes": []}]
    bill = {"metadata": {"component": {"name": "a"}}, "components": parts}
    assert [*release.problems_of_bill("a", bill)] == [
        "a: its bill of materials has no hash of blake3"
    ]


@pytest.mark.parametrize(
    ("status", "fork", "expected"),
    [(202, "false", 0), (403, "false", 1), (403, "true", 0), (500, "true", 1)],
)
def test_the_action_uploads_its_reports(
    tmp_path: Path, command: dict[str, str], status: int, fork: str, expected: int
) -> None:
    got: list[tuple[str, str, dict[str, Any]]] = []

    class Api(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            data = self.rfile.read(int(self.headers["Content-Length"]))
            got.append((self.path, self.headers["Authorization"], json.loads(data)))
            self.send_response(status)
            self.end_headers()

        def log_message(self, *_args: Any) -> None:
            """Stay silent."""

    report = tmp_path / "a.sarif"
    report.write_text('{"version": "2.1.0"}')
    of_gate = tmp_path / "b.sarif"
    of_gate.write_text('{"runs": [{"results": [1]}]}')
    with HTTPServer(("127.0.0.1", 0), Api) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        env = {
            **command,
            "SARIF": str(report),
            "GATE": str(of_gate),
            "FORK": fork,
            "PYTHON": sys.executable,
            "GITHUB_TOKEN": "t0ken",
            "GITHUB_API_URL": f"http://127.0.0.1:{server.server_port}",
            "GITHUB_REPOSITORY": "o/r",
            "GITHUB_SHA": "a" * 40,
            "GITHUB_REF": "refs/heads/main",
        }
        script = ["bash", "-e", "-c", step("Upload SARIF")]
        done = subprocess.run(script, env=env, capture_output=True, text=True, check=False)
        server.shutdown()
    (path, authorization, body), *more = got
    assert (path, authorization) == ("/repos/o/r/code-scanning/sarifs", "Bearer t0ken")
    assert gzip.decompress(base64.b64decode(body["sarif"])) == report.read_bytes()
    assert (body["commit_sha"], body["ref"]) == ("a" * 40, "refs/heads/main")
    assert [json.loads(gzip.decompress(base64.b64decode(each["sarif"]))) for *_, each in more] == (
        [{"runs": [{"results": [1], "automationDetails": {"id": "gate/"}}]}]
        if status == 202
        else []
    )
    assert done.returncode == expected
    assert ("security-events: write" in done.stderr) == bool(expected)
    assert ("no SARIF from a fork" in done.stdout) == (status == 403 and not expected)
    assert "t0ken" not in done.stdout + done.stderr


@pytest.fixture
def command(tmp_path: Path) -> dict[str, str]:
    """An environment in which `equipage` is this one."""
    script = tmp_path / "bin" / "equipage"
    script.parent.mkdir()
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m equipage "$@"\n')
    script.chmod(0o755)
    (tmp_path / "runner").mkdir()
    env = environment(GITHUB_OUTPUT=str(tmp_path / "output"), RUNNER_TEMP=str(tmp_path / "runner"))
    return {**env, "PATH": f"{script.parent}{os.pathsep}{env['PATH']}"}


def step(name: str) -> str:
    return str(next(each["run"] for each in ACTION["runs"]["steps"] if each.get("name") == name))


def run_check(folder: Path, env: dict[str, str], **inputs: str) -> tuple[str, dict[str, str]]:
    done = subprocess.run(
        ["bash", "-e", "-c", step("Check")],
        cwd=folder,
        env={**env, "PATHS": ".", "STRICT": "false", "ARGS": "", "UPLOAD": "true", **inputs},
        capture_output=True,
        text=True,
        check=True,
    )
    outputs = dict(
        line.split("=", 1) for line in Path(env["GITHUB_OUTPUT"]).read_text().splitlines()
    )
    return done.stdout, outputs


def test_the_action_writes_sarif_and_keeps_the_exit_code(
    tmp_path: Path, command: dict[str, str]
) -> None:
    folder = tmp_path / "with spaces"
    (folder / ".git").mkdir(parents=True)
    (folder / "server.yaml").write_text(BROKEN)
    out, outputs = run_check(folder, command, STRICT="true")
    assert outputs == {"sarif": str(tmp_path / "runner" / "equipage.sarif"), "code": "1"}
    assert "unknown-field" in out
    results = json.loads(Path(outputs["sarif"]).read_text())["runs"][0]["results"]
    assert [each["ruleId"] for each in results] == ["unknown-field"]
    for codes, expected in (("1 0 0", 1), ("0 0 0", 0), ("0 1 0", 1), ("0 0 2", 2), ("0", 1)):
        named = dict(zip(("CODE", "GATE", "LOCK"), codes.split(), strict=False))
        script = ["bash", "-e", "-c", step("Result")]
        assert subprocess.run(script, env={**command, **named}, check=False).returncode == expected


def test_the_action_can_annotate_instead(tmp_path: Path, command: dict[str, str]) -> None:
    folder = tmp_path / "project"
    (folder / ".git").mkdir(parents=True)
    (folder / "server.yaml").write_text(BROKEN)
    out, outputs = run_check(folder, command, UPLOAD="false", PATHS="server.yaml")
    assert outputs == {"code": "0"}
    assert out.startswith("::warning ")


def test_the_action_takes_paths_on_several_lines_and_no_flags_for_paths(
    tmp_path: Path, command: dict[str, str]
) -> None:
    folder = tmp_path / "project"
    (folder / ".git").mkdir(parents=True)
    for name in ("a.yaml", "b.yaml"):
        (folder / name).write_text(BROKEN)
    out, _ = run_check(folder, command, UPLOAD="false", PATHS="a.yaml\nb.yaml\n")
    assert "file=a.yaml" in out
    assert "file=b.yaml" in out
    before = (folder / "a.yaml").read_text()
    _, outputs = run_check(folder, command, UPLOAD="false", PATHS="--fix a.yaml")
    assert outputs["code"] != "0"
    assert (folder / "a.yaml").read_text() == before


class Comments(BaseHTTPRequestHandler):
    """The comments of a pull request, as GitHub keeps them."""

    kept: ClassVar[dict[int, dict[str, Any]]] = {}
    status = 200

    def answer(self, value: Any = None) -> None:
        self.send_response(self.status)
        self.end_headers()
        self.wfile.write(b"" if value is None else json.dumps(value).encode())

    def body(self) -> str:
        return str(json.loads(self.rfile.read(int(self.headers["Content-Length"])))["body"])

    def do_GET(self) -> None:
        self.answer(list(self.kept.values()))

    def do_POST(self) -> None:
        url = f"http://127.0.0.1:{self.server.server_address[1]}/7"
        self.kept[7] = {"url": url, "body": self.body(), "user": {"type": "Bot"}}
        self.answer()

    def do_PATCH(self) -> None:
        self.kept[7]["body"] = self.body()
        self.answer()

    def do_DELETE(self) -> None:
        del self.kept[7]
        self.answer()

    def log_message(self, *_args: Any) -> None:
        """Stay silent."""


def test_the_action_comments_on_what_became_wider_and_on_nothing_else(
    tmp_path: Path, command: dict[str, str]
) -> None:
    folder = write(tmp_path / "project", {".claude/agents/a.md": AGENT.format("Read")})
    commit(folder)
    base = git(folder, "rev-parse", "HEAD")
    Comments.kept.clear()
    Comments.status = 200
    with HTTPServer(("127.0.0.1", 0), Comments) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        env = {
            **command,
            "BASE": base,
            "AUTHOR": "somebody",
            "NUMBER": "3",
            "UPLOAD": "true",
            "PYTHON": sys.executable,
            "GITHUB_TOKEN": "t0ken",
            "GITHUB_API_URL": f"http://127.0.0.1:{server.server_port}",
            "GITHUB_REPOSITORY": "o/r",
            "GITHUB_ACTION_PATH": str(REPOSITORY),
            "GITHUB_STEP_SUMMARY": str(tmp_path / "summary"),
        }

        def gate(**more: str) -> tuple[str, str]:
            done = subprocess.run(
                ["bash", "-e", "-c", step("Gate")],
                cwd=folder,
                env={**env, **more},
                capture_output=True,
                text=True,
                check=True,
            )
            assert "t0ken" not in done.stdout + done.stderr
            return Path(env["GITHUB_OUTPUT"]).read_text().splitlines()[-1], done.stdout

        assert gate()[0] == "code=0"
        assert Comments.kept == {}
        # Another text: nothing to say. Narrower: said, and no failure.
        (folder / ".claude/agents/a.md").write_text(AGENT.format("Read") + "More.\n")
        assert gate()[0] == "code=0"
        assert Comments.kept == {}
        (folder / ".claude/agents/a.md").write_text(AGENT.format("[]"))
        assert gate()[0] == "code=0"
        (comment,) = Comments.kept.values()
        assert "One agent may do less" in comment["body"]
        (folder / ".claude/agents/a.md").write_text(AGENT.format("Read, Bash"))
        assert gate()[0] == "code=1"
        found = json.loads((tmp_path / "runner" / "equipage-gate.sarif").read_text())
        assert [each["ruleId"] for each in found["runs"][0]["results"]] == ["reach-widened"]
        (comment,) = Comments.kept.values()
        assert "| **wider** | tool `Bash` | denied | allowed | `tools[1]` |" in comment["body"]
        assert comment["body"].count("\n**agent `a`**") == 1
        assert "One agent may do more" in (tmp_path / "summary").read_text()
        # One comment for a pull request, whatever is pushed; it goes with its reason.
        (folder / ".claude/agents/a.md").write_text(AGENT.format("Read, Write"))
        assert gate()[0] == "code=1"
        assert "`Write`" in Comments.kept[7]["body"]
        (folder / ".claude/agents/a.md").write_text(AGENT.format("Read"))
        assert gate()[0] == "code=0"
        assert Comments.kept == {}
        # A token that may not write still fails the job.
        Comments.status = 403
        (folder / ".claude/agents/a.md").write_text(AGENT.format("Read, Bash"))
        code, out = gate()
        assert code == "code=1"
        assert "::warning::no comment: HTTP 403" in out
        (folder / base).mkdir()
        with pytest.raises(subprocess.CalledProcessError):
            gate()
        server.shutdown()


AGENT = "---\nname: a\ndescription: d\ntools: {}\n---\nText.\n"


def git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True)
    return done.stdout.decode().strip()


def test_the_action_holds_to_the_lock(tmp_path: Path, command: dict[str, str]) -> None:
    folder = repository(tmp_path / "project", {".claude/agents/a.md": AGENT.format("Read")})
    for arguments, expected in ((["check"], "1"), (["lock"], "0")):
        subprocess.run(["equipage", *arguments], cwd=folder, env=command, check=True)
        script = ["bash", "-e", "-c", step("Lock")]
        subprocess.run(script, cwd=folder, env=command, check=True)
        assert Path(command["GITHUB_OUTPUT"]).read_text().endswith(f"code={expected}\n")


def test_no_input_of_the_action_is_put_into_a_script() -> None:
    for each in ACTION["runs"]["steps"]:
        assert "${{" not in each.get("run", ""), each.get("name")
    used = {word for each in ACTION["runs"]["steps"] for word in str(each).split("inputs.")[1:]}
    assert {name for name in ACTION["inputs"] for word in used if word.startswith(name)} == set(
        ACTION["inputs"]
    )


def test_what_the_pages_say_about_the_action_is_so() -> None:
    page = (REPOSITORY / "docs/how-to/ci.md").read_text()
    for name, each in ACTION["inputs"].items():
        default = each["default"]
        assert f"| `{name}` |" in page
        assert not default or f"| `{name}` | `{default}` |" in page or name == "args"


def test_the_flags_the_hooks_and_the_action_use_exist() -> None:
    for words in (
        ["check", "--fix"],
        ["check", "--output-format", "sarif", "."],
        ["check", "--output-format", "github"],
    ):
        build_parser(*COMMANDS).read(words)


def test_the_problem_matcher_of_the_editor_page_reads_our_annotations(
    tmp_path: Path, command: dict[str, str]
) -> None:
    page = (REPOSITORY / "docs/how-to/editor.md").read_text()
    task = json.loads(
        next(
            body
            for body in re.findall(r"```json\n(.*?)```", page, re.DOTALL)
            if "problemMatcher" in body
        )
    )
    pattern = task["tasks"][0]["problemMatcher"]["pattern"]
    (tmp_path / "server.yaml").write_text(BROKEN)
    said = subprocess.run(
        shlex.split(task["tasks"][0]["command"]),
        cwd=tmp_path,
        env=command,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    found = re.match(pattern["regexp"], said.splitlines()[0])
    assert found is not None
    assert [found[pattern[name]] for name in ("severity", "file", "line", "column")] == [
        "warning",
        "server.yaml",
        "1",
        "19",
    ]
