"""The text of a file gives no commands to a terminal, a build service or a report."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

import equipage
from clock import SLACK, Clock
from equipage.cli import main
from equipage.render import text as text_render
from lab import command, environment

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
CONTROL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\U000e0000-\U000e0fff]"
)
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
        world.BLUEPRINT.text.replace("ref: writer", f"ref: {quoted}")
        + f"{quoted}: {{$file: {quoted}}}\n",
        encoding="utf-8",
    )


def run(folder: Path, *arguments: str) -> str:
    done = command(*arguments, cwd=folder, env=environment(COLUMNS="200"))
    assert done.code in (0, 1), done.err
    return done.out + done.err


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


def test_the_report_of_the_library_is_clean_too(
    evil_project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(evil_project)
    report = equipage.check(["."], env={})
    said = "".join(text_render.render(report, text_render.Style(width=200, colour=True))).replace(
        "\x1b[", ""
    )
    assert not [line for line in said.split("\n") if CONTROL.search(line)]
    assert report.errors
    for each in report.diagnostics:
        assert "\n" not in each.message, each


def test_a_build_service_takes_no_orders(evil_project: Path) -> None:
    """Every line of the output is one command of ours; nothing in a message starts another or adds
    a property."""
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
    "command", [["list", "."], ["show", "main.yaml"], ["explain", "main.yaml", "server.name"]]
)
def test_other_commands(command: list[str], tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    evil = "".join(EVIL)
    (tmp_path / "main.yaml").write_text(
        f"server: {{name: {json.dumps(evil)}}}\ntools: []\n", encoding="utf-8"
    )
    # A name no parser takes is no sign of a server, so the settings say what the file is.
    (tmp_path / "equipage.toml").write_text('kinds = {"main.yaml" = "server"}\n')
    said = run(tmp_path, *command)
    assert [line for line in said.split("\n") if CONTROL.search(line)] == []


#: What could be the name of a file, too.
NAMES = [evil for evil in EVIL if "/" not in evil]
#: Commands in which NAME is that of a file; others in which it means something else.
ON_FILES = [
    "check NAME.yaml",
    "check . --diff",
    "check . --output-format github",
    "check . --output-format json",
    "check . --output-format sarif",
    "check NAME.yaml --fix",
    "check NAME.missing.yaml",
    "check --kind skill NAME.yaml",
    "list .",
    "show NAME.yaml",
    "show NAME.yaml --annotate",
    "explain NAME.yaml server.name",
    "explain NAME.yaml server.NAME",
    "lock NAME.yaml",
    "lock NAME.yaml -o -",
    "verify --lock NAME.yaml",
    "verify NAME.yaml --lock NAME.yaml",
    "lock NAME.yaml -o NAME/x",
    "diff NAME.yaml good.yaml",
    "diff NAME.yaml bad-NAME.yaml",
    "diff NAME good.yaml",
    "diff one two",
]
OTHERS = [
    "check . --select NAME",
    "check . --kind NAME",
    "check . --root NAME",
    "check . --NAME",
    "check . --output-format NAME",
    "NAME",
    "rule NAME",
    "new NAME x",
    "new server NAME",
    "schema NAME",
]


@pytest.mark.parametrize("written", [*ON_FILES, *OTHERS])
def test_names_act_on_nothing(
    written: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The names of files and the arguments are as harmless, in the output and in every note."""
    for number, evil in enumerate(NAMES):
        folder = tmp_path / str(number)
        (folder / ".git").mkdir(parents=True)
        monkeypatch.chdir(folder)
        Path("good.yaml").write_text("server: {name: a}\ntools: []\n")
        Path(f"{evil}.yaml").write_text("server: {name: a, versoin: 1}\ntools: []\n")
        Path(f"bad-{evil}.yaml").write_text("server: {name: 1}\ntools: 1\n")
        for side, version in (("one", 1), ("two", 2)):
            Path(side).mkdir()
            Path(side, f"{evil}.yaml").write_text(
                f"server: {{name: a, version: '{version}'}}\ntools: []\n"
            )
        main([word.replace("NAME", evil) for word in written.split()])
        out, err = capsys.readouterr()
        assert "a bug in equipage" not in err
        for line in (out + err).split("\n"):
            assert not CONTROL.search(line.replace("\t", "")), ascii(line)
            ours = "github" in written and re.match("::(error|warning|notice) (file|title)=", line)
            assert ours or not line.startswith(("::", "##")), line


