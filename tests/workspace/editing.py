"""A small workspace that changes at random, in every way that a check may depend on.

`change N` of a seed depends on the seed and on the changes before it alone.
"""

from __future__ import annotations

import os
import random
import shutil
import time
from collections.abc import Iterable
from pathlib import Path

from equipage import workspace as core
from equipage.core.diagnostics import Diagnostic
from equipage.files import System
from equipage.files.disk import Disk
from equipage.files.memory import Overlay
from equipage.loading.session import Request
from equipage.lsp import documents
from equipage.lsp.documents import findings_by_file
from equipage.lsp.protocol import TextChange, uri_of
from equipage.render import json as as_json

#: Longer than a tick of the clock that stamps files, in seconds.
TICK = 0.01

_AGENT = "---\nname: {name}\ndescription: does {word}\ntools: {tools}\n{more}---\nUse @{word}.md.\n"
_SKILL = "---\nname: {name}\ndescription: {word}\n{more}---\nSee [it](references/{word}.md).\n"
_TOOL = "id: {name}.{word}\nversion: 1.0.0\nkind: {tools}\nname: {name}\ndescription: d\n"
_SERVER = "server: {{name: {name}, version: ${{V{word}:-1}}}}\ntools:\n  - $include: {word}.yaml\n"
_PART = "tool: {{name: {name}, description: '${{SECRET}}', inputSchema: {{type: {word}}}}}\n"
_PROFILE = "---\ndescription: {word}\nmcp_servers: [{name}]\n{more}---\nText of {name}.\n"
_LAYER = 'default_agent = "{name}"\n[mcp_servers.{word}]\ncommand = "{tools}"\n'
_MCP = '{{"mcpServers": {{"{name}": {{"command": "{tools}", "env": {{"A": "${{SECRET}}"}}}}}}}}\n'
_PLUGIN = '{{"name": "{name}", "agents": ["./{word}.md"], "commands": "./more"}}\n'
_SETTINGS = (
    "",
    'ignore = ["unknown-reference"]\n',
    'exclude = [".claude/skills/a"]\n',
    '[severity]\nmissing-field = "note"\n',
    'roots = ["library"]\nlibrary = "library"\n[kinds]\n"*.conf.yaml" = "server"\n',
    '[kinds]\n"*.conf.yaml" = "toolpack"\n[per-file-ignores]\n"*.md" = ["missing-field"]\n',
    'select = ["wrong-type"]\nwrong = 1\n',
    "conventions = false\n",
    "[policy]\npins = true\n[policy.never]\ntools = ['Bash']\n",
)
_IGNORES = ("", "*.json\n", "a.md\n!b.md\n", "library/\n", ".claude\n", "/.claude/agents/*\n")
#: Where files are, and what may be in them.
_PLACES: tuple[tuple[str, str], ...] = (
    (".claude/agents/{}.md", _AGENT),
    (".claude/agents/more/{}.md", _AGENT),
    (".claude/skills/{}/SKILL.md", _SKILL),
    (".claude/skills/{}/references/{}.md", _SKILL),
    (".claude/commands/{}.md", _AGENT),
    (".defect/agents/{}.md", _PROFILE),
    (".defect/config.toml", _LAYER),
    (".defect/config.local.toml", _LAYER),
    (".mcp.json", _MCP),
    ("CLAUDE.md", _AGENT),
    ("{}.md", _AGENT),
    ("plugin/.claude-plugin/plugin.json", _PLUGIN),
    ("plugin/agents/{}.md", _AGENT),
    ("plugin/{}.md", _AGENT),
    ("tools/{}.tool.yaml", _TOOL),
    ("{}.conf.yaml", _SERVER),
    ("server-{}.yaml", _SERVER),
    ("library/{}.yaml", _PART),
    ("sub/equipage.toml", "ignore = ['missing-field']\n"),
    ("sub/.claude/agents/{}.md", _AGENT),
)
_NAMES = ("a", "b", "c")
_WORDS = ("a", "b", "object", "one two", "5")
_TOOLS = ("Read", "Read, mcp__a__x", "Agent(b)", "Bash(rm:*)", "npx", "[5]")
_MORE = ("", "skills: a, b\n", "model: 5\n", "# equipage: ignore[unknown-field]\n", "odd: 1\n", "]")
_TRACKED = (".claude/agents/a.md", ".mcp.json", "a.md", "library/a.yaml", ".claude/agents/b.md")
_VALUES = (None, "object", "a", "swordfish-swordfish", "5")


