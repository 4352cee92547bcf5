"""What is served, how it differs from what was locked, and what a person is told before it runs."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import msgspec
import pytest

pytest.importorskip("jinja2", reason="the extra `serve` is not installed")

from equipage.core.diagnostics import LoadError
from equipage.files import MAX_BYTES
from equipage.loading.session import Request
from equipage.record import dependencies, lock
from equipage_serve import trust
from equipage_serve.platform import Platform
from equipage_serve.snapshot import Snapshot, ToolDescription, take_snapshot
from equipage_serve.tools import Settings
from lab import write
from packs import KINDS, need, pack, write_packs
from test_confinement import BUBBLE, FULL, OLD

CODE = {"t.py": "def f(p): return {}\n", "s.py": "print('{}')\n", "s.php": "<?php"}
SKILL = "---\nname: {}\ndescription: Writes.\n---\nDo it.\n"
PHP = {"kind": "php", "script": "s.php"}


@pytest.fixture(autouse=True)
def php(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> str:
    """A program that is called PHP, whether there is one or not."""
    programs = write(tmp_path_factory.mktemp("programs"), {"php": ""})
    searched = f"{programs}:{dependencies.SYSTEM_PATH}"
    monkeypatch.setattr(dependencies, "SYSTEM_PATH", searched)
    return str(programs / "php")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def taken(
    folder: Path,
    *packs: dict[str, Any],
    files: dict[str, Any] | None = None,
    platform: Platform = FULL,
    paths: tuple[str, ...] = (),
    allow: Any = KINDS,
    oversize: bool = False,
    **settings: Any,
) -> Snapshot:
    write_packs(folder, list(packs), {**CODE, **(files or {})})
    made = Settings(allow=frozenset(allow), **settings)
    given = [str(folder / each) for each in paths] or [str(folder)]
    return take_snapshot(given, Request(env={}), made, platform, oversize=oversize)


# A snapshot.


def test_tools_and_skills_are_in_a_fixed_order(folder: Path) -> None:
    skills = {f"{name}/SKILL.md": SKILL.format(name) for name in ("zeta", "alpha")}
    packs = [pack("b.b", "s.py"), pack("a.b", "t:f"), pack("c.b", "t:f", summary="Sums up.")]
    packs[0] |= {"name": "The title", "description": None, "summary": "Sums up."}
    packs[2] |= {"name": 5, "description": ["x"]}
    found = taken(folder, *packs, files=skills)
    assert [each.pack.id for each in found.tools] == ["a.b", "b.b", "c.b"]
    assert [each.name for each in found.skills] == ["alpha", "zeta"]
    assert found.described == {
        "a.b": ToolDescription(None, "The tool a.b."),
        "b.b": ToolDescription("The title", "Sums up."),
        "c.b": ToolDescription(None, None),
    }
    assert sorted(found.outcomes) == ["a.b", "b.b", "c.b"]
    assert found.outcomes["b.b"].config is found.tools[1].pack
    assert (found.refused, found.warnings) == ({}, ())


def test_what_cannot_be_served_is_left_out_with_its_reasons(folder: Path) -> None:
    skills = {f"{place}/SKILL.md": SKILL.format("same") for place in ("one/same", "two/same")}
    skills["bad/SKILL.md"] = SKILL.format("bad").replace("name: bad", "name: Bad")
    found = taken(
        folder, pack("a.b", "t:f"), pack("c.d", "none.py"), files=skills, allow=["python"]
    )
    assert [each.pack.id for each in found.tools] == ["a.b"]
    assert [each.name for each in found.skills] == ["same"]
    assert sorted(found.refused) == [
        str(folder / "bad/SKILL.md"),
        str(folder / "two/same/SKILL.md"),
        "c.d",
    ]
    assert found.refused[str(folder / "two/same/SKILL.md")] == (
        "another skill is named `same`, too",
    )
    assert "lower-case" in found.refused[str(folder / "bad/SKILL.md")][0]
    assert found.refused["c.d"][0].startswith("cannot run `none.py`: ")
    assert sorted(found.described) == ["a.b", "c.d"]


def test_a_skill_that_is_too_large_is_served_if_that_is_wanted(folder: Path) -> None:
    files = {"big/SKILL.md": SKILL.format("big"), **{f"big/{n}.txt": "x" for n in range(512)}}
    assert taken(folder, files=files).skills == ()
    assert take_snapshot([str(folder)], Request(env={}), Settings(), FULL).skills == ()
    assert len(taken(folder, oversize=True).skills[0].files) == 513


def test_an_error_anywhere_is_an_error_of_all(folder: Path) -> None:
    with pytest.raises(LoadError) as failed:
        taken(folder, pack("a.b", "t:f"), files={"bad.tool.yaml": "id: x\n"})
    assert {each.name for each in failed.value.errors} == {"bad.tool.yaml"}
    (folder / "bad.tool.yaml").unlink()
    twice = msgspec.json.encode(pack("a.b", "t:f")).decode()
    with pytest.raises(LoadError, match=r"a\.b"):
        taken(folder, files={"inner/x.tool.yaml": twice})
    with pytest.raises(LoadError) as failed:
        taken(folder, paths=("no/such",))
    assert len(failed.value.errors) == 1
    # A file that is neither is an error if it was named, and else not ours.
    (folder / "notes.txt").write_text("x")
    (folder / "inner/x.tool.yaml").unlink()
    assert len(taken(folder).tools) == 1
    with pytest.raises(LoadError, match=r"notes\.txt"):
        taken(folder, paths=("notes.txt",))


def test_other_kinds_are_not_looked_at(folder: Path) -> None:
    """Nor are their errors."""
    files = {".claude/agents/a.md": "---\nname: a\nmodel: [5]\n---\n"}
    assert len(taken(folder, pack("a.b", "t:f"), files=files).tools) == 1


def test_warnings_are_kept(folder: Path) -> None:
    found = taken(folder, {**pack("a.b", "t:f"), "verison": "1"})
    assert [each.severity for each in found.warnings] == ["warning"]


def test_modules_come_from_the_root_of_the_project(folder: Path) -> None:
    write(folder, {"equipage.toml": "", "lib.py": "def f(p): return {}\n"})
    found = taken(folder / "inner", pack("a.b", "lib:f"))
    assert found.tools[0].code.entry == os.path.realpath(folder / "lib.py")


def test_digests_say_what_clients_would_see(folder: Path) -> None:
    plain = pack("a.b", "t:f")
    seen = [taken(folder, plain, files={"s/SKILL.md": SKILL.format("s")})]
    for files in (
        {"t.py": "def f(p): return {'a': 1}\n"},
        {"a.b.tool.yaml": msgspec.json.encode({**plain, "description": "Other."}).decode()},
        {"s/more.txt": "x"},
        {"s/more.txt": "y"},
    ):
        write(folder, files)
        settings = Settings(allow=frozenset(KINDS))
        seen.append(take_snapshot([str(folder)], Request(env={}), settings, FULL))
    tools, skills = (
        [getattr(each, name)() for each in seen] for name in ("tools_digest", "skills_digest")
    )
    assert [tools.index(each) for each in tools] == [0, 1, 2, 2, 2]
    assert [skills.index(each) for each in skills] == [0, 0, 0, 3, 4]
    assert len(tools[0]) == len(skills[0]) == 64


# Whether tools are what was locked.


def locked(*paths: Path, root: Path, programs: bool = False) -> lock.WorkspaceLock:
    found = lock.lock_all(
        [str(each) for each in paths], str(root), Request(env={}), programs=programs, jobs=1
    )
    return found[0]


NONE = "no lock covers it"


def test_a_lock_of_a_file_covers_its_tool(folder: Path) -> None:
    packs = [pack("a.b", "t:f"), pack("c.d", PHP)]
    snapshot = taken(folder, *packs)
    assert trust.differences(snapshot, []) == {"a.b": NONE, "c.d": NONE}
    ours = [
        locked(folder / name, root=folder, programs=True)
        for name in ("c.d.tool.yaml", "a.b.tool.yaml")
    ]
    assert trust.differences(snapshot, ours) == {}
    assert trust.differences(snapshot, ours[:1]) == {"a.b": NONE}
    # Wherever the pack lies, and whatever its file is called.
    (folder / "a.b.tool.yaml").rename(folder / "renamed.tool.yaml")
    assert trust.differences(taken(folder), ours) == {}


def test_a_program_is_that_which_was_locked(folder: Path) -> None:
    snapshot = taken(folder, pack("c.d", PHP))
    ours = locked(folder, root=folder, programs=True)
    assert trust.differences(snapshot, [ours]) == {}
    tool = snapshot.tools[0]
    assert tool.code.program is not None
    for change in ({"path": "/other"}, {"sha256": "0"}):
        program = msgspec.structs.replace(tool.code.program, **change)
        code = msgspec.structs.replace(tool.code, program=program)
        moved = msgspec.structs.replace(tool, code=code)
        changed = msgspec.structs.replace(snapshot, tools=(moved,))
        assert trust.differences(changed, [ours]) == {
            "c.d": f"the program {program.path} changed since the lock was written"
        }
        # One of several locks that cover it is enough.
        assert trust.differences(changed, [ours, locked(folder, root=folder)]) == {}


def test_the_code_of_a_tool_is_that_which_was_locked(folder: Path) -> None:
    """Not only that of a new look at the files."""
    snapshot = taken(folder, pack("a.b", "t:f"))
    tool = snapshot.tools[0]
    code = msgspec.structs.replace(tool.code, files=())
    other = msgspec.structs.replace(snapshot, tools=(msgspec.structs.replace(tool, code=code),))
    assert trust.differences(other, [locked(folder, root=folder)]) == {
        "a.b": "the code that it runs changed since the lock was written"
    }


FREE = {"caps": {"subprocess": True}}
CHANGED = "the code that it runs changed since the lock was written"
#: What runs, its files, and one of these that is code.
LOADED: dict[str, tuple[Any, dict[str, str], str]] = {
    "a script of a shell": (["sh", "c.sh"], {"c.sh": ""}, "c.sh"),
    "what that reads": (["sh", "c.sh"], {"c.sh": ". ./lib/d\n", "lib/d": ""}, "lib/d"),
    "by a variable": (["sh", "c.sh"], {"c.sh": '. "$HERE/lib/d.rc"', "lib/d.rc": ""}, "lib/d.rc"),
    "by a name that is made up": (
        ["sh", "a/c.sh"],
        {"a/c.sh": '. "$1"', "a/b/d.sh": ""},
        "a/b/d.sh",
    ),
    "by a text": (["sh", "-c", "cd lib && . ./d.rc"], {"lib/d.rc": "", "d.rc": ""}, "d.rc"),
    "a link": (["sh", "c.sh"], {"c.sh": ". ./x", "x": "LINK real.txt", "real.txt": ""}, "real.txt"),
    "by an absolute path": (["sh", "FOLDER/c.sh"], {"c.sh": ""}, "c.sh"),
    "the program itself": (["FOLDER/c.sh"], {"c.sh": ""}, "c.sh"),
    "by a name with a blank": (["sh", "my c.txt"], {"my c.txt": ""}, "my c.txt"),
    "a module of Python": (["python3", "m.py"], {"m.py": "import a.b", "a/b.py": ""}, "a/b.py"),
    "beside it": (["python3", "-m", "u"], {"u.py": "", "v.pyc": ""}, "v.pyc"),
    "for another language": (["awk", "-f", "x.awk"], {"x.awk": ""}, "x.awk"),
    "PHP": ("p.php", {"p.php": "<?php require __DIR__ . '/inc.txt';", "inc.txt": ""}, "inc.txt"),
    "PHP above it": ("a/s.php", {"a/s.php": "<?php require '../i.php';", "i.php": ""}, "i.php"),
    "PHP by a name made up": ("p.php", {"p.php": "<?php require $x;", "a/x.inc": ""}, "a/x.inc"),
    "a program that names nothing": (["make"], {"Makefile": "all:; sh x.rc", "x.rc": ""}, "x.rc"),
    "what a file says is run": (["npm", "test"], {"package.json": "{}"}, "package.json"),
    "a folder": (["python3", "-m", "m"], {"m/__main__.py": "", "n/x.txt": ""}, "m/__main__.py"),
    "Node.js": ("a/s.js", {"a/s.js": "require('../u')", "u.js": ""}, "u.js"),
}


def made_of(folder: Path, execution: Any, files: dict[str, str]) -> dict[str, Any]:
    """A pack that runs a command or a script, and its files."""
    for name, text in files.items():
        path = folder / name
        if text.startswith("LINK "):
            path.symlink_to(text[5:])
        else:
            write(folder, {name: text})
    if isinstance(execution, list):
        command = [each.replace("FOLDER", os.path.realpath(folder)) for each in execution]
        return pack("a.b", {"kind": "cli", "cmd": command}, **FREE)
    return pack("a.b", {"kind": "node" if execution.endswith("js") else "php", "script": execution})


@pytest.mark.parametrize("name", LOADED)
def test_a_lock_covers_what_a_program_loads(name: str, folder: Path) -> None:
    execution, files, changed = LOADED[name]
    if "js" in changed:
        need("node")
    snapshot = taken(folder, made_of(folder, execution, files), isolation="best")
    (tool,) = snapshot.tools
    assert changed in [each.name for each in tool.code.files]
    assert changed in str(plan(snapshot))
    ours = [locked(folder, root=folder)]
    assert trust.differences(snapshot, ours) == {}
    (folder / changed).write_text("other")
    assert trust.differences(taken(folder, isolation="best"), ours) == {"a.b": CHANGED}


def test_code_may_be_named_by_arguments_and_variables(folder: Path) -> None:
    """And by the code of a Python tool: all files if it may start processes, otherwise code."""
    names = {"x.rc": "", "y.rc": "", "z.rc": "", "conf/php.ini": ""}
    write(folder, {**names, "n.py": "RUN = ['sh', 'z.rc']\n"})
    write(folder, {"p.py": "runpy.run_path('a/q.py')\n# t, d.json\n", "a/q.py": "", "d.json": ""})
    shell = {"kind": "cli", "cmd": ["bash", "-c", "true"], "args": ["--rcfile=x.rc"]}
    packs = [
        pack("a.b", shell, env={"set": {"BASH_ENV": "./y.rc", "PHPRC": "conf"}}, **FREE),
        pack("c.d", "n:f", **FREE),
        pack("e.f", "n:f"),
        pack("g.h", "p:f"),
    ]
    found = [
        [each.name for each in tool.code.files]
        for tool in taken(folder, *packs, isolation="best").tools
    ]
    beside = ["a/q.py", "conf/php.ini", "d.json", "n.py", "p.py", "s.php", "s.py", "t.py", "z.rc"]
    others = ["n.py"], ["a/q.py", "p.py"]
    assert found == [["conf/php.ini", "x.rc", "y.rc"], beside, *others]


def test_what_a_tool_writes_is_no_code_of_it_unless_it_is_named_like_code(folder: Path) -> None:
    caps = {"subprocess": True, "filesystem": {"write": ["out"]}}
    script = "echo > out/log.txt; echo > out/state; . ./out/x.sh; . ./.env; cat node_modules/n/x.js"
    files = {"out/log.txt": "", "out/state": "", "out/x.sh": "", ".env": "", "c.sh": script}
    write(folder, {**files, "node_modules/n/x.js": ""})
    content = pack("a.b", {"kind": "cli", "cmd": ["sh", "c.sh"]}, caps=caps)
    (tool,) = taken(folder, content, isolation="best").tools
    names = [each.name for each in tool.code.files]
    assert names == ["c.sh", "out/x.sh", "s.php", "s.py", "t.py"]


def test_code_of_any_size_is_covered_and_what_lies_elsewhere_is_named(
    folder: Path, tmp_path_factory: Any
) -> None:
    outside = write(tmp_path_factory.mktemp("outside"), {"d.rc": ""})
    script = ". ./big.rc; . ./away.rc; . ./pipe.rc; . .git/config; . ../../etc/passwd"
    write(folder, {"c.sh": script, ".git/config": ""})
    (folder / "away.rc").symlink_to(outside / "d.rc")
    os.mkfifo(folder / "pipe.rc")
    with (folder / "big.rc").open("w") as file:
        file.truncate(MAX_BYTES + 1)
    caps = {"subprocess": True, "filesystem": {"read": [str(outside)]}}
    content = pack("a.b", {"kind": "cli", "cmd": ["sh", "c.sh"]}, caps=caps)
    snapshot = taken(folder, content, isolation="best")
    names = [each.name for each in snapshot.tools[0].code.files]
    assert names == ["big.rc", "c.sh", "s.php", "s.py", "t.py"]
    named = f"what it loads from {os.path.realpath(outside)}"
    assert f"  code that no lock covers: {named}" in plan(snapshot)


def test_more_code_than_a_lock_takes(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dependencies, "MAX_FILES", 5)
    write(folder, {"c.sh": "", **{f"lib/{number}.sh": "" for number in range(5)}})
    shell = {"kind": "cli", "cmd": ["sh", "c.sh"]}
    snapshot = taken(folder, pack("a.b", shell, **FREE), isolation="best")
    assert snapshot.refused == {
        "a.b": ("the code has more than 5 files: give the pack a folder of its own",)
    }


def test_a_lock_of_a_workspace_covers_its_tools(folder: Path) -> None:
    packs = [pack("a.b", "t:f"), pack("c.d", PHP)]
    snapshot = taken(folder, *packs)
    ours = [locked(folder, root=folder)]
    assert trust.differences(snapshot, ours) == {}
    # It has the name of a program, not its bytes: that differs from machine to machine.
    tool = snapshot.tools[1]
    assert tool.code.program is not None
    program = msgspec.structs.replace(tool.code.program, path="/other", sha256="0")
    code = msgspec.structs.replace(tool.code, program=program)
    moved = msgspec.structs.replace(tool, code=code)
    assert trust.differences(msgspec.structs.replace(snapshot, tools=(moved,)), ours) == {}
    # One of several locks that cover it is enough.
    empty = msgspec.structs.replace(ours[0], items={})
    assert trust.differences(snapshot, [empty, *ours]) == {}
    changed = taken(folder, files={"t.py": "def f(p): return 1\n"})
    # Code beside a script that is not parsed may be a part of it.
    assert trust.differences(changed, ours) == {"a.b": CHANGED, "c.d": CHANGED}
    without = {
        name: msgspec.structs.replace(item, code=None) for name, item in ours[0].items.items()
    }
    assert sorted(
        trust.differences(snapshot, [msgspec.structs.replace(ours[0], items=without)])
    ) == ["a.b", "c.d"]
    newer = taken(folder, {**packs[0], "version": "2.0.0"})
    assert trust.differences(newer, ours) == {
        "a.b": "a.b.tool.yaml changed since the lock was written"
    }
    (folder / "a.b.tool.yaml").rename(folder / "renamed.tool.yaml")
    assert trust.differences(taken(folder), ours) == {"a.b": NONE}
    # An item of another kind says nothing about a tool.
    kinds = {
        name: msgspec.structs.replace(item, kind="skill") for name, item in ours[0].items.items()
    }
    others = [msgspec.structs.replace(ours[0], items=kinds)]
    assert trust.differences(snapshot, others) == {"a.b": NONE, "c.d": NONE}


# What a person is told.


def plan(snapshot: Snapshot, refused: dict[str, list[str]] | None = None) -> list[str]:
    return list(trust.plan(snapshot, refused or {}))


def test_a_plan_is_exactly_this(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SET", "1")
    caps = {"network": ["http", "https"], "filesystem": {"read": ["in"], "write": ["out", "x"]}}
    env = {"passthrough": ["SET", "UNSET", "MISSING"]}
    files = {
        "u.py": "import t, other_module, another_one\ndef f(p): return {}\n",
        "notes/SKILL.md": SKILL.format("notes"),
        "notes/.hidden": "",
        "notes/b.bak": "",
        "notes/a.txt": "12345",
    }
    snapshot = taken(
        folder,
        pack("a.b", "u:f", caps=caps, env=env),
        pack("r.x", "t:f"),
        files=files,
        platform=OLD,
        isolation="best",
    )
    tool = snapshot.tools[0]
    found = plan(snapshot, {"r.x": ["why", "and why"]})
    size = len(SKILL.format("notes")) + 5
    assert found == [
        "a.b (python)",
        "  runs: u:f",
        "  caps: http, https, read in, write out, write x",
        "  isolation: best (none)",
        *(f"  enforced: {each}" for each in tool.confinement.enforced),
        *(f"  not enforced: {each}" for each in tool.confinement.open),
        f"  code: 2 files, sha256 {tool.code.digest[:16]} (t.py, u.py)",
        "  variables that are not set: UNSET, MISSING",
        # Where nothing keeps a tool from starting programs, these load what they can read.
        f"  code that no lock covers: another_one, other_module, what it loads from {folder}/in",
        f"  paths that are not there: {folder}/in, {folder}/out, {folder}/x",
        "notes (skill)",
        f"  serves: 2 files, {size} bytes",
        f"  left out: {', '.join(snapshot.skills[0].left_out)}",
        "r.x is not served",
        "  why",
        "  and why",
    ]
    assert tool.confinement.open
    assert sorted(snapshot.skills[0].left_out) == [".hidden", "b.bak"]


NET = {"caps": {"network": ["https"]}}
#: The execution, other fields, the lines about what runs and what it may do.
RUNS: list[tuple[Any, dict[str, Any], str, str]] = [
    ("t:f", {}, "t:f", "none"),
    ("s.py", FREE, "python s.py", "subprocess"),
    (PHP, {}, "PHP s.php", "none"),
    ({"kind": "cli", "cmd": ["sh", "-c", "x y"]}, FREE, "sh -c x y", "subprocess"),
    ({"kind": "http", "url": "https://a.example/"}, NET, "POST https://a.example/", "https"),
    (
        {"kind": "http", "url": "https://a.example/", "method": "get"},
        NET,
        "get https://a.example/",
        "https",
    ),
]


@pytest.mark.parametrize(("execution", "fields", "runs", "caps"), RUNS)
def test_what_runs(
    execution: Any, fields: dict[str, Any], runs: str, caps: str, tmp_path: Path, php: str
) -> None:
    runs = runs.replace("PHP", php)
    lines = plan(taken(tmp_path, pack("a.b", execution, **fields), isolation="best"))
    assert lines[1:3] == [f"  runs: {runs}", f"  caps: {caps}"]
    assert any(line.startswith("  enforced: ") for line in lines)
    assert not any("variables" in line or "no lock" in line for line in lines)
    is_request = isinstance(execution, dict) and execution["kind"] == "http"
    assert any(line.startswith("  code: ") for line in lines) is not is_request


def test_a_module_of_node_runs_by_its_file(folder: Path) -> None:
    need("node")
    files = {"node_modules/n/package.json": {"main": "x.js"}, "node_modules/n/x.js": ""}
    snapshot = taken(folder, pack("a.b", {"kind": "node", "module": "n"}), files=files)
    program = snapshot.tools[0].code.program
    assert program is not None
    assert plan(snapshot)[1] == f"  runs: {program.path} node_modules/n/package.json"


def test_a_skill_without_omissions_has_no_line_about_them(folder: Path) -> None:
    lines = plan(taken(folder, files={"notes/SKILL.md": SKILL.format("notes")}))
    assert lines == ["notes (skill)", f"  serves: 1 files, {len(SKILL.format('notes'))} bytes"]


def test_the_means_are_named(folder: Path) -> None:
    assert "  isolation: strict (landlock, seccomp)" in plan(taken(folder, pack("a.b", "t:f")))
    bubbled = taken(folder, pack("a.b", "t:f", **FREE), platform=BUBBLE)
    assert "  isolation: strict (bubblewrap)" in plan(bubbled)
