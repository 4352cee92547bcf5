"""`ToolpackLoader` as the seed's usage shows it, and the sentences programs look for in its
exception."""

from __future__ import annotations

import copy
import dataclasses
import os
import pickle
from pathlib import Path
from typing import Any

import pytest

import equipage
from equipage.core.frozen import FrozenDict, FrozenList
from equipage.formats.toolpack import loader as toolpack_loader
from equipage.formats.toolpack.loader import Toolpack, ToolpackLoader, ToolpackValidationError
from formats.toolpack.making import DROP, MINIMAL, pack
from lab import repository


def load(folder: Path, files: dict[str, Any], **options: Any) -> ToolpackLoader:
    loader = ToolpackLoader(**options)
    loader.load_dir(repository(folder, files) / "packs")
    return loader


def failure(folder: Path, files: dict[str, Any]) -> str:
    with pytest.raises(ToolpackValidationError) as caught:
        load(folder, files)
    assert isinstance(caught.value, equipage.LoadError)
    assert caught.value.errors
    return str(caught.value)


# --- files -----------------------------------------------------------------------------------------


@pytest.mark.requirement("TP-01")
def test_a_pack_with_nearly_the_right_name_is_a_warning(tmp_path: Path) -> None:
    near = ("b.tool.yml", "deep/c.tool.YAML", "d.tool.json")
    files = {f"packs/{name}": pack(id="tool.near") for name in near}
    loader = load(tmp_path, {"packs/a.tool.yaml": pack(), "packs/notes.yml": "x: 1\n", **files})
    assert [each.id for each in loader.list()] == ["tool.echo"]
    assert {each.code for each in loader.warnings} == {"toolpack-overlooked"}
    assert sorted(str(each.file).rpartition("packs/")[2] for each in loader.warnings) == sorted(
        near
    )


# --- contents ------------------------------------------------------------------------------------


@pytest.mark.requirement("TP-30", "TP-29")
def test_a_pack_keeps_what_its_file_says(tmp_path: Path) -> None:
    written = pack(
        caps={
            "network": ["https"],
            "filesystem": {"read": ["./a"], "write": ["./b"]},
            "subprocess": False,
        },
        env={"passthrough": ["TOKEN"], "set": {"MODE": "x"}},
        templating={
            "engine": "jinja2",
            "cacheKey": "{{ input.a }}",
            "context": {"a": [1, {"b": None}]},
        },
        inputSchema={"$ref": "../schemas/in.json"},
    )
    schema = {"type": "object", "required": ["text"], "properties": {"text": {"type": "string"}}}
    loader = load(tmp_path, {"packs/a.tool.yaml": written, "schemas/in.json": schema})
    (found,) = loader.list()
    assert found.id == "tool.echo"
    assert (found.version, found.deterministic, found.timeout_ms) == ("1.0.0", True, 1000)
    assert found.limits["maxInputBytes"] == 1024
    assert found.execution["kind"] == "python"
    assert found.execution == written["execution"]
    assert (found.caps, found.env, found.templating) == (
        written["caps"],
        written["env"],
        written["templating"],
    )
    assert found.input_schema == schema
    assert found.output_schema == {"type": "object"}
    assert found.source_path == tmp_path / "packs" / "a.tool.yaml"
    assert loader.get("tool.echo") is found


#: What the specification leaves to people; a program that serves a pack shows it to clients.
FOR_PEOPLE = ["name", "summary", "description", "metadata"]


@pytest.mark.requirement("TP-30")
def test_attributes_are_those_of_the_specification() -> None:
    fields = [
        "id",
        "version",
        "deterministic",
        "timeout_ms",
        "limits",
        "input_schema",
        "output_schema",
        "execution",
        "caps",
        "env",
        "templating",
    ]
    assert [each.name for each in dataclasses.fields(Toolpack)] == [
        *fields,
        "source_path",
        *FOR_PEOPLE,
    ]
    assert {"load_dir", "list", "get"} <= set(dir(ToolpackLoader))


