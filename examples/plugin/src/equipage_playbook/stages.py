"""What is replaced before the model sees it: commands that replace a whole step, and files that
hold a text.

A stage takes a tree and gives a tree and what it found. It never changes what it is given.
"""

from __future__ import annotations

import re
from typing import Any

from equipage.plugin import (
    HOLE,
    ROOT,
    Fact,
    FileProblem,
    Path,
    PathPolicy,
    Session,
    Shown,
    Tree,
    get,
    graft,
    put,
)

#: Prompts lie beside the playbook, and never elsewhere.
_PROMPTS = PathPolicy(absolute="refuse", parents="refuse")

FILE_SCHEMA: dict[str, Any] = {
    "title": "a file",
    "description": "Replaced by the text of a file beside the playbook.",
    "type": "object",
    "properties": {"$file": {"type": "string"}},
    "required": ["$file"],
    "additionalProperties": False,
}
COMMAND_SCHEMA: dict[str, Any] = {"title": "a command", "type": "string"}


def shorthands(tree: Tree, _session: Session) -> tuple[Tree, list[Fact]]:
    """A step that is only text is a command, named after itself."""
    for number, step in _steps(tree):
        if isinstance(step, str):
            name = re.sub(r"[^a-z0-9]+", "-", step.lower()).strip("-")
            tree = put(tree, ("steps", number), {"id": name, "run": step})
    return tree, []


def files(tree: Tree, session: Session) -> tuple[Tree, list[Fact]]:
    """`ask: {$file: …}` becomes the text of that file; one that cannot be had leaves a hole."""
    facts: list[Fact] = []
    parts: dict[Path, Tree] = {}
    for number, step in _steps(tree):
        path: Path = ("steps", number, "ask")
        reference = get(step, ("ask", "$file"))
        if isinstance(reference, str):
            text = _read(tree, (*path, "$file"), reference, session, facts)
            parts[path] = put(tree.subtree(path), ROOT, text, how="read from here")
    return graft(tree, parts), facts


def _read(tree: Tree, path: Path, reference: str, session: Session, facts: list[Fact]) -> Any:
    try:
        found = session.refer(reference, _PROMPTS, bases=(session.base,), roots=(session.base,))
    except FileProblem as problem:
        values = {
            **problem.values,
            "file": Shown(reference),
            "reference": Shown(reference),
            "base": "the playbook",
        }
        facts.append(Fact(problem.code, values=values, origin=tree.provenance(path).origin))
        return HOLE
    return found.source.text


def _steps(tree: Tree) -> list[tuple[int, Any]]:
    steps = tree.value.get("steps") if isinstance(tree.value, dict) else None
    return list(enumerate(steps)) if isinstance(steps, list) else []
