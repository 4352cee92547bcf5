"""Packs as tools: what is decided before a call, and what a process is started with."""

from __future__ import annotations

import base64
import json
import os
import sys
import sysconfig
from pathlib import Path
from typing import Any

import msgspec
import pytest

pytest.importorskip("jinja2", reason="the extra `serve` is not installed")

import equipage_serve
from equipage_serve import tools
from equipage_serve.confinement import Unservable, bubblewrap_command, limits_of, system_paths
from equipage_serve.platform import Platform
from equipage_serve.tools import Settings, Tool, prepare
from packs import KINDS, load_packs, need, pack, write_packs
from test_confinement import BUBBLE, FULL, OLD

CODE = {
    "t.py": "def f(p): return {}\n",
    "deep/__init__.py": "",
    "deep/er/__init__.py": "def f(p): return {}\n",
    "deep/er/most.py": "def f(p): return {}\n",
    "s.py": "print('{}')\n",
    "s.php": "<?php echo '{}';",
    "run.sh": "echo '{}'\n",
}
ALL = frozenset(KINDS)


def php(folder: Path) -> dict[str, Any]:
    """An execution by a program that is called PHP, whether there is one or not."""
    program = folder.parent / f"{folder.name}-bin" / "php"
    program.parent.mkdir(exist_ok=True)
    program.write_text("")
    return {"kind": "php", "script": "s.php", "phpBinary": os.path.realpath(program)}


GET = {"kind": "http", "url": "https://a.example/{{ input.x | urlencode }}", "method": "get"}
#: Right by its own draft, which no validator reads.
UNUSABLE = {"$schema": "http://json-schema.org/draft-03/schema#", "type": "object"}
NETWORK = {"caps": {"network": ["https"]}}


def tool(
    folder: Path,
    execution: Any,
    platform: Platform = FULL,
    roots: Any = (),
    settings: dict[str, Any] | None = None,
    **fields: Any,
) -> Tool:
    folder = Path(os.path.realpath(folder))
    write_packs(folder, [pack("a.b", execution, **{"timeoutMs": 5000, **fields})], CODE)
    (loaded,) = load_packs(folder)
    return prepare(loaded, Settings(**{"allow": ALL, **(settings or {})}), platform, roots)


# What is refused, and with how many reasons.

