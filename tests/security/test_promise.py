"""The main package opens no socket and starts no program but git, ssh-keygen and its own workers.

The audit hook of `audit/sitecustomize.py` watches every test of this package, in its own process
and in those of the command (`conftest.py`). Here is that it would see what it looks for, and that
no module imports what could do it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import equipage
from lab import matching, python, watching

ROOT = Path(equipage.__file__).parent

#: Runs the last argument as if it were a function of equipage.
AS_EQUIPAGE = "import sys; exec(sys.argv[1], {'__name__': 'equipage.made_up'})"


@pytest.mark.parametrize(
    "code",
    [
        "import socket; socket.socket()",
        "import socket; socket.getaddrinfo('localhost', 80)",
        "import asyncio; asyncio.run(asyncio.sleep(0))",
        "import subprocess; subprocess.run(['true'])",
        "import subprocess, sys; subprocess.run([sys.executable, '-V'])",
        "import os; os.system('true')",
        "import os; os.execv('/bin/true', ['true'])",
        "import os; os.posix_spawn('/bin/true', ['true'], {})",
        "import os; os.fork() or os._exit(0)",
    ],
)
def test_what_is_not_allowed_is_seen_and_ended(code: str, tmp_path: Path) -> None:
    with watching(tmp_path / "log") as log:
        done = python("-c", AS_EQUIPAGE, code)
        assert done.code == 1
        assert "NotAllowed" in done.err
        assert log.read_text().count("\n") >= 1


@pytest.mark.parametrize(
    "code",
    [
        "import subprocess; subprocess.run(['git', '--version'], check=True)",
        "import multiprocessing as m; p = m.Process(target=print); p.start(); p.join()",
        "print(open(__import__('os').devnull).read())",
    ],
)
def test_what_is_allowed_is_not(code: str, tmp_path: Path) -> None:
    with watching(tmp_path / "log") as log:
        done = python("-c", AS_EQUIPAGE, code)
        assert done.code == 0, done.err
        assert not log.exists()


def test_what_another_package_does_is_its_own(tmp_path: Path) -> None:
    with watching(tmp_path / "log") as log:
        assert python("-c", "import socket; socket.socket().close()").code == 0
        assert not log.exists()


#: What connects, or waits for connections.
CONNECTS = re.compile(
    r"(ssl|_ssl|http|asyncio|socket|_socket|socketserver|selectors|urllib\.request|ftplib|smtplib|"
    r"poplib|imaplib|nntplib|telnetlib|xmlrpc|webbrowser|requests|urllib3|httpx|httpcore|aiohttp|"
    r"anyio|trio|uvicorn|starlette|mcp|mcp_types|h11|websockets|grpc|paramiko)(\..*)?"
)
#: The modules that start processes.
STARTS_PROCESSES = {"files/process.py", "workspace/parallel.py"}
STARTS = re.compile(
    r"(subprocess|_posixsubprocess|multiprocessing|concurrent\.futures\.process|pty)(\..*)?"
)
STARTING_CALL = re.compile(
    r"os\.(system|popen|fork\w*|exec[lv]\w*|spawn\w*|posix_spawn\w*|startfile)|ProcessPoolExecutor"
)


def imports(tree: ast.Module) -> Iterator[str]:
    """What a module imports when it runs, functions included."""
    for_types = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        if id(node) in for_types:
            continue
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield str(node.module)
            yield from (f"{node.module}.{each.name}" for each in node.names)


def test_no_module_imports_what_connects() -> None:
    for path in matching(ROOT, "**/*.py"):
        found = [each for each in imports(ast.parse(path.read_text())) if CONNECTS.fullmatch(each)]
        assert found == [], path


def test_two_modules_start_processes() -> None:
    found = set()
    for path in matching(ROOT, "**/*.py"):
        tree = ast.parse(path.read_text())
        calls = (ast.unparse(each.func) for each in ast.walk(tree) if isinstance(each, ast.Call))
        if any(map(STARTS.fullmatch, imports(tree))) or any(map(STARTING_CALL.fullmatch, calls)):
            found.add(path.relative_to(ROOT).as_posix())
    assert found == STARTS_PROCESSES
