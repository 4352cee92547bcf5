"""Command-line options to loads."""

from __future__ import annotations

import argparse
import os

from equipage.cli.output import Output
from equipage.core.diagnostics import LoadError, UsageError
from equipage.core.path import Path, PathSyntaxError, parse_path
from equipage.files import process_variables
from equipage.loading.outcome import Outcome
from equipage.loading.recognise import kind_named
from equipage.loading.request import Request
from equipage.loading.result import Loaded
from equipage.workspace.report import NO_LAYERS, load_one


def request_of(options: argparse.Namespace) -> Request:
    """How to load, as the command line says it. Options of other kinds than the file's are left out later.

    Raises `UsageError` for a root that is no folder: it would allow nothing, and nobody would learn it.
    """
    for root in options.root:
        if not os.path.isdir(root):
            raise UsageError(f"--root {root}: there is no such folder")
    given = {
        "library": options.library,
        "include_roots": options.include_root,
        "default_agent_kind": options.default_agent_kind,
        "local": options.local or None,
        "config": options.config,
    }
    return Request(
        env=process_variables(),
        options={name: value for name, value in given.items() if value is not None},
        embedded=options.embedded,
        shared=True,
        roots=tuple(os.path.abspath(root) for root in options.root),
    )


def outcome_of(options: argparse.Namespace) -> Outcome:
    """The load of the file the command line names, with the layers it is merged with.

    Raises `LoadError` if its kind cannot be told, `UsageError` for values to be laid over no layers.
    """
    request = request_of(options)
    outcome = load_one(options.file, request, kind=options.kind)
    stack = outcome.kind.layering.stack
    together = stack(options.file, request) if stack is not None else None
    if options.config and together is None:
        raise UsageError(NO_LAYERS)
    return outcome if together is None else together


def loaded_of(outcome: Outcome, options: argparse.Namespace, output: Output) -> Loaded[object]:
    """The configuration of a load. Raises `LoadError` with its errors; says that there are warnings."""
    loaded = outcome.loaded()
    if loaded is None:
        raise LoadError(outcome.errors)
    count = len(outcome.diagnostics)
    if count:
        what = "one finding" if count == 1 else f"{count} findings"
        # A check merges the layers it is asked about, so that of a merge is asked about all of them.
        merged = (
            [each.name for each in outcome.sources]
            if kind_named(outcome.kind.name).layering.stacks is not None
            else []
        )
        output.note(f"equipage: {what}, see: equipage check {' '.join(merged or [options.file])}")
    return loaded


def path_of(written: str) -> Path:
    """A path from the command line. Raises `UsageError`."""
    try:
        return parse_path(written)
    except PathSyntaxError as error:
        raise UsageError(
            f'{error}; a path looks like tools[0].tool.name or resources["file:///x"]'
        ) from None
