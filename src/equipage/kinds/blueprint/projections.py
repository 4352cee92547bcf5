"""The names under which the results of steps are known outside the flow."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from equipage.diagnostics import Also, Fact, Shown, fact
from equipage.kinds.blueprint.dialect import canonical_path
from equipage.kinds.blueprint.parts import flow_parts, items, names_in
from equipage.path import Path
from equipage.session import Session
from equipage.tree import mapping

#: The first step of a path, and what comes after it.
_FIRST = re.compile(r"""\$(?:\.(?P<plain>[^.\[]+)|\["(?P<quoted>[^"]+)"\])(?P<rest>.*)""", re.DOTALL)


def projection_names_differ(config: Any, _session: Session) -> Iterator[Fact]:
    """No other step goes by the name that an agent declares for its results."""
    declared = dict(_declared(config))
    if not declared:
        return
    claims = _claims(config, declared)
    told: set[str] = set()
    for ref, (name, path) in declared.items():
        others = [other for other in claims.get(name, {}) if other != ref]
        if ref not in claims.get(name, {}) or not others or name in told:
            continue
        told.add(name)
        first, second = ref, others[0]
        if second in declared and declared[second][0] == name:  # told at the later of the two
            first, second, path = second, first, declared[second][1]
        also = Also("claimed here, too", path=claims[name][second])
        yield fact(
            "projection-name-clash", path, also=[also], name=Shown(name), agent=Shown(first), other=Shown(second)
        )


def step_names(config: Any) -> dict[str, None]:
    """Every name that a step can be meant by, in the order of the flow."""
    declared = dict(_declared(config))
    names = dict.fromkeys(name for name, _ in declared.values())
    for part in flow_parts(config):
        if part.tag == "kind" and part.name == "step":
            ref, key = part.value.get("ref"), _first_key(part.value.get("out"))
            names.update(dict.fromkeys(each for each in (ref, key) if isinstance(each, str)))
    return names


def _declared(config: Any) -> Iterator[tuple[str, tuple[str, Path]]]:
    """Agents with a name of their own for their results."""
    first: dict[str, int] | None = None
    for number, agent in items(mapping(config).get("agents")):
        name, declared = mapping(agent).get("name"), mapping(mapping(agent).get("meta")).get("projection_name")
        if not isinstance(name, str) or not isinstance(declared, str):
            continue
        first = first or names_in(config, "agents").first
        if first[name] == number:
            yield name, (declared, ("agents", number, "meta", "projection_name"))


def _claims(config: Any, declared: dict[str, tuple[str, Path]]) -> dict[str, dict[str, Path]]:
    """Name → who goes by it, each with the first place that says so.

    Steps that run one agent are one. A result below something else claims that only as long as nobody else does, so
    it never clashes.
    """
    claims: dict[str, dict[str, Path]] = {}
    for part in flow_parts(config):
        ref = part.value.get("ref")
        if part.tag != "kind" or part.name != "step" or not isinstance(ref, str):
            continue
        own = [declared[ref]] if ref in declared else []
        for name, path in (*own, (ref, (*part.path, "ref")), *_single(part.path, part.value.get("out"))):
            claims.setdefault(name, {}).setdefault(ref, path)
    return claims


def _single(path: Path, out: Any) -> Iterator[tuple[str, Path]]:
    match = _first(out)
    if match is not None and not match["rest"]:
        yield match["plain"] or match["quoted"], (*path, "out", "at")


def _first_key(out: Any) -> str | None:
    match = _first(out)
    return None if match is None else match["plain"] or match["quoted"]


def _first(out: Any) -> re.Match[str] | None:
    at = mapping(out).get("at") if mapping(out).get("op") == "path" else None
    return _FIRST.fullmatch(canonical_path(at) or "") if isinstance(at, str) else None
