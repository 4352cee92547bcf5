"""`equipage schema`, `graph`, `new` and `completion`: each writes one document.

Two of them use other programs where those do the work better: `graph` gives its DOT text to
Graphviz to draw a picture, `completion` gives the argument parser to shtab. Neither is required
by any other command, and without it the command says how to install it.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from typing import TYPE_CHECKING

import msgspec

from equipage.cli import FOUND, OK, USAGE
from equipage.cli.arguments.parsing import command_parsers, parser
from equipage.cli.output import Output
from equipage.cli.request import NOTHING_FOUND, paths_of, request_of
from equipage.core.diagnostics import UsageError
from equipage.files.writing import NotWritten, write_new
from equipage.loading.projects import project_of_folder
from equipage.loading.recognise import recognise
from equipage.loading.registry import all_codes, kind_named, known_names, names
from equipage.loading.session import Run
from equipage.render.graph import dot, mermaid, tree
from equipage.views.graph import Graph, graph_of
from equipage.views.schema import schema_for
from equipage.workspace.loads import load_all, settled
from equipage.workspace.project import project_of

if TYPE_CHECKING:
    import argparse

_NO_GRAPHVIZ = (
    "svg needs the program `dot`: install Graphviz (https://graphviz.org/download), "
    "or use --output-format tree or mermaid"
)
_NO_SHTAB = "completion needs shtab: run `pip install 'shtab>=1.9.2'` where equipage is installed"
#: The placeholders of arguments that are paths; the shell itself completes those.
_PATHS = frozenset({"FILE", "PATH", "DIR", "LOCK", "A", "B"})
#: A name becomes part of a path and of the file's text, so it must be harmless in both.
_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9_-]*[A-Za-z0-9])?")
#: What an example has instead of a name; `WORD` takes only its letters and digits.
_PLACEHOLDER = re.compile(r"\b(?:NAME|WORD)\b")


def schema(options: argparse.Namespace, output: Output) -> int:
    """`equipage schema`: the JSON Schema of a kind."""
    found = schema_for(kind_named(options.kind))
    output.data(json.dumps(found, ensure_ascii=False, indent=2) + "\n")
    return OK


def graph(options: argparse.Namespace, output: Output) -> int:
    """`equipage graph`: what includes and uses what."""
    found = settled(load_all(paths_of(options), request_of(options), kind=options.kind))
    outcomes = [each.outcome for each in found if each.outcome is not None]
    problems = [each.problem for each in found if each.problem is not None]
    output.findings(problems)
    drawn = graph_of(outcomes)
    # Broken files are drawn, too. Without a node no file could even be read.
    if not drawn.nodes:
        output.findings(each for outcome in outcomes for each in outcome.errors)
        if not found:
            output.note(NOTHING_FOUND)
        return FOUND if found else USAGE
    if options.output_format == "json":
        output.json({"version": 1, **msgspec.to_builtins(drawn)})
    elif options.output_format == "tree":
        output.data("".join(tree(drawn, output.style())))
    else:
        output.data(_drawing(drawn, options.output_format))
    bad = sum(not outcome.ok for outcome in outcomes)
    if bad:
        what = "1 file has" if bad == 1 else f"{bad} files have"
        output.note(f"equipage: {what} errors; run `equipage check {' '.join(options.paths)}`")
    return FOUND if bad or any(each.severity == "error" for each in problems) else OK


def _drawing(drawn: Graph, output_format: str) -> str:
    """The graph as text, or as the picture that Graphviz makes of it. Raises `UsageError`."""
    if output_format == "mermaid":
        return mermaid(drawn)
    if output_format == "dot":
        return dot(drawn)
    program = shutil.which("dot")
    if program is None:
        raise UsageError(_NO_GRAPHVIZ)
    # Through standard input, without a shell: no name of a checked file becomes an argument.
    done = subprocess.run(
        [program, "-Tsvg"], input=dot(drawn).encode(), capture_output=True, check=False
    )
    if done.returncode:
        raise UsageError(f"`dot` failed: {done.stderr.decode(errors='replace').strip()}")
    return done.stdout.decode()


def new(options: argparse.Namespace, output: Output) -> int:
    """`equipage new`: a first file that passes a check."""
    kind = kind_named(options.kind)
    example = kind.presentation.example
    if example is None:
        having = [name for name in known_names() if kind_named(name).presentation.example]
        raise UsageError(f"kind `{kind.name}` has no example; choose from: {', '.join(having)}")
    if not _NAME.fullmatch(options.name):
        raise UsageError(f"`{options.name}` is not a valid name: use letters, digits, `-` and `_`")
    text = _filled(example, options.name)
    if options.stdout:
        output.data(text)
        return OK
    # Written with `/`, which is not the separator of every system.
    path = _filled(kind.presentation.example_path, options.name)
    project = project_of_folder(".")
    try:
        write_new(os.path.join(*path.split("/")), text.encode("utf-8"), project)
    except NotWritten as error:
        raise UsageError(f"cannot write {path}: {error}") from None
    output.data(f"{path}\n")
    # The path alone does not show every kind.
    run = Run()
    is_clear = recognise(path, project_of(path, run), run).kind == kind.name
    flag = "" if is_clear else f" --kind {kind.name}"
    output.note(f"equipage: edit it, then run `equipage check {path}{flag}`")
    return OK


def _filled(text: str, name: str) -> str:
    words = {"NAME": name, "WORD": re.sub(r"[^a-z0-9]", "", name.lower())}
    return _PLACEHOLDER.sub(lambda match: words[match.group()], text)


def completion(options: argparse.Namespace, output: Output) -> int:
    """`equipage completion`: a script for a shell, made from the argument parser by shtab."""
    try:
        import shtab
    except ImportError:
        raise UsageError(_NO_SHTAB) from None
    # This parser parses nothing, so it can get choices that are only suggestions.
    root = parser()
    words = {"KIND": names(), "CODE": sorted(all_codes())}
    for command in command_parsers(root).values():
        for action in command._actions:
            if action.metavar in words:
                action.choices = words[str(action.metavar)]
            elif action.metavar in _PATHS:
                # shtab reads this attribute, which argparse does not know.
                completes = shtab.DIR if action.metavar == "DIR" else shtab.FILE
                action.complete = completes  # type: ignore[attr-defined]
    output.data(shtab.complete(root, options.shell))
    return OK
