"""Settings of a project: what they do, and that they are checked like everything else."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec
import pytest

import equipage
from equipage.loading.session import Request
from equipage.project.settings import ProjectSettings, Selection, project_of
from equipage.workspace import Workspace
from equipage.workspace.report import Report
from lab import Link, check, command, in_process, write

SERVER = "server: {name: x}\ntools: []\nextra: 1\n"


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def told(report: Report) -> list[str]:
    return [str(each) + (f" | {each.help}" if each.help else "") for each in report.diagnostics]


@pytest.mark.parametrize(
    ("text", "counts"),
    [
        pytest.param(
            "[ tool.equipage ]\nignore = ['unknown-field']\n", True, id="blanks in the brackets"
        ),
        pytest.param(
            "[tool]\nequipage = {ignore = ['unknown-field']}\n", True, id="an inline table"
        ),
        pytest.param("tool.equipage.ignore = ['unknown-field']\n", True, id="dotted keys"),
        pytest.param("# see [tool.equipage]\n[project]\nname = 'x'\n", False, id="a comment"),
        pytest.param("[project]\nname = 'equipage'\n", False, id="a word"),
    ],
)
def test_settings_are_told_by_what_the_file_means(text: str, counts: bool) -> None:
    write(".", {"sub/a.yaml": SERVER, "sub/pyproject.toml": text})
    assert [each.code for each in check("sub").diagnostics] == ([] if counts else ["unknown-field"])
    here = str(Path.cwd().resolve())
    root = project_of("sub/a.yaml", Request(env={}, folders=(here,)).new_run()).root
    assert root == (str(Path("sub").resolve()) if counts else here)


TOOL = "tool: {name: echo, description: d, inputSchema: {type: object}}\n"
PROJECT = {
    "a.yaml": SERVER,
    "odd.conf": SERVER,
    "main.yaml": "server: {name: x, version: '1'}\ntools: [{$include: echo.yaml}]\n",
    "library/echo.yaml": Link("../shared/echo.yaml"),
    "shared/echo.yaml": TOOL,
    "shelf/echo.yaml": TOOL + "extra: 1\n",
    ".claude/agents/a.md": "---\nname: a\ndescription: d\ntrigger: now\ntools: Raed\n---\nHelp.\n",
    ".mcp.json": {"mcpServers": {"x": {"command": "npx", "args": ["-y", "some-server"]}}},
    "s.json": {"type": "object", "required": ["id"]},
    "own/x.json": {},
}
#: Every setting with a value that changes what a check of these files says.
SETTINGS = {
    "kinds": "{'*.conf' = 'server'}",
    "conventions": "false",
    "exclude": "['a.yaml']",
    "include": "['a.yaml']",
    "baseline": "'known.json'",
    "select": "['wrong-type']",
    "ignore": "['unknown-field']",
    "severity": "{unknown-field = 'error'}",
    "roots": "['shared']",
    "library": "'shelf'",
    "per-file-ignores": "{'a.*' = ['unknown-field']}",
    "own-keys": "{claude-agent = ['trigger']}",
    "schemas": "[{schema = 's.json', files = ['own/*.json']}]",
    "policy": "{pins = true}",
}


def test_the_table_has_every_setting() -> None:
    assert [*SETTINGS] == [each.encode_name for each in msgspec.structs.fields(ProjectSettings)]


@pytest.mark.parametrize("name", SETTINGS)
@pytest.mark.parametrize("file", ["equipage.toml", "pyproject.toml"])
def test_every_setting_is_used(file: str, name: str) -> None:
    write(".", PROJECT)
    in_process(["check", "--write-baseline"])
    Path("equipage-baseline.json").rename("known.json")
    head = "" if file == "equipage.toml" else "[tool.equipage]\n"
    write(".", {file: head})
    without = in_process(["check"])
    write(".", {file: f"{head}{name} = {SETTINGS[name]}\n"})
    done = in_process(["check"])
    assert file not in done.out, "the setting is good"
    assert done.out != without.out


def test_a_glob_of_the_settings_finds_files_of_any_extension() -> None:
    write(".", {"odd.conf": "server: {name: 5}\ntools: []\n"})
    assert check().files == ()
    write(".", {"equipage.toml": "kinds = {'*.conf' = 'server'}\n"})
    assert [each.code for each in check().diagnostics] == ["wrong-type"]


def test_slips_in_settings_have_a_place() -> None:
    write(
        ".",
        {
            "a.yaml": "server: {name: x}\ntools: []\n",
            "pyproject.toml": "[project]\nname = 'x'\n\n[tool.equipage]\nselct = []\nignore = ['unknwon-field']\nconventions = 'no'\n"
            "roots = ['..', 'lost']\n[tool.equipage.kinds]\n'*.conf' = 'sever'\n[tool.equipage.severity]\nwrong-typ = 'error'\nenv-missing = 'fatal'\n"
            "[tool.equipage.own-keys]\nclaude-agnet = ['trigger']\n",
        },
    )
    assert told(check()) == [
        "pyproject.toml:5:1: warning[unknown-field] `selct` is not a field of the project settings (at tool.equipage.selct) | did you mean `select`?",
        "pyproject.toml:6:11: warning[unknown-code] `unknwon-field` is not a code equipage knows (at tool.equipage.ignore[0]) | did you mean `unknown-field`?",
        "pyproject.toml:7:15: error[wrong-type] expected `true` or `false`, found text `no` (at tool.equipage.conventions) | write `false`",
        "pyproject.toml:8:10: error[root-outside] `..` lies outside the project (at tool.equipage.roots[0]) | move the folder into the project, or use --root",
        "pyproject.toml:8:16: warning[root-missing] there is no folder `lost` (at tool.equipage.roots[1]) | check the spelling; it is looked up from the project root",
        "pyproject.toml:10:12: error[unknown-kind] there is no kind `sever` (at tool.equipage.kinds[\"*.conf\"]) | did you mean `server`? known: " + _known(),
        "pyproject.toml:12:1: warning[unknown-code] `wrong-typ` is not a code equipage knows (at tool.equipage.severity.wrong-typ) | did you mean `wrong-type`?",
        "pyproject.toml:13:15: error[invalid-value] `fatal` is not a valid value, expected one of `error`, `note`, `warning` (at tool.equipage.severity.env-missing)",
        "pyproject.toml:15:1: error[unknown-kind] there is no kind `claude-agnet` (at tool.equipage.own-keys.claude-agnet) | did you mean `claude-agent`? known: " + _known(),
    ]  # fmt: skip
    assert [(each.path, each.kind, each.ok) for each in check().files] == [
        ("a.yaml", "server", True),
        ("pyproject.toml", "project", False),
    ]


@pytest.mark.parametrize("name", ["roots = ['a\\u0000b']", "library = 'a\\u0000b'"])
def test_a_root_that_no_folder_can_be_called_is_missing(name: str) -> None:
    """The system refuses to look up a name with a zero byte."""
    text = name.replace("'", '"')
    write(".", {"pyproject.toml": f"[tool.equipage]\n{text}\n"})
    assert [each.code for each in check().diagnostics] == ["root-missing"]


def _known() -> str:
    from equipage.project.registry import known_kinds

    return ", ".join(f"`{name}`" for name in known_kinds())


def test_settings_that_do_not_parse_are_told_and_the_rest_is_checked() -> None:
    write(".", {"a.yaml": SERVER, "equipage.toml": "ignore = [\n"})
    assert [each.code for each in check().diagnostics] == ["unknown-field", "toml-syntax"]


def test_two_places_for_settings_are_one_too_many() -> None:
    write(
        ".",
        {
            "a.yaml": SERVER,
            "equipage.toml": 'ignore = ["unknown-field"]\n',
            "pyproject.toml": "[tool.equipage]\n",
        },
    )
    assert told(check()) == [
        (
            "equipage.toml:1:1: warning[settings-twice] `[tool.equipage]` in pyproject.toml has no effect: this file "
            "comes first | move everything into one of the two"
        )
    ]


def test_a_pyproject_that_does_not_speak_of_equipage_is_left_alone() -> None:
    write(
        ".",
        {
            "a.yaml": "server: {name: x}\ntools: []\n",
            "pyproject.toml": "[project]\ndependencies = ['equipage']\nbroken =\n",
        },
    )
    assert check().diagnostics == ()


def test_each_file_answers_to_its_own_project() -> None:
    write(
        ".",
        {
            "a.yaml": SERVER,
            "sub/b.yaml": SERVER,
            "sub/equipage.toml": 'ignore = ["unknown-field"]\n',
        },
    )
    assert [each.name for each in check().diagnostics] == ["a.yaml"]


def test_the_command_line_beats_the_settings() -> None:
    write(".", {"a.yaml": SERVER, "equipage.toml": 'select = ["wrong-type"]\n'})
    request = Request(env={})
    only = Selection(frozenset({"unknown-field"}))
    assert Workspace(["."], request, selection=only).report().diagnostics
    without = Selection(None, frozenset({"unknown-field"}))
    assert not Workspace(["."], request, selection=without).report().diagnostics


def test_roots_of_the_settings_reach_the_load() -> None:
    write(".", {"equipage.toml": "roots = ['shared']\n", "shared/x.txt": "x"})
    request = project_of("a.yaml", Request(env={}).new_run()).extend_request(Request(env={}))
    assert request.roots == (os.path.join(os.path.realpath("."), "shared"),)


def test_a_project_cannot_name_code_to_import() -> None:
    """Whatever the settings name as a kind, nothing of the project is imported."""
    write(
        ".",
        {
            "evil.py": "open('pwned', 'w')\n",
            "equipage.toml": "kinds = {'*.a' = 'evil', '*.b' = 'evil:KIND', '*.c' = './evil.py'}\n",
            "x.a": "a: 1\n",
        },
    )
    done = command("check", ".")
    assert done.code == 2
    assert done.out.count("unknown-kind") == 3
    assert not Path("pwned").exists()


def test_a_kind_that_somebody_installed_can_be_named(monkeypatch: pytest.MonkeyPatch) -> None:
    import msgspec

    from equipage.loading.format import Format
    from equipage.project import registry

    class Note(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
        text: str

    class Entry:
        name = "note"

        def load(self) -> Format:
            return Format(Note, "note", "note")

    monkeypatch.setattr(registry, "_plugins", {})
    monkeypatch.setattr(
        "importlib.metadata.entry_points",
        lambda group: [Entry()] if group == "equipage.formats" else [],
    )
    write(
        ".",
        {
            "equipage.toml": "kinds = {'*.note' = 'note'}\n",
            "good.note": "text: hello\n",
            "bad.note": "txt: hello\n",
        },
    )
    assert [str(each) for each in check().errors] == [
        "bad.note:1:1: error[missing-field] missing required field `text` in `note`",
        "bad.note:1:1: error[unknown-field] `txt` is not a field of `note` (at txt)",
    ]
    assert {each.path: each.kind for each in check().files} == {
        "good.note": "note",
        "bad.note": "note",
    }


@pytest.mark.parametrize("start", [".", "servers", "/"])
def test_the_library_of_a_project_is_found_from_anywhere(
    start: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool = (
        "tool: {name: t, description: d, inputSchema: {type: object}}\n"
        "response: {content: [{type: text, text: x}]}\n"
    )
    for name in ("library", "shelf"):
        (tmp_path / name).mkdir()
        (tmp_path / name / f"{name}.yaml").write_text(tool)
    (tmp_path / ".git").mkdir()
    (tmp_path / "servers").mkdir()
    server = tmp_path / "servers/s.yaml"
    server.write_text("server: {name: x}\ntools: [{$include: library.yaml}]\n")
    monkeypatch.chdir(tmp_path / start)
    assert equipage.check([str(server)], env={}).diagnostics == ()
    assert equipage.load(server, env={}).config.baseline.tools
    (tmp_path / "equipage.toml").write_text('library = "shelf"\n')
    assert [each.code for each in equipage.check([str(server)], env={}).errors] == [
        "include-not-found"
    ]
    server.write_text("server: {name: x}\ntools: [{$include: shelf.yaml}]\n")
    assert equipage.check([str(server)], env={}).diagnostics == ()
    (tmp_path / "equipage.toml").write_text('library = "/etc"\n')
    codes = {each.code for each in equipage.check([str(server)], env={}).errors}
    assert codes == {"root-outside", "include-not-found"}


def test_an_isolated_check_obeys_nothing_of_the_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from equipage.cli import main

    monkeypatch.chdir(tmp_path)
    (tmp_path / ".git").mkdir()
    (tmp_path / ".gitignore").write_text("s.yaml\n")
    (tmp_path / "equipage.toml").write_text('ignore = ["wrong-type"]\n')
    (tmp_path / "s.yaml").write_text("server: {name: x}\ntools: [5]\n")
    assert main(["check", "."]) != 1
    assert main(["check", "--isolated", "."]) == 1
    assert "error[wrong-type]" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("pattern", "left"),
    [
        pytest.param("**", [], id="everything"),
        pytest.param("*", [], id="every name"),
        pytest.param("./sub", ["a.tool.yaml"], id="from the project, with a dot"),
        pytest.param("sub/", ["a.tool.yaml"], id="a folder"),
        pytest.param("*.yml", ["a.tool.yaml", "sub/b.tool.yaml"], id="nothing of it"),
    ],
)
def test_what_is_excluded_is_not_checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pattern: str, left: list[str]
) -> None:
    monkeypatch.chdir(write(tmp_path, {"a.tool.yaml": "id: 5", "sub/b.tool.yaml": "id: 5"}))
    write(tmp_path, {"equipage.toml": f"exclude = ['{pattern}']\n"})
    names = [each.path for each in equipage.check(["."], env={}).files]
    assert [each for each in names if each.endswith(".tool.yaml")] == left
    # A folder inside what is excluded was asked for.
    assert "sub/b.tool.yaml" in {each.path for each in equipage.check(["sub"], env={}).files}
