"""What a file says cannot speak to a terminal, to a build service or to whoever reads a report."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import lading
from clock import SLACK, Clock
from lading.render import text as text_render

from . import world

EVIL = [
    "\x1b[2J\x1b[1;1H",
    "\x1b]0;title\x07",
    "\x1b]8;;http://evil\x1b\\link\x1b]8;;\x1b\\",
    "\x9b31m",
    "\x07\x08\x08\x08",
    "a\rb",
    "a\nb",
    "\n::error file=x::injected",
    "::set-output name=x::y",
    "\n##[error]injected",
    "%0A::error::injected",
    "a,file=b,line=1::c",
    "\u202emoc.live\u202c",
    "\u2028x",
    "\u200bx",
    "</script><script>alert(1)</script>",
    "[link](javascript:alert(1))",
    "![image](http://127.0.0.1/x.png)",
    "<img src=x onerror=alert(1)>",
    '","severity":"note","x":"',
    "`code` **bold** | cell |",
    "{0} %s ${HOME}",
    "\ufeff",
    "\U000e0041\U000e0042",
]
#: What a terminal acts on: anything but the colours we write ourselves.
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\U000e0000-\U000e0fff]")
FORMATS = ["text", "json", "github", "sarif"]


def write(folder: Path, evil: str) -> None:
    (folder / ".git").mkdir(exist_ok=True)
    quoted = json.dumps(evil)
    (folder / "main.yaml").write_text(
        f"server: {{name: {quoted}, {quoted}: {quoted}}}\nunknown_methods: {quoted}\n"
        f"tools: [{{$include: {quoted}}}, {{tool: {{name: {quoted}, description: 1}}}}]\n{quoted}: 1\n",
        encoding="utf-8",
    )
    (folder / "team.yaml").write_text(
        world.BLUEPRINT.text.replace("ref: writer", f"ref: {quoted}") + f"{quoted}: {{$file: {quoted}}}\n",
        encoding="utf-8",
    )


def run(folder: Path, *arguments: str) -> str:
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(each for each in sys.path if each), "COLUMNS": "200"}
    done = subprocess.run(
        [sys.executable, "-m", "lading", *arguments], cwd=folder, env=env, capture_output=True, timeout=120, check=False
    )
    assert done.returncode in (0, 1), done.stderr.decode()
    return done.stdout.decode("utf-8") + done.stderr.decode("utf-8")


@pytest.fixture(scope="module")
def evil_project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One folder for every text, each a project of its own."""
    top = tmp_path_factory.mktemp("evil")
    for number, evil in enumerate(EVIL):
        (top / str(number)).mkdir()
        write(top / str(number), evil)
    return top


@pytest.mark.parametrize("form", FORMATS)
def test_nothing_acts_on_a_terminal(form: str, evil_project: Path) -> None:
    said = run(evil_project, "check", ".", "--output-format", form)
    assert [line for line in said.split("\n") if CONTROL.search(line.replace("\t", ""))] == []


def test_the_report_of_the_library_is_clean_too(evil_project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(evil_project)
    report = lading.check(["."], env={})
    said = "".join(text_render.render(report, text_render.Style(width=200, colour=True))).replace("\x1b[", "")
    assert not [line for line in said.split("\n") if CONTROL.search(line)]
    assert report.errors
    for each in report.diagnostics:
        assert "\n" not in each.message, each


def test_a_build_service_takes_no_orders(evil_project: Path) -> None:
    """Every line of the output is one command of ours; nothing in a message starts another or adds a property."""
    for line in run(evil_project, "check", ".", "--output-format", "github").splitlines():
        match = re.fullmatch(r"::(error|warning|notice) ([^:]*(?::[^:]+)*?)::(.*)", line)
        assert match or not line.startswith(("::", "##")), line
        if match:
            names = [part.partition("=")[0] for part in match[2].split(",")]
            assert set(names) <= {"file", "line", "endLine", "col", "endColumn", "title"}, line
            assert len(names) == len(set(names)), line


@pytest.mark.parametrize("form", ["json", "sarif"])
def test_json_stays_json(form: str, evil_project: Path) -> None:
    data = json.loads(run(evil_project, "check", ".", "--output-format", form))
    assert data
    found = data["diagnostics"] if form == "json" else data["runs"][0]["results"]
    levels = {each.get("severity", each.get("level")) for each in found}
    assert levels <= {"error", "warning", "note"}


@pytest.mark.parametrize(
    "command", [["list", "."], ["show", "main.yaml"], ["graph", "main.yaml"], ["explain", "main.yaml", "server.name"]]
)
def test_other_commands(command: list[str], tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    evil = "".join(EVIL)
    (tmp_path / "main.yaml").write_text(f"server: {{name: {json.dumps(evil)}}}\ntools: []\n", encoding="utf-8")
    said = run(tmp_path, *command)
    assert [line for line in said.split("\n") if CONTROL.search(line)] == []


@pytest.mark.parametrize("letter", ["x", "\u0301", "\u65e5", "\t", "\u202e"], ids=ascii)
def test_a_line_as_long_as_a_file(letter: str, tmp_path: Path) -> None:
    """What is shown of a line takes no longer for a longer line."""
    text = f"server: {{name: a, '{letter * 1_000_000}': '{letter * 1_000_000}', nmae: 1}}\ntools: []\n"
    outcome = world.load(world.SERVER, tmp_path, text)
    with Clock() as clock:
        said = "".join(text_render.render(lading.Report((), outcome.diagnostics), text_render.Style(width=120)))
    assert len(said) < 5_000
    assert clock.seconds < SLACK


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("abc", "abc"),
        ("abcd", "abcd"),
        ("abcde", "abc…"),
        ("日本", "日本"),
        ("日本x", "日…"),
        ("a\u0301bcd", "a\u0301bcd"),
    ],
)
def test_a_text_is_cut_to_its_columns(text: str, shown: str) -> None:
    assert text_render.cut(text, 4) == shown