def _lines(findings: Iterable[Diagnostic]) -> str:
    """Findings as text: those of two loads are in two sources, and never equal."""
    return "\n".join(map(str, findings))


class Workspace:
    """A project at `root`, made anew for each seed, and what knows it from the changes before."""

    def __init__(self, root: Path, seed: int) -> None:
        self.root = root
        self.rng = random.Random(seed)
        self.env: dict[str, str] = {}
        (root / ".git").mkdir(parents=True)
        os.chdir(root)
        for _ in range(12):
            self._create()
        self._begin()

    def _begin(self) -> None:
        """Forget everything that was known."""
        self.server = documents.EditorWorkspace([str(self.root)], env=self.env)
        # A part of the project is judged together with the files around it.
        part = [str(self.root / each) for each in (".claude", "plugin", ".defect")]
        self.paths = self.rng.choice([[str(self.root)], [str(self.root)], part])
        self.latest = self._fresh(Disk(), self.paths, recording=True)
        self.latest.report()
        self.touched: set[str] = set()

    def _fresh(
        self, system: System, paths: list[str] | None = None, *, recording: bool = False
    ) -> core.Workspace:
        request = Request(env=self.env, system=system, shared=True)
        return core.Workspace(paths or [str(self.root)], request, recording=recording)

    def change(self) -> str:
        """Change something, and tell the server what an editor sees of it; what it was."""
        before = self._look()
        # Half of the changes are in the tick of the clock in which files were looked at.
        if self.rng.random() < 0.5:
            time.sleep(TICK)
        what = self._change()
        after = self._look()
        for path in sorted(before.keys() | after.keys()):
            if before.get(path) != after.get(path):
                self.touched.add(path)
                came_or_went = path not in before or path not in after
                self.server.touch(path, came_or_went=came_or_went)
        return what

    def reports(self) -> tuple[str, str]:
        """What is known from before and what changed, and what a fresh check says."""
        self.latest = self.latest.after(self.touched, system=Disk())
        self.touched = set()
        known = as_json.render(self.latest.report())
        fresh = as_json.render(self._fresh(Disk(), self.paths).report())
        if known == fresh and self.rng.random() < 0.2:
            # Texts in the place of files that are the same change nothing.
            path = self._some()
            texts = (
                {}
                if path is None or not path.is_file()
                else {str(path.resolve()): path.read_bytes()}
            )
            known = as_json.render(self._fresh(Overlay(texts, Disk()), self.paths).report())
        return (known, fresh) if known != fresh else self._server_reports()

    def _server_reports(self) -> tuple[str, str]:
        """The same of the language server, which may have an unsaved text."""
        uri = self._open_text() if self.rng.random() < 0.2 else None
        if uri is not None and self.server.surveyed >= 0:
            opened, fresh = self.server.open[uri], self._fresh(self.server.system()).report()
            found = _lines(self.server.check(opened))
            wanted = _lines(findings_by_file(fresh, Disk()).get(opened.real, ()))
            # What git ignores and excluded files differ: an open text is looked at all the same.
            if found != wanted and any(
                each.path == opened.path for each in self.server.now.files()
            ):
                return found, wanted
        known = self._take_survey()
        fresh = self._fresh(self.server.system()).report()
        if uri is not None:
            self.server.did_close(uri)
        return known, as_json.render(fresh)

    def _change(self) -> str:
        # Files come and go more often than anything else.
        often = [self._create, self._edit, self._edit, self._delete, self._rename]
        seldom = [self._mode, self._settings, self._variable, self._ignore, self._link]
        sly = [self._same_size, self._replace, self._hard_link, self._swap, self._copy, self._index]
        small = [self._line] * 6  # what people do most
        done = self.rng.choice([*often, *small, *seldom, *sly, self._folder, self._outside])
        try:
            done()
        except OSError as error:  # a link in the way, a folder in the place of a file
            return f"{done.__name__}: {error.strerror}"
        return done.__name__

    def _look(self) -> dict[str, object]:
        """What is at each path below the root, as an editor that watches it sees it."""
        found: dict[str, object] = {}
        for here, folders, names in os.walk(self.root):
            if Path(here) == self.root:
                folders.remove(".git")
            for name in [*folders, *names]:
                path = Path(here) / name
                status = path.lstat()
                is_file = path.is_file() and not path.is_symlink()
                content = path.read_bytes() if is_file else b""
                found[str(path)] = status.st_ino, status.st_mode, status.st_ctime_ns, content
        return found

    def _open_text(self) -> str | None:
        """Open a file in the editor and change it there, unsaved; its address."""
        path = self._some()
        if path is None or not path.is_file():
            return None
        uri, text = uri_of(str(path)), path.read_bytes().decode("utf-8", "replace")
        opened = self.server.did_open(uri, text)
        assert opened is not None
        self.server.check(opened)
        self.server.did_change(uri, [TextChange(self.rng.choice(["", "5", "]", "- "]) + text)])
        return uri

    def _take_survey(self) -> str:
        survey = self.server.snapshot()
        survey.run()
        assert self.server.take(survey)
        assert survey.report is not None
        return as_json.render(survey.report)

    def _some(self) -> Path | None:
        found = [
            Path(here) / name
            for here, folders, names in os.walk(self.root)
            if not here.startswith(str(self.root / ".git"))
            for name in [*names, *(each for each in folders if (Path(here) / each).is_symlink())]
        ]
        return self.rng.choice(sorted(found)) if found else None

    def _create(self) -> None:
        place, template = self.rng.choice(_PLACES)
        path = self.root / place.format(self.rng.choice(_NAMES), self.rng.choice(_NAMES))
        path.parent.mkdir(parents=True, exist_ok=True)
        self._write(path, template)

    def _write(self, path: Path, template: str) -> None:
        choose = self.rng.choice
        values = {"name": choose(_NAMES), "word": choose(_WORDS), "tools": choose(_TOOLS)}
        text = template.format(**values, more=choose(_MORE)) if "{" in template else template
        if path.exists() and not path.is_dir() and choose([True, False]):
            path.unlink()  # another inode, as editors make it
        path.write_bytes(text.encode() + choose([b"", b"", b"", b"\xff", "\u200b".encode()]))

    def _edit(self) -> None:
        if (path := self._some()) is not None:
            self._write(path, self.rng.choice(_PLACES)[1])

    def _line(self) -> None:
        """Write a line in the place of another one, or between two, in the same file."""
        path = self._some()
        if path is not None and path.is_file():
            lines = path.read_bytes().splitlines(keepends=True)
            place, more = self.rng.randrange(len(lines) + 1), self.rng.randrange(2)
            new = self.rng.choice(
                [*_MORE, "Text.\n", "name: a\n", "description: x\n", "tools: 5\n"]
            )
            path.write_bytes(b"".join([*lines[:place], new.encode(), *lines[place + more :]]))

    def _delete(self) -> None:
        if (path := self._some()) is not None:
            shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()

    def _rename(self) -> None:
        if (path := self._some()) is not None:
            path.rename(path.with_name(f"{self.rng.choice(_NAMES)}{path.suffix}"))

    def _mode(self) -> None:
        if (path := self._some()) is not None:
            target = self.rng.choice([path, path.parent])
            if target != self.root:
                target.chmod(self.rng.choice([0o644, 0o755, 0o777, 0o700, 0o500]))

    # What a look at a file or folder could miss.

    def _same_size(self) -> None:
        """Change a letter of a file, and give it back its time."""
        path = self._some()
        if path is None or not path.is_file() or not path.stat().st_size:
            return
        times, data = path.stat(), bytearray(path.read_bytes())
        place = self.rng.randrange(len(data))
        data[place] = self.rng.choice(b"abc5:- \n")
        path.write_bytes(data)
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))

    def _replace(self) -> None:
        """Put another file in the place of one, with its size and time where that can be."""
        path, other = self._some(), self._some()
        if path is None or other is None or not (path.is_file() and other.is_file()):
            return
        times = path.stat()
        data = other.read_bytes()[: times.st_size].ljust(times.st_size)
        new = self.root / ".git" / "new"
        new.write_bytes(data)
        os.utime(new, ns=(times.st_atime_ns, times.st_mtime_ns))
        new.rename(path)

    def _hard_link(self) -> None:
        """Give a file a second name, beside it or out of sight, and perhaps write to that one."""
        if (path := self._some()) is None or not path.is_file():
            return
        beside = path.with_name(f"{self.rng.choice(_NAMES)}{path.suffix}")
        second = self.rng.choice([self.root / ".git" / "second", beside])
        if not second.exists():
            os.link(path, second)
        elif second.is_file():
            times = second.stat()
            with second.open("r+b") as file:
                file.write(self.rng.choice([b"---\nname: a\n", b"[", b"id: b\n"]))
            os.utime(second, ns=(times.st_atime_ns, times.st_mtime_ns))

    def _swap(self) -> None:
        """Put a copy of a folder in its place, times and all, in which one file is another."""
        here = self.root / self.rng.choice([".claude", ".claude/skills", "library", "plugin"])
        copy, old = self.root / ".git" / "copy", self.root / ".git" / "old"
        for each in (copy, old):
            shutil.rmtree(each, ignore_errors=True)
        if not here.is_dir() or here.is_symlink():
            return
        shutil.copytree(here, copy, symlinks=True)
        files = sorted(each for each in copy.rglob("*") if each.is_file())
        if files:
            path = self.rng.choice(files)
            times = path.stat()
            path.write_bytes(path.read_bytes().swapcase())
            os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
        here.rename(old)
        if self.rng.random() < 0.3:
            here.symlink_to(copy)  # the way there is another one
            return
        copy.rename(here)

    def _copy(self) -> None:
        """Go on in a copy of everything, in which one file is another."""
        copy, old = self.root.with_name("copy"), self.root.with_name("old")
        shutil.rmtree(old, ignore_errors=True)
        shutil.copytree(self.root, copy, symlinks=True)
        self.root.rename(old)
        copy.rename(self.root)
        os.chdir(self.root)
        self._same_size()

    def _index(self) -> None:
        """Let git track other files, which a `.gitignore` may match."""
        names = sorted({self.rng.choice(_TRACKED) for _ in range(self.rng.randrange(4))})
        data = b"DIRC" + (2).to_bytes(4, "big") + len(names).to_bytes(4, "big")
        for name in map(str.encode, names):
            entry = b"\0" * 24 + (0o100644).to_bytes(4, "big") + b"\0" * 32
            entry += len(name).to_bytes(2, "big") + name
            data += entry + b"\0" * (8 - len(entry) % 8)
        (self.root / ".git" / "index").write_bytes(data + b"\0" * 20)

    # What else a check depends on.

    def _settings(self) -> None:
        name = self.rng.choice(["equipage.toml", "equipage.toml", "pyproject.toml"])
        text = self.rng.choice(_SETTINGS)
        if name == "pyproject.toml":
            text = "[tool.equipage]\n" + text.replace("[", "[tool.equipage.", 1)
        (self.root / name).write_text(text)

    def _variable(self) -> None:
        name = self.rng.choice(["SECRET", "Va", "Vb", "V5", "HOME", "THOUGHTJACK_LIBRARY"])
        value = self.rng.choice(_VALUES)
        if name in ("HOME", "THOUGHTJACK_LIBRARY") and value is not None:
            value = str(self.root / value)
        if value is None:
            self.env.pop(name, None)
        else:
            self.env = {**self.env, name: value}
        self._begin()

    def _ignore(self) -> None:
        folder = self.rng.choice([self.root, self.root / ".claude"])
        (folder / ".gitignore").write_text(self.rng.choice(_IGNORES))

    def _link(self) -> None:
        """A link to a file, to a folder, to nothing, to itself, or out of the project, and back."""
        place, _ = self.rng.choice(_PLACES)
        path = self.root / place.format(self.rng.choice(_NAMES), "b")
        if self.rng.random() < 0.3:
            path = path.parent
        path.parent.mkdir(parents=True, exist_ok=True)
        target = self.rng.choice(
            [self._some(), path, "nowhere", self.root.parent / "outside", "..", self._way_back()]
        )
        if path == self.root or target is None:
            return
        if path.is_symlink() or path.is_file():
            path.unlink()
        elif path.is_dir():
            shutil.rmtree(path)
        path.symlink_to(target)

    def _way_back(self) -> Path | None:
        """A link beside the project that leads to something in it."""
        if (target := self._some()) is None:
            return None
        back = self.root.parent / "back"
        back.unlink(missing_ok=True)
        back.symlink_to(target)
        return back

    def _folder(self) -> None:
        """Move a folder away, or back: everything in it comes or goes at once.

        With a link in its place, the files are the same ones, elsewhere.
        """
        here = self.root / self.rng.choice([".claude", ".claude/skills", "library", "plugin"])
        away = self.rng.choice([self.root / ".git", self.root, self.root.parent]) / "away"
        if away.is_dir() and (here.is_symlink() or not here.exists()):
            here.unlink(missing_ok=True)
            away.rename(here)
        elif here.is_dir() and not away.exists():
            here.rename(away)
            if self.rng.random() < 0.5:
                here.symlink_to(away)

    def _outside(self) -> None:
        """Change what links out of the project lead to."""
        outside = self.root.parent / "outside"
        outside.mkdir(exist_ok=True)
        name = self.rng.choice(["a.md", "SKILL.md", "config.toml"])
        self._write(outside / name, _AGENT)
