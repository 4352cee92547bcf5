"""The tools people would pick instead: where they are installed, and what linters say of a tree.

`make comparison`, `make peers` and `make bench` use them, so a pin of `linters.toml` counts for all
three. Every linter is asked for its machine-readable output. One that gives no report raises
`NoReport`: silence is not the same as having found nothing.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).resolve().parent
HOME = HERE.parent / ".peers"
PINS: dict[str, dict[str, str]] = tomllib.loads((HERE / "linters.toml").read_text("utf-8"))
#: The words of some reports for a level.
LEVELS = {"errors": "error", "warnings": "warning", "suggestions": "info"}
#: Seconds that one tool may take for one tree.
PATIENCE = 600


class NoReport(Exception):
    """A tool ended without a report, or took too long."""


class Said(NamedTuple):
    """One finding: the absolute path of its file, and its line, 0 where the tool names none."""

    file: str
    line: int
    text: str
    #: `error`, `warning` or `info`
    level: str


def package_of(name: str) -> str:
    return PINS[name].get("pip") or PINS[name]["npm"]


def version_of(name: str) -> str:
    return re.split("[@=]", package_of(name))[-1]


def installed(name: str) -> Path:
    """The folder of the programs of a tool, which is installed first if that version is not there.

    Raises `OSError` or `subprocess.SubprocessError` where it cannot be installed.
    """
    home = HOME / name
    is_python = "pip" in PINS[name]
    programs = home / ("bin" if is_python else "node_modules/.bin")
    mark = home / ".installed"
    if mark.exists() and mark.read_text(encoding="utf-8") == package_of(name):
        return programs
    home.mkdir(parents=True, exist_ok=True)
    if is_python:
        subprocess.run([sys.executable, "-m", "venv", "--clear", home], check=True)
        command = [programs / "python", "-m", "pip", "install", "-q", "--disable-pip-version-check"]
    else:
        (home / "package.json").write_text('{"private": true}\n', encoding="utf-8")
        command = [shutil.which("npm") or "npm", "install", "--silent", "--no-audit", "--no-fund"]
    subprocess.run([*command, package_of(name)], cwd=home, check=True, stdout=subprocess.DEVNULL)
    mark.write_text(package_of(name), encoding="utf-8")
    return programs


def output(command: list[str | Path], tree: Path) -> str:
    """What a command prints in a tree, with an empty home and no network to ask."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:
        env = {"PATH": os.environ["PATH"], "HOME": home, "NO_COLOR": "1", "IS_SANDBOX": "1"}
        env |= {"DISABLE_AUTOUPDATER": "1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"}
        env |= {"http_proxy": "http://127.0.0.1:9", "https_proxy": "http://127.0.0.1:9"}
        try:
            done = subprocess.run(
                command, cwd=tree, env=env, capture_output=True, text=True, timeout=PATIENCE
            )
        except subprocess.TimeoutExpired as late:
            raise NoReport(f"{command[0]}: {tree}: no answer in {PATIENCE} s") from late
    return done.stdout


def report_in(text: str) -> Any:
    try:
        return json.loads(text[text.index("{") :])
    except ValueError as error:
        raise NoReport(f"not a report: {text[:300]!r}") from error


# The linters.


def equipage(tree: Path) -> Iterator[Said]:
    said = output([sys.executable, "-m", "equipage", "check", "-f", "json"], tree)
    for each in report_in(said)["diagnostics"] if said.strip() else ():
        file = str(tree / (each["file"] or "."))
        yield Said(file, each["line"] or 0, each["message"], each["severity"])


def agnix(tree: Path) -> Iterator[Said]:
    report = report_in(output([installed("agnix") / "agnix", "--format", "json", "."], tree))
    for each in report["diagnostics"]:
        file, text = str(tree / each["file"]), f"{each['rule']} {each['message']}"
        yield Said(file, each["line"], text, each["level"])


def claude_code_lint(tree: Path) -> Iterator[Said]:
    command: list[str | Path] = [installed("claude-code-lint") / "claudelint", "check-all"]
    command += ["--no-cache", "--no-config", "--format", "json", "--no-collapse"]
    for validator in report_in(output(command, tree))["validators"]:
        for key in ("errors", "warnings"):
            for each in validator[key]:
                file = str(tree / (each.get("file") or "."))
                yield Said(file, each.get("line", 0), each["message"], LEVELS[key])


def cclint(tree: Path) -> Iterator[Said]:
    with tempfile.TemporaryDirectory() as scratch:
        file = Path(scratch, "report.json")
        program = installed("cclint") / "cclint"
        said = output([program, "-r", ".", "-q", "-f", "json", "-o", file], tree)
        # It writes nothing where it finds no file that it knows, and says so.
        if not file.exists() and said.strip() and "o files" not in said and "No " not in said:
            raise NoReport(f"cclint: {tree}: {said[:300]}")
        text = file.read_text(encoding="utf-8") if file.exists() else '{"results": []}'
    for result in report_in(text)["results"]:
        for key in LEVELS:
            for each in result[key]:
                place = re.search(r"at line (\d+)", each)
                line = int(place[1]) if place else 0
                yield Said(str(tree / result["file"]), line, each, LEVELS[key])


#: skills-ref has no command for many skills: its function is called for each, in one process.
SKILLS = """
import json, pathlib, sys, skills_ref
tree = pathlib.Path(sys.argv[1])
skip = {".git", "node_modules", ".venv"}
for file in sorted(tree.rglob("SKILL.md")):
    if skip.isdisjoint(file.relative_to(tree).parts):
        try:
            found = skills_ref.validate(file.parent)
        except Exception as error:
            found = [str(error)]
        print(json.dumps([str(file), found]))
"""


def skills_ref(tree: Path) -> Iterator[Said]:
    said = output([installed("skills-ref") / "python", "-c", SKILLS, str(tree)], tree)
    for file, found in map(json.loads, said.splitlines()):
        for text in found:
            yield Said(file, 0, text, "error")


LINTERS: dict[str, Callable[[Path], Iterator[Said]]] = {
    "agnix": agnix,
    "claude-code-lint": claude_code_lint,
    "cclint": cclint,
    "skills-ref": skills_ref,
}
