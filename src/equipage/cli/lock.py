"""`equipage lock`: write down what a configuration was made of."""

from __future__ import annotations

import argparse

from equipage.cli.main import OK
from equipage.cli.output import Output
from equipage.cli.request import loaded_of, outcome_of
from equipage.views.lock import lock_of, write


def run(options: argparse.Namespace, output: Output) -> int:
    outcome = outcome_of(options)
    lock = lock_of(outcome, loaded_of(outcome, options, output), options.file)
    output.document(write(lock), options.output)
    return OK