def test_the_words_of_a_finding_can_be_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also if the name of its file is not valid text."""
    monkeypatch.chdir(tmp_path)
    path = os.fsdecode(b"a\xff\n\x1b.yaml")
    Path(path).write_text("server: {name: 1}\ntools: []\n")
    with pytest.raises(equipage.LoadError) as caught:
        equipage.load(path, kind="server", env={})
    said = str(caught.value)
    assert said.encode().startswith(rb"a\udcff\n\u001b.yaml:1:16: error[wrong-type]")
    assert said == "\n".join(map(str, caught.value.errors))


@pytest.mark.parametrize(
    ("name", "header"),
    [
        ("a b.yaml", b"--- a/a b.yaml"),
        ("\u00e9.yaml", b"--- a/\xc3\xa9.yaml"),
        ("n\n::error::x.yaml", rb'--- "a/n\n::error::x.yaml"'),
        ('q"\\.yaml', rb'--- "a/q\"\\.yaml"'),
        ("\x1b\u202e.yaml", rb'--- "a/\033\342\200\256.yaml"'),
    ],
)
def test_a_diff_quotes_names_as_git_does(
    name: str,
    header: bytes,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    subprocess.run(["git", "init", "-q", "."], check=True)
    Path(name).write_text("server: {name: a, versoin: 1.0.0}\ntools: []\n")
    main(["check", ".", "--diff"])
    patch = capsys.readouterr().out.encode()
    assert patch.startswith(header + b"\n")
    subprocess.run(["git", "apply"], input=patch, check=True)
    assert "version: 1.0.0" in Path(name).read_text()


@pytest.mark.parametrize("letter", ["x", "\u0301", "\u65e5", "\t", "\u202e"], ids=ascii)
def test_a_line_as_long_as_a_file(letter: str, tmp_path: Path) -> None:
    """What is shown of a line takes no longer for a longer line."""
    text = (
        f"server: {{name: a, '{letter * 1_000_000}': '{letter * 1_000_000}', nmae: 1}}\ntools: []\n"
    )
    outcome = world.load(world.SERVER, tmp_path, text)
    with Clock() as clock:
        said = "".join(
            text_render.render(
                equipage.Report((), outcome.diagnostics), text_render.Style(width=120)
            )
        )
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
    assert text_render.truncate(text, 4) == shown


@pytest.mark.parametrize(
    "command",
    ["check .", "list .", *(f"check . --output-format {each}" for each in ("json", "jsonl"))],
)
@pytest.mark.parametrize("evil", ["##[stop-commands]x", "a ##vso[task.setvariable variable=P]/x"])
def test_no_command_of_a_build_service_anywhere_in_a_line(
    command: str,
    evil: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Runners look for these marks in the middle of lines, too."""
    agents = tmp_path / ".claude" / "agents"
    agents.mkdir(parents=True)
    (tmp_path / ".git").mkdir()
    quoted = json.dumps(evil)
    (agents / "a.md").write_text(
        f"---\nname: a\ndescription: {quoted}\ntols: {quoted}\nmodel: [{quoted}]\n---\nb\n"
    )
    # Names of files and keys are data in JSON: escaped there, they are still what they were.
    (tmp_path / f"{evil.replace('/', ' ')}.tool.yaml").write_text(f"{quoted}: 1\n")
    monkeypatch.chdir(tmp_path)
    main(command.split())
    out, err = capsys.readouterr()
    if command.endswith("json"):
        assert evil in {each["pointer"][1:].replace("~1", "/") for each in findings(out)}
    assert "##[" not in out + err
    assert "##vso[" not in out + err


def findings(text: str) -> list[dict[str, Any]]:
    return list(json.loads(text)["diagnostics"])


@pytest.mark.parametrize(
    "text",
    ["##[add-mask]x", "a ##vso[task.setvariable]b", "a\n::set-env name=a::b\n", "a\n\t::b::\nc", "##[x]"],
)  # fmt: skip
def test_a_document_gives_no_orders_and_means_the_same(text: str) -> None:
    """`show` prints values of strangers as YAML, which a build service reads line by line."""
    import yaml

    from equipage.render.text import dump_yaml

    value = {"key": text, text: [text, {"deep": text}]}
    shown = "".join(dump_yaml(value))
    assert not re.search(r"##(?:vso)?\[|^\s*::", shown, re.MULTILINE), shown
    assert yaml.safe_load(shown) == value