def test_optional_blocks_are_empty_mappings(tmp_path: Path) -> None:
    found = load(tmp_path, {"packs/a.tool.yaml": pack(caps=None, env=None)}).get("tool.echo")
    assert found.caps == found.env == found.templating == {}
    nulls = pack(caps={"filesystem": None}, env={"set": None}, templating={"context": None})
    found = load(tmp_path, {"packs/a.tool.yaml": nulls}).get("tool.echo")
    assert (found.caps, found.env, found.templating) == ({}, {"set": {}}, {"context": {}})


def test_unknown_keys_of_limits_and_execution_are_kept(tmp_path: Path) -> None:
    written = pack(
        limits={**MINIMAL["limits"], "maxTokens": 5}, execution={**MINIMAL["execution"], "pool": 2}
    )
    loader = load(tmp_path, {"packs/a.tool.yaml": written})
    assert loader.get("tool.echo").limits["maxTokens"] == 5
    assert loader.get("tool.echo").execution["pool"] == 2
    assert [each.code for each in loader.warnings] == ["unknown-field", "unknown-field"]


@pytest.mark.requirement("TP-29")
def test_a_pack_is_deeply_frozen_and_hashed_by_content(tmp_path: Path) -> None:
    written = pack(inputSchema={"$ref": "../s.json"}, templating={"context": {"a": [1]}})
    loader = load(tmp_path, {"packs/a.tool.yaml": written, "s.json": {"enum": [{"a": [1]}]}})
    found = loader.get("tool.echo")
    stack: list[Any] = [getattr(found, each.name) for each in dataclasses.fields(found)]
    while stack:
        value = stack.pop()
        assert not isinstance(value, dict | list) or isinstance(value, FrozenDict | FrozenList), (
            value
        )
        stack += (
            value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
        )
    with pytest.raises(dataclasses.FrozenInstanceError):
        found.id = "x"  # type: ignore[misc]
    with pytest.raises(TypeError):
        found.execution["kind"] = "cli"  # type: ignore[index]
    assert {found: 1}[copy.deepcopy(found)] == 1
    assert pickle.loads(pickle.dumps(found)) == found
    assert found != load(tmp_path, {"packs/a.tool.yaml": {**written, "timeoutMs": 1}}).get(
        "tool.echo"
    )


def test_the_public_load_gives_the_same_pack(tmp_path: Path) -> None:
    found = load(tmp_path, {"packs/a.tool.yaml": pack()}).get("tool.echo")
    loaded = equipage.load(tmp_path / "packs" / "a.tool.yaml")
    assert loaded.config == found
    assert loaded.digest == found.digest
    assert loaded.kind == "toolpack"


# --- the folder ----------------------------------------------------------------------------------


@pytest.mark.requirement("TP-01", "TP-04")
def test_packs_are_found_at_any_depth_and_sorted_by_id(tmp_path: Path) -> None:
    names = ["a.a", "a1.b", "x10.1", "x9.1", "a.b.c", "a.b"]
    files = {
        f"packs/{'d/' * number}p{number}.tool.yaml": pack(id=name)
        for number, name in enumerate(names)
    }
    files |= {
        "packs/.hidden/h.tool.yaml": pack(id="z.hidden"),
        "packs/.tool.yaml": pack(id="z.dot"),
    }
    files |= {
        "packs/x.tool.yml": "not: read",
        "packs/x.TOOL.YAML": "not: read",
        "packs/x.tool.yaml.bak": "[",
    }
    loader = load(tmp_path, files)
    assert [each.id for each in loader.list()] == [
        "a.a",
        "a.b",
        "a.b.c",
        "a1.b",
        "x10.1",
        "x9.1",
        "z.dot",
        "z.hidden",
    ]
    assert loader.list() is not loader.list()


@pytest.mark.requirement("TP-01")
def test_a_check_looks_where_people_write_and_a_loader_everywhere(tmp_path: Path) -> None:
    files = {
        f"packs/{name}/p.tool.yaml": pack(id=f"in.{number}", timeoutMs=0)
        for number, name in enumerate([".hidden", "ignored", ".venv/x", "node_modules/y"])
    }
    folder = repository(tmp_path, {".gitignore": "ignored/\n", **files}) / "packs"
    assert [each.path for each in equipage.check(folder, env={}).files] == [
        f"{folder}/.hidden/p.tool.yaml"
    ]
    assert len(ToolpackLoader().find(folder).errors) == len(files)


