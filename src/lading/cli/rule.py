"""`lading rule`: what a finding means and how to mend it."""

from __future__ import annotations

import argparse
import re
import textwrap
from collections.abc import Iterator
from typing import Any

from lading.cli.main import OK
from lading.cli.output import Output
from lading.codes import Code
from lading.diagnostics import UsageError
from lading.kinds.registry import all_codes, kind_named, names
from lading.nearest import nearest
from lading.render.table import table
from lading.render.text import Style

_FIELD = re.compile(r"\{\{|\}\}|\{(\w+)\}")


def run(options: argparse.Namespace, output: Output) -> int:
    codes = all_codes()
    chosen = (
        sorted(codes.values(), key=lambda code: code.name) if options.code is None else [_named(options.code, codes)]
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
            f"there is no code `{name}`{f'; did you mean `{guess}`?' if guess else '; `lading rule` lists all'}"
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
    differing = _severities(code)
    if differing:
        yield ""
        yield from (f"In kind {kind}: {severity}" for kind, severity in differing.items())
    yield ""
    silence = (
        f"Silence it on one line with `# lading: ignore[{code.name}]`, or everywhere with `ignore` in the settings."
    )
    yield from _wrapped(silence, style)


def _wrapped(text: str, style: Style, *, indent: str = "") -> list[str]:
    width = min(style.width, 88)
    return textwrap.wrap(text, width, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False) or [""]


def _plain(template: str) -> str:
    """A template with the names of its values in angle brackets."""
    words = {"{{": "{", "}}": "}"}
    return _FIELD.sub(lambda match: words.get(match.group()) or f"<{match.group(1)}>", template)


def _severities(code: Code) -> dict[str, str]:
    """Where a kind is stricter or milder than the code itself."""
    found: dict[str, str] = {}
    for name in names():
        for key, severity in kind_named(name).strictness.items():
            if key.rpartition(":")[2] == code.name and severity != code.severity:
                where = f"{name} ({key.partition(':')[0]})" if ":" in key else name
                found[where] = "depends on the place" if callable(severity) else severity or "not reported"
    return found


def _to_dict(code: Code) -> dict[str, Any]:
    return {
        "code": code.name,
        "severity": code.severity,
        "message": _plain(code.message),
        "about": _plain(code.about),
        "help": _plain(code.help) if code.help is not None else None,
        "kinds": _severities(code),
    }
