"""Claude Code: `claude plugin validate` for plugins and Markdown, `claude doctor` for the rest."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from programs import Answer, Client, NoAnswer
from verdicts import Verdict

from judges import copy, files, project

NAME = "claude"

#: Begins a session and writes it as JSON; no model can be reached.
SESSION = ("-p", "hi", "--output-format", "stream-json", "--verbose")
OFFLINE = {"ANTHROPIC_API_KEY": "none", "ANTHROPIC_BASE_URL": "http://127.0.0.1:9"}
UNLISTED = "a session does not have this agent"

#: What `claude doctor` adds about the machine that it runs on; it refuses nothing.
ADVICE = "Missing environment variables"


def verdicts(client: Client, trees: list[Path]) -> Iterator[Verdict]:
    everything = [path for tree in trees for path in files(tree)]
    # One process for each manifest: two at a time keep a small machine busy.
    with ThreadPoolExecutor(2) as pool:
        manifests = [path for path in everything if path.parent.name == ".claude-plugin"]
        for found in pool.map(lambda path: _manifest(client, path), manifests):
            yield from found
        settings = [path for path in everything if _doctored(path)]
        yield from pool.map(lambda path: _settings(client, path), settings)
    yield from _project(client, everything)


def _manifest(client: Client, path: Path) -> list[Verdict]:
    """A marketplace alone; a plugin with the files that Claude Code finds in its folders."""
    if path.name == "marketplace.json":
        found = validation(client.ask(path.parent, "plugin", "validate", "--json", str(path)))
        return [Verdict(NAME, "claude-marketplace", str(path), found.get(str(path), ()))]
    if path.name != "plugin.json":
        return []
    found = validation(client.ask(path.parent, "plugin", "validate", "--json", str(path)))
    judged = [Verdict(NAME, "claude-plugin", str(path), found.get(str(path), ()))]
    for kind, part in _parts(path.parent.parent):
        judged.append(Verdict(NAME, kind, str(part), found.get(str(part), ())))
    return judged


def _parts(plugin: Path) -> Iterator[tuple[str, Path]]:
    """The files of a plugin in the folders that need no mention in its manifest."""
    for kind, pattern in (
        ("claude-agent", "agents/**/*.md"),
        ("claude-command", "commands/**/*.md"),
        ("skill", "skills/*/SKILL.md"),
        ("claude-hooks", "hooks/hooks.json"),
    ):
        yield from ((kind, part) for part in sorted(plugin.glob(pattern)) if part.is_file())


def validation(answer: Answer) -> dict[str, tuple[str, ...]]:
    """The errors of each file that `claude plugin validate --json` names."""
    try:
        report = json.loads(answer.out)
    except ValueError as error:
        raise NoAnswer(f"Claude Code: {answer.out}{answer.err}") from error
    found = {}
    for part in [report["manifest"] or {"file": None, "errors": []}, *report["contents"]]:
        # A marketplace repeats what is wrong in its plugins; those are judged by themselves.
        errors = (each for each in part["errors"] if "plugin.json →" not in (each["path"] or ""))
        if said := tuple(f"{each['path']}: {each['message']}" for each in errors):
            found[part["file"]] = said
    return found


def _project(client: Client, everything: list[Path]) -> Iterator[Verdict]:
    """The Markdown of all projects in one scratch project, because one question is enough."""
    with tempfile.TemporaryDirectory() as scratch:
        root = project(Path(scratch).resolve())
        copies: dict[str, tuple[str, Path]] = {}
        for number, (kind, path) in enumerate(_project_files(everything)):
            target = root / _place(kind, number)
            copy(path, target)
            copies[str(target)] = (kind, path)
        if not copies:
            return
        found = validation(client.ask(root, "plugin", "validate", "--json", str(root)))
        agents = [path for kind, path in copies.values() if kind == "claude-agent"]
        lost = _unlisted(client, agents)
        for target, (kind, path) in copies.items():
            yield Verdict(NAME, kind, str(path), found.get(target, ()) or lost.get(path, ()))


def _unlisted(client: Client, agents: list[Path]) -> dict[Path, tuple[str, ...]]:
    """The agents that a session does not have, although their file begins like one.

    The validator says nothing about an agent without `name` or `description`. A session names its
    agents before it asks a model; of two with one name it has one, so each round has other names.
    """
    names = {path: agent_name(path.read_text("utf-8", "replace")) for path in agents}
    lost = {path: (UNLISTED,) for path, name in names.items() if name == ""}
    waiting = {path: name for path, name in names.items() if name}
    while waiting:
        now = {name: path for path, name in reversed(waiting.items())}
        with tempfile.TemporaryDirectory() as scratch:
            root = project(Path(scratch).resolve())
            for number, path in enumerate(now.values()):
                copy(path, root / _place("claude-agent", number))
            seen = session_agents(client.first_line(root, *SESSION, **OFFLINE))
        lost |= {path: (UNLISTED,) for name, path in now.items() if name not in seen}
        for path in now.values():
            del waiting[path]
    return lost


def agent_name(text: str) -> str | None:
    """The `name` that a file begins with, empty without one; None if it begins without a header."""
    text = text.removeprefix("\ufeff")
    if not text.lstrip().startswith("---"):
        return None
    found = re.search(r"^name:[ \t]*(.+?)[ \t\r]*$", text, re.MULTILINE)
    return found[1].strip("\"'") if found else ""


def session_agents(line: str) -> set[str]:
    """The agents in the first line of a session."""
    return set(json.loads(line)["agents"])


def _project_files(everything: list[Path]) -> Iterator[tuple[str, Path]]:
    for path in everything:
        below = path.parts
        if path.suffix != ".md" or ".claude" not in below:
            continue
        inside = below[len(below) - below[::-1].index(".claude") :]
        if inside[0] == "agents" and len(inside) > 1:
            yield "claude-agent", path
        elif inside[0] == "commands" and len(inside) > 1:
            yield "claude-command", path
        elif inside[0] == "skills" and len(inside) == 3 and path.name == "SKILL.md":
            yield "skill", path


def _place(kind: str, number: int) -> str:
    if kind == "skill":
        return f".claude/skills/s{number}/SKILL.md"
    return f".claude/{kind.removeprefix('claude-')}s/f{number}.md"


def _doctored(path: Path) -> bool:
    """True for settings, and for the servers of a project; those of a plugin have other rules."""
    if path.name in ("settings.json", "settings.local.json"):
        return path.parent.name == ".claude"
    return path.name == ".mcp.json" and not _in_plugin(path.parent)


def _in_plugin(folder: Path) -> bool:
    """True in a plugin of any client, or below a marketplace, which may list the folder."""
    manifests = (".claude-plugin", ".codex-plugin", ".cursor-plugin", ".github/plugin")
    if any((folder / each).exists() for each in (*manifests, "plugin.json")):
        return True
    above = [folder, *folder.parents]
    roots = [each for each in above if (each / ".git").exists()] or above
    around = above[: above.index(roots[0]) + 1]
    return any((each / ".claude-plugin" / "marketplace.json").exists() for each in around)


def _settings(client: Client, path: Path) -> Verdict:
    with tempfile.TemporaryDirectory() as scratch:
        root = project(Path(scratch).resolve() / "project")
        kind = "mcp" if path.name == ".mcp.json" else "claude-settings"
        target = root / ".mcp.json" if kind == "mcp" else root / ".claude" / path.name
        copy(path, target)
        return Verdict(NAME, kind, str(path), complaints(client.ask(root, "doctor"), target))


def complaints(answer: Answer, path: Path) -> tuple[str, ...]:
    """What the block “Invalid settings” of `claude doctor` says about one file."""
    if "Claude Code doctor" not in answer.out:
        raise NoAnswer(f"Claude Code: {answer.out}{answer.err}")
    _, _, block = answer.out.partition("\nInvalid settings\n")
    lines = block.partition("\n\n")[0].splitlines()
    start = f"- {path}"
    return tuple(
        line.removeprefix(start).removeprefix(" › ")
        for line in lines
        if line.startswith(start) and ADVICE not in line
    )
