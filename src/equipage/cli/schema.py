"""`equipage schema`: JSON Schema for editors."""

from __future__ import annotations

import argparse
import json

from equipage.cli.main import OK
from equipage.cli.output import Output
from equipage.loading.recognise import kind_named
from equipage.views.schema import schema_for


def run(options: argparse.Namespace, output: Output) -> int:
    schema = schema_for(kind_named(options.kind))
    output.document(json.dumps(schema, ensure_ascii=False, indent=2) + "\n", options.output)
    return OK
