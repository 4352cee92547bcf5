"""What a file holds says its kind: however it is written, encoded or named."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import equipage
from lab import write

BLUEPRINT = '{"id": "x", "flow": {"kind": "seq", "children": []}}'
SERVER = "server: {name: x}\ntools: []\n"


def _walked(folder: Path, content: str | bytes, name: str = "a.yaml") -> equipage.Report:
    """A check that meets a file in a folder, without being told about it."""
    return equipage.check([write(folder, {name: content})], env={})


def _kinds(report: equipage.Report) -> list[str | None]:
    return [each.kind for each in report.files]


# Variables are replaced before a server is parsed, so they take part in what it looks like.


@pytest.mark.requirement("F-005", "F-011")
@pytest.mark.parametrize(
    "text",
    [
        pytest.param("server: {name: ${NAME:-x}}\ntools: []\n", id="braces in flow style"),
        pytest.param("server: {name: ${NAME}}\ntools: []\n", id="no default"),
        pytest.param("server: {name: a}\ntools: ${TOOLS:-[]}\n", id="a part as a whole"),
        pytest.param("server: {name: a}\n${PART:-tools}: []\n", id="the name of a part"),
        pytest.param("${ROOT:-server}: {name: a}\ntools: []\n", id="the first key"),
        pytest.param("server: ${S:-{name: a}}\nbaseline: ${B:-{}}\n", id="mappings as defaults"),
        pytest.param("# $${HOME\nserver: {name: ${N:-a}}\ntools: []\n", id="an escaped dollar"),
    ],
)
def test_a_server_with_variables_is_recognised(tmp_path: Path, text: str) -> None:
    assert _kinds(_walked(tmp_path, text)) == ["server"]


def test_the_environment_does_not_decide_what_a_file_is(tmp_path: Path) -> None:
    write(tmp_path, {"a.yaml": "${ROOT:-server}: {name: a}\ntools: []\n"})
    for value in ("server", "other", ""):
        report = equipage.check([tmp_path], env={"ROOT": value})
        assert _kinds(report) == ["server"]


def test_a_brace_that_is_never_closed_hides_no_blueprint(tmp_path: Path) -> None:
    text = BLUEPRINT.replace('"x"', '"echo ${x"')
    assert _kinds(_walked(tmp_path, text, "a.json")) == ["blueprint"]


# Only UTF-8 is loaded. What is recognised in another encoding is an error, never silence.


@pytest.mark.requirement("F-001")
@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize(("name", "text"), [("a.yaml", SERVER), ("a.json", BLUEPRINT)])
def test_another_encoding_is_reported(tmp_path: Path, name: str, text: str, encoding: str) -> None:
    report = _walked(tmp_path, text.encode(encoding), name)
    assert [each.severity for each in report.diagnostics] == ["error"]


def test_another_encoding_of_something_else_is_not_ours(tmp_path: Path) -> None:
    assert _walked(tmp_path, "colour: red\n".encode("utf-16")).files == ()


# What does not parse is named where its author can see it.


@pytest.mark.parametrize(
    ("name", "text", "kind"),
    [
        ("a.yaml", "id: x\nflow:\n  kind: 'seq\n", "blueprint"),
        ("a.json", '{"id": "x", "flow": {"kind": "seq", "children": [}}', "blueprint"),
        ("a.json", '{"tools": [], "server": {"name": "x"', "server"),
        ("a.yaml", "tools: [\nserver: {name: x}\n", "server"),
    ],
)
def test_a_broken_file_in_a_walk_is_a_note(tmp_path: Path, name: str, text: str, kind: str) -> None:
    (note,) = _walked(tmp_path, text, name).diagnostics
    assert (note.code, note.severity) == ("possible-kind", "note")
    assert kind in note.message


# A file that the caller names needs no particular name.


@pytest.mark.requirement("F-011")
@pytest.mark.parametrize("name", ["attack", "server.conf", "server.yaml.bak", "s.txt"])
def test_a_named_file_is_recognised_whatever_its_name(tmp_path: Path, name: str) -> None:
    path = write(tmp_path, {name: SERVER}) / name
    assert equipage.load(path, env={}).config.server.name == "x"
    assert _walked(tmp_path, SERVER, name).files == ()


@pytest.mark.requirement("BP-01")
def test_a_blueprint_of_another_extension_says_so(tmp_path: Path) -> None:
    path = write(tmp_path, {"b.toml": BLUEPRINT}) / "b.toml"
    with pytest.raises(equipage.LoadError, match=r"toml"):
        equipage.load(path, env={})


@pytest.mark.requirement("F-011")
@pytest.mark.parametrize("at", ["first", "last"])
def test_a_large_file_is_recognised_like_a_small_one(tmp_path: Path, at: str) -> None:
    """A thousand tools in one file are more than half a megabyte, and well within the limits."""
    tool = "- {tool: {name: t%d, description: %s, inputSchema: {type: object}}, "
    tool += "response: {content: [{type: text, text: done}]}}\n"
    tools = "tools:\n" + "".join(tool % (number, "d" * 500) for number in range(1000))
    server = "server: {name: x}\n"
    report = _walked(tmp_path, server + tools if at == "first" else tools + server)
    assert _kinds(report) == ["server"]
    assert report.ok


# What other programs write is known by its place and its beginning; the rest is not read.

_CATALOGUE = (
    '{\n  "hello": {\n    "message": "Hello"\n  },\n  "server": {"name": "x"}, "tools": []}'
)
_RECORDING = "interactions:\n- request:\n    body: ''\nserver: {name: x}\ntools: []\n"


@pytest.mark.parametrize(
    ("name", "content", "kinds"),
    [
        ("_locales/de/messages.json", _CATALOGUE, []),
        ("app/locales/de/messages.json", _CATALOGUE, []),
        ("tests/cassettes/test_x/a.yaml", _RECORDING, []),
        ("tests/cassettes/a.yml", f"version: 1\r\n{_RECORDING}", []),
        # The place alone says nothing, nor does the beginning.
        ("_locales/messages.json", _CATALOGUE, ["server"]),
        ("locales/de/other.json", _CATALOGUE, ["server"]),
        ("locales/de/messages.json", _CATALOGUE.replace("message", "text"), ["server"]),
        ("locales/de/messages.json", '{"server": {"name": "x"}, "tools": []}', ["server"]),
        ("tests/a.yaml", _RECORDING, ["server"]),
        ("cassettes/a.yaml", SERVER, ["server"]),
        ("cassettes/a.yaml", f"{SERVER}interactions:\n- request:\n", ["server"]),
    ],
)
@pytest.mark.parametrize("named", [False, True])
def test_files_of_other_programs_are_known_by_place_and_beginning(
    tmp_path: Path, name: str, content: str, kinds: list[str], named: bool
) -> None:
    write(tmp_path, {name: content})
    paths = [tmp_path / name if named else tmp_path]
    assert _kinds(equipage.check(paths, env={})) == (["server"] if named else kinds)


def test_a_pipe_in_such_a_place_is_not_read(tmp_path: Path) -> None:
    folder = write(tmp_path, {"cassettes/x.txt": ""}) / "cassettes"
    os.mkfifo(folder / "a.yaml")
    (folder / "b.yaml").symlink_to("/dev/zero")
    assert _kinds(equipage.check([tmp_path], env={})) == []
