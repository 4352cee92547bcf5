"""`lading new`: a good first file."""

from __future__ import annotations

import argparse
import os
import re

from lading.cli.main import OK
from lading.cli.output import Output
from lading.diagnostics import UsageError
from lading.kinds.registry import kind_named, known_names
from lading.writing import NotWritten, write_new

#: A name becomes part of a path and of the text: nothing in it may mean anything else there.
_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9_-]*[A-Za-z0-9])?")


def run(options: argparse.Namespace, output: Output) -> int:
    kind = kind_named(options.kind)
    if kind.example is None:
        having = [name for name in known_names() if kind_named(name).example is not None]
        raise UsageError(f"there is no first file for kind {kind.name}, only for: {', '.join(having)}")
    if not _NAME.fullmatch(options.name):
        raise UsageError(f"{options.name!r} is not a name: use letters, digits, `-` and `_`")
    text = kind.example.replace("NAME", options.name)
    if options.stdout:
        output.data(text)
        return OK
    path = kind.example_path.replace("NAME", options.name)
    try:
        write_new(os.path.join(*path.split("/")), text.encode("utf-8"))
    except NotWritten as error:
        raise UsageError(f"cannot write {path}: {error}") from None
    output.data(f"{path}\n")
    output.note(f"lading: next, edit it and run: lading check {path}")
    return OK
