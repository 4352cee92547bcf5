"""`equipage kinds` and `schema`: what is known of a kind without a file of it.

That is what is read, from where, by which program, and what restricts an agent.
"""

from __future__ import annotations

import argparse
import json
import textwrap
from collections.abc import Iterator

import msgspec
from msgspec import inspect as types

from equipage.cli import OK
from equipage.cli.arguments import (
    FORMATS,
    Parser,
    add_format_option,
    add_output_option,
    add_python_path,
)
from equipage.cli.output import Output
from equipage.clients.catalogue import convention_of
from equipage.clients.file_grants import program_of
from equipage.loading.editor_schema import schema_for
from equipage.loading.format import Format
from equipage.loading.model import is_struct
from equipage.loading.type_words import describe, type_info
from equipage.project.registry import BUILT_IN, conventions, format_named, known_kinds
from equipage.render.text import Style, table

_BY_CONTENT = "any file, by its content"
_BY_NAME = "only as part of others, or with --kind"


class KnownField(msgspec.Struct, frozen=True):
    """One field at the top of a file of some kind."""

    name: str
    type: str
    meaning: str = ""
    required: bool = False
    restricts: bool = False  #: whether it limits what an agent may do


class KnownKind(msgspec.Struct, frozen=True):
    """What is known of a kind without a file of it."""

    kind: str
    title: str
    program: str
    files: tuple[str, ...]
    restricts: tuple[str, ...]  #: the paths of values that limit what an agent may do
    fields: tuple[KnownField, ...]


def all_known_kinds() -> list[KnownKind]:
    """Every kind, by the program that reads it."""
    return sorted(map(known_kind, known_kinds()), key=lambda each: (each.program, each.kind))


def known_kind(name: str | Format) -> KnownKind:
    """What is known of one kind. Raises `UsageError`."""
    kind = format_named(name)
    row = next((each for each in (*BUILT_IN, *conventions()) if each.kind == kind.name), None)
    files = row.paths if row is not None else ()
    if not files:
        files = (_BY_CONTENT if row is not None and row.by_content is not None else _BY_NAME,)
    restricts = tuple(
        dict.fromkeys(
            each.pattern for each in kind.presentation.sensitive if each.what == "permission"
        )
    )
    program = program_of(kind.name)
    return KnownKind(kind.name, kind.title, program, files, restricts, _fields(kind))


def _fields(kind: Format) -> tuple[KnownField, ...]:
    info = type_info(kind.model) if is_struct(kind.model) else None
    if not isinstance(info, types.StructType):
        return ()
    table = convention_of(kind.name)
    made = []
    for field in info.fields:
        known = table.field(field.encode_name) if table is not None else None
        # A permission may be the field itself or something below it.
        restricts = any(
            each.what == "permission" and each.pattern.split(".")[0] == field.encode_name
            for each in kind.presentation.sensitive
        )
        made.append(
            KnownField(
                field.encode_name,
                describe(field.type),
                "" if known is None else known.meaning,
                field.required or (known is not None and known.required == "error"),
                restricts,
            )
        )
    return tuple(made)


def declare(parser: Parser) -> None:
    parser.describe(
        "List every kind of configuration, the files it is recognised by and the program that "
        "reads them. With KIND, also its fields, and which of them restrict what an agent may do.",
        ("equipage kinds", "every kind"),
        ("equipage kinds claude-agent", "its files and fields"),
    )
    parser.add_argument("kind", nargs="?", metavar="KIND", help="a kind of configuration")
    add_format_option(parser, FORMATS)
    add_output_option(parser)


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
        output.write_data("".join(f"{line}\n" for line in _kind_lines(found[0], output.style())))
    return OK


def _kind_lines(kind: KnownKind, style: Style) -> Iterator[str]:
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


def declare_schema(parser: Parser) -> None:
    parser.describe(
        "Write the JSON Schema of KIND, for editors and other programs.",
        ("equipage schema claude-agent -o agent.schema.json", "write it to a file"),
        ("equipage kinds", "every KIND there is"),
    )
    # A person who knows the other commands names the kind as they do.
    named = parser.add_mutually_exclusive_group(required=True)
    summary = "a kind of configuration, or module:NAME"
    named.add_argument("kind", nargs="?", metavar="KIND", help=summary)
    named.add_argument("--kind", dest="named", metavar="KIND", help=argparse.SUPPRESS)
    add_python_path(parser)
    add_output_option(parser)


def run_schema(options: argparse.Namespace, output: Output) -> int:
    found = schema_for(format_named(options.kind or options.named))
    output.write_data(json.dumps(found, ensure_ascii=False, indent=2) + "\n")
    return OK