@pytest.mark.requirement("TP-05")
def test_an_unknown_id_is_a_key_error(tmp_path: Path) -> None:
    loader = load(tmp_path, {"packs/a.tool.yaml": pack()})
    with pytest.raises(KeyError):
        loader.get("tool.other")


def test_before_and_after_an_empty_folder_there_is_nothing(tmp_path: Path) -> None:
    loader = ToolpackLoader()
    assert loader.list() == []
    repository(tmp_path, {"packs/readme.txt": ""})
    assert loader.load_dir(str(tmp_path / "packs")) is None
    assert loader.list() == []
    assert [each.message for each in loader.warnings] == [
        f"no toolpacks in {tmp_path}/packs: no file there is named `*.tool.yaml`"
    ]


def test_a_folder_that_cannot_be_read_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository(tmp_path, {"packs/a.tool.yaml": pack(), "packs/sub/b.tool.yaml": pack(timeoutMs=0)})
    scan = os.scandir

    def refuse(path: str) -> Any:
        if path.endswith("sub"):
            raise PermissionError(13, "Permission denied")
        return scan(path)

    monkeypatch.setattr(os, "scandir", refuse)
    with pytest.raises(
        ToolpackValidationError,
        match=r"\[folder-unreadable\] cannot look into .*sub: Permission denied",
    ):
        ToolpackLoader().load_dir(tmp_path / "packs")


@pytest.mark.requirement("TP-29")
def test_a_failed_load_keeps_what_was_there_and_a_good_one_replaces_it(tmp_path: Path) -> None:
    loader = load(tmp_path / "one", {"packs/a.tool.yaml": pack()})
    repository(
        tmp_path / "two",
        {"packs/a.tool.yaml": pack(id="tool.new"), "packs/b.tool.yaml": pack(timeoutMs=0)},
    )
    with pytest.raises(ToolpackValidationError):
        loader.load_dir(tmp_path / "two" / "packs")
    assert [each.id for each in loader.list()] == ["tool.echo"]
    (tmp_path / "two" / "packs" / "b.tool.yaml").unlink()
    loader.load_dir(tmp_path / "two" / "packs")
    assert [each.id for each in loader.list()] == ["tool.new"]


def test_what_is_no_folder_is_an_error(tmp_path: Path) -> None:
    loader = ToolpackLoader()
    with pytest.raises(ToolpackValidationError, match="Toolpacks directory not found"):
        loader.load_dir(tmp_path / "nowhere")
    (tmp_path / "file").write_text("")
    with pytest.raises(ToolpackValidationError, match="is a file"):
        loader.load_dir(tmp_path / "file")


def test_links_to_packs_are_read_and_start_references_where_they_are(tmp_path: Path) -> None:
    repository(
        tmp_path,
        {
            "store/a.tool.yaml": pack(inputSchema={"$ref": "s.json"}),
            "packs/s.json": {"title": "beside"},
        },
    )
    (tmp_path / "packs" / "a.tool.yaml").symlink_to("../store/a.tool.yaml")
    (tmp_path / "packs" / "loop").symlink_to(".")
    loader = ToolpackLoader()
    loader.load_dir(tmp_path / "packs")
    assert loader.get("tool.echo").input_schema == {"title": "beside"}
    assert loader.get("tool.echo").source_path.name == "a.tool.yaml"


@pytest.mark.parametrize("what", ["directory", "dangling link", "pipe"])
def test_odd_things_named_like_packs_are_findings(tmp_path: Path, what: str) -> None:
    repository(tmp_path, {"packs/a.tool.yaml": pack()})
    odd = tmp_path / "packs" / "b.tool.yaml"
    if what == "directory":
        odd.mkdir()
    elif what == "pipe":
        os.mkfifo(odd)
    else:
        odd.symlink_to("nowhere")
    with pytest.raises(ToolpackValidationError, match=r"b\.tool\.yaml"):
        ToolpackLoader().load_dir(tmp_path / "packs")


def test_every_problem_of_every_file_is_in_one_exception(tmp_path: Path) -> None:
    text = failure(
        tmp_path,
        {
            "packs/a.tool.yaml": pack(id="Bad", timeoutMs=0),
            "packs/b.tool.yaml": pack(version=DROP),
            "packs/c.tool.yaml": "[",
        },
    )
    assert len(text.splitlines()) == 4
    assert "a.tool.yaml" in text
    assert "c.tool.yaml:" in text


