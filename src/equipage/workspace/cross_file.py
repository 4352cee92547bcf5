"""What only several files together have wrong, found after each of them was loaded.

Three sorts: folders for files of one kind, files that share a name or refer to each other, and
layers that are merged. A check of one file that has to do with no other never comes here.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from equipage.core.diagnostics import Diagnostic, UsageError
from equipage.files.walking import is_ignored
from equipage.loading.format import Format, Offer
from equipage.loading.pipeline import Outcome, findings_by_load, load_path, place_without_outcome
from equipage.loading.session import Run
from equipage.project.registry import format_named
from equipage.project.settings import NO_LAYERS_MESSAGE, project_of
from equipage.workspace.load import Summary, bug

if TYPE_CHECKING:
    from equipage.workspace.report import Gathering


def check_several(gathering: Gathering) -> None:
    """Report what concerns several files. It comes after all of them, in this order."""
    check_folders(gathering)
    check_sets(gathering)
    check_offers(gathering)
    check_layers(gathering)


def check_folders(gathering: Gathering) -> None:
    """Report what is wrong with folders for files of one kind, as opposed to the files."""
    system, entered = gathering.system, gathering.found.entered_folders
    for (name, _), folder in gathering.found.kind_folders.items():
        own = gathering.kind
        is_asked = name == (own.name if isinstance(own, Format) else own or name)
        beside = gathering.format_of(name).layering.beside if is_asked else None
        if beside is None or (folder not in entered and is_ignored(folder, system)):
            continue
        for path, fact in beside(folder, system):
            if path == folder or not is_ignored(path, system):
                shown = system.name_of(path)
                gathering.add_findings(path, shown, [place_without_outcome(fact, shown)])


def check_sets(gathering: Gathering) -> None:
    """Report what the rules about sets of files find, and comments that wait for them in vain."""
    waiting = [(each, one) for each in gathering.files.values() for one in each.waiting]
    silent: set[int] = set()
    for summary, found in _found_together(gathering):
        hits = {n for n, (_, one) in enumerate(waiting) if one.silences(found)}
        silent |= hits
        if not hits:
            gathering.add_findings(summary.path, summary.name, [found])
    for number, (summary, one) in enumerate(waiting):
        if number not in silent:
            gathering.add_findings(summary.path, summary.name, [one.unused])


def check_offers(gathering: Gathering) -> None:
    """Report what skills, commands and agents of several clients have to do with each other."""
    offers = [
        each.offer for each in gathering.files.values() if each.offer and any(each.offer.weight)
    ]
    if len(offers) < 2:
        return
    from equipage.clients.references import RULES  # few projects have several

    for rule in RULES:
        for path, fact in rule(offers):
            shown = gathering.system.name_of(path)
            gathering.add_findings(path, shown, [place_without_outcome(fact, shown)])


def _found_together(gathering: Gathering) -> Iterator[tuple[Summary, Diagnostic]]:
    offers = [each.offer for each in gathering.files.values() if each.offer is not None]
    run = gathering.run.request.new_run(gathering.run)
    for files in _clusters(gathering):
        yield from _load_together(files, offers, gathering, run)


def _load_together(
    files: Sequence[Summary], offers: Sequence[Offer], gathering: Gathering, run: Run
) -> Iterator[tuple[Summary, Diagnostic]]:
    """What is wrong with files that are loaded again together, with the file each finding is in.

    What a check keeps of a file is too little for the rules about sets of files.
    """
    outcomes: list[Outcome] = []
    for each in files:
        applied = project_of(each.path, run).extend_request(run.request)
        outcomes.append(load_path(each.path, gathering.format_of(str(each.kind)), applied, run))
    by_load = {id(outcome): each for each, outcome in zip(files, outcomes, strict=True)}
    for outcome, found in findings_by_load(outcomes, offers):
        yield by_load[id(outcome)], found


def _clusters(gathering: Gathering) -> Iterable[list[Summary]]:
    """The files that share a key with others of their kind, and each that refers to others.

    The user's own layer takes part only where its files are among those checked: findings in a
    project must not depend on the machine it is checked on.
    """
    groups: dict[tuple[str | None, Hashable], list[Summary]] = {}
    for each in gathering.files.values():
        if each.key is not None:
            groups.setdefault((each.kind, each.key), []).append(each)
    # Of the context, only what shares a key with a file that was asked for can matter.
    together = {
        each.name
        for group in groups.values()
        if len(group) > 1 and not all(each.name in gathering.context for each in group)
        for each in group
    }
    asked = (each for each in gathering.files.values() if each.name not in gathering.context)
    together |= {each.name for each in asked if each.refers}
    # Of two files with one name, the later one is reported: in the order of a whole check.
    in_order = list(gathering.files.values())
    if gathering.order:
        in_order.sort(
            key=lambda each: gathering.order.get(gathering.system.absolute(each.path), -1)
        )
    clusters: dict[Hashable, list[Summary]] = {}
    for each in in_order:
        if each.name in together and each.kind is not None:
            key = each.name if each.key is None else (each.kind, each.key)
            clusters.setdefault(key, []).append(each)
    return clusters.values()


def check_layers(gathering: Gathering) -> None:
    """Merge the layers among the files, and report what is wrong with the result.

    Such a report covers each of the layers. A file that is part of no merge is reported as it
    is. Raises `UsageError` for `--config` where there are no layers.
    """
    kinds = {kind for name in gathering.layers if (kind := gathering.files[name].kind) is not None}
    merged: list[Outcome] = []
    if not gathering.run.request.embedded:
        merged = [outcome for kind in sorted(kinds) for outcome in _merges(gathering, kind)]
    if gathering.run.request.options.get("config") and not merged:
        raise UsageError(NO_LAYERS_MESSAGE)
    names = {source.name for outcome in merged for source in outcome.sources}
    together = set(map(gathering.system.real, names))
    for name, found in gathering.layers.items():
        if gathering.files[name].real not in together:
            gathering.add_findings(gathering.files[name].path, name, found)
    for outcome in merged:
        _add_merge(gathering, outcome)


def _merges(gathering: Gathering, kind: str) -> list[Outcome]:
    layers = (gathering.files[name] for name in gathering.layers)
    paths = [each.path for each in layers if each.kind == kind]
    stacks = format_named(kind).layering.stacks
    try:
        return [] if stacks is None else list(stacks(paths, gathering.run.request))
    except Exception as error:
        problem = bug(paths[0], error, gathering.system)
        gathering.add_findings(paths[0], problem.name or paths[0], [problem])
        return []


def _add_merge(gathering: Gathering, outcome: Outcome) -> None:
    """Report each finding of a merge in the layer it is about."""
    by_file = {each.real: each for each in gathering.files.values() if each.real is not None}
    reals = {source.name: gathering.system.real(source.name) for source in outcome.sources}
    known = [by_file[real] for real in reals.values() if real in by_file]
    layers = [each.name for each in known if each.layered]
    for name, real in reals.items():
        if real not in by_file:
            gathering.used.setdefault(name, []).extend(layers)
    # A value of the command line is in no file: the first layer takes it.
    first = gathering.files[next(iter((*layers, *gathering.layers)))]
    for each in outcome.diagnostics:
        about = by_file.get(reals.get(each.name or "", ""), first)
        gathering.add_findings(about.path, about.name, [each])
