"""`$include` against the algorithm of the seed: load, merge the override, resolve what is left.

The transcription below works on values that carry where they are written and through which includes
they came, so the whole story of each value is compared, too.
"""

from __future__ import annotations

import json
import random
from typing import Any

import msgspec
import pytest

import lab
from equipage.core.path import ROOT, Path, walk
from equipage.files.memory import Memory

FILES = [f"f{number}.yaml" for number in range(5)]
#: Thousands were tried while the algorithm was written.
TREES = 200
KEYS = ("a", "b", "c")

#: A file and a path in it.
Place = tuple[str, Path]


class Failed(Exception):
    """The seed refuses the configuration."""


class Marked(msgspec.Struct, frozen=True):
    """A value, where it is written, and the includes it came through, outermost first."""

    value: Any
    at: Place
    chain: tuple[Place, ...]


def marked(value: Any, at: Place, chain: tuple[Place, ...]) -> Marked:
    """A plain value with every part of it marked."""
    name, path = at
    if isinstance(value, dict):
        value = {key: marked(each, (name, (*path, key)), chain) for key, each in value.items()}
    elif isinstance(value, list):
        value = [marked(each, (name, (*path, n)), chain) for n, each in enumerate(value)]
    return Marked(value, at, chain)


def plain(node: Marked) -> Any:
    if isinstance(node.value, dict):
        return {key: plain(each) for key, each in node.value.items()}
    return [plain(each) for each in node.value] if isinstance(node.value, list) else node.value


def resolved(node: Marked, files: dict[str, Any], stack: tuple[str, ...] = ()) -> Marked:
    """What the seed makes of a value."""
    value = node.value
    if isinstance(value, list):
        return msgspec.structs.replace(node, value=[resolved(each, files, stack) for each in value])
    if not isinstance(value, dict):
        return node
    if "$include" not in value:
        inside = {key: resolved(each, files, stack) for key, each in value.items()}
        return msgspec.structs.replace(node, value=inside)
    reference = value["$include"]
    name = reference.value
    if name in stack or name not in files:
        raise Failed
    content = marked(files[name], (name, ROOT), (*node.chain, reference.at))
    if "override" in value:
        content = merged(content, value["override"])
    return resolved(content, files, (*stack, name))


def merged(base: Marked, over: Marked) -> Marked:
    """The deep merge of the seed; the two exceptions are the recorded deviation."""
    if not isinstance(base.value, dict) or not isinstance(over.value, dict):
        return over
    if "$include" in over.value and not {"$include", "override"} & base.value.keys():
        return over  # a directive does not land beside the keys of a mapping
    if "$include" in base.value and not {"$include", "override"} & over.value.keys():
        over = msgspec.structs.replace(over, value={"override": over})  # reaches through
    result = dict(base.value)
    for key, each in over.value.items():
        result[key] = merged(result[key], each) if key in result else each
    return msgspec.structs.replace(base, value=result)


def made(rng: random.Random, depth: int, names: list[str]) -> Any:
    """Any value: an include, a mapping, a list, a number or null."""
    sort = rng.random()
    if depth and sort < 0.35:
        include: dict[str, Any] = {"$include": rng.choice(names)}
        if rng.random() < 0.6:
            include["override"] = overriding(rng, depth - 1, names)
        return include
    if depth and sort < 0.8:
        return mapping(rng, depth - 1, names)
    if depth and sort < 0.87:
        return [made(rng, depth - 1, names) for _ in range(rng.randrange(3))]
    return None if sort > 0.97 else rng.randrange(9)


def overriding(rng: random.Random, depth: int, names: list[str]) -> Any:
    return mapping(rng, depth, names) if rng.random() < 0.9 else made(rng, depth, names)


def mapping(rng: random.Random, depth: int, names: list[str]) -> dict[str, Any]:
    chosen = rng.sample(KEYS, rng.randrange(1, 3))
    if rng.random() < 0.08:
        return {"override": {key: made(rng, depth, names) for key in chosen}}
    return {key: made(rng, depth, names) for key in chosen}


def random_files(rng: random.Random) -> dict[str, Any]:
    files: dict[str, Any] = {}
    for number, name in enumerate(FILES):
        # Mostly files further down, now and then any: cycles and missing files are rare.
        below = FILES[number + 1 :] or FILES
        names = [*below * 4, *FILES, "missing.yaml"]
        is_last = number == len(FILES) - 1
        files[name] = {"a": 1, "b": {"c": 2}} if is_last else made(rng, 3, names)
    return files


@pytest.mark.requirement("F-002", "EC-LOAD-013")
def test_override_is_merged_before_what_is_left_is_resolved() -> None:
    rng, good, through = random.Random(7), 0, 0
    schema_at: Path = ("tools", 0, "tool", "inputSchema")
    for number in range(TREES):
        files = random_files(rng)
        first = {"$include": FILES[0], "override": overriding(rng, 2, FILES)}
        schema = {"type": "object", "x": first, "y": made(rng, 3, FILES)}
        tool = {"name": "t", "description": "d", "inputSchema": schema}
        answer = {"content": [{"type": "text", "text": "t"}]}
        main = {"server": {"name": "s"}, "tools": [{"tool": tool, "response": answer}]}
        texts = {f"library/{name}": json.dumps(value) for name, value in files.items()}
        texts["main.yaml"] = json.dumps(main)
        contents = {f"/work/{name}": text.encode() for name, text in texts.items()}
        outcome = lab.load("main.yaml", system=Memory(contents, root="/work"))
        found = {each.code for each in outcome.errors}
        try:
            expected = resolved(marked(schema, ("main.yaml", schema_at), ()), files)
        except Failed:
            assert found & {"include-cycle", "include-not-found"}, number
            continue
        assert outcome.ok, (number, found)
        config, good = outcome.loaded_or_none().to_dict(), good + 1
        assert config["baseline"]["tools"][0]["tool"]["inputSchema"] == plain(expected), number
        for path, node in leaves(expected):
            story = outcome.tree.provenance(("baseline", *schema_at, *path))
            assert place(story.origin) == node.at, (number, path)
            assert tuple(place(via.at) for via in story.via) == node.chain, (number, path)
            through += len(node.chain) > 2
    assert good > TREES / 4
    assert through > 10, "long chains of includes occur"


def place(origin: Any) -> Place:
    return origin.document.source.name.removeprefix("library/"), origin.path


def leaves(node: Marked, path: Path = ROOT) -> Any:
    """Every value that is neither a mapping nor a list, with its path."""
    for steps, _ in walk(plain(node)):
        here = node
        for step in steps:
            here = here.value[step]
        if not isinstance(here.value, dict | list):
            yield (*path, *steps), here