def test_the_home_folder_is_understood(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    repository(tmp_path, {"packs/a.tool.yaml": pack()})
    loader = ToolpackLoader()
    loader.load_dir("~/packs")
    assert loader.list()


# --- messages ------------------------------------------------------------------------------------


def execution(**fields: Any) -> dict[str, Any]:
    return pack(execution=fields)


def templating(**fields: Any) -> dict[str, Any]:
    return pack(templating=fields)


SENTENCES: list[tuple[str, Any, str]] = [
    ("L06", pack(timeoutMs=DROP), "timeoutMs"),
    ("L08", execution(kind="perl"), "execution.kind"),
    ("L09", execution(kind="python", module="pkg.module"), "module must use"),
    ("L11", execution(kind="python", module=""), "module must be a non-empty string"),
    ("L12", execution(kind="python", script=""), "script must be a non-empty string"),
    ("L13", execution(kind="python"), "requires 'module' or 'script'"),
    ("L14", pack(deterministic="yes"), "deterministic must be a boolean"),
    ("L15", pack(timeoutMs=0), "timeoutMs must be a positive integer"),
    ("L16", pack(limits={"maxInputBytes": 1}), "limits missing required key 'maxOutputBytes'"),
    (
        "L17",
        pack(limits={"maxInputBytes": -1, "maxOutputBytes": 1}),
        "limits['maxInputBytes'] must be a positive integer",
    ),
    ("L18", pack(caps="x"), "field 'caps' must be a mapping"),
    ("L19", pack(caps={"network": [""]}), "network[0] must be a non-empty string"),
    ("L20", pack(caps={"network": ["ftp"]}), "unsupported protocol 'ftp'"),
    ("L21", pack(caps={"network": {"a": 1}}), "network must be a string or list"),
    ("L23", pack(caps={"filesystem": {"delete": ["x"]}}), "filesystem[delete] is not supported"),
    ("L24", pack(caps={"filesystem": {"read": [""]}}), "filesystem[read][0]"),
    ("L25", pack(caps={"filesystem": {"read": "./data"}}), "caps.filesystem[read] must be a list"),
    ("L27", pack(caps={"subprocess": "yes"}), "caps.subprocess must be a boolean"),
    ("L28", pack(caps={"gpu": True}), "caps contains unknown key"),
    ("L29", pack(env="x"), "field 'env' must be a mapping"),
    ("L30", pack(env={"passthrough": "TOKEN"}), "env.passthrough must be a list"),
    ("L31", pack(env={"passthrough": [""]}), "passthrough[0]"),
    ("L32", pack(env={"passthrough": ["lower"]}), "env.passthrough"),
    ("L33", pack(env={"extra": 1}), "env contains unknown key 'extra'"),
    ("L34", pack(env={"set": {"": "x"}}), "env.set keys must be non-empty strings"),
    ("L35", pack(env={"set": {"lower": "x"}}), "env.set key 'lower' must be uppercase"),
    ("L36", pack(env={"set": {"VALUE": 1}}), "env.set['VALUE'] must be a string"),
    ("L38", execution(kind="cli", cmd="echo"), "cli execution requires 'cmd' list"),
    ("L39", execution(kind="cli", cmd=["", "run"]), "cmd[0] must be a non-empty string"),
    ("L40", "- a\n", "Expected mapping"),
    ("L41", "a: [\n", "Failed to parse YAML"),
    (
        "L43",
        execution(kind="http", url="https://x", headers={"Auth": 123}),
        "header 'Auth' must be a string",
    ),
    (
        "L44",
        execution(kind="http", url="https://x", headers={"": "x"}),
        "headers must use non-empty string keys",
    ),
    (
        "L45",
        execution(kind="http", url="https://x", method=""),
        "method must be a non-empty string",
    ),
    ("L46", execution(kind="http"), "http execution requires 'url'"),
    (
        "L47",
        execution(kind="http", url="https://x", timeoutMs=0),
        "timeoutMs must be a positive integer",
    ),
    ("L48", execution(kind="node"), "node execution requires"),
    (
        "L49",
        execution(kind="node", script="x", args="--flag"),
        "node execution args must be a list",
    ),
    (
        "L50",
        execution(kind="node", script="x", args=["--flag", 123]),
        "args[1] must be a non-empty string",
    ),
    ("L51", execution(kind="php"), "php execution requires"),
    (
        "L52",
        execution(kind="php", php="x", phpBinary=False),
        "phpBinary must be a non-empty string",
    ),
    ("L53", pack(id="InvalidTool"), "dotted lowercase"),
    ("L54", pack(id=""), "Field 'id' in toolpack"),
    ("L55", pack(version="2024.1"), "major.minor.patch"),
    ("L56", pack(version="not-a-version!"), "follow semantic versioning"),
    ("L57", pack(templating="x"), "field 'templating' must be a mapping"),
    ("L58", templating(engine="liquid"), "templating.engine"),
    ("L59", templating(unknown=1), "templating contains unknown key 'unknown'"),
    ("L60", templating(cacheKey=""), "cacheKey must be a non-empty string"),
    ("L62", pack(inputSchema={"$ref": "missing.json"}), "schema reference not found: missing.json"),
    ("L63", pack(inputSchema={"$ref": "../s/broken.yaml"}), "failed to parse schema"),
    ("L64", pack(inputSchema={"$ref": "../s/broken.json"}), "failed to load schema"),
    ("L65", pack(inputSchema={"$ref": "../s"}), "failed to open schema ../s"),
    ("L71", pack(inputSchema=123), "schema definition must be a mapping"),
    ("L72", pack(inputSchema={"$ref": 123}), "schema $ref must be a non-empty string"),
    (
        "L73",
        pack(inputSchema={"properties": {"a": {"type": "unsupported"}}}),
        "schema failed validation",
    ),
    ("L80", execution(kind="cli"), "cli execution requires 'cmd' list"),
    ("L81", pack(caps={"network": ["https", 5]}), "caps.network[1]"),
    ("L82", pack(env={"passthrough": ["TOKEN", 123]}), "env.passthrough[1]"),
    ("L83", pack(version="1.0"), "major.minor.patch"),
    ("L84", pack(execution=DROP), "execution"),
    ("limits", pack(limits=[]), "field 'limits' must be a mapping"),
    ("set", pack(env={"set": []}), "field 'env.set' must be a mapping"),
    ("version", pack(version=1.0), "Field 'version' in toolpack must be a non-empty string"),
    ("L85", pack(timeoutMs=DROP, timeout_ms=5), "timeoutMs"),
]


@pytest.mark.requirement(
    "TP-28", "TP-06", "TP-09", "TP-10", "TP-11", "TP-12", "TP-13", "TP-14", "TP-15", "TP-16"
)
@pytest.mark.requirement("TP-07", "TP-08", "TP-17", "TP-19", "TP-20", "TP-21", "TP-22", "TP-26")
@pytest.mark.parametrize(
    ("written", "sentence"), [pytest.param(*row[1:], id=row[0]) for row in SENTENCES]
)
def test_the_exception_says_the_rule(tmp_path: Path, written: Any, sentence: str) -> None:
    broken = {"s/broken.yaml": "a: [1\n", "s/broken.json": "{"}
    text = failure(tmp_path, {"packs/a.tool.yaml": written, **broken})
    assert sentence in text


@pytest.mark.requirement("TP-21")
def test_a_context_that_json_does_not_have_is_refused(tmp_path: Path) -> None:
    text = "\n".join(
        f"{name}: {value}" for name, value in MINIMAL.items() if isinstance(value, str | int)
    )
    text = (
        text.replace("True", "true")
        + "\nlimits: {maxInputBytes: 1, maxOutputBytes: 1}\ninputSchema: {}\noutputSchema: {}\n"
    )
    text += "execution: {kind: cli, cmd: [a]}\ntemplating: {context: {a: !!set {x}}}\n"
    assert "context must be JSON serialisable" in failure(tmp_path, {"packs/a.tool.yaml": text})


@pytest.mark.requirement("TP-25")
def test_a_duplicate_id_names_both_files(tmp_path: Path) -> None:
    text = failure(
        tmp_path, {"packs/b.tool.yaml": pack(), "packs/a/x.tool.yaml": pack(version="2.0.0")}
    )
    assert "Duplicate toolpack id 'tool.echo' found in" in text
    assert text.count("b.tool.yaml") >= 1
    assert "x.tool.yaml" in text


@pytest.mark.requirement("TP-25")
def test_a_link_to_a_pack_is_the_second_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository(tmp_path, {"packs/a.tool.yaml": pack()})
    (tmp_path / "packs" / "b.tool.yaml").symlink_to("a.tool.yaml")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ToolpackValidationError) as caught:
        ToolpackLoader().load_dir("packs")
    sentence = "Duplicate toolpack id 'tool.echo' found in packs/b.tool.yaml, first used in packs/a.tool.yaml"
    assert sentence in str(caught.value)