#: The execution, the platform, other fields, and every reason.
REFUSED: dict[str, tuple[Any, Platform, dict[str, Any], list[str]]] = {
    "everything at once": (
        {"kind": "cli", "cmd": ["{{ input.x }}", "{{ ", "{% if"]},
        FULL,
        {"inputSchema": UNUSABLE, "templating": {"cacheKey": "{{"}},
        [
            "a `cli` tool starts a program: it needs `caps: {subprocess: true}`",
            "there is no program `{{ input.x }}` in",
            "the schema cannot be used",
            "the template `{{ ` is not valid",
            "the template `{% if` is not valid",
            "the program of a `cli` tool must not be a template",
            "the template `{{` is not valid",
        ],
    ),
    "a statement as program": (
        {"kind": "cli", "cmd": ["{% x %}"]},
        FULL,
        {"caps": {"subprocess": True}},
        ["there is no program `{% x %}`", "the program of a `cli` tool must not be a template"],
    ),
    "an address that is not declared": (
        GET,
        FULL,
        {"caps": {"network": ["http"]}},
        ["the address needs `https`, which `caps: {network: […]}` does not list"],
    ),
    "no network at all": (
        GET,
        FULL,
        {},
        ["the address needs `https`, which `caps: {network: […]}` does not list"],
    ),
    "a method that is none": (
        {**GET, "method": "GET /"},
        FULL,
        NETWORK,
        ["`GET /` is not a method of HTTP"],
    ),
    "a method of other letters": (
        {**GET, "method": "GÉT"},
        FULL,
        NETWORK,
        ["`GÉT` is not a method of HTTP"],
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_all_reasons_are_told_at_once(name: str, tmp_path: Path) -> None:
    execution, platform, fields, reasons = REFUSED[name]
    with pytest.raises(Unservable) as refused:
        tool(tmp_path, execution, platform, **fields)
    found = refused.value.reasons
    assert [each[: len(reason)] for each, reason in zip(found, reasons, strict=True)] == reasons


def test_an_output_schema_that_cannot_be_used(tmp_path: Path) -> None:
    with pytest.raises(Unservable, match="the schema cannot be used"):
        tool(tmp_path, "t:f", outputSchema=UNUSABLE)


def test_nothing_else_is_said_of_a_kind_that_is_not_allowed(tmp_path: Path) -> None:
    with pytest.raises(Unservable) as refused:
        tool(tmp_path, "none.py", OLD, settings={"allow": frozenset({"cli"})})
    assert refused.value.reasons == (
        "the kind `python` is not allowed; allow it with `--allow python`",
    )


def test_php_is_php(tmp_path: Path) -> None:
    """The kind says which program may run: no other one, whatever it or a link to it is called."""
    good = php(tmp_path)["phpBinary"]
    (tmp_path / "php").write_text("#!/bin/sh")
    (Path(good).parent / "php8").symlink_to("/bin/sh")
    shells = (
        "/bin/sh",
        "sh",
        "php-sh",
        "/usr/../bin/sh",
        good + "8",
        os.path.realpath(tmp_path / "php"),
    )
    for program in shells:
        with pytest.raises(Unservable, match=r"is not PHP as this machine has it"):
            tool(tmp_path, {"kind": "php", "script": "s.php", "phpBinary": program})
    for name in ("php", "php8.2", "php82-cli"):
        other = os.path.join(os.path.dirname(good), name)
        Path(other).write_text("")
        execution = {"kind": "php", "script": "s.php", "phpBinary": other}
        program = tool(tmp_path, execution).code.program
        assert program is not None
        assert program.path == other


# What a tool is made of.


def test_a_pack_may_ask_for_less_and_not_for_more(tmp_path: Path) -> None:
    plain = tool(tmp_path, "t:f")
    assert (plain.max_input_bytes, plain.max_output_bytes, plain.timeout_ms) == (65536, 65536, 5000)
    execution = {"kind": "python", "module": "t:f", "timeoutMs": 70}
    less = tool(tmp_path, execution, limits={"maxInputBytes": 10, "maxOutputBytes": 20})
    assert (less.max_input_bytes, less.max_output_bytes, less.timeout_ms) == (10, 20, 70)
    most = {"max_input_bytes": 5, "max_output_bytes": 6, "timeout_ms": 7}
    bounded = tool(tmp_path, execution, settings=most)
    assert (bounded.max_input_bytes, bounded.max_output_bytes, bounded.timeout_ms) == (5, 6, 7)
    shorter = tool(tmp_path, {**execution, "timeoutMs": 9000}, timeoutMs=50)
    assert shorter.timeout_ms == 50


def test_the_usual_bounds() -> None:
    assert msgspec.structs.asdict(Settings(concurrency=1)) == {
        "allow": frozenset(),
        "isolation": "strict",
        "paths": "pack",
        "max_input_bytes": 1 << 20,
        "max_output_bytes": 2 << 20,
        "timeout_ms": 15_000,
        "concurrency": 1,
        "queue": 64,
        "reuse": False,
        "warm": 4,
        "private_addresses": False,
        "cache_bytes": 64 << 20,
        "cache_seconds": 600.0,
    }


def test_a_tool_has_what_its_pack_says(tmp_path: Path) -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    found = tool(
        tmp_path,
        {"kind": "python", "script": "s.py", "args": ["{{ input.n }}", "x"]},
        inputSchema=schema,
        outputSchema={"type": "object", "maxProperties": 0},
        env={"passthrough": ["B", "A"], "set": {"C": "1", "B": "2"}},
        templating={"cacheKey": "{{ input.n }}"},
    )
    assert found.folder == os.path.realpath(tmp_path)
    assert (found.kind, found.pack.id, found.request) == ("python", "a.b", None)
    assert found.accepts.problem({}) is not None
    assert found.accepts.problem({"n": 1}) is None
    assert found.gives.problem({"n": 1}) is not None
    names = {"input": {"n": 5}}
    assert [fill(names) for fill in found.arguments] == ["5", "x"]
    assert found.cache_key is not None
    assert found.cache_key(names) == "5"
    assert found.key == f"{found.pack.digest}-{found.code.digest}"
    assert found.confinement.level == "strict"
    assert tool(tmp_path, "t:f", OLD, settings={"isolation": "none"}).confinement.level == "none"
    bare = tool(tmp_path, "t:f")
    assert (bare.arguments, bare.cache_key) == ((), None)


def test_a_request_is_as_its_pack_says(tmp_path: Path) -> None:
    headers = {"X-Key": "{{ env.KEY }}", "X-Other": "plain"}
    found = tool(tmp_path, {**GET, "headers": headers}, **NETWORK).request
    assert found is not None
    assert (found.scheme, found.method) == ("https", "GET")
    names = {"input": {"x": "a b"}, "env": {"KEY": "k"}}
    assert found.address(names) == "https://a.example/a%20b"
    assert [(name, fill(names)) for name, fill in found.headers] == [
        ("X-Key", "k"),
        ("X-Other", "plain"),
    ]
    plain = {"kind": "http", "url": "https://a.example/"}
    posted = tool(tmp_path, plain, **NETWORK).request
    assert posted is not None
    assert (posted.method, posted.headers) == ("POST", ())


def test_modules_may_come_from_roots(tmp_path: Path) -> None:
    write_packs(tmp_path, [], {"lib/far.py": "def f(p): return {}\n"})
    (tmp_path / "pack").mkdir()
    root = os.path.realpath(tmp_path / "lib")
    found = tool(tmp_path / "pack", "far:f", roots=(root,))
    assert found.code.entry == f"{root}/far.py"
    assert tools._module_folders(found) == [root, found.folder]


#: What differs from a tool whose process serves several calls.
NOT_REUSED: list[dict[str, Any]] = [
    {"deterministic": False},
    {"execution": "s.py"},
    {"settings": {"reuse": False}},
    {"settings": {"reuse": True, "warm": 0}},
    {"caps": {"subprocess": True}},
    {"platform": OLD, "settings": {"reuse": True, "isolation": "best"}},
]


def test_a_process_serves_several_calls_if_all_agree(tmp_path: Path) -> None:
    wanted: dict[str, Any] = {
        "execution": "t:f",
        "deterministic": True,
        "settings": {"reuse": True, "warm": 1},
    }
    assert tool(tmp_path, **wanted).reused is True
    for change in NOT_REUSED:
        assert tool(tmp_path, **{**wanted, **change}).reused is False, change
    need("node")
    write_packs(tmp_path, [], {"node_modules/n/package.json": {"main": "x.js"}})
    write_packs(tmp_path, [], {"node_modules/n/x.js": ""})
    node = {"kind": "node", "module": "n"}
    assert tool(tmp_path, **{**wanted, "execution": node}).reused is False


# What a process is started with.

PARENT = {"KEY": "secret", "PATH": "/evil", "OTHER": "x", "HOME": "/root"}
ENV = {"passthrough": ["KEY", "ABSENT"], "set": {"LANG": "de", "N": "1"}}


def test_a_process_sees_these_variables_and_no_others(tmp_path: Path) -> None:
    fixed = {
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "LANG": "C.UTF-8",
        "LC_CTYPE": "C.UTF-8",
        "HOME": "/home/x",
        "TMPDIR": "/home/x",
    }
    assert tools.environment(tool(tmp_path, "t:f"), PARENT, "/home/x") == fixed
    found = tool(tmp_path, "t:f", env=ENV)
    assert tools.environment(found, PARENT, "/home/x") == {
        **fixed,
        "KEY": "secret",
        "LANG": "de",
        "N": "1",
    }


def test_messages_hide_variables_and_what_the_input_has(tmp_path: Path) -> None:
    """Names of the input are hidden, too, unless they are the author's."""
    schema = {"type": "object", "properties": {"page": {"type": "object"}}}
    found = tool(tmp_path, "t:f", env=ENV, inputSchema=schema)
    given = {"page": {"secret name": [1, 2.5, True, None, "text", {}]}, "type": "x"}
    names = tools.names_for_templates(found, given, PARENT)
    hidden = ["secret", "de", "1", "secret name", "1", "2.5", "true", "null", "text", "x"]
    assert sorted(tools.hidden_texts(found, names)) == sorted(hidden)


def test_templates_see_these_names(tmp_path: Path) -> None:
    plain = tool(tmp_path, "t:f")
    assert tools.names_for_templates(plain, {"a": 1}, PARENT) == {
        "input": {"a": 1},
        "env": {},
        "id": "a.b",
        "version": "1.0.0",
        "context": {},
    }
    both = {"passthrough": ["KEY", "OTHER", "ABSENT"], "set": {"OTHER": "set"}}
    found = tool(tmp_path, "t:f", env=both, templating={"context": {"region": "eu"}})
    names = tools.names_for_templates(found, {}, PARENT)
    assert names["env"] == {"KEY": "secret", "OTHER": "set"}
    assert names["context"] == {"region": "eu"}


def test_python_in_a_fork_has_no_command(tmp_path: Path) -> None:
    for execution in ("t:f", "s.py"):
        assert tools.command_of(tool(tmp_path, execution), {}, "/home/x") == []


def test_commands_are_exactly_these(tmp_path: Path) -> None:
    free = {"caps": {"subprocess": True}}
    names = {"input": {"x": "v"}}
    made = tool(tmp_path, {**php(tmp_path), "args": ["{{ input.x }}"]})
    program, entry = php(tmp_path)["phpBinary"], f"{made.folder}/s.php"
    assert tools.command_of(made, names, "/h") == [program, entry, "v"]
    cli = tool(tmp_path, {"kind": "cli", "cmd": ["sh", "-c", "{{ input.x }}"]}, **free, **BEST)
    assert tools.command_of(cli, names, "/h") == ["/usr/bin/sh", "-c", "v"]
    own = tool(tmp_path, {"kind": "cli", "cmd": ["./run.sh", "a"]}, **free, **BEST)
    assert tools.command_of(own, names, "/h") == [f"{made.folder}/run.sh", "a"]
    bubbled = tool(tmp_path, php(tmp_path), BUBBLE, **free)
    assert tools.command_of(bubbled, names, "/h") == [
        *bubblewrap_command(
            bubbled.confinement, tools.readable_paths(bubbled), bubbled.folder, "/h"
        ),
        program,
        entry,
    ]


BEST = {"settings": {"isolation": "best"}}


def test_commands_of_node_are_exactly_these(tmp_path: Path) -> None:
    need("node")
    files = {"s.js": "", "node_modules/n/package.json": {"main": "x.js"}}
    write_packs(tmp_path, [], {**files, "node_modules/n/x.js": ""})
    script = tool(tmp_path, {"kind": "node", "script": "s.js"})
    assert script.code.program is not None
    start = [script.code.program.path, "--max-old-space-size=512"]
    assert tools.command_of(script, {}, "/h") == [*start, f"{script.folder}/s.js"]
    assert "AS" not in tools.jail_of(script, root=False)["limits"]
    package = tool(tmp_path, {"kind": "node", "module": "n", "args": ["a"]})
    assert tools.command_of(package, {}, "/h") == [
        *start,
        "--input-type=module",
        "-e",
        "await import(process.argv[1])",
        "n",
        "a",
    ]


PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(equipage_serve.__file__)))


