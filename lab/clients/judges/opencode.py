"""OpenCode: `opencode debug config` resolves configuration, agents and commands, and
`opencode debug skill` lists skills.

One file that it refuses keeps OpenCode from starting, so a file that it names is put aside and the
others are asked about again.
"""

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

NAME = "opencode"
PARTS = {"agent": "agent", "agents": "agent", "command": "command", "commands": "command"}
BROKEN = "loaded without its header, which becomes part of the prompt"


def verdicts(client: Client, everything: list[Path]) -> Iterator[Verdict]:
    configs = [path for path in everything if path.name in ("opencode.json", "opencode.jsonc")]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        yield from pool.map(lambda path: _config(client, path), configs)
    for part in ("agent", "command"):
        found = [path for path in everything if _part(path) == part]
        if found:
            yield from _parts(client, part, found)
    skills = [path for path in everything if _skill(path)]
    if skills:
        yield from _skills(client, skills)


def readings(client: Client, everything: list[Path]) -> Iterator[tuple[Path, str]]:
    """Agents and commands as they are in the resolved configuration, and the list of skills."""
    for part in ("agent", "command"):
        for path in (each for each in everything if _part(each) == part):
            with tempfile.TemporaryDirectory() as scratch:
                root = project(Path(scratch).resolve() / "project")
                copy(path, root / ".opencode" / part / "f0.md")
                answer = client.ask(root, "debug", "config")
                yield path, json.dumps(json.loads(answer.out)[part]) if not answer.status else ""
    skills = [path for path in everything if _skill(path)]
    if skills:
        listed = {Path(each["location"]).parent.name: each for each in _list(client, skills)}
        for number, path in enumerate(skills):
            yield path, json.dumps(listed.get(f"s{number}", {}).get("description", ""))


def _part(path: Path) -> str | None:
    if path.suffix != ".md" or ".opencode" not in path.parts:
        return None
    inside = path.parts[len(path.parts) - path.parts[::-1].index(".opencode") :]
    return PARTS.get(inside[0]) if len(inside) > 1 else None


def _skill(path: Path) -> bool:
    return (
        path.name == "SKILL.md"
        and path.parts[-4:-3] == (".opencode",)
        and path.parts[-3] in ("skill", "skills")
    )


def _config(client: Client, path: Path) -> Verdict:
    with tempfile.TemporaryDirectory() as scratch:
        root = project(Path(scratch).resolve() / "project")
        copy(path, root / path.name)
        # It does not start without the files that the configuration names.
        for name in re.findall(r"\{file:([^}]+)\}", path.read_text("utf-8", "replace")):
            if (path.parent / name).is_file() and ".." not in name:
                copy(path.parent / name, root / name)
        answer = client.ask(root, "debug", "config")
        return Verdict(NAME, "opencode-config", str(path), refusal(answer))


def refusal(answer: Answer) -> tuple[str, ...]:
    """Why OpenCode does not start; nothing if it does."""
    if answer.status == 0:
        return ()
    said = " ".join(re.sub(r"\x1b\[\d*m", "", answer.err or answer.out).split())
    if not said:
        raise NoAnswer(f"OpenCode: status {answer.status} without a message")
    return (said,)


def _parts(client: Client, part: str, paths: list[Path]) -> Iterator[Verdict]:
    kind = f"opencode-{part}"
    with tempfile.TemporaryDirectory() as scratch:
        root = project(Path(scratch).resolve() / "project")
        copies = {}
        for number, path in enumerate(paths):
            target = root / ".opencode" / part / f"f{number}.md"
            copy(path, target)
            copies[target] = path
        while copies:
            answer = client.ask(root, "debug", "config")
            if answer.status == 0:
                break
            target = culprit(answer, copies)
            yield Verdict(NAME, kind, str(copies.pop(target)), refusal(answer))
            target.unlink()
        else:
            return
        loaded = json.loads(answer.out).get(part, {})
        for target, path in copies.items():
            found = loaded.get(target.stem) or named(loaded, path.read_text("utf-8", "replace"))
            yield Verdict(NAME, kind, str(path), headless(found, part))


def culprit(answer: Answer, copies: dict[Path, Path]) -> Path:
    """The file that OpenCode names as the reason for not starting."""
    for target in copies:
        if re.search(rf"/{target.stem}\.md\b", answer.err + answer.out):
            return target
    raise NoAnswer(f"OpenCode: {answer.err or answer.out}")


def named(loaded: dict[str, dict[str, str]], text: str) -> dict[str, str] | None:
    """The agent that a file became if its `name` replaced the name of the file."""
    for name in re.findall(r"^name:[ \t]*[\"']?(.+?)[\"']?[ \t\r]*$", text, re.MULTILINE):
        if name in loaded:
            return loaded[name]
    return None


def headless(loaded: dict[str, str] | None, part: str) -> tuple[str, ...]:
    """What became of one file in the resolved configuration."""
    if loaded is None:
        return ("not in the resolved configuration",)
    text = loaded.get("prompt" if part == "agent" else "template") or ""
    return (BROKEN,) if text.lstrip().startswith("---\n") else ()


def _skills(client: Client, paths: list[Path]) -> Iterator[Verdict]:
    listed = _list(client, paths)
    seen = {each["name"] for each in listed}
    places = {each["location"] for each in listed}
    for number, path in enumerate(paths):
        here = any(place.endswith(f"/s{number}/SKILL.md") for place in places)
        lost = () if here or path.parent.name in seen else ("not in the list of skills",)
        yield Verdict(NAME, "skill", str(path), lost)


def _list(client: Client, paths: list[Path]) -> list[dict[str, str]]:
    with tempfile.TemporaryDirectory() as scratch:
        root = project(Path(scratch).resolve() / "project")
        # Two skills of one name replace each other, so each is in a project of its own folder name.
        for number, path in enumerate(paths):
            copy(path, root / ".opencode" / "skill" / f"s{number}" / "SKILL.md")
        answer = client.ask(root, "debug", "skill")
        if answer.status != 0:
            raise NoAnswer(f"OpenCode: {answer.err or answer.out}")
        return json.loads(answer.out)  # type: ignore[no-any-return]
