"""`equipage kinds`: what is read, from where, by which program, and what restricts an agent."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import TYPE_CHECKING

import msgspec

from equipage.cli import OK
from equipage.cli.output import Output
from equipage.project.kinds import KnownKind, all_known_kinds, known_kind
from equipage.render.text import Style, table

if TYPE_CHECKING:
    import argparse


def run(options: argparse.Namespace, output: Output) -> int:
    found = all_known_kinds() if options.kind is None else [known_kind(options.kind)]
    if options.output_format == "json":
        output.write_json({"version": 1, "kinds": msgspec.to_builtins(found)})
    elif options.kind is None:
        # Files come last: they are what does not fit on a narrow terminal.
        rows = [(each.kind, each.program, ", ".join(each.files)) for each in found]
        output.write_data(table(("KIND", "READ BY", "FILES"), rows, output.style()))
        output.note("equipage: run `equipage kinds KIND` for the fields of a kind")
    else:
        output.write_data("".join(f"{line}\n" for line in _lines(found[0], output.style())))
    return OK


def _lines(kind: KnownKind, style: Style) -> Iterator[str]:
    yield f"{style.paint('bold', kind.kind)}: {kind.title}, read by {kind.program}"
    yield ""
    yield from (f"  {each}" for each in kind.files)
    yield ""
    rows = [
        (
            each.name,
            "restricts" if each.restricts else "required" if each.required else "",
            f"{each.meaning} ({each.type})" if each.meaning else each.type,
        )
        for each in kind.fields
    ]
    yield table(("FIELD", "", "MEANING"), rows, style).rstrip("\n")
    inner = [each for each in kind.restricts if "." in each]
    if inner:
        text = f"These values restrict what an agent may do, too: {', '.join(inner)}"
        yield ""
        yield from textwrap.wrap(text, min(style.width, 88), break_on_hyphens=False)