def test_python_in_a_bubble_is_told_what_to_run(tmp_path: Path) -> None:
    free = {"caps": {"subprocess": True}}
    for execution, expected in (
        ("t:f", {"callable": ["t", "f", False]}),
        ("s.py", {"source": base64.b64encode(CODE["s.py"].encode()).decode(), "path": "s.py"}),
    ):
        found = tool(tmp_path, execution, BUBBLE, **free)
        command = tools.command_of(found, {}, "/h")
        start = bubblewrap_command(
            found.confinement, tools.readable_paths(found), found.folder, "/h"
        )
        assert command[: len(start)] == start
        *rest, text = command[len(start) :]
        assert rest == [sys.executable, "-I", "-X", "utf8", "-c", tools._BUBBLEWRAP_SCRIPT, PACKAGE]
        told = json.loads(text)
        if "path" in told:
            told["path"] = os.path.relpath(told["path"], found.folder)
        hashes = {each.path: each.sha256 for each in found.code.files}
        assert told == {**expected, "hashes": hashes, "folders": [found.folder]}
        assert hashes
        assert PACKAGE in tools.readable_paths(found)


@pytest.mark.parametrize(
    ("execution", "folder"),
    [
        ("t:f", ""),
        ("t:Box.f", ""),
        ("deep.er:f", ""),
        ("deep.er.most:f", ""),
        ("s.py", ""),
        ("deep/er/most.py", "deep/er"),
    ],
)
def test_modules_are_found_from_the_folder_above_them(
    execution: str, folder: str, tmp_path: Path
) -> None:
    found = tool(tmp_path, execution)
    assert tools._module_folders(found) == [os.path.join(found.folder, folder).rstrip("/")]


