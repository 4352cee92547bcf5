"""`equipage show`: the resolved configuration, and where each value came from."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

from equipage.cli.main import OK
from equipage.cli.output import Output
from equipage.cli.request import loaded_of, outcome_of, path_of
from equipage.core.path import ROOT, Path, format_path
from equipage.core.source import Span
from equipage.loading.result import Loaded, Placed, no_value
from equipage.loading.tree import get, walk


def run(options: argparse.Namespace, output: Output) -> int:
    loaded = loaded_of(outcome_of(options), options, output)
    plain = loaded.to_dict()
    path = _existing(loaded, plain, loaded.steps(path_of(options.path)) if options.path else ROOT)
    value = (
        get(plain, path)
        if options.show_env
        else get(loaded.to_dict(show_env=False), loaded.shown(path))
    )
    places = loaded.places(_leaves(plain, path)) if options.annotate else {}
    named = {
        each if options.show_env else loaded.shown(each): placed for each, placed in places.items()
    }
    if options.output_format == "json":
        output.json({"value": value, "origins": _origins(named)} if options.annotate else value)
        return OK
    from equipage.render.yaml import dump

    output.data(
        dump(value, {each[len(path) :]: _comment(placed) for each, placed in named.items()})
    )
    return OK


def _existing(loaded: Loaded[Any], plain: Any, path: Path) -> Path:
    """The path, if there is a value. Raises `UsageError` with a guess."""
    for number, step in enumerate(path):
        known = _keys(get(plain, path[:number]))
        if step not in known:
            raise no_value(
                loaded.shown(path[: number + 1]),
                loaded.shown((*known, *loaded.moved(path[:number]))),
            )
    return path


def _keys(value: Any) -> Path:
    if isinstance(value, dict):
        return tuple(value)
    return tuple(range(len(value))) if isinstance(value, list) else ()


def _leaves(plain: Any, path: Path) -> list[Path]:
    """The scalars at and below a path, empty collections included."""
    part = get(plain, path)
    return [
        each for each, value in walk(part, path) if not (isinstance(value, dict | list) and value)
    ]


def _origins(places: Mapping[Path, Placed]) -> dict[str, Any]:
    return {
        format_path(path): {
            **_place(placed.span),
            "through": [_place(span) for span in placed.through],
            "variables": list(placed.variables),
        }
        for path, placed in places.items()
    }


def _place(span: Span | None) -> dict[str, Any]:
    if span is None:
        return {"file": None, "line": None, "column": None}
    return {"file": span.source.name, "line": span.line, "column": span.column}


def _comment(placed: Placed) -> str:
    """`library/echo.yaml:3 ← server.yaml:2, from ${NAME}`."""
    parts = " ← ".join(
        f"{span.source.name}:{span.line}"
        for span in (placed.span, *reversed(placed.through))
        if span
    )
    names = ", ".join(f"${{{name}}}" for name in placed.variables)
    return ", from ".join(part for part in (parts or "default", names) if part)
