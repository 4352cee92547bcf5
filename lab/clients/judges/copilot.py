"""Copilot CLI: `copilot skill list` names the skills that it cannot load, and why."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path

from programs import Answer, Client, NoAnswer
from verdicts import Verdict

from judges import copy, project

NAME = "copilot"


def verdicts(client: Client, everything: list[Path]) -> Iterator[Verdict]:
    skills = [path for path in everything if _skill(path)]
    if skills:
        failed = failures(_list(client, skills))
        for number, path in enumerate(skills):
            yield Verdict(NAME, "skill", str(path), failed.get(f"s{number}", ()))


def readings(client: Client, everything: list[Path]) -> Iterator[tuple[Path, str]]:
    """What it says about skills."""
    skills = [path for path in everything if _skill(path)]
    if skills:
        said = descriptions(_list(client, skills))
        yield from ((path, said.get(f"s{number}", "")) for number, path in enumerate(skills))


def _skill(path: Path) -> bool:
    return path.name == "SKILL.md" and path.parts[-4:-2] == (".github", "skills")


def _list(client: Client, skills: list[Path]) -> Answer:
    with tempfile.TemporaryDirectory() as scratch:
        root = project(Path(scratch).resolve() / "project")
        for number, path in enumerate(skills):
            copy(path, root / ".github" / "skills" / f"s{number}" / "SKILL.md")
        return client.ask(root, "skill", "list", "--json")


def descriptions(answer: Answer) -> dict[str, str]:
    """The folders of the skills that are listed, with name and description."""
    listed = json.loads(answer.out)
    return {Path(each["path"]).name: f"{each['name']}: {each['description']}" for each in listed}


def failures(answer: Answer) -> dict[str, tuple[str, ...]]:
    """The folders of the skills that failed to load, with the reason."""
    said = answer.out + answer.err
    if answer.status != 0 and "failed to load" not in said:
        raise NoAnswer(f"Copilot CLI: {said}")
    found = re.findall(r"^\s*• \S*?([^/\s]+)/SKILL\.md: (.+)$", said, re.MULTILINE)
    return {folder: (reason,) for folder, reason in found}
