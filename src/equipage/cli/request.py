"""Command-line options to loads."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable
from typing import TYPE_CHECKING

from equipage.cli.output import Output
from equipage.core.diagnostics import LoadError, UsageError
from equipage.core.path import Path, PathSyntaxError, parse_path
from equipage.core.text import nearest
from equipage.files import process_variables
from equipage.loading.outcome import Outcome
from equipage.loading.registry import kind_named
from equipage.loading.session import Request
from equipage.workspace.project import load_one
from equipage.workspace.report import NO_LAYERS

if TYPE_CHECKING:
    from equipage.loading.result import Loaded

#: The note of a command that finds no file to work on.
NOTHING_FOUND = "equipage: no configuration found; name a file, or use --kind"


def request_of(options: argparse.Namespace) -> Request:
    """How to load, as the command line says it. A load ignores the options of other kinds.

    Raises `UsageError` for a root that is not a folder: it would allow nothing, silently.
    """
    for root in options.root:
        if not os.path.isdir(root):
            raise UsageError(f"--root {root}: no such folder")
    written = {
        "library": options.library,
        "allow_absolute": options.allow_absolute,
        "include_roots": options.include_root,
        "default_agent_kind": options.default_agent_kind,
        "local": options.local,
        "config": options.config,
    }
    # Only what was written is passed on: each kind has its own defaults.
    return Request(
        env=process_variables(),
        options={name: value for name, value in written.items() if value not in (None, False, [])},
        embedded=options.embedded,
        isolated=getattr(options, "isolated", False),
        shared=True,
        roots=tuple(os.path.abspath(root) for root in options.root),
        # These two are about one file that the user named; all others judge a tree.
        confined=options.command not in ("show", "explain"),
    )


def outcome_of(options: argparse.Namespace) -> Outcome:
    """The load of the file that the command line names, merged with its layers.

    Raises `LoadError` if its kind is unknown, `UsageError` for `--config` without layers.
    """
    request = request_of(options)
    outcome = load_one(options.file, request, kind=options.kind)
    # Kinds without layers have no `stack`; it returns None for a file outside of all layers.
    stack = outcome.kind.layering.stack
    merged = stack(options.file, request) if stack is not None else None
    if options.config and merged is None:
        raise UsageError(NO_LAYERS)
    return outcome if merged is None else merged


def loaded_of(outcome: Outcome, options: argparse.Namespace, output: Output) -> Loaded[object]:
    """The configuration of a load, with a note if there are warnings. Raises `LoadError`."""
    loaded = outcome.loaded()
    if loaded is None:
        raise LoadError(outcome.errors)
    count = len(outcome.diagnostics)
    if count:
        # `check` merges only the layers it is given, so the advice names every one of them.
        has_layers = kind_named(outcome.kind.name).layering.stacks is not None
        names = [each.name for each in outcome.sources] if has_layers else []
        what = "1 finding" if count == 1 else f"{count} findings"
        command = f"equipage check {' '.join(names or [options.file])}"
        output.note(f"equipage: {what}; run `{command}`")
    return loaded


def path_of(written: str) -> Path:
    """A path from the command line. Raises `UsageError`."""
    try:
        return parse_path(written)
    except PathSyntaxError as error:
        raise UsageError(
            f'{error}; a path looks like `tools[0].tool.name` or `resources["file:///x"]`'
        ) from None


def no_such_code(code: str, known: Iterable[str]) -> UsageError:
    """The error for a code that does not exist, with the nearest one that does."""
    guess = nearest(code, known)
    hint = f"did you mean `{guess}`?" if guess else "run `equipage rule` to list all codes"
    return UsageError(f"unknown code `{code}`; {hint}")
