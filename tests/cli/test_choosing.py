"""What a check looks at beyond paths: standard input, lists of files, and the whole project."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from equipage.cli import COMMANDS, build_parser
from equipage.cli.arguments import EXAMPLES
from lab import in_process, repository, settle, write

AGENT = "---\nname: a\ndescription: d\nskills: pdf\n---\nx\n"
SKILL = "---\nname: pdf\ndescription: d\n---\nx\n"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    repository(tmp_path, {".claude/agents/a.md": AGENT, ".claude/skills/pdf/SKILL.md": SKILL})
    settle(monkeypatch, tmp_path, {})
    return tmp_path


def given(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    stdin = io.TextIOWrapper(io.BytesIO(text.encode()))
    monkeypatch.setattr(sys, "stdin", stdin)


def test_a_text_takes_the_place_of_its_file(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The editor's text counts, not the one on disk; other files are those of the project."""
    given(monkeypatch, AGENT.replace("pdf", "pfd"))
    code, out, err = in_process(
        ["check", "-f", "concise", "--stdin-filename", ".claude/agents/a.md", "-"]
    )
    assert (code, err) == (0, "")
    assert out.startswith(".claude/agents/a.md:4:9: warning[unknown-reference]")
    assert "1 of 1 file" in out


def test_a_new_file_need_not_exist(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given(monkeypatch, AGENT.replace("name: a", "name: b").replace("skills", "skils"))
    code, out, _ = in_process(["check", "-f", "jsonl", "--stdin-filename", ".claude/agents/b.md"])
    assert code == 0
    assert [json.loads(line)["path"] for line in out.splitlines()] == ["skils"]


def test_a_text_is_fixed_and_printed(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As ruff does: the text is the output, findings that are left are notes; no file is written."""
    wrong = AGENT.replace("skills: pdf", "background: yes\nskills: pfd")
    given(monkeypatch, wrong)
    arguments = ["check", "--stdin-filename", ".claude/agents/a.md", "--fix", "-"]
    code, out, err = in_process(arguments)
    assert (code, out) == (0, wrong.replace("yes", "true"))
    assert "warning[unknown-reference]" in err
    assert "wrong-type" not in err
    given(monkeypatch, wrong)
    code, out, err = in_process([*arguments, "--unsafe-fixes"])
    assert (code, out) == (0, wrong.replace("yes", "true").replace("pfd", "pdf"))
    assert "review them" in err
    assert (project / ".claude/agents/a.md").read_text() == AGENT
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"---\nname: \xff\n---\n")))
    code, out, err = in_process(arguments)
    assert (code, out) == (2, "")
    assert "not UTF-8" in err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["-"], "name its file: --stdin-filename NAME -"),
        (["--stdin-filename", "a.md", "b.md"], "name no other files"),
        (["--stdin-filename", "a.md", "--fix", "--json", "-"], "another output format"),
        (["--files-from", "absent"], "--files-from absent: file missing"),
        (["--watch", "-f", "json"], "cannot be combined"),
        (["agents/*.md"], "`agents/*.md`: matches no file"),
    ],
)
def test_what_cannot_be_meant_is_refused(
    project: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], said: str
) -> None:
    given(monkeypatch, "")
    code, out, err = in_process(["check", *arguments])
    assert (code, out) == (2, "")
    assert said in err


@pytest.mark.parametrize("divider", ["\n", "\r\n", "\0"])
def test_a_list_of_files(project: Path, divider: str) -> None:
    write(project, {"list": f".claude/agents/a.md{divider}.claude/skills/pdf/SKILL.md{divider}"})
    code, out, _ = in_process(["check", "--files-from", "list"])
    assert (code, out) == (0, "2 files checked, no problems\n")
    write(project, {"one": ".claude/agents/a.md"})
    everything = in_process(["check", "."])[1]
    # This folder counts where it is named, and not only by default.
    assert in_process(["check", "--files-from", "one"])[1] == "1 file checked, no problems\n"
    assert in_process(["check", "--files-from", "one", "."])[1] == everything
    assert int(everything.split()[0]) > 1


def test_junit_is_xml_whatever_a_file_says(project: Path) -> None:
    write(project, {".claude/agents/<&>.md": AGENT + "", "bad.tool.yaml": 'id: "<]]>\\u0007&"\n'})
    _, out, _ = in_process(["check", "-f", "junit"])
    suites = ElementTree.fromstring(out)
    assert int(suites.attrib["failures"]) == len(suites.findall(".//failure"))
    assert int(suites.attrib["tests"]) == len(suites.findall(".//testcase"))


def test_every_command_has_examples_that_it_understands() -> None:
    for name, command in build_parser(*COMMANDS).commands.items():
        assert command.epilog, name
        assert command.epilog.startswith(EXAMPLES), name
        for line in command.epilog.splitlines()[1:]:
            words = line.split("  ")[1].split("<")[0].split("|")[0].split()
            if words and words[0] == "equipage":
                arguments = [
                    word.strip("'\"")
                    for word in words[1 : words.index(">") if ">" in words else None]
                ]
                assert build_parser(*COMMANDS).read(arguments).command == arguments[0], line