def test_what_can_be_read_is_what_is_needed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", [*sys.path, "/x/site-packages", "/x/dist-packages", "/x/y"])
    found = tool(tmp_path, "deep.er:f")
    packages = [each for each in sys.path if each.endswith(("site-packages", "dist-packages"))]
    python = [sys.prefix, sys.base_prefix, sysconfig.get_path("stdlib"), *packages]
    assert packages[-2:] == ["/x/site-packages", "/x/dist-packages"]
    assert tools.readable_paths(found) == list(dict.fromkeys([found.folder, *python]))
    execution = php(tmp_path)
    made = tool(tmp_path, execution)
    assert tools.readable_paths(made) == [made.folder, execution["phpBinary"]]


def test_code_from_elsewhere_can_be_read_and_nothing_beside_it(tmp_path: Path) -> None:
    files = {
        ".env": "KEY=1",
        "secret.txt": "",
        "lib/m.py": "def f(p): return {}\n",
        "lib/x.txt": "",
        "lib/id_rsa": "",
        "lib/key.pem": "",
    }
    write_packs(tmp_path, [], files)
    root = os.path.realpath(tmp_path)
    (tmp_path / "pack").mkdir()
    found = tool(tmp_path / "pack", "lib.m:f", roots=[root])
    inside = [each for each in tools.readable_paths(found) if each.startswith(root)]
    assert inside == [found.folder, f"{root}/lib/m.py", f"{root}/lib/x.txt"]
    assert tools.jail_of(found, root=True)["listed"] == [found.folder]


