"""Command-line options to a request."""

from __future__ import annotations

import argparse
import os

from lading.loading import Request


def request_of(options: argparse.Namespace) -> Request:
    """How to load, as the command line says it. Options of other kinds than the file's are left out later."""
    given = {"library": options.library}
    return Request(
        env=dict(os.environ),
        options={name: value for name, value in given.items() if value is not None},
        embedded=options.embedded,
        shared=True,
        roots=tuple(os.path.abspath(root) for root in options.root),
    )
