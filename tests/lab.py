"""What tests share: files in a folder, loads and checks of them, and the command in all its forms.

Helpers with a subject of their own have a module of their own: `casefiles` (cases in Markdown),
`cli/consoles` (sessions of the command), `clock` (bounds on time), `tiny` (a kind for tests of the
machinery), `security/world` (a valid file of every kind), `syntax/documents` (random documents).
"""

from __future__ import annotations

import base64
import importlib
import importlib.util
import io
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from subprocess import PIPE
from types import ModuleType
from typing import Any, NamedTuple, TypeVar

import pytest

import equipage
from audit import sitecustomize
from equipage.cli import main
from equipage.core.diagnostics import Diagnostic
from equipage.files import System
from equipage.files.disk import Disk
from equipage.loading.pipeline import Outcome, load_path
from equipage.loading.session import Request, Run
from equipage.project.registry import format_named
from equipage.workspace import Workspace
from equipage.workspace.report import Report

T = TypeVar("T")

TESTS = Path(__file__).resolve().parent
REPOSITORY = TESTS.parent
CASES = TESTS / "cases"
EXAMPLES = REPOSITORY / "examples"
PLUGIN = EXAMPLES / "plugin"

#: Probes, suites and a corpus that belong to other projects; not every machine has them.
SHARED = REPOSITORY.parent / "shared"
ABSENT = "the shared data (probes, suites, corpus) is not beside the repository"

SOURCES = str(Path(equipage.__file__).parents[1])

#: Variables for a process of a test whose lines count, too; empty unless coverage is measured.
MEASURED = {name: value for name, value in os.environ.items() if name.startswith("COVERAGE_")}

#: Rewrite the expectations of cases and pages instead of comparing them.
UPDATE = bool(os.environ.get("EQUIPAGE_UPDATE_CASES"))


#: Whether laws are tried with fewer random inputs: for a quick look, never in `make test`.
FEWER = bool(os.environ.get("EQUIPAGE_TEST_FEWER"))


def tries(count: int) -> int:
    """How many random inputs a law is tried with, where the usual hundred are not right."""
    return count // 5 if FEWER else count


# Files. A test names them by path and gives their content; what is not text or bytes is JSON.


class Link(NamedTuple):
    """The content of a symbolic link."""

    target: str


def write(folder: Path | str, files: Mapping[str, Any]) -> Path:
    """Write `files` into `folder`, by path: texts, bytes, links, and anything else as JSON; remove
    those without a content."""
    folder = Path(folder)
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if content is None:
            path.unlink()
        elif isinstance(content, Link):
            path.unlink(missing_ok=True)
            path.symlink_to(content.target)
        elif isinstance(content, bytes):
            path.write_bytes(content)
        else:
            text = content if isinstance(content, str) else json.dumps(content)
            path.write_bytes(text.encode("utf-8", "surrogatepass"))
    return folder


def write_file(name: str, content: str | bytes) -> Path:
    """Write one file, named from the working directory."""
    return write(".", {name: content}) / name


def save(path: Path, text: str) -> None:
    """Replace a file of a test in one step, as editors do: a watch that looks at any moment sees the
    old content or the new one, never an empty file."""
    # Not in the folder itself, where a watch would see it, but on the same disk.
    with tempfile.NamedTemporaryFile("w", encoding="utf-8", delete=False) as aside:
        aside.write(text)
    os.replace(aside.name, path)


def repository(folder: Path, files: Mapping[str, Any] | None = None) -> Path:
    """Write `files` into `folder` and make it the root of a repository."""
    (folder / ".git").mkdir(parents=True, exist_ok=True)
    return write(folder, files or {})


def commit(folder: Path) -> None:
    """Commit everything in `folder` to a repository of its own."""
    settings = (
        "user.name=A",
        "user.email=a@example.org",
        "init.defaultBranch=main",
        "commit.gpgsign=false",
        "maintenance.auto=false",  # a process more for each commit
        "gc.auto=0",
    )
    git = ["git", *(word for each in settings for word in ("-c", each))]
    env = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull}
    steps = [["add", "-A"], ["commit", "-q", "-m", "x"]]
    if not (folder / ".git" / "HEAD").exists():
        shutil.rmtree(folder / ".git", ignore_errors=True)
        # Without a template, no samples of hooks are copied.
        steps.insert(0, ["init", "-q", "--template="])
    for arguments in steps:
        subprocess.run([*git, *arguments], cwd=folder, env=env, check=True)


def matching(folder: Path, *patterns: str) -> list[Path]:
    """The files below `folder` that match one of the patterns, in order. A pattern that matches
    nothing fails: what it was written for has moved, and nobody would notice."""
    found: set[Path] = set()
    for pattern in patterns:
        here = set(folder.glob(pattern))
        assert here, f"nothing matches {folder / pattern}"
        found |= here
    return sorted(found)


# Probes: small configurations and what the original makes of them, one in each line of a file.


def probes(kind: str) -> list[dict[str, Any]]:
    """The probes for a kind in `tests/data/probes`."""
    return _read_lines(TESTS / "data" / "probes" / f"{kind}.jsonl")


def shared_probes(*kinds: str) -> list[Any]:
    """Parameters from the probes of another project; without them, one that is skipped."""
    file = SHARED / "conformance" / "profile.jsonl"
    if not file.exists():
        return [pytest.param(None, marks=pytest.mark.skip(reason=ABSENT), id="absent")]
    read = [each for each in _read_lines(file) if each["kind"] in kinds]
    return [pytest.param(each, id=str(each["id"])) for each in read]


def _read_lines(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text().splitlines()]


