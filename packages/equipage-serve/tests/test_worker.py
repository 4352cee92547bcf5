"""What runs a Python tool, in a copy of this process: imports, answers, and the end."""

from __future__ import annotations

import contextlib
import hashlib
import importlib.machinery
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

if sys.platform == "win32":
    pytest.skip("tools run on Linux and macOS", allow_module_level=True)

from equipage_serve import worker
from lab import write
from test_jail import forked


def hashes(folder: Path, *names: str) -> dict[str, str]:
    paths = [os.path.realpath(folder / name) for name in names]
    return {each: hashlib.sha256(Path(each).read_bytes()).hexdigest() for each in paths}


def ran(act: Callable[[], Any], *lines: bytes) -> tuple[int, str, str]:
    """The exit code, output and errors of a copy of this process that gets these lines."""
    given, taken = os.pipe()
    (output, its_output), (errors, its_errors) = os.pipe(), os.pipe()
    pid = os.fork()
    if not pid:
        code = 98
        try:
            for descriptor, target in ((given, 0), (its_output, 1), (its_errors, 2)):
                os.dup2(descriptor, target)
            os.close(taken)
            sys.stdout = os.fdopen(1, "w", closefd=False)
            sys.stderr = os.fdopen(2, "w", closefd=False)
            sys.excepthook = sys.__excepthook__
            act()
            code = 97
        except SystemExit as end:
            code = int(end.code or 0)
        finally:
            with contextlib.suppress(ValueError):
                sys.stdout.flush()
                sys.stderr.flush()
            os._exit(code)
    for descriptor in (given, its_output, its_errors):
        os.close(descriptor)
    with contextlib.suppress(BrokenPipeError):
        for line in lines:
            os.write(taken, line)
    os.close(taken)
    said = []
    for descriptor in (output, errors):
        with os.fdopen(descriptor, "rb") as stream:
            said.append(stream.read().decode())
    _, status = os.waitpid(pid, 0)
    return os.waitstatus_to_exitcode(status), said[0], said[1]


CODE = """
import os, sys
seen = []
def echo(p):
    print("to errors")
    seen.append(p)
    return {"seen": seen}
def raises(p): raise ValueError("x" * 3000)
def nan(p): return {"a": float("nan")}
def deep(p):
    value = []
    for _ in range(100_000): value = [value]
    return value
def closes(p):
    sys.stdout.close()
    sys.stderr = None
    return {}
def leaves(p): raise SystemExit(5)
async def later(p): return {"n": p}
class Box:
    class Inner:
        @staticmethod
        def f(p): return p
"""


def call(folder: Path, name: str, *payloads: Any, again: bool = False, **how: Any) -> Any:
    write(folder, {"tool_of_test.py": how.get("code", CODE)})
    known = hashes(folder, "tool_of_test.py")

    def act() -> None:
        worker.search_in([str(folder)], known)
        worker.run_callable("tool_of_test", name, again)

    lines = [json.dumps({"input": each}).encode() + b"\n" for each in payloads]
    code, output, errors = ran(act, *(how.get("pieces") or lines))
    return code, [json.loads(each) for each in output.splitlines()], errors


#: A function, its input, its answer.
ANSWERS: list[tuple[str, Any, dict[str, Any]]] = [
    ("Box.Inner.f", {"a": 1}, {"result": {"a": 1}}),
    ("later", 5, {"result": {"n": 5}}),
    ("raises", None, {"raised": "ValueError", "text": "x" * 2000}),
    ("leaves", None, {"raised": "SystemExit", "text": "5"}),
    ("closes", None, {"result": {}}),
    (
        "none",
        None,
        {"raised": "AttributeError", "text": "module 'tool_of_test' has no attribute 'none'"},
    ),
    (
        "seen",
        None,
        {"raised": "TypeError", "text": "`seen` of the module `tool_of_test` cannot be called"},
    ),
]


@pytest.mark.parametrize(("name", "payload", "answer"), ANSWERS, ids=[each[0] for each in ANSWERS])
def test_answers(name: str, payload: Any, answer: dict[str, Any], tmp_path: Path) -> None:
    assert call(tmp_path, name, payload) == (0, [answer], "")


@pytest.mark.parametrize("name", ["nan", "deep"])
def test_a_value_that_json_cannot_express_is_unfit(name: str, tmp_path: Path) -> None:
    code, answers, _ = call(tmp_path, name, None)
    assert (code, list(answers[0])) == (0, ["unfit"])


def test_one_call_or_many(tmp_path: Path) -> None:
    once = {"result": {"seen": [1]}}
    twice = {"result": {"seen": [1, 2]}}
    assert call(tmp_path, "echo", 1, 2) == (0, [once], "to errors\n")
    assert call(tmp_path, "echo", 1, 2, again=True) == (0, [once, twice], "to errors\n" * 2)
    raised = {"raised": "ValueError", "text": "x" * 2000}
    assert call(tmp_path, "raises", 1, 2, again=True) == (0, [raised], "")
    assert call(tmp_path, "none", 1, 2, again=True)[1][0]["raised"] == "AttributeError"
    assert len(call(tmp_path, "none", 1, 2, again=True)[1]) == 1
    assert call(tmp_path, "echo") == (0, [], "")


