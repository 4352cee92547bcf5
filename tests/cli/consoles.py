"""Case files for the command: files, and a console session with what it must print.

````markdown
# A title that states the rule

Why it is so.

`server.yaml`
```yaml
…
```
```settings
{"env": {"A": "1"}, "columns": 40, "process": true}
```
```console
$ equipage check
error[…]: …
2> equipage: a note on standard error
[exit 1]
```
````

A session may also hold `$ cp A B`, `$ rm A`, `$ cat A` and `$ commit` (everything, to a repository of the case's own);
`> FILE` behind a command keeps its output in a file. With `process`, the session is run a second time with real
processes. With EQUIPAGE_UPDATE_CASES=1 the expectations are rewritten; the diff is reviewed like code.
"""

from __future__ import annotations

import io
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

import equipage
from equipage.cli import main

UPDATE = bool(os.environ.get("EQUIPAGE_UPDATE_CASES"))
SOURCES = str(Path(equipage.__file__).parents[1])

_BLOCK = re.compile(
    r"^(?:`(?P<name>[^`\n]+)`\n+)?(?P<fence>`{3,})(?P<tag>[a-z0-9_-]*)\n(?P<body>.*?)(?<=\n)(?P=fence)[ \t]*$",
    re.MULTILINE | re.DOTALL,
)
_GIT = [
    "git",
    "-c",
    "user.name=A",
    "-c",
    "user.email=a@example.org",
    "-c",
    "init.defaultBranch=main",
]

#: What a command came to: exit code, standard output, standard error.
Result = tuple[int, str, str]
Runner = Callable[[list[str]], Result]


@dataclass
class Console:
    path: Path
    title: str
    files: dict[str, str] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)
    session: str = ""

    def write(self, folder: Path) -> None:
        for name, text in self.files.items():
            target = folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8")
        (folder / ".git").mkdir(exist_ok=True)

    def commands(self) -> list[str]:
        return [line[2:] for line in self.session.splitlines() if line.startswith("$ ")]

    def play(self, folder: Path, run: Runner) -> str:
        """The session as it really goes."""
        said = "".join(_step(command, folder, run) for command in self.commands())
        return said.replace(str(folder), "<cwd>")

    def rewrite(self, session: str) -> None:
        text = self.path.read_text(encoding="utf-8")
        self.path.write_text(
            text.replace(f"```console\n{self.session}```", f"```console\n{session}```"),
            encoding="utf-8",
        )


def read_console(path: Path) -> Console:
    text = path.read_text(encoding="utf-8")
    case = Console(path, text.splitlines()[0].lstrip("# ").strip())
    for match in _BLOCK.finditer(text):
        if match["tag"] == "settings":
            case.settings = json.loads(match["body"])
        elif match["tag"] == "console":
            case.session = match["body"]
        elif match["name"]:
            case.files[match["name"]] = match["body"]
    return case


def consoles_in(folder: Path) -> Iterator[Console]:
    return map(read_console, sorted(folder.glob("*.md")))


def _step(command: str, folder: Path, run: Runner) -> str:
    line, _, target = command.partition(" > ")
    words = shlex.split(line)
    if words[0] != "equipage":
        return f"$ {command}\n{_builtin(words, folder)}"
    code, out, err = run(words[1:])
    if target:
        (folder / target).write_text(out, encoding="utf-8")
        out = ""
    errors = "".join(f"2> {each}".rstrip() + "\n" for each in err.splitlines())
    return f"$ {command}\n{out}{errors}" + (f"[exit {code}]\n" if code else "")


def _builtin(words: list[str], folder: Path) -> str:
    name, *rest = words
    if name == "cp":
        shutil.copy(folder / rest[0], folder / rest[1])
    elif name == "rm":
        (folder / rest[0]).unlink()
    elif name == "cat":
        return (folder / rest[0]).read_text(encoding="utf-8")
    elif name == "commit":
        shutil.rmtree(folder / ".git", ignore_errors=True) if not (
            folder / ".git" / "HEAD"
        ).exists() else None
        for arguments in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "x"]):
            subprocess.run(
                [*_GIT, *arguments],
                cwd=folder,
                check=True,
                env={**os.environ, "GIT_CONFIG_GLOBAL": os.devnull},
            )
    else:
        raise ValueError(f"a case cannot run {name}")
    return ""


def environment(**variables: str) -> dict[str, str]:
    """A small environment that depends on nothing around the tests."""
    return {
        "PATH": os.environ["PATH"],
        "HOME": "/nonexistent",
        "PYTHONPATH": SOURCES,
        "COLUMNS": "80",
        **variables,
    }


def in_process(arguments: list[str]) -> Result:
    """Run the command right here; the working directory and the environment are those of the test."""
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", newline="\n") for _ in range(2))
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = out, err
    try:
        code = main(arguments)
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 1
    finally:
        sys.stdout, sys.stderr = before
    for stream in (out, err):
        stream.flush()
    texts = [stream.buffer.getvalue().decode() for stream in (out, err)]  # type: ignore[attr-defined]
    return code, texts[0], texts[1]


def as_process(env: dict[str, str], cwd: Path) -> Runner:
    """Run the command as a process of its own."""

    def run(arguments: list[str]) -> Result:
        done = subprocess.run(
            [sys.executable, "-m", "equipage", *arguments],
            capture_output=True,
            cwd=cwd,
            env=env,
            check=False,
        )
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    return run


def settle(monkeypatch: pytest.MonkeyPatch, folder: Path, env: dict[str, str]) -> None:
    """Make the test's own process look like a fresh one in `folder`."""
    monkeypatch.chdir(folder)
    for name in list(os.environ):
        monkeypatch.delenv(name)
    for name, value in env.items():
        monkeypatch.setenv(name, value)
