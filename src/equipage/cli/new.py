"""`equipage new`: a good first file."""

from __future__ import annotations

import argparse
import os
import re

from equipage.cli.main import OK
from equipage.cli.output import Output
from equipage.core.diagnostics import LoadError, UsageError
from equipage.files.writing import NotWritten, write_new
from equipage.loading.recognise import kind_named, known_names
from equipage.loading.session import project_of_folder
from equipage.workspace.report import recognise

#: A name becomes part of a path and of the text: nothing in it may mean anything else there.
_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9_-]*[A-Za-z0-9])?")
_PLACEHOLDER = re.compile(r"\b(?:NAME|WORD)\b")


def run(options: argparse.Namespace, output: Output) -> int:
    kind = kind_named(options.kind)
    if kind.presentation.example is None:
        having = [
            name for name in known_names() if kind_named(name).presentation.example is not None
        ]
        raise UsageError(
            f"there is no first file for kind {kind.name}, only for: {', '.join(having)}"
        )
    if not _NAME.fullmatch(options.name):
        raise UsageError(f"{options.name!r} is not a name: use letters, digits, `-` and `_`")
    text = _filled(kind.presentation.example, options.name)
    if options.stdout:
        output.data(text)
        return OK
    path = _filled(kind.presentation.example_path, options.name)
    try:
        write_new(
            os.path.join(*path.split("/")),
            text.encode("utf-8"),
            project_of_folder(".", os.getcwd()),
        )
    except NotWritten as error:
        raise UsageError(f"cannot write {path}: {error}") from None
    output.data(f"{path}\n")
    output.note(f"equipage: next, edit it and run: equipage check {path}{_flag(path, kind.name)}")
    return OK


def _filled(text: str, name: str) -> str:
    words = {"NAME": name, "WORD": re.sub(r"[^a-z0-9]", "", name.lower())}
    return _PLACEHOLDER.sub(lambda match: words[match.group()], text)


def _flag(path: str, kind: str) -> str:
    """What a check needs to be told where nothing but the caller knows the kind."""
    try:
        return "" if recognise(path).name == kind else f" --kind {kind}"
    except LoadError:
        return f" --kind {kind}"
