"""`$include` against the algorithm of the seed: load, merge the override, resolve what is left."""

from __future__ import annotations

import copy
import json
import random
from pathlib import Path
from typing import Any

import pytest

import equipage

FILES = [f"f{number}.yaml" for number in range(5)]
#: More were tried while the algorithm was written.
TREES = 150
KEYS = ("a", "b", "c")


class Failed(Exception):
    """The seed refuses the configuration."""


def resolved(value: Any, files: dict[str, Any], stack: tuple[str, ...] = ()) -> Any:
    """What the seed makes of a value. An override that lands on an include reaches through it."""
    if isinstance(value, list):
        return [resolved(each, files, stack) for each in value]
    if not isinstance(value, dict):
        return value
    if "$include" not in value:
        return {key: resolved(each, files, stack) for key, each in value.items()}
    name = value["$include"]
    if name in stack or name not in files:
        raise Failed
    content = copy.deepcopy(files[name])
    if "override" in value:
        content = merged(content, value["override"])
    return resolved(content, files, (*stack, name))


def merged(base: Any, over: Any) -> Any:
    if not isinstance(base, dict) or not isinstance(over, dict):
        return over
    if "$include" in over and not {"$include", "override"} & base.keys():
        return over
    if "$include" in base and not {"$include", "override"} & over.keys():
        over = {"override": over}  # the recorded deviation
    result = dict(base)
    for key, each in over.items():
        result[key] = merged(result[key], each) if key in result else each
    return result


def made(rng: random.Random, depth: int, names: list[str]) -> Any:
    sort = rng.random()
    if depth and sort < 0.35:
        include: dict[str, Any] = {"$include": rng.choice(names)}
        if rng.random() < 0.6:
            include["override"] = mapping(rng, depth - 1, names)
        return include
    if depth and sort < 0.8:
        return mapping(rng, depth - 1, names)
    return [rng.randrange(9)] if sort > 0.95 else rng.randrange(9)


def mapping(rng: random.Random, depth: int, names: list[str]) -> dict[str, Any]:
    chosen = rng.sample(KEYS, rng.randrange(1, 3))
    if rng.random() < 0.08:
        return {"override": {key: made(rng, depth, names) for key in chosen}}
    return {key: made(rng, depth, names) for key in chosen}


@pytest.mark.requirement("F-002", "EC-LOAD-013")
def test_override_is_merged_before_what_is_left_is_resolved(tmp_path: Path) -> None:
    rng, good = random.Random(7), 0
    for number in range(TREES):
        folder = tmp_path / str(number)
        library = folder / "library"
        library.mkdir(parents=True)
        files: dict[str, Any] = {}
        for place, name in enumerate(FILES):
            # Mostly files further down, now and then any: cycles and missing files are rare.
            below = FILES[place + 1 :] or FILES
            names = [*below * 4, *FILES, "missing.yaml"]
            last = place == len(FILES) - 1
            files[name] = {"a": 1, "b": {"c": 2}} if last else made(rng, 3, names)
            (library / name).write_text(json.dumps(files[name]))
        schema = {"type": "object", "x": made(rng, 3, FILES), "y": made(rng, 3, FILES)}
        tool = {"name": "t", "description": "d", "inputSchema": schema}
        answer = {"content": [{"type": "text", "text": "t"}]}
        config = {"server": {"name": "s"}, "tools": [{"tool": tool, "response": answer}]}
        main = folder / "main.yaml"
        main.write_text(json.dumps(config))
        try:
            expected = resolved(schema, files)
        except Failed:
            expected = None
        try:
            loaded = equipage.load(main, kind="server", library=str(library), env={})
            found = loaded.to_dict()["baseline"]["tools"][0]["tool"]["inputSchema"]
        except equipage.LoadError as error:
            found = None
            codes = {each.code for each in error.diagnostics if each.severity == "error"}
            assert expected is None, (number, codes)
        assert found == expected, number
        good += expected is not None
    assert good > TREES / 4