@pytest.mark.requirement("TP-26")
def test_old_names_load_when_asked_for(tmp_path: Path) -> None:
    old = pack(timeoutMs=DROP, timeout_ms=7, limits={"max_input_bytes": 1, "maxOutputBytes": 2})
    loader = load(tmp_path, {"packs/a.tool.yaml": old}, legacy_keys="warn")
    assert loader.get("tool.echo").timeout_ms == 7
    assert loader.get("tool.echo").limits == {"maxInputBytes": 1, "maxOutputBytes": 2}
    assert all("legacy snake_case" in each.message for each in loader.warnings)


def test_a_rule_has_the_name_of_today_whatever_was_written(tmp_path: Path) -> None:
    files = {
        "packs/a.tool.yaml": pack(
            timeoutMs=DROP, timeout_ms=0, limits={"max_input_bytes": 0, "maxOutputBytes": 1}
        ),
        "packs/b.tool.yaml": pack(id="t.b", inputSchema=5),
    }
    with pytest.raises(ToolpackValidationError) as caught:
        ToolpackLoader(legacy_keys="warn").load_dir(repository(tmp_path, files) / "packs")
    text = str(caught.value)
    assert "(timeoutMs must be a positive integer)" in text
    assert "(limits['maxInputBytes'] must be a positive integer)" in text
    assert "non-empty string" not in text


