"""`equipage show` and `explain`: the values of a configuration, and where they come from."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from equipage.cli import OK
from equipage.cli.arguments import (
    FORMATS,
    Parser,
    add_file,
    add_flag,
    add_format_option,
    add_loading_options,
    add_output_option,
    add_show_env,
)
from equipage.cli.kinds import known_kind
from equipage.cli.output import Output
from equipage.cli.request import loaded_of, note_unseen_layers, outcome_of, path_of
from equipage.clients.grants import Effect
from equipage.clients.reading import reaches_of
from equipage.core.diagnostics import LoadError, UsageError
from equipage.core.path import ROOT, Path, format_path, get, walk
from equipage.core.source import Span
from equipage.core.text import visible, visible_at_line_start
from equipage.loading.model import has_holes
from equipage.loading.pipeline import Outcome
from equipage.loading.result import (
    Explanation,
    Loaded,
    Paths,
    Setting,
    ValuePlace,
    children_of,
    no_value_error,
)
from equipage.loading.wording import shorten, type_name
from equipage.render.text import Style, excerpt

#: How a place contributes to a value.
_CONTRIBUTIONS = {
    "written": "in effect",
    "replaced": "replaced by the next one",
    "merged over it": "merged over it: both are in effect",
}


def declare(parser: Parser) -> None:
    parser.describe(
        "Load, compose and check FILE, then print the resulting configuration.",
        ("equipage show server.yaml", "the configuration after includes and variables"),
        ("equipage show server.yaml tools[0]", "one value of it"),
        ("equipage show server.yaml --annotate", "where each value comes from"),
        ("equipage show server.yaml --defaults", "also what no file sets"),
    )
    add_file(parser)
    parser.add_argument(
        "path", nargs="?", metavar="PATH", help="print only this value, such as tools[0].tool.name"
    )
    add_loading_options(parser)
    add_format_option(parser, ("yaml", "json"))
    add_output_option(parser)
    add_flag(parser, "--annotate", "add the file and line that each value comes from")
    add_flag(parser, "--defaults", "add the fields that no file sets, with their defaults")
    add_show_env(parser)


def run(options: argparse.Namespace, output: Output) -> int:
    outcome = outcome_of(options)
    loaded = loaded_of(outcome, options, output)
    note_unseen_layers(outcome, options, output)
    # A path is looked up among the real keys; the output has `${NAME}` for values, and for parts
    # of keys, that come from the environment.
    plain = loaded.to_dict()
    paths = Paths(loaded)
    path = paths.steps(path_of(options.path)) if options.path else ROOT
    _require_existing(loaded, plain, path)
    # A mapping or list can be loaded again; a single value is what a program gets.
    escaped = isinstance(get(plain, path), dict | list)
    written = loaded.to_dict(show_env=options.show_env, escaped=escaped)
    value = get(written, path if options.show_env else paths.shown(path))
    if options.defaults:
        value = _add_defaults(value, _config_at(loaded.config, path))
    # The scalars at and below the path, empty collections included.
    leaves = (
        each
        for each, part in walk(get(plain, path), path)
        if not (isinstance(part, dict | list) and part)
    )
    places = paths.places(leaves) if options.annotate else {}
    named = {
        each if options.show_env else paths.shown(each): placed for each, placed in places.items()
    }
    if options.output_format == "json":
        output.write_json(
            {"value": value, "origins": _origins_to_dict(named)} if options.annotate else value
        )
        return OK
    from equipage.render.text import dump_yaml

    # Comments are found by their path in what is printed, which may be a part.
    comments = {each[len(path) :]: _origin_comment(placed) for each, placed in named.items()}
    output.write_data(dump_yaml(value, comments, output.style().paint))
    return OK


def _config_at(config: Any, path: Path) -> Any:
    """The part of a configuration at a path; None if only its plain form has that path."""
    for step in path:
        config = children_of(config).get(step)
    return config


def _add_defaults(plain: Any, config: Any) -> Any:
    """Plain data with the fields that it leaves out because they have their defaults."""
    known = children_of(config)
    if isinstance(plain, dict):
        left_out = {
            name: _add_defaults(msgspec.to_builtins(value), value)
            for name, value in known.items()
            if isinstance(config, msgspec.Struct) and name not in plain
        }
        return {key: _add_defaults(each, known.get(key)) for key, each in plain.items()} | left_out
    if isinstance(plain, list) and len(known) == len(plain):
        return [_add_defaults(each, known.get(number)) for number, each in enumerate(plain)]
    return plain


def _require_existing(loaded: Loaded[Any], plain: Any, path: Path) -> None:
    """Raises `UsageError`, with a suggestion, if a path leads to no value."""
    # The first step that fails; keys that a directive moved elsewhere are suggested as well.
    for number, step in enumerate(path):
        known = children_of(get(plain, path[:number]))
        if step not in known:
            paths, around = Paths(loaded), _config_at(loaded.config, path[:number])
            fields = getattr(around, "__struct_encode_fields__", ())
            if step in fields:
                written = format_path(paths.shown(path[: number + 1]))
                raise UsageError(
                    f"no file sets `{written}`; `equipage explain` says what that means"
                )
            raise no_value_error(
                paths.shown(path[: number + 1]),
                paths.shown((*known, *paths.moved(path[:number]), *fields)),
            )


def _origins_to_dict(places: Mapping[Path, ValuePlace]) -> dict[str, Any]:
    return {
        format_path(path): {
            **_place_to_dict(placed.span),
            "through": [_place_to_dict(span) for span in placed.through],
            "variables": list(placed.variables),
        }
        for path, placed in places.items()
    }


def _place_to_dict(span: Span | None) -> dict[str, Any]:
    if span is None:
        return {"file": None, "line": None, "column": None}
    return {"file": span.source.name, "line": span.line, "column": span.column}


def _origin_comment(placed: ValuePlace) -> str:
    """`library/echo.yaml:3 ← server.yaml:2, from ${NAME}`."""
    spans = (placed.span, *reversed(placed.through))
    parts = " ← ".join(f"{span.source.name}:{span.line}" for span in spans if span)
    names = ", ".join(f"${{{name}}}" for name in placed.variables)
    return ", from ".join(part for part in (parts or "default", names) if part)


def declare_explain(parser: Parser) -> None:
    parser.describe(
        "Show which file sets the value at PATH, what it replaced, and how it got there.",
        ("equipage explain server.yaml tools[0]", "which files set this value"),
        ("equipage explain .claude/agents/a.md tools", "what the agent may use, and why"),
    )
    add_file(parser)
    parser.add_argument("path", metavar="PATH", help="a value, such as tools[0].tool.name")
    add_loading_options(parser)
    add_format_option(parser, FORMATS)
    add_output_option(parser)
    add_show_env(parser)


def run_explain(options: argparse.Namespace, output: Output) -> int:
    outcome, path = outcome_of(options), path_of(options.path)
    if outcome.ok or outcome.tree is None:
        loaded = loaded_of(outcome, options, output)
        note_unseen_layers(outcome, options, output)
        _write_story(loaded.explain(path, show_env=options.show_env), outcome, options, output)
        return OK
    # What files say is known, although it does not make a configuration.
    try:
        story = Loaded(outcome).explain(path, show_env=options.show_env)
    except UsageError:
        output.note(f"equipage: nothing is known of `{options.path}` while there are errors")
    else:
        _write_story(story, outcome, options, output)
        output.finish()
    raise LoadError(outcome.errors)


def _write_story(
    story: Explanation, outcome: Outcome, options: argparse.Namespace, output: Output
) -> None:
    if options.output_format == "json":
        output.write_json(_explanation_to_dict(story, outcome))
        return
    lines = _explanation_lines(story, outcome, output.style())
    output.write_data("".join(f"{line}\n" for line in lines))


def _layer(each: Setting, outcome: Outcome) -> str | None:
    """The layer of the file that a setting is written in."""
    path = each.span.source.filename if each.span is not None else None
    if path is None or outcome.session is None:
        return None
    return outcome.kind.layering.layer_of(path, outcome.session.env)


def _explanation_lines(story: Explanation, outcome: Outcome, style: Style) -> Iterator[str]:
    name = visible(story.path) or "(everything)"
    value = _format_value(story.value, style.width - len(name) - 3)
    yield f"{style.paint('bold', name)} = {value}"
    if not story.settings:
        owner = f" of {story.default_of}" if story.default_of else ""
        yield f"  no file sets it: this is the default{owner}"
        yield from (f"  {line}" for line in _absence_lines(story.path, outcome, style))
        return
    yield ""
    # All excerpts use one width for line numbers.
    gutter = max((len(str(each.span.line)) for each in story.settings if each.span), default=1)
    for number, each in enumerate(story.settings, 1):
        head = f"{number}. " if len(story.settings) > 1 else ""
        yield from _setting_lines(head, each, _layer(each, outcome), gutter, style)
    if story.through:
        # From the file that contains the value outwards to the one that was loaded.
        yield "it came through"
        for each in reversed(story.through):
            place = "" if each.span is None else f"{_position(each.span)} "
            yield f"  {place}{visible(each.how)}"
            if each.span is not None:
                yield from excerpt(each.span, "-", gutter, style, "place")
    yield from map(visible, story.notes)


#: What the absence of a field lets an agent do.
_WITHOUT: dict[Effect, str] = {
    "allows": "nothing is forbidden: the agent may do everything here",
    "asks": "everything here is asked about",
    "denies": "nothing is allowed here",
}


def _absence_lines(written: str, outcome: Outcome, style: Style) -> Iterator[str]:
    """What it means that a field is absent, where that decides what an agent may do."""
    path = path_of(written) if written else ROOT
    for grant in (grant for reach in reaches_of(outcome) for grant in reach.grants):
        if grant.default and grant.path == path != ROOT:
            applies = f"`{visible(grant.name.partition(' = ')[2])}` applies"
            text = _WITHOUT[grant.effect] if grant.level is None else applies
            is_wide = grant.effect == "allows"
            yield style.paint("warning" if is_wide else "help", f"without it, {text}")
    known = next((each for each in known_kind(outcome.kind).fields if (each.name,) == path), None)
    if known is not None and known.meaning:
        yield f"it means: {known.meaning}"


def _setting_lines(
    head: str, each: Setting, layer: str | None, gutter: int, style: Style
) -> Iterator[str]:
    role = "help" if each.wins else "place"
    how = _CONTRIBUTIONS.get(each.how, each.how) + (f" (layer: {layer})" if layer else "")
    if each.span is None:
        yield f"{head}{style.paint(role, how)}: {_format_value(each.value, style.width)}"
        return
    yield f"{head}{_position(each.span)} {style.paint(role, how)}"
    yield from excerpt(each.span, "^" if each.wins else "-", gutter, style, role)


def _position(span: Span) -> str:
    return f"{visible_at_line_start(span.source.name)}:{span.line}:{span.column}"


def _format_value(value: Any, width: int) -> str:
    """A value on the rest of a line; the size of a collection where it does not fit."""
    if has_holes(value):
        return "unknown"
    width = max(width, 20)
    text = visible(json.dumps(value, ensure_ascii=False, default=str))
    if len(text) <= width or not isinstance(value, dict | list):
        return shorten(text, width)
    entries = "1 entry" if len(value) == 1 else f"{len(value)} entries"
    return f"{type_name(value)} with {entries}"


def _explanation_to_dict(story: Explanation, outcome: Outcome) -> dict[str, Any]:
    def to_dict(each: Setting) -> dict[str, Any]:
        return {
            **_place_to_dict(each.span),
            "path": each.path,
            "how": each.how,
            "layer": _layer(each, outcome),
            "value": each.value,
            "wins": each.wins,
        }

    return {
        "path": story.path,
        "value": None if has_holes(story.value) else story.value,
        "default": not story.settings,
        "settings": [to_dict(each) for each in story.settings],
        "through": [to_dict(each) for each in story.through],
        "variables": list(story.variables),
        "unset": list(story.unset),
    }
