"""What is kept in files: locks, settings, lists of git.

A lock is sealed, so that a change of any byte is noticed at once. What is behind the seal is
reached by sealing a changed value again.
"""

from __future__ import annotations

import json
import random
import struct
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from equipage.core.path import PathSyntaxError, format_path, parse_path
from equipage.core.source import Source
from equipage.files.gitignore import parse_ignores
from equipage.files.index import DamagedIndex, _parse_index
from equipage.files.memory import Memory
from equipage.loading.session import Request
from equipage.project.settings import FORMAT as SETTINGS
from equipage.project.settings import load_project_settings
from equipage.record import baseline
from equipage.record import lock as locks
from equipage.record.verify import compare
from fuzz.mutating import mutated
from fuzz.shapes import reshaped
from fuzz.surfaces import Surface
from fuzz.targets import check_findings
from lab import write

AGENT = (
    "---\nname: reviewer\ndescription: d\ntools: Read, Bash(git log:*)\nmodle: x\n---\nReview.\n"
)
SKILL = "---\nname: notes\ndescription: d\n---\nRun scripts/a.sh.\n"
FILES = {
    ".claude/agents/reviewer.md": AGENT,
    ".claude/agents/writer.md": AGENT.replace("reviewer", "writer").replace("modle: x\n", ""),
    ".claude/skills/notes/SKILL.md": SKILL,
    ".claude/skills/notes/scripts/a.sh": "echo\n",
    ".claude/settings.json": '{"permissions": {"allow": ["Bash(ls:*)"], "deny": ["WebFetch"]}}',
    ".mcp.json": '{"mcpServers": {"a": {"command": "npx", "args": ["-y", "a@1.0.0"]}}}',
    "a.tool.yaml": "id: t.a\nversion: 1.0.0\nexecution: {kind: python, script: a.py}\n",
    "a.py": "print('{}')\n",
}


def _project() -> Path:
    """A folder with some configurations, for as long as this process lives."""
    folder = tempfile.TemporaryDirectory()
    _KEPT.append(folder)
    return write(Path(folder.name) / "project", {**FILES, ".git/HEAD": ""})


_KEPT: list[Any] = []


# --- locks ---------------------------------------------------------------------------------------


def _lock() -> Surface:
    root = str(_project())
    lock, _ = locks.lock_all([root], root, Request(env={}, project=root), jobs=1)
    value = json.loads(locks.write(lock))
    text = locks.write(lock)

    def make(rng: random.Random) -> bytes:
        if rng.random() < 0.2:
            return mutated([text], rng).encode("utf-8", "surrogatepass")
        changed = reshaped(value, rng)
        try:
            found = msgspec.convert(changed, locks.WorkspaceLock)
            found = msgspec.structs.replace(found, seal=locks._seal(found))
            return locks.write(found).encode("utf-8", "surrogatepass")
        except (msgspec.MsgspecError, UnicodeEncodeError):
            return json.dumps(changed).encode()

    def run(data: bytes, _rng: random.Random) -> None:
        try:
            found = locks.read(data)
        except locks.LockError as error:
            assert str(error)
            return
        for old, new in ((lock, found), (found, lock), (found, found)):
            changes = compare(old, new)
            assert old != new or not (changes.has_source_changes or changes.matters)
        assert locks.read(locks.write(found).encode()) == found

    code = ("record/lock.py", "record/verify.py")
    return Surface(make, run, code)


# --- settings, baselines, lists of git, paths ----------------------------------------------------

_OWN = (
    '[tool]\nignore = ["unknown-field"]\n',
    'ignore = ["unknown-field", "x"]\nexclude = ["a/**", "*.md"]\nconventions = false\n',
    'library = "lib"\nroots = ["a", "../b"]\nbaseline = "b.json"\n\n[severity]\nunknown-field = "error"\n',
    '[kinds]\n"team/*.yaml" = "blueprint"\n"*.yml" = "server"\n',
    '[policy]\nnever = [{ run = "rm *" }]\n[[schemas]]\nfiles = "*.json"\nschema = "s.json"\n',
    'select = ["unknown-field"]\n[per-file-ignores]\n"a/*" = ["unknown-field"]\n',
)


