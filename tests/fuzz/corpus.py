"""What the mutator starts from: examples, case files and probes, by target."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from casefiles import cases_in
from lab import TESTS, matching

FORMATS = {".yaml": "yaml", ".yml": "yaml", ".json": "json", ".toml": "toml", ".md": "header"}
#: The kinds that are fuzzed through the front door, and the name their text is given.
KINDS = {
    "server": "main.yaml",
    "blueprint": "team.yaml",
    "toolpack": "a.tool.yaml",
    "profile": ".defect/agents/writer.md",
    "settings": ".defect/config.toml",
    "agent_md": "writer.md",
    "skill": ".claude/skills/s/SKILL.md",
    "mcp": ".mcp.json",
}
_LARGEST = 8_000


def seeds() -> dict[str, list[str]]:
    """Texts to start from, for each target; sorted, so that a seed means the same everywhere."""
    found: dict[str, set[str]] = {
        name: set() for name in ("env", "yaml", "json", "toml", "header", *KINDS)
    }
    for kind, name, text in (*_cases(), *_probes(), *_examples()):
        if not 0 < len(text) <= _LARGEST:
            continue
        form = FORMATS.get(Path(name).suffix)
        if form is not None:
            found[form].add(text)
        if "${" in text:
            found["env"].add(text)
        if kind in KINDS and (
            Path(name).suffix == Path(KINDS[kind]).suffix or kind in ("blueprint", "profile")
        ):
            found[kind].add(text)
    from equipage.project.registry import format_named

    for kind in KINDS:
        example = format_named(kind).presentation.example
        if example:
            found[kind].add(example)
    return {name: sorted(texts) or ["a: 1\n"] for name, texts in found.items()}


def conventions() -> Iterator[tuple[str, str, str]]:
    """Texts of every other kind: its name, a file it may be in, and the text."""
    from equipage.project.registry import built_in_kinds

    others = frozenset(built_in_kinds()) - KINDS.keys()
    for kind, name, text in _cases():
        if kind in others and 0 < len(text) <= _LARGEST and Path(name).suffix in FORMATS:
            yield kind, name, text


def _cases() -> Iterator[tuple[str, str, str]]:
    for case in cases_in(TESTS / "cases"):
        for name, content in case.files.items():
            if isinstance(content, str):
                yield case.kind, name, content


def _probes() -> Iterator[tuple[str, str, str]]:
    for path in matching(TESTS / "data" / "probes", "*.jsonl"):
        for line in path.read_text().splitlines():
            for name, content in json.loads(line).get("files", {}).items():
                if isinstance(content, str):
                    yield path.stem, name, content


def _examples() -> Iterator[tuple[str, str, str]]:
    for path in matching(TESTS.parent / "examples", "**/*"):
        if path.is_file() and path.suffix in FORMATS:
            yield path.relative_to(TESTS.parent / "examples").parts[0], path.name, path.read_text()
