"""Every field of every kind, one letter wrong: never ignored in silence."""

from __future__ import annotations

import json
import random
import string
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
from msgspec import inspect as types

from casefiles import cases_in
from equipage.files.memory import Memory
from equipage.loading.pipeline import load_text
from equipage.loading.session import Request
from equipage.loading.type_words import type_info
from equipage.project.registry import format_named
from lab import CASES

#: One document for each kind in which as many fields as possible are set, as plain data.
Doc = dict[str, Any]


def structs(model: Any) -> dict[type, types.StructType]:
    """Every Struct a model is made of."""
    found: dict[type, types.StructType] = {}
    stack: list[Any] = [type_info(model)]
    while stack:
        each = stack.pop()
        if isinstance(each, types.StructType) and each.cls not in found:
            found[each.cls] = each
            stack += [field.type for field in each.fields]
        elif isinstance(each, types.UnionType):
            stack += each.types
        elif isinstance(each, types.VarTupleType | types.ListType):
            stack.append(each.item_type)
        elif isinstance(each, types.DictType):
            stack.append(each.value_type)
    return found


def field_names(model: Any) -> set[str]:
    return {field.encode_name for info in structs(model).values() for field in info.fields}


def slips(name: str, rng: random.Random) -> list[str]:
    """One of each sort of slip: a letter left out, doubled, wrong, added, two swapped."""
    place = rng.randrange(len(name))
    letter = rng.choice(string.ascii_lowercase)
    found = {
        name[:place] + name[place + 1 :],
        name[:place] + name[place] + name[place:],
        name[:place] + letter + name[place + 1 :],
        name[:place] + letter + name[place:],
        name[: max(place - 1, 0)]
        + name[place]
        + name[max(place - 1, 0) : place]
        + name[place + 1 :],
    }
    return sorted(each for each in found if each and each != name)


@cache
def documents(kind: str) -> list[Doc]:
    """The mappings of all case files of a kind, as plain data."""
    from equipage.syntax import SyntaxProblem, toml, yaml

    found: list[Doc] = []
    for case in cases_in(CASES):
        if case.kind != kind or "layers" in case.settings:
            continue
        text = case.files.get(case.entry)
        if not isinstance(text, str) or "$" in text:
            continue
        engine = toml if case.entry.endswith(".toml") else yaml
        try:
            value = engine.load(text if not text.startswith("---") else text.split("---")[1]).value
        except SyntaxProblem:
            continue
        if isinstance(value, dict):
            found.append(value)
    example = format_named(kind).presentation.example
    if example:
        engine = toml if kind == "settings" else yaml
        found.append(
            engine.load(example if not example.startswith("---") else example.split("---")[1]).value
        )  # type: ignore[arg-type]
    return [*found, *_RICH.get(kind, ())]


_HOOK = {
    "name": "h",
    "match": {"tool": "bash"},
    "handler": {"type": "builtin", "name": "redact-secrets"},
}
#: Documents with fields that no case file of one document has.
_RICH: dict[str, tuple[Doc, ...]] = {
    "profile": (
        {
            "description": "d",
            "model": "m",
            "tools": {"allow": ["read_file"]},
            "sampling": {"temperature": 0.5, "top_p": 0.9, "max_tokens": 100},
            "inherit_project_prompt": True,
            "request_limit": 5,
            "request_limit_mode": "fixed",
            "hooks": {"before_tool_apply": [_HOOK], "after_generate": [_HOOK]},
        },
    )
}


def keys(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if isinstance(value, dict):
        for key, child in value.items():
            yield (*path, key)
            yield from keys(child, (*path, key))
    elif isinstance(value, list):
        for number, child in enumerate(value):
            yield from keys(child, (*path, number))


def _at(value: Any, path: tuple[Any, ...]) -> Any:
    for step in path:
        value = value[step]
    return value


def renamed(value: Any, path: tuple[Any, ...], name: str) -> Any:
    step, *rest = path
    if isinstance(value, list):
        return [
            renamed(each, tuple(rest), name) if number == step else each
            for number, each in enumerate(value)
        ]
    if not rest:
        return {name if key == step else key: each for key, each in value.items()}
    return {
        key: renamed(each, tuple(rest), name) if key == step else each
        for key, each in value.items()
    }


#: Below these, every key is the author's own business.
_FREE_FORM = frozenset(
    {"inputSchema", "outputSchema", "params", "metadata", "spec", "env", "extras"}
)
NAMES = {
    "server": "main.yaml",
    "blueprint": "team.json",
    "toolpack": "a.tool.yaml",
    "profile": "writer.md",
    "settings": "config.toml",
    "agent_md": "writer.md",
}


def findings(kind: str, document: Doc) -> list[tuple[str, str]]:
    text = json.dumps(document, ensure_ascii=False, default=str)
    if kind in ("profile", "agent_md"):
        text = f"---\n{text}\n---\nText.\n"
    if kind == "settings":
        text = _toml(document)
    outcome = load_text(
        text,
        format_named(kind),
        Request(env={}, system=Memory({}, root="/p")),
        name=NAMES[kind],
        base="/p",
    )
    assert not any(each.code == "internal-error" for each in outcome.diagnostics)
    return sorted((each.code, each.message) for each in outcome.diagnostics)


def _toml(value: Any) -> str:
    """Plain data as one TOML text of inline values."""

    def inline(each: Any) -> str:
        if isinstance(each, dict):
            return (
                "{"
                + ", ".join(f"{json.dumps(key)} = {inline(child)}" for key, child in each.items())
                + "}"
            )
        if isinstance(each, list):
            return "[" + ", ".join(map(inline, each)) + "]"
        return json.dumps(each)

    return "".join(f"{json.dumps(key)} = {inline(each)}\n" for key, each in value.items())


@pytest.mark.parametrize("kind", NAMES)
def test_no_slip_is_silent(kind: str) -> None:
    """A slip changes what is found: at the least, the unknown field is named."""
    rng = random.Random(kind)
    known = field_names(format_named(kind).model)
    tried: set[str] = set()
    silent: list[str] = []
    for document in documents(kind):
        before: list[tuple[str, str]] | None = None
        for path in keys(document):
            name = path[-1]
            if name not in known or name in tried or _FREE_FORM.intersection(path[:-1]):
                continue
            before = findings(kind, document) if before is None else before
            if any(code in ("wrong-type", "invalid-value") for code, _ in before):
                break  # a part that is not looked at cannot have slips
            tried.add(name)
            beside = _at(document, path[:-1])
            silent += [
                f"{slip} for {path}"
                for slip in slips(name, rng)
                if slip not in known
                and slip not in beside
                and findings(kind, renamed(document, path, slip)) == before
            ]
    assert silent == []
    assert len(tried) >= min(len(known), 10) * 0.7, (sorted(known - tried), len(tried))


@pytest.mark.parametrize("kind", NAMES)
def test_every_struct_refuses_what_it_does_not_know(kind: str) -> None:
    """The models say so themselves. Two exceptions: no author writes what a directive makes, and
    the origin of a blueprint takes further keys, which a rule tells."""
    loose = [
        info.cls.__name__
        for info in structs(format_named(kind).model).values()
        if not info.cls.__struct_config__.forbid_unknown_fields
    ]
    assert set(loose) <= {"Generated", "Inline", "File", "Algo"}
