"""The main package opens no socket and starts no program but git, ssh-keygen and its own workers.

The audit hook of `audit/sitecustomize.py` watches every test of this package, in its own process
and in those of the command (`conftest.py`). Here is that it would see what it looks for, and that
no module imports what could do it. What the parsers in C and Rust do is not Python's to see:
`test_remote_references.py` has an open door beside them, through which nobody comes.
"""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import equipage
from audit import sitecustomize
from lab import Result, matching, python, watching, write

ROOT = Path(equipage.__file__).parent

#: Runs its second argument as if it were a function of the module that the first names.
AS_MODULE = """
import concurrent.futures, ctypes, os, pty, shutil, socket, subprocess, sys, threading
import asyncio, multiprocessing, urllib.request, _socket
exec(sys.argv[2], {**globals(), "__name__": sys.argv[1]})
"""
MADE_UP = "equipage.made_up"
PROGRAMS, WORKERS = sitecustomize.RUNS_PROGRAMS, sitecustomize.STARTS_WORKERS
FORK = "p = multiprocessing.get_context('fork').Process"
SPAWN = "p = multiprocessing.get_context('spawn').Process"
TO_THE_END = "; p.start(); p.join()"


def run_as(module: str, code: str) -> Result:
    return python("-c", AS_MODULE, module, code)


@pytest.mark.parametrize(
    "code",
    [
        "socket.socket()",
        "_socket.socket()",
        "socket.getaddrinfo('localhost', 80)",
        "asyncio.run(asyncio.sleep(0))",
        "urllib.request.urlopen('http://127.0.0.1:1')",
        "subprocess.run(['true'])",
        "subprocess.run([sys.executable, '-V'])",
        "subprocess.run([shutil.which('git'), '--version'])",
        "subprocess.run('git --version', shell=True)",
        "os.system('true')",
        "os.popen('true')",
        "os.execv('/bin/true', ['true'])",
        "os.posix_spawn('/bin/true', ['true'], {})",
        "os.spawnv(os.P_WAIT, '/bin/true', ['true'])",
        "os.fork() or os._exit(0)",
        "os.forkpty()[0] or os._exit(0)",
        "pty.spawn('/bin/true')",
        f"{FORK}(target=print){TO_THE_END}",
        "ctypes.CDLL('libc.so.6')",
        "ctypes.CDLL(None).system(b'true')",
        "ctypes.pythonapi.PyRun_SimpleString(b'1')",
    ],
)
def test_what_is_not_allowed_is_seen_and_ended(code: str, tmp_path: Path) -> None:
    with watching(tmp_path / "log") as log:
        done = run_as(MADE_UP, code)
        assert done.code == 1
        assert "NotAllowed" in done.err
        assert log.read_text().count("\n") >= 1


@pytest.mark.parametrize(
    ("module", "code"),
    [
        # Each of the two modules that start processes has its own.
        (WORKERS, "subprocess.run([shutil.which('git'), '--version'])"),
        (PROGRAMS, f"{FORK}(target=print){TO_THE_END}"),
        (PROGRAMS, "subprocess.run(['/bin/true'])"),
        (PROGRAMS, "subprocess.run(['./git'])"),
        # Threads.
        (MADE_UP, "t = threading.Thread(target=lambda: socket.socket()); t.start(); t.join()"),
        (MADE_UP, "concurrent.futures.ThreadPoolExecutor().submit(lambda: os.fork()).result()"),
        # Workers.
        (WORKERS, f"{FORK}(target=socket.socket){TO_THE_END}"),
        (WORKERS, f"{FORK}(target=os.system, args=('true',)){TO_THE_END}"),
    ],
)
def test_nor_by_another_module_in_a_thread_or_a_worker(
    module: str, code: str, tmp_path: Path
) -> None:
    with watching(tmp_path / "log") as log:
        done = run_as(module, code)
        assert "NotAllowed" in done.err
        assert log.read_text().count("\n") == 1


@pytest.mark.parametrize(
    ("module", "code"),
    [
        (PROGRAMS, "subprocess.run([shutil.which('git'), '--version'], check=True)"),
        (WORKERS, f"{FORK}(target=print){TO_THE_END}"),
        (WORKERS, f"{SPAWN}(target=print){TO_THE_END}"),
        (MADE_UP, "ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(0), None)"),
        (MADE_UP, "t = threading.Thread(target=print); t.start(); t.join()"),
        (MADE_UP, "print(open(os.devnull).read())"),
        # What others do is their own.
        ("another", "socket.socket().close(); subprocess.run(['true'])"),
    ],
)
def test_what_is_allowed_is_not(module: str, code: str, tmp_path: Path) -> None:
    with watching(tmp_path / "log") as log:
        done = run_as(module, code)
        assert (done.code, done.err) == (0, "")
        assert not log.exists()