def test_a_snapshot_is_of_one_load_whatever_other_threads_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {"packs/a.tool.yaml": pack(id="old.a"), "packs/b.tool.yaml": pack(id="old.b")}
    loader = load(tmp_path, {**files, "other/c.tool.yaml": pack(id="new.c")})
    expected = loader.snapshot()

    def load_meanwhile(*arguments: Any) -> str:
        loader.load_dir(tmp_path / "other")
        return relative(*arguments)

    relative = toolpack_loader._relative
    monkeypatch.setattr(toolpack_loader, "_relative", load_meanwhile)
    assert loader.snapshot() == expected
    assert [each.id for each in loader] == ["new.c"]


@pytest.mark.parametrize("error", [ToolpackValidationError, equipage.LoadError])
def test_a_program_may_raise_the_exception_with_a_text(error: type[equipage.LoadError]) -> None:
    for raised in (error("packs/a.tool.yaml: no"), error("two\nlines"), error("")):
        assert str(raised) == raised.args[0] == str(pickle.loads(pickle.dumps(raised)))
        assert raised.diagnostics == raised.errors == ()


def test_further_roots_can_be_allowed(tmp_path: Path) -> None:
    repository(tmp_path / "lib", {"s.json": {"title": "elsewhere"}})
    files = {"packs/a.tool.yaml": pack(inputSchema={"$ref": "../../lib/s.json"})}
    with pytest.raises(ToolpackValidationError) as caught:
        load(tmp_path / "project", files)
    assert "`--root DIR`, in Python `roots`" in (caught.value.errors[0].help or "")
    for root in (tmp_path, tmp_path / "lib"):
        loader = load(tmp_path / "project", files, roots=(str(root),))
        assert loader.get("tool.echo").input_schema == {"title": "elsewhere"}


@pytest.mark.parametrize("name", ["bad\ud800", "a\0b"])
def test_the_text_of_an_error_can_be_printed(name: str) -> None:
    with pytest.raises(ToolpackValidationError) as caught:
        ToolpackLoader().load_dir(name)
    assert str(caught.value).encode()
    assert "\0" not in str(caught.value)
