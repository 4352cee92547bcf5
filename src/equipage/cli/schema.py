"""`equipage schema`: the JSON Schema of a kind."""

from __future__ import annotations

import argparse
import json

from equipage.cli import OK
from equipage.cli.arguments import Parser, add_output_option, add_python_path
from equipage.cli.output import Output
from equipage.loading.editor_schema import schema_for
from equipage.project.registry import format_named


def declare(parser: Parser) -> None:
    parser.describe(
        "Write the JSON Schema of KIND, for editors and other programs.",
        ("equipage schema claude-agent -o agent.schema.json", "write it to a file"),
        ("equipage kinds", "every KIND there is"),
    )
    parser.add_argument("kind", metavar="KIND", help="a kind of configuration, or module:NAME")
    add_python_path(parser)
    add_output_option(parser)


def run(options: argparse.Namespace, output: Output) -> int:
    found = schema_for(format_named(options.kind))
    output.write_data(json.dumps(found, ensure_ascii=False, indent=2) + "\n")
    return OK
