"""What only several files together have wrong, found after each of them was checked.

Three sorts: folders for files of one kind, files that share a name or refer to each other, and
layers that are merged. A check of one file that has to do with no other never comes here.
"""

from __future__ import annotations

import os
from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from equipage.core.diagnostics import Diagnostic, UsageError
from equipage.files import real_path
from equipage.files.reading import display_name
from equipage.files.walking import is_ignored
from equipage.loading.format import Offer
from equipage.loading.outcome import Outcome, findings_by_load, place_without_outcome
from equipage.loading.pipeline import load_path
from equipage.loading.session import Run
from equipage.project.registry import format_named
from equipage.project.settings import NO_LAYERS_MESSAGE, project_of
from equipage.workspace.load import Checked, bug, run_of

if TYPE_CHECKING:
    from equipage.workspace.check import ReportBuilder


def check_folders(builder: ReportBuilder) -> None:
    """Report what is wrong with folders for files of one kind, as opposed to the files."""
    for (name, _), folder in builder.folders.items():
        beside = format_named(name).layering.beside if name == (builder.kind or name) else None
        if beside is None or (folder not in builder.entered_folders and is_ignored(folder)):
            continue
        for path, fact in beside(folder):
            if path == folder or not is_ignored(path):
                shown = display_name(path)
                builder.add_findings(path, shown, [place_without_outcome(fact, shown)])


def check_sets(builder: ReportBuilder) -> None:
    """Report what the rules about sets of files find, and comments that wait for them in vain."""
    waiting = [(each, one) for each in builder.checked.values() for one in each.waiting]
    silent: set[int] = set()
    for checked, found in _found_together(builder):
        hits = {n for n, (_, one) in enumerate(waiting) if one.silences(found)}
        silent |= hits
        if not hits:
            builder.add_findings(checked.path, checked.name, [found])
    for number, (checked, one) in enumerate(waiting):
        if number not in silent:
            builder.add_findings(checked.path, checked.name, [one.unused])


def check_offers(builder: ReportBuilder) -> None:
    """Report what skills, commands and agents of several clients have to do with each other."""
    offers = [
        each.offer for each in builder.checked.values() if each.offer and any(each.offer.weight)
    ]
    if len(offers) < 2:
        return
    from equipage.clients.references import RULES  # few projects have several

    for rule in RULES:
        for path, fact in rule(offers):
            shown = display_name(path)
            builder.add_findings(path, shown, [place_without_outcome(fact, shown)])


def _found_together(builder: ReportBuilder) -> Iterator[tuple[Checked, Diagnostic]]:
    offers = [each.offer for each in builder.checked.values() if each.offer is not None]
    run = run_of(builder.request)
    for files in _clusters(builder):
        yield from _load_together(files, offers, builder, run)


def _load_together(
    files: Sequence[Checked], offers: Sequence[Offer], builder: ReportBuilder, run: Run
) -> Iterator[tuple[Checked, Diagnostic]]:
    """What is wrong with files that are loaded again together, with the file each finding is in.

    What a check keeps of a file is too little for the rules about sets of files.
    """
    outcomes: list[Outcome] = []
    for each in files:
        applied = project_of(each.path, builder.run).extend_request(builder.request)
        outcomes.append(load_path(each.path, format_named(str(each.kind)), applied, run))
    by_load = {id(outcome): each for each, outcome in zip(files, outcomes, strict=True)}
    for outcome, found in findings_by_load(outcomes, offers):
        yield by_load[id(outcome)], found


def _clusters(builder: ReportBuilder) -> Iterable[list[Checked]]:
    """The files that share a key with others of their kind, and each that refers to others.

    The user's own layer takes part only where its files are among those checked: findings in a
    project must not depend on the machine it is checked on.
    """
    groups: dict[tuple[str | None, Hashable], list[Checked]] = {}
    for each in builder.checked.values():
        if each.key is not None:
            groups.setdefault((each.kind, each.key), []).append(each)
    # Of the context, only what shares a key with a file that was asked for can matter.
    together = {
        each.name
        for group in groups.values()
        if len(group) > 1 and not all(each.name in builder.context for each in group)
        for each in group
    }
    asked = (each for each in builder.checked.values() if each.name not in builder.context)
    together |= {each.name for each in asked if each.refers}
    # Of two files with one name, the later one is reported: in the order of a whole check.
    in_order = list(builder.checked.values())
    if builder.order:
        in_order.sort(key=lambda each: builder.order.get(os.path.abspath(each.path), -1))
    clusters: dict[Hashable, list[Checked]] = {}
    for each in in_order:
        if each.name in together and each.kind is not None:
            key = each.name if each.key is None else (each.kind, each.key)
            clusters.setdefault(key, []).append(each)
    return clusters.values()


def check_layers(builder: ReportBuilder) -> None:
    """Merge the layers among the files, and report what is wrong with the result.

    Such a report covers each of the layers. A file that is part of no merge is reported as it
    is. Raises `UsageError` for `--config` where there are no layers.
    """
    kinds = {kind for name in builder.layers if (kind := builder.checked[name].kind) is not None}
    merged: list[Outcome] = []
    if not builder.request.embedded:
        merged = [outcome for kind in sorted(kinds) for outcome in _merges(builder, kind)]
    if builder.request.options.get("config") and not merged:
        raise UsageError(NO_LAYERS_MESSAGE)
    together = {real_path(source.name) for outcome in merged for source in outcome.sources}
    for name, found in builder.layers.items():
        if builder.checked[name].real not in together:
            builder.add_findings(builder.checked[name].path, name, found)
    for outcome in merged:
        _add_merge(builder, outcome)


def _merges(builder: ReportBuilder, kind: str) -> list[Outcome]:
    layers = (builder.checked[name] for name in builder.layers)
    paths = [each.path for each in layers if each.kind == kind]
    stacks = format_named(kind).layering.stacks
    try:
        return [] if stacks is None else list(stacks(paths, builder.request))
    except Exception as error:
        builder.add_findings(paths[0], display_name(paths[0]), [bug(paths[0], error)])
        return []


def _add_merge(builder: ReportBuilder, outcome: Outcome) -> None:
    """Report each finding of a merge in the layer it is about."""
    by_file = {each.real: each for each in builder.checked.values() if each.real is not None}
    reals = {source.name: real_path(source.name) for source in outcome.sources}
    known = [by_file[real] for real in reals.values() if real in by_file]
    layers = [each.name for each in known if each.layered]
    for name, real in reals.items():
        if real not in by_file:
            builder.used.setdefault(name, []).extend(layers)
    # A value of the command line is in no file: the first layer takes it.
    first = builder.checked[next(iter((*layers, *builder.layers)))]
    for each in outcome.diagnostics:
        about = by_file.get(reals.get(each.name or "", ""), first)
        builder.add_findings(about.path, about.name, [each])
