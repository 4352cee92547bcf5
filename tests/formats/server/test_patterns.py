"""A pattern of a library on its own: a server that offers it alone, as long as nobody includes it."""

from __future__ import annotations

from pathlib import Path

import pytest

import equipage
from equipage.cli import main
from lab import repository, write

TOOL = "tool: {name: t, description: d, inputSchema: {type: object}}\nresponse: {content: [{type: text, text: x}]}\n"
RESOURCE = "resource: {uri: 'u:1', name: n}\nresponse: {content: x}\n"
PROMPT = "prompt: {name: p}\nresponse: {messages: [{role: user, content: x}]}\n"


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return repository(tmp_path)


@pytest.mark.parametrize(
    ("text", "sort"), [(TOOL, "tools"), (RESOURCE, "resources"), (PROMPT, "prompts")]
)
def test_a_pattern_is_a_server_that_offers_it_alone(text: str, sort: str) -> None:
    write(".", {"x.yaml": text})
    loaded = equipage.load("x.yaml", env={})
    assert (loaded.kind, loaded.warnings) == ("server", ())
    (item,) = getattr(loaded.config.baseline, sort)
    whole = {"server": {"name": "w"}, sort: [{"$include": "x.yaml"}]}
    write(".", {"whole.yaml": whole})
    of_server = equipage.load("whole.yaml", kind="server", library=".", env={})
    assert (item,) == getattr(of_server.config.baseline, sort)


def test_paths_are_those_of_the_pattern() -> None:
    write(".", {"x.yaml": TOOL.replace("type: text", "typ: text")})
    with pytest.raises(equipage.LoadError) as raised:
        equipage.load("x.yaml", env={})
    assert [each.path for each in raised.value.errors] == ["response.content[0]"]
    write(".", {"x.yaml": TOOL})
    loaded = equipage.load("x.yaml", env={})
    place = loaded.locate("tool.description")
    assert place is not None
    assert (place.line, place.column) == (1, 30)
    for path in ("tool.name", "tools[0].tool.name", "baseline.tools[0].tool.name"):
        assert loaded.explain(path).value == "t"


def test_a_pattern_may_be_made_of_another() -> None:
    write(".", {"library/base.yaml": TOOL})
    write(".", {"library/x.yaml": "$include: base.yaml\noverride: {tool: {name: 5}}\n"})
    (error,) = equipage.check(["library/x.yaml"], env={}).errors
    assert (error.name, error.path) == ("library/x.yaml", "tool.name")


def test_a_server_that_includes_it_knows_better_wherever_it_is() -> None:
    part = TOOL.replace("description: d, ", "")
    write(".", {"library/x.yaml": part})
    assert [each.code for each in equipage.check(["."], env={}).errors] == ["missing-field"]
    override = {"tool": {"description": "d"}}
    server = {"server": {"name": "s"}, "tools": [{"$include": "x.yaml", "override": override}]}
    write(".", {"s.yaml": server})
    for paths in (["."], ["library"], ["library/x.yaml"], ["s.yaml", "library/x.yaml"]):
        report = equipage.check(paths, env={})
        assert (report.ok, report.diagnostics) == (True, ()), paths
    assert not equipage.check(["library/x.yaml"], kind="server", env={}).ok


def test_a_difference_of_a_pattern_is_told_by_the_server_that_includes_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    server = {"server": {"name": "s"}, "tools": [{"$include": "x.yaml"}]}
    write("old", {"s.yaml": server, "library/x.yaml": TOOL, "library/y.yaml": TOOL})
    changed = TOOL.replace("description: d", "description: e")
    write("new", {"s.yaml": server, "library/x.yaml": changed, "library/y.yaml": changed})
    assert main(["diff", "old", "new"]) == 1
    told = capsys.readouterr().out
    assert [each for each in told.splitlines() if each and each[0] != " "] == [
        "library/y.yaml",
        "s.yaml",
        "2 files differ: 2 × prompt changed",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "tool: grep\nresponse: ok\n",
        "tool: {name: x, arguments: {}}\nresult: {content: []}\n",
        "prompt: say hello\nresponse: {text: hello}\n",
        "resource: {type: aws}\nother: 1\n",
        "- tool: {inputSchema: {}}\n",
    ],
)
def test_files_of_others_are_left_alone(text: str) -> None:
    write(".", {"x.yaml": text})
    assert equipage.check(["."], env={}).diagnostics == ()


def test_what_makes_a_whole_server_makes_no_pattern() -> None:
    text = TOOL + "tools: []\n"
    write(".", {"x.yaml": text})
    codes = {
        (each.code, each.path) for each in equipage.check(["x.yaml"], kind="server").diagnostics
    }
    assert ("missing-field", "") in codes


def test_every_command_about_a_file_takes_one(capsys: pytest.CaptureFixture[str]) -> None:
    write(".", {"x.yaml": TOOL})
    assert main(["show", "x.yaml", "tool.name"]) == 0
    assert capsys.readouterr().out == "t\n"
    assert main(["list", "x.yaml"]) == 0
    assert "x.yaml:1" in capsys.readouterr().out
    assert main(["lock", "x.yaml", "-o", "-"]) == 0
