"""`equipage schema`, `new` and `completion`: each writes one document.

`completion` gives the argument parser to shtab. No other command requires it, and without it the
command says how to install it.
"""

from __future__ import annotations

import json
import os
import re
from typing import TYPE_CHECKING

from equipage.cli import OK
from equipage.cli.arguments.parsing import build_parser, command_parsers
from equipage.cli.output import Output
from equipage.core.diagnostics import UsageError
from equipage.files.writing import NotWritten, write_new
from equipage.loading.editor_schema import schema_for
from equipage.loading.project_root import project_of_folder
from equipage.loading.session import Run
from equipage.project.recognise import recognise
from equipage.project.registry import all_codes, built_in_kinds, format_named, known_kinds
from equipage.project.settings import project_of

if TYPE_CHECKING:
    import argparse

_NO_SHTAB = "completion needs shtab: run `pip install 'shtab>=1.9.2'` where equipage is installed"
#: The placeholders of arguments that are paths; the shell itself completes those.
_PATH_METAVARS = frozenset({"FILE", "PATH", "DIR", "LOCK", "A", "B"})
#: A name becomes part of a path and of the file's text, so it must be harmless in both.
_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9_-]*[A-Za-z0-9])?")
#: What an example has instead of a name; `WORD` takes only its letters and digits.
_PLACEHOLDER = re.compile(r"\b(?:NAME|WORD)\b")


def schema(options: argparse.Namespace, output: Output) -> int:
    """`equipage schema`: the JSON Schema of a kind."""
    found = schema_for(format_named(options.kind))
    output.write_data(json.dumps(found, ensure_ascii=False, indent=2) + "\n")
    return OK


def new(options: argparse.Namespace, output: Output) -> int:
    """`equipage new`: a first file that passes a check."""
    kind = format_named(options.kind)
    example = kind.presentation.example
    if example is None:
        having = [name for name in known_kinds() if format_named(name).presentation.example]
        raise UsageError(f"kind `{kind.name}` has no example; choose from: {', '.join(having)}")
    if not _NAME.fullmatch(options.name):
        raise UsageError(f"`{options.name}` is not a valid name: use letters, digits, `-` and `_`")
    text = _fill_placeholders(example, options.name)
    if options.stdout:
        output.write_data(text)
        return OK
    # Written with `/`, which is not the separator of every system.
    path = _fill_placeholders(kind.presentation.example_path, options.name)
    project = project_of_folder(".")
    try:
        write_new(os.path.join(*path.split("/")), text.encode("utf-8"), project)
    except NotWritten as error:
        raise UsageError(f"cannot write {path}: {error}") from None
    output.write_data(f"{path}\n")
    # The path alone does not show every kind.
    run = Run()
    is_clear = recognise(path, project_of(path, run), run).kind == kind.name
    flag = "" if is_clear else f" --kind {kind.name}"
    output.note(f"equipage: edit it, then run `equipage check {path}{flag}`")
    return OK


def _fill_placeholders(text: str, name: str) -> str:
    words = {"NAME": name, "WORD": re.sub(r"[^a-z0-9]", "", name.lower())}
    return _PLACEHOLDER.sub(lambda match: words[match.group()], text)


def completion(options: argparse.Namespace, output: Output) -> int:
    """`equipage completion`: a script for a shell, made from the argument parser by shtab."""
    try:
        import shtab
    except ImportError:
        raise UsageError(_NO_SHTAB) from None
    # This parser parses nothing, so it can get choices that are only suggestions.
    root = build_parser()
    words = {"KIND": built_in_kinds(), "CODE": sorted(all_codes())}
    for command in command_parsers(root).values():
        for action in command._actions:
            if action.metavar in words:
                action.choices = words[str(action.metavar)]
            elif action.metavar in _PATH_METAVARS:
                # shtab reads this attribute, which argparse does not know.
                completes = shtab.DIR if action.metavar == "DIR" else shtab.FILE
                action.complete = completes  # type: ignore[attr-defined]
    output.write_data(shtab.complete(root, options.shell))
    return OK
