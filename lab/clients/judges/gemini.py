"""Gemini CLI: `gemini mcp list` reads the settings, `gemini skills list` skills and agents,
`gemini extensions validate` an extension."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from programs import AT_ONCE, Answer, Client, NoAnswer
from verdicts import Verdict

from judges import copy, project

NAME = "gemini"

#: The status with which it ends if the settings are not JSON.
UNREADABLE = 52


def verdicts(client: Client, everything: list[Path]) -> Iterator[Verdict]:
    settings = [each for each in everything if each.parts[-2:] == (".gemini", "settings.json")]
    extensions = [each for each in everything if each.name == "gemini-extension.json"]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        yield from pool.map(lambda path: _settings(client, path), settings)
        yield from pool.map(lambda path: _extension(client, path), extensions)
    inside = _inside(everything)
    if any(inside.values()):
        yield from _markdown(client, inside)


def readings(client: Client, everything: list[Path]) -> Iterator[tuple[Path, str]]:
    """What it says about skills."""
    inside = _inside(everything) | {"gemini-agent": []}
    if inside["skill"]:
        said = descriptions(_list(client, inside))
        for number, path in enumerate(inside["skill"]):
            yield path, said.get(f"s{number}", "")


def _inside(everything: list[Path]) -> dict[str, list[Path]]:
    return {
        "skill": [path for path in everything if _below(path, "skills", 3)],
        "gemini-agent": [path for path in everything if _below(path, "agents", 2)],
    }


def _below(path: Path, folder: str, depth: int) -> bool:
    if path.suffix != ".md" or path.parts[-depth - 1 : -depth + 1] != (".gemini", folder):
        return False
    return folder == "agents" or path.name == "SKILL.md"


def _trusted(scratch: str) -> tuple[Path, Path]:
    """A home and a project that it trusts; the agents and skills of others are not read."""
    home, root = Path(scratch).resolve() / "home", Path(scratch).resolve() / "project"
    (home / ".gemini").mkdir(parents=True)
    (home / ".gemini" / "trustedFolders.json").write_text(json.dumps({str(root): "TRUST_FOLDER"}))
    return home, project(root)


def _settings(client: Client, path: Path) -> Verdict:
    with tempfile.TemporaryDirectory() as scratch:
        home, root = _trusted(scratch)
        copy(path, root / ".gemini" / "settings.json")
        answer = client.ask(root, "mcp", "list", home=home)
        return Verdict(NAME, "gemini-settings", str(path), complaints(answer))


def complaints(answer: Answer) -> tuple[str, ...]:
    """What is wrong with the settings: the message if they are unreadable, else each key."""
    said = answer.err + answer.out
    if answer.status == UNREADABLE:
        return (" ".join(said.split()),)
    if answer.status != 0:
        raise NoAnswer(f"Gemini CLI: {said}")
    keys = re.findall(r"^\s*Error in: (.+)\n\s*(.+)$", said, re.MULTILINE)
    events = re.findall(r"Invalid hook event name.*", said)
    return (*(f"{key}: {message}" for key, message in keys), *events)


def _extension(client: Client, path: Path) -> Verdict:
    with tempfile.TemporaryDirectory() as scratch:
        home, root = _trusted(scratch)
        answer = client.ask(root, "extensions", "validate", str(path.parent), home=home)
        said = " ".join((answer.err + answer.out).split())
        if answer.status != 0 and not said:
            raise NoAnswer(f"Gemini CLI: status {answer.status} without a message")
        return Verdict(NAME, "gemini-extension", str(path), (said,) if answer.status else ())


def _markdown(client: Client, inside: dict[str, list[Path]]) -> Iterator[Verdict]:
    seen, failed = listing(_list(client, inside))
    for number, path in enumerate(inside["skill"]):
        # Of two skills with one name it lists one: that is about two files, not about this one.
        twin = named(path.read_text("utf-8", "replace")) in seen
        lost = () if twin or f"s{number}" in seen else ("not in the list of skills",)
        yield Verdict(NAME, "skill", str(path), lost)
    for number, path in enumerate(inside["gemini-agent"]):
        yield Verdict(NAME, "gemini-agent", str(path), failed.get(f"f{number}", ()))


def _list(client: Client, inside: dict[str, list[Path]]) -> Answer:
    with tempfile.TemporaryDirectory() as scratch:
        home, root = _trusted(scratch)
        for number, path in enumerate(inside["skill"]):
            copy(path, root / ".gemini" / "skills" / f"s{number}" / "SKILL.md")
        for number, path in enumerate(inside["gemini-agent"]):
            copy(path, root / ".gemini" / "agents" / f"f{number}.md")
        return client.ask(root, "skills", "list", "--all", home=home)


def descriptions(answer: Answer) -> dict[str, str]:
    """The folders of the skills that are listed, with what the list says about them."""
    pattern = r"Description:\s+(.*?)\n\s+Location:\s+\S*?([^/\s]+)/SKILL\.md"
    found = re.findall(pattern, answer.out + answer.err, re.DOTALL)
    # The line reader keeps the marks of YAML: quotes that do not close, and the `|` of a block.
    return {folder: said.strip("'\"").removeprefix("|") for said, folder in found}


def named(text: str) -> str | None:
    """The `name` in the header of a skill."""
    found = re.search(r"^name:[ \t]*[\"']?(.+?)[\"']?[ \t\r]*$", text, re.MULTILINE)
    return found[1] if found else None


def listing(answer: Answer) -> tuple[set[str], dict[str, tuple[str, ...]]]:
    """The folders and names of the skills that are listed; the agents that failed, and why."""
    if answer.status != 0:
        raise NoAnswer(f"Gemini CLI: {answer.err}")
    said = answer.out + answer.err
    seen = set(re.findall(r"Location:\s+\S*?([^/\s]+)/SKILL\.md", said))
    seen |= set(re.findall(r"^(\S+) \[Enabled\]", said, re.MULTILINE))
    failed = {}
    pattern = r"Agent loading error: Failed to load agent from \S*?([^/\s]+)\.md: (.*(?:\n\S.*)?)"
    for name, reason in re.findall(pattern, said):
        failed[name] = (" ".join(reason.split()),)
    return seen, failed
