"""Running is another trust level than checking."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from lab import SOURCES, command, environment, python, write
from packs import pack, write_packs

MARKER = "import pathlib; pathlib.Path('marker').write_text('ran')\ndef f(p): return {}\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_packs(tmp_path, [pack("a.b", "t:f")], {"t.py": MARKER})


def test_nothing_else_runs_code(folder: Path) -> None:
    for arguments in (["check"], ["list"], ["lock", "a.b.tool.yaml"]):
        assert command(*arguments, cwd=folder).code == 0
    assert command("serve", ".", "--dry-run", "--allow", "python", cwd=folder).code == 0
    assert not (folder / "marker").exists()


def test_nothing_else_imports_the_packages() -> None:
    code = "import sys, equipage, equipage.toolpacks, equipage.cli.check; print(*sys.modules)"
    imported = set(python("-c", code).out.split())
    assert not imported & {"mcp", "mcp_types", "jinja2", "h11", "uvicorn", "equipage_serve"}


def test_without_the_extra(folder: Path, tmp_path: Path) -> None:
    """The message names what is missing."""
    block = "import sys\nsys.modules['watchfiles'] = None\n"
    write(tmp_path / "site", {"sitecustomize.py": block})
    hidden = environment(tmp_path / "site", SOURCES)
    arguments = ("serve", ".", "--allow", "python", "--isolation", "best", "--watch")
    done = command(*arguments, "--unlocked", "--yes", cwd=folder, env=hidden)
    assert done.code == 2
    assert "--watch needs watchfiles: run `pip install watchfiles`" in done.err


@pytest.mark.skipif(sys.platform != "linux", reason="tools are confined on Linux")
def test_serve_needs_a_lock_or_words(folder: Path) -> None:
    done = command("serve", ".", "--allow", "python", "--isolation", "best", cwd=folder)
    assert done.code == 2
    assert "tools run only if a lock covers them" in done.err
    assert not (folder / "marker").exists()


@pytest.mark.skipif(sys.platform != "linux", reason="tools are confined on Linux")
def test_the_lock_of_a_workspace_covers_its_tools(folder: Path) -> None:
    assert command("lock", cwd=folder).code == 0
    arguments = (
        "serve",
        ".",
        "--allow",
        "python",
        "--isolation",
        "best",
        "--lock",
        "equipage.lock",
    )
    assert command(*arguments, cwd=folder, stdin=-3).code == 0  # the input ends at once
    (folder / "t.py").write_text(MARKER + "# changed\n")
    done = command(*arguments, cwd=folder)
    assert done.code == 2
    assert "a.b is not what was locked: the code that it runs changed" in done.err
    pack_file = folder / "a.b.tool.yaml"
    pack_file.write_text(pack_file.read_text().replace("1.0.0", "1.0.1"))
    done = command(*arguments, cwd=folder)
    assert "a.b is not what was locked: a.b.tool.yaml changed since" in done.err
    pack_file.rename(folder / "other.tool.yaml")
    assert "no lock covers it" in command(*arguments, cwd=folder).err


def test_the_plan_says_what_is_enforced_and_what_is_not(folder: Path) -> None:
    code = "import numpy_not_here, t\n"
    network = {"caps": {"network": ["https"]}}
    write_packs(folder, [pack("a.c", "c.py", **network)], {"c.py": code})
    done = command(
        "serve", ".", "--dry-run", "--allow", "python", "--isolation", "none", cwd=folder
    )
    assert done.code == 0, done.err
    assert "a.c (python)\n  runs: python c.py\n  caps: https\n  isolation: none (none)" in done.out
    assert "not enforced: network" in done.out
    assert "code: 2 files" in done.out
    assert "code that no lock covers: numpy_not_here" in done.out


def test_a_pack_cannot_write_lines_of_the_plan(folder: Path) -> None:
    shell = {"kind": "cli", "cmd": ["sh", "-c", "true\n  enforced: all\x1b[2J"]}
    files = {"filesystem": {"read": ["x\r  caps: none\u202e"]}}
    write_packs(folder, [pack("a.c", shell, caps={"subprocess": True, **files})], {})
    done = command("serve", ".", "--dry-run", "--allow", "cli", "--isolation", "none", cwd=folder)
    assert done.code == 0, done.err
    assert "runs: sh -c true\\n  enforced: all\\u001b[2J\n" in done.out
    assert all(each.isprintable() for each in done.out.split("\n"))


def test_files_with_errors_are_not_served(folder: Path) -> None:
    write(folder, {"bad.tool.yaml": "id: x\n"})
    done = command("serve", ".", "--allow", "python", "--unlocked", "--yes", cwd=folder)
    assert done.code == 1
    assert "bad.tool.yaml" in done.err
