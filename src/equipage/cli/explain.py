"""`equipage explain`: the whole story of one value: where it stands, what it replaced, how it came there."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from typing import Any

from equipage.cli.main import OK
from equipage.cli.output import Output
from equipage.cli.request import loaded_of, outcome_of, path_of
from equipage.core.text import visible, visible_first
from equipage.loading.outcome import Outcome
from equipage.loading.result import Explanation, Setting
from equipage.loading.wording import shortened, type_name
from equipage.render.text import Style, excerpt


def run(options: argparse.Namespace, output: Output) -> int:
    outcome = outcome_of(options)
    loaded = loaded_of(outcome, options, output)
    story = loaded.explain(path_of(options.path), show_env=options.show_env)
    teller = _Teller(outcome, output.style())
    if options.output_format == "json":
        output.json(teller.to_dict(story))
    else:
        output.data("\n".join(teller.lines(story)) + "\n")
    return OK


class _Teller:
    """Tells stories of the values of one load."""

    def __init__(self, outcome: Outcome, style: Style) -> None:
        self.outcome = outcome
        self.style = style

    def layer(self, each: Setting) -> str | None:
        """The layer of the file a place lies in."""
        path = each.span.source.path if each.span is not None else None
        session = self.outcome.session
        return (
            self.outcome.kind.layering.layer_of(path, session.env)
            if path is not None and session is not None
            else None
        )

    # ---------------------------------------------------------------------------------------------- for people

    def lines(self, story: Explanation) -> Iterator[str]:
        name = visible(story.path) or "(everything)"
        yield f"{self.style.paint('bold', name)} = {_value(story.value, self.style.width - len(name) - 3)}"
        if not story.settings:
            yield "  nobody sets it: this is the default"
            return
        yield ""
        counts = len(story.settings) > 1
        gutter = (
            max(len(str(each.span.line)) for each in story.settings if each.span)
            if self.has_places(story)
            else 1
        )
        for number, each in enumerate(story.settings, 1):
            yield from self.setting(number if counts else None, each, gutter)
        if story.through:
            yield "it came through"
            for each in reversed(story.through):
                yield from self.way(each, gutter)
        for variable in story.variables:
            yield f"from the environment: {self.style.paint('bold', visible(variable))}"

    def has_places(self, story: Explanation) -> bool:
        return any(each.span for each in story.settings)

    def setting(self, number: int | None, each: Setting, gutter: int) -> Iterator[str]:
        layer = self.layer(each)
        words = [_HOW.get(each.how, each.how), f"(layer: {layer})" if layer else ""]
        head = f"{number}. " if number is not None else ""
        role = "help" if each.wins else "place"
        said = self.style.paint(role, " ".join(word for word in words if word))
        if each.span is None:
            yield f"{head}{said}: {_value(each.value, self.style.width)}"
            return
        yield f"{head}{_place(each)} {said}"
        yield from excerpt(each.span, "^" if each.wins else "-", gutter, self.style, role)

    def way(self, each: Setting, gutter: int) -> Iterator[str]:
        if each.span is None:
            yield f"  {visible(each.how)}"
            return
        yield f"  {_place(each)} {visible(each.how)}"
        yield from excerpt(each.span, "-", gutter, self.style, "place")

    # -------------------------------------------------------------------------------------------- for programs

    def to_dict(self, story: Explanation) -> dict[str, Any]:
        return {
            "path": story.path,
            "value": story.value,
            "default": not story.settings,
            "settings": [self.setting_to_dict(each) for each in story.settings],
            "through": [self.setting_to_dict(each) for each in story.through],
            "variables": list(story.variables),
        }

    def setting_to_dict(self, each: Setting) -> dict[str, Any]:
        place: dict[str, Any] = {"file": None, "line": None, "column": None}
        if each.span is not None:
            place = {
                "file": each.span.source.name,
                "line": each.span.line,
                "column": each.span.column,
            }
        return {
            **place,
            "path": each.path,
            "how": each.how,
            "layer": self.layer(each),
            "value": each.value,
            "wins": each.wins,
        }


_HOW = {
    "written": "this counts",
    "replaced": "replaced by what follows",
    "merged over it": "merged over it: both count",
}


def _place(each: Setting) -> str:
    assert each.span is not None
    return f"{visible_first(each.span.source.name)}:{each.span.line}:{each.span.column}"


def _value(value: Any, width: int) -> str:
    """A value on the rest of a line; collections by their size where they do not fit."""
    text = visible(json.dumps(value, ensure_ascii=False, default=str))
    if len(text) <= max(width, 20):
        return text
    if isinstance(value, dict | list):
        return (
            f"{type_name(value)} with {len(value)} entries"
            if len(value) != 1
            else f"{type_name(value)} with 1 entry"
        )
    return shortened(text, max(width, 20))
