"""Pages of documentation are run: what they show is what the program prints today.

A page is read from top to bottom in a folder of its own. A block with a name, either `` `name` ``
on the line before it or `title="name"` behind its language, is written to a file of that name. A
`console` block is a session: each line `$ command` is run, and what follows it must be what it
prints, standard output before standard error. A command that cannot do what it is asked (exit 2 and
above) must be followed by `$ echo $?`. Beside `equipage` there are `cat`, `cp`, `git`,
`mkdir`, `mv`, `rm` and `echo $?`. A `python` block of a page that says `<!-- run: python -->` is
run by Python, and a `pycon` block is a doctest; both see what the blocks before them defined, and
can import the modules that were written into the folder, as they are at that moment.
`<!-- with: folder -->` puts a copy of a folder of the repository there first; without it, the page
of an example is played among the example's own files.

With EQUIPAGE_UPDATE_CASES=1 the sessions are rewritten; the diff is reviewed like code.
"""

from __future__ import annotations

import doctest
import importlib
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import lab
from casefiles import BLOCK
from lab import REPOSITORY, UPDATE, Runner, in_process, matching, write

EXAMPLES = matching(lab.EXAMPLES, "*/README.md")
PAGES = [REPOSITORY / "README.md", *matching(REPOSITORY / "docs", "**/*.md"), *EXAMPLES]
#: Made from the code, whose examples are run when they are made; or parts of such pages.
GENERATED = (
    "reference/findings/",
    "reference/clients/",
    # Only on the site.
    "reference/kinds/",
    "reference/codes/",
    "reference/conformance/",
    "reference/commands.md",
    "reference/python.md",
    "fixes/",
)


#: What a page says that shows what another distribution does, which has the test of it.
_NEEDS_ANY = "<!-- needs: "


def pages() -> Iterator[Path]:
    """Every page that was written by hand and needs the main package only."""
    for path in PAGES:
        is_generated = any(part in path.as_posix() for part in GENERATED)
        if not is_generated and _NEEDS_ANY not in path.read_text(encoding="utf-8"):
            yield path


def pages_of(distribution: str) -> list[Path]:
    """The pages of another distribution: its own, and those that say that they need it."""
    own = REPOSITORY / "packages" / distribution / "README.md"
    needs = f"{_NEEDS_ANY}{distribution} -->"
    return [own, *(path for path in PAGES if needs in path.read_text(encoding="utf-8"))]


def play_page(path: Path, folder: Path) -> None:
    """Compare a page with what really happens, or rewrite it."""
    page = Page(path, folder)
    played = page.play()
    if UPDATE:
        path.write_text(played, encoding="utf-8")
    else:
        assert played == page.text


def check_links(path: Path) -> None:
    """Every relative link of a page leads to a file."""
    text = re.sub(
        r"^(`{3,}).*?^\1", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL
    )
    for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", text):
        if not target.startswith("http"):
            assert (path.parent / target).exists(), target


class Page:
    """One page, and the folder it is played in."""

    def __init__(self, path: Path, folder: Path, run: Runner = in_process) -> None:
        self.text = path.read_text(encoding="utf-8")
        self.folder = folder
        self.run = run
        self.namespace: dict[str, Any] = {"__name__": path.stem}
        self.code = 0
        self.runs_python = path.name == "README.md" or "<!-- run: python -->" in self.text
        if path in EXAMPLES and "<!-- with:" not in self.text:
            shutil.copytree(path.parent, folder, dirs_exist_ok=True)
        (folder / ".git").mkdir()
        for name in re.findall(r"<!-- with: (\S+) -->", self.text):
            shutil.copytree(REPOSITORY / name, folder / name)

    def play(self) -> str:
        """The page with its sessions as they really go."""
        return BLOCK.sub(self._block, self.text)

    def _block(self, match: re.Match[str]) -> str:
        title = re.search(r'title="([^"]+)"', match["more"])
        name = match["name"] or (title[1] if title else None)
        if match["tag"] == "console":
            return match[0].replace(match["body"], self._session(commands(match["body"])), 1)
        if match["tag"] == "pycon":
            with self._modules(str(self.folder)):
                self._doctest(match["body"])
        elif name is not None:
            write(self.folder, {name: match["body"]})
        elif match["tag"] == "python" and self.runs_python:
            with self._modules(str(self.folder)):
                exec(compile(match["body"], "page", "exec", dont_inherit=True), self.namespace)
        return match[0]

    def _session(self, wanted: list[str]) -> str:
        said = ""
        for number, each in enumerate(wanted):
            said += f"$ {each}\n{self._command(each)}"
            is_told = not each.startswith("equipage") or wanted[number + 1 : number + 2] == [
                "echo $?"
            ]
            assert self.code < 2 or is_told, f"whoever copies this from the page is stuck: {each}"
        return said

    def _command(self, command: str) -> str:
        line, _, target = command.partition(" > ")
        name, *words = shlex.split(line)
        if name == "equipage":
            with self._modules():
                self.code, out, err = self.run(words)
            if target:
                (self.folder / target).write_text(out, encoding="utf-8")
                out = ""
            return (out + err).replace(str(self.folder), "/home/you/project")
        return self._builtin(name, words)

    def _builtin(self, name: str, words: list[str]) -> str:
        here = [self.folder / word for word in words if not word.startswith("-")]
        if name == "echo":
            return f"{self.code}\n"
        if name == "cat":
            return "".join(path.read_text(encoding="utf-8") for path in here)
        if name == "cp":
            shutil.copy(*here)
        elif name == "mv":
            here[0].rename(here[1])
        elif name == "rm":
            here[0].unlink()
        elif name == "mkdir":
            here[0].mkdir(parents=True)
        elif name == "git":
            who = ["-c", "user.name=You", "-c", "user.email=you@example.org"]
            subprocess.run(["git", *who, *words], cwd=self.folder, check=True)
        elif [name, *words] != ["pip", "install", "./examples/plugin"]:  # the test has done that
            raise ValueError(f"a page cannot run {name}")
        return ""

    def _doctest(self, body: str) -> None:
        test = doctest.DocTestParser().get_doctest(body, self.namespace, "page", None, 0)
        said: list[str] = []
        runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
        runner.run(test, out=said.append, clear_globs=False)
        self.namespace.update(test.globs)
        assert not runner.failures, "".join(said)

    @contextmanager
    def _modules(self, *folders: str) -> Iterator[None]:
        """Let Python import from these folders, too. Afterwards it has nothing of the page, as the
        next block may have written a module anew."""
        path = sys.path[:]
        sys.path[:0] = folders
        importlib.invalidate_caches()
        try:
            yield
        finally:
            sys.path[:] = path
            for name, module in [*sys.modules.items()]:
                if (getattr(module, "__file__", None) or "").startswith(f"{self.folder}{os.sep}"):
                    del sys.modules[name]


def commands(session: str) -> list[str]:
    return [line[2:] for line in session.splitlines() if line.startswith("$ ")]