def test_what_a_text_names_can_be_read_only_if_it_is_code(tmp_path: Path) -> None:
    """All of it is covered; data of the project, and what is hidden, must be in `caps`."""
    named = ["../lib/a.php", "../lib/b.json", "../notes", ".hid/c.php", "d.json"]
    files = {**dict.fromkeys(named, ""), "t.php": f"<?php # {' '.join(named)}"}
    (tmp_path / "pack").mkdir()
    write_packs(tmp_path / "pack", [], files)
    root = os.path.realpath(tmp_path)
    found = tool(tmp_path / "pack", {**php(tmp_path), "script": "t.php"}, roots=[root])
    assert {each.name for each in found.code.files} >= set(named)
    granted = [os.path.relpath(each, found.folder) for each in tools.readable_paths(found)]
    assert [each for each in named if each in granted] == ["../lib/a.php", "d.json"]


def test_a_pack_at_the_root_of_a_project_reads_no_secrets_of_it(tmp_path: Path) -> None:
    """Of a folder that has any, only the rest is granted; links grant nothing."""
    kept_back = {
        ".env": "",
        ".git/config": "",
        "a/id_rsa": "",
        "a/b/.rc": "",
        "__pycache__/t.pyc": "",
    }
    rest = {"a/b/x.txt": "", "a/c/x.txt": "", "d/x.txt": "", "node_modules/n/.x": ""}
    write_packs(tmp_path, [], {**kept_back, **rest})
    (tmp_path / "a/link").symlink_to("/etc")
    found = tool(tmp_path, "t:f")
    inside = [
        os.path.relpath(each, found.folder)
        for each in tools.readable_paths(found)
        if each.startswith(found.folder)
    ]
    code = ["a.b.tool.yaml", *(each for each in CODE if "/" not in each)]
    wanted = [*code, "deep", "a/b/x.txt", "a/c", "d", "node_modules"]
    assert sorted(inside) == sorted(wanted)


# Where paths start.


def test_paths_start_at_the_pack_or_at_the_root_of_the_project(tmp_path: Path) -> None:
    caps = {"filesystem": {"read": ["data"], "write": ["out/../made"]}}
    (tmp_path / "pack").mkdir()
    root, other = os.path.realpath(tmp_path), os.path.realpath(tmp_path.parent / "other")
    found = tool(tmp_path / "pack", "t:f", roots=[root], caps=caps)
    assert (found.base, found.confinement.read) == (f"{root}/pack", (f"{root}/pack/data",))
    project = {"paths": "project"}
    found = tool(tmp_path / "pack", "t:f", roots=[other, root], caps=caps, settings=project)
    assert (found.folder, found.base) == (f"{root}/pack", root)
    assert (found.confinement.read, found.confinement.write) == (
        (f"{root}/data",),
        (f"{root}/made",),
    )
    # The root itself is not granted by that.
    jail = tools.jail_of(found, root=True)
    assert jail["folder"] == root
    assert [each for each in jail["read"] if each.startswith(root)] == [
        f"{root}/pack",
        f"{root}/data",
    ]
    with pytest.raises(Unservable, match="no root was given"):
        tool(tmp_path / "pack", "t:f", roots=[other], settings=project)


