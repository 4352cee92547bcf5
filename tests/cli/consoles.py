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

A session may also hold `$ cp A B`, `$ rm A`, `$ cat A` and `$ commit` (everything, to a repository
of the case's own); `> FILE` behind a command keeps its output in a file. With `process`, the
session is run a second time with real processes. With EQUIPAGE_UPDATE_CASES=1 the expectations are
rewritten; the diff is reviewed like code.
"""

from __future__ import annotations

import json
import shlex
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from casefiles import BLOCK
from lab import (
    UPDATE,
    Runner,
    as_process,
    commit,
    environment,
    in_process,
    matching,
    repository,
    settle,
)


@dataclass
class Console:
    path: Path
    title: str
    files: dict[str, str] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)
    session: str = ""

    def write(self, folder: Path) -> None:
        repository(folder, self.files)

    def commands(self) -> list[str]:
        return [line[2:] for line in self.session.splitlines() if line.startswith("$ ")]

    def play(self, folder: Path, run: Runner) -> str:
        """The session as it really goes."""
        said = "".join(_step(command, folder, run) for command in self.commands())
        return said.replace(str(folder), "<cwd>")

    def environment(self) -> dict[str, str]:
        columns = str(self.settings.get("columns", 80))
        return environment(**{"COLUMNS": columns, **self.settings.get("env", {})})

    def check_here(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Compare the session with what the command does in this process, or rewrite it."""
        self.write(folder)
        settle(monkeypatch, folder, self.environment())
        session = self.play(folder, in_process)
        if UPDATE:
            self.rewrite(session)
        else:
            assert session == self.session, self.title

    def check_as_processes(self, folder: Path) -> None:
        self.write(folder)
        played = self.play(folder, as_process(self.environment(), folder))
        assert played == self.session, self.title

    def rewrite(self, session: str) -> None:
        text = self.path.read_text(encoding="utf-8")
        self.path.write_text(
            text.replace(f"```console\n{self.session}```", f"```console\n{session}```"),
            encoding="utf-8",
        )


def read_console(path: Path) -> Console:
    text = path.read_text(encoding="utf-8")
    case = Console(path, text.splitlines()[0].lstrip("# ").strip())
    for match in BLOCK.finditer(text):
        if match["tag"] == "settings":
            case.settings = json.loads(match["body"])
        elif match["tag"] == "console":
            case.session = match["body"]
        elif match["name"]:
            case.files[match["name"]] = match["body"]
    return case


def consoles_in(folder: Path) -> Iterator[Console]:
    return map(read_console, matching(folder, "*.md"))


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
        commit(folder)
    else:
        raise ValueError(f"a case cannot run {name}")
    return ""
