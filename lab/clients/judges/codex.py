"""Codex: `codex mcp list` reads the whole configuration, `codex debug prompt-input` the skills."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path

from programs import Answer, Client, NoAnswer
from verdicts import Verdict

from judges import copy, project

NAME = "codex"

#: Skills for one question; the listing is cut when it grows long.
BATCH = 20


def verdicts(client: Client, everything: list[Path]) -> Iterator[Verdict]:
    for path in everything:
        if path.name == "config.toml" and path.parent.name == ".codex":
            yield _config(client, path)
    skills = [path for path in everything if _skill(path)]
    for first in range(0, len(skills), BATCH):
        yield from _skills(client, skills[first : first + BATCH])


def _skill(path: Path) -> bool:
    return path.name == "SKILL.md" and path.parts[-4:-2] in (
        (".codex", "skills"),
        (".agents", "skills"),
    )


def _trusted(scratch: str) -> tuple[Path, Path]:
    """A home and a project that it trusts; Codex leaves the files of others unread."""
    home, root = Path(scratch).resolve() / "home", Path(scratch).resolve() / "project"
    (home / ".codex").mkdir(parents=True)
    trust = f'[projects."{root}"]\ntrust_level = "trusted"\n'
    (home / ".codex" / "config.toml").write_text(trust)
    return home, project(root)


def _config(client: Client, path: Path) -> Verdict:
    with tempfile.TemporaryDirectory() as scratch:
        home, root = _trusted(scratch)
        copy(path, root / ".codex" / "config.toml")
        # Roles name files beside the configuration, and those have to exist.
        for role in sorted(path.parent.glob("**/*.toml")):
            if role != path:
                copy(role, root / ".codex" / role.relative_to(path.parent))
        answer = client.ask(root, "mcp", "list", "--json", home=home)
        return Verdict(NAME, "codex-config", str(path), refusal(answer))


def refusal(answer: Answer) -> tuple[str, ...]:
    """Why Codex does not start; nothing if it does."""
    if answer.status == 0:
        return ()
    said = [line for line in answer.err.splitlines() if not line.startswith("WARNING:")]
    if not said:
        raise NoAnswer(f"Codex: status {answer.status} without a message")
    return (" ".join(said),)


def _skills(client: Client, paths: list[Path]) -> Iterator[Verdict]:
    seen = _listing(client, paths)
    for number, path in enumerate(paths):
        lost = () if f"s{number}" in seen else ("not in the list of skills",)
        yield Verdict(NAME, "skill", str(path), lost)


def readings(client: Client, everything: list[Path]) -> Iterator[tuple[Path, str]]:
    """What a model reads about skills."""
    skills = [path for path in everything if _skill(path)]
    for first in range(0, len(skills), BATCH):
        batch = skills[first : first + BATCH]
        seen = _listing(client, batch)
        yield from ((path, seen.get(f"s{number}", "")) for number, path in enumerate(batch))


def _listing(client: Client, paths: list[Path]) -> dict[str, str]:
    with tempfile.TemporaryDirectory() as scratch:
        home, root = _trusted(scratch)
        for number, path in enumerate(paths):
            copy(path, root / ".agents" / "skills" / f"s{number}" / "SKILL.md")
        return listed(client.ask(root, "debug", "prompt-input", "hi", home=home))


def listed(answer: Answer) -> dict[str, str]:
    """The folders of the skills in the instructions that Codex gives to a model, and what it says
    about each."""
    if answer.status != 0:
        raise NoAnswer(f"Codex: {answer.err}")
    found: dict[str, str] = {}
    for message in json.loads(answer.out):
        for part in message.get("content", ()):
            pattern = r"^- (.*) \(file: \S*?([^/\s]+)/SKILL\.md\)"
            items = re.findall(pattern, part.get("text", ""), re.MULTILINE)
            found |= {folder: said for said, folder in items}
    if not found:
        raise NoAnswer("Codex: the instructions list no skill, not even its own")
    return found
