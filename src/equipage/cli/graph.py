"""`equipage graph`: what includes what."""

from __future__ import annotations

import argparse

from equipage.cli.main import FOUND, OK, USAGE
from equipage.cli.output import Output
from equipage.cli.request import request_of
from equipage.render.graph import RENDERERS
from equipage.views.graph import graph_of
from equipage.workspace.report import load_all


def run(options: argparse.Namespace, output: Output) -> int:
    found = list(load_all(options.paths, request_of(options), kind=options.kind))
    outcomes = [each.outcome for each in found if each.outcome is not None]
    problems = [each.problem for each in found if each.problem is not None]
    output.findings(problems)
    graph = graph_of(outcomes)
    if not graph.nodes:
        output.findings(each for outcome in outcomes for each in outcome.errors)
        if not found:
            output.note("equipage: found nothing to draw; name a file, or a kind with --kind")
        return FOUND if found else USAGE
    output.document(RENDERERS[options.output_format](graph), options.output)
    bad = sum(not outcome.ok for outcome in outcomes)
    if bad:
        where = " ".join(options.paths)
        output.note(
            f"equipage: {'1 file has' if bad == 1 else f'{bad} files have'} errors, see: equipage check {where}"
        )
    return FOUND if bad or any(each.severity == "error" for each in problems) else OK