def test_a_line_may_come_in_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "_CHUNK", 7)
    payloads = ["x" * 50, "y"]
    answers = call(tmp_path, "echo", *payloads, again=True)[1]
    assert answers[-1] == {"result": {"seen": payloads}}
    # What has no end is no line.
    assert call(tmp_path, "echo", pieces=[b'{"input": 1}'])[1] == []


def test_a_text_that_cannot_be_had_is_empty() -> None:
    class Odd(Exception):
        def __str__(self) -> str:
            raise KeyboardInterrupt

    assert json.loads(worker._exception_answer(Odd())) == {"raised": "Odd", "text": ""}


# Imports.


def test_only_what_was_checked_is_imported_from_the_folders_of_a_tool(tmp_path: Path) -> None:
    folder = write(
        tmp_path / "own",
        {
            "checked_one.py": "VALUE = 1",
            "unchecked_one.py": "VALUE = 2",
            "checked_package/__init__.py": "",
            "checked_package/inner.py": "VALUE = 3",
            "checked_package/other.py": "VALUE = 4",
            "json.py": "VALUE = 5",
        },
    )
    other = write(tmp_path / "own-not", {"elsewhere_one.py": "VALUE = 6"})
    names = ["checked_one.py", "checked_package/__init__.py", "checked_package/inner.py"]
    known = hashes(folder, *names)

    def act() -> Any:
        sys.path.insert(0, str(other))
        before = [*sys.path_hooks]
        worker.search_in([str(folder)], known)
        assert sys.path[0] == str(folder)
        assert sys.path_hooks[1:] == before
        found: list[Any] = []
        for name in (
            "checked_one",
            "checked_package.inner",
            "elsewhere_one",
            "unchecked_one",
            "checked_package.other",
        ):
            try:
                module = importlib.import_module(name)
                found.append(module.VALUE)
            except ImportError as error:
                found.append(str(error))
        return found

    assert forked(act) == [
        1,
        3,
        6,
        "unchecked_one.py is not the code that was checked",
        "other.py is not the code that was checked",
    ]
    assert not list(folder.rglob("__pycache__"))


def test_compiled_code_is_compared_too(tmp_path: Path) -> None:
    suffix = importlib.machinery.EXTENSION_SUFFIXES[0]
    (tmp_path / f"native_one{suffix}").write_bytes(b"not really")
    known = hashes(tmp_path, f"native_one{suffix}")

    def act() -> Any:
        found = []
        for each in ({}, known):
            worker.search_in([str(tmp_path)], each)
            try:
                importlib.import_module("native_one")
            except ImportError as error:
                found.append("checked" in str(error))
        return found

    # What was checked is loaded, and then fails for another reason.
    assert forked(act) == [True, False]


# Scripts.


def test_a_script_runs_as_the_main_module() -> None:
    source = (
        b"import sys, __main__\n"
        b"print(__name__, __file__, sys.argv, __main__.__dict__ is globals(), 'worker' in globals())"
    )
    assert ran(lambda: worker.run_script(source, "/x/y.py")) == (
        97,
        "__main__ /x/y.py ['/x/y.py'] True False\n",
        "",
    )


def test_a_script_that_raises_is_told_from_its_own_frames() -> None:
    code, _, errors = ran(lambda: worker.run_script(b"def f():\n  1 / 0\nf()\n", "/x/y.py"))
    assert code == 1
    assert errors == (
        "Traceback (most recent call last):\n"
        '  File "/x/y.py", line 3, in <module>\n'
        '  File "/x/y.py", line 2, in f\n'
        "ZeroDivisionError: division by zero\n"
    )
    code, _, errors = ran(lambda: worker.run_script(b"f(\n", "/x/y.py"))
    assert code == 1
    assert errors.endswith("SyntaxError: '(' was never closed\n")
    assert ran(lambda: worker.run_script(b"raise SystemExit(7)", "/x/y.py"))[0] == 7


def test_a_script_does_not_inherit_our_future() -> None:
    """`from __future__ import annotations` above is ours, and not that of a script."""
    source = b"def f(a: 1 + 1): pass\nprint(f.__annotations__['a'])"
    assert ran(lambda: worker.run_script(source, "x"))[1] == "2\n"


def test_streams_that_a_tool_replaced_are_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    flushed: list[str] = []

    def closed() -> None:
        raise ValueError("closed")

    monkeypatch.setattr(sys, "stdout", SimpleNamespace(flush=closed))
    monkeypatch.setattr(sys, "stderr", SimpleNamespace(flush=lambda: flushed.append("x")))
    worker._flush()
    assert flushed == ["x"]