def test_a_path_that_is_a_link_means_its_target_or_is_refused(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    for name, target in (("inner", "real"), ("outer", "/etc"), ("up", "../elsewhere")):
        (tmp_path / name).symlink_to(target)

    def read(path: str) -> tuple[str, ...]:
        return tool(tmp_path, "t:f", caps={"filesystem": {"read": [path]}}).confinement.read

    folder = os.path.realpath(tmp_path)
    assert read("real/x") == (f"{folder}/real/x",)
    assert read("../elsewhere") == (f"{os.path.dirname(folder)}/elsewhere",)
    # An absolute path says that it is not in the folder; what it means is shown.
    assert read(f"{folder}/outer") == ("/etc",)
    inner = ("inner/x", f"{folder}/real/x")  # it could become another while a tool is served
    for path, target in (inner, ("outer", "/etc"), ("./outer/passwd", "/etc/passwd")):
        with pytest.raises(Unservable, match=f"`{path}` in `caps` is a link to {target}: write"):
            read(path)
    with pytest.raises(Unservable, match="is a link to"):
        read("up")


def test_a_link_that_a_tool_may_have_made_is_refused(tmp_path: Path) -> None:
    folder = os.path.realpath(tmp_path)
    (tmp_path / "out").mkdir()
    for name, target in (("out/inner", "/etc"), ("link", "out")):
        (tmp_path / name).symlink_to(target)

    def read(path: str, write: str) -> tuple[str, ...]:
        caps = {"filesystem": {"read": [f"{folder}/{path}"], "write": [f"{folder}/{write}"]}}
        return tool(tmp_path, "t:f", caps=caps).confinement.read

    assert read("link", "out") == read("link", "link") == (f"{folder}/out",)
    assert read("out/inner", "out/x") == ("/etc",)
    for path, write in (("out/inner", "out"), ("link/inner", "link"), ("link", ".")):
        with pytest.raises(Unservable, match=f"`{folder}/{path}` in `caps` is a link to"):
            read(path, write)


@pytest.mark.parametrize("root", [False, True])
def test_a_jail_is_exactly_this(root: bool, tmp_path: Path) -> None:
    caps = {"network": ["https"], "filesystem": {"read": ["in"], "write": ["out"]}}
    found = tool(tmp_path, "t:f", caps=caps, deterministic=True, settings={"reuse": True})
    entry = f"{found.folder}/t.py"
    assert tools.jail_of(found, root=root) == {
        "folder": found.folder,
        "folders": [found.folder],
        "limits": limits_of("python", 5000, found.confinement, root=root, calls=1000),
        "run": {"callable": ["t", "f", True], "hashes": {entry: found.code.files[0].sha256}},
        "forks": False,
        "network": True,
        "landlock": True,
        "filter": True,
        "read": [
            *(*tools.readable_paths(found), f"{found.folder}/in"),
            *map(os.path.realpath, system_paths(found.confinement)),
        ],
        "write": [f"{found.folder}/out", "/dev/null"],
        "listed": [found.folder],
    }
    free = {"subprocess": True}
    made = tool(tmp_path, php(tmp_path), OLD, caps=free, **BEST)
    jail = tools.jail_of(made, root=root)
    assert jail["limits"] == limits_of("php", 5000, made.confinement, root=root, calls=1)
    assert {name: jail[name] for name in ("folders", "run", "forks", "network")} == {
        "folders": [],
        "run": {"program": True},
        "forks": True,
        "network": False,
    }
    assert (jail["landlock"], jail["filter"], jail["write"]) == (False, False, ["/dev/null"])
    bubbled = tool(tmp_path, "t:f", BUBBLE, caps=free)
    assert tools.jail_of(bubbled, root=root)["run"] == {"program": True}