@pytest.mark.parametrize(
    "own",
    [
        "import atexit, socket\natexit.register(socket.socket)\n",
        "import socket, threading\nt = threading.Thread(target=socket.socket)\nt.start()\nt.join()\n",
    ],
)
def test_all_that_happens_in_the_command_counts(own: str, tmp_path: Path) -> None:
    """Where no function of equipage runs, too: this is what a format of one's own leaves behind."""
    write(tmp_path, {"own.py": own, "a.yaml": "a: 1\n"})
    with watching(tmp_path / "log") as log:
        more = ["check", "a.yaml", "--kind", "own:FORMAT", "--python-path", "."]
        done = python("-m", "equipage", *more, cwd=tmp_path)
        assert "NotAllowed" in done.err
        assert log.read_text().startswith("socket.__new__")


@pytest.mark.parametrize(
    ("options", "variables"),
    [
        (["-I"], None),
        (["-S"], None),
        (["-B", "-sE"], None),
        ([], {"PATH": os.environ["PATH"]}),
        ([], {**os.environ, "PYTHONPATH": ""}),
    ],
)
def test_no_test_starts_the_command_where_it_is_not_watched(
    options: list[str], variables: dict[str, str] | None, tmp_path: Path
) -> None:
    command = [sys.executable, *options, "-m", "equipage", "--version"]
    with watching(tmp_path / "log"), pytest.raises(sitecustomize.NotAllowed, match="not watched"):
        subprocess.run(command, env=variables, check=True)


#: What connects, or waits for connections.
CONNECTS = re.compile(
    r"(ssl|_ssl|http|asyncio|socket|_socket|socketserver|selectors|urllib\.request|ftplib|smtplib|"
    r"poplib|imaplib|nntplib|telnetlib|xmlrpc|webbrowser|requests|urllib3|httpx|httpcore|aiohttp|"
    r"anyio|trio|uvicorn|starlette|mcp|mcp_types|h11|websockets|grpc|paramiko)(\..*)?"
)
#: The modules that start processes.
STARTS_PROCESSES = {"files/process.py", "workspace/parallel.py"}
STARTS = re.compile(
    r"(subprocess|_posixsubprocess|multiprocessing|concurrent\.futures\.process|pty|posix|nt)(\..*)?|"
    r"os\.(system|popen|fork\w*|exec[lv]\w*|spawn\w*|posix_spawn\w*|startfile)|"
    r"concurrent\.futures\.ProcessPoolExecutor"
)


def names(tree: ast.Module) -> Iterator[str]:
    """What a module imports when it runs, functions included, and what it takes of it."""
    for_types = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)
        for inner in ast.walk(node)
    }
    nodes = [each for each in ast.walk(tree) if id(each) not in for_types]
    known = {}
    for node in nodes:
        if isinstance(node, ast.Import):
            known |= {each.asname or each.name: each.name for each in node.names}
            yield from (each.name for each in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield str(node.module)
            yield from (f"{node.module}.{each.name}" for each in node.names)
    for node in nodes:
        if isinstance(node, ast.Attribute):
            base, _, name = ast.unparse(node).rpartition(".")
            yield f"{known.get(base, '')}.{name}"
        elif isinstance(node, ast.Call) and "import" in ast.unparse(node.func):
            yield from (str(ast.literal_eval(each)) for each in node.args if is_text(each))


def is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def modules_with(expression: re.Pattern[str]) -> set[str]:
    """The modules of the package that have a name which fits."""
    return {
        path.relative_to(ROOT).as_posix()
        for path in matching(ROOT, "**/*.py")
        if any(map(expression.fullmatch, names(ast.parse(path.read_text()))))
    }


def test_no_module_imports_what_connects() -> None:
    assert modules_with(CONNECTS) == set()


def test_two_modules_start_processes() -> None:
    assert modules_with(STARTS) == STARTS_PROCESSES


def test_one_module_calls_c() -> None:
    """To end a rule that takes too long; the audit hook knows which function of Python."""
    assert modules_with(re.compile(r"(ctypes|_ctypes|cffi)(\..*)?")) == {"loading/rules.py"}


@pytest.mark.parametrize(
    ("text", "expression"),
    [
        ("import socket", CONNECTS),
        ("def f():\n    from http import client", CONNECTS),
        ("import importlib\nimportlib.import_module('_socket')", CONNECTS),
        ("__import__('ssl')", CONNECTS),
        ("import os\nos.system('x')", STARTS),
        ("import os as o\nf = o.posix_spawn", STARTS),
        ("from os import execv as go", STARTS),
        ("import concurrent.futures as c\nc.ProcessPoolExecutor()", STARTS),
    ],
)
def test_a_name_is_found_however_it_is_imported(text: str, expression: re.Pattern[str]) -> None:
    assert any(map(expression.fullmatch, names(ast.parse(text))))
