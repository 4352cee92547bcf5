"""Trees of real agents and skills: the files of public collections, laid out for Claude Code.

The collections are folders: `../shared/corpus`, and those that EQUIPAGE_BENCH_COLLECTIONS names,
divided by colons. Where a tree needs more files than they have, further ones are copies with
another name and words of their own, so that no two files are equal.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

CORPUS = Path(__file__).parents[3] / "shared" / "corpus"
_WORDS = ("agent", "branch", "cache", "commit", "file", "index", "memory", "merge", "prompt")
_LARGEST = 200_000


def collections() -> list[Path]:
    """The folders with real files that are here."""
    more = os.environ.get("EQUIPAGE_BENCH_COLLECTIONS", "")
    named = [CORPUS, *(Path(each) for each in more.split(os.pathsep) if each)]
    return [each for each in named if each.is_dir()]


def real_files(folders: Sequence[Path]) -> list[tuple[str, bytes]]:
    """Every agent and skill below the folders once: the end of its path in a tree, its content."""
    seen: set[bytes] = set()
    found: dict[str, bytes] = {}
    for path in _markdown(folders):
        data = path.read_bytes()
        head = data[:2000]
        is_agent = data.startswith(b"---") and b"\nname:" in head and b"\ndescription:" in head
        digest = hashlib.sha256(data).digest()
        if not is_agent or digest in seen:
            continue
        seen.add(digest)
        is_skill = path.name == "SKILL.md"
        name = path.parent.name if is_skill else path.stem
        where = "skills/{}/SKILL.md" if is_skill else "agents/{}.md"
        number = 1
        while where.format(name if number == 1 else f"{name}-{number}") in found:
            number += 1
        found[where.format(name if number == 1 else f"{name}-{number}")] = data
    return sorted(found.items())


def _markdown(folders: Sequence[Path]) -> Iterator[Path]:
    for folder in folders:
        for path in sorted(folder.rglob("*.md")):
            steps = path.relative_to(folder).parts
            is_ours = path.name == "SKILL.md" or {"agents", "categories"} & set(steps)
            is_plain = path.is_file() and not path.is_symlink()
            if is_ours and is_plain and ".git" not in steps and path.stat().st_size <= _LARGEST:
                yield path


def divided(
    files: Sequence[tuple[str, bytes]], equipage: str
) -> dict[str, list[tuple[str, bytes]]]:
    """The files with findings and those without, as `equipage check` says."""
    with tempfile.TemporaryDirectory() as name:
        tree = write(Path(name), files, len(files))
        command = [equipage, "check", "--exit-zero", "-f", "json", "."]
        run = subprocess.run(command, cwd=tree, capture_output=True, check=False)
        bad = {each["file"] for each in json.loads(run.stdout)["diagnostics"]}
    return {
        "without findings": [each for each in files if f".claude/{each[0]}" not in bad],
        "with findings": [each for each in files if f".claude/{each[0]}" in bad],
    }


def write(folder: Path, files: Sequence[tuple[str, bytes]], count: int) -> Path:
    """A repository with so many files, half of them agents; returns its folder."""
    (folder / ".git").mkdir(parents=True)
    chance = random.Random(27)
    sorts = [[each for each in files if each[0].startswith(sort)] for sort in ("agents", "skills")]
    for sort in filter(None, sorts):
        for number in range(count // sum(map(bool, sorts))):
            end, data = sort[number % len(sort)]
            round_ = number // len(sort)
            if round_:
                end, data = _copied(end, data, round_, chance)
            path = folder / ".claude" / end
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
    return folder


def _copied(end: str, data: bytes, number: int, chance: random.Random) -> tuple[str, bytes]:
    """A file under another name, with another sentence in its description and its text."""
    folder, _, rest = end.partition("/")
    name, dot, more = rest.partition("/" if folder == "skills" else ".")
    words = " ".join(chance.choice(_WORDS) for _ in range(12))
    head, mark, tail = data.partition(b"\nname:")
    old, line, tail = tail.partition(b"\n")
    new = old.rstrip().rstrip(b"\"'") + f"-{number}".encode()
    if old.rstrip().endswith((b'"', b"'")):
        new += old.rstrip()[-1:]
    text = head + mark + new + line + tail + f"\n\n{words} {number}.\n".encode()
    return f"{folder}/{name}-{number}{dot}{more}", text
