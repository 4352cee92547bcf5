"""`equipage rule`: what a finding means and how to fix it."""

from __future__ import annotations

import argparse
import re
import textwrap
from collections.abc import Iterable, Iterator
from typing import Any

from equipage.cli import OK
from equipage.cli.arguments import FORMATS, Parser, add_format_option, add_output_option
from equipage.cli.output import Output
from equipage.cli.request import unknown_code_error
from equipage.core import codes as core_codes
from equipage.core.codes import BLOCKING
from equipage.core.diagnostics import Code
from equipage.loading.format import Format
from equipage.loading.model import MISMATCHES
from equipage.loading.shape import Shape
from equipage.loading.type_words import title
from equipage.project.registry import built_in_kinds, codes_for, format_named
from equipage.render.text import Style, table

#: A value in a template, or a doubled brace, which means a single one.
_FIELD = re.compile(r"\{\{|\}\}|\{(\w+)\}")
#: How many kinds a line names; it counts the others.
_MAX_KINDS_NAMED = 3


def declare(parser: Parser) -> None:
    parser.describe(
        "Explain what CODE means and how to fix it. Without CODE, list all codes.",
        ("equipage rule unknown-field", "what this finding means"),
        ("equipage rule", "every code"),
    )
    parser.add_argument(
        "code", nargs="?", metavar="CODE", help="the code of a finding, such as unknown-field"
    )
    add_format_option(parser, FORMATS)
    add_output_option(parser)


def run(options: argparse.Namespace, output: Output) -> int:
    codes = codes_for([options.code] if options.code is not None else ())
    if options.code is None:
        chosen = sorted(codes.values(), key=lambda code: code.name)
    elif options.code in codes:
        chosen = [codes[options.code]]
    else:
        raise unknown_code_error(options.code, codes)
    if options.output_format == "json":
        output.write_json({"version": 1, "rules": [_to_dict(code) for code in chosen]})
    elif options.code is None:
        rows = [
            (code.name, code.severity, _mark_placeholders(code.words.message)) for code in chosen
        ]
        output.write_data(table(("CODE", "SEVERITY", "MESSAGE"), rows, output.style()))
    else:
        output.write_data("\n".join(_lines(chosen[0], output.style())) + "\n")
    return OK


def _lines(code: Code, style: Style) -> Iterator[str]:
    yield f"{style.paint('bold', code.name)} ({style.paint(code.severity, code.severity)})"
    yield ""
    yield from _wrap(_mark_placeholders(code.words.message), style, indent="  ")
    yield ""
    yield from _wrap(_mark_placeholders(code.words.about), style)
    # Help that begins with a value says nothing without it.
    if code.words.help is not None and not code.words.help.startswith("{"):
        yield ""
        for line in f"help: {_mark_placeholders(code.words.help)}".split("\n"):
            yield from _wrap(line, style)
    differing = group_by_severity(differing_severities(code))
    if differing:
        yield ""
        for severity, kinds in differing.items():
            # Long lists of kinds would bury the rest; `--json` has them all.
            is_long = len(kinds) > _MAX_KINDS_NAMED
            listed = ", ".join(kinds[:_MAX_KINDS_NAMED] if is_long else kinds)
            of = f"In kind {listed}" if len(kinds) == 1 else f"In kinds {listed}"
            others = " and others" if is_long else ""
            yield from _wrap(f"{of}{others}: {severity}", style)
    for _, severity in severities_in(Format({}), code):
        yield ""
        yield from _wrap(f"In a format of your own: {severity}, unless it says otherwise", style)
    yield ""
    yield from _wrap(_ignore_advice(code, differing), style)


def group_by_severity(found: dict[str, str]) -> dict[str, list[str]]:
    """The kinds of each severity."""
    groups: dict[str, list[str]] = {}
    for kind, severity in found.items():
        groups.setdefault(severity, []).append(kind)
    return groups


def _ignore_advice(code: Code, differing: Iterable[str]) -> str:
    """How to ignore a finding, if that is possible."""
    comment = f"`# equipage: ignore[{code.name}]`"
    # Blocking codes prevent loading; where a kind makes one a warning, loading goes on.
    if code.name in BLOCKING:
        is_milder = any(each.startswith("warning") for each in differing)
        rest = f" Where it is a warning, {comment} on its line ignores it." if is_milder else ""
        return f"This error prevents loading, so it cannot be ignored.{rest}"
    how = f"Ignore it on one line with {comment}, or everywhere with `ignore` in the settings."
    return (
        f"{how} If it prevents loading, it cannot be ignored." if code.severity == "error" else how
    )


def _wrap(text: str, style: Style, *, indent: str = "") -> list[str]:
    # Longer lines are hard to read; a hyphen may be part of a code or an option.
    width = min(style.width, 88)
    return textwrap.wrap(
        text, width, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False
    ) or [""]


def _mark_placeholders(template: str) -> str:
    """A template with the names of its values in angle brackets."""
    braces = {"{{": "{", "}}": "}"}
    return _FIELD.sub(lambda match: braces.get(match.group()) or f"<{match.group(1)}>", template)


def differing_severities(code: Code) -> dict[str, str]:
    """The kinds that are stricter or milder than the code itself, and how."""
    found: dict[str, str] = {}
    for name in built_in_kinds():
        for syntax, words in severities_in(format_named(name), code):
            found[f"{name} ({syntax})" if syntax else name] = words
    return found


def severities_in(kind: Format, code: Code) -> Iterator[tuple[str, str]]:
    """How severe a code is in files of a kind, by syntax, as far as that differs from the code."""
    by_shape = _severity_for_shape(code, kind.shape)
    if by_shape is not None and by_shape != code.severity:
        yield "", by_shape
    for key, severity in kind.strictness.items():
        syntax, _, known = key.rpartition(":")  # as in `json:duplicate-key`
        if known == code.name and severity != code.severity:
            words = "depends on the place" if callable(severity) else severity or "not reported"
            yield syntax, words


def _severity_for_shape(code: Code, shape: Shape) -> str | None:
    """The severity of a mismatch with a model of this shape; None for other codes."""
    exception = ""
    if code.name == core_codes.UNKNOWN_FIELD:
        severity: str | None = shape.unknown
        if shape.closed:
            exception = f"error in {' or '.join(sorted(map(title, shape.closed)))}"
        elif shape.guarded:
            exception = "error where a field that restricts may be meant"
    elif code.name in MISMATCHES:
        severity = shape.mismatch
        exception = "error in a field that restricts" if shape.guarded else ""
    else:
        return None
    # A key one slip away from a field is reported in every kind.
    silent = "only near misses are reported" if code.name == core_codes.UNKNOWN_FIELD else None
    words = severity or silent or "not reported"
    return f"{words}, {exception}" if exception and severity != "error" else words


def _to_dict(code: Code) -> dict[str, Any]:
    return {
        "code": code.name,
        "severity": code.severity,
        "message": _mark_placeholders(code.words.message),
        "about": _mark_placeholders(code.words.about),
        "help": _mark_placeholders(code.words.help) if code.words.help is not None else None,
        "kinds": differing_severities(code),
    }