def _settings() -> Surface:
    texts = [*_OWN, SETTINGS.presentation.example or "", *(f"[tool.equipage]\n{each}" for each in _OWN)]  # fmt: skip

    def make(rng: random.Random) -> tuple[str, str]:
        return rng.choice(("equipage.toml", "pyproject.toml")), mutated(texts, rng)

    def run(value: tuple[str, str], _rng: random.Random) -> None:
        name, text = value
        system = Memory({f"/p/{name}": text.encode("utf-8", "replace")}, root="/p")
        outcome = load_project_settings("/p", Request(env={}, system=system).new_run())
        check_findings(() if outcome is None else outcome.diagnostics)

    return Surface(make, run, ("project/settings.py",))


_IGNORES = (
    "*.log\n!keep.log\n/build/\n",
    "a/**/b\n**/c\nd/**\n[abc]*.txt\n[!a-z]\n",
    "\\#x\n\\!y\nz\\ \n  \n#c\n",
    "[[:alpha:]]?\n[]-]\n[z-a]\n/x**/**\n*/*/*\n",
)
_NAMES = ("a", "a/b", "a/x/b", "build", "keep.log", "x.log", "c/d/e", "é", "[", "\\", "a b", "z ", "!y", "#x")  # fmt: skip


def ignores(text: str, rng: random.Random) -> None:
    patterns = parse_ignores(text)
    for _ in range(5):
        path = rng.choice(_NAMES)
        name, is_folder = path.rpartition("/")[2], rng.random() < 0.5
        assert patterns.decide(path, name, is_folder=is_folder) in (True, False, None)


def _index_bytes(rng: random.Random) -> bytes:
    version = rng.choice((2, 3, 4))
    body = b""
    names = sorted(rng.sample([each.encode() for each in _NAMES], 4))
    dropped = 0  # of the name before; none is longer than one byte says
    for name in names:
        head = bytes(40) + bytes(20) + struct.pack(">H", min(len(name), 0xFFF))
        body += head + (bytes((dropped,)) if version == 4 else b"") + name + b"\0"
        body += bytes(-(62 + len(name) + 1) % 8) if version != 4 else b""
        dropped = len(name)
    data = bytearray(b"DIRC" + struct.pack(">II", version, len(names)) + body + bytes(20))
    for _ in range(rng.choice((0, 1, 1, 4))):
        data[rng.randrange(len(data))] = rng.randrange(256)
    return bytes(data[: rng.choice((len(data), len(data), rng.randrange(len(data))))])


def index(data: bytes, _rng: random.Random) -> None:
    try:
        names, shared = _parse_index(data)
    except DamagedIndex:
        return
    assert all(isinstance(each, bytes) for each in names)
    assert shared is None or isinstance(shared, str)


def paths(text: str, _rng: random.Random) -> None:
    try:
        found = parse_path(text)
    except PathSyntaxError:
        return
    assert parse_path(format_path(found)) == found


_BASELINE = '{"version": 1, "findings": [{"file": "a.md", "code": "unknown-field", "path": "modle", "content": "x", "count": 2}]}'  # fmt: skip


def baselines(text: str, _rng: random.Random) -> None:
    from equipage.core.diagnostics import EquipageError

    try:
        found = baseline.read(Source.of_bytes("b.json", text.encode("utf-8", "replace"), None))
    except EquipageError as error:
        assert str(error)
        return
    baseline.write(found)


def surfaces() -> dict[str, Surface]:
    def text(texts: Iterator[str] | list[str] | tuple[str, ...], run: Any, *code: str) -> Surface:
        known = list(texts)
        return Surface(lambda rng: mutated(known, rng), run, code)

    places = ["a.b[0].c", "tools[12].name", '"a b".c', "a.'x.y'[3]", "[0][1]", "$.a"]
    return {
        "project": _settings(),
        "lock": _lock(),
        "ignore": text(_IGNORES, ignores, "files/gitignore.py"),
        "index": Surface(_index_bytes, index, ("files/index.py",)),
        "path": text(places, paths, "core/path.py"),
        "baseline": text([_BASELINE, "{}"], baselines, "record/baseline.py"),
    }
