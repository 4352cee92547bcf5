"""Claude Code: `claude plugin validate` for plugins and Markdown, `claude plugin marketplace add`
for marketplaces, `claude doctor` for the rest."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from programs import AT_ONCE, Answer, Client, NoAnswer
from verdicts import Verdict

from judges import copy, project

NAME = "claude"

#: The kind of a file by the type that the validator gives it.
KINDS = {
    "agent": "claude-agent",
    "command": "claude-command",
    "hooks": "claude-hooks",
    "marketplace": "claude-marketplace",
    "mcp": "mcp",
    "plugin": "claude-plugin",
    "skill": "skill",
}

#: The fields of a manifest that are words about a plugin, and what else a plugin may hold.
WORDS = frozenset(
    {"$schema", "name", "displayName", "version", "description", "author", "homepage"}
    | {"repository", "license", "keywords", "category", "tags"}
)
MORE = ("hooks", ".mcp.json", ".lsp.json", "monitors", "output-styles", "themes", "settings.json")

#: Begins a session and writes it as JSON; no model can be reached.
SESSION = ("-p", "hi", "--output-format", "stream-json", "--verbose")
OFFLINE = {"ANTHROPIC_API_KEY": "none", "ANTHROPIC_BASE_URL": "http://127.0.0.1:9"}
ASKED = OFFLINE | {"ANTHROPIC_BASE_URL": "{address}"}

#: An entry of the lists in a request; the own name of a skill follows its folder in brackets.
ITEM = re.compile(
    r"^- ([\w:.-]+)(?: \([^)\n]*\))?: (.*?)(?=\n- [\w:.-]+(?: \([^)\n]*\))?: |\Z)",
    re.DOTALL | re.MULTILINE,
)

#: Skills and commands for one session; the listing is cut when it grows long.
BATCH = 8
UNLISTED = "a session does not have this agent"

#: A reserved name is refused with this advice, because a manifest does not say whose it is.
ELSEWHERE = "validate the marketplace that lists it"

#: What `claude doctor` adds about the machine that it runs on; it refuses nothing.
ADVICE = "Missing environment variables"


def verdicts(client: Client, everything: list[Path]) -> Iterator[Verdict]:
    manifests = [path for path in everything if path.parent.name == ".claude-plugin"]
    said = {each.file: each for each in _together(client, [*filter(_is_plain, manifests)])}
    with ThreadPoolExecutor(AT_ONCE) as pool:
        # The others are asked about one by one, and those with anything against them, too.
        manifests = [path for path in manifests if str(path) not in said]
        for found in pool.map(lambda path: _manifest(client, path), manifests):
            # Two manifests may name one file; what refuses it counts.
            said |= {each.file: each for each in found if each.refusals or each.file not in said}
        yield from said.values()
        settings = [path for path in everything if _doctored(path)]
        yield from pool.map(lambda path: _settings(client, path), settings)
    yield from _project(client, everything)


def _is_plain(path: Path) -> bool:
    """Whether a plugin is its name, words about it, and Markdown in the usual folders."""
    if path.name != "plugin.json":
        return False
    try:
        manifest = json.loads(path.read_text("utf-8"))
    except ValueError:
        return False
    if not isinstance(manifest, dict) or not manifest.keys() <= WORDS:
        return False
    return not any((path.parents[1] / each).exists() for each in MORE)


def _together(client: Client, manifests: list[Path]) -> Iterator[Verdict]:
    """Plain plugins in two questions: a marketplace of their manifests, a plugin of their parts.

    Of a plugin whose manifest or part is refused, nothing is said here.
    """
    if not manifests:
        return
    with tempfile.TemporaryDirectory() as scratch:
        market, plugin = Path(scratch).resolve() / "market", Path(scratch).resolve() / "plugin"
        parts: dict[Path, list[Verdict]] = {}
        refused: set[Path] = set()
        copies: dict[str, Path] = {}
        for number, path in enumerate(manifests):
            copy(path, market / f"p{number}" / ".claude-plugin" / "plugin.json")
            parts[path] = [Verdict(NAME, KINDS["plugin"], str(path))]
            for kind, part in _parts(path.parents[1]):
                target = plugin / _place(kind, len(copies)).removeprefix(".claude/")
                copy(part, target)
                copies[str(target)] = path
                parts[path].append(Verdict(NAME, kind, str(part)))
        copy(manifests[0], plugin / ".claude-plugin" / "plugin.json")
        entries = [{"name": f"p{n}", "source": f"./p{n}"} for n in range(len(manifests))]
        listing = {"name": "together", "owner": {"name": "a-person"}, "plugins": entries}
        manifest = market / ".claude-plugin" / "marketplace.json"
        manifest.parent.mkdir()
        manifest.write_text(json.dumps(listing))
        answer = client.ask(market, "plugin", "validate", "--json", str(manifest))
        refused |= {manifests[number] for number in refused_entries(answer)}
        if copies:
            said = validation(client.ask(plugin, "plugin", "validate", "--json", str(plugin)))
            refused |= {copies[file] for file in said if file in copies}
    for path, found in parts.items():
        if path not in refused:
            yield from found


def refused_entries(answer: Answer) -> set[int]:
    """The numbers of the plugins that the validation of a marketplace has something against."""
    try:
        report = json.loads(answer.out)
    except ValueError as error:
        raise NoAnswer(f"Claude Code: {answer.out}{answer.err}") from error
    paths = [each["path"] or "" for each in report["manifest"]["errors"]]
    found = {int(match[1]) for each in paths if (match := re.match(r"plugins\[(\d+)\]", each))}
    if len(paths) != sum(each.startswith("plugins[") for each in paths):
        raise NoAnswer(f"Claude Code: {answer.out}")
    return found


def _manifest(client: Client, path: Path) -> list[Verdict]:
    """A marketplace, or a plugin with the files that Claude Code finds in its folders; and any
    other file that the validator names because of the manifest, such as hooks at another path."""
    if path.name not in ("marketplace.json", "plugin.json"):
        return []
    said = validation(client.ask(path.parent, "plugin", "validate", "--json", str(path)))
    judged = {str(path): Verdict(NAME, KINDS[path.stem], str(path))}
    if path.name == "marketplace.json" and str(path) not in said:
        answer = client.ask(path.parent, "plugin", "marketplace", "add", str(path.parents[1]))
        judged[str(path)] = Verdict(NAME, KINDS[path.stem], str(path), addition(answer))
    if path.name == "plugin.json":
        if str(path) in said and _passes_elsewhere(client, path, said[str(path)]):
            del said[str(path)]
        for kind, part in _parts(path.parent.parent):
            judged[str(part)] = Verdict(NAME, kind, str(part))
    return list((judged | said).values())


def _passes_elsewhere(client: Client, path: Path, verdict: Verdict) -> bool:
    """Whether a plugin is refused for its name alone and the marketplace that lists it passes."""
    if not all(ELSEWHERE in each for each in verdict.refusals):
        return False
    name = json.loads(path.read_text("utf-8"))["name"]
    for folder in path.parents[1:]:
        market = folder / ".claude-plugin" / "marketplace.json"
        if market.is_file() and name in listed(market.read_text("utf-8", "replace")):
            said = validation(client.ask(folder, "plugin", "validate", "--json", str(market)))
            return str(market) not in said
        if (folder / ".git").exists():
            break
    return False


def listed(text: str) -> set[str]:
    """The names of the plugins in the text of a marketplace; none if it is broken."""
    try:
        return {each["name"] for each in json.loads(text)["plugins"]}
    except (ValueError, KeyError, TypeError):
        return set()


def _parts(plugin: Path) -> Iterator[tuple[str, Path]]:
    """The files of a plugin in the places that need no mention in its manifest."""
    for kind, pattern in (
        ("claude-agent", "agents/**/*.md"),
        ("claude-command", "commands/**/*.md"),
        ("skill", "skills/*/SKILL.md"),
        ("claude-hooks", "hooks/hooks.json"),
        ("mcp", ".mcp.json"),
    ):
        yield from ((kind, part) for part in sorted(plugin.glob(pattern)) if part.is_file())


def validation(answer: Answer) -> dict[str, Verdict]:
    """The files with errors that `claude plugin validate --json` names."""
    try:
        report = json.loads(answer.out)
    except ValueError as error:
        raise NoAnswer(f"Claude Code: {answer.out}{answer.err}") from error
    found = {}
    for part in [report["manifest"], *report["contents"]]:
        if part is None:  # a project has no manifest
            continue
        # A marketplace repeats what is wrong in its plugins; those are judged by themselves.
        errors = (each for each in part["errors"] if "plugin.json →" not in (each["path"] or ""))
        if said := tuple(f"{each['path']}: {each['message']}" for each in errors):
            kind = KINDS.get(part["type"], f"claude-{part['type']}")
            found[part["file"]] = Verdict(NAME, kind, part["file"], said)
    return found


def addition(answer: Answer) -> tuple[str, ...]:
    """Why `claude plugin marketplace add` refuses a folder; the validator never asks whose."""
    text = answer.out + answer.err
    if "Adding marketplace" not in text:
        raise NoAnswer(f"Claude Code: {text}")
    _, failed, reason = text.partition("Failed to add marketplace: ")
    return (reason.strip(),) if failed else ()


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
            refused = found[target].refusals if target in found else lost.get(path, ())
            yield Verdict(NAME, kind, str(path), refused)


def _unlisted(client: Client, agents: list[Path]) -> dict[Path, tuple[str, ...]]:
    """The agents that a session does not have, although their file begins like one.

    The validator says nothing about an agent without `name` or `description`. A session names its
    agents before it asks a model; of two with one name it has one, so each round has other names.
    """
    lost = {path: (UNLISTED,) for path in agents if _name(path) == ""}
    for now in _rounds(agents):
        with tempfile.TemporaryDirectory() as scratch:
            root = project(Path(scratch).resolve())
            for number, path in enumerate(now.values()):
                copy(path, root / _place("claude-agent", number))
            seen = session_agents(client.first_line(root, *SESSION, **OFFLINE))
        lost |= {path: (UNLISTED,) for name, path in now.items() if name not in seen}
    return lost


def _rounds(agents: list[Path]) -> Iterator[dict[str, Path]]:
    """The agents by name, as many times as there are agents of one name."""
    waiting = {path: name for path in agents if (name := _name(path))}
    while waiting:
        now = {name: path for path, name in reversed(waiting.items())}
        yield now
        for path in now.values():
            del waiting[path]


def _name(path: Path) -> str | None:
    return agent_name(path.read_text("utf-8", "replace"))


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


def readings(client: Client, everything: list[Path]) -> Iterator[tuple[Path, str]]:
    """What a model reads about agents, skills and commands, a plugin's as well as a project's."""
    kinds = {path: kind for path in everything if (kind := _kind(path))}
    agents = [path for path, kind in kinds.items() if kind == "claude-agent"]
    for now in _rounds(agents):
        yield from _told(client, {name: (path, "claude-agent") for name, path in now.items()})
    others = [path for path in kinds if path not in agents]
    for first in range(0, len(others), BATCH):
        batch = {}
        for number, path in enumerate(others[first : first + BATCH]):
            place = Path(_place(kinds[path], number))
            batch[place.parts[2].removesuffix(".md")] = (path, kinds[path])
        yield from _told(client, batch)


def _kind(path: Path) -> str | None:
    """The kind of a Markdown file of a project or a plugin, by its folder."""
    if path.name == "SKILL.md":
        return "skill"
    for part in reversed(path.parts[:-1]):
        if part in ("agents", "commands") and path.suffix == ".md":
            return f"claude-{part[:-1]}"
    return None


def _told(client: Client, named: dict[str, tuple[Path, str]]) -> Iterator[tuple[Path, str]]:
    with tempfile.TemporaryDirectory() as scratch:
        root = project(Path(scratch).resolve())
        for number, (path, kind) in enumerate(named.values()):
            copy(path, root / _place(kind, number))
        said = told(client.request(root, *SESSION, **ASKED))
        yield from ((path, said.get(name, "")) for name, (path, _) in named.items())


def told(request: str) -> dict[str, str]:
    """What a request says in its lists, by the name of agent, command, or folder of a skill."""
    found = (ITEM.findall(text) for text in _texts(json.loads(request)))
    # The tools of an agent come first, so that a text that goes on is one that begins alike.
    return {
        name: re.sub(r"(.*) (\(Tools: .*\))\Z", r"\2 \1", said, flags=re.DOTALL)
        for items in found
        for name, said in items
    }


def _texts(value: Any) -> Iterator[str]:
    """Every text of a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, (list, dict)):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _texts(each)


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
