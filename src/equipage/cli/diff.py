"""`equipage diff`: what changed in meaning, the most important first.

A side is a file, a folder, or a revision: `HEAD~1` is the path of the other side at that revision,
`main:server.yaml` names a file in it. Revisions are read from git without a checkout.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from equipage.cli import FOUND, OK, USAGE
from equipage.cli.arguments import (
    FORMATS,
    Parser,
    add_format_option,
    add_loading_options,
    add_output_option,
    add_show_env,
)
from equipage.cli.check import render_document
from equipage.cli.output import Output
from equipage.cli.request import request_of
from equipage.clients.reading import main_agents, reaches_of, reading_of
from equipage.core import codes
from equipage.core.diagnostics import Diagnostic, Shown, UsageError
from equipage.core.path import ROOT, Path, format_path
from equipage.core.source import Span
from equipage.core.text import visible, visible_at_line_start
from equipage.effect.reach import Difference, Step, differences, successors
from equipage.files import System
from equipage.files.git import NoRevision, Revision, is_revision
from equipage.loading.pipeline import place_without_outcome
from equipage.loading.result import Loaded, Paths
from equipage.loading.session import Request
from equipage.project.settings import project_of, projects_of, use_projects
from equipage.record.diff import MEANINGS, Change, compare, hide_values
from equipage.record.sides import (
    Loads,
    Unjudged,
    find_unjudged,
    follow_moves,
    loads_of,
    rule_changes,
    rules_of,
)
from equipage.render.effect import (
    VERBS,
    group_unjudged,
    lines_of_reach,
    reach_to_dict,
    render_markdown,
)
from equipage.render.text import Style, change_lines
from equipage.workspace import Workspace
from equipage.workspace.report import Report

if TYPE_CHECKING:
    import argparse

#: The words of changes that are printed in colour, and all of them in the order of the summary.
_ALARMING = frozenset({"permission widened", "tool added", "agent added"})
_SUMMARY_ORDER = (*MEANINGS[:-1], "added", "removed", "changed", "reordered")


class Side(msgspec.Struct, frozen=True):
    """One of the two sides: where its files are, which path is compared, and its name."""

    system: System
    path: str
    label: str


#: Where values are written, by their paths.
Spans = dict[Path, Span | None]


class FileDiff(msgspec.Struct, frozen=True):
    """What changed in one file."""

    name: str
    kind: str
    changes: tuple[Change, ...]
    before: Loaded[Any] | None
    after: Loaded[Any] | None
    reach: tuple[Difference, ...] = ()  #: the agents in it that may do more or less than before
    how: str = ""  #: what happened to a file that is not loaded on either side
    was: str = ""  #: where it was, if it was moved
    spans: tuple[Spans, Spans] = ({}, {})  #: where values are written, before and after

    @property
    def widens(self) -> bool:
        return any(each.widening_steps for each in self.reach)

    @property
    def status(self) -> str:
        if self.was:
            return "moved"
        if self.how:
            return self.how
        if self.before is None:
            return "added"
        return "removed" if self.after is None else "changed"

    def sort_key(self) -> tuple[int, int]:
        """That of the most important change; only the order of keys may have changed."""
        return self.changes[0].sort_key() if self.changes else (0, 0)

    def written_path(self, change: Change) -> str:
        """The path of a change as its author writes it."""
        loaded = self._loaded_side(change)
        written = Paths(loaded).shown(Paths(loaded).authored(Paths(loaded).unshown(change.path)))
        return format_path(written) or "(everything)"

    def place(self, change: Change) -> tuple[str, int] | tuple[None, None]:
        """The file and line of the new value; of the old one if it was removed."""
        is_old = change.how == "removed" or self.after is None
        return _file_and_line(self.spans[0 if is_old else 1].get(change.path))

    def old_place(self, change: Change) -> tuple[str, int] | tuple[None, None]:
        """The file and line of the old value, if there are both."""
        if self.before is None or change.how in ("added", "removed"):
            return None, None
        return _file_and_line(self.spans[0].get(change.was))

    def place_of_step(self, step: Step) -> Span | None:
        """Where it is written now what makes a step, or the nearest that is around what is gone."""
        path = ROOT if step.grant is None else step.grant.path
        while path and self.spans[1].get(path) is None:
            path = path[:-1]
        return self.spans[1].get(path)

    def _loaded_side(self, change: Change) -> Loaded[Any]:
        loaded = self.before if change.how == "removed" or self.after is None else self.after
        assert loaded is not None
        return loaded


def _spans_of(loaded: Loaded[Any] | None, paths: Iterable[Path]) -> Spans:
    """Where the values at many paths are written: each document is searched once."""
    if loaded is None:
        return {}
    known = {path: Paths(loaded).unshown(path) for path in paths}
    places = Paths(loaded).places(known.values())
    return {path: places[real].span for path, real in known.items()}


def _file_and_line(span: Span | None) -> tuple[str, int] | tuple[None, None]:
    return (None, None) if span is None else (span.source.name, span.line)


def _parse_sides(options: argparse.Namespace) -> tuple[str, str]:
    """Both sides. A single argument is a revision to compare with the files here, or the files."""
    a, b = options.a, options.b
    if b is not None:
        return a, b
    if os.path.exists(a):
        return "HEAD", a
    _, colon, inner = a.partition(":")
    return a, inner if colon else "."


def declare(parser: Parser) -> None:
    parser.describe(
        "Compare what A and B mean. Each is a file, a folder or a git revision (HEAD~1, "
        "main:server.yaml). With one revision, compare it with the files here. Permissions come "
        "first, the widest change at the top. Exit codes: 0 same, 1 different, 2 cannot be "
        "compared.",
        ("equipage diff HEAD", "what your changes mean"),
        ("equipage diff main --fail-on widened", "fail only on wider permissions"),
        ("equipage diff main -f markdown", "a comment for a pull request"),
        ("equipage diff old.yaml new.yaml", "two files"),
        ("equipage diff v1:server.yaml server.yaml", "a file at a revision"),
    )
    parser.add_argument("a", metavar="A", help="a file, a folder or a revision")
    parser.add_argument(
        "b", nargs="?", metavar="B", help="what to compare it with (default: the files here)"
    )
    parser.add_argument(
        "--fail-on",
        choices=("any", "widened"),
        default="any",
        help="exit 1 on any difference, or only if agents may do more or that is not known "
        "(default: any)",
    )
    parser.add_argument(
        "--author",
        metavar="NAME",
        help="who made the change; with --fail-on widened, those whom the policy of A lets widen "
        "pass",
    )
    add_loading_options(parser, layers=False)
    add_format_option(
        parser,
        (*FORMATS, "markdown", "github", "sarif"),
        note="; markdown is a comment on a pull request, github annotates the lines that widened",
    )
    add_output_option(parser)
    add_show_env(parser)


def run(options: argparse.Namespace, output: Output) -> int:
    with ExitStack() as stack:
        a, b = _parse_sides(options)
        request = request_of(options)
        before = _resolve_side(a, b, stack, request.system)
        after = _resolve_side(b, a, stack, request.system)
        return _run(before, after, request, options, output)


def _resolve_side(written: str, other: str, stack: ExitStack, disk: System) -> Side:
    """What one of the arguments means. Raises `UsageError`."""
    name, colon, inner = written.partition(":")
    if not os.path.exists(other):
        other = "."
    folder = other if os.path.isdir(other) else os.path.dirname(other) or "."
    start = "." if colon else folder
    if os.path.exists(written):
        # A change under review chooses the names of files: none may pass for what it is compared
        # with. No revision begins like these.
        if not written.startswith((".", "/")) and is_revision(name, start):
            raise UsageError(
                f"`{written}` is a file and a revision; write `./{written}` for the file, or "
                f"`{name}^0{colon}{inner}` for the revision"
            )
        return Side(disk, written, written)
    try:
        revision = Revision(name, start, disk)
    except NoRevision as error:
        raise NoRevision(f"`{written}` is neither a file nor a revision: {error}") from None
    stack.callback(revision.close)
    # A revision alone is compared at the path of the other side.
    if not colon:
        return Side(revision, os.path.realpath(other), f"{name}:{other}")
    # As in git: `main:x` starts at the top of the repository, `main:./x` here.
    top = os.path.realpath(".") if inner.startswith(("./", "../")) else revision.top
    return Side(revision, os.path.normpath(os.path.join(top, inner)), written)


def _run(
    before: Side, after: Side, request: Request, options: argparse.Namespace, output: Output
) -> int:
    spaces = [
        Workspace([each.path], replace(request, system=each.system), kind=options.kind)
        for each in (before, after)
    ]
    old = _load_side(before, spaces[0], output)
    # A change does not choose by which settings it is judged.
    use_projects(projects_of(spaces[0].run), spaces[1].run)
    new = _load_side(after, spaces[1], output)
    failed = any(each.severity == "error" for each in (*old.errors, *new.errors))
    if not (old.outcomes or new.outcomes or old.unread or new.unread or failed):
        raise UsageError(f"no configuration found in {before.label} and {after.label}")
    old = follow_moves(old, new)
    # A single file has the empty name.
    if old.outcomes and new.outcomes and ("" in old.outcomes) != ("" in new.outcomes):
        raise UsageError("cannot compare a file with a folder")
    single = after.system.name_of(after.path)
    diffs = list(_compare_files(old, new, single, show_env=options.show_env))
    diffs += _compare_rules(old, new)
    diffs += _compare_main_agents(old, new, single, diffs)
    diffs += _compare_successors(old, new)
    # The worst change is the first of its file, and comes first of all.
    diffs.sort(key=lambda diff: (not diff.widens, diff.sort_key(), diff.name))
    unknown = [_fill_file_name(each, single) for each in find_unjudged(old, new)]
    output.code = _exit_code(before, diffs, unknown, options, output, failed=failed)
    if options.output_format == "json":
        output.write_json(_to_dict(before, after, diffs, unknown, failed=failed))
    elif options.output_format in ("github", "sarif"):
        findings = Report((), tuple(_findings(diffs, unknown)))
        for piece in render_document(findings, options.output_format):
            output.write_data(piece)
    elif options.output_format == "markdown":
        output.write_data(
            render_markdown(
                _differences_widest_first(diffs), [each for each in unknown if each.counts]
            )
        )
    elif diffs or unknown or not failed:
        output.write_data("".join(f"{line}\n" for line in _lines(diffs, unknown, output.style())))
    return output.code


def _findings(diffs: Iterable[FileDiff], unknown: Iterable[Unjudged]) -> Iterator[Diagnostic]:
    """What became wider, and what is not known, as findings at the lines that did it."""
    for diff in diffs:
        for each in diff.reach:
            subject = Shown(f"{each.reach.sort} `{each.reach.name}`")
            for step in each.widening_steps:
                fact = codes.REACH_WIDENED.at(
                    span=diff.place_of_step(step),
                    subject=subject,
                    thing=Shown(f"{step.sort} `{step.name}`"),
                    before=VERBS[step.before],
                    after=VERBS[step.after],
                )
                yield place_without_outcome(fact, diff.name)
    for unjudged in unknown:
        if unjudged.counts:
            fact = codes.REACH_UNKNOWN.at(span=unjudged.span, reason=Shown(unjudged.reason))
            yield place_without_outcome(fact, unjudged.file)


def _fill_file_name(each: Unjudged, single: str) -> Unjudged:
    return each if each.file else replace(each, file=single)


def _exit_code(
    before: Side,
    diffs: list[FileDiff],
    unknown: list[Unjudged],
    options: argparse.Namespace,
    output: Output,
    *,
    failed: bool,
) -> int:
    """Return the exit code. For `widened`, a changed file that does not load counts as wider."""
    if options.fail_on != "widened":
        return USAGE if failed else FOUND if diffs or any(each.counts for each in unknown) else OK
    if not any(diff.widens for diff in diffs) and not any(each.counts for each in unknown):
        return OK
    if _may_widen(before, options.author):
        output.note(
            f"equipage: {options.author} may widen what agents do, by the policy of {before.label}"
        )
        return OK
    return FOUND


def _may_widen(before: Side, author: str | None) -> bool:
    """Whether the policy of the old side lets the author widen; the new one could name anybody."""
    if author is None:
        return False
    run = Request(env={}, system=before.system).new_run()
    policy = project_of(os.path.join(before.path, "file"), run).settings.policy
    return policy is not None and author in policy.may_widen


def _differences_widest_first(diffs: list[FileDiff]) -> list[Difference]:
    """What agents may do more or less in all files, those that widened most first."""
    found = [each for diff in diffs for each in diff.reach]
    return sorted(found, key=lambda each: (-each.far, each.reach.file))


def _load_side(side: Side, workspace: Workspace, output: Output) -> Loads:
    """The loads of a side by their path in its folder; prints what is wrong with them."""
    found = loads_of(workspace)
    # Without its errors, a file that does not load would look like one that was removed.
    if problems := found.errors:
        failed = any(each.severity == "error" for each in problems)
        what = "errors" if failed else "links that are not followed"
        output.note(f"equipage: {side.label} has {what}:")
        output.write_findings(problems)
    return found


def _compare_files(old: Loads, new: Loads, single: str, *, show_env: bool) -> Iterator[FileDiff]:
    rules = rules_of(old, new)
    for name in sorted({*old.outcomes, *new.outcomes}):
        shown, before, after = name or single, old.outcomes.get(name), new.outcomes.get(name)
        was, now = (None if each is None else reading_of(each) for each in (before, after))
        if now is not None and now.unknown:
            continue  # `find_unjudged` says so
        # What is known only now counts as new.
        known = None if was is not None and was.unknown else before
        reach = differences(
            *(() if each is None else reaches_of(each, file=shown) for each in (known, after)),
            rules=rules,
        )
        # What exists on one side only is compared with an empty configuration.
        values = [
            {} if each is None else reading_of(each, show_env=show_env).counted_value
            for each in (known, after)
        ]
        kind = next(each for each in (after, before) if each is not None).kind
        changes = compare(values[0], values[1], kind.presentation.sensitive, reach)
        was_at = old.moved.get(name, "")
        changes = changes if show_env else [*map(hide_values, changes)]
        if changes or reach or was_at:
            sides: list[Loaded[Any] | None] = [
                None if each is None or each.tree is None else Loaded(each)
                for each in (before, after)
            ]
            spans = (
                _spans_of(sides[0], (path for each in changes for path in (each.was, each.path))),
                _spans_of(sides[1], _new_paths(changes, reach)),
            )
            found = FileDiff(shown, kind.name, tuple(changes), sides[0], sides[1], tuple(reach))
            how = "changed" if before is not None and after is not None else ""
            yield replace(found, spans=spans, how=how, was=was_at)


def _new_paths(changes: Iterable[Change], reach: Iterable[Difference]) -> Iterator[Path]:
    """Every path that a change or a step may be shown at, those around it included."""
    yield from (each.path for each in changes)
    for each in reach:
        for step in each.widening_steps:
            path = ROOT if step.grant is None else step.grant.path
            yield from (path[:depth] for depth in range(1, len(path) + 1))


def _compare_main_agents(
    old: Loads, new: Loads, single: str, diffs: list[FileDiff]
) -> Iterator[FileDiff]:
    """What main agents may do more because of several files together, which no file says alone."""
    said = {
        (step.sort, step.name)
        for diff in diffs
        for each in diff.reach
        for step in each.widening_steps
    }
    sides = ({name or single: each for name, each in side.outcomes.items()} for side in (old, new))
    for found in differences(*map(main_agents, sides)):
        steps = tuple(step for step in found.widening_steps if (step.sort, step.name) not in said)
        if steps and found.before is not None and found.after is not None:
            reach, shown = replace(found, steps=steps), found.reach
            yield FileDiff(shown.file, shown.kind, (), None, None, (reach,), "changed")


def _compare_successors(old: Loads, new: Loads) -> Iterator[FileDiff]:
    sides = (
        [each for name, outcome in side.outcomes.items() for each in reaches_of(outcome, file=name)]
        for side in (old, new)
    )
    for found in successors(*sides):
        shown = found.reach
        yield FileDiff(shown.file, shown.kind, (), None, None, (found,), "changed")


def _compare_rules(old: Loads, new: Loads) -> Iterator[FileDiff]:
    """What changed in the rules of Codex, of which only the reach is known."""
    for each in rule_changes(old, new):
        name, sides = each.reach.file, (old.unread, new.unread)
        added, removed = (name not in side for side in sides)
        how = "added" if added else "removed" if removed else "changed"
        yield FileDiff(name, each.reach.kind, (), None, None, (each,), how)


def _lines(diffs: list[FileDiff], unknown: list[Unjudged], style: Style) -> Iterator[str]:
    if not diffs and not unknown:
        yield "no difference in meaning"
    for diff in diffs:
        status = "" if diff.status == "changed" else f" ({diff.status})"
        status = f" (was {visible(diff.was)})" if diff.was else status
        yield style.paint("bold", visible_at_line_start(diff.name)) + status
        for change in diff.changes:
            yield from _change_lines(diff, change, style)
        # The order of patterns may count although that of keys does not, and so may other files.
        is_said = any(change.meaning == MEANINGS[0] for change in diff.changes)
        for reach in diff.reach if diff.widens and not is_said else ():
            yield from (f"  {line}" for line in lines_of_reach(reach, style))
        yield ""
    found = Counter(change.word for diff in diffs for change in diff.changes)
    counts = ", ".join(f"{found[each]} × {each}" for each in _SUMMARY_ORDER if found[each])
    files = "1 file differs" if len(diffs) == 1 else f"{len(diffs)} files differ"
    if diffs:
        yield f"{files}: {counts}" if counts else files
    if diffs and unknown:
        yield ""
    for files, each in group_unjudged(unknown):
        painted = style.paint("warning" if each.counts else "place", "cannot be judged")
        yield f"{painted}: {visible(files)}: {visible(each.reason)}"


def _change_lines(diff: FileDiff, change: Change, style: Style) -> Iterator[str]:
    painted = style.paint("warning" if change.word in _ALARMING else "place", change.word)
    names = f" ({visible(', '.join(change.names))})" if change.names else ""
    # In a file that came or went as a whole, lines say nothing.
    file, line = diff.place(change)
    where = (
        f"  {visible(file)}:{line}"
        if file is not None and diff.status in ("changed", "moved")
        else ""
    )
    was, was_line = diff.old_place(change)
    if where and was is not None and (was, was_line) != (file, line):
        where += f" (was {was_line if was == file else f'{visible(was)}:{was_line}'})"
    elif where and change.how == "removed":
        where = f"  (was {visible(str(file))}:{line})"
    yield f"  {painted}: {visible(diff.written_path(change))}{names}{style.paint('place', where)}"
    yield from change_lines(change, style)


def _to_dict(
    before: Side, after: Side, diffs: list[FileDiff], unknown: list[Unjudged], *, failed: bool
) -> dict[str, Any]:
    return {
        "version": 1,
        "a": before.label,
        "b": after.label,
        "same": not diffs and not failed,
        "widened": any(diff.widens for diff in diffs),
        "complete": not failed,
        "unjudged": [
            {
                "file": each.file,
                "line": None if each.span is None else each.span.line,
                "reason": each.reason,
                "changed": each.counts,
            }
            for each in unknown
        ],
        "files": [
            {
                "path": diff.name,
                "kind": diff.kind,
                "status": diff.status,
                "digest_a": _digest_of(diff.before),
                "digest_b": _digest_of(diff.after),
                "changes": [_change_to_dict(diff, change) for change in diff.changes],
                "reach": [reach_to_dict(each) for each in diff.reach],
            }
            for diff in diffs
        ],
    }


def _digest_of(loaded: Loaded[Any] | None) -> str | None:
    return None if loaded is None or loaded.config is None else loaded.digest


def _change_to_dict(diff: FileDiff, change: Change) -> dict[str, Any]:
    file, line = diff.place(change)
    old_file, old_line = diff.old_place(change)
    return {
        "meaning": change.meaning,
        "how": change.how,
        "path": diff.written_path(change),
        "names": list(change.names),
        "before": change.before,
        "after": change.after,
        "file": file,
        "line": line,
        "old_file": old_file,
        "old_line": old_line,
    }
