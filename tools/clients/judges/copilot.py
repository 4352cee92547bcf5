"""Copilot CLI: `copilot skill list` names the skills that it cannot load, and why."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from pathlib import Path

from programs import Answer, Client, NoAnswer
from verdicts import Verdict

from judges import copy, files, project

NAME = "copilot"


def verdicts(client: Client, trees: list[Path]) -> Iterator[Verdict]:
    skills = [
        path
        for tree in trees
        for path in files(tree)
        if path.name == "SKILL.md" and path.parts[-4:-2] == (".github", "skills")
    ]
    if not skills:
        return
    with tempfile.TemporaryDirectory() as scratch:
        root = project(Path(scratch).resolve() / "project")
        for number, path in enumerate(skills):
            copy(path, root / ".github" / "skills" / f"s{number}" / "SKILL.md")
        failed = failures(client.ask(root, "skill", "list", "--json"))
        for number, path in enumerate(skills):
            yield Verdict(NAME, "skill", str(path), failed.get(f"s{number}", ()))


def failures(answer: Answer) -> dict[str, tuple[str, ...]]:
    """The folders of the skills that failed to load, with the reason."""
    said = answer.out + answer.err
    if answer.status != 0 and "failed to load" not in said:
        raise NoAnswer(f"Copilot CLI: {said}")
    found = re.findall(r"^\s*• \S*?([^/\s]+)/SKILL\.md: (.+)$", said, re.MULTILINE)
    return {folder: (reason,) for folder, reason in found}
