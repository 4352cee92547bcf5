"""`equipage rule`: what a finding means and how to mend it."""

from __future__ import annotations

import argparse
import re
import textwrap
from collections.abc import Iterable, Iterator
from typing import Any

from equipage.cli.main import OK
from equipage.cli.output import Output
from equipage.core.codes import BLOCKING, Code
from equipage.core.diagnostics import UsageError
from equipage.core.text import nearest
from equipage.loading.model import MISMATCHES, Shape, title
from equipage.loading.recognise import codes_for, kind_named, names
from equipage.render.text import Style, table

_FIELD = re.compile(r"\{\{|\}\}|\{(\w+)\}")


def run(options: argparse.Namespace, output: Output) -> int:
    codes = codes_for([options.code] if options.code is not None else ())
    chosen = (
        sorted(codes.values(), key=lambda code: code.name)
        if options.code is None
        else [_named(options.code, codes)]
    )
    if options.output_format == "json":
        output.json({"version": 1, "rules": [_to_dict(code) for code in chosen]})
    elif options.code is None:
        rows = [(code.name, code.severity, _plain(code.message)) for code in chosen]
        output.data(table(("CODE", "SEVERITY", "MESSAGE"), rows, output.style()))
    else:
        output.data("\n".join(_lines(chosen[0], output.style())) + "\n")
    return OK


def _named(name: str, codes: dict[str, Code]) -> Code:
    code = codes.get(name)
    if code is None:
        guess = nearest(name, codes)
        raise UsageError(
            f"there is no code `{name}`{f'; did you mean `{guess}`?' if guess else '; `equipage rule` lists all'}"
        )
    return code


def _lines(code: Code, style: Style) -> Iterator[str]:
    yield f"{style.paint('bold', code.name)} ({style.paint(code.severity, code.severity)})"
    yield ""
    yield from _wrapped(_plain(code.message), style, indent="  ")
    yield ""
    yield from _wrapped(_plain(code.about), style)
    if code.help is not None and not code.help.startswith("{"):
        yield ""
        for line in f"help: {_plain(code.help)}".split("\n"):
            yield from _wrapped(line, style)
    differing = by_severity(severities(code))
    if differing:
        yield ""
        for severity, kinds in differing.items():
            of = f"In kind {kinds[0]}" if len(kinds) == 1 else f"In kinds {', '.join(kinds)}"
            yield from _wrapped(f"{of}: {severity}", style)
    yield ""
    yield from _wrapped(_silencing(code, differing), style)


def by_severity(found: dict[str, str]) -> dict[str, list[str]]:
    """The kinds of each severity."""
    groups: dict[str, list[str]] = {}
    for kind, severity in found.items():
        groups.setdefault(severity, []).append(kind)
    return groups


def _silencing(code: Code, differing: Iterable[str]) -> str:
    """What to do about a finding that is meant as it is."""
    comment = f"`# equipage: ignore[{code.name}]`"
    if code.name not in BLOCKING:
        return (
            f"Silence it on one line with {comment}, or in every check with `ignore` in the settings, unless it keeps "
            "the configuration from existing."
            if code.severity == "error"
            else f"Silence it on one line with {comment}, or in every check with `ignore` in the settings."
        )
    milder = any(each.startswith("warning") for each in differing)
    rest = f" Where it is a warning, {comment} on its line silences it." if milder else ""
    return f"As an error it keeps the configuration from existing, and cannot be silenced.{rest}"


def _wrapped(text: str, style: Style, *, indent: str = "") -> list[str]:
    width = min(style.width, 88)
    return textwrap.wrap(
        text, width, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False
    ) or [""]


def _plain(template: str) -> str:
    """A template with the names of its values in angle brackets."""
    words = {"{{": "{", "}}": "}"}
    return _FIELD.sub(lambda match: words.get(match.group()) or f"<{match.group(1)}>", template)


def severities(code: Code) -> dict[str, str]:
    """Where a kind is stricter or milder than the code itself."""
    found: dict[str, str] = {}
    for name in names():
        kind = kind_named(name)
        by_shape = _by_shape(code, kind.shape)
        if by_shape is not None and by_shape != code.severity:
            found[name] = by_shape
        for key, severity in kind.strictness.items():
            if key.rpartition(":")[2] == code.name and severity != code.severity:
                where = f"{name} ({key.partition(':')[0]})" if ":" in key else name
                found[where] = (
                    "depends on the place" if callable(severity) else severity or "not reported"
                )
    return found


def _by_shape(code: Code, shape: Shape) -> str | None:
    """How severe a mismatch is in a kind that reads its model like this; None for other codes."""
    if code.name == "unknown-field":
        general: str | None = shape.unknown
        strict = " or ".join(sorted(map(title, shape.closed)))
        exception = (
            f"error in {strict}" if strict else "error where a field that restricts may be meant"
        )
        is_exception = bool(strict or shape.guarded)
    elif code.name in MISMATCHES:
        general, exception, is_exception = (
            shape.mismatch,
            "error in a field that restricts",
            bool(shape.guarded),
        )
    else:
        return None
    words = general or "not reported"
    return f"{words}, {exception}" if is_exception and general != "error" else words


def _to_dict(code: Code) -> dict[str, Any]:
    return {
        "code": code.name,
        "severity": code.severity,
        "message": _plain(code.message),
        "about": _plain(code.about),
        "help": _plain(code.help) if code.help is not None else None,
        "kinds": severities(code),
    }