def write_probe(folder: Path, probe: Mapping[str, Any]) -> Path:
    """Write the files of a probe; its bytes and links are objects of JSON."""
    return write(folder, {name: _content(each) for name, each in probe["files"].items()})


def _content(given: str | dict[str, str]) -> str | bytes | Link:
    if isinstance(given, str):
        return given
    return Link(given["symlink"]) if "symlink" in given else base64.b64decode(given["base64"])


# Loads and checks. The environment is empty unless a test gives one.


def load(
    path: Path | str,
    kind: str = "server",
    system: System | None = None,
    run: Run | None = None,
    **request: Any,
) -> Outcome:
    """Load one file; `request` holds the fields of a `Request`."""
    wanted = Request(**{"env": {}, "system": system or Disk(), **request})
    return load_path(str(path), format_named(kind), wanted, run)


def check(*paths: Path | str, kind: str | None = None, jobs: int = 1, **request: Any) -> Report:
    """Check files together, or all files of the working directory, as `equipage check` does."""
    wanted = Request(**{"env": {}, "shared": True, **request})
    several = [str(path) for path in paths or "."]
    return Workspace(several, wanted, kind=kind, digests=True, jobs=jobs).report()


def codes(found: Iterable[Diagnostic]) -> list[str]:
    return [each.code for each in found]


def lines(found: Iterable[Diagnostic]) -> list[str]:
    """Findings as one line each: place, severity, code and message."""
    return [str(each) for each in found]


# The command: in this process, where it is fast, or in one of its own, where that is the point.


class Result(NamedTuple):
    """The exit code of a command and its two outputs."""

    code: int
    out: str
    err: str


Runner = Callable[[list[str]], Result]


#: A folder that does not exist, and that nothing can make, not even a process of root.
NOWHERE = f"{os.devnull}/nowhere"


def environment(*folders: Path | str, **variables: str) -> dict[str, str]:
    """A small environment that depends on nothing around the tests.

    Processes import modules from these folders, or else from that of the package.
    """
    fixed = {"PATH": os.environ["PATH"], "HOME": NOWHERE, "COLUMNS": "80"}
    if sitecustomize.log:
        fixed[sitecustomize.VARIABLE] = sitecustomize.log
    paths = [*(folders or [SOURCES]), *([sitecustomize.FOLDER] if sitecustomize.log else ())]
    return {**fixed, "PYTHONPATH": os.pathsep.join(map(str, paths)), **variables}


@contextmanager
def watching(log: Path) -> Iterator[Path]:
    """Write down in a file what equipage does here, and in processes, that it never may."""
    before, sitecustomize.log = sitecustomize.log, str(log)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(sitecustomize.VARIABLE, sitecustomize.log)
        patch.setenv("PYTHONPATH", sitecustomize.FOLDER, prepend=os.pathsep)
        try:
            yield log
        finally:
            sitecustomize.log = before


def settle(monkeypatch: pytest.MonkeyPatch, folder: Path, env: Mapping[str, str]) -> None:
    """Make the process of the test look like a fresh one in `folder`."""
    monkeypatch.chdir(folder)
    for name in list(os.environ):
        monkeypatch.delenv(name)
    for name, value in env.items():
        monkeypatch.setenv(name, value)


def in_process(arguments: list[str]) -> Result:
    """Run the command here, in the working directory and the environment of the test."""
    buffers = io.BytesIO(), io.BytesIO()
    streams = [io.TextIOWrapper(each, encoding="utf-8", newline="\n") for each in buffers]
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = streams
    try:
        code = main(arguments)
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 1
    finally:
        sys.stdout, sys.stderr = before
    for stream in streams:
        stream.flush()
    out, err = (each.getvalue().decode() for each in buffers)
    return Result(code, out, err)


def as_process(env: dict[str, str], cwd: Path) -> Runner:
    """A runner of the command as a process of its own."""
    return lambda arguments: command(*arguments, cwd=cwd, env=env)


def command(*arguments: str, **more: Any) -> Result:
    """Run the command as a process of its own, with what `python` takes."""
    return python("-m", "equipage", *arguments, **more)


def python(
    *arguments: str, cwd: Path | str = ".", env: dict[str, str] | None = None, **more: Any
) -> Result:
    """Run Python with these arguments, in a small environment if no other is given."""
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=cwd,
        env=environment() if env is None else env,
        **{"stdout": PIPE, "stderr": PIPE, "check": False, "timeout": 120, **more},
    )
    # An output that went elsewhere is None.
    out, err = ((each or b"").decode() for each in (done.stdout, done.stderr))
    return Result(done.returncode, out, err)


def module_at(path: Path) -> ModuleType:
    """The module of a script that is in no package."""
    name = f"_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    # Dataclasses look up the module that defines them.
    sys.modules[name] = module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def needs(package: str, reason: str) -> None:
    """Skip the tests of a file without a package. Unlike `pytest.importorskip` this imports nothing:
    every process of a run collects every file, and `mcp` takes a second."""
    if importlib.util.find_spec(package) is None:
        pytest.skip(reason, allow_module_level=True)


class Later:
    """A module that a test imports when it first uses it, because collecting it would take long."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        return getattr(importlib.import_module(self._name), attribute)


# Threads.

SMALL_STACK = 512 * 1024


def in_small_thread(run: Callable[[], T], stack: int = SMALL_STACK) -> T:
    """The result of `run` in a thread whose stack is as small as systems make them."""
    result: list[T] = []
    failure: list[BaseException] = []

    def target() -> None:
        try:
            result.append(run())
        except BaseException as error:
            failure.append(error)

    before = threading.stack_size(stack)
    try:
        thread = threading.Thread(target=target)
        thread.start()
    finally:
        threading.stack_size(before)
    thread.join()
    if failure:
        raise failure[0]
    return result[0]
